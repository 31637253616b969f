// A mesh with its prepared surface and the tree over it, for tests.
#ifndef SN_TESTS_GEOMETRY_PREPARED_H
#define SN_TESTS_GEOMETRY_PREPARED_H

#include "geometry/bvh.h"
#include "geometry/surface.h"
#include "shapes.h"

typedef struct prepared {
  sn_mesh mesh;
  sn_arena *arena, *scratch;
  sn_surface surface;
  sn_bvh bvh;
} prepared;

// Takes the mesh over. `p` must stay where it is: its parts point to one another.
static inline void prepare(prepared* p, sn_mesh mesh) {
  sn_error err = {0};
  p->mesh = mesh;
  assert_int_equal(sn_arena_create(&p->arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&p->scratch, NULL), SN_OK);
  if (sn_surface_prepare(&p->mesh, p->arena, p->scratch, &p->surface, &err) != SN_OK ||
      sn_bvh_build(&p->surface, NULL, p->arena, p->scratch, &p->bvh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  // Scratch is left as it was: empty.
  assert_int_equal(sn_arena_bytes(p->scratch), 0);
}

static inline void unprepare(prepared* p) {
  sn_arena_destroy(p->scratch);
  sn_arena_destroy(p->arena);
  sn_mesh_destroy(&p->mesh);
}

static inline void prepared_corners(const prepared* p, uint32_t triangle, sn_vec3 corner[3]) {
  for (int i = 0; i < 3; ++i) corner[i] = sn_surface_corner(&p->surface, triangle, i);
}

// Somewhere on the triangle.
static inline sn_vec3 point_on_triangle(sn_random* random, const sn_vec3 corner[3]) {
  double a = sn_random_unit(random), b = sn_random_unit(random);
  if (a + b > 1) {
    a = 1 - a;
    b = 1 - b;
  }
  sn_vec3 p = sn_madd(corner[0], a, sn_sub(corner[1], corner[0]));
  return sn_madd(p, b, sn_sub(corner[2], corner[0]));
}

// The winding number, every triangle for itself.
static inline double winding_of_all(const prepared* p, sn_vec3 point) {
  double sum = 0;
  for (uint32_t t = 0; t < p->surface.triangle_count; ++t) {
    sn_vec3 corner[3];
    prepared_corners(p, t, corner);
    sum += sn_triangle_winding(corner, point);
  }
  return sum;
}

#endif
