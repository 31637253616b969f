#include "body/body_terms.h"

#include <math.h>

#include "math/vec.h"
#include "solve/vector.h"

sn_status sn_body_work_create(const sn_body* body, sn_arena* arena, sn_body_work* work,
                              sn_error* err) {
  SN_TRY(sn_flesh_work_create(&body->flesh, false, arena, &work->flesh, err));
  SN_TRY(SN_ARENA_NEW(arena, body->tie_count, &work->tie_targets, err));
  SN_TRY(sn_muscle_work_create(&body->muscles, arena, &work->muscles, err));
  if (body->load_count == 0) return SN_OK;
  return SN_ARENA_NEW(arena, 3 * (size_t)body->tree.node_count, &work->forces, err);
}

static const sn_body* body_of(const sn_term* term) { return term->model; }
static sn_body_work* work_of(const sn_term* term) { return term->work; }

// Flesh: the energy of the cells, taken a little ahead of time: E(u + c (u - base)) / (1 + c). Its
// gradient is the force there, that of Kelvin and Voigt: elastic force + damping x its rate.

typedef struct ahead_job {
  const sn_body_stride* stride;
  const double* u;
} ahead_job;

static void find_ahead(void* ctx, size_t begin, size_t end) {
  const ahead_job* job = ctx;
  double c = job->stride->ahead;
  for (size_t i = begin; i < end; ++i) {
    job->stride->ahead_u[i] = job->u[i] + c * (job->u[i] - job->stride->base[i]);
  }
}

static const double* look_ahead(const sn_term* term, sn_pool* pool, const double* u) {
  ahead_job job = {&work_of(term)->stride, u + term->begin[0]};
  if (job.stride->ahead == 0) return job.u;
  sn_parallel_for(pool, 3 * (size_t)body_of(term)->tree.node_count, 4096, find_ahead, &job);
  return job.stride->ahead_u;
}

static double flesh_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                             double* forces) {
  const sn_body* body = body_of(term);
  sn_body_work* work = work_of(term);
  double* own = g ? g + term->begin[0] : NULL;
  double energy =
      sn_flesh_evaluate(&body->flesh, pool, &work->flesh, look_ahead(term, pool, u), own);
  if (forces) *forces = sqrt(sn_vector_dot(pool, 3 * (size_t)body->tree.node_count, own, own));
  return energy / (1 + work->stride.ahead);
}

static void flesh_linearise(const sn_term* term, sn_pool* pool, const double* u) {
  sn_flesh_linearise(&body_of(term)->flesh, pool, &work_of(term)->flesh, look_ahead(term, pool, u));
}

static void flesh_apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                          double* y) {
  sn_flesh_apply_d(&body_of(term)->flesh, pool, &work_of(term)->flesh, kind, p + term->begin[0],
                   y + term->begin[0]);
}

static void flesh_multiply_f(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p,
                             float* y) {
  sn_addends_f addends = {.diagonal = term->springs};
  sn_flesh_multiply(&body_of(term)->flesh, pool, &work_of(term)->flesh, kind, &addends,
                    p + term->begin[0], y + term->begin[0]);
}

static void flesh_diagonal(const sn_term* term, sn_pool* pool, double* d) {
  sn_flesh_diagonal_d(&body_of(term)->flesh, pool, &work_of(term)->flesh, SN_HESSIAN_DEFINITE,
                      d + term->begin[0]);
}

static void flesh_sharpen(const sn_term* term, bool on) {
  work_of(term)->flesh.sharp = on && body_of(term)->flesh.cut;
}

static const sn_term_ops FLESH = {.sharpen = flesh_sharpen,
                                  .name = "flesh",
                                  .evaluate = flesh_evaluate,
                                  .linearise = flesh_linearise,
                                  .apply_d = flesh_apply_d,
                                  .multiply_f = flesh_multiply_f,
                                  .diagonal = flesh_diagonal};

// Ties: E = 1/2 sum k |u - target|^2. Few enough for one thread.

