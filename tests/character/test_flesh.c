// Plans of flesh, for the tube of the glTF tests: two joints in a mesh that is nearly closed, and a second
// mesh that a matrix places.
#include "sinew/flesh.h"

#include <math.h>

#include "io/gltf_tube.h"
#include "scene/scenes.h"

#define TUBE_SIDE 0.25  // half of it

static void write_tube(const char* name) {
  static tube t;
  sn_error err = {0};
  const sn_gltf* gltf = make_tube(&t);
  for (int i = 0; i < 12; ++i) t.nodes[3].matrix[i] *= 0.25;  // half as large as the other one
  if (sn_gltf_save(scratch_path(name), gltf, &err) != SN_OK) fail_msg("%s", err.text);
}

static sn_flesh_opts tube_opts(void) {
  sn_flesh_opts opts = sn_flesh_default_opts();
  opts.scene_folder = scratch_folder;
  opts.cell = 0.05;
  return opts;
}

static void plan_well(const sn_flesh_opts* opts, char** text, sn_flesh_report* report) {
  sn_error err = {0};
  write_tube("tube.glb");
  if (sn_flesh_plan(scratch_path("tube.glb"), opts, text, report, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
}

static sn_scene* load_text(const char* text) {
  sn_scene* scene;
  sn_error err = {0};
  const char* path = scratch_write("flesh.json", text, strlen(text));
  if (sn_scene_load(path, NULL, 0, &scene, &err) != SN_OK) fail_msg("%s", err.text);
  return scene;
}

static void a_plan_says_what_is_flesh_and_what_moves_it(void** unused) {
  (void)unused;
  sn_flesh_opts opts = tube_opts();
  sn_flesh_report report;
  char* text;
  plan_well(&opts, &text, &report);
  assert_int_equal(report.part_count, 2);
  assert_true(report.parts[0].flesh);
  assert_string_equal(report.parts[0].name, "skinned");
  assert_false(report.parts[1].flesh);
  assert_non_null(strstr(report.parts[1].reason, "without a skin"));
  assert_true(report.bone_count >= 2);
  assert_string_equal(report.clip, "bend");
  assert_int_equal(report.first_frame, 1);
  assert_int_equal(report.last_frame, 31);  // 1.25 s at 24 a second, both ends
  sn_flesh_report_destroy(&report);
  assert_int_equal(sn_memory_used(), 0);
}

static void its_scene_has_bones_inside_the_flesh(void** unused) {
  (void)unused;
  sn_flesh_opts opts = tube_opts();
  sn_flesh_report report;
  char* text;
  plan_well(&opts, &text, &report);
  sn_scene* scene = load_text(text);
  assert_int_equal(scene->bone_count, report.bone_count);
  assert_int_equal(scene->attachment_count, report.bone_count + 1);  // and the skin to its pose
  assert_int_equal(scene->last_frame, report.last_frame);
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    const sn_capsule* c = &scene->bones[b].capsule;
    assert_true(c->radius >= 0.5 * opts.cell && c->radius <= 0.5 * TUBE_SIDE);
    assert_true(c->from.y >= 0 && c->to.y <= 2 && c->from.y < c->to.y);
    assert_true(c->from.x * c->from.x + c->from.z * c->from.z < 1e-6);
  }
  sn_scene_destroy(scene);
  sn_flesh_report_destroy(&report);
}

// The way through flesh between the two bones of a tube whose upper joint goes down by `drop`.
static double room_between_bones(float drop) {
  static tube t;
  sn_flesh_opts opts = tube_opts();
  sn_flesh_report report;
  sn_error err = {0};
  char* text;
  const sn_gltf* gltf = make_tube(&t);
  for (int i = 0; i < 3; ++i) t.scales[12 + i] = 1;
  memset(t.turns + 4, 0, 4 * sizeof *t.turns);
  t.turns[7] = 1;
  t.lifts[4] = 1 - drop;
  if (sn_gltf_save(scratch_path("pressed.glb"), gltf, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_flesh_plan(scratch_path("pressed.glb"), &opts, &text, &report, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  sn_scene* scene = load_text(text);
  double top_of_lower = -1, bottom_of_upper = 3;
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    const sn_capsule* c = &scene->bones[b].capsule;
    if (c->to.y < 1) top_of_lower = fmax(top_of_lower, c->to.y + c->radius);
    if (c->from.y > 1) bottom_of_upper = fmin(bottom_of_upper, c->from.y - c->radius);
  }
  sn_scene_destroy(scene);
  sn_flesh_report_destroy(&report);
  return bottom_of_upper - top_of_lower;
}

static void bones_leave_room_for_flesh_that_the_clip_presses(void** unused) {
  (void)unused;
  double calm = room_between_bones(0), pressed = room_between_bones(0.75f);
  print_message("room between bones: %.3f m, pressed by 0.75 m: %.3f m\n", calm, pressed);
  assert_true(0.7 * calm < 0.75 - 0.06);
  assert_true(pressed - 0.75 >= 0.3 * pressed - 0.06);  // to within what is tried
}

// A mouth that is closed at rest: jaws of 0.7 m with a slit of 1 cm between them, extruded along z. The lower one
// opens by 90 degrees within five frames.
enum {
  MOUTH_CORNERS = 10,
  MOUTH_VERTICES = 2 * MOUTH_CORNERS,
  MOUTH_CAP = 8,
  MOUTH_TRIANGLES = 2 * (MOUTH_CORNERS + MOUTH_CAP),
  MOUTH_JOINTS = 3
};

typedef struct mouth {
  double positions[3 * MOUTH_VERTICES];
  uint32_t triangles[3 * MOUTH_TRIANGLES];
  uint16_t joints[MOUTH_JOINTS * MOUTH_VERTICES];
  float weights[MOUTH_JOINTS * MOUTH_VERTICES];
  double inverse_bind[16 * MOUTH_JOINTS];
  float times[2], turns[8];
  uint32_t skin_joints[MOUTH_JOINTS];
  sn_gltf_mesh mesh;
  sn_gltf_node nodes[MOUTH_JOINTS + 1];
  sn_gltf_skin skin;
  sn_gltf_channel channel;
  sn_gltf_clip clip;
  sn_gltf gltf;
} mouth;

static void fill_mouth_vertices(mouth* m) {
  static const double outline[MOUTH_CORNERS][2] = {
      {0, 0},       {0.3, 0},   {1, 0},   {1, 0.195}, {0.3, 0.195},
      {0.3, 0.205}, {1, 0.205}, {1, 0.4}, {0.3, 0.4}, {0, 0.4}};
  for (int v = 0; v < MOUTH_VERTICES; ++v) {
    const double* corner = outline[v % MOUTH_CORNERS];
    m->positions[3 * v] = corner[0];
    m->positions[3 * v + 1] = corner[1];
    m->positions[3 * v + 2] = v < MOUTH_CORNERS ? 0 : 0.3;
    // Half of the hinge is the head's.
    float share = corner[0] == 0 ? 0.0f : corner[0] < 1 ? 0.5f : 1.0f;
    int jaw = corner[1] < 0.2 ? 1 : 2;
    for (uint16_t j = 0; j < MOUTH_JOINTS; ++j) {
      m->joints[MOUTH_JOINTS * v + j] = j;
      m->weights[MOUTH_JOINTS * v + j] = j == 0 ? 1 - share : j == jaw ? share : 0.0f;
    }
  }
}

static void fill_mouth_triangles(mouth* m) {
  static const uint32_t cap[MOUTH_CAP][3] = {{1, 2, 3}, {1, 3, 4}, {5, 6, 7}, {5, 7, 8},
                                             {0, 1, 4}, {0, 4, 5}, {0, 5, 8}, {0, 8, 9}};
  uint32_t* to = m->triangles;
  for (uint32_t i = 0; i < MOUTH_CORNERS; ++i, to += 6) {
    uint32_t k = (i + 1) % MOUTH_CORNERS, up = MOUTH_CORNERS;
    const uint32_t quad[6] = {i, k, k + up, i, k + up, i + up};
    memcpy(to, quad, sizeof quad);
  }
  for (int t = 0; t < MOUTH_CAP; ++t, to += 6) {
    for (int c = 0; c < 3; ++c) {
      to[c] = cap[t][2 - c];
      to[3 + c] = cap[t][c] + MOUTH_CORNERS;
    }
  }
}

static void fill_mouth_joints(mouth* m) {
  static const double places[MOUTH_JOINTS][2] = {{0, 0.2}, {0.3, 0.1}, {0.3, 0.3}};
  static char* const names[MOUTH_JOINTS] = {"head", "jaw", "snout"};
  m->nodes[0] = tube_node("skin", -1, 0);
  m->nodes[0].mesh = m->nodes[0].skin = 0;
  for (uint32_t j = 0; j < MOUTH_JOINTS; ++j) {
    double* bind = m->inverse_bind + 16 * (size_t)j;
    m->skin_joints[j] = j + 1;
    m->nodes[j + 1] = tube_node(names[j], -1, places[j][1]);
    m->nodes[j + 1].translate.x = places[j][0];
    m->nodes[j + 1].translate.z = 0.15;
    for (int i = 0; i < 16; ++i) bind[i] = i % 5 == 0;
    bind[12] = -places[j][0];
    bind[13] = -places[j][1];
    bind[14] = -0.15;
  }
  m->skin = (sn_gltf_skin){"bones", m->skin_joints, m->inverse_bind, MOUTH_JOINTS};
}

static const sn_gltf* make_mouth(mouth* m) {
  *m = (mouth){.turns = {0, 0, 0, 1, 0, 0, -0.70710678f, 0.70710678f}, .times = {0, 4.0f / 24}};
  fill_mouth_vertices(m);
  fill_mouth_triangles(m);
  fill_mouth_joints(m);
  m->mesh = (sn_gltf_mesh){.name = "head",
                           .mesh = {.positions = m->positions,
                                    .vertex_count = MOUTH_VERTICES,
                                    .triangles = m->triangles,
                                    .triangle_count = MOUTH_TRIANGLES},
                           .influence_count = MOUTH_JOINTS,
                           .joints = m->joints,
                           .weights = m->weights};
  m->channel = (sn_gltf_channel){2, SN_GLTF_ROTATE, SN_GLTF_LINEAR, m->times, m->turns, 2};
  m->clip = (sn_gltf_clip){
      .name = "bite", .channels = &m->channel, .channel_count = 1, .end = (double)m->times[1]};
  m->gltf = (sn_gltf){.meshes = &m->mesh,
                      .mesh_count = 1,
                      .nodes = m->nodes,
                      .node_count = MOUTH_JOINTS + 1,
                      .skins = &m->skin,
                      .skin_count = 1,
                      .clips = &m->clip,
                      .clip_count = 1};
  return &m->gltf;
}

static void a_mouth_that_was_closed_opens(void** unused) {
  (void)unused;
  static mouth m;
  sn_flesh_opts opts = tube_opts();
  sn_flesh_report report;
  sn_error err = {0};
  char* text;
  opts.cell = 0.025;
  assert_ok(sn_gltf_save(scratch_path("mouth.glb"), make_mouth(&m), &err), &err);
  assert_ok(sn_flesh_plan(scratch_path("mouth.glb"), &opts, &text, &report, &err), &err);
  loaded l = load_scene(text, 2);
  uint64_t most = 0;
  int missed = 0;
  for (int frame = 1; frame <= report.last_frame; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    print_message("frame %d: %d Newton steps, residual %.3g, %llu of %llu cells inside out\n",
                  frame, stats.newton, stats.residual, (unsigned long long)stats.inverted,
                  (unsigned long long)stats.elements);
    missed += !stats.converged;
    if (stats.inverted > most) most = stats.inverted;
  }
  assert_int_equal(report.last_frame, 5);
  static float skin[3 * MOUTH_VERTICES];
  sn_surface_extract(l.model, l.state, 0, skin);
  double gap = 0;
  for (int i = 0; i < 3; ++i) gap = hypot(gap, (double)skin[3 * 3 + i] - (double)skin[3 * 6 + i]);
  print_message("the tips of the jaws are %.3f m apart\n", gap);
  assert_int_equal(missed, 0);
  assert_int_equal(most, 0);
  assert_true(gap > 0.1);  // ten times what it was, in cells that both share
  unload(&l);
  sn_flesh_report_destroy(&report);
}

static void options_change_the_scene(void** unused) {
  (void)unused;
  sn_flesh_opts opts = tube_opts();
  sn_flesh_report report;
  char* text;
  opts.first_frame = 3;
  opts.last_frame = 7;
  opts.fps = 30;
  opts.young = 5e4;
  opts.quasistatic = opts.loop = true;
  opts.preroll = 2;
  opts.contact = false;
  opts.clip = "1";
  plan_well(&opts, &text, &report);
  sn_scene* scene = load_text(text);
  assert_int_equal(scene->first_frame, 3);
  assert_int_equal(scene->last_frame, 7);
  assert_true(scene->fps == 30 && scene->mode == SN_MODE_QUASISTATIC && !scene->contact.self);
  assert_int_equal(scene->preroll, 2);
  assert_true(scene->bodies[0].cell == opts.cell);
  sn_scene_destroy(scene);
  sn_flesh_report_destroy(&report);
}

static void refuse(const sn_flesh_opts* opts, sn_status status, const char* part) {
  sn_flesh_report report;
  char* text;
  sn_error err = {0};
  assert_int_equal(sn_flesh_plan(scratch_path("tube.glb"), opts, &text, &report, &err), status);
  assert_null(text);
  assert_message_has(&err, part);
  assert_int_equal(sn_memory_used(), 0);
}

static void wrong_options_are_refused(void** unused) {
  (void)unused;
  write_tube("tube.glb");
  sn_flesh_opts opts = tube_opts();
  opts.clip = "bent";
  refuse(&opts, SN_ERR_INPUT, "did you mean \"bend\"");
  opts = tube_opts();
  opts.bones = 7;
  refuse(&opts, SN_ERR_USAGE, "bones");
  opts = tube_opts();
  opts.cell = -1;
  refuse(&opts, SN_ERR_USAGE, "cell");
  opts = tube_opts();
  opts.first_frame = 5;
  opts.last_frame = 4;
  refuse(&opts, SN_ERR_USAGE, "frames");
  opts = tube_opts();
  opts.cell = 3;
  refuse(&opts, SN_ERR_INPUT, "smaller cells");
}

static sn_status plan_once(sn_error* err) {
  sn_flesh_opts opts = tube_opts();
  sn_flesh_report report;
  char* text;
  sn_status status = sn_flesh_plan(scratch_path("tube.glb"), &opts, &text, &report, err);
  if (status == SN_OK) sn_flesh_report_destroy(&report);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  write_tube("tube.glb");
  assert_survives_failing_allocations(plan_once);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plan_says_what_is_flesh_and_what_moves_it),
      cmocka_unit_test(its_scene_has_bones_inside_the_flesh),
      cmocka_unit_test(bones_leave_room_for_flesh_that_the_clip_presses),
      cmocka_unit_test(a_mouth_that_was_closed_opens),
      cmocka_unit_test(options_change_the_scene),
      cmocka_unit_test(wrong_options_are_refused),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, make_scratch_folder, remove_scratch_folder);
}
