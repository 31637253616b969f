// Where the nodes of a glTF document are at a time, and the vertices that follow them.
#include <string.h>

#include "base/status.h"
#include "math/affine.h"
#include "sinew/gltf.h"

// Key frames

// The last key at or before `time`, which is not before the first one.
static uint32_t find_key(const sn_gltf_channel* channel, double time) {
  uint32_t low = 0, high = channel->key_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    *((double)channel->times[middle] <= time ? &low : &high) = middle;
  }
  return low;
}

// Entry `part` of a key: of a cubic one 0 is the tangent that comes in, 1 the value and 2 the
// tangent that goes out.
static const float* key_values(const sn_gltf_channel* channel, uint32_t key, int part) {
  size_t width = channel->path == SN_GLTF_ROTATE ? 4 : 3;
  bool cubic = channel->interpolation == SN_GLTF_CUBIC;
  return channel->values + (cubic ? 3 * (size_t)key + (size_t)part : key) * width;
}

static sn_quat normalised(const double v[4]) {
  sn_quat q = {v[0], v[1], v[2], v[3]};
  return sn_quat_dot(q, q) > 1e-30 ? sn_quat_normalise(q) : sn_quat_identity();
}

static sn_quat key_rotation(const sn_gltf_channel* channel, uint32_t key) {
  const float* v = key_values(channel, key, 1);
  return normalised((double[4]){(double)v[0], (double)v[1], (double)v[2], (double)v[3]});
}

// Hermite spline over u = 0..1 between two keys that are `span` seconds apart:
//   (2u^3 - 3u^2 + 1) v0 + (u^3 - 2u^2 + u) span out0 + (3u^2 - 2u^3) v1 + (u^3 - u^2) span in1
static void mix_cubic(const sn_gltf_channel* channel, uint32_t key, double u, double span,
                      int width, double* values) {
  const float *v0 = key_values(channel, key, 1), *out0 = key_values(channel, key, 2);
  const float *in1 = key_values(channel, key + 1, 0), *v1 = key_values(channel, key + 1, 1);
  double u2 = u * u, u3 = u2 * u;
  for (int i = 0; i < width; ++i) {
    values[i] = (2.0 * u3 - 3.0 * u2 + 1.0) * (double)v0[i] +
                (u3 - 2.0 * u2 + u) * span * (double)out0[i] +
                (3.0 * u2 - 2.0 * u3) * (double)v1[i] + (u3 - u2) * span * (double)in1[i];
  }
}

// @param values 3, or 4 of unit length for a rotation
static void sample_channel(const sn_gltf_channel* channel, double time, double* values) {
  bool rotates = channel->path == SN_GLTF_ROTATE;
  int width = rotates ? 4 : 3;
  uint32_t key = time > (double)channel->times[0] ? find_key(channel, time) : 0;
  const float* held = key_values(channel, key, 1);
  for (int i = 0; i < width; ++i) values[i] = (double)held[i];
  double start = (double)channel->times[key];
  if (channel->interpolation != SN_GLTF_STEP && time > start && key + 1 < channel->key_count) {
    double span = (double)channel->times[key + 1] - start, u = (time - start) / span;
    if (channel->interpolation == SN_GLTF_CUBIC) {
      mix_cubic(channel, key, u, span, width, values);
    } else if (rotates) {
      sn_quat q = sn_quat_slerp(key_rotation(channel, key), key_rotation(channel, key + 1), u);
      memcpy(values, &q, sizeof q);
    } else {
      const float* next = key_values(channel, key + 1, 1);
      for (int i = 0; i < width; ++i) values[i] += u * ((double)next[i] - values[i]);
    }
  }
  if (rotates) {
    sn_quat q = normalised(values);
    memcpy(values, &q, sizeof q);
  }
}

// The parts of a node's transform wait in the room of its result until the parents are done.
typedef struct node_parts {
  double translate[3], rotate[4], scale[3];
} node_parts;

_Static_assert(sizeof(node_parts) <= 16 * sizeof(double), "the parts must fit into a matrix");

