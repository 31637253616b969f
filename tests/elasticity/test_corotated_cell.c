// The cell kernel against the definitions: derivatives by differences, quadrature point by point,
// what no motion of the whole may change, and values from 40-digit arithmetic.
#include "elasticity/cell_states.h"
// cell_states.h brings what jansson needs.
#include <jansson.h>
#include <unistd.h>

#define STATES 1000

// ---- Differences ----

// The energy is smooth as long as s[1] + s[2] > 0; its derivatives grow with powers of the inverse.
static double difference_step(const cell_state* state) {
  return 0.02 * fmin(1, state->s[1] + state->s[2]);
}

// Richardson: from central differences at steps of 1, 1/2 and 1/4 to one of sixth order.
static double extrapolate(const double d[3]) {
  double a = (4 * d[1] - d[0]) / 3, b = (4 * d[2] - d[1]) / 3;
  return (16 * b - a) / 15;
}

static void energy_differences(const cell_state* state, double g[8][3]) {
  double step = difference_step(state) * state->material.h;
  for (int n = 0; n < 24; ++n) {
    double d[3];
    for (int level = 0; level < 3; ++level) {
      double t = ldexp(step, -level), moved[8][3], up, down;
      memcpy(moved, state->u, sizeof moved);
      moved[n / 3][n % 3] = state->u[n / 3][n % 3] + t;
      up = sn_cell_energy(state->shape, &state->material, (corners)moved);
      moved[n / 3][n % 3] = state->u[n / 3][n % 3] - t;
      down = sn_cell_energy(state->shape, &state->material, (corners)moved);
      d[level] = (up - down) / (2 * t);
    }
    g[n / 3][n % 3] = extrapolate(d);
  }
}

static void gradient_differences(const cell_state* state, double p[8][3], double y[8][3]) {
  double step = difference_step(state), d[24][3];
  for (int level = 0; level < 3; ++level) {
    double t = ldexp(step, -level), side[2][8][3];
    for (int back = 0; back < 2; ++back) {
      double moved[8][3];
      for (int n = 0; n < 24; ++n) {
        moved[n / 3][n % 3] = state->u[n / 3][n % 3] + (back ? -t : t) * p[n / 3][n % 3];
      }
      sn_cell_gradient(state->shape, &state->material, (corners)moved, side[back]);
    }
    for (int n = 0; n < 24; ++n) {
      d[n][level] = (side[0][n / 3][n % 3] - side[1][n / 3][n % 3]) / (2 * t);
    }
  }
  for (int n = 0; n < 24; ++n) y[n / 3][n % 3] = extrapolate(d[n]);
}

static double gradient_error(const cell_state* state) {
  double g[8][3], differences[8][3];
  sn_cell_gradient(state->shape, &state->material, (corners)state->u, g);
  energy_differences(state, differences);
  return distance(&g[0][0], &differences[0][0], 24) / norm(&g[0][0], 24);
}

static void forces_are_differences_of_the_energy(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(1);
  double worst[CELL_KINDS] = {0};
  for (int n = 0; n < STATES; ++n) {
    cell_state state = next_state(&random, n);
    double error = gradient_error(&state);
    worst[state.kind] = fmax(worst[state.kind], error);
    if (!(error <= 1e-6)) fail_msg("state %d of kind %d: %g", n, state.kind, error);
  }
  for (int k = 0; k < CELL_KINDS; ++k) print_message("kind %d: worst %.1e\n", k, worst[k]);
}

static void forces_are_differences_of_the_energy_for_all_hanging_patterns(void** unused) {
  (void)unused;
  sn_cell_shape shapes[SHAPE_COUNT];
  assert_int_equal(list_shapes(shapes), SHAPE_COUNT);
  sn_random random = sn_random_seeded(2);
  double worst = 0;
  for (int n = 0; n < SHAPE_COUNT; ++n) {
    cell_state state = random_state(&random, CELL_WILD, shapes[n]);
    double error = gradient_error(&state);
    worst = fmax(worst, error);
    if (!(error <= 1e-6)) {
      fail_msg("child %d, mask %d: %g", shapes[n].child, shapes[n].hanging, error);
    }
  }
  print_message("worst %.1e\n", worst);
}

