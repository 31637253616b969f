// A z-buffered picture of surfaces. The rectangle is worked through in bands of rows: every band is
// sampled three by three times a pixel, each sample remembers the nearest triangle of flesh and the
// nearest of anything else, and only what is seen in the end is shaded.
#include <math.h>

#include "math/vec.h"
#include "render/scan.h"
#include "render/soup.h"

#define SUPERSAMPLES 3
#define BAND_ROWS 16
#define VEIL 0.4  // how much of a solid is seen where flesh is behind it

enum { FLESH, OTHER, LAYERS };

typedef struct sample {
  float nearness;  // inverse depth; 0 is the background
  uint32_t triangle;
  float weights[2];  // of the first two corners, in the scene
} sample;

typedef struct raster {
  const sn_soup* soup;
  const sn_camera* camera;
  const sn_light_rig* rig;
  int left, top, width, height;  // rectangle in the image, pixels
  sample* samples;               // of one band (LAYERS x SUPERSAMPLES^2 x BAND_ROWS x width)
} raster;

// Both layers of a sample.
static sample* sample_at(const raster* r, int x, int y, int first_row) {
  size_t row = (size_t)(y - first_row * SUPERSAMPLES);
  return &r->samples[LAYERS * (row * (size_t)(r->width * SUPERSAMPLES) + (size_t)x)];
}

static sn_look look_of(const sn_soup* soup, uint32_t triangle) {
  return soup->looks[soup->owners[triangle]];
}

// Keep the triangle where it is nearer than what was there.
static void cover_sample(sample* s, uint32_t triangle, const double w[3], const sn_vec3 p[3]) {
  double nearness = w[0] * p[0].z + w[1] * p[1].z + w[2] * p[2].z;
  if (!((float)nearness > s->nearness)) return;
  // Weights in the picture, over depths, give weights in the scene.
  *s = (sample){.nearness = (float)nearness,
                .triangle = triangle,
                .weights = {(float)(w[0] * p[0].z / nearness), (float)(w[1] * p[1].z / nearness)}};
}

static void cover_band(const raster* r, uint32_t triangle, int first_row, int end_row) {
  sn_vec3 p[3];
  for (int c = 0; c < 3; ++c) {
    p[c] = r->soup->pixels[r->soup->triangles[3 * (size_t)triangle + c]];
    p[c].x *= SUPERSAMPLES;
    p[c].y *= SUPERSAMPLES;
  }
  int layer = look_of(r->soup, triangle) == SN_LOOK_FLESH ? FLESH : OTHER;
  sn_scan scan;
  double w[3];
  if (!sn_scan_begin(&scan, p, r->width * SUPERSAMPLES, first_row * SUPERSAMPLES,
                     end_row * SUPERSAMPLES)) {
    return;
  }
  for (int y = scan.y_begin; y < scan.y_end; ++y) {
    for (int x = scan.x_begin; x < scan.x_end; ++x) {
      if (sn_scan_weights(&scan, x, y, w)) {
        cover_sample(sample_at(r, x, y, first_row) + layer, triangle, w, p);
      }
    }
  }
}

// Inner sides, seen where a surface is open or turned inside out, are lit as if they were outer
// ones.
static sn_vec3 facing_normal(const sn_soup* soup, const uint32_t* c, sn_vec3 normal,
                             sn_vec3 to_eye) {
  sn_vec3 a = soup->places[c[0]];
  sn_vec3 flat = sn_cross(sn_sub(soup->places[c[1]], a), sn_sub(soup->places[c[2]], a));
  if (sn_dot(flat, to_eye) < 0) normal = sn_scale(-1, normal);
  double length = sn_length(normal);
  return length > 0 ? sn_scale(1 / length, normal) : to_eye;
}

static sn_light shade_sample(const raster* r, const sample* s, double x, double y) {
  const sn_soup* soup = r->soup;
  const uint32_t* c = soup->triangles + 3 * (size_t)s->triangle;
  const float w[3] = {s->weights[0], s->weights[1], 1 - s->weights[0] - s->weights[1]};
  float mark = 0;
  sn_lit_point point = {.to_eye = sn_camera_to_eye(r->camera, x, y)};
  for (int k = 0; k < 3; ++k) {
    point.normal = sn_madd(point.normal, w[k], soup->normals[c[k]]);
    point.sky += w[k] * soup->sky[c[k]];
    point.key += w[k] * soup->key[c[k]];
    mark += w[k] * soup->marks[c[k]];
  }
  point.dull = look_of(soup, s->triangle) != SN_LOOK_FLESH;
  point.wet = mark > 0.5f;
  point.base = soup->colours[soup->owners[s->triangle]][point.wet];
  point.normal = facing_normal(soup, c, point.normal, point.to_eye);
  return sn_shade(r->rig, &point);
}

// How much is left of a collider at this sample, 1 to 0.
static double fade_at(const raster* r, const sample* s) {
  const sn_soup* soup = r->soup;
  const uint32_t* c = soup->triangles + 3 * (size_t)s->triangle;
  sn_vec3 place = sn_scale(s->weights[0], soup->places[c[0]]);
  place = sn_madd(place, s->weights[1], soup->places[c[1]]);
  place = sn_madd(place, 1 - s->weights[0] - s->weights[1], soup->places[c[2]]);
  double distance = sn_distance(place, r->camera->middle) / r->camera->radius;
  double t = (SN_FADE_END - distance) / (SN_FADE_END - SN_FADE_BEGIN);
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return t * t * (3 - 2 * t);
}

