// The folder of a run, seen by an export: which bodies, which frames, and what their surfaces look like.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/export.h"
#include "io/file.h"
#include "io/scene_character.h"
#include "io/scene_mesh.h"
#include "io/scene_names.h"

// The scene

static sn_status read_document(const sn_export_job* job, json_t** document, sn_error* err) {
  const char* folder = job->opts->folder;
  struct stat info;
  SN_CHECK(stat(folder, &info) == 0 && S_ISDIR(info.st_mode), err, SN_ERR_INPUT,
           "%s: there is no such folder; expected one that sinew run has written", folder);
  char path[SN_EXPORT_PATH];
  int length = snprintf(path, sizeof path, "%s/scene.json", folder);
  SN_CHECK(length < SN_EXPORT_PATH, err, SN_ERR_INPUT, "%.200s...: the path is too long", folder);
  SN_CHECK(stat(path, &info) == 0, err, SN_ERR_INPUT,
           "%s: is not there; expected the scene of a run, as sinew run leaves it in its folder",
           path);
  char* bytes;
  size_t size;
  SN_TRY(sn_file_read(path, job->arena, &bytes, &size, err));
  return sn_json_parse(path, bytes, size, document, err);
}

// The file is ours, but may have been edited; what is wrong here would be wrong for `sinew run` as well.
static sn_status fail_scene(const sn_export_job* job, const char* what, sn_error* err) {
  return sn_fail(err, SN_ERR_INPUT,
                 "%s/scene.json: %s; expected the file as sinew run has written it",
                 job->opts->folder, what);
}

static sn_status read_number(const sn_export_job* job, const json_t* document, const char* key,
                             double* number, sn_error* err) {
  *number = json_number_value(json_object_get(document, key));
  if (*number >= 1e-9 && *number <= 1e9) return SN_OK;
  return fail_scene(job, strcmp(key, "fps") == 0 ? "no usable \"fps\"" : "no usable \"unit\"", err);
}

static sn_status read_scene(const sn_export_job* job, const json_t* document,
                            sn_export_scene* scene, sn_error* err) {
  static const char* const ups[] = {[SN_UP_X] = "x", [SN_UP_Y] = "y", [SN_UP_Z] = "z"};
  SN_TRY(read_number(job, document, "unit", &scene->unit, err));
  SN_TRY(read_number(job, document, "fps", &scene->fps, err));
  const char* up = json_string_value(json_object_get(document, "up"));
  bool found = false;
  for (int k = SN_UP_X; k <= SN_UP_Z && up; ++k) {
    if (strcmp(up, ups[k]) != 0) continue;
    scene->up = (sn_up)k;
    found = true;
  }
  if (!found) return fail_scene(job, "no usable \"up\"", err);
  const json_t* last = json_array_get(json_object_get(document, "frames"), 1);
  json_int_t frame = json_integer_value(last);
  if (frame < 1 || frame > INT32_MAX) return fail_scene(job, "no usable \"frames\"", err);
  scene->last_frame = (int)frame;
  return SN_OK;
}

// Bodies

static sn_status join(const sn_export_job* job, const char* name, const char* ending, char** path,
                      sn_error* err) {
  size_t size = strlen(job->opts->folder) + strlen(name) + strlen(ending) + 2;
  SN_TRY(SN_ARENA_NEW(job->arena, size, path, err));
  snprintf(*path, size, "%s/%s%s", job->opts->folder, name, ending);
  return SN_OK;
}

static sn_status name_body(const sn_export_job* job, const json_t* entry, sn_export_body* body,
                           sn_error* err) {
  const char* name = json_string_value(json_object_get(entry, "name"));
  const char* surface = json_string_value(json_object_get(entry, "surface"));
  if (!name || !surface || !sn_usable_as_file_name(name)) {
    return fail_scene(job, "a body without a usable name or surface", err);
  }
  body->name = sn_arena_copy_string(job->arena, name);
  body->surface = sn_arena_copy_string(job->arena, surface);
  if (!body->name || !body->surface) return sn_fail_memory(err, strlen(name) + strlen(surface));
  SN_TRY(join(job, name, ".pc2", &body->cache, err));
  return join(job, name, ".obj", &body->rest, err);
}

