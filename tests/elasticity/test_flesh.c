// The operator of a whole body: what it must share with the continuum (patches, rigid motions),
// with calculus (differences) and with itself (symmetry, its diagonal, any number of threads).
#include "elasticity/flesh.h"

#include "elasticity/blob.h"
#include "math/quat.h"
#include "solve/jacobi.h"

// ---- Bodies and states ----

enum { CUBE, SPHERE, CAPSULE, BODIES };
static const char* const BODY_NAMES[BODIES] = {"cube", "sphere", "capsule"};
static const int COARSEN[] = {-1, 0, 2};
#define TREES (BODIES * 3)

static sn_mesh body_mesh(int body) {
  if (body == CUBE) return shape_unit_cube();
  sn_round_cone cone = {{0, 0, 0}, {0, 0, 0}, 0.5, 0.5};
  if (body == CAPSULE) cone = (sn_round_cone){{0, 0, 0}, {0.4, 0.2, 0.1}, 0.4, 0.4};
  sn_mesh mesh;
  sn_error err = {0};
  must(sn_mesh_from_round_cones(&cone, 1, 0, 0.1, &mesh, &err), &err);
  return mesh;
}

// One tree for each body and limit on its coarsest cells; the cube without a limit has four levels.
static blob trees[TREES];
static const double CELLS_PER_METRE[TREES] = {26, 13, 18, 18, 13, 18, 20, 13, 20};

static int build_trees(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) {
    blob_fill_mesh(&trees[t], body_mesh(t / 3), 1 / CELLS_PER_METRE[t], COARSEN[t % 3]);
    trees[t].mark = sn_arena_get_mark(trees[t].arena);
  }
  return 0;
}

static int destroy_trees(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) blob_destroy(&trees[t]);
  return 0;
}

// A tree as it was built: homogeneous, and without the vectors of the test before.
static blob* fresh_tree(int t) {
  blob* b = &trees[t];
  sn_arena_release(b->arena, b->mark);
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) b->body.mu[e] = b->body.lambda[e] = 1;
  sn_flesh_set_material(&b->body.flesh, &b->work.flesh);
  return b;
}

static int level_count(const blob* b) {
  int levels = 0;
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
    if (b->body.tree.cells[e].height >= levels) levels = b->body.tree.cells[e].height + 1;
  }
  return levels;
}

static const char* tree_name(int tree) {
  static char name[64];
  snprintf(name, sizeof name, "%s, coarsen %d", BODY_NAMES[tree / 3], COARSEN[tree % 3]);
  return name;
}

static void randomise_material(blob* b, sn_random* random) {
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
    b->body.mu[e] = (float)(1e3 * exp(5 * sn_random_unit(random)));
    b->body.lambda[e] = (float)(b->body.mu[e] * 10 * sn_random_unit(random));
  }
  sn_flesh_set_material(&b->body.flesh, &b->work.flesh);
}

static double greatest_mu(const blob* b) {
  double most = 0;
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) most = fmax(most, b->body.mu[e]);
  return most;
}

static sn_mat3 random_rotation(sn_random* random) {
  sn_quat q = {sn_random_symmetric(random), sn_random_symmetric(random),
               sn_random_symmetric(random), 0.5 + sn_random_unit(random)};
  return sn_quat_to_mat3(sn_quat_normalise(q));
}

// u = (A - I) X + shift
static void set_affine(const blob* b, const sn_mat3* A, sn_vec3 shift, double* u) {
  sn_rigid map = {*A, shift};
  for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
    sn_store3(u + 3 * (size_t)n, sn_rigid_displace(&map, sn_octree_node_local(&b->body.tree, n)));
  }
}

// Turned, stretched by up to `strain` along oblique axes and shifted.
static sn_mat3 set_random_affine(const blob* b, sn_random* random, double strain, double* u) {
  sn_mat3 R = random_rotation(random), S = sn_identity3();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) {
      S.m[i][j] += strain * sn_random_symmetric(random);
      S.m[j][i] = S.m[i][j];
    }
  }
  sn_mat3 A = sn_mul3(&R, &S);
  set_affine(b, &A, sn_v3(0.3, -0.2, 0.5), u);
  return A;
}

static void add_noise(const blob* b, sn_random* random, double size, double* u) {
  for (size_t i = 0; i < b->unknown_count; ++i) u[i] += size * sn_random_symmetric(random);
}

// An affine motion with noise that no cell is flattened by.
static double* random_displacement(const blob* b, sn_random* random) {
  double* u = blob_vector(b);
  set_random_affine(b, random, 0.15, u);
  add_noise(b, random, 0.15 * b->body.tree.cell, u);
  return u;
}

