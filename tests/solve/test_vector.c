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

static double* new_vector(void) {
  double* v = malloc(MOST * sizeof *v);
  assert_non_null(v);
  return v;
}

static int make_vectors(void** unused) {
  (void)unused;
  x = new_vector();
  y = new_vector();
  d = new_vector();
  expected = new_vector();
  return 0;
}

static int free_vectors(void** unused) {
  (void)unused;
  free(x);
  free(y);
  free(d);
  free(expected);
  return 0;
}

static void randomise(double* v, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  for (size_t i = 0; i < MOST; ++i) v[i] = sn_random_symmetric(&random);
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
}

// The first n as expected, and what lies behind them as it was.
static void assert_expected(size_t n) {
  assert_memory_equal(y, expected, n * sizeof *y);
  size_t behind = MOST - n < 100 ? MOST - n : 100;
  assert_memory_equal(y + n, expected + n, behind * sizeof *y);
}

static void fill_and_copy_set_every_item(void** unused) {
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
  }
  sn_pool_destroy(pool);
}

static void add_scale_and_divide_are_done_item_by_item(void** unused) {
  (void)unused;
  sn_pool* pool = make_pool(3);
  randomise(d, 3);
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    start();
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] += -1.7 * x[i];
    sn_vector_add(pool, COUNTS[c], -1.7, x, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] = x[i] + 0.3 * expected[i];
    sn_vector_scale_add(pool, COUNTS[c], x, 0.3, y);
    assert_expected(COUNTS[c]);
    for (size_t i = 0; i < COUNTS[c]; ++i) expected[i] = x[i] / d[i];
    sn_vector_divide(pool, COUNTS[c], x, d, y);
    assert_expected(COUNTS[c]);
  }
  sn_pool_destroy(pool);
}

static void mask_sets_the_three_items_of_marked_nodes_only(void** unused) {
  (void)unused;
  sn_pool* pool = make_pool(3);
  uint8_t* held = malloc(MOST / 3);
  assert_non_null(held);
  sn_random random = sn_random_seeded(4);
  for (size_t n = 0; n < MOST / 3; ++n) held[n] = sn_random_bits(&random) % 3 == 0;
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    if (COUNTS[c] % 3) continue;
    start();
    for (size_t n = 0; n < COUNTS[c] / 3; ++n) {
      for (int i = 0; i < 3 && held[n]; ++i) expected[3 * n + (size_t)i] = -4;
    }
    sn_vector_mask(pool, COUNTS[c], held, -4, y);
    assert_expected(COUNTS[c]);
  }
  free(held);
  sn_pool_destroy(pool);
}

static void dot_is_the_sum_of_products(void** unused) {
  (void)unused;
  double worst = 0;
  start();
  for (size_t c = 0; c < COUNT_CHOICES; ++c) {
    long double sum = 0, size = 0;
    for (size_t i = 0; i < COUNTS[c]; ++i) {
      sum += (long double)x[i] * y[i];
      size += fabsl((long double)x[i] * y[i]);
    }
    double found = sn_vector_dot(NULL, COUNTS[c], x, y);
    if (COUNTS[c] == 0) assert_true(found == 0);
    if (COUNTS[c] > 0) worst = fmax(worst, (double)(fabsl(found - sum) / size));
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
    for (size_t c = 0; c < COUNT_CHOICES; ++c) {
      double alone = sn_vector_dot(NULL, COUNTS[c], x, y);
      for (int again = 0; again < 3; ++again) {
        double found = sn_vector_dot(pool, COUNTS[c], x, y);
        assert_memory_equal(&found, &alone, sizeof found);
      }
    }
    sn_pool_destroy(pool);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fill_and_copy_set_every_item),
      cmocka_unit_test(add_scale_and_divide_are_done_item_by_item),
      cmocka_unit_test(mask_sets_the_three_items_of_marked_nodes_only),
      cmocka_unit_test(dot_is_the_sum_of_products),
      cmocka_unit_test(dot_has_the_same_bits_for_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, make_vectors, free_vectors);
}
