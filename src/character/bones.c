// Joints are looked at from the tips of the limbs up. Each gets capsules along itself where that is
// inside its own flesh, or where its flesh is if not; a joint too small for the cells leaves its flesh
// to the one above.
#include "character/bones.h"

#include <math.h>
#include <string.h>

#include "geometry/capsule.h"
#include "geometry/surface.h"
#include "math/vec.h"

#define SAMPLES 33
// Share of the flesh's thickness that a bone takes.
#define BONE_SHARE 0.45
// A bone holds on to cells if it is at least this thick, in cells.
#define LEAST_RADIUS 0.5
// Flesh less than this deep, in cells, is thin for a bone.
#define THIN 0.75
// A joint may be dropped for being thin if it has less than this share of the skin, and must have a patch of
// this many cells' faces.
#define SMALL_SHARE 0.004
#define LEAST_FACES 12
// A place belongs to a joint if it has this weight in the skin nearest to it.
#define OWN_WEIGHT 0.4
#define SOME_WEIGHT 0.2

typedef struct bone_work {
  const sn_bones_input* input;
  sn_bones* bones;
  sn_arena* arena;
  double flesh_area;
  uint8_t* vertex_is_flesh;  // (vertex_count)
} bone_work;

// The flesh that a joint and those merged into it carry.
typedef struct own_flesh {
  uint32_t joint;
  double area;       // m2, by weight
  sn_vec3 centre;    // of that area
  double spread[6];  // covariance about it: xx yy zz xy xz yz, m2
} own_flesh;

// A stretch of a segment inside the joint's flesh.
typedef struct stretch {
  sn_vec3 from, to;
  double depth;  // lower quartile of the distances to the skin, m
} stretch;

static sn_vec3 vertex_place(const bone_work* w, size_t vertex) {
  return sn_load3(w->input->rig->mesh.positions + 3 * vertex);
}

// Weight of a joint with those merged into it.
static double own_weight(const bone_work* w, uint32_t joint, size_t vertex) {
  const sn_rig* rig = w->input->rig;
  double sum = 0.0;
  for (uint32_t i = rig->starts[vertex]; i < rig->starts[vertex + 1]; ++i) {
    if (w->bones->fates[rig->influence_joints[i]].keeper != joint) continue;
    sum += (double)rig->influence_weights[i];
  }
  return sum;
}

// Share of the flesh at a vertex that counts as the joint's: little weights do not.
static double own_area(const bone_work* w, uint32_t joint, size_t vertex) {
  if (!w->vertex_is_flesh[vertex]) return 0.0;
  double weight = own_weight(w, joint, vertex);
  return weight < SOME_WEIGHT ? 0.0 : weight * w->input->rig->vertex_areas[vertex];
}

static own_flesh find_own_flesh(const bone_work* w, uint32_t joint) {
  own_flesh own = {.joint = joint};
  uint32_t count = w->input->rig->mesh.vertex_count;
  for (size_t v = 0; v < count; ++v) {
    double area = own_area(w, joint, v);
    own.area += area;
    own.centre = sn_madd(own.centre, area, vertex_place(w, v));
  }
  if (!(own.area > 0.0)) return own;
  own.centre = sn_scale(1.0 / own.area, own.centre);
  for (size_t v = 0; v < count; ++v) {
    double share = own_area(w, joint, v) / own.area;
    if (share == 0.0) continue;
    sn_vec3 d = sn_sub(vertex_place(w, v), own.centre);
    own.spread[0] += share * d.x * d.x;
    own.spread[1] += share * d.y * d.y;
    own.spread[2] += share * d.z * d.z;
    own.spread[3] += share * d.x * d.y;
    own.spread[4] += share * d.x * d.z;
    own.spread[5] += share * d.y * d.z;
  }
  return own;
}

