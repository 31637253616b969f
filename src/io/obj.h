// Wavefront OBJ: `v`, `f`, `g` and `o`; every other statement is passed over.
#ifndef SN_IO_OBJ_H
#define SN_IO_OBJ_H

#include "sinew/mesh.h"

// @param path for messages
// @param bytes must be followed by a zero that `size` does not count
sn_status sn_obj_parse(const char* path, const char* bytes, size_t size, sn_mesh* mesh,
                       sn_error* err);

#endif
