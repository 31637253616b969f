#include "elasticity/corotated_cell.h"

#include "base/precision.h"
#include "math/svd3.h"

// What the denominators s_j + s_k of the rotation's differential are held above, relative to s_0:
// where a cell is so flat that its rotation is not defined, the differential stays finite.
#define ROTATION_FLOOR 1e-3

// Energy of mode m is 4 mu h HOURGLASS[m] |q_m|^2; the linear modes are counted by F instead. These
// are the exact integrals. The edge rule of the paper would give 2 and 3, which makes coarse cells
// needlessly stiff in bending: docs/theory/corotated.md has the measurement.
static const double HOURGLASS[8] = {0, 0, 0, 2.0 / 3, 0, 2.0 / 3, 2.0 / 3, 1.0 / 3};

#define SN_REAL_IS_DOUBLE 1
#include "elasticity/corotated_cell_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "elasticity/corotated_cell_impl.h"
