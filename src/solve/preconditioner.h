// What stands between a residual and a step: z = M^-1 r, with M near the definite Hessian, symmetric
// and positive.
#ifndef SN_SOLVE_PRECONDITIONER_H
#define SN_SOLVE_PRECONDITIONER_H

#include "base/parallel.h"

typedef struct sn_preconditioner {
  // Fit M to the state u. `first`: the first time in a frame.
  void (*update)(void* ctx, sn_pool* pool, const double* u, bool first);
  void (*apply)(void* ctx, sn_pool* pool, const double* r, float* z);
  // M was found indefinite: make it safer. NULL: that cannot be.
  void (*weaken)(void* ctx);
  void* ctx;
  bool strong;  // its steps are good even where the exact Hessian is not definite
} sn_preconditioner;

#endif
