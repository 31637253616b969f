// Small surfaces for tests, the same on every machine. Closed and facing outward where not said
// otherwise. The caller destroys them.
#ifndef SN_TESTS_SHAPES_H
#define SN_TESTS_SHAPES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above.
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "math/elementary.h"
#include "math/random.h"
#include "math/vec.h"
#include "sinew/mesh.h"
#include "sinew/shape.h"

#define SHAPE_PI 3.14159265358979323846

// Arrays in the making, of known size.
typedef struct shape_arrays {
  double* positions;
  uint32_t* triangles;
  uint32_t vertex_count, triangle_count;
} shape_arrays;

static inline shape_arrays shape_begin(size_t most_vertices, size_t most_triangles) {
  shape_arrays a = {malloc(3 * most_vertices * sizeof(double)),
                    malloc(3 * most_triangles * sizeof(uint32_t)), 0, 0};
  assert_non_null(a.positions);
  assert_non_null(a.triangles);
  return a;
}

static inline uint32_t shape_vertex(shape_arrays* a, sn_vec3 p) {
  sn_store3(a->positions + 3 * (size_t)a->vertex_count, p);
  return a->vertex_count++;
}

static inline void shape_triangle(shape_arrays* a, uint32_t i, uint32_t j, uint32_t k) {
  uint32_t* corner = a->triangles + 3 * (size_t)a->triangle_count++;
  corner[0] = i;
  corner[1] = j;
  corner[2] = k;
}

static inline void shape_quad(shape_arrays* a, uint32_t i, uint32_t j, uint32_t k, uint32_t l) {
  shape_triangle(a, i, j, k);
  shape_triangle(a, i, k, l);
}

// Copies the arrays into a mesh and frees them.
static inline sn_mesh shape_end(shape_arrays* a) {
  sn_mesh mesh;
  sn_error err = {0};
  sn_status status = sn_mesh_from_arrays(a->positions, a->vertex_count, a->triangles,
                                         a->triangle_count, &mesh, &err);
  if (status != SN_OK) fail_msg("%s", err.text);
  free(a->positions);
  free(a->triangles);
  return mesh;
}

// 8 vertices, numbered as the corners of a cell; 12 triangles.
static inline sn_mesh shape_box(sn_vec3 lo, sn_vec3 hi) {
  static const uint32_t faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  shape_arrays a = shape_begin(8, 12);
  for (int c = 0; c < 8; ++c) {
    shape_vertex(&a, sn_v3(c & 1 ? hi.x : lo.x, c & 2 ? hi.y : lo.y, c & 4 ? hi.z : lo.z));
  }
  for (int f = 0; f < 6; ++f) shape_quad(&a, faces[f][0], faces[f][1], faces[f][2], faces[f][3]);
  return shape_end(&a);
}

static inline sn_mesh shape_unit_cube(void) { return shape_box(sn_v3(0, 0, 0), sn_v3(1, 1, 1)); }

// Bands of latitude around z from the upper pole, `kept` of `bands`; vertices lie on the sphere.
static inline sn_mesh shape_sphere_cap(sn_vec3 centre, double radius, int bands, int kept) {
  uint32_t sides = 2 * (uint32_t)bands;
  bool closed = kept == bands;
  shape_arrays a = shape_begin((size_t)bands * sides + 2, 2 * (size_t)bands * sides);
  uint32_t north = shape_vertex(&a, sn_madd(centre, radius, sn_v3(0, 0, 1)));
  int rings = closed ? bands - 1 : kept;
  for (int ring = 1; ring <= rings; ++ring) {
    double polar = SHAPE_PI * ring / bands;
    for (uint32_t side = 0; side < sides; ++side) {
      double angle = 2 * SHAPE_PI * side / sides;
      sn_vec3 out =
          sn_v3(sn_sin(polar) * sn_cos(angle), sn_sin(polar) * sn_sin(angle), sn_cos(polar));
      shape_vertex(&a, sn_madd(centre, radius, out));
    }
  }
  for (uint32_t side = 0; side < sides; ++side) {
    uint32_t next = (side + 1) % sides;
    shape_triangle(&a, north, 1 + side, 1 + next);
    for (int ring = 1; ring < rings; ++ring) {
      uint32_t upper = 1 + (uint32_t)(ring - 1) * sides, lower = upper + sides;
      shape_quad(&a, upper + side, lower + side, lower + next, upper + next);
    }
  }
  if (closed) {
    uint32_t south = shape_vertex(&a, sn_madd(centre, radius, sn_v3(0, 0, -1)));
    uint32_t last = 1 + (uint32_t)(rings - 1) * sides;
    for (uint32_t side = 0; side < sides; ++side) {
      shape_triangle(&a, south, last + (side + 1) % sides, last + side);
    }
  }
  return shape_end(&a);
}

