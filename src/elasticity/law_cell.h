// Any law on one cubic cell, plain: one point at the centre for W0, the mean of J over the cell for what
// measures volume, and the hourglass energy of corotated_cell.h as stabilisation (Patterson, Mitchell and
// Sifakis 2012, section 3.2). The oracle for the kernels; docs/theory/materials.md derives it.
#ifndef SN_ELASTICITY_LAW_CELL_H
#define SN_ELASTICITY_LAW_CELL_H

#include "elasticity/cell_modes.h"
#include "material/law.h"
#include "math/hessian.h"

// Mean of det F over the cell with modes q of its displacement, exact. Its gradient by the columns of F
// and by a_m = 2/h q_m of modes 3, 5, 6 goes to Q[column][axis], unless that is NULL.
double sn_cell_mean_volume(double h, double q[3][8], double Q[6][3]);

// det F at a place of the cell, each coordinate from -1 to 1.
double sn_cell_volume_at(double h, double q[3][8], const double eta[3]);

// Energy in J; g = dE/du in N, unless g is NULL.
double sn_law_cell_evaluate(sn_cell_shape shape, double h, const sn_material* material,
                            const double u[8][3], double g[8][3]);

// The definite Hessian lifts negative eigenvalues of a flesh whose bulk modulus is at most this times
// mu: lifting those of nearly incompressible flesh would add multiples of its bulk modulus (Patterson et
// al. 2012, section 5). What is left of the modulus is added after that; it is definite by itself.
#define SN_MOST_LIFTED_BULK 4

// y = K p at the state u. The exact K is the derivative of the gradient. The definite one takes the change
// of the mean of J from the centre: what hourglass modes give to it is left out.
void sn_law_cell_apply(sn_cell_shape shape, double h, const sn_material* material,
                       const double u[8][3], sn_hessian kind, const double p[8][3], double y[8][3]);

#endif
