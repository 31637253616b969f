// Large deformations at Poisson's ratio 0.498, after figure 2 of Patterson, Mitchell and Sifakis 2012: laws that
// measure J keep the volume, of the body and of every cell; the corotated law, which measures the trace, loses
// much of it.
#include <math.h>

#include "elasticity/cell_modes.h"
#include "elasticity/law_cell.h"
#include "material/law.h"
#include "scene/made.h"

#define FRAMES 6  // on the way

typedef struct volumes {
  double whole;      // change of the body's volume, relative
  double worst;      // of the cell that changes most
  double stress;     // largest |J - 1 - p / bulk| of a cell
  double disagrees;  // largest difference of the two ways to find the mean of J
} volumes;

// A bar of 12 x 24 x 12 cells, held below. Above it goes to `stretch` times its length and turns.
static made bar(sn_law law, double stretch, double angle) {
  double young = 1e4, poisson = 0.498;
  made m = made_of(shape_box(sn_v3(0, 0, 0), sn_v3(1, 2, 1)), 1.0 / 12,
                   sn_material_of(law, lame_mu(young, poisson), lame_lambda(young, poisson)));
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(1, 0, 1));
  made_hold(&m, sn_v3(0, 2, 0), sn_v3(1, 2, 1));
  m.keys[0] = (sn_keyframe){.frame = 0, .rotate = {0, 0, 0, 1}, .pivot = {0.5, 2, 0.5}};
  m.keys[1] = m.keys[0];
  m.keys[1].frame = FRAMES;
  m.keys[1].translate = sn_v3(0, 2 * (stretch - 1), 0);
  m.keys[1].rotate = (sn_quat){0, sin(angle / 2), 0, cos(angle / 2)};
  m.scene.solver.newton_tolerance = 1e-5;
  m.scene.solver.newton_max = 100;
  m.scene.solver.krylov_max = 100;
  return m;
}

static void get_modes(const made* m, uint32_t cell, double q[3][8]) {
  const sn_octree* tree = &m->model->bodies[0].tree;
  double corners[8][3];
  for (int c = 0; c < 8; ++c) {
    const double* u = m->state->u + 3 * (size_t)sn_octree_corner(tree, cell, (int)c);
    memcpy(corners[c], u, sizeof corners[c]);
  }
  sn_cell_to_modes(sn_flesh_shape(tree, cell), (const double(*)[3])corners, q);
}

// By eight Gauss points, which integrate det F exactly.
static double mean_volume(double h, double q[3][8]) {
  double sum = 0, g = 1 / sqrt(3);
  for (int k = 0; k < 8; ++k) {
    double eta[3] = {k & 1 ? g : -g, k & 2 ? g : -g, k & 4 ? g : -g};
    sum += sn_cell_volume_at(h, q, eta) / 8;
  }
  return sum;
}

static volumes measure(const made* m) {
  const sn_octree* tree = &m->model->bodies[0].tree;
  const sn_material* law = &m->body.material;
  volumes v = {0};
  double volume = 0, rest = 0;
  bool measures_J = law->law != SN_LAW_COROTATED;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    double q[3][8], M[3], h = sn_octree_edge(tree, e);
    get_modes(m, e, q);
    double J = mean_volume(h, q), found = sn_cell_mean_volume(h, q, NULL);
    volume += h * h * h * J;
    rest += h * h * h;
    v.worst = fmax(v.worst, fabs(J - 1));
    v.disagrees = fmax(v.disagrees, fabs(J - found));
    if (!measures_J) continue;
    sn_law_measure(law, found, M);
    v.stress = fmax(v.stress, fabs(J - 1 - M[0] * M[1]));  // p = bulk M M'
  }
  v.whole = volume / rest - 1;
  return v;
}

static volumes deform(sn_law law, const char* way, double stretch, double angle) {
  made m = bar(law, stretch, angle);
  m.fixed[1].motion = (sn_motion){.keys = m.keys, .key_count = 2};
  made_build(&m);
  sn_frame_stats stats = {0};
  int newton = 0;
  for (int frame = 1; frame <= FRAMES; ++frame) {
    stats = made_step(&m, frame);
    newton += stats.newton;
  }
  volumes v = measure(&m);
  print_message(
      "%-18s %-8s %llu cells, %3d Newton steps, residual %.0e: volume %+.3f %%, worst cell "
      "%.2f %%, |J - 1 - p/bulk| %.1e, means off by %.0e\n",
      sn_law_name(law), way, (unsigned long long)stats.elements, newton, stats.residual,
      100 * v.whole, 100 * v.worst, v.stress, v.disagrees);
  assert_true(stats.converged && stats.inverted == 0);
  assert_true(v.disagrees < 1e-12);
  assert_near(v.whole, stats.volume_error, 1e-3);
  made_destroy(&m);
  return v;
}

static const struct {
  const char* name;
  double stretch, angle;
} WAYS[] = {{"pulled", 2, 0}, {"squeezed", 0.65, 0}, {"twisted", 1.2, 2.5}};

static void laws_that_measure_J_keep_the_volume(void** unused) {
  (void)unused;
  static const sn_law LAWS[] = {SN_LAW_STABLE_NEO_HOOKEAN, SN_LAW_NEO_HOOKEAN};
  for (int l = 0; l < 2; ++l) {
    for (int w = 0; w < 3; ++w) {
      volumes v = deform(LAWS[l], WAYS[w].name, WAYS[w].stretch, WAYS[w].angle);
      assert_true(fabs(v.whole) < 0.003);
      assert_true(v.worst < 0.02);
      // M M' of ln J is J - 1 up to its square.
      assert_true(v.stress <= (LAWS[l] == SN_LAW_NEO_HOOKEAN ? 2 * v.worst * v.worst : 1e-12));
    }
  }
}

static void the_corotated_law_loses_volume(void** unused) {
  (void)unused;
  volumes v = deform(SN_LAW_COROTATED, WAYS[0].name, WAYS[0].stretch, WAYS[0].angle);
  assert_true(v.whole < -0.3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(laws_that_measure_J_keep_the_volume),
      cmocka_unit_test(the_corotated_law_loses_volume),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
