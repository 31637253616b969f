// Macroblocks against CG and multigrid: Table 1 of Mitchell, Doescher and Sifakis 2016, and what they are
// worth on thin bodies.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define ENERGY_ERROR 1e-3
#define RESIDUAL 1e-4
#define MOST_ITERATIONS 4000
#define CELL 0.01

typedef enum shape { BAR, SHEET, SHELL, SPIKES, SHAPES } shape;
// What --case may name: races on the shapes, and what is measured on a bar alone.
enum { TABLE1 = SHAPES, PEERS, CASES };
static const char* const CASE_NAMES[CASES] = {"bar", "sheet", "shell", "spikes", "table1", "peers"};

// A body is built once for each of these, which differ in what their levels are like.
typedef struct variant {
  sn_linear_solver linear;
  int exact;
  sn_macroblock_interface interface;
  int quadrature;  // with 8 the products of linear solves have the points, too
} variant;
enum { PLAIN, FACES, EXACT, DIRECT, AUTO, EIGHT, EIGHT_CG, VARIANT_COUNT };
static const variant VARIANTS[VARIANT_COUNT] = {
    [PLAIN] = {SN_LINEAR_MACROBLOCK, 0, SN_MACROBLOCK_MULTIGRID, 1},
    [FACES] = {SN_LINEAR_MACROBLOCK, 0, SN_MACROBLOCK_FACES, 1},
    [EXACT] = {SN_LINEAR_MACROBLOCK, 2, SN_MACROBLOCK_MULTIGRID, 1},
    [DIRECT] = {SN_LINEAR_DIRECT, 0, SN_MACROBLOCK_MULTIGRID, 1},
    [AUTO] = {SN_LINEAR_AUTO, 0, SN_MACROBLOCK_MULTIGRID, 1},
    [EIGHT] = {SN_LINEAR_MACROBLOCK, 0, SN_MACROBLOCK_MULTIGRID, 8},
    [EIGHT_CG] = {SN_LINEAR_CG, 0, SN_MACROBLOCK_NONE, 8}};

// ---- Bodies

// A slab between two surfaces over a grid of n x m places; `side` 0 is the outer one.
static void slab_point(shape kind, const double size[3], double u, double v, int side, double* p) {
  if (kind == SHEET || kind == BAR) {
    p[0] = u * size[0];
    p[1] = side ? 0 : size[2];  // weight bends it
    p[2] = -v * size[1];
    return;
  }
  double d[3] = {2 * u - 1, 2 * v - 1, 1}, radius = side ? size[0] - size[2] : size[0];
  double scale = radius / sqrt(d[0] * d[0] + d[1] * d[1] + 1);
  for (int i = 0; i < 3; ++i) p[i] = scale * d[i];
}

static void add_quad(uint32_t* triangles, uint32_t* count, uint32_t a, uint32_t b, uint32_t c,
                     uint32_t d) {
  const uint32_t two[6] = {a, b, c, a, c, d};
  memcpy(triangles + 3 * (size_t)*count, two, sizeof two);
  *count += 2;
}

static sn_status make_slab(shape kind, const double size[3], uint32_t n, sn_mesh* mesh,
                           sn_error* err) {
  uint32_t row = n + 1, layer = row * row, count = 0;
  double* positions = malloc(6 * (size_t)layer * sizeof *positions);
  uint32_t* triangles = malloc(3 * (size_t)(4 * n * n + 8 * n) * sizeof *triangles);
  sn_status status = SN_OK;
  if (!positions || !triangles) {
    status = bench_fail(err, SN_ERR_MEMORY, "out of memory");
  } else {
    for (uint32_t v = 0; v < 2 * layer; ++v) {
      uint32_t column = v % layer % row, line = v % layer / row;
      slab_point(kind, size, (double)column / n, (double)line / n, (int)(v / layer),
                 positions + 3 * (size_t)v);
    }
    for (uint32_t i = 0; i < n * n; ++i) {
      uint32_t a = i / n * row + i % n, b = a + 1, c = b + row, d = a + row;
      add_quad(triangles, &count, a, b, c, d);
      add_quad(triangles, &count, layer + a, layer + d, layer + c, layer + b);
    }
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t left = i * row, right = left + n, top = n * row + i;
      add_quad(triangles, &count, i, layer + i, layer + i + 1, i + 1);
      add_quad(triangles, &count, top + 1, layer + top + 1, layer + top, top);
      add_quad(triangles, &count, left + row, layer + left + row, layer + left, left);
      add_quad(triangles, &count, right, layer + right, layer + right + row, right + row);
    }
    status = sn_mesh_from_arrays(positions, 2 * layer, triangles, count, mesh, err);
  }
  free(positions);
  free(triangles);
  return status;
}

