#include "octree/families.h"

#include <string.h>

#include "base/precision.h"
#include "octree/hanging.h"

#define LANES SN_FAMILY_LANES
#define POINTS SN_FAMILY_POINTS
#define NO_NODE UINT32_MAX

typedef struct family_job {
  const sn_octree* tree;
  sn_families* families;
  uint32_t family_count;
  uint8_t* has;      // children that each family has, as first numbered
  uint32_t* order;   // packet * lanes + lane of each of these
  uint32_t* cells;   // the cell at each place, or SN_NO_CELL
  uint32_t* counts;  // distinct nodes of each chunk (chunk_count)
  uint32_t* nodes;   // those nodes, as they first appear (SN_CHUNK_MAX_NODES a chunk)
  uint32_t* owners;  // chunk of each node (node_count)
  uint8_t* shared;   // do several touch it? (node_count)
  const uint32_t* ranks;
} family_job;

static uint32_t packets_end(const sn_families* families, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_PACKETS;
  return end < families->packet_count ? (uint32_t)end : families->packet_count;
}

// Families in the order of their first cells. Below a family's parent there may be others, of smaller
// cells, so one family a height can be open at a time. @param of the family of each cell
// @param children which cells each has (cell_count at most, zero)
static uint32_t number_families(const sn_octree* tree, uint32_t* of, uint8_t* children) {
  sn_octant last[SN_MAX_HEIGHT + 1];
  uint32_t open[SN_MAX_HEIGHT + 1], count = 0;
  memset(open, 0xff, sizeof open);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant cell = tree->cells[e];
    uint32_t* family = &open[cell.height];
    bool known = *family != UINT32_MAX && sn_octant_are_siblings(last[cell.height], cell);
    if (!known) *family = count++;
    last[cell.height] = cell;
    of[e] = *family;
    children[of[e]] |= (uint8_t)(1 << sn_octant_child_number(cell));
  }
  return count;
}

// The place of a set of children in Gray's order, in which each set differs from the next by one child.
static int rank_of(uint8_t children) {
  int rank = children;
  for (int shift = 1; shift < 8; shift *= 2) rank ^= rank >> shift;
  return rank;
}

// Where each family of a chunk goes, those with the same children together, those with nearly the same beside
// them; and the children of the packets.
static void sort_families(void* ctx, size_t begin, size_t end) {
  const family_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    size_t first = chunk * SN_CHUNK_PACKETS * LANES, last = first + SN_CHUNK_PACKETS * LANES;
    uint32_t starts[257] = {0};
    if (last > job->family_count) last = job->family_count;
    for (size_t i = first; i < last; ++i) starts[rank_of(job->has[i]) + 1]++;
    for (int k = 1; k < 257; ++k) starts[k] += starts[k - 1];
    for (size_t i = first; i < last; ++i) {
      job->order[i] = (uint32_t)first + starts[rank_of(job->has[i])]++;
      job->families->children[job->order[i] / LANES] |= job->has[i];
    }
  }
}

// Rows of the packets.
static uint32_t list_rows(const family_job* job) {
  sn_families* f = job->families;
  for (uint32_t packet = 0; packet < f->packet_count; ++packet) {
    f->rows[packet + 1] = f->rows[packet] + (uint32_t)__builtin_popcount(f->children[packet]);
  }
  return f->rows[f->packet_count];
}

static void place_cells(void* ctx, size_t begin, size_t end) {
  family_job* job = ctx;
  sn_families* f = job->families;
  for (size_t e = begin; e < end; ++e) {
    uint32_t family = job->order[f->places[e]], packet = family / LANES;
    uint32_t before = (1u << sn_octant_child_number(job->tree->cells[e])) - 1;
    uint32_t row = f->rows[packet] + (uint32_t)__builtin_popcount(f->children[packet] & before);
    f->places[e] = row * LANES + family % LANES;
    job->cells[f->places[e]] = (uint32_t)e;
  }
}

