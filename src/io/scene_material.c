// Which keys a material may have depends on its law and on how its stiffness is given, so the table of
// keys is put together for each. Stiffness is given by Young's modulus and Poisson's ratio, by Lame's
// parameters, or, for Mooney and Rivlin's law, by its constants with kappa or Poisson's ratio.
#include "io/scene_material.h"

#include <string.h>

#include "io/scene_names.h"
#include "io/scene_table.h"
#include "material/law.h"

typedef struct material_keys {
  sn_law law;
  double young, poisson, mu, lambda, c10, c01, kappa;
  double numbers[SN_LAW_NUMBERS];
} material_keys;

typedef enum given { GIVEN_YOUNG, GIVEN_LAME, GIVEN_CONSTANTS } given;

#define MODEL_OF(ID, file, name, ...) {name, SN_LAW_##ID},
static const sn_choice models[] = {SN_LAW_TABLE(MODEL_OF)};

static const sn_field model_field = {"model", "\"stable-neo-hookean\"", sn_read_choice,
                                     AT(material_keys, law), CHOICES(models)};
// In the order in which they are written.
static const sn_field stiffness_fields[] = {
    {"young", "12000", sn_read_number, AT(material_keys, young), OPTIONAL, ABOVE_TO(0, 1e15)},
    {"poisson", "0.47", sn_read_number, AT(material_keys, poisson), OPTIONAL,
     FROM_BELOW(-0.9, 0.5)},
    {"mu", NULL, sn_read_number, AT(material_keys, mu), OPTIONAL, ABOVE_TO(0, 1e15)},
    {"lambda", NULL, sn_read_number, AT(material_keys, lambda), OPTIONAL, FROM_TO(-1e15, 1e30)},
    {"c10", NULL, sn_read_number, AT(material_keys, c10), OPTIONAL, FROM_TO(0, 1e15)},
    {"c01", NULL, sn_read_number, AT(material_keys, c01), OPTIONAL, FROM_TO(0, 1e15)},
    {"kappa", NULL, sn_read_number, AT(material_keys, kappa), OPTIONAL, ABOVE_TO(0, 1e30)},
};
enum { YOUNG, POISSON, MU, LAMBDA, C10, C01, KAPPA, STIFFNESS_KEYS };

// The keys of one law.
typedef struct law_table {
  sn_field fields[1 + STIFFNESS_KEYS + SN_LAW_NUMBERS];
  char presets[SN_LAW_NUMBERS][32];
  size_t count;
} law_table;

static bool has(const json_t* object, const char* key) { return json_object_get(object, key); }

static given what_is_given(const json_t* object, sn_law law) {
  bool constants = has(object, "c10") || has(object, "c01") || has(object, "kappa");
  if (law == SN_LAW_MOONEY_RIVLIN && constants) return GIVEN_CONSTANTS;
  return has(object, "mu") || has(object, "lambda") ? GIVEN_LAME : GIVEN_YOUNG;
}

// Keys that go together are required, or have their defaults written, if one is there.
static bool is_needed(const json_t* object, given by, size_t key) {
  if (by == GIVEN_YOUNG) return key == YOUNG || key == POISSON;
  if (by == GIVEN_LAME) return key == MU || key == LAMBDA;
  return key == C10 || key == C01 || (key == POISSON && !has(object, "kappa"));
}

static void list_keys(const json_t* object, sn_law law, given by, law_table* table) {
  size_t n = 0;
  table->fields[n++] = model_field;
  for (size_t key = 0; key < STIFFNESS_KEYS; ++key) {
    if (key >= C10 && law != SN_LAW_MOONEY_RIVLIN) break;
    table->fields[n] = stiffness_fields[key];
    table->fields[n++].optional = !is_needed(object, by, key);
  }
  const sn_law_number* numbers = sn_law_numbers(law);
  for (int i = 0; i < SN_LAW_NUMBERS && numbers[i].name; ++i) {
    sn_number_to_text(numbers[i].usual, table->presets[i]);
    table->fields[n++] = (sn_field){
        .key = numbers[i].name,
        .preset = table->presets[i],
        .read = sn_read_number,
        .offset = offsetof(material_keys, numbers) + (size_t)i * sizeof(double),
        // The constants themselves say what share each has.
        .optional = by == GIVEN_CONSTANTS && strcmp(numbers[i].name, "share") == 0,
        FROM_TO(numbers[i].least, numbers[i].most),
    };
  }
  table->count = n;
}

