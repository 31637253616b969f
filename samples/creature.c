// creature OUTDIR: makes a soft little animal that walks, and a scene that simulates its flesh.
//
// Writes OUTDIR/creature.glb (surface, skeleton, weights, one round of a walk), OUTDIR/scene.json, in
// which bones inside the flesh follow the skeleton, OUTDIR/skinned.pc2, the same frames by plain
// skinning, and OUTDIR/muscle_*.obj, muscles of its legs. x points ahead, y up, z to its right; it stands on y = 0 and is about 1 m long.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "creature_file.h"
#include "creature_math.h"
#include "creature_muscles.h"
#include "creature_shape.h"
#include "sinew/io.h"

#define MAX_PATH 4096
#define CELL_COUNT 100000  // about as many cells shall the octree have
#define FIRST_FRAME 1
#define LAST_FRAME 24
#define FPS 24

static sn_status join_path(const char* folder, const char* name, char* path, sn_error* err) {
  int size = snprintf(path, MAX_PATH, "%s/%s", folder, name);
  if (size >= 0 && size < MAX_PATH) return SN_OK;
  *err = (sn_error){SN_ERR_USAGE, "the name of the folder is too long"};
  return SN_ERR_USAGE;
}

// Scene

static void write_bone(const rig_joint* joint, FILE* file) {
  sn_capsule c = rig_capsule(&joint->bone);
  fprintf(file,
          "    {\n      \"name\": \"%s\",\n"
          "      \"capsule\": {\"from\": [%.4f, %.4f, %.4f], \"to\": [%.4f, %.4f, %.4f], "
          "\"radius\": %g},\n"
          "      \"motion\": {\"from\": \"creature.glb\", \"node\": \"%s\"}\n    }",
          joint->name, c.from.x, c.from.y, c.from.z, c.to.x, c.to.y, c.to.z, c.radius, joint->name);
}

static void write_scene(const creature_rig* rig, double cell, FILE* file) {
  fprintf(
      file,
      "{\n  \"sinew\": 1,\n  \"mode\": \"quasistatic\",\n  \"fps\": %d,\n"
      "  \"frames\": [%d, %d],\n  \"solver\": {\"newton\": {\"max\": 20}},\n"
      "  \"bodies\": [\n    {\n      \"name\": \"creature\",\n"
      "      \"surface\": \"creature.glb#" CREATURE_MESH
      "\",\n      \"cell\": %.3g,\n"
      "      \"material\": {\"young\": 12000, \"poisson\": 0.47}\n    }\n  ],\n  \"bones\": [\n",
      FPS, FIRST_FRAME, LAST_FRAME, cell);
  for (int j = HIPS; j < JOINT_COUNT; ++j) {
    write_bone(&rig->joints[j], file);
    fprintf(file, j + 1 < JOINT_COUNT ? ",\n" : "\n");
  }
  fprintf(file, "  ],\n  \"attachments\": [\n");
  for (int j = HIPS; j < JOINT_COUNT; ++j) {
    fprintf(file, "    {\"bone\": \"%s\"}%s\n", rig->joints[j].name,
            j + 1 < JOINT_COUNT ? "," : "");
  }
  fprintf(file, "  ]\n}\n");
}

static sn_status save_scene(const char* path, const creature_rig* rig, double cell, sn_error* err) {
  FILE* file = fopen(path, "w");
  if (file) {
    write_scene(rig, cell, file);
    int failed = ferror(file);
    if (fclose(file) == 0 && !failed) return SN_OK;
  }
  err->status = SN_ERR_IO;
  snprintf(err->text, sizeof err->text, "%.900s: cannot be written: %s", path, strerror(errno));
  return SN_ERR_IO;
}

// Skinning

static sn_status append_frames(const sn_gltf* gltf, uint32_t mesh_node, sn_pc2* pc2,
                               sn_error* err) {
  size_t count = 3 * (size_t)gltf->meshes[gltf->nodes[mesh_node].mesh].mesh.vertex_count;
  double* world = malloc(sizeof(double[16]) * gltf->node_count);
  double* positions = malloc(sizeof *positions * count);
  float* stored = malloc(sizeof *stored * count);
  sn_status status = world && positions && stored ? SN_OK : SN_ERR_MEMORY;
  if (status != SN_OK) *err = (sn_error){status, "out of memory"};
  for (int frame = FIRST_FRAME; frame <= LAST_FRAME && status == SN_OK; ++frame) {
    sn_gltf_pose(gltf, 0, (double)(frame - FIRST_FRAME) / FPS, world);
    sn_gltf_skin_vertices(gltf, mesh_node, world, positions);
    for (size_t i = 0; i < count; ++i) stored[i] = (float)positions[i];
    status = sn_pc2_append(pc2, stored, err);
  }
  free(world);
  free(positions);
  free(stored);
  return status;
}

// Of the file as it is read, so that it is what any other program would make of it.
static sn_status save_skinned(const char* path, const char* character, sn_error* err) {
  sn_gltf gltf = {0};
  sn_pc2* pc2 = NULL;
  sn_status status = sn_gltf_load(character, &gltf, err);
  if (status == SN_OK) {
    uint32_t vertex_count = gltf.meshes[0].mesh.vertex_count;
    status = sn_pc2_open(path, vertex_count, FIRST_FRAME, 0, &pc2, err);
  }
  if (status == SN_OK) status = append_frames(&gltf, JOINT_COUNT, pc2, err);
  sn_pc2_close(pc2);
  sn_gltf_destroy(&gltf);
  return status;
}

static sn_status make_creature(const char* folder, sn_error* err) {
  char character[MAX_PATH], scene[MAX_PATH], skinned[MAX_PATH];
  sn_mesh mesh = {0};
  creature_rig rig;
  rig_create(&rig);
  sn_status status = join_path(folder, "creature.glb", character, err);
  if (status == SN_OK) status = join_path(folder, "scene.json", scene, err);
  if (status == SN_OK) status = join_path(folder, "skinned.pc2", skinned, err);
  if (status == SN_OK) status = shape_create(&mesh, err);
  if (status == SN_OK) status = file_save(character, &rig, &mesh, err);
  // A surface of area A cuts about 2.6 A / cell^2 cells; the inside and what is fine around the
  // bones bring it to 3.1.
  double cell = sqrt(3.1 * shape_area(&mesh) / CELL_COUNT);
  if (status == SN_OK) status = save_scene(scene, &rig, cell, err);
  if (status == SN_OK) status = save_skinned(skinned, character, err);
  if (status == SN_OK) status = muscles_save(folder, &rig, err);
  shape_destroy(&mesh);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: creature OUTDIR\n");
    return SN_ERR_USAGE;
  }
  sn_error err = {0};
  if (make_creature(argv[1], &err) != SN_OK) fprintf(stderr, "creature: %s\n", err.text);
  return err.status;
}
