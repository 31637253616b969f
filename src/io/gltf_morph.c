// Morph targets: displacements of a mesh's vertices, and how much of each there is at rest.
#include <string.h>

#include "io/gltf.h"

static const json_t* targets_of(const json_t* primitive) {
  return json_object_get(primitive, "targets");
}

sn_status sn_gltf_survey_morphs(sn_gltf_reader* r, const sn_place* primitive_at,
                                const json_t* primitive, sn_gltf_mesh* mesh) {
  sn_place at = sn_place_key(primitive_at, "targets");
  const json_t* list = targets_of(primitive);
  if (!list) return SN_OK;
  if (!json_is_array(list) || json_array_size(list) > SN_GLTF_MORPHS_MAX) {
    return sn_read_mismatch(&r->json, &at, list, "a list of up to 65536 morph targets");
  }
  uint32_t count = (uint32_t)json_array_size(list);
  if (count > mesh->morph_count) mesh->morph_count = count;
  return SN_OK;
}

// @param entry of the mesh or of a node
sn_status sn_gltf_read_morph_weights(sn_gltf_reader* r, const sn_place* owner_at,
                                     const json_t* entry, uint32_t morph_count, float** weights) {
  sn_place at = sn_place_key(owner_at, "weights");
  const json_t* list = json_object_get(entry, "weights");
  if (!list || morph_count == 0) return SN_OK;
  if (!json_is_array(list) || json_array_size(list) != morph_count) {
    return sn_read_fail(&r->json, &at,
                        "found %zu weights, expected a list of %u, one for each morph target",
                        json_array_size(list), morph_count);
  }
  SN_TRY(SN_ARENA_NEW(r->gltf->storage, morph_count, weights, r->json.err));
  for (uint32_t k = 0; k < morph_count; ++k) {
    sn_place here = sn_place_index(&at, k);
    const sn_range range = {.lo = -SN_GLTF_MORPH_WEIGHT_MAX, .hi = SN_GLTF_MORPH_WEIGHT_MAX};
    double weight = 0;
    SN_TRY(sn_value_number(&r->json, &here, json_array_get(list, k), range, &weight));
    (*weights)[k] = (float)weight;
  }
  return SN_OK;
}

sn_status sn_gltf_take_morphs(sn_gltf_reader* r, const sn_place* mesh_at, const json_t* entry,
                              uint64_t vertex_count, sn_gltf_mesh* mesh) {
  uint64_t numbers;
  if (__builtin_mul_overflow(3 * vertex_count, (uint64_t)mesh->morph_count, &numbers)) {
    return sn_fail_memory(r->json.err, SIZE_MAX);
  }
  SN_TRY(sn_gltf_charge(r, mesh_at, numbers));
  SN_TRY(SN_ARENA_NEW(r->gltf->storage, numbers, &mesh->morphs, r->json.err));
  return sn_gltf_read_morph_weights(r, mesh_at, entry, mesh->morph_count, &mesh->morph_weights);
}

// One target of a primitive. Without positions it moves nothing.
static sn_status read_target(sn_gltf_reader* r, const sn_place* at, const json_t* target,
                             uint32_t vertex_count, float* to) {
  sn_place position_at = sn_place_key(at, "POSITION");
  if (!json_is_object(target)) return sn_read_mismatch(&r->json, at, target, "an object");
  const json_t* value = json_object_get(target, "POSITION");
  sn_gltf_accessor accessor;
  double* values;
  if (!value) return SN_OK;
  SN_TRY(sn_gltf_find_typed(r, &position_at, value, "VEC3", &accessor));
  if (accessor.count != vertex_count) {
    return sn_read_fail(&r->json, &position_at,
                        "found %u elements, expected one for each of the %u positions",
                        accessor.count, vertex_count);
  }
  SN_TRY(sn_gltf_read_accessor(r, &accessor, &values));
  for (size_t i = 0; i < 3 * (size_t)vertex_count; ++i) to[i] = (float)values[i];
  return SN_OK;
}

sn_status sn_gltf_read_morphs(sn_gltf_reader* r, const sn_place* primitive_at,
                              const json_t* primitive, uint32_t first_vertex, uint32_t vertex_count,
                              uint64_t mesh_vertex_count, sn_gltf_mesh* mesh) {
  sn_place list_at = sn_place_key(primitive_at, "targets");
  const json_t* list = targets_of(primitive);
  for (size_t k = 0; k < json_array_size(list); ++k) {
    sn_place at = sn_place_index(&list_at, k);
    float* to = mesh->morphs + 3 * (k * mesh_vertex_count + first_vertex);
    SN_TRY(read_target(r, &at, json_array_get(list, k), vertex_count, to));
  }
  return SN_OK;
}
