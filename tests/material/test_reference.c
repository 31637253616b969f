// The laws against numbers from elsewhere: 40-digit evaluations at points and along uniaxial tests, and
// closed forms.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "material/points.h"

#define POINTS SN_TEST_ASSETS "/reference_data/material_points.json"
#define CURVES SN_TEST_ASSETS "/reference_data/uniaxial_curves.csv"

static const struct {
  const char* name;
  sn_law law;
} NAMES[] = {{"NH", SN_LAW_NEO_HOOKEAN},
             {"COR", SN_LAW_COROTATED},
             {"FCR", SN_LAW_FIXED_COROTATED},
             {"SVK", SN_LAW_STVK},
             {"MR", SN_LAW_MOONEY_RIVLIN}};
#define NAME_COUNT (sizeof NAMES / sizeof *NAMES)

// A law without its limits, so that it is the one of the books wherever that is defined.
static sn_material unlimited(sn_law law, double mu, double lambda) {
  sn_material m = sn_material_of(law, mu, lambda);
  if (law == SN_LAW_STVK) m.numbers[0] = -100;
  if (law == SN_LAW_NEO_HOOKEAN || law == SN_LAW_MOONEY_RIVLIN) m.numbers[0] = 1e-6;
  return m;
}

static void read_matrix(const json_t* rows, double A[9]) {
  for (size_t i = 0; i < 9; ++i) {
    A[i] = json_number_value(json_array_get(json_array_get(rows, i / 3), i % 3));
  }
}

static void assert_near(const double found[9], const double expected[9], double size,
                        const char* where, const char* law) {
  for (int i = 0; i < 9; ++i) {
    if (!(fabs(found[i] - expected[i]) <= 2e-12 * size)) {
      fail_msg("%s, %s: %.17g, expected %.17g", where, law, found[i], expected[i]);
    }
  }
}

static void points_agree_with_forty_digits(void** unused) {
  (void)unused;
  if (access(POINTS, R_OK) != 0) {
    print_message("%s is not there\n", POINTS);
    skip();
  }
  json_t* all = json_load_file(POINTS, 0, NULL);
  assert_non_null(all);
  const json_t* cases = json_object_get(all, "cases");
  int compared = 0;
  for (size_t c = 0; c < json_array_size(cases); ++c) {
    const json_t* one = json_array_get(cases, c);
    double F[9], dF[9], P[9], dP[9], expected[9];
    read_matrix(json_object_get(one, "F"), F);
    read_matrix(json_object_get(one, "dF"), dF);
    for (size_t k = 0; k < NAME_COUNT; ++k) {
      const json_t* result = json_object_get(json_object_get(one, "results"), NAMES[k].name);
      if (!result) continue;
      sn_material m = unlimited(NAMES[k].law, json_number_value(json_object_get(all, "mu")),
                                json_number_value(json_object_get(all, "lambda")));
      if (m.law == SN_LAW_MOONEY_RIVLIN) {  // c10 = 0.125, c01 = 0.375, kappa = 3
        m = unlimited(SN_LAW_MOONEY_RIVLIN, 1.0, 3.0 - 2.0 / 3);
        m.numbers[1] = 0.75;
      }
      const char* name = json_string_value(json_object_get(one, "name"));
      double W = sn_material_stress(&m, F, P);
      sn_material_differential(&m, F, dF, SN_HESSIAN_EXACT, dP);
      double W_expected = json_number_value(json_object_get(result, "W"));
      assert_true(fabs(W - W_expected) <= 1e-12 * (1 + fabs(W_expected)));
      read_matrix(json_object_get(result, "P"), expected);
      assert_near(P, expected, 1 + norm9(expected), name, NAMES[k].name);
      read_matrix(json_object_get(result, "dP"), expected);
      assert_near(dP, expected, 1 + norm9(expected), name, NAMES[k].name);
      ++compared;
    }
  }
  assert_int_equal(compared, 38);
  json_decref(all);
}

// Stress along l and lateral stretch with free sides, by Newton's method along the way from rest.
static void pull(const sn_material* m, double l, double* P, double* t) {
  *t = 1;
  for (int step = 1; step <= 100; ++step) {
    double at = 1 + (l - 1) * step / 100;
    for (int newton = 0; newton < 8; ++newton) {
      bool tall = at >= *t;
      double s[3] = {tall ? at : *t, *t, tall ? *t : at};
      sn_law_point p;
      sn_law_evaluate(m, s, SN_LAW_WHOLE, &p);
      // Both sides move: W_11 + W_12, or with the sides first W_00 + W_01.
      *t -= p.stress[1] / (p.stretch[1] + p.stretch[tall ? 4 : 3]);
      *P = p.stress[tall ? 0 : 2];
    }
  }
}

