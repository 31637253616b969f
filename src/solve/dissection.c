#include "solve/dissection.h"

#include <string.h>

#include "octree/hanging.h"
#include "solve/vector.h"

sn_status sn_dissected_create(const sn_dissection* plan, uint32_t block_capacity, sn_pool* pool,
                              sn_arena* arena, sn_dissected* work, sn_error* err) {
  size_t front = plan->largest * sn_front_round_up(plan->largest);
  *work = (sn_dissected){.plan = plan, .kernels = sn_front_kernels_best()};
  work->room_count = pool ? (uint32_t)sn_pool_thread_count(pool) : 1;
  SN_TRY(SN_ARENA_RAW(arena, plan->factor_count, &work->rows, err));
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)plan->node_count, &work->diagonal, err));
  for (int i = 0; i < 2; ++i) SN_TRY(SN_ARENA_RAW(arena, plan->left_count[i], &work->left[i], err));
  SN_TRY(SN_ARENA_RAW(arena, plan->passed_count, &work->passed, err));
  SN_TRY(SN_ARENA_NEW(arena, work->room_count, &work->rooms, err));
  for (uint32_t i = 0; i < work->room_count; ++i) {
    SN_TRY(SN_ARENA_RAW(arena, front, &work->rooms[i], err));
  }
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)plan->node_count, &work->x, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)plan->tree->node_count, &work->springs, err));
  return SN_ARENA_RAW(arena, block_capacity, &work->blocks, err);
}

void sn_dissected_mark(sn_dissected* work, const sn_mg_level* level) {
  for (size_t i = 0; i < level->unknown_count; ++i)
    work->springs[i] = level->springs[i] + level->b[i];
  work->block_places = level->blocks.places;
  if (level->blocks.count == 0) return;
  memcpy(work->blocks, level->blocks.diagonal, level->blocks.count * sizeof *work->blocks);
}

// Factoring.

typedef struct parts_job {
  sn_dissected* work;
  const sn_block_cells* cells;
  uint32_t begin, end;  // parts of one depth
  int depth;
} parts_job;

// A front that is being put together.
typedef struct front {
  float* F;
  size_t width, size;
} front;

static inline void add_entry(const front* f, size_t row, size_t column, float value) {
  float* at = row <= column ? f->F + row * f->width + column : f->F + column * f->width + row;
  *at += value;
}

// K of corners p and q to their places a and b. On the diagonal K is symmetric, and half of it is enough.
static void add_pair(const front* f, uint16_t a, uint16_t b, const float K[9]) {
  if (a == UINT16_MAX || b == UINT16_MAX) return;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = a == b ? i : 0; j < 3; ++j) {
      add_entry(f, 3 * (size_t)a + i, 3 * (size_t)b + j, K[3 * i + j]);
    }
  }
}

// W of a cell: what its corners take of the nodes that stand for them.
static void find_weights(sn_octant o, uint8_t hanging, double weights[8][8]) {
  sn_cell_shape shape = {.hanging = hanging};
  shape.child =
      (uint8_t)((o.x >> o.height & 1) | (o.y >> o.height & 1) << 1 | (o.z >> o.height & 1) << 2);
  for (int c = 0; c < 8; ++c) {
    double unit[8] = {0}, column[8];
    unit[c] = 1;
    sn_cell_conform_to_corner(shape, unit, column);
    for (int r = 0; r < 8; ++r) weights[r][c] = column[r];
  }
}

// W^T K W of a cell with hanging corners
static void add_hanging(const front* f, const uint16_t corners[8], const double weights[8][8],
                        const float pairs[SN_CORNER_PAIRS][9]) {
  for (int p = 0, pair = 0; p < 8; ++p) {
    for (int q = p; q < 8; ++q, ++pair) {
      float turned[9];
      for (int e = 0; e < 9; ++e) turned[e] = pairs[pair][e % 3 * 3 + e / 3];
      for (int a = 0; a < 8; ++a) {
        for (int b = a; b < 8; ++b) {
          float forth = (float)(weights[p][a] * weights[q][b]), K[9];
          float back = p == q ? 0 : (float)(weights[q][a] * weights[p][b]);
          if (forth == 0 && back == 0) continue;
          for (int e = 0; e < 9; ++e) K[e] = forth * pairs[pair][e] + back * turned[e];
          add_pair(f, corners[a], corners[b], K);
        }
      }
    }
  }
}

