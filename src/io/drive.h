// The parts of sn_character_drive: which joint follows which, how two rest poses belong together, and the
// keys. docs/theory/retarget.md derives it.
#ifndef SN_IO_DRIVE_H
#define SN_IO_DRIVE_H

#include "base/memory.h"
#include "io/drive_names.h"
#include "math/affine.h"
#include "sinew/gltf.h"

// A character being driven.
typedef struct sn_driver {
  sn_gltf* to;
  const sn_gltf* from;
  uint32_t clip;  // of the motion
  sn_arena* scratch;
  sn_error* err;

  sn_joint_word *to_words, *from_words;
  int32_t* source_of;  // node of the motion that each node of the character follows, or -1
  int32_t* target_of;  // and back
  uint32_t matched_count;

  double *bind, *rest;     // poses without motion (16 x nodes)
  sn_gltf_node* locals;    // of the character: the bind pose of each node below its parent
  sn_quat* bind_turns;     // rotations of the bind pose in the world
  sn_quat* rest_turns;     // of the motion's rest pose
  sn_mat3 axes;            // from directions of the motion to those of the character
  sn_quat axes_turn;       // the same
  sn_quat* aligned;        // takes each limb of the character to where that of the motion rests
  int32_t* matched_above;  // nearest ancestor that follows something, or -1
  double scale;
} sn_driver;

// Pair the nodes of both by their names. SN_ERR_INPUT if there is no pair.
sn_status sn_drive_match(sn_driver* d);
// The clip, behind those that the character has.
sn_status sn_drive_bake(sn_driver* d, sn_gltf_clip* clip);

// Rotation of a transform whose columns may be scaled.
sn_quat sn_drive_turn_of(const double m[16]);

#endif
