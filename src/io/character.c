// Characters: what a file of a rigged body holds, as one surface.
#include "io/character.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/status.h"
#include "geometry/mesh_arrays.h"
#include "io/fbx.h"
#include "io/import.h"
#include "io/scene_memory.h"
#include "math/vec.h"
#include "sinew/gltf.h"

typedef sn_status (*import_function)(sn_import* im);

static const struct {
  const char* ending;
  import_function import;  // NULL: our own format
} formats[] = {{".glb", NULL},
               {".gltf", NULL},
               {".fbx", sn_import_fbx},
               {".dae", sn_import_dae},
               {".bvh", sn_import_bvh}};

#define FORMAT_COUNT (sizeof formats / sizeof *formats)

size_t sn_character_name_length(const char* path) {
  if (sn_memory_name(path)) return 0;
  for (const char* dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
    for (size_t i = 0; i < FORMAT_COUNT; ++i) {
      size_t length = strlen(formats[i].ending);
      if (strncasecmp(dot, formats[i].ending, length) != 0) continue;
      if (dot[length] == 0 || dot[length] == '#') return (size_t)(dot - path) + length;
    }
  }
  return 0;
}

static sn_status load_foreign(import_function import, const char* path, sn_gltf* character,
                              sn_error* err) {
  sn_import im = {.path = path, .gltf = character, .err = err};
  *character = (sn_gltf){0};
  sn_status status = sn_arena_create(&im.scratch, err);
  if (status == SN_OK) status = sn_arena_create(&character->storage, err);
  if (status == SN_OK) status = import(&im);
  sn_arena_destroy(im.scratch);
  if (status != SN_OK) sn_gltf_destroy(character);
  return status;
}

sn_status sn_character_load(const char* path, sn_gltf* character, sn_error* err) {
  const char* dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < FORMAT_COUNT; ++i) {
    if (strcasecmp(dot, formats[i].ending) != 0) continue;
    return formats[i].import ? load_foreign(formats[i].import, path, character, err)
                             : sn_gltf_load(path, character, err);
  }
  *character = (sn_gltf){0};
  return sn_fail(err, SN_ERR_INPUT, "%s: found the ending \"%s\", expected %s", path,
                 dot && !strchr(dot, '/') ? dot : "", SN_CHARACTER_FILE_TEXT);
}

static const sn_mesh* node_mesh(const sn_gltf* character, uint32_t node) {
  int32_t mesh = character->nodes[node].mesh;
  return mesh < 0 ? NULL : &character->meshes[mesh].mesh;
}

// Names below one another would be cut in the middle of nowhere: longer ones are refused.
#define NAME_SIZE 1024

// A group of a mesh below its node.
static sn_status find_group(const char* node, const sn_mesh_group* own, sn_mesh_builder* builder,
                            uint32_t* group, sn_error* err) {
  char text[NAME_SIZE];
  int size = snprintf(text, sizeof text, "%s/%s", node, own->name);
  SN_CHECK(size < NAME_SIZE, err, SN_ERR_INPUT, "node \"%.60s...\": found a name too long, %s",
           node, "expected less than 1000 characters with the material's");
  SN_TRY(sn_mesh_builder_find_group(builder, text, (size_t)size, group, err));
  if (!own->material) return SN_OK;
  return sn_mesh_builder_set_material(builder, *group, own->material, strlen(own->material),
                                      own->has_color ? own->color : NULL, err);
}

// A triangle with the texture coordinates of its corners. @param corners those of the mesh (3)
static sn_status add_triangle(const sn_mesh* mesh, const uint32_t* corners, uint32_t first_vertex,
                              sn_mesh_builder* builder, sn_error* err) {
  for (int c = 0; c < 3; ++c) {
    uint32_t vertex = first_vertex + mesh->face_vertices[corners[c]];
    SN_TRY(sn_mesh_builder_add_corner(builder, vertex, err));
    if (!mesh->uvs) continue;
    const float* pair = mesh->uvs + 2 * (size_t)corners[c];
    SN_TRY(sn_mesh_builder_set_uv(builder, sn_mesh_builder_uv_count(builder), err));
    SN_TRY(sn_mesh_builder_add_uv(builder, pair[0], pair[1], err));
  }
  return sn_mesh_builder_end_face(builder, err);
}

