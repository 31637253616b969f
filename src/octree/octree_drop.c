#include "octree/octree_drop.h"

#include <string.h>

#include "octree/octree_nodes.h"

// The 27 places around and at a cell, x fastest; 13 is the cell itself.
#define PLACES 27
#define MIDDLE 13

// Mark what can be reached from a place over faces without going through the middle.
static int flood(uint8_t there[PLACES], int from) {
  int stack[PLACES], height = 0, count = 0;
  stack[height++] = from;
  there[from] = 0;
  while (height > 0) {
    int at = stack[--height];
    ++count;
    for (int axis = 0, stride = 1; axis < 3; ++axis, stride *= 3) {
      int place = at / stride % 3;
      for (int way = -1; way <= 1; way += 2) {
        if (place + way < 0 || place + way > 2) continue;
        int next = at + way * stride;
        if (!there[next]) continue;
        there[next] = 0;
        stack[height++] = next;
      }
    }
  }
  return count;
}

typedef struct thin_job {
  const sn_octree* tree;
  const double* fill;
  double least;
  uint8_t* drop;
} thin_job;

// May a finest cell go? Its neighbours must be connected over faces without it: then every way through it has
// a way around it. And one of them must be filled enough to stay for certain, so that what lies in the cell is
// carried from next to it, and sheets and hairs that are thin all over stay.
static bool can_go(const thin_job* job, uint32_t cell) {
  const sn_octree* tree = job->tree;
  sn_octant o = tree->cells[cell];
  uint8_t there[PLACES];
  int count = 0, first = -1;
  bool leans = false;
  for (int p = 0; p < PLACES; ++p) {
    int x = p % 3 - 1, y = p / 3 % 3 - 1, z = p / 9 - 1;
    uint32_t other = sn_octree_find(tree, o.x + x, o.y + y, o.z + z);
    there[p] = p != MIDDLE && other != SN_NO_CELL && !job->drop[other];
    if (!there[p]) continue;
    ++count;
    if (first < 0) first = p;
    leans = leans || job->fill[other] >= job->least;
  }
  return leans && flood(there, first) == count;
}

// One after the other: each looks at what those before it left.
uint32_t sn_octree_mark_thin(const sn_octree* tree, const double* fill, double least,
                             uint8_t* drop) {
  thin_job job = {tree, fill, least, drop};
  uint32_t count = 0;
  memset(drop, 0, tree->cell_count);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (tree->cells[e].height > 0 || fill[e] >= least) continue;
    drop[e] = can_go(&job, e);
    count += drop[e];
  }
  return count;
}

// Any part of the leaves of a balanced complete tree is balanced, and masters never hang in it
// (docs/theory/octree.md, section 6).
sn_status sn_octree_leave_out(const uint8_t* drop, sn_pool* pool, sn_arena* arena,
                              sn_arena* corners, sn_arena* scratch, sn_octree* tree,
                              sn_error* err) {
  uint32_t left = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (!drop[e]) tree->cells[left++] = tree->cells[e];
  }
  tree->cell_count = left;
  return sn_octree_number_nodes(tree, pool, arena, corners, scratch, err);
}
