// sinew bench [NAME]: figures that are measured, not asserted.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "options.h"

typedef struct bench_options {
  const char* surface;  // NULL: the built-in body
  int threads;
  bool json, help;
} bench_options;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void print_figure(const bench_options* o, const char* bench, const char* name,
                         const char* figure, double value, const char* unit) {
  if (o->json) {
    printf(
        "{\"bench\": \"%s\", \"case\": \"%s\", \"figure\": \"%s\", \"value\": %.6g, "
        "\"unit\": \"%s\"}\n",
        bench, name, figure, value, unit);
  } else {
    printf("%-8s %-16s %-32s %12.6g %s\n", bench, name, figure, value, unit);
  }
  fflush(stdout);
}

// A stout animal with limbs, tail and ears, about 1 m tall: thick and thin parts in one body.
static sn_status make_animal(sn_mesh* mesh, sn_error* err) {
  static const sn_round_cone CONES[] = {
      {{0, 0.45, 0}, {0, 0.62, 0.02}, 0.19, 0.16},         // trunk
      {{0, 0.80, 0.04}, {0, 0.86, 0.14}, 0.11, 0.07},      // head, snout
      {{0.16, 0.66, 0}, {0.40, 0.72, 0.10}, 0.07, 0.045},  // arms
      {{-0.16, 0.66, 0}, {-0.40, 0.62, 0.10}, 0.07, 0.045},
      {{0.40, 0.72, 0.10}, {0.46, 0.84, 0.16}, 0.045, 0.035},
      {{-0.40, 0.62, 0.10}, {-0.46, 0.74, 0.18}, 0.045, 0.035},
      {{0.12, 0.34, 0}, {0.18, 0.10, 0.04}, 0.10, 0.06},  // legs
      {{-0.12, 0.34, 0}, {-0.18, 0.10, 0.04}, 0.10, 0.06},
      {{0.18, 0.06, 0.02}, {0.20, 0.05, 0.14}, 0.06, 0.045},
      {{-0.18, 0.06, 0.02}, {-0.20, 0.05, 0.14}, 0.06, 0.045},
      {{0, 0.36, -0.14}, {0, 0.16, -0.42}, 0.08, 0.02},        // tail
      {{0.07, 0.92, 0.02}, {0.13, 1.04, -0.02}, 0.035, 0.02},  // ears
      {{-0.07, 0.92, 0.02}, {-0.13, 1.04, -0.02}, 0.035, 0.02},
  };
  return sn_mesh_from_round_cones(CONES, sizeof CONES / sizeof *CONES, 0.05, 0.012, mesh, err);
}

// Count the cells of one body; a scene is an open struct, so it can be made here.
static sn_status count_cells(const bench_options* o, const sn_mesh* mesh, double cell, int coarsen,
                             double* cells, double* seconds, sn_error* err) {
  sn_body_desc body = {.name = (char*)"bench",
                       .surface = (char*)"bench",
                       .mesh = *mesh,
                       .cell = cell,
                       .coarsen = coarsen,
                       .material = {4000, 36000},
                       .density = 1060,
                       .initial = {.rotate = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
  sn_scene scene = {.unit = 1,
                    .up = SN_UP_Y,
                    .fps = 24,
                    .first_frame = 1,
                    .last_frame = 1,
                    .substeps = 1,
                    .mode = SN_MODE_QUASISTATIC,
                    .bodies = &body,
                    .body_count = 1,
                    .solver = {.linear = SN_LINEAR_JACOBI_CG, .newton_max = 10}};
  sn_pool* pool = NULL;
  sn_model* model = NULL;
  sn_status status = sn_pool_create(o->threads, &pool, err);
  double start = now();
  if (status == SN_OK) status = sn_model_build(&scene, pool, &model, err);
  *seconds = now() - start;
  if (status == SN_OK) *cells = (double)sn_model_body(model, 0).cell_count;
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  return status;
}

static double longest_side(const sn_mesh* mesh) {
  double longest = 0;
  for (int i = 0; i < 3; ++i) {
    double low = INFINITY, high = -INFINITY;
    for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
      low = fmin(low, mesh->positions[3 * (size_t)v + i]);
      high = fmax(high, mesh->positions[3 * (size_t)v + i]);
    }
    longest = fmax(longest, high - low);
  }
  return longest;
}

// Cells against 1/h: quadratic for the octree, cubic for the uniform grid.
static sn_status bench_growth(const bench_options* o, const sn_mesh* mesh, sn_error* err) {
  static const struct {
    const char* name;
    int coarsen, first, last;  // cells along the longest side
  } KINDS[] = {{"octree", -1, 32, 512}, {"uniform", 0, 32, 256}};
  double size = longest_side(mesh);
  for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; ++k) {
    double before = 0;
    for (int n = KINDS[k].first; n <= KINDS[k].last; n *= 2) {
      double cells, seconds;
      char name[32];
      sn_status status = count_cells(o, mesh, size / n, KINDS[k].coarsen, &cells, &seconds, err);
      if (status != SN_OK) return status;
      snprintf(name, sizeof name, "%s%d", KINDS[k].name, n);
      print_figure(o, "growth", name, "cells", cells, "1");
      if (before > 0) print_figure(o, "growth", name, "slope", log2(cells / before), "1");
      print_figure(o, "growth", name, "setup_elements_per_s", cells / seconds, "1/s");
      before = cells;
    }
  }
  return SN_OK;
}

