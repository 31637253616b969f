// GLB files: a JSON chunk with the document and a binary chunk with all of its numbers. The same
// document gives the same bytes.
#include "io/gltf_write.h"

#include <string.h>

#include "io/file.h"
#include "io/gltf.h"

#define HEADER_BYTES 12
#define CHUNK_HEADER_BYTES 8
#define MAGIC 0x46546C67u  // "glTF"
#define KIND_JSON 0x4E4F534Au
#define KIND_BINARY 0x004E4942u
#define JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(17))

// Documents

sn_status sn_gltf_put(sn_gltf_writer* w, json_t* object, const char* key, json_t* value) {
  if (json_object_set_new(object, key, value) == 0) return SN_OK;
  return sn_fail_memory(w->err, strlen(key));
}

sn_status sn_gltf_append(sn_gltf_writer* w, json_t* list, json_t* value) {
  if (json_array_append_new(list, value) == 0) return SN_OK;
  return sn_fail_memory(w->err, sizeof(json_t*));
}

sn_status sn_gltf_put_list(sn_gltf_writer* w, json_t* object, const char* key, json_t** list) {
  return sn_gltf_put(w, object, key, *list = json_array());
}

sn_status sn_gltf_append_object(sn_gltf_writer* w, json_t* list, json_t** object) {
  return sn_gltf_append(w, list, *object = json_object());
}

sn_status sn_gltf_put_name(sn_gltf_writer* w, json_t* object, const char* name) {
  if (!name) return SN_OK;
  json_t* text = json_string(name);
  SN_CHECK(text, w->err, SN_ERR_USAGE, "a name is not UTF-8, as JSON must be");
  return sn_gltf_put(w, object, "name", text);
}

sn_status sn_gltf_put_numbers(sn_gltf_writer* w, json_t* object, const char* key,
                              const double* numbers, int count) {
  json_t* list;
  SN_TRY(sn_gltf_put_list(w, object, key, &list));
  for (int i = 0; i < count; ++i) SN_TRY(sn_gltf_append(w, list, json_real(numbers[i])));
  return SN_OK;
}

// Numbers

static sn_status reserve_bytes(sn_gltf_writer* w, size_t count) {
  if (count <= w->capacity - w->size) return SN_OK;
  size_t capacity = 2 * w->capacity + count + 4096;
  unsigned char* bytes = sn_allocate(capacity);
  if (!bytes) return sn_fail_memory(w->err, capacity);
  if (w->size > 0) memcpy(bytes, w->bytes, w->size);
  sn_release(w->bytes);
  w->bytes = bytes;
  w->capacity = capacity;
  return SN_OK;
}

static void store_little(unsigned char* to, uint32_t bits, size_t size) {
  for (size_t i = 0; i < size; ++i) to[i] = (unsigned char)(bits >> 8 * i);
}

static sn_status add_bytes(sn_gltf_writer* w, const sn_gltf_array* array) {
  size_t count = (size_t)array->width * array->count;
  size_t size = array->component == SN_GLTF_UINT16 ? 2 : 4;
  SN_TRY(reserve_bytes(w, count * size + 3));
  unsigned char* to = w->bytes + w->size;
  for (size_t i = 0; i < count; ++i, to += size) {
    uint16_t half = 0;
    uint32_t bits = 0;
    if (size == 2) {
      memcpy(&half, (const unsigned char*)array->values + 2 * i, sizeof half);
      bits = half;
    } else {
      memcpy(&bits, (const unsigned char*)array->values + 4 * i, sizeof bits);
    }
    store_little(to, bits, size);
  }
  w->size += count * size;
  while (w->size % 4 != 0) w->bytes[w->size++] = 0;  // where the next one may begin
  return SN_OK;
}

