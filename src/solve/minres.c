#include "solve/minres.h"

#include <math.h>

#include "solve/vector.h"

// How often an indefinite preconditioner may be made safer in one solve. It shows at the start or on the way.
#define MAX_WEAKENED 8
// The recursion is in single precision: below this share of where it began it starts anew.
#define FRESH 1e-6

sn_status sn_minres_work_create(const sn_problem* problem, sn_arena* arena, sn_minres_work* work,
                                sn_error* err) {
  size_t n = problem->unknown_count + problem->pressure_count;
  double** wide[] = {&work->before, &work->now, &work->solution};
  float** narrow[] = {&work->preconditioned, &work->product, &work->directions[0],
                      &work->directions[1], &work->directions[2]};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; ++i) {
    SN_TRY(SN_ARENA_NEW(arena, n, wide[i], err));
  }
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; ++i) {
    SN_TRY(SN_ARENA_NEW(arena, n, narrow[i], err));
  }
  SN_TRY(SN_ARENA_NEW(arena, problem->pressure_count, &work->gap, err));
  return SN_OK;
}

// One run of the recursion, from a right side in `now`.
typedef struct minres {
  const sn_problem* problem;
  sn_pool* pool;
  const sn_cg_opts* opts;
  sn_minres_work v;
  size_t n, unknowns;
  double alpha, beta, beta_before;  // of the Lanczos recursion
  double c, s;                      // of the last rotation
  double diagonal, skipped;         // entries of the last column that wait for their rotations
  double left, from;                // size of the residual, and where it began
  int weakened;
  bool broken;  // the preconditioner has shown to be indefinite
} minres;

// z = M^-1 r of the Lanczos vector r; returns z.r
static double precondition(minres* m) {
  const sn_preconditioner* p = m->opts->preconditioner;
  const double* r = m->v.now;
  float *narrow = m->v.directions[2],
        *z = m->v.preconditioned;  // the next direction is not known yet
  size_t from = p ? m->unknowns : 0;
  if (p) {
    sn_vector_narrow(m->pool, m->unknowns, 1, r, narrow);
    p->apply(p->ctx, m->pool, narrow, z);
  }
  sn_vector_narrow(m->pool, m->n - from, 1, r + from, z + from);
  return sn_vector_dot_df(m->pool, m->n, r, m->v.preconditioned);
}

typedef struct lanczos_job {
  double a, b;
  double *now, *before;
  const float *z, *q, *w1, *w2;
  float* w;
  double* x;
  double scale, phi;
} lanczos_job;

// before = a q + b before; returns z.before
static double advance_lanczos(void* ctx, size_t begin, size_t end) {
  const lanczos_job* job = ctx;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    double value = job->a * (double)job->q[i] + job->b * job->before[i];
    job->before[i] = value;
    sum += value * (double)job->z[i];
  }
  return sum;
}

// w = a z + b w1 + scale w2,  x += phi w; w may be w1
static void advance_solution(void* ctx, size_t begin, size_t end) {
  const lanczos_job* job = ctx;
  float a = (float)job->a, b = (float)job->b, c = (float)job->scale;
  for (size_t i = begin; i < end; ++i) {
    float w = a * job->z[i] + b * job->w1[i] + c * job->w2[i];
    job->w[i] = w;
    job->x[i] += job->phi * (double)w;
  }
}

#define MIN_BLOCK 6144

// The next Lanczos vector: with v = z / beta,
//     r_next = S v - beta / beta_before r_before - alpha / beta r,   alpha = v.(S v - ...)
static void step_lanczos(minres* m) {
  sn_minres_work* v = &m->v;
  sn_pressures_apply_mixed_f(m->problem, m->pool, m->opts->kind, v->preconditioned,
                             v->preconditioned + m->unknowns, v->product, v->product + m->unknowns);
  lanczos_job job = {.a = 1 / m->beta,
                     .b = m->beta_before > 0 ? -m->beta / m->beta_before : 0,
                     .q = v->product,
                     .z = v->preconditioned,
                     .before = v->before};
  m->alpha = sn_parallel_sum(m->pool, m->n, MIN_BLOCK, advance_lanczos, &job) / m->beta;
  sn_vector_add(m->pool, m->n, -m->alpha / m->beta, v->now, v->before);
  double* next = v->before;
  v->before = v->now;
  v->now = next;
  // z is still wanted when the next one is found; the product is not.
  float* z = v->preconditioned;
  v->preconditioned = v->product;
  v->product = z;
}

// The next column of the tridiagonal matrix, rotated; x follows. `beta` is that of the column, `next`
// the one below its diagonal.
static void step_solution(minres* m, double next) {
  double skipped = m->skipped, above = m->c * m->diagonal + m->s * m->alpha;
  double bar = m->s * m->diagonal - m->c * m->alpha, size = sqrt(bar * bar + next * next);
  m->skipped = m->s * next;
  m->diagonal = -m->c * next;
  m->c = bar / size;
  m->s = next / size;
  float** w = m->v.directions;
  lanczos_job job = {.a = 1 / (m->beta * size),
                     .b = -skipped / size,
                     .scale = -above / size,
                     .phi = m->c * m->left,
                     .z = m->v.product,
                     .w1 = w[0],
                     .w2 = w[1],
                     .w = w[2],
                     .x = m->v.solution};
  sn_parallel_for(m->pool, m->n, MIN_BLOCK, advance_solution, &job);
  m->left *= m->s;
  float* oldest = w[0];
  w[0] = w[1];
  w[1] = w[2];
  w[2] = oldest;
}

// One iteration; false where it cannot go on.
static bool iterate(minres* m) {
  step_lanczos(m);
  double square = precondition(m);
  m->broken = !(square >= 0);
  if (m->broken) return false;
  double next = sqrt(square);
  step_solution(m, next);
  m->beta_before = m->beta;
  m->beta = next;
  return next > 0;
}

