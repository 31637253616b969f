// Surfaces and motion that a scene takes from characters.
#include "sinew/scene.h"

#include "io/character.h"
#include "io/gltf_made.h"
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
  sn_gltf_clip clips[2] = {{.name = "walk", .channels = channels, .channel_count = 3, .end = 1},
                           {.name = "stand", .channels = &still, .channel_count = 1, .end = 0}};
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
  assert_int_equal(sn_character_name_length("a/b.glb"), 7);
  assert_int_equal(sn_character_name_length("b.GLTF"), 6);
  assert_int_equal(sn_character_name_length("b.glb#c.obj"), 5);
  assert_int_equal(sn_character_name_length("x.y/b.gltf#/../c#d"), 10);
  assert_int_equal(sn_character_name_length("b.FBX#c"), 5);
  assert_int_equal(sn_character_name_length("b.dae"), 5);
  assert_int_equal(sn_character_name_length("b.bvh"), 5);
  assert_int_equal(sn_character_name_length("b.glbs"), 0);
  assert_int_equal(sn_character_name_length("b.obj#c"), 0);
  assert_int_equal(sn_character_name_length(""), 0);
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

// All that nodes have, one behind the other, as the library joins them.
static void a_file_without_a_mesh_is_all_its_meshes(void** unused) {
  (void)unused;
  sn_scene* s =
      load_well("{" Q
                "\"bodies\": [{\"surface\": \"tube.glb\", \"maps\": {\"grip\": "
                "\"_SINEW_STIFFNESS\"}}], \"fixed\": [{\"where\": {\"map\": \"grip\"}}]}");
  const sn_body_desc* body = &s->bodies[0];
  assert_string_equal(body->name, "tube");
  sn_gltf gltf;
  sn_mesh joined;
  sn_error err = {0};
  assert_int_equal(sn_character_load(scratch_path("tube.glb"), &gltf, &err), SN_OK);
  assert_int_equal(sn_character_join(&gltf, &joined, &err), SN_OK);
  assert_int_equal(body->mesh.vertex_count, 2 * TUBE_VERTICES);
  assert_int_equal(body->mesh.triangle_count, joined.triangle_count);
  assert_memory_equal(body->mesh.positions, joined.positions, 2 * 24 * TUBE_VERTICES);
  assert_memory_equal(body->mesh.triangles, joined.triangles, 12 * joined.triangle_count);
  assert_int_equal(body->mesh.group_count, joined.group_count);
  assert_string_equal(body->mesh.groups[0].name, "skinned");
  sn_mesh_destroy(&joined);
  sn_gltf_destroy(&gltf);
  // The second mesh has no such attribute: it is nowhere.
  assert_int_equal(body->map_count, 1);
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    assert_true(body->maps[0].values[v] >= 0.5);
    assert_true(body->maps[0].values[TUBE_VERTICES + v] == 0.0);
  }
  sn_scene_destroy(s);
  // As a factor it is 1.
  s = load_well(SURFACE("tube.glb"));
  assert_string_equal(s->bodies[0].maps[0].name, "stiffness");
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    assert_true(s->bodies[0].maps[0].values[TUBE_VERTICES + v] == 1.0);
  }
  sn_scene_destroy(s);
  // Of several meshes, the only one that a node has.
  static tube t;
  make_tube(&t);
  t.nodes[0].mesh = -1;
  t.nodes[0].skin = -1;
  assert_int_equal(sn_gltf_save(scratch_path("one.glb"), &t.gltf, &err), SN_OK);
  s = load_well(SURFACE("one.glb"));
  assert_int_equal(s->bodies[0].mesh.vertex_count, TUBE_VERTICES);
  assert_true(s->bodies[0].mesh.positions[0] == 3 - 2 * t.positions[1]);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void meshes_that_are_not_there_are_named(void** unused) {
  (void)unused;
  static tube t;
  make_tube(&t);
  const sn_gltf loose = {.meshes = t.meshes, .mesh_count = 2};
  sn_error err = {0};
  assert_int_equal(sn_gltf_save(scratch_path("loose.glb"), &loose, &err), SN_OK);
  assert_refused(
      SURFACE("loose.glb"),
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
    sn_affine pose = sn_motion_at(motion, 1 + k);
    sn_vec3 rest = {0.3, 100.7, 0.2}, moved = sn_affine_carry(&pose, rest);
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

// Frame 1 is `start`; a loop begins again where the clip does, for ever.
static void motion_starts_and_repeats(void** unused) {
  (void)unused;
  sn_scene* s =
      load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\", \"start\": 0.5}"));
  const sn_motion* motion = &s->bones[0].motion;
  assert_int_equal(motion->key_count, 3);
  for (int k = 0; k <= 5; ++k) {
    assert_near(sn_motion_at(motion, 1 + k).linear.m[1][0], sin(fmin(2 + k, 4) * pi / 8));
  }
  sn_scene_destroy(s);
  s = load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\", \"loop\": true}"));
  motion = &s->bones[0].motion;
  assert_true(motion->key_count == 5 && motion->period == 4);
  for (int k = 0; k < 1000; ++k) {
    assert_near(sn_motion_at(motion, 1 + k).linear.m[1][0], sin(k % 4 * pi / 8));
  }
  sn_scene_destroy(s);
  // Past the end and in the middle of a frame; a loop of 1 s at 3.7 frames a second.
  s = load_well("{" Q
                "\"fps\": 3.7, \"bodies\": [{\"surface\": \"tube.glb#tube\"}], \"fixed\": "
                "[{\"where\": \"all\", \"motion\": {\"from\": \"walk.glb\", \"node\": "
                "\"LeftArm\", \"loop\": true, \"start\": 7.1}}]}");
  motion = &s->fixed[0].motion;
  assert_true(motion->period == 3.7 && motion->key_count == 5);
  assert_true(motion->keys[4].frame == 4.7);
  assert_near(motion->keys[0].rotate.z, sin(0.1 * pi / 4));
  assert_near(motion->keys[2].rotate.z, sin((0.1 + 2 / 3.7) * pi / 4));
  assert_near(motion->keys[4].rotate.z, sin(0.1 * pi / 4));
  sn_scene_destroy(s);
  // A clip of one pose repeats itself.
  s =
      load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"clip\": \"stand\", "
                       "\"loop\": true, \"start\": 3}"));
  assert_true(s->bones[0].motion.key_count == 1 && s->bones[0].motion.period == 0);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

