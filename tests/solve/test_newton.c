#include "solve/newton.h"

#include "elasticity/blob.h"
#include "solve/chain.h"

// ---- A valley that bends ----

// For each node (x, y, z), with its least value 0 at (1, 1, 0) (Rosenbrock's valley and a cone with
// a round tip, on which full steps from afar overshoot):
//     E = (1 - x)^2 + 100 (y - x^2)^2 + sqrt(1 + z^2) - 1
typedef struct valley {
  int node_count;
} valley;

typedef struct valley_work {
  double u[MOST_UNKNOWNS];  // where it was linearised
} valley_work;

static double valley_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                              double* forces) {
  (void)pool;
  double sum = 0;
  int node_count = ((const valley*)term->model)->node_count;
  for (int n = 0; n < node_count; ++n, u += 3) {
    double bend = u[1] - u[0] * u[0];
    sum += (1 - u[0]) * (1 - u[0]) + 100 * bend * bend + sqrt(1 + u[2] * u[2]) - 1;
    if (!g) continue;
    g[3 * n] += -2 * (1 - u[0]) - 400 * u[0] * bend;
    g[3 * n + 1] += 200 * bend;
    g[3 * n + 2] += u[2] / sqrt(1 + u[2] * u[2]);
  }
  if (forces) *forces = length_of(g, 3 * node_count);  // the only term: g was zero
  return sum;
}

static void valley_linearise(const sn_term* term, sn_pool* pool, const double* u) {
  (void)pool;
  size_t count = 3 * (size_t)((const valley*)term->model)->node_count;
  memcpy(((valley_work*)term->work)->u, u, count * sizeof *u);
}

// The definite Hessian leaves out the curvature of y - x^2.
static double second_xx(sn_hessian kind, const double* u) {
  double bend = u[1] - u[0] * u[0];
  return 2 + 800 * u[0] * u[0] - (kind == SN_HESSIAN_EXACT ? 400 * bend : 0);
}

static double second_zz(const double* u) { return pow(1 + u[2] * u[2], -1.5); }

static void valley_apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                           double* y) {
  (void)pool;
  const double* u = ((valley_work*)term->work)->u;
  for (int n = 0; n < ((const valley*)term->model)->node_count; ++n, u += 3, p += 3, y += 3) {
    y[0] += second_xx(kind, u) * p[0] - 400 * u[0] * p[1];
    y[1] += 200 * p[1] - 400 * u[0] * p[0];
    y[2] += second_zz(u) * p[2];
  }
}

// All of it in single precision, coefficients too.
static void valley_apply_f(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p,
                           float* y) {
  (void)pool;
  const double* u = ((valley_work*)term->work)->u;
  for (int n = 0; n < ((const valley*)term->model)->node_count; ++n, u += 3, p += 3, y += 3) {
    float xy = (float)(400 * u[0]);
    y[0] += (float)second_xx(kind, u) * p[0] - xy * p[1];
    y[1] += 200 * p[1] - xy * p[0];
    y[2] += (float)second_zz(u) * p[2];
  }
}

static void valley_diagonal(const sn_term* term, sn_pool* pool, double* d) {
  (void)pool;
  const double* u = ((valley_work*)term->work)->u;
  for (int n = 0; n < ((const valley*)term->model)->node_count; ++n, u += 3, d += 3) {
    d[0] += second_xx(SN_HESSIAN_DEFINITE, u);
    d[1] += 200;
    d[2] += second_zz(u);
  }
}

static const sn_term_ops VALLEY = {.name = "valley",
                                   .evaluate = valley_evaluate,
                                   .linearise = valley_linearise,
                                   .apply_d = valley_apply_d,
                                   .apply_f = valley_apply_f,
                                   .diagonal = valley_diagonal};

static sn_problem problem_of(size_t unknown_count, const sn_term* terms, int term_count,
                             const uint8_t* held) {
  return (sn_problem){
      .unknown_count = unknown_count, .terms = terms, .term_count = term_count, .held = held};
}

static sn_newton_opts options(int max, double tolerance, int krylov_max, double krylov_tolerance,
                              const sn_preconditioner* preconditioner) {
  return (sn_newton_opts){.max = max,
                          .tolerance = tolerance,
                          .krylov_max = krylov_max,
                          .krylov_tolerance = krylov_tolerance,
                          .preconditioner = preconditioner};
}

