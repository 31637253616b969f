// Every shape answers in closed form; a mesh by its nearest triangle, with the sign of its winding
// number, which also holds where the mesh has holes or folds. The average normal of edges and corners,
// weighted by angle, is that of Baerentzen and Aanaes 2005.
#include "geometry/solid.h"

#include <math.h>

#include "geometry/moving_bvh.h"
#include "geometry/surface.h"
#include "math/elementary.h"
#include "math/vec.h"

#define PI 3.14159265358979323846
// Relative to the largest coordinate of a mesh. Closer than ON_SURFACE is on the surface: there the
// direction to the nearest place is mostly rounding.
#define ON_SURFACE 1e-10
// What rounding may do to a place.
#define ROUNDING 1e-15
// So far ahead does a way that starts on the surface look whether it leads inside.
#define LOOK_AHEAD 1e-6

// ---- Small things ---------------------------------------------------------------------------------

static double largest(sn_vec3 a) { return fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); }

// Unit vector along a, or the other one if a is 0. Scaled first: the square of a short vector may
// vanish.
static sn_vec3 unit_or(sn_vec3 a, sn_vec3 other) {
  double scale = largest(a);
  if (!(scale > 0)) return other;
  a = sn_v3(a.x / scale, a.y / scale, a.z / scale);
  return sn_scale(1.0 / sn_length(a), a);
}

static sn_vec3 along_axis(int axis, double length) {
  return sn_v3(axis == 0 ? length : 0, axis == 1 ? length : 0, axis == 2 ? length : 0);
}

// A unit vector across, the same for the same vector.
static sn_vec3 across(sn_vec3 a) {
  sn_vec3 size = sn_v3(fabs(a.x), fabs(a.y), fabs(a.z));
  int least = size.x <= size.y && size.x <= size.z ? 0 : size.y <= size.z ? 1 : 2;
  return unit_or(sn_cross(unit_or(a, a), along_axis(least, 1)), sn_v3(1, 0, 0));
}

// ---- Nearest --------------------------------------------------------------------------------------

static void nearest_plane(const sn_solid* solid, sn_vec3 p, sn_solid_hit* hit) {
  hit->normal = solid->normal;
  hit->distance = sn_dot(solid->normal, sn_sub(p, solid->position));
  hit->place = sn_madd(p, -hit->distance, solid->normal);
}

// A ball around `centre`; `other`: the normal for its centre.
static void nearest_ball(sn_vec3 centre, double radius, sn_vec3 p, sn_vec3 other,
                         sn_solid_hit* hit) {
  sn_vec3 away = sn_sub(p, centre);
  hit->normal = unit_or(away, other);
  hit->distance = sn_length(away) - radius;
  hit->place = sn_madd(centre, radius, hit->normal);
}

static void nearest_capsule(const sn_solid* solid, sn_vec3 p, sn_solid_hit* hit) {
  sn_vec3 axis = sn_sub(solid->to, solid->from);
  double squared = sn_dot(axis, axis);
  double t = squared > 0 ? sn_dot(axis, sn_sub(p, solid->from)) / squared : 0;
  // The ends exactly, so that a point on one is seen to be there.
  sn_vec3 centre = t <= 0 ? solid->from : t >= 1 ? solid->to : sn_madd(solid->from, t, axis);
  nearest_ball(centre, solid->radius, p, across(axis), hit);
}

static void nearest_box(const sn_solid* solid, sn_vec3 p, sn_solid_hit* hit) {
  sn_vec3 away = sn_sub(p, solid->position), half = solid->half;
  sn_vec3 within = sn_max3(sn_scale(-1, half), sn_min3(half, away));
  sn_vec3 beyond = sn_sub(away, within);
  if (largest(beyond) > 0) {
    hit->normal = unit_or(beyond, beyond);
    hit->distance = sn_length(beyond);
    hit->place = sn_add(solid->position, within);
    return;
  }
  // Inside: the nearest side, of equally near ones that of the lower axis.
  int nearest = 0;
  double depth[3];
  for (int i = 0; i < 3; ++i) {
    depth[i] = sn_axis(half, i) - fabs(sn_axis(away, i));
    if (depth[i] < depth[nearest]) nearest = i;
  }
  hit->normal = along_axis(nearest, sn_axis(away, nearest) < 0 ? -1 : 1);
  hit->distance = -depth[nearest];
  hit->place = sn_madd(p, depth[nearest], hit->normal);
}

// ---- Meshes ---------------------------------------------------------------------------------------

// What the triangles at a place of a mesh add up to.
typedef struct around_place {
  sn_moving_bvh rest;
  sn_vec3 place;
  double reach;
  sn_vec3 sum;
} around_place;

