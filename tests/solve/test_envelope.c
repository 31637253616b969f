// Cholesky within an envelope: a body of random cells is solved, whatever nodes are held and however it
// falls into parts.
#include "solve/envelope.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// after what it needs
#include <cmocka.h>
#include <string.h>

#include "math/random.h"

#define MOST_CELLS 80
#define MOST_NODES 200

typedef struct lattice {
  uint32_t cells[MOST_CELLS][8], cell_count, node_count;
  uint8_t held[MOST_NODES];
  double K[MOST_CELLS][24][24];
} lattice;

static uint32_t node_at(const int size[3], int x, int y, int z) {
  return (uint32_t)(x + (size[0] + 1) * (y + (size[1] + 1) * z));
}

// G^T G, symmetric and definite.
static void set_cell(sn_random* random, double K[24][24]) {
  double G[24][24];
  for (int i = 0; i < 576; ++i) G[i / 24][i % 24] = sn_random_symmetric(random);
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < 24; ++j) {
      K[i][j] = 0;
      for (int k = 0; k < 24; ++k) K[i][j] += G[k][i] * G[k][j];
    }
  }
}

// A box of cells without those whose z is `gap`, so that it is in two parts.
static void build(const int size[3], int gap, lattice* l) {
  sn_random random = sn_random_seeded(3);
  memset(l, 0, sizeof *l);
  l->node_count = (uint32_t)((size[0] + 1) * (size[1] + 1) * (size[2] + 1));
  assert_true(l->node_count <= MOST_NODES && size[0] * size[1] * size[2] <= MOST_CELLS);
  for (int c = 0; c < size[0] * size[1] * size[2]; ++c) {
    int x = c % size[0], y = c / size[0] % size[1], z = c / (size[0] * size[1]);
    if (z == gap) continue;
    for (int k = 0; k < 8; ++k) {
      l->cells[l->cell_count][k] = node_at(size, x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
    }
    set_cell(&random, l->K[l->cell_count++]);
  }
  l->held[3] = 1;
  l->held[l->node_count - 2] = 1;
}

static void multiply(const lattice* l, const float* x, float* y) {
  memset(y, 0, 3 * (size_t)l->node_count * sizeof *y);
  for (uint32_t c = 0; c < l->cell_count; ++c) {
    for (int i = 0; i < 24; ++i) {
      double sum = 0;
      for (int j = 0; j < 24; ++j) sum += l->K[c][i][j] * x[3 * l->cells[c][j / 3] + j % 3];
      y[3 * l->cells[c][i / 3] + i % 3] += (float)sum;
    }
  }
}

static void solve_and_check(const int size[3], int gap) {
  static lattice l;
  sn_arena *arena, *scratch;
  sn_envelope e;
  sn_error err = {0};
  sn_random random = sn_random_seeded(4);
  float x[3 * MOST_NODES], b[3 * MOST_NODES], y[3 * MOST_NODES];
  build(size, gap, &l);
  assert_int_equal(sn_arena_create(&arena, &err), SN_OK);
  assert_int_equal(sn_arena_create(&scratch, &err), SN_OK);
  assert_int_equal(
      sn_envelope_plan(l.cells[0], l.cell_count, l.node_count, l.held, arena, scratch, &e, &err),
      SN_OK);
  assert_int_equal(sn_envelope_create(&e, arena, &err), SN_OK);
  assert_int_equal(e.n, 3 * (int)l.node_count - 6);
  sn_envelope_clear(&e);
  for (uint32_t colour = 0; colour < e.colour_count; ++colour) {
    for (int axis = 0; axis < 3; ++axis) {
      sn_envelope_pick(&e, colour, axis, x);
      multiply(&l, x, y);
      sn_envelope_take(&e, colour, axis, y);
    }
  }
  sn_envelope_factor(&e);
  for (size_t i = 0; i < 3 * (size_t)l.node_count; ++i) b[i] = (float)sn_random_symmetric(&random);
  sn_envelope_solve(&e, b, x);
  multiply(&l, x, y);
  double off = 0, all = 0;
  for (size_t v = 0; v < l.node_count; ++v) {
    bool alone = e.starts[v + 1] == e.starts[v];
    for (size_t i = 3 * v; i < 3 * v + 3; ++i) {
      if (l.held[v]) assert_true(x[i] == 0);
      if (l.held[v] || alone) continue;
      off = fmax(off, fabs((double)y[i] - b[i]));
      all = fmax(all, fabs((double)b[i]));
    }
  }
  print_message("%u cells, %d unknowns, %u colours, %zu values: off by %.1e\n", l.cell_count, e.n,
                e.colour_count, sn_envelope_value_count(&e), off / all);
  assert_true(off <= 2e-3 * all);  // x is rounded to single precision, and the matrix is random
  sn_arena_destroy(scratch);
  sn_arena_destroy(arena);
}

static void a_body_is_solved(void** unused) {
  (void)unused;
  solve_and_check((const int[3]){2, 2, 8}, -1);
  solve_and_check((const int[3]){4, 4, 4}, -1);
}

static void parts_are_solved(void** unused) {
  (void)unused;
  solve_and_check((const int[3]){2, 2, 9}, 4);
}

// What is long is narrow, however its nodes are numbered.
static void the_envelope_goes_by_the_cross_section(void** unused) {
  (void)unused;
  static lattice l;
  sn_arena* arena;
  sn_envelope e;
  sn_error err = {0};
  build((const int[3]){20, 1, 1}, -1, &l);
  uint32_t* first = l.cells[0];
  for (uint32_t k = 0; k < 8 * l.cell_count; ++k) first[k] = first[k] * 37 % l.node_count;
  memset(l.held, 0, sizeof l.held);
  assert_int_equal(sn_arena_create(&arena, &err), SN_OK);
  assert_int_equal(
      sn_envelope_plan(first, l.cell_count, l.node_count, l.held, arena, arena, &e, &err), SN_OK);
  assert_true(sn_envelope_value_count(&e) <= 24 * (size_t)e.n);
  sn_arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_is_solved),
      cmocka_unit_test(parts_are_solved),
      cmocka_unit_test(the_envelope_goes_by_the_cross_section),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
