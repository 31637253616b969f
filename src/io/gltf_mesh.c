// Meshes: all primitives of one joined into a surface, with the joints and maps of its vertices.
//
// A first pass over the primitives finds which are triangles and how many vertices, joint sets and
// maps they have together; a second fills arrays of that size.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/mesh_arrays.h"
#include "io/gltf.h"

#define SETS_MAX 16  // joint sets of a primitive, four joints each

// They may be percents, or counts of anything, as long as their sums are finite.
#define WEIGHT_MAX 1e6

// Weights whose sum is off by no more than the rounding of as many floats are left alone.
#define SUM_TOLERANCE 2e-7

enum { MODE_TRIANGLES = 4, MODE_STRIP = 5, MODE_FAN = 6 };

typedef struct primitive {
  uint32_t index;
  const json_t *entry, *attributes;
  int64_t mode;
  uint32_t first_vertex, vertex_count, set_count;
} primitive;

// A mesh being read.
typedef struct mesh_reader {
  sn_gltf_reader* r;
  const sn_place* at;
  sn_gltf_mesh* mesh;
  primitive* primitives;  // those that are used (primitive_count)
  uint32_t primitive_count, skipped_count;
  uint64_t vertex_count;
  uint32_t set_count;   // the most that a primitive has
  bool has_uvs;         // in some primitive
  json_t* map_indices;  // from the names of maps
  uint32_t unweighted_count;
  sn_mesh_builder builder;
} mesh_reader;

// "attributes.KEY" of a primitive, and the chain above it.
typedef struct attribute_place {
  sn_place list, primitive, attributes, key;
} attribute_place;

static void place_attribute(attribute_place* place, const sn_place* mesh_at, uint32_t index,
                            const char* key) {
  place->list = sn_place_key(mesh_at, "primitives");
  place->primitive = sn_place_index(&place->list, index);
  place->attributes = sn_place_key(&place->primitive, "attributes");
  place->key = sn_place_key(&place->attributes, key);
}

// An attribute must have a value for every vertex.
static sn_status find_attribute(const mesh_reader* m, const primitive* p, const char* key,
                                sn_gltf_accessor* accessor) {
  attribute_place place;
  place_attribute(&place, m->at, p->index, key);
  SN_TRY(sn_gltf_find_accessor(m->r, &place.key, json_object_get(p->attributes, key), accessor));
  if (p->vertex_count > 0 && accessor->count != p->vertex_count) {
    return sn_read_fail(&m->r->json, &place.key,
                        "found %u elements, expected one for each of the %u positions",
                        accessor->count, p->vertex_count);
  }
  return SN_OK;
}

static sn_status fail_attribute(const mesh_reader* m, const primitive* p, const char* key,
                                const char* found_and_expected) {
  attribute_place place;
  place_attribute(&place, m->at, p->index, key);
  return sn_read_fail(&m->r->json, &place.key, "%s", found_and_expected);
}

static bool is_map(const char* key, const sn_gltf_accessor* accessor) {
  return key[0] == '_' && strcmp(accessor->type, "SCALAR") == 0;
}

static bool is_own(const char* key) {
  return strncmp(key, SN_GLTF_OWN_PREFIX, strlen(SN_GLTF_OWN_PREFIX)) == 0;
}

// First pass

static sn_status survey_sets(mesh_reader* m, primitive* p) {
  for (;; ++p->set_count) {
    char joints[24], weights[24];
    snprintf(joints, sizeof joints, "JOINTS_%u", p->set_count);
    snprintf(weights, sizeof weights, "WEIGHTS_%u", p->set_count);
    bool has_joints = json_object_get(p->attributes, joints);
    bool has_weights = json_object_get(p->attributes, weights);
    if (!has_joints && !has_weights) break;
    if (!has_joints || !has_weights) {
      return fail_attribute(m, p, has_joints ? weights : joints,
                            "found nothing, expected joints and weights in pairs");
    }
    if (p->set_count == SETS_MAX) {
      return fail_attribute(m, p, joints, "found more than 64 joints a vertex, expected fewer");
    }
  }
  if (p->set_count > m->set_count) m->set_count = p->set_count;
  return SN_OK;
}

