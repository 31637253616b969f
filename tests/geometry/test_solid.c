#include "geometry/solid.h"

#include "geometry/prepared.h"

static sn_solid plane(void) {
  return (sn_solid){.kind = SN_SOLID_PLANE,
                    .position = sn_v3(0.1, -0.2, 0.3),
                    .normal = sn_v3(2.0 / 7, 3.0 / 7, 6.0 / 7)};
}

static sn_solid sphere(void) {
  return (sn_solid){.kind = SN_SOLID_SPHERE, .position = sn_v3(0.1, 0.2, -0.1), .radius = 0.7};
}

static sn_solid capsule(void) {
  return (sn_solid){.kind = SN_SOLID_CAPSULE,
                    .from = sn_v3(-0.5, -0.3, 0.1),
                    .to = sn_v3(0.6, 0.4, -0.2),
                    .radius = 0.35};
}

static sn_solid box(void) {
  return (sn_solid){
      .kind = SN_SOLID_BOX, .position = sn_v3(0.1, 0, -0.2), .half = sn_v3(0.7, 0.4, 0.5)};
}

static sn_solid solid_of(const prepared* p) {
  return (sn_solid){.kind = SN_SOLID_MESH, .bvh = &p->bvh};
}

// Closed, with the shape's faces on exact numbers.
static void prepare_box(prepared* p, const sn_solid* solid) {
  prepare(p, shape_box(sn_sub(solid->position, solid->half), sn_add(solid->position, solid->half)));
}

// Two unit cubes that share the edge x = y = 0: four faces meet there. Welded, so that the mesh knows.
static sn_mesh two_cubes(void) {
  return shape_join(shape_box(sn_v3(0, 0, 0), sn_v3(1, 1, 1)),
                    shape_box(sn_v3(-1, -1, 0), sn_v3(0, 0, 1)));
}

static double distance_of(const sn_solid* solid, sn_vec3 p) {
  sn_solid_hit hit;
  assert_true(sn_solid_nearest(solid, p, INFINITY, &hit));
  return hit.distance;
}

// What each closed form should be, written another way.
static double expected_distance(const sn_solid* solid, sn_vec3 p) {
  sn_vec3 away = sn_sub(p, solid->position);
  if (solid->kind == SN_SOLID_PLANE) return sn_dot(away, solid->normal);
  if (solid->kind == SN_SOLID_SPHERE) return sn_length(away) - solid->radius;
  if (solid->kind == SN_SOLID_BOX) {
    sn_vec3 q = sn_sub(sn_v3(fabs(away.x), fabs(away.y), fabs(away.z)), solid->half);
    return sn_length(sn_max3(q, sn_v3(0, 0, 0))) + fmin(0, fmax(q.x, fmax(q.y, q.z)));
  }
  // Least distance over the axis by ternary search: it is convex along it.
  double lo = 0, hi = 1;
  sn_vec3 axis = sn_sub(solid->to, solid->from);
  for (int i = 0; i < 200; ++i) {
    double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;
    bool left = sn_distance(p, sn_madd(solid->from, a, axis)) <
                sn_distance(p, sn_madd(solid->from, b, axis));
    *(left ? &hi : &lo) = left ? b : a;
  }
  return sn_distance(p, sn_madd(solid->from, lo, axis)) - solid->radius;
}

static void assert_unit(sn_vec3 a) { assert_true(fabs(sn_length(a) - 1) < 1e-14); }

// True everywhere: the place is on the surface and as far away as said, along the normal.
static void assert_sound(const sn_solid* solid, sn_vec3 p, const sn_solid_hit* hit) {
  assert_unit(hit->normal);
  assert_true(fabs(sn_distance(p, hit->place) - fabs(hit->distance)) < 1e-14 * 20);
  sn_vec3 along = sn_madd(hit->place, hit->distance, hit->normal);
  assert_true(sn_distance(along, p) < 1e-9);
  assert_true(fabs(distance_of(solid, hit->place)) < 1e-13);
}

