// Operations on long vectors of doubles, parallel over fixed blocks.
#ifndef SN_SOLVE_VECTOR_H
#define SN_SOLVE_VECTOR_H

#include "base/parallel.h"

void sn_vector_fill(sn_pool* pool, size_t n, double value, double* y);
void sn_vector_copy(sn_pool* pool, size_t n, const double* x, double* y);
// y += a x
void sn_vector_add(sn_pool* pool, size_t n, double a, const double* x, double* y);
// y = x + a y
void sn_vector_scale_add(sn_pool* pool, size_t n, const double* x, double a, double* y);
// y = x / d, item by item
void sn_vector_divide(sn_pool* pool, size_t n, const double* x, const double* d, double* y);
// y = value at the nodes marked in `held`, three items a node
void sn_vector_mask(sn_pool* pool, size_t n, const uint8_t* held, double value, double* y);
double sn_vector_dot(sn_pool* pool, size_t n, const double* x, const double* y);

#endif
