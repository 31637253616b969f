// Numbers in the cells against closed forms, against the laws themselves, and against the statistics.
#include <float.h>

#include "body/body_cut.h"
#include "material/law.h"
#include "material/point.h"
#include "math/svd3.h"
#include "octree/hanging.h"
#include "scene/made.h"
#include "scene/tubes.h"

static float* field_of(const made* m, sn_flesh_field field) {
  float* values = malloc(m->model->bodies[0].tree.cell_count * sizeof *values);
  assert_non_null(values);
  sn_state_field(m->model, m->state, 0, field, values);
  return values;
}

// ---- The same deformation everywhere

static const double F0[9] = {1.2, 0.1, -0.05, 0.02, 0.9, 0.15, -0.1, 0.05, 1.1};

static void deform_evenly(made* m, const double F[9]) {
  const sn_octree* tree = &m->model->bodies[0].tree;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_vec3 p = sn_octree_node_place(tree, n);
    double rest[3] = {p.x, p.y, p.z};
    for (int i = 0; i < 3; ++i) {
      double to = F[3 * i] * p.x + F[3 * i + 1] * p.y + F[3 * i + 2] * p.z;
      m->state->u[3 * (size_t)n + i] = to - rest[i];
    }
  }
}

typedef struct expected {
  double strain, stress, J, pressure;
} expected;

// P F^T / J by the plain law, without frames.
static expected expect(const sn_material* material, const double F[9]) {
  double U[9], V[9], s[3], P[9], sigma[9], strain = 0, squares = 0;
  sn_svd3_d(F, U, s, V);
  double J = s[0] * s[1] * s[2];
  for (int i = 0; i < 3; ++i) strain = fmax(strain, fabs(s[i] - 1));
  sn_material_stress(material, F, P);
  for (int i = 0; i < 9; ++i) {
    const double *p = P + 3 * (i / 3), *f = F + 3 * (i % 3);
    sigma[i] = (p[0] * f[0] + p[1] * f[1] + p[2] * f[2]) / J;
  }
  double mean = (sigma[0] + sigma[4] + sigma[8]) / 3;
  for (int i = 0; i < 9; ++i) {
    double deviator = sigma[i] - (i % 4 == 0 ? mean : 0);
    squares += deviator * deviator;
  }
  return (expected){strain, sqrt(1.5 * squares), J, -mean};
}

static void assert_even(const made* m, sn_flesh_field field, double value) {
  float* values = field_of(m, field);
  for (uint32_t e = 0; e < m->model->bodies[0].tree.cell_count; ++e) {
    assert_near(values[e], value, 2e-6 * (1 + fabs(value)));
  }
  free(values);
}

static void assert_law_is_seen(sn_law law, int quadrature) {
  sn_material material = sn_material_of(law, 2e3, 7e3);
  made m = made_of(shape_sphere(sn_v3(0.3, 0.2, 0.1), 1, 10), 0.2, material);
  m.body.coarsen = -1;
  m.body.quadrature = quadrature;
  made_build(&m);
  assert_true(sn_model_body(m.model, 0).hanging_cell_count > 0);
  assert_true((m.model->bodies[0].cut.count > 0) == (quadrature == 2));
  deform_evenly(&m, F0);
  expected e = expect(&material, F0);
  assert_even(&m, SN_FIELD_STRAIN, e.strain);
  assert_even(&m, SN_FIELD_STRESS, e.stress);
  assert_even(&m, SN_FIELD_J, e.J);
  assert_even(&m, SN_FIELD_PRESSURE, e.pressure);
  assert_even(&m, SN_FIELD_ACTIVATION, 0);
  made_destroy(&m);
}

static void fields_are_what_each_law_says(void** unused) {
  (void)unused;
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    assert_law_is_seen((sn_law)law, 1);
    assert_law_is_seen((sn_law)law, 2);
  }
}

