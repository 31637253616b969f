// Storage of surface meshes, and a builder for readers that learn the counts as they go.
#ifndef SN_GEOMETRY_MESH_ARRAYS_H
#define SN_GEOMETRY_MESH_ARRAYS_H

#include "sinew/mesh.h"

// Beyond this the square of a length would overflow.
#define SN_MESH_COORDINATE_MAX 1e150

// A face is in this many groups at most, so that a small file cannot ask for endless lists.
#define SN_MESH_GROUPS_AT_ONCE 64

// Finite and small enough to be squared.
bool sn_mesh_coordinate_is_valid(double value);

// Everything that mesh.h promises: indices, order, fans, finite positions. Slow and total.
bool sn_mesh_is_valid(const sn_mesh* mesh);

// Which corners, counted as in `face_vertices`, the triangles have. @param corners (3 x triangle_count)
void sn_mesh_triangle_corners(const sn_mesh* mesh, uint32_t* corners);

// Items behind one another in a block that doubles when it is full.
typedef struct sn_mesh_list {
  void* items;
  size_t count, capacity;
} sn_mesh_list;

// A mesh in the making: vertices, polygons corner by corner, and groups that hold from one
// `sn_mesh_builder_use_groups` to the next. Zeroed it is empty and ready.
typedef struct sn_mesh_builder {
  sn_mesh_list positions;   // sn_vec3 each
  sn_mesh_list corners;     // vertex index of each corner, polygon after polygon
  sn_mesh_list face_ends;   // number of corners up to and with each polygon
  sn_mesh_list uvs;         // texture coordinates that corners may have, two floats each
  sn_mesh_list corner_uvs;  // which of them each corner has, up to the last one that has any
  uint32_t triangle_count;  // that the polygons so far fan into
  sn_mesh_list groups;      // in the order of their first mention
  sn_mesh_list names;       // their names, each with its closing zero
  sn_mesh_list slots;       // hash table from names to groups
  sn_mesh_list runs;        // stretches of triangles that are in a group
  uint32_t current[SN_MESH_GROUPS_AT_ONCE];
  uint32_t current_count;
  uint32_t current_first;  // first triangle since the groups last changed
} sn_mesh_builder;

// `position` must be valid.
sn_status sn_mesh_builder_add_vertex(sn_mesh_builder* builder, sn_vec3 position, sn_error* err);
uint32_t sn_mesh_builder_vertex_count(const sn_mesh_builder* builder);
// The vertex may come later, but must be there when the mesh is finished.
sn_status sn_mesh_builder_add_corner(sn_mesh_builder* builder, uint32_t vertex, sn_error* err);
// Ends the polygon of the corners since the last one: three or more.
sn_status sn_mesh_builder_end_face(sn_mesh_builder* builder, sn_error* err);

// Texture coordinates, for any number of corners; both must be finite.
sn_status sn_mesh_builder_add_uv(sn_mesh_builder* builder, float u, float v, sn_error* err);
uint32_t sn_mesh_builder_uv_count(const sn_mesh_builder* builder);
// The last corner has these, which may come later. Corners without any, or with some that never come,
// have 0, 0 where others have theirs.
sn_status sn_mesh_builder_set_uv(sn_mesh_builder* builder, uint32_t uv, sn_error* err);

// Index of the group of that name, which is added if it is new.
sn_status sn_mesh_builder_find_group(sn_mesh_builder* builder, const char* name, size_t length,
                                     uint32_t* group, sn_error* err);
// The group stands for a material, which it keeps if it has one already.
// @param color linear RGBA, NULL: none
sn_status sn_mesh_builder_set_material(sn_mesh_builder* builder, uint32_t group, const char* name,
                                       size_t length, const float* color, sn_error* err);
// The faces to come are in these groups and no others. Repeated ones count once.
// @param group_count SN_MESH_GROUPS_AT_ONCE at most
sn_status sn_mesh_builder_use_groups(sn_mesh_builder* builder, const uint32_t* groups,
                                     uint32_t group_count, sn_error* err);

// Copy into arrays of exact size. Groups without triangles are left out.
sn_status sn_mesh_builder_finish(sn_mesh_builder* builder, sn_mesh* mesh, sn_error* err);
// Frees and zeroes, finished or not.
void sn_mesh_builder_destroy(sn_mesh_builder* builder);

#endif
