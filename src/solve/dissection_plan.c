// Cutting a body into parts, and who is eliminated in which.
#include <stdlib.h>
#include <string.h>

#include "octree/families.h"
#include "solve/dissection.h"

// A part with so few cells is not cut further.
#define LEAF_CELLS 16
// A half smaller than this share makes a cut less attractive in proportion.
#define FAIR_SHARE 0.4
#define MOST_FRONT_NODES 21844  // three unknowns each, in 16 bits
#define NOWHERE UINT32_MAX

typedef struct planner {
  sn_dissection* plan;
  sn_arena *arena, *scratch;
  uint32_t* owner;   // part that eliminates a node (tree's node_count)
  uint32_t* number;  // place of a node in the order of elimination, NOWHERE where held
  uint32_t* ends;    // differences of how many cells end and cross, by place along an axis
} planner;

// Twice the centre of a cell along an axis, and its ends.
static uint32_t low_end(sn_octant o, int axis) { return axis == 0 ? o.x : axis == 1 ? o.y : o.z; }
static uint32_t high_end(sn_octant o, int axis) { return low_end(o, axis) + sn_octant_size(o); }
static uint32_t twice_centre(sn_octant o, int axis) { return low_end(o, axis) + high_end(o, axis); }

typedef struct cut {
  int axis;
  uint32_t twice_plane;  // cells whose twice_centre is below this are in the first half
  double score;          // the lower the better; 0: none found
} cut;

// The best plane across an axis. Candidates are planes of the grid; a cell that one passes through goes to the
// half that its centre is in, just as well.
static void try_axis(const planner* p, const sn_part* part, int axis, cut* best) {
  const sn_octree* tree = p->plan->tree;
  const uint32_t* cells = p->plan->cells;
  uint32_t lowest = UINT32_MAX, highest = 0, count = part->cell_end - part->cell_begin;
  for (uint32_t k = part->cell_begin; k < part->cell_end; ++k) {
    sn_octant o = tree->cells[cells[k]];
    if (low_end(o, axis) < lowest) lowest = low_end(o, axis);
    if (high_end(o, axis) > highest) highest = high_end(o, axis);
  }
  // before[c]: cells whose centre is before place c; touching[c]: those that begin before it and end
  // there or later
  uint32_t places = highest - lowest + 1, *before = p->ends, *touching = p->ends + places;
  memset(before, 0, 2 * (size_t)places * sizeof *before);
  for (uint32_t k = part->cell_begin; k < part->cell_end; ++k) {
    sn_octant o = tree->cells[cells[k]];
    before[twice_centre(o, axis) / 2 + 1 - lowest]++;
    touching[low_end(o, axis) + 1 - lowest]++;
    if (high_end(o, axis) < highest) touching[high_end(o, axis) + 1 - lowest]--;
  }
  uint32_t first = 0, crossing = 0;
  for (uint32_t c = 0; c < places; ++c) {
    first += before[c];
    crossing += touching[c];
    if (first == 0 || first == count) continue;
    double share = (double)(first < count - first ? first : count - first) / count;
    double score = (crossing + 1.0) / (share < FAIR_SHARE ? share : FAIR_SHARE);
    if (best->score > 0 && score >= best->score) continue;
    *best = (cut){axis, 2 * (lowest + c), score};
  }
}

static uint32_t split(const planner* p, const sn_part* part, const cut* by) {
  uint32_t* cells = p->plan->cells;
  uint32_t *other = p->ends, others = 0, to = part->cell_begin;
  for (uint32_t k = part->cell_begin; k < part->cell_end; ++k) {
    bool first = twice_centre(p->plan->tree->cells[cells[k]], by->axis) < by->twice_plane;
    if (first) {
      cells[to++] = cells[k];
    } else {
      other[others++] = cells[k];
    }
  }
  memcpy(cells + to, other, others * sizeof *other);
  return to;
}

static uint32_t add_part(planner* p, uint32_t parent, uint32_t begin, uint32_t end) {
  p->plan->parts[p->plan->part_count] = (sn_part){
      .parent = parent, .children = {SN_NO_PART, SN_NO_PART}, .cell_begin = begin, .cell_end = end};
  return p->plan->part_count++;
}

