// The whole linear solver on the cube of the convergence study.
#include <stdio.h>

#include "bench.h"

static void hand_in(bench_run* run, const char* name, const bench_body* body,
                    const sn_study_result* result) {
  double pass = result->seconds / result->iterations, elements = body->elements;
  double rate = body->held_bytes / pass;
  bench_figure(run, name, "elements", elements, "1");
  bench_figure(run, name, "threads", body->threads, "1");
  bench_figure(run, name, "iterations", result->iterations, "1");
  bench_figure(run, name, "seconds", result->seconds, "s");
  bench_figure(run, name, "element_iterations_per_s_core", elements / pass / body->threads, "1/s");
  bench_figure(run, name, "gb_per_s", 1e-9 * rate, "GB/s");
  bench_figure(run, name, "share_of_limit", rate / machine_triad(body->threads, body->held_bytes),
               "1");
  bench_figure(run, name, "bytes_per_element", bench_body_peak(body) / elements, "B");
  bench_figure(run, name, "held_bytes_per_element", body->held_bytes / elements, "B");
}

sn_status bench_mgpcg(bench_run* run, sn_error* err) {
  sn_status status = SN_OK;
  for (const int* n = bench_cube_sizes(run); *n && status == SN_OK; ++n) {
    bench_body body = {0};
    sn_study_result result;
    sn_study_opts opts = {
        .linear = SN_LINEAR_MULTIGRID, .max = 200, .tolerance = 1e-6, .amount = 100, .seed = 1};
    status = bench_open_cube(run, *n, run->o->threads, &body, err);
    if (status == SN_OK) status = bench_solve_fastest(&body, &opts, &result, err);
    if (status == SN_OK) {
      char name[BENCH_NAME];
      snprintf(name, sizeof name, "cube%d", *n);
      hand_in(run, name, &body, &result);
      status = bench_check_stop(err);
    }
    bench_body_destroy(&body);
  }
  return status;
}
