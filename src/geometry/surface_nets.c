// Surface nets: the dual of marching cubes. Each cube of the grid that the surface passes holds a
// vertex for each sheet of surface in it; each grid edge that the surface cuts becomes a polygon
// through the four cubes around it. Nearly all polygons are quads of about the size of a cell,
// which gives better triangles than cutting cubes or tetrahedra would.
//
// Why the result is always a closed 2-manifold. On each face of a cube, the cut edges are paired up
// by segments; where all four edges are cut (an ambiguous face), each inside corner is cut off by
// itself. Both cubes at a face see the same segments, and in a cube they close to cycles: its
// sheets. Sheets are the vertices, segments the edges and cut grid edges the polygons of the net,
// so each edge lies in two polygons and each vertex in one ring. Only the two segments of an
// ambiguous face could join the same two vertices twice; each of them gets a vertex of its own in
// its middle.
//
//        6--------7        corner = x + 2 y + 4 z
//       /|       /|        edge   = 4 axis + u + 2 v, where u and v are the places of the edge
//      4--------5 |                 along the axes that follow `axis` in the cycle x, y, z
//      | 2------|-3        face   = 2 axis + side
//      |/       |/
//      0--------1
#include "geometry/surface_nets.h"

#include <string.h>

#include "base/memory.h"
#include "math/vec.h"

#define MAX_SAMPLES 1e9
#define RELAX_ROUNDS 5
#define NO_SHEET 255

// Vertices that a cube with given signs owns: its sheets, then two for each low face (towards -x,
// -y, -z) that is ambiguous. High faces belong to the next cube.
typedef struct cube_kind {
  uint8_t sheet[12];  // sheet that cuts the edge, or NO_SHEET
  uint8_t sheet_count;
  uint8_t face_first[3];  // first vertex of the low face, or 0 where it is not ambiguous
  uint8_t vertex_count;
} cube_kind;

typedef struct surface_net {
  const sn_distance_field* field;
  sn_vec3 origin;
  double cell;
  uint32_t n[3];  // samples along each axis
  cube_kind kinds[256];
  // Two of each, used in turn by odd and even layers, in rows of n[0]
  double* samples[2];   // slices below and above the layer of cubes
  uint8_t* signs[2];    // a bit for each corner inside (n[0] x n[1])
  uint32_t* firsts[2];  // first vertex of each cube that has any
  // The net so far
  sn_vec3* points;
  size_t point_count, point_capacity;
  uint32_t* polygons;  // corner count, then corners, over and over; five or more begin with a face
  size_t polygon_words, polygon_capacity;
} surface_net;

// Room for at least `needed` items in *items.
static sn_status grow(void** items, size_t* capacity, size_t needed, size_t item_bytes,
                      sn_error* err) {
  if (needed <= *capacity) return SN_OK;
  size_t larger = needed + needed / 2 + 1024;
  void* block = sn_allocate(larger * item_bytes);
  if (!block) return sn_fail_memory(err, larger * item_bytes);
  if (*items) memcpy(block, *items, *capacity * item_bytes);
  sn_release(*items);
  *items = block;
  *capacity = larger;
  return SN_OK;
}

// Table of cube kinds

static int edge_low_corner(int edge) {
  int axis = edge / 4, u = edge & 1, v = edge >> 1 & 1;
  return u << (axis + 1) % 3 | v << (axis + 2) % 3;
}

static int edge_high_corner(int edge) { return edge_low_corner(edge) | 1 << edge / 4; }

static bool edge_is_cut(int signs, int edge) {
  return (signs >> edge_low_corner(edge) & 1) != (signs >> edge_high_corner(edge) & 1);
}

// Corner of the face at (u, v) along the axes that follow the one of the face.
static int face_corner(int face, int u, int v) {
  int axis = face / 2, side = face & 1;
  return side << axis | u << (axis + 1) % 3 | v << (axis + 2) % 3;
}

// The two edges of the face that meet at its corner (u, v).
static void face_corner_edges(int face, int u, int v, int edges[2]) {
  int axis = face / 2, side = face & 1;
  edges[0] = 4 * ((axis + 1) % 3) + v + 2 * side;
  edges[1] = 4 * ((axis + 2) % 3) + side + 2 * u;
}

static bool face_is_ambiguous(int signs, int face) {
  int a = signs >> face_corner(face, 0, 0) & 1, b = signs >> face_corner(face, 1, 0) & 1;
  int c = signs >> face_corner(face, 0, 1) & 1, d = signs >> face_corner(face, 1, 1) & 1;
  return a == d && b == c && a != b;
}

