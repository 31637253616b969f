// Meshes in memory. A finished mesh lives in one arena with arrays of exact size; while it is being
// read its arrays grow outside, so that nothing outgrown stays in the arena.
#include "geometry/mesh_arrays.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef struct group_record {
  size_t name;  // offset in the names
  size_t name_length;
  uint32_t triangle_count;
  bool is_material, has_color;
  size_t material;  // offset of its name in the names
  float color[4];
} group_record;

// Triangles first..end-1 are in the group.
typedef struct group_run {
  uint32_t group, first, end;
} group_run;

#define NO_GROUP UINT32_MAX
#define NO_UV UINT32_MAX

bool sn_mesh_coordinate_is_valid(double value) {
  return fabs(value) <= SN_MESH_COORDINATE_MAX;  // false for NaN
}

// Growing lists

static sn_status reserve_items(sn_mesh_list* list, size_t count, size_t item_bytes, sn_error* err) {
  if (count <= list->capacity) return SN_OK;
  size_t capacity = list->capacity < 32 ? 64 : 2 * list->capacity;
  if (capacity < count) capacity = count;
  size_t bytes;
  if (__builtin_mul_overflow(capacity, item_bytes, &bytes)) return sn_fail_memory(err, SIZE_MAX);
  void* items = sn_allocate(bytes);
  if (!items) return sn_fail_memory(err, bytes);
  if (list->count > 0) memcpy(items, list->items, list->count * item_bytes);
  sn_release(list->items);
  list->items = items;
  list->capacity = capacity;
  return SN_OK;
}

static sn_status append_items(sn_mesh_list* list, const void* items, size_t count,
                              size_t item_bytes, sn_error* err) {
  SN_TRY(reserve_items(list, list->count + count, item_bytes, err));
  memcpy((char*)list->items + list->count * item_bytes, items, count * item_bytes);
  list->count += count;
  return SN_OK;
}

static void release_items(sn_mesh_list* list) {
  sn_release(list->items);
  *list = (sn_mesh_list){0};
}

// Vertices and polygons

uint32_t sn_mesh_builder_vertex_count(const sn_mesh_builder* builder) {
  return (uint32_t)builder->positions.count;
}

sn_status sn_mesh_builder_add_vertex(sn_mesh_builder* builder, sn_vec3 position, sn_error* err) {
  SN_ASSERT(sn_mesh_coordinate_is_valid(position.x) && sn_mesh_coordinate_is_valid(position.y) &&
            sn_mesh_coordinate_is_valid(position.z));
  SN_CHECK(builder->positions.count < UINT32_MAX, err, SN_ERR_INPUT,
           "the mesh has more than %u vertices; expected a smaller one", UINT32_MAX);
  return append_items(&builder->positions, &position, 1, sizeof position, err);
}

sn_status sn_mesh_builder_add_corner(sn_mesh_builder* builder, uint32_t vertex, sn_error* err) {
  SN_CHECK(builder->corners.count < UINT32_MAX, err, SN_ERR_INPUT,
           "the faces of the mesh have more than %u corners; expected a smaller mesh", UINT32_MAX);
  return append_items(&builder->corners, &vertex, 1, sizeof vertex, err);
}

sn_status sn_mesh_builder_end_face(sn_mesh_builder* builder, sn_error* err) {
  const uint32_t* ends = builder->face_ends.items;
  size_t face_count = builder->face_ends.count;
  uint32_t start = face_count > 0 ? ends[face_count - 1] : 0;
  uint32_t end = (uint32_t)builder->corners.count;
  SN_ASSERT(end - start >= 3);
  SN_TRY(append_items(&builder->face_ends, &end, 1, sizeof end, err));
  builder->triangle_count += end - start - 2;
  return SN_OK;
}

// Texture coordinates

uint32_t sn_mesh_builder_uv_count(const sn_mesh_builder* builder) {
  return (uint32_t)builder->uvs.count;
}

sn_status sn_mesh_builder_add_uv(sn_mesh_builder* builder, float u, float v, sn_error* err) {
  const float pair[2] = {u, v};
  SN_ASSERT(isfinite(u) && isfinite(v));
  SN_CHECK(builder->uvs.count < NO_UV, err, SN_ERR_INPUT,
           "the mesh has more than %u texture coordinates; expected fewer", NO_UV);
  return append_items(&builder->uvs, pair, 1, sizeof pair, err);
}

