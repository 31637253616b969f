#include "io/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "io/scratch.h"

static void assert_file_holds(const char* path, const char* expected) {
  size_t size;
  char* bytes = read_everything(path, &size);
  assert_int_equal(size, strlen(expected));
  assert_memory_equal(bytes, expected, size);
  free(bytes);
}

static void a_file_is_read_whole_with_a_zero_behind_it(void** unused) {
  (void)unused;
  const char* path = scratch_write("bytes", "a\0b", 3);
  sn_arena* arena;
  assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
  char* bytes;
  size_t size;
  assert_int_equal(sn_file_read(path, arena, &bytes, &size, NULL), SN_OK);
  assert_int_equal(size, 3);
  assert_memory_equal(bytes, "a\0b", 4);
  assert_int_equal(sn_file_read(scratch_write("none", "", 0), arena, &bytes, &size, NULL), SN_OK);
  assert_int_equal(size, 0);
  assert_int_equal(bytes[0], 0);
  sn_arena_destroy(arena);
}

static void a_file_that_cannot_be_read_is_wrong_input(void** unused) {
  (void)unused;
  sn_arena* arena;
  assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
  char* bytes;
  size_t size;
  sn_error err;
  const char* missing = scratch_path("missing");
  assert_int_equal(sn_file_read(missing, arena, &bytes, &size, &err), SN_ERR_INPUT);
  assert_message_has(&err, missing);
  assert_message_has(&err, "No such file");
  assert_int_equal(sn_file_read(scratch_folder, arena, &bytes, &size, &err), SN_ERR_INPUT);
  assert_message_has(&err, "not a regular file");
  const char* pipe_path = scratch_path("pipe");
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  assert_int_equal(sn_file_read(pipe_path, arena, &bytes, &size, &err), SN_ERR_INPUT);
  assert_null(bytes);
  sn_arena_destroy(arena);
}

static void writing_replaces_the_file_and_leaves_no_other(void** unused) {
  (void)unused;
  const char* path = scratch_write("file", "old and longer", 14);
  sn_error err = {0};
  assert_int_equal(sn_file_write_atomic(path, "new", 3, &err), SN_OK);
  assert_file_holds(path, "new");
  assert_int_equal(sn_file_write_atomic(path, "", 0, &err), SN_OK);
  assert_file_holds(path, "");
  assert_int_equal(scratch_file_count(), 1);
  assert_int_equal(sn_memory_used(), 0);
}

static void what_a_killed_writer_left_is_used_up(void** unused) {
  (void)unused;
  scratch_write("file.tmp", "half of something long", 22);
  assert_int_equal(sn_file_write_atomic(scratch_path("file"), "new", 3, NULL), SN_OK);
  assert_file_holds(scratch_path("file"), "new");
  assert_int_equal(scratch_file_count(), 1);
}

static void two_writers_of_one_file_are_kept_apart(void** unused) {
  (void)unused;
  const char* path = scratch_write("file", "old", 3);
  int other = open(scratch_path("file.tmp"), O_CREAT | O_WRONLY, 0600);
  assert_true(other >= 0);
  assert_int_equal(flock(other, LOCK_EX), 0);
  sn_error err;
  assert_int_equal(sn_file_write_atomic(path, "new", 3, &err), SN_ERR_IO);
  assert_message_has(&err, "another program");
  assert_file_holds(path, "old");
  close(other);
  assert_int_equal(sn_file_write_atomic(path, "new", 3, &err), SN_OK);
}

static void a_path_without_folder_is_in_the_current_one(void** unused) {
  (void)unused;
  char before[4096];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(scratch_folder), 0);
  assert_int_equal(sn_file_write_atomic("here", "x", 1, NULL), SN_OK);
  assert_int_equal(chdir(before), 0);
  assert_file_holds(scratch_path("here"), "x");
}

static void a_failed_write_keeps_the_old_file_and_says_why(void** unused) {
  (void)unused;
  sn_error err;
  const char* nowhere = scratch_path("nowhere/file");
  assert_int_equal(sn_file_write_atomic(nowhere, "x", 1, &err), SN_ERR_IO);
  assert_message_has(&err, nowhere);
  assert_message_has(&err, "No such file");

  const char* folder = scratch_path("folder");
  assert_int_equal(sn_folder_create(folder, &err), SN_OK);
  assert_int_equal(sn_file_write_atomic(folder, "x", 1, &err), SN_ERR_IO);
  assert_int_equal(scratch_file_count(), 1);

  // A limit on the file's size stands for a full disk.
  const char* path = scratch_write("file", "old", 3);
  struct rlimit before, small = {1000, 1000};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small.rlim_max = before.rlim_max;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  static const char much[5000] = {1};
  sn_status status = sn_file_write_atomic(path, much, sizeof much, &err);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(status, SN_ERR_IO);
  assert_message_has(&err, "too large");
  assert_file_holds(path, "old");
  assert_int_equal(scratch_file_count(), 2);
}

static void folders_are_created_with_those_above(void** unused) {
  (void)unused;
  sn_error err = {0};
  assert_int_equal(sn_folder_create(scratch_path("a/b//c/"), &err), SN_OK);
  struct stat info;
  assert_int_equal(stat(scratch_path("a/b/c"), &info), 0);
  assert_true(S_ISDIR(info.st_mode));
  assert_int_equal(sn_folder_create(scratch_path("a/b/c"), &err), SN_OK);
  assert_int_equal(sn_folder_create("/", &err), SN_OK);
  assert_int_equal(sn_folder_create(".", &err), SN_OK);
  assert_int_equal(sn_folder_create("", &err), SN_ERR_IO);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_file_in_the_way_of_a_folder_is_named(void** unused) {
  (void)unused;
  scratch_write("taken", "", 0);
  sn_error err;
  assert_int_equal(sn_folder_create(scratch_path("taken"), &err), SN_ERR_IO);
  assert_message_has(&err, "is a file");
  assert_int_equal(sn_folder_create(scratch_path("taken/below"), &err), SN_ERR_IO);
  assert_message_has(&err, "taken: is a file");
}

static sn_status write_and_read(sn_error* err) {
  sn_arena* arena;
  sn_status status = sn_arena_create(&arena, err);
  char* bytes;
  size_t size;
  if (status == SN_OK) status = sn_folder_create(scratch_path("folder"), err);
  if (status == SN_OK) status = sn_file_write_atomic(scratch_path("folder/f"), "text", 4, err);
  if (status == SN_OK) {
    status = sn_file_read(scratch_path("folder/f"), arena, &bytes, &size, err);
  }
  sn_arena_destroy(arena);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(write_and_read);
}

#define SCRATCH_TEST(name) \
  cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(a_file_is_read_whole_with_a_zero_behind_it),
      SCRATCH_TEST(a_file_that_cannot_be_read_is_wrong_input),
      SCRATCH_TEST(writing_replaces_the_file_and_leaves_no_other),
      SCRATCH_TEST(what_a_killed_writer_left_is_used_up),
      SCRATCH_TEST(two_writers_of_one_file_are_kept_apart),
      SCRATCH_TEST(a_path_without_folder_is_in_the_current_one),
      SCRATCH_TEST(a_failed_write_keeps_the_old_file_and_says_why),
      SCRATCH_TEST(folders_are_created_with_those_above),
      SCRATCH_TEST(a_file_in_the_way_of_a_folder_is_named),
      SCRATCH_TEST(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
