#include "scene/contacts.h"

#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "math/vec.h"
#include "scene/model.h"

// Distances in finest cells: within which a point is watched while a step is solved; the depth beyond
// which the force of contact grows no more; how deep flesh may lie in itself and still be pushed apart.
#define WATCH 1.0
#define WATCH_FLESH 0.5
#define ON_SKIN 1e-3  // as good as touching
#define YIELD 1.0
#define SELF_DEPTH 4.0
// Depths over which the force of contact sets in and beyond which it grows faster, in diagonals of the
// body.
#define SMOOTH 1e-4
#define HARDEN 1e-3
// Cosine of the angle by which a collider's surface may turn below a point at a time.
#define SAME_SIDE 0.5
// What lies in something before it touches is pushed out gently: this share of the depth a frame.
#define RELIEF 0.25
// Flesh that is squashed to less than this share of its volume, or turned inside out, does not touch
// other flesh: its skin is not where it could.
#define LEAST_VOLUME 0.05
// A body of which more than this share is inside out does not touch flesh at all: it has to find back
// to a shape first.
#define MOST_INVERTED 0.02
// Flesh that was deeper behind a skin than so many cells when the step began got there by crossing or
// tangling, or came from another side: it is not pushed out there.
#define MOST_CROSSED 0.25
// Contacts that there is room for: half of the points of the skins, and a few.
#define LEAST_ROOM 4096

static sn_solid solid_of(const sn_obstacle* obstacle) {
  const sn_collider_desc* d = obstacle->desc;
  static const sn_solid_kind KINDS[] = {SN_SOLID_PLANE, SN_SOLID_SPHERE, SN_SOLID_CAPSULE,
                                        SN_SOLID_BOX, SN_SOLID_MESH};
  bool capsule = d->kind == SN_COLLIDER_CAPSULE;
  return (sn_solid){.kind = KINDS[d->kind],
                    .position = d->position,
                    .normal = d->normal,
                    .half = d->half,
                    .radius = capsule ? d->capsule.radius : d->radius,
                    .from = d->capsule.from,
                    .to = d->capsule.to,
                    .bvh = &obstacle->bvh};
}

static sn_status build_obstacle(const sn_collider_desc* desc, sn_arena* arena, sn_arena* scratch,
                                sn_obstacle* obstacle, sn_error* err) {
  *obstacle = (sn_obstacle){.desc = desc};
  if (desc->kind == SN_COLLIDER_MESH) {
    SN_TRY(sn_surface_prepare(&desc->mesh, arena, scratch, &obstacle->surface, err));
    SN_CHECK(obstacle->surface.triangle_count > 0, err, SN_ERR_INPUT,
             "%s: collider \"%s\" has no triangle with area; expected a surface mesh",
             desc->surface, desc->name);
    SN_TRY(sn_bvh_build(&obstacle->surface, arena, scratch, &obstacle->bvh, err));
  }
  obstacle->solid = solid_of(obstacle);
  return SN_OK;
}

sn_status sn_contacts_build(sn_model* model, sn_arena* scratch, sn_error* err) {
  const sn_scene* scene = model->scene;
  sn_contact_model* contact = &model->contact;
  contact->any = scene->collider_count > 0 || scene->contact.self;
  if (!contact->any) return SN_OK;
  SN_TRY(SN_ARENA_NEW(model->arena, scene->collider_count, &contact->obstacles, err));
  SN_TRY(SN_ARENA_NEW(model->arena, model->body_count, &contact->skins, err));
  SN_TRY(SN_ARENA_NEW(model->arena, (size_t)model->body_count + 1, &contact->firsts, err));
  for (uint32_t c = 0; c < scene->collider_count; ++c) {
    SN_TRY(
        build_obstacle(&scene->colliders[c], model->arena, scratch, &contact->obstacles[c], err));
  }
  for (uint32_t b = 0; b < model->body_count; ++b) {
    SN_TRY(sn_skin_build(&model->bodies[b], model->arena, scratch, &contact->skins[b], err));
    contact->firsts[b + 1] = contact->firsts[b] + contact->skins[b].count;
  }
  return SN_OK;
}

_Static_assert(sizeof(sn_skin_touch) <= sizeof(sn_solid_hit), "touches take the place of hits");

static uint32_t point_count(const sn_model* model) {
  return model->contact.firsts[model->body_count];
}