static double* random_vector(const blob* b, sn_random* random) {
  double* v = blob_vector(b);
  add_noise(b, random, b->body.tree.cell, v);
  return v;
}

static double dot(const blob* b, const double* x, const double* y) {
  double sum = 0;
  for (size_t i = 0; i < b->unknown_count; ++i) sum += x[i] * y[i];
  return sum;
}

static double norm_of(const blob* b, const double* x) { return sqrt(dot(b, x, x)); }

static double energy_at(blob* b, const double* u) {
  return sn_flesh_evaluate(&b->body.flesh, NULL, &b->work.flesh, u, NULL);
}

static double* gradient_at(blob* b, const double* u) {
  double* g = blob_vector(b);
  sn_flesh_evaluate(&b->body.flesh, NULL, &b->work.flesh, u, g);
  return g;
}

static double* product(blob* b, sn_hessian kind, const double* p) {
  double* y = blob_vector(b);
  sn_flesh_apply_d(&b->body.flesh, NULL, &b->work.flesh, kind, p, y);
  return y;
}

// ---- Patches and rigid motions ----

static void affine_motion_leaves_no_force_inside(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(21);
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    double* u = blob_vector(b);
    set_random_affine(b, &random, 0.3, u);
    double* g = gradient_at(b, u);
    uint8_t* boundary = blob_boundary(b);
    double inside = 0, outside = 0;
    int count = 0, hanging = 0;
    for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
      double force = sn_length(sn_load3(g + 3 * (size_t)n));
      if (boundary[n]) outside = fmax(outside, force);
      if (!boundary[n]) inside = fmax(inside, force);
      count += !boundary[n];
    }
    for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) hanging += b->body.tree.hanging[e] != 0;
    print_message("%s: %u cells, %d hanging, %d levels, force inside %.1e of the largest\n",
                  tree_name(t), b->body.tree.cell_count, hanging, level_count(b), inside / outside);
    assert_true(count > 100);
    if (COARSEN[t % 3] != 0) assert_true(hanging > 100);
    assert_int_equal(level_count(b), t == 0 ? 4 : COARSEN[t % 3] == 0 ? 1 : 3);
    assert_true(inside <= 1e-10 * outside);
  }
}

static sn_newton_result solve_held(blob* b, const uint8_t* held, double* u) {
  sn_error err = {0};
  sn_term terms[SN_BODY_TERMS];
  sn_body_make_terms(&b->body, &b->work, terms);
  sn_problem problem = {
      .unknown_count = b->unknown_count, .terms = terms, .term_count = SN_BODY_TERMS, .held = held};
  sn_jacobi jacobi = {&problem, blob_vector(b)};
  sn_preconditioner diagonal = sn_jacobi_preconditioner(&jacobi);
  sn_newton_opts opts = {.max = 20,
                         .tolerance = 1e-13,
                         .krylov_max = 1000,
                         .krylov_tolerance = 1e-6,
                         .preconditioner = &diagonal};
  sn_newton_work work;
  must(sn_newton_work_create(b->unknown_count, opts.max, b->arena, &work, &err), &err);
  return sn_newton_solve(&problem, NULL, &opts, &work, u);
}

static void solving_with_an_affine_boundary_gives_the_affine_field(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(22);
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    uint8_t* held = blob_boundary(b);
    double *affine = blob_vector(b), *u = blob_vector(b), size = 0, error = 0, start = 0;
    set_random_affine(b, &random, 0.1, affine);
    for (size_t i = 0; i < b->unknown_count; ++i) {
      bool free = !held[i / 3];
      u[i] = affine[i] + (free ? 0.3 * b->body.tree.cell * sn_random_symmetric(&random) : 0);
      size = fmax(size, fabs(affine[i]));
      start = fmax(start, fabs(u[i] - affine[i]));
    }
    sn_newton_result result = solve_held(b, held, u);
    for (size_t i = 0; i < b->unknown_count; ++i) error = fmax(error, fabs(u[i] - affine[i]));
    print_message("%s: error from %.1e to %.1e of the motion in %d steps, residual %.1e\n",
                  tree_name(t), start / size, error / size, result.steps, result.residual);
    assert_true(error <= 1e-8 * size);
  }
}

