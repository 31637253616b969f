#include "io/scene_muscle.h"

#include <string.h>

#include "io/fiber_file.h"
#include "io/scene_mesh.h"
#include "io/scene_motion.h"
#include "io/scene_names.h"
#include "io/scene_table.h"
#include "material/fiber.h"
#include "math/vec.h"

// Fibres

#define FIBERS_TEXT "\"solve\", {\"along\": [[x, y, z], [x, y, z]]} or {\"field\": \"fibers.csv\"}"

static sn_status read_along(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  const json_t* value = json_object_get(owner, field->key);
  if (!json_is_array(value) || json_array_size(value) != 2) {
    return sn_read_mismatch(r, at, value, "two points [[x, y, z], [x, y, z]]");
  }
  sn_vec3 ends[2] = {{0}};
  for (size_t k = 0; k < 2; ++k) {
    sn_place here = sn_place_index(at, k);
    SN_TRY(sn_value_vector(r, &here, json_array_get(value, k), &ends[k]));
  }
  sn_vec3 way = sn_sub(ends[1], ends[0]);
  double most = fmax(fmax(fabs(way.x), fabs(way.y)), fabs(way.z));
  if (!(most >= SN_TINY)) {
    return sn_read_fail(r, at, "found the same point twice, expected an origin and an insertion");
  }
  way = sn_scale(1 / most, way);  // squares of small numbers would vanish
  *(sn_vec3*)((char*)target + field->offset) = sn_scale(1 / sn_length(way), way);
  return SN_OK;
}

static sn_status finish_fibers(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_muscle_desc* muscle = target;
  if (json_object_size(object) != 1) return sn_read_mismatch(r, at, object, FIBERS_TEXT);
  if (!muscle->field_source) return SN_OK;
  muscle->fibers = SN_FIBERS_FIELD;
  sn_place field_at = sn_place_key(at, "field");
  const char* given = muscle->field_source;
  SN_TRY(sn_read_path(r, &field_at, object, "field", given, strlen(given), &muscle->field_source));
  sn_error cause = {0};
  sn_status status = sn_fiber_file_read(muscle->field_source, r->scene->storage, &muscle->field,
                                        &muscle->field_count, &cause);
  if (status != SN_OK) return sn_read_pass_on(r, &field_at, &cause);
  for (uint32_t k = 0; k < muscle->field_count; ++k) {
    muscle->field[k].place = sn_scale(r->scene->unit, muscle->field[k].place);
  }
  return SN_OK;
}

static const sn_field fiber_fields[] = {
    {"along", NULL, read_along, AT(sn_muscle_desc, along), OPTIONAL},
    {"field", NULL, sn_read_string, AT(sn_muscle_desc, field_source), OPTIONAL,
     .expected = "a file of directions (.csv)"},
};
static const sn_table fibers_table = {FIBERS_TEXT, TABLE(fiber_fields), finish_fibers};

static sn_status read_fibers(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                             void* target) {
  json_t* value = json_object_get(owner, field->key);
  sn_muscle_desc* muscle = target;
  muscle->fibers = json_is_string(value) ? SN_FIBERS_SOLVE : SN_FIBERS_ALONG;
  if (!json_is_string(value)) return sn_value_object(r, at, value, &fibers_table, muscle);
  if (strcmp(json_string_value(value), "solve") == 0) return SN_OK;
  return sn_read_mismatch(r, at, value, FIBERS_TEXT);
}

// Ends

#define END_TEXT "null, a point [x, y, z] or {\"near\": \"bone\"}"

static const sn_field end_fields[] = {
    {"near", NULL, sn_read_bone_reference, AT(sn_muscle_end, bone)}};
static const sn_table end_table = {END_TEXT, TABLE(end_fields), NULL};

static sn_status read_end(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                          void* target) {
  json_t* value = json_object_get(owner, field->key);
  sn_muscle_end* end = (sn_muscle_end*)((char*)target + field->offset);
  *end = (sn_muscle_end){.kind = SN_END_AXIS};
  if (json_is_null(value)) return SN_OK;
  if (json_is_object(value)) {
    end->kind = SN_END_BONE;
    return sn_value_object(r, at, value, &end_table, end);
  }
  end->kind = SN_END_POINT;
  if (!json_is_array(value)) return sn_read_mismatch(r, at, value, END_TEXT);
  SN_TRY(sn_value_vector(r, at, value, &end->point));
  end->point = sn_scale(r->scene->unit, end->point);
  return SN_OK;
}

// Activation

#define ACTIVATION_TEXT "a number from 0 to 1 or a list of {\"frame\": 1, \"value\": 0}"

static const sn_field key_fields[] = {
    {"frame", NULL, sn_read_number, AT(sn_number_key, frame), FROM_TO(-1e9, 1e9)},
    {"value", NULL, sn_read_number, AT(sn_number_key, value), FROM_TO(0, 1)},
};
static const sn_table key_table = {"a keyframe {\"frame\": 1, \"value\": 0}", TABLE(key_fields),
                                   NULL};

