#include "octree/quadrature.h"

#include <stdio.h>
#include <time.h>

#include "shapes.h"
#include "trials.h"

// ---- Parts of a cell, as tetrahedra that do not overlap: their moments are exact

#define MOST_TETS 20000

typedef struct tet {
  double at[4][3];
} tet;

typedef struct part {
  int count;
  tet tets[MOST_TETS];
} part;

typedef struct half_space {
  double n[3], d;  // n . x <= d
} half_space;

static double height_above(const half_space* h, const double* p) {
  return h->n[0] * p[0] + h->n[1] * p[1] + h->n[2] * p[2] - h->d;
}

static void add_tet(part* to, const double* a, const double* b, const double* c, const double* d) {
  assert_true(to->count < MOST_TETS);
  tet* t = &to->tets[to->count++];
  const double* all[4] = {a, b, c, d};
  for (int i = 0; i < 12; ++i) t->at[i / 3][i % 3] = all[i / 3][i % 3];
}

// Six tetrahedra around the diagonal of the box.
static void add_box(part* to, const double lo[3], const double hi[3]) {
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int k = 0; k < 6; ++k) {
    double p[4][3];
    for (int i = 0; i < 4; ++i) {
      for (int axis = 0; axis < 3; ++axis) p[i][axis] = lo[axis];
      for (int j = 0; j < i; ++j) p[i][order[k][j]] = hi[order[k][j]];
    }
    add_tet(to, p[0], p[1], p[2], p[3]);
  }
}

static void cut_tet_edge(const half_space* h, const double* in, const double* out, double* cut) {
  double a = height_above(h, in), b = height_above(h, out), t = a / (a - b);
  for (int i = 0; i < 3; ++i) cut[i] = in[i] + t * (out[i] - in[i]);
}

// The prism with the triangular ends a and b.
static void add_prism(part* to, double a[3][3], double b[3][3]) {
  add_tet(to, a[0], a[1], a[2], b[2]);
  add_tet(to, a[0], a[1], b[1], b[2]);
  add_tet(to, a[0], b[0], b[1], b[2]);
}

static void clip_tet(part* to, const tet* t, const half_space* h) {
  const double *in[4], *out[4];
  int in_count = 0, out_count = 0;
  double a[3][3], b[3][3];
  for (int i = 0; i < 4; ++i) {
    if (height_above(h, t->at[i]) <= 0) {
      in[in_count++] = t->at[i];
    } else {
      out[out_count++] = t->at[i];
    }
  }
  if (in_count == 4) add_tet(to, in[0], in[1], in[2], in[3]);
  if (in_count == 1) {
    for (int i = 0; i < 3; ++i) cut_tet_edge(h, in[0], out[i], a[i]);
    add_tet(to, in[0], a[0], a[1], a[2]);
  }
  if (in_count == 3) {
    for (int i = 0; i < 3; ++i) {
      memcpy(a[i], in[i], sizeof a[i]);
      cut_tet_edge(h, in[i], out[0], b[i]);
    }
    add_prism(to, a, b);
  }
  if (in_count == 2) {
    memcpy(a[0], in[0], sizeof a[0]);
    memcpy(b[0], in[1], sizeof b[0]);
    for (int i = 0; i < 2; ++i) {
      cut_tet_edge(h, in[0], out[i], a[i + 1]);
      cut_tet_edge(h, in[1], out[i], b[i + 1]);
    }
    add_prism(to, a, b);
  }
}

static void clip(part* p, half_space h) {
  static part clipped;
  clipped.count = 0;
  for (int t = 0; t < p->count; ++t) clip_tet(&clipped, &p->tets[t], &h);
  p->count = clipped.count;
  memcpy(p->tets, clipped.tets, (size_t)clipped.count * sizeof *p->tets);
}

static void add_moments(const part* p, double sign, double m[10]) {
  static const int pair[3][2] = {{0, 1}, {1, 2}, {0, 2}};
  for (int t = 0; t < p->count; ++t) {
    const double(*at)[3] = p->tets[t].at;
    sn_vec3 a = sn_load3(at[0]);
    sn_vec3 ab = sn_sub(sn_load3(at[1]), a), ac = sn_sub(sn_load3(at[2]), a);
    double share = sign * fabs(sn_dot(sn_cross(ab, ac), sn_sub(sn_load3(at[3]), a))) / 48, s[3];
    for (int i = 0; i < 3; ++i) s[i] = at[0][i] + at[1][i] + at[2][i] + at[3][i];
    m[0] += share;
    for (int i = 0; i < 3; ++i) {
      double square = s[i] * s[i], mixed = s[pair[i][0]] * s[pair[i][1]];
      for (int c = 0; c < 4; ++c) {
        square += at[c][i] * at[c][i];
        mixed += at[c][pair[i][0]] * at[c][pair[i][1]];
      }
      m[1 + i] += share * s[i] / 4;
      m[4 + i] += share * square / 20;
      m[7 + i] += share * mixed / 20;
    }
  }
}

