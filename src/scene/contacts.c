#include "scene/contacts.h"

#include <string.h>

#include "base/timer.h"
#include "scene/contact_parts.h"

// Depth beyond which the force of contact grows no more, in finest cells; over which it sets in and beyond which it
// grows faster, in diagonals of the body.
#define YIELD 1.0
#define SMOOTH 1e-4
#define HARDEN 1e-3
// What lies in something before it touches is pushed out gently: this share of the depth a frame.
#define RELIEF 0.25
// A body of which more than this share is inside out does not touch flesh at all: it has to find back
// to a shape first.
#define MOST_INVERTED 0.02
// Contacts that there is room for: half of the points of the skins, and a few.
#define LEAST_ROOM 4096

sn_status sn_contacts_build(sn_model* model, sn_arena* scratch, sn_error* err) {
  const sn_scene* scene = model->scene;
  sn_contact_model* contact = &model->contact;
  contact->any = scene->collider_count > 0 || scene->contact.self;
  if (!contact->any) return SN_OK;
  SN_TRY(SN_ARENA_NEW(model->arena, scene->collider_count, &contact->obstacles, err));
  SN_TRY(SN_ARENA_NEW(model->arena, model->body_count, &contact->skins, err));
  SN_TRY(SN_ARENA_NEW(model->arena, (size_t)model->body_count + 1, &contact->firsts, err));
  SN_TRY(SN_ARENA_NEW(model->arena, (size_t)model->body_count + 1, &contact->facet_firsts, err));
  for (uint32_t c = 0; c < scene->collider_count; ++c) {
    SN_TRY(sn_obstacle_build(&scene->colliders[c], model->arena, scratch, &contact->obstacles[c],
                             err));
  }
  for (uint32_t b = 0; b < model->body_count; ++b) {
    SN_TRY(sn_skin_build(&model->bodies[b], model->arena, scratch, &contact->skins[b], err));
    contact->firsts[b + 1] = contact->firsts[b] + contact->skins[b].count;
    contact->facet_firsts[b + 1] = contact->facet_firsts[b] + contact->skins[b].facet_count;
  }
  return SN_OK;
}

_Static_assert(sizeof(sn_skin_touch) <= sizeof(sn_solid_hit), "touches take the place of hits");

uint32_t sn_contact_points(const sn_model* model) {
  return model->contact.firsts[model->body_count];
}

static uint32_t sn_contact_facets(const sn_model* model) {
  return model->contact.facet_firsts[model->body_count];
}

// Sides of a pair as one number each: colliders first, then bodies.
static uint32_t partner_of(const sn_scene* scene, sn_contact_side side) {
  return side.is_collider ? side.index : scene->collider_count + side.index;
}

bool sn_contact_is_ignored(const sn_scene* scene, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < scene->contact.ignore_count; ++i) {
    const sn_contact_pair* pair = &scene->contact.ignore[i];
    uint32_t p = partner_of(scene, pair->side[0]), q = partner_of(scene, pair->side[1]);
    if ((p == a && q == b) || (p == b && q == a)) return true;
  }
  return false;
}

static double diagonal_of(const sn_body* body) {
  return sn_distance(body->surface.box.lo, body->surface.box.hi);
}

double sn_contact_harden(const sn_body* body) { return HARDEN * diagonal_of(body); }

sn_contact sn_contact_make(const sn_model* model, uint32_t b, uint32_t partner,
                           const sn_carried* carrier, double area, double stiffness) {
  const sn_body* body = &model->bodies[b];
  double mu = sn_body_mu(body, carrier->cell), h = body->tree.cell;
  return (sn_contact){.body = b,
                      .partner = partner,
                      .carrier = carrier,
                      .stiffness = stiffness * mu * area / h,
                      .offset = model->scene->contact.thickness,
                      .smooth = SMOOTH * diagonal_of(body),
                      .harden = sn_contact_harden(body),
                      .yield = YIELD * h};
}

sn_contact sn_contact_begin(const sn_model* model, uint32_t b, uint32_t point, uint32_t partner,
                            double stiffness, double friction) {
  const sn_skin* skin = &model->contact.skins[b];
  sn_contact c =
      sn_contact_make(model, b, partner, &skin->points[point], skin->areas[point], stiffness);
  c.point = model->contact.firsts[b] + point;
  c.friction = friction;
  return c;
}

const sn_touch_memory* sn_touch_memory_of(const sn_contact_state* state, uint32_t point,
                                          uint32_t partner) {
  const sn_touch_memory* memory = state->memory + SN_TOUCHES * (size_t)point;
  for (int i = 0; i < SN_TOUCHES; ++i) {
    if (memory[i].partner == (uint64_t)partner + 1) return &memory[i];
  }
  return NULL;
}

