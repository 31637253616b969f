// Animation of a Collada file: all channels as one clip. Each node that moves is baked at its keys, and
// between them too unless whole matrices are given.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/dae.h"
#include "math/affine.h"

#define KEYS_A_SECOND 30.0
#define FRAMES_MAX 1e6

// What a channel moves: all numbers of a transform of a node, or one of them.
typedef struct channel {
  uint32_t node;
  const sn_xml* transform;
  int which;  // -1: all
  sn_dae_source times, values;
} channel;

typedef struct clip_taker {
  sn_dae* d;
  sn_gltf_clip* clip;
  channel* channels;
  uint32_t channel_count, spline_count;
  double first;
} clip_taker;

// "node/sid", "node/sid.X", "node/sid(2)"; false: of something that does not move nodes.
static bool find_target(const clip_taker* t, const char* target, channel* c) {
  const char* slash = strchr(target, '/');
  if (!slash) return false;
  size_t id_size = (size_t)(slash - target), sid_size = strcspn(slash + 1, ".(");
  const char *sid = slash + 1, *rest = sid + sid_size;
  const sn_xml* node = NULL;
  for (c->node = 0; c->node < t->d->im->gltf->node_count; ++c->node) {
    node = t->d->nodes[c->node];
    const char* id = sn_xml_value(node, "id");
    if (strlen(id) == id_size && memcmp(id, target, id_size) == 0) break;
  }
  // A further mesh of a node has no element, nor an id.
  if (c->node == t->d->im->gltf->node_count || !node) return false;
  c->transform = node->first;
  for (; c->transform; c->transform = c->transform->next) {
    const char* own = sn_xml_value(c->transform, "sid");
    if (strlen(own) == sid_size && memcmp(own, sid, sid_size) == 0) break;
  }
  c->which = -1;
  if (rest[0] == '.') {
    static const char* const names[] = {"X", "Y", "Z", "ANGLE"};
    for (int i = 0; i < 4; ++i) c->which = strcmp(rest + 1, names[i]) == 0 ? i : c->which;
    if (c->which < 0) return false;
  } else if (rest[0] == '(') {
    if (rest[1] < '0' || rest[1] > '9' || rest[2] != ')' || rest[3]) return false;
    c->which = rest[1] - '0';
  }
  return c->transform != NULL;
}

static sn_status count_splines(clip_taker* t, const sn_xml* sampler) {
  const sn_xml* input = sn_dae_input(sampler, "INTERPOLATION");
  const char** words;
  size_t count;
  if (!input) return SN_OK;
  SN_TRY(sn_dae_words(t->d, sn_dae_find(t->d, sn_xml_value(input, "source")), &words, &count));
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(words[i], "LINEAR") == 0) continue;
    t->spline_count++;
    break;
  }
  return SN_OK;
}

static sn_status take_channel(clip_taker* t, const sn_xml* element, uint32_t* left_out) {
  channel* c = &t->channels[t->channel_count];
  const sn_xml* sampler = sn_dae_find(t->d, sn_xml_value(element, "source"));
  const sn_xml *input = sn_dae_input(sampler, "INPUT"), *output = sn_dae_input(sampler, "OUTPUT");
  if (!input || !output || !find_target(t, sn_xml_value(element, "target"), c)) {
    ++*left_out;
    return SN_OK;
  }
  SN_TRY(sn_dae_source_of(t->d, input, sn_xml_value(input, "source"), &c->times));
  SN_TRY(sn_dae_source_of(t->d, output, sn_xml_value(output, "source"), &c->values));
  if (c->times.count == 0 || c->values.count < c->times.count) {
    return sn_dae_fail(t->d, sampler, "no keys, or fewer values than times", "one each");
  }
  for (size_t k = 0; k < c->times.count; ++k) {
    double time = c->times.values[c->times.stride * k];
    if (!(fabs(time) < 1e7) || (k > 0 && !(time > c->times.values[c->times.stride * (k - 1)]))) {
      return sn_dae_fail(t->d, input, "times that do not ascend", "ascending ones");
    }
    t->first = fmin(t->first, time);
  }
  t->channel_count++;
  return count_splines(t, sampler);
}

