#include <math.h>

#include "io/scratch.h"
#include "math/vec.h"
#include "sinew/shape.h"

#define STEPS 24

static double decode(uint8_t value) {
  double x = value / 255.0;
  return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

// OKLab, where distance is difference in looks.
static sn_vec3 looks_of(sn_colour c) {
  double r = decode(c.r), g = decode(c.g), b = decode(c.b);
  double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return sn_v3(0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
               1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
               0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s);
}

static void equal_steps_look_equal(void** unused) {
  (void)unused;
  for (int diverging = 0; diverging < 2; ++diverging) {
    sn_colour_scale scale = {-3, 5, diverging};
    double total = 0, least = INFINITY, most = 0;
    for (int k = 0; k < STEPS; ++k) {
      sn_vec3 a = looks_of(sn_scale_colour(&scale, -3 + 8.0 * k / STEPS));
      sn_vec3 b = looks_of(sn_scale_colour(&scale, -3 + 8.0 * (k + 1) / STEPS));
      double step = sn_distance(a, b);
      total += step;
      least = fmin(least, step);
      most = fmax(most, step);
    }
    assert_true(total > 0.6);
    assert_true(least > 0.8 * total / STEPS && most < 1.2 * total / STEPS);
  }
}

static void one_map_brightens_and_the_other_is_palest_in_the_middle(void** unused) {
  (void)unused;
  sn_colour_scale even = {0, 1, false}, diverging = {0, 1, true};
  for (int k = 0; k < STEPS; ++k) {
    double here = (double)k / STEPS, next = (k + 1.0) / STEPS;
    assert_true(looks_of(sn_scale_colour(&even, next)).x >
                looks_of(sn_scale_colour(&even, here)).x);
    double a = looks_of(sn_scale_colour(&diverging, here)).x,
           b = looks_of(sn_scale_colour(&diverging, next)).x;
    assert_true(next <= 0.5 ? b > a : b < a);
  }
  sn_colour low = sn_scale_colour(&diverging, 0), high = sn_scale_colour(&diverging, 1);
  assert_true(low.b > low.r + 60 && high.r > high.b + 60);
}

static void numbers_beyond_the_ends_have_their_colour(void** unused) {
  (void)unused;
  sn_colour_scale scale = {2, 4, false};
  sn_colour low = sn_scale_colour(&scale, 2), far_low = sn_scale_colour(&scale, -INFINITY);
  sn_colour high = sn_scale_colour(&scale, 4), far_high = sn_scale_colour(&scale, 1e300);
  sn_colour none = sn_scale_colour(&scale, NAN);
  assert_memory_equal(&low, &far_low, sizeof low);
  assert_memory_equal(&high, &far_high, sizeof high);
  assert_true(none.r == none.g && none.g == none.b);
}

static void a_legend_has_the_ends_of_its_scale_and_stays_in_the_picture(void** unused) {
  (void)unused;
  sn_colour_scale scale = {0, 1, false};
  sn_colour low = sn_scale_colour(&scale, 0), high = sn_scale_colour(&scale, 1);
  sn_image image;
  assert_int_equal(sn_image_create(120, 200, &image, NULL), SN_OK);
  sn_image_draw_legend(&image, (int[4]){10, 10, 100, 180}, 1, &scale, "strain");
  int first = -1, last = -1, ink = 0;
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* p = image.pixels + 3 * (y * image.width + 11);
    if (memcmp(p, &high, 3) == 0 && first < 0) first = y;
    if (memcmp(p, &low, 3) == 0) last = y;
    for (int x = 17; x < image.width; ++x) {
      ink += image.pixels[3 * (y * image.width + x)] < 128;
    }
  }
  assert_true(first >= 10 && last > first + 100 && last < 190);
  assert_true(ink > 60);
  // Nothing to draw, or nowhere: nothing happens.
  sn_image_draw_legend(&image, (int[4]){-500, 900, 10, 3}, 4, &scale, "far away");
  sn_image_draw_legend(&image, (int[4]){0, 0, 10, 100}, 1, &(sn_colour_scale){1, 1, true}, "none");
  sn_image_destroy(&image);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_steps_look_equal),
      cmocka_unit_test(one_map_brightens_and_the_other_is_palest_in_the_middle),
      cmocka_unit_test(numbers_beyond_the_ends_have_their_colour),
      cmocka_unit_test(a_legend_has_the_ends_of_its_scale_and_stays_in_the_picture),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
