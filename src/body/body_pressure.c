#include "body/body_pressure.h"

#include <math.h>

#include "solve/vector.h"

bool sn_body_has_pressures(const sn_body* body, double most_bulk) {
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    if (sn_body_lambda(body, e) > most_bulk * sn_body_mu(body, e)) return true;
  }
  return false;
}

// What stands for the stiffness of a kept pressure p: the inverse of
//     1 / kept + 1 / (b + SHEAR mu h / 16),
// its own compliance and that of the flesh around it, whose lambda h / 16 is b.
#define SHEAR 2.0

static void scale_places(void* ctx, size_t begin, size_t end) {
  const sn_body_pressures* work = ctx;
  const sn_flesh* flesh = &work->body->flesh;
  for (size_t e = begin; e < end; ++e) {
    uint32_t place = flesh->families->places[e];
    double kept = work->flesh->kept[place];
    double a = *sn_flesh_tangent(work->flesh, place, SN_TANGENT_MATERIAL);
    double b = *sn_flesh_tangent(work->flesh, place, SN_TANGENT_MATERIAL + 1);
    double h = sn_octree_edge(&work->body->tree, (uint32_t)e);
    if (!(kept > 0)) continue;
    double weight = work->opts.scale > 0 ? work->opts.scale * h * h / 4
                                         : 1 / sqrt(1 / kept + 1 / (b + SHEAR * a / 2));
    work->weights[place] = (float)weight;
    work->compliance[place] = (float)(weight * weight / kept);
  }
}

static sn_body_pressures* work_of(const sn_pressures* space) { return space->work; }

static void update(const sn_pressures* space, sn_pool* pool) {
  sn_parallel_for(pool, work_of(space)->body->tree.cell_count, 1024, scale_places, space->work);
}

static void gather_d(const sn_pressures* space, sn_pool* pool, const double* u, double* p) {
  sn_body_pressures* w = work_of(space);
  sn_flesh_gather_pressures_d(&w->body->flesh, pool, w->flesh, w->weights, u, p);
}

static void gather_f(const sn_pressures* space, sn_pool* pool, const float* u, float* p) {
  sn_body_pressures* w = work_of(space);
  sn_flesh_gather_pressures_f(&w->body->flesh, pool, w->flesh, w->weights, u, p);
}

static void scatter_d(const sn_pressures* space, sn_pool* pool, const double* p, double* y) {
  sn_body_pressures* w = work_of(space);
  sn_flesh_scatter_pressures_d(&w->body->flesh, pool, w->flesh, w->weights, p, y);
}

static void scatter_f(const sn_pressures* space, sn_pool* pool, const float* p, float* y) {
  sn_body_pressures* w = work_of(space);
  sn_flesh_scatter_pressures_f(&w->body->flesh, pool, w->flesh, w->weights, p, y);
}

// Calls visit for every place that keeps something, in their order, with the edge of its cell.
typedef void (*visit_fn)(void* ctx, size_t place, double h);
static void visit_kept(const sn_body_pressures* work, visit_fn visit, void* ctx) {
  const sn_families* f = &work->body->families;
  for (uint32_t packet = 0; packet < f->packet_count; ++packet) {
    const double* edges = f->edges + (size_t)packet * SN_FAMILY_LANES;
    size_t end = (size_t)f->rows[packet + 1] * SN_FAMILY_LANES;
    for (size_t place = (size_t)f->rows[packet] * SN_FAMILY_LANES; place < end; ++place) {
      if (work->flesh->kept[place] > 0) visit(ctx, place, edges[place % SN_FAMILY_LANES]);
    }
  }
}

typedef struct gap_job {
  const sn_body_pressures* work;
  double* q;
  sn_gap sum;
} gap_job;

// 4 h w is what a unit of M is in the units of B. Products are `stiffening` times those of the flesh, and so
// is what is kept.
static void add_gap(void* ctx, size_t place, double h) {
  gap_job* job = ctx;
  const sn_flesh_work* flesh = job->work->flesh;
  double kept = flesh->kept[place] / flesh->stiffening;
  double gap = (double)flesh->measure[place] - (double)flesh->pressure[place] / kept;
  job->q[place] = 4 * h * job->work->weights[place] * gap / flesh->stiffening;
  job->sum.square += h * h * h * gap * gap;
  job->sum.volume += h * h * h;
}

