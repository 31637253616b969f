// Elements, bytes and time as the finest cell gets smaller: quadratic for the octree, cubic for the
// uniform grid. An animal stands on its feet under its own weight.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define MAX_CASES 24
#define SHARE_OF_MEMORY 0.8  // of what is available; the rest is for everything else

typedef struct growth_kind {
  const char* name;
  int coarsen;
  double power;  // elements grow by this power of 1/h
  double first;  // cells along the longest side, about 50 k elements
} growth_kind;

typedef struct growth_case {
  double side;  // cells along the longest side of the box
  double elements;
  double bytes;    // peak
  double seconds;  // a frame
} growth_case;

// The lowest 5 % are held.
static void hold_feet(bench_body* body) {
  const sn_mesh* mesh = &body->desc.mesh;
  double low = INFINITY, high = -INFINITY;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    low = fmin(low, mesh->positions[3 * (size_t)v + 1]);
    high = fmax(high, mesh->positions[3 * (size_t)v + 1]);
  }
  double far = 1e3 * bench_longest_side(mesh);
  sn_box feet = {{-far, -far, -far}, {far, low + 0.05 * (high - low), far}};
  body->fixed[0] =
      (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = feet}};
  body->scene.fixed_count = 1;
  body->scene.gravity = (sn_vec3){0, -9.81, 0};
}

// Cells of the box around the mesh, which a dense array has to hold.
static double box_cells(const sn_mesh* mesh, double cell) {
  double cells = 1;
  for (int axis = 0; axis < 3; ++axis) cells *= ceil(bench_side(mesh, axis) / cell);
  return cells;
}

static sn_status measure(bench_run* run, const growth_kind* kind, growth_case* c, double* box,
                         sn_error* err) {
  sn_mesh mesh = {0};
  bench_body body = {0};
  sn_status status = bench_load_surface(run, &mesh, err);
  if (status != SN_OK) return status;
  double cell = bench_longest_side(&mesh) / c->side;
  *box = box_cells(&mesh, cell);
  bench_describe(&body, &mesh, cell, kind->coarsen);
  hold_feet(&body);
  status = bench_build(&body, run->o->threads, err);
  if (status == SN_OK) status = bench_check_stop(err);
  if (status == SN_OK) {
    const int frames[2] = {1, 1};
    status = bench_time_frames(run, body.model, body.state, frames, &c->seconds, err);
  }
  c->elements = body.elements;
  c->bytes = bench_body_peak(&body);
  bench_body_destroy(&body);
  return status;
}

// Exponent of the power law through the cases, by least squares of the logarithms.
static double fitted_slope(const growth_case* cases, int count) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int k = 0; k < count; ++k) {
    double x = log(cases[k].side), y = log(cases[k].elements);
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

// Judged by the case before: the estimate of a scene is by its box, and far on the safe side.
static bool fits(const bench_run* run, const growth_kind* kind, const growth_case* before,
                 double side) {
  double more = pow(side / before->side, kind->power);
  double elements = more * before->elements, bytes = more * before->bytes;
  if (elements > run->o->max_elements) {
    bench_note(run, "%s%.0f: left out, about %.2g elements; --max-elements is %d", kind->name, side,
               elements, run->o->max_elements);
    return false;
  }
  if (bytes > SHARE_OF_MEMORY * bench_available_bytes()) {
    bench_note(run, "%s%.0f: left out, about %.1f GB needed of %.1f GB available", kind->name, side,
               1e-9 * bytes, 1e-9 * bench_available_bytes());
    return false;
  }
  return true;
}

static void hand_in(bench_run* run, const growth_kind* kind, const growth_case* c,
                    const growth_case* before) {
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "%s%.0f", kind->name, c->side);
  bench_figure(run, name, "elements", c->elements, "1");
  if (before) {
    bench_figure(run, name, "slope",
                 log(c->elements / before->elements) / log(c->side / before->side), "1");
  }
  bench_figure(run, name, "bytes", c->bytes, "B");
  bench_figure(run, name, "bytes_per_element", c->bytes / c->elements, "B");
  bench_figure(run, name, "seconds_per_frame", c->seconds, "s");
}

// What a dense array of the same resolution would take: as much an element as the uniform grid.
static void hand_in_dense(bench_run* run, const growth_kind* kind, const growth_case* c, double box,
                          double bytes_per_element) {
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "%s%.0f", kind->name, c->side);
  bench_figure(run, name, "dense_bytes", box * bytes_per_element, "B");
  bench_figure(run, name, "dense_ratio", box * bytes_per_element / c->bytes, "1");
}

typedef struct growth_plots {
  plot elements, bytes, seconds;
} growth_plots;

// @param dense bytes an element of a dense array; set by the uniform grid, used by both
static sn_status grow(bench_run* run, const growth_kind* kind, growth_plots* plots, double* dense,
                      sn_error* err) {
  growth_case cases[MAX_CASES] = {{0}};
  int count = 0, most = run->o->quick ? 2 : MAX_CASES;
  plot_series* elements = plot_add_series(&plots->elements, kind->name);
  plot_series* bytes = plot_add_series(&plots->bytes, kind->name);
  plot_series* seconds = plot_add_series(&plots->seconds, kind->name);
  sn_status status = SN_OK;
  for (double side = run->o->quick ? 16 : kind->first; count < most; side *= sqrt(2)) {
    growth_case* c = &cases[count];
    const growth_case* before = count ? c - 1 : NULL;
    double box;
    if (before && !fits(run, kind, before, round(side))) break;
    c->side = round(side);
    bench_note(run, "%s, %.0f cells along the longest side", kind->name, c->side);
    status = measure(run, kind, c, &box, err);
    if (status != SN_OK) return status;
    ++count;
    hand_in(run, kind, c, before);
    if (kind->coarsen == 0) *dense = c->bytes / c->elements;
    hand_in_dense(run, kind, c, box, *dense);
    plot_add_point(elements, c->side, c->elements);
    plot_add_point(bytes, c->side, c->bytes);
    plot_add_point(seconds, c->side, c->seconds);
  }
  if (count > 1) bench_figure(run, kind->name, "slope", fitted_slope(cases, count), "1");
  return status;
}

sn_status bench_growth(bench_run* run, sn_error* err) {
  static const growth_kind UNIFORM = {"uniform", 0, 3, 90.51}, OCTREE = {"octree", -1, 2, 128};
  static const char SIDE[] = "1/h: finest cells along the longest side";
  growth_plots plots = {
      .elements = {.title = "Elements", .x_label = SIDE, .y_label = "elements"},
      .bytes = {.title = "Memory", .x_label = SIDE, .y_label = "bytes, peak"},
      .seconds = {.title = "Time of a frame", .x_label = SIDE, .y_label = "seconds"}};
  plots.elements.x_log = plots.bytes.x_log = plots.seconds.x_log = true;
  plots.elements.y_log = plots.bytes.y_log = plots.seconds.y_log = true;
  double dense = 0;
  sn_status status = grow(run, &UNIFORM, &plots, &dense, err);
  if (status == SN_OK) status = grow(run, &OCTREE, &plots, &dense, err);
  if (status == SN_OK) status = plot_save(run, &plots.elements, "growth-elements", err);
  if (status == SN_OK) status = plot_save(run, &plots.bytes, "growth-bytes", err);
  if (status == SN_OK) status = plot_save(run, &plots.seconds, "growth-seconds", err);
  plot_destroy(&plots.elements);
  plot_destroy(&plots.bytes);
  plot_destroy(&plots.seconds);
  return status;
}
