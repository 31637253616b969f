// Regions and maps in scene files.
#include "io/gltf_made.h"
#include "io/scene_text.h"

static char last_message[1024];
static int message_count;

static void listen(void* user, sn_log_level level, const char* text) {
  (void)user, (void)level;
  snprintf(last_message, sizeof last_message, "%s", text);
  ++message_count;
}

#define TET "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
#define TET_FACES "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  scratch_write("tet.obj", TET TET_FACES, strlen(TET TET_FACES));
  scratch_write("ones.csv", "1\n1\n1\n1\n", 8);
  scratch_write("half.csv", "0,1\n1,0.5\n3,0\n2,0.25\n", 21);
  static const char ply[] =
      "ply\nformat ascii 1.0\nelement vertex 4\nproperty float stiffness\nproperty float fat\n"
      "end_header\n1 0\n2 0.5\n3 1\n4 0\n";
  scratch_write("maps.ply", ply, sizeof ply - 1);
  glb file = make_tube_file();
  free(file.bytes);
  message_count = 0;
  sn_set_log(listen, NULL);
  return 0;
}

static int end(void** state) {
  sn_set_log(NULL, NULL);
  return remove_scratch_folder(state);
}

#define Q "\"mode\": \"quasistatic\", \"unit\": 0.5"
#define BODY(rest) "{" Q ", \"bodies\": [{\"surface\": \"tet.obj\", " rest "}]}"
#define REGION(rest) BODY("\"regions\": [{\"mesh\": \"tet.obj\", " rest "}]")
#define TUBE(rest) "{" Q ", \"bodies\": [{\"surface\": \"tube.glb#tube\"" rest "}]}"

static void regions_have_defaults(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      BODY("\"regions\": [{\"mesh\": \"tet.obj\", \"stiffness\": 2}, {\"name\": \"region1\","
           " \"mesh\": \"tube.glb#plain\", \"material\": \"flesh\", \"density\": 900,"
           " \"weight\": 0.25}]"));
  const sn_body_desc* body = &s->bodies[0];
  assert_int_equal(body->region_count, 2);
  const sn_region_desc* a = &body->regions[0];
  assert_string_equal(a->name, "region2");
  assert_string_equal(a->surface, scratch_path("tet.obj"));
  assert_true(!a->has_material && !a->has_density && a->stiffness == 2 && a->weight == 1);
  assert_true(a->mesh.positions[3] == 0.5);
  const sn_region_desc* b = &body->regions[1];
  assert_true(b->has_material && b->has_density && b->density == 900 && b->weight == 0.25);
  assert_true(b->material.mu == body->material.mu && b->stiffness == 1);
  assert_int_equal(b->mesh.vertex_count, TUBE_VERTICES);
  assert_non_null(strstr(s->resolved, "\"density\": null"));
  assert_true(!strstr(s->resolved, "\"material\": \"flesh\""));
  assert_non_null(strstr(s->resolved, "/tube.glb#plain\""));
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_material_of_the_library_brings_its_density(void** unused) {
  (void)unused;
  sn_scene* s = load_well(REGION("\"material\": \"flesh\""));
  assert_true(s->bodies[0].regions[0].has_density && s->bodies[0].regions[0].density > 500);
  sn_scene_destroy(s);
  s = load_well(REGION("\"material\": \"flesh\", \"density\": null"));
  assert_false(s->bodies[0].regions[0].has_density);
  sn_scene_destroy(s);
}