// The cube of section 10.4 of Milne et al. 2016: n cells a side of length n, the eight corner cells
// held, linearised at rest, free nodes thrown up to 100 cells away.
typedef struct cube_scene {
  sn_fixed_desc corners[8];
  sn_body_desc body;
  sn_scene scene;
} cube_scene;

static sn_status make_cube(int n, cube_scene* cube, sn_error* err) {
  static const uint32_t TRIANGLES[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  double positions[24];
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) positions[3 * c + i] = c >> i & 1 ? n : 0;
    sn_vec3 lo = {c & 1 ? n - 1 : 0, c & 2 ? n - 1 : 0, c & 4 ? n - 1 : 0};
    sn_vec3 hi = {lo.x + 1, lo.y + 1, lo.z + 1};
    cube->corners[c] =
        (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}};
  }
  cube->body = (sn_body_desc){.name = (char*)"cube",
                              .surface = (char*)"cube",
                              .cell = 1,
                              .coarsen = -1,
                              .material = {1 / 2.6, 0.3 / (1.3 * 0.4)},  // E = 1, nu = 0.3
                              .density = 1,
                              .initial = {.rotate = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
  cube->scene = (sn_scene){
      .unit = 1,
      .up = SN_UP_Y,
      .fps = 24,
      .first_frame = 1,
      .last_frame = 1,
      .substeps = 1,
      .mode = SN_MODE_QUASISTATIC,
      .bodies = &cube->body,
      .body_count = 1,
      .fixed = cube->corners,
      .fixed_count = 8,
      .solver = {.linear = SN_LINEAR_MULTIGRID, .newton_max = 1, .multigrid = {.degree = 3}}};
  return sn_mesh_from_arrays(positions, 8, TRIANGLES, 12, &cube->body.mesh, err);
}

typedef struct error_log {
  const bench_options* o;
  const char* name;
} error_log;

static void log_error(void* ctx, int iteration, double error) {
  const error_log* log = ctx;
  char figure[64];
  bool wanted = iteration <= 10 || iteration % 5 == 0;
  if (!wanted) return;
  snprintf(figure, sizeof figure, "max_error_at_%d", iteration);
  print_figure(log->o, "convergence", log->name, figure, error, "1");
}

static sn_status study_cube(const bench_options* o, int n, const sn_model* model, sn_state* state,
                            sn_error* err) {
  static const struct {
    const char* name;
    sn_linear_solver linear;
  } SOLVERS[] = {
      {"cg", SN_LINEAR_CG}, {"mg", SN_LINEAR_MULTIGRID_ONLY}, {"mgpcg", SN_LINEAR_MULTIGRID}};
  for (size_t k = 0; k < sizeof SOLVERS / sizeof *SOLVERS; ++k) {
    char name[32];
    sn_study_result result;
    snprintf(name, sizeof name, "%s%d", SOLVERS[k].name, n);
    error_log log = {o, name};
    sn_study_opts opts = {.linear = SOLVERS[k].linear,
                          .max = 20,
                          .amount = 100,
                          .seed = 1,
                          .watch = log_error,
                          .watch_ctx = &log};
    sn_status status = sn_state_study(model, state, &opts, &result, err);
    if (status != SN_OK) return status;
    print_figure(o, "convergence", name, "seconds_per_iteration",
                 result.seconds / result.iterations, "s");
    print_figure(o, "convergence", name, "residual_at_end", result.residual, "1");
    if (SOLVERS[k].linear != SN_LINEAR_MULTIGRID) continue;
    opts.max = 200;
    opts.tolerance = 1e-6;
    opts.watch = NULL;
    status = sn_state_study(model, state, &opts, &result, err);
    if (status != SN_OK) return status;
    print_figure(o, "convergence", name, "iterations_to_1e-6", result.iterations, "1");
  }
  return SN_OK;
}

static sn_status bench_convergence(const bench_options* o, const sn_mesh* mesh, sn_error* err) {
  (void)mesh;
  sn_status status = SN_OK;
  for (int n = 64; n <= 256 && status == SN_OK; n *= 2) {
    cube_scene cube = {0};
    sn_pool* pool = NULL;
    sn_model* model = NULL;
    sn_state* state = NULL;
    status = make_cube(n, &cube, err);
    if (status == SN_OK) status = sn_pool_create(o->threads, &pool, err);
    if (status == SN_OK) status = sn_model_build(&cube.scene, pool, &model, err);
    if (status == SN_OK) status = sn_state_create(model, pool, &state, err);
    if (status == SN_OK) status = study_cube(o, n, model, state, err);
    sn_state_destroy(state);
    sn_model_destroy(model);
    sn_pool_destroy(pool);
    sn_mesh_destroy(&cube.body.mesh);
  }
  return status;
}

typedef struct bench {
  const char* name;
  const char* about;
  sn_status (*run)(const bench_options* o, const sn_mesh* mesh, sn_error* err);
} bench;

static const bench BENCHES[] = {
    {"growth", "cells against 1/h, octree and uniform grid", bench_growth},
    {"convergence", "CG, multigrid and both on a scrambled cube", bench_convergence},
    {NULL, NULL, NULL},
};

static sn_status run_benches(const bench_options* o, const char* name, sn_error* err) {
  sn_mesh mesh = {0};
  sn_status status = o->surface ? sn_mesh_load(o->surface, &mesh, err) : make_animal(&mesh, err);
  for (const bench* b = BENCHES; b->name && status == SN_OK; ++b) {
    if (!name || strcmp(name, b->name) == 0) status = b->run(o, &mesh, err);
  }
  sn_mesh_destroy(&mesh);
  return status;
}

int command_bench(int argc, char** argv) {
  bench_options o = {0};
  const option table[] = {
      {"--surface", OPTION_TEXT, "FILE", "measure on this mesh instead of the built-in animal",
       &o.surface},
      {"--threads", OPTION_INT, "N", "threads; 0 = one a processor", &o.threads},
      {"--json", OPTION_FLAG, NULL, "one JSON object a line", &o.json},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  const char* names[8] = {NULL};
  for (int i = 0; BENCHES[i].name; ++i) names[i] = BENCHES[i].name;
  if (o.help) {
    options_print_help("sinew bench [NAME] [options]", "Run one benchmark, or all:", NULL);
    for (const bench* b = BENCHES; b->name; ++b) printf("  %-10s %s\n", b->name, b->about);
    options_print_help("sinew bench [NAME] [options]", "", table);
    return SN_OK;
  }
  const char* name = words.count ? words.items[0] : NULL;
  bool known = !name;
  for (int i = 0; names[i]; ++i) known = known || strcmp(name, names[i]) == 0;
  if (!known || words.count > 1) {
    const char* near = name ? nearest_name(name, names) : NULL;
    fprintf(stderr, "sinew: bench: no benchmark \"%s\"%s%s\n", name, near ? "; did you mean " : "",
            near ? near : "; sinew bench --help lists them");
    return SN_ERR_USAGE;
  }
  return run_benches(&o, name, &err) == SN_OK ? SN_OK : report_error(&err);
}
