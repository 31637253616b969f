#include "body/carrier.h"

#include <math.h>
#include <string.h>

#include "math/svd3.h"
#include "math/vec.h"

// An orthonormal frame of a triangle: columns along its longest edge at rest, within it across that,
// and normal to it. @return its area, 0 where there is no such frame
static double find_frame(const sn_vec3 corner[3], int first, sn_mat3* frame) {
  sn_vec3 a = corner[first], b = corner[(first + 1) % 3], c = corner[(first + 2) % 3];
  sn_vec3 along = sn_sub(b, a), normal = sn_cross(along, sn_sub(c, a));
  double length = sn_length(along), area = sn_length(normal);
  if (!(length > 0 && area > 0)) return 0;
  along = sn_scale(1 / length, along);
  normal = sn_scale(1 / area, normal);
  sn_vec3 across = sn_cross(normal, along);
  *frame = (sn_mat3){{{along.x, across.x, normal.x},
                      {along.y, across.y, normal.y},
                      {along.z, across.z, normal.z}}};
  return 0.5 * area;
}

static int longest_edge(const sn_vec3 corner[3]) {
  int longest = 0;
  double most = 0;
  for (int i = 0; i < 3; ++i) {
    double length = sn_distance(corner[i], corner[(i + 1) % 3]);
    if (length <= most) continue;
    longest = i;
    most = length;
  }
  return longest;
}

// Sum over the corners' vertices: area x rotation, area x growth.
static void add_triangle(sn_carrier* carrier, uint32_t t) {
  const uint32_t* vertex = carrier->surface->triangles + 3 * (size_t)t;
  sn_vec3 rest[3], now[3];
  for (int i = 0; i < 3; ++i) {
    rest[i] = sn_surface_corner(carrier->surface, t, i);
    now[i] = sn_add(rest[i], sn_load3(carrier->moves + 3 * (size_t)vertex[i]));
  }
  sn_mat3 before, after, sum = {{{0}}};
  int first = longest_edge(rest);
  double area = find_frame(rest, first, &before), area_now = find_frame(now, first, &after);
  if (area == 0) return;
  for (int k = 0; k < 9 && area_now > 0; ++k) {
    const double *p = after.m[k / 3], *q = before.m[k % 3];
    sum.m[k / 3][k % 3] = area * (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
  }
  double growth = area * sqrt(area_now / area);
  for (int i = 0; i < 3; ++i) {
    sn_mat3* turn = &carrier->turns[vertex[i]];
    for (int k = 0; k < 9; ++k) turn->m[k / 3][k % 3] += sum.m[k / 3][k % 3];
    carrier->areas[vertex[i]] += area;
    carrier->growths[vertex[i]] += growth;
  }
}

// From the sums to s R - 1.
static void finish_turns(void* ctx, size_t begin, size_t end) {
  sn_carrier* carrier = ctx;
  for (size_t v = begin; v < end; ++v) {
    if (carrier->areas[v] == 0) continue;
    double F[9], U[9], s[3], V[9], scale = carrier->growths[v] / carrier->areas[v];
    memcpy(F, &carrier->turns[v], sizeof F);
    sn_svd3_d(F, U, s, V);
    for (int k = 0; k < 9; ++k) {
      const double *p = U + 3 * (k / 3), *q = V + 3 * (k % 3);
      double rotation = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
      carrier->turns[v].m[k / 3][k % 3] = scale * rotation - (k % 4 == 0);
    }
  }
}

sn_status sn_carrier_create(const sn_surface* surface, sn_arena* arena, sn_carrier* carrier,
                            sn_error* err) {
  size_t count = surface->vertex_count;
  *carrier = (sn_carrier){.surface = surface};
  SN_TRY(SN_ARENA_NEW(arena, 3 * count, &carrier->moves, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &carrier->turns, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &carrier->areas, err));
  return SN_ARENA_NEW(arena, count, &carrier->growths, err);
}

void sn_carrier_turn(sn_carrier* carrier, sn_pool* pool) {
  size_t count = carrier->surface->vertex_count;
  memset(carrier->turns, 0, count * sizeof *carrier->turns);
  memset(carrier->areas, 0, count * sizeof *carrier->areas);
  memset(carrier->growths, 0, count * sizeof *carrier->growths);
  for (uint32_t t = 0; t < carrier->surface->triangle_count; ++t) add_triangle(carrier, t);
  sn_parallel_for(pool, count, 256, finish_turns, carrier);
}

// Weights of the corners at a place of a triangle that has an area, sum 1.
static void weigh_corners(const sn_vec3 c[3], sn_vec3 p, double weights[3]) {
  sn_vec3 normal = sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0]));
  double all = sn_dot(normal, normal);
  for (int i = 1; i < 3; ++i) {
    sn_vec3 to = sn_sub(c[(i + 1) % 3], p), from = sn_sub(c[(i + 2) % 3], p);
    double weight = sn_dot(sn_cross(to, from), normal) / all;
    weights[i] = weight >= 0 && weight <= 1 ? weight : weight > 0;
  }
  weights[0] = 1 - weights[1] - weights[2];
}

sn_rider sn_rider_bind(const sn_bvh* bvh, sn_vec3 point, double* distance) {
  sn_rider rider = {{0}, {0}, {0, 0, 0}};
  uint32_t triangle = 0;
  sn_vec3 corner[3], place;
  bool found = sn_bvh_nearest(bvh, point, INFINITY, &triangle, &place);
  SN_ASSERT(found);
  for (int i = 0; i < 3; ++i) {
    rider.corners[i] = bvh->surface->triangles[3 * (size_t)triangle + (size_t)i];
    corner[i] = sn_surface_corner(bvh->surface, triangle, i);
  }
  weigh_corners(corner, place, rider.weights);
  // From where the weights say, not from `place`: at rest the point is then where it is, to the last bit.
  sn_vec3 at = corner[0];
  for (int i = 1; i < 3; ++i) at = sn_madd(at, rider.weights[i], sn_sub(corner[i], corner[0]));
  rider.offset = sn_sub(point, at);
  if (distance) *distance = sn_length(rider.offset);
  return rider;
}

sn_vec3 sn_rider_place_move(const sn_rider* rider, const double* moves) {
  sn_vec3 sum = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    sum = sn_madd(sum, rider->weights[i], sn_load3(moves + 3 * (size_t)rider->corners[i]));
  }
  return sum;
}

sn_vec3 sn_rider_move(const sn_rider* rider, const sn_carrier* carrier) {
  sn_vec3 sum = sn_rider_place_move(rider, carrier->moves);
  for (int i = 0; i < 3; ++i) {
    sn_vec3 swing = sn_mul3v(&carrier->turns[rider->corners[i]], rider->offset);
    sum = sn_madd(sum, rider->weights[i], swing);
  }
  return sum;
}