// The cells of one family, or SN_NO_CELL; marks them.
static void find_cells(const family_job* job, uint32_t packet, uint32_t lane, uint32_t cells[8]) {
  for (int k = 0; k < 8; ++k) cells[k] = SN_NO_CELL;
  for (sn_family_row row = sn_family_first(job->families, packet); row.child < 8;
       row = sn_family_next(row)) {
    cells[row.child] = job->cells[(size_t)row.at * LANES + lane];
    if (cells[row.child] != SN_NO_CELL) job->families->lanes[row.at] |= (uint8_t)(1u << lane);
  }
}

// The edge of a family's cells; that of the finest for a lane without a family.
static double edge_of(const family_job* job, const uint32_t cells[8]) {
  for (int k = 0; k < 8; ++k) {
    if (cells[k] != SN_NO_CELL) return sn_octree_edge(job->tree, cells[k]);
  }
  return job->tree->cell;
}

// The nodes at the lattice points of one family, and which points hang. In place of a hanging corner
// a cell names the parent's corner of the same number.
static uint32_t find_points(const family_job* job, const uint32_t cells[8],
                            uint32_t points[POINTS]) {
  uint32_t hanging = 0;
  for (int p = 0; p < POINTS; ++p) points[p] = NO_NODE;
  for (int k = 0; k < 8; ++k) {
    uint32_t cell = cells[k];
    if (cell == SN_NO_CELL) continue;
    for (int c = 0; c < 8; ++c) {
      bool hangs = job->tree->hanging[cell] >> c & 1;
      int corner = sn_family_corner(k, c);
      if (hangs) hanging |= 1u << corner;
      points[hangs ? sn_family_corner(c, c) : corner] = job->tree->conforming[8 * (size_t)cell + c];
    }
  }
  return hanging;
}

// Where in the list of a chunk's nodes those seen so far are. Nodes of a chunk come in long runs, which stay runs in the
// table; where two overlap, the later one moves on by a step as large.
#define TABLE_SIZE 16384
#define TABLE_STEP 5417
typedef struct node_table {
  uint16_t places[TABLE_SIZE];
} node_table;

_Static_assert(2 * SN_CHUNK_MAX_NODES < TABLE_SIZE, "the table stays half empty");

static uint16_t number_of(node_table* table, uint32_t node, uint32_t* nodes, uint32_t* count) {
  uint32_t at = node % TABLE_SIZE;
  while (table->places[at] != UINT16_MAX && nodes[table->places[at]] != node) {
    at = (at + TABLE_STEP) % TABLE_SIZE;
  }
  if (table->places[at] == UINT16_MAX) {
    table->places[at] = (uint16_t)*count;
    nodes[(*count)++] = node;
  }
  return table->places[at];
}

// Local numbers as nodes first appear. Points without a node get UINT16_MAX for now.
static void number_points(void* ctx, size_t begin, size_t end) {
  family_job* job = ctx;
  sn_families* f = job->families;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    node_table table;
    memset(table.places, 0xff, sizeof table.places);
    uint32_t* nodes = job->nodes + chunk * SN_CHUNK_MAX_NODES;
    for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < packets_end(f, chunk);
         ++packet) {
      for (uint32_t lane = 0; lane < LANES; ++lane) {
        uint32_t points[POINTS], cells[8];
        find_cells(job, packet, lane, cells);
        f->edges[packet * LANES + lane] = edge_of(job, cells);
        f->hanging[packet * LANES + lane] = find_points(job, cells, points);
        uint16_t* local = f->local + (size_t)packet * POINTS * LANES + lane;
        for (int p = 0; p < POINTS; ++p) {
          local[p * LANES] = points[p] == NO_NODE
                                 ? UINT16_MAX
                                 : number_of(&table, points[p], nodes, &job->counts[chunk]);
          f->points[packet] |= points[p] == NO_NODE ? 0 : 1u << p;
        }
      }
    }
  }
}