static sn_status survey_maps(mesh_reader* m, const primitive* p) {
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)p->attributes, key, value) {
    if (key[0] != '_') continue;
    sn_gltf_accessor accessor;
    SN_TRY(find_attribute(m, p, key, &accessor));
    bool is_plain =
        sn_gltf_accessor_has_floats(&accessor) || sn_gltf_accessor_has_shares(&accessor);
    if (is_own(key) && !(is_map(key, &accessor) && is_plain)) {
      return fail_attribute(m, p, key,
                            "found another type, expected SCALAR of floats or of normalised whole "
                            "numbers without sign");
    }
    if (!is_map(key, &accessor) || json_object_get(m->map_indices, key)) continue;
    json_t* index = json_integer((json_int_t)json_object_size(m->map_indices));
    if (json_object_set_new(m->map_indices, key, index) != 0) {
      return sn_fail_memory(m->r->json.err, strlen(key));
    }
  }
  return SN_OK;
}

static sn_status survey_primitive(mesh_reader* m, const sn_place* at, uint32_t index,
                                  const json_t* entry) {
  if (!json_is_object(entry)) return sn_read_mismatch(&m->r->json, at, entry, "an object");
  primitive p = {.index = index, .entry = entry, .first_vertex = (uint32_t)m->vertex_count};
  p.attributes = json_object_get(entry, "attributes");
  sn_place attributes_at = sn_place_key(at, "attributes");
  if (!json_is_object(p.attributes)) {
    return sn_read_mismatch(&m->r->json, &attributes_at, p.attributes, "an object");
  }
  const sn_range modes = {.lo = 0, .hi = 6};
  SN_TRY(sn_gltf_integer(m->r, at, entry, "mode", MODE_TRIANGLES, modes, &p.mode));
  if (p.mode < MODE_TRIANGLES || !json_object_get(p.attributes, "POSITION")) {
    m->skipped_count++;
    return SN_OK;
  }
  sn_gltf_accessor position;
  SN_TRY(find_attribute(m, &p, "POSITION", &position));
  if (strcmp(position.type, "VEC3") != 0) {
    return fail_attribute(m, &p, "POSITION", "found another type, expected VEC3");
  }
  p.vertex_count = position.count;
  m->vertex_count += position.count;
  if (m->vertex_count > UINT32_MAX - 1) {
    return sn_read_fail(&m->r->json, at, "found more than %u vertices, expected a smaller mesh",
                        UINT32_MAX - 1);
  }
  SN_TRY(survey_sets(m, &p));
  SN_TRY(survey_maps(m, &p));
  SN_TRY(sn_gltf_survey_morphs(m->r, at, entry, m->mesh));
  m->has_uvs = m->has_uvs || json_object_get(p.attributes, "TEXCOORD_0");
  m->primitives[m->primitive_count++] = p;
  return SN_OK;
}

// What is meant for us must not be half there: vertices without it would silently count as 0.
static sn_status check_own_maps(const mesh_reader* m) {
  const char* key;
  json_t* index;
  json_object_foreach(m->map_indices, key, index) {
    for (uint32_t i = 0; i < m->primitive_count && is_own(key); ++i) {
      if (json_object_get(m->primitives[i].attributes, key)) continue;
      return fail_attribute(m, &m->primitives[i], key,
                            "found nothing, expected it in all primitives of the mesh or in none");
    }
  }
  return SN_OK;
}

