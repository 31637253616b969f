// Rotations of matrices that are not far from one, by Newton's method, for all lanes at once, static, for
// SN_REAL; after svd3_wide_impl.h. See docs/theory/kernels.md, "Rotations".

// Of the determinant of G over the cube of its trace, which is 1/27 at rest: below, another rotation is nearly as
// good and found by the full decomposition.
#ifndef SN_POLAR_MARGIN
#define SN_POLAR_MARGIN 1e-4
#endif

static inline void SN_P(cross)(const WIDE a[3], const WIDE b[3], WIDE out[3]) {
  for (int j = 0; j < 3; ++j) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    out[j] = FMA(a[k], b[l], -(a[l] * b[k]));
  }
}

// Rows 0 and 1 of R made orthonormal, row 2 their cross product.
static inline void SN_P(orthonormalise)(WIDE R[9]) {
  WIDE one = SET(1), a = one / SQRT(SN_P(dot3)(R[0], R[1], R[2], R[0], R[1], R[2]));
  for (int j = 0; j < 3; ++j) R[j] *= a;
  WIDE along = SN_P(dot3)(R[0], R[1], R[2], R[3], R[4], R[5]);
  for (int j = 0; j < 3; ++j) R[3 + j] -= along * R[j];
  WIDE b = one / SQRT(SN_P(dot3)(R[3], R[4], R[5], R[3], R[4], R[5]));
  for (int j = 0; j < 3; ++j) R[3 + j] *= b;
  SN_P(cross)(R, R + 3, R + 6);
}

typedef struct SN_P(polar_step) {
  WIDE size;  // |w|^2
  MASK best;  // the rotation that it leads to has the largest tr(R^T F) of all, clearly
} SN_P(polar_step);

// One step towards the rotation of F in the lanes `where`; others stay. R <- R C(w) with G w = axial(S), G = tr(S) I - S, S = R^T F, and Cayley's
// rotation C by 2 atan |w / 2| around w. What is left of a small w is of its third power.
static inline SN_P(polar_step) SN_P(turn_to_polar)(const WIDE F[9], MASK where, WIDE R[9]) {
  WIDE S[9], half = SET((SN_REAL)0.5), one = SET(1), zero = SET(0);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      S[3 * i + j] = SN_P(dot3)(R[i], R[3 + i], R[6 + i], F[j], F[3 + j], F[6 + j]);
    }
  }
  WIDE a[3] = {S[7] - S[5], S[2] - S[6], S[3] - S[1]};
  // of the symmetric G the adjugate, over the determinant, times half of a
  WIDE g00 = S[4] + S[8], g11 = S[0] + S[8], g22 = S[0] + S[4];
  WIDE g01 = -(half * (S[1] + S[3])), g02 = -(half * (S[2] + S[6])), g12 = -(half * (S[5] + S[7]));
  WIDE c00 = FMA(g11, g22, -(g12 * g12)), c11 = FMA(g00, g22, -(g02 * g02));
  WIDE c22 = FMA(g00, g11, -(g01 * g01)), c01 = FMA(g02, g12, -(g01 * g22));
  WIDE c02 = FMA(g01, g12, -(g02 * g11)), c12 = FMA(g01, g02, -(g00 * g12));
  WIDE determinant = SN_P(dot3)(g00, g01, g02, c00, c01, c02), scale = half / determinant;
  WIDE v[3] = {scale * SN_P(dot3)(c00, c01, c02, a[0], a[1], a[2]),
               scale * SN_P(dot3)(c01, c11, c12, a[0], a[1], a[2]),
               scale * SN_P(dot3)(c02, c12, c22, a[0], a[1], a[2])};
  for (int i = 0; i < 3; ++i) v[i] = SN_P(sn_wide_keep)(where, v[i]);
  WIDE square = SN_P(dot3)(v[0], v[1], v[2], v[0], v[1], v[2]), k = SET(2) / (one + square);
  for (int i = 0; i < 9; i += 3) {  // a row r times [v] is r x v
    WIDE t1[3], t2[3];
    SN_P(cross)(R + i, v, t1);
    SN_P(cross)(t1, v, t2);
    for (int j = 0; j < 3; ++j) R[i + j] = FMA(k, t1[j] + t2[j], R[i + j]);
  }
  WIDE sum = g00 + g11 + g22;
  MASK best =
      (g00 > zero) & (c22 > zero) & (determinant > SET((SN_REAL)SN_POLAR_MARGIN) * sum * sum * sum);
  return (SN_P(polar_step)){SET(4) * square, best};
}
