#include "io/scene_clip.h"

#include <math.h>
#include <string.h>

#include "io/character.h"
#include "io/scene_character.h"
#include "io/scene_mesh.h"
#include "io/scene_table.h"
#include "math/affine.h"
#include "math/svd3.h"
#include "sinew/gltf.h"

#define MAX_CLIP_FRAMES 100000

// A clip that is this near to a whole number of frames has that many: times are single precision.
#define FRAME_ROUNDING 1e-4

// A node that stretches by more than this against its rest pose does not move rigidly. Scales that
// exporters sample from a pose without any are off by their rounding only.
#define STRETCH_TOLERANCE 1e-3
// Stretches below are that rounding, and none.
#define ROUNDING 1e-5

// What moves, and when: all nodes of the same source are posed together.
typedef struct source {
  const sn_gltf* character;
  uint32_t clip;
  bool loop;
  double start;  // time of the clip at frame 1, s; of a loop, within it
} source;

// A motion whose keys are to be filled.
typedef struct sn_clip_motion {
  struct sn_clip_motion* next;
  source source;
  uint32_t node;
  bool rigid;   // it must not be stretched
  bool warned;  // that it is scaled to nothing
  sn_keyframe* keys;
  uint32_t key_count;
  double frames;  // between the first key and the last
  sn_place* at;   // (the places of a chain, the last one first)
  sn_place chain[];
} sn_clip_motion;

// Keys of the document

typedef struct motion_text {
  char *from, *node, *mesh, *clip, *driven_by;
  bool loop;
  double start;
} motion_text;

// The clip comes last, as it does where the document gets its name.
static const sn_field motion_fields[] = {
    {"from", NULL, sn_read_string, AT(motion_text, from), .expected = SN_CHARACTER_FILE_TEXT},
    {"node", NULL, sn_read_string, AT(motion_text, node),
     .expected = "the name of a node of the file"},
    {"loop", "false", sn_read_bool, AT(motion_text, loop)},
    {"start", "0", sn_read_number, AT(motion_text, start), FROM_TO(0, 1e6)},
    {"driven_by", NULL, sn_read_string, AT(motion_text, driven_by), OPTIONAL,
     .expected = SN_CHARACTER_FILE_TEXT},
    {"clip", NULL, sn_read_string, AT(motion_text, clip), OPTIONAL,
     .expected = "the name of a clip of the file"},
};
static const sn_table motion_table = {
    "{\"from\": \"walk.glb\", \"node\": \"name\", \"clip\": \"name\"}", TABLE(motion_fields), NULL};

static sn_status find_node(sn_reader* r, const sn_place* at, const sn_gltf* character,
                           const char* name, uint32_t* node) {
  sn_place node_at = sn_place_key(at, "node");
  sn_names nodes = SN_NAMES(character->nodes, character->node_count);
  ptrdiff_t found = sn_name_find(nodes, name);
  if (found < 0) {
    return sn_read_unknown_name(r, &node_at, name, "the name of a node of the file", nodes);
  }
  *node = (uint32_t)found;
  return SN_OK;
}

// The clip of a file, by name or the first one; the document gets its name.
// @param key of the file, for messages
static sn_status find_clip(sn_reader* r, const sn_place* at, json_t* object, const char* key,
                           const sn_gltf* file, const char* name, uint32_t* clip) {
  sn_place clip_at = sn_place_key(at, "clip"), file_at = sn_place_key(at, key);
  sn_names clips = SN_NAMES(file->clips, file->clip_count);
  if (clips.count == 0) {
    return sn_read_fail(r, &file_at,
                        "found \"%.200s\", which has no animation, expected one that has",
                        json_string_value(json_object_get(object, key)));
  }
  ptrdiff_t found = name ? sn_name_find(clips, name) : 0;
  if (found < 0) {
    return sn_read_unknown_name(r, &clip_at, name, "the name of a clip of the file", clips);
  }
  *clip = (uint32_t)found;
  return sn_read_replace(r, object, "clip", json_string(file->clips[found].name));
}

static sn_status name_file(sn_reader* r, const sn_place* at, json_t* object, const char* key,
                           char** path) {
  sn_place file_at = sn_place_key(at, key);
  const char* given = *path;
  SN_TRY(sn_read_path(r, &file_at, object, key, given, strlen(given), path));
  if (sn_character_name_length(given) == strlen(given)) return SN_OK;
  return sn_read_mismatch(r, &file_at, json_object_get(object, key), SN_CHARACTER_FILE_TEXT);
}