static sn_status read_activation(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  sn_muscle_desc* muscle = target;
  const json_t* value = json_object_get(owner, field->key);
  if (json_array_size(value) > 0) {
    const sn_field keys = {.key = field->key,
                           .offset = offsetof(sn_muscle_desc, activation),
                           .count_offset = offsetof(sn_muscle_desc, activation_count),
                           .item_size = sizeof *muscle->activation,
                           .table = &key_table};
    SN_TRY(sn_read_list(r, at, owner, &keys, muscle));
    return sn_check_ascending(r, at, &muscle->activation[0].frame, sizeof *muscle->activation,
                              muscle->activation_count);
  }
  if (!json_is_number(value)) return sn_read_mismatch(r, at, value, ACTIVATION_TEXT);
  SN_TRY(SN_ARENA_NEW(r->scene->storage, 1, &muscle->activation, r->err));
  muscle->activation_count = 1;
  return sn_value_number(r, at, value, field->range, &muscle->activation[0].value);
}

// The law of fibres that are not active

#define LAW_TEXT "the name of a law or {\"model\": \"holzapfel\", \"k1\": Pa, \"k2\": number}"

#define LAW_OF(ID, file, name, ...) {name, SN_FIBER_##ID},
static const sn_choice laws[] = {SN_FIBER_TABLE(LAW_OF)};
static const sn_field law_field = {"model", "\"zajac\"", sn_read_choice, AT(sn_muscle_desc, law),
                                   CHOICES(laws)};

// A name is short for an object with that model; what keys it may have depends on the law.
static sn_status read_law(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                          void* target) {
  sn_muscle_desc* muscle = target;
  json_t* value = json_object_get(owner, field->key);
  if (json_is_string(value)) {
    const sn_field named = {field->key, NULL, sn_read_choice, AT(sn_muscle_desc, law),
                            CHOICES(laws)};
    SN_TRY(sn_read_choice(r, at, owner, &named, muscle));
    value = json_pack("{s:O}", "model", value);
    SN_TRY(sn_read_replace(r, owner, field->key, value));
  } else if (json_object_get(value, "model")) {
    sn_place model_at = sn_place_key(at, "model");
    SN_TRY(sn_read_choice(r, &model_at, value, &law_field, muscle));
  }
  sn_field fields[1 + SN_FIBER_NUMBERS] = {law_field};
  char presets[SN_FIBER_NUMBERS][32];
  size_t count = 1;
  const sn_law_number* numbers = sn_fiber_law_numbers(muscle->law);
  for (size_t i = 0; i < SN_FIBER_NUMBERS && numbers[i].name; ++i) {
    sn_number_to_text(numbers[i].usual, presets[i]);
    fields[count++] =
        (sn_field){.key = numbers[i].name,
                   .preset = presets[i],
                   .read = sn_read_number,
                   .offset = offsetof(sn_muscle_desc, numbers) + i * sizeof *muscle->numbers,
                   FROM_TO(numbers[i].least, numbers[i].most)};
  }
  const sn_table table = {LAW_TEXT, fields, count, NULL};
  return sn_value_object(r, at, value, &table, muscle);
}

// The whole

// Ends belong to "solve".
static sn_status finish_muscle(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  static const char* const ends[] = {"origin", "insertion"};
  sn_muscle_desc* muscle = target;
  for (size_t i = 0; i < COUNT(ends) && muscle->fibers != SN_FIBERS_SOLVE; ++i) {
    const json_t* value = json_object_get(object, ends[i]);
    sn_place end_at = sn_place_key(at, ends[i]);
    if (!json_is_null(value)) {
      return sn_read_mismatch(r, &end_at, value, "no such key beside \"along\" or \"field\"");
    }
  }
  return sn_read_mesh(r, at, object, "mesh", &muscle->surface, &muscle->mesh);
}

static const sn_field muscle_fields[] = {
    {"name", NULL, sn_read_string, AT(sn_muscle_desc, name), OPTIONAL, .expected = "a name"},
    {"body", NULL, sn_read_body_reference, AT(sn_muscle_desc, body)},
    {"mesh", NULL, sn_read_string, AT(sn_muscle_desc, surface), .expected = "the file of a mesh"},
    {"fibers", "\"solve\"", read_fibers, .offset = 0},
    {"origin", "null", read_end, AT(sn_muscle_desc, origin)},
    {"insertion", "null", read_end, AT(sn_muscle_desc, insertion)},
    {"activation", "0", read_activation, FROM_TO(0, 1)},
    {"max_stress", "300000", sn_read_number, AT(sn_muscle_desc, max_stress), FROM_TO(0, 1e12)},
    {"optimal", "1", sn_read_number, AT(sn_muscle_desc, optimal), FROM_TO(0.5, 2)},
    {"passive", "1", sn_read_number, AT(sn_muscle_desc, passive), FROM_TO(0, 1e3)},
    {"tendon", "0", sn_read_number, AT(sn_muscle_desc, tendon), FROM_BELOW(0, 0.5)},
    {"stiffness", "3000000", sn_read_number, AT(sn_muscle_desc, stiffness), FROM_TO(0, 1e12)},
    {"law", "\"zajac\"", read_law, .offset = 0},
};
const sn_table sn_muscle_table = {"a muscle {\"mesh\": \"mesh.obj\", \"activation\": 1}",
                                  TABLE(muscle_fields), finish_muscle};

sn_status sn_read_muscles(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                          void* target) {
  SN_TRY(sn_name_muscles(r, json_object_get(owner, field->key)));
  SN_TRY(sn_read_body_references(r, at, owner, field, target));
  return sn_check_names_differ(r, at, SN_NAMES(r->scene->muscles, r->scene->muscle_count));
}
