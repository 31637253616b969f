// Corotated flesh on an octree. Displacements in metres at the conforming nodes, three numbers a
// node. Energy and forces are computed in double precision; the stiffness is kept in single precision
// and multiplied in either.
#ifndef SN_ELASTICITY_FLESH_H
#define SN_ELASTICITY_FLESH_H

#include "elasticity/corotated_cell.h"
#include "octree/families.h"

typedef struct sn_flesh_kernels sn_flesh_kernels;

// What does not change: the grid and its material.
typedef struct sn_flesh {
  const sn_octree* tree;
  const sn_families* families;
  const float* mu;      // Lame parameters of each cell, Pa (cell_count)
  const float* lambda;  // (cell_count)
  double hourglass;     // factor on the hourglass energy; 1 = the exact integral
  const sn_flesh_kernels* kernels;
} sn_flesh;

// What a step knows of a cell, in the order of families ([packet][child][number][lane]): rotation R,
// L of the definite Hessian times h / 16, and the material a = mu h / 8, b = lambda h / 16. Where a
// family lacks a cell the material is zero.
#define SN_TANGENT_R 0
#define SN_TANGENT_L 9
#define SN_TANGENT_MATERIAL 15
#define SN_TANGENT_SIZE 17

typedef struct sn_flesh_work {
  float* tangents;
  // Factor on the material in the tangents, and so on all products and diagonals; energy and forces
  // are those of the material itself.
  double stiffening;
  float* exact;  // L of the exact Hessian; NULL: no products with it ([packet][child][6][lane])
  void* slots;   // sums of nodes that other chunks own (3 x slot count)
  // Called when the tangents hold F in place of R, before F makes way; NULL: nobody wants F.
  void (*deformed)(void* ctx, sn_pool* pool);
  void* deformed_ctx;
} sn_flesh_work;

typedef struct sn_flesh_measure {
  double volume;  // deformed, by det F at the cell centres, m3
  double min_j;   // smallest det F
  uint64_t inverted;
} sn_flesh_measure;

sn_flesh sn_flesh_make(const sn_octree* tree, const sn_families* families, const float* mu,
                       const float* lambda);
// `single`: for products in single precision with the definite Hessian alone.
sn_status sn_flesh_work_create(const sn_flesh* flesh, bool single, sn_arena* arena,
                               sn_flesh_work* work, sn_error* err);

size_t sn_flesh_work_bytes(const sn_flesh* flesh, bool single);
// Bring the work up to date after mu, lambda or the stiffening have changed.
void sn_flesh_set_material(const sn_flesh* flesh, sn_flesh_work* work);
// Change the stiffening, before the next linearisation.
void sn_flesh_stiffen(const sn_flesh* flesh, sn_flesh_work* work, double stiffening);

// Energy in J; g += dE/du unless g is NULL.
double sn_flesh_evaluate(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                         double* g);

// Set the tangents for the functions that follow, at u or from gradients that lie in place of R.
void sn_flesh_linearise(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u);
void sn_flesh_linearise_gradients(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work);
// y += K p
void sn_flesh_apply_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                      const double* p, double* y);
void sn_flesh_apply_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                      const float* p, float* y);
// y = K p + diagonal p, with the definite K: one level of multigrid.
void sn_flesh_apply_with(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                         const float* diagonal, const float* p, float* y);
// d += diagonal of K
void sn_flesh_diagonal_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                         double* d);
void sn_flesh_diagonal_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                         float* d);

sn_flesh_measure sn_flesh_get_measure(const sn_flesh* flesh, sn_pool* pool, const double* u);

// det F at the centre of one cell.
double sn_flesh_volume_ratio(const sn_flesh* flesh, const double* u, uint32_t cell);

// How the corners of a cell hang.
static inline sn_cell_shape sn_flesh_shape(const sn_octree* tree, uint32_t cell) {
  return (sn_cell_shape){(uint8_t)sn_octant_child_number(tree->cells[cell]), tree->hanging[cell]};
}
// Number i of a cell's tangent.
static inline float* sn_flesh_tangent(const sn_flesh_work* work, uint32_t place, int i) {
  return work->tangents +
         ((size_t)(place / SN_FAMILY_LANES) * SN_TANGENT_SIZE + i) * SN_FAMILY_LANES +
         place % SN_FAMILY_LANES;
}

#endif
