// Reading JSON objects into C structs by tables of keys. A table is the one place for a key's name,
// default, range and target. A missing key is read as though its default had been written, and the
// default is then put into the document: after reading, the document is the scene with nothing left
// out. Every error names the file, the place in the scene, what was found and what was expected.
#ifndef SN_IO_SCENE_JSON_H
#define SN_IO_SCENE_JSON_H

#include <jansson.h>

#include "base/memory.h"
#include "sinew/scene.h"

// Numbers above 0 must be told from it after products with lengths and steps.
#define SN_TINY 1e-30
// Vector components and quaternions beyond this are mistakes, whatever the unit.
#define SN_COORDINATE_MAX 1e9

// Where a value stands: a chain from it up to the root of the document.
typedef struct sn_place {
  const struct sn_place* parent;  // NULL for the root
  const char* key;                // NULL: an entry of a list
  size_t index;
} sn_place;

// What the format has and this version cannot do yet.
typedef struct sn_absence {
  const char* place;   // without list indices; "*.key" for any place that ends so
  const char* value;   // NULL: the key itself
  const char* remedy;  // what to write instead
} sn_absence;

// A scene being read.
typedef struct sn_reader {
  const char* file;    // as the user named it
  const char* folder;  // of the scene file, absolute
  sn_scene* scene;
  const sn_absence* absences;  // (absence_count)
  size_t absence_count;
  const sn_scene_source* source;         // what is in memory; NULL: all is in files
  struct sn_character_file* characters;  // read so far
  struct sn_clip_motion* clip_motions;   // whose keys are to be filled
  json_t*
      presets;  // values of defaults by their text, which many objects share; NULL: each has its own
  sn_error* err;
} sn_reader;

typedef struct sn_choice {
  const char* name;
  int value;
} sn_choice;

typedef struct sn_range {
  double lo, hi;
  bool above, below;  // the end itself is left out
} sn_range;

typedef struct sn_field sn_field;

// The keys that an object may have.
typedef struct sn_table {
  const char* what;  // for messages: "a capsule {...}"
  const sn_field* fields;
  size_t field_count;
  // Rules that span keys, once all are read; may be NULL.
  sn_status (*finish)(sn_reader* r, const sn_place* at, json_t* object, void* target);
} sn_table;

// Reads the value of `owner` at `field->key`, which stands `at`, into `target`.
typedef sn_status (*sn_read_fn)(sn_reader* r, const sn_place* at, json_t* owner,
                                const sn_field* field, void* target);

struct sn_field {
  const char* key;
  const char* preset;  // JSON that a missing key stands for; NULL: required, unless `optional`
  sn_read_fn read;
  size_t offset;             // of the value in the target, of the array for lists; or SN_NO_TARGET
  bool optional;             // may be left out and then stays out; a preset is for sn_read_missing
  sn_range range;            // of a number; of the length of a list, where a `hi` of 0 is no limit
  const sn_choice* choices;  // (choice_count)
  size_t choice_count;
  const char* expected;   // strings: what they are, for messages
  const sn_table* table;  // of an object, or of the entries of a list
  size_t item_size;       // lists: bytes of an entry in the target
  size_t count_offset;    // lists: of the uint32_t count in the target
};

#define SN_NO_TARGET SIZE_MAX  // only checked: integers and choices

// Anything that starts with its name: fields, choices, bodies, bones, groups.
typedef struct sn_names {
  const void* first;
  size_t stride, count;
} sn_names;

#define SN_NAMES(array, item_count) ((sn_names){array, sizeof *(array), item_count})

static inline sn_place sn_place_key(const sn_place* parent, const char* key) {
  return (sn_place){parent, key, 0};
}
static inline sn_place sn_place_index(const sn_place* parent, size_t index) {
  return (sn_place){parent, NULL, index};
}

// Parse a JSON text; an error names line and column. A byte order mark is fine.
sn_status sn_json_parse(const char* path, const char* bytes, size_t size, json_t** document,
                        sn_error* err);

// "FILE: PLACE: message" as SN_ERR_INPUT.
sn_status sn_read_fail(sn_reader* r, const sn_place* at, const char* format, ...) SN_PRINTF(3, 4);
// Pass on why another file, named at this place, could not be read.
sn_status sn_read_pass_on(sn_reader* r, const sn_place* at, const sn_error* cause);
// "found X, expected Y". A `value` of NULL is found as nothing.
sn_status sn_read_mismatch(sn_reader* r, const sn_place* at, const json_t* value,
                           const char* expected);
// The same for a name that is none of `names`, with the nearest one, or all where none is near.
sn_status sn_read_unknown_name(sn_reader* r, const sn_place* at, const char* found,
                               const char* expected, sn_names names);
// Refuse `value` at this place if the format has it and this version does not.
// @param is_default the user need not have written it
sn_status sn_read_check_absent(sn_reader* r, const sn_place* at, const char* value,
                               bool is_default);
// Position in `names`, or -1.
ptrdiff_t sn_name_find(sn_names names, const char* name);
// The name that was probably meant, or NULL where none is near.
const char* sn_name_nearest(sn_names names, const char* found);
// Put `value` (taken over; NULL is out of memory) into `object`.
sn_status sn_read_replace(sn_reader* r, json_t* object, const char* key, json_t* value);

// The shortest decimal that reads back as `number`; a point or exponent keeps it a real.
void sn_number_to_text(double number, char text[32]);

// Values that stand anywhere.
sn_status sn_value_number(sn_reader* r, const sn_place* at, const json_t* value, sn_range range,
                          double* number);
sn_status sn_value_integer(sn_reader* r, const sn_place* at, const json_t* value, sn_range range,
                           int64_t* number);
sn_status sn_value_vector(sn_reader* r, const sn_place* at, const json_t* value, sn_vec3* vector);
sn_status sn_value_string(sn_reader* r, const sn_place* at, const json_t* value,
                          const char* expected, const char** text);
// Read `object`, set defaults in it, and bring its keys into the order of the table.
sn_status sn_value_object(sn_reader* r, const sn_place* at, json_t* object, const sn_table* table,
                          void* target);
// A key that other keys make necessary: read it, or its preset where it is left out.
sn_status sn_read_missing(sn_reader* r, const sn_place* at, json_t* object, const sn_table* table,
                          const char* key, void* target);

// Fields; the target is what their name says.
sn_status sn_read_number(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);  // double
sn_status sn_read_length(sn_reader*, const sn_place*, json_t*, const sn_field*,
                         void*);  // in metres
// Null leaves the target as it is.
sn_status sn_read_length_or_null(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_number_or_null(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_integer(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);  // int
sn_status sn_read_bool(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_choice(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);  // enum
// Only checked: a list of choices, each at most once.
sn_status sn_read_choice_list(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_string(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);  // char*
sn_status sn_read_length_vector(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_quat(sn_reader*, const sn_place*, json_t*, const sn_field*,
                       void*);  // unit length
// An object whose fields go to `target` + offset.
sn_status sn_read_object(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
// A list of objects: array and count in the target.
sn_status sn_read_list(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

#endif
