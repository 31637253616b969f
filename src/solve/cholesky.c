#include "solve/cholesky.h"

#include <math.h>
#include <stddef.h>

#define SMALLEST_PIVOT 1e-7

static double dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void sn_cholesky_factor(int n, double* A) {
  for (int i = 0; i < n; ++i) {
    double* row = A + (size_t)i * n;
    for (int j = 0; j < i; ++j) {
      const double* other = A + (size_t)j * n;
      row[j] = (row[j] - dot(j, row, other)) / other[j];
    }
    double entry = row[i] > 0 ? row[i] : 1, pivot = row[i] - dot(i, row, row);
    row[i] = sqrt(pivot > SMALLEST_PIVOT * entry ? pivot : entry);
  }
}

void sn_cholesky_solve(int n, const double* L, double* x) {
  for (int i = 0; i < n; ++i) {
    x[i] = (x[i] - dot(i, L + (size_t)i * n, x)) / L[(size_t)i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    x[i] /= L[(size_t)i * n + i];
    for (int j = 0; j < i; ++j) x[j] -= L[(size_t)i * n + j] * x[i];
  }
}
