#include "body/muscle_levels.h"

#include "math/vec.h"

#define MIN_SHARES 512

// Shares of the finer level that belong together: one muscle, one coarse cell. As both levels are in
// Morton order they follow one another.
static bool begins_another(const sn_muscle_level* fine, const uint32_t* coarse_cells, uint32_t s) {
  return s == 0 || fine->owners[s] != fine->owners[s - 1] || coarse_cells[s] != coarse_cells[s - 1];
}

// Volume, centroid and mean direction of the shares [begin, end) as one.
static void join(const sn_muscle_level* fine, uint32_t begin, uint32_t end, sn_muscle_level* coarse,
                 uint32_t s) {
  sn_vec3 centre = {0, 0, 0}, direction = {0, 0, 0};
  double volume = 0;
  for (uint32_t i = begin; i < end; ++i) {
    centre = sn_madd(centre, fine->volumes[i], fine->centres[i]);
    direction = sn_madd(direction, fine->volumes[i], fine->directions[i]);
    volume += fine->volumes[i];
  }
  double size = sn_length(direction);
  coarse->volumes[s] = volume;
  coarse->centres[s] = sn_scale(1 / volume, centre);
  coarse->directions[s] = size > 0 ? sn_scale(1 / size, direction) : fine->directions[begin];
  coarse->owners[s] = fine->owners[begin];
}

static void set_coefs(sn_muscle_level* level, uint32_t s) {
  const sn_octree* tree = level->cells.tree;
  uint32_t cell = level->cells.cells[s];
  double xi[3], coefs[8], h = sn_octree_edge(tree, cell);
  sn_vec3 off = sn_scale(1 / h, sn_sub(level->centres[s], sn_octree_cell_centre(tree, cell)));
  for (int i = 0; i < 3; ++i) xi[i] = 0.5 + sn_axis(off, i);
  sn_fiber_coefs(tree, cell, xi, level->directions[s], coefs);
  for (int k = 0; k < 8; ++k) level->cells.coefs[s][k] = (float)coefs[k];
}

static sn_status add_coarser(const sn_grid* grid, const sn_muscle_level* fine,
                             const sn_octree* tree, sn_arena* arena, sn_muscle_level* coarse,
                             sn_error* err) {
  uint32_t count = 0, s = 0, *coarse_cells;  // of the finer shares
  SN_TRY(SN_ARENA_RAW(arena, fine->cells.count, &coarse_cells, err));
  for (uint32_t i = 0; i < fine->cells.count; ++i) {
    coarse_cells[i] = sn_transfer_coarse_cell(&grid->to_coarser, tree, fine->cells.cells[i]);
  }
  for (uint32_t i = 0; i < fine->cells.count; ++i) count += begins_another(fine, coarse_cells, i);
  SN_TRY(sn_fiber_cells_create(tree, count, arena, &coarse->cells, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)count + 1, &coarse->firsts, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &coarse->blocks, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &coarse->volumes, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &coarse->centres, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &coarse->directions, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &coarse->owners, err));
  for (uint32_t i = 0; i < fine->cells.count; ++i) {
    if (begins_another(fine, coarse_cells, i)) coarse->firsts[s++] = i;
  }
  coarse->firsts[count] = fine->cells.count;
  for (s = 0; s < count; ++s) {
    coarse->cells.cells[s] = coarse_cells[coarse->firsts[s]];
    join(fine, coarse->firsts[s], coarse->firsts[s + 1], coarse, s);
    set_coefs(coarse, s);
  }
  return sn_fiber_cells_link(&coarse->cells, arena, err);
}

static void multiply(void* ctx, sn_pool* pool, int level, const float* x, float* y) {
  const sn_muscle_levels* levels = ctx;
  const sn_muscle_level* l = &levels->levels[level];
  sn_fiber_cells_multiply(&l->cells, pool, (const float(*)[6])l->blocks, x, y,
                          levels->work->pulls_f);
}

static bool is_idle(const void* ctx) {
  return ((const sn_muscle_levels*)ctx)->levels[0].cells.count == 0;
}

static void bound(void* ctx, sn_pool* pool, int level, sn_mg_level* to) {
  const sn_muscle_level* l = &((const sn_muscle_levels*)ctx)->levels[level];
  sn_fiber_cells_bound(&l->cells, pool, (const float(*)[6])l->blocks, to->b, NULL);
}

sn_status sn_muscle_levels_create(const sn_muscles* muscles, const sn_muscle_work* work,
                                  const sn_hierarchy* hierarchy, sn_arena* arena,
                                  sn_muscle_levels* levels, sn_error* err) {
  *levels = (sn_muscle_levels){.muscles = muscles, .work = work, .hierarchy = hierarchy};
  levels->more = (sn_more_stiffness){levels, is_idle, bound, multiply};
  levels->levels[0] = (sn_muscle_level){.cells = muscles->cells,
                                        .blocks = work->blocks[SN_HESSIAN_DEFINITE],
                                        .volumes = muscles->volumes,
                                        .centres = muscles->centres,
                                        .directions = muscles->directions,
                                        .owners = muscles->owners};
  for (int l = 0; l + 1 < hierarchy->count; ++l) {
    SN_TRY(add_coarser(&hierarchy->grids[l], &levels->levels[l], hierarchy->grids[l + 1].tree,
                       arena, &levels->levels[l + 1], err));
  }
  return SN_OK;
}

typedef struct sum_job {
  const sn_muscle_level* fine;
  sn_muscle_level* coarse;
} sum_job;

static void sum_blocks(void* ctx, size_t begin, size_t end) {
  const sum_job* job = ctx;
  for (size_t s = begin; s < end; ++s) {
    float sum[6] = {0, 0, 0, 0, 0, 0};
    for (uint32_t i = job->coarse->firsts[s]; i < job->coarse->firsts[s + 1]; ++i) {
      for (int k = 0; k < 6; ++k) sum[k] += job->fine->blocks[i][k];
    }
    for (int k = 0; k < 6; ++k) job->coarse->blocks[s][k] = sum[k];
  }
}

void sn_muscle_levels_update(sn_muscle_levels* levels, sn_pool* pool) {
  for (int l = 0; l + 1 < levels->hierarchy->count; ++l) {
    sum_job job = {&levels->levels[l], &levels->levels[l + 1]};
    sn_parallel_for(pool, job.coarse->cells.count, MIN_SHARES, sum_blocks, &job);
  }
}
