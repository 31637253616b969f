#include "solve/vector.h"

#include <string.h>

#define MIN_BLOCK 6144  // items; a multiple of 3, so that a block holds whole nodes

typedef struct vector_job {
  double a;
  const double *x, *d;
  double* y;
  const uint8_t* held;
} vector_job;

static void fill(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->a;
}

static void copy(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  memcpy(job->y + begin, job->x + begin, (end - begin) * sizeof *job->y);
}

static void add(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] += job->a * job->x[i];
}

static void scale_add(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->x[i] + job->a * job->y[i];
}

static void divide(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->x[i] / job->d[i];
}

static void mask(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    if (job->held[i / 3]) job->y[i] = job->a;
  }
}

// Four running sums, so that the compiler may use vector registers without reordering anything.
static double dot(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  double sum[4] = {0, 0, 0, 0};
  size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    for (int k = 0; k < 4; ++k) sum[k] += job->x[i + k] * job->d[i + k];
  }
  for (; i < end; ++i) sum[0] += job->x[i] * job->d[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void sn_vector_fill(sn_pool* pool, size_t n, double value, double* y) {
  vector_job job = {.a = value, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, fill, &job);
}

void sn_vector_copy(sn_pool* pool, size_t n, const double* x, double* y) {
  vector_job job = {.x = x, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, copy, &job);
}

void sn_vector_add(sn_pool* pool, size_t n, double a, const double* x, double* y) {
  vector_job job = {.a = a, .x = x, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, add, &job);
}

void sn_vector_scale_add(sn_pool* pool, size_t n, const double* x, double a, double* y) {
  vector_job job = {.a = a, .x = x, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, scale_add, &job);
}

void sn_vector_divide(sn_pool* pool, size_t n, const double* x, const double* d, double* y) {
  vector_job job = {.x = x, .d = d, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, divide, &job);
}

void sn_vector_mask(sn_pool* pool, size_t n, const uint8_t* held, double value, double* y) {
  vector_job job = {.a = value, .y = y, .held = held};
  sn_parallel_for(pool, n, MIN_BLOCK, mask, &job);
}

double sn_vector_dot(sn_pool* pool, size_t n, const double* x, const double* y) {
  vector_job job = {.x = x, .d = y};
  return sn_parallel_sum(pool, n, MIN_BLOCK, dot, &job);
}
