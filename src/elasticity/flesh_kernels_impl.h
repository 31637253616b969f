// The body of flesh_kernels.c for one instruction set; SN_KERNELS names the table that it defines.
// Notation and derivation: corotated_cell.h, docs/theory/corotated.md and docs/theory/kernels.md.
//
// With the plain sums s_m = 8 q_m of a cell, a = mu h / 8 and b = lambda h / 16,
//     energy                 8 h^2 (a |F - R|^2 + b tr^2(S - I)) + a/2 sum H_m |s_m|^2
//     dE/ds, linear modes    4 h (a (F - R) + b tr(S - I) R),   F = I + s / (4 h)
//     dE/ds, hourglass       a H_m s_m
//     product with K         a s + R (b tr(W) I + [l]x),  W = R^T s,  l = L w,  w = axial(W - W^T)
// where L carries the factor h / 16.
#include <math.h>

#include "base/precision.h"
#include "elasticity/flesh_kernels.h"
#include "elasticity/law_cell.h"
#include "math/simd.h"
#include "math/svd3.h"

#define LANES SN_FAMILY_LANES
#define POINTS SN_FAMILY_POINTS

// Lattice points that may hang, with the parent's corners between which they lie.
static const uint8_t EDGES[12][3] = {{1, 0, 2},  {7, 6, 8},   {19, 18, 20}, {25, 24, 26},
                                     {3, 0, 6},  {5, 2, 8},   {21, 18, 24}, {23, 20, 26},
                                     {9, 0, 18}, {11, 2, 20}, {15, 6, 24},  {17, 8, 26}};
static const uint8_t FACES[6][5] = {{4, 0, 2, 6, 8},    {22, 18, 20, 24, 26}, {10, 0, 2, 18, 20},
                                    {16, 6, 8, 24, 26}, {12, 0, 6, 18, 24},   {14, 2, 8, 20, 26}};
// First lattice point of each child.
static const uint8_t CHILD[8] = {0, 1, 3, 4, 9, 10, 12, 13};
// Hourglass modes that the mean of J depends on.
static const int MODE_OF[3] = {3, 5, 6};

static uint32_t chunk_end(const sn_flesh* flesh, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_PACKETS, all = flesh->families->packet_count;
  return (uint32_t)(end < all ? end : all);
}

static const int HESSIAN_NUMBERS[SN_FORM_COUNT] = {SN_HESSIAN_NUMBERS_COROTATED,
                                                   SN_HESSIAN_NUMBERS_FRAMES};

static inline float* tangent_of(const sn_flesh_work* work, size_t row) {
  return work->tangents + row * (size_t)work->tangent_size * LANES;
}
static inline float* exact_of(const sn_flesh_work* work, size_t row) {
  return work->exact + row * (size_t)work->hessian_size * LANES;
}

// What pressures keep of b = lambda h / 16, for the cells of a row.
static inline const float* kept_of(const sn_flesh_work* work, size_t row) {
  return work->kept + row * LANES;
}
static inline sn_wide_f pressure_of(const sn_flesh_work* work, size_t row) {
  return sn_wide_load_f(work->pressure + row * LANES);
}
static inline float* volume_of(const sn_flesh_work* work, size_t row) {
  return work->volume + row * SN_VOLUME_NUMBERS * LANES;
}

// Which cells of a row are cut, a bit a lane, and the number of one of them.
static inline uint8_t cut_lanes(const sn_flesh* flesh, size_t row) {
  return flesh->cut ? flesh->cut->lanes[row] : 0;
}
static inline uint32_t cut_number(const sn_cut_cells* cut, size_t row, int lane) {
  return cut->firsts[row] + (uint32_t)__builtin_popcount(cut->lanes[row] & ((1u << lane) - 1));
}
static void multiply_cut(const sn_flesh* flesh, const sn_flesh_work* work, uint32_t number,
                         sn_hessian kind, double s[3][8], double g[3][8]);
static void cut_diagonal(const sn_flesh* flesh, const sn_flesh_work* work, uint32_t number,
                         sn_hessian kind, const double s[8], double entries[3]);

// The second of each two needs the first: an empty line keeps them in order.
#define SN_REAL_IS_DOUBLE 1
#include "elasticity/flesh_wide_impl.h"
// after what it is made of
#include "elasticity/flesh_pressure_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "elasticity/flesh_wide_impl.h"
// after what it is made of
#include "elasticity/flesh_pressure_impl.h"

// Energy and forces: rotations are found in single precision, eight at a time, and made exact in double
// (docs/theory/kernels.md).

#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 1

