// Biovision hierarchies: a skeleton and one motion, as text.
//
// Read here rather than by assimp, which takes any text for a skeleton, says neither line nor reason of
// a mistake, keeps angles in single precision and adds a mesh that the file does not have.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/gltf.h"
#include "io/import.h"
#include "io/text.h"
#include "math/quat.h"

// A joint moves along and about three axes.
#define CHANNELS_MAX 6

// A number takes two bytes, with the blank behind it.
#define LEAST_BYTES_A_NUMBER 2

#define DEGREE 0.017453292519943295

// Room for the names of joints in messages.
#define NAME_MAX_LENGTH 256

typedef struct joint {
  int32_t parent;
  double offset[3];
  int channel_count;
  int channels[CHANNELS_MAX];  // 0..2 along, 3..5 about x, y, z, in the order of the file
  bool is_end;
} joint;

typedef struct bvh_reader {
  sn_import* im;
  sn_text text;
  size_t size;
  joint* joints;  // (joint_count); room for all that the file can hold
  const char** names;
  uint32_t joint_count;
  uint64_t channel_count;
  uint64_t frame_count;
  double frame_time;
} bvh_reader;

// "found" is a token, or the end of the file where it is empty.
static sn_status fail_at(bvh_reader* b, sn_token found, const char* expected) {
  sn_quote quoted = sn_token_quote(found);
  const char* quote = found.length > 0 ? quoted.text : "the end of the file";
  return sn_fail(b->im->err, SN_ERR_INPUT, "%s: line %llu: found %s, expected %s", b->im->path,
                 (unsigned long long)b->text.line, quote, expected);
}

// The next token of the file; false at its end.
static bool next_token(bvh_reader* b, sn_token* token) {
  while (!sn_text_next_token(&b->text, token)) {
    *token = (sn_token){b->text.at, 0};
    if (!sn_text_next_line(&b->text)) return false;
  }
  return true;
}

static bool is_word(sn_token token, const char* word) {
  return token.length == strlen(word) && strncasecmp(token.start, word, token.length) == 0;
}

static sn_status expect_word(bvh_reader* b, const char* word) {
  sn_token token;
  if (!next_token(b, &token) || !is_word(token, word)) return fail_at(b, token, word);
  return SN_OK;
}

static sn_status expect_number(bvh_reader* b, double limit, const char* expected, double* number) {
  sn_token token;
  if (!next_token(b, &token) || !sn_token_to_number(token, number) || !(fabs(*number) <= limit)) {
    return fail_at(b, token, expected);
  }
  return SN_OK;
}

// Hierarchy

static sn_status read_offset(bvh_reader* b, joint* j) {
  for (int c = 0; c < 3; ++c) {
    SN_TRY(expect_number(b, 1e30, "three numbers behind OFFSET", &j->offset[c]));
  }
  return SN_OK;
}

static int find_channel(sn_token token) {
  static const char* const names[CHANNELS_MAX] = {"Xposition", "Yposition", "Zposition",
                                                  "Xrotation", "Yrotation", "Zrotation"};
  for (int c = 0; c < CHANNELS_MAX; ++c) {
    if (is_word(token, names[c])) return c;
  }
  return -1;
}

static sn_status read_channels(bvh_reader* b, joint* j) {
  sn_token token;
  int64_t count = -1;
  if (j->channel_count > 0) {
    return fail_at(b, (sn_token){"CHANNELS", 8}, "one list of channels for a joint");
  }
  if (!next_token(b, &token) || !sn_token_to_integer(token, &count) || count < 0 ||
      count > CHANNELS_MAX) {
    return fail_at(b, token, "a number of channels from 0 to 6");
  }
  for (; j->channel_count < count; ++j->channel_count) {
    bool found = next_token(b, &token);
    int channel = found ? find_channel(token) : -1;
    for (int i = 0; i < j->channel_count; ++i) {
      if (j->channels[i] == channel) channel = -1;
    }
    if (channel < 0) {
      return fail_at(b, token,
                     "Xposition, Yposition, Zposition, Xrotation, Yrotation or Zrotation, "
                     "each at most once");
    }
    j->channels[j->channel_count] = channel;
  }
  b->channel_count += (uint64_t)count;
  return SN_OK;
}

