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
// Bits of a child's corners, from the first on.
#define CHILD_POINTS 0x361bu
// Hourglass modes that the mean of J depends on.
static const int MODE_OF[3] = {3, 5, 6};

static uint32_t chunk_end(const sn_flesh* flesh, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_PACKETS, all = flesh->families->packet_count;
  return (uint32_t)(end < all ? end : all);
}

static const int HESSIAN_NUMBERS[SN_FORM_COUNT] = {
    [SN_FORM_COROTATED] = SN_HESSIAN_NUMBERS_COROTATED,
    [SN_FORM_FRAMES] = SN_HESSIAN_NUMBERS_FRAMES,
    [SN_FORM_POLYNOMIAL] = SN_HESSIAN_NUMBERS_FRAMES};

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
  return work->volume + row * (size_t)work->volume_size * LANES;
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

// Newton steps from three rows made orthonormal; more for large shear, which are rare.
#define MOST_TURNS 5

// A row of cells, as both halves of their lanes: the gradient at the centre less I, with it, and its rotation.
typedef struct cell_row {
  sn_wide_d s[2][3][8], D[2][9], F[2][9], R[2][9];
} cell_row;

// Rotations in single precision; by the full decomposition where F is close to having none, or Newton's method ends
// with another one. Steps wait for one another, so that those of two rows are made by turns.
__attribute__((always_inline)) static inline void find_rotations_f(int count, sn_wide_f (*F)[9],
                                                                   sn_wide_f (*R)[9]) {
  sn_mask_f good[2] = {{0}, {0}}, all = {0};
  for (int n = 0; n < count; ++n) {
    memcpy(R[n], F[n], sizeof R[n]);
    orthonormalise_f(R[n]);
  }
  for (int turn = 0; turn < MOST_TURNS && (turn == 0 || sn_mask_any_f(~all)); ++turn) {
    for (int n = 0; n < count; ++n) {
      polar_step_f step = turn_to_polar_f(F[n], ~good[n], R[n]);
      good[n] |= step.best & (step.size < sn_wide_set_f(1e-5f));
    }
    all = good[0] & good[count - 1];
  }
  for (int n = 0; n < count; ++n) {
    if (!sn_mask_any_f(~good[n])) continue;
    sn_wide_f exact[9], V[9];
    decompose_f(F[n], exact, V);
    for (int i = 0; i < 9; ++i) R[n][i] = sn_wide_select_f(good[n], R[n][i], exact[i]);
  }
}

