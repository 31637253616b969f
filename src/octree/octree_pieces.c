// Splitting x before y before z, to both sides at once: each cut serves all that is beyond it, and only
// pieces that exist are ever made (docs/theory/octree.md, section 11).
#include "octree/octree_pieces.h"

#include <math.h>

#include "geometry/surface.h"
#include "math/vec.h"

#define MIN_TRIANGLES 4

// ---- Splitting

// Where an edge passes through a plane. From low to high, so that triangles on both sides of the edge
// agree.
static void cut_edge(const double* low, const double* high, int axis, double plane, double* out) {
  double t = (plane - low[axis]) / (high[axis] - low[axis]);
  for (int i = 0; i < 3; ++i) {
    double a = low[i], b = high[i], v = a + t * (b - a);
    double least = a < b ? a : b, most = a < b ? b : a;
    out[i] = v < least ? least : v > most ? most : v;
  }
  out[axis] = plane;
}

// Sutherland-Hodgman to both sides: what is below the plane, and what is not.
static void split(const sn_polygon* whole, int axis, double plane, sn_polygon* below,
                  sn_polygon* rest) {
  int below_count = 0, rest_count = 0;
  const double* last = whole->at[whole->count - 1];
  for (int c = 0; c < whole->count; ++c) {
    const double* corner = whole->at[c];
    bool is_below = corner[axis] < plane, was_below = last[axis] < plane;
    if (is_below != was_below) {
      double* cut = below->at[below_count++];
      cut_edge(is_below ? corner : last, is_below ? last : corner, axis, plane, cut);
      for (int i = 0; i < 3; ++i) rest->at[rest_count][i] = cut[i];
      ++rest_count;
    }
    double* to = is_below ? below->at[below_count++] : rest->at[rest_count++];
    for (int i = 0; i < 3; ++i) to[i] = corner[i];
    last = corner;
  }
  below->count = below_count;
  rest->count = rest_count;
}

typedef struct slabs {
  int first, last;
} slabs;

static int clamp_slab(double at, int size) { return at < -1 ? -1 : at > size ? size : (int)at; }

// The slabs between planes of the grid that a polygon passes through. One within a plane is in the slab
// below, which matters for z alone: within planes of x and y, n_z = 0. Planes beyond the root are not
// needed, and a foreign surface may pass through any number of them.
static slabs find_slabs(const sn_polygon* p, int axis, int size) {
  double low = p->at[0][axis], high = low;
  for (int c = 1; c < p->count; ++c) {
    double v = p->at[c][axis];
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  int first = clamp_slab(floor(low), size), last = clamp_slab(ceil(high) - 1, size);
  return (slabs){first < last ? first : last, last};
}

// The part in slab `at`, where all before it are taken off already. Works in turns on two polygons, of
// which rest[*turn] is what is left.
static const sn_polygon* take_slab(sn_polygon rest[2], int* turn, slabs range, int at, int axis,
                                   sn_polygon* part) {
  if (at == range.last) return &rest[*turn];
  split(&rest[*turn], axis, at + 1, part, &rest[!*turn]);
  *turn = !*turn;
  return part;
}

// ---- Triangles

typedef struct visitor {
  int size;           // of the root
  sn_piece next;      // index of the next piece
  sn_piece_fn visit;  // NULL: only count
  void* ctx;
} visitor;

// The pieces of a part that is in one column along z.
static void visit_column(visitor* v, int x, int y, const sn_polygon* part) {
  slabs zs = find_slabs(part, 2, v->size);
  if (!v->visit) {
    v->next.index += (size_t)(zs.last - zs.first + 1);
    return;
  }
  sn_polygon rest[2], low;
  int turn = 0;
  bool whole = zs.first == zs.last;
  if (!whole) rest[0] = *part;
  v->next.x = x;
  v->next.y = y;
  for (int z = zs.first; z <= zs.last; ++z) {
    v->next.z = z;
    v->next.part = whole ? part : take_slab(rest, &turn, zs, z, 2, &low);
    v->visit(v->ctx, &v->next);
    v->next.index++;
  }
}

static void visit_triangle(visitor* v, const sn_polygon* triangle) {
  sn_polygon rest_x[2], rest_y[2], part_x, part_y;
  int turn_x = 0;
  slabs xs = find_slabs(triangle, 0, v->size);
  rest_x[0] = *triangle;
  for (int x = xs.first; x <= xs.last && x < v->size; ++x) {
    int turn_y = 0;
    rest_y[0] = *take_slab(rest_x, &turn_x, xs, x, 0, &part_x);
    if (x < 0) continue;
    slabs ys = find_slabs(&rest_y[0], 1, v->size);
    for (int y = ys.first; y <= ys.last && y < v->size; ++y) {
      const sn_polygon* part = take_slab(rest_y, &turn_y, ys, y, 1, &part_y);
      if (y >= 0) visit_column(v, x, y, part);
    }
  }
}

sn_polygon sn_pieces_triangle(const sn_pieces* pieces, uint32_t triangle) {
  const sn_octree* tree = pieces->tree;
  sn_polygon p = {.count = 3};
  for (int i = 0; i < 3; ++i) {
    sn_vec3 corner = sn_surface_corner(pieces->surface, triangle, i);
    sn_store3(p.at[i], sn_scale(1.0 / tree->cell, sn_sub(corner, tree->origin)));
  }
  return p;
}

static void visit_triangles(const sn_pieces* pieces, size_t begin, size_t end, visitor* v) {
  v->size = 1 << pieces->tree->root_height;
  for (size_t t = begin; t < end; ++t) {
    sn_polygon p = sn_pieces_triangle(pieces, (uint32_t)t);
    v->next.triangle = (uint32_t)t;
    visit_triangle(v, &p);
  }
}

static void count_block(void* ctx, size_t begin, size_t end) {
  sn_pieces* pieces = ctx;
  visitor v = {0};
  visit_triangles(pieces, begin, end, &v);
  pieces->offset[begin / pieces->block_size] = v.next.index;
}

void sn_pieces_count(const sn_octree* tree, const sn_surface* surface, sn_pool* pool,
                     sn_pieces* pieces) {
  size_t count = surface->triangle_count;
  *pieces = (sn_pieces){
      .tree = tree, .surface = surface, .block_size = sn_block_size(count, MIN_TRIANGLES)};
  sn_parallel_for(pool, count, MIN_TRIANGLES, count_block, pieces);
  for (size_t b = 0; b * pieces->block_size < count; ++b) {
    size_t in_block = pieces->offset[b];
    pieces->offset[b] = pieces->count;
    pieces->count += in_block;
  }
}

typedef struct visit_job {
  const sn_pieces* pieces;
  sn_piece_fn visit;
  void* ctx;
} visit_job;

static void visit_block(void* ctx, size_t begin, size_t end) {
  const visit_job* job = ctx;
  visitor v = {.visit = job->visit, .ctx = job->ctx};
  v.next.index = job->pieces->offset[begin / job->pieces->block_size];
  visit_triangles(job->pieces, begin, end, &v);
}

void sn_pieces_visit(const sn_pieces* pieces, sn_pool* pool, sn_piece_fn visit, void* ctx) {
  visit_job job = {pieces, visit, ctx};
  sn_parallel_for(pool, pieces->surface->triangle_count, MIN_TRIANGLES, visit_block, &job);
}
