// The plan of a character's flesh as a scene file.
#ifndef SN_CHARACTER_FLESH_SCENE_H
#define SN_CHARACTER_FLESH_SCENE_H

#include "character/flesh_parts.h"
#include "character/shot.h"

// Of the flesh that is made up where no material is named: corotated, which takes the fewest steps where limbs
// fold.
#define SN_FLESH_POISSON 0.45

typedef struct sn_flesh_scene {
  const char* path;    // of the character, absolute
  const char* motion;  // of the file that drives it, absolute, or NULL
  const char* folder;  // of the scene, absolute
  const sn_rig* rig;
  const sn_flesh_choice* choice;
  const sn_bones* bones;
  const sn_shot* shot;
  const sn_flesh_opts* opts;
  double young;  // Pa, or 0 for that of the material
  double hold;   // stiffness of the ties to the pose; 0: none
} sn_flesh_scene;

// @param text in `arena`
sn_status sn_flesh_scene_write(const sn_flesh_scene* scene, sn_arena* arena, char** text,
                               sn_error* err);

#endif
