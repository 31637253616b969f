#include "solve/macroblocks.h"

#include <string.h>

#include "base/sort.h"
#include "octree/families.h"
#include "solve/vector.h"

#define MIN_BLOCK 6144  // items; a multiple of 3
// A box with fewer inner nodes than this is not worth a factor.
#define LEAST_INNER 64
// Share of a residual that may be on inner nodes before it is taken off.
#define SETTLED 0.01
#define NOWHERE UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

#define SIDES \
  { 16, 8, 8 }
static const int SIDE[3] = SIDES;

// Building.

typedef struct finder {
  const sn_octree* tree;
  sn_box_grid* grid;
  uint64_t* boxes;  // keys, ascending (box_count)
  uint32_t box_count;
  uint32_t* box_of;  // of each node, NOWHERE or SEVERAL (node_count)
  uint32_t* inner;   // nodes inside each box (box_count)
  uint32_t* number;  // of the block that each box becomes, or NOWHERE (box_count)
} finder;

static bool is_regular(const sn_octree* tree, uint32_t cell) {
  return tree->hanging[cell] == 0 && tree->cells[cell].height <= SN_MAX_HEIGHT;
}

static void place_of_octant(sn_octant o, int height, int place[3]) {
  place[0] = o.x >> height;
  place[1] = o.y >> height;
  place[2] = o.z >> height;
}

// Along each axis: the plane with the fewest nodes of regular cells; of these, the one behind which the
// boxes' second halves have the fewest.
static void choose_shifts(finder* f, uint64_t (*counts)[3][16]) {
  const sn_octree* tree = f->tree;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (!is_regular(tree, e)) continue;
    int height = tree->cells[e].height, place[3];
    place_of_octant(tree->cells[e], height, place);
    for (int i = 0; i < 3; ++i) {
      counts[height][i][place[i] % SIDE[i]]++;
      counts[height][i][(place[i] + 1) % SIDE[i]]++;
    }
  }
  for (int k = 0; k < 3 * (SN_MAX_HEIGHT + 1); ++k) {
    const uint64_t* count = counts[k / 3][k % 3];
    int side = SIDE[k % 3], best = 0;
    uint64_t least = UINT64_MAX, least_behind = UINT64_MAX;
    for (int r = 0; r < side; ++r) {
      uint64_t behind = 0;
      for (int j = side / 2; j < side; ++j) behind += count[(r + j) % side];
      if (count[r] > least || (count[r] == least && behind >= least_behind)) continue;
      least = count[r];
      least_behind = behind;
      best = r;
    }
    f->grid->shift[k / 3][k % 3] = (uint8_t)best;
  }
}

// The box of a cell of its own height, and the place in it.
static uint64_t box_key(const finder* f, uint32_t cell, int place[3]) {
  int height = f->tree->cells[cell].height;
  uint64_t key = (uint64_t)height;
  place_of_octant(f->tree->cells[cell], height, place);
  for (int i = 0; i < 3; ++i) {
    int shifted = place[i] + SIDE[i] - f->grid->shift[height][i];
    key = key << 16 | (uint64_t)(shifted / SIDE[i]);
    place[i] = shifted % SIDE[i];
  }
  return key;
}