void sn_contact_let_be(const sn_contact_state* state, double slack, sn_contact* contact) {
  contact->slack = slack / (1 + RELIEF * state->frames);
  contact->offset -= contact->slack;
}

void sn_contact_add(sn_contact_state* state, const sn_contact* contact) {
  if (!contact->on_facet) state->known[contact->point] |= partner_bit(contact->partner);
  sn_contact_set_add(&state->set, contact);
}

bool sn_contact_recall(const sn_contact_state* state, sn_contact* contact) {
  const sn_touch_memory* memory = sn_touch_memory_of(state, contact->point, contact->partner);
  if (!memory) return false;
  contact->pressure = memory->pressure;
  contact->depth_before = memory->depth;
  contact->anchor = sn_sub(contact->anchor, memory->stretch);
  sn_contact_let_be(state, memory->slack, contact);
  return true;
}

sn_vec3 sn_contact_start(const sn_contact_state* state, const sn_contact* c) {
  const sn_contact_model* contact = &state->model->contact;
  const sn_vec3* starts = state->starts[c->body];
  if (!c->on_facet) return starts[c->point - contact->firsts[c->body]];
  sn_vec3 sum = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    sum = sn_madd(sum, c->weights[i], starts[c->corners[i] - contact->skins[c->body].points]);
  }
  return sum;
}

static void find_tangled(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                         const double* u) {
  for (uint32_t b = 0; b < model->body_count && model->scene->contact.self; ++b) {
    state->tangled[b] = sn_body_inverted(&model->bodies[b], pool, u) > MOST_INVERTED;
  }
}

void sn_contacts_update_poses(const sn_model* model, sn_contact_state* state, sn_pool* pool,
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
  uint32_t points = sn_contact_points(model), most = 0;
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->poses, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->starts, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->seen, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->tangled, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_skin* skin = &model->contact.skins[b];
    SN_TRY(sn_skin_pose_create(skin, arena, &state->poses[b], err));
    SN_TRY(SN_ARENA_NEW(arena, skin->count, &state->starts[b], err));
    SN_TRY(SN_ARENA_NEW(arena, skin->count, &state->seen[b], err));
    if (skin->count > most) most = skin->count;
    if (skin->facet_count > most) most = skin->facet_count;
  }
  SN_TRY(SN_ARENA_NEW(arena, model->scene->collider_count, &state->obstacles, err));
  for (uint32_t c = 0; c < model->scene->collider_count; ++c) {
    SN_TRY(sn_obstacle_pose_create(&model->contact.obstacles[c], arena, &state->obstacles[c], err));
  }
  SN_TRY(SN_ARENA_NEW(arena, points, &state->known, err));
  SN_TRY(SN_ARENA_NEW(arena, sn_contact_facets(model), &state->facet_memory, err));
  SN_TRY(SN_ARENA_NEW(arena, SN_TOUCHES * (size_t)points, &state->memory, err));
  SN_TRY(SN_ARENA_NEW(arena, points, &state->overlaps, err));
  SN_TRY(SN_ARENA_NEW(arena, points, &state->began_in, err));
  SN_TRY(SN_ARENA_RAW(arena, most, &state->hits, err));
  SN_TRY(SN_ARENA_NEW(arena, model->unknown_count / 3, &state->stuck, err));
  SN_TRY(SN_ARENA_RAW(arena, most, &state->spots, err));
  SN_TRY(SN_ARENA_RAW(arena, most, &state->found, err));
  SN_TRY(SN_ARENA_RAW(arena, most, &state->round, err));
  state->touches =
      (sn_skin_touch*)(void*)state->hits;  // colliders are done before flesh is looked at
  uint32_t room = points / 2 + LEAST_ROOM;
  SN_TRY(sn_contact_set_create(room, &state->spent, arena, &state->set, err));
  state->first = 1;
  state->set.follow = sn_contacts_follow;
  state->set.follow_ctx = state;
  // Flesh that overlaps in the start pose: with u = 0 this is the mesh as it was modelled.
  sn_contacts_update_poses(model, state, whole->pool, whole->u);
  find_tangled(model, state, whole->pool, whole->u);
  sn_contacts_find_flesh(model, state, whole->pool, whole->u, NULL, true);
  return SN_OK;
}

void sn_contacts_begin(const sn_model* model, sn_state* whole, double frames) {
  sn_contact_state* state = &whole->contact;
  state->frames = frames;
  state->stuck_count = 0;
  if (!model->contact.any) return;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    sn_skin_points_update(&model->contact.skins[b], whole->pool, whole->u_before, state->starts[b]);
  }
  memset(state->known, 0, sn_contact_points(model) * sizeof *state->known);
  state->set.count = 0;
  state->set.epoch++;
  state->set.lost = 0;
  state->has_seen = false;
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
    double most = 0.5 * SN_WATCH_FLESH * skin->body->tree.cell;
    move_job job = {skin, state->poses[b].places, u, most};
    if (sn_parallel_sum(pool, skin->count, 1024, count_far, &job) > 0) return true;
  }
  return false;
}

