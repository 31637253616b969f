// The filled share of a cell by the divergence theorem, column by column (docs/theory/octree.md,
// section 11). In units of a finest cell, with z from the cell's bottom, n the outward normal, and sums
// over the pieces of the skin in the cell,
//
//   fill     = A_top + sum of integral z n_z dA        (field (0, 0, z))
//   A_bottom = A_top + sum of integral   n_z dA        (field (0, 0, 1))
//
// where A is the area of the cell's top or bottom face that is inside. As n_z dA is the piece's
// projection onto the x y plane, with the sign of its turn, normals are not needed.
//
//   1. Split triangles into pieces by planes of the grid: x, then y, then z.
//   2. Sort the pieces by cell, and add up each cell's in the order of the triangles.
//   3. Go down each run of cells that are one above the other and have pieces. The face above its
//      first is inside if there is a cell above (it has no piece, so it is full), else outside.
//
// Pieces in a plane z = const belong to the cell below it. The skin may reach out of all cells by as
// much as rasterising takes for touching; such a piece is moved to the nearer plane above or below.
#include "octree/octree_fill.h"

#include <math.h>

#include "base/sort.h"
#include "geometry/surface.h"
#include "math/vec.h"
#include "octree/octant_list.h"

// Keys to sort: the cell (< 2^29, see octree_build.c) above the number of the piece.
#define PIECE_BITS 35
#define PIECE_MASK (((uint64_t)1 << PIECE_BITS) - 1)

#define MIN_TRIANGLES 4
#define MIN_CELLS 1024
#define MIN_PIECES 4096

// ---- Splitting

// Between two planes of each axis a triangle has at most two more corners an axis. This holds in
// floating point too: corners made by splitting stay within their edge on every axis (cut_edge), so
// that along each axis a polygon goes up once and down once.
#define MOST_CORNERS 9

