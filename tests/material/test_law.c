// The laws in double precision: derivatives, closed forms of quotients, definite projections, and that
// nothing is infinite anywhere.
#include "material/fiber.h"
#include "material/points.h"

// Which pieces of the law's functions F is on; derivatives jump between them.
static int region(const sn_material* m, const double F[9]) {
  double U[9], s[3], V[9];
  sn_svd3_d(F, U, s, V);
  if (sn_law_measure_kind(m->law) == SN_MEASURE_LOG_J) return s[0] * s[1] * s[2] > m->numbers[0];
  int pieces = 0;
  for (int i = 0; i < 3; ++i) {
    if (m->law == SN_LAW_STVK) pieces = 2 * pieces + (s[i] > m->numbers[0]);
    if (m->law == SN_LAW_BIPHASIC) {
      pieces = 4 * pieces + (s[i] > m->numbers[0]) + (s[i] > 1) + (s[i] > m->numbers[1]);
    }
  }
  return pieces;
}

static void along(const double F[9], double t, const double dF[9], double out[9]) {
  for (int i = 0; i < 9; ++i) out[i] = F[i] + t * dF[i];
}

// dW along dF and dP along dF by central differences, extrapolated from two steps.
static void differences(const sn_material* m, const double F[9], const double dF[9], double h,
                        double* dW, double dP[9]) {
  *dW = 0;
  memset(dP, 0, 9 * sizeof *dP);
  for (int level = 0; level < 2; ++level) {
    double step = h / (1 + level), weight = (level ? 4.0 : -1.0) / 3 / (2 * step);
    double ahead[9], behind[9], Pa[9], Pb[9];
    along(F, step, dF, ahead);
    along(F, -step, dF, behind);
    double Wa = sn_material_stress(m, ahead, Pa), Wb = sn_material_stress(m, behind, Pb);
    *dW += weight * (Wa - Wb);
    for (int i = 0; i < 9; ++i) dP[i] += weight * (Pa[i] - Pb[i]);
  }
}

// Whether the law is smooth within h of F, and its differential not held at the rotation floor.
static bool is_smooth_near(const sn_material* m, const double F[9], const double dF[9], double h) {
  double U[9], s[3], V[9], ahead[9], behind[9];
  along(F, h, dF, ahead);
  along(F, -h, dF, behind);
  if (region(m, ahead) != region(m, behind) || region(m, F) != region(m, ahead)) return false;
  if (is_smooth_everywhere(m->law)) return true;
  sn_svd3_d(F, U, s, V);
  return s[1] + s[2] > 0.05;
}

static void stress_and_differential_are_derivatives(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(11);
  const double h = 2e-4;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    int checked = 0;
    double worst_stress = 0, worst_differential = 0;
    for (int n = 0; n < 10000; ++n) {
      double F[9], dF[9], P[9], dP[9], dW, expected[9], off[9];
      random_gradient(&random, n % KINDS, F);
      for (int i = 0; i < 9; ++i) dF[i] = sn_random_symmetric(&random);
      if (!is_smooth_near(&m, F, dF, h)) continue;
      ++checked;
      sn_material_stress(&m, F, P);
      sn_material_differential(&m, F, dF, SN_HESSIAN_EXACT, dP);
      differences(&m, F, dF, h, &dW, expected);
      along(dP, -1, expected, off);
      double size = norm9(dF);
      worst_stress = fmax(worst_stress, fabs(dot9(P, dF) - dW) / (size * (norm9(P) + m.mu)));
      worst_differential = fmax(worst_differential, norm9(off) / (norm9(dP) + size * m.mu));
    }
    if (worst_stress > 1e-6 || worst_differential > 1e-6) {
      fail_msg("%s: %g, %g", sn_law_name(m.law), worst_stress, worst_differential);
    }
    print_message("%-20s stress %.1e, differential %.1e, of %d\n", sn_law_name(m.law), worst_stress,
                  worst_differential, checked);
    assert_true(checked >= (is_smooth_everywhere(m.law) ? 9900 : 6000));
  }
}

// Across every limit, and through flat and inverted states, along a line of stretches.
static void stress_is_continuous_in_the_stretches(void** unused) {
  (void)unused;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    for (int line = 0; line < 3; ++line) {
      sn_law_point before = {0};
      for (int n = 0; n <= 40000; ++n) {
        double last = 2 - 1e-4 * n;
        double s[3] = {line == 2 ? fmax(fabs(last), 1e-3) : 1.5, 1.0, last};
        if (line == 1) s[0] = s[1] = fmax(fabs(last), 0.7);
        sn_law_point now;
        sn_law_evaluate(&m, s, SN_LAW_WHOLE, &now);
        // A step of 1e-4 changes the stress by its slope times that, and no more.
        double slope = 0;
        for (int e = 0; e < 6; ++e) slope += fabs(now.stretch[e]) + fabs(before.stretch[e]);
        for (int i = 0; i < 3 && n > 0; ++i) {
          if (!(fabs(now.stress[i] - before.stress[i]) <= 3e-4 * slope)) {
            fail_msg("%s jumps at %g", sn_law_name(m.law), last);
          }
        }
        before = now;
      }
    }
  }
}