static sn_status pick_body(sn_export_job* job, sn_error* err) {
  const char* wanted = job->opts->body;
  if (!wanted) return SN_OK;
  sn_names names = SN_NAMES(job->bodies, job->body_count);
  ptrdiff_t found = sn_name_find(names, wanted);
  if (found < 0) {
    const char* nearest = sn_name_nearest(names, wanted);
    return sn_fail(err, SN_ERR_USAGE,
                   "the run has no body \"%.100s\"; expected one of its %u, such as \"%s\"", wanted,
                   job->body_count, nearest ? nearest : job->bodies[0].name);
  }
  job->bodies += found;
  job->body_count = 1;
  return SN_OK;
}

static sn_status open_cache(sn_export_body* body, sn_error* err) {
  struct stat info;
  SN_CHECK(stat(body->cache, &info) == 0, err, SN_ERR_INPUT,
           "%s: is not there; expected the cache of body \"%s\", as sinew run leaves it",
           body->cache, body->name);
  sn_pc2_info cache;
  SN_TRY(sn_pc2_read_info(body->cache, &cache, err));
  SN_CHECK(cache.first_frame >= 1.0f && cache.first_frame <= 1e7f &&
               cache.first_frame == floorf(cache.first_frame),
           err, SN_ERR_INPUT, "%s: begins at frame %g; expected a whole number from 1 up",
           body->cache, (double)cache.first_frame);
  body->first_frame = (int)cache.first_frame;
  body->frame_count = cache.frame_count;
  body->mesh.vertex_count = cache.vertex_count;
  return SN_OK;
}

static sn_status find_bodies(sn_export_job* job, const json_t* document, sn_error* err) {
  const json_t* list = json_object_get(document, "bodies");
  size_t count = json_array_size(list);
  if (count == 0 || count > 100000) return fail_scene(job, "no usable list of bodies", err);
  SN_TRY(SN_ARENA_NEW(job->arena, count, &job->bodies, err));
  job->body_count = (uint32_t)count;
  for (size_t b = 0; b < count; ++b) {
    SN_TRY(name_body(job, json_array_get(list, b), &job->bodies[b], err));
  }
  SN_TRY(pick_body(job, err));
  for (uint32_t b = 0; b < job->body_count; ++b) SN_TRY(open_cache(&job->bodies[b], err));
  return SN_OK;
}

// Frames

// Of a run that is going on, or was killed, one cache may be a frame ahead of the others.
static sn_status choose_frames(sn_export_job* job, const sn_export_scene* scene, sn_error* err) {
  const sn_export_opts* opts = job->opts;
  const sn_export_body* first = &job->bodies[0];
  uint32_t count = first->frame_count;
  for (uint32_t b = 1; b < job->body_count; ++b) {
    const sn_export_body* body = &job->bodies[b];
    SN_CHECK(body->first_frame == first->first_frame, err, SN_ERR_INPUT,
             "%s: begins at frame %d; expected frame %d, as %s", body->cache, body->first_frame,
             first->first_frame, first->cache);
    if (body->frame_count < count) count = body->frame_count;
  }
  SN_CHECK(count > 0, err, SN_ERR_INPUT,
           "%s: has no frame yet; expected one or more: wait for the run, or start it",
           first->cache);
  int64_t last = (int64_t)first->first_frame + count - 1;
  job->first_frame = first->first_frame;
  job->frame_count = count;
  if (opts->first_frame || opts->last_frame) {
    SN_CHECK(opts->first_frame >= first->first_frame && opts->last_frame >= opts->first_frame &&
                 opts->last_frame <= last,
             err, SN_ERR_USAGE,
             "frames %d to %d are asked for; expected some of %d to %lld, which are there",
             opts->first_frame, opts->last_frame, first->first_frame, (long long)last);
    job->first_frame = opts->first_frame;
    job->frame_count = (uint32_t)(opts->last_frame - opts->first_frame) + 1;
  } else if (last < scene->last_frame) {
    sn_log(SN_LOG_WARNING, "%s: the run is not finished: frames %d to %lld of %d are exported",
           opts->folder, first->first_frame, (long long)last, scene->last_frame);
  }
  return SN_OK;
}

