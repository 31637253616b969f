#include "geometry/bvh.h"
#include "geometry/surface.h"
#include "io/scratch.h"
#include "shapes.h"

#define MOST 100000

static sn_mesh_defects find(const sn_mesh* mesh, uint32_t most) {
  sn_mesh_defects defects;
  sn_error err = {0};
  if (sn_mesh_find_defects(mesh, most, &defects, &err) != SN_OK) fail_msg("%s", err.text);
  return defects;
}

// Takes the mesh over.
static void assert_counts(sn_mesh mesh, uint32_t holes, uint32_t nonmanifold, uint32_t degenerate,
                          uint32_t duplicate, uint32_t intersecting) {
  sn_mesh_defects d = find(&mesh, MOST);
  if (d.holes.count != holes || d.nonmanifold.count != nonmanifold ||
      d.degenerate.count != degenerate || d.duplicate.count != duplicate ||
      d.intersecting.count != intersecting) {
    fail_msg("%u holes, %u nonmanifold, %u degenerate, %u duplicate, %u intersecting",
             d.holes.count, d.nonmanifold.count, d.degenerate.count, d.duplicate.count,
             d.intersecting.count);
  }
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&mesh);
}

static void a_sound_surface_has_none(void** unused) {
  (void)unused;
  assert_counts(shape_sphere(sn_v3(1, 2, 3), 0.7, 24), 0, 0, 0, 0, 0);
  assert_counts(shape_torus(2, 0.5, 24), 0, 0, 0, 0, 0);
  sn_mesh sphere = shape_sphere(sn_v3(0, 0, 0), 1, 12), soup = shape_unwelded(&sphere);
  sn_mesh_destroy(&sphere);
  assert_counts(soup, 0, 0, 0, 0, 0);
}

// Turned so that no coordinate is round: neighbours lie in one plane but for rounding.
static void triangles_of_one_plane_do_not_cross(void** unused) {
  (void)unused;
  sn_mesh sheet =
      shape_sheet(sn_v3(0.1, -0.3, 0.7), sn_v3(0.36, 0.48, 0.8), sn_v3(0.8, -0.6, 0.001), 40);
  sn_mesh_defects d = find(&sheet, MOST);
  assert_int_equal(d.intersecting.count, 0);
  assert_int_equal(d.holes.count, 160);
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&sheet);
}

static void the_rim_of_a_hole_is_found(void** unused) {
  (void)unused;
  sn_mesh mesh = shape_hemisphere(sn_v3(0, 0, 0), 1, 12);
  sn_mesh_defects d = find(&mesh, MOST);
  assert_true(d.holes.count > 0 && d.holes.kept == d.holes.count);
  // All edges of the rim lie at one height, and each of its vertices has two of them.
  double height = mesh.positions[3 * (size_t)d.holes.items[0] + 1];
  for (uint32_t i = 0; i < 2 * d.holes.kept; ++i) {
    const double* p = mesh.positions + 3 * (size_t)d.holes.items[i];
    uint32_t seen = 0;
    for (uint32_t j = 0; j < 2 * d.holes.kept; ++j) seen += d.holes.items[j] == d.holes.items[i];
    assert_int_equal(seen, 2);
    assert_true(fabs(p[1] - height) < 1e-12 || fabs(p[2]) < 1e-12 || fabs(p[0]) < 1e-12);
  }
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&mesh);
}

static void boxes_that_share_an_edge_have_four_triangles_there(void** unused) {
  (void)unused;
  sn_mesh boxes = shape_join(shape_unit_cube(), shape_box(sn_v3(1, 1, 0), sn_v3(2, 2, 1)));
  sn_mesh_defects d = find(&boxes, MOST);
  assert_int_equal(d.nonmanifold.count, 1);
  for (int i = 0; i < 2; ++i) {
    const double* p = boxes.positions + 3 * (size_t)d.nonmanifold.items[i];
    assert_true(p[0] == 1 && p[1] == 1);
  }
  assert_int_equal(d.intersecting.count, 0);
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&boxes);
}

static void flat_and_repeated_triangles_are_named(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(4, 4);
  for (int i = 0; i < 4; ++i) shape_vertex(&a, sn_v3(i & 1, i >> 1, i == 3));
  shape_triangle(&a, 0, 1, 2);
  shape_triangle(&a, 0, 1, 1);
  shape_triangle(&a, 2, 0, 1);
  shape_triangle(&a, 1, 3, 2);
  sn_mesh mesh = shape_end(&a);
  sn_mesh_defects d = find(&mesh, MOST);
  assert_int_equal(d.degenerate.count, 1);
  assert_int_equal(d.degenerate.items[0], 1);
  assert_int_equal(d.duplicate.count, 1);
  assert_int_equal(d.duplicate.items[0], 2);
  assert_int_equal(d.holes.count, 4);
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&mesh);
}

