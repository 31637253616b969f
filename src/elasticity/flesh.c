#include "elasticity/flesh.h"

#include <math.h>
#include <stdlib.h>

#include "elasticity/flesh_kernels.h"
#include "elasticity/law_cell.h"

static sn_tangent_form form_of(sn_law law) {
  if (law == SN_LAW_COROTATED) return SN_FORM_COROTATED;
  return law == SN_LAW_STABLE_NEO_HOOKEAN ? SN_FORM_POLYNOMIAL : SN_FORM_FRAMES;
}

// That of the law of all cells, or of any where there are several. Cells of no kind are corotated.
static sn_tangent_form choose_form(const sn_tissue* tissue) {
  if (tissue->kind_count == 0) return SN_FORM_COROTATED;
  sn_tangent_form form = form_of(tissue->kinds[0].law);
  for (uint32_t k = 1; k < tissue->kind_count; ++k) {
    if (form_of(tissue->kinds[k].law) != form) return SN_FORM_FRAMES;
  }
  return form;
}

sn_flesh sn_flesh_make(const sn_octree* tree, const sn_families* families, sn_tissue tissue) {
  return (sn_flesh){.tree = tree,
                    .families = families,
                    .tissue = tissue,
                    .form = choose_form(&tissue),
                    .hourglass = 1,
                    .kernels = sn_flesh_kernels_best()};
}

// Is nothing of a cell left to pressures? Of cut cells they would not know what is inside.
static bool keeps_nothing(const sn_flesh* flesh, uint32_t cell) {
  const sn_tissue* tissue = &flesh->tissue;
  if (sn_flesh_cut_number(flesh, cell) != UINT32_MAX) return true;
  if (flesh->form == SN_FORM_COROTATED) return false;
  uint32_t kind = tissue->cell_kinds ? tissue->cell_kinds[cell] : 0;
  return sn_law_measure_kind(tissue->kinds[kind].law) == SN_MEASURE_NONE;
}

void sn_flesh_set_material(const sn_flesh* flesh, sn_flesh_work* work) {
  for (uint32_t e = 0; e < flesh->tree->cell_count; ++e) {
    uint32_t place = flesh->families->places[e];
    double h = work->stiffening * sn_octree_edge(flesh->tree, e);
    double mu = sn_tissue_mu(&flesh->tissue, e), lambda = sn_tissue_lambda(&flesh->tissue, e);
    *sn_flesh_tangent(work, place, SN_TANGENT_MATERIAL) = (float)(mu * h / 8);
    if (work->kept) {
      double left = fmin(lambda, work->most_bulk[e] * mu);
      if (keeps_nothing(flesh, e)) left = lambda;
      work->kept[place] = (float)((lambda - left) * h / 16);
      lambda = left;
    }
    *sn_flesh_tangent(work, place, SN_TANGENT_MATERIAL + 1) = (float)(lambda * h / 16);
  }
}

static const int TANGENT_SIZE[SN_FORM_COUNT] = {
    [SN_FORM_COROTATED] = SN_TANGENT_L + SN_HESSIAN_NUMBERS_COROTATED,
    [SN_FORM_FRAMES] = SN_TANGENT_FRAMED + SN_HESSIAN_NUMBERS_FRAMES,
    [SN_FORM_POLYNOMIAL] = SN_TANGENT_FRAMED + SN_HESSIAN_NUMBERS_FRAMES};
static const int HESSIAN_SIZE[SN_FORM_COUNT] = {[SN_FORM_COROTATED] = SN_HESSIAN_NUMBERS_COROTATED,
                                                [SN_FORM_FRAMES] = SN_HESSIAN_NUMBERS_FRAMES};
static const int VOLUME_SIZE[SN_FORM_COUNT] = {[SN_FORM_FRAMES] = SN_VOLUME_NUMBERS_FRAMES,
                                               [SN_FORM_POLYNOMIAL] = SN_VOLUME_NUMBERS_POLYNOMIAL};

static sn_status add_volume(const sn_flesh* flesh, sn_arena* arena, sn_flesh_work* work,
                            sn_error* err) {
  size_t numbers = (size_t)VOLUME_SIZE[flesh->form] * sn_flesh_place_count(flesh);
  return SN_ARENA_NEW(arena, numbers, &work->volume, err);
}

