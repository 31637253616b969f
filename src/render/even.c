#include "render/even.h"

typedef struct vertex_sum {
  float total, count;
} vertex_sum;

static void even_once(const sn_triangle_list* triangles, vertex_sum* sums, float* values) {
  for (uint32_t v = 0; v < triangles->vertex_count; ++v) sums[v] = (vertex_sum){0, 0};
  for (uint32_t t = 0; t < triangles->triangle_count; ++t) {
    const uint32_t* c = triangles->corners + 3 * (size_t)t;
    float mean = (values[c[0]] + values[c[1]] + values[c[2]]) / 3;
    for (int k = 0; k < 3; ++k) {
      sums[c[k]].total += mean;
      sums[c[k]].count += 1;
    }
  }
  for (uint32_t v = 0; v < triangles->vertex_count; ++v) {
    if (sums[v].count > 0) values[v] = sums[v].total / sums[v].count;
  }
}

sn_status sn_even_out(const sn_triangle_list* triangles, int rounds, float* values, sn_error* err) {
  size_t bytes = triangles->vertex_count * sizeof(vertex_sum);
  vertex_sum* sums = sn_allocate(bytes);
  if (!sums) return sn_fail_memory(err, bytes);
  for (int round = 0; round < rounds; ++round) even_once(triangles, sums, values);
  sn_release(sums);
  return SN_OK;
}
