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
  const float* r = c->work->residual;
  if (m) return m->apply(m->ctx, c->pool, r, c->work->preconditioned);
  sn_vector_scale_add_f(c->pool, c->n, r, 0, c->work->preconditioned);
  return sn_vector_dot_f(c->pool, c->n, r, r);
}

// z that M is sure of, if there is one
static bool settle(const cg* c) {
  const sn_preconditioner* m = c->opts->preconditioner;
  return m && m->settle && m->settle(m->ctx, c->pool, c->work->residual, c->work->preconditioned);
}

static double norm(const cg* c, const double* x) {
  return sqrt(sn_vector_dot(c->pool, c->n, x, x));
}

// r = scale b - K x in double precision, then rounded; returns |r|. The direction and its product are lost.
static double true_residual(const cg* c, double scale, const double* b, const double* x) {
  double* r = c->work->true_residual;
  sn_problem_apply_d(c->problem, c->pool, c->opts->kind, x, r);
  sn_vector_combine(c->pool, c->n, scale, b, -1, r);
  sn_vector_narrow(c->pool, c->n, 1, r, c->work->residual);
  return norm(c, r);
}

// x and the direction p in the norm of M, without a product: with p = z + beta p, what CG knows is enough
// (Steihaug 1983).
typedef struct reach {
  double xx, xp, pp;
} reach;

static void turn(reach* m, double beta, double zr) {
  m->xp *= beta;
  m->pp = zr + beta * beta * m->pp;
}

static void go(reach* m, double step) {
  m->xx += step * (2 * m->xp + step * m->pp);
  m->xp += step * m->pp;
}

// How far along p the edge is.
static double find_edge(const reach* m, double radius) {
  double room = fmax(0, radius * radius - m->xx);
  return (sqrt(m->xp * m->xp + m->pp * room) - m->xp) / m->pp;
}

// The system is solved for b / |b|, so that single precision holds forces of any size.
sn_cg_result sn_cg_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                         const sn_cg_work* work, const double* b, double* x) {
  cg c = {problem, pool, opts, work, problem->unknown_count};
  float *p = work->direction, *q = work->product, *z = work->preconditioned;
  sn_cg_result result = {.residual = 1, .stop = SN_CG_MAX};
  int weakened = 0;
  double size = opts->size > 0 ? opts->size : norm(&c, b), zr_before = 0;
  double radius = opts->radius / size;
  reach m = {0};
  sn_vector_fill(pool, c.n, 0, x);
  if (size == 0) return (sn_cg_result){.stop = SN_CG_CONVERGED};
  sn_vector_narrow(pool, c.n, 1 / size, b, work->residual);  // r = b - K 0
  if (settle(&c)) {
    sn_problem_apply_f(problem, pool, opts->kind, z, q);
    sn_vector_advance(pool, c.n, 1, z, q, x, work->residual);
  }

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
    double beta = zr_before > 0 ? zr / zr_before : 0;
    sn_vector_scale_add_f(pool, c.n, z, beta, p);
    turn(&m, beta, zr);
    zr_before = zr;

    // alpha = z.r / p.Kp,  x += alpha p,  r -= alpha K p
    sn_problem_apply_f(problem, pool, opts->kind, p, q);
    double curvature = sn_vector_dot_f(pool, c.n, p, q);
    double alpha = zr / curvature, edge = radius > 0 ? find_edge(&m, radius) : INFINITY;
    if (isfinite(curvature) && isfinite(edge) && !(curvature > 0 && alpha < edge)) {
      sn_vector_add_f(pool, c.n, edge, p, x);
      go(&m, edge);
      result.gain += edge * zr - 0.5 * edge * edge * curvature;
      result.stop = SN_CG_EDGE;
      break;
    }
    if (!(curvature > 0)) {
      // A direction that is not finite (a zero on the diagonal) is none.
      if (result.iterations == 0 && isfinite(curvature)) sn_vector_add_f(pool, c.n, 1, p, x);
      result.stop = SN_CG_NEGATIVE;
      break;
    }
    result.residual = sqrt(sn_vector_advance(pool, c.n, alpha, p, q, x, work->residual));
    go(&m, alpha);
    result.gain += 0.5 * alpha * zr;
    result.iterations++;
    if (opts->watch) opts->watch(opts->watch_ctx, result.iterations, size, x);
    if (result.residual > opts->tolerance) continue;
    if (!opts->unverified) {
      // The recursion says so; the true residual decides.
      result.residual = true_residual(&c, 1 / size, b, x);
      zr_before = 0;
      if (result.residual > 1.1 * opts->tolerance) continue;
    }
    result.stop = SN_CG_CONVERGED;
    break;
  }
  if (result.stop != SN_CG_CONVERGED && !opts->unverified) {
    result.residual = true_residual(&c, 1 / size, b, x);
  }
  sn_vector_scale(pool, c.n, size, x);
  result.length = size * sqrt(m.xx);
  result.gain *= size * size;
  return result;
}

sn_cg_result sn_stationary_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                                 const sn_cg_work* work, const double* b, double* x) {
  cg c = {problem, pool, opts, work, problem->unknown_count};
  sn_cg_result result = {.residual = 1, .stop = SN_CG_MAX};
  sn_vector_fill(pool, c.n, 0, x);
  double size = norm(&c, b);
  if (size == 0) return (sn_cg_result){.stop = SN_CG_CONVERGED};
  true_residual(&c, 1 / size, b, x);
  while (result.iterations < opts->max) {
    precondition(&c);
    sn_vector_add_f(pool, c.n, 1, work->preconditioned, x);
    result.iterations++;
    if (opts->watch) opts->watch(opts->watch_ctx, result.iterations, size, x);
    result.residual = true_residual(&c, 1 / size, b, x);
    if (result.residual > opts->tolerance) continue;
    result.stop = SN_CG_CONVERGED;
    break;
  }
  sn_vector_scale(pool, c.n, size, x);
  return result;
}
