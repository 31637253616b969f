// gltf_files FOLDER [FILE...]: writes glTF files for a validator to look at: some made here, and each
// FILE read and written again. Uses public headers only.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/gltf_tube.h"

static int save(const char* folder, const char* name, const sn_gltf* gltf) {
  char path[1024];
  sn_error err = {0};
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (sn_gltf_save(path, gltf, &err) == SN_OK) return 0;
  fprintf(stderr, "%s: %s\n", path, err.text);
  return 1;
}

static int save_made(const char* folder) {
  static tube t;
  const sn_gltf* whole = make_tube(&t);
  const sn_gltf mesh_only = {.meshes = &t.meshes[1], .mesh_count = 1};
  const sn_gltf nodes_only = {.nodes = &t.nodes[1], .node_count = 1};
  const sn_gltf nothing = {0};
  return save(folder, "whole.glb", whole) + save(folder, "mesh.glb", &mesh_only) +
         save(folder, "nodes.glb", &nodes_only) + save(folder, "nothing.glb", &nothing);
}

static int save_again(const char* folder, const char* path) {
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_gltf_load(path, &gltf, &err) != SN_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  const char* slash = strrchr(path, '/');
  char name[512];
  snprintf(name, sizeof name, "again-%s.glb", slash ? slash + 1 : path);
  int failed = save(folder, name, &gltf);
  sn_gltf_destroy(&gltf);
  return failed;
}

int main(int count, char** words) {
  if (count < 2) return EXIT_FAILURE;
  int failed = save_made(words[1]);
  for (int i = 2; i < count; ++i) failed += save_again(words[1], words[i]);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
