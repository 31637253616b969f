// Natural logarithm and inverse cube root from exactly rounded operations and the bits of numbers, for
// WIDE (docs/theory/materials.md). Arguments are positive and normal; others give some number or none.

// A whole number between -2^21 and 2^21 as a floating one: its bits come to stand in the fraction of a
// number so large that one is its last place.
static inline WIDE SN_P(sn_wide_whole)(MASK k) {
  const SN_REAL large = (SN_REAL)(sizeof(SN_REAL) == sizeof(double) ? 0x1.8p52 : 0x1.8p23);
  return FROM_BITS(k + BITS(NUMBER(large))) - NUMBER(large);
}

// ln x = k ln 2 + ln m with sqrt(1/2) <= m < sqrt 2. With f = m - 1, r = f / (2 + f), z = r^2
//     ln m = 2 atanh r = 2 r + r (2/3 z + 2/5 z^2 + ...) = f - (f^2/2 - r (f^2/2 + tail))
// where the last form adds small corrections to f, which is exact. ln 2 is in two parts, the first so
// short that k times it is exact.
static inline WIDE SN_P(sn_wide_log)(WIDE x) {
  const int is_double = sizeof(SN_REAL) == sizeof(double), digits = is_double ? 52 : 23;
  const SN_REAL high = (SN_REAL)(is_double ? 0x1.62e42fefp-1 : 0x1.62e4p-1);
  const SN_REAL low = (SN_REAL)(is_double ? 0x1.473de6af278edp-34 : 0x1.7f7d1cf79abcap-20);
  // The exponent k with its bias, which is that in the bits of 1: not below 0 and safe to shift.
  MASK bits = BITS(x), one = BITS(NUMBER(1));
  MASK biased = (bits + (one - BITS(NUMBER(0x1.6a09e667f3bcdp-1)))) >> digits;
  WIDE f = FROM_BITS(bits - (biased << digits) + one) - NUMBER(1);
  WIDE count = SN_P(sn_wide_whole)(biased - (one >> digits));
  WIDE r = f / (NUMBER(2) + f), z = r * r, half = NUMBER(0.5) * f * f;
  // The series, as far as a last term of round-off: z < 0.0295.
  WIDE tail = NUMBER(is_double ? 2.0 / 23 : 2.0 / 11);
  for (int odd = is_double ? 21 : 9; odd >= 3; odd -= 2) tail = FMA(tail, z, NUMBER(2.0 / odd));
  return FMA(count, NUMBER(high), f - (half - FMA(r, FMA(tail, z, half), count * NUMBER(low))));
}

// x^(-1/3). The bits of x without their last ones, read as a whole number, are nearly the logarithm of
// x to base 2, so that a constant less a third of them are nearly those of the result; the constant makes
// x r^3 = 1 - e with |e| < 0.103. Twice the series (1 - e)^(-1/3) = 1 + e/3 + 2 e^2/9 + 14 e^3/81 + ...
// makes e less than 1e-17.
static inline WIDE SN_P(sn_wide_inverse_cbrt)(WIDE x) {
  const int is_double = sizeof(SN_REAL) == sizeof(double), last = is_double ? 32 : 8;
  const SN_REAL large = (SN_REAL)(is_double ? 0x1p52 : 0x1p23);
  const double origin = is_double ? (1023 - 0.051) * 0x1p20 : (127 - 0.051) * 0x1p15;
  MASK shift = BITS(NUMBER(large));
  WIDE exponent = FROM_BITS((BITS(x) >> last) + shift) - NUMBER(large);
  WIDE guess = (NUMBER(4.0 / 3 * origin) - NUMBER(1.0 / 3) * exponent) + NUMBER(large);
  WIDE r = FROM_BITS((BITS(guess) - shift) << last);
  for (int step = 0; step < 2; ++step) {
    WIDE e = NUMBER(1) - x * r * r * r;
    WIDE series = FMA(FMA(NUMBER(14.0 / 81), e, NUMBER(2.0 / 9)), e, NUMBER(1.0 / 3));
    r = FMA(r * e, series, r);
  }
  return r;
}
