// svd3_impl.h for all lanes at once, static, for SN_REAL. Lanes that are close to singular go through
// the plain decomposition, one by one.
//
//     R = U V^T,  F = U diag(s) V^T,  s0 >= s1 >= |s2|

#define WIDE SN_P(sn_wide)
#define MASK SN_P(sn_mask)
#define FMA SN_P(sn_wide_fma)
#define SET SN_P(sn_wide_set)
#define SELECT SN_P(sn_wide_select)
#define SQRT SN_P(sn_wide_sqrt)

static inline WIDE SN_P(dot3)(WIDE ax, WIDE ay, WIDE az, WIDE bx, WIDE by, WIDE bz) {
  return FMA(ax, bx, FMA(ay, by, az * bz));
}

static inline WIDE SN_P(columns_dot)(const WIDE A[9], int p, int q) {
  return SN_P(dot3)(A[p], A[3 + p], A[6 + p], A[q], A[3 + q], A[6 + q]);
}

static inline void SN_P(turn_columns)(WIDE A[9], int p, int q, WIDE c, WIDE s) {
  for (int i = 0; i < 9; i += 3) {
    WIDE a = A[i + p], b = A[i + q];
    A[i + p] = FMA(c, a, -(s * b));
    A[i + q] = FMA(s, a, c * b);
  }
}

// Make columns p and q of B orthogonal by a rotation, done to V as well. Which lanes were not?
static inline MASK SN_P(make_orthogonal)(WIDE B[9], WIDE V[9], int p, int q) {
  // Columns at right angles to this squared cosine are left; Jacobi's convergence is quadratic, so what
  // is left after the sweep before is far less.
  const SN_REAL round_off = sizeof(SN_REAL) == sizeof(double) ? (SN_REAL)4.9e-32 : (SN_REAL)1e-12;
  WIDE zero = SET(0), one = SET(1);
  WIDE alpha = SN_P(columns_dot)(B, p, p), beta = SN_P(columns_dot)(B, q, q);
  WIDE gamma = SN_P(columns_dot)(B, p, q);
  MASK turn = gamma * gamma > SET(round_off) * alpha * beta;
  if (!SN_P(sn_mask_any)(turn)) return turn;
  // The smaller rotation that zeroes gamma: tan = 2 gamma sign(d) / (|d| + sqrt(d^2 + 4 gamma^2))
  WIDE d = beta - alpha, twice = gamma + gamma;
  MASK negative = d < zero;
  WIDE size = SELECT(negative, -d, d);
  WIDE below = size + SQRT(FMA(d, d, twice * twice));
  WIDE t = SN_P(sn_wide_keep)(turn, SELECT(negative, -twice, twice)) / SELECT(turn, below, one);
  WIDE c = one / SQRT(FMA(t, t, one));
  SN_P(turn_columns)(B, p, q, c, c * t);
  SN_P(turn_columns)(V, p, q, c, c * t);
  return turn;
}

// Exchange two columns where the first is shorter, and turn one round, so that det V stays 1.
static inline void SN_P(sort_columns)(WIDE B[9], WIDE V[9], int p, int q) {
  MASK shorter = SN_P(columns_dot)(B, p, p) < SN_P(columns_dot)(B, q, q);
  for (int i = 0; i < 9; i += 3) {
    WIDE b = B[i + p], v = V[i + p];
    B[i + p] = SELECT(shorter, B[i + q], b);
    B[i + q] = SELECT(shorter, -b, B[i + q]);
    V[i + p] = SELECT(shorter, V[i + q], v);
    V[i + q] = SELECT(shorter, -v, V[i + q]);
  }
}

