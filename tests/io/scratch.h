// What the tests of readers and writers share: a folder that comes and goes with each test, files
// in it, and an allocator that fails on demand.
#ifndef SN_TESTS_IO_SCRATCH_H
#define SN_TESTS_IO_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above.
#include <cmocka.h>
#include <dirent.h>
#include <ftw.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "sinew/base.h"

static char scratch_folder[64];

static inline int make_scratch_folder(void** unused) {
  (void)unused;
  snprintf(scratch_folder, sizeof scratch_folder, "/tmp/sinew-test-XXXXXX");
  return mkdtemp(scratch_folder) ? 0 : -1;
}

static inline int remove_entry(const char* path, const struct stat* info, int kind,
                               struct FTW* at) {
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

static inline int remove_scratch_folder(void** unused) {
  (void)unused;
  return nftw(scratch_folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

// Path of a file in the scratch folder; valid until the fourth call after this one.
static inline const char* scratch_path(const char* name) {
  static char paths[4][256];
  static int turn;
  char* path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
  return path;
}

static inline const char* scratch_write(const char* name, const void* bytes, size_t size) {
  const char* path = scratch_path(name);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  return path;
}

static inline int scratch_file_count(void) {
  int count = 0;
  DIR* folder = opendir(scratch_folder);
  assert_non_null(folder);
  for (struct dirent* entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

// The whole of any file, with a zero behind it. The caller frees.
static inline char* read_everything(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char* bytes = malloc(*size + 1);
  assert_non_null(bytes);
  assert_int_equal(fread(bytes, 1, *size, file), *size);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

static inline void skip_without_assets(void) {
  if (access(SN_TEST_ASSETS, R_OK) == 0) return;
  print_message("skipped: no assets folder\n");
  skip();
}

// For bodies and runs that take long and use memory in the same ways as those of quicker tests.
static inline void skip_if_sanitized(void) {
#ifdef SN_SANITIZED
  print_message("skipped: sanitizers see this code elsewhere\n");
  skip();
#endif
}

// A locale that writes 1,5 for 1.5. The caller sets "C" again.
static inline void set_comma_locale_or_skip(void) {
  static const char* const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "it_IT.UTF-8", "de_DE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    if (setlocale(LC_ALL, names[i])) return;
  }
  print_message("skipped: no locale with a decimal comma\n");
  skip();
}

static inline void assert_message_has(const sn_error* err, const char* part) {
  if (!strstr(err->text, part)) fail_msg("'%s' is not in the message '%s'", part, err->text);
}

// Allocations left until one fails; from then on all do.
static size_t allocations_left;

static inline void* allocate_or_fail(void* user, size_t bytes, size_t alignment) {
  (void)user;
  if (allocations_left == 0) return NULL;
  --allocations_left;
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static inline void release_block(void* user, void* block) {
  (void)user;
  free(block);
}

// Run `attempt` with the n-th allocation failing, for every n until it ends otherwise: each failure must be
// SN_ERR_MEMORY and leave nothing behind. The attempt frees what it made when it succeeds.
static inline sn_status starve(sn_status (*attempt)(sn_error* err)) {
  static const sn_allocator failing = {allocate_or_fail, release_block, NULL};
  assert_int_equal(sn_memory_used(), 0);
  sn_set_allocator(&failing);
  sn_status status = SN_ERR_MEMORY;
  for (size_t n = 0; status == SN_ERR_MEMORY; ++n) {
    allocations_left = n;
    sn_error err = {0};
    status = attempt(&err);
    assert_int_equal(sn_memory_used(), 0);
    assert_int_equal(err.status, status);
    assert_true(n < 100000);
  }
  sn_set_allocator(NULL);
  return status;
}

static inline void assert_survives_failing_allocations(sn_status (*attempt)(sn_error* err)) {
  assert_int_equal(starve(attempt), SN_OK);
}

// The same, and again with every request of an arena as an allocation that can fail.
static inline void assert_survives_every_failing_request(sn_status (*attempt)(sn_error* err)) {
  assert_int_equal(starve(attempt), SN_OK);
  size_t slab = sn_arena_set_slab(0);
  assert_int_equal(starve(attempt), SN_OK);
  sn_arena_set_slab(slab);
}

// A small fixed sequence, the same on every machine.
static inline uint32_t next_random(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

#endif
