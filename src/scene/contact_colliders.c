// Points and facets of the skin against colliders, seen along their ways.
#include "scene/contact_parts.h"

// Within which a point is watched while a step is solved, in finest cells.
#define WATCH 1.0
// By how much deeper a place of a facet must be to take the place of another, in finest cells.
#define NEARLY_AS_DEEP 0.025

// How something was found: by where it is, or by its way.
enum { NOTHING, NEAR, ENTERED };

// Of a sheet, which has no inside, a point is on the side on which it touched it last, even if springs
// have let it through a little.
static uint8_t find_sheet(const collider_job* job, uint32_t p, sn_vec3 before, sn_vec3 now,
                          sn_solid_hit* hit) {
  const sn_solid* solid = obstacle_of(job)->solid;
  uint32_t point = job->model->contact.firsts[job->body] + p;
  const sn_touch_memory* memory = sn_touch_memory_of(job->state, point, job->collider);
  double h = job->model->bodies[job->body].tree.cell;
  if (memory && sn_solid_nearest(solid, before, INFINITY, hit) &&
      sn_dot(hit->normal, memory->normal) < 0) {
    before = sn_madd(hit->place, -SN_ON_SKIN * h, hit->normal);
  }
  if (sn_solid_enter(solid, before, now, hit)) return ENTERED;
  if (!sn_solid_nearest(solid, now, WATCH * h, hit)) return NOTHING;
  if (memory && sn_dot(hit->normal, memory->normal) < 0) hit->normal = sn_scale(-1, hit->normal);
  return NEAR;
}

