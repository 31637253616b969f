// How the creature walks: once round in a second, on the spot.
#ifndef CREATURE_WALK_H
#define CREATURE_WALK_H

#include "creature_rig.h"

// Where all joints are, in the world.
typedef struct creature_pose {
  sn_vec3 places[JOINT_COUNT];
  sn_quat turns[JOINT_COUNT];
} creature_pose;

// @param phase of the walk, periodic in 1; 0 is when the left hind foot touches the ground
void walk_pose(const creature_rig* rig, double phase, creature_pose* pose);

#endif
