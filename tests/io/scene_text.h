// Scenes written into the scratch folder and read back.
#ifndef SN_TESTS_IO_SCENE_TEXT_H
#define SN_TESTS_IO_SCENE_TEXT_H

#include "io/scratch.h"
#include "sinew/scene.h"

static inline sn_status load_text(const char* text, sn_scene** scene, sn_error* err) {
  const char* path = scratch_write("scene.json", text, strlen(text));
  *err = (sn_error){0};
  return sn_scene_load(path, NULL, 0, scene, err);
}

static inline sn_scene* load_well(const char* text) {
  sn_scene* scene;
  sn_error err;
  if (load_text(text, &scene, &err) != SN_OK) fail_msg("%s", err.text);
  return scene;
}

static inline void assert_refused(const char* text, const char* part) {
  sn_scene* scene;
  sn_error err;
  sn_status status = load_text(text, &scene, &err);
  if (status != SN_ERR_INPUT) fail_msg("status %d (%s) for %s", status, err.text, text);
  assert_int_equal(err.status, SN_ERR_INPUT);
  assert_null(scene);
  assert_message_has(&err, part);
  assert_message_has(&err, "/scene.json:");
  assert_null(strchr(err.text, '\n'));
  assert_int_equal(sn_memory_used(), 0);
}

static inline void assert_vector(sn_vec3 v, double x, double y, double z) {
  assert_true(v.x == x && v.y == y && v.z == z);
}

#endif
