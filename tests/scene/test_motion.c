#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above.
#include <cmocka.h>

#include "math/quat.h"
#include "sinew/scene.h"

static sn_quat about_z(double angle) {
  return (sn_quat){0.0, 0.0, sn_sin(0.5 * angle), sn_cos(0.5 * angle)};
}

static sn_affine pose_of_key(const sn_keyframe* key) {
  sn_motion alone = {.keys = (sn_keyframe*)key, .key_count = 1};
  return sn_motion_at(&alone, key->frame);
}

static void no_keys_means_rest(void** unused) {
  (void)unused;
  sn_motion motion = {0};
  sn_affine pose = sn_motion_at(&motion, 17.5), identity = sn_affine_at_rest();
  assert_memory_equal(&pose, &identity, sizeof pose);
}

static void a_translation_is_exact_whatever_the_pivot(void** unused) {
  (void)unused;
  sn_keyframe keys[2] = {{1.0, {0.1, 0.2, 0.3}, {0, 0, 0, 1}, {1e6, -3.3, 0.7}, {0}},
                         {3.0, {0.7, 0.2, -0.3}, {0, 0, 0, 1}, {1e6, -3.3, 0.7}, {0}}};
  sn_motion motion = {.keys = keys, .key_count = 2};
  sn_mat3 identity = sn_identity3();
  sn_affine pose = sn_motion_at(&motion, 1.0);
  assert_memory_equal(&pose.linear, &identity, sizeof identity);
  assert_true(pose.translate.x == 0.1 && pose.translate.y == 0.2 && pose.translate.z == 0.3);
  pose = sn_motion_at(&motion, 2.0);
  assert_memory_equal(&pose.linear, &identity, sizeof identity);
  assert_true(fabs(pose.translate.x - 0.4) < 1e-16 && pose.translate.y == 0.2);
}

static void key_frames_give_their_keys_and_ends_hold(void** unused) {
  (void)unused;
  sn_keyframe keys[4] = {{-2.0, {1, 0, 0}, about_z(0.3), {0, 1, 0}, {0}},
                         {1.0, {0.3, 0.1, 0}, about_z(1.1), {0, 0, 2}, {0}},
                         {1.25, {0, 0, 7}, about_z(-2.0), {0, 0, 0}, {0}},
                         {40.0, {0, 5, 0}, about_z(0.1), {1, 1, 1}, {0}}};
  sn_motion motion = {.keys = keys, .key_count = 4};
  for (int i = 0; i < 4; ++i) {
    sn_affine pose = sn_motion_at(&motion, keys[i].frame), expected = pose_of_key(&keys[i]);
    assert_memory_equal(&pose, &expected, sizeof pose);
  }
  const double outside[4] = {-1e300, -2.5, 40.5, INFINITY};
  for (int i = 0; i < 4; ++i) {
    sn_affine pose = sn_motion_at(&motion, outside[i]),
              expected = pose_of_key(&keys[i < 2 ? 0 : 3]);
    assert_memory_equal(&pose, &expected, sizeof pose);
  }
}

// A half turn about z through the pivot (1, 0, 0), rising by 2: at the fraction t the origin is at
// (1 - cos(t pi), -sin(t pi), 2 t).
static void a_hinge_swings_in_a_circle(void** unused) {
  (void)unused;
  const double pi = 3.141592653589793;
  sn_keyframe keys[2] = {{10.0, {0, 0, 0}, {0, 0, 0, 1}, {1, 0, 0}, {0}},
                         {18.0, {0, 0, 2}, about_z(pi * 0.999), {1, 0, 0}, {0}}};
  sn_motion motion = {.keys = keys, .key_count = 2};
  for (int i = 0; i <= 64; ++i) {
    double t = i / 64.0, angle = 0.999 * pi * t;
    sn_affine pose = sn_motion_at(&motion, 10.0 + 8.0 * t);
    sn_vec3 p = sn_affine_carry(&pose, sn_v3(0, 0, 0));
    sn_vec3 expected = {1.0 - cos(angle), -sin(angle), 2.0 * t};
    assert_true(sn_distance(p, expected) < 2e-15);
    assert_true(fabs(sn_det3(&pose.linear) - 1.0) < 2e-15);
    p = sn_affine_carry(&pose, sn_v3(1, 0, 5));  // on the axis
    assert_true(sn_distance(p, sn_v3(1, 0, 5 + 2.0 * t)) < 2e-15);
  }
}

