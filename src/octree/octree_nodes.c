// Places of the grid in blocks of 16 x 16 x 16, a bit each, in Morton order. Every cell marks its
// corners, and the middles of its edges and faces: by the 2:1 rule these are the only places on it
// where a corner of another cell can hang. The corners that are no middles are the nodes, and the
// number of a node is the count of bits before its own. Nothing is searched for but blocks.
//
// The unit of the blocks is the smallest cell of the tree, not of the grid, so that a coarser tree
// has as few of them as a fine one.
#include "octree/octree_nodes.h"

#include "octree/families.h"
#include "octree/octant_list.h"

#define BLOCK_HEIGHT 4  // in units
#define BLOCK_UNITS (1 << BLOCK_HEIGHT)
#define WORDS (BLOCK_UNITS * BLOCK_UNITS * BLOCK_UNITS / 64)

// The code of a place relative to a block, as far as one coordinate goes, 0..15 within the block. A 16
// sets the bit 12, 13 or 14: the place is in the next block on that axis.
static int code_of(int coordinate, int axis) { return (int)(sn_spread_bits[coordinate] << axis); }

typedef struct place_block {
  uint64_t corners[WORDS];
  uint64_t middles[WORDS];
  uint64_t nodes[WORDS];
  uint16_t before[WORDS];  // nodes of the block in earlier words
  uint32_t first_node;
} place_block;

// The cells of a block that are smaller than it, and the blocks that they have places in.
typedef struct run {
  sn_octant anchor;
  place_block* blocks[8];
  uint32_t begin, end;  // cells
} run;

typedef struct numbering {
  sn_octree* tree;
  int unit_height;     // of the smallest cell
  sn_octants starts;   // the blocks that have cells smaller than themselves; those are consecutive
  run* runs;           // of each
  sn_octants large;    // cells that are as large as a block or larger
  sn_octants anchors;  // of all blocks that have places
  place_block* blocks;
  int colour;
} numbering;

static int block_height(const numbering* job) { return job->unit_height + BLOCK_HEIGHT; }

// Cells as large as a block or larger: few, and each has its places in many blocks.
static bool is_large(const numbering* job, sn_octant cell) {
  return cell.height >= block_height(job);
}

static sn_octant block_around(const numbering* job, uint32_t x, uint32_t y, uint32_t z) {
  uint32_t mask = ~((1u << block_height(job)) - 1u);
  return (sn_octant){(uint16_t)(x & mask), (uint16_t)(y & mask), (uint16_t)(z & mask), 0, 0};
}

static place_block* find_block(const numbering* job, sn_octant anchor) {
  size_t at = sn_octants_lower_bound(job->anchors, anchor);
  SN_ASSERT(at < job->anchors.count && sn_octant_compare(job->anchors.items[at], anchor) == 0);
  return &job->blocks[at];
}

// ---- Which blocks there are

static bool are_in_one_block(const numbering* job, sn_octant a, sn_octant b) {
  return ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z)) >> block_height(job) == 0;
}

// A large cell, or the block that begins with a cell: that has the height 0.
static size_t emit_unit(const void* context, size_t index, sn_octant* out) {
  const numbering* job = context;
  const sn_octant* cells = job->tree->cells;
  sn_octant cell = cells[index];
  bool large = is_large(job, cell),
       follows = !large && index > 0 && !is_large(job, cells[index - 1]);
  if (follows && are_in_one_block(job, cells[index - 1], cell)) return 0;
  if (out) out[0] = large ? cell : block_around(job, cell.x, cell.y, cell.z);
  return 1;
}

static sn_status find_units(numbering* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  sn_octants units;
  SN_TRY(sn_octants_emit(pool, job->tree->cell_count, emit_unit, job, scratch, &units, err));
  SN_TRY(SN_ARENA_RAW(scratch, units.count, &job->starts.items, err));
  SN_TRY(SN_ARENA_RAW(scratch, units.count, &job->large.items, err));
  for (size_t i = 0; i < units.count; ++i) {
    sn_octants* list = is_large(job, units.items[i]) ? &job->large : &job->starts;
    list->items[list->count++] = units.items[i];
  }
  return SN_OK;
}

// Block `side` of the eight that the cells of a run have places in. False: beyond the grid.
static bool block_beside(const numbering* job, sn_octant block, int side, sn_octant* beside) {
  uint32_t size = 1u << block_height(job);
  uint32_t x = block.x + (side & 1 ? size : 0), y = block.y + (side >> 1 & 1 ? size : 0),
           z = block.z + (side >> 2 & 1 ? size : 0);
  *beside = (sn_octant){(uint16_t)x, (uint16_t)y, (uint16_t)z, 0, 0};
  return x <= UINT16_MAX && y <= UINT16_MAX && z <= UINT16_MAX;
}