sn_status sn_mesh_builder_set_uv(sn_mesh_builder* builder, uint32_t uv, sn_error* err) {
  SN_ASSERT(builder->corners.count > builder->corner_uvs.count && uv != NO_UV);
  size_t count = builder->corners.count;
  SN_TRY(reserve_items(&builder->corner_uvs, count, sizeof uv, err));
  uint32_t* uvs = builder->corner_uvs.items;
  for (size_t c = builder->corner_uvs.count; c < count; ++c) uvs[c] = NO_UV;
  uvs[count - 1] = uv;
  builder->corner_uvs.count = count;
  return SN_OK;
}

// Groups. A file may name very many, hence the hash table.

static size_t hash_name(const char* name, size_t length) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (size_t i = 0; i < length; ++i) hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
  return (size_t)(hash ^ (hash >> 32));
}

static bool group_is_named(const sn_mesh_builder* builder, uint32_t group, const char* name,
                           size_t length) {
  const group_record* record = (const group_record*)builder->groups.items + group;
  return record->name_length == length &&
         memcmp((const char*)builder->names.items + record->name, name, length) == 0;
}

// The slot that holds the group, or the free one where it belongs.
static uint32_t* find_slot(const sn_mesh_builder* builder, const char* name, size_t length) {
  uint32_t* slots = builder->slots.items;
  size_t mask = builder->slots.count - 1;
  size_t at = hash_name(name, length) & mask;
  while (slots[at] != NO_GROUP && !group_is_named(builder, slots[at], name, length)) {
    at = (at + 1) & mask;
  }
  return slots + at;
}

// Keep the table at most half full, which also keeps searches short.
static sn_status reserve_slots(sn_mesh_builder* builder, sn_error* err) {
  size_t old_count = builder->slots.count;
  if (2 * (builder->groups.count + 1) <= old_count) return SN_OK;
  size_t count = old_count > 0 ? 2 * old_count : 64;
  SN_TRY(reserve_items(&builder->slots, count, sizeof(uint32_t), err));
  builder->slots.count = count;
  memset(builder->slots.items, 0xff, count * sizeof(uint32_t));
  const group_record* groups = builder->groups.items;
  for (uint32_t g = 0; g < builder->groups.count; ++g) {
    const char* name = (const char*)builder->names.items + groups[g].name;
    *find_slot(builder, name, groups[g].name_length) = g;
  }
  return SN_OK;
}

sn_status sn_mesh_builder_find_group(sn_mesh_builder* builder, const char* name, size_t length,
                                     uint32_t* group, sn_error* err) {
  SN_TRY(reserve_slots(builder, err));
  uint32_t* slot = find_slot(builder, name, length);
  if (*slot == NO_GROUP) {
    SN_CHECK(builder->groups.count < NO_GROUP, err, SN_ERR_INPUT,
             "the mesh has more than %u groups; expected fewer", NO_GROUP);
    group_record record = {.name = builder->names.count, .name_length = length};
    SN_TRY(append_items(&builder->names, name, length, 1, err));
    SN_TRY(append_items(&builder->names, "", 1, 1, err));
    SN_TRY(append_items(&builder->groups, &record, 1, sizeof record, err));
    *slot = (uint32_t)builder->groups.count - 1;
  }
  *group = *slot;
  return SN_OK;
}

sn_status sn_mesh_builder_set_material(sn_mesh_builder* builder, uint32_t group, const char* name,
                                       size_t length, const float* color, sn_error* err) {
  SN_ASSERT(group < builder->groups.count);
  group_record* record = (group_record*)builder->groups.items + group;
  if (record->is_material) return SN_OK;
  size_t place = builder->names.count;
  SN_TRY(append_items(&builder->names, name, length, 1, err));
  SN_TRY(append_items(&builder->names, "", 1, 1, err));
  record->is_material = true;
  record->material = place;
  record->has_color = color != NULL;
  if (color) memcpy(record->color, color, sizeof record->color);
  return SN_OK;
}

