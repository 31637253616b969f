#include "character/shot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene_json.h"
#include "math/vec.h"

#define REST_FRAMES 24
#define PREROLL 8
#define MAX_FRAMES 100000
// Frames and vertices that are looked at for how fast the skin moves.
#define MOST_FRAMES 400
#define MOST_VERTICES 400
// The first pose differs from the bind pose if a vertex is further away than this share of the size.
#define SAME_POSE 1e-3

// Names of clips for a message, as many as fit.
static void list_clips(const sn_gltf* source, char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t c = 0; c < source->clip_count && used < size; ++c) {
    int length = snprintf(text + used, size - used, "%s%u \"%s\"", c > 0 ? ", " : "", c + 1,
                          source->clips[c].name);
    if (length < 0 || used + (size_t)length >= size) {
      snprintf(text + used, size - used, ", ...");
      return;
    }
    used += (size_t)length;
  }
}

sn_status sn_shot_find_clip(const sn_gltf* source, const char* path, const char* wanted,
                            int32_t* clip, sn_error* err) {
  *clip = source->clip_count > 0 ? 0 : -1;
  if (!wanted) return SN_OK;
  SN_CHECK(source->clip_count > 0, err, SN_ERR_INPUT,
           "%.300s: found no animation, expected a clip \"%.60s\"", path, wanted);
  sn_names names = SN_NAMES(source->clips, source->clip_count);
  ptrdiff_t found = sn_name_find(names, wanted);
  char* end;
  long number = strtol(wanted, &end, 10);
  if (found < 0 && end != wanted && !*end && number >= 1 && (unsigned long)number <= names.count) {
    found = number - 1;
  }
  *clip = (int32_t)found;
  if (found >= 0) return SN_OK;
  char list[600];
  list_clips(source, list, sizeof list);
  const char* near = sn_name_nearest(names, wanted);
  return sn_fail(err, SN_ERR_INPUT, "%.200s: found no clip \"%.60s\"%s%.60s%s; there are %s", path,
                 wanted, near ? ", did you mean \"" : "", near ? near : "", near ? "\"?" : "",
                 list);
}

static double box_diagonal(const sn_mesh* mesh) {
  sn_box box = sn_box_empty();
  for (size_t v = 0; v < mesh->vertex_count; ++v)
    box = sn_box_grow(box, sn_load3(mesh->positions + 3 * v));
  return sn_distance(box.lo, box.hi);
}

typedef struct pose_work {
  const sn_rig* rig;
  double* world;         // (16 x node_count)
  double* positions[3];  // the last poses (3 x vertex_count)
} pose_work;

static void pose_at(const pose_work* w, const sn_shot* shot, int frame, double* positions) {
  sn_gltf_pose(w->rig->character, shot->clip, (frame - 1) / shot->fps, w->world);
  sn_character_pose(w->rig->character, w->world, positions);
}

static bool starts_elsewhere(const pose_work* w, const double* first) {
  const sn_mesh* mesh = &w->rig->mesh;
  double limit = SAME_POSE * box_diagonal(mesh);
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    if (sn_distance(sn_load3(first + 3 * v), sn_load3(mesh->positions + 3 * v)) > limit)
      return true;
  }
  return false;
}

static int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// Second differences of positions over time.
static sn_status measure_acceleration(pose_work* w, sn_arena* scratch, sn_shot* shot,
                                      sn_error* err) {
  uint32_t vertex_count = w->rig->mesh.vertex_count;
  size_t stride = 1 + vertex_count / MOST_VERTICES, count = 0;
  int last = shot->last - shot->first > MOST_FRAMES ? shot->first + MOST_FRAMES : shot->last;
  double* values;
  SN_TRY(SN_ARENA_RAW(scratch, (vertex_count / stride + 1) * (size_t)(last - shot->first + 1),
                      &values, err));
  for (int f = shot->first; f <= last; ++f) {
    double *before = w->positions[0], *middle = w->positions[1];
    w->positions[0] = middle;
    w->positions[1] = w->positions[2];
    w->positions[2] = before;
    pose_at(w, shot, f, before);
    if (f < shot->first + 2) continue;
    for (size_t v = 0; v < vertex_count; v += stride) {
      sn_vec3 a = sn_load3(w->positions[0] + 3 * v), b = sn_load3(w->positions[1] + 3 * v);
      sn_vec3 c = sn_load3(w->positions[2] + 3 * v);
      values[count++] = sn_length(sn_add(sn_sub(a, b), sn_sub(c, b))) * shot->fps * shot->fps;
    }
  }
  if (count == 0) return SN_OK;
  qsort(values, count, sizeof *values, compare_doubles);
  shot->acceleration = values[(size_t)(0.95 * (double)(count - 1))];
  return SN_OK;
}

static sn_status choose_frames(const sn_gltf* character, const sn_flesh_opts* opts, sn_shot* shot,
                               sn_error* err) {
  double frames =
      shot->clip < 0 ? REST_FRAMES - 1 : ceil(character->clips[shot->clip].end * shot->fps - 1e-3);
  SN_CHECK(frames < MAX_FRAMES, err, SN_ERR_INPUT,
           "found a clip of %.0f frames, expected at most %d", frames, MAX_FRAMES);
  shot->first = opts->first_frame > 0 ? opts->first_frame : 1;
  shot->last = opts->last_frame > 0 ? opts->last_frame : 1 + (int)fmax(frames, 0);
  if (shot->last < shot->first) shot->last = shot->first;
  return SN_OK;
}

sn_status sn_shot_measure(const sn_rig* rig, const sn_flesh_opts* opts, sn_arena* scratch,
                          sn_shot* shot, sn_error* err) {
  pose_work w = {.rig = rig};
  shot->fps = opts->fps > 0 ? opts->fps : 24.0;
  SN_TRY(choose_frames(rig->character, opts, shot, err));
  SN_TRY(SN_ARENA_RAW(scratch, 16 * (size_t)rig->character->node_count, &w.world, err));
  for (int i = 0; i < 3; ++i) {
    SN_TRY(SN_ARENA_RAW(scratch, 3 * (size_t)rig->mesh.vertex_count, &w.positions[i], err));
  }
  pose_at(&w, shot, shot->first, w.positions[0]);
  bool elsewhere = starts_elsewhere(&w, w.positions[0]);
  shot->preroll = opts->preroll >= 0 ? opts->preroll : elsewhere ? PREROLL : 0;
  return measure_acceleration(&w, scratch, shot, err);
}
