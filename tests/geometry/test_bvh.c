#include "geometry/bvh.h"

#include "geometry/moving_bvh.h"
#include "geometry/prepared.h"
#include "io/scratch.h"

static double centroid_at(const prepared* p, uint32_t triangle, int axis) {
  sn_vec3 c[3];
  prepared_corners(p, triangle, c);
  return sn_axis(sn_scale(1.0 / 3.0, sn_add(c[0], sn_add(c[1], c[2]))), axis);
}

// Half of the triangles each, none of the first half beyond one of the second along the longest side.
static void assert_divided(const prepared* p, const sn_bvh_node* node, const sn_bvh_node* left,
                           const sn_bvh_node* right) {
  sn_vec3 d = sn_sub(node->box.hi, node->box.lo);
  int axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
  double last = -INFINITY, first = INFINITY;
  for (uint32_t k = left->begin; k < left->end; ++k) {
    last = fmax(last, centroid_at(p, p->bvh.order[k], axis));
  }
  for (uint32_t k = right->begin; k < right->end; ++k) {
    first = fmin(first, centroid_at(p, p->bvh.order[k], axis));
  }
  assert_true(last <= first);
  assert_int_equal(left->end - left->begin, (node->end - node->begin) / 2);
}

static void every_triangle_is_in_one_leaf_and_within_its_boxes(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_torus(1, 0.3, 20));
  uint32_t count = p.surface.triangle_count, covered = 0;
  uint8_t* seen = calloc(count, 1);
  for (uint32_t k = 0; k < count; ++k) {
    assert_true(p.bvh.order[k] < count && !seen[p.bvh.order[k]]);
    seen[p.bvh.order[k]] = 1;
  }
  free(seen);
  for (uint32_t n = 0; n < p.bvh.node_count; ++n) {
    const sn_bvh_node* node = &p.bvh.nodes[n];
    assert_true(node->begin < node->end && node->end <= count);
    sn_vec3 area = {0, 0, 0};
    for (uint32_t k = node->begin; k < node->end; ++k) {
      sn_vec3 corner[3];
      prepared_corners(&p, p.bvh.order[k], corner);
      for (int i = 0; i < 3; ++i) {
        assert_true(sn_box_contains(node->box, corner[i]));
        assert_true(sn_distance(corner[i], node->centre) <= node->radius);
      }
      sn_vec3 cross = sn_cross(sn_sub(corner[1], corner[0]), sn_sub(corner[2], corner[0]));
      area = sn_madd(area, 0.5, cross);
    }
    assert_true(sn_distance(area, node->area_vector) < 1e-12);
    if (node->right == 0) {
      covered += node->end - node->begin;
    } else {
      const sn_bvh_node *left = node + 1, *right = &p.bvh.nodes[node->right];
      assert_int_equal(left->begin, node->begin);
      assert_int_equal(left->end, right->begin);
      assert_int_equal(right->end, node->end);
      assert_divided(&p, node, left, right);
    }
  }
  assert_int_equal(covered, count);
  unprepare(&p);
}

static void winding_of_a_closed_sphere_is_one_inside_and_zero_outside(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_sphere(sn_v3(1, 2, 3), 2, 24));
  sn_random random = sn_random_seeded(1);
  int inside = 0, outside = 0;
  for (int n = 0; n < 5000; ++n) {
    sn_vec3 away = sn_scale(3, shape_random_point(&random));
    sn_vec3 point = sn_add(sn_v3(1, 2, 3), away);
    double winding = sn_bvh_winding(&p.bvh, point);
    // Between the polyhedron and the sphere anything may be.
    double distance = sn_length(away);
    if (distance > 1.97 && distance < 2) continue;
    double exact = distance < 2 ? 1 : 0;
    if (n % 10 == 0) assert_true(fabs(winding_of_all(&p, point) - exact) < 1e-12);
    assert_true(fabs(winding - exact) < 0.1);
    inside += distance < 2;
    outside += distance > 2;
  }
  assert_true(inside > 500 && outside > 2000);
  unprepare(&p);
}

