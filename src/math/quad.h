// A node's x, y, z and nothing, as one vector of a size that every processor has.
#ifndef SN_MATH_QUAD_H
#define SN_MATH_QUAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float sn_quad_f __attribute__((vector_size(16)));

// Three numbers of item `at` as four, of which the last belongs to the next item and is not to be looked at; the
// last item has no next one.
static inline sn_quad_f sn_quad_load3_f(const float* items, uint32_t at, uint32_t last) {
  const float* item = items + 3 * (size_t)at;
  if (at == last) return (sn_quad_f){item[0], item[1], item[2], 0};
  sn_quad_f value;
  memcpy(&value, item, sizeof value);
  return value;
}

// x, y, z to memory, by two moves.
static inline void sn_quad_store3_f(sn_quad_f value, float* to) {
  typedef double pair __attribute__((vector_size(16)));
  double both = ((pair)value)[0];
  memcpy(to, &both, sizeof both);
  to[2] = value[2];
}

#endif
