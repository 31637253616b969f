// sinew render DIR: a picture of one frame, a sheet of many, or a movie.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "options.h"
#include "progress.h"
#include "render/picture.h"

#define TILE 400
#define SHEET_COLUMNS 4
#define ONE_ROW 6  // up to so many tiles stand in one
#define SHEET_TILES 12
#define SHEET_TILES_BESIDE 8
#define MOST_SIDE 16384
#define MOST_TILES 64

typedef struct render_options {
  const char *folder, *out, *camera, *beside, *panels, *size, *quality, *slice, *show, *range,
      *progress;
  int frame;      // 0: none is named
  int frames[2];  // 0, 0: all
  int threads;
  int tiles;  // of a sheet; 0: as many as suit
  bool sheet, bones, muscles, no_colliders, no_ground, no_labels, quiet, help;
} render_options;

typedef struct render {
  const render_options* o;
  picture_plan plan;
  run_data run, other;
  panel panels[MOST_PANELS];
  int panel_count;
  sn_view views[MOST_PANELS];
  double lowest[MOST_PANELS];  // along the up axis, metres
  uint32_t frame_count;        // that all panels have
  uint32_t* frames;            // to draw, counted from 0
  uint32_t drawn_count;
  int size[2];     // of the picture, or of a tile of a sheet
  int text_scale;  // of labels
  int legend;      // width of the legend, pixels; 0: none
  bool is_movie, is_sheet;
  sn_pool* pool;
  surface_list list;
  sn_image image;
  progress bar;
} render;

sn_status picture_fail(sn_error* err, sn_status status, const char* format, ...) {
  va_list args;
  va_start(args, format);
  err->status = status;
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return status;
}

// ---- What the options ask for

// Two numbers with a mark between them and nothing else.
static bool read_pair(const char* text, char mark, double* first, double* second) {
  char* end;
  *first = strtod(text, &end);
  if (end == text || *end != mark) return false;
  const char* rest = end + 1;
  *second = strtod(rest, &end);
  return end > rest && !*end && isfinite(*first) && isfinite(*second);
}

static sn_status read_camera(const char* text, double angles[2], sn_error* err) {
  static const struct {
    const char* name;
    double angles[2];
  } presets[] = {
      {"three-quarter", {30, 15}}, {"front", {0, 5}}, {"side", {90, 5}}, {"top", {0, 89}}};
  memcpy(angles, presets[0].angles, sizeof presets[0].angles);
  for (size_t k = 0; text && k < sizeof presets / sizeof *presets; ++k) {
    if (strcmp(text, presets[k].name) != 0) continue;
    memcpy(angles, presets[k].angles, sizeof presets[k].angles);
    return SN_OK;
  }
  if (text && (!read_pair(text, ',', &angles[0], &angles[1]) || !(fabs(angles[0]) <= 3600) ||
               !(fabs(angles[1]) <= 90))) {
    return picture_fail(err, SN_ERR_USAGE,
                        "--camera: found \"%s\", expected front, side, top, three-quarter, or "
                        "AZIMUTH,ELEVATION in degrees with an elevation of -90 to 90, e.g. 30,15",
                        text);
  }
  return SN_OK;
}

static sn_status read_quality(const char* text, sn_quality* quality, sn_error* err) {
  static const char* const names[] = {"preview", "good", "best"};
  for (int k = 0; k < 3; ++k) {
    if (strcmp(text, names[k]) != 0) continue;
    *quality = (sn_quality)k;
    return SN_OK;
  }
  return picture_fail(err, SN_ERR_USAGE, "--quality: found \"%s\", expected preview, good or best",
                      text);
}

static sn_status read_size(const char* text, int size[2], sn_error* err) {
  double width, height;
  if (read_pair(text, 'x', &width, &height) && width >= 16 && height >= 16 && width <= MOST_SIDE &&
      height <= MOST_SIDE && width == floor(width) && height == floor(height)) {
    size[0] = (int)width;
    size[1] = (int)height;
    return SN_OK;
  }
  return picture_fail(err, SN_ERR_USAGE,
                      "--size: found \"%s\", expected WIDTHxHEIGHT in pixels, 16 to %d each", text,
                      MOST_SIDE);
}

