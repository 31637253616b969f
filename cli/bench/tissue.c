// Figure 6 of Patterson, Mitchell and Sifakis 2012: what a force differential, a Krylov iteration, a Newton
// step and a frame take, on uniform grids of 13,500 and 101,000 cells of a walking character, of nearly
// incompressible neo-Hookean flesh; and of the corotated flesh beside it.
#include <stdio.h>

#include "bench.h"

typedef struct tissue_case {
  const char* name;
  sn_law law;
  double poisson;
} tissue_case;

static const tissue_case CASES[] = {{"corotated", SN_LAW_COROTATED, 0.45},
                                    {"stable-neo-hookean", SN_LAW_STABLE_NEO_HOOKEAN, 0.47},
                                    {"incompressible", SN_LAW_STABLE_NEO_HOOKEAN, 0.498}};

typedef struct frame_sums {
  double seconds, newton, krylov;
} frame_sums;

static sn_status run_frames(const sn_scene* scene, const sn_model* model, sn_state* state,
                            int count, frame_sums* sums, sn_error* err) {
  sn_status status = SN_OK;
  *sums = (frame_sums){0};
  // The first frame comes from nowhere; those after it are what a shot is made of.
  for (int k = 0; k <= count && status == SN_OK; ++k) {
    sn_frame_stats stats;
    status = sn_step(model, state, scene->first_frame + k, &stats, err);
    if (status != SN_OK || k == 0) continue;
    sums->seconds += stats.seconds / count;
    sums->newton += (double)stats.newton / count;
    for (int i = 0; i < stats.newton; ++i) sums->krylov += (double)stats.krylov[i] / count;
    status = bench_check_stop(err);
  }
  return status;
}

static void hand_in(bench_run* run, const tissue_case* c, const sn_timing* apply, int threads,
                    const frame_sums* sums) {
  char name[BENCH_NAME];
  double elements = (double)apply->elements;
  snprintf(name, sizeof name, "%s-%.0fk", c->name, elements / 1000);
  bench_figure(run, name, "elements", elements, "1");
  bench_figure(run, name, "threads", threads, "1");
  bench_figure(run, name, "differential_seconds", apply->seconds, "s");
  bench_figure(run, name, "differentials_per_s_core", elements / apply->seconds / threads, "1/s");
  bench_figure(run, name, "seconds_per_krylov_iteration", sums->seconds / sums->krylov, "s");
  bench_figure(run, name, "seconds_per_newton_step", sums->seconds / sums->newton, "s");
  bench_figure(run, name, "seconds_per_frame", sums->seconds, "s");
  bench_figure(run, name, "newton_per_frame", sums->newton, "1");
  bench_figure(run, name, "krylov_per_frame", sums->krylov, "1");
}

static sn_status measure_case(bench_run* run, sn_scene* scene, const tissue_case* c,
                              sn_error* err) {
  sn_pool* pool = NULL;
  sn_model* model = NULL;
  sn_state* state = NULL;
  sn_timing apply;
  frame_sums sums;
  double young = 12000;
  scene->bodies[0].material =
      (sn_material){.law = c->law,
                    .mu = young / (2 * (1 + c->poisson)),
                    .lambda = young * c->poisson / ((1 + c->poisson) * (1 - 2 * c->poisson))};
  sn_status status = sn_pool_create(run->o->threads, &pool, err);
  if (status == SN_OK) status = sn_model_build(scene, pool, &model, err);
  if (status == SN_OK) status = sn_state_create(model, pool, &state, err);
  if (status == SN_OK) status = sn_state_time(model, state, SN_TIME_EXACT, 20, &apply, err);
  if (status == SN_OK) {
    status = run_frames(scene, model, state, run->o->quick ? 1 : 3, &sums, err);
  }
  if (status == SN_OK) hand_in(run, c, &apply, sn_pool_thread_count(pool), &sums);
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  return status;
}

static sn_status measure_scene(bench_run* run, const char* path, sn_error* err) {
  static const double SIZES[] = {13500, 101000, 0};
  sn_scene* scene;
  sn_status status = sn_scene_load(path, NULL, 0, &scene, err);
  if (status != SN_OK) return status;
  scene->mode = SN_MODE_QUASISTATIC;
  scene->contact.self = false;
  scene->bodies[0].coarsen = 0;
  scene->bodies[0].cell *= 3;  // to begin with: uniform grids have many more cells
  for (const double* size = SIZES; *size > 0 && status == SN_OK; ++size) {
    if (run->o->quick && *size > 20000) break;
    status = bench_fit_cell(run, scene, *size, err);
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES && status == SN_OK; ++c) {
      status = measure_case(run, scene, &CASES[c], err);
    }
  }
  sn_scene_destroy(scene);
  return status;
}

sn_status bench_tissue(bench_run* run, sn_error* err) {
  return bench_on_character(run, measure_scene, err);
}
