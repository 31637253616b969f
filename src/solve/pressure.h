// Pressures kept as unknowns beside the displacements. Where a term's stiffness has a part B^T D^-1 B
// that is much larger than the rest, A, of it, the term may leave that part to a *pressure space*, and
//     (A + B^T D^-1 B) x = b      becomes      [ A   B^T ] [ x ]   [ b ]
//                                              [ B   -D  ] [ p ] = [ 0 ],
// symmetric, not definite, and tame however small D is. Pressures are scaled so that 1 is a fair
// preconditioner for them. docs/theory/incompressible.md.
#ifndef SN_SOLVE_PRESSURE_H
#define SN_SOLVE_PRESSURE_H

#include "base/parallel.h"
#include "math/hessian.h"

struct sn_problem;
typedef struct sn_pressures sn_pressures;

// How far the volumes of the cells are from those that their pressures call for.
typedef struct sn_gap {
  double square, volume;  // sum of V (M - p / kappa)^2, and of V, m3
} sn_gap;

typedef struct sn_pressure_ops {
  // Fit B and D to the state at which all terms were last linearised.
  void (*update)(const sn_pressures* space, sn_pool* pool);
  // p = B u
  void (*gather_d)(const sn_pressures* space, sn_pool* pool, const double* u, double* p);
  void (*gather_f)(const sn_pressures* space, sn_pool* pool, const float* u, float* p);
  // y += B^T p
  void (*scatter_d)(const sn_pressures* space, sn_pool* pool, const double* p, double* y);
  void (*scatter_f)(const sn_pressures* space, sn_pool* pool, const float* p, float* y);
  // Pressures as unknowns of Newton's method: q = M - p / kappa at the state last evaluated, as the right
  // side of B u - D p = q; and p += t times what a solve gave.
  sn_gap (*find_gap)(const sn_pressures* space, sn_pool* pool, double* q);
  void (*advance)(const sn_pressures* space, sn_pool* pool, double t, const double* p);
} sn_pressure_ops;

// The pressures of one space of displacements.
struct sn_pressures {
  const sn_pressure_ops* ops;
  const void* model;
  void* work;
  size_t begin;       // first unknown of its displacements
  size_t first;       // first of its pressures among all
  size_t count;       // of its pressures
  float* compliance;  // D, a diagonal; above 0 everywhere (count)
  double* scratch;    // (count)
};

// q (pressure_count) as above; returns the root mean square of M - p / kappa.
double sn_pressures_find_gap(const struct sn_problem* problem, sn_pool* pool, double* q);
void sn_pressures_advance(const struct sn_problem* problem, sn_pool* pool, double t,
                          const double* p);

void sn_pressures_update(const struct sn_problem* problem, sn_pool* pool);
// y += B^T D^-1 B u: what a product with the whole stiffness has above A u.
void sn_pressures_add_condensed_d(const struct sn_problem* problem, sn_pool* pool, const double* u,
                                  double* y);
void sn_pressures_add_condensed_f(const struct sn_problem* problem, sn_pool* pool, const float* u,
                                  float* y);
// y = A u + B^T p, 0 on held nodes;  q = B u - D p. u must be 0 on those.
void sn_pressures_apply_mixed_f(const struct sn_problem* problem, sn_pool* pool, sn_hessian kind,
                                const float* u, const float* p, float* y, float* q);
void sn_pressures_apply_mixed_d(const struct sn_problem* problem, sn_pool* pool, sn_hessian kind,
                                const double* u, const double* p, double* y, double* q);

#endif
