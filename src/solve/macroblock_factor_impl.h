// Factoring a macroblock, for one instruction set: a multifrontal Cholesky of which only the diagonal
// blocks are kept. Every region is eliminated in a *front*, its own unknowns and those around it; what is
// left of the latter goes into the front above. Subdomains and level 1 are done in lanes, the larger fronts
// one by one as dense matrices.

// A pivot below this share of what stood there is round-off: the unknown is left alone.
#define SMALLEST_PIVOT 1e-6f

static bool any_kept(const float* keep, int count) {
  for (int i = 0; i < count; ++i) {
    if (keep[i] != 0) return true;
  }
  return false;
}

// What a block lacks need not be gone through.
static void find_idle(const sn_block_input* input, sn_block_factor* factor) {
  const sn_block_vector* keep = input->keep;
  // Where all subdomains of a side are held, its cells still hold the layers beside them.
  factor->sides = 1;
  for (int i = 0; i < 64 * LANES; ++i) {
    if (input->cells[i / LANES][1][i % LANES] != UINT32_MAX) factor->sides = 2;
  }
  factor->idle[0] = false;
  factor->idle[1] = !any_kept(keep->one[0][0], 9 * 3 * LANES);
  factor->idle[2] = !any_kept(keep->two[0][0], SN_BLOCK_TWO * 4);
  factor->idle[3] = !any_kept(keep->three[0], 2 * SN_BLOCK_FACE_ROOM);
  factor->idle[4] = !any_kept(keep->four, SN_BLOCK_FACE_ROOM);
  factor->faces = 8;
  for (int k = 0; k < SN_BLOCK_FACE; ++k) {
    bool kept = keep->three[0][k] != 0 || keep->three[1][k] != 0 || keep->four[k] != 0;
    if (kept) factor->faces = (k / 3 * 3 + 2) / 8 * 8 + 8;  // whole nodes
  }
}

static void expand_keep(const sn_block_plan* plan, const sn_block_vector* keep,
                        sn_block_room* room) {
  around all;
  for (int level = 1; level <= 4; ++level) expand(plan, level, keep, &all);
  for (int k = 0; k < SN_BLOCK_OWN; ++k) {
    const uint8_t* p = plan->place[k];
    memcpy(all.at[position_of(p[0], p[1], p[2])], keep->sub[k], sizeof all.at[0]);
  }
  for (int i = 0; i < 3 * SN_BLOCK_POSITIONS; ++i) {
    int node = i / 3, axis = i % 3;
    for (int sz = 0; sz < 2; ++sz) {
      memcpy(room->keep[sz][node][axis], all.at[node][axis][sz], sizeof(W));
    }
  }
}

// The matrices of all cells of one sz, into `lower` and the pairs of the boundary.
static void assemble(const sn_block_plan* plan, const sn_block_cells* cells,
                     const sn_block_input* input, int sz, sn_block_room* room) {
  uint8_t flips[LANES];
  for (int lane = 0; lane < LANES; ++lane) {
    int sx = lane & 3;
    flips[lane] = (uint8_t)((sx == 1 || sx == 2) | (lane >> 2) << 1 | sz << 2);
  }
  memset(room->lower, 0, plan->lower_count * sizeof room->lower[0]);
  memset(room->boundary[sz], 0, sizeof room->boundary[sz]);
  for (int cell = 0; cell < 64; ++cell) {
    cells->matrices(cells->ctx, input->cells[cell][sz], flips, room->cell);
    for (int e = plan->placing_starts[cell]; e < plan->placing_starts[cell + 1]; ++e) {
      const placing* p = &plan->placings[e];
      float(*to)[LANES] = p->boundary ? room->boundary[sz][p->block] : room->lower[p->block];
      const float(*K)[LANES] = room->cell[p->pair];
      for (int i = 0; i < 3; ++i) {
        W row = load(room->keep[sz][p->rows][i]);
        for (int j = 0; j < 3; ++j) {
          W entry = load(K[p->transposed ? 3 * j + i : 3 * i + j]);
          W both = row * load(room->keep[sz][p->columns][j]);
          store(to[3 * i + j], sn_wide_fma_f(entry, both, load(to[3 * i + j])));
        }
      }
    }
  }
  for (int k = 0; k < SN_BLOCK_OWN; ++k) {
    float(*to)[LANES] = room->lower[plan->diagonal_blocks[k]];
    for (int i = 0; i < 3; ++i) {
      store(to[4 * i], load(to[4 * i]) + load(input->add->sub[k][i][sz]));
    }
  }
}

