// Fronts: dense symmetric matrices of which the first unknowns are eliminated, as multifrontal
// factorisations do it. Compiled once for each instruction set. docs/theory/macroblock.md, section 6.
#ifndef SN_SOLVE_FRONT_H
#define SN_SOLVE_FRONT_H

#include <stdbool.h>
#include <stddef.h>

// Rows of fronts and of their factors begin at multiples of so many numbers.
#define SN_FRONT_LANES 8

static inline size_t sn_front_round_up(size_t n) {
  return (n + SN_FRONT_LANES - 1) / SN_FRONT_LANES * SN_FRONT_LANES;
}

// Where row `row` of a factor begins whose front's rows are `width` long. It is kept from the multiple of
// SN_FRONT_LANES at or before its diagonal entry on.
static inline size_t sn_front_row(size_t width, size_t row) {
  size_t group = row / SN_FRONT_LANES, skipped = SN_FRONT_LANES * group;
  size_t before = group * width - (group > 0 ? SN_FRONT_LANES * (group * (group - 1) / 2) : 0);
  return SN_FRONT_LANES * before + row % SN_FRONT_LANES * (width - skipped);
}

typedef struct sn_front_kernels {
  const char* name;
  bool (*is_supported)(void);
  // The upper triangle of F, `size` rows that are `width` apart: its first `own` rows become R with
  // F = R^T R there, the rest what is left of it. What stands below the diagonal is lost. A pivot that is
  // round-off stays as it was. `diagonal` becomes the reciprocals of that of R.
  void (*factor)(float* F, size_t width, size_t own, size_t size, float* diagonal);
  // Pack the first rows of F for the next two.
  void (*pack)(const float* F, size_t width, size_t own, float* rows);
  // x = R^-T x on the first `own` numbers, the rest lowered by what that means for them; and x = R^-1 x on
  // them, the rest being known.
  void (*forward)(const float* rows, const float* diagonal, size_t width, size_t own, float* x);
  void (*backward)(const float* rows, const float* diagonal, size_t width, size_t own, float* x);
} sn_front_kernels;

// All that were compiled, best first, ended by NULL; and the first that this processor supports.
const sn_front_kernels* const* sn_front_kernels_list(void);
const sn_front_kernels* sn_front_kernels_best(void);

#endif
