// Convergence of the linear solvers, apart from Newton's method.
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "math/random.h"
#include "scene/model.h"
#include "solve/vector.h"

typedef struct study {
  const sn_study_opts* opts;
  const double* start;
  size_t count;
  double largest;  // displacement at the start, or energy norm
  const sn_state* state;
  double *error, *product;  // where the energy norm is watched (count)
} study;

static double largest_of(const study* s, double scale, const double* x) {
  double largest = 0;
  for (size_t i = 0; i < s->count; ++i) {
    double value = fabs(x ? s->start[i] + scale * x[i] : s->start[i]);
    if (value > largest) largest = value;
  }
  return largest;
}

static void watch_reference(void* ctx, int iteration, double scale, const double* x) {
  const study* s = ctx;
  double off = 0, size = 0;
  for (size_t i = 0; i < s->count; ++i) {
    double r = s->opts->reference[i], d = scale * x[i] - r;
    off += d * d;
    size += r * r;
  }
  s->opts->watch(s->opts->watch_ctx, iteration, size > 0 ? sqrt(off / size) : 0);
}

static double energy_of(const study* s, double scale, const double* x) {
  sn_pool* pool = s->state->pool;
  memcpy(s->error, s->start, s->count * sizeof *s->error);
  if (x) sn_vector_add(pool, s->count, scale, x, s->error);
  sn_problem_apply_d(&s->state->problem, pool, SN_HESSIAN_DEFINITE, s->error, s->product);
  return sqrt(sn_vector_dot(pool, s->count, s->error, s->product));
}

static double error_of(const study* s, double scale, const double* x) {
  return s->opts->energy ? energy_of(s, scale, x) : largest_of(s, scale, x);
}

static void watch(void* ctx, int iteration, double scale, const double* x) {
  const study* s = ctx;
  s->opts->watch(s->opts->watch_ctx, iteration, error_of(s, scale, x) / s->largest);
}

static void set_random(const sn_model* model, const sn_study_opts* opts, double* u) {
  sn_random random = sn_random_seeded(opts->seed);
  for (size_t i = 0; i < model->unknown_count; ++i) {
    double value = opts->amount * sn_random_symmetric(&random);
    u[i] = sn_is_held(model->held, i) ? 0 : value;
  }
}

static void set_weight(const sn_model* model, double* b) {
  for (uint32_t k = 0; k < model->body_count; ++k) {
    const sn_body* body = &model->bodies[k];
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      double* at = b + body->begin + 3 * (size_t)n;
      at[0] = at[2] = 0;
      at[1] = -9.81 * body->node_mass[n];
    }
  }
}

static const sn_preconditioner* choose_preconditioner(sn_state* state, const sn_study_opts* opts,
                                                      double* diagonal, sn_preconditioner* jacobi) {
  if (opts->linear == SN_LINEAR_CG || opts->linear == SN_LINEAR_QMR) return NULL;
  if (opts->linear != SN_LINEAR_JACOBI_CG) return &state->preconditioner;
  state->jacobi = (sn_jacobi){&state->problem, diagonal};
  *jacobi = sn_jacobi_preconditioner(&state->jacobi);
  return jacobi;
}

static sn_krylov choose_krylov(const sn_state* state, const sn_study_opts* opts) {
  if (opts->linear == SN_LINEAR_MULTIGRID_ONLY) return SN_KRYLOV_NONE;
  bool own = opts->linear == SN_LINEAR_MINRES || opts->linear == SN_LINEAR_QMR ||
             sn_linear_is_multigrid(opts->linear) || opts->linear == SN_LINEAR_MACROBLOCK;
  return own ? state->krylov : SN_KRYLOV_CG;
}

