// Fronts for x86 processors with AVX2 and FMA; compiled for those alone.
#define SN_KERNELS sn_front_kernels_avx2
#define SN_KERNELS_NAME "avx2"
#include <stdbool.h>

static bool is_supported(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#include "solve/front_impl.h"
