// Distance to a union of round cones.
#ifndef SN_GEOMETRY_ROUND_CONES_H
#define SN_GEOMETRY_ROUND_CONES_H

#include "sinew/shape.h"

// Exact signed distance to one cone, negative inside. `gradient` may be NULL; it is the unit
// direction of growth, or zero on the axis.
double sn_round_cone_distance(const sn_round_cone* cone, sn_vec3 p, sn_vec3* gradient);

#endif
