#include <string.h>

#include "geometry/mesh_arrays.h"
#include "io/export_glb.h"

#define UNUSED UINT32_MAX

// Chunks

uint32_t sn_glb_chunk_count(uint32_t frame_count) {
  return frame_count <= 1 ? 1 : (frame_count - 2) / SN_GLB_TARGETS + 1;
}

sn_glb_chunk sn_glb_chunk_at(uint32_t frame_count, uint32_t index) {
  uint32_t first = SN_GLB_TARGETS * index, left = frame_count - first;
  return (sn_glb_chunk){first, left < SN_GLB_TARGETS + 1 ? left : SN_GLB_TARGETS + 1};
}

// Primitives

// Give the points that a material's triangles use their numbers in the primitive, in ascending order.
static void number_points(const sn_mesh* mesh, const sn_mesh_parts* parts, const uint32_t* corners,
                          uint32_t* numbers, sn_glb_primitive* p) {
  memset(numbers, 0xff, parts->point_count * sizeof *numbers);
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    if (parts->face_materials[parts->triangle_faces[t]] != p->material) continue;
    for (int c = 0; c < 3; ++c) numbers[parts->corner_points[corners[3 * t + (size_t)c]]] = 0;
    p->index_count += 3;
  }
  for (uint32_t i = 0; i < parts->point_count; ++i) {
    if (numbers[i] != UNUSED) numbers[i] = p->vertex_count++;
  }
}

static void fill_vertices(const sn_mesh_parts* parts, const uint32_t* numbers,
                          sn_glb_primitive* p) {
  for (size_t i = 0; i < parts->point_count; ++i) {
    if (numbers[i] == UNUSED) continue;
    p->vertices[numbers[i]] = parts->point_vertices[i];
    if (!p->uvs) continue;
    p->uvs[2 * (size_t)numbers[i]] = parts->point_uvs[2 * i];
    p->uvs[2 * (size_t)numbers[i] + 1] = 1.0f - parts->point_uvs[2 * i + 1];
  }
}

static sn_status fill_primitive(const sn_mesh* mesh, const sn_mesh_parts* parts,
                                const uint32_t* corners, const uint32_t* numbers, sn_arena* arena,
                                sn_glb_primitive* p, sn_error* err) {
  SN_TRY(SN_ARENA_RAW(arena, p->vertex_count, &p->vertices, err));
  SN_TRY(SN_ARENA_RAW(arena, p->index_count, &p->indices, err));
  if (parts->point_uvs) SN_TRY(SN_ARENA_RAW(arena, 2 * (size_t)p->vertex_count, &p->uvs, err));
  fill_vertices(parts, numbers, p);
  uint32_t* to = p->indices;
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    if (parts->face_materials[parts->triangle_faces[t]] != p->material) continue;
    for (int c = 0; c < 3; ++c) {
      *to++ = numbers[parts->corner_points[corners[3 * t + (size_t)c]]];
    }
  }
  return SN_OK;
}

sn_status sn_glb_split(const sn_export_body* body, sn_arena* arena, sn_glb_body* split,
                       sn_error* err) {
  const sn_mesh* mesh = &body->mesh;
  uint32_t *corners, *numbers;
  *split = (sn_glb_body){.body = body};
  SN_CHECK(mesh->triangle_count <= UINT32_MAX / 3, err, SN_ERR_INPUT,
           "body \"%s\": %u triangles; expected %u or less, as a GLB file counts them", body->name,
           mesh->triangle_count, UINT32_MAX / 3);
  SN_TRY(sn_mesh_parts_find(mesh, arena, &split->parts, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)split->parts.material_count + 1, &split->primitives, err));
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)mesh->triangle_count, &corners, err));
  SN_TRY(SN_ARENA_RAW(arena, split->parts.point_count, &numbers, err));
  sn_mesh_triangle_corners(mesh, corners);
  for (uint32_t m = 0; m <= split->parts.material_count; ++m) {
    sn_glb_primitive* p = &split->primitives[split->primitive_count];
    *p = (sn_glb_primitive){.material = m < split->parts.material_count ? m : SN_NO_MATERIAL};
    number_points(mesh, &split->parts, corners, numbers, p);
    if (p->index_count == 0) continue;
    SN_TRY(fill_primitive(mesh, &split->parts, corners, numbers, arena, p, err));
    split->primitive_count++;
  }
  return SN_OK;
}