// The direction in which the joint's flesh is longest, times its standard deviation there.
static sn_vec3 longest_axis(const own_flesh* own) {
  const double* s = own->spread;
  sn_vec3 axis = {0.6, 0.64, 0.48};
  for (int i = 0; i < 64; ++i) {
    sn_vec3 next = {s[0] * axis.x + s[3] * axis.y + s[4] * axis.z,
                    s[3] * axis.x + s[1] * axis.y + s[5] * axis.z,
                    s[4] * axis.x + s[5] * axis.y + s[2] * axis.z};
    double length = sn_length(next);
    if (!(length > 0.0)) return (sn_vec3){0, 0, 0};
    axis = sn_scale(1.0 / length, next);
  }
  sn_vec3 image = {s[0] * axis.x + s[3] * axis.y + s[4] * axis.z,
                   s[3] * axis.x + s[1] * axis.y + s[5] * axis.z,
                   s[4] * axis.x + s[5] * axis.y + s[2] * axis.z};
  return sn_scale(sqrt(sn_length(image)), axis);
}

// How deep p is in flesh of which the joint has at least `weight`; negative where it is not.
static double depth_at(const bone_work* w, uint32_t joint, double weight, sn_vec3 p) {
  const sn_bvh* bvh = w->input->bvh;
  uint32_t triangle;
  sn_vec3 place;
  if (!sn_bvh_nearest(bvh, p, INFINITY, &triangle, &place)) return -1.0;
  double distance = sn_distance(p, place), sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    sum += own_weight(w, joint, bvh->surface->triangles[3 * (size_t)triangle + k]);
  }
  if (sum < 3.0 * weight) return -1.0;
  double cell = w->input->cell;
  if (w->input->sheet) return distance <= 0.5 * cell ? cell : -1.0;
  return sn_bvh_winding(bvh, p) > 0.5 ? distance : -1.0;
}

// The longest stretch of a..b in the joint's flesh; false if there is none.
static bool find_stretch(const bone_work* w, uint32_t joint, double weight, sn_vec3 a, sn_vec3 b,
                         stretch* found) {
  double depth[SAMPLES], sorted[SAMPLES];
  int best = 0, best_count = 0, count = 0;
  for (int i = 0; i < SAMPLES; ++i) {
    depth[i] = depth_at(w, joint, weight, sn_madd(a, i / (SAMPLES - 1.0), sn_sub(b, a)));
    count = depth[i] >= 0.2 * w->input->cell ? count + 1 : 0;
    if (count <= best_count) continue;
    best_count = count;
    best = i + 1 - count;
  }
  if (best_count == 0) return false;
  for (int i = 0; i < best_count; ++i) {
    int k = i;
    for (; k > 0 && sorted[k - 1] > depth[best + i]; --k) sorted[k] = sorted[k - 1];
    sorted[k] = depth[best + i];
  }
  found->from = sn_madd(a, best / (SAMPLES - 1.0), sn_sub(b, a));
  found->to = sn_madd(a, (best + best_count - 1) / (SAMPLES - 1.0), sn_sub(b, a));
  found->depth = sorted[best_count / 4];
  return true;
}

// Away from the nearest skin, as long as that leads deeper into the joint's own flesh.
static sn_vec3 sink(const bone_work* w, uint32_t joint, sn_vec3 p) {
  double depth = depth_at(w, joint, OWN_WEIGHT, p);
  for (int i = 0; i < 8 && depth > 0.0; ++i) {
    uint32_t triangle;
    sn_vec3 place;
    if (!sn_bvh_nearest(w->input->bvh, p, INFINITY, &triangle, &place)) break;
    sn_vec3 next = sn_madd(p, 0.5, sn_sub(p, place));
    double deeper = depth_at(w, joint, OWN_WEIGHT, next);
    if (deeper < 1.1 * depth) break;
    p = next;
    depth = deeper;
  }
  return p;
}

// Rigs often have their joints close to the back. Where the flesh is much thicker beside the stretch than
// along it, move it there.
static void centre_stretch(const bone_work* w, uint32_t joint, stretch* s) {
  if (w->input->sheet) return;
  sn_vec3 along = sn_sub(s->to, s->from), from = s->from, to = s->to;
  from = sn_madd(from, 0.2, along);
  to = sn_madd(to, -0.2, along);
  sn_vec3 deep_from = sink(w, joint, from), deep_to = sink(w, joint, to);
  sn_vec3 deep = sn_scale(0.5, sn_add(sn_sub(deep_from, from), sn_sub(deep_to, to)));
  double square = sn_dot(along, along);
  if (square > 0.0) deep = sn_madd(deep, -sn_dot(deep, along) / square, along);
  stretch moved;
  bool found =
      find_stretch(w, joint, OWN_WEIGHT, sn_add(s->from, deep), sn_add(s->to, deep), &moved);
  double length = sqrt(square), moved_length = found ? sn_distance(moved.from, moved.to) : 0.0;
  if (found && moved.depth > 1.2 * s->depth && moved_length >= 0.7 * length) *s = moved;
}

