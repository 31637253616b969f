#include "io/writer.h"

#include <float.h>
#include <math.h>

#include "io/scratch.h"

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void assert_reads_back(float value) {
  char text[24];
  int length = sn_nine_digits((double)value, text);
  assert_int_equal(length, strlen(text));
  float again = strtof(text, NULL);
  if (memcmp(&again, &value, sizeof value) != 0) {
    fail_msg("%.9g is written as %s", (double)value, text);
  }
}

static void a_float_reads_back_to_its_bits(void** unused) {
  (void)unused;
  static const float odd[] = {0.0f,        -0.0f,         1.0f,         -1.0f,   0.1f,
                              1e-5f,       123456789.0f,  FLT_MAX,      FLT_MIN, 1e-45f,
                              16777216.0f, 9.99999999e8f, 9.9999999e-5f};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; ++i) assert_reads_back(odd[i]);
  uint64_t state = 7;
  for (int i = 0; i < 200000; ++i) {
    float value = float_of(next_random(&state) << 1 ^ next_random(&state));
    if (isfinite(value)) assert_reads_back(value);
  }
}

static void digits_are_those_of_printf(void** unused) {
  (void)unused;
  static const struct {
    double number;
    const char* text;
  } rows[] = {{0.5, "0.5"},
              {-2.0, "-2"},
              {100.0, "100"},
              {0.0001, "0.0001"},
              {1234567.875, "1234567.88"},
              {1e9, "1e9"},
              {-1.5e-9, "-1.5e-9"},
              {1.25e-300, "1.25e-300"},
              {0.9999999999, "1"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    char text[24];
    sn_nine_digits(rows[i].number, text);
    assert_string_equal(text, rows[i].text);
  }
}

static void pieces_become_one_file(void** unused) {
  (void)unused;
  sn_writer w;
  sn_error err = {0};
  sn_writer_open(&w, scratch_path("out"), &err);
  for (int i = 0; i < 50000; ++i) {
    sn_write_whole(&w, (uint64_t)i);
    sn_write_text(&w, "\n");
  }
  sn_write_little(&w, 0x01020304);
  sn_write_big(&w, 0x01020304);
  assert_int_equal(access(scratch_path("out"), F_OK), -1);
  uint64_t size = w.size;
  assert_int_equal(sn_writer_close(&w, SN_OK), SN_OK);
  size_t read;
  char* bytes = read_everything(scratch_path("out"), &read);
  assert_int_equal(read, size);
  assert_memory_equal(bytes, "0\n1\n2\n", 6);
  assert_memory_equal(bytes + read - 14, "49999\n\4\3\2\1\1\2\3\4", 14);
  free(bytes);
  assert_int_equal(scratch_file_count(), 1);
}

static void a_failure_leaves_the_old_file(void** unused) {
  (void)unused;
  scratch_write("out", "old", 3);
  sn_writer w;
  sn_error err = {0};
  sn_writer_open(&w, scratch_path("out"), &err);
  sn_write_text(&w, "new");
  assert_int_equal(sn_writer_close(&w, SN_ERR_INPUT), SN_ERR_INPUT);
  size_t size;
  char* bytes = read_everything(scratch_path("out"), &size);
  assert_string_equal(bytes, "old");
  free(bytes);
  assert_int_equal(scratch_file_count(), 1);

  sn_writer_open(&w, scratch_path("no/out"), &err);
  sn_write_text(&w, "new");
  assert_int_equal(sn_writer_close(&w, SN_OK), SN_ERR_IO);
  assert_message_has(&err, "no/out");
  assert_int_equal(sn_memory_used(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_float_reads_back_to_its_bits),
      cmocka_unit_test(digits_are_those_of_printf),
      cmocka_unit_test_setup_teardown(pieces_become_one_file, make_scratch_folder,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_failure_leaves_the_old_file, make_scratch_folder,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
