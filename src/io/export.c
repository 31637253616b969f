#include "io/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "io/file.h"
#include "io/scene_json.h"

// The formats: a row each.
static const sn_export_row formats[] = {
    [SN_FORMAT_PC2] = {"pc2", "point cache; the run's own are PC2 already", sn_export_pc2,
                       .files = SN_EXPORT_A_BODY},
    [SN_FORMAT_MDD] = {"mdd", "point cache of LightWave", sn_export_mdd, .files = SN_EXPORT_A_BODY},
    [SN_FORMAT_OBJ] = {"obj", "an OBJ file a frame", sn_export_obj, .files = SN_EXPORT_A_FRAME,
                       .needs_mesh = true},
    [SN_FORMAT_PLY] = {"ply", "a binary PLY file a frame", sn_export_ply,
                       .files = SN_EXPORT_A_FRAME, .needs_mesh = true},
    [SN_FORMAT_GLB] = {"glb", "glTF 2.0 with a morph target a frame; metres, y up", sn_export_glb,
                       .files = SN_EXPORT_ONE, .needs_mesh = true, .is_metric = true,
                       .axes = SN_AXES_Y_UP},
    [SN_FORMAT_USDA] = {"usda", "USD as text, points with a sample a frame", sn_export_usda,
                        .files = SN_EXPORT_ONE, .needs_mesh = true, .refuses_x_up = true},
    [SN_FORMAT_VTU] = {"vtu", "the cells and their fields for ParaView, a file a frame and a PVD",
                       sn_export_vtu, .files = SN_EXPORT_A_FRAME},
};
#define FORMAT_COUNT (sizeof formats / sizeof *formats)
_Static_assert(FORMAT_COUNT == SN_FORMAT_COUNT, "a row for each format");

const char* sn_export_format(int index, const char** about) {
  if (index < 0 || (size_t)index >= FORMAT_COUNT) return NULL;
  if (about) *about = formats[index].about;
  return formats[index].name;
}

static sn_status find_format(const char* name, const sn_export_row** format, sn_error* err) {
  sn_names names = SN_NAMES(formats, FORMAT_COUNT);
  ptrdiff_t found = name ? sn_name_find(names, name) : -1;
  if (found >= 0) {
    *format = &formats[found];
    return SN_OK;
  }
  char list[256] = "";
  for (size_t i = 0, at = 0; i < FORMAT_COUNT; ++i) {
    at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", formats[i].name);
  }
  const char* nearest = name ? sn_name_nearest(names, name) : NULL;
  return sn_fail(err, SN_ERR_USAGE, "format: found \"%.60s\", expected one of %s%s%s%s",
                 name ? name : "", list, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                 nearest ? "\"?" : "");
}

// Axes and units

// What turns a body with one axis up so that another is; rows of 0 and +-1.
static sn_mat3 turn_up(sn_up from, sn_up to) {
  sn_mat3 turn = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  if (from == SN_UP_Y && to == SN_UP_Z) turn = (sn_mat3){{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}};
  if (from == SN_UP_Z && to == SN_UP_Y) turn = (sn_mat3){{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};
  if (from == SN_UP_X && to == SN_UP_Y) turn = (sn_mat3){{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}}};
  if (from == SN_UP_X && to == SN_UP_Z) turn = (sn_mat3){{{0, 0, -1}, {0, 1, 0}, {1, 0, 0}}};
  return turn;
}

static void choose_space(sn_export_job* job, const sn_export_scene* scene) {
  const sn_export_row* format = job->format;
  sn_export_axes axes = job->opts->axes ? job->opts->axes : format->axes;
  job->up = scene->up;
  if (format->refuses_x_up && scene->up == SN_UP_X) job->up = SN_UP_Y;
  if (axes) job->up = axes == SN_AXES_Y_UP ? SN_UP_Y : SN_UP_Z;
  double scale = job->opts->scale > 0.0 ? job->opts->scale : 1.0;
  if (format->is_metric) scale *= scene->unit;
  job->unit = scene->unit / scale;
  job->turn = turn_up(scene->up, job->up);
  job->turns = scale != 1.0 || job->up != scene->up;
  for (int i = 0; i < 9; ++i) job->turn.m[i / 3][i % 3] *= scale;
}

sn_status sn_export_read(const sn_export_job* job, const sn_export_body* body, uint32_t frame,
                         float* positions, sn_error* err) {
  int number = job->first_frame + (int)frame;
  if (job->opts->progress) {
    int last = job->first_frame + (int)job->frame_count - 1;
    job->opts->progress(job->opts->user, body->name, number, last);
  }
  SN_TRY(sn_pc2_read_frame(body->cache, (uint32_t)(number - body->first_frame), positions, err));
  for (size_t v = 0; v < body->mesh.vertex_count && job->turns; ++v) {
    float* p = positions + 3 * v;
    const double x = (double)p[0], y = (double)p[1], z = (double)p[2];
    for (int i = 0; i < 3; ++i) {
      const double* row = job->turn.m[i];
      p[i] = (float)(row[0] * x + row[1] * y + row[2] * z);
      SN_CHECK(isfinite(p[i]), err, SN_ERR_USAGE,
               "frame %d: with this scale a coordinate is beyond what a file can hold; expected a "
               "smaller scale",
               number);
    }
  }
  return SN_OK;
}

// Paths

static bool has_ending(const char* path, const char* ending) {
  size_t length = strlen(path), size = strlen(ending);
  return length > size + 1 && path[length - size - 1] == '.' &&
         strcasecmp(path + length - size, ending) == 0 && path[length - size - 2] != '/';
}

