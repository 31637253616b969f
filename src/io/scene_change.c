#include "io/scene_change.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/json_load.h"

#define MAX_DEPTH 16  // the format's own is half of that
#define PART_SIZE 128

// One step of a path. Digits are an index where the container is a list.
typedef struct part {
  char text[PART_SIZE];
  bool is_index;
} part;

typedef struct parsed_path {
  part parts[MAX_DEPTH];
  int count;
} parsed_path;

static sn_status wrong_path(const char* change, const char* what, sn_error* err) {
  return sn_fail(err, SN_ERR_USAGE,
                 "--set %.200s: %s, expected path=value such as bodies.0.material.young=2e4",
                 change, what);
}

// "a.0.b" and "a[0].b" alike; `from` is moved behind the part.
static bool parse_part(const char** from, part* to) {
  bool bracket = **from == '[';
  const char* begin = *from + (bracket ? 1 : 0);
  size_t length = strcspn(begin, bracket ? "]=" : ".[=");
  if (length == 0 || length >= PART_SIZE) return false;
  memcpy(to->text, begin, length);
  to->text[length] = 0;
  to->is_index = strspn(to->text, "0123456789") == length;
  const char* end = begin + length;
  if (bracket) {
    if (*end != ']' || !to->is_index) return false;
    end++;
  }
  if (*end == '.') {
    end++;
    if (*end == '=' || *end == '[') return false;
  }
  *from = end;
  return true;
}

static sn_status parse_path(const char* change, parsed_path* path, const char** value,
                            sn_error* err) {
  if (!strchr(change, '=')) return wrong_path(change, "no '='", err);
  path->count = 0;
  const char* from = change;
  while (*from != '=') {
    if (path->count == MAX_DEPTH) return wrong_path(change, "a path of too many parts", err);
    if (!parse_part(&from, &path->parts[path->count])) {
      return wrong_path(change, "a path with an empty, overlong or unfinished part", err);
    }
    path->count++;
  }
  if (path->count == 0) return wrong_path(change, "no path before '='", err);
  *value = from + 1;
  return SN_OK;
}

static sn_status list_index(const char* change, const json_t* list, const part* step, size_t* index,
                            sn_error* err) {
  size_t count = json_array_size(list);
  *index = step->is_index ? (size_t)strtoull(step->text, NULL, 10) : SIZE_MAX;
  if (*index < count) return SN_OK;
  if (count == 0) return sn_fail(err, SN_ERR_USAGE, "--set %.200s: the list is empty", change);
  return sn_fail(err, SN_ERR_USAGE, "--set %.200s: found entry \"%s\" of a list, expected 0 to %zu",
                 change, step->text, count - 1);
}

// The value that `step` leads to from `*at`, made where it is a missing object.
static sn_status descend(const char* change, json_t** at, const part* step, const part* next,
                         sn_error* err) {
  if (json_is_array(*at)) {
    size_t index = 0;
    SN_TRY(list_index(change, *at, step, &index, err));
    *at = json_array_get(*at, index);
    return SN_OK;
  }
  if (!json_is_object(*at)) {
    return sn_fail(err, SN_ERR_USAGE,
                   "--set %.200s: what holds \"%s\" is neither object nor list; set it as a whole",
                   change, step->text);
  }
  json_t* value = json_object_get(*at, step->text);
  if (!value || json_is_null(value)) {
    if (next->is_index) {
      return sn_fail(
          err, SN_ERR_USAGE,
          "--set %.200s: the scene has no list \"%s\" with an entry %s; set it as a whole", change,
          step->text, next->text);
    }
    value = json_object();
    if (json_object_set_new(*at, step->text, value) != 0) {
      return sn_fail(err, SN_ERR_USAGE, "--set %.200s: \"%s\" is not UTF-8", change, step->text);
    }
  }
  *at = value;
  return SN_OK;
}

static sn_status put(const char* change, json_t* at, const part* last, json_t* value,
                     sn_error* err) {
  if (json_is_array(at)) {
    size_t index = 0;
    sn_status status = list_index(change, at, last, &index, err);
    if (status == SN_OK) {
      json_array_set(at, index, value);
    }
    return status;
  }
  if (!json_is_object(at)) {
    return sn_fail(err, SN_ERR_USAGE,
                   "--set %.200s: what holds \"%s\" is neither object nor list; set it as a whole",
                   change, last->text);
  }
  if (json_object_set(at, last->text, value) != 0) {
    return sn_fail(err, SN_ERR_USAGE, "--set %.200s: \"%s\" is not UTF-8", change, last->text);
  }
  return SN_OK;
}

sn_status sn_scene_apply_change(json_t* document, const char* path_and_value, sn_error* err) {
  parsed_path path;
  const char* text = "";
  if (!path_and_value) return wrong_path("", "nothing", err);
  SN_TRY(parse_path(path_and_value, &path, &text, err));
  json_t* at = document;
  for (int i = 0; i + 1 < path.count; ++i) {
    SN_TRY(descend(path_and_value, &at, &path.parts[i], &path.parts[i + 1], err));
  }
  json_error_t problem;
  bool starved;
  json_t* value = sn_json_load(text, strlen(text), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES,
                               &problem, &starved);
  if (starved) return sn_fail_memory(err, strlen(text));
  if (!value) value = json_string(text);
  if (!value) {
    return sn_fail(err, SN_ERR_USAGE, "--set %.200s: the value is not UTF-8", path_and_value);
  }
  sn_status status = put(path_and_value, at, &path.parts[path.count - 1], value, err);
  json_decref(value);
  return status;
}