#define DRIVEN(more) \
  MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\", \"driven_by\": \"wave.bvh\"" more "}")

static void write_wave(const char* name, const char* joint) {
  char text[1024];
  int length = snprintf(text, sizeof text,
                        "HIERARCHY\nROOT root\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition "
                        "Zposition Zrotation Xrotation Yrotation\nJOINT %s\n{\nOFFSET 0 2 0\n"
                        "CHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n"
                        "}\n}\nMOTION\nFrames: 5\nFrame Time: 0.25\n",
                        joint);
  for (int k = 0; k < 5; ++k) {
    length += snprintf(text + length, sizeof text - (size_t)length, "0 0 0 %d 0 0 0 %d 0\n", 10 * k,
                       15 * k);
  }
  scratch_write(name, text, (size_t)length);
}

// The keys are those of the library's own clip.
static void another_file_drives_a_character(void** unused) {
  (void)unused;
  write_wave("wave.bvh", "LeftArm");
  sn_gltf character, wave;
  sn_drive_report report;
  sn_error err = {0};
  assert_int_equal(sn_character_load(scratch_path("walk.glb"), &character, &err), SN_OK);
  if (sn_character_load(scratch_path("wave.bvh"), &wave, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_character_drive(&character, &wave, NULL, &report, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  sn_scene* s = load_well(DRIVEN(", \"loop\": true"));
  const sn_motion* motion = &s->bones[0].motion;
  assert_true(motion->key_count == 5 && motion->period == 4);
  assert_non_null(strstr(s->resolved, "wave.bvh\", \"clip\": \""));
  double world[32], bind[32];
  sn_gltf_bind_pose(&character, bind);
  for (int k = 0; k < 4; ++k) {
    sn_gltf_pose(&character, (int32_t)report.clip, k / 4.0, world);
    sn_affine pose = sn_motion_at(motion, 1 + k);
    sn_vec3 rest = {bind[16 + 12] * 0.5, bind[16 + 13] * 0.5, bind[16 + 14] * 0.5};
    sn_vec3 tip = {rest.x + bind[16] * 0.5, rest.y + bind[17] * 0.5, rest.z + bind[18] * 0.5};
    sn_vec3 at = sn_affine_carry(&pose, rest), tip_at = sn_affine_carry(&pose, tip);
    for (int i = 0; i < 3; ++i) {
      assert_near(sn_axis(at, i), 0.5 * world[16 + 12 + i]);
      assert_near(sn_axis(tip_at, i), 0.5 * (world[16 + 12 + i] + world[16 + i]));
    }
  }
  assert_true(fabs(motion->keys[3].rotate.w) < 0.999);
  sn_gltf_destroy(&character);
  sn_gltf_destroy(&wave);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
  assert_refused(DRIVEN(", \"clip\": \"nod\""),
                 "bones[0].motion.clip: found \"nod\", expected the name of a clip of the file");
  assert_refused(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"driven_by\": \"no.bvh\"}"),
                 "bones[0].motion.driven_by: /");
  assert_refused(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"driven_by\": \"no.obj\"}"),
                 "expected a character (.glb, .gltf, .fbx, .dae) or a motion (.bvh)");
}

static void a_saved_scene_moves_in_the_same_way(void** unused) {
  (void)unused;
  write_walk("grow.glb", 1.3f);
  sn_scene *first, *second;
  first = load_well(
      MOTION("{\"from\": \"grow.glb\", \"node\": \"LeftArm\", \"loop\": true, \"start\": 0.3}"));
  sn_error err = {0};
  assert_int_equal(sn_scene_save(scratch_path("saved.json"), first, &err), SN_OK);
  if (sn_scene_load(scratch_path("saved.json"), NULL, 0, &second, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_string_equal(first->resolved, second->resolved);
  const sn_motion *a = &first->bones[0].motion, *b = &second->bones[0].motion;
  assert_true(a->key_count == b->key_count && a->period == b->period);
  assert_memory_equal(a->keys, b->keys, a->key_count * sizeof *a->keys);
  assert_memory_equal(first->bodies[0].mesh.positions, second->bodies[0].mesh.positions,
                      24 * TUBE_VERTICES);
  sn_scene_destroy(first);
  sn_scene_destroy(second);
}

#define GROWING_COLLIDER(file)                                                               \
  "{" Q                                                                                      \
  "\"fps\": 4, \"bodies\": [{\"surface\": \"tube.glb#tube\"}], \"colliders\": [{\"shape\": " \
  "\"plane\", \"motion\": {\"from\": \"" file "\", \"node\": \"LeftArm\"}}]}"

// The arm grows along its own x axis, which turns about z.
static void a_node_that_is_scaled_stretches(void** unused) {
  (void)unused;
  write_walk("grow.glb", 1.4f);
  sn_scene* s = load_well(MOTION("{\"from\": \"grow.glb\", \"node\": \"LeftArm\"}"));
  const sn_motion* motion = &s->bones[0].motion;
  assert_int_equal(motion->key_count, 5);
  assert_true(motion->keys[0].stretch[0] == 1.0 && motion->keys[0].stretch[5] == 0.0);
  for (int k = 0; k <= 4; ++k) {
    double turn = k / 4.0 * pi / 2, growth = 1 + 0.4 * k / 4;
    sn_affine pose = sn_motion_at(motion, 1 + k);
    sn_vec3 rest = {0.3, 100.7, 0.2}, moved = sn_affine_carry(&pose, rest);
    double x = growth * rest.x, y = rest.y - 100.0;
    assert_near(moved.x, cos(turn) * x - sin(turn) * y + 50 * k / 4.0);
    assert_near(moved.y, sin(turn) * x + cos(turn) * y + 100);
    assert_near(moved.z, 0.2);
  }
  sn_scene_destroy(s);
  // What flesh touches stays rigid, but for the rounding of exporters.
  assert_refused(GROWING_COLLIDER("grow.glb"),
                 "colliders[0].motion: found the node scaled, sheared or mirrored by 0.1 against "
                 "its rest pose at frame 2, expected a rigid motion");
  write_walk("hardly.glb", 1.0001f);
  s = load_well(GROWING_COLLIDER("hardly.glb"));
  assert_true(sn_motion_is_rigid(&s->colliders[0].motion));
  sn_scene_destroy(s);
}

// Animators hide parts so. The last key keeps the least that is allowed, and the turn is the arm's.
static void a_node_that_is_scaled_to_nothing_keeps_a_little(void** unused) {
  (void)unused;
  write_walk("hide.glb", 0.0f);
  sn_scene* s = load_well(MOTION("{\"from\": \"hide.glb\", \"node\": \"LeftArm\"}"));
  const sn_keyframe* last = &s->bones[0].motion.keys[4];
  assert_near(last->stretch[0], SN_STRETCH_LEAST);
  assert_near(last->stretch[1], 1.0);
  assert_near(last->rotate.z, sin(pi / 4));
  sn_scene_destroy(s);
}

static void motion_that_cannot_be_followed_is_refused(void** unused) {
  (void)unused;
  write_walk("mirror.glb", -1.0f);
  assert_refused(MOTION("{\"from\": \"mirror.glb\", \"node\": \"LeftArm\"}"),
                 "bones[0].motion: found the node \"LeftArm\" mirrored against its rest pose at "
                 "frame 4, expected one that is turned and stretched");
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
                 "/walk.obj\", expected a character (.glb, .gltf, .fbx, .dae) or a motion (.bvh)");
  assert_refused(MOTION("{\"from\": \"walk.glb#a\", \"node\": \"root\"}"),
                 "expected a character (.glb");
  assert_refused(MOTION("{\"from\": \"gone.glb\", \"node\": \"root\"}"), "motion.from: /");
  assert_refused(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"loop\": 1}"),
                 "bones[0].motion.loop: found 1, expected true or false");
  assert_refused(MOTION("{\"from\": \"walk.glb\", \"node\": \"root\", \"start\": -1}"),
                 "bones[0].motion.start: found -1, expected a number");
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
  sn_gltf_clip clip = {.name = "a", .channels = &channel, .channel_count = 1, .end = 0};
  const sn_gltf flat = {.nodes = &node, .node_count = 1, .clips = &clip, .clip_count = 1};
  assert_int_equal(sn_gltf_save(scratch_path("flat.glb"), &flat, &err), SN_OK);
  assert_refused(MOTION("{\"from\": \"flat.glb\", \"node\": \"root\"}"), "flat at rest");
}

// Vertices that only one joint pulls go where the bone of that joint carries them.
static void check_joint(const sn_gltf* gltf, uint32_t node, const sn_motion* motion, int* checked) {
  size_t world_size = 16 * gltf->node_count;
  double* world = malloc(world_size * sizeof *world);
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    const sn_gltf_node* owner = &gltf->nodes[n];
    if (owner->mesh < 0 || owner->skin < 0) continue;
    const sn_gltf_mesh* mesh = &gltf->meshes[owner->mesh];
    size_t count = mesh->mesh.vertex_count, width = (size_t)mesh->influence_count;
    double *bind = malloc(24 * count), *now = malloc(24 * count);
    sn_gltf_bind_pose(gltf, world);
    sn_gltf_skin_vertices(gltf, n, world, bind);
    for (int frame = 1; frame <= 20; frame += 3) {
      sn_affine pose = sn_motion_at(motion, frame);
      sn_gltf_pose(gltf, 0, (frame - 1) / 24.0, world);
      sn_gltf_skin_vertices(gltf, n, world, now);
      for (size_t v = 0; v < count; ++v) {
        for (size_t i = 0; i < width; ++i) {
          if (mesh->weights[width * v + i] < 0.999999f) continue;
          if (gltf->skins[owner->skin].joints[mesh->joints[width * v + i]] != node) continue;
          sn_vec3 carried = sn_affine_carry(&pose, sn_load3(bind + 3 * v));
          assert_true(sn_distance(carried, sn_load3(now + 3 * v)) < 1e-4);
          ++*checked;
        }
      }
    }
    free(bind);
    free(now);
  }
  free(world);
}

