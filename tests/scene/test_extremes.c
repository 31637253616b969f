// Bones that do what no bone can, and numbers at the ends of their ranges. All of them with SN_SOAK in the environment.
#include <math.h>

#include "scene/scenes.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_finite(const loaded* l, const sn_frame_stats* stats) {
  const float* p = surface(l);
  for (uint32_t i = 0; i < 3 * sn_model_surface_count(l->model, 0); ++i) {
    if (!isfinite(p[i])) return false;
  }
  return isfinite(stats->residual) && isfinite(stats->energy_elastic) && isfinite(stats->min_j) &&
         isfinite(stats->energy_kinetic) && isfinite(stats->work) && isfinite(stats->volume);
}

// ---- Bones ----

// Of the far bone, or of both: at rest in frame 1 and from frame 3 on.
typedef struct bone_motion {
  const char* name;
  const char* keys;
  bool both;
  bool daily;  // in motion too
} bone_motion;

#define REST(frame) "{\"frame\": " frame ", \"pivot\": [0.5, 0.1, 0.1]}, "
#define TURNED(frame, quat) \
  "{\"frame\": " frame ", \"pivot\": [0.5, 0.1, 0.1], \"rotate\": " quat "}, "
#define MOVED(frame, to) \
  "{\"frame\": " frame ", \"pivot\": [0.5, 0.1, 0.1], \"translate\": " to "}, "
#define SCALED(frame, by) \
  "{\"frame\": " frame ", \"pivot\": [0.5, 0.1, 0.1], \"stretch\": " by "}, "

static const bone_motion MOTIONS[] = {
    {"one goes 10 sizes away", MOVED("2", "[10, 0, 0]"), false, true},
    {"one goes through the other", MOVED("2", "[-1.5, 0.01, 0]"), false, false},
    {"both go 10 sizes away", MOVED("2", "[6, -6, 6]"), true, false},
    {"720 degrees about the axis",
     TURNED("1.25", "[1, 0, 0, 0]") TURNED("1.5", "[0, 0, 0, -1]") TURNED("1.75", "[-1, 0, 0, 0]"),
     false, true},
    {"720 degrees about a normal",
     TURNED("1.25", "[0, 0, 1, 0]") TURNED("1.5", "[0, 0, 0, -1]") TURNED("1.75", "[0, 0, -1, 0]"),
     false, false},
    {"180 degrees about the axis", TURNED("2", "[1, 0, 0, 0]"), false, false},
    {"180 degrees about a normal", TURNED("2", "[0, 0, 1, 0]"), false, false},
    {"180 degrees, both", TURNED("2", "[0, 0, 1, 0]"), true, false},
    {"one scaled to nothing", SCALED("2", "0.001"), false, false},
    {"both scaled to nothing", SCALED("2", "0.001"), true, true},
    {"both 1000 times as large", SCALED("2", "1000"), true, false},
};

static loaded load_moved(const bone_motion* motion, bool dynamic, int frames) {
  char keys[1024], text[4096];
  snprintf(keys, sizeof keys, "[" REST("1") "%s" REST("3") "{\"frame\": 4}]", motion->keys);
  snprintf(
      text, sizeof text,
      "{\"mode\": \"%s\", \"gravity\": 0, \"frames\": [1, %d],"
      " \"bodies\": [{\"surface\": \"limb.obj\", \"cell\": 0.1, \"drag\": 5, \"damping\": 0.01}],"
      " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [0, 0.1, 0.1],"
      "   \"to\": [0.3, 0.1, 0.1], \"radius\": 0.05}, \"motion\": %s},"
      "  {\"name\": \"b\", \"capsule\": {\"from\": [0.7, 0.1, 0.1],"
      "   \"to\": [1, 0.1, 0.1], \"radius\": 0.05}, \"motion\": %s}],"
      " \"attachments\": [{\"bone\": \"a\"}, {\"bone\": \"b\"}]}",
      dynamic ? "dynamic" : "quasistatic", frames, motion->both ? keys : "[]", keys);
  return load_scene(text, 2);
}

