// PETSc: conjugate gradients with smoothed aggregation (GAMG), told of the rigid-body modes; and with
// geometric multigrid on a structured grid (DMDA).
#include <petscdmda.h>
#include <petscksp.h>
#include <string.h>

#include "peers.h"

// Which rows of the system are solved for, and their numbers there. Held unknowns stay in a
// structured grid; for GAMG each would be an aggregate of its own down to the coarsest level.
typedef struct numbering {
  int* numbers;  // of each row of the system; -1: left out (system->rows)
  int count;
} numbering;

static PetscErrorCode number_rows(const peer_system* system, bool with_held, numbering* n) {
  PetscFunctionBeginUser;
  n->count = 0;
  PetscCall(PetscMalloc1(system->rows, &n->numbers));
  for (int i = 0; i < system->rows; ++i) {
    n->numbers[i] = with_held || !system_is_held(system, i) ? n->count++ : -1;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_matrix(peer_system* system, const numbering* n, Mat a) {
  static peer_row row;
  PetscFunctionBeginUser;
  while (system_next_row(system, &row)) {
    PetscInt number = n->numbers[row.index];
    if (number < 0) continue;
    for (int k = 0; k < row.count; ++k) row.columns[k] = n->numbers[row.columns[k]];
    PetscCall(MatSetValues(a, 1, &number, row.count, row.columns, row.values, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(a, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(0);
}

static PetscErrorCode make_matrix(peer_system* system, const numbering* n, Mat* a) {
  PetscInt* sizes;
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n->count, &sizes));
  for (int i = 0; i < system->rows; ++i) {
    if (n->numbers[i] < 0) continue;
    sizes[n->numbers[i]] = (PetscInt)(system->row_starts[i + 1] - system->row_starts[i]);
  }
  PetscCall(MatCreate(PETSC_COMM_SELF, a));
  PetscCall(MatSetSizes(*a, n->count, n->count, n->count, n->count));
  PetscCall(MatSetType(*a, MATSEQAIJ));
  PetscCall(MatSetBlockSize(*a, 3));
  PetscCall(MatSeqAIJSetPreallocation(*a, 0, sizes));
  PetscCall(PetscFree(sizes));
  PetscCall(fill_matrix(system, n, *a));
  PetscFunctionReturn(0);
}

// Rigid motions of the nodes of the grid, whose cells have an edge of 1.
static PetscErrorCode set_rigid_modes(const peer_system* system, const numbering* n, Mat a) {
  Vec places;
  MatNullSpace modes;
  PetscScalar* p;
  int side = system->side;
  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n->count, &places));
  PetscCall(VecSetBlockSize(places, 3));
  PetscCall(VecGetArray(places, &p));
  for (int v = 0; v < side * side * side; ++v) {
    int at = n->numbers[3 * v];
    if (at < 0) continue;
    p[at] = v % side;
    p[at + 1] = v / side % side;
    p[at + 2] = v / (side * side);
  }
  PetscCall(VecRestoreArray(places, &p));
  PetscCall(MatNullSpaceCreateRigidBody(places, &modes));
  PetscCall(MatSetNearNullSpace(a, modes));
  PetscCall(MatNullSpaceDestroy(&modes));
  PetscCall(VecDestroy(&places));
  PetscFunctionReturn(0);
}

// Conjugate gradients, to the tolerance of the true residual.
static PetscErrorCode make_solver(Mat a, KSP* ksp, PC* pc) {
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, a, a));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, PEER_TOLERANCE, PETSC_DEFAULT, PETSC_DEFAULT, PEER_MAX));
  PetscCall(KSPGetPC(*ksp, pc));
  PetscFunctionReturn(0);
}

// The right side into a vector of the solver, or a solution back. Held unknowns are 0.
static PetscErrorCode copy_values(const peer_system* system, const numbering* n, double* values,
                                  bool back, Vec v) {
  PetscScalar* of_vector;
  PetscFunctionBeginUser;
  PetscCall(VecGetArray(v, &of_vector));
  for (int i = 0; i < system->rows; ++i) {
    if (n->numbers[i] < 0) continue;
    PetscScalar* at = &of_vector[n->numbers[i]];
    if (back) {
      values[i] = *at;
    } else {
      *at = values[i];
    }
  }
  PetscCall(VecRestoreArray(v, &of_vector));
  PetscFunctionReturn(0);
}

