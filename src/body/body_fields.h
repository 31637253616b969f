// Numbers in the cells of a body, for files and pictures: the simulation does not need them.
#ifndef SN_BODY_BODY_FIELDS_H
#define SN_BODY_BODY_FIELDS_H

#include "body/body_terms.h"
#include "sinew/fields.h"

// Fields at displacements u of the body's nodes, as sn_state_fields says.
// @param values by field, each (cell_count); NULL: not asked for
void sn_body_fields(const sn_body* body, const sn_body_work* work, sn_pool* pool, const double* u,
                    float* const values[SN_FIELD_CONTACTS]);

// Cells, points and embedding as sn_cells has them, but for time, lengths in metres. `cells` is zeroed
// but for its storage.
sn_status sn_body_describe_cells(const sn_body* body, sn_pool* pool, sn_arena* scratch,
                                 sn_cells* cells, sn_error* err);

#endif
