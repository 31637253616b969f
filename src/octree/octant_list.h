// Lists of octants and what is done to them in parallel: produce, sort, make unique, look up.
#ifndef SN_OCTREE_OCTANT_LIST_H
#define SN_OCTREE_OCTANT_LIST_H

#include "base/memory.h"
#include "base/parallel.h"
#include "octree/octant.h"

typedef struct sn_octants {
  sn_octant* items;
  size_t count;
} sn_octants;

// Write the octants that item `index` gives rise to, and return how many. With out == NULL only
// count them. Called from several threads, twice for each item.
typedef size_t (*sn_emit_fn)(const void* ctx, size_t index, sn_octant* out);

// Everything that items 0..count-1 emit, in the order of the items.
sn_status sn_octants_emit(sn_pool* pool, size_t count, sn_emit_fn emit, const void* ctx,
                          sn_arena* arena, sn_octants* list, sn_error* err);

// The same where emitting takes longer than counting could: called once for each item. `bound` tells
// how many an item gives rise to at most; room for as many is taken, but not touched, until the arena
// is released.
typedef size_t (*sn_bound_fn)(const void* ctx, size_t index);
sn_status sn_octants_emit_once(sn_pool* pool, size_t count, sn_emit_fn emit, sn_bound_fn bound,
                               const void* ctx, sn_arena* arena, sn_octants* list, sn_error* err);

// Sort in Morton order. Equal anchors keep their order.
sn_status sn_octants_sort(sn_pool* pool, sn_octants list, sn_arena* scratch, sn_error* err);
// A sorted list without repeats; their flags are joined.
sn_status sn_octants_unique(sn_pool* pool, sn_octants list, sn_arena* arena, sn_octants* unique,
                            sn_error* err);
// All items of some lists, sorted and unique.
sn_status sn_octants_join(sn_pool* pool, const sn_octants* lists, size_t list_count,
                          sn_arena* arena, sn_octants* joined, sn_error* err);

// Index of the first item whose anchor is not before that of `o`.
size_t sn_octants_lower_bound(sn_octants list, sn_octant o);
// Is there an item with the anchor of `o`?
bool sn_octants_contain(sn_octants list, sn_octant o);

#endif
