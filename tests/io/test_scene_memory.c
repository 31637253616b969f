// Scenes whose text, meshes and maps are in memory.
#include "io/scene_memory.h"

#include "io/scene_text.h"
#include "sinew/model.h"

static const double corners[] = {0, 0, 0, 1.1, 0, 0, 0, 1.3, 0, 0, 0, 1.7};
static const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
static const double halves[] = {0.5, 0.5, 0.25, 2};
static const char tetrahedron[] =
    "v 0 0 0\nv 1.1 0 0\nv 0 1.3 0\nv 0 0 1.7\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static sn_status parse(const char* text, sn_scene** scene, sn_error* err) {
  const sn_scene_mesh meshes[] = {{"tet", corners, 4, triangles, 4},
                                  {"walk.glb", corners, 4, triangles, 4},
                                  {"wrong", corners, 3, triangles, 4},
                                  {"empty", NULL, 0, NULL, 0}};
  const sn_scene_values values[] = {{"halves", halves, 4}, {"short", halves, 3}};
  sn_scene_source source = {.json = text,
                            .length = strlen(text),
                            .folder = scratch_path(""),
                            .meshes = meshes,
                            .mesh_count = 4,
                            .values = values,
                            .values_count = 2};
  *err = (sn_error){0};
  return sn_scene_parse(&source, NULL, 0, scene, err);
}

static sn_scene* parse_well(const char* text) {
  sn_scene* scene;
  sn_error err;
  if (parse(text, &scene, &err) != SN_OK) fail_msg("%s", err.text);
  return scene;
}

static void refuse(const char* text, const char* place, const char* part) {
  sn_scene* scene;
  sn_error err;
  assert_int_equal(parse(text, &scene, &err), SN_ERR_INPUT);
  assert_null(scene);
  assert_message_has(&err, "scene: ");
  assert_message_has(&err, place);
  assert_message_has(&err, part);
  assert_int_equal(sn_memory_used(), 0);
}

