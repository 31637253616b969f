// Surfaces and motion that a scene takes from glTF files.
#include "sinew/scene.h"

#include "io/gltf_made.h"
#include "io/scene_gltf.h"
#include "io/scene_text.h"
#include "math/vec.h"

static const double pi = 3.14159265358979323846;

// tube.glb as the writer makes it; walk.glb with an arm that turns about z, below a scaled root.
static void write_walk(const char* name, float last_scale) {
  float times[2] = {0, 1}, turns[8] = {0, 0, 0, 1, 0, 0, (float)sin(pi / 4), (float)cos(pi / 4)};
  float lifts[6] = {0, 2, 0, 1, 2, 0}, scales[6] = {1, 1, 1, last_scale, 1, 1};
  sn_gltf_channel channels[3] = {{1, SN_GLTF_ROTATE, SN_GLTF_LINEAR, times, turns, 2},
                                 {1, SN_GLTF_TRANSLATE, SN_GLTF_LINEAR, times, lifts, 2},
                                 {1, SN_GLTF_SCALE, SN_GLTF_LINEAR, times, scales, 2}};
  sn_gltf_channel still = {1, SN_GLTF_TRANSLATE, SN_GLTF_STEP, times, lifts, 1};
  sn_gltf_clip clips[2] = {{"walk", channels, 3, 1}, {"stand", &still, 1, 0}};
  sn_gltf_node nodes[2] = {tube_node("root", -1, 0), tube_node("LeftArm", 0, 2)};
  nodes[0].scale = (sn_vec3){100, 100, 100};
  const sn_gltf gltf = {.nodes = nodes, .node_count = 2, .clips = clips, .clip_count = 2};
  sn_error err = {0};
  if (sn_gltf_save(scratch_path(name), &gltf, &err) != SN_OK) fail_msg("%s", err.text);
}

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  glb file = make_tube_file();
  free(file.bytes);
  write_walk("walk.glb", 1.0f);
  return 0;
}

#define Q "\"mode\": \"quasistatic\", "
#define SURFACE(name) "{" Q "\"bodies\": [{\"surface\": \"" name "\"}]}"
#define MOTION(motion)                                                                   \
  "{" Q                                                                                  \
  "\"unit\": 0.5, \"fps\": 4, \"frames\": [11, 30], \"bodies\": [{\"surface\": "         \
  "\"tube.glb#tube\"}], \"bones\": [{\"capsule\": {\"from\": [0,0,0], \"to\": [0,1,0], " \
  "\"radius\": 0.1}, \"motion\": " motion "}]}"

static void a_name_ends_where_the_mesh_begins(void** unused) {
  (void)unused;
  assert_int_equal(sn_gltf_name_length("a/b.glb"), 7);
  assert_int_equal(sn_gltf_name_length("b.GLTF"), 6);
  assert_int_equal(sn_gltf_name_length("b.glb#c.obj"), 5);
  assert_int_equal(sn_gltf_name_length("x.y/b.gltf#/../c#d"), 10);
  assert_int_equal(sn_gltf_name_length("b.glbs"), 0);
  assert_int_equal(sn_gltf_name_length("b.obj#c"), 0);
  assert_int_equal(sn_gltf_name_length(""), 0);
}

