// The skin as points that may touch something: the vertices of the mesh, and more where its triangles
// are larger than cells.
#ifndef SN_BODY_SKIN_H
#define SN_BODY_SKIN_H

#include "body/body.h"
#include "contact/contact.h"
#include "geometry/moving_bvh.h"

typedef struct sn_skin {
  const sn_body* body;
  sn_carried* points;   // (count)
  double* areas;        // of skin that each stands for, m2
  uint32_t* triangles;  // one of the surface's that each lies on
  uint32_t* vertices;   // that each is, or UINT32_MAX
  sn_vec3* normals;     // at rest
  uint32_t count;
  uint32_t* facets;  // triangles between points (3 x facet_count)
  uint32_t facet_count;
} sn_skin;

// Where the skin is now.
typedef struct sn_skin_pose {
  double* vertices;      // places, m (3 x the mesh's vertex_count)
  double* area_vectors;  // sums over the triangles around each vertex (3 x vertex_count)
  sn_moving_bvh bvh;
  sn_vec3* places;  // of the points (count)
} sn_skin_pose;

sn_status sn_skin_build(const sn_body* body, sn_arena* arena, sn_arena* scratch, sn_skin* skin,
                        sn_error* err);
sn_status sn_skin_pose_create(const sn_skin* skin, sn_arena* arena, sn_skin_pose* pose,
                              sn_error* err);
// Follow the displacements of all bodies.
void sn_skin_pose_update(const sn_skin* skin, sn_pool* pool, const double* u, sn_skin_pose* pose);
// The points alone.
void sn_skin_points_update(const sn_skin* skin, sn_pool* pool, const double* u, sn_vec3* places);

// Outward unit normal at a point of the skin as it is now.
sn_vec3 sn_skin_normal(const sn_skin* skin, const sn_skin_pose* pose, uint32_t point);

// A place of the skin that a point is about to touch or has gone through.
typedef struct sn_skin_touch {
  uint32_t triangle;
  double weights[3];  // of its corners
  sn_vec3 normal;     // of the triangle as it is now
} sn_skin_touch;

// Does a point at `place`, whose own outward normal is given, touch this skin: closer than `reach`
// outside of it, or inside no deeper than `depth`? With `own` (else UINT32_MAX) the point is one of this
// skin itself.
bool sn_skin_find_touch(const sn_skin* skin, const sn_skin_pose* pose, sn_vec3 place,
                        sn_vec3 normal, double reach, double depth, uint32_t own,
                        sn_skin_touch* touch);
// The place of this skin nearest to a point in it, as such a touch; false if that belongs to the point.
bool sn_skin_find_nearest(const sn_skin* skin, const sn_skin_pose* pose, sn_vec3 place,
                          double depth, uint32_t own, sn_skin_touch* touch);
// The place of a touch as one that the flesh carries.
sn_carried sn_skin_carry(const sn_skin* skin, const sn_skin_touch* touch);
// About the same for a place of a facet, and the facet's area at rest, m2.
sn_carried sn_skin_carry_facet(const sn_skin* skin, uint32_t facet, const double weights[3]);
double sn_skin_facet_area(const sn_skin* skin, uint32_t facet);

#endif