// Sides of a pair as one number each: colliders first, then bodies.
static uint32_t partner_of(const sn_scene* scene, sn_contact_side side) {
  return side.is_collider ? side.index : scene->collider_count + side.index;
}

static bool is_ignored(const sn_scene* scene, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < scene->contact.ignore_count; ++i) {
    const sn_contact_pair* pair = &scene->contact.ignore[i];
    uint32_t p = partner_of(scene, pair->side[0]), q = partner_of(scene, pair->side[1]);
    if ((p == a && q == b) || (p == b && q == a)) return true;
  }
  return false;
}

// p -> R^T (p - t)
static sn_vec3 into_frame(const sn_rigid* pose, sn_vec3 p) {
  sn_vec3 d = sn_sub(p, pose->translate);
  const double(*m)[3] = pose->rotate.m;
  return sn_v3(m[0][0] * d.x + m[1][0] * d.y + m[2][0] * d.z,
               m[0][1] * d.x + m[1][1] * d.y + m[2][1] * d.z,
               m[0][2] * d.x + m[1][2] * d.y + m[2][2] * d.z);
}

static double diagonal_of(const sn_body* body) {
  return sn_distance(body->surface.box.lo, body->surface.box.hi);
}

// What contacts of a point have in common, whatever they are with.
static sn_contact begin_contact(const sn_model* model, uint32_t b, uint32_t point, uint32_t partner,
                                double stiffness, double friction) {
  const sn_skin* skin = &model->contact.skins[b];
  const sn_body* body = skin->body;
  double mu = (double)body->mu[skin->points[point].cell], h = body->tree.cell;
  return (sn_contact){.point = model->contact.firsts[b] + point,
                      .partner = partner,
                      .carrier = &skin->points[point],
                      .stiffness = stiffness * mu * skin->areas[point] / h,
                      .friction = friction,
                      .offset = model->scene->contact.thickness,
                      .smooth = SMOOTH * diagonal_of(body),
                      .harden = HARDEN * diagonal_of(body),
                      .yield = YIELD * h};
}

static uint64_t partner_bit(uint32_t partner) { return (uint64_t)1 << (partner % 64); }

static const sn_touch_memory* memory_of(const sn_contact_state* state, uint32_t point,
                                        uint32_t partner) {
  const sn_touch_memory* memory = state->memory + SN_TOUCHES * (size_t)point;
  for (int i = 0; i < SN_TOUCHES; ++i) {
    if (memory[i].partner == (uint64_t)partner + 1) return &memory[i];
  }
  return NULL;
}

// What was inside before is let be, and less and less of it.
static void let_be(const sn_contact_state* state, double slack, sn_contact* contact) {
  contact->relief = slack * (1 - 1 / (1 + RELIEF * state->frames));
  contact->slack = slack - contact->relief;
  contact->offset -= contact->slack;
}

static void add_contact(sn_contact_state* state, const sn_contact* contact) {
  state->known[contact->point] |= partner_bit(contact->partner);
  sn_contact_set_add(&state->set, contact);
}

// Friction begins where the step before left it: with its pressure, and strained as it was. False if
// there was no contact then.
static bool recall(const sn_contact_state* state, sn_contact* contact) {
  const sn_touch_memory* memory = memory_of(state, contact->point, contact->partner);
  if (!memory) return false;
  contact->pressure = memory->pressure;
  contact->anchor = sn_sub(contact->anchor, memory->stretch);
  let_be(state, memory->slack, contact);
  return true;
}

// Colliders.

typedef struct collider_job {
  const sn_model* model;
  sn_contact_state* state;
  uint32_t body, collider;
  sn_solid_hit* hits;  // a point each
  uint8_t* found;      // 0, or how
} collider_job;

enum { NOTHING, NEAR, ENTERED };

// A way that starts a little inside, where springs let it be, starts on the surface instead.
static sn_vec3 start_outside(const sn_solid* solid, sn_vec3 p, double slack) {
  sn_solid_hit hit;
  if (!sn_solid_nearest(solid, p, 0, &hit) || hit.distance < -slack) return p;
  return sn_madd(hit.place, 1e-9 * slack, hit.normal);
}

