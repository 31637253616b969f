#include "octree/octant_list.h"

#include "io/scratch.h"
#include "shapes.h"

static sn_arena *arena, *scratch;

static int make_arenas(void** unused) {
  (void)unused;
  return sn_arena_create(&arena, NULL) || sn_arena_create(&scratch, NULL);
}

static int destroy_arenas(void** unused) {
  (void)unused;
  sn_arena_destroy(arena);
  sn_arena_destroy(scratch);
  return sn_memory_used() != 0;
}

// Few distinct places, so that there are many repeats; `height` counts the items, to tell equal
// ones apart.
static sn_octants random_list(size_t count, uint32_t span, uint64_t seed) {
  sn_octants list = {NULL, count};
  assert_int_equal(SN_ARENA_NEW(arena, count, &list.items, NULL), SN_OK);
  sn_random random = sn_random_seeded(seed);
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = sn_random_bits(&random);
    list.items[i] = (sn_octant){(uint16_t)(bits % span), (uint16_t)((bits >> 16) % span),
                                (uint16_t)((bits >> 32) % span), (uint8_t)i, 0};
  }
  return list;
}

static const size_t counts[] = {0,    1,    2,    15,   16,    17,    100,   4095,
                                4096, 4097, 8192, 8193, 12289, 65536, 100001};
#define COUNTS (sizeof counts / sizeof *counts)

// The oracle: a sort in which the place in the list decides between equals.
typedef struct ranked {
  sn_octant o;
  size_t index;
} ranked;

static int compare_ranked(const void* a, const void* b) {
  const ranked *p = a, *q = b;
  int order = sn_octant_compare(p->o, q->o);
  return order ? order : p->index < q->index ? -1 : 1;
}

static void sorting_is_stable_on_any_number_of_threads(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  for (size_t c = 0; c < COUNTS; ++c) {
    sn_octants list = random_list(counts[c], c % 2 ? 20 : 65536, c);
    ranked* expected = malloc((list.count + 1) * sizeof *expected);
    for (size_t i = 0; i < list.count; ++i) expected[i] = (ranked){list.items[i], i};
    qsort(expected, list.count, sizeof *expected, compare_ranked);
    for (int t = 0; t < 4; ++t) {
      sn_octants copy = random_list(counts[c], c % 2 ? 20 : 65536, c);
      sn_pool* pool;
      assert_int_equal(sn_pool_create(threads[t], &pool, NULL), SN_OK);
      assert_int_equal(sn_octants_sort(pool, copy, scratch, NULL), SN_OK);
      sn_pool_destroy(pool);
      assert_int_equal(sn_arena_bytes(scratch), 0);
      for (size_t i = 0; i < copy.count; ++i) {
        assert_memory_equal(&copy.items[i], &expected[i].o, sizeof(sn_octant));
      }
    }
    free(expected);
  }
}

static void repeats_are_dropped_and_their_flags_joined(void** unused) {
  (void)unused;
  sn_octant items[] = {{1, 0, 0, 0, 0}, {1, 0, 0, 0, 1}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0},
                       {0, 0, 1, 0, 2}, {0, 0, 1, 0, 1}, {7, 7, 7, 0, 4}};
  sn_octants list = {items, 7}, unique;
  assert_int_equal(sn_octants_unique(NULL, list, arena, &unique, NULL), SN_OK);
  assert_int_equal(unique.count, 4);
  static const sn_octant expected[] = {
      {1, 0, 0, 0, 1}, {0, 1, 0, 0, 0}, {0, 0, 1, 0, 3}, {7, 7, 7, 0, 4}};
  assert_memory_equal(unique.items, expected, sizeof expected);
  list.count = 0;
  assert_int_equal(sn_octants_unique(NULL, list, arena, &unique, NULL), SN_OK);
  assert_int_equal(unique.count, 0);
}

static void joined_lists_are_those_sorted_and_unique_one_by_one(void** unused) {
  (void)unused;
  sn_pool* pool;
  assert_int_equal(sn_pool_create(3, &pool, NULL), SN_OK);
  sn_octants lists[3] = {random_list(3000, 20, 1), {NULL, 0}, random_list(50000, 40, 2)}, joined;
  assert_int_equal(sn_octants_join(pool, lists, 3, arena, &joined, NULL), SN_OK);
  sn_octants sorted[2] = {random_list(3000, 20, 1), random_list(50000, 40, 2)};
  for (int l = 0; l < 2; ++l) {
    assert_int_equal(sn_octants_sort(NULL, sorted[l], scratch, NULL), SN_OK);
    for (size_t i = 0; i < sorted[l].count; ++i) {
      assert_true(sn_octants_contain(joined, sorted[l].items[i]));
    }
  }
  for (size_t i = 0; i < joined.count; ++i) {
    if (i > 0) assert_true(sn_octant_compare(joined.items[i - 1], joined.items[i]) < 0);
    assert_true(sn_octants_contain(sorted[0], joined.items[i]) ||
                sn_octants_contain(sorted[1], joined.items[i]));
  }
  sn_pool_destroy(pool);
}

