// Animations: which property of which node moves, through which keys.
#include <string.h>

#include "io/gltf.h"

static const sn_choice paths[] = {{"translation", SN_GLTF_TRANSLATE},
                                  {"rotation", SN_GLTF_ROTATE},
                                  {"scale", SN_GLTF_SCALE},
                                  {"weights", SN_GLTF_WEIGHTS}};
static const sn_choice interpolations[] = {
    {"LINEAR", SN_GLTF_LINEAR}, {"STEP", SN_GLTF_STEP}, {"CUBICSPLINE", SN_GLTF_CUBIC}};

// An animation being read.
typedef struct clip_reader {
  sn_gltf_reader* r;
  const sn_place* at;
  const json_t* samplers;
  sn_gltf_clip* clip;
  uint32_t* movers;  // the last clip that moves each path of a node, from 1 (4 x node_count)
  uint32_t clip_index;
} clip_reader;

static sn_status read_choice(clip_reader* c, const sn_place* at, const json_t* value,
                             const sn_choice* choices, size_t choice_count, const char* expected,
                             int* chosen) {
  const char* text = NULL;
  SN_TRY(sn_value_string(&c->r->json, at, value, expected, &text));
  ptrdiff_t found = sn_name_find(SN_NAMES(choices, choice_count), text);
  if (found < 0) return sn_read_mismatch(&c->r->json, at, value, expected);
  *chosen = choices[found].value;
  return SN_OK;
}

// Keys

static sn_status read_times(clip_reader* c, const sn_place* sampler_at, const json_t* sampler,
                            sn_gltf_channel* channel) {
  sn_place at = sn_place_key(sampler_at, "input");
  sn_gltf_accessor accessor;
  double* values;
  SN_TRY(sn_gltf_find_typed(c->r, &at, json_object_get(sampler, "input"), "SCALAR", &accessor));
  if (!sn_gltf_accessor_has_floats(&accessor)) {
    return sn_read_fail(&c->r->json, &at, "found accessor %u, expected one of floats",
                        accessor.index);
  }
  SN_TRY(sn_gltf_read_accessor(c->r, &accessor, &values));
  SN_TRY(SN_ARENA_NEW(c->r->gltf->storage, accessor.count, &channel->times, c->r->json.err));
  channel->key_count = accessor.count;
  for (uint32_t k = 0; k < accessor.count; ++k) {
    if (values[k] < 0.0 || (k > 0 && values[k] <= values[k - 1])) {
      return sn_read_fail(&c->r->json, &at,
                          "found key %u at %g s, expected times from 0 that ascend", k, values[k]);
    }
    channel->times[k] = (float)values[k];
  }
  if (values[accessor.count - 1] > c->clip->end) c->clip->end = values[accessor.count - 1];
  return SN_OK;
}

static uint32_t morph_count_of(const sn_gltf* gltf, uint32_t node) {
  int32_t mesh = gltf->nodes[node].mesh;
  return mesh < 0 ? 0 : gltf->meshes[mesh].morph_count;
}

// A rotation between keys needs a direction at each of them.
static sn_status check_rotations(clip_reader* c, const sn_place* at,
                                 const sn_gltf_channel* channel) {
  bool cubic = channel->interpolation == SN_GLTF_CUBIC;
  for (size_t k = 0; k < channel->key_count; ++k) {
    const float* q = channel->values + (cubic ? 3 * k + 1 : k) * 4;
    double squared = 0.0;
    for (int i = 0; i < 4; ++i) squared += (double)q[i] * (double)q[i];
    if (squared > 1e-12 && squared < 1e12) continue;
    return sn_read_fail(&c->r->json, at, "found a rotation of length 0 or too long at key %zu, %s",
                        k, "expected a length of 1");
  }
  return SN_OK;
}

static sn_status read_values(clip_reader* c, const sn_place* sampler_at, const json_t* sampler,
                             sn_gltf_channel* channel) {
  sn_place at = sn_place_key(sampler_at, "output");
  bool rotates = channel->path == SN_GLTF_ROTATE, morphs = channel->path == SN_GLTF_WEIGHTS;
  sn_gltf_accessor accessor;
  double* values;
  SN_TRY(sn_gltf_find_typed(c->r, &at, json_object_get(sampler, "output"),
                            morphs    ? "SCALAR"
                            : rotates ? "VEC4"
                                      : "VEC3",
                            &accessor));
  uint64_t wanted = (channel->interpolation == SN_GLTF_CUBIC ? 3ull : 1ull) * channel->key_count;
  if (morphs) wanted *= morph_count_of(c->r->gltf, channel->node);
  if (accessor.count != wanted) {
    return sn_read_fail(&c->r->json, &at, "found %u values, expected %llu for %u keys",
                        accessor.count, (unsigned long long)wanted, channel->key_count);
  }
  SN_TRY(sn_gltf_read_accessor(c->r, &accessor, &values));
  size_t count = (morphs ? 1 : rotates ? 4 : 3) * (size_t)accessor.count;
  SN_TRY(SN_ARENA_NEW(c->r->gltf->storage, count, &channel->values, c->r->json.err));
  for (size_t i = 0; i < count; ++i) channel->values[i] = (float)values[i];
  return rotates ? check_rotations(c, &at, channel) : SN_OK;
}

