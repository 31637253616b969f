#include "elasticity/corotated_cell.h"

#include "elasticity/cell_modes.h"
#include "math/svd3.h"

// R = U V^T
static void rotation(const double U[9], const double V[9], double R[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      R[3 * i + j] =
          U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
    }
  }
}

void sn_cell_deformation(sn_cell_shape shape, double h, const double u[8][3], double F[9]) {
  double q[3][8];
  sn_cell_to_modes(shape, u, q);
  sn_cell_gradient_from_modes(h, q, F);
  for (int i = 0; i < 9; i += 4) F[i] += 1;
}

double sn_cell_energy(sn_cell_shape shape, const sn_cell_material* material, const double u[8][3]) {
  double q[3][8], F[9], U[9], s[3], V[9], h = material->h;
  sn_cell_to_modes(shape, u, q);
  sn_cell_gradient_from_modes(h, q, F);
  for (int i = 0; i < 9; i += 4) F[i] += 1;
  sn_svd3_d(F, U, s, V);

  // mu |F - R|^2 + lambda/2 tr^2(S - I), both functions of the singular values alone
  double shear = 0, stretch = 0;
  for (int k = 0; k < 3; ++k) {
    shear += (s[k] - 1) * (s[k] - 1);
    stretch += s[k] - 1;
  }
  double density = material->mu * shear + material->lambda / 2 * stretch * stretch;

  double hourglass = 0;
  for (int i = 0; i < 3; ++i) {
    for (int m = 3; m < 8; ++m) hourglass += SN_HOURGLASS[m] * q[i][m] * q[i][m];
  }
  return h * h * h * density + 4 * material->mu * h * hourglass;
}

void sn_cell_gradient(sn_cell_shape shape, const sn_cell_material* material, const double u[8][3],
                      double g[8][3]) {
  double q[3][8], dq[3][8], D[9], F[9], U[9], s[3], V[9], R[9], P[9];
  sn_cell_to_modes(shape, u, q);
  sn_cell_gradient_from_modes(material->h, q, D);
  for (int i = 0; i < 9; ++i) F[i] = D[i] + (i % 4 == 0);
  sn_svd3_d(F, U, s, V);
  rotation(U, V, R);

  // P = 2 mu (F - R) + lambda tr(S - I) R, with F - R formed as D + (I - R) so that it is exact at
  // rest
  double pressure = material->lambda * ((s[0] - 1) + (s[1] - 1) + (s[2] - 1));
  for (int i = 0; i < 9; ++i) {
    P[i] = 2 * material->mu * (D[i] + ((i % 4 == 0) - R[i])) + pressure * R[i];
  }
  sn_cell_modes_from_stress(material->h, material->mu, P, q, dq);
  sn_cell_from_modes(shape, dq, g);
}

void sn_cell_linearise(const sn_cell_material* material, const double F[9],
                       sn_cell_tangent* tangent) {
  double U[9], s[3], V[9];
  sn_svd3_d(F, U, s, V);
  rotation(U, V, tangent->R);

  // L = (lambda tr(S - I) - 2 mu) (tr(S) I - S)^-1: in the frame of V its k-th eigenvalue has the
  // sum of the other two singular values below. The Laplacian part adds mu, hence the clamp at -mu.
  double numerator = material->lambda * ((s[0] - 1) + (s[1] - 1) + (s[2] - 1)) - 2 * material->mu;
  double least = SN_ROTATION_FLOOR * s[0] + 1e-12;
  double eigenvalue[2][3];
  for (int k = 0; k < 3; ++k) {
    double sum = s[(k + 1) % 3] + s[(k + 2) % 3];
    double value = numerator / (sum > least ? sum : least);
    eigenvalue[SN_HESSIAN_EXACT][k] = value;
    eigenvalue[SN_HESSIAN_DEFINITE][k] = value < -material->mu ? -material->mu : value;
  }
  static const int ROW[6] = {0, 1, 2, 0, 1, 0}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  for (int kind = 0; kind < 2; ++kind) {
    for (int e = 0; e < 6; ++e) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) {
        sum += eigenvalue[kind][k] * V[3 * ROW[e] + k] * V[3 * COLUMN[e] + k];
      }
      tangent->L[kind][e] = sum;
    }
  }
}

