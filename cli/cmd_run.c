// sinew run SCENE.json
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "progress.h"

// Set by Ctrl-C and by a farm's SIGTERM; the frame is finished first. A second one ends at once.
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
  stop_asked = 1;
  signal(signal_number, SIG_DFL);
}

typedef struct run_options {
  const char* folder;
  int frames[2];  // 0 0: the scene's
  int threads;    // -1: the scene's
  bool resume, strict, quiet, json, help;
  int resume_from;  // 0: none
  const char* progress;
  text_list changes;
} run_options;

typedef struct simulation {
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
  sn_run* run;
  progress progress;
} simulation;

static sn_status wrong_usage(sn_error* err, const char* text) {
  err->status = SN_ERR_USAGE;
  snprintf(err->text, sizeof err->text, "%s", text);
  return SN_ERR_USAGE;
}

// The scene with the changes of the command line; --frames is one of them, so that the resolved
// scene.json of the run has them too.
static sn_status load_scene(const run_options* o, const char* path, sn_scene** scene,
                            sn_error* err) {
  sn_scene_change changes[MAX_LIST + 1];
  char frames[64];
  int count = o->changes.count;
  for (int i = 0; i < count; ++i) changes[i].path_and_value = o->changes.items[i];
  if (o->frames[0] || o->frames[1]) {
    if (o->frames[0] < 1 || o->frames[1] < o->frames[0]) {
      return wrong_usage(err, "--frames: expected A:B with 1 <= A <= B");
    }
    snprintf(frames, sizeof frames, "frames=[%d,%d]", o->frames[0], o->frames[1]);
    changes[count++].path_and_value = frames;
  }
  return sn_scene_load(path, changes, count, scene, err);
}

static sn_status choose_frames(const run_options* o, const sn_scene* scene, sn_run_opts* opts,
                               sn_error* err) {
  *opts = (sn_run_opts){
      .folder = o->folder, .first_frame = scene->first_frame, .last_frame = scene->last_frame};
  if (o->resume) opts->resume = SN_RESUME_LAST;
  if (o->resume_from) {
    opts->resume = SN_RESUME_AT;
    opts->resume_frame = o->resume_from;
    if (o->resume_from < opts->first_frame || o->resume_from > opts->last_frame) {
      return wrong_usage(err, "--resume-from: the frame is not among those of the run");
    }
  }
  return SN_OK;
}

// Everything up to the first frame. Nothing is written before all input has been found good.
static sn_status prepare(const run_options* o, const char* path, simulation* sim, sn_error* err) {
  sn_run_opts opts;
  sn_status status = load_scene(o, path, &sim->scene, err);
  if (status == SN_OK) status = choose_frames(o, sim->scene, &opts, err);
  if (status == SN_OK) {
    status = progress_start(o->progress, o->quiet, opts.first_frame, opts.last_frame,
                            &sim->progress, err);
  }
  if (status == SN_OK) {
    int threads = o->threads >= 0 ? o->threads : sim->scene->solver.threads;
    status = sn_pool_create(threads, &sim->pool, err);
  }
  if (status == SN_OK) {
    status = sn_model_build(sim->scene, sim->pool, &sim->model, err);
    if (status != SN_OK) name_scene(path, err);
  }
  if (status == SN_OK) status = sn_state_create(sim->model, sim->pool, &sim->state, err);
  if (status == SN_OK) {
    status = sn_run_open(&opts, sim->model, sim->scene, sim->state, &sim->run, err);
  }
  return status;
}

// All frames that are left. SN_ERR_INTERRUPTED after Ctrl-C, SN_ERR_TOLERANCE under --strict.
static sn_status simulate(const run_options* o, simulation* sim, sn_error* err) {
  for (int frame = sn_run_next_frame(sim->run); frame <= sim->progress.last; ++frame) {
    sn_frame_stats stats;
    sn_status status = sn_step(sim->model, sim->state, frame, &stats, err);
    if (status == SN_OK) status = sn_run_append(sim->run, sim->model, sim->state, &stats, err);
    if (status != SN_OK) return status;
    progress_frame(&sim->progress, &stats);
    if (o->strict && !stats.converged) {
      err->status = SN_ERR_TOLERANCE;
      snprintf(
          err->text, sizeof err->text,
          "frame %d: residual %.3g after %d Newton steps, the tolerance is %.3g; allow more steps "
          "(solver.newton.max) or CG iterations (solver.krylov.max)",
          frame, stats.residual, stats.newton, sim->scene->solver.newton_tolerance);
      return SN_ERR_TOLERANCE;
    }
    if (stop_asked && frame < sim->progress.last) {
      err->status = SN_ERR_INTERRUPTED;
      snprintf(err->text, sizeof err->text, "interrupted after frame %d", frame);
      return SN_ERR_INTERRUPTED;
    }
  }
  return SN_OK;
}