// Parts by depth, as each is cut after all of its own depth have been found.
static sn_status cut_parts(planner* p, sn_error* err) {
  sn_dissection* plan = p->plan;
  uint32_t cells = plan->tree->cell_count, depth_end;
  SN_TRY(SN_ARENA_NEW(p->arena, 2 * (size_t)cells + 1, &plan->parts, err));
  SN_TRY(SN_ARENA_NEW(p->arena, (size_t)cells + 2, &plan->depth_starts, err));
  SN_TRY(SN_ARENA_NEW(p->arena, cells, &plan->cells, err));
  for (uint32_t e = 0; e < cells; ++e) plan->cells[e] = e;
  add_part(p, SN_NO_PART, 0, cells);
  for (uint32_t i = 0; i < plan->part_count; i = depth_end) {
    depth_end = plan->part_count;
    plan->depth_starts[plan->depth_count++] = i;
    for (uint32_t k = i; k < depth_end; ++k) {
      sn_part* part = &plan->parts[k];
      cut best = {0};
      if (part->cell_end - part->cell_begin <= LEAF_CELLS) continue;
      for (int axis = 0; axis < 3; ++axis) try_axis(p, part, axis, &best);
      if (!(best.score > 0)) continue;
      uint32_t middle = split(p, part, &best);
      part->children[0] = add_part(p, k, part->cell_begin, middle);
      part->children[1] = add_part(p, k, middle, part->cell_end);
    }
  }
  plan->depth_starts[plan->depth_count] = plan->part_count;
  return SN_OK;
}

static bool is_leaf(const sn_part* part) { return part->children[0] == SN_NO_PART; }

// The part below which two meet: parents have lower numbers.
static uint32_t common(const sn_dissection* plan, uint32_t a, uint32_t b) {
  while (a != b) {
    if (a > b) {
      a = plan->parts[a].parent;
    } else {
      b = plan->parts[b].parent;
    }
  }
  return a;
}

// A node is eliminated in the smallest part that has all cells at it; deep parts come first.
static sn_status order_nodes(planner* p, sn_error* err) {
  sn_dissection* plan = p->plan;
  const sn_octree* tree = plan->tree;
  SN_TRY(SN_ARENA_RAW(p->scratch, tree->node_count, &p->owner, err));
  SN_TRY(SN_ARENA_RAW(p->scratch, tree->node_count, &p->number, err));
  SN_TRY(SN_ARENA_RAW(p->arena, tree->node_count, &plan->nodes, err));
  memset(p->owner, 0xff, tree->node_count * sizeof *p->owner);
  for (uint32_t i = 0; i < plan->part_count; ++i) {
    const sn_part* part = &plan->parts[i];
    for (size_t k = part->cell_begin; k < part->cell_end && is_leaf(part); ++k) {
      sn_corners at = sn_octree_corners(tree, plan->cells[k]);
      for (int c = 0; c < 8; ++c) {
        uint32_t* owner = &p->owner[at.nodes[c]];
        *owner = *owner == NOWHERE ? i : common(plan, *owner, i);
      }
    }
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    if (plan->held[n] == 1) p->owner[n] = NOWHERE;
    if (p->owner[n] != NOWHERE) plan->parts[p->owner[n]].own_count++;
  }
  for (uint32_t i = plan->part_count; i-- > 0;) {
    plan->parts[i].own_begin = plan->node_count;
    plan->node_count += plan->parts[i].own_count;
    plan->parts[i].own_count = 0;
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    p->number[n] = NOWHERE;
    if (p->owner[n] == NOWHERE) continue;
    sn_part* part = &plan->parts[p->owner[n]];
    p->number[n] = part->own_begin + part->own_count++;
    plan->nodes[p->number[n]] = n;
  }
  return SN_OK;
}

static int compare_numbers(const void* a, const void* b) {
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}

// Of sorted numbers: each once, and not those of the part itself.
static uint32_t keep_around(const sn_part* part, uint32_t* numbers, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bool own = numbers[i] - part->own_begin < part->own_count;
    if (!own && (kept == 0 || numbers[i] != numbers[kept - 1])) numbers[kept++] = numbers[i];
  }
  return kept;
}

