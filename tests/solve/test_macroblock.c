// The direct solver of one macroblock against a band Cholesky in double precision.
#include "solve/macroblock.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
// cmocka needs the two above.
#include <cmocka.h>
#include <string.h>

#include "math/random.h"

#define NODES SN_BLOCK_NODES
#define UNKNOWNS (3 * NODES)
#define BAND (3 * 58)

// Elastic cells of random stiffness and direction: [cell][24][24], corners by bits.
typedef struct fixture {
  double (*K)[24][24];
  bool there[SN_BLOCK_CELLS];
  uint8_t keep[UNKNOWNS];
  double springs[UNKNOWNS];
  double (*band)[BAND + 1];  // lower triangle, [row][row - column]
  double b[UNKNOWNS], x[UNKNOWNS];
  sn_arena* arena;
  const sn_block_plan* plan;
  sn_block_factor* factor;
  sn_block_room* room;
} fixture;

static int number_of(const int p[3]) { return (p[2] - 1) + 7 * (p[1] - 1) + 49 * (p[0] - 1); }
static int cell_at(int x, int y, int z) { return x + 16 * (y + 8 * z); }

static void fill_cell(sn_random* random, double K[24][24]) {
  double T[9][9] = {{0}}, mu = 1 + 4 * sn_random_unit(random), row[9];
  for (int n = 0; n < 3; ++n) {
    for (int i = 0; i < 9; ++i) row[i] = sn_random_symmetric(random);
    for (int i = 0; i < 9; ++i) {
      for (int j = 0; j < 9; ++j) T[i][j] += mu * ((n == 0 && i == j) + 2 * row[i] * row[j]);
    }
  }
  for (int p = 0; p < 8; ++p) {
    for (int q = 0; q < 8; ++q) {
      int a[3], b[3];
      for (int i = 0; i < 3; ++i) a[i] = p >> i & 1 ? 1 : -1, b[i] = q >> i & 1 ? 1 : -1;
      double pairs =
          a[0] * a[1] * b[0] * b[1] + a[1] * a[2] * b[1] * b[2] + a[2] * a[0] * b[2] * b[0];
      double all = a[0] * a[1] * a[2] * b[0] * b[1] * b[2];
      for (int i = 0; i < 9; ++i) {
        int line = i / 3, column = i % 3;
        double sum = line == column ? mu * (2 * pairs + all) / 3 : 0;
        for (int k = 0; k < 3; ++k) {
          for (int l = 0; l < 3; ++l) sum += a[k] * b[l] * T[3 * line + k][3 * column + l];
        }
        K[3 * p + line][3 * q + column] = sum;
      }
    }
  }
}

static void matrices(const void* ctx, const uint32_t cells[8], const uint8_t flips[8],
                     float K[SN_CORNER_PAIRS][9][8]) {
  const fixture* f = ctx;
  for (int lane = 0; lane < 8; ++lane) {
    int pair = 0;
    for (int p = 0; p < 8; ++p) {
      for (int q = p; q < 8; ++q, ++pair) {
        for (int i = 0; i < 9; ++i) {
          int r = 3 * (p ^ flips[lane]) + i / 3, s = 3 * (q ^ flips[lane]) + i % 3;
          K[pair][i][lane] = cells[lane] == UINT32_MAX ? 0 : (float)f->K[cells[lane]][r][s];
        }
      }
    }
  }
}

static void create(fixture* f) {
  sn_error err;
  assert_int_equal(sn_arena_create(&f->arena, &err), SN_OK);
  assert_int_equal(sn_block_plan_create(f->arena, &f->plan, &err), SN_OK);
  assert_int_equal(SN_ARENA_NEW(f->arena, 1, &f->factor, &err), SN_OK);
  assert_int_equal(SN_ARENA_NEW(f->arena, SN_BLOCK_CELLS, &f->K, &err), SN_OK);
  assert_int_equal(SN_ARENA_NEW(f->arena, UNKNOWNS, &f->band, &err), SN_OK);
  assert_int_equal(sn_arena_take(f->arena, 1, sn_block_room_bytes(), (void**)&f->room, &err),
                   SN_OK);
}

