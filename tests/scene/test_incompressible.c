// Nearly incompressible flesh: pressures kept as unknowns give the step that condensed ones give, in
// iterations that neither size nor Poisson's ratio drives up; and whole scenes work with them.
#include <math.h>

#include "math/quat.h"
#include "scene/model.h"
#include "scene/scenes.h"
#include "shapes.h"
#include "solve/vector.h"

// Cells across the largest ball; fewer where sanitizers slow everything down.
#ifdef SN_SANITIZED
#define LARGEST_BALL 12
#else
#define LARGEST_BALL 24
#endif

typedef struct setup {
  sn_body_desc body;
  sn_fixed_desc fixed[2];
  sn_keyframe keys[2];
  sn_collider_desc collider;
  sn_scene scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
} setup;

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
                       .last_frame = 10,
                       .substeps = 1,
                       .max_substeps = 1,
                       .mode = SN_MODE_QUASISTATIC,
                       .contact = {.stiffness = 500, .friction = 0.3},
                       .solver = {.linear = SN_LINEAR_MULTIGRID,
                                  .newton_max = 30,
                                  .newton_tolerance = 1e-3,
                                  .krylov_tolerance = 1e-2,
                                  .pressure = SN_PRESSURE_KEPT,
                                  .multigrid = {.degree = 3}}}};
  return s;
}

static void build(setup* s, int threads) {
  sn_error err = {0};
  s->scene.bodies = &s->body;
  s->scene.body_count = 1;
  s->scene.fixed = s->fixed;
  if (s->scene.collider_count > 0) s->scene.colliders = &s->collider;
  assert_ok(sn_pool_create(threads, &s->pool, &err), &err);
  assert_ok(sn_model_build(&s->scene, s->pool, &s->model, &err), &err);
  assert_ok(sn_state_create(s->model, s->pool, &s->state, &err), &err);
}

static void unbuild(setup* s) {
  sn_state_destroy(s->state);
  sn_model_destroy(s->model);
  sn_pool_destroy(s->pool);
}

static void destroy(setup* s) {
  unbuild(s);
  sn_mesh_destroy(&s->body.mesh);
}

static sn_fixed_desc hold(sn_vec3 lo, sn_vec3 hi) {
  return (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}};
}

// A ball of n cells across, held below.
static setup ball(int n, double poisson) {
  setup s = describe(shape_sphere(sn_v3(0, 0, 0), 1, 24), 2.0 / n, poisson);
  s.fixed[s.scene.fixed_count++] = hold(sn_v3(-2, -2, -2), sn_v3(2, -0.7, 2));
  return s;
}

// A standing animal with limbs of two to four cells, held at its feet; its solver is the automatic one.
static setup animal(int n, double poisson) {
  static const sn_round_cone CONES[] = {
      {{0, 0.45, 0}, {0, 0.62, 0.02}, 0.19, 0.16},         // trunk
      {{0, 0.80, 0.04}, {0, 0.86, 0.14}, 0.11, 0.07},      // head
      {{0.16, 0.66, 0}, {0.40, 0.72, 0.10}, 0.07, 0.045},  // arms
      {{-0.16, 0.66, 0}, {-0.40, 0.62, 0.10}, 0.07, 0.045},
      {{0.40, 0.72, 0.10}, {0.46, 0.84, 0.16}, 0.045, 0.035},
      {{-0.40, 0.62, 0.10}, {-0.46, 0.74, 0.18}, 0.045, 0.035},
      {{0.12, 0.34, 0}, {0.18, 0.10, 0.04}, 0.10, 0.06},  // legs
      {{-0.12, 0.34, 0}, {-0.18, 0.10, 0.04}, 0.10, 0.06},
      {{0, 0.36, -0.14}, {0, 0.16, -0.42}, 0.08, 0.02},        // tail
      {{0.07, 0.92, 0.02}, {0.13, 1.04, -0.02}, 0.035, 0.02},  // ears
      {{-0.07, 0.92, 0.02}, {-0.13, 1.04, -0.02}, 0.035, 0.02},
  };
  sn_mesh mesh;
  sn_error err = {0};
  assert_ok(sn_mesh_from_round_cones(CONES, sizeof CONES / sizeof *CONES, 0.05, 0.02, &mesh, &err),
            &err);
  setup s = describe(mesh, 1.06 / n, poisson);
  s.scene.solver.pressure = SN_PRESSURE_AUTO;
  s.fixed[s.scene.fixed_count++] = hold(sn_v3(-2, -2, -2), sn_v3(2, 0.15, 2));
  return s;
}

