#include "solve/vector.h"

#include <string.h>

#define MIN_BLOCK 6144  // items; a multiple of 3, so that a block holds whole nodes

typedef struct vector_job {
  double a, b;
  const double *x, *d;
  const float *xf, *df;
  double* y;
  float* yf;
  const uint8_t* held;
} vector_job;

static void fill(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->a;
}

static void fill_f(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->yf[i] = (float)job->a;
}

static void copy(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  memcpy(job->y + begin, job->x + begin, (end - begin) * sizeof *job->y);
}

static void narrow(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->yf[i] = (float)(job->a * job->x[i]);
}

static void scale(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] *= job->a;
}

static void add(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] += job->a * job->x[i];
}

static void sum(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->x[i] + job->a * job->d[i];
}

static void add_f(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] += job->a * (double)job->xf[i];
}

static void combine(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->a * job->x[i] + job->b * job->y[i];
}

static void scale_add_f(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  float a = (float)job->a;
  for (size_t i = begin; i < end; ++i) job->yf[i] = job->xf[i] + a * job->yf[i];
}

static void copy_f(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  memcpy(job->yf + begin, job->xf + begin, (end - begin) * sizeof *job->yf);
}

static double divide(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    double x = job->xf[i];
    job->yf[i] = (float)(x / job->d[i]);
    sum += x * (double)job->yf[i];
  }
  return sum;
}

static void mask(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t n = begin / 3; n < end / 3; ++n) {
    for (size_t i = 3 * n; job->held[n] && i < 3 * n + 3; ++i) {
      if (sn_is_held(job->held, i)) job->y[i] = job->a;
    }
  }
}

static void mask_f(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t n = begin / 3; n < end / 3; ++n) {
    for (size_t i = 3 * n; job->held[n] && i < 3 * n + 3; ++i) {
      if (sn_is_held(job->held, i)) job->yf[i] = (float)job->a;
    }
  }
}

// Four running sums, so that the compiler may use vector registers without reordering anything.
#define DEFINE_DOT(name, X, Y)                                                             \
  static double name(void* ctx, size_t begin, size_t end) {                                \
    const vector_job* job = ctx;                                                           \
    double sum[4] = {0, 0, 0, 0};                                                          \
    size_t i = begin;                                                                      \
    for (; i + 4 <= end; i += 4) {                                                         \
      for (int k = 0; k < 4; ++k) sum[k] += (double)job->X[i + k] * (double)job->Y[i + k]; \
    }                                                                                      \
    for (; i < end; ++i) sum[0] += (double)job->X[i] * (double)job->Y[i];                  \
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);                                          \
  }
DEFINE_DOT(dot, x, d)
DEFINE_DOT(dot_f, xf, df)
DEFINE_DOT(dot_df, x, df)

static double advance(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const float* restrict p = job->xf, * restrict q = job->df;
  double* restrict x = job->y, sum[4] = {0, 0, 0, 0}, a = job->a;
  float* restrict r = job->yf, step = (float)a;
  size_t i = begin;
  for (; i + 4 <= end; i += 4) {
    for (size_t k = 0; k < 4; ++k) x[i + k] += a * (double)p[i + k];
    for (size_t k = 0; k < 4; ++k) r[i + k] -= step * q[i + k];
    for (size_t k = 0; k < 4; ++k) sum[k] += (double)r[i + k] * (double)r[i + k];
  }
  for (; i < end; ++i) {
    x[i] += a * (double)p[i];
    r[i] -= step * q[i];
    sum[0] += (double)r[i] * (double)r[i];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void sn_vector_fill(sn_pool* pool, size_t n, double value, double* y) {
  vector_job job = {.a = value, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, fill, &job);
}

void sn_vector_fill_f(sn_pool* pool, size_t n, float value, float* y) {
  vector_job job = {.a = value, .yf = y};
  sn_parallel_for(pool, n, MIN_BLOCK, fill_f, &job);
}

void sn_vector_copy(sn_pool* pool, size_t n, const double* x, double* y) {
  vector_job job = {.x = x, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, copy, &job);
}

void sn_vector_narrow(sn_pool* pool, size_t n, double a, const double* x, float* y) {
  vector_job job = {.a = a, .x = x, .yf = y};
  sn_parallel_for(pool, n, MIN_BLOCK, narrow, &job);
}

void sn_vector_scale(sn_pool* pool, size_t n, double a, double* y) {
  vector_job job = {.a = a, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, scale, &job);
}

void sn_vector_add(sn_pool* pool, size_t n, double a, const double* x, double* y) {
  vector_job job = {.a = a, .x = x, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, add, &job);
}

void sn_vector_sum(sn_pool* pool, size_t n, const double* x, double a, const double* y, double* z) {
  vector_job job = {.a = a, .x = x, .d = y, .y = z};
  sn_parallel_for(pool, n, MIN_BLOCK, sum, &job);
}

void sn_vector_add_f(sn_pool* pool, size_t n, double a, const float* x, double* y) {
  vector_job job = {.a = a, .xf = x, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, add_f, &job);
}

double sn_vector_advance(sn_pool* pool, size_t n, double a, const float* p, const float* q,
                         double* x, float* r) {
  vector_job job = {.a = a, .xf = p, .df = q, .y = x, .yf = r};
  return sn_parallel_sum(pool, n, MIN_BLOCK, advance, &job);
}

void sn_vector_combine(sn_pool* pool, size_t n, double a, const double* x, double b, double* y) {
  vector_job job = {.a = a, .x = x, .b = b, .y = y};
  sn_parallel_for(pool, n, MIN_BLOCK, combine, &job);
}

void sn_vector_scale_add_f(sn_pool* pool, size_t n, const float* x, double a, float* y) {
  vector_job job = {.a = a, .xf = x, .yf = y};
  sn_parallel_for(pool, n, MIN_BLOCK, a == 0 ? copy_f : scale_add_f, &job);
}

double sn_vector_divide(sn_pool* pool, size_t n, const float* x, const double* d, float* y) {
  vector_job job = {.xf = x, .d = d, .yf = y};
  return sn_parallel_sum(pool, n, MIN_BLOCK, divide, &job);
}

void sn_vector_mask(sn_pool* pool, size_t n, const uint8_t* held, double value, double* y) {
  vector_job job = {.a = value, .y = y, .held = held};
  sn_parallel_for(pool, n, MIN_BLOCK, mask, &job);
}

void sn_vector_mask_f(sn_pool* pool, size_t n, const uint8_t* held, float value, float* y) {
  vector_job job = {.a = value, .yf = y, .held = held};
  sn_parallel_for(pool, n, MIN_BLOCK, mask_f, &job);
}

double sn_vector_dot(sn_pool* pool, size_t n, const double* x, const double* y) {
  vector_job job = {.x = x, .d = y};
  return sn_parallel_sum(pool, n, MIN_BLOCK, dot, &job);
}

double sn_vector_dot_f(sn_pool* pool, size_t n, const float* x, const float* y) {
  vector_job job = {.xf = x, .df = y};
  return sn_parallel_sum(pool, n, MIN_BLOCK, dot_f, &job);
}

double sn_vector_dot_df(sn_pool* pool, size_t n, const double* x, const float* y) {
  vector_job job = {.x = x, .df = y};
  return sn_parallel_sum(pool, n, MIN_BLOCK, dot_df, &job);
}
