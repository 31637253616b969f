// The laws of fibres, by themselves and around a law of flesh: anisotropic tissue.
#include "material/fiber.h"

#include "material/points.h"
#include "shapes.h"

static const sn_fiber BICEPS = {.max_stress = 3e5, .optimal = 1.1, .passive = 0.8, .tendon = 2e6};

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
  sn_fiber one = {.max_stress = 1, .optimal = 1, .passive = 1, .tendon = 1};
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

// A law with its usual numbers, and once with others, in units of mu.
static sn_fiber law_number(int i) {
  sn_fiber fiber = {
      .max_stress = 3,
      .optimal = i < SN_FIBER_LAW_COUNT ? 1 : 1.1,
      .passive = 1,
      .law = (sn_fiber_law)(i % SN_FIBER_LAW_COUNT),
      .numbers = {i < SN_FIBER_LAW_COUNT ? 0.8 : 5, i < SN_FIBER_LAW_COUNT ? 0.8 : 40}};
  return fiber;
}

// Flesh with fibres along w at rest: the law of flesh and T n w^T.
static double tissue_stress(const sn_material* m, const sn_fiber* fiber, sn_vec3 w,
                            const double F[9], double P[9]) {
  double W = sn_material_stress(m, F, P), along[3] = {w.x, w.y, w.z};
  sn_vec3 Fw =
      sn_v3(sn_dot(sn_load3(F), w), sn_dot(sn_load3(F + 3), w), sn_dot(sn_load3(F + 6), w));
  double l = sn_length(Fw), n[3] = {Fw.x, Fw.y, Fw.z};
  sn_fiber_point point = sn_fiber_evaluate(fiber, (sn_fiber_state){0.3, 0}, l);
  for (int i = 0; i < 9 && l > 0; ++i) P[i] += point.tension / l * n[i / 3] * along[i % 3];
  return W + point.energy;
}

static void tissue_differential(const sn_material* m, const sn_fiber* fiber, sn_vec3 w,
                                const double F[9], const double dF[9], sn_hessian kind,
                                double dP[9]) {
  double B[6], along[3] = {w.x, w.y, w.z};
  sn_material_differential(m, F, dF, kind, dP);
  sn_vec3 Fw =
      sn_v3(sn_dot(sn_load3(F), w), sn_dot(sn_load3(F + 3), w), sn_dot(sn_load3(F + 6), w));
  sn_vec3 v =
      sn_v3(sn_dot(sn_load3(dF), w), sn_dot(sn_load3(dF + 3), w), sn_dot(sn_load3(dF + 6), w));
  sn_fiber_point point = sn_fiber_evaluate(fiber, (sn_fiber_state){0.3, 0}, sn_length(Fw));
  sn_fiber_tangent(&point, Fw, 1, kind, B);
  sn_vec3 pull = {B[0] * v.x + B[3] * v.y + B[4] * v.z, B[3] * v.x + B[1] * v.y + B[5] * v.z,
                  B[4] * v.x + B[5] * v.y + B[2] * v.z};
  double pulls[3] = {pull.x, pull.y, pull.z};
  for (int i = 0; i < 9; ++i) dP[i] += pulls[i / 3] * along[i % 3];
}

// Stress and differential by central differences, extrapolated from two steps.
static void tissue_differences(const sn_material* m, const sn_fiber* fiber, sn_vec3 w,
                               const double F[9], const double dF[9], double h, double* dW,
                               double dP[9]) {
  *dW = 0;
  memset(dP, 0, 9 * sizeof *dP);
  for (int level = 0; level < 4; ++level) {
    double step = (level % 2 ? -h : h) / (1 + level / 2);
    double weight = (level / 2 ? 4.0 : -1.0) / 3 / (2 * step), at[9], P[9];
    for (int i = 0; i < 9; ++i) at[i] = F[i] + step * dF[i];
    *dW += weight * tissue_stress(m, fiber, w, at, P);
    for (int i = 0; i < 9; ++i) dP[i] += weight * P[i];
  }
}

// Within reach of a joint of two pieces differences say nothing of either.
static bool is_near_a_joint(const sn_fiber* fiber, sn_vec3 w, const double F[9], double reach) {
  double last = sqrt(1 + sqrt(8 / fiber->numbers[1])), best = fiber->optimal;
  const double joints[] = {1,          last,      best, 1.4 * best, best * 7 / 12, best * 17 / 12,
                           0.4 * best, 1.6 * best};
  sn_vec3 Fw =
      sn_v3(sn_dot(sn_load3(F), w), sn_dot(sn_load3(F + 3), w), sn_dot(sn_load3(F + 6), w));
  bool near = sn_length(Fw) < reach;
  for (size_t k = 0; k < sizeof joints / sizeof *joints; ++k) {
    near = near || fabs(sn_length(Fw) - joints[k]) < reach;
  }
  return near;
}