// Blocks between subdomains and the layers of some levels.
static void keep_out(const sn_block_plan* plan, const sn_block_room* room, int sz, int first_level,
                     int last_level, sn_block_factor* factor) {
  for (int e = plan->out_starts[first_level]; e < plan->out_starts[last_level + 1]; ++e) {
    const float(*from)[LANES] = room->lower[plan->out_blocks[e]];
    for (int i = 0; i < 9; ++i) store(factor->out[e][i][sz], load(from[i % 3 * 3 + i / 3]));
  }
}

// The couplings between subdomains and layers, and of layers with one another, before anything is
// eliminated.
static void keep_couplings(const sn_block_plan* plan, const sn_block_room* room, int sz,
                           sn_block_factor* factor) {
  keep_out(plan, room, sz, 2, 4, factor);
  for (int e = 0; e < plan->one_source_count; ++e) {
    const source* s = &plan->one_sources[e];
    if (s->sz != sz) continue;
    const float(*from)[LANES] = room->boundary[sz][s->pair];
    for (int i = 0; i < 9; ++i) {
      float* to = factor->one_out[s->to][i];
      store(to, load(to) + load(from[s->transposed ? i % 3 * 3 + i / 3 : i]));
    }
  }
  for (int e = 0; e < plan->two_source_count; ++e) {
    const source* s = &plan->two_sources[e];
    if (s->sz != sz) continue;
    const float(*from)[LANES] = room->boundary[sz][s->pair];
    for (int i = 0; i < 9; ++i) {
      const float* at = from[s->transposed ? i % 3 * 3 + i / 3 : i];
      Q sum = load_quad(factor->two_out[s->to][i]);
      if (s->sy != 1) sum += load_quad(at);
      if (s->sy != 0) sum += load_quad(at + 4);
      store_quad(factor->two_out[s->to][i], sum);
    }
  }
}

// A -= X Y^T, 3 x 3
static inline void subtract_product(const float (*X)[LANES], const float (*Y)[LANES], W A[9]) {
  for (int k = 0; k < 3; ++k) {
    W y0 = load(Y[k]), y1 = load(Y[3 + k]), y2 = load(Y[6 + k]);
    for (int i = 0; i < 3; ++i) {
      W x = load(X[3 * i + k]);
      A[3 * i] = minus_product(A[3 * i], x, y0);
      A[3 * i + 1] = minus_product(A[3 * i + 1], x, y1);
      A[3 * i + 2] = minus_product(A[3 * i + 2], x, y2);
    }
  }
}

static inline W reciprocal_root(W pivot, W entry) {
  W one = sn_wide_set_f(1), zero = sn_wide_set_f(0);
  entry = sn_wide_select_f(entry > zero, entry, one);
  W safe = sn_wide_select_f(pivot > sn_wide_set_f(SMALLEST_PIVOT) * entry, pivot, entry);
  return one / sn_wide_sqrt_f(safe);
}

// A = L L^T for the 3 x 3 matrices A that were `entries` on the diagonal; d = L with reciprocals.
static inline void factor_small(const W A[9], const W entries[3], float (*d)[LANES],
                                size_t stride) {
  W d0 = reciprocal_root(A[0], entries[0]);
  W l10 = A[3] * d0, l20 = A[6] * d0;
  W d1 = reciprocal_root(A[4] - l10 * l10, entries[1]);
  W l21 = (A[7] - l20 * l10) * d1;
  W d2 = reciprocal_root(A[8] - l20 * l20 - l21 * l21, entries[2]);
  W all[6] = {d0, l10, d1, l20, l21, d2};
  for (size_t i = 0; i < 6; ++i) store((float*)d + i * stride, all[i]);
}

// A <- A L^-T
static inline void divide_small(const float (*d)[LANES], size_t stride, W A[9]) {
  const float* D = (const float*)d;
  for (int i = 0; i < 9; i += 3) {
    A[i] *= load(D);
    A[i + 1] = minus_product(A[i + 1], A[i], load(D + stride)) * load(D + 2 * stride);
    A[i + 2] = minus_product(A[i + 2], A[i], load(D + 3 * stride));
    A[i + 2] = minus_product(A[i + 2], A[i + 1], load(D + 4 * stride)) * load(D + 5 * stride);
  }
}

