// Checkpoints: what they go with, what changed where they do not, and any damage to them.
#include <xxhash.h>

#include "scene/scenes.h"

// A bar with everything that can be animated: a bone, a collider, nodes that are held, a force, a muscle. The
// words in capitals are replaced.
static const char* const SCENE =
    "{\"frames\": [1, 6], \"gravity\": [0, -9.81, 0],"
    " \"bodies\": [{\"name\": \"bar\", \"surface\": \"bar.obj\", \"cell\": 0.4, \"density\": "
    "1000}],"
    " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [0.4, 0.4, 0.4], \"to\": [0.4, 0.5, "
    "0.4],"
    "   \"radius\": 0.3}, \"motion\": [{\"frame\": 1}, {\"frame\": 3, \"translate\": [BONE3, 0, "
    "0]},"
    "   {\"frame\": 6, \"translate\": [BONE6, 0, 0]}]}],"
    " \"attachments\": [{\"bone\": \"a\"}],"
    " \"fixed\": [{\"where\": {\"box\": [[1.9, -1, -1], [3, 2, 2]]}, \"motion\": [{\"frame\": 3},"
    "   {\"frame\": 6, \"translate\": [0, FIXED6, 0]}]}],"
    " \"colliders\": [{\"shape\": \"plane\", \"position\": [0, -0.2, 0], \"motion\": [{\"frame\": "
    "3},"
    "   {\"frame\": 6, \"translate\": [0, PLANE6, 0]}]}],"
    " \"forces\": [{\"where\": \"all\", \"force\": [{\"frame\": 3, \"value\": [0, 0, 1]},"
    "   {\"frame\": 6, \"value\": [0, 0, FORCE6]}]}],"
    " \"muscles\": [{\"mesh\": \"bar.obj\", \"fibers\": {\"along\": [[0, 0, 0], [1, 0, 0]]},"
    "   \"activation\": [{\"frame\": 3, \"value\": 0.1}, {\"frame\": 6, \"value\": MUSCLE6}]}]}";

static int make_bar(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("bar.obj", 2.4, 0.8, 0.8);
  return 0;
}

// The scene with one word replaced by another value than the one it has otherwise.
static const char* scene_with(const char* word, const char* value) {
  static const char* const WORDS[][2] = {{"BONE3", "0.1"},  {"BONE6", "0.3"},  {"FIXED6", "0.1"},
                                         {"PLANE6", "0.1"}, {"FORCE6", "5.0"}, {"MUSCLE6", "0.4"}};
  static char text[4096];
  snprintf(text, sizeof text, "%s", SCENE);
  for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; ++i) {
    char rest[4096];
    char* at = strstr(text, WORDS[i][0]);
    assert_non_null(at);
    snprintf(rest, sizeof rest, "%s", at + strlen(WORDS[i][0]));
    const char* use = strcmp(word, WORDS[i][0]) == 0 ? value : WORDS[i][1];
    snprintf(at, sizeof text - (size_t)(at - text), "%s%s", use, rest);
  }
  return text;
}

static void run_until(const char* scene, const char* folder, int last, sn_resume resume,
                      int frame) {
  loaded l = load_scene(scene, 1);
  l.scene->output.keep_checkpoints = true;
  run_all(l, (sn_run_opts){scratch_path(folder), 1, last, resume, frame});
}

// What a resume says that must be refused.
static void refuse(const char* scene, const char* folder, sn_resume resume, int frame,
                   sn_error* err) {
  loaded l = load_scene(scene, 1);
  sn_run* run;
  sn_run_opts opts = {scratch_path(folder), 1, 6, resume, frame};
  *err = (sn_error){0};
  assert_int_equal(sn_run_open(&opts, l.model, l.scene, l.state, &run, err), SN_ERR_INPUT);
  unload(&l);
}

