// Does a triangle touch a cube? Exact in the sense of the separating axis theorem: all thirteen
// axes.
#ifndef SN_GEOMETRY_TRIANGLE_BOX_H
#define SN_GEOMETRY_TRIANGLE_BOX_H

#include <stdbool.h>

#include "sinew/math.h"

// Closed triangle against the closed cube of half edge `half` around `centre`. Degenerate triangles
// (segments, points) are fine. A negative half never touches.
bool sn_triangle_touches_cube(const sn_vec3 triangle[3], sn_vec3 centre, double half);

#endif