// Four lanes of eight as doubles.
static inline sn_wide_d half_of(const sn_wide_f* v, int lane) {
  return sn_wide_load_d((const float*)v + lane);
}

static inline void cross_d(const sn_wide_d a[3], const sn_wide_d b[3], sn_wide_d out[3]) {
  for (int j = 0; j < 3; ++j) {
    int k = (j + 1) % 3, l = (j + 2) % 3;
    out[j] = sn_wide_fma_d(a[k], b[l], -(a[l] * b[k]));
  }
}

// Rows 0 and 1 of R made orthonormal, row 2 their cross product.
static inline void orthonormalise(sn_wide_d R[9]) {
  sn_wide_d one = sn_wide_set_d(1);
  sn_wide_d a = one / sn_wide_sqrt_d(dot3_d(R[0], R[1], R[2], R[0], R[1], R[2]));
  for (int j = 0; j < 3; ++j) R[j] *= a;
  sn_wide_d along = dot3_d(R[0], R[1], R[2], R[3], R[4], R[5]);
  for (int j = 0; j < 3; ++j) R[3 + j] -= along * R[j];
  sn_wide_d b = one / sn_wide_sqrt_d(dot3_d(R[3], R[4], R[5], R[3], R[4], R[5]));
  for (int j = 0; j < 3; ++j) R[3 + j] *= b;
  cross_d(R, R + 3, R + 6);
}

// One Newton step towards the rotation of F: R <- R exp [w] with (tr(S) I - S) w = axial(S), S = R^T F,
// up to the third power of the small w. Returns |w|^2.
static inline sn_wide_d turn_to_polar(const sn_wide_d F[9], sn_wide_d R[9]) {
  sn_wide_d S[9], half = sn_wide_set_d(0.5), one = sn_wide_set_d(1);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      S[3 * i + j] = dot3_d(R[i], R[3 + i], R[6 + i], F[j], F[3 + j], F[6 + j]);
    }
  }
  sn_wide_d a[3] = {S[7] - S[5], S[2] - S[6], S[3] - S[1]};
  // G = tr(S) I - S, symmetric: its adjugate times a over its determinant
  sn_wide_d g00 = S[4] + S[8], g11 = S[0] + S[8], g22 = S[0] + S[4];
  sn_wide_d g01 = -(half * (S[1] + S[3])), g02 = -(half * (S[2] + S[6]));
  sn_wide_d g12 = -(half * (S[5] + S[7]));
  sn_wide_d c00 = g11 * g22 - g12 * g12, c11 = g00 * g22 - g02 * g02, c22 = g00 * g11 - g01 * g01;
  sn_wide_d c01 = g02 * g12 - g01 * g22, c02 = g01 * g12 - g02 * g11, c12 = g01 * g02 - g00 * g12;
  sn_wide_d scale = one / dot3_d(g00, g01, g02, c00, c01, c02);
  sn_wide_d w[3] = {scale * dot3_d(c00, c01, c02, a[0], a[1], a[2]),
                    scale * dot3_d(c01, c11, c12, a[0], a[1], a[2]),
                    scale * dot3_d(c02, c12, c22, a[0], a[1], a[2])};
  // Rows r of R become r (I + [w] + [w]^2/2 + [w]^3/6); a row times [w] is r x w.
  for (int i = 0; i < 9; i += 3) {
    sn_wide_d t1[3], t2[3], t3[3];
    cross_d(R + i, w, t1);
    cross_d(t1, w, t2);
    cross_d(t2, w, t3);
    for (int j = 0; j < 3; ++j) R[i + j] += t1[j] + half * t2[j] + sn_wide_set_d(1.0 / 6) * t3[j];
  }
  return dot3_d(w[0], w[1], w[2], w[0], w[1], w[2]);
}

// The rotation of F to round-off, from a near one. Where two Newton steps do not get there, because F
// is close to having no rotation, by the full decomposition.
static inline void refine_rotation(const sn_wide_d F[9], sn_wide_d R[9]) {
  orthonormalise(R);
  sn_wide_d first = turn_to_polar(F, R), second = turn_to_polar(F, R);
  sn_mask_d good = (first < sn_wide_set_d(1e-8)) & (second < sn_wide_set_d(1e-16));
  if (!sn_mask_any_d(~good)) return;
  sn_wide_d exact[9], sigma[3], V[9];
  decompose_d(F, exact, sigma, V);
  for (int i = 0; i < 9; ++i) R[i] = sn_wide_select_d(good, R[i], exact[i]);
}

