// What of a mesh is at the same place: vertices, and by these triangles and edges. Time grows with their number alone.
#ifndef SN_GEOMETRY_WELD_H
#define SN_GEOMETRY_WELD_H

#include "base/memory.h"
#include "sinew/mesh.h"

// Of a triangle, between welded vertices.
typedef struct sn_edge {
  uint32_t low, high;
  uint32_t triangle;
  uint8_t side;  // from this corner of the triangle to the next
  bool forward;  // the triangle runs from low to high
} sn_edge;

typedef struct sn_edge_list {
  sn_edge* items;
  size_t count;
} sn_edge_list;

// Of each vertex the first one at the same place (vertex_count). `scratch` is left as it was.
sn_status sn_weld_vertices(const sn_mesh* mesh, sn_arena* scratch, uint32_t* weld, sn_error* err);

// Triangles that have the corners of one before them are wanted no longer. @param wanted 0 or 1 (triangle_count)
sn_status sn_weld_triangles(const sn_mesh* mesh, const uint32_t* weld, sn_arena* scratch,
                            uint8_t* wanted, sn_error* err);

// The edges of the triangles that are wanted (NULL: all), by low, then high vertex, then triangle. No wanted triangle
// may have two corners at one place.
sn_status sn_weld_edges(const sn_mesh* mesh, const uint32_t* weld, const uint8_t* wanted,
                        sn_arena* arena, sn_edge_list* edges, sn_error* err);

// One past the last edge between the vertices of edge `begin`.
size_t sn_edge_list_end(const sn_edge_list* edges, size_t begin);

#endif
