// Fast colliders and a small body: nothing is ever passed through, however soft.
#include "scene/shots.h"

static int make_body(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_shot_body();
  return 0;
}

// A collider that goes into flesh is in a pocket of its skin then, not in the flesh.
static void assert_nothing_was_passed_through(tally t) {
  assert_int_equal(t.infinite, 0);
  assert_int_equal(t.deep, 0);
  assert_int_equal(t.crossed, 0);
  assert_int_equal(t.swallowed, 0);
}

// A body that bounces off perfectly takes 4; forces on flesh that was left behind would count hundreds.
static void assert_no_energy_from_nowhere(tally t) {
  assert_true(t.work < 6);
  assert_true(t.rescued < 4);
}

// Sound in it takes ten frames from one side to the other.
static void a_fast_collider_does_not_pass_through_the_softest_flesh(void** unused) {
  (void)unused;
  tally t = shoot_often(70, 1, 1e3);
  assert_nothing_was_passed_through(t);
  assert_no_energy_from_nowhere(t);
}

// Sound in it is about as fast as the collider.
static void a_fast_collider_does_not_pass_through_soft_flesh(void** unused) {
  (void)unused;
  tally t = shoot_often(70, 2, 5e4);
  assert_nothing_was_passed_through(t);
  assert_no_energy_from_nowhere(t);
}

// Stiff flesh gets out of the way: the collider takes all of it along, or pushes it aside.
static void a_fast_collider_takes_stiff_flesh_along_or_aside(void** unused) {
  (void)unused;
  tally t = shoot_often(60, 3, 2e6);
  assert_nothing_was_passed_through(t);
  assert_int_equal(t.passed, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_body, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_fast_collider_does_not_pass_through_the_softest_flesh),
      TEST(a_fast_collider_does_not_pass_through_soft_flesh),
      TEST(a_fast_collider_takes_stiff_flesh_along_or_aside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
