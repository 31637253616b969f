#include "character/bone_room.h"

#include <math.h>

#include "geometry/capsule.h"
#include "math/affine.h"
#include "math/vec.h"

// Two bones take this share of the way between their axes at most.
#define MOST_OF_WAY 0.6
// Flesh between two bones keeps at least, and is drawn out to at most, this share of its length.
#define LEAST_LENGTH 0.3
#define MOST_LENGTH 3.0
// A bone holds on to cells if it is at least this thick, in cells; and it has some length.
#define LEAST_RADIUS 0.5
#define LEAST_AXIS 0.1
// Points of an axis to look from, poses to look at, points of the way between to look for flesh.
#define AXIS_POINTS 9
#define MOST_POSES 64
#define WAY_POINTS 6
// Shares of the radii that are tried; times that bones are shortened.
#define SHARES 20
#define ROUNDS 6

typedef struct room_work {
  const sn_bones_input* input;
  sn_bones* bones;
  sn_affine* poses;  // of each bone in each pose, from the bind pose (pose_count x bones->count)
  int pose_count;
  bool (*bad)[AXIS_POINTS];  // points of each bone's axis that have to go (bones->count)
} room_work;

// Two places on the axes of bones, opposite one another.
typedef struct facing {
  uint32_t a, b;       // bones
  double at_a, at_b;   // along their axes, 0 to 1
  sn_vec3 on_a, on_b;  // in the bind pose
  double way;          // between them
} facing;

static sn_vec3 axis_point(const sn_capsule* c, double t) {
  return sn_madd(c->from, t, sn_sub(c->to, c->from));
}

static double nearest_on_axis(const sn_capsule* c, sn_vec3 p) {
  sn_vec3 along = sn_sub(c->to, c->from);
  double square = sn_dot(along, along);
  return square > 0 ? fmin(fmax(sn_dot(sn_sub(p, c->from), along) / square, 0), 1) : 0;
}

// From point i of a's axis to the nearest of b's.
static facing face(const sn_bones* bones, uint32_t a, uint32_t b, int i) {
  const sn_capsule *one = &bones->items[a].capsule, *other = &bones->items[b].capsule;
  facing f = {.a = a, .b = b, .at_a = (double)i / (AXIS_POINTS - 1)};
  f.on_a = axis_point(one, f.at_a);
  f.at_b = nearest_on_axis(other, f.on_a);
  f.on_b = axis_point(other, f.at_b);
  f.way = sn_distance(f.on_a, f.on_b);
  return f;
}

// The way from bone to bone is through flesh and past no other bone.
static bool has_flesh_between(const room_work* w, const facing* f) {
  if (w->input->sheet) return false;
  for (int k = 1; k <= WAY_POINTS; ++k) {
    sn_vec3 p = sn_madd(f->on_a, k / (WAY_POINTS + 1.0), sn_sub(f->on_b, f->on_a));
    if (!(sn_bvh_winding(w->input->bvh, p) > 0.5)) return false;
    for (uint32_t c = 0; c < w->bones->count; ++c) {
      const sn_capsule* other = &w->bones->items[c].capsule;
      if (c == f->a || c == f->b) continue;
      if (sn_capsule_distance(other->from, other->to, other->radius, p) < 0) return false;
    }
  }
  return true;
}

// Does the flesh between stay in order in a pose, with bones of these radii? It goes from s_a = a + r_a n to
// s_b = b - r_b n, with n the direction between the axes, and each of them moves with its bone. Its
// length along the mean of what the bones make of n, and its whole length, are held against that at rest.
static bool stays_in_order(const sn_affine* pose_a, const sn_affine* pose_b, const facing* f,
                           double radius_a, double radius_b) {
  double length = f->way - radius_a - radius_b;
  if (!(length > 0)) return false;
  sn_vec3 n = sn_scale(1 / f->way, sn_sub(f->on_b, f->on_a));
  sn_vec3 from = sn_affine_carry(pose_a, sn_madd(f->on_a, radius_a, n));
  sn_vec3 to = sn_affine_carry(pose_b, sn_madd(f->on_b, -radius_b, n));
  sn_vec3 with_a = sn_mul3v(&pose_a->linear, n), with_b = sn_mul3v(&pose_b->linear, n);
  sn_vec3 between = sn_sub(to, from), mean = sn_scale(0.5, sn_add(with_a, with_b));
  double size = sn_length(mean);
  if (!(size > 0)) return false;
  return sn_dot(between, mean) >= LEAST_LENGTH * length * size &&
         sn_length(between) <= MOST_LENGTH * length * fmax(size, 1);
}

static bool always_in_order(const room_work* w, const facing* f, double radius_a, double radius_b) {
  uint32_t count = w->bones->count;
  for (int k = 0; k < w->pose_count; ++k) {
    const sn_affine* poses = w->poses + (size_t)k * count;
    if (!stays_in_order(&poses[f->a], &poses[f->b], f, radius_a, radius_b)) return false;
  }
  return true;
}

static bool is_pair(const sn_bones* bones, uint32_t a, uint32_t b) {
  return a != b && bones->items[a].joint != bones->items[b].joint;
}

static double least_radius(const room_work* w) { return LEAST_RADIUS * w->input->cell; }

// The bone whose end is nearer gives way, or both.
static void mark_bad(room_work* w, const facing* f) {
  double end_a = fmin(f->at_a, 1 - f->at_a), end_b = fmin(f->at_b, 1 - f->at_b);
  double step = 1.0 / (AXIS_POINTS - 1);
  if (end_a <= end_b + 0.5 * step) w->bad[f->a][(int)lround(f->at_a / step)] = true;
  if (end_b <= end_a + 0.5 * step) w->bad[f->b][(int)lround(f->at_b / step)] = true;
}