// Animation after the frame of the checkpoint may change; the result is that of the changed scene.
static void later_animation_may_change(void** unused) {
  (void)unused;
  static const char* const CHANGES[][2] = {{"BONE6", "0.2"},
                                           {"FIXED6", "0.0"},
                                           {"PLANE6", "0.2"},
                                           {"FORCE6", "9.0"},
                                           {"MUSCLE6", "0.9"}};
  for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; ++i) {
    const char *word = CHANGES[i][0], *value = CHANGES[i][1];
    run_until(scene_with("", ""), "resumed", 6, SN_RESUME_NO, 0);
    run_until(scene_with(word, value), "whole", 6, SN_RESUME_NO, 0);
    run_until(scene_with(word, value), "resumed", 6, SN_RESUME_AT, 4);
    assert_same_file("whole/bar.pc2", "resumed/bar.pc2");
    assert_same_file("whole/bar.pc2.sums", "resumed/bar.pc2.sums");
    assert_same_file("whole/checkpoint", "resumed/checkpoint");
  }
}

static void earlier_animation_may_not(void** unused) {
  (void)unused;
  static const struct {
    const char *word, *value, *place;
    int from;
  } CASES[] = {
      {"BONE3", "0.2", "bones[0].motion", 4},  {"BONE6", "0.2", "bones[0].motion", 5},
      {"FIXED6", "0.0", "fixed[0].motion", 5}, {"PLANE6", "0.2", "colliders[0].motion", 5},
      {"FORCE6", "9.0", "forces[0]", 5},       {"MUSCLE6", "0.9", "muscles[0].activation", 5}};
  sn_error err;
  run_until(scene_with("", ""), "run", 6, SN_RESUME_NO, 0);
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; ++i) {
    refuse(scene_with(CASES[i].word, CASES[i].value), "run", SN_RESUME_AT, CASES[i].from, &err);
    assert_message_has(&err, CASES[i].place);
    assert_message_has(&err, "animation up to frame");
  }
}

// A resume from a kept checkpoint that is killed at once can be resumed itself.
static void the_checkpoint_is_that_of_the_caches(void** unused) {
  (void)unused;
  const char* scene = scene_with("", "");
  run_until(scene, "whole", 6, SN_RESUME_NO, 0);
  run_until(scene, "run", 6, SN_RESUME_NO, 0);
  loaded l = load_scene(scene, 1);
  sn_run* run;
  sn_error err = {0};
  sn_run_opts opts = {scratch_path("run"), 1, 6, SN_RESUME_AT, 3};
  assert_ok(sn_run_open(&opts, l.model, l.scene, l.state, &run, &err), &err);
  sn_run_close(run);
  unload(&l);
  run_until(scene, "run", 6, SN_RESUME_LAST, 0);
  assert_same_file("whole/bar.pc2", "run/bar.pc2");
  assert_same_file("whole/checkpoint", "run/checkpoint");
}

static void assert_names(const char* from, const char* to, const char* words) {
  char text[4096], *at;
  sn_error err;
  snprintf(text, sizeof text, "%s", scene_with("", ""));
  at = strstr(text, from);
  assert_non_null(at);
  char rest[4096];
  snprintf(rest, sizeof rest, "%s", at + strlen(from));
  snprintf(at, sizeof text - (size_t)(at - text), "%s%s", to, rest);
  refuse(text, "run", SN_RESUME_LAST, 0, &err);
  assert_message_has(&err, words);
  assert_message_has(&err, "run/checkpoint");
}

