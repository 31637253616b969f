#include "octree/octant.h"

#define BIT(n, i) ((uint32_t)((n) >> (i)&1) << (3 * (i)))
#define SPREAD(n) \
  (BIT(n, 0) | BIT(n, 1) | BIT(n, 2) | BIT(n, 3) | BIT(n, 4) | BIT(n, 5) | BIT(n, 6) | BIT(n, 7))
#define SPREAD_4(n) SPREAD(n), SPREAD((n) + 1), SPREAD((n) + 2), SPREAD((n) + 3)
#define SPREAD_16(n) SPREAD_4(n), SPREAD_4((n) + 4), SPREAD_4((n) + 8), SPREAD_4((n) + 12)
#define SPREAD_64(n) SPREAD_16(n), SPREAD_16((n) + 16), SPREAD_16((n) + 32), SPREAD_16((n) + 48)

const uint32_t sn_spread_bits[256] = {SPREAD_64(0), SPREAD_64(64), SPREAD_64(128), SPREAD_64(192)};
