// Regions and maps in a model: what cells are made of, and what comes of it.
#include <math.h>

#include "math/vec.h"
#include "scene/model.h"
#include "scene/scenes.h"

// The box lo..hi as six quads.
static void write_part(const char* name, sn_vec3 lo, sn_vec3 hi) {
  char text[1024];
  int length = 0;
  for (int c = 0; c < 8; ++c) {
    length += snprintf(text + length, sizeof text - (size_t)length, "v %.17g %.17g %.17g\n",
                       c & 1 ? hi.x : lo.x, c & 2 ? hi.y : lo.y, c & 4 ? hi.z : lo.z);
  }
  length += snprintf(text + length, sizeof text - (size_t)length,
                     "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
  scratch_write(name, text, (size_t)length);
}

static int make_bar(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("bar.obj", 1, 0.25, 0.25);
  write_part("half.obj", sn_v3(0.5, -0.1, -0.1), sn_v3(1.2, 0.4, 0.4));
  write_part("more.obj", sn_v3(0.53125, 0, 0), sn_v3(1, 0.25, 0.25));
  write_part("low.obj", sn_v3(-1, -1, -1), sn_v3(2, 0.125, 2));
  write_part("far.obj", sn_v3(3, 3, 3), sn_v3(4, 4, 4));
  return 0;
}

#define H 0.0625

// A bar of corotated cells of a sixteenth, as `tissue` has it, pulled at x = 1 by 1 N and held at x = 0.
static loaded load_bar(const char* tissue, int threads) {
  char text[2048];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"frames\": [1, 3], \"gravity\": 0,"
           " \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.0625, \"density\": 1000,"
           " \"material\": {\"model\": \"corotated\", \"young\": 1000, \"poisson\": 0} %s}],"
           " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
           " \"forces\": [{\"where\": {\"box\": [[1, 0, 0], [1, 1, 1]]}, \"force\": [1, 0, 0]}],"
           " \"contact\": {\"self\": false},"
           " \"solver\": {\"newton\": {\"max\": 30, \"tolerance\": 1e-7},"
           "              \"krylov\": {\"max\": 400, \"tolerance\": 1e-4}}}",
           tissue);
  return load_scene(text, threads);
}

// How far the force of 1 N went: half of that is its energy.
static double stretch_of(loaded* l) {
  sn_frame_stats stats = step(l, 1);
  assert_true(stats.converged);
  return 2 * stats.energy_elastic;
}

// Without Poisson's effect a bar is a chain of springs: F L / (E A) each.
static void halves_in_series_stretch_as_two_springs(void** unused) {
  (void)unused;
  double area = 0.25 * 0.25;
  loaded l = load_bar(
      ", \"regions\": [{\"mesh\": \"half.obj\","
      "  \"material\": {\"model\": \"corotated\", \"young\": 200, \"poisson\": 0}}]",
      2);
  double expected = 0.5 / (1000 * area) + 0.5 / (200 * area), found = stretch_of(&l);
  print_message("two halves: %.7f, expected %.7f\n", found, expected);
  assert_near(found, expected, 1e-3 * expected);
  unload(&l);
  // A border in the middle of a cell: that cell is of the mean of both.
  l = load_bar(
      ", \"regions\": [{\"mesh\": \"more.obj\","
      "  \"material\": {\"model\": \"corotated\", \"young\": 200, \"poisson\": 0}}]",
      2);
  expected = (8 * H / 1000 + H / 600 + 7 * H / 200) / area;
  found = stretch_of(&l);
  print_message("border within a cell: %.7f, expected %.7f\n", found, expected);
  assert_near(found, expected, 1e-3 * expected);
  unload(&l);
}

static bool is_right(const sn_body* body, uint32_t e) {
  return sn_octree_cell_centre(&body->tree, e).x > 0.5;
}
static bool is_low(const sn_body* body, uint32_t e) {
  return sn_octree_cell_centre(&body->tree, e).y < 0.125;
}

