// A fast collider shot at a body, at random: the body must go with it or aside, and never through it.
#ifndef SN_TESTS_SCENE_SHOTS_H
#define SN_TESTS_SCENE_SHOTS_H

#include "math/random.h"
#include "scene/motions.h"
#include "shapes.h"

static inline void write_shot_body(void) {
  write_fine_box("small.obj", sn_v3(0.2, 0.2, 0.2), 0.04);
}

typedef struct shot {
  bool box;
  double radius;     // m; half of the width of a box
  double speed;      // m a frame
  sn_vec3 way;       // unit length
  sn_vec3 aside[2];  // with it, a frame of reference
  sn_vec3 start;     // centre at the first frame
} shot;

static inline shot random_shot(sn_random* random, int index) {
  const double size = 0.2;
  shot s = {.box = index % 4 == 3};
  s.radius = size * (0.2 + 0.3 * sn_random_unit(random));
  s.speed = size * (0.5 + 4.5 * sn_random_unit(random));
  sn_vec3 way;
  do way = shape_random_point(random);
  while (sn_length(way) < 0.2 || sn_length(way) > 1);
  if (s.box) way = sn_v3(0, 0, index % 8 == 3 ? 1 : -1);
  s.way = sn_scale(1 / sn_length(way), way);
  s.aside[0] = sn_cross(s.way, fabs(s.way.x) < 0.7 ? sn_v3(1, 0, 0) : sn_v3(0, 1, 0));
  s.aside[0] = sn_scale(1 / sn_length(s.aside[0]), s.aside[0]);
  s.aside[1] = sn_cross(s.way, s.aside[0]);
  s.start = sn_v3(0.1, 0.1, 0.1);
  for (int i = 0; i < 2; ++i) {
    s.start = sn_madd(s.start, 0.6 * size * sn_random_symmetric(random), s.aside[i]);
  }
  double gap = 0.18 + s.radius + s.speed * sn_random_unit(random);
  s.start = sn_madd(s.start, -gap, s.way);
  return s;
}

// The eight substeps of a frame are frames of their own, so that all of the way can be seen.
#define PARTS 8

static inline void write_shot(const shot* s, double young, char* text, size_t size) {
  char shape[128];
  snprintf(shape, sizeof shape,
           s->box ? "\"shape\": \"box\", \"half\": [%.17g, %.17g, %.17g]"
                  : "\"shape\": \"sphere\", \"radius\": %.17g",
           s->radius, s->radius, 0.02);
  sn_vec3 move = sn_scale(9 * s->speed, s->way);
  snprintf(text, size,
           "{\"gravity\": 0, \"fps\": %d, \"max_substeps\": 1, \"bodies\": [{\"surface\": "
           "\"small.obj\", \"cell\": 0.04, \"coarsen\": 0,"
           " \"material\": {\"model\": \"corotated\", \"young\": %g, \"poisson\": 0.4}}],"
           " \"contact\": {\"self\": false},"
           " \"solver\": {\"linear\": \"jacobi-cg\"},"
           " \"colliders\": [{%s, \"position\": [%.17g, %.17g, %.17g], \"motion\": [{\"frame\": 1},"
           "   {\"frame\": %d, \"translate\": [%.17g, %.17g, %.17g]}]}]}",
           24 * PARTS, young, shape, s->start.x, s->start.y, s->start.z, 9 * PARTS + 1, move.x,
           move.y, move.z);
}

// Depth of a point in the collider, m; its place along the way and aside of it, from the middle.
static inline double depth_in_shot(const shot* s, sn_vec3 p, double* along, double* aside) {
  *along = sn_dot(p, s->way);
  sn_vec3 off = sn_madd(p, -*along, s->way);
  *aside = s->box ? fmax(fabs(off.x), fabs(off.y)) : sn_length(off);
  if (!s->box) return s->radius - sn_length(p);
  return fmin(0.02 - fabs(*along), s->radius - *aside);
}

typedef struct outcome {
  bool finite, hit;
  double deepest;    // of the diagonal
  uint32_t crossed;  // points that went from front to back through the collider
  bool swallowed;    // the skin went over the collider's middle, which then was in the flesh
  double work;       // of the collider, over the energy of the body at its speed
  double rescued;    // the same of energy brought in by carrying flesh along
  bool passed;       // it has left the middle of the body behind, though it was aimed at it
} outcome;

// Places of the body's vertices around the collider's middle; the caller frees. (3 x vertex_count)
static inline double* skin_around(const loaded* l, sn_vec3 middle) {
  const sn_mesh* mesh = &l->scene->bodies[0].mesh;
  const float* p = surface(l);
  double* places = malloc(3 * (size_t)mesh->vertex_count * sizeof *places);
  assert_non_null(places);
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    sn_store3(places + 3 * (size_t)v, sn_sub(sn_v3(p[3 * v], p[3 * v + 1], p[3 * v + 2]), middle));
  }
  return places;
}