typedef struct polygon {
  int count;
  double at[MOST_CORNERS][3];  // in finest cells
} polygon;

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
static void split(const polygon* whole, int axis, double plane, polygon* below, polygon* rest) {
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

// The slabs between planes of the grid that a polygon passes through. One within a plane is in the slab
// below, which matters for z alone: within planes of x and y, n_z = 0.
static slabs find_slabs(const polygon* p, int axis) {
  double low = p->at[0][axis], high = low;
  for (int c = 1; c < p->count; ++c) {
    double v = p->at[c][axis];
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  int first = (int)floor(low), last = (int)ceil(high) - 1;
  return (slabs){first < last ? first : last, last};
}

// The part in slab `at`, where all before it are taken off already. Works in turns on two polygons, of
// which rest[*turn] is what is left.
static const polygon* take_slab(polygon rest[2], int* turn, slabs range, int at, int axis,
                                polygon* part) {
  if (at == range.last) return &rest[*turn];
  split(&rest[*turn], axis, at + 1, part, &rest[!*turn]);
  *turn = !*turn;
  return part;
}

typedef void (*column_fn)(void* ctx, int x, int y, const polygon* part);

// The parts of a triangle by columns of cells along z.
static void visit_columns(const polygon* triangle, column_fn visit, void* ctx) {
  polygon rest_x[2], rest_y[2], part_x, part_y;
  int turn_x = 0;
  slabs xs = find_slabs(triangle, 0);
  rest_x[0] = *triangle;
  for (int x = xs.first; x <= xs.last; ++x) {
    int turn_y = 0;
    rest_y[0] = *take_slab(rest_x, &turn_x, xs, x, 0, &part_x);
    slabs ys = find_slabs(&rest_y[0], 1);
    for (int y = ys.first; y <= ys.last; ++y) {
      visit(ctx, x, y, take_slab(rest_y, &turn_y, ys, y, 1, &part_y));
    }
  }
}

// ---- Pieces

typedef struct piece {
  double area;    // integral of n_z dA
  double moment;  // integral of z n_z dA, z from the cell's bottom
} piece;

typedef struct cell_sum {
  double area, moment;  // of its pieces
  double top;           // inside area of its top face
  uint32_t below;       // the cell below if that has pieces, else SN_NO_CELL
  bool met;             // has pieces
  bool first;           // of a run
} cell_sum;

typedef struct fill_job {
  const sn_octree* tree;
  const sn_surface* skin;
  const uint64_t* codes;  // of the cells
  size_t block_size;      // of triangles
  size_t* offset;         // of each block's pieces; first counts, then starts
  piece* pieces;
  uint64_t* keys;
  size_t piece_count;
  cell_sum* sums;  // (cell_count)
  double* fill;    // (cell_count)
} fill_job;

// What is known while going through a block of triangles.
typedef struct piece_cursor {
  const fill_job* job;
  size_t next;    // piece
  uint32_t near;  // a cell close by
} piece_cursor;

static polygon place_triangle(const fill_job* job, size_t index) {
  polygon p = {.count = 3};
  for (int i = 0; i < 3; ++i) {
    sn_vec3 corner = sn_surface_corner(job->skin, (uint32_t)index, i);
    corner = sn_scale(1.0 / job->tree->cell, sn_sub(corner, job->tree->origin));
    sn_store3(p.at[i], corner);
  }
  return p;
}

static void count_column(void* ctx, int x, int y, const polygon* part) {
  slabs zs = find_slabs(part, 2);
  (void)x;
  (void)y;
  *(size_t*)ctx += (size_t)(zs.last - zs.first + 1);
}

static void count_pieces(void* ctx, size_t begin, size_t end) {
  fill_job* job = ctx;
  size_t count = 0;
  for (size_t t = begin; t < end; ++t) {
    polygon triangle = place_triangle(job, t);
    visit_columns(&triangle, count_column, &count);
  }
  job->offset[begin / job->block_size] = count;
}

// Over a fan of triangles: the signed area of each in projection, times its mean height.
static piece integrate(const polygon* p, int bottom) {
  piece sum = {0, 0};
  const double* a = p->at[0];
  for (int c = 2; c < p->count; ++c) {
    const double *b = p->at[c - 1], *d = p->at[c];
    double area = 0.5 * ((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]));
    sum.area += area;
    sum.moment += area * ((a[2] - bottom) + (b[2] - bottom) + (d[2] - bottom)) / 3;
  }
  return sum;
}

static bool is_low(const polygon* p, int bottom) {
  double height = 0;
  for (int c = 0; c < p->count; ++c) height += p->at[c][2] - bottom;
  return height < 0.5 * p->count;
}

static uint32_t find_cell(piece_cursor* cursor, int x, int y, int z) {
  const sn_octree* tree = cursor->job->tree;
  uint32_t cell = sn_octree_find_near(tree, cursor->job->codes, cursor->near, x, y, z);
  if (cell == SN_NO_CELL) return SN_NO_CELL;
  cursor->near = cell;
  return tree->cells[cell].height == 0 ? cell : SN_NO_CELL;
}

// One piece. Where there is no cell it goes to the nearer plane, so to the top of the cell below or the
// bottom of the cell above; if they are not there either it touches the body from the side.
static void emit_piece(piece_cursor* cursor, int x, int y, int z, const polygon* p) {
  piece sum = integrate(p, z);
  uint32_t cell = find_cell(cursor, x, y, z);
  if (cell == SN_NO_CELL) {
    bool low = is_low(p, z);
    cell = find_cell(cursor, x, y, low ? z - 1 : z + 1);
    sum.moment = low ? sum.area : 0;
  }
  if (cell == SN_NO_CELL) cell = cursor->job->tree->cell_count;
  cursor->job->pieces[cursor->next] = sum;
  cursor->job->keys[cursor->next] = (uint64_t)cell << PIECE_BITS | cursor->next;
  cursor->next++;
}

static void emit_column(void* ctx, int x, int y, const polygon* part) {
  slabs zs = find_slabs(part, 2);
  if (zs.first == zs.last) {
    emit_piece(ctx, x, y, zs.first, part);
    return;
  }
  polygon rest[2], piece_part;
  int turn = 0;
  rest[0] = *part;
  for (int z = zs.first; z <= zs.last; ++z) {
    emit_piece(ctx, x, y, z, take_slab(rest, &turn, zs, z, 2, &piece_part));
  }
}

static void emit_pieces(void* ctx, size_t begin, size_t end) {
  const fill_job* job = ctx;
  piece_cursor cursor = {job, job->offset[begin / job->block_size], 0};
  for (size_t t = begin; t < end; ++t) {
    polygon triangle = place_triangle(job, t);
    visit_columns(&triangle, emit_column, &cursor);
  }
}

// All pieces, and keys that sort them by cell, then triangle.
static sn_status list_pieces(fill_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  size_t offset[SN_MAX_BLOCKS] = {0}, count = job->skin->triangle_count;
  uint64_t* other;
  job->offset = offset;
  job->block_size = sn_block_size(count, MIN_TRIANGLES);
  sn_parallel_for(pool, count, MIN_TRIANGLES, count_pieces, job);
  for (size_t b = 0; b * job->block_size < count; ++b) {
    size_t in_block = offset[b];
    offset[b] = job->piece_count;
    job->piece_count += in_block;
  }
  SN_CHECK(job->piece_count <= PIECE_MASK, err, SN_ERR_INPUT,
           "the surface has %zu pieces in cells; take a larger cell", job->piece_count);
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &job->pieces, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &job->keys, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &other, err));
  sn_parallel_for(pool, count, MIN_TRIANGLES, emit_pieces, job);
  job->offset = NULL;
  return sn_sort_keys(pool, job->keys, other, job->piece_count, PIECE_BITS, scratch, err);
}

