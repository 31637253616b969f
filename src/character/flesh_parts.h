// Which connected parts of a character are flesh, and which follow it.
#ifndef SN_CHARACTER_FLESH_PARTS_H
#define SN_CHARACTER_FLESH_PARTS_H

#include "character/bones.h"
#include "geometry/surface.h"

typedef struct sn_flesh_choice {
  sn_parts parts;        // of the rig's mesh
  uint8_t* is_flesh;     // (part count)
  const char** reasons;  // (part count)
  double area, cell;     // of all flesh; of its finest cells, m
  bool sheet;            // nothing encloses a volume
  sn_mesh mesh;          // the flesh alone, vertices as in the rig's; owns its memory
  sn_surface surface;
  sn_bvh bvh;
} sn_flesh_choice;

// @param cell finest cell edge, or 0 for that of about 100k cells
sn_status sn_flesh_choose(const sn_rig* rig, double cell, sn_arena* arena, sn_arena* scratch,
                          sn_flesh_choice* choice, sn_error* err);
// See that each part of flesh has a bone in it or touches one that has; a part that cannot be held
// follows.
sn_status sn_flesh_hold(const sn_bones_input* input, sn_arena* arena, sn_arena* scratch,
                        sn_flesh_choice* choice, sn_bones* bones, sn_error* err);
// Frees the mesh. A zeroed choice is fine.
void sn_flesh_choice_destroy(sn_flesh_choice* choice);

#endif
