// Corotated linear elasticity on one cubic cell, with a stabilised one-point quadrature after Milne
// et al. 2016 (section 4) and their treatment of hanging corners. Plain C: the oracle for
// every faster kernel. docs/theory/corotated.md derives it.
//
// Corners and modes are numbered by bits: bit 0 = x, bit 1 = y, bit 2 = z.
//
//        6-------7        The Walsh-Hadamard transform of the corner displacements u_a,
//       /|      /|            q_m = 1/8 sum_a s_m(a) u_a,   s_m(a) = product over the bits i of m
//      4-------5 |                                                   of (a has bit i ? +1 : -1),
//   z  | 2-----|-3  y      splits the cell's motion into a translation (m = 0), the gradient at the
//   |  |/      |/ /        centre (m = 1, 2, 4: F = I + 2/h [q_1 q_2 q_4]) and four hourglass modes
//   |  0-------1          (m = 3, 5, 6, 7), which the one-point rule cannot see. Integrating the
//   +----> x              Laplacian part mu |F|^2 exactly gives those the diagonal energy
//         E_hourglass = 4 mu h (2/3 (|q_3|^2 + |q_5|^2 + |q_6|^2) + 1/3 |q_7|^2).
//
//     E = h^3 (mu |F - R|^2 + lambda/2 tr^2(R^T F - I)) + E_hourglass,      F = R S
#ifndef SN_ELASTICITY_COROTATED_CELL_H
#define SN_ELASTICITY_COROTATED_CELL_H

#include "elasticity/cell_modes.h"
#include "material/law.h"
#include "math/hessian.h"

typedef struct sn_cell_material {
  double h, mu, lambda;  // edge in m, Lame parameters in Pa
} sn_cell_material;

// What products with the stiffness need to know of the state: the rotation of F and the symmetric
// matrix L of the rotation's differential, xx yy zz xy yz xz, for both kinds of Hessian.
typedef struct sn_cell_tangent {
  double R[9];
  double L[2][6];  // by sn_hessian, Pa
} sn_cell_tangent;

// Displacements and forces of the eight conforming corners: [corner][axis].
// Gradient of the deformation at the centre, row-major.
void sn_cell_deformation(sn_cell_shape shape, double h, const double u[8][3], double F[9]);

// Energy in J.
double sn_cell_energy(sn_cell_shape shape, const sn_cell_material* material, const double u[8][3]);

// dE/du in N (the force with its sign turned).
void sn_cell_gradient(sn_cell_shape shape, const sn_cell_material* material, const double u[8][3],
                      double g[8][3]);

// The tangent of a cell whose gradient at the centre is F.
void sn_cell_linearise(const sn_cell_material* material, const double F[9],
                       sn_cell_tangent* tangent);

// y = K p
void sn_cell_apply(sn_cell_shape shape, const sn_cell_material* material,
                   const sn_cell_tangent* tangent, sn_hessian kind, const double p[8][3],
                   double y[8][3]);

// How the measure M = tr(S - I) of the change of volume grows along p: R : dF. And y += a times that
// row of 24 numbers, what a pressure of the cell does to its nodes: with a = h^3 lambda x the measure the
// part of K p that lambda has outside L.
double sn_cell_volume_change(sn_cell_shape shape, double h, const sn_cell_tangent* tangent,
                             const double p[8][3]);
void sn_cell_add_volume_gradient(sn_cell_shape shape, double h, const sn_cell_tangent* tangent,
                                 double a, double y[8][3]);

// The diagonal of K.
void sn_cell_diagonal(sn_cell_shape shape, const sn_cell_material* material,
                      const sn_cell_tangent* tangent, sn_hessian kind, double d[8][3]);

#endif
