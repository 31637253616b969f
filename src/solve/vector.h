// Operations on long vectors, parallel over fixed blocks: of doubles and, with _f, of floats. Scalar
// products are always sums in double precision.
#ifndef SN_SOLVE_VECTOR_H
#define SN_SOLVE_VECTOR_H

#include "base/parallel.h"

void sn_vector_fill(sn_pool* pool, size_t n, double value, double* y);
void sn_vector_fill_f(sn_pool* pool, size_t n, float value, float* y);
void sn_vector_copy(sn_pool* pool, size_t n, const double* x, double* y);
// y = a x, rounded
void sn_vector_narrow(sn_pool* pool, size_t n, double a, const double* x, float* y);
// y = a y
void sn_vector_scale(sn_pool* pool, size_t n, double a, double* y);
// y += a x
void sn_vector_add(sn_pool* pool, size_t n, double a, const double* x, double* y);
void sn_vector_add_f(sn_pool* pool, size_t n, double a, const float* x, double* y);
// z = x + a y
void sn_vector_sum(sn_pool* pool, size_t n, const double* x, double a, const double* y, double* z);
// x += a p,  r -= a q; returns r.r
double sn_vector_advance(sn_pool* pool, size_t n, double a, const float* p, const float* q,
                         double* x, float* r);
// y = a x + b y
void sn_vector_combine(sn_pool* pool, size_t n, double a, const double* x, double b, double* y);
// y = x + a y; y may hold anything where a is 0
void sn_vector_scale_add_f(sn_pool* pool, size_t n, const float* x, double a, float* y);
// y = x / d, item by item; returns x.y
double sn_vector_divide(sn_pool* pool, size_t n, const float* x, const double* d, float* y);
// Held nodes, a byte each: 0: free; 1: held; 2, 4 and 8 more: but free along x, y and z.
#define SN_HELD(free_axes) ((uint8_t)(1 | (free_axes) << 1))
// Is item i of a vector, three a node, held?
static inline bool sn_is_held(const uint8_t* held, size_t i) {
  return held[i / 3] && !(held[i / 3] >> (1 + i % 3) & 1);
}

// y = value where `held` says so
void sn_vector_mask(sn_pool* pool, size_t n, const uint8_t* held, double value, double* y);
void sn_vector_mask_f(sn_pool* pool, size_t n, const uint8_t* held, float value, float* y);
double sn_vector_dot(sn_pool* pool, size_t n, const double* x, const double* y);
double sn_vector_dot_f(sn_pool* pool, size_t n, const float* x, const float* y);
double sn_vector_dot_df(sn_pool* pool, size_t n, const double* x, const float* y);

#endif
