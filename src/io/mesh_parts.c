#include "io/mesh_parts.h"

#include <string.h>

#define NO_POINT UINT32_MAX

static size_t corner_count_of(const sn_mesh* mesh) {
  return mesh->face_count > 0 ? mesh->face_starts[mesh->face_count] : 0;
}

// Groups and materials

static sn_status find_faces(const sn_mesh* mesh, sn_arena* arena, sn_mesh_parts* parts,
                            sn_error* err) {
  SN_TRY(SN_ARENA_RAW(arena, mesh->triangle_count, &parts->triangle_faces, err));
  uint32_t* to = parts->triangle_faces;
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    uint32_t count = mesh->face_starts[f + 1] - mesh->face_starts[f] - 2;
    for (uint32_t t = 0; t < count; ++t) *to++ = f;
  }
  return SN_OK;
}

// Calls for each pair of group and face: first counts, then places. Groups list their triangles in
// ascending order, so those of a face follow one another.
static void count_or_place(const sn_mesh* mesh, const uint32_t* faces, uint32_t* places,
                           uint32_t* groups) {
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    const sn_mesh_group* group = &mesh->groups[g];
    for (uint32_t i = 0; i < group->triangle_count; ++i) {
      uint32_t face = faces[group->triangles[i]];
      if (i > 0 && faces[group->triangles[i - 1]] == face) continue;
      if (groups) groups[places[face]] = g;
      ++places[face];
    }
  }
}

static sn_status find_groups(const sn_mesh* mesh, sn_arena* arena, sn_mesh_parts* parts,
                             sn_error* err) {
  uint32_t* places;  // one behind, so that after placing they are the starts
  SN_TRY(SN_ARENA_NEW(arena, (size_t)mesh->face_count + 2, &places, err));
  count_or_place(mesh, parts->triangle_faces, places + 2, NULL);
  for (size_t f = 2; f < (size_t)mesh->face_count + 2; ++f) places[f] += places[f - 1];
  SN_TRY(SN_ARENA_NEW(arena, places[mesh->face_count + 1], &parts->groups, err));
  count_or_place(mesh, parts->triangle_faces, places + 1, parts->groups);
  parts->group_starts = places;
  return SN_OK;
}

static uint32_t find_material(const sn_mesh_parts* parts, const char* name) {
  uint32_t m = 0;
  while (m < parts->material_count && strcmp(parts->materials[m]->material, name) != 0) ++m;
  return m;
}

// A face in several takes the first.
static sn_status find_materials(const sn_mesh* mesh, sn_arena* arena, sn_mesh_parts* parts,
                                sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, mesh->group_count, &parts->materials, err));
  SN_TRY(SN_ARENA_RAW(arena, mesh->face_count, &parts->face_materials, err));
  for (uint32_t f = 0; f < mesh->face_count; ++f) parts->face_materials[f] = SN_NO_MATERIAL;
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    const sn_mesh_group* group = &mesh->groups[g];
    if (!group->material) continue;
    uint32_t material = find_material(parts, group->material);
    if (material == parts->material_count) parts->materials[parts->material_count++] = group;
    for (uint32_t i = 0; i < group->triangle_count; ++i) {
      uint32_t* own = &parts->face_materials[parts->triangle_faces[group->triangles[i]]];
      if (*own == SN_NO_MATERIAL) *own = material;
    }
  }
  return SN_OK;
}

// Points

// Points while they are found: a list for each vertex, in the order of the corners.
typedef struct point_lists {
  uint32_t* heads;    // (vertex_count)
  uint32_t* next;     // (corner count, at most as many points)
  uint32_t* corners;  // the first corner of each point
  uint32_t count;
} point_lists;

