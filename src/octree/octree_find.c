#include "math/vec.h"
#include "octree/hanging.h"
#include "octree/octant_list.h"
#include "octree/octree.h"

#define MIN_CELLS 4096

// Negative numbers have the highest bits.
static bool is_in_root(const sn_octree* tree, int x, int y, int z) {
  return ((uint32_t)x | (uint32_t)y | (uint32_t)z) >> tree->root_height == 0;
}

uint32_t sn_octree_find(const sn_octree* tree, int x, int y, int z) {
  if (!is_in_root(tree, x, y, z)) return SN_NO_CELL;
  sn_octant place = {(uint16_t)x, (uint16_t)y, (uint16_t)z, 0, 0};
  sn_octants cells = {tree->cells, tree->cell_count};
  size_t at = sn_octants_lower_bound(cells, place);
  // The leaf that holds a place is the last one whose anchor is not after it.
  if (at == cells.count || sn_octant_compare(cells.items[at], place) != 0) {
    if (at == 0) return SN_NO_CELL;
    --at;
  }
  return sn_octant_holds(cells.items[at], x, y, z) ? (uint32_t)at : SN_NO_CELL;
}

int sn_octree_smallest(const sn_octree* tree) {
  int height = SN_MAX_HEIGHT;
  for (uint32_t e = 0; e < tree->cell_count && height > 0; ++e) {
    if (tree->cells[e].height < height) height = tree->cells[e].height;
  }
  return height;
}

// ---- Many places

#define BLOCK_HEIGHT 3  // above that of the smallest cell
#define BLOCK_UNITS (1 << BLOCK_HEIGHT)

typedef struct finder_job {
  sn_finder* finder;
  size_t block_size;               // of the partition of the cells
  uint32_t starts[SN_MAX_BLOCKS];  // of each: blocks that begin in it, then those before it
  uint32_t block_count;
} finder_job;

static int code_in_block(const sn_finder* finder, int x, int y, int z) {
  int unit = finder->height - BLOCK_HEIGHT, mask = BLOCK_UNITS - 1;
  return (int)(sn_spread_bits[x >> unit & mask] | sn_spread_bits[y >> unit & mask] << 1 |
               sn_spread_bits[z >> unit & mask] << 2);
}

static uint64_t code_of_block(const sn_finder* finder, int x, int y, int z) {
  int height = finder->height;
  return sn_morton((uint32_t)x >> height, (uint32_t)y >> height, (uint32_t)z >> height);
}

static bool begins_block(const sn_finder* finder, size_t cell) {
  const sn_octant* c = finder->tree->cells + cell;
  return cell == 0 ||
         ((c[0].x ^ c[-1].x) | (c[0].y ^ c[-1].y) | (c[0].z ^ c[-1].z)) >> finder->height != 0;
}

static void count_blocks(void* ctx, size_t begin, size_t end) {
  finder_job* job = ctx;
  uint32_t count = 0;
  for (size_t e = begin; e < end; ++e) count += begins_block(job->finder, e);
  job->starts[begin / job->block_size] = count;
}

// The block that begins with a cell.
static sn_finder_block make_block(const sn_finder* finder, size_t cell) {
  const sn_octree* tree = finder->tree;
  sn_octant o = tree->cells[cell];
  sn_finder_block block = {.code = code_of_block(finder, o.x, o.y, o.z), .first = (uint32_t)cell};
  do {
    o = tree->cells[cell];
    int code = code_in_block(finder, o.x, o.y, o.z);
    block.anchors[code >> 6] |= 1ull << (code & 63);
  } while (++cell < tree->cell_count && !begins_block(finder, cell));
  uint32_t count = 0;
  for (int w = 0; w < 8; ++w) {
    block.before[w] = (uint16_t)count;
    count += sn_bit_count(block.anchors[w]);
  }
  return block;
}

static void make_blocks(void* ctx, size_t begin, size_t end) {
  const finder_job* job = ctx;
  uint32_t at = job->starts[begin / job->block_size];
  for (size_t e = begin; e < end; ++e) {
    if (begins_block(job->finder, e)) job->finder->blocks[at++] = make_block(job->finder, e);
  }
}

