// Triangles that move against solids: what is found lies inside, and nothing that does is missed.
#include "geometry/sweep.h"

#include "geometry/prepared.h"
#include "math/random.h"
#include "shapes.h"

static sn_vec3 place_at(const sn_vec3 c[3], const double w[3]) {
  return sn_madd(sn_madd(sn_scale(w[0], c[0]), w[1], c[1]), w[2], c[2]);
}

static double depth_at(const sn_solid* solid, sn_vec3 p) {
  sn_solid_hit hit;
  assert_true(sn_solid_nearest(solid, p, INFINITY, &hit));
  return -hit.distance;
}

// The deepest of many places.
static double sampled_depth(const sn_solid* solid, const sn_vec3 c[3]) {
  double most = -INFINITY;
  for (int i = 0; i <= 40; ++i) {
    for (int k = 0; k <= 40 - i; ++k) {
      double w[3] = {i / 40.0, k / 40.0, (40 - i - k) / 40.0};
      most = fmax(most, depth_at(solid, place_at(c, w)));
    }
  }
  return most;
}

static void the_deepest_place_is_found(void** unused) {
  (void)unused;
  const sn_solid solids[] = {
      {.kind = SN_SOLID_SPHERE, .radius = 0.3},
      {.kind = SN_SOLID_CAPSULE, .from = {-0.5, 0, 0}, .to = {0.4, 0.2, 0}, .radius = 0.15},
      {.kind = SN_SOLID_BOX, .half = {0.4, 0.1, 0.3}}};
  sn_random random = sn_random_seeded(5);
  int inside = 0;
  for (int k = 0; k < 600; ++k) {
    const sn_solid* solid = &solids[k % 3];
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) c[i] = shape_random_point(&random);
    double w[3], depth = sampled_depth(solid, c);
    bool found = sn_solid_deepest(solid, c, 0.01, 0.02, w);
    if (depth > 0.021) assert_true(found);
    if (!found) continue;
    inside++;
    double at = depth_at(solid, place_at(c, w));
    assert_true(at > 0.02 && at > 0.74 * depth);
    assert_true(fabs(w[0] + w[1] + w[2] - 1) < 1e-12);
  }
  print_message("%d of 600 triangles are inside\n", inside);
  assert_true(inside > 100);
}

// A ball goes through the middle of a triangle whose corners stay far away, from one state to the next.
static void a_ball_between_the_corners_is_seen_on_its_way(void** unused) {
  (void)unused;
  const sn_solid ball = {.kind = SN_SOLID_SPHERE, .radius = 0.05};
  sn_sweep_ways ways = {.from = {{-1, -1, 0.4}, {1, -1, 0.4}, {0, 1, 0.4}}};
  double w[3];
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) {
      ways.round[i] = round;
      ways.by[i] = sn_sub(ways.from[i], sn_v3(0, 0, 0.4));
      ways.to[i] = sn_sub(ways.from[i], sn_v3(0, 0, 0.8));
    }
    assert_false(sn_solid_deepest(&ball, ways.from, 0.01, 0, w));
    assert_false(sn_solid_deepest(&ball, ways.to, 0.01, 0, w));
    assert_true(sn_solid_sweep(&ball, &ways, 0.02, 0.01, NULL, NULL, w));
    sn_vec3 place = place_at(ways.from, w);
    assert_true(hypot(place.x, place.y) < 0.05);
    for (int i = 0; i < 3; ++i) {
      ways.by[i] = ways.from[i];
      ways.to[i] = sn_add(ways.from[i], sn_v3(0, 0, 0.8));
    }
    assert_false(sn_solid_sweep(&ball, &ways, 0.02, 0.01, NULL, NULL, w));
  }
}