// Numbers of a channel at a time, linear between keys, into those of its transform.
static bool apply_channel(const channel* c, double time, double* numbers, size_t count) {
  const double* times = c->times.values;
  size_t low = 0, high = c->times.count, stride = c->times.stride, width = c->values.stride;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    *(times[stride * middle] <= time ? &low : &high) = middle;
  }
  size_t next = low + 1 < c->times.count ? low + 1 : low;
  double from = times[stride * low], span = times[stride * next] - from;
  double share = span > 0.0 && time > from ? fmin((time - from) / span, 1.0) : 0.0;
  const double *a = c->values.values + width * low, *b = c->values.values + width * next;
  if (c->which >= 0) {
    if ((size_t)c->which >= count) return false;
    numbers[c->which] = a[0] + share * (b[0] - a[0]);
    return true;
  }
  if (width != count) return false;
  for (size_t i = 0; i < count; ++i) numbers[i] = a[i] + share * (b[i] - a[i]);
  return true;
}

static sn_status pose_node(clip_taker* t, uint32_t node, double time, sn_gltf_node* parts) {
  double world[16], m[16], product[16];
  sn_affine_identity(world);
  for (const sn_xml* e = t->d->nodes[node]->first; e; e = e->next) {
    bool is_rotate = strcmp(e->name, "rotate") == 0, is_matrix = strcmp(e->name, "matrix") == 0;
    if (!is_rotate && !is_matrix && strcmp(e->name, "translate") != 0 &&
        strcmp(e->name, "scale") != 0) {
      continue;
    }
    double* numbers;
    size_t count;
    SN_TRY(sn_dae_numbers(t->d, e, &numbers, &count));
    for (uint32_t c = 0; c < t->channel_count; ++c) {
      const channel* moves = &t->channels[c];
      if (moves->transform == e && !apply_channel(moves, time, numbers, count)) {
        return sn_dae_fail(t->d, e, "an animation of other numbers", "as many as it has");
      }
    }
    if (!sn_dae_transform(e->name, numbers, count, m)) {
      return sn_dae_fail(t->d, e, "another count of numbers", "16, 3 or 4");
    }
    sn_affine_multiply(world, m, product);
    memcpy(world, product, sizeof world);
  }
  sn_import_place(world, parts);
  return SN_OK;
}

static int compare_times(const void* a, const void* b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

// Keys of all channels of a node, and frames between where a single number moves.
static sn_status list_times(clip_taker* t, uint32_t node, double** times, uint32_t* count) {
  size_t room = 0;
  double first = INFINITY, last = -INFINITY;
  bool is_filled = false;
  for (uint32_t c = 0; c < t->channel_count; ++c) {
    const channel* from = &t->channels[c];
    if (from->node != node) continue;
    room += from->times.count;
    first = fmin(first, from->times.values[0]);
    last = fmax(last, from->times.values[from->times.stride * (from->times.count - 1)]);
    is_filled = is_filled || strcmp(from->transform->name, "matrix") != 0;
  }
  double frames = is_filled ? floor((last - first) * KEYS_A_SECOND) : 0.0;
  SN_CHECK(frames <= FRAMES_MAX, t->d->im->err, SN_ERR_INPUT,
           "%s: found an animation of %g s, expected less than %g frames", t->d->im->path,
           last - first, FRAMES_MAX);
  room += (size_t)frames;
  SN_TRY(SN_ARENA_RAW(t->d->im->scratch, room, times, t->d->im->err));
  size_t filled = 0;
  for (uint32_t c = 0; c < t->channel_count; ++c) {
    const channel* from = &t->channels[c];
    for (size_t k = 0; from->node == node && k < from->times.count; ++k) {
      (*times)[filled++] = from->times.values[from->times.stride * k];
    }
  }
  for (double k = 1; k <= frames; k += 1.0) (*times)[filled++] = first + k / KEYS_A_SECOND;
  qsort(*times, filled, sizeof **times, compare_times);
  *count = 0;
  for (size_t i = 0; i < filled; ++i) {
    if (*count > 0 && (*times)[i] - (*times)[*count - 1] < 1e-5) continue;
    (*times)[(*count)++] = (*times)[i];
  }
  return SN_OK;
}

static sn_status bake_node(clip_taker* t, uint32_t node) {
  static const sn_gltf_path paths[3] = {SN_GLTF_TRANSLATE, SN_GLTF_ROTATE, SN_GLTF_SCALE};
  sn_arena* storage = t->d->im->gltf->storage;
  double* exact;
  uint32_t count = 0;
  float* times;
  SN_TRY(list_times(t, node, &exact, &count));
  SN_TRY(SN_ARENA_NEW(storage, count, &times, t->d->im->err));
  sn_gltf_channel* made = &t->clip->channels[t->clip->channel_count];
  for (int i = 0; i < 3; ++i) {
    made[i] = (sn_gltf_channel){.node = node, .path = paths[i], .times = times};
    SN_TRY(SN_ARENA_NEW(storage, (i == 1 ? 4 : 3) * (size_t)count, &made[i].values, t->d->im->err));
  }
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; ++k) {
    float seconds = (float)(exact[k] - t->first);
    if (kept > 0 && seconds <= times[kept - 1]) continue;
    sn_gltf_node parts;
    // Numbers of the transforms are read anew and given back each time.
    sn_arena_mark mark = sn_arena_get_mark(t->d->im->scratch);
    uint64_t budget = t->d->budget;
    SN_TRY(pose_node(t, node, exact[k], &parts));
    t->d->budget = budget;
    sn_arena_release(t->d->im->scratch, mark);
    const double numbers[10] = {
        parts.translate.x, parts.translate.y, parts.translate.z, parts.rotate.x, parts.rotate.y,
        parts.rotate.z,    parts.rotate.w,    parts.scale.x,     parts.scale.y,  parts.scale.z};
    times[kept] = seconds;
    for (size_t i = 0; i < 3; ++i) made[0].values[3 * kept + i] = (float)numbers[i];
    for (size_t i = 0; i < 4; ++i) made[1].values[4 * kept + i] = (float)numbers[3 + i];
    for (size_t i = 0; i < 3; ++i) made[2].values[3 * kept + i] = (float)numbers[7 + i];
    ++kept;
  }
  for (int i = 0; i < 3; ++i) made[i].key_count = kept;
  t->clip->channel_count += 3;
  t->clip->end = fmax(t->clip->end, (double)times[kept - 1]);
  t->d->im->gltf->nodes[node].has_matrix = false;
  return SN_OK;
}