static double distance_from_rest(const loaded* l) {
  const float* p = surface(l);
  const double* rest = l->scene->bodies[0].mesh.positions;
  double worst = 0;
  for (int i = 0; i < 24; ++i) worst = fmax(worst, fabs(p[i] - rest[i]));
  return worst;
}

static bool survives(const bone_motion* motion, bool dynamic) {
  int frames = dynamic ? 72 : 8, missed = 0, newton = 0;
  double seconds = 0;
  bool finite = true;
  loaded l = load_moved(motion, dynamic, frames);
  sn_frame_stats stats = {0};
  for (int frame = 1; frame <= frames; ++frame) {
    stats = step(&l, frame);
    missed += !stats.converged;
    newton += stats.newton;
    seconds += stats.seconds;
    finite = finite && is_finite(&l, &stats);
  }
  double off = distance_from_rest(&l);
  bool good = finite && stats.converged && stats.inverted == 0 && off < 1e-4;
  print_message("%-27s %-11s %6d %6d %8.1e %6.2f%s\n", motion->name,
                dynamic ? "dynamic" : "quasistatic", missed, newton, off, seconds,
                good ? "" : "  missed");
  unload(&l);
  return good;
}

static void bones_may_do_anything(void** unused) {
  (void)unused;
  bool good = true;
  write_box("limb.obj", 1, 0.2, 0.2);
  print_message("%-27s %-11s %6s %6s %8s %6s\n", "bones", "mode", "missed", "Newton", "off", "s");
  for (size_t m = 0; m < COUNT(MOTIONS); ++m) {
    good = survives(&MOTIONS[m], false) && good;
    if (MOTIONS[m].daily || getenv("SN_SOAK")) good = survives(&MOTIONS[m], true) && good;
  }
  assert_true(good);
}

// ---- Numbers ----

typedef struct numbers {
  double young, poisson, density;       // Pa, -, kg/m3
  double step, size, gravity, damping;  // s, m, m/s2, s
} numbers;

static const numbers USUAL = {12000, 0.47, 1060, 1.0 / 24, 1, 9.81, 0.001};

#define MOST_VALUES 7
typedef struct range {
  const char* name;
  size_t offset;  // in numbers
  double values[MOST_VALUES];
  int count;
} range;

static const range RANGES[] = {
    {"Young's modulus", offsetof(numbers, young), {1e1, 1e3, 1e5, 1e7, 1e9, 1e11}, 6},
    {"Poisson's ratio", offsetof(numbers, poisson), {0, 0.3, 0.49, 0.499, 0.4999}, 5},
    {"density", offsetof(numbers, density), {1, 1e2, 1e4, 1e5}, 4},
    {"step", offsetof(numbers, step), {1e-5, 1e-3, 1e-2, 0.25}, 4},
    {"size", offsetof(numbers, size), {1e-4, 1e-2, 1e2, 1e5}, 4},
};

static double* number_in(numbers* n, const range* r) {
  return (double*)(void*)((char*)n + r->offset);
}

// A block of 4 x 2 x 2 cells that hangs at one end, or that falls on the ground and lands within a few steps.
static loaded load_block(const numbers* n, bool falls) {
  char text[2048], name[32];
  static int made;
  double h = n->size;
  snprintf(name, sizeof name, "block%d.obj", made++ % 4);
  write_box(name, h, 0.5 * h, 0.5 * h);
  double speed = 0.05 * h / n->step;  // a fifth of a cell a step
  int length = snprintf(
      text, sizeof text,
      "{\"frames\": [1, 9], \"fps\": %.17g, \"gravity\": %.17g, \"bodies\": [{\"surface\": \"%s\","
      " \"cell\": %.17g, \"density\": %.17g, \"damping\": %.17g, \"material\": {\"young\": %.17g, "
      "\"poisson\": %.17g}",
      1 / n->step, n->gravity, name, 0.25 * h, n->density, n->damping, n->young, n->poisson);
  if (falls) {
    snprintf(text + length, sizeof text - (size_t)length,
             ", \"initial\": {\"translate\": [0, %.17g, 0], \"velocity\": [0, %.17g, 0]}}],"
             " \"colliders\": [{\"shape\": \"plane\"}]}",
             0.02 * h, -speed);
  } else {
    snprintf(text + length, sizeof text - (size_t)length,
             "}], \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, %.17g, %.17g]]}}]}", h, h);
  }
  return load_scene(text, 1);
}