// Of a sheet, which has no inside, a point is on the side on which it touched it last, even if springs
// have let it through a little.
static uint8_t find_sheet(const collider_job* job, uint32_t p, sn_vec3 before, sn_vec3 now,
                          sn_solid_hit* hit) {
  const sn_solid* solid = &job->model->contact.obstacles[job->collider].solid;
  uint32_t point = job->model->contact.firsts[job->body] + p;
  const sn_touch_memory* memory = memory_of(job->state, point, job->collider);
  double h = job->model->bodies[job->body].tree.cell;
  if (memory && sn_solid_nearest(solid, before, INFINITY, hit) &&
      sn_dot(hit->normal, memory->normal) < 0) {
    before = sn_madd(hit->place, -ON_SKIN * h, hit->normal);
  }
  if (sn_solid_enter(solid, before, now, hit)) return ENTERED;
  if (!sn_solid_nearest(solid, now, WATCH * h, hit)) return NOTHING;
  if (memory && sn_dot(hit->normal, memory->normal) < 0) hit->normal = sn_scale(-1, hit->normal);
  return NEAR;
}

static uint8_t find_collider(const collider_job* job, uint32_t p, sn_solid_hit* hit) {
  const sn_contact_state* state = job->state;
  const sn_solid* solid = &job->model->contact.obstacles[job->collider].solid;
  double h = job->model->bodies[job->body].tree.cell;
  sn_vec3 now =
      into_frame(&state->obstacle_poses[job->collider], state->poses[job->body].places[p]);
  sn_vec3 before = into_frame(&state->obstacle_befores[job->collider], state->starts[job->body][p]);
  if (solid->kind != SN_SOLID_PLANE) {
    sn_box box = sn_solid_box(solid), way = {sn_min3(now, before), sn_max3(now, before)};
    double margin = WATCH * h;
    if (way.lo.x > box.hi.x + margin || way.lo.y > box.hi.y + margin ||
        way.lo.z > box.hi.z + margin || way.hi.x < box.lo.x - margin ||
        way.hi.y < box.lo.y - margin || way.hi.z < box.lo.z - margin) {
      return NOTHING;
    }
    if (sn_solid_is_sheet(solid)) return find_sheet(job, p, before, now, hit);
    if (sn_solid_enter(solid, start_outside(solid, before, h), now, hit)) return ENTERED;
  }
  return sn_solid_nearest(solid, now, WATCH * h, hit) ? NEAR : NOTHING;
}

static void find_colliders(void* ctx, size_t begin, size_t end) {
  const collider_job* job = ctx;
  uint32_t first = job->model->contact.firsts[job->body];
  for (size_t p = begin; p < end; ++p) {
    bool known = job->state->known[first + p] & partner_bit(job->collider);
    job->found[p] = known ? NOTHING : find_collider(job, (uint32_t)p, &job->hits[p]);
  }
}

static void set_plane(const sn_rigid* pose, const sn_solid_hit* hit, sn_contact* contact) {
  contact->place = sn_rigid_apply(pose, hit->place);
  contact->normal = sn_mul3v(&pose->rotate, hit->normal);
}

static void add_collider_contact(const collider_job* job, uint32_t p) {
  sn_contact_state* state = job->state;
  const sn_collider_desc* desc = job->model->contact.obstacles[job->collider].desc;
  sn_contact c =
      begin_contact(job->model, job->body, p, job->collider, desc->stiffness, desc->friction);
  const sn_rigid* pose = &state->obstacle_poses[job->collider];
  sn_vec3 start = state->starts[job->body][p];
  sn_vec3 carried =
      sn_rigid_apply(pose, into_frame(&state->obstacle_befores[job->collider], start));
  set_plane(pose, &job->hits[p], &c);
  c.entered = job->found[p] == ENTERED;
  c.drift = sn_sub(carried, start);
  c.anchor = carried;
  double depth = -sn_dot(c.normal, sn_sub(carried, c.place));
  bool began_in = job->found[p] == NEAR && state->first && depth > 0;
  if (!recall(state, &c) && began_in) let_be(state, depth, &c);
  add_contact(state, &c);
}

// While a step is solved the plane stays below its point, on the side on which that came. After an entry
// it stays where that was until the nearest surface is the one that was entered.
static void follow_collider(const void* ctx, sn_contact* c, sn_vec3 place) {
  const sn_contact_state* state = ctx;
  const sn_rigid* pose = &state->obstacle_poses[c->partner];
  const sn_solid* solid = &state->model->contact.obstacles[c->partner].solid;
  sn_solid_hit hit;
  if (solid->kind == SN_SOLID_PLANE) return;
  if (!sn_solid_nearest(solid, into_frame(pose, place), INFINITY, &hit)) return;
  if (sn_dot(sn_mul3v(&pose->rotate, hit.normal), c->normal) < SAME_SIDE) return;
  if (c->entered && hit.distance > 0) return;
  c->entered = false;
  set_plane(pose, &hit, c);
}