static sn_material of_engineering(sn_law law, double nu) {
  double mu = 1 / (2 * (1 + nu)), lambda = nu / ((1 + nu) * (1 - 2 * nu));
  sn_material m = unlimited(law, mu, lambda);
  if (law == SN_LAW_MOONEY_RIVLIN) m.numbers[1] = 0.75;
  return m;
}

// c10 = mu/8 and c01 = 3 mu/8, that is mu/2 in all, together with the kappa of nu.
static void uniaxial_table(void** unused) {
  (void)unused;
  static const struct {
    double nu;
    sn_law law;
    double l, P, t;
  } rows[] = {
      {0.3, SN_LAW_NEO_HOOKEAN, 0.5, -0.9353520569, 1.2107673905},
      {0.3, SN_LAW_NEO_HOOKEAN, 0.7, -0.4052304243, 1.1079347328},
      {0.3, SN_LAW_NEO_HOOKEAN, 1.5, 0.3782801764, 0.8801745918},
      {0.3, SN_LAW_NEO_HOOKEAN, 2.0, 0.6467446602, 0.7980775445},
      {0.3, SN_LAW_MOONEY_RIVLIN, 0.5, -1.7768806874, 0},
      {0.3, SN_LAW_MOONEY_RIVLIN, 0.7, -0.5642445647, 0},
      {0.3, SN_LAW_MOONEY_RIVLIN, 1.5, 0.2634460123, 0},
      {0.3, SN_LAW_MOONEY_RIVLIN, 2.0, 0.3520842549, 0},
      {0.49, SN_LAW_NEO_HOOKEAN, 0.5, -1.1484238800, 1.4004112186},
      {0.49, SN_LAW_NEO_HOOKEAN, 0.7, -0.4441421830, 1.1901599026},
      {0.49, SN_LAW_NEO_HOOKEAN, 1.5, 0.3532089968, 0.8192409806},
      {0.49, SN_LAW_NEO_HOOKEAN, 2.0, 0.5863966715, 0.7106868773},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    sn_material m = of_engineering(rows[i].law, rows[i].nu);
    double P, t;
    pull(&m, rows[i].l, &P, &t);
    if (fabs(P - rows[i].P) > 1e-9) fail_msg("row %zu: %.12g", i, P);
    if (rows[i].t > 0) assert_true(fabs(t - rows[i].t) < 1e-9);
  }
}

static void uniaxial_curves(void** unused) {
  (void)unused;
  FILE* file = fopen(CURVES, "r");
  if (!file) {
    print_message("%s is not there\n", CURVES);
    skip();
  }
  char line[512];
  int compared = 0;
  while (fgets(line, sizeof line, file)) {
    double nu, l, P_expected, t_expected, P, t;
    char law[16];
    if (sscanf(line, "%lf,%15[A-Z],%lf,%lf,%lf", &nu, law, &l, &P_expected, &t_expected) != 5) {
      continue;
    }
    for (size_t k = 0; k < NAME_COUNT; ++k) {
      if (strcmp(law, NAMES[k].name) != 0) continue;
      sn_material m = of_engineering(NAMES[k].law, nu);
      pull(&m, l, &P, &t);
      if (fabs(P - P_expected) > 1e-10 || fabs(t - t_expected) > 1e-10) {
        fail_msg("%s is off: %.12g, %.12g", line, P, t);
      }
      ++compared;
    }
  }
  fclose(file);
  print_message("%d points\n", compared);
  assert_true(compared > 50);
}

