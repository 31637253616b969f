// Rules with four points are orthonormal bases in a cone (docs/theory/quadrature.md, sections 2 and 3). Let
// c be the mean of the moments over their first, W, and L L^T their covariance. Four columns (q, v), q
// a number and v a vector, that are orthonormal give the rule
//
//   weights W q^2,  points c + L v / q
//
// which has these moments, and every rule with four points comes about like this. A point is in the cell if
// (q, v) is in a cone: 6 linear inequalities. Bases are turned into the cone by Levenberg and Marquardt's
// method on what the inequalities lack. As quaternions, the columns p h r for unit p and r are all bases
// there are, up to order and sign, and with r = 1/p all that have equal weights.
#include "octree/quadrature.h"

#include <math.h>

#include "math/random.h"
#include "math/svd3.h"
#include "octree/quadrature_fit.h"

// Moments may be missed by this much.
#define TOLERANCE 5e-13
// Covariance below this, over W, is rounding.
#define NOISE 2e-14
// An emptier cell has no points.
#define LEAST_SHARE 1e-14

#define POINTS 4
#define SIDES 6
#define STARTS 32
#define TRIED_STARTS 4
#define MOST_STEPS 40

const double sn_full_moments[SN_MOMENT_COUNT] = {1, 0, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0, 0, 0};

typedef struct quaternion {
  double at[4];  // real part first
} quaternion;

// Moments as mean and covariance.
typedef struct spread {
  double share, mean[3];
  double root[3][3];       // L
  double sides[SIDES][3];  // s: a point is in the cell if s . v <= q, for every side
} spread;

typedef struct basis {
  quaternion left, right;     // p and r
  quaternion column[POINTS];  // p h r, with positive real parts wherever it is in the cone
  double lack;                // sum of squares of what the sides lack
} basis;

// How bases are sought.
typedef struct search {
  const spread* shape;
  double margin;  // points stay away from the sides by this share of the mean's distance
  bool equal;     // weights
} search;

static const quaternion regular[POINTS] = {{{0.5, 0.5, 0.5, 0.5}},
                                           {{0.5, 0.5, -0.5, -0.5}},
                                           {{0.5, -0.5, 0.5, -0.5}},
                                           {{0.5, -0.5, -0.5, 0.5}}};

// ---- Quaternions

static quaternion multiply(const quaternion* p, const quaternion* q) {
  const double *a = p->at, *b = q->at;
  return (quaternion){{a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                       a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                       a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                       a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]}};
}

static double norm_squared(const quaternion* q) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += q->at[i] * q->at[i];
  return sum;
}

static quaternion normalize(quaternion q) {
  double length = sqrt(norm_squared(&q));
  for (int i = 0; i < 4; ++i) q.at[i] /= length;
  return q;
}

static quaternion conjugate(quaternion q) {
  return (quaternion){{q.at[0], -q.at[1], -q.at[2], -q.at[3]}};
}

// ---- Bases

static double side_lack(const search* s, int side, const quaternion* column) {
  const double *n = s->shape->sides[side], *f = column->at;
  return n[0] * f[1] + n[1] * f[2] + n[2] * f[3] - (1 - s->margin) * f[0];
}

static basis make_basis(const search* s, quaternion left, quaternion right) {
  basis f = {.left = left, .right = right};
  for (int i = 0; i < POINTS; ++i) {
    quaternion half = multiply(&left, &regular[i]);
    f.column[i] = multiply(&half, &right);
    if (f.column[i].at[0] < 0) {
      for (int k = 0; k < 4; ++k) f.column[i].at[k] = -f.column[i].at[k];
    }
    for (int j = 0; j < SIDES; ++j) {
      double lack = side_lack(s, j, &f.column[i]);
      if (lack > 0) f.lack += lack * lack;
    }
  }
  return f;
}

// The slope of n . (a f + f b) by a and b, or with b = -a by a alone; n = (n0, n1, n2, n3).
static void find_slope(const search* s, const double n[4], const double f[4], double out[6]) {
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3 + 1, k = (i + 2) % 3 + 1;
    double turn = f[j] * n[k] - f[k] * n[j], slide = f[0] * n[i + 1] - n[0] * f[i + 1];
    out[i] = s->equal ? 2 * turn : slide + turn;
    out[i + 3] = slide - turn;
  }
}