static void add_cells(const parts_job* job, const sn_part* part, const front* f) {
  static const uint8_t FLIPS[SN_BLOCK_LANES] = {0};
  const sn_dissection* plan = job->work->plan;
  _Alignas(64) float K[SN_CORNER_PAIRS][9][SN_BLOCK_LANES];
  for (uint32_t first = part->cell_begin; first < part->cell_end; first += SN_BLOCK_LANES) {
    uint32_t cells[SN_BLOCK_LANES];
    for (uint32_t lane = 0; lane < SN_BLOCK_LANES; ++lane) {
      cells[lane] = first + lane < part->cell_end ? plan->cells[first + lane] : UINT32_MAX;
    }
    job->cells->matrices(job->cells->ctx, cells, FLIPS, K);
    for (uint32_t lane = 0; lane < SN_BLOCK_LANES && cells[lane] != UINT32_MAX; ++lane) {
      const uint16_t* corners = plan->corners + 8 * (size_t)(first + lane);
      uint8_t hanging = plan->tree->hanging[cells[lane]];
      float pairs[SN_CORNER_PAIRS][9];
      for (int k = 0; k < 9 * SN_CORNER_PAIRS; ++k) pairs[k / 9][k % 9] = K[k / 9][k % 9][lane];
      if (hanging) {
        double weights[8][8];
        find_weights(plan->tree->cells[cells[lane]], hanging, weights);
        add_hanging(f, corners, (const double(*)[8])weights, (const float(*)[9])pairs);
        continue;
      }
      for (int p = 0, pair = 0; p < 8; ++p) {
        for (int q = p; q < 8; ++q, ++pair) add_pair(f, corners[p], corners[q], pairs[pair]);
      }
    }
  }
}

// What a child has left, to the places of its nodes. Both are in the order of elimination, so that what is
// above the diagonal stays there.
static void add_child(const parts_job* job, uint32_t number, const front* f) {
  const sn_part* child = &job->work->plan->parts[number];
  const float* left = job->work->left[(job->depth + 1) % 2] + child->left;
  size_t around = 3 * (size_t)child->around_count;
  for (size_t i = 0; i < around; ++i) {
    float* row = f->F + (3 * (size_t)child->places[i / 3] + i % 3) * f->width;
    const float* from = left + i * around;
    size_t node = i / 3;
    for (size_t j = i; j < 3 * (node + 1); ++j)
      row[3 * (size_t)child->places[node] + j % 3] += from[j];
    for (size_t n = node + 1; n < child->around_count; ++n) {
      float* to = row + 3 * (size_t)child->places[n];
      to[0] += from[3 * n];
      to[1] += from[3 * n + 1];
      to[2] += from[3 * n + 2];
    }
  }
}