static size_t emit_blocks_of_run(const void* context, size_t index, sn_octant* out) {
  const numbering* job = context;
  size_t count = 0;
  for (int side = 0; side < 8; ++side) {
    sn_octant beside;
    if (!block_beside(job, job->starts.items[index], side, &beside)) continue;
    if (out) out[count] = beside;
    ++count;
  }
  return count;
}

// Place `n` of the 27 at the corners, in the middles and in the centre of a cell; `middles` counts
// the axes on which it is in the middle.
static void place_of_cell(sn_octant cell, int n, uint32_t place[3], int* middles) {
  uint32_t half = sn_octant_size(cell) / 2;
  int step[3] = {n % 3, n / 3 % 3, n / 9};
  place[0] = cell.x + half * (uint32_t)step[0];
  place[1] = cell.y + half * (uint32_t)step[1];
  place[2] = cell.z + half * (uint32_t)step[2];
  *middles = (step[0] == 1) + (step[1] == 1) + (step[2] == 1);
}

static size_t emit_blocks_of_large(const void* context, size_t index, sn_octant* out) {
  const numbering* job = context;
  size_t count = 0;
  for (int n = 0; n < 27; ++n) {
    uint32_t place[3];
    int middles;
    place_of_cell(job->large.items[index], n, place, &middles);
    if (middles == 3) continue;
    if (out) out[count] = block_around(job, place[0], place[1], place[2]);
    ++count;
  }
  return count;
}

static sn_status find_blocks(numbering* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  sn_octants of_runs, of_large;
  job->unit_height = sn_octree_smallest(job->tree);
  SN_TRY(find_units(job, pool, scratch, err));
  SN_TRY(sn_octants_emit(pool, job->starts.count, emit_blocks_of_run, job, scratch, &of_runs, err));
  SN_TRY(
      sn_octants_emit(pool, job->large.count, emit_blocks_of_large, job, scratch, &of_large, err));
  SN_TRY(sn_octants_join(pool, (sn_octants[]){of_runs, of_large}, 2, scratch, &job->anchors, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->starts.count, &job->runs, err));
  return SN_ARENA_NEW(scratch, job->anchors.count, &job->blocks, err);
}

// ---- The cells of a run and the blocks around it

static run find_run(const numbering* job, sn_octant anchor) {
  const sn_octree* tree = job->tree;
  run r = {.anchor = anchor};
  sn_octants cells = {tree->cells, tree->cell_count};
  r.begin = (uint32_t)sn_octants_lower_bound(cells, anchor);
  for (r.end = r.begin; r.end < tree->cell_count; ++r.end) {
    if (!are_in_one_block(job, anchor, tree->cells[r.end])) break;
  }
  for (int side = 0; side < 8; ++side) {
    sn_octant beside;
    if (block_beside(job, anchor, side, &beside)) r.blocks[side] = find_block(job, beside);
  }
  return r;
}

static void find_runs(void* context, size_t begin, size_t end) {
  const numbering* job = context;
  for (size_t i = begin; i < end; ++i) job->runs[i] = find_run(job, job->starts.items[i]);
}

// Cells that follow one another and have the same parent: their corners are points of one lattice, of which the
// parent's own corners are the ends (families.h).
typedef struct siblings {
  uint32_t begin, end;
  uint32_t points;  // that cells have as corners, a bit each
  int codes[SN_FAMILY_POINTS];
} siblings;

// Codes of the coordinates of a parent's lattice with so many steps to an edge, from the run's anchor.
static void spread_steps(const numbering* job, const run* r, sn_octant parent, int steps,
                         int codes[3][5]) {
  int unit = job->unit_height, step = (1 << (parent.height - unit)) / steps;
  int low[3] = {(parent.x - r->anchor.x) >> unit, (parent.y - r->anchor.y) >> unit,
                (parent.z - r->anchor.z) >> unit};
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i <= steps; ++i) codes[axis][i] = code_of(low[axis] + i * step, axis);
  }
}

static siblings get_siblings(const numbering* job, const run* r, uint32_t begin) {
  const sn_octant* cells = job->tree->cells;
  siblings s = {.begin = begin, .end = begin};
  for (; s.end < r->end && sn_octant_are_siblings(cells[begin], cells[s.end]); ++s.end) {
    s.points |= sn_family_corners(sn_octant_child_number(cells[s.end]));
  }
  int codes[3][5];
  spread_steps(job, r, sn_octant_parent(cells[begin]), 2, codes);
  for (int p = 0; p < SN_FAMILY_POINTS; ++p) {
    s.codes[p] = codes[0][p % 3] | codes[1][p / 3 % 3] | codes[2][p / 9];
  }
  return s;
}

