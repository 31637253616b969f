// The linear system by itself: as a matrix, solved for a load, and timed.
#include <math.h>

#include "math/random.h"
#include "scene/model.h"
#include "scene/scenes.h"

// Cells of two sizes, one face held.
static const char* const CUBE =
    "{\"mode\": \"quasistatic\","
    " \"bodies\": [{\"name\": \"cube\", \"surface\": \"cube.obj\", \"cell\": 0.125}],"
    " \"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [0.01, 2, 2]]}}]}";
static const char* const TIED =
    "{\"mode\": \"quasistatic\","
    " \"bodies\": [{\"name\": \"cube\", \"surface\": \"cube.obj\", \"cell\": 0.125}],"
    " \"bones\": [{\"name\": \"core\", \"capsule\":"
    "   {\"from\": [0.4, 0.5, 0.5], \"to\": [0.6, 0.5, 0.5], \"radius\": 0.2}}],"
    " \"attachments\": [{\"bone\": \"core\"}]}";

static int make_cube(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("cube.obj", 1, 1, 1);
  return 0;
}

static double* random_vector(const sn_model* model, uint64_t seed) {
  sn_random random = sn_random_seeded(seed);
  double* v = calloc(model->unknown_count, sizeof *v);
  for (size_t i = 0; i < model->unknown_count; ++i) {
    double value = sn_random_symmetric(&random);
    v[i] = model->held[i / 3] ? 0 : value;
  }
  return v;
}

static double multiply_row(const sn_matrix* m, size_t row, const double* x) {
  double sum = 0;
  for (uint64_t k = m->row_starts[row]; k < m->row_starts[row + 1]; ++k) {
    sum += m->values[k] * x[m->columns[k]];
  }
  return sum;
}

static double largest_of(const double* v, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; ++i) largest = fmax(largest, fabs(v[i]));
  return largest;
}

static void the_matrix_is_the_operator(void** unused) {
  (void)unused;
  loaded l = load_scene(CUBE, 2);
  sn_error err = {0};
  sn_matrix matrix;
  size_t n = l.model->unknown_count;
  assert_true(sn_model_body(l.model, 0).hanging_cell_count > 0);
  assert_ok(sn_model_assemble(l.model, &matrix, &err), &err);
  assert_int_equal(matrix.row_count, n);
  double *p = random_vector(l.model, 5), *y = calloc(n, sizeof *y);
  memset(l.state->u, 0, n * sizeof *l.state->u);
  sn_problem_linearise(&l.state->problem, l.pool, l.state->u);
  sn_problem_apply_d(&l.state->problem, l.pool, SN_HESSIAN_DEFINITE, p, y);
  // as well as single-precision operator data would allow
  double margin = 1e-5 * largest_of(y, n);
  for (size_t i = 0; i < n; ++i) {
    if (l.model->held[i / 3]) {
      assert_int_equal(matrix.row_starts[i + 1] - matrix.row_starts[i], 1);
      assert_true(matrix.values[matrix.row_starts[i]] > 0);
    } else {
      assert_near(multiply_row(&matrix, i, p), y[i], margin);
    }
  }
  free(p);
  free(y);
  sn_matrix_destroy(&matrix);
  unload(&l);
}

static void a_load_is_solved_for(void** unused) {
  (void)unused;
  loaded l = load_scene(CUBE, 2);
  sn_error err = {0};
  sn_matrix matrix;
  sn_study_result result;
  size_t n = l.model->unknown_count;
  double *b = random_vector(l.model, 6), *x = calloc(n, sizeof *x);
  sn_study_opts opts = {
      .linear = SN_LINEAR_MULTIGRID, .max = 100, .tolerance = 1e-8, .load = b, .solution = x};
  assert_ok(sn_state_study(l.model, l.state, &opts, &result, &err), &err);
  assert_true(result.converged && result.iterations > 0 && result.residual < 1.1e-8);
  assert_ok(sn_model_assemble(l.model, &matrix, &err), &err);
  for (size_t i = 0; i < n; ++i) {
    assert_near(multiply_row(&matrix, i, x), b[i], 1e-4);  // b is of size 1
    if (l.model->held[i / 3]) assert_true(x[i] == 0);
  }
  free(b);
  free(x);
  sn_matrix_destroy(&matrix);
  unload(&l);
}

static void springs_are_not_left_out_in_silence(void** unused) {
  (void)unused;
  loaded l = load_scene(TIED, 1);
  sn_error err = {0};
  sn_matrix matrix;
  size_t used = sn_memory_used();
  assert_int_equal(sn_model_assemble(l.model, &matrix, &err), SN_ERR_USAGE);
  assert_non_null(strstr(err.text, "attachments"));
  assert_int_equal(sn_memory_used(), used);
  unload(&l);
}

static void passes_are_timed_over_all_elements(void** unused) {
  (void)unused;
  loaded l = load_scene(CUBE, 1);
  for (int what = SN_TIME_APPLY; what <= SN_TIME_POLAR; ++what) {
    sn_error err = {0};
    sn_timing timing;
    assert_ok(sn_state_time(l.model, l.state, (sn_time_what)what, 3, &timing, &err), &err);
    assert_int_equal(timing.elements, sn_model_body(l.model, 0).cell_count);
    assert_true(timing.seconds > 0 && timing.bytes > 0);
    assert_int_equal(sn_state_time(l.model, l.state, (sn_time_what)what, 0, &timing, &err),
                     SN_ERR_USAGE);
  }
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_matrix_is_the_operator, make_cube, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_load_is_solved_for, make_cube, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(springs_are_not_left_out_in_silence, make_cube,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(passes_are_timed_over_all_elements, make_cube,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
