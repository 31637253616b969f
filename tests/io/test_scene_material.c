// Materials in scenes: every law with its keys, the library, what is refused, and that a scene that was
// written out means the same.
#include <math.h>

#include "io/scene_text.h"
#include "material/law.h"
#include "scene/model.h"

static const char tetrahedron[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  scratch_write("tet.obj", tetrahedron, strlen(tetrahedron));
  return 0;
}

#define SCENE(keys) "{\"bodies\": [{\"surface\": \"tet.obj\"" keys "}]}"
#define MATERIAL(keys) SCENE(", \"material\": {" keys "}")

static bool are_same(const sn_material* a, const sn_material* b) {
  bool same = a->law == b->law && a->mu == b->mu && a->lambda == b->lambda;
  for (int i = 0; i < SN_LAW_NUMBERS; ++i) same = same && a->numbers[i] == b->numbers[i];
  return same;
}

// The material of the text, which must survive being written out and read again, twice.
static sn_body_desc read_body(const char* text) {
  sn_error err = {0};
  sn_scene* scene = load_well(text);
  sn_body_desc body = scene->bodies[0];
  uint64_t fingerprint = sn_scene_fingerprint(scene);
  if (sn_scene_save(scratch_path("resolved.json"), scene, &err) != SN_OK) fail_msg("%s", err.text);
  sn_scene_destroy(scene);

  if (sn_scene_load(scratch_path("resolved.json"), NULL, 0, &scene, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_true(are_same(&scene->bodies[0].material, &body.material));
  assert_true(scene->bodies[0].density == body.density);
  assert_true(sn_scene_fingerprint(scene) == fingerprint);
  sn_scene_save(scratch_path("again.json"), scene, &err);
  sn_scene_destroy(scene);
  size_t size, other_size;
  char* first = read_everything(scratch_path("resolved.json"), &size);
  char* second = read_everything(scratch_path("again.json"), &other_size);
  assert_int_equal(size, other_size);
  assert_memory_equal(first, second, size);
  free(first);
  free(second);
  return body;
}

static sn_material read_material(const char* text) { return read_body(text).material; }

static void every_law_has_its_usual_numbers(void** unused) {
  (void)unused;
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    char text[512];
    snprintf(text, sizeof text, MATERIAL("\"model\": \"%s\", \"young\": 30000, \"poisson\": 0.4"),
             sn_law_name((sn_law)law));
    sn_material found = read_material(text);
    sn_material expected = sn_material_of((sn_law)law, 30000.0 / (2.0 * (1.0 + 0.4)),
                                          30000.0 * 0.4 / ((1.0 + 0.4) * (1.0 - 2.0 * 0.4)));
    if (!are_same(&found, &expected)) fail_msg("%s", text);
    snprintf(text, sizeof text, MATERIAL("\"model\": \"%s\", \"mu\": 7, \"lambda\": 9"),
             sn_law_name((sn_law)law));
    found = read_material(text);
    expected = sn_material_of((sn_law)law, 7, 9);
    assert_true(are_same(&found, &expected));
    snprintf(text, sizeof text, MATERIAL("\"model\": \"%s\""), sn_law_name((sn_law)law));
    assert_true(read_material(text).mu == 12000.0 / (2.0 * (1.0 + 0.47)));
  }
}

static void own_numbers_are_read(void** unused) {
  (void)unused;
  sn_material m = read_material(MATERIAL("\"limit\": 0.3, \"model\": \"neo-hookean\""));
  assert_true(m.law == SN_LAW_NEO_HOOKEAN && m.numbers[0] == 0.3);
  m = read_material(MATERIAL("\"model\": \"stvk\", \"limit\": 0.8"));
  assert_true(m.law == SN_LAW_STVK && m.numbers[0] == 0.8);
  m =
      read_material(MATERIAL("\"model\": \"biphasic\", \"stiffening\": 3, \"compressed\": 0.6, "
                             "\"stretched\": 1.7"));
  assert_true(m.numbers[0] == 0.6 && m.numbers[1] == 1.7 && m.numbers[2] == 3);
}

static void mooney_and_rivlins_constants(void** unused) {
  (void)unused;
  sn_material m = read_material(
      MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 300, \"c01\": 100, \"kappa\": 6e5"));
  assert_true(m.mu == 800 && m.numbers[1] == 0.25 && m.numbers[0] == 0.2);
  assert_true(fabs(sn_law_bulk(&m) - 6e5) < 1e-9);
  m = read_material(
      MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 0, \"c01\": 100, \"poisson\": 0.4"));
  assert_true(m.mu == 200 && m.numbers[1] == 1 && fabs(m.lambda - 800) < 1e-9);
  m = read_material(MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 1, \"c01\": 0"));
  assert_true(m.mu == 2 && m.numbers[1] == 0 && fabs(m.lambda - 2 * 0.94 / 0.06) < 1e-9);
  m =
      read_material(MATERIAL("\"model\": \"mooney-rivlin\", \"mu\": 9, \"lambda\": 4, "
                             "\"share\": 0.1"));
  assert_true(m.mu == 9 && m.lambda == 4 && m.numbers[1] == 0.1);
}

