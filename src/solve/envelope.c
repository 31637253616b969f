#include "solve/envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/vector.h"

#define SMALLEST_PIVOT 1e-7
#define LANES 8
#define NOWHERE UINT32_MAX

static int compare_numbers(const void* a, const void* b) {
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}

// Sort the numbers and keep one of each; returns how many are left.
static uint32_t make_set(uint32_t* numbers, uint32_t count) {
  uint32_t kept = 0;
  qsort(numbers, count, sizeof *numbers, compare_numbers);
  for (uint32_t i = 0; i < count; ++i) {
    if (i == 0 || numbers[i] != numbers[i - 1]) numbers[kept++] = numbers[i];
  }
  return kept;
}

// Neighbours of all nodes: first with repetitions, then as sets, moved together.
static sn_status find_neighbours(const uint32_t* cells, uint32_t cell_count, sn_arena* arena,
                                 sn_envelope* e, sn_error* err) {
  uint32_t nodes = e->node_count, *at, end = 0;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)nodes + 1, &e->starts, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)nodes + 1, &at, err));
  SN_TRY(SN_ARENA_NEW(arena, 64 * (size_t)cell_count + nodes, &e->neighbours, err));
  for (size_t k = 0; k < 8 * (size_t)cell_count; ++k) at[cells[k] + 1] += 8;
  for (uint32_t v = 0; v < nodes; ++v) at[v + 1] += at[v];
  memcpy(e->starts, at, ((size_t)nodes + 1) * sizeof *at);
  for (size_t c = 0; c < cell_count; ++c) {
    for (int i = 0; i < 8; ++i) {
      uint32_t* to = &at[cells[8 * c + (size_t)i]];
      memcpy(e->neighbours + *to, cells + 8 * c, 8 * sizeof *cells);
      *to += 8;
    }
  }
  for (uint32_t v = 0; v < nodes; ++v) {
    uint32_t begin = e->starts[v], count = make_set(e->neighbours + begin, at[v] - begin);
    memmove(e->neighbours + end, e->neighbours + begin, count * sizeof *e->neighbours);
    e->starts[v] = end;
    end += count;
  }
  e->starts[nodes] = end;
  return SN_OK;
}

static uint32_t degree(const sn_envelope* e, uint32_t v) { return e->starts[v + 1] - e->starts[v]; }

// The part of `order` from `begin` on: nodes by their distance from `root`, those of a node with few
// neighbours first. `seen` marks them with `mark`. Returns the end.
static uint32_t go_through(const sn_envelope* e, uint32_t root, uint32_t mark, uint32_t* seen,
                           uint32_t* order, uint32_t begin) {
  uint32_t end = begin;
  seen[root] = mark;
  order[end++] = root;
  for (uint32_t next = begin; next < end; ++next) {
    uint32_t first = end, v = order[next];
    for (uint32_t k = e->starts[v]; k < e->starts[v + 1]; ++k) {
      uint32_t w = e->neighbours[k];
      if (seen[w] == mark) continue;
      seen[w] = mark;
      uint32_t to = end++;
      for (; to > first && degree(e, order[to - 1]) > degree(e, w); --to) order[to] = order[to - 1];
      order[to] = w;
    }
  }
  return end;
}

// Cuthill and McKee's order of each connected part, from a node far away in it.
static sn_status order_nodes(const sn_envelope* e, sn_arena* scratch, uint32_t** order,
                             sn_error* err) {
  uint32_t *seen, end = 0, mark = 0;
  SN_TRY(SN_ARENA_NEW(scratch, e->node_count, order, err));
  SN_TRY(SN_ARENA_NEW(scratch, e->node_count, &seen, err));
  for (uint32_t v = 0; v < e->node_count; ++v) {
    if (seen[v]) continue;
    uint32_t root = v, last = end;
    for (int k = 0; k < 4; ++k) {
      last = go_through(e, root, ++mark, seen, *order, end);
      root = (*order)[last - 1];
    }
    end = last;
  }
  return SN_OK;
}

// Greedily: a node takes the first colour that no neighbour of a neighbour has.
static sn_status colour_nodes(sn_envelope* e, sn_arena* arena, sn_arena* scratch, sn_error* err) {
  uint32_t* taken;
  SN_TRY(SN_ARENA_NEW(arena, e->node_count, &e->colours, err));
  SN_TRY(SN_ARENA_NEW(scratch, (size_t)e->node_count + 1, &taken, err));
  for (uint32_t v = 0; v < e->node_count; ++v) e->colours[v] = NOWHERE;
  for (uint32_t v = 0; v < e->node_count; ++v) {
    for (uint32_t k = e->starts[v]; k < e->starts[v + 1]; ++k) {
      uint32_t w = e->neighbours[k];
      for (uint32_t l = e->starts[w]; l < e->starts[w + 1]; ++l) {
        uint32_t colour = e->colours[e->neighbours[l]];
        if (colour != NOWHERE) taken[colour] = v + 1;
      }
    }
    uint32_t colour = 0;
    while (taken[colour] == v + 1) ++colour;
    e->colours[v] = colour;
    if (colour >= e->colour_count) e->colour_count = colour + 1;
  }
  return SN_OK;
}

