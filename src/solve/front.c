#include "solve/front.h"

extern const sn_front_kernels sn_front_kernels_base;
#ifdef SN_X86_KERNELS
extern const sn_front_kernels sn_front_kernels_avx2;
#endif

static const sn_front_kernels* const LIST[] = {
#ifdef SN_X86_KERNELS
    &sn_front_kernels_avx2,
#endif
    &sn_front_kernels_base, NULL};

const sn_front_kernels* const* sn_front_kernels_list(void) { return LIST; }

const sn_front_kernels* sn_front_kernels_best(void) {
  const sn_front_kernels* const* k = LIST;
  while (!(*k)->is_supported()) ++k;
  return *k;
}
