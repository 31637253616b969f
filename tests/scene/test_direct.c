// Levels that are solved directly: by themselves, in whole frames, and where "auto" takes them.
#include <math.h>
#include <stdlib.h>

#include "math/random.h"
#include "scene/made.h"
#include "solve/vector.h"

static sn_material flesh_of(double poisson) {
  return (sn_material){.mu = lame_mu(1e4, poisson), .lambda = lame_lambda(1e4, poisson)};
}

// A bar of so many cells of a centimetre that is held at its left end.
static made bar(int x, int y, int z, int coarsen, sn_material material) {
  made m = made_of(shape_box(sn_v3(0, 0, 0), sn_v3(0.01 * x, 0.01 * y, 0.01 * z)), 0.01, material);
  m.body.coarsen = coarsen;
  m.body.scramble.amount = 0;
  m.scene.solver.linear = SN_LINEAR_DIRECT;
  made_hold(&m, sn_v3(-1, -1, -1), sn_v3(0.005, 1, 1));
  return m;
}

static void disturb(made* m, double amount) {
  sn_random random = sn_random_seeded(7);
  for (size_t i = 0; i < m->model->unknown_count; ++i) {
    bool held = sn_is_held(m->model->held, i);
    m->state->u[i] = held ? 0 : amount * sn_random_symmetric(&random);
  }
  sn_problem_linearise(&m->state->problem, m->pool, m->state->u);
  sn_preconditioner* M = &m->state->preconditioner;
  M->update(M->ctx, m->pool, SN_FIT_FRAME);
}

// A x = f on the level that is solved, at a state in which cells are bent, squeezed and turned.
static void check_solution(made m) {
  made_build(&m);
  disturb(&m, 0.001);
  const sn_mg* mg = &m.state->multigrids[0].mg;
  const sn_mg_level* level = &mg->levels[mg->solved];
  size_t n = level->unknown_count;
  float *f = malloc(n * sizeof *f), *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
  sn_random random = sn_random_seeded(5);
  double off = 0, size = 0;
  for (size_t i = 0; i < n; ++i) f[i] = (float)sn_random_symmetric(&random);
  assert_non_null(mg->solve);
  mg->solve(mg->solve_ctx, m.pool, f, x);
  level->multiply(level->ctx, m.pool, level->springs, x, 0, NULL, y);
  for (size_t i = 0; i < n; ++i) {
    if (sn_is_held(level->held, i)) {
      assert_true(x[i] == 0);
      continue;
    }
    off += (y[i] - f[i]) * (y[i] - f[i]);
    size += f[i] * f[i];
  }
  print_message("%zu nodes, residual %.1e\n", n / 3, sqrt(off / size));
  assert_true(sqrt(off / size) < 1e-3);
  free(f);
  free(x);
  free(y);
  made_destroy(&m);
}

static void uniform_grids_are_solved(void** unused) {
  (void)unused;
  check_solution(bar(14, 9, 7, 0, flesh_of(0.4)));
  check_solution(bar(40, 2, 20, 0, flesh_of(0.4)));
}

static void octrees_are_solved(void** unused) {
  (void)unused;
  made m = bar(24, 16, 16, -1, flesh_of(0.4));
  check_solution(m);
}

static void coarser_levels_are_solved(void** unused) {
  (void)unused;
  made m = bar(24, 16, 16, -1, flesh_of(0.4));
  m.scene.solver.linear = SN_LINEAR_MULTIGRID;
  m.scene.solver.multigrid.exact = 2;
  check_solution(m);
}

static void nodes_held_along_some_axes_are_solved(void** unused) {
  (void)unused;
  made m = bar(12, 4, 4, 0, flesh_of(0.4));
  sn_fixed_desc* rail = made_hold(&m, sn_v3(0.115, -1, -1), sn_v3(1, 1, 1));
  rail->axes = SN_HELD_YZ;
  check_solution(m);
}

// Displacements after a frame under gravity.
static double* bend(made* m, int threads) {
  m->scene.gravity = sn_v3(0, -9.81, 0);
  m->scene.solver.newton_tolerance = 1e-6;
  m->scene.solver.krylov_tolerance = 1e-4;
  m->scene.solver.krylov_max = 400;
  made_build(m);
  sn_error err = {0};
  sn_state_destroy(m->state);
  sn_pool_destroy(m->pool);
  assert_ok(sn_pool_create(threads, &m->pool, &err), &err);
  assert_ok(sn_state_create(m->model, m->pool, &m->state, &err), &err);
  sn_frame_stats stats = made_step(m, 1);
  if (m->scene.collider_count > 0) assert_true(stats.contacts > 0);
  if (!stats.converged) fail_msg("law %d: residual %g", m->body.material.law, stats.residual);
  size_t bytes = m->model->unknown_count * sizeof(double);
  double* u = malloc(bytes);
  memcpy(u, m->state->u, bytes);
  return u;
}