static sn_status list_blocks(finder_job* job, sn_pool* pool, sn_arena* arena, sn_error* err) {
  uint32_t cells = job->finder->tree->cell_count;
  job->block_size = sn_block_size(cells, MIN_CELLS);
  sn_parallel_for(pool, cells, MIN_CELLS, count_blocks, job);
  for (size_t b = 0; b * job->block_size < cells; ++b) {
    uint32_t count = job->starts[b];
    job->starts[b] = job->block_count;
    job->block_count += count;
  }
  SN_TRY(SN_ARENA_RAW(arena, job->block_count, &job->finder->blocks, err));
  sn_parallel_for(pool, cells, MIN_CELLS, make_blocks, job);
  return SN_OK;
}

// A block is the first for its own upper bits and for all others since the block before.
static sn_status list_firsts(finder_job* job, sn_arena* arena, sn_error* err) {
  sn_finder* finder = job->finder;
  int top = finder->tree->root_height - finder->height;
  size_t places = 1, next = 0;  // of upper bits, a few for each block
  for (finder->shift = top > 0 ? 3 * top : 0; finder->shift > 0; finder->shift--, places *= 2) {
    if (places >= (size_t)4 * job->block_count) break;
  }
  SN_TRY(SN_ARENA_RAW(arena, places + 1, &finder->firsts, err));
  for (uint32_t b = 0; b < job->block_count; ++b) {
    while (next <= finder->blocks[b].code >> finder->shift) finder->firsts[next++] = b;
  }
  while (next <= places) finder->firsts[next++] = job->block_count;
  return SN_OK;
}

sn_status sn_finder_make(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_finder* finder,
                         sn_error* err) {
  *finder = (sn_finder){.tree = tree, .height = sn_octree_smallest(tree) + BLOCK_HEIGHT};
  finder_job job = {.finder = finder};
  SN_TRY(list_blocks(&job, pool, arena, err));
  return list_firsts(&job, arena, err);
}

