// Nodes and skins: the hierarchy that moves, and the joints that meshes follow.
#include <math.h>
#include <string.h>

#include "io/gltf.h"
#include "math/affine.h"

// A last row further than this from (0, 0, 0, 1) is not the rounding of one.
#define LAST_ROW_TOLERANCE 1e-3

// Shared by node matrices and inverse bind matrices: the last row becomes exact.
static sn_status check_affine(sn_gltf_reader* r, const sn_place* at, double m[16]) {
  for (int column = 0; column < 4; ++column) {
    double* last = &m[4 * column + 3];
    if (fabs(*last - (column == 3)) > LAST_ROW_TOLERANCE) {
      return sn_read_fail(&r->json, at, "found %g in the last row, expected (0, 0, 0, 1)", *last);
    }
    *last = column == 3;
  }
  return SN_OK;
}

// Nodes

static sn_status read_vector(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                             const char* key, sn_vec3* vector) {
  const json_t* value = json_object_get(entry, key);
  if (!value) return SN_OK;
  sn_place here = sn_place_key(at, key);
  double c[3];
  SN_TRY(sn_gltf_numbers(r, &here, value, 3, c));
  *vector = sn_load3(c);
  return SN_OK;
}

static sn_status read_rotation(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                               sn_quat* rotate) {
  const json_t* value = json_object_get(entry, "rotation");
  if (!value) return SN_OK;
  sn_place here = sn_place_key(at, "rotation");
  double c[4];
  SN_TRY(sn_gltf_numbers(r, &here, value, 4, c));
  sn_quat q = {c[0], c[1], c[2], c[3]};
  double squared = sn_quat_dot(q, q);
  if (!(squared > 1e-12 && squared < 1e12)) {
    return sn_read_fail(&r->json, &here, "found a length of %g, expected 1", sqrt(squared));
  }
  // One that is as near as rounding allows keeps its bits when it is written and read again.
  *rotate = fabs(squared - 1.0) <= 1e-14 ? q : sn_quat_normalise(q);
  return SN_OK;
}

static sn_status read_transform(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                                sn_gltf_node* node) {
  node->rotate = sn_quat_identity();
  node->scale = sn_v3(1.0, 1.0, 1.0);
  sn_affine_identity(node->matrix);
  SN_TRY(read_vector(r, at, entry, "translation", &node->translate));
  SN_TRY(read_rotation(r, at, entry, &node->rotate));
  SN_TRY(read_vector(r, at, entry, "scale", &node->scale));
  const json_t* matrix = json_object_get(entry, "matrix");
  if (!matrix) return SN_OK;
  sn_place here = sn_place_key(at, "matrix");
  if (json_object_get(entry, "translation") || json_object_get(entry, "rotation") ||
      json_object_get(entry, "scale")) {
    return sn_read_mismatch(&r->json, &here, matrix,
                            "no matrix beside translation, rotation or scale");
  }
  node->has_matrix = true;
  SN_TRY(sn_gltf_numbers(r, &here, matrix, 16, node->matrix));
  return check_affine(r, &here, node->matrix);
}

static sn_status read_optional_reference(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                                         const char* key, const char* list, int32_t* index) {
  const json_t* value = json_object_get(entry, key);
  *index = -1;
  if (!value) return SN_OK;
  sn_place here = sn_place_key(at, key);
  uint32_t found = 0;
  SN_TRY(sn_gltf_reference(r, &here, value, list, &found));
  *index = (int32_t)found;
  return SN_OK;
}

static sn_status read_children(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                               uint32_t parent) {
  sn_place list_at = sn_place_key(at, "children");
  const json_t* list = json_object_get(entry, "children");
  if (list && !json_is_array(list)) return sn_read_mismatch(&r->json, &list_at, list, "a list");
  for (size_t i = 0; i < json_array_size(list); ++i) {
    sn_place here = sn_place_index(&list_at, i);
    uint32_t child = 0;
    SN_TRY(sn_gltf_reference(r, &here, json_array_get(list, i), "nodes", &child));
    sn_gltf_node* node = &r->gltf->nodes[child];
    if (node->parent >= 0) {
      return sn_read_fail(&r->json, &here,
                          "found node %u, which is a child of node %d too, expected one parent",
                          child, node->parent);
    }
    node->parent = (int32_t)parent;
  }
  return SN_OK;
}

