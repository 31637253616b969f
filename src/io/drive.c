// A character moved by the motion of another skeleton: how the two rest poses belong together.
#include "io/drive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "io/import.h"

sn_quat sn_drive_turn_of(const double m[16]) {
  sn_gltf_node parts;
  sn_import_place(m, &parts);
  return parts.rotate;
}

static sn_vec3 place_of(const double* world, uint32_t node) {
  return sn_affine_origin(world + 16 * (size_t)node);
}

// Poses without motion

static sn_status find_rest(sn_driver* d) {
  uint32_t count = d->from->node_count;
  SN_TRY(SN_ARENA_NEW(d->scratch, 16 * (size_t)count, &d->rest, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, count, &d->rest_turns, d->err));
  sn_gltf_bind_pose(d->from, d->rest);
  for (uint32_t n = 0; n < count; ++n)
    d->rest_turns[n] = sn_drive_turn_of(d->rest + 16 * (size_t)n);
  return SN_OK;
}

// What is sheared cannot be turned by a key.
static void drop_pair(sn_driver* d, uint32_t node) {
  if (d->source_of[node] < 0) return;
  sn_log(SN_LOG_WARNING, "joint \"%s\" is sheared below its parent and keeps its place",
         d->to->nodes[node].name);
  d->target_of[d->source_of[node]] = -1;
  d->source_of[node] = -1;
  d->matched_count--;
}

static sn_status find_bind(sn_driver* d) {
  sn_gltf* to = d->to;
  SN_TRY(SN_ARENA_NEW(d->scratch, 16 * (size_t)to->node_count, &d->bind, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, to->node_count, &d->locals, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, to->node_count, &d->bind_turns, d->err));
  sn_gltf_bind_pose(to, d->bind);
  for (uint32_t i = 0; i < to->node_count; ++i) {
    uint32_t n = to->order[i];
    int32_t parent = to->nodes[n].parent;
    const double* world = d->bind + 16 * (size_t)n;
    double local[16], back[16];
    memcpy(local, world, sizeof local);
    if (parent >= 0 && sn_affine_invert(d->bind + 16 * (size_t)parent, back)) {
      sn_affine_multiply(back, world, local);
    }
    sn_import_place(local, &d->locals[n]);
    if (d->locals[n].has_matrix) drop_pair(d, n);
    sn_quat above = parent >= 0 ? d->bind_turns[parent] : sn_quat_identity();
    d->bind_turns[n] = sn_quat_multiply(above, d->locals[n].rotate);
  }
  return SN_OK;
}

// Axes

// The pair that stands for a part of the body, by the word that either rig has for it. @return false
// if there is none
static bool find_pair(const sn_driver* d, int part, char side, uint32_t* target) {
  for (uint32_t i = 0; i < d->to->node_count; ++i) {
    uint32_t n = d->to->order[i];
    if (d->source_of[n] < 0) continue;
    const sn_joint_word *ours = &d->to_words[n], *theirs = &d->from_words[d->source_of[n]];
    if ((ours->part == part && ours->side == side) ||
        (theirs->part == part && theirs->side == side)) {
      *target = n;
      return true;
    }
  }
  return false;
}

// From one pair to another, in the character and in the motion.
static void find_limb(const sn_driver* d, uint32_t a, uint32_t b, sn_vec3* ours, sn_vec3* theirs) {
  *ours = sn_sub(place_of(d->bind, b), place_of(d->bind, a));
  *theirs = sn_sub(place_of(d->rest, (uint32_t)d->source_of[b]),
                   place_of(d->rest, (uint32_t)d->source_of[a]));
}

// Columns: to the left, up, ahead. @return false where up and left are one
static bool make_body_frame(sn_vec3 left, sn_vec3 up, sn_mat3* frame) {
  up = sn_madd(up, -sn_dot(up, left) / fmax(sn_dot(left, left), 1e-300), left);
  sn_vec3 ahead = sn_cross(left, up), columns[3] = {left, up, ahead};
  for (int c = 0; c < 3; ++c) {
    double length = sn_length(columns[c]);
    if (!(length > 1e-12)) return false;
    for (int r = 0; r < 3; ++r) frame->m[r][c] = sn_axis(columns[c], r) / length;
  }
  return true;
}

