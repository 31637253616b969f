#include "creature_muscles.h"

#include <stdio.h>

#include "creature_math.h"
#include "sinew/io.h"
#include "sinew/shape.h"

#define MAX_PATH 4096
#define END_RADIUS 0.012
#define BLEND 0.008
#define GRID 0.005

// A spindle beside a bone of the right side: how far ahead of it (behind, if negative) it begins and ends,
// and its radius in the middle, metres.
typedef struct muscle_row {
  const char* name;
  int joint;
  double ahead_above, ahead_below, radius;
} muscle_row;

static const muscle_row ROWS[] = {
    {"thigh_front", HIND_UPPER, 0.056, 0.032, 0.042},
    {"thigh_back", HIND_UPPER, -0.058, -0.032, 0.042},
    {"calf", HIND_LOWER, -0.032, -0.022, 0.028},
    {"arm_front", FORE_UPPER, 0.046, 0.028, 0.034},
    {"arm_back", FORE_UPPER, -0.046, -0.028, 0.034},
};

static sn_status make_spindle(const rig_bone* bone, const muscle_row* row, sn_mesh* mesh,
                              sn_error* err) {
  static const double AT[4] = {0.0, 0.35, 0.65, 1.0};
  const double radii[4] = {END_RADIUS, row->radius, 0.92 * row->radius, END_RADIUS};
  sn_vec3 axis = subtract(bone->to, bone->from), places[4];
  // Across the bone, in the plane in which legs swing.
  sn_vec3 ahead = unit((sn_vec3){-axis.y, axis.x, 0});
  sn_round_cone cones[3];
  for (int i = 0; i < 4; ++i) {
    double off = row->ahead_above + AT[i] * (row->ahead_below - row->ahead_above);
    places[i] = add(add(bone->from, scale(AT[i], axis)), scale(off, ahead));
  }
  for (int i = 0; i < 3; ++i) {
    cones[i] = (sn_round_cone){places[i], places[i + 1], radii[i], radii[i + 1]};
  }
  return sn_mesh_from_round_cones(cones, 3, BLEND, GRID, mesh, err);
}

sn_status muscles_save(const char* folder, const creature_rig* rig, sn_error* err) {
  for (size_t i = 0; i < 2 * sizeof ROWS / sizeof *ROWS; ++i) {
    const muscle_row* row = &ROWS[i / 2];
    bool right = i % 2 == 1;
    char path[MAX_PATH];
    sn_mesh mesh = {0};
    int size = snprintf(path, sizeof path, "%s/muscle_%s_%s.obj", folder, right ? "right" : "left",
                        row->name);
    if (size < 0 || size >= MAX_PATH) {
      *err = (sn_error){SN_ERR_USAGE, "the name of the folder is too long"};
      return SN_ERR_USAGE;
    }
    const rig_joint* joint = &rig->joints[row->joint + (right ? SIDE_COUNT : 0)];
    sn_status status = make_spindle(&joint->bone, row, &mesh, err);
    if (status == SN_OK) status = sn_mesh_save_obj(path, &mesh, err);
    sn_mesh_destroy(&mesh);
    if (status != SN_OK) return status;
  }
  return SN_OK;
}