// The character, its node if one is named, and its clip, which may be that of another file.
static sn_status find_source(sn_reader* r, const sn_place* at, json_t* object, motion_text* text,
                             sn_clip_motion* m) {
  source* s = &m->source;
  const char* clip_key = text->driven_by ? "driven_by" : "from";
  sn_place from_at = sn_place_key(at, "from"), clip_at = sn_place_key(at, clip_key);
  SN_TRY(name_file(r, at, object, "from", &text->from));
  SN_TRY(sn_open_character(r, &from_at, text->from, &s->character));
  if (text->node) SN_TRY(find_node(r, at, s->character, text->node, &m->node));
  const sn_gltf* motion = s->character;
  if (text->driven_by) {
    SN_TRY(name_file(r, at, object, "driven_by", &text->driven_by));
    SN_TRY(sn_open_character(r, &clip_at, text->driven_by, &motion));
  }
  SN_TRY(find_clip(r, at, object, clip_key, motion, text->clip, &s->clip));
  if (!text->driven_by) return SN_OK;
  return sn_open_driven(r, &clip_at, text->from, text->driven_by, motion, &s->clip, &s->character);
}

// Frame 1 is `start`, and the pose at the end of the clip holds for ever, whatever the frames of the
// scene are: part of a shot moves as it does in the whole.
static sn_status count_keys(sn_reader* r, const sn_place* at, sn_clip_motion* m) {
  source* s = &m->source;
  double end = s->character->clips[s->clip].end;
  if (s->loop && end > 0) s->start -= end * floor(s->start / end);
  m->frames = (s->loop ? end : fmax(end - s->start, 0)) * r->scene->fps;
  double whole = floor(m->frames + 0.5);
  if (s->loop && fabs(m->frames - whole) < FRAME_ROUNDING) m->frames = whole;
  if (!(m->frames <= MAX_CLIP_FRAMES)) {
    return sn_read_fail(r, at, "found a clip of %g frames, expected at most %d", m->frames,
                        MAX_CLIP_FRAMES);
  }
  m->key_count = (uint32_t)ceil(m->frames) + 1;
  return SN_OK;
}

// Room for a motion and the place where it stands, of which the reader has only a part at a time.
static sn_status add_motion(sn_reader* r, const sn_place* at, sn_clip_motion** added) {
  size_t depth = 0, i = 0;
  for (const sn_place* place = at; place; place = place->parent) depth++;
  sn_clip_motion* m = sn_allocate(sizeof *m + depth * sizeof *m->chain);
  if (!m) return sn_fail_memory(r->err, sizeof *m);
  *m = (sn_clip_motion){.next = r->clip_motions};
  for (const sn_place* place = at; place; place = place->parent, ++i) {
    m->chain[i] = *place;
    m->chain[i].parent = place->parent ? &m->chain[i + 1] : NULL;
  }
  m->at = m->chain;
  r->clip_motions = *added = m;
  return SN_OK;
}

sn_status sn_read_clip_motion(sn_reader* r, const sn_place* at, json_t* object, bool rigid,
                              sn_motion* motion) {
  motion_text text = {0};
  sn_clip_motion* m = NULL;
  SN_TRY(sn_value_object(r, at, object, &motion_table, &text));
  SN_TRY(add_motion(r, at, &m));
  m->rigid = rigid;
  m->source.loop = text.loop;
  m->source.start = text.start;
  SN_TRY(find_source(r, at, object, &text, m));
  SN_TRY(count_keys(r, at, m));
  SN_TRY(SN_ARENA_NEW(r->scene->storage, m->key_count, &m->keys, r->err));
  *motion = (sn_motion){m->keys, m->key_count, text.loop ? m->frames : 0};
  return SN_OK;
}

// A node against its bind pose

// moved = R S by its singular values U diag(s) V^T: R = U V^T, S = V diag(s) V^T.
typedef struct polar {
  sn_mat3 rotate;
  double s[3], V[9];
} polar;

static polar decompose(const sn_mat3* moved) {
  polar p;
  double F[9], U[9];
  memcpy(F, moved, sizeof F);
  sn_svd3_d(F, U, p.s, p.V);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      p.rotate.m[i][j] =
          U[3 * i] * p.V[3 * j] + U[3 * i + 1] * p.V[3 * j + 1] + U[3 * i + 2] * p.V[3 * j + 2];
    }
  }
  return p;
}

// By how much it stretches at most.
static double largest_stretch(const polar* p) {
  double most = 0.0;
  for (int i = 0; i < 3; ++i) {
    if (!(fabs(p->s[i] - 1.0) <= most)) most = fabs(p->s[i] - 1.0);
  }
  return most;
}

