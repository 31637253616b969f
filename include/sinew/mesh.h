/// Surface meshes: polygons as read, and the triangles that they fan into.
#ifndef SINEW_MESH_H
#define SINEW_MESH_H

#include "sinew/base.h"
#include "sinew/math.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A named set of triangles: an OBJ group (`g`, `o`), or those of a material (`usemtl`, glTF).
typedef struct sn_mesh_group {
  char* name;
  uint32_t* triangles;  ///< triangle indices, ascending (triangle_count)
  uint32_t triangle_count;
  char* material;  ///< name of the material that the triangles have; NULL: a plain group
  bool has_color;
  float color[4];  ///< of the material: red, green, blue and opacity, linear, 0 to 1
} sn_mesh_group;

/// A surface. Vertices keep the order of the file; polygons keep theirs. All indices are in range
/// and all positions finite once a reader or `sn_mesh_from_arrays` has accepted the mesh.
typedef struct sn_mesh {
  double* positions;  ///< (3 x vertex_count), in the units of the file
  uint32_t vertex_count;
  uint32_t* face_starts;  ///< first corner of each polygon in `face_vertices` (face_count + 1)
  uint32_t* face_vertices;
  uint32_t face_count;
  uint32_t* triangles;  ///< the polygons fanned from their first corner (3 x triangle_count)
  uint32_t triangle_count;
  sn_mesh_group* groups;  ///< may be empty
  uint32_t group_count;
  /// Texture coordinates of each corner, in the order of `face_vertices`: u to the right, v up (2 x
  /// corners); NULL: none. All finite.
  float* uvs;
  struct sn_arena* storage;  ///< owns everything above
} sn_mesh;

/// What the input had that a simulation leaves out. Reported, never hidden.
typedef struct sn_mesh_report {
  uint32_t degenerate_triangles;   ///< without area
  uint32_t duplicate_triangles;    ///< same three corners as an earlier one, in any order
  uint32_t flipped_triangles;      ///< turned so that neighbours agree on which side is out
  uint32_t unreferenced_vertices;  ///< in no triangle
} sn_mesh_report;

/// Places of one kind, of which some may be left out of the list.
typedef struct sn_defect_list {
  uint32_t* items;  ///< (kept)
  uint32_t kept;    ///< as many as were asked for at most
  uint32_t count;   ///< as many as there are
} sn_defect_list;

/// Where a surface is not sound, for a person to look at: a simulation does with all of it.
typedef struct sn_mesh_defects {
  sn_defect_list holes;        ///< edges of one triangle: two vertices an item
  sn_defect_list nonmanifold;  ///< edges of more than two triangles: two vertices an item
  sn_defect_list degenerate;   ///< triangles without area
  sn_defect_list duplicate;    ///< triangles with the corners of an earlier one
  /// Pairs of triangles that go through one another, two an item. Those that touch or lie in one plane
  /// do not count.
  sn_defect_list intersecting;
  sn_defect_list crossed;    ///< triangles of all such pairs, each once, ascending
  struct sn_arena* storage;  ///< owns everything above
} sn_mesh_defects;

/// Read an OBJ or PLY file, told apart by their content and ending.
SN_API sn_status sn_mesh_load(const char* path, sn_mesh* mesh, sn_error* err);
/// Write the polygons as OBJ: 9 digits, so that a float survives; groups, materials by name, and texture
/// coordinates where there are any.
SN_API sn_status sn_mesh_save_obj(const char* path, const sn_mesh* mesh, sn_error* err);
/// Copy arrays into a mesh, after checking that indices are in range and positions finite.
/// @param triangles (3 x triangle_count)
SN_API sn_status sn_mesh_from_arrays(const double* positions, uint32_t vertex_count,
                                     const uint32_t* triangles, uint32_t triangle_count,
                                     sn_mesh* mesh, sn_error* err);
/// Look for defects. Vertices at the same place count as one. Without a bound on triangles, of which many
/// may lie in one place, this may take long; usually it is a second for 200,000.
/// @param most items of a list
SN_API sn_status sn_mesh_find_defects(const sn_mesh* mesh, uint32_t most, sn_mesh_defects* defects,
                                      sn_error* err);
/// Frees and zeroes `defects`. Zeroed ones are fine.
SN_API void sn_mesh_defects_destroy(sn_mesh_defects* defects);
/// Frees and zeroes `mesh`. A zeroed mesh is fine.
SN_API void sn_mesh_destroy(sn_mesh* mesh);

#ifdef __cplusplus
}
#endif

#endif