// Eight spikes, six cells thick where they meet and two at their ends.
static sn_status make_spikes(double length, sn_mesh* mesh, sn_error* err) {
  sn_round_cone cones[8];
  for (int k = 0; k < 8; ++k) {
    double turn = 0.785398 * k + 0.2, rise = 0.25 * (k % 3) - 0.2;
    cones[k] = (sn_round_cone){
        {0, 0, 0}, {length * cos(turn), length * rise, length * sin(turn)}, 3 * CELL, CELL};
  }
  return sn_mesh_from_round_cones(cones, 8, 0, 0.5 * CELL, mesh, err);
}

static sn_status describe(shape kind, bool quick, int which, bench_body* body, sn_error* err) {
  double cells = quick ? 16 : kind == SHEET ? 80 : 48;
  double size[3] = {cells * CELL, cells / 2 * CELL, 2 * CELL};
  sn_mesh mesh = {0};
  sn_status status = SN_OK;
  if (kind == BAR) size[1] = size[2] = cells / 4 * CELL;
  if (kind == SHELL) size[0] = cells / 2 * CELL, size[2] = 2.2 * CELL;
  *body = (bench_body){0};
  if (kind == SPIKES) {
    status = make_spikes(cells / 1.2 * CELL, &mesh, err);
  } else {
    status = make_slab(kind, size, kind == SHELL ? 40 : 1, &mesh, err);
  }
  if (status != SN_OK) return status;
  bench_describe(body, &mesh, CELL, 0);
  double far = 1e3, edge = 0.5 * CELL;
  sn_box held = {{-far, -far, -far}, {edge, far, far}};
  if (kind == SHELL) held = (sn_box){{-far, -far, -far}, {far, -0.52 * size[0], far}};
  if (kind == SPIKES) held = (sn_box){{-3 * CELL, -far, -3 * CELL}, {3 * CELL, far, 3 * CELL}};
  body->fixed[0] =
      (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = held}};
  body->scene.fixed_count = 1;
  body->scene.solver.linear = VARIANTS[which].linear;
  body->scene.solver.multigrid.exact = VARIANTS[which].exact;
  body->scene.solver.interface = VARIANTS[which].interface;
  body->desc.quadrature = VARIANTS[which].quadrature;
  body->scene.solver.sharp = VARIANTS[which].quadrature == 8;
  return SN_OK;
}

// ---- Solvers

typedef struct way {
  const char* name;
  sn_linear_solver linear;
  sn_macroblock_interface interface;
  int variant;
  bool blocks_smooth;
} way;

static const way WAYS[] = {
    {"cg", SN_LINEAR_CG, SN_MACROBLOCK_NONE, PLAIN, false},
    {"multigrid", SN_LINEAR_MULTIGRID, SN_MACROBLOCK_NONE, PLAIN, false},
    {"macroblock_none", SN_LINEAR_MACROBLOCK, SN_MACROBLOCK_NONE, PLAIN, false},
    {"macroblock_jacobi", SN_LINEAR_MACROBLOCK, SN_MACROBLOCK_JACOBI, PLAIN, false},
    {"macroblock_faces", SN_LINEAR_MACROBLOCK, SN_MACROBLOCK_FACES, FACES, false},
    {"macroblock_multigrid", SN_LINEAR_MACROBLOCK, SN_MACROBLOCK_MULTIGRID, PLAIN, false},
    {"macroblock_exact", SN_LINEAR_MACROBLOCK, SN_MACROBLOCK_MULTIGRID, EXACT, false},
    {"exact", SN_LINEAR_MULTIGRID, SN_MACROBLOCK_NONE, EXACT, false},
    {"smoother", SN_LINEAR_MULTIGRID, SN_MACROBLOCK_NONE, PLAIN, true},
    {"smoother_exact", SN_LINEAR_MULTIGRID, SN_MACROBLOCK_NONE, EXACT, true},
    {"direct", SN_LINEAR_DIRECT, SN_MACROBLOCK_NONE, DIRECT, false},
    {"auto", SN_LINEAR_AUTO, SN_MACROBLOCK_NONE, AUTO, false},
};
enum {
  CG,
  MULTIGRID,
  MACRO_NONE,
  MACRO_JACOBI,
  MACRO_FACES,
  MACRO_MULTIGRID,
  MACRO_EXACT,
  WITH_EXACT,
  SMOOTHER,
  SMOOTHER_EXACT,
  WITH_DIRECT,
  WITH_AUTO,
  WAY_COUNT
};

