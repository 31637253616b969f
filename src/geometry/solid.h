// Rigid obstacles at rest: where their surface is nearest, and where a way enters them. An obstacle
// that moves is asked in its own frame.
#ifndef SN_GEOMETRY_SOLID_H
#define SN_GEOMETRY_SOLID_H

#include "geometry/bvh.h"

typedef enum sn_solid_kind {
  SN_SOLID_PLANE,  // solid is all behind it
  SN_SOLID_SPHERE,
  SN_SOLID_CAPSULE,
  SN_SOLID_BOX,  // along the axes
  SN_SOLID_MESH  // solid is what it winds around more than half; a sheet stops ways, no more
} sn_solid_kind;

typedef struct sn_solid {
  sn_solid_kind kind;
  sn_vec3 position;  // a point of the plane, the centre of sphere and box
  sn_vec3 normal;    // of the plane, unit length
  sn_vec3 half;      // of the box's sides
  double radius;     // of sphere and capsule
  sn_vec3 from, to;  // ends of the capsule's axis
  const sn_bvh* bvh;
} sn_solid;

typedef struct sn_solid_hit {
  sn_vec3 place;    // on the surface
  sn_vec3 normal;   // outward, unit length
  double distance;  // m, negative inside; of a way that enters: which share of it lies before
} sn_solid_hit;

// The place of the surface nearest to p; false if p is outside, further than `limit` (may be
// INFINITY). Points inside are always found. The normal is the gradient of the distance; where that
// has none, it is a fixed choice among the equally near, and on an edge or corner of a mesh the
// average of the faces, by angle.
bool sn_solid_nearest(const sn_solid* solid, sn_vec3 p, double limit, sn_solid_hit* hit);
// The first place where the straight way goes in, its end included. A way that starts inside does not
// enter; one that starts on the surface enters there if it leads inside. Sheets are entered from
// either side, with the normal towards `from`, unless the way starts on them.
bool sn_solid_enter(const sn_solid* solid, sn_vec3 from, sn_vec3 to, sn_solid_hit* hit);
// Is it a mesh so open that nothing of it is solid, such as a bowl? Then no point is inside.
bool sn_solid_is_sheet(const sn_solid* solid);
// Infinite for a plane.
sn_box sn_solid_box(const sn_solid* solid);

#endif