static uint32_t find_box(const finder* f, uint64_t key) {
  uint32_t low = 0, high = f->box_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->boxes[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static sn_status list_boxes(finder* f, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  uint32_t count = 0, unique = 0;
  uint64_t* other;
  int place[3];
  SN_TRY(SN_ARENA_NEW(scratch, f->tree->cell_count, &f->boxes, err));
  SN_TRY(SN_ARENA_NEW(scratch, f->tree->cell_count, &other, err));
  for (uint32_t e = 0; e < f->tree->cell_count; ++e) {
    if (is_regular(f->tree, e)) f->boxes[count++] = box_key(f, e, place);
  }
  SN_TRY(sn_sort_keys(pool, f->boxes, other, count, 0, scratch, err));
  for (uint32_t i = 0; i < count; ++i) {
    if (unique == 0 || f->boxes[i] != f->boxes[unique - 1]) f->boxes[unique++] = f->boxes[i];
  }
  f->box_count = unique;
  return SN_OK;
}

// A node is inner where all cells at it are regular ones of one box, and it is not on the box's surface.
static void find_inner(finder* f) {
  const sn_octree* tree = f->tree;
  memset(f->box_of, 0xff, tree->node_count * sizeof *f->box_of);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    int place[3];
    uint32_t box = is_regular(tree, e) ? find_box(f, box_key(f, e, place)) : SEVERAL;
    for (int c = 0; c < 8; ++c) {
      uint32_t* at = &f->box_of[sn_octree_corner(tree, e, c)];
      bool inside = box != SEVERAL;
      for (int i = 0; i < 3 && inside; ++i) {
        int p = place[i] + (c >> i & 1);
        inside = p > 0 && p < SIDE[i];
      }
      *at = inside && (*at == NOWHERE || *at == box) ? box : SEVERAL;
    }
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    if (f->box_of[n] < SEVERAL) f->inner[f->box_of[n]]++;
  }
}

static void number_blocks(finder* f, sn_macroblocks* blocks) {
  for (uint32_t b = 0; b < f->box_count; ++b) {
    bool worth = f->inner[b] >= LEAST_INNER;
    f->number[b] = worth ? blocks->count++ : NOWHERE;
    if (worth) blocks->inner_count += f->inner[b];
  }
}

// Which entry of a block's arrays a place is.
typedef struct place_tables {
  uint16_t node[15][7][7], cell[16][8][8];
} place_tables;

static void fill_tables(sn_macroblocks* blocks, place_tables* tables) {
  int p[3], stride;
  for (int i = 0; i < SN_BLOCK_NODES; ++i) {
    blocks->offsets[i] = (uint16_t)sn_block_node_offset(i, &stride);
    blocks->strides[i] = (uint8_t)stride;
    sn_block_node_place(blocks->plan, i, p);
    tables->node[p[0] - 1][p[1] - 1][p[2] - 1] = (uint16_t)i;
  }
  for (int i = 0; i < SN_BLOCK_CELLS; ++i) {
    sn_block_cell_place(i, p);
    tables->cell[p[0]][p[1]][p[2]] = (uint16_t)i;
  }
}

static void fill_blocks(const finder* f, const place_tables* tables, sn_macroblocks* blocks) {
  const sn_octree* tree = f->tree;
  memset(blocks->nodes, 0xff, blocks->count * sizeof *blocks->nodes);
  memset(blocks->cells, 0xff, blocks->count * sizeof *blocks->cells);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    int p[3];
    if (!is_regular(tree, e)) continue;
    uint32_t box = find_box(f, box_key(f, e, p)), block = f->number[box];
    if (block == NOWHERE) continue;
    int i = tables->cell[p[0]][p[1]][p[2]];
    blocks->cells[block][i / 16][i / 8 % 2][i % 8] = e;
    for (int c = 0; c < 8; ++c) {
      uint32_t node = sn_octree_corner(tree, e, c);
      if (f->box_of[node] != box) continue;
      int n = tables->node[p[0] + (c & 1) - 1][p[1] + (c >> 1 & 1) - 1][p[2] + (c >> 2) - 1];
      blocks->nodes[block][n] = node;
    }
  }
}

static sn_status build(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                       sn_macroblocks* blocks, sn_error* err) {
  finder f = {.tree = tree, .grid = &blocks->boxes};
  uint64_t(*counts)[3][16];
  place_tables* tables;
  *blocks = (sn_macroblocks){.node_count = tree->node_count, .boxes = {.side = SIDES}};
  SN_TRY(sn_block_plan_create(arena, &blocks->plan, err));
  SN_TRY(SN_ARENA_NEW(scratch, SN_MAX_HEIGHT + 1, &counts, err));
  SN_TRY(SN_ARENA_NEW(scratch, 1, &tables, err));
  choose_shifts(&f, counts);
  SN_TRY(list_boxes(&f, pool, scratch, err));
  SN_TRY(SN_ARENA_NEW(scratch, tree->node_count, &f.box_of, err));
  SN_TRY(SN_ARENA_NEW(scratch, f.box_count, &f.inner, err));
  SN_TRY(SN_ARENA_NEW(scratch, f.box_count, &f.number, err));
  find_inner(&f);
  number_blocks(&f, blocks);
  fill_tables(blocks, tables);
  SN_TRY(SN_ARENA_NEW(arena, blocks->count, &blocks->nodes, err));
  SN_TRY(SN_ARENA_NEW(arena, blocks->count, &blocks->cells, err));
  fill_blocks(&f, tables, blocks);
  return SN_OK;
}