// Eliminate the subdomains of one sz.
static void eliminate_subdomains(const sn_block_plan* plan, int sz, sn_block_room* room,
                                 sn_block_factor* factor) {
  for (uint32_t t = 0; t < plan->target_count; ++t) {
    const target* to = &plan->targets[t];
    bool lower = t < plan->lower_targets;
    float(*at)[LANES] = lower ? room->lower[to->block] : room->boundary[sz][to->block];
    W A[9], entries[3];
    memcpy(A, at, sizeof A);
    for (int i = 0; i < 3; ++i) entries[i] = A[4 * i];
    for (uint32_t e = to->first; e < to->end; ++e) {
      subtract_product(room->lower[plan->terms[e].x], room->lower[plan->terms[e].y], A);
    }
    if (lower && to->row == to->column) {
      factor_small(A, entries, factor->diagonal[to->row][0] + sz, 2 * LANES);
      continue;
    }
    if (lower) divide_small(factor->diagonal[to->column][0] + sz, 2 * LANES, A);
    memcpy(at, A, sizeof A);
  }
  for (int e = 0; e < SN_BLOCK_BELOW; ++e) {
    for (int i = 0; i < 9; ++i) store(factor->below[e][i][sz], load(room->lower[e][i]));
  }
}

// What the subdomains leave at a pair of nodes of a level-1 front.
static inline void load_pair(const sn_block_plan* plan, const sn_block_room* room, int sides,
                             int pair, W A[9]) {
  for (int i = 0; i < 9; ++i) A[i] = sn_wide_set_f(0);
  for (int sz = 0; sz < sides; ++sz) {
    uint16_t from = plan->one_from[pair][sz];
    if (from == NONE) continue;
    const float(*at)[LANES] = room->boundary[sz][from & 0x7fff];
    if (from & 0x8000) {
      for (int i = 0; i < 9; ++i) A[i] += load(at[i % 3 * 3 + i / 3]);
    } else {
      for (int i = 0; i < 9; ++i) A[i] += load(at[i]);
    }
  }
}

// Dense fronts hold so many unknowns of each face. False for a node that is not wholly within: it is idle.
static inline bool fit_face(int faces, int* i) {
  int first = *i >= DENSE_NEAR ? DENSE_NEAR : DENSE_OWN;
  if (*i < DENSE_OWN) return true;
  if (*i - first + 3 > faces) return false;
  if (first == DENSE_NEAR) *i += faces - SN_BLOCK_FACE_ROOM;
  return true;
}

// One pair of the boundary of a level-1 front to the dense fronts of the four slabs.
static inline void scatter_pair(const sn_block_plan* plan, int faces, int r, int s, const W A[9],
                                sn_block_room* room) {
  float numbers[9][LANES];
  for (int k = 0; k < 9; ++k) memcpy(numbers[k], &A[k], sizeof A[k]);
  for (int sy = 0; sy < 2; ++sy) {
    int i = plan->dense_of[r][sy], j = plan->dense_of[s][sy];
    bool far = i >= DENSE_NEAR || j >= DENSE_NEAR, swap = i > j;
    if (!fit_face(faces, &i) || !fit_face(faces, &j)) continue;
    for (int sx = far; sx < 4; sx += far ? 2 : 1) {
      int stride = DENSE_OWN + (sx & 1 ? 2 : 1) * faces, lane = sx + 4 * sy;
      float* at = sx & 1 ? room->far[sx >> 1] : room->near[sx >> 1];
      at += swap ? (size_t)j * stride + i : (size_t)i * stride + j;
      for (int k = 0; k < 3; ++k) {
        float* row = at + (size_t)k * stride;
        int first = swap ? k : 3 * k, step = swap ? 3 : 1;
        row[0] += numbers[first][lane];
        row[1] += numbers[first + step][lane];
        row[2] += numbers[first + 2 * step][lane];
      }
    }
  }
}

