// Sine and cosine: subtract the nearest multiple of pi/2, held in four parts so that the remainder
// keeps all its digits (Cody and Waite's method), then the Taylor series on [-pi/4, pi/4].
// Arctangent: swap and mirror into the octant 0 <= y <= x, turn by the nearest of nine known
// angles, then the Taylor series on [-1/16, 1/16]. Exponential: subtract the nearest multiple of ln 2,
// then the Taylor series. Logarithm and inverse cube root: log_impl.h.
#include "math/elementary.h"

#include <float.h>
#include <math.h>

#include "math/one_lane.h"

#include "math/log_impl.h"

// An unevaluated sum; |lo| is at most half a unit in the last place of hi.
typedef struct pair {
  double hi, lo;
} pair;

// a - b without rounding (Knuth's two-sum).
static pair subtract_exactly(double a, double b) {
  double hi = a - b;
  double taken = a - hi;
  double lo = (a - (hi + taken)) + (taken - b);
  return (pair){hi, lo};
}

// x = quarter * pi/2 + r,  |r| <= pi/4. The first three parts of pi/2 have 33 bits each, so that
// their products with a quarter below 2^20 are exact.
static pair reduce(double x, int* quarter) {
  const double half_pi[4] = {0x1.921fb54400000p+0, 0x1.0b4611a600000p-34, 0x1.3198a2e000000p-69,
                             0x1.b839a252049c1p-104};
  const double two_over_pi = 0x1.45f306dc9c883p-1;
  double n = rint(x * two_over_pi);
  *quarter = (int)n & 3;
  pair first = subtract_exactly(x - n * half_pi[0], n * half_pi[1]);
  pair second = subtract_exactly(first.hi, n * half_pi[2]);
  double lo = first.lo + (second.lo - n * half_pi[3]);
  double hi = second.hi + lo;
  return (pair){hi, lo - (hi - second.hi)};
}

// sin(hi + lo) = sin hi + lo cos hi,  sin h = h - h^3/3! + h^5/5! - ... + h^17/17!
static double sin_series(pair r) {
  double z = r.hi * r.hi;
  double tail = -1.0 / 6227020800.0 + z * (1.0 / 1307674368000.0 - z / 355687428096000.0);
  double s = -1.0 / 5040.0 + z * (1.0 / 362880.0 + z * (-1.0 / 39916800.0 - z * tail));
  double rest = z * r.hi * (-1.0 / 6.0 + z * (1.0 / 120.0 + z * s));
  return r.hi + (rest + r.lo * (1.0 - 0.5 * z));
}

// cos(hi + lo) = cos hi - lo sin hi,  cos h = 1 - h^2/2! + h^4/4! - ... + h^16/16!
static double cos_series(pair r) {
  double z = r.hi * r.hi;
  double tail = 1.0 / 479001600.0 + z * (-1.0 / 87178291200.0 + z / 20922789888000.0);
  double c = -1.0 / 720.0 + z * (1.0 / 40320.0 + z * (-1.0 / 3628800.0 + z * tail));
  double rest = z * z * (1.0 / 24.0 + z * c);
  double half = 0.5 * z;
  double most = 1.0 - half;  // what this rounds away comes back below
  return most + (((1.0 - most) - half) + (rest - r.hi * r.lo));
}

static double sin_of_quarter(pair r, int quarter) {
  double value = quarter & 1 ? cos_series(r) : sin_series(r);
  return quarter & 2 ? -value : value;
}

double sn_sin(double x) {
  if (!(fabs(x) <= SN_ANGLE_MAX)) return NAN;
  if (fabs(x) < 0x1p-27) return x;  // also keeps the sign of zero
  int quarter;
  pair r = reduce(x, &quarter);
  return sin_of_quarter(r, quarter);
}

double sn_cos(double x) {
  if (!(fabs(x) <= SN_ANGLE_MAX)) return NAN;
  int quarter;
  pair r = reduce(x, &quarter);
  return sin_of_quarter(r, quarter + 1);
}

