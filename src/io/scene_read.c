// The scene format: its keys, defaults and ranges as tables, and the rules that span keys.
#include "sinew/scene.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/json_load.h"
#include "io/scene_change.h"
#include "io/scene_character.h"
#include "io/scene_clip.h"
#include "io/scene_contact.h"
#include "io/scene_material.h"
#include "io/scene_mesh.h"
#include "io/scene_motion.h"
#include "io/scene_muscle.h"
#include "io/scene_names.h"
#include "io/scene_pose.h"
#include "io/scene_table.h"
#include "io/scene_tissue.h"
#include "io/scene_write.h"
#include "math/quat.h"

// What the contract of the format promises and this version cannot do. Delete a row here, and give
// the key or choice its place in a table below, once it can.
static const sn_absence absences[] = {
    {"bodies[].type", "tet", "write \"flesh\""},
    {"bodies[].type", "cloth", "write \"flesh\""},
    {"bodies[].type", "layered", "write \"flesh\""},
    {"bodies[].type", "water", "write \"flesh\""},
    {"forces[].wind", NULL, "write \"force\" or \"traction\""},
};

// Where

static sn_status read_box(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                          void* target) {
  const json_t* value = json_object_get(owner, field->key);
  if (!json_is_array(value) || json_array_size(value) != 2) {
    return sn_read_mismatch(r, at, value, "two corners [[x, y, z], [x, y, z]]");
  }
  sn_vec3 lo = {0}, hi = {0};
  sn_place lo_at = sn_place_index(at, 0), hi_at = sn_place_index(at, 1);
  SN_TRY(sn_value_vector(r, &lo_at, json_array_get(value, 0), &lo));
  SN_TRY(sn_value_vector(r, &hi_at, json_array_get(value, 1), &hi));
  if (!(lo.x <= hi.x && lo.y <= hi.y && lo.z <= hi.z)) {
    return sn_read_fail(r, at,
                        "found a second corner below the first, expected the lower one first");
  }
  double unit = r->scene->unit;
  *(sn_box*)((char*)target + field->offset) = (sn_box){sn_scale(unit, lo), sn_scale(unit, hi)};
  return SN_OK;
}

#define WHERE_TEXT                                                                     \
  "\"inside\", \"all\", {\"near\": d}, {\"box\": [lo, hi]}, {\"group\": \"name\"} or " \
  "{\"map\": \"name\", \"above\": 0.5}"

static sn_status finish_where(sn_reader* r, const sn_place* at, json_t* object, void* target);

static const sn_field where_fields[] = {
    {"near", NULL, sn_read_length, AT(sn_where, distance), OPTIONAL, FROM_TO(0, 1e9)},
    {"box", NULL, read_box, AT(sn_where, box), OPTIONAL},
    {"group", NULL, sn_read_string, AT(sn_where, group), OPTIONAL,
     .expected = "the name of a group"},
    {"map", NULL, sn_read_string, AT(sn_where, map), OPTIONAL, .expected = "the name of a map"},
    {"above", "0.5", sn_read_number, AT(sn_where, above), OPTIONAL, FROM_TO(0, 1e30)},
};
static const sn_table where_table = {WHERE_TEXT, TABLE(where_fields), finish_where};

static sn_status finish_where(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_where* where = target;
  if (where->map) {
    where->kind = SN_WHERE_MAP;
    SN_TRY(sn_read_missing(r, at, object, &where_table, "above", where));
    return json_object_size(object) == 2 ? SN_OK : sn_read_mismatch(r, at, object, WHERE_TEXT);
  }
  if (json_object_get(object, "above")) return sn_read_mismatch(r, at, object, WHERE_TEXT);
  if (json_object_size(object) != 1) return sn_read_mismatch(r, at, object, WHERE_TEXT);
  where->kind = json_object_get(object, "near")  ? SN_WHERE_NEAR
                : json_object_get(object, "box") ? SN_WHERE_BOX
                                                 : SN_WHERE_GROUP;
  return SN_OK;
}

static sn_status read_where(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  static const sn_choice words[] = {{"inside", SN_WHERE_INSIDE}, {"all", SN_WHERE_ALL}};
  json_t* value = json_object_get(owner, field->key);
  sn_where* where = (sn_where*)((char*)target + field->offset);
  if (!json_is_string(value)) return sn_value_object(r, at, value, &where_table, where);
  ptrdiff_t found = sn_name_find(SN_NAMES(words, COUNT(words)), json_string_value(value));
  if (found < 0) return sn_read_mismatch(r, at, value, WHERE_TEXT);
  where->kind = (sn_where_kind)words[found].value;
  return SN_OK;
}

// A group must be one of the body's mesh, a map one of the body.
static sn_status check_where(sn_reader* r, const sn_place* owner_at, const sn_where* where,
                             uint32_t body) {
  const sn_mesh* mesh = &r->scene->bodies[body].mesh;
  if (where->kind == SN_WHERE_MAP) {
    return sn_check_where_map(r, owner_at, where, &r->scene->bodies[body]);
  }
  if (where->kind != SN_WHERE_GROUP) return SN_OK;
  sn_names groups = {mesh->groups, sizeof *mesh->groups, mesh->group_count};
  if (sn_name_find(groups, where->group) >= 0) return SN_OK;
  sn_place where_at = sn_place_key(owner_at, "where"), at = sn_place_key(&where_at, "group");
  const char* expected = groups.count > 0 ? "a group of the body's mesh"
                                          : "a group of the body's mesh, which has none";
  return sn_read_unknown_name(r, &at, where->group, expected, groups);
}

