#include "scene/rigid_modes.h"

#include <string.h>

#include "math/vec.h"
#include "solve/cholesky.h"
#include "solve/vector.h"

#define MODES 6
#define NODE_BLOCK 2048

sn_status sn_rigid_modes_create(sn_arena* arena, sn_rigid_modes* modes, sn_error* err) {
  size_t most = MODES * SN_MOST_RIGID;
  *modes = (sn_rigid_modes){0};
  return SN_ARENA_NEW(arena, most * most, &modes->factor, err);
}

static sn_vec3 place_of(const sn_body* body, const double* u, size_t node) {
  return sn_add(sn_octree_node_place(&body->tree, (uint32_t)node),
                sn_load3(u + body->begin + 3 * node));
}

// Velocity of a node in a mode: along an axis, or about it.
static sn_vec3 mode_at(int mode, sn_vec3 arm) {
  sn_vec3 axis = sn_v3(mode % 3 == 0, mode % 3 == 1, mode % 3 == 2);
  return mode < 3 ? axis : sn_cross(axis, arm);
}

typedef struct mode_job {
  const sn_body* body;
  sn_vec3 centre;
  const double* u;
  const float* q;
  float* z;
  double weights[MODES];
  int mode;
} mode_job;

static double sum_moment(void* ctx, size_t begin, size_t end) {
  const mode_job* job = ctx;
  double sum = 0;
  for (size_t n = begin; n < end; ++n) {
    size_t at = job->body->begin + 3 * n;
    sn_vec3 arm = sn_sub(place_of(job->body, job->u, n), job->centre);
    sn_vec3 q = sn_v3(job->q[at], job->q[at + 1], job->q[at + 2]);
    sum += sn_dot(mode_at(job->mode, arm), q);
  }
  return sum;
}

static void add_motion(void* ctx, size_t begin, size_t end) {
  const mode_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    float* z = job->z + job->body->begin + 3 * n;
    sn_vec3 arm = sn_sub(place_of(job->body, job->u, n), job->centre), sum = {0, 0, 0};
    for (int m = 0; m < MODES; ++m) sum = sn_madd(sum, job->weights[m], mode_at(m, arm));
    z[0] += (float)sum.x;
    z[1] += (float)sum.y;
    z[2] += (float)sum.z;
  }
}

static double moment(const mode_job* job, sn_pool* pool) {
  return sn_parallel_sum(pool, job->body->tree.node_count, NODE_BLOCK, sum_moment, (void*)job);
}

static const sn_body* body_of(const sn_body* bodies, uint32_t body_count, const sn_carried* c) {
  uint32_t b = 0;
  while (b + 1 < body_count && bodies[b + 1].begin <= 3 * (size_t)c->nodes[0]) ++b;
  return &bodies[b];
}

static void add_body(sn_rigid_modes* modes, const sn_body* body) {
  for (int i = 0; i < modes->count; ++i) {
    if (modes->bodies[i] == body) return;
  }
  if (modes->count < SN_MOST_RIGID) modes->bodies[modes->count++] = body;
}

static void find_bodies(sn_rigid_modes* modes, const sn_body* bodies, uint32_t body_count,
                        const sn_contact_set* set) {
  modes->count = 0;
  for (uint32_t i = 0; i < set->block_count && body_count > 1; ++i) {
    const sn_contact* c = &set->contacts[set->blocks[i].contact];
    if (!c->against_flesh) continue;
    const sn_body* a = body_of(bodies, body_count, c->carrier);
    const sn_body* b = body_of(bodies, body_count, &c->target);
    if (a == b) continue;
    add_body(modes, a);
    add_body(modes, b);
  }
}

static sn_vec3 centre_of(const sn_body* body, const double* u) {
  sn_vec3 sum = {0, 0, 0};
  for (uint32_t n = 0; n < body->tree.node_count; ++n) sum = sn_add(sum, place_of(body, u, n));
  return sn_scale(1.0 / body->tree.node_count, sum);
}

void sn_rigid_modes_update(sn_rigid_modes* modes, const sn_body* bodies, uint32_t body_count,
                           const sn_contact_set* set, const sn_problem* problem, sn_pool* pool,
                           const double* u, float* p, float* q) {
  find_bodies(modes, bodies, body_count, set);
  int n = MODES * modes->count;
  for (int i = 0; i < modes->count; ++i) modes->centres[i] = centre_of(modes->bodies[i], u);
  for (int j = 0; j < n; ++j) {
    mode_job move = {
        .body = modes->bodies[j / MODES], .centre = modes->centres[j / MODES], .u = u, .z = p};
    move.weights[j % MODES] = 1;
    sn_vector_fill_f(pool, problem->unknown_count, 0, p);
    sn_parallel_for(pool, move.body->tree.node_count, NODE_BLOCK, add_motion, &move);
    sn_vector_mask_f(pool, problem->unknown_count, problem->held, 0, p);
    sn_problem_apply_f(problem, pool, SN_HESSIAN_DEFINITE, p, q);
    for (int i = j; i < n; ++i) {
      mode_job take = {.body = modes->bodies[i / MODES],
                       .centre = modes->centres[i / MODES],
                       .u = u,
                       .q = q,
                       .mode = i % MODES};
      modes->factor[(size_t)i * (size_t)n + (size_t)j] = moment(&take, pool);
    }
  }
  sn_cholesky_factor(n, modes->factor);
}

void sn_rigid_modes_apply(const sn_rigid_modes* modes, sn_pool* pool, const double* u,
                          const float* r, float* z) {
  double x[MODES * SN_MOST_RIGID];
  int n = MODES * modes->count;
  if (n == 0) return;
  for (int i = 0; i < n; ++i) {
    mode_job job = {.body = modes->bodies[i / MODES],
                    .centre = modes->centres[i / MODES],
                    .u = u,
                    .q = r,
                    .mode = i % MODES};
    x[i] = moment(&job, pool);
  }
  sn_cholesky_solve(n, modes->factor, x);
  for (int b = 0; b < modes->count; ++b) {
    mode_job job = {.body = modes->bodies[b], .centre = modes->centres[b], .u = u, .z = z};
    memcpy(job.weights, x + MODES * b, sizeof job.weights);
    sn_parallel_for(pool, job.body->tree.node_count, NODE_BLOCK, add_motion, &job);
  }
}