// ---- Random parts

static half_space random_half_space(sn_random* random, double reach) {
  half_space h;
  sn_vec3 n;
  do n = shape_random_point(random);
  while (sn_length(n) > 1 || sn_length(n) < 0.1);
  // Now and then along an axis.
  if (sn_random_unit(random) < 0.1) n.x = 0;
  if (sn_random_unit(random) < 0.1) n.y = 0;
  if (n.x == 0 && n.y == 0 && n.z == 0) n.z = 1;
  n = sn_scale(1 / sn_length(n), n);
  sn_store3(h.n, n);
  h.d = reach * sn_random_symmetric(random);
  return h;
}

// 2^-most .. 1, every size as often as any other
static double random_size(sn_random* random, int most) {
  double power = most * sn_random_unit(random), whole = floor(power);
  return ldexp(1 - 0.5 * (power - whole), -(int)whole);
}

static double corner_reach(const half_space* h) {
  return fabs(h->n[0]) + fabs(h->n[1]) + fabs(h->n[2]);
}

// A corner cut off by a plane, down to nearly nothing.
static half_space corner_half_space(sn_random* random) {
  half_space h = random_half_space(random, 1);
  double reach = corner_reach(&h);
  h.d = -reach + 2 * reach * random_size(random, 17);
  return h;
}

// The other side of a slab.
static half_space turned(half_space h, double thickness) {
  return (half_space){{-h.n[0], -h.n[1], -h.n[2]}, thickness - h.d};
}

static void cut_slab(part* p, sn_random* random) {
  half_space h = random_half_space(random, 1.7);
  clip(p, h);
  clip(p, turned(h, random_size(random, 24)));
}

// A ball as what is below many of its tangent planes.
static void cut_ball(part* p, sn_random* random) {
  sn_vec3 centre = sn_scale(1.5, shape_random_point(random));
  double radius = 0.3 + 2 * sn_random_unit(random);
  for (int k = 0; k < 7; ++k) {
    half_space h = random_half_space(random, 0);
    h.d = sn_dot(sn_load3(h.n), centre) + radius;
    clip(p, h);
  }
}

// Some of the boxes that random planes along the axes divide the cell into; each may be cut once more, or
// all to what they have in common with a thin slab.
static void add_boxes(part* p, sn_random* random, bool flat, double m[10]) {
  double at[3][4];
  double size = sn_random_unit(random) < 0.5 ? 1 : random_size(random, 10);
  for (int i = 0; i < 3; ++i) {
    double a = sn_random_symmetric(random), b = sn_random_symmetric(random);
    if (size < 1) a = -1 + size * fabs(a), b = 1 - size * fabs(b);  // small boxes along the sides
    at[i][0] = -1;
    at[i][1] = fmin(a, b);
    at[i][2] = fmax(a, b);
    at[i][3] = 1;
  }
  double chance = sn_random_unit(random);
  half_space face = random_half_space(random, 1), back = turned(face, random_size(random, 24));
  for (int k = 0; k < 27; ++k) {
    const int at_k[3] = {k % 3, k / 3 % 3, k / 9};
    if (size < 1 && (at_k[0] == 1 || at_k[1] == 1 || at_k[2] == 1)) continue;
    if (sn_random_unit(random) > chance) continue;
    double lo[3], hi[3];
    for (int i = 0; i < 3; ++i) {
      lo[i] = at[i][at_k[i]];
      hi[i] = at[i][at_k[i] + 1];
    }
    p->count = 0;
    add_box(p, lo, hi);
    if (flat) {
      clip(p, face);
      clip(p, back);
    } else if (sn_random_unit(random) < 0.3) {
      clip(p, random_half_space(random, 1.2));
    }
    add_moments(p, 1, m);
  }
}

enum { PLANE, CORNER, TWO_PLANES, WEDGE, SLAB, BALL, BOXES, FLAKES, NOTCHED, KINDS };

