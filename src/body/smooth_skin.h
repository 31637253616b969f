// The skin between the nodes as a smooth field: tricubic in each cell, with continuous slopes over all
// faces, those between cells of different size too (Lekien and Marsden 2005; docs/theory/embedding.md).
// Only what is shown uses it; the simulation itself is trilinear.
//
// At each node stand the displacement and its seven slopes: derivatives by x, y and z, once by each axis of
// a mask (bit 0 = x, bit 1 = y, bit 2 = z), so that mask 3 is d2/dxdy and mask 7 d3/dxdydz. Lengths along
// the axes are counted in finest cells; slopes are thus metres, like displacements.
#ifndef SN_BODY_SMOOTH_SKIN_H
#define SN_BODY_SMOOTH_SKIN_H

#include "octree/families.h"

#define SN_SLOPES 7
// Numbers that a node's slopes take: mask m is at 3 (m - 1).
#define SN_SLOPE_NUMBERS (3 * SN_SLOPES)

typedef struct sn_smooth_skin {
  const sn_octree* tree;
  // Where the differences at each node are taken to, two along each axis (2 x 3 x node_count): corner c of
  // cell e is 8 e + c, UINT32_MAX is none.
  uint32_t* ends;
} sn_smooth_skin;

// What the polynomial of a cell is made of: value (mask 0) and slopes at its corners.
typedef struct sn_smooth_cell {
  double at[8][8][3];  // corner, mask, component
  double size;         // finest cells
} sn_smooth_cell;

// Memory from `arena`; `scratch` is left as it was. The tree must outlive the result.
sn_status sn_smooth_skin_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena,
                               sn_arena* scratch, sn_smooth_skin* skin, sn_error* err);

// Slopes (SN_SLOPE_NUMBERS x node_count) from the displacements of the nodes (3 x node_count). Same bits
// for any pool.
void sn_smooth_skin_update(const sn_smooth_skin* skin, sn_pool* pool, const double* u,
                           double* slopes);

// The polynomial of a cell; its hanging corners lie on that of the larger neighbour.
void sn_smooth_skin_cell(const sn_smooth_skin* skin, const double* u, const double* slopes,
                         uint32_t cell, sn_smooth_cell* poly);
// Its value at xi. Where one of these is beyond 0..1, it goes on with the slope that it has there.
sn_vec3 sn_smooth_cell_value(const sn_smooth_cell* poly, const double xi[3]);

#endif
