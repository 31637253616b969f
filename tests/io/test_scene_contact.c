// Colliders and contact of a scene.
#include "io/scene_contact.h"

#include <jansson.h>
#include <math.h>

#include "io/scene_text.h"
#include "scene/model.h"

static const char tetrahedron[] =
    "v 0 0 0\nv 1.1 0 0\nv 0 1.3 0\nv 0 0 1.7\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  scratch_write("tet.obj", tetrahedron, strlen(tetrahedron));
  scratch_write("bunny.obj", tetrahedron, strlen(tetrahedron));
  return 0;
}

#define WITH(rest) "{\"bodies\": [{\"surface\": \"tet.obj\"}], " rest "}"
#define COLLIDER(keys) WITH("\"colliders\": [{" keys "}]")
#define CAPSULE "\"shape\": \"capsule\", \"from\": [0,0,0], \"to\": [2,4,6], \"radius\": 0.5"

static void the_smallest_scene_drops_a_body_on_the_ground(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      "{ \"bodies\": [ { \"surface\": \"bunny.obj\" } ], \"colliders\": [ { \"shape\": \"plane\" } "
      "] }");
  assert_true(s->mode == SN_MODE_DYNAMIC && s->collider_count == 1);
  const sn_collider_desc* plane = &s->colliders[0];
  assert_string_equal(plane->name, "plane");
  assert_int_equal(plane->kind, SN_COLLIDER_PLANE);
  assert_vector(plane->position, 0, 0, 0);
  assert_vector(plane->normal, 0, 1, 0);
  assert_int_equal(plane->motion.key_count, 0);
  assert_true(plane->friction == 0.3 && plane->stiffness == 500.0);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void every_shape_is_read_in_metres(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      WITH("\"unit\": 0.5, \"up\": \"z\", \"colliders\": [{\"shape\": \"plane\", \"position\": "
           "[0, 0, -2]}, {\"shape\": \"sphere\", \"radius\": 3, \"position\": [2, 0, 0]}, "
           "{" CAPSULE "}, {\"shape\": \"box\", \"half\": [1, 2, 3]}, {\"mesh\": \"tet.obj\", "
           "\"motion\": [{\"frame\": 1, \"translate\": [2, 0, 0]}]}]"));
  const sn_collider_desc* c = s->colliders;
  assert_int_equal(s->collider_count, 5);
  assert_true(c[0].kind == SN_COLLIDER_PLANE && c[1].kind == SN_COLLIDER_SPHERE);
  assert_vector(c[0].position, 0, 0, -1);
  assert_vector(c[0].normal, 0, 0, 1);
  assert_vector(c[1].position, 1, 0, 0);
  assert_true(c[1].radius == 1.5 && c[1].capsule.radius == 0.0);
  assert_true(c[2].kind == SN_COLLIDER_CAPSULE && c[2].capsule.radius == 0.25);
  assert_vector(c[2].capsule.to, 1, 2, 3);
  assert_true(c[2].radius == 0.0);
  assert_int_equal(c[3].kind, SN_COLLIDER_BOX);
  assert_vector(c[3].half, 0.5, 1, 1.5);
  assert_vector(c[3].position, 0, 0, 0);
  assert_true(c[4].kind == SN_COLLIDER_MESH && c[4].mesh.positions[3] == 0.55);
  assert_string_equal(c[4].surface, scratch_path("tet.obj"));
  assert_vector(c[4].motion.keys[0].translate, 1, 0, 0);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_normal_of_any_length_is_a_direction(void** unused) {
  (void)unused;
  const char* texts[] = {COLLIDER("\"shape\": \"plane\", \"normal\": [0, 3e-20, -4e-20]"),
                         COLLIDER("\"shape\": \"plane\", \"normal\": [0, 3e8, -4e8]")};
  for (int i = 0; i < 2; ++i) {
    sn_scene* s = load_well(texts[i]);
    sn_vec3 n = s->colliders[0].normal;
    assert_true(n.x == 0.0 && fabs(n.y - 0.6) < 1e-15 && fabs(n.z + 0.8) < 1e-15);
    sn_scene_destroy(s);
  }
}

