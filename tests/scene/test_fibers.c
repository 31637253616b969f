// How the fibres of a muscle run, against what its shape says.
#include "scene/model.h"
#include "scene/tubes.h"

// Slanted to all axes.
static sn_vec3 straight(double t, double* radius) {
  *radius = 0.08;
  return sn_madd(sn_v3(0.15, 0.2, 0.25), t, sn_v3(0.6, 0.4, 0.25));
}

// A quarter of a circle of radius 0.5 about (0.2, 0.2, 0.4).
static sn_vec3 bent(double t, double* radius) {
  *radius = 0.08;
  double turn = 0.5 * SHAPE_PI * t;
  return sn_v3(0.2 + 0.5 * sn_cos(turn), 0.2 + 0.5 * sn_sin(turn), 0.4);
}

// Along x, thin at both ends.
static sn_vec3 spindle(double t, double* radius) {
  double s = t < 0 ? 0 : t > 1 ? 1 : t;
  *radius = 0.02 + 0.4 * s * (1 - s);
  return sn_v3(0.1 + 0.8 * t, 0.4, 0.4);
}

static int begin(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("flesh.obj", 1, 0.8, 0.8);
  write_tube("straight.obj", straight);
  write_tube("bent.obj", bent);
  write_tube("spindle.obj", spindle);
  return 0;
}

static loaded load_muscle(const char* mesh, const char* keys, double cell) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"bodies\": [{\"surface\": \"flesh.obj\", \"cell\": %g}],"
           " \"bones\": [{\"name\": \"far\", \"capsule\": {\"from\": [0.75, 0.7, 0.5], \"to\": "
           "[0.75, 0.7, 0.6], \"radius\": 0.01}}],"
           " \"muscles\": [{\"mesh\": \"%s\"%s}]}",
           cell, mesh, keys);
  return load_scene(text, 2);
}

static const sn_muscles* muscles_of(const loaded* l) { return &l->model->bodies[0].muscles; }

// Sine of the angle between two lines.
static double angle(sn_vec3 a, sn_vec3 b) { return sn_length(sn_cross(a, b)); }

static void the_shares_add_up_to_the_muscle(void** unused) {
  (void)unused;
  const char* meshes[] = {"straight.obj", "bent.obj", "spindle.obj"};
  for (int i = 0; i < 3; ++i) {
    loaded l = load_muscle(meshes[i], "", 0.05);
    const sn_muscle* muscle = &muscles_of(&l)->items[0];
    double sum = 0;
    for (uint32_t s = muscle->begin; s < muscle->end; ++s) sum += muscles_of(&l)->volumes[s];
    assert_near(sum, muscle->surface.volume, 1e-4 * muscle->surface.volume);
    unload(&l);
  }
}

static void a_straight_muscle_has_the_direction_of_its_axis(void** unused) {
  (void)unused;
  sn_vec3 axis = tube_direction(straight, 0.5);
  for (int i = 0; i < 2; ++i) {
    loaded l = load_muscle("straight.obj", "", i ? 0.025 : 0.05);
    const sn_muscles* m = muscles_of(&l);
    double worst = 0;
    for (uint32_t s = 0; s < m->cells.count; ++s) {
      assert_true(sn_dot(m->directions[s], axis) > 0);
      worst = fmax(worst, angle(m->directions[s], axis));
    }
    print_message("straight: worst angle %.2e of %u shares\n", worst, m->cells.count);
    assert_true(worst < 1e-3);
    unload(&l);
  }
}

static void a_bent_muscle_follows_its_centre_line(void** unused) {
  (void)unused;
  for (int i = 0; i < 2; ++i) {
    loaded l = load_muscle("bent.obj", "", i ? 0.02 : 0.04);
    const sn_muscles* m = muscles_of(&l);
    double worst = 0, sum = 0;
    for (uint32_t s = 0; s < m->cells.count; ++s) {
      sn_vec3 d = sn_sub(m->centres[s], sn_v3(0.2, 0.2, 0.4));
      sn_vec3 along = sn_v3(-d.y, d.x, 0);
      along = sn_scale(1 / sn_length(along), along);
      // From the end with the smaller x and larger y to the other.
      double off = angle(m->directions[s], along);
      worst = fmax(worst, off);
      sum += off / m->cells.count;
    }
    print_message("bent: mean angle %.2e, worst %.2e\n", sum, worst);
    assert_true(sum < (i ? 0.01 : 0.02) && worst < 0.2);
    unload(&l);
  }
}