static uint32_t count_deep(const sn_contact_set* set, uint32_t first, const double* u) {
  uint32_t deep = 0;
  for (uint32_t i = first; i < set->count; ++i) deep += sn_contact_gap(&set->contacts[i], u) < 0;
  return deep;
}

static uint32_t find_facets(const sn_model* model, sn_state* whole, const double* u) {
  sn_contact_state* state = &whole->contact;
  uint32_t before = state->set.count;
  double start = sn_seconds();
  sn_contacts_find_facets(model, state, whole->pool, u, whole->u_before);
  state->spent += sn_seconds() - start;
  return count_deep(&state->set, before, u);
}

uint32_t sn_contacts_find_more(const sn_model* model, sn_state* whole) {
  if (!model->contact.any) return 0;
  bool moved = has_moved(model, &whole->contact, whole->pool, whole->u);
  uint32_t deep = moved ? sn_contacts_find(model, whole, whole->u) : 0;
  deep += find_facets(model, whole, whole->u);
  sn_contact_state* state = &whole->contact;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    sn_skin_points_update(&model->contact.skins[b], whole->pool, whole->u, state->seen[b]);
  }
  state->has_seen = true;
  return deep;
}

uint32_t sn_contacts_find(const sn_model* model, sn_state* whole, const double* u) {
  sn_contact_state* state = &whole->contact;
  if (!model->contact.any) return 0;
  uint32_t before = state->set.count;
  double start = sn_seconds();
  sn_contacts_update_poses(model, state, whole->pool, u);
  find_tangled(model, state, whole->pool, u);
  sn_contacts_find_colliders(model, state, whole->pool, u, whole->u_before);
  sn_contacts_find_flesh(model, state, whole->pool, u, whole->u_before, false);
  state->spent += sn_seconds() - start;
  return count_deep(&state->set, before, u);
}

static void remember(sn_contact_state* state, const sn_contact* c, sn_vec3 stretch, double depth) {
  if (c->on_facet) {
    sn_facet_memory* memory = &state->facet_memory[c->point];
    bool again = memory->partner == (uint64_t)c->partner + 1;  // it may touch at several places
    *memory = (sn_facet_memory){(uint64_t)c->partner + 1,
                                fmaxf(again ? memory->slack : 0, (float)c->slack),
                                fmaxf(again ? memory->depth : 0, (float)depth)};
    return;
  }
  sn_touch_memory* memory = state->memory + SN_TOUCHES * (size_t)c->point;
  for (int i = 0; i < SN_TOUCHES; ++i) {
    if (memory[i].partner) continue;
    memory[i] = (sn_touch_memory){
        (uint64_t)c->partner + 1, c->pressure, stretch, c->slack, depth, c->normal};
    if (!c->against_flesh) {
      memory[i].normal = sn_obstacle_turn_back(&state->obstacles[c->partner], c->normal);
    }
    return;
  }
}

// Where the start of the step lies against the plane that a contact with a collider has in the end.
static void look_back(const sn_contact_state* state, const double* u, sn_contact* c) {
  sn_vec3 start = sn_contact_start(state, c);
  sn_vec3 carried = sn_obstacle_carry(&state->obstacles[c->partner], start);
  c->drift = sn_sub(carried, start);
  c->way = sn_sub(sn_contact_place(c, u), start);
  c->gap_before = sn_dot(c->normal, sn_sub(carried, c->place)) - c->offset;
}

void sn_contacts_end(const sn_model* model, sn_state* whole) {
  sn_contact_state* state = &whole->contact;
  if (!model->contact.any) return;
  uint32_t points = sn_contact_points(model);
  memset(state->memory, 0, SN_TOUCHES * (size_t)points * sizeof *state->memory);
  memset(state->facet_memory, 0, sn_contact_facets(model) * sizeof *state->facet_memory);
  for (uint32_t i = 0; i < state->set.count; ++i) {
    sn_contact* c = &state->set.contacts[i];
    sn_vec3 stretch;
    double gap = sn_contact_gap(c, whole->u);
    if (!c->against_flesh) look_back(state, whole->u, c);
    if (gap >= 0 && c->slack == 0) continue;
    sn_contact_force(c, whole->u, &stretch);
    remember(state, c, stretch, fmax(0, -gap));
  }
  state->report = sn_contact_set_report(&state->set, whole->u);
  // Forces of places that were set mean nothing.
  if (state->stuck_count > 0 || whole->still) state->report.work = 0;
  state->first = 0;
}
