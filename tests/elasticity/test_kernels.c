// Every wide kernel against its plain twin: cell by cell with corotated_cell.h and law_cell.h, on trees
// with all kinds of hanging corners and families that lack cells, in states from rest to collapsed.
#include "elasticity/flesh_kernels.h"

#include "elasticity/blob.h"
#include "elasticity/law_cell.h"
#include "math/svd3.h"

static blob bodies[2];
static double *u, *p;  // the state and a direction

typedef enum state_kind {
  REST,
  BENT,
  SCATTERED,
  INVERTED,
  FLAT,
  MIRRORED,
  LINE,
  POINT,
  STATES
} state_kind;
static const char* const STATE_NAMES[STATES] = {"rest", "bent",     "scattered", "inverted",
                                                "flat", "mirrored", "line",      "point"};

static int build(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  sn_round_cone cone = {{0, 0, 0}, {0.5, 0.2, 0.1}, 0.4, 0.2};
  sn_mesh mesh;
  sn_error err = {0};
  must(sn_mesh_from_round_cones(&cone, 1, 0, 0.08, &mesh, &err), &err);
  blob_fill_mesh(&bodies[0], mesh, 1.0 / 26, -1);
  blob_fill_mesh(&bodies[1], shape_unit_cube(), 1.0 / 19, 1);
  for (int k = 0; k < 2; ++k) {
    blob* b = &bodies[k];
    for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
      b->body.mu[e] = (float)(1e3 * exp(5 * sn_random_unit(&random)));
      b->body.lambda[e] = (float)(b->body.mu[e] * 10 * sn_random_unit(&random));
    }
    sn_flesh_set_material(&b->body.flesh, &b->work.flesh);
    b->mark = sn_arena_get_mark(b->arena);
  }
  return 0;
}

static int destroy(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) blob_destroy(&bodies[k]);
  return 0;
}

static void set_state(const blob* b, state_kind kind, sn_random* random, double* out) {
  double h = b->body.tree.cell;
  for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
    sn_vec3 x = sn_octree_node_local(&b->body.tree, n), to = x;
    double noise[3];
    for (int i = 0; i < 3; ++i) noise[i] = h * sn_random_symmetric(random);
    if (kind == BENT)
      to = sn_v3(x.x * (1 + 0.3 * x.y), x.y - 0.4 * x.x * x.x, x.z + 0.2 * x.x * x.y);
    if (kind == SCATTERED) to = sn_v3(x.x + noise[0], x.y + noise[1], x.z + noise[2]);
    if (kind == INVERTED) to = sn_v3(-1.2 * x.x, x.y + 0.1 * noise[1], x.z + 0.3 * x.x);
    if (kind == FLAT) to = sn_v3(x.x, x.y, 0);
    if (kind == MIRRORED) to = sn_v3(x.x, -x.y, x.z);
    if (kind == LINE) to = sn_v3(0, 1.5 * x.y, 0);
    if (kind == POINT) to = sn_v3(0.1, 0.2, 0.3);
    sn_store3(out + 3 * (size_t)n, sn_sub(to, x));
  }
}

typedef struct plain_results {
  double energy;
  double *g, *y[2], *d[2];  // d of laws: none
  double gap;               // least sum of two singular values of a cell's F, 1 if more
} plain_results;

static void add_corners(const blob* b, uint32_t cell, double values[8][3], double* to) {
  for (int c = 0; c < 8; ++c) {
    size_t at = 3 * (size_t)sn_octree_corner(&b->body.tree, cell, (int)c);
    for (int i = 0; i < 3; ++i) to[at + i] += values[c][i];
  }
}

static sn_material material_of(const blob* b, uint32_t cell) {
  const sn_tissue* tissue = &b->body.flesh.tissue;
  sn_cell_material numbers = blob_material(b, cell);
  sn_material material = tissue->kinds[tissue->cell_kinds ? tissue->cell_kinds[cell] : 0];
  material.mu = numbers.mu;
  material.lambda = numbers.lambda;
  return material;
}

// L = 2 / (s_i + s_j) of the rotation's derivative is largest for the two least singular values.
static double get_gap(const double F[9]) {
  double U[9], s[3], V[9];
  sn_svd3_d(F, U, s, V);
  return s[1] + s[2];
}