static sn_status add_bone(bone_work* w, uint32_t joint, const stretch* s, sn_error* err) {
  sn_bones* bones = w->bones;
  if (bones->count == bones->capacity) {
    uint32_t capacity = 2 * bones->capacity + 64;
    sn_flesh_bone* items;
    SN_TRY(SN_ARENA_NEW(w->arena, capacity, &items, err));
    if (bones->count > 0) memcpy(items, bones->items, bones->count * sizeof *items);
    bones->items = items;
    bones->capacity = capacity;
  }
  double length = sn_distance(s->from, s->to), cell = w->input->cell;
  double radius = BONE_SHARE * w->input->thickness * s->depth;
  radius = fmax(radius, LEAST_RADIUS * cell);
  // Flesh at a joint needs room to bend between the bones that meet there.
  double inset = fmin(radius + 0.1 * length, 0.35 * length);
  sn_vec3 along = length > 0.0 ? sn_scale(1.0 / length, sn_sub(s->to, s->from)) : sn_v3(0, 1, 0);
  sn_capsule capsule = {sn_madd(s->from, inset, along), sn_madd(s->to, -inset, along), radius};
  if (sn_distance(capsule.from, capsule.to) < 0.1 * cell) {
    capsule.to = sn_madd(capsule.from, 0.1 * cell, along);
  }
  bones->items[bones->count++] = (sn_flesh_bone){joint, capsule};
  bones->fates[joint].bone_count++;
  return SN_OK;
}

// Along the joint to its far end: as far as its flesh reaches in the direction of its middle.
static sn_vec3 far_end(const bone_work* w, const own_flesh* own) {
  sn_vec3 place = w->input->rig->joints[own->joint].place;
  sn_vec3 way = sn_sub(own->centre, place);
  double square = sn_dot(way, way), reach = 0.0;
  if (!(square > 0.0)) return place;
  for (size_t v = 0; v < w->input->rig->mesh.vertex_count; ++v) {
    if (!w->vertex_is_flesh[v] || own_weight(w, own->joint, v) < 0.5) continue;
    reach = fmax(reach, sn_dot(sn_sub(vertex_place(w, v), place), way) / square);
  }
  return sn_madd(place, fmax(reach, 1.0), way);
}

// The deepest place below the skin of which the joint has most, looked for from its vertices.
static bool find_deepest(const bone_work* w, const own_flesh* own, stretch* s) {
  const sn_bvh* bvh = w->input->bvh;
  const sn_surface* surface = bvh->surface;
  double best = 0.0, cell = w->input->cell;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    sn_vec3 a = sn_surface_corner(surface, t, 0), b = sn_surface_corner(surface, t, 1),
            c = sn_surface_corner(surface, t, 2);
    double weight = 0.0;
    for (int k = 0; k < 3; ++k)
      weight += own_weight(w, own->joint, surface->triangles[3 * (size_t)t + k]);
    if (weight < 3.0 * SOME_WEIGHT) continue;
    sn_vec3 normal = sn_cross(sn_sub(b, a), sn_sub(c, a));
    double length = sn_length(normal);
    if (!(length > 0.0)) continue;
    sn_vec3 middle = sn_scale(1.0 / 3.0, sn_add(a, sn_add(b, c)));
    for (double step = w->input->sheet ? 0.0 : 0.3; step < 40.0; step = 1.5 * step + 0.01) {
      sn_vec3 p = sn_madd(middle, -step * cell / length, normal);
      double depth = depth_at(w, own->joint, SOME_WEIGHT, p);
      if (depth < 0.0) break;
      if (depth * weight <= best) continue;
      best = depth * weight;
      *s = (stretch){p, p, depth};
    }
  }
  return best > 0.0;
}

