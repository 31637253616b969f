#include <math.h>

#include "scene/scenes.h"

// A block on two bones that carry and twist it, soft enough to sag.
static const char* const TWIST =
    "{\"mode\": \"quasistatic\", \"frames\": [1, 5],"
    " \"bodies\": [{\"name\": \"block\", \"surface\": \"block.obj\", \"cell\": 0.1,"
    "   \"material\": {\"young\": 8000, \"poisson\": 0.4}}],"
    " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [0.2, 0.2, 0.2], \"to\": [0.2, 0.4, "
    "0.2],"
    "   \"radius\": 0.15}},"
    "  {\"name\": \"b\", \"capsule\": {\"from\": [1.2, 0.2, 0.2], \"to\": [1.2, 0.4, 0.2],"
    "   \"radius\": 0.15}, \"motion\": [{\"frame\": 1},"
    "   {\"frame\": 5, \"translate\": [0.1, 0.2, 0], \"rotate\": [0.5, 0, 0, 0.8660254037844386],"
    "    \"pivot\": [1.2, 0.3, 0.2]}]}],"
    " \"attachments\": [{\"bone\": \"a\"}, {\"bone\": \"b\"}],"
    " \"solver\": {\"newton\": {\"max\": 6}}}";

static int make_block(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("block.obj", 1.4, 0.6, 0.4);
  return 0;
}

static void run_into(const char* folder, int threads, int first, int last, sn_resume resume,
                     int resume_frame) {
  loaded l = load_scene(TWIST, threads);
  l.scene->output.keep_checkpoints = true;
  run_all(l, (sn_run_opts){scratch_path(folder), first, last, resume, resume_frame});
}

static void listen_for_long(void* user, sn_log_level level, const char* text) {
  if (level == SN_LOG_WARNING && strstr(text, "triangles longer than")) ++*(int*)user;
}

// The box has 12 triangles, 1.4 long.
static void a_surface_that_hides_its_flesh_is_told_of(void** unused) {
  (void)unused;
  static const char* const CELLS[] = {"0.2", "0.05"};
  for (int i = 0; i < 2; ++i) {
    char text[200];
    int told = 0;
    snprintf(text, sizeof text, "{\"bodies\": [{\"surface\": \"block.obj\", \"cell\": %s}]}",
             CELLS[i]);
    sn_set_log(listen_for_long, &told);
    loaded l = load_scene(text, 1);
    sn_set_log(NULL, NULL);
    assert_int_equal(told, i);
    unload(&l);
  }
}

// Cells that stick out of the block on all sides weigh what is inside.
static void a_body_weighs_what_its_skin_encloses(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.13,"
      " \"density\": 900, \"material\": {\"young\": 8000, \"poisson\": 0.4}}]}",
      2);
  sn_body_info info = sn_model_body(l.model, 0);
  double volume = 1.4 * 0.6 * 0.4;
  assert_near(info.volume, 11 * 5 * 4 * 0.13 * 0.13 * 0.13, 1e-12);
  assert_near(info.filled_volume, volume, 1e-7 * volume);
  assert_near(info.mass, 900 * volume, 1e-7 * 900 * volume);
  unload(&l);
}

static void any_thread_count_gives_the_same_bytes(void** unused) {
  (void)unused;
  static const int THREADS[] = {1, 1, 2, 3, 8};  // twice with one: two runs
  run_into("base", 1, 1, 5, SN_RESUME_NO, 0);
  for (size_t i = 0; i < sizeof THREADS / sizeof *THREADS; ++i) {
    run_into("other", THREADS[i], 1, 5, SN_RESUME_NO, 0);
    assert_same_file("base/block.pc2", "other/block.pc2");
    assert_same_file("base/checkpoint", "other/checkpoint");
  }
}

static void resuming_at_any_frame_gives_the_same_bytes(void** unused) {
  (void)unused;
  run_into("base", 2, 1, 5, SN_RESUME_NO, 0);
  for (int last = 1; last < 5; ++last) {
    run_into("other", 1, 1, last, SN_RESUME_NO, 0);
    run_into("other", 2, 1, 5, SN_RESUME_LAST, 0);
    assert_same_file("base/block.pc2", "other/block.pc2");
    assert_same_file("base/checkpoint", "other/checkpoint");
  }
  for (int frame = 1; frame <= 5; ++frame) {
    run_into("other", 1, 1, 5, SN_RESUME_AT, frame);
    assert_same_file("base/block.pc2", "other/block.pc2");
  }
}

