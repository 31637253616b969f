// Fronts for whatever processor the library is compiled for.
#define SN_KERNELS sn_front_kernels_base
#define SN_KERNELS_NAME "base"
#include <stdbool.h>

static bool is_supported(void) { return true; }

#include "solve/front_impl.h"
