// Materials and deformation gradients for the tests of laws.
#ifndef SN_TESTS_MATERIAL_POINTS_H
#define SN_TESTS_MATERIAL_POINTS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs the first ones.
#include <cmocka.h>

#include "material/law.h"
#include "material/point.h"
#include "math/random.h"
#include "math/svd3.h"

// Every law with its usual numbers, and once with others.
static inline sn_material material_number(int i) {
  sn_law law = (sn_law)(i % SN_LAW_COUNT);
  sn_material m = sn_material_of(law, 1.0, i < SN_LAW_COUNT ? 4.0 : 0.5);
  if (i < SN_LAW_COUNT) return m;
  if (law == SN_LAW_BIPHASIC) {
    m.numbers[0] = 0.5, m.numbers[1] = 1.1, m.numbers[2] = 3;
  } else {
    m.numbers[0] = law == SN_LAW_STVK ? 0.8 : 0.5;
    m.numbers[1] = 0.9;
  }
  return m;
}
#define MATERIALS (2 * SN_LAW_COUNT)

// Laws without a rotation or a limit on single stretches are smooth wherever F goes.
static inline bool is_smooth_everywhere(sn_law law) {
  return law == SN_LAW_STABLE_NEO_HOOKEAN || law == SN_LAW_NEO_HOOKEAN ||
         law == SN_LAW_MOONEY_RIVLIN;
}

static inline void random_rotation(sn_random* random, double R[9]) {
  double q[4], square = 0;
  do {
    square = 0;
    for (int i = 0; i < 4; ++i) {
      q[i] = sn_random_symmetric(random);
      square += q[i] * q[i];
    }
  } while (square > 1 || square < 0.01);
  for (int i = 0; i < 4; ++i) q[i] /= sqrt(square);
  double w = q[3], x = q[0], y = q[1], z = q[2];
  double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                    2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                    2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(R, rows, sizeof rows);
}

// U diag(s) V^T with random rotations.
static inline void turned_stretches(sn_random* random, const double s[3], double F[9]) {
  double U[9], V[9];
  random_rotation(random, U);
  random_rotation(random, V);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      F[3 * i + j] = 0;
      for (int k = 0; k < 3; ++k) F[3 * i + j] += U[3 * i + k] * s[k] * V[3 * j + k];
    }
  }
}

#define KINDS 10
// Stretches of one of ten kinds: any, any inverted, near rest, rest, two equal, three equal, two nearly
// equal, of rank two, of rank one, none.
static inline void random_gradient(sn_random* random, int kind, double F[9]) {
  double s[3];
  for (int i = 0; i < 3; ++i) s[i] = 0.05 + 1.95 * sn_random_unit(random);
  if (kind == 1) s[2] = -s[2];
  for (int i = 0; i < 3 && kind == 2; ++i) s[i] = 1 + 1e-3 * sn_random_symmetric(random);
  for (int i = 0; i < 3 && kind == 3; ++i) s[i] = 1;
  if (kind == 4 || kind == 5) s[1] = s[0];
  if (kind == 5) s[2] = s[0];
  if (kind == 6) s[1] = s[0] * (1 + 1e-9 * sn_random_symmetric(random));
  if (kind == 7) s[2] = 0;
  if (kind == 8) s[1] = s[2] = 0;
  if (kind == 9) s[0] = s[1] = s[2] = 0;
  turned_stretches(random, s, F);
}

static inline double norm9(const double A[9]) {
  double sum = 0;
  for (int i = 0; i < 9; ++i) sum += A[i] * A[i];
  return sqrt(sum);
}

static inline double dot9(const double A[9], const double B[9]) {
  double sum = 0;
  for (int i = 0; i < 9; ++i) sum += A[i] * B[i];
  return sum;
}

#endif
