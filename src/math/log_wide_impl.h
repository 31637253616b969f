// log_impl.h for all lanes at once, for SN_REAL; to be included once a precision, after the wide names
// of svd3_wide_impl.h. It adds NUMBER, ANY, BITS and FROM_BITS to them.

#define NUMBER(x) SET((SN_REAL)(x))
#define ANY SN_P(sn_mask_any)
#define BITS(x) ((MASK)(x))
#define FROM_BITS(x) ((WIDE)(x))

#include "math/log_impl.h"
