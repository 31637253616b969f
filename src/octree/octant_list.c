#include "octree/octant_list.h"

#include <string.h>

#include "base/sort.h"

#define MIN_EMIT_BLOCK 64
#define MIN_BOUND_BLOCK 1  // a large triangle has thousands of octants
#define SORT_BLOCK 4096

typedef struct emit_job {
  sn_emit_fn emit;
  const void* ctx;
  size_t block_size;
  size_t* offset;  // of each block; first counts, then starts
  sn_octant* out;  // NULL while counting
  // For lists that are emitted at once: how many at most, and where they go first.
  sn_bound_fn bound;
  const size_t* room;  // where that of each block starts, and the last one ends
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
    total += job->emit(job->ctx, i, job->loose + job->room[block] + total);
    SN_ASSERT(total <= job->room[block + 1] - job->room[block]);
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
  job.block_size = sn_block_size(count, MIN_BOUND_BLOCK);
  sn_parallel_for(pool, count, MIN_BOUND_BLOCK, bound_block, &job);
  size_t most = add_up(room, count, job.block_size);
  room[(count + job.block_size - 1) / job.block_size] = most;
  SN_TRY(SN_ARENA_RAW(arena, most, &job.loose, err));
  job.room = room;
  job.offset = offset;
  sn_parallel_for(pool, count, MIN_BOUND_BLOCK, fill_loosely, &job);
  list->count = add_up(offset, count, job.block_size);
  offset[(count + job.block_size - 1) / job.block_size] = list->count;
  SN_TRY(SN_ARENA_RAW(arena, list->count, &list->items, err));
  job.out = list->items;
  sn_parallel_for(pool, count, MIN_BOUND_BLOCK, pack, &job);
  return SN_OK;
}

typedef struct key_job {
  sn_octant* items;
  uint64_t* keys;
} key_job;

// An octant as a number: its Morton code, with height and flags in the bits below.
#define KEY_CODE_BIT 16
#define KEY_FLAGS 0xff

static sn_octant octant_of_key(uint64_t key) {
  sn_octant o = sn_octant_at(key >> KEY_CODE_BIT);
  o.height = (uint8_t)(key >> 8);
  o.flags = (uint8_t)key;
  return o;
}

static void form_keys(void* ctx, size_t begin, size_t end) {
  const key_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    sn_octant o = job->items[i];
    job->keys[i] = sn_morton(o.x, o.y, o.z) << KEY_CODE_BIT | (uint64_t)o.height << 8 | o.flags;
  }
}

static void form_octants(void* ctx, size_t begin, size_t end) {
  const key_job* job = ctx;
  for (size_t i = begin; i < end; ++i) job->items[i] = octant_of_key(job->keys[i]);
}

// The sort does not look at what is below the codes.
sn_status sn_octants_sort(sn_pool* pool, sn_octants list, sn_arena* scratch, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  key_job job = {.items = list.items};
  uint64_t* other;
  SN_TRY(SN_ARENA_RAW(scratch, list.count, &job.keys, err));
  SN_TRY(SN_ARENA_RAW(scratch, list.count, &other, err));
  sn_parallel_for(pool, list.count, SORT_BLOCK, form_keys, &job);
  SN_TRY(sn_sort_keys(pool, job.keys, other, list.count, KEY_CODE_BIT, scratch, err));
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

typedef struct sorted_keys {
  const uint64_t* keys;
  size_t count;
} sorted_keys;

// The same of keys.
static size_t emit_first_key(const void* ctx, size_t index, sn_octant* out) {
  const sorted_keys* list = ctx;
  uint64_t key = list->keys[index], code = key >> KEY_CODE_BIT;
  if (index > 0 && list->keys[index - 1] >> KEY_CODE_BIT == code) return 0;
  if (!out) return 1;
  for (size_t i = index + 1; i < list->count && list->keys[i] >> KEY_CODE_BIT == code; ++i) {
    key |= list->keys[i] & KEY_FLAGS;
  }
  out[0] = octant_of_key(key);
  return 1;
}

sn_status sn_octants_join(sn_pool* pool, const sn_octants* lists, size_t list_count,
                          sn_arena* arena, sn_octants* joined, sn_error* err) {
  size_t total = 0, at = 0;
  uint64_t *keys, *other;
  for (size_t l = 0; l < list_count; ++l) total += lists[l].count;
  SN_TRY(SN_ARENA_RAW(arena, total, &keys, err));
  for (size_t l = 0; l < list_count; ++l) {
    key_job job = {lists[l].items, keys + at};
    sn_parallel_for(pool, lists[l].count, SORT_BLOCK, form_keys, &job);
    at += lists[l].count;
  }
  sn_arena_mark mark = sn_arena_get_mark(arena);
  SN_TRY(SN_ARENA_RAW(arena, total, &other, err));
  SN_TRY(sn_sort_keys(pool, keys, other, total, KEY_CODE_BIT, arena, err));
  sn_arena_release(arena, mark);
  sorted_keys sorted = {keys, total};
  return sn_octants_emit(pool, total, emit_first_key, &sorted, arena, joined, err);
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