// The same matrix in plain order, factored and solved in double precision.
static void solve_plain(fixture* f) {
  memset(f->band, 0, UNKNOWNS * sizeof f->band[0]);
  for (int cell = 0; cell < SN_BLOCK_CELLS; ++cell) {
    if (!f->there[cell]) continue;
    for (int e = 0; e < 24 * 24; ++e) {
      int row[2], inside = 1;
      for (int side = 0; side < 2; ++side) {
        int corner = (side ? e % 24 : e / 24), c = corner / 3;
        int p[3] = {cell % 16 + (c & 1), cell / 16 % 8 + (c >> 1 & 1), cell / 128 + (c >> 2)};
        inside &= p[0] > 0 && p[0] < 16 && p[1] > 0 && p[1] < 8 && p[2] > 0 && p[2] < 8;
        row[side] = inside ? 3 * number_of(p) + corner % 3 : 0;
      }
      if (!inside || row[0] < row[1] || !f->keep[row[0]] || !f->keep[row[1]]) continue;
      f->band[row[0]][row[0] - row[1]] += (double)(float)f->K[cell][e / 24][e % 24];
    }
  }
  for (int i = 0; i < UNKNOWNS; ++i) f->band[i][0] += f->keep[i] ? f->springs[i] : 1;
  for (int i = 0; i < UNKNOWNS; ++i) {
    for (int j = i - BAND < 0 ? 0 : i - BAND; j <= i; ++j) {
      double sum = f->band[i][i - j];
      for (int k = i - BAND < 0 ? 0 : i - BAND; k < j; ++k) {
        if (j - k <= BAND) sum -= f->band[i][i - k] * f->band[j][j - k];
      }
      f->band[i][i - j] = j == i ? sqrt(sum) : sum / f->band[j][0];
    }
  }
  for (int i = 0; i < UNKNOWNS; ++i) {
    f->x[i] = f->b[i];
    for (int k = i - BAND < 0 ? 0 : i - BAND; k < i; ++k) f->x[i] -= f->band[i][i - k] * f->x[k];
    f->x[i] /= f->band[i][0];
  }
  for (int i = UNKNOWNS - 1; i >= 0; --i) {
    f->x[i] /= f->band[i][0];
    for (int k = i - BAND < 0 ? 0 : i - BAND; k < i; ++k) f->x[k] -= f->band[i][i - k] * f->x[i];
  }
}

static double compare(fixture* f, const sn_block_kernels* kernels) {
  static sn_block_vector keep, add, x;
  static uint32_t cells[64][2][8];
  memset(&keep, 0, sizeof keep), memset(&add, 0, sizeof add), memset(&x, 0, sizeof x);
  float *K = (float*)&keep, *A = (float*)&add, *X = (float*)&x;
  for (int i = 0; i < NODES; ++i) {
    int p[3], stride, at = sn_block_node_offset(i, &stride);
    sn_block_node_place(f->plan, i, p);
    for (int k = 0; k < 3; ++k) {
      int from = 3 * number_of(p) + k;
      K[at + k * stride] = f->keep[from];
      A[at + k * stride] = f->keep[from] ? (float)f->springs[from] : 1;
      X[at + k * stride] = (float)f->b[from];
    }
  }
  for (int i = 0; i < SN_BLOCK_CELLS; ++i) {
    int p[3];
    sn_block_cell_place(i, p);
    int cell = cell_at(p[0], p[1], p[2]);
    cells[i / 16][i / 8 % 2][i % 8] = f->there[cell] ? (uint32_t)cell : UINT32_MAX;
  }
  sn_block_cells source = {matrices, f};
  sn_block_input input = {(const uint32_t(*)[2][8])cells, &keep, &add};
  kernels->factor(f->plan, &source, &input, f->room, f->factor);
  kernels->solve(f->plan, f->factor, &x);
  double off = 0, size = 0;
  for (int i = 0; i < NODES; ++i) {
    int p[3], stride, at = sn_block_node_offset(i, &stride);
    sn_block_node_place(f->plan, i, p);
    for (int k = 0; k < 3; ++k) {
      double exact = f->x[3 * number_of(p) + k], d = X[at + k * stride] - exact;
      off += d * d;
      size += exact * exact;
    }
  }
  return sqrt(off / size);
}

