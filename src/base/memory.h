// One allocator hook with a counter, and arenas: everything an object owns is freed with its arena,
// so a build that fails half way has one thing to undo.
#ifndef SN_BASE_MEMORY_H
#define SN_BASE_MEMORY_H

#include "base/status.h"

#define SN_ALIGNMENT 64

// 64-byte aligned, not cleared; NULL when out of memory. Zero bytes give a block all the same.
void* sn_allocate(size_t bytes);
// NULL is fine.
void sn_release(void* block);

// Blocks that live and die together. Single-threaded.
typedef struct sn_arena sn_arena;

// A place in the arena to fall back to.
typedef struct sn_arena_mark {
  void* block;
  size_t used;
} sn_arena_mark;

sn_status sn_arena_create(sn_arena** arena, sn_error* err);
// NULL is fine.
void sn_arena_destroy(sn_arena* arena);
// From now on the threads of this pool clear large blocks together: who first touches fresh memory waits
// for the system to hand it out.
void sn_arena_set_pool(sn_arena* arena, sn_pool* pool);
// From now on large blocks that are released stay with the arena, to be taken again, until it is destroyed: for
// scratch, whose pages would else be handed out by the system over and over.
void sn_arena_keep_dropped(sn_arena* arena);
size_t sn_arena_bytes(const sn_arena* arena);
// Bytes that all arenas ask for at least, from now on. @return those before. For tests, while nothing else runs: with 0 every
// request is an allocation of its own, which can fail.
size_t sn_arena_set_slab(size_t bytes);
// Bytes since *held was what it held, which becomes what it holds now: for accounts of what is for what.
size_t sn_arena_lap(const sn_arena* arena, size_t* held);

// Cleared and aligned room for `count` items of `size` bytes in *block. SN_ERR_MEMORY where there
// is none or the product overflows. Use SN_ARENA_NEW.
sn_status sn_arena_take(sn_arena* arena, size_t count, size_t size, void** block, sn_error* err);
// The same, but not cleared: for arrays that are written before they are read. Use SN_ARENA_RAW. The
// threads that write them then also wait for their pages.
sn_status sn_arena_take_raw(sn_arena* arena, size_t count, size_t size, void** block,
                            sn_error* err);
char* sn_arena_copy_string(sn_arena* arena, const char* text);  // NULL when out of memory

sn_arena_mark sn_arena_get_mark(const sn_arena* arena);
// Drop everything taken since the mark.
void sn_arena_release(sn_arena* arena, sn_arena_mark mark);

// SN_TRY(SN_ARENA_NEW(arena, count, &pointer, err)): the type comes from the pointer.
#define SN_ARENA_NEW(arena, count, pointer, err) \
  sn_arena_take(arena, count, sizeof **(pointer), (void**)(pointer), err)
#define SN_ARENA_RAW(arena, count, pointer, err) \
  sn_arena_take_raw(arena, count, sizeof **(pointer), (void**)(pointer), err)

#endif
