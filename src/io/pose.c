// The animated pose of a body without the rest of its scene, a frame at a time.
#include <math.h>
#include <string.h>

#include "io/scene_character.h"
#include "io/scene_pose.h"
#include "sinew/io.h"

struct sn_pose {
  sn_arena* arena;  // owns all that follows
  sn_scene scene;   // as much of it as a pose depends on
  sn_reader reader;
  json_t* document;
  sn_place bodies, body, at;  // of the pose in the scene
  sn_pose_source source;
  float* next;  // the frame that another is mixed with
};

static sn_status fail(const sn_pose* pose, sn_error* err) {
  return sn_fail(
      err, SN_ERR_INPUT,
      "%s: no usable unit, fps and bodies; expected a scene with every default filled in",
      pose->reader.file);
}

static sn_status find_pose(sn_pose* pose, uint32_t body, json_t** found, const char** surface,
                           sn_error* err) {
  const json_t* entry = json_array_get(json_object_get(pose->document, "bodies"), body);
  pose->scene.unit = json_number_value(json_object_get(pose->document, "unit"));
  pose->scene.fps = json_number_value(json_object_get(pose->document, "fps"));
  *surface = json_string_value(json_object_get(entry, "surface"));
  *found = json_object_get(entry, "pose");
  bool usable = pose->scene.unit >= 1e-9 && pose->scene.unit <= 1e9 && pose->scene.fps >= 1e-9 &&
                pose->scene.fps <= 1e9 && *surface;
  return usable ? SN_OK : fail(pose, err);
}

static sn_status open_pose(sn_pose* pose, const sn_scene_source* scene, uint32_t body,
                           uint32_t vertex_count, bool* there, sn_error* err) {
  json_t* object;
  const char* surface;
  const char* file = scene->name ? scene->name : "scene";
  pose->reader = (sn_reader){.file = sn_arena_copy_string(pose->arena, file),
                             .folder = "/",
                             .scene = &pose->scene,
                             .err = err};
  if (!pose->reader.file) return sn_fail_memory(err, strlen(file));
  pose->scene.storage = pose->arena;
  SN_TRY(sn_json_parse(file, scene->json, scene->length, &pose->document, err));
  SN_TRY(find_pose(pose, body, &object, &surface, err));
  *there = json_is_object(object);
  if (!*there) return SN_OK;
  pose->bodies = sn_place_key(NULL, "bodies");
  pose->body = sn_place_index(&pose->bodies, body);
  pose->at = sn_place_key(&pose->body, "pose");
  SN_TRY(
      sn_pose_source_open(&pose->reader, &pose->at, object, surface, vertex_count, &pose->source));
  return SN_ARENA_RAW(pose->arena, 3 * (size_t)vertex_count, &pose->next, err);
}

sn_status sn_pose_open(const sn_scene_source* scene, uint32_t body, uint32_t vertex_count,
                       sn_pose** pose, sn_error* err) {
  sn_arena* arena;
  sn_pose* opened;
  bool there = false;
  *pose = NULL;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = SN_ARENA_NEW(arena, 1, &opened, err);
  if (status != SN_OK) {
    sn_arena_destroy(arena);
    return status;
  }
  opened->arena = arena;
  status = open_pose(opened, scene, body, vertex_count, &there, err);
  if (status == SN_OK && there) {
    *pose = opened;
  } else {
    sn_pose_close(opened);
  }
  return status;
}

// As sn_mesh_motion_at: the ends hold, or it begins again.
sn_status sn_pose_read(sn_pose* pose, double frame, float* places, sn_error* err) {
  const sn_mesh_motion* shape = &pose->source.shape;
  double at = frame - shape->first_frame, last = shape->frame_count - 1;
  pose->reader.err = err;
  if (shape->period > 0) {
    last = shape->period;
    at -= last * floor(at / last);
  }
  uint32_t before = !(at > 0) ? 0 : at >= last ? shape->frame_count - 1 : (uint32_t)at;
  SN_TRY(sn_pose_source_read(&pose->reader, &pose->at, &pose->source, before, places));
  if (!(at > before) || at >= last) return SN_OK;
  double share = (at - before) / fmin(1, last - before);
  SN_TRY(sn_pose_source_read(&pose->reader, &pose->at, &pose->source, before + 1, pose->next));
  for (size_t i = 0; i < 3 * (size_t)shape->vertex_count; ++i) {
    places[i] = (float)((double)places[i] + share * ((double)pose->next[i] - (double)places[i]));
  }
  return SN_OK;
}

void sn_pose_close(sn_pose* pose) {
  if (!pose) return;
  sn_pose_source_close(&pose->source);
  sn_close_characters(&pose->reader);
  json_decref(pose->document);
  sn_arena_destroy(pose->arena);  // the pose itself is in it
}
