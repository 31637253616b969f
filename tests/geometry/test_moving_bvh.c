#include "geometry/moving_bvh.h"

#include "geometry/prepared.h"
#include "io/scratch.h"

// A surface that has moved.
typedef struct moved {
  prepared rest;
  sn_moving_bvh bvh;
  double* positions;
} moved;

// Bends, twists and swells; neighbours stay neighbours.
static sn_vec3 deform(sn_vec3 p) {
  double angle = 0.8 * p.z, c = sn_cos(angle), s = sn_sin(angle), swell = 1 + 0.3 * p.x * p.y;
  return sn_v3(swell * (c * p.x - s * p.y) + 0.2 * p.z * p.z, swell * (s * p.x + c * p.y) - 0.4,
               1.3 * p.z + 0.1 * p.x * p.x);
}

static void make_moved(moved* m, sn_mesh mesh) {
  sn_error err = {0};
  prepare(&m->rest, mesh);
  if (sn_moving_bvh_create(&m->rest.bvh, m->rest.arena, &m->bvh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  m->positions = malloc(3 * (size_t)m->rest.mesh.vertex_count * sizeof(double));
  assert_non_null(m->positions);
  for (uint32_t v = 0; v < m->rest.mesh.vertex_count; ++v) {
    const double* at = m->rest.mesh.positions + 3 * (size_t)v;
    sn_store3(m->positions + 3 * (size_t)v, deform(sn_load3(at)));
  }
  sn_moving_bvh_update(&m->bvh, NULL, m->positions);
}

static void drop_moved(moved* m) {
  free(m->positions);
  unprepare(&m->rest);
}

static uint32_t count_of(const moved* m) { return m->rest.surface.triangle_count; }

static bool same_box(sn_box a, sn_box b) { return memcmp(&a, &b, sizeof a) == 0; }

static void boxes_follow_the_surface_tightly(void** unused) {
  (void)unused;
  moved m;
  make_moved(&m, shape_torus(1, 0.3, 20));
  for (uint32_t n = 0; n < m.bvh.shape->node_count; ++n) {
    const sn_bvh_node* node = &m.bvh.shape->nodes[n];
    sn_box expected = sn_box_empty();
    for (uint32_t k = node->begin; k < node->end; ++k) {
      sn_vec3 corner[3];
      sn_moving_bvh_corners(&m.bvh, m.bvh.shape->order[k], corner);
      for (int i = 0; i < 3; ++i) expected = sn_box_grow(expected, corner[i]);
    }
    assert_true(same_box(expected, m.bvh.boxes[n]));
  }
  assert_true(same_box(sn_moving_bvh_box(&m.bvh), m.bvh.boxes[0]));
  // Back at rest they are as at first.
  sn_moving_bvh_update(&m.bvh, NULL, m.rest.mesh.positions);
  for (uint32_t n = 0; n < m.bvh.shape->node_count; ++n) {
    assert_true(same_box(m.bvh.boxes[n], m.bvh.shape->nodes[n].box));
  }
  drop_moved(&m);
}

static void boxes_are_the_same_on_any_number_of_threads(void** unused) {
  (void)unused;
  moved m;
  make_moved(&m, shape_sphere(sn_v3(0, 0, 0), 1, 60));
  size_t bytes = m.bvh.shape->node_count * sizeof(sn_box);
  sn_box* expected = malloc(bytes);
  assert_non_null(expected);
  memcpy(expected, m.bvh.boxes, bytes);
  for (int threads = 1; threads <= 4; ++threads) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(threads, &pool, NULL), SN_OK);
    memset(m.bvh.boxes, 0, bytes);
    sn_moving_bvh_update(&m.bvh, pool, m.positions);
    assert_memory_equal(m.bvh.boxes, expected, bytes);
    sn_pool_destroy(pool);
  }
  free(expected);
  drop_moved(&m);
}

// ---- Overlaps -------------------------------------------------------------------------------------

typedef struct visits {
  uint32_t triangle[4096];
  uint32_t count;
} visits;

