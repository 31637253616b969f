// Surfaces as text with all the defects that modellers, scanners and exporters put into them: a table of ways to
// spoil a good one, and what is to become of it.
#ifndef SN_TESTS_SCENE_ROUGH_MESH_H
#define SN_TESTS_SCENE_ROUGH_MESH_H

#include <math.h>
#include <stdio.h>

#include "shapes.h"

#define ROUGH_MOST 8192

// A surface in the making. Corners count from 1, as in OBJ, and may be wrong.
typedef struct rough_mesh {
  double places[ROUGH_MOST][3];
  long triangles[ROUGH_MOST][3];
  size_t vertex_count, triangle_count;
  char more[4096];  // lines that follow
  bool only_more;
  sn_random random;
} rough_mesh;

// What a spoilt surface comes to.
typedef enum rough_fate {
  ROUGH_SOUND,    // as large as the good one, times `volume`
  ROUGH_REFUSED,  // as bad input
  ROUGH_ANY       // either: it has no inside to speak of
} rough_fate;

typedef struct rough_defect {
  const char* name;
  void (*spoil)(rough_mesh* m);
  rough_fate fate;
  double volume;  // over that of the good one; 0 is 1
} rough_defect;

static inline size_t rough_pick(rough_mesh* m, size_t count) {
  return (size_t)(sn_random_unit(&m->random) * (double)count) % count;
}

static inline long rough_add_vertex(rough_mesh* m, double x, double y, double z) {
  assert_true(m->vertex_count < ROUGH_MOST);
  double* p = m->places[m->vertex_count++];
  p[0] = x;
  p[1] = y;
  p[2] = z;
  return (long)m->vertex_count;
}

static inline void rough_add_triangle(rough_mesh* m, long a, long b, long c) {
  assert_true(m->triangle_count < ROUGH_MOST);
  long* t = m->triangles[m->triangle_count++];
  t[0] = a;
  t[1] = b;
  t[2] = c;
}

static inline void rough_from(rough_mesh* m, const sn_mesh* mesh) {
  m->vertex_count = m->triangle_count = 0;
  m->more[0] = 0;
  m->only_more = false;
  m->random = sn_random_seeded(7);
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    const double* p = mesh->positions + 3 * v;
    rough_add_vertex(m, p[0], p[1], p[2]);
  }
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* c = mesh->triangles + 3 * t;
    rough_add_triangle(m, (long)c[0] + 1, (long)c[1] + 1, (long)c[2] + 1);
  }
}

static inline void rough_write(const rough_mesh* m, const char* path) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  for (size_t v = 0; v < m->vertex_count && !m->only_more; ++v) {
    fprintf(file, "v %.17g %.17g %.17g\n", m->places[v][0], m->places[v][1], m->places[v][2]);
  }
  for (size_t t = 0; t < m->triangle_count && !m->only_more; ++t) {
    fprintf(file, "f %ld %ld %ld\n", m->triangles[t][0], m->triangles[t][1], m->triangles[t][2]);
  }
  fputs(m->more, file);
  assert_int_equal(fclose(file), 0);
}

static inline void rough_clear(rough_mesh* m) { m->vertex_count = m->triangle_count = 0; }

static inline void rough_remove(rough_mesh* m, size_t t) {
  memmove(m->triangles[t], m->triangles[t + 1],
          (m->triangle_count - t - 1) * sizeof m->triangles[0]);
  --m->triangle_count;
}

static inline void rough_flip(rough_mesh* m, size_t t) {
  long second = m->triangles[t][1];
  m->triangles[t][1] = m->triangles[t][2];
  m->triangles[t][2] = second;
}

static inline void rough_scale(rough_mesh* m, double factor) {
  for (size_t v = 0; v < m->vertex_count; ++v) {
    for (int k = 0; k < 3; ++k) m->places[v][k] *= factor;
  }
}

// Middle of all vertices.
static inline sn_vec3 rough_middle(const rough_mesh* m, size_t vertex_count) {
  sn_vec3 sum = sn_v3(0, 0, 0);
  for (size_t v = 0; v < vertex_count; ++v) sum = sn_add(sum, sn_load3(m->places[v]));
  return sn_scale(1 / (double)vertex_count, sum);
}