// [x|y|z][:offset]
static sn_status read_slice(const char* text, slice_plan* slice, sn_error* err) {
  const char* at = text;
  char* end;
  *slice = (slice_plan){.on = true, .axis = -1};
  if (*at >= 'x' && *at <= 'z') slice->axis = *at++ - 'x';
  if (*at == ':') {
    slice->offset = strtod(at + 1, &end);
    if (end > at + 1 && !*end && isfinite(slice->offset)) return SN_OK;
  } else if (at > text && !*at) {
    return SN_OK;
  }
  return picture_fail(
      err, SN_ERR_USAGE,
      "--slice: found \"%s\", expected an axis, an offset from the middle, or both: "
      "z, :0.1 or z:0.1",
      text);
}

static sn_status read_range(const char* text, picture_plan* plan, sn_error* err) {
  plan->has_range = true;
  if (read_pair(text, ':', &plan->scale.low, &plan->scale.high) &&
      plan->scale.low < plan->scale.high) {
    return SN_OK;
  }
  return picture_fail(err, SN_ERR_USAGE, "--range: found \"%s\", expected LOW:HIGH", text);
}

static sn_status read_plan(const render_options* o, picture_plan* plan, sn_error* err) {
  *plan = (picture_plan){.bones = o->bones,
                         .muscles = o->muscles,
                         .colliders = !o->no_colliders,
                         .ground = !o->no_ground};
  sn_status status = SN_OK;
  if (o->show) plan->show = show_find(o->show, err);
  if (err->status != SN_OK) return err->status;
  if (o->slice) status = read_slice(o->slice, &plan->slice, err);
  if (status == SN_OK && o->range) status = read_range(o->range, plan, err);
  return status;
}

// ---- Panels

static sn_status add_panel(render* r, panel p, sn_error* err) {
  if (r->panel_count == MOST_PANELS) {
    return picture_fail(err, SN_ERR_USAGE, "--panels: more than %d panels", MOST_PANELS);
  }
  r->panels[r->panel_count++] = p;
  return SN_OK;
}

static sn_status read_panels(render* r, const char* text, sn_error* err) {
  static const char* const names[] = {"simulated", "rest", "skinned"};
  sn_status status = SN_OK;
  while (status == SN_OK && text) {
    size_t length = strcspn(text, ",");
    int kind = 0;
    while (kind < 3 && (strlen(names[kind]) != length || strncmp(text, names[kind], length) != 0)) {
      ++kind;
    }
    if (kind == 3) {
      return picture_fail(err, SN_ERR_USAGE,
                          "--panels: found \"%.*s\", expected rest, skinned or simulated",
                          (int)length, text);
    }
    status = add_panel(r, (panel){(panel_kind)kind, names[kind], &r->run, NULL}, err);
    text = text[length] ? text + length + 1 : NULL;
  }
  return status;
}

static const char* file_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

// Another run, or a cache of the first body.
static sn_status add_beside(render* r, bool with_cells, sn_error* err) {
  const char* path = r->o->beside;
  struct stat info;
  sn_pc2_info cache;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
    sn_status status = run_load(path, with_cells, &r->other, err);
    if (status != SN_OK) return status;
    if (r->other.frame_count < r->frame_count) r->frame_count = r->other.frame_count;
    // Two runs are told apart by their names.
    for (int k = 0; k < r->panel_count; ++k) {
      if (r->panels[k].kind == PANEL_SIMULATED) r->panels[k].title = file_name(r->o->folder);
    }
    return add_panel(r, (panel){PANEL_SIMULATED, file_name(path), &r->other, NULL}, err);
  }
  sn_status status = sn_pc2_read_info(path, &cache, err);
  if (status != SN_OK) return status;
  if (cache.vertex_count != r->run.bodies[0].info.vertex_count) {
    return picture_fail(err, SN_ERR_INPUT,
                        "--beside: %s: has %u vertices, the first body of the run has %u", path,
                        cache.vertex_count, r->run.bodies[0].info.vertex_count);
  }
  if (cache.frame_count < r->frame_count) r->frame_count = cache.frame_count;
  return add_panel(r, (panel){PANEL_CACHE, file_name(path), &r->run, path}, err);
}