static void layers_are_laid_one_over_another(void** unused) {
  (void)unused;
  loaded l = load_bar(
      ", \"regions\": ["
      " {\"mesh\": \"half.obj\", \"material\": {\"mu\": 100, \"lambda\": 50}, \"weight\": 0.25},"
      " {\"mesh\": \"low.obj\", \"material\": {\"mu\": 40, \"lambda\": 0}, \"stiffness\": 2,"
      "  \"density\": 2000, \"weight\": 0.5},"
      " {\"mesh\": \"half.obj\", \"stiffness\": 4}]",
      2);
  const sn_body* body = &l.model->bodies[0];
  double mass = 0;
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    double mu = 500, lambda = 0, density = 1000;
    if (is_right(body, e)) mu = 0.75 * mu + 0.25 * 100, lambda = 0.25 * 50;
    if (is_low(body, e)) mu = 0.5 * mu + 40, lambda = 0.5 * lambda, density = 1500;
    if (is_right(body, e)) mu *= 4, lambda *= 4;
    assert_true(sn_body_mu(body, e) == (float)mu && sn_body_lambda(body, e) == (float)lambda);
    mass += density * H * H * H;
  }
  assert_near(sn_model_body(l.model, 0).mass, mass, 1e-6 * mass);
  assert_int_equal(sn_model_body(l.model, 0).region_count, 3);
  for (uint32_t i = 0; i < 3; ++i) {
    assert_near(sn_model_region(l.model, 0, i).share, 0.5, 1e-9);
  }
  assert_string_equal(sn_model_region(l.model, 0, 1).name, "region2");
  unload(&l);
}

// Build again after the laws of the regions have been changed.
static void rebuild(loaded* l) {
  sn_error err = {0};
  sn_state_destroy(l->state);
  sn_model_destroy(l->model);
  l->state = NULL;
  assert_ok(sn_model_build(l->scene, l->pool, &l->model, &err), &err);
}

static void the_topmost_strong_region_gives_the_law(void** unused) {
  (void)unused;
  loaded l = load_bar(
      ", \"regions\": [{\"mesh\": \"half.obj\", \"material\": {\"model\": \"corotated\"},"
      "  \"weight\": 0.5},"
      " {\"mesh\": \"low.obj\", \"material\": {\"model\": \"corotated\"}, \"weight\": 0.49},"
      " {\"mesh\": \"low.obj\", \"stiffness\": 2}]",
      2);
  assert_null(l.model->bodies[0].cell_kinds);
  assert_int_equal(l.model->bodies[0].kind_count, 1);
  l.scene->bodies[0].regions[0].material.law = SN_LAW_NEO_HOOKEAN;
  l.scene->bodies[0].regions[1].material.law = SN_LAW_STVK;
  rebuild(&l);
  const sn_body* body = &l.model->bodies[0];
  assert_int_equal(body->kind_count, 3);
  assert_int_equal(body->kinds[1].law, SN_LAW_NEO_HOOKEAN);
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    assert_int_equal(body->cell_kinds[e], is_right(body, e) ? 1 : 0);
  }
  assert_string_equal(sn_model_region(l.model, 0, 0).model, "neo-hookean");
  assert_string_equal(sn_model_region(l.model, 0, 2).model, "corotated");

  // Coarser levels follow the majority; of equally many children the lowest kind.
  const sn_hierarchy* hierarchy = &l.model->hierarchies[0];
  assert_true(hierarchy->count > 1);
  for (int level = 1; level < hierarchy->count; ++level) {
    const sn_grid *fine = &hierarchy->grids[level - 1], *coarse = &hierarchy->grids[level];
    const uint8_t* fine_kinds = fine->flesh.tissue.cell_kinds;
    for (uint32_t c = 0; c < coarse->tree->cell_count; ++c) {
      int counts[3] = {0}, most = 0;
      for (uint32_t e = 0; e < fine->tree->cell_count; ++e) {
        if (sn_transfer_coarse_cell(&fine->to_coarser, coarse->tree, e) == c) {
          counts[fine_kinds[e]]++;
        }
      }
      for (int k = 1; k < 3; ++k) most = counts[k] > counts[most] ? k : most;
      assert_int_equal(coarse->flesh.tissue.cell_kinds[c], most);
    }
  }
  unload(&l);
}

