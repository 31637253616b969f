// From the vertices of the skin into the flesh.
#include "body/body_map.h"

#include <math.h>

#include "math/vec.h"
#include "scene/model.h"
#include "scene/scenes.h"

static int make_box(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("box.obj", 1, 1, 1);
  return 0;
}

static loaded load_box(const char* cell, const char* coarsen) {
  char text[512];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"box.obj\", \"cell\": %s,"
           " \"coarsen\": %s}], \"contact\": {\"self\": false}}",
           cell, coarsen);
  return load_scene(text, 2);
}

// The eight corners of the box by a function of their place. The caller frees.
static float* spread(const loaded* l, sn_pool* pool, const double values[8]) {
  const sn_body* body = &l->model->bodies[0];
  sn_arena* scratch;
  sn_error err = {0};
  float* cells = malloc(body->tree.cell_count * sizeof *cells);
  assert_non_null(cells);
  assert_ok(sn_arena_create(&scratch, &err), &err);
  assert_ok(sn_body_map_to_cells(body, values, pool, scratch, cells, &err), &err);
  sn_arena_destroy(scratch);
  return cells;
}

static void equal_values_stay_what_they_are(void** unused) {
  (void)unused;
  static const char* const COARSEN[] = {"null", "0"};
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = 0.1;
  for (int i = 0; i < 2; ++i) {
    loaded l = load_box("0.0433", COARSEN[i]);
    float* cells = spread(&l, l.pool, values);
    for (uint32_t e = 0; e < l.model->bodies[0].tree.cell_count; ++e) {
      assert_true(cells[e] == 0.1f);
    }
    free(cells);
    unload(&l);
  }
}

// What is linear on the skin is linear on the skin's cells, up to the few samples in each, and close to
// it inside.
static void a_slope_goes_on_into_the_flesh(void** unused) {
  (void)unused;
  static const char* const COARSEN[] = {"null", "0"};
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = 1 + (i & 1);
  for (int i = 0; i < 2; ++i) {
    loaded l = load_box("0.03125", COARSEN[i]);
    const sn_octree* tree = &l.model->bodies[0].tree;
    float* cells = spread(&l, l.pool, values);
    double worst_skin = 0, worst = 0;
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      sn_vec3 c = sn_octree_cell_centre(tree, e);
      double h = sn_octree_edge(tree, e), off = fabs((double)cells[e] - 1 - c.x);
      bool at_skin = fmin(fmin(c.y, c.z), fmin(1 - c.y, 1 - c.z)) < 0.6 * h;
      bool at_end = fmin(c.x, 1 - c.x) < 0.6 * h;
      if (at_skin && !at_end) worst_skin = fmax(worst_skin, off);
      worst = fmax(worst, off);
      assert_true(cells[e] >= 1 && cells[e] <= 2);
    }
    print_message("coarsen %s: off by %.4f at the skin, %.4f inside\n", COARSEN[i], worst_skin,
                  worst);
    assert_true(worst_skin < 0.25 * 0.03125);
    assert_true(worst < 0.05);
    free(cells);
    unload(&l);
  }
}

static void threads_do_not_matter(void** unused) {
  (void)unused;
  double values[8];
  for (int i = 0; i < 8; ++i) values[i] = 0.3 + 0.17 * i * i;
  loaded l = load_box("0.0271", "null");
  size_t bytes = l.model->bodies[0].tree.cell_count * sizeof(float);
  float* one = spread(&l, NULL, values);
  for (int threads = 1; threads <= 3; ++threads) {
    sn_pool* pool;
    sn_error err = {0};
    assert_ok(sn_pool_create(threads, &pool, &err), &err);
    float* other = spread(&l, pool, values);
    assert_memory_equal(one, other, bytes);
    free(other);
    sn_pool_destroy(pool);
  }
  free(one);
  unload(&l);
}

// Two boxes apart from one another, each painted in one value: neither sees the other.
static void parts_keep_to_themselves(void** unused) {
  (void)unused;
  char text[2048];
  int length = 0;
  for (int c = 0; c < 16; ++c) {
    length += snprintf(text + length, sizeof text - (size_t)length, "v %d %d %d\n",
                       (c & 1) + (c < 8 ? 0 : 4), c >> 1 & 1, c >> 2 & 1);
  }
  for (int b = 0; b < 2; ++b) {
    static const int faces[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                    {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
    for (int f = 0; f < 6; ++f) {
      length += snprintf(text + length, sizeof text - (size_t)length, "f %d %d %d %d\n",
                         faces[f][0] + 8 * b, faces[f][1] + 8 * b, faces[f][2] + 8 * b,
                         faces[f][3] + 8 * b);
    }
  }
  scratch_write("box.obj", text, (size_t)length);
  loaded l = load_box("0.0625", "null");
  const sn_octree* tree = &l.model->bodies[0].tree;
  double values[16];
  for (int v = 0; v < 16; ++v) values[v] = v < 8 ? 1 : 3;
  float* cells = spread(&l, l.pool, values);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    bool first = sn_octree_cell_centre(tree, e).x < 2;
    assert_near((double)cells[e], first ? 1 : 3, 1e-6);
  }
  free(cells);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(equal_values_stay_what_they_are, make_box,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_slope_goes_on_into_the_flesh, make_box,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(threads_do_not_matter, make_box, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(parts_keep_to_themselves, make_box, remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
