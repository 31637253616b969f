#include "io/scene_contact.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/scene_mesh.h"
#include "io/scene_motion.h"
#include "io/scene_names.h"
#include "io/scene_pose.h"
#include "io/scene_table.h"
#include "math/vec.h"

// Until sn_collider_defaults: as that of `contact`. No value in a file is below 0.
#define AS_CONTACT (-1.0)

// Shapes

#define SHAPE_KEYS 3

// By kind: what a shape is called, and the keys that only some shapes have.
static const struct shape {
  const char* what;
  const char* keys[SHAPE_KEYS];
} shapes[] = {
    [SN_COLLIDER_PLANE] = {"a plane", {"position", "normal"}},
    [SN_COLLIDER_SPHERE] = {"a sphere", {"position", "radius"}},
    [SN_COLLIDER_CAPSULE] = {"a capsule", {"from", "to", "radius"}},
    [SN_COLLIDER_BOX] = {"a box", {"position", "half"}},
    [SN_COLLIDER_MESH] = {"a mesh", {NULL}},
};

static const sn_choice shape_words[] = {{"plane", SN_COLLIDER_PLANE},
                                        {"sphere", SN_COLLIDER_SPHERE},
                                        {"capsule", SN_COLLIDER_CAPSULE},
                                        {"box", SN_COLLIDER_BOX}};

static bool has_key(sn_collider_kind kind, const char* key) {
  for (int i = 0; i < SHAPE_KEYS; ++i) {
    const char* own = shapes[kind].keys[i];
    if (own && strcmp(own, key) == 0) return true;
  }
  return false;
}

static sn_status foreign_key(sn_reader* r, const sn_place* at, const json_t* value,
                             sn_collider_kind kind) {
  char own[80] = "";
  for (int i = 0; i < SHAPE_KEYS && shapes[kind].keys[i]; ++i) {
    size_t length = strlen(own);
    snprintf(own + length, sizeof own - length, "\"%s\", ", shapes[kind].keys[i]);
  }
  char expected[200];
  snprintf(expected, sizeof expected,
           "no such key: %s has %s\"motion\", \"friction\" and \"stiffness\"", shapes[kind].what,
           own);
  return sn_read_mismatch(r, at, value, expected);
}

// Every key of the shape, and none of another.
static sn_status check_shape_keys(sn_reader* r, const sn_place* at, json_t* object,
                                  sn_collider_desc* collider) {
  static const char* const keys[] = {"position", "normal", "half", "from", "to", "radius"};
  for (size_t i = 0; i < COUNT(keys); ++i) {
    const json_t* value = json_object_get(object, keys[i]);
    bool belongs = has_key(collider->kind, keys[i]);
    if (value && !belongs) {
      sn_place key_at = sn_place_key(at, keys[i]);
      return foreign_key(r, &key_at, value, collider->kind);
    }
    if (!value && belongs) {
      SN_TRY(sn_read_missing(r, at, object, &sn_collider_table, keys[i], collider));
    }
  }
  return SN_OK;
}

// Write the defaults that depend on the shape, before the list is read, which puts them in order.
static sn_status preset_shapes(sn_reader* r, json_t* list) {
  static const char* const upwards[] = {
      [SN_UP_X] = "[1, 0, 0]", [SN_UP_Y] = "[0, 1, 0]", [SN_UP_Z] = "[0, 0, 1]"};
  const struct {
    const char *key, *preset;
  } presets[] = {{"position", "[0, 0, 0]"}, {"normal", upwards[r->scene->up]}};
  size_t index;
  json_t* item;
  json_array_foreach(list, index, item) {
    const char* word = json_string_value(json_object_get(item, "shape"));
    ptrdiff_t row = word ? sn_name_find(SN_NAMES(shape_words, COUNT(shape_words)), word) : -1;
    if (row < 0) continue;
    for (size_t i = 0; i < COUNT(presets); ++i) {
      const char* key = presets[i].key;
      if (json_object_get(item, key)) continue;
      if (!has_key((sn_collider_kind)shape_words[row].value, key)) continue;
      SN_TRY(sn_read_replace(r, item, key, json_loads(presets[i].preset, 0, NULL)));
    }
  }
  return SN_OK;
}

// Colliders

static double largest(sn_vec3 v) { return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z)); }

