// Multigrid as the solver of a model: iterations, symmetry, hard cases, the true residual.
#include <math.h>

#include "math/random.h"
#include "scene/model.h"
#include "scene/scenes.h"
#include "shapes.h"
#include "solve/vector.h"

// Cells a side of the largest bodies; fewer where sanitizers slow everything down.
#ifdef SN_SANITIZED
#define SN_TEST_LARGEST 32
#else
#define SN_TEST_LARGEST 128
#endif

// A model of a mesh without files. What it holds on to lies here.
typedef struct setup {
  sn_body_desc body;
  sn_fixed_desc fixed[8];
  sn_bone_desc bone;
  sn_attachment_desc attachment;
  sn_scene scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
} setup;

static void build(setup* s) {
  sn_error err = {0};
  s->scene.bodies = &s->body;
  s->scene.body_count = 1;
  s->scene.fixed = s->fixed;
  assert_ok(sn_pool_create(2, &s->pool, &err), &err);
  assert_ok(sn_model_build(&s->scene, s->pool, &s->model, &err), &err);
  assert_ok(sn_state_create(s->model, s->pool, &s->state, &err), &err);
}

static void destroy(setup* s) {
  sn_state_destroy(s->state);
  sn_model_destroy(s->model);
  sn_pool_destroy(s->pool);
  sn_mesh_destroy(&s->body.mesh);
}

static setup describe(sn_mesh mesh, double cell, double poisson) {
  double young = 1e4;
  setup s = {.body = {.name = (char*)"body",
                      .surface = (char*)"body",
                      .mesh = mesh,
                      .cell = cell,
                      .coarsen = -1,
                      .material = {.mu = young / (2 * (1 + poisson)),
                                   .lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson))},
                      .density = 1000,
                      .initial = {.rotate = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                      .scramble = {.seed = 1}},
             .scene = {.unit = 1,
                       .up = SN_UP_Y,
                       .fps = 24,
                       .first_frame = 1,
                       .last_frame = 1,
                       .substeps = 1,
                       .mode = SN_MODE_QUASISTATIC,
                       .solver = {.linear = SN_LINEAR_MULTIGRID,
                                  .newton_max = 10,
                                  .newton_tolerance = 1e-3,
                                  .krylov_tolerance = 1e-2,
                                  .multigrid = {.degree = 3}}}};
  return s;
}

static void hold(setup* s, sn_vec3 lo, sn_vec3 hi) {
  s->fixed[s->scene.fixed_count++] =
      (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}};
}

// The unit cube of n cells a side, its eight corner cells held.
static setup cube(int n, double poisson) {
  double h = 1.0 / n;
  setup s = describe(shape_unit_cube(), h, poisson);
  for (int c = 0; c < 8; ++c) {
    sn_vec3 lo = sn_v3(c & 1 ? 1 - h : 0, c & 2 ? 1 - h : 0, c & 4 ? 1 - h : 0);
    hold(&s, lo, sn_add(lo, sn_v3(h, h, h)));
  }
  return s;
}

static setup sphere(int n) {
  setup s = describe(shape_sphere(sn_v3(0, 0, 0), 1, 24), 2.0 / n, 0.3);
  hold(&s, sn_v3(-2, -2, -2), sn_v3(-0.8, 2, 2));
  return s;
}

static setup torus(int n) {
  setup s = describe(shape_torus(1, 0.25, 48), 2.5 / n, 0.3);
  hold(&s, sn_v3(-2, -2, -2), sn_v3(-1, 2, 2));
  return s;
}

// z = M^-1 r for random r and s: (s, M^-1 r) = (r, M^-1 s) and (r, M^-1 r) > 0, as well as single
// precision allows.
static void assert_symmetric_and_positive(setup* s) {
  size_t n = s->model->unknown_count;
  float *r = calloc(n, sizeof *r), *q = calloc(n, sizeof *q);
  float *z = calloc(n, sizeof *z), *w = calloc(n, sizeof *w);
  sn_preconditioner* m = &s->state->preconditioner;
  sn_random random = sn_random_seeded(3);
  for (int trial = 0; trial < 3; ++trial) {
    for (size_t i = 0; i < n; ++i) {
      r[i] = sn_is_held(s->model->held, i) ? 0 : (float)sn_random_symmetric(&random);
      q[i] = sn_is_held(s->model->held, i) ? 0 : (float)sn_random_symmetric(&random);
    }
    double told = m->apply(m->ctx, s->pool, r, z);
    m->apply(m->ctx, s->pool, q, w);
    double rz = sn_vector_dot_f(NULL, n, r, z), qw = sn_vector_dot_f(NULL, n, q, w);
    double qz = sn_vector_dot_f(NULL, n, q, z), rw = sn_vector_dot_f(NULL, n, r, w);
    assert_near(told, rz, 1e-6 * rz);
    assert_true(rz > 0 && qw > 0);
    assert_near(qz, rw, 1e-4 * sqrt(rz * qw));
  }
  free(r);
  free(q);
  free(z);
  free(w);
}

