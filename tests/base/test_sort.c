#include "base/sort.h"

#include "io/scratch.h"
#include "shapes.h"

static int compare_keys(const void* a, const void* b) {
  const uint64_t *p = a, *q = b;
  return *p < *q ? -1 : *p > *q;
}

static const size_t counts[] = {0, 1, 2, 3, 255, 256, 257, 8191, 8192, 8193, 100000, 300001};
#define COUNTS (sizeof counts / sizeof *counts)

// The keys above `first_bit`; the place in the list below it, so that one order only is right.
static uint64_t* make_keys(size_t count, int first_bit, uint64_t mask, uint64_t seed) {
  uint64_t* keys = malloc((count + 1) * sizeof *keys);
  assert_non_null(keys);
  sn_random random = sn_random_seeded(seed);
  for (size_t i = 0; i < count; ++i) {
    keys[i] = (sn_random_bits(&random) & mask) << first_bit;
    if (first_bit > 0) keys[i] |= i & ((1ull << first_bit) - 1);
  }
  return keys;
}

static void assert_sorts(sn_pool* pool, size_t count, int first_bit, uint64_t mask) {
  sn_arena* scratch;
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  uint64_t* keys = make_keys(count, first_bit, mask, count + mask);
  uint64_t* expected = make_keys(count, first_bit, mask, count + mask);
  uint64_t* other = malloc((count + 1) * sizeof *other);
  qsort(expected, count, sizeof *expected, compare_keys);
  assert_int_equal(sn_sort_keys(pool, keys, other, count, first_bit, scratch, NULL), SN_OK);
  assert_memory_equal(keys, expected, count * sizeof *keys);
  assert_int_equal(sn_arena_bytes(scratch), 0);
  free(keys);
  free(expected);
  free(other);
  sn_arena_destroy(scratch);
}

static void keys_are_sorted_and_equal_ones_keep_their_order(void** unused) {
  (void)unused;
  static const uint64_t masks[] = {0, 1, 0xff, 0xf0f0, 0x3fffffff, 0xffffffffffff};
  for (int threads = 0; threads < 4; ++threads) {
    sn_pool* pool = NULL;
    if (threads > 0) assert_int_equal(sn_pool_create(threads, &pool, NULL), SN_OK);
    for (size_t c = 0; c < COUNTS; ++c) {
      // 20 bits of place are enough for the longest list; so are none where all keys differ or tie.
      for (size_t m = 0; m < sizeof masks / sizeof *masks; ++m) {
        assert_sorts(pool, counts[c], 20, masks[m] & 0xfffffffffff);
      }
      assert_sorts(pool, counts[c], 0, UINT64_MAX);
      assert_sorts(pool, counts[c], 0, 7);
    }
    sn_pool_destroy(pool);
  }
}

static sn_status sort_some(sn_error* err) {
  static uint64_t keys[20000], other[20000];
  sn_arena* scratch = NULL;
  for (size_t i = 0; i < 20000; ++i) keys[i] = 20000 - i;
  sn_status status = sn_arena_create(&scratch, err);
  if (status == SN_OK) status = sn_sort_keys(NULL, keys, other, 20000, 0, scratch, err);
  sn_arena_destroy(scratch);
  assert_int_equal(sn_memory_used(), 0);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(sort_some);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_sorted_and_equal_ones_keep_their_order),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
