#include "solve/cg.h"

#include "solve/chain.h"

static const uint8_t FIRST_HELD[MOST_NODES] = {1};

typedef struct cg_case {
  chain springs;
  sn_term term;
  sn_problem problem;
  solver s;
  double solution[MOST_UNKNOWNS], b[MOST_UNKNOWNS], x[MOST_UNKNOWNS];
} cg_case;

// K x = b with a known solution, the first node held.
static void fill_case(cg_case* c, const chain* springs, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  size_t unknowns = 3 * (size_t)springs->node_count;
  *c = (cg_case){.springs = *springs};
  c->term = (sn_term){.ops = &CHAIN, .model = &c->springs};
  c->problem = (sn_problem){
      .unknown_count = unknowns, .terms = &c->term, .term_count = 1, .held = FIRST_HELD};
  solver_begin(&c->s, &c->problem, 1);
  for (size_t i = 3; i < unknowns; ++i) c->solution[i] = sn_random_symmetric(&random);
  chain_apply_to(&c->springs, c->solution, c->b);
  memset(c->b, 0, 3 * sizeof *c->b);
}

static sn_cg_result solve_case(cg_case* c, const sn_preconditioner* m, int max, double tolerance) {
  sn_cg_opts opts = {
      .kind = SN_HESSIAN_EXACT, .preconditioner = m, .max = max, .tolerance = tolerance};
  for (int i = 0; i < MOST_UNKNOWNS; ++i) c->x[i] = NAN;  // the start must not be read
  return sn_cg_solve(&c->problem, NULL, &opts, &c->s.cg, c->b, c->x);
}

static double true_residual(const cg_case* c) {
  double y[MOST_UNKNOWNS] = {0}, off = 0, size = 0;
  chain_apply_to(&c->springs, c->x, y);
  for (size_t i = 3; i < c->problem.unknown_count; ++i) {
    off += (c->b[i] - y[i]) * (c->b[i] - y[i]);
    size += c->b[i] * c->b[i];
  }
  return sqrt(off / size);
}

static double error_of(const cg_case* c) {
  double most = 0;
  for (size_t i = 0; i < c->problem.unknown_count; ++i) {
    most = fmax(most, fabs(c->x[i] - c->solution[i]));
  }
  return most;
}

// 1/2 x.Kx - b.x
static double model_value(const cg_case* c) {
  double value = chain_evaluate(&c->term, NULL, c->x, NULL, NULL);
  for (size_t i = 0; i < c->problem.unknown_count; ++i) value -= c->b[i] * c->x[i];
  return value;
}

static void a_chain_is_solved_to_the_tolerance(void** unused) {
  (void)unused;
  chain springs = make_chain(20, 1);
  cg_case c;
  fill_case(&c, &springs, 2);
  static const double TOLERANCES[] = {1e-2, 1e-6, 1e-12};
  int before = 0;
  for (int t = 0; t < 3; ++t) {
    sn_cg_result result = solve_case(&c, NULL, 1000, TOLERANCES[t]);
    assert_int_equal(result.stop, SN_CG_CONVERGED);
    assert_true(result.residual <= 1.1 * TOLERANCES[t]);
    assert_true(fabs(true_residual(&c) - result.residual) <= 1e-3 * TOLERANCES[t]);
    assert_true(result.iterations > before);
    before = result.iterations;
  }
  assert_true(error_of(&c) <= 1e-9);
  assert_true(c.x[0] == 0 && c.x[1] == 0 && c.x[2] == 0);  // held
  solver_end(&c.s);
}

static void as_many_iterations_as_eigenvalues_are_enough(void** unused) {
  (void)unused;
  // Equal springs, each node tied to its place: one eigenvalue without links.
  chain springs = {.node_count = 10};
  for (int n = 0; n < 10; ++n) springs.anchor[n] = 3;
  cg_case c;
  fill_case(&c, &springs, 3);
  // The direction is kept in single precision: one iteration gives that many digits, and another
  // as many more.
  assert_int_equal(solve_case(&c, NULL, 100, 1e-6).iterations, 1);
  assert_true(error_of(&c) <= 1e-7);
  assert_true(solve_case(&c, NULL, 100, 1e-12).iterations <= 3);
  assert_true(error_of(&c) <= 1e-12);
  solver_end(&c.s);
}

