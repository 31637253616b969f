// Coarser trees for multigrid, and the transfers between a tree and the next coarser one (Milne et
// al. 2016, sections 7.1 and 7.2).
#ifndef SN_OCTREE_COARSEN_H
#define SN_OCTREE_COARSEN_H

#include "math/quad.h"
#include "octree/octree.h"

// Weights are whole numbers of 64ths. A fine node inside a coarse cell is in its middle on each axis:
// eighths. One on its boundary may be a quarter of an edge away from a corner, on two axes at most,
// because the cells around it are up to four times as large as the fine one: sixteenths. Corners that
// hang share theirs among two or four nodes.
#define SN_TRANSFER_ONE 64
// A node and its weight in one number.
#define SN_ENTRY_NODE_BITS 26
static inline uint32_t sn_entry(uint32_t node, uint32_t weight) {
  return node | (weight - 1) << SN_ENTRY_NODE_BITS;
}
static inline uint32_t sn_entry_node(uint32_t entry) {
  return entry & ((1u << SN_ENTRY_NODE_BITS) - 1);
}
static inline uint32_t sn_entry_weight(uint32_t entry) { return (entry >> SN_ENTRY_NODE_BITS) + 1; }

// Linear interpolation from coarse nodes to fine ones, and its exact transpose; both as lists, so
// that either way every value is a sum in fixed order that one thread forms.
typedef struct sn_transfer {
  uint32_t* fine_starts;    // entries of each fine node (fine node_count + 1)
  uint32_t* coarse_nodes;   // with their weights (entry_count)
  uint32_t* coarse_starts;  // entries of each coarse node (coarse node_count + 1)
  uint32_t* fine_nodes;     // with their weights, ascending within a coarse node (entry_count)
  uint32_t* first_cells;    // the first fine cell in each coarse one (coarse cell_count + 1)
  uint32_t fine_count, coarse_count;  // nodes
} sn_transfer;

// The value of a coarse vector at a fine node, x, y, z and nothing.
static inline sn_quad_f sn_transfer_at_fine(const sn_transfer* t, const float* coarse,
                                            uint32_t node) {
  uint32_t e = t->fine_starts[node], end = t->fine_starts[node + 1], last = t->coarse_count - 1;
  uint32_t entry = t->coarse_nodes[e];
  sn_quad_f sum = sn_quad_load3_f(coarse, sn_entry_node(entry), last);
  if (end - e == 1) return sum;  // a node of both
  sum *= (float)sn_entry_weight(entry);
  while (++e < end) {
    entry = t->coarse_nodes[e];
    sum += (float)sn_entry_weight(entry) * sn_quad_load3_f(coarse, sn_entry_node(entry), last);
  }
  return (1.0f / SN_TRANSFER_ONE) * sum;
}

// The next coarser tree. A parent takes the place of its children if all that is below it are
// children of the fine tree's leaves' size; one child is enough, so the domain grows. Parents that
// would break the 2:1 rule are given up again. The result has as many cells as `fine` where nothing
// can be joined.
sn_status sn_octree_coarsen(const sn_octree* fine, sn_pool* pool, sn_arena* arena,
                            sn_arena* corners, sn_arena* scratch, sn_octree* coarse, sn_error* err);

// The coarse cell that a fine one lies in.
uint32_t sn_transfer_coarse_cell(const sn_transfer* transfer, const sn_octree* coarse,
                                 uint32_t fine_cell);

sn_status sn_transfer_build(const sn_octree* fine, const sn_octree* coarse, sn_pool* pool,
                            sn_arena* arena, sn_arena* scratch, sn_transfer* transfer,
                            sn_error* err);

// Three values a node. fine += scale P coarse
void sn_transfer_prolong(const sn_transfer* t, sn_pool* pool, float scale, const float* coarse,
                         float* fine);
// coarse = P^T fine
void sn_transfer_restrict(const sn_transfer* t, sn_pool* pool, const float* fine, float* coarse);

#endif
