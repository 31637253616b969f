// Bodies thrown into hopeless states find back to rest.
#include <math.h>

#include "scene/scenes.h"

// Farthest vertex from its place in the file, over the size of the body.
static double deviation(const loaded* l) {
  const float* p = surface(l);
  const sn_mesh* mesh = &l->scene->bodies[0].mesh;
  double worst = 0, low = INFINITY, high = -INFINITY;
  for (uint32_t i = 0; i < 3 * mesh->vertex_count; ++i) {
    assert_true(isfinite(p[i]));
    worst = fmax(worst, fabs(p[i] - mesh->positions[i]));
    if (i % 3 == 0) low = fmin(low, p[i]), high = fmax(high, p[i]);
  }
  return worst / (high - low);
}

static void recover(const char* body, const char* kind, double amount) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"gravity\": 0, \"frames\": [1, 40],"
           " \"bodies\": [{%s, \"initial\": {\"scramble\": {\"kind\": \"%s\", \"amount\": %g}}}],"
           " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [0.3, 0.25, 0.25],"
           "   \"to\": [0.7, 0.25, 0.25], \"radius\": 0.1}}],"
           " \"attachments\": [{\"bone\": \"a\"}],"
           " \"solver\": {\"newton\": {\"max\": 10, \"tolerance\": 1e-6}}}",
           body, kind, amount);
  loaded l = load_scene(text, 2);
  int frame = 1;
  while (frame <= 40 && !step(&l, frame).converged) {
    deviation(&l);  // finite in every frame
    ++frame;
  }
  double left = deviation(&l);
  print_message("%-7s amount %-4g: %.1e of the body size after %d frames\n", kind, amount, left,
                frame);
  assert_true(left < 1e-4);
  unload(&l);
}

static const char* const BLOCK = "\"surface\": \"block.obj\", \"cell\": 0.0625";

static int make_block(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("block.obj", 1, 0.5, 0.5);
  return 0;
}

static void a_body_collapsed_to_a_point_recovers(void** unused) {
  (void)unused;
  recover(BLOCK, "point", 1);
}

static void a_body_collapsed_to_a_line_recovers(void** unused) {
  (void)unused;
  recover(BLOCK, "line", 1);
}

static void a_flattened_body_recovers(void** unused) {
  (void)unused;
  recover(BLOCK, "plane", 1);
}

static void a_mirrored_body_recovers(void** unused) {
  (void)unused;
  recover(BLOCK, "mirror", 1);
}

static void a_body_scattered_over_ten_body_sizes_recovers(void** unused) {
  (void)unused;
  recover(BLOCK, "random", 1);
  recover(BLOCK, "random", 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_body_collapsed_to_a_point_recovers, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_body_collapsed_to_a_line_recovers, make_block,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_flattened_body_recovers, make_block, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_mirrored_body_recovers, make_block, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_body_scattered_over_ten_body_sizes_recovers, make_block,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