static sn_status survey(mesh_reader* m, const json_t* entry) {
  sn_place list_at = sn_place_key(m->at, "primitives");
  const json_t* list = json_object_get(entry, "primitives");
  if (!json_is_array(list) || json_array_size(list) >= INT32_MAX) {
    return sn_read_mismatch(&m->r->json, &list_at, list, "a list");
  }
  SN_TRY(SN_ARENA_NEW(m->r->scratch, json_array_size(list), &m->primitives, m->r->json.err));
  for (uint32_t i = 0; i < json_array_size(list); ++i) {
    sn_place at = sn_place_index(&list_at, i);
    SN_TRY(survey_primitive(m, &at, i, json_array_get(list, i)));
  }
  return check_own_maps(m);
}

static sn_status take_arrays(mesh_reader* m) {
  sn_gltf_mesh* mesh = m->mesh;
  sn_arena* storage = m->r->gltf->storage;
  sn_error* err = m->r->json.err;
  size_t map_count = json_object_size(m->map_indices);
  size_t influence_total = (size_t)m->vertex_count * 4 * m->set_count;
  SN_TRY(sn_gltf_charge(m->r, m->at, influence_total));
  mesh->influence_count = (int)(4 * m->set_count);
  SN_TRY(SN_ARENA_NEW(storage, influence_total, &mesh->joints, err));
  SN_TRY(SN_ARENA_NEW(storage, influence_total, &mesh->weights, err));
  SN_TRY(SN_ARENA_NEW(storage, map_count, &mesh->maps, err));
  const char* name;
  json_t* index;
  json_object_foreach(m->map_indices, name, index) {
    sn_gltf_map* map = &mesh->maps[mesh->map_count++];
    SN_TRY(sn_gltf_charge(m->r, m->at, m->vertex_count));
    SN_TRY(SN_ARENA_NEW(storage, m->vertex_count, &map->values, err));
    map->name = sn_arena_copy_string(storage, name);
    if (!map->name) return sn_fail_memory(err, strlen(name));
  }
  return SN_OK;
}

// Second pass

static sn_status add_vertices(mesh_reader* m, const primitive* p) {
  sn_gltf_accessor accessor;
  double* values;
  SN_TRY(find_attribute(m, p, "POSITION", &accessor));
  SN_TRY(sn_gltf_read_accessor(m->r, &accessor, &values));
  for (size_t v = 0; v < p->vertex_count; ++v) {
    sn_vec3 position = {values[3 * v], values[3 * v + 1], values[3 * v + 2]};
    SN_TRY(sn_mesh_builder_add_vertex(&m->builder, position, m->r->json.err));
  }
  return SN_OK;
}

// Texture coordinates of the vertices, with v up; 0, 0 for those of a primitive without.
static sn_status add_uvs(mesh_reader* m, const primitive* p) {
  sn_gltf_accessor accessor;
  double* values = NULL;
  if (!m->has_uvs) return SN_OK;
  if (json_object_get(p->attributes, "TEXCOORD_0")) {
    SN_TRY(find_attribute(m, p, "TEXCOORD_0", &accessor));
    if (strcmp(accessor.type, "VEC2") != 0) {
      return fail_attribute(m, p, "TEXCOORD_0", "found another type, expected VEC2");
    }
    SN_TRY(sn_gltf_read_accessor(m->r, &accessor, &values));
  }
  for (size_t v = 0; v < p->vertex_count; ++v) {
    float pair[2] = {values ? (float)values[2 * v] : 0.0f,
                     values ? (float)(1.0 - values[2 * v + 1]) : 0.0f};
    SN_TRY(sn_mesh_builder_add_uv(&m->builder, pair[0], pair[1], m->r->json.err));
  }
  return SN_OK;
}