static double slope(const sn_solid* solid, sn_vec3 p, sn_vec3 way) {
  double h = 1e-5;
  double after = distance_of(solid, sn_madd(p, h, way)),
         before = distance_of(solid, sn_madd(p, -h, way));
  return (after - before) / (2 * h);
}

// How far the normal is from the gradient by differences.
static double gradient_error(const sn_solid* solid, sn_vec3 p, sn_vec3 normal) {
  sn_vec3 gradient = {slope(solid, p, sn_v3(1, 0, 0)), slope(solid, p, sn_v3(0, 1, 0)),
                      slope(solid, p, sn_v3(0, 0, 1))};
  return sn_distance(gradient, normal);
}

static void limits_hold(const sn_solid* solid, sn_vec3 p, double distance) {
  sn_solid_hit hit;
  assert_true(sn_solid_nearest(solid, p, fabs(distance) * 1.0001, &hit));
  assert_true(hit.distance == distance);
  assert_true(sn_solid_nearest(solid, p, fabs(distance) * 0.9999, &hit) == (distance < 0));
  if (distance < 0) assert_true(hit.distance == distance);
}

static void distances_are_those_of_the_closed_forms(void** unused) {
  (void)unused;
  sn_solid solids[4] = {plane(), sphere(), capsule(), box()};
  for (int s = 0; s < 4; ++s) {
    sn_random random = sn_random_seeded(1);
    int inside = 0, smooth = 0;
    for (int n = 0; n < 10000; ++n) {
      sn_vec3 p = sn_scale(n % 4 ? 1.2 : 10, shape_random_point(&random));
      sn_solid_hit hit;
      assert_true(sn_solid_nearest(&solids[s], p, INFINITY, &hit));
      assert_true(fabs(hit.distance - expected_distance(&solids[s], p)) < 1e-14 * 20);
      assert_sound(&solids[s], p, &hit);
      limits_hold(&solids[s], p, hit.distance);
      smooth += gradient_error(&solids[s], p, hit.normal) < 1e-6;
      inside += hit.distance < 0;
    }
    // All but where the differences reach over an edge of the gradient, or close to a centre
    assert_true(smooth > 9980 && inside > 300);
  }
}

// Inside, a box mesh may choose another side where two are equally near; the distance is the same.
static void a_box_of_triangles_is_a_box(void** unused) {
  (void)unused;
  sn_solid exact = box();
  prepared p;
  prepare_box(&p, &exact);
  sn_solid mesh = solid_of(&p);
  sn_random random = sn_random_seeded(2);
  for (int n = 0; n < 10000; ++n) {
    sn_vec3 point = sn_scale(1.5, shape_random_point(&random));
    sn_solid_hit hit, expected;
    assert_true(sn_solid_nearest(&mesh, point, INFINITY, &hit));
    assert_true(sn_solid_nearest(&exact, point, INFINITY, &expected));
    assert_true(fabs(hit.distance - expected.distance) < 1e-14);
    assert_true(sn_distance(hit.normal, expected.normal) < 1e-9);
    assert_true(sn_distance(hit.place, expected.place) < 1e-14);
    limits_hold(&mesh, point, hit.distance);
  }
  sn_box own = sn_solid_box(&mesh), other = sn_solid_box(&exact);
  assert_memory_equal(&own, &other, sizeof own);
  unprepare(&p);
}

static void normals_of_a_mesh_are_gradients_of_its_distance(void** unused) {
  (void)unused;
  for (int body = 0; body < 3; ++body) {
    prepared p;
    prepare(&p, body == 0   ? shape_blob(5, 0.1)
                : body == 1 ? shape_torus(0.8, 0.3, 12)
                            : shape_hemisphere(sn_v3(0, 0, 0), 1, 12));
    sn_solid mesh = solid_of(&p);
    sn_random random = sn_random_seeded(3);
    int smooth = 0, count = 3000;
    for (int n = 0; n < count; ++n) {
      sn_vec3 point = sn_scale(1.2, shape_random_point(&random));
      sn_solid_hit hit;
      assert_true(sn_solid_nearest(&mesh, point, INFINITY, &hit));
      assert_sound(&mesh, point, &hit);
      assert_true(fabs(hit.distance) == sn_bvh_distance(&p.bvh, point, INFINITY));
      smooth += gradient_error(&mesh, point, hit.normal) < 1e-5;
    }
    assert_true(smooth > 0.98 * count);
    unprepare(&p);
  }
}

