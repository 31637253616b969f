// Does a triangle touch a cube? Exact in the sense of the separating axis theorem: all thirteen
// axes.
#ifndef SN_GEOMETRY_TRIANGLE_BOX_H
#define SN_GEOMETRY_TRIANGLE_BOX_H

#include <stdbool.h>

#include "sinew/math.h"

// What many cubes are tested with: the axes besides the grid's own (the normal, and the cross products
// of edges with the grid's axes), and the triangle's extent along all of them.
typedef struct sn_triangle_axes {
  sn_vec3 origin;  // low corner of the triangle's box; what follows is relative to it
  sn_vec3 size;    // of that box
  sn_vec3 normal;
  double across[9][2];       // components of the axis that grid axis i / 3 is at right angles to
  double low[10], high[10];  // of the triangle along the nine and the normal
  double reach[10];          // |x| + |y| + |z| of each: how far a cube of half edge 1 reaches
} sn_triangle_axes;

sn_triangle_axes sn_triangle_find_axes(const sn_vec3 triangle[3]);

// How many of two closed cubes around `centre` the closed triangle touches: 0, 1 (only the one of
// half edge `outer`) or 2 (that of half edge `inner` too). Degenerate triangles (segments, points)
// are fine. A negative half never touches.
int sn_triangle_touches_cubes(const sn_triangle_axes* axes, sn_vec3 centre, double outer,
                              double inner);
bool sn_triangle_touches_cube(const sn_vec3 triangle[3], sn_vec3 centre, double half);

#endif
