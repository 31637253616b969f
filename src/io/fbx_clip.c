// Animation of an FBX file: stacks as clips. Curves move the angles of a rotation one by one, along
// splines, so that their poses are baked: at every key, and at every frame between keys.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/fbx.h"
#include "io/gltf.h"

// Bits of KeyAttrFlags.
enum {
  KEY_CONSTANT = 0x2,
  KEY_LINEAR = 0x4,
  KEY_CUBIC = 0x8,
  KEY_CONSTANT_NEXT = 0x100,  // of a constant key: the value of the next one holds
  KEY_TANGENT_USER = 0x400,
  KEY_TANGENT_BROKEN = 0x800,
  KEY_CLAMP = 0x1000,
  KEY_CLAMP_PROGRESSIVE = 0x4000,
  KEY_WEIGHTED_RIGHT = 0x1000000,
  KEY_WEIGHTED_NEXT_LEFT = 0x2000000
};

#define WEIGHT_UNIT 9999.0
#define DEFAULT_WEIGHT (1.0 / 3.0)
#define BISECTIONS 60

// A key, and how its curve goes on to the next.
typedef struct curve_key {
  double time, value;          // s
  double slope, next_slope;    // behind this key and before the next one, 1/s
  double weight, next_weight;  // lengths of the tangents, as shares of the time between
  uint32_t flags;
} curve_key;

typedef struct curve {
  curve_key* keys;
  size_t count;
} curve;

// Curves of one vector of one model; those without keys hold `preset`.
typedef struct track {
  curve axes[3];
  sn_vec3 preset;
  bool is_there;
} track;

// Keys

static uint32_t bits_of(double number) {
  // Two numbers in the bits of a float; a text file has them as a whole number.
  if (number >= 1.0) return number < 4294967296.0 ? (uint32_t)number : 0;
  float single = (float)number;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  return bits;
}

static double weight_of(uint32_t units) {
  double weight = units / WEIGHT_UNIT;
  return weight > 0.0 && weight <= 1.0 ? weight : DEFAULT_WEIGHT;
}

// Attributes are shared by runs of keys: flags[i] and data[4 i ..] hold for counts[i] of them.
static sn_status read_attributes(sn_fbx* f, const sn_fbx_element* e, curve* c) {
  double *flags, *data, *counts;
  size_t flag_count, data_count, run_count;
  SN_TRY(sn_fbx_numbers(f, sn_fbx_find(e, "KeyAttrFlags"), &flags, &flag_count));
  SN_TRY(sn_fbx_numbers(f, sn_fbx_find(e, "KeyAttrDataFloat"), &data, &data_count));
  SN_TRY(sn_fbx_numbers(f, sn_fbx_find(e, "KeyAttrRefCount"), &counts, &run_count));
  size_t k = 0;
  for (size_t run = 0; run < run_count && run < flag_count; ++run) {
    double left = counts[run];
    const double none[4] = {0.0, 0.0, 0.0, 0.0};
    const double* d = 4 * run + 3 < data_count ? data + 4 * run : none;
    uint32_t bits = flags[run] >= 0.0 && flags[run] < 4294967296.0 ? (uint32_t)flags[run] : 0;
    for (; left >= 1.0 && k < c->count; left -= 1.0, ++k) {
      curve_key* key = &c->keys[k];
      key->flags = bits;
      key->slope = isfinite(d[0]) ? d[0] : 0.0;
      key->next_slope = isfinite(d[1]) ? d[1] : 0.0;
      uint32_t weights = bits_of(d[2]);
      if (bits & KEY_WEIGHTED_RIGHT) key->weight = weight_of(weights & 0xffff);
      if (bits & KEY_WEIGHTED_NEXT_LEFT) key->next_weight = weight_of(weights >> 16);
    }
  }
  return SN_OK;
}

// A tangent that is not set by hand goes from the key before to the key behind, and is flat at the ends
// and, where it is clamped, at extrema; it never overshoots a neighbour then.
static double auto_slope(const curve* c, size_t k) {
  if (k == 0 || k + 1 == c->count) return 0.0;
  const curve_key *a = &c->keys[k - 1], *b = &c->keys[k], *d = &c->keys[k + 1];
  double slope = (d->value - a->value) / (d->time - a->time);
  if (!(b->flags & (KEY_CLAMP | KEY_CLAMP_PROGRESSIVE))) return slope;
  double before = (b->value - a->value) / (b->time - a->time);
  double behind = (d->value - b->value) / (d->time - b->time);
  if (before * behind <= 0.0) return 0.0;
  double most = 3.0 * fmin(fabs(before), fabs(behind));
  return slope > most ? most : slope < -most ? -most : slope;
}

