// Motion of another skeleton: names, exact cases, real files.
#include "io/drive_names.h"
#include "io/gltf_made.h"
#include "math/affine.h"
#include "math/quat.h"

static const double pi = 3.14159265358979323846;

// A skeleton of a few joints and a clip that turns some of them, put together in memory.
enum { JOINTS_MAX = 12, KEYS_MAX = 512 };
typedef struct skeleton {
  sn_gltf_node nodes[JOINTS_MAX];
  uint32_t order[JOINTS_MAX];
  sn_gltf_channel channels[2 * JOINTS_MAX];
  float times[KEYS_MAX];
  float values[2 * JOINTS_MAX][4 * KEYS_MAX];
  sn_gltf_clip clip;
  sn_gltf gltf;
} skeleton;

static skeleton* new_skeleton(uint32_t key_count, double rate) {
  skeleton* s = calloc(1, sizeof *s);
  assert_non_null(s);
  for (uint32_t k = 0; k < key_count; ++k) s->times[k] = (float)(k / rate);
  s->clip = (sn_gltf_clip){.name = "wave",
                           .channels = s->channels,
                           .channel_count = 0,
                           .end = (double)s->times[key_count - 1]};
  s->gltf = (sn_gltf){.nodes = s->nodes, .order = s->order, .clips = &s->clip, .clip_count = 1};
  return s;
}

static uint32_t add_joint(skeleton* s, char* name, int32_t parent, sn_vec3 offset) {
  uint32_t n = s->gltf.node_count++;
  s->nodes[n] = tube_node(name, parent, 0);
  s->nodes[n].translate = offset;
  s->order[n] = n;
  return n;
}

static void free_skeleton(skeleton* s) {
  sn_arena_destroy(s->gltf.storage);
  free(s);
}

static sn_quat turn(double x, double y, double z, double angle) {
  double length = sqrt(x * x + y * y + z * z), sine = sin(angle / 2) / length;
  return (sn_quat){sine * x, sine * y, sine * z, cos(angle / 2)};
}

static void add_turns(skeleton* s, uint32_t node, uint32_t key_count, sn_vec3 axis, double speed) {
  float* values = s->values[s->clip.channel_count];
  for (uint32_t k = 0; k < key_count; ++k) {
    sn_quat q = turn(axis.x, axis.y, axis.z, sin(speed * (double)s->times[k]));
    q = sn_quat_multiply(s->nodes[node].rotate, q);
    const float v[4] = {(float)q.x, (float)q.y, (float)q.z, (float)q.w};
    memcpy(values + 4 * k, v, sizeof v);
  }
  s->channels[s->clip.channel_count++] =
      (sn_gltf_channel){node, SN_GLTF_ROTATE, SN_GLTF_LINEAR, s->times, values, key_count};
}

static void add_path(skeleton* s, uint32_t node, uint32_t key_count, double height) {
  float* values = s->values[s->clip.channel_count];
  for (uint32_t k = 0; k < key_count; ++k) {
    double t = (double)s->times[k];
    const float v[3] = {(float)t, (float)(height + 0.1 * sin(9 * t)), (float)(0.3 * t)};
    memcpy(values + 3 * k, v, sizeof v);
  }
  s->channels[s->clip.channel_count++] =
      (sn_gltf_channel){node, SN_GLTF_TRANSLATE, SN_GLTF_LINEAR, s->times, values, key_count};
}

// Hips, a spine, a head, two legs of two limbs.
static skeleton* new_figure(double size, const char* const names[9], uint32_t key_count) {
  static const int32_t parents[9] = {-1, 0, 1, 0, 3, 4, 0, 6, 7};
  static const double offsets[9][3] = {{0, 1, 0},    {0, 0.2, 0},  {0, 0.4, 0.02},
                                       {0.1, 0, 0},  {0, -0.5, 0}, {0, -0.45, 0},
                                       {-0.1, 0, 0}, {0, -0.5, 0}, {0, -0.45, 0}};
  skeleton* s = new_skeleton(key_count, 30);
  for (int i = 0; i < 9; ++i) {
    add_joint(s, (char*)names[i], parents[i], sn_scale(size, sn_load3(offsets[i])));
  }
  return s;
}

static const char* const plain_names[9] = {"Hips",       "Spine",    "Head",
                                           "LeftUpLeg",  "LeftLeg",  "LeftFoot",
                                           "RightUpLeg", "RightLeg", "RightFoot"};

