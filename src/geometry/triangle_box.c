#include "geometry/triangle_box.h"

#include "math/vec.h"

// Do the projections of triangle and cube on `axis` miss one another? The cube's reaches to
// half (|x| + |y| + |z|) on both sides of the origin.
static bool separates(sn_vec3 axis, const sn_vec3 t[3], double half) {
  double a = sn_dot(axis, t[0]), b = sn_dot(axis, t[1]), c = sn_dot(axis, t[2]);
  double low = a < b ? (a < c ? a : c) : (b < c ? b : c);
  double high = a > b ? (a > c ? a : c) : (b > c ? b : c);
  double reach = half * (fabs(axis.x) + fabs(axis.y) + fabs(axis.z));
  return low > reach || high < -reach;
}

bool sn_triangle_touches_cube(const sn_vec3 triangle[3], sn_vec3 centre, double half) {
  if (half < 0) return false;
  static const sn_vec3 AXES[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  sn_vec3 t[3], edges[3];
  for (int i = 0; i < 3; ++i) t[i] = sn_sub(triangle[i], centre);
  for (int i = 0; i < 3; ++i) edges[i] = sn_sub(t[(i + 1) % 3], t[i]);

  // Faces of the cube first: they reject most.
  for (int i = 0; i < 3; ++i) {
    if (separates(AXES[i], t, half)) return false;
  }
  if (separates(sn_cross(edges[0], edges[1]), t, half)) return false;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (separates(sn_cross(AXES[i], edges[j]), t, half)) return false;
    }
  }
  return true;
}
