// Which bones lead a node: how much of each bone's motion flesh takes part in, as skinning has it. Where
// bones alone would take the flesh in a step is a good place to start solving from: the large rotations are
// done there, and what is left is local.
#ifndef SN_BODY_LEADS_H
#define SN_BODY_LEADS_H

#include "body/body.h"

#define SN_LEADS 4  // bones that lead a node at most

typedef struct sn_lead {
  uint16_t bones[SN_LEADS];  // of the scene
  uint16_t
      shares[SN_LEADS];  // over that of the nearest, which has UINT16_MAX; 0 where there is none
} sn_lead;

// Sets body->leads; NULL where no bone that moves as a whole is tied to it, or there are more bones than fit.
sn_status sn_leads_build(const sn_bone* bones, uint32_t bone_count, sn_pool* pool, sn_arena* arena,
                         sn_arena* scratch, sn_body* body, sn_error* err);

// Displacements of its nodes where bones alone would take them from u.
// @param moves of all bones, from where they were at u (bone_count)
void sn_leads_follow(const sn_body* body, sn_pool* pool, const sn_affine* moves, const double* u,
                     double* led);

#endif
