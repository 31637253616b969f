#include "elasticity/flesh.h"

#include <math.h>

#include "elasticity/flesh_kernels.h"
#include "math/vec.h"

sn_flesh sn_flesh_make(const sn_octree* tree, const sn_families* families, const float* mu,
                       const float* lambda) {
  return (sn_flesh){tree, families, mu, lambda, 1, sn_flesh_kernels_best()};
}

void sn_flesh_set_material(const sn_flesh* flesh, sn_flesh_work* work) {
  for (uint32_t e = 0; e < flesh->tree->cell_count; ++e) {
    uint32_t place = flesh->families->places[e];
    double h = work->stiffening * sn_octree_edge(flesh->tree, e);
    *sn_flesh_tangent(work, place, SN_TANGENT_MATERIAL) = (float)(flesh->mu[e] * h / 8);
    *sn_flesh_tangent(work, place, SN_TANGENT_MATERIAL + 1) = (float)(flesh->lambda[e] * h / 16);
  }
}

void sn_flesh_stiffen(const sn_flesh* flesh, sn_flesh_work* work, double stiffening) {
  if (work->stiffening == stiffening) return;
  work->stiffening = stiffening;
  sn_flesh_set_material(flesh, work);
}

sn_status sn_flesh_work_create(const sn_flesh* flesh, bool single, sn_arena* arena,
                               sn_flesh_work* work, sn_error* err) {
  const sn_families* f = flesh->families;
  size_t places = (size_t)f->packet_count * SN_PACKET_CELLS, slots = sn_families_slot_count(f);
  float* narrow_slots;
  double* wide_slots;
  *work = (sn_flesh_work){.stiffening = 1};
  SN_TRY(SN_ARENA_NEW(arena, SN_TANGENT_SIZE * places, &work->tangents, err));
  sn_flesh_set_material(flesh, work);
  if (single) {
    SN_TRY(SN_ARENA_NEW(arena, 3 * slots, &narrow_slots, err));
    work->slots = narrow_slots;
    return SN_OK;
  }
  SN_TRY(SN_ARENA_RAW(arena, 6 * places, &work->exact, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * slots, &wide_slots, err));
  work->slots = wide_slots;
  return SN_OK;
}

size_t sn_flesh_work_bytes(const sn_flesh* flesh, bool single) {
  const sn_families* f = flesh->families;
  size_t places = (size_t)f->packet_count * SN_PACKET_CELLS, slots = sn_families_slot_count(f);
  return single ? sizeof(float) * (SN_TANGENT_SIZE * places + 3 * slots)
                : sizeof(float) * (SN_TANGENT_SIZE + 6) * places + sizeof(double) * 3 * slots;
}

typedef struct flesh_job {
  const sn_flesh* flesh;
  sn_flesh_work* work;
  sn_hessian kind;
  const double* in_d;
  double* out_d;
  const float *in_f, *with_f;
  float* out_f;
} flesh_job;

static double evaluate(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  double sum = 0;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    sum += job->flesh->kernels->evaluate(job->flesh, job->work, chunk, job->in_d, job->out_d);
  }
  return sum;
}

static void deform(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->deform(job->flesh, job->work, chunk, job->in_d);
  }
}

static void linearise(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->linearise(job->flesh, job->work, chunk);
  }
}

static void apply_d(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->apply_d(job->flesh, job->work, job->kind, chunk, NULL, job->in_d,
                                 job->out_d);
  }
}

static void apply_f(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->apply_f(job->flesh, job->work, job->kind, chunk, job->with_f, job->in_f,
                                 job->out_f);
  }
}

static void diagonal_d(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->diagonal_d(job->flesh, job->work, job->kind, chunk, job->out_d);
  }
}

static void diagonal_f(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    job->flesh->kernels->diagonal_f(job->flesh, job->work, job->kind, chunk, job->out_f);
  }
}

double sn_flesh_evaluate(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                         double* g) {
  flesh_job job = {.flesh = flesh, .work = work, .in_d = u, .out_d = g};
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
  flesh_job job = {.flesh = flesh, .work = work};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, linearise, &job);
}

void sn_flesh_apply_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                      const double* p, double* y) {
  flesh_job job = {.flesh = flesh, .work = work, .kind = kind, .in_d = p, .out_d = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, apply_d, &job);
  sn_families_collect_d(flesh->families, pool, work->slots, y);
}

void sn_flesh_apply_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                      const float* p, float* y) {
  flesh_job job = {.flesh = flesh, .work = work, .kind = kind, .in_f = p, .out_f = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, apply_f, &job);
  sn_families_collect_f(flesh->families, pool, work->slots, y);
}

void sn_flesh_apply_with(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                         const float* diagonal, const float* p, float* y) {
  flesh_job job = {.flesh = flesh,
                   .work = work,
                   .kind = SN_HESSIAN_DEFINITE,
                   .in_f = p,
                   .with_f = diagonal,
                   .out_f = y};
  sn_parallel_for(pool, flesh->families->chunk_count, 1, apply_f, &job);
  sn_families_collect_f(flesh->families, pool, work->slots, y);
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

#define MEASURE_BLOCK 1024  // cells

typedef struct measure_job {
  const sn_flesh* flesh;
  const double* u;
  size_t block_size;
  sn_flesh_measure parts[SN_MAX_BLOCKS];
} measure_job;

double sn_flesh_volume_ratio(const sn_flesh* flesh, const double* u, uint32_t cell) {
  double corners[8][3], F[9];
  const uint32_t* nodes = flesh->tree->conforming + 8 * (size_t)cell;
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) corners[c][i] = u[3 * (size_t)nodes[c] + i];
  }
  sn_cell_deformation(sn_flesh_shape(flesh->tree, cell), sn_octree_edge(flesh->tree, cell),
                      (const double(*)[3])corners, F);
  return sn_dot(sn_load3(F), sn_cross(sn_load3(F + 3), sn_load3(F + 6)));
}

static void measure(void* ctx, size_t begin, size_t end) {
  measure_job* job = ctx;
  sn_flesh_measure part = {.min_j = INFINITY};
  for (size_t e = begin; e < end; ++e) {
    double h = sn_octree_edge(job->flesh->tree, (uint32_t)e);
    double J = sn_flesh_volume_ratio(job->flesh, job->u, (uint32_t)e);
    part.volume += h * h * h * J;
    part.inverted += J <= 0;
    if (J < part.min_j) part.min_j = J;
  }
  job->parts[begin / job->block_size] = part;
}

sn_flesh_measure sn_flesh_get_measure(const sn_flesh* flesh, sn_pool* pool, const double* u) {
  measure_job job;
  size_t cells = flesh->tree->cell_count;
  job.flesh = flesh;
  job.u = u;
  job.block_size = sn_block_size(cells, MEASURE_BLOCK);
  sn_parallel_for(pool, cells, MEASURE_BLOCK, measure, &job);
  sn_flesh_measure all = {.min_j = INFINITY};
  for (size_t b = 0; b * job.block_size < cells; ++b) {
    all.volume += job.parts[b].volume;
    all.inverted += job.parts[b].inverted;
    if (job.parts[b].min_j < all.min_j) all.min_j = job.parts[b].min_j;
  }
  return all;
}
