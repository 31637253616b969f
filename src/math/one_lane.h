// The names of wide operations for one plain double: a file that includes this may compile what is
// written for WIDE as plain functions, SN_P(name) = name_plain.
#ifndef SN_MATH_ONE_LANE_H
#define SN_MATH_ONE_LANE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/precision.h"

#define SN_REAL_IS_DOUBLE plain
#define SN_P_plain(name) name##_plain
#define SN_REAL_plain double
#define WIDE double
#define MASK int64_t
#define NUMBER(x) ((double)(x))
#define SELECT(mask, a, b) ((mask) ? (a) : (b))
#define FMA(a, b, c) ((a) * (b) + (c))
#define SQRT sqrt
#define ANY(mask) ((mask) != 0)
#define BITS sn_bits_plain
#define FROM_BITS sn_from_bits_plain

static inline int64_t sn_bits_plain(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double sn_from_bits_plain(int64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

#endif