static sn_status open_panels(render* r, sn_error* err) {
  const picture_plan* plan = &r->plan;
  bool with_cells = plan->slice.on || plan->muscles || show_needs_cells(plan->show);
  sn_status status = run_load(r->o->folder, with_cells, &r->run, err);
  r->frame_count = r->run.frame_count;
  if (status == SN_OK) status = read_panels(r, r->o->panels ? r->o->panels : "simulated", err);
  if (status == SN_OK && r->o->beside) status = add_beside(r, with_cells, err);
  return status;
}

// ---- Frames

static sn_status choose_range(const render* r, uint32_t range[2], sn_error* err) {
  int first = run_frame_at(&r->run, 0), last = run_frame_at(&r->run, r->frame_count - 1);
  int wanted[2] = {first, last};
  if (r->o->frame) wanted[0] = wanted[1] = r->o->frame;
  if (r->o->frames[0] || r->o->frames[1]) memcpy(wanted, r->o->frames, sizeof wanted);
  if (wanted[0] < first || wanted[1] > last || wanted[0] > wanted[1]) {
    return r->o->frame
               ? picture_fail(err, SN_ERR_USAGE, "--frame: found %d, there are frames %d to %d",
                              wanted[0], first, last)
               : picture_fail(err, SN_ERR_USAGE, "--frames: found %d:%d, there are frames %d to %d",
                              wanted[0], wanted[1], first, last);
  }
  range[0] = (uint32_t)(wanted[0] - first);
  range[1] = (uint32_t)(wanted[1] - first);
  return SN_OK;
}

// Of a sheet up to twelve (eight beside another), evenly chosen, the first and the last among them.
static sn_status choose_frames(render* r, sn_error* err) {
  uint32_t range[2] = {0, 0};
  sn_status status = choose_range(r, range, err);
  if (status != SN_OK) return status;
  uint32_t count = range[1] - range[0] + 1;
  uint32_t most = r->panel_count > 1 ? SHEET_TILES_BESIDE : SHEET_TILES;
  if (r->o->tiles) most = (uint32_t)r->o->tiles;
  r->drawn_count = r->is_sheet && count > most ? most : count;
  r->frames = malloc(r->drawn_count * sizeof *r->frames);
  if (!r->frames) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  for (uint32_t k = 0; k < r->drawn_count; ++k) {
    uint32_t step =
        r->drawn_count > 1 ? (uint32_t)((uint64_t)k * (count - 1) / (r->drawn_count - 1)) : 0;
    r->frames[k] = range[0] + step;
  }
  return SN_OK;
}

// ---- Framing

static sn_status include_frame(render* r, int k, uint32_t index, float* positions, sn_error* err) {
  const panel* p = &r->panels[k];
  const int up = (int)p->run->scene->up;
  // The ground is below everything.
  if (r->plan.colliders && p->kind != PANEL_REST) {
    r->lowest[k] = fmin(r->lowest[k], around_lowest(p->run, run_frame_at(p->run, index)));
  }
  for (uint32_t b = 0; b < panel_body_count(p); ++b) {
    uint32_t count = p->run->bodies[b].mesh->vertex_count;
    sn_status status = panel_positions(p, b, index, positions, err);
    if (status != SN_OK) return status;
    sn_view_include(&r->views[k], positions, count);
    for (uint32_t v = 0; v < count; ++v) {
      double height = positions[3 * (size_t)v + up];
      if (isfinite(height)) r->lowest[k] = fmin(r->lowest[k], height);
    }
  }
  return SN_OK;
}

