#include "geometry/round_cones.h"

#include "geometry/closed.h"

#define PI 3.14159265358979323846
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const sn_round_cone sphere[] = {{{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}, 0.4, 0.4}};
static const sn_round_cone capsule[] = {{{0, 0, 0}, {0.6, 0.3, -0.2}, 0.25, 0.25}};
static const sn_round_cone tip[] = {{{0, 0, 0}, {1, 0.2, 0.1}, 0.4, 0}};
static const sn_round_cone swallowed[] = {{{0, 0, 0}, {0.1, 0, 0}, 0.1, 0.5}};
static const sn_round_cone apart[] = {{{0, 0, 0}, {0, 0, 0}, 0.3, 0.3},
                                      {{0.68, 0, 0}, {0.68, 0, 0}, 0.3, 0.3}};
static const sn_round_cone cross[] = {{{-1, 0, 0}, {1, 0, 0}, 0.2, 0.3},
                                      {{0, -1, 0.1}, {0, 1, 0.1}, 0.25, 0.15},
                                      {{0.2, 0, -1}, {0.2, 0, 1}, 0.1, 0.3}};

static sn_mesh make(const sn_round_cone* cones, uint32_t count, double blend, double cell) {
  sn_mesh mesh;
  sn_error err = {0};
  sn_status status = sn_mesh_from_round_cones(cones, count, blend, cell, &mesh, &err);
  if (status != SN_OK) fail_msg("%s", err.text);
  return mesh;
}

static double random_between(uint64_t* state, double lo, double hi) {
  return lo + (hi - lo) * (next_random(state) % 65536) / 65535.0;
}

static sn_vec3 random_place(uint64_t* state) {
  double x = random_between(state, -1, 1), y = random_between(state, -1, 1);
  return sn_v3(x, y, random_between(state, -1, 1));
}

static sn_round_cone random_cone(uint64_t* state) {
  sn_round_cone cone = {random_place(state), random_place(state), 0, 0};
  cone.from_radius = random_between(state, 0.02, 0.4);
  cone.to_radius = random_between(state, 0.02, 0.4);
  return cone;
}

// The union of many spheres, one after another, is what a round cone is by definition.
static double distance_by_spheres(const sn_round_cone* cone, sn_vec3 p) {
  double least = INFINITY;
  for (int i = 0; i <= 4000; ++i) {
    double t = i / 4000.0;
    sn_vec3 centre = sn_madd(sn_scale(1 - t, cone->from), t, cone->to);
    double radius = (1 - t) * cone->from_radius + t * cone->to_radius;
    least = fmin(least, sn_distance(p, centre) - radius);
  }
  return least;
}

static void distance_is_that_to_the_nearest_sphere(void** unused) {
  (void)unused;
  uint64_t state = 5;
  for (int i = 0; i < 200; ++i) {
    sn_round_cone cone = i == 0 ? swallowed[0] : i == 1 ? sphere[0] : random_cone(&state);
    sn_vec3 p = sn_scale(1.5, random_place(&state));
    double expected = distance_by_spheres(&cone, p);
    assert_true(fabs(sn_round_cone_distance(&cone, p, NULL) - expected) < 1e-5);
  }
}

static void gradient_is_the_slope_of_the_distance(void** unused) {
  (void)unused;
  uint64_t state = 6;
  for (int i = 0; i < 200; ++i) {
    sn_round_cone cone = random_cone(&state);
    sn_vec3 p = sn_scale(1.5, random_place(&state)), gradient;
    sn_vec3 step = sn_scale(1e-5, random_place(&state));
    sn_round_cone_distance(&cone, p, &gradient);
    double slope = sn_round_cone_distance(&cone, sn_add(p, step), NULL) -
                   sn_round_cone_distance(&cone, sn_sub(p, step), NULL);
    assert_true(fabs(slope - 2 * sn_dot(gradient, step)) < 1e-8);
    assert_true(fabs(sn_length(gradient) - 1) < 1e-12);
  }
}

static void surfaces_are_closed_and_outward(void** unused) {
  (void)unused;
  static const struct {
    const sn_round_cone* cones;
    uint32_t count;
    double blend, cell;
  } shapes[] = {
      {sphere, COUNT(sphere), 0, 0.05},      {sphere, COUNT(sphere), 0.1, 0.35},
      {capsule, COUNT(capsule), 0, 0.03},    {tip, COUNT(tip), 0.2, 0.04},
      {swallowed, COUNT(swallowed), 0, 0.1}, {apart, COUNT(apart), 0.08, 0.04},
      {cross, COUNT(cross), 0, 0.07},        {cross, COUNT(cross), 0.2, 0.05},
  };
  for (size_t i = 0; i < COUNT(shapes); ++i) {
    sn_mesh mesh = make(shapes[i].cones, shapes[i].count, shapes[i].blend, shapes[i].cell);
    assert_closed_manifold(&mesh);
    assert_true(signed_volume(&mesh) > 0);
    sn_mesh_destroy(&mesh);
  }
}

