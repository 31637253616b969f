// The one parallel primitive. Blocks depend on `count` and `min_block` only, never on the number of
// threads; partial sums are added in a fixed tree. So every result has the same bits on any pool.
#ifndef SN_BASE_PARALLEL_H
#define SN_BASE_PARALLEL_H

#include "base/status.h"

// Work on items [begin, end). Blocks may run at the same time.
typedef void (*sn_range_fn)(void* ctx, size_t begin, size_t end);
// The sum of items [begin, end).
typedef double (*sn_sum_fn)(void* ctx, size_t begin, size_t end);

// A partition has at most this many blocks, so that partial results fit on the stack.
#define SN_MAX_BLOCKS 512

// How many items a block of the partition of `count` items holds.
size_t sn_block_size(size_t count, size_t min_block);

// `pool` may be NULL: the calling thread does all.
void sn_parallel_for(sn_pool* pool, size_t count, size_t min_block, sn_range_fn fn, void* ctx);
double sn_parallel_sum(sn_pool* pool, size_t count, size_t min_block, sn_sum_fn fn, void* ctx);

// Counts become starts: values[i] is replaced by the sum of those before it. Returns the sum of all,
// which must be below 2^32.
uint32_t sn_parallel_starts(sn_pool* pool, uint32_t* values, size_t count);

#endif
