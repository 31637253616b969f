// The body of corotated_cell.c, for SN_REAL. See corotated_cell.h for numbering and formulas.

// v_m <- sum_a s_m(a) v_a, in place: one butterfly a bit. Symmetric up to the order of the signs:
// its transpose is SN_P(walsh_transposed).
static void SN_P(walsh)(SN_REAL v[8]) {
  for (int bit = 1; bit < 8; bit *= 2) {
    for (int a = 0; a < 8; ++a) {
      if (a & bit) continue;
      SN_REAL low = v[a], high = v[a | bit];
      v[a] = low + high;
      v[a | bit] = high - low;
    }
  }
}

static void SN_P(walsh_transposed)(SN_REAL v[8]) {
  for (int bit = 1; bit < 8; bit *= 2) {
    for (int a = 0; a < 8; ++a) {
      if (a & bit) continue;
      SN_REAL constant = v[a], linear = v[a | bit];
      v[a] = constant - linear;
      v[a | bit] = constant + linear;
    }
  }
}

// q[axis][mode] of the displacements of the conforming corners.
static void SN_P(to_modes)(sn_cell_shape shape, const SN_REAL u[8][3], SN_REAL q[3][8]) {
  for (int i = 0; i < 3; ++i) {
    SN_REAL conforming[8];
    for (int a = 0; a < 8; ++a) conforming[a] = u[a][i];
    SN_P(sn_cell_conform_to_corner)(shape, conforming, q[i]);
    SN_P(walsh)(q[i]);
    for (int m = 0; m < 8; ++m) q[i][m] *= (SN_REAL)0.125;
  }
}

// Its transpose: dE/dq to dE/du.
static void SN_P(from_modes)(sn_cell_shape shape, SN_REAL dq[3][8], SN_REAL g[8][3]) {
  for (int i = 0; i < 3; ++i) {
    SN_REAL conforming[8];
    SN_P(walsh_transposed)(dq[i]);
    for (int a = 0; a < 8; ++a) dq[i][a] *= (SN_REAL)0.125;
    SN_P(sn_cell_corner_to_conform)(shape, dq[i], conforming);
    for (int a = 0; a < 8; ++a) g[a][i] = conforming[a];
  }
}

// Displacement gradient 2/h [q_1 q_2 q_4].
static void SN_P(gradient_from_modes)(SN_REAL h, SN_REAL q[3][8], SN_REAL D[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) D[3 * i + j] = 2 / h * q[i][1 << j];
  }
}

// dE/dq from the stress P over the volume h^3, and the hourglass springs.
static void SN_P(modes_from_stress)(const SN_P(sn_cell_material) * material, const SN_REAL P[9],
                                    SN_REAL q[3][8], SN_REAL dq[3][8]) {
  SN_REAL h = material->h;
  for (int i = 0; i < 3; ++i) {
    for (int m = 0; m < 8; ++m) {
      dq[i][m] = 8 * material->mu * h * (SN_REAL)HOURGLASS[m] * q[i][m];
    }
    for (int j = 0; j < 3; ++j) dq[i][1 << j] = 2 * h * h * P[3 * i + j];
  }
}

// R = U V^T
static void SN_P(rotation)(const SN_REAL U[9], const SN_REAL V[9], SN_REAL R[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      R[3 * i + j] =
          U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
    }
  }
}

void SN_P(sn_cell_deformation)(sn_cell_shape shape, SN_REAL h, const SN_REAL u[8][3],
                               SN_REAL F[9]) {
  SN_REAL q[3][8];
  SN_P(to_modes)(shape, u, q);
  SN_P(gradient_from_modes)(h, q, F);
  for (int i = 0; i < 9; i += 4) F[i] += 1;
}

