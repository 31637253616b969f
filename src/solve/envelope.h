// Cholesky factorisation of a sparse matrix within its envelope: from the first entry of each row that is
// not zero to the diagonal. With nodes in the order of Cuthill and McKee (1969), reversed, the envelope
// of a body with thin limbs is narrow, as it grows with the cross-section. Our own, so that its bits do
// not depend on a library, a processor or threads.
#ifndef SN_SOLVE_ENVELOPE_H
#define SN_SOLVE_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

// Which nodes have entries in common: those of a cell, and each with itself.
typedef struct sn_envelope {
  uint32_t node_count;
  int n;                            // unknowns that are free
  uint32_t *starts, *neighbours;    // of each node, itself among them, in ascending order (CSR)
  uint32_t *colours, colour_count;  // no node has two neighbours of one colour
  int32_t* rows;                    // row of each unknown; -1: held (3 x nodes)
  size_t* ends;                     // where the diagonal entry of a row is among the values (n)
  uint32_t* firsts;                 // first column of a row (n)
  uint32_t *groups, group_count;    // first row of each node that has any, and n (group_count + 1)
  double cost;                      // multiplications and additions of a factorisation
  double* values;                   // entries, then the factor, row after row
  double* solution;                 // right side and solution (n)
} sn_envelope;

// Order and colour the nodes of cells with eight nodes each, and lay out the rows. `held` as in vector.h.
// The values are not there yet.
sn_status sn_envelope_plan(const uint32_t* cells, uint32_t cell_count, uint32_t node_count,
                           const uint8_t* held, sn_arena* arena, sn_arena* scratch,
                           sn_envelope* envelope, sn_error* err);
size_t sn_envelope_value_count(const sn_envelope* envelope);
// Memory for the values.
sn_status sn_envelope_create(sn_envelope* envelope, sn_arena* arena, sn_error* err);

// All entries anew, by products with vectors that are 1 at the nodes of one colour: x and y have 3 x nodes
// numbers, y = A x is up to the caller. Between clear and factor, for each colour and axis: pick, multiply, take.
void sn_envelope_clear(sn_envelope* envelope);
void sn_envelope_pick(const sn_envelope* envelope, uint32_t colour, int axis, float* x);
void sn_envelope_take(sn_envelope* envelope, uint32_t colour, int axis, const float* y);
// A = L L^T. Pivots as in cholesky.h.
void sn_envelope_factor(sn_envelope* envelope);
// x = A^-1 b, 0 where held; b and x have 3 x nodes numbers.
void sn_envelope_solve(const sn_envelope* envelope, const float* b, float* x);

#endif
