// A triangle that moves, against a solid at rest: does any place of it come in on the way?
#ifndef SN_GEOMETRY_SWEEP_H
#define SN_GEOMETRY_SWEEP_H

#include "geometry/solid.h"

// Where a straight way enters a solid, if it does more than cut a corner of it: come out again on a side that is not the
// opposite one, and be nowhere much deeper than `graze`. One that starts inside by no more than `slack` starts on the surface.
bool sn_solid_pierce(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double slack, double graze,
                     sn_solid_hit* hit);

// The weights of the corners at a place of a triangle that lies deeper than `depth` in the solid, and nearly as deep
// as any: three quarters of the most. Parts smaller than `finest` are judged by their middle. False if there is none, and for planes and sheets: a corner is as deep
// in the one as any place, and the other has no inside.
bool sn_solid_deepest(const sn_solid* solid, const sn_vec3 corners[3], double finest, double depth,
                      double weights[3]);

// The ways of a triangle's corners: straight, or round the solid, by a place of its surface, and along that where it
// would lead through.
typedef struct sn_sweep_ways {
  sn_vec3 from[3], by[3], to[3];
  bool round[3];
} sn_sweep_ways;

// The same for a triangle that moves: at the first time, of those that are looked at, at which there is such a place
// that `accept` takes (NULL: any). Looks at the end, and before that as often as lets no corner go further than `step` in
// between. What goes round cuts corners a little: on the way it must be deeper than `step` too. Ways to the opposite side are
// straight, and `round` says so afterwards.
typedef bool (*sn_sweep_accept)(const void* ctx, const double weights[3]);
bool sn_solid_sweep(const sn_solid* solid, sn_sweep_ways* ways, double step, double depth,
                    sn_sweep_accept accept, const void* ctx, double weights[3]);

#endif
