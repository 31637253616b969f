// A surface that moves and carries points along: flesh tied to an animated mesh, a hat on a head. A
// point goes with the place of the surface that is nearest at rest; its offset from there turns and
// grows as the surface around that place does:
//
//     move = sum_i w_i (move_i + (s_i R_i - 1) offset)        i: corners of the nearest triangle
//
// R_i is the rotation nearest to the mean of the rotations of the triangles around vertex i, by their
// area at rest; s_i the mean of the square roots of how much their areas grew. Rigid motions and
// uniform scales carry exactly, and points side by side stay side by side: R and s have no jumps.
// docs/theory/embedding.md has more.
#ifndef SN_BODY_CARRIER_H
#define SN_BODY_CARRIER_H

#include "base/parallel.h"
#include "geometry/bvh.h"
#include "geometry/surface.h"

typedef struct sn_rider {
  uint32_t corners[3];  // vertices of the triangle nearest at rest
  double weights[3];    // of these at the nearest place
  sn_vec3 offset;       // from there to the point, m
} sn_rider;

typedef struct sn_carrier {
  const sn_surface* surface;  // at rest; NULL: there is no such carrier
  double* moves;    // how far each vertex has gone, m (3 x vertex_count); the owner sets them
  sn_mat3* turns;   // s R - 1 around each vertex (vertex_count)
  double* areas;    // at rest, of the triangles around each vertex, m2 (vertex_count)
  double* growths;  // sums of area x s (vertex_count)
} sn_carrier;

// At rest. The surface must outlive the carrier.
sn_status sn_carrier_create(const sn_surface* surface, sn_arena* arena, sn_carrier* carrier,
                            sn_error* err);
// Find the turns that belong to the moves.
void sn_carrier_turn(sn_carrier* carrier, sn_pool* pool);

// @param bvh of the surface at rest, which has a triangle @param distance from the surface; may be NULL
sn_rider sn_rider_bind(const sn_bvh* bvh, sn_vec3 point, double* distance);
// How far the point goes, m.
sn_vec3 sn_rider_move(const sn_rider* rider, const sn_carrier* carrier);
// How far the place of the surface goes that the point was nearest to, m.
sn_vec3 sn_rider_place_move(const sn_rider* rider, const double* moves);

#endif
