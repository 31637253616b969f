#include "io/scene_names.h"

#include <stdio.h>
#include <string.h>

#include "io/scene_gltf.h"

// A body's name is the name of its files, on any system.
static bool usable_as_file_name(const char* name) {
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
  if (json_is_string(value) && !usable_as_file_name(json_string_value(value))) {
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

// The file's name without folder and ending, where that can name files.
static void stem_of(const char* path, char* stem, size_t size) {
  size_t length = sn_gltf_name_length(path);
  if (length == 0) length = strlen(path);
  size_t start = length;
  while (start > 0 && path[start - 1] != '/') --start;
  snprintf(stem, size, "%.*s", (int)(length - start), path + start);
  char* dot = strrchr(stem, '.');
  if (dot && dot != stem) *dot = 0;
  json_t* text = json_string(stem);  // NULL if cut within a character
  if (!text || !usable_as_file_name(stem)) snprintf(stem, size, "body");
  json_decref(text);
}

// Give the bodies without a name one, before they are read: explicit names, also later ones, go
// first. Entries too wrong to have a name are left to the reader.
sn_status sn_name_bodies(sn_reader* r, json_t* list) {
  size_t index;
  json_t* body;
  json_array_foreach(list, index, body) {
    const char* surface = json_string_value(json_object_get(body, "surface"));
    if (!surface || json_object_get(body, "name")) continue;
    char stem[80], name[100];
    stem_of(surface, stem, sizeof stem);
    snprintf(name, sizeof name, "%s", stem);
    for (int k = 2; name_is_taken(list, name); ++k) snprintf(name, sizeof name, "%s%d", stem, k);
    SN_TRY(sn_read_replace(r, body, "name", json_string(name)));
  }
  return SN_OK;
}

sn_status sn_name_bones(sn_reader* r, json_t* list) {
  size_t index, number = 0;
  json_t* bone;
  json_array_foreach(list, index, bone) {
    if (!json_is_object(bone) || json_object_get(bone, "name")) continue;
    char name[32];
    number = number > index ? number : index;
    do {
      snprintf(name, sizeof name, "bone%zu", ++number);
    } while (name_is_taken(list, name));
    SN_TRY(sn_read_replace(r, bone, "name", json_string(name)));
  }
  return SN_OK;
}

sn_status sn_check_names_differ(sn_reader* r, const sn_place* list_at, sn_names names) {
  for (size_t i = 1; i < names.count; ++i) {
    const char* name;
    memcpy(&name, (const char*)names.first + i * names.stride, sizeof name);
    ptrdiff_t first = sn_name_find(names, name);
    if ((size_t)first == i) continue;
    sn_place at = sn_place_index(list_at, i), key_at = sn_place_key(&at, "name");
    return sn_read_fail(r, &key_at,
                        "found \"%.60s\", which %s[%td] has too, expected a name of its own", name,
                        list_at->key, first);
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
