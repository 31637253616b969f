#include "io/scene_names.h"

#include <stdio.h>
#include <string.h>

#include "io/character.h"
#include "io/scene_memory.h"

bool sn_usable_as_file_name(const char* name) {
  size_t length = strlen(name);
  if (length == 0 || length > 100 || name[0] == '.' || name[length - 1] == '.') return false;
  if (name[0] == ' ' || name[length - 1] == ' ') return false;
  for (size_t i = 0; i < length; ++i) {
    unsigned char c = (unsigned char)name[i];
    if (c < 0x20 || c == 0x7F || strchr("/\\:*?\"<>|", c)) return false;
  }
  return true;
}

sn_status sn_read_body_name(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  const json_t* value = json_object_get(owner, field->key);
  if (json_is_string(value) && !sn_usable_as_file_name(json_string_value(value))) {
    return sn_read_mismatch(r, at, value,
                            "a name for files: 1 to 100 bytes, none of / \\ : * ? \" < > |, no dot "
                            "or space at its ends");
  }
  return sn_read_string(r, at, owner, field, target);
}

static bool name_is_taken(const json_t* list, const char* name) {
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const char* other = json_string_value(json_object_get(json_array_get(list, i), "name"));
    if (other && strcmp(other, name) == 0) return true;
  }
  return false;
}

// The file's name without folder and ending, or `otherwise` where that cannot name files.
static void stem_of(const char* path, const char* otherwise, char* stem, size_t size) {
  if (sn_memory_name(path)) path = sn_memory_name(path);
  size_t length = sn_character_name_length(path);
  if (length == 0) length = strlen(path);
  size_t start = length;
  while (start > 0 && path[start - 1] != '/') --start;
  snprintf(stem, size, "%.*s", (int)(length - start), path + start);
  char* dot = strrchr(stem, '.');
  if (dot && dot != stem) *dot = 0;
  json_t* text = json_string(stem);  // NULL if cut within a character
  if (!text || !sn_usable_as_file_name(stem)) snprintf(stem, size, "%s", otherwise);
  json_decref(text);
}

// Names in use, as the keys of an object; the value of each is the last number tried behind it.
static sn_status add_taken(sn_reader* r, json_t* taken, const json_t* list) {
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const char* name = json_string_value(json_object_get(json_array_get(list, i), "name"));
    if (name) SN_TRY(sn_read_replace(r, taken, name, json_integer(1)));
  }
  return SN_OK;
}

// Name `item` after `stem`, with a number from 2 on where that is in use.
static sn_status name_after(sn_reader* r, json_t* item, const char* stem, json_t* taken) {
  char name[100];
  snprintf(name, sizeof name, "%s", stem);
  json_int_t number = json_integer_value(json_object_get(taken, stem));
  while (json_object_get(taken, name)) {
    snprintf(name, sizeof name, "%s%" JSON_INTEGER_FORMAT, stem, ++number);
  }
  SN_TRY(sn_read_replace(r, taken, name, json_integer(1)));
  if (number > 0) SN_TRY(sn_read_replace(r, taken, stem, json_integer(number)));
  return sn_read_replace(r, item, "name", json_string(name));
}

// After the file at `key`, or `otherwise` where that cannot name files.
static sn_status name_by_files(sn_reader* r, json_t* list, const char* key, const char* otherwise,
                               json_t* taken) {
  SN_TRY(add_taken(r, taken, list));
  size_t index;
  json_t* item;
  json_array_foreach(list, index, item) {
    const char* file = json_string_value(json_object_get(item, key));
    if (!file || json_object_get(item, "name")) continue;
    char stem[80];
    stem_of(file, otherwise, stem, sizeof stem);
    SN_TRY(name_after(r, item, stem, taken));
  }
  return SN_OK;
}

static sn_status name_list(sn_reader* r, json_t* list, const char* key, const char* otherwise) {
  json_t* taken = json_object();
  sn_status status =
      taken ? name_by_files(r, list, key, otherwise, taken) : sn_fail_memory(r->err, sizeof taken);
  json_decref(taken);
  return status;
}

sn_status sn_name_bodies(sn_reader* r, json_t* list) {
  return name_list(r, list, "surface", "body");
}

sn_status sn_name_muscles(sn_reader* r, json_t* list) {
  return name_list(r, list, "mesh", "muscle");
}