static void what_changed_is_named(void** unused) {
  (void)unused;
  run_until(scene_with("", ""), "run", 2, SN_RESUME_NO, 0);
  assert_names("\"density\": 1000", "\"density\": 900.5", "bodies[0].density was 1000, is 900.5");
  assert_names("\"cell\": 0.4", "\"cell\": 0.3", "bodies[0].cell was 0.4, is 0.3");
  assert_names("-9.81", "-1.62", "gravity is different");
  assert_names("\"radius\": 0.3", "\"radius\": 0.2", "bones[0].capsule is different");
  assert_names("\"density\"", "\"material\": {\"young\": 5000}, \"density\"",
               "bodies[0].material is different");
  assert_names("{\"frames\"", "{\"fps\": 25, \"frames\"", "fps was 24, is 25");
  assert_names("{\"frames\"", "{\"solver\": {\"newton\": {\"max\": 7}}, \"frames\"",
               "solver.newton.max was 10, is 7");
  assert_names("\"attachments\": [", "\"attachments\": [{\"bone\": \"a\", \"stiffness\": 3}, ",
               "attachments[1] is new");
  write_box("bar.obj", 2.4, 0.8, 0.81);
  sn_error err;
  refuse(scene_with("", ""), "run", SN_RESUME_LAST, 0, &err);
  assert_message_has(&err, "bodies[0].surface is different; muscles[0].mesh is different");
}

// Of another version of the program: all else may be the same.
static void another_version_is_named(void** unused) {
  (void)unused;
  size_t size;
  sn_error err;
  run_until(scene_with("", ""), "run", 2, SN_RESUME_NO, 0);
  char* bytes = read_everything(scratch_path("run/checkpoint"), &size);
  assert_memory_equal(bytes + 32, "program ", 8);
  bytes[40] = '9';
  uint64_t sum = XXH64(bytes, size - sizeof sum, 0);
  memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
  scratch_write("run/checkpoint", bytes, size);
  refuse(scene_with("", ""), "run", SN_RESUME_LAST, 0, &err);
  assert_message_has(&err, "another version of the program: program was 9");
  bytes[8] = 2;
  scratch_write("run/checkpoint", bytes, size);
  refuse(scene_with("", ""), "run", SN_RESUME_LAST, 0, &err);
  assert_message_has(&err, "checkpoint of version 2, expected 3");
  free(bytes);
}

static int warnings;

static void count_warnings(void* user, sn_log_level level, const char* text) {
  (void)user;
  warnings += level == SN_LOG_WARNING && strstr(text, "rounds in another way");
}

// A processor of another kind goes on, with a warning.
static void another_processor_is_told(void** unused) {
  (void)unused;
  size_t size;
  run_until(scene_with("", ""), "run", 2, SN_RESUME_NO, 0);
  char* bytes = read_everything(scratch_path("run/checkpoint"), &size);
  char* at = memmem(bytes, size, "\ninstructions ", 14);
  assert_non_null(at);
  memcpy(at + 14, memcmp(at + 14, "fused", 5) == 0 ? "plain" : "fused", 5);
  uint64_t sum = XXH64(bytes, size - sizeof sum, 0);
  memcpy(bytes + size - sizeof sum, &sum, sizeof sum);
  scratch_write("run/checkpoint", bytes, size);
  free(bytes);
  warnings = 0;
  sn_set_log(count_warnings, NULL);
  run_until(scene_with("", ""), "run", 3, SN_RESUME_LAST, 0);
  run_until(scene_with("", ""), "run", 4, SN_RESUME_LAST, 0);
  sn_set_log(NULL, NULL);
  assert_int_equal(warnings, 1);
}

// One bit of every byte, and every length.
static void any_damage_is_refused(void** unused) {
  (void)unused;
  size_t size, used;
  sn_error err = {0};
  loaded l = load_scene(scene_with("", ""), 1);
  step(&l, 1);
  step(&l, 2);
  assert_ok(sn_state_save(l.model, l.state, scratch_path("good"), &err), &err);
  used = sn_memory_used();
  char* bytes = read_everything(scratch_path("good"), &size);
  for (size_t at = 0; at < size; ++at) {
    bytes[at] ^= (char)(1 << at % 8);
    scratch_write("bad", bytes, size);
    bytes[at] ^= (char)(1 << at % 8);
    assert_int_equal(sn_state_load(l.model, l.state, scratch_path("bad"), &err), SN_ERR_INPUT);
    scratch_write("bad", bytes, at);
    assert_int_equal(sn_state_load(l.model, l.state, scratch_path("bad"), &err), SN_ERR_INPUT);
  }
  print_message("%zu bytes flipped, as many lengths\n", size);
  assert_int_equal(sn_memory_used(), used);
  assert_ok(sn_state_load(l.model, l.state, scratch_path("good"), &err), &err);
  step(&l, 3);
  free(bytes);
  unload(&l);
}

