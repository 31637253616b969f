// The definite part of a law's second derivative: A + sum of max(-d_k, 0) q_k q_k^T, where d_k and q_k
// are the eigenvalues and eigenvectors of A, found by Jacobi's rotations.

// One rotation in the plane of axes p and q (r is the third), which makes A_pq vanish:
//     tan = 2 A_pq sign(d) / (|d| + sqrt(d^2 + 4 A_pq^2)),   d = A_qq - A_pp
// A is 00 11 22 and the entry beside each axis; columns of Q turn along.
static inline void SN_P(turn_plane)(WIDE diagonal[3], WIDE beside[3], WIDE Q[9], int p, int q) {
  int r = 3 - p - q;
  WIDE zero = NUMBER(0), one = NUMBER(1);
  WIDE d = diagonal[q] - diagonal[p], twice = beside[r] + beside[r];
  WIDE size = SELECT(d < zero, -d, d), below = size + SQRT(d * d + twice * twice);
  WIDE t = SELECT(d < zero, -twice, twice) / SELECT(below > zero, below, one);
  WIDE c = one / SQRT(t * t + one), s = c * t;
  diagonal[p] -= t * beside[r];
  diagonal[q] += t * beside[r];
  beside[r] = zero;
  WIDE a = beside[q], b = beside[p];  // A_pr, A_qr
  beside[q] = c * a - s * b;
  beside[p] = s * a + c * b;
  for (int i = 0; i < 9; i += 3) {
    a = Q[i + p], b = Q[i + q];
    Q[i + p] = c * a - s * b;
    Q[i + q] = s * a + c * b;
  }
}

// Lift the negative eigenvalues of a symmetric matrix 00 11 22 01 12 02 to zero.
static inline void SN_P(lift_stretch)(WIDE A[6]) {
  WIDE zero = NUMBER(0), one = NUMBER(1), largest = NUMBER(0);
  // Scaled, so that products neither vanish nor overflow.
  for (int e = 0; e < 6; ++e) {
    WIDE size = SELECT(A[e] < zero, -A[e], A[e]);
    largest = SELECT(size > largest, size, largest);
  }
  WIDE scale = one / SELECT(largest > zero, largest, one);
  WIDE diagonal[3] = {A[0] * scale, A[1] * scale, A[2] * scale};
  WIDE beside[3] = {A[4] * scale, A[5] * scale, A[3] * scale};

  // Sylvester: definite if all leading minors are positive.
  WIDE minor = diagonal[0] * diagonal[1] - beside[2] * beside[2];
  WIDE det = diagonal[2] * minor - diagonal[0] * beside[0] * beside[0] -
             diagonal[1] * beside[1] * beside[1] + (beside[0] + beside[0]) * beside[1] * beside[2];
  MASK lift = (diagonal[0] <= zero) | (minor <= zero) | (det <= zero);
  if (!ANY(lift)) return;

  WIDE Q[9] = {one, zero, zero, zero, one, zero, zero, zero, one};
  // Convergence is quadratic: after so many sweeps what is left is below round-off.
  for (int sweep = 0; sweep < (sizeof(SN_REAL) == sizeof(double) ? 6 : 5); ++sweep) {
    SN_P(turn_plane)(diagonal, beside, Q, 0, 1);
    SN_P(turn_plane)(diagonal, beside, Q, 0, 2);
    SN_P(turn_plane)(diagonal, beside, Q, 1, 2);
  }
  static const int ROW[6] = {0, 1, 2, 0, 1, 0}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 3; ++k) {
    diagonal[k] = SELECT(diagonal[k] < zero, -diagonal[k], zero) * largest;
  }
  for (int e = 0; e < 6; ++e) {
    const WIDE *a = Q + 3 * ROW[e], *b = Q + 3 * COLUMN[e];
    WIDE more = diagonal[0] * a[0] * b[0] + diagonal[1] * a[1] * b[1] + diagonal[2] * a[2] * b[2];
    A[e] = SELECT(lift, A[e] + more, A[e]);
  }
}

// The nearest second derivative without negative eigenvalues. What has none is left as it is.
static inline void SN_P(sn_law_make_definite)(SN_P(sn_law_point) * point) {
  WIDE zero = NUMBER(0);
  SN_P(lift_stretch)(point->stretch);
  for (int k = 0; k < 3; ++k) {
    point->shear[k] = SELECT(point->shear[k] < zero, zero, point->shear[k]);
    point->twist[k] = SELECT(point->twist[k] < zero, zero, point->twist[k]);
  }
}
