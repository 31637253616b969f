#include "geometry/mesh_arrays.h"

#include <math.h>

#include "io/scratch.h"

static const double tetrahedron[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const uint32_t tetrahedron_triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};

static void arrays_are_copied(void** unused) {
  (void)unused;
  sn_mesh mesh;
  sn_error err = {0};
  assert_int_equal(sn_mesh_from_arrays(tetrahedron, 4, tetrahedron_triangles, 4, &mesh, &err),
                   SN_OK);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.vertex_count, 4);
  assert_int_equal(mesh.face_count, 4);
  assert_int_equal(mesh.triangle_count, 4);
  assert_int_equal(mesh.group_count, 0);
  assert_memory_equal(mesh.positions, tetrahedron, sizeof tetrahedron);
  assert_memory_equal(mesh.triangles, tetrahedron_triangles, sizeof tetrahedron_triangles);
  assert_true(sn_memory_used() > 0);
  sn_mesh_destroy(&mesh);
  assert_null(mesh.positions);
  assert_int_equal(sn_memory_used(), 0);
  sn_mesh_destroy(&mesh);
}

static void wrong_arrays_are_refused_with_their_place(void** unused) {
  (void)unused;
  sn_mesh mesh;
  sn_error err;
  double positions[12];
  memcpy(positions, tetrahedron, sizeof positions);
  static const double wrong[] = {NAN, INFINITY, -INFINITY, 1e200};
  for (int i = 0; i < 4; ++i) {
    positions[7] = wrong[i];
    assert_int_equal(sn_mesh_from_arrays(positions, 4, tetrahedron_triangles, 4, &mesh, &err),
                     SN_ERR_INPUT);
    assert_message_has(&err, "positions[7]");
    assert_null(mesh.storage);
  }
  assert_int_equal(sn_mesh_from_arrays(tetrahedron, 3, tetrahedron_triangles, 4, &mesh, &err),
                   SN_ERR_INPUT);
  assert_message_has(&err, "triangles[5] is 3");
  assert_int_equal(sn_mesh_from_arrays(tetrahedron, 4, tetrahedron_triangles, 0, &mesh, &err),
                   SN_ERR_INPUT);
  assert_message_has(&err, "no triangles");
  assert_int_equal(sn_memory_used(), 0);
}

static void add_polygon(sn_mesh_builder* builder, const uint32_t* vertices, int count) {
  for (int i = 0; i < count; ++i) {
    assert_int_equal(sn_mesh_builder_add_corner(builder, vertices[i], NULL), SN_OK);
  }
  assert_int_equal(sn_mesh_builder_end_face(builder, NULL), SN_OK);
}

static void add_ring(sn_mesh_builder* builder, int count) {
  for (int i = 0; i < count; ++i) {
    sn_vec3 position = {i, i * i, 0};
    assert_int_equal(sn_mesh_builder_add_vertex(builder, position, NULL), SN_OK);
  }
}

static void polygons_are_fanned_from_their_first_corner(void** unused) {
  (void)unused;
  sn_mesh_builder builder = {0};
  static const uint32_t pentagon[] = {4, 3, 2, 1, 0}, triangle[] = {0, 1, 2};
  add_polygon(&builder, pentagon, 5);
  add_polygon(&builder, triangle, 3);
  add_ring(&builder, 5);
  sn_mesh mesh;
  assert_int_equal(sn_mesh_builder_finish(&builder, &mesh, NULL), SN_OK);
  sn_mesh_builder_destroy(&builder);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.face_count, 2);
  static const uint32_t starts[] = {0, 5, 8};
  static const uint32_t fan[] = {4, 3, 2, 4, 2, 1, 4, 1, 0, 0, 1, 2};
  assert_memory_equal(mesh.face_starts, starts, sizeof starts);
  assert_int_equal(mesh.triangle_count, 4);
  assert_memory_equal(mesh.triangles, fan, sizeof fan);
  sn_mesh_destroy(&mesh);
  assert_int_equal(sn_memory_used(), 0);
}

static uint32_t group_named(sn_mesh_builder* builder, const char* name) {
  uint32_t group;
  assert_int_equal(sn_mesh_builder_find_group(builder, name, strlen(name), &group, NULL), SN_OK);
  return group;
}

static void groups_list_their_triangles_in_order(void** unused) {
  (void)unused;
  sn_mesh_builder builder = {0};
  static const uint32_t triangle[] = {0, 1, 2}, quad[] = {0, 1, 2, 3};
  add_ring(&builder, 4);
  add_polygon(&builder, triangle, 3);
  uint32_t a = group_named(&builder, "a");
  uint32_t both[] = {a, group_named(&builder, "b"), a};
  assert_int_equal(sn_mesh_builder_use_groups(&builder, both, 3, NULL), SN_OK);
  add_polygon(&builder, quad, 4);
  uint32_t empty = group_named(&builder, "empty");
  assert_int_equal(sn_mesh_builder_use_groups(&builder, &empty, 1, NULL), SN_OK);
  assert_int_equal(sn_mesh_builder_use_groups(&builder, NULL, 0, NULL), SN_OK);
  add_polygon(&builder, triangle, 3);
  assert_int_equal(group_named(&builder, "a"), a);
  assert_int_equal(sn_mesh_builder_use_groups(&builder, &a, 1, NULL), SN_OK);
  add_polygon(&builder, triangle, 3);

  sn_mesh mesh;
  assert_int_equal(sn_mesh_builder_finish(&builder, &mesh, NULL), SN_OK);
  sn_mesh_builder_destroy(&builder);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.group_count, 2);
  static const uint32_t in_a[] = {1, 2, 4}, in_b[] = {1, 2};
  assert_string_equal(mesh.groups[0].name, "a");
  assert_int_equal(mesh.groups[0].triangle_count, 3);
  assert_memory_equal(mesh.groups[0].triangles, in_a, sizeof in_a);
  assert_string_equal(mesh.groups[1].name, "b");
  assert_int_equal(mesh.groups[1].triangle_count, 2);
  assert_memory_equal(mesh.groups[1].triangles, in_b, sizeof in_b);
  sn_mesh_destroy(&mesh);
}

