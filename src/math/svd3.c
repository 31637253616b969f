#include "math/svd3.h"

#include <float.h>
#include <math.h>

#include "base/precision.h"

#define SN_REAL_IS_DOUBLE 1
#include "math/svd3_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "math/svd3_impl.h"