static void rigid_motion_costs_no_energy_and_no_force(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(23);
  double worst_energy = 0, worst_force = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    double* u = blob_vector(b);
    sn_mat3 R = random_rotation(&random);
    set_affine(b, &R, sn_v3(1, 2, -3), u);
    double *g = gradient_at(b, u), mu = greatest_mu(b), h = b->body.tree.cell, most = 0;
    for (size_t i = 0; i < b->unknown_count; ++i) most = fmax(most, fabs(g[i]));
    worst_force = fmax(worst_force, most / (mu * h * h));
    double energy = energy_at(b, u);
    worst_energy = fmax(worst_energy, energy / (mu * h * h * h));
  }
  print_message("worst energy %.1e, force %.1e\n", worst_energy, worst_force);
  assert_true(worst_energy <= 1e-10 && worst_force <= 1e-10);
}

static void forces_and_torques_sum_to_zero(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(24);
  double worst_force = 0, worst_torque = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    double *u = random_displacement(b, &random), *g = gradient_at(b, u), sizes = 0, arms = 0;
    sn_vec3 force = {0, 0, 0}, torque = {0, 0, 0};
    for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
      sn_vec3 f = sn_load3(g + 3 * (size_t)n);
      sn_vec3 x = sn_add(sn_octree_node_local(&b->body.tree, n), sn_load3(u + 3 * (size_t)n));
      force = sn_add(force, f);
      torque = sn_add(torque, sn_cross(x, f));
      sizes += sn_length(f);
      arms += sn_length(f) * sn_length(x);
    }
    worst_force = fmax(worst_force, sn_length(force) / sizes);
    worst_torque = fmax(worst_torque, sn_length(torque) / arms);
  }
  print_message("worst force %.1e, torque %.1e\n", worst_force, worst_torque);
  assert_true(worst_force <= 1e-10 && worst_torque <= 1e-10);
}

static void affine_motion_changes_the_volume_by_its_determinant(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(25);
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    double *u = blob_vector(b), rest = 0;
    sn_mat3 A = set_random_affine(b, &random, 0.3, u);
    if (t % 2) {  // inside out
      for (int j = 0; j < 3; ++j) A.m[0][j] *= -1;
      set_affine(b, &A, sn_v3(0, 0, 0), u);
    }
    double J = sn_det3(&A);
    for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
      rest += pow(sn_octree_edge(&b->body.tree, e), 3);
    }
    sn_flesh_measure measure = sn_flesh_get_measure(&b->body.flesh, NULL, u);
    assert_true(fabs(measure.volume - J * rest) <= 1e-12 * fabs(J) * rest);
    assert_true(fabs(measure.min_j - J) <= 1e-12 * fabs(J));
    assert_int_equal(measure.inverted, t % 2 ? b->body.tree.cell_count : 0);
  }
}

// ---- Derivatives ----

// Richardson on central differences of steps t, t/2 and t/4.
static double extrapolate(const double d[3]) {
  double a = (4 * d[1] - d[0]) / 3, b = (4 * d[2] - d[1]) / 3;
  return (16 * b - a) / 15;
}

static double* moved(const blob* b, const double* u, double t, const double* p) {
  double* v = blob_vector(b);
  for (size_t i = 0; i < b->unknown_count; ++i) v[i] = u[i] + t * p[i];
  return v;
}

static void gradient_is_the_difference_of_the_energy(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(26);
  double worst = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    double *u = random_displacement(b, &random), *g = gradient_at(b, u);
    for (int direction = 0; direction < 3; ++direction) {
      double *p = random_vector(b, &random), d[3];
      for (int level = 0; level < 3; ++level) {
        double step = ldexp(0.02, -level);
        d[level] =
            (energy_at(b, moved(b, u, step, p)) - energy_at(b, moved(b, u, -step, p))) / (2 * step);
      }
      double slope = dot(b, g, p);
      worst = fmax(worst, fabs(slope - extrapolate(d)) / fabs(slope));
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-6);
}

static void exact_product_is_the_difference_of_the_gradient(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(27);
  double worst = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    double *u = random_displacement(b, &random), *p = random_vector(b, &random);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
    double *y = product(b, SN_HESSIAN_EXACT, p), *g[3][2], error = 0;
    for (int level = 0; level < 3; ++level) {
      g[level][0] = gradient_at(b, moved(b, u, ldexp(0.02, -level), p));
      g[level][1] = gradient_at(b, moved(b, u, -ldexp(0.02, -level), p));
    }
    for (size_t i = 0; i < b->unknown_count; ++i) {
      double d[3];
      for (int level = 0; level < 3; ++level) {
        d[level] = (g[level][0][i] - g[level][1][i]) / (2 * ldexp(0.02, -level));
      }
      error += pow(y[i] - extrapolate(d), 2);
    }
    worst = fmax(worst, sqrt(error) / norm_of(b, y));
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-6);
}

