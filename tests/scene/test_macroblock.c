// Macroblocks as the solver of a model: their matrices, the elimination, the preconditioner, whole frames.
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
  m.scene.solver.linear = SN_LINEAR_MACROBLOCK;
  made_hold(&m, sn_v3(-1, -1, -1), sn_v3(0.005, 1, 1));
  return m;
}

static float* random_floats(size_t n, double size, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  float* v = malloc(n * sizeof *v);
  for (size_t i = 0; i < n; ++i) v[i] = (float)(size * sn_random_symmetric(&random));
  return v;
}

// Linearise where cells are bent, squeezed and turned at random.
static void disturb(made* m, double amount) {
  sn_random random = sn_random_seeded(7);
  for (size_t i = 0; i < m->model->unknown_count; ++i) {
    bool held = sn_is_held(m->model->held, i);
    m->state->u[i] = held ? 0 : amount * sn_random_symmetric(&random);
  }
  sn_problem_sharpen(&m->state->problem, m->model->scene->solver.sharp);
  sn_problem_linearise(&m->state->problem, m->pool, m->state->u);
  sn_preconditioner* M = &m->state->preconditioner;
  M->update(M->ctx, m->pool, SN_FIT_FRAME);
}

// y = K p by the cells' matrices, every lane mirrored in its own way.
static void multiply_by_matrices(const made* m, const float* p, double* y) {
  const sn_body* body = &m->model->bodies[0];
  static _Alignas(32) float K[SN_CORNER_PAIRS][9][8];
  for (uint32_t first = 0; first < body->tree.cell_count; first += 8) {
    uint32_t cells[8];
    uint8_t flips[8];
    for (uint32_t lane = 0; lane < 8; ++lane) {
      cells[lane] = first + lane < body->tree.cell_count ? first + lane : UINT32_MAX;
      flips[lane] = (uint8_t)((first / 8 + lane) % 8);
    }
    sn_flesh_cell_matrices(&body->flesh, &m->state->bodies[0].flesh, cells, flips, K);
    for (int lane = 0; lane < 8 && cells[lane] != UINT32_MAX; ++lane) {
      sn_corners at = sn_octree_corners(&body->tree, cells[lane]);
      const uint32_t* nodes = at.nodes;
      for (int a = 0, pair = 0; a < 8; ++a) {
        for (int b = a; b < 8; ++b, ++pair) {
          size_t i = 3 * (size_t)nodes[a ^ flips[lane]], j = 3 * (size_t)nodes[b ^ flips[lane]];
          for (int e = 0; e < 9; ++e) {
            double k = K[pair][e][lane];
            y[i + e / 3] += k * p[j + e % 3];
            if (a != b) y[j + e % 3] += k * p[i + e / 3];
          }
        }
      }
    }
  }
}

static double difference(size_t n, const double* x, const double* y) {
  double off = 0, size = 0;
  for (size_t i = 0; i < n; ++i) {
    off += (x[i] - y[i]) * (x[i] - y[i]);
    size += x[i] * x[i];
  }
  return sqrt(off / size);
}

// With one point in a cell, and with eight: those of the cells, and what is kept of eight points for products in
// single precision, against the points themselves in double. Bars and octrees.
static void cells_matrices_are_those_of_products(void** unused) {
  (void)unused;
  for (int k = 0; k < 3 * SN_LAW_COUNT; ++k) {
    int law = k / 3, eight = k % 3 > 0, octree = k % 3 > 1;
    sn_material material = sn_material_of((sn_law)law, lame_mu(1e4, 0.4), lame_lambda(1e4, 0.4));
    made m = octree ? bar(16, 12, 12, -1, material) : bar(9, 5, 6, 0, material);
    m.body.quadrature = eight ? 8 : 1;
    m.scene.solver.sharp = eight;
    made_build(&m);
    disturb(&m, 0.003);
    size_t n = m.model->unknown_count;
    const sn_flesh* flesh = &m.model->bodies[0].flesh;
    sn_flesh_work* work = &m.state->bodies[0].flesh;
    float *p = random_floats(n, 1, 3), *y = calloc(n, sizeof *y);
    double *z = calloc(n, sizeof *z), *exact = calloc(n, sizeof *exact);
    sn_vector_mask_f(NULL, n, m.model->held, 0, p);
    for (size_t i = 0; i < n; ++i) z[i] = p[i];
    sn_flesh_apply_d(flesh, m.pool, work, SN_HESSIAN_DEFINITE, z, exact);
    assert_true((work->matrices != NULL) == eight);
    sn_flesh_multiply(flesh, m.pool, work, SN_HESSIAN_DEFINITE, &(sn_addends_f){0}, p, y);
    for (size_t i = 0; i < n; ++i) z[i] = y[i];
    double kept = difference(n, exact, z), cells = 0;
    memset(z, 0, n * sizeof *z);
    if (!octree) multiply_by_matrices(&m, p, z);
    if (!octree) cells = difference(n, exact, z);
    if (!(kept < 1e-6 && cells < 1e-6)) fail_msg("law %d: %g, %g", law, kept, cells);
    free(p);
    free(y);
    free(z);
    free(exact);
    made_destroy(&m);
  }
}