static void a_rotation_strains_nothing(void** unused) {
  (void)unused;
  static const double R[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
  made m = made_of(shape_unit_cube(), 0.25, sn_material_of(SN_LAW_STABLE_NEO_HOOKEAN, 1e3, 1e4));
  made_build(&m);
  deform_evenly(&m, R);
  assert_even(&m, SN_FIELD_STRAIN, 0);
  assert_even(&m, SN_FIELD_STRESS, 0);
  assert_even(&m, SN_FIELD_J, 1);
  assert_even(&m, SN_FIELD_PRESSURE, 0);
  made_destroy(&m);
}

// ---- A bar that is pulled

#define LENGTH 1.25  // of the bar, over that at rest

// Neo-Hookean: across the bar mu (a - 1/a) + lambda ln(l a^2) / a = 0 for its length l.
static double width_at(double mu, double lambda, double l) {
  double lo = 0.3, hi = 1;
  for (int i = 0; i < 60; ++i) {
    double a = 0.5 * (lo + hi);
    *(mu * (a - 1 / a) + lambda * log(l * a * a) / a > 0 ? &hi : &lo) = a;
  }
  return lo;
}

static void hold_bar(made* m) {
  made_hold(m, sn_v3(0, 0, 0), sn_v3(0, 1, 1))->axes = SN_HELD_X;
  made_hold(m, sn_v3(0, 0, 0), sn_v3(4, 0, 1))->axes = SN_HELD_Y;
  made_hold(m, sn_v3(0, 0, 0), sn_v3(4, 1, 0))->axes = SN_HELD_Z;
  sn_fixed_desc* end = made_hold(m, sn_v3(4, 0, 0), sn_v3(4, 1, 1));
  m->keys[0] =
      (sn_keyframe){.frame = 1, .translate = {4 * (LENGTH - 1), 0, 0}, .rotate = {0, 0, 0, 1}};
  end->axes = SN_HELD_X;
  end->motion = (sn_motion){.keys = m->keys, .key_count = 1};
  m->scene.solver.newton_tolerance = 1e-7;
}

// Force over the area of now: its nominal stress is mu (l - 1/l) + lambda ln(l a^2) / l.
static void assert_bar(double poisson, sn_pressure_form form, double margin) {
  double mu = lame_mu(1e4, poisson), lambda = lame_lambda(1e4, poisson);
  made m = made_of(shape_box(sn_v3(0, 0, 0), sn_v3(4, 1, 1)), 0.5,
                   sn_material_of(SN_LAW_NEO_HOOKEAN, mu, lambda));
  m.scene.solver.pressure = form;
  hold_bar(&m);
  made_build(&m);
  assert_int_equal(m.state->pressure != NULL, form == SN_PRESSURE_KEPT);
  assert_true(made_step(&m, 1).converged);
  double l = LENGTH, a = width_at(mu, lambda, l), J = l * a * a;
  double stress = (mu * (l - 1 / l) + lambda * log(J) / l) / (a * a);
  float *strains = field_of(&m, SN_FIELD_STRAIN), *stresses = field_of(&m, SN_FIELD_STRESS),
        *Js = field_of(&m, SN_FIELD_J), *pressures = field_of(&m, SN_FIELD_PRESSURE);
  for (uint32_t e = 0; e < m.model->bodies[0].tree.cell_count; ++e) {
    assert_near(strains[e], l - 1, margin);
    assert_near(stresses[e], stress, margin * stress);
    assert_near(Js[e], J, margin);
    assert_near(pressures[e], -stress / 3, margin * stress);
  }
  free(strains), free(stresses), free(Js), free(pressures);
  made_destroy(&m);
}

static void a_pulled_bar_has_the_stress_of_its_law(void** unused) {
  (void)unused;
  assert_bar(0.3, SN_PRESSURE_CONDENSED, 1e-5);
  assert_bar(0.49, SN_PRESSURE_CONDENSED, 1e-3);
  assert_bar(0.49, SN_PRESSURE_KEPT, 1e-3);
  assert_bar(0.4999, SN_PRESSURE_KEPT, 1e-3);
}

// ---- Any state

static void every_field_is_finite_in_every_state(void** unused) {
  (void)unused;
  static const sn_scramble_kind KINDS[] = {SN_SCRAMBLE_POINT, SN_SCRAMBLE_LINE, SN_SCRAMBLE_PLANE,
                                           SN_SCRAMBLE_MIRROR, SN_SCRAMBLE_RANDOM};
  for (int law = 0; law < SN_LAW_COUNT; ++law) {
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; ++k) {
      made m =
          made_of(shape_sphere(sn_v3(0, 0, 0), 1, 6), 0.4, sn_material_of((sn_law)law, 1e4, 5e5));
      m.body.quadrature = 1 + (int)(k % 2);
      m.body.scramble = (sn_scramble){KINDS[k], 1e3, 5};
      made_build(&m);
      for (int f = 0; f < SN_FIELD_CONTACTS; ++f) {
        float* values = field_of(&m, (sn_flesh_field)f);
        for (uint32_t e = 0; e < m.model->bodies[0].tree.cell_count; ++e) {
          assert_true(fabsf(values[e]) <= FLT_MAX);
        }
        free(values);
      }
      made_destroy(&m);
    }
  }
}

