// apply and polar: single passes over all elements.
#include <stdio.h>

#include "bench.h"

static int repeats_for(double elements) {
  double count = 2e7 / elements;  // a second or so of the plain kernels
  return count < 5 ? 5 : count > 200 ? 200 : (int)count;
}

static const struct {
  sn_law law;
  const char* suffix;
} LAWS[] = {{SN_LAW_COROTATED, ""}, {SN_LAW_STABLE_NEO_HOOKEAN, "-stable-neo-hookean"}};

static sn_status time_cube(bench_run* run, int n, int law, sn_time_what what, sn_error* err) {
  bench_body body = {0};
  sn_timing timing, exact = {0};
  bench_note(run, "building the cube of %d cells a side", n);
  sn_status status = bench_describe_cube(n, &body, err);
  body.desc.material.law = LAWS[law].law;
  if (status == SN_OK) status = bench_build(&body, run->o->threads, err);
  if (status == SN_OK) {
    status = sn_state_time(body.model, body.state, what, repeats_for(body.elements), &timing, err);
  }
  if (status == SN_OK && what == SN_TIME_APPLY) {
    status = sn_state_time(body.model, body.state, SN_TIME_EXACT, repeats_for(body.elements),
                           &exact, err);
  }
  int threads = body.threads;
  bench_body_destroy(&body);
  if (status != SN_OK) return status;
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "cube%d%s", n, LAWS[law].suffix);
  double elements = (double)timing.elements, rate = timing.bytes / timing.seconds;
  bench_figure(run, name, "elements", elements, "1");
  bench_figure(run, name, "threads", threads, "1");
  bench_figure(run, name, "elements_per_s_core", elements / timing.seconds / threads, "1/s");
  if (exact.seconds > 0) {
    bench_figure(run, name, "exact_elements_per_s_core", elements / exact.seconds / threads, "1/s");
  }
  bench_figure(run, name, "gb_per_s", 1e-9 * rate, "GB/s");
  bench_figure(run, name, "share_of_limit", rate / machine_triad(threads, timing.bytes), "1");
  return bench_check_stop(err);
}

static sn_status time_cubes(bench_run* run, sn_time_what what, sn_error* err) {
  sn_status status = SN_OK;
  for (const int* n = bench_cube_sizes(run); *n; ++n) {
    for (int law = 0; law < (int)(sizeof LAWS / sizeof *LAWS) && status == SN_OK; ++law) {
      status = time_cube(run, *n, law, what, err);
    }
  }
  return status;
}

sn_status bench_apply(bench_run* run, sn_error* err) { return time_cubes(run, SN_TIME_APPLY, err); }
sn_status bench_polar(bench_run* run, sn_error* err) { return time_cubes(run, SN_TIME_POLAR, err); }
