// The wide laws against the plain ones, in both precisions, and the wide logarithm and cube root.
#include "material/points.h"

#include "base/precision.h"
#include "math/simd.h"

#define SN_REAL_IS_DOUBLE 1
#include "math/svd3_wide_impl.h"
// The names of the one above are those of the one below.
#include "material/law_wide_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "math/svd3_wide_impl.h"
// The names of the one above are those of the one below.
#include "material/law_wide_impl.h"
#undef SN_REAL_IS_DOUBLE

// svd3_wide_impl.h is here for its names; its functions are tested elsewhere.
static void (*const unused_here[])(void) = {(void (*)(void))decompose_d,
                                            (void (*)(void))decompose_f};

#define VALUES 16  // numbers of a point

// Stretches in order, of all kinds; the last lane's may be anything.
static void random_stretches(sn_random* random, int kind, double s[3]) {
  double F[9], U[9], V[9];
  random_gradient(random, kind, F);
  sn_svd3_d(F, U, s, V);
}

// Of what size a point's numbers are; errors are relative to it.
static double size_of(const sn_law_point* p, const double s[3], int value) {
  double stiff = 0, stress = 0;
  for (int i = 0; i < 6; ++i) stiff = fmax(stiff, fabs(p->stretch[i]));
  for (int i = 0; i < 3; ++i) {
    stiff = fmax(stiff, fmax(fabs(p->shear[i]), fabs(p->twist[i])));
    stress = fmax(stress, fabs(p->stress[i]));
  }
  stiff += 10;  // mu and lambda are about one
  stress += stiff * fmax(s[0], 1);
  return value == 0 ? stress * fmax(s[0], 1) : value <= 3 ? stress : stiff;
}

typedef struct lanes {
  double s[8][3], mu[8], lambda[8];
} lanes;

static void fill(sn_random* random, int n, lanes* in) {
  for (int lane = 0; lane < 8; ++lane) {
    random_stretches(random, (n + lane) % KINDS, in->s[lane]);
    in->mu[lane] = (float)(0.5 + sn_random_unit(random));
    in->lambda[lane] = (float)(3 * sn_random_unit(random));
    for (int i = 0; i < 3; ++i) in->s[lane][i] = (float)in->s[lane][i];
  }
}

// The plain law of one lane, and its definite version.
static void plain_point(sn_material m, const lanes* in, int lane, sn_law_parts parts,
                        sn_law_point out[2]) {
  m.mu = in->mu[lane];
  m.lambda = in->lambda[lane];
  sn_law_evaluate(&m, in->s[lane], parts, &out[0]);
  out[1] = out[0];
  sn_law_make_definite(&out[1]);
}

static double error_of(const sn_law_point* plain, const double s[3], const double* found) {
  double worst = 0;
  for (int v = 0; v < VALUES; ++v) {
    double off = fabs(((const double*)plain)[v] - found[v]) / size_of(plain, s, v);
    worst = off > worst || isnan(off) ? off : worst;
  }
  return worst;
}

static void wide_double_is_plain(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    double worst[2] = {0, 0};
    for (int n = 0; n < 2000; ++n) {
      lanes in;
      fill(&random, n, &in);
      sn_law_parts parts = n % 4 ? SN_LAW_WHOLE : SN_LAW_SHAPE;
      sn_wide_d s[3], mu, lambda;
      for (int lane = 0; lane < 4; ++lane) {
        for (int i = 0; i < 3; ++i) s[i][lane] = in.s[lane][i];
        mu[lane] = in.mu[lane], lambda[lane] = in.lambda[lane];
      }
      sn_law_point_d found[2];
      sn_law_evaluate_d(&m, mu, lambda, s, parts, &found[0]);
      found[1] = found[0];
      sn_law_make_definite_d(&found[1]);
      for (int lane = 0; lane < 4; ++lane) {
        sn_law_point plain[2];
        plain_point(m, &in, lane, parts, plain);
        for (int kind = 0; kind < 2; ++kind) {
          double values[VALUES];
          for (int v = 0; v < VALUES; ++v) values[v] = ((sn_wide_d*)&found[kind])[v][lane];
          worst[kind] = fmax(worst[kind], error_of(&plain[kind], in.s[lane], values));
        }
      }
    }
    print_message("%-20s %.1e, definite %.1e\n", sn_law_name(m.law), worst[0], worst[1]);
    assert_true(worst[0] < 1e-14 && worst[1] < 1e-14);
  }
}

