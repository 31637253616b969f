// From triangles to a balanced, incomplete linear octree, bottom up and level by level.
//
//   1. Rasterise: finest octants that a triangle touches (octree_raster.c).
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

#include "math/vec.h"
#include "octree/octant_list.h"
#include "octree/octree.h"
#include "octree/octree_leaves.h"
#include "octree/octree_nodes.h"
#include "octree/octree_raster.h"

double sn_octree_axis_cells(sn_box box, double cell) {
  return fmax(1.0, ceil(sn_box_size(box) / cell - SN_TOUCH));
}

static size_t emit_parent(const void* ctx, size_t index, sn_octant* out) {
  if (out) out[0] = sn_octant_parent(((const sn_octants*)ctx)->items[index]);
  return 1;
}

typedef struct split_ctx {
  sn_octants split;  // of one height
  int root_size;
} split_ctx;

// Sides of the parent, as below, that octants before this one with the same parent have emitted: all on axes where both
// are at the same side of it.
static uint32_t emitted_sides(const split_ctx* ctx, size_t index, sn_octant parent, int number) {
  static const uint8_t SUBSETS[8] = {0x01, 0x03, 0x05, 0x0f, 0x11, 0x33, 0x55, 0xff};
  uint32_t sides = 0;
  for (size_t i = index; i-- > 0;) {
    sn_octant before = ctx->split.items[i];
    if (!sn_octant_holds(parent, before.x, before.y, before.z)) break;
    sides |= SUBSETS[~(number ^ sn_octant_child_number(before)) & 7];
  }
  return sides;
}

// Parents of an octant and of its 26 neighbours: per axis the own parent and the one beyond.
static size_t emit_parents_around(const void* context, size_t index, sn_octant* out) {
  const split_ctx* ctx = context;
  sn_octant o = ctx->split.items[index], parent = sn_octant_parent(o);
  int number = sn_octant_child_number(o), size = (int)sn_octant_size(parent);
  uint32_t emitted = emitted_sides(ctx, index, parent, number);
  size_t count = 0;
  for (int side = 0; side < 8; ++side) {
    if (emitted >> side & 1) continue;
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
  double nx = fmax(1.0, ceil(d.x / tree->cell - SN_TOUCH));
  double ny = fmax(1.0, ceil(d.y / tree->cell - SN_TOUCH));
  double nz = fmax(1.0, ceil(d.z / tree->cell - SN_TOUCH));
  tree->origin = sn_madd(c, -0.5 * tree->cell, sn_v3(nx, ny, nz));
  return SN_OK;
}

static sn_status build(const sn_octree_input* input, sn_pool* pool, sn_arena* arena,
                       sn_arena* corners, sn_arena* scratch, sn_octree* tree, sn_error* err) {
  sn_octants fine, leaves, cells, split[SN_MAX_HEIGHT + 2] = {{0}};
  SN_TRY(place_grid(input, tree, err));
  SN_TRY(sn_octree_rasterise(input, tree, pool, scratch, &fine, err));
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
