// The cells that a body's skin cuts, with quadrature rules for what is inside; or all cells, whole, with
// eight points each.
#ifndef SN_BODY_BODY_CUT_H
#define SN_BODY_BODY_CUT_H

#include "body/body.h"

// body->cut from the moments of the cells. `moments` (cell_count x 10) as sn_octree_moments gives them.
sn_status sn_body_cut(const double (*moments)[10], sn_pool* pool, sn_arena* arena,
                      sn_arena* scratch, sn_body* body, sn_error* err);

// body->cut of all cells, whole, with the rule of 2 x 2 x 2 points of Gauss.
sn_status sn_body_gauss(sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err);

// Shares of a cut cell's mass at its corners, by the points of its rule. False: the cell is whole.
bool sn_body_cut_masses(const sn_body* body, uint32_t cell, double corner[8]);

// Stiffness at which a cell counts in products, over that of a whole one.
double sn_body_cut_share(const sn_body* body, uint32_t cell);

// What a cell is filled, over the share at which it counts in products.
double sn_body_cut_excess(const sn_body* body, uint32_t cell);

#endif