typedef struct tally {
  int scenes, frames, missed, wrong;
} tally;

// Finite; and what counts as solved is.
static void try_numbers(const numbers* n, bool falls, tally* t) {
  loaded l = load_block(n, falls);
  bool good = true;
  int missed = 0;
  for (int frame = 1; frame <= 4; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    bool honest = !stats.converged || stats.residual <= l.scene->solver.newton_tolerance;
    good = good && honest && is_finite(&l, &stats);
    missed += !stats.converged;
  }
  t->scenes++;
  t->frames += 4;
  t->missed += missed;
  t->wrong += !good;
  if (!good) {
    print_message("wrong: %s, E %g, nu %g, density %g, step %g, size %g\n",
                  falls ? "falls" : "hangs", n->young, n->poisson, n->density, n->step, n->size);
  }
  unload(&l);
}

// Every value of a range from `first` on, or with `ends` its first and last, with all of those of the ranges behind.
static void try_all(numbers n, size_t first, bool ends, tally* t) {
  if (first == COUNT(RANGES)) {
    try_numbers(&n, false, t);
    try_numbers(&n, true, t);
    return;
  }
  const range* r = &RANGES[first];
  for (int v = 0; v < r->count; v += ends ? r->count - 1 : 1) {
    *number_in(&n, r) = r->values[v];
    try_all(n, first + 1, ends, t);
  }
}

static void judge(const tally* t) {
  print_message("%d scenes, %d of %d frames missed their tolerance\n", t->scenes, t->missed,
                t->frames);
  assert_int_equal(t->wrong, 0);
}

static void every_number_of_a_range_is_survived(void** unused) {
  (void)unused;
  tally t = {0};
  for (size_t r = 0; r < COUNT(RANGES); ++r) {
    for (int v = 0; v < RANGES[r].count; ++v) {
      numbers n = USUAL;
      *number_in(&n, &RANGES[r]) = RANGES[r].values[v];
      try_numbers(&n, false, &t);
      try_numbers(&n, true, &t);
    }
  }
  judge(&t);
}

static void numbers_at_the_ends_of_their_ranges_are_survived(void** unused) {
  (void)unused;
  skip_if_sanitized();
  tally t = {0};
  try_all(USUAL, 0, !getenv("SN_SOAK"), &t);
  judge(&t);
}

// What stays the same with numbers: all lengths and times by one factor, with gravity by its inverse; modulus and density.
static void scaled_scenes_give_scaled_results(void** unused) {
  (void)unused;
  skip_if_sanitized();
  static const double SIZES[] = {1, 0x1p-13, 0x1p17}, WEIGHTS[] = {1, 0x1p-10, 0x1p16};
  for (int falls = 0; falls < 2; ++falls) {
    float usual[24];
    int newton = 0;
    for (size_t k = 0; k < COUNT(SIZES) * COUNT(WEIGHTS); ++k) {
      double size = SIZES[k % 3], weight = WEIGHTS[k / 3];
      numbers n = {USUAL.young * weight, USUAL.poisson,     USUAL.density * weight,
                   USUAL.step * size,    USUAL.size * size, USUAL.gravity / size,
                   USUAL.damping * size};
      loaded l = load_block(&n, falls);
      int steps = 0;
      for (int frame = 1; frame <= 9; ++frame) steps += step(&l, frame).newton;
      const float* p = surface(&l);
      if (k == 0) memcpy(usual, p, sizeof usual);
      if (k == 0) newton = steps;
      assert_int_equal(steps, newton);
      for (int i = 0; i < 24; ++i) assert_near(p[i] / size, usual[i], 1e-6);
      unload(&l);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(bones_may_do_anything, make_scratch_folder,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(every_number_of_a_range_is_survived, make_scratch_folder,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(numbers_at_the_ends_of_their_ranges_are_survived,
                                      make_scratch_folder, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(scaled_scenes_give_scaled_results, make_scratch_folder,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
