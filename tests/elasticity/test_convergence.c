// A made-up solution: choose a smooth displacement u, load the body with f = -div sigma(u), hold
// its boundary where u puts it, solve, and see the error fall with the square of the cell's edge.
//
//     u_i = a_i sin(theta_i),   theta_i = k_i . X + b_i
//     f_i = mu a_i |k_i|^2 sin(theta_i) + (lambda + mu) sum_j a_j k_ji k_jj sin(theta_j)
//
// Displacements are a millionth of the body: the stiffness at rest gives them to about six digits.
#include "elasticity/blob.h"
#include "solve/jacobi.h"

#define MU 1.0
#define LAMBDA 1.5

static const double AMPLITUDE[3] = {1.0e-6, -0.8e-6, 1.3e-6};
static const double WAVE[3][3] = {{2.1, 1.4, -0.7}, {-0.9, 1.8, 1.6}, {1.1, -1.5, 2.3}};
static const double PHASE[3] = {0.3, 1.1, -0.6};

static sn_vec3 solution(sn_vec3 X) {
  double u[3];
  for (int i = 0; i < 3; ++i) u[i] = AMPLITUDE[i] * sin(sn_dot(sn_load3(WAVE[i]), X) + PHASE[i]);
  return sn_load3(u);
}

static sn_vec3 load(sn_vec3 X) {
  double f[3], u[3];
  sn_store3(u, solution(X));
  for (int i = 0; i < 3; ++i) {
    f[i] = MU * sn_dot(sn_load3(WAVE[i]), sn_load3(WAVE[i])) * u[i];
    for (int j = 0; j < 3; ++j) f[i] += (LAMBDA + MU) * WAVE[j][i] * WAVE[j][j] * u[j];
  }
  return sn_load3(f);
}

// Called for 2 x 2 x 2 points of every cell: the place, the volume it stands for, and the weights
// of the cell's conforming nodes there.
typedef void (*point_fn)(void* ctx, const uint32_t nodes[8], const double weights[8], sn_vec3 place,
                         double volume);

static void for_gauss_points(const blob* b, point_fn fn, void* ctx) {
  const sn_octree* tree = &b->body.tree;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    double h = sn_octree_edge(tree, e);
    sn_octant o = tree->cells[e];
    for (int g = 0; g < 8; ++g) {
      double xi[3], weights[8];
      for (int i = 0; i < 3; ++i) xi[i] = 0.5 + (g >> i & 1 ? 0.5 : -0.5) / sqrt(3);
      sn_octree_point_weights(tree, e, xi, weights);
      sn_vec3 anchor = sn_scale(tree->cell, sn_v3(o.x, o.y, o.z));
      fn(ctx, sn_octree_corners(tree, e).nodes, weights, sn_madd(anchor, h, sn_load3(xi)),
         h * h * h / 8);
    }
  }
}

static void add_load(void* ctx, const uint32_t nodes[8], const double weights[8], sn_vec3 place,
                     double volume) {
  double* forces = ctx;
  sn_vec3 f = load(place);
  for (int c = 0; c < 8; ++c) {
    double* at = forces + 3 * (size_t)nodes[c];
    sn_store3(at, sn_madd(sn_load3(at), volume * weights[c], f));
  }
}

typedef struct error_sum {
  const double* u;
  double error, size;  // integrals of the squares
} error_sum;

static void add_error(void* ctx, const uint32_t nodes[8], const double weights[8], sn_vec3 place,
                      double volume) {
  error_sum* sum = ctx;
  sn_vec3 found = {0, 0, 0}, exact = solution(place);
  for (int c = 0; c < 8; ++c) {
    found = sn_madd(found, weights[c], sn_load3(sum->u + 3 * (size_t)nodes[c]));
  }
  sn_vec3 off = sn_sub(found, exact);
  sum->error += volume * sn_dot(off, off);
  sum->size += volume * sn_dot(exact, exact);
}

// Boundary nodes where the solution puts them, all others at rest.
static void hold_boundary(const blob* b, uint8_t* held, double* u) {
  const sn_octree* tree = &b->body.tree;
  int end = 1 << tree->root_height;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_octant o = tree->nodes[n];
    held[n] = o.x == 0 || o.y == 0 || o.z == 0 || o.x == end || o.y == end || o.z == end;
    if (held[n]) sn_store3(u + 3 * (size_t)n, solution(sn_octree_node_local(tree, n)));
  }
}

// u solves K(0) u = f with its values at held nodes given. Returns the iterations.
static int solve_at_rest(blob* b, sn_pool* pool, const sn_problem* problem, double* u) {
  sn_error err = {0};
  sn_newton_work work;
  double *right = blob_vector(b), *x = blob_vector(b);
  must(sn_newton_work_create(b->unknown_count, 1, b->arena, &work, &err), &err);
  sn_problem_linearise(problem, pool, x);
  sn_flesh_apply_d(&b->body.flesh, pool, &b->work.flesh, SN_HESSIAN_EXACT, u, right);
  for (size_t i = 0; i < b->unknown_count; ++i) {
    right[i] = problem->held[i / 3] ? 0 : b->work.forces[i] - right[i];
  }
  sn_jacobi jacobi = {problem, blob_vector(b)};
  sn_preconditioner diagonal = sn_jacobi_preconditioner(&jacobi);
  diagonal.update(&jacobi, pool, SN_FIT_FRAME);
  sn_cg_opts opts = {
      .kind = SN_HESSIAN_EXACT, .preconditioner = &diagonal, .max = 2000, .tolerance = 1e-9};
  sn_cg_work cg = sn_newton_cg_work(b->unknown_count, &work);
  sn_cg_result result = sn_cg_solve(problem, pool, &opts, &cg, right, x);
  assert_int_equal(result.stop, SN_CG_CONVERGED);
  for (size_t i = 0; i < b->unknown_count; ++i) u[i] += x[i];
  return result.iterations;
}

