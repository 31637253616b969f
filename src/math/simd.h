// Eight floats or four doubles at a time. The compiler's vector types carry the arithmetic (+ - * /
// and comparisons work lane by lane) and fit every processor: where one has narrower registers the
// compiler splits the operation, with the same bits. What the language has no sign for is below; only
// fused operations differ between instruction sets, so results agree bitwise between all processors
// with them, and between all without.
//
// For the precision that SN_REAL_IS_DOUBLE selects, SN_P(sn_wide) is the vector and SN_P(sn_mask) what
// comparisons give: all bits of a lane set, or none.
#ifndef SN_MATH_SIMD_H
#define SN_MATH_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "math/quad.h"

#if defined(__FMA__) && defined(__AVX2__)
#include <immintrin.h>
#define SN_WIDE_FUSED 1
#elif defined(__ARM_FEATURE_FMA)
#define SN_WIDE_FUSED 1
#else
#define SN_WIDE_FUSED 0
#endif

typedef float sn_wide_f __attribute__((vector_size(32)));
typedef double sn_wide_d __attribute__((vector_size(32)));
typedef int32_t sn_mask_f __attribute__((vector_size(32)));
typedef int64_t sn_mask_d __attribute__((vector_size(32)));
typedef double sn_quad_d __attribute__((vector_size(32)));

#define SN_LANES_f 8
#define SN_LANES_d 4

