#include "math/svd3.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above.
#include <cmocka.h>

#include "math/random.h"
#include "math/vec.h"

// A decomposition in either precision, widened.
typedef struct svd {
  double F[9], U[9], s[3], V[9];
  double unit;  // round-off of the precision
} svd;

static svd decompose_d(const double F[9]) {
  svd d = {.unit = DBL_EPSILON};
  for (int i = 0; i < 9; ++i) d.F[i] = F[i];
  sn_svd3_d(d.F, d.U, d.s, d.V);
  return d;
}

static svd decompose_f(const double F[9]) {
  svd d = {.unit = FLT_EPSILON};
  float narrow[9], U[9], s[3], V[9];
  for (int i = 0; i < 9; ++i) d.F[i] = narrow[i] = (float)F[i];
  sn_svd3_f(narrow, U, s, V);
  for (int i = 0; i < 9; ++i) d.U[i] = U[i], d.V[i] = V[i];
  for (int i = 0; i < 3; ++i) d.s[i] = s[i];
  return d;
}

static double det(const double A[9]) {
  sn_mat3 m = {{{A[0], A[1], A[2]}, {A[3], A[4], A[5]}, {A[6], A[7], A[8]}}};
  return sn_det3(&m);
}

static double largest(const double A[9]) {
  double size = 0;
  for (int i = 0; i < 9; ++i) size = fmax(size, fabs(A[i]));
  return size;
}

static void assert_rotation(const double R[9], double tolerance) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double dot = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j];
      assert_true(fabs(dot - (i == j)) <= tolerance);
    }
  }
  assert_true(fabs(det(R) - 1) <= tolerance);
}

// Everything that the header promises.
static void assert_sound(const svd* d) {
  double tolerance = 16 * d->unit, size = largest(d->F);
  assert_rotation(d->U, tolerance);
  assert_rotation(d->V, tolerance);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      double product = 0;
      for (int k = 0; k < 3; ++k) product += d->U[3 * i + k] * d->s[k] * d->V[3 * j + k];
      assert_true(fabs(product - d->F[3 * i + j]) <= tolerance * size);
    }
  }
  assert_true(d->s[0] >= d->s[1]);
  assert_true(d->s[1] >= fabs(d->s[2]));
}

static void check(const double F[9]) {
  svd wide = decompose_d(F), narrow = decompose_f(F);
  assert_sound(&wide);
  assert_sound(&narrow);
}

static void random_matrix(sn_random* random, double F[9]) {
  for (int i = 0; i < 9; ++i) F[i] = sn_random_symmetric(random);
}

static void random_rotation(sn_random* random, double R[9]) {
  double q[4], length = 0;
  do {
    length = 0;
    for (int i = 0; i < 4; ++i) {
      q[i] = sn_random_symmetric(random);
      length += q[i] * q[i];
    }
  } while (length > 1 || length < 0.01);
  for (int i = 0; i < 4; ++i) q[i] /= sqrt(length);
  double x = q[0], y = q[1], z = q[2], w = q[3];
  double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                    2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                    2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 9; ++i) R[i] = rows[i];
}

// F = U diag(s) V^T with random rotations.
static void random_with_values(sn_random* random, double s0, double s1, double s2, double F[9]) {
  double U[9], V[9], s[3] = {s0, s1, s2};
  random_rotation(random, U);
  random_rotation(random, V);
  for (int i = 0; i < 9; ++i) {
    F[i] = 0;
    for (int k = 0; k < 3; ++k) F[i] += U[i / 3 * 3 + k] * s[k] * V[i % 3 * 3 + k];
  }
}

static void random_matrices_are_decomposed(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(1);
  for (int n = 0; n < 100000; ++n) {
    double F[9];
    random_matrix(&random, F);
    check(F);
  }
}

static void last_value_has_the_sign_of_the_determinant(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(2);
  int inverted = 0;
  for (int n = 0; n < 20000; ++n) {
    double F[9];
    random_matrix(&random, F);
    double J = det(F);
    if (fabs(J) < 1e-4) continue;
    svd wide = decompose_d(F), narrow = decompose_f(F);
    assert_true((wide.s[2] < 0) == (J < 0));
    assert_true((narrow.s[2] < 0) == (J < 0));
    double product = wide.s[0] * wide.s[1] * wide.s[2];
    assert_true(fabs(product - J) < 1e-14);
    inverted += J < 0;
  }
  assert_true(inverted > 5000 && inverted < 15000);
}

