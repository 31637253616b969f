// What is no flesh and is carried along: hair, eyes, a hat, buttons.
#ifndef SN_BODY_BODY_FOLLOW_H
#define SN_BODY_BODY_FOLLOW_H

#include "body/body.h"

// The surface of the flesh: the mesh without the triangles that follow. Sets what the body knows about
// the parts of its mesh.
sn_status sn_body_prepare_surface(uint32_t index, sn_arena* arena, sn_arena* scratch, sn_body* body,
                                  sn_error* err);
// Bind what follows to the surface. Needs its tree.
void sn_body_bind_followers(sn_pool* pool, sn_body* body);

// How far a follower goes, m. @param shown the surface as it is shown, with turns if there is no pose
// @param pose of the body; NULL or without surface: none
sn_vec3 sn_follower_move(const sn_follower* follower, const sn_carrier* shown,
                         const sn_carrier* pose);

#endif