// By the definition of an integral: energy differences are stress times way.
static void energy_is_conserved_around_a_loop(void** unused) {
  (void)unused;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    double work = 0, most = 0;
    const int steps = 20000;
    for (int n = 0; n < steps; ++n) {
      // Midpoints of a closed curve through inverted and flat states.
      double P[2][9], F[2][9] = {{0}, {0}};
      for (int side = 0; side < 2; ++side) {
        double a = 2 * 3.14159265358979323846 * (n + side) / steps;
        F[side][0] = 1.3 + 0.3 * cos(a), F[side][4] = 1 + 0.1 * sin(a);
        F[side][8] = 0.2 + 0.7 * sin(2 * a);
      }
      double middle[9], way[9];
      for (int i = 0; i < 9; ++i) {
        middle[i] = (F[0][i] + F[1][i]) / 2;
        way[i] = F[1][i] - F[0][i];
      }
      sn_material_stress(&m, middle, P[0]);
      work += dot9(P[0], way);
      most += fabs(dot9(P[0], way));
    }
    assert_true(fabs(work) < 1e-5 * most);
  }
}

static void nothing_is_infinite(void** unused) {
  (void)unused;
  const double values[] = {0, 1e-300, 1e-12, 1e-3, 0.2, 0.6, 1, 3, 1e3, 1e6};
  const int count = sizeof values / sizeof *values;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    for (int n = 0; n < count * count * count * 2; ++n) {
      double a = values[n % count], b = values[n / count % count];
      double c = values[n / count / count % count] * (n < count * count * count ? 1 : -1);
      if (!(a >= b && b >= fabs(c))) continue;
      sn_law_point point;
      sn_law_evaluate(&m, (double[3]){a, b, c}, SN_LAW_WHOLE, &point);
      for (int twice = 0; twice < 2; ++twice) {
        for (int e = 0; e < 16; ++e) {
          double value = ((const double*)&point)[e];
          if (!isfinite(value)) fail_msg("%s at %g %g %g", sn_law_name(m.law), a, b, c);
        }
        sn_law_make_definite(&point);
      }
    }
  }
}

static void rest_is_free_of_energy_and_stress(void** unused) {
  (void)unused;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    sn_law_point point;
    sn_law_evaluate(&m, (double[3]){1, 1, 1}, SN_LAW_WHOLE, &point);
    assert_true(point.energy == 0);
    for (int i = 0; i < 3; ++i) {
      assert_true(fabs(point.stress[i]) < 1e-15);
      // Small strains: Lame's parameters, no resistance to a twist.
      assert_true(fabs(point.stretch[i] - (2 * m.mu + m.lambda)) < 1e-14);
      assert_true(fabs(point.stretch[3 + i] - m.lambda) < 1e-14);
      assert_true(fabs(point.shear[i] - 2 * m.mu) < 1e-14);
      assert_true(fabs(point.twist[i]) < 1e-14);
    }
  }
}

// Shears are quotients of differences: exact where stretches are apart, without cancellation where they
// are not, and their limit where they are equal.
static void quotients_are_exact(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(3);
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    for (int n = 0; n < 5000; ++n) {
      double s[3];
      for (int i = 0; i < 3; ++i) s[i] = 2 * sn_random_unit(&random);
      if (n % 3 == 0) s[2] = -s[2];
      if (!(s[0] >= s[1] && s[1] >= fabs(s[2]))) continue;
      sn_law_point p, near, equal;
      sn_law_evaluate(&m, s, SN_LAW_WHOLE, &p);
      double size = m.mu;
      for (int i = 0; i < 6; ++i) size += fabs(p.stretch[i]) + fabs(p.stress[i % 3]);
      for (int i = 0; i < 3; ++i) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
        double way = s[a] - s[b], sum = s[a] + s[b];
        double shear = (p.stress[a] - p.stress[b]) / way, twist = (p.stress[a] + p.stress[b]) / sum;
        assert_true(fabs(p.shear[i] - shear) < 1e-14 * size * (1 + 1 / fabs(way)));
        if (sum > 1e-3 * s[0]) {
          assert_true(fabs(p.twist[i] - twist) < 1e-14 * size * (1 + 1 / sum));
        }
      }
      double close[3] = {s[0], s[0] * (1 - 3e-12), s[2]}, same[3] = {s[0], s[0], s[2]};
      sn_law_evaluate(&m, close, SN_LAW_WHOLE, &near);
      sn_law_evaluate(&m, same, SN_LAW_WHOLE, &equal);
      for (int i = 0; i < 3; ++i) {
        size = fabs(equal.stretch[i]) + fabs(equal.shear[i]) + fabs(equal.twist[i]) + m.mu;
        if (fabs(near.shear[i] - equal.shear[i]) > 1e-9 * size) {
          fail_msg("%s: %.17g is not %.17g", sn_law_name(m.law), near.shear[i], equal.shear[i]);
        }
        assert_true(fabs(near.shear[2] - (equal.stretch[0] - equal.stretch[3])) < 1e-9 * size ||
                    m.law == SN_LAW_STVK);
      }
    }
  }
}