SN_REAL SN_P(sn_cell_energy)(sn_cell_shape shape, const SN_P(sn_cell_material) * material,
                             const SN_REAL u[8][3]) {
  SN_REAL q[3][8], F[9], U[9], s[3], V[9], h = material->h;
  SN_P(to_modes)(shape, u, q);
  SN_P(gradient_from_modes)(h, q, F);
  for (int i = 0; i < 9; i += 4) F[i] += 1;
  SN_P(sn_svd3)(F, U, s, V);

  // mu |F - R|^2 + lambda/2 tr^2(S - I), both functions of the singular values alone
  SN_REAL shear = 0, stretch = 0;
  for (int k = 0; k < 3; ++k) {
    shear += (s[k] - 1) * (s[k] - 1);
    stretch += s[k] - 1;
  }
  SN_REAL density = material->mu * shear + material->lambda / 2 * stretch * stretch;

  SN_REAL hourglass = 0;
  for (int i = 0; i < 3; ++i) {
    for (int m = 3; m < 8; ++m) hourglass += (SN_REAL)HOURGLASS[m] * q[i][m] * q[i][m];
  }
  return h * h * h * density + 4 * material->mu * h * hourglass;
}

void SN_P(sn_cell_gradient)(sn_cell_shape shape, const SN_P(sn_cell_material) * material,
                            const SN_REAL u[8][3], SN_REAL g[8][3]) {
  SN_REAL q[3][8], dq[3][8], D[9], F[9], U[9], s[3], V[9], R[9], P[9];
  SN_P(to_modes)(shape, u, q);
  SN_P(gradient_from_modes)(material->h, q, D);
  for (int i = 0; i < 9; ++i) F[i] = D[i] + (i % 4 == 0);
  SN_P(sn_svd3)(F, U, s, V);
  SN_P(rotation)(U, V, R);

  // P = 2 mu (F - R) + lambda tr(S - I) R, with F - R formed as D + (I - R) so that it is exact at
  // rest
  SN_REAL pressure = material->lambda * ((s[0] - 1) + (s[1] - 1) + (s[2] - 1));
  for (int i = 0; i < 9; ++i) {
    P[i] = 2 * material->mu * (D[i] + ((i % 4 == 0) - R[i])) + pressure * R[i];
  }
  SN_P(modes_from_stress)(material, P, q, dq);
  SN_P(from_modes)(shape, dq, g);
}

void SN_P(sn_cell_linearise)(const SN_P(sn_cell_material) * material, const SN_REAL F[9],
                             SN_P(sn_cell_tangent) * tangent) {
  SN_REAL U[9], s[3], V[9];
  SN_P(sn_svd3)(F, U, s, V);
  SN_P(rotation)(U, V, tangent->R);

  // L = (lambda tr(S - I) - 2 mu) (tr(S) I - S)^-1: in the frame of V its k-th eigenvalue has the
  // sum of the other two singular values below. The Laplacian part adds mu, hence the clamp at -mu.
  SN_REAL numerator = material->lambda * ((s[0] - 1) + (s[1] - 1) + (s[2] - 1)) - 2 * material->mu;
  SN_REAL least = (SN_REAL)ROTATION_FLOOR * s[0] + (SN_REAL)1e-12;
  SN_REAL eigenvalue[2][3];
  for (int k = 0; k < 3; ++k) {
    SN_REAL sum = s[(k + 1) % 3] + s[(k + 2) % 3];
    SN_REAL value = numerator / (sum > least ? sum : least);
    eigenvalue[SN_HESSIAN_EXACT][k] = value;
    eigenvalue[SN_HESSIAN_DEFINITE][k] = value < -material->mu ? -material->mu : value;
  }
  static const int ROW[6] = {0, 1, 2, 0, 1, 0}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  for (int kind = 0; kind < 2; ++kind) {
    for (int e = 0; e < 6; ++e) {
      SN_REAL sum = 0;
      for (int k = 0; k < 3; ++k) {
        sum += eigenvalue[kind][k] * V[3 * ROW[e] + k] * V[3 * COLUMN[e] + k];
      }
      tangent->L[kind][e] = sum;
    }
  }
}