// Moving all of a body takes no force, however far: a matrix is not what rounding left of its diagonal.
static void matrices_that_are_kept_know_no_place(void** unused) {
  (void)unused;
  made m = bar(20, 10, 10, -1, flesh_of(0.4));
  m.body.quadrature = 8;
  m.scene.solver.sharp = true;
  made_build(&m);
  disturb(&m, 0.003);
  size_t n = m.model->unknown_count;
  float *p = malloc(n * sizeof *p), *y = calloc(n, sizeof *y);
  for (size_t i = 0; i < n; ++i) p[i] = (float)(i % 3 + 1) * 1e3f;
  sn_flesh_multiply(&m.model->bodies[0].flesh, m.pool, &m.state->bodies[0].flesh,
                    SN_HESSIAN_DEFINITE, &(sn_addends_f){0}, p, y);
  for (size_t i = 0; i < n; ++i) assert_true(y[i] == 0);
  free(p);
  free(y);
  made_destroy(&m);
}

// K x = f on inner nodes where x = K_II^-1 f there and 0 elsewhere.
static void check_elimination(made* m, double least_share) {
  made_build(m);
  disturb(m, 0.001);
  sn_body_multigrid* multigrid = &m->state->multigrids[0];
  sn_macroblocks_work* work = &multigrid->macroblocks;
  sn_mg_level* finest = &multigrid->levels[0];
  size_t n = m->model->unknown_count;
  float *f = random_floats(n, 1, 5), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
  double off = 0, size = 0, inner = 0;
  sn_macroblocks_solve(work, m->pool, 1, f, x);
  finest->multiply(finest->ctx, m->pool, finest->springs, x, 0, NULL, y);
  for (size_t i = 0; i < n; ++i) {
    if (!(work->inner[i / 3] >> i % 3 & 1)) {
      assert_true(x[i] == 0);
      continue;
    }
    ++inner;
    off += (y[i] - f[i]) * (y[i] - f[i]);
    size += f[i] * f[i];
  }
  print_message("%u cells, %u blocks, %.0f %% inner, residual %.1e\n",
                m->model->bodies[0].tree.cell_count, work->blocks->count, 100 * inner / (double)n,
                sqrt(off / size));
  assert_true(inner >= least_share * (double)n);
  assert_true(sqrt(off / size) < 1e-4);
  free(f);
  free(x);
  free(y);
  made_destroy(m);
}

static void inner_nodes_are_eliminated_on_uniform_grids(void** unused) {
  (void)unused;
  made m = bar(40, 20, 14, 0, flesh_of(0.4));
  check_elimination(&m, 0.5);
}

static void inner_nodes_are_eliminated_on_octrees(void** unused) {
  (void)unused;
  made m = bar(48, 32, 32, -1, flesh_of(0.4));
  check_elimination(&m, 0.25);
}

static void inner_nodes_are_eliminated_in_thin_bodies(void** unused) {
  (void)unused;
  made m = bar(60, 2, 30, 0, flesh_of(0.4));
  check_elimination(&m, 0.7);
}

