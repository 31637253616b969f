// Many floats at a place of a file, in either order of bytes, whatever that of the host is.
#ifndef SN_IO_FLOATS_H
#define SN_IO_FLOATS_H

#include <string.h>

#include "io/file.h"

typedef enum sn_byte_order { SN_LITTLE_ENDIAN, SN_BIG_ENDIAN } sn_byte_order;

static inline uint32_t sn_get_word(const unsigned char* bytes, sn_byte_order order) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) {
    word |= (uint32_t)bytes[i] << (order == SN_BIG_ENDIAN ? 24 - 8 * i : 8 * i);
  }
  return word;
}

static inline float sn_get_float(const unsigned char* bytes, sn_byte_order order) {
  uint32_t word = sn_get_word(bytes, order);
  float value;
  memcpy(&value, &word, sizeof value);
  return value;
}

// Coordinates of vertices: SN_ERR_INPUT if one is not finite. @param values (3 x vertex_count)
sn_status sn_read_places(const sn_file* file, uint64_t offset, sn_byte_order order,
                         uint32_t vertex_count, float* values, sn_error* err);

#endif
