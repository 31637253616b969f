// Contact and friction in motion, against closed forms where there are any.
#include <math.h>

#include "scene/motions.h"
#include "shapes.h"

#define PI 3.14159265358979323846
#define G 9.81

static int make_bodies(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_fine_box("slab.obj", sn_v3(0.2, 0.1, 0.2), 0.05);
  write_fine_box("cube.obj", sn_v3(0.2, 0.2, 0.2), 0.05);
  save_mesh("ball.obj", shape_sphere(sn_v3(0, 0, 0), 0.1, 16));
  return 0;
}

// A block on an incline: a = g (sin theta - friction cos theta) while it slides.

typedef struct slope {
  double degrees, friction, speed;
  bool plane;  // tilt plane and block, or gravity
} slope;

static loaded load_slope(slope s) {
  double a = s.degrees * PI / 180;
  sn_vec3 down = s.plane ? sn_v3(cos(a), -sin(a), 0) : sn_v3(1, 0, 0);
  sn_vec3 out = s.plane ? sn_v3(sin(a), cos(a), 0) : sn_v3(0, 1, 0);
  sn_vec3 pull = s.plane ? sn_v3(0, -G, 0) : sn_v3(G * sin(a), -G * cos(a), 0);
  char text[2048];
  snprintf(text, sizeof text,
           "{\"fps\": 96, \"gravity\": [%.17g, %.17g, 0], \"bodies\": [{\"surface\": \"slab.obj\","
           " \"cell\": 0.05, \"density\": 1000, \"damping\": 0.002,"
           " \"material\": {\"young\": 1e6, \"poisson\": 0.3},"
           " \"initial\": {\"translate\": [%.17g, %.17g, 0], \"rotate\": [0, 0, %.17g, %.17g],"
           " \"velocity\": [%.17g, %.17g, 0]}}], \"contact\": {\"self\": false},"
           " \"colliders\": [{\"shape\": \"plane\", \"normal\": [%.17g, %.17g, 0],"
           "   \"friction\": %.17g}]}",
           pull.x, pull.y, 0.001 * out.x, 0.001 * out.y, s.plane ? -sin(a / 2) : 0.0,
           s.plane ? cos(a / 2) : 1.0, s.speed * down.x, s.speed * down.y, out.x, out.y,
           s.friction);
  return load_scene(text, 1);
}

// Way down the slope and speed after some frames.
static void slide(loaded* l, slope s, int frames, double* way, double* speed) {
  static sn_vec3 start;
  double a = s.degrees * PI / 180;
  sn_vec3 down = s.plane ? sn_v3(cos(a), -sin(a), 0) : sn_v3(1, 0, 0);
  if (sn_state_frame(l->state) < 1) {
    step(l, 1);
    start = motion_of(l, 0).centre;
  }
  for (int n = 0; n < frames; ++n) step(l, sn_state_frame(l->state) + 1);
  motion m = motion_of(l, 0);
  *way = sn_dot(sn_sub(m.centre, start), down);
  *speed = sn_dot(m.velocity, down);
}

static void a_block_slides_down_an_incline_as_coulomb_says(void** unused) {
  (void)unused;
  for (int plane = 0; plane < 2; ++plane) {
    slope s = {30, 0.3, 0, plane};
    double way, speed;
    loaded l = load_slope(s);
    slide(&l, s, 96, &way, &speed);
    unload(&l);
    print_message("30 degrees, %s: x %.5f (%+.2f %%), v %.5f (%+.2f %%)\n",
                  plane ? "plane" : "gravity", way, 100 * (way / 1.1781436183 - 1), speed,
                  100 * (speed / 2.3562872367 - 1));
    assert_near(way, 1.1781436183, 0.01 * 1.1781436183);
    assert_near(speed, 2.3562872367, 0.01 * 2.3562872367);
  }
}