static void a_collider_touches_as_contact_says_or_as_it_does(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      WITH("\"contact\": {\"friction\": 0.7, \"stiffness\": 50, \"thickness\": 0.25, \"self\": "
           "false}, \"unit\": 2, \"colliders\": [{\"shape\": \"plane\"}, {\"shape\": \"plane\", "
           "\"friction\": 0, \"stiffness\": 9}]"));
  assert_true(s->colliders[0].friction == 0.7 && s->colliders[0].stiffness == 50.0);
  assert_true(s->colliders[1].friction == 0.0 && s->colliders[1].stiffness == 9.0);
  assert_true(s->contact.thickness == 0.5 && !s->contact.self);
  sn_scene_destroy(s);
}

static void names_are_found_for_the_nameless(void** unused) {
  (void)unused;
  scratch_write(".obj", tetrahedron, strlen(tetrahedron));
  sn_scene* s = load_well(
      "{\"bodies\": [{\"surface\": \"tet.obj\"}, {\"name\": \"plane3\", \"surface\": \"tet.obj\"}],"
      " \"colliders\": [{\"shape\": \"plane\"}, {\"shape\": \"plane\"}, {\"shape\": \"plane\"},"
      " {\"mesh\": \"tet.obj\"}, {\"mesh\": \"bunny.obj\"}, {\"mesh\": \".obj\"},"
      " {\"name\": \"plane2\", \"shape\": \"plane\"}, {\"name\": \"my floor\", \"shape\": "
      "\"plane\"}]}");
  const char* names[] = {"plane", "plane4", "plane5", "tet2",
                         "bunny", "mesh",   "plane2", "my floor"};
  for (int i = 0; i < 8; ++i) assert_string_equal(s->colliders[i].name, names[i]);
  sn_scene_destroy(s);
}

// Names must not take a number of comparisons that grows with the cube of their number.
static void thousands_of_colliders_are_named_in_no_time(void** unused) {
  (void)unused;
  enum { PLANES = 10000 };
  const char head[] = "{\"bodies\": [{\"surface\": \"tet.obj\"}], \"colliders\": [";
  const char plane[] = "{\"shape\": \"plane\"},";
  char* text = malloc(PLANES * sizeof plane + sizeof head + 2);
  memcpy(text, head, sizeof head);
  size_t length = sizeof head - 1;
  for (int i = 0; i < PLANES; ++i) {
    memcpy(text + length, plane, sizeof plane);
    length += sizeof plane - 1;
  }
  memcpy(text + length - 1, "]}", 3);
  sn_scene* s = load_well(text);
  free(text);
  assert_int_equal(s->collider_count, PLANES);
  assert_string_equal(s->colliders[PLANES - 1].name, "plane10000");
  sn_scene_destroy(s);
}

static void pairs_pass_through_one_another(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      "{\"bodies\": [{\"name\": \"a\", \"surface\": \"tet.obj\"}, {\"name\": \"b\", \"surface\": "
      "\"tet.obj\"}], \"contact\": {\"ignore\": [[\"a\", \"b\"], [\"plane2\", \"b\"], [\"a\", "
      "\"a\"]]}, \"colliders\": [{\"shape\": \"plane\"}, {\"shape\": \"plane\"}]}");
  const sn_contact_side expected[3][2] = {
      {{false, 0}, {false, 1}}, {{true, 1}, {false, 1}}, {{false, 0}, {false, 0}}};
  assert_int_equal(s->contact.ignore_count, 3);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 2; ++k) {
      sn_contact_side side = s->contact.ignore[i].side[k];
      assert_int_equal(side.is_collider, expected[i][k].is_collider);
      assert_int_equal(side.index, expected[i][k].index);
    }
  }
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

typedef struct refusal {
  const char *text, *part;
} refusal;

