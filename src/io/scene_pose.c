#include "io/scene_pose.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "geometry/parts.h"
#include "io/character.h"
#include "io/mdd.h"
#include "io/scene_clip.h"
#include "io/scene_mesh.h"
#include "io/scene_table.h"
#include "sinew/gltf.h"
#include "sinew/io.h"

#define POSE_TEXT "null, {\"from\": \"body.pc2\"} or {\"from\": \"walk.glb\", \"clip\": \"name\"}"
#define FOLLOW_TEXT "a list of part numbers and group names"

// Times of a point cache that differ from the frames of the scene by more than this are worth a word.
#define TIME_TOLERANCE 0.01

// Point caches

static sn_cache_kind cache_kind_of(const char* path) {
  const char* dot = path ? strrchr(path, '.') : NULL;
  if (!dot) return SN_CACHE_NONE;
  return strcasecmp(dot, ".pc2") == 0   ? SN_CACHE_PC2
         : strcasecmp(dot, ".mdd") == 0 ? SN_CACHE_MDD
                                        : SN_CACHE_NONE;
}

bool sn_is_mesh_motion(const json_t* motion) {
  const char* from = json_string_value(json_object_get(motion, "from"));
  return cache_kind_of(from) != SN_CACHE_NONE || json_object_get(motion, "mesh");
}

typedef struct cache_text {
  char* from;
} cache_text;

static const sn_field cache_fields[] = {
    {"from", NULL, sn_read_string, AT(cache_text, from), .expected = "a point cache"},
};
static const sn_table cache_table = {"{\"from\": \"body.pc2\"}", TABLE(cache_fields), NULL};

static sn_status check_counts(sn_reader* r, const sn_place* at, const char* path,
                              uint32_t vertex_count, uint32_t expected) {
  if (vertex_count == expected) return SN_OK;
  return sn_read_fail(
      r, at,
      "found \"%.200s\", which has %u vertices, expected %u, those of the surface in "
      "its order",
      path, vertex_count, expected);
}

static sn_status read_pc2_header(sn_reader* r, const sn_place* at, const char* path,
                                 sn_mesh_motion* motion) {
  sn_pc2_info info;
  sn_error cause = {0};
  if (sn_pc2_read_info(path, &info, &cause) != SN_OK) return sn_read_pass_on(r, at, &cause);
  double first = (double)info.first_frame;
  if (!(first == floor(first) && fabs(first) <= 1e6 && info.frame_step == 1)) {
    return sn_read_fail(r, at,
                        "found a cache that starts at frame %g with a step of %g, expected whole "
                        "frames one by one",
                        first, (double)info.frame_step);
  }
  motion->vertex_count = info.vertex_count;
  motion->frame_count = info.frame_count;
  motion->first_frame = (int)first;
  return SN_OK;
}

// Its frames are those of the scene from 1 on, whatever their times are.
static sn_status read_mdd_header(sn_reader* r, const sn_place* at, const char* path,
                                 sn_mesh_motion* motion) {
  sn_mdd_info info;
  sn_error cause = {0};
  if (sn_mdd_read_info(path, &info, &cause) != SN_OK) return sn_read_pass_on(r, at, &cause);
  motion->vertex_count = info.vertex_count;
  motion->frame_count = info.frame_count;
  motion->first_frame = 1;
  double seconds = (double)info.last_time - (double)info.first_time;
  double expected = (info.frame_count - 1) / r->scene->fps;
  if (fabs(seconds - expected) > TIME_TOLERANCE * expected) {
    sn_log(SN_LOG_WARNING,
           "%s: its %u frames take %g s, in the scene %g s; they are taken one a frame", path,
           info.frame_count, seconds, expected);
  }
  return SN_OK;
}