static sn_vec3 face_normal(const sn_moving_bvh* rest, uint32_t triangle) {
  sn_vec3 c[3];
  sn_moving_bvh_corners(rest, triangle, c);
  return unit_or(sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0])), sn_v3(1, 0, 0));
}

static double segment_distance(sn_vec3 a, sn_vec3 b, sn_vec3 p) {
  sn_vec3 along = sn_sub(b, a);
  double squared = sn_dot(along, along);
  double t = squared > 0 ? sn_dot(along, sn_sub(p, a)) / squared : 0;
  return sn_distance(p, sn_madd(a, fmax(0, fmin(1, t)), along));
}

// Under which angle the triangle lies around one of its places: at a corner that corner's, at an edge
// half of the round, else all of it.
static double angle_at(const sn_vec3 c[3], sn_vec3 place, double reach) {
  for (int i = 0; i < 3; ++i) {
    if (sn_distance(c[i], place) > reach) continue;
    sn_vec3 a = sn_sub(c[(i + 1) % 3], c[i]), b = sn_sub(c[(i + 2) % 3], c[i]);
    return sn_atan2(sn_length(sn_cross(a, b)), sn_dot(a, b));
  }
  for (int i = 0; i < 3; ++i) {
    if (segment_distance(c[i], c[(i + 1) % 3], place) <= reach) return PI;
  }
  return 2 * PI;
}

static void add_normal(void* ctx, uint32_t triangle) {
  around_place* around = ctx;
  sn_vec3 c[3];
  sn_moving_bvh_corners(&around->rest, triangle, c);
  if (sn_distance(sn_triangle_nearest(c, around->place), around->place) > around->reach) return;
  double angle = angle_at(c, around->place, around->reach);
  around->sum = sn_madd(around->sum, angle, face_normal(&around->rest, triangle));
}

// The average of all faces at the place, by angle. Faces are found by where they are, not by what they
// share, so vertices that were not welded do no harm. Where the faces cancel, that of the triangle.
static sn_vec3 average_normal(const sn_bvh* bvh, uint32_t triangle, sn_vec3 place, double reach) {
  around_place around = {.rest = sn_moving_bvh_at_rest(bvh), .place = place, .reach = reach};
  sn_vec3 r = sn_v3(reach, reach, reach);
  sn_box box = {sn_sub(place, r), sn_add(place, r)};
  sn_moving_bvh_overlaps(&around.rest, box, add_normal, &around);
  sn_vec3 face = face_normal(&around.rest, triangle);
  return largest(around.sum) > 1e-6 ? unit_or(around.sum, face) : face;
}

// The largest coordinate: what lengths that stand for rounding are relative to.
static double mesh_scale(const sn_bvh* bvh) {
  return fmax(largest(bvh->nodes[0].box.lo), largest(bvh->nodes[0].box.hi));
}

// More rim than a hole has: a bowl, a cloth, a funnel. What it winds around is not solid.
static bool is_sheet(const sn_bvh* bvh) {
  double rim = bvh->nodes[0].rim;
  return rim * rim > bvh->surface->area;
}

static bool is_inside(const sn_bvh* bvh, sn_vec3 p) {
  return sn_box_contains(bvh->nodes[0].box, p) && !is_sheet(bvh) && sn_bvh_winding(bvh, p) > 0.5;
}

// The gradient of the distance, at p whose nearest place is on this triangle.
static sn_vec3 mesh_normal(const sn_bvh* bvh, uint32_t triangle, sn_vec3 p,
                           const sn_solid_hit* hit) {
  double distance = fabs(hit->distance), scale = mesh_scale(bvh);
  if (distance <= ON_SURFACE * scale) {
    return average_normal(bvh, triangle, hit->place, ON_SURFACE * scale);
  }
  sn_moving_bvh rest = sn_moving_bvh_at_rest(bvh);
  sn_vec3 face = face_normal(&rest, triangle);
  sn_vec3 away = sn_scale(hit->distance < 0 ? -1 : 1, sn_sub(p, hit->place));
  sn_vec3 direction = unit_or(away, face);
  // As close to the face's normal as rounding lets it be: then that is the better one.
  double side = sn_dot(direction, face) < 0 ? -1 : 1;
  bool same = sn_distance(direction, sn_scale(side, face)) * distance <= ROUNDING * scale;
  return same ? sn_scale(side, face) : direction;
}

static bool nearest_mesh(const sn_bvh* bvh, sn_vec3 p, double limit, sn_solid_hit* hit) {
  if (bvh->node_count == 0) return false;
  uint32_t triangle;
  bool near = sn_bvh_nearest(bvh, p, limit, &triangle, &hit->place);
  bool inside = is_inside(bvh, p);
  if (!near && !inside) return false;
  if (!near && !sn_bvh_nearest(bvh, p, INFINITY, &triangle, &hit->place)) return false;
  double distance = sn_distance(p, hit->place);
  hit->distance = inside ? -distance : distance;
  hit->normal = mesh_normal(bvh, triangle, p, hit);
  return true;
}