// The same frame by three solvers.
static void compare(sn_material material, void (*change)(made*), double most) {
  static const struct {
    sn_linear_solver linear;
    int exact;
  } WAYS[] = {{SN_LINEAR_MULTIGRID, 0}, {SN_LINEAR_DIRECT, 0}, {SN_LINEAR_MULTIGRID, 2}};
  made m[3];
  double* u[3];
  for (int w = 0; w < 3; ++w) {
    m[w] = bar(16, 3, 8, 0, material);
    m[w].scene.solver.linear = WAYS[w].linear;
    m[w].scene.solver.multigrid.exact = WAYS[w].exact;
    if (change) change(&m[w]);
    u[w] = bend(&m[w], 2);
    double off = 0, size = 0;
    for (size_t i = 0; i < m[0].model->unknown_count; ++i) {
      off += (u[w][i] - u[0][i]) * (u[w][i] - u[0][i]);
      size += u[0][i] * u[0][i];
    }
    if (!(sqrt(off / size) < most))
      fail_msg("law %d, way %d: %g", material.law, w, sqrt(off / size));
  }
  for (int w = 0; w < 3; ++w) {
    free(u[w]);
    made_destroy(&m[w]);
  }
}

static void frames_are_those_of_multigrid_for_every_law(void** unused) {
  (void)unused;
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    compare(sn_material_of((sn_law)law, lame_mu(1e4, 0.4), lame_lambda(1e4, 0.4)), NULL, 1e-4);
  }
}

static void lay_on_sphere(made* m) {
  static sn_collider_desc sphere = {.name = (char*)"sphere",
                                    .kind = SN_COLLIDER_SPHERE,
                                    .position = {0.12, -0.0495, 0.04},
                                    .radius = 0.05,
                                    .friction = 0.3,
                                    .stiffness = 500};
  m->scene.colliders = &sphere;
  m->scene.collider_count = 1;
}

static void contacts_are_those_of_multigrid(void** unused) {
  (void)unused;
  compare(flesh_of(0.4), lay_on_sphere, 1e-4);
}

static void keep_pressures(made* m) { m->scene.solver.pressure = SN_PRESSURE_KEPT; }

static void pressures_are_kept_as_with_multigrid(void** unused) {
  (void)unused;
  compare(flesh_of(0.4995), keep_pressures, 1e-4);
}

static void threads_do_not_change_a_bit(void** unused) {
  (void)unused;
  made m[2];
  double* u[2];
  for (int i = 0; i < 2; ++i) {
    m[i] = bar(24, 12, 9, -1, flesh_of(0.4));
    u[i] = bend(&m[i], i ? 3 : 1);
  }
  assert_memory_equal(u[0], u[1], m[0].model->unknown_count * sizeof(double));
  for (int i = 0; i < 2; ++i) {
    free(u[i]);
    made_destroy(&m[i]);
  }
}

static void listen(void* user, sn_log_level level, const char* text) {
  if (level == SN_LOG_INFO && strstr(text, "auto")) snprintf(user, 300, "%s", text);
}

// What "auto" makes of a box of cells, 0 = the body's own level, and says about it.
static int automatic(int x, int y, int z, double poisson, const char* word) {
  char said[300] = "";
  made m = bar(x, y, z, 0, flesh_of(poisson));
  m.scene.solver.linear = SN_LINEAR_AUTO;
  sn_set_log(listen, said);
  made_build(&m);
  sn_set_log(NULL, NULL);
  int solved = m.model->hierarchies[0].solved;
  if (!strstr(said, word)) fail_msg("found \"%s\", expected \"%s\" in it", said, word);
  made_destroy(&m);
  return solved;
}

static void auto_picks_by_thickness_and_says_so(void** unused) {
  (void)unused;
  assert_int_equal(automatic(16, 16, 16, 0.4, "5.3 cells thick, which is stout"), -1);
  assert_int_equal(automatic(60, 2, 3, 0.4, "\"direct\""), 0);
  assert_int_equal(automatic(64, 2, 48, 0.4, "level 2 solved directly"), 1);
  // Pressures are kept: not of the whole, but of a coarse level of nearly incompressible flesh.
  assert_int_equal(automatic(60, 2, 3, 0.4995, "level 2 solved directly"), 1);
}

static void iterations_are_few_where_flesh_is_thin(void** unused) {
  (void)unused;
  int iterations[2];
  for (int i = 0; i < 2; ++i) {
    made m = bar(64, 2, 32, 0, flesh_of(0.45));
    m.scene.solver.linear = i ? SN_LINEAR_AUTO : SN_LINEAR_MULTIGRID;
    made_build(&m);
    sn_error err = {0};
    sn_study_result result;
    sn_study_opts opts = {
        .linear = m.scene.solver.linear, .max = 1000, .tolerance = 1e-4, .weight = true};
    assert_ok(sn_state_study(m.model, m.state, &opts, &result, &err), &err);
    assert_true(result.converged);
    iterations[i] = result.iterations;
    made_destroy(&m);
  }
  print_message("%d iterations, %d with auto\n", iterations[0], iterations[1]);
  assert_true(4 * iterations[1] < iterations[0]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniform_grids_are_solved),
      cmocka_unit_test(octrees_are_solved),
      cmocka_unit_test(coarser_levels_are_solved),
      cmocka_unit_test(nodes_held_along_some_axes_are_solved),
      cmocka_unit_test(frames_are_those_of_multigrid_for_every_law),
      cmocka_unit_test(contacts_are_those_of_multigrid),
      cmocka_unit_test(pressures_are_kept_as_with_multigrid),
      cmocka_unit_test(threads_do_not_change_a_bit),
      cmocka_unit_test(auto_picks_by_thickness_and_says_so),
      cmocka_unit_test(iterations_are_few_where_flesh_is_thin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
