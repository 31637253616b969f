// Small problems for solvers: a chain of springs, dead loads, and a valley that bends.
#ifndef SN_TESTS_SOLVE_CHAIN_H
#define SN_TESTS_SOLVE_CHAIN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above.
#include <cmocka.h>
#include <string.h>

#include "math/random.h"
#include "solve/jacobi.h"
#include "solve/newton.h"

#define MOST_NODES 64
#define MOST_UNKNOWNS (3 * MOST_NODES)

// Nodes in a row, a spring from each to the next, and one from each to its place:
//     E = 1/2 sum_n k_n |u_n+1 - u_n|^2 + 1/2 sum_n c_n |u_n|^2
typedef struct chain {
  int node_count;
  double link[MOST_NODES];    // k_n
  double anchor[MOST_NODES];  // c_n, may be negative
} chain;

static inline double length_of(const double* v, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += v[i] * v[i];
  return sqrt(sum);
}

static inline void chain_apply_to(const chain* c, const double* p, double* y) {
  for (int n = 0; n < c->node_count; ++n) {
    for (int i = 3 * n; i < 3 * n + 3; ++i) {
      y[i] += c->anchor[n] * p[i];
      if (n + 1 == c->node_count) continue;
      double pull = c->link[n] * (p[i + 3] - p[i]);
      y[i] -= pull;
      y[i + 3] += pull;
    }
  }
}

static inline double chain_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                                    double* forces) {
  (void)pool;
  const chain* c = term->model;
  double y[MOST_UNKNOWNS] = {0}, sum = 0;
  chain_apply_to(c, u, y);
  for (int i = 0; i < 3 * c->node_count; ++i) sum += 0.5 * u[i] * y[i];
  for (int i = 0; g && i < 3 * c->node_count; ++i) g[i] += y[i];
  if (forces) *forces = length_of(y, 3 * c->node_count);
  return sum;
}

static inline void chain_apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind,
                                 const double* p, double* y) {
  (void)pool;
  (void)kind;
  chain_apply_to(term->model, p, y);
}

// All of it in single precision, springs too.
static inline void chain_apply_f(const sn_term* term, sn_pool* pool, sn_hessian kind,
                                 const float* p, float* y) {
  (void)pool;
  (void)kind;
  const chain* c = term->model;
  for (int n = 0; n < c->node_count; ++n) {
    for (int i = 3 * n; i < 3 * n + 3; ++i) {
      y[i] += (float)c->anchor[n] * p[i];
      if (n + 1 == c->node_count) continue;
      float pull = (float)c->link[n] * (p[i + 3] - p[i]);
      y[i] -= pull;
      y[i + 3] += pull;
    }
  }
}

static inline void chain_diagonal(const sn_term* term, sn_pool* pool, double* d) {
  (void)pool;
  const chain* c = term->model;
  for (int i = 0; i < 3 * c->node_count; ++i) {
    int n = i / 3;
    d[i] += c->anchor[n] + (n > 0 ? c->link[n - 1] : 0) + (n + 1 < c->node_count ? c->link[n] : 0);
  }
}

static const sn_term_ops CHAIN = {.name = "chain",
                                  .evaluate = chain_evaluate,
                                  .apply_d = chain_apply_d,
                                  .apply_f = chain_apply_f,
                                  .diagonal = chain_diagonal};

// Stiffness from 1 to 1000, so that the diagonal is worth knowing.
static inline chain make_chain(int node_count, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  chain c = {.node_count = node_count};
  for (int n = 0; n < node_count; ++n) c.link[n] = exp(log(1000) * sn_random_unit(&random));
  return c;
}

// Loads E = -f.u, which have no stiffness.
typedef struct dead_loads {
  size_t count;
  double forces[MOST_UNKNOWNS];
} dead_loads;

static inline double dead_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                                   double* forces) {
  (void)pool;
  const dead_loads* loads = term->model;
  double sum = 0;
  for (size_t i = 0; i < loads->count; ++i) sum -= loads->forces[i] * u[i];
  for (size_t i = 0; g && i < loads->count; ++i) g[i] -= loads->forces[i];
  if (forces) *forces = length_of(loads->forces, (int)loads->count);
  return sum;
}

static const sn_term_ops DEAD_LOADS = {.name = "loads", .evaluate = dead_evaluate};

// What both solvers write, and the diagonal as preconditioner. Stays where it was begun.
typedef struct solver {
  sn_arena* arena;
  sn_newton_work work;
  sn_cg_work cg;  // for CG without Newton around it
  sn_jacobi jacobi;
  sn_preconditioner diagonal;
} solver;

static inline void solver_begin(solver* s, const sn_problem* problem, int max_steps) {
  size_t count = problem->unknown_count;
  assert_int_equal(sn_arena_create(&s->arena, NULL), SN_OK);
  assert_int_equal(sn_newton_work_create(count, max_steps, s->arena, &s->work, NULL), SN_OK);
  s->cg = sn_newton_cg_work(count, &s->work);
  s->jacobi.problem = problem;
  assert_int_equal(SN_ARENA_NEW(s->arena, count, &s->jacobi.diagonal, NULL), SN_OK);
  s->diagonal = sn_jacobi_preconditioner(&s->jacobi);
}

static inline void solver_end(solver* s) { sn_arena_destroy(s->arena); }

#endif
