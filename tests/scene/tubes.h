// Closed tubes around a centre line, with flat ends, as OBJ files.
#ifndef SN_TESTS_SCENE_TUBES_H
#define SN_TESTS_SCENE_TUBES_H

#include "scene/scenes.h"
#include "shapes.h"

#define TUBE_RINGS 60
#define TUBE_SIDES 40

// Place and radius at t in 0..1.
typedef sn_vec3 (*tube_fn)(double t, double* radius);

static inline sn_vec3 tube_direction(tube_fn line, double t) {
  double radius, d = 1e-5;
  sn_vec3 v = sn_sub(line(t + d, &radius), line(t - d, &radius));
  return sn_scale(1 / sn_length(v), v);
}

static inline void write_tube(const char* name, tube_fn line) {
  size_t size = 1 << 20, length = 0;
  char* text = malloc(size);
  assert_non_null(text);
  for (int i = 0; i <= TUBE_RINGS; ++i) {
    double radius, t = (double)i / TUBE_RINGS;
    sn_vec3 p = line(t, &radius), w = tube_direction(line, t);
    sn_vec3 a = sn_cross(w, fabs(w.z) < 0.9 ? sn_v3(0, 0, 1) : sn_v3(1, 0, 0));
    a = sn_scale(1 / sn_length(a), a);
    sn_vec3 b = sn_cross(w, a);
    for (int k = 0; k < TUBE_SIDES; ++k) {
      double turn = 2 * SHAPE_PI * k / TUBE_SIDES;
      sn_vec3 q = sn_madd(sn_madd(p, radius * sn_cos(turn), a), radius * sn_sin(turn), b);
      length += (size_t)snprintf(text + length, size - length, "v %.9g %.9g %.9g\n", q.x, q.y, q.z);
    }
  }
  for (int i = 0; i < TUBE_RINGS; ++i) {
    for (int k = 0; k < TUBE_SIDES; ++k) {
      int next = (k + 1) % TUBE_SIDES, low = 1 + i * TUBE_SIDES, high = low + TUBE_SIDES;
      length += (size_t)snprintf(text + length, size - length, "f %d %d %d %d\n", low + k,
                                 low + next, high + next, high + k);
    }
  }
  for (int end = 0; end < 2; ++end) {
    int first = 1 + end * TUBE_RINGS * TUBE_SIDES;
    length += (size_t)snprintf(text + length, size - length, "f");
    for (int k = 0; k < TUBE_SIDES; ++k) {
      length += (size_t)snprintf(text + length, size - length, " %d",
                                 first + (end ? k : TUBE_SIDES - 1 - k));
    }
    length += (size_t)snprintf(text + length, size - length, "\n");
  }
  scratch_write(name, text, length);
  free(text);
}

#endif