// Both halves in single precision.
static inline void make_narrow(sn_wide_d F[2][9], sn_wide_f narrow[9]) {
  for (int i = 0; i < 9; ++i) {
    sn_quad_f low = __builtin_convertvector(F[0][i], sn_quad_f);
    sn_quad_f high = __builtin_convertvector(F[1][i], sn_quad_f);
    narrow[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

// Rotations of one child of all eight lanes, from the gradients of both halves.
static inline void find_rotations(sn_wide_d F[2][9], sn_wide_d R[2][9]) {
  sn_wide_f narrow[9], turn[9], sigma[3], V[9];
  make_narrow(F, narrow);
  decompose_f(narrow, turn, sigma, V);
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 9; ++i) R[side][i] = half_of(&turn[i], side * SN_LANES_d);
    refine_rotation(F[side], R[side]);
  }
}

// Energy of the hourglass modes; they become its gradient.
static inline sn_wide_d evaluate_hourglass(const sn_flesh* flesh, sn_wide_d a, sn_wide_d s[3][8]) {
  sn_wide_d h2 = sn_wide_set_d(flesh->hourglass * SN_HOURGLASS_EDGE);
  sn_wide_d h3 = sn_wide_set_d(flesh->hourglass * SN_HOURGLASS_CORNER);
  sn_wide_d sum = sn_wide_set_d(0);
  for (int i = 0; i < 3; ++i) {
    sum +=
        h2 * dot3_d(s[i][3], s[i][5], s[i][6], s[i][3], s[i][5], s[i][6]) + h3 * s[i][7] * s[i][7];
    s[i][3] *= a * h2;
    s[i][5] *= a * h2;
    s[i][6] *= a * h2;
    s[i][7] *= a * h3;
  }
  return sn_wide_set_d(0.5) * a * sum;
}

// Where pressures are unknowns: p h / 16, what lambda h / 16 they keep (1 where nothing), and M. Else 0, 1.
typedef struct mixed_side {
  sn_wide_d pressure, kept, measure;
} mixed_side;

static inline mixed_side load_mixed(const sn_flesh_work* work, size_t row, int lane,
                                    sn_wide_d own) {
  sn_wide_d zero = sn_wide_set_d(0), one = sn_wide_set_d(1);
  if (!work->pressure) return (mixed_side){zero, one, zero};
  size_t place = row * LANES + (size_t)lane;
  sn_wide_d kept = own * sn_wide_load_d(work->kept + place);
  return (mixed_side){sn_wide_load_d(work->pressure + place),
                      sn_wide_select_d(kept > zero, kept, one), zero};
}

// p (M - p / (2 kept)), and remember M.
static inline sn_wide_d mixed_energy(mixed_side* mixed, sn_wide_d M) {
  mixed->measure = M;
  return mixed->pressure * (M - sn_wide_set_d(0.5) * mixed->pressure / mixed->kept);
}

static inline void store_measure(const sn_flesh_work* work, size_t row, int lane,
                                 const mixed_side* mixed) {
  sn_quad_f narrow = __builtin_convertvector(mixed->measure, sn_quad_f);
  size_t place = row * LANES + (size_t)lane;
  if (work->pressure) memcpy(work->measure + place, &narrow, sizeof narrow);
}

// Energy of the linear modes of one child of four lanes, corotated; they become its gradient.
static inline sn_wide_d evaluate_corotated(const sn_wide_d ab[2], mixed_side* mixed, sn_wide_d h,
                                           const sn_wide_d D[9], const sn_wide_d R[9],
                                           sn_wide_d s[3][8]) {
  sn_wide_d one = sn_wide_set_d(1), off[9], shear = sn_wide_set_d(0), trace = sn_wide_set_d(0);
  for (int i = 0; i < 9; ++i) {
    // F - R as D + (I - R), exact at rest; tr(S - I) = tr(R^T (F - R))
    off[i] = D[i] + (i % 4 == 0 ? one - R[i] : -R[i]);
    shear = sn_wide_fma_d(off[i], off[i], shear);
    trace = sn_wide_fma_d(R[i], off[i], trace);
  }
  sn_wide_d four_h = sn_wide_set_d(4) * h, a = four_h * ab[0];
  sn_wide_d b = four_h * sn_wide_fma_d(ab[1], trace, mixed->pressure);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) s[i][1 << j] = a * off[3 * i + j] + b * R[3 * i + j];
  }
  return sn_wide_set_d(8) * h * h * (ab[0] * shear + ab[1] * trace * trace) +
         four_h * four_h * mixed_energy(mixed, trace);
}

#include "elasticity/flesh_frames_impl.h"
// after what it is made of
#include "elasticity/flesh_cut_impl.h"

