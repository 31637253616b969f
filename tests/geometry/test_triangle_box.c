#include "geometry/triangle_box.h"

#include "shapes.h"

// The oracle: what is left of the triangle when it is cut by the six planes of the cube, one after
// the other (Sutherland and Hodgman). Three corners and one more for each plane.
typedef struct polygon {
  sn_vec3 corner[9];
  int count;
} polygon;

static double signed_axis(sn_vec3 p, int axis, double sign) { return sign * sn_axis(p, axis); }

static polygon cut_by_plane(const polygon* from, int axis, double sign, double limit) {
  polygon kept = {.count = 0};
  for (int i = 0; i < from->count; ++i) {
    sn_vec3 p = from->corner[i], q = from->corner[(i + 1) % from->count];
    double beyond_p = signed_axis(p, axis, sign) - limit;
    double beyond_q = signed_axis(q, axis, sign) - limit;
    if (beyond_p <= 0) kept.corner[kept.count++] = p;
    if ((beyond_p < 0 && beyond_q > 0) || (beyond_p > 0 && beyond_q < 0)) {
      double share = beyond_p / (beyond_p - beyond_q);
      kept.corner[kept.count++] = sn_madd(p, share, sn_sub(q, p));
    }
  }
  return kept;
}

static bool meets_by_clipping(const sn_vec3 triangle[3], sn_vec3 centre, double half) {
  polygon rest = {.count = 3};
  for (int i = 0; i < 3; ++i) rest.corner[i] = sn_sub(triangle[i], centre);
  for (int axis = 0; axis < 3 && rest.count > 0; ++axis) {
    rest = cut_by_plane(&rest, axis, 1, half);
    if (rest.count > 0) rest = cut_by_plane(&rest, axis, -1, half);
  }
  return rest.count > 0;
}

// Asked for two cubes at once, each gives the same as alone.
static bool touches(const sn_vec3 triangle[3], sn_vec3 centre, double half) {
  bool touched = sn_triangle_touches_cube(triangle, centre, half);
  sn_triangle_axes axes = sn_triangle_find_axes(triangle);
  bool larger = sn_triangle_touches_cube(triangle, centre, 2 * half);
  bool smaller = sn_triangle_touches_cube(triangle, centre, half / 2);
  assert_int_equal(sn_triangle_touches_cubes(&axes, centre, 2 * half, half), larger + touched);
  assert_int_equal(sn_triangle_touches_cubes(&axes, centre, half, half / 2), touched + smaller);
  return touched;
}

// Agrees with clipping wherever a cube larger or smaller by 1e-9 gives the same answer. Returns
// whether it was a touching case: 1, 0, or -1 for too close to tell.
static int compare_with_clipping(const sn_vec3 triangle[3], sn_vec3 centre, double half) {
  bool larger = meets_by_clipping(triangle, centre, half * (1 + 1e-9));
  bool smaller = meets_by_clipping(triangle, centre, half * (1 - 1e-9));
  if (larger != smaller) return -1;
  assert_int_equal(touches(triangle, centre, half), larger);
  return larger;
}

static void random_triangles_agree_with_clipping(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(1);
  int count[3] = {0};  // unclear, apart, touching
  for (int n = 0; n < 300000; ++n) {
    sn_vec3 triangle[3], centre = shape_random_point(&random);
    double size = n % 3 == 0 ? 0.2 : n % 3 == 1 ? 1 : 5;
    sn_vec3 around = sn_madd(centre, 0.5, shape_random_point(&random));
    for (int i = 0; i < 3; ++i) triangle[i] = sn_madd(around, size, shape_random_point(&random));
    count[1 + compare_with_clipping(triangle, centre, 0.3)]++;
  }
  assert_true(count[0] < 10 && count[1] > 50000 && count[2] > 50000);
}

