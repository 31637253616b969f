// BODY.fields, as a run writes it.
#ifndef SN_IO_FIELDS_FILE_H
#define SN_IO_FIELDS_FILE_H

#include "sinew/io.h"

typedef struct sn_fields_writer sn_fields_writer;

// Start a new file for cells that have been saved. @param fields a bit for each that is kept
sn_status sn_fields_start(const char* path, const sn_cells* cells, uint32_t fields,
                          sn_fields_writer** writer, sn_error* err);
// Go on after frame `last`, cutting off what follows. SN_ERR_INPUT where the file is not one of these
// cells and fields up to that frame; it is then as it was.
sn_status sn_fields_continue(const char* path, const sn_cells* cells, uint32_t fields, int last,
                             sn_fields_writer** writer, sn_error* err);
// Append the frame that `state` holds, then publish it in the header.
sn_status sn_fields_append(sn_fields_writer* writer, const sn_model* model, const sn_state* state,
                           uint32_t body, sn_error* err);
// Wait until all of it is on the disk. NULL is fine.
sn_status sn_fields_sync(const sn_fields_writer* writer, sn_error* err);
// NULL is fine.
void sn_fields_finish(sn_fields_writer* writer);

#endif