static void find_collider_contacts(const sn_model* model, sn_contact_state* state, sn_pool* pool) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    uint32_t points = model->contact.skins[b].count;
    for (uint32_t c = 0; c < scene->collider_count; ++c) {
      if (is_ignored(scene, c, scene->collider_count + b)) continue;
      collider_job job = {model, state, b, c, state->hits, state->found};
      sn_parallel_for(pool, points, 256, find_colliders, &job);
      for (uint32_t p = 0; p < points; ++p) {
        if (job.found[p]) add_collider_contact(&job, p);
      }
    }
  }
}

// Flesh.

typedef struct flesh_job {
  const sn_model* model;
  sn_contact_state* state;
  uint32_t body, other;  // points of the one, skin of the other
  const double* u;
  bool at_rest;  // look for overlaps that were there from the start
} flesh_job;

static bool is_collapsed(const sn_skin* skin, const double* u, const sn_carried* point) {
  const sn_body* body = skin->body;
  return sn_flesh_volume_ratio(&body->flesh, u + body->begin, point->cell) < LEAST_VOLUME;
}

static void find_flesh(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_model* model = job->model;
  sn_contact_state* state = job->state;
  const sn_skin *skin = &model->contact.skins[job->body],
                *other = &model->contact.skins[job->other];
  const sn_skin_pose *pose = &state->poses[job->body], *other_pose = &state->poses[job->other];
  uint32_t first = model->contact.firsts[job->body];
  uint32_t partner = model->scene->collider_count + job->other;
  bool self = job->body == job->other;
  double h = skin->body->tree.cell, reach = (job->at_rest ? ON_SKIN : WATCH_FLESH) * h;
  sn_box box = sn_moving_bvh_box(&other_pose->bvh);
  box = (sn_box){sn_sub(box.lo, sn_v3(reach, reach, reach)),
                 sn_add(box.hi, sn_v3(reach, reach, reach))};
  for (size_t p = begin; p < end; ++p) {
    state->found[p] = 0;
    if (state->known[first + p] & partner_bit(partner)) continue;
    if (!self && !sn_box_contains(box, pose->places[p])) continue;
    if (is_collapsed(skin, job->u, &skin->points[p])) continue;
    state->found[p] = sn_skin_find_touch(
        other, other_pose, pose->places[p], sn_skin_normal(skin, pose, (uint32_t)p), reach,
        self ? SELF_DEPTH * h : INFINITY, self ? (uint32_t)p : UINT32_MAX, &state->touches[p]);
  }
}

// Points that lie in flesh from the start, or that crossed it, are left alone until they have come out
// once.
enum { OUT, LAY_IN, LIES_IN };

// The contact that a touch makes. False if the point was through that skin already when the step began.
static bool make_flesh_contact(const flesh_job* job, const double* u_before, uint32_t p,
                               const sn_skin_touch* touch, sn_contact* c) {
  const sn_model* model = job->model;
  const sn_contact_opts* opts = &model->scene->contact;
  const sn_contact_state* state = job->state;
  uint32_t partner = model->scene->collider_count + job->other;
  *c = begin_contact(model, job->body, p, partner, opts->stiffness, opts->friction);
  c->against_flesh = true;
  c->normal = touch->normal;
  c->target = sn_skin_carry(&model->contact.skins[job->other], touch);
  c->anchor = sn_sub(state->starts[job->body][p], sn_carried_place(&c->target, u_before));
  double depth = -sn_dot(c->normal, c->anchor);
  bool began_in = state->first && state->began_in[c->point];
  if (recall(state, c)) {
    depth -= c->slack + c->relief;
  } else if (depth > 0) {
    let_be(state, depth, c);
  }
  return began_in || depth <= MOST_CROSSED * model->bodies[job->body].tree.cell;
}

