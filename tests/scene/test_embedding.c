// Embeddings in whole scenes: the tricubic one changes what is written, and nothing else; cells that are left out
// change little.
#include "math/elementary.h"
#include "math/vec.h"
#include "scene/scenes.h"

#define LENGTH 1.6
#define WIDTH 0.4
#define ALONG 160
#define AROUND 40

// A bar from x = 0 to LENGTH as a tube of quads with open ends, rows of AROUND vertices a hundredth of its
// length apart.
static int write_bar(void** unused) {
  (void)unused;
  char* text = malloc(1 << 20);
  size_t length = 0, size = 1 << 20;
  make_scratch_folder(NULL);
  for (int i = 0; i <= ALONG; ++i) {
    for (int k = 0; k < AROUND; ++k) {
      double angle = 2 * 3.14159265358979 * k / AROUND;
      length +=
          (size_t)snprintf(text + length, size - length, "v %.9g %.9g %.9g\n", LENGTH * i / ALONG,
                           0.5 * WIDTH * sn_cos(angle), 0.5 * WIDTH * sn_sin(angle));
    }
  }
  for (int i = 0; i < ALONG; ++i) {
    for (int k = 0; k < AROUND; ++k) {
      int a = AROUND * i + k + 1, b = AROUND * i + (k + 1) % AROUND + 1;
      length += (size_t)snprintf(text + length, size - length, "f %d %d %d %d\n", a, b, b + AROUND,
                                 a + AROUND);
    }
  }
  scratch_write("bar.obj", text, length);
  free(text);
  return 0;
}

#define SCENE(embedding, first)                                                          \
  "{\"frames\": [1, 4], \"mode\": \"" first                                              \
  "\", \"gravity\": 0,"                                                                  \
  " \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.11, \"embedding\": \"" embedding \
  "\"}],"                                                                                \
  " \"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [0.1, 1, 1]]}},"                    \
  "  {\"where\": {\"box\": [[1.5, -1, -1], [3, 1, 1]]}, \"motion\": [{\"frame\": 1},"    \
  "   {\"frame\": 4, \"translate\": [-0.4, 0, 0.8], \"rotate\": [0, -0.5, 0, 0.866],"    \
  "    \"pivot\": [1.5, 0, 0]}]}],"                                                      \
  " \"solver\": {\"newton\": {\"max\": 40}}}"

static const float* bar(const loaded* l) {
  static float positions[2][3 * (ALONG + 1) * AROUND];
  static int turn;
  turn = 1 - turn;
  assert_int_equal(sn_model_surface_count(l->model, 0), (ALONG + 1) * AROUND);
  sn_surface_extract(l->model, l->state, 0, positions[turn]);
  return positions[turn];
}

static void at_rest_every_vertex_is_where_the_file_has_it(void** unused) {
  (void)unused;
  loaded l = load_scene(SCENE("tricubic", "quasistatic"), 2);
  const float* p = bar(&l);
  const sn_mesh* mesh = &l.scene->bodies[0].mesh;
  for (uint32_t i = 0; i < 3 * mesh->vertex_count; ++i) {
    assert_true(p[i] == (float)mesh->positions[i]);
  }
  unload(&l);
}

static void the_simulation_is_the_same(void** unused) {
  (void)unused;
  loaded a = load_scene(SCENE("trilinear", "dynamic"), 2);
  loaded b = load_scene(SCENE("tricubic", "dynamic"), 2);
  double most = 0;
  for (int frame = 1; frame <= 4; ++frame) {
    sn_frame_stats s = step(&a, frame), t = step(&b, frame);
    assert_true(s.newton == t.newton && s.residual == t.residual && s.volume == t.volume);
    assert_true(s.energy_elastic == t.energy_elastic && s.energy_kinetic == t.energy_kinetic);
    assert_true(s.work == t.work && s.min_j == t.min_j);
    const float *p = bar(&a), *q = bar(&b);
    for (int i = 0; i < 3 * (ALONG + 1) * AROUND; ++i) most = fmax(most, fabs(p[i] - q[i]));
  }
  print_message("the surfaces differ by %.3f cells at most\n", most / 0.11);
  assert_true(most > 0 && most < 0.5 * 0.11);
  unload(&a);
  unload(&b);
}

static sn_vec3 vertex(const float* p, int i, int k) {
  const float* v = p + 3 * (AROUND * i + (k + AROUND) % AROUND);
  return (sn_vec3){v[0], v[1], v[2]};
}

static sn_vec3 quad_normal(const float* p, int i, int k) {
  sn_vec3 a = sn_sub(vertex(p, i + 1, k + 1), vertex(p, i, k));
  sn_vec3 b = sn_sub(vertex(p, i, k + 1), vertex(p, i + 1, k)), n = sn_cross(a, b);
  return sn_scale(1 / sn_length(n), n);
}

// How unevenly the normals turn from quad to quad along the bar: the largest change of the turn.
static double unevenness(const float* p) {
  double most = 0;
  for (int i = 1; i + 2 < ALONG; ++i) {
    for (int k = 0; k < AROUND; ++k) {
      sn_vec3 before = quad_normal(p, i - 1, k), here = quad_normal(p, i, k);
      sn_vec3 after = quad_normal(p, i + 1, k);
      sn_vec3 bend = sn_sub(sn_add(before, after), sn_scale(2, here));
      most = fmax(most, sn_length(bend));
    }
  }
  return most;
}

