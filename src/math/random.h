// A small random number generator with a fixed seed (SplitMix64), the same on every machine.
#ifndef SN_MATH_RANDOM_H
#define SN_MATH_RANDOM_H

#include <stdint.h>

typedef struct sn_random {
  uint64_t state;
} sn_random;

static inline sn_random sn_random_seeded(uint64_t seed) { return (sn_random){seed}; }

static inline uint64_t sn_random_bits(sn_random* r) {
  uint64_t z = r->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// In [0, 1)
static inline double sn_random_unit(sn_random* r) {
  return (double)(sn_random_bits(r) >> 11) * 0x1p-53;
}

// In [-1, 1)
static inline double sn_random_symmetric(sn_random* r) { return 2 * sn_random_unit(r) - 1; }

#endif
