// From a character to a scene: what sn_flesh_plan decides, in its order.
#include "sinew/flesh.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "character/bone_room.h"
#include "character/flesh_scene.h"
#include "io/file.h"
#include "math/vec.h"

#define FLESH_YOUNG 12e3
#define FLESH_DENSITY 1060.0
#define GRAVITY 9.81
// The size at which flesh has that stiffness; larger bodies would sag.
#define USUAL_SIZE 1.8
// Flesh gives way by at most about this share of the size under its own weight and jerks.
#define GIVE 0.015
#define LEAST_HOLD 1e-3
#define MOST_HOLD 10.0
// Ties of the skin to its pose let it away by about this share under the same loads.
#define LEASH 0.012
#define MOST_NOTES 64
// Sizes of characters beyond which the unit is likely to be wrong, m.
#define SMALL 0.05
#define LARGE 50.0

typedef struct plan {
  const sn_flesh_opts* opts;
  sn_gltf character, driver;
  sn_arena *arena, *scratch;
  sn_rig rig;
  sn_flesh_choice choice;
  sn_bones bones;
  sn_shot shot;
  sn_flesh_scene scene;
  sn_flesh_report* report;
} plan;

sn_flesh_opts sn_flesh_default_opts(void) {
  return (sn_flesh_opts){
      .scene_folder = ".", .fps = 24.0, .preroll = -1, .contact = true, .bones = 1.0, .hold = 1.0};
}

SN_PRINTF(3, 4)
static sn_status note(plan* p, sn_error* err, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  sn_flesh_report* report = p->report;
  if (!report->notes) SN_TRY(SN_ARENA_NEW(p->arena, MOST_NOTES, &report->notes, err));
  if (report->note_count == MOST_NOTES) return SN_OK;
  char* copy = sn_arena_copy_string(p->arena, text);
  if (!copy) return sn_fail_memory(err, sizeof text);
  report->notes[report->note_count++] = copy;
  return SN_OK;
}

static sn_status copy_text(plan* p, const char* text, char** copy, sn_error* err) {
  *copy = sn_arena_copy_string(p->arena, text);
  return *copy ? SN_OK : sn_fail_memory(err, strlen(text) + 1);
}

static sn_status absolute_path(plan* p, const char* path, char** absolute, sn_error* err) {
  char real[PATH_MAX];
  SN_CHECK(realpath(path, real), err, SN_ERR_INPUT, "%.500s: cannot be found", path);
  return copy_text(p, real, absolute, err);
}

// Before anything is written: the scene would be refused, but in the place of a good one.
static sn_status check_material(const char* name, sn_error* err) {
  uint32_t count;
  const sn_library_material* library = sn_library(&count);
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(library[i].name, name) == 0) return SN_OK;
  }
  return sn_fail(err, SN_ERR_INPUT,
                 "material: found \"%.100s\", expected one of those that `sinew materials` lists",
                 name);
}

static sn_status check_options(const sn_flesh_opts* o, sn_error* err) {
  SN_CHECK(isfinite(o->cell) && o->cell >= 0, err, SN_ERR_USAGE,
           "cell: found %g, expected a length above 0", o->cell);
  SN_CHECK(isfinite(o->fps) && o->fps >= 0 && o->fps <= 1e6, err, SN_ERR_USAGE,
           "fps: found %g, expected a number above 0, at most 1e6", o->fps);
  SN_CHECK(isfinite(o->young) && o->young >= 0, err, SN_ERR_USAGE,
           "young: found %g, expected a stiffness above 0, Pa", o->young);
  SN_CHECK(!(o->material && o->young > 0), err, SN_ERR_USAGE,
           "found both a material and a stiffness, expected one of them");
  if (o->material) SN_TRY(check_material(o->material, err));
  SN_CHECK(o->bones == 0 || (o->bones >= 0.05 && o->bones <= 2), err, SN_ERR_USAGE,
           "bones: found %g, expected a factor from 0.05 to 2", o->bones);
  SN_CHECK(o->first_frame >= 0 && o->last_frame >= o->first_frame, err, SN_ERR_USAGE,
           "frames: found %d to %d, expected 1 <= first <= last", o->first_frame, o->last_frame);
  return SN_OK;
}