// The nearest place of the skin is the right one, unless the point has gone in so far that it was on the
// other side of that when the step began: then what a ray back along its normal finds may be.
static void add_flesh_contact(const flesh_job* job, const double* u_before, uint32_t p) {
  sn_contact_state* state = job->state;
  const sn_skin* other = &job->model->contact.skins[job->other];
  const sn_skin_pose* pose = &state->poses[job->other];
  bool self = job->body == job->other;
  double depth = self ? SELF_DEPTH * other->body->tree.cell : INFINITY;
  sn_vec3 place = state->poses[job->body].places[p];
  sn_skin_touch nearest;
  sn_contact c;
  bool fits = sn_skin_find_nearest(other, pose, place, depth, self ? p : UINT32_MAX, &nearest) &&
              make_flesh_contact(job, u_before, p, &nearest, &c);
  if (!fits) fits = make_flesh_contact(job, u_before, p, &state->touches[p], &c);
  if (!fits) {
    state->overlaps[c.point] = LIES_IN;
  } else if (!is_collapsed(other, job->u, &c.target)) {
    add_contact(state, &c);
  }
}

static void note_overlaps(const flesh_job* job) {
  uint8_t* overlaps = job->state->overlaps + job->model->contact.firsts[job->body];
  for (uint32_t p = 0; p < job->model->contact.skins[job->body].count; ++p) {
    if (!job->state->found[p]) continue;
    if (job->at_rest && job->body != job->other) {
      job->state->began_in[job->model->contact.firsts[job->body] + p] = 1;
    } else if (job->at_rest || overlaps[p]) {
      overlaps[p] = LIES_IN;
    }
  }
}

static void forget_overlaps(const sn_model* model, sn_contact_state* state) {
  for (uint32_t p = 0; p < point_count(model); ++p) {
    state->overlaps[p] = state->overlaps[p] == LIES_IN ? LAY_IN : OUT;
  }
}

static void find_flesh_contacts(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                                const double* u, const double* u_before, bool at_rest) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < model->body_count && scene->contact.self; ++b) {
    for (uint32_t o = 0; o < model->body_count; ++o) {
      uint32_t first = scene->collider_count, points = model->contact.skins[b].count;
      if (is_ignored(scene, first + b, first + o)) continue;
      if (state->tangled[b] || state->tangled[o]) continue;
      flesh_job job = {model, state, b, o, u, at_rest};
      sn_parallel_for(pool, points, 64, find_flesh, &job);
      note_overlaps(&job);
      for (uint32_t p = 0; p < points && !at_rest; ++p) {
        if (state->found[p] && !state->overlaps[model->contact.firsts[b] + p]) {
          add_flesh_contact(&job, u_before, p);
        }
      }
    }
  }
  forget_overlaps(model, state);
}

static void find_tangled(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                         const double* u) {
  for (uint32_t b = 0; b < model->body_count && model->scene->contact.self; ++b) {
    const sn_body* body = &model->bodies[b];
    sn_flesh_measure m = sn_flesh_get_measure(&body->flesh, pool, u + body->begin);
    state->tangled[b] = (double)m.inverted > MOST_INVERTED * body->tree.cell_count;
  }
}

// The step.

static void update_poses(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                         const double* u) {
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_skin* skin = &model->contact.skins[b];
    if (model->scene->contact.self) {
      sn_skin_pose_update(skin, pool, u, &state->poses[b]);
    } else {
      sn_skin_points_update(skin, pool, u, state->poses[b].places);
    }
  }
}

sn_status sn_contacts_create(const sn_model* model, sn_state* whole, sn_error* err) {
  sn_contact_state* state = &whole->contact;
  sn_arena* arena = whole->arena;
  state->model = model;
  if (!model->contact.any) return SN_OK;
  uint32_t points = point_count(model), most = 0;
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->poses, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->starts, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->tangled, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_skin* skin = &model->contact.skins[b];
    SN_TRY(sn_skin_pose_create(skin, arena, &state->poses[b], err));
    SN_TRY(SN_ARENA_NEW(arena, skin->count, &state->starts[b], err));
    if (skin->count > most) most = skin->count;
  }
  SN_TRY(SN_ARENA_NEW(arena, model->scene->collider_count, &state->obstacle_poses, err));
  SN_TRY(SN_ARENA_NEW(arena, model->scene->collider_count, &state->obstacle_befores, err));
  SN_TRY(SN_ARENA_NEW(arena, points, &state->known, err));
  SN_TRY(SN_ARENA_NEW(arena, SN_TOUCHES * (size_t)points, &state->memory, err));
  SN_TRY(SN_ARENA_NEW(arena, points, &state->overlaps, err));
  SN_TRY(SN_ARENA_NEW(arena, points, &state->began_in, err));
  SN_TRY(SN_ARENA_RAW(arena, most, &state->hits, err));
  SN_TRY(SN_ARENA_RAW(arena, most, &state->found, err));
  state->touches =
      (sn_skin_touch*)(void*)state->hits;  // colliders are done before flesh is looked at
  uint32_t room = points / 2 + LEAST_ROOM;
  SN_TRY(sn_contact_set_create(room, &state->spent, arena, &state->set, err));
  state->first = 1;
  state->set.follow = follow_collider;
  state->set.follow_ctx = state;
  // Flesh that overlaps in the start pose: with u = 0 this is the mesh as it was modelled.
  update_poses(model, state, whole->pool, whole->u);
  find_tangled(model, state, whole->pool, whole->u);
  find_flesh_contacts(model, state, whole->pool, whole->u, NULL, true);
  return SN_OK;
}