// A bar of n x n x 3n cells along y, held below.
static setup bar(int n, double poisson) {
  sn_mesh mesh = shape_unit_cube();
  for (uint32_t v = 0; v < mesh.vertex_count; ++v) mesh.positions[3 * (size_t)v + 1] *= 3;
  setup s = describe(mesh, 1.0 / n, poisson);
  s.fixed[s.scene.fixed_count++] = hold(sn_v3(-1, -1, -1), sn_v3(2, 0.01, 2));
  return s;
}

// Weight and a push from the side.
static void set_load(const setup* s, double* load) {
  const sn_body* body = &s->model->bodies[0];
  for (size_t i = 0; i < s->model->unknown_count; ++i) {
    double value = i % 3 == 1 ? -9.8 : i % 3 == 0 ? 3 : 0;
    load[i] = s->model->held[i / 3] ? 0 : value * body->node_mass[i / 3];
  }
}

// Twist the body by an angle that grows with height.
static void twist(setup* s, double angle) {
  const sn_body* body = &s->model->bodies[0];
  sn_box box = body->surface.box;
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_vec3 p = sn_octree_node_place(&body->tree, n);
    double a = angle * (p.y - box.lo.y) / (box.hi.y - box.lo.y);
    sn_vec3 to = sn_v3(cos(a) * p.x - sin(a) * p.z, p.y, sin(a) * p.x + cos(a) * p.z);
    if (s->model->held[n]) to = p;
    sn_store3(s->state->u + 3 * (size_t)n, sn_sub(to, p));
  }
}

static void linearise(setup* s) {
  const sn_preconditioner* m = &s->state->preconditioner;
  sn_problem_linearise(&s->state->problem, s->pool, s->state->u);
  m->update(m->ctx, s->pool, SN_FIT_FRAME);
}

static sn_cg_result solve(setup* s, sn_cg_opts opts, const double* load, double* x) {
  opts.kind = SN_HESSIAN_DEFINITE;
  opts.preconditioner = &s->state->preconditioner;
  return sn_newton_solve_linear(&s->state->problem, s->pool, s->state->krylov, &opts,
                                &s->state->newton, load, x);
}

static double length3(const double* x, size_t n) { return sqrt(sn_vector_dot(NULL, n, x, x)); }

typedef struct error_watch {
  const double* solution;
  size_t count;
  double size, tolerance;
  int reached;  // iteration at which the error fell below the tolerance; 0: never
} error_watch;

static void watch_error(void* ctx, int iteration, double scale, const double* x) {
  error_watch* w = ctx;
  double sum = 0;
  for (size_t i = 0; i < w->count; ++i) {
    double d = scale * x[i] - w->solution[i];
    sum += d * d;
  }
  if (w->reached == 0 && sqrt(sum) <= w->tolerance * w->size) w->reached = iteration;
}

// Pressures that belong to the volumes: those of the condensed form.
static void fit_pressures(setup* s) {
  sn_flesh_work* work = &s->state->bodies[0].flesh;
  double* g = calloc(s->model->unknown_count, sizeof *g);
  sn_problem_evaluate(&s->state->problem, s->pool, s->state->u, g);
  for (size_t i = 0; i < s->state->problem.pressure_count && work->pressure; ++i) {
    work->pressure[i] = work->kept[i] * work->measure[i];
  }
  free(g);
}

// Iterations until |x - x*| <= 1e-5 |x*|.
static int iterations_to_error(setup* s, double angle) {
  build(s, 2);
  size_t n = s->model->unknown_count;
  double *load = calloc(n, sizeof *load), *solution = calloc(n, sizeof *solution);
  set_load(s, load);
  twist(s, angle);
  fit_pressures(s);
  linearise(s);
  sn_cg_result best = solve(s, (sn_cg_opts){.max = 3000, .tolerance = 1e-8}, load, solution);
  assert_true(best.residual <= 1.1e-8);
  error_watch w = {
      .solution = solution, .count = n, .size = length3(solution, n), .tolerance = 1e-5};
  double* x = s->state->newton.step;
  solve(
      s,
      (sn_cg_opts){
          .max = 400, .tolerance = 1e-9, .unverified = true, .watch = watch_error, .watch_ctx = &w},
      load, x);
  free(load);
  free(solution);
  destroy(s);
  return w.reached;
}