static int iterations(setup* s, const char* name) {
  sn_error err = {0};
  sn_study_result result;
  build(s);
  sn_study_opts opts = {
      .linear = SN_LINEAR_MULTIGRID, .max = 200, .tolerance = 1e-6, .amount = 0.1, .seed = 1};
  assert_ok(sn_state_study(s->model, s->state, &opts, &result, &err), &err);
  print_message("%-28s %7u cells, %d levels: %d iterations, residual %.2e\n", name,
                s->model->bodies[0].tree.cell_count, s->model->hierarchies[0].count,
                result.iterations, result.residual);
  assert_true(result.converged);
  assert_true(result.residual <= 1.1e-6);  // the study computes it anew
  assert_symmetric_and_positive(s);
  destroy(s);
  return result.iterations;
}

static void iterations_do_not_grow_with_size(void** unused) {
  (void)unused;
  static const struct {
    const char* name;
    int most;
  } BODIES[] = {{"cube", 24}, {"sphere", 17}, {"torus", 34}};
  for (int b = 0; b < 3; ++b) {
    int least = 1000, most = 0;
    for (int n = 32; n <= SN_TEST_LARGEST; n *= 2) {
      char name[32];
      setup s = b == 0 ? cube(n, 0.3) : b == 1 ? sphere(n) : torus(n);
      snprintf(name, sizeof name, "%s %d", BODIES[b].name, n);
      int count = iterations(&s, name);
      if (count < least) least = count;
      if (count > most) most = count;
    }
    assert_true(most <= BODIES[b].most);
    assert_true(most <= 1.25 * least);
  }
}

static void chebyshev_handles_near_incompressible_flesh(void** unused) {
  (void)unused;
  setup soft = cube(32, 0.45), hard = cube(32, 0.49);
  soft.scene.solver.multigrid.smoother = hard.scene.solver.multigrid.smoother =
      SN_SMOOTHER_CHEBYSHEV;
  assert_true(iterations(&soft, "nu 0.45, chebyshev") <= 20);
  assert_true(iterations(&hard, "nu 0.49, chebyshev") <= 30);
}

// Three planes of symmetry, and a face that is glued to what moves along its normal.
static void nodes_held_along_single_axes_converge(void** unused) {
  (void)unused;
  static const sn_held_axes AXES[] = {SN_HELD_X, SN_HELD_Y, SN_HELD_Z, SN_HELD_XY};
  static const sn_box FACES[] = {{{0, 0, 0}, {0, 1, 1}},
                                 {{0, 0, 0}, {1, 0, 1}},
                                 {{0, 0, 0}, {1, 1, 0}},
                                 {{0, 0, 1}, {1, 1, 1}}};
  for (int n = 16; n <= 32; n *= 2) {
    setup s = describe(shape_unit_cube(), 1.0 / n, 0.3);
    for (uint32_t k = 0; k < 4; ++k) {
      hold(&s, FACES[k].lo, FACES[k].hi);
      s.fixed[k].axes = AXES[k];
    }
    assert_true(iterations(&s, "held along single axes") <= 20);
  }
}

static void springs_of_any_stiffness_converge(void** unused) {
  (void)unused;
  for (double k = 1; k <= 1e6; k *= 10) {
    char name[32];
    setup s = describe(shape_unit_cube(), 1.0 / 32, 0.3);
    s.bone = (sn_bone_desc){.name = (char*)"bone",
                            .kind = SN_BONE_CAPSULE,
                            .capsule = {{0.3, 0.5, 0.5}, {0.7, 0.5, 0.5}, 0.12}};
    s.attachment = (sn_attachment_desc){.where = {.kind = SN_WHERE_INSIDE}, .stiffness = k};
    s.scene.bones = &s.bone;
    s.scene.bone_count = 1;
    s.scene.attachments = &s.attachment;
    s.scene.attachment_count = 1;
    snprintf(name, sizeof name, "springs of %g mu h", k);
    // The scene keeps pointers into the struct, so it must not move after this.
    assert_true(iterations(&s, name) < 60);
  }
}

