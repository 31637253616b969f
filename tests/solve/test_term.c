#include "solve/term.h"

#include "solve/chain.h"

#define NODES 9
#define UNKNOWNS (3 * NODES)

static const uint8_t HELD[NODES] = {1, 0, 0, 0, 1, 0, 0, 0, 0};

typedef struct term_case {
  chain springs;
  dead_loads loads;
  sn_term terms[2];
  sn_problem problem;
  double u[UNKNOWNS];
} term_case;

static void fill_case(term_case* c) {
  sn_random random = sn_random_seeded(1);
  *c = (term_case){.springs = make_chain(NODES, 2), .loads = {.count = UNKNOWNS}};
  for (int i = 0; i < UNKNOWNS; ++i) {
    c->loads.forces[i] = 100 * sn_random_symmetric(&random);
    c->u[i] = sn_random_symmetric(&random);
  }
  c->terms[0] = (sn_term){.ops = &CHAIN, .model = &c->springs};
  c->terms[1] = (sn_term){.ops = &DEAD_LOADS, .model = &c->loads};
  c->problem =
      (sn_problem){.unknown_count = UNKNOWNS, .terms = c->terms, .term_count = 2, .held = HELD};
}

static void energies_add_up_and_so_do_their_sizes(void** unused) {
  (void)unused;
  term_case c;
  fill_case(&c);
  double springs = chain_evaluate(&c.terms[0], NULL, c.u, NULL, NULL), g[UNKNOWNS];
  double loads = dead_evaluate(&c.terms[1], NULL, c.u, NULL, NULL);
  for (int sign = -1; sign <= 1; sign += 2) {
    if ((loads < 0) != (sign < 0)) {
      for (int i = 0; i < UNKNOWNS; ++i) c.loads.forces[i] *= -1;
      loads = -loads;
    }
    sn_evaluation found = sn_problem_evaluate(&c.problem, NULL, c.u, g);
    assert_true(found.energy == springs + loads);
    assert_true(found.magnitude == springs + fabs(loads));
  }
}

static double norm_of(const double* v) {
  double sum = 0;
  for (int i = 0; i < UNKNOWNS; ++i) sum += v[i] * v[i];
  return sqrt(sum);
}

static void gradients_add_up_except_at_held_nodes(void** unused) {
  (void)unused;
  term_case c;
  fill_case(&c);
  double springs[UNKNOWNS] = {0}, loads[UNKNOWNS] = {0}, g[UNKNOWNS];
  chain_evaluate(&c.terms[0], NULL, c.u, springs, NULL);
  dead_evaluate(&c.terms[1], NULL, c.u, loads, NULL);
  for (int i = 0; i < UNKNOWNS; ++i) g[i] = NAN;
  double size = sn_problem_evaluate(&c.problem, NULL, c.u, g).forces;
  for (int i = 0; i < UNKNOWNS; ++i) {
    assert_true(g[i] == (HELD[i / 3] ? 0 : springs[i] + loads[i]));
  }
  // Forces that cancel, and those at held nodes, are in play all the same.
  double expected = norm_of(springs) + norm_of(loads);
  assert_true(fabs(size - expected) <= 1e-14 * expected);
}

static void products_are_zero_at_held_nodes(void** unused) {
  (void)unused;
  term_case c;
  fill_case(&c);
  double p[UNKNOWNS], y[UNKNOWNS], expected[UNKNOWNS] = {0};
  float p_f[UNKNOWNS], y_f[UNKNOWNS], expected_f[UNKNOWNS] = {0};
  for (int i = 0; i < UNKNOWNS; ++i) {
    p[i] = HELD[i / 3] ? 0 : c.u[i];
    p_f[i] = (float)p[i];
    y[i] = NAN;
    y_f[i] = NAN;
  }
  chain_apply_to(&c.springs, p, expected);
  chain_apply_f(&c.terms[0], NULL, SN_HESSIAN_EXACT, p_f, expected_f);
  sn_problem_linearise(&c.problem, NULL, c.u);
  sn_problem_apply_d(&c.problem, NULL, SN_HESSIAN_EXACT, p, y);
  sn_problem_apply_f(&c.problem, NULL, SN_HESSIAN_EXACT, p_f, y_f);
  for (int i = 0; i < UNKNOWNS; ++i) {
    assert_true(y[i] == (HELD[i / 3] ? 0 : expected[i]));
    assert_true(y_f[i] == (HELD[i / 3] ? 0 : expected_f[i]));
  }
}

static void the_diagonal_is_one_at_held_nodes(void** unused) {
  (void)unused;
  term_case c;
  fill_case(&c);
  double d[UNKNOWNS];
  for (int i = 0; i < UNKNOWNS; ++i) d[i] = NAN;
  sn_problem_diagonal(&c.problem, NULL, d);
  for (int i = 0; i < UNKNOWNS; ++i) {
    double unit[UNKNOWNS] = {0}, column[UNKNOWNS] = {0};
    unit[i] = 1;
    chain_apply_to(&c.springs, unit, column);
    assert_true(d[i] == (HELD[i / 3] ? 1 : column[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energies_add_up_and_so_do_their_sizes),
      cmocka_unit_test(gradients_add_up_except_at_held_nodes),
      cmocka_unit_test(products_are_zero_at_held_nodes),
      cmocka_unit_test(the_diagonal_is_one_at_held_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