// The name without folder and ending; a frame follows where there is one a file.
static sn_status build_path(const sn_export_job* job, const sn_export_body* body, int frame,
                            char path[SN_EXPORT_PATH], sn_error* err) {
  const char *out = job->opts->out, *ending = job->format->name, *slash = "/";
  const char* folder = out ? out : job->opts->folder;
  const char* below = !out && job->format->files == SN_EXPORT_A_FRAME ? ending : "";
  const char* name = body ? body->name : job->body_count == 1 ? job->bodies[0].name : "scene";
  char number[16] = "";
  if (job->format->files == SN_EXPORT_A_FRAME) snprintf(number, sizeof number, "_%04d", frame);
  size_t stem = strlen(folder);
  if (out && has_ending(out, ending)) {
    SN_CHECK(job->body_count == 1 || job->format->files == SN_EXPORT_ONE, err, SN_ERR_USAGE,
             "%s: one file for %u bodies; expected a folder, or one body chosen by its name", out,
             job->body_count);
    stem -= strlen(ending) + 1;
    name = slash = below = "";
  }
  int length = snprintf(path, SN_EXPORT_PATH, "%.*s%s%s%s%s%s.%s", (int)stem, folder,
                        below[0] ? "/" : "", below, slash, name, number, ending);
  SN_CHECK(length < SN_EXPORT_PATH, err, SN_ERR_USAGE, "%.200s...: the path is too long", folder);
  return SN_OK;
}

static sn_status make_folder_of(const char* path, sn_error* err) {
  char folder[SN_EXPORT_PATH];
  const char* slash = strrchr(path, '/');
  if (!slash || slash == path) return SN_OK;
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  return sn_folder_create(folder, err);
}

static bool is_file(const struct stat* info, const char* path) {
  char file[SN_EXPORT_PATH];
  struct stat other;
  if (stat(path, &other) != 0) {  // perhaps with the part of a file behind it
    snprintf(file, sizeof file, "%.*s", (int)strcspn(path, "#"), path);
    if (stat(file, &other) != 0) return false;
  }
  return info->st_dev == other.st_dev && info->st_ino == other.st_ino;
}

// A result must not take the place of what it was made from.
static sn_status refuse_sources(const sn_export_job* job, const char* path, sn_error* err) {
  struct stat info;
  if (stat(path, &info) != 0) return SN_OK;
  for (uint32_t b = 0; b < job->body_count; ++b) {
    const sn_export_body* body = &job->bodies[b];
    SN_CHECK(!is_file(&info, body->cache), err, SN_ERR_USAGE,
             "%s: is the run's own cache, which is PC2 already; expected another place to write to",
             path);
    SN_CHECK(!is_file(&info, body->rest) && !is_file(&info, body->surface), err, SN_ERR_USAGE,
             "%s: is the surface of body \"%s\"; expected another place to write to", path,
             body->name);
  }
  return SN_OK;
}

sn_status sn_export_path(const sn_export_job* job, const sn_export_body* body, int frame,
                         char path[SN_EXPORT_PATH], sn_error* err) {
  SN_TRY(build_path(job, body, frame, path, err));
  SN_TRY(make_folder_of(path, err));
  return refuse_sources(job, path, err);
}

sn_status sn_export_each_body(const sn_export_job* job, sn_export_body_fn write, sn_error* err) {
  for (uint32_t b = 0; b < job->body_count; ++b) {
    char path[SN_EXPORT_PATH];
    sn_writer w;
    SN_TRY(sn_export_path(job, &job->bodies[b], 0, path, err));
    sn_writer_open(&w, path, err);
    SN_TRY(sn_writer_close(&w, write(job, &job->bodies[b], &w, err)));
    sn_export_tell(job, path);
  }
  return SN_OK;
}

void sn_export_tell(const sn_export_job* job, const char* path) {
  if (job->opts->written) job->opts->written(job->opts->user, path);
}

// The whole

static sn_status check_options(const sn_export_opts* opts, sn_error* err) {
  SN_CHECK(opts->folder && opts->folder[0], err, SN_ERR_USAGE,
           "no folder is named; expected that of a run");
  SN_CHECK(opts->scale == 0.0 || (opts->scale >= 1e-9 && opts->scale <= 1e9), err, SN_ERR_USAGE,
           "scale: found %g, expected 1e-9 to 1e9", opts->scale);
  SN_CHECK(opts->fps == 0.0 || (opts->fps >= 1e-6 && opts->fps <= 1e6), err, SN_ERR_USAGE,
           "fps: found %g, expected 1e-6 to 1e6", opts->fps);
  return SN_OK;
}

static sn_status export_run(sn_export_job* job, sn_error* err) {
  sn_export_scene scene = {0};
  SN_TRY(sn_export_open_run(job, &scene, err));
  job->fps = job->opts->fps > 0.0 ? job->opts->fps : scene.fps;
  choose_space(job, &scene);
  uint32_t most = 0;
  for (uint32_t b = 0; b < job->body_count; ++b) {
    if (job->bodies[b].mesh.vertex_count > most) most = job->bodies[b].mesh.vertex_count;
  }
  SN_TRY(SN_ARENA_RAW(job->arena, 3 * (size_t)most, &job->positions, err));
  return job->format->write(job, err);
}

sn_status sn_export(const sn_export_opts* opts, sn_error* err) {
  sn_export_job job = {.opts = opts};
  SN_TRY(check_options(opts, err));
  SN_TRY(find_format(opts->format, &job.format, err));
  SN_TRY(sn_arena_create(&job.arena, err));
  sn_status status = export_run(&job, err);
  for (uint32_t b = 0; b < job.body_count; ++b) sn_mesh_destroy(&job.bodies[b].mesh);
  sn_arena_destroy(job.arena);
  return status;
}