// The first chunk that touches a node owns it.
static void find_owners(family_job* job) {
  sn_families* f = job->families;
  memset(job->owners, 0xff, job->tree->node_count * sizeof *job->owners);
  for (uint32_t chunk = 0; chunk < f->chunk_count; ++chunk) {
    const uint32_t* nodes = job->nodes + (size_t)chunk * SN_CHUNK_MAX_NODES;
    for (uint32_t i = 0; i < job->counts[chunk]; ++i) {
      uint32_t owner = job->owners[nodes[i]];
      if (owner == UINT32_MAX) {
        job->owners[nodes[i]] = chunk;
        f->own_counts[chunk]++;
        f->inner_counts[chunk]++;
      } else if (!job->shared[nodes[i]]) {
        job->shared[nodes[i]] = 1;
        f->inner_counts[owner]--;
        f->shared_count++;
      }
    }
    f->node_starts[chunk + 1] = f->node_starts[chunk] + job->counts[chunk];
    f->slot_starts[chunk + 1] = f->slot_starts[chunk] + job->counts[chunk] - f->own_counts[chunk];
  }
}

// Own nodes of all chunks in ascending order, inner ones first, so that a chunk reads and writes them like
// streams. ranks: the place of each node among those of its owner.
// @param filled how many inner and how many shared nodes of each chunk have their place (2 x chunk_count, zero)
static void rank_nodes(family_job* job, uint32_t* ranks, uint32_t* filled) {
  sn_families* f = job->families;
  for (uint32_t n = 0; n < job->tree->node_count; ++n) {
    uint32_t chunk = job->owners[n], shared = job->shared[n];
    ranks[n] = filled[2 * chunk + shared]++ + shared * f->inner_counts[chunk];
    f->chunk_nodes[f->node_starts[chunk] + ranks[n]] = n;
  }
  job->ranks = ranks;
}

// Behind the own nodes the halo, as it first appeared; points without a node get the number behind
// them all.
static void order_nodes(void* ctx, size_t begin, size_t end) {
  family_job* job = ctx;
  sn_families* f = job->families;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    uint16_t places[SN_CHUNK_MAX_NODES];
    const uint32_t* nodes = job->nodes + chunk * SN_CHUNK_MAX_NODES;
    uint32_t halo = f->own_counts[chunk], count = job->counts[chunk];
    for (uint32_t i = 0; i < count; ++i) {
      bool own = job->owners[nodes[i]] == chunk;
      uint32_t place = own ? job->ranks[nodes[i]] : halo++;
      places[i] = (uint16_t)place;
      if (!own) f->chunk_nodes[f->node_starts[chunk] + place] = nodes[i];
    }
    size_t first = chunk * SN_CHUNK_PACKETS * POINTS * LANES;
    size_t last = (size_t)packets_end(f, chunk) * POINTS * LANES;
    for (size_t i = first; i < last; ++i) {
      f->local[i] = f->local[i] == UINT16_MAX ? (uint16_t)count : places[f->local[i]];
    }
  }
}

// Slots by node: a counting sort over the halos. @param starts (node_count + 1), zero
static sn_status list_shared(const family_job* job, uint32_t* starts, sn_arena* arena,
                             sn_error* err) {
  sn_families* f = job->families;
  uint32_t nodes = job->tree->node_count;
  for (uint32_t chunk = 0; chunk < f->chunk_count; ++chunk) {
    uint32_t first = f->node_starts[chunk] + f->own_counts[chunk];
    for (uint32_t i = first; i < f->node_starts[chunk + 1]; ++i) starts[f->chunk_nodes[i]]++;
  }
  SN_TRY(SN_ARENA_NEW(arena, f->shared_count, &f->shared_nodes, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)f->shared_count + 1, &f->shared_starts, err));
  SN_TRY(SN_ARENA_NEW(arena, sn_families_slot_count(f), &f->shared_slots, err));
  uint32_t at = 0, shared = 0;
  for (uint32_t n = 0; n < nodes; ++n) {
    uint32_t count = starts[n];
    starts[n] = at;
    if (count == 0) continue;
    f->shared_nodes[shared] = n;
    f->shared_starts[shared++] = at;
    at += count;
  }
  f->shared_starts[shared] = at;
  for (uint32_t chunk = 0; chunk < f->chunk_count; ++chunk) {
    uint32_t first = f->node_starts[chunk] + f->own_counts[chunk];
    for (uint32_t i = first; i < f->node_starts[chunk + 1]; ++i) {
      f->shared_slots[starts[f->chunk_nodes[i]]++] = f->slot_starts[chunk] + (i - first);
    }
  }
  return SN_OK;
}

