// A multigrid V-cycle as preconditioner, in single precision (Milne et al. 2016, section 7). It sees
// levels with an operator each and the transfers between them; what the operators are is not its
// business. The cycle is a symmetric, positive linear map: one smoothing before and its adjoint after.
#ifndef SN_SOLVE_MULTIGRID_H
#define SN_SOLVE_MULTIGRID_H

#include "base/memory.h"
#include "base/parallel.h"
#include "octree/smoothing.h"

typedef enum sn_mg_smoother { SN_MG_JACOBI, SN_MG_CHEBYSHEV } sn_mg_smoother;
typedef enum sn_mg_coarsest { SN_MG_CHOLESKY, SN_MG_JACOBI_16 } sn_mg_coarsest;

typedef struct sn_mg_opts {
  sn_mg_smoother smoother;
  double damping;  // of Jacobi; 0: 1.5 over the largest eigenvalue of D^-1 A, level by level
  int degree;      // of Chebyshev, 1..8
  sn_mg_coarsest coarsest;
  bool
      twice;  // levels between the first and one that is solved directly are corrected twice by the next
} sn_mg_opts;

// Nodes at which the operator is much stiffer in some directions than in others, with symmetric
// matrices: xx yy zz xy xz yz.
typedef struct sn_mg_blocks {
  uint32_t* nodes;       // (count)
  float (*diagonal)[6];  // of the operator at the node, N/m, and
  float (*inverse)[6];   // its inverse
  uint32_t* places;      // where in these lists a node is, + 1; 0: nowhere (nodes of the level)
  uint32_t count, capacity;
} sn_mg_blocks;

typedef struct sn_mg_level {
  size_t unknown_count;        // 3 x nodes
  const uint8_t* held;         // nodes without unknowns, as in vector.h
  const sn_transfer* coarser;  // to the next level; NULL on the last
  // A = K + springs: y = A x + scale v, v = NULL being 0; what it is on held nodes is of no interest. v may
  // be y.
  void (*multiply)(void* ctx, sn_pool* pool, const float* springs, const float* x, float scale,
                   const float* v, float* y);
  // Jacobi's steps around the visit to the coarser level in as few passes as can be, see octree/smoothing.h;
  // returns x.b. NULL at present: A is more than it knows of.
  double (*smooth)(void* ctx, sn_pool* pool, const sn_smoothing* smoothing);
  void* ctx;
  float* springs;  // a diagonal; set by the owner before sn_mg_update
  bool unsprung;   // it is 0
  float*
      inverse_diagonal;  // of A; set by the owner before sn_mg_update; 0 on held nodes and blocks
  sn_mg_blocks blocks;   // capacity 0: none
  double largest;        // eigenvalue of D^-1 A, estimated
  float *b, *x, *z;      // right side, solution, correction
  float* r;              // what is wrong: A x - b
  uint32_t* held_list;   // all unknowns that are held (held_count)
  size_t held_count;
} sn_mg_level;

typedef struct sn_mg {
  sn_mg_opts opts;
  sn_mg_level* levels;  // [0] = the finest
  int level_count;
  bool once;           // no level is corrected twice: that was weakened
  double caution;      // the smoothers' damping is divided by this; 1 until weakened
  double* factor;      // of the coarsest operator (n x n)
  double* dense;       // right side and solution there (n)
  uint32_t* unknowns;  // free unknowns of the coarsest level (n)
  int n;
  // Solves A x = b of level `solved`, in place of smoothing it and of all coarser levels; NULL: none does.
  void (*solve)(void* ctx, sn_pool* pool, const float* b, float* x);
  void* solve_ctx;
  int solved;
  // Smooths the first level in place of opts.smoother, before its visit to the next or after; NULL: that does.
  void (*smooth)(void* ctx, sn_pool* pool, const sn_mg_level* level, float damping, bool after);
  void* smooth_ctx;
} sn_mg;

// Memory for the vectors of all levels and the coarsest factor. Levels' counts, held, coarser,
// multiply, ctx and the capacity of blocks must be set, and r of the finest level, which is free
// between two cycles. Its b is set before each sn_mg_set_diagonal and its x before each estimate; both are lost.
sn_status sn_mg_create(sn_mg* mg, sn_arena* arena, sn_error* err);

// Add a symmetric matrix to the diagonal at a node: to its block or, for want of room, as a bound to b.
// Before the first, sn_mg_clear_blocks forgets those of before.
void sn_mg_clear_blocks(sn_mg_level* level);
void sn_mg_add_block(sn_mg_level* level, uint32_t node, const float block[6]);
// Inverse diagonals of a level from the flesh's part of the diagonal in r, its springs and its blocks;
// and the springs of the next. A held fine node that is no coarse one holds its neighbours there by a
// spring as stiff as itself. r and b are lost.
void sn_mg_set_diagonal(sn_mg_level* level, sn_pool* pool);

// After the operators have changed: factor the coarsest one and, if `estimate`, find the largest
// eigenvalues anew.
void sn_mg_update(sn_mg* mg, sn_pool* pool, bool estimate);
// Smooth more carefully from now on, until the next estimate: the cycle was found indefinite.
void sn_mg_weaken(sn_mg* mg);

// z = one V-cycle for A z = r, from z = 0; returns z.r.
double sn_mg_cycle(sn_mg* mg, sn_pool* pool, const float* r, float* z);
// z += D^-1 r at the nodes with blocks.
void sn_mg_add_blocks(const sn_mg_level* level, const float* r, float* z);

#endif
