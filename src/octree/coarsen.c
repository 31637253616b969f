#include "octree/coarsen.h"

#include "octree/octant_list.h"
#include "octree/octree_nodes.h"

// Weights below this are round-off of a corner that a node coincides with.
#define SMALLEST_WEIGHT 1e-9

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
    if (children_only) {
      kept->items[kept->count++] = parent;
    } else {
      end = begin + 1;
      kept->items[kept->count++] = fine->cells[begin];
    }
  }
}

typedef struct balance_job {
  const sn_octree* fine;
  sn_octree tree;        // the coarse leaves, as far as they are
  sn_octants too_large;  // those that must give way, sorted
} balance_job;

// Is this coarse leaf one of the fine tree too?
static bool is_fine_leaf(const sn_octree* fine, sn_octant o) {
  uint32_t at = sn_octree_find(fine, o.x, o.y, o.z);
  return at != SN_NO_CELL && fine->cells[at].height == o.height;
}

// The rule of octree_build.c: all 26 neighbours of a leaf's parent must not lie in larger leaves
// than the parent. It holds for places outside the body too, so that no stand-in of a hanging corner
// hangs itself. Where it is broken the larger leaf gives way; or, if it cannot because the fine tree
// has it as well, the smaller one, which then is a parent that took its children's place.
static size_t emit_too_large(const void* ctx, size_t index, sn_octant* out) {
  const balance_job* job = ctx;
  const sn_octree* tree = &job->tree;
  sn_octant parent = sn_octant_parent(tree->cells[index]);
  int size = (int)sn_octant_size(parent);
  size_t count = 0;
  for (int n = 0; n < 27; ++n) {
    int x = parent.x + (n % 3 - 1) * size, y = parent.y + (n / 3 % 3 - 1) * size;
    uint32_t other = sn_octree_find(tree, x, y, parent.z + (n / 9 - 1) * size);
    if (other == SN_NO_CELL || tree->cells[other].height <= parent.height) continue;
    sn_octant gives_way = tree->cells[is_fine_leaf(job->fine, tree->cells[other]) ? index : other];
    if (is_fine_leaf(job->fine, gives_way)) continue;  // both are: nothing can be given up
    if (out) out[count] = gives_way;
    ++count;
  }
  return count;
}

// Put the children of parents that are too large back, from the fine tree.
static size_t emit_balanced(const void* ctx, size_t index, sn_octant* out) {
  const balance_job* job = ctx;
  sn_octant o = job->tree.cells[index];
  if (!sn_octants_contain(job->too_large, o)) {
    if (out) out[0] = o;
    return 1;
  }
  sn_octants fine = {job->fine->cells, job->fine->cell_count};
  size_t count = 0;
  for (size_t at = sn_octants_lower_bound(fine, o); at < fine.count; ++at, ++count) {
    sn_octant child = fine.items[at];
    if (!sn_octant_holds(o, child.x, child.y, child.z)) break;
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
    SN_TRY(
        sn_octants_emit(pool, leaves->count, emit_too_large, &job, scratch, &job.too_large, err));
    if (job.too_large.count == 0) return SN_OK;
    SN_TRY(sn_octants_sort(pool, job.too_large, scratch, err));
    sn_octants_unique(&job.too_large);
    SN_TRY(sn_octants_emit(pool, leaves->count, emit_balanced, &job, scratch, leaves, err));
  }
}

sn_status sn_octree_coarsen(const sn_octree* fine, sn_pool* pool, sn_arena* arena,
                            sn_arena* scratch, sn_octree* coarse, sn_error* err) {
  sn_octants leaves;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(SN_ARENA_NEW(scratch, fine->cell_count, &leaves.items, err));
  join_children(fine, &leaves);
  SN_TRY(balance(fine, &leaves, pool, scratch, err));

  *coarse =
      (sn_octree){.origin = fine->origin, .cell = fine->cell, .root_height = fine->root_height};
  SN_TRY(SN_ARENA_NEW(arena, leaves.count, &coarse->cells, err));
  for (size_t e = 0; e < leaves.count; ++e) coarse->cells[e] = leaves.items[e];
  coarse->cell_count = (uint32_t)leaves.count;
  SN_TRY(sn_octree_number_nodes(coarse, pool, arena, scratch, err));
  sn_arena_release(scratch, mark);
  return SN_OK;
}

typedef struct transfer_job {
  const sn_octree *fine, *coarse;
  sn_transfer* transfer;
  uint32_t* nodes;  // (8 x fine nodes)
  float* weights;   // (8 x fine nodes)
  uint8_t* counts;  // (fine nodes)
} transfer_job;

// A coarse cell that has the place in or on it: all such cells agree on the value there.
static uint32_t cell_at(const sn_octree* tree, int x, int y, int z) {
  for (int side = 0; side < 8; ++side) {
    uint32_t cell = sn_octree_find(tree, x - (side & 1), y - (side >> 1 & 1), z - (side >> 2 & 1));
    if (cell != SN_NO_CELL) return cell;
  }
  return SN_NO_CELL;
}

static void interpolate_nodes(void* ctx, size_t begin, size_t end) {
  transfer_job* job = ctx;
  const sn_octree* coarse = job->coarse;
  for (size_t n = begin; n < end; ++n) {
    sn_octant place = job->fine->nodes[n];
    uint32_t cell = cell_at(coarse, place.x, place.y, place.z);
    SN_ASSERT(cell != SN_NO_CELL);
    sn_octant o = coarse->cells[cell];
    double size = sn_octant_size(o), weight[8];
    double xi[3] = {(place.x - o.x) / size, (place.y - o.y) / size, (place.z - o.z) / size};
    sn_octree_point_weights(coarse, cell, xi, weight);
    for (int c = 0; c < 8; ++c) {
      if (weight[c] < SMALLEST_WEIGHT) continue;
      size_t at = 8 * n + job->counts[n]++;
      job->nodes[at] = coarse->conforming[8 * (size_t)cell + c];
      job->weights[at] = (float)weight[c];
    }
  }
}