// 4 bands (bands - 1) triangles.
static inline sn_mesh shape_sphere(sn_vec3 centre, double radius, int bands) {
  return shape_sphere_cap(centre, radius, bands, bands);
}

// Open: the half with z above the centre. `bands` of the whole sphere, even.
static inline sn_mesh shape_hemisphere(sn_vec3 centre, double radius, int bands) {
  return shape_sphere_cap(centre, radius, bands, bands / 2);
}

// Around z, its middle at the origin; 4 sides^2 triangles.
static inline sn_mesh shape_torus(double ring_radius, double tube_radius, int sides) {
  uint32_t around = 2 * (uint32_t)sides, across = (uint32_t)sides;
  shape_arrays a = shape_begin((size_t)around * across, 2 * (size_t)around * across);
  for (uint32_t i = 0; i < around; ++i) {
    double angle = 2 * SHAPE_PI * i / around;
    for (uint32_t j = 0; j < across; ++j) {
      double turn = 2 * SHAPE_PI * j / across;
      double out = ring_radius + tube_radius * sn_cos(turn);
      shape_vertex(&a, sn_v3(out * sn_cos(angle), out * sn_sin(angle), tube_radius * sn_sin(turn)));
    }
  }
  for (uint32_t i = 0; i < around; ++i) {
    for (uint32_t j = 0; j < across; ++j) {
      uint32_t next_i = (i + 1) % around, next_j = (j + 1) % across;
      shape_quad(&a, i * across + j, next_i * across + j, next_i * across + next_j,
                 i * across + next_j);
    }
  }
  return shape_end(&a);
}

// Open: a parallelogram of `count` x `count` quads that faces along side_a x side_b.
static inline sn_mesh shape_sheet(sn_vec3 corner, sn_vec3 side_a, sn_vec3 side_b, int count) {
  uint32_t n = (uint32_t)count, row = n + 1;
  shape_arrays a = shape_begin((size_t)row * row, 2 * (size_t)n * n);
  for (uint32_t j = 0; j <= n; ++j) {
    for (uint32_t i = 0; i <= n; ++i) {
      sn_vec3 p = sn_madd(corner, (double)i / count, side_a);
      shape_vertex(&a, sn_madd(p, (double)j / count, side_b));
    }
  }
  for (uint32_t j = 0; j < n; ++j) {
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t v = j * row + i;
      shape_quad(&a, v, v + 1, v + row + 1, v + row);
    }
  }
  return shape_end(&a);
}

// One triangle: open.
static inline sn_mesh shape_one_triangle(sn_vec3 p, sn_vec3 q, sn_vec3 r) {
  shape_arrays a = shape_begin(3, 1);
  shape_vertex(&a, p);
  shape_vertex(&a, q);
  shape_vertex(&a, r);
  shape_triangle(&a, 0, 1, 2);
  return shape_end(&a);
}

static inline sn_vec3 shape_random_point(sn_random* random) {
  double x = sn_random_symmetric(random), y = sn_random_symmetric(random);
  return sn_v3(x, y, sn_random_symmetric(random));
}