static void forces_are_finite_where_the_rotation_is_not_defined(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(3);
  for (int n = 0; n < STATES; ++n) {
    cell_state state = degenerate_state(&random, n);
    double g[8][3];
    assert_true(state.s[1] + state.s[2] <= 1e-15);
    assert_true(isfinite(sn_cell_energy(state.shape, &state.material, (corners)state.u)));
    sn_cell_gradient(state.shape, &state.material, (corners)state.u, g);
    assert_true(all_finite(&g[0][0], 24));
  }
}

static void random_direction(sn_random* random, double h, double p[8][3]) {
  for (int n = 0; n < 24; ++n) p[n / 3][n % 3] = h * sn_random_symmetric(random);
}

static void apply_at(const cell_state* state, sn_hessian kind, double p[8][3], double y[8][3]) {
  sn_cell_tangent tangent;
  sn_cell_linearise(&state->material, state->F, &tangent);
  sn_cell_apply(state->shape, &state->material, &tangent, kind, (corners)p, y);
}

static void exact_stiffness_is_the_derivative_of_the_gradient(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(4);
  double worst = 0;
  int compared = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = next_state(&random, n);
    double p[8][3], y[8][3], differences[8][3];
    random_direction(&random, state.material.h, p);
    apply_at(&state, SN_HESSIAN_EXACT, p, y);
    assert_true(all_finite(&y[0][0], 24));
    if (!(state.s[1] + state.s[2] > 0.01 * state.s[0])) continue;
    gradient_differences(&state, p, differences);
    double error = distance(&y[0][0], &differences[0][0], 24) / norm(&y[0][0], 24);
    worst = fmax(worst, error);
    if (!(error <= 1e-6)) fail_msg("state %d of kind %d: %g", n, state.kind, error);
    ++compared;
  }
  print_message("%d states compared, worst %.1e\n", compared, worst);
  assert_true(compared > STATES / 2);
}

static void stiffness_is_finite_where_the_rotation_is_not_defined(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int n = 0; n < STATES; ++n) {
    cell_state state = degenerate_state(&random, n);
    sn_cell_tangent tangent;
    sn_cell_linearise(&state.material, state.F, &tangent);
    for (int kind = 0; kind < 2; ++kind) {
      double p[8][3], y[8][3], d[8][3];
      random_direction(&random, state.material.h, p);
      apply_at(&state, (sn_hessian)kind, p, y);
      sn_cell_diagonal(state.shape, &state.material, &tangent, (sn_hessian)kind, d);
      assert_true(all_finite(&y[0][0], 24) && all_finite(&d[0][0], 24));
    }
  }
}

// ---- The element matrix ----

static void assemble(const cell_state* state, sn_hessian kind, double K[24][24]) {
  sn_cell_tangent tangent;
  sn_cell_linearise(&state->material, state->F, &tangent);
  for (int n = 0; n < 24; ++n) {
    double p[8][3] = {{0}}, y[8][3];
    p[n / 3][n % 3] = 1;
    sn_cell_apply(state->shape, &state->material, &tangent, kind, (corners)p, y);
    for (int m = 0; m < 24; ++m) K[m][n] = y[m / 3][m % 3];
  }
}

// A <- J^T A J, with J the rotation of coordinates p and q that makes A[p][q] zero.
static void rotate_pair(double A[24][24], int p, int q) {
  double zeta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
  double t = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
  double c = 1 / sqrt(1 + t * t), s = c * t;
  for (int k = 0; k < 24; ++k) {
    double a = A[k][p], b = A[k][q];
    A[k][p] = c * a - s * b;
    A[k][q] = s * a + c * b;
  }
  for (int k = 0; k < 24; ++k) {
    double a = A[p][k], b = A[q][k];
    A[p][k] = c * a - s * b;
    A[q][k] = s * a + c * b;
  }
}

// Jacobi's method. A symmetric matrix becomes diagonal; returns its extreme eigenvalues.
static void extreme_eigenvalues(double A[24][24], double* least, double* most) {
  double size = norm(&A[0][0], 24 * 24);
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0;
    for (int p = 0; p < 24; ++p) {
      for (int q = p + 1; q < 24; ++q) {
        off = fmax(off, fabs(A[p][q]));
        if (fabs(A[p][q]) > 1e-18 * size) rotate_pair(A, p, q);
      }
    }
    if (off <= 1e-15 * size) break;
  }
  *least = INFINITY;
  *most = -INFINITY;
  for (int k = 0; k < 24; ++k) {
    *least = fmin(*least, A[k][k]);
    *most = fmax(*most, A[k][k]);
  }
}