// The motion of another skeleton becomes a clip of this one.
static sn_status drive(plan* p, sn_error* err) {
  sn_drive_report driven;
  int32_t clip;
  SN_TRY(sn_character_load(p->opts->motion, &p->driver, err));
  SN_TRY(sn_shot_find_clip(&p->driver, p->opts->motion, p->opts->clip, &clip, err));
  SN_CHECK(clip >= 0, err, SN_ERR_INPUT, "%.500s: found no animation, expected a motion",
           p->opts->motion);
  p->shot.clip_name = p->driver.clips[clip].name;
  SN_TRY(sn_character_drive(&p->character, &p->driver, p->shot.clip_name, &driven, err));
  p->shot.clip = (int32_t)driven.clip;
  return note(p, err,
              "driven by %.200s: %u joints by their names, distances times %.3g; %u joints of the "
              "character keep their place below their parents, %u of the motion move nothing",
              p->opts->motion, driven.matched_count, driven.scale, driven.unmatched_character_count,
              driven.unmatched_motion_count);
}

static sn_status read_files(plan* p, const char* path, sn_error* err) {
  char *character, *motion = NULL, *folder;
  SN_TRY(absolute_path(p, path, &character, err));
  SN_TRY(sn_character_load(path, &p->character, err));
  if (p->opts->motion) SN_TRY(absolute_path(p, p->opts->motion, &motion, err));
  SN_TRY(absolute_path(p, p->opts->scene_folder ? p->opts->scene_folder : ".", &folder, err));
  p->scene = (sn_flesh_scene){character, motion,   folder,  &p->rig, &p->choice,
                              &p->bones, &p->shot, p->opts, 0,       0};
  if (p->opts->motion) return drive(p, err);
  SN_TRY(sn_shot_find_clip(&p->character, path, p->opts->clip, &p->shot.clip, err));
  if (p->shot.clip >= 0) p->shot.clip_name = p->character.clips[p->shot.clip].name;
  return SN_OK;
}

static int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// How far flesh is from its bones: more than 95 % of the vertices.
static sn_status find_reach(plan* p, double* reach, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(p->scratch);
  double* distances;
  size_t count = 0;
  SN_TRY(SN_ARENA_RAW(p->scratch, p->rig.mesh.vertex_count, &distances, err));
  for (size_t v = 0; v < p->rig.mesh.vertex_count; ++v) {
    uint32_t part = p->choice.parts.of_vertex[v];
    if (part == SN_NO_PART || !p->choice.is_flesh[part]) continue;
    distances[count++] = sn_bones_distance(&p->bones, sn_load3(p->rig.mesh.positions + 3 * v));
  }
  qsort(distances, count, sizeof *distances, compare_doubles);
  *reach = count > 0 ? fmax(distances[(count - 1) * 19 / 20], 0.0) : 0.0;
  sn_arena_release(p->scratch, mark);
  return SN_OK;
}

// Skin on flesh of depth d weighs rho d, and so much force an area pulls it from its pose; the ties of a
// cell's face h^2 have the constant k mu h.
static double hold_of(const plan* p, double load, double reach, double mu) {
  double factor = p->opts->hold == 0 ? 1.0 : p->opts->hold;
  if (factor < 0 || p->shot.clip < 0) return 0.0;
  double k = FLESH_DENSITY * load * reach * p->choice.cell / (mu * LEASH * p->report->size);
  return factor * fmin(fmax(k, LEAST_HOLD), MOST_HOLD);
}

// Flesh of depth d on a bone gives way by about rho a d^2 / 2 mu under an acceleration a.
static sn_status choose_stiffness(plan* p, sn_error* err) {
  const sn_flesh_opts* o = p->opts;
  double reach, size = p->report->size, young = o->young > 0 ? o->young : FLESH_YOUNG;
  SN_TRY(find_reach(p, &reach, err));
  double load = GRAVITY + (o->quasistatic ? 0.0 : p->shot.acceleration);
  double mu = young / (2 * (1 + SN_FLESH_POISSON));
  double give = FLESH_DENSITY * load * reach * reach / (2 * mu);
  double factor = fmax(1.0, fmax(size / USUAL_SIZE, give / (GIVE * size)));
  if (o->young > 0 || o->material) factor = 1.0;
  p->scene.young = o->material ? 0.0 : young * factor;
  p->scene.hold = hold_of(p, load, reach, mu * factor);
  if (factor <= 1.0) return SN_OK;
  return note(
      p, err,
      "stiffness %.3g kPa instead of 12: flesh up to %.3g m off its bones, in a body of %.3g m "
      "that is moved by up to %.3g m/s2, would swing too far",
      p->scene.young / 1e3, reach, size, p->shot.acceleration);
}