// A second surface: p -> scale (p - from) + to.
static inline void rough_copy(rough_mesh* m, double scale, sn_vec3 from, sn_vec3 to, bool flip) {
  size_t vertices = m->vertex_count, triangles = m->triangle_count;
  for (size_t v = 0; v < vertices; ++v) {
    sn_vec3 p = sn_madd(to, scale, sn_sub(sn_load3(m->places[v]), from));
    rough_add_vertex(m, p.x, p.y, p.z);
  }
  for (size_t t = 0; t < triangles; ++t) {
    const long* c = m->triangles[t];
    long base = (long)vertices;
    rough_add_triangle(m, base + c[0], base + c[flip ? 2 : 1], base + c[flip ? 1 : 2]);
  }
}

// Defects of connection

static void spoil_nothing(rough_mesh* m) { (void)m; }

static void spoil_hole(rough_mesh* m) { rough_remove(m, rough_pick(m, m->triangle_count)); }

static void spoil_holes(rough_mesh* m) {
  for (size_t n = m->triangle_count / 20 + 1; n > 0; --n) spoil_hole(m);
}

static void spoil_flip_some(rough_mesh* m) {
  for (size_t t = 0; t < m->triangle_count; t += 10) rough_flip(m, t);
}

static void spoil_flip_half(rough_mesh* m) {
  for (size_t t = 0; t < m->triangle_count / 2; ++t) rough_flip(m, t);
}

static void spoil_flip_all(rough_mesh* m) {
  for (size_t t = 0; t < m->triangle_count; ++t) rough_flip(m, t);
}

static void spoil_holes_and_flips(rough_mesh* m) {
  spoil_holes(m);
  spoil_flip_some(m);
}

// Fins that stand on edges, hardly out of the surface.
static void spoil_fins(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  for (int n = 0; n < 5; ++n) {
    const long* c = m->triangles[rough_pick(m, m->triangle_count)];
    sn_vec3 a = sn_load3(m->places[c[0] - 1]), b = sn_load3(m->places[c[1] - 1]);
    sn_vec3 half = sn_scale(0.5, sn_add(a, b));
    sn_vec3 top = sn_madd(half, 0.02, sn_sub(half, middle));
    long first = c[0], second = c[1];
    rough_add_triangle(m, first, second, rough_add_vertex(m, top.x, top.y, top.z));
  }
}

// A small spike that hangs on the surface by one vertex alone.
static void spoil_pinch(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count), p = sn_load3(m->places[0]);
  sn_vec3 out = sn_scale(0.05, sn_sub(p, middle)), q = sn_add(p, out);
  double side = 0.5 * sqrt(sn_dot(out, out));
  long a = rough_add_vertex(m, q.x + side, q.y, q.z), b = rough_add_vertex(m, q.x, q.y + side, q.z);
  long c = rough_add_vertex(m, q.x, q.y, q.z + side);
  rough_add_triangle(m, 1, b, a);
  rough_add_triangle(m, 1, c, b);
  rough_add_triangle(m, 1, a, c);
  rough_add_triangle(m, a, b, c);
}

static void duplicate(rough_mesh* m, size_t every, bool flip) {
  size_t count = m->triangle_count;
  for (size_t t = 0; t < count; t += every) {
    const long* c = m->triangles[t];
    rough_add_triangle(m, c[0], c[flip ? 2 : 1], c[flip ? 1 : 2]);
  }
}

static void spoil_duplicates(rough_mesh* m) { duplicate(m, 7, false); }
static void spoil_duplicates_flipped(rough_mesh* m) { duplicate(m, 7, true); }
static void spoil_doubled(rough_mesh* m) { duplicate(m, 1, false); }

static void unweld(rough_mesh* m, double jitter) {
  for (size_t t = 0; t < m->triangle_count; ++t) {
    for (int k = 0; k < 3; ++k) {
      sn_vec3 p = sn_madd(sn_load3(m->places[m->triangles[t][k] - 1]), jitter,
                          shape_random_point(&m->random));
      m->triangles[t][k] = rough_add_vertex(m, p.x, p.y, p.z);
    }
  }
}

static void spoil_unwelded(rough_mesh* m) { unweld(m, 0); }
static void spoil_cracks(rough_mesh* m) { unweld(m, 1e-6); }

