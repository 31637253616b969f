// Muscles in scenes: their term, what bars of muscle do, and that runs repeat to the bit.
#include "scene/model.h"
#include "scene/tubes.h"
#include "solve/vector.h"

#define MUSCLE_TERM 4

// Slanted to all axes, in a block with larger cells inside.
static sn_vec3 slanted(double t, double* radius) {
  *radius = 0.07 + 0.05 * (t < 0 ? 0 : t > 1 ? 1 : t);
  return sn_madd(sn_v3(0.1, 0.15, 0.15), t, sn_v3(1.1, 0.25, 0.1));
}

static int begin(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("bar.obj", 1, 0.2, 0.2);
  write_box("block.obj", 1.4, 0.6, 0.4);
  write_tube("tube.obj", slanted);
  return 0;
}

static const char* const BLOCK =
    "{\"mode\": \"quasistatic\", \"frames\": [1, 5], \"bodies\": [{\"name\": \"block\", "
    "\"surface\": \"block.obj\", \"cell\": 0.05, \"material\": {\"young\": 2e4, \"poisson\": "
    "0.4}}],"
    " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
    " \"muscles\": [{\"mesh\": \"tube.obj\", \"max_stress\": 5e4, \"tendon\": 0.2,"
    "   \"activation\": [{\"frame\": 1, \"value\": 0}, {\"frame\": 4, \"value\": 1}]},"
    "  {\"mesh\": \"tube.obj\", \"max_stress\": 3e4, \"activation\": 0.5, \"optimal\": 1.2,"
    "   \"fibers\": {\"along\": [[0, 0, 0], [1, 2, 3]]}}]}";

// ---- The term

// Displacements with strains of some 20 %, large enough for all branches of the law.
static double* wave(const loaded* l, double amount, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  double* u = malloc(l->model->unknown_count * sizeof *u);
  assert_non_null(u);
  for (size_t i = 0; i < l->model->unknown_count; ++i) u[i] = amount * sn_random_symmetric(&random);
  return u;
}

static double* zeros(const loaded* l) {
  double* y = calloc(l->model->unknown_count, sizeof *y);
  assert_non_null(y);
  return y;
}

static double dot(const loaded* l, const double* a, const double* b) {
  double sum = 0;
  for (size_t i = 0; i < l->model->unknown_count; ++i) sum += a[i] * b[i];
  return sum;
}

static const sn_term* muscles_at(loaded* l, double frame) {
  sn_muscles_activate(&l->model->bodies[0].muscles, &l->state->bodies[0].muscles, frame, 1);
  return &l->state->terms[MUSCLE_TERM];
}

static void the_gradient_is_that_of_the_energy(void** unused) {
  (void)unused;
  loaded l = load_scene(BLOCK, 2);
  const sn_term* term = muscles_at(&l, 3);
  double *u = wave(&l, 0.012, 1), *p = wave(&l, 1e-6, 2), *g = zeros(&l), *to = zeros(&l), forces;
  assert_string_equal(term->ops->name, "muscles");
  term->ops->evaluate(term, l.pool, u, g, &forces);
  assert_near(forces, sqrt(dot(&l, g, g)), 1e-12 * forces);
  for (size_t i = 0; i < l.model->unknown_count; ++i) to[i] = u[i] + p[i];
  double up = term->ops->evaluate(term, l.pool, to, NULL, NULL);
  for (size_t i = 0; i < l.model->unknown_count; ++i) to[i] = u[i] - p[i];
  double down = term->ops->evaluate(term, l.pool, to, NULL, NULL);
  double expected = 2 * dot(&l, g, p);
  assert_near(up - down, expected, 1e-5 * fabs(expected));
  free(u), free(p), free(g), free(to);
  unload(&l);
}

