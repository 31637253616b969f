// Collada files: what the parts share, nodes, unit and axes.
#include "io/dae.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "io/gltf.h"
#include "io/text.h"
#include "math/affine.h"

#define DEGREE 0.017453292519943295

sn_status sn_dae_fail(const sn_dae* d, const sn_xml* at, const char* found, const char* expected) {
  return sn_fail(d->im->err, SN_ERR_INPUT, "%s: line %llu: <%.40s>: found %s, expected %s",
                 d->im->path, (unsigned long long)at->line, at->name, found, expected);
}

const sn_xml* sn_dae_find(const sn_dae* d, const char* url) {
  const json_t* place = json_object_get(d->ids, url[0] == '#' ? url + 1 : url);
  return place ? d->elements[json_integer_value(place)] : NULL;
}

static sn_token next_word(sn_text* text) {
  sn_token token;
  while (!sn_text_next_token(text, &token)) {
    if (!sn_text_next_line(text)) return (sn_token){text->at, 0};
  }
  return token;
}

static sn_status charge(sn_dae* d, const sn_xml* at, uint64_t count) {
  if (count > d->budget) {
    return sn_dae_fail(d, at, "more numbers than a file of this size can mean", "fewer");
  }
  d->budget -= count;
  return SN_OK;
}

sn_status sn_dae_numbers(sn_dae* d, const sn_xml* element, double** numbers, size_t* count) {
  size_t length = strlen(element->text);
  sn_text text = {.at = element->text, .end = element->text + length, .line = element->line};
  *count = 0;
  SN_TRY(charge(d, element, length / 2 + 1));
  SN_TRY(SN_ARENA_RAW(d->im->scratch, length / 2 + 1, numbers, d->im->err));
  for (sn_token word; (word = next_word(&text)).length > 0; ++*count) {
    double* number = &(*numbers)[*count];
    if (!sn_token_to_number(word, number) || !(fabs(*number) < 1e30)) {
      sn_quote quote = sn_token_quote(word);
      return sn_dae_fail(d, element, quote.text, "numbers");
    }
  }
  return SN_OK;
}

size_t sn_dae_whole(const sn_xml* element, const char* attribute, size_t preset) {
  const char* value = sn_xml_value(element, attribute);
  int64_t number;
  sn_token token = {value, strlen(value)};
  if (!sn_token_to_integer(token, &number) || number < 0 || number > UINT32_MAX) return preset;
  return (size_t)number;
}

sn_status sn_dae_source_of(sn_dae* d, const sn_xml* at, const char* url, sn_dae_source* source) {
  const sn_xml* from = sn_dae_find(d, url);
  const sn_xml* accessor = sn_xml_child(sn_xml_child(from, "technique_common"), "accessor");
  const sn_xml* array = accessor ? sn_dae_find(d, sn_xml_value(accessor, "source")) : NULL;
  if (!array) array = sn_xml_child(from, "float_array");
  if (!array) return sn_dae_fail(d, at, "a reference to no numbers", "that of a source");
  double* values;
  size_t count;
  SN_TRY(sn_dae_numbers(d, array, &values, &count));
  size_t offset = sn_dae_whole(accessor, "offset", 0);
  source->stride = sn_dae_whole(accessor, "stride", 1);
  if (source->stride == 0) source->stride = 1;
  source->count = sn_dae_whole(accessor, "count", count / source->stride);
  if (offset > count || source->count > (count - offset) / source->stride) {
    return sn_dae_fail(d, accessor ? accessor : array, "more elements than numbers",
                       "as many as the array has");
  }
  source->values = values + offset;
  return SN_OK;
}

sn_status sn_dae_words(sn_dae* d, const sn_xml* source, const char*** words, size_t* count) {
  const sn_xml* array = sn_xml_child(source, "Name_array");
  if (!array) array = sn_xml_child(source, "IDREF_array");
  *count = 0;
  *words = NULL;
  if (!array) return SN_OK;
  size_t length = strlen(array->text);
  sn_text text = {.at = array->text, .end = array->text + length, .line = 1};
  SN_TRY(charge(d, array, length / 2 + 1));
  SN_TRY(SN_ARENA_RAW(d->im->scratch, length / 2 + 1, words, d->im->err));
  for (sn_token word; (word = next_word(&text)).length > 0; ++*count) {
    char* copy;
    SN_TRY(SN_ARENA_NEW(d->im->scratch, word.length + 1, &copy, d->im->err));
    memcpy(copy, word.start, word.length);
    (*words)[*count] = copy;
  }
  return SN_OK;
}

