// The demo character, as `make demo` makes it, at the sizes of a production.
#include <math.h>
#include <stdio.h>

#include "child.h"

// Where nothing else is asked for, the sample program makes the scene.
static sn_status make_scene(bench_run* run, char folder[BENCH_PATH], bool* found, sn_error* err) {
  char program[BENCH_PATH];
  child_result result;
  *found = child_find("samples/creature", program);
  if (!*found) {
    bench_note(run,
               "missing: samples/creature beside this program, which makes the character; left "
               "out. --scene FILE measures another scene");
    return SN_OK;
  }
  sn_status status = child_make_folder(folder, err);
  if (status != SN_OK) return status;
  const char* const words[] = {program, folder, NULL};
  status = child_run(words, (child_limits){0}, &result, err);
  if (status != SN_OK || result.code == 0) return status;
  return bench_fail(err, SN_ERR_IO, "%.900s: ended with %d", program, result.code);
}

// S0's production setting: a fixed amount of work a frame, whatever the residual. What contact costs is
// measured by `contact`.
static void set_budget(sn_scene* scene) {
  scene->contact.self = false;
  scene->solver.newton_max = 10;
  scene->solver.newton_tolerance = 0;
  scene->solver.krylov_max = 3;
  scene->solver.krylov_tolerance = 0;
}

static sn_status simulate(bench_run* run, const sn_scene* scene, const char* name, sn_error* err) {
  sn_pool* pool = NULL;
  sn_model* model = NULL;
  sn_state* state = NULL;
  int frames[2] = {scene->first_frame, scene->first_frame + (run->o->quick ? 0 : 2)};
  double seconds, begin = bench_now();
  size_t before = sn_memory_used();
  sn_memory_restart_peak();
  sn_status status = sn_pool_create(run->o->threads, &pool, err);
  if (status == SN_OK) status = sn_model_build(scene, pool, &model, err);
  if (status == SN_OK) status = sn_state_create(model, pool, &state, err);
  double setup = bench_now() - begin;
  if (status == SN_OK) status = bench_time_frames(run, model, state, frames, &seconds, err);
  if (status == SN_OK) {
    double elements = (double)sn_model_body(model, 0).cell_count;
    bench_figure(run, name, "elements", elements, "1");
    bench_figure(run, name, "threads", sn_pool_thread_count(pool), "1");
    bench_figure(run, name, "setup_seconds", setup, "s");
    bench_figure(run, name, "seconds_per_frame", seconds, "s");
    bench_figure(run, name, "bytes_per_element", (double)(sn_memory_peak() - before) / elements,
                 "B");
  }
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  return status;
}

// A surface takes cells by the square of 1/h, nearly, a uniform grid by the cube: try, and correct.
sn_status bench_fit_cell(bench_run* run, sn_scene* scene, double elements, sn_error* err) {
  sn_pool* pool = NULL;
  sn_status status = sn_pool_create(run->o->threads, &pool, err);
  for (int attempt = 0; attempt < 2 && status == SN_OK; ++attempt) {
    sn_model* model = NULL;
    status = sn_model_build(scene, pool, &model, err);
    if (status == SN_OK) {
      double ratio = (double)sn_model_body(model, 0).cell_count / elements;
      scene->bodies[0].cell *= scene->bodies[0].coarsen == 0 ? cbrt(ratio) : sqrt(ratio);
    }
    sn_model_destroy(model);
  }
  sn_pool_destroy(pool);
  return status;
}

// The sizes of a production, of one material.
static sn_status measure_sizes(bench_run* run, sn_scene* scene, double cell, const char* law,
                               sn_error* err) {
  static const double QUICK[] = {4e3, 0}, FULL[] = {1e5, 7.65e5, 1.6e6, 0};
  sn_status status = SN_OK;
  for (const double* size = run->o->quick ? QUICK : FULL; *size > 0 && status == SN_OK; ++size) {
    char name[BENCH_NAME];
    snprintf(name, sizeof name, "character%.0fk%s", 1e-3 * *size, law);
    if (*size > run->o->max_elements) {
      bench_note(run, "%s: left out by --max-elements %d", name, run->o->max_elements);
      continue;
    }
    bench_note(run, "%s", name);
    scene->bodies[0].cell = cell * sqrt(BENCH_DEMO_CELLS / *size);
    status = bench_fit_cell(run, scene, *size, err);
    if (status == SN_OK) status = simulate(run, scene, name, err);
  }
  return status;
}

// The scene's own flesh, and before that corotated flesh as in S0, unless the scene was chosen by the user.
static sn_status measure(bench_run* run, const char* path, sn_error* err) {
  sn_scene* scene = NULL;
  sn_status status = sn_scene_load(path, NULL, 0, &scene, err);
  if (status != SN_OK) return status;
  sn_body_desc* body = &scene->bodies[0];
  double cell = body->cell;
  sn_material own = body->material;
  set_budget(scene);
  if (!run->o->scene) {
    body->material = BENCH_COROTATED_FLESH;
    status = measure_sizes(run, scene, cell, "", err);
    body->material = own;
  }
  if (status == SN_OK) {
    status = measure_sizes(run, scene, cell, run->o->scene ? "" : "-stable-neo-hookean", err);
  }
  sn_scene_destroy(scene);
  return status;
}

sn_status bench_on_character(bench_run* run, bench_scene_fn measure_scene, sn_error* err) {
  static const char* const FILES[] = {"creature.glb", "scene.json", "skinned.pc2", NULL};
  char folder[BENCH_PATH] = "", path[BENCH_PATH + 16];
  if (run->o->scene) return measure_scene(run, run->o->scene, err);
  bool found;
  sn_status status = make_scene(run, folder, &found, err);
  if (status == SN_OK && found) {
    snprintf(path, sizeof path, "%s/scene.json", folder);
    status = measure_scene(run, path, err);
  }
  if (folder[0]) child_remove_folder(folder, FILES);
  return status;
}

sn_status bench_character(bench_run* run, sn_error* err) {
  return bench_on_character(run, measure, err);
}
