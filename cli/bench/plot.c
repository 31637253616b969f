// Line plots, drawn twice: as SVG for documents and as PNG for everything else.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define WIDTH 960
#define HEIGHT 640
#define LEFT 110
#define RIGHT 30
#define TOP 60
#define BOTTOM 80
#define MAX_TICKS 24
#define TEXT_SCALE 2

static const sn_colour INK = {60, 64, 76}, GRID = {222, 224, 230};
// Distinguishable also where red and green are not.
static const sn_colour COLOURS[] = {{0, 114, 178},   {213, 94, 0},   {0, 158, 115},
                                    {204, 121, 167}, {90, 80, 70},   {86, 180, 233},
                                    {230, 159, 0},   {120, 40, 140}, {140, 150, 40}};

// ---- Series

plot_series* plot_add_series(plot* p, const char* name) {
  if (p->series_count < PLOT_SERIES) ++p->series_count;
  plot_series* series = &p->series[p->series_count - 1];
  snprintf(series->name, sizeof series->name, "%s", name);
  return series;
}

void plot_add_point(plot_series* series, double x, double y) {
  if (series->count == series->room) {
    size_t room = series->room ? 2 * series->room : 32;
    double* larger = realloc(series->points, 2 * room * sizeof *larger);
    if (!larger) return;  // a point less
    series->points = larger;
    series->room = room;
  }
  series->points[2 * series->count] = x;
  series->points[2 * series->count + 1] = y;
  series->count++;
}

void plot_destroy(plot* p) {
  for (int s = 0; s < p->series_count; ++s) free(p->series[s].points);
  p->series_count = 0;
}

// ---- Drawing: every mark goes to both

typedef struct canvas {
  FILE* svg;
  sn_image image;
} canvas;

static void fill_pixels(sn_image* image, int x, int y, int size, sn_colour colour) {
  for (int j = y; j < y + size; ++j) {
    for (int i = x; i < x + size; ++i) {
      if (i < 0 || j < 0 || i >= image->width || j >= image->height) continue;
      uint8_t* pixel = image->pixels + 3 * ((size_t)j * (size_t)image->width + (size_t)i);
      pixel[0] = colour.r;
      pixel[1] = colour.g;
      pixel[2] = colour.b;
    }
  }
}

static void draw_line(canvas* c, const double from[2], const double to[2], int width,
                      sn_colour colour) {
  fprintf(c->svg,
          "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#%02x%02x%02x\" "
          "stroke-width=\"%d\"/>\n",
          from[0], from[1], to[0], to[1], colour.r, colour.g, colour.b, width);
  double dx = to[0] - from[0], dy = to[1] - from[1];
  int steps = (int)ceil(fmax(fabs(dx), fabs(dy))) + 1;
  for (int k = 0; k <= steps; ++k) {
    double t = (double)k / steps;
    fill_pixels(&c->image, (int)lround(from[0] + t * dx - 0.5 * (width - 1)),
                (int)lround(from[1] + t * dy - 0.5 * (width - 1)), width, colour);
  }
}

// A square around a point.
static void draw_dot(canvas* c, const double at[2], sn_colour colour) {
  fprintf(c->svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\" fill=\"#%02x%02x%02x\"/>\n",
          at[0] - 3.5, at[1] - 3.5, colour.r, colour.g, colour.b);
  fill_pixels(&c->image, (int)lround(at[0]) - 3, (int)lround(at[1]) - 3, 7, colour);
}

static double text_width(const char* text) { return 6.0 * TEXT_SCALE * (double)strlen(text); }

// One line; `anchor` is 0 where it begins at x, 0.5 where x is its middle, 1 where it ends there.
static void draw_text(canvas* c, double x, double y, double anchor, sn_colour colour,
                      const char* text) {
  static const char* const ANCHORS[] = {"start", "middle", "end"};
  fprintf(c->svg,
          "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#%02x%02x%02x\">%s</text>\n", x,
          y + 7 * TEXT_SCALE, ANCHORS[(int)(2 * anchor)], colour.r, colour.g, colour.b, text);
  sn_image_draw_text(&c->image, (int)(x - anchor * text_width(text)), (int)y, TEXT_SCALE, colour,
                     text);
}

