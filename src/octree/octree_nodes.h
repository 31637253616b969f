// Numbering of the nodes of a tree whose cells are in place.
#ifndef SN_OCTREE_OCTREE_NODES_H
#define SN_OCTREE_OCTREE_NODES_H

#include "octree/octree.h"

// Fills nodes, hanging and conforming. Memory from `arena`, that of conforming from `corners`; `scratch` is left
// as it was.
sn_status sn_octree_number_nodes(sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* corners,
                                 sn_arena* scratch, sn_error* err);

#endif