typedef struct race {
  bench_run* run;
  const char* name;
  bench_body* body;
  double* solution;
  bool bare;  // macroblocks without multigrid, which may take long, too
  double iterations[WAY_COUNT], seconds[WAY_COUNT];
} race;

// The first iteration whose error is small enough.
typedef struct finish {
  int iteration;
} finish;

static void watch(void* ctx, int iteration, double error) {
  finish* f = ctx;
  if (f->iteration == 0 && error <= ENERGY_ERROR) f->iteration = iteration;
}

static sn_status run_way(race* r, int w, sn_error* err) {
  finish f = {0};
  sn_study_result timed, watched;
  char what[BENCH_NAME];
  sn_study_opts opts = {.linear = WAYS[w].linear,
                        .interface = WAYS[w].interface,
                        .blocks_smooth = WAYS[w].blocks_smooth,
                        .max = MOST_ITERATIONS,
                        .tolerance = RESIDUAL,
                        .weight = true};
  // Of a few runs the fastest, unless they take long.
  r->seconds[w] = INFINITY;
  for (int k = 0; k < 3 && (k == 0 || r->seconds[w] < 1); ++k) {
    sn_status status = sn_state_study(r->body->model, r->body->state, &opts, &timed, err);
    if (status != SN_OK) return status;
    r->seconds[w] = fmin(r->seconds[w], timed.setup_seconds + timed.seconds);
  }
  opts.weight = false;
  opts.start = r->solution;
  opts.tolerance = RESIDUAL / 10;
  opts.energy = true;
  opts.watch = watch;
  opts.watch_ctx = &f;
  sn_status status = sn_state_study(r->body->model, r->body->state, &opts, &watched, err);
  if (status != SN_OK) return status;
  r->iterations[w] = f.iteration > 0 ? f.iteration : watched.iterations;
  snprintf(what, sizeof what, "iterations_%s", WAYS[w].name);
  bench_figure(r->run, r->name, what, r->iterations[w], "1");
  snprintf(what, sizeof what, "seconds_%s", WAYS[w].name);
  bench_figure(r->run, r->name, what, r->seconds[w], "s");
  return bench_check_stop(err);
}

static sn_status find_solution(race* r, sn_error* err) {
  sn_study_result result;
  size_t rows = 3 * (size_t)sn_model_body(r->body->model, 0).node_count;
  r->solution = calloc(rows, sizeof *r->solution);
  if (!r->solution) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  sn_study_opts opts = {.linear = SN_LINEAR_MULTIGRID,
                        .max = MOST_ITERATIONS,
                        .tolerance = 1e-8,
                        .weight = true,
                        .solution = r->solution};
  return sn_state_study(r->body->model, r->body->state, &opts, &result, err);
}

