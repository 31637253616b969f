// The parts of flesh_kernels_impl.h that both precisions have, for SN_REAL. A packet of eight
// families takes one go in single and two in double precision; `lane` is the first of a go.

#include "math/svd3_wide_impl.h"
// after what it is made of
#include "math/polar3_wide_impl.h"
// after the names of operations that it shares
#include "material/law_wide_impl.h"

#define KEEP SN_P(sn_wide_keep)
#define QUAD SN_P(sn_quad)

// A chunk's private nodes, four numbers each so that one is a vector.
typedef struct SN_P(private_nodes) {
  _Alignas(64) SN_REAL at[SN_CHUNK_MAX_NODES][4];
} SN_P(private_nodes);

static uint32_t SN_P(clear_nodes)(const sn_families* f, size_t chunk, SN_P(private_nodes) * nodes) {
  uint32_t count = f->node_starts[chunk + 1] - f->node_starts[chunk];
  memset(nodes->at, 0, (count + 1) * sizeof nodes->at[0]);
  return count;
}

static void SN_P(fetch_nodes)(const sn_flesh* flesh, size_t chunk, const SN_REAL* x,
                              SN_P(private_nodes) * nodes) {
  const sn_families* f = flesh->families;
  const uint32_t *list = f->chunk_nodes + f->node_starts[chunk], last = flesh->tree->node_count - 1;
  uint32_t count = f->node_starts[chunk + 1] - f->node_starts[chunk];
  for (uint32_t i = 0; i < count; ++i) {
    QUAD value = SN_P(sn_quad_load3)(x, list[i], last);
    memcpy(nodes->at[i], &value, sizeof value);
  }
  memset(nodes->at[count], 0, sizeof nodes->at[count]);
}

// Own nodes' sums into the result, the others' into this chunk's slots. With addends the sums take the
// place of what was there; p are the values that the product was of.
static void SN_P(deliver_nodes)(const sn_flesh* flesh, size_t chunk,
                                const SN_P(private_nodes) * nodes, const SN_P(sn_addends) * addends,
                                const SN_P(private_nodes) * p, SN_REAL* slots, SN_REAL* y) {
  const sn_families* f = flesh->families;
  const uint32_t *list = f->chunk_nodes + f->node_starts[chunk], last = flesh->tree->node_count - 1;
  uint32_t count = f->node_starts[chunk + 1] - f->node_starts[chunk], own = f->own_counts[chunk];
  const SN_REAL* v = addends ? addends->v : y;
  SN_REAL scale = addends ? addends->scale : 1;
  for (uint32_t i = 0; i < own; ++i) {
    QUAD sum = *(const QUAD*)nodes->at[i];
    if (addends && addends->diagonal) {
      sum += SN_P(sn_quad_load3)(addends->diagonal, list[i], last) * *(const QUAD*)p->at[i];
    }
    if (v) sum += scale * SN_P(sn_quad_load3)(v, list[i], last);
    SN_P(sn_quad_store3)(sum, y + 3 * (size_t)list[i]);
  }
  SN_REAL* slot = slots + 3 * (size_t)f->slot_starts[chunk];
  for (uint32_t i = own; i < count; ++i, slot += 3) {
    SN_P(sn_quad_store3)(*(const QUAD*)nodes->at[i], slot);
  }
}

static inline uint32_t SN_P(any_hanging)(const uint32_t words[SN_P(SN_LANES)]) {
  uint32_t any = 0;
  for (int lane = 0; lane < SN_P(SN_LANES); ++lane) any |= words[lane];
  return any;
}

// Values at the lattice points of a go, [point][axis], and zeros in `sums`, unless that is NULL.
static inline void SN_P(load_lattice)(const sn_families* f, uint32_t packet, int lane,
                                      const SN_P(private_nodes) * nodes, WIDE v[POINTS][3],
                                      WIDE sums[POINTS][3]) {
  const uint16_t* local = f->local + (size_t)packet * POINTS * LANES + lane;
  uint32_t points = f->points[packet];
  for (int p = 0; p < POINTS; ++p) {
    if (sums) sums[p][0] = sums[p][1] = sums[p][2] = SET(0);
    if (points >> p & 1) {
      SN_P(sn_wide_gather)(nodes->at, local + p * LANES, v[p]);
    } else {
      v[p][0] = v[p][1] = v[p][2] = SET(0);
    }
  }
  const uint32_t* words = f->hanging + (size_t)packet * LANES + lane;
  uint32_t any = SN_P(any_hanging)(words);
  if (!any) return;
  for (int e = 0; e < 12; ++e) {
    const uint8_t* p = EDGES[e];
    if (!(any >> p[0] & 1)) continue;
    MASK hangs = SN_P(sn_mask_bit)(words, p[0]);
    for (int i = 0; i < 3; ++i) {
      v[p[0]][i] = SELECT(hangs, SET((SN_REAL)0.5) * (v[p[1]][i] + v[p[2]][i]), v[p[0]][i]);
    }
  }
  for (int e = 0; e < 6; ++e) {
    const uint8_t* p = FACES[e];
    if (!(any >> p[0] & 1)) continue;
    MASK hangs = SN_P(sn_mask_bit)(words, p[0]);
    for (int i = 0; i < 3; ++i) {
      WIDE sum = (v[p[1]][i] + v[p[2]][i]) + (v[p[3]][i] + v[p[4]][i]);
      v[p[0]][i] = SELECT(hangs, SET((SN_REAL)0.25) * sum, v[p[0]][i]);
    }
  }
}

