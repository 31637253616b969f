// The keys of a driven character: at each time the motion's turns, carried over joint by joint.
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "io/drive.h"

// Keys of the motion that are nearer together are thinned out, and gaps that are wider filled.
#define KEYS_A_SECOND_MAX 60.0
#define KEYS_A_SECOND_MIN 30.0
#define FILL_MAX 64  // keys in a gap

// Parts of a bind pose that differ by no more from those of the file need no key: matrices are floats.
#define SAME_TOLERANCE 1e-5

// Times

static const sn_gltf_channel* densest_channel(const sn_gltf_clip* clip) {
  const sn_gltf_channel* densest = NULL;
  for (uint32_t c = 0; c < clip->channel_count; ++c) {
    const sn_gltf_channel* channel = &clip->channels[c];
    if (!densest || channel->key_count > densest->key_count) densest = channel;
  }
  return densest;
}

// How many keys to go on by: whole keys, so that the motion's own poses are kept.
static uint32_t find_stride(const sn_gltf_channel* channel) {
  if (channel->key_count < 2) return 1;
  double span = (double)channel->times[channel->key_count - 1] - (double)channel->times[0];
  double rate = (channel->key_count - 1) / span;
  // 120 frames a second may be written as a frame time of 0.0083333 s.
  double stride = ceil(rate / KEYS_A_SECOND_MAX * (1.0 - 1e-3));
  return stride >= 1.0 && stride < (double)channel->key_count ? (uint32_t)stride
         : stride < 1.0                                       ? 1
                                                              : channel->key_count;
}

static uint32_t fill_of(double gap) {
  double wanted = ceil(gap * KEYS_A_SECOND_MIN * (1.0 - 1e-3)) - 1.0;
  return wanted <= 0.0 ? 0 : wanted > FILL_MAX ? FILL_MAX : (uint32_t)wanted;
}

// Every so many of the densest channel's keys, the last one in any case. @param times NULL to count
static uint32_t list_times(const sn_gltf_channel* channel, float* times) {
  uint32_t count = 0, stride = find_stride(channel);
  for (uint32_t k = 0; k < channel->key_count;) {
    uint32_t next = k + stride;
    if (next >= channel->key_count)
      next = k + 1 < channel->key_count ? channel->key_count - 1 : next;
    if (times) times[count] = channel->times[k];
    ++count;
    if (next < channel->key_count) {
      double from = (double)channel->times[k], gap = (double)channel->times[next] - from;
      uint32_t fill = fill_of(gap);
      for (uint32_t f = 1; f <= fill; ++f, ++count) {
        if (times) times[count] = (float)(from + gap * f / (fill + 1));
      }
    }
    k = next;
  }
  return count;
}

// Times that a float cannot tell apart are one. @return how many are left
static uint32_t tidy_times(float* times, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; ++k) {
    if (kept == 0 || times[k] > times[kept - 1]) times[kept++] = times[k];
  }
  return kept;
}

// Tracks

typedef struct baker {
  sn_driver* d;
  sn_gltf_clip* clip;
  float* times;
  uint32_t time_count;
  sn_gltf_channel **turns, **paths;  // of each node, NULL where it has none
  double *pose, *world;              // of the motion and of the character, at one time
  sn_quat* world_turns;              // of the character
  double step;                       // the longest from a parent to a child
} baker;

static sn_status add_track(baker* b, uint32_t node, sn_gltf_path path, uint32_t key_count,
                           sn_gltf_channel** track) {
  *track = &b->clip->channels[b->clip->channel_count++];
  **track =
      (sn_gltf_channel){.node = node, .path = path, .times = b->times, .key_count = key_count};
  size_t width = path == SN_GLTF_ROTATE ? 4 : 3;
  return SN_ARENA_NEW(b->d->to->storage, width * key_count, &(*track)->values, b->d->err);
}

static bool travels(const sn_driver* d, int32_t source) {
  const sn_gltf_clip* clip = &d->from->clips[d->clip];
  for (int32_t n = source; n >= 0; n = d->from->nodes[n].parent) {
    for (uint32_t c = 0; c < clip->channel_count; ++c) {
      if (clip->channels[c].node == (uint32_t)n && clip->channels[c].path == SN_GLTF_TRANSLATE) {
        return true;
      }
    }
  }
  return false;
}

