#include "body/body_multigrid.h"

#include <string.h>

#include "body/body_cut.h"

// The last level is solved by a dense factorisation: about 60 cells are 400 unknowns.
#define COARSEST_CELLS 60
// Factor on the hourglass energy of all levels but the first. A coarse cell's hourglass modes stand for
// bending that the finer cells resolve more softly; docs/theory/multigrid.md has the measurement.
#define COARSE_HOURGLASS 1.0
// A level that does not shrink at least this much is not worth having, unless it costs next to
// nothing: then all that matters is to end with as few cells as possible.
#define LEAST_SHRINKING 0.9
#define CHEAP_CELLS 5000
// One node in so many may have a spring of its own direction, and a few in small bodies.
#define BLOCK_SHARE 4

typedef struct coarsen_job {
  const sn_body* body;  // of the first level; NULL further up
  const sn_grid* fine;
  sn_grid* coarse;
} coarsen_job;

// mu and lambda of a coarse cell: the mean over its eight children, missing ones counting as zero and cut
// ones as far as they are filled.
// A cell that both trees have keeps its own.
static void coarsen_material(void* ctx, size_t begin, size_t end) {
  const coarsen_job* job = ctx;
  const sn_grid* fine = job->fine;
  const uint32_t* first_cells = fine->to_coarser.first_cells;
  for (size_t c = begin; c < end; ++c) {
    for (uint32_t e = first_cells[c]; e < first_cells[c + 1]; ++e) {
      bool same = fine->tree->cells[e].height == job->coarse->tree->cells[c].height;
      float share = same ? 1 : 0.125f;
      if (job->body) share *= (float)sn_body_cut_excess(job->body, e);
      job->coarse->mu[c] += share * (float)sn_tissue_mu(&fine->flesh.tissue, e);
      job->coarse->lambda[c] += share * (float)sn_tissue_lambda(&fine->flesh.tissue, e);
    }
  }
}

// The law of a coarse cell: that of most of its children, of equally many the one of the lowest kind.
static void coarsen_kinds(void* ctx, size_t begin, size_t end) {
  const coarsen_job* job = ctx;
  const sn_grid* fine = job->fine;
  const uint8_t* fine_kinds = fine->flesh.tissue.cell_kinds;
  const uint32_t* first_cells = fine->to_coarser.first_cells;
  for (size_t c = begin; c < end; ++c) {
    uint8_t children[8];
    int count = 0, most = 0;
    for (uint32_t e = first_cells[c]; e < first_cells[c + 1]; ++e) {
      children[count++] = fine_kinds[e];
    }
    for (int i = 0; i < count; ++i) {
      int same = 0;
      for (int k = 0; k < count; ++k) same += children[k] == children[i];
      if (same < most || (same == most && children[i] >= job->coarse->kinds[c])) continue;
      most = same;
      job->coarse->kinds[c] = children[i];
    }
  }
}

// A coarse node where a held fine node is, is held: that fine node has all its value from it.
static void coarsen_held(void* ctx, size_t begin, size_t end) {
  const coarsen_job* job = ctx;
  const sn_transfer* t = &job->fine->to_coarser;
  for (size_t n = begin; n < end; ++n) {
    for (uint32_t e = t->coarse_starts[n]; e < t->coarse_starts[n + 1]; ++e) {
      bool same_place = sn_entry_weight(t->fine_nodes[e]) == SN_TRANSFER_ONE;
      if (same_place) job->coarse->held[n] = job->fine->held[sn_entry_node(t->fine_nodes[e])];
    }
  }
}

