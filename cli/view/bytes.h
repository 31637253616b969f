// Bytes that grow at their end, and JSON written into them.
#ifndef SN_CLI_VIEW_BYTES_H
#define SN_CLI_VIEW_BYTES_H

#include <sinew/sn.h>
#include <stdatomic.h>

// Zeroed: empty. Once memory ran out, nothing more is added and `failed` says so.
typedef struct byte_buffer {
  unsigned char* at;
  size_t size, room;
  bool failed;
} byte_buffer;

void bytes_add(byte_buffer* b, const void* bytes, size_t size);
// Room for `size` bytes more, which count at once. NULL if there is none.
void* bytes_take(byte_buffer* b, size_t size);
SN_PRINTF(2, 3) void bytes_print(byte_buffer* b, const char* format, ...);
// A JSON string. What is no UTF-8 becomes question marks.
void bytes_quote(byte_buffer* b, const char* text);
// With nine digits; null where it is not finite.
void bytes_number(byte_buffer* b, double number);
void bytes_free(byte_buffer* b);

// Bytes that several may hold; the last to drop them frees them.
typedef struct shared_bytes {
  atomic_int holders;
  size_t size;
  unsigned char bytes[];
} shared_bytes;

// With one holder; NULL: out of memory.
shared_bytes* shared_create(size_t size);
shared_bytes* shared_hold(shared_bytes* shared);
// NULL is fine.
void shared_drop(shared_bytes* shared);

#endif
