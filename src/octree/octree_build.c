// From triangles to a balanced, incomplete linear octree, bottom up and level by level.
//
//   1. Rasterise: finest octants that a triangle touches.
//   2. Balance and complete in one sweep. Call an octant *split* if it is no leaf. Those of height
//   1
//      are the parents of the rasterised octants. If an octant p of height h is split, its children
//      are leaves or split, so by the 2:1 rule all 26 neighbours of p must exist as leaves or split
//      octants of height h; hence their parents are split at height h + 1:
//          split[h + 1] = parents of split[h] and of its neighbours.
//      Of these there are at most 8 for each p: along an axis, only the neighbour on p's own side
//      of its parent lies in another parent. The leaves of height h are the children of split[h +
//      1] that are not in split[h]. This is the coarsest balanced tree that has the rasterised
//      octants.
//   3. List the leaves and find out which are inside (octree_leaves.c).
//   4. Split the leaves that are coarser than allowed (all inside), down to the finest for a
//   uniform
//      grid. Balance is kept: the larger of two neighbours never becomes the smaller.
//   5. Number the nodes (octree_nodes.c).
#include <math.h>

#include "geometry/surface.h"
#include "geometry/triangle_box.h"
#include "math/vec.h"
#include "octree/octant_list.h"
#include "octree/octree.h"
#include "octree/octree_leaves.h"
#include "octree/octree_nodes.h"

// A face that lies in a plane of the grid touches the cells on both sides but cuts neither.
// Distances below this share of a cell count as touching.
#define TOUCH 1e-6

double sn_octree_axis_cells(sn_box box, double cell) {
  return fmax(1.0, ceil(sn_box_size(box) / cell - TOUCH));
}

typedef struct raster_ctx {
  const sn_octree* tree;
  const sn_surface* surface;
  bool cut;
} raster_ctx;

typedef struct raster_out {
  sn_octant* items;
  size_t count;
} raster_out;

static void raster_octant(const raster_ctx* ctx, const sn_triangle_axes* triangle, sn_octant o,
                          raster_out* out) {
  double half = 0.5 * (double)sn_octant_size(o);
  sn_vec3 centre = sn_v3(o.x + half, o.y + half, o.z + half);
  int touched = sn_triangle_touches_cubes(triangle, centre, half + TOUCH, half - TOUCH);
  if (touched == 0) return;
  if (o.height > 0) {
    for (int c = 0; c < 8; ++c) raster_octant(ctx, triangle, sn_octant_child(o, c), out);
    return;
  }
  if (ctx->cut) o.flags = SN_OCTANT_TOUCHED;
  if (ctx->cut && touched == 2) o.flags |= SN_OCTANT_CUT;
  out->items[out->count++] = o;
}

// A triangle in finest cells, and the range of those that its box touches.
typedef struct placed_triangle {
  sn_vec3 corner[3];
  int low[3], high[3];
} placed_triangle;

static placed_triangle place_triangle(const raster_ctx* ctx, size_t index) {
  placed_triangle t;
  sn_box box = sn_box_empty();
  for (int i = 0; i < 3; ++i) {
    sn_vec3 p = sn_surface_corner(ctx->surface, (uint32_t)index, i);
    t.corner[i] = sn_scale(1.0 / ctx->tree->cell, sn_sub(p, ctx->tree->origin));
    box = sn_box_grow(box, t.corner[i]);
  }
  int root_size = 1 << ctx->tree->root_height;
  for (int i = 0; i < 3; ++i) {
    double first = floor(sn_axis(box.lo, i) - TOUCH), last = floor(sn_axis(box.hi, i) + TOUCH);
    t.low[i] = first < 0 ? 0 : first >= root_size ? root_size - 1 : (int)first;
    t.high[i] = last < 0 ? 0 : last >= root_size ? root_size - 1 : (int)last;
  }
  return t;
}

// A triangle with less than this share of its edges squared as area is taken for a segment: it is less
// than a tenth of a cell wide, and its normal is not to be trusted.
#define SLIVER 1e-6

