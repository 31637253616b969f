#include "body/body_multigrid.h"

#include <string.h>

// The last level is solved by a dense factorisation: about 60 cells are 400 unknowns.
#define COARSEST_CELLS 60
// A level that does not shrink at least this much is not worth having, unless it costs next to
// nothing: then all that matters is to end with as few cells as possible.
#define LEAST_SHRINKING 0.9
#define CHEAP_CELLS 5000

typedef struct coarsen_job {
  const sn_grid* fine;
  sn_grid* coarse;
} coarsen_job;

// The first fine cell that lies in coarse cell c or a later one.
static uint32_t first_fine_cell(const sn_grid* fine, size_t c) {
  const uint32_t* coarse_cells = fine->to_coarser.coarse_cells;
  uint32_t low = 0, high = fine->tree->cell_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (coarse_cells[middle] < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// mu and lambda of a coarse cell: the mean over its eight children, missing ones counting as zero.
// A cell that both trees have keeps its own.
static void coarsen_material(void* ctx, size_t begin, size_t end) {
  const coarsen_job* job = ctx;
  const sn_grid* fine = job->fine;
  uint32_t last = first_fine_cell(fine, end);
  for (uint32_t e = first_fine_cell(fine, begin); e < last; ++e) {
    uint32_t c = fine->to_coarser.coarse_cells[e];
    bool same = fine->tree->cells[e].height == job->coarse->tree->cells[c].height;
    double share = same ? 1 : 0.125;
    job->coarse->mu[c] += share * fine->mu[e];
    job->coarse->lambda[c] += share * fine->lambda[e];
  }
}

// A coarse node where a held fine node is, is held: that fine node has all its value from it.
static void coarsen_held(void* ctx, size_t begin, size_t end) {
  const coarsen_job* job = ctx;
  const sn_transfer* t = &job->fine->to_coarser;
  for (size_t n = begin; n < end; ++n) {
    for (uint32_t e = t->coarse_starts[n]; e < t->coarse_starts[n + 1]; ++e) {
      bool same_place = t->coarse_weights[e] == SN_TRANSFER_ONE;
      if (same_place) job->coarse->held[n] = job->fine->held[t->fine_nodes[e]];
    }
  }
}

static sn_status add_coarser(sn_grid* fine, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_grid* coarse, sn_error* err) {
  SN_TRY(sn_transfer_build(fine->tree, coarse->tree, pool, arena, scratch, &fine->to_coarser, err));
  SN_TRY(sn_chunks_build(coarse->tree, pool, arena, scratch, &coarse->own_chunks, err));
  coarse->chunks = &coarse->own_chunks;
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->mu, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->lambda, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->node_count, &coarse->held, err));
  coarsen_job job = {fine, coarse};
  sn_parallel_for(pool, coarse->tree->cell_count, 1024, coarsen_material, &job);
  sn_parallel_for(pool, coarse->tree->node_count, 1024, coarsen_held, &job);
  coarse->flesh = (sn_flesh){coarse->tree, coarse->chunks, coarse->mu, coarse->lambda};
  return SN_OK;
}

static bool is_worth_having(const sn_octree* coarse, const sn_octree* fine) {
  double most = fine->cell_count <= CHEAP_CELLS ? 1 : LEAST_SHRINKING;
  return coarse->cell_count < fine->cell_count && coarse->cell_count <= most * fine->cell_count;
}

sn_status sn_hierarchy_build(const sn_body* body, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_hierarchy* hierarchy, sn_error* err) {
  sn_grid* first = &hierarchy->grids[0];
  *hierarchy = (sn_hierarchy){.count = 1};
  first->tree = &body->tree;
  first->chunks = &body->chunks;
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
    if (!is_worth_having(coarse->tree, fine->tree)) break;
    SN_TRY(add_coarser(fine, pool, arena, scratch, coarse, err));
    hierarchy->count++;
  }
  return SN_OK;
}

typedef struct level_job {
  const sn_grid_work* work;
  const float* x;
  float* y;
} level_job;

// y += springs x, and 0 on held nodes.
static void add_springs(void* ctx, size_t begin, size_t end) {
  const level_job* job = ctx;
  const uint8_t* held = job->work->grid->held;
  for (size_t i = begin; i < end; ++i) {
    job->y[i] = held[i / 3] ? 0 : job->y[i] + job->work->springs[i] * job->x[i];
  }
}

static void apply_level(void* ctx, sn_pool* pool, const float* x, float* y) {
  sn_grid_work* work = ctx;
  size_t n = 3 * (size_t)work->grid->tree->node_count;
  level_job job = {work, x, y};
  memset(y, 0, n * sizeof *y);
  sn_flesh_apply_f(&work->grid->flesh, pool, &work->flesh, SN_HESSIAN_DEFINITE, x, y);
  sn_parallel_for(pool, n, 6144, add_springs, &job);
}