static sn_status solve(const sn_model* model, sn_state* state, const sn_study_opts* opts,
                       sn_arena* arena, sn_study_result* result, sn_error* err) {
  size_t n = model->unknown_count;
  bool loaded = opts->load || opts->weight;
  double *rest = state->u, *b = state->newton.gradient, *diagonal = NULL;
  double* start = state->newton.step;  // enough until the solution comes there
  if (!loaded && (opts->watch || opts->energy)) SN_TRY(SN_ARENA_NEW(arena, n, &start, err));
  if (opts->linear == SN_LINEAR_JACOBI_CG) SN_TRY(SN_ARENA_NEW(arena, n, &diagonal, err));
  sn_preconditioner jacobi;
  const sn_preconditioner* preconditioner = choose_preconditioner(state, opts, diagonal, &jacobi);
  if (!opts->here) sn_vector_fill(state->pool, n, 0, rest);
  double setup_begin = sn_seconds();
  sn_problem_linearise(&state->problem, state->pool, rest);
  if (preconditioner) preconditioner->update(preconditioner->ctx, state->pool, SN_FIT_FRAME);

  double setup_seconds = sn_seconds() - setup_begin;

  // K d = b. Without a load x = start + d with K d = -K start: zero is the solution, x the error.
  study s = {.opts = opts, .start = start, .count = n, .state = state};
  if (opts->energy) {
    SN_TRY(SN_ARENA_NEW(arena, n, &s.error, err));
    SN_TRY(SN_ARENA_NEW(arena, n, &s.product, err));
  }
  if (loaded) {
    if (opts->load) memcpy(b, opts->load, n * sizeof *b);
    if (opts->weight) set_weight(model, b);
    sn_vector_mask(state->pool, n, model->held, 0, b);
  } else {
    set_random(model, opts, start);
    if (opts->start) memcpy(start, opts->start, n * sizeof *start);
    sn_vector_mask(state->pool, n, model->held, 0, start);
    sn_problem_apply_d(&state->problem, state->pool, SN_HESSIAN_DEFINITE, start, b);
    sn_vector_scale(state->pool, n, -1, b);
    s.largest = error_of(&s, 0, NULL);
  }
  sn_cg_opts cg = {.kind = SN_HESSIAN_DEFINITE,
                   .preconditioner = preconditioner,
                   .max = opts->max,
                   .tolerance = opts->tolerance,
                   .unverified = opts->own_residual || (opts->watch && opts->reference),
                   .watch_ctx = &s};
  if (opts->watch) cg.watch = !loaded ? watch : opts->reference ? watch_reference : NULL;
  double begin = sn_seconds();
  sn_cg_result solved =
      sn_newton_solve_linear(&state->problem, state->pool, choose_krylov(state, opts), &cg,
                             &state->newton, b, state->newton.step);
  *result = (sn_study_result){.iterations = solved.iterations,
                              .seconds = sn_seconds() - begin,
                              .setup_seconds = setup_seconds,
                              .converged = solved.stop == SN_CG_CONVERGED};
  if (opts->solution) memcpy(opts->solution, state->newton.step, n * sizeof *opts->solution);
  // |K d - b| / |b|, from scratch
  double* left = state->newton.trial;
  sn_problem_apply_d(&state->problem, state->pool, SN_HESSIAN_DEFINITE, state->newton.step, left);
  sn_vector_add(state->pool, n, -1, b, left);
  result->residual =
      sqrt(sn_vector_dot(state->pool, n, left, left) / sn_vector_dot(state->pool, n, b, b));
  return SN_OK;
}

static bool has_macroblocks(const sn_state* state) {
  bool all = state->multigrid_count > 0;
  for (uint32_t b = 0; b < state->multigrid_count; ++b) all &= state->multigrids[b].has_macroblocks;
  return all;
}

sn_status sn_state_study(const sn_model* model, sn_state* state, const sn_study_opts* opts,
                         sn_study_result* result, sn_error* err) {
  bool multigrid = sn_linear_is_multigrid(opts->linear) ||
                   opts->linear == SN_LINEAR_MULTIGRID_ONLY || opts->linear == SN_LINEAR_MINRES;
  bool macroblocks = opts->linear == SN_LINEAR_MACROBLOCK;
  SN_CHECK(!(macroblocks || opts->blocks_smooth) || has_macroblocks(state), err, SN_ERR_USAGE,
           "study: the scene's solver is not macroblock; expected \"linear\": \"macroblock\"");
  SN_CHECK(!multigrid || state->multigrid_count > 0, err, SN_ERR_USAGE,
           "study: the scene's solver is not multigrid; expected \"linear\": \"multigrid\"");
  bool faces = macroblocks && opts->interface == SN_MACROBLOCK_FACES;
  SN_CHECK(!faces || model->scene->solver.interface == SN_MACROBLOCK_FACES, err, SN_ERR_USAGE,
           "study: the scene has no faces; expected \"macroblock\": {\"interface\": \"faces\"}");
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  bool before = state->by_macroblocks;
  state->by_macroblocks = macroblocks;
  if (macroblocks) sn_preconditioner_set_interface(state, opts->interface);
  sn_preconditioner_smooth_by_blocks(state, opts->blocks_smooth);
  sn_problem_sharpen(&state->problem, model->scene->solver.sharp);
  sn_status status = solve(model, state, opts, arena, result, err);
  state->by_macroblocks = before;
  sn_preconditioner_smooth_by_blocks(state, false);
  if (macroblocks) sn_preconditioner_set_interface(state, model->scene->solver.interface);
  sn_arena_destroy(arena);
  return status;
}

