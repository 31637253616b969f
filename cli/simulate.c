#include "simulate.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "messages.h"
#include "progress.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

// Set by Ctrl-C and by a farm's SIGTERM; the frame is finished first. A second one ends at once.
static volatile sig_atomic_t stop_asked;

static void ask_to_stop(int signal_number) {
  (void)signal_number;
  stop_asked = 1;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

typedef struct simulation {
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
  sn_run* run;
  progress progress;
} simulation;

sn_status wrong_usage(sn_error* err, const char* text) {
  err->status = SN_ERR_USAGE;
  snprintf(err->text, sizeof err->text, "%s", text);
  return SN_ERR_USAGE;
}

// The scene with the changes of the command line; --frames is one of them, so that the resolved
// scene.json of the run has them too.
static sn_status load_scene(const simulate_options* o, const char* path, sn_scene** scene,
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

static sn_status choose_frames(const simulate_options* o, const sn_scene* scene, sn_run_opts* opts,
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
static sn_status prepare(const simulate_options* o, const char* path, simulation* sim,
                         sn_error* err) {
  sn_run_opts opts;
  sn_status status = progress_start(o->progress, o->quiet, &sim->progress, err);
  if (status == SN_OK) status = load_scene(o, path, &sim->scene, err);
  if (status == SN_OK) status = choose_frames(o, sim->scene, &opts, err);
  if (status == SN_OK) {
    progress_frames(&sim->progress, opts.first_frame, opts.last_frame);
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
  if (status == SN_OK) messages_keep_in(sim->run);
  return status;
}

static sn_status interrupted(int frame, int first_frame, sn_error* err) {
  err->status = SN_ERR_INTERRUPTED;
  if (frame > first_frame) {
    snprintf(err->text, sizeof err->text, "interrupted after frame %d", frame - 1);
  } else {
    snprintf(err->text, sizeof err->text, "interrupted before the first frame");
  }
  return SN_ERR_INTERRUPTED;
}

// All frames that are left. SN_ERR_INTERRUPTED after Ctrl-C, SN_ERR_TOLERANCE under --strict.
static sn_status solve_frames(const simulate_options* o, simulation* sim, sn_error* err) {
  for (int frame = sn_run_next_frame(sim->run); frame <= sim->progress.last; ++frame) {
    sn_frame_stats stats;
    if (stop_asked) return interrupted(frame, sim->progress.first, err);
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
  }
  return SN_OK;
}

// How many files an export has written, and which was the last.
typedef struct exported {
  int count;
  char last[SIMULATE_PATH_SIZE];
} exported;

static void note_file(void* user, const char* path) {
  exported* files = user;
  files->count++;
  snprintf(files->last, sizeof files->last, "%s", path);
}

// The other formats that the scene asks for, once all frames are there. The caches are PC2 already.
static sn_status export_formats(const simulate_options* o, const simulation* sim, sn_error* err) {
  for (int k = SN_FORMAT_PC2 + 1; k < SN_FORMAT_COUNT; ++k) {
    if (!(sim->scene->output.formats & 1u << k)) continue;
    exported files = {0};
    sn_export_opts opts = {.folder = o->folder,
                           .format = sn_export_format(k, NULL),
                           .written = note_file,
                           .user = &files};
    sn_status status = sn_export(&opts, err);
    if (status != SN_OK) return status;
    if (o->quiet) continue;
    if (files.count > 1) fprintf(stderr, "%d files, the last of them ", files.count);
    fprintf(stderr, "%s\n", files.last);
  }
  return SN_OK;
}

static void destroy(simulation* sim) {
  messages_keep_in(NULL);
  sn_run_close(sim->run);
  sn_state_destroy(sim->state);
  sn_model_destroy(sim->model);
  sn_pool_destroy(sim->pool);
  sn_scene_destroy(sim->scene);
}

static void print_result(const simulate_options* o) {
  char path[4096], line[1024];
  snprintf(path, sizeof path, "%s/result.json", o->folder);
  FILE* file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) fputs(line, stdout);
  if (file) {
    fputc('\n', stdout);
    fclose(file);
  }
}

// Checkpoint and result, as far as they can be written. A run that did not end well keeps its own
// error; what else went wrong is said beside it.
static void leave_folder(simulation* sim, sn_error* err) {
  sn_error later = {0};
  bool resumable = err->status == SN_ERR_INTERRUPTED || err->status == SN_ERR_TOLERANCE;
  if (resumable && sn_run_next_frame(sim->run) > sim->progress.first) {
    sn_run_checkpoint(sim->run, sim->model, sim->state, &later);
  }
  sn_run_finish(sim->run, err->status, err->status == SN_OK ? NULL : err->text, &later);
  if (later.status == SN_OK) return;
  if (err->status == SN_OK) {
    *err = later;
  } else {
    report_error(&later);
  }
}

static int finish(const simulate_options* o, const char* path, simulation* sim, sn_error* err) {
  if (sim->run) leave_folder(sim, err);
  progress_end(&sim->progress, err);
  if (o->json && sim->run) print_result(o);
  destroy(sim);
  if (err->status == SN_OK) {
    if (!o->quiet) fprintf(stderr, "done: %s\n", o->folder);
    return SN_OK;
  }
  report_error(err);
  if (err->status == SN_ERR_INTERRUPTED) {
    fprintf(stderr, "sinew: go on with: sinew run %s -o %s --resume\n", path, o->folder);
  }
  return (int)err->status;
}

void simulate_keep_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

// A reader of the progress that goes away, and a limit on the size of files, are errors of a write
// and no reason to die without a word.
void simulate_listen(bool quiet) {
  messages_listen(quiet);
  signal(SIGINT, ask_to_stop);
  signal(SIGTERM, ask_to_stop);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

int simulate_scene(const simulate_options* o, const char* path) {
  sn_error err = {0};
  simulation sim = {0};
  simulate_keep_memory();
  sn_status status = prepare(o, path, &sim, &err);
  if (status == SN_OK) status = solve_frames(o, &sim, &err);
  if (status == SN_OK) {
    progress_break(&sim.progress);
    status = export_formats(o, &sim, &err);
  }
  err.status = status;
  return finish(o, path, &sim, &err);
}

int simulate_refused(const simulate_options* o, const sn_error* err) {
  progress p;
  sn_error unknown_kind = {0};
  if (progress_start(o->progress, o->quiet, &p, &unknown_kind) == SN_OK) progress_end(&p, err);
  return report_error(err);
}

void replace_ending(const char* path, const char* ending, char* text) {
  const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
  int stem = dot && (!slash || dot > slash + 1) ? (int)(dot - path) : (int)strlen(path);
  snprintf(text, SIMULATE_PATH_SIZE, "%.*s%s", stem, path, ending);
}
