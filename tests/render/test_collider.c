#include <math.h>

#include "geometry/capsule.h"
#include "io/scratch.h"
#include "math/vec.h"
#include "render/camera.h"

#define PI 3.14159265358979323846

static const sn_rigid at_rest = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
// A quarter turn about z, which takes x to y, and a step.
static const sn_rigid turned = {{{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}}, {0.2, 0, -0.1}};

// Looks at a ball of about radius 1 around the origin.
static sn_view make_view(void) {
  sn_view view = sn_view_make(SN_UP_Y, 30, 15);
  sn_view_include(&view, (float[6]){-0.6f, -0.6f, -0.6f, 0.6f, 0.6f, 0.6f}, 2);
  return view;
}

static sn_mesh make_mesh(const sn_collider_desc* collider, const sn_rigid* pose) {
  sn_view view = make_view();
  sn_mesh mesh;
  sn_error err = {0};
  if (sn_mesh_from_collider(collider, pose, &view, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  return mesh;
}

static sn_vec3 vertex_of(const sn_mesh* mesh, uint32_t vertex) {
  return sn_load3(mesh->positions + 3 * (size_t)vertex);
}

// Positive only if the triangles face outward.
static double volume_of(const sn_mesh* mesh) {
  double volume = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* c = mesh->triangles + 3 * (size_t)t;
    sn_vec3 ab = sn_cross(vertex_of(mesh, c[0]), vertex_of(mesh, c[1]));
    volume += sn_dot(ab, vertex_of(mesh, c[2])) / 6;
  }
  return volume;
}

static double longest_edge(const sn_mesh* mesh) {
  double longest = 0;
  for (uint32_t i = 0; i < 3 * mesh->triangle_count; ++i) {
    uint32_t next = i % 3 == 2 ? i - 2 : i + 1;
    sn_vec3 a = vertex_of(mesh, mesh->triangles[i]), b = vertex_of(mesh, mesh->triangles[next]);
    longest = fmax(longest, sn_distance(a, b));
  }
  return longest;
}

static void round_colliders_are_round(void** unused) {
  (void)unused;
  sn_collider_desc sphere = {
      .kind = SN_COLLIDER_SPHERE, .position = {0.3, 0.1, -0.2}, .radius = 0.5};
  sn_collider_desc capsule = {.kind = SN_COLLIDER_CAPSULE,
                              .capsule = {{-0.5, 0.2, 0}, {0.5, 0.2, 0}, 0.1}};
  sn_mesh ball = make_mesh(&sphere, &at_rest), finger = make_mesh(&capsule, &turned);
  for (uint32_t v = 0; v < ball.vertex_count; ++v) {
    assert_true(fabs(sn_distance(vertex_of(&ball, v), sphere.position) - 0.5) < 1e-6);
  }
  sn_vec3 from = sn_rigid_apply(&turned, capsule.capsule.from);
  sn_vec3 to = sn_rigid_apply(&turned, capsule.capsule.to);
  for (uint32_t v = 0; v < finger.vertex_count; ++v) {
    assert_true(fabs(sn_capsule_distance(from, to, 0.1, vertex_of(&finger, v))) < 1e-6);
  }
  assert_true(fabs(volume_of(&ball) / (4.0 / 3 * PI * 0.125) - 1) < 0.01);
  assert_true(fabs(volume_of(&finger) / (PI * 0.01 + 4.0 / 3 * PI * 0.001) - 1) < 0.02);
  sn_mesh_destroy(&ball);
  sn_mesh_destroy(&finger);
}

static void a_box_keeps_its_edges(void** unused) {
  (void)unused;
  sn_collider_desc box = {
      .kind = SN_COLLIDER_BOX, .position = {0.1, -0.3, 0.2}, .half = {0.4, 0.2, 0.1}};
  sn_mesh mesh = make_mesh(&box, &turned);
  sn_vec3 centre = sn_rigid_apply(&turned, box.position);
  int at_corner = 0;
  for (uint32_t v = 0; v < mesh.vertex_count; ++v) {
    sn_vec3 p = sn_sub(vertex_of(&mesh, v), centre);
    // The turn swaps the first two sides.
    double out[3] = {fabs(p.x) / 0.2, fabs(p.y) / 0.4, fabs(p.z) / 0.1};
    double most = fmax(out[0], fmax(out[1], out[2])), least = fmin(out[0], fmin(out[1], out[2]));
    assert_true(fabs(most - 1) < 1e-5);
    at_corner += least > 1 - 1e-5;
  }
  assert_int_equal(at_corner, 24);
  assert_true(fabs(volume_of(&mesh) - 8 * 0.4 * 0.2 * 0.1) < 1e-6);
  assert_true(longest_edge(&mesh) < 0.1);
  sn_mesh_destroy(&mesh);
}

// Also where its point is far away and it has moved along itself.
static void a_plane_surrounds_what_is_shown(void** unused) {
  (void)unused;
  sn_collider_desc plane = {
      .kind = SN_COLLIDER_PLANE, .position = {1000, -0.5, 300}, .normal = {0, 1, 0}};
  sn_rigid moved = at_rest;
  moved.translate = sn_v3(50, -0.25, -70);
  sn_mesh mesh = make_mesh(&plane, &moved);
  sn_box box = sn_box_empty();
  for (uint32_t v = 0; v < mesh.vertex_count; ++v) {
    box = sn_box_grow(box, vertex_of(&mesh, v));
    assert_true(fabs(vertex_of(&mesh, v).y + 0.75) < 1e-6);
  }
  assert_true(box.lo.x < -2 && box.hi.x > 2 && box.lo.z < -2 && box.hi.z > 2);
  for (uint32_t t = 0; t < mesh.triangle_count; ++t) {
    const uint32_t* c = mesh.triangles + 3 * (size_t)t;
    sn_vec3 a = vertex_of(&mesh, c[0]);
    sn_vec3 area = sn_cross(sn_sub(vertex_of(&mesh, c[1]), a), sn_sub(vertex_of(&mesh, c[2]), a));
    assert_true(area.y > 0);
  }
  sn_mesh_destroy(&mesh);
}

static void huge_colliders_are_cut(void** unused) {
  (void)unused;
  double quad[12] = {-1e6, -0.5, -1e6, 1e6, -0.5, -1e6, 1e6, -0.5, 1e6, -1e6, -0.5, 1e6};
  uint32_t triangles[6] = {0, 2, 1, 0, 3, 2};
  sn_collider_desc huge[] = {
      {.kind = SN_COLLIDER_SPHERE, .position = {0, -1e5 - 0.5, 0}, .radius = 1e5},
      {.kind = SN_COLLIDER_BOX, .position = {0, -1e9 - 0.5, 0}, .half = {1e9, 1e9, 1e9}},
      {.kind = SN_COLLIDER_CAPSULE, .capsule = {{-1e7, -0.7, 0}, {1e7, -0.7, 0}, 0.2}},
      {.kind = SN_COLLIDER_CAPSULE, .capsule = {{-9e6, -1e5 - 0.5, 0}, {9e6, -1e5 - 0.5, 0}, 1e5}},
      {.kind = SN_COLLIDER_MESH},
  };
  assert_int_equal(sn_mesh_from_arrays(quad, 4, triangles, 2, &huge[4].mesh, NULL), SN_OK);
  for (size_t i = 0; i < sizeof huge / sizeof huge[0]; ++i) {
    sn_mesh mesh = make_mesh(&huge[i], &at_rest);
    assert_in_range(mesh.triangle_count, 1000, 100000);
    bool below = false;
    for (uint32_t v = 0; v < mesh.vertex_count; ++v) {
      sn_vec3 p = vertex_of(&mesh, v);
      assert_true(sn_length(p) < 2 * SN_FADE_END);
      below = below || sn_distance(p, sn_v3(0, -0.5, 0)) < 0.05;
    }
    assert_true(below);
    sn_mesh_destroy(&mesh);
  }
  sn_mesh_destroy(&huge[4].mesh);
}

static void nothing_is_left_of_what_is_far_away(void** unused) {
  (void)unused;
  sn_collider_desc sphere = {.kind = SN_COLLIDER_SPHERE, .position = {9, 9, 9}, .radius = 0.5};
  sn_mesh mesh = make_mesh(&sphere, &at_rest);
  assert_int_equal(mesh.triangle_count, 0);
  sn_mesh_destroy(&mesh);
}

static sn_status make_once(sn_error* err) {
  sn_collider_desc sphere = {.kind = SN_COLLIDER_SPHERE, .radius = 0.5};
  sn_view view = make_view();
  sn_mesh mesh;
  sn_status status = sn_mesh_from_collider(&sphere, &at_rest, &view, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(make_once);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_colliders_are_round),
      cmocka_unit_test(a_box_keeps_its_edges),
      cmocka_unit_test(a_plane_surrounds_what_is_shown),
      cmocka_unit_test(huge_colliders_are_cut),
      cmocka_unit_test(nothing_is_left_of_what_is_far_away),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
