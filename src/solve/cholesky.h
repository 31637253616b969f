// Dense Cholesky factorisation, our own: its bits do not depend on a library, a processor or threads.
#ifndef SN_SOLVE_CHOLESKY_H
#define SN_SOLVE_CHOLESKY_H

// A = L L^T in place, row-major, n x n; only the lower triangle is read and written. A pivot that has
// fallen below 1e-7 of its diagonal entry belongs to a direction without stiffness: it is replaced by
// that entry, so that the solve leaves the direction nearly alone.
void sn_cholesky_factor(int n, double* A);
// Solve L L^T x = b in place.
void sn_cholesky_solve(int n, const double* L, double* x);

#endif