static void a_sphere_of_triangles_is_nearly_a_sphere(void** unused) {
  (void)unused;
  sn_solid exact = sphere();
  prepared p;
  int bands = 64;
  prepare(&p, shape_sphere(exact.position, exact.radius, bands));
  sn_solid mesh = solid_of(&p);
  // Faces are this far within: the sagitta of their longest edge, which is a diagonal.
  double sagitta = exact.radius * 1.1 * (SHAPE_PI / bands) * (SHAPE_PI / bands) / 4;
  sn_random random = sn_random_seeded(4);
  double worst = 0, turned = 0;
  for (int n = 0; n < 10000; ++n) {
    sn_vec3 point = sn_add(exact.position, sn_scale(1.2, shape_random_point(&random)));
    sn_solid_hit hit, expected;
    assert_true(sn_solid_nearest(&mesh, point, INFINITY, &hit));
    assert_true(sn_solid_nearest(&exact, point, INFINITY, &expected));
    worst = fmax(worst, fabs(hit.distance - expected.distance));
    if (expected.distance > -0.3) turned = fmax(turned, sn_distance(hit.normal, expected.normal));
  }
  print_message("    distance off by %.2g of %.2g allowed, normal by %.2g\n", worst, sagitta,
                turned);
  assert_true(worst < sagitta && turned < 0.08);
  unprepare(&p);
}

// ---- On edges and corners, in the middle ----------------------------------------------------------

static void assert_normal(const sn_solid* solid, sn_vec3 p, sn_vec3 expected) {
  sn_solid_hit hit;
  assert_true(sn_solid_nearest(solid, p, INFINITY, &hit));
  expected = sn_scale(1 / sn_length(expected), expected);
  assert_true(sn_distance(hit.normal, expected) < 1e-12);
}

static void on_edges_and_corners_normals_are_averages(void** unused) {
  (void)unused;
  for (int welded = 0; welded < 2; ++welded) {
    prepared p;
    sn_mesh cube = shape_unit_cube();
    if (!welded) {
      sn_mesh loose = shape_unwelded(&cube);
      sn_mesh_destroy(&cube);
      cube = loose;
    }
    prepare(&p, cube);
    sn_solid mesh = solid_of(&p);
    // On a face, also on the diagonal of its two triangles; on edges; at corners, whichever way the
    // faces there are cut into triangles.
    assert_normal(&mesh, sn_v3(0.3, 0.4, 1), sn_v3(0, 0, 1));
    assert_normal(&mesh, sn_v3(0.5, 0.5, 1), sn_v3(0, 0, 1));
    assert_normal(&mesh, sn_v3(1, 0.3, 1), sn_v3(1, 0, 1));
    assert_normal(&mesh, sn_v3(0, 0, 0.6), sn_v3(-1, -1, 0));
    for (int c = 0; c < 8; ++c) {
      sn_vec3 corner = sn_v3(c & 1, c >> 1 & 1, c >> 2);
      assert_normal(&mesh, corner, sn_sub(corner, sn_v3(0.5, 0.5, 0.5)));
    }
    // Off the surface it is the direction from the nearest place, off a face exactly its normal.
    assert_normal(&mesh, sn_v3(1 + 0x3p-10, 0.3, 1 + 0x4p-10), sn_v3(3, 0, 4));
    assert_normal(&mesh, sn_v3(0.3, 0.3, 1 + 1e-9), sn_v3(0, 0, 1));
    assert_normal(&mesh, sn_v3(0.3, 0.3, 1 - 1e-9), sn_v3(0, 0, 1));
    unprepare(&p);
  }
}

static void assert_finite_hit(const sn_solid* solid, sn_vec3 p, double distance) {
  sn_solid_hit hit;
  assert_true(sn_solid_nearest(solid, p, 0.01, &hit));
  assert_true(fabs(hit.distance - distance) < 1e-15);
  assert_sound(solid, p, &hit);
}