static void animate_figure(skeleton* s, double size, uint32_t key_count) {
  add_path(s, 0, key_count, size);
  for (uint32_t n = 0; n < 9; ++n) {
    add_turns(s, n, key_count, sn_v3(1 + n, 2 - 0.3 * n, 0.5 * n), 1 + 0.4 * n);
  }
}

static sn_drive_report drive_well(sn_gltf* character, const sn_gltf* motion) {
  sn_drive_report report;
  sn_error err = {0};
  if (sn_character_drive(character, motion, NULL, &report, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_gltf_check(character, &err) != SN_OK) fail_msg("%s", err.text);
  return report;
}

// Largest difference of the worlds of two documents of the same nodes.
static double apart(const sn_gltf* a, int32_t clip_a, const sn_gltf* b, int32_t clip_b, double t) {
  static double at_a[16 * 64], at_b[16 * 64];
  assert_true(a->node_count <= 64 && a->node_count == b->node_count);
  sn_gltf_pose(a, clip_a, t, at_a);
  sn_gltf_pose(b, clip_b, t, at_b);
  double worst = 0;
  for (size_t i = 0; i < 16 * (size_t)a->node_count; ++i) {
    worst = fmax(worst, fabs(at_a[i] - at_b[i]));
  }
  return worst;
}

static void the_same_rig_moves_as_the_motion_does(void** unused) {
  (void)unused;
  skeleton *motion = new_figure(1, plain_names, 31), *rig = new_figure(1, plain_names, 2);
  animate_figure(motion, 1, 31);
  sn_drive_report report = drive_well(&rig->gltf, &motion->gltf);
  assert_int_equal(report.matched_count, 9);
  assert_int_equal(report.unmatched_character_count, 0);
  assert_int_equal(report.unmatched_motion_count, 0);
  assert_int_equal(report.clip, 1);
  assert_string_equal(rig->gltf.clips[1].name, "wave_2");
  assert_true(fabs(report.scale - 1) < 1e-12);
  assert_true(fabs(rig->gltf.clips[1].end - 1.0) < 1e-6);
  for (int k = 0; k <= 30; ++k) {
    assert_true(apart(&rig->gltf, 1, &motion->gltf, 0, k / 30.0) < 2e-6);
  }
  free_skeleton(motion);
  free_skeleton(rig);
}

static void a_rig_twice_as_large_takes_steps_twice_as_large(void** unused) {
  (void)unused;
  skeleton *motion = new_figure(1, plain_names, 31), *rig = new_figure(2, plain_names, 2);
  skeleton* expected = new_figure(2, plain_names, 31);
  animate_figure(motion, 1, 31);
  animate_figure(expected, 1, 31);
  for (size_t i = 0; i < 3 * 31; ++i) expected->values[0][i] *= 2;
  sn_drive_report report = drive_well(&rig->gltf, &motion->gltf);
  assert_true(fabs(report.scale - 2) < 1e-12);
  for (int k = 0; k <= 30; ++k) {
    assert_true(apart(&rig->gltf, 1, &expected->gltf, 0, k / 30.0) < 4e-6);
  }
  free_skeleton(motion);
  free_skeleton(rig);
  free_skeleton(expected);
}

// Joints below a scaled and turned armature, and with axes of their own: the world is what counts.
static void an_armature_of_another_scale_and_other_axes_does_not_matter(void** unused) {
  (void)unused;
  skeleton *motion = new_figure(1, plain_names, 31), *rig = new_skeleton(2, 30);
  animate_figure(motion, 1, 31);
  add_joint(rig, "Armature", -1, sn_v3(0.3, 0, 0));
  rig->nodes[0].scale = sn_v3(0.01, 0.01, 0.01);
  rig->nodes[0].rotate = turn(1, 0, 0, -pi / 2);
  double world[16 * 16], wanted[16 * 16];
  sn_gltf_pose(&motion->gltf, -1, 0, wanted);
  for (uint32_t n = 0; n < 9; ++n) {
    int32_t parent = motion->nodes[n].parent + 1;
    add_joint(rig, (char*)plain_names[n], parent, sn_v3(0, 0, 0));
    sn_gltf_pose(&rig->gltf, -1, 0, world);
    double back[16] = {0};
    assert_true(sn_affine_invert(world + 16 * (size_t)parent, back));
    sn_vec3 place = sn_affine_origin(wanted + 16 * (size_t)n);
    rig->nodes[n + 1].translate = sn_affine_apply(back, sn_add(place, sn_v3(0.3, 0, 0)));
    rig->nodes[n + 1].rotate = turn(n, 1, 2, 0.4 * n);
  }
  sn_drive_report report = drive_well(&rig->gltf, &motion->gltf);
  assert_int_equal(report.matched_count, 9);
  for (int k = 0; k <= 30; ++k) {
    sn_gltf_pose(&rig->gltf, 1, k / 30.0, world);
    sn_gltf_pose(&motion->gltf, 0, k / 30.0, wanted);
    for (size_t n = 0; n < 9; ++n) {
      sn_vec3 place = sn_affine_origin(world + 16 * (n + 1));
      if (sn_distance(place, sn_affine_origin(wanted + 16 * n)) > 1e-5) fail_msg("joint %zu", n);
    }
  }
  free_skeleton(motion);
  free_skeleton(rig);
}

// An arm that hangs down in one rest pose and points aside in the other: driven, both point the same way.
static void limbs_of_another_rest_pose_point_the_same_way(void** unused) {
  (void)unused;
  skeleton *motion = new_skeleton(31, 30), *rig = new_skeleton(2, 30);
  char* names[4] = {"Chest", "LeftArm", "LeftForeArm", "LeftHand"};
  char* others[4] = {"chest", "upper_arm.L", "lower_arm.L", "hand.L"};
  for (int i = 0; i < 4; ++i) {
    add_joint(motion, names[i], i - 1, i == 1 ? sn_v3(0.2, 0.1, 0) : sn_v3(i > 1 ? 0.3 : 0, 0, 0));
    add_joint(rig, others[i], i - 1, i == 1 ? sn_v3(0.2, 0.1, 0) : sn_v3(0, i > 1 ? -0.4 : 0, 0));
  }
  for (uint32_t n = 0; n < 4; ++n) add_turns(motion, n, 31, sn_v3(1, n + 1, 2), 1 + n);
  sn_drive_report report = drive_well(&rig->gltf, &motion->gltf);
  assert_int_equal(report.matched_count, 4);
  for (int k = 0; k <= 30; ++k) {
    double ours[64], theirs[64];
    sn_gltf_pose(&rig->gltf, 1, k / 30.0, ours);
    sn_gltf_pose(&motion->gltf, 0, k / 30.0, theirs);
    for (size_t n = 1; n < 3; ++n) {
      sn_vec3 a = sn_sub(sn_affine_origin(ours + 16 * (n + 1)), sn_affine_origin(ours + 16 * n));
      sn_vec3 b =
          sn_sub(sn_affine_origin(theirs + 16 * (n + 1)), sn_affine_origin(theirs + 16 * n));
      assert_true(sn_distance(sn_scale(1 / 0.4, a), sn_scale(1 / 0.3, b)) < 1e-5);
    }
  }
  free_skeleton(motion);
  free_skeleton(rig);
}

// The same figure with z up, its left side to the left all the same.
static void a_motion_with_another_axis_up_is_turned(void** unused) {
  (void)unused;
  skeleton *motion = new_figure(1, plain_names, 31), *turned = new_figure(1, plain_names, 31);
  skeleton* rig = new_figure(1, plain_names, 2);
  animate_figure(motion, 1, 31);
  animate_figure(turned, 1, 31);
  // x, y, z becomes x, -z, y, everywhere.
  for (uint32_t n = 0; n < 9; ++n) {
    sn_vec3* t = &turned->nodes[n].translate;
    *t = sn_v3(t->x, -t->z, t->y);
  }
  for (uint32_t c = 0; c < turned->clip.channel_count; ++c) {
    size_t width = turned->channels[c].path == SN_GLTF_ROTATE ? 4 : 3;
    for (size_t k = 0; k < 31; ++k) {
      float *v = turned->values[c] + width * k, y = v[1];
      v[1] = -v[2];
      v[2] = y;
    }
  }
  drive_well(&rig->gltf, &turned->gltf);
  for (int k = 0; k <= 30; ++k) {
    assert_true(apart(&rig->gltf, 1, &motion->gltf, 0, k / 30.0) < 2e-6);
  }
  free_skeleton(motion);
  free_skeleton(turned);
  free_skeleton(rig);
}

static void keys_are_thinned_out_to_sixty_a_second(void** unused) {
  (void)unused;
  skeleton *motion = new_skeleton(241, 120), *rig = new_skeleton(2, 30);
  add_joint(motion, "Hips", -1, sn_v3(0, 1, 0));
  add_joint(rig, "Hips", -1, sn_v3(0, 1, 0));
  add_turns(motion, 0, 241, sn_v3(0, 1, 0), 2);
  drive_well(&rig->gltf, &motion->gltf);
  const sn_gltf_channel* channel = &rig->gltf.clips[1].channels[0];
  assert_int_equal(channel->key_count, 121);
  assert_true(fabs((double)channel->times[120] - 2.0) < 1e-6);
  free_skeleton(motion);
  free_skeleton(rig);
  // Two keys far apart are filled up.
  motion = new_skeleton(2, 1);
  rig = new_skeleton(2, 30);
  add_joint(motion, "Hips", -1, sn_v3(0, 1, 0));
  add_joint(rig, "Hips", -1, sn_v3(0, 1, 0));
  add_turns(motion, 0, 2, sn_v3(0, 1, 0), 2);
  drive_well(&rig->gltf, &motion->gltf);
  assert_int_equal(rig->gltf.clips[1].channels[0].key_count, 31);
  free_skeleton(motion);
  free_skeleton(rig);
}

// Names

static void assert_word(const char* name, const char* text, char side, int part) {
  sn_joint_word word = sn_joint_word_of(name);
  if (strcmp(word.text, text) != 0 || word.side != side || word.part != part) {
    fail_msg("%s: '%s' '%c' %d", name, word.text, word.side ? word.side : '-', word.part);
  }
}

static void names_of_many_rigs_mean_the_same(void** unused) {
  (void)unused;
  assert_word("mixamorig:LeftUpLeg", "upleg", 'l', SN_PART_THIGH);
  assert_word("mixamorigLeftUpLeg", "upleg", 'l', SN_PART_THIGH);
  assert_word("mixamorig1:RightForeArm", "forearm", 'r', SN_PART_FOREARM);
  assert_word("Bip01 L Thigh", "thigh", 'l', SN_PART_THIGH);
  assert_word("Bip001_R_Calf", "calf", 'r', SN_PART_SHIN);
  assert_word("Armature_Hips", "hips", 0, SN_PART_HIPS);
  assert_word("upper_arm.L", "upperarm", 'l', SN_PART_UPPER_ARM);
  assert_word("DEF-upper_arm.L", "upperarm", 'l', SN_PART_UPPER_ARM);
  assert_word("upperarm01.R", "upperarm1", 'r', SN_PART_UPPER_ARM);
  assert_word("upperleg.l", "upperleg", 'l', SN_PART_THIGH);
  assert_word("LowerLeg.R", "lowerleg", 'r', SN_PART_SHIN);
  assert_word("LThumb", "thumb", 'l', SN_PART_THUMB);
  assert_word("LHipJoint", "hipjoint", 'l', -1);
  assert_word("UpArm_L", "uparm", 'l', SN_PART_UPPER_ARM);
  assert_word("hand_r", "hand", 'r', SN_PART_HAND);
  assert_word("handIK.l", "handik", 'l', -1);
  assert_word("spine.001", "spine1", 0, SN_PART_CHEST);
  assert_word("Abdomen", "abdomen", 0, SN_PART_SPINE);
  assert_word("arm_joint_L_1", "armjoint1", 'l', SN_PART_UPPER_ARM);
  assert_word("leg_joint_R_5", "legjoint5", 'r', -1);
  assert_word("__UpLeg_L", "", 0, -1);
  assert_word("Rig", "rig", 0, -1);
  assert_word("", "", 0, -1);
  assert_word("::", "", 0, -1);
  // A part that comes in pairs has a side.
  assert_word("Hand", "hand", 0, -1);
  char* endless = malloc(5001);
  assert_non_null(endless);
  memset(endless, 'a', 5000);
  endless[5000] = 0;
  assert_word(endless, "", 0, -1);
  free(endless);
}

// What has the very name goes first, whatever else would do.
static void exact_names_go_first(void** unused) {
  (void)unused;
  skeleton *motion = new_skeleton(3, 30), *rig = new_skeleton(2, 30);
  add_joint(motion, "Hips", -1, sn_v3(0, 1, 0));
  add_joint(motion, "Spine1", 0, sn_v3(0, 0.2, 0));
  add_joint(motion, "Spine2", 1, sn_v3(0, 0.2, 0));
  add_joint(rig, "pelvis", -1, sn_v3(0, 1, 0));
  add_joint(rig, "Chest", 0, sn_v3(0, 0.2, 0));
  add_joint(rig, "Spine1", 1, sn_v3(0, 0.2, 0));
  for (uint32_t n = 0; n < 3; ++n) add_turns(motion, n, 3, sn_v3(1, n, 0), 1);
  sn_drive_report report = drive_well(&rig->gltf, &motion->gltf);
  assert_int_equal(report.matched_count, 3);
  assert_string_equal(report.matched_character[0], "pelvis");
  assert_string_equal(report.matched_motion[0], "Hips");
  assert_string_equal(report.matched_motion[1], "Spine2");
  assert_string_equal(report.matched_motion[2], "Spine1");
  free_skeleton(motion);
  free_skeleton(rig);
}

// Failures

static void assert_refused(sn_gltf* character, const sn_gltf* motion, const char* clip,
                           const char* part, const char* other_part) {
  sn_error err = {0};
  sn_drive_report report;
  uint32_t clip_count = character->clip_count;
  assert_int_equal(sn_character_drive(character, motion, clip, &report, &err), SN_ERR_INPUT);
  assert_message_has(&err, part);
  assert_message_has(&err, other_part);
  assert_message_has(&err, "expected");
  assert_int_equal(character->clip_count, clip_count);
}

static void what_cannot_be_driven_is_refused(void** unused) {
  (void)unused;
  skeleton *motion = new_skeleton(3, 30), *rig = new_skeleton(2, 30);
  add_joint(motion, "Hips", -1, sn_v3(0, 1, 0));
  add_joint(rig, "Flipper", -1, sn_v3(0, 1, 0));
  assert_refused(&rig->gltf, &motion->gltf, NULL, "Flipper", "Hips");
  assert_refused(&rig->gltf, &motion->gltf, "run", "\"run\"", "\"wave\"");
  rig->nodes[0].name = "hips";
  assert_refused(&rig->gltf, &motion->gltf, NULL, "without channels", "wave");
  motion->gltf.clip_count = 0;
  assert_refused(&rig->gltf, &motion->gltf, NULL, "without clips", "moves");
  free_skeleton(motion);
  free_skeleton(rig);
}

static skeleton *shared_motion, *shared_rig;

static sn_status drive_once(sn_error* err) {
  sn_gltf character = shared_rig->gltf;
  sn_status status = sn_character_drive(&character, &shared_motion->gltf, NULL, NULL, err);
  sn_arena_destroy(character.storage);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  shared_motion = new_figure(1, plain_names, 31);
  shared_rig = new_figure(1, plain_names, 2);
  animate_figure(shared_motion, 1, 31);
  assert_survives_every_failing_request(drive_once);
  free_skeleton(shared_motion);
  free_skeleton(shared_rig);
}

// Files

static sn_gltf load(const char* name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", SN_TEST_ASSETS, name);
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_character_load(path, &gltf, &err) != SN_OK) fail_msg("%s", err.text);
  return gltf;
}

