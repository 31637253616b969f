// The minimal residual method for a problem whose pressures are kept (pressure.h), preconditioned or
// not (Paige and Saunders 1975). The matrix is symmetric and need not be definite; the preconditioner
// must be both. It shrinks the residual of the mixed system as |r|^2 = r.M^-1 r measures it.
#ifndef SN_SOLVE_MINRES_H
#define SN_SOLVE_MINRES_H

#include "base/memory.h"
#include "solve/cg.h"

// Vectors of displacements, each followed by pressures (unknown_count + pressure_count).
typedef struct sn_minres_work {
  double *before, *now, *solution;  // Lanczos vectors, x
  float *preconditioned, *product, *directions[3];
  double* gap;  // right side of the pressures (pressure_count)
} sn_minres_work;

sn_status sn_minres_work_create(const sn_problem* problem, sn_arena* arena, sn_minres_work* work,
                                sn_error* err);

// Start from x = 0. `opts.tolerance` is of the mixed residual, over that of the start. With
// `unverified` the result's residual is that; else it is |b - K x| / |b| of the condensed system, so
// that it compares with CG's, and the iteration goes on until that is below the tolerance, too.
// SN_CG_NEGATIVE: x.Kx <= 0, or x points uphill.
sn_cg_result sn_minres_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                             const sn_minres_work* work, const double* b, double* x);

#endif