// In and on the hole, around the rim and far away.
static void winding_of_an_open_hemisphere_is_the_share_of_the_view(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_hemisphere(sn_v3(0, 0, 0), 1, 32));
  // From the middle of the hole half of all directions meet the surface, from its back.
  assert_true(fabs(winding_of_all(&p, sn_v3(0, 0, 0)) - 0.5) < 1e-12);
  assert_true(fabs(sn_bvh_winding(&p.bvh, sn_v3(0, 0, 0)) - 0.5) < 0.03);
  // On the axis the rim appears under the angle a; the share is (1 + cos a) / 2 above the rim.
  for (int n = -30; n <= 30; ++n) {
    double z = n / 10.0, share = 0.5 * (1 + z / sqrt(1 + z * z));
    double expected = z < 1 ? share : share - 1;
    if (fabs(z - 1) < 0.05) continue;
    double winding = sn_bvh_winding(&p.bvh, sn_v3(0, 0, z));
    // The rim is a polygon of 64 corners, so the share itself is off by up to 2e-3.
    assert_true(fabs(winding - expected) < 0.05);
  }
  assert_true(fabs(sn_bvh_winding(&p.bvh, sn_v3(1000, 2000, -3000))) < 1e-6);
  unprepare(&p);
}

static void winding_stays_close_to_the_sum_over_all_triangles(void** unused) {
  (void)unused;
  for (int body = 0; body < 4; ++body) {
    prepared p;
    prepare(&p, body == 0   ? shape_torus(1, 0.3, 24)
                : body == 1 ? shape_blob(3, 0.06)
                : body == 2 ? shape_soup(4, 500, 0.3)
                            : shape_hemisphere(sn_v3(0, 0, 0), 0.8, 24));
    sn_random random = sn_random_seeded(2);
    double worst = 0, sum = 0;
    for (int n = 0; n < 1000; ++n) {
      sn_vec3 point = sn_scale(1.5, shape_random_point(&random));
      double error = fabs(sn_bvh_winding(&p.bvh, point) - winding_of_all(&p, point));
      worst = fmax(worst, error);
      sum += error;
    }
    assert_true(worst < 0.1 && sum / 1000 < 0.03);
    unprepare(&p);
  }
}

// Right at the surface the inside test, which asks for 0.5, must not falter.
static void winding_changes_by_one_across_the_surface(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_blob(5, 0.05));
  sn_random random = sn_random_seeded(3);
  for (uint32_t t = 0; t < p.surface.triangle_count; t += 7) {
    sn_vec3 corner[3];
    prepared_corners(&p, t, corner);
    sn_vec3 cross = sn_cross(sn_sub(corner[1], corner[0]), sn_sub(corner[2], corner[0]));
    sn_vec3 point = point_on_triangle(&random, corner);
    sn_vec3 step = sn_scale(1e-7 / sn_length(cross), cross);
    assert_true(sn_bvh_winding(&p.bvh, sn_add(point, step)) < 0.2);
    assert_true(sn_bvh_winding(&p.bvh, sn_sub(point, step)) > 0.8);
  }
  unprepare(&p);
}

static double distance_to_all(const prepared* p, sn_vec3 point) {
  double best = INFINITY;
  for (uint32_t t = 0; t < p->surface.triangle_count; ++t) {
    sn_vec3 corner[3];
    prepared_corners(p, t, corner);
    best = fmin(best, sn_distance(sn_triangle_nearest(corner, point), point));
  }
  return best;
}

static void distance_is_the_least_over_all_triangles(void** unused) {
  (void)unused;
  for (int body = 0; body < 4; ++body) {
    prepared p;
    prepare(&p, body == 0   ? shape_torus(1, 0.3, 16)
                : body == 1 ? shape_blob(7, 0.1)
                : body == 2 ? shape_soup(8, 300, 0.3)
                            : shape_unit_cube());
    sn_random random = sn_random_seeded(4);
    for (int n = 0; n < 1000; ++n) {
      sn_vec3 point = sn_scale(n % 2 ? 1.5 : 20, shape_random_point(&random));
      double expected = distance_to_all(&p, point);
      assert_true(sn_bvh_distance(&p.bvh, point, INFINITY) == expected);
      assert_true(sn_bvh_distance(&p.bvh, point, 1.01 * expected) == expected);
      // Beyond the limit nothing is looked for.
      double limit = sn_random_unit(&random) * expected;
      assert_true(sn_bvh_distance(&p.bvh, point, limit) == limit);
    }
    unprepare(&p);
  }
}

static void distance_to_a_cube_is_known(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_unit_cube());
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(0.5, 0.5, 0.5), INFINITY) == 0.5);
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(0.25, 0.5, 0.5), INFINITY) == 0.25);
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(3, 0.5, 0.5), INFINITY) == 2);
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(4, 5, 0.5), INFINITY) == 5);
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(1, 1, 1), INFINITY) == 0);
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(0.5, 0, 0.125), INFINITY) == 0);
  unprepare(&p);
}

