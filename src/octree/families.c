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
  uint32_t* cells;   // the cell at each place, or SN_NO_CELL ([packet][child][lane])
  uint32_t* counts;  // distinct nodes of each chunk (chunk_count)
  uint32_t* nodes;   // those nodes, as they first appear (SN_CHUNK_MAX_NODES a chunk)
  uint32_t* owners;  // chunk of each node (node_count)
  const uint32_t* ranks;
} family_job;

static uint32_t packets_end(const sn_families* families, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_PACKETS;
  return end < families->packet_count ? (uint32_t)end : families->packet_count;
}

// Families in the order of their first cells. Below a family's parent there may be others, of smaller
// cells, so one family a height can be open at a time.
static uint32_t number_families(const sn_octree* tree, uint32_t* places) {
  sn_octant parents[SN_MAX_HEIGHT + 2];
  uint32_t open[SN_MAX_HEIGHT + 2], count = 0;
  memset(open, 0xff, sizeof open);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant parent = sn_octant_parent(tree->cells[e]);
    int height = parent.height;
    if (open[height] == UINT32_MAX || sn_octant_compare(parents[height], parent) != 0) {
      open[height] = count++;
      parents[height] = parent;
    }
    uint32_t family = open[height];
    places[e] = family / LANES * SN_PACKET_CELLS +
                (uint32_t)sn_octant_child_number(tree->cells[e]) * LANES + family % LANES;
  }
  return count;
}

static void place_cells(void* ctx, size_t begin, size_t end) {
  family_job* job = ctx;
  for (size_t e = begin; e < end; ++e) job->cells[job->families->places[e]] = (uint32_t)e;
}

// The edge of a family's cells; that of the finest for a lane without a family.
static double edge_of(const family_job* job, const uint32_t* cells) {
  for (int k = 0; k < 8; ++k) {
    if (cells[k * LANES] != SN_NO_CELL) return sn_octree_edge(job->tree, cells[k * LANES]);
  }
  return job->tree->cell;
}

// The nodes at the lattice points of one family, and which points hang. In place of a hanging corner
// a cell names the parent's corner of the same number.
static uint32_t find_points(const family_job* job, const uint32_t* cells, uint32_t points[POINTS]) {
  uint32_t hanging = 0;
  for (int p = 0; p < POINTS; ++p) points[p] = NO_NODE;
  for (int k = 0; k < 8; ++k) {
    uint32_t cell = cells[k * LANES];
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

// Nodes seen so far by a chunk, by open addressing.
#define TABLE_SIZE 16384
typedef struct node_table {
  uint32_t keys[TABLE_SIZE];
  uint16_t values[TABLE_SIZE];
} node_table;

_Static_assert(2 * SN_CHUNK_MAX_NODES < TABLE_SIZE, "the table stays half empty");

static uint16_t number_of(node_table* table, uint32_t node, uint32_t* nodes, uint32_t* count) {
  uint32_t at = node * 2654435761u >> 18;
  while (table->keys[at] != node) {
    if (table->keys[at] == NO_NODE) {
      table->keys[at] = node;
      table->values[at] = (uint16_t)*count;
      nodes[(*count)++] = node;
      break;
    }
    at = (at + 1) % TABLE_SIZE;
  }
  return table->values[at];
}

// Local numbers as nodes first appear. Points without a node get UINT16_MAX for now.
static void number_points(void* ctx, size_t begin, size_t end) {
  family_job* job = ctx;
  sn_families* f = job->families;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    node_table table;
    memset(table.keys, 0xff, sizeof table.keys);
    uint32_t* nodes = job->nodes + chunk * SN_CHUNK_MAX_NODES;
    for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < packets_end(f, chunk);
         ++packet) {
      for (int lane = 0; lane < LANES; ++lane) {
        uint32_t points[POINTS];
        const uint32_t* cells = job->cells + (size_t)packet * SN_PACKET_CELLS + lane;
        f->edges[packet * LANES + lane] = edge_of(job, cells);
        f->hanging[packet * LANES + lane] = find_points(job, cells, points);
        uint16_t* local = f->local + (size_t)packet * POINTS * LANES + lane;
        for (int p = 0; p < POINTS; ++p) {
          local[p * LANES] = points[p] == NO_NODE
                                 ? UINT16_MAX
                                 : number_of(&table, points[p], nodes, &job->counts[chunk]);
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
      if (job->owners[nodes[i]] != UINT32_MAX) continue;
      job->owners[nodes[i]] = chunk;
      f->own_counts[chunk]++;
    }
    f->node_starts[chunk + 1] = f->node_starts[chunk] + job->counts[chunk];
    f->slot_starts[chunk + 1] = f->slot_starts[chunk] + job->counts[chunk] - f->own_counts[chunk];
  }
}

// Own nodes of all chunks in ascending order, so that a chunk reads and writes them like a stream.
// ranks: the place of each node among those of its owner.
static void rank_nodes(family_job* job, uint32_t* ranks, uint32_t* filled) {
  sn_families* f = job->families;
  for (uint32_t n = 0; n < job->tree->node_count; ++n) {
    uint32_t chunk = job->owners[n];
    ranks[n] = filled[chunk]++;
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
  for (uint32_t n = 0; n < nodes; ++n) f->shared_count += starts[n] > 0;
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
  uint32_t families = number_families(tree, f->places);
  f->packet_count = (families + LANES - 1) / LANES;
  f->chunk_count = (f->packet_count + SN_CHUNK_PACKETS - 1) / SN_CHUNK_PACKETS;
  size_t lanes = (size_t)f->packet_count * LANES, chunks = f->chunk_count;
  SN_TRY(SN_ARENA_RAW(arena, lanes * POINTS, &f->local, err));
  SN_TRY(SN_ARENA_RAW(arena, lanes, &f->hanging, err));
  SN_TRY(SN_ARENA_RAW(arena, lanes, &f->edges, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks + 1, &f->node_starts, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks, &f->own_counts, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks + 1, &f->slot_starts, err));

  SN_TRY(SN_ARENA_RAW(scratch, 8 * lanes, &job.cells, err));
  SN_TRY(SN_ARENA_NEW(scratch, chunks, &job.counts, err));
  SN_TRY(SN_ARENA_RAW(scratch, chunks * SN_CHUNK_MAX_NODES, &job.nodes, err));
  SN_TRY(SN_ARENA_RAW(scratch, (size_t)tree->node_count + 1, &job.owners, err));
  memset(job.cells, 0xff, 8 * lanes * sizeof *job.cells);
  sn_parallel_for(pool, tree->cell_count, 4096, place_cells, &job);
  sn_parallel_for(pool, chunks, 1, number_points, &job);
  find_owners(&job);
  SN_TRY(SN_ARENA_RAW(arena, f->node_starts[chunks], &f->chunk_nodes, err));
  uint32_t *ranks, *filled;
  SN_TRY(SN_ARENA_RAW(scratch, tree->node_count, &ranks, err));
  SN_TRY(SN_ARENA_NEW(scratch, chunks, &filled, err));
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