// A damaged cache stops a resume before anything is cut.
static void a_damaged_cache_is_refused(void** unused) {
  (void)unused;
  size_t size;
  sn_error err;
  run_until(scene_with("", ""), "run", 4, SN_RESUME_NO, 0);
  char* bytes = read_everything(scratch_path("run/bar.pc2"), &size);
  bytes[200] ^= 16;
  scratch_write("run/bar.pc2", bytes, size);
  refuse(scene_with("", ""), "run", SN_RESUME_LAST, 0, &err);
  assert_message_has(&err, "bar.pc2: damaged: frame 2");
  refuse(scene_with("", ""), "run", SN_RESUME_AT, 4, &err);
  assert_int_equal(access(scratch_path("run/result.json"), R_OK), 0);
  bytes[200] ^= 16;
  scratch_write("run/bar.pc2", bytes, size);
  free(bytes);
  sn_run_findings found;
  assert_ok(sn_run_verify(scratch_path("run"), NULL, NULL, &found, &err), &err);
  assert_int_equal(found.damaged_count, 0);
  run_until(scene_with("", ""), "run", 6, SN_RESUME_LAST, 0);
}

static void keep_text(void* text, const char* told) { snprintf(text, 256, "%s", told); }

// Of the folder of a run, in which `name` now has these bytes.
static void find_damage(const char* name, const char* bytes, size_t size) {
  sn_error err = {0};
  sn_run_findings found;
  char folder[256], told[256] = "";
  snprintf(folder, sizeof folder, "%s", scratch_path("run"));
  scratch_write(name, bytes, size);
  assert_ok(sn_run_verify(folder, keep_text, told, &found, &err), &err);
  if (found.damaged_count == 0) fail_msg("%s, %zu bytes: no damage found", name, size);
  assert_non_null(strstr(told, "run/bar") ? told : strstr(told, name));
}

// One bit of a file with a checksum, or its end; of others, that they are no JSON. The caches' own tests take every bit.
static void the_check_of_a_folder_finds_damage(void** unused) {
  (void)unused;
  static const struct {
    const char* name;
    bool summed;
  } FILES[] = {{"run/bar.pc2", true},     {"run/bar.pc2.sums", true}, {"run/bar.cells", true},
               {"run/bar.fields", true},  {"run/checkpoint", true},   {"run/checkpoint-0002", true},
               {"run/scene.json", false}, {"run/stats.jsonl", false}, {"run/result.json", false}};
  sn_error err = {0};
  sn_run_findings found;
  loaded l = load_scene(scene_with("", ""), 1);
  l.scene->output.keep_checkpoints = true;
  l.scene->output.fields = 1u << SN_FIELD_STRAIN;
  run_all(l, (sn_run_opts){scratch_path("run"), 1, 3, SN_RESUME_NO, 0});
  for (size_t f = 0; f < sizeof FILES / sizeof *FILES; ++f) {
    size_t size;
    char* bytes = read_everything(scratch_path(FILES[f].name), &size);
    for (size_t at = 0; FILES[f].summed && at < size; at += size / 23 + 1) {
      bytes[at] ^= (char)(1 << at % 8);
      find_damage(FILES[f].name, bytes, size);
      bytes[at] ^= (char)(1 << at % 8);
    }
    for (size_t cut = size / 2; FILES[f].summed && cut < size; cut += size / 7 + 1) {
      find_damage(FILES[f].name, bytes, cut);
    }
    char first = bytes[0];
    bytes[0] = 'x';
    find_damage(FILES[f].name, bytes, size);
    bytes[0] = first;
    scratch_write(FILES[f].name, bytes, size);
    free(bytes);
  }
  assert_ok(sn_run_verify(scratch_path("run"), NULL, NULL, &found, &err), &err);
  assert_int_equal(found.damaged_count, 0);
  assert_int_equal(found.frame_count, 6);  // of the cache and the fields
  assert_int_equal(sn_run_verify(scratch_path("none"), NULL, NULL, &found, &err), SN_ERR_INPUT);
  assert_message_has(&err, "has no scene.json");
}