static const char* const kind_names[KINDS] = {"plane", "corner", "two planes", "wedge",  "slab",
                                              "ball",  "boxes",  "flakes",     "notched"};

// Moments of a random part of a kind. Parts that are empty are not made.
static void make_part(int kind, sn_random* random, double m[10]) {
  static part p;
  static const double lo[3] = {-1, -1, -1}, hi[3] = {1, 1, 1};
  do {
    for (int k = 0; k < 10; ++k) m[k] = 0;
    p.count = 0;
    add_box(&p, lo, hi);
    if (kind == PLANE) clip(&p, random_half_space(random, 1.7));
    if (kind == CORNER) clip(&p, corner_half_space(random));
    if (kind == TWO_PLANES || kind == WEDGE) clip(&p, random_half_space(random, 1));
    if (kind == TWO_PLANES || kind == WEDGE) clip(&p, random_half_space(random, 1));
    if (kind == WEDGE) clip(&p, random_half_space(random, 1));
    if (kind == SLAB) cut_slab(&p, random);
    if (kind == BALL) cut_ball(&p, random);
    if (kind == BOXES || kind == FLAKES) {
      add_boxes(&p, random, kind == FLAKES, m);
    } else if (kind == NOTCHED) {
      add_moments(&p, 1, m);
      for (int k = 0; k < 2; ++k) clip(&p, random_half_space(random, 1.2));
      add_moments(&p, -1, m);
    } else {
      add_moments(&p, 1, m);
    }
  } while (m[0] < 1e-10);
}

// ---- Rules

static double rule_error(const sn_rule* rule, const double m[10]) {
  double own[10], most = 0;
  sn_rule_moments(rule, own);
  for (int k = 0; k < 10; ++k) most = fmax(most, fabs(own[k] - m[k]));
  return most;
}