// Triangles of a mesh in their groups of the whole: that of the node, then the mesh's own.
// @param corners of the mesh's triangles @param grouped room for a mark each, zeroed
static sn_status add_triangles(const sn_gltf* character, uint32_t node, uint32_t first_vertex,
                               const uint32_t* corners, uint8_t* grouped, sn_mesh_builder* builder,
                               sn_error* err) {
  const sn_mesh* mesh = node_mesh(character, node);
  SN_ASSERT(mesh);
  const char* name = character->nodes[node].name;
  uint32_t groups[2];
  SN_TRY(sn_mesh_builder_find_group(builder, name, strlen(name), &groups[0], err));
  // A pass for each group, then one for the triangles in none; a triangle is in the first that has it.
  for (uint32_t g = 0; g <= mesh->group_count; ++g) {
    bool rest = g == mesh->group_count;
    if (!rest) SN_TRY(find_group(name, &mesh->groups[g], builder, &groups[1], err));
    SN_TRY(sn_mesh_builder_use_groups(builder, groups, rest ? 1 : 2, err));
    uint32_t count = rest ? mesh->triangle_count : mesh->groups[g].triangle_count;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t t = rest ? i : mesh->groups[g].triangles[i];
      if (grouped[t]) continue;
      grouped[t] = 1;
      SN_TRY(add_triangle(mesh, corners + 3 * (size_t)t, first_vertex, builder, err));
    }
  }
  return SN_OK;
}

static sn_status add_mesh(const sn_gltf* character, uint32_t node, uint32_t first_vertex,
                          sn_mesh_builder* builder, sn_error* err) {
  const sn_mesh* mesh = node_mesh(character, node);
  SN_ASSERT(mesh);
  size_t count = mesh->triangle_count, bytes = (3 * sizeof(uint32_t) + 1) * count;
  uint32_t* corners = sn_allocate(bytes);
  if (!corners) return sn_fail_memory(err, bytes);
  uint8_t* grouped = (uint8_t*)(corners + 3 * count);
  memset(grouped, 0, count);
  sn_mesh_triangle_corners(mesh, corners);
  sn_status status = add_triangles(character, node, first_vertex, corners, grouped, builder, err);
  sn_release(corners);
  return status;
}

static sn_status add_nodes(const sn_gltf* character, sn_mesh_builder* builder, sn_error* err) {
  uint64_t triangle_count = 0;
  for (uint32_t n = 0; n < character->node_count; ++n) {
    const sn_mesh* mesh = node_mesh(character, n);
    if (!mesh) continue;
    uint32_t first_vertex = sn_mesh_builder_vertex_count(builder);
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      SN_TRY(sn_mesh_builder_add_vertex(builder, sn_load3(mesh->positions + 3 * v), err));
    }
    SN_TRY(add_mesh(character, n, first_vertex, builder, err));
    triangle_count += mesh->triangle_count;
  }
  SN_CHECK(triangle_count > 0, err, SN_ERR_INPUT,
           "found no node with a mesh of triangles, expected a surface");
  return SN_OK;
}

sn_status sn_character_join(const sn_gltf* character, sn_mesh* mesh, sn_error* err) {
  sn_mesh_builder builder = {0};
  *mesh = (sn_mesh){0};
  sn_status status = add_nodes(character, &builder, err);
  if (status == SN_OK) status = sn_mesh_builder_finish(&builder, mesh, err);
  sn_mesh_builder_destroy(&builder);
  if (status != SN_OK) return status;
  size_t bytes = 16 * (size_t)character->node_count * sizeof(double);
  double* world = sn_allocate(bytes);
  if (!world) {
    sn_mesh_destroy(mesh);
    return sn_fail_memory(err, bytes);
  }
  sn_gltf_bind_pose(character, world);
  sn_character_pose(character, world, mesh->positions);
  sn_release(world);
  return SN_OK;
}

void sn_character_pose(const sn_gltf* character, const double* world, double* positions) {
  sn_character_morph(character, -1, 0, world, positions);
}

void sn_character_morph(const sn_gltf* character, int32_t clip, double time, const double* world,
                        double* positions) {
  for (uint32_t n = 0; n < character->node_count; ++n) {
    const sn_mesh* mesh = node_mesh(character, n);
    if (!mesh) continue;
    sn_gltf_morph_vertices(character, n, clip, time, world, positions);
    positions += 3 * (size_t)mesh->vertex_count;
  }
}
