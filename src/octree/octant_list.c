#include "octree/octant_list.h"

#include <string.h>

#include "base/sort.h"

#define MIN_EMIT_BLOCK 64
#define SORT_BLOCK 4096

typedef struct emit_job {
  sn_emit_fn emit;
  const void* ctx;
  size_t block_size;
  size_t* offset;  // of each block; first counts, then starts
  sn_octant* out;  // NULL while counting
  // For lists that are emitted at once: how many at most, and where they go first.
  sn_bound_fn bound;
  const size_t* room;  // of each block, where it starts
  sn_octant* loose;
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

// Counts of the blocks become starts. Returns their sum.
static size_t add_up(size_t* offset, size_t count, size_t block_size) {
  size_t total = 0;
  for (size_t b = 0; b * block_size < count; ++b) {
    size_t in_block = offset[b];
    offset[b] = total;
    total += in_block;
  }
  return total;
}

sn_status sn_octants_emit(sn_pool* pool, size_t count, sn_emit_fn emit, const void* ctx,
                          sn_arena* arena, sn_octants* list, sn_error* err) {
  size_t offset[SN_MAX_BLOCKS] = {0};
  emit_job job = {.emit = emit, .ctx = ctx, .offset = offset};
  job.block_size = sn_block_size(count, MIN_EMIT_BLOCK);
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, count_or_fill, &job);
  list->count = add_up(offset, count, job.block_size);
  SN_TRY(SN_ARENA_RAW(arena, list->count, &list->items, err));
  job.out = list->items;
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, count_or_fill, &job);
  return SN_OK;
}

static void bound_block(void* ctx, size_t begin, size_t end) {
  emit_job* job = ctx;
  size_t total = 0;
  for (size_t i = begin; i < end; ++i) total += job->bound(job->ctx, i);
  job->offset[begin / job->block_size] = total;
}

static void fill_loosely(void* ctx, size_t begin, size_t end) {
  emit_job* job = ctx;
  size_t block = begin / job->block_size, total = 0;
  for (size_t i = begin; i < end; ++i) {
    size_t count = job->emit(job->ctx, i, job->loose + job->room[block] + total);
    SN_ASSERT(count <= job->bound(job->ctx, i));
    total += count;
  }
  job->offset[block] = total;
}

static void pack(void* ctx, size_t begin, size_t end) {
  const emit_job* job = ctx;
  size_t block = begin / job->block_size, next = block + 1;
  (void)end;
  memcpy(job->out + job->offset[block], job->loose + job->room[block],
         (job->offset[next] - job->offset[block]) * sizeof *job->out);
}

sn_status sn_octants_emit_once(sn_pool* pool, size_t count, sn_emit_fn emit, sn_bound_fn bound,
                               const void* ctx, sn_arena* arena, sn_octants* list, sn_error* err) {
  size_t room[SN_MAX_BLOCKS + 1] = {0}, offset[SN_MAX_BLOCKS + 1] = {0};
  emit_job job = {.emit = emit, .ctx = ctx, .offset = room, .bound = bound};
  job.block_size = sn_block_size(count, MIN_EMIT_BLOCK);
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, bound_block, &job);
  size_t most = add_up(room, count, job.block_size);
  SN_TRY(SN_ARENA_RAW(arena, most, &job.loose, err));
  job.room = room;
  job.offset = offset;
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, fill_loosely, &job);
  list->count = add_up(offset, count, job.block_size);
  offset[(count + job.block_size - 1) / job.block_size] = list->count;
  SN_TRY(SN_ARENA_RAW(arena, list->count, &list->items, err));
  job.out = list->items;
  sn_parallel_for(pool, count, MIN_EMIT_BLOCK, pack, &job);
  return SN_OK;
}

typedef struct key_job {
  sn_octant* items;
  uint64_t* keys;
} key_job;

static void form_keys(void* ctx, size_t begin, size_t end) {
  const key_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    sn_octant o = job->items[i];
    job->keys[i] = sn_morton(o.x, o.y, o.z) << 16 | (uint64_t)o.height << 8 | o.flags;
  }
}