// A direction: of any length but 0, normalised.
static sn_status read_normal(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                             void* target) {
  sn_vec3 v = {0};
  SN_TRY(sn_value_vector(r, at, json_object_get(owner, field->key), &v));
  if (!(largest(v) >= SN_TINY)) {
    return sn_read_fail(r, at, "found a length of 0, expected a direction [x, y, z]");
  }
  v = sn_scale(1.0 / largest(v), v);  // squares of small numbers would vanish
  *(sn_vec3*)((char*)target + field->offset) = sn_scale(1.0 / sn_length(v), v);
  return SN_OK;
}

static sn_status read_half(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                           void* target) {
  const json_t* value = json_object_get(owner, field->key);
  if (!json_is_array(value) || json_array_size(value) != 3) {
    return sn_read_mismatch(r, at, value, "half of each side [x, y, z]");
  }
  double half[3] = {0};
  for (size_t i = 0; i < 3; ++i) {
    sn_place here = sn_place_index(at, i);
    SN_TRY(sn_value_number(r, &here, json_array_get(value, i), field->range, &half[i]));
  }
  *(sn_vec3*)((char*)target + field->offset) =
      sn_scale(r->scene->unit, (sn_vec3){half[0], half[1], half[2]});
  return SN_OK;
}

static sn_status read_or_as_contact(sn_reader* r, const sn_place* at, json_t* owner,
                                    const sn_field* field, void* target) {
  const double as_contact = AS_CONTACT;
  memcpy((char*)target + field->offset, &as_contact, sizeof as_contact);
  return sn_read_number_or_null(r, at, owner, field, target);
}

static sn_status finish_collider(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_collider_desc* collider = target;
  bool shape = json_object_get(object, "shape"), mesh = json_object_get(object, "mesh");
  if (shape == mesh) {
    return sn_read_fail(r, at, "found %s of \"shape\" and \"mesh\", expected one",
                        shape ? "both" : "neither");
  }
  if (mesh) collider->kind = SN_COLLIDER_MESH;
  SN_TRY(check_shape_keys(r, at, object, collider));
  if (collider->kind == SN_COLLIDER_CAPSULE) {
    collider->capsule.radius = collider->radius;
    collider->radius = 0.0;
  }
  const char* given = collider->surface;
  if (mesh) SN_TRY(sn_read_mesh(r, at, object, "mesh", &collider->surface, &collider->mesh));
  json_t* motion = json_object_get(object, "motion");
  if (!sn_is_mesh_motion(motion)) return SN_OK;
  sn_place motion_at = sn_place_key(at, "motion");
  if (!mesh) {
    return sn_read_fail(r, &motion_at,
                        "found an animated mesh for a shape, expected one for a collider with a "
                        "\"mesh\"");
  }
  return sn_read_mesh_motion(r, &motion_at, motion, given, &collider->mesh, &collider->shape);
}