// Needles, segments and points.
static void degenerate_triangles_agree_with_clipping(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(2);
  int count[3] = {0};
  for (int n = 0; n < 200000; ++n) {
    sn_vec3 p = shape_random_point(&random), q = shape_random_point(&random);
    double along = 2 * sn_random_unit(&random) - 0.5;
    sn_vec3 on_line = sn_madd(p, along, sn_sub(q, p));
    sn_vec3 beside = sn_madd(on_line, 1e-7, shape_random_point(&random));
    sn_vec3 kinds[4][3] = {{p, q, on_line}, {p, p, q}, {p, p, p}, {p, q, beside}};
    count[1 + compare_with_clipping(kinds[n % 4], sn_v3(0.1, -0.2, 0.3), 0.5)]++;
  }
  assert_true(count[0] < 10 && count[1] > 30000 && count[2] > 30000);
}

static void a_triangle_touches_a_cube_around_any_of_its_points(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(3);
  for (int n = 0; n < 100000; ++n) {
    sn_vec3 triangle[3];
    for (int i = 0; i < 3; ++i) triangle[i] = shape_random_point(&random);
    double a = sn_random_unit(&random), b = sn_random_unit(&random);
    if (a + b > 1) a = 1 - a, b = 1 - b;
    sn_vec3 p = sn_madd(sn_madd(triangle[0], a, sn_sub(triangle[1], triangle[0])), b,
                        sn_sub(triangle[2], triangle[0]));
    double half = n % 2 ? 1e-6 : 0.3;
    sn_vec3 centre = sn_madd(p, 0.999 * half, shape_random_point(&random));
    assert_true(touches(triangle, centre, half));
  }
}

// Numbers of few bits, so that every product below is exact.
static double few_bits(sn_random* random) {
  return (double)((int)(sn_random_bits(random) % 33) - 16) / 16;
}

// Some point of the face, edge or corner of the cube in direction `n`, not at its ends.
static sn_vec3 point_on_feature(sn_random* random, sn_vec3 n, double half) {
  double x = few_bits(random) / 2, y = few_bits(random) / 2, z = few_bits(random) / 2;
  return sn_scale(half, sn_v3(n.x != 0 ? n.x : x, n.y != 0 ? n.y : y, n.z != 0 ? n.z : z));
}

// A step that does not lead below the plane across `n`: in it if `level`, else above.
static sn_vec3 step_from_plane(sn_random* random, sn_vec3 n, bool level) {
  for (;;) {
    sn_vec3 d = sn_v3(few_bits(random), few_bits(random), few_bits(random));
    double rise = sn_dot(n, d);
    if (level ? rise == 0 : rise > 0) return d;
  }
}

// Triangles that rest on one of the 26 faces, edges and corners from outside, with a corner, an
// edge or all of themselves: they touch; the least lift parts them.
static void touching_from_outside_is_touching(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(4);
  const double half = 0.5, lift = 0x1p-40;
  for (int feature = 0; feature < 27; ++feature) {
    sn_vec3 n = sn_v3(feature % 3 - 1, feature / 3 % 3 - 1, feature / 9 - 1);
    if (feature == 13) continue;
    for (int trial = 0; trial < 600; ++trial) {
      sn_vec3 centre = sn_v3(few_bits(&random), few_bits(&random), few_bits(&random));
      sn_vec3 p = sn_add(centre, point_on_feature(&random, n, half));
      int level_steps = trial % 3;
      sn_vec3 a = step_from_plane(&random, n, level_steps > 0);
      sn_vec3 b = step_from_plane(&random, n, level_steps > 1);
      // p is a corner of the triangle, or within its edge, or within its inside.
      sn_vec3 triangle[3] = {p, sn_add(p, a), sn_add(p, b)};
      if (level_steps == 1 && trial % 2) triangle[0] = sn_sub(p, a);
      if (level_steps == 2 && trial % 2) triangle[0] = sn_sub(p, sn_add(a, b));
      assert_true(touches(triangle, centre, half));
      sn_vec3 lifted[3], lowered[3];
      for (int i = 0; i < 3; ++i) {
        lifted[i] = sn_madd(triangle[i], lift, n);
        lowered[i] = sn_madd(triangle[i], -lift, n);
      }
      assert_false(touches(lifted, centre, half));
      assert_true(touches(lowered, centre, half));
    }
  }
}

