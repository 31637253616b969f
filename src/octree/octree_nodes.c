// Most nodes are the anchor of a cell. The corners that are not (on the far side of the body) are
// collected apart, so that no list of all eight corners of all cells is ever sorted.
#include "octree/octree_nodes.h"

#include "octree/octant_list.h"

static void corner_place(sn_octant cell, int corner, uint32_t place[3]) {
  uint32_t size = sn_octant_size(cell);
  place[0] = cell.x + (corner & 1 ? size : 0);
  place[1] = cell.y + (corner >> 1 & 1 ? size : 0);
  place[2] = cell.z + (corner >> 2 & 1 ? size : 0);
}

static sn_octant octant_at(const uint32_t place[3]) {
  return (sn_octant){(uint16_t)place[0], (uint16_t)place[1], (uint16_t)place[2], 0, 0};
}

bool sn_octree_place_hangs(const sn_octree* tree, int x, int y, int z) {
  // The eight finest cells around the place stand for all leaves that touch it.
  for (int side = 0; side < 8; ++side) {
    uint32_t cell = sn_octree_find(tree, x - (side & 1), y - (side >> 1 & 1), z - (side >> 2 & 1));
    if (cell == SN_NO_CELL) continue;
    int mask = (int)sn_octant_size(tree->cells[cell]) - 1;
    if ((x & mask) || (y & mask) || (z & mask)) return true;
  }
  return false;
}

typedef struct node_ctx {
  const sn_octree* tree;
  sn_octants places;  // candidates
} node_ctx;

// Corners of a cell that are no cell's anchor.
static size_t emit_far_corners(const void* context, size_t index, sn_octant* out) {
  const sn_octree* tree = ((const node_ctx*)context)->tree;
  sn_octants cells = {tree->cells, tree->cell_count};
  size_t count = 0;
  for (int c = 1; c < 8; ++c) {
    uint32_t place[3];
    corner_place(tree->cells[index], c, place);
    if (sn_octants_contain(cells, octant_at(place))) continue;
    if (out) out[count] = octant_at(place);
    ++count;
  }
  return count;
}

static size_t emit_anchor(const void* context, size_t index, sn_octant* out) {
  if (out) {
    out[0] = ((const node_ctx*)context)->tree->cells[index];
    out[0].height = out[0].flags = 0;
  }
  return 1;
}

static size_t emit_node(const void* context, size_t index, sn_octant* out) {
  const node_ctx* ctx = context;
  sn_octant place = ctx->places.items[index];
  if (sn_octree_place_hangs(ctx->tree, place.x, place.y, place.z)) return 0;
  if (out) out[0] = place;
  return 1;
}

static void connect_cells(void* context, size_t begin, size_t end) {
  sn_octree* tree = context;
  for (size_t e = begin; e < end; ++e) {
    sn_octant cell = tree->cells[e], parent = sn_octant_parent(cell);
    for (int c = 0; c < 8; ++c) {
      uint32_t place[3];
      corner_place(cell, c, place);
      uint32_t node = sn_octree_find_node(tree, place[0], place[1], place[2]);
      if (node == UINT32_MAX) {  // hangs: the parent's corner of the same number stands for it
        tree->hanging[e] |= (uint8_t)(1 << c);
        corner_place(parent, c, place);
        node = sn_octree_find_node(tree, place[0], place[1], place[2]);
        SN_ASSERT(node != UINT32_MAX);
      }
      tree->conforming[8 * e + c] = node;
    }
  }
}

// All candidate places, sorted and unique: anchors, and far corners.
static sn_status collect_places(const sn_octree* tree, sn_pool* pool, sn_arena* scratch,
                                sn_octants* places, sn_error* err) {
  node_ctx ctx = {tree, {0}};
  sn_octants far_corners;
  SN_TRY(
      sn_octants_emit(pool, tree->cell_count, emit_far_corners, &ctx, scratch, &far_corners, err));
  SN_TRY(sn_octants_sort(pool, far_corners, scratch, err));
  sn_octants_unique(&far_corners);

  sn_octants anchors;
  SN_TRY(sn_octants_emit(pool, tree->cell_count, emit_anchor, &ctx, scratch, &anchors, err));
  SN_TRY(SN_ARENA_NEW(scratch, anchors.count + far_corners.count, &places->items, err));
  places->count = 0;
  size_t a = 0, f = 0;
  while (a < anchors.count || f < far_corners.count) {
    bool take_anchor =
        f == far_corners.count ||
        (a < anchors.count && sn_octant_compare(anchors.items[a], far_corners.items[f]) < 0);
    places->items[places->count++] = take_anchor ? anchors.items[a++] : far_corners.items[f++];
  }
  return SN_OK;
}

static sn_status number_nodes(sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                              sn_error* err) {
  node_ctx ctx = {tree, {0}};
  sn_octants nodes;
  SN_TRY(collect_places(tree, pool, scratch, &ctx.places, err));
  SN_TRY(sn_octants_emit(pool, ctx.places.count, emit_node, &ctx, arena, &nodes, err));
  SN_CHECK(nodes.count < UINT32_MAX, err, SN_ERR_INPUT,
           "%zu nodes, at most %u are possible; take a larger cell", nodes.count, UINT32_MAX - 1);
  tree->nodes = nodes.items;
  tree->node_count = (uint32_t)nodes.count;
  SN_TRY(SN_ARENA_NEW(arena, tree->cell_count, &tree->hanging, err));
  SN_TRY(SN_ARENA_NEW(arena, 8 * (size_t)tree->cell_count, &tree->conforming, err));
  sn_parallel_for(pool, tree->cell_count, 256, connect_cells, tree);
  return SN_OK;
}

sn_status sn_octree_number_nodes(sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                                 sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = number_nodes(tree, pool, arena, scratch, err);
  sn_arena_release(scratch, mark);
  return status;
}