static void heaps_of_thin_cones_stay_manifold(void** unused) {
  (void)unused;
  uint64_t state = 7;
  sn_round_cone cones[12];
  for (int heap = 0; heap < 10; ++heap) {
    for (size_t i = 0; i < COUNT(cones); ++i) {
      cones[i] = random_cone(&state);
      cones[i].from_radius *= 0.3;
      cones[i].to_radius *= 0.3;
    }
    sn_mesh mesh = make(cones, COUNT(cones), heap % 2 ? 0.1 : 0, 0.09);
    assert_closed_manifold(&mesh);
    sn_mesh_destroy(&mesh);
  }
}

static void assert_volume(const sn_round_cone* cones, uint32_t count, double expected) {
  sn_mesh mesh = make(cones, count, 0, 0.03);
  double volume = signed_volume(&mesh);
  assert_true(fabs(volume - expected) < 0.02 * expected);
  sn_mesh_destroy(&mesh);
}

static void volumes_are_those_of_the_textbook(void** unused) {
  (void)unused;
  assert_volume(sphere, COUNT(sphere), 4 * PI / 3 * pow(0.4, 3));
  double r = 0.25, length = sn_distance(capsule[0].from, capsule[0].to);
  assert_volume(capsule, COUNT(capsule), PI * r * r * length + 4 * PI / 3 * r * r * r);
  assert_volume(swallowed, COUNT(swallowed), 4 * PI / 3 * pow(0.5, 3));
}

static void blending_joins_what_is_near(void** unused) {
  (void)unused;
  sn_mesh mesh = make(apart, COUNT(apart), 0, 0.03);
  assert_int_equal(count_pieces(&mesh), 2);
  sn_mesh_destroy(&mesh);
  mesh = make(apart, COUNT(apart), 0.3, 0.03);
  assert_int_equal(count_pieces(&mesh), 1);
  sn_mesh_destroy(&mesh);
}

static void the_same_cones_give_the_same_bytes(void** unused) {
  (void)unused;
  sn_mesh a = make(cross, COUNT(cross), 0.15, 0.06), b = make(cross, COUNT(cross), 0.15, 0.06);
  assert_int_equal(a.vertex_count, b.vertex_count);
  assert_int_equal(a.triangle_count, b.triangle_count);
  assert_memory_equal(a.positions, b.positions, 3 * a.vertex_count * sizeof *a.positions);
  assert_memory_equal(a.triangles, b.triangles, 3 * a.triangle_count * sizeof *a.triangles);
  sn_mesh_destroy(&a);
  sn_mesh_destroy(&b);
}

static void assert_refused(const sn_round_cone* cones, uint32_t count, double blend, double cell,
                           const char* reason) {
  sn_mesh mesh;
  sn_error err = {0};
  assert_int_equal(sn_mesh_from_round_cones(cones, count, blend, cell, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, reason);
  assert_null(mesh.positions);
}

static void wrong_values_are_refused(void** unused) {
  (void)unused;
  sn_round_cone negative = {{0, 0, 0}, {1, 0, 0}, 0.1, -0.1};
  sn_round_cone endless = {{0, 0, 0}, {INFINITY, 0, 0}, 0.1, 0.1};
  sn_round_cone unknown = {{0, NAN, 0}, {1, 0, 0}, 0.1, 0.1};
  sn_round_cone thread = {{0, 0, 0}, {1, 0, 0}, 0, 0};
  assert_refused(sphere, 0, 0, 0.1, "at least one");
  assert_refused(&negative, 1, 0, 0.1, "round cone 0: radii");
  assert_refused(&endless, 1, 0, 0.1, "round cone 0");
  assert_refused(&unknown, 1, 0, 0.1, "round cone 0");
  assert_refused(sphere, 1, -0.1, 0.1, "blend");
  assert_refused(sphere, 1, NAN, 0.1, "blend");
  assert_refused(sphere, 1, 0, 0, "cell");
  assert_refused(sphere, 1, 0, 1e-5, "samples");
  assert_refused(&thread, 1, 0, 0.1, "thick enough");
  assert_int_equal(sn_memory_used(), 0);
}

static sn_status make_cross(sn_error* err) {
  sn_mesh mesh;
  sn_status status = sn_mesh_from_round_cones(cross, COUNT(cross), 0.1, 0.1, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(make_cross);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distance_is_that_to_the_nearest_sphere),
      cmocka_unit_test(gradient_is_the_slope_of_the_distance),
      cmocka_unit_test(surfaces_are_closed_and_outward),
      cmocka_unit_test(heaps_of_thin_cones_stay_manifold),
      cmocka_unit_test(volumes_are_those_of_the_textbook),
      cmocka_unit_test(blending_joins_what_is_near),
      cmocka_unit_test(the_same_cones_give_the_same_bytes),
      cmocka_unit_test(wrong_values_are_refused),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
