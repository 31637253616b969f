#include "solve/multigrid.h"

#include <math.h>
#include <string.h>

#include "math/random.h"
#include "octree/families.h"
#include "solve/cholesky.h"
#include "solve/vector.h"

#define MIN_BLOCK 6144  // items; a multiple of 3
#define LANCZOS_STEPS 8
// Chebyshev's polynomials grow fast beyond the largest eigenvalue: there the search goes on, up to so
// many steps, while what is found still grows by more than this share. Modes at few places, such as those
// of stiffer cells along a wall, are found late.
#define MOST_LANCZOS_STEPS 24
#define STILL_GROWING 2e-3
#define SAFE_DAMPING 1.5  // over the largest eigenvalue; 2 would not smooth at all
#define COARSEST_JACOBI 16
// Unknowns of the coarsest level that are worth a dense factor, which takes n^3 / 3 operations. Trees
// that cannot be coarsened further (see docs/theory/multigrid.md) may have more: those are smoothed.
#define MOST_DENSE 1000
// Eigenvalues are found from below.
#define EIGENVALUE_MARGIN 1.05

static bool coarsest_is_dense(const sn_mg* mg) {
  return mg->opts.coarsest == SN_MG_CHOLESKY && mg->n <= MOST_DENSE;
}

static sn_status create_blocks(sn_mg_level* level, sn_arena* arena, sn_error* err) {
  sn_mg_blocks* blocks = &level->blocks;
  if (blocks->capacity == 0) return SN_OK;
  SN_TRY(SN_ARENA_NEW(arena, level->unknown_count / 3, &blocks->places, err));
  SN_TRY(SN_ARENA_RAW(arena, blocks->capacity, &blocks->nodes, err));
  SN_TRY(SN_ARENA_RAW(arena, blocks->capacity, &blocks->diagonal, err));
  return SN_ARENA_RAW(arena, blocks->capacity, &blocks->inverse, err);
}

// Unknowns that are held, in `list` unless that is NULL. Most nodes are free.
static size_t list_held(const sn_mg_level* level, uint32_t* list) {
  size_t count = 0;
  for (size_t n = 0; n < level->unknown_count / 3; ++n) {
    for (size_t i = 3 * n; level->held[n] && i < 3 * n + 3; ++i) {
      if (!sn_is_held(level->held, i)) continue;
      if (list) list[count] = (uint32_t)i;
      ++count;
    }
  }
  return count;
}

static sn_status create_held_list(sn_mg_level* level, sn_arena* arena, sn_error* err) {
  level->held_count = list_held(level, NULL);
  SN_TRY(SN_ARENA_RAW(arena, level->held_count, &level->held_list, err));
  list_held(level, level->held_list);
  return SN_OK;
}

sn_status sn_mg_create(sn_mg* mg, sn_arena* arena, sn_error* err) {
  mg->caution = 1;
  for (int l = 0; l < mg->level_count; ++l) {
    sn_mg_level* level = &mg->levels[l];
    size_t n = level->unknown_count;
    SN_TRY(SN_ARENA_NEW(arena, n, &level->springs, err));
    SN_TRY(SN_ARENA_NEW(arena, n, &level->inverse_diagonal, err));
    SN_TRY(create_held_list(level, arena, err));
    if (l > 0) SN_TRY(SN_ARENA_NEW(arena, n, &level->r, err));
    if (l > 0) SN_TRY(SN_ARENA_NEW(arena, n, &level->b, err));  // the finest has those of
    if (l > 0) SN_TRY(SN_ARENA_NEW(arena, n, &level->x, err));  // sn_mg_cycle
    // A single Jacobi step needs no correction apart from the solution.
    if (mg->opts.smoother != SN_MG_JACOBI || !level->coarser) {
      SN_TRY(SN_ARENA_NEW(arena, n, &level->z, err));
    }
    level->largest = 1;
    SN_TRY(create_blocks(level, arena, err));
  }
  const sn_mg_level* last = &mg->levels[mg->level_count - 1];
  SN_TRY(SN_ARENA_NEW(arena, last->unknown_count, &mg->unknowns, err));
  for (size_t i = 0; i < last->unknown_count; ++i) {
    if (!sn_is_held(last->held, i)) mg->unknowns[mg->n++] = (uint32_t)i;
  }
  if (!coarsest_is_dense(mg)) return SN_OK;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)mg->n * (size_t)mg->n, &mg->factor, err));
  return SN_ARENA_NEW(arena, (size_t)mg->n, &mg->dense, err);
}