// The rest of the line, for names may have blanks; the brace may stand behind it.
static sn_status read_name(bvh_reader* b, bool* has_brace) {
  sn_token rest = sn_text_rest_of_line(&b->text);
  *has_brace = rest.length > 0 && rest.start[rest.length - 1] == '{';
  if (*has_brace) --rest.length;
  while (rest.length > 0 &&
         (rest.start[rest.length - 1] == ' ' || rest.start[rest.length - 1] == '\t')) {
    --rest.length;
  }
  if (rest.length == 0 || rest.length > NAME_MAX_LENGTH) {
    return fail_at(b, rest, "a name of 1 to 256 bytes");
  }
  SN_TRY(SN_ARENA_NEW(b->im->scratch, rest.length + 1, &b->names[b->joint_count - 1], b->im->err));
  memcpy((char*)b->names[b->joint_count - 1], rest.start, rest.length);
  return SN_OK;
}

// An end takes the name of its joint with `_end` behind it.
static sn_status name_end(bvh_reader* b, int32_t parent) {
  size_t size = strlen(b->names[parent]) + 5;
  char* name;
  SN_TRY(SN_ARENA_NEW(b->im->scratch, size, &name, b->im->err));
  snprintf(name, size, "%s_end", b->names[parent]);
  b->names[b->joint_count - 1] = name;
  return SN_OK;
}

// Behind ROOT, JOINT or End: the joint itself up to its brace.
static sn_status open_joint(bvh_reader* b, int32_t* current, bool is_end) {
  joint* j = &b->joints[b->joint_count++];
  *j = (joint){.parent = *current, .is_end = is_end};
  bool has_brace = false;
  if (is_end) {
    SN_TRY(expect_word(b, "Site"));
    SN_TRY(name_end(b, *current));
  } else {
    SN_TRY(read_name(b, &has_brace));
  }
  if (!has_brace) SN_TRY(expect_word(b, "{"));
  SN_TRY(expect_word(b, "OFFSET"));
  SN_TRY(read_offset(b, j));
  *current = (int32_t)(b->joint_count - 1);
  return SN_OK;
}

// One entry of the joint that is open, or of the hierarchy where none is.
static sn_status read_entry(bvh_reader* b, sn_token token, int32_t* current) {
  joint* open = *current >= 0 ? &b->joints[*current] : NULL;
  if (!open) {
    if (is_word(token, "ROOT")) return open_joint(b, current, false);
    return fail_at(b, token, "ROOT or MOTION");
  }
  if (is_word(token, "}")) {
    *current = open->parent;
    return SN_OK;
  }
  if (open->is_end) return fail_at(b, token, "}");
  if (is_word(token, "CHANNELS")) return read_channels(b, open);
  if (is_word(token, "JOINT")) return open_joint(b, current, false);
  if (is_word(token, "End")) return open_joint(b, current, true);
  return fail_at(b, token, "CHANNELS, JOINT, End Site or }");
}

static sn_status read_hierarchy(bvh_reader* b) {
  // The shortest joint is longer than 8 bytes.
  size_t room = b->size / 8 + 1;
  SN_TRY(SN_ARENA_NEW(b->im->scratch, room, &b->joints, b->im->err));
  SN_TRY(SN_ARENA_NEW(b->im->scratch, room, &b->names, b->im->err));
  SN_TRY(expect_word(b, "HIERARCHY"));
  int32_t current = -1;
  for (;;) {
    sn_token token;
    bool found = next_token(b, &token);
    if (found && current < 0 && b->joint_count > 0 && is_word(token, "MOTION")) return SN_OK;
    if (!found) return fail_at(b, token, current < 0 ? "ROOT or MOTION" : "}");
    SN_TRY(read_entry(b, token, &current));
  }
}

// Motion

