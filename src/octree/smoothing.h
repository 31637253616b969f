// A damped step of Jacobi's method before a coarser level is visited, and one after, in as few passes through a
// level's nodes as can be: from nothing the first is x = c D^-1 b, so x need not be in memory to be multiplied
// with A, nor once more when what the coarser level found is taken off. See docs/theory/multigrid.md, section 4.
#ifndef SN_OCTREE_SMOOTHING_H
#define SN_OCTREE_SMOOTHING_H

#include "math/quad.h"
#include "octree/coarsen.h"

typedef struct sn_smoothing {
  const float *b, *inverse;    // right side; inverse of A's diagonal, 0 where nodes are held
  const float* springs;        // a diagonal that is part of A; NULL: none
  float damping;               // c
  const sn_transfer* coarser;  // NULL: the coarser level is still to be visited
  const float* correction;     // what it found
  float* r;                    // before the visit: A x - b; after it, scratch
  float* x;                    // after the visit: x - c D^-1 (A x - b)
} sn_smoothing;

// x at a node: c D^-1 b, less what the coarser level found. Nodes that are held have none.
static inline sn_quad_f sn_smoothing_start(const sn_smoothing* s, uint32_t node, uint32_t last) {
  sn_quad_f inverse = sn_quad_load3_f(s->inverse, node, last);
  sn_quad_f x = s->damping * inverse * sn_quad_load3_f(s->b, node, last);
  if (!s->coarser) return x;
  sn_quad_f moved = x - sn_transfer_at_fine(s->coarser, s->correction, node);
  typedef int32_t mask __attribute__((vector_size(16)));
  return (sn_quad_f)((mask)moved & (inverse != 0));
}

#endif