// ---- The operator and itself ----

static void stiffness_is_symmetric(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(28);
  double worst = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, random_displacement(b, &random));
    for (int kind = 0; kind < 2; ++kind) {
      double *p = random_vector(b, &random), *q = random_vector(b, &random);
      double *Kp = product(b, (sn_hessian)kind, p), *Kq = product(b, (sn_hessian)kind, q);
      worst = fmax(worst, fabs(dot(b, q, Kp) - dot(b, p, Kq)) / (norm_of(b, Kp) * norm_of(b, q)));
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-13);
}

static void definite_stiffness_bends_no_direction_down(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(29);
  int bent_down = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    // Squeezed to a third along each axis, where the exact stiffness is far from definite.
    double* u = blob_vector(b);
    sn_mat3 A = {{{0.3, 0, 0}, {0, 0.3, 0}, {0, 0, 0.3}}};
    set_affine(b, &A, sn_v3(0, 0, 0), u);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
    // A rigid rotation strains nothing, but turns the stress that is there.
    sn_mat3 spin = {{{1, -1, 0}, {1, 1, 0}, {0, 0, 1}}};
    double* p = blob_vector(b);
    set_affine(b, &spin, sn_v3(0, 0, 0), p);
    bent_down += dot(b, p, product(b, SN_HESSIAN_EXACT, p)) < 0;
    double size = norm_of(b, product(b, SN_HESSIAN_EXACT, p)) * norm_of(b, p);
    assert_true(dot(b, p, product(b, SN_HESSIAN_DEFINITE, p)) >= -1e-12 * size);
    for (int n = 0; n < 5; ++n) {
      p = random_vector(b, &random);
      assert_true(dot(b, p, product(b, SN_HESSIAN_DEFINITE, p)) > 0);
    }
  }
  assert_int_equal(bent_down, TREES);
}

static void diagonal_is_that_of_the_products_with_unit_vectors(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(30);
  double worst = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, random_displacement(b, &random));
    for (int kind = 0; kind < 2; ++kind) {
      double *d = blob_vector(b), *unit = blob_vector(b);
      sn_flesh_diagonal_d(&b->body.flesh, NULL, &b->work.flesh, (sn_hessian)kind, d);
      for (int sample = 0; sample < 20; ++sample) {
        size_t i = sn_random_bits(&random) % b->unknown_count;
        unit[i] = 1;
        double expected = product(b, (sn_hessian)kind, unit)[i];
        unit[i] = 0;
        worst = fmax(worst, fabs(d[i] - expected) / fabs(expected));
      }
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-10);
}

static void doubling_mu_in_some_cells_adds_their_share(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(31);
  double worst = 0;
  for (int t = 0; t < TREES; ++t) {
    blob* b = fresh_tree(t);
    randomise_material(b, &random);
    const sn_octree* tree = &b->body.tree;
    double* u = random_displacement(b, &random);
    double before = energy_at(b, u), share = 0;
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      if (sn_random_unit(&random) < 0.7) continue;
      // The energy is linear in mu and lambda: without lambda it is what mu costs.
      double corners[8][3];
      for (int c = 0; c < 8; ++c) {
        const double* at = u + 3 * (size_t)sn_octree_corner(tree, e, (int)c);
        memcpy(corners[c], at, sizeof corners[c]);
      }
      sn_cell_material material = blob_material(b, e);
      material.lambda = 0;
      share += sn_cell_energy(sn_flesh_shape(tree, e), &material, (const double(*)[3])corners);
      b->body.mu[e] *= 2;
    }
    sn_flesh_set_material(&b->body.flesh, &b->work.flesh);
    double after = energy_at(b, u);
    assert_true(share > 0.05 * before);
    worst = fmax(worst, fabs(after - before - share) / share);
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-12);
}

