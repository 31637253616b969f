#include "body/muscles.h"

#include <math.h>
#include <string.h>

#include "body/fiber_field.h"
#include "math/vec.h"

#define MIN_SHARES 512
#define MIN_NODES 2048
// A muscle that is outside of its body by more than this share of its volume gets a warning.
#define OUTSIDE 0.02

// ---- Building

sn_status sn_muscles_prepare(const sn_scene* scene, uint32_t index, sn_arena* arena,
                             sn_arena* scratch, sn_muscles* muscles, sn_error* err) {
  *muscles = (sn_muscles){0};
  for (uint32_t i = 0; i < scene->muscle_count; ++i)
    muscles->count += scene->muscles[i].body == index;
  SN_TRY(SN_ARENA_NEW(arena, muscles->count, &muscles->items, err));
  uint32_t at = 0;
  for (uint32_t i = 0; i < scene->muscle_count; ++i) {
    const sn_muscle_desc* desc = &scene->muscles[i];
    if (desc->body != index) continue;
    sn_muscle* muscle = &muscles->items[at++];
    *muscle = (sn_muscle){.desc = desc, .number = i};
    muscle->fiber =
        (sn_fiber){desc->max_stress, desc->optimal, desc->passive, desc->stiffness, desc->law, {0}};
    memcpy(muscle->fiber.numbers, desc->numbers, sizeof muscle->fiber.numbers);
    SN_TRY(sn_surface_prepare(&desc->mesh, arena, scratch, &muscle->surface, err));
    SN_CHECK(muscle->surface.triangle_count > 0, err, SN_ERR_INPUT,
             "%s: no triangle has an area; expected a closed surface", desc->surface);
    SN_TRY(sn_bvh_build(&muscle->surface, NULL, arena, scratch, &muscle->bvh, err));
  }
  return SN_OK;
}

static sn_status check_volume(const sn_muscle* muscle, sn_error* err) {
  double whole = fabs(muscle->surface.volume);
  SN_CHECK(muscle->end > muscle->begin, err, SN_ERR_INPUT,
           "muscles[%u].mesh: has no volume inside its body; expected a closed surface there",
           muscle->number);
  if (muscle->volume < (1 - OUTSIDE) * whole) {
    sn_log(SN_LOG_WARNING,
           "muscle \"%s\": %.0f %% of its volume is outside of its body and has no effect",
           muscle->desc->name, 100 * (1 - muscle->volume / whole));
  }
  return SN_OK;
}

typedef struct part_list {
  sn_muscle_part* parts;
  uint32_t count;
} part_list;

static sn_status make_room(const sn_octree* tree, uint32_t count, sn_arena* arena,
                           sn_muscles* muscles, sn_error* err) {
  SN_TRY(sn_fiber_cells_create(tree, count, arena, &muscles->cells, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &muscles->coefs, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &muscles->owners, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &muscles->volumes, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &muscles->centres, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &muscles->directions, err));
  return SN_ARENA_NEW(arena, count, &muscles->tendons, err);
}

static void add_part(sn_muscles* muscles, uint32_t owner, uint32_t s, const sn_muscle_part* part) {
  muscles->cells.cells[s] = part->cell;
  sn_fiber_coefs(muscles->cells.tree, part->cell, part->xi, part->direction, muscles->coefs[s]);
  for (int k = 0; k < 8; ++k) muscles->cells.coefs[s][k] = (float)muscles->coefs[s][k];
  muscles->owners[s] = owner;
  muscles->volumes[s] = part->volume;
  muscles->centres[s] = part->centre;
  muscles->directions[s] = part->direction;
  muscles->tendons[s] = part->tendon;
  muscles->items[owner].volume += part->volume;
}

