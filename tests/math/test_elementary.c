#include "math/elementary.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above.
#include <cmocka.h>

#include "math/quat.h"

static uint64_t random_state = 1;

// Uniform in [0, 1), the same on every machine.
static double next_uniform(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (double)(random_state >> 11) * 0x1p-53;
}

static double uniform(double lo, double hi) { return lo + (hi - lo) * next_uniform(); }

// Distance to the exact value in units of its last place.
static double ulps(double found, long double exact) {
  double rounded = fabs((double)exact);
  double unit = nextafter(rounded, INFINITY) - rounded;
  return (double)(fabsl((long double)found - exact) / (long double)unit);
}

static void sine_and_cosine_agree_with_long_double(void** unused) {
  (void)unused;
  const double spans[] = {1e-9, 1e-3, 0.7853981633974483, 3.2, 100.0, 1e4, 1e6};
  for (size_t s = 0; s < sizeof spans / sizeof spans[0]; ++s) {
    double worst = 0.0;
    for (int i = 0; i < 200000; ++i) {
      double x = uniform(-spans[s], spans[s]);
      worst = fmax(worst, ulps(sn_sin(x), sinl((long double)x)));
      worst = fmax(worst, ulps(sn_cos(x), cosl((long double)x)));
    }
    if (worst > 1.5) fail_msg("%g ulp within %g", worst, spans[s]);
  }
}

static void sine_keeps_its_digits_beside_multiples_of_pi(void** unused) {
  (void)unused;
  const double half_pi = 1.5707963267948966;
  for (int n = 1; n < 600000; n += 7) {
    double x = n * half_pi;
    for (int side = -1; side <= 1; ++side) {
      double beside = side < 0 ? nextafter(x, 0.0) : side > 0 ? nextafter(x, INFINITY) : x;
      long double exact = n % 2 ? cosl((long double)beside) : sinl((long double)beside);
      double found = n % 2 ? sn_cos(beside) : sn_sin(beside);
      // The reference itself has 64 bits of a reduced angle.
      assert_true(fabsl((long double)found - exact) <= 1e-15L * fabsl(exact) + 1e-25L);
    }
  }
}

static void sine_and_cosine_are_exact_where_they_can_be(void** unused) {
  (void)unused;
  assert_true(sn_sin(0.0) == 0.0 && !signbit(sn_sin(0.0)) && signbit(sn_sin(-0.0)));
  assert_true(sn_cos(0.0) == 1.0);
  assert_true(sn_sin(5e-324) == 5e-324);
  for (int i = 0; i < 10000; ++i) {
    double x = uniform(0.0, 50.0);
    assert_true(sn_sin(-x) == -sn_sin(x) && sn_cos(-x) == sn_cos(x));
  }
}

static void angles_without_meaning_give_nan(void** unused) {
  (void)unused;
  const double wrong[] = {NAN, INFINITY, -INFINITY, 2e6, -1e300};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    assert_true(isnan(sn_sin(wrong[i])) && isnan(sn_cos(wrong[i])));
  }
  assert_true(isnan(sn_atan2(NAN, 1.0)) && isnan(sn_atan2(1.0, NAN)));
}

static void arctangent_agrees_with_long_double(void** unused) {
  (void)unused;
  double worst = 0.0;
  for (int i = 0; i < 1000000; ++i) {
    double y = uniform(-1.0, 1.0), x = uniform(-1.0, 1.0);
    if (i % 3 == 0) y *= pow(10.0, uniform(-300.0, 300.0));
    if (i % 5 == 0) x *= pow(10.0, uniform(-300.0, 300.0));
    if (fabs(y / x) < 1e-290) continue;  // denormal results have fewer digits
    worst = fmax(worst, ulps(sn_atan2(y, x), atan2l((long double)y, (long double)x)));
  }
  if (worst > 1.5) fail_msg("%g ulp", worst);
}

static void arctangent_treats_zeros_and_infinities_as_c_does(void** unused) {
  (void)unused;
  const double odd[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, 5e-324, -1.7e308};
  const size_t count = sizeof odd / sizeof odd[0];
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      double found = sn_atan2(odd[i], odd[j]), expected = atan2(odd[i], odd[j]);
      assert_true(fabs(found - expected) <= 4.5e-16 && signbit(found) == signbit(expected));
    }
  }
}

// The bits themselves: no library, compiler or machine may change them.
static void bits_are_always_the_same(void** unused) {
  (void)unused;
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < 20000; ++i) {
    double x = -40.0 + 0.00390625 * i;
    double values[3] = {sn_sin(x), sn_cos(x), sn_atan2(x, 7.0 - 0.001953125 * i)};
    for (int k = 0; k < 3; ++k) {
      union {
        double value;
        uint64_t bits;
      } v = {values[k]};
      hash = (hash ^ v.bits) * 1099511628211u;
    }
  }
  assert_true(hash == 0xdb12800e471dffd6u);
}

static void logarithm_and_cube_root_agree_with_long_double(void** unused) {
  (void)unused;
  double worst[2] = {0.0, 0.0};
  for (int i = 0; i < 1000000; ++i) {
    double t = uniform(-1.0, 1.0);
    double x = i % 3 == 0 ? exp2(1021.0 * t) : i % 3 == 1 ? exp2(2.0 * t) : 1.0 + 1e-3 * t;
    worst[0] = fmax(worst[0], ulps(sn_ln(x), logl((long double)x)));
    worst[1] = fmax(worst[1], ulps(sn_inverse_cbrt(x), 1.0L / cbrtl((long double)x)));
  }
  if (worst[0] > 1.0 || worst[1] > 1.5) fail_msg("%g and %g ulp", worst[0], worst[1]);
}

