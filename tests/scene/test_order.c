// Order of convergence with cells that the skin cuts, and the price of defect correction: a bow-tie that
// is bent and a tilted tube (Patterson et al. 2012, figures 5 and 4), on grids that are halved. Both ends are
// planes of every grid and are held; the rest of the skin is aligned with nothing.
//
// The elastic energy with given ends falls to its limit with the order of the scheme. The limit is found by
// Richardson's extrapolation of the second-order scheme and judges both.
#include "scene/scenes.h"
#include "shapes.h"

#define GRIDS 4
#define FRAMES 2  // in which the end is bent, so that no cell is crushed on the way
#define SIDES 48
#define RINGS 64

typedef struct model_case {
  const char* name;
  const char* mesh;
  const char* model;
  double poisson, angle;
} model_case;

static const model_case TIES[] = {{"bow-tie", "tie.obj", "corotated", 0.3, 0.3},
                                  {"bow-tie", "tie.obj", "stable-neo-hookean", 0.3, 0.3}};
// Flesh that does not contract sideways: at ends that are no right angles it would else have a singular
// stress, which trilinear cells do not resolve with second order.
static const model_case TUBES[] = {{"tube", "tube.obj", "corotated", 0, 0.3},
                                   {"tube", "tube.obj", "stable-neo-hookean", 0, 0.3}};

static double waist(double x) { return 0.12 + 0.1 * (1 - sin(SHAPE_PI * x)); }

static void write_vertex(FILE* file, double x, double radius, int side) {
  double angle = 2 * SHAPE_PI * side / SIDES + 0.3;
  fprintf(file, "v %.17g %.17g %.17g\n", x, radius * cos(angle), radius * sin(angle));
}

// Quads between two closed lines of vertices.
static void write_band(FILE* file, int first, int second) {
  for (int j = 0; j < SIDES; ++j) {
    int next = (j + 1) % SIDES;
    fprintf(file, "f %d %d %d %d\n", first + j + 1, second + j + 1, second + next + 1,
            first + next + 1);
  }
}

static void write_tie(void) {
  FILE* file = fopen(scratch_path("tie.obj"), "w");
  assert_non_null(file);
  for (int k = 0; k <= RINGS; ++k) {
    for (int j = 0; j < SIDES; ++j)
      write_vertex(file, (double)k / RINGS, waist((double)k / RINGS), j);
  }
  fprintf(file, "v 0 0 0\nv 1 0 0\n");
  int centre = (RINGS + 1) * SIDES + 1, last = RINGS * SIDES + 1;
  for (int k = 0; k < RINGS; ++k) write_band(file, (k + 1) * SIDES, k * SIDES);
  for (int j = 0; j < SIDES; ++j) {
    int next = (j + 1) % SIDES;
    fprintf(file, "f %d %d %d\nf %d %d %d\n", centre, next + 1, j + 1, centre + 1, last + j,
            last + next);
  }
  assert_int_equal(fclose(file), 0);
}

static void write_tube(void) {
  FILE* file = fopen(scratch_path("tube.obj"), "w");
  assert_non_null(file);
  int inner = (RINGS + 1) * SIDES, last = RINGS * SIDES;
  for (int wall = 0; wall < 2; ++wall) {
    for (int k = 0; k <= RINGS; ++k) {
      for (int j = 0; j < SIDES; ++j) {
        double x = (double)k / RINGS, r = wall ? 0.12 : 0.2, angle = 2 * SHAPE_PI * j / SIDES;
        fprintf(file, "v %.17g %.17g %.17g\n", x, r * cos(angle) + 0.15 * x,
                r * sin(angle) + 0.1 * x);
      }
    }
  }
  for (int k = 0; k < RINGS; ++k) {
    write_band(file, (k + 1) * SIDES, k * SIDES);
    write_band(file, inner + k * SIDES, inner + (k + 1) * SIDES);
  }
  write_band(file, 0, inner);
  write_band(file, inner + last, last);
  assert_int_equal(fclose(file), 0);
}

static int make_meshes(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_tie();
  write_tube();
  return 0;
}

// The far end as that of a bar bent into an arc.
static void write_motion(double angle, char* text, size_t size) {
  size_t length = (size_t)snprintf(text, size, "{\"frame\": 1}");
  for (int k = 1; k <= FRAMES; ++k) {
    double t = angle * k / FRAMES;
    length +=
        (size_t)snprintf(text + length, size - length,
                         ", {\"frame\": %d, \"rotate\": [0, 0, %.17g, %.17g], \"pivot\": [1, 0, 0],"
                         " \"translate\": [%.17g, %.17g, 0]}",
                         1 + k, sin(t / 2), cos(t / 2), sin(t) / t - 1, (1 - cos(t)) / t);
  }
}

typedef struct outcome {
  double energy;
  int steps, krylov;
  uint64_t cells;
} outcome;

