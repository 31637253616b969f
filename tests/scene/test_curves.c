// Bars of a few cells in uniaxial and equibiaxial tension and compression and in simple shear: stress and
// lateral stretch against the curves of the laws. Homogeneous states are exact on any grid, so that bodies
// have to agree with points to what Newton leaves.
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "material/law.h"
#include "material/point.h"
#include "scene/made.h"

#define CURVES SN_TEST_ASSETS "/reference_data/uniaxial_curves.csv"
#define CLOSE 1e-5
#define FRAMES 4

// A cube of n cells a side with three planes of symmetry.
static made cube(sn_material material, int n, int coarsen) {
  made m = made_of(shape_unit_cube(), 1.0 / n, material);
  m.body.coarsen = coarsen;
  m.scene.solver.newton_tolerance = 1e-8;
  m.scene.solver.newton_max = 100;
  m.scene.solver.krylov_max = 400;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(0, 1, 1))->axes = SN_HELD_X;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(1, 0, 1))->axes = SN_HELD_Y;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(1, 1, 0))->axes = SN_HELD_Z;
  return m;
}

// The far face across an axis goes to that stretch.
static void pull(made* m, sn_held_axes axis, double stretch) {
  sn_vec3 to = axis == SN_HELD_X ? sn_v3(1, 0, 0) : sn_v3(0, 1, 0);
  uint32_t k = 2 * (m->scene.fixed_count - 3);
  sn_fixed_desc* fixed = made_hold(m, to, sn_v3(1, 1, 1));
  m->keys[k] = (sn_keyframe){.frame = 0, .rotate = {0, 0, 0, 1}};
  m->keys[k + 1] = m->keys[k];
  m->keys[k + 1].frame = FRAMES;
  m->keys[k + 1].translate = sn_scale(stretch - 1, to);
  fixed->axes = axis;
  fixed->motion = (sn_motion){.keys = &m->keys[k], .key_count = 2};
}

static void pull_slowly(made* m) {
  made_build(m);
  for (int frame = 1; frame <= FRAMES; ++frame) made_step(m, frame);
}

// Force along an axis that a fixed[] takes, N.
static double reaction(const made* m, uint32_t fixed, int axis) {
  const sn_body* body = &m->model->bodies[0];
  double sum = 0;
  for (uint32_t h = 0; h < body->held_count; ++h) {
    if (body->held[h].fixed == fixed) sum += m->state->reactions[3 * (size_t)h + (size_t)axis];
  }
  return sum;
}

// Mean displacement of the far face across an axis.
static double far_face(const made* m, int axis) {
  const sn_octree* tree = &m->model->bodies[0].tree;
  double sum = 0;
  int count = 0;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_vec3 p = sn_octree_node_place(tree, n);
    double at = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    if (at < 1 - 1e-9) continue;
    sum += m->state->u[3 * (size_t)n + (size_t)axis];
    ++count;
  }
  return sum / count;
}

static sn_material law_named(const char* name, double poisson) {
  static const struct {
    const char* name;
    sn_law law;
  } NAMES[] = {{"NH", SN_LAW_NEO_HOOKEAN},
               {"COR", SN_LAW_COROTATED},
               {"FCR", SN_LAW_FIXED_COROTATED},
               {"SVK", SN_LAW_STVK},
               {"MR", SN_LAW_MOONEY_RIVLIN}};
  for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k) {
    if (strcmp(NAMES[k].name, name) != 0) continue;
    sn_material m = sn_material_of(NAMES[k].law, lame_mu(1, poisson), lame_lambda(1, poisson));
    if (m.law == SN_LAW_MOONEY_RIVLIN) m.numbers[1] = 0.75;
    return m;
  }
  fail_msg("no law is called %s", name);
  return (sn_material){0};
}

typedef struct worst {
  double stress, stretch;
  int count;
} worst;

// Where laws go on below a limit of theirs they are not those of the books.
static bool is_within_limits(const sn_material* m, double l, double t) {
  if (m->law == SN_LAW_STVK) return fmin(l, t) > m->numbers[0];
  return l * t * t > 0.21;
}