void sn_contacts_begin(const sn_model* model, sn_state* whole, double frames) {
  sn_contact_state* state = &whole->contact;
  state->frames = frames;
  if (!model->contact.any) return;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    sn_skin_points_update(&model->contact.skins[b], whole->pool, whole->u_before, state->starts[b]);
  }
  memset(state->known, 0, point_count(model) * sizeof *state->known);
  state->set.count = 0;
  state->set.epoch++;
  state->set.lost = 0;
}

typedef struct move_job {
  const sn_skin* skin;
  const sn_vec3* places;
  const double* u;
  double most;  // m
} move_job;

static double count_far(void* ctx, size_t begin, size_t end) {
  const move_job* job = ctx;
  double far = 0;
  for (size_t p = begin; p < end; ++p) {
    far += sn_distance(sn_carried_place(&job->skin->points[p], job->u), job->places[p]) > job->most;
  }
  return far;
}

// Has any point gone so far since contacts were last looked for that it may touch what was not near
// enough to be watched then?
static bool has_moved(const sn_model* model, const sn_contact_state* state, sn_pool* pool,
                      const double* u) {
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_skin* skin = &model->contact.skins[b];
    double most = 0.5 * WATCH_FLESH * skin->body->tree.cell;
    move_job job = {skin, state->poses[b].places, u, most};
    if (sn_parallel_sum(pool, skin->count, 1024, count_far, &job) > 0) return true;
  }
  return false;
}

uint32_t sn_contacts_find_more(const sn_model* model, sn_state* whole) {
  bool moved = model->contact.any && has_moved(model, &whole->contact, whole->pool, whole->u);
  return moved ? sn_contacts_find(model, whole, whole->u) : 0;
}

uint32_t sn_contacts_find(const sn_model* model, sn_state* whole, const double* u) {
  sn_contact_state* state = &whole->contact;
  if (!model->contact.any) return 0;
  uint32_t before = state->set.count, deep = 0;
  double start = sn_seconds();
  update_poses(model, state, whole->pool, u);
  find_tangled(model, state, whole->pool, u);
  find_collider_contacts(model, state, whole->pool);
  find_flesh_contacts(model, state, whole->pool, u, whole->u_before, false);
  for (uint32_t i = before; i < state->set.count; ++i) {
    deep += sn_contact_gap(&state->set.contacts[i], u) < 0;
  }
  state->spent += sn_seconds() - start;
  return deep;
}

static void remember(sn_contact_state* state, const sn_contact* c, sn_vec3 stretch) {
  sn_touch_memory* memory = state->memory + SN_TOUCHES * (size_t)c->point;
  for (int i = 0; i < SN_TOUCHES; ++i) {
    if (memory[i].partner) continue;
    memory[i] =
        (sn_touch_memory){(uint64_t)c->partner + 1, c->pressure, stretch, c->slack, c->normal};
    if (!c->against_flesh) {
      sn_rigid turn = {state->obstacle_poses[c->partner].rotate, {0, 0, 0}};
      memory[i].normal = into_frame(&turn, c->normal);
    }
    return;
  }
}

void sn_contacts_end(const sn_model* model, sn_state* whole) {
  sn_contact_state* state = &whole->contact;
  if (!model->contact.any) return;
  uint32_t points = point_count(model);
  memset(state->memory, 0, SN_TOUCHES * (size_t)points * sizeof *state->memory);
  for (uint32_t i = 0; i < state->set.count; ++i) {
    const sn_contact* c = &state->set.contacts[i];
    sn_vec3 stretch;
    if (sn_contact_gap(c, whole->u) >= 0 && c->slack == 0) continue;
    sn_contact_force(c, whole->u, &stretch);
    remember(state, c, stretch);
  }
  state->report = sn_contact_set_report(&state->set, whole->u);
  state->first = 0;
}
