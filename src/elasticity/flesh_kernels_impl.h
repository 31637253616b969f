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

static uint32_t chunk_end(const sn_flesh* flesh, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_PACKETS, all = flesh->families->packet_count;
  return (uint32_t)(end < all ? end : all);
}

static inline float* tangent_of(const sn_flesh_work* work, uint32_t packet, int child) {
  return work->tangents + ((size_t)packet * 8 + child) * SN_TANGENT_SIZE * LANES;
}

#define SN_REAL_IS_DOUBLE 1
#include "elasticity/flesh_wide_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "elasticity/flesh_wide_impl.h"

// In double precision alone: energy and forces.

#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 1

// Energy of one child of each lane; its gradient goes to `g` if there is one.
static inline sn_wide_d evaluate_child(const sn_flesh* flesh, const sn_flesh_work* work,
                                       uint32_t packet, int child, int lane, sn_wide_d h,
                                       sn_wide_d (*v)[3], sn_wide_d (*g)[3]) {
  sn_wide_d s[3][8], ab[2], D[9], F[9], R[9], sigma[3], V[9], one = sn_wide_set_d(1);
  sn_wide_d h2 = sn_wide_set_d(flesh->hourglass * SN_HOURGLASS_EDGE);
  sn_wide_d h3 = sn_wide_set_d(flesh->hourglass * SN_HOURGLASS_CORNER);
  load_tangent_d(tangent_of(work, packet, child), lane, SN_TANGENT_MATERIAL, 2, ab);
  sn_wide_d scale = sn_wide_set_d(0.25) / h;
  for (int i = 0; i < 3; ++i) {
    to_modes_d(v + CHILD[child], i, s[i]);
    for (int j = 0; j < 3; ++j) {
      D[3 * i + j] = scale * s[i][1 << j];
      F[3 * i + j] = i == j ? D[3 * i + j] + one : D[3 * i + j];
    }
  }
  decompose_d(F, R, sigma, V);
  sn_wide_d stretch[3] = {sigma[0] - one, sigma[1] - one, sigma[2] - one};
  sn_wide_d trace = stretch[0] + stretch[1] + stretch[2];
  sn_wide_d shear = dot3_d(stretch[0], stretch[1], stretch[2], stretch[0], stretch[1], stretch[2]);
  sn_wide_d density = sn_wide_set_d(8) * h * h * (ab[0] * shear + ab[1] * trace * trace);
  sn_wide_d hourglass = sn_wide_set_d(0);
  for (int i = 0; i < 3; ++i) {
    hourglass +=
        h2 * dot3_d(s[i][3], s[i][5], s[i][6], s[i][3], s[i][5], s[i][6]) + h3 * s[i][7] * s[i][7];
  }
  sn_wide_d energy = density + sn_wide_set_d(0.5) * ab[0] * hourglass;
  if (!g) return energy;

  sn_wide_d a = sn_wide_set_d(4) * h * ab[0], b = sn_wide_set_d(4) * h * ab[1] * trace;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      // F - R as D + (I - R), exact at rest
      sn_wide_d r = R[3 * i + j], off = i == j ? one - r : -r;
      s[i][1 << j] = a * (D[3 * i + j] + off) + b * r;
    }
    s[i][3] *= ab[0] * h2;
    s[i][5] *= ab[0] * h2;
    s[i][6] *= ab[0] * h2;
    s[i][7] *= ab[0] * h3;
    add_modes_d(s[i], i, g + CHILD[child]);
  }
  return energy;
}

static double evaluate(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u,
                       double* g) {
  const sn_families* f = flesh->families;
  private_nodes_d in, out;
  double energy = 0;
  fetch_nodes_d(flesh, chunk, u, &in);
  if (g) clear_nodes_d(f, chunk, &out);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_LANES_d) {
      sn_wide_d v[POINTS][3], sums[POINTS][3], h, sum = sn_wide_set_d(0);
      memcpy(&h, f->edges + (size_t)packet * LANES + lane, sizeof h);
      load_lattice_d(f, packet, lane, &in, v);
      if (g) memset(sums, 0, sizeof sums);
      for (int child = 0; child < 8; ++child) {
        sum += evaluate_child(flesh, work, packet, child, lane, h, v, g ? sums : NULL);
      }
      if (g) add_lattice_d(f, packet, lane, sums, &out);
      energy += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  }
  if (g) deliver_nodes_d(f, chunk, &out, NULL, NULL, work->slots, g);
  return energy;
}

// The gradient at the centre is formed in double and kept in single precision.
static void deform(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u) {
  const sn_families* f = flesh->families;
  private_nodes_d in;
  fetch_nodes_d(flesh, chunk, u, &in);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_LANES_d) {
      sn_wide_d v[POINTS][3], h, one = sn_wide_set_d(1);
      memcpy(&h, f->edges + (size_t)packet * LANES + lane, sizeof h);
      sn_wide_d scale = sn_wide_set_d(0.25) / h;
      load_lattice_d(f, packet, lane, &in, v);
      for (int child = 0; child < 8; ++child) {
        float* F = tangent_of(work, packet, child) + SN_TANGENT_R * LANES + lane;
        for (int i = 0; i < 3; ++i) {
          sn_wide_d s[8];
          to_modes_d(v + CHILD[child], i, s);
          for (int j = 0; j < 3; ++j) {
            sn_wide_d d = scale * s[1 << j];
            sn_quad_f narrow = __builtin_convertvector(i == j ? d + one : d, sn_quad_f);
            memcpy(F + (3 * i + j) * LANES, &narrow, sizeof narrow);
          }
        }
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
static void linearise(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk) {
  sn_wide_f zero = sn_wide_set_f(0), one = sn_wide_set_f(1);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int child = 0; child < 8; ++child) {
      float* tangent = tangent_of(work, packet, child);
      sn_wide_f F[9], R[9], s[3], V[9], ab[2], exact[3], definite[3];
      load_tangent_f(tangent, 0, SN_TANGENT_R, 9, F);
      load_tangent_f(tangent, 0, SN_TANGENT_MATERIAL, 2, ab);
      decompose_f(F, R, s, V);
      sn_wide_f mu = sn_wide_set_f(0.5f) * ab[0];
      sn_wide_f above = ab[1] * ((s[0] - one) + (s[1] - one) + (s[2] - one)) - (mu + mu);
      sn_wide_f least = sn_wide_set_f((float)SN_ROTATION_FLOOR) * s[0] + sn_wide_set_f(1e-12f);
      for (int k = 0; k < 3; ++k) {
        sn_wide_f sum = s[(k + 1) % 3] + s[(k + 2) % 3];
        exact[k] = above / sn_wide_select_f(sum > least, sum, least);
        definite[k] = sn_wide_select_f(exact[k] < zero - mu, zero - mu, exact[k]);
      }
      for (int i = 0; i < 9; ++i) *(sn_wide_f*)(tangent + (SN_TANGENT_R + i) * LANES) = R[i];
      from_frame(definite, V, tangent + SN_TANGENT_L * LANES);
      if (work->exact) {
        from_frame(exact, V, work->exact + ((size_t)packet * 8 + child) * 6 * LANES);
      }
    }
  }
}

#undef SN_REAL_IS_DOUBLE

const sn_flesh_kernels SN_KERNELS = {SN_KERNELS_NAME, is_supported, evaluate,
                                     deform,          linearise,    apply_d,
                                     apply_f,         diagonal_d,   diagonal_f};