static void join_views(sn_view* a, const sn_view* b) {
  a->shown.lo.x = fmin(a->shown.lo.x, b->shown.lo.x);
  a->shown.lo.y = fmin(a->shown.lo.y, b->shown.lo.y);
  a->shown.lo.z = fmin(a->shown.lo.z, b->shown.lo.z);
  a->shown.hi.x = fmax(a->shown.hi.x, b->shown.hi.x);
  a->shown.hi.y = fmax(a->shown.hi.y, b->shown.hi.y);
  a->shown.hi.z = fmax(a->shown.hi.z, b->shown.hi.z);
}

// What moves is seen from one place in all panels; what is at rest may be elsewhere and has its own.
static void share_views(render* r) {
  int first = -1;
  for (int k = 0; k < r->panel_count; ++k) {
    if (r->panels[k].kind == PANEL_REST) continue;
    if (first < 0) first = k;
    join_views(&r->views[first], &r->views[k]);
    r->lowest[first] = fmin(r->lowest[first], r->lowest[k]);
  }
  for (int k = 0; k < r->panel_count; ++k) {
    if (r->panels[k].kind == PANEL_REST) continue;
    r->views[k] = r->views[first];
    r->lowest[k] = r->lowest[first];
  }
}

static uint32_t most_vertices(const render* r) {
  uint32_t most = 1;
  for (int k = 0; k < r->panel_count; ++k) {
    for (uint32_t b = 0; b < panel_body_count(&r->panels[k]); ++b) {
      uint32_t count = r->panels[k].run->bodies[b].mesh->vertex_count;
      most = count > most ? count : most;
    }
  }
  return most;
}

// All frames of the bodies are to be seen, colliders only as far as they come into the picture.
static sn_status set_views(render* r, sn_error* err) {
  double angles[2];
  sn_quality quality = SN_QUALITY_PREVIEW;
  sn_status status = read_camera(r->o->camera, angles, err);
  if (status == SN_OK && r->o->quality) status = read_quality(r->o->quality, &quality, err);
  if (status != SN_OK) return status;
  float* positions = malloc(3 * sizeof *positions * (size_t)most_vertices(r));
  if (!positions) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  for (int k = 0; k < r->panel_count && status == SN_OK; ++k) {
    r->views[k] = sn_view_make(r->panels[k].run->scene->up, angles[0], angles[1]);
    r->views[k].quality = quality;
    r->views[k].pool = r->pool;
    r->lowest[k] = INFINITY;
    for (uint32_t f = 0; f < r->frame_count && status == SN_OK; ++f) {
      status = include_frame(r, k, f, positions, err);
    }
  }
  free(positions);
  share_views(r);
  return status;
}

static sn_status set_size(render* r, sn_error* err) {
  int most = 1920 / r->panel_count, side = most < 720 ? most : 720;
  r->size[0] = r->panel_count > 1 ? side * r->panel_count : r->is_movie ? 1280 : 1200;
  r->size[1] = r->panel_count > 1 || r->is_movie ? 720 : 900;
  if (r->is_sheet) r->size[0] = r->size[1] = TILE;
  if (r->o->size) {
    sn_status status = read_size(r->o->size, r->size, err);
    if (status != SN_OK) return status;
  }
  r->text_scale = r->size[0] >= 480 || r->size[1] >= 320 ? 2 : 1;
  bool has_scale = r->plan.show != SHOW_SKIN && r->plan.show != SHOW_CELLS;
  bool has_legend = has_scale || r->plan.show == SHOW_CELLS || r->plan.slice.on;
  if (has_legend && !has_scale) {
    r->legend = cut_draw_legend(&r->run, 0, 0, r->text_scale, NULL);
  } else if (has_scale) {
    double factor;
    int letters = (int)strlen(show_title(&r->plan, &factor));
    r->legend = (letters > 9 ? letters : 9) * 6 * r->text_scale + 12 * r->text_scale;
  }
  if (r->o->no_labels) r->legend = 0;
  int panels_width = r->is_sheet ? r->size[0] : (r->size[0] - r->legend) / r->panel_count;
  if (panels_width < 16) {
    return picture_fail(err, SN_ERR_USAGE, "--size: %d x %d leaves no room for %d panels%s",
                        r->size[0], r->size[1], r->panel_count, has_legend ? " and a legend" : "");
  }
  return SN_OK;
}

