#include "scene/animation.h"

#include <stdio.h>
#include <xxhash.h>

#include "math/vec.h"

// A frame is looked at in so many moments, as its substeps may.
#define MOMENTS 8
#define MESH_MOMENTS 2

sn_vec3 sn_force_at(const sn_force_desc* desc, double frame) {
  const sn_load_key* keys = desc->keys;
  uint32_t last = desc->key_count - 1;
  if (frame <= keys[0].frame) return keys[0].value;
  if (frame >= keys[last].frame) return keys[last].value;
  uint32_t k = 0;
  while (keys[k + 1].frame < frame) ++k;
  double t = (frame - keys[k].frame) / (keys[k + 1].frame - keys[k].frame);
  return sn_madd(keys[k].value, t, sn_sub(keys[k + 1].value, keys[k].value));
}

// Kinds of animated things, in the order of their hashes.
typedef enum thing { BONE, COLLIDER, FIXED, FORCE, MUSCLE, POSE, THINGS } thing;

static uint32_t count_of(const sn_scene* scene, thing kind) {
  const uint32_t counts[THINGS] = {scene->bone_count,  scene->collider_count, scene->fixed_count,
                                   scene->force_count, scene->muscle_count,   scene->body_count};
  return counts[kind];
}

sn_status sn_animation_create(const sn_scene* scene, sn_arena* arena, sn_animation* animation,
                              sn_error* err) {
  *animation = (sn_animation){0};
  for (thing kind = 0; kind < THINGS; ++kind) animation->count += count_of(scene, kind);
  return SN_ARENA_NEW(arena, animation->count, &animation->hashes, err);
}

static uint64_t add(uint64_t hash, const void* bytes, size_t size) {
  return XXH64(bytes, size, hash);
}

static uint64_t add_motion(uint64_t hash, const sn_motion* motion, double frame) {
  if (motion->key_count == 0) return hash;
  sn_affine pose = sn_motion_at(motion, frame);
  return add(hash, &pose, sizeof pose);
}

static uint64_t add_shape(uint64_t hash, const sn_mesh_motion* shape, double frame) {
  if (shape->frame_count == 0) return hash;
  for (uint32_t v = 0; v < shape->vertex_count; ++v) {
    sn_vec3 place = sn_mesh_motion_at(shape, v, frame);
    hash = add(hash, &place, sizeof place);
  }
  return hash;
}

// Without meshes, of which there may be much.
static uint64_t add_moment(uint64_t hash, const sn_scene* scene, thing kind, uint32_t i,
                           double frame) {
  if (kind == BONE) return add_motion(hash, &scene->bones[i].motion, frame);
  if (kind == COLLIDER) return add_motion(hash, &scene->colliders[i].motion, frame);
  if (kind == FIXED) return add_motion(hash, &scene->fixed[i].motion, frame);
  if (kind == FORCE) {
    sn_vec3 value = sn_force_at(&scene->forces[i], frame);
    return add(hash, &value, sizeof value);
  }
  if (kind == MUSCLE) {
    const sn_muscle_desc* muscle = &scene->muscles[i];
    double value = sn_number_at(muscle->activation, muscle->activation_count, frame);
    return add(hash, &value, sizeof value);
  }
  return hash;
}

static const sn_mesh_motion* shape_of(const sn_scene* scene, thing kind, uint32_t i) {
  static const sn_mesh_motion none;
  return kind == BONE       ? &scene->bones[i].shape
         : kind == COLLIDER ? &scene->colliders[i].shape
         : kind == POSE     ? &scene->bodies[i].pose
                            : &none;
}

// The time since the frame before, or with the first frame the moment of it.
static void add_frame(const sn_scene* scene, sn_animation* animation, int frame) {
  uint64_t* hash = animation->hashes;
  bool first = frame == animation->first;
  for (thing kind = 0; kind < THINGS; ++kind) {
    for (uint32_t i = 0; i < count_of(scene, kind); ++i, ++hash) {
      for (int k = first ? MOMENTS : 1; k <= MOMENTS; ++k) {
        *hash = add_moment(*hash, scene, kind, i, frame - 1 + (double)k / MOMENTS);
      }
      const sn_mesh_motion* shape = shape_of(scene, kind, i);
      for (int k = first ? MESH_MOMENTS : 1; k <= MESH_MOMENTS; ++k) {
        *hash = add_shape(*hash, shape, frame - 1 + (double)k / MESH_MOMENTS);
      }
    }
  }
}

void sn_animation_restart(const sn_scene* scene, sn_animation* animation, int first, int last) {
  for (uint32_t i = 0; i < animation->count; ++i) animation->hashes[i] = 0;
  animation->begun = true;
  animation->first = first;
  for (int frame = first; frame <= last; ++frame) add_frame(scene, animation, frame);
  animation->last = last;
}

void sn_animation_advance(const sn_scene* scene, sn_animation* animation, int frame) {
  if (!animation->begun || frame < animation->last) {
    int first = animation->begun && animation->first < frame ? animation->first : frame;
    sn_animation_restart(scene, animation, first, frame);
    return;
  }
  while (animation->last < frame) add_frame(scene, animation, ++animation->last);
}

void sn_animation_place(const sn_scene* scene, uint32_t index, char place[SN_ANIMATION_PLACE]) {
  static const char* const FORMATS[THINGS] = {"bones[%u].motion",       "colliders[%u].motion",
                                              "fixed[%u].motion",       "forces[%u]",
                                              "muscles[%u].activation", "bodies[%u].pose"};
  thing kind = BONE;
  while (index >= count_of(scene, kind)) index -= count_of(scene, kind++);
  snprintf(place, SN_ANIMATION_PLACE, FORMATS[kind], index);
}