// Record the triangles since the last change for every group they are in.
static sn_status close_runs(sn_mesh_builder* builder, sn_error* err) {
  uint32_t first = builder->current_first, end = builder->triangle_count;
  for (uint32_t i = 0; i < builder->current_count && first < end; ++i) {
    group_run run = {builder->current[i], first, end};
    SN_TRY(append_items(&builder->runs, &run, 1, sizeof run, err));
    ((group_record*)builder->groups.items)[run.group].triangle_count += end - first;
  }
  builder->current_first = end;
  builder->current_count = 0;
  return SN_OK;
}

sn_status sn_mesh_builder_use_groups(sn_mesh_builder* builder, const uint32_t* groups,
                                     uint32_t group_count, sn_error* err) {
  SN_ASSERT(group_count <= SN_MESH_GROUPS_AT_ONCE);
  SN_TRY(close_runs(builder, err));
  for (uint32_t i = 0; i < group_count; ++i) {
    SN_ASSERT(groups[i] < builder->groups.count);
    bool repeated = false;
    for (uint32_t k = 0; k < builder->current_count; ++k) {
      repeated = repeated || builder->current[k] == groups[i];
    }
    if (!repeated) builder->current[builder->current_count++] = groups[i];
  }
  return SN_OK;
}

void sn_mesh_builder_destroy(sn_mesh_builder* builder) {
  release_items(&builder->positions);
  release_items(&builder->corners);
  release_items(&builder->face_ends);
  release_items(&builder->uvs);
  release_items(&builder->corner_uvs);
  release_items(&builder->groups);
  release_items(&builder->names);
  release_items(&builder->slots);
  release_items(&builder->runs);
  *builder = (sn_mesh_builder){0};
}

// Finished meshes

static sn_status take_arrays(sn_mesh* mesh, size_t corner_count, sn_error* err) {
  SN_TRY(sn_arena_create(&mesh->storage, err));
  SN_TRY(SN_ARENA_NEW(mesh->storage, 3 * (size_t)mesh->vertex_count, &mesh->positions, err));
  SN_TRY(SN_ARENA_NEW(mesh->storage, (size_t)mesh->face_count + 1, &mesh->face_starts, err));
  SN_TRY(SN_ARENA_NEW(mesh->storage, corner_count, &mesh->face_vertices, err));
  return SN_ARENA_NEW(mesh->storage, 3 * (size_t)mesh->triangle_count, &mesh->triangles, err);
}

static void fan_polygons(sn_mesh* mesh) {
  uint32_t* triangle = mesh->triangles;
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    uint32_t first = mesh->face_starts[f];
    for (uint32_t c = first + 2; c < mesh->face_starts[f + 1]; ++c, triangle += 3) {
      triangle[0] = mesh->face_vertices[first];
      triangle[1] = mesh->face_vertices[c - 1];
      triangle[2] = mesh->face_vertices[c];
    }
  }
}

static sn_status copy_polygons(const sn_mesh_builder* builder, sn_mesh* mesh, sn_error* err) {
  // Corners of a polygon that was never ended are left behind.
  const uint32_t* ends = builder->face_ends.items;
  size_t face_count = builder->face_ends.count;
  size_t corner_count = face_count > 0 ? ends[face_count - 1] : 0;
  mesh->vertex_count = (uint32_t)builder->positions.count;
  mesh->face_count = (uint32_t)face_count;
  mesh->triangle_count = builder->triangle_count;
  SN_TRY(take_arrays(mesh, corner_count, err));

  const sn_vec3* positions = builder->positions.items;
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    mesh->positions[3 * v] = positions[v].x;
    mesh->positions[3 * v + 1] = positions[v].y;
    mesh->positions[3 * v + 2] = positions[v].z;
  }
  const uint32_t* corners = builder->corners.items;
  for (size_t c = 0; c < corner_count; ++c) {
    SN_ASSERT(corners[c] < mesh->vertex_count);
    mesh->face_vertices[c] = corners[c];
  }
  for (size_t f = 0; f < face_count; ++f) mesh->face_starts[f + 1] = ends[f];
  fan_polygons(mesh);
  return SN_OK;
}