// Counts are the same on every run; what they may be is docs/theory/incompressible.md.
static void iterations_stay_within_the_targets(void** unused) {
  (void)unused;
  static const double POISSON[] = {0.49, 0.499, 0.4999};
  static const int MOST[] = {30, 60, 100};
  for (int n = 12; n <= LARGEST_BALL; n += 12) {
    for (int k = 0; k < 3; ++k) {
      setup rest = ball(n, POISSON[k]), twisted = ball(n, POISSON[k]);
      int at_rest = iterations_to_error(&rest, 0);
      int deformed = iterations_to_error(&twisted, 0.5);
      print_message("ball %d, %.4f: %d at rest, %d twisted\n", n, POISSON[k], at_rest, deformed);
      assert_true(at_rest > 0 && at_rest <= MOST[k]);
      assert_true(deformed > 0);
    }
  }
  // Thin limbs bend on coarse levels as thick ones do, unless one of these is solved exactly.
  for (int k = 0; k < 3; ++k) {
    setup s = animal(40, POISSON[k]);
    int iterations = iterations_to_error(&s, 0);
    print_message("animal 40, %.4f: %d\n", POISSON[k], iterations);
    assert_true(iterations > 0 && iterations <= MOST[k]);
  }
}

// K x of a state that keeps pressures and of one that does not.
// With pressures of any size, for a law that measures J and for one that measures the trace.
static void forces_are_those_of_the_energy(void** unused) {
  (void)unused;
  static const sn_law LAWS[] = {SN_LAW_COROTATED, SN_LAW_STABLE_NEO_HOOKEAN, SN_LAW_NEO_HOOKEAN,
                                SN_LAW_BIPHASIC};
  for (int k = 0; k < 8; ++k) {
    setup s = ball(8, 0.499);
    s.body.material = sn_material_of(LAWS[k / 2], s.body.material.mu, s.body.material.lambda);
    s.body.quadrature = 1 + k % 2;
    build(&s, 1);
    sn_random random = sn_random_seeded(9);
    sn_problem* problem = &s.state->problem;
    sn_flesh_work* work = &s.state->bodies[0].flesh;
    assert_true(problem->mixed);
    twist(&s, 0.5);
    for (size_t i = 0; i < problem->pressure_count; ++i) {
      work->pressure[i] = (float)(work->kept[i] * 0.01 * sn_random_symmetric(&random));
    }
    size_t n = s.model->unknown_count;
    double *d = calloc(n, sizeof *d), *g = calloc(n, sizeof *g), *u = s.state->u;
    double e[2], step = 1e-4 * s.body.cell;
    for (size_t i = 0; i < n; ++i) d[i] = problem->held[i / 3] ? 0 : sn_random_symmetric(&random);
    sn_problem_evaluate(problem, s.pool, u, g);
    double slope = sn_vector_dot(NULL, n, g, d);
    for (int side = 0; side < 2; ++side) {
      sn_vector_add(NULL, n, side ? -2 * step : step, d, u);
      e[side] = sn_problem_evaluate(problem, s.pool, u, g).energy;
    }
    print_message("%s, quadrature %d: %g and %g\n", sn_law_name(LAWS[k / 2]), 1 + k % 2, slope,
                  (e[0] - e[1]) / (2 * step));
    assert_near((e[0] - e[1]) / (2 * step), slope, 1e-5 * fabs(slope));
    free(d);
    free(g);
    destroy(&s);
  }
}

