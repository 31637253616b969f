// One source for two precisions: a file `x_impl.h` is written in SN_REAL and SN_P(name), and
// included twice by `x.c`, with SN_REAL_IS_DOUBLE 1 and then 0. SN_P(name) becomes name_d or
// name_f.
#ifndef SN_BASE_PRECISION_H
#define SN_BASE_PRECISION_H

#define SN_P_1(name) name##_d
#define SN_P_0(name) name##_f
#define SN_P_PICK(is_double, name) SN_P_PICK2(is_double, name)
#define SN_P_PICK2(is_double, name) SN_P_##is_double(name)
#define SN_P(name) SN_P_PICK(SN_REAL_IS_DOUBLE, name)

#define SN_REAL_1 double
#define SN_REAL_0 float
#define SN_REAL_PICK(is_double) SN_REAL_PICK2(is_double)
#define SN_REAL_PICK2(is_double) SN_REAL_##is_double
#define SN_REAL SN_REAL_PICK(SN_REAL_IS_DOUBLE)

#endif
