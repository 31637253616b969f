// hello: drops a soft cube on the ground, and prints how high it is in every frame.
#include <sinew/sn.h>
#include <stdio.h>
#include <string.h>

// A cube of 20 cm, half a metre above the ground.
static const double CORNERS[] = {0, 0.5, 0,   0.2, 0.5, 0,   0, 0.7, 0,   0.2, 0.7, 0,
                                 0, 0.5, 0.2, 0.2, 0.5, 0.2, 0, 0.7, 0.2, 0.2, 0.7, 0.2};
static const uint32_t TRIANGLES[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                     2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
static const char SCENE[] =
    "{\"frames\": [1, 24], \"colliders\": [{\"shape\": \"plane\"}],"
    " \"bodies\": [{\"surface\": \"memory:cube\", \"cell\": 0.02, \"material\": \"fat\"}]}";

int main(void) {
  sn_error err = {0};
  sn_scene* scene = NULL;  // what the text says, every default filled in
  sn_pool* pool = NULL;    // threads; 0 = one a processor
  sn_model* model = NULL;  // built from the scene, then const
  sn_state* state = NULL;  // all that changes from frame to frame
  sn_scene_mesh cube = {"cube", CORNERS, 8, TRIANGLES, 12};
  sn_scene_source source = {
      .json = SCENE, .length = strlen(SCENE), .meshes = &cube, .mesh_count = 1};
  sn_status status = sn_scene_parse(&source, NULL, 0, &scene, &err);
  if (status == SN_OK) status = sn_pool_create(0, &pool, &err);
  if (status == SN_OK) status = sn_model_build(scene, pool, &model, &err);
  if (status == SN_OK) status = sn_state_create(model, pool, &state, &err);
  for (int frame = 1; status == SN_OK && frame <= 24; ++frame) {
    sn_frame_stats stats;
    float positions[8][3];
    status = sn_step(model, state, frame, &stats, &err);
    sn_surface_extract(model, state, 0, positions[0]);
    if (status == SN_OK) printf("frame %2d: top at %.3f m\n", frame, positions[7][1]);
  }
  if (status != SN_OK) fprintf(stderr, "hello: %s\n", err.text);

  // In the reverse order; NULL is fine everywhere.
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  sn_scene_destroy(scene);
  return (int)status;
}