static plain_results compute_plain_laws(const blob* b) {
  plain_results r = {.g = blob_vector(b), .y = {blob_vector(b), blob_vector(b)}, .gap = 1};
  const sn_octree* tree = &b->body.tree;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_material material = material_of(b, e);
    sn_cell_shape shape = sn_flesh_shape(tree, e);
    double at[8][3], along[8][3], out[8][3], h = sn_octree_edge(tree, e);
    for (int c = 0; c < 8; ++c) {
      size_t node = 3 * (size_t)sn_octree_corner(tree, e, (int)c);
      memcpy(at[c], u + node, sizeof at[c]);
      memcpy(along[c], p + node, sizeof along[c]);
    }
    r.energy += sn_law_cell_evaluate(shape, h, &material, (const double(*)[3])at, out);
    add_corners(b, e, out, r.g);
    double F[9];
    sn_cell_deformation(shape, h, (const double(*)[3])at, F);
    r.gap = fmin(r.gap, get_gap(F));
    for (int kind = 0; kind < 2; ++kind) {
      sn_law_cell_apply(shape, h, &material, (const double(*)[3])at, (sn_hessian)kind,
                        (const double(*)[3])along, out);
      add_corners(b, e, out, r.y[kind]);
    }
  }
  return r;
}

// All that flesh can be asked for, by the plain kernels in double precision.
static plain_results compute_plain(const blob* b) {
  if (b->body.flesh.form != SN_FORM_COROTATED) return compute_plain_laws(b);
  plain_results r = {.g = blob_vector(b), .gap = 1};
  const sn_octree* tree = &b->body.tree;
  for (int kind = 0; kind < 2; ++kind) {
    r.y[kind] = blob_vector(b);
    r.d[kind] = blob_vector(b);
  }
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_cell_material material = blob_material(b, e);
    sn_cell_shape shape = sn_flesh_shape(tree, e);
    double at[8][3], along[8][3], out[8][3], F[9];
    for (int c = 0; c < 8; ++c) {
      size_t node = 3 * (size_t)sn_octree_corner(tree, e, (int)c);
      memcpy(at[c], u + node, sizeof at[c]);
      memcpy(along[c], p + node, sizeof along[c]);
    }
    r.energy += sn_cell_energy(shape, &material, (const double(*)[3])at);
    sn_cell_gradient(shape, &material, (const double(*)[3])at, out);
    add_corners(b, e, out, r.g);
    sn_cell_tangent tangent;
    sn_cell_deformation(shape, material.h, (const double(*)[3])at, F);
    sn_cell_linearise(&material, F, &tangent);
    r.gap = fmin(r.gap, get_gap(F));
    for (int kind = 0; kind < 2; ++kind) {
      sn_cell_apply(shape, &material, &tangent, (sn_hessian)kind, (const double(*)[3])along, out);
      add_corners(b, e, out, r.y[kind]);
      sn_cell_diagonal(shape, &material, &tangent, (sn_hessian)kind, out);
      add_corners(b, e, out, r.d[kind]);
    }
  }
  return r;
}

// |x - y| over |y|
static double off_d(const blob* b, const double* x, const double* y) {
  double error = 0, size = 0;
  for (size_t i = 0; i < b->unknown_count; ++i) {
    error += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return size > 0 ? sqrt(error / size) : sqrt(error);
}

static double off_f(const blob* b, const float* x, const double* y) {
  double* wide = blob_vector(b);
  for (size_t i = 0; i < b->unknown_count; ++i) wide[i] = x[i];
  return off_d(b, wide, y);
}

static float* float_vector(const blob* b) {
  float* v;
  sn_error err = {0};
  must(SN_ARENA_NEW(b->arena, b->unknown_count, &v, &err), &err);
  return v;
}

static void assert_finite(const blob* b, const double* v, const float* narrow) {
  for (size_t i = 0; i < b->unknown_count; ++i) {
    assert_true(isfinite(v[i]));
    if (narrow) assert_true(isfinite(narrow[i]));
  }
}

// The energy of strains of one: what round-off at rest is measured by.
static double energy_scale(const blob* b) {
  double sum = 0;
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
    double h = sn_octree_edge(&b->body.tree, e);
    sum += b->body.mu[e] * h * h * h;
  }
  return sum;
}

