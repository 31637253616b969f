#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "io/scratch.h"
#include "sinew/io.h"

#define VERTEX_COUNT 5000u  // more than goes into one write
#define FRAME_BYTES (12 * (size_t)VERTEX_COUNT)

static float frame_values[3 * VERTEX_COUNT];

static const float* frame_of(int frame) {
  for (int i = 0; i < 3 * (int)VERTEX_COUNT; ++i) {
    frame_values[i] = (float)(frame * 100000 + i) / 7;
  }
  return frame_values;
}

static void append_frames(sn_pc2* pc2, int first, int end) {
  for (int frame = first; frame < end; ++frame) {
    assert_int_equal(sn_pc2_append(pc2, frame_of(frame), NULL), SN_OK);
  }
}

static sn_pc2* open_cache(const char* path, uint32_t keep_frames) {
  sn_pc2* pc2;
  sn_error err = {0};
  if (sn_pc2_open(path, VERTEX_COUNT, 1, keep_frames, &pc2, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  return pc2;
}

static void assert_holds_frames(const char* path, int count) {
  sn_pc2_info info;
  sn_error err = {0};
  if (sn_pc2_read_info(path, &info, &err) != SN_OK) fail_msg("%s", err.text);
  assert_int_equal(info.vertex_count, VERTEX_COUNT);
  assert_int_equal(info.frame_count, count);
  assert_true(info.first_frame == 1.0f);
  static float read[3 * VERTEX_COUNT];
  for (int frame = 0; frame < count; ++frame) {
    assert_int_equal(sn_pc2_read_frame(path, (uint32_t)frame, read, &err), SN_OK);
    assert_memory_equal(read, frame_of(frame), sizeof read);
  }
  assert_int_equal(sn_pc2_read_frame(path, (uint32_t)count, read, &err), SN_ERR_INPUT);
}

static void the_bytes_are_those_of_the_format(void** unused) {
  (void)unused;
  static const float positions[] = {1, -2, 0.5f, 3, 0, 1e-3f};
  const char* path = scratch_path("a.pc2");
  sn_pc2* pc2;
  assert_int_equal(sn_pc2_open(path, 2, -3, 0, &pc2, NULL), SN_OK);
  assert_int_equal(sn_pc2_append(pc2, positions, NULL), SN_OK);
  sn_pc2_close(pc2);
  static const char expected[] =
      "POINTCACHE2\0\x01\0\0\0\x02\0\0\0\0\0\x40\xc0\0\0\x80\x3f\x01\0\0\0"
      "\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f\0\0\x40\x40\0\0\0\0\x6f\x12\x83\x3a";
  size_t size;
  char* bytes = read_everything(path, &size);
  assert_int_equal(size, sizeof expected - 1);
  assert_memory_equal(bytes, expected, size);
  free(bytes);
}

static void a_cache_is_valid_after_every_frame(void** unused) {
  (void)unused;
  const char* path = scratch_write("a.pc2", "something older", 15);
  sn_pc2* pc2 = open_cache(path, 0);
  for (int frame = 0; frame < 4; ++frame) {
    assert_holds_frames(path, frame);
    append_frames(pc2, frame, frame + 1);
  }
  sn_pc2_close(pc2);
  assert_holds_frames(path, 4);
  assert_int_equal(scratch_file_count(), 1);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_frame_cut_short_by_a_kill_is_not_seen(void** unused) {
  (void)unused;
  char path[256];
  snprintf(path, sizeof path, "%s", scratch_path("a.pc2"));
  sn_pc2* pc2 = open_cache(path, 0);
  append_frames(pc2, 0, 3);
  sn_pc2_close(pc2);
  FILE* file = fopen(path, "ab");
  fwrite(frame_of(3), 1, FRAME_BYTES / 2, file);
  fclose(file);
  assert_holds_frames(path, 3);
  pc2 = open_cache(path, 3);
  append_frames(pc2, 3, 5);
  sn_pc2_close(pc2);
  assert_holds_frames(path, 5);
}

static void a_killed_writer_leaves_whole_frames(void** unused) {
  (void)unused;
  const char* path = scratch_path("a.pc2");
  pid_t writer = fork();
  assert_true(writer >= 0);
  if (writer == 0) {
    sn_pc2* pc2;
    if (sn_pc2_open(path, VERTEX_COUNT, 1, 0, &pc2, NULL) != SN_OK) _exit(1);
    for (int frame = 0;; ++frame) {
      if (sn_pc2_append(pc2, frame_of(frame), NULL) != SN_OK) _exit(1);
    }
  }
  usleep(100000);
  kill(writer, SIGKILL);
  int outcome;
  waitpid(writer, &outcome, 0);
  assert_true(WIFSIGNALED(outcome));
  sn_pc2_info info;
  if (access(path, R_OK) != 0) return;  // killed before it began
  assert_int_equal(sn_pc2_read_info(path, &info, NULL), SN_OK);
  assert_holds_frames(path, (int)info.frame_count);
}

static void continuing_cuts_and_goes_on(void** unused) {
  (void)unused;
  const char* path = scratch_path("a.pc2");
  sn_pc2* pc2 = open_cache(path, 0);
  append_frames(pc2, 0, 6);
  sn_pc2_close(pc2);
  pc2 = open_cache(path, 2);
  assert_holds_frames(path, 2);
  size_t size;
  free(read_everything(path, &size));
  assert_int_equal(size, 32 + 2 * FRAME_BYTES);
  append_frames(pc2, 2, 4);
  sn_pc2_close(pc2);
  assert_holds_frames(path, 4);
}

static void assert_cannot_continue(const char* path, uint32_t vertex_count, int first_frame,
                                   uint32_t keep_frames, const char* part) {
  sn_pc2* pc2;
  sn_error err = {0};
  assert_int_equal(sn_pc2_open(path, vertex_count, first_frame, keep_frames, &pc2, &err),
                   SN_ERR_INPUT);
  assert_message_has(&err, path);
  assert_message_has(&err, part);
  assert_null(pc2);
  assert_int_equal(sn_memory_used(), 0);
}

static void only_a_cache_of_ours_is_continued(void** unused) {
  (void)unused;
  char path[256];
  snprintf(path, sizeof path, "%s", scratch_path("a.pc2"));
  sn_pc2* pc2 = open_cache(path, 0);
  append_frames(pc2, 0, 2);
  sn_pc2_close(pc2);
  assert_cannot_continue(path, VERTEX_COUNT + 1, 1, 2, "5000 vertices");
  assert_cannot_continue(path, VERTEX_COUNT, 2, 2, "starts at frame 1");
  assert_cannot_continue(path, VERTEX_COUNT, 1, 3, "holds 2 frames");
  assert_cannot_continue(path, 0, 1, 0, "0 vertices");
  assert_holds_frames(path, 2);
  assert_cannot_continue(scratch_path("missing.pc2"), VERTEX_COUNT, 1, 1, "No such file");
  assert_int_equal(truncate(path, 32 + 2 * (off_t)FRAME_BYTES - 1), 0);
  assert_cannot_continue(path, VERTEX_COUNT, 1, 1, "the file ends after 1");
}

static void assert_info_refused(const char* bytes, size_t size, const char* part) {
  sn_pc2_info info;
  sn_error err = {0};
  const char* path = scratch_write("bad.pc2", bytes, size);
  assert_int_equal(sn_pc2_read_info(path, &info, &err), SN_ERR_INPUT);
  assert_message_has(&err, path);
  assert_message_has(&err, part);
  assert_message_has(&err, "expected");
  float position[3];
  assert_int_equal(sn_pc2_read_frame(path, 0, position, NULL), SN_ERR_INPUT);
}

static void every_number_of_a_header_is_checked(void** unused) {
  (void)unused;
  static const char good[44] =
      "POINTCACHE2\0\x01\0\0\0\x01\0\0\0\0\0\x80\x3f\0\0\x80\x3f\x01\0\0\0"
      "\0\0\x80\x3f\0\0\0\xc0\0\0\0\x3f";
  sn_pc2_info info;
  assert_int_equal(sn_pc2_read_info(scratch_write("good.pc2", good, 44), &info, NULL), SN_OK);
  for (size_t size = 0; size < 44; ++size) assert_info_refused(good, size, "expected");
  static const struct {
    int at;
    const char* word;
    const char* part;
  } faults[] = {
      {0, "point", "POINTCACHE2"},
      {12, "\x02\0\0\0", "version 2"},
      {16, "\0\0\0\0", "0 vertices"},
      {16, "\xff\xff\xff\xff", "-1 vertices"},
      {16, "\xff\xff\xff\x7f", "ends after 0"},
      {20, "\0\0\xc0\x7f", "first frame"},
      {24, "\0\0\x80\x7f", "frame step"},
      {28, "\x02\0\0\0", "2 frames"},
      {28, "\xff\xff\xff\xff", "frames"},
      {28, "\xff\xff\xff\x7f", "frames"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
    char bad[44];
    memcpy(bad, good, sizeof bad);
    memcpy(bad + faults[i].at, faults[i].word, 4);
    assert_info_refused(bad, sizeof bad, faults[i].part);
  }
}

static void damaged_caches_are_refused_or_read(void** unused) {
  (void)unused;
  char bytes[32 + 2 * 36] = "POINTCACHE2\0\x01\0\0\0\x03\0\0\0\0\0\x80\x3f\0\0\x80\x3f\x02\0\0\0";
  const char* path = scratch_path("damaged.pc2");
  uint64_t random = 5;
  for (int round = 0; round < 2000; ++round) {
    char damaged[sizeof bytes];
    memcpy(damaged, bytes, sizeof bytes);
    for (int i = 0; i <= round % 3; ++i) {
      damaged[12 + next_random(&random) % (sizeof bytes - 12)] = (char)next_random(&random);
    }
    scratch_write("damaged.pc2", damaged, sizeof damaged);
    sn_pc2_info info;
    sn_status status = sn_pc2_read_info(path, &info, NULL);
    assert_true(status == SN_OK || status == SN_ERR_INPUT);
    if (status != SN_OK) continue;
    assert_true(info.vertex_count * (uint64_t)info.frame_count <= 6 || info.frame_count == 0);
    float positions[18];
    if (info.frame_count > 0) {
      status = sn_pc2_read_frame(path, info.frame_count - 1, positions, NULL);
      assert_true(status == SN_OK || status == SN_ERR_INPUT);
    }
  }
}

static void a_position_that_is_not_finite_is_refused_in_reading(void** unused) {
  (void)unused;
  static const char bytes[44] =
      "POINTCACHE2\0\x01\0\0\0\x01\0\0\0\0\0\x80\x3f\0\0\x80\x3f\x01\0\0\0"
      "\0\0\x80\x3f\0\0\xc0\x7f\0\0\0\x3f";
  float position[3];
  sn_error err;
  assert_int_equal(
      sn_pc2_read_frame(scratch_write("nan.pc2", bytes, sizeof bytes), 0, position, &err),
      SN_ERR_INPUT);
  assert_message_has(&err, "vertex 0 is not finite");
}

static void a_position_that_is_not_finite_is_our_own_mistake_in_writing(void** unused) {
  (void)unused;
  sn_pc2* pc2;
  assert_int_equal(sn_pc2_open(scratch_path("a.pc2"), 1, 1, 0, &pc2, NULL), SN_OK);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    if (!freopen("/dev/null", "w", stderr)) _exit(2);
    static const float position[] = {0, NAN, 0};
    sn_pc2_append(pc2, position, NULL);
    _exit(0);
  }
  int outcome;
  waitpid(child, &outcome, 0);
  assert_true(WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGABRT);
  sn_pc2_close(pc2);
  sn_pc2_info info;
  assert_int_equal(sn_pc2_read_info(scratch_path("a.pc2"), &info, NULL), SN_OK);
  assert_int_equal(info.frame_count, 0);
}

static void a_full_disk_leaves_the_cache_valid(void** unused) {
  (void)unused;
  char path[256];
  snprintf(path, sizeof path, "%s", scratch_path("a.pc2"));
  sn_pc2* pc2 = open_cache(path, 0);
  append_frames(pc2, 0, 2);
  struct rlimit before, small;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){32 + 2 * FRAME_BYTES + 20000, before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  sn_error err;
  sn_status status = sn_pc2_append(pc2, frame_of(2), &err);
  setrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(status, SN_ERR_IO);
  assert_message_has(&err, path);
  assert_holds_frames(path, 2);
  append_frames(pc2, 2, 3);
  sn_pc2_close(pc2);
  assert_holds_frames(path, 3);
}

static sn_status write_cache(sn_error* err) {
  sn_pc2* pc2;
  sn_status status = sn_pc2_open(scratch_path("a.pc2"), VERTEX_COUNT, 1, 0, &pc2, err);
  if (status == SN_OK) status = sn_pc2_append(pc2, frame_of(0), err);
  sn_pc2_close(pc2);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_every_failing_request(write_cache);
}

#define SCRATCH_TEST(name) \
  cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(the_bytes_are_those_of_the_format),
      SCRATCH_TEST(a_cache_is_valid_after_every_frame),
      SCRATCH_TEST(a_frame_cut_short_by_a_kill_is_not_seen),
      SCRATCH_TEST(a_killed_writer_leaves_whole_frames),
      SCRATCH_TEST(continuing_cuts_and_goes_on),
      SCRATCH_TEST(only_a_cache_of_ours_is_continued),
      SCRATCH_TEST(every_number_of_a_header_is_checked),
      SCRATCH_TEST(damaged_caches_are_refused_or_read),
      SCRATCH_TEST(a_position_that_is_not_finite_is_refused_in_reading),
      SCRATCH_TEST(a_position_that_is_not_finite_is_our_own_mistake_in_writing),
      SCRATCH_TEST(a_full_disk_leaves_the_cache_valid),
      SCRATCH_TEST(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
