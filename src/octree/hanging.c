#include "octree/hanging.h"

// Interpolation of a hanging corner c: half or quarter of corner k, the way there, and c itself.
void sn_cell_conform_to_corner(sn_cell_shape shape, const double conforming[8], double corner[8]) {
  int k = shape.child;
  for (int c = 0; c < 8; ++c) corner[c] = conforming[c];
  if (!shape.hanging) return;
  for (int c = 0; c < 8; ++c) {
    if (!(shape.hanging >> c & 1)) continue;
    int away = c ^ k;           // one bit: edge; two bits: face
    int first = away & -away;   // the lower bit
    int second = away ^ first;  // the other, 0 for an edge
    corner[c] = second ? 0.25 * (conforming[k] + conforming[k ^ first] + conforming[k ^ second] +
                                 conforming[c])
                       : 0.5 * (conforming[k] + conforming[c]);
  }
}

void sn_cell_corner_to_conform(sn_cell_shape shape, const double corner[8], double conforming[8]) {
  int k = shape.child;
  for (int c = 0; c < 8; ++c) conforming[c] = shape.hanging >> c & 1 ? 0 : corner[c];
  if (!shape.hanging) return;
  for (int c = 0; c < 8; ++c) {
    if (!(shape.hanging >> c & 1)) continue;
    int away = c ^ k;
    int first = away & -away;
    int second = away ^ first;
    double share = (second ? 0.25 : 0.5) * corner[c];
    conforming[k] += share;
    conforming[c] += share;
    if (second) {
      conforming[k ^ first] += share;
      conforming[k ^ second] += share;
    }
  }
}
