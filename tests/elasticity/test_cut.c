// Cells that the skin cuts, integrated over what is inside: what they share with the continuum (a patch has
// the energy of its volume), with calculus (differences), and with themselves (symmetry, any number of
// threads, any instruction set). Whole cells with eight points each go the same way.
#include "body/body_cut.h"
#include "elasticity/blob.h"
#include "elasticity/flesh_kernels.h"
#include "material/point.h"
#include "math/quat.h"
#include "octree/octree_moments.h"

#define BODIES 4  // the last has whole cells and eight points in each
// Of differences, in cells: the second derivative of the biphasic law jumps, which few points should see.
#define STEP 1e-4

static blob bodies[BODIES];
static double volumes[BODIES];  // that the surfaces enclose
static sn_material kinds[SN_LAW_COUNT];

// Tree, families and rules of a mesh, which is destroyed. The order is that of sn_body_build.
static double fill_cut(blob* b, sn_mesh mesh, double cell, int coarsen) {
  sn_error err = {0};
  sn_surface surface;
  double(*moments)[SN_MOMENT_COUNT], volume = 0;
  blob_fill_mesh_kept(b, &mesh, cell, coarsen);
  must(sn_surface_prepare(&mesh, b->arena, b->scratch, &surface, &err), &err);
  must(SN_ARENA_NEW(b->arena, b->body.tree.cell_count, &moments, &err), &err);
  must(sn_octree_moments(&b->body.tree, &surface, NULL, b->scratch, moments, &err), &err);
  must(sn_body_cut((const double(*)[SN_MOMENT_COUNT])moments, NULL, b->arena, b->scratch, &b->body,
                   &err),
       &err);
  for (uint32_t t = 0; t < mesh.triangle_count; ++t) {
    const uint32_t* corner = mesh.triangles + 3 * (size_t)t;
    sn_vec3 p[3];
    for (int i = 0; i < 3; ++i) p[i] = sn_load3(mesh.positions + 3 * (size_t)corner[i]);
    volume += sn_dot(p[0], sn_cross(p[1], p[2])) / 6;
  }
  sn_mesh_destroy(&mesh);
  return volume;
}

// A block of whole cells of two sizes, hanging corners among them.
static double fill_whole(blob* b) {
  sn_error err = {0};
  sn_mesh mesh = shape_box(sn_v3(0, 0, 0), sn_v3(0.6, 0.5, 0.4));
  blob_fill_mesh_kept(b, &mesh, 0.05, -1);
  must(sn_body_gauss(b->arena, b->scratch, &b->body, &err), &err);
  sn_mesh_destroy(&mesh);
  return 0.6 * 0.5 * 0.4;
}

static sn_mesh capsule(void) {
  sn_round_cone cone = {{0, 0, 0}, {0.4, 0.2, 0.1}, 0.4, 0.2};
  sn_mesh mesh;
  sn_error err = {0};
  must(sn_mesh_from_round_cones(&cone, 1, 0, 0.1, &mesh, &err), &err);
  return mesh;
}

static int build(void** unused) {
  (void)unused;
  for (int l = 0; l < SN_LAW_COUNT; ++l) kinds[l] = sn_material_of((sn_law)l, 1, 1);
  volumes[0] = fill_cut(&bodies[0], shape_sphere(sn_v3(0, 0, 0), 0.5, 10), 1.0 / 9.3, 0);
  volumes[1] = fill_cut(&bodies[1], capsule(), 1.0 / 19, -1);
  // Thinner than a cell: both sides of the wall pass through it.
  volumes[2] = fill_cut(&bodies[2], shape_box(sn_v3(0, 0, 0), sn_v3(1, 0.83, 0.04)), 0.11, 0);
  volumes[3] = fill_whole(&bodies[3]);
  for (int k = 0; k < BODIES; ++k) {
    bodies[k].mark = sn_arena_get_mark(bodies[k].arena);
    assert_true(bodies[k].body.cut.count > 30);
  }
  return 0;
}

static int destroy(void** unused) {
  (void)unused;
  for (int k = 0; k < BODIES; ++k) blob_destroy(&bodies[k]);
  return 0;
}