static void the_diagonal_changes_the_way_but_not_the_solution(void** unused) {
  (void)unused;
  chain springs = make_chain(40, 4);
  for (int n = 0; n < 40; ++n) springs.anchor[n] = n % 2 ? 1e4 : 1;
  cg_case c;
  fill_case(&c, &springs, 5);
  c.s.diagonal.update(c.s.diagonal.ctx, NULL, SN_FIT_FRAME);
  sn_cg_result plain = solve_case(&c, NULL, 1000, 1e-13);
  double plain_error = error_of(&c);
  sn_cg_result preconditioned = solve_case(&c, &c.s.diagonal, 1000, 1e-13);
  assert_int_equal(plain.stop, SN_CG_CONVERGED);
  assert_int_equal(preconditioned.stop, SN_CG_CONVERGED);
  print_message("%d iterations plain, %d with the diagonal; errors %.1e, %.1e\n", plain.iterations,
                preconditioned.iterations, plain_error, error_of(&c));
  assert_true(plain_error <= 1e-9 && error_of(&c) <= 1e-9);
  assert_true(preconditioned.iterations < plain.iterations);
  solver_end(&c.s);
}

static void the_limit_on_iterations_is_kept_and_reported(void** unused) {
  (void)unused;
  chain springs = make_chain(30, 6);
  cg_case c;
  fill_case(&c, &springs, 7);
  double before = 0;
  for (int max = 0; max < 8; ++max) {
    sn_cg_result result = solve_case(&c, NULL, max, 1e-12);
    assert_int_equal(result.stop, SN_CG_MAX);
    assert_int_equal(result.iterations, max);
    // Each iterate is the least of the quadratic model in a larger space.
    assert_true(max == 0 ? model_value(&c) == 0 : model_value(&c) < before);
    before = model_value(&c);
  }
  solver_end(&c.s);
}

static void nothing_to_solve_takes_no_iteration(void** unused) {
  (void)unused;
  chain springs = make_chain(5, 8);
  cg_case c;
  fill_case(&c, &springs, 9);
  memset(c.b, 0, sizeof c.b);
  sn_cg_result result = solve_case(&c, NULL, 10, 1e-6);
  assert_int_equal(result.stop, SN_CG_CONVERGED);
  assert_int_equal(result.iterations, 0);
  for (size_t i = 0; i < c.problem.unknown_count; ++i) assert_true(c.x[i] == 0);
  solver_end(&c.s);
}

static void negative_curvature_at_once_leaves_the_right_side(void** unused) {
  (void)unused;
  chain springs = {.node_count = 6};
  for (int n = 0; n < 6; ++n) springs.anchor[n] = -1;
  cg_case c;
  fill_case(&c, &springs, 10);
  sn_cg_result result = solve_case(&c, NULL, 100, 1e-6);
  assert_int_equal(result.stop, SN_CG_NEGATIVE);
  assert_int_equal(result.iterations, 0);
  // The direction is kept in single precision.
  for (size_t i = 0; i < c.problem.unknown_count; ++i) {
    assert_true(fabs(c.x[i] - c.b[i]) <= 1e-7 * fabs(c.b[i]));
  }
  solver_end(&c.s);
}

static void negative_curvature_later_leaves_a_way_downhill(void** unused) {
  (void)unused;
  // Stiff springs along the chain, and one node that is pushed away from its place.
  chain springs = make_chain(20, 11);
  springs.anchor[15] = -50;
  cg_case c;
  fill_case(&c, &springs, 12);
  for (size_t i = 0; i < c.problem.unknown_count; ++i) {
    c.s.jacobi.diagonal[i] = 1 + (double)(i % 7);
  }
  for (int precondition = 0; precondition < 2; ++precondition) {
    sn_cg_result result = solve_case(&c, precondition ? &c.s.diagonal : NULL, 1000, 1e-12);
    assert_int_equal(result.stop, SN_CG_NEGATIVE);
    assert_true(result.iterations > 0);
    assert_true(model_value(&c) < 0);
  }
  solver_end(&c.s);
}

// Length of x by the diagonal.
static double scaled_length(const cg_case* c) {
  double sum = 0;
  for (size_t i = 0; i < c->problem.unknown_count; ++i) {
    sum += c->s.jacobi.diagonal[i] * c->x[i] * c->x[i];
  }
  return sqrt(sum);
}