const sn_xml* sn_dae_input(const sn_xml* within, const char* semantic) {
  const sn_xml* input = sn_xml_child(within, "input");
  while (input && strcmp(sn_xml_value(input, "semantic"), semantic) != 0)
    input = sn_xml_again(input);
  return input;
}

// Nodes

bool sn_dae_transform(const char* kind, const double* v, size_t count, double m[16]) {
  sn_affine_identity(m);
  if (strcmp(kind, "matrix") == 0 && count == 16) {
    for (int i = 0; i < 12; ++i) m[4 * (i % 4) + i / 4] = v[i];
  } else if (strcmp(kind, "translate") == 0 && count == 3) {
    sn_store3(m + 12, sn_load3(v));
  } else if (strcmp(kind, "scale") == 0 && count == 3) {
    for (int i = 0; i < 3; ++i) m[5 * i] = v[i];
  } else if (strcmp(kind, "rotate") == 0 && count == 4) {
    double length = sn_length(sn_load3(v)),
           half = 0.5 * DEGREE * (v[3] - 720.0 * floor(v[3] / 720.0));
    if (length == 0.0) return true;
    sn_vec3 axis = sn_scale(sn_sin(half) / length, sn_load3(v));
    sn_affine_compose(sn_v3(0.0, 0.0, 0.0), (sn_quat){axis.x, axis.y, axis.z, sn_cos(half)},
                      sn_v3(1.0, 1.0, 1.0), m);
  } else {
    return false;
  }
  return true;
}

static sn_status place_node(sn_dae* d, uint32_t n) {
  double world[16], m[16], product[16];
  sn_affine_identity(world);
  for (const sn_xml* e = d->nodes[n] ? d->nodes[n]->first : NULL; e; e = e->next) {
    static const char* const kinds[] = {"matrix", "translate", "rotate", "scale"};
    bool is_transform = false;
    for (int k = 0; k < 4; ++k) is_transform = is_transform || strcmp(e->name, kinds[k]) == 0;
    if (!is_transform) continue;
    double* numbers;
    size_t count;
    SN_TRY(sn_dae_numbers(d, e, &numbers, &count));
    if (!sn_dae_transform(e->name, numbers, count, m)) {
      return sn_dae_fail(d, e, "another count of numbers", "16, 3 or 4");
    }
    sn_affine_multiply(world, m, product);
    memcpy(world, product, sizeof world);
  }
  sn_import_place(world, &d->im->gltf->nodes[n]);
  return SN_OK;
}

static bool is_instance(const sn_xml* e) {
  return strcmp(e->name, "instance_geometry") == 0 || strcmp(e->name, "instance_controller") == 0;
}

// A node each, and one more for each mesh behind the first.
static sn_status list_nodes(sn_dae* d, const sn_xml* scene) {
  sn_gltf* gltf = d->im->gltf;
  size_t room = 0;
  for (const sn_xml* e = scene; e; e = sn_xml_walk(scene, e)) {
    room += strcmp(e->name, "node") == 0 || is_instance(e);
  }
  SN_TRY(SN_ARENA_NEW(gltf->storage, room, &gltf->nodes, d->im->err));
  SN_TRY(SN_ARENA_NEW(d->im->scratch, room, &d->nodes, d->im->err));
  SN_TRY(SN_ARENA_NEW(d->im->scratch, room, &d->meshes, d->im->err));
  // In preorder, the parent of a node is among the ancestors of the one before it.
  int32_t before = -1;
  for (const sn_xml* e = scene; e; e = sn_xml_walk(scene, e)) {
    bool is_node = strcmp(e->name, "node") == 0;
    if (!is_node && !is_instance(e)) continue;
    int32_t parent = before;
    while (parent >= 0 && d->nodes[parent] != e->parent) parent = gltf->nodes[parent].parent;
    if (!is_node && parent >= 0 && !d->meshes[parent]) {
      d->meshes[parent] = e;
      continue;
    }
    uint32_t n = gltf->node_count++;
    gltf->nodes[n].parent = parent;
    d->nodes[n] = is_node ? e : NULL;
    d->meshes[n] = is_node ? NULL : e;
    if (is_node) before = (int32_t)n;
  }
  return SN_OK;
}

