#include "solve/cg.h"

#include <math.h>

#include "solve/vector.h"

// How often an indefinite preconditioner may be made safer in one solve.
#define MAX_WEAKENED 8

typedef struct cg {
  const sn_problem* problem;
  sn_pool* pool;
  const sn_cg_opts* opts;
  const sn_cg_work* work;
  size_t n;
} cg;

// z = M^-1 r; returns z.r
static double precondition(const cg* c) {
  const sn_preconditioner* m = c->opts->preconditioner;
  if (m) {
    m->apply(m->ctx, c->pool, c->work->residual, c->work->preconditioned);
  } else {
    sn_vector_copy(c->pool, c->n, c->work->residual, c->work->preconditioned);
  }
  return sn_vector_dot(c->pool, c->n, c->work->residual, c->work->preconditioned);
}

// r = b - K x; returns |r|
static double true_residual(const cg* c, const double* b, const double* x) {
  double* r = c->work->residual;
  sn_problem_apply(c->problem, c->pool, c->opts->kind, x, c->work->product);
  sn_vector_copy(c->pool, c->n, b, r);
  sn_vector_add(c->pool, c->n, -1, c->work->product, r);
  return sqrt(sn_vector_dot(c->pool, c->n, r, r));
}

sn_cg_result sn_cg_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                         const sn_cg_work* work, const double* b, double* x) {
  cg c = {problem, pool, opts, work, problem->unknown_count};
  double *r = work->residual, *p = work->direction, *q = work->product, *z = work->preconditioned;
  sn_cg_result result = {0, 1.0, SN_CG_MAX};
  int weakened = 0;

  sn_vector_fill(pool, c.n, 0, x);
  sn_vector_copy(pool, c.n, b, r);  // r = b - K 0
  double start = sqrt(sn_vector_dot(pool, c.n, r, r)), zr_before = 0;
  if (start == 0) return (sn_cg_result){0, 0.0, SN_CG_CONVERGED};

  while (result.iterations < opts->max) {
    // z = M^-1 r,  beta = z.r / (z.r)_before,  p = z + beta p
    double zr = precondition(&c);
    if (!(zr > 0)) {
      // Only an indefinite preconditioner does this. Make it safer, and start the directions anew.
      if (!opts->preconditioner || !opts->preconditioner->weaken || ++weakened > MAX_WEAKENED)
        break;
      opts->preconditioner->weaken(opts->preconditioner->ctx);
      zr_before = 0;
      continue;
    }
    if (zr_before > 0) {
      sn_vector_scale_add(pool, c.n, z, zr / zr_before, p);
    } else {
      sn_vector_copy(pool, c.n, z, p);
    }
    zr_before = zr;

    // alpha = z.r / p.Kp,  x += alpha p,  r -= alpha K p
    sn_problem_apply(problem, pool, opts->kind, p, q);
    double curvature = sn_vector_dot(pool, c.n, p, q);
    if (!(curvature > 0)) {
      // A direction that is not finite (a zero on the diagonal) is none.
      if (result.iterations == 0 && isfinite(curvature)) sn_vector_copy(pool, c.n, p, x);
      result.stop = SN_CG_NEGATIVE;
      return result;
    }
    double alpha = zr / curvature;
    sn_vector_add(pool, c.n, alpha, p, x);
    sn_vector_add(pool, c.n, -alpha, q, r);
    result.iterations++;
    if (opts->watch) opts->watch(opts->watch_ctx, result.iterations, x);
    result.residual = sqrt(sn_vector_dot(pool, c.n, r, r)) / start;
    if (result.residual > opts->tolerance) continue;
    // The recursion says so; the true residual decides.
    result.residual = true_residual(&c, b, x) / start;
    if (result.residual <= 1.1 * opts->tolerance) {
      result.stop = SN_CG_CONVERGED;
      return result;
    }
    zr_before = 0;
  }
  return result;
}

sn_cg_result sn_stationary_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                                 const sn_cg_work* work, const double* b, double* x) {
  cg c = {problem, pool, opts, work, problem->unknown_count};
  sn_cg_result result = {0, 1.0, SN_CG_MAX};
  sn_vector_fill(pool, c.n, 0, x);
  double start = true_residual(&c, b, x);
  if (start == 0) return (sn_cg_result){0, 0.0, SN_CG_CONVERGED};
  while (result.iterations < opts->max) {
    precondition(&c);
    sn_vector_add(pool, c.n, 1, work->preconditioned, x);
    result.iterations++;
    if (opts->watch) opts->watch(opts->watch_ctx, result.iterations, x);
    result.residual = true_residual(&c, b, x) / start;
    if (result.residual > opts->tolerance) continue;
    result.stop = SN_CG_CONVERGED;
    break;
  }
  return result;
}
