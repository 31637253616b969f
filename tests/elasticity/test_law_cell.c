// One cell of any law, plain: its gradient is that of its energy, and the mean of J is exact.
#include "elasticity/law_cell.h"

#include "elasticity/cell_states.h"

static const sn_cell_shape SHAPE = {0, 0};
static const double H = 0.25;

static void scatter(sn_random* random, double amount, double u[8][3]) {
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) u[c][i] = amount * H * sn_random_symmetric(random);
  }
}

static void the_gradient_is_that_of_the_energy(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(3);
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    sn_material material = sn_material_of((sn_law)law, 2e3, 3e4);
    double worst = 0;
    for (int trial = 0; trial < 200; ++trial) {
      double u[8][3], g[8][3], difference[8][3], size = 0, error = 0, step = 1e-5 * H;
      scatter(&random, trial % 2 ? 0.15 : 0.4, u);
      sn_law_cell_evaluate(SHAPE, H, &material, (const double(*)[3])u, g);
      for (int n = 0; n < 24; ++n) {
        double* at = &u[n / 3][n % 3];
        double from = *at, sums[4];
        for (int k = 0; k < 4; ++k) {
          static const double AT[4] = {-2, -1, 1, 2};
          *at = from + AT[k] * step;
          sums[k] = sn_law_cell_evaluate(SHAPE, H, &material, (const double(*)[3])u, NULL);
        }
        *at = from;
        difference[n / 3][n % 3] = (8 * (sums[2] - sums[1]) - (sums[3] - sums[0])) / (12 * step);
      }
      for (int n = 0; n < 24; ++n) {
        double off = difference[n / 3][n % 3] - g[n / 3][n % 3];
        error += off * off;
        size += g[n / 3][n % 3] * g[n / 3][n % 3];
      }
      worst = fmax(worst, sqrt(error / size));
    }
    print_message("%-20s %.1e\n", sn_law_name((sn_law)law), worst);
    assert_true(worst < 1e-6);
  }
}

static void the_mean_volume_is_exact(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(4);
  double gauss = sqrt(1.0 / 3), a = sqrt(2.0 / 3), worst = 0, four_off = 0;
  const double four[4][3] = {{a, gauss, 0}, {-a, gauss, 0}, {0, -gauss, a}, {0, -gauss, -a}};
  for (int trial = 0; trial < 1000; ++trial) {
    double u[8][3], q[3][8], eight = 0, by_four = 0;
    scatter(&random, 0.3, u);
    sn_cell_to_modes(SHAPE, (const double(*)[3])u, q);
    for (int c = 0; c < 8; ++c) {
      double eta[3] = {c & 1 ? gauss : -gauss, c & 2 ? gauss : -gauss, c & 4 ? gauss : -gauss};
      eight += sn_cell_volume_at(H, q, eta) / 8;
    }
    for (int p = 0; p < 4; ++p) by_four += sn_cell_volume_at(H, q, four[p]) / 4;
    worst = fmax(worst, fabs(sn_cell_mean_volume(H, q, NULL) - eight));
    four_off = fmax(four_off, fabs(by_four / eight - 1));
  }
  print_message(
      "mean of J: closed form against eight Gauss points %.1e; four points of the rule of "
      "second order against them: at most %.2f %% off\n",
      worst, 100 * four_off);
  assert_true(worst < 1e-14 * 10);
  assert_true(four_off > 0 && four_off < 0.5);
}

static void the_gradient_of_the_mean_volume(void** unused) {
  (void)unused;
  static const int MODE[6] = {1, 2, 4, 3, 5, 6};
  sn_random random = sn_random_seeded(5);
  double u[8][3], q[3][8], Q[6][3];
  scatter(&random, 0.3, u);
  sn_cell_to_modes(SHAPE, (const double(*)[3])u, q);
  sn_cell_mean_volume(H, q, Q);
  for (int m = 0; m < 6; ++m) {
    for (int i = 0; i < 3; ++i) {
      double step = 1e-4 * H, from = q[i][MODE[m]];
      q[i][MODE[m]] = from + step;
      double high = sn_cell_mean_volume(H, q, NULL);
      q[i][MODE[m]] = from - step;
      double low = sn_cell_mean_volume(H, q, NULL);
      q[i][MODE[m]] = from;
      assert_true(fabs((high - low) / (2 * step) * H / 2 - Q[m][i]) < 1e-9);
    }
  }
}