// Nodes in valleys of their own, linked by springs that have no length where all nodes agree.
#define NODES 8
#define UNKNOWNS (3 * NODES)

typedef struct valley_case {
  valley v;
  valley_work work;
  chain springs;
  sn_term terms[2];
  uint8_t held[NODES];
  sn_problem problem;
  solver s;
  double u[UNKNOWNS];
} valley_case;

static void fill_valleys(valley_case* c, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  *c = (valley_case){.v = {NODES}, .springs = make_chain(NODES, seed)};
  for (int n = 0; n < NODES; ++n) c->springs.link[n] /= 100;
  c->terms[0] = (sn_term){.ops = &VALLEY, .model = &c->v, .work = &c->work};
  c->terms[1] = (sn_term){.ops = &CHAIN, .model = &c->springs};
  c->problem = problem_of(UNKNOWNS, c->terms, 2, c->held);
  c->problem.force_scale = 1;
  solver_begin(&c->s, &c->problem, 500);
  for (int i = 0; i < UNKNOWNS; ++i) c->u[i] = 3 * sn_random_symmetric(&random);
}

static sn_newton_result solve_valleys(valley_case* c, int max, double tolerance) {
  sn_newton_opts opts = options(max, tolerance, 100, 1e-10, &c->s.diagonal);
  return sn_newton_solve(&c->problem, NULL, &opts, &c->s.work, c->u);
}

static sn_evaluation evaluate_valleys(const valley_case* c) {
  double g[UNKNOWNS];
  return sn_problem_evaluate(&c->problem, NULL, c->u, g);
}

static double distance_to_minimiser(const double* u) {
  double most = 0;
  for (int i = 0; i < UNKNOWNS; ++i) most = fmax(most, fabs(u[i] - (i % 3 == 2 ? 0 : 1)));
  return most;
}

static void the_minimiser_is_reached_from_anywhere(void** unused) {
  (void)unused;
  double worst = 0;
  int most_steps = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    valley_case c;
    fill_valleys(&c, seed);
    sn_newton_result result = solve_valleys(&c, 500, 1e-11);
    assert_int_equal(result.stop, SN_NEWTON_CONVERGED);
    assert_true(result.residual <= 1e-11);
    assert_true(fabs(result.energy) <= 1e-18);
    worst = fmax(worst, distance_to_minimiser(c.u));
    most_steps = result.steps > most_steps ? result.steps : most_steps;
    solver_end(&c.s);
  }
  print_message("worst %.1e after at most %d steps\n", worst, most_steps);
  assert_true(worst <= 1e-9);
}

static void no_step_raises_the_energy(void** unused) {
  (void)unused;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    valley_case c;
    fill_valleys(&c, seed);
    sn_newton_result result = {.stop = SN_NEWTON_MAX};
    for (int step = 0; step < 500 && result.stop == SN_NEWTON_MAX; ++step) {
      sn_evaluation start = evaluate_valleys(&c);
      result = solve_valleys(&c, 1, 1e-11);
      double before = start.energy, after = evaluate_valleys(&c).energy;
      assert_true(after == result.energy);
      // By more than round-off, that is: there the slope decides.
      assert_true(after <= before + 1e-13 * start.magnitude);
      if (result.steps == 1 && before > 1e-6) assert_true(after < before);
    }
    assert_int_equal(result.stop, SN_NEWTON_CONVERGED);
    solver_end(&c.s);
  }
}

static void last_steps_double_the_digits(void** unused) {
  (void)unused;
  valley_case c;
  fill_valleys(&c, 5);
  double before = INFINITY;
  int quadratic = 0;
  for (int step = 0; step < 500 && before > 1e-6; ++step) {
    solve_valleys(&c, 1, 0);
    double error = distance_to_minimiser(c.u);
    if (before < 1e-2) {
      print_message("from %.1e to %.1e\n", before, error);
      assert_true(error <= 100 * before * before);
      ++quadratic;
    }
    before = error;
  }
  assert_true(quadratic >= 2);
  solver_end(&c.s);
}