static void results_are_added_to_what_is_there(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(33);
  blob* b = fresh_tree(0);
  const sn_flesh* flesh = &b->body.flesh;
  double *u = random_displacement(b, &random), *p = random_vector(b, &random);
  sn_flesh_linearise(flesh, NULL, &b->work.flesh, u);
  for (int which = 0; which < 3; ++which) {
    double* out[2];  // from zero, and from what is there
    double *there = random_vector(b, &random), error = 0, size = 0;
    for (int k = 0; k < 2; ++k) {
      out[k] = blob_vector(b);
      if (k) memcpy(out[k], there, b->unknown_count * sizeof *there);
      if (which == 0) sn_flesh_evaluate(flesh, NULL, &b->work.flesh, u, out[k]);
      if (which == 1) sn_flesh_apply_d(flesh, NULL, &b->work.flesh, SN_HESSIAN_EXACT, p, out[k]);
      if (which == 2) sn_flesh_diagonal_d(flesh, NULL, &b->work.flesh, SN_HESSIAN_EXACT, out[k]);
    }
    for (size_t i = 0; i < b->unknown_count; ++i) {
      error = fmax(error, fabs(out[1][i] - out[0][i] - there[i]));
      size = fmax(size, fabs(out[1][i]));
    }
    assert_true(error <= 1e-14 * size);
  }
}

// ---- Threads ----

typedef struct flesh_results {
  double energy;
  double *gradient, *products[2], *diagonals[2];
  sn_flesh_measure measure;
} flesh_results;

static flesh_results compute_all(blob* b, sn_pool* pool, const double* u, const double* p) {
  flesh_results r = {.gradient = blob_vector(b)};
  const sn_flesh* flesh = &b->body.flesh;
  r.energy = sn_flesh_evaluate(flesh, pool, &b->work.flesh, u, r.gradient);
  sn_flesh_linearise(flesh, pool, &b->work.flesh, u);
  for (int kind = 0; kind < 2; ++kind) {
    r.products[kind] = blob_vector(b);
    r.diagonals[kind] = blob_vector(b);
    sn_flesh_apply_d(flesh, pool, &b->work.flesh, (sn_hessian)kind, p, r.products[kind]);
    sn_flesh_diagonal_d(flesh, pool, &b->work.flesh, (sn_hessian)kind, r.diagonals[kind]);
  }
  r.measure = sn_flesh_get_measure(flesh, pool, u);
  return r;
}

static void assert_same_bits(const blob* b, const flesh_results* x, const flesh_results* y) {
  size_t bytes = b->unknown_count * sizeof(double);
  assert_memory_equal(&x->energy, &y->energy, sizeof x->energy);
  assert_memory_equal(x->gradient, y->gradient, bytes);
  for (int kind = 0; kind < 2; ++kind) {
    assert_memory_equal(x->products[kind], y->products[kind], bytes);
    assert_memory_equal(x->diagonals[kind], y->diagonals[kind], bytes);
  }
  assert_memory_equal(&x->measure, &y->measure, sizeof x->measure);
}

static void any_number_of_threads_gives_the_same_bits(void** unused) {
  (void)unused;
  static const int THREADS[] = {1, 2, 3, 8};
  sn_random random = sn_random_seeded(32);
  for (int t = 0; t < BODIES; ++t) {
    blob b;
    blob_fill_mesh(&b, body_mesh(t), 1.0 / 28, COARSEN[t]);
    randomise_material(&b, &random);
    assert_true(b.body.families.chunk_count > 3);
    double *u = random_displacement(&b, &random), *p = random_vector(&b, &random);
    flesh_results expected = compute_all(&b, NULL, u, p);
    for (size_t k = 0; k < 4; ++k) {
      sn_pool* pool;
      sn_error err = {0};
      must(sn_pool_create(THREADS[k], &pool, &err), &err);
      for (int again = 0; again < 3; ++again) {
        flesh_results found = compute_all(&b, pool, u, p);
        assert_same_bits(&b, &expected, &found);
      }
      sn_pool_destroy(pool);
    }
    blob_destroy(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(affine_motion_leaves_no_force_inside),
      cmocka_unit_test(solving_with_an_affine_boundary_gives_the_affine_field),
      cmocka_unit_test(rigid_motion_costs_no_energy_and_no_force),
      cmocka_unit_test(forces_and_torques_sum_to_zero),
      cmocka_unit_test(affine_motion_changes_the_volume_by_its_determinant),
      cmocka_unit_test(gradient_is_the_difference_of_the_energy),
      cmocka_unit_test(exact_product_is_the_difference_of_the_gradient),
      cmocka_unit_test(stiffness_is_symmetric),
      cmocka_unit_test(definite_stiffness_bends_no_direction_down),
      cmocka_unit_test(diagonal_is_that_of_the_products_with_unit_vectors),
      cmocka_unit_test(doubling_mu_in_some_cells_adds_their_share),
      cmocka_unit_test(results_are_added_to_what_is_there),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
  };
  return cmocka_run_group_tests(tests, build_trees, destroy_trees);
}
