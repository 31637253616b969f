// The scene as an object: its end, and where a motion is at a frame.
#include "sinew/scene.h"

#include "base/memory.h"
#include "math/quat.h"

void sn_scene_destroy(sn_scene* scene) {
  if (!scene) return;
  for (uint32_t i = 0; i < scene->body_count; ++i) {
    sn_body_desc* body = &scene->bodies[i];
    sn_mesh_destroy(&body->mesh);
    for (uint32_t k = 0; k < body->region_count; ++k) sn_mesh_destroy(&body->regions[k].mesh);
  }
  for (uint32_t i = 0; i < scene->bone_count; ++i) sn_mesh_destroy(&scene->bones[i].mesh);
  for (uint32_t i = 0; i < scene->muscle_count; ++i) sn_mesh_destroy(&scene->muscles[i].mesh);
  for (uint32_t i = 0; i < scene->collider_count; ++i) sn_mesh_destroy(&scene->colliders[i].mesh);
  sn_arena_destroy(scene->storage);  // the scene itself is in it
}

double sn_number_at(const sn_number_key* keys, uint32_t count, double frame) {
  uint32_t k = 0;
  if (frame <= keys[0].frame) return keys[0].value;
  if (frame >= keys[count - 1].frame) return keys[count - 1].value;
  while (keys[k + 1].frame < frame) ++k;
  double t = (frame - keys[k].frame) / (keys[k + 1].frame - keys[k].frame);
  return keys[k].value + t * (keys[k + 1].value - keys[k].value);
}

static sn_vec3 mix(sn_vec3 a, sn_vec3 b, double t) { return sn_madd(a, t, sn_sub(b, a)); }

// The key that holds at `frame`, between its neighbours in time.
static sn_keyframe interpolate(const sn_motion* motion, double frame) {
  const sn_keyframe* keys = motion->keys;
  uint32_t low = 0, high = motion->key_count - 1;
  if (frame <= keys[low].frame) return keys[low];
  if (frame >= keys[high].frame) return keys[high];
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(keys[middle].frame <= frame ? &low : &high) = middle;
  }
  const sn_keyframe *a = &keys[low], *b = &keys[high];
  if (frame == a->frame) return *a;
  double t = (frame - a->frame) / (b->frame - a->frame);
  return (sn_keyframe){frame, mix(a->translate, b->translate, t),
                       sn_quat_slerp(a->rotate, b->rotate, t), mix(a->pivot, b->pivot, t)};
}

// p -> pivot + R (p - pivot) + translate = R p + (translate + (pivot - R pivot)); formed in this
// order a motion without rotation translates exactly.
static sn_rigid pose_of(sn_keyframe key) {
  sn_rigid pose;
  pose.rotate = sn_quat_to_mat3(key.rotate);
  sn_vec3 swing = sn_sub(key.pivot, sn_mul3v(&pose.rotate, key.pivot));
  pose.translate = sn_add(key.translate, swing);
  return pose;
}

sn_rigid sn_motion_at(const sn_motion* motion, double frame) {
  return motion->key_count == 0 ? sn_rigid_identity() : pose_of(interpolate(motion, frame));
}

sn_rigid sn_motion_toward(const sn_motion* motion, double frame, double share) {
  if (motion->key_count == 0 || share >= 1) return sn_motion_at(motion, frame);
  sn_keyframe key = interpolate(motion, frame);
  key.translate = sn_scale(share, key.translate);
  key.rotate = sn_quat_slerp((sn_quat){0, 0, 0, 1}, key.rotate, share);
  return pose_of(key);
}