// Surfaces

// As the scene reader takes it, so that vertices are in the order of the cache.
static sn_status read_original(const sn_export_job* job, json_t* entry, const sn_export_body* body,
                               sn_mesh* mesh, sn_error* err) {
  sn_scene scene = {.unit = 1.0, .storage = job->arena};
  sn_reader r = {.file = job->opts->folder, .folder = "/", .scene = &scene, .err = err};
  char* path = body->surface;
  sn_status status = sn_read_mesh(&r, NULL, entry, "surface", &path, mesh);
  sn_close_characters(&r);
  SN_TRY(status);
  SN_CHECK(mesh->vertex_count == body->mesh.vertex_count, err, SN_ERR_INPUT,
           "%s: has %u vertices now, the cache %u", body->surface, mesh->vertex_count,
           body->mesh.vertex_count);
  return SN_OK;
}

static sn_status read_rest(const sn_export_body* body, sn_mesh* mesh, sn_error* err) {
  SN_TRY(sn_mesh_load(body->rest, mesh, err));
  SN_CHECK(mesh->vertex_count == body->mesh.vertex_count, err, SN_ERR_INPUT,
           "%s: has %u vertices; expected %u, as %s", body->rest, mesh->vertex_count,
           body->mesh.vertex_count, body->cache);
  return SN_OK;
}

static sn_status read_surface(const sn_export_job* job, json_t* entry, sn_export_body* body,
                              sn_error* err) {
  sn_mesh mesh = {0};
  sn_error cause = {0};
  sn_status status = read_original(job, entry, body, &mesh, &cause);
  if (status == SN_OK) {
    sn_log(SN_LOG_INFO, "body \"%s\": polygons and names from %s", body->name, body->surface);
  } else {
    sn_mesh_destroy(&mesh);
    if (status == SN_ERR_MEMORY) {
      if (err) *err = cause;
      return status;
    }
    sn_log(SN_LOG_WARNING, "body \"%s\": %s; polygons and names from %s instead", body->name,
           cause.text, body->rest);
    status = read_rest(body, &mesh, err);
  }
  if (status != SN_OK) {
    sn_mesh_destroy(&mesh);
    return status;
  }
  body->mesh = mesh;
  return SN_OK;
}

static json_t* entry_of(const json_t* document, const char* name) {
  size_t index;
  json_t* entry;
  json_array_foreach(json_object_get(document, "bodies"), index, entry) {
    const char* other = json_string_value(json_object_get(entry, "name"));
    if (other && strcmp(other, name) == 0) return entry;
  }
  return NULL;
}

static sn_status read_run(sn_export_job* job, json_t* document, sn_export_scene* scene,
                          sn_error* err) {
  SN_TRY(read_scene(job, document, scene, err));
  SN_TRY(find_bodies(job, document, err));
  SN_TRY(choose_frames(job, scene, err));
  for (uint32_t b = 0; b < job->body_count && job->format->needs_mesh; ++b) {
    sn_export_body* body = &job->bodies[b];
    SN_TRY(read_surface(job, entry_of(document, body->name), body, err));
  }
  return SN_OK;
}

sn_status sn_export_open_run(sn_export_job* job, sn_export_scene* scene, sn_error* err) {
  json_t* document = NULL;
  SN_TRY(read_document(job, &document, err));
  sn_status status = read_run(job, document, scene, err);
  json_decref(document);
  return status;
}
