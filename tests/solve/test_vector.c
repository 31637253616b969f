#include "solve/vector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
// cmocka needs the two above.
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "math/random.h"

// Around the size of a block (6144 items), and many blocks; all hold whole nodes but the first
// ones.
static const size_t COUNTS[] = {0, 1, 2, 3, 7, 6141, 6144, 6147, 100002, 5000001};
#define COUNT_CHOICES (sizeof COUNTS / sizeof *COUNTS)
#define MOST 5000001

static double *x, *y, *d, *expected;
static float *x_f, *y_f, *expected_f;
static double** const WIDE[] = {&x, &y, &d, &expected};
static float** const NARROW[] = {&x_f, &y_f, &expected_f};

static int make_vectors(void** unused) {
  (void)unused;
  for (size_t v = 0; v < sizeof WIDE / sizeof *WIDE; ++v) {
    *WIDE[v] = malloc(MOST * sizeof(double));
    assert_non_null(*WIDE[v]);
  }
  for (size_t v = 0; v < sizeof NARROW / sizeof *NARROW; ++v) {
    *NARROW[v] = malloc(MOST * sizeof(float));
    assert_non_null(*NARROW[v]);
  }
  return 0;
}

static int free_vectors(void** unused) {
  (void)unused;
  for (size_t v = 0; v < sizeof WIDE / sizeof *WIDE; ++v) free(*WIDE[v]);
  for (size_t v = 0; v < sizeof NARROW / sizeof *NARROW; ++v) free(*NARROW[v]);
  return 0;
}

static void randomise(double* v, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  for (size_t i = 0; i < MOST; ++i) v[i] = sn_random_symmetric(&random);
}

static void randomise_f(float* v, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  for (size_t i = 0; i < MOST; ++i) v[i] = (float)sn_random_symmetric(&random);
}

static sn_pool* make_pool(int threads) {
  sn_pool* pool;
  assert_int_equal(sn_pool_create(threads, &pool, NULL), SN_OK);
  return pool;
}

static void start(void) {
  randomise(x, 1);
  randomise(y, 2);
  memcpy(expected, y, MOST * sizeof *y);
  randomise_f(x_f, 5);
  randomise_f(y_f, 6);
  memcpy(expected_f, y_f, MOST * sizeof *y_f);
}

// The first n as expected, and what lies behind them as it was.
static void assert_expected(size_t n) {
  size_t count = MOST - n < 100 ? MOST : n + 100;
  assert_memory_equal(y, expected, count * sizeof *y);
}

static void assert_expected_f(size_t n) {
  size_t count = MOST - n < 100 ? MOST : n + 100;
  assert_memory_equal(y_f, expected_f, count * sizeof *y_f);
}

static void fill_copy_and_narrow_set_every_item(void** unused) {
  (void)unused;
  sn_pool* pool = make_pool(3);
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    start();
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] = 2.5;
    sn_vector_fill(pool, COUNTS[c], 2.5, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] = x[i];
    sn_vector_copy(pool, COUNTS[c], x, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected_f[i] = -0.3f;
    sn_vector_fill_f(pool, COUNTS[c], -0.3f, y_f);
    assert_expected_f(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected_f[i] = (float)(0.7 * x[i]);
    sn_vector_narrow(pool, COUNTS[c], 0.7, x, y_f);
    assert_expected_f(COUNTS[c]);
  }
  sn_pool_destroy(pool);
}

static void sums_multiples_and_quotients_are_made_item_by_item(void** unused) {
  (void)unused;
  sn_pool* pool = make_pool(3);
  randomise(d, 3);
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    start();
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] += -1.7 * x[i];
    sn_vector_add(pool, COUNTS[c], -1.7, x, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] += 0.9 * (double)x_f[i];
    sn_vector_add_f(pool, COUNTS[c], 0.9, x_f, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] = 1.3 * x[i] + 0.7 * expected[i];
    sn_vector_combine(pool, COUNTS[c], 1.3, x, 0.7, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] = x[i] + 0.6 * d[i];
    sn_vector_sum(pool, COUNTS[c], x, 0.6, d, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] *= -0.1;
    sn_vector_scale(pool, COUNTS[c], -0.1, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected_f[i] = x_f[i] + 0.3f * expected_f[i];
    sn_vector_scale_add_f(pool, COUNTS[c], x_f, 0.3, y_f);
    assert_expected_f(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected_f[i] = (float)((double)x_f[i] / d[i]);
    double product = sn_vector_divide(pool, COUNTS[c], x_f, d, y_f), size = 0;
    assert_expected_f(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) size += fabs((double)x_f[i] * (double)y_f[i]);
    assert_true(fabs(product - sn_vector_dot_f(pool, COUNTS[c], x_f, y_f)) <= 1e-14 * size);
  }
  sn_pool_destroy(pool);
}

