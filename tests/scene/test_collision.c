// Bodies that run into one another and into the ground, and what becomes of their energy.
#include <math.h>

#include "scene/shots.h"

#define G 9.81

static int make_bodies(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_fine_box("block.obj", sn_v3(0.3, 0.2, 0.1), 0.05);
  write_shot_body();
  write_fine_box("cube.obj", sn_v3(0.2, 0.2, 0.2), 0.05);
  return 0;
}

static void what_starts_in_the_floor_is_lifted_by_the_work_that_is_reported(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.05, \"material\": {\"young\": 2e4,"
      " \"poisson\": 0.4}, \"damping\": 0.005, \"initial\": {\"translate\": [0, -0.02, 0]}}],"
      " \"contact\": {\"self\": false}, \"colliders\": [{\"shape\": \"plane\"}]}",
      1);
  sn_frame_stats stats = step(&l, 1);
  motion m = motion_of(&l, 0);
  double start = total_energy(&stats), gain = -INFINITY, fastest = 0, range = 0.02 * m.mass * G;
  for (int frame = 2; frame <= 49; ++frame) {
    stats = step(&l, frame);
    gain = fmax(gain, total_energy(&stats) - stats.work - start);
    fastest = fmax(fastest, motion_of(&l, 0).velocity.y);
    assert_true(state_is_finite(&l));
  }
  print_message("gained %.3g of %.3g J, fastest %.3g m/s; sunk by %.4f %% at the end\n", gain,
                range, fastest, 100 * stats.max_penetration / diagonal(&l, 0));
  assert_true(gain <= 0.01 * range);
  assert_true(fastest < 0.5);
  assert_true(stats.max_penetration < 0.0005 * diagonal(&l, 0));
  unload(&l);
}

static void two_free_blocks_collide_and_keep_their_momentum(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"gravity\": 0, \"bodies\": [{\"name\": \"a\", \"surface\": \"cube.obj\", \"cell\": 0.05,"
      "  \"damping\": 0, \"material\": {\"young\": 1e5, \"poisson\": 0.3},"
      "  \"initial\": {\"velocity\": [1, 0, 0]}},"
      " {\"name\": \"b\", \"surface\": \"cube.obj\", \"cell\": 0.05,"
      "  \"damping\": 0, \"material\": {\"young\": 1e5, \"poisson\": 0.3},"
      "  \"initial\": {\"translate\": [0.25, 0.03, 0.02], \"velocity\": [-0.5, 0, 0]}}]}",
      1);
  sn_frame_stats stats = step(&l, 1);
  sn_vec3 before = sn_add(motion_of(&l, 0).momentum, motion_of(&l, 1).momentum);
  double start = total_energy(&stats), off = 0, gain = 0;
  uint64_t contacts = 0;
  for (int frame = 2; frame <= 12; ++frame) {
    stats = step(&l, frame);
    sn_vec3 now = sn_add(motion_of(&l, 0).momentum, motion_of(&l, 1).momentum);
    off = fmax(off, sn_distance(now, before) / sn_length(before));
    gain = fmax(gain, (total_energy(&stats) - stats.work) / start - 1);
    contacts += stats.contacts;
  }
  motion a = motion_of(&l, 0), b = motion_of(&l, 1);
  print_message(
      "%d contacts; velocities %.3f and %.3f m/s, momentum off by %.1e, energy %.3f -> %.3f"
      " J (work %.3g), most %+.2f %%\n",
      (int)contacts, a.velocity.x, b.velocity.x, off, start, total_energy(&stats), stats.work,
      100 * gain);
  assert_true(contacts > 0);
  assert_true(b.velocity.x > a.velocity.x && b.velocity.x > 0);
  assert_true(off < 1e-3);
  assert_true(gain < 0.01);
  unload(&l);
}

