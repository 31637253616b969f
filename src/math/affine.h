// Affine maps of space as 4x4 matrices, column-major as in glTF: m[4 * column + row]. The last row is
// (0, 0, 0, 1) and never looked at.
#ifndef SN_MATH_AFFINE_H
#define SN_MATH_AFFINE_H

#include <math.h>
#include <stdbool.h>

#include "math/quat.h"

static inline void sn_affine_identity(double m[16]) {
  for (int i = 0; i < 16; ++i) m[i] = i % 5 == 0;
}

static inline sn_vec3 sn_affine_apply(const double m[16], sn_vec3 p) {
  return sn_v3(m[0] * p.x + m[4] * p.y + m[8] * p.z + m[12],
               m[1] * p.x + m[5] * p.y + m[9] * p.z + m[13],
               m[2] * p.x + m[6] * p.y + m[10] * p.z + m[14]);
}

// c = a b: first b, then a. c is neither of them.
static inline void sn_affine_multiply(const double a[16], const double b[16], double c[16]) {
  for (int column = 0; column < 4; ++column) {
    const double* from = b + 4 * column;
    for (int row = 0; row < 3; ++row) {
      c[4 * column + row] = a[row] * from[0] + a[4 + row] * from[1] + a[8 + row] * from[2];
      if (column == 3) c[12 + row] += a[12 + row];
    }
    c[4 * column + 3] = column == 3;
  }
}

// First scale, then rotate, then translate.
static inline void sn_affine_compose(sn_vec3 translate, sn_quat rotate, sn_vec3 scale,
                                     double m[16]) {
  sn_mat3 r = sn_quat_to_mat3(rotate);
  for (int row = 0; row < 3; ++row) {
    m[row] = r.m[row][0] * scale.x;
    m[4 + row] = r.m[row][1] * scale.y;
    m[8 + row] = r.m[row][2] * scale.z;
    m[12 + row] = sn_axis(translate, row);
  }
  m[3] = m[7] = m[11] = 0.0;
  m[15] = 1.0;
}

static inline sn_mat3 sn_affine_linear(const double m[16]) {
  return (sn_mat3){{{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}}};
}
static inline sn_vec3 sn_affine_origin(const double m[16]) { return sn_v3(m[12], m[13], m[14]); }

// @return false where there is none
static inline bool sn_affine_invert(const double m[16], double inverse[16]) {
  sn_mat3 linear = sn_affine_linear(m), back;
  if (!sn_mat3_invert(&linear, &back)) return false;
  sn_vec3 origin = sn_mul3v(&back, sn_affine_origin(m));
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) inverse[4 * column + row] = back.m[row][column];
    inverse[12 + row] = -sn_axis(origin, row);
  }
  inverse[3] = inverse[7] = inverse[11] = 0.0;
  inverse[15] = 1.0;
  return true;
}

#endif