// A small triangle that slides over a quarter or nearly half of a cylinder: the straight way leads through it.
static void what_goes_round_does_not_come_in(void** unused) {
  (void)unused;
  const sn_solid rod = {
      .kind = SN_SOLID_CAPSULE, .from = {0, 0, -1}, .to = {0, 0, 1}, .radius = 0.3};
  for (int turn = 90; turn <= 170; turn += 40) {
    sn_sweep_ways ways = {0};
    for (int i = 0; i < 3; ++i) {
      double lag = i == 2 ? 0.1 : 0, end = turn * (3.14159265358979 / 180);
      double z = i == 1 ? 0.03 : 0;
      ways.from[i] = sn_v3(0.301 * cos(lag), 0.301 * sin(lag), z);
      ways.by[i] = sn_v3(0.3 * cos(lag + 0.5 * end), 0.3 * sin(lag + 0.5 * end), z);
      ways.to[i] = sn_v3(0.301 * cos(lag + end), 0.301 * sin(lag + end), z);
    }
    double w[3];
    assert_true(sn_solid_sweep(&rod, &ways, 0.02, 0.005, NULL, NULL, w));
    for (int i = 0; i < 3; ++i) ways.round[i] = true;
    assert_false(sn_solid_sweep(&rod, &ways, 0.02, 0.005, NULL, NULL, w));
  }
}

// From the front of a plate to its back, by a place on the front: the surface that is nearest changes in the middle.
static void what_goes_through_a_plate_does_not_go_round_it(void** unused) {
  (void)unused;
  const sn_solid plate = {.kind = SN_SOLID_BOX, .half = {0.5, 0.5, 0.02}};
  sn_sweep_ways ways = {.round = {true, true, true}};
  for (int i = 0; i < 3; ++i) {
    double x = i == 1 ? 0.03 : 0, y = i == 2 ? 0.03 : 0;
    ways.from[i] = sn_v3(x, y, 0.05);
    ways.by[i] = sn_v3(x, y, 0.02);
    ways.to[i] = sn_v3(x, y, -0.05);
  }
  double w[3];
  assert_true(sn_solid_sweep(&plate, &ways, 0.01, 0.005, NULL, NULL, w));
  assert_false(ways.round[0] || ways.round[1] || ways.round[2]);
}

// A little inside near an edge, as springs let it be, and off through the other face: that goes in nowhere.
static void what_leaves_over_an_edge_does_not_enter(void** unused) {
  (void)unused;
  const sn_solid plate = {.kind = SN_SOLID_BOX, .half = {0.02, 0.05, 0.2}};
  const sn_vec3 start = {0.019, 0.04998, 0};
  sn_solid_hit hit;
  assert_false(sn_solid_pierce(&plate, start, sn_v3(0.04, 0.04997, 0), 0.02, 4e-4, &hit));
  // Deep through the corner, to the inside, and through all of it.
  assert_true(sn_solid_pierce(&plate, start, sn_v3(0.021, 0.03, 0), 0.02, 4e-5, &hit));
  assert_true(sn_solid_pierce(&plate, start, sn_v3(0, 0, 0), 0.02, 4e-4, &hit));
  assert_true(sn_solid_pierce(&plate, start, sn_v3(0, -0.06, 0), 0.02, 4e-4, &hit));
  // Thinner than springs let anything in.
  const sn_solid foil = {.kind = SN_SOLID_BOX, .half = {1e-4, 0.05, 0.2}};
  assert_true(sn_solid_pierce(&foil, sn_v3(0.01, 0, 0), sn_v3(-0.01, 0, 0), 0.02, 4e-4, &hit));
  assert_true(hit.normal.x == 1);
}

static void planes_need_no_facets(void** unused) {
  (void)unused;
  const sn_solid plane = {.kind = SN_SOLID_PLANE, .normal = {0, 1, 0}};
  const sn_vec3 c[3] = {{0, -1, 0}, {1, -1, 0}, {0, -1, 1}};
  double w[3];
  assert_false(sn_solid_deepest(&plane, c, 0.01, 0, w));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_deepest_place_is_found),
      cmocka_unit_test(a_ball_between_the_corners_is_seen_on_its_way),
      cmocka_unit_test(what_goes_round_does_not_come_in),
      cmocka_unit_test(what_goes_through_a_plate_does_not_go_round_it),
      cmocka_unit_test(what_leaves_over_an_edge_does_not_enter),
      cmocka_unit_test(planes_need_no_facets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
