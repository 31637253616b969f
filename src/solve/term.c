#include "solve/term.h"

#include <math.h>

#include "solve/vector.h"

double sn_problem_energy(const sn_problem* problem, sn_pool* pool, const double* u,
                         double* magnitude) {
  double sum = 0, absolute = 0;
  for (int t = 0; t < problem->term_count; ++t) {
    double energy = problem->terms[t].ops->energy(&problem->terms[t], pool, u);
    sum += energy;
    absolute += fabs(energy);
  }
  if (magnitude) *magnitude = absolute;
  return sum;
}

void sn_problem_linearise(const sn_problem* problem, sn_pool* pool, const double* u) {
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->linearise) term->ops->linearise(term, pool, u);
  }
}

void sn_problem_apply(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const double* p,
                      double* y) {
  sn_vector_fill(pool, problem->unknown_count, 0, y);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->apply) term->ops->apply(term, pool, kind, p, y);
  }
  sn_vector_mask(pool, problem->unknown_count, problem->held, 0, y);
}

void sn_problem_diagonal(const sn_problem* problem, sn_pool* pool, double* d) {
  sn_vector_fill(pool, problem->unknown_count, 0, d);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    if (term->ops->diagonal) term->ops->diagonal(term, pool, d);
  }
  sn_vector_mask(pool, problem->unknown_count, problem->held, 1, d);
}

double sn_problem_gradient(const sn_problem* problem, sn_pool* pool, const double* u, double* g,
                           double* scratch) {
  size_t n = problem->unknown_count;
  double size = 0;
  sn_vector_fill(pool, n, 0, g);
  for (int t = 0; t < problem->term_count; ++t) {
    const sn_term* term = &problem->terms[t];
    sn_vector_fill(pool, n, 0, scratch);
    term->ops->gradient(term, pool, u, scratch);
    size += sqrt(sn_vector_dot(pool, n, scratch, scratch));
    sn_vector_add(pool, n, 1, scratch, g);
  }
  sn_vector_mask(pool, n, problem->held, 0, g);
  return size;
}
