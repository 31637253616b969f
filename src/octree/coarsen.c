#include "octree/coarsen.h"

#include <string.h>

#include "octree/families.h"
#include "octree/hanging.h"
#include "octree/octant_list.h"
#include "octree/octree_nodes.h"

// Flags of coarse leaves while they are balanced.
#define UNSETTLED 1  // its parent may have a neighbour in too large a leaf
#define GIVES_WAY 2

// Fine leaves are in Morton order, so those below a parent follow one another. A parent is taken if
// all of them are its children. `kept` receives the parent, or the leaves themselves.
static void join_children(const sn_octree* fine, sn_octants* kept) {
  kept->count = 0;
  for (uint32_t begin = 0, end; begin < fine->cell_count; begin = end) {
    sn_octant parent = sn_octant_parent(fine->cells[begin]);
    end = begin;
    bool children_only = parent.height <= fine->root_height;
    while (children_only && end < fine->cell_count &&
           sn_octant_holds(parent, fine->cells[end].x, fine->cells[end].y, fine->cells[end].z)) {
      children_only = children_only && fine->cells[end].height + 1 == parent.height;
      ++end;
    }
    // A leaf before this run may be below the parent too (a smaller one, kept apart): then it is not
    // the parent's only kind of descendant.
    if (begin > 0) {
      sn_octant before = fine->cells[begin - 1];
      children_only = children_only && !sn_octant_holds(parent, before.x, before.y, before.z);
    }
    if (!children_only) end = begin + 1;
    sn_octant leaf = children_only ? parent : fine->cells[begin];
    leaf.flags = UNSETTLED;
    kept->items[kept->count++] = leaf;
  }
}

typedef struct balance_job {
  const sn_octree* fine;
  sn_octree tree;     // the coarse leaves, as far as they are
  sn_finder finder;   // of the leaves
  uint8_t* verdicts;  // of this round, flags as above (leaf count)
  sn_octants broken;  // leaves for whose parent the rule is broken
} balance_job;

// Is this coarse leaf one of the fine tree too?
static bool is_fine_leaf(const sn_octree* fine, sn_octant o) {
  uint32_t at = sn_octree_find(fine, o.x, o.y, o.z);
  return at != SN_NO_CELL && fine->cells[at].height == o.height;
}

// Of the leaves from `begin` on, one past the last that is a sibling of the first.
static size_t end_of_siblings(const sn_octree* tree, size_t begin) {
  size_t end = begin + 1;
  while (end < tree->cell_count && sn_octant_are_siblings(tree->cells[begin], tree->cells[end])) {
    ++end;
  }
  return end;
}

static bool starts_siblings(const sn_octree* tree, size_t index) {
  return index == 0 || !sn_octant_are_siblings(tree->cells[index - 1], tree->cells[index]);
}

// Leaves larger than the parent of leaf `index` that have a neighbour of it. A larger leaf that has a
// neighbour has the neighbour's parent, and of those there are seven besides the parent's own (see
// octree_build.c).
static int find_too_large(const balance_job* job, size_t index, uint32_t found[7]) {
  const sn_octree* tree = &job->tree;
  sn_octant parent = sn_octant_parent(tree->cells[index]), around = sn_octant_parent(parent);
  int number = sn_octant_child_number(parent), size = (int)sn_octant_size(around), count = 0;
  for (int side = 1; side < 8; ++side) {
    int place[3] = {around.x, around.y, around.z};
    for (int i = 0; i < 3; ++i) {
      if (side >> i & 1) place[i] += number >> i & 1 ? size : -size;
    }
    uint32_t other = sn_finder_find(&job->finder, place[0], place[1], place[2]);
    if (other == SN_NO_CELL || tree->cells[other].height < around.height) continue;
    found[count++] = other;
  }
  return count;
}

// The rule of octree_build.c: all 26 neighbours of a leaf's parent must not lie in larger leaves
// than the parent. It holds for places outside the body too, so that no stand-in of a hanging corner
// hangs itself. Asked once for all leaves that follow one another and have the same parent.
static void find_broken(void* ctx, size_t begin, size_t end) {
  const balance_job* job = ctx;
  const sn_octree* tree = &job->tree;
  for (size_t i = begin; i < end; ++i) {
    uint32_t found[7];
    bool ask = (tree->cells[i].flags & UNSETTLED) && starts_siblings(tree, i);
    if (ask && find_too_large(job, i, found) > 0) job->verdicts[i] = UNSETTLED;
  }
}

