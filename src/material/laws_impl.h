// All laws, for one kind of number. They are written for WIDE, with the operations
//     NUMBER(x)  SELECT(mask, a, b)  FMA(a, b, c)  SQRT(a)  ANY(mask)  LOG(a)  INVERSE_CBRT(a)
// and compiled for vectors of floats and of doubles (law_wide_impl.h), and for plain doubles (law.c).

// Where in `stretch` the entry of the two axes other than i is: 00 11 22 01 12 02.
#define SN_STRETCH_BESIDE(i) ((i) == 0 ? 4 : (i) == 1 ? 5 : 3)

// Sums of two stretches are held above this where they are divided by.
static inline WIDE SN_P(least_sum)(const WIDE s[3]) {
  return NUMBER(SN_ROTATION_FLOOR) * s[0] + NUMBER(1e-12);
}

// The sum of the two stretches other than i.
static inline WIDE SN_P(held_sum)(const WIDE s[3], int i, WIDE least) {
  WIDE sum = s[(i + 1) % 3] + s[(i + 2) % 3];
  return SELECT(sum > least, sum, least);
}

// Add a function of J, given by its value and two derivatives. With J_i = dJ/ds_i = s_j s_k:
//     g' J_i,   g'' J_i J_j + g' s_k,   shear -g' s_k,   twist g' s_k
static inline void SN_P(add_function_of_J)(const WIDE s[3], const WIDE g[3],
                                           SN_P(sn_law_point) * out) {
  WIDE by[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
  out->energy += g[0];
  for (int i = 0; i < 3; ++i) {
    WIDE across = g[1] * s[i];
    out->stress[i] += g[1] * by[i];
    out->stretch[i] += g[2] * by[i] * by[i];
    out->stretch[SN_STRETCH_BESIDE(i)] += g[2] * by[(i + 1) % 3] * by[(i + 2) % 3] + across;
    out->shear[i] -= across;
    out->twist[i] += across;
  }
}

// J, or the limit where it is below; and how far, a number that is not above 0.
typedef struct SN_P(held_volume) {
  WIDE J, inverse, below;
} SN_P(held_volume);

static inline SN_P(held_volume) SN_P(hold_volume)(WIDE J, double limit) {
  WIDE least = NUMBER(limit), held = SELECT(J > least, J, least);
  return (SN_P(held_volume)){held, NUMBER(1) / held, J - held};
}

#include "material/biphasic_impl.h"
#include "material/corotated_impl.h"
#include "material/fixed_corotated_impl.h"
#include "material/mooney_rivlin_impl.h"
#include "material/neo_hookean_impl.h"
#include "material/stable_neo_hookean_impl.h"
#include "material/stvk_impl.h"

// M and its first two derivatives by J, for laws that measure J or its logarithm. Below the limit
// (number 0) the logarithm goes on as its tangent, so that M^2 stays convex in J.
static inline void SN_P(sn_law_measure)(const sn_material* material, WIDE J, WIDE M[3]) {
  WIDE zero = NUMBER(0), one = NUMBER(1);
  M[0] = J - one;
  M[1] = one;
  M[2] = zero;
  if (sn_law_measure_kind(material->law) != SN_MEASURE_LOG_J) return;
  SN_P(held_volume) v = SN_P(hold_volume)(J, material->numbers[0]);
  M[0] = LOG(v.J) + v.below * v.inverse;
  M[1] = v.inverse;
  M[2] = SELECT(v.below < zero, zero, -(v.inverse * v.inverse));
}

// Factor of M^2 / 2, Pa.
static inline WIDE SN_P(sn_law_bulk)(const sn_material* material, WIDE mu, WIDE lambda) {
  return lambda + NUMBER(sn_law_bulk_mus(material->law)) * mu;
}

// Add bulk/2 M^2.
static inline void SN_P(add_trace)(WIDE bulk, const WIDE s[3], SN_P(sn_law_point) * out) {
  WIDE one = NUMBER(1), M = (s[0] - one) + (s[1] - one) + (s[2] - one);
  WIDE pressure = bulk * M, least = SN_P(least_sum)(s);
  out->energy += NUMBER(0.5) * pressure * M;
  for (int i = 0; i < 3; ++i) {
    out->stress[i] += pressure;
    out->stretch[i] += bulk;
    out->stretch[3 + i] += bulk;
    out->twist[i] += (pressure + pressure) / SN_P(held_sum)(s, i, least);
  }
}

static inline void SN_P(add_volume)(const sn_material* material, WIDE bulk, const WIDE s[3],
                                    SN_P(sn_law_point) * out) {
  WIDE M[3];
  SN_P(sn_law_measure)(material, s[0] * s[1] * s[2], M);
  WIDE g[3] = {NUMBER(0.5) * bulk * M[0] * M[0], bulk * M[0] * M[1],
               bulk * (M[1] * M[1] + M[0] * M[2])};
  SN_P(add_function_of_J)(s, g, out);
}

// The law at the stretches s. Of `material` its law and numbers count; mu and lambda are given apart,
// since they may differ from lane to lane.
#define SN_LAW_SHAPE_CASE(ID, file, ...)              \
  case SN_LAW_##ID:                                   \
    SN_P(file##_shape)(material, mu, lambda, s, out); \
    break;
static inline void SN_P(sn_law_evaluate)(const sn_material* material, WIDE mu, WIDE lambda,
                                         const WIDE s[3], sn_law_parts parts,
                                         SN_P(sn_law_point) * out) {
  switch (material->law) {
    SN_LAW_TABLE(SN_LAW_SHAPE_CASE)
    default:
      SN_P(corotated_shape)(material, mu, lambda, s, out);
  }
  sn_measure measure = sn_law_measure_kind(material->law);
  if (parts == SN_LAW_SHAPE || measure == SN_MEASURE_NONE) return;
  WIDE bulk = SN_P(sn_law_bulk)(material, mu, lambda);
  if (measure == SN_MEASURE_TRACE) {
    SN_P(add_trace)(bulk, s, out);
  } else {
    SN_P(add_volume)(material, bulk, s, out);
  }
}
#undef SN_LAW_SHAPE_CASE

#include "material/definite_impl.h"
