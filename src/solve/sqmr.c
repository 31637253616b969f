#include "solve/sqmr.h"

#include <math.h>

#include "solve/vector.h"

typedef struct sqmr {
  const sn_problem* problem;
  sn_pool* pool;
  const sn_cg_opts* opts;
  const sn_minres_work* v;
  float *q, *d;  // directions of the recursion and of the solution
  size_t n, unknowns;
  double rho, tau, theta;
  double target;  // of the recursion
} sqmr;

// z = M^-1 r; returns z.r
static double precondition(const sqmr* m) {
  const sn_preconditioner* p = m->opts->preconditioner;
  const double* r = m->v->now;
  float *narrow = m->v->directions[2],
        *z = m->v->preconditioned;  // there is no third direction here
  size_t from = p ? m->unknowns : 0;
  if (p) {
    sn_vector_narrow(m->pool, m->unknowns, 1, r, narrow);
    p->apply(p->ctx, m->pool, narrow, z);
  }
  sn_vector_narrow(m->pool, m->n - from, 1, r + from, z + from);
  return sn_vector_dot_df(m->pool, m->n, r, m->v->preconditioned);
}

typedef struct direction_job {
  float keep, take;
  const float* q;
  float* d;
  double* x;
} direction_job;

// d = keep d + take q,  x += d
static void advance(void* ctx, size_t begin, size_t end) {
  const direction_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    float d = job->keep * job->d[i] + job->take * job->q[i];
    job->d[i] = d;
    job->x[i] += (double)d;
  }
}

// One iteration; false where it cannot go on.
static bool iterate(sqmr* m) {
  const sn_minres_work* v = m->v;
  sn_pressures_apply_mixed_f(m->problem, m->pool, m->opts->kind, m->q, m->q + m->unknowns,
                             v->product, v->product + m->unknowns);
  double sigma = sn_vector_dot_f(m->pool, m->n, m->q, v->product);
  if (sigma == 0 || m->rho == 0) return false;
  double alpha = m->rho / sigma;
  sn_vector_add_f(m->pool, m->n, -alpha, v->product, v->now);
  double theta = sqrt(sn_vector_dot(m->pool, m->n, v->now, v->now)) / m->tau;
  double c2 = 1 / (1 + theta * theta);
  direction_job job = {(float)(c2 * m->theta * m->theta), (float)(c2 * alpha), m->q, m->d,
                       v->solution};
  sn_parallel_for(m->pool, m->n, 6144, advance, &job);
  m->tau *= theta * sqrt(c2);
  m->theta = theta;
  double rho = precondition(m);
  sn_vector_scale_add_f(m->pool, m->n, v->preconditioned, rho / m->rho, m->q);
  m->rho = rho;
  return isfinite(rho);
}

static double norm(const sqmr* m, const double* x) {
  return sqrt(sn_vector_dot(m->pool, m->unknowns, x, x));
}

// Does the solution point downhill, and does the quadratic model curve upwards along it?
static bool is_sound(const sqmr* m, const double* b, const double* x) {
  if (!(sn_vector_dot(m->pool, m->unknowns, b, x) > 0)) return false;
  if (m->opts->kind == SN_HESSIAN_DEFINITE) return true;
  sn_vector_narrow(m->pool, m->unknowns, 1, x, m->v->preconditioned);
  sn_problem_apply_f(m->problem, m->pool, m->opts->kind, m->v->preconditioned, m->v->product);
  return sn_vector_dot_f(m->pool, m->unknowns, m->v->preconditioned, m->v->product) > 0;
}

// Start the recursion from the residual in `now`, of the size tau.
static void start(sqmr* m, double tau) {
  sn_vector_fill_f(m->pool, m->n, 0, m->d);
  m->tau = tau;
  m->theta = 0;
  m->rho = precondition(m);
  sn_vector_scale_add_f(m->pool, m->n, m->v->preconditioned, 0, m->q);
}

// now = (scale b, 0) - S x in double precision; returns its size
static double mixed_residual(const sqmr* m, double scale, const double* b) {
  double* r = m->v->now;
  sn_pressures_apply_mixed_d(m->problem, m->pool, m->opts->kind, m->v->solution,
                             m->v->solution + m->unknowns, r, r + m->unknowns);
  sn_vector_combine(m->pool, m->unknowns, scale, b, -1, r);
  sn_vector_scale(m->pool, m->n - m->unknowns, -1, r + m->unknowns);
  return sqrt(sn_vector_dot(m->pool, m->n, r, r));
}

// |scale b - K x| in double precision
static double condensed_residual(const sqmr* m, double scale, const double* b) {
  double* r = m->v->before;
  sn_problem_apply_d(m->problem, m->pool, m->opts->kind, m->v->solution, r);
  sn_vector_combine(m->pool, m->unknowns, scale, b, -1, r);
  return norm(m, r);
}

static void run(sqmr* m, double size, sn_cg_result* result) {
  bool going = true;
  while (going && result->iterations < m->opts->max && m->tau > m->target) {
    going = iterate(m);
    result->iterations++;
    if (m->opts->watch) {
      m->opts->watch(m->opts->watch_ctx, result->iterations, size, m->v->solution);
    }
  }
}

sn_cg_result sn_sqmr_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                           const sn_minres_work* work, const double* b, double* x) {
  sqmr m = {.problem = problem, .pool = pool, .opts = opts, .v = work};
  m.q = work->directions[0];
  m.d = work->directions[1];
  m.unknowns = problem->unknown_count;
  m.n = m.unknowns + problem->pressure_count;
  m.target = opts->tolerance;
  sn_cg_result result = {.residual = 1, .stop = SN_CG_MAX};
  double size = norm(&m, b), left = 1;
  sn_vector_fill(pool, m.unknowns, 0, x);
  if (size == 0) return (sn_cg_result){.stop = SN_CG_CONVERGED};
  sn_vector_fill(pool, m.n, 0, work->solution);
  sn_vector_fill(pool, m.n, 0, work->now);
  sn_vector_add(pool, m.unknowns, 1 / size, b, work->now);

  while (result.iterations < opts->max) {
    start(&m, left);
    run(&m, size, &result);
    // The recursion says so; the true residual decides.
    result.residual = opts->unverified ? m.tau : condensed_residual(&m, 1 / size, b);
    if (result.residual <= 1.1 * opts->tolerance) result.stop = SN_CG_CONVERGED;
    if (opts->unverified || result.stop == SN_CG_CONVERGED) break;
    m.target *= fmax(0.1, fmin(0.7, 0.7 * opts->tolerance / result.residual));
    left = mixed_residual(&m, 1 / size, b);
  }
  sn_vector_copy(pool, m.unknowns, work->solution, x);
  sn_vector_scale(pool, m.unknowns, size, x);
  if (!is_sound(&m, b, x)) result.stop = SN_CG_NEGATIVE;
  return result;
}