static size_t emit_broken(const void* ctx, size_t index, sn_octant* out) {
  const balance_job* job = ctx;
  if (!job->verdicts[index]) return 0;
  if (out) out[0] = job->tree.cells[index];
  return 1;
}

// Where the rule is broken the larger leaf gives way; or, if it cannot because the fine tree has it
// as well, the smaller ones do that are parents which took their children's place.
static void judge_broken(const balance_job* job) {
  const sn_octree* tree = &job->tree;
  sn_octants leaves = {tree->cells, tree->cell_count};
  for (size_t i = 0; i < job->broken.count; ++i) {
    size_t begin = sn_octants_lower_bound(leaves, job->broken.items[i]);
    size_t end = end_of_siblings(tree, begin);
    uint32_t found[7];
    int count = find_too_large(job, begin, found);
    for (int k = 0; k < count; ++k) {
      bool stays = is_fine_leaf(job->fine, tree->cells[found[k]]);
      if (!stays) job->verdicts[found[k]] |= GIVES_WAY;
      for (size_t e = begin; stays && e < end; ++e) {
        if (!is_fine_leaf(job->fine, tree->cells[e])) job->verdicts[e] |= GIVES_WAY;
      }
    }
    for (size_t e = begin; e < end; ++e) job->verdicts[e] |= UNSETTLED;
  }
}

// Put the children of leaves that give way back, from the fine tree. To be asked again: those, and
// the leaves beside which something gave way, as it may not have been enough.
static size_t emit_balanced(const void* ctx, size_t index, sn_octant* out) {
  const balance_job* job = ctx;
  sn_octant o = job->tree.cells[index];
  if (!(job->verdicts[index] & GIVES_WAY)) {
    o.flags = job->verdicts[index];
    if (out) out[0] = o;
    return 1;
  }
  sn_octants fine = {job->fine->cells, job->fine->cell_count};
  size_t count = 0;
  for (size_t at = sn_octants_lower_bound(fine, o); at < fine.count; ++at, ++count) {
    sn_octant child = fine.items[at];
    if (!sn_octant_holds(o, child.x, child.y, child.z)) break;
    child.flags = UNSETTLED;
    if (out) out[count] = child;
  }
  return count;
}

static sn_status balance(const sn_octree* fine, sn_octants* leaves, sn_pool* pool,
                         sn_arena* scratch, sn_error* err) {
  // Ends: each round puts at least one parent's smaller children back, and none comes again.
  for (;;) {
    balance_job job = {.fine = fine, .tree = *fine};
    job.tree.cells = leaves->items;
    job.tree.cell_count = (uint32_t)leaves->count;
    SN_TRY(SN_ARENA_NEW(scratch, leaves->count, &job.verdicts, err));
    SN_TRY(sn_finder_make(&job.tree, pool, scratch, &job.finder, err));
    sn_parallel_for(pool, leaves->count, 256, find_broken, &job);
    SN_TRY(sn_octants_emit(pool, leaves->count, emit_broken, &job, scratch, &job.broken, err));
    if (job.broken.count == 0) return SN_OK;
    judge_broken(&job);
    SN_TRY(sn_octants_emit(pool, leaves->count, emit_balanced, &job, scratch, leaves, err));
  }
}

sn_status sn_octree_coarsen(const sn_octree* fine, sn_pool* pool, sn_arena* arena,
                            sn_arena* corners, sn_arena* scratch, sn_octree* coarse,
                            sn_error* err) {
  sn_octants leaves;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(SN_ARENA_RAW(scratch, fine->cell_count, &leaves.items, err));
  join_children(fine, &leaves);
  SN_TRY(balance(fine, &leaves, pool, scratch, err));

  *coarse =
      (sn_octree){.origin = fine->origin, .cell = fine->cell, .root_height = fine->root_height};
  SN_TRY(SN_ARENA_RAW(arena, leaves.count, &coarse->cells, err));
  for (size_t e = 0; e < leaves.count; ++e) {
    coarse->cells[e] = leaves.items[e];
    coarse->cells[e].flags = 0;
  }
  coarse->cell_count = (uint32_t)leaves.count;
  SN_TRY(sn_octree_number_nodes(coarse, pool, arena, corners, scratch, err));
  sn_arena_release(scratch, mark);
  return SN_OK;
}