static bool is_auto(const curve_key* key) {
  return (key->flags & KEY_CUBIC) && !(key->flags & (KEY_TANGENT_USER | KEY_TANGENT_BROKEN));
}

static void solve_tangents(curve* c) {
  for (size_t k = 0; k < c->count; ++k) {
    if (!is_auto(&c->keys[k])) continue;
    double slope = auto_slope(c, k);
    c->keys[k].slope = slope;
    if (k > 0) c->keys[k - 1].next_slope = slope;
  }
}

static sn_status read_curve(sn_fbx* f, const sn_fbx_object* object, curve* c) {
  double *times, *values;
  size_t time_count, value_count;
  SN_TRY(sn_fbx_numbers(f, sn_fbx_find(object->element, "KeyTime"), &times, &time_count));
  SN_TRY(sn_fbx_numbers(f, sn_fbx_find(object->element, "KeyValueFloat"), &values, &value_count));
  SN_CHECK(time_count == value_count, f->im->err, SN_ERR_INPUT,
           "%s: AnimationCurve %lld: found %zu times and %zu values, expected one each",
           f->im->path, (long long)object->id, time_count, value_count);
  SN_TRY(SN_ARENA_NEW(f->im->scratch, time_count, &c->keys, f->im->err));
  c->count = time_count;
  for (size_t k = 0; k < time_count; ++k) {
    double seconds = times[k] / SN_FBX_TICKS;
    SN_CHECK(
        fabs(seconds) < 1e7 && fabs(values[k]) < 1e30 && (k == 0 || seconds > c->keys[k - 1].time),
        f->im->err, SN_ERR_INPUT,
        "%s: AnimationCurve %lld: found key %zu of %g at %g s, expected times that ascend",
        f->im->path, (long long)object->id, k, values[k], seconds);
    c->keys[k] = (curve_key){.time = seconds,
                             .value = values[k],
                             .weight = DEFAULT_WEIGHT,
                             .next_weight = DEFAULT_WEIGHT,
                             .flags = KEY_LINEAR};
  }
  SN_TRY(read_attributes(f, object->element, c));
  solve_tangents(c);
  return SN_OK;
}

// A Bezier curve in time and value; its time never goes back, so that halving finds the place.
static double mix_cubic(const curve_key* a, const curve_key* b, double time) {
  double span = b->time - a->time, u = (time - a->time) / span, s = u;
  double wa = a->weight, wb = a->next_weight;
  if (fabs(wa - DEFAULT_WEIGHT) > 1e-3 || fabs(wb - DEFAULT_WEIGHT) > 1e-3) {
    double low = 0.0, high = 1.0;
    for (int i = 0; i < BISECTIONS; ++i) {
      s = 0.5 * (low + high);
      double r = 1.0 - s;
      double at = 3.0 * s * r * r * wa + 3.0 * s * s * r * (1.0 - wb) + s * s * s;
      *(at < u ? &low : &high) = s;
    }
  } else {
    wa = wb = DEFAULT_WEIGHT;
  }
  double r = 1.0 - s, p1 = a->value + a->slope * wa * span,
         p2 = b->value - a->next_slope * wb * span;
  return r * r * r * a->value + 3.0 * r * r * s * p1 + 3.0 * r * s * s * p2 + s * s * s * b->value;
}

static double evaluate(const curve* c, double time) {
  if (time <= c->keys[0].time) return c->keys[0].value;
  size_t low = 0, high = c->count;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    *(c->keys[middle].time <= time ? &low : &high) = middle;
  }
  const curve_key *a = &c->keys[low], *b = a + 1;
  if (low + 1 == c->count || time == a->time) return a->value;
  if (a->flags & KEY_CONSTANT) return a->flags & KEY_CONSTANT_NEXT ? b->value : a->value;
  if (a->flags & KEY_CUBIC) return mix_cubic(a, b, time);
  return a->value + (b->value - a->value) * ((time - a->time) / (b->time - a->time));
}

// Tracks

static int find_moving(const char* property) {
  static const char* const names[SN_FBX_MOVING] = {"Lcl Translation", "Lcl Rotation",
                                                   "Lcl Scaling"};
  for (int i = 0; i < SN_FBX_MOVING; ++i) {
    if (strcmp(property, names[i]) == 0) return i;
  }
  return -1;
}

// A clip being taken: tracks of all models (SN_FBX_MOVING x node_count).
typedef struct clip_taker {
  sn_fbx* f;
  sn_gltf_clip* clip;
  track* tracks;
  double first, last;  // s
  double rate;         // frames a second
  float* times;
  double* exact_times;
  uint32_t time_count;
} clip_taker;