static bool is_kept(const bone_work* w, uint32_t joint) {
  return w->bones->fates[joint].keeper == joint && w->bones->fates[joint].bone_count > 0;
}

static bool is_big_enough(const bone_work* w, const own_flesh* own, double depth) {
  double cell = w->input->cell;
  if (own->area < LEAST_FACES * cell * cell) return false;
  return depth >= THIN * cell || own->area >= SMALL_SHARE * w->flesh_area;
}

static sn_status try_segment(bone_work* w, const own_flesh* own, double weight, sn_vec3 from,
                             sn_vec3 to, sn_error* err) {
  stretch s;
  if (!find_stretch(w, own->joint, weight, from, to, &s)) return SN_OK;
  centre_stretch(w, own->joint, &s);
  double cell = w->input->cell, length = sn_distance(s.from, s.to);
  // A stump of a long segment is where something else begins.
  if (length < 0.15 * sn_distance(from, to) || (length < cell && s.depth < cell)) return SN_OK;
  if (!is_big_enough(w, own, s.depth)) return SN_OK;
  // Nor two in the same place.
  sn_vec3 middle = sn_scale(0.5, sn_add(s.from, s.to));
  for (uint32_t i = 0; i < w->bones->count; ++i) {
    const sn_flesh_bone* b = &w->bones->items[i];
    double room = sn_capsule_distance(b->capsule.from, b->capsule.to, b->capsule.radius, middle);
    if (b->joint == own->joint && room <= 0.0) return SN_OK;
  }
  return add_bone(w, own->joint, &s, err);
}

static double own_distance(const sn_bones* bones, uint32_t first, sn_vec3 p) {
  double least = INFINITY;
  for (uint32_t i = first; i < bones->count; ++i) {
    const sn_capsule* c = &bones->items[i].capsule;
    least = fmin(least, sn_capsule_distance(c->from, c->to, c->radius, p));
  }
  return least;
}

static sn_status add_along_joint(bone_work* w, const own_flesh* own, sn_error* err) {
  const sn_rig* rig = w->input->rig;
  sn_vec3 place = rig->joints[own->joint].place;
  uint32_t first = w->bones->count;
  for (uint32_t j = own->joint + 1; j < rig->joint_count; ++j) {
    if (rig->joints[j].parent != own->joint || !is_kept(w, j)) continue;
    if (sn_distance(place, rig->joints[j].place) < w->input->cell) continue;
    SN_TRY(try_segment(w, own, OWN_WEIGHT, place, rig->joints[j].place, err));
  }
  // What lies off the ways to the children, such as the skull above a jaw.
  const double* s = own->spread;
  double size = sqrt(s[0] + s[1] + s[2]);
  if (own_distance(w->bones, first, own->centre) < 0.5 * size) return SN_OK;
  return try_segment(w, own, OWN_WEIGHT, place, far_end(w, own), err);
}

static sn_status add_in_flesh(bone_work* w, const own_flesh* own, sn_error* err) {
  sn_vec3 axis = sn_scale(1.5, longest_axis(own));
  SN_TRY(
      try_segment(w, own, SOME_WEIGHT, sn_sub(own->centre, axis), sn_add(own->centre, axis), err));
  if (w->bones->fates[own->joint].bone_count > 0) return SN_OK;
  stretch s;
  if (!find_deepest(w, own, &s) || !is_big_enough(w, own, s.depth)) return SN_OK;
  return add_bone(w, own->joint, &s, err);
}

static void merge_into(bone_work* w, uint32_t joint, uint32_t keeper) {
  for (uint32_t j = 0; j < w->input->rig->joint_count; ++j) {
    if (w->bones->fates[j].keeper == joint) w->bones->fates[j].keeper = keeper;
  }
}

static sn_status place_joint(bone_work* w, uint32_t joint, sn_error* err) {
  sn_joint_fate* fate = &w->bones->fates[joint];
  own_flesh own = find_own_flesh(w, joint);
  if (!(own.area > 0.0)) {
    fate->reason = "moves no flesh";
    return SN_OK;
  }
  fate->has_flesh = true;
  SN_TRY(add_along_joint(w, &own, err));
  if (fate->bone_count > 0) return SN_OK;
  SN_TRY(add_in_flesh(w, &own, err));
  if (fate->bone_count > 0) {
    fate->stray = true;
    fate->reason = "its axis is outside its flesh: the bone is where that is";
    return SN_OK;
  }
  fate->reason = own.area < LEAST_FACES * w->input->cell * w->input->cell
                     ? "moves less flesh than a few cells"
                     : "its flesh is thinner than a cell";
  uint32_t parent = w->input->rig->joints[joint].parent;
  if (parent != SN_NO_JOINT) merge_into(w, joint, parent);
  return SN_OK;
}

