// A material at a point with the deformation gradient F: what law.h says in principal stretches, in the
// coordinates of space. Matrices are row-major. Plain and slow; for tests and for small parts.
#ifndef SN_MATERIAL_POINT_H
#define SN_MATERIAL_POINT_H

#include "math/hessian.h"
#include "sinew/material.h"

// The energy density W in J/m3; its derivative by F, the first Piola-Kirchhoff stress, goes to P, Pa.
double sn_material_stress(const sn_material* material, const double F[9], double P[9]);

// The change of the stress with F along dF.
void sn_material_differential(const sn_material* material, const double F[9], const double dF[9],
                              sn_hessian kind, double dP[9]);

#endif