// The hips travel, and what is above them.
static bool has_path(const sn_driver* d, uint32_t node) {
  int32_t source = d->source_of[node];
  bool is_hips =
      d->to_words[node].part == SN_PART_HIPS || d->from_words[source].part == SN_PART_HIPS;
  bool is_root = d->matched_above[node] < 0 && d->from->nodes[source].parent < 0;
  return (is_hips || is_root) && travels(d, source);
}

// The longest step from a parent to a child: what a difference of places is held against.
static double longest_step(const sn_driver* d) {
  double longest = 0.0;
  for (uint32_t n = 0; n < d->to->node_count; ++n) {
    longest = fmax(longest, sn_length(d->locals[n].translate));
  }
  return longest;
}

static bool differs(const double* a, const double* b, int count, double size) {
  double apart = 0.0;
  for (int i = 0; i < count; ++i) apart = fmax(apart, fabs(a[i] - b[i]));
  return apart > SAME_TOLERANCE * size;
}

// Where the file does not have a node as its bind pose does, one key holds it there.
static sn_status hold_part(baker* b, uint32_t node, sn_gltf_path path, const double* bound,
                           const double* filed) {
  int width = path == SN_GLTF_ROTATE ? 4 : 3;
  if (!differs(bound, filed, width, path == SN_GLTF_TRANSLATE ? b->step : 1.0)) return SN_OK;
  sn_gltf_channel* track;
  SN_TRY(add_track(b, node, path, 1, &track));
  for (int i = 0; i < width; ++i) track->values[i] = (float)bound[i];
  return SN_OK;
}

static sn_status hold_node(baker* b, uint32_t n) {
  const sn_gltf_node *bound = &b->d->locals[n], *filed = &b->d->to->nodes[n];
  if (bound->has_matrix || filed->has_matrix) return SN_OK;
  const double bound_turn[4] = {bound->rotate.x, bound->rotate.y, bound->rotate.z, bound->rotate.w};
  double sign = sn_quat_dot(bound->rotate, filed->rotate) < 0.0 ? -1.0 : 1.0;
  const double filed_turn[4] = {sign * filed->rotate.x, sign * filed->rotate.y,
                                sign * filed->rotate.z, sign * filed->rotate.w};
  const double bound_place[3] = {bound->translate.x, bound->translate.y, bound->translate.z};
  const double filed_place[3] = {filed->translate.x, filed->translate.y, filed->translate.z};
  const double bound_scale[3] = {bound->scale.x, bound->scale.y, bound->scale.z};
  const double filed_scale[3] = {filed->scale.x, filed->scale.y, filed->scale.z};
  if (!b->turns[n]) SN_TRY(hold_part(b, n, SN_GLTF_ROTATE, bound_turn, filed_turn));
  if (!b->paths[n]) SN_TRY(hold_part(b, n, SN_GLTF_TRANSLATE, bound_place, filed_place));
  return hold_part(b, n, SN_GLTF_SCALE, bound_scale, filed_scale);
}

static sn_status make_tracks(baker* b) {
  sn_driver* d = b->d;
  uint32_t count = d->to->node_count;
  SN_TRY(SN_ARENA_NEW(d->to->storage, 3 * (size_t)count, &b->clip->channels, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, count, &b->turns, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, count, &b->paths, d->err));
  for (uint32_t n = 0; n < count; ++n) {
    if (d->source_of[n] >= 0) {
      SN_TRY(add_track(b, n, SN_GLTF_ROTATE, b->time_count, &b->turns[n]));
      if (has_path(d, n)) SN_TRY(add_track(b, n, SN_GLTF_TRANSLATE, b->time_count, &b->paths[n]));
    }
    SN_TRY(hold_node(b, n));
  }
  return SN_OK;
}

// Keys