static void a_block_thrown_down_an_incline_stops_and_stays(void** unused) {
  (void)unused;
  for (int plane = 0; plane < 2; ++plane) {
    slope s = {20, 0.6, 2, plane};
    double way, speed, later, end, t = 0.5, a = -2.1758131599;
    loaded l = load_slope(s);
    slide(&l, s, 48, &way, &speed);
    print_message("20 degrees, %s: t = 0.5 x %.5f (%+.2f %%), v %.5f (%+.2f %%)",
                  plane ? "plane" : "gravity", way, 100 * (way / (2 * t + a * t * t / 2) - 1),
                  speed, 100 * (speed / (2 + a * t) - 1));
    double half_way = way, half_speed = speed;
    slide(&l, s, 48, &way, &speed);
    slide(&l, s, 48, &later, &end);
    unload(&l);
    print_message("; t = 1 x %.5f (%+.2f %%), v %.1e; later %.1e m, v %.1e\n", way,
                  100 * (way / 0.9191965730 - 1), speed, later - way, end);
    assert_near(half_way, 2 * t + a * t * t / 2, 0.01 * (2 * t + a * t * t / 2));
    assert_near(half_speed, 2 + a * t, 0.01 * 2);
    assert_near(way, 0.9191965730, 0.01 * 0.9191965730);
    assert_near(speed, 0, 0.01 * 2);
    assert_near(later, way, 1e-4);
    assert_near(end, 0, 1e-3);
  }
}

static void friction_holds_up_to_its_angle(void** unused) {
  (void)unused;
  double angle = atan(0.3) * 180 / PI;
  for (int k = 0; k < 4; ++k) {
    bool slides = k % 2;
    slope s = {slides ? angle + 1 : angle - 1, 0.3, 0, k / 2};
    double first, way, speed, a = s.degrees * PI / 180;
    loaded l = load_slope(s);
    slide(&l, s, 10, &first, &speed);  // it comes down by a hair and begins to press
    slide(&l, s, 86, &way, &speed);
    unload(&l);
    print_message("%.2f degrees: x %.2e m, then %.2e m, v %.2e m/s\n", s.degrees, first,
                  way - first, speed);
    double expected = G * (sin(a) - 0.3 * cos(a));
    if (slides) {
      assert_near(speed, expected, 0.1 * expected);
    } else {
      assert_near(first, 0, 1e-3);
      assert_near(way, first, 1e-5);
      assert_near(speed, 0, 1e-5);
    }
  }
}

// A ball pressed on a plane: its upper cap is held and lowered.
static void a_pressed_ball_touches_as_hertz_says(void** unused) {
  (void)unused;
  double radius = 0.1, stiff = 1e6 / (1 - 0.09);
  save_mesh("sphere.obj", shape_sphere(sn_v3(0, 0.1, 0), radius, 140));
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"gravity\": 0, \"frames\": [1, 3], \"bodies\": [{\"surface\":"
      " \"sphere.obj\", \"cell\": 0.0022, \"material\": {\"young\": 1e6, \"poisson\": 0.3}}],"
      " \"fixed\": [{\"where\": {\"box\": [[-1, 0.17, -1], [1, 1, 1]]}, \"motion\": ["
      "   {\"frame\": 1}, {\"frame\": 3, \"translate\": [0, -0.00077, 0]}]}],"
      " \"contact\": {\"self\": false, \"friction\": 0}, \"colliders\": [{\"shape\": \"plane\"}]}",
      2);
  sn_frame_stats stats = {0};
  for (int frame = 1; frame <= 3; ++frame) stats = step(&l, frame);
  // The furthest touching points, and half of the way to the next ones that do not.
  double inner = 0, outer = 1, held = 0;
  const sn_contact_set* set = &l.state->contact.set;
  for (uint32_t i = 0; i < set->count; ++i) {
    sn_vec3 p = sn_carried_place(set->contacts[i].carrier, l.state->u);
    double r = sqrt(p.x * p.x + p.z * p.z);
    bool touches = sn_contact_force(&set->contacts[i], l.state->u, NULL).y > 0;
    if (touches) inner = fmax(inner, r);
  }
  for (uint32_t i = 0; i < set->count; ++i) {
    sn_vec3 p = sn_carried_place(set->contacts[i].carrier, l.state->u);
    double r = sqrt(p.x * p.x + p.z * p.z);
    if (r > inner) outer = fmin(outer, r);
  }
  for (uint32_t h = 0; h < l.model->bodies[0].held_count; ++h)
    held -= l.state->reactions[3 * h + 1];
  double touch = 0.5 * (inner + outer), force = stats.contact_force;
  double a = cbrt(3 * force * radius / (4 * stiff));
  double approach = 0.00077 + l.scene->contact.thickness;
  double hertz = 4.0 / 3 * stiff * sqrt(radius) * pow(approach, 1.5);
  print_message(
      "%d cells, %d contacts: force %.3f N (held by %.3f), Hertz of the approach %.3f"
      " (%+.1f %%); radius %.5f..%.5f m, Hertz of the force %.5f (%+.1f %%)\n",
      (int)stats.elements, (int)stats.contacts, force, held, hertz, 100 * (force / hertz - 1),
      inner, outer, a, 100 * (touch / a - 1));
  assert_near(force, held, 0.01 * force);
  assert_near(force, hertz, 0.1 * hertz);
  assert_near(touch, a, 0.1 * a);
  unload(&l);
}

