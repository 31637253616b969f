// Animated meshes and followers, as a scene reads them.
#include "io/gltf_made.h"
#include "io/mdd.h"
#include "io/scene_text.h"
#include "math/vec.h"
#include "sinew/io.h"

#define BOX_VERTICES 8

// A box, and above it a lid of one quad that is a group of its own.
static void write_meshes(void) {
  static const char box[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n"
      "g box\nf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
  static const char lid[] = "v 0 2 0\nv 1 2 0\nv 1 2 1\nv 0 2 1\ng lid\nf 9 12 11 10\n";
  char both[sizeof box + sizeof lid];
  scratch_write("box.obj", box, strlen(box));
  snprintf(both, sizeof both, "%s%s", box, lid);
  scratch_write("lidded.obj", both, strlen(both));
}

// Coordinate i of frame f of a cache.
static float number_at(uint32_t frame, uint32_t i) { return (float)(100 * frame + i); }

static void write_pc2(const char* name, uint32_t vertex_count, int first_frame,
                      uint32_t frame_count) {
  sn_pc2* cache;
  sn_error err = {0};
  float numbers[3 * BOX_VERTICES];
  assert_int_equal(sn_pc2_open(scratch_path(name), vertex_count, first_frame, 0, &cache, &err),
                   SN_OK);
  for (uint32_t f = 0; f < frame_count; ++f) {
    for (uint32_t i = 0; i < 3 * vertex_count; ++i) numbers[i] = number_at(f, i);
    assert_int_equal(sn_pc2_append(cache, numbers, &err), SN_OK);
  }
  sn_pc2_close(cache);
}

static void put_big_word(unsigned char* to, uint32_t word) {
  for (int i = 0; i < 4; ++i) to[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void put_big_float(unsigned char* to, float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  put_big_word(to, word);
}

#define MDD_FRAMES 3
#define MDD_BYTES (8 + MDD_FRAMES * (4 + 12 * BOX_VERTICES))

static void fill_mdd(unsigned char bytes[MDD_BYTES], float seconds) {
  put_big_word(bytes, MDD_FRAMES);
  put_big_word(bytes + 4, BOX_VERTICES);
  for (uint32_t f = 0; f < MDD_FRAMES; ++f) put_big_float(bytes + 8 + 4 * f, (float)f * seconds);
  unsigned char* to = bytes + 8 + 4 * MDD_FRAMES;
  for (uint32_t f = 0; f < MDD_FRAMES; ++f) {
    for (uint32_t i = 0; i < 3 * BOX_VERTICES; ++i, to += 4) put_big_float(to, number_at(f, i));
  }
}

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  unsigned char mdd[MDD_BYTES];
  write_meshes();
  write_pc2("box.pc2", BOX_VERTICES, 5, 3);
  fill_mdd(mdd, 1.0f / 24);
  scratch_write("box.mdd", mdd, sizeof mdd);
  glb file = make_tube_file();
  free(file.bytes);
  return 0;
}

#define POSED(pose) "{\"unit\": 0.5, \"bodies\": [{\"surface\": \"box.obj\", \"pose\": " pose "}]}"
#define BONE(motion)                                                                  \
  "{\"unit\": 0.5, \"bodies\": [{\"surface\": \"box.obj\"}], \"bones\": [{\"mesh\": " \
  "\"box.obj\", \"motion\": " motion "}]}"

static void assert_numbers(const sn_mesh_motion* motion, int first_frame, double unit) {
  assert_int_equal(motion->vertex_count, BOX_VERTICES);
  assert_int_equal(motion->frame_count, 3);
  assert_int_equal(motion->first_frame, first_frame);
  assert_true(motion->period == 0);
  for (uint32_t i = 0; i < 9 * BOX_VERTICES; ++i) {
    float expected = number_at(i / (3 * BOX_VERTICES), i % (3 * BOX_VERTICES));
    assert_true(motion->places[i] == (float)unit * expected);
  }
}

static void a_point_cache_is_a_pose(void** unused) {
  (void)unused;
  sn_scene* s = load_well(POSED("{\"from\": \"box.pc2\"}"));
  assert_numbers(&s->bodies[0].pose, 5, 0.5);
  assert_non_null(strstr(s->resolved, "/box.pc2\""));
  sn_scene_destroy(s);
  s = load_well(POSED("{\"from\": \"box.mdd\"}"));
  assert_numbers(&s->bodies[0].pose, 1, 0.5);
  sn_scene_destroy(s);
  s = load_well(BONE("{\"from\": \"box.pc2\"}"));
  assert_numbers(&s->bones[0].shape, 5, 0.5);
  assert_int_equal(s->bones[0].motion.key_count, 0);
  sn_scene_destroy(s);
  s = load_well(POSED("null"));
  assert_int_equal(s->bodies[0].pose.frame_count, 0);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void places_are_linear_between_frames_and_held_outside(void** unused) {
  (void)unused;
  float places[12] = {0, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0, 0};
  sn_mesh_motion motion = {places, 1, 5, 3, 0};
  assert_vector(sn_mesh_motion_at(&motion, 0, -7), 0, 0, 0);
  assert_vector(sn_mesh_motion_at(&motion, 0, 5), 0, 0, 0);
  assert_vector(sn_mesh_motion_at(&motion, 0, 5.5), 0.5, 1, 1.5);
  assert_vector(sn_mesh_motion_at(&motion, 0, 6), 1, 2, 3);
  assert_vector(sn_mesh_motion_at(&motion, 0, 6.25), 1.5, 2, 2.5);
  assert_vector(sn_mesh_motion_at(&motion, 0, 99), 3, 2, 1);
  // A period of 2.5: the last place is half a frame after the one before it, and is the first again.
  sn_mesh_motion loop = {places, 1, 5, 4, 2.5};
  assert_vector(sn_mesh_motion_at(&loop, 0, 7), 3, 2, 1);
  assert_vector(sn_mesh_motion_at(&loop, 0, 7.25), 1.5, 1, 0.5);
  assert_vector(sn_mesh_motion_at(&loop, 0, 7.5), 0, 0, 0);
  assert_vector(sn_mesh_motion_at(&loop, 0, 8.5), 1, 2, 3);
  assert_vector(sn_mesh_motion_at(&loop, 0, 4.5), 3, 2, 1);
}

// What the character's own functions say at the frames of the scene.
static void assert_tube_motion(const sn_mesh_motion* motion, uint32_t node, double unit, double fps,
                               double start) {
  sn_gltf gltf;
  sn_error err = {0};
  double world[64], expected[3 * TUBE_VERTICES];
  assert_int_equal(sn_gltf_load(scratch_path("tube.glb"), &gltf, &err), SN_OK);
  for (uint32_t f = 0; f < motion->frame_count; ++f) {
    sn_gltf_pose(&gltf, 0, start + f / fps, world);
    sn_gltf_skin_vertices(&gltf, node, world, expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
      float found = motion->places[f * 3 * TUBE_VERTICES + i];
      if (fabs((double)found - unit * expected[i]) > 1e-6) {
        fail_msg("frame %u, number %zu: %g, expected %g", f, i, (double)found, unit * expected[i]);
      }
    }
  }
  sn_gltf_destroy(&gltf);
}

static void a_skinned_mesh_is_a_pose(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      "{\"fps\": 8, \"unit\": 2, \"bodies\": [{\"surface\": \"tube.glb#tube\", \"pose\": "
      "{\"from\": \"tube.glb\"}}], \"bones\": [{\"mesh\": \"tube.glb#plain\", \"motion\": "
      "{\"from\": \"tube.glb\", \"mesh\": \"tube\", \"clip\": \"bend\", \"start\": 0.25}}]}");
  // 1.25 s at 8 frames a second; the mesh is that of the surface, and is said.
  assert_int_equal(s->bodies[0].pose.frame_count, 11);
  assert_int_equal(s->bodies[0].pose.first_frame, 1);
  assert_tube_motion(&s->bodies[0].pose, 0, 2, 8, 0);
  assert_non_null(strstr(s->resolved, "\"mesh\": \"tube\""));
  assert_non_null(strstr(s->resolved, "\"clip\": \"bend\""));
  assert_int_equal(s->bones[0].shape.frame_count, 9);
  assert_tube_motion(&s->bones[0].shape, 0, 2, 8, 0.25);
  sn_scene_destroy(s);
  s = load_well(
      "{\"fps\": 10, \"bodies\": [{\"surface\": \"tube.glb#tube\", \"pose\": {\"from\": "
      "\"tube.glb\", \"loop\": true}}]}");
  assert_int_equal(s->bodies[0].pose.frame_count, 14);
  assert_true(s->bodies[0].pose.period == 12.5);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

// Frame by frame, and in between, the same as all at once.
static void assert_read_one_by_one(const char* text) {
  sn_scene* s = load_well(text);
  const sn_mesh_motion* motion = &s->bodies[0].pose;
  sn_scene_source source = {.json = s->resolved, .length = strlen(s->resolved)};
  sn_error err = {0};
  sn_pose* pose;
  float places[3 * 2 * TUBE_VERTICES];
  if (sn_pose_open(&source, 0, motion->vertex_count, &pose, &err) != SN_OK)
    fail_msg("%s", err.text);
  for (double frame = 30; frame >= -10; frame -= 0.25) {
    assert_int_equal(sn_pose_read(pose, frame, places, &err), SN_OK);
    for (uint32_t v = 0; v < motion->vertex_count; ++v) {
      sn_vec3 expected = sn_mesh_motion_at(motion, v, frame);
      assert_true(places[3 * v] == (float)expected.x && places[3 * v + 1] == (float)expected.y &&
                  places[3 * v + 2] == (float)expected.z);
    }
  }
  sn_pose_close(pose);
  assert_int_equal(sn_pose_open(&source, 0, motion->vertex_count + 1, &pose, &err), SN_ERR_INPUT);
  assert_message_has(&err, "scene: bodies[0].pose.from: found ");
  assert_null(pose);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void poses_are_read_one_by_one(void** unused) {
  (void)unused;
  assert_read_one_by_one(POSED("{\"from\": \"box.pc2\"}"));
  assert_read_one_by_one(POSED("{\"from\": \"box.mdd\"}"));
  assert_read_one_by_one(
      "{\"fps\": 8, \"unit\": 2, \"bodies\": [{\"surface\": \"tube.glb#tube\", \"pose\": "
      "{\"from\": \"tube.glb\"}}]}");
  assert_read_one_by_one(
      "{\"fps\": 10, \"bodies\": [{\"surface\": \"tube.glb\", \"pose\": {\"from\": "
      "\"tube.glb\", \"loop\": true}}]}");
}

static void a_scene_without_poses_has_none_to_read(void** unused) {
  (void)unused;
  sn_scene* s = load_well(POSED("null"));
  sn_error err = {0};
  sn_pose* pose;
  sn_scene_source source = {.json = s->resolved, .length = strlen(s->resolved)};
  assert_int_equal(sn_pose_open(&source, 0, BOX_VERTICES, &pose, &err), SN_OK);
  assert_null(pose);
  assert_int_equal(sn_pose_open(&source, 1, BOX_VERTICES, &pose, &err), SN_ERR_INPUT);
  assert_message_has(&err, "no usable unit, fps and bodies");
  source.length = 5;
  assert_int_equal(sn_pose_open(&source, 0, BOX_VERTICES, &pose, &err), SN_ERR_INPUT);
  sn_scene_destroy(s);
}

// All meshes of the character as one surface, and their poses in the same order.
static void a_whole_character_is_a_pose(void** unused) {
  (void)unused;
  sn_scene* s = load_well(
      "{\"fps\": 8, \"bodies\": [{\"surface\": \"tube.glb\", \"pose\": {\"from\": "
      "\"tube.glb\"}}]}");
  const sn_body_desc* body = &s->bodies[0];
  assert_int_equal(body->pose.vertex_count, 2 * TUBE_VERTICES);
  for (size_t i = 3 * TUBE_VERTICES; i < 6 * TUBE_VERTICES; ++i) {  // the second one stands still
    assert_true(fabs((double)body->pose.places[i] - body->mesh.positions[i]) < 1e-6);
  }
  sn_scene_destroy(s);
}

static void a_pose_that_does_not_fit_is_refused(void** unused) {
  (void)unused;
  write_pc2("other.pc2", 7, 1, 1);
  write_pc2("empty.pc2", BOX_VERTICES, 1, 0);
  assert_refused(POSED("{\"from\": \"other.pc2\"}"), "bodies[0].pose.from: found ");
  assert_refused(POSED("{\"from\": \"other.pc2\"}"), "which has 7 vertices, expected 8");
  assert_refused(POSED("{\"from\": \"empty.pc2\"}"), "no frames");
  assert_refused(POSED("{\"from\": \"missing.pc2\"}"), "missing.pc2");
  assert_refused(POSED("{\"from\": \"box.pc2\", \"clip\": \"x\"}"),
                 "bodies[0].pose: unknown key \"clip\"");
  assert_refused(POSED("{\"from\": \"box.obj\"}"), "bodies[0].pose.from");
  assert_refused(POSED("{\"from\": \"tube.glb\"}"), "which has 40 vertices, expected 8");
  assert_refused(POSED("{\"from\": \"tube.glb\", \"mesh\": \"tub\"}"), "\"tube\"");
  assert_refused(POSED("{\"from\": \"tube.glb\", \"clip\": \"walk\"}"), "bodies[0].pose.clip");
  assert_refused(POSED("7"), "bodies[0].pose: found 7, expected null");
  assert_refused(BONE("{\"from\": \"other.pc2\"}"), "bones[0].motion.from");
  assert_refused(
      "{\"bodies\": [{\"surface\": \"box.obj\"}], \"bones\": [{\"capsule\": {\"from\": "
      "[0,0,0], \"to\": [0,1,0], \"radius\": 1}, \"motion\": {\"from\": \"box.pc2\"}}]}",
      "bones[0].motion: found an animated mesh for a capsule");
  assert_refused(
      "{\"bodies\": [{\"surface\": \"box.obj\"}], \"fixed\": [{\"where\": \"all\", "
      "\"motion\": {\"from\": \"box.pc2\", \"node\": \"x\"}}]}",
      "fixed[0].motion.from");
}

static void a_cache_of_half_frames_is_refused(void** unused) {
  (void)unused;
  size_t size;
  char* bytes = read_everything(scratch_path("box.pc2"), &size);
  float half = 0.5f;
  memcpy(bytes + 24, &half, sizeof half);
  scratch_write("half.pc2", bytes, size);
  assert_refused(POSED("{\"from\": \"half.pc2\"}"), "a step of 0.5, expected whole frames");
  free(bytes);
}

static void attach(char* text, size_t size, const char* pose, const char* attachment) {
  snprintf(text, size,
           "{\"bodies\": [{\"surface\": \"box.obj\", \"pose\": %s}], \"bones\": [{\"name\": \"b\", "
           "\"mesh\": \"box.obj\"}], \"attachments\": [%s]}",
           pose, attachment);
}

static void attachments_go_to_a_bone_or_a_pose(void** unused) {
  (void)unused;
  char text[1024];
  const char* pose = "{\"from\": \"box.pc2\"}";
  attach(text, sizeof text, pose, "{\"to\": \"pose\"}, {\"bone\": \"b\"}");
  sn_scene* s = load_well(text);
  assert_int_equal(s->attachments[0].bone, SN_NO_BONE);
  assert_int_equal(s->attachments[0].where.kind, SN_WHERE_ALL);
  assert_int_equal(s->attachments[1].bone, 0);
  assert_int_equal(s->attachments[1].where.kind, SN_WHERE_INSIDE);
  sn_scene_destroy(s);
  attach(text, sizeof text, pose, "{\"to\": \"pose\", \"bone\": \"b\"}");
  assert_refused(text, "attachments[0]: found both");
  attach(text, sizeof text, pose, "{}");
  assert_refused(text, "attachments[0]: found neither");
  attach(text, sizeof text, pose, "{\"to\": \"nose\"}");
  assert_refused(text, "attachments[0].to");
  attach(text, sizeof text, pose, "{\"to\": \"pose\", \"where\": \"inside\"}");
  assert_refused(text, "attachments[0].where: found \"inside\"");
  attach(text, sizeof text, "null", "{\"to\": \"pose\"}");
  assert_refused(text, "body \"box\" has none");
}

#define FOLLOW(list) "{\"bodies\": [{\"surface\": \"lidded.obj\", \"follow\": " list "}]}"

static void parts_and_groups_follow(void** unused) {
  (void)unused;
  static const char* const texts[] = {FOLLOW("[1]"), FOLLOW("[\"lid\"]"), FOLLOW("[\"lid\", 1]")};
  for (int i = 0; i < 3; ++i) {
    sn_scene* s = load_well(texts[i]);
    assert_non_null(s->bodies[0].follow);
    for (uint32_t t = 0; t < 14; ++t) assert_int_equal(s->bodies[0].follow[t], t >= 12);
    sn_scene_destroy(s);
  }
  sn_scene* s = load_well(FOLLOW("[]"));
  assert_null(s->bodies[0].follow);
  sn_scene_destroy(s);
  assert_refused(FOLLOW("[2]"), "bodies[0].follow[0]: found 2, expected a number below 2");
  assert_refused(FOLLOW("[-1]"), "bodies[0].follow[0]: found -1");
  assert_refused(FOLLOW("[0, \"lit\"]"), "bodies[0].follow[1]");
  assert_refused(FOLLOW("[0, \"lit\"]"), "\"lid\"");
  assert_refused(FOLLOW("[0.5]"), "bodies[0].follow[0]: found 0.5");
  assert_refused(FOLLOW("\"lid\""), "bodies[0].follow: found \"lid\"");
}

static sn_status read_mdd(const unsigned char* bytes, size_t size, sn_error* err) {
  const char* path = scratch_write("made.mdd", bytes, size);
  sn_mdd_info info;
  float numbers[3 * BOX_VERTICES];
  sn_status status = sn_mdd_read_info(path, &info, err);
  for (uint32_t f = 0; status == SN_OK && f < info.frame_count; ++f) {
    assert_int_equal(info.vertex_count, BOX_VERTICES);
    status = sn_mdd_read_frame(path, f, numbers, err);
  }
  return status;
}

static void a_damaged_mdd_is_refused(void** unused) {
  (void)unused;
  unsigned char bytes[MDD_BYTES];
  sn_error err = {0};
  fill_mdd(bytes, 1);
  assert_int_equal(read_mdd(bytes, sizeof bytes, &err), SN_OK);
  for (size_t size = 0; size < sizeof bytes; ++size) {
    assert_int_equal(read_mdd(bytes, size, &err), SN_ERR_INPUT);
    assert_message_has(&err, "expected");
  }
  put_big_word(bytes, 0x7fffffff);
  assert_int_equal(read_mdd(bytes, sizeof bytes, &err), SN_ERR_INPUT);
  assert_message_has(&err, "2147483647 frames");
  put_big_word(bytes, 0);
  assert_int_equal(read_mdd(bytes, sizeof bytes, &err), SN_ERR_INPUT);
  put_big_word(bytes, MDD_FRAMES);
  put_big_word(bytes + 4, 0xffffffff);
  assert_int_equal(read_mdd(bytes, sizeof bytes, &err), SN_ERR_INPUT);
  fill_mdd(bytes, 1);
  put_big_word(bytes + MDD_BYTES - 4, 0x7fc00000);
  assert_int_equal(read_mdd(bytes, sizeof bytes, &err), SN_ERR_INPUT);
  assert_message_has(&err, "vertex 7 is not finite");
  float numbers[3 * BOX_VERTICES];
  fill_mdd(bytes, 1);
  scratch_write("made.mdd", bytes, sizeof bytes);
  assert_int_equal(sn_mdd_read_frame(scratch_path("made.mdd"), 3, numbers, &err), SN_ERR_INPUT);
}

static void count_warning(void* count, sn_log_level level, const char* text) {
  if (level == SN_LOG_WARNING && strstr(text, "they are taken one a frame")) ++*(int*)count;
}

static void other_times_of_an_mdd_are_said(void** unused) {
  (void)unused;
  unsigned char bytes[MDD_BYTES];
  int warnings = 0;
  sn_set_log(count_warning, &warnings);
  sn_scene_destroy(load_well(POSED("{\"from\": \"box.mdd\"}")));
  assert_int_equal(warnings, 0);
  fill_mdd(bytes, 1.0f / 30);
  scratch_write("slow.mdd", bytes, sizeof bytes);
  sn_scene_destroy(load_well(POSED("{\"from\": \"slow.mdd\"}")));
  assert_int_equal(warnings, 1);
  sn_set_log(NULL, NULL);
}

static sn_status load_all(sn_error* err) {
  sn_scene* scene;
  sn_status status = load_text(
      "{\"bodies\": [{\"surface\": \"lidded.obj\", \"follow\": [1]}, {\"surface\": \"box.obj\", "
      "\"pose\": {\"from\": \"box.pc2\"}}, {\"surface\": \"tube.glb\", \"pose\": {\"from\": "
      "\"tube.glb\"}}]}",
      &scene, err);
  sn_scene_destroy(scene);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_every_failing_request(load_all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_point_cache_is_a_pose),
      cmocka_unit_test(places_are_linear_between_frames_and_held_outside),
      cmocka_unit_test(a_skinned_mesh_is_a_pose),
      cmocka_unit_test(poses_are_read_one_by_one),
      cmocka_unit_test(a_scene_without_poses_has_none_to_read),
      cmocka_unit_test(a_whole_character_is_a_pose),
      cmocka_unit_test(a_pose_that_does_not_fit_is_refused),
      cmocka_unit_test(a_cache_of_half_frames_is_refused),
      cmocka_unit_test(attachments_go_to_a_bone_or_a_pose),
      cmocka_unit_test(parts_and_groups_follow),
      cmocka_unit_test(a_damaged_mdd_is_refused),
      cmocka_unit_test(other_times_of_an_mdd_are_said),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, begin, remove_scratch_folder);
}