static sn_status put_range(sn_gltf_writer* w, json_t* accessor, const sn_gltf_array* array) {
  const float* values = array->values;
  double lo[16], hi[16];
  for (uint32_t i = 0; i < array->width; ++i) lo[i] = hi[i] = (double)values[i];
  for (size_t i = array->width; i < (size_t)array->width * array->count; ++i) {
    double value = (double)values[i];
    size_t k = i % array->width;
    if (value < lo[k]) lo[k] = value;
    if (value > hi[k]) hi[k] = value;
  }
  SN_TRY(sn_gltf_put_numbers(w, accessor, "min", lo, (int)array->width));
  return sn_gltf_put_numbers(w, accessor, "max", hi, (int)array->width);
}

size_t sn_gltf_array_bytes(const sn_gltf_array* array) {
  return (array->component == SN_GLTF_UINT16 ? 2 : 4) * (size_t)array->width * array->count;
}

sn_status sn_gltf_add_accessor(sn_gltf_writer* w, const sn_gltf_array* array, size_t start) {
  json_t *view, *accessor;
  json_int_t size = (json_int_t)sn_gltf_array_bytes(array);
  SN_TRY(sn_gltf_append_object(w, w->views, &view));
  SN_TRY(sn_gltf_put(w, view, "buffer", json_integer(0)));
  SN_TRY(sn_gltf_put(w, view, "byteOffset", json_integer((json_int_t)start)));
  SN_TRY(sn_gltf_put(w, view, "byteLength", json_integer(size)));
  if (array->target) SN_TRY(sn_gltf_put(w, view, "target", json_integer(array->target)));

  json_int_t index = (json_int_t)json_array_size(w->accessors);
  SN_TRY(sn_gltf_append_object(w, w->accessors, &accessor));
  SN_TRY(sn_gltf_put(w, accessor, "bufferView", json_integer(index)));
  SN_TRY(sn_gltf_put(w, accessor, "componentType", json_integer(array->component)));
  SN_TRY(sn_gltf_put(w, accessor, "count", json_integer(array->count)));
  SN_TRY(sn_gltf_put(w, accessor, "type", json_string(array->type)));
  return array->has_range ? put_range(w, accessor, array) : SN_OK;
}

sn_status sn_gltf_put_array(sn_gltf_writer* w, json_t* object, const char* key,
                            const sn_gltf_array* array) {
  size_t start = w->size;
  json_int_t index = (json_int_t)json_array_size(w->accessors);
  SN_TRY(add_bytes(w, array));
  SN_TRY(sn_gltf_add_accessor(w, array, start));
  return sn_gltf_put(w, object, key, json_integer(index));
}

// Entries

// A mesh without triangles cannot be in a file. @param places index of each mesh there, or -1
static sn_status put_meshes(sn_gltf_writer* w, json_t* list, int32_t* places) {
  for (uint32_t m = 0; m < w->gltf->mesh_count; ++m) {
    const sn_gltf_mesh* mesh = &w->gltf->meshes[m];
    places[m] = -1;
    if (mesh->mesh.triangle_count == 0) continue;
    places[m] = (int32_t)json_array_size(list);
    json_t* object;
    SN_TRY(sn_gltf_append_object(w, list, &object));
    SN_TRY(sn_gltf_put_mesh(w, object, mesh));
  }
  return SN_OK;
}

static bool is_vector(sn_vec3 v, double x, double y, double z) {
  const double all[] = {x, y, z}, own[] = {v.x, v.y, v.z};
  return memcmp(own, all, sizeof all) == 0;  // -0 is worth writing
}

static sn_status put_transform(sn_gltf_writer* w, json_t* object, const sn_gltf_node* node) {
  if (node->has_matrix) return sn_gltf_put_numbers(w, object, "matrix", node->matrix, 16);
  const sn_vec3 *t = &node->translate, *s = &node->scale;
  const sn_quat* q = &node->rotate;
  if (!is_vector(*t, 0.0, 0.0, 0.0)) {
    SN_TRY(sn_gltf_put_numbers(w, object, "translation", (double[]){t->x, t->y, t->z}, 3));
  }
  if (!is_vector((sn_vec3){q->x, q->y, q->z}, 0.0, 0.0, 0.0) || q->w != 1.0) {
    SN_TRY(sn_gltf_put_numbers(w, object, "rotation", (double[]){q->x, q->y, q->z, q->w}, 4));
  }
  if (is_vector(*s, 1.0, 1.0, 1.0)) return SN_OK;
  return sn_gltf_put_numbers(w, object, "scale", (double[]){s->x, s->y, s->z}, 3);
}