static void known_values_are_found(void** unused) {
  (void)unused;
  static const double values[][3] = {{3, 2, 1},         {3, 2, -1},
                                     {1, 1, 1},         {1, 1, -1},
                                     {2, 1, 1},         {2, 1, -1},
                                     {2, 2, 1},         {2, 2, -1},
                                     {2, 2, 0},         {5, 0, 0},
                                     {5, 3, 0},         {1, 1e-3, 1e-5},
                                     {1, 1e-3, -1e-5},  {1, 1 - 1e-9, 1 - 2e-9},
                                     {7, 1e-14, 1e-14}, {1, 1e-17, -1e-17},
                                     {1, 1e-8, -1e-8}};
  sn_random random = sn_random_seeded(3);
  for (size_t v = 0; v < sizeof values / sizeof *values; ++v) {
    for (int n = 0; n < 2000; ++n) {
      double F[9];
      random_with_values(&random, values[v][0], values[v][1], values[v][2], F);
      check(F);
      svd wide = decompose_d(F), narrow = decompose_f(F);
      for (int k = 0; k < 3; ++k) {
        // F itself was rounded, so values around zero may have either sign.
        double wide_error = fabs(wide.s[k] - values[v][k]);
        double narrow_error = fabs(narrow.s[k] - values[v][k]);
        assert_true(wide_error <= 16 * DBL_EPSILON * values[v][0]);
        assert_true(narrow_error <= 16 * FLT_EPSILON * values[v][0]);
      }
    }
  }
}

// Entries -1, 0, 1 and 2 in all nine places: every rank, every coincidence, every mirror image.
static void all_small_integer_matrices_are_decomposed(void** unused) {
  (void)unused;
  for (int code = 0; code < 1 << 18; ++code) {
    double F[9];
    for (int i = 0; i < 9; ++i) F[i] = (code >> 2 * i & 3) - 1;
    check(F);
    double J = det(F);
    if (J == 0) continue;
    svd wide = decompose_d(F), narrow = decompose_f(F);
    assert_true((wide.s[2] < 0) == (J < 0));
    assert_true((narrow.s[2] < 0) == (J < 0));
  }
}

static void zero_gives_identities(void** unused) {
  (void)unused;
  static const double zero[9] = {0};
  svd both[2] = {decompose_d(zero), decompose_f(zero)};
  for (int p = 0; p < 2; ++p) {
    for (int i = 0; i < 9; ++i) {
      assert_true(both[p].U[i] == (i % 4 == 0));
      assert_true(both[p].V[i] == (i % 4 == 0));
    }
    for (int k = 0; k < 3; ++k) assert_true(both[p].s[k] == 0);
  }
}

static void rank_one_is_decomposed(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int n = 0; n < 20000; ++n) {
    double a[3], b[3], F[9], size = 0;
    for (int i = 0; i < 3; ++i) a[i] = sn_random_symmetric(&random);
    for (int i = 0; i < 3; ++i) b[i] = sn_random_symmetric(&random);
    for (int i = 0; i < 9; ++i) F[i] = a[i / 3] * b[i % 3];
    for (int i = 0; i < 9; ++i) size += F[i] * F[i];
    check(F);
    svd wide = decompose_d(F), narrow = decompose_f(F);
    assert_true(fabs(wide.s[0] - sqrt(size)) <= 8 * DBL_EPSILON * sqrt(size));
    assert_true(fabs(narrow.s[0] - sqrt(size)) <= 8 * FLT_EPSILON * sqrt(size));
    assert_true(wide.s[1] <= 8 * DBL_EPSILON * sqrt(size));
    assert_true(narrow.s[1] <= 8 * FLT_EPSILON * sqrt(size));
  }
}

