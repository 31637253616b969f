// Elastic laws as functions of a point: what a law makes of the signed principal stretches
// s0 >= s1 >= |s2| of F = U diag(s) V^T, the last one negative where the flesh is inverted.
//
// A law is W(s) = W0(s) + bulk/2 M(s)^2, where M measures the change of volume and vanishes at rest.
// Its stress is P = U diag(dW/ds) V^T. In the frames of U and V a change dF acts as three stretches,
// coupled by the 3 x 3 matrix W_ij, and for each pair of axes a shear (dF_ij + dF_ji) and a twist
// (dF_ij - dF_ji), which are coupled with nothing (docs/theory/materials.md).
//
// Everything is finite and the stress continuous for all finite s, inverted ones too.
#ifndef SN_MATERIAL_LAW_H
#define SN_MATERIAL_LAW_H

#include <stdbool.h>

#include "material/law_table.h"
#include "sinew/material.h"

// What the denominators s_i + s_j are held above, relative to s_0, where a law cannot do without them:
// where flesh is so flat that its rotation is not defined, the differential stays finite.
#define SN_ROTATION_FLOOR 1e-3

// Which parts of W are asked for.
typedef enum sn_law_parts {
  SN_LAW_WHOLE,
  SN_LAW_SHAPE  // W0 alone: somebody else sees to the volume
} sn_law_parts;

// How M measures volume.
typedef enum sn_measure {
  SN_MEASURE_TRACE,  // s0 + s1 + s2 - 3
  SN_MEASURE_J,      // J - 1
  SN_MEASURE_LOG_J,  // ln J, below a compression limit its tangent there
  SN_MEASURE_NONE    // the law has no such part: W = W0
} sn_measure;

typedef struct sn_law_point {
  double energy;      // W, J/m3
  double stress[3];   // W_i = dW/ds_i, Pa
  double stretch[6];  // W_ij, Pa: 00 11 22 01 12 02
  double shear[3];    // (W_i - W_j) / (s_i - s_j), Pa; the index is the third axis
  double twist[3];    // (W_i + W_j) / (s_i + s_j), Pa
} sn_law_point;

// One of a law's own numbers.
typedef struct sn_law_number {
  const char* name;  // as in a scene; NULL: no such number
  double usual, least, most;
  const char* meaning;
} sn_law_number;

// The plain version in double precision; law_wide_impl.h has the same for vectors.
void sn_law_evaluate(const sn_material* material, const double s[3], sn_law_parts parts,
                     sn_law_point* out);

// The nearest second derivative without negative eigenvalues: those of `stretch` are lifted to zero,
// shears and twists held above it. What has none is left as it is.
void sn_law_make_definite(sn_law_point* point);

// M and its first two derivatives by J, for laws that measure J or its logarithm.
void sn_law_measure(const sn_material* material, double J, double M[3]);
// Factor of M^2 / 2, Pa.
double sn_law_bulk(const sn_material* material);

// Its name in a scene.
const char* sn_law_name(sn_law law);
// SN_LAW_NUMBERS of them; unused ones have no name.
const sn_law_number* sn_law_numbers(sn_law law);
// A law with its usual numbers.
sn_material sn_material_of(sn_law law, double mu, double lambda);

#define SN_LAW_MEASURE(ID, file, name, measure, ...) [SN_LAW_##ID] = SN_MEASURE_##measure,
static inline sn_measure sn_law_measure_kind(sn_law law) {
  static const sn_measure measures[SN_LAW_COUNT] = {SN_LAW_TABLE(SN_LAW_MEASURE)};
  return measures[law];
}
#undef SN_LAW_MEASURE

// How many mu are in the bulk, beside one lambda.
#define SN_LAW_MUS(ID, file, name, measure, mus, ...) [SN_LAW_##ID] = (mus),
static inline double sn_law_bulk_mus(sn_law law) {
  static const double all[SN_LAW_COUNT] = {SN_LAW_TABLE(SN_LAW_MUS)};
  return all[law];
}
#undef SN_LAW_MUS

// Is M a function of J?
static inline bool sn_law_measures_J(sn_law law) {
  sn_measure measure = sn_law_measure_kind(law);
  return measure == SN_MEASURE_J || measure == SN_MEASURE_LOG_J;
}

#endif
