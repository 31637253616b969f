#include "io/scene_json.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_load.h"
#include "math/quat.h"

#define PLACE_SIZE 256
#define FOUND_SIZE 96
#define EXPECTED_SIZE 512
#define NAME_LENGTH 64  // longer names are near to nothing

// Text that grows in a buffer of fixed size and is cut where the buffer ends.
typedef struct line {
  char* text;
  size_t size, length;
} line;

static void add(line* to, const char* format, ...) SN_PRINTF(2, 3);
static void add(line* to, const char* format, ...) {
  if (to->length + 1 >= to->size) return;
  va_list args;
  va_start(args, format);
  int written = vsnprintf(to->text + to->length, to->size - to->length, format, args);
  va_end(args);
  if (written > 0) to->length += (size_t)written;
  if (to->length >= to->size) to->length = to->size - 1;
}

static line line_in(char* text, size_t size) {
  text[0] = 0;
  return (line){text, size, 0};
}

// "bodies[0].material.young", or "bodies[].material.young" without indices.
static void add_place(line* to, const sn_place* at, bool with_indices) {
  if (!at) return;
  add_place(to, at->parent, with_indices);
  if (at->key) {
    add(to, "%s%s", to->length > 0 ? "." : "", at->key);
  } else if (with_indices) {
    add(to, "[%zu]", at->index);
  } else {
    add(to, "[]");
  }
}

// In quotes, escaped as in JSON, cut at about 60 bytes between two characters.
static void add_quoted(line* to, const char* text) {
  add(to, "\"");
  size_t end = strlen(text), shown = end;
  if (shown > 60) {
    shown = 60;
    while (shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80) shown--;
  }
  for (size_t i = 0; i < shown; ++i) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') {
      add(to, "\\%c", c);
    } else if (c < 0x20 || c == 0x7F) {
      add(to, "\\u%04x", c);
    } else {
      add(to, "%c", c);
    }
  }
  add(to, shown < end ? "...\"" : "\"");
}

void sn_number_to_text(double number, char text[32]) {
  char digits[32];
  for (int precision = 15; precision <= 17; ++precision) {
    snprintf(digits, sizeof digits, "%.*g", precision, number);
    if (strtod(digits, NULL) == number) break;
  }
  // The decimal point follows the locale of the program; JSON's does not.
  char* to = text;
  bool real = false;
  for (const char* from = digits; *from; ++from) {
    bool plain = isdigit((unsigned char)*from) || strchr("+-einaf", *from);
    if (plain) {
      *to++ = *from;
    } else if (to == text || to[-1] != '.') {
      *to++ = '.';
    }
    real = real || !(isdigit((unsigned char)*from) || *from == '-');
  }
  snprintf(to, (size_t)(text + 32 - to), "%s", real ? "" : ".0");
}

// A number for a person: without the ".0" that JSON may need.
static void add_number(line* to, double number) {
  char text[32];
  sn_number_to_text(number, text);
  size_t length = strlen(text);
  if (length > 2 && strcmp(text + length - 2, ".0") == 0) text[length - 2] = 0;
  add(to, "%s", text);
}

