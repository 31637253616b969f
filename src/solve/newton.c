// Each step solves K d = -g by truncated CG. The exact Hessian comes first: near a solution it
// converges fast. Where it shows negative curvature CG stops. With a strong preconditioner
// what it has by then is a good step; else the step is solved again with the definite Hessian. Either
// way d points downhill.
#include "solve/newton.h"

#include <math.h>

#include "solve/vector.h"

// Sufficient decrease: this share of what the slope promises.
#define ARMIJO 1e-4
// Energies are sums of many terms; differences below this share of them are round-off.
#define ENERGY_ROUND_OFF 1e-13
#define MIN_STEP 1e-12
#define MAX_STEP 1024.0

sn_status sn_newton_work_create(size_t unknown_count, int max_steps, sn_arena* arena,
                                sn_newton_work* work, sn_error* err) {
  double** vectors[] = {&work->gradient,       &work->step,       &work->trial,
                        &work->trial_gradient, &work->scratch,    &work->cg.residual,
                        &work->cg.direction,   &work->cg.product, &work->cg.preconditioned};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    SN_TRY(SN_ARENA_NEW(arena, unknown_count, vectors[i], err));
  }
  return SN_ARENA_NEW(arena, (size_t)max_steps, &work->krylov, err);
}

typedef struct newton {
  const sn_problem* problem;
  sn_pool* pool;
  const sn_newton_opts* opts;
  sn_newton_work* work;
  double* u;
  double energy;     // at u
  double magnitude;  // sum of |energies| at u
  double forces;     // size of the forces in play at u
} newton;

static void evaluate_gradient(newton* n) {
  n->forces = sn_problem_gradient(n->problem, n->pool, n->u, n->work->gradient, n->work->scratch);
}

static double residual(const newton* n) {
  double norm =
      sqrt(sn_vector_dot(n->pool, n->problem->unknown_count, n->work->gradient, n->work->gradient));
  double scale = n->forces + n->problem->force_scale;
  return norm == 0 ? 0 : norm / scale;
}

// K d = -g with one kind of Hessian. False if negative curvature was met.
static bool solve_with(newton* n, sn_hessian kind, int* iterations) {
  size_t count = n->problem->unknown_count;
  sn_newton_work* work = n->work;
  sn_cg_opts opts = {.kind = kind,
                     .preconditioner = n->opts->preconditioner,
                     .max = n->opts->krylov_max,
                     .tolerance = n->opts->krylov_tolerance};
  sn_vector_fill(n->pool, count, 0, work->scratch);
  sn_vector_add(n->pool, count, -1, work->gradient, work->scratch);
  sn_cg_result result = (n->opts->stationary ? sn_stationary_solve : sn_cg_solve)(
      n->problem, n->pool, &opts, &work->cg, work->scratch, work->step);
  *iterations += result.iterations;
  return result.stop != SN_CG_NEGATIVE;
}

static void move_trial(newton* n, double t) {
  sn_vector_copy(n->pool, n->problem->unknown_count, n->u, n->work->trial);
  sn_vector_add(n->pool, n->problem->unknown_count, t, n->work->step, n->work->trial);
}

static double trial_energy(newton* n, double t) {
  move_trial(n, t);
  return sn_problem_energy(n->problem, n->pool, n->work->trial, NULL);
}

static double trial_slope(newton* n) {
  sn_problem_gradient(n->problem, n->pool, n->work->trial, n->work->trial_gradient,
                      n->work->scratch);
  return sn_vector_dot(n->pool, n->problem->unknown_count, n->work->trial_gradient, n->work->step);
}

// At round-off energies say nothing any more; the slope still does. A step is good if it brings the
// slope along it closer to zero.
static double search_by_slope(newton* n, double slope) {
  for (double t = 1; t > 1e-3; t /= 2) {
    double energy = trial_energy(n, t);
    if (!(energy <= n->energy + ENERGY_ROUND_OFF * n->magnitude)) continue;
    if (fabs(trial_slope(n)) < fabs(slope)) return t;
  }
  return 0;
}

// While doubling the step keeps lowering the energy by more than the slope's share, go on.
static double extend(newton* n, double t, double* energy) {
  while (2 * t <= MAX_STEP) {
    double further = trial_energy(n, 2 * t);
    if (!(further < *energy)) break;
    t *= 2;
    *energy = further;
  }
  return t;
}

// The length t of a step u + t d that lowers the energy, or 0.
static double search(newton* n, double slope) {
  if (-slope <= ENERGY_ROUND_OFF * n->magnitude) return search_by_slope(n, slope);
  double t = 1;
  while (t >= MIN_STEP) {
    double energy = trial_energy(n, t);
    if (energy <= n->energy + ARMIJO * t * slope) {
      // A model that promised far too little (collapsed cells) is worth following further.
      if (t == 1 && energy < n->energy + 0.9 * slope) t = extend(n, t, &energy);
      return t;
    }
    // Minimum of the parabola through energy, slope and the energy found; within a tenth and a
    // half.
    double fit = isfinite(energy) ? -slope * t * t / (2 * (energy - n->energy - slope * t)) : 0;
    t = fit > 0.5 * t ? 0.5 * t : fit < 0.1 * t ? 0.1 * t : fit;
  }
  return 0;
}

// Take the step d if it leads downhill. False if it does not.
static bool take_step(newton* n) {
  size_t count = n->problem->unknown_count;
  double slope = sn_vector_dot(n->pool, count, n->work->gradient, n->work->step);
  if (!(slope < 0)) return false;
  double t = search(n, slope);
  if (t == 0) return false;
  move_trial(n, t);
  sn_vector_copy(n->pool, count, n->work->trial, n->u);
  return true;
}

static bool newton_step(newton* n, bool first, int* iterations) {
  const sn_preconditioner* m = n->opts->preconditioner;
  sn_problem_linearise(n->problem, n->pool, n->u);
  if (m) m->update(m->ctx, n->pool, n->u, first);
  if (!n->opts->stationary) {
    bool definite = solve_with(n, SN_HESSIAN_EXACT, iterations);
    if ((definite || (m && m->strong)) && take_step(n)) return true;
  }
  solve_with(n, SN_HESSIAN_DEFINITE, iterations);
  return take_step(n);
}

sn_newton_result sn_newton_solve(const sn_problem* problem, sn_pool* pool,
                                 const sn_newton_opts* opts, sn_newton_work* work, double* u) {
  newton n = {.problem = problem, .pool = pool, .opts = opts, .work = work, .u = u};
  sn_newton_result result = {.stop = SN_NEWTON_MAX};
  for (;;) {
    n.energy = sn_problem_energy(problem, pool, u, &n.magnitude);
    evaluate_gradient(&n);
    result.residual = residual(&n);
    result.energy = n.energy;
    if (result.residual <= opts->tolerance) {
      result.stop = SN_NEWTON_CONVERGED;
      break;
    }
    if (result.steps == opts->max) break;
    work->krylov[result.steps] = 0;
    if (!newton_step(&n, result.steps == 0, &work->krylov[result.steps])) {
      result.stop = SN_NEWTON_STALLED;
      break;
    }
    result.steps++;
  }
  return result;
}
