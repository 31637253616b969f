#include "body/body_multigrid.h"

#include <string.h>

// The last level is solved by a dense factorisation: about 60 cells are 400 unknowns.
#define COARSEST_CELLS 60
// Factor on the hourglass energy of all levels but the first. A coarse cell's hourglass modes stand for
// bending that the finer cells resolve more softly; docs/theory/multigrid.md has the measurement.
#define COARSE_HOURGLASS 1.0
// A level that does not shrink at least this much is not worth having.
#define LEAST_SHRINKING 0.9

// mu and lambda of a coarse cell: the mean over its eight children, missing ones counting as zero.
// A cell that both trees have keeps its own.
static void coarsen_material(const sn_grid* fine, sn_grid* coarse) {
  for (uint32_t e = 0; e < fine->tree->cell_count; ++e) {
    uint32_t c = fine->to_coarser.coarse_cells[e];
    bool same = fine->tree->cells[e].height == coarse->tree->cells[c].height;
    float share = same ? 1 : 0.125f;
    coarse->mu[c] += share * fine->mu[e];
    coarse->lambda[c] += share * fine->lambda[e];
  }
}

// A coarse node where a held fine node is, is held.
static void coarsen_held(const sn_grid* fine, sn_grid* coarse) {
  for (uint32_t n = 0; n < coarse->tree->node_count; ++n) {
    sn_octant place = coarse->tree->nodes[n];
    uint32_t node = sn_octree_find_node(fine->tree, place.x, place.y, place.z);
    coarse->held[n] = node != UINT32_MAX && fine->held[node];
  }
}

static sn_status add_coarser(sn_grid* fine, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_grid* coarse, sn_error* err) {
  SN_TRY(sn_transfer_build(fine->tree, coarse->tree, pool, arena, scratch, &fine->to_coarser, err));
  SN_TRY(sn_families_build(coarse->tree, pool, arena, scratch, &coarse->own_families, err));
  coarse->families = &coarse->own_families;
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->mu, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->lambda, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->node_count, &coarse->held, err));
  coarsen_material(fine, coarse);
  coarsen_held(fine, coarse);
  coarse->flesh = sn_flesh_make(coarse->tree, coarse->families, coarse->mu, coarse->lambda);
  coarse->flesh.hourglass = COARSE_HOURGLASS;
  return SN_OK;
}

sn_status sn_hierarchy_build(const sn_body* body, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_hierarchy* hierarchy, sn_error* err) {
  sn_grid* first = &hierarchy->grids[0];
  *hierarchy = (sn_hierarchy){.count = 1};
  first->tree = &body->tree;
  first->families = &body->families;
  first->flesh = body->flesh;
  first->mu = body->mu;
  first->lambda = body->lambda;
  SN_TRY(SN_ARENA_NEW(arena, body->tree.node_count, &first->held, err));
  for (uint32_t h = 0; h < body->held_count; ++h) first->held[body->held[h].node] = 1;

  while (hierarchy->count < SN_MAX_MG_LEVELS) {
    sn_grid* fine = &hierarchy->grids[hierarchy->count - 1];
    sn_grid* coarse = fine + 1;
    if (fine->tree->cell_count <= COARSEST_CELLS) break;
    SN_TRY(sn_octree_coarsen(fine->tree, pool, arena, scratch, &coarse->own_tree, err));
    coarse->tree = &coarse->own_tree;
    if (coarse->tree->cell_count > LEAST_SHRINKING * fine->tree->cell_count) break;
    SN_TRY(add_coarser(fine, pool, arena, scratch, coarse, err));
    hierarchy->count++;
  }
  return SN_OK;
}

static void add_product(void* ctx, sn_pool* pool, const float* x, float* y) {
  sn_grid_work* work = ctx;
  sn_flesh_apply_f(&work->grid->flesh, pool, work->flesh, SN_HESSIAN_DEFINITE, x, y);
}