static uint8_t find_collider(const collider_job* job, uint32_t p, sn_solid_hit* hit) {
  const sn_contact_state* state = job->state;
  const sn_solid* solid = obstacle_of(job)->solid;
  double h = job->model->bodies[job->body].tree.cell;
  sn_vec3 now = sn_obstacle_place(obstacle_of(job), state->poses[job->body].places[p]);
  sn_vec3 before = sn_obstacle_start(obstacle_of(job), state->starts[job->body][p]);
  if (solid->kind != SN_SOLID_PLANE) {
    sn_box box = sn_solid_box(solid), way = {sn_min3(now, before), sn_max3(now, before)};
    double margin = WATCH * h;
    if (way.lo.x > box.hi.x + margin || way.lo.y > box.hi.y + margin ||
        way.lo.z > box.hi.z + margin || way.hi.x < box.lo.x - margin ||
        way.hi.y < box.lo.y - margin || way.hi.z < box.lo.z - margin) {
      return NOTHING;
    }
    if (sn_solid_is_sheet(solid)) return find_sheet(job, p, before, now, hit);
    sn_solid_hit again;
    if (sn_solid_enter(solid, start_outside(solid, before, h), now, hit) &&
        (!state->has_seen ||
         sn_solid_enter(solid, start_outside(solid, point_seen(job, p), h), now, &again))) {
      return ENTERED;
    }
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

static void set_plane(const sn_obstacle_pose* pose, const sn_solid_hit* hit, sn_contact* contact) {
  contact->place = sn_rigid_apply(&pose->now, hit->place);
  contact->normal = sn_obstacle_turn(pose, hit->normal);
}

// The plane of a hit; the anchor is where the collider would have carried the point from its start.
static void place_contact(const collider_job* job, sn_vec3 start, const sn_solid_hit* hit,
                          sn_contact* c) {
  const sn_obstacle_pose* pose = obstacle_of(job);
  set_plane(pose, hit, c);
  c->by = hit->place;
  c->anchor = sn_obstacle_carry(pose, start);
  c->drift = sn_sub(c->anchor, start);
}

static void add_collider_contact(const collider_job* job, uint32_t p) {
  sn_contact_state* state = job->state;
  const sn_collider_desc* desc = obstacle_of(job)->obstacle->desc;
  sn_contact c =
      sn_contact_begin(job->model, job->body, p, job->collider, desc->stiffness, desc->friction);
  place_contact(job, state->starts[job->body][p], &job->hits[p], &c);
  c.entered = job->found[p] == ENTERED;
  double depth = -sn_dot(c.normal, sn_sub(c.anchor, c.place));
  bool began_in = job->found[p] == NEAR && state->first && depth > 0;
  if (!sn_contact_recall(state, &c) && began_in) sn_contact_let_be(state, depth, &c);
  sn_contact_add(state, &c);
}

// A facet touches where it is deepest now, unless where it touched last is nearly as deep: a place that moves with
// every look keeps a step from being solved.
static void follow_facet(const sn_contact_state* state, const double* u, sn_contact* c) {
  const sn_obstacle_pose* pose = &state->obstacles[c->partner];
  sn_vec3 corners[3];
  for (int i = 0; i < 3; ++i) {
    corners[i] = sn_obstacle_place(pose, sn_carried_place(c->corners[i], u));
  }
  sn_solid_hit hit;
  double weights[3], h = state->model->bodies[c->body].tree.cell, most = 0;
  if (sn_solid_nearest(pose->solid, mix_corners(corners, c->weights), 0, &hit)) {
    most = NEARLY_AS_DEEP * h - hit.distance;
  }
  if (!sn_solid_deepest(pose->solid, corners, look_of(pose->solid, h), most, weights)) return;
  for (int i = 0; i < 3; ++i) c->weights[i] = weights[i];
}

// Where a straight way enters a collider, if it does.
static bool enters(const sn_contact_state* state, const sn_contact* c, sn_vec3 from, sn_vec3 to,
                   sn_solid_hit* hit) {
  const sn_solid* solid = state->obstacles[c->partner].solid;
  double h = state->model->bodies[c->body].tree.cell;
  return sn_solid_enter(solid, start_outside(solid, from, h), to, hit);
}

// While a step is solved the plane stays below its point, on the side on which that came: its way leads round the
// collider from plane to plane. After an entry it is that of the entry until the nearest surface is the one that was
// entered, or until the way leads past the collider.
void sn_contacts_follow(const void* ctx, sn_contact* c, const double* u) {
  const sn_contact_state* state = ctx;
  const sn_obstacle_pose* pose = &state->obstacles[c->partner];
  const sn_solid* solid = pose->solid;
  sn_solid_hit hit, entry;
  if (solid->kind == SN_SOLID_PLANE) return;
  if (c->on_facet && !c->entered) follow_facet(state, u, c);
  sn_vec3 place = sn_obstacle_place(pose, sn_contact_place(c, u));
  sn_vec3 start = sn_obstacle_start(pose, sn_contact_start(state, c));
  if (!sn_solid_nearest(solid, place, INFINITY, &hit)) return;
  bool same_side = sn_dot(sn_obstacle_turn(pose, hit.normal), c->normal) >= SN_SAME_SIDE;
  bool outside = hit.distance > 0;
  if (!same_side || (c->entered && outside)) {
    if (sn_solid_is_sheet(solid)) return;
    sn_vec3 from = c->entered ? start : sn_obstacle_place(pose, c->place);
    if (enters(state, c, from, place, &entry)) {
      if (c->entered) set_plane(pose, &entry, c);
      return;
    }
    if (!outside) return;
  }
  c->entered = false;
  set_plane(pose, &hit, c);
  double h = state->model->bodies[c->body].tree.cell;
  sn_vec3 above = sn_madd(hit.place, SN_ON_SKIN * h, hit.normal);
  if (!enters(state, c, start, above, &entry)) c->by = hit.place;
}

// Skin between points: what comes in there, though no point does.

void sn_contacts_find_round(const collider_job* job, bool any) {
  const sn_contact_state* state = job->state;
  uint32_t first = job->model->contact.firsts[job->body];
  for (uint32_t p = 0; p < job->model->contact.skins[job->body].count; ++p) {
    state->round[p] = any && state->has_seen ? SN_ROUND_UNTOUCHED : SN_NOT_ROUND;
  }
  for (uint32_t i = 0; any && i < state->set.count; ++i) {
    const sn_contact* c = &state->set.contacts[i];
    bool of_job = c->body == job->body && c->partner == job->collider && !c->on_facet;
    if (!of_job) continue;
    bool above = !c->entered && sn_contact_gap(c, job->u) > -c->harden;
    state->round[c->point - first] = above ? i + 1 : SN_NOT_ROUND;
  }
}

sn_sweep_ways sn_contacts_facet_ways(const collider_job* job, uint32_t f) {
  const sn_contact_state* state = job->state;
  const sn_skin* skin = &job->model->contact.skins[job->body];
  const sn_obstacle_pose* pose = obstacle_of(job);
  sn_sweep_ways ways = {0};
  for (int i = 0; i < 3; ++i) {
    uint32_t p = skin->facets[3 * (size_t)f + i];
    ways.from[i] = sn_obstacle_start(pose, state->starts[job->body][p]);
    ways.to[i] = sn_obstacle_place(pose, sn_carried_place(&skin->points[p], job->u));
    uint32_t round = state->round[p];
    ways.round[i] = round != SN_NOT_ROUND;
    if (!ways.round[i]) continue;
    ways.by[i] =
        round == SN_ROUND_UNTOUCHED ? point_seen(job, p) : state->set.contacts[round - 1].by;
  }
  return ways;
}

static uint8_t find_facet(const collider_job* job, uint32_t f, double weights[3],
                          sn_solid_hit* hit) {
  const sn_solid* solid = obstacle_of(job)->solid;
  double h = job->model->bodies[job->body].tree.cell, look = look_of(solid, h);
  sn_sweep_ways ways = sn_contacts_facet_ways(job, f);
  if (!sn_solid_sweep(solid, &ways, look, 0.5 * SN_SAG * h, NULL, NULL, weights)) return NOTHING;
  sn_vec3 start = start_outside(solid, mix_corners(ways.from, weights), h),
          now = mix_corners(ways.to, weights);
  // What went round and is in a little in the end came in where it is.
  bool round = ways.round[0] || ways.round[1] || ways.round[2];
  if (round && sn_solid_nearest(solid, now, 0, hit) && hit->distance > -look) return NEAR;
  if (sn_solid_enter(solid, start, now, hit)) return ENTERED;
  return sn_solid_nearest(solid, now, WATCH * h, hit) ? NEAR : NOTHING;
}

static void find_facets(void* ctx, size_t begin, size_t end) {
  const collider_job* job = ctx;
  uint32_t first = job->model->contact.facet_firsts[job->body];
  for (size_t f = begin; f < end; ++f) {
    bool known = job->state->known_facets[first + f] & partner_bit(job->collider);
    job->found[f] =
        known ? NOTHING : find_facet(job, (uint32_t)f, job->state->spots[f], &job->hits[f]);
  }
}

// How deep in it a place of the step's start was.
static double depth_of(const sn_obstacle_pose* pose, sn_vec3 start) {
  sn_solid_hit hit;
  bool inside = sn_solid_nearest(pose->solid, sn_obstacle_start(pose, start), 0, &hit);
  return inside ? -hit.distance : 0;
}

static void add_facet_contact(const collider_job* job, uint32_t f) {
  sn_contact_state* state = job->state;
  const sn_skin* skin = &job->model->contact.skins[job->body];
  const sn_collider_desc* desc = obstacle_of(job)->obstacle->desc;
  sn_carried about = sn_skin_carry_facet(skin, f, state->spots[f]);
  sn_contact c = sn_contact_make(job->model, job->body, job->collider, &about,
                                 sn_skin_facet_area(skin, f), desc->stiffness);
  c.point = job->model->contact.facet_firsts[job->body] + f;
  c.on_facet = true;
  c.target = about;
  for (int i = 0; i < 3; ++i) {
    c.corners[i] = &skin->points[skin->facets[3 * (size_t)f + i]];
    c.weights[i] = state->spots[f][i];
  }
  c.sag = SN_SAG * skin->body->tree.cell;
  c.offset -= c.sag;
  sn_vec3 start = sn_contact_place(&c, job->u_before);
  place_contact(job, start, &job->hits[f], &c);
  c.entered = job->found[f] == ENTERED;
  const sn_facet_memory* memory = &state->facet_memory[c.point];
  double depth = depth_of(obstacle_of(job), start) - c.sag;
  if (memory->partner == (uint64_t)job->collider + 1) {
    c.depth_before = (double)memory->depth;
    sn_contact_let_be(state, (double)memory->slack, &c);
  } else if (depth > 0) {
    sn_contact_let_be(state, depth, &c);
  }
  sn_contact_add(state, &c);
}

static void find_facets_of(const collider_job* job, sn_pool* pool) {
  uint32_t facets = job->model->contact.skins[job->body].facet_count;
  if (obstacle_of(job)->solid->kind == SN_SOLID_PLANE) return;
  sn_contacts_find_round(job, true);
  sn_parallel_for(pool, facets, 256, find_facets, (void*)job);
  for (uint32_t f = 0; f < facets; ++f) {
    if (job->found[f]) add_facet_contact(job, f);
  }
}

void sn_contacts_find_facets(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                             const double* u, const double* u_before) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    for (uint32_t c = 0; c < scene->collider_count; ++c) {
      if (sn_contact_is_ignored(scene, c, scene->collider_count + b)) continue;
      collider_job job = {model, state, b, c, u, u_before, state->hits, state->found};
      find_facets_of(&job, pool);
    }
  }
}

void sn_contacts_find_colliders(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                                const double* u, const double* u_before) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    uint32_t points = model->contact.skins[b].count;
    for (uint32_t c = 0; c < scene->collider_count; ++c) {
      if (sn_contact_is_ignored(scene, c, scene->collider_count + b)) continue;
      collider_job job = {model, state, b, c, u, u_before, state->hits, state->found};
      sn_parallel_for(pool, points, 256, find_colliders, &job);
      for (uint32_t p = 0; p < points; ++p) {
        if (job.found[p]) add_collider_contact(&job, p);
      }
    }
  }
}
