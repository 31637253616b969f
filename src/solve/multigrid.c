#include "solve/multigrid.h"

#include <math.h>

#include "math/random.h"
#include "solve/cholesky.h"

#define MIN_BLOCK 6144  // items; a multiple of 3
#define POWER_ITERATIONS 12
#define SAFE_DAMPING 1.5  // over the largest eigenvalue; 2 would not smooth at all
#define COARSEST_JACOBI 16
// Unknowns of the coarsest level that are worth a dense factor, which takes n^3 / 3 operations. Trees
// that cannot be coarsened further (see docs/theory/multigrid.md) may have more: those are smoothed.
#define MOST_DENSE 1000
// The power iteration finds eigenvalues from below.
#define EIGENVALUE_MARGIN 1.05

static bool coarsest_is_dense(const sn_mg* mg) {
  return mg->opts.coarsest == SN_MG_CHOLESKY && mg->n <= MOST_DENSE;
}

sn_status sn_mg_create(sn_mg* mg, sn_arena* arena, sn_error* err) {
  for (int l = 0; l < mg->level_count; ++l) {
    sn_mg_level* level = &mg->levels[l];
    float** vectors[] = {
        &level->inverse_diagonal, &level->b, &level->x, &level->r, &level->z, &level->q};
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; ++v) {
      SN_TRY(SN_ARENA_NEW(arena, level->unknown_count, vectors[v], err));
    }
    level->largest = 1;
  }
  const sn_mg_level* last = &mg->levels[mg->level_count - 1];
  SN_TRY(SN_ARENA_NEW(arena, last->unknown_count, &mg->unknowns, err));
  for (size_t i = 0; i < last->unknown_count; ++i) {
    if (!last->held[i / 3]) mg->unknowns[mg->n++] = (uint32_t)i;
  }
  if (!coarsest_is_dense(mg)) return SN_OK;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)mg->n * (size_t)mg->n, &mg->factor, err));
  return SN_ARENA_NEW(arena, (size_t)mg->n, &mg->dense, err);
}

typedef struct vector_job {
  const sn_mg_level* level;
  float a, b;
  const double* wide_from;
  double* wide_to;
  double scale;
} vector_job;

// z = a z + b D^-1 r,  x += z
static void correct(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const sn_mg_level* l = job->level;
  for (size_t i = begin; i < end; ++i) {
    float z = job->a * l->z[i] + job->b * l->inverse_diagonal[i] * l->r[i];
    l->z[i] = z;
    l->x[i] += z;
  }
}

// r -= q
static void lower_residual(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) l->r[i] -= l->q[i];
}

// r = b - q
static void form_residual(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) l->r[i] = l->b[i] - l->q[i];
}

// x = 0,  z = 0,  r = b
static void start_from_zero(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) {
    l->x[i] = l->z[i] = 0;
    l->r[i] = l->b[i];
  }
}

// b = 0 on held nodes
static void mask_right_side(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) {
    if (l->held[i / 3]) l->b[i] = 0;
  }
}

// x = 0 on held nodes
static void mask_solution(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) {
    if (l->held[i / 3]) l->x[i] = 0;
  }
}

static void run(const sn_mg_level* level, sn_pool* pool, sn_range_fn fn) {
  vector_job job = {.level = level};
  sn_parallel_for(pool, level->unknown_count, MIN_BLOCK, fn, &job);
}

// x += p(D^-1 A) D^-1 r for the residual r of x, which is kept up to date if it will be read. Jacobi
// is one damped step; Chebyshev of the fourth kind (Lottes 2022) a recurrence of `degree` steps:
//     z_i = (2i - 3)/(2i + 1) z_{i-1} + (8i - 4)/(2i + 1) / largest  D^-1 r_{i-1}
static void smooth(const sn_mg* mg, const sn_mg_level* level, sn_pool* pool, int jacobi_steps,
                   bool residual_after) {
  bool jacobi = mg->opts.smoother == SN_MG_JACOBI;
  int steps = jacobi ? jacobi_steps : mg->opts.degree;
  double damping = mg->opts.damping > 0 ? mg->opts.damping : SAFE_DAMPING / level->largest;
  for (int i = 1; i <= steps; ++i) {
    double a = jacobi || i == 1 ? 0 : (2.0 * i - 3) / (2.0 * i + 1);
    double b = jacobi ? damping : (8.0 * i - 4) / (2.0 * i + 1) / level->largest;
    vector_job job = {.level = level, .a = (float)a, .b = (float)b};
    sn_parallel_for(pool, level->unknown_count, MIN_BLOCK, correct, &job);
    if (i == steps && !residual_after) return;
    level->apply(level->ctx, pool, level->z, level->q);
    run(level, pool, lower_residual);
  }
}

static void solve_coarsest(const sn_mg* mg, const sn_mg_level* level, sn_pool* pool) {
  run(level, pool, start_from_zero);
  if (!coarsest_is_dense(mg)) {
    smooth(mg, level, pool, COARSEST_JACOBI, false);
    return;
  }
  for (int i = 0; i < mg->n; ++i) mg->dense[i] = level->b[mg->unknowns[i]];
  sn_cholesky_solve(mg->n, mg->factor, mg->dense);
  for (int i = 0; i < mg->n; ++i) level->x[mg->unknowns[i]] = (float)mg->dense[i];
}