// What the solvers came to: `iterations_ratio_cg` is that of macroblocks with their default on the interface.
static void compare(const race* r, bool thin) {
  const double *iterations = r->iterations, *seconds = r->seconds;
  double best = fmin(fmin(seconds[WITH_AUTO], seconds[WITH_DIRECT]), seconds[WITH_EXACT]);
  best = fmin(best, fmin(seconds[MACRO_EXACT], seconds[MACRO_MULTIGRID]));
  bench_figure(r->run, r->name, "iterations_ratio_cg", iterations[CG] / iterations[MACRO_MULTIGRID],
               "1");
  if (r->bare) {
    bench_figure(r->run, r->name, "iterations_ratio_cg_none",
                 iterations[CG] / iterations[MACRO_NONE], "1");
    bench_figure(r->run, r->name, "iterations_ratio_cg_jacobi",
                 iterations[CG] / iterations[MACRO_JACOBI], "1");
  }
  bench_figure(r->run, r->name, "iterations_ratio_cg_faces",
               iterations[CG] / iterations[MACRO_FACES], "1");
  bench_figure(r->run, r->name, "iterations_ratio_cg_exact",
               iterations[CG] / iterations[MACRO_EXACT], "1");
  if (!thin) return;
  bench_figure(r->run, r->name, "smoother_time_ratio_multigrid",
               seconds[MULTIGRID] / fmin(seconds[SMOOTHER], seconds[SMOOTHER_EXACT]), "1");
  bench_figure(r->run, r->name, "thin_time_ratio_multigrid",
               seconds[MULTIGRID] / seconds[WITH_AUTO], "1");
  bench_figure(r->run, r->name, "thin_time_ratio_best", seconds[MULTIGRID] / best, "1");
}

static sn_status run_variant(race* r, int which, sn_error* err) {
  sn_status status = SN_OK;
  if (!r->solution) status = find_solution(r, err);
  for (int w = 0; w < WAY_COUNT && status == SN_OK; ++w) {
    bool left_out = !r->bare && (w == MACRO_NONE || w == MACRO_JACOBI);
    if (WAYS[w].variant == which && !left_out) status = run_way(r, w, err);
  }
  return status;
}

// ---- Table 1

#define NEWTON_REPEATS 20

// @return seconds of an iteration
static sn_status time_newton(bench_run* run, const bench_body* body, int w, const char* name,
                             double* iteration, sn_error* err) {
  static const int COUNTS[] = {10, 20, 50};
  char what[BENCH_NAME];
  double seconds[3] = {INFINITY, INFINITY, INFINITY};
  for (int k = 0; k < 3 * NEWTON_REPEATS; ++k) {  // in turns: the machine's speed changes
    sn_study_result result;
    sn_study_opts opts = {.linear = WAYS[w].linear,
                          .interface = WAYS[w].interface,
                          .max = COUNTS[k % 3],
                          .weight = true};
    sn_status status = sn_state_study(body->model, body->state, &opts, &result, err);
    if (status != SN_OK) return status;
    seconds[k % 3] = fmin(seconds[k % 3], result.setup_seconds + result.seconds);
  }
  for (int i = 0; i < 3; ++i) {
    snprintf(what, sizeof what, "newton%d_seconds", COUNTS[i]);
    bench_figure(run, name, what, seconds[i], "s");
  }
  *iteration = (seconds[2] - seconds[0]) / (COUNTS[2] - COUNTS[0]);
  bench_figure(run, name, "iteration_seconds", *iteration, "s");
  return SN_OK;
}

// Every block factored, solved and multiplied with.
static sn_status time_blocks(bench_run* run, const bench_body* body, bench_blocks* blocks,
                             sn_error* err) {
  static const struct {
    sn_time_what what;
    const char* name;
  } PARTS[] = {{SN_TIME_BLOCK_FACTOR, "factor"},
               {SN_TIME_BLOCK_SOLVE, "solve"},
               {SN_TIME_INTERFACE, "interface"}};
  for (int i = 0; i < 3; ++i) {
    sn_timing t;
    char what[BENCH_NAME];
    int repeats = i == 0 ? 10 : 50;
    sn_status status = sn_state_time(body->model, body->state, PARTS[i].what, repeats, &t, err);
    if (status != SN_OK) return status;
    snprintf(what, sizeof what, "%s_seconds", PARTS[i].name);
    bench_figure(run, "table1_macroblock", what, t.seconds, "s");
    double one = t.seconds / (double)t.elements;
    if (i == 0) {
      blocks->factor = one;
      bench_figure(run, "table1_macroblock", "blocks", (double)t.elements, "1");
      bench_figure(run, "table1_macroblock", "bytes_per_block", t.bytes / (double)t.elements, "B");
    }
    if (i == 1) blocks->solve = one;
    if (i == 2)
      bench_figure(run, "table1_macroblock", "gb_per_s", 1e-9 * t.bytes / t.seconds, "GB/s");
  }
  return SN_OK;
}

