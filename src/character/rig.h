// A character as one surface whose vertices hang on joints: whatever moves them, be it a joint of a
// skin or a node that carries a mesh without one.
#ifndef SN_CHARACTER_RIG_H
#define SN_CHARACTER_RIG_H

#include "base/memory.h"
#include "sinew/gltf.h"

#define SN_NO_JOINT UINT32_MAX

typedef struct sn_rig_joint {
  uint32_t node;    // of the character
  uint32_t parent;  // nearest joint above it or SN_NO_JOINT
  sn_vec3 place;    // in the bind pose, m
} sn_rig_joint;

typedef struct sn_rig {
  const sn_gltf* character;
  sn_mesh mesh;          // all of it in the bind pose; owns its memory
  double* bind;          // pose of all nodes (16 x node_count)
  sn_rig_joint* joints;  // that weigh something, parents first (joint_count)
  uint32_t joint_count;
  uint32_t* starts;  // first influence of each vertex (vertex_count + 1)
  uint32_t* influence_joints;
  float* influence_weights;    // of a vertex they sum to 1
  double* vertex_areas;        // a third of the triangles around each, m2 (vertex_count)
  uint8_t* vertex_is_skinned;  // else it moves with a node (vertex_count)
  bool has_skin;               // some are
  bool moves;                  // some joint is moved by the clip, itself or above it
} sn_rig;

// The character must outlive the rig. Memory from `arena`, except the mesh's own.
// @param clip whose channels make a node move by itself, or -1
sn_status sn_rig_create(const sn_gltf* character, int32_t clip, sn_arena* arena, sn_arena* scratch,
                        sn_rig* rig, sn_error* err);
// Frees the mesh. A zeroed rig is fine.
void sn_rig_destroy(sn_rig* rig);

const char* sn_rig_joint_name(const sn_rig* rig, uint32_t joint);

#endif