static void compare(const sn_flesh_kernels* kernels, blob* b, state_kind kind) {
  sn_flesh flesh = b->body.flesh;
  sn_flesh_work* work = &b->work.flesh;
  plain_results plain = compute_plain(b);
  flesh.kernels = kernels;
  double* g = blob_vector(b);
  double energy = sn_flesh_evaluate(&flesh, NULL, work, u, g);
  double scale = energy_scale(b);
  double worst_d = fabs(energy - plain.energy) / (kind == REST ? scale : plain.energy);
  assert_true(isfinite(energy) && energy == sn_flesh_evaluate(&flesh, NULL, work, u, NULL));
  assert_finite(b, g, NULL);

  // Where a cell has no direction left, or two singular values cancel, its rotation, and with it the
  // gradient and K, depend on round-off; where they nearly cancel, round-off in K is large.
  bool unique = kind < MIRRORED;
  double worst_f = 0;
  if (unique && kind != REST) worst_d = fmax(worst_d, off_d(b, g, plain.g));
  for (size_t i = 0; i < b->unknown_count && kind == REST; ++i) {
    worst_d = fmax(worst_d, fabs(g[i]) * b->body.tree.cell / scale);
  }
  sn_flesh_linearise(&flesh, NULL, work, u);
  float* narrow = float_vector(b);
  for (size_t i = 0; i < b->unknown_count; ++i) narrow[i] = (float)p[i];
  for (int k = 0; k < 2; ++k) {
    double *y = blob_vector(b), *d = blob_vector(b);
    float *yf = float_vector(b), *df = float_vector(b);
    sn_flesh_apply_d(&flesh, NULL, work, (sn_hessian)k, p, y);
    sn_flesh_multiply(&flesh, NULL, work, (sn_hessian)k, &(sn_addends_f){0}, narrow, yf);
    sn_flesh_diagonal_d(&flesh, NULL, work, (sn_hessian)k, d);
    sn_flesh_diagonal_f(&flesh, NULL, work, (sn_hessian)k, df);
    assert_finite(b, y, yf);
    assert_finite(b, d, df);
    worst_f = fmax(worst_f, fmax(off_f(b, yf, y), off_f(b, df, d)));
    if (!unique) continue;
    worst_f = fmax(worst_f, off_d(b, y, plain.y[k]));
    if (plain.d[k]) worst_f = fmax(worst_f, off_d(b, d, plain.d[k]));
  }
  print_message("%-6s %-9s double %.1e, single %.1e, gap %.1e\n", kernels->name, STATE_NAMES[kind],
                worst_d, worst_f, plain.gap);
  assert_true(worst_d <= 1e-11);
  // Round-off of F changes L by its own size over the gap. Where states are not unique, only single
  // precision is measured against double with the same L.
  assert_true(worst_f <= 1e-6 / (unique ? plain.gap : 1));
}

// A state and a direction, the same for every kernel, whichever of them the machine has.
static sn_random draw_state(const blob* b, state_kind kind, uint64_t seed) {
  sn_random random = sn_random_seeded(100 * seed + kind);
  u = blob_vector(b);
  p = blob_vector(b);
  set_state(b, kind, &random, u);
  for (size_t i = 0; i < b->unknown_count; ++i) p[i] = sn_random_symmetric(&random);
  return random;
}

static void every_kernel_is_its_plain_twin(void** unused) {
  (void)unused;
  for (int t = 0; t < 2; ++t) {
    for (int kind = 0; kind < STATES; ++kind) {
      blob* b = &bodies[t];
      for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
        if (!(*k)->is_supported()) continue;
        sn_arena_release(b->arena, b->mark);
        draw_state(b, (state_kind)kind, 6);
        compare(*k, b, (state_kind)kind);
      }
    }
  }
}

// One law in all cells; the last: all laws, cell by cell. In the form of any law, or in its own.
static void set_laws(blob* b, int law, bool own_form, sn_material kinds[SN_LAW_COUNT]) {
  sn_error err = {0};
  for (int l = 0; l < SN_LAW_COUNT; ++l) kinds[l] = sn_material_of((sn_law)l, 1, 1);
  b->body.kinds = law < SN_LAW_COUNT ? &kinds[law] : kinds;
  b->body.kind_count = law < SN_LAW_COUNT ? 1 : SN_LAW_COUNT;
  b->body.cell_kinds = NULL;
  if (law == SN_LAW_COUNT) {
    must(SN_ARENA_NEW(b->arena, b->body.tree.cell_count, &b->body.cell_kinds, &err), &err);
    for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
      b->body.cell_kinds[e] = (uint8_t)(e * 5 / 3 % SN_LAW_COUNT);
    }
  }
  b->body.flesh = sn_flesh_make(&b->body.tree, &b->body.families, sn_body_tissue(&b->body));
  if (!own_form) b->body.flesh.form = SN_FORM_FRAMES;
  must(sn_flesh_work_create(&b->body.flesh, false, b->arena, &b->work.flesh, &err), &err);
}