// Forces at the nodes with every place X at F X, in equilibrium but for the boundary, N. The caller frees.
static double* forces_at(made* m, const double F[9], double* energy) {
  const sn_body* body = &m->model->bodies[0];
  double *g = calloc(m->model->unknown_count, sizeof *g), *u = m->state->u;
  assert_non_null(g);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_vec3 p = sn_octree_node_place(&body->tree, n);
    for (int i = 0; i < 3; ++i) {
      double to = F[3 * i] * p.x + F[3 * i + 1] * p.y + F[3 * i + 2] * p.z;
      u[3 * (size_t)n + (size_t)i] = to - (i == 0 ? p.x : i == 1 ? p.y : p.z);
    }
  }
  *energy = sn_flesh_evaluate(&body->flesh, m->pool, &m->state->bodies[0].flesh, u, g);
  return g;
}

// Sum of component i over the far face across `axis`.
static double sum_on_face(const made* m, const double* g, int axis, int i) {
  const sn_octree* tree = &m->model->bodies[0].tree;
  double sum = 0;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_vec3 p = sn_octree_node_place(tree, n);
    double at = axis == 0 ? p.x : axis == 1 ? p.y : p.z;
    if (at > 1 - 1e-9) sum += g[3 * (size_t)n + (size_t)i];
  }
  return sum;
}

static void note(worst* most, double stress, double stretch) {
  most->stress = fmax(most->stress, stress);
  most->stretch = fmax(most->stretch, stretch);
  most->count++;
}

// Find the state from rest.
static void pull_to(sn_material material, double l, double stress, double t, worst* most) {
  made m = cube(material, 4, -1);
  pull(&m, SN_HELD_X, l);
  pull_slowly(&m);
  double side = 1 + far_face(&m, 1), other = 1 + far_face(&m, 2);
  note(most, fabs(reaction(&m, 3, 0) - stress) / fmax(fabs(stress), 1e-3),
       fmax(fabs(side - t), fabs(other - t)) / t);
  made_destroy(&m);
}

// A cube with free sides buckles before it is half as high; the straight state is a balance all the same.
static void press_to(sn_material material, double l, double stress, double t, worst* most) {
  double F[9] = {l, 0, 0, 0, t, 0, 0, 0, t}, energy;
  made m = cube(material, 4, -1);
  made_build(&m);
  double* g = forces_at(&m, F, &energy);
  note(most, fabs(sum_on_face(&m, g, 0, 0) - stress) / fabs(stress),
       fmax(fabs(sum_on_face(&m, g, 1, 1)), fabs(sum_on_face(&m, g, 2, 2))) / material.mu);
  free(g);
  made_destroy(&m);
}

static void uniaxial_bars_follow_the_curves(void** unused) {
  (void)unused;
  FILE* file = fopen(CURVES, "r");
  if (!file) {
    print_message("%s is not there\n", CURVES);
    skip();
  }
  static const char* const LAWS[] = {"NH", "COR", "FCR", "SVK", "MR"};
  worst most[5] = {{0}};
  char line[256], name[16];
  double poisson, l, t, stress;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%lf,%15[^,],%lf,%lf,%lf", &poisson, name, &l, &stress, &t) != 5) continue;
    sn_material material = law_named(name, poisson);
    if (!is_within_limits(&material, l, t)) continue;
    for (int k = 0; k < 5; ++k) {
      if (strcmp(LAWS[k], name) != 0) continue;
      (l > 0.6 ? pull_to : press_to)(material, l, stress, t, &most[k]);
    }
  }
  fclose(file);
  for (int k = 0; k < 5; ++k) {
    print_message("uniaxial %-3s: %2d states, stress off by %.1e, lateral stretch by %.1e\n",
                  LAWS[k], most[k].count, most[k].stress, most[k].stretch);
    assert_true(most[k].count > 0 && most[k].stress <= CLOSE && most[k].stretch <= CLOSE);
  }
}

// Stretch across the plane that is free when both axes in it have the stretch l, by bisection.
static double free_stretch(const sn_material* material, double l, double* stress) {
  double low = 0.05, high = 5, F[9] = {l, 0, 0, 0, l, 0, 0, 0, 1}, P[9];
  for (int k = 0; k < 100; ++k) {
    F[8] = 0.5 * (low + high);
    sn_material_stress(material, F, P);
    if (P[8] > 0) {
      high = F[8];
    } else {
      low = F[8];
    }
  }
  *stress = P[0];
  return F[8];
}

