// Sorting of 64-bit keys, in parallel and with the same result on any pool.
#ifndef SN_BASE_SORT_H
#define SN_BASE_SORT_H

#include "base/memory.h"
#include "base/parallel.h"

// Ascending by the bits from `first_bit` up; the bits below ride along, and keys that differ in them
// only keep their order. `other` is room for as many keys; what it holds afterwards is undefined.
// Scratch memory is a few counters.
sn_status sn_sort_keys(sn_pool* pool, uint64_t* keys, uint64_t* other, size_t count, int first_bit,
                       sn_arena* scratch, sn_error* err);

#endif