static void wrong_regions_are_named(void** unused) {
  (void)unused;
  assert_refused(REGION("\"stifness\": 2"),
                 "bodies[0].regions[0]: unknown key \"stifness\", did you mean \"stiffness\"?");
  assert_refused(BODY("\"regions\": [{\"density\": 5}]"),
                 "bodies[0].regions[0].mesh: found nothing");
  assert_refused(REGION("\"weight\": 1"),
                 "bodies[0].regions[0]: found a region that changes nothing");
  assert_refused(REGION("\"density\": 0"), "bodies[0].regions[0].density: found 0");
  assert_refused(REGION("\"density\": 5, \"weight\": 1.5"),
                 "bodies[0].regions[0].weight: found 1.5");
  assert_refused(REGION("\"stiffness\": 0"), "bodies[0].regions[0].stiffness: found 0");
  assert_refused(REGION("\"stiffness\": -1"), "bodies[0].regions[0].stiffness: found -1");
  assert_refused(REGION("\"material\": {\"yuong\": 1}"),
                 "bodies[0].regions[0].material: unknown key \"yuong\"");
  assert_refused(REGION("\"material\": \"bone\""), "bodies[0].regions[0].material: found \"bone\"");
  assert_refused(REGION("\"density\": 5, \"name\": \"density\""),
                 "bodies[0].regions[0].name: found \"density\", which is a map's");
  assert_refused(BODY("\"regions\": [{\"name\": \"a\", \"mesh\": \"tet.obj\", \"density\": 2},"
                      "{\"name\": \"a\", \"mesh\": \"tet.obj\", \"density\": 2}]"),
                 "bodies[0].regions[1].name: found \"a\", which regions[0] has too");
  assert_refused(BODY("\"regions\": [{\"mesh\": \"no.obj\", \"density\": 2}]"),
                 "bodies[0].regions[0].mesh: ");
  assert_refused(BODY("\"regions\": {}"), "bodies[0].regions: ");
}

static void assert_map(const sn_map* map, const char* name, double a, double b, double c,
                       double d) {
  assert_string_equal(map->name, name);
  assert_true(map->values[0] == a && map->values[1] == b && map->values[2] == c &&
              map->values[3] == d);
}