// Energy of a packet; its gradient goes to `out` if there is one.
__attribute__((always_inline)) static inline double evaluate_packet(
    const sn_flesh* flesh, const sn_flesh_work* work, uint32_t packet, const private_nodes_d* in,
    private_nodes_d* out, sn_tangent_form form) {
  const sn_families* f = flesh->families;
  sn_wide_d v[2][POINTS][3], sums[2][POINTS][3], h[2], energy[2] = {{0}, {0}};
  sn_wide_d own = sn_wide_set_d(1 / work->stiffening);
  memcpy(h, f->edges + (size_t)packet * LANES, sizeof h);
  for (int side = 0; side < 2; ++side) {
    load_lattice_d(f, packet, side * SN_LANES_d, in, v[side], sums[side]);
  }
  for (sn_family_row row = sn_family_first(f, packet); row.child < 8; row = sn_family_next(row)) {
    const float* tangent = tangent_of(work, row.at);
    sn_wide_d s[2][3][8], D[2][9], F[2][9], R[2][9], ab[2];
    frames_d frames[2];
    for (int side = 0; side < 2; ++side) {
      sn_wide_d scale = sn_wide_set_d(0.25) / h[side];
      for (int i = 0; i < 3; ++i) {
        to_modes_d(v[side] + CHILD[row.child], i, s[side][i]);
        for (int j = 0; j < 3; ++j) {
          int e = 3 * i + j;
          D[side][e] = scale * s[side][i][1 << j];
          F[side][e] = i == j ? D[side][e] + sn_wide_set_d(1) : D[side][e];
        }
      }
    }
    if (form == SN_FORM_COROTATED) {
      find_rotations(F, R);
    } else {
      find_both_frames(F, frames);
    }
    for (int side = 0; side < 2; ++side) {
      int lane = side * SN_LANES_d;
      load_tangent_d(tangent, lane, SN_TANGENT_MATERIAL, 2, ab);
      if (work->kept && !work->pressure) {
        ab[1] += sn_wide_load_d(kept_of(work, row.at) + lane);
      }
      for (int i = 0; i < 2; ++i) ab[i] *= own;
      mixed_side mixed = load_mixed(work, row.at, lane, own);
      if (form == SN_FORM_COROTATED) {
        energy[side] += evaluate_hourglass(flesh, ab[0], s[side]);
        energy[side] += evaluate_corotated(ab, &mixed, h[side], D[side], R[side], s[side]);
      } else {
        energy[side] += evaluate_side(flesh, work, row.at, lane, ab, &mixed, h[side], F[side],
                                      &frames[side], s[side]);
      }
      store_measure(work, row.at, lane, &mixed);
      for (int i = 0; i < 3 && out; ++i) add_modes_d(s[side][i], i, sums[side] + CHILD[row.child]);
    }
  }
  for (int side = 0; side < 2 && out; ++side) {
    add_lattice_d(f, packet, side * SN_LANES_d, sums[side], out);
  }
  sn_wide_d sum = energy[0] + energy[1];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

__attribute__((always_inline)) static inline double evaluate_form(const sn_flesh* flesh,
                                                                  sn_flesh_work* work, size_t chunk,
                                                                  const double* u, double* g,
                                                                  sn_tangent_form form) {
  const sn_families* f = flesh->families;
  private_nodes_d in, out;
  double energy = 0;
  fetch_nodes_d(flesh, chunk, u, &in);
  if (g) clear_nodes_d(f, chunk, &out);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    energy += evaluate_packet(flesh, work, packet, &in, g ? &out : NULL, form);
  }
  if (g) deliver_nodes_d(flesh, chunk, &out, NULL, NULL, work->slots, g);
  return energy;
}

static double evaluate_R(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u,
                         double* g) {
  return evaluate_form(flesh, work, chunk, u, g, SN_FORM_COROTATED);
}
static double evaluate_UV(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u,
                          double* g) {
  return evaluate_form(flesh, work, chunk, u, g, SN_FORM_FRAMES);
}

// The gradient at the centre is formed in double and kept in single precision.
static void deform(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u) {
  const sn_families* f = flesh->families;
  private_nodes_d in;
  fetch_nodes_d(flesh, chunk, u, &in);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_LANES_d) {
      sn_wide_d v[POINTS][3], s[3][8], h, one = sn_wide_set_d(1);
      memcpy(&h, f->edges + (size_t)packet * LANES + lane, sizeof h);
      sn_wide_d scale = sn_wide_set_d(0.25) / h;
      load_lattice_d(f, packet, lane, &in, v, NULL);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8;
           row = sn_family_next(row)) {
        float* F = tangent_of(work, row.at) + SN_TANGENT_F * LANES + lane;
        for (int i = 0; i < 3; ++i) {
          to_modes_d(v + CHILD[row.child], i, s[i]);
          for (int j = 0; j < 3; ++j) {
            sn_wide_d d = scale * s[i][1 << j];
            sn_quad_f narrow = __builtin_convertvector(i == j ? d + one : d, sn_quad_f);
            memcpy(F + (3 * i + j) * LANES, &narrow, sizeof narrow);
          }
        }
        if (flesh->form == SN_FORM_FRAMES) store_mean_volume(work, row.at, lane, s, scale);
        if (work->sharp) deform_cut_side(flesh, work, row.at, lane, h, s);
      }
    }
  }
}

