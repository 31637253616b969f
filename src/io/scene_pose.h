// Animated meshes of a scene, and what of a body is no flesh.
#ifndef SN_IO_SCENE_POSE_H
#define SN_IO_SCENE_POSE_H

#include "io/scene_clip.h"
#include "io/scene_json.h"

// Does this `motion` name an animated mesh: a point cache, or a mesh of a character?
bool sn_is_mesh_motion(const json_t* motion);

typedef enum sn_cache_kind { SN_CACHE_NONE, SN_CACHE_PC2, SN_CACHE_MDD } sn_cache_kind;

// Which vertices of a character: those of one node, or of all that have a mesh.
typedef struct sn_posed_mesh {
  const sn_gltf* character;
  bool whole;
  uint32_t node;
  uint32_t vertex_count;
} sn_posed_mesh;

// Where the frames of an animated mesh come from, while the reader's files are open.
typedef struct sn_pose_source {
  sn_cache_kind kind;  // NONE: a character
  char* path;          // of a cache
  sn_clip_poses poses;
  sn_posed_mesh posed;
  double* room;          // world transforms, then places, of a character
  sn_mesh_motion shape;  // numbers and times; its places are not there
} sn_pose_source;

// Close it, also when it failed. @param object as for sn_read_mesh_motion
sn_status sn_pose_source_open(sn_reader* r, const sn_place* at, json_t* object, const char* surface,
                              uint32_t vertex_count, sn_pose_source* source);
// Metres. @param index of the frame, counted from 0 @param places (3 x vertex_count)
sn_status sn_pose_source_read(sn_reader* r, const sn_place* at, const sn_pose_source* source,
                              uint32_t index, float* places);
void sn_pose_source_close(sn_pose_source* source);

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