static uint32_t find_node(const sn_gltf* gltf, const char* name) {
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    if (strcmp(gltf->nodes[n].name, name) == 0) return n;
  }
  fail_msg("no node %s", name);
  return 0;
}

static sn_vec3 limb(const double* world, uint32_t a, uint32_t b) {
  sn_vec3 along =
      sn_sub(sn_affine_origin(world + 16 * (size_t)b), sn_affine_origin(world + 16 * (size_t)a));
  return sn_scale(1 / sn_length(along), along);
}

// Every motion of CMU drives characters of other makers: limbs point where the actor's do.
static void check_figure(const char* motion_name, const char* rig_name, const char* const ours[][2],
                         const char* const theirs[][2], int limb_count, uint32_t least_matches) {
  sn_gltf motion = load(motion_name), rig = load(rig_name);
  sn_drive_report report = drive_well(&rig, &motion);
  if (report.matched_count < least_matches) fail_msg("%s: %u", rig_name, report.matched_count);
  double* at_motion = malloc(16 * motion.node_count * sizeof(double));
  double* at_rig = malloc(16 * rig.node_count * sizeof(double));
  assert_true(at_motion && at_rig);
  const sn_gltf_clip* clip = &rig.clips[report.clip];
  for (int k = 0; k <= 20; ++k) {
    const sn_gltf_channel* channel = &clip->channels[0];
    while (channel->key_count == 1) ++channel;
    double t = (double)channel->times[(channel->key_count - 1) * (uint32_t)k / 20];
    sn_gltf_pose(&motion, 0, t, at_motion);
    sn_gltf_pose(&rig, (int32_t)report.clip, t, at_rig);
    for (int l = 0; l < limb_count; ++l) {
      sn_vec3 a = limb(at_rig, find_node(&rig, ours[l][0]), find_node(&rig, ours[l][1]));
      sn_vec3 b =
          limb(at_motion, find_node(&motion, theirs[l][0]), find_node(&motion, theirs[l][1]));
      if (sn_distance(a, b) > 1e-4) fail_msg("%s: %s is off at %g s", rig_name, ours[l][0], t);
    }
  }
  free(at_motion);
  free(at_rig);
  sn_gltf_destroy(&motion);
  sn_gltf_destroy(&rig);
}