// ---- Against the statistics, on any number of threads

static const char* const DROP =
    "{\"frames\": [1, 12], \"unit\": 0.01, \"bodies\": [{\"name\": \"block\", \"surface\": "
    "\"block.obj\", \"cell\": 10, \"quadrature\": 2, \"material\": {\"young\": 4e3},"
    " \"initial\": {\"translate\": [0, 3, 0]}}], \"colliders\": [{\"shape\": \"plane\"}],"
    " \"muscles\": [{\"mesh\": \"tube.obj\", \"max_stress\": 2e3, "
    "   \"activation\": [{\"frame\": 1, \"value\": 0}, {\"frame\": 5, \"value\": 1}]},"
    "  {\"mesh\": \"small.obj\", \"activation\": 0.25, \"max_stress\": 10}]}";

static sn_vec3 wide(double t, double* radius) {
  *radius = 12;
  return sn_madd(sn_v3(20, 30, 20), t, sn_v3(100, 0, 0));
}
static sn_vec3 narrow(double t, double* radius) {
  *radius = 6;
  return sn_madd(sn_v3(110, 30, 20), t, sn_v3(20, 0, 0));
}

static int begin(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("block.obj", 140, 60, 40);
  write_tube("tube.obj", wide);
  write_tube("small.obj", narrow);
  return 0;
}

static void the_statistics_agree(void** unused) {
  (void)unused;
  loaded l = load_scene(DROP, 2);
  sn_frame_stats stats = {0};
  sn_contact_point points[2048];
  uint32_t cells = l.model->bodies[0].tree.cell_count, touching = 0;
  float* J = malloc(cells * sizeof *J);
  assert_non_null(J);
  for (int frame = 1; frame <= 12; ++frame) {
    double least = INFINITY, deepest = 0, force = 0;
    stats = step(&l, frame);
    sn_state_field(l.model, l.state, 0, SN_FIELD_J, J);
    for (uint32_t e = 0; e < cells; ++e) least = fmin(least, J[e]);
    assert_near(least, stats.min_j, 1e-6);
    uint32_t count = sn_state_contacts(l.model, l.state, 0, points, 2048);
    assert_int_equal(count, stats.contacts);
    assert_int_equal(sn_state_contacts(l.model, l.state, 0, NULL, 0), count);
    for (uint32_t i = 0; i < count; ++i) {
      deepest = fmax(deepest, 0.01 * points[i].depth);
      force += points[i].force;
      assert_near(points[i].normal[1], 1, 1e-6);
      assert_near(points[i].place[1], -points[i].depth, 1e-4);
      assert_true(points[i].cell < cells);
    }
    assert_near(deepest, stats.max_penetration, 1e-6);
    assert_near(force, stats.contact_force, 1e-5 * stats.contact_force);
    touching += count;
  }
  assert_true(touching > 0);
  free(J);
  unload(&l);
}

