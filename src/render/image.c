#include <string.h>

#include "base/memory.h"
#include "sinew/shape.h"

#define MAX_SIDE 32768

sn_status sn_image_create(int width, int height, sn_image* image, sn_error* err) {
  *image = (sn_image){0};
  SN_CHECK(1 <= width && width <= MAX_SIDE && 1 <= height && height <= MAX_SIDE, err, SN_ERR_USAGE,
           "a picture of %d x %d; both sides must be 1 to %d", width, height, MAX_SIDE);
  size_t bytes = 3 * (size_t)width * (size_t)height;
  uint8_t* pixels = sn_allocate(bytes);
  if (!pixels) return sn_fail_memory(err, bytes);
  memset(pixels, 255, bytes);
  *image = (sn_image){pixels, width, height};
  return SN_OK;
}

void sn_image_destroy(sn_image* image) {
  sn_release(image->pixels);
  *image = (sn_image){0};
}