// A body of one law, or for SN_LAW_COUNT of all of them by turns. Cut cells are softer by their share.
static blob* fresh(int body, int law, double mu, double lambda) {
  sn_error err = {0};
  blob* b = &bodies[body];
  uint32_t count = b->body.tree.cell_count;
  sn_arena_release(b->arena, b->mark);
  b->body.kinds = law < SN_LAW_COUNT ? &kinds[law] : kinds;
  b->body.kind_count = law < SN_LAW_COUNT ? 1 : SN_LAW_COUNT;
  b->body.cell_kinds = NULL;
  if (law == SN_LAW_COUNT) {
    must(SN_ARENA_NEW(b->arena, count, &b->body.cell_kinds, &err), &err);
    for (uint32_t e = 0; e < count; ++e) b->body.cell_kinds[e] = (uint8_t)(e * 5 / 3 % law);
  }
  b->body.flesh = sn_flesh_make(&b->body.tree, &b->body.families, sn_body_tissue(&b->body));
  b->body.flesh.cut = &b->body.cut;
  b->body.flesh.form = SN_FORM_FRAMES;
  for (uint32_t e = 0; e < count; ++e) {
    double share = sn_body_cut_share(&b->body, e);
    b->body.mu[e] = (float)(share * mu);
    b->body.lambda[e] = (float)(share * lambda);
  }
  must(sn_flesh_work_create(&b->body.flesh, false, b->arena, &b->work.flesh, &err), &err);
  b->work.flesh.sharp = true;
  return b;
}

static const char* law_name(int law) {
  return law < SN_LAW_COUNT ? sn_law_name((sn_law)law) : "all laws";
}

static sn_mat3 random_strain(sn_random* random, double strain) {
  sn_quat q = {sn_random_symmetric(random), sn_random_symmetric(random),
               sn_random_symmetric(random), 0.5 + sn_random_unit(random)};
  sn_mat3 R = sn_quat_to_mat3(sn_quat_normalise(q)), S = sn_identity3();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j <= i; ++j) {
      S.m[i][j] += strain * sn_random_symmetric(random);
      S.m[j][i] = S.m[i][j];
    }
  }
  return sn_mul3(&R, &S);
}

// u = (A - I) X + noise
static double* displacement(const blob* b, const sn_mat3* A, sn_random* random, double noise) {
  double* u = blob_vector(b);
  sn_rigid map = {*A, sn_v3(0.3, -0.2, 0.5)};
  for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
    sn_store3(u + 3 * (size_t)n, sn_rigid_displace(&map, sn_octree_node_local(&b->body.tree, n)));
  }
  for (size_t i = 0; i < b->unknown_count && noise > 0; ++i) {
    u[i] += noise * b->body.tree.cell * sn_random_symmetric(random);
  }
  return u;
}

static double* some_displacement(const blob* b, sn_random* random) {
  sn_mat3 A = random_strain(random, 0.12);
  return displacement(b, &A, random, 0.12);
}

static double* random_vector(const blob* b, sn_random* random) {
  double* v = blob_vector(b);
  for (size_t i = 0; i < b->unknown_count; ++i) {
    v[i] = b->body.tree.cell * sn_random_symmetric(random);
  }
  return v;
}

static double* moved(const blob* b, const double* u, double t, const double* p) {
  double* v = blob_vector(b);
  for (size_t i = 0; i < b->unknown_count; ++i) v[i] = u[i] + t * p[i];
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

// Filled share of a cell by the weights of its rule.
static double filled(const blob* b, uint32_t cell) {
  double corner[8], sum = 0;
  if (!sn_body_cut_masses(&b->body, cell, corner)) return 1;
  for (int c = 0; c < 8; ++c) sum += corner[c];
  return sum;
}

static void weights_sum_to_the_volume_of_the_surface(void** unused) {
  (void)unused;
  for (int k = 0; k < BODIES; ++k) {
    blob* b = fresh(k, 0, 1, 1);
    double sum = 0;
    for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
      double h = sn_octree_edge(&b->body.tree, e);
      sum += h * h * h * filled(b, e);
    }
    print_message("%u cells, %u cut, %u with more than four points: volume off by %.1e\n",
                  b->body.tree.cell_count, b->body.cut.count, (unsigned)b->body.many_point_cells,
                  fabs(sum - volumes[k]) / volumes[k]);
    assert_true(fabs(sum - volumes[k]) <= 1e-10 * volumes[k]);
  }
}