// Times that a skin winds around the origin: 1 inside of it, 0 outside. Its vertices are on their straight
// way, at this share of it.
static inline double winding(const sn_mesh* mesh, const double* from, const double* to,
                             double share) {
  double angle = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 c[3];
    double r[3];
    for (int i = 0; i < 3; ++i) {
      size_t v = 3 * (size_t)mesh->triangles[3 * t + i];
      c[i] = sn_madd(sn_load3(from + v), share, sn_sub(sn_load3(to + v), sn_load3(from + v)));
      r[i] = sn_length(c[i]);
    }
    double below = r[0] * r[1] * r[2] + sn_dot(c[0], c[1]) * r[2] + sn_dot(c[1], c[2]) * r[0] +
                   sn_dot(c[2], c[0]) * r[1];
    angle += 2 * atan2(sn_dot(c[0], sn_cross(c[1], c[2])), below);
  }
  return angle / (4 * SHAPE_PI);
}

#define LOOKS 8  // from one state to the next

// A skin that never goes over the collider's middle never winds around it.
static inline bool goes_over(const sn_mesh* mesh, const double* from, const double* to) {
  for (int k = 1; k <= LOOKS; ++k) {
    if (fabs(winding(mesh, from, to, (double)k / LOOKS)) > 0.5) return true;
  }
  return false;
}

// Over less than a third of a circle a ball is gone round (docs/theory/contact.md, section 4).
static inline bool is_opposite(sn_vec3 from, sn_vec3 to) {
  return sn_dot(from, to) < -0.5 * sn_length(from) * sn_length(to);
}

static inline outcome shoot(const shot* s, double young) {
  char text[1024];
  write_shot(s, young, text, sizeof text);
  loaded l = load_scene(text, 1);
  outcome o = {.finite = true};
  step(&l, 1);
  uint32_t count = l.model->contact.skins[0].count;
  double along, aside;
  sn_vec3 *before = skin_places(&l, 0), centre = s->start;
  double* skin = skin_around(&l, centre);
  // From the frame of the impact two more.
  for (int frame = 2, left = 9 * PARTS; left > 0 && o.finite; ++frame, --left) {
    sn_frame_stats stats = step(&l, frame);
    double speed = 24 * s->speed, unit = 0.5 * motion_of(&l, 0).mass * speed * speed;
    o.work = fmax(o.work, fabs(stats.work) / unit);
    o.rescued += stats.rescued / unit;
    sn_vec3* now = skin_places(&l, 0);
    sn_vec3 next = sn_madd(s->start, (frame - 1) * s->speed / PARTS, s->way);
    o.finite = state_is_finite(&l);
    double* skin_now = skin_around(&l, next);
    o.swallowed = o.swallowed || goes_over(&l.scene->bodies[0].mesh, skin, skin_now);
    free(skin);
    skin = skin_now;
    if (!o.hit && stats.contacts > 0) {
      o.hit = true;
      if (left > 2 * PARTS + 1) left = 2 * PARTS + 1;
    }
    for (uint32_t p = 0; p < count; ++p) {
      double was_along, was_aside;
      depth_in_shot(s, sn_sub(before[p], centre), &was_along, &was_aside);
      double depth = depth_in_shot(s, sn_sub(now[p], next), &along, &aside);
      o.deepest = fmax(o.deepest, depth / diagonal(&l, 0));
      o.crossed += was_along > 0 && along < 0 && fmax(aside, was_aside) < 0.8 * s->radius &&
                   (s->box || is_opposite(sn_sub(before[p], centre), sn_sub(now[p], next)));
    }
    free(before);
    before = now;
    centre = next;
  }
  free(before);
  free(skin);
  sn_vec3 middle = {0.1, 0.1, 0.1};
  depth_in_shot(s, sn_sub(middle, s->start), &along, &aside);
  bool aimed = aside < 0.5 * s->radius;
  depth_in_shot(s, sn_sub(motion_of(&l, 0).centre, centre), &along, &aside);
  o.passed = aimed && along < 0 && aside < s->radius;
  unload(&l);
  return o;
}

typedef struct tally {
  int hits, infinite, deep, passed, swallowed, crossed;
  double deepest, work, rescued;  // the largest
} tally;

static inline tally shoot_often(int shots, uint64_t seed, double young) {
  sn_random random = sn_random_seeded(seed);
  tally t = {0};
  for (int i = 0; i < shots; ++i) {
    shot s = random_shot(&random, i);
    outcome o = shoot(&s, young);
    bool crossed = o.crossed > 0;
    t.infinite += !o.finite;
    t.hits += o.hit;
    t.deep += o.deepest > 0.01;
    t.passed += o.passed;
    t.swallowed += o.swallowed;
    t.crossed += crossed;
    t.deepest = fmax(t.deepest, o.deepest);
    t.work = fmax(t.work, o.work);
    t.rescued = fmax(t.rescued, o.rescued);
    if (!o.finite || o.deepest > 0.01 || o.swallowed || crossed) {
      print_message(
          "shot %d: %s %.2f body sizes wide at %.2f a frame, deepest %.2f %%, %u points"
          " crossed%s%s%s\n",
          i, s.box ? "box" : "sphere", 2 * s.radius / 0.2, s.speed / 0.2, 100 * o.deepest,
          o.crossed, o.passed ? ", passed" : "", o.swallowed ? ", swallowed" : "",
          o.finite ? "" : ", not finite");
    }
  }
  print_message(
      "%d shots, %d hits: %d not finite, %d deep (worst %.2f %%), %d with points crossed,"
      " %d passed, %d swallowed; work up to %.2f, rescued up to %.2f\n",
      shots, t.hits, t.infinite, t.deep, 100 * t.deepest, t.crossed, t.passed, t.swallowed, t.work,
      t.rescued);
  assert_true(t.hits > shots / 2);
  return t;
}

#endif
