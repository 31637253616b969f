// Capsules: all points within a radius of a segment.
#ifndef SN_GEOMETRY_CAPSULE_H
#define SN_GEOMETRY_CAPSULE_H

#include "base/memory.h"
#include "sinew/math.h"
#include "sinew/mesh.h"

// Distance from p to the surface of the capsule around from..to, negative inside.
double sn_capsule_distance(sn_vec3 from, sn_vec3 to, double radius, sn_vec3 p);

// A closed triangle surface on the capsule, coarse: vertices lie on it, its volume is smaller.
sn_status sn_capsule_mesh(sn_vec3 from, sn_vec3 to, double radius, sn_mesh* mesh, sn_error* err);

#endif