// The rotation among those that carry axes to axes that is nearest.
static sn_mat3 nearest_axes(const sn_mat3* turn) {
  static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  sn_mat3 best = sn_identity3();
  double best_fit = -INFINITY;
  for (int i = 0; i < 48; ++i) {
    sn_mat3 m = {{{0}}};
    double fit = 0.0;
    for (int r = 0; r < 3; ++r) {
      int c = orders[i / 8][r];
      m.m[r][c] = i >> r & 1 ? -1.0 : 1.0;
      fit += m.m[r][c] * turn->m[r][c];
    }
    if (sn_det3(&m) > 0.0 && fit > best_fit + 1e-9) {
      best_fit = fit;
      best = m;
    }
  }
  return best;
}

static bool find_sides(const sn_driver* d, uint32_t* left, uint32_t* right) {
  static const int parts[] = {SN_PART_THIGH, SN_PART_UPPER_ARM, SN_PART_CLAVICLE};
  for (int i = 0; i < 3; ++i) {
    if (find_pair(d, parts[i], 'l', left) && find_pair(d, parts[i], 'r', right)) return true;
  }
  return false;
}

static bool find_top(const sn_driver* d, uint32_t* top) {
  static const int parts[] = {SN_PART_HEAD, SN_PART_NECK, SN_PART_CHEST, SN_PART_SPINE};
  for (int i = 0; i < 4; ++i) {
    if (find_pair(d, parts[i], 0, top)) return true;
  }
  return false;
}

// Files of motion differ in where up and ahead are: what is up and left in one body is so in the other.
static void find_axes(sn_driver* d) {
  d->axes = sn_identity3();
  d->axes_turn = sn_quat_identity();
  uint32_t left, right, top, hips;
  if (!find_sides(d, &left, &right) || !find_top(d, &top) ||
      !find_pair(d, SN_PART_HIPS, 0, &hips)) {
    return;
  }
  sn_vec3 our_left, their_left, our_up, their_up;
  find_limb(d, right, left, &our_left, &their_left);
  find_limb(d, hips, top, &our_up, &their_up);
  sn_mat3 ours, theirs, turn;
  if (!make_body_frame(our_left, our_up, &ours) ||
      !make_body_frame(their_left, their_up, &theirs)) {
    return;
  }
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      turn.m[r][c] = 0.0;
      for (int k = 0; k < 3; ++k) turn.m[r][c] += ours.m[r][k] * theirs.m[c][k];
    }
  }
  d->axes = nearest_axes(&turn);
  d->axes_turn = sn_quat_from_mat3(&d->axes);
  if (d->axes.m[0][0] + d->axes.m[1][1] + d->axes.m[2][2] < 2.5) {
    sn_log(SN_LOG_INFO, "the motion is turned so that up and left agree with the character's");
  }
}

// Scale

static bool leg_lengths(const sn_driver* d, char side, double* ours, double* theirs) {
  static const int parts[3] = {SN_PART_THIGH, SN_PART_SHIN, SN_PART_FOOT};
  uint32_t joints[3];
  for (int i = 0; i < 3; ++i) {
    if (!find_pair(d, parts[i], side, &joints[i])) return false;
  }
  for (int i = 0; i < 2; ++i) {
    sn_vec3 a, b;
    find_limb(d, joints[i], joints[i + 1], &a, &b);
    *ours += sn_length(a);
    *theirs += sn_length(b);
  }
  return true;
}

// How far a joint is above the lowest one.
static double height_of(const double* world, uint32_t node_count, uint32_t node, sn_vec3 up) {
  double lowest = INFINITY;
  for (uint32_t n = 0; n < node_count; ++n) lowest = fmin(lowest, sn_dot(up, place_of(world, n)));
  return sn_dot(up, place_of(world, node)) - lowest;
}

// Legs of twice the length take steps of twice the length; without legs the height of the hips decides.
static void find_scale(sn_driver* d) {
  double ours = 0.0, theirs = 0.0;
  bool has_left = leg_lengths(d, 'l', &ours, &theirs);
  bool has_right = leg_lengths(d, 'r', &ours, &theirs);
  uint32_t hips;
  if (!has_left && !has_right && find_pair(d, SN_PART_HIPS, 0, &hips)) {
    double(*a)[3] = d->axes.m;
    ours = height_of(d->bind, d->to->node_count, hips, sn_v3(0.0, 1.0, 0.0));
    theirs = height_of(d->rest, d->from->node_count, (uint32_t)d->source_of[hips],
                       sn_v3(a[1][0], a[1][1], a[1][2]));
  }
  d->scale = ours > 0.0 && theirs > 0.0 && isfinite(ours / theirs) ? ours / theirs : 1.0;
}

// Limbs