static inline void SN_P(scatter_points)(const sn_families* f, uint32_t packet, int lane,
                                        WIDE v[POINTS][3], SN_P(private_nodes) * nodes) {
  const uint16_t* local = f->local + (size_t)packet * POINTS * LANES + lane;
  uint32_t points = f->points[packet];
  for (int p = 0; p < POINTS; ++p) {
    if (points >> p & 1) SN_P(sn_wide_scatter)(v[p], local + p * LANES, nodes->at);
  }
}

// The transpose of load_lattice; v is used up.
static inline void SN_P(add_lattice)(const sn_families* f, uint32_t packet, int lane,
                                     WIDE v[POINTS][3], SN_P(private_nodes) * nodes) {
  const uint32_t* words = f->hanging + (size_t)packet * LANES + lane;
  uint32_t any = SN_P(any_hanging)(words);
  for (int e = 0; e < 12 && any; ++e) {
    const uint8_t* p = EDGES[e];
    if (!(any >> p[0] & 1)) continue;
    MASK hangs = SN_P(sn_mask_bit)(words, p[0]);
    for (int i = 0; i < 3; ++i) {
      WIDE share = KEEP(hangs, SET((SN_REAL)0.5) * v[p[0]][i]);
      for (int c = 1; c < 3; ++c) v[p[c]][i] += share;
      v[p[0]][i] = KEEP(~hangs, v[p[0]][i]);
    }
  }
  for (int e = 0; e < 6 && any; ++e) {
    const uint8_t* p = FACES[e];
    if (!(any >> p[0] & 1)) continue;
    MASK hangs = SN_P(sn_mask_bit)(words, p[0]);
    for (int i = 0; i < 3; ++i) {
      WIDE share = KEEP(hangs, SET((SN_REAL)0.25) * v[p[0]][i]);
      for (int c = 1; c < 5; ++c) v[p[c]][i] += share;
      v[p[0]][i] = KEEP(~hangs, v[p[0]][i]);
    }
  }
  SN_P(scatter_points)(f, packet, lane, v, nodes);
}

// Modes 1..7 of one axis from the corners of a child, v being its first lattice point.
static inline void SN_P(to_modes)(WIDE (*v)[3], int i, WIDE s[8]) {
  WIDE e0 = v[0][i] + v[1][i], o0 = v[1][i] - v[0][i];
  WIDE e1 = v[3][i] + v[4][i], o1 = v[4][i] - v[3][i];
  WIDE e2 = v[9][i] + v[10][i], o2 = v[10][i] - v[9][i];
  WIDE e3 = v[12][i] + v[13][i], o3 = v[13][i] - v[12][i];
  WIDE low = e1 - e0, high = e3 - e2;
  s[2] = low + high;
  s[6] = high - low;
  s[4] = (e2 + e3) - (e0 + e1);
  low = o0 + o1, high = o2 + o3;
  s[1] = low + high;
  s[5] = high - low;
  low = o1 - o0, high = o3 - o2;
  s[3] = low + high;
  s[7] = high - low;
}

// Its transpose, added to the corners.
static inline void SN_P(add_modes)(const WIDE s[8], int i, WIDE (*v)[3]) {
  WIDE d23 = s[2] - s[3], a23 = s[2] + s[3], d45 = s[4] - s[5], a45 = s[4] + s[5];
  WIDE d67 = s[6] - s[7], a67 = s[6] + s[7];
  WIDE low = s[1] + d23, high = d45 - d67;  // `low` with its sign turned
  v[0][i] -= low + high;
  v[9][i] += high - low;
  low = s[1] - a23, high = a45 - a67;
  v[1][i] += low - high;
  v[10][i] += low + high;
  low = d23 - s[1], high = d45 + d67;
  v[3][i] += low - high;
  v[12][i] += low + high;
  low = s[1] + a23, high = a45 + a67;
  v[4][i] += low - high;
  v[13][i] += low + high;
}

static inline void SN_P(load_tangent)(const float* tangent, int lane, int first, int count,
                                      WIDE* out) {
  for (int i = 0; i < count; ++i) out[i] = SN_P(sn_wide_load)(tangent + (first + i) * LANES + lane);
}

// The matrix of a quaternion of length sqrt(2), x y z w; of that at rest exactly I.
static inline void SN_P(rotation_of)(const WIDE q[4], WIDE R[9]) {
  WIDE one = SET(1);
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    WIDE turned = q[3] * q[k];
    R[4 * i] = FMA(-q[j], q[j], FMA(-q[k], q[k], one));
    R[3 * i + j] = FMA(q[i], q[j], -turned);
    R[3 * j + i] = FMA(q[i], q[j], turned);
  }
}
static inline void SN_P(load_rotation)(const float* tangent, int lane, WIDE R[9]) {
  WIDE q[4];
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_TURN, 4, q);
  SN_P(rotation_of)(q, R);
}