sn_status sn_flesh_keep_pressures(const sn_flesh* flesh, const float* most_bulk, float* pressure,
                                  sn_arena* arena, sn_flesh_work* work, sn_error* err) {
  size_t places = sn_flesh_place_count(flesh);
  SN_TRY(SN_ARENA_NEW(arena, places, &work->kept, err));
  if (flesh->form == SN_FORM_FRAMES && work->exact && !work->volume) {
    SN_TRY(add_volume(flesh, arena, work, err));
  }
  work->pressure = pressure;
  if (pressure) SN_TRY(SN_ARENA_NEW(arena, places, &work->measure, err));
  work->most_bulk = most_bulk;
  sn_flesh_set_material(flesh, work);
  return SN_OK;
}

void sn_flesh_stiffen(const sn_flesh* flesh, sn_flesh_work* work, double stiffening) {
  if (work->stiffening == stiffening) return;
  work->stiffening = stiffening;
  sn_flesh_set_material(flesh, work);
}

static size_t point_groups(const sn_flesh* flesh) {
  return flesh->cut ? flesh->cut->starts[flesh->cut->count] : 0;
}

static bool any_measures_J(const sn_flesh* flesh) {
  for (uint32_t k = 0; k < flesh->tissue.kind_count; ++k) {
    if (sn_law_measures_J(flesh->tissue.kinds[k].law)) return true;
  }
  return false;
}

static sn_status set_kinds(const sn_flesh* flesh, sn_arena* arena, sn_flesh_work* work,
                           sn_error* err) {
  const sn_families* f = flesh->families;
  if (!flesh->tissue.cell_kinds) return SN_OK;
  SN_TRY(SN_ARENA_NEW(arena, sn_families_place_count(f), &work->kinds, err));
  for (uint32_t e = 0; e < flesh->tree->cell_count; ++e) {
    work->kinds[f->places[e]] = flesh->tissue.cell_kinds[e];
  }
  return SN_OK;
}

sn_status sn_flesh_work_create(const sn_flesh* flesh, bool single, sn_arena* arena,
                               sn_flesh_work* work, sn_error* err) {
  const sn_families* f = flesh->families;
  size_t places = sn_families_place_count(f), slots = sn_families_slot_count(f);
  float* narrow_slots;
  double* wide_slots;
  *work = (sn_flesh_work){.stiffening = 1,
                          .tangent_size = TANGENT_SIZE[flesh->form],
                          .hessian_size = HESSIAN_SIZE[flesh->form],
                          .volume_size = VOLUME_SIZE[flesh->form]};
  SN_TRY(SN_ARENA_NEW(arena, (size_t)work->tangent_size * places, &work->tangents, err));
  sn_flesh_set_material(flesh, work);
  SN_TRY(set_kinds(flesh, arena, work, err));
  if (single) {
    SN_TRY(SN_ARENA_NEW(arena, 3 * slots, &narrow_slots, err));
    work->slots = narrow_slots;
    return SN_OK;
  }
  if (work->hessian_size > 0) {
    SN_TRY(SN_ARENA_RAW(arena, (size_t)work->hessian_size * places, &work->exact, err));
  }
  SN_TRY(SN_ARENA_NEW(arena, 3 * slots, &wide_slots, err));
  if (any_measures_J(flesh)) SN_TRY(add_volume(flesh, arena, work, err));
  if (flesh->cut) SN_TRY(SN_ARENA_NEW(arena, point_groups(flesh), &work->points, err));
  work->slots = wide_slots;
  return SN_OK;
}

size_t sn_flesh_work_bytes(const sn_flesh* flesh, bool single) {
  const sn_families* f = flesh->families;
  size_t places = sn_families_place_count(f), slots = sn_families_slot_count(f);
  size_t size = (size_t)TANGENT_SIZE[flesh->form], exact = (size_t)HESSIAN_SIZE[flesh->form];
  size_t more = flesh->tissue.cell_kinds ? places : 0;
  if (!single) more += point_groups(flesh) * sizeof(sn_point_tangents);
  size_t volume = any_measures_J(flesh) ? (size_t)VOLUME_SIZE[flesh->form] : 0;
  if (!single) more += sizeof(float) * volume * places;
  return more + (single ? sizeof(float) * (size * places + 3 * slots)
                        : sizeof(float) * (size + exact) * places + sizeof(double) * 3 * slots);
}