static void maps_come_from_csv_and_ply(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      "{" Q
      ", \"bodies\": [{\"surface\": \"tet.obj\", \"regions\": [{\"name\": \"fat\", \"mesh\":"
      " \"tet.obj\", \"density\": 900}], \"maps\": {\"grip\": \"half.csv\", \"stiffness\":"
      " \"maps.ply\", \"fat\": \"./maps.ply#fat\", \"density\": null}}], \"fixed\": [{\"where\":"
      " {\"map\": \"grip\"}}, {\"where\": {\"map\": \"fat\", \"above\": 0.25}}]}");
  const sn_body_desc* body = &s->bodies[0];
  assert_int_equal(body->map_count, 3);
  assert_map(&body->maps[0], "grip", 1, 0.5, 0.25, 0);
  assert_map(&body->maps[1], "stiffness", 1, 2, 3, 4);
  assert_map(&body->maps[2], "fat", 0, 0.5, 1, 0);
  assert_int_equal(s->fixed[0].where.kind, SN_WHERE_MAP);
  assert_true(s->fixed[0].where.above == 0.5 && s->fixed[1].where.above == 0.25);
  assert_string_equal(s->fixed[0].where.map, "grip");

  // The scene as it was resolved gives the same again.
  char text[8192];
  snprintf(text, sizeof text, "%s", s->resolved);
  sn_scene_destroy(s);
  s = load_well(text);
  assert_string_equal(s->resolved, text);
  assert_map(&s->bodies[0].maps[2], "fat", 0, 0.5, 1, 0);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void wrong_maps_are_named(void** unused) {
  (void)unused;
  scratch_write("short.csv", "1\n2\n", 4);
  scratch_write("nan.csv", "1\nnan\n1\n1\n", 10);
  scratch_write("minus.csv", "1\n1\n-2\n1\n", 9);
  scratch_write("two.csv", "1\n1\n2\n1\n", 8);
#define MAP(name, source) BODY("\"maps\": {\"" name "\": " source "}")
  assert_refused(MAP("stiffness", "\"short.csv\""), "short.csv: 2 values; expected 4");
  assert_refused(MAP("stiffness", "\"nan.csv\""), "nan.csv:2: 'nan'; expected a finite number");
  assert_refused(
      MAP("stiffness", "\"minus.csv\""),
      "bodies[0].maps.stiffness: found -2 at vertex 2 of \"minus.csv\", expected 0.001 to "
      "1e+06");
  assert_refused(MAP("density", "\"half.csv\""), "bodies[0].maps.density: found 0 at vertex 3");
  assert_refused(MAP("activation", "\"two.csv\""),
                 "bodies[0].maps.activation: found 2 at vertex 2 of \"two.csv\", expected 0 to 1");
  assert_refused(MAP("stiffness", "\"maps.ply#stifness\""), "did you mean \"stiffness\"?");
  assert_refused(MAP("density", "\"maps.ply\""), "no number \"density\"");
  assert_refused(MAP("stiffness", "\"no.csv\""), "bodies[0].maps.stiffness: ");
  assert_refused(MAP("stiffness", "\"../out.csv\""), "expected a path below the folder");
  assert_refused(MAP("stiffness", "\"ones.txt\""), "expected \"file.csv\", \"file.ply#property\"");
  assert_refused(MAP("stiffness", "\"ones.csv#a\""),
                 "expected \"file.csv\", \"file.ply#property\"");
  assert_refused(MAP("stiffness", "\"maps.ply#\""), "expected \"file.csv\", \"file.ply#property\"");
  assert_refused(MAP("stiffness", "\"\""), "expected \"file.csv\", \"file.ply#property\"");
  assert_refused(MAP("stiffness", "2"), "bodies[0].maps.stiffness: found 2");
  assert_refused(MAP("stiffness", "\"_SINEW_STIFFNESS\""), "tet.obj\" is no glTF file");
  assert_refused(MAP("stifness", "\"ones.csv\""), "did you mean \"stiffness\"?");
  assert_refused(MAP("elsewhere", "\"ones.csv\""),
                 "expected a map that a \"where\" names, or one of a known name: \"stiffness\", "
                 "\"density\" or \"activation\"");
  assert_refused(MAP("a\\nb", "\"ones.csv\""),
                 "bodies[0].maps: found \"a\\u000ab\", expected a name");
  assert_refused(BODY("\"maps\": true"), "bodies[0].maps: found true, expected false, or");
  assert_refused(BODY("\"regions\": [{\"name\": \"fat\", \"mesh\": \"tet.obj\", \"density\": 2}],"
                      "\"maps\": {\"fat\": \"two.csv\"}"),
                 "bodies[0].maps.fat: found 2 at vertex 2 of \"two.csv\", expected 0 to 1");
  assert_refused("{" Q
                 ", \"bodies\": [{\"surface\": \"tet.obj\"}], \"fixed\": [{\"where\": {\"map\":"
                 " \"grip\"}}]}",
                 "fixed[0].where.map: found \"grip\", expected a map of the body, which has none");
  assert_refused(
      "{" Q
      ", \"bodies\": [{\"surface\": \"tet.obj\", \"maps\": {\"stiffness\":"
      " \"ones.csv\"}}], \"fixed\": [{\"where\": {\"map\": \"stifness\"}}]}",
      "fixed[0].where.map: found \"stifness\", expected a map of the body; did you mean");
  assert_refused("{" Q
                 ", \"bodies\": [{\"surface\": \"tet.obj\"}], \"fixed\": [{\"where\": {\"above\":"
                 " 1}}]}",
                 "fixed[0].where: ");
}

static void an_attribute_of_the_surface_is_used_and_said(void** unused) {
  (void)unused;
  sn_scene* s = load_well(TUBE(""));
  const sn_body_desc* body = &s->bodies[0];
  assert_int_equal(body->map_count, 1);
  assert_string_equal(body->maps[0].name, "stiffness");
  assert_string_equal(body->maps[0].source, "_SINEW_STIFFNESS");
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    float upper = (float)(v / TUBE_SIDES) / (TUBE_RINGS - 1);
    assert_true(body->maps[0].values[v] == (double)(0.5f + upper));
  }
  assert_non_null(strstr(s->resolved, "\"maps\": {\"stiffness\": \"_SINEW_STIFFNESS\"}"));
  assert_non_null(
      strstr(last_message, "attribute _SINEW_STIFFNESS of its surface is taken as map"));
  sn_scene_destroy(s);
}