sn_status sn_body_multigrid_create(const sn_body* body, const sn_hierarchy* hierarchy,
                                   sn_mg_opts opts, sn_arena* arena, sn_body_multigrid* multigrid,
                                   sn_error* err) {
  *multigrid = (sn_body_multigrid){.body = body, .hierarchy = hierarchy};
  multigrid->mg =
      (sn_mg){.opts = opts, .levels = multigrid->levels, .level_count = hierarchy->count};
  for (int l = 0; l < hierarchy->count; ++l) {
    const sn_grid* grid = &hierarchy->grids[l];
    sn_grid_work* work = &multigrid->grids[l];
    size_t cells = grid->tree->cell_count, nodes = grid->tree->node_count;
    work->grid = grid;
    SN_TRY(SN_ARENA_NEW(arena, 9 * cells, &work->F, err));
    SN_TRY(SN_ARENA_NEW(arena, cells, &work->flesh.tangents, err));
    SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)grid->chunks->slot_count, &work->flesh.slots, err));
    SN_TRY(SN_ARENA_NEW(arena, 3 * nodes, &work->springs, err));
    multigrid->levels[l] =
        (sn_mg_level){.unknown_count = 3 * nodes,
                      .held = grid->held,
                      .apply = apply_level,
                      .ctx = work,
                      .coarser = l + 1 < hierarchy->count ? &grid->to_coarser : NULL};
  }
  return sn_mg_create(&multigrid->mg, arena, err);
}

// F of a coarse cell: the mean over the children that exist.
static void coarsen_deformation(const sn_grid_work* fine, sn_grid_work* coarse) {
  const uint32_t* coarse_cells = fine->grid->to_coarser.coarse_cells;
  uint32_t cells = fine->grid->tree->cell_count;
  for (uint32_t begin = 0, end; begin < cells; begin = end) {
    float sum[9] = {0};
    uint32_t c = coarse_cells[begin];
    for (end = begin; end < cells && coarse_cells[end] == c; ++end) {
      for (int i = 0; i < 9; ++i) sum[i] += fine->F[9 * (size_t)end + i];
    }
    for (int i = 0; i < 9; ++i) coarse->F[9 * (size_t)c + i] = sum[i] / (float)(end - begin);
  }
}

// The inverse diagonal of a level, for the smoother. Leaves the flesh's part in q.
static void set_diagonal(sn_grid_work* work, sn_mg_level* level, sn_pool* pool) {
  float* d = level->q;
  memset(d, 0, level->unknown_count * sizeof *d);
  sn_flesh_diagonal_f(&work->grid->flesh, pool, &work->flesh, SN_HESSIAN_DEFINITE, d);
  for (size_t i = 0; i < level->unknown_count; ++i) {
    float sum = d[i] + work->springs[i];
    level->inverse_diagonal[i] = level->held[i / 3] || !(sum > 0) ? 0 : 1 / sum;
  }
}

// Springs of the next level. A held fine node that is no coarse one holds its neighbours there by a
// spring as stiff as itself. Takes the flesh's diagonal from q.
static void coarsen_springs(const sn_grid_work* fine, const sn_mg_level* level, sn_pool* pool,
                            sn_grid_work* coarse) {
  const uint8_t* held = fine->grid->held;
  for (size_t i = 0; i < level->unknown_count; ++i) {
    level->q[i] = fine->springs[i] + (held[i / 3] ? level->q[i] : 0);
  }
  sn_transfer_restrict(&fine->grid->to_coarser, pool, level->q, coarse->springs);
}

void sn_body_multigrid_update(sn_body_multigrid* multigrid, sn_pool* pool, const double* u,
                              const double* others, bool estimate) {
  sn_grid_work* grids = multigrid->grids;
  sn_flesh_deformation(&multigrid->body->flesh, pool, u, grids[0].F);
  for (size_t i = 0; i < multigrid->levels[0].unknown_count; ++i) {
    grids[0].springs[i] = (float)others[i];
  }
  for (int l = 0; l < multigrid->hierarchy->count; ++l) {
    sn_flesh_linearise_f(&grids[l].grid->flesh, pool, &grids[l].flesh, grids[l].F);
    set_diagonal(&grids[l], &multigrid->levels[l], pool);
    if (l + 1 == multigrid->hierarchy->count) break;
    coarsen_deformation(&grids[l], &grids[l + 1]);
    coarsen_springs(&grids[l], &multigrid->levels[l], pool, &grids[l + 1]);
  }
  sn_mg_update(&multigrid->mg, pool, estimate);
}
