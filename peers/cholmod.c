// SuiteSparse's CHOLMOD: sparse Cholesky, supernodal where that pays.
#include <cholmod.h>
#include <math.h>
#include <string.h>

#include "peers.h"

// The upper triangle by columns is the lower one by rows, which is what the file gives.
static cholmod_sparse* read_matrix(peer_system* system, cholmod_common* c) {
  static peer_row row;
  size_t rows = (size_t)system->rows, room = (system->entries + rows) / 2;
  cholmod_sparse* a = cholmod_l_allocate_sparse(rows, rows, room, 1, 1, 1, CHOLMOD_REAL, c);
  if (!a) return NULL;
  SuiteSparse_long *starts = a->p, *indices = a->i, count = 0;
  double* values = a->x;
  while (system_next_row(system, &row)) {
    starts[row.index] = count;
    for (int k = 0; k < row.count && row.columns[k] <= row.index; ++k) {
      indices[count] = row.columns[k];
      values[count++] = row.values[k];
    }
  }
  starts[rows] = count;
  return system->next == system->rows ? a : NULL;
}

int peer_cholmod(peer_system* system, peer_result* result) {
  cholmod_common c;
  cholmod_l_start(&c);
  result->start_bytes = peer_memory("VmRSS:");
  size_t rows = (size_t)system->rows;
  cholmod_sparse* a = read_matrix(system, &c);
  cholmod_dense* b = cholmod_l_zeros(rows, 1, CHOLMOD_REAL, &c);
  if (!a || !b) return 1;
  memcpy(b->x, system->b, rows * sizeof(double));
  double begin = peer_now();
  cholmod_factor* factor = cholmod_l_analyze(a, &c);
  if (!factor || !cholmod_l_factorize(a, factor, &c) || c.status != CHOLMOD_OK) return 1;
  double ready = peer_now();
  cholmod_dense* x = cholmod_l_solve(CHOLMOD_A, factor, b, &c);
  result->setup = ready - begin;
  result->solve = peer_now() - ready;
  if (!x) return 1;
  memcpy(system->x, x->x, rows * sizeof(double));
  return 0;  // the process ends here; its memory with it
}

#define BLOCKS 24
#define PASSES 10

// As many factors as a body has blocks, one after the other, so that they come from memory as there.
int peer_cholmod_numeric(peer_system* system, peer_result* result) {
  cholmod_common c;
  cholmod_l_start(&c);
  result->start_bytes = peer_memory("VmRSS:");
  size_t rows = (size_t)system->rows;
  cholmod_sparse* a = read_matrix(system, &c);
  cholmod_dense *b = cholmod_l_zeros(rows, 1, CHOLMOD_REAL, &c), *x = NULL, *y = NULL, *e = NULL;
  if (!a || !b) return 1;
  memcpy(b->x, system->b, rows * sizeof(double));
  cholmod_factor* factors[BLOCKS];
  for (int i = 0; i < BLOCKS; ++i) {
    factors[i] = cholmod_l_analyze(a, &c);
    if (!factors[i] || !cholmod_l_factorize(a, factors[i], &c) || c.status != CHOLMOD_OK) return 1;
  }
  result->setup = result->solve = INFINITY;
  for (int pass = 0; pass < PASSES; ++pass) {
    for (int i = 0; i < BLOCKS; ++i) {
      double begin = peer_now();
      cholmod_l_factorize(a, factors[i], &c);
      result->setup = fmin(result->setup, peer_now() - begin);
    }
    for (int i = 0; i < BLOCKS; ++i) {
      double begin = peer_now();
      cholmod_l_solve2(CHOLMOD_A, factors[i], b, NULL, &x, NULL, &y, &e, &c);
      result->solve = fmin(result->solve, peer_now() - begin);
    }
  }
  if (!x) return 1;
  memcpy(system->x, x->x, rows * sizeof(double));
  return 0;
}
