// A bone as a shape at rest: what is inside it, what is near it, where the flesh must be fine.
#ifndef SN_BODY_BONE_H
#define SN_BODY_BONE_H

#include "geometry/bvh.h"
#include "geometry/surface.h"
#include "sinew/scene.h"

typedef struct sn_bone {
  const sn_bone_desc* desc;
  sn_mesh capsule_mesh;  // CAPSULE
  sn_surface surface;
  sn_bvh bvh;
} sn_bone;

sn_status sn_bone_build(const sn_bone_desc* desc, sn_arena* arena, sn_arena* scratch, sn_bone* bone,
                        sn_error* err);
void sn_bone_destroy(sn_bone* bone);

// Signed distance, negative inside; exact up to `limit`, anything above it beyond.
double sn_bone_distance(const sn_bone* bone, sn_vec3 p, double limit);

#endif
