// Which second derivative of an energy is meant.
#ifndef SN_MATH_HESSIAN_H
#define SN_MATH_HESSIAN_H

typedef enum sn_hessian {
  SN_HESSIAN_EXACT,    // the true one; may have negative eigenvalues
  SN_HESSIAN_DEFINITE  // one near it without any
} sn_hessian;

#endif
