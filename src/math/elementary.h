// Sine, cosine, arctangent, logarithm, exponential and inverse cube root made here from exactly rounded operations
// only, so that their bits do not depend on the C library. Errors stay below 1.5 units in the last place
// (measured).
#ifndef SN_MATH_ELEMENTARY_H
#define SN_MATH_ELEMENTARY_H

#define SN_ANGLE_MAX 1e6  // radians

// NaN where |x| > SN_ANGLE_MAX.
double sn_sin(double x);
double sn_cos(double x);
// Angle of the point (x, y) in [-pi, pi]; zeros and infinities as in C's atan2.
double sn_atan2(double y, double x);
// ln x; minus infinity of 0, NaN below it.
double sn_ln(double x);
// e^x - 1 with all its digits near 0; infinity where that is too large.
double sn_expm1(double x);
// x^(-1/3); infinity of 0, NaN below it.
double sn_inverse_cbrt(double x);

#endif