// ---- Drawing

static void label_tile(render* r, const int tile[4], const char* text) {
  if (r->o->no_labels) return;
  sn_image_draw_text(&r->image, tile[0] + 5 * r->text_scale, tile[1] + 5 * r->text_scale,
                     r->text_scale, (sn_colour){80, 85, 100}, text);
}

static sn_status draw_panel(render* r, int k, uint32_t index, const int tile[4], sn_error* err) {
  const panel* p = &r->panels[k];
  char label[256];
  sn_status status = panel_gather(&r->plan, p, index, &r->views[k], r->lowest[k], &r->list, err);
  if (status == SN_OK) {
    status =
        sn_image_draw_surfaces(&r->image, tile, &r->views[k], r->list.surfaces, r->list.count, err);
  }
  int frame = run_frame_at(p->run, index);
  if (r->panel_count == 1 || (k == 0 && r->is_sheet && !r->other.scene)) {
    snprintf(label, sizeof label, "frame %d", frame);
  } else if (p->kind == PANEL_REST || (k > 0 && r->is_sheet)) {
    snprintf(label, sizeof label, "%s", p->title);
  } else {
    snprintf(label, sizeof label, "%s, frame %d", p->title, frame);
  }
  label_tile(r, tile, label);
  return status;
}

// At the right of the picture, which leaves room for it; of a sheet, on a strip of its own.
static sn_status draw_legend(render* r, sn_error* err) {
  if (!r->legend) return SN_OK;
  const int s = r->text_scale;
  const int strip[4] = {r->image.width - r->legend, 0, r->legend, r->image.height};
  double factor;
  const char* title = show_title(&r->plan, &factor);
  sn_colour_scale scale = {factor * r->plan.scale.low, factor * r->plan.scale.high,
                           r->plan.scale.is_diverging};
  if (r->is_sheet) {
    sn_status status = sn_image_draw_surfaces(&r->image, strip, &r->views[0], NULL, 0, err);
    if (status != SN_OK) return status;
  }
  if (r->plan.show == SHOW_SKIN || r->plan.show == SHOW_CELLS) {
    cut_draw_legend(&r->run, strip[0], r->image.height / 3, s, &r->image);
    return SN_OK;
  }
  int height = r->image.height > 400 * s ? 320 * s : r->image.height * 4 / 5;
  const int place[4] = {strip[0] + 3 * s, (r->image.height - height) / 2, strip[2] - 3 * s, height};
  sn_image_draw_legend(&r->image, place, s, &scale, title);
  return SN_OK;
}

// The panels of one frame beside one another.
static sn_status draw_frame(render* r, uint32_t index, sn_error* err) {
  int width = r->size[0] - r->legend, left = 0;
  sn_status status = SN_OK;
  for (int k = 0; k < r->panel_count && status == SN_OK; ++k) {
    int right = width * (k + 1) / r->panel_count;
    // The last one also has the place of the legend, and leaves it free.
    int legend = k + 1 == r->panel_count ? r->legend : 0, whole = right + legend - left;
    r->views[k].free_right = (double)legend / whole;
    status = draw_panel(r, k, index, (int[4]){left, 0, whole, r->size[1]}, err);
    left = right;
  }
  return status == SN_OK ? draw_legend(r, err) : status;
}

static sn_status draw_single(render* r, const char* out, sn_error* err) {
  sn_status status = sn_image_create(r->size[0], r->size[1], &r->image, err);
  if (status == SN_OK) status = draw_frame(r, r->frames[0], err);
  return status == SN_OK ? sn_image_save_png(&r->image, out, err) : status;
}

