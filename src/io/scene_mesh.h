// The files that a scene names.
#ifndef SN_IO_SCENE_MESH_H
#define SN_IO_SCENE_MESH_H

#include "io/scene_json.h"

// Make the path that `owner` has at `key` absolute, in the document too. What stands behind the
// first `length` bytes of it names a part of the file and stays as it is.
// @param path absolute, without that part
sn_status sn_read_path(sn_reader* r, const sn_place* at, json_t* owner, const char* key,
                       const char* given, size_t length, char** path);

// Load the mesh that `owner` names at `key`, in metres.
// @param path in: as written, out: absolute, unless it is in memory; the document gets it too
sn_status sn_read_mesh(sn_reader* r, const sn_place* owner_at, json_t* owner, const char* key,
                       char** path, sn_mesh* mesh);

#endif