static sn_status read_node(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                           sn_gltf_node* node) {
  SN_TRY(read_transform(r, at, entry, node));
  SN_TRY(read_optional_reference(r, at, entry, "mesh", "meshes", &node->mesh));
  SN_TRY(read_optional_reference(r, at, entry, "skin", "skins", &node->skin));
  if (node->skin >= 0 && (node->mesh < 0 || r->gltf->meshes[node->mesh].influence_count == 0)) {
    sn_log(SN_LOG_WARNING, "%s: node \"%s\": its skin is left out, for its mesh has no joints",
           r->json.file, node->name);
    node->skin = -1;
  }
  uint32_t morph_count = node->mesh < 0 ? 0 : r->gltf->meshes[node->mesh].morph_count;
  return sn_gltf_read_morph_weights(r, at, entry, morph_count, &node->morph_weights);
}

uint32_t sn_gltf_sort_nodes(const sn_gltf_node* nodes, uint32_t node_count, uint32_t* order,
                            uint32_t* work) {
  uint32_t *starts = work, *children = work + node_count + 1;  // children of n from starts[n] on
  for (uint32_t n = 0; n <= node_count; ++n) starts[n] = 0;
  for (uint32_t n = 0; n < node_count; ++n) {
    if (nodes[n].parent >= 0) starts[nodes[n].parent + 1]++;
  }
  for (uint32_t n = 0; n < node_count; ++n) starts[n + 1] += starts[n];
  for (uint32_t n = 0; n < node_count; ++n) {
    if (nodes[n].parent >= 0) children[starts[nodes[n].parent]++] = n;
  }
  // Filling has moved each start to the next one's place.
  uint32_t sorted = 0;
  for (uint32_t n = 0; n < node_count; ++n) {
    if (nodes[n].parent < 0) order[sorted++] = n;
  }
  for (uint32_t i = 0; i < sorted; ++i) {
    uint32_t node = order[i];
    for (uint32_t c = node > 0 ? starts[node - 1] : 0; c < starts[node]; ++c) {
      order[sorted++] = children[c];
    }
  }
  return sorted;
}

// Upwards from a node that no root leads to, one is in the circle for ever.
static sn_status fail_circle(sn_gltf_reader* r, uint32_t sorted_count, uint32_t* work) {
  const sn_gltf* gltf = r->gltf;
  for (uint32_t n = 0; n < gltf->node_count; ++n) work[n] = 0;
  for (uint32_t i = 0; i < sorted_count; ++i) work[gltf->order[i]] = 1;
  uint32_t node = 0;
  while (work[node]) ++node;
  for (uint32_t i = 0; i < gltf->node_count; ++i) node = (uint32_t)gltf->nodes[node].parent;
  sn_place list_at = sn_place_key(NULL, "nodes"), at = sn_place_index(&list_at, node);
  sn_place children_at = sn_place_key(&at, "children");
  return sn_read_fail(&r->json, &children_at, "found a circle, expected a tree");
}

static sn_status sort_nodes(sn_gltf_reader* r) {
  sn_gltf* gltf = r->gltf;
  uint32_t* work;
  SN_TRY(SN_ARENA_NEW(gltf->storage, gltf->node_count, &gltf->order, r->json.err));
  SN_TRY(SN_ARENA_NEW(r->scratch, 2 * (size_t)gltf->node_count + 1, &work, r->json.err));
  uint32_t sorted = sn_gltf_sort_nodes(gltf->nodes, gltf->node_count, gltf->order, work);
  return sorted == gltf->node_count ? SN_OK : fail_circle(r, sorted, work);
}

