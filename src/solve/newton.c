// Each step solves K d = g by truncated CG and moves to u - t d. The exact Hessian comes first: near a solution it
// converges fast. Where it shows negative curvature CG stops. Among contacts, with a strong preconditioner, what it
// has by then is a good step; else the step is solved again with the definite Hessian, and so are the next ones
// until things are calmer. Either way -d points downhill. A solve that has taken many of those creeps along a soft
// valley, for which the definite Hessian is too stiff; it goes on with the exact one within a radius.
#include "solve/newton.h"

#include <math.h>

#include "solve/vector.h"

// Sufficient decrease: this share of what the slope promises.
#define ARMIJO 1e-4
// Energies are sums of many terms; differences below this share of them are round-off.
#define ENERGY_ROUND_OFF 1e-13
// and what they may be off by where large parts cancel, as the work of loads on a body that drifts.
#define ENERGY_NOISE 1e-11
// A step is found again where what it did not know costs more than this share of its gain.
#define FORESEEN_SHARE 0.1
#define MOST_FORESEEN 3
#define NEAR_BALANCE 0.05
// Far from it a step need not be solved that well.
#define ROUGHLY 10
#define SHORT_STEP 0.3
#define CALMER 0.3
// A step that leaves more of the gradient than this gets nowhere with simpler products.
#define SLOW 0.3
#define LEAST_CARE 5e-4
// Steps of the definite Hessian after which a solve creeps.
#define CREEPING 40
// Of the gain that the model promised: the share below which a radius is halved, and above which it is doubled.
#define POOR_SHARE 0.5
#define GOOD_SHARE 0.75
// Share of the tolerance that a step aims at.
#define ENOUGH 0.5
// Root mean square of what is wrong with the volumes that counts as a residual of 1.
#define GAP_TOLERANCE 0.1
#define MIN_STEP 1e-12
#define MAX_STEP 1024.0

sn_status sn_newton_work_create(size_t unknown_count, int max_steps, sn_arena* arena,
                                sn_newton_work* work, sn_error* err) {
  double** vectors[] = {&work->gradient, &work->step, &work->trial, &work->trial_gradient};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    SN_TRY(SN_ARENA_RAW(arena, unknown_count, vectors[i], err));
  }
  return SN_ARENA_NEW(arena, (size_t)max_steps, &work->krylov, err);
}

// Steps are found first and tried then: what one needs is free for the other.
sn_cg_work sn_newton_cg_work(size_t unknown_count, const sn_newton_work* work) {
  void *trial = work->trial, *gradient = work->trial_gradient;
  float *direction = trial, *residual = gradient;
  return (sn_cg_work){.direction = direction,
                      .product = direction + unknown_count,
                      .true_residual = trial,
                      .residual = residual,
                      .preconditioned = residual + unknown_count};
}

typedef struct newton {
  const sn_problem* problem;
  sn_pool* pool;
  const sn_newton_opts* opts;
  sn_newton_work* work;
  double* u;
  sn_evaluation at_u, at_trial;
  double norm, forces;  // of the gradient at u, N, and over the forces in play
  double pulled;        // the norm with pulls of what is foreseen
  double residual;      // that or what is wrong with volumes, whichever is larger
  double rough;         // of a gradient at which the exact Hessian was of no use, N
  double length;        // of the last step taken
  sn_cg_result linear;  // of the last linear solve
  int definite_steps;   // taken so far
  double radius;        // of steps of the exact Hessian, in the norm of the preconditioner; 0: any
  sn_problem part;      // the problem with its pressures held
  bool holding;         // the step that is being made holds them
  double care;          // factor on the tolerance of linear solves
} newton;

static double dot(const newton* n, const double* x, const double* y) {
  return sn_vector_dot(n->pool, n->problem->unknown_count, x, y);
}

static double norm(const newton* n) { return sqrt(dot(n, n->work->gradient, n->work->gradient)); }

static void find_residual(newton* n) {
  n->norm = n->pulled = norm(n);
  n->forces = n->norm == 0 ? 0 : n->norm / (n->at_u.forces + n->problem->force_scale);
  n->residual = n->forces;
  if (n->problem->mixed) {
    double gap = sn_pressures_find_gap(n->problem, n->pool, n->work->minres.gap);
    n->residual = fmax(n->residual, gap / GAP_TOLERANCE);
  }
}