// Layers of cells a thousand times stiffer than those between.
static void jumps_of_1000_to_1_converge(void** unused) {
  (void)unused;
  setup s = cube(32, 0.3);
  sn_error err = {0};
  build(&s);
  sn_body* body = &s.model->bodies[0];
  double mu = sn_body_mu(body, 0), lambda = sn_body_lambda(body, 0);
  assert_ok(SN_ARENA_NEW(s.model->arena, body->tree.cell_count, &body->mu, &err), &err);
  assert_ok(SN_ARENA_NEW(s.model->arena, body->tree.cell_count, &body->lambda, &err), &err);
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    double factor = body->tree.cells[e].y / 8 % 2 == 0 ? 1 : 1000;
    body->mu[e] = (float)(factor * mu);
    body->lambda[e] = (float)(factor * lambda);
  }
  body->even = false;
  body->flesh.tissue = sn_body_tissue(body);
  // Hierarchy and state were built of the old material: build them again.
  sn_state_destroy(s.state);
  sn_arena* scratch;
  assert_ok(sn_arena_create(&scratch, &err), &err);
  assert_ok(
      sn_hierarchy_build(body, s.pool, s.model->arena, scratch, &s.model->hierarchies[0], &err),
      &err);
  sn_arena_destroy(scratch);
  assert_ok(sn_state_create(s.model, s.pool, &s.state, &err), &err);
  sn_study_opts opts = {
      .linear = SN_LINEAR_MULTIGRID, .max = 200, .tolerance = 1e-6, .amount = 0.1, .seed = 1};
  sn_study_result result;
  assert_ok(sn_state_study(s.model, s.state, &opts, &result, &err), &err);
  print_message("jumps of 1000:1: %d iterations\n", result.iterations);
  assert_true(result.converged && result.iterations < 60);
  assert_symmetric_and_positive(&s);
  destroy(&s);
}

// Linearised at a state in which half of the cells are inside out.
static void half_the_cells_inverted_converge(void** unused) {
  (void)unused;
  setup s = cube(24, 0.3);
  build(&s);
  size_t n = s.model->unknown_count;
  sn_random random = sn_random_seeded(5);
  double h = 1.0 / 24;
  for (size_t i = 0; i < n; ++i) {
    double value = 20.0 * h * sn_random_symmetric(&random);
    s.state->u[i] = s.model->held[i / 3] ? 0 : value;
  }
  sn_flesh_measure m = sn_flesh_get_measure(&s.model->bodies[0].flesh, s.pool, s.state->u);
  double share = (double)m.inverted / s.model->bodies[0].tree.cell_count;
  assert_true(share > 0.45);
  sn_problem_linearise(&s.state->problem, s.pool, s.state->u);
  sn_preconditioner* p = &s.state->preconditioner;
  p->update(p->ctx, s.pool, SN_FIT_FRAME);
  for (size_t i = 0; i < n; ++i) {
    double value = sn_random_symmetric(&random);
    s.state->newton.gradient[i] = s.model->held[i / 3] ? 0 : value;
  }
  sn_cg_opts opts = {
      .kind = SN_HESSIAN_DEFINITE, .preconditioner = p, .max = 200, .tolerance = 1e-6};
  sn_cg_work work = sn_newton_cg_work(n, &s.state->newton);
  sn_cg_result result = sn_cg_solve(&s.state->problem, s.pool, &opts, &work,
                                    s.state->newton.gradient, s.state->newton.step);
  print_message("%.0f %% of the cells inverted: %d iterations\n", 100 * share, result.iterations);
  assert_int_equal(result.stop, SN_CG_CONVERGED);
  assert_true(result.iterations < 60);
  assert_symmetric_and_positive(&s);
  destroy(&s);
}

static void every_way_of_the_cycle_solves(void** unused) {
  (void)unused;
  static const sn_multigrid_opts WAYS[] = {
      {SN_SMOOTHER_JACOBI, 0, 3, SN_COARSEST_CHOLESKY, 0},
      {SN_SMOOTHER_JACOBI, 0.3, 3, SN_COARSEST_CHOLESKY, 0},
      {SN_SMOOTHER_JACOBI, 0.3, 3, SN_COARSEST_JACOBI, 0},
      {SN_SMOOTHER_CHEBYSHEV, 0, 3, SN_COARSEST_CHOLESKY, 0},
      {SN_SMOOTHER_CHEBYSHEV, 0, 1, SN_COARSEST_JACOBI, 0},
      {SN_SMOOTHER_CHEBYSHEV, 0, 8, SN_COARSEST_CHOLESKY, 0},
  };
  for (size_t w = 0; w < sizeof WAYS / sizeof *WAYS; ++w) {
    char name[32];
    setup s = cube(16, 0.3);
    s.scene.solver.multigrid = WAYS[w];
    snprintf(name, sizeof name, "way %zu", w);
    assert_true(iterations(&s, name) < 60);
  }
}