static void note(void* ctx, uint32_t triangle) {
  visits* v = ctx;
  assert_true(v->count < 4096);
  v->triangle[v->count++] = triangle;
}

static void overlaps_are_those_of_all_triangles_in_order(void** unused) {
  (void)unused;
  moved m;
  make_moved(&m, shape_torus(1, 0.3, 16));
  sn_random random = sn_random_seeded(1);
  for (int n = 0; n < 1000; ++n) {
    sn_vec3 middle = sn_scale(1.5, shape_random_point(&random));
    sn_vec3 half = sn_scale(n % 3 ? 0.2 : 1, sn_v3(sn_random_unit(&random), sn_random_unit(&random),
                                                   sn_random_unit(&random)));
    sn_box box = {sn_sub(middle, half), sn_add(middle, half)};
    // Touching counts: at times the box is one vertex.
    if (n % 5 == 0) {
      box.lo = sn_load3(m.positions + 3 * (sn_random_bits(&random) % m.rest.mesh.vertex_count));
      box.hi = box.lo;
    }
    visits v = {.count = 0};
    sn_moving_bvh_overlaps(&m.bvh, box, note, &v);
    if (n % 5 == 0) assert_true(v.count >= 6);
    uint32_t next = 0;
    for (uint32_t k = 0; k < count_of(&m); ++k) {
      uint32_t t = m.bvh.shape->order[k];
      sn_vec3 c[3];
      sn_moving_bvh_corners(&m.bvh, t, c);
      sn_vec3 lo = sn_min3(c[0], sn_min3(c[1], c[2])), hi = sn_max3(c[0], sn_max3(c[1], c[2]));
      bool apart = lo.x > box.hi.x || hi.x < box.lo.x || lo.y > box.hi.y || hi.y < box.lo.y ||
                   lo.z > box.hi.z || hi.z < box.lo.z;
      if (apart) continue;
      assert_true(next < v.count && v.triangle[next] == t);
      ++next;
    }
    assert_int_equal(next, v.count);
  }
  drop_moved(&m);
}

// ---- Nearest --------------------------------------------------------------------------------------

static bool is_odd(void* ctx, uint32_t triangle) {
  (void)ctx;
  return triangle % 2 == 1;
}

static bool nearest_of_all(const sn_moving_bvh* bvh, sn_vec3 p, double limit,
                           sn_triangle_accept accept, uint32_t* triangle, sn_vec3* place) {
  double best = limit * limit;
  bool found = false;
  for (uint32_t t = 0; t < bvh->shape->surface->triangle_count; ++t) {
    sn_vec3 corner[3];
    sn_moving_bvh_corners(bvh, t, corner);
    sn_vec3 nearest = sn_triangle_nearest(corner, p), away = sn_sub(nearest, p);
    double squared = sn_dot(away, away);
    if (squared > best || (squared == best && found) || (accept && !accept(NULL, t))) continue;
    best = squared;
    *triangle = t;
    *place = nearest;
    found = true;
  }
  return found;
}

static void assert_nearest(const sn_moving_bvh* bvh, sn_vec3 p, double limit,
                           sn_triangle_accept accept) {
  uint32_t expected, triangle;
  sn_vec3 there, place;
  bool found = nearest_of_all(bvh, p, limit, accept, &expected, &there);
  assert_true(sn_moving_bvh_nearest(bvh, p, limit, accept, NULL, &triangle, &place) == found);
  if (!found) return;
  assert_int_equal(triangle, expected);
  assert_memory_equal(&place, &there, sizeof place);
}

static void nearest_is_that_of_all_triangles_and_ties_go_to_the_lower_index(void** unused) {
  (void)unused;
  moved m;
  make_moved(&m, shape_sphere(sn_v3(0, 0, 0), 1, 16));
  sn_random random = sn_random_seeded(2);
  for (int n = 0; n < 10000; ++n) {
    sn_vec3 p = sn_scale(n % 2 ? 1.5 : 20, shape_random_point(&random));
    // At a vertex, and above one, several triangles are equally near.
    size_t vertex = sn_random_bits(&random) % m.rest.mesh.vertex_count;
    if (n % 3 == 0) p = sn_load3(m.positions + 3 * vertex);
    if (n % 9 == 0) p = sn_scale(1.5, p);
    assert_nearest(&m.bvh, p, n % 4 ? INFINITY : sn_random_unit(&random), n % 5 ? NULL : is_odd);
  }
  drop_moved(&m);
}