typedef struct transfer_job {
  const sn_octree *fine, *coarse;
  sn_finder finder;  // of the coarse cells
  sn_transfer* transfer;
  uint32_t* cells;        // of each fine node, a coarse cell that has it in or on it (fine nodes)
  uint8_t (*weights)[8];  // of that cell's nodes, in 64ths (fine nodes)
  uint32_t* places;       // of each piece and coarse node: entries, then where the next goes
} transfer_job;

// A coarse cell that has the place in or on it: all such cells agree on the value there. `near` is
// that of the node before.
static uint32_t cell_at(const transfer_job* job, uint32_t near, sn_octant place) {
  const sn_octree* tree = job->coarse;
  if (sn_octant_holds(tree->cells[near], place.x, place.y, place.z)) return near;
  for (int side = 0; side < 8; ++side) {
    int x = place.x - (side & 1), y = place.y - (side >> 1 & 1), z = place.z - (side >> 2 & 1);
    uint32_t cell = sn_finder_find(&job->finder, x, y, z);
    if (cell != SN_NO_CELL) return cell;
  }
  return SN_NO_CELL;
}

// W^T of hanging.h, in whole numbers.
static void share_hanging(sn_cell_shape shape, uint8_t weights[8]) {
  uint8_t corner[8];
  memcpy(corner, weights, sizeof corner);
  for (int c = 0; c < 8; ++c) {
    if (!(shape.hanging >> c & 1)) continue;
    int away = c ^ shape.child, first = away & -away, second = away ^ first;
    uint8_t share = (uint8_t)(corner[c] / (second ? 4 : 2));
    SN_ASSERT(share * (second ? 4 : 2) == corner[c]);
    weights[c] = (uint8_t)(weights[c] - corner[c] + share);
    weights[shape.child] = (uint8_t)(weights[shape.child] + share);
    if (!second) continue;
    weights[shape.child ^ first] = (uint8_t)(weights[shape.child ^ first] + share);
    weights[shape.child ^ second] = (uint8_t)(weights[shape.child ^ second] + share);
  }
}

// Weights of a coarse cell's conforming nodes at a fine node in or on it, in 64ths.
static void weigh(const sn_octree* coarse, uint32_t cell, sn_octant place, uint8_t weights[8]) {
  sn_octant o = coarse->cells[cell];
  int from[3] = {place.x - o.x, place.y - o.y, place.z - o.z}, quarters[3][2];
  for (int i = 0; i < 3; ++i) {  // of the cell's edge, away from the low side
    quarters[i][1] = 4 * from[i] >> o.height;
    quarters[i][0] = 4 - quarters[i][1];
    SN_ASSERT(quarters[i][1] << o.height == 4 * from[i] && quarters[i][0] >= 0);
  }
  for (int c = 0; c < 8; ++c) {
    weights[c] = (uint8_t)(quarters[0][c & 1] * quarters[1][c >> 1 & 1] * quarters[2][c >> 2 & 1]);
  }
  if (coarse->hanging[cell]) {
    share_hanging((sn_cell_shape){(uint8_t)sn_octant_child_number(o), coarse->hanging[cell]},
                  weights);
  }
}

// Leaves the number of entries of each node in fine_starts.
static void count_rows(void* ctx, size_t begin, size_t end) {
  const transfer_job* job = ctx;
  uint32_t cell = 0;
  for (size_t n = begin; n < end; ++n) {
    sn_octant place = job->fine->nodes[n];
    cell = cell_at(job, cell, place);
    SN_ASSERT(cell != SN_NO_CELL);
    uint8_t* weights = job->weights[n];
    weigh(job->coarse, cell, place, weights);
    uint32_t count = 0;
    for (int c = 0; c < 8; ++c) count += weights[c] != 0;
    job->cells[n] = cell;
    job->transfer->fine_starts[n] = count;
  }
}

