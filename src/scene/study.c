// Convergence of the linear solvers, apart from Newton's method.
#include <math.h>

#include "base/timer.h"
#include "math/random.h"
#include "scene/model.h"
#include "solve/vector.h"

typedef struct study {
  const sn_study_opts* opts;
  const double* start;
  size_t count;
  double largest;  // displacement at the start
} study;

static double largest_of(const study* s, double scale, const double* x) {
  double largest = 0;
  for (size_t i = 0; i < s->count; ++i) {
    double value = fabs(x ? s->start[i] + scale * x[i] : s->start[i]);
    if (value > largest) largest = value;
  }
  return largest;
}

static void watch(void* ctx, int iteration, double scale, const double* x) {
  const study* s = ctx;
  s->opts->watch(s->opts->watch_ctx, iteration, largest_of(s, scale, x) / s->largest);
}

static void set_random(const sn_model* model, const sn_study_opts* opts, double* u) {
  sn_random random = sn_random_seeded(opts->seed);
  for (size_t i = 0; i < model->unknown_count; ++i) {
    double value = opts->amount * sn_random_symmetric(&random);
    u[i] = model->held[i / 3] ? 0 : value;
  }
}

static const sn_preconditioner* choose_preconditioner(sn_state* state, const sn_study_opts* opts,
                                                      sn_preconditioner* jacobi) {
  if (opts->linear == SN_LINEAR_CG) return NULL;
  if (opts->linear != SN_LINEAR_JACOBI_CG) return &state->preconditioner;
  state->jacobi = (sn_jacobi){&state->problem, state->newton.scratch};  // free here
  *jacobi = sn_jacobi_preconditioner(&state->jacobi);
  return jacobi;
}

sn_status sn_state_study(const sn_model* model, sn_state* state, const sn_study_opts* opts,
                         sn_study_result* result, sn_error* err) {
  bool multigrid = opts->linear == SN_LINEAR_MULTIGRID || opts->linear == SN_LINEAR_MULTIGRID_ONLY;
  SN_CHECK(!multigrid || state->multigrid_count > 0, err, SN_ERR_USAGE,
           "study: the scene's solver is not multigrid; expected \"linear\": \"multigrid\"");
  size_t n = model->unknown_count;
  sn_preconditioner jacobi;
  const sn_preconditioner* preconditioner = choose_preconditioner(state, opts, &jacobi);
  double *rest = state->u, *start = state->u_before, *b = state->newton.gradient;
  sn_vector_fill(state->pool, n, 0, rest);
  sn_problem_linearise(&state->problem, state->pool, rest);
  if (preconditioner) preconditioner->update(preconditioner->ctx, state->pool, rest, true);

  // x = start + d with K d = -K start: zero is the solution, x the error.
  set_random(model, opts, start);
  sn_problem_apply_d(&state->problem, state->pool, SN_HESSIAN_DEFINITE, start, b);
  sn_vector_scale(state->pool, n, -1, b);
  study s = {.opts = opts, .start = start, .count = n};
  s.largest = largest_of(&s, 0, NULL);
  sn_cg_opts cg = {.kind = SN_HESSIAN_DEFINITE,
                   .preconditioner = preconditioner,
                   .max = opts->max,
                   .tolerance = opts->tolerance,
                   .watch = opts->watch ? watch : NULL,
                   .watch_ctx = &s};
  sn_cg_work work = state->newton.cg;
  work.residual = state->newton.trial_gradient;
  double begin = sn_seconds();
  sn_cg_result solved =
      (opts->linear == SN_LINEAR_MULTIGRID_ONLY ? sn_stationary_solve : sn_cg_solve)(
          &state->problem, state->pool, &cg, &work, b, state->newton.step);
  *result = (sn_study_result){.iterations = solved.iterations,
                              .seconds = sn_seconds() - begin,
                              .converged = solved.stop == SN_CG_CONVERGED};
  // |K x| / |K start|, from scratch
  double norm = sqrt(sn_vector_dot(state->pool, n, b, b));
  sn_vector_add(state->pool, n, 1, start, state->newton.step);
  sn_problem_apply_d(&state->problem, state->pool, SN_HESSIAN_DEFINITE, state->newton.step,
                     state->newton.trial);
  result->residual =
      sqrt(sn_vector_dot(state->pool, n, state->newton.trial, state->newton.trial)) / norm;
  return SN_OK;
}
