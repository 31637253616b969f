// One frame: the method, in the order in which it happens.
#include <math.h>

#include "base/timer.h"
#include "math/vec.h"
#include "scene/model.h"

static double gravity_energy(const sn_model* model, const sn_state* state) {
  double sum = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      if (!body->part_is_held[body->node_parts[n]]) continue;
      sn_vec3 move = sn_load3(state->u + body->begin + 3 * (size_t)n);
      sum -= body->node_mass[n] * sn_dot(model->scene->gravity, move);
    }
  }
  return sum;
}

static void measure(const sn_model* model, sn_state* state, sn_frame_stats* stats) {
  double rest_volume = 0;
  stats->min_j = INFINITY;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    const double* u = state->u + body->begin;
    sn_flesh_measure m = sn_flesh_get_measure(&body->flesh, state->pool, u);
    stats->volume += m.volume;
    stats->inverted += m.inverted;
    if (m.min_j < stats->min_j) stats->min_j = m.min_j;
    stats->energy_elastic +=
        sn_flesh_evaluate(&body->flesh, state->pool, &state->bodies[b].flesh, u, NULL);
    for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
      double h = sn_octree_edge(&body->tree, e);
      rest_volume += h * h * h;
    }
    stats->elements += body->tree.cell_count;
    stats->unknowns += 3 * ((uint64_t)body->tree.node_count - body->held_count);
  }
  stats->volume_error = stats->volume / rest_volume - 1;
  stats->energy_gravity = gravity_energy(model, state);
  stats->work = state->work;
  stats->bytes = sn_memory_used();
  stats->memory = sn_state_memory(model, state);
}

static sn_newton_opts newton_options(const sn_model* model, const sn_state* state) {
  const sn_solver_opts* solver = &model->scene->solver;
  bool multigrid = state->multigrid_count > 0;
  return (sn_newton_opts){
      .max = solver->newton_max,
      .tolerance = solver->newton_tolerance,
      .krylov_max = solver->krylov_max ? solver->krylov_max
                    : multigrid        ? 20
                                       : 400,
      .krylov_tolerance = solver->krylov_tolerance,
      .preconditioner = state->has_preconditioner ? &state->preconditioner : NULL,
      .stationary = solver->linear == SN_LINEAR_MULTIGRID_ONLY};
}

// Bring the bodies into balance with the pose at `time`; adds up in `stats`.
static sn_status solve_pose(const sn_model* model, sn_state* state, double time,
                            sn_frame_stats* stats, sn_error* err) {
  sn_newton_opts opts = newton_options(model, state);
  sn_newton_work work = state->newton;
  work.krylov += stats->newton;                      // behind the steps of the poses before
  SN_TRY(sn_pose_advance(model, state, time, err));  // bones, constraints, loads
  sn_newton_result newton = sn_newton_solve(&state->problem, state->pool, &opts, &work, state->u);
  sn_free_parts_align(model, state);
  sn_pose_finish(model, state);  // reactions, work
  stats->newton += newton.steps;
  stats->residual = newton.residual;
  stats->stop = (sn_stop)newton.stop;
  return SN_OK;
}

sn_status sn_step(const sn_model* model, sn_state* state, int frame, sn_frame_stats* stats,
                  sn_error* err) {
  double start = sn_seconds();
  const sn_scene* scene = model->scene;
  *stats = (sn_frame_stats){.frame = frame,
                            .time = (frame - scene->first_frame) / scene->fps,
                            .krylov = state->newton.krylov,
                            .converged = true};
  if (!state->solved) {
    // The first frame has no pose to come from; it may take a preroll of solves to settle.
    for (int k = 0; k <= scene->preroll && (k == 0 || stats->stop == SN_STOP_MAX); ++k) {
      stats->newton = 0;
      SN_TRY(solve_pose(model, state, frame, stats, err));
    }
    stats->converged = stats->stop == SN_STOP_CONVERGED;
    state->work = 0;  // counted from here: settling is no motion
  } else {
    for (int k = 1; k <= scene->substeps; ++k) {
      double time = frame - 1 + (double)k / scene->substeps;
      SN_TRY(solve_pose(model, state, time, stats, err));
      stats->converged = stats->converged && stats->stop == SN_STOP_CONVERGED;
    }
  }
  state->frame = frame;
  measure(model, state, stats);
  stats->seconds = sn_seconds() - start;
  return SN_OK;
}
