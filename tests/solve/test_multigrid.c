#include "solve/multigrid.h"

#include "solve/chain.h"

#define MOST 3000

// Nodes in a row, a spring from each to the next and one to its place: y = 2.5 x - its neighbours.
static void multiply_row(void* ctx, sn_pool* pool, const float* springs, const float* x,
                         float scale, const float* v, float* y) {
  size_t n = *(const size_t*)ctx;
  (void)pool;
  for (size_t i = 0; i < n; ++i) {
    float around = (i >= 3 ? x[i - 3] : 0) + (i + 3 < n ? x[i + 3] : 0);
    y[i] = (2.5f + springs[i]) * x[i] - around + (v ? scale * v[i] : 0);
  }
}

typedef struct row {
  sn_arena* arena;
  size_t n;
  sn_mg_level level;
  sn_mg mg;
  float scratch[MOST], right[MOST], other[MOST];
} row;

// Multigrid of one level, which is the coarsest then.
static void make_row(row* r, size_t n) {
  static const uint8_t held[MOST / 3];
  *r = (row){.n = n};
  r->level =
      (sn_mg_level){.unknown_count = n, .held = held, .multiply = multiply_row, .ctx = &r->n};
  r->level.r = r->scratch;
  r->level.b = r->right;
  r->level.x = r->other;
  r->mg = (sn_mg){.opts = {.coarsest = SN_MG_CHOLESKY}, .levels = &r->level, .level_count = 1};
  assert_int_equal(sn_arena_create(&r->arena, NULL), SN_OK);
  assert_int_equal(sn_mg_create(&r->mg, r->arena, NULL), SN_OK);
  for (size_t i = 0; i < n; ++i) r->level.inverse_diagonal[i] = 0.4f;
  sn_mg_update(&r->mg, NULL, true);
}

static double dot(size_t n, const float* a, const float* b) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += (double)a[i] * (double)b[i];
  return sum;
}

static void a_small_coarsest_level_is_solved(void** unused) {
  (void)unused;
  row r;
  make_row(&r, 999);
  static float b[MOST], x[MOST], y[MOST];
  sn_random random = sn_random_seeded(1);
  for (size_t i = 0; i < r.n; ++i) b[i] = (float)sn_random_symmetric(&random);
  sn_mg_cycle(&r.mg, NULL, b, x);
  multiply_row(&r.n, NULL, r.level.springs, x, 0, NULL, y);
  for (size_t i = 0; i < r.n; ++i) assert_true(fabs(y[i] - b[i]) < 1e-5);
  sn_arena_destroy(r.arena);
}

static void a_large_one_is_smoothed_by_a_symmetric_positive_map(void** unused) {
  (void)unused;
  row r;
  make_row(&r, MOST);
  assert_true(r.mg.factor == NULL);
  // No square of the unknowns in memory.
  assert_true(sn_arena_bytes(r.arena) < 100 * MOST);
  static float a[MOST], b[MOST];
  static float za[MOST], zb[MOST], y[MOST];
  sn_random random = sn_random_seeded(2);
  for (size_t i = 0; i < r.n; ++i) {
    a[i] = (float)sn_random_symmetric(&random);
    b[i] = (float)sn_random_symmetric(&random) + (i > r.n / 2);
  }
  sn_mg_cycle(&r.mg, NULL, a, za);
  sn_mg_cycle(&r.mg, NULL, b, zb);
  assert_true(dot(r.n, a, za) > 0 && dot(r.n, b, zb) > 0);
  double both = sqrt(dot(r.n, a, za) * dot(r.n, b, zb));
  assert_true(fabs(dot(r.n, a, zb) - dot(r.n, b, za)) < 1e-5 * both);
  // And it is worth something.
  multiply_row(&r.n, NULL, r.level.springs, zb, 0, NULL, y);
  double left = 0, size = 0;
  for (size_t i = 0; i < r.n; ++i) {
    left += (y[i] - b[i]) * (y[i] - b[i]);
    size += b[i] * b[i];
  }
  assert_true(left < 1e-2 * size);
  sn_arena_destroy(r.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_small_coarsest_level_is_solved),
      cmocka_unit_test(a_large_one_is_smoothed_by_a_symmetric_positive_map),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
