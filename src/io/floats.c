#include "io/floats.h"

#include <math.h>

#define VALUES_AT_ONCE 4096

sn_status sn_read_places(const sn_file* file, uint64_t offset, sn_byte_order order,
                         uint32_t vertex_count, float* values, sn_error* err) {
  size_t count = 3 * (size_t)vertex_count;
  unsigned char bytes[4 * VALUES_AT_ONCE];
  for (size_t first = 0; first < count; first += VALUES_AT_ONCE) {
    size_t some = count - first < VALUES_AT_ONCE ? count - first : VALUES_AT_ONCE;
    SN_TRY(sn_file_read_at(file, offset + 4 * first, bytes, 4 * some, err));
    for (size_t i = 0; i < some; ++i) {
      values[first + i] = sn_get_float(bytes + 4 * i, order);
      SN_CHECK(isfinite(values[first + i]), err, SN_ERR_INPUT,
               "%s: a coordinate of vertex %zu is not finite at byte %llu; expected a number",
               file->path, (first + i) / 3, (unsigned long long)(offset + 4 * (first + i)));
    }
  }
  return SN_OK;
}
