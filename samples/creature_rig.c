#include "creature_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "creature_math.h"

// Between a bone and the next, metres.
#define JOINT_GAP 0.018

// Weights start as 1 for the nearest bone and 0 for all others. They then spread over the surface,
// not through the air, so that an ear is never carried by the cheek it hangs beside.
#define SPREAD_ROUNDS 24
#define SPREAD_SHARE 0.5  // of a vertex's neighbours, each round

// A leg has nothing to say beyond these places: |z|, and x between the two pairs, metres.
#define LEG_FADE_OUT 0.008
#define LEG_FADE_IN 0.045
#define PAIRS_BORDER (-0.02)

typedef struct joint_row {
  const char* name;
  int parent;
  sn_vec3 place;
} joint_row;

// In the middle, and of the right side.
static const joint_row middle_joints[EAR1] = {
    {"root", -1, {0, 0, 0}},
    {"hips", ROOT, {-0.22, 0.46, 0}},
    {"spine1", HIPS, {-0.14, 0.485, 0}},
    {"spine2", SPINE1, {-0.03, 0.49, 0}},
    {"chest", SPINE2, {0.08, 0.495, 0}},
    {"neck", CHEST, {0.16, 0.53, 0}},
    {"head", NECK, {0.21, 0.66, 0}},
    {"tail1", HIPS, {-0.35, 0.537, 0}},
    {"tail2", TAIL1, {-0.397, 0.606, 0}},
    {"tail3", TAIL2, {-0.444, 0.675, 0}},
};
static const joint_row side_joints[SIDE_COUNT] = {
    {"ear1", HEAD, {0.205, 0.84, 0.105}},
    {"ear2", EAR1, {0.175, 0.885, 0.175}},
    {"hind_upper", HIPS, {-0.225, 0.40, 0.09}},
    {"hind_lower", HIND_UPPER, {-0.18, 0.23, 0.105}},
    {"hind_foot", HIND_LOWER, {-0.23, 0.075, 0.11}},
    {"fore_upper", CHEST, {0.155, 0.40, 0.085}},
    {"fore_lower", FORE_UPPER, {0.182, 0.225, 0.102}},
    {"fore_foot", FORE_LOWER, {0.162, 0.075, 0.106}},
};

// Their bones, in the same order: ends, radii of the flesh there, radius of the bone.
static const rig_bone middle_bones[EAR1] = {
    {{0, 0, 0}, {0, 0, 0}, 0, 0, 0},  // none
    {{-0.30, 0.48, 0}, {-0.14, 0.485, 0}, 0.145, 0.155, 0.028},
    {{-0.14, 0.485, 0}, {-0.03, 0.49, 0}, 0.16, 0.17, 0.022},
    {{-0.03, 0.49, 0}, {0.08, 0.495, 0}, 0.17, 0.15, 0.022},
    {{0.08, 0.495, 0}, {0.18, 0.505, 0}, 0.15, 0.13, 0.028},
    {{0.16, 0.53, 0}, {0.21, 0.66, 0}, 0.10, 0.10, 0.026},
    {{0.20, 0.735, 0}, {0.42, 0.70, 0}, 0.145, 0.085, 0.040},
    {{-0.35, 0.537, 0}, {-0.397, 0.606, 0}, 0.053, 0.048, 0.014},
    {{-0.397, 0.606, 0}, {-0.444, 0.675, 0}, 0.048, 0.042, 0.013},
    {{-0.444, 0.675, 0}, {-0.488, 0.74, 0}, 0.042, 0.046, 0.012},
};
static const rig_bone side_bones[SIDE_COUNT] = {
    {{0.205, 0.84, 0.105}, {0.175, 0.885, 0.175}, 0.05, 0.044, 0.011},
    {{0.175, 0.885, 0.175}, {0.165, 0.78, 0.225}, 0.042, 0.054, 0.011},
    {{-0.225, 0.40, 0.09}, {-0.18, 0.23, 0.105}, 0.08, 0.066, 0.018},
    {{-0.18, 0.23, 0.105}, {-0.23, 0.075, 0.11}, 0.066, 0.053, 0.015},
    {{-0.25, 0.046, 0.11}, {-0.155, 0.046, 0.116}, 0.058, 0.053, 0.014},
    {{0.155, 0.40, 0.085}, {0.182, 0.225, 0.102}, 0.075, 0.058, 0.018},
    {{0.182, 0.225, 0.102}, {0.162, 0.075, 0.106}, 0.058, 0.052, 0.015},
    {{0.142, 0.046, 0.106}, {0.237, 0.046, 0.112}, 0.057, 0.053, 0.014},
};

static rig_joint make_joint(const joint_row* row, const rig_bone* bone, const char* side) {
  rig_joint joint = {.parent = row->parent, .place = row->place, .bone = *bone};
  snprintf(joint.name, sizeof joint.name, "%s%s", side, row->name);
  return joint;
}

void rig_create(creature_rig* rig) {
  for (int i = 0; i < EAR1; ++i) {
    rig->joints[i] = make_joint(&middle_joints[i], &middle_bones[i], "");
  }
  for (int i = 0; i < SIDE_COUNT; ++i) {
    rig_joint *left = &rig->joints[EAR1 + i], *right = left + SIDE_COUNT;
    *left = make_joint(&side_joints[i], &side_bones[i], "left_");
    *right = make_joint(&side_joints[i], &side_bones[i], "right_");
    left->place = mirrored(left->place);
    left->bone.from = mirrored(left->bone.from);
    left->bone.to = mirrored(left->bone.to);
    if (right->parent >= EAR1) right->parent += SIDE_COUNT;
  }
}