static void a_tumble_gains_no_energy(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"bodies\": [{\"name\": \"block\", \"surface\": \"block.obj\", \"cell\": 0.05,"
      "  \"material\": {\"young\": 2e4, \"poisson\": 0.4}, \"initial\": {"
      "   \"translate\": [0, 0.01, 0], \"velocity\": [1, -1, 0.5]}},"
      " {\"name\": \"lid\", \"surface\": \"cube.obj\", \"cell\": 0.05, \"initial\": {"
      "   \"translate\": [0.05, 0.22, -0.02], \"velocity\": [0, -2, 0], \"spin\": [1, 2, 3]}}],"
      " \"colliders\": [{\"shape\": \"plane\", \"friction\": 0.5}]}",
      1);
  sn_frame_stats stats = step(&l, 1);
  double start = total_energy(&stats), gain = -INFINITY, low = stats.energy_gravity;
  for (int frame = 2; frame <= 9; ++frame) {
    stats = step(&l, frame);
    gain = fmax(gain, total_energy(&stats) - stats.work - start);
    low = fmin(low, stats.energy_gravity);
  }
  print_message("gained %.3g of %.3g J\n", gain, start - low);
  assert_true(gain <= 0.01 * (start - low));
  unload(&l);
}

// A rod bends a finger until that slips off and springs back round it: a tip of many points that touches by few, and slides
// over half of the rod in a step.
static void a_finger_that_slips_off_a_rod_gains_no_energy(void** unused) {
  (void)unused;
  write_fine_box("finger.obj", sn_v3(0.02, 0.15, 0.02), 0.01);
  for (int k = 0; k < 2; ++k) {
    char text[1024];
    double y = k ? 0.15 : 0.13;
    snprintf(
        text, sizeof text,
        "{\"gravity\": 0, \"bodies\": [{\"surface\": \"finger.obj\", \"cell\": 0.0125,"
        " \"material\": {\"young\": 2e5, \"poisson\": 0.4}, \"damping\": 0.005}],"
        " \"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [1, 0.02, 1]]}}],"
        " \"contact\": {\"self\": false}, \"colliders\": [{\"shape\": \"capsule\","
        "  \"from\": [-0.08, %g, -0.3], \"to\": [-0.08, %g, 0.3], \"radius\": 0.03, \"motion\":"
        "  [{\"frame\": 1}, {\"frame\": 20, \"translate\": [0.37, 0, 0]}]}]}",
        y, y);
    loaded l = load_scene(text, 1);
    double gain = -INFINITY, most = 0, rescued = 0, deepest = 0;
    int newton = 0;
    for (int frame = 1; frame <= 20; ++frame) {
      sn_frame_stats stats = step(&l, frame);
      gain = fmax(gain, total_energy(&stats) - stats.work);
      most = fmax(most, stats.energy_elastic);
      deepest = fmax(deepest, stats.max_penetration);
      rescued += stats.rescued;
      newton += stats.newton;
    }
    print_message("rod at %g: gained %.3g of %.3g J, rescued %.3g J, sunk by %.3f %%, %d steps\n",
                  y, gain, most, rescued, 100 * deepest / diagonal(&l, 0), newton);
    assert_true(gain <= 0.01 * most);
    assert_true(rescued == 0);
    assert_true(deepest < 0.002 * diagonal(&l, 0));
    unload(&l);
  }
}