static void held_nodes_stay(void** unused) {
  (void)unused;
  valley_case c;
  fill_valleys(&c, 6);
  c.held[2] = c.held[7] = 1;
  double start[UNKNOWNS], g[UNKNOWNS];
  memcpy(start, c.u, sizeof start);
  sn_newton_result result = solve_valleys(&c, 500, 1e-10);
  assert_int_equal(result.stop, SN_NEWTON_CONVERGED);
  sn_problem_evaluate(&c.problem, NULL, c.u, g);
  for (int i = 0; i < UNKNOWNS; ++i) {
    if (c.held[i / 3]) assert_true(c.u[i] == start[i]);
    if (!c.held[i / 3]) assert_true(c.u[i] != start[i]);
    assert_true(fabs(g[i]) <= 1e-6);
  }
  // They pull their neighbours away from where the valleys alone would have them.
  assert_true(fabs(c.u[3] - 1) > 1e-3);
  solver_end(&c.s);
}

// ---- Why it stopped ----

static void running_out_of_steps_is_reported(void** unused) {
  (void)unused;
  valley_case c;
  fill_valleys(&c, 7);
  sn_newton_result result = solve_valleys(&c, 3, 1e-11);
  assert_int_equal(result.stop, SN_NEWTON_MAX);
  assert_int_equal(result.steps, 3);
  for (int k = 0; k < 3; ++k) assert_true(c.s.work.krylov[k] > 0);
  double g[UNKNOWNS], norm = 0;
  double forces = sn_problem_evaluate(&c.problem, NULL, c.u, g).forces;
  for (int i = 0; i < UNKNOWNS; ++i) norm += g[i] * g[i];
  assert_true(fabs(result.residual - sqrt(norm) / (forces + 1)) <= 1e-14 * result.residual);
  solver_end(&c.s);
}

static void a_start_at_the_minimiser_takes_no_step(void** unused) {
  (void)unused;
  valley_case c;
  fill_valleys(&c, 8);
  for (int i = 0; i < UNKNOWNS; ++i) c.u[i] = i % 3 == 2 ? 0 : 1;
  sn_newton_result result = solve_valleys(&c, 10, 1e-11);
  assert_int_equal(result.stop, SN_NEWTON_CONVERGED);
  assert_int_equal(result.steps, 0);
  assert_true(result.residual == 0 && distance_to_minimiser(c.u) == 0);
  solver_end(&c.s);
}

static void a_start_that_is_known_gives_the_same_bits(void** unused) {
  (void)unused;
  valley_case c, known;
  fill_valleys(&c, 5);
  fill_valleys(&known, 5);
  sn_newton_result expected = solve_valleys(&c, 500, 1e-11);
  sn_evaluation start = sn_problem_evaluate(&known.problem, NULL, known.u, known.s.work.gradient);
  sn_newton_opts opts = options(500, 1e-11, 100, 1e-10, &known.s.diagonal);
  opts.start = &start;
  sn_newton_result result = sn_newton_solve(&known.problem, NULL, &opts, &known.s.work, known.u);
  assert_int_equal(result.steps, expected.steps);
  assert_memory_equal(known.u, c.u, sizeof c.u);
  solver_end(&c.s);
  solver_end(&known.s);
}

static double lying_evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                             double* forces) {
  double true_gradient[MOST_UNKNOWNS] = {0};
  double energy = chain_evaluate(term, pool, u, true_gradient, forces);
  for (int i = 0; g && i < 3 * ((const chain*)term->model)->node_count; ++i) {
    g[i] -= true_gradient[i];
  }
  return energy;
}

static void a_way_that_only_leads_up_is_reported_as_stalled(void** unused) {
  (void)unused;
  static const sn_term_ops LIAR = {.name = "liar",
                                   .evaluate = lying_evaluate,
                                   .apply_d = chain_apply_d,
                                   .apply_f = chain_apply_f,
                                   .diagonal = chain_diagonal};
  static const uint8_t held[NODES] = {1};
  chain springs = make_chain(NODES, 9);
  sn_term term = {.ops = &LIAR, .model = &springs};
  sn_problem problem = problem_of(UNKNOWNS, &term, 1, held);
  solver s;
  solver_begin(&s, &problem, 10);
  sn_newton_opts opts = options(10, 1e-8, 100, 1e-10, &s.diagonal);
  double u[UNKNOWNS], start[UNKNOWNS];
  for (int i = 0; i < UNKNOWNS; ++i) start[i] = u[i] = i;
  sn_newton_result result = sn_newton_solve(&problem, NULL, &opts, &s.work, u);
  assert_int_equal(result.stop, SN_NEWTON_STALLED);
  assert_int_equal(result.steps, 0);
  assert_memory_equal(u, start, sizeof u);
  solver_end(&s);
}

