#include "solve/term.h"

#include <math.h>

#include "solve/vector.h"

sn_evaluation sn_problem_evaluate(const sn_problem* problem, sn_pool* pool, const double* u,
                                  double* g, double* scratch) {
  size_t n = problem->unknown_count;
  sn_evaluation sum = {0};
  sn_vector_fill(pool, n, 0, g);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    sn_vector_fill(pool, n, 0, scratch);
    double energy = term->ops->evaluate(term, pool, u, scratch);
    sum.energy += energy;
    sum.magnitude += fabs(energy);
    sum.forces += sqrt(sn_vector_dot(pool, n, scratch, scratch));
    sn_vector_add(pool, n, 1, scratch, g);
  }
  sn_vector_mask(pool, n, problem->held, 0, g);
  return sum;
}

void sn_problem_linearise(const sn_problem* problem, sn_pool* pool, const double* u) {
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->linearise) term->ops->linearise(term, pool, u);
  }
}

void sn_problem_apply_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const double* p,
                        double* y) {
  sn_vector_fill(pool, problem->unknown_count, 0, y);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->apply_d) term->ops->apply_d(term, pool, kind, p, y);
  }
  sn_vector_mask(pool, problem->unknown_count, problem->held, 0, y);
}

void sn_problem_apply_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const float* p,
                        float* y) {
  sn_vector_fill_f(pool, problem->unknown_count, 0, y);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->apply_f) term->ops->apply_f(term, pool, kind, p, y);
  }
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