static void activation_is_that_of_the_muscle_with_most_of_the_cell(void** unused) {
  (void)unused;
  loaded l = load_scene(DROP, 2);
  sn_cells cells;
  sn_error err = {0};
  assert_ok(sn_model_cells(l.model, 0, &cells, &err), &err);
  assert_int_equal(cells.muscle_count, 2);
  assert_string_equal(cells.muscle_names[0], "tube");
  assert_string_equal(cells.muscle_names[1], "small");
  uint32_t of_muscle[3] = {0};
  for (int frame = 1; frame <= 3; ++frame) step(&l, frame);
  float* values = malloc(cells.cell_count * sizeof *values);
  assert_non_null(values);
  sn_state_field(l.model, l.state, 0, SN_FIELD_ACTIVATION, values);
  for (uint32_t e = 0; e < cells.cell_count; ++e) {
    uint32_t m = cells.muscles[e];
    of_muscle[m == SN_NO_MUSCLE ? 2 : m]++;
    assert_near(values[e], m == 0 ? 0.5 : m == 1 ? 0.25 : 0, 1e-6);
  }
  for (int i = 0; i < 3; ++i) assert_true(of_muscle[i] > 0);
  sn_muscle_info info = sn_model_muscle(l.model, 0, 0);
  double tube = 100 * 12 * 12 * SHAPE_PI / (140 * 60 * 40);
  assert_near(info.share, tube, 0.1 * tube);
  assert_true(info.cell_count >= of_muscle[0]);
  free(values);
  sn_cells_destroy(&cells);
  unload(&l);
}

static void threads_do_not_matter(void** unused) {
  (void)unused;
  loaded one = load_scene(DROP, 1), many = load_scene(DROP, 3);
  uint32_t count = one.model->bodies[0].tree.cell_count;
  float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
  for (int frame = 1; frame <= 3; ++frame) step(&one, frame), step(&many, frame);
  for (int f = 0; f < SN_FIELD_CONTACTS; ++f) {
    sn_state_field(one.model, one.state, 0, (sn_flesh_field)f, a);
    sn_state_field(many.model, many.state, 0, (sn_flesh_field)f, b);
    assert_memory_equal(a, b, count * sizeof *a);
  }
  free(a), free(b);
  unload(&one);
  unload(&many);
}

// ---- The description of cells

static double volume_of(const sn_cells* cells, const double* points, uint32_t e) {
  // The mean of |dx/dxi| over two points an axis is exact.
  double sum = 0;
  for (int g = 0; g < 8; ++g) {
    sn_mat3 D = {{{0}}};
    double at[3];
    for (int i = 0; i < 3; ++i) at[i] = 0.5 + (g >> i & 1 ? 0.5 : -0.5) / sqrt(3);
    for (int c = 0; c < 8; ++c) {
      const double* p = points + 3 * (size_t)cells->corners[8 * (size_t)e + (size_t)c];
      for (int j = 0; j < 3; ++j) {
        double w = c >> j & 1 ? 1 : -1;
        for (int k = 0; k < 3; ++k) {
          if (k != j) w *= c >> k & 1 ? at[k] : 1 - at[k];
        }
        for (int i = 0; i < 3; ++i) D.m[i][j] += w * p[i];
      }
    }
    sum += sn_det3(&D) / 8;
  }
  return sum;
}

