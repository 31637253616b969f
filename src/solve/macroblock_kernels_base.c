// Macroblocks for whatever processor the library is compiled for.
#define SN_KERNELS sn_block_kernels_base
#define SN_KERNELS_NAME "base"
#include <stdbool.h>

static bool is_supported(void) { return true; }

#include "solve/macroblock_solve_impl.h"
// after what it shares
#include "solve/macroblock_factor_impl.h"