static void a_skinned_surface_is_where_its_joints_put_it_at_rest(void** unused) {
  (void)unused;
  sn_scene* s = load_well("{" Q "\"unit\": 0.5, \"bodies\": [{\"surface\": \"tube.glb#tube\"}]}");
  const sn_body_desc* body = &s->bodies[0];
  assert_string_equal(body->name, "tube");
  assert_string_equal(body->surface, scratch_path("tube.glb"));
  assert_non_null(strstr(s->resolved, "/tube.glb#tube\""));
  assert_true(sn_mesh_is_valid(&body->mesh));
  assert_int_equal(body->mesh.triangle_count, TUBE_TRIANGLES);
  assert_int_equal(body->mesh.group_count, 1);
  assert_string_equal(body->mesh.groups[0].name, "primitive0");
  sn_gltf gltf;
  sn_error err = {0};
  assert_int_equal(sn_gltf_load(scratch_path("tube.glb"), &gltf, &err), SN_OK);
  double* world = malloc(16 * gltf.node_count * sizeof *world);
  double expected[3 * TUBE_VERTICES];
  uint32_t node = 0;
  while (gltf.nodes[node].mesh < 0 || gltf.nodes[node].skin < 0) ++node;
  sn_gltf_pose(&gltf, -1, 0, world);
  sn_gltf_skin_vertices(&gltf, node, world, expected);
  for (int i = 0; i < 3 * TUBE_VERTICES; ++i) {
    assert_true(body->mesh.positions[i] == 0.5 * expected[i]);
  }
  free(world);
  sn_gltf_destroy(&gltf);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void any_other_surface_is_where_its_node_puts_it(void** unused) {
  (void)unused;
  static tube t;
  make_tube(&t);
  sn_scene* s = load_well("{" Q
                          "\"bodies\": [{\"surface\": \"./tube.glb#plain\"}], \"bones\": "
                          "[{\"mesh\": \"tube.glb#plain\"}], \"colliders\": [{\"mesh\": "
                          "\"tube.glb#plain\", \"motion\": {\"from\": \"walk.glb\", \"node\": "
                          "\"LeftArm\"}}]}");
  assert_string_equal(s->colliders[0].name, "tube2");
  assert_true(s->colliders[0].motion.key_count > 1);
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    const double *p = t.positions + 3 * v, *moved = s->bodies[0].mesh.positions + 3 * v;
    assert_true(moved[0] == 3 - 2 * p[1] && moved[1] == 2 * p[0] && moved[2] == 2 * p[2]);
    assert_memory_equal(moved, s->bones[0].mesh.positions + 3 * v, 24);
    assert_memory_equal(moved, s->colliders[0].mesh.positions + 3 * v, 24);
  }
  sn_scene_destroy(s);
  // Used twice it is taken as it is in the file.
  t.nodes[1].mesh = 1;
  sn_error err = {0};
  assert_int_equal(sn_gltf_save(scratch_path("twice.glb"), &t.gltf, &err), SN_OK);
  s = load_well(SURFACE("twice.glb#plain"));
  assert_memory_equal(s->bodies[0].mesh.positions, t.positions, sizeof t.positions);
  sn_scene_destroy(s);
  // The only mesh of a file needs no name.
  const sn_gltf single = {.meshes = &t.meshes[1], .mesh_count = 1};
  assert_int_equal(sn_gltf_save(scratch_path("single.glb"), &single, &err), SN_OK);
  s = load_well(SURFACE("single.glb"));
  assert_memory_equal(s->bodies[0].mesh.positions, t.positions, sizeof t.positions);
  assert_string_equal(s->bodies[0].name, "single");
  sn_scene_destroy(s);
}

static void meshes_that_are_not_there_are_named(void** unused) {
  (void)unused;
  assert_refused(
      SURFACE("tube.glb"),
      "expected one of its meshes behind it, as in file.glb#mesh: \"tube\" or \"plain\"");
  assert_refused(
      SURFACE("tube.glb#tub"),
      "bodies[0].surface: found \"tub\", expected the name of a mesh of the file; did you "
      "mean \"tube\"?");
  assert_refused(SURFACE("tube.glb#"),
                 "found \"\", expected the name of a mesh of the file: \"tube");
  assert_refused(SURFACE("walk.glb"), "walk.glb\", which has no meshes, expected one that has");
  assert_refused(SURFACE("gone.glb#a"), "bodies[0].surface: /");
  assert_refused(SURFACE("gone.glb#a"), "gone.glb: cannot be read");
  assert_refused(SURFACE("../tube.glb#tube"), "expected a path below the folder of the scene");
  scratch_write("text.gltf", "{\"asset\": 2}", 12);
  assert_refused(SURFACE("text.gltf"), "text.gltf: asset: found 2, expected an object");
}