static sn_status read_motion_head(bvh_reader* b) {
  sn_token token;
  int64_t count = 0;
  SN_TRY(expect_word(b, "Frames:"));
  if (!next_token(b, &token) || !sn_token_to_integer(token, &count) || count < 1) {
    return fail_at(b, token, "a number of frames from 1 up");
  }
  size_t left = (size_t)(b->text.end - b->text.at);
  uint64_t most = left / LEAST_BYTES_A_NUMBER + 1;
  if ((uint64_t)count > most || (uint64_t)count * b->channel_count > most) {
    char expected[96];
    snprintf(expected, sizeof expected, "as many frames of %llu numbers as the file has room for",
             (unsigned long long)b->channel_count);
    return fail_at(b, token, expected);
  }
  b->frame_count = (uint64_t)count;
  SN_TRY(expect_word(b, "Frame"));
  SN_TRY(expect_word(b, "Time:"));
  SN_TRY(expect_number(b, 1e6, "the seconds of a frame", &b->frame_time));
  SN_CHECK(b->frame_time >= 1e-6, b->im->err, SN_ERR_INPUT,
           "%s: line %llu: found %g, expected a frame time of 1e-6 s or more", b->im->path,
           (unsigned long long)b->text.line, b->frame_time);
  return SN_OK;
}

static sn_quat turn_about(int axis, double degrees) {
  double half = 0.5 * DEGREE * degrees, sine = sn_sin(half);
  return (sn_quat){axis == 0 ? sine : 0.0, axis == 1 ? sine : 0.0, axis == 2 ? sine : 0.0,
                   sn_cos(half)};
}

// A position stands for the offset; the rotation that comes first is the outermost.
static sn_status read_joint_frame(bvh_reader* b, const joint* j, float* place, float* turn) {
  double position[3] = {j->offset[0], j->offset[1], j->offset[2]};
  sn_quat q = sn_quat_identity();
  for (int c = 0; c < j->channel_count; ++c) {
    double value;
    int channel = j->channels[c];
    SN_TRY(expect_number(b, channel < 3 ? 1e30 : 1e7, "a number for each channel of each frame",
                         &value));
    if (channel < 3) {
      position[channel] = value;
    } else {
      q = sn_quat_multiply(q, turn_about(channel - 3, value));
    }
  }
  for (int c = 0; c < 3; ++c) place[c] = (float)position[c];
  turn[0] = (float)q.x;
  turn[1] = (float)q.y;
  turn[2] = (float)q.z;
  turn[3] = (float)q.w;
  return SN_OK;
}

// Where each joint has its channels in the clip, or none.
typedef struct joint_tracks {
  sn_gltf_channel *place, *turn;
} joint_tracks;

static sn_status add_track(bvh_reader* b, uint32_t node, sn_gltf_path path, float* times,
                           sn_gltf_channel** track) {
  sn_gltf_clip* clip = b->im->gltf->clips;
  *track = &clip->channels[clip->channel_count++];
  **track = (sn_gltf_channel){
      .node = node, .path = path, .times = times, .key_count = (uint32_t)b->frame_count};
  size_t width = path == SN_GLTF_ROTATE ? 4 : 3;
  return SN_ARENA_NEW(b->im->gltf->storage, width * b->frame_count, &(*track)->values, b->im->err);
}

static sn_status make_tracks(bvh_reader* b, joint_tracks** tracks) {
  sn_gltf* gltf = b->im->gltf;
  float* times;
  SN_TRY(SN_ARENA_NEW(b->im->scratch, b->joint_count, tracks, b->im->err));
  SN_TRY(SN_ARENA_NEW(gltf->storage, 2 * (size_t)b->joint_count, &gltf->clips[0].channels,
                      b->im->err));
  SN_TRY(SN_ARENA_NEW(gltf->storage, b->frame_count, &times, b->im->err));
  for (uint64_t f = 0; f < b->frame_count; ++f) {
    times[f] = (float)((double)f * b->frame_time);
    SN_CHECK(f == 0 || times[f] > times[f - 1], b->im->err, SN_ERR_INPUT,
             "%s: found %llu frames of %g s, expected times that a float can tell apart",
             b->im->path, (unsigned long long)b->frame_count, b->frame_time);
  }
  gltf->clips[0].end = (double)times[b->frame_count - 1];
  for (uint32_t n = 0; n < b->joint_count; ++n) {
    bool moves = false, turns = false;
    for (int c = 0; c < b->joints[n].channel_count; ++c) {
      *(b->joints[n].channels[c] < 3 ? &moves : &turns) = true;
    }
    if (moves) SN_TRY(add_track(b, n, SN_GLTF_TRANSLATE, times, &(*tracks)[n].place));
    if (turns) SN_TRY(add_track(b, n, SN_GLTF_ROTATE, times, &(*tracks)[n].turn));
  }
  return SN_OK;
}

