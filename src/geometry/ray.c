// After Woop, Benthin and Wald 2013, Watertight ray/triangle intersection. Corners are sheared until
// the ray is the z axis; which side of an edge it passes is then one 2x2 determinant. Two triangles
// that share the edge compute the same two products, so they agree on the side to the last bit, and
// what is on neither side belongs to both.
#include "geometry/ray.h"

#include "math/vec.h"

// Relative to the largest coordinate: some 90 roundings.
#define SLACK 1e-14

static double largest(sn_vec3 a) { return fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z))); }

bool sn_ray_set(sn_ray* ray, sn_vec3 from, sn_vec3 direction, double length, sn_box reach) {
  // Scaled first: the square of a short vector may vanish.
  double scale = largest(direction);
  if (!(scale > 0)) return false;
  sn_vec3 way = sn_v3(direction.x / scale, direction.y / scale, direction.z / scale);
  way = sn_scale(1.0 / sn_length(way), way);
  *ray = (sn_ray){.length = length};
  sn_store3(ray->from, from);
  sn_store3(ray->way, way);
  for (int i = 0; i < 3; ++i) ray->inverse[i] = 1.0 / ray->way[i];
  ray->slack = SLACK * (largest(from) + fmax(largest(reach.lo), largest(reach.hi)));
  int z = fabs(way.x) >= fabs(way.y) && fabs(way.x) >= fabs(way.z) ? 0
          : fabs(way.y) >= fabs(way.z)                             ? 1
                                                                   : 2;
  bool along = ray->way[z] > 0;
  ray->axis[0] = (z + (along ? 1 : 2)) % 3;
  ray->axis[1] = (z + (along ? 2 : 1)) % 3;
  ray->axis[2] = z;
  for (int i = 0; i < 2; ++i) ray->shear[i] = ray->way[ray->axis[i]] / ray->way[z];
  ray->shear[2] = 1.0 / ray->way[z];
  return true;
}

bool sn_ray_box(const sn_ray* ray, const sn_box* box, double most) {
  double lo[3], hi[3], begin = 0, end = most;
  sn_store3(lo, box->lo);
  sn_store3(hi, box->hi);
  for (int i = 0; i < 3; ++i) {
    double near = lo[i] - ray->from[i] - ray->slack, far = hi[i] - ray->from[i] + ray->slack;
    if (ray->way[i] == 0) {
      if (near > 0 || far < 0) return false;
      continue;
    }
    double a = near * ray->inverse[i], b = far * ray->inverse[i];
    double in = a < b ? a : b, out = a < b ? b : a;
    if (in > begin) begin = in;
    if (out < end) end = out;
  }
  return begin <= end;
}

// The corner seen along the ray: x and y across, z = t.
static sn_vec3 shear_corner(const sn_ray* ray, sn_vec3 corner) {
  double p[3];
  sn_store3(p, corner);
  for (int i = 0; i < 3; ++i) p[i] -= ray->from[i];
  double z = p[ray->axis[2]];
  return sn_v3(p[ray->axis[0]] - ray->shear[0] * z, p[ray->axis[1]] - ray->shear[1] * z,
               ray->shear[2] * z);
}

// Which side of the edge from a to b the ray passes: negated to the last bit for b to a.
static double side_of(sn_vec3 a, sn_vec3 b) { return a.x * b.y - a.y * b.x; }

bool sn_ray_triangle(const sn_ray* ray, const sn_vec3 corner[3], sn_ray_hit* hit) {
  sn_vec3 a = shear_corner(ray, corner[0]), b = shear_corner(ray, corner[1]),
          c = shear_corner(ray, corner[2]);
  double u = side_of(b, c), v = side_of(c, a), w = side_of(a, b);
  bool left = u < 0 || v < 0 || w<0, right = u> 0 || v > 0 || w > 0;
  if (left == right) return false;  // beside it, or edge-on
  double sum = u + v + w, t = (u * a.z + v * b.z + w * c.z) / sum;
  if (!(t >= 0 && t <= ray->length)) return false;
  hit->u = v / sum;
  hit->v = w / sum;
  hit->t = t;
  hit->from_behind = right;
  return true;
}