static void bounds_are_those_of_a_search_through_all(void** unused) {
  (void)unused;
  sn_octants list = random_list(500, 12, 3);
  assert_int_equal(sn_octants_sort(NULL, list, scratch, NULL), SN_OK);
  for (uint16_t z = 0; z < 13; ++z) {
    for (uint16_t y = 0; y < 13; ++y) {
      for (uint16_t x = 0; x < 13; ++x) {
        sn_octant o = {x, y, z, 0, 0};
        size_t first = 0;
        while (first < list.count && sn_octant_compare(list.items[first], o) < 0) ++first;
        bool there = first < list.count && list.items[first].x == x && list.items[first].y == y &&
                     list.items[first].z == z;
        assert_int_equal(sn_octants_lower_bound(list, o), first);
        assert_int_equal(sn_octants_contain(list, o), there);
      }
    }
  }
  sn_octants none = {NULL, 0};
  assert_int_equal(sn_octants_lower_bound(none, (sn_octant){0}), 0);
  assert_false(sn_octants_contain(none, (sn_octant){0}));
}

// Item i gives i % 4 octants that carry its number.
static size_t emit_some(const void* ctx, size_t index, sn_octant* out) {
  size_t count = index % 4;
  for (size_t k = 0; out && k < count; ++k) {
    out[k] =
        (sn_octant){(uint16_t)index, (uint16_t)(index >> 16), (uint16_t)k, *(const uint8_t*)ctx, 0};
  }
  return count;
}

static size_t bound_some(const void* ctx, size_t index) {
  (void)ctx;
  return index % 4 + index % 3;
}

static void emitting_once_gives_the_same_list(void** unused) {
  (void)unused;
  sn_pool* pool;
  assert_int_equal(sn_pool_create(3, &pool, NULL), SN_OK);
  uint8_t mark = 9;
  for (size_t c = 0; c < COUNTS; ++c) {
    sn_octants list, once;
    assert_int_equal(sn_octants_emit(NULL, counts[c], emit_some, &mark, arena, &list, NULL), SN_OK);
    assert_int_equal(
        sn_octants_emit_once(pool, counts[c], emit_some, bound_some, &mark, arena, &once, NULL),
        SN_OK);
    assert_int_equal(list.count, once.count);
    assert_memory_equal(list.items, once.items, list.count * sizeof *list.items);
  }
  sn_pool_destroy(pool);
}

static void emitted_octants_come_in_the_order_of_the_items(void** unused) {
  (void)unused;
  sn_pool* pool;
  assert_int_equal(sn_pool_create(3, &pool, NULL), SN_OK);
  uint8_t mark = 9;
  for (size_t c = 0; c < COUNTS; ++c) {
    sn_octants list;
    assert_int_equal(sn_octants_emit(pool, counts[c], emit_some, &mark, arena, &list, NULL), SN_OK);
    size_t at = 0;
    for (size_t i = 0; i < counts[c]; ++i) {
      for (size_t k = 0; k < i % 4; ++k, ++at) {
        assert_true(at < list.count);
        sn_octant o = list.items[at];
        assert_int_equal(o.x + ((size_t)o.y << 16), i);
        assert_int_equal(o.z, k);
        assert_int_equal(o.height, mark);
      }
    }
    assert_int_equal(list.count, at);
  }
  sn_pool_destroy(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sorting_is_stable_on_any_number_of_threads, make_arenas,
                                      destroy_arenas),
      cmocka_unit_test_setup_teardown(repeats_are_dropped_and_their_flags_joined, make_arenas,
                                      destroy_arenas),
      cmocka_unit_test_setup_teardown(joined_lists_are_those_sorted_and_unique_one_by_one,
                                      make_arenas, destroy_arenas),
      cmocka_unit_test_setup_teardown(bounds_are_those_of_a_search_through_all, make_arenas,
                                      destroy_arenas),
      cmocka_unit_test_setup_teardown(emitting_once_gives_the_same_list, make_arenas,
                                      destroy_arenas),
      cmocka_unit_test_setup_teardown(emitted_octants_come_in_the_order_of_the_items, make_arenas,
                                      destroy_arenas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