static void assert_all_refused(const refusal* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    sn_scene* scene;
    sn_error err;
    sn_status status = load_text(rows[i].text, &scene, &err);
    if (status != SN_ERR_INPUT) fail_msg("status %d (%s) for %s", status, err.text, rows[i].text);
    assert_message_has(&err, rows[i].part);
    assert_message_has(&err, "/scene.json: ");
    assert_null(scene);
    assert_int_equal(sn_memory_used(), 0);
  }
}
#define ASSERT_ALL_REFUSED(rows) assert_all_refused(rows, sizeof(rows) / sizeof(rows)[0])

static void shapes_are_checked(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {WITH("\"colliders\": {}"),
       "colliders: found an empty object, expected a list, each a collider {\"shape\""},
      {WITH("\"colliders\": [3]"), "colliders[0]: found 3, expected a collider"},
      {COLLIDER(""), "colliders[0]: found neither of \"shape\" and \"mesh\", expected one"},
      {COLLIDER("\"shape\": \"plane\", \"mesh\": \"tet.obj\""),
       "colliders[0]: found both of \"shape\" and \"mesh\", expected one"},
      {COLLIDER("\"shape\": \"spere\""),
       "colliders[0].shape: found \"spere\", expected \"plane\", \"sphere\", \"capsule\" or "
       "\"box\"; did you mean \"sphere\"?"},
      {COLLIDER("\"shape\": \"sphere\", \"radios\": 1"),
       "colliders[0]: unknown key \"radios\", did you mean \"radius\"?"},
      {COLLIDER("\"mesh\": \"gone.obj\""), "colliders[0].mesh: /"},
      {COLLIDER("\"mesh\": \"../tet.obj\""), "give the absolute path"},
      {COLLIDER("\"shape\": \"plane\", \"normal\": [0, 0, 0]"),
       "colliders[0].normal: found a length of 0, expected a direction [x, y, z]"},
      {COLLIDER("\"shape\": \"plane\", \"normal\": \"up\""),
       "colliders[0].normal: found \"up\", expected a vector [x, y, z]"},
      {COLLIDER("\"shape\": \"plane\", \"radius\": 1"),
       "colliders[0].radius: found 1, expected no such key: a plane has \"position\", \"normal\", "
       "\"motion\", \"friction\" and \"stiffness\""},
      {COLLIDER("\"shape\": \"sphere\", \"radius\": 1, \"normal\": [0, 1, 0]"),
       "colliders[0].normal: found a list of 3, expected no such key: a sphere has \"position\", "
       "\"radius\", \"motion\""},
      {COLLIDER(CAPSULE ", \"position\": [0, 0, 0]"),
       "colliders[0].position: found a list of 3, expected no such key: a capsule has \"from\", "
       "\"to\", \"radius\", \"motion\", \"friction\" and \"stiffness\""},
      {COLLIDER("\"shape\": \"box\", \"half\": [1, 1, 1], \"to\": [0, 0, 0]"),
       "colliders[0].to: found a list of 3, expected no such key: a box has \"position\", "
       "\"half\""},
      {COLLIDER("\"mesh\": \"tet.obj\", \"position\": [0, 0, 0]"),
       "colliders[0].position: found a list of 3, expected no such key: a mesh has \"motion\", "
       "\"friction\" and \"stiffness\""},
      {COLLIDER("\"shape\": \"sphere\""),
       "colliders[0].radius: found nothing, expected a number above 0"},
      {COLLIDER("\"shape\": \"sphere\", \"radius\": 0"), "colliders[0].radius: found 0, expected"},
      {COLLIDER("\"shape\": \"capsule\", \"from\": [0, 0, 0], \"radius\": 1"),
       "colliders[0].to: found nothing, expected a vector [x, y, z]"},
      {COLLIDER("\"shape\": \"box\""),
       "colliders[0].half: found nothing, expected half of each side [x, y, z]"},
      {COLLIDER("\"shape\": \"box\", \"half\": [1, 0, 1]"),
       "colliders[0].half[1]: found 0, expected a number above 0"},
      {COLLIDER("\"shape\": \"plane\", \"motion\": 3"),
       "colliders[0].motion: found 3, expected a list, each a keyframe"},
      {COLLIDER("\"shape\": \"plane\", \"friction\": -0.1"),
       "colliders[0].friction: found -0.1, expected a number from 0 to 1000"},
      {COLLIDER("\"shape\": \"plane\", \"friction\": -1"), "colliders[0].friction: found -1"},
      {COLLIDER("\"shape\": \"plane\", \"stiffness\": 0"),
       "colliders[0].stiffness: found 0, expected a number above 0"},
      {COLLIDER("\"shape\": \"plane\", \"name\": \"\""),
       "colliders[0].name: found \"\", expected a name"},
      {COLLIDER("\"shape\": \"plane\", \"name\": \"tet\""),
       "colliders[0].name: found \"tet\", which bodies[0] has too, expected a name of its own"},
      {WITH("\"colliders\": [{\"shape\": \"plane\", \"name\": \"a\"}, {\"shape\": \"plane\", "
            "\"name\": \"a\"}]"),
       "colliders[1].name: found \"a\", which colliders[0] has too"},
  };
  ASSERT_ALL_REFUSED(rows);
}

