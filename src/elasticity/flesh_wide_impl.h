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
#define ROW_U 2
#define ROW_V 11
#define ROW_NUMBERS 20
static inline void SN_P(load_frames)(const float* tangent, int lane, WIDE U[9], WIDE V[9]) {
  WIDE q[8];
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_U, 8, q);
  SN_P(rotation_of)(q, U);
  SN_P(rotation_of)(q + 4, V);
}
static inline void SN_P(load_row)(const float* tangent, int lane, sn_tangent_form form, WIDE* out) {
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_MATERIAL, 2, out);
  if (form == SN_FORM_COROTATED) SN_P(load_rotation)(tangent, lane, out + ROW_R);
  if (form == SN_FORM_FRAMES) SN_P(load_frames)(tangent, lane, out + ROW_U, out + ROW_V);
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

// Ask for what products need of the row that comes eight later: it comes from far away, once a product.
// Always inlined, because GCC takes a function that only prefetches for one that does nothing.
__attribute__((always_inline)) static inline void SN_P(prefetch_numbers)(const float* at,
                                                                         int count) {
  for (int line = 0; line < count * LANES * 4; line += 64)
    __builtin_prefetch((const char*)at + line);
}
__attribute__((always_inline)) static inline void SN_P(prefetch_row)(const sn_flesh_work* work,
                                                                     size_t row, sn_hessian kind,
                                                                     sn_tangent_form form) {
  bool exact = kind == SN_HESSIAN_EXACT, framed = form == SN_FORM_FRAMES;
  int count = framed ? SN_TANGENT_FRAMED : SN_TANGENT_L;
  if (form == SN_FORM_POLYNOMIAL) {
    count = 2;
  } else if (!exact) {
    count += HESSIAN_NUMBERS[form];
  }
  SN_P(prefetch_numbers)(tangent_of(work, row + 8), count);
  if (!exact) return;
  if (form == SN_FORM_POLYNOMIAL) {
    SN_P(prefetch_numbers)(volume_of(work, row + 8), SN_VOLUME_NUMBERS_POLYNOMIAL);
    return;
  }
  SN_P(prefetch_numbers)(exact_of(work, row + 8), HESSIAN_NUMBERS[form]);
  if (framed && work->volume) {
    SN_P(prefetch_numbers)(volume_of(work, row + 8), SN_VOLUME_NUMBERS_FRAMES);
  }
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

// Columns c of F at the centre and a = s / (4 h) of the hourglass modes 3, 5, 6; or how both change.
typedef struct SN_P(volume_vectors) {
  WIDE c[3][3], a[3][3];
} SN_P(volume_vectors);

static inline void SN_P(load_volume_vectors)(const float* volume, int lane,
                                             SN_P(volume_vectors) * x) {
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) SN_P(load_tangent)(volume, lane, 3 * i + k, 1, &x->c[k][i]);
    SN_P(load_tangent)(volume, lane, SN_VOLUME_A + 3 * k, 3, x->a[k]);
  }
}

static inline void SN_P(volume_vectors_of)(WIDE s[3][8], SN_P(volume_vectors) * d) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      d->c[k][i] = s[i][1 << k];
      d->a[k][i] = s[i][MODE_OF[k]];
    }
  }
}

// The mean of J over the cell is Jm = det[c0 c1 c2] + 1/3 (det[c0 a3 a5] + det[c1 a6 a3] + det[c2 a5 a6]).
// The cofactors of F, by column, and how Jm grows with the columns (Q 0 to 2) and the hourglass modes (3 to 5).
static inline void SN_P(differentiate_volume)(const SN_P(volume_vectors) * x, WIDE cofactors[3][3],
                                              WIDE Q[6][3]) {
  WIDE third = SET((SN_REAL)(1.0 / 3)), zero = SET(0);
  const WIDE(*c)[3] = x->c, (*a)[3] = x->a;
  for (int k = 0; k < 3; ++k) {
    SN_P(cross)(c[(k + 1) % 3], c[(k + 2) % 3], cofactors[k]);
    for (int i = 0; i < 3; ++i) Q[3 + k][i] = zero;
  }
  SN_P(cross)(a[0], a[1], Q[0]);
  SN_P(cross)(a[2], a[0], Q[1]);
  SN_P(cross)(a[1], a[2], Q[2]);
  SN_P(add_crosses)(a[1], c[0], c[1], a[2], Q[3]);
  SN_P(add_crosses)(c[0], a[0], a[2], c[2], Q[4]);
  SN_P(add_crosses)(a[0], c[1], c[2], a[1], Q[5]);
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) {
      Q[k][i] = FMA(third, Q[k][i], cofactors[k][i]);
      Q[3 + k][i] *= third;
    }
  }
}