// Corners in the order of the file; without indices all vertices in theirs.
static sn_status read_corners(mesh_reader* m, const sn_place* at, const primitive* p,
                              double** corners, uint32_t* corner_count) {
  const json_t* indices = json_object_get(p->entry, "indices");
  sn_place indices_at = sn_place_key(at, "indices");
  *corners = NULL;
  *corner_count = p->vertex_count;
  if (indices) {
    sn_gltf_accessor accessor;
    SN_TRY(sn_gltf_find_typed(m->r, &indices_at, indices, "SCALAR", &accessor));
    if (!sn_gltf_accessor_has_indices(&accessor)) {
      return sn_read_fail(&m->r->json, &indices_at,
                          "found accessor %u, expected one of whole numbers without sign",
                          accessor.index);
    }
    SN_TRY(sn_gltf_read_accessor(m->r, &accessor, corners));
    *corner_count = accessor.count;
  }
  for (uint32_t c = 0; c < *corner_count && indices; ++c) {
    if ((*corners)[c] < p->vertex_count) continue;
    return sn_read_fail(&m->r->json, &indices_at, "found vertex %.0f, expected 0 to %u",
                        (*corners)[c], p->vertex_count - 1);
  }
  bool whole = p->mode == MODE_TRIANGLES ? *corner_count % 3 == 0 : *corner_count >= 3;
  if (!whole) {
    return sn_read_fail(&m->r->json, at, "found %u corners, expected %s", *corner_count,
                        p->mode == MODE_TRIANGLES ? "three for each triangle" : "three or more");
  }
  return SN_OK;
}

// Which three corners make triangle t, by mode; both sides of the surface stay where they are.
static void pick_triangle(int64_t mode, uint32_t t, uint32_t picked[3]) {
  if (mode == MODE_TRIANGLES) {
    for (uint32_t c = 0; c < 3; ++c) picked[c] = 3 * t + c;
  } else if (mode == MODE_STRIP) {
    picked[0] = t;
    picked[1] = t + 1 + t % 2;
    picked[2] = t + 2 - t % 2;
  } else {
    picked[0] = t + 1;
    picked[1] = t + 2;
    picked[2] = 0;
  }
}

// The base colour of a material, if it states a sensible one.
static bool find_color(const json_t* material, float color[4]) {
  const json_t* list =
      json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorFactor");
  for (size_t i = 0; i < 4; ++i) {
    const json_t* value = json_array_get(list, i);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0.0 && number <= 1.0)) return false;
    color[i] = (float)number;
  }
  return true;
}

// The group of its material, named after it or, without a name, `primitiveN`.
static sn_status find_group(mesh_reader* m, const sn_place* at, const primitive* p,
                            uint32_t* group) {
  sn_error* err = m->r->json.err;
  char made[32];
  snprintf(made, sizeof made, "primitive%u", p->index);
  const char* name = made;
  const json_t *value = json_object_get(p->entry, "material"), *material = NULL;
  sn_place material_at = sn_place_key(at, "material");
  if (value) {
    uint32_t index;
    SN_TRY(sn_gltf_reference(m->r, &material_at, value, "materials", &index));
    material = sn_gltf_entry(m->r, "materials", index);
    const char* given = json_string_value(json_object_get(material, "name"));
    if (given && given[0]) name = given;
  }
  SN_TRY(sn_mesh_builder_find_group(&m->builder, name, strlen(name), group, err));
  if (!material) return SN_OK;
  float color[4];
  bool has_color = find_color(material, color);
  return sn_mesh_builder_set_material(&m->builder, *group, name, strlen(name),
                                      has_color ? color : NULL, err);
}

static sn_status add_triangles(mesh_reader* m, const primitive* p) {
  sn_place list_at = sn_place_key(m->at, "primitives"), at = sn_place_index(&list_at, p->index);
  double* corners;
  uint32_t corner_count;
  SN_TRY(read_corners(m, &at, p, &corners, &corner_count));
  sn_error* err = m->r->json.err;
  uint32_t group;
  SN_TRY(find_group(m, &at, p, &group));
  SN_TRY(sn_mesh_builder_use_groups(&m->builder, &group, 1, err));
  uint32_t count = p->mode == MODE_TRIANGLES ? corner_count / 3 : corner_count - 2;
  for (uint32_t t = 0; t < count; ++t) {
    uint32_t picked[3];
    pick_triangle(p->mode, t, picked);
    for (int c = 0; c < 3; ++c) {
      uint32_t vertex = corners ? (uint32_t)corners[picked[c]] : picked[c];
      SN_TRY(sn_mesh_builder_add_corner(&m->builder, p->first_vertex + vertex, err));
      if (m->has_uvs) SN_TRY(sn_mesh_builder_set_uv(&m->builder, p->first_vertex + vertex, err));
    }
    SN_TRY(sn_mesh_builder_end_face(&m->builder, err));
  }
  return SN_OK;
}