static sn_status read_sampler(clip_reader* c, const sn_place* channel_at, const json_t* value,
                              sn_gltf_channel* channel) {
  sn_place at = sn_place_key(channel_at, "sampler"), list_at = sn_place_key(c->at, "samplers");
  json_int_t index = json_integer_value(value);
  if (!json_is_integer(value) || index < 0 || (size_t)index >= json_array_size(c->samplers)) {
    return sn_read_mismatch(&c->r->json, &at, value, "an index into the animation's \"samplers\"");
  }
  sn_place sampler_at = sn_place_index(&list_at, (size_t)index);
  const json_t* sampler = json_array_get(c->samplers, (size_t)index);
  if (!json_is_object(sampler)) {
    return sn_read_mismatch(&c->r->json, &sampler_at, sampler, "an object");
  }
  const json_t* interpolation = json_object_get(sampler, "interpolation");
  if (interpolation) {
    sn_place interpolation_at = sn_place_key(&sampler_at, "interpolation");
    int chosen = 0;
    SN_TRY(read_choice(c, &interpolation_at, interpolation, interpolations, 3,
                       "\"LINEAR\", \"STEP\" or \"CUBICSPLINE\"", &chosen));
    channel->interpolation = (sn_gltf_interpolation)chosen;
  }
  sn_arena_mark mark = sn_arena_get_mark(c->r->scratch);
  SN_TRY(read_times(c, &sampler_at, sampler, channel));
  SN_TRY(read_values(c, &sampler_at, sampler, channel));
  sn_arena_release(c->r->scratch, mark);
  return SN_OK;
}

// Channels

// A node with a matrix has no parts to move, and a part has one mover.
static sn_status check_target(clip_reader* c, const sn_place* node_at,
                              const sn_gltf_channel* channel) {
  if (c->r->gltf->nodes[channel->node].has_matrix && channel->path != SN_GLTF_WEIGHTS) {
    return sn_read_fail(&c->r->json, node_at,
                        "found node %u, which has a matrix, expected one with translation, "
                        "rotation and scale",
                        channel->node);
  }
  uint32_t* mover = &c->movers[4 * (size_t)channel->node + channel->path];
  if (*mover == c->clip_index + 1) {
    return sn_read_fail(&c->r->json, node_at,
                        "found the %s of node %u a second time, expected one channel for it",
                        paths[channel->path].name, channel->node);
  }
  *mover = c->clip_index + 1;
  return SN_OK;
}

// Channels that move nothing here - weights of a mesh without morph targets, or what only an extension
// knows - are left out.
static sn_status read_channel(clip_reader* c, const sn_place* at, const json_t* entry) {
  const json_t* target = json_object_get(entry, "target");
  sn_place target_at = sn_place_key(at, "target"), node_at = sn_place_key(&target_at, "node"),
           path_at = sn_place_key(&target_at, "path");
  if (!json_is_object(target)) {
    return sn_read_mismatch(&c->r->json, &target_at, target,
                            "an object {\"node\": n, \"path\": p}");
  }
  const json_t *node = json_object_get(target, "node"), *path = json_object_get(target, "path");
  if (!node) return SN_OK;
  sn_gltf_channel read = {0}, *channel = &read;
  SN_TRY(sn_gltf_reference(c->r, &node_at, node, "nodes", &channel->node));
  int chosen = 0;
  SN_TRY(read_choice(c, &path_at, path, paths, 4,
                     "\"translation\", \"rotation\", \"scale\" or \"weights\"", &chosen));
  channel->path = (sn_gltf_path)chosen;
  bool morphs = channel->path == SN_GLTF_WEIGHTS;
  if (morphs && morph_count_of(c->r->gltf, channel->node) == 0) return SN_OK;
  SN_TRY(check_target(c, &node_at, channel));
  SN_TRY(read_sampler(c, at, json_object_get(entry, "sampler"), channel));
  if (morphs) {
    c->clip->morphs[c->clip->morph_count++] = read;
  } else {
    c->clip->channels[c->clip->channel_count++] = read;
  }
  return SN_OK;
}

static sn_status read_clip(clip_reader* c, const json_t* entry) {
  sn_place samplers_at = sn_place_key(c->at, "samplers"),
           channels_at = sn_place_key(c->at, "channels");
  c->samplers = json_object_get(entry, "samplers");
  const json_t* channels = json_object_get(entry, "channels");
  if (!json_is_array(c->samplers)) {
    return sn_read_mismatch(&c->r->json, &samplers_at, c->samplers, "a list");
  }
  if (!json_is_array(channels) || json_array_size(channels) >= INT32_MAX) {
    return sn_read_mismatch(&c->r->json, &channels_at, channels, "a list");
  }
  size_t count = json_array_size(channels);
  SN_TRY(SN_ARENA_NEW(c->r->gltf->storage, count, &c->clip->channels, c->r->json.err));
  SN_TRY(SN_ARENA_NEW(c->r->gltf->storage, count, &c->clip->morphs, c->r->json.err));
  for (size_t i = 0; i < count; ++i) {
    sn_place at = sn_place_index(&channels_at, i);
    SN_TRY(read_channel(c, &at, json_array_get(channels, i)));
  }
  return SN_OK;
}

sn_status sn_gltf_read_clips(sn_gltf_reader* r) {
  sn_gltf* gltf = r->gltf;
  uint32_t count = sn_gltf_entry_count(r, "animations");
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->clips, r->json.err));
  gltf->clip_count = count;
  SN_TRY(sn_gltf_name_entries(r, "animations", "clip", gltf->clips, sizeof *gltf->clips));
  uint32_t* movers;
  SN_TRY(SN_ARENA_NEW(r->scratch, 4 * (size_t)gltf->node_count, &movers, r->json.err));
  sn_place list_at = sn_place_key(NULL, "animations");
  for (uint32_t i = 0; i < count; ++i) {
    sn_place at = sn_place_index(&list_at, i);
    clip_reader c = {.r = r, .at = &at, .clip = &gltf->clips[i], .movers = movers, .clip_index = i};
    SN_TRY(read_clip(&c, sn_gltf_entry(r, "animations", i)));
  }
  return SN_OK;
}
