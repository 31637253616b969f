// What gltf.h promises of a document, and what a file can hold. A document that was read passes; one
// that a program has put together may not.
#include <float.h>
#include <math.h>
#include <string.h>

#include "io/gltf.h"
#include "math/quat.h"

// Finite, and not too large for a float.
static bool numbers_fit(const double* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!(fabs(numbers[i]) <= (double)FLT_MAX)) return false;
  }
  return true;
}

static bool floats_fit(const float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(numbers[i])) return false;
  }
  return true;
}

static sn_status check_mesh(const sn_gltf_mesh* m, uint32_t index, sn_error* err) {
  const sn_mesh* mesh = &m->mesh;
  SN_CHECK(numbers_fit(mesh->positions, 3 * (size_t)mesh->vertex_count), err, SN_ERR_USAGE,
           "meshes[%u]: a position is not finite or too large for a float", index);
  for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; ++i) {
    SN_CHECK(mesh->triangles[i] < mesh->vertex_count, err, SN_ERR_USAGE,
             "meshes[%u]: corner %zu is vertex %u, expected one below %u", index, i,
             mesh->triangles[i], mesh->vertex_count);
  }
  SN_CHECK(m->influence_count >= 0, err, SN_ERR_USAGE, "meshes[%u]: %d joints a vertex", index,
           m->influence_count);
  for (size_t i = 0; i < (size_t)m->influence_count * mesh->vertex_count; ++i) {
    SN_CHECK(m->weights[i] >= 0.0f && isfinite(m->weights[i]), err, SN_ERR_USAGE,
             "meshes[%u]: weight %zu is %g, expected 0 or more", index, i, (double)m->weights[i]);
  }
  for (uint32_t k = 0; k < m->map_count; ++k) {
    const sn_gltf_map* map = &m->maps[k];
    SN_CHECK(map->name && map->name[0] == '_', err, SN_ERR_USAGE,
             "meshes[%u]: map %u is called \"%.60s\", expected a name that begins with '_'", index,
             k, map->name ? map->name : "");
    SN_CHECK(floats_fit(map->values, mesh->vertex_count), err, SN_ERR_USAGE,
             "meshes[%u]: map \"%.60s\" has a value that is not finite", index, map->name);
  }
  return SN_OK;
}

static sn_status check_skin(const sn_gltf* gltf, uint32_t index, sn_error* err) {
  const sn_gltf_skin* skin = &gltf->skins[index];
  SN_CHECK(skin->joint_count > 0 && skin->joint_count <= UINT16_MAX + 1, err, SN_ERR_USAGE,
           "skins[%u]: %u joints, expected 1 to 65536", index, skin->joint_count);
  for (uint32_t j = 0; j < skin->joint_count; ++j) {
    SN_CHECK(skin->joints[j] < gltf->node_count, err, SN_ERR_USAGE,
             "skins[%u]: joint %u is node %u, expected one below %u", index, j, skin->joints[j],
             gltf->node_count);
  }
  SN_CHECK(numbers_fit(skin->inverse_bind, 16 * (size_t)skin->joint_count), err, SN_ERR_USAGE,
           "skins[%u]: an inverse bind matrix is not finite", index);
  return SN_OK;
}

static sn_status check_node(const sn_gltf* gltf, uint32_t index, const uint32_t* joint_ends,
                            sn_error* err) {
  const sn_gltf_node* node = &gltf->nodes[index];
  SN_CHECK(node->parent >= -1 && node->parent < (int64_t)gltf->node_count && node->mesh >= -1 &&
               node->mesh < (int64_t)gltf->mesh_count && node->skin >= -1 &&
               node->skin < (int64_t)gltf->skin_count,
           err, SN_ERR_USAGE, "nodes[%u]: its parent, mesh or skin does not exist", index);
  double parts[] = {node->translate.x, node->translate.y, node->translate.z, node->rotate.x,
                    node->rotate.y,    node->rotate.z,    node->rotate.w,    node->scale.x,
                    node->scale.y,     node->scale.z};
  bool fits = node->has_matrix ? numbers_fit(node->matrix, 16)
                               : numbers_fit(parts, sizeof parts / sizeof *parts) &&
                                     fabs(sn_quat_length(node->rotate) - 1.0) < 1e-4;
  SN_CHECK(fits, err, SN_ERR_USAGE,
           "nodes[%u]: its transform is not finite, or its rotation not of length 1", index);
  if (node->mesh < 0 || node->skin < 0) return SN_OK;
  SN_CHECK(joint_ends[node->mesh] <= gltf->skins[node->skin].joint_count, err, SN_ERR_USAGE,
           "nodes[%u]: its mesh uses joint %u, its skin has %u", index, joint_ends[node->mesh] - 1,
           gltf->skins[node->skin].joint_count);
  return SN_OK;
}

