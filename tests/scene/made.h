// A model of one body of a mesh in memory, without files. What it points to lies in the struct, so it must
// not move once built.
#ifndef SN_TESTS_SCENE_MADE_H
#define SN_TESTS_SCENE_MADE_H

#include "scene/model.h"
#include "scene/scenes.h"
#include "shapes.h"

#define MADE_PARTS 6

typedef struct made {
  sn_body_desc body;
  sn_fixed_desc fixed[MADE_PARTS];
  sn_keyframe keys[4];
  sn_force_desc forces[MADE_PARTS];
  sn_load_key loads[MADE_PARTS][2];
  sn_scene scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
} made;

static inline double lame_mu(double young, double poisson) { return young / (2 * (1 + poisson)); }

static inline double lame_lambda(double young, double poisson) {
  return young * poisson / ((1 + poisson) * (1 - 2 * poisson));
}

static inline made made_of(sn_mesh mesh, double cell, sn_material material) {
  return (made){.body = {.name = (char*)"body",
                         .surface = (char*)"body",
                         .mesh = mesh,
                         .cell = cell,
                         .quadrature = 1,
                         .material = material,
                         .density = 1000,
                         .initial = {.rotate = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                         .scramble = {.amount = 1, .seed = 1}},
                .scene = {.unit = 1,
                          .up = SN_UP_Y,
                          .fps = 24,
                          .first_frame = 1,
                          .last_frame = 1000,
                          .substeps = 1,
                          .max_substeps = 1,
                          .mode = SN_MODE_QUASISTATIC,
                          .contact = {.stiffness = 500, .friction = 0.3},
                          .solver = {.linear = SN_LINEAR_MULTIGRID,
                                     .newton_max = 60,
                                     .newton_tolerance = 1e-3,
                                     .krylov_tolerance = 1e-2,
                                     .multigrid = {.degree = 3}}}};
}

static inline sn_fixed_desc* made_hold(made* m, sn_vec3 lo, sn_vec3 hi) {
  assert_true(m->scene.fixed_count < MADE_PARTS);
  sn_fixed_desc* fixed = &m->fixed[m->scene.fixed_count++];
  *fixed = (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}};
  return fixed;
}

static inline void made_build(made* m) {
  sn_error err = {0};
  m->scene.bodies = &m->body;
  m->scene.body_count = 1;
  m->scene.fixed = m->fixed;
  if (!m->scene.forces) m->scene.forces = m->forces;
  assert_ok(sn_pool_create(2, &m->pool, &err), &err);
  assert_ok(sn_model_build(&m->scene, m->pool, &m->model, &err), &err);
  assert_ok(sn_state_create(m->model, m->pool, &m->state, &err), &err);
}

static inline void made_destroy(made* m) {
  sn_state_destroy(m->state);
  sn_model_destroy(m->model);
  sn_pool_destroy(m->pool);
  sn_mesh_destroy(&m->body.mesh);
}

static inline sn_frame_stats made_step(made* m, int frame) {
  sn_error err = {0};
  sn_frame_stats stats;
  assert_ok(sn_step(m->model, m->state, frame, &stats, &err), &err);
  return stats;
}

#endif
