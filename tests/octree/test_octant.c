#include "octree/octant.h"

#include "shapes.h"

// The code that the order is defined by: bits of z, y and x interleaved, z first.
static uint64_t morton_code(sn_octant o) {
  uint64_t code = 0;
  for (int bit = 0; bit < 16; ++bit) {
    code |= (uint64_t)(o.x >> bit & 1) << (3 * bit);
    code |= (uint64_t)(o.y >> bit & 1) << (3 * bit + 1);
    code |= (uint64_t)(o.z >> bit & 1) << (3 * bit + 2);
  }
  return code;
}

static int sign_of(int value) { return (value > 0) - (value < 0); }

static void assert_same_order(sn_octant a, sn_octant b) {
  uint64_t p = morton_code(a), q = morton_code(b);
  assert_int_equal(sign_of(sn_octant_compare(a, b)), (p > q) - (p < q));
}

static sn_octant random_octant(sn_random* random, int height) {
  uint64_t bits = sn_random_bits(random);
  uint16_t mask = (uint16_t) ~((1u << height) - 1u);
  return (sn_octant){(uint16_t)(bits & mask), (uint16_t)(bits >> 16 & mask),
                     (uint16_t)(bits >> 32 & mask), (uint8_t)height, 0};
}

static void order_is_that_of_interleaved_codes(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(1);
  for (int n = 0; n < 300000; ++n) {
    sn_octant a = random_octant(&random, 0), b = random_octant(&random, 0);
    // Often alike in some coordinates or in their upper bits.
    if (n % 2) b.x = (uint16_t)(a.x ^ (b.x >> n % 16));
    if (n % 3) b.y = (uint16_t)(a.y ^ (b.y >> n % 17));
    if (n % 5) b.z = (uint16_t)(a.z ^ (b.z >> n % 13));
    assert_same_order(a, b);
    assert_same_order(b, a);
    assert_same_order(a, a);
  }
}

static void order_of_single_bits_is_right(void** unused) {
  (void)unused;
  for (int i = 0; i < 48; ++i) {
    for (int j = 0; j < 48; ++j) {
      uint16_t p[3] = {0}, q[3] = {0};
      p[i % 3] = (uint16_t)(1u << i / 3);
      q[j % 3] = (uint16_t)(1u << j / 3);
      sn_octant a = {p[0], p[1], p[2], 0, 0}, b = {q[0], q[1], q[2], 0, 0};
      assert_int_equal(sign_of(sn_octant_compare(a, b)), (i > j) - (i < j));
    }
  }
}

static void top_bits_are_compared(void** unused) {
  (void)unused;
  for (uint32_t a = 0; a < 300; ++a) {
    for (uint32_t b = 0; b < 300; ++b) {
      int top_a = a ? 31 - __builtin_clz(a) : -1, top_b = b ? 31 - __builtin_clz(b) : -1;
      assert_int_equal(sn_top_bit_less(a, b), top_a < top_b);
    }
  }
}

static void children_know_their_parent_and_number(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(2);
  for (int n = 0; n < 50000; ++n) {
    int height = 1 + n % SN_MAX_HEIGHT;
    sn_octant parent = random_octant(&random, height);
    uint32_t half = sn_octant_size(parent) / 2;
    assert_int_equal(sn_octant_size(parent), 1u << height);
    for (int c = 0; c < 8; ++c) {
      sn_octant child = sn_octant_child(parent, c);
      assert_int_equal(child.height, height - 1);
      assert_int_equal(child.x, parent.x + (c & 1 ? half : 0));
      assert_int_equal(child.y, parent.y + (c & 2 ? half : 0));
      assert_int_equal(child.z, parent.z + (c & 4 ? half : 0));
      assert_int_equal(sn_octant_child_number(child), c);
      sn_octant back = sn_octant_parent(child);
      assert_memory_equal(&back, &parent, sizeof back);
      if (c > 0) assert_true(sn_octant_compare(sn_octant_child(parent, c - 1), child) < 0);
    }
  }
}

// What lies in an octant follows its anchor without a gap.
static void descendants_are_consecutive(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(3);
  for (int n = 0; n < 20000; ++n) {
    sn_octant o = random_octant(&random, n % 9), other = random_octant(&random, 0);
    if (n % 2) {
      uint32_t size = sn_octant_size(o);
      other.x = (uint16_t)(o.x + other.x % size);
      other.y = (uint16_t)(o.y + other.y % size);
      other.z = (uint16_t)(o.z + other.z % size);
    }
    bool holds = sn_octant_holds(o, other.x, other.y, other.z);
    uint64_t first = morton_code(o), code = morton_code(other);
    assert_int_equal(holds, code >= first && code - first < (uint64_t)1 << (3 * o.height));
    if (n % 2) assert_true(holds);
  }
}

static void places_outside_are_not_held(void** unused) {
  (void)unused;
  sn_octant o = {8, 8, 8, 2, 0};
  assert_true(sn_octant_holds(o, 8, 8, 8));
  assert_true(sn_octant_holds(o, 11, 11, 11));
  assert_false(sn_octant_holds(o, 12, 8, 8));
  assert_false(sn_octant_holds(o, 8, 7, 8));
  sn_octant first = {0, 0, 0, 2, 0};
  assert_false(sn_octant_holds(first, -1, 0, 0));
  assert_false(sn_octant_holds(first, 0, 0, -4));
}

static void codes_are_interleaved_and_back(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(7);
  for (int n = 0; n < 100000; ++n) {
    sn_octant o = random_octant(&random, 0);
    assert_true(sn_morton(o.x, o.y, o.z) == morton_code(o));
    sn_octant back = sn_octant_at(morton_code(o));
    assert_memory_equal(&back, &o, sizeof o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_is_that_of_interleaved_codes),
      cmocka_unit_test(codes_are_interleaved_and_back),
      cmocka_unit_test(order_of_single_bits_is_right),
      cmocka_unit_test(top_bits_are_compared),
      cmocka_unit_test(children_know_their_parent_and_number),
      cmocka_unit_test(descendants_are_consecutive),
      cmocka_unit_test(places_outside_are_not_held),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
