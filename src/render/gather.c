#include "render/gather.h"

#include "math/vec.h"
#include "render/sample.h"

#define SUN_SPREAD 0.13  // radius of the sun seen from its distance: a large one, for soft shadows
#define LIFT 2e-4        // radii of what is shown
#define FAR 1e3f         // radii
#define LINE_WIDTH 0.5   // half the width of a line, pixels
#define MOST_LINE 0.08   // of the height of a triangle
#define LINE_DARKNESS 0.75

static const sn_sample_set SUN_SET = {0x9E3779B9u, 0x7F4A7C15u};
static const sn_sample_set SKY_SET = {0xBF58476Du, 0x94D049BBu};

static sn_ray make_ray(sn_vec3 origin, sn_vec3 direction, float end) {
  return (sn_ray){.origin = {(float)origin.x, (float)origin.y, (float)origin.z},
                  .direction = {(float)direction.x, (float)direction.y, (float)direction.z},
                  .end = end};
}

void sn_stage_look(const sn_stage* stage, double x, double y, sn_hit hits[SN_LAYER_COUNT],
                   uint64_t* rays) {
  sn_vec3 eye = sn_camera_space(&stage->camera, stage->camera.eye);
  sn_vec3 direction = sn_scale(-1, sn_camera_to_eye(&stage->camera, x, y));
  sn_ray ray = make_ray(eye, direction, FAR);
  for (int k = 0; k < SN_LAYER_COUNT; ++k) {
    hits[k] = sn_tracer_hit(stage->tracers[k], &ray);
    if (hits[k].triangle != SN_NO_HIT) ray.end = hits[k].distance;
    *rays += stage->soup.layers[k].triangle_count > 0;
  }
}

// How much is left of a collider here, 1 to 0.
static double presence_of(sn_look look, sn_vec3 place) {
  if (look != SN_LOOK_FLOOR && look != SN_LOOK_SOLID) return 1;
  double t = (SN_FADE_END - sn_length(place)) / (SN_FADE_END - SN_FADE_BEGIN);
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return t * t * (3 - 2 * t);
}

// A triangle stands for a round form: where that bulges outward, light arrives farther out, else every
// triangle near the border of the light would shade itself (Hanika 2021).
static sn_vec3 lift_place(const sn_soup* soup, const uint32_t* c, const double w[3], sn_vec3 place,
                          double side) {
  sn_vec3 lifted = sn_v3(0, 0, 0);
  for (int k = 0; k < 3; ++k) {
    sn_vec3 normal = sn_scale(side, sn_soup_normal(soup, c[k]));
    double below = fmin(0, sn_dot(sn_sub(place, sn_soup_place(soup, c[k])), normal));
    lifted = sn_madd(lifted, w[k], sn_madd(place, -below, normal));
  }
  return lifted;
}

// Whether a hit is on one of the lines along its triangle.
static bool on_line(const sn_stage* stage, uint8_t edges, const uint32_t* c, const double w[3],
                    double distance) {
  if (!edges) return false;
  sn_vec3 p[3];
  for (int k = 0; k < 3; ++k) p[k] = sn_soup_place(&stage->soup, c[k]);
  double area = sn_length(sn_cross(sn_sub(p[1], p[0]), sn_sub(p[2], p[0])));
  double pixel = distance / stage->camera.focal;
  for (int k = 0; k < 3; ++k) {
    if (!(edges & 1 << k)) continue;
    double height = area / sn_distance(p[k], p[(k + 1) % 3]);
    // Lines of the smallest triangles must not hide them.
    double width = fmin(LINE_WIDTH * pixel, MOST_LINE * height);
    if (w[(k + 2) % 3] * height < width) return true;
  }
  return false;
}

// Base colour of a hit, with marks and lines.
static void colour_point(const sn_stage* stage, const sn_layer* layer, const sn_hit* hit,
                         const double w[3], sn_surface_point* point) {
  const sn_soup* soup = &stage->soup;
  const uint32_t* c = layer->triangles + 3 * (size_t)hit->triangle;
  double mark = 0;
  for (int k = 0; k < 3; ++k) {
    const sn_light* colour = &soup->colours[c[k]];
    point->base.r += (float)w[k] * colour->r;
    point->base.g += (float)w[k] * colour->g;
    point->base.b += (float)w[k] * colour->b;
    mark += w[k] * soup->mark_shares[c[k]];
  }
  point->wet = mark > 0.5;
  if (point->wet) point->base = soup->marks[point->owner];
  if (on_line(stage, layer->edges[hit->triangle], c, w, hit->distance)) {
    point->base = sn_light_mix(point->base, (sn_light){0, 0, 0}, LINE_DARKNESS);
  }
}