// One side of an edge is divided, the other is not.
static void spoil_t_junctions(rough_mesh* m) {
  for (int n = 0; n < 8; ++n) {
    size_t t = rough_pick(m, m->triangle_count);
    long a = m->triangles[t][0], b = m->triangles[t][1], c = m->triangles[t][2];
    sn_vec3 half = sn_scale(0.5, sn_add(sn_load3(m->places[a - 1]), sn_load3(m->places[b - 1])));
    long between = rough_add_vertex(m, half.x, half.y, half.z);
    m->triangles[t][1] = between;
    rough_add_triangle(m, between, b, c);
  }
}

static void spoil_isolated(rough_mesh* m) {
  for (int n = 0; n < 20; ++n) {
    sn_vec3 p = shape_random_point(&m->random);
    rough_add_vertex(m, p.x, p.y, p.z);
  }
}

static void spoil_far_isolated(rough_mesh* m) { rough_add_vertex(m, 1e5, -1e5, 1e5); }

// Defects of shape

static void spoil_zero_area(rough_mesh* m) {
  for (size_t n = 0; n < 10; ++n) {
    const long* c = m->triangles[rough_pick(m, m->triangle_count)];
    long a = c[0], b = c[1];
    rough_add_triangle(m, a, b, n % 2 ? a : b);
    rough_add_triangle(m, a, a, a);
  }
}

// Triangles cut from a point next to one corner: needles, and closed as before.
static void split_near_corner(rough_mesh* m, double share) {
  size_t count = m->triangle_count;
  for (size_t t = 0; t < count; t += 5) {
    long a = m->triangles[t][0], b = m->triangles[t][1], c = m->triangles[t][2];
    sn_vec3 p = sn_load3(m->places[a - 1]), q = sn_load3(m->places[b - 1]);
    sn_vec3 r = sn_load3(m->places[c - 1]);
    sn_vec3 near = sn_madd(sn_madd(p, share, sn_sub(q, p)), share, sn_sub(r, p));
    long d = rough_add_vertex(m, near.x, near.y, near.z);
    m->triangles[t][2] = d;
    rough_add_triangle(m, b, c, d);
    rough_add_triangle(m, c, a, d);
  }
}

static void spoil_needles(rough_mesh* m) { split_near_corner(m, 1e-6); }
static void spoil_slivers(rough_mesh* m) { split_near_corner(m, 1e-12); }

// Neighbours change places: the surface folds through itself there.
static void spoil_tangles(rough_mesh* m) {
  for (int n = 0; n < 4; ++n) {
    const long* c = m->triangles[rough_pick(m, m->triangle_count)];
    for (int k = 0; k < 3; ++k) {
      double* p = m->places[c[0] - 1];
      double* q = m->places[c[1] - 1];
      double kept = p[k];
      p[k] = 0.4 * p[k] + 0.6 * q[k];
      q[k] = 0.4 * q[k] + 0.6 * kept;
    }
  }
}

// The same surface twice, hardly moved: all of it goes through itself.
static void spoil_overlap(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  rough_copy(m, 1, middle, sn_add(middle, sn_v3(0.003, 0.002, 0.001)), false);
}

static void spoil_overlaps(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  rough_copy(m, 1, middle, sn_add(middle, sn_v3(-0.002, 0.004, 0.003)), false);
  rough_copy(m, 1, middle, sn_add(middle, sn_v3(0.005, -0.001, 0.002)), false);
}

// Every triangle again, in three: no two are the same, all lie on one another.
static void spoil_doubled_otherwise(rough_mesh* m) {
  size_t count = m->triangle_count;
  for (size_t t = 0; t < count; ++t) {
    long c[3];
    memcpy(c, m->triangles[t], sizeof c);
    sn_vec3 sum = sn_v3(0, 0, 0);
    for (int k = 0; k < 3; ++k) sum = sn_add(sum, sn_load3(m->places[c[k] - 1]));
    long middle = rough_add_vertex(m, sum.x / 3, sum.y / 3, sum.z / 3);
    for (int k = 0; k < 3; ++k) rough_add_triangle(m, c[k], c[(k + 1) % 3], middle);
  }
}