static void the_product_is_the_change_of_the_gradient(void** unused) {
  (void)unused;
  loaded l = load_scene(BLOCK, 2);
  const sn_term* term = muscles_at(&l, 3);
  size_t n = l.model->unknown_count;
  double *u = wave(&l, 0.012, 1), *p = wave(&l, 1e-7, 2), *y = zeros(&l), *to = zeros(&l);
  double *up = zeros(&l), *down = zeros(&l), *other = zeros(&l);
  term->ops->linearise(term, l.pool, u);
  term->ops->apply_d(term, l.pool, SN_HESSIAN_EXACT, p, y);
  for (size_t i = 0; i < n; ++i) to[i] = u[i] + p[i];
  term->ops->evaluate(term, l.pool, to, up, NULL);
  for (size_t i = 0; i < n; ++i) to[i] = u[i] - p[i];
  term->ops->evaluate(term, l.pool, to, down, NULL);
  for (size_t i = 0; i < n; ++i) other[i] = 0.5 * (up[i] - down[i]) - y[i];
  assert_true(sqrt(dot(&l, other, other)) < 1e-4 * sqrt(dot(&l, y, y)));
  free(u), free(p), free(y), free(to), free(up), free(down), free(other);
  unload(&l);
}

static void the_definite_stiffness_is_symmetric_and_bounded(void** unused) {
  (void)unused;
  loaded l = load_scene(BLOCK, 2);
  const sn_term* term = muscles_at(&l, 3);
  size_t n = l.model->unknown_count;
  double *u = wave(&l, 0.02, 1), *p = wave(&l, 1, 2), *q = wave(&l, 1, 3);
  double *Kp = zeros(&l), *Kq = zeros(&l), *d = zeros(&l), bound = 0;
  float *pf = malloc(n * sizeof *pf), *yf = calloc(n, sizeof *yf);
  assert_true(pf && yf);
  term->ops->linearise(term, l.pool, u);
  term->ops->apply_d(term, l.pool, SN_HESSIAN_DEFINITE, p, Kp);
  term->ops->apply_d(term, l.pool, SN_HESSIAN_DEFINITE, q, Kq);
  double pKq = dot(&l, p, Kq), pKp = dot(&l, p, Kp), difference = 0;
  assert_near(pKq, dot(&l, q, Kp), 1e-6 * pKp);
  term->ops->diagonal(term, l.pool, d);
  for (size_t i = 0; i < n; ++i) bound += d[i] * p[i] * p[i];
  assert_true(pKp > 0 && pKp < bound);
  for (size_t i = 0; i < n; ++i) pf[i] = (float)p[i];
  term->ops->apply_f(term, l.pool, SN_HESSIAN_DEFINITE, pf, yf);
  for (size_t i = 0; i < n; ++i) difference += (yf[i] - Kp[i]) * (yf[i] - Kp[i]);
  assert_true(sqrt(difference) < 1e-5 * sqrt(dot(&l, Kp, Kp)));
  free(u), free(p), free(q), free(Kp), free(Kq), free(d), free(pf), free(yf);
  unload(&l);
}

// y = K x of the muscles on a level; x.y.
static double level_product(const loaded* l, int level, const float* x, float* y) {
  const sn_more_stiffness* more = &l->state->muscle_levels[0].more;
  size_t n = l->state->multigrids[0].levels[level].unknown_count;
  memset(y, 0, n * sizeof *y);
  more->multiply(more->ctx, l->pool, level, x, y);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (double)x[i] * y[i];
  return sum;
}