// Named after the first animation.
static sn_status name_clip(clip_taker* t, const sn_xml* library) {
  const sn_xml* animation = sn_xml_child(library, "animation");
  const char* name = sn_xml_value(animation, "name");
  if (!name[0]) name = sn_xml_value(animation, "id");
  if (!name[0]) name = "clip0";
  t->clip->name = sn_arena_copy_string(t->d->im->gltf->storage, name);
  return t->clip->name ? SN_OK : sn_fail_memory(t->d->im->err, strlen(name));
}

sn_status sn_dae_take_clip(sn_dae* d) {
  sn_gltf* gltf = d->im->gltf;
  const sn_xml* library = sn_xml_child(d->root->first, "library_animations");
  size_t room = 0;
  for (const sn_xml* e = library; e; e = sn_xml_walk(library, e))
    room += !strcmp(e->name, "channel");
  if (room == 0) return SN_OK;
  clip_taker t = {.d = d, .first = INFINITY};
  uint32_t left_out = 0;
  SN_TRY(SN_ARENA_NEW(d->im->scratch, room, &t.channels, d->im->err));
  for (const sn_xml* e = library; e; e = sn_xml_walk(library, e)) {
    if (strcmp(e->name, "channel") == 0) SN_TRY(take_channel(&t, e, &left_out));
  }
  if (left_out > 0) {
    sn_log(SN_LOG_WARNING, "%s: %u channels that move no node are left out", d->im->path, left_out);
  }
  if (t.spline_count > 0) {
    sn_log(SN_LOG_WARNING, "%s: %u channels with splines or steps go straight from key to key",
           d->im->path, t.spline_count);
  }
  if (t.channel_count == 0) return SN_OK;
  SN_TRY(SN_ARENA_NEW(gltf->storage, 1, &gltf->clips, d->im->err));
  t.clip = gltf->clips;
  SN_TRY(name_clip(&t, library));
  SN_TRY(SN_ARENA_NEW(gltf->storage, 3 * (size_t)gltf->node_count, &t.clip->channels, d->im->err));
  bool* moves;
  SN_TRY(SN_ARENA_NEW(d->im->scratch, gltf->node_count, &moves, d->im->err));
  for (uint32_t c = 0; c < t.channel_count; ++c) moves[t.channels[c].node] = true;
  gltf->clip_count = 1;
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    if (moves[n]) SN_TRY(bake_node(&t, n));
  }
  return SN_OK;
}
