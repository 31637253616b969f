// Error against iterations and seconds, for the linear solvers on the scrambled cube.
#include <stdio.h>

#include "bench.h"

#define ITERATIONS 20
#define SOLVERS 3

static const struct {
  const char* name;
  sn_linear_solver linear;
} KINDS[SOLVERS] = {
    {"cg", SN_LINEAR_CG}, {"mg", SN_LINEAR_MULTIGRID_ONLY}, {"mgpcg", SN_LINEAR_MULTIGRID}};

typedef struct error_log {
  double errors[ITERATIONS + 1];  // largest left after each iteration, over that of the start
  double times[ITERATIONS + 1];   // s
  int count;                      // iterations
} error_log;

static void log_error(void* ctx, int iteration, double error) {
  error_log* log = ctx;
  if (iteration < 0 || iteration > ITERATIONS) return;
  log->errors[iteration] = error;
  log->times[iteration] = bench_now();
  log->count = iteration;
}

typedef struct error_plots {
  plot by_iteration, by_seconds;
} error_plots;

// The solve ends with the last iteration, so the clock is counted back from there.
static void hand_in(bench_run* run, const char* name, error_log* log, const sn_study_result* result,
                    error_plots* plots) {
  plot_series* by_iteration = plot_add_series(&plots->by_iteration, name);
  plot_series* by_seconds = plot_add_series(&plots->by_seconds, name);
  plot_add_point(by_iteration, 0, 1);
  plot_add_point(by_seconds, 0, 1);
  for (int k = 1; k <= log->count; ++k) {
    char text[BENCH_NAME];
    double seconds = result->seconds - (log->times[log->count] - log->times[k]);
    plot_add_point(by_iteration, k, log->errors[k]);
    plot_add_point(by_seconds, seconds, log->errors[k]);
    if (k > 10 && k % 5 != 0) continue;
    snprintf(text, sizeof text, "max_error_at_%d", k);
    bench_figure(run, name, text, log->errors[k], "1");
    snprintf(text, sizeof text, "seconds_at_%d", k);
    bench_figure(run, name, text, seconds, "s");
  }
  bench_figure(run, name, "seconds_per_iteration", result->seconds / result->iterations, "s");
  bench_figure(run, name, "residual_at_end", result->residual, "1");
}

static sn_status study(bench_run* run, const bench_body* body, const char* name, int kind,
                       error_plots* plots, sn_error* err) {
  error_log log = {.count = 0};
  sn_study_result result;
  sn_study_opts opts = {.linear = KINDS[kind].linear,
                        .max = ITERATIONS,
                        .amount = 100,
                        .seed = 1,
                        .watch = log_error,
                        .watch_ctx = &log};
  sn_status status = sn_state_study(body->model, body->state, &opts, &result, err);
  if (status != SN_OK) return status;
  hand_in(run, name, &log, &result, plots);
  if (opts.linear == SN_LINEAR_MULTIGRID) {
    opts.max = 200;
    opts.tolerance = 1e-6;
    opts.watch = NULL;
    status = sn_state_study(body->model, body->state, &opts, &result, err);
    if (status != SN_OK) return status;
    bench_figure(run, name, "iterations_to_1e-6", result.iterations, "1");
  }
  return bench_check_stop(err);
}

static sn_status study_cube(bench_run* run, int n, error_plots* plots, sn_error* err) {
  bench_body body = {0};
  sn_status status = bench_open_cube(run, n, run->o->threads, &body, err);
  for (int kind = 0; kind < SOLVERS && status == SN_OK; ++kind) {
    char name[BENCH_NAME];
    snprintf(name, sizeof name, "%s%d", KINDS[kind].name, n);
    status = study(run, &body, name, kind, plots, err);
  }
  bench_body_destroy(&body);
  return status;
}

sn_status bench_convergence(bench_run* run, sn_error* err) {
  static const int QUICK[] = {16, 0}, FULL[] = {64, 128, 256, 0};
  error_plots plots = {
      {.title = "Convergence", .x_label = "iterations", .y_label = "largest error", .y_log = true},
      {.title = "Convergence", .x_label = "seconds", .y_label = "largest error", .y_log = true}};
  sn_status status = SN_OK;
  for (const int* n = run->o->quick ? QUICK : FULL; *n && status == SN_OK; ++n) {
    // The limit that holds by itself is for bodies that are solved frame after frame.
    bool limited = run->o->max_elements < BENCH_MOST_ELEMENTS;
    if (limited && (int64_t)*n * *n * *n > run->o->max_elements) {
      bench_note(run, "cube%d: left out by --max-elements %d", *n, run->o->max_elements);
      continue;
    }
    status = study_cube(run, *n, &plots, err);
  }
  if (status == SN_OK) {
    status = plot_save(run, &plots.by_iteration, "convergence-iterations", err);
  }
  if (status == SN_OK) status = plot_save(run, &plots.by_seconds, "convergence-seconds", err);
  plot_destroy(&plots.by_iteration);
  plot_destroy(&plots.by_seconds);
  return status;
}
