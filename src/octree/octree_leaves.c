// Leaves are listed and judged in blocks of 16 x 16 x 16 finest cells, each by one thread.
//
// A winding number costs more than all else about a leaf. But leaves that the surface does not cut
// and that are neighbours over a face without surface have the same verdict, if the winding number
// is the same all over the block, as it is for a closed surface. So the leaves of a block are joined
// into pieces, and one leaf of each piece asks for all. Where an answer does not hold for the whole
// block (near the rim of an open surface), its eighths are tried, and at last every leaf by itself.
#include "octree/octree_leaves.h"

#include "math/vec.h"

#define BLOCK_HEIGHT 4
#define BLOCK_SIZE (1 << BLOCK_HEIGHT)
#define BLOCK_CELLS (BLOCK_SIZE * BLOCK_SIZE * BLOCK_SIZE)

// A unit of work: a split octant, or (without this flag) a leaf as large as a block or larger.
#define UNIT_IS_SPLIT 0x80

typedef struct leaf_ctx {
  const sn_octree* tree;
  const sn_octree_input* input;
  const sn_octants* split;
  sn_octants fine;
  sn_octants units;
  int height;  // of which leaves are to be found
} leaf_ctx;

// ---- Units

// Children of a split octant that are leaves.
static size_t emit_leaf_children(const void* context, size_t index, sn_octant* out) {
  const leaf_ctx* ctx = context;
  size_t count = 0;
  for (int c = 0; c < 8; ++c) {
    sn_octant child = sn_octant_child(ctx->split[ctx->height + 1].items[index], c);
    if (sn_octants_contain(ctx->split[ctx->height], child)) continue;
    if (out) out[count] = child;
    ++count;
  }
  return count;
}

static size_t emit_block(const void* context, size_t index, sn_octant* out) {
  const leaf_ctx* ctx = context;
  if (out) {
    out[0] = ctx->split[ctx->height].items[index];
    out[0].flags = UNIT_IS_SPLIT;
  }
  return 1;
}

// Blocks that are split, and leaves that are not below one.
static sn_status list_units(leaf_ctx* ctx, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  int root = ctx->tree->root_height, block = root < BLOCK_HEIGHT ? root : BLOCK_HEIGHT;
  sn_octants lists[SN_MAX_HEIGHT + 1];
  size_t count = 0;
  ctx->height = block;
  SN_TRY(sn_octants_emit(pool, ctx->split[block].count, emit_block, ctx, scratch, &lists[count++],
                         err));
  for (; ctx->height < root; ctx->height++) {
    SN_TRY(sn_octants_emit(pool, ctx->split[ctx->height + 1].count, emit_leaf_children, ctx,
                           scratch, &lists[count++], err));
  }
  return sn_octants_join(pool, lists, count, scratch, &ctx->units, err);
}

// ---- The leaves of a block

// Where the octants below a unit start in each sorted list. Lists are walked through, not searched.
typedef struct cursors {
  size_t split[BLOCK_HEIGHT], fine;
} cursors;

static cursors cursors_at(const leaf_ctx* ctx, sn_octant unit) {
  cursors at;
  for (int h = 1; h < unit.height; ++h) {
    at.split[h] = sn_octants_lower_bound(ctx->split[h], unit);
  }
  at.fine = sn_octants_lower_bound(ctx->fine, unit);
  return at;
}

static size_t count_below(sn_octants list, sn_octant unit) {
  size_t begin = sn_octants_lower_bound(list, unit), end = begin;
  while (end < list.count &&
         sn_octant_holds(unit, list.items[end].x, list.items[end].y, list.items[end].z)) {
    ++end;
  }
  return end - begin;
}

// Every split octant has eight children, which are leaves or split.
static size_t count_leaves(const leaf_ctx* ctx, sn_octant unit) {
  size_t split = 1, leaves = 0;
  for (int h = unit.height - 1; h >= 0; --h) {
    size_t below = h > 0 ? count_below(ctx->split[h], unit) : 0;
    leaves += 8 * split - below;
    split = below;
  }
  return leaves;
}