// Bytes that a pass moves: every array that it goes through counts once for each time it is read or
// written. Gathers are counted by the array, not by the access, as if caches were perfect, so this
// is what no pass can do with less of.
static double pass_bytes(const sn_body* body, sn_time_what what) {
  const sn_families* f = &body->families;
  double nodes = body->tree.node_count, slots = sn_families_slot_count(f);
  double packets = f->packet_count, places = (double)sn_families_place_count(f),
         listed = f->node_starts[f->chunk_count];
  double packet_bytes =
      SN_FAMILY_LANES * (SN_FAMILY_POINTS * sizeof *f->local + sizeof *f->hanging);
  sn_hessian kind = what == SN_TIME_EXACT ? SN_HESSIAN_EXACT : SN_HESSIAN_DEFINITE;
  double tangent_bytes = (double)sn_flesh_product_bytes(&body->flesh, kind);
  if (what == SN_TIME_POLAR) {
    // u read; F written, read and replaced by R, L written twice, the material read; of corotated flesh
    double exact_bytes = SN_HESSIAN_NUMBERS_COROTATED * sizeof(float);
    return packets * packet_bytes + places * (2 * tangent_bytes + exact_bytes) +
           listed * sizeof *f->chunk_nodes + nodes * sizeof(double[3]);
  }
  // p read; y cleared, added to and masked; slots written and collected
  return packets * packet_bytes + places * tangent_bytes + listed * sizeof *f->chunk_nodes +
         slots * (2 * sizeof(float[3]) + sizeof *f->shared_slots) + nodes * 4 * sizeof(float[3]);
}

// One pass through the macroblocks of all bodies.
static void run_blocks(sn_state* state, sn_time_what what) {
  sn_cg_work cg = sn_newton_cg_work(state->problem.unknown_count, &state->newton);
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    sn_body_multigrid* m = &state->multigrids[b];
    const float* p = cg.direction + m->body->begin;
    float* y = cg.product + m->body->begin;
    if (what == SN_TIME_BLOCK_FACTOR) sn_body_multigrid_factor(m, state->pool);
    if (what == SN_TIME_BLOCK_SOLVE) sn_macroblocks_solve(&m->macroblocks, state->pool, 1, p, y);
    if (what == SN_TIME_INTERFACE) {
      sn_macroblocks_multiply(&m->macroblocks, &m->levels[0], state->pool, p, y);
    }
  }
}

// Every factor is written or read once.
static sn_status time_blocks(sn_state* state, sn_time_what what, int repeats, sn_timing* timing,
                             sn_error* err) {
  SN_CHECK(has_macroblocks(state), err, SN_ERR_USAGE,
           "time: the scene's solver is not macroblock; expected \"linear\": \"macroblock\"");
  size_t n = state->problem.unknown_count;
  *timing = (sn_timing){.seconds = INFINITY};
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    uint32_t count = state->multigrids[b].macroblocks.blocks->count;
    timing->elements += count;
    timing->bytes += (double)count * sizeof(sn_block_factor);
  }
  sn_vector_fill(state->pool, n, 0, state->u);
  sn_problem_linearise(&state->problem, state->pool, state->u);
  state->preconditioner.update(state->preconditioner.ctx, state->pool, SN_FIT_FRAME);
  sn_vector_fill_f(state->pool, n, 1, sn_newton_cg_work(n, &state->newton).direction);
  for (int pass = 0; pass <= repeats; ++pass) {
    double begin = sn_seconds();
    run_blocks(state, what);
    double seconds = sn_seconds() - begin;
    if (pass > 0 && seconds < timing->seconds) timing->seconds = seconds;
  }
  return SN_OK;
}

sn_status sn_state_time(const sn_model* model, sn_state* state, sn_time_what what, int repeats,
                        sn_timing* timing, sn_error* err) {
  SN_CHECK(repeats >= 1, err, SN_ERR_USAGE, "repeats: found %d, expected 1 or more", repeats);
  if (what >= SN_TIME_BLOCK_FACTOR) return time_blocks(state, what, repeats, timing, err);
  *timing = (sn_timing){.seconds = INFINITY};
  double finest = INFINITY;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    timing->elements += model->bodies[b].tree.cell_count;
    timing->bytes += pass_bytes(&model->bodies[b], what);
    if (model->bodies[b].tree.cell < finest) finest = model->bodies[b].tree.cell;
  }
  set_random(model, &(sn_study_opts){.amount = 0.1 * finest, .seed = 1}, state->u);
  sn_problem_sharpen(&state->problem, model->scene->solver.sharp);
  sn_problem_linearise(&state->problem, state->pool, state->u);
  sn_cg_work cg = sn_newton_cg_work(model->unknown_count, &state->newton);
  sn_vector_narrow(state->pool, model->unknown_count, 1, state->u, cg.direction);
  for (int pass = 0; pass <= repeats; ++pass) {
    double begin = sn_seconds();
    if (what == SN_TIME_POLAR) {
      sn_problem_linearise(&state->problem, state->pool, state->u);
    } else {
      sn_hessian kind = what == SN_TIME_EXACT ? SN_HESSIAN_EXACT : SN_HESSIAN_DEFINITE;
      sn_problem_apply_f(&state->problem, state->pool, kind, cg.direction, cg.product);
    }
    double seconds = sn_seconds() - begin;
    if (pass > 0 && seconds < timing->seconds) timing->seconds = seconds;
  }
  return SN_OK;
}