static void products_are_the_same(void** unused) {
  (void)unused;
  setup kept = ball(12, 0.4999), condensed = ball(12, 0.4999);
  condensed.scene.solver.pressure = SN_PRESSURE_CONDENSED;
  build(&kept, 2);
  build(&condensed, 2);
  assert_true(kept.state->problem.pressure_count > 0);
  assert_int_equal(condensed.state->problem.pressure_count, 0);
  size_t n = kept.model->unknown_count;
  double *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y), *z = calloc(n, sizeof *z);
  set_load(&kept, x);
  twist(&kept, 0.5);
  twist(&condensed, 0.5);
  fit_pressures(&kept);
  linearise(&kept);
  linearise(&condensed);
  for (int kind = 0; kind < 2; ++kind) {
    sn_problem_apply_d(&kept.state->problem, kept.pool, (sn_hessian)kind, x, y);
    sn_problem_apply_d(&condensed.state->problem, condensed.pool, (sn_hessian)kind, x, z);
    double size = length3(z, n);
    sn_vector_add(NULL, n, -1, z, y);
    assert_true(length3(y, n) <= 1e-6 * size);
  }
  double e = sn_problem_evaluate(&kept.state->problem, kept.pool, kept.state->u, y).energy;
  double f =
      sn_problem_evaluate(&condensed.state->problem, condensed.pool, kept.state->u, z).energy;
  assert_near(e, f, 1e-6 * f);
  free(x);
  free(y);
  free(z);
  destroy(&kept);
  destroy(&condensed);
}

// The step of each method, solved well, and that of QMR.
static void mixed_and_condensed_steps_agree(void** unused) {
  (void)unused;
  static const struct {
    sn_linear_solver linear;
    sn_pressure_form pressure;
  } WAYS[] = {{SN_LINEAR_MULTIGRID, SN_PRESSURE_CONDENSED},
              {SN_LINEAR_MULTIGRID, SN_PRESSURE_KEPT},
              {SN_LINEAR_MINRES, SN_PRESSURE_CONDENSED},
              {SN_LINEAR_QMR, SN_PRESSURE_KEPT}};
  double* first = NULL;
  for (int k = 0; k < 4; ++k) {
    setup s = ball(8, 0.49);
    s.scene.solver.linear = WAYS[k].linear;
    s.scene.solver.pressure = WAYS[k].pressure;
    build(&s, 2);
    size_t n = s.model->unknown_count;
    double *load = calloc(n, sizeof *load), *x = calloc(n, sizeof *x);
    set_load(&s, load);
    sn_study_result result;
    sn_error err = {0};
    sn_study_opts opts = {
        .linear = WAYS[k].linear, .max = 20000, .tolerance = 1e-8, .load = load, .solution = x};
    assert_ok(sn_state_study(s.model, s.state, &opts, &result, &err), &err);
    print_message("way %d: %d iterations, residual %.1e\n", k, result.iterations, result.residual);
    if (first) {
      double size = length3(first, n);
      sn_vector_add(NULL, n, -1, first, x);
      print_message("  off by %.1e\n", length3(x, n) / size);
      assert_true(length3(x, n) <= 1e-6 * size);
    }
    if (k > 0) free(x);
    if (k == 0) first = x;
    free(load);
    destroy(&s);
  }
  free(first);
}

static void any_number_of_threads_gives_the_same_bits(void** unused) {
  (void)unused;
  double* first = NULL;
  for (int threads = 1; threads <= 3; ++threads) {
    setup s = ball(16, 0.4999);
    build(&s, threads);
    size_t n = s.model->unknown_count;
    double *load = calloc(n, sizeof *load), *x = calloc(n, sizeof *x);
    set_load(&s, load);
    twist(&s, 0.3);
    linearise(&s);
    sn_cg_result result = solve(&s, (sn_cg_opts){.max = 40, .tolerance = 1e-5}, load, x);
    assert_true(result.iterations > 0);
    if (first) assert_memory_equal(first, x, n * sizeof *x);
    if (threads > 1) free(x);
    if (threads == 1) first = x;
    free(load);
    destroy(&s);
  }
  free(first);
}

static sn_frame_stats step_frame(setup* s, int frame) {
  sn_error err = {0};
  sn_frame_stats stats;
  assert_ok(sn_step(s->model, s->state, frame, &stats, &err), &err);
  return stats;
}

static int total(const sn_frame_stats* stats) {
  int sum = 0;
  for (int k = 0; k < stats->newton; ++k) sum += stats->krylov[k];
  return sum;
}

static sn_quat turn(sn_vec3 axis, double angle) {
  double s = sin(angle / 2);
  return (sn_quat){s * axis.x, s * axis.y, s * axis.z, cos(angle / 2)};
}