static void creases_between_cells_are_gone(void** unused) {
  (void)unused;
  loaded a = load_scene(SCENE("trilinear", "quasistatic"), 2);
  loaded b = load_scene(SCENE("tricubic", "quasistatic"), 2);
  for (int frame = 1; frame <= 4; ++frame) {
    step(&a, frame);
    step(&b, frame);
  }
  double creased = unevenness(bar(&a)), smooth = unevenness(bar(&b));
  print_message("normals jump by %.4f at most, trilinear, and by %.4f, tricubic: 1/%.1f\n", creased,
                smooth, creased / smooth);
  assert_true(smooth < creased / 4);
  unload(&a);
  unload(&b);
}

static void threads_and_resuming_do_not_change_a_byte(void** unused) {
  (void)unused;
  skip_if_sanitized();
  sn_error err = {0};
  size_t bytes = 3 * (ALONG + 1) * AROUND * sizeof(float);
  float* last = malloc(bytes);
  for (int threads = 1; threads <= 3; ++threads) {
    loaded l = load_scene(SCENE("tricubic", "dynamic"), threads);
    for (int frame = 1; frame <= 4; ++frame) {
      step(&l, frame);
      if (frame == 2) assert_ok(sn_state_save(l.model, l.state, scratch_path("two"), &err), &err);
    }
    if (threads == 1) memcpy(last, bar(&l), bytes);
    assert_memory_equal(bar(&l), last, bytes);
    assert_ok(sn_state_load(l.model, l.state, scratch_path("two"), &err), &err);
    step(&l, 3);
    uint64_t before = sn_allocation_count();
    step(&l, 4);
    assert_memory_equal(bar(&l), last, bytes);
    assert_int_equal(sn_allocation_count(), before);
    unload(&l);
  }
  loaded other = load_scene(SCENE("trilinear", "dynamic"), 1);
  assert_int_equal(sn_state_load(other.model, other.state, scratch_path("two"), &err),
                   SN_ERR_INPUT);
  unload(&other);
  free(last);
}

// Turned by a right angle about x, without anything that deforms it.
#define TURNED(embedding)                                                                \
  "{\"frames\": [1, 4], \"mode\": \"quasistatic\", \"gravity\": 0,"                      \
  " \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.09, \"embedding\": \"" embedding \
  "\","                                                                                  \
  "   \"least_fill\": 0.2, \"initial\": {\"rotate\": [0.7071067811865476, 0, 0,"         \
  "   0.7071067811865476]}}]}"

static void vertices_beyond_the_cells_turn_with_them(void** unused) {
  (void)unused;
  static const char* const TEXTS[] = {TURNED("trilinear"), TURNED("tricubic")};
  for (int k = 0; k < 2; ++k) {
    loaded l = load_scene(TEXTS[k], 2);
    sn_body_info info = sn_model_body(l.model, 0);
    print_message("%llu cells left out, %llu vertices outside\n",
                  (unsigned long long)info.dropped_cell_count,
                  (unsigned long long)info.outside_vertex_count);
    assert_true(info.dropped_cell_count > 0 && info.outside_vertex_count > 0);
    const float* p = bar(&l);
    for (uint32_t v = 0; v < (ALONG + 1) * AROUND; ++v) {
      const double* rest = l.scene->bodies[0].mesh.positions + 3 * (size_t)v;
      assert_near(p[3 * v], rest[0], 1e-6);
      assert_near(p[3 * v + 1], -rest[2], 1e-6);
      assert_near(p[3 * v + 2], rest[1], 1e-6);
    }
    unload(&l);
  }
}

#define WITHOUT_THIN_CELLS(share)                                                     \
  "{\"frames\": [1, 4], \"mode\": \"quasistatic\", \"gravity\": 0,"                   \
  " \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.046, \"least_fill\": " share  \
  "}],"                                                                               \
  " \"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [0.1, 1, 1]]}},"                 \
  "  {\"where\": {\"box\": [[1.5, -1, -1], [3, 1, 1]]}, \"motion\": [{\"frame\": 1}," \
  "   {\"frame\": 4, \"translate\": [-0.4, 0, 0.8], \"rotate\": [0, -0.5, 0, 0.866]," \
  "    \"pivot\": [1.5, 0, 0]}]}], \"solver\": {\"newton\": {\"max\": 40}}}"

static void leaving_out_thin_cells_hardly_matters(void** unused) {
  (void)unused;
  loaded a = load_scene(WITHOUT_THIN_CELLS("0"), 2), b = load_scene(WITHOUT_THIN_CELLS("0.02"), 2);
  sn_body_info whole = sn_model_body(a.model, 0), thin = sn_model_body(b.model, 0);
  int newton[2] = {0, 0};
  double most = 0;
  for (int frame = 1; frame <= 4; ++frame) {
    newton[0] += step(&a, frame).newton;
    newton[1] += step(&b, frame).newton;
  }
  const float *p = bar(&a), *q = bar(&b);
  for (int i = 0; i < 3 * (ALONG + 1) * AROUND; ++i) most = fmax(most, fabs(p[i] - q[i]));
  print_message(
      "%llu of %llu cells left out, mass %.2g less; %d and %d steps; surfaces differ by %.3f "
      "cells\n",
      (unsigned long long)thin.dropped_cell_count, (unsigned long long)whole.cell_count,
      1 - thin.mass / whole.mass, newton[0], newton[1], most / 0.046);
  assert_int_equal(thin.cell_count + thin.dropped_cell_count, whole.cell_count);
  assert_true(thin.dropped_cell_count > 0 && most < 0.1 * 0.046);
  assert_near(thin.mass, whole.mass, 3e-3 * whole.mass);
  unload(&a);
  unload(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(at_rest_every_vertex_is_where_the_file_has_it, write_bar,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(the_simulation_is_the_same, write_bar, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(creases_between_cells_are_gone, write_bar,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(vertices_beyond_the_cells_turn_with_them, write_bar,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(leaving_out_thin_cells_hardly_matters, write_bar,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(threads_and_resuming_do_not_change_a_byte, write_bar,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