static sn_status put_node(sn_gltf_writer* w, json_t* list, const sn_gltf_node* node,
                          const int32_t* mesh_places) {
  json_t* object;
  SN_TRY(sn_gltf_append_object(w, list, &object));
  SN_TRY(sn_gltf_put_name(w, object, node->name));
  SN_TRY(put_transform(w, object, node));
  if (node->mesh < 0 || mesh_places[node->mesh] < 0) return SN_OK;
  SN_TRY(sn_gltf_put(w, object, "mesh", json_integer(mesh_places[node->mesh])));
  return node->skin < 0 ? SN_OK : sn_gltf_put(w, object, "skin", json_integer(node->skin));
}

// Into the children of its parent, or the roots of the scene.
static sn_status put_below(sn_gltf_writer* w, json_t* nodes, json_t* roots, uint32_t index) {
  int32_t parent = w->gltf->nodes[index].parent;
  json_t* siblings = roots;
  if (parent >= 0) {
    json_t* object = json_array_get(nodes, (size_t)parent);
    siblings = json_object_get(object, "children");
    if (!siblings) SN_TRY(sn_gltf_put_list(w, object, "children", &siblings));
  }
  return sn_gltf_append(w, siblings, json_integer(index));
}

static sn_status put_nodes(sn_gltf_writer* w, json_t* scenes, json_t* list,
                           const int32_t* mesh_places) {
  json_t *scene, *roots;
  SN_TRY(sn_gltf_append_object(w, scenes, &scene));
  SN_TRY(sn_gltf_put_list(w, scene, "nodes", &roots));
  for (uint32_t n = 0; n < w->gltf->node_count; ++n) {
    SN_TRY(put_node(w, list, &w->gltf->nodes[n], mesh_places));
  }
  for (uint32_t n = 0; n < w->gltf->node_count; ++n) SN_TRY(put_below(w, list, roots, n));
  return SN_OK;
}

static sn_status put_skin(sn_gltf_writer* w, json_t* list, const sn_gltf_skin* skin) {
  json_t *object, *joints;
  SN_TRY(sn_gltf_append_object(w, list, &object));
  SN_TRY(sn_gltf_put_name(w, object, skin->name));
  SN_TRY(sn_gltf_put_list(w, object, "joints", &joints));
  for (uint32_t j = 0; j < skin->joint_count; ++j) {
    SN_TRY(sn_gltf_append(w, joints, json_integer(skin->joints[j])));
  }
  sn_arena_mark mark = sn_arena_get_mark(w->scratch);
  size_t count = 16 * (size_t)skin->joint_count;
  float* matrices;
  SN_TRY(SN_ARENA_NEW(w->scratch, count, &matrices, w->err));
  for (size_t i = 0; i < count; ++i) matrices[i] = (float)skin->inverse_bind[i];
  const sn_gltf_array array = {.values = matrices,
                               .component = SN_GLTF_FLOAT,
                               .type = "MAT4",
                               .width = 16,
                               .count = skin->joint_count};
  SN_TRY(sn_gltf_put_array(w, object, "inverseBindMatrices", &array));
  sn_arena_release(w->scratch, mark);
  return SN_OK;
}

// Channels that follow one another often share their times.
static bool same_times(const sn_gltf_channel* a, const sn_gltf_channel* b) {
  return a->key_count == b->key_count &&
         memcmp(a->times, b->times, a->key_count * sizeof *a->times) == 0;
}