sn_status sn_name_by_number(sn_reader* r, json_t* list, const char* stem) {
  size_t index, number = 0;
  json_t* item;
  json_array_foreach(list, index, item) {
    if (!json_is_object(item) || json_object_get(item, "name")) continue;
    char name[48];
    number = number > index ? number : index;
    do {
      snprintf(name, sizeof name, "%.16s%zu", stem, ++number);
    } while (name_is_taken(list, name));
    SN_TRY(sn_read_replace(r, item, "name", json_string(name)));
  }
  return SN_OK;
}

static sn_status name_colliders(sn_reader* r, json_t* list, const json_t* bodies, json_t* taken) {
  SN_TRY(add_taken(r, taken, bodies));
  SN_TRY(add_taken(r, taken, list));
  size_t index;
  json_t* collider;
  json_array_foreach(list, index, collider) {
    const char* mesh = json_string_value(json_object_get(collider, "mesh"));
    const char* shape = json_string_value(json_object_get(collider, "shape"));
    if ((!mesh && !shape) || json_object_get(collider, "name")) continue;
    char stem[80];
    stem_of(mesh ? mesh : shape, mesh ? "mesh" : "collider", stem, sizeof stem);
    SN_TRY(name_after(r, collider, stem, taken));
  }
  return SN_OK;
}

sn_status sn_name_colliders(sn_reader* r, json_t* list, const json_t* bodies) {
  json_t* taken = json_object();
  sn_status status =
      taken ? name_colliders(r, list, bodies, taken) : sn_fail_memory(r->err, sizeof taken);
  json_decref(taken);
  return status;
}

static const char* name_at(sn_names names, size_t index) {
  const char* name;
  memcpy(&name, (const char*)names.first + index * names.stride, sizeof name);
  return name;
}

// Two things of one name. @param other_key of the list in which the other one is
static sn_status name_twice(sn_reader* r, const sn_place* at, const char* name,
                            const char* other_key, ptrdiff_t other) {
  sn_place key_at = sn_place_key(at, "name");
  return sn_read_fail(r, &key_at,
                      "found \"%.60s\", which %s[%td] has too, expected a name of its own", name,
                      other_key, other);
}

sn_status sn_check_names_differ(sn_reader* r, const sn_place* list_at, sn_names names) {
  for (size_t i = 1; i < names.count; ++i) {
    ptrdiff_t first = sn_name_find(names, name_at(names, i));
    sn_place at = sn_place_index(list_at, i);
    if ((size_t)first != i) return name_twice(r, &at, name_at(names, i), list_at->key, first);
  }
  return SN_OK;
}

sn_status sn_check_no_body_names(sn_reader* r, const sn_place* list_at, sn_names names) {
  for (size_t i = 0; i < names.count; ++i) {
    ptrdiff_t body =
        sn_name_find(SN_NAMES(r->scene->bodies, r->scene->body_count), name_at(names, i));
    sn_place at = sn_place_index(list_at, i);
    if (body >= 0) return name_twice(r, &at, name_at(names, i), "bodies", body);
  }
  return SN_OK;
}

sn_status sn_value_reference(sn_reader* r, const sn_place* at, const json_t* value,
                             const char* expected, sn_names names, uint32_t* index) {
  if (!json_is_string(value)) return sn_read_mismatch(r, at, value, expected);
  ptrdiff_t found = sn_name_find(names, json_string_value(value));
  if (found < 0) return sn_read_unknown_name(r, at, json_string_value(value), expected, names);
  *index = (uint32_t)found;
  return SN_OK;
}

// `body` and `bone` of whatever refers to one: a name in the file, an index in the target.
sn_status sn_read_body_reference(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  return sn_value_reference(r, at, json_object_get(owner, field->key), "the name of a body",
                            SN_NAMES(r->scene->bodies, r->scene->body_count),
                            (uint32_t*)((char*)target + field->offset));
}

sn_status sn_read_bone_reference(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  return sn_value_reference(r, at, json_object_get(owner, field->key), "the name of a bone",
                            SN_NAMES(r->scene->bones, r->scene->bone_count),
                            (uint32_t*)((char*)target + field->offset));
}

// A list whose entries refer to bodies: where there is only one, it need not be said.
sn_status sn_read_body_references(sn_reader* r, const sn_place* at, json_t* owner,
                                  const sn_field* field, void* target) {
  size_t index;
  json_t* item;
  json_array_foreach(json_object_get(owner, field->key), index, item) {
    if (r->scene->body_count != 1 || !json_is_object(item) || json_object_get(item, "body"))
      continue;
    SN_TRY(sn_read_replace(r, item, "body", json_string(r->scene->bodies[0].name)));
  }
  return sn_read_list(r, at, owner, field, target);
}