static sn_status take_curve_node(clip_taker* t, uint32_t object_index, track* to) {
  sn_fbx* f = t->f;
  const sn_fbx_object* object = &f->objects[object_index];
  static const char* const axes[3] = {"d|X", "d|Y", "d|Z"};
  double preset[3] = {to->preset.x, to->preset.y, to->preset.z};
  for (int axis = 0; axis < 3; ++axis) sn_fbx_property(object, axes[axis], &preset[axis], 1);
  to->preset = sn_load3(preset);
  for (uint32_t i = 0; i < object->link_count; ++i) {
    const sn_fbx_link* link = &f->links[object->first_link + i];
    if (!link->property || !sn_fbx_is(&f->objects[link->from], "AnimationCurve")) continue;
    for (int axis = 0; axis < 3; ++axis) {
      if (strcmp(link->property, axes[axis]) != 0) continue;
      SN_TRY(read_curve(f, &f->objects[link->from], &to->axes[axis]));
      to->is_there = to->is_there || to->axes[axis].count > 0;
    }
  }
  return SN_OK;
}

// Curve nodes lead to their layer, and to a property of a model.
static sn_status take_layer(clip_taker* t, const uint32_t* layer_of, uint32_t layer) {
  sn_fbx* f = t->f;
  for (uint32_t i = 0; i < f->link_count; ++i) {
    const sn_fbx_link* link = &f->links[i];
    int32_t node = f->objects[link->to].node;
    if (!link->property || node < 0 || layer_of[link->from] != layer + 1) continue;
    int moving = find_moving(link->property);
    if (moving < 0) continue;
    track* to = &t->tracks[SN_FBX_MOVING * (size_t)node + (size_t)moving];
    // Of several layers the first one holds.
    if (!to->is_there) SN_TRY(take_curve_node(t, link->from, to));
  }
  return SN_OK;
}

static void find_span(clip_taker* t, const sn_fbx_object* stack) {
  t->first = INFINITY;
  t->last = -INFINITY;
  size_t count = SN_FBX_MOVING * (size_t)t->f->im->gltf->node_count;
  for (size_t i = 0; i < count; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const curve* c = &t->tracks[i].axes[axis];
      if (c->count == 0) continue;
      t->first = fmin(t->first, c->keys[0].time);
      t->last = fmax(t->last, c->keys[c->count - 1].time);
    }
  }
  // What lies outside of the stack's own span is no part of it.
  double start = 0.0, stop = 0.0;
  sn_fbx_property(stack, "LocalStart", &start, 1);
  sn_fbx_property(stack, "LocalStop", &stop, 1);
  if (stop <= start) return;
  start /= SN_FBX_TICKS;
  stop /= SN_FBX_TICKS;
  if (start < t->last && start > t->first) t->first = start;
  if (stop > t->first && stop < t->last) t->last = stop;
}

// Times