bool sn_solid_nearest(const sn_solid* solid, sn_vec3 p, double limit, sn_solid_hit* hit) {
  switch (solid->kind) {
    case SN_SOLID_PLANE:
      nearest_plane(solid, p, hit);
      break;
    case SN_SOLID_SPHERE:
      nearest_ball(solid->position, solid->radius, p, sn_v3(1, 0, 0), hit);
      break;
    case SN_SOLID_CAPSULE:
      nearest_capsule(solid, p, hit);
      break;
    case SN_SOLID_BOX:
      nearest_box(solid, p, hit);
      break;
    case SN_SOLID_MESH:
      return nearest_mesh(solid->bvh, p, limit, hit);
  }
  return hit->distance < 0 || hit->distance <= limit;
}

// ---- Ways that enter ------------------------------------------------------------------------------

// Share of the way at which it comes within `radius` of the origin.
static bool enter_round(sn_vec3 from, sn_vec3 way, double radius, double* share) {
  // |from + t way|^2 = radius^2; the smaller root, in a form without cancellation
  double a = sn_dot(way, way), b = sn_dot(from, way);
  if (!(b < 0)) return false;
  sn_vec3 closest = sn_madd(from, -b / a, way);
  double rest = radius * radius - sn_dot(closest, closest);
  if (!(rest > 0)) return false;
  double distance = sn_length(from);
  double t = (distance - radius) * (distance + radius) / (sqrt(a * rest) - b);
  *share = t > 0 ? t : 0;
  return *share <= 1;
}

static bool enter_plane(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double* share) {
  double before = sn_dot(solid->normal, sn_sub(from, solid->position));
  double after = sn_dot(solid->normal, sn_sub(to, solid->position));
  if (!(after <= 0 && after < before)) return false;
  *share = before / (before - after);
  return true;
}

// The first of: the round side between the ends, the balls at both ends.
static bool enter_capsule(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double* share) {
  sn_vec3 way = sn_sub(to, from), axis = sn_sub(solid->to, solid->from);
  bool enters = false;
  double t;
  for (int end = 0; end < 2; ++end) {
    sn_vec3 start = sn_sub(from, end ? solid->to : solid->from);
    if (!enter_round(start, way, solid->radius, &t)) continue;
    if (!enters || t < *share) *share = t;
    enters = true;
  }
  double squared = sn_dot(axis, axis);
  if (!(squared > 0)) return enters;
  // Seen along the axis the side is a circle.
  sn_vec3 start = sn_sub(from, solid->from);
  double at = sn_dot(start, axis) / squared, climb = sn_dot(way, axis) / squared;
  sn_vec3 flat_start = sn_madd(start, -at, axis), flat_way = sn_madd(way, -climb, axis);
  if (!enter_round(flat_start, flat_way, solid->radius, &t)) return enters;
  double height = at + t * climb;
  if (height < 0 || height > 1 || (enters && t >= *share)) return enters;
  *share = t;
  return true;
}

// The way is inside from its last crossing of a near side to its first of a far one.
static bool enter_box(const sn_solid* solid, sn_vec3 from, sn_vec3 to, sn_solid_hit* hit) {
  sn_vec3 start = sn_sub(from, solid->position), way = sn_sub(to, from);
  double begin = -INFINITY, end = INFINITY;
  int axis = 0;
  for (int i = 0; i < 3; ++i) {
    double at = sn_axis(start, i), step = sn_axis(way, i), half = sn_axis(solid->half, i);
    if (step == 0) {
      if (fabs(at) >= half) return false;
      continue;
    }
    double in = ((step > 0 ? -half : half) - at) / step,
           out = ((step > 0 ? half : -half) - at) / step;
    if (in > begin) axis = i;
    begin = fmax(begin, in);
    end = fmin(end, out);
  }
  if (!(begin >= 0 && begin <= 1 && begin < end)) return false;
  hit->distance = begin;
  hit->normal = along_axis(axis, sn_axis(way, axis) > 0 ? -1 : 1);
  // On the side exactly, and not beyond it by rounding.
  sn_vec3 place = sn_madd(start, begin, way);
  double beyond = sn_dot(place, hit->normal) - sn_axis(solid->half, axis);
  place = sn_madd(place, -beyond, hit->normal);
  place = sn_max3(sn_scale(-1, solid->half), sn_min3(solid->half, place));
  hit->place = sn_add(solid->position, place);
  return true;
}

