// Stanford PLY, ascii and binary of either byte order.
#ifndef SN_IO_PLY_H
#define SN_IO_PLY_H

#include "io/vertex_values.h"
#include "sinew/mesh.h"

// @param path for messages
// @param bytes must be followed by a zero that `size` does not count
sn_status sn_ply_parse(const char* path, const char* bytes, size_t size, sn_mesh* mesh,
                       sn_error* err);

// A property of the vertices that is one float each, in `arena`; faces need not be there.
sn_status sn_ply_parse_values(const char* path, const char* bytes, size_t size,
                              const char* property, sn_arena* arena, sn_vertex_values* values,
                              sn_error* err);

#endif
