#include "elasticity/law_cell.h"

#include <math.h>

#include "math/svd3.h"
#include "math/vec.h"

static const int MODE[3] = {3, 5, 6};

double sn_cell_mean_volume(double h, double q[3][8], double Q[6][3]) {
  sn_vec3 c[3], a[3];
  for (int j = 0; j < 3; ++j) {
    c[j] = sn_scale(2 / h, sn_v3(q[0][1 << j], q[1][1 << j], q[2][1 << j]));
    a[j] = sn_scale(2 / h, sn_v3(q[0][MODE[j]], q[1][MODE[j]], q[2][MODE[j]]));
  }
  c[0].x += 1, c[1].y += 1, c[2].z += 1;
  sn_vec3 pairs[3] = {sn_cross(a[0], a[1]), sn_cross(a[2], a[0]), sn_cross(a[1], a[2])};
  double J = sn_dot(c[0], sn_cross(c[1], c[2]));
  for (int k = 0; k < 3; ++k) J += sn_dot(c[k], pairs[k]) / 3;
  if (!Q) return J;
  for (int k = 0; k < 3; ++k) {
    sn_store3(Q[k], sn_madd(sn_cross(c[(k + 1) % 3], c[(k + 2) % 3]), 1.0 / 3, pairs[k]));
  }
  sn_store3(Q[3], sn_scale(1.0 / 3, sn_add(sn_cross(a[1], c[0]), sn_cross(c[1], a[2]))));
  sn_store3(Q[4], sn_scale(1.0 / 3, sn_add(sn_cross(c[0], a[0]), sn_cross(a[2], c[2]))));
  sn_store3(Q[5], sn_scale(1.0 / 3, sn_add(sn_cross(a[0], c[1]), sn_cross(c[2], a[1]))));
  return J;
}

double sn_cell_volume_at(double h, double q[3][8], const double eta[3]) {
  sn_vec3 column[3];
  for (int j = 0; j < 3; ++j) {
    int a = (j + 1) % 3, b = (j + 2) % 3, J = 1 << j, A = 1 << a, B = 1 << b;
    double f[3];
    for (int i = 0; i < 3; ++i) {
      f[i] = (i == j) + 2 / h *
                            (q[i][J] + eta[a] * q[i][J | A] + eta[b] * q[i][J | B] +
                             eta[a] * eta[b] * q[i][7]);
    }
    column[j] = sn_v3(f[0], f[1], f[2]);
  }
  return sn_dot(column[0], sn_cross(column[1], column[2]));
}

double sn_law_cell_evaluate(sn_cell_shape shape, double h, const sn_material* material,
                            const double u[8][3], double g[8][3]) {
  double q[3][8], dq[3][8], F[9], U[9], s[3], V[9], P[9], Q[6][3], M[3], hourglass = 0;
  bool mean = sn_law_measures_J(material->law);
  sn_law_point law;
  sn_cell_to_modes(shape, u, q);
  sn_cell_gradient_from_modes(h, q, F);
  for (int i = 0; i < 9; i += 4) F[i] += 1;
  sn_svd3_d(F, U, s, V);
  sn_law_evaluate(material, s, mean ? SN_LAW_SHAPE : SN_LAW_WHOLE, &law);
  for (int i = 0; i < 3; ++i) {
    for (int m = 3; m < 8; ++m) hourglass += SN_HOURGLASS[m] * q[i][m] * q[i][m];
    for (int j = 0; j < 3; ++j) {
      P[3 * i + j] = 0;
      for (int k = 0; k < 3; ++k) P[3 * i + j] += U[3 * i + k] * law.stress[k] * V[3 * j + k];
    }
  }
  double pressure = 0, density = law.energy;
  if (mean) {
    double bulk = sn_law_bulk(material);
    sn_law_measure(material, sn_cell_mean_volume(h, q, Q), M);
    density += bulk / 2 * M[0] * M[0];
    pressure = bulk * M[0] * M[1];
    for (int i = 0; i < 9; ++i) P[i] += pressure * Q[i % 3][i / 3];
  }
  if (g) {
    sn_cell_modes_from_stress(h, material->mu, P, q, dq);
    for (int m = 0; m < 3 && mean; ++m) {
      for (int i = 0; i < 3; ++i) dq[i][MODE[m]] += 2 * h * h * pressure * Q[3 + m][i];
    }
    sn_cell_from_modes(shape, dq, g);
  }
  return h * h * h * density + 4 * material->mu * h * hourglass;
}