static void a_multiple_of_zero_is_not_read(void** unused) {
  (void)unused;
  sn_pool* pool = make_pool(3);
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    start();
    for (size_t i = 0; i < COUNTS[c]; ++i) {
      y_f[i] = i % 2 ? NAN : INFINITY;
      expected_f[i] = x_f[i];
    }
    sn_vector_scale_add_f(pool, COUNTS[c], x_f, 0, y_f);
    assert_expected_f(COUNTS[c]);
  }
  sn_pool_destroy(pool);
}

static void mask_sets_the_held_items_of_marked_nodes_only(void** unused) {
  (void)unused;
  sn_pool* pool = make_pool(3);
  uint8_t* held = malloc(MOST / 3);
  assert_non_null(held);
  sn_random random = sn_random_seeded(4);
  for (size_t n = 0; n < MOST / 3; ++n) {
    uint32_t bits = (uint32_t)sn_random_bits(&random) % 24;
    held[n] = bits < 8 ? SN_HELD(bits % 8) : 0;
  }
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    if (COUNTS[c] % 3) continue;
    start();
    for (size_t n = 0; n < COUNTS[c] / 3; ++n) {
      for (size_t k = 0; k < 3 && held[n]; ++k) {
        if (!(held[n] & 2u << k)) expected[3 * n + k] = expected_f[3 * n + k] = -4;
      }
    }
    sn_vector_mask(pool, COUNTS[c], held, -4, y);
    assert_expected(COUNTS[c]);
    sn_vector_mask_f(pool, COUNTS[c], held, -4, y_f);
    assert_expected_f(COUNTS[c]);
  }
  free(held);
  sn_pool_destroy(pool);
}

// Two vectors of doubles, two of floats, or one of each.
typedef enum dot_kind { DOT, DOT_F, DOT_DF, DOTS } dot_kind;

static double dot(sn_pool* pool, dot_kind kind, size_t n) {
  if (kind == DOT) return sn_vector_dot(pool, n, x, y);
  return kind == DOT_F ? sn_vector_dot_f(pool, n, x_f, y_f) : sn_vector_dot_df(pool, n, x, y_f);
}

static void dot_is_the_sum_of_products(void** unused) {
  (void)unused;
  double worst = 0;
  start();
  for (int kind = 0; kind < DOTS; ++kind) {
    for (size_t c = 0; c < COUNT_CHOICES; ++c) {
      long double sum = 0, size = 0;
      for (size_t i = 0; i < COUNTS[c]; ++i) {
        long double a = kind == DOT_F ? x_f[i] : x[i], b = kind == DOT ? y[i] : y_f[i];
        sum += a * b;
        size += fabsl(a * b);
      }
      double found = dot(NULL, (dot_kind)kind, COUNTS[c]);
      if (COUNTS[c] == 0) assert_true(found == 0);
      if (COUNTS[c] > 0) worst = fmax(worst, (double)(fabsl(found - sum) / size));
    }
  }
  print_message("worst %.1e of the sum of sizes\n", worst);
  assert_true(worst <= 1e-14);
}

static void dot_has_the_same_bits_for_any_number_of_threads(void** unused) {
  (void)unused;
  static const int THREADS[] = {1, 2, 3, 8};
  start();
  for (size_t t = 0; t < 4; ++t) {
    sn_pool* pool = make_pool(THREADS[t]);
    for (size_t k = 0; k < DOTS * COUNT_CHOICES; ++k) {
      dot_kind kind = (dot_kind)(k % DOTS);
      double alone = dot(NULL, kind, COUNTS[k / DOTS]);
      for (int again = 0; again < 3; ++again) {
        double found = dot(pool, kind, COUNTS[k / DOTS]);
        assert_memory_equal(&found, &alone, sizeof found);
      }
    }
    sn_pool_destroy(pool);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fill_copy_and_narrow_set_every_item),
      cmocka_unit_test(sums_multiples_and_quotients_are_made_item_by_item),
      cmocka_unit_test(a_multiple_of_zero_is_not_read),
      cmocka_unit_test(mask_sets_the_held_items_of_marked_nodes_only),
      cmocka_unit_test(dot_is_the_sum_of_products),
      cmocka_unit_test(dot_has_the_same_bits_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, make_vectors, free_vectors);
}
