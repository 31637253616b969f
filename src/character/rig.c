#include "character/rig.h"

#include <string.h>

#include "math/affine.h"
#include "math/vec.h"

typedef struct rig_work {
  const sn_gltf* character;
  int32_t clip;
  uint8_t* is_joint;   // of a skin (node_count)
  uint8_t* moves;      // the clip moves the node against its parent (node_count)
  uint32_t* joint_of;  // of each node, or SN_NO_JOINT (node_count)
} rig_work;

static void mark_nodes(rig_work* work) {
  const sn_gltf* c = work->character;
  for (uint32_t s = 0; s < c->skin_count; ++s) {
    for (uint32_t j = 0; j < c->skins[s].joint_count; ++j)
      work->is_joint[c->skins[s].joints[j]] = 1;
  }
  if (work->clip < 0) return;
  const sn_gltf_clip* clip = &c->clips[work->clip];
  for (uint32_t i = 0; i < clip->channel_count; ++i) work->moves[clip->channels[i].node] = 1;
}

// What a mesh without a skin moves with: the joint above its node, unless a node in between moves by itself.
static uint32_t find_carrier(const rig_work* work, uint32_t node) {
  for (uint32_t n = node;;) {
    if (work->is_joint[n] || work->moves[n]) return n;
    if (work->character->nodes[n].parent < 0) return node;
    n = (uint32_t)work->character->nodes[n].parent;
  }
}

static bool is_skinned(const sn_gltf* c, const sn_gltf_node* node) {
  return node->skin >= 0 && c->meshes[node->mesh].influence_count > 0;
}

// Influences of the vertices of one node, in nodes first. With `nodes` NULL they are only counted.
static size_t gather_influences(const rig_work* work, uint32_t n, uint32_t* starts, size_t count,
                                uint32_t* nodes, float* weights) {
  const sn_gltf* c = work->character;
  const sn_gltf_node* node = &c->nodes[n];
  const sn_gltf_mesh* mesh = &c->meshes[node->mesh];
  bool skinned = is_skinned(c, node);
  uint32_t carrier = skinned ? 0 : find_carrier(work, n);
  for (size_t v = 0; v < mesh->mesh.vertex_count; ++v) {
    if (nodes) starts[v] = (uint32_t)count;
    size_t width = skinned ? (size_t)mesh->influence_count : 1;
    for (size_t i = 0; i < width; ++i) {
      float weight = skinned ? mesh->weights[v * width + i] : 1.0f;
      if (!(weight > 0.0f)) continue;
      if (nodes) {
        nodes[count] = skinned ? c->skins[node->skin].joints[mesh->joints[v * width + i]] : carrier;
        weights[count] = weight;
      }
      count++;
    }
  }
  return count;
}

static sn_status fill_influences(const rig_work* work, sn_arena* arena, sn_rig* rig,
                                 sn_error* err) {
  const sn_gltf* c = work->character;
  size_t total = 0, count = 0, first_vertex = 0;
  for (uint32_t n = 0; n < c->node_count; ++n) {
    if (c->nodes[n].mesh >= 0) total = gather_influences(work, n, NULL, total, NULL, NULL);
  }
  SN_CHECK(total < UINT32_MAX, err, SN_ERR_INPUT,
           "found %zu weights of joints, expected less than 2^32", total);
  SN_TRY(SN_ARENA_RAW(arena, (size_t)rig->mesh.vertex_count + 1, &rig->starts, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)rig->mesh.vertex_count + 1, &rig->vertex_is_skinned, err));
  SN_TRY(SN_ARENA_RAW(arena, total, &rig->influence_joints, err));
  SN_TRY(SN_ARENA_RAW(arena, total, &rig->influence_weights, err));
  for (uint32_t n = 0; n < c->node_count; ++n) {
    if (c->nodes[n].mesh < 0) continue;
    count = gather_influences(work, n, rig->starts + first_vertex, count, rig->influence_joints,
                              rig->influence_weights);
    uint32_t vertex_count = c->meshes[c->nodes[n].mesh].mesh.vertex_count;
    bool skinned = is_skinned(c, &c->nodes[n]);
    memset(rig->vertex_is_skinned + first_vertex, skinned, vertex_count);
    first_vertex += vertex_count;
    rig->has_skin |= skinned && vertex_count > 0;
  }
  rig->starts[first_vertex] = (uint32_t)count;
  return SN_OK;
}

