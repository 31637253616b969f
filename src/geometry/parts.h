// The connected parts of a mesh: body, eyes, hair and buttons of a character are often one mesh of
// several. Two triangles are connected where they have a vertex at the same place, so that vertices
// that a seam of textures doubled hold together.
#ifndef SN_GEOMETRY_PARTS_H
#define SN_GEOMETRY_PARTS_H

#include "base/memory.h"
#include "sinew/mesh.h"

#define SN_NO_PART UINT32_MAX

// Of triangles that repeat others only the first counts for area, volume and rims: a sheet with two
// faces is open. Volume is that of triangles which agree on which side is out, as in the file; rims
// are closed by cones to the middle of each, so that a tube has the volume of a cylinder.
typedef struct sn_part {
  uint32_t first_triangle;  // parts are numbered by it
  uint32_t triangle_count;
  uint32_t vertex_count;  // of the mesh, doubled ones included
  sn_box box;
  double area;        // in squared units of the mesh
  double volume;      // in cubic ones, negative if inside out
  double rim_length;  // of the edges that only one triangle has
  double
      rim_share;  // area of the cones that close the rims, over `area`: 0 = closed, 1 = a flat sheet
} sn_part;

typedef struct sn_parts {
  sn_part* items;  // (count)
  uint32_t count;
  uint32_t* of_triangle;  // part of each triangle (triangle_count)
  uint32_t* of_vertex;    // part of each vertex; SN_NO_PART: in no triangle (vertex_count)
} sn_parts;

// Memory from `arena`; `scratch` is left as it was. Time grows with the number of triangles alone.
sn_status sn_parts_find(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                        sn_error* err);
// The same without area, volume and rims of the parts, which are 0.
sn_status sn_parts_number(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                          sn_error* err);

#endif
