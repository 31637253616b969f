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
//   1. Split triangles into pieces by planes of the grid.
//   2. Sort the pieces by cell, and add up each cell's in the order of the triangles.
//   3. Go down each run of cells that are one above the other and have pieces. The face above its
//      first is inside if there is a cell above (it has no piece, so it is full), else outside.
//   4. If more than all of a face comes down somewhere, the surface overlaps itself: only pieces of the
//      outermost skin count then, and 3 is done again. What a triangle counts for changes only where another
//      one passes through it, in a cell that both meet; where it meets none but those around its corners,
//      one answer does for all its pieces.
//
// Pieces in a plane z = const belong to the cell below it. The skin may reach out of all cells by as
// much as rasterising takes for touching; such a piece is moved to the nearer plane above or below.
#include "octree/octree_fill.h"

#include <math.h>

#include "base/sort.h"
#include "geometry/bvh.h"
#include "geometry/surface.h"
#include "math/vec.h"
#include "octree/octant_list.h"
#include "octree/octree_pieces.h"

// Keys to sort: the cell (< 2^29, see octree_build.c) above the number of the piece.
#define PIECE_BITS 35
#define PIECE_MASK (((uint64_t)1 << PIECE_BITS) - 1)

#define MIN_CELLS 1024
#define MIN_PIECES 4096
#define MIN_TRIANGLES 64

// So much of a face may come down beyond what there is before the surface is taken to overlap itself: seams
// that were not quite closed leave less, and what is below a hundredth of a cell is no matter.
#define OVERLAP_TOLERANCE 0.01
// So far from a piece, in finest cells, it is asked what is before and behind it; skins closer together are one.
#define BESIDE 1e-6
// Triangles in a cell of which it is found out whether they hang together; more are taken not to.
#define MOST_IN_SHEET 16

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
  bool over;            // first of a run in which more is inside than there is
} cell_sum;

typedef struct fill_job {
  const sn_octree* tree;
  sn_finder finder;
  const sn_bvh* skin;
  piece* pieces;
  uint32_t* triangles;  // of the pieces
  uint64_t* keys;
  sn_pieces split;  // how they are numbered
  size_t piece_count;
  cell_sum* sums;  // (cell_count)
  double* fill;    // (cell_count)
  uint8_t*
      mixed;  // is a piece in a cell with others that do not hang together with it? (piece_count)
  uint8_t* crossed;  // has a triangle such a piece? (triangle_count)
  double* weights;   // of triangles that are not (triangle_count)
} fill_job;

// Over a fan of triangles: the signed area of each in projection, times its mean height.
static piece integrate(const sn_polygon* p, int bottom) {
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

static bool is_low(const sn_polygon* p, int bottom) {
  double height = 0;
  for (int c = 0; c < p->count; ++c) height += p->at[c][2] - bottom;
  return height < 0.5 * p->count;
}

static uint32_t find_cell(const fill_job* job, int x, int y, int z) {
  uint32_t cell = sn_finder_find(&job->finder, x, y, z);
  return cell != SN_NO_CELL && job->tree->cells[cell].height == 0 ? cell : SN_NO_CELL;
}

// One piece. Where there is no cell it goes to the nearer plane, so to the top of the cell below or the
// bottom of the cell above; if they are not there either it touches the body from the side.
static void emit_piece(void* ctx, const sn_piece* at) {
  const fill_job* job = ctx;
  piece sum = integrate(at->part, at->z);
  uint32_t cell = find_cell(job, at->x, at->y, at->z);
  if (cell == SN_NO_CELL) {
    bool low = is_low(at->part, at->z);
    cell = find_cell(job, at->x, at->y, low ? at->z - 1 : at->z + 1);
    sum.moment = low ? sum.area : 0;
  }
  if (cell == SN_NO_CELL) cell = job->tree->cell_count;
  job->pieces[at->index] = sum;
  job->triangles[at->index] = at->triangle;
  job->keys[at->index] = (uint64_t)cell << PIECE_BITS | at->index;
}

// All pieces, and keys that sort them by cell, then triangle.
static sn_status list_pieces(fill_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  uint64_t* other;
  sn_pieces_count(job->tree, job->skin->surface, pool, &job->split);
  job->piece_count = job->split.count;
  SN_CHECK(job->piece_count <= PIECE_MASK, err, SN_ERR_INPUT,
           "the surface has %zu pieces in cells; take a larger cell", job->piece_count);
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &job->pieces, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &job->triangles, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &job->keys, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &other, err));
  sn_pieces_visit(&job->split, pool, emit_piece, job);
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
  return sn_finder_find(&job->finder, o.x, o.y, o.z + step);
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
  double most = 0;
  for (uint32_t e = first; e != SN_NO_CELL; e = job->sums[e].below) {
    job->sums[e].top = inside;
    inside += job->sums[e].area;
    most = fmax(most, inside);
    last = e;
  }
  double bottom = find_next(job, last, -1) == SN_NO_CELL ? 0 : 1;
  job->sums[first].over = fmax(most - 1, inside - bottom) > OVERLAP_TOLERANCE;
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

