// glTF 2.0 files: the document as a whole.
// https://registry.khronos.org/glTF/specs/2.0/glTF-2.0.html
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/gltf.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// What the parts share

json_t* sn_gltf_entry(const sn_gltf_reader* r, const char* list, uint32_t index) {
  return json_array_get(json_object_get(r->root, list), index);
}

uint32_t sn_gltf_entry_count(const sn_gltf_reader* r, const char* list) {
  return (uint32_t)json_array_size(json_object_get(r->root, list));
}

sn_status sn_gltf_reference(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                            const char* list, uint32_t* index) {
  uint32_t count = sn_gltf_entry_count(r, list);
  json_int_t given = json_integer_value(value);
  if (!json_is_integer(value) || given < 0 || given >= count) {
    char expected[80];
    snprintf(expected, sizeof expected, "an index into \"%s\", which has %u", list, count);
    return sn_read_mismatch(&r->json, at, value, expected);
  }
  *index = (uint32_t)given;
  return SN_OK;
}

sn_status sn_gltf_integer(sn_gltf_reader* r, const sn_place* owner_at, const json_t* owner,
                          const char* key, int64_t preset, sn_range range, int64_t* number) {
  const json_t* value = json_object_get(owner, key);
  *number = preset;
  if (!value && preset >= 0) return SN_OK;
  sn_place at = sn_place_key(owner_at, key);
  return sn_value_integer(&r->json, &at, value, range, number);
}

sn_status sn_gltf_numbers(sn_gltf_reader* r, const sn_place* at, const json_t* value, size_t count,
                          double* numbers) {
  if (!json_is_array(value) || json_array_size(value) != count) {
    char expected[40];
    snprintf(expected, sizeof expected, "a list of %zu numbers", count);
    return sn_read_mismatch(&r->json, at, value, expected);
  }
  const sn_range range = {.lo = -1e30, .hi = 1e30};
  for (size_t i = 0; i < count; ++i) {
    sn_place here = sn_place_index(at, i);
    SN_TRY(sn_value_number(&r->json, &here, json_array_get(value, i), range, &numbers[i]));
  }
  return SN_OK;
}

sn_status sn_gltf_charge(sn_gltf_reader* r, const sn_place* at, uint64_t number_count) {
  if (number_count > r->budget) {
    return sn_read_fail(&r->json, at,
                        "found %llu numbers more than a file of this size can mean, expected at "
                        "most %d for each of its bytes",
                        (unsigned long long)(number_count - r->budget), SN_GLTF_NUMBERS_A_BYTE);
  }
  r->budget -= number_count;
  return SN_OK;
}

// What a reader must understand

// Extensions that change how things look, never where they are; and small integers for positions,
// which are read in any case.
static bool is_harmless(const char* extension) {
  static const char* const prefixes[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
                                         "KHR_lights_", "KHR_mesh_quantization"};
  for (size_t i = 0; i < COUNT(prefixes); ++i) {
    if (strncmp(extension, prefixes[i], strlen(prefixes[i])) == 0) return true;
  }
  return false;
}

static sn_status check_extensions(sn_gltf_reader* r) {
  sn_place list_at = sn_place_key(NULL, "extensionsRequired");
  const json_t* list = json_object_get(r->root, "extensionsRequired");
  if (list && !json_is_array(list)) {
    return sn_read_mismatch(&r->json, &list_at, list, "a list of names");
  }
  for (size_t i = 0; i < json_array_size(list); ++i) {
    sn_place at = sn_place_index(&list_at, i);
    const char* name = NULL;
    const json_t* value = json_array_get(list, i);
    SN_TRY(sn_value_string(&r->json, &at, value, "the name of an extension", &name));
    if (is_harmless(name)) continue;
    return sn_read_mismatch(&r->json, &at, value,
                            "a file without this extension: export it again without");
  }
  return SN_OK;
}

static sn_status check_version(sn_gltf_reader* r) {
  sn_place asset_at = sn_place_key(NULL, "asset");
  const json_t* asset = json_object_get(r->root, "asset");
  if (!json_is_object(asset)) {
    return sn_read_mismatch(&r->json, &asset_at, asset, "an object {\"version\": \"2.0\"}");
  }
  // A later 2.x can be read unless it says that it cannot.
  const json_t* least = json_object_get(asset, "minVersion");
  const char* key = least ? "minVersion" : "version";
  const json_t* version = json_object_get(asset, key);
  const char* text = json_string_value(version);
  if (text && strncmp(text, least ? "2.0" : "2.", least ? 4 : 2) == 0) return SN_OK;
  sn_place at = sn_place_key(&asset_at, key);
  return sn_read_mismatch(&r->json, &at, version, "\"2.0\"");
}

