// What a character does: which clip, which frames, and how fast its skin moves then.
#ifndef SN_CHARACTER_SHOT_H
#define SN_CHARACTER_SHOT_H

#include "character/rig.h"
#include "sinew/flesh.h"

typedef struct sn_shot {
  int32_t clip;           // of the character; -1: at rest
  const char* clip_name;  // in its file, or in the one that drives it
  double fps;
  int first, last, preroll;
  double acceleration;  // of the skin: larger than 95 % of what vertices see, m/s2
} sn_shot;

// The clip that is meant; SN_ERR_INPUT lists those there are. @param wanted name or number, or NULL
sn_status sn_shot_find_clip(const sn_gltf* source, const char* path, const char* wanted,
                            int32_t* clip, sn_error* err);
// Frames, preroll and acceleration; `clip` is given.
sn_status sn_shot_measure(const sn_rig* rig, const sn_flesh_opts* opts, sn_arena* scratch,
                          sn_shot* shot, sn_error* err);

#endif