// A small copy below the skin.
static void spoil_nested(rough_mesh* m) {
  sn_vec3 corner[3];
  for (int k = 0; k < 3; ++k) corner[k] = sn_load3(m->places[m->triangles[0][k] - 1]);
  sn_vec3 in = sn_cross(sn_sub(corner[2], corner[0]), sn_sub(corner[1], corner[0]));
  sn_vec3 to = sn_madd(corner[0], 0.15 / sn_length(in), in);
  rough_copy(m, 0.05, rough_middle(m, m->vertex_count), to, false);
}

static void spoil_double_skin(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  rough_copy(m, 0.98, middle, middle, false);
}

static void spoil_two_pieces(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  rough_copy(m, 1, middle, sn_add(middle, sn_v3(4, 0, 0)), false);
}

static void spoil_spikes(rough_mesh* m) {
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  for (int n = 0; n < 3; ++n) {
    double* p = m->places[rough_pick(m, m->vertex_count)];
    sn_store3(p, sn_madd(middle, 3, sn_sub(sn_load3(p), middle)));
  }
}

static void spoil_one_far_vertex(rough_mesh* m) { m->places[0][1] = 1e8; }

static void spoil_noise(rough_mesh* m) {
  for (size_t v = 0; v < m->vertex_count; ++v) {
    sn_store3(m->places[v], sn_madd(sn_load3(m->places[v]), 0.005, shape_random_point(&m->random)));
  }
}

static void spoil_flat(rough_mesh* m) {
  for (size_t v = 0; v < m->vertex_count; ++v) m->places[v][2] = 0.25;
}

static void spoil_to_a_point(rough_mesh* m) {
  for (size_t v = 0; v < m->vertex_count; ++v) memcpy(m->places[v], m->places[0], 24);
}

static void spoil_far_away(rough_mesh* m) {
  for (size_t v = 0; v < m->vertex_count; ++v) m->places[v][0] += 1e6;
}

static void spoil_tiny(rough_mesh* m) { rough_scale(m, 1e-30); }
static void spoil_small(rough_mesh* m) { rough_scale(m, 1e-12); }
static void spoil_large(rough_mesh* m) { rough_scale(m, 1e8); }
static void spoil_huge(rough_mesh* m) { rough_scale(m, 1e30); }

// Numbers that are none, indices that lead nowhere

static void spoil_nan(rough_mesh* m) { m->places[m->vertex_count / 2][1] = NAN; }
static void spoil_infinite(rough_mesh* m) { m->places[m->vertex_count / 2][0] = -INFINITY; }
static void spoil_index_too_large(rough_mesh* m) { m->triangles[3][1] = (long)m->vertex_count + 1; }
static void spoil_index_zero(rough_mesh* m) { m->triangles[2][0] = 0; }
static void spoil_index_huge(rough_mesh* m) { m->triangles[2][0] = 1L << 40; }
static void spoil_index_before_all(rough_mesh* m) {
  m->triangles[1][2] = -(long)m->vertex_count - 1;
}

// Counted from the last vertex on, as OBJ allows.
static void spoil_indices_negative(rough_mesh* m) {
  for (size_t t = 0; t < m->triangle_count; ++t) {
    for (int k = 0; k < 3; ++k) m->triangles[t][k] -= (long)m->vertex_count + 1;
  }
}

// Polygons

// Faces of four corners, two of which coincide, over one triangle in six.
static void spoil_degenerate_quads(rough_mesh* m) {
  size_t length = 0;
  for (size_t t = 0; t < m->triangle_count && length < sizeof m->more - 80; t += 6) {
    const long* c = m->triangles[t];
    length += (size_t)snprintf(m->more + length, sizeof m->more - length, "f %ld %ld %ld %ld\n",
                               c[0], c[1], c[1], c[2]);
    rough_remove(m, t);
  }
}

// A prism over a polygon of 100 corners that folds in at one of them.
static void spoil_concave_ngon(rough_mesh* m) {
  rough_clear(m);
  size_t length = 0;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 100; ++i) {
      double angle = 2 * SHAPE_PI * i / 100, r = i == 50 ? 0.5 : 1;
      rough_add_vertex(m, r * sn_cos(angle), side, -r * sn_sin(angle));
    }
  }
  for (int i = 0; i < 100; ++i) {
    long a = i + 1, b = (i + 1) % 100 + 1;
    rough_add_triangle(m, a, b, b + 100);
    rough_add_triangle(m, a, b + 100, a + 100);
  }
  for (int side = 0; side < 2; ++side) {
    length += (size_t)snprintf(m->more + length, sizeof m->more - length, "f");
    for (int i = 0; i < 100; ++i) {
      length += (size_t)snprintf(m->more + length, sizeof m->more - length, " %d",
                                 side ? 101 + i : 100 - i);
    }
    length += (size_t)snprintf(m->more + length, sizeof m->more - length, "\n");
  }
}

