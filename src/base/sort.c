// A radix sort, lowest digit first. In each pass every block of the fixed partition counts its
// digits; a running sum over digits, and blocks within a digit, gives each block its own places to
// write to. So blocks do not meet, and the order of equal digits is that of the keys before.
#include "base/sort.h"

#include <string.h>

#define DIGIT_BITS 8
#define DIGITS (1 << DIGIT_BITS)
#define MIN_BLOCK 8192

typedef struct sort_job {
  const uint64_t* from;
  uint64_t* to;
  size_t block_size;
  int shift;
  size_t (*places)[DIGITS];           // of each block: first counts, then where to write next
  uint64_t differing[SN_MAX_BLOCKS];  // bits in which a key of the block differs from the first key
} sort_job;

static void find_differing_bits(void* ctx, size_t begin, size_t end) {
  sort_job* job = ctx;
  uint64_t bits = 0;
  for (size_t i = begin; i < end; ++i) bits |= job->from[i] ^ job->from[0];
  job->differing[begin / job->block_size] = bits;
}

static void count_digits(void* ctx, size_t begin, size_t end) {
  sort_job* job = ctx;
  size_t* counts = job->places[begin / job->block_size];
  memset(counts, 0, DIGITS * sizeof *counts);
  for (size_t i = begin; i < end; ++i) counts[job->from[i] >> job->shift & (DIGITS - 1)]++;
}

static void add_up(sort_job* job, size_t block_count) {
  size_t total = 0;
  for (int digit = 0; digit < DIGITS; ++digit) {
    for (size_t b = 0; b < block_count; ++b) {
      size_t count = job->places[b][digit];
      job->places[b][digit] = total;
      total += count;
    }
  }
}

static void move_keys(void* ctx, size_t begin, size_t end) {
  sort_job* job = ctx;
  size_t* places = job->places[begin / job->block_size];
  for (size_t i = begin; i < end; ++i) {
    uint64_t key = job->from[i];
    job->to[places[key >> job->shift & (DIGITS - 1)]++] = key;
  }
}

sn_status sn_sort_keys(sn_pool* pool, uint64_t* keys, uint64_t* other, size_t count, int first_bit,
                       sn_arena* scratch, sn_error* err) {
  if (count < 2) return SN_OK;
  sort_job job = {.from = keys, .to = other, .block_size = sn_block_size(count, MIN_BLOCK)};
  size_t block_count = (count + job.block_size - 1) / job.block_size;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(SN_ARENA_NEW(scratch, block_count, &job.places, err));
  sn_parallel_for(pool, count, MIN_BLOCK, find_differing_bits, &job);
  uint64_t differing = 0;
  for (size_t b = 0; b < block_count; ++b) differing |= job.differing[b];

  for (job.shift = first_bit; job.shift < 64; job.shift += DIGIT_BITS) {
    if (!(differing >> job.shift & (DIGITS - 1))) continue;  // one digit for all
    sn_parallel_for(pool, count, MIN_BLOCK, count_digits, &job);
    add_up(&job, block_count);
    sn_parallel_for(pool, count, MIN_BLOCK, move_keys, &job);
    uint64_t* sorted = job.to;
    job.to = sorted == other ? keys : other;
    job.from = sorted;
  }
  if (job.from != keys) memcpy(keys, job.from, count * sizeof *keys);
  sn_arena_release(scratch, mark);
  return SN_OK;
}