static size_t list_below(const leaf_ctx* ctx, sn_octant o, cursors* at, sn_octant* out) {
  size_t count = 0;
  int h = o.height - 1;
  sn_octants next = h > 0 ? ctx->split[h] : ctx->fine;
  size_t* cursor = h > 0 ? &at->split[h] : &at->fine;
  for (int c = 0; c < 8; ++c) {
    sn_octant child = sn_octant_child(o, c);
    bool listed = *cursor < next.count && sn_octant_compare(next.items[*cursor], child) == 0;
    if (listed && h > 0) {
      ++*cursor;
      count += list_below(ctx, child, at, out + count);
    } else {
      if (listed) child.flags = next.items[(*cursor)++].flags;
      out[count++] = child;
    }
  }
  return count;
}

// ---- Pieces

typedef struct block {
  const sn_octant* leaves;
  sn_octant unit;
  uint16_t leaf_at[BLOCK_CELLS];  // of each finest cell, in Morton order
  uint16_t parent[BLOCK_CELLS];   // of each leaf: a leaf of the same piece before it, or itself
} block;

static uint16_t find_first(block* b, uint16_t leaf) {
  while (b->parent[leaf] != leaf) {
    b->parent[leaf] = b->parent[b->parent[leaf]];
    leaf = b->parent[leaf];
  }
  return leaf;
}

// The surface may run along the face between two leaves that it touches both.
static bool face_is_free(sn_octant a, sn_octant b) {
  if ((a.flags | b.flags) & SN_OCTANT_CUT) return false;
  return !(a.flags & b.flags & SN_OCTANT_TOUCHED);
}

// Join a leaf with the one that has a place across a face, unless that is smaller than `least`.
static void join_with(block* b, uint16_t leaf, uint32_t code, int least) {
  uint16_t other = b->leaf_at[code];
  sn_octant across = b->leaves[other];
  if (across.height < least || !face_is_free(b->leaves[leaf], across)) return;
  uint16_t first = find_first(b, leaf), second = find_first(b, other);
  if (first < second) b->parent[second] = first;
  if (second < first) b->parent[first] = second;
}

// With the leaves across the two faces along an axis, of which smaller ones look back. Of two equal ones the later looks;
// so on its far side a leaf looks out of its parent alone. Places are codes, in which the axis has every third bit: all
// others are set where a carry has to pass them. @param code of the leaf's anchor in the block
static void join_along(block* b, uint16_t leaf, uint32_t code, int axis) {
  int height = b->leaves[leaf].height;
  uint32_t bits = 0x249u << axis & ((1u << 3 * b->unit.height) - 1);
  uint32_t at = code & bits, others = code & ~bits, size = 1u << (3 * height + axis);
  if (at > 0) join_with(b, leaf, ((at - 1) & bits) | others, height);
  if (!(at & size)) return;
  uint32_t beyond = ((at | ~bits) + size) & bits;
  if (beyond > 0) join_with(b, leaf, beyond | others, height + 1);
}

static void find_pieces(block* b, size_t count) {
  uint32_t code = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t end = code + (1u << 3 * b->leaves[i].height);
    while (code < end) b->leaf_at[code++] = (uint16_t)i;
    b->parent[i] = (uint16_t)i;
  }
  code = 0;
  for (size_t i = 0; i < count; code += 1u << 3 * b->leaves[i].height, ++i) {
    if (b->leaves[i].flags & SN_OCTANT_CUT) continue;
    for (int axis = 0; axis < 3; ++axis) join_along(b, (uint16_t)i, code, axis);
  }
}

// ---- Verdicts

static sn_vec3 centre_of(const sn_octree* tree, sn_octant o) {
  double half = 0.5 * (double)sn_octant_size(o);
  return sn_madd(tree->origin, tree->cell, sn_v3(o.x + half, o.y + half, o.z + half));
}