// What the law of a row is turned by, behind the material: R, or U and V.
#define ROW_R 2
static inline void SN_P(load_row)(const float* tangent, int lane, sn_tangent_form form, WIDE* out) {
  if (form == SN_FORM_COROTATED) {
    SN_P(load_tangent)(tangent, lane, SN_TANGENT_MATERIAL, 2, out);
    SN_P(load_rotation)(tangent, lane, out + ROW_R);
  } else {
    SN_P(load_tangent)(tangent, lane, 0, SN_TANGENT_FRAMED, out);
  }
}

static inline void SN_P(symmetric_product)(const WIDE L[6], const WIDE w[3], WIDE l[3]) {
  l[0] = FMA(L[0], w[0], FMA(L[3], w[1], L[5] * w[2]));
  l[1] = FMA(L[3], w[0], FMA(L[1], w[1], L[4] * w[2]));
  l[2] = FMA(L[5], w[0], FMA(L[4], w[1], L[2] * w[2]));
}

// The Hessian of the kind asked for: the definite one lies in the tangents, the exact one by itself.
static inline void SN_P(load_hessian)(const sn_flesh_work* work, size_t row, int lane,
                                      sn_hessian kind, sn_tangent_form form, WIDE* hessian) {
  int count = HESSIAN_NUMBERS[form];
  if (kind == SN_HESSIAN_DEFINITE) {
    int first = form == SN_FORM_COROTATED ? SN_TANGENT_L : SN_TANGENT_FRAMED;
    SN_P(load_tangent)(tangent_of(work, row), lane, first, count, hessian);
  } else {
    SN_P(load_tangent)(exact_of(work, row), lane, 0, count, hessian);
  }
}

// Ask for the tangents of the row that comes eight later: they come from far away, once a product.
// Always inlined, because GCC takes a function that only prefetches for one that does nothing.
__attribute__((always_inline)) static inline void SN_P(prefetch_tangent)(const sn_flesh_work* work,
                                                                         size_t row,
                                                                         sn_hessian kind,
                                                                         sn_tangent_form form) {
  const char* at = (const char*)tangent_of(work, row + 8);
  int count = HESSIAN_NUMBERS[form];
  int size = (form == SN_FORM_COROTATED ? SN_TANGENT_L : SN_TANGENT_FRAMED) + count;
  for (int line = 0; line < size * LANES * 4; line += 64) __builtin_prefetch(at + line);
  if (kind == SN_HESSIAN_DEFINITE) return;
  at = (const char*)exact_of(work, row + 8);
  for (int line = 0; line < count * LANES * 4; line += 64) __builtin_prefetch(at + line);
}

// The same for what the mean of J needs.
__attribute__((always_inline)) static inline void SN_P(prefetch_volume)(const sn_flesh_work* work,
                                                                        size_t row) {
  const char* at = (const char*)volume_of(work, row + 8);
  for (int line = 0; line < SN_VOLUME_NUMBERS * LANES * 4; line += 64)
    __builtin_prefetch(at + line);
}

// y += K v for a row, corotated. With the rows r_i of R and s_i of the linear modes,
//     trace = sum r_i.s_i,  w = sum s_i x r_i,  and row i of the result is  a s_i + b trace r_i + r_i x l.
static inline void SN_P(apply_corotated)(const sn_flesh_work* work, size_t row, int child, int lane,
                                         sn_hessian kind, WIDE h2, WIDE h3, WIDE (*v)[3],
                                         WIDE (*y)[3]) {
  const float* tangent = tangent_of(work, row);
  WIDE s[3][8], R[9], L[6], ab[2], l[3], trace = SET(0), w[3] = {trace, trace, trace};
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_MATERIAL, 2, ab);
  SN_P(load_rotation)(tangent, lane, R);
  WIDE a2 = ab[0] * h2, a3 = ab[0] * h3;
  for (int i = 0; i < 3; ++i) {
    SN_P(to_modes)(v + CHILD[child], i, s[i]);
    s[i][3] *= a2;
    s[i][5] *= a2;
    s[i][6] *= a2;
    s[i][7] *= a3;
    const WIDE* r = R + 3 * i;
    WIDE s1 = s[i][1], s2 = s[i][2], s4 = s[i][4];
    trace = FMA(r[2], s4, FMA(r[1], s2, FMA(r[0], s1, trace)));
    w[0] = FMA(s2, r[2], w[0]), w[1] = FMA(s4, r[0], w[1]), w[2] = FMA(s1, r[1], w[2]);
    w[0] = FMA(-s4, r[1], w[0]), w[1] = FMA(-s1, r[2], w[1]), w[2] = FMA(-s2, r[0], w[2]);
  }
  SN_P(load_hessian)(work, row, lane, kind, SN_FORM_COROTATED, L);
  SN_P(symmetric_product)(L, w, l);
  trace *= ab[1];
  for (int i = 0; i < 3; ++i) {
    const WIDE* r = R + 3 * i;
    s[i][1] = FMA(-r[2], l[1], FMA(r[1], l[2], FMA(r[0], trace, ab[0] * s[i][1])));
    s[i][2] = FMA(-r[0], l[2], FMA(r[2], l[0], FMA(r[1], trace, ab[0] * s[i][2])));
    s[i][4] = FMA(-r[1], l[0], FMA(r[0], l[1], FMA(r[2], trace, ab[0] * s[i][4])));
    SN_P(add_modes)(s[i], i, y + CHILD[child]);
  }
}