static double asymmetry(double K[24][24]) {
  double difference = 0, largest = 0;
  for (int m = 0; m < 24; ++m) {
    for (int n = 0; n < 24; ++n) {
      difference = fmax(difference, fabs(K[m][n] - K[n][m]));
      largest = fmax(largest, fabs(K[m][n]));
    }
  }
  return difference / largest;
}

static cell_state any_state(sn_random* random, int index) {
  return index % 10 == 9 ? degenerate_state(random, index / 10) : next_state(random, index);
}

static void eigenvalues_are_found(void** unused) {
  (void)unused;
  // The chain of 24 springs between walls has the eigenvalues 2 - 2 cos(k pi / 25).
  double A[24][24] = {{0}}, least, most;
  for (int k = 0; k < 24; ++k) {
    A[k][k] = 2;
    if (k > 0) A[k][k - 1] = A[k - 1][k] = -1;
  }
  extreme_eigenvalues(A, &least, &most);
  assert_true(fabs(least - (2 - 2 * cos(M_PI / 25))) <= 1e-14);
  assert_true(fabs(most - (2 + 2 * cos(M_PI / 25))) <= 1e-14);
}

static void stiffness_is_symmetric(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(6);
  double worst = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = any_state(&random, n);
    for (int kind = 0; kind < 2; ++kind) {
      double K[24][24];
      assemble(&state, (sn_hessian)kind, K);
      worst = fmax(worst, asymmetry(K));
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-13);
}

static void definite_stiffness_has_no_negative_eigenvalue(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(7);
  double worst = 0;
  int indefinite = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = any_state(&random, n);
    double K[24][24], least, most;
    assemble(&state, SN_HESSIAN_DEFINITE, K);
    extreme_eigenvalues(K, &least, &most);
    worst = fmin(worst, least / most);
    if (!(least >= -1e-10 * most)) fail_msg("state %d: %g of %g", n, least, most);
    assemble(&state, SN_HESSIAN_EXACT, K);
    extreme_eigenvalues(K, &least, &most);
    indefinite += least < -1e-3 * most;
  }
  print_message("least %.1e of the largest; %d exact ones are indefinite\n", worst, indefinite);
  assert_true(indefinite > STATES / 10);  // else there was nothing to mend
}

static void definite_stiffness_is_exact_where_no_eigenvalue_is_lifted(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(8);
  int same = 0, lifted = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = next_state(&random, n);
    double exact[24][24], definite[24][24];
    assemble(&state, SN_HESSIAN_EXACT, exact);
    assemble(&state, SN_HESSIAN_DEFINITE, definite);
    bool equal = memcmp(exact, definite, sizeof exact) == 0;

    // The eigenvalues of L must not be below -mu.
    const double* s = state.s;
    double mu = state.material.mu;
    double numerator = state.material.lambda * (s[0] + s[1] + s[2] - 3) - 2 * mu;
    double smallest = INFINITY;
    for (int k = 0; k < 3; ++k) {
      smallest = fmin(smallest, numerator / (s[(k + 1) % 3] + s[(k + 2) % 3]));
    }
    if (smallest > -mu * (1 - 1e-9)) assert_true(equal);
    if (smallest < -mu * (1 + 1e-3)) assert_false(equal);
    same += equal;
    lifted += !equal;
  }
  print_message("%d equal, %d lifted\n", same, lifted);
  assert_true(same > STATES / 10 && lifted > STATES / 10);
}

