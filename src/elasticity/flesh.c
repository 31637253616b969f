#include "elasticity/flesh.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

typedef struct flesh_job {
  const sn_flesh* flesh;
  sn_flesh_work* work;
  sn_hessian kind;
  const double* in;
} flesh_job;

static sn_cell_material_d material_of(const sn_flesh* flesh, uint32_t cell) {
  return (sn_cell_material_d){sn_octree_edge(flesh->tree, cell), flesh->mu[cell],
                              flesh->lambda[cell]};
}

static void gather(const sn_octree* tree, uint32_t cell, const double* in, double corners[8][3]) {
  const uint32_t* nodes = tree->conforming + 8 * (size_t)cell;
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) corners[c][i] = in[3 * (size_t)nodes[c] + i];
  }
}

// Room of a chunk's slots, cleared.
static double* clear_slots(const flesh_job* job, size_t chunk) {
  const uint32_t* starts = job->flesh->chunks->slot_starts;
  double* slots = job->work->slots + 3 * (size_t)starts[chunk];
  memset(slots, 0, 3 * (size_t)(starts[chunk + 1] - starts[chunk]) * sizeof *slots);
  return slots;
}

static void scatter(const sn_chunks* chunks, uint32_t cell, double corners[8][3], double* slots) {
  const uint16_t* local = chunks->local + 8 * (size_t)cell;
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) slots[3 * (size_t)local[c] + i] += corners[c][i];
  }
}

static uint32_t chunk_first(size_t chunk) { return (uint32_t)(chunk * SN_CHUNK_CELLS); }

static uint32_t chunk_last(const sn_octree* tree, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_CELLS;
  return end < tree->cell_count ? (uint32_t)end : tree->cell_count;
}

static double sum_energy(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  double sum = 0;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    double partial = 0;
    for (uint32_t e = chunk_first(chunk); e < chunk_last(tree, chunk); ++e) {
      double u[8][3];
      sn_cell_material_d material = material_of(job->flesh, e);
      gather(tree, e, job->in, u);
      partial += sn_cell_energy_d(sn_flesh_shape(tree, e), &material, (const double(*)[3])u);
    }
    sum += partial;
  }
  return sum;
}

double sn_flesh_energy(const sn_flesh* flesh, sn_pool* pool, const double* u) {
  flesh_job job = {.flesh = flesh, .in = u};
  return sn_parallel_sum(pool, flesh->chunks->chunk_count, 1, sum_energy, &job);
}

static void add_gradient(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    double* slots = clear_slots(job, chunk);
    for (uint32_t e = chunk_first(chunk); e < chunk_last(tree, chunk); ++e) {
      double u[8][3], g[8][3];
      sn_cell_material_d material = material_of(job->flesh, e);
      gather(tree, e, job->in, u);
      sn_cell_gradient_d(sn_flesh_shape(tree, e), &material, (const double(*)[3])u, g);
      scatter(job->flesh->chunks, e, g, slots);
    }
  }
}

static void add_product(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    double* slots = clear_slots(job, chunk);
    for (uint32_t e = chunk_first(chunk); e < chunk_last(tree, chunk); ++e) {
      double p[8][3], y[8][3];
      sn_cell_material_d material = material_of(job->flesh, e);
      gather(tree, e, job->in, p);
      sn_cell_apply_d(sn_flesh_shape(tree, e), &material, &job->work->tangents[e], job->kind,
                      (const double(*)[3])p, y);
      scatter(job->flesh->chunks, e, y, slots);
    }
  }
}

static void add_diagonal(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    double* slots = clear_slots(job, chunk);
    for (uint32_t e = chunk_first(chunk); e < chunk_last(tree, chunk); ++e) {
      double d[8][3];
      sn_cell_material_d material = material_of(job->flesh, e);
      sn_cell_diagonal_d(sn_flesh_shape(tree, e), &material, &job->work->tangents[e], job->kind, d);
      scatter(job->flesh->chunks, e, d, slots);
    }
  }
}

// Run one of the three above over all chunks, then let the nodes collect.
static void run_and_collect(const sn_flesh* flesh, sn_pool* pool, flesh_job* job, sn_range_fn fn,
                            double* out) {
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, fn, job);
  sn_chunks_collect(flesh->chunks, flesh->tree, pool, job->work->slots, out);
}

void sn_flesh_gradient(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                       double* g) {
  flesh_job job = {.flesh = flesh, .work = work, .in = u};
  run_and_collect(flesh, pool, &job, add_gradient, g);
}

void sn_flesh_apply(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                    const double* p, double* y) {
  flesh_job job = {flesh, work, kind, p};
  run_and_collect(flesh, pool, &job, add_product, y);
}

void sn_flesh_diagonal(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                       double* d) {
  flesh_job job = {.flesh = flesh, .work = work, .kind = kind};
  run_and_collect(flesh, pool, &job, add_diagonal, d);
}

static void linearise(void* ctx, size_t begin, size_t end) {
  const flesh_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (uint32_t e = chunk_first(begin); e < chunk_last(tree, end - 1); ++e) {
    double u[8][3], F[9];
    sn_cell_material_d material = material_of(job->flesh, e);
    gather(tree, e, job->in, u);
    sn_cell_deformation_d(sn_flesh_shape(tree, e), material.h, (const double(*)[3])u, F);
    sn_cell_linearise_d(&material, F, &job->work->tangents[e]);
  }
}

void sn_flesh_linearise(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                        const double* u) {
  flesh_job job = {.flesh = flesh, .work = work, .in = u};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, linearise, &job);
}

typedef struct measure_job {
  const sn_flesh* flesh;
  const double* u;
  size_t block_size;
  sn_flesh_measure parts[SN_MAX_BLOCKS];
} measure_job;

static void measure(void* ctx, size_t begin, size_t end) {
  measure_job* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  sn_flesh_measure part = {.min_j = INFINITY};
  for (uint32_t e = chunk_first(begin); e < chunk_last(tree, end - 1); ++e) {
    double u[8][3], h = sn_octree_edge(tree, e);
    double F[9];
    gather(tree, e, job->u, u);
    sn_cell_deformation_d(sn_flesh_shape(tree, e), h, (const double(*)[3])u, F);
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