// How many blocks are not after one with this code.
static uint32_t count_up_to(const sn_finder* finder, uint64_t code) {
  uint64_t bits = code >> finder->shift;
  uint32_t low = finder->firsts[bits], high = finder->firsts[bits + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    bool before = finder->blocks[middle].code <= code;
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}

uint32_t sn_finder_find(const sn_finder* finder, int x, int y, int z) {
  if (!is_in_root(finder->tree, x, y, z)) return SN_NO_CELL;
  uint64_t code = code_of_block(finder, x, y, z);
  uint32_t block_count = count_up_to(finder, code);
  if (block_count == 0) return SN_NO_CELL;
  const sn_finder_block* block = &finder->blocks[block_count - 1];
  int last = block->code == code ? code_in_block(finder, x, y, z) : 511, word = last >> 6;
  uint32_t count = block->first + block->before[word] +
                   sn_bit_count(block->anchors[word] & (~0ull >> (63 - (last & 63))));
  bool found = count > 0 && sn_octant_holds(finder->tree->cells[count - 1], x, y, z);
  return found ? count - 1 : SN_NO_CELL;
}

uint32_t sn_octree_find_node(const sn_octree* tree, uint32_t x, uint32_t y, uint32_t z) {
  sn_octants nodes = {tree->nodes, tree->node_count};
  sn_octant place = {(uint16_t)x, (uint16_t)y, (uint16_t)z, 0, 0};
  size_t at = sn_octants_lower_bound(nodes, place);
  bool found = at < nodes.count && sn_octant_compare(nodes.items[at], place) == 0;
  return found ? (uint32_t)at : UINT32_MAX;
}

sn_vec3 sn_octree_node_local(const sn_octree* tree, uint32_t node) {
  sn_octant n = tree->nodes[node];
  return sn_scale(tree->cell, sn_v3(n.x, n.y, n.z));
}

sn_vec3 sn_octree_node_place(const sn_octree* tree, uint32_t node) {
  return sn_add(tree->origin, sn_octree_node_local(tree, node));
}

sn_vec3 sn_octree_cell_centre(const sn_octree* tree, uint32_t cell) {
  sn_octant o = tree->cells[cell];
  double half = 0.5 * (double)sn_octant_size(o);
  return sn_madd(tree->origin, tree->cell, sn_v3(o.x + half, o.y + half, o.z + half));
}

typedef struct nearest_search {
  const sn_octree* tree;
  sn_vec3 point;  // in finest cells
  double best;    // squared distance
  uint32_t cell;
} nearest_search;

static double distance_squared(sn_octant o, sn_vec3 p) {
  double size = sn_octant_size(o);
  sn_vec3 low = sn_v3(o.x, o.y, o.z), high = sn_v3(o.x + size, o.y + size, o.z + size);
  sn_vec3 outside = sn_max3(sn_max3(sn_sub(low, p), sn_sub(p, high)), sn_v3(0, 0, 0));
  return sn_dot(outside, outside);
}

// Search the leaves begin..end, all below octant `o`, nearest child first.
static void search_nearest(nearest_search* search, sn_octant o, size_t begin, size_t end) {
  if (begin == end || distance_squared(o, search->point) > search->best) return;
  const sn_octant* cells = search->tree->cells;
  if (end - begin == 1) {
    double d = distance_squared(cells[begin], search->point);
    if (d < search->best || (d == search->best && begin < search->cell)) {
      search->best = d;
      search->cell = (uint32_t)begin;
    }
    return;
  }
  size_t bound[9];
  int order[8];
  double distance[8];
  bound[0] = begin;
  bound[8] = end;
  for (int c = 0; c < 8; ++c) {
    sn_octant child = sn_octant_child(o, c);
    sn_octants range = {(sn_octant*)cells + begin, end - begin};
    if (c > 0) bound[c] = begin + sn_octants_lower_bound(range, child);
    distance[c] = distance_squared(child, search->point);
    int k = c;
    for (; k > 0 && distance[order[k - 1]] > distance[c]; --k) order[k] = order[k - 1];
    order[k] = c;
  }
  for (int k = 0; k < 8; ++k) {
    int c = order[k];
    search_nearest(search, sn_octant_child(o, c), bound[c], bound[c + 1]);
  }
}

// The cell around a point (in finest cells) that is on no plane of the grid: no other is as near.
static uint32_t find_around(const sn_octree* tree, sn_vec3 p) {
  double size = 1 << tree->root_height;
  bool within = p.x > 0 && p.y > 0 && p.z > 0 && p.x < size && p.y < size && p.z < size;
  if (!within) return SN_NO_CELL;
  int x = (int)p.x, y = (int)p.y, z = (int)p.z;
  bool on_plane = p.x == x || p.y == y || p.z == z;
  return on_plane ? SN_NO_CELL : sn_octree_find(tree, x, y, z);
}

uint32_t sn_octree_nearest(const sn_octree* tree, sn_vec3 point, double xi[3]) {
  SN_ASSERT(tree->cell_count > 0);
  nearest_search search = {.tree = tree, .best = INFINITY, .cell = SN_NO_CELL};
  search.point = sn_scale(1.0 / tree->cell, sn_sub(point, tree->origin));
  search.cell = find_around(tree, search.point);
  if (search.cell == SN_NO_CELL) {
    sn_octant root = {0, 0, 0, (uint8_t)tree->root_height, 0};
    search_nearest(&search, root, 0, tree->cell_count);
  }
  sn_octree_place_in(tree, search.cell, point, 0, xi);
  return search.cell;
}

void sn_octree_place_in(const sn_octree* tree, uint32_t cell, sn_vec3 point, double reach,
                        double xi[3]) {
  sn_octant o = tree->cells[cell];
  sn_vec3 p = sn_scale(1.0 / tree->cell, sn_sub(point, tree->origin));
  double size = sn_octant_size(o);
  double place[3] = {(p.x - o.x) / size, (p.y - o.y) / size, (p.z - o.z) / size};
  double low = 0 - reach, high = 1 + reach;
  for (int i = 0; i < 3; ++i) xi[i] = place[i] < low ? low : place[i] > high ? high : place[i];
}

void sn_octree_point_weights(const sn_octree* tree, uint32_t cell, const double xi[3],
                             double weights[8]) {
  double corner[8];
  for (int c = 0; c < 8; ++c) {
    corner[c] = (c & 1 ? xi[0] : 1 - xi[0]) * (c >> 1 & 1 ? xi[1] : 1 - xi[1]) *
                (c >> 2 & 1 ? xi[2] : 1 - xi[2]);
  }
  sn_cell_shape shape = {(uint8_t)sn_octant_child_number(tree->cells[cell]), tree->hanging[cell]};
  sn_cell_corner_to_conform(shape, corner, weights);
}