// Solve the damped normal equations by Cholesky's method; the damping makes them definite.
static void solve_damped(int n, double a[6][6], double damping, double x[6]) {
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      double sum = a[i][j] + (i == j ? damping : 0);
      for (int k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      a[i][j] = i == j ? sqrt(sum > damping ? sum : damping) : sum / a[j][j];
    }
    for (int k = 0; k < j; ++k) x[j] -= a[j][k] * x[k];
    x[j] /= a[j][j];
  }
  for (int j = n - 1; j >= 0; --j) {
    for (int k = j + 1; k < n; ++k) x[j] -= a[k][j] * x[k];
    x[j] /= a[j][j];
  }
}

// What turns the basis towards the cone.
static void find_step(const search* s, const basis* f, double damping, double step[6]) {
  double normal[6][6] = {{0}};
  int n = s->equal ? 3 : 6;
  for (int k = 0; k < 6; ++k) step[k] = 0;
  for (int i = 0; i < POINTS; ++i) {
    for (int j = 0; j < SIDES; ++j) {
      double lack = side_lack(s, j, &f->column[i]), out[6];
      if (!(lack > 0)) continue;
      const double* side = s->shape->sides[j];
      const double row[4] = {s->margin - 1, side[0], side[1], side[2]};
      find_slope(s, row, f->column[i].at, out);
      for (int a = 0; a < n; ++a) {
        step[a] -= out[a] * lack;
        for (int b = 0; b <= a; ++b) normal[a][b] += out[a] * out[b];
      }
    }
  }
  double trace = 1e-30;  // not zero if no turn changes anything
  for (int k = 0; k < n; ++k) trace += normal[k][k];
  solve_damped(n, normal, damping * trace, step);
}

static basis take_step(const search* s, const basis* f, const double step[6]) {
  quaternion left = {{1, step[0], step[1], step[2]}}, right = {{1, step[3], step[4], step[5]}};
  if (s->equal) right = conjugate(left);
  left = multiply(&left, &f->left);
  right = multiply(&f->right, &right);
  return make_basis(s, normalize(left), normalize(right));
}

// Levenberg and Marquardt, until nothing is lacking or nothing helps.
static basis turn_into_cone(const search* s, basis f) {
  double damping = 1e-3;
  for (int k = 0; k < MOST_STEPS && f.lack > 0 && damping < 1e6; ++k) {
    double step[6];
    find_step(s, &f, damping, step);
    basis next = take_step(s, &f, step);
    if (next.lack < f.lack) {
      f = next;
      damping *= 0.2;
    } else {
      damping *= 8;
    }
  }
  return f;
}

// ---- Rules

static void clamp_points(sn_rule* rule) {
  for (int i = 0; i < rule->count; ++i) {
    for (int k = 0; k < 3; ++k) rule->points[i][k] = fmin(fmax(rule->points[i][k], -1), 1);
  }
}

void sn_rule_moments(const sn_rule* rule, double moments[SN_MOMENT_COUNT]) {
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) moments[k] = 0;
  for (int i = 0; i < rule->count; ++i) {
    double values[SN_MOMENT_COUNT];
    sn_monomials(rule->points[i], values);
    for (int k = 0; k < SN_MOMENT_COUNT; ++k) moments[k] += rule->weights[i] * values[k];
  }
}

static bool is_exact(const sn_rule* rule, const double* moments) {
  double own[SN_MOMENT_COUNT];
  sn_rule_moments(rule, own);
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) {
    if (!(fabs(own[k] - moments[k]) <= TOLERANCE)) return false;
  }
  for (int i = 0; i < rule->count; ++i) {
    if (!(rule->weights[i] > 0)) return false;
  }
  return true;
}

// The rule of a basis; exact if the basis is in the cone, or so close to it that its points may be moved
// into the cell.
static bool make_rule(const spread* shape, const basis* f, const double* moments, sn_rule* rule) {
  rule->count = POINTS;
  for (int i = 0; i < POINTS; ++i) {
    const double* q = f->column[i].at;
    rule->weights[i] = shape->share * q[0] * q[0];
    for (int k = 0; k < 3; ++k) {
      const double* root = shape->root[k];
      double away = root[0] * q[1] + root[1] * q[2] + root[2] * q[3];
      rule->points[i][k] = shape->mean[k] + away / q[0];
    }
  }
  clamp_points(rule);
  return is_exact(rule, moments);
}