static void nearest_at_rest_is_the_same_by_either_name(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_unit_cube());
  sn_moving_bvh rest = sn_moving_bvh_at_rest(&p.bvh);
  // The middle is equally far from all sides.
  sn_vec3 middle = sn_v3(0.5, 0.5, 0.5), place;
  uint32_t triangle;
  assert_nearest(&rest, middle, INFINITY, NULL);
  assert_true(sn_bvh_nearest(&p.bvh, middle, INFINITY, &triangle, &place));
  assert_int_equal(triangle, 0);
  assert_true(sn_bvh_nearest(&p.bvh, middle, 0.5, &triangle, &place));
  assert_false(sn_bvh_nearest(&p.bvh, middle, 0.4999, &triangle, &place));
  unprepare(&p);
}

// ---- Rays -----------------------------------------------------------------------------------------

static bool ray_of_all(const sn_moving_bvh* bvh, sn_vec3 from, sn_vec3 direction, double length,
                       sn_triangle_accept accept, sn_ray_hit* hit) {
  sn_ray ray;
  if (!sn_ray_set(&ray, from, direction, length, sn_moving_bvh_box(bvh))) return false;
  bool found = false;
  for (uint32_t t = 0; t < bvh->shape->surface->triangle_count; ++t) {
    sn_ray_hit next = {.triangle = t};
    sn_vec3 corner[3];
    sn_moving_bvh_corners(bvh, t, corner);
    if (!sn_ray_triangle(&ray, corner, &next) || (accept && !accept(NULL, t))) continue;
    if (found && next.t >= hit->t) continue;
    *hit = next;
    found = true;
  }
  return found;
}

// Where the ray meets the plane of the triangle, by another way (Moeller and Trumbore 1997).
static bool other_ray_triangle(sn_vec3 from, sn_vec3 way, const sn_vec3 c[3], double* t) {
  sn_vec3 ab = sn_sub(c[1], c[0]), ac = sn_sub(c[2], c[0]), away = sn_sub(from, c[0]);
  sn_vec3 p = sn_cross(way, ac), q = sn_cross(away, ab);
  double det = sn_dot(ab, p), u = sn_dot(away, p) / det, v = sn_dot(way, q) / det;
  *t = sn_dot(ac, q) / det;
  return u >= 0 && v >= 0 && u + v <= 1 && *t >= 0;
}

static bool other_ray(const sn_moving_bvh* bvh, sn_vec3 from, sn_vec3 direction, double* nearest) {
  sn_vec3 way = sn_scale(1 / sn_length(direction), direction);
  *nearest = INFINITY;
  for (uint32_t k = 0; k < bvh->shape->surface->triangle_count; ++k) {
    sn_vec3 corner[3];
    double t;
    sn_moving_bvh_corners(bvh, k, corner);
    if (other_ray_triangle(from, way, corner, &t)) *nearest = fmin(*nearest, t);
  }
  return *nearest < INFINITY;
}

static void assert_consistent_hit(const sn_moving_bvh* bvh, sn_vec3 from, sn_vec3 direction,
                                  const sn_ray_hit* hit) {
  sn_vec3 c[3], way = sn_scale(1 / sn_length(direction), direction);
  sn_moving_bvh_corners(bvh, hit->triangle, c);
  assert_true(hit->u >= 0 && hit->v >= 0 && hit->u + hit->v <= 1 + 1e-15);
  sn_vec3 place = sn_add(sn_scale(1 - hit->u - hit->v, c[0]),
                         sn_add(sn_scale(hit->u, c[1]), sn_scale(hit->v, c[2])));
  assert_true(sn_distance(place, sn_madd(from, hit->t, way)) < 1e-12);
  sn_vec3 normal = sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0]));
  assert_true(hit->from_behind == (sn_dot(way, normal) > 0));
}