static uint32_t find_point(const sn_mesh* mesh, point_lists* lists, uint32_t corner) {
  uint32_t* link = &lists->heads[mesh->face_vertices[corner]];
  const float* uv = mesh->uvs + 2 * (size_t)corner;
  for (; *link != NO_POINT; link = &lists->next[*link]) {
    const float* other = mesh->uvs + 2 * (size_t)lists->corners[*link];
    if (uv[0] == other[0] && uv[1] == other[1]) return *link;
  }
  *link = lists->count;
  lists->next[lists->count] = NO_POINT;
  lists->corners[lists->count] = corner;
  return lists->count++;
}

static sn_status take_points(const sn_mesh* mesh, sn_arena* arena, uint32_t count,
                             sn_mesh_parts* parts, sn_error* err) {
  parts->point_count = count;
  SN_TRY(SN_ARENA_RAW(arena, count, &parts->point_vertices, err));
  return mesh->uvs ? SN_ARENA_NEW(arena, 2 * (size_t)count, &parts->point_uvs, err) : SN_OK;
}

// Number the points by vertex; one that no face uses is a point all the same.
static sn_status order_points(const sn_mesh* mesh, const point_lists* lists, sn_arena* arena,
                              sn_mesh_parts* parts, sn_error* err) {
  uint32_t unused = 0, *numbers;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) unused += lists->heads[v] == NO_POINT;
  SN_CHECK(unused <= UINT32_MAX - lists->count, err, SN_ERR_INPUT,
           "the mesh has more than %u vertices and texture seams; expected fewer", UINT32_MAX);
  SN_TRY(take_points(mesh, arena, lists->count + unused, parts, err));
  SN_TRY(SN_ARENA_RAW(arena, lists->count, &numbers, err));
  uint32_t number = 0;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    if (lists->heads[v] == NO_POINT) parts->point_vertices[number++] = v;
    for (uint32_t p = lists->heads[v]; p != NO_POINT; p = lists->next[p]) {
      memcpy(parts->point_uvs + 2 * (size_t)number, mesh->uvs + 2 * (size_t)lists->corners[p],
             2 * sizeof(float));
      numbers[p] = number;
      parts->point_vertices[number++] = v;
    }
  }
  size_t corner_count = corner_count_of(mesh);
  for (size_t c = 0; c < corner_count; ++c) {
    parts->corner_points[c] = numbers[parts->corner_points[c]];
  }
  return SN_OK;
}

static sn_status find_points(const sn_mesh* mesh, sn_arena* arena, sn_mesh_parts* parts,
                             sn_error* err) {
  size_t corner_count = corner_count_of(mesh);
  SN_TRY(SN_ARENA_RAW(arena, corner_count, &parts->corner_points, err));
  if (!mesh->uvs) {
    memcpy(parts->corner_points, mesh->face_vertices, corner_count * sizeof(uint32_t));
    SN_TRY(take_points(mesh, arena, mesh->vertex_count, parts, err));
    for (uint32_t v = 0; v < mesh->vertex_count; ++v) parts->point_vertices[v] = v;
    return SN_OK;
  }
  point_lists lists = {0};
  SN_TRY(SN_ARENA_RAW(arena, mesh->vertex_count, &lists.heads, err));
  SN_TRY(SN_ARENA_RAW(arena, corner_count, &lists.next, err));
  SN_TRY(SN_ARENA_RAW(arena, corner_count, &lists.corners, err));
  memset(lists.heads, 0xff, mesh->vertex_count * sizeof *lists.heads);
  for (uint32_t c = 0; c < corner_count; ++c) {
    parts->corner_points[c] = find_point(mesh, &lists, c);
  }
  return order_points(mesh, &lists, arena, parts, err);
}

sn_status sn_mesh_parts_find(const sn_mesh* mesh, sn_arena* arena, sn_mesh_parts* parts,
                             sn_error* err) {
  *parts = (sn_mesh_parts){0};
  SN_TRY(find_faces(mesh, arena, parts, err));
  SN_TRY(find_groups(mesh, arena, parts, err));
  SN_TRY(find_materials(mesh, arena, parts, err));
  return find_points(mesh, arena, parts, err);
}