static void too_many_laws_are_refused(void** unused) {
  (void)unused;
  loaded l = load_bar(", \"regions\": [{\"mesh\": \"half.obj\", \"material\": {}}]", 2);
  sn_region_desc only = l.scene->bodies[0].regions[0], many[255];
  for (int i = 0; i < 255; ++i) {
    many[i] = only;
    many[i].material.numbers[0] = i + 1;
  }
  sn_model_destroy(l.model);
  sn_state_destroy(l.state);
  l.state = NULL;
  l.scene->bodies[0].regions = many;
  l.scene->bodies[0].region_count = 255;
  sn_error err = {0};
  assert_int_equal(sn_model_build(l.scene, l.pool, &l.model, &err), SN_ERR_INPUT);
  assert_message_has(&err, "256 different laws; expected at most 255");
  l.scene->bodies[0].regions = &only;
  l.scene->bodies[0].region_count = 1;
  unload(&l);
}

static void a_region_outside_is_refused(void** unused) {
  (void)unused;
  loaded l = load_bar(", \"regions\": [{\"mesh\": \"half.obj\", \"density\": 5}]", 1);
  sn_mesh inside = l.scene->bodies[0].regions[0].mesh;
  sn_error err = {0};
  assert_ok(sn_mesh_load(scratch_path("far.obj"), &l.scene->bodies[0].regions[0].mesh, &err), &err);
  sn_mesh_destroy(&inside);
  sn_state_destroy(l.state);
  sn_model_destroy(l.model);
  l.state = NULL;
  assert_int_equal(sn_model_build(l.scene, l.pool, &l.model, &err), SN_ERR_INPUT);
  assert_message_has(&err, "bodies[0].regions[0]: \"region1\" holds nothing of body \"bar\"");
  unload(&l);
}

static void write_values(const char* name, const double values[8]) {
  char text[512];
  int length = 0;
  for (int i = 0; i < 8; ++i) {
    length += snprintf(text + length, sizeof text - (size_t)length, "%.17g\n", values[i]);
  }
  scratch_write(name, text, (size_t)length);
}

static void a_density_map_changes_the_mass(void** unused) {
  (void)unused;
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = i & 1 ? 3 : 1;
  write_values("d.csv", values);
  loaded l = load_bar(", \"maps\": {\"density\": \"d.csv\"}", 2);
  const sn_body* body = &l.model->bodies[0];
  double mass = 0;
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    mass += 1000 * (double)body->maps[0][e] * H * H * H;
  }
  assert_near(sn_model_body(l.model, 0).mass, mass, 1e-7 * mass);
  assert_near(mass, 2 * 62.5, 0.01 * 125);
  sn_map_info info = sn_model_map(l.model, 0, 0);
  assert_true(info.least == 1 && info.most == 3);
  assert_near(info.mean, mass / 62.5, 1e-6);
  unload(&l);
}

static void a_constant_map_scales_the_material(void** unused) {
  (void)unused;
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = 0.25;
  write_values("s.csv", values);
  static float scaled[3 * 8];
  loaded l = load_bar("", 2);
  l.scene->bodies[0].material.mu *= 0.25;
  l.scene->bodies[0].material.lambda *= 0.25;
  rebuild(&l);
  sn_error err = {0};
  assert_ok(sn_state_create(l.model, l.pool, &l.state, &err), &err);
  step(&l, 1);
  memcpy(scaled, surface(&l), sizeof scaled);
  unload(&l);
  l = load_bar(", \"maps\": {\"stiffness\": \"s.csv\"}", 2);
  step(&l, 1);
  assert_memory_equal(scaled, surface(&l), sizeof scaled);
  unload(&l);
}

// Of a region whose weight is painted 0 at one end and 1 at the other.
static void a_map_with_a_regions_name_weighs_it(void** unused) {
  (void)unused;
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = i & 1 ? 1 : 0;
  write_values("w.csv", values);
  loaded l = load_bar(
      ", \"regions\": [{\"name\": \"fat\", \"mesh\": \"half.obj\", \"material\": {\"mu\": 100,"
      " \"lambda\": 0}, \"weight\": 0.5}], \"maps\": {\"fat\": \"w.csv\"}",
      2);
  const sn_body* body = &l.model->bodies[0];
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    double t = is_right(body, e) ? 0.5 * (double)body->maps[0][e] : 0;
    assert_true(body->mu[e] == (float)((1 - t) * 500 + t * 100));
  }
  unload(&l);
}