static uint32_t find_parent(const rig_work* work, uint32_t node) {
  const sn_gltf_node* nodes = work->character->nodes;
  for (int32_t n = nodes[node].parent; n >= 0; n = nodes[n].parent) {
    if (work->joint_of[n] != SN_NO_JOINT) return work->joint_of[n];
  }
  return SN_NO_JOINT;
}

// Number the nodes that weigh something, parents first, and rename the influences.
static sn_status number_joints(rig_work* work, sn_arena* arena, sn_rig* rig, sn_error* err) {
  const sn_gltf* c = work->character;
  size_t total = rig->starts[rig->mesh.vertex_count];
  for (size_t i = 0; i < total; ++i) work->joint_of[rig->influence_joints[i]] = 0;
  SN_TRY(SN_ARENA_NEW(arena, c->node_count, &rig->joints, err));
  for (uint32_t i = 0; i < c->node_count; ++i) {
    uint32_t n = c->order[i];
    if (work->joint_of[n] == SN_NO_JOINT) continue;
    work->joint_of[n] = rig->joint_count;
    rig->joints[rig->joint_count++] =
        (sn_rig_joint){n, find_parent(work, n), sn_affine_origin(rig->bind + 16 * (size_t)n)};
    for (int32_t a = (int32_t)n; a >= 0; a = c->nodes[a].parent) rig->moves |= work->moves[a];
  }
  for (size_t i = 0; i < total; ++i) {
    rig->influence_joints[i] = work->joint_of[rig->influence_joints[i]];
  }
  return SN_OK;
}

static sn_status measure_vertices(sn_arena* arena, sn_rig* rig, sn_error* err) {
  const sn_mesh* mesh = &rig->mesh;
  SN_TRY(SN_ARENA_NEW(arena, mesh->vertex_count, &rig->vertex_areas, err));
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* corner = mesh->triangles + 3 * t;
    sn_vec3 a = sn_load3(mesh->positions + 3 * (size_t)corner[0]);
    sn_vec3 ab = sn_sub(sn_load3(mesh->positions + 3 * (size_t)corner[1]), a);
    sn_vec3 ac = sn_sub(sn_load3(mesh->positions + 3 * (size_t)corner[2]), a);
    double area = 0.5 * sn_length(sn_cross(ab, ac));
    for (int k = 0; k < 3; ++k) rig->vertex_areas[corner[k]] += area / 3.0;
  }
  return SN_OK;
}

sn_status sn_rig_create(const sn_gltf* character, int32_t clip, sn_arena* arena, sn_arena* scratch,
                        sn_rig* rig, sn_error* err) {
  rig_work work = {.character = character, .clip = clip};
  *rig = (sn_rig){.character = character};
  SN_TRY(SN_ARENA_NEW(scratch, character->node_count, &work.is_joint, err));
  SN_TRY(SN_ARENA_NEW(scratch, character->node_count, &work.moves, err));
  SN_TRY(SN_ARENA_RAW(scratch, character->node_count, &work.joint_of, err));
  memset(work.joint_of, 0xff, character->node_count * sizeof *work.joint_of);
  SN_TRY(sn_character_join(character, &rig->mesh, err));
  SN_TRY(SN_ARENA_RAW(arena, 16 * (size_t)character->node_count, &rig->bind, err));
  sn_gltf_bind_pose(character, rig->bind);
  mark_nodes(&work);
  SN_TRY(fill_influences(&work, arena, rig, err));
  SN_TRY(number_joints(&work, arena, rig, err));
  return measure_vertices(arena, rig, err);
}

void sn_rig_destroy(sn_rig* rig) { sn_mesh_destroy(&rig->mesh); }

const char* sn_rig_joint_name(const sn_rig* rig, uint32_t joint) {
  return rig->character->nodes[rig->joints[joint].node].name;
}