static void every_law_is_its_plain_twin(void** unused) {
  (void)unused;
  static sn_material kinds[SN_LAW_COUNT];
  blob* b = &bodies[0];
  for (int law = 0; law <= SN_LAW_COUNT + 1; ++law) {
    bool polynomial = law > SN_LAW_COUNT;
    sn_arena_release(b->arena, b->mark);
    set_laws(b, polynomial ? SN_LAW_STABLE_NEO_HOOKEAN : law, polynomial, kinds);
    assert_int_equal(b->body.flesh.form, polynomial ? SN_FORM_POLYNOMIAL : SN_FORM_FRAMES);
    print_message("%s\n", polynomial           ? "polynomial"
                          : law < SN_LAW_COUNT ? sn_law_name((sn_law)law)
                                               : "all");
    for (int kind = 0; kind < MIRRORED; ++kind) {
      for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
        if (!(*k)->is_supported()) continue;
        draw_state(b, (state_kind)kind, 7);
        compare(*k, b, (state_kind)kind);
      }
    }
  }
}

// While it is eased flesh follows the corotated law, whatever its form: the forms agree in energy, forces and definite products.
static void eased_forms_agree(void** unused) {
  (void)unused;
  static sn_material kinds[SN_LAW_COUNT];
  blob* b = &bodies[0];
  double *g[2], *y[2], energy[2];
  size_t size = b->unknown_count * sizeof(double);
  sn_arena_release(b->arena, b->mark);
  for (int own_form = 0; own_form < 2; ++own_form) {
    set_laws(b, SN_LAW_STABLE_NEO_HOOKEAN, own_form, kinds);
    draw_state(b, SCATTERED, 9);
    g[own_form] = blob_vector(b);
    y[own_form] = blob_vector(b);
    b->work.flesh.eased = true;
    energy[own_form] = sn_flesh_evaluate(&b->body.flesh, NULL, &b->work.flesh, u, g[own_form]);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
    sn_flesh_apply_d(&b->body.flesh, NULL, &b->work.flesh, SN_HESSIAN_DEFINITE, p, y[own_form]);
  }
  assert_true(energy[0] == energy[1]);
  assert_memory_equal(g[0], g[1], size);
  assert_memory_equal(y[0], y[1], size);
  // Exact products of the polynomial form are the definite ones then.
  double* exact = blob_vector(b);
  sn_flesh_apply_d(&b->body.flesh, NULL, &b->work.flesh, SN_HESSIAN_EXACT, p, exact);
  assert_memory_equal(exact, y[1], size);
}

// Strains of 1e-6 of flesh that is turned by a right angle and more: of the energy, 1e-12 mu, most digits are left.
static void turned_flesh_keeps_the_energy_of_small_strains(void** unused) {
  (void)unused;
  static sn_material kinds[SN_LAW_COUNT];
  blob* b = &bodies[0];
  sn_arena_release(b->arena, b->mark);
  set_laws(b, SN_LAW_STABLE_NEO_HOOKEAN, true, kinds);
  u = blob_vector(b);
  p = blob_vector(b);
  for (uint32_t n = 0; n < b->body.tree.node_count; ++n) {
    sn_vec3 x = sn_octree_node_local(&b->body.tree, n), to = sn_v3(-x.y, 0.6 * x.x - 0.8 * x.z, 0);
    to.z = 0.8 * x.x + 0.6 * x.z;
    to = sn_add(to, sn_scale(1e-6, sn_v3(x.x * x.y, x.z * x.z - x.y, x.x + x.y * x.z)));
    sn_store3(u + 3 * (size_t)n, sn_sub(to, x));
  }
  double plain = compute_plain(b).energy;
  double energy = sn_flesh_evaluate(&b->body.flesh, NULL, &b->work.flesh, u, NULL);
  print_message("energy %.3e, off by %.1e of it\n", energy, fabs(energy - plain) / plain);
  assert_true(plain > 0 && fabs(energy - plain) <= 1e-7 * plain);
}

