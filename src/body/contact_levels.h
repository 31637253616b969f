// The contacts of a body on every level of its multigrid: the same springs, between the same places,
// carried by the nodes of that level.
#ifndef SN_BODY_CONTACT_LEVELS_H
#define SN_BODY_CONTACT_LEVELS_H

#include "body/body_multigrid.h"
#include "contact/contact.h"

typedef struct sn_level_carrier {
  uint32_t nodes[8];
  float weights[8];
} sn_level_carrier;

typedef struct sn_contact_levels {
  const sn_contact_set* set;
  const sn_body* body;
  const sn_hierarchy* hierarchy;
  uint32_t* slots;  // where each contact has its carriers, + 1; 0: nowhere (set's capacity)
  sn_level_carrier* carriers;  // of point and target on each level ([slot][level][2])
  uint32_t count, capacity;    // slots
  uint32_t epoch;              // of the set that these belong to
  sn_more_stiffness more;
} sn_contact_levels;

sn_status sn_contact_levels_create(const sn_contact_set* set, const sn_body* body,
                                   const sn_hierarchy* hierarchy, sn_arena* arena,
                                   sn_contact_levels* levels, sn_error* err);

// Find carriers for contacts that have become stiff since the last time.
void sn_contact_levels_update(sn_contact_levels* levels);

#endif