sn_status sn_gltf_read_nodes(sn_gltf_reader* r) {
  sn_gltf* gltf = r->gltf;
  uint32_t count = sn_gltf_entry_count(r, "nodes");
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->nodes, r->json.err));
  gltf->node_count = count;
  SN_TRY(sn_gltf_name_entries(r, "nodes", "node", gltf->nodes, sizeof *gltf->nodes));
  for (uint32_t i = 0; i < count; ++i) gltf->nodes[i].parent = -1;
  sn_place list_at = sn_place_key(NULL, "nodes");
  for (uint32_t i = 0; i < count; ++i) {
    sn_place at = sn_place_index(&list_at, i);
    const json_t* entry = sn_gltf_entry(r, "nodes", i);
    SN_TRY(read_node(r, &at, entry, &gltf->nodes[i]));
    SN_TRY(read_children(r, &at, entry, i));
  }
  return sort_nodes(r);
}

// Skins

static sn_status read_inverse_bind(sn_gltf_reader* r, const sn_place* owner_at, const json_t* value,
                                   sn_gltf_skin* skin) {
  sn_place at = sn_place_key(owner_at, "inverseBindMatrices");
  sn_gltf_accessor accessor;
  double* values;
  SN_TRY(sn_gltf_find_typed(r, &at, value, "MAT4", &accessor));
  if (accessor.count < skin->joint_count) {
    return sn_read_fail(&r->json, &at, "found %u matrices, expected one for each of %u joints",
                        accessor.count, skin->joint_count);
  }
  SN_TRY(sn_gltf_read_accessor(r, &accessor, &values));
  memcpy(skin->inverse_bind, values, 16 * (size_t)skin->joint_count * sizeof *values);
  for (uint32_t j = 0; j < skin->joint_count; ++j) {
    SN_TRY(check_affine(r, &at, skin->inverse_bind + 16 * (size_t)j));
  }
  return SN_OK;
}

static sn_status read_skin(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                           sn_gltf_skin* skin) {
  sn_place list_at = sn_place_key(at, "joints");
  const json_t* list = json_object_get(entry, "joints");
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count == 0 || count > UINT16_MAX + 1) {
    return sn_read_mismatch(&r->json, &list_at, list, "a list of 1 to 65536 nodes");
  }
  sn_arena* storage = r->gltf->storage;
  SN_TRY(SN_ARENA_NEW(storage, count, &skin->joints, r->json.err));
  SN_TRY(SN_ARENA_NEW(storage, 16 * count, &skin->inverse_bind, r->json.err));
  skin->joint_count = (uint32_t)count;
  for (uint32_t j = 0; j < skin->joint_count; ++j) {
    sn_place here = sn_place_index(&list_at, j);
    SN_TRY(sn_gltf_reference(r, &here, json_array_get(list, j), "nodes", &skin->joints[j]));
    sn_affine_identity(skin->inverse_bind + 16 * (size_t)j);
  }
  const json_t* matrices = json_object_get(entry, "inverseBindMatrices");
  return matrices ? read_inverse_bind(r, at, matrices, skin) : SN_OK;
}

sn_status sn_gltf_read_skins(sn_gltf_reader* r) {
  sn_gltf* gltf = r->gltf;
  uint32_t count = sn_gltf_entry_count(r, "skins");
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->skins, r->json.err));
  gltf->skin_count = count;
  SN_TRY(sn_gltf_name_entries(r, "skins", "skin", gltf->skins, sizeof *gltf->skins));
  sn_place list_at = sn_place_key(NULL, "skins");
  for (uint32_t i = 0; i < count; ++i) {
    sn_place at = sn_place_index(&list_at, i);
    sn_arena_mark mark = sn_arena_get_mark(r->scratch);
    SN_TRY(read_skin(r, &at, sn_gltf_entry(r, "skins", i), &gltf->skins[i]));
    sn_arena_release(r->scratch, mark);
  }
  return SN_OK;
}