// Leaves out the triangles on which a way starts.
static bool lies_ahead(void* ctx, uint32_t triangle) {
  const around_place* start = ctx;
  sn_vec3 c[3];
  sn_moving_bvh_corners(&start->rest, triangle, c);
  return sn_distance(sn_triangle_nearest(c, start->place), start->place) > start->reach;
}

// Does the way that starts on the surface lead inside?
static bool leads_inside(const sn_bvh* bvh, sn_vec3 from, sn_vec3 way) {
  double scale = mesh_scale(bvh), length = sn_length(way);
  if (!(length > 0)) return false;
  sn_vec3 ahead = sn_madd(from, fmin(1, LOOK_AHEAD * scale / length), way);
  // What runs along the surface is on neither side of it.
  return sn_bvh_distance(bvh, ahead, INFINITY) > 100 * ROUNDING * scale && is_inside(bvh, ahead);
}

static bool enter_mesh(const sn_bvh* bvh, sn_vec3 from, sn_vec3 to, sn_solid_hit* hit) {
  if (bvh->node_count == 0) return false;
  sn_vec3 way = sn_sub(to, from);
  double reach = ON_SURFACE * mesh_scale(bvh), length = sn_length(way);
  uint32_t triangle;
  bool on_surface = sn_bvh_nearest(bvh, from, reach, &triangle, &hit->place);
  if (on_surface && leads_inside(bvh, from, way)) {
    hit->normal = average_normal(bvh, triangle, hit->place, reach);
    hit->distance = 0;
    return true;
  }
  around_place start = {.rest = sn_moving_bvh_at_rest(bvh), .place = from, .reach = reach};
  sn_ray_hit crossing;
  if (!sn_moving_bvh_ray(&start.rest, from, way, length, on_surface ? lies_ahead : NULL, &start,
                         &crossing)) {
    return false;
  }
  if (!on_surface && is_inside(bvh, from)) return false;
  // From outside every crossing goes in, be it through a sheet.
  hit->distance = fmin(1, crossing.t / length);
  hit->place = sn_madd(from, hit->distance, way);
  double side = crossing.from_behind ? -1 : 1;
  hit->normal = sn_scale(side, average_normal(bvh, crossing.triangle, hit->place, reach));
  // An edge may be crossed against the average of its faces.
  bool faces_start = sn_dot(hit->normal, way) < 0;
  if (!faces_start) hit->normal = sn_scale(side, face_normal(&start.rest, crossing.triangle));
  return true;
}

// Share of the way that lies before a round or flat shape.
static bool enter_smooth(const sn_solid* solid, sn_vec3 from, sn_vec3 to, double* share) {
  if (solid->kind == SN_SOLID_PLANE) return enter_plane(solid, from, to, share);
  if (solid->kind == SN_SOLID_CAPSULE) return enter_capsule(solid, from, to, share);
  return enter_round(sn_sub(from, solid->position), sn_sub(to, from), solid->radius, share);
}

bool sn_solid_is_sheet(const sn_solid* solid) {
  return solid->kind == SN_SOLID_MESH && solid->bvh->node_count > 0 && is_sheet(solid->bvh);
}

bool sn_solid_enter(const sn_solid* solid, sn_vec3 from, sn_vec3 to, sn_solid_hit* hit) {
  if (solid->kind == SN_SOLID_MESH) return enter_mesh(solid->bvh, from, to, hit);
  if (solid->kind == SN_SOLID_BOX) return enter_box(solid, from, to, hit);
  sn_solid_nearest(solid, from, INFINITY, hit);
  double share;
  if (hit->distance < 0 || !enter_smooth(solid, from, to, &share)) return false;
  sn_solid_nearest(solid, sn_madd(from, share, sn_sub(to, from)), INFINITY, hit);
  hit->distance = share;
  return true;
}

// ---- Box ------------------------------------------------------------------------------------------

sn_box sn_solid_box(const sn_solid* solid) {
  sn_vec3 r = sn_v3(solid->radius, solid->radius, solid->radius), all = sn_v3(1, 1, 1);
  switch (solid->kind) {
    case SN_SOLID_PLANE:
      break;
    case SN_SOLID_SPHERE:
      return (sn_box){sn_sub(solid->position, r), sn_add(solid->position, r)};
    case SN_SOLID_CAPSULE:
      return (sn_box){sn_sub(sn_min3(solid->from, solid->to), r),
                      sn_add(sn_max3(solid->from, solid->to), r)};
    case SN_SOLID_BOX:
      return (sn_box){sn_sub(solid->position, solid->half), sn_add(solid->position, solid->half)};
    case SN_SOLID_MESH:
      return solid->bvh->node_count > 0 ? solid->bvh->nodes[0].box : sn_box_empty();
  }
  return (sn_box){sn_scale(-INFINITY, all), sn_scale(INFINITY, all)};
}