static void middles_have_a_fixed_direction(void** unused) {
  (void)unused;
  sn_solid ball = sphere(), pill = capsule(), brick = box(), dot = capsule();
  assert_finite_hit(&ball, ball.position, -ball.radius);
  assert_normal(&ball, ball.position, sn_v3(1, 0, 0));
  // The shortest vector there is has a direction too.
  assert_normal(&ball, sn_add(ball.position, sn_v3(0, 0, -0.0)), sn_v3(1, 0, 0));
  ball.position = sn_v3(0, 0, 0);
  assert_normal(&ball, sn_v3(0, -5e-324, 0), sn_v3(0, -1, 0));
  sn_vec3 axis = sn_sub(pill.to, pill.from), points[3] = {pill.from, pill.to, sn_v3(0, 0, 0)};
  for (int i = 0; i < 2; ++i) {
    sn_solid_hit hit;
    assert_finite_hit(&pill, points[i], -pill.radius);
    assert_true(sn_solid_nearest(&pill, points[i], 0, &hit));
    assert_true(fabs(sn_dot(hit.normal, axis)) < 1e-15);
  }
  dot.to = dot.from;
  assert_finite_hit(&dot, dot.from, -dot.radius);
  assert_finite_hit(&brick, brick.position, -0.4);
  assert_normal(&brick, brick.position, sn_v3(0, 1, 0));
  brick.half = sn_v3(0.5, 0.5, 0.5);
  brick.position = sn_v3(0, 0, 0);
  assert_normal(&brick, brick.position, sn_v3(1, 0, 0));
  assert_normal(&brick, sn_madd(brick.position, -0.5, sn_v3(1, 1, 1)), sn_v3(-1, 0, 0));
}

// ---- Ways that enter ------------------------------------------------------------------------------

// The first share at which a march of small steps is inside, narrowed down; false if none is.
static bool march(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double* share) {
  sn_vec3 way = sn_sub(to, from);
  for (int step = 1; step <= 400; ++step) {
    double hi = step / 400.0, lo = hi - 1 / 400.0;
    if (distance_of(solid, sn_madd(from, hi, way)) >= 0) continue;
    for (int i = 0; i < 50; ++i) {
      double middle = 0.5 * (lo + hi);
      bool in = distance_of(solid, sn_madd(from, middle, way)) < 0;
      *(in ? &hi : &lo) = middle;
    }
    *share = hi;
    return true;
  }
  return false;
}

// Marching may step over a corner that the way cuts off: then the way must be hardly inside.
static bool only_brushed(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double share) {
  sn_vec3 way = sn_sub(to, from);
  for (int i = 0; i < 3; ++i) {
    if (distance_of(solid, sn_madd(from, share + (1 + i) / 400.0, way)) >= 0) return true;
  }
  return false;
}

// How many of the ways enter.
static int check_ways(const sn_solid* solid, uint64_t seed, int count) {
  sn_random random = sn_random_seeded(seed);
  int entered = 0, brushed = 0;
  for (int n = 0; n < count; ++n) {
    sn_vec3 from = sn_scale(1.5, shape_random_point(&random));
    sn_vec3 to = sn_scale(1.5, shape_random_point(&random));
    double expected;
    sn_solid_hit hit;
    bool enters = sn_solid_enter(solid, from, to, &hit);
    if (distance_of(solid, from) < 0) {
      assert_false(enters);
      continue;
    }
    bool marched = march(solid, from, to, &expected);
    if (marched) assert_true(enters);
    if (!enters) continue;
    assert_true(hit.distance >= 0 && hit.distance <= 1);
    assert_unit(hit.normal);
    assert_true(sn_dot(hit.normal, sn_sub(to, from)) < 0);
    assert_true(sn_distance(hit.place, sn_madd(from, hit.distance, sn_sub(to, from))) < 1e-13);
    assert_true(fabs(distance_of(solid, hit.place)) < 1e-13);
    if (marched && fabs(hit.distance - expected) < 1e-10) {
      entered++;
    } else {
      assert_true(only_brushed(solid, from, to, hit.distance));
      brushed++;
    }
  }
  assert_true(brushed <= count / 50);
  return entered;
}

