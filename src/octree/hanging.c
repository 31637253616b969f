#include "octree/hanging.h"

#include "base/precision.h"

#define SN_REAL_IS_DOUBLE 1
#include "octree/hanging_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "octree/hanging_impl.h"