// Of equal ones the first has the cell.
static sn_status find_main(const sn_octree* tree, sn_arena* arena, sn_arena* scratch,
                           sn_muscles* muscles, sn_error* err) {
  double* most;
  if (muscles->count == 0) return SN_OK;
  SN_TRY(SN_ARENA_RAW(arena, tree->cell_count, &muscles->main, err));
  SN_TRY(SN_ARENA_NEW(scratch, tree->cell_count, &most, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) muscles->main[e] = SN_NO_MUSCLE;
  for (uint32_t s = 0; s < muscles->cells.count; ++s) {
    uint32_t cell = muscles->cells.cells[s];
    if (!(muscles->volumes[s] > most[cell])) continue;
    most[cell] = muscles->volumes[s];
    muscles->main[cell] = muscles->owners[s];
  }
  return SN_OK;
}

sn_status sn_muscles_build(const sn_octree* tree, const sn_bone* bones, sn_pool* pool,
                           sn_arena* arena, sn_arena* scratch, sn_muscles* muscles, sn_error* err) {
  part_list* lists;
  uint32_t shares = 0, s = 0;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(SN_ARENA_NEW(scratch, muscles->count, &lists, err));
  for (uint32_t m = 0; m < muscles->count; ++m) {
    const sn_muscle* muscle = &muscles->items[m];
    part_list* list = &lists[m];
    SN_TRY(sn_muscle_find_parts(tree, muscle, pool, scratch, &list->parts, &list->count, err));
    SN_TRY(
        sn_muscle_find_fibers(tree, bones, muscle, pool, scratch, list->parts, list->count, err));
    shares += list->count;
  }
  SN_TRY(make_room(tree, shares, arena, muscles, err));
  for (uint32_t m = 0; m < muscles->count; ++m) {
    muscles->items[m].begin = s;
    for (uint32_t i = 0; i < lists[m].count; ++i) add_part(muscles, m, s++, &lists[m].parts[i]);
    muscles->items[m].end = s;
    SN_TRY(check_volume(&muscles->items[m], err));
  }
  SN_TRY(find_main(tree, arena, scratch, muscles, err));
  sn_arena_release(scratch, mark);
  return sn_fiber_cells_link(&muscles->cells, arena, err);
}

sn_status sn_muscle_work_create(const sn_muscles* muscles, sn_arena* arena, sn_muscle_work* work,
                                sn_error* err) {
  uint32_t shares = muscles->cells.count;
  SN_TRY(SN_ARENA_NEW(arena, muscles->count, &work->activations, err));
  SN_TRY(SN_ARENA_NEW(arena, muscles->count, &work->changes, err));
  SN_TRY(SN_ARENA_NEW(arena, shares, &work->pulls, err));
  SN_TRY(SN_ARENA_NEW(arena, shares, &work->pulls_f, err));
  SN_TRY(SN_ARENA_NEW(arena, shares, &work->blocks[SN_HESSIAN_EXACT], err));
  return SN_ARENA_NEW(arena, shares, &work->blocks[SN_HESSIAN_DEFINITE], err);
}

void sn_muscles_activate(const sn_muscles* muscles, sn_muscle_work* work, double frame,
                         double share) {
  for (uint32_t m = 0; m < muscles->count; ++m) {
    const sn_muscle_desc* desc = muscles->items[m].desc;
    double to = share * sn_number_at(desc->activation, desc->activation_count, frame);
    work->changes[m] = to - work->activations[m];
    work->activations[m] = to;
  }
}

// ---- The energy

typedef struct shares_job {
  const sn_muscles* muscles;
  const sn_muscle_work* work;
  const double* u;  // or another vector of the body's nodes
  double* g;        // NULL: not asked for
  sn_hessian kind;
} shares_job;

// sum_k coef_k u_k: how far F w of a share has gone from w.
static sn_vec3 gather(const shares_job* job, size_t s) {
  const sn_muscles* muscles = job->muscles;
  const uint32_t* nodes = muscles->cells.nodes[s];
  sn_vec3 v = {0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    v = sn_madd(v, muscles->coefs[s][k], sn_load3(job->u + 3 * (size_t)nodes[k]));
  }
  return v;
}

static sn_vec3 stretched(const shares_job* job, size_t s) {
  return sn_add(job->muscles->directions[s], gather(job, s));
}

static sn_fiber_point evaluate_share(const shares_job* job, size_t s, sn_vec3 Fw) {
  const sn_muscles* muscles = job->muscles;
  uint32_t owner = muscles->owners[s], cell = muscles->cells.cells[s];
  sn_fiber_state state = {sn_muscles_local(muscles, job->work->activations, owner, cell),
                          muscles->tendons[s]};
  return sn_fiber_evaluate(&muscles->items[owner].fiber, state, sn_length(Fw));
}

static double sum_energy(void* ctx, size_t begin, size_t end) {
  const shares_job* job = ctx;
  double sum = 0;
  for (size_t s = begin; s < end; ++s) {
    sn_vec3 Fw = stretched(job, s);
    sn_fiber_point point = evaluate_share(job, s, Fw);
    double l = sn_length(Fw), volume = job->muscles->volumes[s];
    sum += volume * point.energy;
    if (job->g) job->work->pulls[s] = sn_scale(l > 0 ? volume * point.tension / l : 0, Fw);
  }
  return sum;
}

// g += the pulls of all shares at a node; returns the squares of these.
static double spread(void* ctx, size_t begin, size_t end) {
  const shares_job* job = ctx;
  const sn_fiber_cells* cells = &job->muscles->cells;
  double squares = 0;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 sum = {0, 0, 0};
    for (uint32_t e = cells->starts[n]; e < cells->starts[n + 1]; ++e) {
      uint32_t use = cells->uses[e];
      sum = sn_madd(sum, job->muscles->coefs[use / 8][use % 8], job->work->pulls[use / 8]);
    }
    sn_store3(job->g + 3 * n, sn_add(sn_load3(job->g + 3 * n), sum));
    squares += sn_dot(sum, sum);
  }
  return squares;
}