// An edge across an edge of the cube, a corner poked by the triangle's inside: axes that are
// neither the cube's nor the triangle's normal decide.
static void edges_pass_each_other_without_touching(void** unused) {
  (void)unused;
  // Past the edge x = y = 1 of the cube of half 1, along (1, -1, 1); the third corner far outside.
  for (int sign = -1; sign <= 1; ++sign) {
    double off = sign * 0x1p-30;
    sn_vec3 triangle[3] = {{2 + off, 0 + off, 1}, {0 + off, 2 + off, -1}, {5, 5, 0}};
    assert_int_equal(touches(triangle, sn_v3(0, 0, 0), 1), sign <= 0);
  }
  // A large triangle in the plane x + y + z = 3, before and behind the corner (1, 1, 1).
  for (int sign = -1; sign <= 1; ++sign) {
    double off = sign * 0x1p-30;
    sn_vec3 triangle[3] = {{9 + off, -3, -3}, {-3, 9 + off, -3}, {-3, -3, 9 + off}};
    assert_int_equal(touches(triangle, sn_v3(0, 0, 0), 1), sign <= 0);
  }
}

static void cubes_within_triangles_and_triangles_within_cubes_touch(void** unused) {
  (void)unused;
  sn_vec3 large[3] = {{-100, -100, 0.25}, {100, -100, 0.25}, {0, 100, 0.25}};
  sn_vec3 small[3] = {{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}};
  sn_vec3 origin = {0, 0, 0};
  assert_true(touches(large, origin, 1));
  assert_true(touches(small, origin, 1));
  assert_false(touches(large, origin, 0.2));
  assert_true(touches(large, origin, 0.25));
}

static void a_cube_may_be_a_point_but_not_less(void** unused) {
  (void)unused;
  sn_vec3 triangle[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  assert_true(touches(triangle, sn_v3(0.25, 0.25, 0), 0));
  assert_true(touches(triangle, sn_v3(0.5, 0.5, 0), 0));
  assert_false(touches(triangle, sn_v3(0.5, 0.5, 0x1p-50), 0));
  assert_false(touches(triangle, sn_v3(0.5, 0.75, 0), 0));
  assert_false(touches(triangle, sn_v3(0.25, 0.25, 0), -1e-300));
  assert_false(touches(triangle, sn_v3(0.25, 0.25, 0), -1));
}

static void the_order_of_corners_does_not_matter(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  static const int orders[5][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int n = 0; n < 20000; ++n) {
    // Few bits: exact, so that also the touching cases must agree.
    sn_vec3 t[3];
    for (int i = 0; i < 3; ++i) {
      t[i] = sn_v3(few_bits(&random), few_bits(&random), few_bits(&random));
    }
    bool first = touches(t, sn_v3(0.5, 0.5, 0.5), 0.25);
    for (int k = 0; k < 5; ++k) {
      sn_vec3 other[3] = {t[orders[k][0]], t[orders[k][1]], t[orders[k][2]]};
      assert_int_equal(touches(other, sn_v3(0.5, 0.5, 0.5), 0.25), first);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_triangles_agree_with_clipping),
      cmocka_unit_test(degenerate_triangles_agree_with_clipping),
      cmocka_unit_test(a_triangle_touches_a_cube_around_any_of_its_points),
      cmocka_unit_test(touching_from_outside_is_touching),
      cmocka_unit_test(edges_pass_each_other_without_touching),
      cmocka_unit_test(cubes_within_triangles_and_triangles_within_cubes_touch),
      cmocka_unit_test(a_cube_may_be_a_point_but_not_less),
      cmocka_unit_test(the_order_of_corners_does_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
