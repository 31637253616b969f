// Vectors and rotations, as far as the creature needs them.
#ifndef CREATURE_MATH_H
#define CREATURE_MATH_H

#include <math.h>

#include "sinew/math.h"

#define PI 3.14159265358979323846

static inline sn_vec3 add(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline sn_vec3 subtract(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline sn_vec3 scale(double s, sn_vec3 a) { return (sn_vec3){s * a.x, s * a.y, s * a.z}; }
static inline double dot(sn_vec3 a, sn_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline sn_vec3 cross(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double length(sn_vec3 a) { return sqrt(dot(a, a)); }
static inline sn_vec3 unit(sn_vec3 a) { return scale(1 / length(a), a); }
static inline sn_vec3 mirrored(sn_vec3 p) { return (sn_vec3){p.x, p.y, -p.z}; }
static inline double clamped(double x, double lo, double hi) {
  return x < lo ? lo : x > hi ? hi : x;
}

// First b, then a.
static inline sn_quat joined(sn_quat a, sn_quat b) {
  return (sn_quat){
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
static inline sn_quat inverse(sn_quat q) { return (sn_quat){-q.x, -q.y, -q.z, q.w}; }
static inline sn_vec3 rotated(sn_quat q, sn_vec3 v) {
  sn_vec3 axis = {q.x, q.y, q.z}, side = scale(2, cross(axis, v));
  return add(add(v, scale(q.w, side)), cross(axis, side));
}

// About one axis, in radians.
static inline sn_quat about_x(double a) { return (sn_quat){sin(a / 2), 0, 0, cos(a / 2)}; }
static inline sn_quat about_y(double a) { return (sn_quat){0, sin(a / 2), 0, cos(a / 2)}; }
static inline sn_quat about_z(double a) { return (sn_quat){0, 0, sin(a / 2), cos(a / 2)}; }

static inline sn_quat normalised(sn_quat q) {
  double size = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  return (sn_quat){q.x / size, q.y / size, q.z / size, q.w / size};
}

// The way from a to b, straight and then normalised; fine for the small angles here.
static inline sn_quat between(sn_quat a, sn_quat b, double share) {
  double s = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w < 0 ? -share : share;
  return normalised((sn_quat){(1 - share) * a.x + s * b.x, (1 - share) * a.y + s * b.y,
                              (1 - share) * a.z + s * b.z, (1 - share) * a.w + s * b.w});
}

#endif