// ---- Cells

// The thread whose block has a cell's first key adds up all of the cell's pieces.
static void add_pieces(void* ctx, size_t begin, size_t end) {
  const fill_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    uint64_t cell = job->keys[i] >> PIECE_BITS;
    if (i > 0 && job->keys[i - 1] >> PIECE_BITS == cell) continue;
    if (cell == job->tree->cell_count) return;
    cell_sum sum = {.below = SN_NO_CELL, .met = true};
    for (size_t k = i; k < job->piece_count && job->keys[k] >> PIECE_BITS == cell; ++k) {
      const piece* p = &job->pieces[job->keys[k] & PIECE_MASK];
      sum.area += p->area;
      sum.moment += p->moment;
    }
    job->sums[cell] = sum;
  }
}

// The cell above (step = 1) or below (-1) one of the finest.
static uint32_t find_next(const fill_job* job, uint32_t cell, int step) {
  sn_octant o = job->tree->cells[cell];
  return sn_octree_find_near(job->tree, job->codes, cell, o.x, o.y, o.z + step);
}

// Tell the cell above of this one; without pieces there, a run starts here.
static void link_cells(void* ctx, size_t begin, size_t end) {
  const fill_job* job = ctx;
  for (size_t e = begin; e < end; ++e) {
    if (!job->sums[e].met) continue;
    uint32_t above = find_next(job, (uint32_t)e, 1);
    if (above != SN_NO_CELL && job->sums[above].met) {
      job->sums[above].below = (uint32_t)e;
    } else {
      job->sums[e].first = true;
      job->sums[e].top = above == SN_NO_CELL ? 0 : 1;
    }
  }
}

// Down a run of cells. The face below its last must be inside if there is a cell, which is then full,
// and outside if not. Had we come from below, every `top` would be larger by the difference. Beyond
// rounding only open and overlapping surfaces have one; of the two guesses they get the larger, so that
// a cell is taken for full rather than for empty.
static void fill_run(const fill_job* job, uint32_t first) {
  double inside = job->sums[first].top;
  uint32_t last = first;
  for (uint32_t e = first; e != SN_NO_CELL; e = job->sums[e].below) {
    job->sums[e].top = inside;
    inside += job->sums[e].area;
    last = e;
  }
  double bottom = find_next(job, last, -1) == SN_NO_CELL ? 0 : 1;
  double missing = bottom > inside ? bottom - inside : 0;
  for (uint32_t e = first; e != SN_NO_CELL; e = job->sums[e].below) {
    job->fill[e] = job->sums[e].top + missing + job->sums[e].moment;
  }
}

static void fill_cells(void* ctx, size_t begin, size_t end) {
  const fill_job* job = ctx;
  for (size_t e = begin; e < end; ++e) {
    if (!job->sums[e].met) job->fill[e] = 1;
    if (job->sums[e].first) fill_run(job, (uint32_t)e);
  }
}

static sn_status find_fill(fill_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  sn_octants cells = {job->tree->cells, job->tree->cell_count};
  uint64_t* codes;
  SN_TRY(sn_octants_codes(pool, cells, scratch, &codes, err));
  job->codes = codes;
  SN_TRY(list_pieces(job, pool, scratch, err));
  SN_TRY(SN_ARENA_NEW(scratch, cells.count, &job->sums, err));
  sn_parallel_for(pool, job->piece_count, MIN_PIECES, add_pieces, job);
  sn_parallel_for(pool, cells.count, MIN_CELLS, link_cells, job);
  sn_parallel_for(pool, cells.count, MIN_CELLS, fill_cells, job);
  return SN_OK;
}

sn_status sn_octree_fill_unbounded(const sn_octree* tree, const sn_surface* skin, sn_pool* pool,
                                   sn_arena* scratch, double* fill, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  fill_job job = {.tree = tree, .skin = skin, .fill = fill};
  sn_status status = find_fill(&job, pool, scratch, err);
  sn_arena_release(scratch, mark);
  return status;
}

sn_status sn_octree_fill(const sn_octree* tree, const sn_surface* skin, sn_pool* pool,
                         sn_arena* scratch, float* fill, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  double* shares;
  SN_TRY(SN_ARENA_RAW(scratch, tree->cell_count, &shares, err));
  sn_status status = sn_octree_fill_unbounded(tree, skin, pool, scratch, shares, err);
  for (uint32_t e = 0; status == SN_OK && e < tree->cell_count; ++e) {
    double share = shares[e];
    fill[e] = (float)(share < SN_LEAST_FILL ? SN_LEAST_FILL : share > 1 ? 1 : share);
  }
  sn_arena_release(scratch, mark);
  return status;
}