static void motions_of_cmu_drive_other_rigs(void** unused) {
  (void)unused;
  skip_without_assets();
  static const char* const theirs[4][2] = {{"LeftUpLeg", "LeftLeg"},
                                           {"RightLeg", "RightFoot"},
                                           {"LeftArm", "LeftForeArm"},
                                           {"RightForeArm", "RightHand"}};
  static const char* const knight[4][2] = {{"upperleg.l", "lowerleg.l"},
                                           {"lowerleg.r", "foot.r"},
                                           {"upperarm.l", "lowerarm.l"},
                                           {"lowerarm.r", "hand.r"}};
  static const char* const figure[4][2] = {{"leg_joint_L_1", "leg_joint_L_2"},
                                           {"leg_joint_R_2", "leg_joint_R_3"},
                                           {"arm_joint_L_1", "arm_joint_L_2"},
                                           {"arm_joint_R_2", "arm_joint_R_3"}};
  // Its arms are numbered downwards on the left and upwards on the right.
  static const char* const man[4][2] = {{"leg_joint_L_1", "leg_joint_L_2"},
                                        {"leg_joint_R_2", "leg_joint_R_3"},
                                        {"Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_L__3_"},
                                        {"Skeleton_arm_joint_R__2_", "Skeleton_arm_joint_R__3_"}};
  static const char* const motions[] = {"mocap/cmu_02_01.bvh", "mocap/cmu_05_06.bvh",
                                        "mocap/cmu_49_06.bvh"};
  for (int m = 0; m < 3; ++m) {
    check_figure(motions[m], "rigged/kaykit_knight.glb", knight, theirs, 4, 15);
    check_figure(motions[m], "rigged/RiggedFigure.glb", figure, theirs, 4, 19);
    check_figure(motions[m], "rigged/CesiumMan.glb", man, theirs, 4, 19);
  }
}

