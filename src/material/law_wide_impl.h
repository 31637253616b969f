// The laws of law.h for all lanes at once, static, for SN_REAL; to be included once a precision, after
// svd3_wide_impl.h, whose names for operations it shares. mu and lambda are by lane, the law and its
// numbers the same for all.

#include "math/log_wide_impl.h"

#define LOG SN_P(sn_wide_log)
#define INVERSE_CBRT SN_P(sn_wide_inverse_cbrt)

typedef struct SN_P(sn_law_point) {
  WIDE energy;
  WIDE stress[3], stretch[6], shear[3], twist[3];
} SN_P(sn_law_point);

#include "material/laws_impl.h"
