// The kernels for whatever processor the library is compiled for.
#define SN_KERNELS sn_flesh_kernels_base
#define SN_KERNELS_NAME "base"
#include <stdbool.h>

static bool is_supported(void) { return true; }

#include "elasticity/flesh_kernels_impl.h"
