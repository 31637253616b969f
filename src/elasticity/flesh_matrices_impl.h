// The matrices of eight cells at a time, as direct solvers want them. With T the 9 x 9 matrix that the
// definite Hessian is in the linear modes s_jk (axis j of the motion along axis k of the cell), and the
// signs s_k(p) of corner p,
//     K_pq[i][j] = sum over k, l of s_k(p) s_l(q) T[ik][jl]  + hourglass part, i = j.
// A lane that is mirrored along an axis has the signs of that axis turned; the hourglass part has not. Cells with
// rules of their own, while products are sharp, have the products of unit displacements instead.

// One number of the cells' tangents; 0 where there is no cell.
static inline sn_wide_f gather_tangent(const sn_flesh_work* work, const uint32_t places[LANES],
                                       int i) {
  sn_wide_f out;
  for (int lane = 0; lane < LANES; ++lane) {
    out[lane] = places[lane] == UINT32_MAX ? 0 : *sn_flesh_tangent(work, places[lane], i);
  }
  return out;
}

// T += x y^T, upper triangle
static inline void add_rank_one(const sn_wide_f x[9], const sn_wide_f y[9], sn_wide_f T[45]) {
  for (int i = 0, e = 0; i < 9; ++i) {
    for (int j = i; j < 9; ++j, ++e) T[e] = sn_wide_fma_f(x[i], y[j], T[e]);
  }
}

// a I + b R R^T + W^T L W with w = W s
static inline void tensor_of_corotated(const sn_flesh_work* work, const uint32_t places[LANES],
                                       sn_wide_f a, sn_wide_f T[45]) {
  sn_wide_f turn[4], R[9], scaled[9], L[6], W[3][9], LW[3][9], zero = sn_wide_set_f(0);
  sn_wide_f b = gather_tangent(work, places, SN_TANGENT_MATERIAL + 1);
  for (int i = 0; i < 4; ++i) turn[i] = gather_tangent(work, places, SN_TANGENT_TURN + i);
  rotation_of_f(turn, R);
  for (int i = 0; i < 9; ++i) scaled[i] = b * R[i];
  for (int i = 0; i < 6; ++i) L[i] = gather_tangent(work, places, SN_TANGENT_L + i);
  for (int i = 0; i < 3; ++i) {
    const sn_wide_f* r = R + 3 * i;
    sn_wide_f columns[3][3] = {{zero, -r[2], r[1]}, {r[2], zero, -r[0]}, {-r[1], r[0], zero}};
    for (int k = 0; k < 3; ++k) {
      sn_wide_f l[3];
      symmetric_product_f(L, columns[k], l);
      for (int n = 0; n < 3; ++n) W[n][3 * i + k] = columns[k][n], LW[n][3 * i + k] = l[n];
    }
  }
  for (int i = 0, e = 0; i < 9; ++i) {
    for (int j = i; j < 9; ++j, ++e) T[e] = i == j ? a : zero;
  }
  add_rank_one(R, scaled, T);
  for (int n = 0; n < 3; ++n) add_rank_one(W[n], LW[n], T);
}

// The Hessian in the frames, by the dyads u_i v_j
static inline void tensor_of_frames(const sn_flesh_work* work, const uint32_t places[LANES],
                                    sn_wide_f T[45]) {
  static const int AT[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  sn_wide_f U[9], V[9], H[12], dyads[3][3][9];
  for (int i = 0; i < 9; ++i) {
    U[i] = gather_tangent(work, places, SN_TANGENT_U + i);
    V[i] = gather_tangent(work, places, SN_TANGENT_V + i);
  }
  for (int i = 0; i < 12; ++i) H[i] = gather_tangent(work, places, SN_TANGENT_FRAMED + i);
  for (int i = 0; i < 81; ++i) {
    int row = i / 27, column = i / 9 % 3, e = i % 9;
    dyads[row][column][e] = U[3 * (e / 3) + row] * V[3 * (e % 3) + column];
  }
  for (int e = 0; e < 45; ++e) T[e] = sn_wide_set_f(0);
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    sn_wide_f sum[9], difference[9], x[9], y[9], stretch[9];
    for (int e = 0; e < 9; ++e) {
      sum[e] = dyads[i][j][e] + dyads[j][i][e];
      difference[e] = dyads[i][j][e] - dyads[j][i][e];
      x[e] = H[6 + k] * sum[e];
      y[e] = H[9 + k] * difference[e];
      stretch[e] = dot3_f(H[AT[k][0]], H[AT[k][1]], H[AT[k][2]], dyads[0][0][e], dyads[1][1][e],
                          dyads[2][2][e]);
    }
    add_rank_one(sum, x, T);
    add_rank_one(difference, y, T);
    add_rank_one(dyads[k][k], stretch, T);
  }
}

