// Conjugate gradients for K x = b, preconditioned or not; and the preconditioner as a solver of its
// own. Directions, products and the residual of the recursion are kept in single precision; the iterate and
// all scalar products in double. So the residual that the recursion believes in drifts away from the true
// one, which is computed in double precision before it is reported.
#ifndef SN_SOLVE_CG_H
#define SN_SOLVE_CG_H

#include "solve/preconditioner.h"
#include "solve/term.h"

typedef enum sn_cg_stop {
  SN_CG_CONVERGED,
  SN_CG_MAX,
  SN_CG_NEGATIVE,  // a direction p with p.Kp <= 0 was met
  SN_CG_EDGE       // x is as long as it may be
} sn_cg_stop;

typedef struct sn_cg_opts {
  sn_hessian kind;
  const sn_preconditioner* preconditioner;  // NULL: none
  double size;                              // |b|; 0: not known yet
  int max;
  double tolerance;   // of |b - K x| / |b|
  double radius;      // of x in the norm of M, at most; 0: any
  bool unverified;    // take the recursion's word for it
  const double* gap;  // right side of the pressures; NULL: 0. Then x may point uphill.
  // Called after each iteration, the iterate being scale x; NULL: nobody watches.
  void (*watch)(void* ctx, int iteration, double scale, const double* x);
  void* watch_ctx;
} sn_cg_opts;

typedef struct sn_cg_work {
  float *residual, *direction, *product, *preconditioned;  // vectors
  double* true_residual;  // may take the place of direction and product
} sn_cg_work;

typedef struct sn_cg_result {
  int iterations;
  double residual;  // relative, recomputed from x at the end unless `unverified`
  sn_cg_stop stop;
  double length;  // of x in the norm of M, but for what that settles
  double gain;    // b.x - 1/2 x.Kx, of the same
} sn_cg_result;

// Start from x = 0. Where negative curvature is met x holds the iterate so far, in whose direction
// the quadratic model falls; the preconditioned right side if it was met at once. With a radius x goes on from there
// along the direction, to the edge. b must be 0 on held nodes.
sn_cg_result sn_cg_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                         const sn_cg_work* work, const double* b, double* x);

// x += M^-1 (b - K x), again and again. Needs a preconditioner.
sn_cg_result sn_stationary_solve(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                                 const sn_cg_work* work, const double* b, double* x);

#endif