size_t sn_flesh_product_bytes(const sn_flesh* flesh, sn_hessian kind) {
  // The exact Hessian takes the place of the definite one, and the polynomial form has none.
  size_t numbers = (size_t)TANGENT_SIZE[flesh->form], material = SN_TANGENT_F;
  if (kind == SN_HESSIAN_DEFINITE) return sizeof(float) * numbers;
  if (flesh->form == SN_FORM_POLYNOMIAL) numbers = material;
  if (any_measures_J(flesh)) numbers += (size_t)VOLUME_SIZE[flesh->form];
  return sizeof(float) * numbers;
}

sn_status sn_flesh_keep_matrices(const sn_flesh* flesh, sn_arena* arena, sn_flesh_work* work,
                                 sn_error* err) {
  uint8_t count = 0;
  SN_TRY(SN_ARENA_NEW(arena, 1, &work->matrices, err));
  sn_packet_matrices* m = work->matrices;
  for (int i = 0; i < SN_FAMILY_POINTS; ++i) {
    for (int j = i + 1; j < SN_FAMILY_POINTS; ++j) {
      bool near = abs(i % 3 - j % 3) < 2 && abs(i / 3 % 3 - j / 3 % 3) < 2 && j / 9 - i / 9 < 2;
      if (!near) continue;
      m->pairs[i][j] = count;
      m->ends[count][0] = (uint8_t)i;
      m->ends[count++][1] = (uint8_t)j;
    }
  }
  SN_ASSERT(count == SN_FAMILY_PAIRS);
  return SN_ARENA_RAW(arena, flesh->families->packet_count, &m->numbers, err);
}

typedef struct flesh_job {
  const sn_flesh* flesh;
  sn_flesh_work* work;
  sn_hessian kind;
  const double* in_d;
  double* out_d;
  const float* in_f;
  const sn_addends_f* addends;
  float* out_f;
} flesh_job;

static const sn_flesh_form_kernels* kernels_of(const sn_flesh* flesh) {
  return &flesh->kernels->forms[flesh->form];
}

static double evaluate(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  double sum = 0;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    sum += kernels_of(job->flesh)->evaluate(job->flesh, job->work, chunk, job->in_d, job->out_d);
  }
  return sum;
}

static void deform(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)->deform(job->flesh, job->work, chunk, job->in_d);
  }
}

static void linearise(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)->linearise(job->flesh, job->work, chunk);
  }
}

static void apply_d(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)
        ->apply_d(job->flesh, job->work, job->kind, chunk, NULL, job->in_d, job->out_d);
  }
}

static void apply_f(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)
        ->apply_f(job->flesh, job->work, job->kind, chunk, job->addends, job->in_f, job->out_f);
  }
}

static void diagonal_d(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)->diagonal_d(job->flesh, job->work, job->kind, chunk, job->out_d);
  }
}

static void diagonal_f(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)->diagonal_f(job->flesh, job->work, job->kind, chunk, job->out_f);
  }
}

// The same flesh with the law that counts at present.
static sn_flesh at_present(const sn_flesh* flesh, const sn_flesh_work* work) {
  static const sn_material EASY = {.law = SN_LAW_COROTATED};
  sn_flesh present = *flesh;
  if (work->eased) present.tissue.kinds = &EASY;
  return present;
}

double sn_flesh_evaluate(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                         double* g) {
  sn_flesh present = at_present(flesh, work);
  flesh_job job = {.flesh = &present, .work = work, .in_d = u, .out_d = g};
  double energy = sn_parallel_sum(pool, flesh->families->chunk_count, 1, evaluate, &job);
  if (g) sn_families_collect_d(flesh->families, pool, work->slots, g);
  return energy;
}

void sn_flesh_linearise(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                        const double* u) {
  flesh_job job = {.flesh = flesh, .work = work, .in_d = u};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, deform, &job);
  if (work->deformed) work->deformed(work->deformed_ctx, pool);
  sn_flesh_linearise_gradients(flesh, pool, work);
}

