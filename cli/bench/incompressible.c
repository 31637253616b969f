// Nearly incompressible flesh: iterations and seconds of the linear solvers on a ball and an animal.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define WAYS 4
#define RATIOS 4

static const struct {
  const char* name;
  sn_smoother smoother;
  sn_pressure_form pressure;
} WAY[WAYS] = {{"jacobi", SN_SMOOTHER_JACOBI, SN_PRESSURE_CONDENSED},
               {"chebyshev", SN_SMOOTHER_CHEBYSHEV, SN_PRESSURE_CONDENSED},
               {"kept", SN_SMOOTHER_AUTO, SN_PRESSURE_KEPT},
               {"auto", SN_SMOOTHER_AUTO, SN_PRESSURE_AUTO}};
static const double POISSON[RATIOS] = {0.45, 0.49, 0.499, 0.4999};

typedef struct study_body {
  const char* name;
  int n;      // cells along the longest side
  bool tied;  // by a bone and springs; else held below
} study_body;

// A ball of 1 m.
static sn_status make_ball(sn_mesh* mesh, sn_error* err) {
  static const sn_round_cone CONE = {{0, 0, 0}, {0, 0.001, 0}, 0.5, 0.5};
  return sn_mesh_from_round_cones(&CONE, 1, 0, 0.05, mesh, err);
}

static void lowest_and_highest(const sn_mesh* mesh, double* low, double* high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    *low = fmin(*low, mesh->positions[3 * (size_t)v + 1]);
    *high = fmax(*high, mesh->positions[3 * (size_t)v + 1]);
  }
}

static void set_material(bench_body* body, double poisson) {
  double young = 12000;
  body->desc.material.mu = young / (2 * (1 + poisson));
  body->desc.material.lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

static sn_status describe(const bench_run* run, const study_body* shape, bench_body* body,
                          sn_error* err) {
  sn_mesh mesh = {0};
  bool animal = shape->name[0] == 'a';
  sn_status status = animal ? bench_load_surface(run, &mesh, err) : make_ball(&mesh, err);
  if (status != SN_OK) return status;
  double low, high;
  lowest_and_highest(&mesh, &low, &high);
  bench_describe(body, &mesh, bench_longest_side(&mesh) / shape->n, -1);
  sn_vec3 lo = {-1e3, low - 1, -1e3}, hi = {1e3, low + 0.15 * (high - low), 1e3};
  body->fixed[0] =
      (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}};
  body->scene.fixed_count = 1;
  if (!shape->tied) return SN_OK;
  // A thin bone along the middle; the flesh around it is tied.
  double r = 0.03 * (high - low);
  body->bone = (sn_bone_desc){
      .name = (char*)"bone",
      .kind = SN_BONE_CAPSULE,
      .capsule = {{0, low + 0.35 * (high - low), 0}, {0, low + 0.6 * (high - low), 0}, r}};
  body->tie =
      (sn_attachment_desc){.where = {.kind = SN_WHERE_NEAR, .distance = r}, .stiffness = 100};
  body->scene.bone_count = body->scene.attachment_count = 1;
  body->scene.fixed_count = 0;
  return SN_OK;
}

typedef struct error_count {
  double tolerance;
  int reached;  // iteration at which the error fell below that; 0: not yet
  double last;  // error
} error_count;

static void count_iterations(void* ctx, int iteration, double error) {
  error_count* count = ctx;
  count->last = error;
  if (count->reached == 0 && error <= count->tolerance) count->reached = iteration;
}

// Iterations until the displacements are right to 1e-5, against a solution ten times as good as the one
// at which counting ends: the error of that one, against the same, says how far the count can be trusted.
static sn_status study_error(bench_run* run, const char* name, bench_body* body, sn_error* err) {
  size_t numbers = 3 * (size_t)sn_model_body(body->model, 0).node_count;
  double* solution = calloc(numbers, sizeof *solution);
  error_count count = {.tolerance = 1e-5};
  sn_study_result best, counted;
  sn_study_opts opts = {.linear = SN_LINEAR_MULTIGRID,
                        .max = 2000,
                        .tolerance = 1e-7,
                        .own_residual = true,
                        .weight = true,
                        .solution = solution};
  if (!solution) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  sn_status status = sn_state_study(body->model, body->state, &opts, &best, err);
  if (status == SN_OK) {
    opts.solution = NULL;
    opts.reference = solution;
    opts.tolerance = 1e-6;
    opts.watch = count_iterations;
    opts.watch_ctx = &count;
    status = sn_state_study(body->model, body->state, &opts, &counted, err);
  }
  if (status == SN_OK) {
    bench_figure(run, name, "elements", body->elements, "1");
    bench_figure(run, name, "iterations_to_error_1e-05", count.reached, "1");
    bench_figure(run, name, "error_at_the_end", count.last, "1");
    bench_figure(run, name, "ms_per_iteration", 1e3 * best.seconds / best.iterations, "ms");
    bench_figure(run, name, "setup_seconds", counted.setup_seconds, "s");
  }
  free(solution);
  return status;
}