typedef struct vector_job {
  const sn_mg_level* level;
  float a, b;
  float* masked;
} vector_job;

static void run(const vector_job* job, sn_pool* pool, sn_range_fn fn) {
  sn_parallel_for(pool, job->level->unknown_count, MIN_BLOCK, fn, (void*)job);
}
static double run_sum(const vector_job* job, sn_pool* pool, sn_sum_fn fn) {
  return sn_parallel_sum(pool, job->level->unknown_count, MIN_BLOCK, fn, (void*)job);
}

// y += a M x at one node
static void add_product(const float m[6], float a, const float* x, float* y) {
  y[0] += a * (m[0] * x[0] + m[3] * x[1] + m[4] * x[2]);
  y[1] += a * (m[3] * x[0] + m[1] * x[1] + m[5] * x[2]);
  y[2] += a * (m[4] * x[0] + m[5] * x[1] + m[2] * x[2]);
}

static const float* springs_of(const sn_mg_level* level) {
  return level->unsprung ? NULL : level->springs;
}

// r = A x + scale v
static void multiply(const sn_mg_level* level, sn_pool* pool, const float* x, float scale,
                     const float* v) {
  level->multiply(level->ctx, pool, springs_of(level), x, scale, v, level->r);
}

// What is held does not move, and nothing is wrong there.
static void clear_held(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->masked[job->level->held_list[i]] = 0;
}
static void mask(const sn_mg_level* level, sn_pool* pool, float* x) {
  vector_job job = {.level = level, .masked = x};
  sn_parallel_for(pool, level->held_count, MIN_BLOCK, clear_held, &job);
}

// Of sums side by side, which the compiler makes vectors of.
static double sum_of(const double sums[8]) {
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// The steps of a smoother; all return x.b. D^-1 is 0 on held nodes, and on those with blocks, which follow.
// From nothing: x = b D^-1 right side.
static double begin_solution(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const float* restrict b = job->level->b, * restrict inverse = job->level->inverse_diagonal;
  float* restrict x = job->level->x, c = job->b;
  for (size_t i = begin; i < end; ++i) x[i] = c * inverse[i] * b[i];
  if (job->level->z) memcpy(job->level->z + begin, x + begin, (end - begin) * sizeof *x);
  return 0;
}

// x -= b D^-1 r
static double correct_solution(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const float* restrict b = job->level->b, * restrict inverse = job->level->inverse_diagonal;
  const float* restrict r = job->level->r;
  float* restrict x = job->level->x, c = job->b;
  double sum[8] = {0};
  size_t i = begin;
  for (; i + 8 <= end; i += 8) {
    for (size_t k = 0; k < 8; ++k) x[i + k] -= c * inverse[i + k] * r[i + k];
    for (size_t k = 0; k < 8; ++k) sum[k] += (double)x[i + k] * (double)b[i + k];
  }
  for (; i < end; ++i) {
    x[i] -= c * inverse[i] * r[i];
    sum[0] += (double)x[i] * (double)b[i];
  }
  return sum_of(sum);
}

// z = a z - b D^-1 r,  x += z
static double correct_by_recurrence(void* ctx, size_t begin, size_t end) {
  const vector_job* job = ctx;
  const sn_mg_level* l = job->level;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) {
    float z = -job->b * l->inverse_diagonal[i] * l->r[i];
    if (job->a != 0) z += job->a * l->z[i];
    l->z[i] = z;
    l->x[i] += z;
    sum += (double)l->x[i] * (double)l->b[i];
  }
  return sum;
}

