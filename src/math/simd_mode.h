// How the processor treats the smallest numbers. Ray tracing is faster where they count as zero; the
// simulation must not, so the old mode comes back afterwards.
#ifndef SN_MATH_SIMD_MODE_H
#define SN_MATH_SIMD_MODE_H

#if defined(__SSE2__)
#include <immintrin.h>

// Bits that flush results (15) and operands (6) that are not normal to zero.
#define SN_FLUSH_BITS 0x8040u

// @return the mode before, for sn_float_mode_restore
static inline unsigned sn_float_mode_flush(void) {
  unsigned before = _mm_getcsr();
  _mm_setcsr(before | SN_FLUSH_BITS);
  return before;
}
static inline void sn_float_mode_restore(unsigned before) { _mm_setcsr(before); }

#else

static inline unsigned sn_float_mode_flush(void) { return 0; }
static inline void sn_float_mode_restore(unsigned before) { (void)before; }

#endif

#endif
