// Meshes and motion that a scene takes from glTF files.
#ifndef SN_IO_SCENE_GLTF_H
#define SN_IO_SCENE_GLTF_H

#include "io/scene_json.h"
#include "sinew/gltf.h"

// Length of the file's name in "file.glb#mesh" or "file.glb"; 0 if it is no glTF file.
size_t sn_gltf_name_length(const char* path);

// A mesh of a file, in the unit of the file: a skinned one in its bind pose, that is, as it is in the
// file; any other as its node places it, if exactly one node uses it.
// @param path absolute @param name of the mesh; NULL: the only one
sn_status sn_read_gltf_mesh(sn_reader* r, const sn_place* at, const char* path, const char* name,
                            sn_mesh* mesh);

// The same mesh as the file has it, until the files are closed.
sn_status sn_find_gltf_mesh(sn_reader* r, const sn_place* at, const char* path, const char* name,
                            const sn_gltf_mesh** mesh);

// {"from": "walk.glb", "node": "LeftArm", "clip": "walk"}: how the node moves against its rest pose,
// a key at every frame of the scene until the clip ends. The first frame is the clip's time 0. The
// document gets the absolute path, and the first clip where it names none.
sn_status sn_read_gltf_motion(sn_reader* r, const sn_place* at, json_t* object, sn_motion* motion);

// Each file is read once; this forgets them.
void sn_close_gltf_files(sn_reader* r);

#endif