static sn_status study_size(bench_run* run, const study_body* shape, double poisson,
                            sn_error* err) {
  bench_body body = {0};
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "%s%d-%g", shape->name, shape->n, poisson);
  bench_note(run, "%s", name);
  sn_status status = describe(run, shape, &body, err);
  if (status == SN_OK) {
    set_material(&body, poisson);
    status = bench_build(&body, run->o->threads, err);
  }
  bool small = body.elements <= run->o->max_elements;
  if (status == SN_OK && small) status = study_error(run, name, &body, err);
  bench_body_destroy(&body);
  return status == SN_OK ? bench_check_stop(err) : status;
}

static sn_status study_way(bench_run* run, const study_body* shape, double poisson, int way,
                           sn_error* err) {
  bench_body body = {0};
  sn_status status = describe(run, shape, &body, err);
  if (status == SN_OK) {
    set_material(&body, poisson);
    body.scene.solver.multigrid.smoother = WAY[way].smoother;
    body.scene.solver.pressure = WAY[way].pressure;
    status = bench_build(&body, run->o->threads, err);
  }
  static const double TOLERANCES[2] = {1e-2, 1e-5};
  for (int t = 0; t < 2 && status == SN_OK; ++t) {
    char name[BENCH_NAME], what[BENCH_NAME];
    sn_study_result result;
    sn_study_opts opts = {.linear = SN_LINEAR_MULTIGRID,
                          .max = 1500,
                          .tolerance = TOLERANCES[t],
                          .amount = 0.01,
                          .seed = 1,
                          .weight = true};
    status = sn_state_study(body.model, body.state, &opts, &result, err);
    if (status != SN_OK) break;
    snprintf(name, sizeof name, "%s%d%s-%g-%s", shape->name, shape->n, shape->tied ? "-tied" : "",
             poisson, WAY[way].name);
    snprintf(what, sizeof what, "iterations_to_%.0e", TOLERANCES[t]);
    bench_figure(run, name, what, result.iterations, "1");
    snprintf(what, sizeof what, "seconds_to_%.0e", TOLERANCES[t]);
    bench_figure(run, name, what, result.seconds, "s");
    if (t == 1) {
      bench_figure(run, name, "ms_per_iteration", 1e3 * result.seconds / result.iterations, "ms");
    }
  }
  bench_body_destroy(&body);
  return status == SN_OK ? bench_check_stop(err) : status;
}

// What is chosen by itself, whatever the size.
static sn_status study_sizes(bench_run* run, sn_error* err) {
  static const study_body QUICK[] = {{"ball", 12, false}, {NULL, 0, false}};
  static const study_body FULL[] = {
      {"ball", 24, false},   {"ball", 48, false},    {"ball", 96, false},    {"animal", 40, false},
      {"animal", 80, false}, {"animal", 160, false}, {"animal", 320, false}, {NULL, 0, false}};
  sn_status status = SN_OK;
  for (const study_body* s = run->o->quick ? QUICK : FULL; s->name && status == SN_OK; ++s) {
    for (int r = 1; r < RATIOS && status == SN_OK; ++r) {
      status = study_size(run, s, POISSON[r], err);
    }
  }
  return status;
}

sn_status bench_incompressible(bench_run* run, sn_error* err) {
  static const study_body QUICK[] = {{"ball", 12, false}, {NULL, 0, false}};
  static const study_body FULL[] = {
      {"ball", 24, false}, {"animal", 40, false}, {"animal", 40, true}, {NULL, 0, false}};
  sn_status status = study_sizes(run, err);
  for (const study_body* s = run->o->quick ? QUICK : FULL; s->name && status == SN_OK; ++s) {
    for (int r = 0; r < RATIOS && status == SN_OK; ++r) {
      for (int way = 0; way < WAYS && status == SN_OK; ++way) {
        status = study_way(run, s, POISSON[r], way, err);
      }
    }
  }
  return status;
}