// W(F) x volume; mu and lambda are kept in single precision, so cell by cell what they are rounded to.
static double patch_energy(const blob* b, int law, const sn_mat3* A) {
  double sum = 0, F[9], P[9];
  for (int i = 0; i < 9; ++i) F[i] = A->m[i / 3][i % 3];
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
    sn_cell_material own = blob_material(b, e);
    sn_material material = kinds[law];
    double share = sn_body_cut_share(&b->body, e);
    material.mu = own.mu / share;
    material.lambda = own.lambda / share;
    sum += own.h * own.h * own.h * filled(b, e) * sn_material_stress(&material, F, P);
  }
  return sum;
}

static void an_affine_motion_has_the_energy_of_its_volume(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(41);
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    double worst = 0, rounded = 0;
    for (int k = 0; k < BODIES; ++k) {
      blob* b = fresh(k, law, 1, 1.5);
      sn_mat3 A = random_strain(&random, 0.2);
      double energy = energy_at(b, displacement(b, &A, NULL, 0)),
             expected = patch_energy(b, law, &A);
      double F[9], P[9];
      for (int i = 0; i < 9; ++i) F[i] = A.m[i / 3][i % 3];
      sn_material material = kinds[law];
      material.lambda = 1.5;
      double whole = volumes[k] * sn_material_stress(&material, F, P);
      worst = fmax(worst, fabs(energy - expected) / expected);
      rounded = fmax(rounded, fabs(energy - whole) / whole);
    }
    print_message("%-20s off by %.1e; with unrounded material by %.1e\n", law_name(law), worst,
                  rounded);
    assert_true(worst <= 1e-10 && rounded <= 1e-7);
  }
}

// Richardson on central differences of steps t, t/2 and t/4.
static double extrapolate(const double d[3]) {
  double a = (4 * d[1] - d[0]) / 3, b = (4 * d[2] - d[1]) / 3;
  return (16 * b - a) / 15;
}

static void the_gradient_is_the_difference_of_the_energy(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(42);
  for (int law = 0; law <= SN_LAW_COUNT; ++law) {
    double worst = 0;
    for (int k = 0; k < BODIES; ++k) {
      blob* b = fresh(k, law, 1, 1.5);
      double *u = some_displacement(b, &random), *g = gradient_at(b, u);
      for (int direction = 0; direction < 3; ++direction) {
        double *p = random_vector(b, &random), d[3], slope = dot(b, g, p);
        for (int level = 0; level < 3; ++level) {
          double t = ldexp(STEP, -level);
          d[level] = (energy_at(b, moved(b, u, t, p)) - energy_at(b, moved(b, u, -t, p))) / (2 * t);
        }
        worst = fmax(worst, fabs(slope - extrapolate(d)) / (norm_of(b, g) * norm_of(b, p)));
      }
    }
    print_message("%-20s worst %.1e\n", law_name(law), worst);
    assert_true(worst <= 1e-9);
  }
}

static double off_from_differences(blob* b, const double* u, const double* p, const double* y) {
  double *g[3][2], error = 0;
  for (int level = 0; level < 3; ++level) {
    for (int side = 0; side < 2; ++side) {
      g[level][side] = gradient_at(b, moved(b, u, ldexp(side ? -STEP : STEP, -level), p));
    }
  }
  for (size_t i = 0; i < b->unknown_count; ++i) {
    double d[3];
    for (int level = 0; level < 3; ++level) {
      d[level] = (g[level][0][i] - g[level][1][i]) / (2 * ldexp(STEP, -level));
    }
    error += pow(y[i] - extrapolate(d), 2);
  }
  return sqrt(error) / norm_of(b, y);
}

// Whole cells leave out of their products what hourglass modes give to the mean of J (law_cell.h), so only
// a body without whole cells has exact ones by every law.
static void sharp_products_are_differences_of_the_gradient(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(43);
  for (int k = 0; k <= 2 * SN_LAW_COUNT + 1; ++k) {
    int law = k / 2;
    blob* b = fresh(2 + k % 2, law, 1, 1.5);
    assert_int_equal(b->body.cut.count, b->body.tree.cell_count);
    double *u = some_displacement(b, &random), *p = random_vector(b, &random);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
    double sharp = off_from_differences(b, u, p, product(b, SN_HESSIAN_EXACT, p));
    b->work.flesh.sharp = false;
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
    double plain = off_from_differences(b, u, p, product(b, SN_HESSIAN_EXACT, p));
    print_message("%-20s off by %.1e; as whole cells %.1e\n", law_name(law), sharp, plain);
    assert_true(sharp <= 1e-6 && plain > 0.05);
  }
}

