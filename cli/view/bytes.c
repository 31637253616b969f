#include "bytes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(byte_buffer* b, size_t size) {
  if (b->failed || size > SIZE_MAX / 4 - b->size) {
    b->failed = true;
  } else if (b->size + size > b->room) {
    // The first piece is often all there is; only what really grows is given more than it asks for.
    size_t room = b->room ? 2 * (b->size + size) : size;
    unsigned char* at = realloc(b->at, room ? room : 1);
    b->failed = !at;
    if (at) {
      b->at = at;
      b->room = room;
    }
  }
  return !b->failed;
}

void* bytes_take(byte_buffer* b, size_t size) {
  if (!make_room(b, size)) return NULL;
  b->size += size;
  return b->at + b->size - size;
}

void bytes_add(byte_buffer* b, const void* bytes, size_t size) {
  void* room = bytes_take(b, size);
  if (room && size > 0) memcpy(room, bytes, size);
}

void bytes_print(byte_buffer* b, const char* format, ...) {
  char text[2048];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0 || (size_t)length >= sizeof text) {
    b->failed = true;
  } else {
    bytes_add(b, text, (size_t)length);
  }
}

// Bytes of the UTF-8 character at `text`; 0 if it is none.
static size_t character_size(const unsigned char* text) {
  unsigned char c = text[0];
  size_t size = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 4;
  if ((c >= 0x80 && c < 0xc2) || c > 0xf4) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  // Not the shortest form, half of a pair, or beyond the last character.
  if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f)) return 0;
  if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f)) return 0;
  return size;
}

void bytes_quote(byte_buffer* b, const char* text) {
  const unsigned char* at = (const unsigned char*)text;
  bytes_add(b, "\"", 1);
  while (*at) {
    size_t size = character_size(at);
    if (size == 0) {
      bytes_add(b, "?", 1);
      size = 1;
    } else if (*at == '"' || *at == '\\') {
      bytes_print(b, "\\%c", *at);
    } else if (*at < 0x20) {
      bytes_print(b, "\\u%04x", *at);
    } else {
      bytes_add(b, at, size);
    }
    at += size;
  }
  bytes_add(b, "\"", 1);
}

void bytes_number(byte_buffer* b, double number) {
  if (isfinite(number)) {
    bytes_print(b, "%.9g", number);
  } else {
    bytes_print(b, "null");
  }
}

void bytes_free(byte_buffer* b) {
  free(b->at);
  *b = (byte_buffer){0};
}

shared_bytes* shared_create(size_t size) {
  shared_bytes* shared = size <= SIZE_MAX / 2 ? malloc(sizeof *shared + size) : NULL;
  if (!shared) return NULL;
  atomic_init(&shared->holders, 1);
  shared->size = size;
  return shared;
}

shared_bytes* shared_hold(shared_bytes* shared) {
  atomic_fetch_add(&shared->holders, 1);
  return shared;
}

void shared_drop(shared_bytes* shared) {
  if (shared && atomic_fetch_sub(&shared->holders, 1) == 1) free(shared);
}
