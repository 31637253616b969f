// Pictures by ray tracing. Each pixel follows a few rays from the eye and from where they end one to
// the sun and one to the sky. The pixels of a 4 x 4 square use different parts of one even set of
// directions; the light of a square's worth of neighbours on the same surface is then averaged, which
// stands for sixteen times as many rays and leaves no noise (Keller and Heidrich 2001). Work goes in
// bands of rows; the rows that the next band looks at too are kept.
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "math/simd_mode.h"
#include "math/vec.h"
#include "render/gather.h"
#include "render/sample.h"

#define BAND_ROWS 32
#define REACH 2  // pixels to each side that share their light
#define KEPT_ROWS (2 * REACH)

static const sn_sample_set PIXEL_SET = {0, 0};

// Light at the surface that most of a pixel shows, per layer.
typedef struct lit_pixel {
  sn_vec3 place, normal;
  float sky[3], sun;
  uint32_t owner;
  bool known;
} lit_pixel;

typedef struct drawing {
  const sn_stage* stage;
  sn_image* image;
  int left, top, width, height;  // rectangle in the image, pixels
  uint32_t samples;              // rays from the eye for each pixel: a power of two
  int first_row;                 // of the band, REACH above its first pixels
  int light_begin;               // rows from here on are still to be lit
  int row_count;                 // rows of the band with what is kept
  sn_hit* hits;                  // (SN_LAYER_COUNT x samples x width x rows)
  lit_pixel* lit;                // (SN_LAYER_COUNT x width x rows)
  uint64_t* row_rays;            // rays followed for each row of the band
} drawing;

static size_t pixel_index(const drawing* d, int x, int y) {
  return (size_t)(y - d->first_row) * (size_t)d->width + (size_t)x;
}

static sn_point2 sample_place(int x, int y, uint32_t sample) {
  sn_point2 p = sn_sample(PIXEL_SET, sample);
  return (sn_point2){x + p.x, y + p.y};
}

// ---- First pass: what is seen, and its light

// The place of a pixel in its 4 x 4 square, so that neighbours are far apart in the sequence.
static uint32_t rank_of(int x, int y) {
  static const uint8_t order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  return order[y & 3][x & 3];
}

// The mean light of those samples of a pixel that show the same surface as the first one does.
static lit_pixel light_pixel(const drawing* d, sn_layer_kind layer, const sn_hit* hits, int x,
                             int y, uint64_t* rays) {
  lit_pixel lit = {0};
  int count = 0;
  for (uint32_t s = 0; s < d->samples; ++s) {
    if (hits[s].triangle == SN_NO_HIT) continue;
    sn_point2 at = sample_place(x, y, s);
    sn_surface_point point = sn_stage_point(d->stage, layer, &hits[s], at.x, at.y);
    if (lit.known && point.owner != lit.owner) continue;
    if (!(point.presence > 0)) continue;
    sn_arriving a = sn_stage_light(d->stage, &point, rank_of(x, y) * d->samples + s, rays);
    lit.known = true;
    lit.owner = point.owner;
    lit.place = sn_add(lit.place, point.place);
    lit.normal = sn_add(lit.normal, point.normal);
    lit.sky[0] += a.sky.r;
    lit.sky[1] += a.sky.g;
    lit.sky[2] += a.sky.b;
    lit.sun += a.sun;
    ++count;
  }
  if (!lit.known) return lit;
  double length = sn_length(lit.normal);
  lit.place = sn_scale(1.0 / count, lit.place);
  if (length > 0) lit.normal = sn_scale(1 / length, lit.normal);
  for (int k = 0; k < 3; ++k) lit.sky[k] /= (float)count;
  lit.sun /= (float)count;
  return lit;
}

static void light_row(const drawing* d, int y, uint64_t* rays) {
  for (int x = 0; x < d->width; ++x) {
    size_t at = SN_LAYER_COUNT * pixel_index(d, x, y);
    sn_hit* hits = d->hits + at * d->samples;
    for (uint32_t s = 0; s < d->samples; ++s) {
      sn_point2 place = sample_place(x, y, s);
      sn_hit seen[SN_LAYER_COUNT];
      sn_stage_look(d->stage, place.x, place.y, seen, rays);
      for (int k = 0; k < SN_LAYER_COUNT; ++k) hits[k * d->samples + s] = seen[k];
    }
    for (int k = 0; k < SN_LAYER_COUNT; ++k) {
      d->lit[at + k] = light_pixel(d, (sn_layer_kind)k, hits + k * d->samples, x, y, rays);
    }
  }
}

static void light_rows(void* ctx, size_t begin, size_t end) {
  const drawing* d = ctx;
  unsigned mode = sn_float_mode_flush();
  for (size_t row = begin; row < end; ++row) {
    light_row(d, d->light_begin + (int)row, &d->row_rays[row]);
  }
  sn_float_mode_restore(mode);
}

// ---- Second pass: shared light, and colours