// Only an indefinite preconditioner has z.r < 0. Make it safer; false if that cannot be.
static bool weaken(minres* m) {
  const sn_preconditioner* p = m->opts->preconditioner;
  if (!p || !p->weaken || ++m->weakened > MAX_WEAKENED) return false;
  p->weaken(p->ctx);
  return true;
}

// Start the recursion from the residual in `now`. False if an indefinite preconditioner was met.
static bool start(minres* m) {
  double square = precondition(m);
  m->beta = m->left = m->from = sqrt(square);
  m->beta_before = m->s = m->diagonal = m->skipped = 0;
  m->c = -1;
  m->broken = false;
  for (int k = 0; k < 2; ++k) sn_vector_fill_f(m->pool, m->n, 0, m->v.directions[k]);
  return square > 0;
}

static double norm(const minres* m, const double* x) {
  return sqrt(sn_vector_dot(m->pool, m->unknowns, x, x));
}

// |scale b - K x| in double precision; `scratch` is a vector of displacements
static double condensed_residual(const minres* m, double scale, const double* b, double* scratch) {
  sn_problem_apply_d(m->problem, m->pool, m->opts->kind, m->v.solution, scratch);
  sn_vector_combine(m->pool, m->unknowns, scale, b, -1, scratch);
  return norm(m, scratch);
}

// now = (scale b, scale gap) - S x in double precision
static void mixed_residual(const minres* m, double scale, const double* b) {
  double* r = m->v.now;
  sn_pressures_apply_mixed_d(m->problem, m->pool, m->opts->kind, m->v.solution,
                             m->v.solution + m->unknowns, r, r + m->unknowns);
  sn_vector_combine(m->pool, m->unknowns, scale, b, -1, r);
  sn_vector_scale(m->pool, m->n - m->unknowns, -1, r + m->unknowns);
  if (m->opts->gap) {
    sn_vector_add(m->pool, m->n - m->unknowns, scale, m->opts->gap, r + m->unknowns);
  }
}

// Does the solution point downhill, and does the quadratic model curve upwards along it?
static bool is_sound(const minres* m, const double* b, const double* x) {
  if (!m->opts->gap && !(sn_vector_dot(m->pool, m->unknowns, b, x) > 0)) return false;
  if (m->opts->kind == SN_HESSIAN_DEFINITE) return true;
  sn_vector_narrow(m->pool, m->unknowns, 1, x, m->v.preconditioned);
  (m->opts->gap ? sn_problem_apply_part_f : sn_problem_apply_f)(m->problem, m->pool, m->opts->kind,
                                                                m->v.preconditioned, m->v.product);
  return sn_vector_dot_f(m->pool, m->unknowns, m->v.preconditioned, m->v.product) > 0;
}

// Iterate until the recursion is below `tolerance`. True if it must start anew, which is no use with a
// preconditioner that is not definite.
static bool run(minres* m, double tolerance, double size, sn_cg_result* result) {
  bool going = true;
  while (going && result->iterations < m->opts->max && m->left > tolerance &&
         m->left > FRESH * m->from) {
    going = iterate(m);
    result->iterations++;
    if (m->opts->watch) {
      m->opts->watch(m->opts->watch_ctx, result->iterations, size, m->v.solution);
    }
  }
  return !going || m->left <= FRESH * m->from;
}

sn_cg_result sn_minres_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                             const sn_minres_work* work, const double* b, double* x) {
  minres m = {.problem = problem, .pool = pool, .opts = opts, .v = *work};
  m.unknowns = problem->unknown_count;
  m.n = m.unknowns + problem->pressure_count;
  sn_cg_result result = {.residual = 1, .stop = SN_CG_MAX};
  size_t pressures = problem->pressure_count;
  double size = norm(&m, b);
  if (opts->gap) size += sqrt(sn_vector_dot(pool, pressures, opts->gap, opts->gap));
  double target = opts->tolerance, first = 0;
  sn_vector_fill(pool, m.unknowns, 0, x);
  if (size == 0) return (sn_cg_result){.stop = SN_CG_CONVERGED};
  sn_vector_fill(pool, m.n, 0, m.v.solution);
  sn_vector_fill(pool, m.n, 0, m.v.now);
  sn_vector_add(pool, m.unknowns, 1 / size, b, m.v.now);
  if (opts->gap) sn_vector_add(pool, pressures, 1 / size, opts->gap, m.v.now + m.unknowns);

  bool stale = true;
  while (result.iterations < opts->max) {
    if (stale && !start(&m)) {
      if (!weaken(&m)) break;
      continue;
    }
    if (first == 0) first = m.left;
    stale = run(&m, target * first, size, &result);
    if (m.broken && !weaken(&m)) break;
    result.residual = m.left / first;
    if (opts->unverified) {
      if (result.residual <= target) result.stop = SN_CG_CONVERGED;
      if (result.stop == SN_CG_CONVERGED) break;
    } else {
      // The recursion says so; the true residual decides.
      result.residual = condensed_residual(&m, 1 / size, b, x);
      if (result.residual <= 1.1 * opts->tolerance) {
        result.stop = SN_CG_CONVERGED;
        break;
      }
      target *= fmax(0.1, fmin(0.7, 0.7 * opts->tolerance / result.residual));
    }
    if (stale) mixed_residual(&m, 1 / size, b);
  }
  sn_vector_copy(pool, m.unknowns, m.v.solution, x);
  sn_vector_scale(pool, m.unknowns, size, x);
  sn_vector_scale(pool, pressures, size, m.v.solution + m.unknowns);
  if (!is_sound(&m, b, x)) result.stop = SN_CG_NEGATIVE;
  return result;
}
