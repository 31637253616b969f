// A step of time as minimisation of an energy (docs/theory/dynamics.md). Backward Euler and BDF2 both
// say: with the past known, velocity and acceleration of the new state are
//     v = (u - base) / tau,   a = (v - pull) / tau,
// so that M a = -dE/du is the minimum of E + 1/2 |u - target|_M^2 / tau^2, target = base + tau pull.
#include <math.h>

#include "math/vec.h"
#include "scene/model.h"
#include "solve/vector.h"

// A step longer than the one before by more than this starts anew: BDF2 is stable up to 1 + sqrt(2).
#define LONGEST_GROWTH 2.0
// Contacts that change momentum by more than this share of it in a step are a jolt.
#define JOLT 0.2

typedef struct stride_job {
  sn_state* state;
  double now, before;  // weights of the last state and of the one before it
  double tau, drag;    // s, 1/s
  size_t begin;        // first unknown
} stride_job;

// The past becomes base and target; the last state becomes the one before. From here until the end
// of the step the target lives in place of the velocity, which then is known anew.
static void look_back(void* ctx, size_t begin, size_t end) {
  const stride_job* job = ctx;
  sn_state* s = job->state;
  double brake = job->drag * job->tau;
  for (size_t i = job->begin + begin; i < job->begin + end; ++i) {
    double base = job->now * s->u[i] - job->before * s->u_before[i];
    double pull = job->now * s->velocity[i] - job->before * s->velocity_before[i];
    s->base[i] = base;
    s->u_before[i] = s->u[i];
    s->velocity_before[i] = s->velocity[i];
    // Drag pulls to the base: both springs as one.
    s->velocity[i] = base + job->tau * pull / (1 + brake);
  }
}

static void find_velocity(void* ctx, size_t begin, size_t end) {
  const stride_job* job = ctx;
  sn_state* s = job->state;
  for (size_t i = begin; i < end; ++i) s->velocity[i] = (s->u[i] - s->base[i]) / job->tau;
}

// Nodes that a collider has carried along are as fast as that was. The scheme would make a way that begins in this
// step half as fast again.
static void find_carried_velocity(const sn_model* model, sn_state* state) {
  for (size_t i = 0; i < model->unknown_count; ++i) {
    if (!state->contact.stuck[i / 3]) continue;
    state->velocity[i] = (state->u[i] - state->u_before[i]) / state->step_before;
  }
}

static void set_stiffening(sn_state* state, const sn_body* body, uint32_t b, double ahead) {
  if (state->multigrid_count > 0) {
    sn_body_multigrid_stiffen(&state->multigrids[b], 1 + ahead);
  } else {
    sn_flesh_stiffen(&body->flesh, &state->bodies[b].flesh, 1 + ahead);
  }
}

void sn_stride_begin(const sn_model* model, sn_state* state, double seconds) {
  const sn_scene* scene = model->scene;
  double ratio = state->step_before > 0 ? seconds / state->step_before : 0;
  // The past says nothing about what comes after a jolt; BDF2 would carry on its acceleration.
  bool anew = ratio > LONGEST_GROWTH || state->jolt != 0 || state->careful;
  if (scene->solver.integrator == SN_INTEGRATOR_EULER || anew) ratio = 0;
  stride_job job = {.state = state, .now = (1 + ratio) * (1 + ratio) / (1 + 2 * ratio)};
  job.before = ratio * ratio / (1 + 2 * ratio);
  job.tau = seconds * (1 + ratio) / (1 + 2 * ratio);
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    sn_body_stride* stride = &state->bodies[b].stride;
    job.begin = body->begin;
    job.drag = body->desc->drag;
    sn_parallel_for(state->pool, 3 * (size_t)body->tree.node_count, 4096, look_back, &job);
    *stride = (sn_body_stride){.inertia = (1 + job.drag * job.tau) / (job.tau * job.tau),
                               .target = state->velocity + body->begin,
                               .ahead = state->careful ? 0 : body->desc->damping / job.tau,
                               .base = state->base + body->begin,
                               .ahead_u = state->ahead_u + body->begin};
    set_stiffening(state, body, b, stride->ahead);
  }
  // Scaled by the material as it is now: a step must not depend on what the one before left there.
  for (int s = 0; s < state->problem.pressure_space_count; ++s) {
    const sn_pressures* space = &state->problem.pressures[s];
    space->ops->update(space, state->pool);
  }
  state->tau = job.tau;
  state->step_before = seconds;
}

const double* sn_stride_guess(const sn_model* model, sn_state* state) {
  double* guess = state->newton.trial;
  for (size_t i = 0; i < model->unknown_count; ++i) {
    guess[i] = sn_is_held(model->held, i) ? state->u[i] : state->velocity[i];
  }
  return guess;
}

// Momentum without regard to direction, kg m/s.
static double total_momentum(const sn_model* model, const sn_state* state) {
  double sum = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      sn_vec3 v = sn_load3(state->velocity + body->begin + 3 * (size_t)n);
      sum += body->node_mass[n] * sn_length(v);
    }
  }
  return sum;
}

void sn_stride_end(const sn_model* model, sn_state* state) {
  stride_job job = {.state = state, .tau = state->tau};
  bool carried = state->contact.stuck_count > 0;
  if (state->still) {
    sn_vector_copy(state->pool, model->unknown_count, state->velocity_before, state->velocity);
  } else {
    sn_parallel_for(state->pool, model->unknown_count, 4096, find_velocity, &job);
  }
  if (carried) find_carried_velocity(model, state);
  double change = fabs(state->contact.report.push - state->push_before) * state->step_before;
  state->jolt = carried || change > JOLT * total_momentum(model, state);
  state->push_before = state->contact.report.push;
  for (uint32_t b = 0; b < model->body_count; ++b) state->bodies[b].stride = (sn_body_stride){0};
  state->tau = 0;
}

double sn_stride_kinetic(const sn_model* model, const double* velocity) {
  double sum = 0;
  for (uint32_t b = 0; b < model->body_count && velocity; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      sn_vec3 v = sn_load3(velocity + body->begin + 3 * (size_t)n);
      sum += 0.5 * body->node_mass[n] * sn_dot(v, v);
    }
  }
  return sum;
}