// C <- A^T B and C <- A B^T
static inline void SN_P(transposed_times)(const WIDE A[9], const WIDE B[9], WIDE C[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      C[3 * i + j] = SN_P(dot3)(A[i], A[3 + i], A[6 + i], B[j], B[3 + j], B[6 + j]);
    }
  }
}
static inline void SN_P(times_transposed)(const WIDE A[9], const WIDE B[9], WIDE C[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      C[3 * i + j] =
          SN_P(dot3)(A[3 * i], A[3 * i + 1], A[3 * i + 2], B[3 * j], B[3 * j + 1], B[3 * j + 2]);
    }
  }
}
static inline void SN_P(matrix_times)(const WIDE A[9], const WIDE B[9], WIDE C[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      C[3 * i + j] = SN_P(dot3)(A[3 * i], A[3 * i + 1], A[3 * i + 2], B[j], B[3 + j], B[6 + j]);
    }
  }
}

// The Hessian in the frames: stretches among themselves, and each pair of axes by itself.
static inline void SN_P(multiply_framed)(const WIDE hessian[12], WIDE C[9]) {
  WIDE stretch[3] = {C[0], C[4], C[8]}, out[3];
  SN_P(symmetric_product)(hessian, stretch, out);
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    WIDE a = C[3 * i + j], b = C[3 * j + i];
    WIDE shear = hessian[6 + k] * (a + b), twist = hessian[9 + k] * (a - b);
    C[3 * i + j] = shear + twist;
    C[3 * j + i] = shear - twist;
    C[4 * k] = out[k];
  }
}

// out += a x b + c x d
static inline void SN_P(add_crosses)(const WIDE a[3], const WIDE b[3], const WIDE c[3],
                                     const WIDE d[3], WIDE out[3]) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = FMA(a[j], b[k], FMA(-a[k], b[j], FMA(c[j], d[k], FMA(-c[k], d[j], out[i]))));
  }
}

// What the mean of J gives to an exact product beside the law at the centre, g[column or 3 + mode][axis],
// for the change s: factor Q (Q . s), and the pressure times how Q changes. With the columns c of F and
// a of the hourglass modes 3, 5, 6, Jm is the sum of det[c0 c1 c2], which is with the law, and
//     1/3 (det[c0 a3 a5] + det[c1 a6 a3] + det[c2 a5 a6]).
static inline void SN_P(multiply_mean_volume)(const float* volume, int lane, WIDE s[3][8],
                                              WIDE g[6][3]) {
  WIDE Q[6][3], factor, along = SET(0);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      SN_P(load_tangent)(volume, lane, 3 * i + k, 1, &Q[k][i]);
      SN_P(load_tangent)(volume, lane, 9 + 3 * k + i, 1, &Q[3 + k][i]);
      along = FMA(Q[k][i], s[i][1 << k], FMA(Q[3 + k][i], s[i][MODE_OF[k]], along));
    }
  }
  SN_P(load_tangent)(volume, lane, SN_VOLUME_FACTOR, 1, &factor);
  along *= factor;
  for (int m = 0; m < 6; ++m) {
    for (int i = 0; i < 3; ++i) g[m][i] = along * Q[m][i];
  }
  WIDE c[3][3], a[3][3], dc[3][3], da[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      SN_P(load_tangent)(volume, lane, SN_VOLUME_F + 3 * i + k, 1, &c[k][i]);
      SN_P(load_tangent)(volume, lane, SN_VOLUME_A + 3 * k + i, 1, &a[k][i]);
      dc[k][i] = s[i][1 << k];
      da[k][i] = s[i][MODE_OF[k]];
    }
  }
  SN_P(add_crosses)(da[0], a[1], a[0], da[1], g[0]);
  SN_P(add_crosses)(da[2], a[0], a[2], da[0], g[1]);
  SN_P(add_crosses)(da[1], a[2], a[1], da[2], g[2]);
  SN_P(add_crosses)(da[1], c[0], a[1], dc[0], g[3]);
  SN_P(add_crosses)(dc[1], a[2], c[1], da[2], g[3]);
  SN_P(add_crosses)(dc[0], a[0], c[0], da[0], g[4]);
  SN_P(add_crosses)(da[2], c[2], a[2], dc[2], g[4]);
  SN_P(add_crosses)(da[0], c[1], a[0], dc[1], g[5]);
  SN_P(add_crosses)(dc[2], a[1], c[2], da[1], g[5]);
}