// All that kernels give at the state, one after the other (9 x unknown_count, then the energy).
static double* compute_all(const sn_flesh_kernels* kernels, blob* b) {
  size_t n = b->unknown_count, at = 0;
  sn_flesh flesh = b->body.flesh;
  sn_flesh_work* work = &b->work.flesh;
  flesh.kernels = kernels;
  double* all = calloc(9 * n + 1, sizeof *all);
  assert_non_null(all);
  float *narrow = float_vector(b), *yf = float_vector(b), *df = float_vector(b);
  for (size_t i = 0; i < n; ++i) narrow[i] = (float)p[i];
  all[9 * n] = sn_flesh_evaluate(&flesh, NULL, work, u, all);
  sn_flesh_linearise(&flesh, NULL, work, u);
  for (int k = 0; k < 2; ++k) {
    sn_flesh_apply_d(&flesh, NULL, work, (sn_hessian)k, p, all + (at += n));
    sn_flesh_multiply(&flesh, NULL, work, (sn_hessian)k, &(sn_addends_f){0}, narrow, yf);
    sn_flesh_diagonal_d(&flesh, NULL, work, (sn_hessian)k, all + (at += n));
    memset(df, 0, n * sizeof *df);
    sn_flesh_diagonal_f(&flesh, NULL, work, (sn_hessian)k, df);
    for (size_t i = 0; i < n; ++i) {
      all[at + n + i] = (double)yf[i];
      all[at + 2 * n + i] = (double)df[i];
    }
    at += 2 * n;
  }
  return all;
}

static const sn_flesh_kernels* find_kernels(const char* name) {
  for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
    if (strcmp((*k)->name, name) == 0 && (*k)->is_supported()) return *k;
  }
  return NULL;
}

// Both round a b + c once and have the same lanes, in the same order.
static void assert_same_bits(blob* b, state_kind kind, uint64_t seed) {
  const sn_flesh_kernels *avx512 = find_kernels("avx512"), *avx2 = find_kernels("avx2");
  draw_state(b, kind, seed);
  double *first = compute_all(avx512, b), *second = compute_all(avx2, b);
  assert_memory_equal(first, second, (9 * b->unknown_count + 1) * sizeof *first);
  free(first);
  free(second);
}

static void avx512_and_avx2_give_the_same_bits(void** unused) {
  (void)unused;
  static sn_material kinds[SN_LAW_COUNT];
  if (!find_kernels("avx512") || !find_kernels("avx2")) skip();
  for (int kind = 0; kind < STATES; ++kind) {
    assert_same_bits(&bodies[1], (state_kind)kind, 8);
    for (int polynomial = 0; polynomial < 2; ++polynomial) {
      sn_arena_release(bodies[0].arena, bodies[0].mark);
      set_laws(&bodies[0], polynomial ? SN_LAW_STABLE_NEO_HOOKEAN : SN_LAW_COUNT, polynomial,
               kinds);
      assert_same_bits(&bodies[0], (state_kind)kind, 8);
    }
  }
}

// The diagonal of all laws, and of the polynomial form, is that of the products.
static void the_diagonal_is_that_of_the_products(void** unused) {
  (void)unused;
  static sn_material kinds[SN_LAW_COUNT];
  sn_random random = sn_random_seeded(8);
  blob* b = &bodies[0];
  for (int polynomial = 0; polynomial < 2; ++polynomial) {
    sn_arena_release(b->arena, b->mark);
    set_laws(b, polynomial ? SN_LAW_STABLE_NEO_HOOKEAN : SN_LAW_COUNT, polynomial, kinds);
    double *d = blob_vector(b), *unit = blob_vector(b), *y = blob_vector(b);
    u = blob_vector(b);
    set_state(b, SCATTERED, &random, u);
    sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
    sn_flesh_diagonal_d(&b->body.flesh, NULL, &b->work.flesh, SN_HESSIAN_EXACT, d);
    for (int t = 0; t < 200; ++t) {
      size_t at = sn_random_bits(&random) % b->unknown_count;
      unit[at] = 1;
      y[at] = 0;
      sn_flesh_apply_d(&b->body.flesh, NULL, &b->work.flesh, SN_HESSIAN_EXACT, unit, y);
      unit[at] = 0;
      assert_true(fabs(y[at] - d[at]) <= 1e-9 * fabs(d[at]));
      memset(y, 0, b->unknown_count * sizeof *y);
    }
  }
}

