// The interface of macroblocks by faces: its nodes are sorted by what they lie on, a face, an edge or a corner of the
// boxes, and K between the nodes of each such group is factored. docs/theory/macroblock.md, section 3.
#ifndef SN_SOLVE_FACES_H
#define SN_SOLVE_FACES_H

#include "solve/dissection.h"

// How boxes lie: on each level a plane between two of them is at this place, and at every SIDE further.
typedef struct sn_box_grid {
  int side[3];
  uint8_t shift[SN_MAX_HEIGHT + 1][3];
} sn_box_grid;

// A plan whose parts, all of one depth and without parents, are the groups: nodes of the tree that `inside`
// (node_count) does not mark and that are not held on all axes. A group of more than 105 nodes, which is the
// largest face, is taken apart. `held` must outlive the plan.
sn_status sn_faces_plan(const sn_octree* tree, const sn_box_grid* boxes, const uint8_t* inside,
                        const uint8_t* held, sn_arena* arena, sn_arena* scratch,
                        sn_dissection* plan, sn_error* err);

#endif