// A share of the cells is missing, a share of the unknowns held, and so are all nodes with z > top.
static void check_block(uint64_t seed, double missing, double held, int top) {
  fixture f = {0};
  create(&f);
  sn_random random = sn_random_seeded(seed);
  for (int c = 0; c < SN_BLOCK_CELLS; ++c) {
    fill_cell(&random, f.K[c]);
    f.there[c] = sn_random_unit(&random) >= missing;
  }
  for (int i = 0; i < UNKNOWNS; ++i) {
    f.keep[i] = sn_random_unit(&random) >= held && i / 3 % 7 < top;
    f.springs[i] = missing > 0 ? 0.5 : 0;
    f.b[i] = f.keep[i] ? (double)(float)sn_random_symmetric(&random) : 0;
  }
  solve_plain(&f);
  for (const sn_block_kernels* const* k = sn_block_kernels_list(); *k; ++k) {
    if (!(*k)->is_supported()) continue;
    double error = compare(&f, *k);
    if (!(error < 1e-5)) fail_msg("%s: error %g", (*k)->name, error);
    print_message("%s: error %.2g\n", (*k)->name, error);
  }
  sn_arena_destroy(f.arena);
}

static void a_whole_block_is_solved_as_in_double_precision(void** state) {
  (void)state;
  check_block(1, 0, 0, 7);
}
static void missing_cells_keep_the_structure(void** state) {
  (void)state;
  check_block(2, 0.3, 0, 7);
}
static void held_unknowns_keep_the_structure(void** state) {
  (void)state;
  check_block(3, 0.05, 0.2, 7);
}
// Cells between held nodes and a layer hold that layer.
static void a_half_may_be_held_altogether(void** state) {
  (void)state;
  check_block(4, 0, 0, 4);
}

// Every node and cell of the box has one place in the arrays.
static void every_node_and_cell_has_one_place(void** state) {
  (void)state;
  fixture f = {0};
  create(&f);
  static bool node[NODES], cell[SN_BLOCK_CELLS], number[sizeof(sn_block_vector) / 4];
  for (int i = 0; i < NODES; ++i) {
    int p[3], stride, at = sn_block_node_offset(i, &stride);
    sn_block_node_place(f.plan, i, p);
    assert_false(node[number_of(p)]);
    node[number_of(p)] = true;
    for (int k = 0; k < 3; ++k) {
      assert_false(number[at + k * stride]);
      number[at + k * stride] = true;
    }
  }
  for (int i = 0; i < SN_BLOCK_CELLS; ++i) {
    int p[3];
    sn_block_cell_place(i, p);
    assert_false(cell[cell_at(p[0], p[1], p[2])]);
    cell[cell_at(p[0], p[1], p[2])] = true;
  }
  sn_arena_destroy(f.arena);
}

static void the_working_set_is_small(void** state) {
  (void)state;
  assert_true(sizeof(sn_block_factor) + sizeof(sn_block_vector) <= 800 * 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_node_and_cell_has_one_place),
      cmocka_unit_test(a_whole_block_is_solved_as_in_double_precision),
      cmocka_unit_test(missing_cells_keep_the_structure),
      cmocka_unit_test(held_unknowns_keep_the_structure),
      cmocka_unit_test(a_half_may_be_held_altogether),
      cmocka_unit_test(the_working_set_is_small),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