// A bar whose upper end turns by 60 degrees within a frame: Newton steps from rest.
static void a_bar_is_twisted_and_bent_in_one_frame(void** unused) {
  (void)unused;
  static const double POISSON[] = {0.45, 0.49, 0.499};
  for (int way = 0; way < 2; ++way) {
    for (int k = 0; k < 3; ++k) {
      for (int form = SN_PRESSURE_CONDENSED; form <= SN_PRESSURE_KEPT; ++form) {
        setup s = bar(8, POISSON[k]);
        s.scene.solver.pressure = (sn_pressure_form)form;
        s.scene.solver.newton_max = 60;
        sn_vec3 axis = way == 0 ? sn_v3(0, 1, 0) : sn_v3(0, 0, 1);
        s.keys[0] = (sn_keyframe){.frame = 1, .rotate = turn(axis, 0), .pivot = {0.5, 1.5, 0.5}};
        s.keys[1] = (sn_keyframe){
            .frame = 2, .rotate = turn(axis, 3.14159265358979 / 3), .pivot = {0.5, 1.5, 0.5}};
        s.fixed[1] = hold(sn_v3(-1, 2.99, -1), sn_v3(2, 4, 2));
        s.fixed[1].motion = (sn_motion){.keys = s.keys, .key_count = 2};
        s.scene.fixed_count = 2;
        build(&s, 2);
        step_frame(&s, 1);
        sn_frame_stats stats = step_frame(&s, 2);
        print_message(
            "%s %.4f %-9s: %2d Newton steps, %4d iterations, residual %.1e, volume %+.1e, "
            "%.2f s\n",
            way == 0 ? "twisted" : "bent", POISSON[k],
            form == SN_PRESSURE_KEPT ? "kept" : "condensed", stats.newton, total(&stats),
            stats.residual, stats.volume_error, stats.seconds);
        if (form == SN_PRESSURE_KEPT) assert_true(stats.converged);
        destroy(&s);
      }
    }
  }
}

static sn_collider_desc plane(sn_vec3 position, sn_vec3 normal) {
  return (sn_collider_desc){.name = (char*)"plane",
                            .kind = SN_COLLIDER_PLANE,
                            .position = position,
                            .normal = normal,
                            .friction = 0.3,
                            .stiffness = 500};
}

typedef struct run_result {
  int newton, iterations;
  uint64_t contacts;
  bool converged;
  double seconds, height;  // of the last frame's lowest point
} run_result;

static run_result run_frames(setup* s, const char* name, int frames) {
  run_result sum = {.converged = true};
  build(s, 2);
  for (int frame = 1; frame <= frames; ++frame) {
    sn_frame_stats stats = step_frame(s, frame);
    sum.newton += stats.newton;
    sum.iterations += total(&stats);
    sum.contacts += stats.contacts;
    sum.converged = sum.converged && stats.converged;
    sum.seconds += stats.seconds;
    assert_true(isfinite(stats.residual) && fabs(stats.volume_error) < 0.02);
  }
  sum.height = INFINITY;
  const sn_body* body = &s->model->bodies[0];
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    double y = sn_octree_node_place(&body->tree, n).y + s->state->u[3 * (size_t)n + 1];
    sum.height = fmin(sum.height, y);
  }
  print_message("%s, %s: %d Newton steps, %d iterations, %llu contacts, %s, %.2f s, lowest %.6f\n",
                name, s->state->problem.pressure_count > 0 ? "kept" : "condensed", sum.newton,
                sum.iterations, (unsigned long long)sum.contacts,
                sum.converged ? "converged" : "not converged", sum.seconds, sum.height);
  destroy(s);
  return sum;
}

// Contact, inertia and what is held all belong to A.
static void a_ball_falls_on_the_floor(void** unused) {
  (void)unused;
  run_result results[2];
  for (int k = 0; k < 2; ++k) {
    setup s = describe(shape_sphere(sn_v3(0, 0, 0), 0.05, 16), 0.1 / 8, 0.4999);
    s.collider = plane(sn_v3(0, -0.06, 0), sn_v3(0, 1, 0));
    s.scene.collider_count = 1;
    s.scene.mode = SN_MODE_DYNAMIC;
    s.scene.gravity = sn_v3(0, -9.81, 0);
    s.scene.solver.pressure = k ? SN_PRESSURE_KEPT : SN_PRESSURE_CONDENSED;
    s.body.damping = 0.01;
    results[k] = run_frames(&s, "drop", 5);
  }
  assert_true(results[1].converged && results[1].contacts > 0);
}

