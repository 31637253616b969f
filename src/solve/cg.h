// Conjugate gradients for K x = b, plain or with the diagonal as preconditioner.
#ifndef SN_SOLVE_CG_H
#define SN_SOLVE_CG_H

#include "solve/term.h"

typedef enum sn_cg_stop {
  SN_CG_CONVERGED,
  SN_CG_MAX,
  SN_CG_NEGATIVE  // a direction p with p.Kp <= 0 was met
} sn_cg_stop;

typedef struct sn_cg_opts {
  sn_hessian kind;
  const double* diagonal;  // NULL: no preconditioner
  int max;
  double tolerance;  // of |b - K x| / |b|
} sn_cg_opts;

typedef struct sn_cg_work {
  double *residual, *direction, *product;  // vectors
} sn_cg_work;

typedef struct sn_cg_result {
  int iterations;
  double residual;  // relative
  sn_cg_stop stop;
} sn_cg_result;

// Start from x = 0. Where negative curvature is met x holds the iterate so far: 0 if it was met at
// once, else a direction in which the quadratic model falls. b must be 0 on held nodes.
sn_cg_result sn_cg_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                         const sn_cg_work* work, const double* b, double* x);

#endif
