#include "solve/minres.h"

#include "solve/chain.h"
#include "solve/sqmr.h"

#define PRESSURES 12
#define NODES 10
#define UNKNOWNS (3 * NODES)
#define ALL (UNKNOWNS + PRESSURES)

static const uint8_t HELD[NODES] = {1};

// A chain of springs and rows of random numbers that pressures stand for.
typedef struct mixed_case {
  sn_arena* arena;
  chain springs;
  sn_term term;
  double B[PRESSURES][UNKNOWNS];
  float compliance[PRESSURES];
  double scratch[PRESSURES];
  sn_pressures space;
  sn_problem problem;
  sn_minres_work work;
  sn_jacobi jacobi;
  double diagonal[UNKNOWNS], b[UNKNOWNS], x[UNKNOWNS], expected[UNKNOWNS];
} mixed_case;

static void update(const sn_pressures* space, sn_pool* pool) {
  (void)space;
  (void)pool;
}

static void gather_d(const sn_pressures* space, sn_pool* pool, const double* u, double* p) {
  const mixed_case* c = space->work;
  (void)pool;
  for (int k = 0; k < PRESSURES; ++k) {
    p[k] = 0;
    for (int i = 0; i < UNKNOWNS; ++i) p[k] += c->B[k][i] * u[i];
  }
}

static void scatter_d(const sn_pressures* space, sn_pool* pool, const double* p, double* y) {
  const mixed_case* c = space->work;
  (void)pool;
  for (int k = 0; k < PRESSURES; ++k) {
    for (int i = 0; i < UNKNOWNS; ++i) y[i] += c->B[k][i] * p[k];
  }
}

static void gather_f(const sn_pressures* space, sn_pool* pool, const float* u, float* p) {
  double wide[UNKNOWNS], t[PRESSURES];
  for (int i = 0; i < UNKNOWNS; ++i) wide[i] = u[i];
  gather_d(space, pool, wide, t);
  for (int k = 0; k < PRESSURES; ++k) p[k] = (float)t[k];
}

static void scatter_f(const sn_pressures* space, sn_pool* pool, const float* p, float* y) {
  double t[PRESSURES], wide[UNKNOWNS] = {0};
  for (int k = 0; k < PRESSURES; ++k) t[k] = p[k];
  scatter_d(space, pool, t, wide);
  for (int i = 0; i < UNKNOWNS; ++i) y[i] += (float)wide[i];
}

static const sn_pressure_ops OPS = {.update = update,
                                    .gather_d = gather_d,
                                    .gather_f = gather_f,
                                    .scatter_d = scatter_d,
                                    .scatter_f = scatter_f};

// Dense Gauss elimination with pivots of the mixed system; the last column is the right side.
static void solve_dense(double m[ALL][ALL + 1], double* x) {
  for (int k = 0; k < ALL; ++k) {
    int best = k;
    for (int i = k + 1; i < ALL; ++i) {
      if (fabs(m[i][k]) > fabs(m[best][k])) best = i;
    }
    for (int j = 0; j <= ALL; ++j) {
      double t = m[k][j];
      m[k][j] = m[best][j];
      m[best][j] = t;
    }
    for (int i = 0; i < ALL; ++i) {
      if (i == k) continue;
      double f = m[i][k] / m[k][k];
      for (int j = k; j <= ALL; ++j) m[i][j] -= f * m[k][j];
    }
  }
  for (int i = 0; i < UNKNOWNS; ++i) x[i] = m[i][ALL] / m[i][i];
}

static void expect_dense(mixed_case* c) {
  static double m[ALL][ALL + 1];
  memset(m, 0, sizeof m);
  for (int j = 0; j < UNKNOWNS; ++j) {
    double unit[MOST_UNKNOWNS] = {0}, column[MOST_UNKNOWNS] = {0};
    unit[j] = 1;
    chain_apply_to(&c->springs, unit, column);
    for (int i = 0; i < UNKNOWNS; ++i) m[i][j] = column[i];
  }
  for (int k = 0; k < PRESSURES; ++k) {
    for (int i = 0; i < UNKNOWNS; ++i) m[UNKNOWNS + k][i] = m[i][UNKNOWNS + k] = c->B[k][i];
    m[UNKNOWNS + k][UNKNOWNS + k] = -c->compliance[k];
  }
  for (int i = 0; i < UNKNOWNS; ++i) m[i][ALL] = c->b[i];
  for (int i = 0; i < 3; ++i) {  // held
    for (int j = 0; j <= ALL; ++j) m[i][j] = 0;
    for (int j = 0; j < ALL; ++j) m[j][i] = 0;
    m[i][i] = 1;
  }
  solve_dense(m, c->expected);
}