#define IGNORE(list) \
  WITH("\"colliders\": [{\"shape\": \"plane\"}], \"contact\": {\"ignore\": " list "}")

static void values_of_contact_are_checked(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {WITH("\"contact\": []"), "contact: found an empty list, expected {\"self\": true"},
      {WITH("\"contact\": {\"fricton\": 1}"),
       "contact: unknown key \"fricton\", did you mean \"friction\"?"},
      {WITH("\"contact\": {\"self\": 1}"), "contact.self: found 1, expected true or false"},
      {WITH("\"contact\": {\"friction\": 1001}"),
       "contact.friction: found 1001, expected a number from 0 to 1000"},
      {WITH("\"contact\": {\"friction\": null}"), "contact.friction: found null, expected"},
      {WITH("\"contact\": {\"stiffness\": 0}"), "contact.stiffness: found 0, expected"},
      {WITH("\"contact\": {\"stiffness\": 2e12}"), "contact.stiffness: found 2000000000000, exp"},
      {WITH("\"contact\": {\"thickness\": 0}"),
       "contact.thickness: found 0, expected a number above 0"},
      {IGNORE("3"), "contact.ignore: found 3, expected a list"},
      {IGNORE("[\"tet\"]"), "contact.ignore[0]: found \"tet\", expected the names of two"},
      {IGNORE("[[\"tet\"]]"), "contact.ignore[0]: found a list of 1, expected the names of two"},
      {IGNORE("[[\"tet\", 3]]"),
       "contact.ignore[0][1]: found 3, expected the name of a body or a collider"},
      {IGNORE("[[\"tet\", \"plan\"]]"),
       "contact.ignore[0][1]: found \"plan\", expected the name of a body or a collider; did you "
       "mean \"plane\"?"},
      {IGNORE("[[\"tot\", \"plane\"]]"), "contact.ignore[0][0]: found \"tot\""},
      {IGNORE("[[\"tot\", \"plane\"]]"), "did you mean \"tet\"?"},
      {IGNORE("[[\"tet\", \"something\"]]"),
       "expected the name of a body or a collider: \"tet\" or \"plane\""},
      {IGNORE("[[\"plane\", \"plane\"]]"), "contact.ignore[0]: found two colliders"},
  };
  ASSERT_ALL_REFUSED(rows);
}

static json_t* first_collider(const sn_scene* s, json_t** document) {
  *document = json_loads(s->resolved, 0, NULL);
  return json_array_get(json_object_get(*document, "colliders"), 0);
}

