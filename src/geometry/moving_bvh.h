// The tree over a surface that moves: its shape stays as built at rest, its boxes follow. As long as
// neighbours stay neighbours, which flesh sees to, it stays a good tree.
#ifndef SN_GEOMETRY_MOVING_BVH_H
#define SN_GEOMETRY_MOVING_BVH_H

#include "base/parallel.h"
#include "geometry/bvh.h"
#include "geometry/ray.h"

typedef struct sn_moving_bvh {
  const sn_bvh* shape;      // nodes and order of triangles
  const double* positions;  // where the vertices are now (3 x vertex_count), not owned
  sn_box* boxes;            // of the nodes (node_count); NULL: those of `shape`
} sn_moving_bvh;

// Questions may leave triangles out: those for which this says false. NULL: none.
typedef bool (*sn_triangle_accept)(void* ctx, uint32_t triangle);
typedef void (*sn_triangle_visit)(void* ctx, uint32_t triangle);

// At rest until the first update. `rest` and its surface must outlive the tree.
sn_status sn_moving_bvh_create(const sn_bvh* rest, sn_arena* arena, sn_moving_bvh* moving,
                               sn_error* err);
// A view of the tree at rest, for the questions below. Needs no memory, is never updated.
sn_moving_bvh sn_moving_bvh_at_rest(const sn_bvh* rest);
// Follow the surface to these positions (3 x vertex_count), which are kept, not copied: they must hold
// still until the next update.
void sn_moving_bvh_update(sn_moving_bvh* moving, sn_pool* pool, const double* positions);

// Questions. They allocate nothing and may be asked by many threads at once.

sn_box sn_moving_bvh_box(const sn_moving_bvh* moving);  // of the whole surface
void sn_moving_bvh_corners(const sn_moving_bvh* moving, uint32_t triangle, sn_vec3 corner[3]);

// Every triangle whose box meets `box`, touching included, in the order of the tree's leaves.
void sn_moving_bvh_overlaps(const sn_moving_bvh* moving, sn_box box, sn_triangle_visit fn,
                            void* ctx);
// The first accepted triangle within `length` along the ray, of equally near ones that of lower index.
// The direction need not have unit length. No ray slips through between neighbours. `accept` is asked
// only for triangles that are hit.
bool sn_moving_bvh_ray(const sn_moving_bvh* moving, sn_vec3 from, sn_vec3 direction, double length,
                       sn_triangle_accept accept, void* ctx, sn_ray_hit* hit);
// The accepted triangle nearest to p and its place nearest to p, of equally near triangles that of
// lower index; false if there is none within `limit`, which may be INFINITY.
bool sn_moving_bvh_nearest(const sn_moving_bvh* moving, sn_vec3 p, double limit,
                           sn_triangle_accept accept, void* ctx, uint32_t* triangle,
                           sn_vec3* place);

#endif