static void every_level_has_a_symmetric_positive_version(void** unused) {
  (void)unused;
  loaded l = load_scene(BLOCK, 2);
  const sn_term* term = muscles_at(&l, 3);
  double* u = wave(&l, 0.01, 1);
  float *v[5], first = 0;
  for (int i = 0; i < 5; ++i) v[i] = calloc(l.model->unknown_count, sizeof **v);
  term->ops->linearise(term, l.pool, u);
  sn_muscle_levels_update(&l.state->muscle_levels[0], l.pool);
  int levels = l.state->multigrids[0].mg.level_count;
  assert_true(levels > 1);
  for (int level = 0; level < levels; ++level) {
    sn_mg_level* to = &l.state->multigrids[0].levels[level];
    sn_random random = sn_random_seeded(level + 1);
    const sn_octree* tree = l.model->hierarchies[0].grids[level].tree;
    for (size_t i = 0; i < to->unknown_count; ++i) {
      v[0][i] = (float)sn_random_symmetric(&random);
      v[1][i] = (float)sn_random_symmetric(&random);
    }
    double pKp = level_product(&l, level, v[0], v[2]), pKq = 0, qKp = 0, bound = 0;
    level_product(&l, level, v[1], v[3]);
    if (level == 0) to->b = v[4];  // that of CG, otherwise
    memset(to->b, 0, to->unknown_count * sizeof *to->b);
    const sn_more_stiffness* more = &l.state->muscle_levels[0].more;
    more->bound(more->ctx, l.pool, level, to);
    for (size_t i = 0; i < to->unknown_count; ++i) {
      pKq += (double)v[0][i] * v[3][i];
      qKp += (double)v[1][i] * v[2][i];
      bound += (double)to->b[i] * v[0][i] * v[0][i];
    }
    assert_near(pKq, qKp, 1e-4 * pKp);
    assert_true(pKp > 0 && pKp < bound);
    // An even strain along the fibres of the first muscle costs the same on all levels, nearly.
    for (uint32_t n = 0; n < tree->node_count; ++n) {
      sn_vec3 p = sn_octree_node_place(tree, n);
      for (int i = 0; i < 3; ++i) v[0][3 * (size_t)n + i] = (float)(sn_axis(p, i) - 0.3 * p.x);
    }
    float energy = (float)level_product(&l, level, v[0], v[2]);
    if (level == 0) first = energy;
    assert_near(energy, first, 0.02 * first);
  }
  for (int i = 0; i < 5; ++i) free(v[i]);
  free(u);
  unload(&l);
}

// ---- Bars

static double active(double l) { return 1 - 4 * (1 - l) * (1 - l); }

// Free ends: E (1 - l) = T(l), and 1 + nu (1 - l) across. `references`: T/E = 0.05, 0.1, 0.2, 0.4.
static void a_free_bar_of_muscle_shortens_as_computed(void** unused) {
  (void)unused;
  static const double PULLS[] = {0.05, 0.1, 0.2, 0.4};
  static const char* const FIBERS[] = {"\"solve\"", "{\"along\": [[0, 0, 0], [1, 0, 0]]}"};
  for (int i = 0; i < 8; ++i) {
    double T = PULLS[i / 2], l = 1 - T, margin = i % 2 ? 1e-7 : 3e-5;
    char text[1024];
    snprintf(text, sizeof text,
             "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.05,"
             " \"material\": {\"model\": \"corotated\", \"young\": 10000, \"poisson\": 0.3}}],"
             " \"muscles\": [{\"mesh\": \"bar.obj\", \"fibers\": %s, \"max_stress\": %.17g,"
             " \"activation\": 1}], \"solver\": {\"newton\": {\"max\": 40, \"tolerance\": 1e-7}}}",
             FIBERS[i % 2], 1e4 * T / active(l));
    loaded s = load_scene(text, 1);
    sn_frame_stats stats = step(&s, 1);
    const float* p = surface(&s);
    double lo[3] = {9, 9, 9}, hi[3] = {-9, -9, -9};
    for (int v = 0; v < 24; ++v) {
      lo[v % 3] = fmin(lo[v % 3], p[v]);
      hi[v % 3] = fmax(hi[v % 3], p[v]);
    }
    assert_true(stats.converged);
    assert_near(hi[0] - lo[0], l, margin);
    assert_near((hi[1] - lo[1]) / 0.2, 1 + 0.3 * T, margin);
    assert_near((hi[2] - lo[2]) / 0.2, 1 + 0.3 * T, margin);
    unload(&s);
  }
}