// Panels of a frame below one another, frames in rows.
static sn_status draw_sheet(render* r, const char* out, sn_error* err) {
  int tiles = (int)r->drawn_count, columns = tiles <= ONE_ROW ? tiles : SHEET_COLUMNS;
  int rows = (tiles + columns - 1) / columns, height = r->panel_count * r->size[1];
  sn_status status =
      sn_image_create(columns * r->size[0] + r->legend, rows * height, &r->image, err);
  for (int t = 0; t < tiles && status == SN_OK; ++t) {
    for (int k = 0; k < r->panel_count && status == SN_OK; ++k) {
      const int tile[4] = {t % columns * r->size[0], t / columns * height + k * r->size[1],
                           r->size[0], r->size[1]};
      status = draw_panel(r, k, r->frames[t], tile, err);
    }
    if (status == SN_OK) progress_step(&r->bar, run_frame_at(&r->run, r->frames[t]), t + 1, tiles);
  }
  if (status == SN_OK) status = draw_legend(r, err);
  return status == SN_OK ? sn_image_save_png(&r->image, out, err) : status;
}

static sn_status draw_movie(render* r, const char* out, sn_error* err) {
  movie* m = NULL;
  sn_status status = movie_open(out, r->size[0], r->size[1], r->run.scene->fps, &m, err);
  if (status == SN_OK) status = sn_image_create(r->size[0], r->size[1], &r->image, err);
  for (uint32_t k = 0; k < r->drawn_count && status == SN_OK; ++k) {
    status = draw_frame(r, r->frames[k], err);
    if (status == SN_OK) status = movie_add(m, &r->image, err);
    if (status == SN_OK) {
      progress_step(&r->bar, run_frame_at(&r->run, r->frames[k]), (int)k + 1, (int)r->drawn_count);
    }
  }
  if (status == SN_OK) status = movie_finish(m, err);
  movie_close(m);
  return status;
}

