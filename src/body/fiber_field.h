// Which cells a muscle has shares in, and which way its fibres run there.
#ifndef SN_BODY_FIBER_FIELD_H
#define SN_BODY_FIBER_FIELD_H

#include "body/muscles.h"

// A part of a muscle: what it has in one cell.
typedef struct sn_muscle_part {
  uint32_t cell;
  double volume;          // m3
  double xi[3];           // its centroid in the cell, each in 0..1
  sn_vec3 centre;         // the same in metres
  double gradient[8][3];  // mean over the part of the gradients of the corners' weights, 1/m
  sn_vec3 direction;      // of the fibres, unit length
  double length;          // along the fibres from where they begin, m
  double tendon;          // share of tendon, 0 to 1
} sn_muscle_part;

// Parts by ascending cell, in scratch memory.
sn_status sn_muscle_find_parts(const sn_octree* tree, const sn_muscle* muscle, sn_pool* pool,
                               sn_arena* scratch, sn_muscle_part** parts, uint32_t* count,
                               sn_error* err);

// Set directions, lengths and tendons of all parts. Takes scratch memory.
sn_status sn_muscle_find_fibers(const sn_octree* tree, const sn_bone* bones,
                                const sn_muscle* muscle, sn_pool* pool, sn_arena* scratch,
                                sn_muscle_part* parts, uint32_t count, sn_error* err);

#endif