double sn_muscles_energy(const sn_muscles* muscles, const sn_muscle_work* work, sn_pool* pool,
                         const double* u) {
  shares_job job = {.muscles = muscles, .work = work, .u = u};
  return sn_parallel_sum(pool, muscles->cells.count, MIN_SHARES, sum_energy, &job);
}

static double sum_change(void* ctx, size_t begin, size_t end) {
  const shares_job* job = ctx;
  double sum = 0;
  for (size_t s = begin; s < end; ++s) {
    const sn_muscles* muscles = job->muscles;
    uint32_t owner = muscles->owners[s], cell = muscles->cells.cells[s];
    double flesh = (1 - muscles->tendons[s]) * muscles->volumes[s];
    double cost =
        sn_fiber_active_energy(&muscles->items[owner].fiber, sn_length(stretched(job, s)));
    sum += 0.5 * sn_muscles_local(muscles, job->work->changes, owner, cell) * flesh * cost;
  }
  return sum;
}

double sn_muscles_half_work(const sn_muscles* muscles, const sn_muscle_work* work, sn_pool* pool,
                            const double* u) {
  shares_job job = {.muscles = muscles, .work = work, .u = u};
  return sn_parallel_sum(pool, muscles->cells.count, MIN_SHARES, sum_change, &job);
}

// ---- The term

static shares_job job_of(const sn_term* term, const double* u, double* g) {
  return (shares_job){.muscles = term->model,
                      .work = term->work,
                      .u = u + term->begin[0],
                      .g = g ? g + term->begin[0] : NULL};
}

static double evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                       double* forces) {
  shares_job job = job_of(term, u, g);
  const sn_fiber_cells* cells = &job.muscles->cells;
  if (forces) *forces = 0;
  if (cells->count == 0) return 0;
  double energy = sn_parallel_sum(pool, cells->count, MIN_SHARES, sum_energy, &job), squares = 0;
  if (g) squares = sn_parallel_sum(pool, cells->tree->node_count, MIN_NODES, spread, &job);
  if (forces) *forces = sqrt(squares);
  return energy;
}

static void set_blocks(void* ctx, size_t begin, size_t end) {
  const shares_job* job = ctx;
  for (size_t s = begin; s < end; ++s) {
    sn_vec3 Fw = stretched(job, s);
    sn_fiber_point point = evaluate_share(job, s, Fw);
    for (int kind = 0; kind < 2; ++kind) {
      double B[6];
      sn_fiber_tangent(&point, Fw, job->muscles->volumes[s], (sn_hessian)kind, B);
      for (int i = 0; i < 6; ++i) job->work->blocks[kind][s][i] = (float)B[i];
    }
  }
}

static void linearise(const sn_term* term, sn_pool* pool, const double* u) {
  shares_job job = job_of(term, u, NULL);
  sn_parallel_for(pool, job.muscles->cells.count, MIN_SHARES, set_blocks, &job);
}

static void set_products(void* ctx, size_t begin, size_t end) {
  const shares_job* job = ctx;
  for (size_t s = begin; s < end; ++s) {
    const float* m = job->work->blocks[job->kind][s];
    sn_vec3 v = gather(job, s);
    job->work->pulls[s] =
        sn_v3(m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
              m[4] * v.x + m[5] * v.y + m[2] * v.z);
  }
}

static void apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                    double* y) {
  shares_job job = job_of(term, p, y);
  job.kind = kind;
  const sn_fiber_cells* cells = &job.muscles->cells;
  if (cells->count == 0) return;
  sn_parallel_for(pool, cells->count, MIN_SHARES, set_products, &job);
  sn_parallel_sum(pool, cells->tree->node_count, MIN_NODES, spread, &job);
}

static void apply_f(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p, float* y) {
  const sn_muscles* muscles = term->model;
  const sn_muscle_work* work = term->work;
  sn_fiber_cells_multiply(&muscles->cells, pool, (const float(*)[6])work->blocks[kind],
                          p + term->begin[0], y + term->begin[0], work->pulls_f);
}

static void diagonal(const sn_term* term, sn_pool* pool, double* d) {
  const sn_muscles* muscles = term->model;
  const sn_muscle_work* work = term->work;
  sn_fiber_cells_bound(&muscles->cells, pool, (const float(*)[6])work->blocks[SN_HESSIAN_DEFINITE],
                       NULL, d + term->begin[0]);
}

const sn_term_ops sn_muscle_term = {.name = "muscles",
                                    .evaluate = evaluate,
                                    .linearise = linearise,
                                    .apply_d = apply_d,
                                    .apply_f = apply_f,
                                    .diagonal = diagonal};
