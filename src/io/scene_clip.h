// Motion that a scene takes from the clips of characters.
#ifndef SN_IO_SCENE_CLIP_H
#define SN_IO_SCENE_CLIP_H

#include "io/scene_json.h"
#include "sinew/gltf.h"

// {"from": "walk.glb", "node": "LeftArm", "clip": "walk", "loop": false, "start": 0,
// "driven_by": "run.bvh"}: how the node moves against its bind pose, a key at every frame of the scene until the clip ends. Frame 1 is the clip's
// time `start`. The document gets the absolute paths, and the first clip where it names none; the clip
// is one of `driven_by`, if that is given. The keys
// are there, but empty until sn_fill_clip_motions.
// @param rigid the node must not be stretched
sn_status sn_read_clip_motion(sn_reader* r, const sn_place* at, json_t* object, bool rigid,
                              sn_motion* motion);

// Fill the keys of all motions that were read: the pose of a character at a frame is found once for all
// of its nodes.
sn_status sn_fill_clip_motions(sn_reader* r);

// Forget the motions that were read, filled or not.
void sn_drop_clip_motions(sn_reader* r);

// The poses of a whole character over time.
typedef struct sn_clip_poses {
  const sn_gltf* character;  // until the files are closed
  const char* path;          // of it, absolute
  char* mesh;                // as asked for; NULL: all
  uint32_t clip;
  uint32_t count;     // one at every frame from 1 on; the last of a loop is where that ends
  double period;      // of a loop, frames; else 0
  double start, fps;  // time of the clip at frame 1, s
} sn_clip_poses;

// {"from": "man.glb", "mesh": "name", "clip": "walk", "loop": false, "start": 0, "driven_by": "walk.bvh"},
// as for a motion.
sn_status sn_read_clip_poses(sn_reader* r, const sn_place* at, json_t* object,
                             sn_clip_poses* poses);
// World transforms of all nodes in a pose, counted from 0. @param world (16 x node_count)
// @return its time in the clip, s
double sn_clip_poses_at(const sn_clip_poses* poses, uint32_t pose, double* world);

#endif