static void ways_enter_where_marching_finds_it(void** unused) {
  (void)unused;
  sn_solid solids[4] = {plane(), sphere(), capsule(), box()};
  for (int s = 0; s < 4; ++s) assert_true(check_ways(&solids[s], 5, 2000) > 250);
  sn_solid point = capsule();
  point.to = point.from;
  assert_true(check_ways(&point, 6, 2000) > 50);
}

static void ways_enter_meshes_where_marching_finds_it(void** unused) {
  (void)unused;
  for (int body = 0; body < 3; ++body) {
    prepared p;
    prepare(&p, body == 0   ? shape_blob(5, 0.1)
                : body == 1 ? shape_torus(0.8, 0.3, 12)
                            : two_cubes());
    sn_solid mesh = solid_of(&p);
    assert_true(check_ways(&mesh, 7, 400) > 60);
    unprepare(&p);
  }
}

static void a_box_of_triangles_is_entered_as_a_box(void** unused) {
  (void)unused;
  sn_solid exact = box();
  prepared p;
  prepare_box(&p, &exact);
  sn_solid mesh = solid_of(&p);
  sn_random random = sn_random_seeded(8);
  int entered = 0;
  for (int n = 0; n < 10000; ++n) {
    sn_vec3 from = sn_scale(1.5, shape_random_point(&random));
    sn_vec3 to = sn_scale(1.5, shape_random_point(&random));
    sn_solid_hit hit, expected;
    bool enters = sn_solid_enter(&exact, from, to, &expected);
    assert_true(sn_solid_enter(&mesh, from, to, &hit) == enters);
    if (!enters) continue;
    assert_true(fabs(hit.distance - expected.distance) < 1e-14);
    assert_true(sn_distance(hit.normal, expected.normal) < 1e-14);
    entered++;
  }
  assert_true(entered > 1000);
  unprepare(&p);
}

// From every place of the surface: inward is entered at once, outward and along not at all.
static void assert_starts(const sn_solid* solid, sn_vec3 place, sn_vec3 normal) {
  sn_solid_hit hit;
  assert_true(sn_solid_enter(solid, place, sn_madd(place, -0.1, normal), &hit));
  assert_true(hit.distance < 1e-12 && sn_distance(hit.place, place) < 1e-12);
  assert_true(sn_distance(hit.normal, normal) < 1e-9);
  assert_false(sn_solid_enter(solid, place, sn_madd(place, 3, normal), &hit));
  assert_false(sn_solid_enter(solid, place, place, &hit));
}

static void a_way_that_starts_on_the_surface_enters_if_it_leads_inside(void** unused) {
  (void)unused;
  sn_solid flat = plane(), ball = sphere(), pill = capsule(), brick = box();
  flat.normal = sn_v3(0, 0, 1);
  ball.position = sn_v3(0, 0, 0);
  pill.from = sn_v3(0, 0, 0);
  pill.to = sn_v3(0, 0, 1);
  brick.position = sn_v3(0, 0, 0);
  assert_starts(&flat, sn_v3(5, 4, flat.position.z), sn_v3(0, 0, 1));
  assert_starts(&ball, sn_v3(0, -ball.radius, 0), sn_v3(0, -1, 0));
  assert_starts(&pill, sn_v3(pill.radius, 0, 0.3), sn_v3(1, 0, 0));
  assert_starts(&brick, sn_v3(0.7, 0.1, 0.1), sn_v3(1, 0, 0));
  prepared p;
  prepare_box(&p, &brick);
  sn_solid mesh = solid_of(&p);
  assert_starts(&mesh, sn_v3(0.7, 0.1, 0.1), sn_v3(1, 0, 0));
  assert_starts(&mesh, sn_v3(-0.7, 0, 0), sn_v3(-1, 0, 0));
  sn_vec3 edge = sn_v3(1 / sqrt(2), 1 / sqrt(2), 0);
  assert_starts(&mesh, sn_v3(0.7, 0.4, 0.1), edge);
  sn_solid_hit hit;
  sn_solid* both[2] = {&brick, &mesh};
  for (int i = 0; i < 2; ++i) {
    // Over the edge, past one face but outside of the other; along a face.
    assert_false(sn_solid_enter(both[i], sn_v3(0.7, 0.4, 0.1), sn_v3(0.8, -0.4, 0.1), &hit));
    assert_false(sn_solid_enter(both[i], sn_v3(0.7, 0.1, 0.1), sn_v3(0.7, -0.1, 0.2), &hit));
  }
  // Off one part and into another: the ring of a torus from its inner side.
  unprepare(&p);
  prepare(&p, shape_torus(1, 0.25, 16));
  mesh = solid_of(&p);
  assert_true(sn_solid_enter(&mesh, sn_v3(0.75, 0, 0), sn_v3(-2, 0, 0), &hit));
  assert_true(fabs(hit.place.x + 0.75) < 1e-12 && hit.normal.x > 0.9);
  unprepare(&p);
}

