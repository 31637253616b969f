// A part of a triangle is left out where the distance of its middle says that nothing in it can be deeper than what is
// known. The distance from a convex solid is convex: it grows at least as its gradient says. From a mesh
// it changes by no more than the way between two places.
#include "geometry/sweep.h"

#include <math.h>

#include "math/vec.h"

// Times at which a way is looked at, at most.
#define MOST_LOOKS 64
// How often a triangle is cut into four, at most.
#define MOST_CUTS 8
// A place need not be deeper than this times the deepest.
#define DEEP_ENOUGH 0.75

typedef struct search {
  const sn_solid* solid;
  const sn_vec3* corners;
  double finest;   // parts that are smaller are not cut, m
  double deepest;  // m
  bool found;      // such a place; else what it must be deeper than
  double weights[3];
} search;

static sn_vec3 place_at(const sn_vec3 corners[3], const double weights[3]) {
  sn_vec3 sum = sn_scale(weights[0], corners[0]);
  return sn_madd(sn_madd(sum, weights[1], corners[1]), weights[2], corners[2]);
}

// Look at a part of the triangle, given by the weights of its corners.
static void search_part(search* s, const double part[3][3], int cuts) {
  double middle[3], radius = 0, deeper = 0;
  for (int k = 0; k < 3; ++k) middle[k] = (part[0][k] + part[1][k] + part[2][k]) / 3;
  sn_vec3 centre = place_at(s->corners, middle);
  for (int i = 0; i < 3; ++i) {
    radius = fmax(radius, sn_distance(centre, place_at(s->corners, part[i])));
  }
  sn_solid_hit hit;
  // Of what is further away than the radius no part is inside.
  if (!sn_solid_nearest(s->solid, centre, radius, &hit)) return;
  double depth = -hit.distance;
  if (depth > s->deepest) {
    s->deepest = depth;
    s->found = true;
    for (int k = 0; k < 3; ++k) s->weights[k] = middle[k];
  }
  for (int i = 0; i < 3; ++i) {
    sn_vec3 way = sn_sub(place_at(s->corners, part[i]), centre);
    deeper = fmax(deeper, -sn_dot(hit.normal, way));
  }
  if (s->solid->kind == SN_SOLID_MESH) deeper = radius;
  // Once a place is known only what is much deeper is of use.
  double use = s->found ? DEEP_ENOUGH : 1;
  if (cuts == 0 || radius < s->finest || use * (depth + deeper) <= s->deepest) return;
  double halves[3][3];  // middles of the edges, each across from its corner
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      halves[i][k] = 0.5 * (part[(i + 1) % 3][k] + part[(i + 2) % 3][k]);
    }
  }
  search_part(s, (const double(*)[3])halves, cuts - 1);
  for (int i = 0; i < 3; ++i) {
    double corner[3][3];
    for (int k = 0; k < 3; ++k) {
      corner[0][k] = part[i][k];
      corner[1][k] = halves[(i + 2) % 3][k];
      corner[2][k] = halves[(i + 1) % 3][k];
    }
    search_part(s, (const double(*)[3])corner, cuts - 1);
  }
}

static bool boxes_meet(sn_box a, sn_box b) {
  return a.lo.x <= b.hi.x && a.lo.y <= b.hi.y && a.lo.z <= b.hi.z && b.lo.x <= a.hi.x &&
         b.lo.y <= a.hi.y && b.lo.z <= a.hi.z;
}

static sn_box box_of(const sn_vec3 c[3]) {
  return (sn_box){sn_min3(c[0], sn_min3(c[1], c[2])), sn_max3(c[0], sn_max3(c[1], c[2]))};
}

