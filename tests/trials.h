// How often a test tries something at random: under the sanitizers a quarter, which runs through the same code, unless
// SN_THOROUGH is in the environment.
#ifndef SN_TESTS_TRIALS_H
#define SN_TESTS_TRIALS_H

#include <stdlib.h>

static inline int trials(int all) {
#ifdef SN_SANITIZED
  if (!getenv("SN_THOROUGH")) return (all + 3) / 4;
#endif
  return all;
}

#endif
