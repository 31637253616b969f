#include "elasticity/cell_modes.h"

// Energy of mode m is 4 mu h HOURGLASS[m] |q_m|^2; the linear modes are counted by F instead.
const double SN_HOURGLASS[8] = {
    0, 0, 0, SN_HOURGLASS_EDGE, 0, SN_HOURGLASS_EDGE, SN_HOURGLASS_EDGE, SN_HOURGLASS_CORNER};

// v_m <- sum_a s_m(a) v_a, in place: one butterfly a bit. Symmetric up to the order of the signs:
// its transpose is walsh_transposed.
void sn_cell_walsh(double v[8]) {
  for (int bit = 1; bit < 8; bit *= 2) {
    for (int a = 0; a < 8; ++a) {
      if (a & bit) continue;
      double low = v[a], high = v[a | bit];
      v[a] = low + high;
      v[a | bit] = high - low;
    }
  }
}

static void walsh_transposed(double v[8]) {
  for (int bit = 1; bit < 8; bit *= 2) {
    for (int a = 0; a < 8; ++a) {
      if (a & bit) continue;
      double constant = v[a], linear = v[a | bit];
      v[a] = constant - linear;
      v[a | bit] = constant + linear;
    }
  }
}

// q[axis][mode] of the displacements of the conforming corners.
void sn_cell_to_modes(sn_cell_shape shape, const double u[8][3], double q[3][8]) {
  for (int i = 0; i < 3; ++i) {
    double conforming[8];
    for (int a = 0; a < 8; ++a) conforming[a] = u[a][i];
    sn_cell_conform_to_corner(shape, conforming, q[i]);
    sn_cell_walsh(q[i]);
    for (int m = 0; m < 8; ++m) q[i][m] *= 0.125;
  }
}

// Its transpose: dE/dq to dE/du.
void sn_cell_from_modes(sn_cell_shape shape, double dq[3][8], double g[8][3]) {
  for (int i = 0; i < 3; ++i) {
    double conforming[8];
    walsh_transposed(dq[i]);
    for (int a = 0; a < 8; ++a) dq[i][a] *= 0.125;
    sn_cell_corner_to_conform(shape, dq[i], conforming);
    for (int a = 0; a < 8; ++a) g[a][i] = conforming[a];
  }
}

// Displacement gradient 2/h [q_1 q_2 q_4].
void sn_cell_gradient_from_modes(double h, double q[3][8], double D[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) D[3 * i + j] = 2 / h * q[i][1 << j];
  }
}

// dE/dq from the stress P over the volume h^3, and the hourglass springs.
void sn_cell_modes_from_stress(double h, double mu, const double P[9], double q[3][8],
                               double dq[3][8]) {
  for (int i = 0; i < 3; ++i) {
    for (int m = 0; m < 8; ++m) {
      dq[i][m] = 8 * mu * h * SN_HOURGLASS[m] * q[i][m];
    }
    for (int j = 0; j < 3; ++j) dq[i][1 << j] = 2 * h * h * P[3 * i + j];
  }
}
