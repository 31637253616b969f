// What stands between a residual and a step: z = M^-1 r, with M near the definite Hessian, symmetric
// and positive.
#ifndef SN_SOLVE_PRECONDITIONER_H
#define SN_SOLVE_PRECONDITIONER_H

#include "base/parallel.h"

// What has changed since M was last fitted.
typedef enum sn_fit {
  SN_FIT_FRAME,   // it is a new frame
  SN_FIT_STATE,   // the state: all terms have been linearised anew
  SN_FIT_SPRINGS  // terms have become stiffer without that
} sn_fit;

typedef struct sn_preconditioner {
  void (*update)(void* ctx, sn_pool* pool, sn_fit fit);
  // Returns z.r.
  double (*apply)(void* ctx, sn_pool* pool, const float* r, float* z);
  // z that leaves nothing of r where M is exact, for solvers to begin with. NULL or false: there is none.
  bool (*settle)(void* ctx, sn_pool* pool, const float* r, float* z);
  // M was found indefinite: make it safer. NULL: that cannot be.
  void (*weaken)(void* ctx);
  void* ctx;
  bool strong;  // its steps are good even where the exact Hessian is not definite
} sn_preconditioner;

#endif