static sn_box box_of(const sn_octree* tree, sn_octant o) {
  double size = (double)sn_octant_size(o);
  return (sn_box){sn_madd(tree->origin, tree->cell, sn_v3(o.x, o.y, o.z)),
                  sn_madd(tree->origin, tree->cell, sn_v3(o.x + size, o.y + size, o.z + size))};
}

static bool is_inside(const leaf_ctx* ctx, sn_octant leaf) {
  return (leaf.flags & SN_OCTANT_CUT) ||
         ctx->input->inside(ctx->input->inside_ctx, centre_of(ctx->tree, leaf));
}

static void set_inside(sn_octant* leaf, bool inside) {
  leaf->flags &= (uint8_t)~SN_OCTANT_INSIDE;
  if (inside) leaf->flags |= SN_OCTANT_INSIDE;
}

// One leaf of each piece asks for all. False: an answer does not hold for all of the block.
static bool judge_pieces(const leaf_ctx* ctx, sn_octant unit, sn_octant* leaves, size_t count) {
  block b;  // find_pieces writes what is read of it
  b.leaves = leaves;
  b.unit = unit;
  sn_box box = box_of(ctx->tree, unit);
  find_pieces(&b, count);
  for (size_t i = 0; i < count; ++i) {
    uint16_t first = find_first(&b, (uint16_t)i);
    bool inside = leaves[i].flags & SN_OCTANT_CUT;
    if (first != i) {
      inside = leaves[first].flags & SN_OCTANT_INSIDE;
    } else if (!inside) {
      sn_vec3 centre = centre_of(ctx->tree, leaves[i]);
      if (!ctx->input->inside_box(ctx->input->inside_ctx, centre, box, &inside)) return false;
    }
    set_inside(&leaves[i], inside);
  }
  return true;
}

// The pieces of a block, or of its eighths, and so on; at last every leaf for itself.
static void judge(const leaf_ctx* ctx, sn_octant unit, sn_octant* leaves, size_t count) {
  if (count == 1 || !ctx->input->inside_box) {
    for (size_t i = 0; i < count; ++i) set_inside(&leaves[i], is_inside(ctx, leaves[i]));
    return;
  }
  if (judge_pieces(ctx, unit, leaves, count)) return;
  for (size_t begin = 0, end; begin < count; begin = end) {
    int number = 0;
    while (!sn_octant_holds(sn_octant_child(unit, number), leaves[begin].x, leaves[begin].y,
                            leaves[begin].z)) {
      ++number;
    }
    sn_octant child = sn_octant_child(unit, number);
    end = begin;
    while (end < count && sn_octant_holds(child, leaves[end].x, leaves[end].y, leaves[end].z)) {
      ++end;
    }
    judge(ctx, child, leaves + begin, end - begin);
  }
}

static size_t emit_leaves(const void* context, size_t index, sn_octant* out) {
  const leaf_ctx* ctx = context;
  sn_octant unit = ctx->units.items[index];
  bool is_leaf = !(unit.flags & UNIT_IS_SPLIT);
  if (!out) return is_leaf ? 1 : count_leaves(ctx, unit);
  size_t count = 1;
  if (is_leaf) {
    out[0] = unit;
  } else {
    cursors at = cursors_at(ctx, unit);
    count = list_below(ctx, unit, &at, out);
  }
  judge(ctx, unit, out, count);
  return count;
}

sn_status sn_octree_list_leaves(const sn_octree_input* input, const sn_octree* tree,
                                const sn_octants* split, sn_octants fine, sn_pool* pool,
                                sn_arena* scratch, sn_octants* leaves, sn_error* err) {
  leaf_ctx ctx = {.tree = tree, .input = input, .split = split, .fine = fine};
  SN_TRY(list_units(&ctx, pool, scratch, err));
  return sn_octants_emit(pool, ctx.units.count, emit_leaves, &ctx, scratch, leaves, err);
}