// x <- (L L^T)^-1 x with the factor of the nine nodes.
static void solve_one_front(const sn_block_room* room, W x[SN_BLOCK_ONE]) {
  for (int r = 0; r < 9; ++r) {
    W* y = x + 3 * r;
    for (int s = 0; s < r; ++s) {
      const float(*L)[LANES] = room->one[r * 9 + s];
      for (int e = 0; e < 9; ++e) y[e / 3] = minus_product(y[e / 3], load(L[e]), x[3 * s + e % 3]);
    }
    const float(*d)[LANES] = room->one_diagonal[r];
    y[0] *= load(d[0]);
    y[1] = minus_product(y[1], load(d[1]), y[0]) * load(d[2]);
    y[2] = minus_product(minus_product(y[2], load(d[3]), y[0]), load(d[4]), y[1]) * load(d[5]);
  }
  for (int r = 8; r >= 0; --r) {
    W* y = x + 3 * r;
    for (int s = r + 1; s < 9; ++s) {
      const float(*L)[LANES] = room->one[s * 9 + r];
      for (int e = 0; e < 9; ++e) y[e % 3] = minus_product(y[e % 3], load(L[e]), x[3 * s + e / 3]);
    }
    const float(*d)[LANES] = room->one_diagonal[r];
    y[2] *= load(d[5]);
    y[1] = minus_product(y[1], load(d[4]), y[2]) * load(d[2]);
    y[0] = minus_product(minus_product(y[0], load(d[1]), y[1]), load(d[3]), y[2]) * load(d[0]);
  }
}

// Column by column; the inverse is symmetric.
static void keep_one(const sn_block_room* room, sn_block_factor* factor) {
  for (int j = 0; j < SN_BLOCK_ONE; ++j) {
    W x[SN_BLOCK_ONE];
    for (int i = 0; i < SN_BLOCK_ONE; ++i) x[i] = sn_wide_set_f(i == j);
    solve_one_front(room, x);
    for (int i = 0; i < SN_BLOCK_ONE; ++i) store(factor->one[j][i], x[i]);
  }
}

// Eliminate the layers of level 1; what is left goes to the slabs.
static void eliminate_one(const sn_block_plan* plan, const sn_block_vector* add,
                          sn_block_room* room, sn_block_factor* factor) {
  int pair = 0, first = factor->idle[1] ? 9 : 0;
  for (int r = 0; r < ONE_FRONT; ++r) {
    for (int s = 0; s <= r; ++s, ++pair) {
      W A[9], entries[3];
      if (s < first || (factor->sides == 1 && plan->one_from[pair][0] == NONE)) continue;
      load_pair(plan, room, factor->sides, pair, A);
      for (int i = 0; i < 3 && r == s && r < 9; ++i) A[4 * i] += load(add->one[r][i]);
      for (int i = 0; i < 3; ++i) entries[i] = A[4 * i];
      for (int k = first; k < s && k < 9; ++k) {
        subtract_product(room->one[r * 9 + k], room->one[s * 9 + k], A);
      }
      if (s >= 9) {
        scatter_pair(plan, factor->faces, r - 9, s - 9, A, room);
      } else if (r == s) {
        factor_small(A, entries, room->one_diagonal[r], LANES);
      } else {
        divide_small(room->one_diagonal[s], LANES, A);
        memcpy(room->one[r * 9 + s], A, sizeof A);
      }
    }
  }
  if (!factor->idle[1]) keep_one(room, factor);
}

// One tile, 4 rows by 16 columns, of A -= U^T U over `count` rows of U.
static inline void update_tile(const float* U, int count, int stride, int i, int j, float* A) {
  W sum[4][2];
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 2; ++c) sum[r][c] = load(A + (size_t)(i + r) * stride + j + 8 * c);
  }
  for (int k = 0; k < count; ++k) {
    const float* row = U + (size_t)k * stride;
    W u0 = load(row + j), u1 = load(row + j + 8);
    for (int r = 0; r < 4; ++r) {
      W v = sn_wide_set_f(-row[i + r]);
      sum[r][0] = sn_wide_fma_f(v, u0, sum[r][0]);
      sum[r][1] = sn_wide_fma_f(v, u1, sum[r][1]);
    }
  }
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 2; ++c) store(A + (size_t)(i + r) * stride + j + 8 * c, sum[r][c]);
  }
}

// The same for eight columns of one row.
static inline void update_row(const float* U, int count, int stride, int i, int j, float* A) {
  W sum = load(A + (size_t)i * stride + j);
  for (int k = 0; k < count; ++k) {
    const float* row = U + (size_t)k * stride;
    sum = minus_product(sum, sn_wide_set_f(row[i]), load(row + j));
  }
  store(A + (size_t)i * stride + j, sum);
}

