#include "geometry/capsule.h"

#include "geometry/closed.h"
#include "geometry/prepared.h"

// Nearest point of the segment by looking at very many.
static double distance_by_search(sn_vec3 from, sn_vec3 to, double radius, sn_vec3 p) {
  double best = INFINITY;
  for (int i = 0; i <= 4000; ++i) {
    sn_vec3 on = sn_madd(from, i / 4000.0, sn_sub(to, from));
    best = fmin(best, sn_distance(on, p));
  }
  return best - radius;
}

static void distance_is_the_least_to_the_segment_less_the_radius(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(1);
  for (int n = 0; n < 500; ++n) {
    sn_vec3 from = shape_random_point(&random), to = shape_random_point(&random);
    sn_vec3 p = sn_scale(2, shape_random_point(&random));
    double radius = sn_random_unit(&random);
    double found = sn_capsule_distance(from, to, radius, p);
    // The search misses the nearest point by a 4000th of the segment, which costs its square at
    // most where the foot lies within.
    double expected = distance_by_search(from, to, radius, p);
    assert_true(found <= expected + 1e-12);
    assert_true(found >= expected - 1e-3);
  }
}

static void distance_is_exact_where_it_is_known(void** unused) {
  (void)unused;
  sn_vec3 a = {0, 0, 0}, b = {4, 0, 0};
  assert_true(sn_capsule_distance(a, b, 1, sn_v3(2, 3, 0)) == 2);
  assert_true(sn_capsule_distance(a, b, 1, sn_v3(2, 0, 0)) == -1);
  assert_true(sn_capsule_distance(a, b, 1, sn_v3(2, 1, 0)) == 0);
  assert_true(sn_capsule_distance(a, b, 1, sn_v3(7, 4, 0)) == 4);
  assert_true(sn_capsule_distance(a, b, 1, sn_v3(-3, 0, 4)) == 4);
  // A segment without length is a ball.
  assert_true(sn_capsule_distance(b, b, 1, sn_v3(4, 3, 4)) == 4);
  assert_true(sn_capsule_distance(b, b, 1, b) == -1);
}

static void mesh_is_closed_outward_and_on_the_capsule(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(2);
  for (int n = 0; n < 200; ++n) {
    sn_vec3 from = shape_random_point(&random), to = shape_random_point(&random);
    // Also along the axes, in both directions, where the frame is chosen.
    if (n < 6) {
      double sign = n < 3 ? 1 : -1;
      to = sn_madd(from, sign, sn_v3(n % 3 == 0, n % 3 == 1, n % 3 == 2));
    }
    double radius = 0.1 + sn_random_unit(&random);
    sn_mesh mesh;
    assert_int_equal(sn_capsule_mesh(from, to, radius, &mesh, NULL), SN_OK);
    assert_closed_manifold(&mesh);
    assert_int_equal(count_pieces(&mesh), 1);
    for (uint32_t v = 0; v < mesh.vertex_count; ++v) {
      sn_vec3 p = sn_load3(mesh.positions + 3 * (size_t)v);
      assert_true(fabs(sn_capsule_distance(from, to, radius, p)) < 1e-14);
    }
    double length = sn_distance(from, to);
    double volume = SHAPE_PI * radius * radius * (length + 4.0 / 3.0 * radius);
    double found = signed_volume(&mesh);
    assert_true(found < volume && found > 0.92 * volume);
    sn_mesh_destroy(&mesh);
  }
}

static void no_triangle_has_to_be_dropped_or_turned(void** unused) {
  (void)unused;
  sn_mesh mesh;
  assert_int_equal(sn_capsule_mesh(sn_v3(0, 1, 0), sn_v3(2, 1, 1), 0.4, &mesh, NULL), SN_OK);
  prepared p;
  prepare(&p, mesh);
  assert_int_equal(p.surface.report.degenerate_triangles, 0);
  assert_int_equal(p.surface.report.duplicate_triangles, 0);
  assert_int_equal(p.surface.report.flipped_triangles, 0);
  assert_true(fabs(sn_bvh_winding(&p.bvh, sn_v3(1, 1, 0.5)) - 1) < 0.01);
  unprepare(&p);
}

// The two rims coincide; once the triangles between them are left out, a closed ball remains.
static void a_capsule_without_length_is_a_ball(void** unused) {
  (void)unused;
  sn_vec3 centre = {3, -1, 2};
  sn_mesh mesh;
  assert_int_equal(sn_capsule_mesh(centre, centre, 0.5, &mesh, NULL), SN_OK);
  prepared p;
  prepare(&p, mesh);
  assert_int_equal(p.surface.report.degenerate_triangles, 32);
  assert_int_equal(p.surface.report.duplicate_triangles, 0);
  assert_int_equal(p.surface.report.flipped_triangles, 0);
  double volume = 4.0 / 3.0 * SHAPE_PI * 0.125;
  assert_true(p.surface.volume < volume && p.surface.volume > 0.92 * volume);
  assert_true(fabs(winding_of_all(&p, centre) - 1) < 1e-12);
  assert_true(fabs(winding_of_all(&p, sn_v3(3, -1, 3))) < 1e-12);
  unprepare(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distance_is_the_least_to_the_segment_less_the_radius),
      cmocka_unit_test(distance_is_exact_where_it_is_known),
      cmocka_unit_test(mesh_is_closed_outward_and_on_the_capsule),
      cmocka_unit_test(no_triangle_has_to_be_dropped_or_turned),
      cmocka_unit_test(a_capsule_without_length_is_a_ball),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