// Eigenvalues of a symmetric matrix by Jacobi's rotations; the least of them.
static double least_eigenvalue(double A[9][9]) {
  for (int sweep = 0; sweep < 12; ++sweep) {
    for (int p = 0; p < 9; ++p) {
      for (int q = p + 1; q < 9; ++q) {
        if (A[p][q] == 0) continue;
        double zeta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
        double c = 1 / sqrt(1 + t * t), s = c * t;
        for (int i = 0; i < 9; ++i) {
          double a = A[i][p], b = A[i][q];
          A[i][p] = c * a - s * b, A[i][q] = s * a + c * b;
        }
        for (int i = 0; i < 9; ++i) {
          double a = A[p][i], b = A[q][i];
          A[p][i] = c * a - s * b, A[q][i] = s * a + c * b;
        }
      }
    }
  }
  double least = A[0][0];
  for (int i = 1; i < 9; ++i) least = fmin(least, A[i][i]);
  return least;
}

// The 9 x 9 matrix of a differential; returns its size.
static double stiffness(const sn_material* m, const double F[9], sn_hessian kind, double A[9][9]) {
  double size = 0;
  for (int i = 0; i < 9; ++i) {
    double unit[9] = {0};
    unit[i] = 1;
    sn_material_differential(m, F, unit, kind, A[i]);
    for (int j = 0; j < 9; ++j) size = fmax(size, fabs(A[i][j]));
  }
  return size;
}

static void definite_differentials_have_no_negative_eigenvalue(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(17);
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    int definite_count = 0;
    for (int n = 0; n < 1000; ++n) {
      double F[9], exact[9][9], definite[9][9], copy[9][9], off = 0;
      random_gradient(&random, n % KINDS, F);
      stiffness(&m, F, SN_HESSIAN_EXACT, exact);
      double size = stiffness(&m, F, SN_HESSIAN_DEFINITE, definite);
      for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 9; ++j) {
          off = fmax(off, fabs(exact[i][j] - definite[i][j]));
          assert_true(fabs(definite[i][j] - definite[j][i]) < 1e-13 * (size + 1));
        }
      }
      memcpy(copy, definite, sizeof copy);
      double least = least_eigenvalue(copy);
      if (least < -1e-9 * (size + 1)) fail_msg("%s: %g", sn_law_name(m.law), least);
      // Nothing is added where nothing is missing.
      if (least_eigenvalue(exact) > 1e-9) {
        assert_true(off == 0);
        ++definite_count;
      }
    }
    assert_true(definite_count > 50);
  }
}

static void parts_add_up(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(23);
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    for (int n = 0; n < 500; ++n) {
      double s[3] = {1.6, 0.2 + sn_random_unit(&random), 0.2 * sn_random_symmetric(&random)}, M[3];
      sn_law_point whole, shape;
      sn_law_evaluate(&m, s, SN_LAW_WHOLE, &whole);
      sn_law_evaluate(&m, s, SN_LAW_SHAPE, &shape);
      sn_measure kind = sn_law_measure_kind(m.law);
      sn_law_measure(&m, s[0] * s[1] * s[2], M);
      double measure = kind == SN_MEASURE_NONE    ? 0
                       : kind == SN_MEASURE_TRACE ? s[0] + s[1] + s[2] - 3
                                                  : M[0];
      double volume = sn_law_bulk(&m) / 2 * measure * measure;
      assert_true(fabs(whole.energy - shape.energy - volume) < 1e-13 * (1 + fabs(whole.energy)));
    }
  }
}

// M is continuous with its first derivative, and its square convex in J.
static void measures_are_convex(void** unused) {
  (void)unused;
  for (int k = 0; k < MATERIALS; ++k) {
    sn_material m = material_number(k);
    sn_measure kind = sn_law_measure_kind(m.law);
    if (kind != SN_MEASURE_J && kind != SN_MEASURE_LOG_J) continue;
    double before[3];
    sn_law_measure(&m, 3.0, before);
    for (int n = 1; n <= 60000; ++n) {
      double J = 3 - 1e-4 * n, now[3];
      sn_law_measure(&m, J, now);
      assert_true(fabs(before[0] - now[0] - 0.5e-4 * (before[1] + now[1])) < 1e-6);
      if (J < 1) assert_true(now[1] * now[1] + now[0] * now[2] > 0);
      memcpy(before, now, sizeof now);
    }
  }
}

