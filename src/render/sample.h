// Points that fill the unit square evenly (Sobol's first two dimensions): any aligned run of 2^k of
// them is spread as evenly as 2^k points can be, and so is a run of such runs. No chance is involved.
#ifndef SN_RENDER_SAMPLE_H
#define SN_RENDER_SAMPLE_H

#include "math/vec.h"

// Scrambles that keep what is sampled with one set of points apart from what is with another.
typedef struct sn_sample_set {
  uint32_t x, y;
} sn_sample_set;

typedef struct sn_point2 {
  double x, y;
} sn_point2;

static inline sn_point2 sn_sample(sn_sample_set set, uint32_t index) {
  uint32_t x = set.x, y = set.y, bit = 1u << 31, mixed = 1u << 31;
  for (uint32_t i = index; i; i >>= 1, bit >>= 1, mixed ^= mixed >> 1) {
    if (!(i & 1)) continue;
    x ^= bit;
    y ^= mixed;
  }
  return (sn_point2){(x + 0.5) / 4294967296.0, (y + 0.5) / 4294967296.0};
}

// The square onto the unit disc: neighbours stay neighbours, areas keep their share (Shirley and Chiu).
static inline sn_point2 sn_sample_disc(sn_point2 p) {
  const double eighth = 0.78539816339744830962;
  double a = 2 * p.x - 1, b = 2 * p.y - 1, radius = a, angle = 0;
  if (fabs(a) > fabs(b)) {
    angle = eighth * (b / a);
  } else if (b != 0) {
    radius = b;
    angle = eighth * (2 - a / b);
  }
  sn_point2 q = {radius * cos(angle), 0};
  q.y = radius * sin(angle);
  return q;
}

// Unit vectors that make a right-handed frame with a unit axis: u, v, axis.
static inline void sn_axes_across(sn_vec3 axis, sn_vec3* u, sn_vec3* v) {
  *u = sn_cross(fabs(axis.x) < 0.8 ? sn_v3(1, 0, 0) : sn_v3(0, 1, 0), axis);
  *u = sn_scale(1 / sn_length(*u), *u);
  *v = sn_cross(axis, *u);
}

#endif
