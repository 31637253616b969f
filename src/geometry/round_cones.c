// Bodies from round cones. The distance to a round cone is that to the nearest sphere of its sweep,
// and unions are softened by a cubic smooth minimum, which keeps the curvature continuous. Only the
// four basic operations and square roots are used, so the result has the same bits everywhere.
#include "geometry/round_cones.h"

#include "geometry/surface_nets.h"
#include "math/vec.h"

typedef struct cone_union {
  const sn_round_cone* cones;
  uint32_t count;
  double blend;
} cone_union;

// Where on the axis, as a length from `from`, the centre of the nearest sphere sits.
//
//   The common tangent of all spheres leans by an angle with sine s = (r0 - r1) / l. A point at
//   height t and distance r from the axis looks down the normal of that tangent, which meets the
//   axis at t - r s / sqrt(1 - s^2). Beyond the ends, an end sphere is nearest.
static double nearest_sphere(const sn_round_cone* cone, double length, double t, double r) {
  double shrink = cone->from_radius - cone->to_radius;
  // One end sphere swallows the whole sweep.
  if (length <= fabs(shrink)) return shrink >= 0 ? 0 : length;
  double s = shrink / length;
  double foot = t - r * s / sqrt(1 - s * s);
  return foot < 0 ? 0 : foot > length ? length : foot;
}

double sn_round_cone_distance(const sn_round_cone* cone, sn_vec3 p, sn_vec3* gradient) {
  sn_vec3 axis = sn_sub(cone->to, cone->from), offset = sn_sub(p, cone->from);
  double length = sn_length(axis);
  sn_vec3 along = length > 0 ? sn_scale(1 / length, axis) : sn_v3(0, 0, 0);
  double t = sn_dot(offset, along);
  double r = sn_length(sn_madd(offset, -t, along));
  double foot = nearest_sphere(cone, length, t, r);
  double share = length > 0 ? foot / length : cone->from_radius >= cone->to_radius ? 0 : 1;
  double radius = cone->from_radius + share * (cone->to_radius - cone->from_radius);
  sn_vec3 away = sn_madd(offset, -foot, along);
  double distance = sn_length(away);
  if (gradient) *gradient = sn_scale(distance > 0 ? 1 / distance : 0, away);
  return distance - radius;
}

// min(a, b) - k h^3 / 6 with h = max(0, 1 - |a - b| / k). Its gradient is a weighted mean of the
// two, so the field never grows faster than a distance.
static double smooth_min(double a, double b, double k, sn_vec3* a_gradient, sn_vec3 b_gradient) {
  double h = k > 0 ? 1 - fabs(a - b) / k : 0;
  if (h < 0) h = 0;
  double far_weight = 0.5 * h * h;
  double b_weight = a <= b ? far_weight : 1 - far_weight;
  *a_gradient = sn_madd(sn_scale(1 - b_weight, *a_gradient), b_weight, b_gradient);
  return (a < b ? a : b) - k * h * h * h / 6;
}

static double melting_length(const cone_union* all, const sn_round_cone* cone) {
  double radius = fmax(cone->from_radius, cone->to_radius);
  return fmin(all->blend, radius);
}

static double union_value(const void* ctx, sn_vec3 p, sn_vec3* gradient) {
  const cone_union* all = ctx;
  sn_vec3 total_gradient, own_gradient;
  double total = sn_round_cone_distance(&all->cones[0], p, &total_gradient);
  for (uint32_t i = 1; i < all->count; ++i) {
    const sn_round_cone* cone = &all->cones[i];
    double own = sn_round_cone_distance(cone, p, &own_gradient);
    total = smooth_min(total, own, melting_length(all, cone), &total_gradient, own_gradient);
  }
  if (gradient) *gradient = total_gradient;
  return total;
}

// Melting adds at most `blend` outside the plain union, however many cones meet: a value already
// `blend` below the next one is left alone by the smooth minimum.
static sn_box union_box(const cone_union* all) {
  sn_box box = sn_box_empty();
  for (uint32_t i = 0; i < all->count; ++i) {
    const sn_round_cone* cone = &all->cones[i];
    double a = cone->from_radius + all->blend, b = cone->to_radius + all->blend;
    box = sn_box_grow(box, sn_sub(cone->from, sn_v3(a, a, a)));
    box = sn_box_grow(box, sn_add(cone->from, sn_v3(a, a, a)));
    box = sn_box_grow(box, sn_sub(cone->to, sn_v3(b, b, b)));
    box = sn_box_grow(box, sn_add(cone->to, sn_v3(b, b, b)));
  }
  return box;
}

static bool is_finite3(sn_vec3 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

static sn_status check_cone(const sn_round_cone* cone, uint32_t index, sn_error* err) {
  double a = cone->from_radius, b = cone->to_radius;
  SN_CHECK(is_finite3(cone->from) && is_finite3(cone->to), err, SN_ERR_INPUT,
           "round cone %u: its ends are not finite", index);
  SN_CHECK(a >= 0 && b >= 0 && isfinite(a) && isfinite(b), err, SN_ERR_INPUT,
           "round cone %u: radii %g and %g; both must be finite and not negative", index, a, b);
  return SN_OK;
}

sn_status sn_mesh_from_round_cones(const sn_round_cone* cones, uint32_t cone_count, double blend,
                                   double cell, sn_mesh* mesh, sn_error* err) {
  *mesh = (sn_mesh){0};
  SN_CHECK(cone_count > 0, err, SN_ERR_INPUT, "a shape needs at least one round cone");
  SN_CHECK(blend >= 0 && isfinite(blend), err, SN_ERR_INPUT,
           "blend is %g; it must be finite and not negative", blend);
  for (uint32_t i = 0; i < cone_count; ++i) SN_TRY(check_cone(&cones[i], i, err));
  cone_union all = {cones, cone_count, blend};
  sn_distance_field field = {union_value, &all};
  return sn_mesh_from_field(&field, union_box(&all), cell, mesh, err);
}