static double diagonal(const sn_mesh* mesh) {
  sn_box box = sn_box_empty();
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    box = sn_box_grow(box, sn_load3(mesh->positions + 3 * v));
  }
  return sn_distance(box.lo, box.hi);
}

// What there is to hold on to, and whether that is likely to be what was meant.
static sn_status check_rig(plan* p, const char* path, sn_error* err) {
  const sn_rig* rig = &p->rig;
  double size = p->report->size;
  SN_CHECK(rig->has_skin || rig->moves, err, SN_ERR_INPUT,
           "%.300s: found %u meshes on nodes, none with a skin and none that an animation moves, "
           "expected a rigged character; for a body without a rig write a scene",
           path, p->character.mesh_count);
  SN_CHECK(isfinite(size) && size > 0, err, SN_ERR_INPUT,
           "%.300s: found a surface of size %g, expected one with some extent", path, size);
  if (!rig->has_skin) {
    SN_TRY(note(p, err, "no skin: meshes move with their %u nodes, which count as joints",
                rig->joint_count));
  }
  if (p->shot.clip < 0) {
    SN_TRY(note(p, err, "no animation: the character stays in its pose at rest"));
  } else if (!rig->moves) {
    SN_TRY(note(p, err, "the clip \"%.100s\" moves no joint of the surface", p->shot.clip_name));
  }
  if (size < SMALL || size > LARGE) {
    SN_TRY(note(p, err,
                "the character is %.3g m across: if that is the wrong unit, scale it in the "
                "program it came from; gravity and stiffness are those of its size",
                size));
  }
  return SN_OK;
}

static sn_status note_strays(plan* p, sn_error* err) {
  uint32_t strays = 0;
  for (uint32_t j = 0; j < p->rig.joint_count; ++j) strays += p->bones.fates[j].stray;
  if (strays == 0 || 2 * strays < p->rig.joint_count) return SN_OK;
  return note(p, err, "%u of %u joints are outside their flesh: their bones are where that is",
              strays, p->rig.joint_count);
}

// The surface of a document, which has no name itself.
static sn_status make_rig(plan* p, const char* path, sn_error* err) {
  sn_error cause = {0};
  sn_status status =
      sn_rig_create(&p->character, p->shot.clip, p->arena, p->scratch, &p->rig, &cause);
  return status == SN_OK ? SN_OK : sn_fail(err, status, "%.300s: %.600s", path, cause.text);
}

static sn_status decide(plan* p, const char* path, sn_error* err) {
  SN_TRY(read_files(p, path, err));
  SN_TRY(make_rig(p, path, err));
  p->report->size = diagonal(&p->rig.mesh);
  SN_TRY(check_rig(p, path, err));
  SN_TRY(sn_flesh_choose(&p->rig, p->opts->cell, p->arena, p->scratch, &p->choice, err));
  sn_bones_input input = {&p->rig,        &p->choice.parts, p->choice.is_flesh,
                          &p->choice.bvh, p->choice.cell,   p->opts->bones > 0 ? p->opts->bones : 1,
                          p->choice.sheet};
  SN_TRY(sn_bones_find(&input, p->arena, p->scratch, &p->bones, err));
  SN_TRY(sn_flesh_hold(&input, p->arena, p->scratch, &p->choice, &p->bones, err));
  SN_TRY(sn_shot_measure(&p->rig, p->opts, p->scratch, &p->shot, err));
  SN_TRY(sn_bones_make_room(&input, &p->shot, p->scratch, &p->bones, err));
  SN_CHECK(p->bones.count > 0, err, SN_ERR_INPUT,
           "%.300s: found no joint with enough flesh for a bone in cells of %g m, expected smaller "
           "cells or thicker flesh",
           path, p->choice.cell);
  SN_TRY(note_strays(p, err));
  return choose_stiffness(p, err);
}

// Report