#define PANEL 16

// A = U^T U in the upper triangle of n x n, n a multiple of 8, for the first `own` rows; the rest becomes
// what is left of it. Reciprocals stand on the diagonal.
static void factor_dense(float* A, int n, int own) {
  for (int first = 0; first < own; first += PANEL) {
    int count = own - first < PANEL ? own - first : PANEL, end = first + count;
    float* panel = A + (size_t)first * n;
    for (int k = first; k < end; ++k) {
      float* row = A + (size_t)k * n;
      float entry = row[k] > 0 ? row[k] : 1, pivot = row[k];
      for (int m = first; m < k; ++m) {
        float u = A[(size_t)m * n + k];
        pivot -= u * u;
      }
      float scale = 1 / sqrtf(pivot > SMALLEST_PIVOT * entry ? pivot : entry);
      for (int j = k / 8 * 8; j < n; j += 8) {
        W sum = load(row + j);
        for (int m = first; m < k; ++m) {
          const float* other = A + (size_t)m * n;
          sum = minus_product(sum, sn_wide_set_f(other[k]), load(other + j));
        }
        store(row + j, sum * sn_wide_set_f(scale));
      }
      row[k] = scale;
    }
    int i = end;
    for (; i % 4; ++i) {
      for (int j = i / 8 * 8; j < n; j += 8) update_row(panel, count, n, i, j, A);
    }
    for (; i < n; i += 4) {
      int j = i / 8 * 8;
      for (; j + 16 <= n; j += 16) update_tile(panel, count, n, i, j, A);
      for (int r = i; r < i + 4 && j < n; ++r) update_row(panel, count, n, r, j, A);
    }
  }
}

// The inverse of U^T U, from that of U: V = U^-1, row by row from the last, then V V^T.
static void keep_two(const float* U, int n, int sx, sn_block_factor* factor) {
  float V[SN_BLOCK_TWO][DENSE_OWN] __attribute__((aligned(32))) = {{0}};
  for (int i = SN_BLOCK_TWO - 1; i >= 0; --i) {
    const float* row = U + (size_t)i * n;
    for (int j = i / 8 * 8; j < DENSE_OWN; j += 8) {
      W sum = sn_wide_set_f(0);
      for (int k = i + 1; k < SN_BLOCK_TWO && k < j + 8; ++k) {
        sum = minus_product(sum, sn_wide_set_f(row[k]), load(V[k] + j));
      }
      store(V[i] + j, sum * sn_wide_set_f(row[i]));
    }
    V[i][i] = row[i];
  }
  for (int i = 0; i < SN_BLOCK_TWO; ++i) {
    for (int j = i; j < SN_BLOCK_TWO; ++j) {
      W sum = sn_wide_set_f(0);
      for (int k = j / 8 * 8; k < DENSE_OWN; k += 8) {
        sum = sn_wide_fma_f(load(V[i] + k), load(V[j] + k), sum);
      }
      float all = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
      factor->two[i][j][sx] = factor->two[j][i][sx] = all;
    }
  }
}

// Eliminate the layers of level 2, a slab each; what is left goes to the halves.
ALWAYS_INLINE void eliminate_two(const sn_block_vector* add, int faces, sn_block_room* room,
                                 sn_block_factor* factor) {
  int own = factor->idle[2] ? 0 : SN_BLOCK_TWO;
  for (int sx = 0; sx < 4; ++sx) {
    int n = DENSE_OWN + (sx & 1 ? 2 : 1) * faces;
    float* A = sx & 1 ? room->far[sx >> 1] : room->near[sx >> 1];
    for (int k = 0; k < own; ++k) A[(size_t)k * n + k] += add->two[k / 3][k % 3][sx];
    factor_dense(A, n, own);
    if (own > 0) keep_two(A, n, sx, factor);
    for (int i = DENSE_OWN; i < n; ++i) {
      float* half = room->half[sx >> 1] + (size_t)(i - DENSE_OWN) * 2 * faces;
      for (int j = i / 8 * 8; j < n; j += 8) {
        float* to = half + j - DENSE_OWN;
        store(to, load(to) + load(A + (size_t)i * n + j));
      }
    }
  }
}

