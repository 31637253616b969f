// Fast colliders and a small body.
#include "scene/shots.h"

static int make_body(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_shot_body();
  return 0;
}

static void a_fast_collider_is_never_deep_in_a_body(void** unused) {
  (void)unused;
  tally t = shoot_often(200, false);
  assert_int_equal(t.infinite, 0);
  assert_int_equal(t.deep, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_fast_collider_is_never_deep_in_a_body, make_body,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