static sn_status add_coarser(const sn_body* body, sn_grid* fine, sn_pool* pool, sn_arena* arena,
                             sn_arena* scratch, sn_grid* coarse, sn_error* err) {
  SN_TRY(sn_transfer_build(fine->tree, coarse->tree, pool, arena, scratch, &fine->to_coarser, err));
  SN_TRY(sn_families_build(coarse->tree, pool, arena, scratch, &coarse->own_families, err));
  coarse->families = &coarse->own_families;
  sn_octree_use_families(&coarse->own_tree, coarse->families);
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->mu, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->lambda, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse->tree->node_count, &coarse->held, err));
  coarsen_job job = {body, fine, coarse};
  sn_parallel_for(pool, coarse->tree->cell_count, 1024, coarsen_material, &job);
  sn_parallel_for(pool, coarse->tree->node_count, 1024, coarsen_held, &job);
  sn_tissue tissue = fine->flesh.tissue;
  if (tissue.cell_kinds) {
    SN_TRY(SN_ARENA_NEW(arena, coarse->tree->cell_count, &coarse->kinds, err));
    sn_parallel_for(pool, coarse->tree->cell_count, 1024, coarsen_kinds, &job);
    tissue.cell_kinds = coarse->kinds;
  }
  tissue.even = false;
  tissue.mu = coarse->mu;
  tissue.lambda = coarse->lambda;
  coarse->flesh = sn_flesh_make(coarse->tree, coarse->families, tissue);
  coarse->flesh.hourglass = COARSE_HOURGLASS;
  return SN_OK;
}

static bool is_worth_having(const sn_octree* coarse, const sn_octree* fine) {
  double most = fine->cell_count <= CHEAP_CELLS ? 1 : LEAST_SHRINKING;
  return coarse->cell_count < fine->cell_count && coarse->cell_count <= most * fine->cell_count;
}

// Coarser levels, as many as are worth having. `corners` holds the nodes of one level's cells at a time.
static sn_status add_levels(const sn_body* body, sn_pool* pool, sn_arena* arena, sn_arena* corners,
                            sn_arena* scratch, sn_hierarchy* hierarchy, sn_error* err) {
  while (hierarchy->count < SN_MAX_MG_LEVELS) {
    sn_grid* fine = &hierarchy->grids[hierarchy->count - 1];
    sn_grid* coarse = fine + 1;
    sn_arena_mark mark = sn_arena_get_mark(corners);
    if (fine->tree->cell_count <= COARSEST_CELLS) break;
    SN_TRY(sn_octree_coarsen(fine->tree, pool, arena, corners, scratch, &coarse->own_tree, err));
    coarse->tree = &coarse->own_tree;
    if (!is_worth_having(coarse->tree, fine->tree)) break;
    SN_TRY(
        add_coarser(hierarchy->count == 1 ? body : NULL, fine, pool, arena, scratch, coarse, err));
    sn_arena_release(corners, mark);
    hierarchy->count++;
  }
  return SN_OK;
}

sn_status sn_hierarchy_build(const sn_body* body, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_hierarchy* hierarchy, sn_error* err) {
  sn_grid* first = &hierarchy->grids[0];
  *hierarchy = (sn_hierarchy){.count = 1, .solved = -1};
  first->tree = &body->tree;
  first->families = &body->families;
  first->flesh = body->flesh;
  SN_TRY(SN_ARENA_NEW(arena, body->tree.node_count, &first->held, err));
  sn_body_mark_held(body, first->held);

  sn_arena* corners;
  SN_TRY(sn_arena_create(&corners, err));
  sn_arena_set_pool(corners, pool);
  sn_status status = add_levels(body, pool, arena, corners, scratch, hierarchy, err);
  sn_arena_destroy(corners);
  return status;
}

sn_status sn_hierarchy_dissect(sn_hierarchy* hierarchy, int solved, sn_arena* arena,
                               sn_arena* scratch, sn_error* err) {
  const sn_grid* grid = &hierarchy->grids[solved];
  SN_TRY(sn_dissection_plan(grid->tree, grid->held, arena, scratch, &hierarchy->dissection, err));
  hierarchy->solved = solved;
  return SN_OK;
}

static void multiply(void* ctx, sn_pool* pool, const float* springs, const float* x, float scale,
                     const float* v, float* y) {
  sn_grid_work* work = ctx;
  const sn_body_multigrid* of = work->of;
  sn_addends_f addends = {.diagonal = springs, .v = v, .scale = scale};
  sn_flesh_multiply(&work->grid->flesh, pool, work->flesh, SN_HESSIAN_DEFINITE, &addends, x, y);
  for (int i = 0; i < of->more_count; ++i) {
    const sn_more_stiffness* more = of->more[i];
    more->multiply(more->ctx, pool, (int)(work - of->grids), x, y);
  }
}