// Short ones end at the edge, with the curvature positive or not; a long one is as if there were none.
static void a_radius_is_kept_and_what_is_gained_is_known(void** unused) {
  (void)unused;
  static const double RADII[] = {0.01, 1, 5, 1e6};
  for (int k = 0; k < 8; ++k) {
    chain springs = make_chain(20, 11);
    if (k & 1) springs.anchor[15] = -50;
    cg_case c;
    fill_case(&c, &springs, 12);
    for (size_t i = 0; i < c.problem.unknown_count; ++i) {
      c.s.jacobi.diagonal[i] = 1 + (double)(i % 7);
    }
    sn_cg_opts opts = {.kind = SN_HESSIAN_EXACT,
                       .preconditioner = &c.s.diagonal,
                       .max = 1000,
                       .tolerance = 1e-4,
                       .unverified = true,
                       .radius = RADII[k / 2]};
    sn_cg_result result = sn_cg_solve(&c.problem, NULL, &opts, &c.s.cg, c.b, c.x);
    bool reached = k & 1 || RADII[k / 2] < 10;
    assert_int_equal(result.stop, reached ? SN_CG_EDGE : SN_CG_CONVERGED);
    if (reached) assert_true(fabs(result.length / opts.radius - 1) < 1e-9);
    assert_true(fabs(scaled_length(&c) / result.length - 1) < 1e-3);
    assert_true(result.gain > 0 && fabs(model_value(&c) / -result.gain - 1) < 1e-3);
    solver_end(&c.s);
  }
}

// Springs from 1 to 1e6: single precision has no digits left of the smallest eigenvalues.
static void the_residual_reported_is_the_true_one(void** unused) {
  (void)unused;
  static const struct {
    int max;
    double tolerance;
  } LIMITS[] = {{0, 1e-4},   {1, 1e-4},    {7, 1e-4},   {40, 1e-9},
                {150, 1e-9}, {5000, 1e-3}, {5000, 1e-6}};
  chain springs = make_chain(MOST_NODES, 13);
  for (int n = 0; n < MOST_NODES; ++n) springs.link[n] *= springs.link[n];
  cg_case c;
  fill_case(&c, &springs, 14);
  c.s.diagonal.update(c.s.diagonal.ctx, NULL, SN_FIT_FRAME);
  int stops[2] = {0};
  for (size_t k = 0; k < 2 * sizeof LIMITS / sizeof *LIMITS; ++k) {
    const sn_preconditioner* m = k % 2 ? &c.s.diagonal : NULL;
    sn_cg_result result = solve_case(&c, m, LIMITS[k / 2].max, LIMITS[k / 2].tolerance);
    double y[MOST_UNKNOWNS], off = 0, size = 0;
    sn_problem_apply_d(&c.problem, NULL, SN_HESSIAN_EXACT, c.x, y);
    for (size_t i = 0; i < c.problem.unknown_count; ++i) {
      off += (c.b[i] - y[i]) * (c.b[i] - y[i]);
      size += c.b[i] * c.b[i];
    }
    double expected = sqrt(off / size);
    print_message("%s: stop %d after %d, residual %.3e, off by %.1e of it\n",
                  m ? "diagonal" : "plain", (int)result.stop, result.iterations, expected,
                  fabs(result.residual - expected) / expected);
    assert_true(fabs(result.residual - expected) <= 1e-9 * expected);
    assert_true(result.stop == SN_CG_CONVERGED || result.stop == SN_CG_MAX);
    if (result.stop == SN_CG_CONVERGED) assert_true(expected <= 1.1 * LIMITS[k / 2].tolerance);
    stops[result.stop]++;
  }
  // The recursion's word would not have done.
  sn_cg_opts trusting = {
      .kind = SN_HESSIAN_EXACT, .max = 5000, .tolerance = 1e-10, .unverified = true};
  sn_cg_result believed = sn_cg_solve(&c.problem, NULL, &trusting, &c.s.cg, c.b, c.x);
  print_message("believed %.1e, true %.1e\n", believed.residual, true_residual(&c));
  assert_true(believed.residual <= 1e-10 && true_residual(&c) > 1e-9);
  assert_true(stops[SN_CG_CONVERGED] >= 3 && stops[SN_CG_MAX] >= 3);
  solver_end(&c.s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_chain_is_solved_to_the_tolerance),
      cmocka_unit_test(as_many_iterations_as_eigenvalues_are_enough),
      cmocka_unit_test(the_diagonal_changes_the_way_but_not_the_solution),
      cmocka_unit_test(the_limit_on_iterations_is_kept_and_reported),
      cmocka_unit_test(nothing_to_solve_takes_no_iteration),
      cmocka_unit_test(negative_curvature_at_once_leaves_the_right_side),
      cmocka_unit_test(negative_curvature_later_leaves_a_way_downhill),
      cmocka_unit_test(a_radius_is_kept_and_what_is_gained_is_known),
      cmocka_unit_test(the_residual_reported_is_the_true_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
