// Fronts against a plain Cholesky factorisation in double precision, for every instruction set.
#include "solve/front.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
// after what it needs
#include <cmocka.h>
#include <string.h>

#include "math/random.h"

#define MOST 150
#define WIDTH 152

typedef struct fixture {
  double A[MOST][MOST];
  float F[MOST * WIDTH], rows[MOST * WIDTH], diagonal[MOST];
} fixture;

// G^T G + 1 with few entries that are large.
static void fill(fixture* f, size_t size, uint64_t seed) {
  static double G[MOST][MOST];
  sn_random random = sn_random_seeded(seed);
  for (size_t i = 0; i < size * size; ++i) G[i / size][i % size] = sn_random_symmetric(&random);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) {
      f->A[i][j] = i == j ? 1 : 0;
      for (size_t k = 0; k < size; ++k) f->A[i][j] += G[k][i] * G[k][j];
    }
  }
}

static void load(fixture* f, size_t size, size_t width) {
  memset(f->F, 0, sizeof f->F);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = i; j < size; ++j) f->F[i * width + j] = (float)f->A[i][j];
  }
}

// What is left of A when its first unknowns have been eliminated.
static void eliminate(fixture* f, size_t own, size_t size) {
  for (size_t p = 0; p < own; ++p) {
    for (size_t i = p + 1; i < size; ++i) {
      double factor = f->A[i][p] / f->A[p][p];
      for (size_t j = p + 1; j < size; ++j) f->A[i][j] -= factor * f->A[p][j];
    }
  }
}

static void check(const sn_front_kernels* k, size_t own, size_t size) {
  static fixture f;
  size_t width = sn_front_round_up(size);
  fill(&f, size, own + 1000 * size);
  load(&f, size, width);
  k->factor(f.F, width, own, size, f.diagonal);
  k->pack(f.F, width, own, f.rows);
  // Own unknowns for a right side with the rest at given values: A_11 x_1 = b_1 - A_12 x_2
  float x[WIDTH] = {0};
  double b[MOST], off = 0, scale = 0;
  for (size_t i = 0; i < size; ++i) b[i] = 1 + 0.1 * (double)(i % 7);
  for (size_t i = 0; i < own; ++i) x[i] = (float)b[i];
  k->forward(f.rows, f.diagonal, width, own, x);
  for (size_t i = own; i < size; ++i) x[i] = (float)b[i];
  k->backward(f.rows, f.diagonal, width, own, x);
  for (size_t i = 0; i < own; ++i) {
    double sum = -b[i];
    for (size_t j = 0; j < size; ++j) sum += f.A[i][j] * (double)x[j];
    off += sum * sum;
    scale += b[i] * b[i];
  }
  if (own > 0 && !(sqrt(off / scale) < 2e-3))
    fail_msg("%s %zu of %zu: %g", k->name, own, size, sqrt(off / scale));
  eliminate(&f, own, size);
  for (size_t i = own; i < size; ++i) {
    for (size_t j = i; j < size; ++j) {
      double error = fabs(f.F[i * width + j] - f.A[i][j]);
      if (!(error < 1e-3 * (double)size))
        fail_msg("%s %zu of %zu: left %g", k->name, own, size, error);
    }
  }
}

static void fronts_are_eliminated(void** unused) {
  (void)unused;
  static const size_t SIZES[][2] = {{0, 9},   {3, 3},    {9, 30},    {8, 64},   {33, 40},
                                    {63, 63}, {31, 150}, {100, 149}, {150, 150}};
  for (const sn_front_kernels* const* k = sn_front_kernels_list(); *k; ++k) {
    if (!(*k)->is_supported()) continue;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; ++i) check(*k, SIZES[i][0], SIZES[i][1]);
  }
}

static void rows_are_packed_one_after_another(void** unused) {
  (void)unused;
  for (size_t width = 8; width <= 64; width += 8) {
    size_t at = 0;
    for (size_t row = 0; row < width; ++row) {
      assert_int_equal(sn_front_row(width, row), at);
      at += width - row / SN_FRONT_LANES * SN_FRONT_LANES;
    }
  }
}

// Two equal rows: what is left of the second is round-off, and its pivot stays positive.
static void pivots_that_are_round_off_are_left_alone(void** unused) {
  (void)unused;
  for (const sn_front_kernels* const* k = sn_front_kernels_list(); *k; ++k) {
    if (!(*k)->is_supported()) continue;
    float F[2 * 8] = {3, 3, 0, 0, 0, 0, 0, 0, 0, 3}, diagonal[2];
    (*k)->factor(F, 8, 2, 2, diagonal);
    assert_true(isfinite(diagonal[0]) && isfinite(diagonal[1]) && diagonal[1] > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fronts_are_eliminated),
      cmocka_unit_test(rows_are_packed_one_after_another),
      cmocka_unit_test(pivots_that_are_round_off_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