// The rotation of F to round-off, after a first step of size `first`: each leaves the third power of itself. Where two
// do not get there, because F is close to having no rotation, by the full decomposition.
static inline void refine_rotation(const sn_wide_d F[9], sn_wide_d first, sn_wide_d R[9]) {
  sn_mask_d good = first < sn_wide_set_d(1e-11);
  if (!sn_mask_any_d(~good)) return;
  sn_wide_d second = turn_to_polar_d(F, ~good, R).size;
  good |= (first < sn_wide_set_d(1e-8)) & (second < sn_wide_set_d(1e-16));
  if (!sn_mask_any_d(~good)) return;
  sn_wide_d exact[9], V[9];
  decompose_d(F, exact, V);
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

__attribute__((always_inline)) static inline void find_rotations(int count, cell_row* rows) {
  sn_wide_f narrow[2][9], turn[2][9];
  sn_mask_d all = {-1, -1, -1, -1};
  for (int n = 0; n < count; ++n) make_narrow(rows[n].F, narrow[n]);
  find_rotations_f(count, narrow, turn);
  for (int n = 0; n < count; ++n) {
    sn_wide_d first[2];
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < 9; ++i) rows[n].R[side][i] = half_of(&turn[n][i], side * SN_LANES_d);
      orthonormalise_d(rows[n].R[side]);
    }
    for (int side = 0; side < 2; ++side) {
      first[side] = turn_to_polar_d(rows[n].F[side], all, rows[n].R[side]).size;
    }
    for (int side = 0; side < 2; ++side) {
      refine_rotation(rows[n].F[side], first[side], rows[n].R[side]);
    }
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

static inline void find_gradients(sn_wide_d v[2][POINTS][3], const sn_wide_d h[2], int child,
                                  cell_row* row) {
  for (int side = 0; side < 2; ++side) {
    sn_wide_d scale = sn_wide_set_d(0.25) / h[side];
    for (int i = 0; i < 3; ++i) {
      to_modes_d(v[side] + CHILD[child], i, row->s[side][i]);
      for (int j = 0; j < 3; ++j) {
        sn_wide_d d = scale * row->s[side][i][1 << j];
        row->D[side][3 * i + j] = d;
        row->F[side][3 * i + j] = i == j ? d + sn_wide_set_d(1) : d;
      }
    }
  }
}

// Energy of one row of a child, added to that of each half; its modes become the gradient.
__attribute__((always_inline)) static inline void evaluate_row(const sn_flesh* flesh,
                                                               const sn_flesh_work* work, size_t at,
                                                               const sn_wide_d h[2],
                                                               sn_tangent_form form, cell_row* row,
                                                               sn_wide_d energy[2]) {
  sn_wide_d own = sn_wide_set_d(1 / work->stiffening), ab[2];
  frames_d frames[2];
  if (form == SN_FORM_FRAMES) find_both_frames(row->F, frames);
  for (int side = 0; side < 2; ++side) {
    int lane = side * SN_LANES_d;
    load_tangent_d(tangent_of(work, at), lane, SN_TANGENT_MATERIAL, 2, ab);
    if (work->kept && !work->pressure) ab[1] += sn_wide_load_d(kept_of(work, at) + lane);
    for (int i = 0; i < 2; ++i) ab[i] *= own;
    mixed_side mixed = load_mixed(work, at, lane, own);
    if (form == SN_FORM_COROTATED) {
      energy[side] += evaluate_hourglass(flesh, ab[0], row->s[side]);
      energy[side] +=
          evaluate_corotated(ab, &mixed, h[side], row->D[side], row->R[side], row->s[side]);
    } else if (form == SN_FORM_POLYNOMIAL) {
      energy[side] +=
          evaluate_polynomial(flesh, ab, &mixed, h[side], row->D[side], row->F[side], row->s[side]);
    } else {
      energy[side] += evaluate_side(flesh, work, at, lane, ab, &mixed, h[side], row->F[side],
                                    &frames[side], row->s[side]);
    }
    store_measure(work, at, lane, &mixed);
  }
}

// Energy of a packet; its gradient goes to `out` if there is one.
__attribute__((always_inline)) static inline double evaluate_packet(
    const sn_flesh* flesh, const sn_flesh_work* work, uint32_t packet, const private_nodes_d* in,
    private_nodes_d* out, sn_tangent_form form) {
  const sn_families* f = flesh->families;
  sn_wide_d v[2][POINTS][3], sums[2][POINTS][3], h[2], energy[2] = {{0}, {0}};
  memcpy(h, f->edges + (size_t)packet * LANES, sizeof h);
  for (int side = 0; side < 2; ++side) {
    load_lattice_d(f, packet, side * SN_LANES_d, in, v[side], sums[side]);
  }
  for (sn_family_row next = sn_family_first(f, packet); next.child < 8;) {
    sn_family_row children[2];
    cell_row rows[2];
    int count = 0;
    for (; count < 2 && next.child < 8; next = sn_family_next(next)) children[count++] = next;
    for (int n = 0; n < count; ++n) {
      // The material alone is read of the tangents, which the processor does not foresee.
      const float* later = tangent_of(work, children[n].at + 8);
      for (int i = 0; i < 2; ++i) __builtin_prefetch(later + i * LANES);
      find_gradients(v, h, children[n].child, &rows[n]);
    }
    if (form == SN_FORM_COROTATED) find_rotations(count, rows);
    for (int n = 0; n < count; ++n) {
      evaluate_row(flesh, work, children[n].at, h, form, &rows[n], energy);
      for (int side = 0; side < 2 && out; ++side) {
        for (int i = 0; i < 3; ++i) {
          add_modes_d(rows[n].s[side][i], i, sums[side] + CHILD[children[n].child]);
        }
      }
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
static double evaluate_F(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u,
                         double* g) {
  if (work->eased) return evaluate_UV(flesh, work, chunk, u, g);
  return evaluate_form(flesh, work, chunk, u, g, SN_FORM_POLYNOMIAL);
}

// The gradient at the centre is formed in double and kept in single precision.
static void deform(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u) {
  const sn_families* f = flesh->families;
  private_nodes_d in;
  fetch_nodes_d(flesh, chunk, u, &in);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_LANES_d) {
      sn_wide_d v[POINTS][3], s[3][8], G[9], h;
      memcpy(&h, f->edges + (size_t)packet * LANES + lane, sizeof h);
      sn_wide_d scale = sn_wide_set_d(0.25) / h;
      load_lattice_d(f, packet, lane, &in, v, NULL);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8;
           row = sn_family_next(row)) {
        float* F = tangent_of(work, row.at) + SN_TANGENT_F * LANES + lane;
        for (int i = 0; i < 3; ++i) to_modes_d(v + CHILD[row.child], i, s[i]);
        gradient_of(s, scale, G);
        for (int i = 0; i < 9; ++i) store_narrow(G[i], F + i * LANES);
        if (flesh->form != SN_FORM_COROTATED) store_mean_volume(work, row.at, lane, s, scale);
        if (work->sharp) deform_cut_side(flesh, work, row.at, lane, h, s);
      }
    }
  }
}

// The volume of one cell, now and at rest, and J of it. Of a cut one what is inside counts, and its J is the mean of
// that, as its centre may be far from any flesh.
static double measure_cell(const sn_flesh* flesh, size_t row, int lane, double h, double q[3][8],
                           sn_flesh_measure* sum, double mean, double centre) {
  double cube = h * h * h, now = 0, rest = 0;
  if (!(cut_lanes(flesh, row) >> lane & 1)) {
    sum->volume += cube * mean;
    sum->rest += cube;
    return centre;
  }
  const sn_cut_cells* cut = flesh->cut;
  uint32_t number = cut_number(cut, row, lane);
  for (uint32_t g = cut->starts[number]; g < cut->starts[number + 1]; ++g) {
    const sn_point_group* group = &cut->groups[g];
    for (int p = 0; p < SN_GROUP_POINTS; ++p) {
      double eta[3] = {group->places[0][p], group->places[1][p], group->places[2][p]};
      double volume = cube * cut->shares[number] * group->weights[p];
      now += volume * sn_cell_volume_at(h, q, eta);
      rest += volume;
    }
  }
  sum->volume += now;
  sum->rest += rest;
  return now / rest;
}

static void measure_side(const sn_flesh* flesh, size_t row, int lane, sn_wide_d h,
                         sn_wide_d s[3][8], sn_flesh_measure* sum) {
  mean_volume v;
  sn_wide_d F[9], scale = sn_wide_set_d(0.25) / h;
  gradient_of(s, scale, F);
  find_mean_volume(F, s, scale, &v);
  for (int l = 0; l < SN_LANES_d; ++l) {
    double q[3][8];
    if (!(flesh->families->lanes[row] >> (lane + l) & 1)) continue;
    for (int i = 0; i < 3; ++i) {
      for (int m = 1; m < 8; ++m) q[i][m] = 0.125 * s[i][m][l];
    }
    double J = measure_cell(flesh, row, lane + l, h[l], q, sum, v.mean[l], v.centre[l]);
    sum->inverted += J <= 0;
    sum->ruined += !(J * SN_RUINED > 1 && J < SN_RUINED);
    if (J < sum->min_j) sum->min_j = J;
  }
}

static void measure(const sn_flesh* flesh, size_t chunk, const double* u, sn_flesh_measure* sum) {
  const sn_families* f = flesh->families;
  private_nodes_d in;
  fetch_nodes_d(flesh, chunk, u, &in);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_LANES_d) {
      sn_wide_d v[POINTS][3], s[3][8], h;
      memcpy(&h, f->edges + (size_t)packet * LANES + lane, sizeof h);
      load_lattice_d(f, packet, lane, &in, v, NULL);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8;
           row = sn_family_next(row)) {
        for (int i = 0; i < 3; ++i) to_modes_d(v + CHILD[row.child], i, s[i]);
        measure_side(flesh, row.at, lane, h, s, sum);
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
static inline void linearise_corotated(const sn_flesh* flesh, sn_flesh_work* work, size_t row,
                                       const frames_f* frames) {
  (void)flesh;
  sn_wide_f zero = sn_wide_set_f(0), one = sn_wide_set_f(1), R[9], ab[2], exact[3], definite[3];
  const sn_wide_f* s = frames->s;
  float* tangent = tangent_of(work, row);
  load_tangent_f(tangent, 0, SN_TANGENT_MATERIAL, 2, ab);
  sn_wide_f held = zero;  // pressure that is not b times the trace
  if (work->pressure) {
    held = sn_wide_set_f((float)work->stiffening) * pressure_of(work, row);
  } else if (work->kept) {
    ab[1] += sn_wide_load_f(kept_of(work, row));
  }
  sn_wide_f mu = sn_wide_set_f(0.5f) * ab[0];
  sn_wide_f above = ab[1] * ((s[0] - one) + (s[1] - one) + (s[2] - one)) + held - (mu + mu);
  sn_wide_f least = sn_wide_set_f((float)SN_ROTATION_FLOOR) * s[0] + sn_wide_set_f(1e-12f);
  for (int k = 0; k < 3; ++k) {
    sn_wide_f sum = s[(k + 1) % 3] + s[(k + 2) % 3];
    exact[k] = above / sn_wide_select_f(sum > least, sum, least);
    definite[k] = sn_wide_select_f(exact[k] < zero - mu, zero - mu, exact[k]);
  }
  times_transposed_f(frames->U, frames->V, R);
  store_rotation(R, tangent + SN_TANGENT_TURN * LANES);
  from_frame(definite, frames->V, tangent + SN_TANGENT_L * LANES);
  if (work->exact) from_frame(exact, frames->V, exact_of(work, row));
}

#include "elasticity/flesh_matrices_impl.h"

// Two rows at a time, in whose frames `finish` forms the tangents. Behind an odd one that comes last it is taken again.
__attribute__((always_inline)) static inline void linearise_rows(
    const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
    void (*finish)(const sn_flesh*, sn_flesh_work*, size_t, const frames_f*)) {
  const uint32_t* rows = flesh->families->rows;
  size_t end = rows[chunk_end(flesh, chunk)];
  for (size_t row = rows[chunk * SN_CHUNK_PACKETS]; row < end; row += 2) {
    size_t pair[2] = {row, row + 1 < end ? row + 1 : row};
    frames_f frames[2];
    for (int n = 0; n < 2; ++n) {
      load_tangent_f(tangent_of(work, pair[n]), 0, SN_TANGENT_F, 9, frames[n].F);
      for (int i = 0; i < 9; ++i) frames[n].V[i] = sn_wide_set_f(i % 4 == 0);
    }
    find_frames_of_f(2, frames);
    for (int n = 0; n < 2 && (n == 0 || pair[1] > row); ++n) {
      finish(flesh, work, pair[n], &frames[n]);
    }
  }
}

static void linearise_R(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk) {
  linearise_rows(flesh, work, chunk, linearise_corotated);
}
static void linearise_UV(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk) {
  linearise_rows(flesh, work, chunk, linearise_framed);
  if (work->sharp && work->matrices) keep_matrices(flesh, work, chunk);
}

#include "elasticity/flesh_smooth_impl.h"

#undef SN_REAL_IS_DOUBLE

#define PRESSURES gather_pressures_d, gather_pressures_f, scatter_pressures_d, scatter_pressures_f

const sn_flesh_kernels SN_KERNELS = {
    SN_KERNELS_NAME,
    SN_WIDE_FUSED,
    is_supported,
    cell_matrices,
    measure,
    {[SN_FORM_COROTATED] = {evaluate_R, deform, linearise_R, apply_R_d, apply_R_f, smooth_R,
                            diagonal_R_d, diagonal_R_f, PRESSURES},
     [SN_FORM_FRAMES] = {evaluate_UV, deform, linearise_UV, apply_UV_d, apply_UV_f, smooth_UV,
                         diagonal_UV_d, diagonal_UV_f, PRESSURES},
     [SN_FORM_POLYNOMIAL] = {evaluate_F, deform, linearise_UV, apply_F_d, apply_F_f, smooth_UV,
                             diagonal_F_d, diagonal_F_f, PRESSURES}}};
