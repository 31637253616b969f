// Names that tell the entries of a list apart, whatever the file says: what comes first keeps its
// name, what comes later under the same one gets a number behind it, what has none is named after
// its index.
#include <stdio.h>
#include <string.h>

#include "io/gltf.h"

// The list being named. jansson's tables keep the search short however many names there are.
typedef struct namer {
  sn_arena *storage, *scratch;
  json_t* taken;  // each name with the number to try next behind it
  sn_error* err;
} namer;

static sn_status take_name(namer* n, const char* name, char** copy) {
  *copy = sn_arena_copy_string(n->storage, name);
  if (*copy && json_object_set_new_nocheck(n->taken, name, json_integer(2)) == 0) return SN_OK;
  return sn_fail_memory(n->err, strlen(name));
}

static sn_status take_numbered(namer* n, const char* name, char** copy) {
  size_t size = strlen(name) + 24;
  sn_arena_mark mark = sn_arena_get_mark(n->scratch);
  char* numbered;
  SN_TRY(SN_ARENA_NEW(n->scratch, size, &numbered, n->err));
  json_t* next = json_object_get(n->taken, name);
  do {
    json_int_t number = json_integer_value(next);
    snprintf(numbered, size, "%s_%lld", name, (long long)number);
    json_integer_set(next, number + 1);
  } while (json_object_get(n->taken, numbered));
  sn_status status = take_name(n, numbered, copy);
  sn_arena_release(n->scratch, mark);
  return status;
}

static char** name_of(void* items, size_t item_size, uint32_t index) {
  return (char**)((char*)items + index * item_size);
}

static sn_status name_all(namer* n, const char* const* given, uint32_t count, const char* stem,
                          void* items, size_t item_size) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!given[i] || !given[i][0] || json_object_get(n->taken, given[i])) continue;
    SN_TRY(take_name(n, given[i], name_of(items, item_size, i)));
  }
  for (uint32_t i = 0; i < count; ++i) {
    char** name = name_of(items, item_size, i);
    if (*name) continue;
    char made[32];
    snprintf(made, sizeof made, "%s%u", stem, i);
    const char* wanted = given[i] && given[i][0] ? given[i] : made;
    if (json_object_get(n->taken, wanted)) {
      SN_TRY(take_numbered(n, wanted, name));
    } else {
      SN_TRY(take_name(n, wanted, name));
    }
  }
  return SN_OK;
}

sn_status sn_gltf_name_items(sn_arena* storage, sn_arena* scratch, const char* const* given,
                             uint32_t count, const char* stem, void* items, size_t item_size,
                             sn_error* err) {
  namer n = {.storage = storage, .scratch = scratch, .taken = json_object(), .err = err};
  if (!n.taken) return sn_fail_memory(err, sizeof(json_t*));
  sn_status status = name_all(&n, given, count, stem, items, item_size);
  json_decref(n.taken);
  return status;
}

sn_status sn_gltf_name_entries(sn_gltf_reader* r, const char* list, const char* stem, void* items,
                               size_t item_size) {
  uint32_t count = sn_gltf_entry_count(r, list);
  sn_place list_at = sn_place_key(NULL, list);
  const char** given;
  SN_TRY(SN_ARENA_NEW(r->scratch, count, &given, r->json.err));
  for (uint32_t i = 0; i < count; ++i) {
    const json_t* value = json_object_get(sn_gltf_entry(r, list, i), "name");
    sn_place at = sn_place_index(&list_at, i), name_at = sn_place_key(&at, "name");
    if (value && !json_is_string(value)) {
      return sn_read_mismatch(&r->json, &name_at, value, "a name");
    }
    given[i] = json_string_value(value);
  }
  return sn_gltf_name_items(r->gltf->storage, r->scratch, given, count, stem, items, item_size,
                            r->json.err);
}
