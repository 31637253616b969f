// Closed bodies that tests of filled volume go through.
#ifndef SN_TESTS_OCTREE_BODIES_H
#define SN_TESTS_OCTREE_BODIES_H

#include "octree/grown.h"

// About x, y and z: no edge of a box stays in a plane of the grid.
static inline sn_mat3 tilt(void) {
  double a = 0.5, b = 0.3, c = 0.2;
  sn_mat3 x = {{{1, 0, 0}, {0, sn_cos(a), -sn_sin(a)}, {0, sn_sin(a), sn_cos(a)}}};
  sn_mat3 z = {{{sn_cos(b), -sn_sin(b), 0}, {sn_sin(b), sn_cos(b), 0}, {0, 0, 1}}};
  sn_mat3 y = {{{sn_cos(c), 0, sn_sin(c)}, {0, 1, 0}, {-sn_sin(c), 0, sn_cos(c)}}};
  sn_mat3 zy = sn_mul3(&z, &y);
  return sn_mul3(&zy, &x);
}

static inline sn_mesh tilted(sn_mesh mesh) {
  sn_mat3 turn = tilt();
  for (uint32_t v = 0; v < mesh.vertex_count; ++v) {
    double* p = mesh.positions + 3 * (size_t)v;
    sn_store3(p, sn_mul3v(&turn, sn_load3(p)));
  }
  return mesh;
}

#define CLOSED_BODIES 9

static inline sn_mesh make_closed(int body) {
  sn_vec3 zero = {0, 0, 0}, middle = {0.1, -0.2, 0.3};
  sn_mesh mesh;
  switch (body) {
    case 0:
      return shape_sphere(middle, 1, 40);
    case 1:  // triangles of many cells
      return shape_sphere(middle, 1, 6);
    case 2:
      return tilted(shape_box(sn_v3(-0.5, -0.4, -0.3), sn_v3(0.6, 0.3, 0.4)));
    case 3:
      return shape_torus(1, 0.35, 30);
    case 4:
      return shape_box(zero, sn_v3(1, 1, 0.01));
    case 5:
      return tilted(shape_box(zero, sn_v3(1, 1, 0.01)));
    case 6:  // a hollow sphere
      mesh = shape_join(shape_sphere(zero, 1, 16), shape_sphere(middle, 0.5, 12));
      shape_flip(&mesh, 4 * 16 * 15, mesh.triangle_count);
      return mesh;
    case 7:
      return tilted(shape_torus(1, 0.1, 20));
    default:
      return shape_blob(1, 0.05);
  }
}

#endif