// ---- Terms without stiffness ----

static void loads_without_stiffness_stretch_a_chain(void** unused) {
  (void)unused;
  static const uint8_t held[NODES] = {1};
  chain springs = make_chain(NODES, 10);
  dead_loads loads = {.count = UNKNOWNS};
  sn_random random = sn_random_seeded(11);
  for (int i = 0; i < UNKNOWNS; ++i) loads.forces[i] = sn_random_symmetric(&random);
  sn_term terms[2] = {{.ops = &DEAD_LOADS, .model = &loads}, {.ops = &CHAIN, .model = &springs}};
  sn_problem problem = problem_of(UNKNOWNS, terms, 2, held);
  for (int precondition = 0; precondition < 2; ++precondition) {
    solver s;
    solver_begin(&s, &problem, 10);
    sn_newton_opts opts = options(10, 1e-12, 1000, 1e-13, precondition ? &s.diagonal : NULL);
    double u[UNKNOWNS] = {0.1, 0.2, 0.3};
    sn_newton_result result = sn_newton_solve(&problem, NULL, &opts, &s.work, u);
    assert_int_equal(result.stop, SN_NEWTON_CONVERGED);
    // Every spring carries the loads beyond it.
    for (int i = 3; i < UNKNOWNS; ++i) {
      double carried = 0;
      for (int j = i; j < UNKNOWNS; j += 3) carried += loads.forces[j];
      assert_true(fabs(u[i] - u[i - 3] - carried / springs.link[i / 3 - 1]) <= 1e-10);
    }
    assert_true(u[0] == 0.1 && u[1] == 0.2 && u[2] == 0.3);
    solver_end(&s);
  }
}

static void loads_on_nothing_never_come_to_rest_and_stay_finite(void** unused) {
  (void)unused;
  static const uint8_t held[NODES] = {0};
  dead_loads loads = {.count = UNKNOWNS};
  for (int i = 0; i < UNKNOWNS; ++i) loads.forces[i] = 1 + i;
  sn_term term = {.ops = &DEAD_LOADS, .model = &loads};
  sn_problem problem = problem_of(UNKNOWNS, &term, 1, held);
  for (int precondition = 0; precondition < 2; ++precondition) {
    solver s;
    solver_begin(&s, &problem, 10);
    sn_newton_opts opts = options(10, 1e-8, 100, 1e-10, precondition ? &s.diagonal : NULL);
    double u[UNKNOWNS] = {0};
    sn_newton_result result = sn_newton_solve(&problem, NULL, &opts, &s.work, u);
    assert_int_not_equal(result.stop, SN_NEWTON_CONVERGED);
    assert_true(result.energy <= 0);
    for (int i = 0; i < UNKNOWNS; ++i) assert_true(isfinite(u[i]));
    solver_end(&s);
  }
}

// ---- Flesh ----

typedef enum ruin { COLLAPSED, INSIDE_OUT, SCATTERED, RUINS } ruin;

static const char* const RUIN_NAMES[RUINS] = {"collapsed", "inside out", "scattered"};

// A cube whose boundary is held a little stretched and whose inside is ruined.
static void ruin_inside(const blob* b, const uint8_t* held, ruin kind, double* u) {
  sn_random random = sn_random_seeded(12);
  for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
    sn_vec3 X = sn_octree_node_local(&b->body.tree, n), middle = sn_v3(0.5, 0.5, 0.5), to;
    if (held[n]) {
      to = sn_v3(1.2 * X.x, X.y, X.z);
    } else if (kind == COLLAPSED) {
      to = middle;
    } else if (kind == INSIDE_OUT) {
      to = sn_sub(sn_scale(2, middle), X);
    } else {
      to = sn_scale(0.5, sn_add(sn_v3(1, 1, 1), shape_random_point(&random)));
    }
    sn_store3(u + 3 * (size_t)n, sn_sub(to, X));
  }
}

