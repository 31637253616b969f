#include "io/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 16)

static sn_status open_file(sn_writer* w, const char* path) {
  size_t length = strlen(path), bytes = 2 * length + sizeof "" + sizeof ".tmp";
  char* names = sn_allocate(bytes);
  w->buffer = sn_allocate(BUFFER_BYTES);
  w->path = names;
  if (!names || !w->buffer) return sn_fail_memory(w->err, names ? BUFFER_BYTES : bytes);
  w->temporary = names + length + 1;
  snprintf(w->path, length + 1, "%s", path);
  snprintf(w->temporary, length + sizeof ".tmp", "%s.tmp", path);
  return sn_file_begin(w->temporary, &w->file, w->err);
}

void sn_writer_open(sn_writer* w, const char* path, sn_error* err) {
  *w = (sn_writer){.file = {.descriptor = -1}, .err = err};
  w->status = open_file(w, path);
}

static void flush(sn_writer* w) {
  if (w->status == SN_OK && w->used > 0) {
    w->status = sn_file_write_at(&w->file, w->size - w->used, w->buffer, w->used, w->err);
  }
  w->used = 0;
}

sn_status sn_writer_close(sn_writer* w, sn_status status) {
  flush(w);
  if (status == SN_OK) status = w->status;
  if (status == SN_OK) {
    status = sn_file_publish(&w->file, w->temporary, w->path, w->err);
  } else {
    sn_file_abandon(&w->file);
  }
  sn_release(w->path);
  sn_release(w->buffer);
  *w = (sn_writer){.file = {.descriptor = -1}};
  return status;
}

void sn_write_bytes(sn_writer* w, const void* bytes, size_t size) {
  const unsigned char* from = bytes;
  while (size > 0 && w->status == SN_OK) {
    size_t some = BUFFER_BYTES - w->used < size ? BUFFER_BYTES - w->used : size;
    memcpy(w->buffer + w->used, from, some);
    w->used += some;
    w->size += some;
    from += some;
    size -= some;
    if (w->used == BUFFER_BYTES) flush(w);
  }
}

void sn_write_text(sn_writer* w, const char* text) { sn_write_bytes(w, text, strlen(text)); }

void sn_write_whole(sn_writer* w, uint64_t number) {
  char digits[20], *at = digits + sizeof digits;
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  sn_write_bytes(w, at, (size_t)(digits + sizeof digits - at));
}

void sn_write_number(sn_writer* w, double number) {
  char text[24];
  int length = sn_nine_digits(number, text);
  sn_write_bytes(w, text, (size_t)length);
}

// Binary

void sn_write_little(sn_writer* w, uint32_t word) {
  unsigned char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = (unsigned char)(word >> 8 * i);
  sn_write_bytes(w, bytes, sizeof bytes);
}

void sn_write_big(sn_writer* w, uint32_t word) {
  unsigned char bytes[4];
  for (int i = 0; i < 4; ++i) bytes[i] = (unsigned char)(word >> (24 - 8 * i));
  sn_write_bytes(w, bytes, sizeof bytes);
}

void sn_write_little_floats(sn_writer* w, const float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, numbers + i, sizeof bits);
    sn_write_little(w, bits);
  }
}

void sn_write_big_floats(sn_writer* w, const float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    memcpy(&bits, numbers + i, sizeof bits);
    sn_write_big(w, bits);
  }
}

// Numbers as text

// Floats are at least 6e-8 of themselves apart and numbers of nine digits at most 1e-8, so the small
// errors of the scaling below do no harm.
#define DIGITS 9

// 0.1 <= value < 1 afterwards, before it was that times ten to the result.
static int normalise(double* value) {
  int exponent = 0;
  for (; *value >= 1e8; exponent += 8) *value /= 1e8;
  for (; *value >= 1.0; ++exponent) *value /= 10.0;
  for (; *value < 1e-8; exponent -= 8) *value *= 1e8;
  for (; *value < 0.1; --exponent) *value *= 10.0;
  return exponent;
}

static char* put_exponent(char* to, int exponent) {
  *to++ = 'e';
  if (exponent < 0) *to++ = '-';
  int size = exponent < 0 ? -exponent : exponent;
  if (size >= 100) *to++ = (char)('0' + size / 100);
  if (size >= 10) *to++ = (char)('0' + size / 10 % 10);
  *to++ = (char)('0' + size % 10);
  return to;
}

// digits[0].digits[1]... times ten to `exponent` - 1, plainly where that is short.
static char* put_digits(char* to, const char* digits, int count, int exponent) {
  bool plain = exponent > -5 && exponent <= DIGITS;
  int whole = plain ? exponent : 1;
  if (whole <= 0) {
    *to++ = '0';
    *to++ = '.';
    for (int i = whole; i < 0; ++i) *to++ = '0';
    whole = count;  // the point is there already
  }
  for (int i = 0; i < count || i < whole; ++i) {
    if (i == whole) *to++ = '.';
    *to++ = i < count ? digits[i] : '0';
  }
  return plain ? to : put_exponent(to, exponent - 1);
}

int sn_nine_digits(double number, char text[24]) {
  SN_ASSERT(isfinite(number));
  char* to = text;
  if (signbit(number)) *to++ = '-';
  double value = fabs(number);
  if (value > 0.0) {
    int exponent = normalise(&value);
    uint32_t whole = (uint32_t)(value * 1e9 + 0.5);
    if (whole >= 1000000000) {
      whole /= 10;
      ++exponent;
    }
    char digits[DIGITS];
    for (int i = DIGITS; i-- > 0; whole /= 10) digits[i] = (char)('0' + whole % 10);
    int count = DIGITS;
    while (count > 1 && digits[count - 1] == '0') --count;
    to = put_digits(to, digits, count, exponent);
  } else {
    *to++ = '0';
  }
  *to = 0;
  return (int)(to - text);
}
