// One frame: the method, in the order in which it happens.
#include <math.h>
#include <time.h>

#include "math/vec.h"
#include "scene/model.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    stats->energy_elastic += sn_flesh_energy(&body->flesh, state->pool, u);
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
}

sn_status sn_step(const sn_model* model, sn_state* state, int frame, sn_frame_stats* stats,
                  sn_error* err) {
  double start = now();
  const sn_solver_opts* solver = &model->scene->solver;
  sn_newton_opts opts = {solver->newton_max, solver->newton_tolerance, solver->krylov_max,
                         solver->krylov_tolerance, solver->linear == SN_LINEAR_JACOBI_CG};

  SN_TRY(sn_pose_advance(model, state, frame, err));  // bones, constraints, loads
  sn_newton_result newton =
      sn_newton_solve(&state->problem, state->pool, &opts, &state->newton, state->u);
  sn_free_parts_align(model, state);
  sn_pose_finish(model, state);  // reactions, work

  *stats = (sn_frame_stats){.frame = frame,
                            .time = (frame - model->scene->first_frame) / model->scene->fps,
                            .newton = newton.steps,
                            .krylov = state->newton.krylov,
                            .residual = newton.residual,
                            .stop = (sn_stop)newton.stop,
                            .converged = newton.stop == SN_NEWTON_CONVERGED};
  measure(model, state, stats);
  stats->seconds = now() - start;
  return SN_OK;
}
