// Newton's method on the energy of a problem, with a line search that never accepts a higher
// energy.
#ifndef SN_SOLVE_NEWTON_H
#define SN_SOLVE_NEWTON_H

#include "base/memory.h"
#include "solve/cg.h"

typedef struct sn_newton_opts {
  int max;           // steps
  double tolerance;  // of the residual
  int krylov_max;    // CG iterations a step
  double krylov_tolerance;
  const sn_preconditioner* preconditioner;  // NULL: none
  bool stationary;                          // the preconditioner alone, without CG
} sn_newton_opts;

typedef enum sn_newton_stop {
  SN_NEWTON_CONVERGED,
  SN_NEWTON_MAX,
  SN_NEWTON_STALLED
} sn_newton_stop;

typedef struct sn_newton_work {
  double *gradient, *step, *trial, *trial_gradient;  // vectors
  sn_cg_work cg;  // without a residual: that is `trial_gradient`, while no step is being tried
  int* krylov;    // CG iterations of each step (opts.max)
} sn_newton_work;

typedef struct sn_newton_result {
  int steps;
  double residual;  // |dE/du| over the size of the forces in play
  double energy;    // J
  sn_newton_stop stop;
} sn_newton_result;

sn_status sn_newton_work_create(size_t unknown_count, int max_steps, sn_arena* arena,
                                sn_newton_work* work, sn_error* err);

// Minimise from u, in place. Values of u at held nodes are kept.
sn_newton_result sn_newton_solve(const sn_problem* problem, sn_pool* pool,
                                 const sn_newton_opts* opts, sn_newton_work* work, double* u);

#endif