// The same as a_bent_muscle_follows_its_centre_line, but told so at points of random sign.
static void fibers_follow_a_file(void** unused) {
  (void)unused;
  char text[65536] = "x,y,z,dx,dy,dz\n";
  size_t used = strlen(text);
  for (int i = -10; i <= 70; ++i) {  // beyond both ends
    for (int k = 0; k < 9; ++k) {
      double turn = 0.5 * SHAPE_PI * i / 60, r = 0.5 + 0.07 * (k % 3 - 1);
      double sign = (i * 7 + k * 5 + 90) % 3 == 0 ? -2 : 0.5;
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%.9g, %.9g; %.9g %.9g %.9g %.9g\n",
                           0.2 + r * sn_cos(turn), 0.2 + r * sn_sin(turn), 0.4 + 0.07 * (k / 3 - 1),
                           -sign * sn_sin(turn), sign * sn_cos(turn), 0.0);
    }
  }
  scratch_write("bent.csv", text, used);
  loaded l =
      load_muscle("bent.obj", ", \"fibers\": {\"field\": \"bent.csv\"}, \"tendon\": 0.1", 0.04);
  const sn_muscles* m = muscles_of(&l);
  double worst = 0;
  for (uint32_t s = 0; s < m->cells.count; ++s) {
    sn_vec3 d = sn_sub(m->centres[s], sn_v3(0.2, 0.2, 0.4));
    sn_vec3 along = sn_v3(-d.y, d.x, 0);
    worst = fmax(worst, angle(m->directions[s], sn_scale(1 / sn_length(along), along)));
  }
  print_message("from a file: worst angle %.2e of %u shares\n", worst, m->cells.count);
  assert_true(worst < 0.03);
  unload(&l);
}

// In a slender spindle fibres keep their place between axis and surface: slope = y r'/r.
static void a_spindle_spreads_its_fibres(void** unused) {
  (void)unused;
  loaded l = load_muscle("spindle.obj", "", 0.02);
  const sn_muscles* m = muscles_of(&l);
  double worst = 0, sum = 0;
  uint32_t count = 0;
  for (uint32_t s = 0; s < m->cells.count; ++s) {
    sn_vec3 p = m->centres[s];
    double t = (p.x - 0.1) / 0.8, radius, d = 1e-5, more;
    if (t < 0.15 || t > 0.85) continue;
    spindle(t, &radius);
    spindle(t + d, &more);
    double slope = (more - radius) / (0.8 * d) / radius;
    sn_vec3 along = sn_v3(1, slope * (p.y - 0.4), slope * (p.z - 0.4));
    along = sn_scale(1 / sn_length(along), along);
    assert_true(m->directions[s].x > 0.7);
    worst = fmax(worst, angle(m->directions[s], along));
    sum += angle(m->directions[s], along);
    ++count;
  }
  print_message("spindle: mean angle %.2e, worst %.2e\n", sum / count, worst);
  assert_true(sum / count < 0.03 && worst < 0.15);
  unload(&l);
}

static void ends_turn_the_fibres_around(void** unused) {
  (void)unused;
  sn_vec3 axis = tube_direction(straight, 0.5);
  const char* keys[] = {", \"origin\": [0.8, 0.6, 0.5]", ", \"insertion\": [0, 0, 0]",
                        ", \"origin\": {\"near\": \"far\"}",
                        ", \"fibers\": {\"along\": [[1, 1, 1], [0.4, 0.6, 0.75]]}"};
  for (int i = 0; i < 4; ++i) {
    loaded l = load_muscle("straight.obj", keys[i], 0.05);
    const sn_muscles* m = muscles_of(&l);
    for (uint32_t s = 0; s < m->cells.count; ++s) {
      assert_true(sn_dot(m->directions[s], axis) < (i < 2 ? -0.99 : -0.8));
    }
    unload(&l);
  }
}

static void tendons_are_at_both_ends(void** unused) {
  (void)unused;
  const char* keys[] = {", \"tendon\": 0.2",
                        ", \"tendon\": 0.2, \"fibers\": {\"along\": [[0, 0, 0], [1, 0, 0]]}"};
  for (int i = 0; i < 2; ++i) {
    loaded l = load_muscle("spindle.obj", keys[i], 0.02);
    const sn_muscles* m = muscles_of(&l);
    double tendon = 0, expected = 0;
    for (uint32_t s = 0; s < m->cells.count; ++s) {
      double t = (m->centres[s].x - 0.1) / 0.8, from_end = fmin(t, 1 - t);
      if (from_end < 0.16) assert_true(m->tendons[s] > 0.9);
      if (from_end > 0.24) assert_true(m->tendons[s] < 0.1);
      tendon += m->tendons[s] * m->volumes[s];
      expected += (from_end < 0.2) * m->volumes[s];
    }
    assert_near(tendon, expected, 0.1 * expected);
    unload(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_shares_add_up_to_the_muscle),
      cmocka_unit_test(a_straight_muscle_has_the_direction_of_its_axis),
      cmocka_unit_test(a_bent_muscle_follows_its_centre_line),
      cmocka_unit_test(fibers_follow_a_file),
      cmocka_unit_test(a_spindle_spreads_its_fibres),
      cmocka_unit_test(ends_turn_the_fibres_around),
      cmocka_unit_test(tendons_are_at_both_ends),
  };
  return cmocka_run_group_tests(tests, begin, remove_scratch_folder);
}