static void sharp_products_are_symmetric(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(44);
  double worst = 0;
  for (int law = 0; law <= SN_LAW_COUNT; ++law) {
    for (int k = 0; k < BODIES; ++k) {
      blob* b = fresh(k, law, 1, 1.5);
      sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, some_displacement(b, &random));
      for (int kind = 0; kind < 2; ++kind) {
        double *p = random_vector(b, &random), *q = random_vector(b, &random);
        double *Kp = product(b, (sn_hessian)kind, p), *Kq = product(b, (sn_hessian)kind, q);
        worst = fmax(worst, fabs(dot(b, q, Kp) - dot(b, p, Kq)) / (norm_of(b, Kp) * norm_of(b, q)));
      }
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-13);
}

// In a state far from rest, where the exact stiffness of most laws is not definite.
static void the_definite_kind_bends_no_direction_down(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(45);
  static const double STRETCH[3] = {0.3, -0.4, 3.5};
  int bent_down = 0;
  for (int law = 0; law <= SN_LAW_COUNT; ++law) {
    double least = INFINITY;
    for (int k = 0; k < 3 * BODIES; ++k) {
      blob* b = fresh(k / 3, law, 1, 1.5);
      sn_mat3 A = sn_identity3();
      for (int i = 0; i < 3; ++i) A.m[i][i] = i == 0 ? STRETCH[k % 3] : fabs(STRETCH[k % 3]);
      double* u = displacement(b, &A, &random, 0.3);
      sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
      for (int n = 0; n < 8; ++n) {
        // Directions: noise, and affine ones, which the stress that is there may bend down.
        sn_mat3 D = random_strain(&random, 1);
        double* p = n % 2 ? random_vector(b, &random) : displacement(b, &D, &random, 0);
        double *y = product(b, SN_HESSIAN_DEFINITE, p), size = norm_of(b, y) * norm_of(b, p);
        least = fmin(least, dot(b, p, y) / size);
        bent_down += dot(b, p, product(b, SN_HESSIAN_EXACT, p)) < 0;
      }
    }
    print_message("%-20s least %.1e\n", law_name(law), least);
    assert_true(least >= -1e-7);
  }
  assert_true(bent_down > 10);
}

// Every cell gets the rule of the full cell. Of a law that measures no mean over the cell, so that the
// integral is that of the law at each place.
static void a_rule_of_the_full_cell_is_the_integral_over_it(void** unused) {
  (void)unused;
  sn_rule rule;
  sn_random random = sn_random_seeded(46);
  assert_true(sn_rule_from_moments(sn_full_moments, &rule));
  assert_int_equal(rule.count, 4);
  blob* b = fresh(2, SN_LAW_STVK, 1, 1.5);
  sn_cut_cells* cut = &b->body.cut;
  sn_error err = {0};
  sn_point_group* kept = cut->groups;
  must(SN_ARENA_NEW(b->arena, cut->starts[cut->count], &cut->groups, &err), &err);
  for (uint32_t r = 0; r < cut->count; ++r) {
    assert_int_equal(cut->starts[r + 1] - cut->starts[r], 1);
    for (int p = 0; p < 4; ++p) {
      cut->groups[r].weights[p] = rule.weights[p] / cut->shares[r];
      for (int i = 0; i < 3; ++i) cut->groups[r].places[i][p] = rule.points[p][i];
    }
  }
  b->body.flesh.hourglass = 0;
  // Small strains: W is quadratic, F linear but for the terms yz of the last mode, which the motion has not.
  double *u = blob_vector(b), cells = 0, expected = 0;
  double slope[3][3];
  for (int i = 0; i < 9; ++i) slope[i / 3][i % 3] = 1e-5 * sn_random_symmetric(&random);
  const sn_octree* tree = &b->body.tree;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_vec3 X = sn_octree_node_local(tree, n);
    for (int i = 0; i < 3; ++i) {
      u[3 * n + (size_t)i] =
          slope[i][0] * X.x * X.y + slope[i][1] * X.y * X.z + slope[i][2] * X.x * X.z;
    }
  }
  // The same integral by 2 x 2 x 2 points of Gauss.
  for (uint32_t e = 0; e < tree->cell_count; ++e, ++cells) {
    double h = sn_octree_edge(tree, e);
    sn_octant o = tree->cells[e];
    for (int g = 0; g < 8; ++g) {
      double X[3], F[9], P[9];
      const uint16_t anchor[3] = {o.x, o.y, o.z};
      for (int i = 0; i < 3; ++i) {
        X[i] = tree->cell * anchor[i] + h * (0.5 + (g >> i & 1 ? 0.5 : -0.5) / sqrt(3));
      }
      for (int i = 0; i < 3; ++i) {
        F[3 * i] = slope[i][0] * X[1] + slope[i][2] * X[2];
        F[3 * i + 1] = slope[i][0] * X[0] + slope[i][1] * X[2];
        F[3 * i + 2] = slope[i][1] * X[1] + slope[i][2] * X[0];
        F[4 * i] += 1;
      }
      sn_material material = kinds[SN_LAW_STVK];
      material.lambda = 1.5;
      expected += h * h * h / 8 * sn_material_stress(&material, F, P);
    }
  }
  double energy = energy_at(b, u);
  cut->groups = kept;
  print_message("%.0f cells: energy %.6e, by Gauss %.6e\n", cells, energy, expected);
  assert_true(fabs(energy - expected) <= 1e-4 * expected);
}