static void destroy(simulation* sim) {
  sn_run_close(sim->run);
  sn_state_destroy(sim->state);
  sn_model_destroy(sim->model);
  sn_pool_destroy(sim->pool);
  sn_scene_destroy(sim->scene);
}

static void print_result(const run_options* o) {
  char path[4096], line[1024];
  snprintf(path, sizeof path, "%s/result.json", o->folder);
  FILE* file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) fputs(line, stdout);
  if (file) {
    fputc('\n', stdout);
    fclose(file);
  }
}

static int finish(const run_options* o, const char* path, simulation* sim, sn_status status,
                  sn_error* err) {
  progress_end(&sim->progress);
  if (sim->run) {
    sn_error later = {0};
    const char* outcome = status == SN_OK                ? "done"
                          : status == SN_ERR_INTERRUPTED ? "interrupted"
                                                         : "failed";
    if (status == SN_ERR_INTERRUPTED || status == SN_ERR_TOLERANCE) {
      sn_run_checkpoint(sim->run, sim->model, sim->state, &later);
    }
    sn_run_finish(sim->run, outcome, status == SN_OK ? "" : err->text, &later);
    if (status == SN_OK && later.status != SN_OK) {
      *err = later;
      status = later.status;
    }
  }
  if (o->json && sim->run) print_result(o);
  destroy(sim);
  if (status == SN_OK) {
    if (!o->quiet) fprintf(stderr, "done: %s\n", o->folder);
    return SN_OK;
  }
  report_error(err);
  if (status == SN_ERR_INTERRUPTED) {
    fprintf(stderr, "sinew: go on with: sinew run %s -o %s --resume\n", path, o->folder);
  }
  return (int)status;
}

int command_run(int argc, char** argv) {
  run_options o = {.threads = -1, .progress = "bar"};
  const option table[] = {
      {"-o", OPTION_TEXT, "DIR", "folder for the results (default: SCENE.out beside the scene)",
       &o.folder},
      {"--frames", OPTION_RANGE, "A:B", "frames to simulate (default: the scene's)", &o.frames},
      {"--threads", OPTION_INT, "N", "threads; 0 = one a processor; never changes the result",
       &o.threads},
      {"--resume", OPTION_FLAG, NULL, "go on after the last checkpoint in DIR", &o.resume},
      {"--resume-from", OPTION_INT, "FRAME",
       "compute FRAME again and go on, from a kept checkpoint", &o.resume_from},
      {"--strict", OPTION_FLAG, NULL, "stop (exit code 3) when a frame misses its tolerance",
       &o.strict},
      {"--set", OPTION_LIST, "PATH=VALUE",
       "change a value of the scene, e.g. bodies.0.material.young=2e4", &o.changes},
      {"--progress", OPTION_TEXT, "KIND", "bar (default), json or openjd", &o.progress},
      {"--quiet", OPTION_FLAG, NULL, "no progress and no warnings", &o.quiet},
      {"--json", OPTION_FLAG, NULL, "print result.json when done", &o.json},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  char folder[4096];
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew run SCENE.json [options]", "Simulate a scene.", table);
    return SN_OK;
  }
  if (words.count != 1) {
    wrong_usage(&err, "run: expected one scene file; sinew run --help says more");
    return report_error(&err);
  }
  const char* path = words.items[0];
  if (!o.folder) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int stem = dot && (!slash || dot > slash + 1) ? (int)(dot - path) : (int)strlen(path);
    snprintf(folder, sizeof folder, "%.*s.out", stem, path);
    o.folder = folder;
  }
  listen_to_log(o.quiet);
  signal(SIGINT, ask_to_stop);
  signal(SIGTERM, ask_to_stop);
  simulation sim = {0};
  sn_status status = prepare(&o, path, &sim, &err);
  if (status == SN_OK) status = simulate(&o, &sim, &err);
  return finish(&o, path, &sim, status, &err);
}
