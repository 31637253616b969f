// Objects of an FBX file, their connections, and models as nodes.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/fbx.h"
#include "io/gltf.h"
#include "math/affine.h"

#define DEGREE 0.017453292519943295

bool sn_fbx_is(const sn_fbx_object* object, const char* kind) {
  return strcmp(object->kind, kind) == 0;
}

// Objects

static int compare_objects(const void* a, const void* b) {
  const sn_fbx_object *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  // Of two with one number, the first in the file comes first.
  return x->node < y->node ? -1 : x->node > y->node;
}

static sn_fbx_object* find_object(const sn_fbx* f, int64_t id) {
  uint32_t low = 0, high = f->object_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->objects[middle].id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < f->object_count && f->objects[low].id == id ? &f->objects[low] : NULL;
}

// "Name\0\1Model" in a binary file, "Model::Name" in a text.
static const char* plain_name(const char* name) {
  const char* colons = strstr(name, "::");
  return colons ? colons + 2 : name;
}

// Properties that all objects of a kind have unless they say otherwise.
static const sn_fbx_element* find_preset(const sn_fbx* f, const char* kind) {
  const sn_fbx_element* list = sn_fbx_find(f->root, "Definitions");
  for (const sn_fbx_element* e = list ? list->first : NULL; e; e = e->next) {
    const sn_fbx_value* v = e->value_count > 0 ? &e->values[0] : NULL;
    if (!v || v->kind != SN_FBX_TEXT || v->size != strlen(kind) ||
        memcmp(v->text, kind, v->size) != 0) {
      continue;
    }
    return sn_fbx_find(e, "PropertyTemplate");
  }
  return NULL;
}

static sn_status take_object(sn_fbx* f, const sn_fbx_element* e, uint32_t place) {
  sn_fbx_object* object = &f->objects[f->object_count++];
  char* kind;
  *object = (sn_fbx_object){.id = e->values[0].integer, .element = e, .node = (int32_t)place};
  SN_TRY(sn_fbx_text(f, e, 1, &object->name));
  SN_TRY(sn_fbx_text(f, e, 2, &object->type));
  object->name = plain_name(object->name);
  SN_TRY(SN_ARENA_NEW(f->im->scratch, e->name_size + 1, &kind, f->im->err));
  memcpy(kind, e->name, e->name_size);
  object->kind = kind;
  if (sn_fbx_is(object, "Model")) object->preset = find_preset(f, kind);
  return SN_OK;
}

// Links

static sn_status take_link(const sn_fbx* f, const sn_fbx_element* e, sn_fbx_link* link,
                           bool* is_kept) {
  *is_kept = e->value_count >= 3 && e->values[1].kind == SN_FBX_INTEGER &&
             e->values[2].kind == SN_FBX_INTEGER;
  if (!*is_kept) return SN_OK;
  const sn_fbx_object* from = find_object(f, e->values[1].integer);
  const sn_fbx_object* to = find_object(f, e->values[2].integer);
  *is_kept = from && to;
  if (!*is_kept) return SN_OK;
  *link = (sn_fbx_link){(uint32_t)(from - f->objects), (uint32_t)(to - f->objects), NULL};
  if (e->value_count < 4) return SN_OK;
  return sn_fbx_text((sn_fbx*)f, e, 3, &link->property);
}

static sn_status list_links(sn_fbx* f) {
  const sn_fbx_element* list = sn_fbx_find(f->root, "Connections");
  size_t room = 0;
  for (const sn_fbx_element* e = list ? list->first : NULL; e; e = e->next) ++room;
  sn_fbx_link* links;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, room, &links, f->im->err));
  SN_TRY(SN_ARENA_NEW(f->im->scratch, room, &f->links, f->im->err));
  for (const sn_fbx_element* e = list ? list->first : NULL; e; e = e->next) {
    bool is_kept;
    SN_TRY(take_link(f, e, &links[f->link_count], &is_kept));
    f->link_count += is_kept;
  }
  for (uint32_t i = 0; i < f->link_count; ++i) f->objects[links[i].to].link_count++;
  uint32_t first = 0;
  for (uint32_t o = 0; o < f->object_count; ++o) {
    f->objects[o].first_link = first;
    first += f->objects[o].link_count;
    f->objects[o].link_count = 0;
  }
  for (uint32_t i = 0; i < f->link_count; ++i) {
    sn_fbx_object* to = &f->objects[links[i].to];
    f->links[to->first_link + to->link_count++] = links[i];
  }
  return SN_OK;
}