static void the_resolved_scene_gives_the_same_bytes(void** unused) {
  (void)unused;
  run_into("base", 2, 1, 5, SN_RESUME_NO, 0);
  sn_error err = {0};
  loaded l = {0};
  assert_ok(sn_scene_load(scratch_path("base/scene.json"), NULL, 0, &l.scene, &err), &err);
  assert_ok(sn_model_build(l.scene, NULL, &l.model, &err), &err);
  assert_ok(sn_state_create(l.model, NULL, &l.state, &err), &err);
  size_t size;
  char* cache = read_everything(scratch_path("base/block.pc2"), &size);
  for (int frame = 1; frame <= 5; ++frame) {
    step(&l, frame);
    assert_memory_equal(surface(&l), cache + 32 + (size_t)(frame - 1) * 8 * 12, 8 * 12);
  }
  free(cache);
  unload(&l);
}

static void the_third_step_allocates_nothing(void** unused) {
  (void)unused;
  loaded l = load_scene(TWIST, 2);
  step(&l, 1);
  step(&l, 2);
  uint64_t before = sn_allocation_count();
  step(&l, 3);
  assert_int_equal(sn_allocation_count(), before);
  unload(&l);
}

static void scaling_lengths_modulus_and_time_scales_the_result(void** unused) {
  (void)unused;
  // Lengths and Young's modulus x 4096, times x 64, density fixed.
  static const char* const FORMAT =
      "{\"mode\": \"quasistatic\", \"frames\": [1, 3], \"fps\": %.17g,"
      " \"bodies\": [{\"surface\": \"%s\", \"cell\": %.17g,"
      "   \"material\": {\"young\": %.17g, \"poisson\": 0.4}}],"
      " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [%.17g, %.17g, %.17g],"
      "   \"to\": [%.17g, %.17g, %.17g], \"radius\": %.17g}, \"motion\": [{\"frame\": 1},"
      "   {\"frame\": 3, \"rotate\": [0.5, 0, 0, 0.8660254037844386]}]}],"
      " \"attachments\": [{\"bone\": \"a\"}],"
      " \"forces\": [{\"where\": {\"box\": [[%.17g, 0, 0], [%.17g, %.17g, %.17g]]},"
      "   \"traction\": [0, 0, %.17g]}]}";
  float result[2][24];
  double scale[2] = {1, 4096}, residual[2];
  for (int k = 0; k < 2; ++k) {
    double s = scale[k];
    char text[2048];
    const char* name = k ? "large.obj" : "small.obj";
    write_box(name, 1.4 * s, 0.6 * s, 0.4 * s);
    snprintf(text, sizeof text, FORMAT, k ? 24.0 / 64 : 24.0, name, 0.1 * s, 8000 * s, 0.3 * s,
             0.3 * s, 0.2 * s, 0.5 * s, 0.3 * s, 0.2 * s, 0.15 * s, 1.4 * s, 1.4 * s, 0.6 * s,
             0.4 * s, 50.0 * s);
    loaded l = load_scene(text, 2);
    for (int frame = 1; frame <= 3; ++frame) residual[k] = step(&l, frame).residual;
    memcpy(result[k], surface(&l), sizeof result[k]);
    unload(&l);
  }
  assert_near(residual[0], residual[1], 1e-6 * residual[0]);
  for (int i = 0; i < 24; ++i) assert_near(result[0][i], result[1][i] / 4096, 1e-6 * 1.4);
}

static void a_body_that_nothing_holds_keeps_its_start_pose(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.1,"
      " \"initial\": {\"translate\": [1, 2, 3], \"rotate\": [0, 0, 0.7071067811865476,"
      " 0.7071067811865476]}}]}",
      2);
  assert_false(sn_model_body(l.model, 0).held);
  for (int frame = 1; frame <= 3; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    const float* p = surface(&l);
    assert_true(stats.converged);
    for (int c = 0; c < 8; ++c) {  // (x, y, z) -> (1 - y, 2 + x, 3 + z)
      double x = c & 1 ? 1.4 : 0, y = c & 2 ? 0.6 : 0, z = c & 4 ? 0.4 : 0;
      assert_near(p[3 * c], 1 - y, 1e-6);
      assert_near(p[3 * c + 1], 2 + x, 1e-6);
      assert_near(p[3 * c + 2], 3 + z, 1e-6);
    }
  }
  unload(&l);
}

