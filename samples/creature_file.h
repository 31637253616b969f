// The creature as a glTF document.
#ifndef CREATURE_FILE_H
#define CREATURE_FILE_H

#include "creature_rig.h"
#include "sinew/gltf.h"

#define CREATURE_MESH "creature"  // names in the document
#define CREATURE_CLIP "walk"

// Write surface, skeleton, weights and walk as a .glb file.
sn_status file_save(const char* path, const creature_rig* rig, const sn_mesh* mesh, sn_error* err);

#endif