// Sharp edges between points of a skin of few triangles, a blow of a cell in a step, and flesh that goes off over an
// edge: free and held, broadside and with the edge ahead.
static void a_plate_that_hits_a_finger_pushes_it_away(void** unused) {
  (void)unused;
  write_box("post.obj", 0.08, 0.4, 0.08);
  static const char* const HELD =
      "\"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [1, 0.05, 1]]}}],";
  for (int k = 0; k < 3; ++k) {
    char text[1024];
    double half = k == 1 ? 0.01 : 0.02, turn = k == 2 ? 0.38268343236508978 : 0;
    snprintf(
        text, sizeof text,
        "{\"gravity\": 0, \"bodies\": [{\"surface\": \"post.obj\", \"cell\": 0.02}], %s"
        " \"colliders\": [{\"shape\": \"box\", \"half\": [%g, 0.05, 0.2], \"motion\": ["
        "  {\"frame\": 1, \"translate\": [-0.08, 0.35, 0.04], \"rotate\": [0, 0, %.17g, %.17g]},"
        "  {\"frame\": 12, \"translate\": [0.207, 0.35, 0.04], \"rotate\": [0, 0, %.17g, "
        "%.17g]}]}]}",
        k == 1 ? HELD : "", half, turn, sqrt(1 - turn * turn), turn, sqrt(1 - turn * turn));
    loaded l = load_scene(text, 1);
    double rescued = 0, deepest = 0;
    int missed = 0, newton = 0;
    for (int frame = 1; frame <= 9; ++frame) {
      sn_frame_stats stats = step(&l, frame);
      deepest = fmax(deepest, stats.max_penetration);
      rescued += stats.rescued;
      missed += !stats.converged;
      newton += stats.newton;
    }
    print_message("plate %d: %d frames missed, rescued %.3g J, sunk by %.3f %%, %d steps\n", k,
                  missed, rescued, 100 * deepest / diagonal(&l, 0), newton);
    assert_int_equal(missed, 0);
    assert_true(rescued == 0);
    assert_true(deepest < 0.005 * diagonal(&l, 0));
    unload(&l);
  }
}

// The step after the first frame, which only puts free bodies in place, is the first that is solved.
static void resuming_at_the_first_frame_gives_the_same_place(void** unused) {
  (void)unused;
  static const char* const OVERLAP =
      "{\"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.05, \"initial\": {"
      "   \"translate\": [0, -0.02, 0]}}], \"colliders\": [{\"shape\": \"plane\"}]}";
  loaded l = load_scene(OVERLAP, 1), other = load_scene(OVERLAP, 1);
  sn_error err = {0};
  step(&l, 1);
  assert_ok(sn_state_save(l.model, l.state, scratch_path("state"), &err), &err);
  assert_ok(sn_state_load(other.model, other.state, scratch_path("state"), &err), &err);
  step(&l, 2);
  step(&other, 2);
  double off = 0;
  for (size_t i = 0; i < l.model->unknown_count; ++i) {
    off = fmax(off, fabs(l.state->u[i] - other.state->u[i]));
  }
  print_message("resumed state off by %.3g m\n", off);
  assert_true(off == 0);
  unload(&l);
  unload(&other);
}

// Head-on, from a twentieth of the body's size away: the first step that is solved is the impact.
static void a_collider_that_hits_in_the_first_step_is_felt(void** unused) {
  (void)unused;
  int bad = 0;
  for (int k = 0; k < 4; ++k) {
    shot s = {.box = k % 2, .radius = 0.07, .speed = k / 2 ? 0.5 : 0.2, .way = {0, 0, 1}};
    s.aside[0] = sn_v3(1, 0, 0);
    s.aside[1] = sn_v3(0, 1, 0);
    s.start = sn_v3(0.1, 0.1, -0.01 - (s.box ? 0.02 : s.radius));
    outcome o = shoot(&s, 2e6);
    print_message("%s at %.1f body sizes a frame: deepest %.2f %%, %u points crossed\n",
                  s.box ? "box" : "sphere", s.speed / 0.2, 100 * o.deepest, o.crossed);
    bad += o.deepest > 0.01 || o.crossed > 0;
  }
  assert_int_equal(bad, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_bodies, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(what_starts_in_the_floor_is_lifted_by_the_work_that_is_reported),
      TEST(two_free_blocks_collide_and_keep_their_momentum),
      TEST(a_tumble_gains_no_energy),
      TEST(a_finger_that_slips_off_a_rod_gains_no_energy),
      TEST(a_plate_that_hits_a_finger_pushes_it_away),
      TEST(a_collider_that_hits_in_the_first_step_is_felt),
      TEST(resuming_at_the_first_frame_gives_the_same_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
