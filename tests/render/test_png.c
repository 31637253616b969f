#include <png.h>
#include <sys/stat.h>

#include "io/scratch.h"
#include "sinew/shape.h"

static sn_image make_pattern(int width, int height) {
  sn_image image;
  assert_int_equal(sn_image_create(width, height, &image, NULL), SN_OK);
  uint64_t state = 3;
  for (size_t i = 0; i < 3 * (size_t)width * (size_t)height; ++i) {
    image.pixels[i] = (uint8_t)next_random(&state);
  }
  return image;
}

static void assert_file_shows(const char* path, const sn_image* image) {
  png_image file = {.version = PNG_IMAGE_VERSION};
  assert_true(png_image_begin_read_from_file(&file, path));
  assert_int_equal(file.width, image->width);
  assert_int_equal(file.height, image->height);
  file.format = PNG_FORMAT_RGB;
  size_t size = PNG_IMAGE_SIZE(file);
  uint8_t* pixels = malloc(size);
  assert_non_null(pixels);
  assert_true(png_image_finish_read(&file, NULL, pixels, 0, NULL));
  assert_memory_equal(pixels, image->pixels, size);
  free(pixels);
}

static void a_picture_survives_its_file(void** unused) {
  (void)unused;
  static const int sizes[][2] = {{1, 1}, {7, 300}, {301, 5}, {64, 64}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    sn_image image = make_pattern(sizes[i][0], sizes[i][1]);
    const char* path = scratch_path("picture.png");
    assert_int_equal(sn_image_save_png(&image, path, NULL), SN_OK);
    assert_file_shows(path, &image);
    // The file that it was written through is gone, the one before it replaced.
    assert_int_equal(scratch_file_count(), 1);
    sn_image_destroy(&image);
  }
}

static void a_folder_that_is_missing_is_reported(void** unused) {
  (void)unused;
  sn_image image = make_pattern(4, 4);
  sn_error err = {0};
  const char* path = scratch_path("missing/picture.png");
  assert_int_equal(sn_image_save_png(&image, path, &err), SN_ERR_IO);
  assert_message_has(&err, "missing/picture.png");
  sn_image_destroy(&image);
}

static void a_picture_that_cannot_be_put_in_place_leaves_nothing_behind(void** unused) {
  (void)unused;
  sn_image image = make_pattern(4, 4);
  sn_error err = {0};
  assert_int_equal(mkdir(scratch_path("picture.png"), 0700), 0);
  assert_int_equal(sn_image_save_png(&image, scratch_path("picture.png"), &err), SN_ERR_IO);
  assert_message_has(&err, "picture.png");
  assert_int_equal(scratch_file_count(), 1);
  sn_image_destroy(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_picture_survives_its_file, make_scratch_folder,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_folder_that_is_missing_is_reported, make_scratch_folder,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_picture_that_cannot_be_put_in_place_leaves_nothing_behind,
                                      make_scratch_folder, remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