// The plain twin of the eight points: the law at each of them, by the trilinear motion of the corners. Of a law
// that measures no mean over the cell.
static double energy_by_gauss(const blob* b, const double* u) {
  double sum = 0;
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
    sn_cell_material own = blob_material(b, e);
    sn_material material = kinds[SN_LAW_STVK];
    material.mu = own.mu;
    material.lambda = own.lambda;
    double corners[8][3], q[3][8];
    sn_corners at = sn_octree_corners(&b->body.tree, e);
    for (int c = 0; c < 24; ++c)
      corners[c / 3][c % 3] = u[3 * (size_t)at.nodes[c / 3] + (size_t)c % 3];
    sn_cell_to_modes(sn_flesh_shape(&b->body.tree, e), (const double(*)[3])corners, q);
    for (int g = 0; g < 8; ++g) {
      double F[9], P[9], eta[3];
      for (int i = 0; i < 3; ++i) eta[i] = (g >> i & 1 ? 1 : -1) / sqrt(3);
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
          // d/dX of the modes that have the bit k: 2 / h times the product of the other places
          double slope = 0;
          for (int m = 1; m < 8; ++m) {
            if (!(m >> k & 1)) continue;
            double term = q[i][m];
            for (int j = 0; j < 3; ++j) term *= j != k && m >> j & 1 ? eta[j] : 1;
            slope += term;
          }
          F[3 * i + k] = (i == k) + 2 / own.h * slope;
        }
      }
      sum += pow(own.h, 3) / 8 * sn_material_stress(&material, F, P);
    }
  }
  return sum;
}

static void eight_points_are_the_law_at_each_of_them(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(47);
  blob* b = fresh(3, SN_LAW_STVK, 1, 1.5);
  uint32_t hanging = 0;
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) hanging += b->body.tree.hanging[e] != 0;
  assert_true(hanging > 0);
  for (int k = 0; k < 4; ++k) {
    double *u = some_displacement(b, &random), expected = energy_by_gauss(b, u);
    assert_true(fabs(energy_at(b, u) - expected) <= 1e-12 * expected);
  }
}

// u_x = a x y strains by a y along x and by a x / 2 across: mu a^2 (y^2 + x^2 / 2) of flesh without lambda, which
// one point a cell knows only by its hourglass energy.
static void eight_points_bend_as_the_continuum_does(void** unused) {
  (void)unused;
  blob* b = fresh(3, SN_LAW_COROTATED, 2, 0);
  double *u = blob_vector(b), a = 1e-6, x = 0.6, y = 0.5, z = 0.4;
  for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
    sn_vec3 X = sn_octree_node_place(&b->body.tree, n);
    u[3 * n] = a * X.x * X.y;
  }
  double expected = 2 * a * a * x * y * z * (y * y / 3 + x * x / 6), energy = energy_at(b, u);
  print_message("off by %.1e\n", fabs(energy - expected) / expected);
  assert_true(fabs(energy - expected) <= 1e-5 * expected);
}

typedef struct results {
  double energy, *vectors[3];  // gradient and products
} results;

