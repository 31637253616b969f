#include "geometry/mesh_arrays.h"
#include "io/scratch.h"

static const char triangle_obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
static const char triangle_ply[] =
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
    "0 0 0 1 0 0 0 1 0 3 0 1 2\n";

static void assert_loads(const char* name, const void* bytes, size_t size) {
  sn_mesh mesh;
  sn_error err = {0};
  if (sn_mesh_load(scratch_write(name, bytes, size), &mesh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.triangle_count, 1);
  sn_mesh_destroy(&mesh);
  assert_int_equal(sn_memory_used(), 0);
}

static void assert_refused(const char* path, const char* part) {
  sn_mesh mesh;
  sn_error err = {0};
  assert_int_equal(sn_mesh_load(path, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, path);
  assert_message_has(&err, part);
  assert_message_has(&err, "expected");
  assert_null(mesh.storage);
  assert_int_equal(sn_memory_used(), 0);
}

static void the_format_is_told_by_content_then_by_ending(void** unused) {
  (void)unused;
  assert_loads("a.obj", triangle_obj, sizeof triangle_obj - 1);
  assert_loads("a.OBJ", triangle_obj, sizeof triangle_obj - 1);
  assert_loads("a.ply", triangle_ply, sizeof triangle_ply - 1);
  assert_loads("a.obj", triangle_ply, sizeof triangle_ply - 1);
  assert_loads("mesh", triangle_ply, sizeof triangle_ply - 1);
  assert_refused(scratch_write("a.stl", triangle_obj, sizeof triangle_obj - 1), "OBJ file (.obj)");
  assert_refused(scratch_write("b.ply", triangle_obj, sizeof triangle_obj - 1), "not a PLY file");
}

static void a_mark_of_utf8_is_passed_over_and_utf16_named(void** unused) {
  (void)unused;
  char text[sizeof triangle_obj + 3] = "\xef\xbb\xbf";
  memcpy(text + 3, triangle_obj, sizeof triangle_obj);
  assert_loads("a.obj", text, sizeof text - 1);
  assert_refused(scratch_write("b.obj", "\xff\xfev\0 \0", 6), "UTF-16");
  assert_refused(scratch_write("c.obj", "\0v\0 \0001", 6), "UTF-16");
}

static void files_that_are_missing_or_empty_are_named(void** unused) {
  (void)unused;
  assert_refused(scratch_path("missing.obj"), "No such file");
  assert_refused(scratch_write("empty.obj", "", 0), "the file is empty");
  assert_refused(scratch_write("mark.obj", "\xef\xbb\xbf", 3), "the file is empty");
  assert_refused(scratch_folder, "not a regular file");
  sn_mesh mesh;
  assert_int_equal(sn_mesh_load(scratch_path("missing.obj"), &mesh, NULL), SN_ERR_INPUT);
}

static void load_text(const char* text, sn_mesh* mesh) {
  sn_error err = {0};
  if (sn_mesh_load(scratch_write("in.obj", text, strlen(text)), mesh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
}

static void a_saved_mesh_comes_back_with_polygons_and_floats(void** unused) {
  (void)unused;
  sn_mesh before, after;
  load_text(
      "v 0.1 -1e-30 3e38\nv 1 0 0\nv 0 16777217 0\nv 0 0 -0.333333343\nv 0 1 1\n"
      "f 1 2 3 4 5\nf 5 3 1\n",
      &before);
  sn_error err = {0};
  assert_int_equal(sn_mesh_save_obj(scratch_path("out.obj"), &before, &err), SN_OK);
  assert_int_equal(sn_mesh_load(scratch_path("out.obj"), &after, &err), SN_OK);
  assert_int_equal(after.vertex_count, before.vertex_count);
  assert_int_equal(after.face_count, before.face_count);
  assert_memory_equal(after.face_starts, before.face_starts, 3 * sizeof(uint32_t));
  assert_memory_equal(after.face_vertices, before.face_vertices, 8 * sizeof(uint32_t));
  for (size_t i = 0; i < 15; ++i) {
    assert_true((float)after.positions[i] == (float)before.positions[i]);
  }
  sn_mesh_destroy(&before);
  sn_mesh_destroy(&after);
}

static void the_longest_numbers_fit(void** unused) {
  (void)unused;
  sn_mesh mesh;
  load_text(
      "v -1.23456789e-100 -1.23456789e-100 -1.23456789e+149\n"
      "v -1.23456789e-301 -1.23456789e-302 -1.23456789e-303\nv 0 0 0\nf 1 2 3\n",
      &mesh);
  sn_error err = {0};
  assert_int_equal(sn_mesh_save_obj(scratch_path("out.obj"), &mesh, &err), SN_OK);
  sn_mesh again;
  assert_int_equal(sn_mesh_load(scratch_path("out.obj"), &again, &err), SN_OK);
  assert_memory_equal(again.positions, mesh.positions, 9 * sizeof(double));
  sn_mesh_destroy(&again);
  sn_mesh_destroy(&mesh);
}

static void saving_does_not_depend_on_the_locale(void** unused) {
  (void)unused;
  set_comma_locale_or_skip();
  sn_mesh mesh;
  load_text("v 0.5 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &mesh);
  sn_status status = sn_mesh_save_obj(scratch_path("out.obj"), &mesh, NULL);
  setlocale(LC_ALL, "C");
  assert_int_equal(status, SN_OK);
  size_t size;
  char* text = read_everything(scratch_path("out.obj"), &size);
  assert_non_null(strstr(text, "v 0.5 0 0\n"));
  free(text);
  sn_mesh_destroy(&mesh);
}

static void saving_where_nothing_can_be_written_fails(void** unused) {
  (void)unused;
  sn_mesh mesh;
  load_text(triangle_obj, &mesh);
  sn_error err;
  assert_int_equal(sn_mesh_save_obj(scratch_path("no/out.obj"), &mesh, &err), SN_ERR_IO);
  assert_message_has(&err, "no/out.obj");
  sn_mesh_destroy(&mesh);
}

static sn_status load_and_save(sn_error* err) {
  sn_mesh mesh;
  sn_status status = sn_mesh_load(scratch_path("in.obj"), &mesh, err);
  if (status == SN_OK) status = sn_mesh_save_obj(scratch_path("out.obj"), &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  scratch_write("in.obj", triangle_obj, sizeof triangle_obj - 1);
  assert_survives_failing_allocations(load_and_save);
}

// The table of the assets; what a reader does not repair (winding, duplicates) it hands on as read.
static const struct {
  const char* name;
  const char* refusal;  // part of the message, or NULL if the file is to be read
  uint32_t triangle_count;
} defective[] = {
    {"assimp_OBJ_box_UTF16BE.obj", "UTF-16", 0},
    {"assimp_OBJ_box_without_lineending.obj", NULL, 12},
    {"assimp_OBJ_concave_polygon.obj", NULL, 64},
    {"assimp_OBJ_number_formats.obj", ":11: z coordinate '3.1+e2'", 0},
    {"assimp_STL_sphereWithHole.stl", "unknown kind of mesh", 0},
    {"assimp_invalid_malformed.obj", ": vertex index", 0},
    {"cgal_non_manifold.off", "unknown kind of mesh", 0},
    {"meshlab_many_small_holes.ply", NULL, 3524},
    {"sofa_6_tetra_bad.msh", "unknown kind of mesh", 0},
    {"trimesh_busted.STL", "unknown kind of mesh", 0},
    {"trimesh_empty.obj", "no triangles", 0},
    {"trimesh_face_in_group_name.obj", "no triangles", 0},
    {"trimesh_joined_tetrahedra.obj", NULL, 8},
    {"trimesh_nancolor.obj", NULL, 12},
    {"trimesh_negative_indices.obj", NULL, 12},
    {"trimesh_notenoughindices.obj", ":9: face with 2 corners", 0},
    {"trimesh_polygonfaces.obj", NULL, 3},
    {"vega_double_loop_with_cube.obj", NULL, 4012},
    {"generated/crlf.obj", NULL, 320},
    {"generated/duplicate_faces.obj", NULL, 360},
    {"generated/duplicate_vertices_soup.obj", NULL, 320},
    {"generated/empty_file.obj", "the file is empty", 0},
    {"generated/far_offset.obj", NULL, 320},
    {"generated/hollow_sphere.obj", NULL, 640},
    {"generated/huge_coordinates.obj", NULL, 320},
    {"generated/index_out_of_range.obj", ": vertex index", 0},
    {"generated/inf_vertex.obj", "coordinate 'inf'", 0},
    {"generated/inside_out.obj", NULL, 320},
    {"generated/mixed_winding.obj", NULL, 320},
    {"generated/nan_vertex.obj", "coordinate 'nan'", 0},
    {"generated/negative_indices.obj", NULL, 320},
    {"generated/ngon_prism.obj", NULL, 32},
    {"generated/open_hemisphere.obj", NULL, 152},
    {"generated/quads.obj", NULL, 12},
    {"generated/tiny_scale.obj", NULL, 320},
    {"generated/two_spheres_overlapping.obj", NULL, 640},
    {"generated/unreferenced_vertices.obj", NULL, 320},
    {"generated/zero_area_faces.obj", NULL, 323},
};

static void defective_files_are_read_or_refused_as_their_table_says(void** unused) {
  (void)unused;
  skip_without_assets();
  for (size_t i = 0; i < sizeof defective / sizeof *defective; ++i) {
    char path[1024];
    snprintf(path, sizeof path, "%s/defective/%s", SN_TEST_ASSETS, defective[i].name);
    if (defective[i].refusal) {
      assert_refused(path, defective[i].refusal);
      continue;
    }
    sn_mesh mesh;
    sn_error err = {0};
    if (sn_mesh_load(path, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
    assert_true(sn_mesh_is_valid(&mesh));
    if (mesh.triangle_count != defective[i].triangle_count) {
      fail_msg("%s: %u triangles", path, mesh.triangle_count);
    }
    sn_mesh_destroy(&mesh);
  }
  assert_int_equal(sn_memory_used(), 0);
}

static void assert_same_mesh(const char* first_name, const char* second_name) {
  sn_mesh first, second;
  char path[1024];
  snprintf(path, sizeof path, "%s/defective/generated/%s", SN_TEST_ASSETS, first_name);
  assert_int_equal(sn_mesh_load(path, &first, NULL), SN_OK);
  snprintf(path, sizeof path, "%s/defective/generated/%s", SN_TEST_ASSETS, second_name);
  assert_int_equal(sn_mesh_load(path, &second, NULL), SN_OK);
  assert_int_equal(first.vertex_count, second.vertex_count);
  assert_int_equal(first.triangle_count, second.triangle_count);
  assert_memory_equal(first.positions, second.positions, 24 * (size_t)first.vertex_count);
  assert_memory_equal(first.triangles, second.triangles, 12 * (size_t)first.triangle_count);
  sn_mesh_destroy(&first);
  sn_mesh_destroy(&second);
}

static void line_ends_and_relative_indices_do_not_change_a_mesh(void** unused) {
  (void)unused;
  skip_without_assets();
  assert_same_mesh("crlf.obj", "negative_indices.obj");
}

#define SCRATCH_TEST(name) \
  cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(the_format_is_told_by_content_then_by_ending),
      SCRATCH_TEST(a_mark_of_utf8_is_passed_over_and_utf16_named),
      SCRATCH_TEST(files_that_are_missing_or_empty_are_named),
      SCRATCH_TEST(a_saved_mesh_comes_back_with_polygons_and_floats),
      SCRATCH_TEST(the_longest_numbers_fit),
      SCRATCH_TEST(saving_does_not_depend_on_the_locale),
      SCRATCH_TEST(saving_where_nothing_can_be_written_fails),
      SCRATCH_TEST(failing_allocations_are_survived),
      cmocka_unit_test(defective_files_are_read_or_refused_as_their_table_says),
      cmocka_unit_test(line_ends_and_relative_indices_do_not_change_a_mesh),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
