// How much of each cell the body fills, from the triangles of its skin and without sampling.
#ifndef SN_OCTREE_OCTREE_FILL_H
#define SN_OCTREE_OCTREE_FILL_H

#include "base/parallel.h"
#include "octree/octree.h"

struct sn_bvh;

// No cell is taken for emptier than this: it would be next to nothing in mass, and where the skin only
// grazes a cell its share is as small as one likes.
#define SN_LEAST_FILL 0.01

static inline float sn_fill_bound(double share) {
  return (float)(share < SN_LEAST_FILL ? SN_LEAST_FILL : share > 1 ? 1 : share);
}

// fill[cell_count]: share of each cell's volume inside the skin, in SN_LEAST_FILL..1; 1 for cells that
// the skin does not meet. `tree` must have been built with `skin` as a seed that cuts. `scratch` is
// left as it was; the result does not depend on the pool.
//
// Exact for closed surfaces without overlaps. Where a surface overlaps itself, only its outermost skin counts, but
// for errors of the order of a piece where skins cross. An open surface has no volume: there the shares are a guess, the
// larger of two where they differ, and bounded.
sn_status sn_octree_fill(const sn_octree* tree, const struct sn_bvh* skin, sn_pool* pool,
                         sn_arena* scratch, float* fill, sn_error* err);

// The same in double precision and without bounds: of a closed surface without overlaps the shares
// times the cells' volumes add up to the volume of the surface.
sn_status sn_octree_fill_unbounded(const sn_octree* tree, const struct sn_bvh* skin, sn_pool* pool,
                                   sn_arena* scratch, double* fill, sn_error* err);

#endif
