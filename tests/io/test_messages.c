#include "io/messages.h"

#include "io/scratch.h"

static void say(sn_log_level level, const char* text) {
  sn_arena* arena;
  sn_error err = {0};
  assert_int_equal(sn_arena_create(&arena, &err), SN_OK);
  sn_status status = sn_messages_append(scratch_path("messages.jsonl"), level, text, arena, &err);
  if (status != SN_OK) fail_msg("%s", err.text);
  sn_arena_destroy(arena);
}

static void assert_content(const char* expected) {
  size_t size;
  char* text = read_everything(scratch_path("messages.jsonl"), &size);
  assert_string_equal(text, expected);
  free(text);
}

#define A "{\"level\": \"warning\", \"text\": \"a \\\"b\\\"\"}\n"
#define B "{\"level\": \"info\", \"text\": \"a \\\"b\\\"\"}\n"
#define C "{\"level\": \"info\", \"text\": \"c\"}\n"

static void each_message_is_kept_once(void** unused) {
  (void)unused;
  say(SN_LOG_WARNING, "a \"b\"");
  assert_content(A);
  say(SN_LOG_INFO, "a \"b\"");
  say(SN_LOG_WARNING, "a \"b\"");
  say(SN_LOG_INFO, "c");
  say(SN_LOG_INFO, "a \"b\"");
  assert_content(A B C);
}

static void half_a_line_is_written_over(void** unused) {
  (void)unused;
  scratch_write("messages.jsonl", A "{\"level\": \"info\", \"text\": \"something long",
                sizeof A + 40);
  say(SN_LOG_INFO, "c");
  assert_content(A C);
}

static void any_bytes_make_a_line(void** unused) {
  (void)unused;
  say(SN_LOG_INFO, "\xff\xfe\n\x01");
  assert_content("{\"level\": \"info\", \"text\": \"??\\n\\u0001\"}\n");
}

static void the_file_ends_with_a_word_about_it(void** unused) {
  (void)unused;
  static char full[(1 << 20) + 2];
  memset(full, ' ', sizeof full);
  full[sizeof full - 1] = '\n';
  scratch_write("messages.jsonl", full, sizeof full);
  for (int i = 0; i < 3; ++i) say(SN_LOG_INFO, i ? "c" : "d");
  size_t size;
  char* text = read_everything(scratch_path("messages.jsonl"), &size);
  assert_string_equal(text + sizeof full,
                      "{\"level\": \"warning\", \"text\": \"more was said than is kept here\"}\n");
  free(text);
}

static sn_status attempt(sn_error* err) {
  sn_arena* arena;
  sn_status status = sn_arena_create(&arena, err);
  if (status != SN_OK) return status;
  status = sn_messages_append(scratch_path("messages.jsonl"), SN_LOG_INFO, "c", arena, err);
  sn_arena_destroy(arena);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  scratch_write("messages.jsonl", A, sizeof A - 1);
  assert_survives_failing_allocations(attempt);
  assert_content(A C);
}

#define SCRATCH_TEST(test) \
  cmocka_unit_test_setup_teardown(test, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(each_message_is_kept_once),
      SCRATCH_TEST(half_a_line_is_written_over),
      SCRATCH_TEST(any_bytes_make_a_line),
      SCRATCH_TEST(the_file_ends_with_a_word_about_it),
      SCRATCH_TEST(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
