// hello SCENE.json: simulates a scene, and prints where the last vertex of its first body goes.
#include <stdio.h>
#include <stdlib.h>

#include "sinew/sn.h"

// Solve every frame of the scene; leave the vertex of each on stdout, in the unit of the files.
static sn_status simulate(const sn_scene* scene, const sn_model* model, sn_state* state,
                          sn_error* err) {
  uint32_t vertex_count = sn_model_surface_count(model, 0);
  float* positions = malloc(3 * sizeof *positions * vertex_count);
  if (!positions) return SN_ERR_MEMORY;
  sn_status status = SN_OK;
  for (int frame = scene->first_frame; frame <= scene->last_frame; ++frame) {
    sn_frame_stats stats;
    status = sn_step(model, state, frame, &stats, err);
    if (status != SN_OK) break;
    sn_surface_extract(model, state, 0, positions);
    const float* last = positions + 3 * (size_t)(vertex_count - 1);
    printf("frame %d: %.6f %.6f %.6f%s\n", frame, last[0], last[1], last[2],
           stats.converged ? "" : "  (not converged)");
  }
  free(positions);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: hello SCENE.json\n");
    return SN_ERR_USAGE;
  }
  sn_error err = {0};
  sn_scene* scene = NULL;  // what the file says, every default filled in
  sn_pool* pool = NULL;    // threads; 0 = one a processor
  sn_model* model = NULL;  // built from the scene, then const
  sn_state* state = NULL;  // all that changes from frame to frame
  sn_status status = sn_scene_load(argv[1], NULL, 0, &scene, &err);
  if (status == SN_OK) status = sn_pool_create(0, &pool, &err);
  if (status == SN_OK) status = sn_model_build(scene, pool, &model, &err);
  if (status == SN_OK) status = sn_state_create(model, pool, &state, &err);
  if (status == SN_OK) status = simulate(scene, model, state, &err);
  if (status != SN_OK) fprintf(stderr, "hello: %s\n", err.text[0] ? err.text : "out of memory");

  // In the reverse order; NULL is fine everywhere.
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  sn_scene_destroy(scene);
  return status;
}
