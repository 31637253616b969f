#include "io/obj.h"

#include "io/assets.h"
#include "io/damage.h"

static const char cube[] =
    "# a cube of quads\n"
    "o box\n"
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    "v 0 0 1 0.5 nan 0.5\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
    "vn 0 0 1\nvt 0 0\n"
    "g sides f\n"
    "f 1 4 3 2\nf 5/1 6/1 7/1 8/1\nf 1//1 2//1 6//1 5//1\n"
    "g rest\n"
    "f 2/1/1 3/1/1 7/1/1 6/1/1\ng\nf -6 -5 -1 \\\n -2\nf 4 1 5 8\n";

static sn_status parse_text(const char* text, sn_mesh* mesh, sn_error* err) {
  return sn_obj_parse("test.obj", text, strlen(text), mesh, err);
}

static void assert_triangles(const char* text, const uint32_t* expected, uint32_t count) {
  sn_mesh mesh;
  sn_error err = {0};
  if (parse_text(text, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.triangle_count, count);
  assert_memory_equal(mesh.triangles, expected, 3 * count * sizeof *expected);
  sn_mesh_destroy(&mesh);
}

static void assert_refused(const char* text, const char* place_and_found) {
  sn_mesh mesh;
  sn_error err = {0};
  size_t used = sn_memory_used();
  assert_int_equal(parse_text(text, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, place_and_found);
  assert_message_has(&err, "expected");
  assert_null(mesh.storage);
  assert_int_equal(sn_memory_used(), used);
}

static void a_cube_of_quads_has_twelve_triangles(void** unused) {
  (void)unused;
  sn_mesh mesh;
  sn_error err = {0};
  if (parse_text(cube, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.vertex_count, 8);
  assert_int_equal(mesh.face_count, 6);
  assert_int_equal(mesh.triangle_count, 12);
  static const uint32_t relative[] = {2, 3, 7, 6};
  assert_memory_equal(mesh.face_vertices + mesh.face_starts[4], relative, sizeof relative);
  sn_mesh_destroy(&mesh);
}

static void faces_belong_to_their_object_and_to_all_current_groups(void** unused) {
  (void)unused;
  sn_mesh mesh;
  assert_int_equal(parse_text(cube, &mesh, NULL), SN_OK);
  static const struct {
    const char* name;
    uint32_t first, count;
  } expected[] = {{"box", 0, 12}, {"sides", 0, 6}, {"f", 0, 6}, {"rest", 6, 2}};
  assert_int_equal(mesh.group_count, 4);
  for (int g = 0; g < 4; ++g) {
    assert_string_equal(mesh.groups[g].name, expected[g].name);
    assert_int_equal(mesh.groups[g].triangle_count, expected[g].count);
    assert_int_equal(mesh.groups[g].triangles[0], expected[g].first);
  }
  sn_mesh_destroy(&mesh);
}

static void an_object_name_may_contain_blanks(void** unused) {
  (void)unused;
  sn_mesh mesh;
  assert_int_equal(
      parse_text("v 0 0 0\nv 1 0 0\nv 0 1 0\no  left upper arm \r\nf 1 2 3", &mesh, NULL), SN_OK);
  assert_int_equal(mesh.group_count, 1);
  assert_string_equal(mesh.groups[0].name, "left upper arm");
  sn_mesh_destroy(&mesh);
}

static void text_may_be_laid_out_in_every_usual_way(void** unused) {
  (void)unused;
  static const uint32_t one[] = {0, 1, 2};
  assert_triangles("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3", one, 1);
  assert_triangles("v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n", one, 1);
  assert_triangles("v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r", one, 1);
  assert_triangles("\tv  0\t0 0 \n v 1 0 0\n\n  v 0 1 0 \n f  1 2  3 \n", one, 1);
  assert_triangles("v 0 0 \\\n0\nv 1 0 0\nv 0 1 0\nf 1 2\\\r\n3\n", one, 1);
  assert_triangles("# a path: C:\\models\\\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # end", one, 1);
  assert_triangles("v 0 0 0 1.0\nv 1 0 0 a b\nv 0 1 0 nan\nf 1/ 2// 3/1/\n", one, 1);
  assert_triangles(
      "mtllib f.mtl\nusemtl v\nvp 1 2\nfoo f 1 2\nl 1 2\np 1\ns off\n"
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
      one, 1);
}

static void faces_may_stand_before_their_vertices(void** unused) {
  (void)unused;
  static const uint32_t one[] = {0, 1, 2};
  assert_triangles("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n", one, 1);
  assert_refused("f 1 2 3\nf 1 2 4\nv 0 0 0\nv 1 0 0\nv 0 1 0\n", "test.obj:2: vertex index 4");
}

static void coordinates_keep_every_digit(void** unused) {
  (void)unused;
  sn_mesh mesh;
  assert_int_equal(parse_text("v .1 +2.5e-3 -1.\nv 0.12345678901234567 1e150 9.999999999999999\n"
                              "v 1E2 0 0\nf 1 2 3",
                              &mesh, NULL),
                   SN_OK);
  static const double expected[] = {.1, 2.5e-3, -1., 0.12345678901234567, 1e150, 9.999999999999999};
  assert_memory_equal(mesh.positions, expected, sizeof expected);
  sn_mesh_destroy(&mesh);
}

static void faults_are_refused_with_their_line(void** unused) {
  (void)unused;
#define THREE "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
  assert_refused("v 0 0\n", "test.obj:1: vertex with 2 coordinates");
  assert_refused("\nv 0 nan 0\n", "test.obj:2: y coordinate 'nan'");
  assert_refused("v 0 0 -inf\n", "z coordinate '-inf'");
  assert_refused("v 1e999 0 0\n", "x coordinate '1e999'");
  assert_refused("v 1e151 0 0\n", "x coordinate '1e151'");
  assert_refused("v 1 2 0x10\n", "z coordinate '0x10'");
  assert_refused("v 1 2 3.1+e2\n", "z coordinate '3.1+e2'");
  assert_refused("v 1 2 # 3\n", "vertex with 2 coordinates");
  assert_refused(THREE "f 1 2\n", "test.obj:4: face with 2 corners");
  assert_refused(THREE "f\n", "face with 0 corners");
  assert_refused(THREE "f 1 2 0\n", "test.obj:4: vertex index 0");
  assert_refused(THREE "f 1 2 4\n", "test.obj:4: vertex index 4");
  assert_refused(THREE "f 1 2 -4\n", "vertex index -4");
  assert_refused(THREE "f 1 2 4294967297\n", "vertex index 4294967297");
  assert_refused(THREE "f 1 2 99999999999999999999\n", "vertex index");
  assert_refused(THREE "f 1 2 3.0\n", "face corner '3.0'");
  assert_refused(THREE "f 1 2 /3\n", "face corner '/3'");
  assert_refused(THREE "f 1 2 3/1/1/1\n", "face corner '3/1/1/1'");
  assert_refused(THREE "f 1 2 3/x\n", "face corner '3/x'");
  assert_refused(THREE, "test.obj: no triangles");
  assert_refused("", "no triangles");
  assert_refused("g f 1 2 3\n", "no triangles");
}

static void a_zero_byte_is_refused(void** unused) {
  (void)unused;
  static const char text[] = "v 0 0 0\nv 1 0 0\0\nv 0 1 0\nf 1 2 3\n";
  sn_mesh mesh;
  sn_error err;
  assert_int_equal(sn_obj_parse("test.obj", text, sizeof text - 1, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, "test.obj:2: zero byte");
}

static void corners_keep_their_texture_coordinates(void** unused) {
  (void)unused;
  sn_mesh mesh;
  sn_error err = {0};
  static const char text[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0.5 0.25 7\nvt 1\n"
      "f 1/1 2/-1 3/3\nf 1 2//1 4/4\nvt 0 1\nvt nan 0\nf 2/9 3/0 4/1\n";
  if (parse_text(text, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  assert_true(sn_mesh_is_valid(&mesh));
  // The last but one are not a number, the third of the last face is right, the others are not there.
  static const float expected[18] = {0.5f, 0.25f, 1, 0, 0, 1, 0, 0,    0,
                                     0,    0,     0, 0, 0, 0, 0, 0.5f, 0.25f};
  assert_memory_equal(mesh.uvs, expected, sizeof expected);
  sn_mesh_destroy(&mesh);
  if (parse_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 1 1\nf 1//2 2 3\n", &mesh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_null(mesh.uvs);
  sn_mesh_destroy(&mesh);
}

static void materials_are_groups(void** unused) {
  (void)unused;
  sn_mesh mesh;
  sn_error err = {0};
  static const char text[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl dark skin\ng a\nf 1 2 3\nusemtl light\nf 1 3 2\nusemtl\n"
      "f 3 2 1\n";
  if (parse_text(text, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  assert_int_equal(mesh.group_count, 3);
  assert_string_equal(mesh.groups[0].name, "dark skin");
  assert_string_equal(mesh.groups[0].material, "dark skin");
  assert_false(mesh.groups[0].has_color);
  assert_int_equal(mesh.groups[0].triangle_count, 1);
  assert_string_equal(mesh.groups[1].name, "a");
  assert_null(mesh.groups[1].material);
  assert_int_equal(mesh.groups[1].triangle_count, 3);
  assert_string_equal(mesh.groups[2].material, "light");
  assert_int_equal(mesh.groups[2].triangles[0], 1);
  sn_mesh_destroy(&mesh);
}

static void a_face_in_endless_groups_is_refused(void** unused) {
  (void)unused;
  char text[2000] = "v 0 0 0\nv 1 0 0\nv 0 1 0\ng";
  for (int i = 0; i < 70; ++i) {
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, " group%d", i);
  }
  snprintf(text + strlen(text), sizeof text - strlen(text), "\nf 1 2 3\n");
  assert_refused(text, "test.obj:4: a face in more than 62 groups");
}

static void damaged_files_are_refused_or_read(void** unused) {
  (void)unused;
  assert_survives_truncation(sn_obj_parse, cube, sizeof cube - 1);
  assert_survives_mutation(sn_obj_parse, cube, sizeof cube - 1);
}

static sn_status parse_cube(sn_error* err) {
  sn_mesh mesh;
  sn_status status = parse_text(cube, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_every_failing_request(parse_cube);
}

static void surfaces_have_the_triangles_and_boxes_of_their_table(void** unused) {
  (void)unused;
  skip_without_assets();
  assert_true(check_asset_folder("surfaces", ".obj") >= 16);
  assert_true(check_asset_folder("cloth", ".obj") >= 4);
  assert_true(check_asset_folder("colliders", ".obj") >= 8);
  assert_int_equal(sn_memory_used(), 0);
}

static void the_body_of_a_large_character_is_a_group(void** unused) {
  (void)unused;
  skip_without_assets();
  sn_mesh mesh;
  sn_error err = {0};
  if (sn_mesh_load(SN_TEST_ASSETS "/rigged/makehuman/base.obj", &mesh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.triangle_count, 36972);
  uint32_t body = 0;
  while (body < mesh.group_count && strcmp(mesh.groups[body].name, "body") != 0) ++body;
  assert_true(body < mesh.group_count);
  assert_int_equal(mesh.groups[body].triangle_count % 2, 0);
  sn_mesh_destroy(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cube_of_quads_has_twelve_triangles),
      cmocka_unit_test(faces_belong_to_their_object_and_to_all_current_groups),
      cmocka_unit_test(an_object_name_may_contain_blanks),
      cmocka_unit_test(text_may_be_laid_out_in_every_usual_way),
      cmocka_unit_test(faces_may_stand_before_their_vertices),
      cmocka_unit_test(coordinates_keep_every_digit),
      cmocka_unit_test(faults_are_refused_with_their_line),
      cmocka_unit_test(a_zero_byte_is_refused),
      cmocka_unit_test(corners_keep_their_texture_coordinates),
      cmocka_unit_test(materials_are_groups),
      cmocka_unit_test(a_face_in_endless_groups_is_refused),
      cmocka_unit_test(damaged_files_are_refused_or_read),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(surfaces_have_the_triangles_and_boxes_of_their_table),
      cmocka_unit_test(the_body_of_a_large_character_is_a_group),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