static double ties_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                            double* forces) {
  const sn_body* body = body_of(term);
  double sum = 0, squares = 0;
  (void)pool;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    const sn_tie* tie = &body->ties[t];
    size_t at = term->begin[0] + 3 * (size_t)tie->node;
    sn_vec3 off = sn_sub(sn_load3(u + at), work_of(term)->tie_targets[t]);
    sum += 0.5 * tie->stiffness * sn_dot(off, off);
    squares += tie->stiffness * tie->stiffness * sn_dot(off, off);
    if (g) sn_store3(g + at, sn_madd(sn_load3(g + at), tie->stiffness, off));
  }
  if (forces) *forces = sqrt(squares);
  return sum;
}

static void ties_apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                         double* y) {
  const sn_body* body = body_of(term);
  (void)pool;
  (void)kind;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    size_t at = term->begin[0] + 3 * (size_t)body->ties[t].node;
    for (int i = 0; i < 3; ++i) y[at + i] += body->ties[t].stiffness * p[at + i];
  }
}

static void ties_apply_f(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p,
                         float* y) {
  const sn_body* body = body_of(term);
  (void)pool;
  (void)kind;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    size_t at = term->begin[0] + 3 * (size_t)body->ties[t].node;
    for (int i = 0; i < 3; ++i) y[at + i] += (float)body->ties[t].stiffness * p[at + i];
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

static const sn_term_ops TIES = {.name = "ties",
                                 .evaluate = ties_evaluate,
                                 .apply_d = ties_apply_d,
                                 .apply_f = ties_apply_f,
                                 .diagonal = ties_diagonal};

// Loads: E = -f.u, so no stiffness.

#define NODE_BLOCK 2048

typedef struct loads_job {
  const sn_body* body;
  const sn_body_work* work;
  const double* u;
  double* g;
} loads_job;

static inline sn_vec3 load_at(const loads_job* job, size_t node) {
  const sn_body* body = job->body;
  if (job->work->forces) return sn_load3(job->work->forces + 3 * node);
  bool floats = job->work->free_float && !body->part_is_held[sn_body_part(body, (uint32_t)node)];
  return sn_scale(floats ? 0 : body->node_mass[node], job->work->gravity);
}

static double sum_loads(void* ctx, size_t begin, size_t end) {
  const loads_job* job = ctx;
  double sum = 0;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 load = load_at(job, n);
    double* g = job->g + 3 * n;
    sum -= sn_dot(load, sn_load3(job->u + 3 * n));
    if (job->g) sn_store3(g, sn_sub(sn_load3(g), load));
  }
  return sum;
}

static double sum_squares(void* ctx, size_t begin, size_t end) {
  double sum = 0;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 load = load_at(ctx, n);
    sum += sn_dot(load, load);
  }
  return sum;
}

static double loads_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                             double* forces) {
  loads_job job = {body_of(term), work_of(term), u + term->begin[0], g ? g + term->begin[0] : NULL};
  size_t nodes = job.body->tree.node_count;
  if (forces) *forces = sqrt(sn_parallel_sum(pool, nodes, NODE_BLOCK, sum_squares, &job));
  return sn_parallel_sum(pool, nodes, NODE_BLOCK, sum_loads, &job);
}

static const sn_term_ops LOADS = {.name = "loads", .evaluate = loads_evaluate};

// Inertia: E = 1/2 sum w m |u - target|^2.

typedef struct inertia_job {
  const double* mass;
  double weight;
  const double *target, *in_d;
  double* out_d;
  const float* in_f;
  float* out_f;
} inertia_job;

static inertia_job inertia_of(const sn_term* term) {
  const sn_body_stride* stride = &work_of(term)->stride;
  return (inertia_job){
      .mass = body_of(term)->node_mass, .weight = stride->inertia, .target = stride->target};
}

