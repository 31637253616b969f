// Conjugate gradients with the diagonal on the assembled matrix: the plainest peer.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "peers.h"

typedef struct csr {
  int rows;
  uint64_t* starts;
  int* columns;
  double *values, *inverse_diagonal;
} csr;

static bool read_matrix(peer_system* system, csr* a) {
  static peer_row row;
  size_t rows = (size_t)system->rows;
  *a = (csr){.rows = system->rows,
             .starts = system->row_starts,
             .columns = malloc(system->entries * sizeof(int)),
             .values = malloc(system->entries * sizeof(double)),
             .inverse_diagonal = malloc(rows * sizeof(double))};
  if (!a->columns || !a->values || !a->inverse_diagonal) return false;
  while (system_next_row(system, &row)) {
    uint64_t first = a->starts[row.index];
    for (int k = 0; k < row.count; ++k) {
      a->columns[first + (uint64_t)k] = row.columns[k];
      a->values[first + (uint64_t)k] = row.values[k];
      if (row.columns[k] == row.index) a->inverse_diagonal[row.index] = 1 / row.values[k];
    }
  }
  return system->next == system->rows;
}

static double multiply(const csr* a, const double* p, double* y) {
  double dot = 0;
  for (int i = 0; i < a->rows; ++i) {
    double sum = 0;
    for (uint64_t k = a->starts[i]; k < a->starts[i + 1]; ++k) {
      sum += a->values[k] * p[a->columns[k]];
    }
    y[i] = sum;
    dot += p[i] * sum;
  }
  return dot;
}

// r on entry is the right side.
static int iterate(const csr* a, double* r, double* p, double* y, double* x) {
  int n = a->rows, iteration = 0;
  double norm = 0, rz = 0;
  for (int i = 0; i < n; ++i) {
    p[i] = a->inverse_diagonal[i] * r[i];
    norm += r[i] * r[i];
    rz += r[i] * p[i];
  }
  double rr = norm, limit = PEER_TOLERANCE * PEER_TOLERANCE * norm;
  for (; iteration < PEER_MAX && rr > limit; ++iteration) {
    double alpha = rz / multiply(a, p, y), rz_before = rz;
    rr = rz = 0;
    for (int i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * y[i];
      rr += r[i] * r[i];
      rz += r[i] * a->inverse_diagonal[i] * r[i];
    }
    double beta = rz / rz_before;
    for (int i = 0; i < n; ++i) p[i] = a->inverse_diagonal[i] * r[i] + beta * p[i];
  }
  return iteration;
}

int peer_jacobi(peer_system* system, peer_result* result) {
  csr a;
  size_t bytes = (size_t)system->rows * sizeof(double);
  result->start_bytes = peer_memory("VmRSS:");
  double *r = malloc(bytes), *p = malloc(bytes), *y = malloc(bytes);
  bool able = r && p && y && read_matrix(system, &a);
  if (able) {
    memcpy(r, system->b, bytes);
    double begin = peer_now();
    result->iterations = iterate(&a, r, p, y, system->x);
    result->solve = peer_now() - begin;
    free(a.columns);
    free(a.values);
    free(a.inverse_diagonal);
  }
  free(r);
  free(p);
  free(y);
  return able ? 0 : 1;
}