static void one_run_a_folder(void** unused) {
  (void)unused;
  loaded a = load_scene(scene_with("", ""), 1), b = load_scene(scene_with("", ""), 1);
  sn_run *first, *second;
  sn_error err = {0};
  char folder[256];
  snprintf(folder, sizeof folder, "%s", scratch_path("run"));
  sn_run_opts opts = {folder, 1, 6, SN_RESUME_NO, 0};
  assert_false(sn_run_is_going_on(scratch_path("run")));
  assert_ok(sn_run_open(&opts, a.model, a.scene, a.state, &first, &err), &err);
  assert_true(sn_run_is_going_on(scratch_path("run")));
  for (int resume = 0; resume < 2; ++resume) {
    opts.resume = resume ? SN_RESUME_LAST : SN_RESUME_NO;
    assert_int_equal(sn_run_open(&opts, b.model, b.scene, b.state, &second, &err), SN_ERR_IO);
    assert_message_has(&err, "run/lock");
    assert_message_has(&err, "process ");
    assert_null(second);
  }
  sn_run_close(first);
  assert_false(sn_run_is_going_on(scratch_path("run")));
  assert_int_not_equal(access(scratch_path("run/lock"), F_OK), 0);
  // What a killed program left is no lock.
  scratch_write("run/lock", "process 1 on moon\n", 18);
  assert_false(sn_run_is_going_on(scratch_path("run")));
  assert_ok(sn_run_open(&opts, b.model, b.scene, b.state, &second, &err), &err);
  sn_run_close(second);
  unload(&a);
  unload(&b);
  assert_int_equal(sn_memory_used(), 0);
}

// Other fields are asked for, but nothing is left to be computed: what is there stays.
static void a_finished_run_keeps_its_fields(void** unused) {
  (void)unused;
  size_t before, after;
  loaded l = load_scene(scene_with("", ""), 1);
  l.scene->output.fields = 1u << SN_FIELD_STRAIN;
  run_all(l, (sn_run_opts){scratch_path("run"), 1, 3, SN_RESUME_NO, 0});
  char* fields = read_everything(scratch_path("run/bar.fields"), &before);
  for (int k = 0; k < 2; ++k) {
    l = load_scene(scene_with("", ""), 1);
    l.scene->output.fields = k ? 0 : 1u << SN_FIELD_J;
    run_all(l, (sn_run_opts){scratch_path("run"), 1, 3, SN_RESUME_LAST, 0});
    char* now = read_everything(scratch_path("run/bar.fields"), &after);
    assert_int_equal(before, after);
    assert_memory_equal(fields, now, after);
    free(now);
  }
  free(fields);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_bar, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(later_animation_may_change),
      TEST(earlier_animation_may_not),
      TEST(the_checkpoint_is_that_of_the_caches),
      TEST(what_changed_is_named),
      TEST(another_version_is_named),
      TEST(another_processor_is_told),
      TEST(any_damage_is_refused),
      TEST(a_damaged_cache_is_refused),
      TEST(the_check_of_a_folder_finds_damage),
      TEST(one_run_a_folder),
      TEST(a_finished_run_keeps_its_fields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