// How much a neighbour's light tells about a point: nothing across edges and creases.
static double likeness(const lit_pixel* lit, const sn_surface_point* p, double pixel) {
  if (!lit->known || lit->owner != p->owner) return 0;
  double turn = 1 - sn_dot(lit->normal, p->normal);
  double off = fabs(sn_dot(sn_sub(lit->place, p->place), p->normal));
  if (turn > 0.15 || off > 3 * pixel) return 0;
  return 1 - turn / 0.15;
}

static sn_arriving shared_light(const drawing* d, sn_layer_kind layer, const sn_surface_point* p,
                                const int at[2], uint32_t sample, uint64_t* rays) {
  // A square of four by four pixels around any place: the outermost of five count half.
  static const double tent[2 * REACH + 1] = {0.5, 1, 1, 1, 0.5};
  double sum[4] = {0}, total = 0;
  sn_vec3 eye = sn_camera_space(&d->stage->camera, d->stage->camera.eye);
  double pixel = sn_distance(p->place, eye) / d->stage->camera.focal;
  for (int y = at[1] - REACH; y <= at[1] + REACH; ++y) {
    for (int x = at[0] - REACH; x <= at[0] + REACH; ++x) {
      if (x < 0 || y < 0 || x >= d->width || y >= d->height) continue;
      const lit_pixel* lit = &d->lit[SN_LAYER_COUNT * pixel_index(d, x, y) + layer];
      double weight = likeness(lit, p, pixel) * tent[x - at[0] + REACH] * tent[y - at[1] + REACH];
      for (int k = 0; k < 3; ++k) sum[k] += weight * lit->sky[k];
      sum[3] += weight * lit->sun;
      total += weight;
    }
  }
  // A splinter of a surface: its own light, however rough.
  if (!(total > 0.05)) {
    uint32_t index = rank_of(at[0], at[1]) * d->samples + sample;
    return sn_stage_light(d->stage, p, index, rays);
  }
  return (sn_arriving){
      .sky = {(float)(sum[0] / total), (float)(sum[1] / total), (float)(sum[2] / total)},
      .sun = (float)(sum[3] / total)};
}

// A surface point with its light. Samples of a pixel mostly show the same surface, and then share it.
typedef struct lit_point {
  sn_surface_point point;
  sn_arriving arriving;
  bool known;
} lit_point;

static void light_point(const drawing* d, sn_layer_kind layer, const sn_hit* hit, const int at[2],
                        uint32_t sample, lit_point* last, uint64_t* rays) {
  sn_point2 place = sample_place(at[0], at[1], sample);
  sn_surface_point point = sn_stage_point(d->stage, layer, hit, place.x, place.y);
  bool same = last->known && last->point.owner == point.owner &&
              sn_dot(last->point.normal, point.normal) > 0.995;
  last->point = point;
  if (!same) last->arriving = shared_light(d, layer, &point, at, sample, rays);
  last->known = true;
}

static sn_light sample_light(const drawing* d, const sn_hit* hits, const int at[2], uint32_t sample,
                             lit_point lit[SN_LAYER_COUNT], sn_light background, uint64_t* rays) {
  sn_light light = background;
  sn_look behind = SN_LOOK_FLOOR;
  for (int k = 0; k < SN_LAYER_COUNT; ++k) {
    const sn_hit* hit = &hits[k * d->samples + sample];
    if (hit->triangle == SN_NO_HIT) continue;
    light_point(d, (sn_layer_kind)k, hit, at, sample, &lit[k], rays);
    const sn_surface_point* p = &lit[k].point;
    sn_light shaded = sn_shade(&d->stage->rig, p, &lit[k].arriving, background);
    double share = k == SN_LAYER_SHEER ? sn_shade_opacity(p, behind) : 1;
    light = sn_light_mix(light, shaded, share);
    behind = p->look;
  }
  return light;
}

static sn_light pixel_light(const drawing* d, int x, int y, sn_light background, uint64_t* rays) {
  const sn_hit* hits = d->hits + SN_LAYER_COUNT * pixel_index(d, x, y) * d->samples;
  const int at[2] = {x, y};
  lit_point lit[SN_LAYER_COUNT] = {0};
  sn_light sum = {0, 0, 0};
  for (uint32_t s = 0; s < d->samples; ++s) {
    // Bright spots are rolled off before the mean, else their borders would be jagged.
    sn_light light = sn_light_develop(sample_light(d, hits, at, s, lit, background, rays));
    sum.r += light.r;
    sum.g += light.g;
    sum.b += light.b;
  }
  float share = 1.0f / (float)d->samples;
  return (sn_light){share * sum.r, share * sum.g, share * sum.b};
}

