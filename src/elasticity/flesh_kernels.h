// The kernels of flesh, chunk by chunk, eight cells at a time. Compiled once for each instruction set
// from one source (flesh_kernels_impl.h); the best that the processor has is chosen at run time.
// corotated_cell.h is the plain twin that they are tested against.
#ifndef SN_ELASTICITY_FLESH_KERNELS_H
#define SN_ELASTICITY_FLESH_KERNELS_H

#include "elasticity/flesh.h"

// As sn_addends_f. Products in double have none so far.
typedef struct sn_addends_d {
  const double *diagonal, *v;
  double scale;
} sn_addends_d;

// Functions of one chunk, for one form of tangents. `_d` computes in double, `_f` in single precision.
typedef struct sn_flesh_form_kernels {
  // Energy in J; g += dE/du unless g is NULL.
  double (*evaluate)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u,
                     double* g);
  // F at the cell centres, into the tangents.
  void (*deform)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk, const double* u);
  // F to what products need, in place.
  void (*linearise)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk);
  // y += K p; with addends y = K p + these instead
  void (*apply_d)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                  const sn_addends_d* addends, const double* p, double* y);
  void (*apply_f)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                  const sn_addends_f* addends, const float* p, float* y);
  // See sn_flesh_smooth; shared nodes of the chunk are left with x and their part of r.
  double (*smooth)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
                   const sn_smoothing* smoothing);
  // d += diagonal of K
  void (*diagonal_d)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                     double* d);
  void (*diagonal_f)(const sn_flesh* flesh, sn_flesh_work* work, sn_hessian kind, size_t chunk,
                     float* d);
  // t = B u and y += B^T t
  void (*gather_pressures_d)(const sn_flesh* flesh, const sn_flesh_work* work, size_t chunk,
                             const float* weights, const double* u, double* t);
  void (*gather_pressures_f)(const sn_flesh* flesh, const sn_flesh_work* work, size_t chunk,
                             const float* weights, const float* u, float* t);
  void (*scatter_pressures_d)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
                              const float* weights, const double* t, double* y);
  void (*scatter_pressures_f)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
                              const float* weights, const float* t, float* y);
} sn_flesh_form_kernels;

struct sn_flesh_kernels {
  const char* name;
  bool is_fused;  // a b + c is rounded once
  bool (*is_supported)(void);
  // See sn_flesh_cell_matrices.
  void (*matrices)(const sn_flesh* flesh, const sn_flesh_work* work,
                   const uint32_t cells[SN_FAMILY_LANES], const uint8_t flips[SN_FAMILY_LANES],
                   float K[36][9][SN_FAMILY_LANES]);
  // The volumes of a chunk's cells, added to the measure.
  void (*measure)(const sn_flesh* flesh, size_t chunk, const double* u, sn_flesh_measure* sum);
  sn_flesh_form_kernels forms[SN_FORM_COUNT];
};

// All that were compiled, best first, ended by NULL.
const sn_flesh_kernels* const* sn_flesh_kernels_list(void);
// The first that this processor supports.
const sn_flesh_kernels* sn_flesh_kernels_best(void);

#endif