// Surfaces without an inside

static void spoil_to_one_triangle(rough_mesh* m) { m->triangle_count = 1; }

static void spoil_to_a_sheet(rough_mesh* m) {
  size_t kept = 0;
  sn_vec3 middle = rough_middle(m, m->vertex_count);
  for (size_t t = 0; t < m->triangle_count; ++t) {
    if (m->places[m->triangles[t][0] - 1][2] <= middle.z) continue;
    memmove(m->triangles[kept++], m->triangles[t], sizeof m->triangles[0]);
  }
  m->triangle_count = kept > 0 ? kept : 1;
}

// A strip of 40 quads that turns by `turns` halves on its way round.
static void make_strip(rough_mesh* m, int turns) {
  rough_clear(m);
  for (int i = 0; i < 40; ++i) {
    double angle = 2 * SHAPE_PI * i / 40, tilt = turns * angle / 2;
    for (int side = -1; side <= 1; side += 2) {
      double out = 1 + 0.3 * side * sn_cos(tilt);
      rough_add_vertex(m, out * sn_cos(angle), 0.3 * side * sn_sin(tilt), out * sn_sin(angle));
    }
  }
  for (int i = 0; i < 40; ++i) {
    long a = 2 * i + 1, b = a + 1, c = i < 39 ? a + 2 : turns % 2 ? 2 : 1;
    long d = i < 39 ? b + 2 : turns % 2 ? 1 : 2;
    rough_add_triangle(m, a, b, d);
    rough_add_triangle(m, a, d, c);
  }
}

static void spoil_to_moebius(rough_mesh* m) { make_strip(m, 1); }

// The figure of eight that turns over once on its way round.
static void spoil_to_klein(rough_mesh* m) {
  rough_clear(m);
  for (int i = 0; i < 24; ++i) {
    double u = 2 * SHAPE_PI * i / 24;
    for (int j = 0; j < 12; ++j) {
      double v = 2 * SHAPE_PI * j / 12;
      double across = sn_cos(u / 2) * sn_sin(v) - sn_sin(u / 2) * sn_sin(2 * v);
      double up = sn_sin(u / 2) * sn_sin(v) + sn_cos(u / 2) * sn_sin(2 * v);
      rough_add_vertex(m, (2 + across) * sn_cos(u), up, (2 + across) * sn_sin(u));
    }
  }
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < 12; ++j) {
      int k = (j + 1) % 12, a = 12 * i + j, b = 12 * i + k;
      int c = i < 23 ? a + 12 : (12 - j) % 12, d = i < 23 ? b + 12 : (12 - k) % 12;
      rough_add_triangle(m, a + 1, b + 1, d + 1);
      rough_add_triangle(m, a + 1, d + 1, c + 1);
    }
  }
}

static void spoil_to_soup(rough_mesh* m) {
  for (size_t t = 0; t < m->triangle_count; ++t) {
    for (int k = 0; k < 3; ++k) {
      m->triangles[t][k] = (long)rough_pick(m, m->vertex_count) + 1;
    }
  }
}

// Files without a surface

static void spoil_to_nothing(rough_mesh* m) { m->only_more = true; }

static void spoil_to_comments(rough_mesh* m) {
  m->only_more = true;
  snprintf(m->more, sizeof m->more, "# nothing\n# but words\n\n");
}

static void spoil_to_vertices(rough_mesh* m) { m->triangle_count = 0; }

