// A walk in four beats: left hind, left fore, right hind, right fore, a quarter apart. For six tenths
// of the round a foot is on the ground, where it goes back at an even speed, as on a treadmill. Hips
// and chest ride on their own pairs of legs, a quarter of a round apart, and the spine makes up for
// the difference. Legs are bent so that the feet are where they shall be.
//
// Signs: about x, positive drops the right side; about y, positive turns to the left; about z,
// positive lifts the nose.
#include "creature_walk.h"

#include "creature_math.h"

#define STANCE 0.6       // part of the round
#define STRIDE 0.15      // metres that a foot goes back on the ground
#define HIND_LIFT 0.024  // metres
#define FORE_LIFT 0.034
#define CROUCH 0.010     // metres below standing, so that no leg is ever stretched out
#define BOB 0.006        // metres
#define SWAY 0.014       // metres
#define TRUNK 0.33       // metres from hips to chest
#define HIND_BACK 0.016  // metres that the hind feet tread behind where they stand
#define DEGREE (PI / 180)

// A wave that comes `count` times a round and is highest at `top`.
static double wave(double phase, int count, double top) {
  return cos(2 * PI * count * (phase - top));
}

// Put a joint at the end of its parent's bone.
static void set_joint(const creature_rig* rig, creature_pose* pose, int joint, sn_quat turn) {
  int parent = rig->joints[joint].parent;
  sn_vec3 offset = subtract(rig->joints[joint].place, rig->joints[parent].place);
  pose->places[joint] = add(pose->places[parent], rotated(pose->turns[parent], offset));
  pose->turns[joint] = turn;
}

static void set_local(const creature_rig* rig, creature_pose* pose, int joint, sn_quat turn) {
  set_joint(rig, pose, joint, joined(pose->turns[rig->joints[joint].parent], turn));
}

// Hips or chest over a pair of legs, of which the left one touches the ground at `start`: the side
// of the leg in the air sinks, the side of the leg ahead goes ahead, the weight is over the other.
static sn_quat girdle_turn(double phase, double start, double pitch) {
  double middle = start + STANCE / 2;  // of the left leg's stance
  sn_quat yaw = about_y(-6 * DEGREE * wave(phase, 1, start));
  sn_quat roll = about_x(3 * DEGREE * wave(phase, 1, middle));
  return joined(yaw, joined(about_z(pitch), roll));
}

static void pose_trunk(const creature_rig* rig, double phase, creature_pose* pose) {
  double bob = BOB * wave(phase, 2, STANCE / 2);
  // The chest is down when the hips are up.
  double pitch = -2 * bob / TRUNK;
  sn_quat hips = girdle_turn(phase, 0, pitch), chest = girdle_turn(phase, 0.25, pitch);
  set_joint(rig, pose, HIPS, hips);
  sn_vec3 shift = {0, bob - CROUCH, -SWAY * wave(phase, 1, STANCE / 2)};
  pose->places[HIPS] = add(pose->places[HIPS], shift);
  set_joint(rig, pose, SPINE1, between(hips, chest, 1.0 / 3));
  set_joint(rig, pose, SPINE2, between(hips, chest, 2.0 / 3));
  set_joint(rig, pose, CHEST, chest);
}

// The head nods when a forefoot lands and else looks ahead; the ears come after it.
static void pose_head(const creature_rig* rig, double phase, creature_pose* pose) {
  sn_quat head = joined(about_y(-2 * DEGREE * wave(phase, 1, 0.25)),
                        joined(about_z(4.5 * DEGREE * wave(phase, 2, 0.10)),
                               about_x(1.5 * DEGREE * wave(phase, 1, 0.55))));
  set_joint(rig, pose, NECK, between(pose->turns[CHEST], head, 0.5));
  set_joint(rig, pose, HEAD, head);
  for (int side = 0; side < 2; ++side) {
    double out = side == 0 ? 1 : -1;  // which way about x lifts the ear
    int ear = EAR1 + side * SIDE_COUNT;
    sn_quat root = joined(about_x(out * 6 * DEGREE * wave(phase, 2, 0.32)),
                          about_z(4 * DEGREE * wave(phase, 2, 0.20)));
    sn_quat tip = joined(about_x(out * 11 * DEGREE * wave(phase, 2, 0.38)),
                         about_z(9 * DEGREE * wave(phase, 2, 0.27)));
    set_local(rig, pose, ear, root);
    set_local(rig, pose, ear + 1, tip);
  }
}

// The tail swings against the hips, each joint later than the one before.
static void pose_tail(const creature_rig* rig, double phase, creature_pose* pose) {
  for (int i = 0; i < 3; ++i) {
    double lag = 0.09 * i;
    sn_quat wag = about_y((9 + 4 * i) * DEGREE * wave(phase, 1, 0.12 + lag));
    sn_quat nod = about_z((3 + 2 * i) * DEGREE * wave(phase, 2, 0.08 + lag));
    set_local(rig, pose, TAIL1 + i, joined(wag, nod));
  }
}