sn_cg_result sn_newton_solve_linear(const sn_problem* problem, sn_pool* pool, sn_krylov krylov,
                                    const sn_cg_opts* opts, const sn_newton_work* work,
                                    const double* b, double* x) {
  sn_cg_work cg = sn_newton_cg_work(problem->unknown_count, work);
  switch (krylov) {
    case SN_KRYLOV_NONE:
      return sn_stationary_solve(problem, pool, opts, &cg, b, x);
    case SN_KRYLOV_MINRES:
      return sn_minres_solve(problem, pool, opts, &work->minres, b, x);
    case SN_KRYLOV_SQMR:
      return sn_sqmr_solve(problem, pool, opts, &work->minres, b, x);
    case SN_KRYLOV_CG:
      break;
  }
  return sn_cg_solve(problem, pool, opts, &cg, b, x);
}

// K d = g with one kind of Hessian. False if negative curvature was met. The gradient may hold pulls of
// what is foreseen; they are no measure of how well the rest is to be solved.
static bool solve_with(newton* n, sn_hessian kind, int* iterations) {
  sn_newton_work* work = n->work;
  double share = n->pulled > n->norm ? n->norm / n->pulled : 1;
  double tolerance = n->opts->krylov_tolerance;
  if (n->residual > NEAR_BALANCE) tolerance = fmin(ROUGHLY * tolerance, 0.5);
  bool mixed = n->problem->mixed && !n->holding;
  bool within = kind == SN_HESSIAN_EXACT && n->radius > 0;
  // The last mixed step need not go far below what counts as done.
  if (mixed) tolerance = fmax(tolerance, fmin(ENOUGH * n->opts->tolerance / n->residual, 0.5));
  sn_cg_opts opts = {
      .kind = kind,
      .preconditioner = n->opts->preconditioner,
      .size = n->pulled,
      .max = within && n->opts->krylov_long > 0 ? n->opts->krylov_long : n->opts->krylov_max,
      .tolerance = n->care * share * tolerance,
      .radius = within ? n->radius : 0,
      // The next gradient tells; but a little of a kept pressure left is a lot of force.
      .unverified = n->problem->pressure_count == 0 || n->problem->mixed,
      .gap = mixed ? work->minres.gap : NULL};
  n->linear = sn_newton_solve_linear(n->holding ? &n->part : n->problem, n->pool,
                                     n->holding ? SN_KRYLOV_CG : n->opts->krylov, &opts, work,
                                     work->gradient, work->step);
  *iterations += n->linear.iterations;
  return n->linear.stop != SN_CG_NEGATIVE;
}

// Energy, and with it the gradient, at u - t d: a step that is taken needs both.
static double try_step(newton* n, double t) {
  sn_newton_work* work = n->work;
  n->length = t;
  size_t count = n->problem->unknown_count;
  sn_vector_sum(n->pool, count, n->u, -t, work->step, work->trial);
  n->at_trial = sn_problem_evaluate(n->problem, n->pool, work->trial, work->trial_gradient);
  return n->at_trial.energy;
}

// At round-off energies say nothing any more; the slope still does. A step is good if it brings the
// slope along it closer to zero.
static bool search_by_slope(newton* n, double slope) {
  for (double t = 1; t > 1e-3; t /= 2) {
    double energy = try_step(n, t);
    if (!(energy <= n->at_u.energy + ENERGY_NOISE * n->at_u.magnitude)) continue;
    if (fabs(dot(n, n->work->trial_gradient, n->work->step)) < fabs(slope)) return true;
  }
  return false;
}

// While doubling the step keeps lowering the energy, go on.
static void extend(newton* n, double energy) {
  double t = 1;
  for (; 2 * t <= MAX_STEP; t *= 2) {
    double further = try_step(n, 2 * t);
    if (!(further < energy)) break;
    energy = further;
  }
  try_step(n, t);
}

// Find a length t such that the trial state u - t d has less energy. False if there is none.
static bool search(newton* n, double slope) {
  double from = n->at_u.energy, t = 1;
  if (-slope <= ENERGY_ROUND_OFF * n->at_u.magnitude) return search_by_slope(n, slope);
  while (t >= MIN_STEP) {
    double energy = try_step(n, t);
    if (energy <= from + ARMIJO * t * slope) {
      // A model that promised far too little (collapsed cells) is worth following further.
      if (t == 1 && energy < from + 0.9 * slope) extend(n, energy);
      return true;
    }
    // Minimum of the parabola through energy, slope and the energy found; within a tenth and a
    // half.
    double fit = isfinite(energy) ? -slope * t * t / (2 * (energy - from - slope * t)) : 0;
    t = fit > 0.5 * t ? 0.5 * t : fit < 0.1 * t ? 0.1 * t : fit;
  }
  return false;
}