// The same at the nodes with blocks, where D^-1 is a matrix: x and z += b D^-1 from. Returns what it adds to
// x.b.
static double correct_blocks(const sn_mg_level* l, float b, const float* from) {
  double sum = 0;
  for (uint32_t i = 0; i < l->blocks.count; ++i) {
    size_t at = 3 * (size_t)l->blocks.nodes[i];
    float z[3] = {0, 0, 0};
    add_product(l->blocks.inverse[i], b, from + at, z);
    for (size_t k = 0; k < 3; ++k) {
      l->x[at + k] += z[k];
      if (l->z) l->z[at + k] += z[k];
      sum += (double)z[k] * (double)l->b[at + k];
    }
  }
  return sum;
}

static double damping_of(const sn_mg* mg, const sn_mg_level* level) {
  return mg->opts.damping > 0 ? mg->opts.damping : SAFE_DAMPING / level->largest;
}

// Where a smoother finds what is wrong: nothing is solved yet, or r = A x - b is at hand.
typedef enum smooth_start { FROM_ZERO, FROM_WRONG } smooth_start;

// x -= p(D^-1 A) D^-1 r for r = A x - b, which then is up to date if it will be read. Jacobi is one damped
// step; Chebyshev of the fourth kind (Lottes 2022) a recurrence of `degree` steps:
//     z_i = (2i - 3)/(2i + 1) z_{i-1} - (8i - 4)/(2i + 1) / largest  D^-1 r_{i-1}
// Returns x.b.
static double smooth(const sn_mg* mg, const sn_mg_level* level, sn_pool* pool, int jacobi_steps,
                     smooth_start start, bool wrong_after) {
  bool jacobi = mg->opts.smoother == SN_MG_JACOBI;
  int steps = jacobi ? jacobi_steps : mg->opts.degree;
  double damping = damping_of(mg, level), product = 0;
  for (int i = 1; i <= steps; ++i) {
    double a = jacobi || i == 1 ? 0 : (2.0 * i - 3) / (2.0 * i + 1);
    double b = jacobi ? damping : (8.0 * i - 4) / (2.0 * i + 1) / level->largest;
    bool first = start == FROM_ZERO && i == 1;
    vector_job job = {.level = level, .a = (float)a, .b = (float)(b / mg->caution)};
    product = run_sum(&job, pool,
                      first      ? begin_solution
                      : level->z ? correct_by_recurrence
                                 : correct_solution);
    product += correct_blocks(level, first ? job.b : -job.b, first ? level->b : level->r);
    if (i == steps && !wrong_after) break;
    if (first) {
      multiply(level, pool, level->x, -1, level->b);
    } else {
      multiply(level, pool, level->z, 1, level->r);
    }
  }
  return product;
}

static double solve_coarsest(const sn_mg* mg, const sn_mg_level* level, sn_pool* pool) {
  if (coarsest_is_dense(mg)) {
    memset(level->x, 0, level->unknown_count * sizeof *level->x);
    for (int i = 0; i < mg->n; ++i) mg->dense[i] = level->b[mg->unknowns[i]];
    sn_cholesky_solve(mg->n, mg->factor, mg->dense);
    for (int i = 0; i < mg->n; ++i) level->x[mg->unknowns[i]] = (float)mg->dense[i];
  } else {
    smooth(mg, level, pool, COARSEST_JACOBI, FROM_ZERO, false);
  }
  return sn_vector_dot_f(pool, level->unknown_count, level->x, level->b);
}