// One joint set: four joints and weights a vertex.
static sn_status read_set(mesh_reader* m, const primitive* p, uint32_t set) {
  char joints_key[24], weights_key[24];
  snprintf(joints_key, sizeof joints_key, "JOINTS_%u", set);
  snprintf(weights_key, sizeof weights_key, "WEIGHTS_%u", set);
  sn_gltf_accessor joints, weights;
  SN_TRY(find_attribute(m, p, joints_key, &joints));
  SN_TRY(find_attribute(m, p, weights_key, &weights));
  if (strcmp(joints.type, "VEC4") != 0 || !sn_gltf_accessor_has_indices(&joints)) {
    return fail_attribute(m, p, joints_key,
                          "found another type, expected VEC4 of whole numbers without sign");
  }
  if (strcmp(weights.type, "VEC4") != 0) {
    return fail_attribute(m, p, weights_key, "found another type, expected VEC4");
  }
  double *joint_values, *weight_values;
  SN_TRY(sn_gltf_read_accessor(m->r, &joints, &joint_values));
  SN_TRY(sn_gltf_read_accessor(m->r, &weights, &weight_values));
  size_t width = (size_t)m->mesh->influence_count;
  for (size_t i = 0; i < 4 * (size_t)p->vertex_count; ++i) {
    size_t to = (p->first_vertex + i / 4) * width + 4 * set + i % 4;
    if (joint_values[i] > UINT16_MAX) {
      return fail_attribute(m, p, joints_key, "found a joint beyond 65535, expected a lower one");
    }
    if (!(weight_values[i] >= 0.0 && weight_values[i] <= WEIGHT_MAX)) {
      return fail_attribute(m, p, weights_key, "found a weight beyond 0 to 1e6, expected 0 to 1");
    }
    m->mesh->joints[to] = (uint16_t)joint_values[i];
    m->mesh->weights[to] = (float)weight_values[i];
  }
  return SN_OK;
}

// A sum of 1, unless all are 0. @return false then
static bool normalise_weights(float* weights, int count) {
  double sum = 0.0;
  int used = 0;
  for (int i = 0; i < count; ++i) {
    sum += (double)weights[i];
    used += weights[i] > 0.0f;
  }
  if (used == 0) return false;
  if (fabs(sum - 1.0) <= SUM_TOLERANCE * used) return true;
  for (int i = 0; i < count; ++i) weights[i] = (float)((double)weights[i] / sum);
  return true;
}

// Joints without weight become joint 0 and repeated joints one; the weights sum to 1.
// @return false where nothing has a weight; that is given to a joint once those are known
static bool tidy_influences(uint16_t* joints, float* weights, int count) {
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i && weights[i] > 0.0f; ++k) {
      if (joints[k] != joints[i] || weights[k] == 0.0f) continue;
      weights[k] += weights[i];
      weights[i] = 0.0f;
    }
  }
  bool weighted = normalise_weights(weights, count);
  for (int i = 0; i < count; ++i) {
    if (weights[i] == 0.0f) joints[i] = 0;
  }
  return weighted;
}

static sn_status read_influences(mesh_reader* m, const primitive* p) {
  for (uint32_t set = 0; set < p->set_count; ++set) SN_TRY(read_set(m, p, set));
  size_t width = (size_t)m->mesh->influence_count;
  for (size_t v = p->first_vertex; width > 0 && v < p->first_vertex + p->vertex_count; ++v) {
    bool weighted =
        tidy_influences(m->mesh->joints + v * width, m->mesh->weights + v * width, (int)width);
    m->unweighted_count += !weighted;
  }
  return SN_OK;
}