static void form_octants(void* ctx, size_t begin, size_t end) {
  const key_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    uint64_t key = job->keys[i];
    sn_octant o = sn_octant_at(key >> 16);
    o.height = (uint8_t)(key >> 8);
    o.flags = (uint8_t)key;
    job->items[i] = o;
  }
}

// As Morton codes, with height and flags in the 16 bits below, which the sort does not look at.
sn_status sn_octants_sort(sn_pool* pool, sn_octants list, sn_arena* scratch, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  key_job job = {.items = list.items};
  uint64_t* other;
  SN_TRY(SN_ARENA_RAW(scratch, list.count, &job.keys, err));
  SN_TRY(SN_ARENA_RAW(scratch, list.count, &other, err));
  sn_parallel_for(pool, list.count, SORT_BLOCK, form_keys, &job);
  SN_TRY(sn_sort_keys(pool, job.keys, other, list.count, 16, scratch, err));
  sn_parallel_for(pool, list.count, SORT_BLOCK, form_octants, &job);
  sn_arena_release(scratch, mark);
  return SN_OK;
}

// The first of equal items, with the flags of all.
static size_t emit_first(const void* ctx, size_t index, sn_octant* out) {
  const sn_octants* list = ctx;
  sn_octant o = list->items[index];
  if (index > 0 && sn_octant_compare(list->items[index - 1], o) == 0) return 0;
  for (size_t i = index + 1; out && i < list->count; ++i) {
    if (sn_octant_compare(list->items[i], o) != 0) break;
    o.flags |= list->items[i].flags;
  }
  if (out) out[0] = o;
  return 1;
}

sn_status sn_octants_unique(sn_pool* pool, sn_octants list, sn_arena* arena, sn_octants* unique,
                            sn_error* err) {
  return sn_octants_emit(pool, list.count, emit_first, &list, arena, unique, err);
}

sn_status sn_octants_join(sn_pool* pool, const sn_octants* lists, size_t list_count,
                          sn_arena* arena, sn_octants* joined, sn_error* err) {
  sn_octants all = {0};
  size_t total = 0;
  for (size_t l = 0; l < list_count; ++l) total += lists[l].count;
  SN_TRY(SN_ARENA_RAW(arena, total, &all.items, err));
  for (size_t l = 0; l < list_count; ++l) {
    if (lists[l].count == 0) continue;
    memcpy(all.items + all.count, lists[l].items, lists[l].count * sizeof *all.items);
    all.count += lists[l].count;
  }
  SN_TRY(sn_octants_sort(pool, all, arena, err));
  return sn_octants_unique(pool, all, arena, joined, err);
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

static void form_codes(void* ctx, size_t begin, size_t end) {
  const key_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    job->keys[i] = sn_morton(job->items[i].x, job->items[i].y, job->items[i].z);
  }
}

sn_status sn_octants_codes(sn_pool* pool, sn_octants list, sn_arena* arena, uint64_t** codes,
                           sn_error* err) {
  SN_TRY(SN_ARENA_RAW(arena, list.count, codes, err));
  key_job job = {list.items, *codes};
  sn_parallel_for(pool, list.count, SORT_BLOCK, form_codes, &job);
  return SN_OK;
}

size_t sn_codes_count_until(const uint64_t* codes, size_t count, size_t near, uint64_t code) {
  // Steps of growing length away from `near`, until the place sought is in between.
  size_t low = near < count ? near : count, high = low, step = 1;
  while (high < count && codes[high] <= code) {
    low = high + 1;
    high = count - high > step ? high + step : count;
    step *= 2;
  }
  while (low > 0 && codes[low - 1] > code) {
    high = low - 1;
    low = low > step ? low - step : 0;
    step *= 2;
  }
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    bool before = codes[middle] <= code;
    low = before ? middle + 1 : low;
    high = before ? high : middle;
  }
  return low;
}