static void join_sheets(uint8_t label[12], int a, int b) {
  uint8_t from = label[a], to = label[b];
  for (int e = 0; e < 12; ++e) {
    if (label[e] == from) label[e] = to;
  }
}

// Join the edges that a segment on this face connects.
static void join_across_face(int signs, int face, uint8_t label[12]) {
  bool ambiguous = face_is_ambiguous(signs, face);
  int first_cut = -1;
  for (int corner = 0; corner < 4; ++corner) {
    int u = corner & 1, v = corner >> 1, edges[2];
    face_corner_edges(face, u, v, edges);
    if (ambiguous) {
      if (signs >> face_corner(face, u, v) & 1) join_sheets(label, edges[0], edges[1]);
      continue;
    }
    for (int k = 0; k < 2; ++k) {
      if (!edge_is_cut(signs, edges[k])) continue;
      if (first_cut < 0) first_cut = edges[k];
      join_sheets(label, edges[k], first_cut);
    }
  }
}

static cube_kind make_kind(int signs) {
  cube_kind kind = {.sheet_count = 0};
  uint8_t label[12], number[12];
  for (int e = 0; e < 12; ++e) label[e] = (uint8_t)e;
  for (int face = 0; face < 6; ++face) join_across_face(signs, face, label);
  memset(number, NO_SHEET, sizeof number);
  for (int e = 0; e < 12; ++e) {
    kind.sheet[e] = NO_SHEET;
    if (!edge_is_cut(signs, e)) continue;
    if (number[label[e]] == NO_SHEET) number[label[e]] = kind.sheet_count++;
    kind.sheet[e] = number[label[e]];
  }
  kind.vertex_count = kind.sheet_count;
  for (int axis = 0; axis < 3; ++axis) {
    if (!face_is_ambiguous(signs, 2 * axis)) continue;
    kind.face_first[axis] = kind.vertex_count;
    kind.vertex_count = (uint8_t)(kind.vertex_count + 2);
  }
  return kind;
}

// Sampling

static sn_vec3 sample_place(const surface_net* net, uint32_t i, uint32_t j, uint32_t k) {
  return sn_madd(net->origin, net->cell, sn_v3(i, j, k));
}

// A value of d leaves no surface within d, so samples nearer than that need no look of their own:
// any number of the right sign will do where the surface is farther than a grid edge.
static void sample_row(const surface_net* net, uint32_t j, uint32_t k, double* row) {
  for (uint32_t i = 0; i < net->n[0];) {
    double value = net->field->value(net->field->ctx, sample_place(net, i, j, k), NULL);
    double shrink = value < 0 ? net->cell : -net->cell;
    do {
      row[i++] = value;
      value += shrink;
    } while (i < net->n[0] && fabs(value) > net->cell);
  }
}

static void sample_slice(const surface_net* net, uint32_t k) {
  for (uint32_t j = 0; j < net->n[1]; ++j) {
    sample_row(net, j, k, net->samples[k & 1] + (size_t)j * net->n[0]);
  }
}

// Vertices

static double corner_value(const surface_net* net, size_t at, uint32_t k, int corner) {
  size_t offset = (size_t)(corner & 1) + (corner & 2 ? net->n[0] : 0);
  return net->samples[(k + (corner >> 2)) & 1][at + offset];
}

static int cube_signs(const surface_net* net, size_t at, uint32_t k) {
  int signs = 0;
  for (int corner = 0; corner < 8; ++corner) {
    signs |= (corner_value(net, at, k, corner) < 0) << corner;
  }
  return signs;
}

// Where the field is zero on an edge of the cube, in cells from its corner 0.
static sn_vec3 edge_crossing(const double values[8], int edge) {
  int low = edge_low_corner(edge), axis = edge / 4;
  double a = values[low], b = values[edge_high_corner(edge)];
  double p[3] = {low & 1, low >> 1 & 1, low >> 2 & 1};
  p[axis] = a / (a - b);
  return sn_load3(p);
}

// Each sheet at the mean of its crossings.
static void place_sheets(const cube_kind* kind, const double values[8], sn_vec3* local) {
  int crossing_count[4] = {0};
  for (int e = 0; e < 12; ++e) {
    if (kind->sheet[e] == NO_SHEET) continue;
    local[kind->sheet[e]] = sn_add(local[kind->sheet[e]], edge_crossing(values, e));
    ++crossing_count[kind->sheet[e]];
  }
  for (int s = 0; s < kind->sheet_count; ++s)
    local[s] = sn_scale(1.0 / crossing_count[s], local[s]);
}