// How deep soft bodies sink into the floor.
static void drop(const char* surface, double centre, double* deepest, double* at_rest) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"surface\": \"%s\", \"cell\": 0.025, \"damping\": 0.01,"
           " \"material\": {\"young\": 2e4, \"poisson\": 0.45},"
           " \"initial\": {\"translate\": [0, %.17g, 0]}}],"
           " \"contact\": {\"self\": false}, \"colliders\": [{\"shape\": \"plane\"}]}",
           surface, 0.3 + centre);
  loaded l = load_scene(text, 1);
  *deepest = *at_rest = 0;
  double speed = 0;
  for (int frame = 1; frame <= 72; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    sn_vec3* places = skin_places(&l, 0);
    double low = 0;
    for (uint32_t p = 0; p < l.model->contact.skins[0].count; ++p) low = fmin(low, places[p].y);
    free(places);
    *deepest = fmax(*deepest, fmax(-low, stats.max_penetration) / diagonal(&l, 0));
    *at_rest = fmax(-low, stats.max_penetration) / diagonal(&l, 0);
    speed = sn_length(motion_of(&l, 0).velocity);
  }
  print_message("%s: deepest %.4f %% of the diagonal, at rest %.4f %% (%.1e m/s)\n", surface,
                100 * *deepest, 100 * *at_rest, speed);
  assert_true(speed < 0.01);
  unload(&l);
}

static void soft_bodies_hardly_sink_into_the_floor(void** unused) {
  (void)unused;
  static const char* const BODIES[] = {"ball.obj", "cube.obj"};
  for (int k = 0; k < 2; ++k) {
    double deepest, at_rest;
    drop(BODIES[k], k ? 0 : 0.1, &deepest, &at_rest);
    assert_true(deepest <= 0.002);
    assert_true(at_rest <= 0.0005);
  }
}

static void what_starts_in_the_floor_comes_out_slowly(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.05, \"material\": {\"young\": 2e4,"
      " \"poisson\": 0.4}, \"damping\": 0.005, \"initial\": {\"translate\": [0, -0.02, 0]}}],"
      " \"contact\": {\"self\": false}, \"colliders\": [{\"shape\": \"plane\"}]}",
      1);
  sn_frame_stats stats = step(&l, 1);
  motion m = motion_of(&l, 0);
  double start = total_energy(&stats), most = 0, fastest = 0, range = 0.02 * m.mass * G;
  for (int frame = 2; frame <= 49; ++frame) {
    stats = step(&l, frame);
    most = fmax(most, total_energy(&stats) - start);
    fastest = fmax(fastest, motion_of(&l, 0).velocity.y);
    assert_true(state_is_finite(&l));
  }
  print_message("lifted with %.3g of %.3g J, fastest %.3g m/s; sunk by %.4f %% at the end\n", most,
                range, fastest, 100 * stats.max_penetration / diagonal(&l, 0));
  assert_true(most <= 1.01 * range);  // no more than what lifts it out
  assert_true(fastest < 0.5);
  assert_true(stats.max_penetration < 0.0005 * diagonal(&l, 0));
  unload(&l);
}

