// Meshes of a GLB file: primitives, normals, joints and maps.
#include <stdio.h>
#include <string.h>

#include "io/gltf_write.h"
#include "math/vec.h"

// A primitive: consecutive triangles and the consecutive vertices that they use.
typedef struct piece {
  uint32_t first_triangle, triangle_count, first_vertex, vertex_count;
  const char* group;  // its name, or NULL
} piece;

// Splitting a joined mesh

// Whether the group continues at `start` without gap; widens lo..hi by its vertices.
static bool continues_at(const sn_mesh* mesh, const sn_mesh_group* group, uint32_t start,
                         uint32_t* lo, uint32_t* hi) {
  *lo = UINT32_MAX;
  *hi = 0;
  for (uint32_t i = 0; i < group->triangle_count; ++i) {
    if (group->triangles[i] != start + i || group->triangles[i] >= mesh->triangle_count) {
      return false;
    }
    const uint32_t* corners = mesh->triangles + 3 * (size_t)group->triangles[i];
    for (int c = 0; c < 3; ++c) {
      if (corners[c] < *lo) *lo = corners[c];
      if (corners[c] > *hi) *hi = corners[c];
    }
  }
  return group->triangle_count > 0;
}

// Groups become primitives where they follow one another with vertices of their own, as those of a
// mesh that was read do; any other mesh is one primitive. @return the number of pieces
static uint32_t split_mesh(const sn_mesh* mesh, piece* pieces) {
  uint32_t next_triangle = 0, vertex_end = 0;
  bool splits = mesh->group_count > 0;
  for (uint32_t g = 0; g < mesh->group_count && splits; ++g) {
    uint32_t lo, hi;
    const sn_mesh_group* group = &mesh->groups[g];
    splits = continues_at(mesh, group, next_triangle, &lo, &hi) && lo >= vertex_end;
    // Vertices that nothing uses stay with the piece before.
    uint32_t first = g == 0 ? 0 : lo;
    if (g > 0) pieces[g - 1].vertex_count = first - pieces[g - 1].first_vertex;
    pieces[g] = (piece){next_triangle, group->triangle_count, first, mesh->vertex_count - first,
                        group->name};
    next_triangle += group->triangle_count;
    vertex_end = hi + 1;
  }
  if (splits && next_triangle == mesh->triangle_count) return mesh->group_count;
  pieces[0] = (piece){0, mesh->triangle_count, 0, mesh->vertex_count, NULL};
  return 1;
}

// Normals

// Of each vertex: the sum of (twice) the areas of its triangles as vectors, made a unit vector.
static void find_normals(const sn_mesh* mesh, double* sums, float* normals) {
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* corners = mesh->triangles + 3 * t;
    sn_vec3 a = sn_load3(mesh->positions + 3 * (size_t)corners[0]);
    sn_vec3 b = sn_load3(mesh->positions + 3 * (size_t)corners[1]);
    sn_vec3 c = sn_load3(mesh->positions + 3 * (size_t)corners[2]);
    sn_vec3 area = sn_cross(sn_sub(b, a), sn_sub(c, a));
    for (int k = 0; k < 3; ++k) {
      double* sum = sums + 3 * (size_t)corners[k];
      sn_store3(sum, sn_add(sn_load3(sum), area));
    }
  }
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    sn_vec3 sum = sn_load3(sums + 3 * v);
    double length = sn_length(sum);
    sn_vec3 unit = length > 0.0 ? sn_scale(1.0 / length, sum) : sn_v3(0.0, 0.0, 1.0);
    for (int k = 0; k < 3; ++k) normals[3 * v + (size_t)k] = (float)sn_axis(unit, k);
  }
}

// Attributes

static sn_status put_indices(sn_gltf_writer* w, json_t* primitive, const sn_mesh* mesh,
                             const piece* p) {
  const uint32_t* corners = mesh->triangles + 3 * (size_t)p->first_triangle;
  uint32_t count = 3 * p->triangle_count;
  sn_gltf_array array = {.type = "SCALAR", .width = 1, .count = count, .target = SN_GLTF_INDICES};
  if (p->vertex_count <= UINT16_MAX) {  // 65535 itself would mean a new start
    uint16_t* indices;
    SN_TRY(SN_ARENA_NEW(w->scratch, count, &indices, w->err));
    for (uint32_t i = 0; i < count; ++i) indices[i] = (uint16_t)(corners[i] - p->first_vertex);
    array.component = SN_GLTF_UINT16;
    array.values = indices;
  } else {
    uint32_t* indices;
    SN_TRY(SN_ARENA_NEW(w->scratch, count, &indices, w->err));
    for (uint32_t i = 0; i < count; ++i) indices[i] = corners[i] - p->first_vertex;
    array.component = SN_GLTF_UINT32;
    array.values = indices;
  }
  return sn_gltf_put_array(w, primitive, "indices", &array);
}

static sn_status put_positions(sn_gltf_writer* w, json_t* attributes, const sn_mesh* mesh,
                               const piece* p, const float* normals) {
  float* positions;
  SN_TRY(SN_ARENA_NEW(w->scratch, 3 * (size_t)p->vertex_count, &positions, w->err));
  const double* from = mesh->positions + 3 * (size_t)p->first_vertex;
  for (size_t i = 0; i < 3 * (size_t)p->vertex_count; ++i) positions[i] = (float)from[i];
  sn_gltf_array array = {.values = positions,
                         .component = SN_GLTF_FLOAT,
                         .type = "VEC3",
                         .width = 3,
                         .count = p->vertex_count,
                         .target = SN_GLTF_VERTICES,
                         .has_range = true};
  SN_TRY(sn_gltf_put_array(w, attributes, "POSITION", &array));
  array.values = normals + 3 * (size_t)p->first_vertex;
  array.has_range = false;
  return sn_gltf_put_array(w, attributes, "NORMAL", &array);
}