// What a function of Jm gives to an exact product for the change d, beside the pressure times the change of the
// cofactors: factor Q (Q . d), and a third of the pressure times how the rest of Q changes.
static inline void SN_P(multiply_mean_volume)(const SN_P(volume_vectors) * x,
                                              const SN_P(volume_vectors) * d, WIDE Q[6][3],
                                              WIDE pressure, WIDE factor, WIDE g[6][3]) {
  WIDE third = SET((SN_REAL)(1.0 / 3)) * pressure, along = SET(0), a[3][3], c[3][3];
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) {
      along = FMA(Q[k][i], d->c[k][i], FMA(Q[3 + k][i], d->a[k][i], along));
      a[k][i] = third * x->a[k][i];
      c[k][i] = third * x->c[k][i];
    }
  }
  along *= factor;
  for (int m = 0; m < 6; ++m) {
    for (int i = 0; i < 3; ++i) g[m][i] = along * Q[m][i];
  }
  const WIDE(*dc)[3] = d->c, (*da)[3] = d->a;
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

// Beside the law at the centre, in the form of frames.
static inline void SN_P(multiply_volume_framed)(const float* volume, int lane, WIDE s[3][8],
                                                WIDE g[6][3]) {
  SN_P(volume_vectors) x, d;
  WIDE cofactors[3][3], Q[6][3], pressure, factor;
  SN_P(load_volume_vectors)(volume, lane, &x);
  SN_P(load_tangent)(volume, lane, SN_VOLUME_PRESSURE, 1, &pressure);
  SN_P(load_tangent)(volume, lane, SN_VOLUME_FACTOR, 1, &factor);
  SN_P(differentiate_volume)(&x, cofactors, Q);
  SN_P(volume_vectors_of)(s, &d);
  SN_P(multiply_mean_volume)(&x, &d, Q, pressure, factor, g);
}

// The second derivative by Jm of the polynomial law.
static inline WIDE SN_P(polynomial_bulk)(const sn_flesh* flesh, const WIDE ab[2]) {
  return SN_P(sn_law_bulk)(flesh->tissue.kinds, SET((SN_REAL)0.5) * ab[0], ab[1]);
}