static sn_status take_places(sn_reader* r, sn_mesh_motion* motion) {
  size_t count;
  if (__builtin_mul_overflow(3 * (size_t)motion->vertex_count, motion->frame_count, &count)) {
    return sn_fail_memory(r->err, SIZE_MAX);
  }
  return SN_ARENA_RAW(r->scene->storage, count, &motion->places, r->err);
}

// From the unit of the file to metres; what is too far away for a mesh is too far for its motion.
static sn_status scale_frame(sn_reader* r, const sn_place* at, double frame, float* places,
                             size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!(fabs((double)places[i]) <= SN_COORDINATE_MAX)) {
      return sn_read_fail(r, at, "found a coordinate of %g at frame %g, expected none beyond %g",
                          (double)places[i], frame, SN_COORDINATE_MAX);
    }
    places[i] = (float)(r->scene->unit * (double)places[i]);
  }
  return SN_OK;
}

static sn_status open_cache(sn_reader* r, const sn_place* at, json_t* object, uint32_t vertex_count,
                            sn_pose_source* source) {
  cache_text text = {0};
  sn_place from_at = sn_place_key(at, "from");
  sn_mesh_motion* shape = &source->shape;
  SN_TRY(sn_value_object(r, at, object, &cache_table, &text));
  char* path;
  SN_TRY(sn_read_path(r, &from_at, object, "from", text.from, strlen(text.from), &path));
  source->path = path;
  SN_TRY(
      (source->kind == SN_CACHE_PC2 ? read_pc2_header : read_mdd_header)(r, &from_at, path, shape));
  SN_TRY(check_counts(r, &from_at, path, shape->vertex_count, vertex_count));
  if (shape->frame_count > 0) return SN_OK;
  return sn_read_fail(r, &from_at, "found \"%.200s\", which has no frames, expected some", path);
}

static sn_status read_cache_frame(sn_reader* r, const sn_place* from_at,
                                  const sn_pose_source* source, uint32_t index, float* places) {
  sn_error cause = {0};
  sn_status status = source->kind == SN_CACHE_PC2
                         ? sn_pc2_read_frame(source->path, index, places, &cause)
                         : sn_mdd_read_frame(source->path, index, places, &cause);
  return status == SN_OK ? SN_OK : sn_read_pass_on(r, from_at, &cause);
}

// Characters

static uint32_t mesh_vertex_count(const sn_gltf* character, uint32_t node) {
  int32_t mesh = character->nodes[node].mesh;
  return mesh < 0 ? 0 : character->meshes[mesh].mesh.vertex_count;
}

static sn_status find_posed_mesh(sn_reader* r, const sn_place* at, const char* name,
                                 sn_posed_mesh* posed) {
  const sn_gltf* character = posed->character;
  sn_place mesh_at = sn_place_key(at, "mesh");
  sn_names names = SN_NAMES(character->meshes, character->mesh_count);
  ptrdiff_t mesh = name ? sn_name_find(names, name) : -1;
  if (name && mesh < 0) {
    return sn_read_unknown_name(r, &mesh_at, name, "the name of a mesh of the file", names);
  }
  uint32_t user_count = 0;
  for (uint32_t n = 0; n < character->node_count; ++n) {
    int64_t has = character->nodes[n].mesh;
    if (has < 0 || (name && has != mesh)) continue;
    user_count++;
    posed->node = n;
    posed->vertex_count += mesh_vertex_count(character, n);
  }
  posed->whole = !name;
  if (user_count == 1 || (user_count > 0 && !name)) return SN_OK;
  sn_place from_at = sn_place_key(at, "from");
  return sn_read_fail(r, name ? &mesh_at : &from_at,
                      "found %s that %u nodes of the file have, expected %s",
                      name ? "a mesh" : "no mesh", user_count, name ? "one" : "some");
}