// K of one cell in full, column by column.
static void get_stiffness(const sn_material* material, double u[8][3], sn_hessian kind,
                          double K[24][24]) {
  for (int n = 0; n < 24; ++n) {
    double p[8][3] = {{0}}, y[8][3];
    p[n / 3][n % 3] = 1;
    sn_law_cell_apply(SHAPE, H, material, (const double(*)[3])u, kind, (const double(*)[3])p, y);
    for (int m = 0; m < 24; ++m) K[m][n] = y[m / 3][m % 3];
  }
}

// |K - dg/du| over |K|, by differences.
static double off_differences(const sn_material* material, double u[8][3], double K[24][24]) {
  static const double AT[4] = {-2, -1, 1, 2};
  double error = 0, size = 0, step = 1e-4 * H;
  for (int n = 0; n < 24; ++n) {
    double *at = &u[n / 3][n % 3], from = *at, g[4][8][3];
    for (int k = 0; k < 4; ++k) {
      *at = from + AT[k] * step;
      sn_law_cell_evaluate(SHAPE, H, material, (const double(*)[3])u, g[k]);
    }
    *at = from;
    for (int m = 0; m < 24; ++m) {
      int c = m / 3, i = m % 3;
      double slope = (8 * (g[2][c][i] - g[1][c][i]) - (g[3][c][i] - g[0][c][i])) / (12 * step);
      error += (K[m][n] - slope) * (K[m][n] - slope);
      size += K[m][n] * K[m][n];
    }
  }
  return sqrt(error / size);
}

// Corners scattered by up to 0.4 cells: K knows what hourglass modes do to the mean of J.
static void the_stiffness_is_the_derivative_of_the_gradient(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(6);
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    double worst = 0;
    sn_material material = sn_material_of((sn_law)law, 2e3, 9e4);
    for (int trial = 0; trial < 200; ++trial) {
      double u[8][3], K[24][24];
      scatter(&random, trial % 2 ? 0.15 : 0.4, u);
      get_stiffness(&material, u, SN_HESSIAN_EXACT, K);
      worst = fmax(worst, off_differences(&material, u, K));
    }
    print_message("%-20s %.1e\n", sn_law_name((sn_law)law), worst);
    assert_true(worst < 1e-6);
  }
}

// Cholesky's pivots of K + a little: is it symmetric, and without a negative eigenvalue?
static bool is_definite(double K[24][24]) {
  double trace = 0;
  for (int n = 0; n < 24; ++n) trace += K[n][n];
  for (int n = 0; n < 24; ++n) {
    for (int m = 0; m < n; ++m) {
      if (fabs(K[n][m] - K[m][n]) > 1e-12 * trace) return false;
    }
    K[n][n] += 1e-10 * trace;
  }
  for (int n = 0; n < 24; ++n) {
    if (!(K[n][n] > 0)) return false;
    for (int i = n + 1; i < 24; ++i) {
      for (int j = n + 1; j <= i; ++j) K[i][j] -= K[i][n] * K[j][n] / K[n][n];
    }
  }
  return true;
}

static void the_definite_stiffness_is_definite(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(7);
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    int indefinite = 0;
    for (int trial = 0; trial < 300; ++trial) {
      sn_material material = sn_material_of((sn_law)law, 2e3, trial % 3 ? 9e4 : 1e3);
      double u[8][3], K[24][24];
      scatter(&random, trial % 2 ? 0.3 : 1, u);
      get_stiffness(&material, u, SN_HESSIAN_DEFINITE, K);
      assert_true(is_definite(K));
      get_stiffness(&material, u, SN_HESSIAN_EXACT, K);
      indefinite += !is_definite(K);
    }
    assert_true(indefinite > 0);  // it had something to do
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gradient_is_that_of_the_energy),
      cmocka_unit_test(the_mean_volume_is_exact),
      cmocka_unit_test(the_gradient_of_the_mean_volume),
      cmocka_unit_test(the_stiffness_is_the_derivative_of_the_gradient),
      cmocka_unit_test(the_definite_stiffness_is_definite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