// The gap M - p / kept.
static sn_gap find_gap(const sn_pressures* space, sn_pool* pool, double* q) {
  gap_job job = {.work = work_of(space), .q = q};
  sn_vector_fill(pool, space->count, 0, q);
  visit_kept(job.work, add_gap, &job);
  return job.sum;
}

typedef struct advance_job {
  const sn_body_pressures* work;
  double t;
  const double* p;
} advance_job;

static void advance_place(void* ctx, size_t place, double h) {
  const advance_job* job = ctx;
  double weight = job->work->weights[place];
  job->work->flesh->pressure[place] += (float)(job->t * weight / (4 * h) * job->p[place]);
}

static void advance(const sn_pressures* space, sn_pool* pool, double t, const double* p) {
  advance_job job = {work_of(space), t, p};
  (void)pool;
  visit_kept(job.work, advance_place, &job);
}

static const sn_pressure_ops OPS = {update,    gather_d, gather_f, scatter_d,
                                    scatter_f, find_gap, advance};

// Cells with a node that is held or tied. The pressures of a layer of cells on a wall are a checkerboard
// that next to nothing resists, and it is the wall that calls for it.
static sn_status find_walls(const sn_body* body, const sn_keep_opts* opts, sn_arena* arena,
                            float** most_bulk, sn_error* err) {
  uint8_t* is_held;
  SN_TRY(SN_ARENA_NEW(arena, body->tree.node_count, &is_held, err));
  SN_TRY(SN_ARENA_NEW(arena, body->tree.cell_count, most_bulk, err));
  for (uint32_t h = 0; h < body->held_count; ++h) is_held[body->held[h].node] = 1;
  for (uint32_t t = 0; t < body->tie_count; ++t) is_held[body->ties[t].node] = 1;
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    (*most_bulk)[e] = (float)opts->most_bulk;
    for (int c = 0; c < 8; ++c) {
      if (is_held[sn_octree_corner(&body->tree, e, c)]) (*most_bulk)[e] = (float)opts->held_bulk;
    }
  }
  return SN_OK;
}

// The most of a coarse cell: that of its children.
static sn_status coarsen_most_bulk(const sn_grid* fine, const float* most_bulk, sn_arena* arena,
                                   float** coarse, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, fine[1].tree->cell_count, coarse, err));
  const uint32_t* first_cells = fine->to_coarser.first_cells;
  for (uint32_t c = 0; c < fine[1].tree->cell_count; ++c) {
    for (uint32_t e = first_cells[c]; e < first_cells[c + 1]; ++e) {
      (*coarse)[c] = fmaxf((*coarse)[c], most_bulk[e]);
    }
  }
  return SN_OK;
}

static sn_status keep_on_levels(const sn_body_multigrid* multigrid, const float* most_bulk,
                                sn_arena* arena, sn_error* err) {
  for (int l = 1; l < multigrid->hierarchy->count; ++l) {
    const sn_grid* grid = &multigrid->hierarchy->grids[l];
    float* coarse;
    SN_TRY(coarsen_most_bulk(grid - 1, most_bulk, arena, &coarse, err));
    SN_TRY(
        sn_flesh_keep_pressures(&grid->flesh, coarse, NULL, arena, multigrid->grids[l].flesh, err));
    most_bulk = coarse;
  }
  return SN_OK;
}

sn_status sn_body_keep_pressures(const sn_body* body, sn_flesh_work* flesh,
                                 sn_body_multigrid* multigrid, const sn_keep_opts* opts,
                                 sn_arena* arena, sn_body_pressures* work, size_t first,
                                 sn_pressures* space, sn_error* err) {
  size_t count = sn_flesh_place_count(&body->flesh);
  float* most_bulk;
  *work = (sn_body_pressures){.body = body, .flesh = flesh, .opts = *opts};
  *space = (sn_pressures){
      .ops = &OPS, .work = work, .begin = body->begin, .first = first, .count = count};
  SN_TRY(SN_ARENA_NEW(arena, count, &work->weights, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &work->compliance, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &space->scratch, err));
  space->compliance = work->compliance;
  for (size_t i = 0; i < count; ++i) work->compliance[i] = 1;
  SN_TRY(find_walls(body, opts, arena, &most_bulk, err));
  float* pressure = opts->pressure ? opts->pressure + first : NULL;
  SN_TRY(sn_flesh_keep_pressures(&body->flesh, most_bulk, pressure, arena, flesh, err));
  scale_places(work, 0, body->tree.cell_count);
  return multigrid ? keep_on_levels(multigrid, most_bulk, arena, err) : SN_OK;
}