// Triangles of about edge `size`, scattered over the cube -1..1, which have nothing to do with one
// another: neither closed nor outward.
static inline sn_mesh shape_soup(uint64_t seed, int count, double size) {
  sn_random random = sn_random_seeded(seed);
  shape_arrays a = shape_begin(3 * (size_t)count, (size_t)count);
  for (int t = 0; t < count; ++t) {
    sn_vec3 middle = sn_scale(1 - size, shape_random_point(&random));
    uint32_t first = a.vertex_count;
    for (int i = 0; i < 3; ++i) {
      shape_vertex(&a, sn_madd(middle, size, shape_random_point(&random)));
    }
    shape_triangle(&a, first, first + 1, first + 2);
  }
  return shape_end(&a);
}

// A few round cones at random, melted into one, within about -1..1.
static inline sn_mesh shape_blob(uint64_t seed, double cell) {
  sn_random random = sn_random_seeded(seed);
  sn_round_cone cones[5];
  sn_vec3 at = sn_scale(0.5, shape_random_point(&random));
  for (int i = 0; i < 5; ++i) {
    sn_vec3 to = sn_scale(0.7, shape_random_point(&random));
    cones[i] = (sn_round_cone){at, to, 0.1 + 0.2 * sn_random_unit(&random),
                               0.1 + 0.2 * sn_random_unit(&random)};
    at = to;
  }
  sn_mesh mesh;
  sn_error err = {0};
  sn_status status = sn_mesh_from_round_cones(cones, 5, 0.1, cell, &mesh, &err);
  if (status != SN_OK) fail_msg("%s", err.text);
  return mesh;
}

// The same triangles, each with three vertices of its own.
static inline sn_mesh shape_unwelded(const sn_mesh* mesh) {
  shape_arrays a = shape_begin(3 * (size_t)mesh->triangle_count, mesh->triangle_count);
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* corner = mesh->triangles + 3 * (size_t)t;
    for (int i = 0; i < 3; ++i) shape_vertex(&a, sn_load3(mesh->positions + 3 * (size_t)corner[i]));
    shape_triangle(&a, 3 * t, 3 * t + 1, 3 * t + 2);
  }
  return shape_end(&a);
}

// Both surfaces in one mesh, the first one first. Destroys the two.
static inline sn_mesh shape_join(sn_mesh first, sn_mesh second) {
  shape_arrays a = shape_begin((size_t)first.vertex_count + second.vertex_count,
                               (size_t)first.triangle_count + second.triangle_count);
  const sn_mesh* parts[2] = {&first, &second};
  for (int p = 0; p < 2; ++p) {
    uint32_t base = a.vertex_count;
    for (uint32_t v = 0; v < parts[p]->vertex_count; ++v) {
      shape_vertex(&a, sn_load3(parts[p]->positions + 3 * (size_t)v));
    }
    for (uint32_t t = 0; t < parts[p]->triangle_count; ++t) {
      const uint32_t* corner = parts[p]->triangles + 3 * (size_t)t;
      shape_triangle(&a, base + corner[0], base + corner[1], base + corner[2]);
    }
  }
  sn_mesh_destroy(&first);
  sn_mesh_destroy(&second);
  return shape_end(&a);
}

// Turn round the triangles begin..end-1 of a mesh made here.
static inline void shape_flip(sn_mesh* mesh, uint32_t begin, uint32_t end) {
  for (size_t t = begin; t < end; ++t) {
    uint32_t second = mesh->triangles[3 * t + 1];
    mesh->triangles[3 * t + 1] = mesh->face_vertices[3 * t + 1] = mesh->triangles[3 * t + 2];
    mesh->triangles[3 * t + 2] = mesh->face_vertices[3 * t + 2] = second;
  }
}

// Round all coordinates to multiples of 2^-20, so that moderate shifts and scales by powers of two
// are exact.
static inline void shape_snap(sn_mesh* mesh) {
  for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; ++i) {
    mesh->positions[i] = floor(mesh->positions[i] * 0x1p20 + 0.5) * 0x1p-20;
  }
}

// p -> scale p + shift
static inline void shape_move(sn_mesh* mesh, double scale, sn_vec3 shift) {
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    double* p = mesh->positions + 3 * (size_t)v;
    sn_store3(p, sn_madd(shift, scale, sn_load3(p)));
  }
}

#endif