// In single precision alone: the tangents.

#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0

// sum over k of value_k v_k v_k^T: xx yy zz xy yz xz
static inline void from_frame(const sn_wide_f value[3], const sn_wide_f V[9], float* out) {
  static const int ROW[6] = {0, 1, 2, 0, 1, 0}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  for (int e = 0; e < 6; ++e) {
    const sn_wide_f *a = V + 3 * ROW[e], *b = V + 3 * COLUMN[e];
    *(sn_wide_f*)(out + e * LANES) =
        dot3_f(value[0] * a[0], value[1] * a[1], value[2] * a[2], b[0], b[1], b[2]);
  }
}

// In units of h / 16: mu is a / 2, lambda is b.
static void linearise_R(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk) {
  sn_wide_f zero = sn_wide_set_f(0), one = sn_wide_set_f(1);
  const uint32_t* rows = flesh->families->rows;
  for (size_t row = rows[chunk * SN_CHUNK_PACKETS]; row < rows[chunk_end(flesh, chunk)]; ++row) {
    float* tangent = tangent_of(work, row);
    sn_wide_f F[9], R[9], s[3], V[9], ab[2], exact[3], definite[3];
    load_tangent_f(tangent, 0, SN_TANGENT_R, 9, F);
    load_tangent_f(tangent, 0, SN_TANGENT_MATERIAL, 2, ab);
    sn_wide_f held = zero;  // pressure that is not b times the trace
    if (work->pressure) {
      held = sn_wide_set_f((float)work->stiffening) * pressure_of(work, row);
    } else if (work->kept) {
      ab[1] += sn_wide_load_f(kept_of(work, row));
    }
    decompose_f(F, R, s, V);
    sn_wide_f mu = sn_wide_set_f(0.5f) * ab[0];
    sn_wide_f above = ab[1] * ((s[0] - one) + (s[1] - one) + (s[2] - one)) + held - (mu + mu);
    sn_wide_f least = sn_wide_set_f((float)SN_ROTATION_FLOOR) * s[0] + sn_wide_set_f(1e-12f);
    for (int k = 0; k < 3; ++k) {
      sn_wide_f sum = s[(k + 1) % 3] + s[(k + 2) % 3];
      exact[k] = above / sn_wide_select_f(sum > least, sum, least);
      definite[k] = sn_wide_select_f(exact[k] < zero - mu, zero - mu, exact[k]);
    }
    for (int i = 0; i < 9; ++i) *(sn_wide_f*)(tangent + (SN_TANGENT_R + i) * LANES) = R[i];
    from_frame(definite, V, tangent + SN_TANGENT_L * LANES);
    if (work->exact) {
      from_frame(exact, V, exact_of(work, row));
    }
  }
}

#include "elasticity/flesh_matrices_impl.h"

static void linearise_UV(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk) {
  const uint32_t* rows = flesh->families->rows;
  for (size_t row = rows[chunk * SN_CHUNK_PACKETS]; row < rows[chunk_end(flesh, chunk)]; ++row) {
    linearise_framed(flesh, work, row);
    if (work->sharp) linearise_cut_cells(flesh, work, row);
  }
  if (work->sharp && work->matrices) keep_matrices(flesh, work, chunk);
}

#include "elasticity/flesh_smooth_impl.h"

#undef SN_REAL_IS_DOUBLE

#define PRESSURES gather_pressures_d, gather_pressures_f, scatter_pressures_d, scatter_pressures_f

const sn_flesh_kernels SN_KERNELS = {
    SN_KERNELS_NAME,
    is_supported,
    cell_matrices,
    {[SN_FORM_COROTATED] = {evaluate_R, deform, linearise_R, apply_R_d, apply_R_f, smooth_R,
                            diagonal_d, diagonal_f, PRESSURES},
     [SN_FORM_FRAMES] = {evaluate_UV, deform, linearise_UV, apply_UV_d, apply_UV_f, smooth_UV,
                         diagonal_d, diagonal_f, PRESSURES}}};