// xx, yy, zz, yz, zx, xy of S.
static void store_stretch(const polar* p, double stretch[6]) {
  static const int rows[6] = {0, 1, 2, 1, 2, 0}, columns[6] = {0, 1, 2, 2, 0, 1};
  for (int i = 0; i < 6; ++i) {
    const double *v = p->V + 3 * rows[i], *w = p->V + 3 * columns[i];
    stretch[i] = p->s[0] * v[0] * w[0] + p->s[1] * v[1] * w[1] + p->s[2] * v[2] * w[2];
  }
}

static bool is_near(sn_vec3 v) {
  return fabs(v.x) <= SN_COORDINATE_MAX && fabs(v.y) <= SN_COORDINATE_MAX &&
         fabs(v.z) <= SN_COORDINATE_MAX;
}

// world(t) world(bind)^-1, which takes the node from its bind pose to where it is.
static sn_status find_move(sn_reader* r, const sn_place* at, const double* bind, const double* now,
                           sn_keyframe* key, polar* move) {
  sn_mat3 bind_linear = sn_affine_linear(bind), now_linear = sn_affine_linear(now), inverse;
  sn_vec3 pivot = sn_affine_origin(bind), travel = sn_sub(sn_affine_origin(now), pivot);
  bool usable = sn_mat3_invert(&bind_linear, &inverse);
  sn_mat3 moved = sn_mul3(&now_linear, &inverse);
  double size = 0.0;
  for (int i = 0; i < 9; ++i) size += fabs(moved.m[i / 3][i % 3]);
  if (!usable || !is_near(pivot) || !is_near(travel) || !(size <= SN_COORDINATE_MAX)) {
    return sn_read_fail(r, at, "found a pose at frame %.0f that is without bounds, or flat at %s",
                        key->frame, "rest, expected a node that moves");
  }
  key->pivot = sn_scale(r->scene->unit, pivot);
  key->translate = sn_scale(r->scene->unit, travel);
  *move = decompose(&moved);
  return SN_OK;
}

// What is scaled to nothing, as animators hide things, is left with a little. Where nothing is left to
// tell how it is turned, it is turned as before.
static void keep_definite(sn_clip_motion* m, const sn_keyframe* key, const sn_quat* before,
                          polar* move, sn_quat* rotate) {
  if (move->s[2] >= SN_STRETCH_LEAST) return;
  if (move->s[0] < 1e-9) *rotate = before ? *before : sn_quat_identity();
  for (int i = 0; i < 3; ++i) move->s[i] = fmax(move->s[i], SN_STRETCH_LEAST);
  if (!m->warned) {
    sn_log(SN_LOG_WARNING,
           "node \"%.60s\" is scaled to nothing at frame %.0f; it keeps %g of its size",
           m->source.character->nodes[m->node].name, key->frame, SN_STRETCH_LEAST);
  }
  m->warned = true;
}

// @param before the rotation of the key before, or NULL
static sn_status fill_key(sn_reader* r, sn_clip_motion* m, const double* bind, const double* now,
                          const sn_quat* before, sn_keyframe* key) {
  const sn_place* at = m->at;
  polar move = {0};
  SN_TRY(find_move(r, at, bind, now, key, &move));
  double stretch = largest_stretch(&move);
  if (m->rigid && !(stretch <= STRETCH_TOLERANCE)) {
    return sn_read_fail(r, at,
                        "found the node scaled, sheared or mirrored by %g against its rest pose at "
                        "frame %.0f, expected a rigid motion",
                        stretch, key->frame);
  }
  if (!(move.s[2] > -SN_STRETCH_LEAST)) {
    return sn_read_fail(r, at,
                        "found the node \"%.60s\" mirrored against its rest pose at frame %.0f, "
                        "expected one that is turned and stretched",
                        m->source.character->nodes[m->node].name, key->frame);
  }
  key->rotate = sn_quat_from_mat3(&move.rotate);
  for (int i = 0; i < 3; ++i) key->stretch[i] = 1.0;
  if (m->rigid || stretch <= ROUNDING) return SN_OK;
  keep_definite(m, key, before, &move, &key->rotate);
  store_stretch(&move, key->stretch);
  return SN_OK;
}

// Poses

static bool is_same_source(const source* a, const source* b) {
  return a->character == b->character && a->clip == b->clip && a->loop == b->loop &&
         a->start == b->start;
}

// The time of a key in its clip. The last one of a loop is its end, not its beginning.
static double key_time(const sn_clip_motion* m, double fps, uint32_t key) {
  double end = m->source.character->clips[m->source.clip].end;
  bool last = m->source.loop && key + 1 == m->key_count;
  double time = m->source.start + (last ? end : key / fps);
  return m->source.loop && time > end ? time - end : time;
}