bool sn_solid_deepest(const sn_solid* solid, const sn_vec3 corners[3], double finest, double depth,
                      double weights[3]) {
  static const double WHOLE[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  if (solid->kind == SN_SOLID_PLANE || sn_solid_is_sheet(solid)) return false;
  if (!boxes_meet(sn_solid_box(solid), box_of(corners))) return false;
  search s = {.solid = solid, .corners = corners, .finest = finest, .deepest = depth};
  search_part(&s, WHOLE, MOST_CUTS);
  if (!s.found) return false;
  for (int i = 0; i < 3; ++i) weights[i] = s.weights[i];
  return true;
}

// Ways along the surface do not lead from one side to the opposite one: over less than a third of a circle the straight
// one stays off the middle of a rod, and what goes through a plate does not go round it.
#define OPPOSITE (-0.5)

static sn_vec3 start_outside(const sn_solid* solid, sn_vec3 p, double slack) {
  sn_solid_hit hit;
  if (!sn_solid_nearest(solid, p, 0, &hit) || hit.distance < -slack) return p;
  return sn_madd(hit.place, 1e-9 * slack, hit.normal);
}

bool sn_solid_pierce(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double slack, double graze,
                     sn_solid_hit* hit) {
  sn_solid_hit out, middle;
  from = start_outside(solid, from, slack);
  if (!sn_solid_enter(solid, from, to, hit)) return false;
  bool comes_out = sn_solid_enter(solid, to, from, &out);
  if (!comes_out || sn_dot(hit->normal, out.normal) < OPPOSITE) return true;
  // In a convex solid the middle of what is inside is at least half as deep as any of it.
  sn_vec3 between = sn_scale(0.5, sn_add(hit->place, out.place));
  return !sn_solid_nearest(solid, between, 0, &middle) || middle.distance < -graze;
}

static bool leads_round(const sn_solid* solid, const sn_sweep_ways* w, int i) {
  sn_solid_hit by, to;
  return w->round[i] && sn_solid_nearest(solid, w->by[i], INFINITY, &by) &&
         sn_solid_nearest(solid, w->to[i], INFINITY, &to) &&
         sn_dot(by.normal, to.normal) > OPPOSITE;
}

static double length_of(const sn_sweep_ways* w, int i) {
  if (!w->round[i]) return sn_distance(w->from[i], w->to[i]);
  return sn_distance(w->from[i], w->by[i]) + sn_distance(w->by[i], w->to[i]);
}

// Where a corner is after a share of its way.
static sn_vec3 place_on_way(const sn_solid* solid, const sn_sweep_ways* w, int i, double share) {
  sn_solid_hit hit;
  if (!w->round[i]) return sn_madd(w->from[i], share, sn_sub(w->to[i], w->from[i]));
  double left = share * length_of(w, i), leg = sn_distance(w->from[i], w->by[i]);
  bool first = left < leg;
  sn_vec3 from = first ? w->from[i] : w->by[i], to = first ? w->by[i] : w->to[i];
  if (!first) left -= leg;
  double length = sn_distance(from, to);
  sn_vec3 place = length > 0 ? sn_madd(from, left / length, sn_sub(to, from)) : to;
  return sn_solid_nearest(solid, place, 0, &hit) ? hit.place : place;
}

bool sn_solid_sweep(const sn_solid* solid, sn_sweep_ways* ways, double step, double depth,
                    sn_sweep_accept accept, const void* ctx, double weights[3]) {
  sn_box box = sn_solid_box(solid), before = box_of(ways->from), after = box_of(ways->to);
  sn_box way = {sn_min3(before.lo, after.lo), sn_max3(before.hi, after.hi)};
  if (solid->kind == SN_SOLID_PLANE || !boxes_meet(box, way)) return false;
  double longest = 0;
  for (int i = 0; i < 3; ++i) ways->round[i] = leads_round(solid, ways, i);
  for (int i = 0; i < 3; ++i) longest = fmax(longest, length_of(ways, i));
  double wish = ceil(longest / step);
  int looks = wish < 1 ? 1 : wish > MOST_LOOKS ? MOST_LOOKS : (int)wish;
  bool round = ways->round[0] || ways->round[1] || ways->round[2];
  for (int k = 1; k <= looks; ++k) {
    sn_vec3 now[3];
    for (int i = 0; i < 3; ++i) now[i] = place_on_way(solid, ways, i, (double)k / looks);
    double most = round && k < looks ? fmax(depth, step) : depth;
    if (!sn_solid_deepest(solid, now, step, most, weights)) continue;
    if (!accept || accept(ctx, weights)) return true;
  }
  return false;
}