// t = B u by the plain kernel, with weights: a cell's R : s is 4 h times its change of volume.
static void gather_plain(const blob* b, const float* weights, const double* from, double* t) {
  const sn_octree* tree = &b->body.tree;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_cell_shape shape = sn_flesh_shape(tree, e);
    sn_cell_material material = blob_material(b, e);
    sn_cell_tangent tangent;
    double at[8][3], along[8][3], F[9];
    for (int c = 0; c < 8; ++c) {
      size_t node = 3 * (size_t)sn_octree_corner(tree, e, (int)c);
      memcpy(at[c], u + node, sizeof at[c]);
      memcpy(along[c], from + node, sizeof along[c]);
    }
    sn_cell_deformation(shape, material.h, (const double(*)[3])at, F);
    sn_cell_linearise(&material, F, &tangent);
    uint32_t place = b->body.families.places[e];
    t[place] = weights[place] * 4 * material.h *
               sn_cell_volume_change(shape, material.h, &tangent, (const double(*)[3])along);
    // Its transpose is the same row: y.along = a x the change.
    double y[8][3] = {{0}}, product = 0;
    sn_cell_add_volume_gradient(shape, material.h, &tangent, 3, y);
    for (int k = 0; k < 24; ++k) product += y[k / 3][k % 3] * along[k / 3][k % 3];
    double change = sn_cell_volume_change(shape, material.h, &tangent, (const double(*)[3])along);
    assert_true(fabs(product - 3 * change) <= 1e-9 * (1 + fabs(product)));
  }
}

static double dot_of(size_t n, const double* x, const double* y) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

static void compare_pressures(const sn_flesh_kernels* kernels, blob* b, sn_random* random) {
  sn_flesh flesh = b->body.flesh;
  sn_flesh_work* work = &b->work.flesh;
  size_t places = sn_flesh_place_count(&flesh), n = b->unknown_count;
  double *t, *q, *plain, *y = blob_vector(b);
  float *weights, *tf, *pf = float_vector(b), *yf = float_vector(b);
  sn_error err = {0};
  flesh.kernels = kernels;
  must(SN_ARENA_NEW(b->arena, places, &t, &err), &err);
  must(SN_ARENA_NEW(b->arena, places, &q, &err), &err);
  must(SN_ARENA_NEW(b->arena, places, &plain, &err), &err);
  must(SN_ARENA_NEW(b->arena, places, &weights, &err), &err);
  must(SN_ARENA_NEW(b->arena, places, &tf, &err), &err);
  for (uint32_t e = 0; e < b->body.tree.cell_count; ++e) {
    weights[b->body.families.places[e]] = (float)sn_random_unit(random);
    q[b->body.families.places[e]] = sn_random_symmetric(random);
  }
  sn_flesh_linearise(&flesh, NULL, work, u);
  sn_flesh_gather_pressures_d(&flesh, NULL, work, weights, p, t);
  gather_plain(b, weights, p, plain);
  double size = sqrt(dot_of(places, plain, plain)), off = 0;
  for (size_t i = 0; i < places; ++i) off = fmax(off, fabs(t[i] - plain[i]));
  assert_true(off <= 1e-5 * size);

  // (q, B p) = (B^T q, p), in double and in single precision
  sn_flesh_scatter_pressures_d(&flesh, NULL, work, weights, q, y);
  double forth = dot_of(places, q, t), back = dot_of(n, y, p);
  assert_true(fabs(forth - back) <= 1e-12 * size * sqrt(dot_of(places, q, q)));
  for (size_t i = 0; i < n; ++i) pf[i] = (float)p[i];
  sn_flesh_gather_pressures_f(&flesh, NULL, work, weights, pf, tf);
  for (size_t i = 0; i < places; ++i) assert_true(fabs(tf[i] - t[i]) <= 1e-5 * size);
  for (size_t i = 0; i < places; ++i) tf[i] = (float)q[i];
  sn_flesh_scatter_pressures_f(&flesh, NULL, work, weights, tf, yf);
  assert_true(off_f(b, yf, y) <= 1e-5);
}

static void pressures_are_gathered_as_by_the_plain_kernel(void** unused) {
  (void)unused;
  for (int t = 0; t < 2; ++t) {
    for (int kind = REST; kind <= BENT; ++kind) {
      blob* b = &bodies[t];
      for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
        if (!(*k)->is_supported()) continue;
        sn_arena_release(b->arena, b->mark);
        sn_random random = draw_state(b, (state_kind)kind, 7);
        compare_pressures(*k, b, &random);
      }
    }
  }
}

