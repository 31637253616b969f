// What tests of surfaces share: is it closed and manifold, its volume, its pieces.
#ifndef SN_TESTS_GEOMETRY_CLOSED_H
#define SN_TESTS_GEOMETRY_CLOSED_H

#include "io/scratch.h"
#include "math/vec.h"
#include "sinew/mesh.h"

// A directed edge, and the third corner of its triangle.
typedef struct half_edge {
  uint32_t from, to, opposite;
} half_edge;

static inline int compare_half_edges(const void* a, const void* b) {
  const half_edge *p = a, *q = b;
  if (p->from != q->from) return p->from < q->from ? -1 : 1;
  return p->to < q->to ? -1 : p->to > q->to;
}

// All directed edges in order. The caller frees.
static inline half_edge* sorted_half_edges(const sn_mesh* mesh) {
  half_edge* edges = malloc(3 * (size_t)mesh->triangle_count * sizeof *edges);
  assert_non_null(edges);
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* c = mesh->triangles + 3 * (size_t)t;
    for (int k = 0; k < 3; ++k) {
      edges[3 * (size_t)t + k] = (half_edge){c[k], c[(k + 1) % 3], c[(k + 2) % 3]};
    }
  }
  qsort(edges, 3 * (size_t)mesh->triangle_count, sizeof *edges, compare_half_edges);
  return edges;
}

static inline const half_edge* find_half_edge(const sn_mesh* mesh, const half_edge* edges,
                                              uint32_t from, uint32_t to) {
  half_edge key = {from, to, 0};
  return bsearch(&key, edges, 3 * (size_t)mesh->triangle_count, sizeof key, compare_half_edges);
}

// The triangles around a vertex form one ring: walking from one to the next meets all of them.
static inline void assert_one_ring(const sn_mesh* mesh, const half_edge* edges,
                                   const half_edge* first, size_t degree) {
  uint32_t at = first->to;
  for (size_t steps = 1; steps <= degree; ++steps) {
    const half_edge* edge = find_half_edge(mesh, edges, first->from, at);
    assert_non_null(edge);
    at = edge->opposite;
    if (at == first->to) {
      assert_int_equal(steps, degree);
      return;
    }
  }
  fail_msg("vertex %u has no closed ring", first->from);
}

// Every directed edge occurs once, and so does its reverse; every vertex has one ring.
static inline void assert_closed_manifold(const sn_mesh* mesh) {
  half_edge* edges = sorted_half_edges(mesh);
  size_t count = 3 * (size_t)mesh->triangle_count, used = 0;
  for (size_t i = 0; i < count; ++i) {
    assert_true(edges[i].from != edges[i].to);
    if (i > 0) assert_true(compare_half_edges(&edges[i - 1], &edges[i]) < 0);
    assert_non_null(find_half_edge(mesh, edges, edges[i].to, edges[i].from));
  }
  for (size_t i = 0, end; i < count; i = end, ++used) {
    for (end = i; end < count && edges[end].from == edges[i].from;) ++end;
    assert_one_ring(mesh, edges, &edges[i], end - i);
  }
  assert_int_equal(used, mesh->vertex_count);
  free(edges);
}

static inline sn_vec3 mesh_corner(const sn_mesh* mesh, uint32_t triangle, int corner) {
  return sn_load3(mesh->positions +
                  3 * (size_t)mesh->triangles[3 * (size_t)triangle + (size_t)corner]);
}

// Positive where triangles face outward.
static inline double signed_volume(const sn_mesh* mesh) {
  double volume = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 a = mesh_corner(mesh, t, 0), b = mesh_corner(mesh, t, 1), c = mesh_corner(mesh, t, 2);
    volume += sn_dot(a, sn_cross(b, c)) / 6;
  }
  return volume;
}

static inline uint32_t find_root(uint32_t* parents, uint32_t v) {
  while (parents[v] != v) v = parents[v] = parents[parents[v]];
  return v;
}

static inline int count_pieces(const sn_mesh* mesh) {
  uint32_t* parents = malloc(mesh->vertex_count * sizeof *parents);
  assert_non_null(parents);
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) parents[v] = v;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* c = mesh->triangles + 3 * (size_t)t;
    for (int k = 1; k < 3; ++k) parents[find_root(parents, c[k])] = find_root(parents, c[0]);
  }
  int pieces = 0;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) pieces += parents[v] == v;
  free(parents);
  return pieces;
}

#endif