// Products of the cut cells among the lanes of a go, from and to their modes.
static void SN_P(multiply_cut_lanes)(const sn_flesh* flesh, const sn_flesh_work* work, size_t row,
                                     int lane, sn_hessian kind, WIDE s[3][8]) {
  for (int l = 0; l < SN_P(SN_LANES); ++l) {
    double modes[3][8], g[3][8];
    if (!(flesh->cut->lanes[row] >> (lane + l) & 1)) continue;
    for (int i = 0; i < 3; ++i) {
      for (int m = 1; m < 8; ++m) modes[i][m] = s[i][m][l];
    }
    multiply_cut(flesh, work, cut_number(flesh->cut, row, lane + l), kind, modes, g);
    for (int i = 0; i < 3; ++i) {
      for (int m = 1; m < 8; ++m) s[i][m][l] = (SN_REAL)g[i][m];
    }
  }
}

static inline MASK SN_P(cut_mask)(uint8_t lanes, int lane) {
  MASK mask;
  for (int l = 0; l < SN_P(SN_LANES); ++l) mask[l] = lanes >> (lane + l) & 1 ? -1 : 0;
  return mask;
}

// y += K v for a row, of any law: with the linear modes s, U H(U^T s V) V^T. The
// cells of `cut` lanes go by their own points.
static inline void SN_P(apply_framed)(const sn_flesh* flesh, const sn_flesh_work* work, size_t row,
                                      int child, int lane, sn_hessian kind, WIDE h2, WIDE h3,
                                      uint8_t cut, WIDE (*v)[3], WIDE (*y)[3]) {
  const float* tangent = tangent_of(work, row);
  WIDE s[3][8], own[3][8], G[9], C[9], frame[9], hessian[12], mean[6][3], a;
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_MATERIAL, 1, &a);
  WIDE a2 = a * h2, a3 = a * h3;
  for (int i = 0; i < 3; ++i) SN_P(to_modes)(v + CHILD[child], i, s[i]);
  if (cut) {
    memcpy(own, s, sizeof own);
    SN_P(multiply_cut_lanes)(flesh, work, row, lane, kind, own);
  }
  bool with_mean = work->volume && kind == SN_HESSIAN_EXACT;
  if (with_mean) {
    SN_P(multiply_mean_volume)(volume_of(work, row), lane, s, mean);
  }
  for (int i = 0; i < 3; ++i) {
    s[i][3] *= a2;
    s[i][5] *= a2;
    s[i][6] *= a2;
    s[i][7] *= a3;
    for (int j = 0; j < 3; ++j) G[3 * i + j] = s[i][1 << j];
  }
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_U, 9, frame);
  SN_P(transposed_times)(frame, G, C);
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_V, 9, frame);
  SN_P(matrix_times)(C, frame, G);
  SN_P(load_hessian)(work, row, lane, kind, SN_FORM_FRAMES, hessian);
  SN_P(multiply_framed)(hessian, G);
  SN_P(times_transposed)(G, frame, C);
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_U, 9, frame);
  SN_P(matrix_times)(frame, C, G);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) s[i][1 << j] = G[3 * i + j];
    for (int j = 0; j < 3 && with_mean; ++j) {
      s[i][1 << j] += mean[j][i];
      s[i][MODE_OF[j]] += mean[3 + j][i];
    }
    for (int m = 1; m < 8 && cut; ++m) {
      s[i][m] = SELECT(SN_P(cut_mask)(cut, lane), own[i][m], s[i][m]);
    }
    SN_P(add_modes)(s[i], i, y + CHILD[child]);
  }
}

// sums += K v for a packet whose matrices are kept.
static inline void SN_P(multiply_pairs)(const sn_packet_matrices* matrices, uint32_t packet,
                                        int lane, WIDE v[POINTS][3], WIDE sums[POINTS][3]) {
  MASK any = v[0][0] != SET(0);
  for (int k = 1; k < 3 * POINTS; ++k) any |= v[k / 3][k % 3] != SET(0);
  if (!SN_P(sn_mask_any)(any)) return;
  for (int e = 0; e < SN_FAMILY_PAIRS; ++e) {
    int i = matrices->ends[e][0], j = matrices->ends[e][1];
    WIDE K[9], d[3];
    SN_P(load_tangent)(matrices->numbers[packet][e][0], lane, 0, 9, K);
    for (int k = 0; k < 3; ++k) d[k] = v[j][k] - v[i][k];
    for (int k = 0; k < 3; ++k) {
      const WIDE* row = K + 3 * k;
      sums[i][k] = FMA(row[0], d[0], FMA(row[1], d[1], FMA(row[2], d[2], sums[i][k])));
      sums[j][k] = FMA(-K[k], d[0], FMA(-K[3 + k], d[1], FMA(-K[6 + k], d[2], sums[j][k])));
    }
  }
}

