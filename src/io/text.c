#include "io/text.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Lines and tokens

static size_t line_end_length(const char* at, const char* end) {
  if (at == end) return 0;
  if (*at == '\n') return 1;
  if (*at != '\r') return 0;
  return at + 1 < end && at[1] == '\n' ? 2 : 1;
}

size_t sn_text_line_end(const sn_text* text) { return line_end_length(text->at, text->end); }

// Bytes of a backslash, blanks that nobody sees behind it, and the line end that it hides.
static size_t joint_length(const sn_text* text) {
  if (!text->joins_lines || text->at == text->end || *text->at != '\\') return 0;
  const char* at = text->at + 1;
  while (at < text->end && is_blank(*at)) ++at;
  size_t line_end = line_end_length(at, text->end);
  if (line_end == 0 && at < text->end) return 0;
  return (size_t)(at - text->at) + line_end;
}

static void skip_blanks(sn_text* text) {
  for (;;) {
    size_t joint = joint_length(text);
    if (joint > 0) {
      text->at += joint;
      ++text->line;
    } else if (text->at < text->end && is_blank(*text->at)) {
      ++text->at;
    } else {
      return;
    }
  }
}

bool sn_text_next_token(sn_text* text, sn_token* token) {
  skip_blanks(text);
  const char* start = text->at;
  while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n' && *text->at != '\r' &&
         joint_length(text) == 0) {
    ++text->at;
  }
  *token = (sn_token){start, (size_t)(text->at - start)};
  return token->length > 0;
}

sn_token sn_text_rest_of_line(sn_text* text) {
  skip_blanks(text);
  const char* start = text->at;
  while (text->at < text->end && sn_text_line_end(text) == 0 && joint_length(text) == 0) {
    ++text->at;
  }
  const char* end = text->at;
  while (end > start && is_blank(end[-1])) --end;
  return (sn_token){start, (size_t)(end - start)};
}

bool sn_text_next_line(sn_text* text) {
  while (text->at < text->end && *text->at != '\n' && *text->at != '\r') {
    size_t joint = joint_length(text);
    text->at += joint > 0 ? joint : 1;
    if (joint > 0) ++text->line;
  }
  if (text->at == text->end) return false;
  text->at += sn_text_line_end(text);
  ++text->line;
  return true;
}

bool sn_text_skip_comment(sn_text* text) {
  bool joins_lines = text->joins_lines;
  text->joins_lines = false;
  bool more = sn_text_next_line(text);
  text->joins_lines = joins_lines;
  return more;
}

static bool is_separator(char c) { return c == ',' || c == ';' || c == ' ' || c == '\t'; }

int sn_token_split(sn_token line, sn_token* fields, int most) {
  const char *at = line.start, *end = line.start + line.length;
  int count = 0;
  while (at < end && count < most) {
    const char* start = at;
    while (at < end && !is_separator(*at)) ++at;
    fields[count++] = (sn_token){start, (size_t)(at - start)};
    bool divided = false;
    while (at < end && is_separator(*at)) {
      bool blank = *at == ' ' || *at == '\t';
      if (!blank && divided) break;
      divided = divided || !blank;
      ++at;
    }
  }
  return count;
}

bool sn_token_is(sn_token token, const char* word) {
  return strlen(word) == token.length && memcmp(token.start, word, token.length) == 0;
}

sn_quote sn_token_quote(sn_token token) {
  sn_quote quote;
  size_t room = sizeof quote.text - sizeof "'...'";
  size_t count = token.length <= room ? token.length : room;
  char* out = quote.text;
  *out++ = '\'';
  for (size_t i = 0; i < count; ++i) {
    unsigned char c = (unsigned char)token.start[i];
    *out++ = c < 32 || c == 127 ? '?' : (char)c;
  }
  if (count < token.length) out = (char*)memcpy(out, "...", 3) + 3;
  *out++ = '\'';
  *out = 0;
  return quote;
}

// Numbers

// (-1)^negative * mantissa * 10^exponent, if `exact`: otherwise there were more digits.
typedef struct decimal {
  bool negative, exact;
  uint64_t mantissa;
  int64_t exponent;
} decimal;

static const char* scan_sign(const char* at, const char* end, bool* negative) {
  *negative = at < end && *at == '-';
  return at < end && (*at == '-' || *at == '+') ? at + 1 : at;
}

// @param shift what each digit adds to the exponent: 0 before the point, -1 behind it
static const char* scan_digits(const char* at, const char* end, int shift, decimal* number) {
  for (; at < end && is_digit(*at); ++at) {
    if (number->mantissa > (UINT64_MAX - 9) / 10) {
      number->exact = false;
    } else {
      number->mantissa = 10 * number->mantissa + (uint64_t)(*at - '0');
      number->exponent += shift;
    }
  }
  return at;
}

// Where the digits of an integer end; the value stops at int64_t's limits.
static const char* scan_integer(const char* at, const char* end, int64_t* value) {
  bool negative;
  at = scan_sign(at, end, &negative);
  int64_t total = 0;
  for (; at < end && is_digit(*at); ++at) {
    int digit = negative ? -(*at - '0') : *at - '0';
    if (__builtin_mul_overflow(total, 10, &total) || __builtin_add_overflow(total, digit, &total)) {
      total = negative ? INT64_MIN : INT64_MAX;
    }
  }
  *value = total;
  return at;
}

static bool scan_decimal(sn_token token, decimal* number) {
  const char* end = token.start + token.length;
  *number = (decimal){.exact = true};
  const char* at = scan_sign(token.start, end, &number->negative);

  const char* whole = at;
  at = scan_digits(at, end, 0, number);
  size_t digit_count = (size_t)(at - whole);
  if (at < end && *at == '.') {
    const char* fraction = at + 1;
    at = scan_digits(fraction, end, -1, number);
    digit_count += (size_t)(at - fraction);
  }
  if (digit_count == 0) return false;

  if (at < end && (*at == 'e' || *at == 'E')) {
    int64_t exponent;
    at = scan_integer(at + 1, end, &exponent);
    if (!is_digit(at[-1])) return false;
    // Far out it does not matter how far, and the sum must not overflow.
    if (exponent > 100000 || exponent < -100000) number->exact = false;
    if (number->exact) number->exponent += exponent;
  }
  return at == end;
}

// For the rest, slowly: more than 2^53 or far from 1. The token's end also ends the number there,
// because the grammar was checked and a blank, a line end or zero follows.
static double convert_slowly(sn_token token) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  double value = plain ? strtod_l(token.start, NULL, plain) : strtod(token.start, NULL);
  if (plain) freelocale(plain);
  return value;
}

bool sn_token_to_number(sn_token token, double* value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  decimal number;
  if (!scan_decimal(token, &number)) return false;
  // Mantissa and power are exact in a double, so the one operation rounds correctly (Clinger 1990).
  bool is_easy = FLT_EVAL_METHOD == 0 && number.exact && number.mantissa <= (uint64_t)1 << 53 &&
                 number.exponent >= -22 && number.exponent <= 22;
  if (!is_easy) {
    *value = convert_slowly(token);
    return true;
  }
  double magnitude = (double)number.mantissa;
  if (number.exponent < 0) magnitude /= powers[-number.exponent];
  if (number.exponent > 0) magnitude *= powers[number.exponent];
  *value = number.negative ? -magnitude : magnitude;
  return true;
}

bool sn_token_to_integer(sn_token token, int64_t* value) {
  const char* end = token.start + token.length;
  const char* at = scan_integer(token.start, end, value);
  return token.length > 0 && at == end && is_digit(at[-1]);
}