static void place_node(const sn_gltf_node* node, const double* world_of_all, double* world) {
  double local[16];
  memcpy(local, node->matrix, sizeof local);
  if (!node->has_matrix) {
    node_parts parts;
    memcpy(&parts, world, sizeof parts);
    const double* q = parts.rotate;
    sn_affine_compose(sn_load3(parts.translate), (sn_quat){q[0], q[1], q[2], q[3]},
                      sn_load3(parts.scale), local);
  }
  if (node->parent >= 0) {
    sn_affine_multiply(world_of_all + 16 * (size_t)node->parent, local, world);
  } else {
    memcpy(world, local, sizeof local);
  }
}

void sn_gltf_pose(const sn_gltf* gltf, int32_t clip, double time, double* world) {
  SN_ASSERT(clip < 0 || (uint32_t)clip < gltf->clip_count);
  SN_ASSERT(gltf->node_count == 0 || gltf->order);
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    const sn_gltf_node* node = &gltf->nodes[n];
    node_parts parts;
    sn_store3(parts.translate, node->translate);
    memcpy(parts.rotate, &node->rotate, sizeof parts.rotate);
    sn_store3(parts.scale, node->scale);
    memcpy(world + 16 * (size_t)n, &parts, sizeof parts);
  }
  uint32_t channel_count = clip < 0 ? 0 : gltf->clips[clip].channel_count;
  for (uint32_t c = 0; c < channel_count; ++c) {
    const sn_gltf_channel* channel = &gltf->clips[clip].channels[c];
    double* parts = world + 16 * (size_t)channel->node;
    size_t part = channel->path == SN_GLTF_TRANSLATE ? offsetof(node_parts, translate)
                  : channel->path == SN_GLTF_ROTATE  ? offsetof(node_parts, rotate)
                                                     : offsetof(node_parts, scale);
    sample_channel(channel, time, parts + part / sizeof(double));
  }
  for (uint32_t i = 0; i < gltf->node_count; ++i) {
    uint32_t n = gltf->order[i];
    place_node(&gltf->nodes[n], world, world + 16 * (size_t)n);
  }
}

// Skinning: the sum over joints of  weight  world  inverse bind  position.
static sn_vec3 skin_vertex(const sn_gltf_mesh* mesh, const sn_gltf_skin* skin, const double* world,
                           size_t vertex) {
  sn_vec3 rest = sn_load3(mesh->mesh.positions + 3 * vertex), sum = {0, 0, 0};
  size_t first = vertex * (size_t)mesh->influence_count;
  for (int i = 0; i < mesh->influence_count; ++i) {
    double weight = (double)mesh->weights[first + (size_t)i];
    if (weight == 0.0) continue;
    size_t joint = mesh->joints[first + (size_t)i];
    sn_vec3 in_joint = sn_affine_apply(skin->inverse_bind + 16 * joint, rest);
    const double* moved = world + 16 * (size_t)skin->joints[joint];
    sum = sn_madd(sum, weight, sn_affine_apply(moved, in_joint));
  }
  return sum;
}

void sn_gltf_skin_vertices(const sn_gltf* gltf, uint32_t node_index, const double* world,
                           double* positions) {
  SN_ASSERT(node_index < gltf->node_count && gltf->nodes[node_index].mesh >= 0);
  const sn_gltf_node* node = &gltf->nodes[node_index];
  const sn_gltf_mesh* mesh = &gltf->meshes[node->mesh];
  bool skinned = node->skin >= 0 && mesh->influence_count > 0;
  for (size_t v = 0; v < mesh->mesh.vertex_count; ++v) {
    sn_vec3 rest = sn_load3(mesh->mesh.positions + 3 * v);
    sn_vec3 now = skinned ? skin_vertex(mesh, &gltf->skins[node->skin], world, v)
                          : sn_affine_apply(world + 16 * (size_t)node_index, rest);
    sn_store3(positions + 3 * v, now);
  }
}
