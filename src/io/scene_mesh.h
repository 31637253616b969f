// The meshes that a scene names.
#ifndef SN_IO_SCENE_MESH_H
#define SN_IO_SCENE_MESH_H

#include "io/scene_json.h"

// Load the mesh that `owner` names at `key`, in metres.
// @param path in: as written, out: absolute; the document gets it too
sn_status sn_read_mesh(sn_reader* r, const sn_place* owner_at, json_t* owner, const char* key,
                       char** path, sn_mesh* mesh);

#endif
