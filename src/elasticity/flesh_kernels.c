#include "elasticity/flesh_kernels.h"

extern const sn_flesh_kernels sn_flesh_kernels_base;
#ifdef SN_X86_KERNELS
extern const sn_flesh_kernels sn_flesh_kernels_avx2;
#endif
#ifdef SN_AVX512_KERNELS
extern const sn_flesh_kernels sn_flesh_kernels_avx512;
#endif

static const sn_flesh_kernels* const LIST[] = {
#ifdef SN_AVX512_KERNELS
    &sn_flesh_kernels_avx512,
#endif
#ifdef SN_X86_KERNELS
    &sn_flesh_kernels_avx2,
#endif
    &sn_flesh_kernels_base, NULL};

const sn_flesh_kernels* const* sn_flesh_kernels_list(void) { return LIST; }

const sn_flesh_kernels* sn_flesh_kernels_best(void) {
  const sn_flesh_kernels* const* k = LIST;
  while (!(*k)->is_supported()) ++k;
  return *k;
}