static double smooth(void* ctx, sn_pool* pool, const sn_smoothing* smoothing) {
  sn_grid_work* work = ctx;
  return sn_flesh_smooth(&work->grid->flesh, pool, work->flesh, smoothing);
}

// Is the operator nothing but flesh and springs?
static bool is_plain(const sn_body_multigrid* multigrid) {
  for (int i = 0; i < multigrid->more_count; ++i) {
    if (!multigrid->more[i]->is_idle(multigrid->more[i]->ctx)) return false;
  }
  return true;
}

typedef struct gradient_job {
  const sn_grid_work *fine, *coarse;
} gradient_job;

// F of coarse cells: the mean over the children that exist.
static void coarsen_gradients(void* ctx, size_t begin, size_t end) {
  const gradient_job* job = ctx;
  const sn_grid *fine = job->fine->grid, *coarse = job->coarse->grid;
  const uint32_t* first_cells = fine->to_coarser.first_cells;
  for (size_t c = begin; c < end; ++c) {
    float sum[SN_TANGENT_GRADIENTS] = {0}, count = 0;
    for (uint32_t e = first_cells[c]; e < first_cells[c + 1]; ++e, ++count) {
      const float* F = sn_flesh_tangent(job->fine->flesh, fine->families->places[e], SN_TANGENT_F);
      for (int i = 0; i < SN_TANGENT_GRADIENTS; ++i) sum[i] += F[i * SN_FAMILY_LANES];
    }
    float* F = sn_flesh_tangent(job->coarse->flesh, coarse->families->places[c], SN_TANGENT_F);
    for (int i = 0; i < SN_TANGENT_GRADIENTS; ++i) F[i * SN_FAMILY_LANES] = sum[i] / count;
  }
}

static void coarsen_all_gradients(void* ctx, sn_pool* pool) {
  sn_body_multigrid* multigrid = ctx;
  for (int l = 0; l + 1 < multigrid->hierarchy->count; ++l) {
    gradient_job job = {&multigrid->grids[l], &multigrid->grids[l + 1]};
    sn_parallel_for(pool, job.coarse->grid->tree->cell_count, 1024, coarsen_gradients, &job);
  }
}

sn_status sn_body_multigrid_create(const sn_body* body, sn_flesh_work* flesh,
                                   const sn_hierarchy* hierarchy, sn_mg_opts opts, bool blocks,
                                   float* scratch, sn_arena* arena, sn_body_multigrid* multigrid,
                                   sn_error* err) {
  *multigrid = (sn_body_multigrid){.body = body, .hierarchy = hierarchy};
  multigrid->mg =
      (sn_mg){.opts = opts, .levels = multigrid->levels, .level_count = hierarchy->count};
  for (int l = 0; l < hierarchy->count; ++l) {
    const sn_grid* grid = &hierarchy->grids[l];
    sn_grid_work* work = &multigrid->grids[l];
    *work =
        (sn_grid_work){.grid = grid, .flesh = l == 0 ? flesh : &work->own_flesh, .of = multigrid};
    if (l > 0) SN_TRY(sn_flesh_work_create(&grid->flesh, true, arena, &work->own_flesh, err));
    multigrid->levels[l] = (sn_mg_level){
        .unknown_count = 3 * (size_t)grid->tree->node_count,
        .held = grid->held,
        .multiply = multiply,
        .ctx = work,
        .coarser = l + 1 < hierarchy->count ? &grid->to_coarser : NULL,
        .blocks = {.capacity = blocks ? grid->tree->node_count / BLOCK_SHARE + 64 : 0}};
  }
  multigrid->levels[0].r = scratch;
  flesh->deformed = coarsen_all_gradients;
  flesh->deformed_ctx = multigrid;
  return sn_mg_create(&multigrid->mg, arena, err);
}

void sn_body_multigrid_add(sn_body_multigrid* multigrid, const sn_more_stiffness* more) {
  SN_ASSERT(multigrid->more_count < SN_MOST_MORE);
  multigrid->more[multigrid->more_count++] = more;
}