static sn_status put_sampler(sn_gltf_writer* w, json_t* samplers, const sn_gltf_channel* channel,
                             const sn_gltf_channel* before) {
  static const char* const names[] = {
      [SN_GLTF_LINEAR] = "LINEAR", [SN_GLTF_STEP] = "STEP", [SN_GLTF_CUBIC] = "CUBICSPLINE"};
  const json_t* last = json_array_get(samplers, json_array_size(samplers) - 1);
  json_t* sampler;
  SN_TRY(sn_gltf_append_object(w, samplers, &sampler));
  if (before && same_times(before, channel)) {
    json_int_t times = json_integer_value(json_object_get(last, "input"));
    SN_TRY(sn_gltf_put(w, sampler, "input", json_integer(times)));
  } else {
    const sn_gltf_array times = {.values = channel->times,
                                 .component = SN_GLTF_FLOAT,
                                 .type = "SCALAR",
                                 .width = 1,
                                 .count = channel->key_count,
                                 .has_range = true};
    SN_TRY(sn_gltf_put_array(w, sampler, "input", &times));
  }
  bool rotates = channel->path == SN_GLTF_ROTATE;
  uint32_t parts = channel->interpolation == SN_GLTF_CUBIC ? 3 : 1;
  const sn_gltf_array values = {.values = channel->values,
                                .component = SN_GLTF_FLOAT,
                                .type = rotates ? "VEC4" : "VEC3",
                                .width = rotates ? 4 : 3,
                                .count = parts * channel->key_count};
  SN_TRY(sn_gltf_put_array(w, sampler, "output", &values));
  return sn_gltf_put(w, sampler, "interpolation", json_string(names[channel->interpolation]));
}

static sn_status put_clip(sn_gltf_writer* w, json_t* list, const sn_gltf_clip* clip) {
  static const char* const paths[] = {[SN_GLTF_TRANSLATE] = "translation",
                                      [SN_GLTF_ROTATE] = "rotation",
                                      [SN_GLTF_SCALE] = "scale"};
  json_t *object, *channels, *samplers;
  SN_TRY(sn_gltf_append_object(w, list, &object));
  SN_TRY(sn_gltf_put_name(w, object, clip->name));
  SN_TRY(sn_gltf_put_list(w, object, "channels", &channels));
  SN_TRY(sn_gltf_put_list(w, object, "samplers", &samplers));
  for (uint32_t c = 0; c < clip->channel_count; ++c) {
    const sn_gltf_channel* channel = &clip->channels[c];
    SN_TRY(put_sampler(w, samplers, channel, c > 0 ? channel - 1 : NULL));
    json_t *entry, *target;
    SN_TRY(sn_gltf_append_object(w, channels, &entry));
    SN_TRY(sn_gltf_put(w, entry, "sampler", json_integer(c)));
    SN_TRY(sn_gltf_put(w, entry, "target", target = json_object()));
    SN_TRY(sn_gltf_put(w, target, "node", json_integer(channel->node)));
    SN_TRY(sn_gltf_put(w, target, "path", json_string(paths[channel->path])));
  }
  return SN_OK;
}

// The whole

void sn_gltf_drop_empty_lists(json_t* root) {
  const char* key;
  json_t* value;
  void* next;
  json_object_foreach_safe(root, next, key, value) {
    if (json_is_array(value) && json_array_size(value) == 0) json_object_del(root, key);
  }
}

static sn_status put_buffer(sn_gltf_writer* w) {
  json_t *buffers, *buffer;
  SN_TRY(sn_gltf_put_list(w, w->root, "buffers", &buffers));
  if (w->size == 0) return SN_OK;
  SN_TRY(sn_gltf_append_object(w, buffers, &buffer));
  return sn_gltf_put(w, buffer, "byteLength", json_integer((json_int_t)w->size));
}