static double inertia_energy(void* ctx, size_t begin, size_t end) {
  const inertia_job* job = ctx;
  double sum = 0;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 off = sn_sub(sn_load3(job->in_d + 3 * n), sn_load3(job->target + 3 * n));
    double k = job->weight * job->mass[n];
    sum += 0.5 * k * sn_dot(off, off);
    if (job->out_d) {
      sn_store3(job->out_d + 3 * n, sn_madd(sn_load3(job->out_d + 3 * n), k, off));
    }
  }
  return sum;
}

static double inertia_force2(void* ctx, size_t begin, size_t end) {
  const inertia_job* job = ctx;
  double sum = 0;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 off = sn_sub(sn_load3(job->in_d + 3 * n), sn_load3(job->target + 3 * n));
    double k = job->weight * job->mass[n];
    sum += k * k * sn_dot(off, off);
  }
  return sum;
}

static void inertia_product_d(void* ctx, size_t begin, size_t end) {
  const inertia_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    double k = job->weight * job->mass[n];
    for (size_t i = 3 * n; i < 3 * n + 3; ++i) job->out_d[i] += job->in_d ? k * job->in_d[i] : k;
  }
}

static void inertia_product_f(void* ctx, size_t begin, size_t end) {
  const inertia_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    float k = (float)(job->weight * job->mass[n]);
    for (size_t i = 3 * n; i < 3 * n + 3; ++i) job->out_f[i] += k * job->in_f[i];
  }
}

static double inertia_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                               double* forces) {
  inertia_job job = inertia_of(term);
  size_t nodes = body_of(term)->tree.node_count;
  if (forces) *forces = 0;
  if (job.weight == 0) return 0;
  job.in_d = u + term->begin[0];
  job.out_d = g ? g + term->begin[0] : NULL;
  if (forces) *forces = sqrt(sn_parallel_sum(pool, nodes, NODE_BLOCK, inertia_force2, &job));
  return sn_parallel_sum(pool, nodes, NODE_BLOCK, inertia_energy, &job);
}

static void inertia_apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                            double* y) {
  inertia_job job = inertia_of(term);
  (void)kind;
  if (job.weight == 0) return;
  job.in_d = p + term->begin[0];
  job.out_d = y + term->begin[0];
  sn_parallel_for(pool, body_of(term)->tree.node_count, NODE_BLOCK, inertia_product_d, &job);
}

static void inertia_apply_f(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p,
                            float* y) {
  inertia_job job = inertia_of(term);
  (void)kind;
  if (job.weight == 0) return;
  job.in_f = p + term->begin[0];
  job.out_f = y + term->begin[0];
  sn_parallel_for(pool, body_of(term)->tree.node_count, NODE_BLOCK, inertia_product_f, &job);
}

static void inertia_diagonal(const sn_term* term, sn_pool* pool, double* d) {
  inertia_job job = inertia_of(term);
  if (job.weight == 0) return;
  job.out_d = d + term->begin[0];
  sn_parallel_for(pool, body_of(term)->tree.node_count, NODE_BLOCK, inertia_product_d, &job);
}

static const sn_term_ops INERTIA = {.name = "inertia",
                                    .evaluate = inertia_evaluate,
                                    .apply_d = inertia_apply_d,
                                    .apply_f = inertia_apply_f,
                                    .diagonal = inertia_diagonal};

void sn_body_make_terms(const sn_body* body, sn_body_work* work, sn_term terms[SN_BODY_TERMS]) {
  const sn_term_ops* ops[SN_BODY_TERMS] = {&FLESH, &TIES, &LOADS, &INERTIA, &sn_muscle_term};
  for (int t = 0; t < SN_BODY_TERMS; ++t) {
    terms[t] = (sn_term){.ops = ops[t], .model = body, .work = work, .begin = {body->begin, 0}};
    terms[t].levels = ops[t] == &FLESH ? SN_LEVELS_OWN : SN_LEVELS_DIAGONAL;
  }
  sn_term* muscles = &terms[SN_BODY_TERMS - 1];
  muscles->model = &body->muscles;
  muscles->work = &work->muscles;
  muscles->levels = SN_LEVELS_OWN;
}