// K x = b under weight by the solver asked for.
static double* solve_by(made* m, sn_study_opts opts) {
  double* x = calloc(m->model->unknown_count, sizeof *x);
  sn_error err = {0};
  sn_study_result result;
  opts.max = 4000;
  opts.tolerance = 1e-8;
  opts.weight = true;
  opts.solution = x;
  assert_ok(sn_state_study(m->model, m->state, &opts, &result, &err), &err);
  print_message("%d iterations, residual %.1e\n", result.iterations, result.residual);
  assert_true(result.converged);
  return x;
}
static double* solve(made* m, sn_linear_solver linear, sn_macroblock_interface interface) {
  return solve_by(m, (sn_study_opts){.linear = linear, .interface = interface});
}

static void the_solution_is_that_of_cg(void** unused) {
  (void)unused;
  for (int octree = 0; octree < 2; ++octree) {
    made m = bar(20, 10, 10, octree ? -1 : 0, flesh_of(0.3));
    m.scene.solver.interface = SN_MACROBLOCK_FACES;
    made_build(&m);
    size_t n = m.model->unknown_count;
    double* cg = solve(&m, SN_LINEAR_CG, 0);
    for (int interface = 0; interface < 4; ++interface) {
      if (octree && interface != SN_MACROBLOCK_MULTIGRID && interface != SN_MACROBLOCK_FACES)
        continue;
      double* x = solve(&m, SN_LINEAR_MACROBLOCK, (sn_macroblock_interface)interface);
      assert_true(difference(n, cg, x) < 1e-6);
      free(x);
    }
    double* x = solve_by(&m, (sn_study_opts){.linear = SN_LINEAR_MULTIGRID, .blocks_smooth = true});
    assert_true(difference(n, cg, x) < 1e-6);
    free(x);
    free(cg);
    made_destroy(&m);
  }
}

static void the_preconditioner_is_symmetric_and_positive(void** unused) {
  (void)unused;
  made m = bar(36, 12, 12, -1, flesh_of(0.4));
  m.scene.solver.interface = SN_MACROBLOCK_FACES;
  made_build(&m);
  disturb(&m, 0.001);
  size_t n = m.model->unknown_count;
  float *f = random_floats(2 * n, 1, 3), *z = malloc(n * sizeof *z), *w = malloc(n * sizeof *w);
  float *r = f, *q = f + n;
  sn_vector_mask_f(NULL, n, m.model->held, 0, r);
  sn_vector_mask_f(NULL, n, m.model->held, 0, q);
  const sn_preconditioner* M = &m.state->preconditioner;
  for (int k = 0; k < 9; ++k) {
    sn_preconditioner_set_interface(m.state, (sn_macroblock_interface)(k % 4));
    // Last, as smoothers of multigrid.
    m.state->by_macroblocks = k < 8;
    sn_preconditioner_smooth_by_blocks(m.state, k == 8);
    // The second time there is nothing on inner nodes, and blocks are solved once.
    const float* outside = m.state->multigrids[0].macroblocks.outside;
    for (size_t i = 0; i < 2 * n && k == 4; ++i) f[i] *= outside[i % n];
    for (size_t i = 0; i < 2 * n && k == 8; ++i)
      f[i] += 0.3f * (1 - outside[i % n]) * (float)(i % 7);
    if (k == 8) sn_vector_mask_f(NULL, n, m.model->held, 0, r);
    if (k == 8) sn_vector_mask_f(NULL, n, m.model->held, 0, q);
    M->apply(M->ctx, m.pool, r, z);
    M->apply(M->ctx, m.pool, q, w);
    double rz = sn_vector_dot_f(NULL, n, r, z), qw = sn_vector_dot_f(NULL, n, q, w);
    double qz = sn_vector_dot_f(NULL, n, q, z), rw = sn_vector_dot_f(NULL, n, r, w);
    assert_true(rz > 0 && qw > 0);
    assert_true(fabs(qz - rw) < 1e-4 * sqrt(rz * qw));
  }
  free(f);
  free(z);
  free(w);
  made_destroy(&m);
}

