// A number for each vertex: CSV, and one property of a PLY file.
#include "io/vertex_values.h"

#include <math.h>

#include "io/damage.h"
#include "io/ply.h"

static sn_status parse_csv(const char* text, uint32_t count, double* values, sn_error* err) {
  const char* path = scratch_write("values.csv", text, strlen(text));
  sn_arena* arena;
  sn_vertex_values read = {0};
  assert_int_equal(sn_arena_create(&arena, err), SN_OK);
  sn_status status = sn_vertex_values_read(path, "stiffness", count, arena, &read, err);
  if (status == SN_OK && values) memcpy(values, read.values, count * sizeof *values);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
  return status;
}

static void assert_csv(const char* text) {
  double values[3] = {0};
  sn_error err = {0};
  if (parse_csv(text, 3, values, &err) != SN_OK) fail_msg("%s for '%s'", err.text, text);
  assert_true(values[0] == 1.5 && values[1] == 2 && values[2] == 0.1);
}

static void lines_have_a_value_or_index_and_value(void** unused) {
  (void)unused;
  assert_csv("1.5\n2\n0.1\n");
  assert_csv("1.5\r\n2\r\n0.1");
  assert_csv("\xef\xbb\xbfstiffness\n1.5\n\n2\n 0.1 \n\n");
  assert_csv("2, 0.1\n0, 1.5\n1 ,2e0\n");
  assert_csv("vertex;value\n0;1.5\n1;2\n2;0.1\n");
  assert_csv("vertex value\n0 1.5\n1\t2\n2  0.1\n");
}

static void assert_csv_refused(const char* text, const char* part) {
  sn_error err = {0};
  sn_status status = parse_csv(text, 3, NULL, &err);
  if (status != SN_ERR_INPUT) fail_msg("status %d for '%s'", status, text);
  assert_message_has(&err, part);
  assert_message_has(&err, "values.csv");
  assert_null(strchr(err.text, '\n'));
}

static void wrong_lines_are_named(void** unused) {
  (void)unused;
  assert_csv_refused("1\n2\n", "2 values; expected 3, one for each vertex");
  assert_csv_refused("", "0 values; expected 3");
  assert_csv_refused("1\n2\n3\n4\n", "4 values; expected 3");
  assert_csv_refused("1\n2\nnan\n", "values.csv:3: 'nan'; expected a finite number");
  assert_csv_refused("1\n1e999\n3\n", ":2: '1e999'; expected a finite number");
  assert_csv_refused("1\n2\nthree\n", ":3: 'three'; expected a finite number");
  assert_csv_refused("0,1\n0,2\n2,3\n", ":2: vertex 0 again; expected each once");
  assert_csv_refused("0,1\n1,2\n3,3\n", ":3: vertex '3'; expected a whole number from 0 to 2");
  assert_csv_refused("0,1\n-1,2\n2,3\n", ":2: vertex '-1'");
  assert_csv_refused("0,1\n0.5,2\n2,3\n", ":2: vertex '0.5'");
  assert_csv_refused("0,1\n1,2\n", "2 values; expected 3");
  assert_csv_refused("0,1\n2\n1,2\n", ":2: 1 fields; expected index and value");
  assert_csv_refused("0,1,5\n1,2,5\n", ":1: more than 2");
  assert_csv_refused("0,,1\n", ":1: more than 2");
  assert_csv_refused(",1\n1\n1\n", "values; expected 3");
}

#define HEAD "ply\nformat ascii 1.0\n"

static sn_status parse_ply(const char* text, const char* property, double* values, sn_error* err) {
  const char* path = scratch_write("values.PLY", text, strlen(text));
  sn_arena* arena;
  sn_vertex_values read = {0};
  assert_int_equal(sn_arena_create(&arena, err), SN_OK);
  sn_status status = sn_vertex_values_read(path, property, 2, arena, &read, err);
  if (status == SN_OK) memcpy(values, read.values, 2 * sizeof *values);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
  return status;
}

static void a_property_of_the_vertices_will_do(void** unused) {
  (void)unused;
  static const char* const texts[] = {
      HEAD
      "element vertex 2\nproperty float x\nproperty list uchar int k\nproperty float fat\n"
      "end_header\n7 2 1 1 0.5\n8 0 0.25\n",
      HEAD
      "element face 1\nproperty list uchar int vertex_indices\nelement vertex 2\n"
      "property double fat\nelement more 1\nproperty int a\nend_header\n2 0 1\n0.5\n0.25\n",
  };
  for (int i = 0; i < 2; ++i) {
    double values[2];
    sn_error err = {0};
    if (parse_ply(texts[i], "fat", values, &err) != SN_OK) fail_msg("%s", err.text);
    assert_true(values[0] == 0.5 && values[1] == 0.25);
  }
}

static void assert_ply_refused(const char* text, const char* property, const char* part) {
  sn_error err = {0};
  double values[2];
  sn_status status = parse_ply(text, property, values, &err);
  if (status != SN_ERR_INPUT) fail_msg("status %d for '%s'", status, text);
  assert_message_has(&err, part);
  assert_message_has(&err, "values.PLY");
}