// The pressures that come with the step, or back. What a step is searched by is the energy at them: with
// A d + B^T p = g and B d - D p = q, its slope along -d is -d.A d, so that -d leads downhill.
static void advance_pressures(newton* n, double t) {
  sn_newton_work* work = n->work;
  if (!n->problem->mixed || n->holding) return;
  sn_pressures_advance(n->problem, n->pool, -t, work->minres.solution + n->problem->unknown_count);
  n->at_u = sn_problem_evaluate(n->problem, n->pool, n->u, work->gradient);
}

// Take the step -d if it leads downhill. False if it does not.
static bool take_step(newton* n) {
  sn_newton_work* work = n->work;
  advance_pressures(n, 1);
  double slope = -dot(n, work->gradient, work->step);
  if (!(slope < 0) || !search(n, slope)) {
    advance_pressures(n, -1);
    return false;
  }
  sn_vector_copy(n->pool, n->problem->unknown_count, work->trial, n->u);
  double* gradient = work->gradient;
  work->gradient = work->trial_gradient;
  work->trial_gradient = gradient;
  n->at_u = n->at_trial;
  return true;
}

// May anything be run into? Then curvature comes and goes with what touches.
static bool can_touch(const sn_problem* problem) {
  for (int t = 0; t < problem->term_count; ++t) {
    if (problem->terms[t].ops->foresee) return true;
  }
  return false;
}

// After the springs of the model have changed, and with them what is pulled.
static bool fit_springs(newton* n, bool changed) {
  const sn_preconditioner* m = n->opts->preconditioner;
  if (!changed) return false;
  n->pulled = norm(n);
  if (m) m->update(m->ctx, n->pool, SN_FIT_SPRINGS);
  return true;
}

// A step that runs into what its model did not know is found again with that known.
static bool foresee(newton* n) {
  if (!can_touch(n->problem)) return false;
  sn_newton_work* work = n->work;
  double promised = 0.5 * dot(n, work->gradient, work->step);
  return fit_springs(n, sn_problem_foresee(n->problem, n->pool, n->u, work->step,
                                           FORESEEN_SHARE * promised, work->gradient));
}

// Far from balance a step is found without what is strained far beyond it.
static bool ease(newton* n) {
  return n->residual > NEAR_BALANCE &&
         fit_springs(n, sn_problem_ease(n->problem, n->pool, n->u, n->work->gradient));
}

static bool find_step(newton* n, sn_hessian kind, int* iterations) {
  sn_newton_work* work = n->work;
  bool definite = solve_with(n, kind, iterations);
  for (int k = 0; k < MOST_FORESEEN && foresee(n); ++k) definite = solve_with(n, kind, iterations);
  sn_problem_foresee(n->problem, n->pool, n->u, NULL, 0, work->gradient);
  n->pulled = n->norm;
  return definite;
}

// A step of the exact Hessian, unless that was of no use lately.
static bool step_exactly(newton* n, int* iterations) {
  const sn_preconditioner* m = n->opts->preconditioner;
  if (n->opts->krylov == SN_KRYLOV_NONE || !(n->norm < n->rough)) return false;
  bool eased = ease(n), definite = find_step(n, SN_HESSIAN_EXACT, iterations);
  bool serves = definite || (m && m->strong && can_touch(n->problem));
  // Flesh by itself that is far from balance stays so for some steps: no use in asking again.
  if (!serves) n->rough = CALMER * n->norm;
  if (serves && take_step(n)) {
    // Where the exact Hessian promises far too much it is not used again until things are calmer.
    if (n->length < SHORT_STEP) n->rough = CALMER * n->norm;
    return true;
  }
  if (eased) sn_problem_linearise(n->problem, n->pool, n->u);
  fit_springs(n, eased);
  return false;
}

static bool creeps(const newton* n) {
  return n->definite_steps >= CREEPING && n->opts->krylov == SN_KRYLOV_CG;
}