sn_status sn_fbx_list_objects(sn_fbx* f) {
  const sn_fbx_element* list = sn_fbx_find(f->root, "Objects");
  SN_CHECK(list, f->im->err, SN_ERR_INPUT, "%s: found no element \"Objects\", expected a scene",
           f->im->path);
  uint64_t count = 0;
  for (const sn_fbx_element* e = list->first; e; e = e->next) ++count;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, count, &f->objects, f->im->err));
  uint32_t place = 0;
  for (const sn_fbx_element* e = list->first; e; e = e->next, ++place) {
    if (e->value_count < 1 || e->values[0].kind != SN_FBX_INTEGER) continue;
    SN_TRY(take_object(f, e, place));
  }
  if (f->object_count > 0) qsort(f->objects, f->object_count, sizeof *f->objects, compare_objects);
  return list_links(f);
}

// Properties

bool sn_fbx_property_of(const sn_fbx_element* element, const char* name, double* numbers,
                        int count) {
  const sn_fbx_element* list = element ? sn_fbx_find(element, "Properties70") : NULL;
  size_t size = strlen(name);
  for (const sn_fbx_element* p = list ? list->first : NULL; p; p = p->next) {
    // P: name, type, label, flags, numbers
    if (p->value_count < 4 + (uint32_t)count || p->values[0].kind != SN_FBX_TEXT ||
        p->values[0].size != size || memcmp(p->values[0].text, name, size) != 0) {
      continue;
    }
    for (int i = 0; i < count; ++i) {
      const sn_fbx_value* v = &p->values[4 + i];
      if ((v->kind != SN_FBX_INTEGER && v->kind != SN_FBX_NUMBER) || !isfinite(v->number)) {
        return false;
      }
    }
    for (int i = 0; i < count; ++i) numbers[i] = p->values[4 + i].number;
    return true;
  }
  return false;
}

bool sn_fbx_property(const sn_fbx_object* object, const char* name, double* numbers, int count) {
  return sn_fbx_property_of(object->element, name, numbers, count) ||
         sn_fbx_property_of(object->preset, name, numbers, count);
}

static sn_vec3 vector_of(const sn_fbx_object* model, const char* name, double preset) {
  double v[3] = {preset, preset, preset};
  sn_fbx_property(model, name, v, 3);
  return sn_load3(v);
}

// Transforms
//
//   T  Roff Rp  Rpre R Rpost^-1  Rp^-1  Soff Sp  S  Sp^-1
//
// is a scale S, then a rotation Rpre R Rpost^-1, then a shift.

static sn_quat turn_about(int axis, double degrees) {
  double half = 0.5 * DEGREE * degrees, sine = sn_sin(half);
  return (sn_quat){axis == 0 ? sine : 0.0, axis == 1 ? sine : 0.0, axis == 2 ? sine : 0.0,
                   sn_cos(half)};
}

