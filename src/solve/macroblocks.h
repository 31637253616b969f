// The macroblocks of a body: aligned boxes of 16 x 8 x 8 cells of one level of the octree, whose inner
// nodes are eliminated exactly; and the preconditioner that comes of it. docs/theory/macroblock.md.
//
// With the inner nodes I of all blocks and the interface G, which is every other node,
//     K^-1 = | K_II^-1  0 |  +  | -K_II^-1 K_IG |  S^-1  ( -K_GI K_II^-1   1 ),    S = K_GG - K_GI K_II^-1 K_IG.
//            |    0     0 |     |       1       |
// The preconditioner has M_G^-1 in place of S^-1. In exact arithmetic CG with it is CG on S that is
// preconditioned by M_G, from an interior that is solved already; in single precision it stays right where
// CG on S alone does not, because nothing relies on the equations of inner nodes holding exactly. Terms that
// the blocks do not know are in the product of CG.
#ifndef SN_SOLVE_MACROBLOCKS_H
#define SN_SOLVE_MACROBLOCKS_H

#include "solve/faces.h"
#include "solve/macroblock.h"
#include "solve/multigrid.h"

// What does not change.
typedef struct sn_macroblocks {
  const sn_block_plan* plan;
  uint16_t offsets[SN_BLOCK_NODES];  // of nodes in vectors, as sn_block_node_offset has them
  uint8_t strides[SN_BLOCK_NODES];
  uint32_t count;
  uint32_t (*nodes)[SN_BLOCK_NODES];         // UINT32_MAX: none, or on the interface
  uint32_t (*cells)[64][2][SN_BLOCK_LANES];  // UINT32_MAX: none
  uint32_t inner_count, node_count;          // nodes in blocks, and all
  sn_box_grid boxes;
  sn_dissection faces;  // of what is in no block; no parts unless asked for
} sn_macroblocks;

// Boxes with next to no inner nodes are left out. On every level the boxes lie so that the fewest nodes are
// on the planes between them.
sn_status sn_macroblocks_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena,
                               sn_arena* scratch, sn_macroblocks* blocks, sn_error* err);

// The faces between blocks, for SN_INTERFACE_FACES. `held` as in vector.h, and must outlive the blocks.
sn_status sn_macroblocks_plan_faces(const sn_octree* tree, const uint8_t* held, sn_arena* arena,
                                    sn_arena* scratch, sn_macroblocks* blocks, sn_error* err);

// What preconditions the interface.
typedef enum sn_interface {
  SN_INTERFACE_NONE,
  SN_INTERFACE_JACOBI,    // its diagonal
  SN_INTERFACE_FACES,     // K between the nodes of each face, edge and corner of the boxes
  SN_INTERFACE_MULTIGRID  // a V-cycle for the whole body: of K^-1 the part on the interface is S^-1
} sn_interface;

// What a step writes.
typedef struct sn_macroblocks_work {
  const sn_macroblocks* blocks;
  const sn_block_kernels* kernels;
  sn_interface interface;
  sn_block_factor* factors;  // (count)
  sn_block_room** rooms;     // (room_count)
  uint32_t room_count;
  bool* stale;         // blocks that are to be factored anew (count)
  uint8_t* inner;      // axes of each node that are solved for in blocks: bits 1, 2, 4 (node_count)
  float* outside;      // 1 on the interface, 0 on inner and held nodes (3 x node_count)
  float* diagonal;     // what is added to that of the cells, N/m (3 x node_count)
  float *b, *t, *c;    // right side of the interface, product, correction (3 x node_count)
  sn_dissected faces;  // where these were planned
} sn_macroblocks_work;

// @param block_capacity of the finest level: nodes with blocks of their own
sn_status sn_macroblocks_work_create(const sn_macroblocks* blocks, sn_interface interface,
                                     uint32_t block_capacity, sn_pool* pool, sn_arena* arena,
                                     sn_macroblocks_work* work, sn_error* err);

// Before factoring, from the finest level: held nodes and those with blocks of their own stay on the
// interface; its springs and bounds `b` are added to the diagonal. With the same flesh as last time only blocks
// that differ in these are factored.
void sn_macroblocks_mark(sn_macroblocks_work* work, const sn_mg_level* finest, bool same_flesh);
void sn_macroblocks_factor(sn_macroblocks_work* work, sn_pool* pool, const sn_block_cells* cells);

// x_I = scale K_II^-1 f_I; the rest of x is left alone.
void sn_macroblocks_solve(const sn_macroblocks_work* work, sn_pool* pool, float scale,
                          const float* f, float* x);

// z = K_II^-1 r_I on inner nodes, 0 elsewhere. False where r is next to nothing there: z = 0.
bool sn_macroblocks_settle(const sn_macroblocks_work* work, sn_pool* pool, const float* r,
                           float* z);

// z = M^-1 r, by one solution in each block where r is settled, else by two. The former is not symmetric, but what
// it leaves out is as small as r is on inner nodes.
void sn_macroblocks_apply(sn_macroblocks_work* work, sn_mg* mg, sn_pool* pool, const float* r,
                          float* z);
// As smoother of a multigrid's first level (sn_mg.smooth), with such work as context: before the visit to the next
// one blocks are solved, then there is a step of Jacobi on the interface; after it the other way round, so that
// the cycle is symmetric. Definite, since neither raises the energy norm of an error.
void sn_macroblocks_smooth(void* work, sn_pool* pool, const sn_mg_level* level, float damping,
                           bool after);
// s = S p on the interface, for p there; 0 elsewhere.
void sn_macroblocks_multiply(sn_macroblocks_work* work, const sn_mg_level* finest, sn_pool* pool,
                             const float* p, float* s);

#endif
