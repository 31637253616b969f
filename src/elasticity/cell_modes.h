// The motion of a cubic cell in its eight modes, plain: what corotated_cell.c and law_cell.c share.
// Modes are numbered as in corotated_cell.h.
#ifndef SN_ELASTICITY_CELL_MODES_H
#define SN_ELASTICITY_CELL_MODES_H

#include "octree/hanging.h"

// Weights of the hourglass modes with two and with three bits: the integral of mu |F|^2. The edge rule
// of Milne et al. would give 2 and 3, which makes coarse cells needlessly stiff in bending:
// docs/theory/corotated.md has the measurement.
#define SN_HOURGLASS_EDGE (2.0 / 3)
#define SN_HOURGLASS_CORNER (1.0 / 3)

// Energy of mode m is 4 mu h SN_HOURGLASS[m] |q_m|^2; the linear modes are counted by F instead.
extern const double SN_HOURGLASS[8];

// v_m <- sum_a s_m(a) v_a, in place: one butterfly a bit.
void sn_cell_walsh(double v[8]);
// q[axis][mode] of the displacements of the conforming corners, and the transpose: dE/dq to dE/du.
void sn_cell_to_modes(sn_cell_shape shape, const double u[8][3], double q[3][8]);
void sn_cell_from_modes(sn_cell_shape shape, double dq[3][8], double g[8][3]);
// Displacement gradient at the centre.
void sn_cell_gradient_from_modes(double h, double q[3][8], double D[9]);
// dE/dq from the stress P over the volume h^3, and the hourglass springs.
void sn_cell_modes_from_stress(double h, double mu, const double P[9], double q[3][8],
                               double dq[3][8]);

#endif
