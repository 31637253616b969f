// The plain version of the laws: the same functions, for one double at a time.
#include "material/law.h"

#include "math/elementary.h"
#include "math/one_lane.h"

#define LOG sn_ln
#define INVERSE_CBRT sn_inverse_cbrt

typedef sn_law_point sn_law_point_plain;

#include "material/laws_impl.h"

void sn_law_evaluate(const sn_material* material, const double s[3], sn_law_parts parts,
                     sn_law_point* out) {
  sn_law_evaluate_plain(material, material->mu, material->lambda, s, parts, out);
}

void sn_law_make_definite(sn_law_point* point) { sn_law_make_definite_plain(point); }

void sn_law_measure(const sn_material* material, double J, double M[3]) {
  sn_law_measure_plain(material, J, M);
}

double sn_law_bulk(const sn_material* material) {
  return sn_law_bulk_plain(material, material->mu, material->lambda);
}

typedef struct row {
  const char* name;
  sn_law_number numbers[SN_LAW_NUMBERS];
} row;

#define ROW_OF(ID, file, name, measure, mus, ...) [SN_LAW_##ID] = {name, {__VA_ARGS__}},
static const row ROWS[SN_LAW_COUNT] = {SN_LAW_TABLE(ROW_OF)};

const char* sn_law_name(sn_law law) { return ROWS[law].name; }

const sn_law_number* sn_law_numbers(sn_law law) { return ROWS[law].numbers; }

sn_material sn_material_of(sn_law law, double mu, double lambda) {
  sn_material material = {.law = law, .mu = mu, .lambda = lambda};
  for (int i = 0; i < SN_LAW_NUMBERS; ++i) material.numbers[i] = ROWS[law].numbers[i].usual;
  return material;
}