static void set_bit(uint64_t* words, int code) { words[code >> 6 & 63] |= 1ull << (code & 63); }

// ---- Marking

// Middles of edges and faces of a cell are points of the lattice with four steps to its parent's edge.
static void mark_middles(const run* r, int codes[3][5], int child) {
  const int *x = codes[0] + 2 * (child & 1), *y = codes[1] + 2 * (child >> 1 & 1),
            *z = codes[2] + 2 * (child >> 2);
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 3; ++i) {
        int middles = (i & 1) + (j & 1) + (k & 1), code = x[i] | y[j] | z[k];
        if (middles == 1 || middles == 2) set_bit(r->blocks[code >> 12]->middles, code);
      }
    }
  }
}

static void mark_siblings(const numbering* job, const run* r, const siblings* s) {
  const sn_octant* cells = job->tree->cells;
  for (uint32_t left = s->points; left; left &= left - 1) {
    int code = s->codes[__builtin_ctz(left)];
    set_bit(r->blocks[code >> 12]->corners, code);
  }
  if (cells[s->begin].height == job->unit_height) return;  // no cell can have a corner there
  int codes[3][5];
  spread_steps(job, r, sn_octant_parent(cells[s->begin]), 4, codes);
  for (uint32_t e = s->begin; e < s->end; ++e) {
    mark_middles(r, codes, sn_octant_child_number(cells[e]));
  }
}

// Runs two blocks apart on each axis mark different blocks, so those of one colour may run at once.
static void mark_runs(void* context, size_t begin, size_t end) {
  const numbering* job = context;
  int shift = block_height(job);
  for (size_t i = begin; i < end; ++i) {
    const run* r = &job->runs[i];
    sn_octant a = r->anchor;
    int colour = (a.x >> shift & 1) | (a.y >> shift & 1) << 1 | (a.z >> shift & 1) << 2;
    if (colour != job->colour) continue;
    for (siblings s = {.end = r->begin}; s.end < r->end;) {
      s = get_siblings(job, r, s.end);
      mark_siblings(job, r, &s);
    }
  }
}

// The block of any place, and the place's code in it.
static place_block* locate(const numbering* job, const uint32_t place[3], int* code) {
  sn_octant anchor = block_around(job, place[0], place[1], place[2]);
  int unit = job->unit_height;
  *code = code_of((int)(place[0] - anchor.x) >> unit, 0) |
          code_of((int)(place[1] - anchor.y) >> unit, 1) |
          code_of((int)(place[2] - anchor.z) >> unit, 2);
  return find_block(job, anchor);
}

static void mark_large(const numbering* job) {
  for (size_t i = 0; i < job->large.count; ++i) {
    for (int n = 0; n < 27; ++n) {
      uint32_t place[3];
      int middles, code;
      place_of_cell(job->large.items[i], n, place, &middles);
      if (middles == 3) continue;
      place_block* block = locate(job, place, &code);
      set_bit(middles ? block->middles : block->corners, code);
    }
  }
}

// ---- Numbering

// The node at a place, or UINT32_MAX where it hangs.
static uint32_t node_at(const place_block* block, int code) {
  int word = code >> 6 & 63;
  uint64_t bit = 1ull << (code & 63);
  if (!(block->nodes[word] & bit)) return UINT32_MAX;
  return block->first_node + block->before[word] + sn_bit_count(block->nodes[word] & (bit - 1));
}

// Leaves the count of nodes in first_node.
static void count_nodes(void* context, size_t begin, size_t end) {
  const numbering* job = context;
  for (size_t b = begin; b < end; ++b) {
    place_block* block = &job->blocks[b];
    uint32_t count = 0;
    for (int w = 0; w < WORDS; ++w) {
      block->nodes[w] = block->corners[w] & ~block->middles[w];
      block->before[w] = (uint16_t)count;
      count += sn_bit_count(block->nodes[w]);
    }
    block->first_node = count;
  }
}

static void write_nodes(void* context, size_t begin, size_t end) {
  const numbering* job = context;
  for (size_t b = begin; b < end; ++b) {
    const place_block* block = &job->blocks[b];
    sn_octant anchor = job->anchors.items[b];
    sn_octant* out = job->tree->nodes + block->first_node;
    for (int w = 0; w < WORDS; ++w) {
      for (uint64_t bits = block->nodes[w]; bits; bits &= bits - 1) {
        uint64_t code = 64 * (uint64_t)w + (uint64_t)__builtin_ctzll(bits);
        sn_octant place = sn_octant_at(code);
        *out++ = (sn_octant){(uint16_t)(anchor.x + (place.x << job->unit_height)),
                             (uint16_t)(anchor.y + (place.y << job->unit_height)),
                             (uint16_t)(anchor.z + (place.z << job->unit_height)), 0, 0};
      }
    }
  }
}