// Mean and covariance. Rounding may put the mean outside the cell and make the covariance indefinite, the
// more the emptier the cell; what is below the noise is taken for zero.
static spread measure(const double* m) {
  static const int mixed[3][3] = {{4, 7, 9}, {7, 5, 8}, {9, 8, 6}};
  spread s = {.share = m[0]};
  double covariance[9], u[9], v[9], values[3], noise = NOISE / m[0];
  for (int i = 0; i < 3; ++i) s.mean[i] = fmin(fmax(m[1 + i] / m[0], -1), 1);
  for (int i = 0; i < 9; ++i) {
    covariance[i] = m[mixed[i / 3][i % 3]] / m[0] - s.mean[i / 3] * s.mean[i % 3];
  }
  sn_svd3_d(covariance, u, values, v);
  for (int j = 0; j < 3; ++j) {
    double value = 0;
    for (int i = 0; i < 9; ++i) value += v[3 * (i / 3) + j] * covariance[i] * v[3 * (i % 3) + j];
    double root = value > noise ? sqrt(value) : 0;
    for (int i = 0; i < 3; ++i) s.root[i][j] = v[3 * i + j] * root;
  }
  for (int side = 0; side < SIDES; ++side) {
    int axis = side / 2, sign = side % 2 ? 1 : -1;
    double distance = fmax(1 - sign * s.mean[axis], noise);
    for (int j = 0; j < 3; ++j) s.sides[side][j] = sign * s.root[axis][j] / distance;
  }
  return s;
}

// The most promising of fixed starts with equal weights, best first.
static void list_starts(const search* s, basis best[TRIED_STARTS]) {
  sn_random random = sn_random_seeded(1);
  int count = 0;
  for (int k = 0; k < STARTS; ++k) {
    quaternion q;
    do {
      for (int i = 0; i < 4; ++i) q.at[i] = sn_random_symmetric(&random);
    } while (norm_squared(&q) > 1 || norm_squared(&q) < 0.01);
    q = normalize(q);
    basis f = make_basis(s, q, conjugate(q));
    int at = count;
    for (; at > 0 && best[at - 1].lack > f.lack; --at) {
      if (at < TRIED_STARTS) best[at] = best[at - 1];
    }
    if (at < TRIED_STARTS) best[at] = f;
    if (count < TRIED_STARTS) ++count;
  }
}

static bool find_four(const spread* shape, const double* moments, sn_rule* rule) {
  // Aimed at a little more than is wanted, and at just what must be in the end.
  static const search ways[] = {{.margin = 0.1, .equal = true},
                                {.margin = 0.01, .equal = true},
                                {.margin = 0.01},
                                {.margin = 0}};
  basis starts[TRIED_STARTS];
  for (int way = 0; way < 4; ++way) {
    search s = ways[way];
    s.shape = shape;
    if (way == 0) list_starts(&s, starts);
    for (int k = 0; k < TRIED_STARTS; ++k) {
      starts[k] = turn_into_cone(&s, make_basis(&s, starts[k].left, starts[k].right));
      bool wanted = starts[k].lack == 0 || s.margin == 0;
      if (wanted && make_rule(shape, &starts[k], moments, rule)) return true;
    }
  }
  return false;
}

static void make_full_rule(sn_rule* rule) {
  const double a = 0.81649658092772603, b = 0.57735026918962576;  // roots of 2/3 and 1/3
  const double points[POINTS][3] = {{a, b, 0}, {-a, b, 0}, {0, -b, a}, {0, -b, -a}};
  *rule = (sn_rule){.count = POINTS};
  for (int i = 0; i < POINTS; ++i) {
    rule->weights[i] = 0.25;
    for (int k = 0; k < 3; ++k) rule->points[i][k] = points[i][k];
  }
}

bool sn_rule_from_moments(const double moments[SN_MOMENT_COUNT], sn_rule* rule) {
  make_full_rule(rule);
  if (is_exact(rule, moments)) return true;
  *rule = (sn_rule){0};
  if (!(moments[0] > LEAST_SHARE)) return is_exact(rule, moments);
  spread shape = measure(moments);
  if (find_four(&shape, moments, rule)) return true;

  double relative[SN_MOMENT_COUNT];
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) relative[k] = moments[k] / moments[0];
  sn_rule_fit(relative, rule);
  for (int i = 0; i < rule->count; ++i) rule->weights[i] *= moments[0];
  return is_exact(rule, moments);
}
