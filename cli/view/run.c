#include "run.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENE_MOST ((size_t)64 << 20)
#define BODIES_MOST 10000
#define FRAME_MOST 10000000
#define PC2_HEAD 32

static sn_status fail(sn_error* err, sn_status status, const char* place, const char* what) {
  err->status = status;
  snprintf(err->text, sizeof err->text, "%.500s: %s", place, what);
  return status;
}

static sn_status no_memory(sn_error* err) {
  return fail(err, SN_ERR_MEMORY, "view", "out of memory");
}

// The scene's text

static sn_status fail_scene(const view_run* run, const char* what, sn_error* err) {
  char place[sizeof run->folder.path + 16];
  snprintf(place, sizeof place, "%s/scene.json", run->folder.path);
  return fail(err, SN_ERR_INPUT, place, what);
}

static file_stamp make_stamp(const struct stat* info) {
  return (file_stamp){(uint64_t)info->st_dev, (uint64_t)info->st_ino, (int64_t)info->st_size,
                      (int64_t)info->st_mtim.tv_sec, (int64_t)info->st_mtim.tv_nsec};
}

static sn_status read_scene_text(view_run* run, sn_error* err) {
  struct stat info;
  int file = folder_file(&run->folder, "scene.json", "", &info);
  if (file < 0) {
    return fail_scene(run,
                      "is not there, or is no plain file; expected the folder of a run, as sinew "
                      "run leaves it",
                      err);
  }
  close(file);
  run->stamp = make_stamp(&info);
  run->scene_text = folder_text(&run->folder, "scene.json", SCENE_MOST, &run->scene_size);
  if (run->scene_text) return SN_OK;
  return fail(err, SN_ERR_IO, run->folder.path, "scene.json cannot be read");
}

// The name of a body becomes that of its files; anything that could lead elsewhere is refused.
static bool is_file_name(const char* name) {
  if (!name || !*name || name[0] == '.' || strlen(name) > 200) return false;
  for (; *name; ++name) {
    if (*name == '/' || *name == '\\' || (unsigned char)*name < 0x20) return false;
  }
  return true;
}

static sn_status read_bodies(view_run* run, const json_t* document, sn_error* err) {
  const json_t* list = json_object_get(document, "bodies");
  size_t count = json_array_size(list);
  if (count == 0 || count > BODIES_MOST) return fail_scene(run, "no usable list of bodies", err);
  run->bodies = calloc(count, sizeof *run->bodies);
  if (!run->bodies) return no_memory(err);
  run->body_count = (uint32_t)count;
  for (size_t b = 0; b < count; ++b) {
    records_create(&run->bodies[b].records);
    pthread_mutex_init(&run->bodies[b].pose_lock, NULL);
  }
  for (size_t b = 0; b < count; ++b) {
    const char* name = json_string_value(json_object_get(json_array_get(list, b), "name"));
    if (!is_file_name(name)) return fail_scene(run, "a body without a usable name", err);
    run->bodies[b].name = strdup(name);
    if (!run->bodies[b].name) return no_memory(err);
  }
  return SN_OK;
}

static sn_status read_document(view_run* run, const json_t* document, sn_error* err) {
  const json_t* frames = json_object_get(document, "frames");
  json_int_t first = json_integer_value(json_array_get(frames, 0));
  json_int_t last = json_integer_value(json_array_get(frames, 1));
  const char* up = json_string_value(json_object_get(document, "up"));
  run->unit = json_number_value(json_object_get(document, "unit"));
  run->fps = json_number_value(json_object_get(document, "fps"));
  if (!(run->unit >= 1e-9 && run->unit <= 1e9)) return fail_scene(run, "no usable \"unit\"", err);
  if (!(run->fps >= 1e-9 && run->fps <= 1e9)) return fail_scene(run, "no usable \"fps\"", err);
  if (!up || strlen(up) != 1 || !strchr("xyz", up[0])) {
    return fail_scene(run, "no usable \"up\"", err);
  }
  if (first < 1 || last < first || last > FRAME_MOST) {
    return fail_scene(run, "no usable \"frames\"", err);
  }
  run->up = up[0];
  run->first_frame = (int)first;
  run->last_frame = (int)last;
  return read_bodies(run, document, err);
}

static sn_status parse_scene_text(view_run* run, sn_error* err) {
  json_error_t where;
  json_t* document = json_loadb(run->scene_text, run->scene_size, 0, &where);
  if (!document) {
    char what[256];
    snprintf(what, sizeof what, "line %d: %.160s; expected the file as sinew run has written it",
             where.line, where.text);
    return fail_scene(run, what, err);
  }
  sn_status status = read_document(run, document, err);
  json_decref(document);
  return status;
}

// Surfaces