// Where even thin bones leave no order.
static bool find_bad_places(room_work* w) {
  sn_bones* bones = w->bones;
  bool any = false;
  for (uint32_t a = 0; a < bones->count; ++a) {
    for (int i = 0; i < AXIS_POINTS; ++i) w->bad[a][i] = false;
  }
  for (uint32_t a = 0; a < bones->count; ++a) {
    for (uint32_t b = 0; b < bones->count; ++b) {
      if (!is_pair(bones, a, b)) continue;
      double thin_a = fmin(bones->items[a].capsule.radius, least_radius(w));
      double thin_b = fmin(bones->items[b].capsule.radius, least_radius(w));
      for (int i = 0; i < AXIS_POINTS; ++i) {
        facing f = face(bones, a, b, i);
        if (always_in_order(w, &f, thin_a, thin_b) || !has_flesh_between(w, &f)) continue;
        mark_bad(w, &f);
        any = true;
      }
    }
  }
  return any;
}

// To the longest stretch of its axis that is good, or to the middle of it.
static void shorten(const bool bad[AXIS_POINTS], double cell, sn_capsule* c) {
  int best = AXIS_POINTS / 2, best_count = 0, count = 0;
  for (int i = 0; i < AXIS_POINTS; ++i) {
    count = bad[i] ? 0 : count + 1;
    if (count <= best_count) continue;
    best_count = count;
    best = i + 1 - count;
  }
  if (best_count == AXIS_POINTS) return;
  int last = best_count > 0 ? best + best_count - 1 : best;
  sn_vec3 along = sn_sub(c->to, c->from);
  double length = sn_length(along), step = 1.0 / (AXIS_POINTS - 1);
  sn_vec3 from = axis_point(c, best * step), to = axis_point(c, last * step);
  if (sn_distance(from, to) < LEAST_AXIS * cell && length > 0) {
    to = sn_madd(from, LEAST_AXIS * cell / length, along);
  }
  c->from = from;
  c->to = to;
}

// The largest share of both radii that leaves room where the two bones face one another.
static double find_share(const room_work* w, uint32_t a, uint32_t b) {
  const sn_bones* bones = w->bones;
  double radius_a = bones->items[a].capsule.radius, radius_b = bones->items[b].capsule.radius;
  double share = 1;
  for (int i = 0; i < AXIS_POINTS; ++i) {
    facing f = face(bones, a, b, i);
    share = fmin(share, MOST_OF_WAY * f.way / (radius_a + radius_b));
    int k = (int)ceil(share * SHARES);
    if (always_in_order(w, &f, share * radius_a, share * radius_b)) continue;
    if (!has_flesh_between(w, &f)) continue;
    while (k > 0 && !always_in_order(w, &f, k * radius_a / SHARES, k * radius_b / SHARES)) --k;
    share = fmin(share, (double)k / SHARES);
  }
  return share;
}

static void make_thinner(const room_work* w) {
  sn_bones* bones = w->bones;
  for (uint32_t a = 0; a < bones->count; ++a) {
    for (uint32_t b = a + 1; b < bones->count; ++b) {
      if (!is_pair(bones, a, b)) continue;
      double share = fmin(find_share(w, a, b), find_share(w, b, a));
      sn_capsule *one = &bones->items[a].capsule, *other = &bones->items[b].capsule;
      if (!(share < 1)) continue;
      one->radius = fmin(one->radius, fmax(share * one->radius, least_radius(w)));
      other->radius = fmin(other->radius, fmax(share * other->radius, least_radius(w)));
    }
  }
}

static sn_affine affine_of(const double m[16]) {
  return (sn_affine){sn_affine_linear(m), sn_affine_origin(m)};
}

static sn_status find_poses(room_work* w, const sn_shot* shot, sn_arena* scratch, sn_error* err) {
  const sn_rig* rig = w->input->rig;
  int frames = shot->last - shot->first + 1;
  w->pose_count = shot->clip < 0 ? 0 : frames < MOST_POSES ? frames : MOST_POSES;
  double* world;
  SN_TRY(SN_ARENA_RAW(scratch, 16 * (size_t)rig->character->node_count, &world, err));
  SN_TRY(SN_ARENA_RAW(scratch, (size_t)w->pose_count * w->bones->count, &w->poses, err));
  for (int k = 0; k < w->pose_count; ++k) {
    double frame =
        shot->first + (double)k * (frames - 1) / (w->pose_count > 1 ? w->pose_count - 1 : 1);
    sn_gltf_pose(rig->character, shot->clip, (frame - 1) / shot->fps, world);
    for (uint32_t b = 0; b < w->bones->count; ++b) {
      size_t node = rig->joints[w->bones->items[b].joint].node;
      sn_affine bind = affine_of(rig->bind + 16 * node), now = affine_of(world + 16 * node);
      sn_affine back = sn_affine_inverse(&bind);
      w->poses[(size_t)k * w->bones->count + b] = sn_affine_after(&now, &back);
    }
  }
  return SN_OK;
}

sn_status sn_bones_make_room(const sn_bones_input* input, const sn_shot* shot, sn_arena* scratch,
                             sn_bones* bones, sn_error* err) {
  room_work w = {.input = input, .bones = bones};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(find_poses(&w, shot, scratch, err));
  SN_TRY(SN_ARENA_RAW(scratch, bones->count, &w.bad, err));
  for (int round = 0; round < ROUNDS && find_bad_places(&w); ++round) {
    for (uint32_t b = 0; b < bones->count; ++b) {
      shorten(w.bad[b], input->cell, &bones->items[b].capsule);
    }
  }
  make_thinner(&w);
  sn_arena_release(scratch, mark);
  return SN_OK;
}
