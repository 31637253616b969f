#include "creature_file.h"

#include <stdlib.h>

#include "creature_math.h"
#include "creature_walk.h"

#define KEYS_A_ROUND 48  // so that every frame of 24 a second falls on a key
#define KEY_COUNT (KEYS_A_ROUND + 1)

// Everything that the document points to.
typedef struct document {
  sn_gltf gltf;
  sn_gltf_mesh mesh;
  sn_gltf_node nodes[JOINT_COUNT + 1];  // a node for each joint, then that of the mesh
  sn_gltf_skin skin;
  uint32_t skin_joints[JOINT_COUNT];
  double inverse_bind[JOINT_COUNT][16];
  sn_gltf_clip clip;
  sn_gltf_channel channels[JOINT_COUNT];  // where the hips are, then how each joint turns
  float times[KEY_COUNT];
  float places[KEY_COUNT][3];
  float turns[JOINT_COUNT][KEY_COUNT][4];
} document;

static void set_nodes(document* d, const creature_rig* rig) {
  for (int j = 0; j < JOINT_COUNT; ++j) {
    const rig_joint* joint = &rig->joints[j];
    sn_vec3 from = {0, 0, 0};
    if (joint->parent >= 0) from = rig->joints[joint->parent].place;
    d->nodes[j] = (sn_gltf_node){.name = (char*)joint->name,
                                 .parent = joint->parent,
                                 .translate = subtract(joint->place, from),
                                 .rotate = {0, 0, 0, 1},
                                 .scale = {1, 1, 1},
                                 .mesh = -1,
                                 .skin = -1};
    d->skin_joints[j] = (uint32_t)j;
    double* bind = d->inverse_bind[j];
    bind[0] = bind[5] = bind[10] = bind[15] = 1;
    bind[12] = -joint->place.x;
    bind[13] = -joint->place.y;
    bind[14] = -joint->place.z;
  }
  static char name[] = CREATURE_MESH;
  d->nodes[JOINT_COUNT] = (sn_gltf_node){
      .name = name, .parent = -1, .rotate = {0, 0, 0, 1}, .scale = {1, 1, 1}, .mesh = 0, .skin = 0};
  d->mesh.name = d->skin.name = name;
  d->skin.joints = d->skin_joints;
  d->skin.inverse_bind = d->inverse_bind[0];
  d->skin.joint_count = JOINT_COUNT;
}

// A rotation and its negative are the same; take the one that is near the key before.
static void set_turn_key(float (*keys)[4], int key, sn_quat q) {
  const double values[] = {q.x, q.y, q.z, q.w};
  double product = 0;
  for (int i = 0; i < 4 && key > 0; ++i) product += values[i] * (double)keys[key - 1][i];
  for (int i = 0; i < 4; ++i) keys[key][i] = (float)(product < 0 ? -values[i] : values[i]);
}

static void set_keys(document* d, const creature_rig* rig) {
  for (int key = 0; key < KEY_COUNT; ++key) {
    creature_pose pose;
    double time = (double)key / KEYS_A_ROUND;
    // The end is the start again, to the last bit.
    walk_pose(rig, key < KEYS_A_ROUND ? time : 0, &pose);
    d->times[key] = (float)time;
    d->places[key][0] = (float)(pose.places[HIPS].x - rig->joints[ROOT].place.x);
    d->places[key][1] = (float)(pose.places[HIPS].y - rig->joints[ROOT].place.y);
    d->places[key][2] = (float)(pose.places[HIPS].z - rig->joints[ROOT].place.z);
    for (int j = HIPS; j < JOINT_COUNT; ++j) {
      sn_quat parent = pose.turns[rig->joints[j].parent];
      set_turn_key(d->turns[j], key, joined(inverse(parent), pose.turns[j]));
    }
  }
}

static void set_clip(document* d, const creature_rig* rig) {
  static char name[] = CREATURE_CLIP;
  set_keys(d, rig);
  for (int j = 0; j < JOINT_COUNT; ++j) {
    d->channels[j] = (sn_gltf_channel){.node = (uint32_t)j,
                                       .path = SN_GLTF_ROTATE,
                                       .interpolation = SN_GLTF_LINEAR,
                                       .times = d->times,
                                       .values = d->turns[j][0],
                                       .key_count = KEY_COUNT};
  }
  d->channels[ROOT].node = HIPS;
  d->channels[ROOT].path = SN_GLTF_TRANSLATE;
  d->channels[ROOT].values = d->places[0];
  d->clip =
      (sn_gltf_clip){.name = name, .channels = d->channels, .channel_count = JOINT_COUNT, .end = 1};
}

static sn_status set_mesh(document* d, const creature_rig* rig, const sn_mesh* mesh,
                          sn_error* err) {
  size_t count = INFLUENCE_COUNT * (size_t)mesh->vertex_count;
  d->mesh.mesh = *mesh;
  d->mesh.influence_count = INFLUENCE_COUNT;
  d->mesh.joints = calloc(count, sizeof *d->mesh.joints);
  d->mesh.weights = calloc(count, sizeof *d->mesh.weights);
  if (!d->mesh.joints || !d->mesh.weights) {
    *err = (sn_error){SN_ERR_MEMORY, "out of memory"};
    return SN_ERR_MEMORY;
  }
  return rig_weigh(rig, mesh, d->mesh.joints, d->mesh.weights, err);
}

sn_status file_save(const char* path, const creature_rig* rig, const sn_mesh* mesh, sn_error* err) {
  static document d;
  set_nodes(&d, rig);
  set_clip(&d, rig);
  d.gltf = (sn_gltf){.meshes = &d.mesh,
                     .mesh_count = 1,
                     .nodes = d.nodes,
                     .node_count = JOINT_COUNT + 1,
                     .skins = &d.skin,
                     .skin_count = 1,
                     .clips = &d.clip,
                     .clip_count = 1};
  sn_status status = set_mesh(&d, rig, mesh, err);
  if (status == SN_OK) status = sn_gltf_save(path, &d.gltf, err);
  free(d.mesh.joints);
  free(d.mesh.weights);
  return status;
}
