// Muscles of a scene.
#include "io/scene_muscle.h"

#include <jansson.h>
#include <math.h>

#include "io/scene_text.h"
#include "scene/model.h"

static const char tetrahedron[] =
    "v 0 0 0\nv 1.1 0 0\nv 0 1.3 0\nv 0 0 1.7\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  scratch_write("tet.obj", tetrahedron, strlen(tetrahedron));
  scratch_write("biceps.obj", tetrahedron, strlen(tetrahedron));
  static const char still[] = "0 0 0 1 0 0\n1 1 1 0 0 0\n";
  scratch_write("still.csv", still, strlen(still));
  return 0;
}

#define WITH(rest) "{\"bodies\": [{\"surface\": \"tet.obj\"}], " rest "}"
#define MUSCLE(keys) WITH("\"muscles\": [{\"mesh\": \"biceps.obj\"" keys "}]")
#define BONE                                                                                \
  "\"bones\": [{\"name\": \"ulna\", \"capsule\": {\"from\": [0, 0, 0], \"to\": [1, 0, 0], " \
  "\"radius\": 0.1}}]"

static void a_mesh_is_enough(void** unused) {
  (void)unused;
  sn_scene* s = load_well(MUSCLE(""));
  const sn_muscle_desc* m = s->muscles;
  assert_int_equal(s->muscle_count, 1);
  assert_string_equal(m->name, "biceps");
  assert_string_equal(m->surface, scratch_path("biceps.obj"));
  assert_int_equal(m->body, 0);
  assert_int_equal(m->fibers, SN_FIBERS_SOLVE);
  assert_true(m->origin.kind == SN_END_AXIS && m->insertion.kind == SN_END_AXIS);
  assert_true(m->activation_count == 1 && m->activation[0].value == 0);
  assert_true(m->max_stress == 3e5 && m->optimal == 1 && m->passive == 1);
  assert_true(m->tendon == 0 && m->stiffness == 3e6);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_law_of_fibres_brings_its_numbers(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      WITH("\"muscles\": [{\"mesh\": \"biceps.obj\"}, "
           "{\"mesh\": \"biceps.obj\", \"law\": \"holzapfel\"}, {\"mesh\": \"biceps.obj\", "
           "\"law\": {\"model\": \"holzapfel\", \"k1\": 5, \"k2\": 7}}]"));
  const sn_muscle_desc* m = s->muscles;
  assert_true(m[0].law == SN_FIBER_ZAJAC && m[1].law == SN_FIBER_HOLZAPFEL);
  assert_true(m[1].numbers[0] == 2363.2 && m[1].numbers[1] == 0.8393);
  assert_true(m[2].law == SN_FIBER_HOLZAPFEL && m[2].numbers[0] == 5 && m[2].numbers[1] == 7);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void every_key_is_read_in_metres(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      WITH("\"unit\": 0.5, " BONE ", \"muscles\": [{\"name\": \"a\", \"body\": \"tet\", \"mesh\": "
           "\"biceps.obj\", \"origin\": [2, 4, 6], \"insertion\": {\"near\": \"ulna\"}, "
           "\"activation\": [{\"frame\": 1, \"value\": 0.25}, {\"frame\": 5, \"value\": 0.75}], "
           "\"max_stress\": 1e5, \"optimal\": 1.4, \"passive\": 0, \"tendon\": 0.25, "
           "\"stiffness\": 2e7}, "
           "{\"mesh\": \"biceps.obj\", \"fibers\": {\"along\": [[1, 1, 1], [1, 4, 5]]}}]"));
  const sn_muscle_desc* m = s->muscles;
  assert_int_equal(s->muscle_count, 2);
  assert_true(m->origin.kind == SN_END_POINT && m->insertion.kind == SN_END_BONE);
  assert_vector(m->origin.point, 1, 2, 3);
  assert_int_equal(m->insertion.bone, 0);
  assert_true(m->mesh.positions[3] == 0.55 && m->max_stress == 1e5 && m->optimal == 1.4);
  assert_true(m->passive == 0 && m->tendon == 0.25 && m->stiffness == 2e7);
  assert_int_equal(m->activation_count, 2);
  assert_true(sn_number_at(m->activation, 2, 0) == 0.25 &&
              sn_number_at(m->activation, 2, 9) == 0.75);
  assert_true(sn_number_at(m->activation, 2, 2) == 0.375 &&
              sn_number_at(m->activation, 2, 3) == 0.5);
  assert_string_equal(m[1].name, "biceps");
  assert_int_equal(m[1].fibers, SN_FIBERS_ALONG);
  assert_true(m[1].along.x == 0 && fabs(m[1].along.y - 0.6) < 1e-15 &&
              fabs(m[1].along.z - 0.8) < 1e-15);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void what_is_wrong_is_named(void** unused) {
  (void)unused;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {WITH("\"muscles\": [{}]"), "muscles[0].mesh: found nothing"},
      {MUSCLE(", \"actvation\": 1"), "muscles[0]: unknown key"},
      {MUSCLE(", \"actvation\": 1"), "\"activation\""},
      {MUSCLE(", \"body\": \"tt\""),
       "muscles[0].body: found \"tt\", expected the name of a body; did you mean \"tet\"?"},
      {MUSCLE(", \"activation\": 1.5"), "muscles[0].activation: "},
      {MUSCLE(", \"activation\": \"on\""), "expected a number from 0 to 1 or a list"},
      {MUSCLE(", \"activation\": []"), "expected a number from 0 to 1 or a list"},
      {MUSCLE(", \"activation\": [{\"frame\": 2, \"value\": 0}, {\"frame\": 1, \"value\": 0}]"),
       "muscles[0].activation[1].frame"},
      {MUSCLE(", \"activation\": [{\"frame\": 2, \"value\": -1}]"),
       "muscles[0].activation[0].value"},
      {MUSCLE(", \"fibers\": \"solved\""),
       "muscles[0].fibers: found \"solved\", expected \"solve\""},
      {MUSCLE(", \"fibers\": {\"along\": [[0, 0, 0]]}"), "muscles[0].fibers.along: "},
      {MUSCLE(", \"fibers\": {\"along\": [[1, 0, 0], [1, 0, 0]]}"), "found the same point twice"},
      {MUSCLE(", \"fibers\": {\"field\": \"none.csv\"}"), "muscles[0].fibers.field: "},
      {MUSCLE(", \"fibers\": {\"field\": \"biceps.obj\"}"), "fields; expected x, y, z, dx, dy, dz"},
      {MUSCLE(", \"fibers\": {\"field\": \"still.csv\"}"), "still.csv:2: a direction of length 0"},
      {MUSCLE(", \"fibers\": {}"), "muscles[0].fibers: "},
      {MUSCLE(", \"fibers\": {\"along\": [[1, 0, 0], [2, 0, 0]]}, \"origin\": [1, 2, 3]"),
       "muscles[0].origin: found a list"},
      {MUSCLE(", \"origin\": 3"), "muscles[0].origin: found 3, expected null, a point"},
      {MUSCLE(", \"origin\": {\"near\": \"ulna\"}"), "muscles[0].origin.near: found \"ulna\""},
      {MUSCLE(", \"max_stress\": -1"), "muscles[0].max_stress: "},
      {MUSCLE(", \"optimal\": 0.4"), "muscles[0].optimal: "},
      {MUSCLE(", \"passive\": -1"), "muscles[0].passive: "},
      {MUSCLE(", \"tendon\": 0.5"), "muscles[0].tendon: "},
      {MUSCLE(", \"stiffness\": -1"), "muscles[0].stiffness: "},
      {WITH("\"muscles\": [{\"mesh\": \"none.obj\"}]"), "none.obj"},
      {WITH("\"muscles\": [{\"mesh\": \"a.fbx\"}]"), "muscles[0].mesh"},
      {WITH("\"muscles\": [{\"mesh\": \"tet.obj\", \"name\": \"a\"}, {\"mesh\": \"tet.obj\", "
            "\"name\": \"a\"}]"),
       "muscles[1].name: found \"a\", which muscles[0] has too"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_refused(cases[i].text, cases[i].part);
}

static void the_resolved_scene_says_the_same(void** unused) {
  (void)unused;
  sn_scene* s = load_well(WITH(BONE ", \"muscles\": [{\"mesh\": \"biceps.obj\", \"origin\": "
                                    "{\"near\": \"ulna\"}, \"activation\": "
                                    "[{\"frame\": 1, \"value\": 0.1}]}, {\"mesh\": \"tet.obj\", "
                                    "\"fibers\": {\"along\": [[0, 0, 0], "
                                    "[1, 2, 3]]}, \"activation\": 0.3}]"));
  sn_scene* again = load_well(s->resolved);
  assert_string_equal(s->resolved, again->resolved);
  assert_true(sn_scene_fingerprint(s) == sn_scene_fingerprint(again));
  assert_non_null(strstr(s->resolved, "\"insertion\": null"));
  sn_scene_destroy(s);
  sn_scene_destroy(again);
}

static void everything_is_in_the_fingerprint(void** unused) {
  (void)unused;
  const char* texts[] = {WITH("\"up\": \"y\""),
                         MUSCLE(""),
                         MUSCLE(", \"activation\": 0.5"),
                         MUSCLE(", \"activation\": [{\"frame\": 2, \"value\": 0}]"),
                         MUSCLE(", \"max_stress\": 1"),
                         MUSCLE(", \"optimal\": 1.1"),
                         MUSCLE(", \"passive\": 2"),
                         MUSCLE(", \"tendon\": 0.1"),
                         MUSCLE(", \"stiffness\": 1"),
                         MUSCLE(", \"origin\": [0, 0, 0]"),
                         MUSCLE(", \"insertion\": [0, 0, 0]"),
                         MUSCLE(", \"fibers\": {\"along\": [[0, 0, 0], [1, 2, 3]]}"),
                         MUSCLE(", \"fibers\": {\"along\": [[0, 0, 0], [3, 2, 3]]}")};
  enum { COUNT = sizeof texts / sizeof *texts };
  uint64_t prints[COUNT];
  for (int i = 0; i < COUNT; ++i) {
    sn_scene* s = load_well(texts[i]);
    prints[i] = sn_scene_fingerprint(s);
    sn_scene_destroy(s);
    for (int k = 0; k < i; ++k) assert_true(prints[k] != prints[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mesh_is_enough),
      cmocka_unit_test(a_law_of_fibres_brings_its_numbers),
      cmocka_unit_test(every_key_is_read_in_metres),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(the_resolved_scene_says_the_same),
      cmocka_unit_test(everything_is_in_the_fingerprint),
  };
  return cmocka_run_group_tests(tests, begin, remove_scratch_folder);
}