static void go_down_runs(fill_job* job, sn_pool* pool) {
  sn_parallel_for(pool, job->piece_count, MIN_PIECES, add_pieces, job);
  sn_parallel_for(pool, job->tree->cell_count, MIN_CELLS, link_cells, job);
  sn_parallel_for(pool, job->tree->cell_count, MIN_CELLS, fill_cells, job);
}

// ---- Surfaces that overlap themselves

static bool overlaps(const fill_job* job) {
  for (uint32_t e = 0; e < job->tree->cell_count; ++e) {
    if (job->sums[e].over) return true;
  }
  return false;
}

// Have two triangles a corner at the same place?
static bool touch_at_corners(const sn_surface* skin, uint32_t a, uint32_t b) {
  for (int i = 0; i < 9; ++i) {
    sn_vec3 p = sn_surface_corner(skin, a, i / 3), q = sn_surface_corner(skin, b, i % 3);
    if (p.x == q.x && p.y == q.y && p.z == q.z) return true;
  }
  return false;
}

// Can all of them be reached from the first, from corner to corner?
static bool hang_together(const sn_surface* skin, const uint32_t* triangles, int count) {
  uint32_t reached = 1, before = 0, all = (1u << count) - 1;
  while (reached != before) {
    before = reached;
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < count && !(reached >> i & 1); ++k) {
        bool at = reached >> k & 1 && touch_at_corners(skin, triangles[i], triangles[k]);
        reached |= (uint32_t)at << i;
      }
    }
  }
  return reached == all;
}

// Of a cell with pieces from key `first` on: do its triangles hang together? `end` is past its keys.
static bool is_one_sheet(const fill_job* job, size_t first, size_t* end) {
  uint64_t cell = job->keys[first] >> PIECE_BITS;
  uint32_t triangles[MOST_IN_SHEET];
  int count = 0;
  bool few = true;
  for (*end = first; *end < job->piece_count && job->keys[*end] >> PIECE_BITS == cell; ++*end) {
    uint32_t triangle = job->triangles[job->keys[*end] & PIECE_MASK];
    if (count > 0 && triangles[count - 1] == triangle) continue;
    few = few && count < MOST_IN_SHEET;
    if (few) triangles[count++] = triangle;
  }
  return few && hang_together(job->skin->surface, triangles, count);
}

static void mark_mixed(void* ctx, size_t begin, size_t end) {
  const fill_job* job = ctx;
  for (size_t i = begin, next; i < end; ++i) {
    uint64_t cell = job->keys[i] >> PIECE_BITS;
    if (i > 0 && job->keys[i - 1] >> PIECE_BITS == cell) continue;
    bool mixed = !is_one_sheet(job, i, &next);
    for (size_t k = i; k < next; ++k) job->mixed[job->keys[k] & PIECE_MASK] = mixed;
  }
}

// How often the surface winds around a place next to it, at `side` times BESIDE along its normal.
static double winding_beside(const fill_job* job, sn_vec3 middle, sn_vec3 normal, double side) {
  sn_vec3 at = sn_madd(middle, side * BESIDE, normal);
  return sn_bvh_winding(job->skin, sn_madd(job->tree->origin, job->tree->cell, at));
}