static sn_status check_kinds(sn_reader* r, const sn_place* at, const json_t* object, sn_law law,
                             given by) {
  bool lame = has(object, "mu") || has(object, "lambda");
  bool mixed = (by == GIVEN_LAME && (has(object, "young") || has(object, "poisson"))) ||
               (by == GIVEN_CONSTANTS && (lame || has(object, "young"))) ||
               (has(object, "kappa") && has(object, "poisson"));
  if (mixed) {
    return sn_read_fail(r, at,
                        "found keys of two kinds, expected \"young\" and \"poisson\", or \"mu\" "
                        "and \"lambda\"%s",
                        law == SN_LAW_MOONEY_RIVLIN
                            ? ", or \"c10\" and \"c01\" with \"kappa\" or \"poisson\""
                            : "");
  }
  if (by == GIVEN_CONSTANTS && has(object, "share")) {
    sn_place share_at = sn_place_key(at, "share");
    return sn_read_mismatch(r, &share_at, json_object_get(object, "share"),
                            "no such key beside \"c10\" and \"c01\", which say it");
  }
  return SN_OK;
}

// mu and lambda, and the share of c01.
static sn_status find_lame(sn_reader* r, const sn_place* at, const json_t* object, given by,
                           material_keys* keys) {
  double E = keys->young, nu = keys->poisson;
  if (by == GIVEN_YOUNG) {
    keys->mu = E / (2.0 * (1.0 + nu));
    keys->lambda = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
    return SN_OK;
  }
  const char* key = "lambda";
  double least = -9.0 / 14.0 * keys->mu, found = keys->lambda;  // a Poisson's ratio of -0.9
  if (by == GIVEN_CONSTANTS) {
    double sum = keys->c10 + keys->c01;
    sn_place c10_at = sn_place_key(at, "c10");
    if (!(sum >= SN_TINY)) {
      return sn_read_fail(r, &c10_at, "found %g beside a \"c01\" of %g, expected a sum above 0",
                          keys->c10, keys->c01);
    }
    keys->mu = 2.0 * sum;
    keys->numbers[1] = keys->c01 / sum;
    if (!has(object, "kappa")) {
      keys->lambda = 2.0 * keys->mu * nu / (1.0 - 2.0 * nu);
      return SN_OK;
    }
    keys->lambda = keys->kappa - 2.0 / 3.0 * keys->mu;
    key = "kappa";
    least = (2.0 / 3.0 - 9.0 / 14.0) * keys->mu;
    found = keys->kappa;
  }
  if (found >= least) return SN_OK;
  sn_place here = sn_place_key(at, key);
  return sn_read_fail(r, &here, "found %g, expected %s mu = %g or more (a Poisson's ratio of -0.9)",
                      found, by == GIVEN_LAME ? "-9/14" : "1/42", least);
}

const sn_library_material* sn_library_find(const json_t* value) {
  uint32_t count;
  const sn_library_material* library = sn_library(&count);
  if (!json_is_string(value)) return NULL;
  ptrdiff_t found = sn_name_find(SN_NAMES(library, count), json_string_value(value));
  return found < 0 ? NULL : &library[found];
}

// The object that stands at the field, with a name replaced by its definition.
static sn_status resolve(sn_reader* r, const sn_place* at, json_t* owner, const char* key,
                         json_t** value) {
  *value = json_object_get(owner, key);
  if (!json_is_string(*value)) return SN_OK;
  uint32_t count, row = 0;
  const sn_library_material* library = sn_library(&count);
  SN_TRY(sn_value_reference(r, at, *value, "a library material", SN_NAMES(library, count), &row));
  *value = json_loads(library[row].definition, 0, NULL);
  return sn_read_replace(r, owner, key, *value);
}

sn_status sn_read_material(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                           void* target) {
  json_t* value;
  SN_TRY(resolve(r, at, owner, field->key, &value));
  material_keys keys = {.law = SN_LAW_STABLE_NEO_HOOKEAN};
  if (has(value, "model")) {
    sn_place model_at = sn_place_key(at, "model");
    SN_TRY(sn_read_choice(r, &model_at, value, &model_field, &keys));
  }
  given by = what_is_given(value, keys.law);
  law_table list;
  list_keys(value, keys.law, by, &list);
  const sn_table table = {"a library name or {\"young\": Pa, \"poisson\": ratio}", list.fields,
                          list.count, NULL};
  SN_TRY(check_kinds(r, at, value, keys.law, by));
  SN_TRY(sn_value_object(r, at, value, &table, &keys));
  SN_TRY(find_lame(r, at, value, by, &keys));
  sn_material* material = (sn_material*)((char*)target + field->offset);
  *material = (sn_material){.law = keys.law, .mu = keys.mu, .lambda = keys.lambda};
  memcpy(material->numbers, keys.numbers, sizeof keys.numbers);
  return SN_OK;
}
