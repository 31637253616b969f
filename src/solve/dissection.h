// A direct solver for the flesh of a body on one tree: its cells are cut in halves again and again (nested
// dissection, George 1973), blocks of blocks down to a few cells, and what lies between two halves is
// eliminated after them, in a dense front each (Duff and Reid 1983). Cuts follow the body, so that fronts
// are as small as its cross-sections: where flesh is thin a factor is cheap. docs/theory/macroblock.md.
//
// Everything is in single precision: the solution is a preconditioner, if a very good one.
#ifndef SN_SOLVE_DISSECTION_H
#define SN_SOLVE_DISSECTION_H

#include "octree/octree.h"
#include "solve/front.h"
#include "solve/macroblock.h"
#include "solve/multigrid.h"

// Nodes that are eliminated together, and those around them that their cells know too.
typedef struct sn_part {
  uint32_t parent;                // SN_NO_PART: none
  uint32_t children[2];           // SN_NO_PART: none, it is a leaf
  uint32_t cell_begin, cell_end;  // among the plan's cells
  uint32_t own_begin, own_count;  // in the order of elimination
  uint32_t around_count;
  uint32_t* around;  // places in the order of elimination, ascending (around_count)
  uint16_t* places;  // of these in the parent's front, nodes (around_count)
  size_t rows;       // where its factor begins,
  size_t left;       // what it leaves to its parent, among those of its depth,
  size_t passed;     // and what it passes on while solving
} sn_part;

#define SN_NO_PART UINT32_MAX

// What does not change.
typedef struct sn_dissection {
  const sn_octree* tree;
  const uint8_t* held;  // a node each, as in vector.h
  sn_part* parts;       // by depth; parents before their children (part_count)
  uint32_t part_count;
  uint32_t* depth_starts;  // first part of each depth (depth_count + 1)
  uint32_t depth_count;
  uint32_t* nodes;      // in the order of elimination (node_count)
  uint32_t node_count;  // not those that are held on all axes
  uint32_t* cells;      // part after part, leaves' are together (tree's cell_count)
  uint16_t* corners;  // places of their corners in their leaf's front; UINT16_MAX: held (8 a cell)
  size_t factor_count, left_count[2], passed_count;  // numbers; `left` of even and odd depths
  size_t largest;                                    // front, unknowns
  double cost;                                       // multiplications and additions of a factor
} sn_dissection;

// Which nodes are eliminated when. SN_ERR_INPUT where a front has more than 21,844 nodes: such a body
// is not thin. `held` must outlive the plan.
sn_status sn_dissection_plan(const sn_octree* tree, const uint8_t* held, sn_arena* arena,
                             sn_arena* scratch, sn_dissection* plan, sn_error* err);
// Where the numbers of a plan's parts are, once these are known.
void sn_dissection_lay_out(sn_dissection* plan);
// Bytes that factors take and that a solver of them needs besides, for so many threads.
double sn_dissection_bytes(const sn_dissection* plan, int threads);

// What a step writes.
typedef struct sn_dissected {
  const sn_dissection* plan;
  const sn_front_kernels* kernels;
  float *rows, *diagonal;  // factors (factor_count, 3 x node_count)
  float* left[2];          // what parts leave to their parents (left_count)
  float* passed;           // (passed_count)
  float** rooms;           // a front each (room_count)
  uint32_t room_count;
  float* x;            // in the order of elimination (3 x node_count)
  float* springs;      // what is added to the diagonal, N/m (3 x the tree's nodes), and
  float (*blocks)[6];  // matrices, as those of multigrid.h before flesh was added (capacity),
  const uint32_t* block_places;  // and where in these a node is, + 1; NULL: none
} sn_dissected;

sn_status sn_dissected_create(const sn_dissection* plan, uint32_t block_capacity, sn_pool* pool,
                              sn_arena* arena, sn_dissected* work, sn_error* err);

// Before factoring, from the level, whose bounds are still in b and its blocks: remember what is added to
// the cells' matrices.
void sn_dissected_mark(sn_dissected* work, const sn_mg_level* level);
void sn_dissected_factor(sn_dissected* work, sn_pool* pool, const sn_block_cells* cells);
// x = A^-1 b, 0 on held nodes
void sn_dissected_solve(sn_dissected* work, sn_pool* pool, const float* b, float* x);

#endif