static sn_status take_surface(const sn_mesh* mesh, view_body* body, sn_error* err) {
  size_t places = 3 * (size_t)mesh->vertex_count, corners = 3 * (size_t)mesh->triangle_count;
  body->surface = shared_create(8 + 4 * (places + corners));
  if (!body->surface) return no_memory(err);
  uint32_t* counts = (uint32_t*)(void*)body->surface->bytes;
  float* rest = (float*)(void*)(counts + 2);
  uint32_t* triangles = (uint32_t*)(void*)(rest + places);
  body->vertex_count = counts[0] = mesh->vertex_count;
  body->triangle_count = counts[1] = mesh->triangle_count;
  for (size_t i = 0; i < places; ++i) rest[i] = (float)mesh->positions[i];
  memcpy(triangles, mesh->triangles, corners * sizeof *triangles);
  body->rest = rest;
  body->triangles = triangles;
  return SN_OK;
}

// The surface that the run itself left is the one that belongs to its cache.
static sn_status load_surface(view_run* run, view_body* body, sn_error* err) {
  char path[sizeof run->folder.path + 256];
  sn_mesh mesh = {0};
  int file = folder_file(&run->folder, body->name, ".obj", NULL);
  snprintf(path, sizeof path, "%s/%s.obj", run->folder.path, body->name);
  if (file < 0) {
    return fail(err, SN_ERR_INPUT, path,
                "is not there, or is no plain file; expected the surface of a body, as sinew run "
                "leaves it");
  }
  close(file);
  sn_status status = sn_mesh_load(path, &mesh, err);
  if (status == SN_OK) status = take_surface(&mesh, body, err);
  sn_mesh_destroy(&mesh);
  return status;
}

// The scene itself

sn_status run_read_pose(view_body* body, double frame, float* places, sn_error* err) {
  pthread_mutex_lock(&body->pose_lock);
  sn_status status = sn_pose_read(body->pose, frame, places, err);
  pthread_mutex_unlock(&body->pose_lock);
  return status;
}

// A body's places in the first, the middle and the last frame that are wanted.
static sn_status grow_by_pose(const view_run* run, view_body* body, sn_box* box, sn_error* err) {
  float* places = malloc(12 * (size_t)body->vertex_count + 1);
  sn_status status = places ? SN_OK : no_memory(err);
  int frames = run->last_frame - run->first_frame;
  for (int k = 0; k < 3 && status == SN_OK; ++k) {
    status = run_read_pose(body, run->first_frame + k * 0.5 * frames, places, err);
    for (size_t v = 0; status == SN_OK && v < body->vertex_count; ++v) {
      const float* p = places + 3 * v;
      shapes_grow(box, (double[3]){(double)p[0], (double)p[1], (double)p[2]}, 1);
    }
  }
  free(places);
  return status;
}