// One block for all names and one for all lists, divided among the groups that have triangles.
static sn_status share_out_groups(const sn_mesh_builder* builder, sn_mesh* mesh, uint32_t* places,
                                  sn_error* err) {
  const group_record* records = builder->groups.items;
  size_t triangle_total = 0;
  for (size_t g = 0; g < builder->groups.count; ++g) triangle_total += records[g].triangle_count;
  char* names;
  uint32_t* triangles;
  SN_TRY(SN_ARENA_NEW(mesh->storage, builder->groups.count, &mesh->groups, err));
  SN_TRY(SN_ARENA_NEW(mesh->storage, builder->names.count, &names, err));
  SN_TRY(SN_ARENA_NEW(mesh->storage, triangle_total, &triangles, err));
  memcpy(names, builder->names.items, builder->names.count);
  for (size_t g = 0; g < builder->groups.count; ++g) {
    if (records[g].triangle_count == 0) continue;
    places[g] = mesh->group_count++;
    sn_mesh_group* group = &mesh->groups[places[g]];
    *group =
        (sn_mesh_group){.name = names + records[g].name,
                        .triangles = triangles,
                        .material = records[g].is_material ? names + records[g].material : NULL,
                        .has_color = records[g].has_color};
    memcpy(group->color, records[g].color, sizeof group->color);
    triangles += records[g].triangle_count;
  }
  return SN_OK;
}

// Runs come in the order of the file, so each list ends up ascending.
static void fill_groups(const sn_mesh_builder* builder, sn_mesh* mesh, const uint32_t* places) {
  const group_run* runs = builder->runs.items;
  for (size_t r = 0; r < builder->runs.count; ++r) {
    sn_mesh_group* group = mesh->groups + places[runs[r].group];
    for (uint32_t t = runs[r].first; t < runs[r].end; ++t) {
      group->triangles[group->triangle_count++] = t;
    }
  }
}

static sn_status copy_groups(sn_mesh_builder* builder, sn_mesh* mesh, sn_error* err) {
  SN_TRY(close_runs(builder, err));
  if (builder->runs.count == 0) return SN_OK;
  size_t bytes = builder->groups.count * sizeof(uint32_t);
  uint32_t* places = sn_allocate(bytes);  // from the builder's groups to those of the mesh
  if (!places) return sn_fail_memory(err, bytes);
  sn_status status = share_out_groups(builder, mesh, places, err);
  if (status == SN_OK) fill_groups(builder, mesh, places);
  sn_release(places);
  return status;
}

static sn_status copy_uvs(const sn_mesh_builder* builder, sn_mesh* mesh, sn_error* err) {
  size_t corner_count = mesh->face_count > 0 ? mesh->face_starts[mesh->face_count] : 0;
  const uint32_t* given = builder->corner_uvs.items;
  const float* pairs = builder->uvs.items;
  if (builder->corner_uvs.count == 0 || builder->uvs.count == 0) return SN_OK;
  SN_TRY(SN_ARENA_NEW(mesh->storage, 2 * corner_count, &mesh->uvs, err));
  for (size_t c = 0; c < corner_count && c < builder->corner_uvs.count; ++c) {
    if (given[c] >= builder->uvs.count) continue;
    memcpy(mesh->uvs + 2 * c, pairs + 2 * (size_t)given[c], 2 * sizeof *pairs);
  }
  return SN_OK;
}

sn_status sn_mesh_builder_finish(sn_mesh_builder* builder, sn_mesh* mesh, sn_error* err) {
  *mesh = (sn_mesh){0};
  sn_status status = copy_polygons(builder, mesh, err);
  if (status == SN_OK) status = copy_uvs(builder, mesh, err);
  if (status == SN_OK) status = copy_groups(builder, mesh, err);
  if (status != SN_OK) sn_mesh_destroy(mesh);
  return status;
}

