// The moments of the part of each cell that is inside a closed surface: the integrals that a quadrature
// rule of second order needs (octree/quadrature.h), from the triangles and without sampling.
#ifndef SN_OCTREE_OCTREE_MOMENTS_H
#define SN_OCTREE_OCTREE_MOMENTS_H

#include "base/parallel.h"
#include "octree/octree.h"
#include "octree/quadrature.h"

struct sn_surface;

// moments[cell_count], each as in octree/quadrature.h. The surface is the one that the tree was built
// from, or any other: it may lie anywhere and pass through cells of any size; what is outside all cells
// counts for nothing. `scratch` is left as it was; the result does not depend on the pool.
//
// Exact for closed surfaces without overlaps: a cell that the surface does not pass through has
// sn_full_moments or zeros to the last bit. Where a surface is open or overlaps itself, what is
// inside is decided by its winding number, and the few cells that this does not settle are sampled.
sn_status sn_octree_moments(const sn_octree* tree, const struct sn_surface* surface, sn_pool* pool,
                            sn_arena* scratch, double (*moments)[SN_MOMENT_COUNT], sn_error* err);

#endif
