// The finest octants of a grid that surfaces touch.
#ifndef SN_OCTREE_OCTREE_RASTER_H
#define SN_OCTREE_OCTREE_RASTER_H

#include "octree/octant_list.h"
#include "octree/octree.h"

// A face that lies in a plane of the grid touches the cells on both sides but cuts neither.
// Distances below this share of a cell count as touching.
#define SN_TOUCH 1e-6

// Sorted, unique finest octants that the seeds touch, with SN_OCTANT_TOUCHED and, where they go through the inside,
// SN_OCTANT_CUT for seeds that cut. Memory from `scratch`.
// @param tree with its origin, cell and root_height
sn_status sn_octree_rasterise(const sn_octree_input* input, const sn_octree* tree, sn_pool* pool,
                              sn_arena* scratch, sn_octants* fine, sn_error* err);

#endif