// out = K in, of a chunk's private nodes
__attribute__((always_inline)) static inline void SN_P(multiply_packets)(
    const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
    const SN_P(private_nodes) * in, SN_P(private_nodes) * out, sn_tangent_form form) {
  const sn_families* f = flesh->families;
  bool sharp = work->sharp && flesh->cut;
  bool by_pairs = form == SN_FORM_FRAMES && sharp && work->matrices && !SN_REAL_IS_DOUBLE &&
                  kind == SN_HESSIAN_DEFINITE;
  WIDE h2 = SET((SN_REAL)(flesh->hourglass * SN_HOURGLASS_EDGE));
  WIDE h3 = SET((SN_REAL)(flesh->hourglass * SN_HOURGLASS_CORNER));
  SN_P(clear_nodes)(f, chunk, out);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_P(SN_LANES)) {
      WIDE v[POINTS][3], sums[POINTS][3];
      SN_P(load_lattice)(f, packet, lane, in, v, sums);
      if (by_pairs) SN_P(multiply_pairs)(work->matrices, packet, lane, v, sums);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8 && !by_pairs;
           row = sn_family_next(row)) {
        if (lane == 0) SN_P(prefetch_tangent)(work, row.at, kind, form);
        if (form == SN_FORM_COROTATED) {
          SN_P(apply_corotated)(work, row.at, row.child, lane, kind, h2, h3, v, sums);
        } else {
          if (lane == 0 && work->volume && kind == SN_HESSIAN_EXACT)
            SN_P(prefetch_volume)(work, row.at);
          uint8_t cut = sharp ? cut_lanes(flesh, row.at) : 0;
          SN_P(apply_framed)
          (flesh, work, row.at, row.child, lane, kind, h2, h3, cut, v, sums);
        }
      }
      SN_P(add_lattice)(f, packet, lane, sums, out);
    }
  }
}

__attribute__((always_inline)) static inline void SN_P(apply_form)(
    const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
    const SN_P(sn_addends) * addends, const SN_REAL* p, SN_REAL* y, sn_tangent_form form) {
  SN_P(private_nodes) in, out;
  SN_P(fetch_nodes)(flesh, chunk, p, &in);
  SN_P(multiply_packets)(flesh, work, kind, chunk, &in, &out, form);
  SN_P(deliver_nodes)(flesh, chunk, &out, addends, &in, work->slots, y);
}

static void SN_P(apply_R)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                          const SN_P(sn_addends) * addends, const SN_REAL* p, SN_REAL* y) {
  SN_P(apply_form)(flesh, work, kind, chunk, addends, p, y, SN_FORM_COROTATED);
}
static void SN_P(apply_UV)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind,
                           size_t chunk, const SN_P(sn_addends) * addends, const SN_REAL* p,
                           SN_REAL* y) {
  SN_P(apply_form)(flesh, work, kind, chunk, addends, p, y, SN_FORM_FRAMES);
}

// Modes of the shape function of child k's conforming node k ^ away, whose values at the corners k ^ d are 1 at a
// corner that does not hang and its share at those that do (octree/hanging.h). A corner adds 1 or -1 to each mode,
// by the sides of the cell that it lies on.
__attribute__((always_inline)) static inline void SN_P(shape_modes)(int k, int away, MASK hangs[8],
                                                                    WIDE s[8]) {
  for (int m = 1; m < 8; ++m) s[m] = SET(0);
#pragma GCC unroll 8
  for (int d = 0; d < 8; ++d) {
    if ((away & ~d) || (d == 7 && away != 7)) continue;  // corners within or above `away`
    WIDE share = SET((SN_REAL)(d == 3 || d == 5 || d == 6 ? 0.25 : 0.5)), value = SET(1);
    if (d == away && d % 7 != 0) value = SELECT(hangs[d], share, value);
    if (d != away) value = KEEP(hangs[d], share);
#pragma GCC unroll 8
    for (int m = 1; m < 8; ++m) s[m] += __builtin_parity(m & ~d) ? -value : value;
  }
  for (int m = 1; m < 8; ++m) s[m] *= SET(__builtin_parity(m & k) ? -1 : 1);
}

// What the law gives to the diagonal of K for dF = e_i s^T is a quadratic form of s: xx yy zz, twice xy yz xz.
// Corotated: tr(R^T dF) = r.s and w = s x r, with r the i-th row of R, so it is a I + b r r^T + [r]x^T L [r]x.
static inline void SN_P(corotated_diagonal)(const WIDE* tangent, const WIDE L[6], int i,
                                            WIDE form[6]) {
  const WIDE *ab = tangent, *r = tangent + ROW_R + 3 * i;
  WIDE b[3] = {ab[1] * r[0], ab[1] * r[1], ab[1] * r[2]}, l[3][3];
  for (int j = 0; j < 3; ++j) {  // L times column j of [r]x, which is r x e_j
    int k = (j + 1) % 3, m = (j + 2) % 3;
    WIDE column[3];
    column[j] = SET(0), column[k] = r[m], column[m] = -r[k];
    SN_P(symmetric_product)(L, column, l[j]);
  }
  for (int e = 0; e < 6; ++e) {
    int j = e % 3, k = e < 3 ? j : (j + 1) % 3, m = (j + 1) % 3, n = (j + 2) % 3;
    form[e] = FMA(b[j], r[k], FMA(r[n], l[k][m], -(r[m] * l[k][n])));
    form[e] = e < 3 ? form[e] + ab[0] : form[e] + form[e];
  }
}