static void wide_float_is_plain_to_its_digits(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(6);
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    double worst[2] = {0, 0};
    for (int n = 0; n < 2000; ++n) {
      lanes in;
      fill(&random, n, &in);
      sn_law_parts parts = n % 4 ? SN_LAW_WHOLE : SN_LAW_SHAPE;
      sn_wide_f s[3], mu, lambda;
      for (int lane = 0; lane < 8; ++lane) {
        for (int i = 0; i < 3; ++i) s[i][lane] = (float)in.s[lane][i];
        mu[lane] = (float)in.mu[lane], lambda[lane] = (float)in.lambda[lane];
      }
      sn_law_point_f found[2];
      sn_law_evaluate_f(&m, mu, lambda, s, parts, &found[0]);
      found[1] = found[0];
      sn_law_make_definite_f(&found[1]);
      for (int lane = 0; lane < 8; ++lane) {
        sn_law_point plain[2];
        plain_point(m, &in, lane, parts, plain);
        for (int kind = 0; kind < 2; ++kind) {
          double values[VALUES];
          for (int v = 0; v < VALUES; ++v) {
            values[v] = (double)((sn_wide_f*)&found[kind])[v][lane];
          }
          worst[kind] = fmax(worst[kind], error_of(&plain[kind], in.s[lane], values));
        }
      }
    }
    print_message("%-20s %.1e, definite %.1e\n", sn_law_name(m.law), worst[0], worst[1]);
    // Twists of flat flesh are differences of numbers a thousand times their size.
    assert_true(worst[0] < 4e-5 && worst[1] < 4e-5);
  }
}

static void wide_measures_are_plain(void** unused) {
  (void)unused;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    for (double J = -2; J < 4; J += 0.037) {
      double M[3];
      sn_wide_d wide[3];
      sn_wide_f narrow[3];
      sn_law_measure(&m, J, M);
      sn_law_measure_d(&m, sn_wide_set_d(J), wide);
      sn_law_measure_f(&m, sn_wide_set_f((float)J), narrow);
      for (int i = 0; i < 3; ++i) {
        assert_true(fabs(wide[i][3] - M[i]) < 1e-14 * (10 + fabs(M[i])));
        assert_true(fabs((double)narrow[i][7] - M[i]) < 1e-6 * (20 + 2 * fabs(M[i])));
      }
    }
    double bulk = sn_law_bulk(&m);
    assert_true(sn_law_bulk_d(&m, sn_wide_set_d(m.mu), sn_wide_set_d(m.lambda))[1] == bulk);
  }
}

// Distance to the exact value in units of the last place.
static double ulps_d(double found, long double exact) {
  double size = fabs((double)exact), unit = nextafter(size, INFINITY) - size;
  return (double)(fabsl((long double)found - exact) / (long double)unit);
}
static double ulps_f(float found, long double exact) {
  float size = fabsf((float)exact), unit = nextafterf(size, INFINITY) - size;
  return (double)(fabsl((long double)found - exact) / (long double)unit);
}

static void wide_logarithm_and_cube_root_are_accurate(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(9);
  double worst[4] = {0};
  for (int i = 0; i < 300000; ++i) {
    double t = sn_random_symmetric(&random);
    double x = i % 3 == 0 ? exp2(1021 * t) : i % 3 == 1 ? exp2(2 * t) : 1 + 1e-3 * t;
    float y = (float)(i % 3 == 0 ? exp2(125 * t) : x);
    long double d = (long double)x, f = (long double)y;
    worst[0] = fmax(worst[0], ulps_d(sn_wide_log_d(sn_wide_set_d(x))[i % 4], logl(d)));
    worst[1] =
        fmax(worst[1], ulps_d(sn_wide_inverse_cbrt_d(sn_wide_set_d(x))[i % 4], 1 / cbrtl(d)));
    worst[2] = fmax(worst[2], ulps_f(sn_wide_log_f(sn_wide_set_f(y))[i % 8], logl(f)));
    worst[3] =
        fmax(worst[3], ulps_f(sn_wide_inverse_cbrt_f(sn_wide_set_f(y))[i % 8], 1 / cbrtl(f)));
  }
  print_message("double %.2f and %.2f ulp, float %.2f and %.2f ulp\n", worst[0], worst[1], worst[2],
                worst[3]);
  for (int i = 0; i < 4; ++i) assert_true(worst[i] < 1.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wide_double_is_plain),
      cmocka_unit_test(wide_float_is_plain_to_its_digits),
      cmocka_unit_test(wide_measures_are_plain),
      cmocka_unit_test(wide_logarithm_and_cube_root_are_accurate),
  };
  (void)unused_here;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