static void diagonal_is_that_of_the_matrix(void** unused) {
  (void)unused;
  sn_cell_shape shapes[SHAPE_COUNT];
  list_shapes(shapes);
  sn_random random = sn_random_seeded(9);
  double worst = 0;
  for (int n = 0; n < 4 * SHAPE_COUNT; ++n) {
    cell_state state = random_state(&random, (cell_kind)(n % CELL_KINDS), shapes[n / 4]);
    sn_cell_tangent tangent;
    sn_cell_linearise(&state.material, state.F, &tangent);
    for (int kind = 0; kind < 2; ++kind) {
      double K[24][24], d[8][3];
      assemble(&state, (sn_hessian)kind, K);
      sn_cell_diagonal(state.shape, &state.material, &tangent, (sn_hessian)kind, d);
      for (int m = 0; m < 24; ++m) {
        worst = fmax(worst, fabs(d[m / 3][m % 3] - K[m][m]) / fabs(K[m][m]));
      }
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-10);
}

// ---- Quadrature ----

// W_cb = N_b at the place of corner c, N_b being the parent's shape functions for corners that
// hang.
static void weights_of_the_parent(sn_cell_shape shape, double W[8][8]) {
  for (int c = 0; c < 8; ++c) {
    for (int b = 0; b < 8; ++b) {
      W[c][b] = c == b;
      if (!(shape.hanging >> c & 1)) continue;
      W[c][b] = 1;
      for (int i = 0; i < 3; ++i) {
        double place = ((c >> i & 1) + (shape.child >> i & 1)) / 2.0;
        W[c][b] *= b >> i & 1 ? place : 1 - place;
      }
    }
  }
}

// Deformed corners x_c = X_c + sum_b W_cb u_b.
static void deformed_corners(const cell_state* state, double x[8][3]) {
  double W[8][8];
  weights_of_the_parent(state->shape, W);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) {
      x[c][i] = state->material.h * (c >> i & 1);
      for (int b = 0; b < 8; ++b) x[c][i] += W[c][b] * state->u[b][i];
    }
  }
}

// F = sum_c x_c (dN_c/dX)^T at the place xi of the cell
static void deformation_at(const double x[8][3], double h, const double xi[3], double F[9]) {
  memset(F, 0, 9 * sizeof *F);
  for (int c = 0; c < 8; ++c) {
    for (int j = 0; j < 3; ++j) {
      double slope = (c >> j & 1 ? 1 : -1) / h;
      for (int k = 0; k < 3; ++k) {
        if (k != j) slope *= c >> k & 1 ? xi[k] : 1 - xi[k];
      }
      for (int i = 0; i < 3; ++i) F[3 * i + j] += x[c][i] * slope;
    }
  }
}

// The mean of |F|^2 by 2 x 2 x 2 Gauss points, which is exact.
static double mean_square_by_gauss(const double x[8][3], double h) {
  double sum = 0;
  for (int g = 0; g < 8; ++g) {
    double xi[3], F[9];
    for (int i = 0; i < 3; ++i) xi[i] = 0.5 + (g >> i & 1 ? 0.5 : -0.5) / sqrt(3);
    deformation_at(x, h, xi, F);
    sum += norm(F, 9) * norm(F, 9) / 8;
  }
  return sum;
}

// The same by the paper's rule: column k of F in the middle of the four edges along axis k.
static double mean_square_by_edges(const double x[8][3], double h) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    for (int a = 0; a < 8; ++a) {
      if (!(a >> k & 1)) sum += pow(distance(x[a | 1 << k], x[a], 3) / h, 2) / 4;
    }
  }
  return sum;
}

// The paper's split (section 4.1): mu |F|^2 by a rule of its own, the rest at the centre.
static double split_energy(const cell_state* state,
                           double (*mean_square)(const double x[8][3], double h)) {
  static const double CENTRE[3] = {0.5, 0.5, 0.5};
  double x[8][3], F[9], U[9], s[3], V[9], h = state->material.h, mu = state->material.mu;
  deformed_corners(state, x);
  deformation_at((corners)x, h, CENTRE, F);
  sn_svd3_d(F, U, s, V);
  double trace = s[0] + s[1] + s[2];
  double aux = -2 * mu * trace + 3 * mu + state->material.lambda / 2 * (trace - 3) * (trace - 3);
  return h * h * h * (mu * mean_square((corners)x, h) + aux);
}

static double energy_of(const cell_state* state) {
  return sn_cell_energy(state->shape, &state->material, (corners)state->u);
}

static void energy_is_the_laplacian_part_integrated_and_the_rest_at_the_centre(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(10);
  double worst = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = any_state(&random, n);
    double energy = energy_of(&state);
    worst = fmax(worst, fabs(energy - split_energy(&state, mean_square_by_gauss)) / energy);
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-12);
}

static void energy_is_that_of_the_papers_edge_rule_where_the_deformation_is_even(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(15);
  double worst = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = {.shape = random_shape(&random), .material = random_material(&random)};
    double s[3];
    random_singular_values(&random, (cell_kind)(n % CELL_WILD), s);
    add_stretch(&state, &random, s);
    double energy = energy_of(&state);
    worst = fmax(worst, fabs(energy - split_energy(&state, mean_square_by_edges)) / energy);
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-12);
}

// ---- Motions of the whole ----