static sn_status put_document(sn_gltf_writer* w) {
  const sn_gltf* gltf = w->gltf;
  json_t *asset, *scenes, *nodes, *meshes, *skins, *clips;
  SN_TRY(sn_gltf_put(w, w->root, "asset", asset = json_object()));
  SN_TRY(sn_gltf_put(w, asset, "version", json_string("2.0")));
  SN_TRY(sn_gltf_put(w, asset, "generator", json_string("Sinew")));
  if (gltf->node_count > 0) SN_TRY(sn_gltf_put(w, w->root, "scene", json_integer(0)));
  SN_TRY(sn_gltf_put_list(w, w->root, "scenes", &scenes));
  SN_TRY(sn_gltf_put_list(w, w->root, "nodes", &nodes));
  SN_TRY(sn_gltf_put_list(w, w->root, "meshes", &meshes));
  SN_TRY(sn_gltf_put_list(w, w->root, "skins", &skins));
  SN_TRY(sn_gltf_put_list(w, w->root, "animations", &clips));
  SN_TRY(sn_gltf_put_list(w, w->root, "materials", &w->materials));
  SN_TRY(sn_gltf_put_list(w, w->root, "accessors", &w->accessors));
  SN_TRY(sn_gltf_put_list(w, w->root, "bufferViews", &w->views));

  int32_t* mesh_places;
  SN_TRY(SN_ARENA_NEW(w->scratch, gltf->mesh_count, &mesh_places, w->err));
  SN_TRY(put_meshes(w, meshes, mesh_places));
  if (gltf->node_count > 0) SN_TRY(put_nodes(w, scenes, nodes, mesh_places));
  for (uint32_t s = 0; s < gltf->skin_count; ++s) SN_TRY(put_skin(w, skins, &gltf->skins[s]));
  for (uint32_t c = 0; c < gltf->clip_count; ++c) {
    if (gltf->clips[c].channel_count > 0) SN_TRY(put_clip(w, clips, &gltf->clips[c]));
  }
  SN_TRY(put_buffer(w));
  sn_gltf_drop_empty_lists(w->root);
  return SN_OK;
}

// Header, JSON chunk padded with spaces, binary chunk if there is one.
static sn_status write_container(sn_gltf_writer* w, const char* path) {
  size_t text_size = json_dumpb(w->root, NULL, 0, JSON_FLAGS);
  size_t padded = (text_size + 3) / 4 * 4;
  size_t binary = w->size > 0 ? CHUNK_HEADER_BYTES + w->size : 0;
  size_t total = HEADER_BYTES + CHUNK_HEADER_BYTES + padded + binary;
  SN_CHECK(text_size > 0, w->err, SN_ERR_MEMORY, "out of memory");
  SN_CHECK(total <= UINT32_MAX, w->err, SN_ERR_USAGE,
           "%s: %zu bytes, more than a GLB file can have", path, total);
  char* bytes;
  SN_TRY(SN_ARENA_NEW(w->scratch, total, &bytes, w->err));
  unsigned char* at = (unsigned char*)bytes;
  store_little(at, MAGIC, 4);
  store_little(at + 4, 2, 4);
  store_little(at + 8, (uint32_t)total, 4);
  store_little(at + 12, (uint32_t)padded, 4);
  store_little(at + 16, KIND_JSON, 4);
  memset(at + 20, ' ', padded);
  json_dumpb(w->root, bytes + 20, text_size, JSON_FLAGS);
  if (binary > 0) {
    at += 20 + padded;
    store_little(at, (uint32_t)w->size, 4);
    store_little(at + 4, KIND_BINARY, 4);
    memcpy(at + 8, w->bytes, w->size);
  }
  return sn_file_write_atomic(path, bytes, total, w->err);
}

sn_status sn_gltf_save(const char* path, const sn_gltf* gltf, sn_error* err) {
  SN_TRY(sn_gltf_check(gltf, err));
  sn_gltf_writer w = {.gltf = gltf, .root = json_object(), .err = err};
  sn_status status = sn_arena_create(&w.scratch, err);
  if (status == SN_OK) status = put_document(&w);
  if (status == SN_OK) status = write_container(&w, path);
  json_decref(w.root);
  sn_release(w.bytes);
  sn_arena_destroy(w.scratch);
  return status;
}
