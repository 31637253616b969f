// Which bodies keep their pressures as unknowns, and the solvers for that.
#include "body/body_pressure.h"
#include "scene/model.h"

// Above this lambda / mu a system with pressures kept is solved in less time than the condensed one.
#define KEPT_PAYS 100.0
// lambda / mu that is left to the displacements where pressures are kept, and that in cells at nodes that
// are held or tied. docs/theory/incompressible.md has the measurements behind all three.
#define MOST_BULK 10.0
#define HELD_BULK 100.0

static bool uses_multigrid(sn_linear_solver linear) {
  return sn_linear_is_multigrid(linear) || linear == SN_LINEAR_MINRES ||
         linear == SN_LINEAR_MACROBLOCK;
}

bool sn_pressures_are_kept(const sn_model* model) {
  const sn_solver_opts* solver = &model->scene->solver;
  bool able = uses_multigrid(solver->linear) || solver->linear == SN_LINEAR_QMR;
  switch (solver->pressure) {
    case SN_PRESSURE_CONDENSED:
      return false;
    case SN_PRESSURE_KEPT:
      return able;
    case SN_PRESSURE_AUTO:
      break;
  }
  // Cut cells leave nothing to pressures, and what they keep makes a mixed system slower than the other.
  for (uint32_t b = 0; b < model->body_count; ++b) {
    if (model->bodies[b].cut.count > 0) return false;
  }
  bool by_cg = sn_linear_is_multigrid(solver->linear) || solver->linear == SN_LINEAR_MACROBLOCK;
  double pays = by_cg ? KEPT_PAYS : MOST_BULK;
  return able && model->largest_bulk > pays;
}

// Without a preconditioner pressures should be as stiff as the flesh: mu / h.
static double bare_scale(const sn_model* model) {
  double asked = model->scene->solver.pressure_scale;
  if (asked > 0 || model->scene->solver.linear != SN_LINEAR_QMR) return asked;
  const sn_body* first = &model->bodies[0];
  return sn_body_mu(first, 0) / first->tree.cell;
}

// Room for the pressures of all bodies.
static sn_status create_pressures(const sn_model* model, sn_state* state, sn_error* err) {
  size_t count = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    if (sn_body_has_pressures(&model->bodies[b], MOST_BULK)) {
      count += sn_flesh_place_count(&model->bodies[b].flesh);
    }
  }
  SN_TRY(SN_ARENA_NEW(state->arena, count, &state->pressure, err));
  return SN_ARENA_NEW(state->arena, count, &state->pressure_before, err);
}

static sn_status keep(const sn_model* model, sn_state* state, sn_error* err) {
  sn_keep_opts opts = {.most_bulk = MOST_BULK, .held_bulk = HELD_BULK, .scale = bare_scale(model)};
  if (model->scene->solver.linear != SN_LINEAR_QMR) {
    SN_TRY(create_pressures(model, state, err));
    opts.pressure = state->pressure;
    state->problem.mixed = true;
  }
  sn_body_pressures* works;
  sn_pressures* spaces;
  SN_TRY(SN_ARENA_NEW(state->arena, model->body_count, &works, err));
  SN_TRY(SN_ARENA_NEW(state->arena, model->body_count, &spaces, err));
  sn_problem* problem = &state->problem;
  problem->pressures = spaces;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    if (!sn_body_has_pressures(body, opts.most_bulk)) continue;
    int s = problem->pressure_space_count++;
    sn_body_multigrid* multigrid = state->multigrid_count > 0 ? &state->multigrids[b] : NULL;
    SN_TRY(sn_body_keep_pressures(body, &state->bodies[b].flesh, multigrid, &opts, state->arena,
                                  &works[s], problem->pressure_count, &spaces[s], err));
    problem->pressure_count += spaces[s].count;
  }
  return SN_OK;
}

sn_status sn_pressures_create(const sn_model* model, sn_state* state, sn_error* err) {
  sn_linear_solver linear = model->scene->solver.linear;
  bool kept = sn_pressures_are_kept(model);
  if (kept) SN_TRY(keep(model, state, err));
  state->krylov = linear == SN_LINEAR_MULTIGRID_ONLY   ? SN_KRYLOV_NONE
                  : linear == SN_LINEAR_QMR            ? SN_KRYLOV_SQMR
                  : linear == SN_LINEAR_MINRES || kept ? SN_KRYLOV_MINRES
                                                       : SN_KRYLOV_CG;
  if (state->krylov == SN_KRYLOV_MINRES || state->krylov == SN_KRYLOV_SQMR) {
    return sn_minres_work_create(&state->problem, state->arena, &state->newton.minres, err);
  }
  return SN_OK;
}