sn_status sn_macroblocks_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena,
                               sn_arena* scratch, sn_macroblocks* blocks, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = build(tree, pool, arena, scratch, blocks, err);
  sn_arena_release(scratch, mark);
  return status;
}

sn_status sn_macroblocks_plan_faces(const sn_octree* tree, const uint8_t* held, sn_arena* arena,
                                    sn_arena* scratch, sn_macroblocks* blocks, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  uint8_t* inside;
  SN_TRY(SN_ARENA_NEW(scratch, blocks->node_count, &inside, err));
  for (size_t i = 0; i < (size_t)blocks->count * SN_BLOCK_NODES; ++i) {
    uint32_t node = blocks->nodes[i / SN_BLOCK_NODES][i % SN_BLOCK_NODES];
    if (node != NOWHERE) inside[node] = 1;
  }
  sn_status status =
      sn_faces_plan(tree, &blocks->boxes, inside, held, arena, scratch, &blocks->faces, err);
  sn_arena_release(scratch, mark);
  return status;
}

sn_status sn_macroblocks_work_create(const sn_macroblocks* blocks, sn_interface interface,
                                     uint32_t block_capacity, sn_pool* pool, sn_arena* arena,
                                     sn_macroblocks_work* work, sn_error* err) {
  uint32_t threads = pool ? (uint32_t)sn_pool_thread_count(pool) : 1;
  size_t n = 3 * (size_t)blocks->node_count;
  *work = (sn_macroblocks_work){
      .blocks = blocks, .interface = interface, .kernels = sn_block_kernels_best()};
  work->room_count = threads < blocks->count ? threads : blocks->count;
  SN_TRY(SN_ARENA_RAW(arena, blocks->count, &work->factors, err));
  SN_TRY(SN_ARENA_NEW(arena, work->room_count, &work->rooms, err));
  for (uint32_t i = 0; i < work->room_count; ++i) {
    SN_TRY(sn_arena_take_raw(arena, 1, sn_block_room_bytes(), (void**)&work->rooms[i], err));
  }
  SN_TRY(SN_ARENA_NEW(arena, blocks->count, &work->stale, err));
  SN_TRY(SN_ARENA_NEW(arena, blocks->node_count, &work->inner, err));
  float** vectors[] = {&work->diagonal, &work->outside, &work->b, &work->t, &work->c};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    SN_TRY(SN_ARENA_NEW(arena, n, vectors[i], err));
  }
  if (blocks->faces.part_count == 0) return SN_OK;
  return sn_dissected_create(&blocks->faces, block_capacity, pool, arena, &work->faces, err);
}

// Factoring.

// Axes of a node that its block solves for.
static uint8_t inner_axes(const sn_mg_level* finest, uint32_t node) {
  uint8_t axes = 0;
  if (finest->blocks.capacity > 0 && finest->blocks.places[node] != 0) return 0;
  for (size_t k = 0; k < 3; ++k) {
    if (!sn_is_held(finest->held, 3 * (size_t)node + k)) axes |= (uint8_t)(1 << k);
  }
  return axes;
}

// Returns whether the block's matrix is another one than before, flesh apart.
static bool mark_block(sn_macroblocks_work* work, const sn_mg_level* finest, uint32_t b) {
  bool differs = false;
  for (int i = 0; i < SN_BLOCK_NODES; ++i) {
    uint32_t node = work->blocks->nodes[b][i];
    if (node == NOWHERE) continue;
    uint8_t axes = inner_axes(finest, node);
    differs |= axes != work->inner[node];
    work->inner[node] = axes;
    for (size_t k = 3 * (size_t)node; k < 3 * (size_t)node + 3; ++k) {
      float added = finest->springs[k] + finest->b[k];
      differs |= added != work->diagonal[k];
      work->diagonal[k] = added;
    }
  }
  return differs;
}

