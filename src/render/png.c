// PNG through libpng, which reports errors by longjmp: everything that must be undone is kept
// outside the function that may be left that way.
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "sinew/shape.h"

typedef struct png_sink {
  png_structp png;
  png_infop info;
  char message[200];  // why libpng gave up
} png_sink;

static void keep_error(png_structp png, png_const_charp text) {
  png_sink* sink = png_get_error_ptr(png);
  snprintf(sink->message, sizeof sink->message, "%s", text);
  png_longjmp(png, 1);
}

static void drop_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

// False if libpng failed; sink->message says why.
static bool write_rows(png_sink* sink, const sn_image* image, FILE* file) {
  if (setjmp(png_jmpbuf(sink->png))) return false;
  png_init_io(sink->png, file);
  png_set_IHDR(sink->png, sink->info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
               PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB(sink->png, sink->info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_write_info(sink->png, sink->info);
  for (int y = 0; y < image->height; ++y) {
    png_write_row(sink->png, image->pixels + 3 * (size_t)y * (size_t)image->width);
  }
  png_write_end(sink->png, NULL);
  return true;
}

static sn_status write_png(const sn_image* image, FILE* file, const char* path, sn_error* err) {
  png_sink sink = {.message = "out of memory"};
  bool done = false;
  sink.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, keep_error, drop_warning);
  if (sink.png) sink.info = png_create_info_struct(sink.png);
  if (sink.info) done = write_rows(&sink, image, file);
  if (sink.png) png_destroy_write_struct(&sink.png, &sink.info);
  SN_CHECK(done, err, SN_ERR_IO, "%s: cannot write the picture: %s", path, sink.message);
  return SN_OK;
}

static sn_status write_file(const sn_image* image, const char* temporary, sn_error* err) {
  FILE* file = fopen(temporary, "wb");
  SN_CHECK(file, err, SN_ERR_IO, "%s: cannot be written: %s", temporary, strerror(errno));
  sn_status status = write_png(image, file, temporary, err);
  // Buffered bytes may meet a full disk only now.
  bool closed = fclose(file) == 0;
  SN_TRY(status);
  SN_CHECK(closed, err, SN_ERR_IO, "%s: cannot be written: %s", temporary, strerror(errno));
  return SN_OK;
}

sn_status sn_image_save_png(const sn_image* image, const char* path, sn_error* err) {
  size_t bytes = strlen(path) + 32;
  char* temporary = sn_allocate(bytes);
  if (!temporary) return sn_fail_memory(err, bytes);
  snprintf(temporary, bytes, "%s.%ld.part", path, (long)getpid());
  sn_status status = write_file(image, temporary, err);
  if (status == SN_OK && rename(temporary, path) != 0) {
    status = sn_fail(err, SN_ERR_IO, "%s: cannot be replaced: %s", path, strerror(errno));
  }
  if (status != SN_OK) remove(temporary);
  sn_release(temporary);
  return status;
}
