#include "character/flesh_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene_write.h"
#include "math/vec.h"

// Folds of knees and elbows take most of a frame's time. A skin that gives a fiftieth of a cell at a pressure
// of mu, and forces in balance to a hundredth, look the same and halve that: docs/theory/flesh.md.
#define CONTACT_STIFFNESS 50.0
#define NEWTON_TOLERANCE 1e-2
// What is left of the width of flesh that the clip draws out; corotated flesh would turn inside out.
#define LEAST_WIDTH 0.3

// Below the folder of the scene a path is relative, elsewhere it stays absolute.
static const char* path_from(const char* folder, const char* path) {
  size_t length = strlen(folder);
  while (length > 0 && folder[length - 1] == '/') length--;
  return strncmp(folder, path, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

// Few digits are enough for a place, and easier on the eye.
static json_t* short_number(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.6g", value);
  return json_real(strtod(text, NULL));
}

static json_t* place_of(sn_vec3 p) {
  return json_pack("[o, o, o]", short_number(p.x), short_number(p.y), short_number(p.z));
}

// "from", "clip" and what goes with them, for bones and for the pose of the whole.
static json_t* motion_of(const sn_flesh_scene* s, const char* node) {
  json_t* motion = json_pack("{s:s}", "from", path_from(s->folder, s->path));
  if (!motion) return NULL;
  int failed = node ? json_object_set_new(motion, "node", json_string(node)) : 0;
  failed |= json_object_set_new(motion, "clip", json_string(s->shot->clip_name));
  if (s->motion) {
    failed |=
        json_object_set_new(motion, "driven_by", json_string(path_from(s->folder, s->motion)));
  }
  if (s->opts->loop) failed |= json_object_set_new(motion, "loop", json_true());
  if (!failed) return motion;
  json_decref(motion);
  return NULL;
}

// Bones of one joint are told apart by a number.
static void bone_name(const sn_flesh_scene* s, uint32_t bone, char* name, size_t size) {
  uint32_t joint = s->bones->items[bone].joint, number = 1;
  for (uint32_t i = 0; i < bone; ++i) number += s->bones->items[i].joint == joint;
  const char* joint_name = sn_rig_joint_name(s->rig, joint);
  if (number == 1) {
    snprintf(name, size, "%s", joint_name);
  } else {
    snprintf(name, size, "%s.bone%u", joint_name, number);
  }
}

static json_t* bone_of(const sn_flesh_scene* s, uint32_t index, const char* name) {
  const sn_flesh_bone* bone = &s->bones->items[index];
  json_t* object = json_pack("{s:s, s:{s:o, s:o, s:o}}", "name", name, "capsule", "from",
                             place_of(bone->capsule.from), "to", place_of(bone->capsule.to),
                             "radius", short_number(bone->capsule.radius));
  if (!object || s->shot->clip < 0) return object;
  json_object_set_new(object, "motion", motion_of(s, sn_rig_joint_name(s->rig, bone->joint)));
  return object;
}

static json_t* material_of(const sn_flesh_scene* s) {
  if (s->opts->material && !(s->young > 0)) return json_string(s->opts->material);
  return json_pack("{s:s, s:o, s:f}", "model", "corotated", "young", short_number(s->young),
                   "poisson", SN_FLESH_POISSON);
}

static json_t* body_of(const sn_flesh_scene* s) {
  json_t* body =
      json_pack("{s:s, s:o}", "surface", path_from(s->folder, s->path), "material", material_of(s));
  if (!body) return NULL;
  bool chosen = s->opts->cell > 0 || s->choice->sheet;  // else the body's own choice
  int failed = chosen ? json_object_set_new(body, "cell", json_real(s->choice->cell)) : 0;
  json_t* follow = json_array();
  for (uint32_t p = 0; p < s->choice->parts.count; ++p) {
    if (!s->choice->is_flesh[p]) failed |= json_array_append_new(follow, json_integer(p));
  }
  if (json_array_size(follow) > 0) {
    failed |= json_object_set(body, "follow", follow);
  }
  if (s->shot->clip >= 0 && (s->hold > 0 || json_array_size(follow) > 0)) {
    failed |= json_object_set_new(body, "pose", motion_of(s, NULL));
    failed |= json_object_set_new(body, "least_width", json_real(LEAST_WIDTH));
  }
  json_decref(follow);
  if (!failed) return body;
  json_decref(body);
  return NULL;
}

static json_t* document_of(const sn_flesh_scene* s) {
  json_t *bones = json_array(), *attachments = json_array();
  int failed = 0;
  for (uint32_t b = 0; b < s->bones->count; ++b) {
    char name[1100];
    bone_name(s, b, name, sizeof name);
    failed |= json_array_append_new(bones, bone_of(s, b, name));
    failed |= json_array_append_new(attachments, json_pack("{s:s}", "bone", name));
  }
  if (s->hold > 0) {
    json_t* near = json_pack("{s:o}", "near", short_number(1.5 * s->choice->cell));
    failed |=
        json_array_append_new(attachments, json_pack("{s:s, s:o, s:o}", "to", "pose", "where", near,
                                                     "stiffness", short_number(s->hold)));
  }
  json_t* document = json_pack(
      "{s:i, s:s, s:f, s:[i, i], s:i, s:i, s:[o], s:o, s:o, s:{s:b, s:f}, s:{s:{s:i, s:f, s:i}}}",
      "sinew", 1, "mode", s->opts->quasistatic ? "quasistatic" : "dynamic", "fps", s->shot->fps,
      "frames", s->shot->first, s->shot->last, "preroll", s->shot->preroll, "max_substeps", 1,
      "bodies", body_of(s), "bones", bones, "attachments", attachments, "contact", "self",
      s->opts->contact, "stiffness", CONTACT_STIFFNESS, "solver", "newton", "max", 20, "tolerance",
      NEWTON_TOLERANCE, "retries", 0);
  if (!failed) return document;
  json_decref(document);
  return NULL;
}

sn_status sn_flesh_scene_write(const sn_flesh_scene* scene, sn_arena* arena, char** text,
                               sn_error* err) {
  json_t* document = document_of(scene);
  SN_CHECK(document, err, SN_ERR_INPUT,
           "found a name or path that is not UTF-8, as a scene file must be, or no memory for it");
  sn_status status = sn_scene_to_text(document, arena, text, err);
  json_decref(document);
  return status;
}