static sn_status open_bar(const bench_run* run, int which, bench_body* body, sn_error* err) {
  sn_status status = describe(BAR, run->o->quick, which, body, err);
  return status == SN_OK ? bench_build(body, 1, err) : status;
}

// The bar with one or eight points in each cell: blocks whose matrices have the points, and CG. With blocks the
// products with eight points are those of matrices too, which CG may have as well.
static sn_status run_table(bench_run* run, sn_error* err) {
  static const struct {
    int variant, way;
    const char* name;
  } ROWS[] = {{PLAIN, MACRO_JACOBI, "table1_macroblock"},
              {PLAIN, CG, "table1_cg"},
              {EIGHT, MACRO_JACOBI, "table1_macroblock_eight"},
              {EIGHT, CG, "table1_cg_eight_matrices"},
              {EIGHT_CG, CG, "table1_cg_eight"}};
  double iteration[5] = {0};
  bench_blocks unused;
  sn_status status = SN_OK;
  for (int i = 0; i < 5 && status == SN_OK; ++i) {
    bench_body body = {0};
    status = open_bar(run, ROWS[i].variant, &body, err);
    if (status == SN_OK && i == 0) status = time_blocks(run, &body, &unused, err);
    if (status == SN_OK)
      status = time_newton(run, &body, ROWS[i].way, ROWS[i].name, &iteration[i], err);
    bench_body_destroy(&body);
  }
  if (status != SN_OK) return status;
  bench_figure(run, ROWS[0].name, "iteration_over_cg", iteration[0] / iteration[1], "1");
  bench_figure(run, ROWS[0].name, "iteration_over_cg_eight", iteration[0] / iteration[4], "1");
  bench_figure(run, ROWS[2].name, "iteration_over_cg_eight", iteration[2] / iteration[4], "1");
  return SN_OK;
}

static sn_status run_peers(bench_run* run, sn_error* err) {
  bench_body body = {0};
  bench_blocks blocks = {0};
  sn_status status = open_bar(run, PLAIN, &body, err);
  if (status == SN_OK) status = time_blocks(run, &body, &blocks, err);
  bench_body_destroy(&body);
  return status == SN_OK ? bench_block_peers(run, &blocks, err) : status;
}

static sn_status run_shape(bench_run* run, shape kind, sn_error* err) {
  race r = {.run = run, .name = CASE_NAMES[kind], .bare = kind != SPIKES};
  sn_status status = SN_OK;
  for (int which = 0; which < EIGHT && status == SN_OK; ++which) {
    bench_body body = {0};
    r.body = &body;
    status = describe(kind, run->o->quick, which, &body, err);
    if (status == SN_OK) status = bench_build(&body, 1, err);
    if (status == SN_OK && which == PLAIN)
      bench_figure(run, r.name, "elements", body.elements, "1");
    if (status == SN_OK) status = run_variant(&r, which, err);
    bench_body_destroy(&body);
    r.body = NULL;
  }
  if (status == SN_OK) compare(&r, kind != BAR);
  free(r.solution);
  return status;
}

static sn_status check_case(const char* name, sn_error* err) {
  char all[BENCH_NAME] = "";
  for (int i = 0; i < CASES; ++i) {
    if (strcmp(name, CASE_NAMES[i]) == 0) return SN_OK;
    size_t length = strlen(all);
    snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", CASE_NAMES[i]);
  }
  return bench_fail(err, SN_ERR_USAGE, "--case: found %.100s, expected one of %s", name, all);
}

sn_status bench_macroblock(bench_run* run, sn_error* err) {
  const char* only = run->o->only;
  sn_status status = only ? check_case(only, err) : SN_OK;
  for (int i = 0; i < CASES && status == SN_OK; ++i) {
    if (only && strcmp(only, CASE_NAMES[i]) != 0) continue;
    bench_note(run, "%s", CASE_NAMES[i]);
    status = i == TABLE1  ? run_table(run, err)
             : i == PEERS ? run_peers(run, err)
                          : run_shape(run, (shape)i, err);
  }
  return status;
}