static void the_resolved_scene_has_only_the_keys_of_a_shape(void** unused) {
  (void)unused;
  const struct {
    const char *text, *keys;
  } rows[] = {
      {COLLIDER("\"normal\": [1, 1, 0], \"shape\": \"plane\""), "name shape position normal "},
      {COLLIDER("\"radius\": 1, \"shape\": \"sphere\""), "name shape position radius "},
      {COLLIDER(CAPSULE), "name shape from to radius "},
      {COLLIDER("\"shape\": \"box\", \"half\": [1, 1, 1]"), "name shape position half "},
      {COLLIDER("\"mesh\": \"tet.obj\""), "name mesh "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    sn_scene* s = load_well(rows[i].text);
    json_t *document, *collider = first_collider(s, &document), *value;
    char keys[200] = "", expected[200];
    const char* key;
    json_object_foreach(collider, key, value) {
      size_t length = strlen(keys);
      snprintf(keys + length, sizeof keys - length, "%s ", key);
    }
    snprintf(expected, sizeof expected, "%smotion friction stiffness ", rows[i].keys);
    assert_string_equal(keys, expected);
    json_decref(document);
    sn_scene_destroy(s);
  }
}

static void whatever_decides_the_result_is_in_the_fingerprint(void** unused) {
  (void)unused;
  const char base[] = WITH(
      "\"bones\": [], \"colliders\": [{\"shape\": \"plane\"}, {\"shape\": \"sphere\", \"radius\": "
      "1}, {" CAPSULE
      "}, {\"shape\": \"box\", \"half\": [1, 1, 1]}, {\"mesh\": \"tet.obj\"}], "
      "\"contact\": {\"ignore\": [[\"tet\", \"box\"]]}");
  const char* changes[] = {"fps=24",  // nothing
                           "max_substeps=9",
                           "solver.integrator=euler",
                           "bodies.0.drag=1",
                           "contact.self=false",
                           "contact.stiffness=999",
                           "contact.friction=0.31",
                           "contact.thickness=0.01",
                           "contact.ignore=[]",
                           "contact.ignore=[[\"tet\", \"plane\"]]",
                           "contact.ignore=[[\"tet\", \"tet\"]]",
                           "colliders=[]",
                           "colliders.0.position=[0, 1, 0]",
                           "colliders.0.normal=[1, 1, 0]",
                           "colliders.0.friction=0",
                           "colliders.0.stiffness=1",
                           "colliders.0.motion=[{\"frame\": 1}]",
                           "colliders.1.radius=2",
                           "colliders.2.radius=2",
                           "colliders.2.to=[1, 1, 1]",
                           "colliders.3.half=[1, 1, 2]",
                           "colliders.4.mesh=other.obj",
                           "mode=quasistatic"};
  enum { COUNT_OF_CHANGES = sizeof changes / sizeof changes[0] };
  uint64_t seen[COUNT_OF_CHANGES];
  scratch_write("other.obj", tetrahedron, strlen(tetrahedron) - 8);
  scratch_write("scene.json", base, strlen(base));
  for (size_t i = 0; i < COUNT_OF_CHANGES; ++i) {
    // The list of colliders goes together with what refers to it.
    bool empty = strcmp(changes[i], "colliders=[]") == 0;
    const sn_scene_change both[] = {{changes[i]}, {empty ? "contact.ignore=[]" : changes[i]}};
    sn_scene* scene;
    sn_error err = {0};
    if (sn_scene_load(scratch_path("scene.json"), both, 2, &scene, &err) != SN_OK) {
      fail_msg("%s: %s", changes[i], err.text);
    }
    seen[i] = sn_scene_fingerprint(scene);
    for (size_t k = 0; k < i; ++k) {
      if (seen[k] == seen[i]) fail_msg("%s and %s", changes[k], changes[i]);
    }
    sn_scene_destroy(scene);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(the_smallest_scene_drops_a_body_on_the_ground),
      TEST(every_shape_is_read_in_metres),
      TEST(a_normal_of_any_length_is_a_direction),
      TEST(a_collider_touches_as_contact_says_or_as_it_does),
      TEST(names_are_found_for_the_nameless),
      TEST(thousands_of_colliders_are_named_in_no_time),
      TEST(pairs_pass_through_one_another),
      TEST(shapes_are_checked),
      TEST(values_of_contact_are_checked),
      TEST(the_resolved_scene_has_only_the_keys_of_a_shape),
      TEST(whatever_decides_the_result_is_in_the_fingerprint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