// First column of the rows of node v: that of the neighbour which comes first.
static uint32_t first_column(const sn_envelope* e, uint32_t v, uint32_t own) {
  uint32_t first = own;
  for (uint32_t k = e->starts[v]; k < e->starts[v + 1]; ++k) {
    for (uint32_t i = 0; i < 3; ++i) {
      int32_t row = e->rows[3 * (size_t)e->neighbours[k] + i];
      if (row >= 0 && (uint32_t)row < first) first = (uint32_t)row;
    }
  }
  return first;
}

static sn_status lay_out(const uint8_t* held, const uint32_t* order, sn_arena* arena,
                         sn_envelope* e, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)e->node_count, &e->rows, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)e->node_count, &e->ends, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)e->node_count, &e->firsts, err));
  SN_TRY(SN_ARENA_NEW(arena, (size_t)e->node_count + 1, &e->groups, err));
  // From the end: the reversed order has the same band and a smaller envelope.
  for (uint32_t k = e->node_count; k-- > 0;) {
    int before = e->n;
    for (size_t i = 3 * (size_t)order[k], end = i + 3; i < end; ++i) {
      e->rows[i] = sn_is_held(held, i) ? -1 : e->n++;
    }
    if (e->n > before) e->groups[e->group_count++] = (uint32_t)before;
  }
  e->groups[e->group_count] = (uint32_t)e->n;
  size_t at = 0;
  for (uint32_t k = e->node_count; k-- > 0;) {
    for (size_t i = 3 * (size_t)order[k], end = i + 3; i < end; ++i) {
      if (e->rows[i] < 0) continue;
      uint32_t row = (uint32_t)e->rows[i], first = first_column(e, order[k], row);
      double width = row - first + 1;
      e->firsts[row] = first;
      e->ends[row] = at + (row - first);
      at += row - first + 1;
      e->cost += width * width;
    }
  }
  return SN_OK;
}

sn_status sn_envelope_plan(const uint32_t* cells, uint32_t cell_count, uint32_t node_count,
                           const uint8_t* held, sn_arena* arena, sn_arena* scratch,
                           sn_envelope* envelope, sn_error* err) {
  uint32_t* order;
  *envelope = (sn_envelope){.node_count = node_count};
  SN_TRY(find_neighbours(cells, cell_count, arena, envelope, err));
  SN_TRY(order_nodes(envelope, scratch, &order, err));
  SN_TRY(colour_nodes(envelope, arena, scratch, err));
  return lay_out(held, order, arena, envelope, err);
}

size_t sn_envelope_value_count(const sn_envelope* envelope) {
  return envelope->n > 0 ? envelope->ends[envelope->n - 1] + 1 : 0;
}

sn_status sn_envelope_create(sn_envelope* envelope, sn_arena* arena, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, sn_envelope_value_count(envelope), &envelope->values, err));
  return SN_ARENA_NEW(arena, (size_t)envelope->n, &envelope->solution, err);
}

void sn_envelope_clear(sn_envelope* envelope) {
  memset(envelope->values, 0, sn_envelope_value_count(envelope) * sizeof *envelope->values);
}

void sn_envelope_pick(const sn_envelope* envelope, uint32_t colour, int axis, float* x) {
  for (size_t v = 0; v < envelope->node_count; ++v) {
    for (int i = 0; i < 3; ++i) {
      bool on = envelope->colours[v] == colour && i == axis;
      x[3 * v + (size_t)i] = on && envelope->rows[3 * v + (size_t)i] >= 0 ? 1 : 0;
    }
  }
}

void sn_envelope_take(sn_envelope* envelope, uint32_t colour, int axis, const float* y) {
  for (size_t v = 0; v < envelope->node_count; ++v) {
    for (uint32_t k = envelope->starts[v]; k < envelope->starts[v + 1]; ++k) {
      uint32_t w = envelope->neighbours[k];
      if (envelope->colours[w] != colour) continue;
      int32_t column = envelope->rows[3 * (size_t)w + (size_t)axis];
      for (size_t i = 3 * v; i < 3 * v + 3 && column >= 0; ++i) {
        int32_t row = envelope->rows[i];
        if (row >= column) envelope->values[envelope->ends[row] - (size_t)(row - column)] = y[i];
      }
    }
  }
}