sn_quat sn_fbx_turn(sn_vec3 degrees, int order) {
  // The axis that comes first turns first.
  static const int axes[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
  sn_quat q = sn_quat_identity();
  for (int i = 0; i < 3; ++i) {
    int axis = axes[order][i];
    // Whole turns are none.
    double angle = sn_axis(degrees, axis);
    angle -= 720.0 * floor(angle / 720.0 + 0.5);
    q = sn_quat_multiply(turn_about(axis, angle), q);
  }
  return q;
}

void sn_fbx_read_pivot(const sn_fbx_object* model, sn_fbx_pivot* pivot) {
  double order = 0.0, inherit = 1.0, is_active = 0.0;
  sn_fbx_property(model, "RotationActive", &is_active, 1);
  sn_fbx_property(model, "RotationOrder", &order, 1);
  sn_fbx_property(model, "InheritType", &inherit, 1);
  // Without RotationActive order and outer rotations mean nothing.
  bool is_outer = is_active != 0.0;
  sn_quat after = sn_fbx_turn(vector_of(model, "PostRotation", 0.0), 0);
  *pivot = (sn_fbx_pivot){
      .lcl = {vector_of(model, "Lcl Translation", 0.0), vector_of(model, "Lcl Rotation", 0.0),
              vector_of(model, "Lcl Scaling", 1.0)},
      .rotation_offset = vector_of(model, "RotationOffset", 0.0),
      .rotation_pivot = vector_of(model, "RotationPivot", 0.0),
      .scaling_offset = vector_of(model, "ScalingOffset", 0.0),
      .scaling_pivot = vector_of(model, "ScalingPivot", 0.0),
      .before =
          is_outer ? sn_fbx_turn(vector_of(model, "PreRotation", 0.0), 0) : sn_quat_identity(),
      .after = is_outer ? sn_quat_conjugate(after) : sn_quat_identity(),
      .order = is_outer && order >= 0.0 && order <= 5.0 ? (int)order : 0,
      .inherit = (int)fmin(fmax(inherit, 0.0), 2.0)};
}

static sn_vec3 scaled(sn_vec3 s, sn_vec3 v) { return sn_v3(s.x * v.x, s.y * v.y, s.z * v.z); }

void sn_fbx_place(const sn_fbx_pivot* p, const sn_vec3 lcl[SN_FBX_MOVING], sn_vec3 parent_scale,
                  sn_gltf_node* node) {
  sn_quat turn = sn_quat_multiply(p->before, sn_fbx_turn(lcl[SN_FBX_ROTATION], p->order));
  node->rotate = sn_quat_normalise(sn_quat_multiply(turn, p->after));
  node->scale = lcl[SN_FBX_SCALING];
  sn_mat3 r = sn_quat_to_mat3(node->rotate);
  sn_vec3 inner = sn_sub(p->scaling_pivot, scaled(node->scale, p->scaling_pivot));
  inner = sn_add(sn_sub(p->scaling_offset, p->rotation_pivot), inner);
  sn_vec3 outer = sn_add(sn_add(lcl[SN_FBX_TRANSLATION], p->rotation_offset), p->rotation_pivot);
  node->translate = sn_add(outer, sn_mul3v(&r, inner));
  // Scale that is not inherited is taken back, which is exact where it is the same along all axes.
  if (p->inherit == 2 && parent_scale.x * parent_scale.y * parent_scale.z != 0.0) {
    node->scale = sn_v3(node->scale.x / parent_scale.x, node->scale.y / parent_scale.y,
                        node->scale.z / parent_scale.z);
  }
}

// Nodes

static sn_status name_nodes(sn_fbx* f) {
  sn_gltf* gltf = f->im->gltf;
  const char** given;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, gltf->node_count, &given, f->im->err));
  for (uint32_t n = 0; n < gltf->node_count; ++n) given[n] = f->objects[f->models[n]].name;
  return sn_gltf_name_items(gltf->storage, f->im->scratch, given, gltf->node_count, "node",
                            gltf->nodes, sizeof *gltf->nodes, f->im->err);
}

static int compare_places(const void* a, const void* b) {
  const uint64_t *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

// Models in the order of the file; `node` of an object is its place in the file up to here.
static sn_status list_models(sn_fbx* f) {
  uint64_t* keys;
  uint32_t count = 0;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, f->object_count, &keys, f->im->err));
  for (uint32_t o = 0; o < f->object_count; ++o) {
    bool is_model = sn_fbx_is(&f->objects[o], "Model");
    if (is_model) keys[count++] = (uint64_t)(uint32_t)f->objects[o].node << 32 | o;
    f->objects[o].node = -1;
  }
  if (count > 0) qsort(keys, count, sizeof *keys, compare_places);
  SN_TRY(SN_ARENA_NEW(f->im->scratch, count, &f->models, f->im->err));
  for (uint32_t n = 0; n < count; ++n) {
    f->models[n] = (uint32_t)keys[n];
    f->objects[f->models[n]].node = (int32_t)n;
  }
  f->im->gltf->node_count = count;
  return SN_OK;
}

