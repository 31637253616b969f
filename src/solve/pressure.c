#include "solve/pressure.h"

#include <math.h>

#include "solve/term.h"
#include "solve/vector.h"

#define MIN_BLOCK 6144

typedef struct compliance_job {
  const float* compliance;
  const double* p_d;
  double* q_d;
  const float* p_f;
  float* q_f;
} compliance_job;

// q = q / D
static void divide_d(void* ctx, size_t begin, size_t end) {
  const compliance_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->q_d[i] /= job->compliance[i];
}

static void divide_f(void* ctx, size_t begin, size_t end) {
  const compliance_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->q_f[i] /= job->compliance[i];
}

// q -= D p
static void subtract_d(void* ctx, size_t begin, size_t end) {
  const compliance_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->q_d[i] -= job->compliance[i] * job->p_d[i];
}

static void subtract_f(void* ctx, size_t begin, size_t end) {
  const compliance_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->q_f[i] -= job->compliance[i] * job->p_f[i];
}

double sn_pressures_find_gap(const sn_problem* problem, sn_pool* pool, double* q) {
  sn_gap all = {0, 0};
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    const sn_pressures* space = &problem->pressures[s];
    sn_gap gap = space->ops->find_gap(space, pool, q + space->first);
    all.square += gap.square;
    all.volume += gap.volume;
  }
  return all.volume > 0 ? sqrt(all.square / all.volume) : 0;
}

void sn_pressures_advance(const sn_problem* problem, sn_pool* pool, double t, const double* p) {
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    const sn_pressures* space = &problem->pressures[s];
    space->ops->advance(space, pool, t, p + space->first);
  }
}

void sn_pressures_update(const sn_problem* problem, sn_pool* pool) {
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    problem->pressures[s].ops->update(&problem->pressures[s], pool);
  }
}

void sn_pressures_add_condensed_d(const sn_problem* problem, sn_pool* pool, const double* u,
                                  double* y) {
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    const sn_pressures* space = &problem->pressures[s];
    double* t = space->scratch;
    compliance_job job = {.compliance = space->compliance, .q_d = t};
    space->ops->gather_d(space, pool, u + space->begin, t);
    sn_parallel_for(pool, space->count, MIN_BLOCK, divide_d, &job);
    space->ops->scatter_d(space, pool, t, y + space->begin);
  }
}

void sn_pressures_add_condensed_f(const sn_problem* problem, sn_pool* pool, const float* u,
                                  float* y) {
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    const sn_pressures* space = &problem->pressures[s];
    float* t = (void*)space->scratch;
    compliance_job job = {.compliance = space->compliance, .q_f = t};
    space->ops->gather_f(space, pool, u + space->begin, t);
    sn_parallel_for(pool, space->count, MIN_BLOCK, divide_f, &job);
    space->ops->scatter_f(space, pool, t, y + space->begin);
  }
}

void sn_pressures_apply_mixed_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind,
                                const float* u, const float* p, float* y, float* q) {
  sn_problem_apply_part_f(problem, pool, kind, u, y);
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    const sn_pressures* space = &problem->pressures[s];
    compliance_job job = {
        .compliance = space->compliance, .p_f = p + space->first, .q_f = q + space->first};
    space->ops->gather_f(space, pool, u + space->begin, job.q_f);
    sn_parallel_for(pool, space->count, MIN_BLOCK, subtract_f, &job);
    space->ops->scatter_f(space, pool, job.p_f, y + space->begin);
  }
  sn_vector_mask_f(pool, problem->unknown_count, problem->held, 0, y);
}

void sn_pressures_apply_mixed_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind,
                                const double* u, const double* p, double* y, double* q) {
  sn_problem_apply_part_d(problem, pool, kind, u, y);
  for (int s = 0; s < problem->pressure_space_count; ++s) {
    const sn_pressures* space = &problem->pressures[s];
    compliance_job job = {
        .compliance = space->compliance, .p_d = p + space->first, .q_d = q + space->first};
    space->ops->gather_d(space, pool, u + space->begin, job.q_d);
    sn_parallel_for(pool, space->count, MIN_BLOCK, subtract_d, &job);
    space->ops->scatter_d(space, pool, job.p_d, y + space->begin);
  }
  sn_vector_mask(pool, problem->unknown_count, problem->held, 0, y);
}
