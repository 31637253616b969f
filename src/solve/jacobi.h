// The diagonal of the definite Hessian as preconditioner.
#ifndef SN_SOLVE_JACOBI_H
#define SN_SOLVE_JACOBI_H

#include "solve/preconditioner.h"
#include "solve/term.h"

typedef struct sn_jacobi {
  const sn_problem* problem;
  double* diagonal;  // (unknown_count)
} sn_jacobi;

// `jacobi` must outlive the preconditioner.
sn_preconditioner sn_jacobi_preconditioner(sn_jacobi* jacobi);

#endif