// ---- Axes

typedef struct axis {
  bool is_log;
  double low, high;  // of the values, or of their decimal logarithms
  double ticks[MAX_TICKS];
  int tick_count;
} axis;

static bool is_shown(const plot* p, const double* point) {
  return isfinite(point[0]) && isfinite(point[1]) && (!p->x_log || point[0] > 0) &&
         (!p->y_log || point[1] > 0);
}

static double scaled(const axis* a, double value) { return a->is_log ? log10(value) : value; }

static void find_range(const plot* p, int which, axis* a) {
  a->low = INFINITY;
  a->high = -INFINITY;
  for (int s = 0; s < p->series_count; ++s) {
    for (size_t i = 0; i < p->series[s].count; ++i) {
      const double* point = p->series[s].points + 2 * i;
      if (!is_shown(p, point)) continue;
      a->low = fmin(a->low, scaled(a, point[which]));
      a->high = fmax(a->high, scaled(a, point[which]));
    }
  }
  if (!a->is_log && a->low > 0) a->low = 0;
}

static void add_tick(axis* a, double tick) {
  if (a->tick_count < MAX_TICKS) a->ticks[a->tick_count++] = tick;
}

// Even steps of 1, 2 or 5 times a power of ten; whole decades where the axis is logarithmic.
static void place_even_ticks(axis* a) {
  double span = a->high - a->low, step;
  if (a->is_log) {
    step = ceil(span / (MAX_TICKS - 4));
  } else {
    step = pow(10, floor(log10(fmax(span, 1e-9) / 4)));
    if (span / step > 20) {
      step *= 5;
    } else if (span / step > 8) {
      step *= 2;
    }
  }
  a->low = step * floor(a->low / step + 1e-9);
  a->high = step * ceil(a->high / step - 1e-9);
  if (a->high <= a->low) a->high = a->low + step;
  for (int k = 0; a->low + k * step <= a->high + 1e-9 * step; ++k) add_tick(a, a->low + k * step);
}

// 1, 2 and 5 of each decade, from the last one below the values to the first above.
static void place_log_ticks(axis* a) {
  static const double PARTS[3] = {0, 0.30103, 0.69897};
  double low = a->low, high = a->high;
  for (int k = 3 * (int)floor(low); k <= 3 * (int)ceil(high); ++k) {
    int decade = (int)floor(k / 3.0);
    double tick = decade + PARTS[k - 3 * decade];
    if (tick <= low + 1e-9) {
      a->low = tick;
      a->tick_count = 0;
    }
    add_tick(a, tick);
    a->high = tick;
    if (tick >= high - 1e-9 && a->tick_count > 1) return;
  }
}

static void place_ticks(axis* a) {
  a->tick_count = 0;
  if (a->is_log && a->high - a->low < 2.5) {
    place_log_ticks(a);
  } else {
    place_even_ticks(a);
  }
}

static double place_x(const axis* a, double scaled_value) {
  return LEFT + (scaled_value - a->low) / (a->high - a->low) * (WIDTH - LEFT - RIGHT);
}
static double place_y(const axis* a, double scaled_value) {
  return HEIGHT - BOTTOM - (scaled_value - a->low) / (a->high - a->low) * (HEIGHT - TOP - BOTTOM);
}