static void logarithm_and_cube_root_at_the_ends(void** unused) {
  (void)unused;
  assert_true(sn_ln(1.0) == 0.0 && sn_inverse_cbrt(1.0) == 1.0 && sn_inverse_cbrt(8.0) == 0.5);
  assert_true(sn_ln(0.0) == -INFINITY && sn_inverse_cbrt(0.0) == INFINITY);
  assert_true(sn_ln(INFINITY) == INFINITY && sn_inverse_cbrt(INFINITY) == 0.0);
  assert_true(isnan(sn_ln(-1.0)) && isnan(sn_ln(NAN)));
  assert_true(isnan(sn_inverse_cbrt(-1.0)) && isnan(sn_inverse_cbrt(NAN)));
  const double tiny[] = {5e-324, 1e-310, 2.2e-308, 1.7e308};
  for (size_t i = 0; i < sizeof tiny / sizeof *tiny; ++i) {
    assert_true(ulps(sn_ln(tiny[i]), logl((long double)tiny[i])) < 2.0);
    assert_true(ulps(sn_inverse_cbrt(tiny[i]), 1.0L / cbrtl((long double)tiny[i])) < 1.5);
  }
}

static void exponential_agrees_with_long_double(void** unused) {
  (void)unused;
  double worst = 0.0;
  for (int i = 0; i < 1000000; ++i) {
    double t = uniform(-1.0, 1.0);
    double x = i % 3 == 0 ? 700.0 * t : i % 3 == 1 ? t : 1e-3 * t;
    if (x < -30.0) x = -30.0 * t;
    worst = fmax(worst, ulps(sn_expm1(x), expm1l((long double)x)));
  }
  if (worst > 2.0) fail_msg("%g ulp", worst);
  assert_true(sn_expm1(0.0) == 0.0 && sn_expm1(-1e300) == -1.0 && sn_expm1(1e300) == INFINITY);
  assert_true(isfinite(sn_expm1(709.7)) && isnan(sn_expm1(NAN)) && sn_expm1(1e-300) == 1e-300);
}

static sn_quat turn(sn_vec3 axis, double angle) {
  double s = sn_sin(0.5 * angle) / sn_length(axis);
  return (sn_quat){s * axis.x, s * axis.y, s * axis.z, sn_cos(0.5 * angle)};
}

static void slerp_turns_at_constant_speed(void** unused) {
  (void)unused;
  sn_vec3 axis = {1.0, -2.0, 0.5};
  const double angles[] = {1e-12, 1e-9, 1e-7, 1e-3, 0.5, 2.0, 3.14};
  for (size_t k = 0; k < sizeof angles / sizeof angles[0]; ++k) {
    for (int i = 0; i <= 16; ++i) {
      double t = i / 16.0;
      sn_quat q = sn_quat_slerp(turn(axis, 0.3), turn(axis, 0.3 + angles[k]), t);
      sn_quat expected = turn(axis, 0.3 + t * angles[k]);
      assert_true(sn_quat_length(sn_quat_madd(q, -1.0, expected)) < 1e-15);
      assert_true(fabs(sn_quat_length(q) - 1.0) < 4e-16);
    }
  }
}

static void slerp_takes_the_shorter_arc(void** unused) {
  (void)unused;
  sn_vec3 axis = {0.0, 0.0, 1.0};
  sn_quat a = turn(axis, 0.2), b = turn(axis, 1.0);
  sn_quat negative = {-b.x, -b.y, -b.z, -b.w};
  sn_quat q = sn_quat_slerp(a, b, 0.25), r = sn_quat_slerp(a, negative, 0.25);
  assert_memory_equal(&q, &r, sizeof q);
  sn_quat same = sn_quat_slerp(a, a, 0.4);
  assert_memory_equal(&same, &a, sizeof a);
}

static void quaternions_become_rotations(void** unused) {
  (void)unused;
  sn_mat3 identity = sn_identity3(), R = sn_quat_to_mat3(sn_quat_identity());
  assert_memory_equal(&R, &identity, sizeof R);
  R = sn_quat_to_mat3(turn(sn_v3(0.0, 0.0, 2.0), 1.5707963267948966));
  sn_vec3 p = sn_mul3v(&R, sn_v3(1.0, 0.0, 3.0));
  assert_true(sn_distance(p, sn_v3(0.0, 1.0, 3.0)) < 1e-15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sine_and_cosine_agree_with_long_double),
      cmocka_unit_test(sine_keeps_its_digits_beside_multiples_of_pi),
      cmocka_unit_test(sine_and_cosine_are_exact_where_they_can_be),
      cmocka_unit_test(angles_without_meaning_give_nan),
      cmocka_unit_test(arctangent_agrees_with_long_double),
      cmocka_unit_test(arctangent_treats_zeros_and_infinities_as_c_does),
      cmocka_unit_test(logarithm_and_cube_root_agree_with_long_double),
      cmocka_unit_test(logarithm_and_cube_root_at_the_ends),
      cmocka_unit_test(exponential_agrees_with_long_double),
      cmocka_unit_test(bits_are_always_the_same),
      cmocka_unit_test(slerp_turns_at_constant_speed),
      cmocka_unit_test(slerp_takes_the_shorter_arc),
      cmocka_unit_test(quaternions_become_rotations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