// `anchor` below 0 makes A itself indefinite.
static void begin(mixed_case* c, double anchor, double compliance) {
  sn_random random = sn_random_seeded(11);
  *c = (mixed_case){.springs = make_chain(NODES, 3)};
  for (int n = 0; n < NODES; ++n) c->springs.anchor[n] = anchor;
  for (int k = 0; k < PRESSURES; ++k) {
    for (int i = 0; i < UNKNOWNS; ++i) c->B[k][i] = sn_random_symmetric(&random);
    c->compliance[k] = (float)(compliance * (0.5 + sn_random_unit(&random)));
  }
  for (int i = 3; i < UNKNOWNS; ++i) c->b[i] = sn_random_symmetric(&random);
  c->term = (sn_term){.ops = &CHAIN, .model = &c->springs};
  c->space = (sn_pressures){.ops = &OPS,
                            .work = c,
                            .count = PRESSURES,
                            .compliance = c->compliance,
                            .scratch = c->scratch};
  c->problem = (sn_problem){.unknown_count = UNKNOWNS,
                            .terms = &c->term,
                            .term_count = 1,
                            .held = HELD,
                            .pressures = &c->space,
                            .pressure_space_count = 1,
                            .pressure_count = PRESSURES};
  assert_int_equal(sn_arena_create(&c->arena, NULL), SN_OK);
  assert_int_equal(sn_minres_work_create(&c->problem, c->arena, &c->work, NULL), SN_OK);
  c->jacobi = (sn_jacobi){&c->problem, c->diagonal};
  expect_dense(c);
}

static double error_of(const mixed_case* c) {
  double off = 0, size = 0;
  for (int i = 0; i < UNKNOWNS; ++i) {
    off += (c->x[i] - c->expected[i]) * (c->x[i] - c->expected[i]);
    size += c->expected[i] * c->expected[i];
  }
  return sqrt(off / size);
}

typedef sn_cg_result (*solve_fn)(const sn_problem* problem, sn_pool* pool, const sn_cg_opts* opts,
                                 const sn_minres_work* work, const double* b, double* x);

static void both_solve_what_a_dense_solver_does(void** unused) {
  (void)unused;
  static const solve_fn SOLVERS[] = {sn_minres_solve, sn_sqmr_solve};
  static const double COMPLIANCE[] = {1, 1e-2, 1e-4};
  for (int k = 0; k < 12; ++k) {
    mixed_case c;
    begin(&c, 1, COMPLIANCE[k % 3]);
    sn_preconditioner diagonal = sn_jacobi_preconditioner(&c.jacobi);
    diagonal.update(diagonal.ctx, NULL, SN_FIT_FRAME);
    sn_cg_opts opts = {.kind = SN_HESSIAN_DEFINITE,
                       .preconditioner = k < 6 ? &diagonal : NULL,
                       .max = 3000,
                       .tolerance = 1e-8};
    sn_cg_result result = SOLVERS[k / 3 % 2](&c.problem, NULL, &opts, &c.work, c.b, c.x);
    print_message("%s, %s, D %.0e: %d iterations, residual %.1e, error %.1e\n",
                  k / 3 % 2 ? "sqmr" : "minres", k < 6 ? "diagonal" : "bare", COMPLIANCE[k % 3],
                  result.iterations, result.residual, error_of(&c));
    assert_int_equal(result.stop, SN_CG_CONVERGED);
    assert_true(error_of(&c) <= 1e-5);
    assert_true(c.x[0] == 0 && c.x[1] == 0 && c.x[2] == 0);
    sn_arena_destroy(c.arena);
  }
}