// A joint at the top that could not be kept leaves its flesh to the nearest one that was.
static void give_away_tops(bone_work* w) {
  const sn_rig* rig = w->input->rig;
  for (uint32_t j = 0; j < rig->joint_count; ++j) {
    const sn_joint_fate* fate = &w->bones->fates[j];
    if (fate->keeper != j || fate->bone_count > 0 || !fate->has_flesh) continue;
    uint32_t nearest = SN_NO_JOINT;
    double least = INFINITY;
    for (uint32_t k = 0; k < rig->joint_count; ++k) {
      double distance = sn_distance(rig->joints[j].place, rig->joints[k].place);
      if (!is_kept(w, k) || distance >= least) continue;
      least = distance;
      nearest = k;
    }
    if (nearest != SN_NO_JOINT) merge_into(w, j, nearest);
  }
}

// @param only a part, or SN_NO_PART for all flesh
static sn_status mark_flesh(bone_work* w, uint32_t only, sn_arena* scratch, sn_error* err) {
  const sn_rig* rig = w->input->rig;
  SN_TRY(SN_ARENA_NEW(scratch, rig->mesh.vertex_count, &w->vertex_is_flesh, err));
  for (size_t v = 0; v < rig->mesh.vertex_count; ++v) {
    uint32_t part = w->input->parts->of_vertex[v];
    bool wanted = only == SN_NO_PART || part == only;
    w->vertex_is_flesh[v] = part != SN_NO_PART && wanted && w->input->part_is_flesh[part];
    if (w->vertex_is_flesh[v]) w->flesh_area += rig->vertex_areas[v];
  }
  return SN_OK;
}

sn_status sn_bones_find(const sn_bones_input* input, sn_arena* arena, sn_arena* scratch,
                        sn_bones* bones, sn_error* err) {
  bone_work w = {.input = input, .bones = bones, .arena = arena};
  uint32_t count = input->rig->joint_count;
  *bones = (sn_bones){0};
  SN_TRY(SN_ARENA_NEW(arena, count, &bones->fates, err));
  for (uint32_t j = 0; j < count; ++j) bones->fates[j].keeper = j;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(mark_flesh(&w, SN_NO_PART, scratch, err));
  for (uint32_t j = count; j-- > 0;) SN_TRY(place_joint(&w, j, err));
  give_away_tops(&w);
  sn_arena_release(scratch, mark);
  return SN_OK;
}

sn_status sn_bones_add_to_part(const sn_bones_input* input, uint32_t part, const sn_bvh* bvh,
                               sn_arena* arena, sn_arena* scratch, sn_bones* bones, sn_error* err) {
  sn_bones_input alone = *input;
  alone.bvh = bvh;
  bone_work w = {.input = &alone, .bones = bones, .arena = arena};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(mark_flesh(&w, part, scratch, err));
  own_flesh most = {.joint = SN_NO_JOINT};
  for (uint32_t j = 0; j < input->rig->joint_count; ++j) {
    if (bones->fates[j].keeper != j) continue;
    own_flesh own = find_own_flesh(&w, j);
    if (own.area > most.area) most = own;
  }
  stretch s;
  sn_vec3 axis = sn_scale(1.5, longest_axis(&most));
  bool found = most.joint != SN_NO_JOINT &&
               (find_stretch(&w, most.joint, SOME_WEIGHT, sn_sub(most.centre, axis),
                             sn_add(most.centre, axis), &s) ||
                find_deepest(&w, &most, &s));
  sn_arena_release(scratch, mark);
  return found ? add_bone(&w, most.joint, &s, err) : SN_OK;
}

double sn_bones_distance(const sn_bones* bones, sn_vec3 p) { return own_distance(bones, 0, p); }