static void rigid_motion_costs_no_energy_and_no_force(void** unused) {
  (void)unused;
  sn_cell_shape shapes[SHAPE_COUNT];
  list_shapes(shapes);
  sn_random random = sn_random_seeded(11);
  double worst_energy = 0, worst_force = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = {.shape = shapes[n % SHAPE_COUNT], .material = random_material(&random)};
    double h = state.material.h, mu = state.material.mu, g[8][3], A[9];
    sn_mat3 R = random_rotation(&random);
    for (int i = 0; i < 9; ++i) A[i] = R.m[i / 3][i % 3] - (i % 4 == 0);
    add_affine(state.shape, h, A, state.u);
    for (int i = 0; i < 3; ++i) {
      double shift = 5 * h * sn_random_symmetric(&random);
      for (int c = 0; c < 8; ++c) state.u[c][i] += shift;
    }
    double energy = sn_cell_energy(state.shape, &state.material, (corners)state.u);
    sn_cell_gradient(state.shape, &state.material, (corners)state.u, g);
    worst_energy = fmax(worst_energy, fabs(energy) / (mu * h * h * h));
    worst_force = fmax(worst_force, norm(&g[0][0], 24) / (mu * h * h));
  }
  print_message("worst energy %.1e, force %.1e\n", worst_energy, worst_force);
  assert_true(worst_energy <= 1e-10 && worst_force <= 1e-10);
}

static void forces_and_torques_sum_to_zero(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(12);
  double worst_force = 0, worst_torque = 0;
  for (int n = 0; n < STATES; ++n) {
    cell_state state = any_state(&random, n);
    double g[8][3], sizes = 0, arms = 0;
    sn_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    sn_cell_gradient(state.shape, &state.material, (corners)state.u, g);
    for (int c = 0; c < 8; ++c) {
      double place[3];
      conforming_place(state.shape, c, place);
      sn_vec3 x = sn_madd(sn_load3(state.u[c]), state.material.h, sn_load3(place));
      sn_vec3 f = sn_load3(g[c]);
      force = sn_add(force, f);
      torque = sn_add(torque, sn_cross(x, f));
      sizes += sn_length(f);
      arms += sn_length(f) * (sn_length(x) + state.material.h);
    }
    worst_force = fmax(worst_force, sn_length(force) / sizes);
    worst_torque = fmax(worst_torque, sn_length(torque) / arms);
  }
  print_message("worst force %.1e, torque %.1e\n", worst_force, worst_torque);
  assert_true(worst_force <= 1e-10 && worst_torque <= 1e-10);
}

// ---- W ----

static void hanging_corners_follow_the_parents_shape_functions(void** unused) {
  (void)unused;
  sn_cell_shape shapes[SHAPE_COUNT];
  list_shapes(shapes);
  for (int n = 0; n < SHAPE_COUNT; ++n) {
    double W[8][8];
    weights_of_the_parent(shapes[n], W);
    for (int b = 0; b < 8; ++b) {
      double unit[8] = {0}, column[8], row[8];
      unit[b] = 1;
      sn_cell_conform_to_corner(shapes[n], unit, column);
      for (int c = 0; c < 8; ++c) assert_true(column[c] == W[c][b]);
      // The way back is the transpose.
      sn_cell_corner_to_conform(shapes[n], unit, row);
      for (int c = 0; c < 8; ++c) assert_true(row[c] == W[b][c]);
    }
  }
}