// What skin at a place counts for; places in finest cells. With flesh before it, it is within the body and counts for
// nothing. Skins that lie on one another share what one of them would count.
static double weigh(const fill_job* job, const sn_polygon* p) {
  sn_vec3 a = sn_load3(p->at[0]), middle = sn_scale(1.0 / p->count, a), across = sn_v3(0, 0, 0);
  for (int c = 1; c < p->count; ++c) {
    sn_vec3 b = sn_load3(p->at[c - 1]), d = sn_load3(p->at[c]);
    middle = sn_madd(middle, 1.0 / p->count, d);
    across = sn_add(across, sn_cross(sn_sub(b, a), sn_sub(d, a)));
  }
  double length = sn_length(across);
  if (!(length > 0)) return 1;
  sn_vec3 normal = sn_scale(1 / length, across);
  double before = winding_beside(job, middle, normal, 1);
  if (before > 0.5) return 0;
  double skins = round(winding_beside(job, middle, normal, -1) - before);
  return skins > 1 ? 1 / skins : 1;
}

static void weigh_triangles(void* ctx, size_t begin, size_t end) {
  const fill_job* job = ctx;
  for (size_t t = begin; t < end; ++t) {
    if (job->crossed[t]) continue;
    sn_polygon whole = sn_pieces_triangle(&job->split, (uint32_t)t);
    job->weights[t] = weigh(job, &whole);
  }
}

static void weigh_piece(void* ctx, const sn_piece* at) {
  const fill_job* job = ctx;
  bool crossed = job->crossed[at->triangle];
  double weight = crossed ? weigh(job, at->part) : job->weights[at->triangle];
  job->pieces[at->index].area *= weight;
  job->pieces[at->index].moment *= weight;
}

static sn_status count_outermost(fill_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  uint32_t count = job->skin->surface->triangle_count;
  SN_TRY(SN_ARENA_RAW(scratch, job->piece_count, &job->mixed, err));
  SN_TRY(SN_ARENA_NEW(scratch, count, &job->crossed, err));
  SN_TRY(SN_ARENA_RAW(scratch, count, &job->weights, err));
  sn_parallel_for(pool, job->piece_count, MIN_PIECES, mark_mixed, job);
  for (size_t i = 0; i < job->piece_count; ++i) job->crossed[job->triangles[i]] |= job->mixed[i];
  sn_parallel_for(pool, count, MIN_TRIANGLES, weigh_triangles, job);
  sn_pieces_visit(&job->split, pool, weigh_piece, job);
  return SN_OK;
}

static sn_status find_fill(fill_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  SN_TRY(sn_finder_make(job->tree, pool, scratch, &job->finder, err));
  SN_TRY(list_pieces(job, pool, scratch, err));
  SN_TRY(SN_ARENA_NEW(scratch, job->tree->cell_count, &job->sums, err));
  go_down_runs(job, pool);
  if (!overlaps(job)) return SN_OK;
  SN_TRY(count_outermost(job, pool, scratch, err));
  go_down_runs(job, pool);
  return SN_OK;
}

sn_status sn_octree_fill_unbounded(const sn_octree* tree, const struct sn_bvh* skin, sn_pool* pool,
                                   sn_arena* scratch, double* fill, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  fill_job job = {.tree = tree, .skin = skin, .fill = fill};
  sn_status status = find_fill(&job, pool, scratch, err);
  sn_arena_release(scratch, mark);
  return status;
}

sn_status sn_octree_fill(const sn_octree* tree, const struct sn_bvh* skin, sn_pool* pool,
                         sn_arena* scratch, float* fill, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  double* shares;
  SN_TRY(SN_ARENA_RAW(scratch, tree->cell_count, &shares, err));
  sn_status status = sn_octree_fill_unbounded(tree, skin, pool, scratch, shares, err);
  for (uint32_t e = 0; status == SN_OK && e < tree->cell_count; ++e) {
    fill[e] = sn_fill_bound(shares[e]);
  }
  sn_arena_release(scratch, mark);
  return status;
}