static void add_found(line* to, const json_t* value) {
  if (!value) {
    add(to, "nothing");
  } else if (json_is_string(value)) {
    add_quoted(to, json_string_value(value));
  } else if (json_is_integer(value)) {
    add(to, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
  } else if (json_is_real(value)) {
    add_number(to, json_real_value(value));
  } else if (json_is_array(value)) {
    size_t count = json_array_size(value);
    add(to, count == 0 ? "an empty list" : "a list of %zu", count);
  } else if (json_is_object(value)) {
    add(to, json_object_size(value) == 0 ? "an empty object" : "an object");
  } else {
    add(to, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
  }
}

// A message is one line, whatever a name holds.
static void replace_controls(char* text, char substitute) {
  for (char* c = text; *c; ++c) {
    if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = substitute;
  }
}

// What a document takes in memory, by its marks: an object, a list, an entry of either, a key. Upper bounds for
// jansson's structures on 64-bit machines, with room for lists that grow.
#define OBJECT_BYTES 240
#define LIST_BYTES 112
#define ENTRY_BYTES 48
#define KEY_BYTES 96
// A document may take this much, and for each byte of the text so much more. A text of nothing but `{},` would
// take eighty times its size; real ones take ten.
#define WEIGHT_FREE ((uint64_t)24 << 20)
#define WEIGHT_A_BYTE 24

static sn_status check_weight(const char* path, const char* bytes, size_t size, sn_error* err) {
  uint64_t weight = 0;
  bool in_string = false;
  for (size_t i = 0; i < size; ++i) {
    char c = bytes[i];
    if (in_string) {
      i += c == '\\';
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    weight += c == '{'   ? OBJECT_BYTES
              : c == '[' ? LIST_BYTES
              : c == ',' ? ENTRY_BYTES
              : c == ':' ? KEY_BYTES
                         : 0;
  }
  SN_CHECK(
      weight <= WEIGHT_FREE + WEIGHT_A_BYTE * (uint64_t)size, err, SN_ERR_INPUT,
      "%s: found a document of %zu bytes that would take %llu in memory, expected fewer objects "
      "with next to nothing in them",
      path, size, (unsigned long long)weight);
  return SN_OK;
}

sn_status sn_json_parse(const char* path, const char* bytes, size_t size, json_t** document,
                        sn_error* err) {
  if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {  // byte order mark
    bytes += 3;
    size -= 3;
  }
  SN_TRY(check_weight(path, bytes, size, err));
  json_error_t problem;
  bool starved;
  *document = sn_json_load(bytes, size, JSON_REJECT_DUPLICATES, &problem, &starved);
  if (*document) return SN_OK;
  if (starved) return sn_fail_memory(err, size);
  replace_controls(problem.text, ' ');
  return sn_fail(err, SN_ERR_INPUT, "%s:%d:%d: %s", path, problem.line, problem.column,
                 problem.text);
}

sn_status sn_read_fail(sn_reader* r, const sn_place* at, const char* format, ...) {
  char place[PLACE_SIZE], message[1024];
  line to = line_in(place, sizeof place);
  add_place(&to, at, true);
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  replace_controls(place, '?');
  replace_controls(message, '?');
  return sn_fail(r->err, SN_ERR_INPUT, "%s: %s%s%s", r->file, place, place[0] ? ": " : "", message);
}

sn_status sn_read_pass_on(sn_reader* r, const sn_place* at, const sn_error* cause) {
  sn_read_fail(r, at, "%s", cause->text);
  if (r->err) r->err->status = cause->status;
  return cause->status;
}

sn_status sn_read_mismatch(sn_reader* r, const sn_place* at, const json_t* value,
                           const char* expected) {
  char found[FOUND_SIZE];
  line to = line_in(found, sizeof found);
  add_found(&to, value);
  return sn_read_fail(r, at, "found %s, expected %s", found, expected);
}

// Names

static const char* name_at(sn_names names, size_t index) {
  const char* name;
  memcpy(&name, (const char*)names.first + index * names.stride, sizeof name);
  return name;
}

ptrdiff_t sn_name_find(sn_names names, const char* name) {
  for (size_t i = 0; i < names.count; ++i) {
    const char* other = name_at(names, i);
    if (other && strcmp(other, name) == 0) return (ptrdiff_t)i;
  }
  return -1;
}

// Letters to insert, delete or replace to turn `a` into `b`, upper and lower case alike.
static size_t edit_distance(const char* a, const char* b) {
  size_t row[NAME_LENGTH + 1];
  size_t length = strlen(b);
  for (size_t j = 0; j <= length; ++j) row[j] = j;
  for (size_t i = 1; a[i - 1]; ++i) {
    size_t diagonal = row[0];  // of the row above
    row[0] = i;
    for (size_t j = 1; j <= length; ++j) {
      bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
      size_t best = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[length];
}

const char* sn_name_nearest(sn_names names, const char* found) {
  size_t length = strlen(found);
  if (length > NAME_LENGTH) return NULL;
  const char* nearest = NULL;
  size_t least = (length + 1) / 3 + 1;  // about a third of the letters may be wrong
  for (size_t i = 0; i < names.count; ++i) {
    const char* name = name_at(names, i);
    if (!name || strlen(name) > NAME_LENGTH) continue;
    size_t distance = edit_distance(found, name);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

// "a", "b" or "c"
static void add_names(line* to, sn_names names) {
  for (size_t i = 0; i < names.count; ++i) {
    add(to, i == 0 ? "" : i + 1 < names.count ? ", " : " or ");
    if (to->length + NAME_LENGTH + 16 > to->size) {
      add(to, "... (%zu in all)", names.count);
      return;
    }
    add_quoted(to, name_at(names, i));
  }
}

sn_status sn_read_unknown_name(sn_reader* r, const sn_place* at, const char* found,
                               const char* expected, sn_names names) {
  char quoted[FOUND_SIZE], hint[EXPECTED_SIZE];
  line to = line_in(quoted, sizeof quoted);
  add_quoted(&to, found);
  to = line_in(hint, sizeof hint);
  const char* nearest = sn_name_nearest(names, found);
  if (nearest) {
    add(&to, "; did you mean ");
    add_quoted(&to, nearest);
    add(&to, "?");
  } else if (names.count > 0) {
    add(&to, ": ");
    add_names(&to, names);
  }
  return sn_read_fail(r, at, "found %s, expected %s%s", quoted, expected, hint);
}

static bool place_matches(const char* place, const char* pattern) {
  if (pattern[0] != '*') return strcmp(place, pattern) == 0;
  size_t tail = strlen(pattern + 1), length = strlen(place);
  return length >= tail && strcmp(place + length - tail, pattern + 1) == 0;
}

sn_status sn_read_check_absent(sn_reader* r, const sn_place* at, const char* value,
                               bool is_default) {
  char place[PLACE_SIZE], quoted[FOUND_SIZE];
  line to = line_in(place, sizeof place);
  add_place(&to, at, false);
  for (size_t i = 0; i < r->absence_count; ++i) {
    const sn_absence* row = &r->absences[i];
    bool same = value && row->value ? strcmp(value, row->value) == 0 : value == row->value;
    if (!same || !place_matches(place, row->place)) continue;
    to = line_in(quoted, sizeof quoted);
    if (value && value[0] == '{') {
      add(&to, "%s is ", value);
    } else if (value) {
      add_quoted(&to, value);
      add(&to, is_default ? " (the default) is " : " is ");
    }
    return sn_read_fail(r, at, "%snot in this version of Sinew (%s); %s", quoted, SN_VERSION_STRING,
                        row->remedy);
  }
  return SN_OK;
}

// Values

static void describe_range(line* to, const char* noun, sn_range range, bool show_lo, bool show_hi) {
  add(to, "%s", noun);
  if (show_lo) {
    add(to, range.above ? " above " : show_hi ? " from " : " of ");
    add_number(to, range.lo);
    if (!range.above && !show_hi) add(to, " or more");
  }
  if (show_hi) {
    const char* from_to = range.below ? " to below " : " to ";
    const char* bound = range.below ? " below " : " of at most ";
    const char* both = range.below ? " and below " : " and at most ";
    add(to, "%s", !show_lo ? bound : range.above ? both : from_to);
    add_number(to, range.hi);
  }
}

// Bounds that only keep absurd numbers out are told to those who pass them.
static sn_status out_of_range(sn_reader* r, const sn_place* at, const json_t* value,
                              const char* noun, sn_range range) {
  const double far = 1e6;
  double number = json_is_number(value) ? json_number_value(value) : 0.5 * (range.lo + range.hi);
  char expected[EXPECTED_SIZE];
  line to = line_in(expected, sizeof expected);
  if (range.lo == range.hi) {
    add_number(&to, range.lo);
  } else {
    describe_range(&to, noun, range, range.lo > -far || number <= range.lo,
                   range.hi < far || number >= range.hi);
  }
  if (range.above && number > range.lo && number < range.lo + SN_TINY) {
    add(&to, ", not as near to it");
  }
  return sn_read_mismatch(r, at, value, expected);
}

static bool in_range(double x, sn_range range) {
  return (range.above ? x >= range.lo + SN_TINY && x > range.lo : x >= range.lo) &&
         (range.below ? x < range.hi : x <= range.hi);
}

sn_status sn_value_number(sn_reader* r, const sn_place* at, const json_t* value, sn_range range,
                          double* number) {
  *number = json_number_value(value);
  if (!json_is_number(value) || !isfinite(*number) || !in_range(*number, range)) {
    return out_of_range(r, at, value, "a number", range);
  }
  return SN_OK;
}

sn_status sn_value_integer(sn_reader* r, const sn_place* at, const json_t* value, sn_range range,
                           int64_t* number) {
  const int64_t exact = (int64_t)1 << 53;  // doubles count without gaps up to here
  double real = json_number_value(value);
  bool whole = json_is_number(value) && fabs(real) <= (double)exact && real == floor(real);
  *number = json_is_integer(value) ? (int64_t)json_integer_value(value) : whole ? (int64_t)real : 0;
  if (!whole || !in_range(real, range) || *number > exact || *number < -exact) {
    return out_of_range(r, at, value, "a whole number", range);
  }
  return SN_OK;
}

static sn_status read_components(sn_reader* r, const sn_place* at, const json_t* value,
                                 size_t count, const char* expected, double* components) {
  if (!json_is_array(value) || json_array_size(value) != count) {
    return sn_read_mismatch(r, at, value, expected);
  }
  const sn_range range = {.lo = -SN_COORDINATE_MAX, .hi = SN_COORDINATE_MAX};
  for (size_t i = 0; i < count; ++i) {
    sn_place here = sn_place_index(at, i);
    SN_TRY(sn_value_number(r, &here, json_array_get(value, i), range, &components[i]));
  }
  return SN_OK;
}

sn_status sn_value_vector(sn_reader* r, const sn_place* at, const json_t* value, sn_vec3* vector) {
  double c[3];
  SN_TRY(read_components(r, at, value, 3, "a vector [x, y, z]", c));
  *vector = (sn_vec3){c[0], c[1], c[2]};
  return SN_OK;
}

sn_status sn_value_string(sn_reader* r, const sn_place* at, const json_t* value,
                          const char* expected, const char** text) {
  if (!json_is_string(value) || json_string_length(value) == 0) {
    return sn_read_mismatch(r, at, value, expected);
  }
  *text = json_string_value(value);
  return SN_OK;
}

// Objects

sn_status sn_read_replace(sn_reader* r, json_t* object, const char* key, json_t* value) {
  return json_object_set_new(object, key, value) == 0 ? SN_OK : sn_fail_memory(r->err, strlen(key));
}

static sn_status unknown_key(sn_reader* r, const sn_place* at, const char* key,
                             const sn_table* table) {
  sn_place here = sn_place_key(at, key);
  SN_TRY(sn_read_check_absent(r, &here, NULL, false));
  char place[PLACE_SIZE], hint[EXPECTED_SIZE];
  line to = line_in(place, sizeof place);
  add_quoted(&to, key);
  sn_names names = {table->fields, sizeof *table->fields, table->field_count};
  const char* nearest = sn_name_nearest(names, key);
  to = line_in(hint, sizeof hint);
  if (nearest) {
    add(&to, "did you mean \"%s\"?", nearest);
  } else {
    add(&to, "expected ");
    add_names(&to, names);
  }
  return sn_read_fail(r, at, "unknown key %s, %s", place, hint);
}

static sn_status check_keys(sn_reader* r, const sn_place* at, json_t* object,
                            const sn_table* table) {
  sn_names names = {table->fields, sizeof *table->fields, table->field_count};
  const char* key;
  json_t* value;
  json_object_foreach(object, key, value) {
    if (sn_name_find(names, key) < 0) return unknown_key(r, at, key, table);
  }
  return SN_OK;
}

// The value of a default. Objects are filled in place, each its own way; everything else is never changed, only
// replaced, so that a hundred thousand keyframes need not have as many lists of three zeros.
static json_t* take_preset(sn_reader* r, const char* preset) {
  json_t* value = preset[0] == '{' ? NULL : json_object_get(r->presets, preset);
  if (value) return json_incref(value);
  value = json_loads(preset, JSON_DECODE_ANY, NULL);
  if (value && r->presets && preset[0] != '{' && json_object_set(r->presets, preset, value) != 0) {
    json_decref(value);
    value = NULL;
  }
  return value;
}

// Defaults in, keys in the order of the table.
static sn_status complete(sn_reader* r, json_t* object, const sn_table* table) {
  json_t* ordered = json_object();
  bool ok = ordered != NULL;
  for (size_t i = 0; i < table->field_count && ok; ++i) {
    const sn_field* field = &table->fields[i];
    json_t* value = json_object_get(object, field->key);
    if (value) {
      ok = json_object_set(ordered, field->key, value) == 0;
    } else if (field->preset && !field->optional) {
      ok = json_object_set_new(ordered, field->key, take_preset(r, field->preset)) == 0;
    }
  }
  ok = ok && json_object_clear(object) == 0 && json_object_update(object, ordered) == 0;
  json_decref(ordered);
  return ok ? SN_OK : sn_fail_memory(r->err, sizeof *table->fields * table->field_count);
}

sn_status sn_value_object(sn_reader* r, const sn_place* at, json_t* object, const sn_table* table,
                          void* target) {
  if (!json_is_object(object)) return sn_read_mismatch(r, at, object, table->what);
  SN_TRY(check_keys(r, at, object, table));
  SN_TRY(complete(r, object, table));
  for (size_t i = 0; i < table->field_count; ++i) {
    const sn_field* field = &table->fields[i];
    if (field->optional && !json_object_get(object, field->key)) continue;
    sn_place here = sn_place_key(at, field->key);
    SN_TRY(field->read(r, &here, object, field, target));
  }
  return table->finish ? table->finish(r, at, object, target) : SN_OK;
}

sn_status sn_read_missing(sn_reader* r, const sn_place* at, json_t* object, const sn_table* table,
                          const char* key, void* target) {
  sn_names names = {table->fields, sizeof *table->fields, table->field_count};
  const sn_field* field = &table->fields[sn_name_find(names, key)];
  sn_place here = sn_place_key(at, key);
  if (!json_object_get(object, key) && field->preset) {
    json_t* preset = json_loads(field->preset, JSON_DECODE_ANY, NULL);
    SN_TRY(sn_read_replace(r, object, key, preset));
  }
  return field->read(r, &here, object, field, target);
}

// Fields

static void* target_of(const sn_field* field, void* target) {
  return (char*)target + field->offset;
}

sn_status sn_read_number(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  return sn_value_number(r, at, json_object_get(owner, field->key), field->range,
                         target_of(field, target));
}

sn_status sn_read_length(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  double* length = target_of(field, target);
  SN_TRY(sn_read_number(r, at, owner, field, target));
  *length *= r->scene->unit;
  return SN_OK;
}

sn_status sn_read_number_or_null(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  if (json_is_null(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_number(r, at, owner, field, target);
}

sn_status sn_read_length_or_null(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  if (json_is_null(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_length(r, at, owner, field, target);
}

sn_status sn_read_integer(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                          void* target) {
  int64_t number = 0;
  SN_TRY(sn_value_integer(r, at, json_object_get(owner, field->key), field->range, &number));
  if (field->offset != SN_NO_TARGET) *(int*)target_of(field, target) = (int)number;
  return SN_OK;
}

sn_status sn_read_bool(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                       void* target) {
  const json_t* value = json_object_get(owner, field->key);
  if (!json_is_boolean(value)) return sn_read_mismatch(r, at, value, "true or false");
  *(bool*)target_of(field, target) = json_is_true(value);
  return SN_OK;
}

static sn_status find_choice(sn_reader* r, const sn_place* at, const json_t* value,
                             const sn_field* field, size_t* index) {
  sn_names names = {field->choices, sizeof *field->choices, field->choice_count};
  char expected[EXPECTED_SIZE];
  line to = line_in(expected, sizeof expected);
  add_names(&to, names);
  const char* text = NULL;
  SN_TRY(sn_value_string(r, at, value, expected, &text));
  char preset[NAME_LENGTH];
  snprintf(preset, sizeof preset, "\"%s\"", text);
  SN_TRY(sn_read_check_absent(r, at, text, field->preset && strcmp(preset, field->preset) == 0));
  ptrdiff_t found = sn_name_find(names, text);
  if (found < 0) {
    const char* nearest = sn_name_nearest(names, text);
    if (nearest) add(&to, "; did you mean \"%s\"?", nearest);
    return sn_read_mismatch(r, at, value, expected);
  }
  *index = (size_t)found;
  return SN_OK;
}

sn_status sn_read_choice(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  size_t index = 0;
  SN_TRY(find_choice(r, at, json_object_get(owner, field->key), field, &index));
  int chosen = field->choices[index].value;
  if (field->offset != SN_NO_TARGET) memcpy(target_of(field, target), &chosen, sizeof chosen);
  return SN_OK;
}

static sn_status check_choices(sn_reader* r, const sn_place* at, const json_t* list,
                               const sn_field* field, const char* expected) {
  uint64_t seen = 0;
  for (size_t i = 0; i < json_array_size(list); ++i) {
    sn_place here = sn_place_index(at, i);
    const json_t* value = json_array_get(list, i);
    if (json_is_string(value)) {
      SN_TRY(sn_read_check_absent(r, &here, json_string_value(value), false));
    }
    if (field->choice_count == 0) return sn_read_mismatch(r, at, list, expected);
    size_t index = 0;
    SN_TRY(find_choice(r, &here, value, field, &index));
    if (seen & (uint64_t)1 << index) return sn_read_mismatch(r, at, list, expected);
    seen |= (uint64_t)1 << index;
  }
  return SN_OK;
}

sn_status sn_read_choice_list(sn_reader* r, const sn_place* at, json_t* owner,
                              const sn_field* field, void* target) {
  (void)target;
  const json_t* list = json_object_get(owner, field->key);
  char expected[EXPECTED_SIZE];
  line to = line_in(expected, sizeof expected);
  add(&to, field->choice_count > 0 ? "a list of " : "an empty list");
  add_names(&to, (sn_names){field->choices, sizeof *field->choices, field->choice_count});
  if (field->choice_count > 0) add(&to, ", each at most once");
  if (!json_is_array(list) || json_array_size(list) < (size_t)field->range.lo) {
    return sn_read_mismatch(r, at, list, expected);
  }
  return check_choices(r, at, list, field, expected);
}

sn_status sn_read_string(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  const char* text = NULL;
  SN_TRY(sn_value_string(r, at, json_object_get(owner, field->key), field->expected, &text));
  char* copy = sn_arena_copy_string(r->scene->storage, text);
  if (!copy) return sn_fail_memory(r->err, strlen(text));
  memcpy(target_of(field, target), &copy, sizeof copy);
  return SN_OK;
}

sn_status sn_read_length_vector(sn_reader* r, const sn_place* at, json_t* owner,
                                const sn_field* field, void* target) {
  sn_vec3* vector = target_of(field, target);
  SN_TRY(sn_value_vector(r, at, json_object_get(owner, field->key), vector));
  *vector = sn_scale(r->scene->unit, *vector);
  return SN_OK;
}

sn_status sn_read_quat(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                       void* target) {
  const char* expected = "a rotation [x, y, z, w]";
  const json_t* value = json_object_get(owner, field->key);
  double c[4];
  SN_TRY(read_components(r, at, value, 4, expected, c));
  sn_quat q = {c[0], c[1], c[2], c[3]};
  if (!(sn_quat_length(q) > 1e-6)) {
    return sn_read_fail(r, at, "found a length of 0, expected %s; at rest it is [0, 0, 0, 1]",
                        expected);
  }
  *(sn_quat*)target_of(field, target) = sn_quat_normalise(q);
  return SN_OK;
}

sn_status sn_read_object(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  return sn_value_object(r, at, json_object_get(owner, field->key), field->table,
                         target_of(field, target));
}

sn_status sn_read_list(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                       void* target) {
  json_t* list = json_object_get(owner, field->key);
  size_t count = json_array_size(list);
  size_t least = (size_t)field->range.lo;
  size_t most = field->range.hi > 0 ? (size_t)field->range.hi : UINT32_MAX - 1;
  if (!json_is_array(list) || count < least || count > most) {
    char expected[EXPECTED_SIZE];
    line to = line_in(expected, sizeof expected);
    add(&to, "a list");
    if (least > 0) add(&to, " of %zu or more", least);
    if (count > most) add(&to, " of at most %zu", most);
    add(&to, ", each %s", field->table->what);
    return sn_read_mismatch(r, at, list, expected);
  }
  if (count == 0) return SN_OK;
  void* items;
  SN_TRY(sn_arena_take(r->scene->storage, count, field->item_size, &items, r->err));
  uint32_t count32 = (uint32_t)count;
  memcpy(target_of(field, target), &items, sizeof items);
  memcpy((char*)target + field->count_offset, &count32, sizeof count32);
  for (size_t i = 0; i < count; ++i) {
    sn_place here = sn_place_index(at, i);
    SN_TRY(sn_value_object(r, &here, json_array_get(list, i), field->table,
                           (char*)items + i * field->item_size));
  }
  return SN_OK;
}