#define PULLED                                                                                  \
  "\"mode\": \"quasistatic\", \"gravity\": 0, \"bodies\": [{\"surface\": \"block.obj\", "       \
  "\"cell\": "                                                                                  \
  "0.1, \"material\": {\"young\": 1000, \"poisson\": 0}}], \"fixed\": [{\"where\": {\"box\": "  \
  "[[0, 0, 0], [0, 1, 1]]}}], \"forces\": [{\"where\": {\"box\": [[1.4, 0, 0], [1.4, 1, 1]]}, " \
  "\"traction\": [0, 50, 0]}], "

static void the_first_frame_may_take_more_steps(void** unused) {
  (void)unused;
  loaded l = load_scene("{" PULLED "\"solver\": {\"newton\": {\"max\": 5}}}", 1);
  sn_frame_stats stats = step(&l, 1);
  assert_true(stats.converged && stats.newton > 5 && stats.newton <= 15);
  unload(&l);
}

static void settling_before_the_first_frame_is_no_work(void** unused) {
  (void)unused;
  loaded l = load_scene("{" PULLED
                        "\"preroll\": 4, "
                        "\"solver\": {\"newton\": {\"max\": 1, \"tolerance\": 1e-9}}}",
                        2);
  sn_frame_stats stats = step(&l, 1);
  assert_true(stats.energy_elastic > 0);
  assert_true(stats.work == 0);
  unload(&l);
}

static void memory_is_accounted_for_by_purpose(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.02}]}", 2);
  sn_state* second;
  size_t before = sn_memory_used();
  assert_int_equal(sn_state_create(l.model, l.pool, &second, NULL), SN_OK);
  size_t state_bytes = sn_memory_used() - before;
  sn_state_destroy(second);
  sn_memory_account account = sn_state_memory(l.model, l.state);
  double sum = 0, all = (double)(sn_model_bytes(l.model) + state_bytes);
  for (int p = 0; p < SN_MEMORY_PURPOSES; ++p) {
    print_message("%-10s %7.1f bytes a cell\n", sn_memory_purpose_name((sn_memory_purpose)p),
                  (double)account.bytes[p] / (double)sn_model_body(l.model, 0).cell_count);
    assert_true(account.bytes[p] > 0);
    sum += (double)account.bytes[p];
  }
  // What is left is small change: bones, the parts of the model that belong to no body.
  assert_true(sum <= all && sum >= 0.97 * all);
  unload(&l);
}

static void pulling_at_a_free_body_stretches_it_in_place(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.1,"
      " \"material\": {\"model\": \"corotated\", \"young\": 1000, \"poisson\": 0}}],"
      " \"forces\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}, \"traction\": [-100, 0, 0]},"
      "  {\"where\": {\"box\": [[1.4, 0, 0], [1.4, 1, 1]]}, \"traction\": [100, 0, 0]}],"
      " \"solver\": {\"newton\": {\"max\": 20, \"tolerance\": 1e-9},"
      "               \"krylov\": {\"tolerance\": 1e-6}}}",
      2);
  assert_true(step(&l, 1).converged);
  // (Pushing would turn it round: under dead loads that is the state of least energy.)
  // 10 % strain, about the centre; Poisson's ratio is zero, so nothing bulges. The traction is
  // sampled a quarter of a cell apart, which is good for 1 % of the displacement.
  const float* p = surface(&l);
  for (int c = 0; c < 8; ++c) {
    assert_near(p[3 * c], c & 1 ? 1.47 : -0.07, 7e-4);
    assert_near(p[3 * c + 1], c & 2 ? 0.6 : 0, 7e-4);
    assert_near(p[3 * c + 2], c & 4 ? 0.4 : 0, 7e-4);
  }
  unload(&l);
}