// F of a coarse cell: the mean over the children that exist.
static void coarsen_gradients(const sn_grid_work* fine, const sn_grid_work* coarse) {
  const uint32_t* coarse_cells = fine->grid->to_coarser.coarse_cells;
  const uint32_t *places = fine->grid->families->places,
                 *coarse_places = coarse->grid->families->places;
  uint32_t cells = fine->grid->tree->cell_count;
  for (uint32_t begin = 0, end; begin < cells; begin = end) {
    float sum[9] = {0};
    uint32_t c = coarse_cells[begin];
    for (end = begin; end < cells && coarse_cells[end] == c; ++end) {
      const float* F = sn_flesh_tangent(fine->flesh, places[end], SN_TANGENT_R);
      for (int i = 0; i < 9; ++i) sum[i] += F[i * SN_FAMILY_LANES];
    }
    float* F = sn_flesh_tangent(coarse->flesh, coarse_places[c], SN_TANGENT_R);
    for (int i = 0; i < 9; ++i) F[i * SN_FAMILY_LANES] = sum[i] / (float)(end - begin);
  }
}

static void coarsen_all_gradients(void* ctx, sn_pool* pool) {
  sn_body_multigrid* multigrid = ctx;
  (void)pool;
  for (int l = 0; l + 1 < multigrid->hierarchy->count; ++l) {
    coarsen_gradients(&multigrid->grids[l], &multigrid->grids[l + 1]);
  }
}

sn_status sn_body_multigrid_create(const sn_body* body, sn_flesh_work* flesh,
                                   const sn_hierarchy* hierarchy, sn_mg_opts opts, float* scratch,
                                   sn_arena* arena, sn_body_multigrid* multigrid, sn_error* err) {
  *multigrid = (sn_body_multigrid){.body = body, .hierarchy = hierarchy};
  multigrid->mg =
      (sn_mg){.opts = opts, .levels = multigrid->levels, .level_count = hierarchy->count};
  for (int l = 0; l < hierarchy->count; ++l) {
    const sn_grid* grid = &hierarchy->grids[l];
    sn_grid_work* work = &multigrid->grids[l];
    *work = (sn_grid_work){.grid = grid, .flesh = l == 0 ? flesh : &work->own_flesh};
    if (l > 0) SN_TRY(sn_flesh_work_create(&grid->flesh, true, arena, &work->own_flesh, err));
    multigrid->levels[l] =
        (sn_mg_level){.unknown_count = 3 * (size_t)grid->tree->node_count,
                      .held = grid->held,
                      .add_product = add_product,
                      .ctx = work,
                      .coarser = l + 1 < hierarchy->count ? &grid->to_coarser : NULL};
  }
  multigrid->levels[0].r = scratch;
  flesh->deformed = coarsen_all_gradients;
  flesh->deformed_ctx = multigrid;
  return sn_mg_create(&multigrid->mg, arena, err);
}

typedef struct level_job {
  const sn_grid_work* work;
  const sn_mg_level* level;
} level_job;

// From the flesh's part of the diagonal in r: the inverse diagonal for the smoother, and what becomes
// springs of the next level. A held fine node that is no coarse one holds its neighbours there by a
// spring as stiff as itself.
static void set_diagonal(void* ctx, size_t begin, size_t end) {
  const sn_mg_level* level = ((const level_job*)ctx)->level;
  for (size_t i = begin; i < end; ++i) {
    bool held = level->held[i / 3];
    float flesh = level->r[i], sum = flesh + level->springs[i];
    level->inverse_diagonal[i] = held || !(sum > 0) ? 0 : 1 / sum;
    level->r[i] = level->springs[i] + (held ? flesh : 0);
  }
}

void sn_body_multigrid_update(sn_body_multigrid* multigrid, sn_pool* pool, bool estimate) {
  for (int l = 0; l < multigrid->hierarchy->count; ++l) {
    sn_grid_work* work = &multigrid->grids[l];
    sn_mg_level* level = &multigrid->levels[l];
    const sn_flesh* flesh = &work->grid->flesh;
    if (l > 0) sn_flesh_linearise_gradients(flesh, pool, work->flesh);
    memset(level->r, 0, level->unknown_count * sizeof *level->r);
    sn_flesh_diagonal_f(flesh, pool, work->flesh, SN_HESSIAN_DEFINITE, level->r);
    level_job job = {work, level};
    sn_parallel_for(pool, level->unknown_count, 6144, set_diagonal, &job);
    if (level->coarser) sn_transfer_restrict(level->coarser, pool, level->r, level[1].springs);
  }
  sn_mg_update(&multigrid->mg, pool, estimate);
}