static void fill_rows(void* ctx, size_t begin, size_t end) {
  const transfer_job* job = ctx;
  sn_transfer* t = job->transfer;
  for (size_t n = begin; n < end; ++n) {
    const uint8_t* weights = job->weights[n];
    uint32_t at = t->fine_starts[n];
    for (int c = 0; c < 8; ++c) {
      if (weights[c] == 0) continue;
      t->coarse_nodes[at++] = sn_entry(sn_octree_corner(job->coarse, job->cells[n], c), weights[c]);
    }
  }
}

// The transpose is a counting sort. The fine nodes are cut into pieces that count and move their
// entries apart from one another.
#define PIECES 16

static size_t start_of_piece(const sn_transfer* t, size_t piece) {
  return (size_t)t->fine_count * piece / PIECES;
}

static void count_columns(void* ctx, size_t begin, size_t end) {
  const transfer_job* job = ctx;
  const sn_transfer* t = job->transfer;
  for (size_t piece = begin; piece < end; ++piece) {
    uint32_t* counts = job->places + piece * t->coarse_count;
    uint32_t first = t->fine_starts[start_of_piece(t, piece)];
    uint32_t last = t->fine_starts[start_of_piece(t, piece + 1)];
    for (uint32_t e = first; e < last; ++e) counts[sn_entry_node(t->coarse_nodes[e])]++;
  }
}

static void add_pieces(void* ctx, size_t begin, size_t end) {
  const transfer_job* job = ctx;
  const sn_transfer* t = job->transfer;
  for (size_t piece = 0; piece < PIECES; ++piece) {
    uint32_t* counts = job->places + piece * t->coarse_count;
    for (size_t c = begin; c < end; ++c) {
      uint32_t count = counts[c];
      counts[c] = t->coarse_starts[c];
      t->coarse_starts[c] += count;
    }
  }
}

static void fill_columns(void* ctx, size_t begin, size_t end) {
  const transfer_job* job = ctx;
  const sn_transfer* t = job->transfer;
  for (size_t piece = begin; piece < end; ++piece) {
    uint32_t* places = job->places + piece * t->coarse_count;
    for (size_t n = start_of_piece(t, piece); n < start_of_piece(t, piece + 1); ++n) {
      for (uint32_t e = t->fine_starts[n]; e < t->fine_starts[n + 1]; ++e) {
        uint32_t entry = t->coarse_nodes[e], c = sn_entry_node(entry);
        t->fine_nodes[t->coarse_starts[c] + places[c]++] =
            sn_entry((uint32_t)n, sn_entry_weight(entry));
      }
    }
  }
}

// Both lists of cells are in Morton order, and every coarse cell has a fine one.
static void map_cells(void* ctx, size_t begin, size_t end) {
  const transfer_job* job = ctx;
  const sn_octant *fine = job->fine->cells, *coarse = job->coarse->cells;
  sn_octants cells = {job->fine->cells, job->fine->cell_count};
  size_t e = sn_octants_lower_bound(cells, coarse[begin]);
  for (size_t c = begin; c < end; ++c) {
    while (!sn_octant_holds(coarse[c], fine[e].x, fine[e].y, fine[e].z)) ++e;
    job->transfer->first_cells[c] = (uint32_t)e;
  }
}

uint32_t sn_transfer_coarse_cell(const sn_transfer* transfer, const sn_octree* coarse,
                                 uint32_t fine_cell) {
  uint32_t low = 0, high = coarse->cell_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (transfer->first_cells[middle] <= fine_cell) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static sn_status build_rows(transfer_job* job, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                            sn_error* err) {
  sn_transfer* t = job->transfer;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)t->fine_count + 1, &t->fine_starts, err));
  SN_TRY(SN_ARENA_RAW(scratch, t->fine_count, &job->cells, err));
  SN_TRY(SN_ARENA_RAW(scratch, t->fine_count, &job->weights, err));
  sn_parallel_for(pool, t->fine_count, 256, count_rows, job);
  uint32_t entries = sn_parallel_starts(pool, t->fine_starts, (size_t)t->fine_count + 1);
  SN_TRY(SN_ARENA_RAW(arena, entries, &t->coarse_nodes, err));
  sn_parallel_for(pool, t->fine_count, 256, fill_rows, job);
  return SN_OK;
}