// The puffer fish swells: its joints are scaled.
static void bones_of_rigs_carry_their_vertices(void** unused) {
  (void)unused;
  skip_without_assets();
  static const char* const names[] = {"quaternius_puffer", "quaternius_horse", "robot_expressive"};
  int stretched = 0;
  for (int f = 0; f < 3; ++f) {
    char path[512], text[2048];
    snprintf(path, sizeof path, "%s/rigged/%s.glb", SN_TEST_ASSETS, names[f]);
    sn_gltf gltf;
    sn_error err = {0};
    if (sn_character_load(path, &gltf, &err) != SN_OK) fail_msg("%s", err.text);
    int checked = 0;
    for (uint32_t j = 0; j < gltf.skins[0].joint_count; ++j) {
      uint32_t node = gltf.skins[0].joints[j];
      snprintf(text, sizeof text,
               "{" Q
               "\"bodies\": [{\"surface\": \"%s\"}], \"fixed\": [{\"where\": \"all\", "
               "\"motion\": {\"from\": \"%s\", \"node\": \"%s\"}}]}",
               path, path, gltf.nodes[node].name);
      sn_scene* s = load_well(text);
      check_joint(&gltf, node, &s->fixed[0].motion, &checked);
      if (!sn_motion_is_rigid(&s->fixed[0].motion)) ++stretched;
      sn_scene_destroy(s);
    }
    if (checked < 50) fail_msg("%s: %d vertices", names[f], checked);
    sn_gltf_destroy(&gltf);
  }
  assert_true(stretched > 0);
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
  write_wave("wave.bvh", "LeftArm");
  sn_scene_destroy(load_well(DRIVEN("")));
  assert_survives_failing_allocations(load_moving);
  sn_scene_destroy(load_well(SURFACE("tube.glb")));
  assert_survives_failing_allocations(load_moving);
  sn_scene_destroy(load_well(MOTION("{\"from\": \"walk.glb\", \"node\": \"LeftArm\"}")));
  assert_survives_failing_allocations(load_moving);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_name_ends_where_the_mesh_begins),
      TEST(a_skinned_surface_is_where_its_joints_put_it_at_rest),
      TEST(any_other_surface_is_where_its_node_puts_it),
      TEST(a_file_without_a_mesh_is_all_its_meshes),
      TEST(meshes_that_are_not_there_are_named),
      TEST(motion_is_that_of_the_node_against_its_rest),
      TEST(motion_starts_and_repeats),
      TEST(another_file_drives_a_character),
      TEST(a_saved_scene_moves_in_the_same_way),
      TEST(a_node_that_is_scaled_stretches),
      TEST(a_node_that_is_scaled_to_nothing_keeps_a_little),
      TEST(motion_that_cannot_be_followed_is_refused),
      TEST(bones_of_rigs_carry_their_vertices),
      TEST(rigs_of_the_assets_give_motion),
      TEST(running_out_of_memory_frees_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
