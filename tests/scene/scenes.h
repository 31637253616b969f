// Scenes for tests: written into the scratch folder, loaded, run.
#ifndef SN_TESTS_SCENE_SCENES_H
#define SN_TESTS_SCENE_SCENES_H

#include <math.h>

#include "io/scratch.h"
#include "sinew/sn.h"

// The box from (0, 0, 0) to (x, y, z) as six quads; vertex 7 is the far corner.
static inline void write_box(const char* name, double x, double y, double z) {
  char text[1024];
  int length = 0;
  for (int c = 0; c < 8; ++c) {
    length += snprintf(text + length, sizeof text - (size_t)length, "v %.17g %.17g %.17g\n",
                       c & 1 ? x : 0, c & 2 ? y : 0, c & 4 ? z : 0);
  }
  length += snprintf(text + length, sizeof text - (size_t)length,
                     "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
  scratch_write(name, text, (size_t)length);
}

typedef struct loaded {
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
} loaded;

static inline void assert_ok(sn_status status, const sn_error* err) {
  if (status != SN_OK) fail_msg("status %d: %s", (int)status, err->text);
}

static inline void assert_near(double value, double expected, double margin) {
  if (!(fabs(value - expected) <= margin)) {
    fail_msg("%.12g is not within %.3g of %.12g", value, margin, expected);
  }
}

static inline loaded load_scene(const char* text, int threads) {
  loaded l = {0};
  sn_error err = {0};
  const char* path = scratch_write("scene.json", text, strlen(text));
  assert_ok(sn_scene_load(path, NULL, 0, &l.scene, &err), &err);
  assert_ok(sn_pool_create(threads, &l.pool, &err), &err);
  assert_ok(sn_model_build(l.scene, l.pool, &l.model, &err), &err);
  assert_ok(sn_state_create(l.model, l.pool, &l.state, &err), &err);
  return l;
}

static inline void unload(loaded* l) {
  sn_state_destroy(l->state);
  sn_model_destroy(l->model);
  sn_pool_destroy(l->pool);
  sn_scene_destroy(l->scene);
  *l = (loaded){0};
}

static inline sn_frame_stats step(loaded* l, int frame) {
  sn_error err = {0};
  sn_frame_stats stats;
  assert_ok(sn_step(l->model, l->state, frame, &stats, &err), &err);
  return stats;
}

// All frames that are left of a run, then unload. Returns how many contacts all of them had.
static inline uint64_t run_all(loaded l, sn_run_opts opts) {
  sn_error err = {0};
  uint64_t contacts = 0;
  sn_run* run;
  assert_ok(sn_run_open(&opts, l.model, l.scene, l.state, &run, &err), &err);
  for (int frame = sn_run_next_frame(run); frame <= opts.last_frame; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    assert_ok(sn_run_append(run, l.model, l.state, &stats, &err), &err);
    contacts += stats.contacts;
  }
  assert_ok(sn_run_finish(run, SN_OK, "", &err), &err);
  sn_run_close(run);
  unload(&l);
  return contacts;
}

// @param a, b names in the scratch folder
static inline void assert_same_file(const char* a, const char* b) {
  size_t a_size, b_size;
  char *a_bytes = read_everything(scratch_path(a), &a_size),
       *b_bytes = read_everything(scratch_path(b), &b_size);
  assert_int_equal(a_size, b_size);
  assert_memory_equal(a_bytes, b_bytes, a_size);
  free(a_bytes);
  free(b_bytes);
}

// Surface of the first body; valid until the next call. (3 x vertex_count)
static inline const float* surface(const loaded* l) {
  static float positions[3 * 4096];
  assert_true(sn_model_surface_count(l->model, 0) <= 4096);
  sn_surface_extract(l->model, l->state, 0, positions);
  return positions;
}

#endif
