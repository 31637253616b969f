#include "solve/term.h"

#include <math.h>

#include "solve/vector.h"

sn_evaluation sn_problem_evaluate(const sn_problem* problem, sn_pool* pool, const double* u,
                                  double* g) {
  sn_evaluation sum = {.magnitude = problem->energy_scale};
  sn_vector_fill(pool, problem->unknown_count, 0, g);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    double forces, energy = term->ops->evaluate(term, pool, u, g, &forces);
    sum.energy += energy;
    sum.magnitude += fabs(energy);
    sum.forces += forces;
  }
  sn_vector_mask(pool, problem->unknown_count, problem->held, 0, g);
  return sum;
}

bool sn_problem_refresh(const sn_problem* problem, sn_pool* pool, const double* u) {
  bool changed = false;
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->refresh && term->ops->refresh(term, pool, u)) changed = true;
  }
  return changed;
}

bool sn_problem_foresee(const sn_problem* problem, sn_pool* pool, const double* u, const double* d,
                        double most, double* g) {
  bool foreseen = false;
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->foresee && term->ops->foresee(term, pool, u, d, most, g)) foreseen = true;
  }
  if (foreseen) sn_vector_mask(pool, problem->unknown_count, problem->held, 0, g);
  return foreseen;
}

bool sn_problem_ease(const sn_problem* problem, sn_pool* pool, const double* u, double* g) {
  bool eased = false;
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->ease && term->ops->ease(term, pool, u, g)) eased = true;
  }
  if (eased) sn_vector_mask(pool, problem->unknown_count, problem->held, 0, g);
  return eased;
}

void sn_problem_sharpen(const sn_problem* problem, bool on) {
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->sharpen) term->ops->sharpen(term, on);
  }
}

void sn_problem_linearise(const sn_problem* problem, sn_pool* pool, const double* u) {
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->linearise) term->ops->linearise(term, pool, u);
  }
  sn_pressures_update(problem, pool);
}

// y = A p, whatever it is on held nodes
static void multiply_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const double* p,
                       double* y) {
  sn_vector_fill(pool, problem->unknown_count, 0, y);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->apply_d) term->ops->apply_d(term, pool, kind, p, y);
  }
}

void sn_problem_apply_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const double* p,
                        double* y) {
  multiply_d(problem, pool, kind, p, y);
  sn_pressures_add_condensed_d(problem, pool, p, y);
  sn_vector_mask(pool, problem->unknown_count, problem->held, 0, y);
}

void sn_problem_apply_part_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind,
                             const double* p, double* y) {
  multiply_d(problem, pool, kind, p, y);
  sn_vector_mask(pool, problem->unknown_count, problem->held, 0, y);
}

// y = A p, whatever it is on held nodes
static void multiply_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const float* p,
                       float* y) {
  if (!problem->terms[0].ops->multiply_f) sn_vector_fill_f(pool, problem->unknown_count, 0, y);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (problem->summed && term->levels == SN_LEVELS_DIAGONAL) continue;
    if (term->ops->multiply_f) {
      term->ops->multiply_f(term, pool, kind, p, y);
    } else if (term->ops->apply_f) {
      term->ops->apply_f(term, pool, kind, p, y);
    }
  }
}

void sn_problem_apply_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const float* p,
                        float* y) {
  multiply_f(problem, pool, kind, p, y);
  sn_pressures_add_condensed_f(problem, pool, p, y);
  sn_vector_mask_f(pool, problem->unknown_count, problem->held, 0, y);
}

void sn_problem_apply_part_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind,
                             const float* p, float* y) {
  multiply_f(problem, pool, kind, p, y);
  sn_vector_mask_f(pool, problem->unknown_count, problem->held, 0, y);
}

void sn_problem_diagonal(const sn_problem* problem, sn_pool* pool, double* d) {
  sn_vector_fill(pool, problem->unknown_count, 0, d);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->diagonal) term->ops->diagonal(term, pool, d);
  }
  sn_vector_mask(pool, problem->unknown_count, problem->held, 1, d);
}