static void linear_fields_are_reproduced(void** unused) {
  (void)unused;
  // Small integers: all sums and quarters are exact. The first field is the partition of unity.
  static const double FIELDS[][4] = {
      {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {7, -3, 5, 2}};
  sn_cell_shape shapes[SHAPE_COUNT];
  list_shapes(shapes);
  for (int n = 0; n < SHAPE_COUNT; ++n) {
    for (size_t f = 0; f < sizeof FIELDS / sizeof *FIELDS; ++f) {
      const double* a = FIELDS[f];
      double conforming[8], corner[8];
      for (int c = 0; c < 8; ++c) {
        double X[3];
        conforming_place(shapes[n], c, X);
        conforming[c] = a[0] + a[1] * X[0] + a[2] * X[1] + a[3] * X[2];
      }
      sn_cell_conform_to_corner(shapes[n], conforming, corner);
      for (int c = 0; c < 8; ++c) {
        assert_true(corner[c] == a[0] + a[1] * (c & 1) + a[2] * (c >> 1 & 1) + a[3] * (c >> 2 & 1));
      }
    }
  }
}

// ---- Values from 40-digit arithmetic ----

static void read_matrix(const json_t* from, const char* key, double A[9]) {
  const json_t* rows = json_object_get(from, key);
  assert_int_equal(json_array_size(rows), 3);
  for (size_t i = 0; i < 9; ++i) {
    A[i] = json_number_value(json_array_get(json_array_get(rows, i / 3), i % 3));
  }
}

// The mean stress from the forces: P_ij = 1/V sum_c g_ci X_cj.
static void stress_from_forces(double h, double g[8][3], double P[9]) {
  for (int i = 0; i < 9; ++i) {
    P[i] = 0;
    for (int c = 0; c < 8; ++c) P[i] += g[c][i / 3] * (c >> i % 3 & 1) / (h * h);
  }
}

static double compare_with_case(const json_t* point, cell_state* state) {
  const json_t* expected = json_object_get(json_object_get(point, "results"), "COR");
  assert_non_null(expected);
  double A[9], dF[9], P[9], g[8][3], p[8][3] = {{0}}, found[9], h = state->material.h;
  double worst;
  read_matrix(point, "F", A);
  read_matrix(point, "dF", dF);
  for (int i = 0; i < 9; i += 4) A[i] -= 1;
  memset(state->u, 0, sizeof state->u);
  add_affine(state->shape, h, A, state->u);
  add_affine(state->shape, h, dF, p);
  set_deformation(state);

  double energy = sn_cell_energy(state->shape, &state->material, (corners)state->u);
  worst = fabs(energy / (h * h * h) - json_number_value(json_object_get(expected, "W")));
  sn_cell_gradient(state->shape, &state->material, (corners)state->u, g);
  stress_from_forces(h, g, found);
  read_matrix(expected, "P", P);
  worst = fmax(worst, distance(found, P, 9));
  apply_at(state, SN_HESSIAN_EXACT, p, g);
  stress_from_forces(h, g, found);
  read_matrix(expected, "dP", P);
  return fmax(worst, distance(found, P, 9));
}

static void energy_stress_and_tangent_agree_with_40_digit_arithmetic(void** unused) {
  (void)unused;
  const char* path = SN_TEST_ASSETS "/reference_data/material_points.json";
  if (access(path, R_OK) != 0) {
    print_message("skipped: no assets folder\n");
    skip();
  }
  json_error_t err;
  json_t* root = json_load_file(path, 0, &err);
  if (!root) fail_msg("%s: %s", path, err.text);
  const json_t* cases = json_object_get(root, "cases");
  cell_state state = {.material = {0.25, json_number_value(json_object_get(root, "mu")),
                                   json_number_value(json_object_get(root, "lambda"))}};
  assert_true(json_array_size(cases) >= 8);
  double worst = 0;
  for (size_t i = 0; i < json_array_size(cases); ++i) {
    worst = fmax(worst, compare_with_case(json_array_get(cases, i), &state));
  }
  json_decref(root);
  print_message("worst %.1e, all values being of order 1\n", worst);
  assert_true(worst <= 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forces_are_differences_of_the_energy),
      cmocka_unit_test(forces_are_differences_of_the_energy_for_all_hanging_patterns),
      cmocka_unit_test(forces_are_finite_where_the_rotation_is_not_defined),
      cmocka_unit_test(exact_stiffness_is_the_derivative_of_the_gradient),
      cmocka_unit_test(stiffness_is_finite_where_the_rotation_is_not_defined),
      cmocka_unit_test(eigenvalues_are_found),
      cmocka_unit_test(stiffness_is_symmetric),
      cmocka_unit_test(definite_stiffness_has_no_negative_eigenvalue),
      cmocka_unit_test(definite_stiffness_is_exact_where_no_eigenvalue_is_lifted),
      cmocka_unit_test(diagonal_is_that_of_the_matrix),
      cmocka_unit_test(energy_is_the_laplacian_part_integrated_and_the_rest_at_the_centre),
      cmocka_unit_test(energy_is_that_of_the_papers_edge_rule_where_the_deformation_is_even),
      cmocka_unit_test(rigid_motion_costs_no_energy_and_no_force),
      cmocka_unit_test(forces_and_torques_sum_to_zero),
      cmocka_unit_test(hanging_corners_follow_the_parents_shape_functions),
      cmocka_unit_test(linear_fields_are_reproduced),
      cmocka_unit_test(energy_stress_and_tangent_agree_with_40_digit_arithmetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