// Both segments of each ambiguous low face at their middles, ordered by where along the axis after
// that of the face their inside corner is.
static void place_segments(const cube_kind* kind, int signs, const double values[8],
                           sn_vec3* local) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!kind->face_first[axis]) continue;
    for (int u = 0; u < 2; ++u) {
      int v = signs >> face_corner(2 * axis, u, 0) & 1 ? 0 : 1, edges[2];
      face_corner_edges(2 * axis, u, v, edges);
      sn_vec3 ends = sn_add(edge_crossing(values, edges[0]), edge_crossing(values, edges[1]));
      local[kind->face_first[axis] + u] = sn_scale(0.5, ends);
    }
  }
}

static sn_status add_cube(surface_net* net, uint32_t i, uint32_t j, uint32_t k, sn_error* err) {
  size_t at = (size_t)j * net->n[0] + i;
  int signs = net->signs[k & 1][at];
  const cube_kind* kind = &net->kinds[signs];
  SN_CHECK(net->point_count + kind->vertex_count <= UINT32_MAX / 4, err, SN_ERR_INPUT,
           "the surface has too many vertices; take a cell larger than %g", net->cell);
  SN_TRY(grow((void**)&net->points, &net->point_capacity, net->point_count + kind->vertex_count,
              sizeof *net->points, err));
  double values[8];
  for (int corner = 0; corner < 8; ++corner) values[corner] = corner_value(net, at, k, corner);
  sn_vec3 local[10] = {{0, 0, 0}};
  place_sheets(kind, values, local);
  place_segments(kind, signs, values, local);
  net->firsts[k & 1][at] = (uint32_t)net->point_count;
  for (int v = 0; v < kind->vertex_count; ++v) {
    net->points[net->point_count++] = sn_madd(sample_place(net, i, j, k), net->cell, local[v]);
  }
  return SN_OK;
}

// Polygons

typedef struct cube_ref {
  const cube_kind* kind;
  uint32_t first;
} cube_ref;

// The cube before `cube` along the axes of the mask (1 for x, 2 for y, 4 for z).
static cube_ref cube_before(const surface_net* net, const uint32_t cube[3], int mask) {
  size_t column = cube[0] - (mask & 1), row = cube[1] - (mask >> 1 & 1);
  uint32_t parity = (cube[2] - (mask >> 2)) & 1;
  size_t at = row * net->n[0] + column;
  return (cube_ref){&net->kinds[net->signs[parity][at]], net->firsts[parity][at]};
}

typedef struct polygon {
  uint32_t corners[8];
  uint32_t count;
  uint32_t fan_from;  // where to begin when cutting it into triangles
} polygon;

// The polygon around the grid edge that leaves corner 0 of the cube along `axis`, counter-clockwise
// seen from the far end of the axis. With b and c the axes that follow, the walk is
//
//      c ^    1 -b- 0      numbers are cubes, letters the normals of the faces between them; a face
//        |    c     c      belongs to the cube at its high side: 0, 1, 3, 0
//        +->  2 -b- 3
//          b
//
// With five corners and more, a fan must begin at a face: diagonals from there occur in no other
// polygon, while one between neighbouring cubes might.
static polygon walk_around_edge(const surface_net* net, const uint32_t cube[3], int axis,
                                int inside_end) {
  static const int before_b[4] = {0, 1, 1, 0}, before_c[4] = {0, 0, 1, 1}, owner[4] = {0, 1, 3, 0};
  int b = (axis + 1) % 3, c = (axis + 2) % 3;
  cube_ref around[4];
  for (int s = 0; s < 4; ++s) {
    around[s] = cube_before(net, cube, before_b[s] << b | before_c[s] << c);
  }
  polygon all = {.count = 0};
  for (int s = 0; s < 4; ++s) {
    int edge = 4 * axis + before_b[s] + 2 * before_c[s];
    all.corners[all.count++] = around[s].first + around[s].kind->sheet[edge];
    const cube_ref* face_owner = &around[owner[s]];
    uint32_t face_first = face_owner->kind->face_first[s % 2 == 0 ? b : c];
    if (!face_first) continue;
    // Of the two segments of the face, the one around the inside end of this edge.
    uint32_t segment = (uint32_t)(s % 2 == 0 ? before_c[s] : inside_end);
    all.fan_from = all.count;
    all.corners[all.count++] = face_owner->first + face_first + segment;
  }
  return all;
}

