// Animated meshes for tests, as point caches.
#ifndef SN_TESTS_SCENE_ANIMATIONS_H
#define SN_TESTS_SCENE_ANIMATIONS_H

#include "math/vec.h"
#include "scene/scenes.h"

// Where vertices of an animated mesh are at a frame.
typedef sn_vec3 (*vertex_motion)(sn_vec3 rest, int frame);

static inline void write_animation(const char* name, const sn_mesh* mesh, int frames,
                                   vertex_motion at) {
  sn_pc2* cache;
  sn_error err = {0};
  float places[3 * 4096];
  assert_true(mesh->vertex_count <= 4096);
  assert_ok(sn_pc2_open(scratch_path(name), mesh->vertex_count, 1, 0, &cache, &err), &err);
  for (int f = 1; f <= frames; ++f) {
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      sn_vec3 p = at(sn_load3(mesh->positions + 3 * v), f);
      for (int i = 0; i < 3; ++i) places[3 * v + (size_t)i] = (float)sn_axis(p, i);
    }
    assert_ok(sn_pc2_append(cache, places, &err), &err);
  }
  sn_pc2_close(cache);
}

#endif