// Bodies

// Levels, or null: no limit.
static sn_status read_coarsen(sn_reader* r, const sn_place* at, json_t* owner,
                              const sn_field* field, void* target) {
  *(int*)((char*)target + field->offset) = -1;
  if (json_is_null(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_integer(r, at, owner, field, target);
}

// The points of a cell: 1, those of a second-order rule, or the eight of Gauss.
static sn_status read_quadrature(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  SN_TRY(sn_read_integer(r, at, owner, field, target));
  int found = *(int*)((char*)target + field->offset);
  if (found <= 2 || found == 8) return SN_OK;
  return sn_read_mismatch(r, at, json_object_get(owner, field->key), "1, 2 or 8");
}

static sn_status read_rotation(sn_reader* r, const sn_place* at, json_t* owner,
                               const sn_field* field, void* target) {
  sn_quat q = {0};
  const sn_field direct = {.key = field->key};
  SN_TRY(sn_read_quat(r, at, owner, &direct, &q));
  *(sn_mat3*)((char*)target + field->offset) = sn_quat_to_mat3(q);
  return SN_OK;
}

static sn_status read_seed(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                           void* target) {
  int64_t seed = 0;
  SN_TRY(sn_value_integer(r, at, json_object_get(owner, field->key), field->range, &seed));
  *(uint64_t*)((char*)target + field->offset) = (uint64_t)seed;
  return SN_OK;
}

// A vector that is no length: the unit of the scene does not matter.
static sn_status read_plain_vector(sn_reader* r, const sn_place* at, json_t* owner,
                                   const sn_field* field, void* target) {
  return sn_value_vector(r, at, json_object_get(owner, field->key),
                         (sn_vec3*)((char*)target + field->offset));
}

static const sn_choice scrambles[] = {
    {"point", SN_SCRAMBLE_POINT},   {"line", SN_SCRAMBLE_LINE},
    {"plane", SN_SCRAMBLE_PLANE},   {"mirror", SN_SCRAMBLE_MIRROR},
    {"random", SN_SCRAMBLE_RANDOM}, {"permute", SN_SCRAMBLE_PERMUTE},
    {"scale", SN_SCRAMBLE_SCALE}};
static const sn_field scramble_fields[] = {
    {"kind", NULL, sn_read_choice, AT(sn_scramble, kind), CHOICES(scrambles)},
    {"amount", "1", sn_read_number, AT(sn_scramble, amount), FROM_TO(0, 1e6)},
    {"seed", "1", read_seed, AT(sn_scramble, seed), FROM_TO(0, 0x1p53)},
};
static const sn_table scramble_table = {
    "null or {\"kind\": \"random\", \"amount\": 1, \"seed\": 1}", TABLE(scramble_fields), NULL};

static sn_status read_scramble(sn_reader* r, const sn_place* at, json_t* owner,
                               const sn_field* field, void* target) {
  sn_scramble* scramble = (sn_scramble*)((char*)target + field->offset);
  *scramble = (sn_scramble){SN_SCRAMBLE_NONE, 1.0, 1};
  if (json_is_null(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_object(r, at, owner, field, target);
}

static const sn_field initial_fields[] = {
    {"translate", "[0, 0, 0]", sn_read_length_vector, AT(sn_body_desc, initial.translate)},
    {"rotate", "[0, 0, 0, 1]", read_rotation, AT(sn_body_desc, initial.rotate)},
    {"velocity", "[0, 0, 0]", sn_read_length_vector, AT(sn_body_desc, velocity)},
    {"spin", "[0, 0, 0]", read_plain_vector, AT(sn_body_desc, spin)},
    {"scramble", "null", read_scramble, AT(sn_body_desc, scramble), .table = &scramble_table},
};
static const sn_table initial_table = {
    "{\"translate\": [x, y, z], \"rotate\": [x, y, z, w], \"velocity\": [x, y, z]}",
    TABLE(initial_fields), NULL};

static sn_status finish_body(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_body_desc* body = target;
  const char* given = body->surface;
  SN_TRY(sn_read_mesh(r, at, object, "surface", &body->surface, &body->mesh));
  SN_TRY(sn_read_follow(r, at, object, body));
  SN_TRY(sn_read_pose(r, at, object, given, body));
  return sn_read_maps(r, at, object, body);
}

static const sn_choice body_types[] = {{"flesh", 0}};
static const sn_choice embeddings[] = {{"trilinear", SN_EMBEDDING_TRILINEAR},
                                       {"tricubic", SN_EMBEDDING_TRICUBIC}};
static const sn_field body_fields[] = {
    {"name", NULL, sn_read_body_name, AT(sn_body_desc, name), OPTIONAL, .expected = "a name"},
    {"type", "\"flesh\"", sn_read_choice, .offset = SN_NO_TARGET, CHOICES(body_types)},
    {"surface", NULL, sn_read_string, AT(sn_body_desc, surface), .expected = "the file of a mesh"},
    {"cell", "null", sn_read_length_or_null, AT(sn_body_desc, cell), ABOVE_TO(0, 1e9)},
    {"coarsen", "null", read_coarsen, AT(sn_body_desc, coarsen), FROM_TO(0, 16)},
    {"least_fill", "0", sn_read_number, AT(sn_body_desc, least_fill), FROM_TO(0, 0.5)},
    {"least_width", "0", sn_read_number, AT(sn_body_desc, least_width), FROM_TO(0, 0.9)},
    {"quadrature", "1", read_quadrature, AT(sn_body_desc, quadrature), FROM_TO(1, 8)},
    {"embedding", "\"trilinear\"", sn_read_choice, AT(sn_body_desc, embedding),
     CHOICES(embeddings)},
    {"material", "{}", sn_read_material, AT(sn_body_desc, material)},
    {"density", "1060", sn_read_number, AT(sn_body_desc, density), ABOVE_TO(0, 1e9)},
    {"damping", "0.001", sn_read_number, AT(sn_body_desc, damping), FROM_TO(0, 1e6)},
    {"drag", "0", sn_read_number, AT(sn_body_desc, drag), FROM_TO(0, 1e6)},
    {"regions", "[]", sn_read_regions, AT(sn_body_desc, regions),
     .count_offset = offsetof(sn_body_desc, region_count), .item_size = sizeof(sn_region_desc),
     .table = &sn_region_table, FROM_TO(0, 10000)},
    {"maps", "{}", sn_read_maps_kind, .offset = SN_NO_TARGET},
    {"initial", "{}", sn_read_object, .table = &initial_table},
    {"follow", "[]", sn_read_follow_kind, .offset = SN_NO_TARGET},
    {"pose", "null", sn_read_pose_kind, .offset = SN_NO_TARGET},
};
static const sn_table body_table = {"a body {\"surface\": \"mesh.obj\"}", TABLE(body_fields),
                                    finish_body};

static sn_status read_bodies(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                             void* target) {
  SN_TRY(sn_name_bodies(r, json_object_get(owner, field->key)));
  SN_TRY(sn_take_densities(r, json_object_get(owner, field->key)));
  SN_TRY(sn_read_list(r, at, owner, field, target));
  return sn_check_names_differ(r, at, SN_NAMES(r->scene->bodies, r->scene->body_count));
}

// Bones

static const sn_field capsule_fields[] = {
    {"from", NULL, sn_read_length_vector, AT(sn_capsule, from)},
    {"to", NULL, sn_read_length_vector, AT(sn_capsule, to)},
    {"radius", NULL, sn_read_length, AT(sn_capsule, radius), ABOVE_TO(0, 1e9)},
};
static const sn_table capsule_table = {
    "a capsule {\"from\": [x, y, z], \"to\": [x, y, z], \"radius\": r}", TABLE(capsule_fields),
    NULL};

static sn_status finish_bone(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_bone_desc* bone = target;
  bool mesh = json_object_get(object, "mesh"), capsule = json_object_get(object, "capsule");
  if (mesh == capsule) {
    return sn_read_fail(r, at, "found %s of \"mesh\" and \"capsule\", expected one",
                        mesh ? "both" : "neither");
  }
  bone->kind = mesh ? SN_BONE_MESH : SN_BONE_CAPSULE;
  const char* given = bone->surface;
  if (mesh) SN_TRY(sn_read_mesh(r, at, object, "mesh", &bone->surface, &bone->mesh));
  json_t* motion = json_object_get(object, "motion");
  if (!sn_is_mesh_motion(motion)) return SN_OK;
  sn_place motion_at = sn_place_key(at, "motion");
  if (capsule) {
    return sn_read_fail(r, &motion_at,
                        "found an animated mesh for a capsule, expected one for a bone with a "
                        "\"mesh\"");
  }
  return sn_read_mesh_motion(r, &motion_at, motion, given, &bone->mesh, &bone->shape);
}

// An animated mesh is read once the bone's own is.
static sn_status read_bone_motion(sn_reader* r, const sn_place* at, json_t* owner,
                                  const sn_field* field, void* target) {
  if (sn_is_mesh_motion(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_motion(r, at, owner, field, target);
}

static const sn_field bone_fields[] = {
    {"name", NULL, sn_read_string, AT(sn_bone_desc, name), OPTIONAL, .expected = "a name"},
    {"mesh", NULL, sn_read_string, AT(sn_bone_desc, surface), OPTIONAL,
     .expected = "the file of a mesh"},
    {"capsule", NULL, sn_read_object, AT(sn_bone_desc, capsule), OPTIONAL, .table = &capsule_table},
    {"motion", "[]", read_bone_motion, AT(sn_bone_desc, motion)},
};
static const sn_table bone_table = {"a bone with \"mesh\" or \"capsule\", and \"motion\"",
                                    TABLE(bone_fields), finish_bone};

static sn_status read_bones(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  SN_TRY(sn_name_by_number(r, json_object_get(owner, field->key), "bone"));
  SN_TRY(sn_read_list(r, at, owner, field, target));
  return sn_check_names_differ(r, at, SN_NAMES(r->scene->bones, r->scene->bone_count));
}

// What holds and moves bodies

#define POSE_WHERE_TEXT                                                              \
  "\"all\", {\"near\": d}, {\"box\": [lo, hi]}, {\"group\": \"name\"} or {\"map\": " \
  "\"name\", \"above\": 0.5}"

static sn_status finish_attachment(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_attachment_desc* attachment = target;
  bool bone = json_object_get(object, "bone"), to = json_object_get(object, "to");
  if (bone == to) {
    return sn_read_fail(r, at, "found %s of \"bone\" and \"to\": \"pose\", expected one",
                        bone ? "both" : "neither");
  }
  if (to) {
    const sn_body_desc* body = &r->scene->bodies[attachment->body];
    sn_place to_at = sn_place_key(at, "to"), where_at = sn_place_key(at, "where");
    if (body->pose.frame_count == 0) {
      return sn_read_fail(r, &to_at, "found \"pose\", but body \"%.60s\" has none, expected a bone",
                          body->name);
    }
    if (attachment->where.kind == SN_WHERE_INSIDE) {
      return sn_read_mismatch(r, &where_at, json_object_get(object, "where"), POSE_WHERE_TEXT);
    }
    attachment->bone = SN_NO_BONE;
  }
  return check_where(r, at, &attachment->where, attachment->body);
}

// What is tied to a pose is all of the body, unless it is said.
static sn_status read_attachments(sn_reader* r, const sn_place* at, json_t* owner,
                                  const sn_field* field, void* target) {
  size_t index;
  json_t* item;
  json_array_foreach(json_object_get(owner, field->key), index, item) {
    if (!json_object_get(item, "to") || json_object_get(item, "where")) continue;
    SN_TRY(sn_read_replace(r, item, "where", json_string("all")));
  }
  return sn_read_body_references(r, at, owner, field, target);
}

static const sn_choice attachment_targets[] = {{"pose", 0}};
static const sn_field attachment_fields[] = {
    {"body", NULL, sn_read_body_reference, AT(sn_attachment_desc, body)},
    {"bone", NULL, sn_read_bone_reference, AT(sn_attachment_desc, bone), OPTIONAL},
    {"to", NULL, sn_read_choice, .offset = SN_NO_TARGET, CHOICES(attachment_targets), OPTIONAL},
    {"where", "\"inside\"", read_where, AT(sn_attachment_desc, where)},
    {"stiffness", "100", sn_read_number, AT(sn_attachment_desc, stiffness), ABOVE_TO(0, 1e12)},
};
static const sn_table attachment_table = {"an attachment {\"body\": \"name\", \"bone\": \"name\"}",
                                          TABLE(attachment_fields), finish_attachment};

static sn_status finish_fixed(sn_reader* r, const sn_place* at, json_t* object, void* target);

static const sn_choice axes_words[] = {
    {"xyz", SN_HELD_XYZ}, {"xy", SN_HELD_XY}, {"xz", SN_HELD_XZ}, {"yz", SN_HELD_YZ},
    {"x", SN_HELD_X},     {"y", SN_HELD_Y},   {"z", SN_HELD_Z},
};

static const sn_field fixed_fields[] = {
    {"body", NULL, sn_read_body_reference, AT(sn_fixed_desc, body)},
    {"bone", NULL, sn_read_bone_reference, AT(sn_fixed_desc, bone), OPTIONAL},
    {"where", NULL, read_where, AT(sn_fixed_desc, where)},
    {"axes", "\"xyz\"", sn_read_choice, AT(sn_fixed_desc, axes), CHOICES(axes_words)},
    {"motion", "[]", sn_read_motion, AT(sn_fixed_desc, motion), OPTIONAL},
};
static const sn_table fixed_table = {"a constraint {\"body\": \"name\", \"where\": {...}}",
                                     TABLE(fixed_fields), finish_fixed};

static sn_status finish_fixed(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_fixed_desc* fixed = target;
  const json_t* motion = json_object_get(object, "motion");
  SN_TRY(check_where(r, at, &fixed->where, fixed->body));
  if (json_object_get(object, "bone")) {
    if (motion) {
      sn_place motion_at = sn_place_key(at, "motion");
      return sn_read_mismatch(r, &motion_at, motion,
                              "no such key beside \"bone\", whose motion counts");
    }
    fixed->motion = r->scene->bones[fixed->bone].motion;
    return SN_OK;
  }
  fixed->bone = SN_NO_BONE;
  if (fixed->where.kind == SN_WHERE_INSIDE || fixed->where.kind == SN_WHERE_NEAR) {
    sn_place bone_at = sn_place_key(at, "bone");
    return sn_read_mismatch(r, &bone_at, NULL,
                            "the name of the bone that \"inside\" and \"near\" refer to");
  }
  return sn_read_missing(r, at, object, &fixed_table, "motion", fixed);
}

// Forces

static const sn_field load_fields[] = {
    {"frame", NULL, sn_read_number, AT(sn_load_key, frame), FROM_TO(-1e9, 1e9)},
    {"value", NULL, read_plain_vector, AT(sn_load_key, value)},
};
static const sn_table load_table = {"a keyframe {\"frame\": 1, \"value\": [x, y, z]}",
                                    TABLE(load_fields), NULL};

// A vector, or keyframes of one.
static sn_status read_load(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                           void* target) {
  sn_force_desc* force = target;
  const json_t* value = json_object_get(owner, field->key);
  if (json_is_object(json_array_get(value, 0))) {
    const sn_field keys = {.key = field->key,
                           .offset = offsetof(sn_force_desc, keys),
                           .count_offset = offsetof(sn_force_desc, key_count),
                           .item_size = sizeof *force->keys,
                           .table = &load_table};
    SN_TRY(sn_read_list(r, at, owner, &keys, force));
    return sn_check_ascending(r, at, &force->keys[0].frame, sizeof *force->keys, force->key_count);
  }
  if (!json_is_array(value) || json_array_size(value) != 3) {
    return sn_read_mismatch(r, at, value,
                            "[x, y, z] or a list of {\"frame\": 1, \"value\": [x, y, z]}");
  }
  SN_TRY(SN_ARENA_NEW(r->scene->storage, 1, &force->keys, r->err));
  force->key_count = 1;
  return sn_value_vector(r, at, value, &force->keys[0].value);
}

static sn_status finish_force(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_force_desc* force = target;
  bool total = json_object_get(object, "force"), traction = json_object_get(object, "traction");
  if (total == traction) {
    return sn_read_fail(r, at, "found %s of \"force\" and \"traction\", expected one",
                        total ? "both" : "neither");
  }
  force->is_traction = traction;
  if (force->where.kind == SN_WHERE_INSIDE || force->where.kind == SN_WHERE_NEAR) {
    sn_place where_at = sn_place_key(at, "where");
    return sn_read_mismatch(r, &where_at, json_object_get(object, "where"),
                            "\"all\", {\"box\": [lo, hi]}, {\"group\": \"name\"} or {\"map\": "
                            "\"name\", \"above\": 0.5}");
  }
  return check_where(r, at, &force->where, force->body);
}

static const sn_field force_fields[] = {
    {"body", NULL, sn_read_body_reference, AT(sn_force_desc, body)},
    {"where", "\"all\"", read_where, AT(sn_force_desc, where)},
    {"force", NULL, read_load, OPTIONAL},
    {"traction", NULL, read_load, OPTIONAL},
};
static const sn_table force_table = {"a force {\"body\": \"name\", \"force\": [x, y, z]}",
                                     TABLE(force_fields), finish_force};

// Solver and output

static const sn_field newton_fields[] = {
    {"max", "10", sn_read_integer, AT(sn_solver_opts, newton_max), FROM_TO(1, 1000)},
    {"tolerance", "0.001", sn_read_number, AT(sn_solver_opts, newton_tolerance), ABOVE_BELOW(0, 1)},
    {"sharp", "false", sn_read_bool, AT(sn_solver_opts, sharp)},
    {"retries", "2", sn_read_integer, AT(sn_solver_opts, retries), FROM_TO(0, 3)},
};
static const sn_table newton_table = {"{\"max\": 10, \"tolerance\": 0.001}", TABLE(newton_fields),
                                      NULL};

// Iterations, or null: as many as suit the solver.
static sn_status read_krylov_max(sn_reader* r, const sn_place* at, json_t* owner,
                                 const sn_field* field, void* target) {
  if (json_is_null(json_object_get(owner, field->key))) return SN_OK;
  return sn_read_integer(r, at, owner, field, target);
}

static const sn_field krylov_fields[] = {
    {"max", "null", read_krylov_max, AT(sn_solver_opts, krylov_max), FROM_TO(1, 100000)},
    {"tolerance", "0.01", sn_read_number, AT(sn_solver_opts, krylov_tolerance), ABOVE_BELOW(0, 1)},
};
static const sn_table krylov_table = {"{\"max\": 20, \"tolerance\": 0.01}", TABLE(krylov_fields),
                                      NULL};

static const sn_choice smoothers[] = {{"auto", SN_SMOOTHER_AUTO},
                                      {"jacobi", SN_SMOOTHER_JACOBI},
                                      {"chebyshev", SN_SMOOTHER_CHEBYSHEV}};
static const sn_choice coarsest_solvers[] = {{"cholesky", SN_COARSEST_CHOLESKY},
                                             {"jacobi", SN_COARSEST_JACOBI}};
static const sn_field multigrid_fields[] = {
    {"smoother", "\"auto\"", sn_read_choice, AT(sn_solver_opts, multigrid.smoother),
     CHOICES(smoothers)},
    {"damping", "0", sn_read_number, AT(sn_solver_opts, multigrid.damping), FROM_TO(0, 2)},
    {"degree", "3", sn_read_integer, AT(sn_solver_opts, multigrid.degree), FROM_TO(1, 8)},
    {"coarsest", "\"cholesky\"", sn_read_choice, AT(sn_solver_opts, multigrid.coarsest),
     CHOICES(coarsest_solvers)},
    {"exact", "0", sn_read_integer, AT(sn_solver_opts, multigrid.exact), FROM_TO(0, 20)},
};
static const sn_table multigrid_table = {"{\"smoother\": \"auto\", \"coarsest\": \"cholesky\"}",
                                         TABLE(multigrid_fields), NULL};

static const sn_choice linear_solvers[] = {{"multigrid", SN_LINEAR_MULTIGRID},
                                           {"multigrid-only", SN_LINEAR_MULTIGRID_ONLY},
                                           {"cg", SN_LINEAR_CG},
                                           {"jacobi-cg", SN_LINEAR_JACOBI_CG},
                                           {"minres", SN_LINEAR_MINRES},
                                           {"qmr", SN_LINEAR_QMR},
                                           {"macroblock", SN_LINEAR_MACROBLOCK},
                                           {"direct", SN_LINEAR_DIRECT},
                                           {"auto", SN_LINEAR_AUTO}};
static const sn_choice interfaces[] = {{"multigrid", SN_MACROBLOCK_MULTIGRID},
                                       {"faces", SN_MACROBLOCK_FACES},
                                       {"jacobi", SN_MACROBLOCK_JACOBI},
                                       {"none", SN_MACROBLOCK_NONE}};
static const sn_field macroblock_fields[] = {
    {"interface", "\"multigrid\"", sn_read_choice, AT(sn_solver_opts, interface),
     CHOICES(interfaces)},
};
static const sn_table macroblock_table = {"{\"interface\": \"multigrid\"}",
                                          TABLE(macroblock_fields), NULL};
static const sn_choice pressure_forms[] = {
    {"auto", SN_PRESSURE_AUTO}, {"condensed", SN_PRESSURE_CONDENSED}, {"kept", SN_PRESSURE_KEPT}};
static const sn_choice integrators[] = {{"bdf2", SN_INTEGRATOR_BDF2},
                                        {"euler", SN_INTEGRATOR_EULER}};
static const sn_choice precisions[] = {{"double", 0}};
static const sn_field solver_fields[] = {
    {"linear", "\"multigrid\"", sn_read_choice, AT(sn_solver_opts, linear),
     CHOICES(linear_solvers)},
    {"newton", "{}", sn_read_object, .table = &newton_table},
    {"krylov", "{}", sn_read_object, .table = &krylov_table},
    {"multigrid", "{}", sn_read_object, .table = &multigrid_table},
    {"macroblock", "{}", sn_read_object, .table = &macroblock_table},
    {"integrator", "\"bdf2\"", sn_read_choice, AT(sn_solver_opts, integrator),
     CHOICES(integrators)},
    {"pressure", "\"auto\"", sn_read_choice, AT(sn_solver_opts, pressure), CHOICES(pressure_forms)},
    {"pressure_scale", "0", sn_read_number, AT(sn_solver_opts, pressure_scale), FROM_TO(0, 1e15)},
    {"threads", "0", sn_read_integer, AT(sn_solver_opts, threads), FROM_TO(0, 256)},
    {"precision", "\"double\"", sn_read_choice, .offset = SN_NO_TARGET, CHOICES(precisions)},
};

static sn_status finish_solver(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  const sn_solver_opts* solver = target;
  bool able = solver->linear == SN_LINEAR_MULTIGRID || solver->linear == SN_LINEAR_MINRES ||
              solver->linear == SN_LINEAR_QMR || solver->linear == SN_LINEAR_MACROBLOCK ||
              solver->linear == SN_LINEAR_DIRECT || solver->linear == SN_LINEAR_AUTO;
  if (solver->pressure != SN_PRESSURE_KEPT || able) return SN_OK;
  sn_place pressure_at = sn_place_key(at, "pressure");
  return sn_read_mismatch(r, &pressure_at, json_object_get(object, "pressure"),
                          "\"auto\" or \"condensed\": pressures are kept by \"linear\" "
                          "\"multigrid\", \"macroblock\", \"direct\", \"minres\" and \"qmr\" only");
}

static const sn_table solver_table = {"{\"newton\": {...}, \"krylov\": {...}, \"threads\": 0}",
                                      TABLE(solver_fields), finish_solver};

static const sn_choice formats[] = {{"pc2", SN_FORMAT_PC2}, {"mdd", SN_FORMAT_MDD},
                                    {"obj", SN_FORMAT_OBJ}, {"ply", SN_FORMAT_PLY},
                                    {"glb", SN_FORMAT_GLB}, {"usda", SN_FORMAT_USDA},
                                    {"vtu", SN_FORMAT_VTU}};
static const sn_choice kept_fields[] = {{"strain", SN_FIELD_STRAIN},
                                        {"stress", SN_FIELD_STRESS},
                                        {"J", SN_FIELD_J},
                                        {"pressure", SN_FIELD_PRESSURE},
                                        {"activation", SN_FIELD_ACTIVATION},
                                        {"contacts", SN_FIELD_CONTACTS}};

// A list of names, as a bit each.
static sn_status read_bits(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                           void* target) {
  uint32_t* bits = (uint32_t*)((char*)target + field->offset);
  SN_TRY(sn_read_choice_list(r, at, owner, field, target));
  const json_t* list = json_object_get(owner, field->key);
  for (size_t i = 0; i < json_array_size(list); ++i) {
    const char* name = json_string_value(json_array_get(list, i));
    ptrdiff_t found = sn_name_find(SN_NAMES(field->choices, field->choice_count), name);
    *bits |= 1u << field->choices[found].value;
  }
  return SN_OK;
}

// Better said now than after the last frame.
static sn_status finish_output(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  const sn_output_opts* output = target;
  if (!(output->formats & 1u << SN_FORMAT_VTU) || output->fields != 0) return SN_OK;
  sn_place fields_at = sn_place_key(at, "fields");
  return sn_read_mismatch(r, &fields_at, json_object_get(object, "fields"),
                          "fields such as [\"strain\", \"stress\"], for \"vtu\" to hold");
}

static const sn_field output_fields[] = {
    {"formats", "[\"pc2\"]", read_bits, AT(sn_output_opts, formats), FROM_TO(1, 100),
     CHOICES(formats)},
    {"fields", "[]", read_bits, AT(sn_output_opts, fields), CHOICES(kept_fields)},
    {"checkpoint_every", "1", sn_read_integer, AT(sn_output_opts, checkpoint_every),
     FROM_TO(1, 1000000)},
    {"keep_checkpoints", "false", sn_read_bool, AT(sn_output_opts, keep_checkpoints)},
};
static const sn_table output_table = {"{\"formats\": [\"pc2\"], \"checkpoint_every\": 1}",
                                      TABLE(output_fields), finish_output};

// The whole

static sn_status read_frames(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                             void* target) {
  sn_scene* scene = target;
  const json_t* value = json_object_get(owner, field->key);
  if (!json_is_array(value) || json_array_size(value) != 2) {
    return sn_read_mismatch(r, at, value, "[first, last], both inclusive");
  }
  int64_t first = 0, last = 0;
  sn_place first_at = sn_place_index(at, 0), last_at = sn_place_index(at, 1);
  SN_TRY(sn_value_integer(r, &first_at, json_array_get(value, 0), field->range, &first));
  SN_TRY(sn_value_integer(r, &last_at, json_array_get(value, 1), field->range, &last));
  if (first > last) {
    return sn_read_fail(r, at, "found [%d, %d], expected the first frame not after the last",
                        (int)first, (int)last);
  }
  scene->first_frame = (int)first;
  scene->last_frame = (int)last;
  return SN_OK;
}

// A number, or null: room to divide a frame where `substeps` leaves any.
static sn_status read_max_substeps(sn_reader* r, const sn_place* at, json_t* owner,
                                   const sn_field* field, void* target) {
  sn_scene* scene = target;
  if (json_is_null(json_object_get(owner, field->key))) {
    scene->max_substeps = scene->substeps > 8 ? scene->substeps : 8;
    return SN_OK;
  }
  SN_TRY(sn_read_integer(r, at, owner, field, target));
  if (scene->max_substeps >= scene->substeps) return SN_OK;
  return sn_read_fail(r, at, "found %d, expected no less than \"substeps\", which is %d",
                      scene->max_substeps, scene->substeps);
}

// A number against `up`, or a vector.
static sn_status read_gravity(sn_reader* r, const sn_place* at, json_t* owner,
                              const sn_field* field, void* target) {
  sn_scene* scene = target;
  const json_t* value = json_object_get(owner, field->key);
  if (json_is_array(value)) return sn_value_vector(r, at, value, &scene->gravity);
  if (!json_is_number(value)) {
    return sn_read_mismatch(r, at, value, "a number of m/s2 against \"up\", or a vector [x, y, z]");
  }
  double down = 0.0;
  SN_TRY(sn_value_number(r, at, value, field->range, &down));
  down = 0.0 - down;
  scene->gravity = (sn_vec3){scene->up == SN_UP_X ? down : 0.0, scene->up == SN_UP_Y ? down : 0.0,
                             scene->up == SN_UP_Z ? down : 0.0};
  return SN_OK;
}

static const sn_choice ups[] = {{"x", SN_UP_X}, {"y", SN_UP_Y}, {"z", SN_UP_Z}};
static const sn_choice modes[] = {{"dynamic", SN_MODE_DYNAMIC},
                                  {"quasistatic", SN_MODE_QUASISTATIC}};

#define LIST(items, counter, type) \
  AT(sn_scene, items), .count_offset = offsetof(sn_scene, counter), .item_size = sizeof(type)

// In the order of reading: lengths need `unit`, gravity needs `up`, references need
// what they name.
static const sn_field scene_fields[] = {
    {"sinew", "1", sn_read_integer, .offset = SN_NO_TARGET, FROM_TO(1, 1)},
    {"unit", "1", sn_read_number, AT(sn_scene, unit), FROM_TO(1e-9, 1e9)},
    {"up", "\"y\"", sn_read_choice, AT(sn_scene, up), CHOICES(ups)},
    {"fps", "24", sn_read_number, AT(sn_scene, fps), ABOVE_TO(0, 1e6)},
    {"frames", "[1, 48]", read_frames, FROM_TO(1, 10000000)},
    {"substeps", "1", sn_read_integer, AT(sn_scene, substeps), FROM_TO(1, 1000)},
    {"max_substeps", "null", read_max_substeps, AT(sn_scene, max_substeps), FROM_TO(1, 1000)},
    {"preroll", "0", sn_read_integer, AT(sn_scene, preroll), FROM_TO(0, 100000)},
    {"gravity", "9.81", read_gravity, FROM_TO(-SN_COORDINATE_MAX, SN_COORDINATE_MAX)},
    {"mode", "\"dynamic\"", sn_read_choice, AT(sn_scene, mode), CHOICES(modes)},
    {"bodies", NULL, read_bodies, LIST(bodies, body_count, sn_body_desc), .table = &body_table,
     FROM_TO(1, 1000)},
    {"bones", "[]", read_bones, LIST(bones, bone_count, sn_bone_desc), .table = &bone_table,
     FROM_TO(0, 10000)},
    {"attachments", "[]", read_attachments, LIST(attachments, attachment_count, sn_attachment_desc),
     .table = &attachment_table, FROM_TO(0, 100000)},
    {"fixed", "[]", sn_read_body_references, LIST(fixed, fixed_count, sn_fixed_desc),
     .table = &fixed_table, FROM_TO(0, 100000)},
    {"forces", "[]", sn_read_body_references, LIST(forces, force_count, sn_force_desc),
     .table = &force_table, FROM_TO(0, 100000)},
    {"muscles", "[]", sn_read_muscles, LIST(muscles, muscle_count, sn_muscle_desc),
     .table = &sn_muscle_table, FROM_TO(0, 10000)},
    {"colliders", "[]", sn_read_colliders, LIST(colliders, collider_count, sn_collider_desc),
     .table = &sn_collider_table, FROM_TO(0, 10000)},
    {"contact", "{}", sn_read_object, AT(sn_scene, contact), .table = &sn_contact_table},
    {"solver", "{}", sn_read_object, AT(sn_scene, solver), .table = &solver_table},
    {"output", "{}", sn_read_object, AT(sn_scene, output), .table = &output_table},
};

static sn_status finish_scene(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  (void)at, (void)object;
  sn_collider_defaults(target);
  SN_TRY(sn_fill_clip_motions(r));
  return sn_check_maps_used(r);
}

static const sn_table scene_table = {"a scene {\"bodies\": [...]}", TABLE(scene_fields),
                                     finish_scene};

// Loading

static sn_status read_document(const char* path, json_t** document, sn_error* err) {
  sn_arena* scratch;
  SN_TRY(sn_arena_create(&scratch, err));
  char* bytes;
  size_t size;
  sn_status status = sn_file_read(path, scratch, &bytes, &size, err);
  if (status == SN_OK) status = sn_json_parse(path, bytes, size, document, err);
  sn_arena_destroy(scratch);
  return status;
}

// Where relative paths begin: at the file, or where the source says.
static sn_status find_folder(sn_reader* r) {
  const char* from = !r->source ? r->file : r->source->folder ? r->source->folder : ".";
  const char* slash = strrchr(from, '/');
  size_t length = r->source ? strlen(from) : slash ? (size_t)(slash - from) + 1 : 0;
  char* given;
  SN_TRY(SN_ARENA_NEW(r->scene->storage, length + 2, &given, r->err));
  memcpy(given, length > 0 ? from : ".", length > 0 ? length : 1);
  char absolute[PATH_MAX];
  if (!realpath(given, absolute))
    return sn_fail(r->err, SN_ERR_IO, "%s: its folder cannot be found", r->file);
  r->folder = sn_arena_copy_string(r->scene->storage, absolute);
  return r->folder ? SN_OK : sn_fail_memory(r->err, length);
}

static sn_status create_scene(sn_scene** scene, sn_error* err) {
  sn_arena* storage;
  SN_TRY(sn_arena_create(&storage, err));
  sn_status status = SN_ARENA_NEW(storage, 1, scene, err);
  if (status != SN_OK) {
    sn_arena_destroy(storage);
    return status;
  }
  (*scene)->storage = storage;
  return SN_OK;
}

static sn_status read_scene(sn_reader* r, json_t* document, const sn_scene_change* changes,
                            int change_count) {
  if (!json_is_object(document)) return sn_read_mismatch(r, NULL, document, scene_table.what);
  for (int i = 0; i < change_count; ++i) {
    SN_TRY(sn_scene_apply_change(document, changes[i].path_and_value, r->err));
  }
  SN_TRY(find_folder(r));
  SN_TRY(sn_value_object(r, NULL, document, &scene_table, r->scene));
  return sn_scene_to_text(document, r->scene->storage, &r->scene->resolved, r->err);
}

// @param document taken over
static sn_status load(sn_reader* r, json_t* document, const sn_scene_change* changes,
                      int change_count, sn_scene** scene) {
  r->absences = absences;
  r->absence_count = COUNT(absences);
  r->presets = json_object();
  sn_status status = r->presets ? create_scene(&r->scene, r->err) : sn_fail_memory(r->err, 1);
  if (status == SN_OK) status = read_scene(r, document, changes, change_count);
  sn_drop_clip_motions(r);
  sn_close_characters(r);
  json_decref(document);
  json_decref(r->presets);
  if (status == SN_OK) {
    *scene = r->scene;
  } else {
    sn_scene_destroy(r->scene);
  }
  return status;
}

// Whatever came of it: a scene that was read while memory was short may not be the one that was written.
static sn_status check_memory(sn_status status, sn_scene** scene, sn_error* err) {
  if (!sn_json_is_starved()) return status;
  sn_scene_destroy(*scene);
  *scene = NULL;
  return sn_fail_memory(err, sizeof(json_t));
}

sn_status sn_scene_load(const char* path, const sn_scene_change* changes, int change_count,
                        sn_scene** scene, sn_error* err) {
  sn_reader r = {.file = path, .err = err};
  json_t* document = NULL;
  *scene = NULL;
  sn_json_watch();
  SN_TRY(read_document(path, &document, err));
  return check_memory(load(&r, document, changes, change_count, scene), scene, err);
}

sn_status sn_scene_parse(const sn_scene_source* source, const sn_scene_change* changes,
                         int change_count, sn_scene** scene, sn_error* err) {
  sn_reader r = {.file = source->name ? source->name : "scene", .source = source, .err = err};
  json_t* document = NULL;
  *scene = NULL;
  sn_json_watch();
  SN_TRY(sn_json_parse(r.file, source->json, source->length, &document, err));
  return check_memory(load(&r, document, changes, change_count, scene), scene, err);
}
