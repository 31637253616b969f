#include "base/memory.h"

#include "io/scratch.h"

static bool is_aligned(const void* block) { return (uintptr_t)block % SN_ALIGNMENT == 0; }

static bool is_cleared(const void* block, size_t bytes) {
  const unsigned char* byte = block;
  for (size_t i = 0; i < bytes; ++i) {
    if (byte[i]) return false;
  }
  return true;
}

static sn_arena* make_arena(void) {
  sn_arena* arena;
  assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
  return arena;
}

static void* take(sn_arena* arena, size_t bytes) {
  void* block;
  assert_int_equal(sn_arena_take(arena, bytes, 1, &block, NULL), SN_OK);
  assert_non_null(block);
  return block;
}

static void blocks_are_aligned_and_writable(void** unused) {
  (void)unused;
  static const size_t sizes[] = {0, 1, 7, 63, 64, 65, 4095, 4096, 100000};
  void* blocks[9];
  for (int i = 0; i < 9; ++i) {
    blocks[i] = sn_allocate(sizes[i]);
    assert_non_null(blocks[i]);
    assert_true(is_aligned(blocks[i]));
    memset(blocks[i], i + 1, sizes[i]);
  }
  for (int i = 0; i < 9; ++i) {
    for (size_t b = 0; b < sizes[i]; ++b) assert_int_equal(((unsigned char*)blocks[i])[b], i + 1);
    sn_release(blocks[i]);
  }
  sn_release(NULL);
  assert_int_equal(sn_memory_used(), 0);
}

static void counters_follow_every_block(void** unused) {
  (void)unused;
  assert_int_equal(sn_memory_used(), 0);
  uint64_t count = sn_allocation_count();
  void* small = sn_allocate(100);
  size_t with_small = sn_memory_used();
  assert_true(with_small >= 100);
  size_t peak_before = sn_memory_peak();
  size_t large_bytes = peak_before + 1000;
  void* large = sn_allocate(large_bytes);
  assert_int_equal(sn_allocation_count(), count + 2);
  size_t with_both = sn_memory_used();
  assert_true(with_both >= with_small + large_bytes);
  assert_int_equal(sn_memory_peak(), with_both);
  sn_release(large);
  assert_int_equal(sn_memory_used(), with_small);
  sn_release(small);
  assert_int_equal(sn_memory_used(), 0);
  assert_int_equal(sn_memory_peak(), with_both);
  sn_memory_restart_peak();
  assert_int_equal(sn_memory_peak(), 0);
  assert_int_equal(sn_allocation_count(), count + 2);
}

static void impossible_sizes_are_refused(void** unused) {
  (void)unused;
  uint64_t count = sn_allocation_count();
  // With the header, or when rounded to the alignment, these pass the end of the number range.
  for (size_t short_of = 0; short_of < 127; ++short_of) {
    assert_null(sn_allocate(SIZE_MAX - short_of));
  }
  assert_int_equal(sn_memory_used(), 0);
  assert_int_equal(sn_allocation_count(), count);
}

static void arena_blocks_are_aligned_cleared_and_apart(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  unsigned char* blocks[400];
  uint64_t state = 1;
  size_t sizes[400], total = 0;
  for (int i = 0; i < 400; ++i) {
    // Mostly small; some larger than a slab of 64 KiB.
    sizes[i] = next_random(&state) % 1500 + (i % 50 == 49 ? 70000 : 0);
    total += sizes[i];
    blocks[i] = take(arena, sizes[i]);
    assert_true(is_aligned(blocks[i]));
    assert_true(is_cleared(blocks[i], sizes[i]));
    memset(blocks[i], i % 251 + 1, sizes[i]);
  }
  for (int i = 0; i < 400; ++i) {
    for (size_t b = 0; b < sizes[i]; ++b) assert_int_equal(blocks[i][b], i % 251 + 1);
  }
  assert_true(sn_arena_bytes(arena) >= total);
  assert_true(sn_memory_used() >= sn_arena_bytes(arena));
  sn_arena_destroy(arena);
  sn_arena_destroy(NULL);
  assert_int_equal(sn_arena_bytes(NULL), 0);
  assert_int_equal(sn_memory_used(), 0);
}