static sn_status check_arrays(const double* positions, uint32_t vertex_count,
                              const uint32_t* triangles, uint32_t triangle_count, sn_error* err) {
  SN_CHECK(triangle_count > 0, err, SN_ERR_INPUT, "no triangles; expected a surface mesh");
  SN_CHECK(triangle_count <= UINT32_MAX / 3, err, SN_ERR_INPUT, "%u triangles; expected at most %u",
           triangle_count, UINT32_MAX / 3);
  for (size_t i = 0; i < 3 * (size_t)vertex_count; ++i) {
    SN_CHECK(sn_mesh_coordinate_is_valid(positions[i]), err, SN_ERR_INPUT,
             "positions[%zu] is %g; expected a finite number of magnitude up to %g", i,
             positions[i], SN_MESH_COORDINATE_MAX);
  }
  for (size_t i = 0; i < 3 * (size_t)triangle_count; ++i) {
    SN_CHECK(triangles[i] < vertex_count, err, SN_ERR_INPUT,
             "triangles[%zu] is %u; expected an index below the vertex count, %u", i, triangles[i],
             vertex_count);
  }
  return SN_OK;
}

sn_status sn_mesh_from_arrays(const double* positions, uint32_t vertex_count,
                              const uint32_t* triangles, uint32_t triangle_count, sn_mesh* mesh,
                              sn_error* err) {
  *mesh = (sn_mesh){0};
  SN_TRY(check_arrays(positions, vertex_count, triangles, triangle_count, err));
  mesh->vertex_count = vertex_count;
  mesh->face_count = mesh->triangle_count = triangle_count;
  size_t corner_count = 3 * (size_t)triangle_count;
  sn_status status = take_arrays(mesh, corner_count, err);
  if (status != SN_OK) {
    sn_mesh_destroy(mesh);
    return status;
  }
  memcpy(mesh->positions, positions, 3 * (size_t)vertex_count * sizeof *positions);
  memcpy(mesh->face_vertices, triangles, corner_count * sizeof *triangles);
  memcpy(mesh->triangles, triangles, corner_count * sizeof *triangles);
  for (uint32_t f = 0; f <= triangle_count; ++f) mesh->face_starts[f] = 3 * f;
  return SN_OK;
}

void sn_mesh_destroy(sn_mesh* mesh) {
  sn_arena_destroy(mesh->storage);
  *mesh = (sn_mesh){0};
}

void sn_mesh_triangle_corners(const sn_mesh* mesh, uint32_t* corners) {
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    uint32_t first = mesh->face_starts[f];
    for (uint32_t c = first + 2; c < mesh->face_starts[f + 1]; ++c, corners += 3) {
      corners[0] = first;
      corners[1] = c - 1;
      corners[2] = c;
    }
  }
}

// Validity

static bool polygons_are_valid(const sn_mesh* mesh) {
  if (mesh->face_starts[0] != 0) return false;
  const uint32_t* triangle = mesh->triangles;
  const uint32_t* end = mesh->triangles + 3 * (size_t)mesh->triangle_count;
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    uint32_t first = mesh->face_starts[f], stop = mesh->face_starts[f + 1];
    if (stop < first || stop - first < 3) return false;
    for (uint32_t c = first; c < stop; ++c) {
      if (mesh->face_vertices[c] >= mesh->vertex_count) return false;
    }
    for (uint32_t c = first + 2; c < stop; ++c, triangle += 3) {
      if (triangle == end || triangle[0] != mesh->face_vertices[first] ||
          triangle[1] != mesh->face_vertices[c - 1] || triangle[2] != mesh->face_vertices[c]) {
        return false;
      }
    }
  }
  return triangle == end;
}

static bool group_is_valid(const sn_mesh_group* group, uint32_t triangle_count) {
  for (uint32_t i = 0; i < group->triangle_count; ++i) {
    if (group->triangles[i] >= triangle_count) return false;
    if (i > 0 && group->triangles[i] <= group->triangles[i - 1]) return false;
  }
  return group->name && group->triangle_count > 0;
}

static bool uvs_are_valid(const sn_mesh* mesh) {
  size_t count = mesh->uvs ? 2 * (size_t)mesh->face_starts[mesh->face_count] : 0;
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(mesh->uvs[i])) return false;
  }
  return true;
}

bool sn_mesh_is_valid(const sn_mesh* mesh) {
  if (!mesh->storage || mesh->triangle_count == 0 || !polygons_are_valid(mesh)) return false;
  if (!uvs_are_valid(mesh)) return false;
  for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; ++i) {
    if (!sn_mesh_coordinate_is_valid(mesh->positions[i])) return false;
  }
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    if (!group_is_valid(mesh->groups + g, mesh->triangle_count)) return false;
  }
  return true;
}