static sn_status find_extent(const view_run* run, sn_box* box, sn_error* err) {
  *box = (sn_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (uint32_t b = 0; b < run->body_count; ++b) {
    const sn_mesh* mesh = &run->scene->bodies[b].mesh;
    shapes_grow(box, mesh->positions, mesh->vertex_count);
    if (!run->bodies[b].pose) continue;
    sn_status status = grow_by_pose(run, &run->bodies[b], box, err);
    if (status != SN_OK) return status;
  }
  if (!(box->lo.x <= box->hi.x)) *box = (sn_box){{-1, -1, -1}, {1, 1, 1}};
  return SN_OK;
}

static sn_status make_shapes(view_run* run, sn_error* err) {
  const sn_scene* scene = run->scene;
  sn_box extent;
  sn_status status = find_extent(run, &extent, err);
  if (status != SN_OK) return status;
  run->bones = calloc((size_t)scene->bone_count + 1, sizeof *run->bones);
  run->colliders = calloc((size_t)scene->collider_count + 1, sizeof *run->colliders);
  bool made = run->bones && run->colliders;
  for (uint32_t i = 0; i < scene->bone_count && made; ++i) {
    made = shape_from_bone(&scene->bones[i], &run->bones[i]);
  }
  for (uint32_t i = 0; i < scene->collider_count && made; ++i) {
    made = shape_from_collider(&scene->colliders[i], extent, &run->colliders[i]);
  }
  return made ? SN_OK : no_memory(err);
}

static bool list_muscles(view_run* run, uint32_t b) {
  const sn_scene* scene = run->scene;
  view_body* body = &run->bodies[b];
  body->muscles = calloc((size_t)scene->muscle_count + 1, sizeof *body->muscles);
  body->muscle_numbers = calloc((size_t)scene->muscle_count + 1, sizeof *body->muscle_numbers);
  bool made = body->muscles && body->muscle_numbers;
  for (uint32_t m = 0; m < scene->muscle_count && made; ++m) {
    if (scene->muscles[m].body != b) continue;
    body->muscle_numbers[body->muscle_count] = m;
    made = shape_from_mesh(&scene->muscles[m].mesh, &body->muscles[body->muscle_count]);
    body->muscle_count += made;
  }
  return made;
}

// The scene without what grows with its frames: poses are read when they are asked for, and what is tied
// to them is in BODY.ties.
static sn_status parse_scene(view_run* run, const sn_scene_source* source, sn_error* err) {
  size_t count = run->body_count + 1;
  char(*texts)[40] = calloc(count, sizeof *texts);
  sn_scene_change* changes = calloc(count, sizeof *changes);
  sn_status status = texts && changes ? SN_OK : no_memory(err);
  for (size_t b = 0; b < count && status == SN_OK; ++b) {
    snprintf(texts[b], sizeof *texts, "bodies.%zu.pose=null", b);
    if (b == run->body_count) snprintf(texts[b], sizeof *texts, "attachments=[]");
    changes[b].path_and_value = texts[b];
  }
  if (status == SN_OK) status = sn_scene_parse(source, changes, (int)count, &run->scene, err);
  free(changes);
  free(texts);
  return status;
}

static sn_status open_parts(view_run* run, const sn_scene_source* source, sn_error* err) {
  sn_status status = parse_scene(run, source, err);
  for (uint32_t b = 0; b < run->body_count && status == SN_OK; ++b) {
    view_body* body = &run->bodies[b];
    status = sn_pose_open(source, b, body->vertex_count, &body->pose, err);
  }
  if (status == SN_OK) status = make_shapes(run, err);
  for (uint32_t b = 0; b < run->body_count && status == SN_OK; ++b) {
    if (!list_muscles(run, b)) status = no_memory(err);
  }
  return status;
}

static void close_parts(view_run* run) {
  for (uint32_t b = 0; b < run->body_count; ++b) {
    view_body* body = &run->bodies[b];
    for (uint32_t m = 0; m < body->muscle_count; ++m) shape_free(&body->muscles[m]);
    free(body->muscles);
    free(body->muscle_numbers);
    sn_pose_close(body->pose);
    body->muscles = NULL;
    body->muscle_numbers = NULL;
    body->muscle_count = 0;
    body->pose = NULL;
  }
  for (uint32_t i = 0; run->scene && run->bones && i < run->scene->bone_count; ++i) {
    shape_free(&run->bones[i]);
  }
  for (uint32_t i = 0; run->scene && run->colliders && i < run->scene->collider_count; ++i) {
    shape_free(&run->colliders[i]);
  }
  free(run->bones);
  free(run->colliders);
  run->bones = run->colliders = NULL;
  sn_scene_destroy(run->scene);
  run->scene = NULL;
}

// Without the scene there are no bones, colliders and poses, but everything else. Its meshes may well be
// gone by now.
static sn_status load_scene(view_run* run, sn_error* err) {
  char name[sizeof run->folder.path + 16];
  sn_error why = {0};
  snprintf(name, sizeof name, "%s/scene.json", run->folder.path);
  sn_scene_source source = {
      .name = name, .json = run->scene_text, .length = run->scene_size, .folder = run->folder.path};
  sn_status status = open_parts(run, &source, &why);
  if (status == SN_OK) return SN_OK;
  close_parts(run);
  if (status == SN_ERR_MEMORY) {
    *err = why;
    return status;
  }
  snprintf(run->trouble, sizeof run->trouble,
           "%s; so bones, colliders, muscles and animated poses are not shown", why.text);
  return SN_OK;
}

static sn_status load(view_run* run, sn_error* err) {
  sn_status status = read_scene_text(run, err);
  if (status == SN_OK) status = parse_scene_text(run, err);
  for (uint32_t b = 0; b < run->body_count && status == SN_OK; ++b) {
    status = load_surface(run, &run->bodies[b], err);
  }
  if (status == SN_OK) status = load_scene(run, err);
  return status;
}

// Everything that load() made.
static void unload(view_run* run) {
  close_parts(run);
  for (uint32_t b = 0; b < run->body_count; ++b) {
    view_body* body = &run->bodies[b];
    shared_drop(body->surface);
    free(body->name);
    records_destroy(&body->records);
    pthread_mutex_destroy(&body->pose_lock);
  }
  free(run->bodies);
  free(run->scene_text);
  run->bodies = NULL;
  run->body_count = 0;
  run->scene_text = NULL;
  run->scene_size = 0;
  run->trouble[0] = 0;
}

static char* last_part(const char* path) {
  size_t end = strlen(path);
  while (end > 1 && path[end - 1] == '/') --end;
  size_t begin = end;
  while (begin > 0 && path[begin - 1] != '/') --begin;
  return strndup(path + begin, end - begin);
}

sn_status run_open(const char* path, view_run* run, sn_error* err) {
  *run = (view_run){0};
  pthread_rwlock_init(&run->lock, NULL);
  sn_status status = folder_open(path, &run->folder, err);
  if (status != SN_OK) return status;
  char* whole = realpath(path, NULL);
  run->name = last_part(whole ? whole : path);
  free(whole);
  return run->name ? load(run, err) : no_memory(err);
}

void run_close(view_run* run) {
  unload(run);
  free(run->name);
  folder_close(&run->folder);
  pthread_rwlock_destroy(&run->lock);
}

// Of scene.json as it is now; false: it is not there.
static bool read_stamp(const view_run* run, file_stamp* stamp) {
  struct stat info;
  int file = folder_file(&run->folder, "scene.json", "", &info);
  if (file < 0) return false;
  close(file);
  *stamp = make_stamp(&info);
  return true;
}

static bool is_current(view_run* run, const file_stamp* now) {
  pthread_rwlock_rdlock(&run->lock);
  bool same = memcmp(now, &run->stamp, sizeof *now) == 0;
  pthread_rwlock_unlock(&run->lock);
  return same;
}

void run_renew(view_run* run) {
  file_stamp now;
  sn_error err = {0};
  if (!read_stamp(run, &now) || is_current(run, &now)) return;
  pthread_rwlock_wrlock(&run->lock);
  if (memcmp(&now, &run->stamp, sizeof now) != 0) {
    unload(run);
    sn_status status = load(run, &err);
    run->stamp = now;
    if (status != SN_OK) {
      unload(run);
      snprintf(run->trouble, sizeof run->trouble, "%s", err.text);
      run->stamp = (file_stamp){0};  // try again next time
    }
  }
  pthread_rwlock_unlock(&run->lock);
}

// What is stored

static frame_span clip(const view_run* run, frame_span span) {
  if (!run->clip_first || span.count == 0) return span;
  int first = span.first, last = span.first + (int)span.count - 1;
  if (first < run->clip_first) first = run->clip_first;
  if (last > run->clip_last) last = run->clip_last;
  return (frame_span){first, last < first ? 0 : (uint32_t)(last - first + 1), span.origin};
}

// Frames that the header of a cache counts and the file has room for.
static frame_span read_cache(int file, const struct stat* info, uint32_t vertex_count) {
  unsigned char head[PC2_HEAD];
  int32_t version, vertices, frames;
  float first, step;
  uint64_t size = (uint64_t)info->st_size;
  if (size < sizeof head || !read_at(file, 0, head, sizeof head)) return (frame_span){0};
  memcpy(&version, head + 12, 4);
  memcpy(&vertices, head + 16, 4);
  memcpy(&first, head + 20, 4);
  memcpy(&step, head + 24, 4);
  memcpy(&frames, head + 28, 4);
  bool good = memcmp(head, "POINTCACHE2", 12) == 0 && version == 1 && vertices > 0 &&
              (uint32_t)vertices == vertex_count && frames > 0 && first >= 1.0f &&
              first <= (float)FRAME_MOST && first == floorf(first) && step == 1.0f;
  if (!good) return (frame_span){0};
  uint64_t room = (size - sizeof head) / (12 * (uint64_t)vertex_count);
  uint64_t count = (uint64_t)frames < room ? (uint64_t)frames : room;
  return (frame_span){(int)first, (uint32_t)(count < FRAME_MOST ? count : FRAME_MOST), (int)first};
}

frame_span run_stored(const view_run* run, uint32_t body, int* file) {
  struct stat info;
  int cache = folder_file(&run->folder, run->bodies[body].name, ".pc2", &info);
  frame_span span = {0};
  if (cache >= 0) span = clip(run, read_cache(cache, &info, run->bodies[body].vertex_count));
  if (file) {
    *file = cache;
  } else if (cache >= 0) {
    close(cache);
  }
  return span;
}

frame_span run_stored_by_all(const view_run* run) {
  frame_span all = {0};
  for (uint32_t b = 0; b < run->body_count; ++b) {
    frame_span one = run_stored(run, b, NULL);
    int64_t end = (int64_t)all.first + all.count, end_one = (int64_t)one.first + one.count;
    if (b == 0) {
      all = one;
    } else {
      if (end_one < end) end = end_one;
      if (one.first > all.first) all.first = one.first;
      all.count = end > all.first && one.count > 0 ? (uint32_t)(end - all.first) : 0;
    }
  }
  return all;
}

bool run_has_frame(const view_run* run, uint32_t frame) {
  if (frame >= (uint32_t)run->first_frame && frame <= (uint32_t)run->last_frame) return true;
  return span_has(run_stored_by_all(run), frame);
}

uint64_t cache_offset(frame_span span, uint32_t vertex_count, uint32_t frame) {
  return PC2_HEAD + 12 * (uint64_t)vertex_count * (frame - (uint32_t)span.origin);
}