static void arena_takes_zero_items(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  double* none;
  assert_int_equal(SN_ARENA_NEW(arena, 0, &none, NULL), SN_OK);
  assert_non_null(none);
  sn_arena_destroy(arena);
}

static void arena_refuses_products_that_overflow(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  void* kept = take(arena, 100);
  memset(kept, 7, 100);
  size_t bytes = sn_arena_bytes(arena);
  static const size_t wrong[][2] = {{SIZE_MAX, 2},
                                    {2, SIZE_MAX},
                                    {SIZE_MAX / 8 + 1, 8},
                                    {SIZE_MAX, 1},
                                    {SIZE_MAX - 1, 1},
                                    {SIZE_MAX / 2 + 1, 1},
                                    {(size_t)1 << 32, (size_t)1 << 32}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    void* block = kept;
    sn_error err = {0};
    assert_int_equal(sn_arena_take(arena, wrong[i][0], wrong[i][1], &block, &err), SN_ERR_MEMORY);
    assert_int_equal(err.status, SN_ERR_MEMORY);
    assert_message_has(&err, "out of memory");
    assert_null(block);
  }
  assert_int_equal(sn_arena_bytes(arena), bytes);
  assert_int_equal(((unsigned char*)kept)[99], 7);
  sn_arena_destroy(arena);
}

static void release_gives_back_what_came_after_the_mark(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  memset(take(arena, 1000), 1, 1000);
  sn_arena_mark mark = sn_arena_get_mark(arena);
  size_t bytes = sn_arena_bytes(arena), used = sn_memory_used();
  unsigned char* first = take(arena, 500);
  memset(first, 2, 500);
  for (int i = 0; i < 10; ++i) memset(take(arena, 50000), 3, 50000);
  assert_true(sn_memory_used() > used);
  sn_arena_release(arena, mark);
  assert_int_equal(sn_arena_bytes(arena), bytes);
  assert_int_equal(sn_memory_used(), used);
  // The same room again, and cleared again.
  unsigned char* again = take(arena, 500);
  assert_ptr_equal(again, first);
  assert_true(is_cleared(again, 500));
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
}

static void marks_nest(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  sn_arena_mark outer = sn_arena_get_mark(arena);
  unsigned char* a = take(arena, 40000);
  memset(a, 5, 40000);
  sn_arena_mark inner = sn_arena_get_mark(arena);
  take(arena, 40000);
  take(arena, 200000);
  sn_arena_release(arena, inner);
  assert_int_equal(a[0], 5);
  assert_int_equal(a[39999], 5);
  sn_arena_release(arena, inner);
  assert_ptr_not_equal(take(arena, 64), a);
  sn_arena_release(arena, outer);
  assert_int_equal(sn_arena_bytes(arena), 0);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
}

static void work_between_mark_and_release_does_not_grow_the_arena(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  take(arena, 100);
  size_t bytes = sn_arena_bytes(arena);
  for (int round = 0; round < 1000; ++round) {
    sn_arena_mark mark = sn_arena_get_mark(arena);
    for (int i = 0; i < 5; ++i) take(arena, 3000);
    sn_arena_release(arena, mark);
  }
  assert_int_equal(sn_arena_bytes(arena), bytes);
  sn_arena_destroy(arena);
}