// U: the directions of the first two columns of B = U diag(s), and their cross product. Which lanes are close to
// singular?
static inline MASK SN_P(finish_frames)(const WIDE B[9], WIDE U[9], WIDE s[3]) {
  // Outside these bounds squares might vanish or overflow; between the columns' lengths, cancel.
  const SN_REAL low = sizeof(SN_REAL) == sizeof(double) ? (SN_REAL)1e-100 : (SN_REAL)1e-12;
  const SN_REAL flat = sizeof(SN_REAL) == sizeof(double) ? (SN_REAL)1e-26 : (SN_REAL)1e-10;
  WIDE one = SET(1);
  WIDE square0 = SN_P(columns_dot)(B, 0, 0), square1 = SN_P(columns_dot)(B, 1, 1);
  MASK usual = (square1 > SET(flat) * square0) & (square0 > SET(low) * SET(low)) &
               (square0 < SET(1 / low) * SET(1 / low));
  s[0] = SQRT(square0);
  s[1] = SQRT(square1);
  WIDE a = one / s[0], b = one / s[1];
  for (int i = 0; i < 9; i += 3) {
    U[i] = B[i] * a;
    U[i + 1] = B[i + 1] * b;
  }
  for (int i = 0; i < 3; ++i) {
    int j = 3 * ((i + 1) % 3), k = 3 * ((i + 2) % 3);
    U[3 * i + 2] = FMA(U[j], U[k + 1], -(U[k] * U[j + 1]));
  }
  s[2] = SN_P(dot3)(U[2], U[5], U[8], B[2], B[5], B[8]);
  return ~usual;
}

typedef struct SN_P(frames) {
  WIDE F[9], U[9], s[3], V[9];
} SN_P(frames);

// One lane by the plain decomposition.
static void SN_P(find_frames_of_lane)(int lane, SN_P(frames) * frames) {
  SN_REAL f[9], u[9], sigma[3], v[9];
  for (int i = 0; i < 9; ++i) f[i] = frames->F[i][lane];
  SN_P(sn_svd3)(f, u, sigma, v);
  for (int i = 0; i < 9; ++i) {
    frames->U[i][lane] = u[i];
    frames->V[i][lane] = v[i];
  }
  for (int i = 0; i < 3; ++i) frames->s[i][lane] = sigma[i];
}

// Of one or two sets of lanes: each rotation waits for the one before, and meanwhile the other set is turned. `V`
// comes in as a rotation to start from, the nearer the better.
__attribute__((always_inline)) static inline void SN_P(find_frames_of)(int count,
                                                                       SN_P(frames) * frames) {
  WIDE B[2][9];
  for (int n = 0; n < count; ++n) {
    for (int i = 0; i < 9; ++i) {
      const WIDE *row = frames[n].F + i / 3 * 3, *column = frames[n].V + i % 3;
      B[n][i] = SN_P(dot3)(row[0], row[1], row[2], column[0], column[3], column[6]);
    }
  }
  for (int sweep = 0; sweep < 16; ++sweep) {
    MASK turned = {0};
    for (int n = 0; n < count; ++n) turned |= SN_P(make_orthogonal)(B[n], frames[n].V, 0, 1);
    for (int n = 0; n < count; ++n) turned |= SN_P(make_orthogonal)(B[n], frames[n].V, 0, 2);
    for (int n = 0; n < count; ++n) turned |= SN_P(make_orthogonal)(B[n], frames[n].V, 1, 2);
    if (!SN_P(sn_mask_any)(turned)) break;
  }
  for (int n = 0; n < count; ++n) {
    SN_P(sort_columns)(B[n], frames[n].V, 0, 1);
    SN_P(sort_columns)(B[n], frames[n].V, 0, 2);
    SN_P(sort_columns)(B[n], frames[n].V, 1, 2);
    MASK singular = SN_P(finish_frames)(B[n], frames[n].U, frames[n].s);
    if (!SN_P(sn_mask_any)(singular)) continue;
    for (int lane = 0; lane < SN_P(SN_LANES); ++lane) {
      if (singular[lane]) SN_P(find_frames_of_lane)(lane, &frames[n]);
    }
  }
}

static inline void SN_P(decompose)(const WIDE F[9], WIDE R[9], WIDE V[9]) {
  SN_P(frames) frames;
  for (int i = 0; i < 9; ++i) {
    frames.F[i] = F[i];
    frames.V[i] = SET(i % 4 == 0);
  }
  SN_P(find_frames_of)(1, &frames);
  for (int i = 0; i < 9; ++i) {
    const WIDE *u = frames.U + i / 3 * 3, *v = frames.V + i % 3 * 3;
    R[i] = SN_P(dot3)(u[0], u[1], u[2], v[0], v[1], v[2]);
    V[i] = frames.V[i];
  }
}
