// The law of fibres.
#include "material/fiber.h"

#include "shapes.h"

static const sn_fiber BICEPS = {3e5, 1.1, 0.8, 2e6};

// Stretches on both sides of every joint, and far away.
static const double STRETCHES[] = {0.01, 0.3,   0.43,  0.45, 0.6,  0.64,  0.65,  0.9,
                                   0.99, 1.005, 1.019, 1.03, 1.09, 1.101, 1.105, 1.3,
                                   1.53, 1.55,  1.57,  1.7,  1.77, 2.5};
#define STRETCH_COUNT (sizeof STRETCHES / sizeof *STRETCHES)

static const sn_fiber_state STATES[] = {{0, 0}, {1, 0}, {0.4, 0}, {1, 1}, {0.7, 0.3}};
#define STATE_COUNT (sizeof STATES / sizeof *STATES)

static void assert_close(double value, double expected, double margin) {
  if (!(fabs(value - expected) <= margin)) {
    fail_msg("%.12g is not within %.3g of %.12g", value, margin, expected);
  }
}

static void tension_is_the_slope_of_the_energy(void** unused) {
  (void)unused;
  for (size_t s = 0; s < STATE_COUNT; ++s) {
    for (size_t i = 0; i < STRETCH_COUNT; ++i) {
      double l = STRETCHES[i], d = 1e-5;
      sn_fiber_point at = sn_fiber_evaluate(&BICEPS, STATES[s], l);
      sn_fiber_point up = sn_fiber_evaluate(&BICEPS, STATES[s], l + d);
      sn_fiber_point down = sn_fiber_evaluate(&BICEPS, STATES[s], l - d);
      assert_close((up.energy - down.energy) / (2 * d), at.tension, 0.02);
      assert_close((up.tension - down.tension) / (2 * d), at.slope, 20);
    }
  }
}

static void tension_and_its_slope_have_no_jumps_in_tension(void** unused) {
  (void)unused;
  for (size_t s = 0; s < STATE_COUNT; ++s) {
    sn_fiber_point last = sn_fiber_evaluate(&BICEPS, STATES[s], 0.2);
    for (double l = 0.2; l < 2.2; l += 1e-4) {
      sn_fiber_point p = sn_fiber_evaluate(&BICEPS, STATES[s], l);
      assert_true(p.tension >= 0 && p.energy >= 0 && p.energy >= last.energy);
      assert_close(p.tension, last.tension, 1e-4 * 5e6);
      assert_close(p.slope, last.slope, 1e-4 * 3e8);
      last = p;
    }
  }
}

static void the_curves_are_those_of_the_books(void** unused) {
  (void)unused;
  sn_fiber one = {1, 1, 1, 1};
  sn_fiber_state full = {1, 0}, none = {0, 0}, tendon = {0, 1};
  assert_close(sn_fiber_evaluate(&one, full, 1).tension, 1, 1e-15);
  assert_close(sn_fiber_evaluate(&one, full, 0.8).tension, 0.84, 1e-15);
  assert_close(sn_fiber_evaluate(&one, full, 0.5).tension, 0.09, 0.001);
  assert_close(sn_fiber_evaluate(&one, full, 0.4).tension, 0, 1e-15);
  assert_close(sn_fiber_evaluate(&one, full, 0.1).tension, 0, 1e-15);
  assert_close(sn_fiber_evaluate(&one, none, 1.4).tension, 0.05 * (exp(2.64) - 1), 1e-4);
  assert_close(sn_fiber_evaluate(&one, none, 1.4).slope, 0.33 * exp(2.64), 1e-3);
  assert_close(sn_fiber_evaluate(&one, none, 1).tension, 0, 0);
  assert_close(sn_fiber_evaluate(&one, tendon, 1.12).tension, 0.11, 1e-12);
  assert_close(sn_fiber_evaluate(&one, tendon, 0.9).tension, 0, 0);
}

static void activation_costs_what_the_energy_grows_by(void** unused) {
  (void)unused;
  for (size_t i = 0; i < STRETCH_COUNT; ++i) {
    double l = STRETCHES[i];
    double from = sn_fiber_evaluate(&BICEPS, (sn_fiber_state){0.25, 0}, l).energy;
    double to = sn_fiber_evaluate(&BICEPS, (sn_fiber_state){0.75, 0}, l).energy;
    assert_close(to - from, 0.5 * sn_fiber_active_energy(&BICEPS, l), 1e-9);
  }
}

static double product(const double B[6], sn_vec3 a, sn_vec3 b) {
  return B[0] * a.x * b.x + B[1] * a.y * b.y + B[2] * a.z * b.z + B[3] * (a.x * b.y + a.y * b.x) +
         B[4] * (a.x * b.z + a.z * b.x) + B[5] * (a.y * b.z + a.z * b.y);
}

// Pull along F w.
static sn_vec3 pull(sn_fiber_state state, sn_vec3 Fw) {
  double l = sn_length(Fw);
  return sn_scale(sn_fiber_evaluate(&BICEPS, state, l).tension / l, Fw);
}

static void the_tangent_is_the_change_of_the_pull(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(3);
  for (size_t i = 0; i < STATE_COUNT * STRETCH_COUNT; ++i) {
    sn_fiber_state state = STATES[i % STATE_COUNT];
    double l = STRETCHES[i / STATE_COUNT], d = 1e-6, B[6], D[6];
    sn_vec3 n = shape_random_point(&random);
    sn_vec3 Fw = sn_scale(l / sn_length(n), n), v = shape_random_point(&random);
    sn_vec3 w = shape_random_point(&random);
    sn_fiber_point point = sn_fiber_evaluate(&BICEPS, state, l);
    sn_fiber_tangent(&point, Fw, 2, SN_HESSIAN_EXACT, B);
    sn_fiber_tangent(&point, Fw, 2, SN_HESSIAN_DEFINITE, D);
    sn_vec3 change = sn_sub(pull(state, sn_madd(Fw, d, v)), pull(state, sn_madd(Fw, -d, v)));
    assert_close(product(B, w, v), sn_dot(w, change) / d, 200);
    assert_true(product(D, v, v) >= -1e-6 * fabs(D[0] + D[1] + D[2]));
    assert_true(product(D, v, v) >= product(B, v, v) - 1e-6);
  }
}

static void a_fibre_without_length_is_harmless(void** unused) {
  (void)unused;
  double B[6];
  sn_fiber_point point = sn_fiber_evaluate(&BICEPS, (sn_fiber_state){1, 0.5}, 0);
  sn_fiber_tangent(&point, sn_v3(0, 0, 0), 1, SN_HESSIAN_DEFINITE, B);
  assert_true(point.tension == 0 && point.slope == 0);
  for (int i = 0; i < 6; ++i) assert_true(B[i] == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tension_is_the_slope_of_the_energy),
      cmocka_unit_test(tension_and_its_slope_have_no_jumps_in_tension),
      cmocka_unit_test(the_curves_are_those_of_the_books),
      cmocka_unit_test(activation_costs_what_the_energy_grows_by),
      cmocka_unit_test(the_tangent_is_the_change_of_the_pull),
      cmocka_unit_test(a_fibre_without_length_is_harmless),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