// In the frames dF is u t^T, with u the i-th row of U, and the form is one of t = V^T s.
static inline void SN_P(framed_diagonal)(const WIDE* tangent, const WIDE hessian[12], int i,
                                         WIDE form[6]) {
  const WIDE* u = tangent + SN_TANGENT_U + 3 * i;
  for (int k = 0; k < 3; ++k) form[k] = hessian[k] * u[k] * u[k];
  for (int k = 0; k < 3; ++k) {
    int a = (k + 1) % 3, b = (k + 2) % 3, both = k == 2 ? 3 : 4 + k;
    WIDE sum = hessian[6 + k] + hessian[9 + k], u_ab = u[a] * u[b];
    form[a] = FMA(sum * u[b], u[b], form[a]);
    form[b] = FMA(sum * u[a], u[a], form[b]);
    form[both] = (u_ab + u_ab) * (hessian[both] + hessian[6 + k] - hessian[9 + k]);
  }
}

// The forms of a row for all axes, and what they are of: products of the numbers that take the place of s.
static inline void SN_P(diagonal_forms)(sn_tangent_form form, const WIDE* tangent,
                                        const WIDE* hessian, WIDE forms[3][6]) {
  for (int i = 0; i < 3; ++i) {
    if (form == SN_FORM_COROTATED) {
      SN_P(corotated_diagonal)(tangent, hessian, i, forms[i]);
    } else {
      SN_P(framed_diagonal)(tangent, hessian, i, forms[i]);
    }
  }
}
static inline void SN_P(form_products)(sn_tangent_form form, const WIDE* tangent, const WIDE s[8],
                                       WIDE products[6]) {
  WIDE t[3] = {s[1], s[2], s[4]};
  for (int k = 0; k < 3 && form == SN_FORM_FRAMES; ++k) {
    int V = SN_TANGENT_V + k;
    t[k] = SN_P(dot3)(tangent[V], tangent[V + 3], tangent[V + 6], s[1], s[2], s[4]);
  }
  for (int k = 0; k < 3; ++k) {
    products[k] = t[k] * t[k];
    products[3 + k] = t[k] * t[(k + 1) % 3];
  }
}
static inline WIDE SN_P(form_value)(const WIDE form[6], const WIDE products[6]) {
  return SN_P(dot3)(form[0], form[1], form[2], products[0], products[1], products[2]) +
         SN_P(dot3)(form[3], form[4], form[5], products[3], products[4], products[5]);
}

// What the mean of J adds to the diagonal: the pressure does not, as all that moves moves along one axis.
static inline WIDE SN_P(mean_volume_entry)(const sn_flesh_work* work, size_t row, int lane, int i,
                                           const WIDE s[8]) {
  if (!work->volume) return SET(0);
  const float* volume = volume_of(work, row);
  WIDE Q[3], q, factor, along = SET(0);
  SN_P(load_tangent)(volume, lane, 3 * i, 3, Q);
  SN_P(load_tangent)(volume, lane, SN_VOLUME_FACTOR, 1, &factor);
  for (int k = 0; k < 3; ++k) {
    SN_P(load_tangent)(volume, lane, 9 + 3 * k + i, 1, &q);
    along = FMA(Q[k], s[1 << k], FMA(q, s[MODE_OF[k]], along));
  }
  return factor * along * along;
}

// Entries of cut cells among the lanes: their own in place of those of whole cells.
static void SN_P(cut_entries)(const sn_flesh* flesh, const sn_flesh_work* work, size_t row,
                              int lane, sn_hessian kind, const WIDE s[8], WIDE values[3]) {
  uint8_t lanes = cut_lanes(flesh, row);
  for (int l = 0; l < SN_P(SN_LANES); ++l) {
    if (!(lanes >> (lane + l) & 1)) continue;
    double modes[8], entries[3];
    for (int m = 1; m < 8; ++m) modes[m] = s[m][l];
    cut_diagonal(flesh, work, cut_number(flesh->cut, row, lane + l), kind, modes, entries);
    for (int i = 0; i < 3; ++i) values[i][l] = (SN_REAL)entries[i];
  }
}