static void assert_near(double value, double expected) {
  if (!(fabs(value - expected) < 1e-6)) fail_msg("%g, not %g", value, expected);
}

// At 4 frames a second the clip of one second has five keys; the fifth holds from then on.
static void motion_is_that_of_the_node_against_its_rest(void** unused) {
  (void)unused;
  sn_scene* s = load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\"}"));
  const sn_motion* motion = &s->bones[0].motion;
  assert_int_equal(motion->key_count, 5);
  assert_non_null(strstr(s->resolved, "\"clip\": \"walk\""));
  for (int k = 0; k <= 8; ++k) {
    double turn = fmin(k, 4) / 4 * pi / 2;
    // The arm's origin is at (0, 200, 0) units and moves along x by 100; a unit is half a metre.
    sn_rigid pose = sn_motion_at(motion, 1 + k);
    sn_vec3 rest = {0.3, 100.7, 0.2}, moved = sn_rigid_apply(&pose, rest);
    double x = rest.x, y = rest.y - 100.0;
    assert_near(moved.x, cos(turn) * x - sin(turn) * y + 50 * fmin(k, 4) / 4);
    assert_near(moved.y, sin(turn) * x + cos(turn) * y + 100);
    assert_near(moved.z, 0.2);
  }
  sn_scene_destroy(s);
  s = load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\", \"clip\": \"stand\"}"));
  assert_int_equal(s->bones[0].motion.key_count, 1);
  assert_true(s->bones[0].motion.keys[0].rotate.w == 1.0);
  sn_scene_destroy(s);
  s = load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\"}"));
  for (uint32_t k = 0; k < 5; ++k) {
    assert_near(s->bones[0].motion.keys[k].rotate.w, 1.0);
    assert_near(s->bones[0].motion.keys[k].translate.x, 0.0);
  }
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_saved_scene_moves_in_the_same_way(void** unused) {
  (void)unused;
  sn_scene *first = load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\"}")), *second;
  sn_error err = {0};
  assert_int_equal(sn_scene_save(scratch_path("saved.json"), first, &err), SN_OK);
  if (sn_scene_load(scratch_path("saved.json"), NULL, 0, &second, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_string_equal(first->resolved, second->resolved);
  assert_int_equal(first->bones[0].motion.key_count, second->bones[0].motion.key_count);
  assert_memory_equal(first->bones[0].motion.keys, second->bones[0].motion.keys,
                      5 * sizeof *first->bones[0].motion.keys);
  assert_memory_equal(first->bodies[0].mesh.positions, second->bodies[0].mesh.positions,
                      24 * TUBE_VERTICES);
  sn_scene_destroy(first);
  sn_scene_destroy(second);
}

static void motion_that_cannot_be_followed_is_refused(void** unused) {
  (void)unused;
  write_walk("grow.glb", 1.01f);
  write_walk("mirror.glb", -1.0f);
  write_walk("hardly.glb", 1.0001f);
  sn_scene_destroy(load_well(MOTION("{\"from\": \"hardly.glb\", \"node\": \"LeftArm\"}")));
  assert_refused(
      MOTION("{\"from\": \"grow.glb\", \"node\": \"LeftArm\"}"),
      "bones[0].motion: found the node scaled, sheared or mirrored by 0.0025 against its "
      "rest pose at frame 2, expected a rigid motion");
  assert_refused(MOTION("{\"from\": \"mirror.glb\", \"node\": \"LeftArm\"}"), "scaled, sheared or");
  assert_refused(MOTION("{\"from\": \"walk.glb\"}"),
                 "bones[0].motion.node: found nothing, expected the name of a node of the file");
  assert_refused(
      MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArn\"}"),
      "bones[0].motion.node: found \"LeftArn\", expected the name of a node of the file; "
      "did you mean \"LeftArm\"?");
  assert_refused(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"clip\": \"run\"}"),
                 "bones[0].motion.clip: found \"run\", expected the name of a clip of the file: "
                 "\"walk\" or \"stand\"");
  assert_refused(MOTION("{\"from\": \"walk.obj\", \"node\": \"root\"}"),
                 "/walk.obj\", expected a glTF file (.glb or .gltf)");
  assert_refused(MOTION("{\"from\": \"walk.glb#a\", \"node\": \"root\"}"), "expected a glTF file");
  assert_refused(MOTION("{\"from\": \"gone.glb\", \"node\": \"root\"}"), "motion.from: /");
  assert_refused(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"loop\": true}"),
                 "bones[0].motion: unknown key \"loop\"");
  const sn_gltf nothing = {0};
  sn_gltf_node node = tube_node("root", -1, 0);
  const sn_gltf still = {.nodes = &node, .node_count = 1};
  sn_error err = {0};
  assert_int_equal(sn_gltf_save(scratch_path("nothing.glb"), &nothing, &err), SN_OK);
  assert_int_equal(sn_gltf_save(scratch_path("still.glb"), &still, &err), SN_OK);
  assert_refused(MOTION("{\"from\": \"nothing.glb\", \"node\": \"root\"}"), "motion.node: found");
  assert_refused(MOTION("{\"from\": \"still.glb\", \"node\": \"root\"}"), "which has no animation");
  node.scale = (sn_vec3){0, 1, 1};
  float times[1] = {0}, values[3] = {0};
  sn_gltf_channel channel = {0, SN_GLTF_TRANSLATE, SN_GLTF_STEP, times, values, 1};
  sn_gltf_clip clip = {"a", &channel, 1, 0};
  const sn_gltf flat = {.nodes = &node, .node_count = 1, .clips = &clip, .clip_count = 1};
  assert_int_equal(sn_gltf_save(scratch_path("flat.glb"), &flat, &err), SN_OK);
  assert_refused(MOTION("{\"from\": \"flat.glb\", \"node\": \"root\"}"), "flat or without bounds");
}

