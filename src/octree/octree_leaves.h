// The leaves of a complete tree, and which of them belong to the body.
#ifndef SN_OCTREE_OCTREE_LEAVES_H
#define SN_OCTREE_OCTREE_LEAVES_H

#include "octree/octant_list.h"
#include "octree/octree.h"

// All leaves in Morton order, SN_OCTANT_INSIDE set where a leaf is cut or its centre is inside.
// @param split octants of each height 1..root_height that are no leaves, sorted
// @param fine rasterised octants with their flags, sorted; all are leaves
sn_status sn_octree_list_leaves(const sn_octree_input* input, const sn_octree* tree,
                                const sn_octants* split, sn_octants fine, sn_pool* pool,
                                sn_arena* scratch, sn_octants* leaves, sn_error* err);

#endif
