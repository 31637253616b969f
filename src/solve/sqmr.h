// The symmetric quasi-minimal residual method without look-ahead (Freund and Nachtigal 1994) for a
// problem whose pressures are kept: the solver of Patterson et al. 2012. Unlike MINRES it also takes
// an indefinite preconditioner, and its residual is only nearly the smallest. Here it is what MINRES is
// measured against.
#ifndef SN_SOLVE_SQMR_H
#define SN_SOLVE_SQMR_H

#include "solve/minres.h"

// As sn_minres_solve, with the plain norm of the mixed residual.
sn_cg_result sn_sqmr_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                           const sn_minres_work* work, const double* b, double* x);

#endif
