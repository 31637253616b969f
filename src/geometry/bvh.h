// A tree of boxes over a surface, for two questions: how often does the surface wind around a point
// (its generalised winding number: 1 inside a closed surface, 0 outside, in between near holes),
// and which point of the surface is nearest.
#ifndef SN_GEOMETRY_BVH_H
#define SN_GEOMETRY_BVH_H

#include "base/memory.h"
#include "base/parallel.h"
#include "sinew/math.h"

struct sn_surface;

// Of the tree at most: halving needs 32, and a stack of nodes to visit one more.
#define SN_BVH_MAX_DEPTH 64

typedef struct sn_bvh_node {
  sn_box box;
  sn_vec3 centre;       // area-weighted centroid of the triangles below
  sn_vec3 area_vector;  // sum of their area vectors: the dipole that they look like from afar
  double radius;        // of a ball around `centre` that holds them
  double rim;           // length of the edges below at which the surface ends, m
  uint32_t begin, end;  // triangles of a leaf, in `order`
  uint32_t right;       // second child; the first follows its parent; 0 = leaf
} sn_bvh_node;

// What measuring nodes adds up of a triangle.
typedef struct sn_bvh_facet {
  sn_vec3 area_vector;
  double area;
  sn_vec3 moment;  // area times centroid
} sn_bvh_facet;

typedef struct sn_bvh {
  const struct sn_surface* surface;
  sn_bvh_node* nodes;
  uint32_t node_count;
  uint32_t* order;  // triangle indices, leaves contiguous
} sn_bvh;

// The surface must outlive the tree.
sn_status sn_bvh_build(const struct sn_surface* surface, sn_pool* pool, sn_arena* arena,
                       sn_arena* scratch, sn_bvh* bvh, sn_error* err);

// The vertices of its surface have moved: measure all nodes anew. The order of triangles stays.
// @param room (triangle_count)
void sn_bvh_refit(sn_bvh* bvh, sn_pool* pool, sn_bvh_facet* room);

// Winding number around p. Clusters further away than twice their radius count as dipoles, which
// leaves an error of 0.01 to 0.03, of less than 0.1 at worst (measured).
double sn_bvh_winding(const sn_bvh* bvh, sn_vec3 p);
// Is p inside (winding number above 1/2)? Returns whether that holds for every point that can be
// reached from p within `box` without meeting the surface.
bool sn_bvh_inside(const sn_bvh* bvh, sn_vec3 p, sn_box box, bool* inside);
// The triangle nearest to p and its place nearest to p, of equally near triangles that of lower index;
// false if there is none within `limit` (may be INFINITY).
bool sn_bvh_nearest(const sn_bvh* bvh, sn_vec3 p, double limit, uint32_t* triangle, sn_vec3* place);
// Unsigned distance from p to the surface; the search ends beyond `limit` (may be INFINITY) and
// gives `limit` then.
double sn_bvh_distance(const sn_bvh* bvh, sn_vec3 p, double limit);

// Share of the full solid angle under which p sees the triangle, positive from its back.
double sn_triangle_winding(const sn_vec3 corner[3], sn_vec3 p);
// Nearest point of the triangle, within its box to the last bit.
sn_vec3 sn_triangle_nearest(const sn_vec3 corner[3], sn_vec3 p);

#endif
