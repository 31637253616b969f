// Colliders as solids that move: rigidly, as told by a motion, or vertex by vertex, as told by an animated mesh.
#ifndef SN_SCENE_OBSTACLES_H
#define SN_SCENE_OBSTACLES_H

#include "base/parallel.h"
#include "geometry/solid.h"
#include "geometry/surface.h"
#include "sinew/scene.h"

// What does not change.
typedef struct sn_obstacle {
  const sn_collider_desc* desc;
  sn_surface surface;  // MESH
  sn_bvh bvh;          // MESH
  sn_solid solid;      // at rest
} sn_obstacle;

// The mesh of one that deforms, at one time.
typedef struct sn_obstacle_shape {
  double* positions;  // (3 x vertex_count)
  sn_surface surface;
  sn_bvh bvh;
  sn_bvh_facet* room;  // to measure the tree in
  sn_solid solid;
} sn_obstacle_shape;

// Where it is, and was when the step began. One that deforms has no frame of its own.
typedef struct sn_obstacle_pose {
  const sn_obstacle* obstacle;
  sn_rigid now, before;
  sn_obstacle_shape* shapes;  // now and before (2), of one that deforms; else NULL
  const sn_solid* solid;      // in the frame of now
} sn_obstacle_pose;

sn_status sn_obstacle_build(const sn_collider_desc* desc, sn_arena* arena, sn_arena* scratch,
                            sn_obstacle* obstacle, sn_error* err);
// At rest. The obstacle must outlive it.
sn_status sn_obstacle_pose_create(const sn_obstacle* obstacle, sn_arena* arena,
                                  sn_obstacle_pose* pose, sn_error* err);
// Go on to a frame, or in between. @param still it was there before, too
void sn_obstacle_pose_move(sn_obstacle_pose* pose, sn_pool* pool, double frame, bool still);
// How far anything in the box goes with it from one frame to another, at most, m.
double sn_obstacle_reach(const sn_obstacle* obstacle, sn_box box, double from, double to);

// A place of now in its frame; the place to which it would have carried one of the step's beginning, in its frame and
// in the world.
sn_vec3 sn_obstacle_place(const sn_obstacle_pose* pose, sn_vec3 place);
sn_vec3 sn_obstacle_start(const sn_obstacle_pose* pose, sn_vec3 place);
sn_vec3 sn_obstacle_carry(const sn_obstacle_pose* pose, sn_vec3 place);
// A direction of its frame in the world, and back.
sn_vec3 sn_obstacle_turn(const sn_obstacle_pose* pose, sn_vec3 direction);
sn_vec3 sn_obstacle_turn_back(const sn_obstacle_pose* pose, sn_vec3 direction);

#endif