static sn_status add_polygon(surface_net* net, const polygon* p, bool reverse, sn_error* err) {
  SN_TRY(grow((void**)&net->polygons, &net->polygon_capacity, net->polygon_words + 9,
              sizeof *net->polygons, err));
  net->polygons[net->polygon_words++] = p->count;
  for (uint32_t i = 0; i < p->count; ++i) {
    uint32_t step = reverse ? p->count - i : i;
    net->polygons[net->polygon_words++] = p->corners[(p->fan_from + step) % p->count];
  }
  return SN_OK;
}

// The polygons of the three edges at corner 0. Every edge inside the grid is one of those, once.
static sn_status add_polygons(surface_net* net, uint32_t i, uint32_t j, uint32_t k, sn_error* err) {
  int signs = net->signs[k & 1][(size_t)j * net->n[0] + i];
  const uint32_t cube[3] = {i, j, k};
  for (int axis = 0; axis < 3; ++axis) {
    if (!edge_is_cut(signs, 4 * axis)) continue;
    int inside_end = signs & 1 ? 0 : 1;
    polygon p = walk_around_edge(net, cube, axis, inside_end);
    SN_TRY(add_polygon(net, &p, inside_end == 1, err));
  }
  return SN_OK;
}

static bool is_cut(int signs) { return signs != 0 && signs != 255; }

// The cubes between slices k and k + 1, then the polygons that they and the layer below complete.
static sn_status add_layer(surface_net* net, uint32_t k, sn_error* err) {
  uint8_t* signs = net->signs[k & 1];
  for (uint32_t j = 0; j + 1 < net->n[1]; ++j) {
    for (uint32_t i = 0; i + 1 < net->n[0]; ++i) {
      size_t at = (size_t)j * net->n[0] + i;
      signs[at] = (uint8_t)cube_signs(net, at, k);
      if (is_cut(signs[at])) SN_TRY(add_cube(net, i, j, k, err));
    }
  }
  for (uint32_t j = 0; j + 1 < net->n[1]; ++j) {
    for (uint32_t i = 0; i + 1 < net->n[0]; ++i) {
      if (is_cut(signs[(size_t)j * net->n[0] + i])) SN_TRY(add_polygons(net, i, j, k, err));
    }
  }
  return SN_OK;
}

// Relaxation

// Newton steps onto the zero surface. Where gradients of blended parts cancel the step is held
// short.
static sn_vec3 project(const surface_net* net, sn_vec3 p) {
  for (int round = 0; round < 3; ++round) {
    sn_vec3 gradient;
    double value = net->field->value(net->field->ctx, p, &gradient);
    double step = value / fmax(sn_dot(gradient, gradient), 0.1);
    step = fmax(-0.5 * net->cell, fmin(0.5 * net->cell, step));
    p = sn_madd(p, -step, gradient);
  }
  return p;
}

// Each edge of the net lies in two polygons, once in each direction: so every neighbour counts
// once.
static void sum_neighbours(const surface_net* net, sn_vec3* sums, uint32_t* counts) {
  memset(sums, 0, net->point_count * sizeof *sums);
  memset(counts, 0, net->point_count * sizeof *counts);
  for (size_t w = 0; w < net->polygon_words;) {
    uint32_t count = net->polygons[w];
    const uint32_t* corners = &net->polygons[w + 1];
    for (uint32_t c = 0; c < count; ++c) {
      uint32_t a = corners[c], b = corners[(c + 1) % count];
      sums[a] = sn_add(sums[a], net->points[b]);
      ++counts[a];
    }
    w += count + 1;
  }
}

// Even out the net: every vertex half way to the middle of its neighbours, then back to the
// surface.
static sn_status relax(surface_net* net, sn_arena* arena, sn_error* err) {
  sn_vec3* sums;
  uint32_t* counts;
  SN_TRY(SN_ARENA_NEW(arena, net->point_count, &sums, err));
  SN_TRY(SN_ARENA_NEW(arena, net->point_count, &counts, err));
  for (int round = 0; round < RELAX_ROUNDS; ++round) {
    sum_neighbours(net, sums, counts);
    for (size_t v = 0; v < net->point_count; ++v) {
      sn_vec3 middle = sn_scale(1.0 / counts[v], sums[v]);
      net->points[v] = project(net, sn_scale(0.5, sn_add(net->points[v], middle)));
    }
  }
  return SN_OK;
}

// Triangles

static size_t count_triangles(const surface_net* net) {
  size_t count = 0;
  for (size_t w = 0; w < net->polygon_words; w += net->polygons[w] + 1) {
    count += net->polygons[w] - 2;
  }
  return count;
}

