// Quadrature rules by non-negative least squares, for moments that no rule with four points has.
#ifndef SN_OCTREE_QUADRATURE_FIT_H
#define SN_OCTREE_QUADRATURE_FIT_H

#include "octree/quadrature.h"

// The values of the ten monomials at a point.
void sn_monomials(const double x[3], double values[SN_MOMENT_COUNT]);

// The rule with positive weights and points in the cell whose moments are nearest to these: to rounding
// the same if a measure on the cell has them. The first of `moments` should be 1.
void sn_rule_fit(const double moments[SN_MOMENT_COUNT], sn_rule* rule);

#endif