// An animated mesh is read once the collider's own is.
static sn_status read_collider_motion(sn_reader* r, const sn_place* at, json_t* owner,
                                      const sn_field* field, void* target) {
  if (sn_is_mesh_motion(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_rigid_motion(r, at, owner, field, target);
}

static const sn_field collider_fields[] = {
    {"name", NULL, sn_read_string, AT(sn_collider_desc, name), OPTIONAL, .expected = "a name"},
    {"shape", NULL, sn_read_choice, AT(sn_collider_desc, kind), OPTIONAL, CHOICES(shape_words)},
    {"mesh", NULL, sn_read_string, AT(sn_collider_desc, surface), OPTIONAL,
     .expected = "the file of a mesh"},
    {"position", NULL, sn_read_length_vector, AT(sn_collider_desc, position), OPTIONAL},
    {"normal", NULL, read_normal, AT(sn_collider_desc, normal), OPTIONAL},
    {"half", NULL, read_half, AT(sn_collider_desc, half), OPTIONAL, ABOVE_TO(0, 1e9)},
    {"from", NULL, sn_read_length_vector, AT(sn_collider_desc, capsule.from), OPTIONAL},
    {"to", NULL, sn_read_length_vector, AT(sn_collider_desc, capsule.to), OPTIONAL},
    {"radius", NULL, sn_read_length, AT(sn_collider_desc, radius), OPTIONAL, ABOVE_TO(0, 1e9)},
    {"motion", "[]", read_collider_motion, AT(sn_collider_desc, motion)},
    {"friction", "null", read_or_as_contact, AT(sn_collider_desc, friction), FROM_TO(0, 1e3)},
    {"stiffness", "null", read_or_as_contact, AT(sn_collider_desc, stiffness), ABOVE_TO(0, 1e12)},
};
const sn_table sn_collider_table = {"a collider {\"shape\": \"plane\"} or {\"mesh\": \"mesh.obj\"}",
                                    TABLE(collider_fields), finish_collider};

sn_status sn_read_colliders(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  json_t* list = json_object_get(owner, field->key);
  SN_TRY(sn_name_colliders(r, list, json_object_get(owner, "bodies")));
  SN_TRY(preset_shapes(r, list));
  SN_TRY(sn_read_list(r, at, owner, field, target));
  sn_names names = SN_NAMES(r->scene->colliders, r->scene->collider_count);
  SN_TRY(sn_check_names_differ(r, at, names));
  return sn_check_no_body_names(r, at, names);
}

void sn_collider_defaults(sn_scene* scene) {
  for (uint32_t i = 0; i < scene->collider_count; ++i) {
    sn_collider_desc* collider = &scene->colliders[i];
    if (collider->friction == AS_CONTACT) collider->friction = scene->contact.friction;
    if (collider->stiffness == AS_CONTACT) collider->stiffness = scene->contact.stiffness;
  }
}

// Contact

#define PAIR_MAX 100000

// The names of all bodies, then of all colliders.
static sn_status list_sides(sn_reader* r, sn_names* names) {
  const sn_scene* scene = r->scene;
  size_t count = (size_t)scene->body_count + scene->collider_count;
  const char** list;
  SN_TRY(SN_ARENA_NEW(scene->storage, count, &list, r->err));
  for (uint32_t i = 0; i < scene->body_count; ++i) list[i] = scene->bodies[i].name;
  for (uint32_t i = 0; i < scene->collider_count; ++i) {
    list[scene->body_count + i] = scene->colliders[i].name;
  }
  *names = SN_NAMES(list, count);
  return SN_OK;
}

static sn_status read_pair(sn_reader* r, const sn_place* at, const json_t* value, sn_names sides,
                           sn_contact_pair* pair) {
  if (!json_is_array(value) || json_array_size(value) != 2) {
    return sn_read_mismatch(r, at, value, "the names of two, each a body or a collider");
  }
  for (size_t k = 0; k < 2; ++k) {
    uint32_t index = 0, body_count = r->scene->body_count;
    sn_place here = sn_place_index(at, k);
    SN_TRY(sn_value_reference(r, &here, json_array_get(value, k),
                              "the name of a body or a collider", sides, &index));
    bool is_collider = index >= body_count;
    pair->side[k] = (sn_contact_side){is_collider, is_collider ? index - body_count : index};
  }
  if (pair->side[0].is_collider && pair->side[1].is_collider) {
    return sn_read_fail(r, at,
                        "found two colliders, which never touch, expected a body among the two");
  }
  return SN_OK;
}

static sn_status read_ignore(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                             void* target) {
  sn_contact_opts* contact = target;
  const json_t* list = json_object_get(owner, field->key);
  size_t count = json_array_size(list);
  if (!json_is_array(list) || count > PAIR_MAX) {
    return sn_read_mismatch(r, at, list, "a list of at most 100000, each a pair of names");
  }
  if (count == 0) return SN_OK;
  sn_names sides = {0};
  SN_TRY(list_sides(r, &sides));
  SN_TRY(SN_ARENA_NEW(r->scene->storage, count, &contact->ignore, r->err));
  contact->ignore_count = (uint32_t)count;
  for (size_t i = 0; i < count; ++i) {
    sn_place here = sn_place_index(at, i);
    SN_TRY(read_pair(r, &here, json_array_get(list, i), sides, &contact->ignore[i]));
  }
  return SN_OK;
}

static const sn_field contact_fields[] = {
    {"self", "true", sn_read_bool, AT(sn_contact_opts, self)},
    {"stiffness", "500", sn_read_number, AT(sn_contact_opts, stiffness), ABOVE_TO(0, 1e12)},
    {"friction", "0.3", sn_read_number, AT(sn_contact_opts, friction), FROM_TO(0, 1e3)},
    {"thickness", "null", sn_read_length_or_null, AT(sn_contact_opts, thickness), ABOVE_TO(0, 1e9)},
    {"ignore", "[]", read_ignore, .offset = 0},
};
const sn_table sn_contact_table = {
    "{\"self\": true, \"stiffness\": 1000, \"friction\": 0.3, \"ignore\": [...]}",
    TABLE(contact_fields), NULL};