static void a_stretched_bar_has_the_closed_form_stress_and_work(void** unused) {
  (void)unused;
  // Uniaxial, corotated: P = E (l - 1), lateral stretch 1 - nu (l - 1). Both end faces are held, so
  // Poisson's ratio is zero here to keep the state homogeneous.
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"frames\": [1, 3], \"gravity\": 0,"
      " \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.1,"
      "   \"material\": {\"model\": \"corotated\", \"young\": 1000, \"poisson\": 0}}],"
      " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}},"
      "  {\"where\": {\"box\": [[1.4, 0, 0], [1.4, 1, 1]]}, \"motion\": [{\"frame\": 1},"
      "   {\"frame\": 3, \"translate\": [0.7, 0, 0]}]}],"
      " \"solver\": {\"newton\": {\"max\": 20, \"tolerance\": 1e-9},"
      "               \"krylov\": {\"tolerance\": 1e-6}}}",
      2);
  sn_frame_stats stats = {0};
  for (int frame = 1; frame <= 3; ++frame) stats = step(&l, frame);
  double energy = 0.5 * 1000 * 0.5 * 0.5 * (1.4 * 0.6 * 0.4);
  assert_true(stats.converged);
  assert_near(stats.energy_elastic, energy, 1e-7 * energy);
  assert_near(stats.work, energy, 1e-7 * energy);  // linear law: the trapezoid is exact
  assert_near(stats.volume_error, 0.5, 1e-7);
  unload(&l);
}

static sn_status build_and_step(sn_error* err) {
  sn_scene* scene = NULL;
  sn_model* model = NULL;
  sn_state* state = NULL;
  sn_frame_stats stats;
  sn_status status = sn_scene_load(scratch_path("scene.json"), NULL, 0, &scene, err);
  if (status == SN_OK) status = sn_model_build(scene, NULL, &model, err);
  if (status == SN_OK) status = sn_state_create(model, NULL, &state, err);
  if (status == SN_OK) status = sn_step(model, state, 1, &stats, err);
  if (status == SN_OK) status = sn_state_save(model, state, scratch_path("state"), err);
  if (status == SN_OK) status = sn_state_load(model, state, scratch_path("state"), err);
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_scene_destroy(scene);
  return status;
}

static void any_failing_allocation_is_survived(void** unused) {
  (void)unused;
  scratch_write("scene.json", TWIST, strlen(TWIST));
  assert_survives_failing_allocations(build_and_step);
}

static void a_damaged_or_foreign_checkpoint_is_refused(void** unused) {
  (void)unused;
  loaded l = load_scene(TWIST, 1);
  sn_error err = {0};
  step(&l, 1);
  assert_ok(sn_state_save(l.model, l.state, scratch_path("state"), &err), &err);
  size_t size;
  char* bytes = read_everything(scratch_path("state"), &size);
  for (size_t at = 0; at < size; at += at < 64 ? 1 : size / 50) {
    bytes[at] ^= 1;
    scratch_write("bad", bytes, size);
    bytes[at] ^= 1;
    assert_int_equal(sn_state_load(l.model, l.state, scratch_path("bad"), &err), SN_ERR_INPUT);
  }
  for (size_t cut = 0; cut < size; cut += 1 + size / 20) {
    scratch_write("bad", bytes, cut);
    assert_int_equal(sn_state_load(l.model, l.state, scratch_path("bad"), &err), SN_ERR_INPUT);
  }
  loaded other = load_scene(
      "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.2}]}", 1);
  assert_int_equal(sn_state_load(other.model, other.state, scratch_path("state"), &err),
                   SN_ERR_INPUT);
  assert_message_has(&err, "another scene");
  unload(&other);
  unload(&l);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_surface_that_hides_its_flesh_is_told_of, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_body_weighs_what_its_skin_encloses, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(any_thread_count_gives_the_same_bytes, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(resuming_at_any_frame_gives_the_same_bytes, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(the_resolved_scene_gives_the_same_bytes, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(the_third_step_allocates_nothing, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(scaling_lengths_modulus_and_time_scales_the_result,
                                      make_block, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_body_that_nothing_holds_keeps_its_start_pose, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(the_first_frame_may_take_more_steps, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(settling_before_the_first_frame_is_no_work, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(memory_is_accounted_for_by_purpose, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(pulling_at_a_free_body_stretches_it_in_place, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_stretched_bar_has_the_closed_form_stress_and_work,
                                      make_block, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(any_failing_allocation_is_survived, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_damaged_or_foreign_checkpoint_is_refused, make_block,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