static const rough_defect rough_defects[] = {
    {"none", spoil_nothing, ROUGH_SOUND, 0},
    {"a hole", spoil_hole, ROUGH_SOUND, 0},
    {"holes", spoil_holes, ROUGH_SOUND, 0},
    {"some flipped", spoil_flip_some, ROUGH_SOUND, 0},
    {"half flipped", spoil_flip_half, ROUGH_SOUND, 0},
    {"all flipped", spoil_flip_all, ROUGH_SOUND, 0},
    {"holes and flips", spoil_holes_and_flips, ROUGH_SOUND, 0},
    {"edges of three triangles", spoil_fins, ROUGH_SOUND, 0},
    {"pieces that share a vertex", spoil_pinch, ROUGH_SOUND, 0},
    {"duplicate triangles", spoil_duplicates, ROUGH_SOUND, 0},
    {"duplicate triangles, flipped", spoil_duplicates_flipped, ROUGH_SOUND, 0},
    {"all triangles twice", spoil_doubled, ROUGH_SOUND, 0},
    {"not welded", spoil_unwelded, ROUGH_SOUND, 0},
    {"cracks", spoil_cracks, ROUGH_SOUND, 0},
    {"T-junctions", spoil_t_junctions, ROUGH_SOUND, 0},
    {"isolated vertices", spoil_isolated, ROUGH_SOUND, 0},
    {"an isolated vertex far away", spoil_far_isolated, ROUGH_SOUND, 0},
    {"triangles without area", spoil_zero_area, ROUGH_SOUND, 0},
    {"needles", spoil_needles, ROUGH_SOUND, 0},
    {"slivers", spoil_slivers, ROUGH_SOUND, 0},
    {"tangles", spoil_tangles, ROUGH_SOUND, 0},
    {"the surface twice, moved", spoil_overlap, ROUGH_SOUND, 0},
    {"the surface four times, moved", spoil_overlaps, ROUGH_SOUND, 0},
    {"the surface twice, divided otherwise", spoil_doubled_otherwise, ROUGH_SOUND, 0},
    {"a double skin", spoil_double_skin, ROUGH_SOUND, 0},
    {"nested shells", spoil_nested, ROUGH_SOUND, 0},
    {"two pieces", spoil_two_pieces, ROUGH_SOUND, 2},
    {"noise", spoil_noise, ROUGH_SOUND, 0},
    {"degenerate quads", spoil_degenerate_quads, ROUGH_SOUND, 0},
    {"indices from the end", spoil_indices_negative, ROUGH_SOUND, 0},
    {"far from the origin", spoil_far_away, ROUGH_SOUND, 0},
    {"spikes", spoil_spikes, ROUGH_ANY, 0},
    {"one vertex far away", spoil_one_far_vertex, ROUGH_ANY, 0},
    {"flat", spoil_flat, ROUGH_ANY, 0},
    {"all at a point", spoil_to_a_point, ROUGH_ANY, 0},
    {"1e-30 in size", spoil_tiny, ROUGH_ANY, 0},
    {"1e-12 in size", spoil_small, ROUGH_ANY, 0},
    {"1e8 in size", spoil_large, ROUGH_ANY, 0},
    {"1e30 in size", spoil_huge, ROUGH_REFUSED, 0},
    {"not a number", spoil_nan, ROUGH_REFUSED, 0},
    {"infinite", spoil_infinite, ROUGH_REFUSED, 0},
    {"index too large", spoil_index_too_large, ROUGH_REFUSED, 0},
    {"index zero", spoil_index_zero, ROUGH_REFUSED, 0},
    {"index beyond 32 bits", spoil_index_huge, ROUGH_REFUSED, 0},
    {"index before all vertices", spoil_index_before_all, ROUGH_REFUSED, 0},
    {"a face of 100 corners", spoil_concave_ngon, ROUGH_ANY, 0},
    {"one triangle", spoil_to_one_triangle, ROUGH_ANY, 0},
    {"an open sheet", spoil_to_a_sheet, ROUGH_ANY, 0},
    {"a Moebius strip", spoil_to_moebius, ROUGH_ANY, 0},
    {"a Klein bottle", spoil_to_klein, ROUGH_ANY, 0},
    {"a soup of triangles", spoil_to_soup, ROUGH_ANY, 0},
    {"an empty file", spoil_to_nothing, ROUGH_REFUSED, 0},
    {"comments", spoil_to_comments, ROUGH_REFUSED, 0},
    {"vertices alone", spoil_to_vertices, ROUGH_REFUSED, 0},
};
#define ROUGH_DEFECT_COUNT (sizeof rough_defects / sizeof *rough_defects)

#endif