void sn_macroblocks_mark(sn_macroblocks_work* work, const sn_mg_level* finest, bool same_flesh) {
  for (uint32_t b = 0; b < work->blocks->count; ++b) {
    bool differs = mark_block(work, finest, b);
    work->stale[b] = differs || !same_flesh;
  }
  for (size_t i = 0; i < finest->unknown_count; ++i) {
    bool inner = work->inner[i / 3] >> (i % 3) & 1;
    work->outside[i] = inner || sn_is_held(finest->held, i) ? 0 : 1;
  }
  if (work->faces.plan) sn_dissected_mark(&work->faces, finest);
}

typedef struct block_job {
  const sn_macroblocks_work* work;
  const sn_block_cells* cells;
  float scale;
  const float* f;
  float* x;
} block_job;

static void factor_block(const block_job* job, uint32_t b, sn_block_room* room) {
  const sn_macroblocks_work* work = job->work;
  const uint32_t* nodes = work->blocks->nodes[b];
  sn_block_vector keep, add;
  float *k = (float*)&keep, *a = (float*)&add;
  memset(&keep, 0, sizeof keep);
  for (size_t i = 0; i < sizeof add / sizeof *a; ++i) a[i] = 1;
  for (int i = 0; i < SN_BLOCK_NODES; ++i) {
    int at = work->blocks->offsets[i], stride = work->blocks->strides[i];
    uint8_t inner = nodes[i] == NOWHERE ? 0 : work->inner[nodes[i]];
    for (int axis = 0; axis < 3; ++axis) {
      if (!(inner >> axis & 1)) continue;
      k[at + axis * stride] = 1;
      a[at + axis * stride] = work->diagonal[3 * (size_t)nodes[i] + (size_t)axis];
    }
  }
  sn_block_input input = {(const uint32_t(*)[2][SN_BLOCK_LANES])work->blocks->cells[b], &keep,
                          &add};
  work->kernels->factor(work->blocks->plan, job->cells, &input, room, &work->factors[b]);
}

// Every room has its share of the blocks; which that is does not matter to them.
static void factor_share(void* ctx, size_t begin, size_t end) {
  const block_job* job = ctx;
  uint32_t step = job->work->room_count;
  for (size_t share = begin; share < end; ++share) {
    for (uint32_t b = (uint32_t)share; b < job->work->blocks->count; b += step) {
      if (job->work->stale[b]) factor_block(job, b, job->work->rooms[share]);
    }
  }
}

void sn_macroblocks_factor(sn_macroblocks_work* work, sn_pool* pool, const sn_block_cells* cells) {
  block_job job = {.work = work, .cells = cells};
  sn_parallel_for(pool, work->room_count, 1, factor_share, &job);
  if (work->faces.plan) sn_dissected_factor(&work->faces, pool, cells);
}

// Solving.

static void load_block(const block_job* job, size_t b, float* v) {
  const sn_macroblocks_work* work = job->work;
  const sn_macroblocks* blocks = work->blocks;
  memset(v, 0, sizeof(sn_block_vector));
  for (int i = 0; i < SN_BLOCK_NODES; ++i) {
    uint32_t node = blocks->nodes[b][i];
    if (node == NOWHERE) continue;
    const float* from = job->f + 3 * (size_t)node;
    float* to = v + blocks->offsets[i];
    int inner = work->inner[node], stride = blocks->strides[i];
    to[0] = inner & 1 ? job->scale * from[0] : 0;
    to[stride] = inner & 2 ? job->scale * from[1] : 0;
    to[2 * stride] = inner & 4 ? job->scale * from[2] : 0;
  }
}