// The shortest rotation from one direction to another.
static sn_quat turn_between(sn_vec3 from, sn_vec3 to) {
  double lengths = sn_length(from) * sn_length(to);
  if (!(lengths > 1e-18)) return sn_quat_identity();
  double cosine = sn_dot(from, to) / lengths;
  sn_vec3 axis = sn_scale(1.0 / lengths, sn_cross(from, to));
  if (cosine < -1.0 + 1e-9) {
    // Opposite: half a turn about any axis across.
    sn_vec3 across = fabs(from.x) < 0.7 * sn_length(from) ? sn_v3(1, 0, 0) : sn_v3(0, 1, 0);
    axis = sn_cross(from, across);
    return sn_quat_normalise((sn_quat){axis.x, axis.y, axis.z, 0.0});
  }
  return sn_quat_normalise((sn_quat){axis.x, axis.y, axis.z, 1.0 + cosine});
}

static bool is_below(const sn_gltf* gltf, uint32_t node, uint32_t ancestor) {
  for (int32_t n = (int32_t)node; n >= 0; n = gltf->nodes[n].parent) {
    if (n == (int32_t)ancestor) return true;
  }
  return false;
}

// A joint with one limb below it takes that limb's direction; one that branches keeps its own; a hand
// without fingers goes on as the arm does.
static sn_status align_limbs(sn_driver* d) {
  const sn_gltf* to = d->to;
  uint32_t *limb_count, *limb;
  SN_TRY(SN_ARENA_NEW(d->scratch, to->node_count, &limb_count, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, to->node_count, &limb, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, to->node_count, &d->aligned, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, to->node_count, &d->matched_above, d->err));
  for (uint32_t i = 0; i < to->node_count; ++i) {
    uint32_t n = to->order[i];
    int32_t parent = to->nodes[n].parent;
    d->matched_above[n] = parent < 0                  ? -1
                          : d->source_of[parent] >= 0 ? parent
                                                      : d->matched_above[parent];
    int32_t above = d->matched_above[n];
    if (d->source_of[n] < 0 || above < 0) continue;
    if (!is_below(d->from, (uint32_t)d->source_of[n], (uint32_t)d->source_of[above])) continue;
    limb_count[above]++;
    limb[above] = n;
  }
  for (uint32_t i = 0; i < to->node_count; ++i) {
    uint32_t n = to->order[i];
    int32_t above = d->matched_above[n];
    int part = d->to_words[n].part;
    d->aligned[n] = sn_quat_identity();
    if (d->source_of[n] < 0) continue;
    if (limb_count[n] == 1) {
      sn_vec3 ours, theirs;
      find_limb(d, n, limb[n], &ours, &theirs);
      d->aligned[n] = turn_between(ours, sn_mul3v(&d->axes, theirs));
    } else if (limb_count[n] == 0 && above >= 0 && part >= SN_PART_HAND && part <= SN_PART_PINKY) {
      d->aligned[n] = d->aligned[above];
    }
  }
  return SN_OK;
}

// Report

static sn_status name_clip(sn_driver* d, sn_gltf_clip* clip) {
  const char* name = d->from->clips[d->clip].name;
  size_t size = strlen(name) + 24;
  SN_TRY(SN_ARENA_NEW(d->to->storage, size, &clip->name, d->err));
  snprintf(clip->name, size, "%s", name);
  for (uint32_t number = 2, c = 0; c < d->to->clip_count; ++c) {
    if (strcmp(d->to->clips[c].name, clip->name) != 0) continue;
    snprintf(clip->name, size, "%s_%u", name, number++);
    c = (uint32_t)-1;
  }
  return SN_OK;
}

static sn_status mark_joints(const sn_driver* d, bool** is_joint) {
  SN_TRY(SN_ARENA_NEW(d->scratch, d->to->node_count, is_joint, d->err));
  for (uint32_t s = 0; s < d->to->skin_count; ++s) {
    const sn_gltf_skin* skin = &d->to->skins[s];
    for (uint32_t j = 0; j < skin->joint_count; ++j) (*is_joint)[skin->joints[j]] = true;
  }
  return SN_OK;
}

