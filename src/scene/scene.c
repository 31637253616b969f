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

const char* sn_scene_json(const sn_scene* scene) { return scene->resolved; }

const uint32_t* sn_scene_triangles(const sn_scene* scene, uint32_t body, uint32_t* count) {
  SN_ASSERT(body < scene->body_count);
  *count = scene->bodies[body].mesh.triangle_count;
  return scene->bodies[body].mesh.triangles;
}

double sn_number_at(const sn_number_key* keys, uint32_t count, double frame) {
  uint32_t k = 0;
  if (frame <= keys[0].frame) return keys[0].value;
  if (frame >= keys[count - 1].frame) return keys[count - 1].value;
  while (keys[k + 1].frame < frame) ++k;
  double t = (frame - keys[k].frame) / (keys[k + 1].frame - keys[k].frame);
  return keys[k].value + t * (keys[k + 1].value - keys[k].value);
}

static sn_vec3 vertex_at(const sn_mesh_motion* motion, uint32_t vertex, uint32_t frame) {
  const float* p = motion->places + 3 * ((size_t)frame * motion->vertex_count + vertex);
  return sn_v3((double)p[0], (double)p[1], (double)p[2]);
}

sn_vec3 sn_mesh_motion_at(const sn_mesh_motion* motion, uint32_t vertex, double frame) {
  double at = frame - motion->first_frame, last = motion->frame_count - 1;
  if (motion->period > 0) {
    last = motion->period;
    at -= last * floor(at / last);
  }
  if (!(at > 0)) return vertex_at(motion, vertex, 0);
  if (at >= last) return vertex_at(motion, vertex, motion->frame_count - 1);
  uint32_t before = (uint32_t)at;
  sn_vec3 from = vertex_at(motion, vertex, before);
  if (at == before) return from;
  double length = fmin(1, last - before);
  return sn_madd(from, (at - before) / length, sn_sub(vertex_at(motion, vertex, before + 1), from));
}

static sn_vec3 mix(sn_vec3 a, sn_vec3 b, double t) { return sn_madd(a, t, sn_sub(b, a)); }

static const double no_stretch[6] = {1, 1, 1, 0, 0, 0};

static bool is_stretched(const sn_keyframe* key) {
  bool given = false, differs = false;
  for (int i = 0; i < 6; ++i) {
    given |= key->stretch[i] != 0;
    differs |= key->stretch[i] != no_stretch[i];
  }
  return given && differs;
}

bool sn_motion_is_rigid(const sn_motion* motion) {
  for (uint32_t k = 0; k < motion->key_count; ++k) {
    if (is_stretched(&motion->keys[k])) return false;
  }
  return true;
}

// From a to b, either of which may have none.
static void mix_stretch(const sn_keyframe* a, const sn_keyframe* b, double t, double stretch[6]) {
  const double* from = is_stretched(a) ? a->stretch : no_stretch;
  const double* to = is_stretched(b) ? b->stretch : no_stretch;
  for (int i = 0; i < 6; ++i) stretch[i] = from[i] + t * (to[i] - from[i]);
}

// The key that holds at `frame`, between its neighbours in time.
static sn_keyframe interpolate(const sn_motion* motion, double frame) {
  const sn_keyframe* keys = motion->keys;
  uint32_t low = 0, high = motion->key_count - 1;
  if (motion->period > 0) {
    double since = frame - keys[0].frame;
    frame = keys[0].frame + (since - motion->period * floor(since / motion->period));
  }
  if (frame <= keys[low].frame) return keys[low];
  if (frame >= keys[high].frame) return keys[high];
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *(keys[middle].frame <= frame ? &low : &high) = middle;
  }
  const sn_keyframe *a = &keys[low], *b = &keys[high];
  if (frame == a->frame) return *a;
  double t = (frame - a->frame) / (b->frame - a->frame);
  sn_keyframe key = {.frame = frame,
                     .translate = mix(a->translate, b->translate, t),
                     .rotate = sn_quat_slerp(a->rotate, b->rotate, t),
                     .pivot = mix(a->pivot, b->pivot, t)};
  mix_stretch(a, b, t, key.stretch);
  return key;
}

// p -> pivot + A (p - pivot) + translate = A p + (translate + (pivot - A pivot)) with A = R S; formed
// in this order a motion without rotation and stretch translates exactly.
static sn_affine pose_of(const sn_keyframe* key) {
  sn_affine pose = {.linear = sn_quat_to_mat3(key->rotate)};
  if (is_stretched(key)) {
    const double* s = key->stretch;
    sn_mat3 stretch = {{{s[0], s[5], s[4]}, {s[5], s[1], s[3]}, {s[4], s[3], s[2]}}};
    pose.linear = sn_mul3(&pose.linear, &stretch);
  }
  sn_vec3 swing = sn_sub(key->pivot, sn_mul3v(&pose.linear, key->pivot));
  pose.translate = sn_add(key->translate, swing);
  return pose;
}

sn_affine sn_motion_at(const sn_motion* motion, double frame) {
  if (motion->key_count == 0) return sn_affine_at_rest();
  sn_keyframe key = interpolate(motion, frame);
  return pose_of(&key);
}

sn_affine sn_motion_toward(const sn_motion* motion, double frame, double share) {
  if (motion->key_count == 0 || share >= 1) return sn_motion_at(motion, frame);
  sn_keyframe key = interpolate(motion, frame), rest = {0};
  mix_stretch(&rest, &key, share, key.stretch);
  key.translate = sn_scale(share, key.translate);
  key.rotate = sn_quat_slerp((sn_quat){0, 0, 0, 1}, key.rotate, share);
  return pose_of(&key);
}
