// Points of the skin against flesh, their own body's and others'.
#include <string.h>

#include "scene/contact_parts.h"

// How deep flesh may lie in itself and still be pushed apart, in finest cells.
#define SELF_DEPTH 4.0
// Flesh that is squashed to less than this share of its volume, or turned inside out, does not touch
// other flesh: its skin is not where it could.
#define LEAST_VOLUME 0.05
// Flesh that was deeper behind a skin than so many cells when the step began got there by crossing or
// tangling, or came from another side: it is not pushed out there.
#define MOST_CROSSED 0.25

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
  double h = skin->body->tree.cell, reach = (job->at_rest ? SN_ON_SKIN : SN_WATCH_FLESH) * h;
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
  *c = sn_contact_begin(model, job->body, p, partner, opts->stiffness, opts->friction);
  c->against_flesh = true;
  c->normal = touch->normal;
  c->target = sn_skin_carry(&model->contact.skins[job->other], touch);
  c->anchor = sn_sub(state->starts[job->body][p], sn_carried_place(&c->target, u_before));
  double depth = -sn_dot(c->normal, c->anchor);
  bool began_in = state->first && state->began_in[c->point];
  double slack = fmax(0, depth);
  const sn_touch_memory* memory = sn_touch_memory_of(state, c->point, partner);
  if (sn_contact_recall(state, c)) {
    slack = memory->slack;
    depth -= slack;
  } else if (depth > 0) {
    sn_contact_let_be(state, depth, c);
  }
  // What flesh makes of a new plane is its own; only what is taken back of the slack is work.
  c->gap_before = -c->depth_before - (slack - c->slack);
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
    sn_contact_add(state, &c);
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
  for (uint32_t p = 0; p < sn_contact_points(model); ++p) {
    state->overlaps[p] = state->overlaps[p] == LIES_IN ? LAY_IN : OUT;
  }
}

void sn_contacts_find_flesh(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                            const double* u, const double* u_before, bool at_rest) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < model->body_count && scene->contact.self; ++b) {
    for (uint32_t o = 0; o < model->body_count; ++o) {
      uint32_t first = scene->collider_count, points = model->contact.skins[b].count;
      if (sn_contact_is_ignored(scene, first + b, first + o)) continue;
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