static sn_status find_around(const planner* p, sn_part* part, sn_error* err) {
  const sn_dissection* plan = p->plan;
  uint32_t room = 8 * (part->cell_end - part->cell_begin), count = 0;
  if (!is_leaf(part)) {
    room =
        plan->parts[part->children[0]].around_count + plan->parts[part->children[1]].around_count;
  }
  SN_TRY(SN_ARENA_RAW(p->arena, room, &part->around, err));
  for (size_t k = part->cell_begin; k < part->cell_end && is_leaf(part); ++k) {
    sn_corners at = sn_octree_corners(plan->tree, plan->cells[k]);
    for (int c = 0; c < 8; ++c) {
      uint32_t number = p->number[at.nodes[c]];
      if (number != NOWHERE) part->around[count++] = number;
    }
  }
  for (int child = 0; child < 2 && !is_leaf(part); ++child) {
    const sn_part* from = &plan->parts[part->children[child]];
    memcpy(part->around + count, from->around, from->around_count * sizeof *part->around);
    count += from->around_count;
  }
  qsort(part->around, count, sizeof *part->around, compare_numbers);
  part->around_count = keep_around(part, part->around, count);
  SN_CHECK(part->own_count + part->around_count <= MOST_FRONT_NODES, err, SN_ERR_INPUT,
           "direct solver: a cross-section of %u nodes, expected at most %d: the body is not thin",
           part->own_count + part->around_count, MOST_FRONT_NODES);
  return SN_OK;
}

// Where a number is in a part's front.
static uint16_t place_in(const sn_part* part, uint32_t number) {
  if (number - part->own_begin < part->own_count) return (uint16_t)(number - part->own_begin);
  uint32_t low = 0, high = part->around_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (part->around[middle] < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return (uint16_t)(part->own_count + low);
}

static sn_status find_places(planner* p, sn_error* err) {
  sn_dissection* plan = p->plan;
  SN_TRY(SN_ARENA_RAW(p->arena, 8 * (size_t)plan->tree->cell_count, &plan->corners, err));
  for (uint32_t i = 0; i < plan->part_count; ++i) {
    sn_part* part = &plan->parts[i];
    SN_TRY(SN_ARENA_RAW(p->arena, part->around_count, &part->places, err));
    for (uint32_t k = 0; k < part->around_count; ++k) {
      part->places[k] = place_in(&plan->parts[part->parent], part->around[k]);
    }
    for (size_t k = part->cell_begin; k < part->cell_end && is_leaf(part); ++k) {
      sn_corners at = sn_octree_corners(plan->tree, plan->cells[k]);
      for (size_t c = 0; c < 8; ++c) {
        uint32_t number = p->number[at.nodes[c]];
        plan->corners[8 * k + c] = number == NOWHERE ? UINT16_MAX : place_in(part, number);
      }
    }
  }
  return SN_OK;
}

// Where each part's numbers are, and what a factor costs.
void sn_dissection_lay_out(sn_dissection* plan) {
  for (uint32_t depth = 0; depth < plan->depth_count; ++depth) {
    size_t left = 0;
    for (uint32_t i = plan->depth_starts[depth]; i < plan->depth_starts[depth + 1]; ++i) {
      sn_part* part = &plan->parts[i];
      size_t own = 3 * (size_t)part->own_count, around = 3 * (size_t)part->around_count;
      size_t size = own + around, width = sn_front_round_up(size);
      part->rows = plan->factor_count;
      part->left = left;
      part->passed = plan->passed_count;
      plan->factor_count += sn_front_row(width, own);
      plan->passed_count += around;
      left += around * around;
      if (size > plan->largest) plan->largest = size;
      double a = (double)size, b = (double)around;
      plan->cost += (a * a * a - b * b * b) / 6;
    }
    if (left > plan->left_count[depth % 2]) plan->left_count[depth % 2] = left;
  }
}

static sn_status plan_parts(planner* p, sn_error* err) {
  sn_dissection* plan = p->plan;
  uint32_t most = 1u << 17;  // places along an axis, twice
  if (plan->tree->cell_count > most) most = plan->tree->cell_count;
  SN_TRY(SN_ARENA_RAW(p->scratch, most, &p->ends, err));
  SN_TRY(cut_parts(p, err));
  SN_TRY(order_nodes(p, err));
  for (uint32_t i = plan->part_count; i-- > 0;) SN_TRY(find_around(p, &plan->parts[i], err));
  SN_TRY(find_places(p, err));
  sn_dissection_lay_out(plan);
  return SN_OK;
}

sn_status sn_dissection_plan(const sn_octree* tree, const uint8_t* held, sn_arena* arena,
                             sn_arena* scratch, sn_dissection* plan, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  planner p = {.plan = plan, .arena = arena, .scratch = scratch};
  *plan = (sn_dissection){.tree = tree, .held = held};
  sn_status status = plan_parts(&p, err);
  sn_arena_release(scratch, mark);
  return status;
}

double sn_dissection_bytes(const sn_dissection* plan, int threads) {
  double front = (double)plan->largest * (double)sn_front_round_up(plan->largest);
  return 4 * ((double)plan->factor_count + (double)plan->left_count[0] +
              (double)plan->left_count[1] + front * threads);
}