void sn_flesh_linearise_gradients(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work) {
  sn_flesh present = at_present(flesh, work);
  flesh_job job = {.flesh = &present, .work = work};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, linearise, &job);
}

void sn_flesh_apply_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                      const double* p, double* y) {
  flesh_job job = {.flesh = flesh, .work = work, .kind = kind, .in_d = p, .out_d = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, apply_d, &job);
  sn_families_collect_d(flesh->families, pool, work->slots, y);
}

void sn_flesh_multiply(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                       const sn_addends_f* addends, const float* p, float* y) {
  flesh_job job = {
      .flesh = flesh, .work = work, .kind = kind, .in_f = p, .addends = addends, .out_f = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, apply_f, &job);
  sn_families_collect_f(flesh->families, pool, work->slots, y);
}

typedef struct smooth_job {
  const sn_flesh* flesh;
  sn_flesh_work* work;
  const sn_smoothing* smoothing;
} smooth_job;

static double smooth(void* ctx, size_t begin, size_t end) {
  const smooth_job* job = ctx;
  double sum = 0;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    sum += kernels_of(job->flesh)->smooth(job->flesh, job->work, chunk, job->smoothing);
  }
  return sum;
}

static void start_nodes(void* ctx, size_t begin, size_t end) {
  const smooth_job* job = ctx;
  const sn_smoothing* s = job->smoothing;
  uint32_t last = job->flesh->tree->node_count - 1;
  for (size_t n = begin; n < end; ++n) {
    sn_quad_store3_f(sn_smoothing_start(s, (uint32_t)n, last), s->x + 3 * n);
  }
}

// The nodes that several chunks touch, once all of these have been there.
static double smooth_shared(void* ctx, size_t begin, size_t end) {
  const smooth_job* job = ctx;
  const sn_families* f = job->flesh->families;
  const sn_smoothing* s = job->smoothing;
  const float* slots = job->work->slots;
  double product = 0;
  for (size_t i = begin; i < end; ++i) {
    size_t at = 3 * (size_t)f->shared_nodes[i];
    float sum[3] = {s->r[at], s->r[at + 1], s->r[at + 2]};
    for (uint32_t k = f->shared_starts[i]; k < f->shared_starts[i + 1]; ++k) {
      const float* slot = slots + 3 * (size_t)f->shared_slots[k];
      for (int axis = 0; axis < 3; ++axis) sum[axis] += slot[axis];
    }
    for (size_t axis = 0; axis < 3; ++axis) {
      s->x[at + axis] -= s->damping * s->inverse[at + axis] * sum[axis];
      product += (double)s->x[at + axis] * (double)s->b[at + axis];
    }
  }
  return product;
}

double sn_flesh_smooth(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                       const sn_smoothing* smoothing) {
  smooth_job job = {flesh, work, smoothing};
  const sn_families* f = flesh->families;
  if (smoothing->coarser) sn_parallel_for(pool, flesh->tree->node_count, 1024, start_nodes, &job);
  double sum = sn_parallel_sum(pool, f->chunk_count, 1, smooth, &job);
  if (smoothing->coarser) {
    return sum + sn_parallel_sum(pool, f->shared_count, 1024, smooth_shared, &job);
  }
  sn_families_collect_f(f, pool, work->slots, smoothing->r);
  return 0;
}

void sn_flesh_diagonal_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                         double* d) {
  flesh_job job = {.flesh = flesh, .work = work, .kind = kind, .out_d = d};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, diagonal_d, &job);
  sn_families_collect_d(flesh->families, pool, work->slots, d);
}

void sn_flesh_diagonal_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                         float* d) {
  flesh_job job = {.flesh = flesh, .work = work, .kind = kind, .out_f = d};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, diagonal_f, &job);
  sn_families_collect_f(flesh->families, pool, work->slots, d);
}

typedef struct pressure_job {
  const sn_flesh* flesh;
  sn_flesh_work* work;
  const float *weights, *in_f;
  const double* in_d;
  double* out_d;
  float* out_f;
} pressure_job;

static void gather_d(void* ctx, size_t begin, size_t end) {
  const pressure_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)
        ->gather_pressures_d(job->flesh, job->work, chunk, job->weights, job->in_d, job->out_d);
  }
}

