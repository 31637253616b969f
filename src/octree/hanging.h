// Hanging corners. A cell that is child k of its parent has corners that may lie in the middle of
// an edge or face of a larger neighbour. The unknown that stands in its place is the parent's
// corner of the same number; the corner itself is interpolated between corner k (which never hangs)
// and it:
//     edge  c = k ^ i:      x_c = (x_k + X_c) / 2
//     face  c = k ^ i ^ j:  x_c = (x_k + X_{k^i} + X_{k^j} + X_c) / 4
// This is the 8x8 matrix W of the paper; the forces go back by its transpose.
#ifndef SN_OCTREE_HANGING_H
#define SN_OCTREE_HANGING_H

#include <stdint.h>

// How the corners of a cell hang: bit c of `hanging` is set where corner c does.
typedef struct sn_cell_shape {
  uint8_t child;    // which child of its parent the cell is, 0..7
  uint8_t hanging;  // mask over corners
} sn_cell_shape;

// W and its transpose, for values of any kind at the corners.
void sn_cell_conform_to_corner(sn_cell_shape shape, const double conforming[8], double corner[8]);
void sn_cell_corner_to_conform(sn_cell_shape shape, const double corner[8], double conforming[8]);

#endif