// The same bits as by going through all triangles, whatever the tree leaves out.
static void assert_same_as_all(const sn_moving_bvh* bvh, sn_vec3 from, sn_vec3 direction,
                               double length, sn_triangle_accept accept) {
  sn_ray_hit expected, hit;
  bool found = ray_of_all(bvh, from, direction, length, accept, &expected);
  assert_true(sn_moving_bvh_ray(bvh, from, direction, length, accept, NULL, &hit) == found);
  if (!found) return;
  assert_int_equal(hit.triangle, expected.triangle);
  assert_true(hit.t == expected.t && hit.u == expected.u && hit.v == expected.v);
  assert_true(hit.from_behind == expected.from_behind);
  assert_consistent_hit(bvh, from, direction, &hit);
}

static void rays_meet_what_all_triangles_say(void** unused) {
  (void)unused;
  for (int body = 0; body < 3; ++body) {
    moved m;
    make_moved(&m, body == 0   ? shape_sphere(sn_v3(0, 0, 0), 1, 16)
                   : body == 1 ? shape_torus(1, 0.3, 12)
                               : shape_soup(3, 300, 0.3));
    sn_random random = sn_random_seeded(4);
    int hits = 0;
    for (int n = 0; n < 10000; ++n) {
      sn_vec3 from = sn_scale(2, shape_random_point(&random));
      sn_vec3 direction = shape_random_point(&random);
      if (n % 2) direction = sn_sub(sn_scale(0.8, shape_random_point(&random)), from);
      // Along an axis, and along a plane of two
      if (n % 7 == 0) direction = sn_v3(0, n % 2 ? 1 : -1, 0);
      if (n % 7 == 1) direction.x = 0;
      double length = n % 3 ? INFINITY : sn_random_unit(&random) * 2;
      assert_same_as_all(&m.bvh, from, direction, length, n % 5 ? NULL : is_odd);
      double expected;
      sn_ray_hit hit;
      bool found = other_ray(&m.bvh, from, direction, &expected);
      assert_true(sn_moving_bvh_ray(&m.bvh, from, direction, INFINITY, NULL, NULL, &hit) == found);
      if (found) assert_true(fabs(hit.t - expected) < 1e-9);
      hits += found;
    }
    assert_true(hits > 2000 && hits < 9500);
    drop_moved(&m);
  }
}

// From within, every ray meets the surface, aimed at vertices, edges or anywhere; from outside every
// ray aimed at a vertex does.
static void no_ray_slips_through_edges_or_vertices(void** unused) {
  (void)unused;
  moved m;
  make_moved(&m, shape_sphere(sn_v3(0, 0, 0), 1, 24));
  sn_random random = sn_random_seeded(5);
  for (uint32_t t = 0; t < count_of(&m); ++t) {
    sn_vec3 c[3], inner = deform(sn_scale(0.3, shape_random_point(&random)));
    sn_vec3 outer = sn_scale(8, shape_random_point(&random));
    sn_moving_bvh_corners(&m.bvh, t, c);
    for (int i = 0; i < 3; ++i) {
      double along = i == 0 ? 0.5 : sn_random_unit(&random);
      sn_vec3 edge = sn_madd(c[i], along, sn_sub(c[(i + 1) % 3], c[i]));
      sn_vec3 targets[2] = {c[i], edge};
      for (int k = 0; k < 2; ++k) {
        sn_ray_hit hit;
        sn_vec3 way = sn_sub(targets[k], inner);
        assert_true(sn_moving_bvh_ray(&m.bvh, inner, way, INFINITY, NULL, NULL, &hit));
        assert_true(hit.from_behind);
        assert_same_as_all(&m.bvh, inner, way, INFINITY, NULL);
        // A vertex on the outline, seen from outside, may be missed by rounding; one that faces the
        // ray may not.
        way = sn_sub(targets[k], outer);
        sn_vec3 normal = sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0]));
        bool faces = sn_dot(normal, way) < -0.5 * sn_length(normal) * sn_length(way);
        bool found = sn_moving_bvh_ray(&m.bvh, outer, way, INFINITY, NULL, NULL, &hit);
        if (faces) assert_true(found && hit.t <= sn_length(way) + 1e-12);
        assert_same_as_all(&m.bvh, outer, way, INFINITY, NULL);
      }
    }
  }
  drop_moved(&m);
}