static void gather_f(void* ctx, size_t begin, size_t end) {
  const pressure_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)
        ->gather_pressures_f(job->flesh, job->work, chunk, job->weights, job->in_f, job->out_f);
  }
}

static void scatter_d(void* ctx, size_t begin, size_t end) {
  const pressure_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)
        ->scatter_pressures_d(job->flesh, job->work, chunk, job->weights, job->in_d, job->out_d);
  }
}

static void scatter_f(void* ctx, size_t begin, size_t end) {
  const pressure_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    kernels_of(job->flesh)
        ->scatter_pressures_f(job->flesh, job->work, chunk, job->weights, job->in_f, job->out_f);
  }
}

void sn_flesh_gather_pressures_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                 const float* weights, const double* u, double* t) {
  pressure_job job = {.flesh = flesh, .work = work, .weights = weights, .in_d = u, .out_d = t};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, gather_d, &job);
}

void sn_flesh_gather_pressures_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                 const float* weights, const float* u, float* t) {
  pressure_job job = {.flesh = flesh, .work = work, .weights = weights, .in_f = u, .out_f = t};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, gather_f, &job);
}

void sn_flesh_scatter_pressures_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                  const float* weights, const double* t, double* y) {
  pressure_job job = {.flesh = flesh, .work = work, .weights = weights, .in_d = t, .out_d = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, scatter_d, &job);
  sn_families_collect_d(flesh->families, pool, work->slots, y);
}

void sn_flesh_scatter_pressures_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                  const float* weights, const float* t, float* y) {
  pressure_job job = {.flesh = flesh, .work = work, .weights = weights, .in_f = t, .out_f = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, scatter_f, &job);
  sn_families_collect_f(flesh->families, pool, work->slots, y);
}

static void get_modes(const sn_flesh* flesh, const double* u, uint32_t cell, double q[3][8]) {
  double corners[8][3];
  sn_corners at = sn_octree_corners(flesh->tree, cell);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) corners[c][i] = u[3 * (size_t)at.nodes[c] + i];
  }
  sn_cell_to_modes(sn_flesh_shape(flesh->tree, cell), (const double(*)[3])corners, q);
}

double sn_flesh_volume_ratio(const sn_flesh* flesh, const double* u, uint32_t cell) {
  static const double CENTRE[3] = {0, 0, 0};
  double q[3][8];
  get_modes(flesh, u, cell, q);
  return sn_cell_volume_at(sn_octree_edge(flesh->tree, cell), q, CENTRE);
}

typedef struct measure_job {
  const sn_flesh* flesh;
  const double* u;
  size_t block_size;
  sn_flesh_measure parts[SN_MAX_BLOCKS];
} measure_job;

static void measure(void* ctx, size_t begin, size_t end) {
  measure_job* job = ctx;
  sn_flesh_measure part = {.min_j = INFINITY};
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->measure(job->flesh, chunk, job->u, &part);
  }
  job->parts[begin / job->block_size] = part;
}

sn_flesh_measure sn_flesh_get_measure(const sn_flesh* flesh, sn_pool* pool, const double* u) {
  measure_job job;
  size_t chunks = flesh->families->chunk_count;
  job.flesh = flesh;
  job.u = u;
  job.block_size = sn_block_size(chunks, 1);
  sn_parallel_for(pool, chunks, 1, measure, &job);
  sn_flesh_measure all = {.min_j = INFINITY};
  for (size_t b = 0; b * job.block_size < chunks; ++b) {
    all.volume += job.parts[b].volume;
    all.rest += job.parts[b].rest;
    all.inverted += job.parts[b].inverted;
    all.ruined += job.parts[b].ruined;
    if (job.parts[b].min_j < all.min_j) all.min_j = job.parts[b].min_j;
  }
  return all;
}

void sn_flesh_cell_matrices(const sn_flesh* flesh, const sn_flesh_work* work,
                            const uint32_t cells[SN_FAMILY_LANES],
                            const uint8_t flips[SN_FAMILY_LANES], float K[36][9][SN_FAMILY_LANES]) {
  flesh->kernels->matrices(flesh, work, cells, flips, K);
}
