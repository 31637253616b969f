// The terms of a body's energy.
#ifndef SN_BODY_BODY_TERMS_H
#define SN_BODY_BODY_TERMS_H

#include "body/body.h"
#include "solve/term.h"

// How a step of time enters the energy (docs/theory/dynamics.md). Vectors are of the body's nodes.
typedef struct sn_body_stride {
  double inertia;        // of a kilogram at a node, N/m; 0: no inertia
  const double* target;  // where a node without forces would be, m
  double ahead;          // damping over the step: flesh is taken at u + ahead (u - base)
  const double* base;    // where a node without velocity would be, m
  double* ahead_u;       // room for that u
} sn_body_stride;

// What a step writes for one body.
typedef struct sn_body_work {
  sn_flesh_work flesh;
  sn_vec3* tie_targets;  // displacement that each tie pulls to, m (tie_count)
  sn_vec3 gravity;       // m/s2
  bool free_float;       // parts that nothing holds have no weight
  double*
      forces;  // where there are dead loads: these and the weight, N (3 x node_count); else NULL
  sn_muscle_work muscles;
  sn_body_stride stride;
} sn_body_work;

#define SN_BODY_TERMS 5

sn_status sn_body_work_create(const sn_body* body, sn_arena* arena, sn_body_work* work,
                              sn_error* err);
// Flesh, ties, loads, inertia and muscles, in this order.
void sn_body_make_terms(const sn_body* body, sn_body_work* work, sn_term terms[SN_BODY_TERMS]);

#endif
