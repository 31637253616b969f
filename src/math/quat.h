// Rotations as unit quaternions, scalar last.
#ifndef SN_MATH_QUAT_H
#define SN_MATH_QUAT_H

#include "math/elementary.h"
#include "math/vec.h"

static inline sn_quat sn_quat_identity(void) { return (sn_quat){0.0, 0.0, 0.0, 1.0}; }
static inline double sn_quat_dot(sn_quat a, sn_quat b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
// a + s b
static inline sn_quat sn_quat_madd(sn_quat a, double s, sn_quat b) {
  return (sn_quat){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z, a.w + s * b.w};
}
static inline double sn_quat_length(sn_quat a) { return sqrt(sn_quat_dot(a, a)); }
static inline sn_quat sn_quat_normalise(sn_quat a) {
  double length = sn_quat_length(a);
  return (sn_quat){a.x / length, a.y / length, a.z / length, a.w / length};
}

// First b, then a.
static inline sn_quat sn_quat_multiply(sn_quat a, sn_quat b) {
  return (sn_quat){
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
static inline sn_quat sn_quat_conjugate(sn_quat a) { return (sn_quat){-a.x, -a.y, -a.z, a.w}; }

// Exactly the identity for (0, 0, 0, +-1).
static inline sn_mat3 sn_quat_to_mat3(sn_quat q) {
  double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  double xy = q.x * q.y, yz = q.y * q.z, zx = q.z * q.x;
  double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (sn_mat3){{{1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (zx + wy)},
                    {2.0 * (xy + wz), 1.0 - 2.0 * (zz + xx), 2.0 * (yz - wx)},
                    {2.0 * (zx - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)}}};
}

// Of a rotation. From 4 q q^T, whose entries are sums and differences of those of the matrix, the row
// with the largest diagonal entry is taken, so that nothing cancels; q is that row made a unit.
static inline sn_quat sn_quat_from_mat3(const sn_mat3* r) {
  double xx = r->m[0][0], yy = r->m[1][1], zz = r->m[2][2];
  double xy = r->m[0][1] + r->m[1][0], yz = r->m[1][2] + r->m[2][1], zx = r->m[2][0] + r->m[0][2];
  double wx = r->m[2][1] - r->m[1][2], wy = r->m[0][2] - r->m[2][0], wz = r->m[1][0] - r->m[0][1];
  sn_quat q;
  if (xx + yy + zz >= 0.0) {
    q = (sn_quat){wx, wy, wz, 1.0 + xx + yy + zz};
  } else if (xx >= yy && xx >= zz) {
    q = (sn_quat){1.0 + xx - yy - zz, xy, zx, wx};
  } else if (yy >= zz) {
    q = (sn_quat){xy, 1.0 + yy - zz - xx, yz, wy};
  } else {
    q = (sn_quat){zx, yz, 1.0 + zz - xx - yy, wz};
  }
  return sn_quat_normalise(q);
}

// From a (t = 0) to b (t = 1) at constant speed along the shorter arc. q and -q are one rotation,
// so b is taken with the sign that is nearer to a. With the angle h between them,
//   q(t) = (sin((1 - t) h) a + sin(t h) b) / sin h,  h = 2 atan2(|b - a|, |b + a|)
// Where h is so small that the arc is its chord to the last digit, the chord is taken.
static inline sn_quat sn_quat_slerp(sn_quat a, sn_quat b, double t) {
  if (sn_quat_dot(a, b) < 0.0) b = (sn_quat){-b.x, -b.y, -b.z, -b.w};
  sn_quat chord = sn_quat_madd(b, -1.0, a);
  double apart = sn_quat_length(chord);
  if (apart == 0.0) return a;
  if (apart < 1e-8) return sn_quat_normalise(sn_quat_madd(a, t, chord));
  double h = 2.0 * sn_atan2(apart, sn_quat_length(sn_quat_madd(b, 1.0, a)));
  sn_quat q = sn_quat_madd((sn_quat){0.0, 0.0, 0.0, 0.0}, sn_sin((1.0 - t) * h), a);
  return sn_quat_normalise(sn_quat_madd(q, sn_sin(t * h), b));
}

#endif
