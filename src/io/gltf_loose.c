// Vertices of skinned meshes to which no joint was given: the nearest one has them.
#include <math.h>

#include "io/gltf.h"
#include "math/affine.h"

static bool is_loose(const sn_gltf_mesh* mesh, size_t vertex) {
  size_t width = (size_t)mesh->influence_count;
  for (size_t i = 0; i < width; ++i) {
    if (mesh->weights[vertex * width + i] > 0.0f) return false;
  }
  return true;
}

// Where the joints of a skin are in the coordinates of its meshes. One whose matrix says nothing is nowhere.
static void place_joints(const sn_gltf_skin* skin, sn_vec3* places) {
  for (uint32_t j = 0; j < skin->joint_count; ++j) {
    double bound[16];
    bool known = sn_affine_invert(skin->inverse_bind + 16 * (size_t)j, bound);
    places[j] = known ? sn_affine_origin(bound) : sn_v3(INFINITY, INFINITY, INFINITY);
  }
}

static uint32_t nearest_joint(const sn_vec3* places, uint32_t count, sn_vec3 p) {
  uint32_t nearest = 0;
  for (uint32_t j = 1; j < count; ++j) {
    if (sn_distance(places[j], p) < sn_distance(places[nearest], p)) nearest = j;
  }
  return nearest;
}

static void tie_vertices(const sn_vec3* places, uint32_t count, sn_gltf_mesh* mesh) {
  for (size_t v = 0; v < mesh->mesh.vertex_count; ++v) {
    if (!is_loose(mesh, v)) continue;
    size_t first = v * (size_t)mesh->influence_count;
    sn_vec3 place = sn_load3(mesh->mesh.positions + 3 * v);
    mesh->joints[first] = (uint16_t)nearest_joint(places, count, place);
    mesh->weights[first] = 1.0f;
  }
}

sn_status sn_gltf_tie_loose(sn_gltf* gltf, sn_arena* scratch, sn_error* err) {
  static const sn_vec3 nowhere = {0, 0, 0};
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    const sn_gltf_node* node = &gltf->nodes[n];
    if (node->mesh < 0 || node->skin < 0 || gltf->meshes[node->mesh].influence_count == 0) continue;
    const sn_gltf_skin* skin = &gltf->skins[node->skin];
    sn_vec3* places;
    SN_TRY(SN_ARENA_RAW(scratch, skin->joint_count, &places, err));
    place_joints(skin, places);
    tie_vertices(places, skin->joint_count, &gltf->meshes[node->mesh]);
  }
  // A mesh that no node shows with a skin: its first joint, so that weights sum to 1.
  for (uint32_t m = 0; m < gltf->mesh_count; ++m) {
    if (gltf->meshes[m].influence_count > 0) tie_vertices(&nowhere, 1, &gltf->meshes[m]);
  }
  return SN_OK;
}