static void anisotropic_stress_and_differential_are_derivatives(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(23);
  for (int k = 0; k < 2 * SN_FIBER_LAW_COUNT; ++k) {
    sn_material m = sn_material_of(SN_LAW_STABLE_NEO_HOOKEAN, 1, 4);
    sn_fiber fiber = law_number(k);
    double worst[2] = {0, 0}, h = 2e-4;
    int checked = 0;
    for (int n = 0; n < 10000; ++n) {
      double F[9], dF[9], P[9], dP[9], expected[9], dW;
      random_gradient(&random, n % KINDS, F);
      for (int i = 0; i < 9; ++i) dF[i] = sn_random_symmetric(&random);
      sn_vec3 w = shape_random_point(&random);
      w = sn_scale(1 / sn_length(w), w);
      if (is_near_a_joint(&fiber, w, F, 2e-3)) continue;
      ++checked;
      tissue_stress(&m, &fiber, w, F, P);
      tissue_differential(&m, &fiber, w, F, dF, SN_HESSIAN_EXACT, dP);
      tissue_differences(&m, &fiber, w, F, dF, h, &dW, expected);
      for (int i = 0; i < 9; ++i) expected[i] -= dP[i];
      worst[0] = fmax(worst[0], fabs(dot9(P, dF) - dW) / (norm9(dF) * (norm9(P) + 1)));
      worst[1] = fmax(worst[1], norm9(expected) / (norm9(dP) + norm9(dF)));
    }
    print_message("%-10s stress %.1e, differential %.1e, of %d\n", sn_fiber_law_name(fiber.law),
                  worst[0], worst[1], checked);
    // Of the ten kinds three are at rest, near it or of no length: there are the joints.
    assert_true(worst[0] < 1e-6 && worst[1] < 1e-6 && checked > 6500);
  }
}

// Every direction dF, not only random ones: the least eigenvalue of B is what fibres can take away.
static void anisotropic_differentials_can_be_definite(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(29);
  for (int k = 0; k < 2 * SN_FIBER_LAW_COUNT; ++k) {
    sn_material m = sn_material_of(SN_LAW_STABLE_NEO_HOOKEAN, 1, 4);
    sn_fiber fiber = law_number(k);
    int indefinite = 0;
    for (int n = 0; n < 10000; ++n) {
      double F[9], dF[9], dP[2][9];
      random_gradient(&random, n % KINDS, F);
      sn_vec3 w = shape_random_point(&random), v = shape_random_point(&random);
      w = sn_scale(1 / sn_length(w), w);
      double ends[3] = {v.x, v.y, v.z}, starts[3] = {w.x, w.y, w.z};
      // Half of the changes act on the fibre alone.
      for (int i = 0; i < 9; ++i) {
        dF[i] = n % 2 ? ends[i / 3] * starts[i % 3] : sn_random_symmetric(&random);
      }
      for (int kind = 0; kind < 2; ++kind) {
        tissue_differential(&m, &fiber, w, F, dF, (sn_hessian)kind, dP[kind]);
      }
      double exact = dot9(dF, dP[SN_HESSIAN_EXACT]), definite = dot9(dF, dP[SN_HESSIAN_DEFINITE]);
      double size = 1e-9 * (norm9(dF) * norm9(dP[SN_HESSIAN_DEFINITE]) + 1);
      assert_true(isfinite(definite) && definite >= -size && definite >= exact - size);
      indefinite += exact < 0;
    }
    assert_true(indefinite > 100);
  }
}

static void collagen_is_that_of_the_book(void** unused) {
  (void)unused;
  sn_fiber fiber = {
      .optimal = 1, .passive = 1, .law = SN_FIBER_HOLZAPFEL, .numbers = {2.3632e3, 0.8393}};
  for (double l = 1; l < 1.8; l += 0.1) {
    double E = l * l - 1, e = exp(0.8393 * E * E);
    sn_fiber_point p = sn_fiber_evaluate(&fiber, (sn_fiber_state){0, 0}, l);
    assert_close(p.energy, 2.3632e3 / (2 * 0.8393) * (e - 1), 1e-9 * e);
    assert_close(p.tension, 2 * 2.3632e3 * E * e * l, 1e-9 * e);
  }
  sn_fiber_point shorter = sn_fiber_evaluate(&fiber, (sn_fiber_state){0, 0}, 0.9);
  assert_true(shorter.tension == 0 && shorter.energy == 0 && shorter.slope == 0);
  sn_fiber_point far = sn_fiber_evaluate(&fiber, (sn_fiber_state){0, 0}, 1e6);
  assert_true(isfinite(far.energy) && far.tension > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tension_is_the_slope_of_the_energy),
      cmocka_unit_test(tension_and_its_slope_have_no_jumps_in_tension),
      cmocka_unit_test(the_curves_are_those_of_the_books),
      cmocka_unit_test(activation_costs_what_the_energy_grows_by),
      cmocka_unit_test(the_tangent_is_the_change_of_the_pull),
      cmocka_unit_test(a_fibre_without_length_is_harmless),
      cmocka_unit_test(anisotropic_stress_and_differential_are_derivatives),
      cmocka_unit_test(anisotropic_differentials_can_be_definite),
      cmocka_unit_test(collagen_is_that_of_the_book),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