// Where springs alone have changed.
static void only_blocks_that_differ_are_factored_anew(void** unused) {
  (void)unused;
  made m = bar(36, 12, 12, 0, flesh_of(0.4));
  made_build(&m);
  disturb(&m, 0.001);
  sn_mg_level finest = m.state->multigrids[0].levels[0];
  sn_macroblocks_work* work = &m.state->multigrids[0].macroblocks;
  uint32_t count = work->blocks->count, stale = 0;
  finest.b = calloc(finest.unknown_count, sizeof *finest.b);
  for (uint32_t b = 0; b < count; ++b) stale += work->stale[b];
  assert_true(count > 2 && stale == count);
  sn_macroblocks_mark(work, &finest, true);
  for (uint32_t b = 0; b < count; ++b) assert_false(work->stale[b]);
  uint32_t node = UINT32_MAX;
  for (int i = 0; node == UINT32_MAX; ++i) node = work->blocks->nodes[1][i];
  finest.b[3 * (size_t)node + 1] = 10;
  sn_macroblocks_mark(work, &finest, true);
  for (uint32_t b = 0; b < count; ++b) assert_int_equal(work->stale[b], b == 1);
  sn_macroblocks_mark(work, &finest, false);
  for (uint32_t b = 0; b < count; ++b) assert_true(work->stale[b]);
  free(finest.b);
  made_destroy(&m);
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

// With one point in a cell, and with eight, which the blocks' matrices have too.
static void frames_are_those_of_multigrid_for_every_law(void** unused) {
  (void)unused;
  for (int k = 0; k < 2 * SN_LAW_COUNT; ++k) {
    int law = k / 2;
    sn_material material = sn_material_of((sn_law)law, lame_mu(1e4, 0.4), lame_lambda(1e4, 0.4));
    made m = bar(18, 9, 8, 0, material);
    m.body.quadrature = k % 2 ? 8 : 1;
    m.scene.solver.sharp = k % 2;
    made other = m;
    other.scene.solver.linear = SN_LINEAR_MULTIGRID;
    other.body.mesh = shape_box(sn_v3(0, 0, 0), sn_v3(0.18, 0.09, 0.08));
    double *u = bend(&m, 2), *v = bend(&other, 2);
    double off = difference(m.model->unknown_count, u, v);
    if (!(off < 1e-5)) fail_msg("law %d: %g", law, off);
    free(u);
    free(v);
    made_destroy(&m);
    made_destroy(&other);
  }
}

// The same two solvers on a bar as changed by `change`.
static double compare_solvers(void (*change)(made*)) {
  made m[2];
  double* u[2];
  for (int i = 0; i < 2; ++i) {
    m[i] = bar(18, 9, 8, 0, flesh_of(0.4));
    if (i) m[i].scene.solver.linear = SN_LINEAR_MULTIGRID;
    change(&m[i]);
    u[i] = bend(&m[i], 2);
  }
  double off = difference(m[0].model->unknown_count, u[0], u[1]);
  for (int i = 0; i < 2; ++i) {
    free(u[i]);
    made_destroy(&m[i]);
  }
  return off;
}

static void lay_on_sphere(made* m) {
  static sn_collider_desc sphere = {.name = (char*)"sphere",
                                    .kind = SN_COLLIDER_SPHERE,
                                    .position = {0.15, -0.0495, 0.04},
                                    .radius = 0.05,
                                    .friction = 0.3,
                                    .stiffness = 500};
  m->scene.colliders = &sphere;
  m->scene.collider_count = 1;
}

static void contacts_are_those_of_multigrid(void** unused) {
  (void)unused;
  assert_true(compare_solvers(lay_on_sphere) < 1e-4);
}

static void lay_on_sphere_by_faces(made* m) {
  lay_on_sphere(m);
  m->scene.solver.interface = SN_MACROBLOCK_FACES;
}

static void contacts_with_faces_are_those_of_multigrid(void** unused) {
  (void)unused;
  assert_true(compare_solvers(lay_on_sphere_by_faces) < 1e-4);
}

// Every node that is in no block is in one face, and faces are no larger than those of a box. K of a face is what
// products with K give on it.
static void faces_have_the_interface_and_solve_it(void** unused) {
  (void)unused;
  for (int octree = 0; octree < 2; ++octree) {
    made m = bar(40, 12, 14, octree ? -1 : 0, flesh_of(0.4));
    m.scene.solver.interface = SN_MACROBLOCK_FACES;
    made_build(&m);
    disturb(&m, 0.001);
    sn_body_multigrid* multigrid = &m.state->multigrids[0];
    sn_macroblocks_work* work = &multigrid->macroblocks;
    sn_mg_level* finest = &multigrid->levels[0];
    const sn_dissection* faces = work->faces.plan;
    size_t n = m.model->unknown_count;
    uint8_t* seen = calloc(n / 3, 1);
    for (size_t i = 0; i < (size_t)work->blocks->count * SN_BLOCK_NODES; ++i) {
      uint32_t node = work->blocks->nodes[i / SN_BLOCK_NODES][i % SN_BLOCK_NODES];
      if (node != UINT32_MAX) seen[node]++;
    }
    for (uint32_t k = 0; k < faces->node_count; ++k) seen[faces->nodes[k]]++;
    for (size_t i = 0; i < n / 3; ++i) assert_true(seen[i] == 1 || m.model->held[i]);
    free(seen);
    float *f = random_floats(n, 1, 5), *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
    float* z = calloc(n, sizeof *z);
    sn_dissected_solve(&work->faces, m.pool, f, x);
    for (uint32_t p = 0; p < faces->part_count; p += 5) {
      const sn_part* part = &faces->parts[p];
      double off = 0, size = 0;
      assert_true(part->own_count > 0 && part->own_count <= 105);
      memset(z, 0, n * sizeof *z);
      for (uint32_t k = 0; k < 3 * part->own_count; ++k) {
        size_t at = 3 * (size_t)faces->nodes[part->own_begin + k / 3] + k % 3;
        z[at] = x[at];
      }
      finest->multiply(finest->ctx, m.pool, finest->springs, z, 0, NULL, y);
      for (uint32_t k = 0; k < 3 * part->own_count; ++k) {
        size_t at = 3 * (size_t)faces->nodes[part->own_begin + k / 3] + k % 3;
        off += (y[at] - f[at]) * (y[at] - f[at]);
        size += f[at] * f[at];
      }
      assert_true(sqrt(off / size) < 1e-4);
    }
    print_message("%u faces of %u nodes\n", faces->part_count, faces->node_count);
    free(f);
    free(x);
    free(y);
    free(z);
    made_destroy(&m);
  }
}

static void keep_pressures(made* m) {
  m->body.material = flesh_of(0.4995);
  m->scene.solver.pressure = SN_PRESSURE_KEPT;
}

static void pressures_are_kept_as_with_multigrid(void** unused) {
  (void)unused;
  assert_true(compare_solvers(keep_pressures) < 1e-4);
}

static void bodies_too_small_for_blocks_are_solved_too(void** unused) {
  (void)unused;
  made m = bar(3, 2, 2, 0, flesh_of(0.4));
  free(bend(&m, 1));
  assert_int_equal(m.model->hierarchies[0].macroblocks.count, 0);
  made_destroy(&m);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_matrices_are_those_of_products),
      cmocka_unit_test(matrices_that_are_kept_know_no_place),
      cmocka_unit_test(inner_nodes_are_eliminated_on_uniform_grids),
      cmocka_unit_test(inner_nodes_are_eliminated_on_octrees),
      cmocka_unit_test(inner_nodes_are_eliminated_in_thin_bodies),
      cmocka_unit_test(the_solution_is_that_of_cg),
      cmocka_unit_test(the_preconditioner_is_symmetric_and_positive),
      cmocka_unit_test(only_blocks_that_differ_are_factored_anew),
      cmocka_unit_test(frames_are_those_of_multigrid_for_every_law),
      cmocka_unit_test(contacts_are_those_of_multigrid),
      cmocka_unit_test(contacts_with_faces_are_those_of_multigrid),
      cmocka_unit_test(faces_have_the_interface_and_solve_it),
      cmocka_unit_test(pressures_are_kept_as_with_multigrid),
      cmocka_unit_test(bodies_too_small_for_blocks_are_solved_too),
      cmocka_unit_test(threads_do_not_change_a_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
