// A glTF document with a bit of everything: a square tube along y that two joints bend, a clip of
// each interpolation, a map, a second mesh that a matrix places. Needs public headers only.
#ifndef SN_TESTS_IO_GLTF_TUBE_H
#define SN_TESTS_IO_GLTF_TUBE_H

#include <string.h>

#include "sinew/gltf.h"

enum {
  TUBE_RINGS = 5,
  TUBE_SIDES = 4,
  TUBE_VERTICES = TUBE_RINGS * TUBE_SIDES,
  TUBE_TRIANGLES = 2 * (TUBE_RINGS - 1) * TUBE_SIDES
};

typedef struct tube {
  double positions[3 * TUBE_VERTICES];
  uint32_t triangles[3 * TUBE_TRIANGLES];
  uint16_t joints[5 * TUBE_VERTICES];
  float weights[5 * TUBE_VERTICES], heights[TUBE_VERTICES];
  double inverse_bind[32];
  float times[3], turns[12], lifts[6], scales[18];
  uint32_t skin_joints[2];
  sn_gltf_map map;
  sn_gltf_mesh meshes[2];
  sn_gltf_node nodes[4];
  sn_gltf_skin skin;
  sn_gltf_channel channels[3];
  sn_gltf_clip clip;
  sn_gltf gltf;
} tube;

static inline void fill_tube_mesh(tube* t) {
  static const int corners[TUBE_SIDES][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    int ring = v / TUBE_SIDES, side = v % TUBE_SIDES;
    t->positions[3 * v] = 0.25 * corners[side][0];
    t->positions[3 * v + 1] = 0.5 * ring;
    t->positions[3 * v + 2] = -0.25 * corners[side][1];
    float upper = (float)ring / (TUBE_RINGS - 1);
    // Five joints a vertex make two sets; the fourth is given but has no weight.
    t->weights[5 * v] = 1.0f - upper;
    t->weights[5 * v + 4] = upper;
    t->joints[5 * v + 3] = 1;
    t->joints[5 * v + 4] = 1;
    t->heights[v] = 0.5f + upper;
  }
  uint32_t* to = t->triangles;
  for (uint32_t ring = 0; ring + 1 < TUBE_RINGS; ++ring) {
    for (uint32_t side = 0; side < TUBE_SIDES; ++side, to += 6) {
      uint32_t a = ring * TUBE_SIDES + side, b = ring * TUBE_SIDES + (side + 1) % TUBE_SIDES;
      const uint32_t quad[6] = {a, b, b + TUBE_SIDES, a, b + TUBE_SIDES, a + TUBE_SIDES};
      memcpy(to, quad, sizeof quad);
    }
  }
  for (int i = 0; i < 32; ++i) t->inverse_bind[i] = i % 16 % 5 == 0;
  t->inverse_bind[16 + 13] = -1.0;
}

static inline sn_gltf_node tube_node(char* name, int32_t parent, double y) {
  return (sn_gltf_node){.name = name,
                        .parent = parent,
                        .translate = {0, y, 0},
                        .rotate = {0, 0, 0, 1},
                        .scale = {1, 1, 1},
                        .mesh = -1,
                        .skin = -1};
}

static inline void fill_tube_nodes(tube* t) {
  t->nodes[0] = tube_node("skinned", -1, 0);
  t->nodes[1] = tube_node("lower", -1, 0);
  t->nodes[2] = tube_node("upper", 1, 1);
  t->nodes[3] = tube_node("placed \"by\" matrix", -1, 0);
  t->nodes[0].mesh = 0;
  t->nodes[0].skin = 0;
  t->nodes[3].mesh = 1;
  t->nodes[3].has_matrix = true;
  const double matrix[16] = {0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 1};
  memcpy(t->nodes[3].matrix, matrix, sizeof matrix);
}

static inline void fill_tube_clip(tube* t) {
  const float times[3] = {0, 0.5f, 1.25f}, turns[12] = {0, 0, 0, 1, 0.6f, 0, 0, 0.8f, 0, 0, 0, 1};
  const float lifts[6] = {0, 1, 0, 0, 2, 0};
  const float scales[18] = {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1, 2, 2, 2};
  memcpy(t->times, times, sizeof times);
  memcpy(t->turns, turns, sizeof turns);
  memcpy(t->lifts, lifts, sizeof lifts);
  memcpy(t->scales, scales, sizeof scales);
  t->channels[0] = (sn_gltf_channel){2, SN_GLTF_ROTATE, SN_GLTF_LINEAR, t->times, t->turns, 3};
  t->channels[1] = (sn_gltf_channel){2, SN_GLTF_TRANSLATE, SN_GLTF_STEP, t->times, t->lifts, 2};
  t->channels[2] = (sn_gltf_channel){1, SN_GLTF_SCALE, SN_GLTF_CUBIC, t->times, t->scales, 2};
  t->clip =
      (sn_gltf_clip){.name = "bend", .channels = t->channels, .channel_count = 3, .end = 1.25};
}

// The document refers to `t`, which must stay where it is. It has no `order`.
static inline const sn_gltf* make_tube(tube* t) {
  *t = (tube){0};
  fill_tube_mesh(t);
  t->map = (sn_gltf_map){"_SINEW_STIFFNESS", t->heights};
  t->meshes[0] = (sn_gltf_mesh){.name = "tube",
                                .mesh = {.positions = t->positions,
                                         .vertex_count = TUBE_VERTICES,
                                         .triangles = t->triangles,
                                         .triangle_count = TUBE_TRIANGLES},
                                .influence_count = 5,
                                .joints = t->joints,
                                .weights = t->weights,
                                .maps = &t->map,
                                .map_count = 1};
  t->meshes[1] = (sn_gltf_mesh){.name = "plain", .mesh = t->meshes[0].mesh};
  fill_tube_nodes(t);
  t->skin_joints[0] = 1;
  t->skin_joints[1] = 2;
  t->skin = (sn_gltf_skin){"bones", t->skin_joints, t->inverse_bind, 2};
  fill_tube_clip(t);
  t->gltf = (sn_gltf){.meshes = t->meshes,
                      .mesh_count = 2,
                      .nodes = t->nodes,
                      .node_count = 4,
                      .skins = &t->skin,
                      .skin_count = 1,
                      .clips = &t->clip,
                      .clip_count = 1};
  return &t->gltf;
}

#endif
