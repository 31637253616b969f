// The invariants of an octree, each checked by other means than the builder uses where possible.
#include <string.h>

#include "base/memory.h"
#include "octree/families.h"

static bool cells_are_sorted_and_apart(const sn_octree* tree) {
  uint32_t root_size = 1u << tree->root_height;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant o = tree->cells[e];
    uint32_t mask = sn_octant_size(o) - 1;
    if (o.height > tree->root_height || (o.x & mask) || (o.y & mask) || (o.z & mask)) return false;
    if (o.x >= root_size || o.y >= root_size || o.z >= root_size) return false;
    if (e == 0) continue;
    sn_octant before = tree->cells[e - 1];
    if (sn_octant_compare(before, o) >= 0 || sn_octant_holds(before, o.x, o.y, o.z)) return false;
  }
  return true;
}

// No cell touches one more than a level larger; that no cell touches one more than a level smaller
// follows. A larger neighbour is found from any finest cell beside it.
static bool is_balanced(const sn_octree* tree) {
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant o = tree->cells[e];
    int size = (int)sn_octant_size(o);
    for (int n = 0; n < 27; ++n) {
      int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
      uint32_t other = sn_octree_find(tree, o.x + dx * size, o.y + dy * size, o.z + dz * size);
      if (other != SN_NO_CELL && tree->cells[other].height > o.height + 1) return false;
    }
  }
  return true;
}

static bool nodes_are_sorted(const sn_octree* tree) {
  for (uint32_t n = 1; n < tree->node_count; ++n) {
    if (sn_octant_compare(tree->nodes[n - 1], tree->nodes[n]) >= 0) return false;
  }
  return true;
}

// Does a cell that touches this place of the grid have it in the middle of an edge or face?
static bool place_hangs(const sn_octree* tree, int x, int y, int z) {
  // The eight finest cells around the place stand for all leaves that touch it.
  for (int side = 0; side < 8; ++side) {
    uint32_t cell = sn_octree_find(tree, x - (side & 1), y - (side >> 1 & 1), z - (side >> 2 & 1));
    if (cell == SN_NO_CELL) continue;
    int mask = (int)sn_octant_size(tree->cells[cell]) - 1;
    if ((x & mask) || (y & mask) || (z & mask)) return true;
  }
  return false;
}

static bool nodes_do_not_hang(const sn_octree* tree) {
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_octant place = tree->nodes[n];
    if (place_hangs(tree, place.x, place.y, place.z)) return false;
  }
  return true;
}

// Every corner is a node or hangs; the hanging ones on an edge or face of the parent, with the
// parent's corners on it in their place.
static bool corners_are_right(const sn_octree* tree) {
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant o = tree->cells[e], parent = sn_octant_parent(o);
    int child = sn_octant_child_number(o);
    for (int c = 0; c < 8; ++c) {
      bool hangs = tree->hanging[e] >> c & 1;
      int away = __builtin_popcount((unsigned)(c ^ child));
      if (hangs && (away == 0 || away == 3)) return false;
      sn_octant from = hangs ? parent : o;
      int size = (int)sn_octant_size(from);
      uint32_t node = sn_octree_corner(tree, e, c);
      if (node >= tree->node_count) return false;
      sn_octant place = tree->nodes[node];
      if (place.x != from.x + (c & 1) * size || place.y != from.y + (c >> 1 & 1) * size ||
          place.z != from.z + (c >> 2 & 1) * size) {
        return false;
      }
      int own = (int)sn_octant_size(o);
      bool expected = place_hangs(tree, o.x + (c & 1) * own, o.y + (c >> 1 & 1) * own,
                                  o.z + (c >> 2 & 1) * own);
      if (hangs != expected) return false;
    }
    // A hanging face corner takes the two edge corners beside it along.
    for (int axis = 0; axis < 3; ++axis) {
      int i = 1 << (axis + 1) % 3, j = 1 << (axis + 2) % 3;
      bool face = tree->hanging[e] >> (child ^ i ^ j) & 1;
      if (face && !(tree->hanging[e] >> (child ^ i) & tree->hanging[e] >> (child ^ j) & 1)) {
        return false;
      }
    }
  }
  return true;
}

static bool every_node_is_used(const sn_octree* tree) {
  uint8_t* used = sn_allocate(tree->node_count);
  if (!used) return false;
  memset(used, 0, tree->node_count);
  for (size_t c = 0; c < 8 * (size_t)tree->cell_count; ++c) {
    used[sn_octree_corner(tree, (uint32_t)(c / 8), (int)(c % 8))] = 1;
  }
  bool all = true;
  for (uint32_t n = 0; n < tree->node_count; ++n) all = all && used[n];
  sn_release(used);
  return all;
}

bool sn_octree_is_valid(const sn_octree* tree, const char** why) {
  static const struct {
    bool (*holds)(const sn_octree* tree);
    const char* name;
  } INVARIANTS[] = {
      {cells_are_sorted_and_apart, "cells are aligned, sorted and apart"},
      {is_balanced, "neighbours differ by at most one level"},
      {nodes_are_sorted, "nodes are sorted and unique"},
      {nodes_do_not_hang, "no node hangs"},
      {corners_are_right, "corners are nodes or hang on their parent's edges and faces"},
      {every_node_is_used, "every node belongs to a cell"},
  };
  for (size_t i = 0; i < sizeof INVARIANTS / sizeof *INVARIANTS; ++i) {
    if (INVARIANTS[i].holds(tree)) continue;
    if (why) *why = INVARIANTS[i].name;
    return false;
  }
  return true;
}
