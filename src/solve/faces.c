#include "solve/faces.h"

#include <stdlib.h>
#include <string.h>

#include "octree/families.h"
#include "solve/vector.h"

#define MOST_NODES 105
#define NOWHERE UINT32_MAX
#define NO_KEY UINT64_MAX

typedef struct keyed_node {
  uint64_t key;
  uint32_t node;
} keyed_node;

typedef struct planner {
  sn_dissection* plan;
  sn_arena *arena, *scratch;
  keyed_node* sorted;  // (the plan's node_count)
  uint32_t* number;    // of the tree's nodes in that order, NOWHERE: not in it (tree's node_count)
  uint32_t* part_of;   // by that number (the plan's node_count)
} planner;

// What a corner of a cell lies on: of the boxes of the cell's own height the plane, even, or what is between two
// planes, odd, along each axis. Finer heights have smaller keys.
static uint64_t key_at(const sn_box_grid* boxes, sn_octant o, int corner) {
  const uint32_t anchor[3] = {o.x, o.y, o.z};
  uint64_t key = o.height;
  for (int i = 0; i < 3; ++i) {
    int at = (int)(anchor[i] >> o.height) + (corner >> i & 1);
    int shifted = at + boxes->side[i] - boxes->shift[o.height][i];
    bool between = shifted % boxes->side[i] != 0;
    key = key << 17 | (uint64_t)(2 * (shifted / boxes->side[i]) + between);
  }
  return key;
}

static int compare(const void* a, const void* b) {
  const keyed_node *p = a, *q = b;
  if (p->key != q->key) return p->key < q->key ? -1 : 1;
  return (p->node > q->node) - (p->node < q->node);
}

// A node has the key of the finest cell that it is a corner of.
static sn_status sort_nodes(planner* p, const sn_box_grid* boxes, const uint8_t* inside,
                            sn_error* err) {
  sn_dissection* plan = p->plan;
  const sn_octree* tree = plan->tree;
  SN_TRY(SN_ARENA_RAW(p->scratch, tree->node_count, &p->sorted, err));
  for (uint32_t n = 0; n < tree->node_count; ++n) p->sorted[n] = (keyed_node){NO_KEY, n};
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    for (int c = 0; c < 8; ++c) {
      uint32_t node = sn_octree_corner(tree, e, c);
      bool out = tree->hanging[e] >> c & 1 || inside[node] || plan->held[node] == SN_HELD(0);
      uint64_t key = out ? NO_KEY : key_at(boxes, tree->cells[e], c);
      if (key < p->sorted[node].key) p->sorted[node].key = key;
    }
  }
  qsort(p->sorted, tree->node_count, sizeof *p->sorted, compare);
  while (plan->node_count < tree->node_count && p->sorted[plan->node_count].key != NO_KEY) {
    ++plan->node_count;
  }
  return SN_OK;
}

static bool begins_part(const planner* p, uint32_t k, uint32_t begin) {
  return k == 0 || p->sorted[k].key != p->sorted[k - 1].key || k - begin == MOST_NODES;
}

static sn_status make_parts(planner* p, sn_error* err) {
  sn_dissection* plan = p->plan;
  SN_TRY(SN_ARENA_RAW(p->arena, plan->node_count, &plan->nodes, err));
  SN_TRY(SN_ARENA_RAW(p->scratch, plan->tree->node_count, &p->number, err));
  SN_TRY(SN_ARENA_RAW(p->scratch, plan->node_count, &p->part_of, err));
  memset(p->number, 0xff, plan->tree->node_count * sizeof *p->number);
  for (uint32_t k = 0, begin = 0; k < plan->node_count; ++k) {
    if (begins_part(p, k, begin)) begin = k, ++plan->part_count;
    p->part_of[k] = plan->part_count - 1;
    plan->nodes[k] = p->sorted[k].node;
    p->number[p->sorted[k].node] = k;
  }
  SN_TRY(SN_ARENA_NEW(p->arena, plan->part_count, &plan->parts, err));
  for (uint32_t k = plan->node_count; k-- > 0;) {
    sn_part* part = &plan->parts[p->part_of[k]];
    part->parent = part->children[0] = part->children[1] = SN_NO_PART;
    part->own_begin = k;
    part->own_count++;
  }
  plan->depth_count = 1;
  SN_TRY(SN_ARENA_NEW(p->arena, 2, &plan->depth_starts, err));
  plan->depth_starts[1] = plan->part_count;
  return SN_OK;
}

// The parts that a cell has corners in, each once.
static int parts_of_cell(const planner* p, uint32_t cell, uint32_t parts[8]) {
  sn_corners at = sn_octree_corners(p->plan->tree, cell);
  int count = 0;
  for (int c = 0; c < 8; ++c) {
    uint32_t number = p->number[at.nodes[c]], k = 0;
    if (number == NOWHERE) continue;
    while (k < (uint32_t)count && parts[k] != p->part_of[number]) ++k;
    parts[k] = p->part_of[number];
    if (k == (uint32_t)count) ++count;
  }
  return count;
}

// A cell is in every part that it has a corner in; its other corners are as if they were held.
static sn_status list_cells(planner* p, sn_error* err) {
  sn_dissection* plan = p->plan;
  uint32_t parts[8], all = 0;
  for (uint32_t e = 0; e < plan->tree->cell_count; ++e) {
    int count = parts_of_cell(p, e, parts);
    for (int i = 0; i < count; ++i) plan->parts[parts[i]].cell_end++;
  }
  for (uint32_t i = 0; i < plan->part_count; ++i) {
    sn_part* part = &plan->parts[i];
    all += part->cell_end;
    part->cell_begin = part->cell_end = all - part->cell_end;
  }
  SN_TRY(SN_ARENA_RAW(p->arena, all, &plan->cells, err));
  SN_TRY(SN_ARENA_RAW(p->arena, 8 * (size_t)all, &plan->corners, err));
  for (uint32_t e = 0; e < plan->tree->cell_count; ++e) {
    int count = parts_of_cell(p, e, parts);
    sn_corners at = sn_octree_corners(plan->tree, e);
    for (int i = 0; i < count; ++i) {
      sn_part* part = &plan->parts[parts[i]];
      uint16_t* corners = plan->corners + 8 * (size_t)part->cell_end;
      plan->cells[part->cell_end++] = e;
      for (int c = 0; c < 8; ++c) {
        uint32_t number = p->number[at.nodes[c]];
        bool own = number != NOWHERE && p->part_of[number] == parts[i];
        corners[c] = own ? (uint16_t)(number - part->own_begin) : UINT16_MAX;
      }
    }
  }
  return SN_OK;
}

static sn_status plan_faces(planner* p, const sn_box_grid* boxes, const uint8_t* inside,
                            sn_error* err) {
  SN_TRY(sort_nodes(p, boxes, inside, err));
  SN_TRY(make_parts(p, err));
  SN_TRY(list_cells(p, err));
  sn_dissection_lay_out(p->plan);
  return SN_OK;
}

sn_status sn_faces_plan(const sn_octree* tree, const sn_box_grid* boxes, const uint8_t* inside,
                        const uint8_t* held, sn_arena* arena, sn_arena* scratch,
                        sn_dissection* plan, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  planner p = {.plan = plan, .arena = arena, .scratch = scratch};
  *plan = (sn_dissection){.tree = tree, .held = held};
  sn_status status = plan_faces(&p, boxes, inside, err);
  sn_arena_release(scratch, mark);
  return status;
}