static sn_status take_nodes(sn_dae* d) {
  sn_gltf* gltf = d->im->gltf;
  const sn_xml* used = sn_xml_child(sn_xml_child(d->root->first, "scene"), "instance_visual_scene");
  const sn_xml* scene = used ? sn_dae_find(d, sn_xml_value(used, "url")) : NULL;
  if (!scene) {
    scene = sn_xml_child(sn_xml_child(d->root->first, "library_visual_scenes"), "visual_scene");
  }
  if (!scene) return sn_dae_fail(d, d->root->first, "no visual scene", "one with nodes");
  SN_TRY(list_nodes(d, scene));
  const char** given;
  SN_TRY(SN_ARENA_NEW(d->im->scratch, gltf->node_count, &given, d->im->err));
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    gltf->nodes[n].mesh = gltf->nodes[n].skin = -1;
    SN_TRY(place_node(d, n));
    given[n] = sn_xml_value(d->nodes[n], "name");
    if (!given[n][0]) given[n] = sn_xml_value(d->nodes[n], "id");
  }
  return sn_gltf_name_items(gltf->storage, d->im->scratch, given, gltf->node_count, "node",
                            gltf->nodes, sizeof *gltf->nodes, d->im->err);
}

// The file

static sn_status list_ids(sn_dae* d) {
  size_t count = 0;
  for (const sn_xml* e = d->root; e; e = sn_xml_walk(d->root, e)) ++count;
  SN_TRY(SN_ARENA_NEW(d->im->scratch, count, &d->elements, d->im->err));
  count = 0;
  for (const sn_xml* e = d->root; e; e = sn_xml_walk(d->root, e)) {
    const char* id = sn_xml_value(e, "id");
    if (!id[0] || json_object_get(d->ids, id)) continue;
    d->elements[count] = e;
    if (json_object_set_new_nocheck(d->ids, id, json_integer((json_int_t)count++)) != 0) {
      return sn_fail_memory(d->im->err, strlen(id));
    }
  }
  return SN_OK;
}

static sn_status read_frame(sn_dae* d, sn_import_frame* frame) {
  const sn_xml* asset = sn_xml_child(d->root->first, "asset");
  const sn_xml *unit = sn_xml_child(asset, "unit"), *up = sn_xml_child(asset, "up_axis");
  const char* metres = sn_xml_value(unit, "meter");
  const char* axis = up ? up->text : "Y_UP";
  *frame = (sn_import_frame){.metres = 1.0};
  sn_token token = {metres, strlen(metres)};
  if (metres[0] && !sn_token_to_number(token, &frame->metres)) frame->metres = 0.0;
  if (strncmp(axis, "Z_UP", 4) == 0) {
    frame->axes[0][0] = frame->axes[1][2] = 1.0;
    frame->axes[2][1] = -1.0;
  } else if (strncmp(axis, "X_UP", 4) == 0) {
    frame->axes[0][1] = -1.0;
    frame->axes[1][0] = frame->axes[2][2] = 1.0;
  } else {
    for (int i = 0; i < 3; ++i) frame->axes[i][i] = 1.0;
  }
  if (!sn_import_frame_is_valid(frame)) {
    return sn_dae_fail(d, unit, "another unit", "1e-9 to 1e9 metres");
  }
  return SN_OK;
}

static sn_status take_document(sn_dae* d) {
  sn_import_frame frame;
  SN_TRY(list_ids(d));
  SN_TRY(read_frame(d, &frame));
  SN_TRY(take_nodes(d));
  SN_TRY(sn_dae_take_meshes(d));
  SN_TRY(sn_dae_take_clip(d));
  sn_import_convert(&frame, d->im->gltf);
  return sn_import_finish(d->im);
}

sn_status sn_import_dae(sn_import* im) {
  sn_dae d = {.im = im};
  char* bytes;
  size_t size;
  SN_TRY(sn_import_read_file(im, &bytes, &size));
  SN_TRY(sn_xml_parse(im->path, bytes, size, im->scratch, &d.root, im->err));
  SN_CHECK(strcmp(d.root->first->name, "COLLADA") == 0, im->err, SN_ERR_INPUT,
           "%s: line %llu: found <%.40s>, expected <COLLADA>", im->path,
           (unsigned long long)d.root->first->line, d.root->first->name);
  d.budget = SN_DAE_NUMBERS_FREE + SN_DAE_NUMBERS_A_BYTE * (uint64_t)size;
  d.ids = json_object();
  sn_status status = d.ids ? take_document(&d) : sn_fail_memory(im->err, sizeof(json_t*));
  json_decref(d.ids);
  return status;
}
