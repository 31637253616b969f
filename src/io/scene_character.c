#include "io/scene_character.h"

#include <string.h>

#include "geometry/mesh_arrays.h"

// A file that was read for this scene.
typedef struct sn_character_file {
  struct sn_character_file* next;
  sn_gltf character;
  const char* driven_by;  // path of the motion that it got a clip from; NULL: as the file has it
  uint32_t motion_clip;   // of that
  uint32_t clip;          // that it got
  char path[];
} sn_character_file;

// Files

static sn_character_file* find_file(sn_reader* r, const char* path, const char* driven_by,
                                    uint32_t motion_clip) {
  for (sn_character_file* file = r->characters; file; file = file->next) {
    if (strcmp(file->path, path) != 0 || !file->driven_by != !driven_by) continue;
    bool same =
        !driven_by || (strcmp(file->driven_by, driven_by) == 0 && file->motion_clip == motion_clip);
    if (same) return file;
  }
  return NULL;
}

static sn_status load_file(sn_reader* r, const sn_place* at, const char* path,
                           sn_character_file** loaded) {
  size_t length = strlen(path) + 1;
  sn_character_file* file = sn_allocate(sizeof *file + length);
  if (!file) return sn_fail_memory(r->err, sizeof *file + length);
  *file = (sn_character_file){0};
  memcpy(file->path, path, length);
  sn_error cause = {0};
  if (sn_character_load(path, &file->character, &cause) != SN_OK) {
    sn_release(file);
    return sn_read_pass_on(r, at, &cause);
  }
  file->next = r->characters;
  r->characters = *loaded = file;
  return SN_OK;
}

sn_status sn_open_character(sn_reader* r, const sn_place* at, const char* path,
                            const sn_gltf** character) {
  sn_character_file* file = find_file(r, path, NULL, 0);
  if (!file) SN_TRY(load_file(r, at, path, &file));
  *character = &file->character;
  return SN_OK;
}

static sn_status drive(sn_reader* r, const sn_place* at, const sn_gltf* motion, uint32_t clip,
                       sn_character_file* file) {
  sn_drive_report report = {0};
  sn_error cause = {0};
  if (sn_character_drive(&file->character, motion, motion->clips[clip].name, &report, &cause) !=
      SN_OK) {
    return sn_read_pass_on(r, at, &cause);
  }
  file->clip = report.clip;
  sn_log(SN_LOG_INFO,
         "%s: %u joints follow %s; %u of its joints and %u of the motion have no match", file->path,
         report.matched_count, file->driven_by, report.unmatched_character_count,
         report.unmatched_motion_count);
  return SN_OK;
}

sn_status sn_open_driven(sn_reader* r, const sn_place* at, const char* path,
                         const char* motion_path, const sn_gltf* motion, uint32_t* clip,
                         const sn_gltf** character) {
  sn_character_file* file = find_file(r, path, motion_path, *clip);
  if (!file) {
    SN_TRY(load_file(r, at, path, &file));
    SN_ASSERT(file);
    file->driven_by = motion_path;
    file->motion_clip = *clip;
    SN_TRY(drive(r, at, motion, *clip, file));
  }
  *clip = file->clip;
  *character = &file->character;
  return SN_OK;
}

void sn_close_characters(sn_reader* r) {
  while (r->characters) {
    sn_character_file* file = r->characters;
    r->characters = file->next;
    sn_gltf_destroy(&file->character);
    sn_release(file);
  }
}

// Surfaces

// How many nodes have a mesh, this one or any (-1), and the last of them.
static uint32_t count_users(const sn_gltf* character, int64_t mesh, uint32_t* node) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < character->node_count; ++n) {
    int64_t has = character->nodes[n].mesh;
    if (has < 0 || (mesh >= 0 && has != mesh)) continue;
    count++;
    *node = n;
  }
  return count;
}

// @param index of a mesh; -1: all that nodes have
static sn_status find_mesh(sn_reader* r, const sn_place* at, const sn_gltf* character,
                           const char* path, const char* name, int64_t* index) {
  sn_names names = SN_NAMES(character->meshes, character->mesh_count);
  uint32_t node = 0;
  if (character->mesh_count == 0) {
    return sn_read_fail(r, at, "found \"%.200s\", which has no meshes, expected one that has",
                        path);
  }
  if (name) {
    ptrdiff_t found = sn_name_find(names, name);
    if (found >= 0) *index = found;
    if (found >= 0) return SN_OK;
    return sn_read_unknown_name(r, at, name, "the name of a mesh of the file", names);
  }
  uint32_t user_count = count_users(character, -1, &node);
  *index = user_count == 1 ? character->nodes[node].mesh : user_count == 0 ? 0 : -1;
  if (user_count > 0 || character->mesh_count == 1) return SN_OK;
  return sn_read_unknown_name(r, at, path, "one of its meshes behind it, as in file.glb#mesh",
                              names);
}

static sn_status copy_uvs(const sn_mesh* from, sn_mesh* to, sn_error* err) {
  size_t count = 3 * (size_t)from->triangle_count;
  uint32_t* corners;
  if (!from->uvs) return SN_OK;
  SN_TRY(SN_ARENA_RAW(to->storage, count, &corners, err));
  SN_TRY(SN_ARENA_RAW(to->storage, 2 * count, &to->uvs, err));
  sn_mesh_triangle_corners(from, corners);
  for (size_t c = 0; c < 2 * count; ++c) {
    to->uvs[c] = from->uvs[2 * (size_t)corners[c / 2] + c % 2];
  }
  return SN_OK;
}