static double key_frame(const sn_clip_motion* m, uint32_t key) {
  return 1 + (m->source.loop ? fmin(key, m->frames) : key);
}

// @param group motions of the same source @param world two poses: in the bind pose and now
static sn_status fill_group(sn_reader* r, sn_clip_motion* group, double* world) {
  const source* s = &group->source;
  double *bind = world, *now = world + 16 * (size_t)s->character->node_count;
  sn_gltf_bind_pose(s->character, bind);
  for (uint32_t k = 0; k < group->key_count; ++k) {
    sn_gltf_pose(s->character, (int32_t)s->clip, key_time(group, r->scene->fps, k), now);
    for (sn_clip_motion* m = group; m; m = m->next) {
      const sn_quat* before = k > 0 ? &m->keys[k - 1].rotate : NULL;
      size_t node = 16 * (size_t)m->node;
      m->keys[k].frame = key_frame(m, k);
      SN_TRY(fill_key(r, m, bind + node, now + node, before, &m->keys[k]));
    }
  }
  return SN_OK;
}

// Take the motions of the last one's source out of the list, the first of the scene first.
static sn_clip_motion* take_group(sn_clip_motion** list) {
  const source chosen = (*list)->source;
  sn_clip_motion* group = NULL;
  for (sn_clip_motion** link = list; *link;) {
    sn_clip_motion* m = *link;
    if (!is_same_source(&m->source, &chosen)) {
      link = &m->next;
      continue;
    }
    *link = m->next;
    m->next = group;
    group = m;
  }
  return group;
}

static void release_motions(sn_clip_motion* list) {
  while (list) {
    sn_clip_motion* next = list->next;
    sn_release(list);
    list = next;
  }
}

sn_status sn_fill_clip_motions(sn_reader* r) {
  sn_status status = SN_OK;
  while (r->clip_motions && status == SN_OK) {
    sn_clip_motion* group = take_group(&r->clip_motions);
    SN_ASSERT(group);
    size_t bytes = 32 * (size_t)group->source.character->node_count * sizeof(double);
    double* world = sn_allocate(bytes);
    status = world ? fill_group(r, group, world) : sn_fail_memory(r->err, bytes);
    sn_release(world);
    release_motions(group);
  }
  return status;
}

void sn_drop_clip_motions(sn_reader* r) {
  release_motions(r->clip_motions);
  r->clip_motions = NULL;
}

// Poses of a whole character

static const sn_field poses_fields[] = {
    {"from", NULL, sn_read_string, AT(motion_text, from), .expected = SN_CHARACTER_FILE_TEXT},
    {"mesh", NULL, sn_read_string, AT(motion_text, mesh), OPTIONAL,
     .expected = "the name of a mesh of the file"},
    {"loop", "false", sn_read_bool, AT(motion_text, loop)},
    {"start", "0", sn_read_number, AT(motion_text, start), FROM_TO(0, 1e6)},
    {"driven_by", NULL, sn_read_string, AT(motion_text, driven_by), OPTIONAL,
     .expected = SN_CHARACTER_FILE_TEXT},
    {"clip", NULL, sn_read_string, AT(motion_text, clip), OPTIONAL,
     .expected = "the name of a clip of the file"},
};
static const sn_table poses_table = {
    "{\"from\": \"body.pc2\"} or {\"from\": \"walk.glb\", \"mesh\": \"name\", \"clip\": \"name\"}",
    TABLE(poses_fields), NULL};

sn_status sn_read_clip_poses(sn_reader* r, const sn_place* at, json_t* object,
                             sn_clip_poses* poses) {
  motion_text text = {0};
  sn_clip_motion m = {0};
  SN_TRY(sn_value_object(r, at, object, &poses_table, &text));
  SN_TRY(find_source(r, at, object, &text, &m));
  m.source.loop = text.loop;
  m.source.start = text.start;
  SN_TRY(count_keys(r, at, &m));
  *poses = (sn_clip_poses){.character = m.source.character,
                           .path = text.from,
                           .mesh = text.mesh,
                           .clip = m.source.clip,
                           .count = m.key_count,
                           .period = text.loop ? m.frames : 0,
                           .start = m.source.start,
                           .fps = r->scene->fps};
  return SN_OK;
}

double sn_clip_poses_at(const sn_clip_poses* poses, uint32_t pose, double* world) {
  const sn_clip_motion m = {
      .source = {poses->character, poses->clip, poses->period > 0, poses->start},
      .key_count = poses->count,
      .frames = poses->period};
  double time = key_time(&m, poses->fps, pose);
  sn_gltf_pose(poses->character, (int32_t)poses->clip, time, world);
  return time;
}
