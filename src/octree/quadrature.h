// Quadrature rules of second order for the part of a cell that a body fills (Patterson et al. 2012,
// section 3.1): a few points in the cell with positive weights, made from the part's moments.
#ifndef SN_OCTREE_QUADRATURE_H
#define SN_OCTREE_QUADRATURE_H

#include <stdbool.h>

// With x, y, z the place in the cell, each in -1..1: the integrals of 1, x, y, z, xx, yy, zz, xy, yz, xz
// over the part, divided by 8, the integral of 1 over the cell. The first is the filled share.
#define SN_MOMENT_COUNT 10

// Of a full cell.
extern const double sn_full_moments[SN_MOMENT_COUNT];

// Moments always have a rule with so many points (Tchakaloff).
#define SN_RULE_POINTS SN_MOMENT_COUNT

typedef struct sn_rule {
  int count;
  double weights[SN_RULE_POINTS];    // positive; their sum is the filled share
  double points[SN_RULE_POINTS][3];  // in the cell, each in -1..1
} sn_rule;

// A rule with these moments to 1e-12, so exact for every polynomial up to degree 2. Four points where such
// a rule exists and is found, with equal weights and well inside the cell if that can be; else up to ten.
// No point at all for an empty cell. The same moments give the same rule, bit by bit.
//
// Returns false if no part of a cell has these moments; the rule is then one with the nearest ones.
bool sn_rule_from_moments(const double moments[SN_MOMENT_COUNT], sn_rule* rule);

// The moments that a rule has.
void sn_rule_moments(const sn_rule* rule, double moments[SN_MOMENT_COUNT]);

#endif
