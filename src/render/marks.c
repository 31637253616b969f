// Groups of triangles as smooth values at vertices.
#include <string.h>

#include "render/even.h"
#include "sinew/shape.h"

#define EVEN_ROUNDS 2

// How many of the chosen triangles (all, if NULL) meet at each vertex.
static void count_triangles(const sn_mesh* mesh, const uint32_t* chosen, uint32_t count,
                            float* totals) {
  memset(totals, 0, mesh->vertex_count * sizeof *totals);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t* c = mesh->triangles + 3 * (size_t)(chosen ? chosen[i] : i);
    for (int k = 0; k < 3; ++k) totals[c[k]] += 1;
  }
}

sn_status sn_mesh_mark_group(const sn_mesh* mesh, const sn_mesh_group* group, float* marks,
                             sn_error* err) {
  size_t bytes = mesh->vertex_count * sizeof(float);
  float* totals = sn_allocate(bytes);
  if (!totals) return sn_fail_memory(err, bytes);
  // The share of each vertex's triangles that are in the group.
  count_triangles(mesh, NULL, mesh->triangle_count, totals);
  count_triangles(mesh, group->triangles, group->triangle_count, marks);
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    if (totals[v] > 0) marks[v] /= totals[v];
  }
  sn_release(totals);
  sn_triangle_list all = {mesh->triangles, mesh->triangle_count, mesh->vertex_count};
  return sn_even_out(&all, EVEN_ROUNDS, marks, err);
}
