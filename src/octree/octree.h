// The octree of a body: leaves that cover it, finest along its surface, and the nodes that carry
// its unknowns (Milne et al. 2016, sections 3, 5 and 6).
//
// Leaves ("cells") are kept in Morton order without the tree above them, and without those outside
// the body. Neighbours over faces, edges and corners differ by at most one level (2:1). A corner of
// a cell that lies in the middle of a larger neighbour's edge or face *hangs*: it is no unknown,
// its value is interpolated (see elasticity/corotated_cell.h). All other corners are *nodes*.
#ifndef SN_OCTREE_OCTREE_H
#define SN_OCTREE_OCTREE_H

#include "base/memory.h"
#include "octree/octant.h"
#include "sinew/math.h"

#define SN_NO_CELL UINT32_MAX

typedef struct sn_octree {
  sn_vec3 origin;  // of the background grid, m
  double cell;     // edge of the finest cell, m
  int root_height;

  sn_octant* cells;  // leaves in Morton order (cell_count)
  uint32_t cell_count;
  sn_octant* nodes;  // in Morton order of their place (node_count); height and flags unused
  uint32_t node_count;
  uint8_t* hanging;  // mask over corners of each cell (cell_count)
  // The node that stands at or for each corner (8 x cell_count), until families know it: then NULL.
  uint32_t* conforming;
  const struct sn_families* families;
} sn_octree;

// Where the finest cells go. A triangle list in metres; `cut` says whether the cells that it passes
// through belong to the body (its skin) or are only refined (bones inside).
typedef struct sn_octree_seed {
  const struct sn_surface* surface;
  bool cut;
} sn_octree_seed;

// Decides whether a point is inside the body. Called from several threads.
typedef bool (*sn_inside_fn)(const void* ctx, sn_vec3 point);
// The same, and more: returns whether the verdict on `point` holds for every place that can be
// reached from it within `box` without meeting the seeds that cut.
typedef bool (*sn_inside_box_fn)(const void* ctx, sn_vec3 point, sn_box box, bool* inside);

typedef struct sn_octree_input {
  sn_box box;   // of the body, m
  double cell;  // m
  int coarsen;  // levels above the finest that cells may have; -1 = no limit
  const sn_octree_seed* seeds;
  uint32_t seed_count;
  sn_inside_fn inside;
  const void* inside_ctx;
  sn_inside_box_fn inside_box;  // optional: spares nearly all calls of `inside`; same context
} sn_octree_input;

// Cells along the longest axis of a box.
double sn_octree_axis_cells(sn_box box, double cell);

// Build cells, nodes and numbering. Memory from `arena`, that of `conforming` from `corners`; `scratch` is left
// as it was. The result depends on the input only. SN_ERR_INPUT if a side has more than 32,767 cells; an input without
// any cell gives an empty tree.
sn_status sn_octree_build(const sn_octree_input* input, sn_pool* pool, sn_arena* arena,
                          sn_arena* corners, sn_arena* scratch, sn_octree* tree, sn_error* err);

// The cell that holds the finest cell (x, y, z), or SN_NO_CELL. Coordinates may be out of range.
uint32_t sn_octree_find(const sn_octree* tree, int x, int y, int z);
// The same for many places: the anchors of the cells are bits, in Morton order, in blocks of 8 x 8 x 8 smallest cells. The
// cell that holds a place is the last one whose anchor is not after it.
typedef struct sn_finder_block {
  uint64_t code;  // Morton, in blocks
  uint64_t anchors[8];
  uint32_t first;      // of its cells
  uint16_t before[8];  // its cells in earlier words
} sn_finder_block;
typedef struct sn_finder {
  const sn_octree* tree;
  sn_finder_block* blocks;  // those that have an anchor, in Morton order
  uint32_t* firsts;  // by upper bits of the codes: how many blocks are before the first with these
  int height;        // of the blocks
  int shift;         // bits below the upper ones
} sn_finder;
// Memory from `arena`. The cells must stay as they are.
sn_status sn_finder_make(const sn_octree* tree, sn_pool* pool, sn_arena* arena, sn_finder* finder,
                         sn_error* err);
uint32_t sn_finder_find(const sn_finder* finder, int x, int y, int z);
// The cell nearest to a point (0 distance if it holds it); ties go to the lower index. xi receives
// the point's place in the cell, each in 0..1. The tree must have a cell.
uint32_t sn_octree_nearest(const sn_octree* tree, sn_vec3 point, double xi[3]);
// The place of a point in a cell: each of xi in 0..1, or beyond by `reach` at most. The nearest such place if
// the point is further away.
void sn_octree_place_in(const sn_octree* tree, uint32_t cell, sn_vec3 point, double reach,
                        double xi[3]);
// Weights of a cell's eight conforming nodes at the point xi of it: the value there of the field that they
// carry. Beyond 0..1 the field goes on as it is in the cell, and some weights are negative.
void sn_octree_point_weights(const sn_octree* tree, uint32_t cell, const double xi[3],
                             double weights[8]);
// The node at a place of the grid, or UINT32_MAX.
uint32_t sn_octree_find_node(const sn_octree* tree, uint32_t x, uint32_t y, uint32_t z);

static inline double sn_octree_edge(const sn_octree* tree, uint32_t cell) {
  return tree->cell * (double)sn_octant_size(tree->cells[cell]);
}
// The least height of a cell, SN_MAX_HEIGHT without any.
int sn_octree_smallest(const sn_octree* tree);
// Places in metres. `local` is relative to the origin of the grid: small numbers, exact products.
sn_vec3 sn_octree_node_local(const sn_octree* tree, uint32_t node);
sn_vec3 sn_octree_node_place(const sn_octree* tree, uint32_t node);
sn_vec3 sn_octree_cell_centre(const sn_octree* tree, uint32_t cell);

// Every invariant of the structure, checked the slow way. `why` (may be NULL) names the first
// broken one.
bool sn_octree_is_valid(const sn_octree* tree, const char** why);

#endif
