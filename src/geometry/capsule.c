#include "geometry/capsule.h"

#include "math/elementary.h"
#include "math/vec.h"

#define SIDES 16         // around the axis
#define RINGS_PER_END 4  // of each half ball, the pole not counted
#define RINGS (2 * RINGS_PER_END)
#define VERTICES (RINGS * SIDES + 2)
#define TRIANGLES (2 * SIDES * RINGS)
#define PI 3.14159265358979323846

double sn_capsule_distance(sn_vec3 from, sn_vec3 to, double radius, sn_vec3 p) {
  sn_vec3 axis = sn_sub(to, from), away = sn_sub(p, from);
  double length_squared = sn_dot(axis, axis);
  double t = length_squared > 0 ? sn_dot(axis, away) / length_squared : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return sn_distance(p, sn_madd(from, t, axis)) - radius;
}

// Two unit vectors across a unit axis.
static void frame_around(sn_vec3 axis, sn_vec3* across, sn_vec3* third) {
  sn_vec3 least = fabs(axis.x) <= fabs(axis.y) && fabs(axis.x) <= fabs(axis.z) ? sn_v3(1, 0, 0)
                  : fabs(axis.y) <= fabs(axis.z)                               ? sn_v3(0, 1, 0)
                                                                               : sn_v3(0, 0, 1);
  sn_vec3 c = sn_cross(axis, least);
  *across = sn_scale(1.0 / sn_length(c), c);
  *third = sn_cross(axis, *across);
}

// Rings from the pole beyond `from` to the pole beyond `to`; the two poles come last.
static void place_vertices(sn_vec3 from, sn_vec3 to, double radius, double* positions) {
  sn_vec3 axis = sn_sub(to, from), across, third;
  double length = sn_length(axis);
  axis = length > 0 ? sn_scale(1.0 / length, axis) : sn_v3(0, 1, 0);
  frame_around(axis, &across, &third);
  for (int ring = 0; ring < RINGS; ++ring) {
    bool first_end = ring < RINGS_PER_END;
    // Latitude from just above the pole to the rim, and back.
    int step = first_end ? ring + 1 : RINGS - ring;
    double latitude = PI / 2 * step / RINGS_PER_END;
    double out = radius * sn_sin(latitude), up = radius * sn_cos(latitude);
    sn_vec3 centre = sn_madd(first_end ? from : to, first_end ? -up : up, axis);
    for (int side = 0; side < SIDES; ++side) {
      double angle = 2 * PI * side / SIDES;
      sn_vec3 p = sn_madd(sn_madd(centre, out * sn_cos(angle), across), out * sn_sin(angle), third);
      sn_store3(positions + 3 * (ring * SIDES + side), p);
    }
  }
  sn_store3(positions + 3 * (RINGS * SIDES), sn_madd(from, -radius, axis));
  sn_store3(positions + 3 * (RINGS * SIDES + 1), sn_madd(to, radius, axis));
}

static uint32_t* add_triangle(uint32_t* out, int a, int b, int c) {
  out[0] = (uint32_t)a;
  out[1] = (uint32_t)b;
  out[2] = (uint32_t)c;
  return out + 3;
}

static void connect_vertices(uint32_t* out) {
  for (int side = 0; side < SIDES; ++side) {
    int next = (side + 1) % SIDES;
    out = add_triangle(out, RINGS * SIDES, next, side);
    for (int ring = 0; ring + 1 < RINGS; ++ring) {
      int a = ring * SIDES, b = a + SIDES;
      out = add_triangle(out, a + side, a + next, b + next);
      out = add_triangle(out, a + side, b + next, b + side);
    }
    int last = (RINGS - 1) * SIDES;
    out = add_triangle(out, RINGS * SIDES + 1, last + side, last + next);
  }
}

sn_status sn_capsule_mesh(sn_vec3 from, sn_vec3 to, double radius, sn_mesh* mesh, sn_error* err) {
  double positions[3 * VERTICES];
  uint32_t triangles[3 * TRIANGLES];
  place_vertices(from, to, radius, positions);
  connect_vertices(triangles);
  return sn_mesh_from_arrays(positions, VERTICES, triangles, TRIANGLES, mesh, err);
}
