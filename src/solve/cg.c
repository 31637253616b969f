#include "solve/cg.h"

#include <math.h>

#include "solve/vector.h"

// z = M^-1 r is never stored: z.r and p = z + beta p are formed from r and the diagonal.
typedef struct precondition_job {
  const double *r, *diagonal;
  double beta;
  double* p;
} precondition_job;

static double dot_preconditioned(void* ctx, size_t begin, size_t end) {
  const precondition_job* job = ctx;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += job->r[i] * job->r[i] / job->diagonal[i];
  return sum;
}

static void turn_direction(void* ctx, size_t begin, size_t end) {
  const precondition_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    job->p[i] = job->r[i] / job->diagonal[i] + job->beta * job->p[i];
  }
}

sn_cg_result sn_cg_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                         const sn_cg_work* work, const double* b, double* x) {
  size_t n = problem->unknown_count;
  double *r = work->residual, *p = work->direction, *q = work->product;
  precondition_job job = {r, opts->diagonal, 0, p};
  sn_cg_result result = {0, 1.0, SN_CG_MAX};

  sn_vector_fill(pool, n, 0, x);
  sn_vector_fill(pool, n, 0, p);
  sn_vector_copy(pool, n, b, r);  // r = b - K 0
  double rr = sn_vector_dot(pool, n, r, r), start = sqrt(rr);
  double zr_before = 0;
  if (start == 0) return (sn_cg_result){0, 0.0, SN_CG_CONVERGED};

  while (result.iterations < opts->max) {
    // z = M^-1 r,  beta = z.r / (z.r)_before,  p = z + beta p
    double zr = opts->diagonal ? sn_parallel_sum(pool, n, 6144, dot_preconditioned, &job) : rr;
    double beta = zr_before > 0 ? zr / zr_before : 0;
    job.beta = beta;
    if (opts->diagonal) {
      sn_parallel_for(pool, n, 6144, turn_direction, &job);
    } else {
      sn_vector_scale_add(pool, n, r, beta, p);
    }
    zr_before = zr;

    // alpha = z.r / p.Kp,  x += alpha p,  r -= alpha K p
    sn_problem_apply(problem, pool, opts->kind, p, q);
    double curvature = sn_vector_dot(pool, n, p, q);
    if (!(curvature > 0)) {
      result.stop = SN_CG_NEGATIVE;
      return result;
    }
    double alpha = zr / curvature;
    sn_vector_add(pool, n, alpha, p, x);
    sn_vector_add(pool, n, -alpha, q, r);
    result.iterations++;
    rr = sn_vector_dot(pool, n, r, r);
    result.residual = sqrt(rr) / start;
    if (result.residual <= opts->tolerance) {
      result.stop = SN_CG_CONVERGED;
      return result;
    }
  }
  return result;
}