// Nearest means: in the triangle, and the way there makes no acute angle with any way onwards.
static void nearest_point_of_a_triangle_is_nearest(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int n = 0; n < 100000; ++n) {
    sn_vec3 corner[3], point = sn_scale(2, shape_random_point(&random));
    for (int i = 0; i < 3; ++i) corner[i] = shape_random_point(&random);
    if (n % 5 == 0) corner[2] = sn_madd(corner[0], 1e-4, sn_sub(corner[2], corner[0]));
    if (n % 7 == 0) point = point_on_triangle(&random, corner);
    sn_vec3 nearest = sn_triangle_nearest(corner, point), way = sn_sub(point, nearest);
    for (int i = 0; i < 3; ++i) assert_true(sn_dot(way, sn_sub(corner[i], nearest)) < 1e-9);
    // In the triangle: the three parts around the point have no more area than the whole.
    double parts = 0;
    for (int i = 0; i < 3; ++i) {
      sn_vec3 a = sn_sub(corner[i], nearest), b = sn_sub(corner[(i + 1) % 3], nearest);
      parts += sn_length(sn_cross(a, b));
    }
    sn_vec3 ab = sn_sub(corner[1], corner[0]), ac = sn_sub(corner[2], corner[0]);
    assert_true(parts <= sn_length(sn_cross(ab, ac)) + 1e-12);
    if (n % 7 == 0) assert_true(sn_length(way) < 1e-9);
  }
}

static void a_triangle_is_seen_under_its_solid_angle(void** unused) {
  (void)unused;
  // An octant of the view: one eighth, positive from the back.
  sn_vec3 corner[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
          turned[3] = {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}};
  assert_true(fabs(sn_triangle_winding(corner, sn_v3(0, 0, 0)) - 0.125) < 1e-15);
  assert_true(fabs(sn_triangle_winding(turned, sn_v3(0, 0, 0)) + 0.125) < 1e-15);
  // Very close to its inside a triangle fills half of the view.
  assert_true(fabs(sn_triangle_winding(corner, sn_v3(0.333, 0.333, 0.333)) - 0.5) < 0.01);
  assert_true(fabs(sn_triangle_winding(corner, sn_v3(0.334, 0.334, 0.334)) + 0.5) < 0.01);
  // Edge-on it fills none.
  assert_true(sn_triangle_winding(corner, sn_v3(2, -1, 0)) == 0);
  assert_true(sn_triangle_winding(corner, corner[1]) == 0);
}

static void a_surface_without_triangles_is_nowhere(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_one_triangle(sn_v3(0, 0, 0), sn_v3(1, 0, 0), sn_v3(2, 0, 0)));
  assert_int_equal(p.surface.triangle_count, 0);
  assert_true(sn_bvh_winding(&p.bvh, sn_v3(0, 0, 0)) == 0);
  assert_true(isinf(sn_bvh_distance(&p.bvh, sn_v3(0, 0, 0), INFINITY)));
  assert_true(sn_bvh_distance(&p.bvh, sn_v3(0, 0, 0), 3) == 3);
  unprepare(&p);
}

static sn_status build_all(sn_error* err) {
  sn_arena *arena = NULL, *scratch = NULL;
  sn_mesh mesh = {0};
  sn_surface surface;
  sn_bvh bvh;
  sn_moving_bvh moving;
  sn_round_cone ball = {{0, 0, 0}, {0, 0, 0}, 1, 1};
  sn_status status = sn_mesh_from_round_cones(&ball, 1, 0, 0.1, &mesh, err);
  if (status == SN_OK) status = sn_arena_create(&arena, err);
  if (status == SN_OK) status = sn_arena_create(&scratch, err);
  if (status == SN_OK) status = sn_surface_prepare(&mesh, arena, scratch, &surface, err);
  if (status == SN_OK) status = sn_bvh_build(&surface, NULL, arena, scratch, &bvh, err);
  if (status == SN_OK) status = sn_moving_bvh_create(&bvh, arena, &moving, err);
  sn_arena_destroy(scratch);
  sn_arena_destroy(arena);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(build_all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_triangle_is_in_one_leaf_and_within_its_boxes),
      cmocka_unit_test(winding_of_a_closed_sphere_is_one_inside_and_zero_outside),
      cmocka_unit_test(winding_of_an_open_hemisphere_is_the_share_of_the_view),
      cmocka_unit_test(winding_stays_close_to_the_sum_over_all_triangles),
      cmocka_unit_test(winding_changes_by_one_across_the_surface),
      cmocka_unit_test(distance_is_the_least_over_all_triangles),
      cmocka_unit_test(distance_to_a_cube_is_known),
      cmocka_unit_test(nearest_point_of_a_triangle_is_nearest),
      cmocka_unit_test(a_triangle_is_seen_under_its_solid_angle),
      cmocka_unit_test(a_surface_without_triangles_is_nowhere),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
