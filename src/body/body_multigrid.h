// Multigrid for the flesh of one body: coarser trees with coarser material, rediscretised on every
// level (Milne et al. 2016, section 7.3).
#ifndef SN_BODY_BODY_MULTIGRID_H
#define SN_BODY_BODY_MULTIGRID_H

#include "body/body.h"
#include "solve/multigrid.h"
#include "solve/term.h"

#define SN_MAX_MG_LEVELS 20

// One level. The first is the body's own grid.
typedef struct sn_grid {
  const sn_octree* tree;
  const sn_families* families;
  sn_flesh flesh;
  float *mu, *lambda;      // of the cells, Pa
  uint8_t* held;           // nodes that do not move (node_count)
  sn_transfer to_coarser;  // unused on the last level
  sn_octree own_tree;      // where the level is not the body's own
  sn_families own_families;
} sn_grid;

// What does not change while simulating.
typedef struct sn_hierarchy {
  sn_grid grids[SN_MAX_MG_LEVELS];
  int count;
} sn_hierarchy;

sn_status sn_hierarchy_build(const sn_body* body, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_hierarchy* hierarchy, sn_error* err);

// What a step writes, a level each.
typedef struct sn_grid_work {
  const sn_grid* grid;
  sn_flesh_work* flesh;  // the first level's is the body's own
  sn_flesh_work own_flesh;
} sn_grid_work;

typedef struct sn_body_multigrid {
  const sn_body* body;
  const sn_hierarchy* hierarchy;
  sn_mg mg;
  sn_grid_work grids[SN_MAX_MG_LEVELS];
  sn_mg_level levels[SN_MAX_MG_LEVELS];
} sn_body_multigrid;

// `flesh` is the work of the body's own term. From now on, whenever that is linearised, the gradients
// reach the coarser levels. `scratch` (3 x node_count) is used during update and cycles.
sn_status sn_body_multigrid_create(const sn_body* body, sn_flesh_work* flesh,
                                   const sn_hierarchy* hierarchy, sn_mg_opts opts, float* scratch,
                                   sn_arena* arena, sn_body_multigrid* multigrid, sn_error* err);

// Bring all levels to the state at which the body's flesh was last linearised. The diagonal of the
// other terms at the body's unknowns (attachments, contact) must lie in the first level's springs: they
// act on every level as springs at the nodes. `estimate`: find the smoothers' damping anew.
void sn_body_multigrid_update(sn_body_multigrid* multigrid, sn_pool* pool, bool estimate);

#endif