static void SN_P(symmetric_times)(const SN_REAL L[6], const SN_REAL w[3], SN_REAL out[3]) {
  out[0] = L[0] * w[0] + L[3] * w[1] + L[5] * w[2];
  out[1] = L[3] * w[0] + L[1] * w[1] + L[4] * w[2];
  out[2] = L[5] * w[0] + L[4] * w[1] + L[2] * w[2];
}

void SN_P(sn_cell_apply)(sn_cell_shape shape, const SN_P(sn_cell_material) * material,
                         const SN_P(sn_cell_tangent) * tangent, sn_hessian kind,
                         const SN_REAL p[8][3], SN_REAL y[8][3]) {
  SN_REAL q[3][8], dq[3][8], D[9], W[9], P[9];
  const SN_REAL* R = tangent->R;
  SN_P(to_modes)(shape, p, q);
  SN_P(gradient_from_modes)(material->h, q, D);

  // W = R^T dF; w is the axial vector of W - W^T, and l = L w
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      W[3 * i + j] = R[i] * D[j] + R[3 + i] * D[3 + j] + R[6 + i] * D[6 + j];
  }
  SN_REAL w[3] = {W[7] - W[5], W[2] - W[6], W[3] - W[1]}, l[3];
  SN_P(symmetric_times)(tangent->L[kind], w, l);

  // dP = 2 mu dF + R (lambda tr(W) I + [l]x)
  SN_REAL trace = material->lambda * (W[0] + W[4] + W[8]);
  SN_REAL A[9] = {trace, -l[2], l[1], l[2], trace, -l[0], -l[1], l[0], trace};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      P[3 * i + j] = 2 * material->mu * D[3 * i + j] + R[3 * i] * A[j] + R[3 * i + 1] * A[3 + j] +
                     R[3 * i + 2] * A[6 + j];
    }
  }
  SN_P(modes_from_stress)(material, P, q, dq);
  SN_P(from_modes)(shape, dq, y);
}

void SN_P(sn_cell_diagonal)(sn_cell_shape shape, const SN_P(sn_cell_material) * material,
                            const SN_P(sn_cell_tangent) * tangent, sn_hessian kind,
                            SN_REAL d[8][3]) {
  SN_REAL h = material->h, mu = material->mu;
  for (int b = 0; b < 8; ++b) {
    // The shape function of conforming corner b: its gradient g at the centre, its hourglass modes.
    SN_REAL unit[8] = {0}, q[8];
    unit[b] = 1;
    SN_P(sn_cell_conform_to_corner)(shape, unit, q);
    SN_P(walsh)(q);
    SN_REAL hourglass = 0;
    for (int m = 0; m < 8; ++m) {
      q[m] *= (SN_REAL)0.125;
      hourglass += 8 * mu * h * (SN_REAL)HOURGLASS[m] * q[m] * q[m];
    }
    SN_REAL g[3] = {2 / h * q[1], 2 / h * q[2], 2 / h * q[4]};
    SN_REAL laplace = 2 * mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);

    // dF = e_i g^T: tr(R^T dF) = r.g and w = g x r, with r the i-th row of R.
    for (int i = 0; i < 3; ++i) {
      const SN_REAL* r = tangent->R + 3 * i;
      SN_REAL trace = r[0] * g[0] + r[1] * g[1] + r[2] * g[2];
      SN_REAL w[3] = {g[1] * r[2] - g[2] * r[1], g[2] * r[0] - g[0] * r[2],
                      g[0] * r[1] - g[1] * r[0]};
      SN_REAL l[3];
      SN_P(symmetric_times)(tangent->L[kind], w, l);
      SN_REAL twist = w[0] * l[0] + w[1] * l[1] + w[2] * l[2];
      d[b][i] = h * h * h * (laplace + material->lambda * trace * trace + twist) + hourglass;
    }
  }
}