// Solution of A x = b on level l, roughly.
static void cycle(const sn_mg* mg, int l, sn_pool* pool) {
  const sn_mg_level* level = &mg->levels[l];
  if (!level->coarser) {
    solve_coarsest(mg, level, pool);
    return;
  }
  const sn_mg_level* below = &mg->levels[l + 1];
  run(level, pool, start_from_zero);
  smooth(mg, level, pool, 1, true);
  sn_transfer_restrict(level->coarser, pool, level->r, below->b);
  run(below, pool, mask_right_side);
  cycle(mg, l + 1, pool);
  sn_transfer_prolong(level->coarser, pool, below->x, level->x);
  run(level, pool, mask_solution);
  level->apply(level->ctx, pool, level->x, level->q);
  run(level, pool, form_residual);
  smooth(mg, level, pool, 1, false);
}

static double square(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += job->wide_from[i] * job->wide_from[i];
  return sum;
}

static void narrow(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->level->b[i] = (float)(job->scale * job->wide_from[i]);
}

static void widen(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->wide_to[i] = job->scale * (double)job->level->x[i];
}

void sn_mg_cycle(sn_mg* mg, sn_pool* pool, const double* r, double* z) {
  const sn_mg_level* finest = &mg->levels[0];
  size_t n = finest->unknown_count;
  vector_job job = {.level = finest, .wide_from = r, .wide_to = z};
  // Normalised, so that single precision holds forces of any size.
  double norm = sqrt(sn_parallel_sum(pool, n, MIN_BLOCK, square, &job));
  job.scale = norm > 0 ? 1 / norm : 1;
  sn_parallel_for(pool, n, MIN_BLOCK, narrow, &job);
  cycle(mg, 0, pool);
  job.scale = norm;
  sn_parallel_for(pool, n, MIN_BLOCK, widen, &job);
}

static double rayleigh(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const sn_mg_level* l = job->level;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    double d = l->inverse_diagonal[i];
    // a = 0: x.q = x.Ax; else x.Dx
    sum += job->a == 0 ? (double)l->x[i] * l->q[i] : d > 0 ? (double)l->x[i] * l->x[i] / d : 0;
  }
  return sum;
}

// x = D^-1 q, scaled so that numbers stay near 1.
static void next_power(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const sn_mg_level* l = job->level;
  for (size_t i = begin; i < end; ++i) l->x[i] = job->b * l->inverse_diagonal[i] * l->q[i];
}

// The largest eigenvalue of D^-1 A by power iteration from fixed random numbers, as the quotient
// x.Ax / x.Dx.
static void estimate_largest(sn_mg_level* level, sn_pool* pool) {
  sn_random random = sn_random_seeded(level->unknown_count);
  for (size_t i = 0; i < level->unknown_count; ++i) {
    float value = (float)sn_random_symmetric(&random);
    level->x[i] = level->held[i / 3] ? 0 : value;
  }
  vector_job product = {.level = level, .a = 0}, size = {.level = level, .a = 1};
  double largest = 1;
  for (int k = 0; k < POWER_ITERATIONS; ++k) {
    level->apply(level->ctx, pool, level->x, level->q);
    double xAx = sn_parallel_sum(pool, level->unknown_count, MIN_BLOCK, rayleigh, &product);
    double xDx = sn_parallel_sum(pool, level->unknown_count, MIN_BLOCK, rayleigh, &size);
    if (!(xDx > 0)) break;
    largest = xAx / xDx;
    vector_job next = {.level = level, .b = largest > 0 ? (float)(1 / largest) : 1};
    sn_parallel_for(pool, level->unknown_count, MIN_BLOCK, next_power, &next);
  }
  level->largest = EIGENVALUE_MARGIN * (largest > 1 ? largest : 1);
}

// The coarsest operator as a matrix, column by column, then its factor.
static void factor_coarsest(sn_mg* mg, sn_pool* pool) {
  const sn_mg_level* last = &mg->levels[mg->level_count - 1];
  for (size_t i = 0; i < last->unknown_count; ++i) last->x[i] = 0;
  for (int j = 0; j < mg->n; ++j) {
    last->x[mg->unknowns[j]] = 1;
    last->apply(last->ctx, pool, last->x, last->q);
    last->x[mg->unknowns[j]] = 0;
    for (int i = j; i < mg->n; ++i) mg->factor[(size_t)i * mg->n + j] = last->q[mg->unknowns[i]];
  }
  sn_cholesky_factor(mg->n, mg->factor);
}

void sn_mg_update(sn_mg* mg, sn_pool* pool, bool estimate) {
  for (int l = 0; l < mg->level_count && estimate; ++l) estimate_largest(&mg->levels[l], pool);
  if (coarsest_is_dense(mg)) factor_coarsest(mg, pool);
}

void sn_mg_weaken(sn_mg* mg) {
  for (int l = 0; l < mg->level_count; ++l) mg->levels[l].largest *= 1.5;
}