// A foot relative to where it stands, and how far its toes point up.
static sn_vec3 foot_path(double phase, double lift, double* pitch) {
  phase -= floor(phase);
  *pitch = 0;
  if (phase < STANCE) return (sn_vec3){STRIDE * (0.5 - phase / STANCE), 0, 0};
  // Through the air on a cubic that leaves and meets the ground at the speed of the ground.
  double air = 1 - STANCE, t = (phase - STANCE) / air, ground = STRIDE * air / STANCE;
  double x = STRIDE * (t * t * (3 - 2 * t) - 0.5) - ground * t * (1 - t) * (1 - 2 * t);
  double arc = 16 * t * t * (1 - t) * (1 - t);
  *pitch = arc * (-24 + 32 * t) * DEGREE;
  return (sn_vec3){x, lift * arc * (1.25 - 0.5 * t), 0};
}

// The rotation that takes the unit vectors a0 and b0, square to each other, to a and b.
static sn_quat frame_turn(sn_vec3 a0, sn_vec3 b0, sn_vec3 a, sn_vec3 b) {
  // First a0 to a by the short way, which leaves b0 off by an angle about a.
  sn_vec3 axis = cross(a0, a);
  sn_quat swing = normalised((sn_quat){axis.x, axis.y, axis.z, 1 + dot(a0, a)});
  sn_vec3 b1 = rotated(swing, b0);
  double angle = atan2(dot(cross(b1, b), a), dot(b1, b));
  sn_vec3 s = scale(sin(angle / 2), a);
  return joined((sn_quat){s.x, s.y, s.z, cos(angle / 2)}, swing);
}

// `v` without its part along the unit vector `axis`, made a unit vector.
static sn_vec3 across(sn_vec3 v, sn_vec3 axis) {
  return unit(subtract(v, scale(dot(v, axis), axis)));
}

// Bend a leg so that its foot is at `foot`, its knee keeping to its side.
static void pose_leg(const creature_rig* rig, creature_pose* pose, int upper, sn_vec3 foot,
                     double pitch) {
  const rig_joint* rest = &rig->joints[upper];
  sn_vec3 rest_thigh = subtract(rest[1].place, rest[0].place);
  sn_vec3 rest_shin = subtract(rest[2].place, rest[1].place);
  sn_vec3 rest_line = unit(add(rest_thigh, rest_shin)), rest_knee = across(rest_thigh, rest_line);
  sn_vec3 rest_axle = cross(rest_line, rest_knee);

  sn_quat body = pose->turns[rest->parent];
  set_joint(rig, pose, upper, body);
  sn_vec3 line = subtract(foot, pose->places[upper]);
  double a = length(rest_thigh), b = length(rest_shin);
  double reach = fmin(length(line), 0.998 * (a + b));
  line = unit(line);
  sn_vec3 knee = across(rotated(body, rest_knee), line), axle = cross(line, knee);
  double along = (a * a + reach * reach - b * b) / (2 * reach);
  double aside = sqrt(a * a - along * along);
  sn_vec3 thigh = add(scale(along, line), scale(aside, knee));
  sn_vec3 shin = subtract(scale(reach, line), thigh);

  pose->turns[upper] = frame_turn(unit(rest_thigh), rest_axle, unit(thigh), axle);
  set_joint(rig, pose, upper + 1, frame_turn(unit(rest_shin), rest_axle, unit(shin), axle));
  set_joint(rig, pose, upper + 2, about_z(pitch));
}

static void pose_legs(const creature_rig* rig, double phase, creature_pose* pose) {
  for (int side = 0; side < 2; ++side) {
    for (int fore = 0; fore < 2; ++fore) {
      int upper = (fore ? FORE_UPPER : HIND_UPPER) + side * SIDE_COUNT;
      double start = 0.5 * side + 0.25 * fore, pitch;
      sn_vec3 path = foot_path(phase - start, fore ? FORE_LIFT : HIND_LIFT, &pitch);
      if (!fore) path.x -= HIND_BACK;
      pose_leg(rig, pose, upper, add(rig->joints[upper + 2].place, path), pitch);
    }
  }
}

void walk_pose(const creature_rig* rig, double phase, creature_pose* pose) {
  pose->places[ROOT] = rig->joints[ROOT].place;
  pose->turns[ROOT] = (sn_quat){0, 0, 0, 1};
  pose_trunk(rig, phase, pose);
  pose_head(rig, phase, pose);
  pose_tail(rig, phase, pose);
  pose_legs(rig, phase, pose);
}
