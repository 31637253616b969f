#include "geometry/surface_nets.h"

#include "geometry/closed.h"

// Signs by chance at every sample: all kinds of cubes occur, with all their ambiguous faces.
typedef struct noise {
  uint64_t seed;
  uint32_t inside_percent;
} noise;

static double noise_value(const void* ctx, sn_vec3 p, sn_vec3* gradient) {
  const noise* n = ctx;
  if (gradient) *gradient = sn_v3(0, 0, 0);
  if (fabs(p.x) > 1 || fabs(p.y) > 1 || fabs(p.z) > 1) return 0.1;
  double place[3] = {p.x + 0.0, p.y + 0.0, p.z + 0.0};
  uint64_t state = n->seed;
  for (int k = 0; k < 3; ++k) {
    state ^= (uint64_t)(int64_t)floor(place[k] * 1024);
    next_random(&state);
  }
  double size = 0.01 + 0.08 * (next_random(&state) % 1000) / 1000.0;
  return next_random(&state) % 100 < n->inside_percent ? -size : size;
}

static void noise_gives_a_closed_manifold(void** unused) {
  (void)unused;
  static const uint32_t percents[] = {2, 20, 50, 80, 98};
  for (size_t i = 0; i < sizeof percents / sizeof percents[0]; ++i) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      noise n = {seed, percents[i]};
      sn_distance_field field = {noise_value, &n};
      sn_box box = {{-1, -1, -1}, {1, 1, 1}};
      sn_mesh mesh;
      sn_error err = {0};
      assert_int_equal(sn_mesh_from_field(&field, box, 0.1, &mesh, &err), SN_OK);
      assert_closed_manifold(&mesh);
      assert_true(signed_volume(&mesh) > 0);
      sn_mesh_destroy(&mesh);
    }
  }
}

static double ball_value(const void* ctx, sn_vec3 p, sn_vec3* gradient) {
  size_t* calls = *(size_t* const*)ctx;
  ++*calls;
  double r = sn_length(p);
  if (gradient) *gradient = sn_scale(r > 0 ? 1 / r : 0, p);
  return r - 0.5;
}

static sn_status make_ball(double half, double cell, size_t* calls, sn_mesh* mesh, sn_error* err) {
  sn_distance_field field = {ball_value, &calls};
  sn_box box = {{-half, -half, -half}, {half, half, half}};
  return sn_mesh_from_field(&field, box, cell, mesh, err);
}

static void vertices_lie_on_the_surface(void** unused) {
  (void)unused;
  sn_mesh mesh;
  size_t calls = 0;
  assert_int_equal(make_ball(0.5, 0.06, &calls, &mesh, NULL), SN_OK);
  assert_closed_manifold(&mesh);
  for (uint32_t v = 0; v < mesh.vertex_count; ++v) {
    double r = sn_length(sn_load3(mesh.positions + 3 * (size_t)v));
    assert_true(fabs(r - 0.5) < 1e-9);
  }
  sn_mesh_destroy(&mesh);
}

// The smallest angle of any triangle, as its cosine, which is then the largest.
static double sharpest_cosine(const sn_mesh* mesh) {
  double sharpest = -1;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    for (int k = 0; k < 3; ++k) {
      sn_vec3 p = mesh_corner(mesh, t, k);
      sn_vec3 a = sn_sub(mesh_corner(mesh, t, (k + 1) % 3), p);
      sn_vec3 b = sn_sub(mesh_corner(mesh, t, (k + 2) % 3), p);
      sharpest = fmax(sharpest, sn_dot(a, b) / (sn_length(a) * sn_length(b)));
    }
  }
  return sharpest;
}

static void triangles_are_no_slivers(void** unused) {
  (void)unused;
  sn_mesh mesh;
  size_t calls = 0;
  assert_int_equal(make_ball(0.5, 0.043, &calls, &mesh, NULL), SN_OK);
  assert_true(sharpest_cosine(&mesh) < cos(20 * 3.14159265358979 / 180));
  sn_mesh_destroy(&mesh);
}

static void most_samples_far_from_the_surface_are_skipped(void** unused) {
  (void)unused;
  sn_mesh mesh;
  size_t calls = 0;
  assert_int_equal(make_ball(2, 0.02, &calls, &mesh, NULL), SN_OK);
  double samples = pow(4 / 0.02, 3);
  assert_true((double)calls < 0.1 * samples);
  sn_mesh_destroy(&mesh);
}

static void wrong_grids_are_refused(void** unused) {
  (void)unused;
  static const double cells[] = {0, -1, NAN, INFINITY, 1e-4, 1e-300};
  sn_mesh mesh;
  size_t calls = 0;
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; ++i) {
    sn_error err = {0};
    assert_int_equal(make_ball(0.5, cells[i], &calls, &mesh, &err), SN_ERR_INPUT);
    assert_message_has(&err, "cell");
    assert_null(mesh.positions);
  }
  assert_int_equal(calls, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(noise_gives_a_closed_manifold),
      cmocka_unit_test(vertices_lie_on_the_surface),
      cmocka_unit_test(triangles_are_no_slivers),
      cmocka_unit_test(most_samples_far_from_the_surface_are_skipped),
      cmocka_unit_test(wrong_grids_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
