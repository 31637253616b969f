// The preconditioner of the whole problem: the diagonal, or one multigrid cycle a body.
#include "scene/model.h"
#include "solve/vector.h"

// Stiffness of the terms that multigrid has no version of, lumped to the diagonal.
static void find_other_stiffness(sn_state* state, double* stiffness) {
  sn_vector_fill(state->pool, state->problem.unknown_count, 0, stiffness);
  for (int t = 0; t < state->problem.term_count; ++t) {
    const sn_term* term = &state->terms[t];
    if (term->on_all_levels || !term->ops->diagonal) continue;
    term->ops->diagonal(term, state->pool, stiffness);
  }
}

static void update(void* ctx, sn_pool* pool, const double* u, bool first) {
  sn_state* state = ctx;
  double* stiffness = state->newton.step;  // not in use while a step is prepared
  (void)u;
  find_other_stiffness(state, stiffness);
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    sn_body_multigrid* m = &state->multigrids[b];
    sn_vector_narrow(pool, m->levels[0].unknown_count, stiffness + m->body->begin,
                     m->levels[0].springs);
    sn_body_multigrid_update(m, pool, first);
  }
}

static void apply(void* ctx, sn_pool* pool, const double* r, float* z) {
  sn_state* state = ctx;
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    sn_body_multigrid* m = &state->multigrids[b];
    sn_mg_cycle(&m->mg, pool, r + m->body->begin, z + m->body->begin);
  }
}

static void weaken(void* ctx) {
  sn_state* state = ctx;
  for (uint32_t b = 0; b < state->multigrid_count; ++b) sn_mg_weaken(&state->multigrids[b].mg);
}

static sn_status create_multigrid(const sn_model* model, sn_state* state, sn_error* err) {
  const sn_multigrid_opts* asked = &model->scene->solver.multigrid;
  sn_mg_opts opts = {
      .smoother = asked->smoother == SN_SMOOTHER_CHEBYSHEV ? SN_MG_CHEBYSHEV : SN_MG_JACOBI,
      .damping = asked->damping,
      .degree = asked->degree,
      .coarsest = asked->coarsest == SN_COARSEST_JACOBI ? SN_MG_JACOBI_16 : SN_MG_CHOLESKY};
  SN_TRY(SN_ARENA_NEW(state->arena, model->body_count, &state->multigrids, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    SN_TRY(sn_body_multigrid_create(&model->bodies[b], &state->bodies[b].flesh,
                                    &model->hierarchies[b], opts,
                                    state->newton.cg.product + model->bodies[b].begin, state->arena,
                                    &state->multigrids[b], err));
  }
  state->multigrid_count = model->body_count;
  state->preconditioner = (sn_preconditioner){update, apply, weaken, state, true};
  state->has_preconditioner = true;
  return SN_OK;
}

sn_status sn_preconditioner_create(const sn_model* model, sn_state* state, sn_error* err) {
  switch (model->scene->solver.linear) {
    case SN_LINEAR_CG:
      break;
    case SN_LINEAR_JACOBI_CG:
      state->jacobi.problem = &state->problem;
      SN_TRY(SN_ARENA_NEW(state->arena, model->unknown_count, &state->jacobi.diagonal, err));
      state->preconditioner = sn_jacobi_preconditioner(&state->jacobi);
      state->has_preconditioner = true;
      break;
    case SN_LINEAR_MULTIGRID:
    case SN_LINEAR_MULTIGRID_ONLY:
      return create_multigrid(model, state, err);
  }
  return SN_OK;
}
