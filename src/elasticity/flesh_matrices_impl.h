// The matrices of eight cells at a time, as direct solvers want them. With T the 9 x 9 matrix that the
// definite Hessian is in the linear modes s_jk (axis j of the motion along axis k of the cell), and the
// signs s_k(p) of corner p,
//     K_pq[i][j] = sum over k, l of s_k(p) s_l(q) T[ik][jl]  + hourglass part, i = j.
// A lane that is mirrored along an axis has the signs of that axis turned; the hourglass part has not. Cells with
// rules of their own, while products are sharp, have T at every point instead, with the shape functions' slopes
// there; first between all modes but the rigid ones, then between corners.

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

// The Hessian H in the frames, by the dyads u_i v_j
static inline void tensor_of_frames(const sn_wide_f U[9], const sn_wide_f V[9],
                                    const sn_wide_f H[12], sn_wide_f T[45]) {
  static const int AT[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  sn_wide_f dyads[3][3][9];
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

static inline void tensor_of_law(const sn_flesh_work* work, const uint32_t places[LANES],
                                 sn_wide_f T[45]) {
  sn_wide_f turns[8], U[9], V[9], H[12];
  for (int i = 0; i < 8; ++i) turns[i] = gather_tangent(work, places, SN_TANGENT_U + i);
  rotation_of_f(turns, U);
  rotation_of_f(turns + 4, V);
  for (int i = 0; i < 12; ++i) H[i] = gather_tangent(work, places, SN_TANGENT_FRAMED + i);
  tensor_of_frames(U, V, H, T);
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

// Cells with rules of their own, eight at a time, and what their points have, lane by lane: none has the weight 0.
typedef struct cut_lanes_at {
  cut_cell cells[LANES];
  const sn_point_tangents* tangents[LANES];  // NULL: not such a cell
} cut_lanes_at;

typedef struct wide_point {
  sn_wide_f weight, eta[3], U[9], V[9], H[SN_HESSIAN_NUMBERS_FRAMES], beside[3];
} wide_point;

static void gather_point(const cut_lanes_at* at, int point, wide_point* to) {
  int q = point / SN_GROUP_POINTS, p = point % SN_GROUP_POINTS;
  memset(to, 0, sizeof *to);
  for (int l = 0; l < LANES; ++l) {
    if (!at->tangents[l] || q >= at->cells[l].count) continue;
    const sn_point_group* group = &at->cells[l].groups[q];
    const sn_point_tangents* t = &at->tangents[l][q];
    float w = (float)group->weights[p];
    to->weight[l] = w;
    for (int i = 0; i < 3; ++i) {
      to->eta[i][l] = (float)group->places[i][p];
      to->beside[i][l] = w * t->beside[i][p];
    }
    for (int i = 0; i < 9; ++i) {
      to->U[i][l] = t->U[i][p];
      to->V[i][l] = t->V[i][p];
    }
    for (int i = 0; i < SN_HESSIAN_NUMBERS_FRAMES; ++i) {
      to->H[i][l] = w * t->hessian[SN_HESSIAN_DEFINITE][i][p];
    }
  }
}

// Modes 1 to 7 of each axis in turn.
#define CUT_MODES 21

// What has slopes v[axis][k] along k has these in the modes, whose slopes at a point are those above.
static inline void slopes_to_modes(const sn_wide_f eta[3], const sn_wide_f v[3], sn_wide_f m[7]) {
  sn_wide_f x = eta[0], y = eta[1], z = eta[2];
  m[0] = v[0];
  m[1] = v[1];
  m[2] = sn_wide_fma_f(y, v[0], x * v[1]);
  m[3] = v[2];
  m[4] = sn_wide_fma_f(z, v[0], x * v[2]);
  m[5] = sn_wide_fma_f(z, v[1], y * v[2]);
  m[6] = sn_wide_fma_f(y * z, v[0], sn_wide_fma_f(x * z, v[1], x * y * v[2]));
}

// M += what a point gives, upper triangle; volume += its part of how what measures volume changes with the modes.
static void add_point_modes(const wide_point* at, sn_wide_f M[CUT_MODES][CUT_MODES],
                            sn_wide_f volume[CUT_MODES]) {
  sn_wide_f T[45], full[9][9], half[9][CUT_MODES], B[9], modes[7];
  tensor_of_frames(at->U, at->V, at->H, T);
  for (int i = 0, e = 0; i < 9; ++i) {
    for (int j = i; j < 9; ++j, ++e) full[i][j] = full[j][i] = T[e];
  }
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 3; ++j) slopes_to_modes(at->eta, full[i] + 3 * j, half[i] + 7 * j);
    const sn_wide_f *u = at->U + i / 3 * 3, *v = at->V + i % 3 * 3;
    B[i] =
        dot3_f(u[0] * v[0], u[1] * v[1], u[2] * v[2], at->beside[0], at->beside[1], at->beside[2]);
  }
  for (int i = 0; i < 3; ++i) {
    for (int column = 7 * i; column < CUT_MODES; ++column) {
      const sn_wide_f v[3] = {half[3 * i][column], half[3 * i + 1][column],
                              half[3 * i + 2][column]};
      slopes_to_modes(at->eta, v, modes);
      for (int m = 0; m < 7 && 7 * i + m <= column; ++m) M[7 * i + m][column] += modes[m];
    }
    slopes_to_modes(at->eta, B + 3 * i, modes);
    for (int m = 0; m < 7; ++m) volume[7 * i + m] += modes[m];
  }
}

// K of these cells between all modes but the rigid ones.
static void cut_modes(const sn_flesh* flesh, const cut_lanes_at* at,
                      sn_wide_f M[CUT_MODES][CUT_MODES]) {
  sn_wide_f volume[CUT_MODES], share = sn_wide_set_f(0), bulk = share, hourglass = share;
  memset(volume, 0, sizeof volume);
  memset(M, 0, CUT_MODES * sizeof *M);
  for (int point = 0; point < MOST_GROUPS * SN_GROUP_POINTS; ++point) {
    wide_point p;
    gather_point(at, point, &p);
    if (!sn_mask_any_f(p.weight > sn_wide_set_f(0))) continue;
    add_point_modes(&p, M, volume);
    share += p.weight;
  }
  for (int l = 0; l < LANES; ++l) {
    if (!at->tangents[l]) continue;
    bulk[l] = (float)bulk_of(at->tangents[l], SN_HESSIAN_DEFINITE) / share[l];
    hourglass[l] = at->tangents[l]->hourglass;
  }
  for (int i = 0; i < CUT_MODES; ++i) {
    int mode = 1 + i % 7;
    double k = flesh->hourglass * (mode == 7 ? SN_HOURGLASS_CORNER : SN_HOURGLASS_EDGE);
    if (mode & (mode - 1)) M[i][i] += sn_wide_set_f((float)k) * hourglass;
    sn_wide_f scaled = bulk * volume[i];
    for (int j = i; j < CUT_MODES; ++j) {
      M[j][i] = M[i][j] = sn_wide_fma_f(scaled, volume[j], M[i][j]);
    }
  }
}

// y_p = sum over the modes m of s_m(p) x_m at the corners p; modes are products of the axes' signs.
static inline void modes_to_corners(const sn_wide_f x[7], sn_wide_f y[8]) {
  y[0] = sn_wide_set_f(0);
  memcpy(y + 1, x, 7 * sizeof *x);
  for (int bit = 1; bit < 8; bit *= 2) {
    for (int p = 0; p < 8; ++p) {
      if (p & bit) continue;
      sn_wide_f low = y[p], high = y[p | bit];
      y[p] = low - high;
      y[p | bit] = low + high;
    }
  }
}

// From modes to pairs of corners, mirrored.
static void expand_modes(const uint8_t flips[LANES], sn_wide_f M[CUT_MODES][CUT_MODES],
                         float K[36][9][LANES]) {
  sn_wide_f sign[8], half[CUT_MODES][3][8];
  for (int m = 0; m < 8; ++m) {
    for (int l = 0; l < LANES; ++l) sign[m][l] = __builtin_parity(m & flips[l]) ? -1 : 1;
  }
  for (int i = 0; i < 3 * CUT_MODES; ++i) {
    sn_wide_f x[7];
    int row = i / 3, axis = i % 3;
    for (int m = 0; m < 7; ++m) x[m] = sign[1 + row % 7] * sign[1 + m] * M[row][7 * axis + m];
    modes_to_corners(x, half[row][axis]);
  }
  for (int e = 0; e < 72; ++e) {
    int i = e / 24, j = e / 8 % 3, q = e % 8;
    sn_wide_f x[7], y[8];
    for (int m = 0; m < 7; ++m) x[m] = half[7 * i + m][j][q];
    modes_to_corners(x, y);
    for (int p = 0; p <= q; ++p) *(sn_wide_f*)K[8 * p - p * (p + 1) / 2 + q][3 * i + j] = y[p];
  }
}

// K of cells with rules of their own in place of what stands there.
static void sharpen_matrices(const sn_flesh* flesh, const sn_flesh_work* work,
                             const uint32_t places[LANES], const uint8_t flips[LANES],
                             float K[36][9][LANES]) {
  cut_lanes_at at = {0};
  bool any = false;
  for (int l = 0; l < LANES; ++l) {
    uint32_t row = places[l] / LANES, lane = places[l] % LANES;
    if (places[l] == UINT32_MAX || !(cut_lanes(flesh, row) >> lane & 1)) continue;
    at.cells[l] = cut_cell_at(flesh->cut, cut_number(flesh->cut, row, (int)lane));
    at.tangents[l] = work->points + at.cells[l].first;
    any = true;
  }
  if (!any) return;
  sn_wide_f M[CUT_MODES][CUT_MODES];
  float own[36][9][LANES] __attribute__((aligned(32)));
  cut_modes(flesh, &at, M);
  if (flesh->cut->whole) {
    expand_modes(flips, M, K);
    return;
  }
  expand_modes(flips, M, own);
  for (int e = 0; e < 36 * 9 * LANES; ++e) {
    int l = e % LANES;
    if (at.tangents[l]) K[e / 72][e / LANES % 9][l] = own[e / 72][e / LANES % 9][l];
  }
}

static void plain_matrices(const sn_flesh* flesh, const sn_flesh_work* work,
                           const uint32_t places[LANES], const uint8_t flips[LANES],
                           float K[36][9][LANES]) {
  sn_wide_f T[45], full[9][9], a = gather_tangent(work, places, SN_TANGENT_MATERIAL);
  sn_wide_f h[2] = {a * sn_wide_set_f((float)(flesh->hourglass * SN_HOURGLASS_EDGE)),
                    a * sn_wide_set_f((float)(flesh->hourglass * SN_HOURGLASS_CORNER))};
  if (flesh->form == SN_FORM_COROTATED) {
    tensor_of_corotated(work, places, a, T);
  } else {
    tensor_of_law(work, places, T);
  }
  mirror_tensor(flips, T, full);
  expand_matrices((const sn_wide_f(*)[9])full, h, K);
}

static void matrices_at(const sn_flesh* flesh, const sn_flesh_work* work,
                        const uint32_t places[LANES], const uint8_t flips[LANES],
                        float K[36][9][LANES]) {
  bool sharp = work->sharp && flesh->cut;
  if (!(sharp && flesh->cut->whole)) plain_matrices(flesh, work, places, flips, K);
  if (sharp) sharpen_matrices(flesh, work, places, flips, K);
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
  if (any) {
    matrices_at(flesh, work, places, flips, K);
  } else {
    memset(K, 0, 36 * sizeof *K);
  }
}

// The packets' matrices, from those of their cells.
static void keep_matrices(const sn_flesh* flesh, const sn_flesh_work* work, size_t chunk) {
  static const uint8_t UNTURNED[LANES] = {0};
  const sn_packet_matrices* m = work->matrices;
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    float(*to)[9][LANES] = m->numbers[packet];
    memset(to, 0, sizeof m->numbers[packet]);
    for (sn_family_row row = sn_family_first(flesh->families, packet); row.child < 8;
         row = sn_family_next(row)) {
      float K[36][9][LANES] __attribute__((aligned(32)));
      uint32_t places[LANES];
      for (uint32_t l = 0; l < LANES; ++l) places[l] = (uint32_t)row.at * LANES + l;
      matrices_at(flesh, work, places, UNTURNED, K);
      for (int p = 0, e = 0; p < 8; ++p) {
        for (int q = p; q < 8; ++q, ++e) {
          int i = CHILD[row.child] + CHILD[p], j = CHILD[row.child] + CHILD[q];
          float(*sum)[LANES] = to[m->pairs[i][j]];
          for (int k = 0; k < 9 && p != q; ++k) *(sn_wide_f*)sum[k] += *(sn_wide_f*)K[e][k];
        }
      }
    }
  }
}