// ---- Meshes that enclose nothing, or not cleanly --------------------------------------------------

static void a_sheet_stops_ways_from_either_side(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_sheet(sn_v3(-1, -1, 0), sn_v3(2, 0, 0), sn_v3(0, 2, 0), 8));
  sn_solid sheet = solid_of(&p);
  sn_random random = sn_random_seeded(9);
  int crossings = 0;
  for (int n = 0; n < 10000; ++n) {
    sn_vec3 from = sn_scale(1.5, shape_random_point(&random));
    sn_vec3 to = sn_scale(1.5, shape_random_point(&random));
    double share = from.z / (from.z - to.z);
    sn_vec3 at = sn_madd(from, share, sn_sub(to, from));
    bool crosses = share >= 0 && share <= 1 && fabs(at.x) <= 1 && fabs(at.y) <= 1;
    sn_solid_hit hit;
    assert_true(sn_solid_enter(&sheet, from, to, &hit) == crosses);
    if (crosses) {
      assert_true(fabs(hit.distance - share) < 1e-13 && sn_distance(hit.place, at) < 1e-13);
      assert_true(sn_distance(hit.normal, sn_v3(0, 0, from.z > 0 ? 1 : -1)) < 1e-14);
    }
    crossings += crosses;
    // Nowhere inside: its normal faces the point from either side.
    assert_true(sn_solid_nearest(&sheet, from, INFINITY, &hit));
    assert_true(hit.distance >= 0);
    assert_sound(&sheet, from, &hit);
    assert_true(hit.normal.z * from.z >= 0);
  }
  assert_true(crossings > 1000);
  // Through vertices, edges and diagonals
  for (int i = -8; i <= 8; ++i) {
    for (int j = -8; j <= 8; ++j) {
      sn_vec3 at = sn_v3(i / 8.0, j / 8.0, 0), up = sn_v3(0.25, -0.5, 1);
      sn_solid_hit hit;
      assert_true(sn_solid_enter(&sheet, sn_add(at, up), sn_sub(at, up), &hit));
      assert_true(hit.distance == 0.5 && hit.normal.z == 1);
      assert_true(sn_solid_enter(&sheet, sn_sub(at, up), sn_add(at, up), &hit));
      assert_true(hit.distance == 0.5 && hit.normal.z == -1);
    }
  }
  unprepare(&p);
}

