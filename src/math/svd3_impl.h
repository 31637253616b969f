// The body of svd3.c, for SN_REAL. See svd3.h.

#if SN_REAL_IS_DOUBLE
#define SQRT sqrt
#define ABS fabs
#define ROUND_OFF DBL_EPSILON
#define SAFE_LOW 1e-100
#define SAFE_HIGH 1e100
#else
#define SQRT sqrtf
#define ABS fabsf
#define ROUND_OFF FLT_EPSILON
#define SAFE_LOW 1e-12f
#define SAFE_HIGH 1e12f
#endif

static SN_REAL SN_P(column_dot)(const SN_REAL A[9], int p, int q) {
  return A[p] * A[q] + A[3 + p] * A[3 + q] + A[6 + p] * A[6 + q];
}

static void SN_P(rotate_columns)(SN_REAL A[9], int p, int q, SN_REAL c, SN_REAL s) {
  for (int i = 0; i < 9; i += 3) {
    SN_REAL a = A[i + p], b = A[i + q];
    A[i + p] = c * a - s * b;
    A[i + q] = s * a + c * b;
  }
}

// Make columns p and q of B orthogonal by a rotation, done to V as well. False if they were.
static int SN_P(orthogonalise)(SN_REAL B[9], SN_REAL V[9], int p, int q) {
  SN_REAL alpha = SN_P(column_dot)(B, p, p);
  SN_REAL beta = SN_P(column_dot)(B, q, q);
  SN_REAL gamma = SN_P(column_dot)(B, p, q);
  if (ABS(gamma) <= ROUND_OFF * SQRT(alpha) * SQRT(beta)) return 0;
  // Angle of the smaller rotation that zeroes gamma: t^2 + 2 zeta t - 1 = 0.
  SN_REAL zeta = (beta - alpha) / (2 * gamma);
  SN_REAL t = (zeta < 0 ? -1 : 1) / (ABS(zeta) + SQRT(1 + zeta * zeta));
  SN_REAL c = 1 / SQRT(1 + t * t);
  SN_P(rotate_columns)(B, p, q, c, c * t);
  SN_P(rotate_columns)(V, p, q, c, c * t);
  return 1;
}

// Exchange two columns and turn one round: a rotation by 90 degrees, so det V stays 1.
static void SN_P(order_columns)(SN_REAL B[9], SN_REAL V[9], int p, int q) {
  if (SN_P(column_dot)(B, p, p) >= SN_P(column_dot)(B, q, q)) return;
  SN_P(rotate_columns)(B, p, q, 0, -1);
  SN_P(rotate_columns)(V, p, q, 0, -1);
}

// a - (a.u) u, normalised, into out; false if nothing is left of it.
static int SN_P(normal_part)(const SN_REAL a[3], const SN_REAL u[3], SN_REAL floor_length,
                             SN_REAL out[3]) {
  SN_REAL along = a[0] * u[0] + a[1] * u[1] + a[2] * u[2];
  for (int i = 0; i < 3; ++i) out[i] = a[i] - along * u[i];
  SN_REAL length = SQRT(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
  if (!(length > floor_length)) return 0;
  for (int i = 0; i < 3; ++i) out[i] /= length;
  // Once more: what is small may have lost its angle to u in the subtraction.
  along = out[0] * u[0] + out[1] * u[1] + out[2] * u[2];
  for (int i = 0; i < 3; ++i) out[i] -= along * u[i];
  length = SQRT(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
  for (int i = 0; i < 3; ++i) out[i] /= length;
  return 1;
}

static void SN_P(get_column)(const SN_REAL A[9], int column, SN_REAL out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = A[3 * i + column];
}

// Where the least rotation that takes v0 to u0 takes v1:  v1 - (v1.u0) / (1 + v0.u0) (v0 + u0).
static void SN_P(follow)(const SN_REAL V[9], const SN_REAL u0[3], SN_REAL u1[3]) {
  SN_REAL v0[3], v1[3], turned[3];
  SN_P(get_column)(V, 0, v0);
  SN_P(get_column)(V, 1, v1);
  SN_REAL along = v1[0] * u0[0] + v1[1] * u0[1] + v1[2] * u0[2];
  SN_REAL opening = 1 + v0[0] * u0[0] + v0[1] * u0[1] + v0[2] * u0[2];
  // Close to half a turn the quotient is lost; v1 may be the axis.
  SN_REAL share = opening > 64 * ROUND_OFF ? along / opening : 0;
  for (int i = 0; i < 3; ++i) turned[i] = v1[i] - share * (v0[i] + u0[i]);
  SN_P(normal_part)(turned, u0, 0, u1);
}

// Orthonormal u0, u1, u2 = u0 x u1 from the orthogonal, ordered columns of B = F V.
static void SN_P(left_vectors)(const SN_REAL B[9], const SN_REAL V[9], SN_REAL U[9]) {
  SN_REAL b0[3], b1[3], u[3][3];
  SN_P(get_column)(B, 0, b0);
  SN_P(get_column)(B, 1, b1);
  SN_REAL length = SQRT(SN_P(column_dot)(B, 0, 0));
  for (int i = 0; i < 3; ++i) u[0][i] = b0[i] / length;
  if (!SN_P(normal_part)(b1, u[0], 2 * ROUND_OFF * length, u[1])) SN_P(follow)(V, u[0], u[1]);
  u[2][0] = u[0][1] * u[1][2] - u[0][2] * u[1][1];
  u[2][1] = u[0][2] * u[1][0] - u[0][0] * u[1][2];
  u[2][2] = u[0][0] * u[1][1] - u[0][1] * u[1][0];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) U[3 * i + k] = u[k][i];
  }
}

void SN_P(sn_svd3)(const SN_REAL F[9], SN_REAL U[9], SN_REAL s[3], SN_REAL V[9]) {
  SN_REAL largest = 0;
  for (int i = 0; i < 9; ++i) {
    V[i] = i % 4 == 0;
    if (ABS(F[i]) > largest) largest = ABS(F[i]);
  }
  if (largest == 0) {
    for (int i = 0; i < 9; ++i) U[i] = V[i];
    s[0] = s[1] = s[2] = 0;
    return;
  }

  // Squares must neither overflow nor vanish.
  SN_REAL scale = largest < SAFE_LOW || largest > SAFE_HIGH ? largest : 1;
  SN_REAL B[9];
  for (int i = 0; i < 9; ++i) B[i] = F[i] / scale;

  // Converges quadratically: 3 to 6 sweeps; the limit only guards against a cycle at round-off.
  for (int sweep = 0; sweep < 16; ++sweep) {
    int turned = SN_P(orthogonalise)(B, V, 0, 1);
    turned |= SN_P(orthogonalise)(B, V, 0, 2);
    turned |= SN_P(orthogonalise)(B, V, 1, 2);
    if (!turned) break;
  }
  SN_P(order_columns)(B, V, 0, 1);
  SN_P(order_columns)(B, V, 0, 2);
  SN_P(order_columns)(B, V, 1, 2);

  SN_P(left_vectors)(B, V, U);
  for (int k = 0; k < 3; ++k) {
    s[k] = scale * (U[k] * B[k] + U[3 + k] * B[3 + k] + U[6 + k] * B[6 + k]);
  }
  // Equal values, and those that are nothing but round-off, may have come out of order.
  if (s[1] > s[0]) s[1] = s[0];
  if (s[1] < 0) s[1] = 0;
  if (ABS(s[2]) > s[1]) s[2] = s[2] < 0 ? -s[1] : s[1];
}

#undef SQRT
#undef ABS
#undef ROUND_OFF
#undef SAFE_LOW
#undef SAFE_HIGH
