// From triangles to a state that is ready to solve.
#include <stdio.h>

#include "bench.h"

static void hand_in(bench_run* run, const char* name, const bench_body* body) {
  double seconds = body->build_seconds + body->create_seconds, elements = body->elements;
  double rate = body->held_bytes / seconds;
  bench_figure(run, name, "elements", elements, "1");
  bench_figure(run, name, "threads", body->threads, "1");
  bench_figure(run, name, "model_seconds", body->build_seconds, "s");
  bench_figure(run, name, "state_seconds", body->create_seconds, "s");
  bench_figure(run, name, "elements_per_s", elements / seconds, "1/s");
  bench_figure(run, name, "elements_per_s_core", elements / seconds / body->threads, "1/s");
  bench_figure(run, name, "gb_per_s", 1e-9 * rate, "GB/s");
  bench_figure(run, name, "share_of_limit", rate / machine_triad(body->threads, body->held_bytes),
               "1");
}

// The fastest of some builds counts: the first also waits for the system to hand out its memory.
#define BUILDS 4

// Times of the faster of two builds of the same body.
static bench_body faster(bench_body a, bench_body b) {
  double first = a.build_seconds + a.create_seconds, second = b.build_seconds + b.create_seconds;
  return a.elements > 0 && first < second ? a : b;
}

static sn_status set_up_animal(bench_run* run, int side, sn_error* err) {
  sn_mesh mesh = {0};
  bench_body best = {0};
  sn_status status = SN_OK;
  for (int build = 0; build < BUILDS && status == SN_OK; ++build) {
    bench_body body = {0};
    status = bench_load_surface(run, &mesh, err);
    if (status != SN_OK) return status;
    bench_describe(&body, &mesh, bench_longest_side(&mesh) / side, -1);
    status = bench_build(&body, run->o->threads, err);
    if (status == SN_OK) best = faster(best, body);
    bench_body_destroy(&body);
  }
  if (status == SN_OK) {
    char name[BENCH_NAME];
    snprintf(name, sizeof name, "%s%d", run->o->surface ? "surface" : "animal", side);
    hand_in(run, name, &best);
  }
  return status == SN_OK ? bench_check_stop(err) : status;
}

sn_status bench_setup(bench_run* run, sn_error* err) {
  sn_status status = SN_OK;
  for (const int* n = bench_cube_sizes(run); *n && status == SN_OK; ++n) {
    char name[BENCH_NAME];
    bench_body best = {0};
    snprintf(name, sizeof name, "cube%d", *n);
    for (int build = 0; build < BUILDS && status == SN_OK; ++build) {
      bench_body body = {0};
      status = bench_open_cube(run, *n, run->o->threads, &body, err);
      if (status == SN_OK) best = faster(best, body);
      bench_body_destroy(&body);
    }
    if (status == SN_OK) hand_in(run, name, &best);
  }
  // cells along the longest side, about as many elements as the cubes
  static const int QUICK[] = {32, 0}, FULL[] = {80, 512, 0};
  for (const int* n = run->o->quick ? QUICK : FULL; *n && status == SN_OK; ++n) {
    status = set_up_animal(run, *n, err);
  }
  return status;
}