static void rank_two_is_decomposed(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(6);
  for (int n = 0; n < 20000; ++n) {
    double F[9];
    random_matrix(&random, F);
    // One column is a combination of the others; or one row; or nothing but zeros.
    double p = sn_random_symmetric(&random), q = sn_random_symmetric(&random);
    for (int i = 0; i < 3; ++i) {
      if (n % 4 == 0) F[3 * i + 2] = p * F[3 * i] + q * F[3 * i + 1];
      if (n % 4 == 1) F[i] = p * F[3 + i] + q * F[6 + i];
      if (n % 4 == 2) F[3 * i + n % 3] = 0;
      if (n % 4 == 3) F[3 * (n % 3) + i] = 0;
    }
    check(F);
    svd wide = decompose_d(F), narrow = decompose_f(F);
    assert_true(fabs(wide.s[2]) <= 16 * DBL_EPSILON * wide.s[0]);
    assert_true(fabs(narrow.s[2]) <= 16 * FLT_EPSILON * narrow.s[0]);
  }
}

// Angle of U V^T, which is the rotation that takes V to U.
static double turn(const svd* d) {
  double R[9], sine = 0;
  for (int i = 0; i < 9; ++i) {
    R[i] = 0;
    for (int k = 0; k < 3; ++k) R[i] += d->U[i / 3 * 3 + k] * d->V[i % 3 * 3 + k];
  }
  double x = R[7] - R[5], y = R[2] - R[6], z = R[3] - R[1];
  sine = sqrt(x * x + y * y + z * z) / 2;
  return atan2(sine, (R[0] + R[4] + R[8] - 1) / 2);
}

static void singular_stretches_do_not_turn(void** unused) {
  (void)unused;
  static const double values[][3] = {{1, 0, 0}, {3, 2, 0}, {1, 1, 0}, {2, 1e-3, 0}};
  sn_random random = sn_random_seeded(7);
  for (size_t v = 0; v < sizeof values / sizeof *values; ++v) {
    for (int n = 0; n < 2000; ++n) {
      double V[9], F[9];
      random_rotation(&random, V);
      for (int i = 0; i < 9; ++i) {
        F[i] = 0;
        for (int k = 0; k < 3; ++k) F[i] += V[i / 3 * 3 + k] * values[v][k] * V[i % 3 * 3 + k];
      }
      svd wide = decompose_d(F), narrow = decompose_f(F);
      // A value of 1e-3 tells its direction to 1e3 units only.
      double slack = values[v][1] > 0 ? 16 / values[v][1] : 16;
      assert_true(turn(&wide) <= slack * DBL_EPSILON);
      assert_true(turn(&narrow) <= slack * FLT_EPSILON);
    }
  }
}

// F = a b^T must take b to a; any further turn about a would be gratuitous.
static void assert_least_turn(const double a[3], const double b[3]) {
  double F[9], cosine = 0;
  for (int i = 0; i < 9; ++i) F[i] = a[i / 3] * b[i % 3];
  for (int i = 0; i < 3; ++i) cosine += a[i] * b[i];
  svd wide = decompose_d(F), narrow = decompose_f(F);
  assert_sound(&wide);
  assert_sound(&narrow);
  double least = acos(fmax(-1, fmin(1, cosine)));
  assert_true(turn(&wide) <= least + 1e-6);
  assert_true(turn(&narrow) <= least + 1e-2);
}

static void rank_one_turns_no_more_than_it_must(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(8);
  for (int n = 0; n < 20000; ++n) {
    double A[9], B[9], a[3];
    random_rotation(&random, A);
    random_rotation(&random, B);
    assert_least_turn(A, B);
    // Almost opposite: -B plus something across.
    double across = pow(10, -10 * sn_random_unit(&random)), length = sqrt(1 + across * across);
    for (int i = 0; i < 3; ++i) a[i] = (across * B[3 + i] - B[i]) / length;
    assert_least_turn(a, B);
  }
}