static void a_map_says_where(void** unused) {
  (void)unused;
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = i & 1 ? 0 : 1;
  write_values("grip.csv", values);
  static const char* const text =
      "{\"mode\": \"quasistatic\", \"frames\": [1, 1], \"bodies\": [{\"surface\": \"bar.obj\","
      " \"cell\": 0.0625, \"maps\": {\"grip\": \"grip.csv\"}}],"
      " \"bones\": [{\"capsule\": {\"from\": [0.8, 0.1, 0.1], \"to\": [0.9, 0.1, 0.1],"
      "             \"radius\": 0.05}}],"
      " \"attachments\": [{\"bone\": \"bone1\", \"where\": {\"map\": \"grip\", \"above\": 0.75}}],"
      " \"fixed\": [{\"where\": {\"map\": \"grip\", \"above\": 0.875}}],"
      " \"forces\": [{\"where\": {\"map\": \"grip\"}, \"traction\": [1, 0, 0]}]}";
  loaded l = load_scene(text, 2);
  const sn_body* body = &l.model->bodies[0];
  const sn_octree* tree = &body->tree;
  uint8_t* held = calloc(tree->node_count, 1);
  assert_non_null(held);
  uint32_t above = 0, count = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (!((double)body->maps[0][e] > 0.875)) continue;
    above++;
    for (int k = 0; k < 8; ++k) held[sn_octree_corner(tree, e, (int)k)] = 1;
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) count += held[n];
  assert_true(above > 0 && above < tree->cell_count);
  assert_int_equal(body->held_count, count);
  for (uint32_t i = 0; i < body->held_count; ++i) assert_true(held[body->held[i].node]);
  assert_true(body->tie_count > count && body->tie_count < tree->node_count);
  double area = 0;
  for (uint32_t i = 0; i < body->loads[0].share_count; ++i) area += body->loads[0].shares[i].share;
  assert_near(area, 0.0625 + 4 * 0.25 * 0.5, 4 * 0.25 * H);
  assert_non_null(strstr(l.scene->resolved, "\"where\": {\"map\": \"grip\", \"above\": 0.5}"));
  free(held);
  unload(&l);
}

static void touching_and_holding_go_by_the_local_stiffness(void** unused) {
  (void)unused;
  static const char* const text =
      "{\"mode\": \"quasistatic\", \"frames\": [1, 1], \"gravity\": 0, \"bodies\": [{\"surface\":"
      " \"bar.obj\", \"cell\": 0.0625, \"material\": {\"young\": 1000, \"poisson\": 0},"
      "  \"regions\": [{\"mesh\": \"half.obj\", \"stiffness\": 8}]}],"
      " \"bones\": [{\"capsule\": {\"from\": [0, 0.1, 0.1], \"to\": [1, 0.1, 0.1], \"radius\": "
      "9}}],"
      " \"attachments\": [{\"bone\": \"bone1\"}],"
      " \"colliders\": [{\"shape\": \"plane\", \"position\": [0, 0.001, 0]}]}";
  loaded l = load_scene(text, 1);
  const sn_body* body = &l.model->bodies[0];
  double soft = 0, stiff = 0;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    double x = sn_octree_node_place(&body->tree, body->ties[t].node).x;
    if (x < 0.4) soft = fmax(soft, body->ties[t].stiffness);
    if (x > 0.6) stiff = fmax(stiff, body->ties[t].stiffness);
  }
  assert_near(stiff, 8 * soft, 1e-6 * stiff);
  step(&l, 1);
  double touch_soft = 0, touch_stiff = 0;
  const sn_contact_set* set = &l.state->contact.set;
  for (uint32_t i = 0; i < set->count; ++i) {
    const sn_contact* c = &set->contacts[i];
    double area = l.model->contact.skins[0].areas[c->point], x = c->carrier->rest.x;
    if (x < 0.4) touch_soft = c->stiffness / area;
    if (x > 0.6) touch_stiff = c->stiffness / area;
  }
  assert_true(touch_soft > 0);
  assert_near(touch_stiff, 8 * touch_soft, 1e-6 * touch_stiff);
  unload(&l);
}