static void an_attribute_can_be_left_out_or_replaced(void** unused) {
  (void)unused;
  sn_scene* s = load_well(TUBE(", \"maps\": false"));
  assert_int_equal(s->bodies[0].map_count, 0);
  assert_non_null(strstr(s->resolved, "\"maps\": false"));
  sn_scene_destroy(s);
  s = load_well(TUBE(", \"maps\": {\"stiffness\": null}"));
  assert_int_equal(s->bodies[0].map_count, 0);
  sn_scene_destroy(s);
  char text[2 * TUBE_VERTICES];
  for (int v = 0; v < TUBE_VERTICES; ++v) memcpy(text + 2 * v, "2\n", 2);
  scratch_write("twos.csv", text, sizeof text);
  s = load_well(TUBE(", \"maps\": {\"stiffness\": \"twos.csv\"}"));
  assert_true(s->bodies[0].map_count == 1 && s->bodies[0].maps[0].values[7] == 2);
  sn_scene_destroy(s);
  assert_int_equal(message_count, 0);
  s = load_well(TUBE(", \"maps\": {\"density\": \"_SINEW_STIFFNESS\"}"));
  assert_int_equal(s->bodies[0].map_count, 1);
  assert_string_equal(s->bodies[0].maps[0].name, "density");
  sn_scene_destroy(s);
  assert_refused(TUBE(", \"maps\": {\"density\": \"_SINEW_STIFNESS\"}"),
                 "bodies[0].maps.density: found \"_SINEW_STIFNESS\", expected an attribute of the "
                 "surface with one number a vertex; did you mean \"_SINEW_STIFFNESS\"?");
}

// The tube with its map under another name.
static void write_renamed(const char* file, char* attribute) {
  static tube t;
  make_tube(&t);
  t.map.name = attribute;
  for (int v = 0; v < TUBE_VERTICES; ++v) t.heights[v] *= 0.5f;
  sn_error err = {0};
  if (sn_gltf_save(scratch_path(file), &t.gltf, &err) != SN_OK) fail_msg("%s", err.text);
}

static void an_attribute_of_a_regions_name_weighs_it(void** unused) {
  (void)unused;
  write_renamed("fat.glb", (char*)"_SINEW_FAT");
  sn_scene* s = load_well("{" Q
                          ", \"bodies\": [{\"surface\": \"fat.glb#tube\", \"regions\":"
                          " [{\"name\": \"Fat\", \"mesh\": \"tet.obj\", \"density\": 900}]}]}");
  assert_int_equal(s->bodies[0].map_count, 1);
  assert_string_equal(s->bodies[0].maps[0].name, "Fat");
  sn_scene_destroy(s);
  s = load_well("{" Q ", \"bodies\": [{\"surface\": \"fat.glb#tube\"}]}");
  assert_int_equal(s->bodies[0].map_count, 0);
  assert_non_null(strstr(last_message, "attribute _SINEW_FAT of its surface is not used"));
  sn_scene_destroy(s);
}

#define HEAD "{\"asset\": {\"version\": \"2.0\"}, "

// A triangle with an attribute of another type.
static glb made_with(const char* attribute, const char* more) {
  char text[2048];
  snprintf(text, sizeof text,
           HEAD
           "\"buffers\": [{\"byteLength\": 48}], \"bufferViews\": [{\"buffer\": 0,"
           " \"byteLength\": 48}], \"accessors\": [{\"componentType\": 5126, \"type\": \"VEC3\","
           " \"count\": 3}, {\"bufferView\": 0, \"count\": 3, %s}], \"meshes\": [{\"primitives\":"
           " [{\"attributes\": {\"POSITION\": 0, \"_SINEW_STIFFNESS\": 1}}%s]}]}",
           attribute, more);
  unsigned char bytes[48];
  memset(bytes, 51, sizeof bytes);
  return make_glb(text, bytes, sizeof bytes);
}