// Four joints a set; what is left over, and what has no weight, is joint 0.
static sn_status put_set(sn_gltf_writer* w, json_t* attributes, const sn_gltf_mesh* mesh,
                         const piece* p, int set) {
  uint16_t* joints;
  float* weights;
  SN_TRY(SN_ARENA_NEW(w->scratch, 4 * (size_t)p->vertex_count, &joints, w->err));
  SN_TRY(SN_ARENA_NEW(w->scratch, 4 * (size_t)p->vertex_count, &weights, w->err));
  for (size_t v = 0; v < p->vertex_count; ++v) {
    size_t from = (p->first_vertex + v) * (size_t)mesh->influence_count;
    for (int k = 0; k < 4 && 4 * set + k < mesh->influence_count; ++k) {
      size_t at = from + (size_t)(4 * set + k), to = 4 * v + (size_t)k;
      weights[to] = mesh->weights[at];
      joints[to] = mesh->weights[at] > 0.0f ? mesh->joints[at] : 0;
    }
  }
  char name[24];
  sn_gltf_array array = {.values = joints,
                         .component = SN_GLTF_UINT16,
                         .type = "VEC4",
                         .width = 4,
                         .count = p->vertex_count,
                         .target = SN_GLTF_VERTICES};
  snprintf(name, sizeof name, "JOINTS_%d", set);
  SN_TRY(sn_gltf_put_array(w, attributes, name, &array));
  array.values = weights;
  array.component = SN_GLTF_FLOAT;
  snprintf(name, sizeof name, "WEIGHTS_%d", set);
  return sn_gltf_put_array(w, attributes, name, &array);
}

static sn_status put_map(sn_gltf_writer* w, json_t* attributes, const sn_gltf_map* map,
                         const piece* p) {
  json_t* name = json_string(map->name);
  SN_CHECK(name, w->err, SN_ERR_USAGE, "the name of a map is not UTF-8, as JSON must be");
  json_decref(name);
  sn_gltf_array array = {.values = map->values + p->first_vertex,
                         .component = SN_GLTF_FLOAT,
                         .type = "SCALAR",
                         .width = 1,
                         .count = p->vertex_count,
                         .target = SN_GLTF_VERTICES};
  return sn_gltf_put_array(w, attributes, map->name, &array);
}

// A group keeps its name as that of a material.
static sn_status put_material(sn_gltf_writer* w, json_t* primitive, const char* group) {
  json_t* material;
  json_int_t index = (json_int_t)json_array_size(w->materials);
  SN_TRY(sn_gltf_append_object(w, w->materials, &material));
  SN_TRY(sn_gltf_put_name(w, material, group));
  return sn_gltf_put(w, primitive, "material", json_integer(index));
}

static sn_status put_primitive(sn_gltf_writer* w, json_t* primitives, const sn_gltf_mesh* mesh,
                               const piece* p, const float* normals) {
  json_t *primitive, *attributes;
  SN_TRY(sn_gltf_append_object(w, primitives, &primitive));
  SN_TRY(sn_gltf_put(w, primitive, "attributes", attributes = json_object()));
  SN_TRY(put_positions(w, attributes, &mesh->mesh, p, normals));
  for (int set = 0; 4 * set < mesh->influence_count; ++set) {
    SN_TRY(put_set(w, attributes, mesh, p, set));
  }
  for (uint32_t k = 0; k < mesh->map_count; ++k) {
    SN_TRY(put_map(w, attributes, &mesh->maps[k], p));
  }
  if (p->group) SN_TRY(put_material(w, primitive, p->group));
  return put_indices(w, primitive, &mesh->mesh, p);
}

sn_status sn_gltf_put_mesh(sn_gltf_writer* w, json_t* object, const sn_gltf_mesh* mesh) {
  SN_CHECK(mesh->mesh.triangle_count <= UINT32_MAX / 3, w->err, SN_ERR_USAGE,
           "a mesh has %u triangles, more than a file can hold", mesh->mesh.triangle_count);
  SN_TRY(sn_gltf_put_name(w, object, mesh->name));
  json_t* primitives;
  SN_TRY(sn_gltf_put_list(w, object, "primitives", &primitives));

  sn_arena_mark mark = sn_arena_get_mark(w->scratch);
  size_t number_count = 3 * (size_t)mesh->mesh.vertex_count;
  double* sums;
  float* normals;
  piece* pieces;
  SN_TRY(SN_ARENA_NEW(w->scratch, number_count, &sums, w->err));
  SN_TRY(SN_ARENA_NEW(w->scratch, number_count, &normals, w->err));
  SN_TRY(SN_ARENA_NEW(w->scratch, (size_t)mesh->mesh.group_count + 1, &pieces, w->err));
  find_normals(&mesh->mesh, sums, normals);
  uint32_t piece_count = split_mesh(&mesh->mesh, pieces);
  for (uint32_t i = 0; i < piece_count; ++i) {
    SN_TRY(put_primitive(w, primitives, mesh, &pieces[i], normals));
  }
  sn_arena_release(w->scratch, mark);
  return SN_OK;
}