// How often a level is corrected by the next one. Thin limbs bend too stiffly on every level: with several
// between the first and the one that is solved directly, counts would grow with each. The first, which costs
// most, is corrected once. Twice is definite only where no coarse level is too soft by half.
static int corrections(const sn_mg* mg, int l) {
  return mg->opts.twice && !mg->once && mg->solve && l > 0 && l + 1 < mg->solved ? 2 : 1;
}

static double cycle(const sn_mg* mg, int l, sn_pool* pool);

// The same as the steps of `cycle` one by one, with a Jacobi step before and after: r = A c D^-1 b - b, and
// x = c D^-1 b - P x_coarse as it is multiplied.
static double cycle_at_once(const sn_mg* mg, int l, sn_pool* pool) {
  const sn_mg_level *level = &mg->levels[l], *below = level + 1;
  sn_smoothing smoothing = {.b = level->b,
                            .inverse = level->inverse_diagonal,
                            .springs = springs_of(level),
                            .damping = (float)(damping_of(mg, level) / mg->caution),
                            .r = level->r,
                            .x = level->x};
  level->smooth(level->ctx, pool, &smoothing);
  mask(level, pool, level->r);
  sn_transfer_restrict(level->coarser, pool, level->r, below->b);
  cycle(mg, l + 1, pool);
  smoothing.coarser = level->coarser;
  smoothing.correction = below->x;
  return level->smooth(level->ctx, pool, &smoothing);
}

// The smoother that a level has; returns x.b where it comes last. Before, r is brought up to date.
static double smooth_level(const sn_mg* mg, int l, sn_pool* pool, bool after) {
  const sn_mg_level* level = &mg->levels[l];
  if (l > 0 || !mg->smooth) {
    return smooth(mg, level, pool, 1, after ? FROM_WRONG : FROM_ZERO, !after);
  }
  mg->smooth(mg->smooth_ctx, pool, level, (float)(SAFE_DAMPING / level->largest / mg->caution),
             after);
  return after ? sn_vector_dot_f(pool, level->unknown_count, level->x, level->b) : 0;
}

// Solution of A x = b on level l, roughly; returns x.b. Right sides on held nodes are of no interest. The
// coarser level solves for what is wrong, and its solution is taken off.
static double cycle(const sn_mg* mg, int l, sn_pool* pool) {
  const sn_mg_level* level = &mg->levels[l];
  if (mg->solve && l == mg->solved) {
    mg->solve(mg->solve_ctx, pool, level->b, level->x);
    return sn_vector_dot_f(pool, level->unknown_count, level->x, level->b);
  }
  if (!level->coarser) return solve_coarsest(mg, level, pool);
  if (level->smooth && mg->opts.smoother == SN_MG_JACOBI && level->blocks.count == 0 &&
      corrections(mg, l) == 1 && (l > 0 || !mg->smooth)) {
    return cycle_at_once(mg, l, pool);
  }
  const sn_mg_level* below = &mg->levels[l + 1];
  smooth_level(mg, l, pool, false);
  for (int left = corrections(mg, l); left > 0; --left) {
    mask(level, pool, level->r);
    sn_transfer_restrict(level->coarser, pool, level->r, below->b);
    cycle(mg, l + 1, pool);
    sn_transfer_prolong(level->coarser, pool, -1, below->x, level->x);
    mask(level, pool, level->x);
    multiply(level, pool, level->x, -1, level->b);
  }
  return smooth_level(mg, l, pool, true);
}

double sn_mg_cycle(sn_mg* mg, sn_pool* pool, const float* r, float* z) {
  mg->levels[0].b = (float*)r;  // only read
  mg->levels[0].x = z;
  return cycle(mg, 0, pool);
}

void sn_mg_add_blocks(const sn_mg_level* level, const float* r, float* z) {
  for (uint32_t i = 0; i < level->blocks.count; ++i) {
    size_t at = 3 * (size_t)level->blocks.nodes[i];
    add_product(level->blocks.inverse[i], 1, r + at, z + at);
  }
}