static void assert_rule(const sn_rule* rule, const double m[10], const char* what) {
  double error = rule_error(rule, m);
  if (!(error <= 1e-12)) fail_msg("%s of share %g: a moment is off by %g", what, m[0], error);
  assert_true(rule->count <= SN_RULE_POINTS);
  for (int i = 0; i < rule->count; ++i) {
    assert_true(rule->weights[i] > 0);
    for (int k = 0; k < 3; ++k) assert_true(fabs(rule->points[i][k]) <= 1);
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// What there is to count of some rules.
typedef struct tally {
  int count, equal, more;
  double time;
} tally;

static void try_part(const double m[10], const char* what, tally* t) {
  sn_rule rule;
  double start = seconds(), low = 1, high = 0;
  bool exact = sn_rule_from_moments(m, &rule);
  t->time += seconds() - start;
  if (!exact) fail_msg("%s %d of share %g has no rule", what, t->count, m[0]);
  assert_rule(&rule, m, what);
  for (int i = 0; i < rule.count; ++i) {
    low = fmin(low, rule.weights[i]);
    high = fmax(high, rule.weights[i]);
  }
  t->count++;
  t->more += rule.count > 4;
  t->equal += rule.count == 4 && high < low * (1 + 1e-9);
}

static void every_part_of_a_cell_has_a_rule(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(21);
  tally all = {0};
  for (int kind = 0; kind < KINDS; ++kind) {
    tally t = {0};
    while (t.count < trials(12500)) {
      double m[10];
      make_part(kind, &random, m);
      try_part(m, kind_names[kind], &t);
    }
    print_message(
        "%-11s equal weights %5d, other weights %4d, more points %4d of %d; %.1f us each\n",
        kind_names[kind], t.equal, t.count - t.equal - t.more, t.more, t.count,
        1e6 * t.time / t.count);
    // Convex parts.
    if (kind <= BALL) assert_int_equal(t.equal, t.count);
    all.count += t.count;
    all.more += t.more;
  }
  print_message("%d of %d cells have more than four points\n", all.more, all.count);
}

// ---- Rules known beforehand, and none

static void a_full_cell_has_the_symmetric_rule(void** unused) {
  (void)unused;
  sn_rule rule;
  double a = sqrt(2.0 / 3), b = sqrt(1.0 / 3);
  const double expected[4][3] = {{a, b, 0}, {-a, b, 0}, {0, -b, a}, {0, -b, -a}};
  assert_true(sn_rule_from_moments(sn_full_moments, &rule));
  assert_rule(&rule, sn_full_moments, "full");
  assert_int_equal(rule.count, 4);
  for (int i = 0; i < 4; ++i) {
    assert_true(rule.weights[i] == 0.25);
    for (int k = 0; k < 3; ++k) assert_true(fabs(rule.points[i][k] - expected[i][k]) < 1e-15);
  }
}

static void an_empty_cell_has_no_points(void** unused) {
  (void)unused;
  sn_rule rule;
  double m[10] = {0};
  assert_true(sn_rule_from_moments(m, &rule));
  assert_int_equal(rule.count, 0);
  for (int k = 0; k < 10; ++k) m[k] = k % 2 ? 3e-16 : -3e-16;
  assert_true(sn_rule_from_moments(m, &rule));
  assert_int_equal(rule.count, 0);
}

// Moments that no part has: the rule is not exact, but it is one.
static void impossible_moments_are_told_and_have_the_nearest_rule(void** unused) {
  (void)unused;
  const double cases[][10] = {{0.5, 0.6, 0, 0, 0.2, 0.2, 0.2, 0, 0, 0},   // mean outside
                              {0.5, 0, 0, 0, 0.6, 0.2, 0.2, 0, 0, 0},     // too wide
                              {0.5, 0.2, 0, 0, 0.01, 0.2, 0.2, 0, 0, 0},  // negative variance
                              {0.5, 0, 0, 0, 0.2, 0.2, 0.2, 0.3, 0, 0},   // not definite
                              {-0.1, 0, 0, 0, 0.1, 0.1, 0.1, 0, 0, 0}};   // less than nothing
  for (int c = 0; c < 5; ++c) {
    sn_rule rule;
    assert_false(sn_rule_from_moments(cases[c], &rule));
    for (int i = 0; i < rule.count; ++i) {
      assert_true(rule.weights[i] > 0);
      for (int k = 0; k < 3; ++k) assert_true(fabs(rule.points[i][k]) <= 1);
    }
  }
}

// ---- Limits of parts

static double random_coordinate(sn_random* random) {
  double choice = sn_random_unit(random);
  return choice < 0.25 ? -1 : choice < 0.5 ? 1 : sn_random_symmetric(random);
}

// A few points instead of a part: covariances of every rank, and points on sides, edges and corners. No part
// of a cell is as flat as these; if one of them has no exact rule, it has one that is nearly so.
static void sets_of_points_have_rules_too(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(22);
  int more = 0, inexact = 0, count = trials(20000);
  for (int k = 0; k < count; ++k) {
    sn_rule points = {.count = 1 + k % 10}, rule;
    double m[10], share = random_size(&random, k % 40);
    bool flat = sn_random_unit(&random) < 0.3;
    for (int i = 0; i < points.count; ++i) {
      points.weights[i] = share * sn_random_unit(&random) / points.count;
      for (int a = 0; a < 3; ++a) points.points[i][a] = random_coordinate(&random);
      // in a plane through the cell
      if (flat) points.points[i][2] = 0.5 * (points.points[i][0] - points.points[i][1]);
    }
    sn_rule_moments(&points, m);
    if (sn_rule_from_moments(m, &rule)) {
      assert_rule(&rule, m, "points");
    } else {
      assert_true(rule_error(&rule, m) < 1e-7 * share);
      ++inexact;
    }
    more += rule.count > 4;
  }
  print_message("%d sets of points, more than four points %d, inexact %d\n", count, more, inexact);
  assert_true(inexact < count / 500);
}

// Moments from triangles are rounded, in proportion to the cell and not to the part.
static void rounding_does_not_matter(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(23);
  for (int k = 0; k < trials(8000); ++k) {
    double m[10];
    sn_rule rule;
    make_part(k % KINDS, &random, m);
    for (int i = 0; i < 10; ++i) m[i] += 1e-15 * sn_random_symmetric(&random);
    if (!sn_rule_from_moments(m, &rule)) fail_msg("part %d of share %g has no rule", k, m[0]);
    assert_rule(&rule, m, "rounded");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_part_of_a_cell_has_a_rule),
      cmocka_unit_test(a_full_cell_has_the_symmetric_rule),
      cmocka_unit_test(an_empty_cell_has_no_points),
      cmocka_unit_test(impossible_moments_are_told_and_have_the_nearest_rule),
      cmocka_unit_test(sets_of_points_have_rules_too),
      cmocka_unit_test(rounding_does_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
