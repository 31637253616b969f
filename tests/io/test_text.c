#include "io/text.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "io/scratch.h"

static sn_token token_of(const char* text) { return (sn_token){text, strlen(text)}; }

static sn_text text_of(const char* text, bool joins_lines) {
  return (sn_text){text, text + strlen(text), 1, joins_lines};
}

static void assert_number(const char* text, double expected) {
  double value = -77;
  if (!sn_token_to_number(token_of(text), &value)) fail_msg("%s is refused", text);
  if (memcmp(&value, &expected, sizeof value) != 0) fail_msg("%s becomes %.17g", text, value);
}

static void numbers_in_every_notation_are_read(void** unused) {
  (void)unused;
  assert_number("0", 0.0);
  assert_number("-0", -0.0);
  assert_number("+1", 1.0);
  assert_number(".5", 0.5);
  assert_number("1.", 1.0);
  assert_number("-2.e1", -20.0);
  assert_number("1e-3", 1e-3);
  assert_number("1E+3", 1e3);
  assert_number("00012.500", 12.5);
  assert_number("1e22", 1e22);
  assert_number("1e23", 1e23);
  assert_number("9007199254740993", 9007199254740993.0);
  assert_number("1e400", INFINITY);
  assert_number("-1e400", -INFINITY);
  assert_number("1e-400", 0.0);
  assert_number("4.9406564584124654e-324", 4.9406564584124654e-324);
  assert_number("1e99999999999999999999", INFINITY);
  assert_number("1e-99999999999999999999", 0.0);
}

static void what_is_not_a_decimal_number_is_refused(void** unused) {
  (void)unused;
  static const char* const words[] = {
      "",     "+",    "-",   ".",      "e5",  "1e",    "1e+",  "nan",    "inf",   "-inf",
      "0x10", "1.5f", "1,5", "3.1+e2", "--1", "1.2.3", "1e5.", "1.#INF", "1e5e5", "infinity"};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i) {
    double value;
    if (sn_token_to_number(token_of(words[i]), &value)) fail_msg("'%s' is accepted", words[i]);
  }
}

// strtod of the C library rounds correctly and is the oracle.
static void random_numbers_are_rounded_correctly(void** unused) {
  (void)unused;
  uint64_t random = 7;
  for (int round = 0; round < 200000; ++round) {
    uint64_t bits = (uint64_t)next_random(&random) << 33 ^ (uint64_t)next_random(&random) << 11 ^
                    next_random(&random);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) continue;
    if (round % 2) value = ldexp(value, -ilogb(value == 0 ? 1 : value) + round % 40 - 20);
    char text[64];
    snprintf(text, sizeof text, round % 3 ? "%.*g" : "%.*f", 1 + round % 20, value);
    if (strlen(text) < sizeof text - 1) assert_number(text, strtod(text, NULL));
  }
}

static void seventeen_digits_bring_every_double_back(void** unused) {
  (void)unused;
  uint64_t random = 3;
  for (int round = 0; round < 20000; ++round) {
    double value = (double)next_random(&random) / 977.0 * pow(10, round % 30 - 15);
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    assert_number(text, value);
  }
}

static void numbers_do_not_depend_on_the_locale(void** unused) {
  (void)unused;
  set_comma_locale_or_skip();
  assert_number("1.25", 1.25);
  assert_number("1.2345678901234567890123", 1.2345678901234567890123);
  setlocale(LC_ALL, "C");
}

static void integers_stop_at_their_limits(void** unused) {
  (void)unused;
  int64_t value;
  assert_true(sn_token_to_integer(token_of("-12"), &value) && value == -12);
  assert_true(sn_token_to_integer(token_of("+7"), &value) && value == 7);
  assert_true(sn_token_to_integer(token_of("9223372036854775808"), &value) && value == INT64_MAX);
  assert_true(sn_token_to_integer(token_of("99999999999999999999999"), &value));
  assert_true(value == INT64_MAX);
  assert_true(sn_token_to_integer(token_of("-99999999999999999999999"), &value));
  assert_true(value == INT64_MIN);
  assert_false(sn_token_to_integer(token_of("1.0"), &value));
  assert_false(sn_token_to_integer(token_of("-"), &value));
  assert_false(sn_token_to_integer(token_of(""), &value));
}

static void lines_end_in_three_ways_and_are_counted(void** unused) {
  (void)unused;
  sn_text text = text_of("a\nb\r\nc\rd", false);
  sn_token token;
  for (uint64_t line = 1; line <= 4; ++line) {
    assert_int_equal(text.line, line);
    assert_true(sn_text_next_token(&text, &token));
    assert_int_equal(token.length, 1);
    assert_int_equal(token.start[0], "abcd"[line - 1]);
    assert_false(sn_text_next_token(&text, &token));
    assert_int_equal(sn_text_next_line(&text), line < 4);
  }
}

static void a_backslash_joins_lines_where_that_is_wanted(void** unused) {
  (void)unused;
  sn_token token;
  sn_text joined = text_of("one\\\ntwo \\  \r\n three\nfour", true);
  assert_true(sn_text_next_token(&joined, &token) && sn_token_is(token, "one"));
  assert_true(sn_text_next_token(&joined, &token) && sn_token_is(token, "two"));
  assert_true(sn_text_next_token(&joined, &token) && sn_token_is(token, "three"));
  assert_int_equal(joined.line, 3);
  assert_false(sn_text_next_token(&joined, &token));
  sn_text apart = text_of("one\\\ntwo", false);
  assert_true(sn_text_next_token(&apart, &token) && sn_token_is(token, "one\\"));
}

static void a_quoted_token_is_short_and_printable(void** unused) {
  (void)unused;
  assert_string_equal(sn_token_quote(token_of("abc\x01z")).text, "'abc?z'");
  char longest[200];
  memset(longest, 'x', sizeof longest);
  sn_quote quote = sn_token_quote((sn_token){longest, sizeof longest});
  assert_true(strlen(quote.text) < sizeof quote.text);
  assert_non_null(strstr(quote.text, "...'"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_in_every_notation_are_read),
      cmocka_unit_test(what_is_not_a_decimal_number_is_refused),
      cmocka_unit_test(random_numbers_are_rounded_correctly),
      cmocka_unit_test(seventeen_digits_bring_every_double_back),
      cmocka_unit_test(numbers_do_not_depend_on_the_locale),
      cmocka_unit_test(integers_stop_at_their_limits),
      cmocka_unit_test(lines_end_in_three_ways_and_are_counted),
      cmocka_unit_test(a_backslash_joins_lines_where_that_is_wanted),
      cmocka_unit_test(a_quoted_token_is_short_and_printable),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