// T with the signs of mirrored axes turned, in full.
static inline void mirror_tensor(const uint8_t flips[LANES], const sn_wide_f T[45],
                                 sn_wide_f full[9][9]) {
  sn_wide_f sign[3];
  for (int k = 0; k < 3; ++k) {
    for (int lane = 0; lane < LANES; ++lane) sign[k][lane] = flips[lane] >> k & 1 ? -1 : 1;
  }
  for (int i = 0, e = 0; i < 9; ++i) {
    for (int j = i; j < 9; ++j, ++e) full[i][j] = full[j][i] = sign[i % 3] * sign[j % 3] * T[e];
  }
}

static void expand_matrices(const sn_wide_f full[9][9], const sn_wide_f h[2],
                            float K[36][9][LANES]) {
  // E[q][ik][j] = sum over l of s_l(q) T[ik][jl] for the corners with z = +1; the opposite ones have -E
  sn_wide_f E[4][9][3];
  for (int e = 0; e < 108; ++e) {
    int q = e / 27, row = e / 3 % 9, j = e % 3;
    sn_wide_f x = full[row][3 * j], y = full[row][3 * j + 1];
    E[q][row][j] = full[row][3 * j + 2] + (q & 1 ? x : -x) + (q & 2 ? y : -y);
  }
  for (int p = 0, pair = 0; p < 8; ++p) {
    for (int q = p; q < 8; ++q, ++pair) {
      int differ = p ^ q, c = q & 4 ? q & 3 : ~q & 3;
      int x = differ & 1, y = differ >> 1 & 1, z = differ >> 2;
      float turned = q & 4 ? 1 : -1, edges = (float)(3 - 2 * ((x ^ y) + (y ^ z) + (z ^ x)));
      sn_wide_f glass = sn_wide_set_f(edges) * h[0] + sn_wide_set_f(x ^ y ^ z ? -1 : 1) * h[1];
      sn_wide_f s[3];
      for (int k = 0; k < 3; ++k) s[k] = sn_wide_set_f(p >> k & 1 ? turned : -turned);
      for (int i = 0; i < 9; ++i) {
        const sn_wide_f(*at)[3] = E[c] + 3 * (i / 3);
        sn_wide_f sum = dot3_f(s[0], s[1], s[2], at[0][i % 3], at[1][i % 3], at[2][i % 3]);
        *(sn_wide_f*)K[pair][i] = i % 4 == 0 ? sum + glass : sum;
      }
    }
  }
}

// +1 or -1: the mode m of a cell at a corner.
static inline double mode_sign(int m, int corner) {
  return __builtin_popcount((unsigned)(m & ~corner)) % 2 ? -1 : 1;
}

// The matrix of one cell by the points of its rule: 24 products.
static void sharp_matrix(const sn_flesh* flesh, const sn_flesh_work* work, uint32_t number,
                         int flips, int lane, float K[36][9][LANES]) {
  for (int column = 0; column < 24; ++column) {
    int q = column / 3, j = column % 3;
    double s[3][8] = {{0}}, g[3][8];
    for (int m = 0; m < 8; ++m) s[j][m] = mode_sign(m, q ^ flips);
    multiply_cut(flesh, work, number, SN_HESSIAN_DEFINITE, s, g);
    for (int p = 0; p <= q; ++p) {
      for (int i = 0; i < 3; ++i) {
        double sum = 0;
        for (int m = 1; m < 8; ++m) sum += mode_sign(m, p ^ flips) * g[i][m];
        K[8 * p - p * (p + 1) / 2 + q][3 * i + j][lane] = (float)sum;
      }
    }
  }
}

static void cell_matrices(const sn_flesh* flesh, const sn_flesh_work* work,
                          const uint32_t cells[LANES], const uint8_t flips[LANES],
                          float K[36][9][LANES]) {
  uint32_t places[LANES];
  bool any = false;
  for (int lane = 0; lane < LANES; ++lane) {
    places[lane] = cells[lane] == UINT32_MAX ? UINT32_MAX : flesh->families->places[cells[lane]];
    any |= cells[lane] != UINT32_MAX;
  }
  if (!any) {
    memset(K, 0, 36 * sizeof *K);
    return;
  }
  sn_wide_f T[45], full[9][9], a = gather_tangent(work, places, SN_TANGENT_MATERIAL);
  sn_wide_f h[2] = {a * sn_wide_set_f((float)(flesh->hourglass * SN_HOURGLASS_EDGE)),
                    a * sn_wide_set_f((float)(flesh->hourglass * SN_HOURGLASS_CORNER))};
  if (flesh->form == SN_FORM_COROTATED) {
    tensor_of_corotated(work, places, a, T);
  } else {
    tensor_of_frames(work, places, T);
  }
  mirror_tensor(flips, T, full);
  expand_matrices((const sn_wide_f(*)[9])full, h, K);
  for (int lane = 0; lane < LANES && work->sharp; ++lane) {
    uint32_t number =
        cells[lane] == UINT32_MAX ? UINT32_MAX : sn_flesh_cut_number(flesh, cells[lane]);
    if (number != UINT32_MAX) sharp_matrix(flesh, work, number, flips[lane], lane, K);
  }
}
