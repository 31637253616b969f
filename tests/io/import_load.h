// What the tests of foreign formats share: characters from small files, whole and changed.
#ifndef SN_TESTS_IO_IMPORT_LOAD_H
#define SN_TESTS_IO_IMPORT_LOAD_H

#include "io/gltf_made.h"
#include "io/import_made.h"

static inline sn_gltf load_well(const char* path) {
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_character_load(path, &gltf, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_gltf_check(&gltf, &err) != SN_OK) fail_msg("%s", err.text);
  for (uint32_t m = 0; m < gltf.mesh_count; ++m)
    assert_true(sn_mesh_is_valid(&gltf.meshes[m].mesh));
  return gltf;
}

static inline uint32_t find_node(const sn_gltf* gltf, const char* name) {
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    if (strcmp(gltf->nodes[n].name, name) == 0) return n;
  }
  fail_msg("no node %s", name);
  return 0;
}

// All vertices at a time of a clip. The caller frees.
static inline double* pose_at(const sn_gltf* gltf, int32_t clip, double time) {
  size_t count = 0;
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    int32_t mesh = gltf->nodes[n].mesh;
    if (mesh >= 0) count += gltf->meshes[mesh].mesh.vertex_count;
  }
  double* world = malloc(16 * gltf->node_count * sizeof *world);
  double* positions = malloc(3 * (count + 1) * sizeof *positions);
  assert_true(world && positions);
  sn_gltf_pose(gltf, clip, time, world);
  sn_character_pose(gltf, world, positions);
  free(world);
  return positions;
}

static inline void assert_at(const double* p, double x, double y, double z, double tolerance) {
  if (!(fabs(p[0] - x) <= tolerance && fabs(p[1] - y) <= tolerance &&
        fabs(p[2] - z) <= tolerance)) {
    fail_msg("(%g, %g, %g), expected (%g, %g, %g)", p[0], p[1], p[2], x, y, z);
  }
}

// A text with one part of it replaced. The caller frees.
static inline char* with_text(const char* text, const char* old, const char* new) {
  const char* at = strstr(text, old);
  if (!at) fail_msg("no %s", old);
  size_t size = strlen(text) + strlen(new) + 1;
  char* changed = malloc(size);
  assert_non_null(changed);
  snprintf(changed, size, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  return changed;
}

static inline void assert_refused(const char* name, const char* text, const char* part) {
  size_t used = sn_memory_used();
  sn_gltf gltf;
  sn_error err = {0};
  const char* path = scratch_write(name, text, strlen(text));
  sn_status status = sn_character_load(path, &gltf, &err);
  if (status != SN_ERR_INPUT) fail_msg("status %d (%s), expected '%s'", status, err.text, part);
  assert_message_has(&err, name);
  assert_message_has(&err, part);
  assert_message_has(&err, "expected");
  assert_null(strchr(err.text, '\n'));
  assert_null(gltf.storage);
  assert_int_equal(sn_memory_used(), used);
}

#endif
