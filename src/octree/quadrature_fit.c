// Non-negative least squares after Lawson and Hanson 1974, over all points of the cell instead of a list of
// candidates: the point that enters next is where the residual, a polynomial of degree 2, is largest in the
// cell, which can be found exactly (docs/theory/quadrature.md, section 4).
#include "octree/quadrature_fit.h"

#include <math.h>

#define MOST_ENTERED 400
// Relative to moments of order 1: no better than rounding.
#define RESIDUAL_FLOOR 2e-16

typedef struct fit {
  const double* target;
  sn_rule rule;
  double columns[SN_RULE_POINTS][SN_MOMENT_COUNT];  // monomials at the points
  double residual[SN_MOMENT_COUNT];
} fit;

void sn_monomials(const double x[3], double values[SN_MOMENT_COUNT]) {
  const double all[SN_MOMENT_COUNT] = {1,           x[0],        x[1],        x[2],
                                       x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1],
                                       x[1] * x[2], x[0] * x[2]};
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) values[k] = all[k];
}

static double dot(const double* a, const double* b) {
  double sum = 0;
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) sum += a[k] * b[k];
  return sum;
}

// ---- The largest value of a polynomial of degree 2 in the cell

// Gauss with the largest pivots; false if singular.
static bool solve(int n, double a[3][4]) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (fabs(a[i][k]) > fabs(a[best][k])) best = i;
    }
    if (a[best][k] == 0) return false;
    for (int j = 0; j <= n; ++j) {
      double swap = a[k][j];
      a[k][j] = a[best][j];
      a[best][j] = swap;
    }
    for (int i = 0; i < n; ++i) {
      double factor = a[i][k] / a[k][k];
      for (int j = k; i != k && j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  for (int k = 0; k < n; ++k) a[k][n] /= a[k][k];
  return true;
}

// Where the gradient of c vanishes along the axes on which x is 0 at first, the others being held at -1 or
// 1. False if that is nowhere, or outside the cell.
static bool find_stationary(const double* c, double x[3]) {
  static const int mixed[3][3] = {{4, 7, 9}, {7, 5, 8}, {9, 8, 6}};
  int open[3], n = 0;
  double a[3][4];
  for (int i = 0; i < 3; ++i) {
    if (x[i] == 0) open[n++] = i;
  }
  for (int r = 0; r < n; ++r) {
    int i = open[r];
    a[r][n] = -c[1 + i];
    for (int j = 0; j < 3; ++j) {
      if (j != i) a[r][n] -= c[mixed[i][j]] * x[j];
    }
    for (int s = 0; s < n; ++s) a[r][s] = (s == r ? 2 : 1) * c[mixed[i][open[s]]];
  }
  if (!solve(n, a)) return false;
  for (int r = 0; r < n; ++r) {
    if (!(fabs(a[r][n]) <= 1)) return false;
    x[open[r]] = a[r][n];
  }
  return true;
}

// On the inside of the cell, of one of its faces, of its edges, or at a corner: 27 cases, in each of which
// the gradient along it vanishes.
static double find_largest(const double* c, double best_x[3]) {
  double best = -INFINITY;
  for (int k = 0; k < 27; ++k) {
    int i0 = k % 3, i1 = k / 3 % 3, i2 = k / 9;
    double x[3] = {i0 - 1, i1 - 1, i2 - 1}, values[SN_MOMENT_COUNT];
    if (!find_stationary(c, x)) continue;
    sn_monomials(x, values);
    double value = dot(c, values);
    if (!(value > best)) continue;
    best = value;
    for (int i = 0; i < 3; ++i) best_x[i] = x[i];
  }
  return best;
}

// ---- Least squares

// Weights of the first `count` columns that leave the least residual, by Householder reflections. False
// if the columns depend on one another.
static bool solve_least_squares(const fit* f, int count, double weights[SN_RULE_POINTS]) {
  double q[SN_RULE_POINTS + 1][SN_MOMENT_COUNT], diagonal[SN_RULE_POINTS];
  for (int j = 0; j <= count; ++j) {
    for (int k = 0; k < SN_MOMENT_COUNT; ++k) q[j][k] = j < count ? f->columns[j][k] : f->target[k];
  }
  for (int j = 0; j < count; ++j) {
    double square = 0;
    for (int k = j; k < SN_MOMENT_COUNT; ++k) square += q[j][k] * q[j][k];
    diagonal[j] = q[j][j] > 0 ? -sqrt(square) : sqrt(square);
    if (fabs(diagonal[j]) < 1e-14) return false;
    q[j][j] -= diagonal[j];
    double scale = -diagonal[j] * q[j][j];  // half the square of the vector to reflect along
    for (int c = j + 1; c <= count; ++c) {
      double along = 0;
      for (int k = j; k < SN_MOMENT_COUNT; ++k) along += q[j][k] * q[c][k];
      for (int k = j; k < SN_MOMENT_COUNT; ++k) q[c][k] -= along / scale * q[j][k];
    }
  }
  for (int j = count - 1; j >= 0; --j) {
    double sum = q[count][j];
    for (int c = j + 1; c < count; ++c) sum -= q[c][j] * weights[c];
    weights[j] = sum / diagonal[j];
  }
  return true;
}

static void drop_column(fit* f, int index) {
  int last = --f->rule.count;
  f->rule.weights[index] = f->rule.weights[last];
  for (int i = 0; i < 3; ++i) f->rule.points[index][i] = f->rule.points[last][i];
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) f->columns[index][k] = f->columns[last][k];
}

// From the present weights towards those of least squares, as far as all stay positive; those that reach
// zero leave, until nothing is in the way.
static bool improve_weights(fit* f) {
  sn_rule* rule = &f->rule;
  while (rule->count > 0) {
    double aim[SN_RULE_POINTS], step = 1;
    if (!solve_least_squares(f, rule->count, aim)) return false;
    int first = -1;
    for (int j = 0; j < rule->count; ++j) {
      if (aim[j] > 0) continue;
      double until = rule->weights[j] / (rule->weights[j] - aim[j]);
      if (first >= 0 && until >= step) continue;
      step = until;
      first = j;
    }
    for (int j = 0; j < rule->count; ++j) {
      rule->weights[j] += step * (aim[j] - rule->weights[j]);
      if (first < 0) rule->weights[j] = aim[j];
    }
    if (first < 0) return true;
    drop_column(f, first);
  }
  return true;
}

static double find_residual(fit* f) {
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) {
    f->residual[k] = f->target[k];
    for (int j = 0; j < f->rule.count; ++j) {
      f->residual[k] -= f->rule.weights[j] * f->columns[j][k];
    }
  }
  return sqrt(dot(f->residual, f->residual));
}

static void enter_point(fit* f, const double x[3]) {
  int index = f->rule.count++;
  f->rule.weights[index] = 0;
  for (int i = 0; i < 3; ++i) f->rule.points[index][i] = x[i];
  sn_monomials(x, f->columns[index]);
}

void sn_rule_fit(const double moments[SN_MOMENT_COUNT], sn_rule* rule) {
  fit f = {.target = moments};
  double size = find_residual(&f), last = INFINITY, x[3] = {0};
  *rule = f.rule;
  for (int k = 0; k < MOST_ENTERED && size < last && size > RESIDUAL_FLOOR; ++k) {
    if (f.rule.count == SN_RULE_POINTS || !(find_largest(f.residual, x) > 0)) return;
    enter_point(&f, x);
    if (!improve_weights(&f)) return;
    last = size;
    size = find_residual(&f);
    if (size < last) *rule = f.rule;
  }
}