sn_capsule rig_capsule(const rig_bone* bone) {
  sn_vec3 axis = subtract(bone->to, bone->from);
  sn_vec3 spare = scale(clamped((bone->radius + JOINT_GAP) / length(axis), 0, 0.49), axis);
  return (sn_capsule){add(bone->from, spare), subtract(bone->to, spare), bone->radius};
}

// Weights

// From the flesh around the bone; negative within.
static double flesh_distance(const rig_bone* bone, sn_vec3 p) {
  sn_vec3 axis = subtract(bone->to, bone->from), offset = subtract(p, bone->from);
  double t = clamped(dot(offset, axis) / dot(axis, axis), 0, 1);
  return length(subtract(offset, scale(t, axis))) -
         (bone->from_flesh + t * (bone->to_flesh - bone->from_flesh));
}

static int nearest_joint(const creature_rig* rig, sn_vec3 p) {
  int nearest = HIPS;
  double least = INFINITY;
  for (int j = HIPS; j < JOINT_COUNT; ++j) {
    double distance = flesh_distance(&rig->joints[j].bone, p);
    if (distance >= least) continue;
    nearest = j;
    least = distance;
  }
  return nearest;
}

static sn_vec3 vertex_place(const sn_mesh* mesh, size_t vertex) {
  sn_vec3 p;
  memcpy(&p, mesh->positions + 3 * vertex, sizeof p);
  return p;
}

// Each vertex moves its weights towards the mean of its neighbours'.
// @param shares (JOINT_COUNT x vertex_count) @param sums as many and one more for each vertex
static void spread(const sn_mesh* mesh, double* shares, double* sums) {
  size_t width = JOINT_COUNT + 1;
  memset(sums, 0, sizeof *sums * width * mesh->vertex_count);
  for (size_t c = 0; c < 3 * (size_t)mesh->triangle_count; ++c) {
    // Every edge belongs to two triangles, which run it in opposite directions.
    size_t a = mesh->triangles[c], b = mesh->triangles[c % 3 == 2 ? c - 2 : c + 1];
    for (int j = 0; j < JOINT_COUNT; ++j) sums[width * a + j] += shares[JOINT_COUNT * b + j];
    sums[width * a + JOINT_COUNT] += 1;
  }
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    double count = sums[width * v + JOINT_COUNT];
    for (int j = 0; j < JOINT_COUNT; ++j) {
      double* share = &shares[JOINT_COUNT * v + j];
      *share += SPREAD_SHARE * (sums[width * v + j] / count - *share);
    }
  }
}

// 0 below `lo`, 1 above `hi`, smooth between.
static double ramp(double x, double lo, double hi) {
  double t = clamped((x - lo) / (hi - lo), 0, 1);
  return t * t * (3 - 2 * t);
}

// Legs keep to their own quarter of the body.
static double reach(int joint, sn_vec3 p) {
  int left = joint < EAR1 + SIDE_COUNT ? joint : joint - SIDE_COUNT;
  if (left < HIND_UPPER) return 1;
  double side = joint == left ? -p.z : p.z;
  double ahead = left >= FORE_UPPER ? p.x - PAIRS_BORDER : PAIRS_BORDER - p.x;
  return ramp(side, LEG_FADE_OUT, LEG_FADE_IN) * ramp(ahead, 0, LEG_FADE_IN);
}

// The heaviest, less what the first one left out weighs, so that none comes or goes with a jump.
static void choose(const double* shares, uint16_t* joints, float* weights) {
  double heaviest[INFLUENCE_COUNT + 1] = {0}, sum = 0;
  int chosen[INFLUENCE_COUNT + 1] = {0};
  for (int j = 0; j < JOINT_COUNT; ++j) {
    int at = INFLUENCE_COUNT;
    if (shares[j] <= heaviest[at]) continue;
    for (; at > 0 && shares[j] > heaviest[at - 1]; --at) {
      heaviest[at] = heaviest[at - 1];
      chosen[at] = chosen[at - 1];
    }
    heaviest[at] = shares[j];
    chosen[at] = j;
  }
  double least = heaviest[INFLUENCE_COUNT];
  for (int i = 0; i < INFLUENCE_COUNT; ++i) sum += heaviest[i] - least;
  for (int i = 0; i < INFLUENCE_COUNT; ++i) {
    joints[i] = (uint16_t)chosen[i];
    weights[i] = (float)((heaviest[i] - least) / sum);
  }
}

sn_status rig_weigh(const creature_rig* rig, const sn_mesh* mesh, uint16_t* joints, float* weights,
                    sn_error* err) {
  double* shares = calloc(mesh->vertex_count, sizeof(double[JOINT_COUNT]));
  double* sums = malloc(mesh->vertex_count * sizeof(double[JOINT_COUNT + 1]));
  sn_status status = SN_OK;
  if (shares && sums) {
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      shares[JOINT_COUNT * v + nearest_joint(rig, vertex_place(mesh, v))] = 1;
    }
    for (int round = 0; round < SPREAD_ROUNDS; ++round) spread(mesh, shares, sums);
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      double* own = shares + JOINT_COUNT * v;
      for (int j = 0; j < JOINT_COUNT; ++j) own[j] *= reach(j, vertex_place(mesh, v));
      choose(own, joints + INFLUENCE_COUNT * v, weights + INFLUENCE_COUNT * v);
    }
  } else {
    *err = (sn_error){SN_ERR_MEMORY, "out of memory"};
    status = SN_ERR_MEMORY;
  }
  free(shares);
  free(sums);
  return status;
}