// Threads and resuming

static void write_motley(void) {
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = 0.5 + 0.31 * i;
  write_values("s.csv", values);
  write_values("d.csv", values);
  write_part("slab.obj", sn_v3(0.21, 0.03, -1), sn_v3(0.67, 0.2, 0.19));
}

static const char* const MOTLEY =
    "{\"frames\": [1, 4], \"bodies\": [{\"name\": \"bar\", \"surface\": \"bar.obj\","
    "  \"cell\": 0.031, \"regions\": [{\"mesh\": \"slab.obj\", \"material\": {\"young\": 50000},"
    "    \"density\": 1500, \"weight\": 0.7}, {\"mesh\": \"more.obj\", \"stiffness\": 3}],"
    "  \"maps\": {\"stiffness\": \"s.csv\", \"density\": \"d.csv\"}}],"
    " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0.05, 1, 1]]}}],"
    " \"solver\": {\"newton\": {\"max\": 4}}}";

static void run_into(const char* folder, int threads, int last, sn_resume resume) {
  loaded l = load_scene(MOTLEY, threads);
  run_all(l, (sn_run_opts){scratch_path(folder), 1, last, resume, 0});
}

static void threads_and_resuming_do_not_matter(void** unused) {
  (void)unused;
  write_motley();
  run_into("base", 1, 4, SN_RESUME_NO);
  for (int threads = 2; threads <= 3; ++threads) {
    run_into("other", threads, 2, SN_RESUME_NO);
    run_into("other", threads, 4, SN_RESUME_LAST);
    assert_same_file("base/bar.pc2", "other/bar.pc2");
    assert_same_file("base/checkpoint", "other/checkpoint");
  }
}

static uint64_t fingerprint_of(const char* tissue) {
  loaded l = load_bar(tissue, 1);
  uint64_t fingerprint = sn_model_fingerprint(l.model);
  unload(&l);
  return fingerprint;
}

static void every_value_enters_the_fingerprint(void** unused) {
  (void)unused;
  write_motley();
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = 1 + (i == 3);
  write_values("t.csv", values);
  static const char* const TISSUES[] = {
      "",
      ", \"regions\": [{\"mesh\": \"half.obj\", \"stiffness\": 2}]",
      ", \"regions\": [{\"mesh\": \"half.obj\", \"stiffness\": 3}]",
      ", \"regions\": [{\"mesh\": \"half.obj\", \"stiffness\": 3, \"weight\": 0.5}]",
      ", \"regions\": [{\"mesh\": \"more.obj\", \"stiffness\": 3, \"weight\": 0.5}]",
      ", \"regions\": [{\"mesh\": \"more.obj\", \"density\": 3, \"weight\": 0.5}]",
      ", \"regions\": [{\"mesh\": \"more.obj\", \"material\": {}, \"weight\": 0.5}]",
      ", \"regions\": [{\"mesh\": \"more.obj\", \"material\": {\"young\": 9}, \"weight\": 0.5}]",
      ", \"maps\": {\"stiffness\": \"s.csv\"}",
      ", \"maps\": {\"stiffness\": \"t.csv\"}",
      ", \"maps\": {\"density\": \"t.csv\"}",
  };
  uint64_t found[sizeof TISSUES / sizeof *TISSUES];
  for (size_t i = 0; i < sizeof TISSUES / sizeof *TISSUES; ++i) {
    found[i] = fingerprint_of(TISSUES[i]);
    for (size_t k = 0; k < i; ++k) assert_true(found[i] != found[k]);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_bar, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(halves_in_series_stretch_as_two_springs),
      TEST(layers_are_laid_one_over_another),
      TEST(the_topmost_strong_region_gives_the_law),
      TEST(too_many_laws_are_refused),
      TEST(a_region_outside_is_refused),
      TEST(a_density_map_changes_the_mass),
      TEST(a_constant_map_scales_the_material),
      TEST(a_map_with_a_regions_name_weighs_it),
      TEST(a_map_says_where),
      TEST(touching_and_holding_go_by_the_local_stiffness),
      TEST(threads_and_resuming_do_not_matter),
      TEST(every_value_enters_the_fingerprint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
