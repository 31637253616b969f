#include "elasticity/flesh.h"

#include <math.h>
#include <string.h>

#include "base/precision.h"
#include "math/vec.h"

#define SN_REAL_IS_DOUBLE 1
#define NAME(x) x
#include "elasticity/flesh_operator_impl.h"
#undef SN_REAL_IS_DOUBLE
#undef NAME
#define SN_REAL_IS_DOUBLE 0
#define NAME(x) x##_f
#include "elasticity/flesh_operator_impl.h"

typedef struct flesh_job {
  const sn_flesh* flesh;
  sn_flesh_work* work;
  sn_flesh_work_f* work_f;
  const double* u;
  const float* F_in;
  float* F_out;
} flesh_job;

static double sum_energy(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  double sum = 0;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    double partial = 0;
    for (uint32_t e = sn_chunk_first(chunk); e < sn_chunk_end(tree, chunk); ++e) {
      double u[8][3];
      sn_cell_material_d material = material_of(job->flesh, e);
      gather(tree, e, job->u, u);
      partial += sn_cell_energy_d(sn_flesh_shape(tree, e), &material, (const double(*)[3])u);
    }
    sum += partial;
  }
  return sum;
}

double sn_flesh_energy(const sn_flesh* flesh, sn_pool* pool, const double* u) {
  flesh_job job = {.flesh = flesh, .u = u};
  return sn_parallel_sum(pool, flesh->chunks->chunk_count, 1, sum_energy, &job);
}

static void add_gradient(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    double* slots = clear_slots(job->flesh, job->work->slots, chunk);
    for (uint32_t e = sn_chunk_first(chunk); e < sn_chunk_end(tree, chunk); ++e) {
      double u[8][3], g[8][3];
      sn_cell_material_d material = material_of(job->flesh, e);
      gather(tree, e, job->u, u);
      sn_cell_gradient_d(sn_flesh_shape(tree, e), &material, (const double(*)[3])u, g);
      scatter(job->flesh->chunks, e, g, slots);
    }
  }
}

void sn_flesh_gradient(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                       double* g) {
  flesh_job job = {.flesh = flesh, .work = work, .u = u};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, add_gradient, &job);
  sn_chunks_collect_d(flesh->chunks, flesh->tree, pool, work->slots, g);
}

// F of one cell.
static void deformation_of(const sn_flesh* flesh, const double* u, uint32_t cell, double F[9]) {
  double corners[8][3];
  gather(flesh->tree, cell, u, corners);
  sn_cell_deformation_d(sn_flesh_shape(flesh->tree, cell), sn_octree_edge(flesh->tree, cell),
                        (const double(*)[3])corners, F);
}

static void linearise_cells(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (uint32_t e = sn_chunk_first(begin); e < sn_chunk_end(job->flesh->tree, end - 1); ++e) {
    double F[9];
    sn_cell_material_d material = material_of(job->flesh, e);
    deformation_of(job->flesh, job->u, e, F);
    sn_cell_linearise_d(&material, F, &job->work->tangents[e]);
  }
}

static void linearise_cells_f(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (uint32_t e = sn_chunk_first(begin); e < sn_chunk_end(job->flesh->tree, end - 1); ++e) {
    sn_cell_material_f material = material_of_f(job->flesh, e);
    sn_cell_linearise_f(&material, job->F_in + 9 * (size_t)e, &job->work_f->tangents[e]);
  }
}

static void deform_cells(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  for (uint32_t e = sn_chunk_first(begin); e < sn_chunk_end(job->flesh->tree, end - 1); ++e) {
    double F[9];
    deformation_of(job->flesh, job->u, e, F);
    for (int i = 0; i < 9; ++i) job->F_out[9 * (size_t)e + i] = (float)F[i];
  }
}

void sn_flesh_linearise(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                        const double* u) {
  flesh_job job = {.flesh = flesh, .work = work, .u = u};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, linearise_cells, &job);
}

void sn_flesh_linearise_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work_f* work,
                          const float* F) {
  flesh_job job = {.flesh = flesh, .work_f = work, .F_in = F};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, linearise_cells_f, &job);
}

void sn_flesh_deformation(const sn_flesh* flesh, sn_pool* pool, const double* u, float* F) {
  flesh_job job = {.flesh = flesh, .u = u, .F_out = F};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, deform_cells, &job);
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
  for (uint32_t e = sn_chunk_first(begin); e < sn_chunk_end(job->flesh->tree, end - 1); ++e) {
    double F[9], h = sn_octree_edge(job->flesh->tree, e);
    deformation_of(job->flesh, job->u, e, F);
    double J = sn_dot(sn_load3(F), sn_cross(sn_load3(F + 3), sn_load3(F + 6)));  // det F
    part.volume += h * h * h * J;
    part.inverted += J <= 0;
    if (J < part.min_j) part.min_j = J;
  }
  job->parts[begin / job->block_size] = part;
}

sn_flesh_measure sn_flesh_get_measure(const sn_flesh* flesh, sn_pool* pool, const double* u) {
  measure_job job;
  size_t chunks = flesh->chunks->chunk_count;
  job.flesh = flesh;
  job.u = u;
  job.block_size = sn_block_size(chunks, 1);
  sn_parallel_for(pool, chunks, 1, measure, &job);
  sn_flesh_measure all = {.min_j = INFINITY};
  for (size_t b = 0; b * job.block_size < chunks; ++b) {
    all.volume += job.parts[b].volume;
    all.inverted += job.parts[b].inverted;
    if (job.parts[b].min_j < all.min_j) all.min_j = job.parts[b].min_j;
  }
  return all;
}