static void a_character_can_be_driven_by_its_own_clip(void** unused) {
  (void)unused;
  skip_without_assets();
  sn_gltf motion = load("rigged/quaternius_trex.glb"), rig = load("rigged/quaternius_trex.glb");
  sn_drive_report report = drive_well(&rig, &motion);
  assert_true(report.matched_count >= 29);
  assert_int_equal(report.unmatched_character_count, 0);
  assert_true(fabs(report.scale - 1) < 1e-6);
  sn_gltf_destroy(&motion);
  sn_gltf_destroy(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_rig_moves_as_the_motion_does),
      cmocka_unit_test(a_rig_twice_as_large_takes_steps_twice_as_large),
      cmocka_unit_test(an_armature_of_another_scale_and_other_axes_does_not_matter),
      cmocka_unit_test(limbs_of_another_rest_pose_point_the_same_way),
      cmocka_unit_test(a_motion_with_another_axis_up_is_turned),
      cmocka_unit_test(keys_are_thinned_out_to_sixty_a_second),
      cmocka_unit_test(names_of_many_rigs_mean_the_same),
      cmocka_unit_test(exact_names_go_first),
      cmocka_unit_test(what_cannot_be_driven_is_refused),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(motions_of_cmu_drive_other_rigs),
      cmocka_unit_test(a_character_can_be_driven_by_its_own_clip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
