// Corotated flesh on an octree: the cell kernel applied to every cell, gathered from and scattered
// to the nodes. Displacements in metres at the conforming nodes, three doubles a node.
#ifndef SN_ELASTICITY_FLESH_H
#define SN_ELASTICITY_FLESH_H

#include "elasticity/corotated_cell.h"
#include "octree/chunks.h"

// What does not change: the grid and its material.
typedef struct sn_flesh {
  const sn_octree* tree;
  const sn_chunks* chunks;
  const double* mu;      // Lame parameters of each cell, Pa (cell_count)
  const double* lambda;  // (cell_count)
} sn_flesh;

// What a step writes, in double precision for the solver and in single for preconditioners.
typedef struct sn_flesh_work {
  sn_cell_tangent_d* tangents;  // (cell_count)
  double* slots;                // (3 x slot_count)
} sn_flesh_work;
typedef struct sn_flesh_work_f {
  sn_cell_tangent_f* tangents;
  float* slots;
} sn_flesh_work_f;

typedef struct sn_flesh_measure {
  double volume;  // deformed, by det F at the cell centres, m3
  double min_j;   // smallest det F
  uint64_t inverted;
} sn_flesh_measure;

double sn_flesh_energy(const sn_flesh* flesh, sn_pool* pool, const double* u);
// g += dE/du
void sn_flesh_gradient(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                       double* g);
// Gradient of the deformation at each cell's centre, row-major (9 x cell_count).
void sn_flesh_deformation(const sn_flesh* flesh, sn_pool* pool, const double* u, float* F);

// Set the tangents, at u or from gradients, for the functions that follow.
void sn_flesh_linearise(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u);
void sn_flesh_linearise_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work_f* work,
                          const float* F);
// y += K p
void sn_flesh_apply(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                    const double* p, double* y);
void sn_flesh_apply_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work_f* work, sn_hessian kind,
                      const float* p, float* y);
// d += diagonal of K
void sn_flesh_diagonal(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                       double* d);
void sn_flesh_diagonal_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work_f* work,
                         sn_hessian kind, float* d);
sn_flesh_measure sn_flesh_get_measure(const sn_flesh* flesh, sn_pool* pool, const double* u);

static inline sn_cell_shape sn_flesh_shape(const sn_octree* tree, uint32_t cell) {
  return (sn_cell_shape){(uint8_t)sn_octant_child_number(tree->cells[cell]), tree->hanging[cell]};
}

#endif