// Body against body.

static void a_stack_of_two_blocks_comes_to_rest(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"bodies\": [{\"name\": \"low\", \"surface\": \"cube.obj\", \"cell\": 0.05, \"damping\": "
      "0.03,"
      "  \"material\": {\"young\": 1e5, \"poisson\": 0.4}, \"initial\": {\"translate\": [0, 0.001, "
      "0]}},"
      " {\"name\": \"high\", \"surface\": \"cube.obj\", \"cell\": 0.05, \"damping\": 0.03,"
      "  \"material\": {\"young\": 1e5, \"poisson\": 0.4},"
      "  \"initial\": {\"translate\": [0.02, 0.203, 0.01]}}],"
      " \"colliders\": [{\"shape\": \"plane\"}]}",
      1);
  sn_frame_stats stats = step(&l, 1);
  double start = total_energy(&stats), gain = 0;
  for (int frame = 2; frame <= 49; ++frame) {
    stats = step(&l, frame);
    gain = fmax(gain, total_energy(&stats) - stats.work - start);
    assert_true(state_is_finite(&l));
  }
  motion low = motion_of(&l, 0), high = motion_of(&l, 1);
  print_message(
      "centres %.4f and %.4f m, speeds %.1e and %.1e m/s, sunk by %.4f %%, gained %.2g J,"
      " work %.2g J, force %.3f of %.3f N\n",
      low.centre.y, high.centre.y, sn_length(low.velocity), sn_length(high.velocity),
      100 * stats.max_penetration / diagonal(&l, 0), gain, stats.work, stats.contact_force,
      (low.mass + high.mass) * G);
  assert_true(sn_length(low.velocity) < 0.005 && sn_length(high.velocity) < 0.005);
  assert_true(stats.max_penetration < 0.0005 * diagonal(&l, 0));
  assert_near(low.centre.y, 0.1, 0.005);
  assert_near(high.centre.y, 0.3, 0.01);
  assert_near(high.centre.x, 0.12, 0.01);  // it leans
  assert_near(stats.contact_force, (low.mass + high.mass) * G, 0.01 * (low.mass + high.mass) * G);
  assert_true(gain < 0.01 * 0.01 * low.mass * G);
  unload(&l);
}

// Two spheres that overlap, modelled as one surface, are one body and do not push one another away.
static void what_overlaps_at_rest_stays_at_rest(void** unused) {
  (void)unused;
  save_mesh("pair.obj", shape_join(shape_sphere(sn_v3(0, 0, 0), 0.1, 16),
                                   shape_sphere(sn_v3(0.12, 0.02, 0), 0.1, 16)));
  loaded l = load_scene(
      "{\"gravity\": 0, \"bodies\": [{\"surface\": \"pair.obj\", \"cell\": 0.025,"
      " \"material\": {\"young\": 2e4, \"poisson\": 0.4}}]}",
      1);
  for (int frame = 1; frame <= 12; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    assert_int_equal(stats.contacts, 0);
    assert_true(stats.energy_elastic < 1e-12 && stats.energy_kinetic < 1e-12);
  }
  unload(&l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_bodies, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_block_slides_down_an_incline_as_coulomb_says),
      TEST(a_block_thrown_down_an_incline_stops_and_stays),
      TEST(friction_holds_up_to_its_angle),
      TEST(a_pressed_ball_touches_as_hertz_says),
      TEST(soft_bodies_hardly_sink_into_the_floor),
      TEST(what_starts_in_the_floor_comes_out_slowly),
      TEST(a_stack_of_two_blocks_comes_to_rest),
      TEST(what_overlaps_at_rest_stays_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
