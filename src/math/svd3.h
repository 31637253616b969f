// Signed singular value decomposition of a 3x3 matrix, in double and in single precision.
//
//     F = U diag(s) V^T,   det U = det V = 1,   s0 >= s1 >= |s2|,   sign(s2) = sign(det F)
//
// Matrices are row-major, F[3 * row + column]. Accurate for small singular values too (one-sided
// Jacobi: the columns of F V are made orthogonal, F^T F is never formed), defined for every finite
// F and deterministic: only + - * / and sqrt. Where F is singular the free directions of U follow
// those of V as closely as they can, so that the rotation U V^T turns no more than it must.
#ifndef SN_MATH_SVD3_H
#define SN_MATH_SVD3_H

void sn_svd3_d(const double F[9], double U[9], double s[3], double V[9]);
void sn_svd3_f(const float F[9], float U[9], float s[3], float V[9]);

#endif