// Of an arena that keeps what it dropped: large blocks come again, cleared, instead of new ones.
static void dropped_blocks_are_taken_again(void** unused) {
  (void)unused;
  const size_t large = (size_t)8 << 20;
  sn_arena* arena = make_arena();
  sn_arena_keep_dropped(arena);
  take(arena, 100);
  sn_arena_mark mark = sn_arena_get_mark(arena);
  void *small = take(arena, large / 2), *first = take(arena, large);
  memset(first, 1, large);
  sn_arena_release(arena, mark);
  uint64_t count = sn_allocation_count();
  size_t held = sn_arena_bytes(arena);
  assert_ptr_equal(take(arena, large / 3), small);  // the smallest that is large enough
  assert_ptr_equal(take(arena, large), first);
  assert_true(is_cleared(first, large));
  sn_arena_release(arena, mark);
  assert_int_equal(sn_allocation_count(), count);
  assert_int_equal(sn_arena_bytes(arena), held);
  // Where none is large enough, the largest makes way.
  take(arena, 2 * large);
  assert_int_equal(sn_allocation_count(), count + 1);
  assert_true(sn_arena_bytes(arena) < held + large + large / 2);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
}

static void strings_are_copied(void** unused) {
  (void)unused;
  sn_arena* arena = make_arena();
  char text[] = "biceps";
  char* copy = sn_arena_copy_string(arena, text);
  text[0] = 'x';
  assert_string_equal(copy, "biceps");
  assert_string_equal(sn_arena_copy_string(arena, ""), "");
  sn_arena_destroy(arena);
}

// An allocator that keeps its own account.
typedef struct account {
  size_t taken, given_back;
  bool all_aligned;
} account;

static void* count_and_allocate(void* user, size_t bytes, size_t alignment) {
  account* a = user;
  a->taken++;
  a->all_aligned = a->all_aligned && alignment == SN_ALIGNMENT;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void count_and_release(void* user, void* block) {
  account* a = user;
  a->given_back += block != NULL;
  free(block);
}

static void every_block_goes_through_the_hook(void** unused) {
  (void)unused;
  account books = {.all_aligned = true};
  sn_set_allocator(&(sn_allocator){count_and_allocate, count_and_release, &books});
  sn_release(sn_allocate(10));
  sn_release(NULL);
  sn_arena* arena = make_arena();
  for (int i = 0; i < 5; ++i) take(arena, 60000);
  sn_arena_destroy(arena);
  sn_set_allocator(NULL);
  assert_int_equal(books.taken, 7);
  assert_int_equal(books.given_back, 7);
  assert_true(books.all_aligned);
  sn_release(sn_allocate(10));
  assert_int_equal(books.taken, 7);
}

static sn_status fill_an_arena(sn_error* err) {
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = SN_OK;
  for (int i = 0; i < 20 && status == SN_OK; ++i) {
    double* block;
    sn_arena_mark mark = sn_arena_get_mark(arena);
    size_t bytes = sn_arena_bytes(arena);
    status = SN_ARENA_NEW(arena, 6000, &block, err);
    // A failure leaves the arena as it was, and usable.
    if (status != SN_OK) {
      assert_null(block);
      assert_int_equal(sn_arena_bytes(arena), bytes);
      assert_ptr_equal(sn_arena_get_mark(arena).block, mark.block);
    }
  }
  sn_arena_destroy(arena);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(fill_an_arena);
  sn_arena* arena = make_arena();
  char* text = malloc(70000);
  memset(text, 'a', 69999);
  text[69999] = 0;
  static const sn_allocator failing = {allocate_or_fail, release_block, NULL};
  sn_set_allocator(&failing);
  allocations_left = 0;
  assert_null(sn_allocate(1));
  assert_null(sn_arena_copy_string(arena, text));
  sn_set_allocator(NULL);
  free(text);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_aligned_and_writable),
      cmocka_unit_test(counters_follow_every_block),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(arena_blocks_are_aligned_cleared_and_apart),
      cmocka_unit_test(arena_takes_zero_items),
      cmocka_unit_test(arena_refuses_products_that_overflow),
      cmocka_unit_test(release_gives_back_what_came_after_the_mark),
      cmocka_unit_test(marks_nest),
      cmocka_unit_test(work_between_mark_and_release_does_not_grow_the_arena),
      cmocka_unit_test(dropped_blocks_are_taken_again),
      cmocka_unit_test(strings_are_copied),
      cmocka_unit_test(every_block_goes_through_the_hook),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