static void check_biaxial_form(const sn_material* m, double poisson, double l, double P, double t) {
  double by = 1 / (1 - poisson), square = l * l - 1;
  if (m->law == SN_LAW_COROTATED) {
    assert_near(P, by * (l - 1), 1e-9);
    assert_near(t, 1 - 2 * poisson * by * (l - 1), 1e-9);
  } else if (m->law == SN_LAW_STVK) {
    assert_near(P, by * l * square / 2, 1e-9);
    assert_near(t * t, 1 - 2 * poisson * by * square, 1e-9);
  }
}

static void equibiaxial_sheets_follow_the_curves(void** unused) {
  (void)unused;
  static const char* const LAWS[] = {"NH", "COR", "FCR", "SVK", "MR"};
  static const double STRETCHES[] = {0.8, 0.9, 1.1, 1.25};
  for (int k = 0; k < 5; ++k) {
    worst most = {0};
    for (int i = 0; i < 4; ++i) {
      double poisson = 0.3, l = STRETCHES[i], stress;
      sn_material material = law_named(LAWS[k], poisson);
      double t = free_stretch(&material, l, &stress);
      check_biaxial_form(&material, poisson, l, stress, t);
      made m = cube(material, 4, 0);
      pull(&m, SN_HELD_X, l);
      pull(&m, SN_HELD_Y, l);
      pull_slowly(&m);
      double off = fmax(fabs(reaction(&m, 3, 0) - stress), fabs(reaction(&m, 4, 1) - stress));
      note(&most, off / fabs(stress), fabs(1 + far_face(&m, 2) - t) / t);
      made_destroy(&m);
    }
    print_message("biaxial  %-3s: %2d states, stress off by %.1e, free stretch by %.1e\n", LAWS[k],
                  most.count, most.stress, most.stretch);
    assert_true(most.stress <= CLOSE && most.stretch <= CLOSE);
  }
}

// Every node sheared by x += amount y: no force inside, energy and force on the upper face as at a point.
static void shear(const sn_material* material, double amount, int coarsen, worst* most) {
  double F[9] = {1, amount, 0, 0, 1, 0, 0, 0, 1}, P[9];
  double W = sn_material_stress(material, F, P), mu = material->mu, lambda = material->lambda;
  if (material->law == SN_LAW_NEO_HOOKEAN) assert_near(P[1], mu * amount, 1e-12);
  if (material->law == SN_LAW_STVK) {
    assert_near(P[1], mu * amount + (lambda / 2 + mu) * amount * amount * amount, 1e-12);
  }
  made m = cube(*material, 16, coarsen);
  made_build(&m);
  const sn_octree* tree = &m.model->bodies[0].tree;
  double energy, inside = 0, *g = forces_at(&m, F, &energy);
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_vec3 p = sn_octree_node_place(tree, n);
    sn_vec3 off = sn_v3(fabs(p.x - 0.5), fabs(p.y - 0.5), fabs(p.z - 0.5));
    if (fmax(off.x, fmax(off.y, off.z)) > 0.49) continue;
    for (size_t i = 3 * (size_t)n; i < 3 * (size_t)n + 3; ++i) inside = fmax(inside, fabs(g[i]));
  }
  note(most, fabs(sum_on_face(&m, g, 1, 0) - P[1]) / P[1],
       fmax(fabs(energy - W) / W, inside / (mu / 256)));
  free(g);
  made_destroy(&m);
}

static void sheared_blocks_follow_the_curves(void** unused) {
  (void)unused;
  static const char* const LAWS[] = {"NH", "COR", "FCR", "SVK", "MR"};
  for (int k = 0; k < 5; ++k) {
    worst most = {0};
    for (double amount = 0.1; amount < 2; amount *= 2) {
      sn_material material = law_named(LAWS[k], 0.3);
      if (material.law == SN_LAW_STVK) material.numbers[0] = 0.1;
      shear(&material, amount, -1, &most);
      shear(&material, amount, 0, &most);
    }
    print_message(
        "shear    %-3s: %2d states, stress off by %.1e, energy and forces inside by %.1e\n",
        LAWS[k], most.count, most.stress, most.stretch);
    assert_true(most.stress <= CLOSE && most.stretch <= CLOSE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniaxial_bars_follow_the_curves),
      cmocka_unit_test(equibiaxial_sheets_follow_the_curves),
      cmocka_unit_test(sheared_blocks_follow_the_curves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
