#include "io/scratch.h"
#include "sinew/shape.h"

static const sn_colour ink = {10, 20, 30};

static int count_ink(const sn_image* image) {
  int count = 0;
  for (int i = 0; i < image->width * image->height; ++i) {
    const uint8_t* p = image->pixels + 3 * (size_t)i;
    count += p[0] == ink.r && p[1] == ink.g && p[2] == ink.b;
  }
  return count;
}

// Ink of a text on a picture of its own.
static int ink_of(const char* text, int left, int top, int scale) {
  sn_image image;
  assert_int_equal(sn_image_create(60, 20, &image, NULL), SN_OK);
  sn_image_draw_text(&image, left, top, scale, ink, text);
  int count = count_ink(&image);
  sn_image_destroy(&image);
  return count;
}

static void letters_are_drawn_dot_by_dot(void** unused) {
  (void)unused;
  sn_image image;
  assert_int_equal(sn_image_create(20, 20, &image, NULL), SN_OK);
  sn_image_draw_text(&image, 3, 4, 2, ink, "L");
  // An L: a column of seven dots and a foot of four more, each two by two pixels.
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) {
      bool column = 3 <= x && x < 5 && 4 <= y && y < 18;
      bool foot = 3 <= x && x < 13 && 16 <= y && y < 18;
      assert_int_equal(image.pixels[3 * (y * 20 + x)] == ink.r, column || foot);
    }
  }
  sn_image_destroy(&image);
}

static void strange_letters_are_boxes(void** unused) {
  (void)unused;
  assert_int_equal(ink_of("\xc3", 0, 0, 1), 20);
  assert_int_equal(ink_of(" ", 0, 0, 1), 0);
}

static void all_characters_differ(void** unused) {
  (void)unused;
  const char* known =
      " 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,:-+=_/%()'!";
  sn_image a, b;
  assert_int_equal(sn_image_create(5, 7, &a, NULL), SN_OK);
  assert_int_equal(sn_image_create(5, 7, &b, NULL), SN_OK);
  for (size_t i = 0; known[i]; ++i) {
    for (size_t j = 0; j < i; ++j) {
      memset(a.pixels, 255, 3 * 5 * 7);
      memset(b.pixels, 255, 3 * 5 * 7);
      sn_image_draw_text(&a, 0, 0, 1, ink, (char[2]){known[i], 0});
      sn_image_draw_text(&b, 0, 0, 1, ink, (char[2]){known[j], 0});
      assert_memory_not_equal(a.pixels, b.pixels, 3 * 5 * 7);
    }
  }
  sn_image_destroy(&a);
  sn_image_destroy(&b);
}

static void text_beyond_the_borders_is_cut(void** unused) {
  (void)unused;
  assert_int_equal(ink_of("I", -3, 0, 1), 2);
  assert_int_equal(ink_of("H", 0, -6, 1), 2);
  assert_int_equal(ink_of("FAR AWAY", 1000, 0, 3), 0);
  assert_int_equal(ink_of("FAR AWAY", 0, -1000, 3), 0);
  assert_true(ink_of("A TEXT THAT IS MUCH LONGER THAN THE PICTURE", -7, -3, 4) > 0);
  assert_int_equal(ink_of("NOTHING", 0, 0, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(letters_are_drawn_dot_by_dot),
      cmocka_unit_test(strange_letters_are_boxes),
      cmocka_unit_test(all_characters_differ),
      cmocka_unit_test(text_beyond_the_borders_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
