#include "body/fiber_cells.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "octree/hanging.h"

#define MIN_SHARES 512
#define MIN_NODES 2048

void sn_fiber_coefs(const sn_octree* tree, uint32_t cell, const double xi[3], sn_vec3 w,
                    double coefs[8]) {
  double corner[8], h = sn_octree_edge(tree, cell);
  for (int c = 0; c < 8; ++c) {
    double at[3], step[3];
    for (int i = 0; i < 3; ++i) {
      at[i] = c >> i & 1 ? xi[i] : 1 - xi[i];
      step[i] = c >> i & 1 ? 1 / h : -1 / h;
    }
    corner[c] = w.x * step[0] * at[1] * at[2] + w.y * at[0] * step[1] * at[2] +
                w.z * at[0] * at[1] * step[2];
  }
  sn_cell_shape shape = {(uint8_t)sn_octant_child_number(tree->cells[cell]), tree->hanging[cell]};
  sn_cell_corner_to_conform(shape, corner, coefs);
}

sn_status sn_fiber_cells_create(const sn_octree* tree, uint32_t count, sn_arena* arena,
                                sn_fiber_cells* cells, sn_error* err) {
  *cells = (sn_fiber_cells){.tree = tree, .count = count};
  SN_TRY(SN_ARENA_NEW(arena, count, &cells->cells, err));
  return SN_ARENA_NEW(arena, count, &cells->coefs, err);
}

sn_status sn_fiber_cells_link(sn_fiber_cells* cells, sn_arena* arena, sn_error* err) {
  uint32_t nodes = cells->tree->node_count;
  if (cells->count == 0) return SN_OK;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)nodes + 1, &cells->starts, err));
  SN_TRY(SN_ARENA_NEW(arena, 8 * (size_t)cells->count, &cells->uses, err));
  SN_TRY(SN_ARENA_RAW(arena, cells->count, &cells->nodes, err));
  uint32_t* starts = cells->starts;
  for (uint32_t s = 0; s < cells->count; ++s) {
    sn_corners at = sn_octree_corners(cells->tree, cells->cells[s]);
    memcpy(cells->nodes[s], at.nodes, sizeof at.nodes);
    for (int k = 0; k < 8; ++k) starts[at.nodes[k]]++;
  }
  sn_parallel_starts(NULL, starts, (size_t)nodes + 1);
  // Each list is filled from its end, so that its start is what is left in `starts`.
  for (uint32_t n = 0; n < nodes; ++n) starts[n] = starts[n + 1];
  for (uint32_t s = cells->count; s-- > 0;) {
    for (uint32_t k = 8; k-- > 0;) cells->uses[--starts[cells->nodes[s][k]]] = 8 * s + k;
  }
  return SN_OK;
}

typedef struct cells_job {
  const sn_fiber_cells* cells;
  const float (*blocks)[6];
  const float* x;
  float* y;
  float (*pulls)[3];
  float* d_f;
  double* d_d;
} cells_job;

// pull = B sum_k coef_k x_k
static void pull(void* ctx, size_t begin, size_t end) {
  const cells_job* job = ctx;
  for (size_t s = begin; s < end; ++s) {
    const uint32_t* nodes = job->cells->nodes[s];
    const float *coefs = job->cells->coefs[s], *m = job->blocks[s];
    float v[3] = {0, 0, 0};
    for (int k = 0; k < 8; ++k) {
      const float* x = job->x + 3 * (size_t)nodes[k];
      for (int i = 0; i < 3; ++i) v[i] += coefs[k] * x[i];
    }
    job->pulls[s][0] = m[0] * v[0] + m[3] * v[1] + m[4] * v[2];
    job->pulls[s][1] = m[3] * v[0] + m[1] * v[1] + m[5] * v[2];
    job->pulls[s][2] = m[4] * v[0] + m[5] * v[1] + m[2] * v[2];
  }
}

static void spread(void* ctx, size_t begin, size_t end) {
  const cells_job* job = ctx;
  const sn_fiber_cells* cells = job->cells;
  for (size_t n = begin; n < end; ++n) {
    float sum[3] = {0, 0, 0};
    for (uint32_t e = cells->starts[n]; e < cells->starts[n + 1]; ++e) {
      uint32_t use = cells->uses[e];
      float coef = cells->coefs[use / 8][use % 8];
      for (int i = 0; i < 3; ++i) sum[i] += coef * job->pulls[use / 8][i];
    }
    for (int i = 0; i < 3; ++i) job->y[3 * n + i] += sum[i];
  }
}

void sn_fiber_cells_multiply(const sn_fiber_cells* cells, sn_pool* pool, const float (*blocks)[6],
                             const float* x, float* y, float (*pulls)[3]) {
  if (cells->count == 0) return;
  cells_job job = {.cells = cells, .blocks = blocks, .x = x, .y = y, .pulls = pulls};
  sn_parallel_for(pool, cells->count, MIN_SHARES, pull, &job);
  sn_parallel_for(pool, cells->tree->node_count, MIN_NODES, spread, &job);
}

static void bound(void* ctx, size_t begin, size_t end) {
  const cells_job* job = ctx;
  const sn_fiber_cells* cells = job->cells;
  for (size_t n = begin; n < end; ++n) {
    float m[6] = {0, 0, 0, 0, 0, 0};
    for (uint32_t e = cells->starts[n]; e < cells->starts[n + 1]; ++e) {
      uint32_t use = cells->uses[e];
      const float* coefs = cells->coefs[use / 8];
      float sum = 0;
      for (int k = 0; k < 8; ++k) sum += fabsf(coefs[k]);
      for (int i = 0; i < 6; ++i) m[i] += fabsf(coefs[use % 8]) * sum * job->blocks[use / 8][i];
    }
    const float rows[3] = {m[0] + fabsf(m[3]) + fabsf(m[4]), fabsf(m[3]) + m[1] + fabsf(m[5]),
                           fabsf(m[4]) + fabsf(m[5]) + m[2]};
    for (int i = 0; i < 3; ++i) {
      if (job->d_f) job->d_f[3 * n + i] += rows[i];
      if (job->d_d) job->d_d[3 * n + i] += rows[i];
    }
  }
}

void sn_fiber_cells_bound(const sn_fiber_cells* cells, sn_pool* pool, const float (*blocks)[6],
                          float* d_f, double* d_d) {
  if (cells->count == 0) return;
  cells_job job = {.cells = cells, .blocks = blocks, .d_f = d_f, .d_d = d_d};
  sn_parallel_for(pool, cells->tree->node_count, MIN_NODES, bound, &job);
}