static void shade_rows(void* ctx, size_t begin, size_t end) {
  const drawing* d = ctx;
  unsigned mode = sn_float_mode_flush();
  for (size_t index = begin; index < end; ++index) {
    int y = d->first_row + REACH + (int)index;
    uint8_t* row =
        d->image->pixels + 3 * ((size_t)(d->top + y) * (size_t)d->image->width + (size_t)d->left);
    sn_light background = sn_shade_background(1 - (y + 0.5) / d->height);
    for (int x = 0; x < d->width; ++x) {
      sn_light light = pixel_light(d, x, y, background, &d->row_rays[index]);
      sn_colour colour = sn_colour_from_light(light, x, y);
      memcpy(row + 3 * (size_t)x, (uint8_t[3]){colour.r, colour.g, colour.b}, 3);
    }
  }
  sn_float_mode_restore(mode);
}

// ---- The picture

static sn_status take_band(drawing* d, sn_arena* arena, sn_error* err) {
  size_t pixels = (size_t)d->width * (BAND_ROWS + KEPT_ROWS);
  SN_TRY(SN_ARENA_NEW(arena, SN_LAYER_COUNT * pixels * d->samples, &d->hits, err));
  SN_TRY(SN_ARENA_NEW(arena, SN_LAYER_COUNT * pixels, &d->lit, err));
  return SN_ARENA_NEW(arena, BAND_ROWS + KEPT_ROWS, &d->row_rays, err);
}

// The last rows of the band before become the first ones of this.
static void keep_rows(drawing* d) {
  size_t row = SN_LAYER_COUNT * (size_t)d->width;
  memmove(d->hits, d->hits + BAND_ROWS * row * d->samples,
          KEPT_ROWS * row * d->samples * sizeof *d->hits);
  memmove(d->lit, d->lit + BAND_ROWS * row, KEPT_ROWS * row * sizeof *d->lit);
}

static void draw_band(drawing* d, int first, sn_pool* pool) {
  int end = first + BAND_ROWS < d->height ? first + BAND_ROWS : d->height;
  int light_end = end + REACH < d->height ? end + REACH : d->height;
  if (first > 0) keep_rows(d);
  d->first_row = first - REACH;
  d->light_begin = first > 0 ? first + REACH : 0;
  if (d->light_begin < light_end) {
    sn_parallel_for(pool, (size_t)(light_end - d->light_begin), 1, light_rows, d);
  }
  sn_parallel_for(pool, (size_t)(end - first), 1, shade_rows, d);
}

static sn_status draw_stage(const sn_stage* stage, sn_image* image, const int rectangle[4],
                            const sn_view* view, sn_arena* arena, sn_error* err) {
  static const uint32_t samples[] = {4, 16, 64};
  drawing d = {.stage = stage,
               .image = image,
               .left = rectangle[0],
               .top = rectangle[1],
               .width = rectangle[2],
               .height = rectangle[3],
               .samples = samples[view->quality]};
  SN_TRY(take_band(&d, arena, err));
  for (int row = 0; row < d.height; row += BAND_ROWS) draw_band(&d, row, view->pool);
  for (int row = 0; view->ray_count && row < BAND_ROWS + KEPT_ROWS; ++row) {
    *view->ray_count += d.row_rays[row];
  }
  return SN_OK;
}

static sn_status make_stage(sn_stage* stage, const int rectangle[4], const sn_view* view,
                            const sn_drawn_surface* surfaces, uint32_t surface_count,
                            sn_arena* arena, sn_error* err) {
  stage->camera = sn_camera_fit(view, rectangle[2], rectangle[3]);
  stage->rig = sn_light_rig_make(&stage->camera, view->up);
  sn_axes_across(stage->rig.sun, &stage->sun_across[0], &stage->sun_across[1]);
  SN_TRY(sn_soup_gather(surfaces, surface_count, &stage->camera, arena, &stage->soup, err));
  for (int k = 0; k < SN_LAYER_COUNT; ++k) {
    const sn_layer* layer = &stage->soup.layers[k];
    sn_traced traced = {stage->soup.places, stage->soup.vertex_count, layer->triangles,
                        layer->triangle_count, stage->soup.cuts};
    SN_TRY(sn_tracer_create(&traced, &stage->tracers[k], err));
  }
  return SN_OK;
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
  SN_CHECK(0 <= view->free_right && view->free_right < 1, err, SN_ERR_INPUT,
           "the view leaves %g of the width free; it must be 0 or more and less than 1",
           view->free_right);
  SN_CHECK(view->quality <= SN_QUALITY_BEST, err, SN_ERR_USAGE,
           "the view has quality %d of 0 to %d", (int)view->quality, SN_QUALITY_BEST);
  return SN_OK;
}

sn_status sn_image_draw_surfaces(sn_image* image, const int rectangle[4], const sn_view* view,
                                 const sn_drawn_surface* surfaces, uint32_t surface_count,
                                 sn_error* err) {
  SN_TRY(check_place(image, rectangle, view, err));
  sn_arena* arena;
  sn_stage stage = {0};
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = make_stage(&stage, rectangle, view, surfaces, surface_count, arena, err);
  if (status == SN_OK) status = draw_stage(&stage, image, rectangle, view, arena, err);
  for (int k = 0; k < SN_LAYER_COUNT; ++k) sn_tracer_destroy(stage.tracers[k]);
  sn_arena_destroy(arena);
  return status;
}