sn_status sn_body_multigrid_add_macroblocks(sn_body_multigrid* multigrid, sn_interface interface,
                                            sn_pool* pool, sn_arena* arena, sn_error* err) {
  multigrid->has_macroblocks = true;
  return sn_macroblocks_work_create(&multigrid->hierarchy->macroblocks, interface,
                                    multigrid->levels[0].blocks.capacity, pool, arena,
                                    &multigrid->macroblocks, err);
}

static void solve_directly(void* ctx, sn_pool* pool, const float* b, float* x) {
  sn_dissected_solve(ctx, pool, b, x);
}

sn_status sn_body_multigrid_add_direct(sn_body_multigrid* multigrid, sn_pool* pool, sn_arena* arena,
                                       sn_error* err) {
  int solved = multigrid->hierarchy->solved;
  SN_TRY(sn_dissected_create(&multigrid->hierarchy->dissection,
                             multigrid->levels[solved].blocks.capacity, pool, arena,
                             &multigrid->dissected, err));
  multigrid->mg.solve = solve_directly;
  multigrid->mg.solve_ctx = &multigrid->dissected;
  multigrid->mg.solved = solved;
  return SN_OK;
}

static void cell_matrices(const void* ctx, const uint32_t cells[SN_BLOCK_LANES],
                          const uint8_t flips[SN_BLOCK_LANES],
                          float K[SN_CORNER_PAIRS][9][SN_BLOCK_LANES]) {
  const sn_grid_work* level = ctx;
  sn_flesh_cell_matrices(&level->grid->flesh, level->flesh, cells, flips, K);
}

void sn_body_multigrid_factor(sn_body_multigrid* multigrid, sn_pool* pool) {
  sn_block_cells cells = {cell_matrices, &multigrid->grids[0]};
  sn_macroblocks_factor(&multigrid->macroblocks, pool, &cells);
}

void sn_body_multigrid_stiffen(sn_body_multigrid* multigrid, double stiffening) {
  for (int l = 0; l < multigrid->hierarchy->count; ++l) {
    sn_grid_work* work = &multigrid->grids[l];
    sn_flesh_stiffen(&work->grid->flesh, work->flesh, stiffening);
  }
}

void sn_body_multigrid_ease(sn_body_multigrid* multigrid, bool eased) {
  for (int l = 0; l < multigrid->hierarchy->count; ++l) multigrid->grids[l].flesh->eased = eased;
}

void sn_body_multigrid_update(sn_body_multigrid* multigrid, sn_pool* pool, sn_fit fit) {
  bool direct = multigrid->mg.solve != NULL;
  int count = direct ? multigrid->mg.solved + 1 : multigrid->hierarchy->count;
  bool plain = is_plain(multigrid);
  for (int l = 0; l < count; ++l) {
    sn_grid_work* work = &multigrid->grids[l];
    sn_mg_level* level = &multigrid->levels[l];
    const sn_flesh* flesh = &work->grid->flesh;
    level->smooth = plain ? smooth : NULL;
    if (l > 0 && fit != SN_FIT_SPRINGS) {
      sn_flesh_linearise_gradients(flesh, pool, work->flesh);
    }
    memset(level->r, 0, level->unknown_count * sizeof *level->r);
    memset(level->b, 0, level->unknown_count * sizeof *level->b);
    sn_mg_clear_blocks(level);
    for (int i = 0; i < multigrid->more_count; ++i) {
      multigrid->more[i]->bound(multigrid->more[i]->ctx, pool, l, level);
    }
    if (l == 0 && multigrid->has_macroblocks) {
      sn_macroblocks_mark(&multigrid->macroblocks, level, fit == SN_FIT_SPRINGS);
    }
    if (direct && l == multigrid->mg.solved) sn_dissected_mark(&multigrid->dissected, level);
    sn_flesh_diagonal_f(flesh, pool, work->flesh, SN_HESSIAN_DEFINITE, level->r);
    sn_mg_set_diagonal(level, pool);
  }
  if (direct) {
    sn_block_cells cells = {cell_matrices, &multigrid->grids[multigrid->mg.solved]};
    sn_dissected_factor(&multigrid->dissected, pool, &cells);
  }
  sn_mg_update(&multigrid->mg, pool, fit == SN_FIT_FRAME);
  if (multigrid->has_macroblocks && !multigrid->rests) sn_body_multigrid_factor(multigrid, pool);
}
