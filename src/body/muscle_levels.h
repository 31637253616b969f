// The muscles of a body on every level of its multigrid: of each muscle one share a cell.
#ifndef SN_BODY_MUSCLE_LEVELS_H
#define SN_BODY_MUSCLE_LEVELS_H

#include "body/body_multigrid.h"

typedef struct sn_muscle_level {
  sn_fiber_cells cells;
  uint32_t* firsts;     // first share of the finer level that is part of each one here (count + 1)
  float (*blocks)[6];   // sums of theirs
  double* volumes;      // m3
  sn_vec3* centres;     // m
  sn_vec3* directions;  // unit length
  uint32_t* owners;
} sn_muscle_level;

typedef struct sn_muscle_levels {
  const sn_muscles* muscles;
  const sn_muscle_work* work;
  const sn_hierarchy* hierarchy;
  sn_muscle_level levels[SN_MAX_MG_LEVELS];  // [0] refers to the body's own
  sn_more_stiffness more;
} sn_muscle_levels;

sn_status sn_muscle_levels_create(const sn_muscles* muscles, const sn_muscle_work* work,
                                  const sn_hierarchy* hierarchy, sn_arena* arena,
                                  sn_muscle_levels* levels, sn_error* err);

// After the muscles have been linearised.
void sn_muscle_levels_update(sn_muscle_levels* levels, sn_pool* pool);

#endif