static void a_held_bar_leans_on_a_wall(void** unused) {
  (void)unused;
  run_result results[2];
  for (int k = 0; k < 2; ++k) {
    setup s = bar(6, 0.4999);
    s.collider = plane(sn_v3(1.005, 0, 0), sn_v3(-1, 0, 0));
    s.scene.collider_count = 1;
    s.scene.mode = SN_MODE_DYNAMIC;
    s.scene.preroll = 10;  // gravity grows slowly
    s.scene.gravity = sn_v3(0.5, 0, 0);
    s.body.damping = 0.02;
    s.scene.solver.pressure = k ? SN_PRESSURE_KEPT : SN_PRESSURE_CONDENSED;
    results[k] = run_frames(&s, "bar", 2);
  }
  assert_true(results[1].converged && results[1].contacts > 0);
}

// A bar that sways, damped: pressures that are kept have their rate in them (Patterson et al. 2012, equations 14 to
// 17), as condensed ones do. Damping is what ends the sway, and here it matters.
static void damped_motion_is_the_same(void** unused) {
  (void)unused;
  static const struct {
    sn_pressure_form form;
    double damping;
  } WAYS[] = {{SN_PRESSURE_CONDENSED, 0.05}, {SN_PRESSURE_KEPT, 0.05}, {SN_PRESSURE_KEPT, 0}};
  double tips[3];
  for (int k = 0; k < 3; ++k) {
    setup s = bar(4, 0.499);
    s.scene.mode = SN_MODE_DYNAMIC;
    s.scene.gravity = sn_v3(0, 0, 0);
    s.keys[0] = (sn_keyframe){.frame = 1, .rotate = {0, 0, 0, 1}};
    s.keys[1] = (sn_keyframe){.frame = 3, .rotate = {0, 0, 0, 1}, .translate = {0.4, 0, 0}};
    s.fixed[0].motion = (sn_motion){.keys = s.keys, .key_count = 2};
    s.scene.solver.pressure = WAYS[k].form;
    s.scene.solver.newton_max = 100;
    s.scene.solver.newton_tolerance = 1e-6;
    s.body.damping = WAYS[k].damping;
    s.body.material.mu *= 100;
    s.body.material.lambda *= 100;
    build(&s, 2);
    for (int frame = 1; frame <= 8; ++frame) assert_true(step_frame(&s, frame).converged);
    uint32_t tip = s.model->bodies[0].tree.node_count - 1;
    assert_true(sn_octree_node_place(&s.model->bodies[0].tree, tip).y == 3);
    tips[k] = s.state->u[3 * (size_t)tip];
    destroy(&s);
  }
  print_message("tip: condensed %.9f, kept %.9f; without damping %.9f\n", tips[0], tips[1],
                tips[2]);
  assert_near(tips[1], tips[0], 1e-5);
  assert_true(fabs(tips[2] - tips[0]) > 1e-2);
}

static void pressures_are_kept_where_that_pays(void** unused) {
  (void)unused;
  static const struct {
    double poisson;
    bool kept;
    sn_mg_smoother smoother;
  } ROWS[] = {{0.45, false, SN_MG_JACOBI},
              {0.48, false, SN_MG_JACOBI},
              {0.49, false, SN_MG_CHEBYSHEV},
              {0.498, true, SN_MG_CHEBYSHEV},
              {0.4999, true, SN_MG_CHEBYSHEV}};
  for (int k = 0; k < 5; ++k) {
    setup s = ball(6, ROWS[k].poisson);
    s.scene.solver.pressure = SN_PRESSURE_AUTO;
    build(&s, 1);
    assert_true((s.state->problem.pressure_count > 0) == ROWS[k].kept);
    assert_int_equal(s.state->krylov, ROWS[k].kept ? SN_KRYLOV_MINRES : SN_KRYLOV_CG);
    assert_int_equal(s.state->multigrids[0].mg.opts.smoother, ROWS[k].smoother);
    destroy(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_those_of_the_energy),
      cmocka_unit_test(products_are_the_same),
      cmocka_unit_test(mixed_and_condensed_steps_agree),
      cmocka_unit_test(iterations_stay_within_the_targets),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(a_bar_is_twisted_and_bent_in_one_frame),
      cmocka_unit_test(a_ball_falls_on_the_floor),
      cmocka_unit_test(a_held_bar_leans_on_a_wall),
      cmocka_unit_test(damped_motion_is_the_same),
      cmocka_unit_test(pressures_are_kept_where_that_pays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
