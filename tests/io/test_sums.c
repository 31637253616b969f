// Checksums beside a cache: whatever bit is wrong in either file, it shows; and a writer that was stopped
// anywhere leaves both valid.
#include "io/sums.h"

#include "io/pc2.h"
#include "io/scratch.h"

#define VERTICES 4u
#define FRAMES 5u

static const float* frame_of(uint32_t frame) {
  static float values[3 * VERTICES];
  for (uint32_t i = 0; i < 3 * VERTICES; ++i) values[i] = (float)(100 * frame + i) / 7;
  return values;
}

static void write_cache(const char* name, uint32_t frames) {
  sn_pc2* pc2;
  sn_error err = {0};
  assert_int_equal(sn_pc2_start(scratch_path(name), VERTICES, 3, true, &pc2, &err), SN_OK);
  for (uint32_t f = 0; f < frames; ++f) {
    assert_int_equal(sn_pc2_append(pc2, frame_of(f), &err), SN_OK);
  }
  sn_pc2_close(pc2);
}

// The whole cache, as a program that expects so many frames reads it.
static sn_status read_cache(const char* name, uint32_t frames, sn_error* err) {
  sn_pc2_info info;
  float positions[3 * VERTICES];
  char path[256];
  snprintf(path, sizeof path, "%s", scratch_path(name));
  SN_TRY(sn_pc2_read_info(path, &info, err));
  SN_CHECK(info.vertex_count == VERTICES && info.frame_count == frames, err, SN_ERR_INPUT,
           "%u frames of %u vertices", info.frame_count, info.vertex_count);
  for (uint32_t f = 0; f < frames; ++f) {
    SN_TRY(sn_pc2_check_frame(path, f, err));
    SN_TRY(sn_pc2_read_frame(path, f, positions, err));
    assert_memory_equal(positions, frame_of(f), sizeof positions);
  }
  return SN_OK;
}

static sn_status continue_cache(const char* name, uint32_t keep, sn_error* err) {
  sn_pc2* pc2;
  SN_TRY(sn_pc2_continue(scratch_path(name), VERTICES, 3, keep, true, &pc2, err));
  sn_pc2_close(pc2);
  return SN_OK;
}

static void what_was_written_is_read(void** unused) {
  (void)unused;
  sn_error err = {0};
  for (uint32_t frames = 0; frames <= FRAMES; ++frames) {
    write_cache("a.pc2", frames);
    assert_int_equal(read_cache("a.pc2", frames, &err), SN_OK);
  }
  assert_int_equal(scratch_file_count(), 2);
  assert_int_equal(sn_memory_used(), 0);
}

// Readers see every flipped bit of either file. A resume needs the frames and their checksums; it puts a
// wrong count right, and refuses all else.
static void flip_every_bit(const char* name) {
  size_t size;
  sn_error err = {0};
  write_cache("a.pc2", FRAMES);
  char* bytes = read_everything(scratch_path(name), &size);
  for (size_t bit = 0; bit < 8 * size; ++bit) {
    bytes[bit / 8] ^= (char)(1 << bit % 8);
    scratch_write(name, bytes, size);
    bytes[bit / 8] ^= (char)(1 << bit % 8);
    if (read_cache("a.pc2", FRAMES, &err) != SN_ERR_INPUT) {
      fail_msg("bit %zu of %s is wrong, and nobody sees it", bit, name);
    }
    sn_status status = continue_cache("a.pc2", FRAMES, &err);
    bool count = strcmp(name, "a.pc2") == 0 && bit / 8 >= 28 && bit / 8 < 32;
    assert_true(status == SN_ERR_INPUT || (count && status == SN_OK));
  }
  scratch_write(name, bytes, size);
  assert_int_equal(read_cache("a.pc2", FRAMES, &err), SN_OK);
  free(bytes);
  assert_int_equal(sn_memory_used(), 0);
}

static void every_flipped_bit_of_a_cache_is_seen(void** unused) {
  (void)unused;
  flip_every_bit("a.pc2");
}

static void every_flipped_bit_of_its_checksums_is_seen(void** unused) {
  (void)unused;
  flip_every_bit("a.pc2.sums");
}