// How many cells a triangle touches at most. In a column of cells along the axis that the normal is
// closest to, a plane rises by at most two cells and so touches four, or five with some tolerance. A
// segment enters a cell on some axis each time, next to at most seven others.
static size_t bound_triangle(const void* context, size_t index) {
  placed_triangle t = place_triangle(context, index);
  size_t side[3];
  for (int i = 0; i < 3; ++i) side[i] = (size_t)t.high[i] - (size_t)t.low[i] + 1;
  sn_vec3 ab = sn_sub(t.corner[1], t.corner[0]), ac = sn_sub(t.corner[2], t.corner[0]);
  sn_vec3 n = sn_cross(ab, ac);
  if (sn_length(n) < SLIVER * (sn_dot(ab, ab) + sn_dot(ac, ac))) {
    size_t line = 8 * (side[0] + side[1] + side[2]), all = side[0] * side[1] * side[2];
    return line < all ? line : all;
  }
  double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
  int along = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  if (side[along] > 5) side[along] = 5;
  return side[0] * side[1] * side[2];
}

// Start from the smallest octants around the triangle, at most two along an axis.
static size_t emit_triangle(const void* context, size_t index, sn_octant* items) {
  const raster_ctx* ctx = context;
  placed_triangle t = place_triangle(ctx, index);
  int height = 0;
  for (int i = 0; i < 3; ++i) {
    while ((t.high[i] >> height) - (t.low[i] >> height) > 1) ++height;
  }
  sn_triangle_axes axes = sn_triangle_find_axes(t.corner);
  raster_out out = {items, 0};
  for (int z = t.low[2] >> height; z <= t.high[2] >> height; ++z) {
    for (int y = t.low[1] >> height; y <= t.high[1] >> height; ++y) {
      for (int x = t.low[0] >> height; x <= t.high[0] >> height; ++x) {
        sn_octant o = {(uint16_t)(x << height), (uint16_t)(y << height), (uint16_t)(z << height),
                       (uint8_t)height, 0};
        raster_octant(ctx, &axes, o, &out);
      }
    }
  }
  return out.count;
}

// Sorted, unique finest octants that the seeds touch.
static sn_status rasterise(const sn_octree_input* input, const sn_octree* tree, sn_pool* pool,
                           sn_arena* scratch, sn_octants* fine, sn_error* err) {
  sn_octants* parts;
  SN_TRY(SN_ARENA_NEW(scratch, input->seed_count, &parts, err));
  for (uint32_t s = 0; s < input->seed_count; ++s) {
    raster_ctx ctx = {tree, input->seeds[s].surface, input->seeds[s].cut};
    SN_TRY(sn_octants_emit_once(pool, ctx.surface->triangle_count, emit_triangle, bound_triangle,
                                &ctx, scratch, &parts[s], err));
  }
  return sn_octants_join(pool, parts, input->seed_count, scratch, fine, err);
}

static size_t emit_parent(const void* ctx, size_t index, sn_octant* out) {
  if (out) out[0] = sn_octant_parent(((const sn_octants*)ctx)->items[index]);
  return 1;
}

typedef struct split_ctx {
  sn_octants split;  // of one height
  int root_size;
} split_ctx;

// Parents of an octant and of its 26 neighbours: per axis the own parent and the one beyond.
static size_t emit_parents_around(const void* context, size_t index, sn_octant* out) {
  const split_ctx* ctx = context;
  sn_octant o = ctx->split.items[index], parent = sn_octant_parent(o);
  int number = sn_octant_child_number(o), size = (int)sn_octant_size(parent);
  size_t count = 0;
  for (int side = 0; side < 8; ++side) {
    int place[3] = {parent.x, parent.y, parent.z};
    bool in_root = true;
    for (int i = 0; i < 3; ++i) {
      if (side >> i & 1) place[i] += number >> i & 1 ? size : -size;
      in_root = in_root && 0 <= place[i] && place[i] < ctx->root_size;
    }
    if (!in_root) continue;
    if (out) {
      out[count] =
          (sn_octant){(uint16_t)place[0], (uint16_t)place[1], (uint16_t)place[2], parent.height, 0};
    }
    ++count;
  }
  return count;
}

// split[h] for h = 1..root_height. split[0] stays empty.
static sn_status find_split_octants(const sn_octree* tree, sn_octants fine, sn_pool* pool,
                                    sn_arena* scratch, sn_octants split[SN_MAX_HEIGHT + 2],
                                    sn_error* err) {
  sn_octants parents;  // of a sorted list are sorted
  SN_TRY(sn_octants_emit(pool, fine.count, emit_parent, &fine, scratch, &parents, err));
  SN_TRY(sn_octants_unique(pool, parents, scratch, &split[1], err));
  for (int h = 1; h < tree->root_height; ++h) {
    split_ctx ctx = {split[h], 1 << tree->root_height};
    SN_TRY(
        sn_octants_emit(pool, split[h].count, emit_parents_around, &ctx, scratch, &parents, err));
    SN_TRY(sn_octants_join(pool, &parents, 1, scratch, &split[h + 1], err));
  }
  return SN_OK;
}