// Where a corner hangs, the parent's corner of the same number stands for it.
static void connect_siblings(const numbering* job, const run* r, const siblings* s) {
  uint32_t at[SN_FAMILY_POINTS], hanging = 0;
  for (int p = 0; p < SN_FAMILY_POINTS; ++p) {
    at[p] = node_at(r->blocks[s->codes[p] >> 12], s->codes[p]);
    hanging |= (uint32_t)(at[p] == UINT32_MAX) << p;
  }
  for (uint32_t e = s->begin; e < s->end; ++e) {
    int child = sn_octant_child_number(job->tree->cells[e]), hang = 0;
    uint32_t* nodes = job->tree->conforming + 8 * (size_t)e;
    for (int c = 0; c < 8; ++c) nodes[c] = at[sn_family_corner(child, c)];
    for (int c = 0; c < 8 && (hanging & sn_family_corners(child)); ++c) {
      if (nodes[c] != UINT32_MAX) continue;
      hang |= 1 << c;
      nodes[c] = at[sn_family_corner(c, c)];
      SN_ASSERT(nodes[c] != UINT32_MAX);
    }
    job->tree->hanging[e] = (uint8_t)hang;
  }
}

static void connect_runs(void* context, size_t begin, size_t end) {
  const numbering* job = context;
  for (size_t i = begin; i < end; ++i) {
    const run* r = &job->runs[i];
    for (siblings s = {.end = r->begin}; s.end < r->end;) {
      s = get_siblings(job, r, s.end);
      connect_siblings(job, r, &s);
    }
  }
}

static uint32_t node_at_corner(const numbering* job, sn_octant cell, int corner) {
  uint32_t size = sn_octant_size(cell);
  uint32_t place[3] = {cell.x + (corner & 1 ? size : 0), cell.y + (corner >> 1 & 1 ? size : 0),
                       cell.z + (corner >> 2 & 1 ? size : 0)};
  int code;
  const place_block* block = locate(job, place, &code);
  return node_at(block, code);
}

static void connect_large(void* context, size_t begin, size_t end) {
  const numbering* job = context;
  sn_octants cells = {job->tree->cells, job->tree->cell_count};
  for (size_t i = begin; i < end; ++i) {
    sn_octant cell = job->large.items[i];
    size_t e = sn_octants_lower_bound(cells, cell);
    int hanging = 0;
    for (int c = 0; c < 8; ++c) {
      uint32_t node = node_at_corner(job, cell, c);
      bool hangs = node == UINT32_MAX;
      if (hangs) node = node_at_corner(job, sn_octant_parent(cell), c);
      SN_ASSERT(node != UINT32_MAX);
      hanging |= hangs << c;
      job->tree->conforming[8 * e + (size_t)c] = node;
    }
    job->tree->hanging[e] = (uint8_t)hanging;
  }
}

static sn_status number_nodes(sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* corners,
                              sn_arena* scratch, sn_error* err) {
  numbering job = {.tree = tree};
  SN_TRY(find_blocks(&job, pool, scratch, err));
  sn_parallel_for(pool, job.starts.count, 8, find_runs, &job);
  mark_large(&job);
  for (job.colour = 0; job.colour < 8; ++job.colour) {
    sn_parallel_for(pool, job.starts.count, 8, mark_runs, &job);
  }
  sn_parallel_for(pool, job.anchors.count, 8, count_nodes, &job);
  size_t total = 0;
  for (size_t b = 0; b < job.anchors.count; ++b) {
    uint32_t count = job.blocks[b].first_node;
    job.blocks[b].first_node = (uint32_t)total;
    total += count;
  }
  SN_CHECK(total < UINT32_MAX, err, SN_ERR_INPUT,
           "%zu nodes, at most %u are possible; take a larger cell", total, UINT32_MAX - 1);
  tree->node_count = (uint32_t)total;
  SN_TRY(SN_ARENA_RAW(arena, total, &tree->nodes, err));
  SN_TRY(SN_ARENA_RAW(arena, tree->cell_count, &tree->hanging, err));
  SN_TRY(SN_ARENA_RAW(corners, 8 * (size_t)tree->cell_count, &tree->conforming, err));
  sn_parallel_for(pool, job.anchors.count, 8, write_nodes, &job);
  sn_parallel_for(pool, job.starts.count, 8, connect_runs, &job);
  sn_parallel_for(pool, job.large.count, 64, connect_large, &job);
  return SN_OK;
}

sn_status sn_octree_number_nodes(sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* corners,
                                 sn_arena* scratch, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = number_nodes(tree, pool, arena, corners, scratch, err);
  sn_arena_release(scratch, mark);
  return status;
}
