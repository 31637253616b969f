// The preconditioner of the whole problem: the diagonal, or one multigrid cycle a body.
#include "scene/model.h"
#include "solve/vector.h"

// The sum of the terms that are diagonals.
static void sum_diagonals(sn_state* state, double* sum) {
  sn_vector_fill(state->pool, state->problem.unknown_count, 0, sum);
  for (int t = 0; t < state->problem.term_count; ++t) {
    const sn_term* term = &state->terms[t];
    if (term->levels == SN_LEVELS_DIAGONAL && term->ops->diagonal) {
      term->ops->diagonal(term, state->pool, sum);
    }
  }
}

static void update(void* ctx, sn_pool* pool, sn_fit fit) {
  sn_state* state = ctx;
  double* sum = state->newton.step;  // not in use while a step is prepared
  void* narrow = sum;
  float* narrow_sum = narrow;
  sn_cg_work cg = sn_newton_cg_work(state->problem.unknown_count, &state->newton);
  sum_diagonals(state, sum);
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    sn_body_multigrid* m = &state->multigrids[b];
    sn_mg_level* finest = &m->levels[0];
    m->rests = !state->by_macroblocks && !m->mg.smooth;
    finest->b = cg.direction + m->body->begin;  // not in use yet
    const double* own = sum + m->body->begin;
    finest->unsprung = sn_vector_dot(pool, finest->unknown_count, own, own) == 0;
    sn_vector_narrow(pool, finest->unknown_count, 1, own, finest->springs);
    state->terms[SN_BODY_TERMS * b].springs = finest->unsprung ? NULL : finest->springs;
    finest->x = narrow_sum + m->body->begin;  // over sums of bodies that have been here
    if (state->contact.model->contact.any) sn_contact_levels_update(&state->contact_levels[b]);
    if (m->body->muscles.count > 0) sn_muscle_levels_update(&state->muscle_levels[b], pool);
    sn_body_multigrid_update(m, pool, fit);
  }
  sn_rigid_modes_update(&state->rigid_modes, state->contact.model->bodies, state->multigrid_count,
                        &state->contact.set, &state->problem, pool, state->u, cg.direction,
                        cg.product);
}

static double apply(void* ctx, sn_pool* pool, const float* r, float* z) {
  sn_state* state = ctx;
  double product = 0;
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    sn_body_multigrid* m = &state->multigrids[b];
    size_t begin = m->body->begin;
    if (state->by_macroblocks) {
      sn_macroblocks_apply(&m->macroblocks, &m->mg, pool, r + begin, z + begin);
      product += sn_vector_dot_f(pool, m->levels[0].unknown_count, r + begin, z + begin);
    } else {
      product += sn_mg_cycle(&m->mg, pool, r + begin, z + begin);
    }
  }
  if (state->rigid_modes.count == 0) return product;
  size_t n = state->problem.unknown_count;
  sn_rigid_modes_apply(&state->rigid_modes, pool, state->u, r, z);
  sn_vector_mask_f(pool, n, state->problem.held, 0, z);
  return sn_vector_dot_f(pool, n, r, z);
}

// With a V-cycle on the interface each application settles what it is given.
static bool settle(void* ctx, sn_pool* pool, const float* r, float* z) {
  sn_state* state = ctx;
  bool any = false;
  for (uint32_t b = 0; b < state->multigrid_count && state->by_macroblocks; ++b) {
    const sn_body_multigrid* m = &state->multigrids[b];
    const sn_macroblocks_work* work = &m->macroblocks;
    if (work->interface == SN_INTERFACE_MULTIGRID) continue;
    any |= sn_macroblocks_settle(work, pool, r + m->body->begin, z + m->body->begin);
  }
  return any;
}

static void weaken(void* ctx) {
  sn_state* state = ctx;
  for (uint32_t b = 0; b < state->multigrid_count; ++b) sn_mg_weaken(&state->multigrids[b].mg);
}

// lambda / mu above which Chebyshev takes less time than Jacobi; docs/theory/incompressible.md.
#define CHEBYSHEV_PAYS 40.0
// The same among contacts, which are stiffer than any flesh.
#define CHEBYSHEV_PAYS_IN_CONTACT 100.0

bool sn_flesh_is_stiff(const sn_model* model) {
  double pays = model->contact.any ? CHEBYSHEV_PAYS_IN_CONTACT : CHEBYSHEV_PAYS;
  return sn_pressures_are_kept(model) || model->largest_bulk > pays;
}

static sn_mg_smoother choose_smoother(const sn_model* model, const sn_hierarchy* hierarchy) {
  switch (model->scene->solver.multigrid.smoother) {
    case SN_SMOOTHER_JACOBI:
      return SN_MG_JACOBI;
    case SN_SMOOTHER_CHEBYSHEV:
      return SN_MG_CHEBYSHEV;
    case SN_SMOOTHER_AUTO:
      break;
  }
  bool chebyshev = hierarchy->solved > 0 || sn_flesh_is_stiff(model);
  return chebyshev ? SN_MG_CHEBYSHEV : SN_MG_JACOBI;
}

// With pressures kept a stronger smoother takes fewer iterations and no more time.
#define KEPT_DEGREE 7

// Of flesh that is not stiff, above a level that is solved directly: iterations cost more, and a little smoothing saves many.
#define DIRECT_DEGREE 2

static int choose_degree(const sn_model* model, const sn_hierarchy* hierarchy) {
  const sn_multigrid_opts* asked = &model->scene->solver.multigrid;
  if (asked->smoother != SN_SMOOTHER_AUTO) return asked->degree;
  if (sn_pressures_are_kept(model)) {
    return asked->degree > KEPT_DEGREE ? asked->degree : KEPT_DEGREE;
  }
  return hierarchy->solved > 0 && !sn_flesh_is_stiff(model) ? DIRECT_DEGREE : asked->degree;
}