static void every_library_name_is_a_material(void** unused) {
  (void)unused;
  uint32_t count;
  const sn_library_material* all = sn_library(&count);
  assert_true(count >= 15);
  for (uint32_t i = 0; i < count; ++i) {
    char text[512];
    snprintf(text, sizeof text, SCENE(", \"material\": \"%s\""), all[i].name);
    sn_body_desc body = read_body(text);
    assert_true(body.density == all[i].density);
    assert_true(body.material.mu > 100 && body.material.mu < 1e9 && body.material.lambda > 0);
    assert_true(strlen(all[i].source) > 20 && !strchr(all[i].source, '"'));
    for (uint32_t k = 0; k < i; ++k) assert_string_not_equal(all[k].name, all[i].name);
    // An explicit density stays.
    snprintf(text, sizeof text, SCENE(", \"density\": 7, \"material\": \"%s\""), all[i].name);
    assert_true(read_body(text).density == 7);
  }
}

static void flesh_is_the_default(void** unused) {
  (void)unused;
  sn_body_desc flesh = read_body(SCENE(", \"material\": \"flesh\"")), none = read_body(SCENE(""));
  assert_true(are_same(&flesh.material, &none.material) && flesh.density == none.density);
  assert_int_equal(none.material.law, SN_LAW_STABLE_NEO_HOOKEAN);
}