// On whole numbers rays hit edges and corners exactly: along the grid lines of a sheet, and up its
// columns.
static void rays_through_the_lines_of_a_grid_are_caught(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_sheet(sn_v3(-4, -4, 0), sn_v3(8, 0, 0), sn_v3(0, 8, 0), 8));
  sn_moving_bvh rest = sn_moving_bvh_at_rest(&p.bvh);
  for (int i = -8; i <= 8; ++i) {
    for (int j = -8; j <= 8; ++j) {
      sn_vec3 at = sn_v3(0.5 * i, 0.5 * j, 0), from = sn_add(at, sn_v3(0, 0, 3));
      sn_ray_hit hit;
      assert_true(sn_moving_bvh_ray(&rest, from, sn_v3(0, 0, -0.1), 3, NULL, NULL, &hit));
      assert_true(hit.t == 3 && !hit.from_behind);
      assert_same_as_all(&rest, from, sn_v3(0, 0, -1), INFINITY, NULL);
      from = sn_add(at, sn_v3(-1, 2, -3));
      assert_true(sn_moving_bvh_ray(&rest, from, sn_v3(1, -2, 3), INFINITY, NULL, NULL, &hit));
      assert_true(fabs(hit.t - sqrt(14)) < 1e-14 && hit.from_behind);
      assert_same_as_all(&rest, from, sn_v3(1, -2, 3), INFINITY, NULL);
    }
  }
  sn_ray_hit hit;
  assert_false(sn_moving_bvh_ray(&rest, sn_v3(0, 0, 3), sn_v3(0, 0, -1), 2.999, NULL, NULL, &hit));
  assert_false(
      sn_moving_bvh_ray(&rest, sn_v3(0, 0, 3), sn_v3(0, 0, 1), INFINITY, NULL, NULL, &hit));
  assert_false(
      sn_moving_bvh_ray(&rest, sn_v3(-9, 0, 0), sn_v3(1, 0, 0), INFINITY, NULL, NULL, &hit));
  assert_false(
      sn_moving_bvh_ray(&rest, sn_v3(0, 0, 3), sn_v3(0, 0, 0), INFINITY, NULL, NULL, &hit));
  unprepare(&p);
}

static void a_surface_without_triangles_is_nowhere(void** unused) {
  (void)unused;
  moved m;
  make_moved(&m, shape_one_triangle(sn_v3(0, 0, 0), sn_v3(1, 0, 0), sn_v3(2, 0, 0)));
  visits v = {.count = 0};
  sn_box all = {sn_v3(-9, -9, -9), sn_v3(9, 9, 9)};
  sn_moving_bvh_overlaps(&m.bvh, all, note, &v);
  assert_int_equal(v.count, 0);
  assert_nearest(&m.bvh, sn_v3(0, 0, 0), INFINITY, NULL);
  assert_same_as_all(&m.bvh, sn_v3(0, 0, 0), sn_v3(0, 0, 1), INFINITY, NULL);
  drop_moved(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_follow_the_surface_tightly),
      cmocka_unit_test(boxes_are_the_same_on_any_number_of_threads),
      cmocka_unit_test(overlaps_are_those_of_all_triangles_in_order),
      cmocka_unit_test(nearest_is_that_of_all_triangles_and_ties_go_to_the_lower_index),
      cmocka_unit_test(nearest_at_rest_is_the_same_by_either_name),
      cmocka_unit_test(rays_meet_what_all_triangles_say),
      cmocka_unit_test(no_ray_slips_through_edges_or_vertices),
      cmocka_unit_test(rays_through_the_lines_of_a_grid_are_caught),
      cmocka_unit_test(a_surface_without_triangles_is_nowhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
