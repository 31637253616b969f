#include "body/body_terms.h"

#include "math/vec.h"

sn_status sn_body_work_create(const sn_body* body, sn_arena* arena, sn_body_work* work,
                              sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, body->tree.cell_count, &work->flesh.tangents, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)body->chunks.slot_count, &work->flesh.slots, err));
  SN_TRY(SN_ARENA_NEW(arena, body->tie_count, &work->tie_targets, err));
  return SN_ARENA_NEW(arena, 3 * (size_t)body->tree.node_count, &work->forces, err);
}

static const sn_body* body_of(const sn_term* term) { return term->model; }
static sn_body_work* work_of(const sn_term* term) { return term->work; }

// Flesh: the energy of the cells.

static double flesh_energy(const sn_term* term, sn_pool* pool, const double* u) {
  return sn_flesh_energy(&body_of(term)->flesh, pool, u + term->begin[0]);
}

static void flesh_gradient(const sn_term* term, sn_pool* pool, const double* u, double* g) {
  sn_flesh_gradient(&body_of(term)->flesh, pool, &work_of(term)->flesh, u + term->begin[0],
                    g + term->begin[0]);
}

static void flesh_linearise(const sn_term* term, sn_pool* pool, const double* u) {
  sn_flesh_linearise(&body_of(term)->flesh, pool, &work_of(term)->flesh, u + term->begin[0]);
}

static void flesh_apply(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                        double* y) {
  sn_flesh_apply(&body_of(term)->flesh, pool, &work_of(term)->flesh, kind, p + term->begin[0],
                 y + term->begin[0]);
}

static void flesh_diagonal(const sn_term* term, sn_pool* pool, double* d) {
  sn_flesh_diagonal(&body_of(term)->flesh, pool, &work_of(term)->flesh, SN_HESSIAN_DEFINITE,
                    d + term->begin[0]);
}

static const sn_term_ops FLESH = {"flesh",         flesh_energy, flesh_gradient,
                                  flesh_linearise, flesh_apply,  flesh_diagonal};

// Ties: E = 1/2 sum k |u - target|^2. Few enough for one thread.

static double ties_energy(const sn_term* term, sn_pool* pool, const double* u) {
  const sn_body* body = body_of(term);
  double sum = 0;
  (void)pool;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    const sn_tie* tie = &body->ties[t];
    sn_vec3 off =
        sn_sub(sn_load3(u + term->begin[0] + 3 * (size_t)tie->node), work_of(term)->tie_targets[t]);
    sum += 0.5 * tie->stiffness * sn_dot(off, off);
  }
  return sum;
}

static void ties_gradient(const sn_term* term, sn_pool* pool, const double* u, double* g) {
  const sn_body* body = body_of(term);
  (void)pool;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    const sn_tie* tie = &body->ties[t];
    size_t at = term->begin[0] + 3 * (size_t)tie->node;
    sn_vec3 off = sn_sub(sn_load3(u + at), work_of(term)->tie_targets[t]);
    sn_store3(g + at, sn_madd(sn_load3(g + at), tie->stiffness, off));
  }
}

static void ties_apply(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                       double* y) {
  const sn_body* body = body_of(term);
  (void)pool;
  (void)kind;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    size_t at = term->begin[0] + 3 * (size_t)body->ties[t].node;
    sn_store3(y + at, sn_madd(sn_load3(y + at), body->ties[t].stiffness, sn_load3(p + at)));
  }
}

static void ties_diagonal(const sn_term* term, sn_pool* pool, double* d) {
  const sn_body* body = body_of(term);
  (void)pool;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    double k = body->ties[t].stiffness;
    size_t at = term->begin[0] + 3 * (size_t)body->ties[t].node;
    sn_store3(d + at, sn_add(sn_load3(d + at), sn_v3(k, k, k)));
  }
}

static const sn_term_ops TIES = {"ties", ties_energy, ties_gradient,
                                 NULL,   ties_apply,  ties_diagonal};

// Loads: E = -f.u, so no stiffness.

typedef struct loads_job {
  const double* forces;
  const double* u;
  double* g;
} loads_job;

static double sum_loads(void* ctx, size_t begin, size_t end) {
  const loads_job* job = ctx;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum -= job->forces[i] * job->u[i];
  return sum;
}

static double loads_energy(const sn_term* term, sn_pool* pool, const double* u) {
  loads_job job = {.forces = work_of(term)->forces, .u = u + term->begin[0]};
  return sn_parallel_sum(pool, 3 * (size_t)body_of(term)->tree.node_count, 4096, sum_loads, &job);
}

static void add_loads(void* ctx, size_t begin, size_t end) {
  const loads_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->g[i] -= job->forces[i];
}

static void loads_gradient(const sn_term* term, sn_pool* pool, const double* u, double* g) {
  (void)u;
  loads_job job = {.forces = work_of(term)->forces, .g = g + term->begin[0]};
  sn_parallel_for(pool, 3 * (size_t)body_of(term)->tree.node_count, 4096, add_loads, &job);
}

static const sn_term_ops LOADS = {"loads", loads_energy, loads_gradient, NULL, NULL, NULL};

void sn_body_make_terms(const sn_body* body, sn_body_work* work, sn_term terms[SN_BODY_TERMS]) {
  const sn_term_ops* ops[SN_BODY_TERMS] = {&FLESH, &TIES, &LOADS};
  for (int t = 0; t < SN_BODY_TERMS; ++t) {
    terms[t] = (sn_term){.ops = ops[t], .model = body, .work = work, .begin = {body->begin, 0}};
    terms[t].on_all_levels = ops[t] == &FLESH;
  }
}