// r = A x - b of the smoothed x, step by step.
static void multiply_apart(blob* b, const sn_smoothing* s, const float* x, float* r) {
  sn_addends_f addends = {.diagonal = s->springs, .v = s->b, .scale = -1};
  sn_flesh_multiply(&b->body.flesh, NULL, &b->work.flesh, SN_HESSIAN_DEFINITE, &addends, x, r);
}

static float* narrow_vector(const blob* b) { return (float*)blob_vector(b); }

static void compare_smoothing(blob* b, const sn_transfer* transfer, sn_random* random) {
  size_t n = b->unknown_count;
  float *right = narrow_vector(b), *inverse = narrow_vector(b), *springs = narrow_vector(b);
  float *coarse = narrow_vector(b), *r = narrow_vector(b), *x = narrow_vector(b);
  float *plain_r = narrow_vector(b), *plain_x = narrow_vector(b);
  for (size_t i = 0; i < n; ++i) {
    right[i] = (float)sn_random_symmetric(random);
    inverse[i] = i / 3 % 7 == 3 ? 0 : (float)(1e-4 * sn_random_unit(random));
    springs[i] = (float)(1e3 * sn_random_unit(random));
    coarse[i] = (float)(1e-4 * sn_random_symmetric(random));
    plain_x[i] = 0.5f * inverse[i] * right[i];
  }
  sn_smoothing s = {
      .b = right, .inverse = inverse, .springs = springs, .damping = 0.5f, .r = r, .x = x};
  assert_true(sn_flesh_smooth(&b->body.flesh, NULL, &b->work.flesh, &s) == 0);
  multiply_apart(b, &s, plain_x, plain_r);
  assert_memory_equal(r, plain_r, n * sizeof *r);

  s.coarser = transfer;
  s.correction = coarse;
  double product = sn_flesh_smooth(&b->body.flesh, NULL, &b->work.flesh, &s), plain = 0, size = 0;
  sn_transfer_prolong(transfer, NULL, -1, coarse, plain_x);
  for (size_t i = 0; i < n; ++i) plain_x[i] = inverse[i] == 0 ? 0 : plain_x[i];
  multiply_apart(b, &s, plain_x, plain_r);
  for (size_t i = 0; i < n; ++i) {
    plain_x[i] -= 0.5f * inverse[i] * plain_r[i];
    plain += (double)plain_x[i] * (double)right[i];
    size += fabs((double)plain_x[i] * (double)right[i]);
  }
  assert_memory_equal(x, plain_x, n * sizeof *x);
  assert_true(fabs(product - plain) <= 1e-14 * size);
}

static void smoothing_at_once_is_smoothing_step_by_step(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(12);
  for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
    if (!(*k)->is_supported()) continue;
    for (int i = 0; i < 2; ++i) {
      blob* b = &bodies[i];
      sn_octree coarse;
      sn_transfer transfer;
      sn_error err = {0};
      sn_arena_release(b->arena, b->mark);
      must(sn_octree_coarsen(&b->body.tree, NULL, b->arena, b->arena, b->scratch, &coarse, &err),
           &err);
      must(sn_transfer_build(&b->body.tree, &coarse, NULL, b->arena, b->scratch, &transfer, &err),
           &err);
      u = blob_vector(b);
      set_state(b, BENT, &random, u);
      b->body.flesh.kernels = *k;
      sn_flesh_linearise(&b->body.flesh, NULL, &b->work.flesh, u);
      compare_smoothing(b, &transfer, &random);
    }
  }
}

static void the_best_kernel_is_supported(void** unused) {
  (void)unused;
  assert_true(sn_flesh_kernels_best()->is_supported());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kernel_is_its_plain_twin),
      cmocka_unit_test(pressures_are_gathered_as_by_the_plain_kernel),
      cmocka_unit_test(smoothing_at_once_is_smoothing_step_by_step),
      cmocka_unit_test(every_law_is_its_plain_twin),
      cmocka_unit_test(eased_forms_agree),
      cmocka_unit_test(turned_flesh_keeps_the_energy_of_small_strains),
      cmocka_unit_test(avx512_and_avx2_give_the_same_bits),
      cmocka_unit_test(the_diagonal_is_that_of_the_products),
      cmocka_unit_test(the_best_kernel_is_supported),
  };
  return cmocka_run_group_tests(tests, build, destroy);
}
