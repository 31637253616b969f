// hypre: conjugate gradients with BoomerAMG, three unknowns a node.
#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <stdlib.h>

#include "peers.h"

static bool read_matrix(peer_system* system, HYPRE_IJMatrix* a) {
  static peer_row row;
  int last = system->rows - 1;
  int* sizes = malloc((size_t)system->rows * sizeof *sizes);
  if (!sizes) return false;
  for (int i = 0; i <= last; ++i) {
    sizes[i] = (int)(system->row_starts[i + 1] - system->row_starts[i]);
  }
  HYPRE_IJMatrixCreate(MPI_COMM_SELF, 0, last, 0, last, a);
  HYPRE_IJMatrixSetObjectType(*a, HYPRE_PARCSR);
  HYPRE_IJMatrixSetRowSizes(*a, sizes);
  HYPRE_IJMatrixInitialize(*a);
  free(sizes);
  while (system_next_row(system, &row)) {
    HYPRE_IJMatrixSetValues(*a, 1, &row.count, &row.index, row.columns, row.values);
  }
  return HYPRE_IJMatrixAssemble(*a) == 0 && system->next == system->rows;
}

static void make_vector(const peer_system* system, const double* values, HYPRE_IJVector* v) {
  HYPRE_IJVectorCreate(MPI_COMM_SELF, 0, system->rows - 1, v);
  HYPRE_IJVectorSetObjectType(*v, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(*v);
  for (int i = 0; i < system->rows; ++i) HYPRE_IJVectorSetValues(*v, 1, &i, &values[i]);
  HYPRE_IJVectorAssemble(*v);
}

// One V-cycle of the unknown approach. 0.5 is hypre's advice for problems in three dimensions; the
// smoother is symmetric, as conjugate gradients ask for; all else is left as it comes.
static HYPRE_Solver make_cycle(void) {
  HYPRE_Solver amg;
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetNumFunctions(amg, 3);
  HYPRE_BoomerAMGSetStrongThreshold(amg, 0.5);
  HYPRE_BoomerAMGSetRelaxType(amg, 6);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetPrintLevel(amg, 0);
  return amg;
}

int peer_boomeramg(peer_system* system, peer_result* result) {
  HYPRE_IJMatrix a;
  HYPRE_IJVector b, x;
  HYPRE_ParCSRMatrix matrix;
  HYPRE_ParVector right, solution;
  HYPRE_Solver cg, amg;
  MPI_Init(NULL, NULL);
  HYPRE_Init();
  result->start_bytes = peer_memory("VmRSS:");
  if (!read_matrix(system, &a)) return 1;
  make_vector(system, system->b, &b);
  make_vector(system, system->x, &x);
  HYPRE_IJMatrixGetObject(a, (void**)&matrix);
  HYPRE_IJVectorGetObject(b, (void**)&right);
  HYPRE_IJVectorGetObject(x, (void**)&solution);

  amg = make_cycle();
  HYPRE_ParCSRPCGCreate(MPI_COMM_SELF, &cg);
  HYPRE_ParCSRPCGSetTol(cg, PEER_TOLERANCE);
  HYPRE_ParCSRPCGSetMaxIter(cg, PEER_MAX);
  HYPRE_ParCSRPCGSetTwoNorm(cg, 1);
  HYPRE_ParCSRPCGSetPrecond(cg, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);
  double begin = peer_now();
  HYPRE_ParCSRPCGSetup(cg, matrix, right, solution);
  double ready = peer_now();
  int failed = HYPRE_ParCSRPCGSolve(cg, matrix, right, solution) != 0;
  result->setup = ready - begin;
  result->solve = peer_now() - ready;
  HYPRE_ParCSRPCGGetNumIterations(cg, &result->iterations);
  for (int i = 0; i < system->rows; ++i) HYPRE_IJVectorGetValues(x, 1, &i, &system->x[i]);
  return failed;  // the process ends here; its memory with it
}