// Lanczos' method for the largest eigenvalue of D^-1 A, which is symmetric in the product x.Dy:
//     w = D^-1 A v_k - alpha_k v_k - beta_k v_{k-1},   v_{k+1} = w / beta_{k+1},   beta_{k+1}^2 = w.Dw
// with alpha_k = v_k.A v_k. D^-1 and D at nodes with blocks are theirs.
typedef struct lanczos {
  const sn_mg_level* level;
  float *v, *before;  // v_k and v_{k-1}, which becomes v_{k+1}
  float alpha, beta, scale;
} lanczos;

static double lanczos_size(void* ctx, size_t begin, size_t end) {
  const lanczos* job = ctx;
  const float* restrict v = job->v, * restrict inverse = job->level->inverse_diagonal;
  double sums[8] = {0};
  size_t i = begin;
  for (; i + 8 <= end; i += 8) {
    for (size_t k = 0; k < 8; ++k) {
      double d = inverse[i + k] > 0 ? inverse[i + k] : INFINITY, x = v[i + k];
      sums[k] += x * x / d;
    }
  }
  for (; i < end; ++i) {
    double d = inverse[i], x = v[i];
    sums[0] += d > 0 ? x * x / d : 0;
  }
  return sum_of(sums);
}

static void lanczos_scale(void* ctx, size_t begin, size_t end) {
  const lanczos* job = ctx;
  for (size_t i = begin; i < end; ++i) job->v[i] *= job->scale;
}

static void lanczos_next(void* ctx, size_t begin, size_t end) {
  const lanczos* job = ctx;
  const sn_mg_level* l = job->level;
  for (size_t i = begin; i < end; ++i) {
    float product = l->inverse_diagonal[i] * l->r[i];
    job->before[i] = product - job->alpha * job->v[i] - job->beta * job->before[i];
  }
}

static void add_block_products(const sn_mg_level* l, float* to) {
  for (uint32_t i = 0; i < l->blocks.count; ++i) {
    size_t at = 3 * (size_t)l->blocks.nodes[i];
    add_product(l->blocks.inverse[i], 1, l->r + at, to + at);
  }
}

static double blocks_size(const lanczos* job) {
  const sn_mg_level* l = job->level;
  double sum = 0;
  for (uint32_t i = 0; i < l->blocks.count; ++i) {
    const float* v = job->v + 3 * (size_t)l->blocks.nodes[i];
    float y[3] = {0, 0, 0};
    add_product(l->blocks.diagonal[i], 1, v, y);
    sum += v[0] * y[0] + v[1] * y[1] + v[2] * y[2];  // v is 0 where held
  }
  return sum;
}

// Scale v to v.Dv = 1; returns the root of what it was.
static double normalise(lanczos* job, sn_pool* pool) {
  size_t n = job->level->unknown_count;
  double size = sqrt(sn_parallel_sum(pool, n, MIN_BLOCK, lanczos_size, job) + blocks_size(job));
  job->scale = size > 0 ? (float)(1 / size) : 0;
  sn_parallel_for(pool, n, MIN_BLOCK, lanczos_scale, job);
  return size;
}

// The largest eigenvalue of the tridiagonal matrix with alpha on and beta[1..] beside the diagonal: the pivots
// of T - x are all negative for x above it.
static double largest_of(int n, const double* alpha, const double* beta) {
  double low = alpha[0], high = 0;
  for (int i = 0; i < n; ++i) {
    low = fmax(low, alpha[i]);
    high = fmax(high, alpha[i] + (i > 0 ? beta[i] : 0) + (i + 1 < n ? beta[i + 1] : 0));
  }
  for (int k = 0; k < 60 && low < high; ++k) {
    double x = 0.5 * (low + high), pivot = alpha[0] - x;
    for (int i = 1; i < n && pivot < 0; ++i) pivot = alpha[i] - x - beta[i] * beta[i] / pivot;
    *(pivot < 0 ? &high : &low) = x;
  }
  return high;
}

