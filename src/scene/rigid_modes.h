// A coarse correction for bodies that touch one another: each body's multigrid knows its side of a
// contact only and takes the other side for fixed, so what bodies do together, above all moving as
// wholes, is far too stiff to it. The rigid motions of these bodies, coupled by the true stiffness,
// put that right.
#ifndef SN_SCENE_RIGID_MODES_H
#define SN_SCENE_RIGID_MODES_H

#include "body/body.h"
#include "contact/contact.h"
#include "solve/term.h"

// Bodies beyond these go without.
#define SN_MOST_RIGID 16

typedef struct sn_rigid_modes {
  const sn_body* bodies[SN_MOST_RIGID];
  sn_vec3 centres[SN_MOST_RIGID];
  int count;       // bodies
  double* factor;  // of the stiffness between modes, six a body (6 SN_MOST_RIGID squared)
} sn_rigid_modes;

sn_status sn_rigid_modes_create(sn_arena* arena, sn_rigid_modes* modes, sn_error* err);
// Find the bodies of which one touches another, and the stiffness of their motions. `p` and `q` are
// scratch vectors of the problem.
void sn_rigid_modes_update(sn_rigid_modes* modes, const sn_body* bodies, uint32_t body_count,
                           const sn_contact_set* set, const sn_problem* problem, sn_pool* pool,
                           const double* u, float* p, float* q);
// z += R (R^T K R)^-1 R^T r
void sn_rigid_modes_apply(const sn_rigid_modes* modes, sn_pool* pool, const double* u,
                          const float* r, float* z);

#endif
