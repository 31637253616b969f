#include "geometry/triangle_box.h"

#include "math/vec.h"

static void set_axis(sn_triangle_axes* axes, int i, sn_vec3 axis, const sn_vec3 t[3]) {
  double a = sn_dot(axis, t[0]), b = sn_dot(axis, t[1]), c = sn_dot(axis, t[2]);
  axes->low[i] = a < b ? (a < c ? a : c) : (b < c ? b : c);
  axes->high[i] = a > b ? (a > c ? a : c) : (b > c ? b : c);
  axes->reach[i] = fabs(axis.x) + fabs(axis.y) + fabs(axis.z);
}

sn_triangle_axes sn_triangle_find_axes(const sn_vec3 triangle[3]) {
  static const sn_vec3 GRID[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  sn_triangle_axes axes = {.origin = triangle[0]};
  sn_vec3 t[3], edges[3];
  for (int i = 1; i < 3; ++i) axes.origin = sn_min3(axes.origin, triangle[i]);
  for (int i = 0; i < 3; ++i) {
    t[i] = sn_sub(triangle[i], axes.origin);
    axes.size = sn_max3(axes.size, t[i]);
  }
  for (int i = 0; i < 3; ++i) edges[i] = sn_sub(t[(i + 1) % 3], t[i]);
  for (int i = 0; i < 9; ++i) {
    int g = i / 3;
    sn_vec3 axis = sn_cross(GRID[g], edges[i % 3]);
    axes.across[i][0] = sn_axis(axis, (g + 1) % 3);
    axes.across[i][1] = sn_axis(axis, (g + 2) % 3);
    set_axis(&axes, i, axis, t);
  }
  axes.normal = sn_cross(edges[0], edges[1]);
  set_axis(&axes, 9, axes.normal, t);
  return axes;
}

// How far `at` is outside of low..high; negative within.
static double gap(double at, double low, double high) {
  return low - at > at - high ? low - at : at - high;
}

int sn_triangle_touches_cubes(const sn_triangle_axes* axes, sn_vec3 centre, double outer,
                              double inner) {
  if (outer < 0) return 0;
  // Faces of the cube first: they reject most.
  sn_vec3 from = sn_sub(centre, axes->origin);
  double x = gap(from.x, 0, axes->size.x), y = gap(from.y, 0, axes->size.y);
  double z = gap(from.z, 0, axes->size.z), most = x > y ? (x > z ? x : z) : (y > z ? y : z);
  if (most > outer) return 0;
  double off_plane = gap(sn_dot(axes->normal, from), axes->low[9], axes->high[9]);
  if (off_plane > outer * axes->reach[9]) return 0;
  bool both = inner >= 0 && most <= inner && off_plane <= inner * axes->reach[9];

  double c[5] = {from.x, from.y, from.z, from.x, from.y};
  for (int i = 0; i < 9; ++i) {
    double at = axes->across[i][0] * c[i / 3 + 1] + axes->across[i][1] * c[i / 3 + 2];
    double g = gap(at, axes->low[i], axes->high[i]);
    if (g > outer * axes->reach[i]) return 0;
    both = both && g <= inner * axes->reach[i];
  }
  return both ? 2 : 1;
}

bool sn_triangle_touches_cube(const sn_vec3 triangle[3], sn_vec3 centre, double half) {
  sn_triangle_axes axes = sn_triangle_find_axes(triangle);
  return sn_triangle_touches_cubes(&axes, centre, half, half) > 0;
}
