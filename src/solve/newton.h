// Newton's method on the energy of a problem, with a line search that never accepts a higher
// energy.
#ifndef SN_SOLVE_NEWTON_H
#define SN_SOLVE_NEWTON_H

#include "base/memory.h"
#include "solve/cg.h"
#include "solve/sqmr.h"

// What solves the linear system of a step.
typedef enum sn_krylov {
  SN_KRYLOV_CG,
  SN_KRYLOV_NONE,    // the preconditioner alone, again and again
  SN_KRYLOV_MINRES,  // with the problem's pressures, if it has any
  SN_KRYLOV_SQMR
} sn_krylov;

typedef struct sn_newton_opts {
  int max;           // steps
  double tolerance;  // of the residual
  int krylov_max;    // CG iterations a step
  int krylov_long;   // of one within a radius, where the Hessian is nearly singular; 0: as many
  double krylov_tolerance;
  const sn_preconditioner* preconditioner;  // NULL: none
  sn_krylov krylov;
  bool sharp;  // exact products from the first step on
  // What is at u, with its gradient in the work; NULL: not known yet.
  const sn_evaluation* start;
} sn_newton_opts;

typedef enum sn_newton_stop {
  SN_NEWTON_CONVERGED,
  SN_NEWTON_MAX,
  SN_NEWTON_STALLED
} sn_newton_stop;

typedef struct sn_newton_work {
  double *gradient, *step, *trial, *trial_gradient;  // vectors
  sn_minres_work minres;  // of MINRES and SQMR; created by whoever asks for them
  int* krylov;            // Krylov iterations of each step (opts.max)
} sn_newton_work;

typedef struct sn_newton_result {
  int steps;
  double residual;  // |dE/du| over the size of the forces in play
  double energy;    // J
  sn_newton_stop stop;
} sn_newton_result;

sn_status sn_newton_work_create(size_t unknown_count, int max_steps, sn_arena* arena,
                                sn_newton_work* work, sn_error* err);
// Vectors of CG, in memory that is free while no step is being tried: until then.
sn_cg_work sn_newton_cg_work(size_t unknown_count, const sn_newton_work* work);

// K x = b by the method asked for; the preconditioner is in `opts`. `work.trial_gradient` and `trial` are
// lost.
sn_cg_result sn_newton_solve_linear(const sn_problem* problem, sn_pool* pool, sn_krylov krylov,
                                    const sn_cg_opts* opts, const sn_newton_work* work,
                                    const double* b, double* x);

// Minimise from u, in place. Values of u at held nodes are kept.
sn_newton_result sn_newton_solve(const sn_problem* problem, sn_pool* pool,
                                 const sn_newton_opts* opts, sn_newton_work* work, double* u);

#endif