// Quads are cut along the shorter diagonal.
static uint32_t fan_start(const surface_net* net, const uint32_t* corners, uint32_t count) {
  if (count != 4) return 0;
  double first = sn_distance(net->points[corners[0]], net->points[corners[2]]);
  double second = sn_distance(net->points[corners[1]], net->points[corners[3]]);
  return first <= second ? 0 : 1;
}

static void cut_polygons(const surface_net* net, uint32_t* triangles) {
  for (size_t w = 0; w < net->polygon_words; w += net->polygons[w] + 1) {
    uint32_t count = net->polygons[w];
    const uint32_t* corners = &net->polygons[w + 1];
    uint32_t start = fan_start(net, corners, count);
    for (uint32_t c = 1; c + 1 < count; ++c) {
      *triangles++ = corners[start];
      *triangles++ = corners[(start + c) % count];
      *triangles++ = corners[(start + c + 1) % count];
    }
  }
}

static sn_status make_mesh(const surface_net* net, sn_arena* arena, sn_mesh* mesh, sn_error* err) {
  size_t triangle_count = count_triangles(net);
  SN_CHECK(triangle_count <= UINT32_MAX, err, SN_ERR_INPUT,
           "the surface has too many triangles; take a cell larger than %g", net->cell);
  uint32_t* triangles;
  double* positions;
  SN_TRY(SN_ARENA_NEW(arena, 3 * triangle_count, &triangles, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * net->point_count, &positions, err));
  cut_polygons(net, triangles);
  for (size_t v = 0; v < net->point_count; ++v) sn_store3(positions + 3 * v, net->points[v]);
  return sn_mesh_from_arrays(positions, (uint32_t)net->point_count, triangles,
                             (uint32_t)triangle_count, mesh, err);
}

// Grid

// A margin of more than a cell all around keeps the outermost samples outside.
static sn_status lay_grid(surface_net* net, sn_box box, sn_error* err) {
  SN_CHECK(net->cell > 0 && isfinite(net->cell), err, SN_ERR_INPUT,
           "cell is %g; it must be finite and above 0", net->cell);
  double total = 1;
  for (int axis = 0; axis < 3; ++axis) {
    double samples = ceil((sn_axis(box.hi, axis) - sn_axis(box.lo, axis)) / net->cell) + 4;
    total *= samples;
    SN_CHECK(total <= MAX_SAMPLES, err, SN_ERR_INPUT,
             "a cell of %g makes a grid of more than %g samples; take a larger one", net->cell,
             MAX_SAMPLES);
    net->n[axis] = (uint32_t)samples;
  }
  double margin = 1.5 * net->cell;
  net->origin = sn_sub(box.lo, sn_v3(margin, margin, margin));
  return SN_OK;
}

static sn_status take_slices(surface_net* net, sn_arena* arena, sn_error* err) {
  size_t count = (size_t)net->n[0] * net->n[1];
  for (int parity = 0; parity < 2; ++parity) {
    SN_TRY(SN_ARENA_NEW(arena, count, &net->samples[parity], err));
    SN_TRY(SN_ARENA_NEW(arena, count, &net->signs[parity], err));
    SN_TRY(SN_ARENA_NEW(arena, count, &net->firsts[parity], err));
  }
  return SN_OK;
}

static sn_status build_mesh(surface_net* net, sn_arena* arena, sn_mesh* mesh, sn_error* err) {
  for (int signs = 0; signs < 256; ++signs) net->kinds[signs] = make_kind(signs);
  SN_TRY(take_slices(net, arena, err));
  sample_slice(net, 0);
  for (uint32_t k = 0; k + 1 < net->n[2]; ++k) {
    sample_slice(net, k + 1);
    SN_TRY(add_layer(net, k, err));
  }
  SN_CHECK(net->polygon_words > 0, err, SN_ERR_INPUT,
           "no part of the shape is thick enough for a cell of %g; take a smaller one", net->cell);
  SN_TRY(relax(net, arena, err));
  return make_mesh(net, arena, mesh, err);
}

sn_status sn_mesh_from_field(const sn_distance_field* field, sn_box box, double cell, sn_mesh* mesh,
                             sn_error* err) {
  *mesh = (sn_mesh){0};
  surface_net net = {.field = field, .cell = cell};
  SN_TRY(lay_grid(&net, box, err));
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = build_mesh(&net, arena, mesh, err);
  sn_release(net.points);
  sn_release(net.polygons);
  sn_arena_destroy(arena);
  return status;
}
