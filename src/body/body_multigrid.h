// Multigrid for the flesh of one body: coarser trees with coarser material, rediscretised on every
// level (Milne et al. 2016, section 7.3).
#ifndef SN_BODY_BODY_MULTIGRID_H
#define SN_BODY_BODY_MULTIGRID_H

#include "body/body.h"
#include "solve/dissection.h"
#include "solve/macroblocks.h"
#include "solve/multigrid.h"
#include "solve/preconditioner.h"
#include "solve/term.h"

#define SN_MAX_MG_LEVELS 20

// One level. The first is the body's own grid.
typedef struct sn_grid {
  const sn_octree* tree;
  const sn_families* families;
  sn_flesh flesh;
  float *mu, *lambda;      // of the cells of all but the first, Pa
  uint8_t* kinds;          // of coarser cells' laws; NULL: all are of the first kind
  uint8_t* held;           // nodes that do not move (node_count)
  sn_transfer to_coarser;  // unused on the last level
  sn_octree own_tree;      // where the level is not the body's own
  sn_families own_families;
} sn_grid;

// What does not change while simulating.
typedef struct sn_hierarchy {
  sn_grid grids[SN_MAX_MG_LEVELS];
  int count;
  sn_macroblocks macroblocks;  // of the first; none unless asked for
  sn_dissection dissection;    // of level `solved`
  int solved;                  // the level that is solved directly; -1: none
} sn_hierarchy;

// Level `solved` is to be solved directly. The levels must have been built.
sn_status sn_hierarchy_dissect(sn_hierarchy* hierarchy, int solved, sn_arena* arena,
                               sn_arena* scratch, sn_error* err);

sn_status sn_hierarchy_build(const sn_body* body, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_hierarchy* hierarchy, sn_error* err);

// What a step writes, a level each.
typedef struct sn_grid_work {
  const sn_grid* grid;
  sn_flesh_work* flesh;  // the first level's is the body's own
  sn_flesh_work own_flesh;
  struct sn_body_multigrid* of;
} sn_grid_work;

// Of a body at most: contacts and muscles.
#define SN_MOST_MORE 2

// Stiffness of what is neither flesh nor a diagonal, on every level.
typedef struct sn_more_stiffness {
  void* ctx;
  // Is there none of it at present?
  bool (*is_idle)(const void* ctx);
  // Add a bound for K to the diagonal, by sn_mg_add_block or, where it is a diagonal, to `b`.
  void (*bound)(void* ctx, sn_pool* pool, int level, sn_mg_level* to);
  // y += K x
  void (*multiply)(void* ctx, sn_pool* pool, int level, const float* x, float* y);
} sn_more_stiffness;

typedef struct sn_body_multigrid {
  const sn_body* body;
  const sn_more_stiffness* more[SN_MOST_MORE];  // (more_count)
  int more_count;
  const sn_hierarchy* hierarchy;
  sn_mg mg;
  sn_grid_work grids[SN_MAX_MG_LEVELS];
  sn_mg_level levels[SN_MAX_MG_LEVELS];
  sn_macroblocks_work macroblocks;
  bool has_macroblocks, rests;  // resting ones are not factored
  sn_dissected dissected;       // where a level is solved directly
} sn_body_multigrid;

// `flesh` is the work of the body's own term. From now on, whenever that is linearised, the gradients
// reach the coarser levels. `blocks`: make room for them. `scratch` (3 x node_count) is used during update and cycles.
sn_status sn_body_multigrid_create(const sn_body* body, sn_flesh_work* flesh,
                                   const sn_hierarchy* hierarchy, sn_mg_opts opts, bool blocks,
                                   float* scratch, sn_arena* arena, sn_body_multigrid* multigrid,
                                   sn_error* err);

// From now on updates factor the level that the hierarchy has dissected, and cycles solve it.
sn_status sn_body_multigrid_add_direct(sn_body_multigrid* multigrid, sn_pool* pool, sn_arena* arena,
                                       sn_error* err);
// From now on updates factor the hierarchy's macroblocks, for sn_macroblocks_apply.
sn_status sn_body_multigrid_add_macroblocks(sn_body_multigrid* multigrid, sn_interface interface,
                                            sn_pool* pool, sn_arena* arena, sn_error* err);
// Factor them by themselves, as the last update did.
void sn_body_multigrid_factor(sn_body_multigrid* multigrid, sn_pool* pool);

// From now on there is more than flesh; `more` must outlive the multigrid.
void sn_body_multigrid_add(sn_body_multigrid* multigrid, const sn_more_stiffness* more);

// Change the stiffening of the flesh on all levels, before the next linearisation.
void sn_body_multigrid_stiffen(sn_body_multigrid* multigrid, double stiffening);

// Let all levels follow the corotated law, or their own again, from the next linearisation on.
void sn_body_multigrid_ease(sn_body_multigrid* multigrid, bool eased);

// Bring all levels to the state at which the body's flesh was last linearised. Terms that are diagonal
// (attachments, inertia) must lie in the first level's springs; they act on coarser levels as springs at
// the nodes. For a frame the smoothers' damping is found anew.
void sn_body_multigrid_update(sn_body_multigrid* multigrid, sn_pool* pool, sn_fit fit);

#endif