static void store_block(const block_job* job, size_t b, const float* v) {
  const sn_macroblocks_work* work = job->work;
  const sn_macroblocks* blocks = work->blocks;
  for (int i = 0; i < SN_BLOCK_NODES; ++i) {
    uint32_t node = blocks->nodes[b][i];
    if (node == NOWHERE) continue;
    float* to = job->x + 3 * (size_t)node;
    const float* from = v + blocks->offsets[i];
    int inner = work->inner[node], stride = blocks->strides[i];
    if (inner & 1) to[0] = from[0];
    if (inner & 2) to[1] = from[stride];
    if (inner & 4) to[2] = from[2 * stride];
  }
}

static void solve_blocks(void* ctx, size_t begin, size_t end) {
  const block_job* job = ctx;
  const sn_macroblocks_work* work = job->work;
  for (size_t b = begin; b < end; ++b) {
    sn_block_vector vector;
    load_block(job, b, (float*)&vector);
    work->kernels->solve(work->blocks->plan, &work->factors[b], &vector);
    store_block(job, b, (const float*)&vector);
  }
}

void sn_macroblocks_solve(const sn_macroblocks_work* work, sn_pool* pool, float scale,
                          const float* f, float* x) {
  block_job job = {.work = work, .scale = scale, .f = f, .x = x};
  sn_parallel_for(pool, work->blocks->count, 1, solve_blocks, &job);
}

// The preconditioner.

typedef struct part_job {
  const sn_macroblocks_work* work;
  const sn_mg_level* level;
  float scale;
  const float* a;
  float* y;
} part_job;

static void run(const part_job* job, sn_pool* pool, sn_range_fn fn) {
  sn_parallel_for(pool, 3 * (size_t)job->work->blocks->node_count, MIN_BLOCK, fn, (void*)job);
}
static void scale_outside(void* ctx, size_t begin, size_t end) {
  const part_job* job = ctx;
  const float* outside = job->work->outside;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->scale * outside[i] * job->a[i];
}
static void multiply_by_diagonal(void* ctx, size_t begin, size_t end) {
  const part_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->y[i] = job->level->inverse_diagonal[i] * job->a[i];
}
static double add_inner(void* ctx, size_t begin, size_t end) {
  const part_job* job = ctx;
  const float* outside = job->work->outside;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += (1 - outside[i]) * job->a[i] * job->a[i];
  return sum;
}

// y = scale a on the interface, 0 on inner and held nodes
static void take_interface(const sn_macroblocks_work* work, sn_pool* pool, float scale,
                           const float* a, float* y) {
  run(&(part_job){.work = work, .scale = scale, .a = a, .y = y}, pool, scale_outside);
}

// Nodes of contacts that are inside a box have their diagonal.
static void precondition_faces(sn_macroblocks_work* work, sn_pool* pool) {
  const sn_dissection* plan = work->faces.plan;
  SN_ASSERT(plan);
  sn_dissected_solve(&work->faces, pool, work->b, work->t);
  for (uint32_t k = 0; k < plan->node_count; ++k) {
    size_t at = 3 * (size_t)plan->nodes[k];
    memcpy(work->c + at, work->t + at, 3 * sizeof *work->c);
  }
}
// y = D^-1 a on the interface, and on inner nodes as well
static void divide_by_diagonal(const sn_macroblocks_work* work, const sn_mg_level* finest,
                               sn_pool* pool, const float* a, float* y) {
  run(&(part_job){.work = work, .level = finest, .a = a, .y = y}, pool, multiply_by_diagonal);
  sn_mg_add_blocks(finest, a, y);
}

// z = M_G^-1 b on the interface, 0 on the rest
static void precondition_interface(sn_macroblocks_work* work, sn_mg* mg, sn_pool* pool, float* z) {
  sn_mg_level* finest = &mg->levels[0];
  const float* c = work->c;
  switch (work->interface) {
    case SN_INTERFACE_NONE:
      c = work->b;
      break;
    case SN_INTERFACE_JACOBI:
    case SN_INTERFACE_FACES:
      divide_by_diagonal(work, finest, pool, work->b, work->c);
      if (work->interface == SN_INTERFACE_FACES) precondition_faces(work, pool);
      break;
    case SN_INTERFACE_MULTIGRID:
      sn_mg_cycle(mg, pool, work->b, work->c);
      break;
  }
  take_interface(work, pool, 1, c, z);
}