static void numbers_of_the_library_are_in_the_ranges_of_life(void** unused) {
  (void)unused;
  static const struct {
    const char* name;
    double least, most;  // Young's modulus, Pa
  } rows[] = {{"flesh", 12e3, 12e3},    {"muscle", 30e3, 60e3},    {"skin", 100e3, 1000e3},
              {"fat", 1e3, 20e3},       {"tendon", 0.5e9, 2e9},    {"ligament", 1e8, 6e8},
              {"cartilage", 3e5, 2e6},  {"heart", 5e3, 60e3},      {"liver", 1e3, 10e3},
              {"brain", 5e2, 1e4},      {"gelatine", 1e3, 3e4},    {"ballistic-gelatine", 1e4, 2e5},
              {"silicone", 50e3, 15e4}, {"rubber", 0.9e6, 1.25e6}, {"foam", 1e4, 2e5},
              {"jelly", 3e2, 1e4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char text[512];
    snprintf(text, sizeof text, SCENE(", \"material\": \"%s\""), rows[i].name);
    sn_material m = read_material(text);
    double young = m.mu * (3 * m.lambda + 2 * m.mu) / (m.lambda + m.mu);
    if (young < rows[i].least * (1 - 1e-9) || young > rows[i].most * (1 + 1e-9)) {
      fail_msg("%s: %g", rows[i].name, young);
    }
  }
}

static void what_is_wrong_is_said(void** unused) {
  (void)unused;
  static const struct {
    const char *text, *part;
  } rows[] = {
      {SCENE(", \"material\": \"muscel\""), "did you mean \"muscle\"?"},
      {MATERIAL("\"model\": \"stable-neohookean\""),
       "bodies[0].material.model: found \"stable-neohookean\""},
      {MATERIAL("\"model\": \"stable-neohookean\""), "did you mean \"stable-neo-hookean\"?"},
      {MATERIAL("\"model\": 3"), "bodies[0].material.model: found 3"},
      {MATERIAL("\"limit\": 0.3"), "bodies[0].material: unknown key \"limit\""},
      {MATERIAL("\"model\": \"neo-hookean\", \"c10\": 1"), "unknown key \"c10\""},
      {MATERIAL("\"model\": \"neo-hookean\", \"limit\": 0"),
       "material.limit: found 0, expected a number from 0.001 to 1"},
      {MATERIAL("\"model\": \"neo-hookean\", \"limit\": 1.5"), "material.limit: found 1.5"},
      {MATERIAL("\"model\": \"stvk\", \"limit\": 0.05"),
       "material.limit: found 0.05, expected a number from 0.1 to 1"},
      {MATERIAL("\"model\": \"biphasic\", \"stiffening\": 0.5"),
       "material.stiffening: found 0.5, expected a number of 1 or more"},
      {MATERIAL("\"model\": \"biphasic\", \"stretched\": 1"), "material.stretched: found 1"},
      {MATERIAL("\"model\": \"biphasic\", \"compressed\": 1"), "material.compressed: found 1"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 5"),
       "material.c01: found nothing, expected a number"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"kappa\": 5"),
       "material.c10: found nothing, expected a number"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 0, \"c01\": 0"),
       "material.c10: found 0 beside a \"c01\" of 0, expected a sum above 0"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 1, \"c01\": 1, \"kappa\": 0.01"),
       "material.kappa: found 0.01, expected 1/42 mu"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 1, \"c01\": 1, \"share\": 0.5"),
       "material.share: found 0.5, expected no such key beside"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 1, \"c01\": 1, \"young\": 5"),
       "found keys of two kinds"},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 1, \"c01\": 1, \"mu\": 5"),
       "or \"c10\" and \"c01\" with \"kappa\" or \"poisson\""},
      {MATERIAL("\"model\": \"mooney-rivlin\", \"c10\": 1, \"c01\": 1, \"kappa\": 9, "
                "\"poisson\": 0.4"),
       "found keys of two kinds"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    assert_refused(rows[i].text, rows[i].part);
}

static void a_law_and_its_numbers_are_in_the_fingerprint(void** unused) {
  (void)unused;
  const char* texts[] = {
      MATERIAL(""),
      MATERIAL("\"model\": \"fixed-corotated\""),
      MATERIAL("\"model\": \"neo-hookean\""),
      MATERIAL("\"model\": \"neo-hookean\", \"limit\": 0.25"),
      MATERIAL("\"model\": \"mooney-rivlin\""),
      MATERIAL("\"model\": \"mooney-rivlin\", \"share\": 0.25"),
      MATERIAL("\"model\": \"biphasic\", \"stiffening\": 11"),
      MATERIAL("\"model\": \"biphasic\", \"stretched\": 11"),
  };
  enum { COUNT = sizeof texts / sizeof *texts };
  uint64_t seen[COUNT];
  for (size_t i = 0; i < COUNT; ++i) {
    sn_scene* scene = load_well(texts[i]);
    seen[i] = sn_scene_fingerprint(scene);
    for (size_t k = 0; k < i; ++k) assert_true(seen[k] != seen[i]);
    sn_scene_destroy(scene);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_law_has_its_usual_numbers),
      TEST(own_numbers_are_read),
      TEST(mooney_and_rivlins_constants),
      TEST(every_library_name_is_a_material),
      TEST(flesh_is_the_default),
      TEST(numbers_of_the_library_are_in_the_ranges_of_life),
      TEST(what_is_wrong_is_said),
      TEST(a_law_and_its_numbers_are_in_the_fingerprint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