// a b + c, rounded once where the processor can.
static inline sn_wide_f sn_wide_fma_f(sn_wide_f a, sn_wide_f b, sn_wide_f c) {
#if SN_WIDE_FUSED && defined(__AVX2__)
  return (sn_wide_f)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif SN_WIDE_FUSED
  sn_wide_f r;
  for (int i = 0; i < 8; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}
static inline sn_quad_f sn_quad_fma_f(sn_quad_f a, sn_quad_f b, sn_quad_f c) {
#if SN_WIDE_FUSED && defined(__AVX2__)
  return (sn_quad_f)_mm_fmadd_ps((__m128)a, (__m128)b, (__m128)c);
#elif SN_WIDE_FUSED
  sn_quad_f r;
  for (int i = 0; i < 4; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}
static inline sn_wide_d sn_wide_fma_d(sn_wide_d a, sn_wide_d b, sn_wide_d c) {
#if SN_WIDE_FUSED && defined(__AVX2__)
  return (sn_wide_d)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif SN_WIDE_FUSED
  sn_wide_d r;
  for (int i = 0; i < 4; ++i) r[i] = __builtin_fma(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}

static inline sn_wide_f sn_wide_sqrt_f(sn_wide_f a) {
#if defined(__AVX__)
  return (sn_wide_f)__builtin_ia32_sqrtps256(a);
#else
  for (int i = 0; i < 8; ++i) a[i] = sqrtf(a[i]);
  return a;
#endif
}
static inline sn_wide_d sn_wide_sqrt_d(sn_wide_d a) {
#if defined(__AVX__)
  return (sn_wide_d)__builtin_ia32_sqrtpd256(a);
#else
  for (int i = 0; i < 4; ++i) a[i] = sqrt(a[i]);
  return a;
#endif
}

static inline sn_wide_f sn_wide_set_f(float x) { return (sn_wide_f){x, x, x, x, x, x, x, x}; }
static inline sn_wide_d sn_wide_set_d(double x) { return (sn_wide_d){x, x, x, x}; }

// mask ? a : b
static inline sn_wide_f sn_wide_select_f(sn_mask_f mask, sn_wide_f a, sn_wide_f b) {
#if defined(__AVX__)
  return (sn_wide_f)__builtin_ia32_blendvps256(b, a, (sn_wide_f)mask);
#else
  return (sn_wide_f)(((sn_mask_f)a & mask) | ((sn_mask_f)b & ~mask));
#endif
}
static inline sn_wide_d sn_wide_select_d(sn_mask_d mask, sn_wide_d a, sn_wide_d b) {
#if defined(__AVX__)
  return (sn_wide_d)__builtin_ia32_blendvpd256(b, a, (sn_wide_d)mask);
#else
  return (sn_wide_d)(((sn_mask_d)a & mask) | ((sn_mask_d)b & ~mask));
#endif
}
// mask ? a : 0
static inline sn_wide_f sn_wide_keep_f(sn_mask_f mask, sn_wide_f a) {
  return (sn_wide_f)((sn_mask_f)a & mask);
}
static inline sn_wide_d sn_wide_keep_d(sn_mask_d mask, sn_wide_d a) {
  return (sn_wide_d)((sn_mask_d)a & mask);
}

static inline bool sn_mask_any_f(sn_mask_f mask) {
  sn_mask_d m = (sn_mask_d)mask;
  return (m[0] | m[1] | m[2] | m[3]) != 0;
}
static inline bool sn_mask_any_d(sn_mask_d m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }

// Where bit `bit` of each lane's word is set.
static inline sn_mask_f sn_mask_bit_f(const uint32_t words[8], int bit) {
  sn_mask_f w;
  memcpy(&w, words, sizeof w);
  int32_t b = 1 << bit;
  return (w & (sn_mask_f){b, b, b, b, b, b, b, b}) != 0;
}
static inline sn_mask_d sn_mask_bit_d(const uint32_t words[4], int bit) {
  sn_mask_d w = {words[0], words[1], words[2], words[3]};
  int64_t b = 1ll << bit;
  return (w & (sn_mask_d){b, b, b, b}) != 0;
}

// From and to memory: aligned vectors of the same kind, and floats that become doubles.
static inline sn_wide_f sn_wide_load_f(const float* at) { return *(const sn_wide_f*)at; }
static inline sn_wide_d sn_wide_load_d(const float* at) {
  sn_quad_f narrow;
  memcpy(&narrow, at, sizeof narrow);
  return __builtin_convertvector(narrow, sn_wide_d);
}

// As those of quad.h.
static inline sn_quad_d sn_quad_load3_d(const double* items, uint32_t at, uint32_t last) {
  const double* item = items + 3 * (size_t)at;
  if (at == last) return (sn_quad_d){item[0], item[1], item[2], 0};
  sn_quad_d value;
  memcpy(&value, item, sizeof value);
  return value;
}

static inline void sn_quad_store3_d(sn_quad_d value, double* to) {
  typedef double pair __attribute__((vector_size(16)));
  pair both = __builtin_shufflevector(value, value, 0, 1);
  memcpy(to, &both, sizeof both);
  to[2] = value[2];
}

// Nodes of the lanes, four numbers each, to their x, y, z by lane.
static inline void sn_wide_gather_f(const float (*nodes)[4], const uint16_t at[8], sn_wide_f v[3]) {
  sn_quad_f n[8];
  for (int i = 0; i < 8; ++i) n[i] = *(const sn_quad_f*)nodes[at[i]];
  sn_wide_f a = __builtin_shufflevector(n[0], n[4], 0, 1, 2, 3, 4, 5, 6, 7);
  sn_wide_f b = __builtin_shufflevector(n[1], n[5], 0, 1, 2, 3, 4, 5, 6, 7);
  sn_wide_f c = __builtin_shufflevector(n[2], n[6], 0, 1, 2, 3, 4, 5, 6, 7);
  sn_wide_f d = __builtin_shufflevector(n[3], n[7], 0, 1, 2, 3, 4, 5, 6, 7);
  sn_wide_f ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);  // x x y y | x x y y
  sn_wide_f cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
  sn_wide_f ab_z = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  sn_wide_f cd_z = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  v[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
  v[1] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
  v[2] = __builtin_shufflevector(ab_z, cd_z, 0, 1, 8, 9, 4, 5, 12, 13);
}
static inline void sn_wide_gather_d(const double (*nodes)[4], const uint16_t at[4],
                                    sn_wide_d v[3]) {
  sn_quad_d n[4];
  for (int i = 0; i < 4; ++i) n[i] = *(const sn_quad_d*)nodes[at[i]];
  sn_wide_d xz01 = __builtin_shufflevector(n[0], n[1], 0, 4, 2, 6);  // x x z z
  sn_wide_d y01 = __builtin_shufflevector(n[0], n[1], 1, 5, 3, 7);
  sn_wide_d xz23 = __builtin_shufflevector(n[2], n[3], 0, 4, 2, 6);
  sn_wide_d y23 = __builtin_shufflevector(n[2], n[3], 1, 5, 3, 7);
  v[0] = __builtin_shufflevector(xz01, xz23, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(y01, y23, 0, 1, 4, 5);
  v[2] = __builtin_shufflevector(xz01, xz23, 2, 3, 6, 7);
}

// Add x, y, z by lane to the lanes' nodes, in the order of the lanes (two may have the same node).
static inline void sn_wide_scatter_f(const sn_wide_f v[3], const uint16_t at[8],
                                     float (*nodes)[4]) {
  sn_wide_f zero = {0};
  sn_wide_f xy_ab = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13);
  sn_wide_f xy_cd = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15);
  sn_wide_f z_ab = __builtin_shufflevector(v[2], zero, 0, 8, 1, 9, 4, 12, 5, 13);
  sn_wide_f z_cd = __builtin_shufflevector(v[2], zero, 2, 10, 3, 11, 6, 14, 7, 15);
  sn_wide_f n04 = __builtin_shufflevector(xy_ab, z_ab, 0, 1, 8, 9, 4, 5, 12, 13);
  sn_wide_f n15 = __builtin_shufflevector(xy_ab, z_ab, 2, 3, 10, 11, 6, 7, 14, 15);
  sn_wide_f n26 = __builtin_shufflevector(xy_cd, z_cd, 0, 1, 8, 9, 4, 5, 12, 13);
  sn_wide_f n37 = __builtin_shufflevector(xy_cd, z_cd, 2, 3, 10, 11, 6, 7, 14, 15);
  sn_quad_f n[8] = {
      __builtin_shufflevector(n04, n04, 0, 1, 2, 3), __builtin_shufflevector(n15, n15, 0, 1, 2, 3),
      __builtin_shufflevector(n26, n26, 0, 1, 2, 3), __builtin_shufflevector(n37, n37, 0, 1, 2, 3),
      __builtin_shufflevector(n04, n04, 4, 5, 6, 7), __builtin_shufflevector(n15, n15, 4, 5, 6, 7),
      __builtin_shufflevector(n26, n26, 4, 5, 6, 7), __builtin_shufflevector(n37, n37, 4, 5, 6, 7)};
  for (int i = 0; i < 8; ++i) *(sn_quad_f*)nodes[at[i]] += n[i];
}
static inline void sn_wide_scatter_d(const sn_wide_d v[3], const uint16_t at[4],
                                     double (*nodes)[4]) {
  sn_wide_d zero = {0};
  sn_wide_d xy_ac = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
  sn_wide_d xy_bd = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
  sn_wide_d z_ac = __builtin_shufflevector(v[2], zero, 0, 4, 2, 6);
  sn_wide_d z_bd = __builtin_shufflevector(v[2], zero, 1, 5, 3, 7);
  *(sn_quad_d*)nodes[at[0]] += __builtin_shufflevector(xy_ac, z_ac, 0, 1, 4, 5);
  *(sn_quad_d*)nodes[at[1]] += __builtin_shufflevector(xy_bd, z_bd, 0, 1, 4, 5);
  *(sn_quad_d*)nodes[at[2]] += __builtin_shufflevector(xy_ac, z_ac, 2, 3, 6, 7);
  *(sn_quad_d*)nodes[at[3]] += __builtin_shufflevector(xy_bd, z_bd, 2, 3, 6, 7);
}

#endif
