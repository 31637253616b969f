#include "material/point.h"

#include "material/law.h"
#include "math/svd3.h"

// U A V^T
static void from_frame(const double U[9], const double A[9], const double V[9], double out[9]) {
  double UA[9];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      UA[3 * i + j] = U[3 * i] * A[j] + U[3 * i + 1] * A[3 + j] + U[3 * i + 2] * A[6 + j];
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      out[3 * i + j] =
          UA[3 * i] * V[3 * j] + UA[3 * i + 1] * V[3 * j + 1] + UA[3 * i + 2] * V[3 * j + 2];
    }
  }
}

static void transpose(const double A[9], double out[9]) {
  for (int i = 0; i < 9; ++i) out[i] = A[3 * (i % 3) + i / 3];
}

double sn_material_stress(const sn_material* material, const double F[9], double P[9]) {
  double U[9], s[3], V[9];
  sn_law_point point;
  sn_svd3_d(F, U, s, V);
  sn_law_evaluate(material, s, SN_LAW_WHOLE, &point);
  double A[9] = {point.stress[0], 0, 0, 0, point.stress[1], 0, 0, 0, point.stress[2]};
  from_frame(U, A, V, P);
  return point.energy;
}

void sn_material_differential(const sn_material* material, const double F[9], const double dF[9],
                              sn_hessian kind, double dP[9]) {
  double U[9], s[3], V[9], Ut[9], Vt[9], D[9], A[9];
  sn_law_point point;
  sn_svd3_d(F, U, s, V);
  sn_law_evaluate(material, s, SN_LAW_WHOLE, &point);
  if (kind == SN_HESSIAN_DEFINITE) sn_law_make_definite(&point);
  transpose(U, Ut);
  transpose(V, Vt);
  from_frame(Ut, dF, Vt, D);  // U^T dF V

  // The diagonal by the stretches, what is beside it by shear and twist.
  const double* W = point.stretch;
  A[0] = W[0] * D[0] + W[3] * D[4] + W[5] * D[8];
  A[4] = W[3] * D[0] + W[1] * D[4] + W[4] * D[8];
  A[8] = W[5] * D[0] + W[4] * D[4] + W[2] * D[8];
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3, ij = 3 * i + j, ji = 3 * j + i;
    double shear = point.shear[k] * (D[ij] + D[ji]) / 2,
           twist = point.twist[k] * (D[ij] - D[ji]) / 2;
    A[ij] = shear + twist;
    A[ji] = shear - twist;
  }
  from_frame(U, A, V, dP);
}
