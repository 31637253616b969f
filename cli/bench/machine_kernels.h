// The two loops that measure the machine, in the widest form that this processor has.
#ifndef SN_CLI_BENCH_MACHINE_KERNELS_H
#define SN_CLI_BENCH_MACHINE_KERNELS_H

#include <stddef.h>

// a[i] = b[i] + s c[i]; n a multiple of 16
void kernel_triad(double* a, const double* b, const double* c, double s, size_t n);
// `rounds` rounds of multiply-adds on independent accumulators. Returns the operations done; their
// result goes to *sink, so that they are.
double kernel_fma(size_t rounds, double* sink);

#endif