// Add a function of J with these first two derivatives to the Hessian in the frames.
static void add_function_of_J(const double s[3], double first, double second, sn_law_point* law) {
  static const int BESIDE[3] = {4, 5, 3};
  double by[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
  for (int k = 0; k < 3; ++k) {
    law->stretch[k] += second * by[k] * by[k];
    law->stretch[BESIDE[k]] += second * by[(k + 1) % 3] * by[(k + 2) % 3] + first * s[k];
    law->shear[k] -= first * s[k];
    law->twist[k] += first * s[k];
  }
}

// Derivatives of a function of the mean of J, as far as they are not in the Hessian of the centre.
typedef struct mean_law {
  double first, second;
} mean_law;

static mean_law linearise(const sn_material* material, const double s[3], double J, sn_hessian kind,
                          sn_law_point* law) {
  bool mean = sn_law_measures_J(material->law), definite = kind == SN_HESSIAN_DEFINITE;
  sn_law_evaluate(material, s, mean ? SN_LAW_SHAPE : SN_LAW_WHOLE, law);
  if (!mean) {
    if (definite) sn_law_make_definite(law);
    return (mean_law){0, 0};
  }
  double M[3], bulk = sn_law_bulk(material);
  double lifted = fmin(bulk, SN_MOST_LIFTED_BULK * material->mu);
  sn_law_measure(material, J, M);
  double pressure = bulk * M[0] * M[1], curved = bulk * M[0] * M[2], square = M[1] * M[1];
  add_function_of_J(s, pressure, definite ? curved + lifted * square : 0, law);
  if (!definite) return (mean_law){pressure, curved + bulk * square};
  sn_law_make_definite(law);
  add_function_of_J(s, 0, (bulk - lifted) * square, law);
  return (mean_law){0, 0};
}

// g[m] += factor times a third of det[x y z] derived twice, where the three vectors have the numbers v
// and change by d
static void add_determinant(sn_vec3 x[6], sn_vec3 d[6], const int v[3], double factor,
                            sn_vec3 g[6]) {
  for (int i = 0; i < 3; ++i) {
    int j = v[(i + 1) % 3], k = v[(i + 2) % 3];
    sn_vec3 change = sn_add(sn_cross(d[j], x[k]), sn_cross(x[j], d[k]));
    g[v[i]] = sn_madd(g[v[i]], factor / 3, change);
  }
}

// Columns of F without I, and a of the hourglass modes.
static void get_vectors(double h, double q[3][8], sn_vec3 v[6]) {
  for (int j = 0; j < 3; ++j) {
    v[j] = sn_scale(2 / h, sn_v3(q[0][1 << j], q[1][1 << j], q[2][1 << j]));
    v[3 + j] = sn_scale(2 / h, sn_v3(q[0][MODE[j]], q[1][MODE[j]], q[2][MODE[j]]));
  }
}

// dq += what a function of the mean of J gives at the state `at` for the change `by`, beside the det of
// the centre.
static void add_mean_volume(double h, mean_law law, double at[3][8], double by[3][8],
                            double dq[3][8]) {
  static const int TRIPLES[3][3] = {{0, 3, 4}, {1, 5, 3}, {2, 4, 5}};
  double Q[6][3], along = 0;
  sn_vec3 x[6], d[6], g[6];
  sn_cell_mean_volume(h, at, Q);
  get_vectors(h, at, x);
  get_vectors(h, by, d);
  x[0].x += 1, x[1].y += 1, x[2].z += 1;
  for (int m = 0; m < 6; ++m) along += sn_dot(sn_load3(Q[m]), d[m]);
  for (int m = 0; m < 6; ++m) g[m] = sn_scale(law.second * along, sn_load3(Q[m]));
  for (int t = 0; t < 3; ++t) add_determinant(x, d, TRIPLES[t], law.first, g);
  for (int m = 0; m < 6; ++m) {
    double values[3];
    sn_store3(values, g[m]);
    for (int i = 0; i < 3; ++i) dq[i][m < 3 ? 1 << m : MODE[m - 3]] += 2 * h * h * values[i];
  }
}

// C <- A^T B, and A B^T
static void transposed_times(const double A[9], const double B[9], double C[9]) {
  for (int i = 0; i < 9; ++i) {
    C[i] = A[i / 3] * B[i % 3] + A[3 + i / 3] * B[3 + i % 3] + A[6 + i / 3] * B[6 + i % 3];
  }
}
static void times_transposed(const double A[9], const double B[9], double C[9]) {
  for (int i = 0; i < 9; ++i) {
    const double *a = A + 3 * (i / 3), *b = B + 3 * (i % 3);
    C[i] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  }
}

// dP for D, in the frames of F = U diag(s) V^T
static void multiply(const sn_law_point* law, const double U[9], const double V[9],
                     const double D[9], double P[9]) {
  static const int AT[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  double C[9], T[9], Vt[9], Ut[9];
  for (int i = 0; i < 9; ++i) {
    Ut[i] = U[3 * (i % 3) + i / 3];
    Vt[i] = V[3 * (i % 3) + i / 3];
  }
  transposed_times(U, D, T);
  times_transposed(T, Vt, C);
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    double sum = C[3 * i + j] + C[3 * j + i], difference = C[3 * i + j] - C[3 * j + i];
    T[3 * i + j] = 0.5 * (law->shear[k] * sum + law->twist[k] * difference);
    T[3 * j + i] = 0.5 * (law->shear[k] * sum - law->twist[k] * difference);
    T[4 * k] = 0;
    for (int l = 0; l < 3; ++l) T[4 * k] += law->stretch[AT[k][l]] * C[4 * l];
  }
  times_transposed(T, V, C);
  transposed_times(Ut, C, P);
}

void sn_law_cell_apply(sn_cell_shape shape, double h, const sn_material* material,
                       const double u[8][3], sn_hessian kind, const double p[8][3],
                       double y[8][3]) {
  double at[3][8], q[3][8], dq[3][8], D[9], F[9], U[9], s[3], V[9], P[9];
  sn_law_point law;
  sn_cell_to_modes(shape, u, at);
  sn_cell_gradient_from_modes(h, at, F);
  for (int i = 0; i < 9; i += 4) F[i] += 1;
  sn_svd3_d(F, U, s, V);
  mean_law mean = linearise(material, s, sn_cell_mean_volume(h, at, NULL), kind, &law);
  sn_cell_to_modes(shape, p, q);
  sn_cell_gradient_from_modes(h, q, D);
  multiply(&law, U, V, D, P);
  sn_cell_modes_from_stress(h, material->mu, P, q, dq);
  add_mean_volume(h, mean, at, q, dq);
  sn_cell_from_modes(shape, dq, y);
}
