// Shares that muscles have in the cells of one grid, and products with their stiffness.
//
// The fibres of a share point along w at rest, and deformed along
//     F w = w + sum over the cell's conforming nodes k of coef_k u_k,   coef = W^T (grad N . w),
// at one point of the share. So all that a share needs to know of its cell are eight numbers, and its
// stiffness is that of a spring between places: with a symmetric 3 x 3 matrix B, coef coef^T x B.
#ifndef SN_BODY_FIBER_CELLS_H
#define SN_BODY_FIBER_CELLS_H

#include "base/parallel.h"
#include "octree/families.h"

typedef struct sn_fiber_cells {
  const sn_octree* tree;
  uint32_t count;        // shares
  uint32_t* cells;       // by muscle, then cell (count)
  uint32_t (*nodes)[8];  // of these cells (count)
  float (*coefs)[8];     // 1/m (count)
  uint32_t* starts;      // of each node's uses (node_count + 1)
  uint32_t* uses;        // share * 8 + corner, ascending within a node (8 x count)
} sn_fiber_cells;

// Coefficients of the direction w at the place xi of a cell, each in 0..1.
void sn_fiber_coefs(const sn_octree* tree, uint32_t cell, const double xi[3], sn_vec3 w,
                    double coefs[8]);

// Room for `count` shares; then, once the cells are known, the nodes' lists.
sn_status sn_fiber_cells_create(const sn_octree* tree, uint32_t count, sn_arena* arena,
                                sn_fiber_cells* cells, sn_error* err);
sn_status sn_fiber_cells_link(sn_fiber_cells* cells, sn_arena* arena, sn_error* err);

// y += K x with a matrix (xx yy zz xy xz yz, N m) a share. `pulls` is room, a row a share.
void sn_fiber_cells_multiply(const sn_fiber_cells* cells, sn_pool* pool, const float (*blocks)[6],
                             const float* x, float* y, float (*pulls)[3]);

// Adds to a diagonal, in single or double precision, what bounds K: as
//     |sum_k coef_k x_k|_B^2 <= sum_j |coef_j| sum_k |coef_k| |x_k|_B^2,
// and B itself is bounded by the sums of its rows. Of the two, one may be NULL.
void sn_fiber_cells_bound(const sn_fiber_cells* cells, sn_pool* pool, const float (*blocks)[6],
                          float* d_f, double* d_d);

#endif