// As far as the model held, and further where it held well.
static void fit_radius(newton* n, const sn_cg_result* model, double gain) {
  if (n->length < 1) {
    n->radius = n->length * model->length;
  } else if (gain < POOR_SHARE * model->gain) {
    n->radius = 0.5 * model->length;
  } else if (model->stop == SN_CG_EDGE && gain > GOOD_SHARE * model->gain) {
    n->radius = fmax(2, n->length) * model->length;
  }
}

// A step of the exact Hessian that goes no further than that can be trusted, curvature being negative or not. It
// begins as long as the last one of the definite Hessian.
static bool step_within(newton* n, int* iterations) {
  if (n->radius == 0) n->radius = n->length * n->linear.length;
  find_step(n, SN_HESSIAN_EXACT, iterations);
  sn_cg_result model = n->linear;
  double before = n->at_u.energy;
  if (!take_step(n)) {
    n->radius *= 0.5;
    return false;
  }
  fit_radius(n, &model, before - n->at_u.energy);
  return true;
}

// A step with all kinds of Hessian that may serve.
static bool step_with_hessians(newton* n, int* iterations) {
  if ((creeps(n) ? step_within : step_exactly)(n, iterations)) return true;
  n->definite_steps++;
  find_step(n, SN_HESSIAN_DEFINITE, iterations);
  if (take_step(n)) return true;
  solve_with(n, SN_HESSIAN_DEFINITE,
             iterations);  // what is foreseen may point uphill; this does not
  return take_step(n);
}

// A step at held pressures.
static bool held_step(newton* n, int* iterations) {
  n->holding = true;
  bool taken = step_with_hessians(n, iterations);
  n->holding = false;
  return taken;
}

// Displacements and pressures at once, near balance: -d leads downhill if it is solved well enough. Far from
// it, at held pressures: those that a step from there calls for are far off.
static bool mixed_step(newton* n, int* iterations) {
  if (n->forces > NEAR_BALANCE && held_step(n, iterations)) return true;
  bool taken = false;
  int limit =
      *iterations + n->opts->krylov_max;  // past it more care does not make a better solution
  for (n->care = 1; n->care > LEAST_CARE && *iterations < limit && !taken; n->care *= 0.1) {
    find_step(n, SN_HESSIAN_EXACT, iterations);
    taken = take_step(n);
  }
  n->care = 1;
  return taken || held_step(n, iterations);
}

static bool newton_step(newton* n, bool first, int* iterations) {
  const sn_preconditioner* m = n->opts->preconditioner;
  sn_problem_linearise(n->problem, n->pool, n->u);
  if (m) m->update(m->ctx, n->pool, first ? SN_FIT_FRAME : SN_FIT_STATE);
  return n->problem->mixed ? mixed_step(n, iterations) : step_with_hessians(n, iterations);
}

sn_newton_result sn_newton_solve(const sn_problem* problem, sn_pool* pool,
                                 const sn_newton_opts* opts, sn_newton_work* work, double* u) {
  newton n = {.problem = problem,
              .pool = pool,
              .opts = opts,
              .work = work,
              .u = u,
              .rough = INFINITY,
              .care = 1};
  n.part = *problem;
  n.part.pressure_space_count = 0;
  n.part.pressure_count = 0;
  sn_newton_result result = {.stop = SN_NEWTON_MAX};
  n.at_u = opts->start ? *opts->start : sn_problem_evaluate(problem, pool, u, work->gradient);
  find_residual(&n);
  sn_problem_sharpen(problem, opts->sharp);
  for (;;) {
    result.residual = n.residual;
    result.energy = n.at_u.energy;
    if (result.residual <= opts->tolerance) {
      result.stop = SN_NEWTON_CONVERGED;
      break;
    }
    if (result.steps == opts->max) break;
    work->krylov[result.steps] = 0;
    double before = n.norm;
    if (!newton_step(&n, result.steps == 0, &work->krylov[result.steps])) {
      result.stop = SN_NEWTON_STALLED;
      break;
    }
    result.steps++;
    find_residual(&n);
    if (result.steps > 1 && n.norm > SLOW * before) sn_problem_sharpen(problem, true);
    // Far from balance what would be brought up to date is far off itself.
    if (n.residual < NEAR_BALANCE && sn_problem_refresh(problem, pool, u)) {
      n.at_u = sn_problem_evaluate(problem, pool, u, work->gradient);
      find_residual(&n);
    }
  }
  return result;
}