// W(t) = A [R(t) R(rest)^-1] A^-1  M  W(bind)
static sn_quat driven_turn(const sn_driver* d, const double* pose, uint32_t node) {
  int32_t source = d->source_of[node];
  sn_quat now = sn_drive_turn_of(pose + 16 * (size_t)source);
  sn_quat turned = sn_quat_multiply(now, sn_quat_conjugate(d->rest_turns[source]));
  turned =
      sn_quat_multiply(sn_quat_multiply(d->axes_turn, turned), sn_quat_conjugate(d->axes_turn));
  return sn_quat_multiply(sn_quat_multiply(turned, d->aligned[node]), d->bind_turns[node]);
}

static sn_vec3 driven_place(const baker* b, uint32_t node) {
  const sn_driver* d = b->d;
  sn_vec3 travelled = sn_affine_origin(b->pose + 16 * (size_t)d->source_of[node]);
  sn_vec3 place = sn_scale(d->scale, sn_mul3v(&d->axes, travelled));
  int32_t parent = d->to->nodes[node].parent;
  double back[16];
  if (parent < 0 || !sn_affine_invert(b->world + 16 * (size_t)parent, back)) return place;
  return sn_affine_apply(back, place);
}

static void place_node(baker* b, uint32_t key, uint32_t n) {
  const sn_driver* d = b->d;
  sn_gltf_node local = d->locals[n];
  int32_t parent = d->to->nodes[n].parent;
  sn_quat above = parent >= 0 ? b->world_turns[parent] : sn_quat_identity();
  if (b->turns[n]) {
    sn_quat wanted = driven_turn(d, b->pose, n);
    local.rotate = sn_quat_normalise(sn_quat_multiply(sn_quat_conjugate(above), wanted));
    float* to = b->turns[n]->values + 4 * (size_t)key;
    to[0] = (float)local.rotate.x;
    to[1] = (float)local.rotate.y;
    to[2] = (float)local.rotate.z;
    to[3] = (float)local.rotate.w;
  }
  if (b->paths[n]) {
    local.translate = driven_place(b, n);
    float* to = b->paths[n]->values + 3 * (size_t)key;
    to[0] = (float)local.translate.x;
    to[1] = (float)local.translate.y;
    to[2] = (float)local.translate.z;
  }
  b->world_turns[n] = sn_quat_normalise(sn_quat_multiply(above, local.rotate));
  double matrix[16], *world = b->world + 16 * (size_t)n;
  memcpy(matrix, local.matrix, sizeof matrix);
  if (!local.has_matrix) sn_affine_compose(local.translate, local.rotate, local.scale, matrix);
  if (parent >= 0) {
    sn_affine_multiply(b->world + 16 * (size_t)parent, matrix, world);
  } else {
    memcpy(world, matrix, sizeof matrix);
  }
}

static sn_status find_times(baker* b) {
  const sn_gltf_channel* densest = densest_channel(&b->d->from->clips[b->d->clip]);
  SN_CHECK(densest, b->d->err, SN_ERR_INPUT, "found a clip \"%s\" without channels, %s",
           b->clip->name, "expected one that moves");
  uint32_t count = list_times(densest, NULL);
  SN_TRY(SN_ARENA_NEW(b->d->to->storage, count, &b->times, b->d->err));
  list_times(densest, b->times);
  b->time_count = tidy_times(b->times, count);
  b->clip->end = (double)b->times[b->time_count - 1];
  return SN_OK;
}

sn_status sn_drive_bake(sn_driver* d, sn_gltf_clip* clip) {
  baker b = {.d = d, .clip = clip, .step = longest_step(d)};
  SN_TRY(find_times(&b));
  SN_TRY(make_tracks(&b));
  SN_TRY(SN_ARENA_NEW(d->scratch, 16 * (size_t)d->from->node_count, &b.pose, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, 16 * (size_t)d->to->node_count, &b.world, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, d->to->node_count, &b.world_turns, d->err));
  for (uint32_t k = 0; k < b.time_count; ++k) {
    sn_gltf_pose(d->from, (int32_t)d->clip, (double)b.times[k], b.pose);
    for (uint32_t i = 0; i < d->to->node_count; ++i) place_node(&b, k, d->to->order[i]);
  }
  return SN_OK;
}