// The diagonal entries of a row. A node that stands for a hanging corner gets its
// entry at the parent's corner.
__attribute__((always_inline)) static inline void SN_P(add_child_diagonal)(
    const sn_flesh* flesh, const sn_flesh_work* work, uint32_t packet, sn_family_row row, int lane,
    sn_hessian kind, sn_tangent_form form, WIDE h2, WIDE h3, WIDE (*d)[3]) {
  int k = row.child;
  const uint32_t* words = flesh->families->hanging + (size_t)packet * LANES + lane;
  bool sharp = work->sharp && flesh->cut;
  WIDE tangent[SN_TANGENT_FRAMED], hessian[SN_HESSIAN_NUMBERS_FRAMES];
  SN_P(load_row)(tangent_of(work, row.at), lane, form, tangent);
  SN_P(load_hessian)(work, row.at, lane, kind, form, hessian);
  WIDE forms[3][6];
  SN_P(diagonal_forms)(form, tangent, hessian, forms);
  MASK hangs[8];
  for (int away = 0; away < 8; ++away) {
    hangs[away] = SN_P(sn_mask_bit)(words, sn_family_corner(k, k ^ away));
  }
#pragma GCC unroll 8
  for (int away = 0; away < 8; ++away) {
    WIDE s[8];
    SN_P(shape_modes)(k, away, hangs, s);
    WIDE hourglass =
        tangent[0] * FMA(h2, SN_P(dot3)(s[3], s[5], s[6], s[3], s[5], s[6]), h3 * s[7] * s[7]);
    WIDE values[3], products[6];
    SN_P(form_products)(form, tangent, s, products);
    for (int i = 0; i < 3; ++i) {
      values[i] = hourglass + SN_P(form_value)(forms[i], products);
      if (form == SN_FORM_FRAMES && kind == SN_HESSIAN_EXACT) {
        values[i] += SN_P(mean_volume_entry)(work, row.at, lane, i, s);
      }
    }
    if (sharp) SN_P(cut_entries)(flesh, work, row.at, lane, kind, s, values);
    for (int i = 0; i < 3; ++i) {
      d[sn_family_corner(k, k ^ away)][i] += KEEP(~hangs[away], values[i]);
      d[sn_family_corner(k ^ away, k ^ away)][i] += KEEP(hangs[away], values[i]);
    }
  }
}

// The same where nothing hangs and no cell is cut. The shape function of a corner then has all sums 1 or -1,
// those of the opposite corner are the same but for the sign of some, and a diagonal is even in the linear ones.
__attribute__((always_inline)) static inline void SN_P(add_even_diagonal)(
    const sn_flesh_work* work, sn_family_row row, int lane, sn_hessian kind, sn_tangent_form form,
    WIDE h2, WIDE h3, WIDE (*d)[3]) {
  WIDE tangent[SN_TANGENT_FRAMED], hessian[SN_HESSIAN_NUMBERS_FRAMES], s[8];
  SN_P(load_row)(tangent_of(work, row.at), lane, form, tangent);
  SN_P(load_hessian)(work, row.at, lane, kind, form, hessian);
  WIDE hourglass = tangent[0] * FMA(h2, SET(3), h3), forms[3][6], products[6];
  SN_P(diagonal_forms)(form, tangent, hessian, forms);
  for (int c = 0; c < 4; ++c) {
    for (int k = 0; k < 3; ++k) s[1 << k] = SET(c >> k & 1 ? 1 : -1);
    SN_P(form_products)(form, tangent, s, products);
    for (int i = 0; i < 3; ++i) {
      WIDE value = hourglass + SN_P(form_value)(forms[i], products);
      d[sn_family_corner(row.child, c)][i] += value;
      d[sn_family_corner(row.child, c ^ 7)][i] += value;
    }
  }
}

__attribute__((always_inline)) static inline void SN_P(diagonal_form)(const sn_flesh* flesh,
                                                                      sn_flesh_work* work,
                                                                      sn_hessian kind, size_t chunk,
                                                                      SN_REAL* y,
                                                                      sn_tangent_form form) {
  const sn_families* f = flesh->families;
  SN_P(private_nodes) out;
  WIDE h2 = SET((SN_REAL)(flesh->hourglass * SN_HOURGLASS_EDGE));
  WIDE h3 = SET((SN_REAL)(flesh->hourglass * SN_HOURGLASS_CORNER));
  // with what depends on the hourglass modes of a shape function, or on more than a whole cell
  bool uneven = (work->volume && kind == SN_HESSIAN_EXACT) || (work->sharp && flesh->cut);
  SN_P(clear_nodes)(f, chunk, &out);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_P(SN_LANES)) {
      WIDE sums[POINTS][3];
      memset(sums, 0, sizeof sums);
      uint32_t hangs = SN_P(any_hanging)(f->hanging + (size_t)packet * LANES + lane);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8;
           row = sn_family_next(row)) {
        if (!uneven && !(hangs >> CHILD[row.child] & CHILD_POINTS)) {
          SN_P(add_even_diagonal)(work, row, lane, kind, form, h2, h3, sums);
        } else {
          SN_P(add_child_diagonal)
          (flesh, work, packet, row, lane, kind, form, h2, h3, sums);
        }
      }
      SN_P(scatter_points)(f, packet, lane, sums, &out);
    }
  }
  SN_P(deliver_nodes)(flesh, chunk, &out, NULL, NULL, work->slots, y);
}

static void SN_P(diagonal_R)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind,
                             size_t chunk, SN_REAL* y) {
  SN_P(diagonal_form)(flesh, work, kind, chunk, y, SN_FORM_COROTATED);
}
static void SN_P(diagonal_UV)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind,
                              size_t chunk, SN_REAL* y) {
  SN_P(diagonal_form)(flesh, work, kind, chunk, y, SN_FORM_FRAMES);
}