// What is left of the forces of the true law at u, relative to those in play.
static double true_residual(const blob* b, sn_pool* pool, const sn_problem* problem,
                            const double* u) {
  double *g = blob_vector(b), sum = 0;
  double forces = sn_problem_evaluate(problem, pool, u, g).forces;
  for (size_t i = 0; i < b->unknown_count; ++i) sum += g[i] * g[i];
  return sqrt(sum) / forces;
}

// Relative error in the L2 norm of the solution on these cells.
static double solve_on(const sn_octant* cells, uint32_t cell_count, int root_height) {
  blob b;
  sn_error err = {0};
  sn_pool* pool;
  uint8_t* held;
  sn_term terms[SN_BODY_TERMS];
  blob_fill_cube(&b, cells, cell_count, root_height);
  for (uint32_t e = 0; e < cell_count; ++e) b.body.mu[e] = MU, b.body.lambda[e] = LAMBDA;
  sn_flesh_set_material(&b.body.flesh, &b.work.flesh);
  for_gauss_points(&b, add_load, b.work.forces);

  double* u = blob_vector(&b);
  must(SN_ARENA_NEW(b.arena, b.body.tree.node_count, &held, &err), &err);
  hold_boundary(&b, held, u);
  sn_body_make_terms(&b.body, &b.work, terms);
  sn_problem problem = {
      .unknown_count = b.unknown_count, .terms = terms, .term_count = SN_BODY_TERMS, .held = held};
  must(sn_pool_create(0, &pool, &err), &err);
  int iterations = solve_at_rest(&b, pool, &problem, u);
  assert_true(true_residual(&b, pool, &problem, u) <= 1e-5);
  sn_pool_destroy(pool);

  error_sum sum = {.u = u};
  for_gauss_points(&b, add_error, &sum);
  uint32_t hanging = 0;
  for (uint32_t e = 0; e < cell_count; ++e) hanging += b.body.tree.hanging[e] != 0;
  print_message("%6u cells, %5u hanging, finest 1/%d: error %.3e, %d iterations\n", cell_count,
                hanging, 1 << root_height, sqrt(sum.error / sum.size), iterations);
  blob_destroy(&b);
  return sqrt(sum.error / sum.size);
}

// Every cell into its eight children; a grid twice as fine. `cells` has room for them.
static void halve(sn_octant* cells, uint32_t* count) {
  for (uint32_t e = *count; e-- > 0;) {
    sn_octant o = cells[e];
    sn_octant parent = {(uint16_t)(2 * o.x), (uint16_t)(2 * o.y), (uint16_t)(2 * o.z),
                        (uint8_t)(o.height + 1), 0};
    for (int c = 8; c-- > 0;) cells[8 * (size_t)e + (size_t)c] = sn_octant_child(parent, c);
  }
  *count *= 8;
}

#define MOST_CELLS 40000

// Errors on the cells and on those halved again and again; the order between the last two.
static double order_of(const sn_octant* first, uint32_t count, int root_height, int refinements) {
  static sn_octant cells[MOST_CELLS];
  double error = 0, order = 0;
  memcpy(cells, first, count * sizeof *cells);
  for (int r = 0; r < refinements; ++r) {
    if (r > 0) halve(cells, &count);
    assert_true(count <= MOST_CELLS / 8 || r == refinements - 1);
    double before = error;
    error = solve_on(cells, count, root_height + r);
    if (r == 0) continue;
    order = log2(before / error);
    print_message("order %.3f\n", order);
  }
  return order;
}

static void error_falls_with_the_square_of_the_edge_on_a_uniform_grid(void** unused) {
  (void)unused;
  sn_octant cells[64] = {{0, 0, 0, 0, 0}};
  uint32_t count = 1;
  halve(cells, &count);
  halve(cells, &count);
  assert_true(fabs(order_of(cells, count, 2, 4) - 2) <= 0.15);
}

// Split leaf `index` in place.
static void split_leaf(sn_octant* cells, uint32_t* count, uint32_t index) {
  sn_octant parent = cells[index];
  memmove(cells + index + 8, cells + index + 1, (*count - index - 1) * sizeof *cells);
  for (int c = 0; c < 8; ++c) cells[index + (uint32_t)c] = sn_octant_child(parent, c);
  *count += 7;
}

static void error_falls_with_the_square_of_the_edge_on_an_octree(void** unused) {
  (void)unused;
  // Halves of the cube; two opposite ones split, so that they touch in the middle; the outer corner
  // of the first split again.
  sn_octant cells[64] = {{0, 0, 0, 3, 0}};
  uint32_t count = 1;
  split_leaf(cells, &count, 0);
  split_leaf(cells, &count, 7);
  split_leaf(cells, &count, 0);
  split_leaf(cells, &count, 0);
  assert_int_equal(count, 6 + 8 + 7 + 8);
  assert_true(fabs(order_of(cells, count, 3, 4) - 2) <= 0.15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(error_falls_with_the_square_of_the_edge_on_a_uniform_grid),
      cmocka_unit_test(error_falls_with_the_square_of_the_edge_on_an_octree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
