// Leaving out cells that hold next to nothing of the body (Patterson et al. 2012, section 3.1).
#ifndef SN_OCTREE_OCTREE_DROP_H
#define SN_OCTREE_OCTREE_DROP_H

#include "octree/octree.h"

// Marks finest cells whose share inside the skin is below `least`, in drop[cell_count], and returns how
// many. Each touches one that is filled more and stays. Cells also stay that hold others together: what was
// connected remains so, and no part vanishes. The result depends on the tree and the shares only.
uint32_t sn_octree_mark_thin(const sn_octree* tree, const double* fill, double least,
                             uint8_t* drop);

// Takes the marked cells out of the tree and numbers its nodes anew, with memory from `arena` and `corners`; that of
// the old numbers stays taken. The tree is valid, whichever cells go. `scratch` is left as it was.
sn_status sn_octree_leave_out(const uint8_t* drop, sn_pool* pool, sn_arena* arena,
                              sn_arena* corners, sn_arena* scratch, sn_octree* tree, sn_error* err);

#endif