// What acts on a body's levels beside its flesh.
static sn_status add_more_stiffness(const sn_model* model, sn_state* state, uint32_t b,
                                    sn_error* err) {
  const sn_body* body = &model->bodies[b];
  const sn_hierarchy* hierarchy = &model->hierarchies[b];
  if (body->muscles.count > 0) {
    sn_muscle_levels* levels = &state->muscle_levels[b];
    SN_TRY(sn_muscle_levels_create(&body->muscles, &state->bodies[b].muscles, hierarchy,
                                   state->arena, levels, err));
    sn_body_multigrid_add(&state->multigrids[b], &levels->more);
  }
  if (!model->contact.any) return SN_OK;
  sn_contact_levels* levels = &state->contact_levels[b];
  SN_TRY(sn_contact_levels_create(&state->contact.set, body, hierarchy, state->arena, levels, err));
  sn_body_multigrid_add(&state->multigrids[b], &levels->more);
  return SN_OK;
}

static sn_status create_multigrid(const sn_model* model, sn_state* state, sn_error* err) {
  const sn_multigrid_opts* asked = &model->scene->solver.multigrid;
  sn_mg_opts opts = {
      .damping = asked->damping,
      .twice = sn_pressures_are_kept(model),
      .coarsest = asked->coarsest == SN_COARSEST_JACOBI ? SN_MG_JACOBI_16 : SN_MG_CHOLESKY};
  sn_cg_work cg = sn_newton_cg_work(model->unknown_count, &state->newton);
  SN_TRY(SN_ARENA_NEW(state->arena, model->body_count, &state->multigrids, err));
  SN_TRY(SN_ARENA_NEW(state->arena, model->body_count, &state->contact_levels, err));
  SN_TRY(SN_ARENA_NEW(state->arena, model->body_count, &state->muscle_levels, err));
  SN_TRY(sn_rigid_modes_create(state->arena, &state->rigid_modes, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    opts.smoother = choose_smoother(model, &model->hierarchies[b]);
    opts.degree = choose_degree(model, &model->hierarchies[b]);
    SN_TRY(sn_body_multigrid_create(&model->bodies[b], &state->bodies[b].flesh,
                                    &model->hierarchies[b], opts, model->contact.any,
                                    cg.product + model->bodies[b].begin, state->arena,
                                    &state->multigrids[b], err));
    SN_TRY(add_more_stiffness(model, state, b, err));
    if (model->hierarchies[b].solved < 0) continue;
    SN_TRY(sn_body_multigrid_add_direct(&state->multigrids[b], state->pool, state->arena, err));
  }
  state->multigrid_count = model->body_count;
  state->problem.summed = true;
  state->preconditioner = (sn_preconditioner){.update = update,
                                              .apply = apply,
                                              .settle = settle,
                                              .weaken = weaken,
                                              .ctx = state,
                                              .strong = true};
  state->has_preconditioner = true;
  return SN_OK;
}

static const sn_interface INTERFACE[] = {[SN_MACROBLOCK_MULTIGRID] = SN_INTERFACE_MULTIGRID,
                                         [SN_MACROBLOCK_JACOBI] = SN_INTERFACE_JACOBI,
                                         [SN_MACROBLOCK_FACES] = SN_INTERFACE_FACES,
                                         [SN_MACROBLOCK_NONE] = SN_INTERFACE_NONE};

void sn_preconditioner_set_interface(sn_state* state, sn_macroblock_interface interface) {
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    state->multigrids[b].macroblocks.interface = INTERFACE[interface];
  }
}

void sn_preconditioner_smooth_by_blocks(sn_state* state, bool on) {
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    sn_body_multigrid* m = &state->multigrids[b];
    m->mg.smooth = on ? sn_macroblocks_smooth : NULL;
    m->mg.smooth_ctx = &m->macroblocks;
  }
}

// Where cells have rules of their own products with these are those of matrices, as solutions in blocks are.
static sn_status create_macroblocks(const sn_model* model, sn_state* state, sn_error* err) {
  SN_TRY(create_multigrid(model, state, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_flesh* flesh = &model->bodies[b].flesh;
    if (flesh->cut) {
      SN_TRY(sn_flesh_keep_matrices(flesh, state->arena, &state->bodies[b].flesh, err));
    }
    SN_TRY(sn_body_multigrid_add_macroblocks(&state->multigrids[b],
                                             INTERFACE[model->scene->solver.interface], state->pool,
                                             state->arena, err));
  }
  state->by_macroblocks = true;
  return SN_OK;
}

sn_status sn_preconditioner_create(const sn_model* model, sn_state* state, sn_error* err) {
  switch (model->scene->solver.linear) {
    case SN_LINEAR_CG:
    case SN_LINEAR_QMR:
      break;
    case SN_LINEAR_JACOBI_CG:
      state->jacobi.problem = &state->problem;
      SN_TRY(SN_ARENA_NEW(state->arena, model->unknown_count, &state->jacobi.diagonal, err));
      state->preconditioner = sn_jacobi_preconditioner(&state->jacobi);
      state->has_preconditioner = true;
      break;
    case SN_LINEAR_MULTIGRID:
    case SN_LINEAR_MULTIGRID_ONLY:
    case SN_LINEAR_MINRES:
    case SN_LINEAR_DIRECT:
    case SN_LINEAR_AUTO:
      return create_multigrid(model, state, err);
    case SN_LINEAR_MACROBLOCK:
      return create_macroblocks(model, state, err);
  }
  return SN_OK;
}
