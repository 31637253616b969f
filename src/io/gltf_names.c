// Names that tell the entries of a list apart, whatever the file says: what comes first keeps its
// name, what comes later under the same one gets a number behind it, what has none is named after
// its index.
#include <stdio.h>
#include <string.h>

#include "io/gltf.h"

// The names that are taken, each with the number to try next behind it. jansson's tables keep the
// search short however many there are.
static sn_status take_name(sn_gltf_reader* r, json_t* taken, const char* name, char** copy) {
  *copy = sn_arena_copy_string(r->gltf->storage, name);
  if (*copy && json_object_set_new(taken, name, json_integer(2)) == 0) return SN_OK;
  return sn_fail_memory(r->json.err, strlen(name));
}

static sn_status take_numbered(sn_gltf_reader* r, json_t* taken, const char* name, char** copy) {
  size_t size = strlen(name) + 24;
  sn_arena_mark mark = sn_arena_get_mark(r->scratch);
  char* numbered;
  SN_TRY(SN_ARENA_NEW(r->scratch, size, &numbered, r->json.err));
  json_t* next = json_object_get(taken, name);
  do {
    json_int_t number = json_integer_value(next);
    snprintf(numbered, size, "%s_%lld", name, (long long)number);
    json_integer_set(next, number + 1);
  } while (json_object_get(taken, numbered));
  sn_status status = take_name(r, taken, numbered, copy);
  sn_arena_release(r->scratch, mark);
  return status;
}

static char** name_of(void* items, size_t item_size, uint32_t index) {
  return (char**)((char*)items + index * item_size);
}

static sn_status name_all(sn_gltf_reader* r, const char* list, const char* stem, void* items,
                          size_t item_size, json_t* taken) {
  uint32_t count = sn_gltf_entry_count(r, list);
  sn_place list_at = sn_place_key(NULL, list);
  for (uint32_t i = 0; i < count; ++i) {
    const json_t* value = json_object_get(sn_gltf_entry(r, list, i), "name");
    sn_place at = sn_place_index(&list_at, i), name_at = sn_place_key(&at, "name");
    if (value && !json_is_string(value)) {
      return sn_read_mismatch(&r->json, &name_at, value, "a name");
    }
    const char* name = json_string_value(value);
    if (!name || !name[0] || json_object_get(taken, name)) continue;
    SN_TRY(take_name(r, taken, name, name_of(items, item_size, i)));
  }
  for (uint32_t i = 0; i < count; ++i) {
    char** name = name_of(items, item_size, i);
    if (*name) continue;
    char made[32];
    snprintf(made, sizeof made, "%s%u", stem, i);
    const char* given = json_string_value(json_object_get(sn_gltf_entry(r, list, i), "name"));
    const char* wanted = given && given[0] ? given : made;
    if (json_object_get(taken, wanted)) {
      SN_TRY(take_numbered(r, taken, wanted, name));
    } else {
      SN_TRY(take_name(r, taken, wanted, name));
    }
  }
  return SN_OK;
}

sn_status sn_gltf_name_entries(sn_gltf_reader* r, const char* list, const char* stem, void* items,
                               size_t item_size) {
  json_t* taken = json_object();
  if (!taken) return sn_fail_memory(r->json.err, sizeof(json_t*));
  sn_status status = name_all(r, list, stem, items, item_size, taken);
  json_decref(taken);
  return status;
}