static sn_status build_columns(transfer_job* job, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                               sn_error* err) {
  sn_transfer* t = job->transfer;
  uint32_t entries = t->fine_starts[t->fine_count];
  SN_TRY(SN_ARENA_NEW(arena, (size_t)t->coarse_count + 1, &t->coarse_starts, err));
  SN_TRY(SN_ARENA_RAW(arena, entries, &t->fine_nodes, err));
  SN_TRY(SN_ARENA_NEW(scratch, PIECES * (size_t)t->coarse_count, &job->places, err));
  sn_parallel_for(pool, PIECES, 1, count_columns, job);
  sn_parallel_for(pool, t->coarse_count, 1024, add_pieces, job);
  sn_parallel_starts(pool, t->coarse_starts, (size_t)t->coarse_count + 1);
  sn_parallel_for(pool, PIECES, 1, fill_columns, job);
  return SN_OK;
}

sn_status sn_transfer_build(const sn_octree* fine, const sn_octree* coarse, sn_pool* pool,
                            sn_arena* arena, sn_arena* scratch, sn_transfer* transfer,
                            sn_error* err) {
  transfer_job job = {.fine = fine, .coarse = coarse, .transfer = transfer};
  SN_CHECK(fine->node_count <= 1u << SN_ENTRY_NODE_BITS, err, SN_ERR_INPUT,
           "%u nodes, at most %u are possible with multigrid; take a larger cell", fine->node_count,
           1u << SN_ENTRY_NODE_BITS);
  *transfer = (sn_transfer){.fine_count = fine->node_count, .coarse_count = coarse->node_count};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(sn_finder_make(coarse, pool, scratch, &job.finder, err));
  SN_TRY(build_rows(&job, pool, arena, scratch, err));
  SN_TRY(build_columns(&job, pool, arena, scratch, err));
  SN_TRY(SN_ARENA_RAW(arena, (size_t)coarse->cell_count + 1, &transfer->first_cells, err));
  sn_parallel_for(pool, coarse->cell_count, 4096, map_cells, &job);
  transfer->first_cells[coarse->cell_count] = fine->cell_count;
  sn_arena_release(scratch, mark);
  return SN_OK;
}

typedef struct move_job {
  const sn_transfer* transfer;
  const float* from;
  float* to;
  float scale;
} move_job;

static void prolong(void* ctx, size_t begin, size_t end) {
  const move_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    sn_quad_f value = job->scale * sn_transfer_at_fine(job->transfer, job->from, (uint32_t)n);
    float* to = job->to + 3 * n;
    for (int i = 0; i < 3; ++i) to[i] += value[i];
  }
}

static void restrict_values(void* ctx, size_t begin, size_t end) {
  const move_job* job = ctx;
  const sn_transfer* t = job->transfer;
  for (size_t n = begin; n < end; ++n) {
    sn_quad_f sum = {0, 0, 0, 0};
    for (uint32_t e = t->coarse_starts[n]; e < t->coarse_starts[n + 1]; ++e) {
      uint32_t entry = t->fine_nodes[e];
      sum += (float)sn_entry_weight(entry) *
             sn_quad_load3_f(job->from, sn_entry_node(entry), t->fine_count - 1);
    }
    sn_quad_store3_f((1.0f / SN_TRANSFER_ONE) * sum, job->to + 3 * n);
  }
}

void sn_transfer_prolong(const sn_transfer* t, sn_pool* pool, float scale, const float* coarse,
                         float* fine) {
  move_job job = {t, coarse, fine, scale};
  sn_parallel_for(pool, t->fine_count, 1024, prolong, &job);
}

void sn_transfer_restrict(const sn_transfer* t, sn_pool* pool, const float* fine, float* coarse) {
  move_job job = {.transfer = t, .from = fine, .to = coarse};
  sn_parallel_for(pool, t->coarse_count, 1024, restrict_values, &job);
}
