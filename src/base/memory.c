#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/parallel.h"

// Every block starts with its size, so that the counter is right when it goes.
typedef struct block_header {
  size_t bytes;
} block_header;

_Static_assert(sizeof(block_header) <= SN_ALIGNMENT,
               "the header must fit before the aligned block");

// Blocks of several huge pages are laid out on them: the kernels walk through hundreds of megabytes,
// and with small pages spend a third of their time on address translation.
#define HUGE_PAGE ((size_t)2 * 1024 * 1024)

static void* default_allocate(void* user, size_t bytes, size_t alignment) {
  (void)user;
  bool huge = bytes >= HUGE_PAGE;
  if (huge) alignment = HUGE_PAGE;
  size_t rounded = (bytes + SN_ALIGNMENT - 1) / SN_ALIGNMENT * SN_ALIGNMENT;
  void* block = NULL;
  if (rounded < bytes || posix_memalign(&block, alignment, rounded) != 0) return NULL;
#ifdef MADV_HUGEPAGE
  // A wish: failure changes nothing. Not for what is left over at the end, which would become a whole page.
  if (huge) madvise(block, rounded / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
  return block;
}

static void default_release(void* user, void* block) {
  (void)user;
  free(block);
}

static const sn_allocator default_allocator = {default_allocate, default_release, NULL};
static sn_allocator current = {default_allocate, default_release, NULL};
static atomic_size_t bytes_used, bytes_peak;
static atomic_uint_least64_t allocation_count;

void sn_set_allocator(const sn_allocator* allocator) {
  current = allocator ? *allocator : default_allocator;
}

size_t sn_memory_used(void) { return atomic_load(&bytes_used); }
size_t sn_memory_peak(void) { return atomic_load(&bytes_peak); }
void sn_memory_restart_peak(void) { atomic_store(&bytes_peak, sn_memory_used()); }
uint64_t sn_allocation_count(void) { return atomic_load(&allocation_count); }

void* sn_allocate(size_t bytes) {
  size_t total = bytes + SN_ALIGNMENT;
  if (total < bytes) return NULL;
  char* base = current.allocate(current.user, total, SN_ALIGNMENT);
  if (!base) return NULL;
  ((block_header*)base)->bytes = total;
  atomic_fetch_add(&allocation_count, 1);
  size_t used = atomic_fetch_add(&bytes_used, total) + total;
  size_t peak = atomic_load(&bytes_peak);
  while (used > peak && !atomic_compare_exchange_weak(&bytes_peak, &peak, used)) {
  }
  return base + SN_ALIGNMENT;
}

void sn_release(void* block) {
  if (!block) return;
  char* base = (char*)block - SN_ALIGNMENT;
  atomic_fetch_sub(&bytes_used, ((block_header*)base)->bytes);
  current.release(current.user, base);
}

// Arenas: a chain of slabs, newest first. Large requests get a slab of their own size.
typedef struct slab {
  struct slab* older;
  size_t capacity, used;  // bytes behind this header
} slab;

#define SLAB_HEADER (((sizeof(slab) + SN_ALIGNMENT - 1) / SN_ALIGNMENT) * SN_ALIGNMENT)

static size_t slab_bytes = (size_t)64 * 1024;

// Slabs from this size on are worth keeping.
#define SPARE_BYTES HUGE_PAGE

struct sn_arena {
  slab* newest;
  slab* spares;  // dropped, and kept to be taken again
  bool keeps;
  size_t bytes;   // those of spares too
  sn_pool* pool;  // NULL: the calling thread clears all
};

sn_status sn_arena_create(sn_arena** arena, sn_error* err) {
  *arena = sn_allocate(sizeof **arena);
  if (!*arena) return sn_fail_memory(err, sizeof **arena);
  **arena = (sn_arena){0};
  return SN_OK;
}

size_t sn_arena_set_slab(size_t bytes) {
  size_t before = slab_bytes;
  slab_bytes = bytes;
  return before;
}

static slab* unchain(slab** link) {
  slab* taken = *link;
  *link = taken->older;
  return taken;
}

static void chain(slab** link, slab* added) {
  added->older = *link;
  *link = added;
}

static void give_back(sn_arena* arena, slab* gone) {
  arena->bytes -= gone->capacity + SLAB_HEADER;
  sn_release(gone);
}

static void drop_newest(sn_arena* arena) {
  slab* gone = unchain(&arena->newest);
  if (arena->keeps && gone->capacity >= SPARE_BYTES) {
    chain(&arena->spares, gone);
  } else {
    give_back(arena, gone);
  }
}

void sn_arena_destroy(sn_arena* arena) {
  if (!arena) return;
  while (arena->newest) give_back(arena, unchain(&arena->newest));
  while (arena->spares) give_back(arena, unchain(&arena->spares));
  sn_release(arena);
}

void sn_arena_keep_dropped(sn_arena* arena) { arena->keeps = true; }

size_t sn_arena_bytes(const sn_arena* arena) { return arena ? arena->bytes : 0; }

void sn_arena_set_pool(sn_arena* arena, sn_pool* pool) { arena->pool = pool; }

size_t sn_arena_lap(const sn_arena* arena, size_t* held) {
  size_t before = *held;
  *held = sn_arena_bytes(arena);
  return *held - before;
}

// The smallest spare slab with so much room, or the largest where none has it.
static slab** find_spare(sn_arena* arena, size_t bytes) {
  slab** best = &arena->spares;
  for (slab** link = best; *link; link = &(*link)->older) {
    size_t room = (*link)->capacity, so_far = (*best)->capacity;
    bool fits = room >= bytes, better = so_far < bytes ? room > so_far : room < so_far;
    if (better && (fits || so_far < bytes)) best = link;
  }
  return best;
}

static bool add_slab(sn_arena* arena, size_t bytes) {
  size_t capacity = bytes > slab_bytes ? bytes : slab_bytes;
  if (capacity + SLAB_HEADER < capacity) return false;
  if (arena->spares && bytes >= SPARE_BYTES) {
    slab* spare = unchain(find_spare(arena, bytes));
    if (spare->capacity >= bytes) {
      spare->used = 0;
      chain(&arena->newest, spare);
      return true;
    }
    give_back(arena,
              spare);  // too small: what is held should not grow beyond what was needed at once
  }
  slab* fresh = sn_allocate(capacity + SLAB_HEADER);
  if (!fresh) return false;
  *fresh = (slab){arena->newest, capacity, 0};
  arena->newest = fresh;
  arena->bytes += capacity + SLAB_HEADER;
  return true;
}

// *taken receives what was taken, whole alignments.
static sn_status take(sn_arena* arena, size_t count, size_t size, void** block, size_t* taken,
                      sn_error* err) {
  *block = NULL;
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) {
    return sn_fail_memory(err, SIZE_MAX);
  }
  bytes = (bytes + SN_ALIGNMENT - 1) / SN_ALIGNMENT * SN_ALIGNMENT;
  slab* from = arena->newest;
  if (!from || from->capacity - from->used < bytes) {
    if (!add_slab(arena, bytes)) return sn_fail_memory(err, bytes);
    from = arena->newest;
  }
  *block = (char*)from + SLAB_HEADER + from->used;
  from->used += bytes;
  *taken = bytes;
  return SN_OK;
}

