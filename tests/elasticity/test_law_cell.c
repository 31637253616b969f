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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gradient_is_that_of_the_energy),
      cmocka_unit_test(the_mean_volume_is_exact),
      cmocka_unit_test(the_gradient_of_the_mean_volume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
