// What a scene takes from memory instead of files: "memory:NAME" where a path would stand.
#ifndef SN_IO_SCENE_MEMORY_H
#define SN_IO_SCENE_MEMORY_H

#include "io/scene_json.h"

#define SN_MEMORY_PREFIX "memory:"

// The name behind the prefix, or NULL: the path of a file.
const char* sn_memory_name(const char* given);

// @param name as sn_memory_name gave it
sn_status sn_read_memory_mesh(sn_reader* r, const sn_place* at, const char* name, sn_mesh* mesh);
// @param values (count)
sn_status sn_read_memory_values(sn_reader* r, const sn_place* at, const char* name, uint32_t count,
                                double* values);

#endif
