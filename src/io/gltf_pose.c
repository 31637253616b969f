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

// The skin that ties something to a node, by its joint; false if none does.
static bool find_tie(const sn_gltf* gltf, uint32_t node, uint32_t* skin, uint32_t* joint) {
  for (*skin = 0; *skin < gltf->skin_count; ++*skin) {
    const sn_gltf_skin* s = &gltf->skins[*skin];
    for (*joint = 0; *joint < s->joint_count; ++*joint) {
      if (s->joints[*joint] == node) return true;
    }
  }
  return false;
}

// Do the joints say where they are? Identities alone, which is what a skin without matrices has, do not.
static bool skin_has_places(const sn_gltf_skin* skin) {
  for (uint32_t j = 1; j < skin->joint_count; ++j) {
    if (memcmp(skin->inverse_bind, skin->inverse_bind + 16 * (size_t)j, sizeof(double[16])) != 0) {
      return true;
    }
  }
  return skin->joint_count == 1;
}

// From the coordinates of a skin's meshes to those of the world, as its topmost joint is in `world`.
static void find_placement(const sn_gltf* gltf, const sn_gltf_skin* skin, const double* world,
                           double placement[16]) {
  for (uint32_t i = 0; i < gltf->node_count; ++i) {
    for (uint32_t j = 0; j < skin->joint_count; ++j) {
      if (skin->joints[j] != gltf->order[i]) continue;
      sn_affine_multiply(world + 16 * (size_t)skin->joints[j], skin->inverse_bind + 16 * (size_t)j,
                         placement);
      return;
    }
  }
  sn_affine_identity(placement);
}

void sn_gltf_bind_pose(const sn_gltf* gltf, double* world) {
  sn_gltf_pose(gltf, -1, 0.0, world);
  // A parent's bind pose is known before its children ask for it; the placement of a skin is that of
  // its topmost joint before any of them moved.
  for (uint32_t i = 0; i < gltf->node_count; ++i) {
    uint32_t n = gltf->order[i], skin, joint;
    double local[16], bound[16], placement[16];
    const sn_gltf_node* node = &gltf->nodes[n];
    if (find_tie(gltf, n, &skin, &joint) && skin_has_places(&gltf->skins[skin]) &&
        sn_affine_invert(gltf->skins[skin].inverse_bind + 16 * (size_t)joint, bound)) {
      find_placement(gltf, &gltf->skins[skin], world, placement);
      sn_affine_multiply(placement, bound, world + 16 * (size_t)n);
      continue;
    }
    if (node->parent < 0) continue;
    memcpy(local, node->matrix, sizeof local);
    if (!node->has_matrix) sn_affine_compose(node->translate, node->rotate, node->scale, local);
    sn_affine_multiply(world + 16 * (size_t)node->parent, local, world + 16 * (size_t)n);
  }
}

// Morph targets

// The channel of a clip that weighs the morph targets of a node, or NULL.
static const sn_gltf_channel* find_morphs(const sn_gltf* gltf, int32_t clip, uint32_t node) {
  for (uint32_t c = 0; clip >= 0 && c < gltf->clips[clip].morph_count; ++c) {
    if (gltf->clips[clip].morphs[c].node == node) return &gltf->clips[clip].morphs[c];
  }
  return NULL;
}

// Weight of one target; keys of a channel hold `width` of them, cubic ones three times as many.
static double sample_weight(const sn_gltf_channel* channel, uint32_t width, uint32_t target,
                            double time) {
  bool cubic = channel->interpolation == SN_GLTF_CUBIC;
  uint32_t key = time > (double)channel->times[0] ? find_key(channel, time) : 0;
  const float* at = channel->values + (cubic ? 3 * (size_t)key + 1 : key) * width + target;
  double start = (double)channel->times[key], held = (double)at[0];
  if (channel->interpolation == SN_GLTF_STEP || !(time > start) || key + 1 >= channel->key_count) {
    return held;
  }
  double span = (double)channel->times[key + 1] - start, u = (time - start) / span;
  if (!cubic) return held + u * ((double)at[width] - held);
  double u2 = u * u, u3 = u2 * u, out = (double)at[width], in = (double)at[2 * (size_t)width];
  return (2.0 * u3 - 3.0 * u2 + 1.0) * held + (u3 - 2.0 * u2 + u) * span * out +
         (3.0 * u2 - 2.0 * u3) * (double)at[3 * (size_t)width] + (u3 - u2) * span * in;
}

// The vertices of a node's mesh before it is skinned.
static void morph_mesh(const sn_gltf* gltf, uint32_t node, int32_t clip, double time,
                       double* positions) {
  const sn_gltf_mesh* mesh = &gltf->meshes[gltf->nodes[node].mesh];
  const float* given = gltf->nodes[node].morph_weights;
  const float* rest = given ? given : mesh->morph_weights;
  const sn_gltf_channel* channel = find_morphs(gltf, clip, node);
  size_t count = 3 * (size_t)mesh->mesh.vertex_count;
  memcpy(positions, mesh->mesh.positions, count * sizeof *positions);
  for (uint32_t k = 0; k < mesh->morph_count; ++k) {
    double weight = channel ? sample_weight(channel, mesh->morph_count, k, time)
                    : rest  ? (double)rest[k]
                            : 0.0;
    const float* move = mesh->morphs + k * count;
    for (size_t i = 0; i < count && weight != 0.0; ++i) positions[i] += weight * (double)move[i];
  }
}

// Skinning: the sum over joints of  weight  world  inverse bind  position.
static sn_vec3 skin_vertex(const sn_gltf_mesh* mesh, const sn_gltf_skin* skin, const double* world,
                           size_t vertex, sn_vec3 rest) {
  sn_vec3 sum = {0, 0, 0};
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

void sn_gltf_skin_vertices(const sn_gltf* gltf, uint32_t node, const double* world,
                           double* positions) {
  sn_gltf_morph_vertices(gltf, node, -1, 0, world, positions);
}

void sn_gltf_morph_vertices(const sn_gltf* gltf, uint32_t node_index, int32_t clip, double time,
                            const double* world, double* positions) {
  SN_ASSERT(node_index < gltf->node_count && gltf->nodes[node_index].mesh >= 0);
  const sn_gltf_node* node = &gltf->nodes[node_index];
  const sn_gltf_mesh* mesh = &gltf->meshes[node->mesh];
  bool skinned = node->skin >= 0 && mesh->influence_count > 0;
  morph_mesh(gltf, node_index, clip, time, positions);
  for (size_t v = 0; v < mesh->mesh.vertex_count; ++v) {
    sn_vec3 rest = sn_load3(positions + 3 * v);
    sn_vec3 now = skinned ? skin_vertex(mesh, &gltf->skins[node->skin], world, v, rest)
                          : sn_affine_apply(world + 16 * (size_t)node_index, rest);
    sn_store3(positions + 3 * v, now);
  }
}
