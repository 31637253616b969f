// Text from outside: lines, tokens and numbers, independent of the locale and safe on any bytes.
#ifndef SN_IO_TEXT_H
#define SN_IO_TEXT_H

#include "sinew/base.h"

// A piece of a text, without a closing zero.
typedef struct sn_token {
  const char* start;
  size_t length;
} sn_token;

// A place in a text. Lines end with \n, \r\n or \r.
typedef struct sn_text {
  const char* at;
  const char* end;   // *end must be readable and 0
  uint64_t line;     // of `at`, from 1
  bool joins_lines;  // a backslash at the end of a line makes the next one part of it
} sn_text;

// The next token of this line; false where the line ends.
bool sn_text_next_token(sn_text* text, sn_token* token);
// What is left of this line, without blanks around it.
sn_token sn_text_rest_of_line(sn_text* text);
// Go to the next line; false at the end of the text.
bool sn_text_next_line(sn_text* text);
// The same within a comment, where a backslash means nothing.
bool sn_text_skip_comment(sn_text* text);
// Bytes of the line end at this place, 0 if there is none.
size_t sn_text_line_end(const sn_text* text);

// The fields of a line, divided by commas, semicolons or blanks. Blanks around a comma belong to it; two
// commas have an empty field between them. @return how many, `most` at most
int sn_token_split(sn_token line, sn_token* fields, int most);

bool sn_token_is(sn_token token, const char* word);
// A decimal number, correctly rounded; false if the token is anything else, also for nan and inf.
// Beyond the range of double it is infinite.
bool sn_token_to_number(sn_token token, double* value);
// Digits with an optional sign. What int64_t cannot hold becomes its limit.
bool sn_token_to_integer(sn_token token, int64_t* value);

// A token made fit for a message: in quotes, not too long, no control characters.
typedef struct sn_quote {
  char text[48];
} sn_quote;
sn_quote sn_token_quote(sn_token token);

#endif