// In eight sums, so that it becomes vector code with the same bits everywhere.
static double dot(size_t n, const double* a, const double* b) {
  double sums[LANES] = {0}, rest = 0;
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (int l = 0; l < LANES; ++l) sums[l] += a[i + (size_t)l] * b[i + (size_t)l];
  }
  for (; i < n; ++i) rest += a[i] * b[i];
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) +
         rest;
}

// Two numbers at a time, on every processor: the same bits.
typedef double pair __attribute__((vector_size(16)));

static inline pair load_pair(const double* at) {
  pair value;
  memcpy(&value, at, sizeof value);
  return value;
}

// sums[i][j] = a_i . b_j. Nine at once, so that numbers are used three times when they are at hand.
static void multiply_rows(size_t n, const double* const a[3], const double* const b[3],
                          double sums[3][3]) {
  pair s[3][3] = {{{0}}};
  size_t k = 0;
  for (; k + 2 <= n; k += 2) {
    pair x[3], y[3];
    for (int i = 0; i < 3; ++i) x[i] = load_pair(a[i] + k);
    for (int i = 0; i < 3; ++i) y[i] = load_pair(b[i] + k);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) s[i][j] += x[i] * y[j];
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      sums[i][j] = s[i][j][0] + s[i][j][1];
      if (k < n) sums[i][j] += a[i][k] * b[j][k];
    }
  }
}

// The entry of column `column` of a row, which may be left of the diagonal.
static double* entry_at(const sn_envelope* e, uint32_t row, uint32_t column) {
  return e->values + e->ends[row] - (row - column);
}

// Rows of node `I` in the columns of node `J`, not after it: what is left of these is done.
static void factor_block(const sn_envelope* e, uint32_t I, uint32_t J) {
  uint32_t i0 = e->groups[I], j0 = e->groups[J], rows = e->groups[I + 1] - i0;
  uint32_t columns = e->groups[J + 1] - j0;
  uint32_t from = e->firsts[i0] > e->firsts[j0] ? e->firsts[i0] : e->firsts[j0];
  const double *a[3], *b[3];
  double sums[3][3];
  for (uint32_t k = 0; k < 3; ++k) {
    a[k] = entry_at(e, i0 + (k < rows ? k : 0), from);
    b[k] = entry_at(e, j0 + (k < columns ? k : 0), from);
  }
  multiply_rows(j0 - from, a, b, sums);
  for (uint32_t r = 0; r < rows; ++r) {
    double* row = entry_at(e, i0 + r, j0);
    for (uint32_t c = 0; c < columns && j0 + c <= i0 + r; ++c) {
      const double* other = entry_at(e, j0 + c, j0);
      double left = row[c] - sums[r][c];
      for (uint32_t k = 0; k < c; ++k) left -= row[k] * other[k];
      if (j0 + c < i0 + r) {
        row[c] = left / other[c];
      } else {
        double entry = row[c] > 0 ? row[c] : 1;
        row[c] = sqrt(left > SMALLEST_PIVOT * entry ? left : entry);
      }
    }
  }
}

void sn_envelope_factor(sn_envelope* envelope) {
  uint32_t J = 0;
  for (uint32_t I = 0; I < envelope->group_count; ++I) {
    uint32_t first = envelope->firsts[envelope->groups[I]];
    for (J = I; envelope->groups[J] > first; --J) {
    }
    for (; J <= I; ++J) factor_block(envelope, I, J);
  }
}

void sn_envelope_solve(const sn_envelope* envelope, const float* b, float* x) {
  double* y = envelope->solution;
  size_t n = (size_t)envelope->n, numbers = 3 * (size_t)envelope->node_count;
  for (size_t i = 0; i < numbers; ++i) {
    if (envelope->rows[i] >= 0) y[envelope->rows[i]] = b[i];
  }
  for (size_t i = 0; i < n; ++i) {
    size_t width = i - envelope->firsts[i];
    const double* row = envelope->values + envelope->ends[i] - width;
    y[i] = (y[i] - dot(width, row, y + envelope->firsts[i])) / row[width];
  }
  for (size_t i = n; i-- > 0;) {
    size_t width = i - envelope->firsts[i];
    const double* row = envelope->values + envelope->ends[i] - width;
    double value = y[i] / row[width], *above = y + envelope->firsts[i];
    y[i] = value;
    for (size_t j = 0; j < width; ++j) above[j] -= row[j] * value;
  }
  for (size_t i = 0; i < numbers; ++i)
    x[i] = envelope->rows[i] < 0 ? 0 : (float)y[envelope->rows[i]];
}