// Positions that are 0 in every frame say nothing: the offset holds.
static void drop_empty_paths(bvh_reader* b) {
  sn_gltf_clip* clip = b->im->gltf->clips;
  uint32_t kept = 0;
  for (uint32_t c = 0; c < clip->channel_count; ++c) {
    const sn_gltf_channel* channel = &clip->channels[c];
    bool is_empty = channel->path == SN_GLTF_TRANSLATE;
    for (size_t i = 0; is_empty && i < 3 * (size_t)channel->key_count; ++i) {
      is_empty = channel->values[i] == 0.0f;
    }
    if (is_empty) {
      sn_log(SN_LOG_INFO, "%s: joint \"%s\" has no position but its offset", b->im->path,
             b->im->gltf->nodes[channel->node].name);
    } else {
      clip->channels[kept++] = *channel;
    }
  }
  clip->channel_count = kept;
}

static sn_status read_frames(bvh_reader* b) {
  joint_tracks* tracks;
  SN_TRY(make_tracks(b, &tracks));
  for (uint64_t f = 0; f < b->frame_count; ++f) {
    for (uint32_t n = 0; n < b->joint_count; ++n) {
      float place[3], turn[4];
      SN_TRY(read_joint_frame(b, &b->joints[n], place, turn));
      if (tracks[n].place) memcpy(tracks[n].place->values + 3 * f, place, sizeof place);
      if (tracks[n].turn) memcpy(tracks[n].turn->values + 4 * f, turn, sizeof turn);
    }
  }
  sn_token token;
  if (next_token(b, &token)) return fail_at(b, token, "the end of the file behind the last frame");
  drop_empty_paths(b);
  return SN_OK;
}

// The document

static sn_status make_nodes(bvh_reader* b) {
  sn_gltf* gltf = b->im->gltf;
  SN_TRY(SN_ARENA_NEW(gltf->storage, b->joint_count, &gltf->nodes, b->im->err));
  gltf->node_count = b->joint_count;
  for (uint32_t n = 0; n < b->joint_count; ++n) {
    gltf->nodes[n] = (sn_gltf_node){.parent = b->joints[n].parent,
                                    .translate = sn_load3(b->joints[n].offset),
                                    .rotate = sn_quat_identity(),
                                    .scale = {1.0, 1.0, 1.0},
                                    .mesh = -1,
                                    .skin = -1};
  }
  return sn_gltf_name_items(gltf->storage, b->im->scratch, b->names, b->joint_count, "node",
                            gltf->nodes, sizeof *gltf->nodes, b->im->err);
}

// Named after its file.
static sn_status make_clip(bvh_reader* b) {
  sn_gltf* gltf = b->im->gltf;
  SN_TRY(SN_ARENA_NEW(gltf->storage, 1, &gltf->clips, b->im->err));
  gltf->clip_count = 1;
  const char *slash = strrchr(b->im->path, '/'), *stem = slash ? slash + 1 : b->im->path;
  const char* dot = strrchr(stem, '.');
  size_t length = dot ? (size_t)(dot - stem) : strlen(stem);
  SN_TRY(SN_ARENA_NEW(gltf->storage, length + 1, &gltf->clips[0].name, b->im->err));
  memcpy(gltf->clips[0].name, stem, length);
  return SN_OK;
}

sn_status sn_import_bvh(sn_import* im) {
  char* bytes;
  bvh_reader b = {.im = im};
  SN_TRY(sn_import_read_file(im, &bytes, &b.size));
  b.text = (sn_text){.at = bytes, .end = bytes + b.size, .line = 1};
  SN_TRY(read_hierarchy(&b));
  SN_TRY(read_motion_head(&b));
  SN_TRY(make_nodes(&b));
  SN_TRY(make_clip(&b));
  SN_TRY(read_frames(&b));
  return sn_import_finish(im);
}
