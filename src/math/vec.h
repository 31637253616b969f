// Small vectors and matrices in double precision, all inline.
#ifndef SN_MATH_VEC_H
#define SN_MATH_VEC_H

#include <math.h>
#include <stdbool.h>

#include "sinew/math.h"

static inline sn_vec3 sn_v3(double x, double y, double z) { return (sn_vec3){x, y, z}; }
static inline sn_vec3 sn_load3(const double* p) { return (sn_vec3){p[0], p[1], p[2]}; }
static inline void sn_store3(double* p, sn_vec3 a) {
  p[0] = a.x;
  p[1] = a.y;
  p[2] = a.z;
}
static inline sn_vec3 sn_add(sn_vec3 a, sn_vec3 b) {
  return sn_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline sn_vec3 sn_sub(sn_vec3 a, sn_vec3 b) {
  return sn_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline sn_vec3 sn_scale(double s, sn_vec3 a) { return sn_v3(s * a.x, s * a.y, s * a.z); }
static inline sn_vec3 sn_madd(sn_vec3 a, double s, sn_vec3 b) { return sn_add(a, sn_scale(s, b)); }
static inline double sn_dot(sn_vec3 a, sn_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline sn_vec3 sn_cross(sn_vec3 a, sn_vec3 b) {
  return sn_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double sn_length(sn_vec3 a) { return sqrt(sn_dot(a, a)); }
static inline double sn_distance(sn_vec3 a, sn_vec3 b) { return sn_length(sn_sub(a, b)); }
static inline sn_vec3 sn_min3(sn_vec3 a, sn_vec3 b) {
  return sn_v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static inline sn_vec3 sn_max3(sn_vec3 a, sn_vec3 b) {
  return sn_v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}
static inline double sn_axis(sn_vec3 a, int axis) {
  return axis == 0 ? a.x : axis == 1 ? a.y : a.z;
}

// Boxes. The empty box is inverted, so that growing it by a point gives that point.
static inline sn_box sn_box_empty(void) {
  return (sn_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}
static inline sn_box sn_box_grow(sn_box b, sn_vec3 p) {
  return (sn_box){sn_min3(b.lo, p), sn_max3(b.hi, p)};
}
static inline sn_box sn_box_union(sn_box a, sn_box b) {
  return (sn_box){sn_min3(a.lo, b.lo), sn_max3(a.hi, b.hi)};
}
static inline sn_vec3 sn_box_centre(sn_box b) { return sn_scale(0.5, sn_add(b.lo, b.hi)); }
// Longest side: the size of a body.
static inline double sn_box_size(sn_box b) {
  sn_vec3 d = sn_sub(b.hi, b.lo);
  return d.x > d.y ? (d.x > d.z ? d.x : d.z) : (d.y > d.z ? d.y : d.z);
}
static inline bool sn_box_contains(sn_box b, sn_vec3 p) {
  return b.lo.x <= p.x && p.x <= b.hi.x && b.lo.y <= p.y && p.y <= b.hi.y && b.lo.z <= p.z &&
         p.z <= b.hi.z;
}

// 3x3 matrices
static inline sn_mat3 sn_identity3(void) { return (sn_mat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
static inline sn_vec3 sn_mul3v(const sn_mat3* a, sn_vec3 b) {
  return sn_v3(a->m[0][0] * b.x + a->m[0][1] * b.y + a->m[0][2] * b.z,
               a->m[1][0] * b.x + a->m[1][1] * b.y + a->m[1][2] * b.z,
               a->m[2][0] * b.x + a->m[2][1] * b.y + a->m[2][2] * b.z);
}
static inline sn_mat3 sn_mul3(const sn_mat3* a, const sn_mat3* b) {
  sn_mat3 c;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
    }
  }
  return c;
}
static inline double sn_det3(const sn_mat3* a) {
  return a->m[0][0] * (a->m[1][1] * a->m[2][2] - a->m[1][2] * a->m[2][1]) -
         a->m[0][1] * (a->m[1][0] * a->m[2][2] - a->m[1][2] * a->m[2][0]) +
         a->m[0][2] * (a->m[1][0] * a->m[2][1] - a->m[1][1] * a->m[2][0]);
}
// @return false where there is none: something is scaled to nothing
static inline bool sn_mat3_invert(const sn_mat3* a, sn_mat3* inverse) {
  double det = sn_det3(a);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int p = (j + 1) % 3, q = (j + 2) % 3, s = (i + 1) % 3, t = (i + 2) % 3;
      inverse->m[i][j] = (a->m[p][s] * a->m[q][t] - a->m[p][t] * a->m[q][s]) / det;
    }
  }
  return isfinite(det) && fabs(det) > 1e-30;
}

// Rigid motions
static inline sn_rigid sn_rigid_identity(void) { return (sn_rigid){sn_identity3(), {0, 0, 0}}; }
static inline sn_vec3 sn_rigid_apply(const sn_rigid* r, sn_vec3 p) {
  return sn_add(sn_mul3v(&r->rotate, p), r->translate);
}
// How far the motion carries p: (R - I) p + t, formed without the cancellation of R p + t - p.
static inline sn_vec3 sn_rigid_displace(const sn_rigid* r, sn_vec3 p) {
  sn_mat3 d = r->rotate;
  for (int i = 0; i < 3; ++i) d.m[i][i] -= 1.0;
  return sn_add(sn_mul3v(&d, p), r->translate);
}

// Does it leave everything where it is?
static inline bool sn_rigid_is_none(const sn_rigid* r) {
  bool none = r->translate.x == 0 && r->translate.y == 0 && r->translate.z == 0;
  for (int i = 0; i < 9; ++i) none = none && r->rotate.m[i / 3][i % 3] == (i % 4 == 0);
  return none;
}

// Affine motions
static inline sn_affine sn_affine_at_rest(void) { return (sn_affine){sn_identity3(), {0, 0, 0}}; }
static inline sn_affine sn_affine_of_rigid(const sn_rigid* r) {
  return (sn_affine){r->rotate, r->translate};
}
static inline sn_vec3 sn_affine_carry(const sn_affine* a, sn_vec3 p) {
  return sn_add(sn_mul3v(&a->linear, p), a->translate);
}
// First b, then a.
static inline sn_affine sn_affine_after(const sn_affine* a, const sn_affine* b) {
  return (sn_affine){sn_mul3(&a->linear, &b->linear),
                     sn_add(sn_mul3v(&a->linear, b->translate), a->translate)};
}
// Of one that is flat: none.
static inline sn_affine sn_affine_inverse(const sn_affine* a) {
  sn_affine back;
  if (!sn_mat3_invert(&a->linear, &back.linear)) return sn_affine_at_rest();
  back.translate = sn_scale(-1, sn_mul3v(&back.linear, a->translate));
  return back;
}
// As sn_rigid_displace.
static inline sn_vec3 sn_affine_displace(const sn_affine* a, sn_vec3 p) {
  return sn_rigid_displace(&(sn_rigid){a->linear, a->translate}, p);
}

#endif