static void a_frame_that_is_not_a_number_gives_no_number(void** unused) {
  (void)unused;
  sn_keyframe keys[3] = {{1, {0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}},
                         {2, {1, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}},
                         {3, {0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}}};
  sn_motion motion = {.keys = keys, .key_count = 3};
  assert_true(isnan(sn_motion_at(&motion, NAN).translate.x));
}

// p -> pivot + R S (p - pivot) + translate; all 0 is no stretch, and so is 1 along every axis.
static void a_stretch_comes_before_the_turn(void** unused) {
  (void)unused;
  sn_keyframe keys[2] = {{1, {0, 0, 0}, {0, 0, 0, 1}, {1, 2, 3}, {0}},
                         {3, {0, 0, 5}, about_z(1.2), {1, 2, 3}, {2, 0.5, 3, 0.1, 0.2, 0.3}}};
  sn_motion motion = {.keys = keys, .key_count = 2};
  sn_mat3 identity = sn_identity3();
  sn_affine pose = sn_motion_at(&motion, 1);
  assert_memory_equal(&pose.linear, &identity, sizeof identity);
  for (int i = 0; i <= 8; ++i) {
    double t = i / 8.0, c = cos(1.2 * t), s = sin(1.2 * t);
    sn_vec3 d = {0.3, -0.2, 0.7};
    pose = sn_motion_at(&motion, 1 + 2 * t);
    double x = (1 + t) * d.x + t * (0.3 * d.y + 0.2 * d.z);
    double y = (1 - 0.5 * t) * d.y + t * (0.3 * d.x + 0.1 * d.z);
    double z = (1 + 2 * t) * d.z + t * (0.2 * d.x + 0.1 * d.y);
    sn_vec3 expected = {1 + c * x - s * y, 2 + s * x + c * y, 3 + z + 5 * t};
    sn_vec3 p = sn_affine_carry(&pose, sn_add(d, sn_v3(1, 2, 3)));
    assert_true(sn_distance(p, expected) < 1e-14);
    // Half of the way is half of each.
    sn_affine half = sn_motion_toward(&motion, 3, t);
    assert_true(sn_distance(sn_affine_carry(&half, sn_add(d, sn_v3(1, 2, 3))), expected) < 1e-14);
  }
  assert_false(sn_motion_is_rigid(&motion));
  for (int i = 0; i < 6; ++i) keys[1].stretch[i] = i < 3;
  assert_true(sn_motion_is_rigid(&motion));
}

static void a_period_repeats_the_keys(void** unused) {
  (void)unused;
  sn_keyframe keys[4] = {{1, {0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}},
                         {2, {1, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}},
                         {3, {5, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}},
                         {3.5, {0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0}, {0}}};
  sn_motion motion = {.keys = keys, .key_count = 4, .period = 2.5};
  const double frames[] = {1, 1.5, 2, 2.5, 3, 3.25}, places[] = {0, 0.5, 1, 3, 5, 2.5};
  for (int cycle = -2; cycle < 400; ++cycle) {
    for (int i = 0; i < 6; ++i) {
      assert_true(sn_motion_at(&motion, frames[i] + 2.5 * cycle).translate.x == places[i]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_keys_means_rest),
      cmocka_unit_test(a_translation_is_exact_whatever_the_pivot),
      cmocka_unit_test(key_frames_give_their_keys_and_ends_hold),
      cmocka_unit_test(a_hinge_swings_in_a_circle),
      cmocka_unit_test(a_stretch_comes_before_the_turn),
      cmocka_unit_test(a_period_repeats_the_keys),
      cmocka_unit_test(a_frame_that_is_not_a_number_gives_no_number),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