static sn_status copy_groups(const sn_mesh* from, sn_mesh* to, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(to->storage, from->group_count, &to->groups, err));
  for (uint32_t g = 0; g < from->group_count; ++g) {
    const sn_mesh_group* group = &from->groups[g];
    uint32_t* triangles;
    SN_TRY(SN_ARENA_NEW(to->storage, group->triangle_count, &triangles, err));
    memcpy(triangles, group->triangles, group->triangle_count * sizeof *triangles);
    char* name = sn_arena_copy_string(to->storage, group->name);
    if (!name) return sn_fail_memory(err, strlen(group->name));
    sn_mesh_group* copy = &to->groups[to->group_count++];
    *copy = *group;
    copy->name = name;
    copy->triangles = triangles;
    if (!group->material) continue;
    copy->material = sn_arena_copy_string(to->storage, group->material);
    if (!copy->material) return sn_fail_memory(err, strlen(group->material));
  }
  return SN_OK;
}

// Where its node, or its joints, put a mesh in the bind pose, if one node has it: the coordinates in
// which the nodes move.
static sn_status place_mesh(sn_reader* r, const sn_gltf* character, int64_t index, sn_mesh* mesh) {
  uint32_t user = 0;
  if (count_users(character, index, &user) != 1) return SN_OK;
  size_t bytes = 16 * (size_t)character->node_count * sizeof(double);
  double* world = sn_allocate(bytes);
  if (!world) return sn_fail_memory(r->err, bytes);
  sn_gltf_bind_pose(character, world);
  sn_gltf_skin_vertices(character, user, world, mesh->positions);
  sn_release(world);
  return SN_OK;
}

static sn_status join_meshes(sn_reader* r, const sn_place* at, const sn_gltf* character,
                             sn_mesh* mesh) {
  sn_error cause = {0};
  sn_status status = sn_character_join(character, mesh, &cause);
  return status == SN_OK ? SN_OK : sn_read_pass_on(r, at, &cause);
}

sn_status sn_read_character_mesh(sn_reader* r, const sn_place* at, const char* path,
                                 const char* name, sn_mesh* mesh) {
  const sn_gltf* character = NULL;
  int64_t index = 0;
  SN_TRY(sn_open_character(r, at, path, &character));
  SN_TRY(find_mesh(r, at, character, path, name, &index));
  if (index < 0) return join_meshes(r, at, character, mesh);
  const sn_mesh* from = &character->meshes[index].mesh;
  if (from->triangle_count == 0) {
    return sn_read_fail(r, at, "found a mesh without triangles, expected a surface");
  }
  SN_TRY(sn_mesh_from_arrays(from->positions, from->vertex_count, from->triangles,
                             from->triangle_count, mesh, r->err));
  SN_TRY(copy_uvs(from, mesh, r->err));
  SN_TRY(copy_groups(from, mesh, r->err));
  return place_mesh(r, character, index, mesh);
}

// Attributes

// The mesh of a node if it is one of those that were chosen, once for each time that it is part of
// the surface.
static const sn_gltf_mesh* part_of(const sn_attributes* attributes, uint32_t node) {
  const sn_gltf* character = attributes->character;
  if (attributes->mesh >= 0) return node == 0 ? &character->meshes[attributes->mesh] : NULL;
  int64_t mesh = character->nodes[node].mesh;
  return mesh < 0 ? NULL : &character->meshes[mesh];
}

static uint32_t part_end(const sn_attributes* attributes) {
  return attributes->mesh >= 0 ? 1 : attributes->character->node_count;
}

sn_status sn_find_attributes(sn_reader* r, const sn_place* at, const char* path, const char* name,
                             sn_attributes* attributes) {
  size_t most = 0;
  *attributes = (sn_attributes){0};
  SN_TRY(sn_open_character(r, at, path, &attributes->character));
  SN_TRY(find_mesh(r, at, attributes->character, path, name, &attributes->mesh));
  for (uint32_t n = 0; n < part_end(attributes); ++n) {
    const sn_gltf_mesh* mesh = part_of(attributes, n);
    if (mesh) most += mesh->map_count;
  }
  SN_TRY(SN_ARENA_NEW(r->scene->storage, most, &attributes->names, r->err));
  for (uint32_t n = 0; n < part_end(attributes); ++n) {
    const sn_gltf_mesh* mesh = part_of(attributes, n);
    for (uint32_t i = 0; mesh && i < mesh->map_count; ++i) {
      sn_names names = SN_NAMES(attributes->names, attributes->count);
      if (sn_name_find(names, mesh->maps[i].name) >= 0) continue;
      attributes->names[attributes->count++] = mesh->maps[i].name;
    }
  }
  return SN_OK;
}

void sn_take_attribute(const sn_attributes* attributes, const char* name, double otherwise,
                       double* values) {
  for (uint32_t n = 0; n < part_end(attributes); ++n) {
    const sn_gltf_mesh* mesh = part_of(attributes, n);
    if (!mesh) continue;
    ptrdiff_t found = sn_name_find(SN_NAMES(mesh->maps, mesh->map_count), name);
    for (uint32_t v = 0; v < mesh->mesh.vertex_count; ++v) {
      values[v] = found < 0 ? otherwise : (double)mesh->maps[found].values[v];
    }
    values += mesh->mesh.vertex_count;
  }
}
