// Smoothing of values at the vertices of a mesh.
#ifndef SN_RENDER_EVEN_H
#define SN_RENDER_EVEN_H

#include "base/memory.h"

typedef struct sn_triangle_list {
  const uint32_t* corners;  // (3 x triangle_count)
  uint32_t triangle_count, vertex_count;
} sn_triangle_list;

// `rounds` times, give each vertex the mean over its triangles of the mean over their corners.
// Vertices without triangles keep their value. @param values (vertex_count)
sn_status sn_even_out(const sn_triangle_list* triangles, int rounds, float* values, sn_error* err);

#endif
