// A ray against triangles and boxes, such that none slips through between triangles that share an
// edge or a corner.
#ifndef SN_GEOMETRY_RAY_H
#define SN_GEOMETRY_RAY_H

#include <stdbool.h>
#include <stdint.h>

#include "sinew/math.h"

// Where a ray meets a triangle: at (1 - u - v) corner0 + u corner1 + v corner2.
typedef struct sn_ray_hit {
  uint32_t triangle;
  double u, v;
  double t;          // way along the ray, m
  bool from_behind;  // the ray leaves through the back: its direction goes along the normal
} sn_ray_hit;

typedef struct sn_ray {
  double from[3], way[3];  // way: unit length
  double inverse[3];       // 1 / way
  double shear[3];         // takes the ray to the z axis, with t as z
  double length;           // m, may be infinite
  double slack;            // by which boxes grow: more than the rounding of what lies in them
  int axis[3];  // order of coordinates, the ray's largest last; right-handed with the ray
} sn_ray;

// The direction may have any length but 0, else there is no ray: false. All that is asked for lies
// within `reach`.
bool sn_ray_set(sn_ray* ray, sn_vec3 from, sn_vec3 direction, double length, sn_box reach);
// Does the ray meet the box before `most`? Never wrong where the test of a triangle in it says yes.
bool sn_ray_box(const sn_ray* ray, const sn_box* box, double most);
// Sets all of *hit but the triangle's index. Edges and corners belong to each triangle that has them;
// a triangle seen edge-on is not hit.
bool sn_ray_triangle(const sn_ray* ray, const sn_vec3 corner[3], sn_ray_hit* hit);

#endif