static void attributes_are_floats_or_shares(void** unused) {
  (void)unused;
  static const char* const good[] = {
      "\"componentType\": 5121, \"type\": \"SCALAR\", \"normalized\": true",
      "\"componentType\": 5123, \"type\": \"SCALAR\", \"normalized\": true",
  };
  for (int i = 0; i < 2; ++i) {
    glb file = made_with(good[i], "");
    sn_gltf gltf = parse_well("made.glb", file.bytes, file.size);
    assert_true(gltf.meshes[0].maps[0].values[2] == 0.2f);
    sn_gltf_destroy(&gltf);
    free(file.bytes);
  }
  static const char* const bad[] = {
      "\"componentType\": 5126, \"type\": \"VEC4\"",
      "\"componentType\": 5121, \"type\": \"SCALAR\"",
      "\"componentType\": 5120, \"type\": \"SCALAR\", \"normalized\": true",
  };
  for (int i = 0; i < 3; ++i) {
    glb file = made_with(bad[i], "");
    assert_file_refused(&file,
                        "meshes[0].primitives[0].attributes._SINEW_STIFFNESS: found another");
    free(file.bytes);
  }
  glb file = made_with("\"componentType\": 5126, \"type\": \"SCALAR\"",
                       ", {\"attributes\": {\"POSITION\": 0}}");
  assert_file_refused(&file, "meshes[0].primitives[1].attributes._SINEW_STIFFNESS: found nothing");
  free(file.bytes);
}

static void values_of_regions_can_be_set(void** unused) {
  (void)unused;
  static const char text[] = REGION("\"density\": 900");
  const char* path = scratch_write("scene.json", text, sizeof text - 1);
  const sn_scene_change changes[] = {{"bodies.0.regions.0.material.young=3000"},
                                     {"bodies.0.regions.0.material.poisson=0"},
                                     {"bodies.0.regions.0.weight=0.5"},
                                     {"bodies.0.maps.stiffness=ones.csv"}};
  sn_scene* s;
  sn_error err = {0};
  if (sn_scene_load(path, changes, 4, &s, &err) != SN_OK) fail_msg("%s", err.text);
  assert_true(s->bodies[0].regions[0].material.mu == 1500);
  assert_true(s->bodies[0].regions[0].weight == 0.5 && s->bodies[0].map_count == 1);
  sn_scene_destroy(s);
}

static sn_status load_all(sn_error* err) {
  sn_scene* s;
  sn_status status = sn_scene_load(scratch_path("scene.json"), NULL, 0, &s, err);
  sn_scene_destroy(s);
  return status;
}

static void running_out_of_memory_leaves_nothing_behind(void** unused) {
  (void)unused;
  static const char text[] = BODY(
      "\"regions\": [{\"name\": \"fat\", \"mesh\": \"tet.obj\", \"density\": 9}], \"maps\":"
      " {\"stiffness\": \"maps.ply\", \"fat\": \"half.csv\"}");
  scratch_write("scene.json", text, sizeof text - 1);
  assert_survives_failing_allocations(load_all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(regions_have_defaults),
      TEST(a_material_of_the_library_brings_its_density),
      TEST(wrong_regions_are_named),
      TEST(maps_come_from_csv_and_ply),
      TEST(wrong_maps_are_named),
      TEST(an_attribute_of_the_surface_is_used_and_said),
      TEST(an_attribute_can_be_left_out_or_replaced),
      TEST(an_attribute_of_a_regions_name_weighs_it),
      TEST(attributes_are_floats_or_shares),
      TEST(values_of_regions_can_be_set),
      TEST(running_out_of_memory_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