static void every_cut_is_seen(void** unused) {
  (void)unused;
  static const char* const NAMES[] = {"a.pc2", "a.pc2.sums"};
  sn_error err = {0};
  for (int i = 0; i < 2; ++i) {
    size_t size;
    write_cache("a.pc2", FRAMES);
    char* bytes = read_everything(scratch_path(NAMES[i]), &size);
    for (size_t cut = 0; cut < size; ++cut) {
      scratch_write(NAMES[i], bytes, cut);
      assert_int_equal(read_cache("a.pc2", FRAMES, &err), SN_ERR_INPUT);
      assert_int_equal(continue_cache("a.pc2", FRAMES, &err), SN_ERR_INPUT);
    }
    free(bytes);
  }
}

static void frames_that_changed_places_are_seen(void** unused) {
  (void)unused;
  size_t size, frame = 12 * VERTICES;
  sn_error err = {0};
  char swap[12 * VERTICES];
  write_cache("a.pc2", FRAMES);
  char* bytes = read_everything(scratch_path("a.pc2"), &size);
  memcpy(swap, bytes + 32, frame);
  memcpy(bytes + 32, bytes + 32 + frame, frame);
  memcpy(bytes + 32 + frame, swap, frame);
  scratch_write("a.pc2", bytes, size);
  assert_int_equal(read_cache("a.pc2", FRAMES, &err), SN_ERR_INPUT);
  assert_message_has(&err, "frame 3");
  free(bytes);
}

// A cache of another origin beside old checksums; plain ones without any.
static void other_caches_are_not_measured_by_old_checksums(void** unused) {
  (void)unused;
  sn_pc2* pc2;
  sn_error err = {0};
  write_cache("a.pc2", FRAMES);
  assert_int_equal(sn_pc2_open(scratch_path("a.pc2"), VERTICES, 3, 0, &pc2, &err), SN_OK);
  assert_int_equal(sn_pc2_append(pc2, frame_of(0), &err), SN_OK);
  sn_pc2_close(pc2);
  assert_int_equal(scratch_file_count(), 1);
  assert_int_equal(read_cache("a.pc2", 1, &err), SN_OK);
  assert_int_equal(continue_cache("a.pc2", 1, &err), SN_ERR_INPUT);
  assert_message_has(&err, "a.pc2.sums");
}

// The count of the cache may be lost with the power after its checksums were written; frames are not.
static void a_lost_count_is_put_right(void** unused) {
  (void)unused;
  size_t size;
  sn_pc2* pc2;
  sn_error err = {0};
  write_cache("a.pc2", FRAMES);
  char* bytes = read_everything(scratch_path("a.pc2"), &size);
  bytes[28] = FRAMES - 2;
  scratch_write("a.pc2", bytes, size);
  free(bytes);
  assert_int_equal(read_cache("a.pc2", FRAMES - 2, &err), SN_ERR_INPUT);
  assert_message_has(&err, "--resume");
  assert_int_equal(sn_pc2_continue(scratch_path("a.pc2"), VERTICES, 3, 4, true, &pc2, &err), SN_OK);
  assert_int_equal(sn_pc2_cut(pc2, &err), SN_OK);
  assert_int_equal(read_cache("a.pc2", 4, &err), SN_OK);
  assert_int_equal(sn_pc2_append(pc2, frame_of(4), &err), SN_OK);
  sn_pc2_close(pc2);
  assert_int_equal(read_cache("a.pc2", 5, &err), SN_OK);
}

static sn_status write_and_continue(sn_error* err) {
  sn_pc2* pc2;
  SN_TRY(sn_pc2_start(scratch_path("a.pc2"), VERTICES, 3, true, &pc2, err));
  sn_status status = sn_pc2_append(pc2, frame_of(0), err);
  sn_pc2_close(pc2);
  if (status == SN_OK) status = continue_cache("a.pc2", 1, err);
  return status == SN_OK ? read_cache("a.pc2", 1, err) : status;
}

static void any_failing_allocation_is_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(write_and_continue);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_was_written_is_read),
      TEST(every_flipped_bit_of_a_cache_is_seen),
      TEST(every_flipped_bit_of_its_checksums_is_seen),
      TEST(every_cut_is_seen),
      TEST(frames_that_changed_places_are_seen),
      TEST(other_caches_are_not_measured_by_old_checksums),
      TEST(a_lost_count_is_put_right),
      TEST(any_failing_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