static void pose_character(const sn_pose_source* source, uint32_t index, float* to) {
  const sn_posed_mesh* posed = &source->posed;
  double *world = source->room, *places = world + 16 * (size_t)posed->character->node_count;
  double time = sn_clip_poses_at(&source->poses, index, world);
  int32_t clip = (int32_t)source->poses.clip;
  if (posed->whole) {
    sn_character_morph(posed->character, clip, time, world, places);
  } else {
    sn_gltf_morph_vertices(posed->character, posed->node, clip, time, world, places);
  }
  for (size_t i = 0; i < 3 * (size_t)posed->vertex_count; ++i) to[i] = (float)places[i];
}

static sn_status open_character(sn_reader* r, const sn_place* at, json_t* object,
                                const char* surface, uint32_t vertex_count,
                                sn_pose_source* source) {
  size_t length = sn_character_name_length(surface);
  if (length > 0 && surface[length] == '#' && !json_object_get(object, "mesh")) {
    SN_TRY(sn_read_replace(r, object, "mesh", json_string(surface + length + 1)));
  }
  sn_clip_poses* poses = &source->poses;
  sn_posed_mesh* posed = &source->posed;
  SN_TRY(sn_read_clip_poses(r, at, object, poses));
  posed->character = poses->character;
  SN_TRY(find_posed_mesh(r, at, poses->mesh, posed));
  sn_place from_at = sn_place_key(at, "from");
  SN_TRY(check_counts(r, &from_at, poses->path, posed->vertex_count, vertex_count));
  source->shape = (sn_mesh_motion){.vertex_count = posed->vertex_count,
                                   .frame_count = poses->count,
                                   .first_frame = 1,
                                   .period = poses->period};
  size_t bytes = (16 * (size_t)posed->character->node_count + 3 * (size_t)posed->vertex_count) *
                 sizeof(double);
  source->room = sn_allocate(bytes);
  return source->room ? SN_OK : sn_fail_memory(r->err, bytes);
}

// Either

sn_status sn_pose_source_open(sn_reader* r, const sn_place* at, json_t* object, const char* surface,
                              uint32_t vertex_count, sn_pose_source* source) {
  *source =
      (sn_pose_source){.kind = cache_kind_of(json_string_value(json_object_get(object, "from")))};
  if (source->kind != SN_CACHE_NONE) return open_cache(r, at, object, vertex_count, source);
  return open_character(r, at, object, surface, vertex_count, source);
}

sn_status sn_pose_source_read(sn_reader* r, const sn_place* at, const sn_pose_source* source,
                              uint32_t index, float* places) {
  sn_place from_at = sn_place_key(at, "from");
  if (source->kind == SN_CACHE_NONE) {
    pose_character(source, index, places);
  } else {
    SN_TRY(read_cache_frame(r, &from_at, source, index, places));
  }
  return scale_frame(r, &from_at, source->shape.first_frame + (double)index, places,
                     3 * (size_t)source->shape.vertex_count);
}

void sn_pose_source_close(sn_pose_source* source) {
  sn_release(source->room);
  *source = (sn_pose_source){0};
}

static sn_status read_all(sn_reader* r, const sn_place* at, const sn_pose_source* source,
                          sn_mesh_motion* motion) {
  *motion = source->shape;
  SN_TRY(take_places(r, motion));
  for (uint32_t f = 0; f < motion->frame_count; ++f) {
    float* places = motion->places + 3 * (size_t)motion->vertex_count * f;
    SN_TRY(sn_pose_source_read(r, at, source, f, places));
  }
  return SN_OK;
}

sn_status sn_read_mesh_motion(sn_reader* r, const sn_place* at, json_t* object, const char* surface,
                              const sn_mesh* mesh, sn_mesh_motion* motion) {
  sn_pose_source source;
  *motion = (sn_mesh_motion){0};
  sn_status status = sn_pose_source_open(r, at, object, surface, mesh->vertex_count, &source);
  if (status == SN_OK) status = read_all(r, at, &source, motion);
  sn_pose_source_close(&source);
  return status;
}

// Keys of bodies