// Springs and blocks of the part's own nodes; an unknown that is held becomes 1 x = 0.
static void add_own(const parts_job* job, const sn_part* part, const front* f) {
  static const int AT[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
  const sn_dissection* plan = job->work->plan;
  const uint32_t* places = job->work->block_places;
  for (size_t k = 0; k < part->own_count && places; ++k) {
    uint32_t place = places[plan->nodes[part->own_begin + k]];
    for (size_t e = 0; e < 9 && place > 0; ++e) {
      size_t i = e / 3, j = e % 3;
      if (i <= j)
        f->F[(3 * k + i) * f->width + 3 * k + j] += job->work->blocks[place - 1][AT[i][j]];
    }
  }
  for (size_t k = 0; k < 3 * (size_t)part->own_count; ++k) {
    size_t unknown = 3 * (size_t)plan->nodes[part->own_begin + k / 3] + k % 3;
    if (!sn_is_held(plan->held, unknown)) {
      f->F[k * f->width + k] += job->work->springs[unknown];
      continue;
    }
    for (size_t j = k; j < f->size; ++j) f->F[k * f->width + j] = 0;
    for (size_t i = 0; i < k; ++i) f->F[i * f->width + k] = 0;
    f->F[k * f->width + k] = 1;
  }
}

static void factor_part(const parts_job* job, uint32_t number, float* room) {
  sn_dissected* work = job->work;
  const sn_part* part = &work->plan->parts[number];
  size_t own = 3 * (size_t)part->own_count, around = 3 * (size_t)part->around_count;
  front f = {room, sn_front_round_up(own + around), own + around};
  memset(f.F, 0, f.size * f.width * sizeof *f.F);
  if (part->children[0] == SN_NO_PART) {
    add_cells(job, part, &f);
  } else {
    add_child(job, part->children[0], &f);
    add_child(job, part->children[1], &f);
  }
  add_own(job, part, &f);
  work->kernels->factor(f.F, f.width, own, f.size, work->diagonal + 3 * (size_t)part->own_begin);
  work->kernels->pack(f.F, f.width, own, work->rows + part->rows);
  float* left = work->left[job->depth % 2] + part->left;
  for (size_t i = 0; i < around; ++i) {
    memcpy(left + i * around + i, f.F + (own + i) * f.width + own + i, (around - i) * sizeof *left);
  }
}

// Every room has its share of the parts of a depth; which that is does not matter to them.
static void factor_share(void* ctx, size_t begin, size_t end) {
  const parts_job* job = ctx;
  for (size_t share = begin; share < end; ++share) {
    for (uint32_t i = job->begin + (uint32_t)share; i < job->end; i += job->work->room_count) {
      factor_part(job, i, job->work->rooms[share]);
    }
  }
}

// Depth after depth, from the leaves up or down to them.
static void run_depths(sn_dissected* work, sn_pool* pool, const sn_block_cells* cells, bool up,
                       sn_range_fn fn) {
  const sn_dissection* plan = work->plan;
  for (uint32_t k = 0; k < plan->depth_count; ++k) {
    uint32_t depth = up ? plan->depth_count - 1 - k : k;
    parts_job job = {.work = work,
                     .cells = cells,
                     .begin = plan->depth_starts[depth],
                     .end = plan->depth_starts[depth + 1],
                     .depth = (int)depth};
    sn_parallel_for(pool, work->room_count, 1, fn, &job);
  }
}

void sn_dissected_factor(sn_dissected* work, sn_pool* pool, const sn_block_cells* cells) {
  run_depths(work, pool, cells, true, factor_share);
}

// Solving.

// A part's own unknowns with what its children pass on; what it means for those around it is passed on.
static void solve_up(const parts_job* job, uint32_t number, float* t) {
  const sn_dissected* work = job->work;
  const sn_dissection* plan = work->plan;
  const sn_part* part = &plan->parts[number];
  size_t own = 3 * (size_t)part->own_count, size = own + 3 * (size_t)part->around_count;
  size_t width = sn_front_round_up(size);
  memcpy(t, work->x + 3 * (size_t)part->own_begin, own * sizeof *t);
  memset(t + own, 0, (width - own) * sizeof *t);
  for (int c = 0; c < 2 && part->children[c] != SN_NO_PART; ++c) {
    const sn_part* child = &plan->parts[part->children[c]];
    const float* from = work->passed + child->passed;
    for (size_t n = 0; n < child->around_count; ++n) {
      float* to = t + 3 * (size_t)child->places[n];
      for (size_t i = 0; i < 3; ++i) to[i] += from[3 * n + i];
    }
  }
  for (size_t k = 0; k < own; ++k) {
    size_t node = plan->nodes[part->own_begin + k / 3];
    if (plan->held[node] && sn_is_held(plan->held, 3 * node + k % 3)) t[k] = 0;
  }
  work->kernels->forward(work->rows + part->rows, work->diagonal + 3 * (size_t)part->own_begin,
                         width, own, t);
  memcpy(work->x + 3 * (size_t)part->own_begin, t, own * sizeof *t);
  memcpy(work->passed + part->passed, t + own, (size - own) * sizeof *t);
}

static void solve_down(const parts_job* job, uint32_t number, float* t) {
  const sn_dissected* work = job->work;
  const sn_part* part = &work->plan->parts[number];
  size_t own = 3 * (size_t)part->own_count, size = own + 3 * (size_t)part->around_count;
  size_t width = sn_front_round_up(size);
  memcpy(t, work->x + 3 * (size_t)part->own_begin, own * sizeof *t);
  for (size_t n = 0; n < part->around_count; ++n) {
    memcpy(t + own + 3 * n, work->x + 3 * (size_t)part->around[n], 3 * sizeof *t);
  }
  for (size_t i = size; i < width; ++i) t[i] = 0;
  work->kernels->backward(work->rows + part->rows, work->diagonal + 3 * (size_t)part->own_begin,
                          width, own, t);
  memcpy(work->x + 3 * (size_t)part->own_begin, t, own * sizeof *t);
}

static void share_up(void* ctx, size_t begin, size_t end) {
  const parts_job* job = ctx;
  for (size_t share = begin; share < end; ++share) {
    for (uint32_t i = job->begin + (uint32_t)share; i < job->end; i += job->work->room_count) {
      solve_up(job, i, job->work->rooms[share]);
    }
  }
}

static void share_down(void* ctx, size_t begin, size_t end) {
  const parts_job* job = ctx;
  for (size_t share = begin; share < end; ++share) {
    for (uint32_t i = job->begin + (uint32_t)share; i < job->end; i += job->work->room_count) {
      solve_down(job, i, job->work->rooms[share]);
    }
  }
}

void sn_dissected_solve(sn_dissected* work, sn_pool* pool, const float* b, float* x) {
  const sn_dissection* plan = work->plan;
  for (size_t k = 0; k < 3 * (size_t)plan->node_count; ++k) {
    work->x[k] = b[3 * (size_t)plan->nodes[k / 3] + k % 3];
  }
  run_depths(work, pool, NULL, true, share_up);
  run_depths(work, pool, NULL, false, share_down);
  memset(x, 0, 3 * (size_t)plan->tree->node_count * sizeof *x);
  for (size_t k = 0; k < plan->node_count; ++k) {
    memcpy(x + 3 * (size_t)plan->nodes[k], work->x + 3 * k, 3 * sizeof *x);
  }
}