typedef struct refine_ctx {
  sn_octants leaves;
  int coarsen;  // -1: none is too coarse
} refine_ctx;

static void emit_pieces(sn_octant o, int height, sn_octant* out, size_t* count) {
  if (o.height <= height) {
    out[(*count)++] = o;
    return;
  }
  for (int c = 0; c < 8; ++c) emit_pieces(sn_octant_child(o, c), height, out, count);
}

static size_t emit_allowed(const void* context, size_t index, sn_octant* out) {
  const refine_ctx* ctx = context;
  sn_octant o = ctx->leaves.items[index];
  if (!(o.flags & SN_OCTANT_INSIDE)) return 0;
  o.flags = 0;
  int height = ctx->coarsen < 0 ? SN_MAX_HEIGHT : ctx->coarsen;
  size_t count = 0;
  if (out) {
    emit_pieces(o, height, out, &count);
  } else {
    count = o.height <= height ? 1 : (size_t)1 << (3 * (o.height - height));
  }
  return count;
}

static sn_status place_grid(const sn_octree_input* input, sn_octree* tree, sn_error* err) {
  double axis_cells = sn_octree_axis_cells(input->box, input->cell);
  SN_CHECK(axis_cells <= SN_MAX_AXIS_CELLS, err, SN_ERR_INPUT,
           "cell %g gives %.0f cells along the longest side, at most %d are possible; "
           "take a cell of %g or larger",
           input->cell, axis_cells, SN_MAX_AXIS_CELLS, sn_box_size(input->box) / SN_MAX_AXIS_CELLS);
  tree->cell = input->cell;
  while ((1 << tree->root_height) < (int)axis_cells || tree->root_height < 1) tree->root_height++;

  // Centred along each axis, so that symmetric bodies have symmetric cells, and flush with the box
  // where its side is a whole number of cells.
  sn_vec3 d = sn_sub(input->box.hi, input->box.lo), c = sn_box_centre(input->box);
  double nx = fmax(1.0, ceil(d.x / tree->cell - TOUCH));
  double ny = fmax(1.0, ceil(d.y / tree->cell - TOUCH));
  double nz = fmax(1.0, ceil(d.z / tree->cell - TOUCH));
  tree->origin = sn_madd(c, -0.5 * tree->cell, sn_v3(nx, ny, nz));
  return SN_OK;
}

static sn_status build(const sn_octree_input* input, sn_pool* pool, sn_arena* arena,
                       sn_arena* corners, sn_arena* scratch, sn_octree* tree, sn_error* err) {
  sn_octants fine, leaves, cells, split[SN_MAX_HEIGHT + 2] = {{0}};
  SN_TRY(place_grid(input, tree, err));
  SN_TRY(rasterise(input, tree, pool, scratch, &fine, err));
  SN_TRY(find_split_octants(tree, fine, pool, scratch, split, err));
  SN_TRY(sn_octree_list_leaves(input, tree, split, fine, pool, scratch, &leaves, err));
  refine_ctx refine = {leaves, input->coarsen};
  SN_TRY(sn_octants_emit(pool, leaves.count, emit_allowed, &refine, arena, &cells, err));
  SN_CHECK(cells.count < UINT32_MAX / 8, err, SN_ERR_INPUT,
           "%zu cells, at most %u are possible; take a larger cell", cells.count, UINT32_MAX / 8);
  tree->cells = cells.items;
  tree->cell_count = (uint32_t)cells.count;
  return sn_octree_number_nodes(tree, pool, arena, corners, scratch, err);
}

sn_status sn_octree_build(const sn_octree_input* input, sn_pool* pool, sn_arena* arena,
                          sn_arena* corners, sn_arena* scratch, sn_octree* tree, sn_error* err) {
  *tree = (sn_octree){0};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = build(input, pool, arena, corners, scratch, tree, err);
  sn_arena_release(scratch, mark);
  return status;
}