// Damping given by hand, far above 2 over the largest eigenvalue: a cycle that is not positive. It is
// weakened until it is, and then does its work.
static void a_damping_far_too_large_is_weakened_until_it_solves(void** unused) {
  (void)unused;
  setup s = cube(16, 0.45);
  s.scene.solver.multigrid.damping = 1.9;
  s.scene.gravity = sn_v3(0, -0.3, 0);
  sn_error err = {0};
  build(&s);
  const sn_mg* mg = &s.state->multigrids[0].mg;
  sn_frame_stats stats;
  assert_ok(sn_step(s.model, s.state, 1, &stats, &err), &err);
  print_message("damping 1.9: %d Newton steps\n", stats.newton);
  assert_true(stats.converged && stats.newton > 0 && mg->caution > 1);

  sn_study_opts opts = {
      .linear = SN_LINEAR_MULTIGRID, .max = 200, .tolerance = 1e-6, .amount = 0.1, .seed = 1};
  sn_study_result result;
  assert_ok(sn_state_study(s.model, s.state, &opts, &result, &err), &err);
  print_message("damping 1.9: %d iterations, divided by %.2f\n", result.iterations, mg->caution);
  assert_true(1.9 * mg->levels[0].largest > 2 && mg->caution > 1);
  assert_true(result.converged && result.iterations < 60 && result.residual <= 1.1e-6);
  assert_symmetric_and_positive(&s);
  destroy(&s);
}

static void all_linear_solvers_agree(void** unused) {
  (void)unused;
  for (int linear = SN_LINEAR_CG; linear <= SN_LINEAR_MULTIGRID_ONLY; ++linear) {
    setup s = cube(16, 0.3);
    sn_error err = {0};
    sn_study_result result;
    build(&s);
    sn_study_opts opts = {.linear = (sn_linear_solver)linear,
                          .max = 2000,
                          .tolerance = 1e-8,
                          .amount = 0.1,
                          .seed = 1};
    assert_ok(sn_state_study(s.model, s.state, &opts, &result, &err), &err);
    print_message("solver %d: %d iterations\n", linear, result.iterations);
    assert_true(result.converged && result.residual < 1.1e-8);
    destroy(&s);
  }
}

// A bar twisted by 36 degrees a frame to 180: ten Newton steps a frame are enough.
static void a_twisted_bar_needs_few_newton_steps(void** unused) {
  (void)unused;
  setup s = describe(shape_box(sn_v3(0, 0, 0), sn_v3(4, 1, 1)), 0.125, 0.3);
  sn_keyframe keys[6];
  for (int k = 0; k < 6; ++k) {
    double half = k * 36 * 3.14159265358979323846 / 360;
    keys[k] = (sn_keyframe){
        .frame = k + 1, .rotate = {sin(half), 0, 0, cos(half)}, .pivot = {0, 0.5, 0.5}};
  }
  hold(&s, sn_v3(0, 0, 0), sn_v3(0, 1, 1));
  hold(&s, sn_v3(4, 0, 0), sn_v3(4, 1, 1));
  s.fixed[1].motion = (sn_motion){.keys = keys, .key_count = 6};
  s.scene.last_frame = 6;
  s.scene.solver.newton_max = 10;
  build(&s);
  for (int frame = 1; frame <= 6; ++frame) {
    sn_error err = {0};
    sn_frame_stats stats;
    assert_ok(sn_step(s.model, s.state, frame, &stats, &err), &err);
    int krylov = 0;
    for (int k = 0; k < stats.newton; ++k) krylov += stats.krylov[k];
    print_message("twist %3d degrees: %d Newton steps, %d iterations\n", 36 * (frame - 1),
                  stats.newton, krylov);
    assert_true(stats.converged && stats.newton <= 10);
    assert_int_equal(stats.inverted, 0);
  }
  destroy(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_do_not_grow_with_size),
      cmocka_unit_test(chebyshev_handles_near_incompressible_flesh),
      cmocka_unit_test(nodes_held_along_single_axes_converge),
      cmocka_unit_test(springs_of_any_stiffness_converge),
      cmocka_unit_test(jumps_of_1000_to_1_converge),
      cmocka_unit_test(half_the_cells_inverted_converge),
      cmocka_unit_test(every_way_of_the_cycle_solves),
      cmocka_unit_test(a_damping_far_too_large_is_weakened_until_it_solves),
      cmocka_unit_test(all_linear_solvers_agree),
      cmocka_unit_test(a_twisted_bar_needs_few_newton_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