static void without_pressures_it_is_a_solver_of_definite_systems(void** unused) {
  (void)unused;
  mixed_case c, d;
  begin(&c, 1, 1e-2);
  c.problem.pressure_space_count = 0;
  c.problem.pressure_count = 0;
  sn_cg_opts opts = {.max = 500, .tolerance = 1e-6};
  sn_cg_result result = sn_minres_solve(&c.problem, NULL, &opts, &c.work, c.b, c.x);
  assert_int_equal(result.stop, SN_CG_CONVERGED);
  assert_true(result.residual <= 1.1e-6);
  // The whole stiffness with pressures condensed is another one.
  begin(&d, 1, 1e-2);
  assert_true(error_of(&c) > 1e-3);
  sn_arena_destroy(c.arena);
  sn_arena_destroy(d.arena);
}

static void nothing_to_do_is_done_at_once(void** unused) {
  (void)unused;
  mixed_case c;
  begin(&c, 1, 1);
  memset(c.b, 0, sizeof c.b);
  sn_cg_opts opts = {.max = 10, .tolerance = 1e-6};
  static const solve_fn SOLVERS[] = {sn_minres_solve, sn_sqmr_solve};
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < UNKNOWNS; ++i) c.x[i] = NAN;
    sn_cg_result result = SOLVERS[k](&c.problem, NULL, &opts, &c.work, c.b, c.x);
    assert_true(result.stop == SN_CG_CONVERGED && result.iterations == 0);
    for (int i = 0; i < UNKNOWNS; ++i) assert_true(c.x[i] == 0);
  }
  sn_arena_destroy(c.arena);
}

// Both find the solution of an indefinite A, but say that it is no minimum.
static void negative_curvature_is_told(void** unused) {
  (void)unused;
  mixed_case c;
  begin(&c, -2000, 1);
  sn_cg_opts opts = {.kind = SN_HESSIAN_EXACT, .max = 3000, .tolerance = 1e-6, .unverified = true};
  sn_cg_result result = sn_minres_solve(&c.problem, NULL, &opts, &c.work, c.b, c.x);
  assert_int_equal(result.stop, SN_CG_NEGATIVE);
  sn_arena_destroy(c.arena);
}

// A diagonal with the wrong sign at the last node, until somebody complains.
typedef struct wrong_diagonal {
  const mixed_case* c;
  int complaints;
} wrong_diagonal;

static double apply_wrong(void* ctx, sn_pool* pool, const float* r, float* z) {
  const wrong_diagonal* d = ctx;
  (void)pool;
  for (int i = 0; i < UNKNOWNS; ++i) {
    float sign = i >= UNKNOWNS - 3 && d->complaints == 0 ? -1 : 1;
    z[i] = i < 3 ? 0 : sign * (float)(r[i] / d->c->diagonal[i]);
  }
  return 0;
}

static void complain(void* ctx) { ((wrong_diagonal*)ctx)->complaints++; }

// The right side does not show what is wrong; the first products do.
static void a_preconditioner_that_proves_indefinite_is_made_safer(void** unused) {
  (void)unused;
  mixed_case c;
  begin(&c, 1, 1e-2);
  for (int i = UNKNOWNS - 3; i < UNKNOWNS; ++i) c.b[i] = 0;
  expect_dense(&c);
  for (int i = 0; i < UNKNOWNS; ++i) {
    double column[MOST_UNKNOWNS] = {0}, unit[MOST_UNKNOWNS] = {0};
    unit[i] = 1;
    chain_apply_to(&c.springs, unit, column);
    c.diagonal[i] = column[i] / 50;  // so that its share outweighs that of the pressures
  }
  wrong_diagonal wrong = {&c, 0};
  sn_preconditioner m = {.apply = apply_wrong, .weaken = complain, .ctx = &wrong};
  sn_cg_opts opts = {.preconditioner = &m, .max = 3000, .tolerance = 1e-8};
  sn_cg_result result = sn_minres_solve(&c.problem, NULL, &opts, &c.work, c.b, c.x);
  assert_int_equal(result.stop, SN_CG_CONVERGED);
  assert_true(wrong.complaints == 1 && error_of(&c) <= 1e-5);
  sn_arena_destroy(c.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_solve_what_a_dense_solver_does),
      cmocka_unit_test(without_pressures_it_is_a_solver_of_definite_systems),
      cmocka_unit_test(nothing_to_do_is_done_at_once),
      cmocka_unit_test(negative_curvature_is_told),
      cmocka_unit_test(a_preconditioner_that_proves_indefinite_is_made_safer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