static void meshes_stand_where_paths_would(void** unused) {
  (void)unused;
  sn_scene* s = parse_well(
      "{\"unit\": 0.5, \"bodies\": [{\"surface\": \"memory:tet\"}, {\"surface\": \"memory:tet\", "
      "\"regions\": [{\"mesh\": \"memory:tet\", \"stiffness\": 2}]}, {\"surface\": "
      "\"memory:walk.glb\"}], \"bones\": "
      "[{\"mesh\": \"memory:tet\"}], \"colliders\": [{\"mesh\": \"memory:tet\"}], \"muscles\": "
      "[{\"body\": \"tet\", \"mesh\": \"memory:tet\"}]}");
  assert_string_equal(s->bodies[0].name, "tet");
  assert_string_equal(s->bodies[1].name, "tet2");
  assert_string_equal(s->bodies[2].name, "walk");
  assert_string_equal(s->bodies[0].surface, "memory:tet");
  assert_true(s->bodies[0].mesh.positions[3] == 0.55);
  assert_int_equal(s->bodies[1].regions[0].mesh.triangle_count, 4);
  assert_int_equal(s->bones[0].mesh.triangle_count, 4);
  assert_int_equal(s->colliders[0].mesh.triangle_count, 4);
  assert_int_equal(s->muscles[0].mesh.triangle_count, 4);
  uint32_t count;
  const uint32_t* found = sn_scene_triangles(s, 1, &count);
  assert_int_equal(count, 4);
  assert_memory_equal(found, triangles, sizeof triangles);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void values_stand_where_files_of_maps_would(void** unused) {
  (void)unused;
  sn_scene* s = parse_well(
      "{\"bodies\": [{\"surface\": \"memory:tet\", \"maps\": {\"stiffness\": "
      "\"memory:halves\"}}]}");
  assert_int_equal(s->bodies[0].map_count, 1);
  assert_memory_equal(s->bodies[0].maps[0].values, halves, sizeof halves);
  sn_scene_destroy(s);
}

static void what_is_not_in_memory_is_refused(void** unused) {
  (void)unused;
  refuse("{\"bodies\": [{\"surface\": \"memory:tett\"}]}", "bodies[0].surface", "tet");
  refuse("{\"bodies\": [{\"surface\": \"memory:\"}]}", "bodies[0].surface", "in memory");
  refuse("{\"bodies\": [{\"surface\": \"memory:wrong\"}]}", "bodies[0].surface", "triangles[");
  refuse("{\"bodies\": [{\"surface\": \"memory:empty\"}]}", "bodies[0].surface", "no triangles");
  refuse("{\"bodies\": [{\"surface\": \"memory:tet\", \"maps\": {\"density\": \"memory:short\"}}]}",
         "bodies[0].maps.density", "3 values");
  refuse("{\"bodies\": [{\"surface\": \"memory:tet\", \"maps\": {\"density\": \"memory:tet\"}}]}",
         "bodies[0].maps.density", "vertex values");
  refuse("{\"bodies\": [{\"surface\": \"memory:tet\"}], \"unitt\": 1}", "unitt", "unit");
  // A file cannot refer to memory.
  assert_refused("{\"bodies\": [{\"surface\": \"memory:tet\"}]}", "none are given");
}

static void syntax_errors_have_line_and_column_under_the_given_name(void** unused) {
  (void)unused;
  sn_scene* scene;
  sn_error err = {0};
  sn_scene_source source = {.name = "shot 7", .json = "{\n]", .length = 3};
  assert_int_equal(sn_scene_parse(&source, NULL, 0, &scene, &err), SN_ERR_INPUT);
  assert_message_has(&err, "shot 7:2:");
}

static void paths_begin_at_the_folder(void** unused) {
  (void)unused;
  scratch_write("tet.obj", tetrahedron, strlen(tetrahedron));
  sn_scene* s =
      parse_well("{\"bodies\": [{\"surface\": \"tet.obj\"}, {\"surface\": \"memory:tet\"}]}");
  assert_string_equal(s->bodies[0].surface, scratch_path("tet.obj"));
  assert_memory_equal(s->bodies[0].mesh.positions, s->bodies[1].mesh.positions, sizeof corners);
  sn_scene_destroy(s);
  sn_error err = {0};
  sn_scene_source lost = {.json = "{}", .length = 2, .folder = scratch_path("not/there")};
  assert_int_equal(sn_scene_parse(&lost, NULL, 0, &s, &err), SN_ERR_IO);
}

// The resolved text, read again with the same arrays, is the same scene.
static void the_text_reads_back_with_the_same_arrays(void** unused) {
  (void)unused;
  sn_scene* s = parse_well(
      "{\"bodies\": [{\"surface\": \"memory:tet\", \"cell\": 0.25, \"maps\": {\"stiffness\": "
      "\"memory:halves\"}}]}");
  assert_non_null(strstr(sn_scene_json(s), "\"memory:tet\""));
  sn_scene* again = parse_well(sn_scene_json(s));
  assert_string_equal(sn_scene_json(again), sn_scene_json(s));
  sn_error err = {0};
  assert_int_equal(sn_scene_save(scratch_path("saved.json"), s, &err), SN_OK);
  sn_scene* from_file;
  assert_int_equal(sn_scene_load(scratch_path("saved.json"), NULL, 0, &from_file, &err),
                   SN_ERR_INPUT);
  assert_message_has(&err, "memory");
  sn_scene_destroy(again);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void changes_are_made(void** unused) {
  (void)unused;
  const char text[] = "{\"bodies\": [{\"surface\": \"memory:tet\"}]}";
  const sn_scene_mesh mesh = {"tet", corners, 4, triangles, 4};
  sn_scene_source source = {.json = text, .length = strlen(text), .meshes = &mesh, .mesh_count = 1};
  sn_scene_change change = {"frames=[3,4]"};
  sn_scene* scene;
  sn_error err = {0};
  assert_int_equal(sn_scene_parse(&source, &change, 1, &scene, &err), SN_OK);
  assert_int_equal(scene->first_frame, 3);
  sn_scene_destroy(scene);
}

static sn_status attempt(sn_error* err) {
  sn_scene* scene;
  sn_status status = parse(
      "{\"bodies\": [{\"surface\": \"memory:tet\", \"maps\": {\"grip\": \"memory:halves\"}}],"
      "\"fixed\": [{\"where\": {\"map\": \"grip\"}}]}",
      &scene, err);
  sn_scene_destroy(scene);
  return status;
}

static void running_out_of_memory_is_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(attempt);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(meshes_stand_where_paths_would),
      cmocka_unit_test(values_stand_where_files_of_maps_would),
      cmocka_unit_test(what_is_not_in_memory_is_refused),
      cmocka_unit_test(syntax_errors_have_line_and_column_under_the_given_name),
      cmocka_unit_test(paths_begin_at_the_folder),
      cmocka_unit_test(the_text_reads_back_with_the_same_arrays),
      cmocka_unit_test(changes_are_made),
      cmocka_unit_test(running_out_of_memory_is_survived),
  };
  return cmocka_run_group_tests(tests, make_scratch_folder, remove_scratch_folder);
}
