// The fixed partition of a tree for parallel work: consecutive cells form a chunk, and every chunk
// has its own *slot* for each node that it touches. Chunks sum into their slots without regard for
// one another; then every node adds up its slots in the order of the chunks. The order of additions
// depends on the tree alone, so the sum has the same bits for any number of threads.
#ifndef SN_OCTREE_CHUNKS_H
#define SN_OCTREE_CHUNKS_H

#include "base/parallel.h"
#include "octree/octree.h"

#define SN_CHUNK_CELLS 1024

typedef struct sn_chunks {
  uint32_t chunk_count;
  uint32_t* slot_starts;  // first slot of each chunk (chunk_count + 1)
  uint32_t slot_count;
  uint16_t* local;  // slot of each corner, counted from its chunk's first (8 x cell_count)
  uint32_t* node_slot_starts;  // (node_count + 1)
  uint32_t* node_slots;        // slots of each node, ascending (slot_count)
} sn_chunks;

// Cells of a chunk: first, and one past the last.
static inline uint32_t sn_chunk_first(size_t chunk) { return (uint32_t)(chunk * SN_CHUNK_CELLS); }
static inline uint32_t sn_chunk_end(const sn_octree* tree, size_t chunk) {
  size_t end = (chunk + 1) * SN_CHUNK_CELLS;
  return end < tree->cell_count ? (uint32_t)end : tree->cell_count;
}

sn_status sn_chunks_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                          sn_chunks* chunks, sn_error* err);

// y += what the slots hold, three values a node. @param slots (3 x slot_count) @param y (3 x nodes)
void sn_chunks_collect_d(const sn_chunks* chunks, const sn_octree* tree, sn_pool* pool,
                         const double* slots, double* y);
void sn_chunks_collect_f(const sn_chunks* chunks, const sn_octree* tree, sn_pool* pool,
                         const float* slots, float* y);

#endif
