// Bones for the flesh of a character: capsules in its bind pose that move with its joints. See
// docs/theory/flesh.md.
#ifndef SN_CHARACTER_BONES_H
#define SN_CHARACTER_BONES_H

#include "character/rig.h"
#include "geometry/bvh.h"
#include "geometry/parts.h"
#include "sinew/scene.h"

typedef struct sn_flesh_bone {
  uint32_t joint;
  sn_capsule capsule;  // m, bind pose
} sn_flesh_bone;

// What became of a joint.
typedef struct sn_joint_fate {
  uint32_t keeper;  // joint whose bones hold its flesh: itself, one above it, or the nearest
  uint32_t bone_count;
  bool has_flesh;      // moves some
  bool stray;          // its own axis is not in it
  const char* reason;  // why it is not plain, or NULL
} sn_joint_fate;

typedef struct sn_bones {
  sn_flesh_bone* items;
  uint32_t count, capacity;
  sn_joint_fate* fates;  // (joint_count)
} sn_bones;

typedef struct sn_bones_input {
  const sn_rig* rig;
  const sn_parts* parts;         // of the rig's mesh
  const uint8_t* part_is_flesh;  // (part count)
  const sn_bvh* bvh;             // of the flesh alone
  double cell;                   // m
  double thickness;              // factor on radii
  bool sheet;                    // the flesh encloses nothing: it is where its surface is
} sn_bones_input;

sn_status sn_bones_find(const sn_bones_input* input, sn_arena* arena, sn_arena* scratch,
                        sn_bones* bones, sn_error* err);
// One more bone, for a part that none is in: along its longest axis or at its deepest place, of the joint
// that moves most of it. SN_OK without one where none fits.
// @param bvh of the part alone
sn_status sn_bones_add_to_part(const sn_bones_input* input, uint32_t part, const sn_bvh* bvh,
                               sn_arena* arena, sn_arena* scratch, sn_bones* bones, sn_error* err);
// Distance from p to the nearest bone, negative inside; infinite where there is none.
double sn_bones_distance(const sn_bones* bones, sn_vec3 p);

#endif