// Two boxes: the distance of their union outside of both, and inside of each its own.
static void four_faces_may_meet_in_an_edge(void** unused) {
  (void)unused;
  for (int welded = 0; welded < 2; ++welded) {
    prepared p;
    sn_mesh cubes = two_cubes();
    if (!welded) {
      sn_mesh loose = shape_unwelded(&cubes);
      sn_mesh_destroy(&cubes);
      cubes = loose;
    }
    prepare(&p, cubes);
    sn_solid mesh = solid_of(&p);
    sn_solid parts[2] = {box(), box()};
    for (int i = 0; i < 2; ++i) {
      parts[i].half = sn_v3(0.5, 0.5, 0.5);
      parts[i].position = i ? sn_v3(-0.5, -0.5, 0.5) : sn_v3(0.5, 0.5, 0.5);
    }
    sn_random random = sn_random_seeded(10);
    for (int n = 0; n < 10000; ++n) {
      sn_vec3 point = sn_scale(1.5, shape_random_point(&random));
      // Within a hair of the shared edge too
      if (n % 4 == 0) point = sn_v3(1e-6 * point.x, 1e-6 * point.y, 0.5 + 0.3 * point.z);
      sn_solid_hit hit;
      assert_true(sn_solid_nearest(&mesh, point, INFINITY, &hit));
      double expected = fmin(distance_of(&parts[0], point), distance_of(&parts[1], point));
      assert_true(fabs(hit.distance - expected) < 1e-14);
      assert_sound(&mesh, point, &hit);
    }
    // On the shared edge the faces cancel: some face's normal, but one.
    sn_solid_hit hit;
    assert_true(sn_solid_nearest(&mesh, sn_v3(0, 0, 0.5), 0.1, &hit));
    assert_unit(hit.normal);
    assert_true(hit.distance == 0);
    unprepare(&p);
  }
}

static void boxes_hold_the_solids(void** unused) {
  (void)unused;
  sn_solid solids[4] = {sphere(), capsule(), box(), plane()};
  sn_random random = sn_random_seeded(11);
  for (int s = 0; s < 4; ++s) {
    sn_box own = sn_solid_box(&solids[s]), seen = sn_box_empty();
    for (int n = 0; n < 10000; ++n) {
      sn_solid_hit hit;
      assert_true(sn_solid_nearest(&solids[s], sn_scale(2, shape_random_point(&random)), 99, &hit));
      seen = sn_box_grow(seen, hit.place);
    }
    sn_box grown = {sn_sub(own.lo, sn_v3(1e-15, 1e-15, 1e-15)),
                    sn_add(own.hi, sn_v3(1e-15, 1e-15, 1e-15))};
    assert_true(sn_box_contains(grown, seen.lo) && sn_box_contains(grown, seen.hi));
    if (s < 3) assert_true(sn_distance(own.lo, seen.lo) < 0.02);
    if (s == 3) assert_true(isinf(own.lo.x) && isinf(own.hi.z));
  }
}

static void a_mesh_without_triangles_is_nowhere(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_one_triangle(sn_v3(0, 0, 0), sn_v3(1, 0, 0), sn_v3(2, 0, 0)));
  sn_solid none = solid_of(&p);
  sn_solid_hit hit;
  assert_false(sn_solid_nearest(&none, sn_v3(0, 0, 0), INFINITY, &hit));
  assert_false(sn_solid_enter(&none, sn_v3(0, 0, 1), sn_v3(0, 0, -1), &hit));
  assert_true(sn_solid_box(&none).lo.x > sn_solid_box(&none).hi.x);
  unprepare(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_are_those_of_the_closed_forms),
      cmocka_unit_test(a_box_of_triangles_is_a_box),
      cmocka_unit_test(normals_of_a_mesh_are_gradients_of_its_distance),
      cmocka_unit_test(a_sphere_of_triangles_is_nearly_a_sphere),
      cmocka_unit_test(on_edges_and_corners_normals_are_averages),
      cmocka_unit_test(middles_have_a_fixed_direction),
      cmocka_unit_test(ways_enter_where_marching_finds_it),
      cmocka_unit_test(ways_enter_meshes_where_marching_finds_it),
      cmocka_unit_test(a_box_of_triangles_is_entered_as_a_box),
      cmocka_unit_test(a_way_that_starts_on_the_surface_enters_if_it_leads_inside),
      cmocka_unit_test(a_sheet_stops_ways_from_either_side),
      cmocka_unit_test(four_faces_may_meet_in_an_edge),
      cmocka_unit_test(boxes_hold_the_solids),
      cmocka_unit_test(a_mesh_without_triangles_is_nowhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
