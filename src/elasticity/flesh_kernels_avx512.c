// The kernels for x86 processors with AVX-512: the same eight lanes as AVX2 and the same bits, with
// twice the registers and masks.
#define SN_KERNELS sn_flesh_kernels_avx512
#define SN_KERNELS_NAME "avx512"
#include <stdbool.h>

static bool is_supported(void) {
  return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma");
}

#include "elasticity/flesh_kernels_impl.h"