sn_surface_point sn_stage_point(const sn_stage* stage, sn_layer_kind kind, const sn_hit* hit,
                                double x, double y) {
  const sn_soup* soup = &stage->soup;
  const sn_layer* layer = &soup->layers[kind];
  const uint32_t* c = layer->triangles + 3 * (size_t)hit->triangle;
  const double w[3] = {1.0 - hit->u - hit->v, hit->u, hit->v};
  sn_surface_point point = {.owner = layer->owners[hit->triangle],
                            .to_eye = sn_camera_to_eye(&stage->camera, x, y)};
  point.look = soup->looks[point.owner];
  sn_vec3 a = sn_soup_place(soup, c[0]), ab = sn_sub(sn_soup_place(soup, c[1]), a),
          ac = sn_sub(sn_soup_place(soup, c[2]), a), flat = sn_cross(ab, ac);
  point.place = sn_madd(sn_madd(a, w[1], ab), w[2], ac);
  // Inner sides, seen where a surface is open or turned inside out, are lit as if they were outer ones.
  double side = sn_dot(flat, point.to_eye) < 0 ? -1 : 1, size = sn_length(flat);
  flat = size > 0 ? sn_scale(side / size, flat) : point.to_eye;
  for (int k = 0; k < 3; ++k) {
    point.normal = sn_madd(point.normal, side * w[k], sn_soup_normal(soup, c[k]));
  }
  double length = sn_length(point.normal);
  point.normal = length > 0 ? sn_scale(1 / length, point.normal) : flat;
  point.lifted = sn_madd(lift_place(soup, c, w, point.place, side), LIFT, flat);
  point.presence = presence_of(point.look, point.place);
  colour_point(stage, layer, hit, w, &point);
  return point;
}

static bool is_soft(sn_look look) { return look == SN_LOOK_FLESH || look == SN_LOOK_GHOST; }

static bool blocked(const sn_stage* stage, const sn_ray* ray, bool by_sheer, uint64_t* rays) {
  ++*rays;
  if (sn_tracer_blocks(stage->tracers[SN_LAYER_OPAQUE], ray)) return true;
  if (!by_sheer || stage->soup.layers[SN_LAYER_SHEER].triangle_count == 0) return false;
  ++*rays;
  return sn_tracer_blocks(stage->tracers[SN_LAYER_SHEER], ray);
}

// The shadow of a plate or a hand on flesh would only hide it: such things cast theirs on the ground.
static float sun_share(const sn_stage* stage, const sn_surface_point* p, uint32_t index,
                       uint64_t* rays) {
  if (!(sn_shadow_weight(&stage->rig, p) > 0)) return 1;
  sn_point2 at = sn_sample_disc(sn_sample(SUN_SET, index));
  sn_vec3 direction = sn_madd(stage->rig.sun, SUN_SPREAD * at.x, stage->sun_across[0]);
  direction = sn_madd(direction, SUN_SPREAD * at.y, stage->sun_across[1]);
  direction = sn_scale(1 / sn_length(direction), direction);
  sn_ray ray = make_ray(p->lifted, direction, FAR);
  return blocked(stage, &ray, p->look == SN_LOOK_FLOOR, rays) ? 0 : 1;
}

static sn_light sky_share(const sn_stage* stage, const sn_surface_point* p, uint32_t index,
                          uint64_t* rays) {
  sn_vec3 u, v;
  sn_axes_across(p->normal, &u, &v);
  sn_point2 at = sn_sample_disc(sn_sample(SKY_SET, index));
  double out = sqrt(fmax(0, 1 - at.x * at.x - at.y * at.y));
  sn_vec3 direction = sn_madd(sn_madd(sn_scale(at.x, u), at.y, v), out, p->normal);
  sn_ray ray = make_ray(p->lifted, direction, FAR);
  // What is inside a thin skin is seen through it, so the skin gives it no shade.
  bool by_sheer = is_soft(p->look) || p->look == SN_LOOK_FLOOR;
  return blocked(stage, &ray, by_sheer, rays) ? sn_blocked_light(&stage->rig, direction, p->look)
                                              : sn_sky_light(&stage->rig, direction);
}

sn_arriving sn_stage_light(const sn_stage* stage, const sn_surface_point* point, uint32_t index,
                           uint64_t* rays) {
  sn_arriving arriving = {.sky = sky_share(stage, point, index, rays)};
  arriving.sun = sun_share(stage, point, index, rays);
  return arriving;
}
