// A surface made fit for simulation: what is in the way of a sound inside test is left out or
// turned, counted, and never hidden. Vertices keep their numbers.
#ifndef SN_GEOMETRY_SURFACE_H
#define SN_GEOMETRY_SURFACE_H

#include "base/memory.h"
#include "math/vec.h"
#include "sinew/mesh.h"

typedef struct sn_surface {
  const double* positions;  // (3 x vertex_count), of the mesh
  uint32_t vertex_count;
  uint32_t*
      triangles;      // without degenerate and duplicate ones, neighbours agree on out (3 x count)
  uint32_t* sources;  // the mesh's triangle that each one is (count)
  uint32_t triangle_count;
  uint8_t* rim;   // mask over each triangle's edges: those at which the surface ends (count)
  sn_box box;     // of the vertices in triangles
  double area;    // m2
  double volume;  // enclosed, m3; of an open surface only a guess
  sn_mesh_report report;
} sn_surface;

// The mesh must outlive the surface. Memory from `arena`; `scratch` is left as it was.
sn_status sn_surface_prepare(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch,
                             sn_surface* surface, sn_error* err);

static inline sn_vec3 sn_surface_corner(const sn_surface* surface, uint32_t triangle, int corner) {
  return sn_load3(surface->positions +
                  3 * (size_t)surface->triangles[3 * (size_t)triangle + corner]);
}

#endif