static void ruined_flesh_recovers_downhill_all_the_way(void** unused) {
  (void)unused;
  blob b;
  sn_term terms[SN_BODY_TERMS];
  blob_fill_mesh(&b, shape_unit_cube(), 1.0 / 12, -1);
  uint8_t* held = blob_boundary(&b);
  sn_body_make_terms(&b.body, &b.work, terms);
  sn_problem problem = problem_of(b.unknown_count, terms, SN_BODY_TERMS, held);
  solver s;
  solver_begin(&s, &problem, 3);
  sn_newton_opts opts = options(1, 1e-10, 500, 1e-3, &s.diagonal);
  double *u = blob_vector(&b), *g = blob_vector(&b);
  for (int kind = 0; kind < RUINS; ++kind) {
    ruin_inside(&b, held, (ruin)kind, u);
    double energy = sn_problem_evaluate(&problem, NULL, u, g).energy;
    double first = energy, off = 0;
    sn_newton_result result = {.stop = SN_NEWTON_MAX};
    int steps = 0;
    for (; steps < 200 && result.stop == SN_NEWTON_MAX; ++steps) {
      result = sn_newton_solve(&problem, NULL, &opts, &s.work, u);
      assert_true(result.energy <= energy * (1 + 1e-13));
      energy = result.energy;
    }
    for (uint32_t n = 0; n < b.body.tree.node_count; ++n) {
      sn_vec3 to = sn_v3(0.2 * sn_octree_node_local(&b.body.tree, n).x, 0, 0);
      off = fmax(off, sn_distance(sn_load3(u + 3 * (size_t)n), to));
    }
    print_message("%s: energy %.3g to %.3g in %d steps, %.1e from the even stretch\n",
                  RUIN_NAMES[kind], first, energy, steps, off);
    assert_int_equal(result.stop, SN_NEWTON_CONVERGED);
    assert_true(off <= 1e-8);
  }
  solver_end(&s);
  blob_destroy(&b);
}

static void any_number_of_threads_gives_the_same_bits(void** unused) {
  (void)unused;
  static const int THREADS[] = {1, 2, 3, 8};
  blob b;
  sn_term terms[SN_BODY_TERMS];
  blob_fill_mesh(&b, shape_unit_cube(), 1.0 / 20, -1);
  assert_true(b.body.families.chunk_count > 2 && b.unknown_count > 2 * 6144);
  uint8_t* held = blob_boundary(&b);
  sn_body_make_terms(&b.body, &b.work, terms);
  sn_problem problem = problem_of(b.unknown_count, terms, SN_BODY_TERMS, held);
  solver s;
  solver_begin(&s, &problem, 3);
  sn_newton_opts opts = options(3, 1e-10, 30, 1e-3, &s.diagonal);
  double *expected = blob_vector(&b), *u = blob_vector(&b);
  ruin_inside(&b, held, SCATTERED, expected);
  sn_newton_solve(&problem, NULL, &opts, &s.work, expected);
  for (int t = 0; t < 4; ++t) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(THREADS[t], &pool, NULL), SN_OK);
    ruin_inside(&b, held, SCATTERED, u);
    sn_newton_solve(&problem, pool, &opts, &s.work, u);
    assert_memory_equal(u, expected, b.unknown_count * sizeof *u);
    sn_pool_destroy(pool);
  }
  solver_end(&s);
  blob_destroy(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_minimiser_is_reached_from_anywhere),
      cmocka_unit_test(no_step_raises_the_energy),
      cmocka_unit_test(last_steps_double_the_digits),
      cmocka_unit_test(held_nodes_stay),
      cmocka_unit_test(running_out_of_steps_is_reported),
      cmocka_unit_test(a_start_at_the_minimiser_takes_no_step),
      cmocka_unit_test(a_start_that_is_known_gives_the_same_bits),
      cmocka_unit_test(a_way_that_only_leads_up_is_reported_as_stalled),
      cmocka_unit_test(loads_without_stiffness_stretch_a_chain),
      cmocka_unit_test(loads_on_nothing_never_come_to_rest_and_stay_finite),
      cmocka_unit_test(ruined_flesh_recovers_downhill_all_the_way),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