static void many_groups_are_told_apart(void** unused) {
  (void)unused;
  sn_mesh_builder builder = {0};
  static const uint32_t triangle[] = {0, 1, 2};
  add_ring(&builder, 3);
  char name[32];
  for (uint32_t i = 0; i < 3000; ++i) {
    snprintf(name, sizeof name, "group %u", i / 2);
    uint32_t group = group_named(&builder, name);
    assert_int_equal(group, i / 2);
    assert_int_equal(sn_mesh_builder_use_groups(&builder, &group, 1, NULL), SN_OK);
    add_polygon(&builder, triangle, 3);
  }
  sn_mesh mesh;
  assert_int_equal(sn_mesh_builder_finish(&builder, &mesh, NULL), SN_OK);
  sn_mesh_builder_destroy(&builder);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.group_count, 1500);
  assert_string_equal(mesh.groups[1234].name, "group 1234");
  assert_int_equal(mesh.groups[1234].triangles[0], 2468);
  sn_mesh_destroy(&mesh);
}

static void validity_notices_each_kind_of_damage(void** unused) {
  (void)unused;
  sn_mesh mesh;
  assert_int_equal(sn_mesh_from_arrays(tetrahedron, 4, tetrahedron_triangles, 4, &mesh, NULL),
                   SN_OK);
  mesh.positions[5] = NAN;
  assert_false(sn_mesh_is_valid(&mesh));
  mesh.positions[5] = 0;
  mesh.face_vertices[2] = mesh.triangles[2] = 4;
  assert_false(sn_mesh_is_valid(&mesh));
  mesh.face_vertices[2] = mesh.triangles[2] = 1;
  mesh.triangles[4] = 0;
  assert_false(sn_mesh_is_valid(&mesh));
  mesh.triangles[4] = 1;
  mesh.face_starts[1] = 2;
  assert_false(sn_mesh_is_valid(&mesh));
  mesh.face_starts[1] = 3;
  mesh.triangle_count = 3;
  assert_false(sn_mesh_is_valid(&mesh));
  mesh.triangle_count = 4;
  uint32_t list[] = {1, 1};
  sn_mesh_group group = {.name = (char[]){"g"}, .triangles = list, .triangle_count = 2};
  mesh.groups = &group;
  mesh.group_count = 1;
  assert_false(sn_mesh_is_valid(&mesh));
  list[1] = 4;
  assert_false(sn_mesh_is_valid(&mesh));
  list[1] = 3;
  assert_true(sn_mesh_is_valid(&mesh));
  sn_mesh_destroy(&mesh);
  assert_false(sn_mesh_is_valid(&mesh));
}

static sn_status make_from_arrays(sn_error* err) {
  sn_mesh mesh;
  sn_status status = sn_mesh_from_arrays(tetrahedron, 4, tetrahedron_triangles, 4, &mesh, err);
  if (status != SN_OK) assert_null(mesh.storage);
  sn_mesh_destroy(&mesh);
  return status;
}

static sn_status fill_builder(sn_mesh_builder* builder, sn_error* err) {
  sn_status status = SN_OK;
  uint32_t group = 0;
  for (uint32_t i = 0; i < 200 && status == SN_OK; ++i) {
    char name[2] = {(char)('a' + i % 50), 0};
    status = sn_mesh_builder_find_group(builder, name, 1, &group, err);
    if (status == SN_OK) status = sn_mesh_builder_use_groups(builder, &group, 1, err);
    if (status == SN_OK) status = sn_mesh_builder_add_vertex(builder, (sn_vec3){i, 0, 0}, err);
    for (uint32_t c = 0; c < 4 && status == SN_OK; ++c) {
      status = sn_mesh_builder_add_corner(builder, (i + c) % 200, err);
    }
    if (status == SN_OK) status = sn_mesh_builder_end_face(builder, err);
  }
  return status;
}

static sn_status make_with_builder(sn_error* err) {
  sn_mesh mesh = {0};
  sn_mesh_builder builder = {0};
  sn_status status = fill_builder(&builder, err);
  if (status == SN_OK) status = sn_mesh_builder_finish(&builder, &mesh, err);
  if (status == SN_OK) assert_true(sn_mesh_is_valid(&mesh));
  sn_mesh_builder_destroy(&builder);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(make_from_arrays);
  assert_survives_failing_allocations(make_with_builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_are_copied),
      cmocka_unit_test(wrong_arrays_are_refused_with_their_place),
      cmocka_unit_test(polygons_are_fanned_from_their_first_corner),
      cmocka_unit_test(groups_list_their_triangles_in_order),
      cmocka_unit_test(many_groups_are_told_apart),
      cmocka_unit_test(validity_notices_each_kind_of_damage),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
