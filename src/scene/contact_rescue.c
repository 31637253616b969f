// Nothing is passed through, whatever becomes of a step: in the last resort it is carried along.
#include <string.h>

#include "base/timer.h"
#include "scene/contact_parts.h"

// Depth, over that beyond which the force grows faster, at which a point has gone in too far to be left there; and
// how far one must have gone against a collider, in finest cells, to have gone through it.
#define TOO_DEEP 4.0
#define FAR 0.25

// Did this straight way, in the frame of the collider, lead into it and end too deep or behind it?
static bool leads_through(const collider_job* job, sn_vec3 from, sn_vec3 to, double most) {
  sn_solid_hit entry, end;
  if (!way_enters(job, from, to, most, &entry)) return false;
  if (!sn_solid_nearest(obstacle_of(job)->solid, to, INFINITY, &end)) return false;
  return end.distance < -most || sn_dot(end.normal, entry.normal) < SN_SAME_SIDE;
}

static bool lies_deep(const collider_job* job, sn_vec3 p, double most) {
  sn_solid_hit hit;
  return sn_solid_nearest(obstacle_of(job)->solid, p, 0, &hit) && hit.distance < -most;
}

static sn_vec3 point_before(const collider_job* job, uint32_t p) {
  return sn_obstacle_start(obstacle_of(job), job->state->starts[job->body][p]);
}

static sn_vec3 point_now(const collider_job* job, uint32_t p) {
  return sn_obstacle_place(obstacle_of(job), job->state->poses[job->body].places[p]);
}

static bool goes_through(const collider_job* job, uint32_t p, double most) {
  uint32_t round = job->state->round[p];
  sn_vec3 now = point_now(job, p);
  if (round != SN_NOT_ROUND && round != SN_ROUND_UNTOUCHED) return lies_deep(job, now, most);
  return leads_through(job, point_before(job, p), now, most) &&
         (round == SN_NOT_ROUND || leads_through(job, point_seen(job, p), now, most));
}

static double too_deep(const collider_job* job) {
  return TOO_DEEP * sn_contact_harden(&job->model->bodies[job->body]);
}

static void find_through(void* ctx, size_t begin, size_t end) {
  const collider_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    uint32_t p = (uint32_t)i;
    job->found[p] = goes_through(job, p, too_deep(job));
  }
}

typedef struct facet_way {
  const collider_job* job;
  sn_sweep_ways ways;
  double most;
} facet_way;

static bool facet_leads_through(const void* ctx, const double weights[3]) {
  const facet_way* way = ctx;
  return leads_through(way->job, mix_corners(way->ways.from, weights),
                       mix_corners(way->ways.to, weights), way->most);
}

static void find_facets_through(void* ctx, size_t begin, size_t end) {
  const collider_job* job = ctx;
  const sn_solid* solid = obstacle_of(job)->solid;
  double h = job->model->bodies[job->body].tree.cell, look = look_of(solid, h), weights[3];
  facet_way way = {.job = job, .most = too_deep(job) + SN_SAG * h};
  for (size_t f = begin; f < end; ++f) {
    way.ways = sn_contacts_facet_ways(job, (uint32_t)f);
    // Deep in it now and not before, or behind it.
    job->found[f] =
        (sn_solid_deepest(solid, way.ways.to, look, way.most, weights) &&
         !sn_solid_deepest(solid, way.ways.from, look, way.most, weights)) ||
        sn_solid_sweep(solid, &way.ways, look, way.most, facet_leads_through, &way, weights);
  }
}

// Bring the nodes of a point to where the collider would have carried them. Returns how many that is news to.
static uint32_t stick(const collider_job* job, uint32_t p, double* u) {
  const sn_body* body = &job->model->bodies[job->body];
  const sn_carried* point = &job->model->contact.skins[job->body].points[p];
  uint32_t count = 0;
  for (int k = 0; k < 8; ++k) {
    size_t node = point->nodes[k];
    if (point->weights[k] == 0 || job->model->held[node] || job->state->stuck[node]) continue;
    sn_vec3 rest = sn_octree_node_place(&body->tree, (uint32_t)(node - body->begin / 3));
    sn_vec3 place = sn_add(rest, sn_load3(job->u_before + 3 * node));
    sn_store3(u + 3 * node, sn_sub(sn_obstacle_carry(obstacle_of(job), place), rest));
    job->state->stuck[node] = 1;
    count++;
  }
  return count;
}

static uint32_t stick_what_went_through(const collider_job* job, sn_pool* pool, double* u) {
  const sn_skin* skin = &job->model->contact.skins[job->body];
  uint32_t count = 0;
  // Where some has to be carried along all straight ways count: what is left behind would be torn off.
  sn_contacts_find_round(job, job->state->stuck_count == 0);
  sn_parallel_for(pool, skin->count, 256, find_through, (void*)job);
  for (uint32_t p = 0; p < skin->count; ++p) {
    if (job->found[p]) count += stick(job, p, u);
  }
  sn_parallel_for(pool, skin->facet_count, 256, find_facets_through, (void*)job);
  for (uint32_t f = 0; f < skin->facet_count; ++f) {
    for (int i = 0; i < 3 && job->found[f]; ++i) count += stick(job, skin->facets[3 * f + i], u);
  }
  return count;
}

// Has anything that touches gone far against what it touches?
static bool is_fast(const sn_model* model, const sn_contact_state* state, const double* u) {
  for (uint32_t i = 0; i < state->set.count; ++i) {
    const sn_contact* c = &state->set.contacts[i];
    if (c->against_flesh) continue;
    sn_vec3 carried = sn_add(sn_contact_start(state, c), c->drift);
    if (sn_distance(sn_contact_place(c, u), carried) > FAR * model->bodies[c->body].tree.cell) {
      return true;
    }
  }
  return false;
}

bool sn_contacts_rescue(const sn_model* model, sn_state* whole) {
  sn_contact_state* state = &whole->contact;
  const sn_scene* scene = model->scene;
  if (!model->contact.any) return false;
  if (!whole->still && !is_fast(model, state, whole->u)) return false;
  double start = sn_seconds();
  memset(state->stuck, 0, model->unknown_count / 3);
  uint32_t last = 0;
  do {
    last = 0;
    sn_contacts_update_poses(model, state, whole->pool, whole->u);
    for (uint32_t b = 0; b < model->body_count; ++b) {
      for (uint32_t c = 0; c < scene->collider_count; ++c) {
        const sn_solid* solid = state->obstacles[c].solid;
        if (solid->kind == SN_SOLID_PLANE || sn_solid_is_sheet(solid)) continue;
        if (sn_contact_is_ignored(scene, c, scene->collider_count + b)) continue;
        collider_job job = {model,    state,           b,           c,
                            whole->u, whole->u_before, state->hits, state->found};
        last += stick_what_went_through(&job, whole->pool, whole->u);
      }
    }
    state->stuck_count += last;
  } while (last > 0);  // no node sticks twice
  state->spent += sn_seconds() - start;
  return state->stuck_count > 0;
}
