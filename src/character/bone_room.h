// Room for the flesh between bones that move against one another. See docs/theory/flesh.md, section 3.
#ifndef SN_CHARACTER_BONE_ROOM_H
#define SN_CHARACTER_BONE_ROOM_H

#include "character/bones.h"
#include "character/shot.h"

// Makes bones thinner, and shorter where that is not enough, until in all poses of the shot the flesh
// between any two of them is neither turned inside out nor drawn out too far.
sn_status sn_bones_make_room(const sn_bones_input* input, const sn_shot* shot, sn_arena* scratch,
                             sn_bones* bones, sn_error* err);

#endif