// a^T b and a b^T
static void transposed_times(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 9; ++i) {
    out[i] = 0;
    for (int k = 0; k < 9; k += 3) out[i] += a[k + i / 3] * b[k + i % 3];
  }
}
static void times(const double a[9], const double b[9], double out[9]) {
  for (int i = 0; i < 9; ++i) {
    out[i] = 0;
    for (int k = 0; k < 3; ++k) out[i] += a[3 * (i / 3) + k] * b[3 * k + i % 3];
  }
}

// A law with fibres along w: W + psi(|F w|). In the frames of F its stress is a diagonal matrix plus the
// stretches times a symmetric one, made of V^T w (Irving 2007, section 2.6.1), inverted or not.
static void fibres_make_any_law_anisotropic_in_the_frames(void** unused) {
  (void)unused;
  static const sn_fiber FIBER = {.max_stress = 3, .optimal = 1.1, .passive = 0.8, .tendon = 20};
  static const sn_fiber_state STATE = {0.5, 0.2};
  sn_random random = sn_random_seeded(11);
  for (int i = 0; i < MATERIALS * 50; ++i) {
    sn_material m = material_number(i % MATERIALS);
    double F[9], U[9], s[3], V[9], P[9], turn[9], T[9], framed[9], w[3], Fw[3] = {0}, l = 0;
    random_gradient(&random, i / MATERIALS % 3, F);
    random_rotation(&random, turn);
    for (int k = 0; k < 3; ++k) w[k] = turn[3 * k];
    for (int k = 0; k < 9; ++k) Fw[k / 3] += F[k] * w[k % 3];
    for (int k = 0; k < 3; ++k) l += Fw[k] * Fw[k];
    l = sqrt(l);
    sn_fiber_point fiber = sn_fiber_evaluate(&FIBER, STATE, l);
    sn_material_stress(&m, F, P);
    for (int k = 0; k < 9; ++k) P[k] += fiber.tension / l * Fw[k / 3] * w[k % 3];
    sn_svd3_d(F, U, s, V);
    transposed_times(U, P, T);
    times(T, V, framed);
    double size = 0, a[3] = {0};
    for (int k = 0; k < 9; ++k) size = fmax(size, fabs(framed[k]));
    for (int k = 0; k < 9; ++k) a[k % 3] += V[k] * w[k / 3];  // V^T w
    for (int k = 0; k < 9; ++k) {
      if (k % 4 == 0) continue;
      double own = s[k / 3] * fiber.tension / l * a[k / 3] * a[k % 3];
      assert_true(fabs(framed[k] - own) <= 1e-9 * size);
    }
  }
}

// Damping takes the law a little ahead in time, at F + c F'. To first order that is the differential
// along F', so that for slow motion near rest it takes energy out and never puts any in.
static void any_law_is_damped_by_its_own_differential(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(12);
  double worst = 0;
  for (int i = 0; i < MATERIALS * 100; ++i) {
    sn_material m = material_number(i % MATERIALS);
    double F[9], rate[9], ahead[9], P[9], later[9], dP[9], c = 1e-6, power = 0, off = 0, size = 0;
    random_gradient(&random, 2, F);
    for (int k = 0; k < 9; ++k) rate[k] = sn_random_symmetric(&random);
    along(F, c, rate, ahead);
    sn_material_stress(&m, F, P);
    sn_material_stress(&m, ahead, later);
    sn_material_differential(&m, F, rate, SN_HESSIAN_EXACT, dP);
    for (int k = 0; k < 9; ++k) {
      double viscous = (later[k] - P[k]) / c;
      power += rate[k] * viscous;
      off += (viscous - dP[k]) * (viscous - dP[k]);
      size += dP[k] * dP[k];
    }
    worst = fmax(worst, sqrt(off / size));
    assert_true(power > 0);
  }
  print_message("viscous stress against the differential: %.1e\n", worst);
  assert_true(worst < 1e-4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stress_and_differential_are_derivatives),
      cmocka_unit_test(stress_is_continuous_in_the_stretches),
      cmocka_unit_test(energy_is_conserved_around_a_loop),
      cmocka_unit_test(nothing_is_infinite),
      cmocka_unit_test(rest_is_free_of_energy_and_stress),
      cmocka_unit_test(quotients_are_exact),
      cmocka_unit_test(definite_differentials_have_no_negative_eigenvalue),
      cmocka_unit_test(parts_add_up),
      cmocka_unit_test(measures_are_convex),
      cmocka_unit_test(fibres_make_any_law_anisotropic_in_the_frames),
      cmocka_unit_test(any_law_is_damped_by_its_own_differential),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