// y += K v for a row, exact, without frames. With the pressure p = (lambda + mu) (Jm - 1),
//     W  = mu/2 (|F|^2 - 3) - mu (det F - 1) + (lambda + mu)/2 (Jm - 1)^2
//     dP = mu dF + (p - mu) d cof F  + what the rest of Jm gives
static inline void SN_P(apply_polynomial)(const sn_flesh* flesh, const sn_flesh_work* work,
                                          size_t row, int child, int lane, WIDE h2, WIDE h3,
                                          WIDE (*v)[3], WIDE (*y)[3]) {
  const float* volume = volume_of(work, row);
  SN_P(volume_vectors) x, d;
  WIDE s[3][8], ab[2], cofactors[3][3], Q[6][3], g[6][3], pressure;
  SN_P(load_tangent)(tangent_of(work, row), lane, SN_TANGENT_MATERIAL, 2, ab);
  SN_P(load_tangent)(volume, lane, SN_VOLUME_PRESSURE, 1, &pressure);
  SN_P(load_volume_vectors)(volume, lane, &x);
  for (int i = 0; i < 3; ++i) SN_P(to_modes)(v + CHILD[child], i, s[i]);
  SN_P(volume_vectors_of)(s, &d);
  SN_P(differentiate_volume)(&x, cofactors, Q);
  SN_P(multiply_mean_volume)(&x, &d, Q, pressure, SN_P(polynomial_bulk)(flesh, ab), g);
  WIDE mu = SET((SN_REAL)0.5) * ab[0], push = pressure - mu, a2 = ab[0] * h2, a3 = ab[0] * h3;
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) x.c[k][i] *= push;
  }
  for (int k = 0; k < 3; ++k) {
    int m = (k + 1) % 3, n = (k + 2) % 3;
    SN_P(add_crosses)(d.c[m], x.c[n], x.c[m], d.c[n], g[k]);
  }
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      s[i][1 << k] = FMA(mu, s[i][1 << k], g[k][i]);
      s[i][MODE_OF[k]] = FMA(a2, s[i][MODE_OF[k]], g[3 + k][i]);
    }
    s[i][7] *= a3;
    SN_P(add_modes)(s[i], i, y + CHILD[child]);
  }
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
  WIDE s[3][8], own[3][8], G[9], C[9], U[9], V[9], hessian[12], mean[6][3], a;
  SN_P(load_tangent)(tangent, lane, SN_TANGENT_MATERIAL, 1, &a);
  WIDE a2 = a * h2, a3 = a * h3;
  for (int i = 0; i < 3; ++i) SN_P(to_modes)(v + CHILD[child], i, s[i]);
  if (cut) {
    memcpy(own, s, sizeof own);
    SN_P(multiply_cut_lanes)(flesh, work, row, lane, kind, own);
  }
  bool with_mean = work->volume && kind == SN_HESSIAN_EXACT;
  if (with_mean) SN_P(multiply_volume_framed)(volume_of(work, row), lane, s, mean);
  for (int i = 0; i < 3; ++i) {
    s[i][3] *= a2;
    s[i][5] *= a2;
    s[i][6] *= a2;
    s[i][7] *= a3;
    for (int j = 0; j < 3; ++j) G[3 * i + j] = s[i][1 << j];
  }
  SN_P(load_frames)(tangent, lane, U, V);
  SN_P(transposed_times)(U, G, C);
  SN_P(matrix_times)(C, V, G);
  SN_P(load_hessian)(work, row, lane, kind, SN_FORM_FRAMES, hessian);
  SN_P(multiply_framed)(hessian, G);
  SN_P(times_transposed)(G, V, C);
  SN_P(matrix_times)(U, C, G);
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
        if (lane == 0) SN_P(prefetch_row)(work, row.at, kind, form);
        if (form == SN_FORM_COROTATED) {
          SN_P(apply_corotated)(work, row.at, row.child, lane, kind, h2, h3, v, sums);
        } else if (form == SN_FORM_POLYNOMIAL) {
          SN_P(apply_polynomial)(flesh, work, row.at, row.child, lane, h2, h3, v, sums);
        } else {
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
static void SN_P(apply_F)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                          const SN_P(sn_addends) * addends, const SN_REAL* p, SN_REAL* y) {
  if (kind == SN_HESSIAN_EXACT && !work->eased) {
    SN_P(apply_form)(flesh, work, kind, chunk, addends, p, y, SN_FORM_POLYNOMIAL);
  } else {
    SN_P(apply_UV)(flesh, work, SN_HESSIAN_DEFINITE, chunk, addends, p, y);
  }
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
  const WIDE* u = tangent + ROW_U + 3 * i;
  for (int k = 0; k < 3; ++k) form[k] = hessian[k] * u[k] * u[k];
  for (int k = 0; k < 3; ++k) {
    int a = (k + 1) % 3, b = (k + 2) % 3, both = k == 2 ? 3 : 4 + k;
    WIDE sum = hessian[6 + k] + hessian[9 + k], u_ab = u[a] * u[b];
    form[a] = FMA(sum * u[b], u[b], form[a]);
    form[b] = FMA(sum * u[a], u[a], form[b]);
    form[both] = (u_ab + u_ab) * (hessian[both] + hessian[6 + k] - hessian[9 + k]);
  }
}