static void fill_random(void* ctx, size_t begin, size_t end) {
  const lanczos* job = ctx;
  sn_random random = sn_random_seeded(job->level->unknown_count + begin);
  for (size_t i = begin; i < end; ++i) {
    float value = (float)sn_random_symmetric(&random);
    job->v[i] = sn_is_held(job->level->held, i) ? 0 : value;
    job->before[i] = 0;
  }
}

// From fixed random numbers, in b and x.
static void estimate_largest(const sn_mg* mg, sn_mg_level* level, sn_pool* pool) {
  lanczos job = {.level = level, .v = level->b, .before = level->x};
  size_t n = level->unknown_count;
  double alpha[MOST_LANCZOS_STEPS], beta[MOST_LANCZOS_STEPS], largest = 1;
  sn_parallel_for(pool, n, MIN_BLOCK, fill_random, &job);
  if (normalise(&job, pool) > 0) {
    bool growing = mg->opts.smoother == SN_MG_CHEBYSHEV;
    for (int k = 0; k < LANCZOS_STEPS || (growing && k < MOST_LANCZOS_STEPS); ++k) {
      multiply(level, pool, job.v, 0, NULL);
      mask(level, pool, level->r);
      alpha[k] = sn_vector_dot_f(pool, n, job.v, level->r);
      double found = largest_of(k + 1, alpha, beta);
      growing = growing && found > (1 + STILL_GROWING) * largest;
      largest = fmax(found, largest);
      if (k + 1 == MOST_LANCZOS_STEPS) break;
      job.alpha = (float)alpha[k];
      sn_parallel_for(pool, n, MIN_BLOCK, lanczos_next, &job);
      add_block_products(level, job.before);
      float* next = job.before;
      job.before = job.v;
      job.v = next;
      beta[k + 1] = normalise(&job, pool);
      if (!(beta[k + 1] > 1e-6 * largest)) break;  // an invariant space: all is known
      job.beta = (float)beta[k + 1];
    }
  }
  level->largest = EIGENVALUE_MARGIN * largest;
}

// The coarsest operator as a matrix, column by column, then its factor.
static void factor_coarsest(sn_mg* mg, sn_pool* pool) {
  const sn_mg_level* last = &mg->levels[mg->level_count - 1];
  memset(last->b, 0, last->unknown_count * sizeof *last->b);
  for (int j = 0; j < mg->n; ++j) {
    last->b[mg->unknowns[j]] = 1;
    multiply(last, pool, last->b, 0, NULL);
    last->b[mg->unknowns[j]] = 0;
    for (int i = j; i < mg->n; ++i) mg->factor[(size_t)i * mg->n + j] = last->r[mg->unknowns[i]];
  }
  sn_cholesky_factor(mg->n, mg->factor);
}

void sn_mg_clear_blocks(sn_mg_level* level) {
  for (uint32_t i = 0; i < level->blocks.count; ++i)
    level->blocks.places[level->blocks.nodes[i]] = 0;
  level->blocks.count = 0;
}

static float* find_block(sn_mg_blocks* blocks, uint32_t node) {
  if (blocks->capacity == 0) return NULL;
  if (blocks->places[node] == 0) {
    if (blocks->count == blocks->capacity) return NULL;
    blocks->nodes[blocks->count] = node;
    memset(blocks->diagonal[blocks->count], 0, sizeof *blocks->diagonal);
    blocks->places[node] = ++blocks->count;
  }
  return blocks->diagonal[blocks->places[node] - 1];
}