static void symmetric_times(const double L[6], const double w[3], double out[3]) {
  out[0] = L[0] * w[0] + L[3] * w[1] + L[5] * w[2];
  out[1] = L[3] * w[0] + L[1] * w[1] + L[4] * w[2];
  out[2] = L[5] * w[0] + L[4] * w[1] + L[2] * w[2];
}

void sn_cell_apply(sn_cell_shape shape, const sn_cell_material* material,
                   const sn_cell_tangent* tangent, sn_hessian kind, const double p[8][3],
                   double y[8][3]) {
  double q[3][8], dq[3][8], D[9], W[9], P[9];
  const double* R = tangent->R;
  sn_cell_to_modes(shape, p, q);
  sn_cell_gradient_from_modes(material->h, q, D);

  // W = R^T dF; w is the axial vector of W - W^T, and l = L w
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      W[3 * i + j] = R[i] * D[j] + R[3 + i] * D[3 + j] + R[6 + i] * D[6 + j];
  }
  double w[3] = {W[7] - W[5], W[2] - W[6], W[3] - W[1]}, l[3];
  symmetric_times(tangent->L[kind], w, l);

  // dP = 2 mu dF + R (lambda tr(W) I + [l]x)
  double trace = material->lambda * (W[0] + W[4] + W[8]);
  double A[9] = {trace, -l[2], l[1], l[2], trace, -l[0], -l[1], l[0], trace};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      P[3 * i + j] = 2 * material->mu * D[3 * i + j] + R[3 * i] * A[j] + R[3 * i + 1] * A[3 + j] +
                     R[3 * i + 2] * A[6 + j];
    }
  }
  sn_cell_modes_from_stress(material->h, material->mu, P, q, dq);
  sn_cell_from_modes(shape, dq, y);
}

double sn_cell_volume_change(sn_cell_shape shape, double h, const sn_cell_tangent* tangent,
                             const double p[8][3]) {
  double q[3][8], D[9], sum = 0;
  sn_cell_to_modes(shape, p, q);
  sn_cell_gradient_from_modes(h, q, D);
  for (int i = 0; i < 9; ++i) sum += tangent->R[i] * D[i];
  return sum;
}

void sn_cell_add_volume_gradient(sn_cell_shape shape, double h, const sn_cell_tangent* tangent,
                                 double a, double y[8][3]) {
  double dq[3][8] = {{0}}, g[8][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) dq[i][1 << j] = 2 / h * a * tangent->R[3 * i + j];
  }
  sn_cell_from_modes(shape, dq, g);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) y[c][i] += g[c][i];
  }
}

void sn_cell_diagonal(sn_cell_shape shape, const sn_cell_material* material,
                      const sn_cell_tangent* tangent, sn_hessian kind, double d[8][3]) {
  double h = material->h, mu = material->mu;
  for (int b = 0; b < 8; ++b) {
    // The shape function of conforming corner b: its gradient g at the centre, its hourglass modes.
    double unit[8] = {0}, q[8];
    unit[b] = 1;
    sn_cell_conform_to_corner(shape, unit, q);
    sn_cell_walsh(q);
    double hourglass = 0;
    for (int m = 0; m < 8; ++m) {
      q[m] *= 0.125;
      hourglass += 8 * mu * h * SN_HOURGLASS[m] * q[m] * q[m];
    }
    double g[3] = {2 / h * q[1], 2 / h * q[2], 2 / h * q[4]};
    double laplace = 2 * mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);

    // dF = e_i g^T: tr(R^T dF) = r.g and w = g x r, with r the i-th row of R.
    for (int i = 0; i < 3; ++i) {
      const double* r = tangent->R + 3 * i;
      double trace = r[0] * g[0] + r[1] * g[1] + r[2] * g[2];
      double w[3] = {g[1] * r[2] - g[2] * r[1], g[2] * r[0] - g[0] * r[2],
                     g[0] * r[1] - g[1] * r[0]};
      double l[3];
      symmetric_times(tangent->L[kind], w, l);
      double twist = w[0] * l[0] + w[1] * l[1] + w[2] * l[2];
      d[b][i] = h * h * h * (laplace + material->lambda * trace * trace + twist) + hourglass;
    }
  }
}