static sn_status build(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                       sn_families* f, sn_error* err) {
  family_job job = {.tree = tree, .families = f};
  SN_TRY(SN_ARENA_RAW(arena, tree->cell_count, &f->places, err));
  SN_TRY(SN_ARENA_NEW(scratch, tree->cell_count, &job.has, err));
  job.family_count = number_families(tree, f->places, job.has);
  f->packet_count = (job.family_count + LANES - 1) / LANES;
  f->chunk_count = (f->packet_count + SN_CHUNK_PACKETS - 1) / SN_CHUNK_PACKETS;
  size_t lanes = (size_t)f->packet_count * LANES, chunks = f->chunk_count;
  SN_TRY(SN_ARENA_RAW(scratch, job.family_count, &job.order, err));
  SN_TRY(SN_ARENA_NEW(arena, f->packet_count, &f->children, err));
  SN_TRY(SN_ARENA_NEW(arena, f->packet_count, &f->points, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)f->packet_count + 1, &f->rows, err));
  sn_parallel_for(pool, chunks, 1, sort_families, &job);
  size_t row_count = list_rows(&job), places = row_count * LANES;
  SN_TRY(SN_ARENA_RAW(arena, row_count, &f->packets, err));
  SN_TRY(SN_ARENA_NEW(arena, row_count, &f->lanes, err));
  for (uint32_t packet = 0; packet < f->packet_count; ++packet) {
    for (uint32_t row = f->rows[packet]; row < f->rows[packet + 1]; ++row) f->packets[row] = packet;
  }
  SN_TRY(SN_ARENA_RAW(arena, lanes * POINTS, &f->local, err));
  SN_TRY(SN_ARENA_RAW(arena, lanes, &f->hanging, err));
  SN_TRY(SN_ARENA_RAW(arena, lanes, &f->edges, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks + 1, &f->node_starts, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks, &f->own_counts, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks, &f->inner_counts, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks + 1, &f->slot_starts, err));

  SN_TRY(SN_ARENA_RAW(scratch, places, &job.cells, err));
  SN_TRY(SN_ARENA_NEW(scratch, chunks, &job.counts, err));
  SN_TRY(SN_ARENA_RAW(scratch, chunks * SN_CHUNK_MAX_NODES, &job.nodes, err));
  SN_TRY(SN_ARENA_RAW(scratch, (size_t)tree->node_count + 1, &job.owners, err));
  SN_TRY(SN_ARENA_NEW(scratch, tree->node_count, &job.shared, err));
  memset(job.cells, 0xff, places * sizeof *job.cells);
  sn_parallel_for(pool, tree->cell_count, 4096, place_cells, &job);
  sn_parallel_for(pool, chunks, 1, number_points, &job);
  find_owners(&job);
  SN_TRY(SN_ARENA_RAW(arena, f->node_starts[chunks], &f->chunk_nodes, err));
  uint32_t *ranks, *filled;
  SN_TRY(SN_ARENA_RAW(scratch, tree->node_count, &ranks, err));
  SN_TRY(SN_ARENA_NEW(scratch, 2 * chunks, &filled, err));
  rank_nodes(&job, ranks, filled);
  sn_parallel_for(pool, chunks, 1, order_nodes, &job);
  memset(job.owners, 0, ((size_t)tree->node_count + 1) * sizeof *job.owners);
  return list_shared(&job, job.owners, arena, err);
}

sn_status sn_families_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena,
                            sn_arena* scratch, sn_families* families, sn_error* err) {
  *families = (sn_families){0};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = build(tree, pool, arena, scratch, families, err);
  sn_arena_release(scratch, mark);
  return status;
}

#define SN_REAL_IS_DOUBLE 1
#include "octree/families_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "octree/families_impl.h"