static const char* part_name(const plan* p, uint32_t part) {
  const sn_mesh* mesh = &p->rig.mesh;
  uint32_t first = p->choice.parts.items[part].first_triangle;
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    const sn_mesh_group* group = &mesh->groups[g];
    for (uint32_t i = 0; i < group->triangle_count && group->triangles[i] <= first; ++i) {
      if (group->triangles[i] == first) return group->name;
    }
  }
  return "";
}

static sn_status report_parts(plan* p, sn_error* err) {
  sn_flesh_report* report = p->report;
  report->part_count = p->choice.parts.count;
  SN_TRY(SN_ARENA_NEW(p->arena, report->part_count, &report->parts, err));
  for (uint32_t i = 0; i < report->part_count; ++i) {
    const sn_part* part = &p->choice.parts.items[i];
    sn_flesh_part* to = &report->parts[i];
    *to = (sn_flesh_part){.number = i,
                          .triangle_count = part->triangle_count,
                          .volume = fabs(part->volume),
                          .flesh = p->choice.is_flesh[i]};
    SN_TRY(copy_text(p, part_name(p, i), &to->name, err));
    SN_TRY(copy_text(p, p->choice.reasons[i], &to->reason, err));
  }
  return SN_OK;
}

static sn_status report_joints(plan* p, sn_error* err) {
  sn_flesh_report* report = p->report;
  report->joint_count = p->rig.joint_count;
  report->bone_count = p->bones.count;
  SN_TRY(SN_ARENA_NEW(p->arena, report->joint_count, &report->joints, err));
  for (uint32_t j = 0; j < report->joint_count; ++j) {
    const sn_joint_fate* fate = &p->bones.fates[j];
    sn_flesh_joint* to = &report->joints[j];
    to->capsule_count = fate->bone_count;
    SN_TRY(copy_text(p, sn_rig_joint_name(&p->rig, j), &to->name, err));
    if (fate->reason) SN_TRY(copy_text(p, fate->reason, &to->reason, err));
    if (fate->keeper != j)
      SN_TRY(copy_text(p, sn_rig_joint_name(&p->rig, fate->keeper), &to->into, err));
  }
  return SN_OK;
}

static sn_status fill_report(plan* p, sn_error* err) {
  sn_flesh_report* report = p->report;
  SN_TRY(report_parts(p, err));
  SN_TRY(report_joints(p, err));
  report->vertex_count = p->rig.mesh.vertex_count;
  report->triangle_count = p->rig.mesh.triangle_count;
  report->cell = p->choice.cell;
  report->young = p->scene.young;
  report->hold = p->scene.hold;
  report->first_frame = p->shot.first;
  report->last_frame = p->shot.last;
  report->preroll = p->shot.preroll;
  report->fps = p->shot.fps;
  return p->shot.clip < 0 ? SN_OK : copy_text(p, p->shot.clip_name, &report->clip, err);
}

sn_status sn_flesh_plan(const char* path, const sn_flesh_opts* opts, char** scene_json,
                        sn_flesh_report* report, sn_error* err) {
  sn_flesh_opts defaults = sn_flesh_default_opts();
  plan p = {.opts = opts ? opts : &defaults, .report = report};
  *report = (sn_flesh_report){0};
  *scene_json = NULL;
  SN_TRY(check_options(p.opts, err));
  sn_status status = sn_arena_create(&p.arena, err);
  report->storage = p.arena;
  if (status == SN_OK) status = sn_arena_create(&p.scratch, err);
  if (status == SN_OK) status = decide(&p, path, err);
  if (status == SN_OK) status = sn_flesh_scene_write(&p.scene, p.arena, scene_json, err);
  if (status == SN_OK) status = fill_report(&p, err);
  sn_flesh_choice_destroy(&p.choice);
  sn_rig_destroy(&p.rig);
  sn_gltf_destroy(&p.character);
  sn_gltf_destroy(&p.driver);
  sn_arena_destroy(p.scratch);
  if (status != SN_OK) sn_flesh_report_destroy(report);
  return status;
}

void sn_flesh_report_destroy(sn_flesh_report* report) {
  sn_arena_destroy(report->storage);
  *report = (sn_flesh_report){0};
}

sn_status sn_flesh_save(const char* path, const char* scene_json, sn_error* err) {
  return sn_file_write_atomic(path, scene_json, strlen(scene_json), err);
}
