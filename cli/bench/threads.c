// The same work on more and more cores.
#include <stdio.h>

#include "bench.h"

typedef struct thread_times {
  double apply, iteration;  // s
} thread_times;

static sn_status time_with(bench_run* run, int n, int threads, thread_times* times, sn_error* err) {
  bench_body body = {0};
  sn_timing timing;
  sn_study_result result;
  sn_study_opts opts = {.linear = SN_LINEAR_MULTIGRID, .max = 10, .amount = 100, .seed = 1};
  sn_status status = bench_open_cube(run, n, threads, &body, err);
  if (status == SN_OK) {
    status = sn_state_time(body.model, body.state, SN_TIME_APPLY, 20, &timing, err);
  }
  if (status == SN_OK) status = bench_solve_fastest(&body, &opts, &result, err);
  if (status == SN_OK) {
    *times = (thread_times){timing.seconds, result.seconds / result.iterations};
  }
  bench_body_destroy(&body);
  return status == SN_OK ? bench_check_stop(err) : status;
}

static void hand_in(bench_run* run, const char* what, int threads, double alone, double seconds) {
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "%s%d", what, threads);
  bench_figure(run, name, "seconds", seconds, "s");
  bench_figure(run, name, "speedup", alone / seconds, "1");
  bench_figure(run, name, "efficiency", alone / seconds / threads, "1");
}

// 1, 2, 4, 8, ... and all. On a machine with one core two threads are measured all the same, so
// that there is a figure.
sn_status bench_threads(bench_run* run, sn_error* err) {
  int n = run->o->quick ? 16 : 256, all = run->o->threads ? run->o->threads : machine_cores();
  if (all < 2) all = 2;
  thread_times alone = {0}, now;
  sn_status status = SN_OK;
  plot p = {.title = "Speed-up", .x_label = "threads", .y_label = "speed-up over one thread"};
  plot_series* apply = plot_add_series(&p, "apply");
  plot_series* mgpcg = plot_add_series(&p, "mgpcg");
  for (int threads = 1; status == SN_OK; threads = 2 * threads < all ? 2 * threads : all) {
    status = time_with(run, n, threads, &now, err);
    if (status != SN_OK) break;
    if (threads == 1) alone = now;
    hand_in(run, "apply", threads, alone.apply, now.apply);
    hand_in(run, "mgpcg", threads, alone.iteration, now.iteration);
    plot_add_point(apply, threads, alone.apply / now.apply);
    plot_add_point(mgpcg, threads, alone.iteration / now.iteration);
    if (threads == all) break;
  }
  if (status == SN_OK) status = plot_save(run, &p, "threads", err);
  plot_destroy(&p);
  return status;
}
