// Colliders, and how things touch.
#ifndef SN_IO_SCENE_CONTACT_H
#define SN_IO_SCENE_CONTACT_H

#include "io/scene_json.h"

// An entry of `colliders` (sn_collider_desc), and `contact` (sn_contact_opts), whose `ignore` names
// bodies and colliders that have been read.
extern const sn_table sn_collider_table, sn_contact_table;

// Field: the list of colliders, after the bodies.
sn_status sn_read_colliders(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

// Colliders without friction or stiffness of their own take those of `contact`, once both are read.
void sn_collider_defaults(sn_scene* scene);

#endif
