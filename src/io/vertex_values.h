// A number for each vertex of a mesh, from a file beside it.
#ifndef SN_IO_VERTEX_VALUES_H
#define SN_IO_VERTEX_VALUES_H

#include "base/memory.h"

typedef struct sn_vertex_values {
  double* values;
  uint64_t count;
} sn_vertex_values;

// Read a CSV file (by its ending, .csv) or one property of a PLY file (.ply). There must be as many as
// `vertex_count`; any that is finite will do. `arena` has the result and what was needed for it.
sn_status sn_vertex_values_read(const char* path, const char* property, uint32_t vertex_count,
                                sn_arena* arena, sn_vertex_values* values, sn_error* err);

// CSV: a value a line in the order of the vertices, or index and value, each vertex once, in any
// order. Fields are divided by commas, semicolons or blanks; a first line that does not begin with a
// number is a heading. *(bytes + size) must be readable and 0.
sn_status sn_csv_parse_values(const char* path, const char* bytes, size_t size,
                              uint32_t vertex_count, sn_arena* arena, sn_vertex_values* values,
                              sn_error* err);

#endif