// Every list that is read later is one, of objects.
static sn_status check_lists(sn_gltf_reader* r) {
  static const char* const keys[] = {"accessors", "animations", "bufferViews", "buffers",
                                     "meshes",    "nodes",      "skins"};
  for (size_t k = 0; k < COUNT(keys); ++k) {
    sn_place at = sn_place_key(NULL, keys[k]);
    const json_t* list = json_object_get(r->root, keys[k]);
    if (!list) continue;
    if (!json_is_array(list) || json_array_size(list) >= INT32_MAX) {
      return sn_read_mismatch(&r->json, &at, list, "a list");
    }
    for (size_t i = 0; i < json_array_size(list); ++i) {
      sn_place here = sn_place_index(&at, i);
      const json_t* entry = json_array_get(list, i);
      if (!json_is_object(entry)) {
        return sn_read_mismatch(&r->json, &here, entry, "an object");
      }
    }
  }
  return SN_OK;
}

// Joints of a mesh must be there in every skin that it is used with.
static sn_status check_joints(sn_gltf_reader* r) {
  const sn_gltf* gltf = r->gltf;
  uint32_t* joint_ends;
  SN_TRY(sn_gltf_find_joint_ends(gltf, r->scratch, &joint_ends, r->json.err));
  sn_place nodes_at = sn_place_key(NULL, "nodes");
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    const sn_gltf_node* node = &gltf->nodes[n];
    if (node->skin < 0 || node->mesh < 0) continue;
    uint32_t joint_count = gltf->skins[node->skin].joint_count;
    if (joint_ends[node->mesh] <= joint_count) continue;
    sn_place at = sn_place_index(&nodes_at, n), skin_at = sn_place_key(&at, "skin");
    return sn_read_fail(&r->json, &skin_at,
                        "found a skin of %u joints for a mesh that uses joint %u, expected one "
                        "that has it",
                        joint_count, joint_ends[node->mesh] - 1);
  }
  return SN_OK;
}

static sn_status read_document(sn_gltf_reader* r) {
  if (!json_is_object(r->root)) {
    return sn_read_mismatch(&r->json, NULL, r->root, "a glTF document {\"asset\": {...}}");
  }
  SN_TRY(check_version(r));
  SN_TRY(check_extensions(r));
  SN_TRY(check_lists(r));
  SN_TRY(sn_gltf_load_buffers(r));
  SN_TRY(sn_gltf_read_meshes(r));
  SN_TRY(sn_gltf_read_skins(r));
  SN_TRY(sn_gltf_read_nodes(r));
  SN_TRY(check_joints(r));
  SN_TRY(sn_gltf_tie_loose(r->gltf, r->scratch, r->json.err));
  return sn_gltf_read_clips(r);
}

static sn_status read_bytes(sn_gltf_reader* r, const char* bytes, size_t size) {
  sn_gltf_bytes text;
  SN_TRY(sn_gltf_split(r, bytes, size, &text));
  SN_TRY(sn_json_parse(r->json.file, (const char*)text.at, text.size, &r->root, r->json.err));
  r->budget = SN_GLTF_NUMBERS_FREE + SN_GLTF_NUMBERS_A_BYTE * (uint64_t)size;
  return read_document(r);
}

sn_status sn_gltf_parse(const char* path, const char* bytes, size_t size, sn_gltf* gltf,
                        sn_error* err) {
  SN_ASSERT(bytes[size] == 0);
  *gltf = (sn_gltf){0};
  sn_gltf_reader r = {.json = {.file = path, .err = err}, .gltf = gltf};
  sn_status status = sn_arena_create(&r.scratch, err);
  if (status == SN_OK) status = sn_arena_create(&gltf->storage, err);
  if (status == SN_OK) status = read_bytes(&r, bytes, size);
  json_decref(r.root);
  sn_arena_destroy(r.scratch);
  if (status != SN_OK) sn_gltf_destroy(gltf);
  return status;
}

sn_status sn_gltf_load(const char* path, sn_gltf* gltf, sn_error* err) {
  *gltf = (sn_gltf){0};
  sn_arena* scratch;
  SN_TRY(sn_arena_create(&scratch, err));
  char* bytes;
  size_t size;
  sn_status status = sn_file_read(path, scratch, &bytes, &size, err);
  if (status == SN_OK) status = sn_gltf_parse(path, bytes, size, gltf, err);
  sn_arena_destroy(scratch);
  return status;
}

void sn_gltf_destroy(sn_gltf* gltf) {
  for (uint32_t m = 0; m < gltf->mesh_count; ++m) sn_mesh_destroy(&gltf->meshes[m].mesh);
  sn_arena_destroy(gltf->storage);
  *gltf = (sn_gltf){0};
}
