// A mesh seen by its faces, as formats want it that have groups, materials or texture coordinates.
#ifndef SN_IO_MESH_PARTS_H
#define SN_IO_MESH_PARTS_H

#include "base/memory.h"
#include "sinew/mesh.h"

#define SN_NO_MATERIAL UINT32_MAX

typedef struct sn_mesh_parts {
  uint32_t* triangle_faces;  // the face that each triangle is a part of (triangle_count)
  uint32_t* group_starts;    // first of each face's groups in `groups` (face_count + 1)
  uint32_t* groups;          // group indices, ascending within a face
  // One group for each name of a material, in their order (material_count).
  const sn_mesh_group** materials;
  uint32_t material_count;
  uint32_t* face_materials;  // index into them, or SN_NO_MATERIAL (face_count)
  // Points: vertices, as often as they have different texture coordinates. Without those, and where no
  // vertex has two, points are the vertices, in their order.
  uint32_t* corner_points;  // point of each corner
  uint32_t* point_vertices;
  float* point_uvs;  // (2 x point_count); NULL without texture coordinates
  uint32_t point_count;
} sn_mesh_parts;

sn_status sn_mesh_parts_find(const sn_mesh* mesh, sn_arena* arena, sn_mesh_parts* parts,
                             sn_error* err);

#endif