// Powers of two, so that scaling F is exact.
static void scale_changes_the_values_only(void** unused) {
  (void)unused;
  static const double wide_scales[] = {0x1p-531, 0x1p-300, 0x1p-40, 0x1p40, 0x1p300, 0x1p498};
  static const double narrow_scales[] = {0x1p-100, 0x1p-50, 0x1p-10, 0x1p10, 0x1p50, 0x1p100};
  sn_random random = sn_random_seeded(9);
  for (int n = 0; n < 3000; ++n) {
    double F[9], scaled[9];
    random_matrix(&random, F);
    if (n % 3 == 0) {
      for (int i = 0; i < 3; ++i) F[3 * i + 1] = F[3 * i];  // singular
    }
    svd plain_wide = decompose_d(F), plain_narrow = decompose_f(F);
    for (int k = 0; k < 6; ++k) {
      for (int i = 0; i < 9; ++i) scaled[i] = wide_scales[k] * F[i];
      svd wide = decompose_d(scaled);
      assert_sound(&wide);
      for (int i = 0; i < 9; ++i) scaled[i] = narrow_scales[k] * plain_narrow.F[i];
      svd narrow = decompose_f(scaled);
      assert_sound(&narrow);
      for (int i = 0; i < 3; ++i) {
        double wide_error = fabs(wide.s[i] / wide_scales[k] - plain_wide.s[i]);
        double narrow_error = fabs(narrow.s[i] / narrow_scales[k] - plain_narrow.s[i]);
        assert_true(wide_error <= 16 * DBL_EPSILON * plain_wide.s[0]);
        assert_true(narrow_error <= 16 * FLT_EPSILON * plain_narrow.s[0]);
      }
    }
  }
}

static void extreme_scales_are_sound(void** unused) {
  (void)unused;
  static const double wide_scales[] = {1e-160, 1e-290, 1e-100, 1e150, 1e307};
  static const double narrow_scales[] = {1e-30, 1e-12, 1e12, 1e30, 1e38};
  sn_random random = sn_random_seeded(10);
  for (int n = 0; n < 3000; ++n) {
    double F[9], scaled[9];
    random_with_values(&random, 1, sn_random_unit(&random), sn_random_symmetric(&random) / 2, F);
    for (int k = 0; k < 5; ++k) {
      for (int i = 0; i < 9; ++i) scaled[i] = wide_scales[k] * F[i];
      svd wide = decompose_d(scaled);
      for (int i = 0; i < 9; ++i) scaled[i] = narrow_scales[k] * F[i];
      svd narrow = decompose_f(scaled);
      assert_rotation(wide.U, 16 * wide.unit);
      assert_rotation(wide.V, 16 * wide.unit);
      assert_rotation(narrow.U, 16 * narrow.unit);
      assert_rotation(narrow.V, 16 * narrow.unit);
      assert_true(fabs(wide.s[0] / wide_scales[k] - 1) <= 16 * wide.unit);
      assert_true(fabs(narrow.s[0] / narrow_scales[k] - 1) <= 16 * narrow.unit);
    }
  }
}

// Columns of very different length: forming F^T F would lose the short ones.
static void small_values_keep_their_digits(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(11);
  for (int n = 0; n < 5000; ++n) {
    double R[9], F[9];
    random_rotation(&random, R);
    static const double size[3] = {1e-6, 1, 1e-12};
    for (int i = 0; i < 9; ++i) F[i] = R[i] * size[i % 3];
    svd wide = decompose_d(F);
    assert_sound(&wide);
    assert_true(fabs(wide.s[0] - 1) <= 1e-9);
    assert_true(fabs(wide.s[1] / 1e-6 - 1) <= 1e-9);
    // The columns are orthogonal to 1e-16 only: 1e-12 sees 1e-4 of the first, at second order.
    assert_true(fabs(wide.s[2] / 1e-12 - 1) <= 1e-7);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_matrices_are_decomposed),
      cmocka_unit_test(last_value_has_the_sign_of_the_determinant),
      cmocka_unit_test(known_values_are_found),
      cmocka_unit_test(all_small_integer_matrices_are_decomposed),
      cmocka_unit_test(zero_gives_identities),
      cmocka_unit_test(rank_one_is_decomposed),
      cmocka_unit_test(rank_two_is_decomposed),
      cmocka_unit_test(singular_stretches_do_not_turn),
      cmocka_unit_test(rank_one_turns_no_more_than_it_must),
      cmocka_unit_test(scale_changes_the_values_only),
      cmocka_unit_test(extreme_scales_are_sound),
      cmocka_unit_test(small_values_keep_their_digits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