static void draw_axes(canvas* c, const plot* p, const axis* x, const axis* y) {
  char text[32];
  for (int k = 0; k < x->tick_count; ++k) {
    double at = place_x(x, x->ticks[k]);
    draw_line(c, (double[]){at, TOP}, (double[]){at, HEIGHT - BOTTOM}, 1, GRID);
    snprintf(text, sizeof text, "%.4g", x->is_log ? pow(10, x->ticks[k]) : x->ticks[k]);
    draw_text(c, at, HEIGHT - BOTTOM + 12, 0.5, INK, text);
  }
  for (int k = 0; k < y->tick_count; ++k) {
    double at = place_y(y, y->ticks[k]);
    draw_line(c, (double[]){LEFT, at}, (double[]){WIDTH - RIGHT, at}, 1, GRID);
    snprintf(text, sizeof text, "%.4g", y->is_log ? pow(10, y->ticks[k]) : y->ticks[k]);
    draw_text(c, LEFT - 10, at - 7, 1, INK, text);
  }
  draw_line(c, (double[]){LEFT, HEIGHT - BOTTOM}, (double[]){WIDTH - RIGHT, HEIGHT - BOTTOM}, 2,
            INK);
  draw_line(c, (double[]){LEFT, TOP}, (double[]){LEFT, HEIGHT - BOTTOM}, 2, INK);
  draw_text(c, WIDTH / 2.0, HEIGHT - 36, 0.5, INK, p->x_label);
  draw_text(c, LEFT, 34, 0, INK, p->y_label);
  draw_text(c, WIDTH / 2.0, 10, 0.5, INK, p->title);
}

static void draw_series(canvas* c, const plot* p, const axis* x, const axis* y, int s) {
  sn_colour colour = COLOURS[(size_t)s % (sizeof COLOURS / sizeof *COLOURS)];
  const plot_series* series = &p->series[s];
  double before[2], at[2];
  bool has_before = false;
  for (size_t i = 0; i < series->count; ++i) {
    const double* point = series->points + 2 * i;
    if (!is_shown(p, point)) continue;
    at[0] = place_x(x, scaled(x, point[0]));
    at[1] = place_y(y, scaled(y, point[1]));
    draw_dot(c, at, colour);
    if (has_before) draw_line(c, before, at, 2, colour);
    memcpy(before, at, sizeof at);
    has_before = true;
  }
  draw_text(c, WIDTH - RIGHT - 8, TOP + 8 + 22 * s, 1, colour, series->name);
}

static sn_status draw(const plot* p, const char* path, sn_error* err) {
  char name[BENCH_PATH + 8];
  axis x = {.is_log = p->x_log}, y = {.is_log = p->y_log};
  canvas c = {0};
  find_range(p, 0, &x);
  find_range(p, 1, &y);
  if (!(x.low <= x.high)) return SN_OK;  // nothing to show
  place_ticks(&x);
  place_ticks(&y);
  sn_status status = sn_image_create(WIDTH, HEIGHT, &c.image, err);
  if (status != SN_OK) return status;
  snprintf(name, sizeof name, "%s.svg", path);
  c.svg = fopen(name, "w");
  if (!c.svg) {
    sn_image_destroy(&c.image);
    return bench_fail(err, SN_ERR_IO, "%.900s: cannot be written: %s", name, strerror(errno));
  }
  fprintf(c.svg,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
          "font-family=\"sans-serif\" font-size=\"16\">\n<rect width=\"%d\" height=\"%d\" "
          "fill=\"white\"/>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  draw_axes(&c, p, &x, &y);
  for (int s = 0; s < p->series_count; ++s) draw_series(&c, p, &x, &y, s);
  fprintf(c.svg, "</svg>\n");
  bool failed = ferror(c.svg) != 0;
  if (fclose(c.svg) != 0 || failed) {
    status = bench_fail(err, SN_ERR_IO, "%.900s: cannot be written", name);
  }
  snprintf(name, sizeof name, "%s.png", path);
  if (status == SN_OK) status = sn_image_save_png(&c.image, name, err);
  sn_image_destroy(&c.image);
  return status;
}

sn_status plot_save(const bench_run* run, plot* p, const char* name, sn_error* err) {
  char path[BENCH_PATH];
  sn_status status = SN_OK;
  if (run->o->out) {
    snprintf(path, sizeof path, "%s/%s", run->o->out, name);
    status = draw(p, path, err);
  }
  plot_destroy(p);
  return status;
}