// The inverse of an upper triangle of 8 x 8 with reciprocals on its diagonal, in place; zeros below.
static void invert_corner(float* U, int stride) {
  float inverse[8][8] = {{0}};
  for (int j = 0; j < 8; ++j) {
    inverse[j][j] = U[j * stride + j];
    for (int i = j - 1; i >= 0; --i) {
      float sum = 0;
      for (int k = i + 1; k <= j; ++k) sum += U[i * stride + k] * inverse[k][j];
      inverse[i][j] = -sum * U[i * stride + i];
    }
  }
  for (int i = 0; i < 8; ++i) memcpy(U + i * stride, inverse[i], sizeof inverse[i]);
}

// Rows past the last unknown are those of the identity.
static void keep_face(const float* A, int n, int faces, float* to) {
  for (int k = 0; k < faces; ++k) {
    int begin = k / 8 * 8;
    float* row = to + triangle_row(k);
    if (k < SN_BLOCK_FACE) {
      memcpy(row + begin, A + (size_t)k * n + begin, sizeof(float) * (size_t)(faces - begin));
    } else {
      for (int j = begin; j < faces; ++j) row[j] = j == k;
    }
  }
  for (int base = 0; base < faces; base += 8) {
    invert_corner(to + triangle_row(base) + base, SN_BLOCK_FACE_ROOM - base);
  }
}

// And those of levels 3 and 4.
ALWAYS_INLINE void eliminate_faces(const sn_block_vector* add, int faces, sn_block_room* room,
                                   sn_block_factor* factor) {
  int own = faces < SN_BLOCK_FACE ? faces : SN_BLOCK_FACE, n = 2 * faces;
  float* last = room->last;
  for (int side = 0; side < 2; ++side) {
    float* half = room->half[side];
    for (int k = 0; k < own; ++k) half[(size_t)k * n + k] += add->three[side][k];
    factor_dense(half, n, own);
    keep_face(half, n, faces, factor->three[side]);
    for (int i = 0; i < faces; ++i) {
      for (int j = i / 8 * 8; j < faces; j += 8) {
        float* to = last + (size_t)i * faces + j;
        store(to, load(to) + load(half + (size_t)(faces + i) * n + faces + j));
      }
    }
  }
  for (int k = 0; k < own; ++k) last[(size_t)k * faces + k] += add->four[k];
  factor_dense(last, faces, own);
  keep_face(last, faces, faces, factor->four);
}

static void clear_fronts(int faces, sn_block_room* room) {
  size_t near = (size_t)(DENSE_OWN + faces), far = near + (size_t)faces, half = 2 * (size_t)faces;
  for (int i = 0; i < 2; ++i) {
    memset(room->near[i], 0, near * near * sizeof(float));
    memset(room->far[i], 0, far * far * sizeof(float));
    memset(room->half[i], 0, half * half * sizeof(float));
  }
  memset(room->last, 0, (size_t)faces * (size_t)faces * sizeof(float));
}

static void factor(const sn_block_plan* plan, const sn_block_cells* cells,
                   const sn_block_input* input, sn_block_room* room, sn_block_factor* to) {
  find_idle(input, to);
  expand_keep(plan, input->keep, room);
  memset(to->one_out, 0, sizeof to->one_out);
  memset(to->two_out, 0, sizeof to->two_out);
  clear_fronts(to->faces, room);
  for (int sz = 0; sz < to->sides; ++sz) {
    assemble(plan, cells, input, sz, room);
    keep_couplings(plan, room, sz, to);
    eliminate_subdomains(plan, sz, room, to);
    keep_out(plan, room, sz, 1, 1, to);
  }
  eliminate_one(plan, input->add, room, to);
  // The usual sizes are known to the compiler.
  if (to->faces == SN_BLOCK_FACE_ROOM) {
    eliminate_two(input->add, SN_BLOCK_FACE_ROOM, room, to);
    eliminate_faces(input->add, SN_BLOCK_FACE_ROOM, room, to);
  } else {
    eliminate_two(input->add, to->faces, room, to);
    eliminate_faces(input->add, to->faces, room, to);
  }
}

const sn_block_kernels SN_KERNELS = {
    .name = SN_KERNELS_NAME, .is_supported = is_supported, .factor = factor, .solve = solve};
