// Cells that the pose of a body draws out, such as those that closed lips share: how far, and what their
// flesh is like so that it bears that.
#ifndef SN_BODY_BODY_DRAWN_H
#define SN_BODY_BODY_DRAWN_H

#include "body/body.h"

typedef struct sn_drawn {
  float*
      stretch;  // times its length that each cell is drawn out at most (cell_count); NULL: none too far
  float* around;  // the largest of a cell and those that share a node with it (cell_count)
} sn_drawn;

// Look for them, if the description asks for a least width and there is a pose. Needs the tree of cells, that of
// the surface, and the kinds. @param drawn in scratch memory
sn_status sn_body_find_drawn(const sn_body* body, sn_pool* pool, sn_arena* scratch, sn_drawn* drawn,
                             sn_error* err);
// Change mu and lambda of these cells, which each have their own.
void sn_body_spare_drawn(const sn_drawn* drawn, sn_body* body);

#endif