static sn_status read_maps(mesh_reader* m, const primitive* p) {
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)p->attributes, key, value) {
    sn_gltf_accessor accessor;
    if (key[0] != '_') continue;
    SN_TRY(find_attribute(m, p, key, &accessor));
    if (!is_map(key, &accessor)) continue;
    double* values;
    SN_TRY(sn_gltf_read_accessor(m->r, &accessor, &values));
    size_t index = (size_t)json_integer_value(json_object_get(m->map_indices, key));
    float* to = m->mesh->maps[index].values + p->first_vertex;
    for (uint32_t v = 0; v < p->vertex_count; ++v) to[v] = (float)values[v];
  }
  return SN_OK;
}

static sn_status read_primitives(mesh_reader* m) {
  for (uint32_t i = 0; i < m->primitive_count; ++i) {
    const primitive* p = &m->primitives[i];
    sn_arena_mark mark = sn_arena_get_mark(m->r->scratch);
    SN_TRY(add_vertices(m, p));
    SN_TRY(add_uvs(m, p));
    SN_TRY(add_triangles(m, p));
    SN_TRY(read_influences(m, p));
    SN_TRY(read_maps(m, p));
    sn_place list_at = sn_place_key(m->at, "primitives"), at = sn_place_index(&list_at, p->index);
    SN_TRY(sn_gltf_read_morphs(m->r, &at, p->entry, p->first_vertex, p->vertex_count,
                               m->vertex_count, m->mesh));
    sn_arena_release(m->r->scratch, mark);
  }
  return sn_mesh_builder_finish(&m->builder, &m->mesh->mesh, m->r->json.err);
}

static void report(const mesh_reader* m) {
  const char* file = m->r->json.file;
  if (m->skipped_count > 0) {
    sn_log(SN_LOG_WARNING, "%s: mesh \"%s\": %u primitives that are not triangles are left out",
           file, m->mesh->name, m->skipped_count);
  }
  if (m->unweighted_count > 0) {
    sn_log(SN_LOG_WARNING, "%s: mesh \"%s\": %u vertices without weights follow the nearest joint",
           file, m->mesh->name, m->unweighted_count);
  }
}

static sn_status read_mesh(sn_gltf_reader* r, const sn_place* at, uint32_t index) {
  mesh_reader m = {.r = r, .at = at, .mesh = &r->gltf->meshes[index]};
  m.map_indices = json_object();
  sn_status status = m.map_indices ? SN_OK : sn_fail_memory(r->json.err, sizeof(json_t*));
  const json_t* entry = sn_gltf_entry(r, "meshes", index);
  if (status == SN_OK) status = survey(&m, entry);
  if (status == SN_OK) status = take_arrays(&m);
  if (status == SN_OK) status = sn_gltf_take_morphs(r, at, entry, m.vertex_count, m.mesh);
  if (status == SN_OK) status = read_primitives(&m);
  if (status == SN_OK) report(&m);
  json_decref(m.map_indices);
  sn_mesh_builder_destroy(&m.builder);
  return status;
}

sn_status sn_gltf_read_meshes(sn_gltf_reader* r) {
  uint32_t count = sn_gltf_entry_count(r, "meshes");
  SN_TRY(SN_ARENA_NEW(r->gltf->storage, count, &r->gltf->meshes, r->json.err));
  r->gltf->mesh_count = count;
  SN_TRY(sn_gltf_name_entries(r, "meshes", "mesh", r->gltf->meshes, sizeof *r->gltf->meshes));
  sn_place list_at = sn_place_key(NULL, "meshes");
  for (uint32_t i = 0; i < count; ++i) {
    sn_place at = sn_place_index(&list_at, i);
    sn_arena_mark mark = sn_arena_get_mark(r->scratch);
    SN_TRY(read_mesh(r, &at, i));
    sn_arena_release(r->scratch, mark);
  }
  return SN_OK;
}