static void the_cells_fill_the_volume_without_gaps(void** unused) {
  (void)unused;
  made m = made_of(shape_sphere(sn_v3(0.3, 0.2, 0.1), 1, 10), 0.125,
                   sn_material_of(SN_LAW_COROTATED, 1e3, 1e4));
  m.body.coarsen = -1;
  m.scene.gravity = sn_v3(0, -9.81, 0);
  made_hold(&m, sn_v3(-1, 0.9, -1), sn_v3(2, 2, 2));
  made_build(&m);
  sn_frame_stats stats = made_step(&m, 1);
  assert_true(fabs(stats.volume_error) > 1e-4);
  sn_cells cells;
  sn_error err = {0};
  assert_ok(sn_model_cells(m.model, 0, &cells, &err), &err);
  assert_true(cells.hanging_count > 0);
  size_t point_count = (size_t)cells.node_count + cells.hanging_count;
  float* moves = malloc(3 * cells.node_count * sizeof *moves);
  double* points = malloc(3 * point_count * sizeof *points);
  sn_state_displacements(m.model, m.state, 0, moves);
  sn_cells_points(&cells, moves, points);
  double volume = 0;
  for (uint32_t e = 0; e < cells.cell_count; ++e) volume += volume_of(&cells, points, e);
  assert_near(volume, stats.volume, 1e-6 * stats.volume);
  // At rest all corners are where the cube says, hanging or not.
  sn_cells_points(&cells, NULL, points);
  for (uint32_t e = 0; e < cells.cell_count; ++e) {
    const sn_cell_cube* cube = &cells.cubes[e];
    for (int c = 0; c < 8; ++c) {
      int size = 1 << cube->level, at[3] = {cube->x, cube->y, cube->z};
      uint32_t p = cells.corners[8 * (size_t)e + (size_t)c];
      assert_int_equal(p >= cells.node_count, cube->hanging >> c & 1);
      for (int i = 0; i < 3; ++i) {
        double expected_place =
            sn_axis(cells.origin, i) + cells.edge * (at[i] + (c >> i & 1 ? size : 0));
        assert_near(points[3 * (size_t)p + (size_t)i], expected_place, 1e-12);
      }
    }
  }
  free(moves), free(points);
  sn_cells_destroy(&cells);
  made_destroy(&m);
}

static void vertices_are_carried_as_the_cache_shows_them(void** unused) {
  (void)unused;
  loaded l = load_scene(DROP, 2);
  for (int frame = 1; frame <= 8; ++frame) step(&l, frame);
  sn_cells cells;
  sn_error err = {0};
  assert_ok(sn_model_cells(l.model, 0, &cells, &err), &err);
  size_t point_count = (size_t)cells.node_count + cells.hanging_count;
  float* moves = malloc(3 * cells.node_count * sizeof *moves);
  double* points = malloc(3 * point_count * sizeof *points);
  sn_state_displacements(l.model, l.state, 0, moves);
  sn_cells_points(&cells, moves, points);
  const float* shown = surface(&l);
  for (uint32_t v = 0; v < cells.vertex_count; ++v) {
    const sn_cell_vertex* vertex = &cells.vertices[v];
    for (int i = 0; i < 3; ++i) {
      double place = 0;
      for (int c = 0; c < 8; ++c) {
        double w = 1;
        for (int j = 0; j < 3; ++j) w *= c >> j & 1 ? vertex->at[j] : 1 - vertex->at[j];
        place += w * points[3 * (size_t)cells.corners[8 * (size_t)vertex->cell + (size_t)c] + i];
      }
      assert_near(place, shown[3 * v + i], 1e-3);
    }
  }
  free(moves), free(points);
  sn_cells_destroy(&cells);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_are_what_each_law_says),
      cmocka_unit_test(a_rotation_strains_nothing),
      cmocka_unit_test(a_pulled_bar_has_the_stress_of_its_law),
      cmocka_unit_test(every_field_is_finite_in_every_state),
      cmocka_unit_test_setup_teardown(the_statistics_agree, begin, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(activation_is_that_of_the_muscle_with_most_of_the_cell, begin,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(threads_do_not_matter, begin, remove_scratch_folder),
      cmocka_unit_test(the_cells_fill_the_volume_without_gaps),
      cmocka_unit_test_setup_teardown(vertices_are_carried_as_the_cache_shows_them, begin,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
