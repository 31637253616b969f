// What bones, colliders, constraints, loads, muscles and poses have done so far, as a hash each. A state goes
// with every scene whose animation up to its frame is the same, whatever comes after.
#ifndef SN_SCENE_ANIMATION_H
#define SN_SCENE_ANIMATION_H

#include "base/memory.h"
#include "sinew/scene.h"

typedef struct sn_animation {
  int first, last;   // frames that it is about
  bool begun;        // else about none
  uint32_t count;    // of the scene's animated things
  uint64_t* hashes;  // (count)
} sn_animation;

sn_status sn_animation_create(const sn_scene* scene, sn_arena* arena, sn_animation* animation,
                              sn_error* err);
// Take in what happens up to `frame`; the first call begins there. An earlier frame than the last begins anew.
void sn_animation_advance(const sn_scene* scene, sn_animation* animation, int frame);
// Begin at another frame and go on to `last`.
void sn_animation_restart(const sn_scene* scene, sn_animation* animation, int first, int last);

#define SN_ANIMATION_PLACE 64
// The place in the scene of what hash `index` is about.
void sn_animation_place(const sn_scene* scene, uint32_t index, char place[SN_ANIMATION_PLACE]);

// A force at a frame, between its keys.
sn_vec3 sn_force_at(const sn_force_desc* desc, double frame);

#endif
