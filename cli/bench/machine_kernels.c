#include "machine_kernels.h"

#define PLAIN_LANES 16

static void triad_plain(double* restrict a, const double* restrict b, const double* restrict c,
                        double s, size_t n) {
  for (size_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
}

static double fma_plain(size_t rounds, double* sink) {
  double x[PLAIN_LANES];
  for (int k = 0; k < PLAIN_LANES; ++k) x[k] = k;
  for (size_t r = 0; r < rounds; ++r) {
    for (int k = 0; k < PLAIN_LANES; ++k) x[k] = x[k] * 0.999 + 0.001;
  }
  for (int k = 0; k < PLAIN_LANES; ++k) *sink += x[k];
  return 2.0 * PLAIN_LANES * (double)rounds;
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

__attribute__((target("avx2,fma"))) static void triad_wide(double* a, const double* b,
                                                           const double* c, double s, size_t n) {
  __m256d factor = _mm256_set1_pd(s);
  for (size_t i = 0; i < n; i += 16) {
    for (size_t k = i; k < i + 16; k += 4) {
      __m256d sum = _mm256_fmadd_pd(factor, _mm256_loadu_pd(c + k), _mm256_loadu_pd(b + k));
      _mm256_storeu_pd(a + k, sum);
    }
  }
}

// Two units with a latency of four to five cycles want ten accumulators under way; there are
// registers for twelve.
#define ACCUMULATORS 12

__attribute__((target("avx2,fma"))) static double fma_wide(size_t rounds, double* sink) {
  __m256d x[ACCUMULATORS], factor = _mm256_set1_pd(0.999), added = _mm256_set1_pd(0.001);
  for (int k = 0; k < ACCUMULATORS; ++k) x[k] = _mm256_set1_pd(k);
  for (size_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int k = 0; k < ACCUMULATORS; ++k) x[k] = _mm256_fmadd_pd(x[k], factor, added);
  }
  for (int k = 0; k < ACCUMULATORS; ++k) *sink += _mm256_cvtsd_f64(x[k]);
  return 2.0 * 4 * ACCUMULATORS * (double)rounds;
}

static int is_wide(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

#else

#define triad_wide triad_plain
#define fma_wide fma_plain
static int is_wide(void) { return 0; }

#endif

void kernel_triad(double* a, const double* b, const double* c, double s, size_t n) {
  (is_wide() ? triad_wide : triad_plain)(a, b, c, s, n);
}

double kernel_fma(size_t rounds, double* sink) {
  return (is_wide() ? fma_wide : fma_plain)(rounds, sink);
}