sn_status sn_fbx_take_nodes(sn_fbx* f) {
  sn_gltf* gltf = f->im->gltf;
  SN_TRY(list_models(f));
  SN_TRY(SN_ARENA_NEW(gltf->storage, gltf->node_count, &gltf->nodes, f->im->err));
  SN_TRY(name_nodes(f));
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    sn_gltf_node* node = &gltf->nodes[n];
    node->parent = node->mesh = node->skin = -1;
    sn_affine_identity(node->matrix);
  }
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    const sn_fbx_object* above = &f->objects[f->models[n]];
    for (uint32_t i = 0; i < above->link_count; ++i) {
      const sn_fbx_link* link = &f->links[above->first_link + i];
      int32_t child = f->objects[link->from].node;
      if (link->property || child < 0 || gltf->nodes[child].parent >= 0) continue;
      gltf->nodes[child].parent = (int32_t)n;
    }
  }
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    sn_gltf_node* node = &gltf->nodes[n];
    sn_fbx_pivot pivot, above;
    sn_fbx_read_pivot(&f->objects[f->models[n]], &pivot);
    sn_vec3 parent_scale = sn_v3(1.0, 1.0, 1.0);
    if (node->parent >= 0) {
      sn_fbx_read_pivot(&f->objects[f->models[node->parent]], &above);
      parent_scale = above.lcl[SN_FBX_SCALING];
    }
    sn_fbx_place(&pivot, pivot.lcl, parent_scale, node);
  }
  return SN_OK;
}

// The file

static sn_status read_frame(sn_fbx* f, sn_import_frame* frame) {
  static const char* const keys[3][2] = {
      {"CoordAxis", "CoordAxisSign"}, {"UpAxis", "UpAxisSign"}, {"FrontAxis", "FrontAxisSign"}};
  const sn_fbx_element* settings = sn_fbx_find(f->root, "GlobalSettings");
  double unit = 1.0;  // in centimetres
  sn_fbx_property_of(settings, "UnitScaleFactor", &unit, 1);
  *frame = (sn_import_frame){.metres = 0.01 * unit};
  for (int r = 0; r < 3; ++r) {
    double axis = r, sign = 1.0;
    sn_fbx_property_of(settings, keys[r][0], &axis, 1);
    sn_fbx_property_of(settings, keys[r][1], &sign, 1);
    SN_CHECK(axis >= 0.0 && axis <= 2.0, f->im->err, SN_ERR_INPUT,
             "%s: GlobalSettings.%s: found %g, expected 0, 1 or 2", f->im->path, keys[r][0], axis);
    frame->axes[r][(int)axis] = sign < 0.0 ? -1.0 : 1.0;
  }
  SN_CHECK(sn_import_frame_is_valid(frame), f->im->err, SN_ERR_INPUT,
           "%s: GlobalSettings: found a unit of %g cm or axes that coincide, expected three "
           "directions and a unit of 1e-7 to 1e11 cm",
           f->im->path, unit);
  return SN_OK;
}

sn_status sn_import_fbx(sn_import* im) {
  sn_fbx f = {.im = im};
  char* bytes;
  size_t size;
  sn_import_frame frame;
  SN_TRY(sn_import_read_file(im, &bytes, &size));
  SN_TRY(sn_fbx_parse(&f, bytes, size));
  SN_TRY(sn_fbx_list_objects(&f));
  SN_TRY(read_frame(&f, &frame));
  SN_TRY(sn_fbx_take_nodes(&f));
  SN_TRY(sn_fbx_take_meshes(&f));
  SN_TRY(sn_fbx_take_clips(&f));
  sn_import_convert(&frame, im->gltf);
  return sn_import_finish(im);
}