static sn_status check_nodes(const sn_gltf* gltf, sn_arena* scratch, sn_error* err) {
  uint32_t* joint_ends;
  SN_TRY(sn_gltf_find_joint_ends(gltf, scratch, &joint_ends, err));
  for (uint32_t n = 0; n < gltf->node_count; ++n) SN_TRY(check_node(gltf, n, joint_ends, err));
  uint32_t *order, *work;
  SN_TRY(SN_ARENA_NEW(scratch, gltf->node_count, &order, err));
  SN_TRY(SN_ARENA_NEW(scratch, 2 * (size_t)gltf->node_count + 1, &work, err));
  SN_CHECK(sn_gltf_sort_nodes(gltf->nodes, gltf->node_count, order, work) == gltf->node_count, err,
           SN_ERR_USAGE, "nodes: one is its own ancestor, expected a tree");
  return SN_OK;
}

static sn_status check_channel(const sn_gltf* gltf, uint32_t clip, uint32_t index, sn_error* err) {
  const sn_gltf_channel* channel = &gltf->clips[clip].channels[index];
  SN_CHECK(channel->node < gltf->node_count && !gltf->nodes[channel->node].has_matrix, err,
           SN_ERR_USAGE, "clips[%u].channels[%u]: node %u does not exist or has a matrix", clip,
           index, channel->node);
  bool ascending = channel->key_count > 0 && channel->times[0] >= 0.0f;
  for (uint32_t k = 1; k < channel->key_count; ++k) {
    ascending = ascending && channel->times[k] > channel->times[k - 1];
  }
  ascending = ascending && isfinite(channel->times[channel->key_count - 1]);
  SN_CHECK(ascending, err, SN_ERR_USAGE,
           "clips[%u].channels[%u]: no keys, or times that do not ascend from 0", clip, index);
  size_t width = channel->path == SN_GLTF_ROTATE ? 4 : 3;
  size_t parts = channel->interpolation == SN_GLTF_CUBIC ? 3 : 1;
  SN_CHECK(floats_fit(channel->values, width * parts * channel->key_count), err, SN_ERR_USAGE,
           "clips[%u].channels[%u]: a value is not finite", clip, index);
  return SN_OK;
}

sn_status sn_gltf_find_joint_ends(const sn_gltf* gltf, sn_arena* scratch, uint32_t** joint_ends,
                                  sn_error* err) {
  SN_TRY(SN_ARENA_NEW(scratch, gltf->mesh_count, joint_ends, err));
  for (uint32_t m = 0; m < gltf->mesh_count; ++m) {
    const sn_gltf_mesh* mesh = &gltf->meshes[m];
    size_t count = (size_t)mesh->influence_count * mesh->mesh.vertex_count;
    for (size_t i = 0; i < count; ++i) {
      if (mesh->weights[i] > 0.0f && mesh->joints[i] >= (*joint_ends)[m]) {
        (*joint_ends)[m] = mesh->joints[i] + 1u;
      }
    }
  }
  return SN_OK;
}

sn_status sn_gltf_check(const sn_gltf* gltf, sn_error* err) {
  for (uint32_t m = 0; m < gltf->mesh_count; ++m) SN_TRY(check_mesh(&gltf->meshes[m], m, err));
  for (uint32_t s = 0; s < gltf->skin_count; ++s) SN_TRY(check_skin(gltf, s, err));
  sn_arena* scratch;
  SN_TRY(sn_arena_create(&scratch, err));
  sn_status status = check_nodes(gltf, scratch, err);
  sn_arena_destroy(scratch);
  for (uint32_t c = 0; c < gltf->clip_count && status == SN_OK; ++c) {
    for (uint32_t k = 0; k < gltf->clips[c].channel_count && status == SN_OK; ++k) {
      status = check_channel(gltf, c, k, err);
    }
  }
  return status;
}