static int compare_times(const void* a, const void* b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

// All keys, and all frames from the first to the last.
static sn_status list_times(clip_taker* t) {
  sn_fbx* f = t->f;
  size_t count = 2, vectors = SN_FBX_MOVING * (size_t)f->im->gltf->node_count;
  double first_frame = ceil(t->first * t->rate),
         frames = floor(t->last * t->rate) - first_frame + 1;
  SN_CHECK(frames < 1e7, f->im->err, SN_ERR_INPUT,
           "%s: clip \"%s\": found %g s, expected fewer than 1e7 frames", f->im->path,
           t->clip->name, t->last - t->first);
  if (frames > 0) count += (size_t)frames;
  for (size_t i = 0; i < 3 * vectors; ++i) count += t->tracks[i / 3].axes[i % 3].count;
  SN_TRY(sn_fbx_charge(f, count));
  SN_TRY(SN_ARENA_NEW(f->im->scratch, count, &t->exact_times, f->im->err));
  size_t filled = 0;
  t->exact_times[filled++] = t->first;
  t->exact_times[filled++] = t->last;
  for (double k = 0; k < frames; k += 1) t->exact_times[filled++] = (first_frame + k) / t->rate;
  for (size_t i = 0; i < 3 * vectors; ++i) {
    const curve* c = &t->tracks[i / 3].axes[i % 3];
    for (size_t k = 0; k < c->count; ++k) {
      double time = c->keys[k].time;
      if (time > t->first && time < t->last) t->exact_times[filled++] = time;
    }
  }
  qsort(t->exact_times, filled, sizeof *t->exact_times, compare_times);
  SN_TRY(SN_ARENA_NEW(f->im->gltf->storage, filled, &t->times, f->im->err));
  // A key and a frame at one place differ by rounding.
  for (size_t i = 0; i < filled; ++i) {
    double seconds = t->exact_times[i] - t->first;
    uint32_t n = t->time_count;
    if (n > 0 && (seconds - (t->exact_times[n - 1] - t->first) < 1e-5 ||
                  (float)seconds <= t->times[n - 1])) {
      continue;
    }
    t->exact_times[n] = t->exact_times[i];
    t->times[n] = (float)seconds;
    t->time_count++;
  }
  t->clip->end = (double)t->times[t->time_count - 1];
  return SN_OK;
}

// Keys of the document

static sn_vec3 sample(const track* from, double time) {
  double v[3] = {from->preset.x, from->preset.y, from->preset.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (from->axes[axis].count > 0) v[axis] = evaluate(&from->axes[axis], time);
  }
  return sn_load3(v);
}

static bool is_zero(sn_vec3 v) { return v.x == 0.0 && v.y == 0.0 && v.z == 0.0; }

// Whether turning or scaling shifts the node too.
static bool has_pivots(const sn_fbx_pivot* p) {
  return !is_zero(p->rotation_pivot) || !is_zero(p->scaling_pivot) || !is_zero(p->scaling_offset);
}

static sn_status add_channel(clip_taker* t, uint32_t node, sn_gltf_path path, float** values) {
  size_t width = path == SN_GLTF_ROTATE ? 4 : 3;
  SN_TRY(sn_fbx_charge(t->f, width * t->time_count));
  SN_TRY(SN_ARENA_NEW(t->f->im->gltf->storage, width * t->time_count, values, t->f->im->err));
  t->clip->channels[t->clip->channel_count++] = (sn_gltf_channel){
      .node = node, .path = path, .times = t->times, .values = *values, .key_count = t->time_count};
  return SN_OK;
}

static sn_status bake_node(clip_taker* t, uint32_t n) {
  const track* own = &t->tracks[SN_FBX_MOVING * (size_t)n];
  int32_t parent = t->f->im->gltf->nodes[n].parent;
  const track* above = parent >= 0 ? &t->tracks[SN_FBX_MOVING * (size_t)parent] : NULL;
  sn_fbx_pivot pivot;
  sn_fbx_read_pivot(&t->f->objects[t->f->models[n]], &pivot);
  bool turns = own[SN_FBX_ROTATION].is_there, scales = own[SN_FBX_SCALING].is_there;
  bool shifts = own[SN_FBX_TRANSLATION].is_there || ((turns || scales) && has_pivots(&pivot));
  scales = scales || (pivot.inherit == 2 && above && above[SN_FBX_SCALING].is_there);
  float *places = NULL, *rotations = NULL, *sizes = NULL;
  if (shifts) SN_TRY(add_channel(t, n, SN_GLTF_TRANSLATE, &places));
  if (turns) SN_TRY(add_channel(t, n, SN_GLTF_ROTATE, &rotations));
  if (scales) SN_TRY(add_channel(t, n, SN_GLTF_SCALE, &sizes));
  for (size_t k = 0; k < t->time_count && (shifts || turns || scales); ++k) {
    double time = t->exact_times[k];
    sn_vec3 lcl[SN_FBX_MOVING], parent_scale = sn_v3(1.0, 1.0, 1.0);
    for (int i = 0; i < SN_FBX_MOVING; ++i) lcl[i] = sample(&own[i], time);
    if (above) parent_scale = sample(&above[SN_FBX_SCALING], time);
    sn_gltf_node node;
    sn_fbx_place(&pivot, lcl, parent_scale, &node);
    const double parts[10] = {node.translate.x, node.translate.y, node.translate.z, node.rotate.x,
                              node.rotate.y,    node.rotate.z,    node.rotate.w,    node.scale.x,
                              node.scale.y,     node.scale.z};
    for (size_t i = 0; places && i < 3; ++i) places[3 * k + i] = (float)parts[i];
    for (size_t i = 0; rotations && i < 4; ++i) rotations[4 * k + i] = (float)parts[3 + i];
    for (size_t i = 0; sizes && i < 3; ++i) sizes[3 * k + i] = (float)parts[7 + i];
  }
  return SN_OK;
}

// Clips

// Frames a second, by the numbers that files have for them; 0 is the default.
static double frame_rate(const sn_fbx* f) {
  static const double rates[] = {30.0,  120.0, 100.0, 60.0,   50.0, 48.0, 30.0, 30.0, 29.97,
                                 29.97, 25.0,  24.0,  1000.0, 24.0, 24.0, 96.0, 72.0, 59.94};
  const sn_fbx_element* settings = sn_fbx_find(f->root, "GlobalSettings");
  double mode = 0.0, custom = 0.0;
  sn_fbx_property_of(settings, "TimeMode", &mode, 1);
  sn_fbx_property_of(settings, "CustomFrameRate", &custom, 1);
  if (mode == 14.0 && custom >= 1.0 && custom <= 1000.0) return custom;
  size_t count = sizeof rates / sizeof *rates;
  return mode >= 0.0 && mode < (double)count ? rates[(int)mode] : 30.0;
}

static sn_status preset_tracks(clip_taker* t) {
  uint32_t count = t->f->im->gltf->node_count;
  SN_TRY(SN_ARENA_NEW(t->f->im->scratch, SN_FBX_MOVING * (size_t)count, &t->tracks, t->f->im->err));
  for (uint32_t n = 0; n < count; ++n) {
    sn_fbx_pivot pivot;
    sn_fbx_read_pivot(&t->f->objects[t->f->models[n]], &pivot);
    for (int i = 0; i < SN_FBX_MOVING; ++i) {
      t->tracks[SN_FBX_MOVING * (size_t)n + (size_t)i].preset = pivot.lcl[i];
    }
  }
  return SN_OK;
}

static sn_status take_clip(clip_taker* t, const sn_fbx_object* stack, const uint32_t* layer_of) {
  sn_fbx* f = t->f;
  uint32_t layer_count = 0;
  SN_TRY(preset_tracks(t));
  for (uint32_t i = 0; i < stack->link_count; ++i) {
    uint32_t layer = f->links[stack->first_link + i].from;
    if (!sn_fbx_is(&f->objects[layer], "AnimationLayer")) continue;
    SN_TRY(take_layer(t, layer_of, layer));
    ++layer_count;
  }
  if (layer_count > 1) {
    sn_log(SN_LOG_WARNING, "%s: clip \"%s\": of %u layers the first that moves something holds",
           f->im->path, t->clip->name, layer_count);
  }
  find_span(t, stack);
  if (!(t->last >= t->first)) return SN_OK;
  SN_TRY(list_times(t));
  size_t room = SN_FBX_MOVING * (size_t)f->im->gltf->node_count;
  SN_TRY(SN_ARENA_NEW(f->im->gltf->storage, room, &t->clip->channels, f->im->err));
  for (uint32_t n = 0; n < f->im->gltf->node_count; ++n) SN_TRY(bake_node(t, n));
  return SN_OK;
}

// The layer + 1 that each object leads to, 0 without.
static sn_status find_layers(sn_fbx* f, uint32_t** layer_of) {
  SN_TRY(SN_ARENA_NEW(f->im->scratch, f->object_count, layer_of, f->im->err));
  for (uint32_t i = 0; i < f->link_count; ++i) {
    const sn_fbx_link* link = &f->links[i];
    if (!link->property && sn_fbx_is(&f->objects[link->to], "AnimationLayer")) {
      (*layer_of)[link->from] = link->to + 1;
    }
  }
  return SN_OK;
}

sn_status sn_fbx_take_clips(sn_fbx* f) {
  sn_gltf* gltf = f->im->gltf;
  const sn_fbx_object** stacks;
  const char** given;
  uint32_t count = 0, *layer_of;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, f->object_count, &stacks, f->im->err));
  SN_TRY(SN_ARENA_NEW(f->im->scratch, f->object_count, &given, f->im->err));
  for (const sn_fbx_element* e = sn_fbx_find(f->root, "Objects")->first; e; e = e->next) {
    if (e->value_count < 1 || e->name_size != 14 || memcmp(e->name, "AnimationStack", 14) != 0)
      continue;
    for (uint32_t o = 0; o < f->object_count; ++o) {
      if (f->objects[o].element != e) continue;
      given[count] = f->objects[o].name;
      stacks[count++] = &f->objects[o];
    }
  }
  SN_TRY(find_layers(f, &layer_of));
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->clips, f->im->err));
  gltf->clip_count = count;
  SN_TRY(sn_gltf_name_items(gltf->storage, f->im->scratch, given, count, "clip", gltf->clips,
                            sizeof *gltf->clips, f->im->err));
  for (uint32_t i = 0; i < count; ++i) {
    clip_taker t = {.f = f, .clip = &gltf->clips[i], .rate = frame_rate(f)};
    sn_arena_mark mark = sn_arena_get_mark(f->im->scratch);
    SN_TRY(take_clip(&t, stacks[i], layer_of));
    sn_arena_release(f->im->scratch, mark);
  }
  return SN_OK;
}