static void pack_fine(const transfer_job* job) {
  sn_transfer* t = job->transfer;
  uint32_t at = 0;
  for (uint32_t n = 0; n < t->fine_count; ++n) {
    t->fine_starts[n] = at;
    for (int k = 0; k < job->counts[n]; ++k, ++at) {
      t->coarse_nodes[at] = job->nodes[8 * (size_t)n + k];
      t->fine_weights[at] = job->weights[8 * (size_t)n + k];
    }
  }
  t->fine_starts[t->fine_count] = at;
}

// The same entries by coarse node, fine nodes ascending: a counting sort.
static void transpose(sn_transfer* t) {
  uint32_t* starts = t->coarse_starts;
  uint32_t entries = t->fine_starts[t->fine_count];
  for (uint32_t e = 0; e < entries; ++e) starts[t->coarse_nodes[e] + 1]++;
  for (uint32_t c = 0; c < t->coarse_count; ++c) starts[c + 1] += starts[c];
  for (uint32_t n = t->fine_count; n-- > 0;) {
    for (uint32_t e = t->fine_starts[n + 1]; e-- > t->fine_starts[n];) {
      uint32_t at = --starts[t->coarse_nodes[e] + 1];
      t->fine_nodes[at] = n;
      t->coarse_weights[at] = t->fine_weights[e];
    }
  }
  for (uint32_t c = 0; c < t->coarse_count; ++c) starts[c] = starts[c + 1];
  starts[t->coarse_count] = entries;
}

// Both lists of cells are in Morton order, so one walk finds the coarse cell of every fine one.
static void map_cells(const sn_octree* fine, const sn_octree* coarse, uint32_t* coarse_cells) {
  uint32_t c = 0;
  for (uint32_t e = 0; e < fine->cell_count; ++e) {
    sn_octant o = fine->cells[e];
    while (!sn_octant_holds(coarse->cells[c], o.x, o.y, o.z)) ++c;
    coarse_cells[e] = c;
  }
}

sn_status sn_transfer_build(const sn_octree* fine, const sn_octree* coarse, sn_pool* pool,
                            sn_arena* arena, sn_arena* scratch, sn_transfer* transfer,
                            sn_error* err) {
  transfer_job job = {.fine = fine, .coarse = coarse, .transfer = transfer};
  *transfer = (sn_transfer){.fine_count = fine->node_count, .coarse_count = coarse->node_count};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(SN_ARENA_NEW(scratch, 8 * (size_t)fine->node_count, &job.nodes, err));
  SN_TRY(SN_ARENA_NEW(scratch, 8 * (size_t)fine->node_count, &job.weights, err));
  SN_TRY(SN_ARENA_NEW(scratch, fine->node_count, &job.counts, err));
  sn_parallel_for(pool, fine->node_count, 256, interpolate_nodes, &job);

  size_t entries = 0;
  for (uint32_t n = 0; n < fine->node_count; ++n) entries += job.counts[n];
  SN_TRY(SN_ARENA_NEW(arena, (size_t)fine->node_count + 1, &transfer->fine_starts, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)coarse->node_count + 1, &transfer->coarse_starts, err));
  SN_TRY(SN_ARENA_NEW(arena, entries, &transfer->coarse_nodes, err));
  SN_TRY(SN_ARENA_NEW(arena, entries, &transfer->fine_weights, err));
  SN_TRY(SN_ARENA_NEW(arena, entries, &transfer->fine_nodes, err));
  SN_TRY(SN_ARENA_NEW(arena, entries, &transfer->coarse_weights, err));
  SN_TRY(SN_ARENA_NEW(arena, fine->cell_count, &transfer->coarse_cells, err));
  pack_fine(&job);
  transpose(transfer);
  map_cells(fine, coarse, transfer->coarse_cells);
  sn_arena_release(scratch, mark);
  return SN_OK;
}

typedef struct move_job {
  const uint32_t *starts, *others;
  const float *weights, *from;
  float* to;
  bool add;
} move_job;

static void move_values(void* ctx, size_t begin, size_t end) {
  const move_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    float sum[3] = {0, 0, 0};
    for (uint32_t e = job->starts[n]; e < job->starts[n + 1]; ++e) {
      const float* from = job->from + 3 * (size_t)job->others[e];
      for (int i = 0; i < 3; ++i) sum[i] += job->weights[e] * from[i];
    }
    for (int i = 0; i < 3; ++i)
      job->to[3 * n + i] = job->add ? job->to[3 * n + i] + sum[i] : sum[i];
  }
}

void sn_transfer_prolong(const sn_transfer* t, sn_pool* pool, const float* coarse, float* fine) {
  move_job job = {t->fine_starts, t->coarse_nodes, t->fine_weights, coarse, fine, true};
  sn_parallel_for(pool, t->fine_count, 1024, move_values, &job);
}

void sn_transfer_restrict(const sn_transfer* t, sn_pool* pool, const float* fine, float* coarse) {
  move_job job = {t->coarse_starts, t->fine_nodes, t->coarse_weights, fine, coarse, false};
  sn_parallel_for(pool, t->coarse_count, 1024, move_values, &job);
}