// @param begin when the set-up began, s
static PetscErrorCode solve(peer_system* system, const numbering* n, KSP ksp, double begin,
                            peer_result* result) {
  Vec b, x;
  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n->count, &b));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n->count, &x));
  PetscCall(copy_values(system, n, system->b, false, b));
  PetscCall(KSPSetFromOptions(ksp));  // GAMG sets its defaults there; PETSC_OPTIONS may change them
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  double ready = peer_now();
  PetscCall(KSPSolve(ksp, b, x));
  result->setup = ready - begin;
  result->solve = peer_now() - ready;
  PetscCall(KSPGetIterationNumber(ksp, &result->iterations));
  PetscCall(copy_values(system, n, system->x, true, x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int peer_gamg(peer_system* system, peer_result* result) {
  numbering n;
  Mat a;
  KSP ksp;
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(PetscInitializeNoArguments());
  result->start_bytes = peer_memory("VmRSS:");
  PetscCall(number_rows(system, false, &n));
  PetscCall(make_matrix(system, &n, &a));
  double begin = peer_now();
  PetscCall(set_rigid_modes(system, &n, a));
  PetscCall(make_solver(a, &ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(solve(system, &n, ksp, begin, result));
  PetscFunctionReturn(0);  // the process ends here; its memory with it
}

// Held nodes take nothing from the coarser grid.
static PetscErrorCode silence_held(const peer_system* system, Mat p) {
  Vec mask;
  PetscScalar* m;
  PetscFunctionBeginUser;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, system->rows, &mask));
  PetscCall(VecGetArray(mask, &m));
  for (int i = 0; i < system->rows; ++i) m[i] = system_is_held(system, i) ? 0 : 1;
  PetscCall(VecRestoreArray(mask, &m));
  PetscCall(MatDiagonalScale(p, mask, NULL));
  PetscCall(VecDestroy(&mask));
  PetscFunctionReturn(0);
}

// Interpolation between grids of half the resolution each; coarse matrices are products (Galerkin).
static PetscErrorCode set_levels(const peer_system* system, DM finest, PC pc) {
  int levels = 1;
  PetscFunctionBeginUser;
  for (int cells = system->side - 1; cells % 2 == 0 && cells > 4; cells /= 2) ++levels;
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, levels, NULL));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  DM fine = finest;
  for (int level = levels - 1; level > 0; --level) {
    DM coarse;
    Mat p;
    PetscCall(DMCoarsen(fine, PETSC_COMM_SELF, &coarse));
    PetscCall(DMCreateInterpolation(coarse, fine, &p, NULL));
    // stored as one value for the three unknowns; scaling and products want a plain matrix
    PetscCall(MatConvert(p, MATSEQAIJ, MAT_INPLACE_MATRIX, &p));
    if (fine == finest) PetscCall(silence_held(system, p));
    PetscCall(PCMGSetInterpolation(pc, level, p));
    PetscCall(MatDestroy(&p));
    fine = coarse;
  }
  PetscFunctionReturn(0);
}

int peer_dmda(peer_system* system, peer_result* result) {
  numbering numbers;
  DM grid;
  Mat a;
  KSP ksp;
  PC pc;
  int n = system->side;
  PetscFunctionBeginUser;
  PetscCall(PetscInitializeNoArguments());
  result->start_bytes = peer_memory("VmRSS:");
  PetscCall(number_rows(system, true, &numbers));
  PetscCall(make_matrix(system, &numbers, &a));
  double begin = peer_now();
  PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         DMDA_STENCIL_BOX, n, n, n, 1, 1, 1, 3, 1, NULL, NULL, NULL, &grid));
  PetscCall(DMSetUp(grid));
  PetscCall(make_solver(a, &ksp, &pc));
  PetscCall(set_levels(system, grid, pc));
  PetscCall(solve(system, &numbers, ksp, begin, result));
  PetscFunctionReturn(0);  // the process ends here; its memory with it
}

// Conjugate gradients with a preconditioner that knows nothing but the matrix.
static PetscErrorCode solve_plainly(peer_system* system, PCType type, peer_result* result) {
  numbering n;
  Mat a;
  KSP ksp;
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(PetscInitializeNoArguments());
  result->start_bytes = peer_memory("VmRSS:");
  PetscCall(number_rows(system, false, &n));
  PetscCall(make_matrix(system, &n, &a));
  double begin = peer_now();
  PetscCall(make_solver(a, &ksp, &pc));
  PetscCall(PCSetType(pc, type));
  if (strcmp(type, PCBJACOBI) == 0) {
    PetscInt blocks = n.count / 2205 > 0 ? n.count / 2205 : 1;
    PetscCall(PCBJacobiSetTotalBlocks(pc, blocks, NULL));
    PetscCall(PetscOptionsSetValue(NULL, "-sub_pc_type", "cholesky"));
  }
  PetscCall(solve(system, &n, ksp, begin, result));
  PetscFunctionReturn(0);
}

int peer_icc(peer_system* system, peer_result* result) {
  return solve_plainly(system, PCICC, result);
}

int peer_block_jacobi(peer_system* system, peer_result* result) {
  return solve_plainly(system, PCBJACOBI, result);
}
