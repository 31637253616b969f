// Every wide kernel against its plain twin: cell by cell with corotated_cell.h, on trees with all
// kinds of hanging corners and families that lack cells, in states from rest to collapsed.
#include "elasticity/flesh_kernels.h"

#include "elasticity/blob.h"

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
  double *g, *y[2], *d[2];
} plain_results;

static void add_corners(const blob* b, uint32_t cell, double values[8][3], double* to) {
  for (int c = 0; c < 8; ++c) {
    size_t at = 3 * (size_t)b->body.tree.conforming[8 * (size_t)cell + c];
    for (int i = 0; i < 3; ++i) to[at + i] += values[c][i];
  }
}

// All that flesh can be asked for, by the plain kernels in double precision.
static plain_results compute_plain(const blob* b) {
  plain_results r = {.g = blob_vector(b)};
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
      size_t node = 3 * (size_t)tree->conforming[8 * (size_t)e + c];
      memcpy(at[c], u + node, sizeof at[c]);
      memcpy(along[c], p + node, sizeof along[c]);
    }
    r.energy += sn_cell_energy(shape, &material, (const double(*)[3])at);
    sn_cell_gradient(shape, &material, (const double(*)[3])at, out);
    add_corners(b, e, out, r.g);
    sn_cell_tangent tangent;
    sn_cell_deformation(shape, material.h, (const double(*)[3])at, F);
    sn_cell_linearise(&material, F, &tangent);
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

static void compare(const sn_flesh_kernels* kernels, blob* b, state_kind kind) {
  sn_flesh flesh = b->body.flesh;
  sn_flesh_work* work = &b->work.flesh;
  plain_results plain = compute_plain(b);
  flesh.kernels = kernels;
  double* g = blob_vector(b);
  double energy = sn_flesh_evaluate(&flesh, NULL, work, u, g);
  double worst_d = fabs(energy - plain.energy) / (plain.energy + 1e-9);
  assert_true(isfinite(energy) && energy == sn_flesh_evaluate(&flesh, NULL, work, u, NULL));
  assert_finite(b, g, NULL);

  // Where a cell has no direction left, or two singular values cancel, its rotation, and with it the
  // gradient and K, depend on round-off; where they nearly cancel, round-off in K is large.
  bool unique = kind < MIRRORED;
  double worst_f = 0;
  if (unique) worst_d = fmax(worst_d, off_d(b, g, plain.g));
  sn_flesh_linearise(&flesh, NULL, work, u);
  float* narrow = float_vector(b);
  for (size_t i = 0; i < b->unknown_count; ++i) narrow[i] = (float)p[i];
  for (int k = 0; k < 2; ++k) {
    double *y = blob_vector(b), *d = blob_vector(b);
    float *yf = float_vector(b), *df = float_vector(b);
    sn_flesh_apply_d(&flesh, NULL, work, (sn_hessian)k, p, y);
    sn_flesh_apply_f(&flesh, NULL, work, (sn_hessian)k, narrow, yf);
    sn_flesh_diagonal_d(&flesh, NULL, work, (sn_hessian)k, d);
    sn_flesh_diagonal_f(&flesh, NULL, work, (sn_hessian)k, df);
    assert_finite(b, y, yf);
    assert_finite(b, d, df);
    worst_f = fmax(worst_f, fmax(off_f(b, yf, y), off_f(b, df, d)));
    if (!unique) continue;
    worst_f = fmax(worst_f, fmax(off_d(b, y, plain.y[k]), off_d(b, d, plain.d[k])));
  }
  print_message("%-6s %-9s double %.1e, single %.1e\n", kernels->name, STATE_NAMES[kind], worst_d,
                worst_f);
  assert_true(worst_d <= 1e-11);
  assert_true(worst_f <= (kind >= INVERTED ? 2e-4 : 1e-6));
}

static void every_kernel_is_its_plain_twin(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(6);
  for (int t = 0; t < 2; ++t) {
    for (int kind = 0; kind < STATES; ++kind) {
      blob* b = &bodies[t];
      for (const sn_flesh_kernels* const* k = sn_flesh_kernels_list(); *k; ++k) {
        if (!(*k)->is_supported()) continue;
        sn_arena_release(b->arena, b->mark);
        u = blob_vector(b);
        p = blob_vector(b);
        set_state(b, (state_kind)kind, &random, u);
        for (size_t i = 0; i < b->unknown_count; ++i) p[i] = sn_random_symmetric(&random);
        compare(*k, b, (state_kind)kind);
      }
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
      cmocka_unit_test(the_best_kernel_is_supported),
  };
  return cmocka_run_group_tests(tests, build, destroy);
}