// Flesh over what is farther; what is nearer over flesh, which a solid only veils.
static sn_light sample_light(const raster* r, const sample layers[LAYERS], double x, double y,
                             sn_light background) {
  const sample *flesh = &layers[FLESH], *other = &layers[OTHER];
  bool covered = other->nearness > flesh->nearness;
  sn_light light = background;
  double share = covered ? fade_at(r, other) : 0;
  if (flesh->nearness > 0) {
    light = shade_sample(r, flesh, x, y);
    if (covered && look_of(r->soup, other->triangle) == SN_LOOK_SOLID) share *= VEIL;
  }
  return covered ? sn_light_mix(light, shade_sample(r, other, x, y), share) : light;
}

static sn_light pixel_light(const raster* r, int x, int y, int first_row, sn_light background) {
  sn_light sum = {0, 0, 0};
  for (int k = 0; k < SUPERSAMPLES * SUPERSAMPLES; ++k) {
    int sx = x * SUPERSAMPLES + k % SUPERSAMPLES, sy = y * SUPERSAMPLES + k / SUPERSAMPLES;
    const sample* layers = sample_at(r, sx, sy, first_row);
    double px = (sx + 0.5) / SUPERSAMPLES, py = (sy + 0.5) / SUPERSAMPLES;
    sn_light light = sample_light(r, layers, px, py, background);
    // Bright spots are cut before the mean, else their borders would be jagged.
    sum.r += fminf(light.r, 1);
    sum.g += fminf(light.g, 1);
    sum.b += fminf(light.b, 1);
  }
  float share = 1.0f / (SUPERSAMPLES * SUPERSAMPLES);
  return (sn_light){share * sum.r, share * sum.g, share * sum.b};
}

static void draw_band(const raster* r, int first_row, int end_row, sn_image* image) {
  size_t sample_count = (size_t)(end_row - first_row) * r->width * SUPERSAMPLES * SUPERSAMPLES;
  for (size_t i = 0; i < LAYERS * sample_count; ++i) r->samples[i].nearness = 0;
  for (uint32_t t = 0; t < r->soup->triangle_count; ++t) cover_band(r, t, first_row, end_row);
  for (int y = first_row; y < end_row; ++y) {
    uint8_t* row = image->pixels + 3 * ((size_t)(r->top + y) * image->width + r->left);
    sn_light background = sn_shade_background(1 - (y + 0.5) / r->height);
    for (int x = 0; x < r->width; ++x) {
      sn_light light = pixel_light(r, x, y, first_row, background);
      sn_colour colour = sn_colour_from_light(light, x, y);
      row[3 * x] = colour.r;
      row[3 * x + 1] = colour.g;
      row[3 * x + 2] = colour.b;
    }
  }
}

static sn_status draw_soup(raster* r, sn_arena* arena, sn_image* image, sn_error* err) {
  size_t band_samples = LAYERS * (size_t)r->width * BAND_ROWS * SUPERSAMPLES * SUPERSAMPLES;
  SN_TRY(SN_ARENA_NEW(arena, band_samples, &r->samples, err));
  for (int row = 0; row < r->height; row += BAND_ROWS) {
    draw_band(r, row, row + BAND_ROWS < r->height ? row + BAND_ROWS : r->height, image);
  }
  return SN_OK;
}

static sn_status draw_surfaces(sn_image* image, const int rectangle[4], const sn_view* view,
                               const sn_drawn_surface* surfaces, uint32_t surface_count,
                               sn_arena* arena, sn_error* err) {
  sn_camera camera = sn_camera_fit(view, rectangle[2], rectangle[3]);
  sn_light_rig rig = sn_light_rig_make(&camera);
  sn_soup soup;
  SN_TRY(sn_soup_gather(surfaces, surface_count, &camera, arena, &soup, err));
  SN_TRY(sn_soup_shadow(&soup, &rig, &camera, arena, err));
  raster r = {.soup = &soup,
              .camera = &camera,
              .rig = &rig,
              .left = rectangle[0],
              .top = rectangle[1],
              .width = rectangle[2],
              .height = rectangle[3]};
  return draw_soup(&r, arena, image, err);
}

static sn_status check_place(const sn_image* image, const int rectangle[4], const sn_view* view,
                             sn_error* err) {
  const int *r = rectangle, w = image->width, h = image->height;
  SN_CHECK(r[0] >= 0 && r[1] >= 0 && r[2] > 0 && r[3] > 0 && r[0] <= w - r[2] && r[1] <= h - r[3],
           err, SN_ERR_USAGE, "rectangle %d, %d, %d x %d does not lie in a picture of %d x %d",
           r[0], r[1], r[2], r[3], w, h);
  // An empty box is infinite, but then it is so in all of its six numbers.
  const sn_vec3 lo = view->shown.lo, hi = view->shown.hi;
  bool empty = lo.x > hi.x;
  double sum = empty ? 0 : lo.x + lo.y + lo.z + hi.x + hi.y + hi.z;
  SN_CHECK(isfinite(sum + view->azimuth_deg + view->elevation_deg), err, SN_ERR_INPUT,
           "the view has a value that is not finite");
  return SN_OK;
}

sn_status sn_image_draw_surfaces(sn_image* image, const int rectangle[4], const sn_view* view,
                                 const sn_drawn_surface* surfaces, uint32_t surface_count,
                                 sn_error* err) {
  SN_TRY(check_place(image, rectangle, view, err));
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = draw_surfaces(image, rectangle, view, surfaces, surface_count, arena, err);
  sn_arena_destroy(arena);
  return status;
}