static void a_held_bar_of_muscle_pulls_with_tension_times_area(void** unused) {
  (void)unused;
  loaded s = load_scene(
      "{\"mode\": \"quasistatic\", \"gravity\": 0, \"bodies\": [{\"surface\": \"bar.obj\", "
      "\"cell\": 0.05, \"material\": {\"young\": 10000, \"poisson\": 0.3}}],"
      " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}},"
      "  {\"where\": {\"box\": [[1, 0, 0], [1, 1, 1]]}}],"
      " \"muscles\": [{\"mesh\": \"bar.obj\", \"max_stress\": 7000, \"activation\": 0.8}]}",
      1);
  sn_frame_stats stats = step(&s, 1);
  const sn_body* body = &s.model->bodies[0];
  double pull[2] = {0, 0};
  for (uint32_t h = 0; h < body->held_count; ++h) {
    pull[body->held[h].fixed] += s.state->reactions[3 * (size_t)h];
  }
  assert_true(stats.converged);
  assert_near(pull[0], -0.8 * 7000 * 0.04, 1e-4);
  assert_near(pull[1], 0.8 * 7000 * 0.04, 1e-4);
  unload(&s);
}

// Without a lateral stretch flesh pulls with E (l - 1), and with T(l) more along its fibres than across.
static void reinforced_flesh_is_stiffer_along_its_fibres(void** unused) {
  (void)unused;
  static const char* const AXES[] = {"[1, 0, 0]", "[0, 1, 0]"};
  const double l = 1.3, E = l * l - 1, k1 = 3000, k2 = 2;
  const double pulls[2] = {1e4 * (l - 1) + 2 * k1 * E * l * exp(k2 * E * E), 1e4 * (l - 1)};
  for (int i = 0; i < 2; ++i) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"mode\": \"quasistatic\", \"gravity\": 0, \"bodies\": [{\"surface\": \"bar.obj\", "
             "\"cell\": 0.05, \"material\": {\"model\": \"corotated\", \"young\": 10000, "
             "\"poisson\": 0}}], \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}},"
             "  {\"where\": {\"box\": [[1, 0, 0], [1, 1, 1]]},"
             "   \"motion\": [{\"frame\": 1, \"translate\": [0.3, 0, 0]}]}],"
             " \"muscles\": [{\"mesh\": \"bar.obj\", \"fibers\": {\"along\": [[0, 0, 0], %s]},"
             "  \"law\": {\"model\": \"holzapfel\", \"k1\": 3000, \"k2\": 2}}],"
             " \"solver\": {\"newton\": {\"max\": 40, \"tolerance\": 1e-8}}}",
             AXES[i]);
    loaded s = load_scene(text, 1);
    sn_frame_stats stats = step(&s, 1);
    const sn_body* body = &s.model->bodies[0];
    double pull = 0;
    for (uint32_t h = 0; h < body->held_count; ++h) {
      if (body->held[h].fixed == 1) pull += s.state->reactions[3 * (size_t)h];
    }
    assert_true(stats.converged);
    assert_near(pull, 0.04 * pulls[i], 1e-6 * 0.04 * pulls[i]);
    unload(&s);
  }
}

static void run_mapped(double cell, const char* muscles, const char* maps, const char* solver,
                       float* result) {
  char text[2048];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"block.obj\", \"cell\": %g,"
           " \"maps\": {%s},"
           " \"material\": {\"young\": 20000, \"poisson\": 0.4}}], \"muscles\": [%s],"
           " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
           " \"solver\": {\"linear\": \"%s\", \"newton\": {\"max\": 60, \"tolerance\": 1e-8}}}",
           cell, maps, muscles, solver);
  loaded s = load_scene(text, 2);
  sn_frame_stats stats = step(&s, 1);
  assert_true(stats.converged);
  memcpy(result, surface(&s), 24 * sizeof *result);
  unload(&s);
}

static void run_bar(const char* muscles, float* result) {
  run_mapped(0.05, muscles, "", "multigrid", result);
}

static void assert_same_shape(const float a[24], const float b[24], double margin) {
  for (int i = 0; i < 24; ++i) assert_near(a[i], b[i], margin);
}

#define TUBE(stress) "{\"mesh\": \"tube.obj\", \"max_stress\": " stress ", \"activation\": 1}"