static void wrong_properties_are_named(void** unused) {
  (void)unused;
#define VERTICES(count, type) \
  HEAD "element vertex " count "\nproperty " type " stiffness\nend_header\n"
  assert_ply_refused(VERTICES("2", "float") "1\n2\n", "stifness", "did you mean \"stiffness\"?");
  assert_ply_refused(VERTICES("2", "float") "1\n2\n", "fat", "no number \"fat\"; expected one");
  assert_ply_refused(VERTICES("2", "uchar") "1\n2\n", "stiffness", "of type uchar; expected float");
  assert_ply_refused(VERTICES("3", "float") "1\n2\n3\n", "stiffness", "3 values; expected 2");
  assert_ply_refused(VERTICES("2", "float") "1\nnan\n", "stiffness", "'nan'; expected a finite");
  assert_ply_refused(VERTICES("2", "float") "1\n", "stiffness", "the file ends within");
  assert_ply_refused(VERTICES("4000000000", "float") "1\n", "stiffness", "only 2 bytes follow");
  assert_ply_refused(HEAD "element vertex 2\nproperty list uchar int stiffness\nend_header\n",
                     "stiffness", "no number \"stiffness\"");
  assert_ply_refused(HEAD "element face 2\nproperty float stiffness\nend_header\n1\n2\n",
                     "stiffness", "no number \"stiffness\"");
  assert_ply_refused("obj\n", "stiffness", "not a PLY file");
}

// Whatever the bytes are: as many finite numbers as are asked for, or SN_ERR_INPUT.
static void assert_reads_or_refuses(bool csv, const char* bytes, size_t size) {
  char* copy = malloc(size + 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  copy[size] = 0;
  sn_arena* arena;
  sn_vertex_values values = {0};
  sn_error err = {0};
  assert_int_equal(sn_arena_create(&arena, &err), SN_OK);
  sn_status status =
      csv ? sn_csv_parse_values("damaged", copy, size, 4, arena, &values, &err)
          : sn_ply_parse_values("damaged", copy, size, "stiffness", arena, &values, &err);
  free(copy);
  if (status == SN_OK) {
    for (uint64_t i = 0; i < values.count && i < 4; ++i)
      assert_false(csv && !isfinite(values.values[i]));
  } else {
    assert_int_equal(status, SN_ERR_INPUT);
    assert_message_has(&err, "damaged");
    assert_message_has(&err, "expected");
  }
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), 0);
}

static void damaged_files_are_refused_or_read(void** unused) {
  (void)unused;
  static const char csv[] = "vertex,value\n0,1.5\n1,2.25e-3\n2,3\n3,0.25\n";
  static const char ascii[] = HEAD
      "element vertex 4\nproperty float x\nproperty list uchar int k\nproperty double stiffness\n"
      "end_header\n7 2 1 1 0.5\n8 0 0.25\n1 1 1 3\n1 0 4\n";
  static const char binary[] =
      "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty uchar a\n"
      "property float stiffness\nend_header\n1abcd2efgh3ijkl";
  const char* const texts[] = {csv, ascii, binary};
  const size_t sizes[] = {sizeof csv - 1, sizeof ascii - 1, sizeof binary - 1};
  uint64_t random = 7;
  for (int i = 0; i < 3; ++i) {
    for (size_t length = 0; length <= sizes[i]; ++length) {
      assert_reads_or_refuses(i == 0, texts[i], length);
    }
    char mutant[512];
    for (int round = 0; round < 5000; ++round) {
      memcpy(mutant, texts[i], sizes[i]);
      assert_reads_or_refuses(i == 0, mutant, damage(mutant, sizes[i], &random));
    }
  }
}

static sn_status read_both(sn_error* err) {
  sn_arena* arena;
  sn_vertex_values values;
  sn_status status = sn_arena_create(&arena, err);
  if (status != SN_OK) return status;
  status = sn_vertex_values_read(scratch_path("a.csv"), "a", 2, arena, &values, err);
  if (status == SN_OK) {
    status = sn_vertex_values_read(scratch_path("a.ply"), "a", 2, arena, &values, err);
  }
  sn_arena_destroy(arena);
  return status;
}

static void running_out_of_memory_leaves_nothing_behind(void** unused) {
  (void)unused;
  scratch_write("a.csv", "1\n2\n", 4);
  static const char ply[] = HEAD "element vertex 2\nproperty float a\nend_header\n1\n2\n";
  scratch_write("a.ply", ply, sizeof ply - 1);
  assert_survives_failing_allocations(read_both);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_have_a_value_or_index_and_value),
      cmocka_unit_test(wrong_lines_are_named),
      cmocka_unit_test(a_property_of_the_vertices_will_do),
      cmocka_unit_test(wrong_properties_are_named),
      cmocka_unit_test(damaged_files_are_refused_or_read),
      cmocka_unit_test(running_out_of_memory_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, make_scratch_folder, remove_scratch_folder);
}