sn_status sn_read_pose_kind(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  (void)target;
  const json_t* value = json_object_get(owner, field->key);
  if (json_is_null(value) || json_is_object(value)) return SN_OK;
  return sn_read_mismatch(r, at, value, POSE_TEXT);
}

sn_status sn_read_pose(sn_reader* r, const sn_place* body_at, json_t* body_object,
                       const char* surface, sn_body_desc* body) {
  sn_place at = sn_place_key(body_at, "pose");
  json_t* value = json_object_get(body_object, "pose");
  if (!json_is_object(value)) return SN_OK;
  return sn_read_mesh_motion(r, &at, value, surface, &body->mesh, &body->pose);
}

sn_status sn_read_follow_kind(sn_reader* r, const sn_place* at, json_t* owner,
                              const sn_field* field, void* target) {
  (void)target;
  const json_t* value = json_object_get(owner, field->key);
  return json_is_array(value) ? SN_OK : sn_read_mismatch(r, at, value, FOLLOW_TEXT);
}

static sn_status follow_group(sn_reader* r, const sn_place* at, const char* name,
                              sn_body_desc* body) {
  sn_names groups = SN_NAMES(body->mesh.groups, body->mesh.group_count);
  ptrdiff_t found = sn_name_find(groups, name);
  if (found < 0) {
    return sn_read_unknown_name(r, at, name,
                                groups.count > 0 ? "a part number or a group of the body's mesh"
                                                 : "a part number: the body's mesh has no groups",
                                groups);
  }
  const sn_mesh_group* group = &body->mesh.groups[found];
  for (uint32_t i = 0; i < group->triangle_count; ++i) body->follow[group->triangles[i]] = 1;
  return SN_OK;
}

static sn_status follow_part(sn_reader* r, const sn_place* at, const json_t* number,
                             const sn_parts* parts, sn_body_desc* body) {
  json_int_t part = json_integer_value(number);
  if (part < 0 || part >= (json_int_t)parts->count) {
    return sn_read_fail(r, at,
                        "found %" JSON_INTEGER_FORMAT
                        ", expected a number below %u, the connected "
                        "parts of the body's mesh",
                        part, parts->count);
  }
  for (uint32_t t = 0; t < body->mesh.triangle_count; ++t) {
    if (parts->of_triangle[t] == (uint32_t)part) body->follow[t] = 1;
  }
  return SN_OK;
}

static sn_status follow_all(sn_reader* r, const sn_place* at, const json_t* list, sn_arena* arena,
                            sn_arena* scratch, sn_body_desc* body) {
  sn_parts parts;
  SN_TRY(sn_parts_find(&body->mesh, arena, scratch, &parts, r->err));
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const json_t* item = json_array_get(list, i);
    sn_place item_at = sn_place_index(at, i);
    if (json_is_string(item)) {
      SN_TRY(follow_group(r, &item_at, json_string_value(item), body));
    } else if (json_is_integer(item)) {
      SN_TRY(follow_part(r, &item_at, item, &parts, body));
    } else {
      return sn_read_mismatch(r, &item_at, item, "a part number or the name of a group");
    }
  }
  return SN_OK;
}

sn_status sn_read_follow(sn_reader* r, const sn_place* body_at, const json_t* body_object,
                         sn_body_desc* body) {
  sn_place at = sn_place_key(body_at, "follow");
  const json_t* list = json_object_get(body_object, "follow");
  if (json_array_size(list) == 0) return SN_OK;
  SN_TRY(SN_ARENA_NEW(r->scene->storage, body->mesh.triangle_count, &body->follow, r->err));
  sn_arena *arena = NULL, *scratch = NULL;
  sn_status status = sn_arena_create(&arena, r->err);
  if (status == SN_OK) status = sn_arena_create(&scratch, r->err);
  if (status == SN_OK) status = follow_all(r, &at, list, arena, scratch, body);
  sn_arena_destroy(scratch);
  sn_arena_destroy(arena);
  return status;
}