static results compute(blob* b, const sn_flesh_kernels* kernels, sn_pool* pool, const double* u,
                       const double* p) {
  results r = {.vectors = {blob_vector(b), blob_vector(b), blob_vector(b)}};
  sn_flesh flesh = b->body.flesh;
  if (kernels) flesh.kernels = kernels;
  r.energy = sn_flesh_evaluate(&flesh, pool, &b->work.flesh, u, r.vectors[0]);
  sn_flesh_linearise(&flesh, pool, &b->work.flesh, u);
  for (int kind = 0; kind < 2; ++kind) {
    sn_flesh_apply_d(&flesh, pool, &b->work.flesh, (sn_hessian)kind, p, r.vectors[1 + kind]);
  }
  return r;
}

static void the_diagonal_is_that_of_the_products(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(49);
  double worst = 0;
  for (int k = 0; k < BODIES; ++k) {
    blob* b = fresh(k, SN_LAW_COUNT, 1, 1.5);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, some_displacement(b, &random));
    for (int kind = 0; kind < 2; ++kind) {
      double *d = blob_vector(b), *unit = blob_vector(b);
      sn_flesh_diagonal_d(&b->body.flesh, NULL, &b->work.flesh, (sn_hessian)kind, d);
      for (int sample = 0; sample < 60; ++sample) {
        size_t i = sn_random_bits(&random) % b->unknown_count;
        unit[i] = 1;
        worst = fmax(worst, fabs(product(b, (sn_hessian)kind, unit)[i] / d[i] - 1));
        unit[i] = 0;
      }
    }
  }
  print_message("worst %.1e\n", worst);
  assert_true(worst <= 1e-9);
}

static void any_number_of_threads_gives_the_same_bits(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(47);
  blob* b = fresh(1, SN_LAW_COUNT, 1, 1.5);
  assert_true(b->body.families.chunk_count > 1);
  double *u = some_displacement(b, &random), *p = random_vector(b, &random);
  results alone = compute(b, NULL, NULL, u, p);
  for (int threads = 1; threads <= 3; ++threads) {
    sn_pool* pool;
    sn_error err = {0};
    must(sn_pool_create(threads, &pool, &err), &err);
    results r = compute(b, NULL, pool, u, p);
    assert_memory_equal(&r.energy, &alone.energy, sizeof r.energy);
    for (int v = 0; v < 3; ++v) {
      assert_memory_equal(r.vectors[v], alone.vectors[v], b->unknown_count * sizeof(double));
    }
    sn_pool_destroy(pool);
  }
}

static void all_instruction_sets_agree(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(48);
  blob* b = fresh(1, SN_LAW_COUNT, 1, 1.5);
  double *u = some_displacement(b, &random), *p = random_vector(b, &random);
  results best = compute(b, NULL, NULL, u, p);
  for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
    if (!(*k)->is_supported()) continue;
    results r = compute(b, *k, NULL, u, p);
    double worst[3];
    for (int v = 0; v < 3; ++v) {
      double off = 0;
      for (size_t i = 0; i < b->unknown_count; ++i) {
        off += pow(r.vectors[v][i] - best.vectors[v][i], 2);
      }
      worst[v] = sqrt(off) / norm_of(b, best.vectors[v]);
    }
    double energy = fabs(r.energy - best.energy) / best.energy;
    print_message("%-8s energy %.1e, gradient %.1e, products %.1e\n", (*k)->name, energy, worst[0],
                  fmax(worst[1], worst[2]));
    assert_true(energy <= 1e-12 && worst[0] <= 1e-11 && fmax(worst[1], worst[2]) <= 1e-5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_sum_to_the_volume_of_the_surface),
      cmocka_unit_test(an_affine_motion_has_the_energy_of_its_volume),
      cmocka_unit_test(the_gradient_is_the_difference_of_the_energy),
      cmocka_unit_test(sharp_products_are_differences_of_the_gradient),
      cmocka_unit_test(sharp_products_are_symmetric),
      cmocka_unit_test(the_definite_kind_bends_no_direction_down),
      cmocka_unit_test(the_diagonal_is_that_of_the_products),
      cmocka_unit_test(a_rule_of_the_full_cell_is_the_integral_over_it),
      cmocka_unit_test(eight_points_are_the_law_at_each_of_them),
      cmocka_unit_test(eight_points_bend_as_the_continuum_does),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(all_instruction_sets_agree),
  };
  return cmocka_run_group_tests(tests, build, destroy);
}
