// What colours stand for.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/shade.h"

#define MOST_TICKS 6

static void fill(sn_image* image, const int box[4], sn_colour colour) {
  for (int y = box[1]; y < box[1] + box[3]; ++y) {
    for (int x = box[0]; x < box[0] + box[2]; ++x) {
      if (x < 0 || y < 0 || x >= image->width || y >= image->height) continue;
      uint8_t* pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
      memcpy(pixel, (uint8_t[3]){colour.r, colour.g, colour.b}, 3);
    }
  }
}

// Even steps of 1, 2 or 5 times a power of ten, at most MOST_TICKS of them.
static double tick_step(const sn_colour_scale* scale) {
  double span = scale->high - scale->low, step = pow(10, floor(log10(span / MOST_TICKS)));
  static const double factors[] = {1, 2, 5, 10};
  for (int k = 0; k < 4; ++k) {
    if (span / (factors[k] * step) <= MOST_TICKS) return factors[k] * step;
  }
  return span;
}

static void draw_bar(sn_image* image, const int bar[4], const sn_colour_scale* scale) {
  for (int row = 0; row < bar[3]; ++row) {
    double share = bar[3] > 1 ? 1 - (double)row / (bar[3] - 1) : 0.5;
    sn_colour colour = sn_scale_colour(scale, scale->low + share * (scale->high - scale->low));
    fill(image, (int[4]){bar[0], bar[1] + row, bar[2], 1}, colour);
  }
}

void sn_image_draw_legend(sn_image* image, const int rectangle[4], int text_scale,
                          const sn_colour_scale* scale, const char* title) {
  const sn_colour ink = {70, 74, 88};
  const int letter = 7 * text_scale, gap = 3 * text_scale;
  const int bar[4] = {rectangle[0], rectangle[1] + 2 * letter, 6 * text_scale,
                      rectangle[3] - 2 * letter - gap};
  sn_image_draw_text(image, rectangle[0], rectangle[1], text_scale, ink, title);
  if (bar[3] <= 0 || !(scale->high > scale->low)) return;
  draw_bar(image, bar, scale);
  double step = tick_step(scale);
  for (double k = ceil(scale->low / step - 1e-6); k * step <= scale->high + 1e-6 * step; ++k) {
    double share = (k * step - scale->low) / (scale->high - scale->low);
    int y = bar[1] + (int)lround((1 - share) * (bar[3] - 1));
    char text[32];
    snprintf(text, sizeof text, "%.4g", fabs(k) < 0.5 ? 0.0 : k * step);
    fill(image, (int[4]){bar[0] + bar[2], y - text_scale / 2, 2 * text_scale, text_scale}, ink);
    sn_image_draw_text(image, bar[0] + bar[2] + 3 * text_scale, y - letter / 2, text_scale, ink,
                       text);
  }
}