static void overlapping_muscles_add(void** unused) {
  (void)unused;
  float one[24], two[24];
  run_bar(TUBE("30000"), one);
  run_bar(TUBE("10000") ", " TUBE("20000"), two);
  assert_same_shape(one, two, 1e-6);
  assert_true(fabs(one[21] - 1.4) > 0.005);  // it does something
}

// An even one is a factor, to the bit; one that falls along the bar leaves less further on.
static void a_map_scales_the_activation(void** unused) {
  (void)unused;
  static const char HALF[] = ".5\n.5\n.5\n.5\n.5\n.5\n.5\n.5\n";
  static const char FALL[] = "1\n0\n1\n0\n1\n0\n1\n0\n";  // with x
  float half[24], mapped[24];
  scratch_write("half.csv", HALF, strlen(HALF));
  scratch_write("fall.csv", FALL, strlen(FALL));
  run_bar("{\"mesh\": \"tube.obj\", \"activation\": 0.5}", half);
  run_mapped(0.05, "{\"mesh\": \"tube.obj\", \"activation\": 1}", "\"activation\": \"half.csv\"",
             "multigrid", mapped);
  assert_memory_equal(half, mapped, sizeof half);

  loaded s = load_scene(
      "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.05, "
      "\"maps\": {\"activation\": \"fall.csv\"}}], \"muscles\": [{\"mesh\": \"bar.obj\", "
      "\"activation\": 0.8}]}",
      1);
  const sn_muscles* muscles = &s.model->bodies[0].muscles;
  muscles_at(&s, 1);
  assert_true(muscles->cells.count > 100);
  for (uint32_t i = 0; i < muscles->cells.count; ++i) {
    double local = sn_muscles_local(muscles, s.state->bodies[0].muscles.activations, 0,
                                    muscles->cells.cells[i]);
    assert_near(local, 0.8 * (1 - muscles->centres[i].x), 0.03);
  }
  unload(&s);
}

static void every_solver_finds_the_same(void** unused) {
  (void)unused;
  float one[24], two[24];
  run_mapped(0.1, TUBE("30000"), "", "multigrid", one);
  run_mapped(0.1, TUBE("30000"), "", "jacobi-cg", two);
  assert_same_shape(one, two, 1e-5);
  run_mapped(0.1, TUBE("30000"), "", "cg", two);
  assert_same_shape(one, two, 1e-5);
  assert_true(fabs(one[21] - 1.4) > 0.005);
}

static void without_activation_rest_is_rest(void** unused) {
  (void)unused;
  loaded s = load_scene(
      "{\"mode\": \"quasistatic\", \"gravity\": 0, \"bodies\": [{\"surface\": \"block.obj\", "
      "\"cell\": 0.05}], \"muscles\": [{\"mesh\": \"tube.obj\", \"tendon\": 0.2}]}",
      1);
  sn_frame_stats stats = step(&s, 1);
  assert_int_equal(stats.newton, 0);
  assert_true(stats.energy_elastic < 1e-12);
  unload(&s);
}

// What activation costs is in the work: what is stored is what was put in, in small steps.
static void the_books_balance(void** unused) {
  (void)unused;
  double gaps[2];
  for (int fine = 0; fine < 2; ++fine) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"mode\": \"quasistatic\", \"gravity\": 0, \"substeps\": %d, \"bodies\": [{\"surface\": "
        "\"bar.obj\", \"cell\": 0.05, \"material\": {\"young\": 20000, \"poisson\": 0.3}}],"
        " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
        " \"muscles\": [{\"mesh\": \"bar.obj\", \"max_stress\": 10000, \"activation\":"
        " [{\"frame\": 1, \"value\": 0}, {\"frame\": 3, \"value\": 1}]}],"
        " \"solver\": {\"newton\": {\"tolerance\": 1e-6, \"max\": 40}}}",
        fine ? 4 : 1);
    loaded s = load_scene(text, 1);
    step(&s, 1);
    step(&s, 2);
    sn_frame_stats stats = step(&s, 3);
    gaps[fine] = fabs(stats.work - stats.energy_elastic) / stats.energy_elastic;
    unload(&s);
  }
  print_message("gap %.2e, with four substeps %.2e\n", gaps[0], gaps[1]);
  assert_true(gaps[0] < 0.1 && gaps[1] < 0.1 * gaps[0]);
}