static sn_status fill_report(const sn_driver* d, sn_drive_report* report) {
  sn_arena* storage = d->to->storage;
  bool* is_joint;
  SN_TRY(mark_joints(d, &is_joint));
  SN_TRY(SN_ARENA_NEW(storage, d->matched_count, &report->matched_character, d->err));
  SN_TRY(SN_ARENA_NEW(storage, d->matched_count, &report->matched_motion, d->err));
  SN_TRY(SN_ARENA_NEW(storage, d->to->node_count, &report->unmatched_character, d->err));
  SN_TRY(SN_ARENA_NEW(storage, d->from->node_count, &report->unmatched_motion, d->err));
  report->scale = d->scale;
  for (uint32_t n = 0; n < d->to->node_count; ++n) {
    const char* name = d->to->nodes[n].name;
    if (d->source_of[n] < 0) {
      if (is_joint[n]) report->unmatched_character[report->unmatched_character_count++] = name;
      continue;
    }
    const char* source = d->from->nodes[d->source_of[n]].name;
    char* copy = sn_arena_copy_string(storage, source);
    if (!copy) return sn_fail_memory(d->err, strlen(source));
    report->matched_character[report->matched_count] = name;
    report->matched_motion[report->matched_count++] = copy;
  }
  const sn_gltf_clip* clip = &d->from->clips[d->clip];
  for (uint32_t c = 0; c < clip->channel_count; ++c) {
    const sn_gltf_channel* channel = &clip->channels[c];
    if (channel->path != SN_GLTF_ROTATE || d->target_of[channel->node] >= 0) continue;
    char* copy = sn_arena_copy_string(storage, d->from->nodes[channel->node].name);
    if (!copy) return sn_fail_memory(d->err, SN_JOINT_WORD_SIZE);
    report->unmatched_motion[report->unmatched_motion_count++] = copy;
  }
  return SN_OK;
}

// The whole

static sn_status find_clip(sn_driver* d, const char* name) {
  const sn_gltf* from = d->from;
  SN_CHECK(from->clip_count > 0, d->err, SN_ERR_INPUT,
           "found a motion without clips, expected one that moves");
  for (d->clip = 0; name && d->clip < from->clip_count; ++d->clip) {
    if (strcmp(from->clips[d->clip].name, name) == 0) break;
  }
  if (d->clip < from->clip_count) return SN_OK;
  char names[512] = "";
  for (uint32_t c = 0; c < from->clip_count; ++c) {
    size_t at = strlen(names);
    snprintf(names + at, sizeof names - at, "%s\"%s\"", c > 0 ? ", " : "", from->clips[c].name);
  }
  return sn_fail(d->err, SN_ERR_INPUT, "found no clip \"%s\" in the motion, expected %s", name,
                 names);
}

// The character changes only when all is done.
static sn_status drive(sn_driver* d, const char* clip_name, sn_drive_report* report) {
  sn_gltf_clip clip = {0}, *clips;
  SN_TRY(find_clip(d, clip_name));
  SN_TRY(sn_drive_match(d));
  SN_TRY(find_rest(d));
  SN_TRY(find_bind(d));
  SN_CHECK(d->matched_count > 0, d->err, SN_ERR_INPUT,
           "found joints that are all sheared, expected some that can turn");
  find_axes(d);
  find_scale(d);
  SN_TRY(align_limbs(d));
  SN_TRY(name_clip(d, &clip));
  SN_TRY(sn_drive_bake(d, &clip));
  SN_TRY(fill_report(d, report));
  SN_TRY(SN_ARENA_NEW(d->to->storage, (size_t)d->to->clip_count + 1, &clips, d->err));
  for (uint32_t c = 0; c < d->to->clip_count; ++c) clips[c] = d->to->clips[c];
  report->clip = d->to->clip_count;
  clips[d->to->clip_count++] = clip;
  d->to->clips = clips;
  // A clip sets the parts of what it moves.
  for (uint32_t c = 0; c < clip.channel_count; ++c) {
    sn_gltf_node* node = &d->to->nodes[clip.channels[c].node];
    if (!node->has_matrix) continue;
    sn_gltf_node parts;
    sn_import_place(node->matrix, &parts);
    node->translate = parts.translate;
    node->rotate = parts.rotate;
    node->scale = parts.scale;
    node->has_matrix = false;
  }
  return SN_OK;
}

sn_status sn_character_drive(sn_gltf* character, const sn_gltf* motion, const char* clip_name,
                             sn_drive_report* report, sn_error* err) {
  sn_drive_report unused;
  if (!report) report = &unused;
  *report = (sn_drive_report){.scale = 1.0};
  sn_driver d = {.to = character, .from = motion, .err = err};
  if (!character->storage) SN_TRY(sn_arena_create(&character->storage, err));
  sn_status status = sn_arena_create(&d.scratch, err);
  if (status == SN_OK) status = drive(&d, clip_name, report);
  sn_arena_destroy(d.scratch);
  if (status != SN_OK) *report = (sn_drive_report){.scale = 1.0};
  return status;
}
