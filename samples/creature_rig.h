// The skeleton of the creature, and which vertices follow which of its joints.
#ifndef CREATURE_RIG_H
#define CREATURE_RIG_H

#include "sinew/mesh.h"
#include "sinew/scene.h"

// Those in the middle, parents first; then those of the left side and, in the same order, of the
// right side.
enum {
  ROOT,  // on the ground, never moves
  HIPS,
  SPINE1,
  SPINE2,
  CHEST,
  NECK,
  HEAD,
  TAIL1,
  TAIL2,
  TAIL3,
  EAR1,
  EAR2,
  HIND_UPPER,
  HIND_LOWER,
  HIND_FOOT,
  FORE_UPPER,
  FORE_LOWER,
  FORE_FOOT,
  SIDE_COUNT = FORE_FOOT - EAR1 + 1,  // from a joint of the left side to that of the right
  JOINT_COUNT = FORE_FOOT + 1 + SIDE_COUNT
};

// All lengths are metres.
typedef struct rig_bone {
  sn_vec3 from, to;
  double from_flesh, to_flesh;  // about the radius of the flesh around its ends
  double radius;                // of the bone itself
} rig_bone;

// At rest all joints have the axes of the world.
typedef struct rig_joint {
  char name[24];
  int parent;  // -1: none
  sn_vec3 place;
  rig_bone bone;  // that moves with it; ROOT has none
} rig_joint;

typedef struct creature_rig {
  rig_joint joints[JOINT_COUNT];
} creature_rig;

#define INFLUENCE_COUNT 4

void rig_create(creature_rig* rig);
// What is hard of a bone: shorter, so that there is room at both joints.
sn_capsule rig_capsule(const rig_bone* bone);
// @param joints, weights of each vertex, heaviest first, with a sum of 1 (4 x vertex_count)
sn_status rig_weigh(const creature_rig* rig, const sn_mesh* mesh, uint16_t* joints, float* weights,
                    sn_error* err);

#endif
