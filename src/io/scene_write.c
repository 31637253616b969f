// The resolved scene is kept as the text of the document that was read, defaults filled in, in the
// file's own unit: dividing metres by the unit again would not give the same bits back.
#include "io/scene_write.h"

#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/scene_json.h"

// Text that grows; once memory runs out nothing more is added.
typedef struct text {
  char* bytes;
  size_t length, capacity;
  bool full;
} text;

static void add(text* to, const char* bytes, size_t count) {
  if (to->full) return;
  if (to->length + count + 1 > to->capacity) {
    size_t capacity = 2 * (to->capacity + count) + 1024;
    char* larger = sn_allocate(capacity);
    if (!larger) {
      to->full = true;
      return;
    }
    if (to->length > 0) memcpy(larger, to->bytes, to->length);
    sn_release(to->bytes);
    to->bytes = larger;
    to->capacity = capacity;
  }
  memcpy(to->bytes + to->length, bytes, count);
  to->length += count;
  to->bytes[to->length] = 0;
}

static void add_text(text* to, const char* string) { add(to, string, strlen(string)); }

static void add_string(text* to, const char* string) {
  add_text(to, "\"");
  for (; *string; ++string) {
    unsigned char c = (unsigned char)*string;
    char escape[8];
    if (c == '"' || c == '\\') {
      snprintf(escape, sizeof escape, "\\%c", c);
    } else if (c < 0x20) {
      snprintf(escape, sizeof escape, "\\u%04x", c);
    } else {
      snprintf(escape, sizeof escape, "%c", c);
    }
    add_text(to, escape);
  }
  add_text(to, "\"");
}

static void add_scalar(text* to, const json_t* value) {
  char number[32];
  switch (json_typeof(value)) {
    case JSON_STRING:
      add_string(to, json_string_value(value));
      break;
    case JSON_INTEGER:
      snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
      add_text(to, number);
      break;
    case JSON_REAL:
      sn_number_to_text(json_real_value(value), number);
      add_text(to, number);
      break;
    default:
      add_text(to, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
  }
}

static bool is_scalar(const json_t* value) {
  return !json_is_array(value) && !json_is_object(value);
}

// A value or a list of lists of values: a vector, a box.
static bool is_flat(const json_t* value) {
  if (is_scalar(value)) return true;
  if (!json_is_array(value)) return false;
  for (size_t i = 0; i < json_array_size(value); ++i) {
    if (!is_flat(json_array_get(value, i))) return false;
  }
  return true;
}

// Flat lists, and objects of flat values: a keyframe, a capsule.
static bool fits_line(const json_t* value) {
  if (!json_is_object(value)) return is_flat(value);
  const char* key;
  json_t* item;
  json_object_foreach((json_t*)value, key, item) {
    if (!is_flat(item)) return false;
  }
  return true;
}

static void add_break(text* to, int depth) {
  add_text(to, "\n");
  for (int i = 0; i < depth; ++i) add_text(to, "  ");
}

static void add_value(text* to, const json_t* value, int depth);

// What stands before the item of a list or object.
static void begin_item(text* to, bool first, bool one_line, int depth) {
  if (!first) add_text(to, one_line ? ", " : ",");
  if (!one_line) add_break(to, depth + 1);
}

static void add_list(text* to, const json_t* list, int depth) {
  bool one_line = fits_line(list);
  add_text(to, "[");
  for (size_t i = 0; i < json_array_size(list); ++i) {
    begin_item(to, i == 0, one_line, depth);
    add_value(to, json_array_get(list, i), depth + 1);
  }
  if (!one_line) add_break(to, depth);
  add_text(to, "]");
}

static void add_object(text* to, const json_t* object, int depth) {
  bool one_line = fits_line(object), first = true;
  const char* key;
  json_t* item;
  add_text(to, "{");
  json_object_foreach((json_t*)object, key, item) {
    begin_item(to, first, one_line, depth);
    first = false;
    add_string(to, key);
    add_text(to, ": ");
    add_value(to, item, depth + 1);
  }
  if (!one_line) add_break(to, depth);
  add_text(to, "}");
}

// The document has been read, so its depth is that of the format.
static void add_value(text* to, const json_t* value, int depth) {
  if (json_is_array(value)) {
    add_list(to, value, depth);
  } else if (json_is_object(value)) {
    add_object(to, value, depth);
  } else {
    add_scalar(to, value);
  }
}

sn_status sn_scene_to_text(const json_t* document, sn_arena* storage, char** text_out,
                           sn_error* err) {
  text to = {0};
  add_value(&to, document, 0);
  add_text(&to, "\n");
  *text_out = to.full ? NULL : sn_arena_copy_string(storage, to.bytes);
  sn_status status = *text_out ? SN_OK : sn_fail_memory(err, to.capacity);
  sn_release(to.bytes);
  return status;
}

sn_status sn_scene_save(const char* path, const sn_scene* scene, sn_error* err) {
  SN_CHECK(scene->resolved, err, SN_ERR_USAGE,
           "%s: only a scene that sn_scene_load has read can be saved", path);
  return sn_file_write_atomic(path, scene->resolved, strlen(scene->resolved), err);
}
