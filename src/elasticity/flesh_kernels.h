// The kernels of flesh, chunk by chunk, eight cells at a time. Compiled once for each instruction set
// from one source (flesh_kernels_impl.h); the best that the processor has is chosen at run time.
// corotated_cell.h is the plain twin that they are tested against.
#ifndef SN_ELASTICITY_FLESH_KERNELS_H
#define SN_ELASTICITY_FLESH_KERNELS_H

#include "elasticity/flesh.h"

// Functions of one chunk. `_d` computes in double, `_f` in single precision.
struct sn_flesh_kernels {
  const char* name;
  bool (*is_supported)(void);
  // Energy in J; g += dE/du unless g is NULL.
  double (*evaluate)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u,
                     double* g);
  // F at the cell centres, into the tangents in place of R.
  void (*deform)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u);
  // F to R and L, in place.
  void (*linearise)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk);
  // y += K p; with a diagonal y = K p + diagonal p instead
  void (*apply_d)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                  const double* diagonal, const double* p, double* y);
  void (*apply_f)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                  const float* diagonal, const float* p, float* y);
  // d += diagonal of K
  void (*diagonal_d)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                     double* d);
  void (*diagonal_f)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                     float* d);
};

// All that were compiled, best first, ended by NULL.
const sn_flesh_kernels* const* sn_flesh_kernels_list(void);
// The first that this processor supports.
const sn_flesh_kernels* sn_flesh_kernels_best(void);

#endif