// Real rigs: every node of the horse moves rigidly.
static void rigs_of_the_assets_give_motion(void** unused) {
  (void)unused;
  skip_without_assets();
  char text[1024];
  snprintf(text, sizeof text,
           "{" Q
           "\"bodies\": [{\"surface\": \"%s/rigged/quaternius_horse.glb\"}], \"fixed\": "
           "[{\"where\": \"all\", \"motion\": {\"from\": \"%s/rigged/quaternius_horse.glb\", "
           "\"node\": \"Head\", \"clip\": \"AnimalArmature|Gallop\"}}]}",
           SN_TEST_ASSETS, SN_TEST_ASSETS);
  sn_scene* s = load_well(text);
  assert_true(s->fixed[0].motion.key_count > 5);
  assert_string_equal(s->bodies[0].name, "quaternius_horse");
  sn_scene_destroy(s);
}

static sn_status load_moving(sn_error* err) {
  sn_scene* scene;
  sn_status status = sn_scene_load(scratch_path("scene.json"), NULL, 0, &scene, err);
  sn_scene_destroy(scene);
  return status;
}

static void running_out_of_memory_frees_everything(void** unused) {
  (void)unused;
  sn_scene_destroy(load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\"}")));
  assert_survives_failing_allocations(load_moving);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_name_ends_where_the_mesh_begins),
      TEST(a_skinned_surface_is_where_its_joints_put_it_at_rest),
      TEST(any_other_surface_is_where_its_node_puts_it),
      TEST(meshes_that_are_not_there_are_named),
      TEST(motion_is_that_of_the_node_against_its_rest),
      TEST(a_saved_scene_moves_in_the_same_way),
      TEST(motion_that_cannot_be_followed_is_refused),
      TEST(rigs_of_the_assets_give_motion),
      TEST(running_out_of_memory_frees_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
