// The terms of a body's energy.
#ifndef SN_BODY_BODY_TERMS_H
#define SN_BODY_BODY_TERMS_H

#include "body/body.h"
#include "solve/term.h"

// What a step writes for one body.
typedef struct sn_body_work {
  sn_flesh_work flesh;
  sn_vec3* tie_targets;  // displacement that each tie pulls to, m (tie_count)
  double* forces;        // dead loads and weight at the nodes, N (3 x node_count)
} sn_body_work;

#define SN_BODY_TERMS 3

sn_status sn_body_work_create(const sn_body* body, sn_arena* arena, sn_body_work* work,
                              sn_error* err);
// Flesh, ties and loads, in this order.
void sn_body_make_terms(const sn_body* body, sn_body_work* work, sn_term terms[SN_BODY_TERMS]);

#endif
