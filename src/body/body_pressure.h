// Pressures of a body's cells as unknowns of the linear solver (docs/theory/incompressible.md).
#ifndef SN_BODY_BODY_PRESSURE_H
#define SN_BODY_BODY_PRESSURE_H

#include "body/body_multigrid.h"
#include "body/body_terms.h"

// How pressures are kept.
typedef struct sn_keep_opts {
  double most_bulk;  // lambda of what is left is this x mu at most, and
  double held_bulk;  // this in cells with a node that is held or tied
  float* pressure;   // room for all of them, if they are to be unknowns of Newton's method, too
  double scale;      // of pressures, where nothing preconditions them; 0: by their own stiffness
} sn_keep_opts;

// Cells whose lambda is above `most_bulk` x mu; those alone have pressures.
bool sn_body_has_pressures(const sn_body* body, double most_bulk);

// What a step writes.
typedef struct sn_body_pressures {
  const sn_body* body;
  sn_flesh_work* flesh;
  sn_keep_opts opts;
  float *weights, *compliance;
} sn_body_pressures;

// From now on the flesh leaves its pressures out of products, on every level of `multigrid`, if there
// is one. `first`: of its pressures among those of all bodies.
sn_status sn_body_keep_pressures(const sn_body* body, sn_flesh_work* flesh,
                                 sn_body_multigrid* multigrid, const sn_keep_opts* opts,
                                 sn_arena* arena, sn_body_pressures* work, size_t first,
                                 sn_pressures* space, sn_error* err);

#endif