#define CLEAR_BLOCK ((size_t)1024 * 1024)

static void clear(void* ctx, size_t begin, size_t end) {
  memset((char*)ctx + begin, 0, end - begin);
}

sn_status sn_arena_take(sn_arena* arena, size_t count, size_t size, void** block, sn_error* err) {
  size_t bytes = 0;
  SN_TRY(take(arena, count, size, block, &bytes, err));
  sn_parallel_for(arena->pool, bytes, CLEAR_BLOCK, clear, *block);
  return SN_OK;
}

sn_status sn_arena_take_raw(sn_arena* arena, size_t count, size_t size, void** block,
                            sn_error* err) {
  size_t bytes;
  return take(arena, count, size, block, &bytes, err);
}

char* sn_arena_copy_string(sn_arena* arena, const char* text) {
  size_t bytes = strlen(text) + 1;
  void* copy;
  if (sn_arena_take(arena, bytes, 1, &copy, NULL) != SN_OK) return NULL;
  SN_ASSERT(copy);
  return memcpy(copy, text, bytes);
}

sn_arena_mark sn_arena_get_mark(const sn_arena* arena) {
  return (sn_arena_mark){arena->newest, arena->newest ? arena->newest->used : 0};
}

void sn_arena_release(sn_arena* arena, sn_arena_mark mark) {
  while (arena->newest && arena->newest != mark.block) drop_newest(arena);
  if (arena->newest) arena->newest->used = mark.used;
}