void sn_mg_add_block(sn_mg_level* level, uint32_t node, const float block[6]) {
  float* own = find_block(&level->blocks, node);
  for (int k = 0; k < 6 && own; ++k) own[k] += block[k];
  if (own) return;
  float* b = level->b + 3 * (size_t)node;
  b[0] += fabsf(block[0]) + fabsf(block[3]) + fabsf(block[4]);
  b[1] += fabsf(block[3]) + fabsf(block[1]) + fabsf(block[5]);
  b[2] += fabsf(block[4]) + fabsf(block[5]) + fabsf(block[2]);
}

// Inverse of a symmetric, positive matrix, by cofactors.
static void invert_block(const float m[6], float inverse[6]) {
  double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5];
  double a = yy * zz - yz * yz, b = xz * yz - xy * zz, c = xy * yz - xz * yy;
  double det = xx * a + xy * b + xz * c;
  double s = det > 0 ? 1 / det : 0;
  inverse[0] = (float)(s * a);
  inverse[1] = (float)(s * (xx * zz - xz * xz));
  inverse[2] = (float)(s * (xx * yy - xy * xy));
  inverse[3] = (float)(s * b);
  inverse[4] = (float)(s * c);
  inverse[5] = (float)(s * (xy * xz - xx * yz));
}

// The inverse on the axes of a node that are free, 0 on those that are held.
static void invert_free_part(const sn_mg_level* l, size_t at, const float m[6], float inverse[6]) {
  static const int BESIDE[3][2] = {{3, 4}, {3, 5}, {4, 5}};
  float part[6];
  memcpy(part, m, sizeof part);
  for (int k = 0; k < 3; ++k) {
    if (!sn_is_held(l->held, at + (size_t)k)) continue;
    part[k] = 1;
    part[BESIDE[k][0]] = part[BESIDE[k][1]] = 0;
  }
  invert_block(part, inverse);
  for (int k = 0; k < 3; ++k) {
    if (sn_is_held(l->held, at + (size_t)k)) inverse[k] = 0;
  }
}

// Whatever the diagonal has at nodes with blocks goes into these.
static void set_block_diagonals(sn_mg_level* l) {
  for (uint32_t i = 0; i < l->blocks.count; ++i) {
    size_t at = 3 * (size_t)l->blocks.nodes[i];
    float* diagonal = l->blocks.diagonal[i];
    for (int k = 0; k < 3; ++k) {
      diagonal[k] += l->r[at + k] + l->springs[at + k] + l->b[at + k];
      l->inverse_diagonal[at + k] = 0;
    }
    invert_free_part(l, at, diagonal, l->blocks.inverse[i]);
  }
}

static void set_diagonal(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) {
    bool held = sn_is_held(l->held, i);
    float sum = l->r[i] + l->springs[i] + l->b[i];
    l->inverse_diagonal[i] = held || !(sum > 0) ? 0 : 1 / sum;
  }
}

// What becomes springs of the next level.
static void lower_springs(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* l = ((const vector_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) {
    l->r[i] = l->springs[i] + (sn_is_held(l->held, i) ? l->r[i] : 0);
  }
}

void sn_mg_set_diagonal(sn_mg_level* level, sn_pool* pool) {
  vector_job job = {.level = level};
  run(&job, pool, set_diagonal);
  set_block_diagonals(level);
  run(&job, pool, lower_springs);
  if (level->coarser) {
    sn_transfer_restrict(level->coarser, pool, level->r, level[1].springs);
  }
}

void sn_mg_update(sn_mg* mg, sn_pool* pool, bool estimate) {
  if (estimate) mg->caution = 1;
  if (estimate) mg->once = false;
  int visited = mg->solve ? mg->solved : mg->level_count;
  for (int l = 0; l < visited && estimate; ++l) estimate_largest(mg, &mg->levels[l], pool);
  if (!mg->solve && coarsest_is_dense(mg)) factor_coarsest(mg, pool);
}

void sn_mg_weaken(sn_mg* mg) {
  bool twice = mg->opts.twice && !mg->once && mg->solve && mg->solved > 2;
  mg->once = true;
  if (!twice) mg->caution *= 1.5;
}