// ---- Runs

static void run_into(const char* text, const char* folder, int threads, int last,
                     sn_resume resume) {
  loaded l = load_scene(text, threads);
  run_all(l, (sn_run_opts){scratch_path(folder), 1, last, resume, 0});
}

static void assert_repeats(const char* text) {
  run_into(text, "base", 1, 5, SN_RESUME_NO);
  for (int threads = 2; threads <= 3; ++threads) {
    run_into(text, "other", threads, 5, SN_RESUME_NO);
    assert_same_file("base/block.pc2", "other/block.pc2");
    assert_same_file("base/checkpoint", "other/checkpoint");
  }
  for (int last = 1; last < 5; ++last) {
    run_into(text, "other", 2, last, SN_RESUME_NO);
    run_into(text, "other", 1, 5, SN_RESUME_LAST);
    assert_same_file("base/block.pc2", "other/block.pc2");
    assert_same_file("base/checkpoint", "other/checkpoint");
  }
}

static void balance_repeats_to_the_bit(void** unused) {
  (void)unused;
  skip_if_sanitized();
  assert_repeats(BLOCK);
}

static void motion_repeats_to_the_bit(void** unused) {
  (void)unused;
  skip_if_sanitized();
  char text[2048] = "{\"substeps\": 2, \"mode\": \"dynamic\",";
  const char* rest = strchr(BLOCK, ',') + 1;
  snprintf(text + strlen(text), sizeof text - strlen(text), "%s", rest);
  assert_repeats(text);
}

static void the_third_step_allocates_nothing(void** unused) {
  (void)unused;
  loaded l = load_scene(BLOCK, 2);
  step(&l, 1);
  step(&l, 2);
  uint64_t before = sn_allocation_count();
  step(&l, 3);
  assert_int_equal(sn_allocation_count(), before);
  unload(&l);
}

static void a_muscle_elsewhere_is_refused(void** unused) {
  (void)unused;
  const char* text =
      "{\"bodies\": [{\"surface\": \"small.obj\", \"cell\": 0.02}], \"muscles\": [{\"mesh\": "
      "\"tube.obj\"}]}";
  sn_scene* scene;
  sn_model* model;
  sn_error err = {0};
  write_box("small.obj", 0.05, 0.05, 0.05);
  const char* path = scratch_write("scene.json", text, strlen(text));
  assert_ok(sn_scene_load(path, NULL, 0, &scene, &err), &err);
  assert_int_equal(sn_model_build(scene, NULL, &model, &err), SN_ERR_INPUT);
  assert_non_null(strstr(err.text, "muscles[0].mesh: has no volume inside its body"));
  sn_scene_destroy(scene);
  assert_int_equal(sn_memory_used(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gradient_is_that_of_the_energy),
      cmocka_unit_test(the_product_is_the_change_of_the_gradient),
      cmocka_unit_test(the_definite_stiffness_is_symmetric_and_bounded),
      cmocka_unit_test(every_level_has_a_symmetric_positive_version),
      cmocka_unit_test(a_free_bar_of_muscle_shortens_as_computed),
      cmocka_unit_test(a_held_bar_of_muscle_pulls_with_tension_times_area),
      cmocka_unit_test(reinforced_flesh_is_stiffer_along_its_fibres),
      cmocka_unit_test(overlapping_muscles_add),
      cmocka_unit_test(a_map_scales_the_activation),
      cmocka_unit_test(every_solver_finds_the_same),
      cmocka_unit_test(without_activation_rest_is_rest),
      cmocka_unit_test(the_books_balance),
      cmocka_unit_test(balance_repeats_to_the_bit),
      cmocka_unit_test(motion_repeats_to_the_bit),
      cmocka_unit_test(the_third_step_allocates_nothing),
      cmocka_unit_test(a_muscle_elsewhere_is_refused),
  };
  return cmocka_run_group_tests(tests, begin, remove_scratch_folder);
}