// Is what is left on inner nodes next to nothing? A V-cycle takes even that for a load that bends thin flesh.
static bool is_settled(const sn_macroblocks_work* work, sn_pool* pool, const float* r) {
  size_t n = 3 * (size_t)work->blocks->node_count;
  if (work->interface == SN_INTERFACE_MULTIGRID) return false;
  double inner = sn_parallel_sum(pool, n, MIN_BLOCK, add_inner, &(part_job){.work = work, .a = r});
  return inner <= SETTLED * SETTLED * sn_vector_dot_f(pool, n, r, r);
}

bool sn_macroblocks_settle(const sn_macroblocks_work* work, sn_pool* pool, const float* r,
                           float* z) {
  bool settled = is_settled(work, pool, r);
  sn_vector_fill_f(pool, 3 * (size_t)work->blocks->node_count, 0, z);
  if (!settled) sn_macroblocks_solve(work, pool, 1, r, z);
  return !settled;
}

void sn_macroblocks_apply(sn_macroblocks_work* work, sn_mg* mg, sn_pool* pool, const float* r,
                          float* z) {
  const sn_mg_level* finest = &mg->levels[0];
  // b = r_G - K_GI K_II^-1 r_I
  if (sn_macroblocks_settle(work, pool, r, z)) {
    finest->multiply(finest->ctx, pool, finest->springs, z, -1, r, work->t);
    take_interface(work, pool, -1, work->t, work->b);
  } else {
    take_interface(work, pool, 1, r, work->b);
  }
  // z_G = M_G^-1 b,  z_I = K_II^-1 (r_I - K_IG z_G)
  precondition_interface(work, mg, pool, z);
  finest->multiply(finest->ctx, pool, finest->springs, z, -1, r, work->t);
  sn_macroblocks_solve(work, pool, -1, work->t, z);
}

// x -= K_II^-1 r_I
static void smooth_inside(const sn_macroblocks_work* work, const sn_mg_level* level,
                          sn_pool* pool) {
  sn_vector_fill_f(pool, level->unknown_count, 0, work->c);
  sn_macroblocks_solve(work, pool, -1, level->r, work->c);
  sn_vector_scale_add_f(pool, level->unknown_count, work->c, 1, level->x);
}

// x_G -= damping D^-1 r_G
static void smooth_outside(const sn_macroblocks_work* work, const sn_mg_level* level, sn_pool* pool,
                           float damping) {
  divide_by_diagonal(work, level, pool, level->r, work->c);
  take_interface(work, pool, -damping, work->c, work->c);
  sn_vector_scale_add_f(pool, level->unknown_count, work->c, 1, level->x);
}

// r = A x - b
static void find_wrong(const sn_mg_level* level, sn_pool* pool) {
  level->multiply(level->ctx, pool, level->springs, level->x, -1, level->b, level->r);
}

void sn_macroblocks_smooth(void* ctx, sn_pool* pool, const sn_mg_level* level, float damping,
                           bool after) {
  const sn_macroblocks_work* work = ctx;
  if (after) {
    smooth_outside(work, level, pool, damping);
    find_wrong(level, pool);
    smooth_inside(work, level, pool);
  } else {
    sn_vector_fill_f(pool, level->unknown_count, 0, level->x);
    sn_macroblocks_solve(work, pool, 1, level->b, level->x);
    find_wrong(level, pool);
    smooth_outside(work, level, pool, damping);
    find_wrong(level, pool);
  }
}

void sn_macroblocks_multiply(sn_macroblocks_work* work, const sn_mg_level* finest, sn_pool* pool,
                             const float* p, float* s) {
  take_interface(work, pool, 1, p, work->c);
  finest->multiply(finest->ctx, pool, finest->springs, work->c, 0, NULL, work->t);
  sn_macroblocks_solve(work, pool, -1, work->t, work->c);
  finest->multiply(finest->ctx, pool, finest->springs, work->c, 0, NULL, work->t);
  take_interface(work, pool, 1, work->t, s);
}