// F = I + g e1 e2^T
static void simple_shear(void** unused) {
  (void)unused;
  const double mu = 0.7, lambda = 1.9;
  for (double g = -2; g <= 2; g += 0.125) {
    double F[9] = {1, g, 0, 0, 1, 0, 0, 0, 1}, P[9];
    sn_material m = unlimited(SN_LAW_NEO_HOOKEAN, mu, lambda);
    sn_material_stress(&m, F, P);
    assert_near(P, (double[9]){0, mu * g, 0, mu * g, 0, 0, 0, 0, 0}, 1, "shear", "NH");

    // P = F S, S = 2 mu E + lambda tr E I, E_12 = g/2, E_22 = g^2/2
    m = unlimited(SN_LAW_STVK, mu, lambda);
    sn_material_stress(&m, F, P);
    double pressure = lambda * g * g / 2, S22 = mu * g * g + pressure;
    double expected[9] = {
        pressure + mu * g * g, mu * g + g * S22, 0, mu * g, S22, 0, 0, 0, pressure};
    assert_near(P, expected, 20, "shear", "SVK");
    assert_true(fabs(P[1] - (mu * g + (lambda / 2 + mu) * g * g * g)) < 1e-12);

    // R turns by -atan(g/2); tr S = 1 + sqrt(4 + g^2)
    m = unlimited(SN_LAW_COROTATED, mu, lambda);
    sn_material_stress(&m, F, P);
    double root = sqrt(4 + g * g), c = 2 / root, s = g / root, trace = lambda * (root - 2);
    double R[9] = {c, s, 0, -s, c, 0, 0, 0, 1}, corotated[9];
    for (int i = 0; i < 9; ++i) corotated[i] = 2 * mu * (F[i] - R[i]) + trace * R[i];
    assert_near(P, corotated, 1, "shear", "COR");
  }
}

// Stretches l, l, l^-2 and l, l^-1/2, l^-1/2 with the pressure that frees the other sides.
static void incompressible_tension(void** unused) {
  (void)unused;
  const double mu = 0.8, share = 0.3, c10 = 0.4 * (1 - share), c01 = 0.4 * share;
  for (double l = 1.05; l < 2.5; l += 0.05) {
    double equal[3] = {l, l, 1 / (l * l)}, alone[3] = {l, 1 / sqrt(l), 1 / sqrt(l)};
    sn_law_point p;
    for (int law = SN_LAW_STABLE_NEO_HOOKEAN; law <= SN_LAW_NEO_HOOKEAN; ++law) {
      sn_material m = unlimited((sn_law)law, mu, 3);
      sn_law_evaluate(&m, equal, SN_LAW_WHOLE, &p);
      double P = p.stress[0] - p.stress[2] * equal[2] / equal[0];
      assert_true(fabs(P - mu * (l - pow(l, -5))) < 1e-12);
      sn_law_evaluate(&m, alone, SN_LAW_WHOLE, &p);
      P = p.stress[0] - p.stress[2] * alone[2] / alone[0];
      assert_true(fabs(P - mu * (l - pow(l, -2))) < 1e-12);
    }
    sn_material m = unlimited(SN_LAW_MOONEY_RIVLIN, mu, 3);
    m.numbers[1] = share;
    sn_law_evaluate(&m, equal, SN_LAW_WHOLE, &p);
    double P = p.stress[0] - p.stress[2] * equal[2] / equal[0];
    assert_true(fabs(P - 2 * (l - pow(l, -5)) * (c10 + c01 * l * l)) < 1e-12);
    sn_law_evaluate(&m, alone, SN_LAW_WHOLE, &p);
    P = p.stress[0] - p.stress[2] * alone[2] / alone[0];
    assert_true(fabs(P - 2 * (l - pow(l, -2)) * (c10 + c01 / l)) < 1e-12);
  }
}

// The spline's slope at rest, at its edges and beyond.
static void biphasic_slopes(void** unused) {
  (void)unused;
  sn_material m = sn_material_of(SN_LAW_BIPHASIC, 2, 0);
  const double at[] = {1, 1.15, 1.3, 2, 0.85, 0.7, 0.1, -0.5};
  const double slope[] = {4, 4 * (1 + 9 * 0.25), 40, 40, 4 * (1 + 9 * 0.25), 40, 40, 40};
  for (size_t i = 0; i < sizeof at / sizeof *at; ++i) {
    sn_law_point p;
    sn_law_evaluate(&m, (double[3]){2, at[i], at[i]}, SN_LAW_WHOLE, &p);
    assert_true(fabs(p.stretch[1] - slope[i]) < 1e-12);
    assert_true(fabs(p.shear[0] - slope[i]) < 1e-12);
  }
  sn_law_point p;
  sn_law_evaluate(&m, (double[3]){1.3, 1, 1}, SN_LAW_WHOLE, &p);
  assert_true(fabs(p.stress[0] - 4 * (0.3 + 9 * 0.3 / 3)) < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_agree_with_forty_digits),
      cmocka_unit_test(uniaxial_table),
      cmocka_unit_test(uniaxial_curves),
      cmocka_unit_test(simple_shear),
      cmocka_unit_test(incompressible_tension),
      cmocka_unit_test(biphasic_slopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