static outcome bend(const model_case* m, int through, int quadrature, bool sharp,
                    double tolerance) {
  char motion[2048], text[4096];
  write_motion(m->angle, motion, sizeof motion);
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"gravity\": 0, \"frames\": [1, %d],"
           " \"bodies\": [{\"surface\": \"%s\", \"cell\": %.17g, \"coarsen\": 0,"
           "   \"quadrature\": %d,"
           "   \"material\": {\"model\": \"%s\", \"young\": 1e5, \"poisson\": %g}}],"
           " \"fixed\": [{\"where\": {\"box\": [[-1, -9, -9], [0, 9, 9]]}},"
           "   {\"where\": {\"box\": [[1, -9, -9], [2, 9, 9]]}, \"motion\": [%s]}],"
           " \"solver\": {\"newton\": {\"max\": 60, \"tolerance\": %g, \"sharp\": %s}}}",
           1 + FRAMES, m->mesh, 1.0 / through, quadrature, m->model, m->poisson, motion, tolerance,
           sharp ? "true" : "false");
  loaded l = load_scene(text, 2);
  outcome o = {0};
  for (int frame = 1; frame <= 1 + FRAMES; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    assert_true(stats.converged);
    o.steps += stats.newton;
    for (int k = 0; k < stats.newton; ++k) o.krylov += stats.krylov[k];
    o.energy = stats.energy_elastic;
    o.cells = stats.elements;
  }
  unload(&l);
  return o;
}

// Slope of the line through the logarithms of the errors of the last grids.
static double order_of(const double* error, int count) {
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    double x = 0.5 * (count - 1) - i;
    sum += x * log2(fabs(error[i]));
    squares += x * x;
  }
  return sum / squares;
}

static void converge(const model_case* m) {
  static const int THROUGH[GRIDS] = {8, 16, 32, 64};
  outcome o[2][GRIDS];
  for (int q = 0; q < 2; ++q) {
    for (int g = 0; g < GRIDS; ++g) o[q][g] = bend(m, THROUGH[g], 1 + q, false, 1e-8);
  }
  // a - b over b - c is 2^order, whatever the limit
  const outcome* second = o[1];
  double before = second[GRIDS - 3].energy - second[GRIDS - 2].energy;
  double after = second[GRIDS - 2].energy - second[GRIDS - 1].energy;
  double limit = second[GRIDS - 1].energy - after / 3, found = log2(before / after);
  for (int q = 0; q < 2; ++q) {
    double error[GRIDS];
    for (int g = 0; g < GRIDS; ++g) {
      error[g] = o[q][g].energy / limit - 1;
      print_message("%s, %s, quadrature %d, 1/%-3d %6u cells: energy %.6f J, off by %8.3f %%\n",
                    m->name, m->model, 1 + q, THROUGH[g], (unsigned)o[q][g].cells, o[q][g].energy,
                    100 * error[g]);
    }
    double order = q ? found : order_of(error + 1, GRIDS - 1);
    print_message("%s, %s, quadrature %d: order %.2f\n", m->name, m->model, 1 + q, order);
    if (q) assert_true(order >= 1.8 && log2(error[0] / error[1]) >= 1.8);
    if (!q) assert_true(order >= 0.8 && order <= 1.2);
  }
}

static void the_energy_of_a_bent_bow_tie_converges_with_second_order(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) converge(&TIES[k]);
}

static void the_energy_of_a_bent_tilted_tube_converges_with_second_order(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) converge(&TUBES[k]);
}

static void defect_correction_takes_few_more_steps(void** unused) {
  (void)unused;
  static const model_case CASES[] = {{"bow-tie", "tie.obj", "corotated", 0.3, 0.4},
                                     {"bow-tie", "tie.obj", "corotated", 0.45, 0.4},
                                     {"tube", "tube.obj", "corotated", 0, 0.4},
                                     {"tube", "tube.obj", "corotated", 0.45, 0.4}};
  static const double TOLERANCES[] = {1e-3, 1e-6};
  for (size_t c = 0; c < sizeof CASES / sizeof *CASES; ++c) {
    for (int t = 0; t < 2; ++t) {
      outcome plain = bend(&CASES[c], 32, 2, false, TOLERANCES[t]);
      outcome sharp = bend(&CASES[c], 32, 2, true, TOLERANCES[t]);
      print_message("%s, Poisson %g, to %g: %d Newton steps, %d Krylov; sharp %d, %d; ratio %.2f\n",
                    CASES[c].name, CASES[c].poisson, TOLERANCES[t], plain.steps, plain.krylov,
                    sharp.steps, sharp.krylov, (double)plain.steps / sharp.steps);
      assert_true(plain.steps <= 1.5 * sharp.steps);
      assert_near(plain.energy, sharp.energy, 10 * TOLERANCES[t] * sharp.energy);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_energy_of_a_bent_bow_tie_converges_with_second_order),
      cmocka_unit_test(the_energy_of_a_bent_tilted_tube_converges_with_second_order),
      cmocka_unit_test(defect_correction_takes_few_more_steps),
  };
  return cmocka_run_group_tests(tests, make_meshes, remove_scratch_folder);
}