// Each pair has a triangle of either ball, on both sides of the other's surface.
static void balls_that_overlap_go_through_one_another(void** unused) {
  (void)unused;
  sn_mesh balls = shape_join(shape_sphere(sn_v3(0, 0, 0), 1, 16),
                             shape_sphere(sn_v3(0.9, 0.31, 0.17), 0.8, 14));
  sn_mesh first = shape_sphere(sn_v3(0, 0, 0), 1, 16);
  sn_mesh_defects d = find(&balls, MOST);
  assert_true(d.intersecting.count > 40);
  for (uint32_t i = 0; i < d.intersecting.kept; ++i) {
    uint32_t a = d.intersecting.items[2 * i], b = d.intersecting.items[2 * i + 1];
    assert_true(a < first.triangle_count && b >= first.triangle_count);
  }
  uint32_t inside = 0, crossed = 0;
  for (uint32_t t = first.triangle_count; t < balls.triangle_count; ++t) {
    int corners = 0;
    for (int k = 0; k < 3; ++k) {
      const uint32_t v = balls.triangles[3 * (size_t)t + k];
      corners += sn_length(sn_load3(balls.positions + 3 * (size_t)v)) < 0.97;
    }
    inside += corners == 3;
  }
  for (uint32_t i = 0; i < d.crossed.kept; ++i) {
    assert_true(i == 0 || d.crossed.items[i - 1] < d.crossed.items[i]);
    crossed += d.crossed.items[i] >= first.triangle_count;
  }
  // A ring of triangles, and neither all nor none of those inside.
  assert_true(crossed > 20 && inside > 20 && crossed < balls.triangle_count / 4);
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&first);
  sn_mesh_destroy(&balls);
  assert_counts(
      shape_join(shape_sphere(sn_v3(0, 0, 0), 1, 16), shape_sphere(sn_v3(0, 0, 0), 0.8, 14)), 0, 0,
      0, 0, 0);
}

static bool touches(const sn_mesh* mesh, uint32_t a, uint32_t b) {
  // Points of one triangle on both sides of the other, tested by sampling both finely.
  sn_vec3 p[3], q[3];
  for (int k = 0; k < 3; ++k) {
    p[k] = sn_load3(mesh->positions + 3 * (size_t)mesh->triangles[3 * (size_t)a + k]);
    q[k] = sn_load3(mesh->positions + 3 * (size_t)mesh->triangles[3 * (size_t)b + k]);
  }
  double least = INFINITY;
  for (int i = 0; i <= 60; ++i) {
    for (int j = 0; i + j <= 60; ++j) {
      sn_vec3 at =
          sn_madd(sn_madd(p[0], i / 60.0, sn_sub(p[1], p[0])), j / 60.0, sn_sub(p[2], p[0]));
      least = fmin(least, sn_distance(at, sn_triangle_nearest(q, at)));
    }
  }
  return least < 0.02;
}

// In a soup, every pair that crosses comes near, and of those far from one another none crosses.
static void a_soup_agrees_with_sampling(void** unused) {
  (void)unused;
  sn_mesh soup = shape_soup(5, 60, 0.5);
  sn_mesh_defects d = find(&soup, MOST);
  assert_true(d.intersecting.count > 10);
  for (uint32_t i = 0; i < d.intersecting.kept; ++i) {
    assert_true(touches(&soup, d.intersecting.items[2 * i], d.intersecting.items[2 * i + 1]));
  }
  sn_mesh_defects_destroy(&d);
  sn_mesh_destroy(&soup);
}

static void lists_end_where_they_are_asked_to(void** unused) {
  (void)unused;
  sn_mesh balls = shape_join(shape_sphere(sn_v3(0, 0, 0), 1, 16),
                             shape_sphere(sn_v3(0.9, 0.31, 0.17), 0.8, 14));
  sn_mesh_defects all = find(&balls, MOST), few = find(&balls, 3), none = find(&balls, 0);
  assert_int_equal(few.intersecting.kept, 3);
  assert_int_equal(few.crossed.kept, 3);
  assert_int_equal(none.intersecting.kept, 0);
  assert_int_equal(few.intersecting.count, all.intersecting.count);
  assert_int_equal(none.crossed.count, all.crossed.count);
  assert_memory_equal(few.intersecting.items, all.intersecting.items, 6 * sizeof(uint32_t));
  sn_mesh_defects_destroy(&all);
  sn_mesh_defects_destroy(&few);
  sn_mesh_defects_destroy(&none);
  sn_mesh_destroy(&balls);
}

static sn_mesh to_be_searched;

static sn_status attempt(sn_error* err) {
  sn_mesh_defects defects;
  sn_status status = sn_mesh_find_defects(&to_be_searched, 10, &defects, err);
  sn_mesh_defects_destroy(&defects);
  return status;
}

// The mesh itself is made of arrays here: nothing of the library's memory may be in use.
static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  double positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  uint32_t triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  to_be_searched = (sn_mesh){
      .positions = positions, .vertex_count = 4, .triangles = triangles, .triangle_count = 4};
  assert_survives_failing_allocations(attempt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sound_surface_has_none),
      cmocka_unit_test(triangles_of_one_plane_do_not_cross),
      cmocka_unit_test(the_rim_of_a_hole_is_found),
      cmocka_unit_test(boxes_that_share_an_edge_have_four_triangles_there),
      cmocka_unit_test(flat_and_repeated_triangles_are_named),
      cmocka_unit_test(balls_that_overlap_go_through_one_another),
      cmocka_unit_test(a_soup_agrees_with_sampling),
      cmocka_unit_test(lists_end_where_they_are_asked_to),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
