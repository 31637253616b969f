// Animated meshes of a scene, and what of a body is no flesh.
#ifndef SN_IO_SCENE_POSE_H
#define SN_IO_SCENE_POSE_H

#include "io/scene_json.h"

// Does this `motion` name an animated mesh: a point cache, or a mesh of a character?
bool sn_is_mesh_motion(const json_t* motion);

// {"from": "body.pc2"}, also .mdd, or {"from": "walk.glb", "mesh": "name", "clip": "walk", "loop": false,
// "start": 0}: the vertices of `mesh`, in its order, in metres.
// @param surface as written in the scene: a mesh that it names behind '#' is meant where no other is
sn_status sn_read_mesh_motion(sn_reader* r, const sn_place* at, json_t* object, const char* surface,
                              const sn_mesh* mesh, sn_mesh_motion* motion);

// Fields: what `pose` and `follow` may be; read once the surface is.
sn_status sn_read_pose_kind(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_follow_kind(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

// `pose` of a body, which may be null. @param surface as written
sn_status sn_read_pose(sn_reader* r, const sn_place* body_at, json_t* body_object,
                       const char* surface, sn_body_desc* body);
// `follow` of a body: numbers of connected parts, names of groups.
sn_status sn_read_follow(sn_reader* r, const sn_place* body_at, const json_t* body_object,
                         sn_body_desc* body);

#endif