static bool ends_with(const char* text, const char* ending) {
  size_t length = strlen(text), wanted = strlen(ending);
  return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

static sn_status check_options(const render* r, const char* out, sn_error* err) {
  const render_options* o = r->o;
  if (!r->is_movie && !ends_with(out, ".png")) {
    return picture_fail(err, SN_ERR_USAGE, "-o: found \"%s\", expected FILE.png or FILE.mp4", out);
  }
  if (o->frame && (o->frames[0] || o->frames[1])) {
    return picture_fail(err, SN_ERR_USAGE, "--frame and --frames: expected one of them");
  }
  if (o->frame && (r->is_movie || o->sheet)) {
    return picture_fail(err, SN_ERR_USAGE, "--frame: %s has many; --frames A:B chooses them",
                        r->is_movie ? "a movie" : "a sheet");
  }
  if (o->tiles < 0 || o->tiles > MOST_TILES || (o->tiles && !r->is_sheet)) {
    return picture_fail(err, SN_ERR_USAGE, "--tiles: expected 1 to %d, for a sheet", MOST_TILES);
  }
  if (r->is_movie && o->sheet) {
    return picture_fail(err, SN_ERR_USAGE, "--sheet: expected FILE.png, found \"%s\"", out);
  }
  return SN_OK;
}

static sn_status draw(render* r, const char* out, sn_error* err) {
  r->is_movie = ends_with(out, ".mp4");
  r->is_sheet = !r->is_movie && !r->o->frame;
  sn_status status = check_options(r, out, err);
  if (status == SN_OK) {
    status = progress_start(r->o->progress ? r->o->progress : "bar", r->o->quiet, &r->bar, err);
  }
  if (status == SN_OK) status = read_plan(r->o, &r->plan, err);
  if (status == SN_OK) status = sn_pool_create(r->o->threads, &r->pool, err);
  if (status == SN_OK) status = open_panels(r, err);
  if (status == SN_OK) status = choose_frames(r, err);
  if (status == SN_OK) {
    status = show_find_range(&r->plan, r->panels, r->panel_count, r->frames, r->drawn_count, err);
  }
  if (status == SN_OK) status = set_size(r, err);
  if (status == SN_OK) status = set_views(r, err);
  if (status != SN_OK) return status;
  if (r->is_movie) return draw_movie(r, out, err);
  return r->is_sheet ? draw_sheet(r, out, err) : draw_single(r, out, err);
}

static void destroy(render* r) {
  list_destroy(&r->list);
  free(r->frames);
  sn_image_destroy(&r->image);
  run_destroy(&r->run);
  run_destroy(&r->other);
  sn_pool_destroy(r->pool);
}

static int render_folder(render_options* o, const text_list* words) {
  char standard[PICTURE_PATH];
  const char* out = o->out;
  sn_error err = {0};
  if (words->count != 1) {
    fprintf(stderr, "sinew: render: expected the folder of a run; sinew render --help says more\n");
    return SN_ERR_USAGE;
  }
  o->folder = words->items[0];
  if (!out) {
    snprintf(standard, sizeof standard, "%s/%s", o->folder, o->frame ? "frame.png" : "sheet.png");
    out = standard;
  }
  listen_to_log(o->quiet);
  render r = {.o = o};
  sn_status status = draw(&r, out, &err);
  progress_end(&r.bar, &err);
  destroy(&r);
  if (status != SN_OK) return report_error(&err);
  printf("%s\n", out);
  return SN_OK;
}

int command_render(int argc, char** argv) {
  render_options o = {0};
  const option table[] = {
      {"-o", OPTION_TEXT, "FILE", "FILE.png or FILE.mp4 (default: DIR/sheet.png or DIR/frame.png)",
       &o.out},
      {"--frame", OPTION_INT, "N", "one frame", &o.frame},
      {"--frames", OPTION_RANGE, "A:B", "these frames in a sheet or movie (default: all)",
       &o.frames},
      {"--sheet", OPTION_FLAG, NULL, "twelve frames on a sheet: what happens without --frame",
       &o.sheet},
      {"--tiles", OPTION_INT, "N", "frames on a sheet (default 12, with panels 8)", &o.tiles},
      {"--camera", OPTION_TEXT, "VIEW",
       "front, side, top, three-quarter, or azimuth and elevation in degrees (default 30,15)",
       &o.camera},
      {"--size", OPTION_TEXT, "WxH", "of the picture or movie, of a tile of a sheet, in pixels",
       &o.size},
      {"--quality", OPTION_TEXT, "NAME", "preview (default), good or best", &o.quality},
      {"--show", OPTION_TEXT, "WHAT",
       "strain, stress, J, pressure, activation, cells, displacement or penetration as colours",
       &o.show},
      {"--range", OPTION_TEXT, "LOW:HIGH", "of the colours, in SI units (default: what suits)",
       &o.range},
      {"--slice", OPTION_TEXT, "AXIS:OFFSET",
       "cut through the cells: x, y or z, and how far from the middle", &o.slice},
      {"--panels", OPTION_TEXT, "LIST", "of rest, skinned, simulated, beside one another",
       &o.panels},
      {"--beside", OPTION_TEXT, "PATH", "one panel more: another run, or a cache of the first body",
       &o.beside},
      {"--bones", OPTION_FLAG, NULL, "show the bones through the skin", &o.bones},
      {"--muscles", OPTION_FLAG, NULL, "show the muscles through the skin", &o.muscles},
      {"--no-colliders", OPTION_FLAG, NULL, "leave out what bodies touch", &o.no_colliders},
      {"--no-ground", OPTION_FLAG, NULL, "no ground where the scene has none", &o.no_ground},
      {"--no-labels", OPTION_FLAG, NULL, "no frame numbers and no legend", &o.no_labels},
      {"--threads", OPTION_INT, "N", "0: one a processor; never changes the picture", &o.threads},
      {"--progress", OPTION_TEXT, "KIND", "bar (default), json or openjd", &o.progress},
      {"--quiet", OPTION_FLAG, NULL, "no progress and no warnings", &o.quiet},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew render DIR [options]", "Draw what a run left in DIR.", table);
    return SN_OK;
  }
  return render_folder(&o, &words);
}