// The angle of (x, y) for 0 <= y <= x, 0 < x. With c = i/8 nearest to y/x,
//   atan(y/x) = atan c + atan t,  t = (y - c x) / (x + c y),  |t| <= 1/16
static pair octant_angle(double y, double x) {
  static const pair known[9] = {
      {0.0, 0.0},
      {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
      {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
      {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
      {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
      {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
      {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
      {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
      {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
  };
  int i = (int)(8.0 * (y / x) + 0.5);
  double c = i / 8.0;
  double t = fma(-c, x, y) / fma(c, y, x);
  double z = t * t;
  double s = 1.0 / 7.0 + z * (-1.0 / 9.0 + z * (1.0 / 11.0 - z / 13.0));
  double rest = t * z * (-1.0 / 3.0 + z * (1.0 / 5.0 - z * s));
  double hi = known[i].hi + t;
  double lo = (known[i].hi - hi) + t;  // |t| <= atan c unless both are zero
  return (pair){hi, lo + (rest + known[i].lo)};
}

// Bring the larger of two lengths to where sums neither overflow nor lose digits.
static void rescale(double* y, double* x) {
  double larger = fmax(*y, *x);
  double scale = larger > 0x1p1000 ? 0x1p-200 : larger < 0x1p-800 ? 0x1p+200 : 1.0;
  *y *= scale;
  *x *= scale;
}

double sn_atan2(double y, double x) {
  const pair pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  if (isnan(x) || isnan(y)) return NAN;
  if (isinf(x) || isinf(y)) {  // only the direction counts
    x = copysign(isinf(x) ? 1.0 : 0.0, x);
    y = copysign(isinf(y) ? 1.0 : 0.0, y);
  }
  double across = fabs(x), up = fabs(y);
  pair angle = {0.0, 0.0};
  if (across > 0.0 || up > 0.0) {
    rescale(&up, &across);
    if (up <= across) {
      angle = octant_angle(up, across);
    } else {  // mirror in the diagonal: pi/2 - angle
      pair other = octant_angle(across, up);
      angle = subtract_exactly(0.5 * pi.hi, other.hi);
      angle.lo += 0.5 * pi.lo - other.lo;
    }
  }
  if (signbit(x)) {
    pair supplement = subtract_exactly(pi.hi, angle.hi);
    angle = (pair){supplement.hi, supplement.lo + (pi.lo - angle.lo)};
  }
  return copysign(angle.hi + angle.lo, y);
}

double sn_ln(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
  if (isinf(x)) return x;
  if (x < DBL_MIN) return sn_wide_log_plain(x * 0x1p54) - 54.0 * 0x1.62e42fefa39efp-1;
  return sn_wide_log_plain(x);
}

double sn_inverse_cbrt(double x) {
  if (!(x > 0.0)) return x == 0.0 ? INFINITY : NAN;
  if (isinf(x)) return 0.0;
  if (x < DBL_MIN) return 0x1p18 * sn_wide_inverse_cbrt_plain(x * 0x1p54);
  return sn_wide_inverse_cbrt_plain(x);
}

// x = k ln 2 + r, |r| <= ln 2 / 2, so that e^x - 1 = 2^k (e^r - 1) + (2^k - 1). The first part of ln 2 has 32
// bits: its product with k is exact.
double sn_expm1(double x) {
  if (isnan(x) || x < -40) return isnan(x) ? x : -1;
  if (x > 710) return INFINITY;
  double k = rint(x * 0x1.71547652b82fep+0);
  pair r = subtract_exactly(x - k * 0x1.62e42fee00000p-1, k * 0x1.a39ef35793c76p-33);
  // (e^h - 1 - h) / h^2 = 1/2! + h/3! + ... + h^12/14!
  double h = r.hi, sum = 0;
  for (int n = 14; n >= 2; --n) sum = (1 + h * sum) / n;
  double change = h + (h * h * sum + r.lo * (1 + h));
  if (k == 0) return change;
  double scale = ldexp(1, (int)k - 1);  // half of it: 2^1024 is no number
  return 2 * (scale * change + (scale - 0.5));
}
