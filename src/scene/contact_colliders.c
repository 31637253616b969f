// Points and facets of the skin against colliders, seen along their ways.
#include "scene/contact_parts.h"

// Within which a point is watched while a step is solved, in finest cells.
#define WATCH 1.0
// By how much deeper a place of a facet must be to touch besides another, in finest cells.
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

// How deep a way may lead through a corner of a collider.
static double graze_of(const collider_job* job) {
  return sn_contact_harden(&job->model->bodies[job->body]);
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
    double graze = graze_of(job);
    if (way_enters(job, before, now, graze, hit) &&
        (!state->has_seen || way_enters(job, point_seen(job, p), now, graze, &again))) {
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

// Where a straight way enters a collider, if it does.
static bool enters(const sn_contact_state* state, const sn_contact* c, sn_vec3 from, sn_vec3 to,
                   sn_solid_hit* hit) {
  const sn_solid* solid = state->obstacles[c->partner].solid;
  double h = state->model->bodies[c->body].tree.cell;
  return sn_solid_pierce(solid, from, to, h, c->harden, hit);
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
    // Where nothing is in the way it is straight.
    sn_solid_hit hit;
    ways.round[i] =
        round != SN_NOT_ROUND && way_enters(job, ways.from[i], ways.to[i], graze_of(job), &hit);
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
  sn_vec3 start = mix_corners(ways.from, weights), now = mix_corners(ways.to, weights);
  // What went round and is in a little in the end came in where it is.
  bool round = ways.round[0] || ways.round[1] || ways.round[2];
  if (round && sn_solid_nearest(solid, now, 0, hit) && hit->distance > -look) return NEAR;
  if (way_enters(job, start, now, graze_of(job), hit)) return ENTERED;
  return sn_solid_nearest(solid, now, WATCH * h, hit) ? NEAR : NOTHING;
}

// Another place of a facet that touches already: clearly deeper now than where it does, and than it may be.
static uint8_t find_deeper(const collider_job* job, uint32_t f, double known, double weights[3],
                           sn_solid_hit* hit) {
  const sn_solid* solid = obstacle_of(job)->solid;
  double h = job->model->bodies[job->body].tree.cell;
  double most = fmax(known, SN_SAG * h) + NEARLY_AS_DEEP * h;
  sn_sweep_ways ways = sn_contacts_facet_ways(job, f);
  if (!sn_solid_deepest(solid, ways.to, look_of(solid, h), most, weights)) return NOTHING;
  return sn_solid_nearest(solid, mix_corners(ways.to, weights), 0, hit) ? NEAR : NOTHING;
}

// The distance at which each facet touches already where it is deepest, in its hit; outside: it does not. What has
// entered is not looked at again.
static void find_known(const collider_job* job) {
  const sn_contact_state* state = job->state;
  const sn_obstacle_pose* pose = obstacle_of(job);
  uint32_t first = job->model->contact.facet_firsts[job->body];
  uint32_t facets = job->model->contact.skins[job->body].facet_count;
  for (uint32_t f = 0; f < facets; ++f) job->hits[f].distance = INFINITY;
  for (uint32_t i = 0; i < state->set.count; ++i) {
    const sn_contact* c = &state->set.contacts[i];
    if (c->body != job->body || c->partner != job->collider || !c->on_facet) continue;
    sn_vec3 place = sn_obstacle_place(pose, sn_contact_place(c, job->u));
    sn_solid_hit hit;
    double distance = sn_solid_nearest(pose->solid, place, 0, &hit) ? hit.distance : 0;
    double* known = &job->hits[c->point - first].distance;
    *known = fmin(*known, c->entered ? -INFINITY : distance);
  }
}

static void find_facets(void* ctx, size_t begin, size_t end) {
  const collider_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    uint32_t f = (uint32_t)i;
    double known = job->hits[f].distance, *weights = job->state->spots[f];
    job->found[f] = known > 0 ? find_facet(job, f, weights, &job->hits[f])
                              : find_deeper(job, f, -known, weights, &job->hits[f]);
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
  find_known(job);
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
