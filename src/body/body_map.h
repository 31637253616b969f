// Maps: numbers at the vertices of the skin, continued into the flesh (docs/theory/tissue.md).
#ifndef SN_BODY_BODY_MAP_H
#define SN_BODY_BODY_MAP_H

#include "body/body.h"

// Numbers at the vertices of the body's mesh (vertex_count) as one at each cell (cell_count). Cells
// that the skin runs through have the mean over their piece of it, those inside a smooth continuation,
// nowhere beyond the least and the largest number; equal numbers stay exactly what they are. Needs the
// surface and the tree only. `scratch` is left as it was; the result does not depend on the pool.
sn_status sn_body_map_to_cells(const sn_body* body, const double* values, sn_pool* pool,
                               sn_arena* scratch, float* cells, sn_error* err);

// The map of that name, or SN_NO_MAP.
#define SN_NO_MAP UINT32_MAX
uint32_t sn_body_find_map(const sn_body_desc* desc, const char* name);
// Its values at the cells (cell_count), or NULL.
const float* sn_body_map_of(const sn_body* body, const char* name);

#endif
