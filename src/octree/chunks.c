#include "octree/chunks.h"

#include <stdlib.h>
#include <string.h>

#include "base/precision.h"

static int compare_nodes(const void* a, const void* b) {
  uint32_t p = *(const uint32_t*)a, q = *(const uint32_t*)b;
  return (p > q) - (p < q);
}

typedef struct chunk_job {
  const sn_octree* tree;
  sn_chunks* chunks;
  uint32_t* lists;   // sorted nodes of each chunk (8 x SN_CHUNK_CELLS x chunk_count)
  uint32_t* counts;  // (chunk_count)
} chunk_job;

// The distinct nodes of each chunk, and the place of each corner's node among them.
static void list_nodes(void* ctx, size_t begin, size_t end) {
  chunk_job* job = ctx;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    size_t first = 8 * (size_t)SN_CHUNK_CELLS * chunk;
    size_t corners = 8 * (size_t)sn_chunk_end(job->tree, chunk) - first;
    uint32_t* list = job->lists + first;
    memcpy(list, job->tree->conforming + first, corners * sizeof *list);
    qsort(list, corners, sizeof *list, compare_nodes);
    uint32_t count = 0;
    for (size_t c = 0; c < corners; ++c) {
      if (count == 0 || list[count - 1] != list[c]) list[count++] = list[c];
    }
    job->counts[chunk] = count;
    for (size_t c = first; c < first + corners; ++c) {
      const uint32_t* at =
          bsearch(&job->tree->conforming[c], list, count, sizeof *list, compare_nodes);
      job->chunks->local[c] = (uint16_t)(at - list);
    }
  }
}

// For each node its slots, by a counting sort over the slots in order.
static void list_slots(const sn_octree* tree, const chunk_job* job, sn_chunks* chunks) {
  uint32_t* starts = chunks->node_slot_starts;
  for (uint32_t chunk = 0; chunk < chunks->chunk_count; ++chunk) {
    const uint32_t* list = job->lists + 8 * (size_t)SN_CHUNK_CELLS * chunk;
    for (uint32_t i = 0; i < job->counts[chunk]; ++i) starts[list[i] + 1]++;
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) starts[n + 1] += starts[n];
  for (uint32_t chunk = chunks->chunk_count; chunk-- > 0;) {
    const uint32_t* list = job->lists + 8 * (size_t)SN_CHUNK_CELLS * chunk;
    for (uint32_t i = 0; i < job->counts[chunk]; ++i) {
      // Filled from the back, chunks last to first: `starts[n + 1]` moves down to its final value.
      chunks->node_slots[--starts[list[i] + 1]] = chunks->slot_starts[chunk] + i;
    }
  }
  // Each starts[n + 1] now is the start of node n; shift back by one.
  for (uint32_t n = 0; n < tree->node_count; ++n) starts[n] = starts[n + 1];
  starts[tree->node_count] = chunks->slot_count;
}

static sn_status build(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                       sn_chunks* chunks, sn_error* err) {
  uint32_t count = (tree->cell_count + SN_CHUNK_CELLS - 1) / SN_CHUNK_CELLS;
  chunk_job job = {.tree = tree, .chunks = chunks};
  chunks->chunk_count = count;
  SN_TRY(SN_ARENA_NEW(arena, 8 * (size_t)tree->cell_count, &chunks->local, err));
  SN_TRY(SN_ARENA_NEW(scratch, 8 * (size_t)SN_CHUNK_CELLS * count, &job.lists, err));
  SN_TRY(SN_ARENA_NEW(scratch, count, &job.counts, err));
  sn_parallel_for(pool, count, 1, list_nodes, &job);

  SN_TRY(SN_ARENA_NEW(arena, (size_t)count + 1, &chunks->slot_starts, err));
  for (uint32_t c = 0; c < count; ++c) {
    chunks->slot_starts[c + 1] = chunks->slot_starts[c] + job.counts[c];
  }
  chunks->slot_count = chunks->slot_starts[count];
  SN_TRY(SN_ARENA_NEW(arena, (size_t)tree->node_count + 1, &chunks->node_slot_starts, err));
  SN_TRY(SN_ARENA_NEW(arena, chunks->slot_count, &chunks->node_slots, err));
  list_slots(tree, &job, chunks);
  return SN_OK;
}

sn_status sn_chunks_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                          sn_chunks* chunks, sn_error* err) {
  *chunks = (sn_chunks){0};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = build(tree, pool, arena, scratch, chunks, err);
  sn_arena_release(scratch, mark);
  return status;
}

#define SN_REAL_IS_DOUBLE 1
#include "octree/chunks_impl.h"
#undef SN_REAL_IS_DOUBLE
#define SN_REAL_IS_DOUBLE 0
#include "octree/chunks_impl.h"
