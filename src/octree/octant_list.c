#include "octree/octant_list.h"

#include <string.h>

#define MIN_EMIT_BLOCK 64
#define SORT_BLOCK 4096
#define INSERTION_RUN 16

typedef struct emit_job {
  sn_emit_fn emit;
  const void* ctx;
  size_t block_size;
  size_t* offset;  // of each block; first counts, then starts
  sn_octant* out;  // NULL while counting
} emit_job;

static void count_or_fill(void* ctx, size_t begin, size_t end) {
  emit_job* job = ctx;
  size_t block = begin / job->block_size;
  size_t total = 0;
  for (size_t i = begin; i < end; ++i) {
    total += job->emit(job->ctx, i, job->out ? job->out + job->offset[block] + total : NULL);
  }
  if (!job->out) job->offset[block] = total;
}

sn_status sn_octants_emit(sn_pool* pool, size_t count, sn_emit_fn emit, const void* ctx,
                          sn_arena* arena, sn_octants* list, sn_error* err) {
  size_t offset[SN_MAX_BLOCKS] = {0};
  emit_job job = {emit, ctx, sn_block_size(count, MIN_EMIT_BLOCK), offset, NULL};
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, count_or_fill, &job);
  size_t total = 0;
  for (size_t b = 0; b * job.block_size < count; ++b) {
    size_t in_block = offset[b];
    offset[b] = total;
    total += in_block;
  }
  SN_TRY(SN_ARENA_NEW(arena, total, &list->items, err));
  list->count = total;
  job.out = list->items;
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, count_or_fill, &job);
  return SN_OK;
}

static void merge(const sn_octant* a, size_t a_count, const sn_octant* b, size_t b_count,
                  sn_octant* out) {
  size_t i = 0, j = 0;
  while (i < a_count && j < b_count) {
    *out++ = sn_octant_compare(b[j], a[i]) < 0 ? b[j++] : a[i++];
  }
  memcpy(out, a + i, (a_count - i) * sizeof *a);
  memcpy(out + (a_count - i), b + j, (b_count - j) * sizeof *b);
}

static void insertion_sort(sn_octant* items, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    sn_octant o = items[i];
    size_t j = i;
    for (; j > 0 && sn_octant_compare(o, items[j - 1]) < 0; --j) items[j] = items[j - 1];
    items[j] = o;
  }
}

typedef struct sort_job {
  sn_octant *from, *to;
  size_t count, run;  // sorted runs of this length, two of which become one
} sort_job;

// Merge the pair of runs number `begin`..`end` from one array into the other.
static void merge_pairs(void* ctx, size_t begin, size_t end) {
  const sort_job* job = ctx;
  for (size_t pair = begin; pair < end; ++pair) {
    size_t low = 2 * pair * job->run;
    size_t middle = low + job->run < job->count ? low + job->run : job->count;
    size_t high = middle + job->run < job->count ? middle + job->run : job->count;
    merge(job->from + low, middle - low, job->from + middle, high - middle, job->to + low);
  }
}

static void swap_sides(sort_job* job) {
  sn_octant* from = job->from;
  job->from = job->to;
  job->to = from;
}

// Sort blocks of SORT_BLOCK items, each within itself.
static void sort_blocks(void* ctx, size_t begin, size_t end) {
  const sort_job* job = ctx;
  for (size_t block = begin; block < end; ++block) {
    size_t low = block * SORT_BLOCK;
    size_t count = job->count - low < SORT_BLOCK ? job->count - low : SORT_BLOCK;
    for (size_t i = 0; i < count; i += INSERTION_RUN) {
      insertion_sort(job->from + low + i, count - i < INSERTION_RUN ? count - i : INSERTION_RUN);
    }
    sort_job inner = {job->from + low, job->to + low, count, INSERTION_RUN};
    for (; inner.run < SORT_BLOCK; inner.run *= 2) {
      merge_pairs(&inner, 0, (count + 2 * inner.run - 1) / (2 * inner.run));
      swap_sides(&inner);
    }
    // 16 -> 4096 is an even number of merges, so the block is back where it was.
  }
}

sn_status sn_octants_sort(sn_pool* pool, sn_octants list, sn_arena* scratch, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_octant* other;
  SN_TRY(SN_ARENA_NEW(scratch, list.count, &other, err));
  sort_job job = {list.items, other, list.count, SORT_BLOCK};
  sn_parallel_for(pool, (list.count + SORT_BLOCK - 1) / SORT_BLOCK, 1, sort_blocks, &job);
  for (; job.run < list.count; job.run *= 2) {
    sn_parallel_for(pool, (list.count + 2 * job.run - 1) / (2 * job.run), 1, merge_pairs, &job);
    swap_sides(&job);
  }
  if (job.from != list.items) memcpy(list.items, job.from, list.count * sizeof *list.items);
  sn_arena_release(scratch, mark);
  return SN_OK;
}

void sn_octants_unique(sn_octants* list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; ++i) {
    if (kept > 0 && sn_octant_compare(list->items[kept - 1], list->items[i]) == 0) {
      list->items[kept - 1].flags |= list->items[i].flags;
    } else {
      list->items[kept++] = list->items[i];
    }
  }
  list->count = kept;
}

size_t sn_octants_lower_bound(sn_octants list, sn_octant o) {
  size_t low = 0, high = list.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (sn_octant_compare(list.items[middle], o) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool sn_octants_contain(sn_octants list, sn_octant o) {
  size_t at = sn_octants_lower_bound(list, o);
  return at < list.count && sn_octant_compare(list.items[at], o) == 0;
}
