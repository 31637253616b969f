#include "solve/jacobi.h"

#include "solve/vector.h"

// The problem has been linearised at u already.
static void update(void* ctx, sn_pool* pool, sn_fit fit) {
  sn_jacobi* jacobi = ctx;
  (void)fit;
  sn_problem_diagonal(jacobi->problem, pool, jacobi->diagonal);
}

static double apply(void* ctx, sn_pool* pool, const float* r, float* z) {
  const sn_jacobi* jacobi = ctx;
  return sn_vector_divide(pool, jacobi->problem->unknown_count, r, jacobi->diagonal, z);
}

sn_preconditioner sn_jacobi_preconditioner(sn_jacobi* jacobi) {
  return (sn_preconditioner){.update = update, .apply = apply, .ctx = jacobi};
}
