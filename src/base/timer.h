// Seconds of a clock that only goes forward.
#ifndef SN_BASE_TIMER_H
#define SN_BASE_TIMER_H

#include <time.h>

static inline double sn_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