// The forms of a row for all axes, and what they are of: products of the numbers that take the place of s. Of
// the polynomial law it is mu |s|^2: all that moves moves along one axis, and the cofactors do not change.
static inline void SN_P(diagonal_forms)(sn_tangent_form form, const WIDE* tangent,
                                        const WIDE* hessian, WIDE forms[3][6]) {
  for (int i = 0; i < 3; ++i) {
    if (form == SN_FORM_COROTATED) {
      SN_P(corotated_diagonal)(tangent, hessian, i, forms[i]);
    } else if (form == SN_FORM_FRAMES) {
      SN_P(framed_diagonal)(tangent, hessian, i, forms[i]);
    } else {
      for (int k = 0; k < 6; ++k) forms[i][k] = k < 3 ? SET((SN_REAL)0.5) * tangent[0] : SET(0);
    }
  }
}
static inline void SN_P(form_products)(sn_tangent_form form, const WIDE* tangent, const WIDE s[8],
                                       WIDE products[6]) {
  WIDE t[3] = {s[1], s[2], s[4]};
  for (int k = 0; k < 3 && form == SN_FORM_FRAMES; ++k) {
    const WIDE* v = tangent + ROW_V + k;
    t[k] = SN_P(dot3)(v[0], v[3], v[6], s[1], s[2], s[4]);
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

// What the mean of J adds to the diagonal, factor (Q . s)^2; the pressure adds nothing.
typedef struct SN_P(mean_entries) {
  WIDE factor, Q[6][3];
} SN_P(mean_entries);

static inline void SN_P(load_mean_entries)(const sn_flesh* flesh, const sn_flesh_work* work,
                                           size_t row, int lane, sn_tangent_form form,
                                           const WIDE ab[2], SN_P(mean_entries) * mean) {
  SN_P(volume_vectors) x;
  WIDE cofactors[3][3];
  const float* volume = volume_of(work, row);
  SN_P(load_volume_vectors)(volume, lane, &x);
  SN_P(differentiate_volume)(&x, cofactors, mean->Q);
  if (form == SN_FORM_POLYNOMIAL) {
    mean->factor = SN_P(polynomial_bulk)(flesh, ab);
  } else {
    SN_P(load_tangent)(volume, lane, SN_VOLUME_FACTOR, 1, &mean->factor);
  }
}

static inline WIDE SN_P(mean_entry)(const SN_P(mean_entries) * mean, int i, const WIDE s[8]) {
  WIDE along = SET(0);
  for (int k = 0; k < 3; ++k) {
    along = FMA(mean->Q[k][i], s[1 << k], FMA(mean->Q[3 + k][i], s[MODE_OF[k]], along));
  }
  return mean->factor * along * along;
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
  bool with_mean = form == SN_FORM_POLYNOMIAL ||
                   (form == SN_FORM_FRAMES && kind == SN_HESSIAN_EXACT && work->volume);
  WIDE tangent[ROW_NUMBERS], hessian[SN_HESSIAN_NUMBERS_FRAMES], forms[3][6];
  SN_P(mean_entries) mean;
  SN_P(load_row)(tangent_of(work, row.at), lane, form, tangent);
  if (form != SN_FORM_POLYNOMIAL) SN_P(load_hessian)(work, row.at, lane, kind, form, hessian);
  if (with_mean) SN_P(load_mean_entries)(flesh, work, row.at, lane, form, tangent, &mean);
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
      if (with_mean) values[i] += SN_P(mean_entry)(&mean, i, s);
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
  WIDE tangent[ROW_NUMBERS], hessian[SN_HESSIAN_NUMBERS_FRAMES], s[8];
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
static void SN_P(diagonal_F)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind,
                             size_t chunk, SN_REAL* y) {
  if (kind == SN_HESSIAN_EXACT && !work->eased) {
    SN_P(diagonal_form)(flesh, work, kind, chunk, y, SN_FORM_POLYNOMIAL);
  } else {
    SN_P(diagonal_UV)(flesh, work, SN_HESSIAN_DEFINITE, chunk, y);
  }
}
