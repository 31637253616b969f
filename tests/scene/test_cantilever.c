// A solid cantilever that sags by a quarter of its length, against an independent high-order
// computation of the same law: box 1 x 0.25 x 0.25 m, E = 1 MPa, nu = 0.3, 1000 kg/m3, 9.81 m/s2.
// Numbers are trusted to four digits.
#include <math.h>

#include "scene/scenes.h"

static int make_beam(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("beam.obj", 1, 0.25, 0.25);
  return 0;
}

typedef struct reference {
  const char* law;
  double x, y;  // how far the centre of the end face moves
  double energy, volume;
} reference;

static const reference COROTATED = {"corotated", -0.03033, -0.23646, 29.690, 0.062478};
static const reference NEO_HOOKEAN = {"neo-hookean", -0.02971, -0.23684, 29.768, 0.062514};
static const reference STVK = {"stvk", -0.03186, -0.23705, 29.817, 0.062420};

// @param through cells through the thickness
static void sag(const reference* expected, const char* coarsen, int through, double tolerance) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "{\"mode\": \"quasistatic\", \"frames\": [1, 1], \"bodies\": [{\"surface\": \"beam.obj\","
      " \"cell\": %.17g, \"coarsen\": %s, \"density\": 1000,"
      " \"material\": {\"model\": \"%s\", \"young\": 1e6, \"poisson\": 0.3}}],"
      " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
      " \"solver\": {\"newton\": {\"max\": 30, \"tolerance\": 1e-5},"
      "               \"krylov\": {\"max\": 2000}}}",
      0.25 / through, coarsen, expected->law);
  loaded l = load_scene(text, 2);
  sn_frame_stats stats = step(&l, 1);
  const float* p = surface(&l);
  double tip[2] = {-1, -0.125};
  for (int c = 1; c < 8; c += 2) {
    tip[0] += p[3 * c] / 4.0;
    tip[1] += p[3 * c + 1] / 4.0;
  }
  print_message("%s, coarsen %s, %d cells through: tip (%.5f, %.5f), energy %.3f, volume %.6f\n",
                expected->law, coarsen, through, tip[0], tip[1], stats.energy_elastic,
                stats.volume);
  assert_true(stats.converged);
  assert_near(tip[0], expected->x, tolerance * fabs(expected->y));
  assert_near(tip[1], expected->y, tolerance * fabs(expected->y));
  assert_near(stats.energy_elastic, expected->energy, 2 * tolerance * expected->energy);
  assert_near(stats.volume, expected->volume, 1e-3 * expected->volume);
  unload(&l);
}

static void a_uniform_grid_of_16_cells_through_is_right_within_1_percent(void** unused) {
  (void)unused;
  sag(&COROTATED, "0", 16, 0.01);
}

static void other_laws_are_right_within_1_percent_too(void** unused) {
  (void)unused;
  sag(&NEO_HOOKEAN, "0", 16, 0.01);
  sag(&STVK, "0", 16, 0.01);
}

static void an_octree_of_16_cells_through_is_right_within_3_percent(void** unused) {
  (void)unused;
  sag(&COROTATED, "null", 16, 0.03);
}

static void eight_cells_through_are_right_within_3_percent(void** unused) {
  (void)unused;
  sag(&COROTATED, "0", 8, 0.03);
}

// The elastica: a slender, inextensible beam with a dead load P at its end, alpha = P L^2 / (E I).
// Closed form (Bisshopp and Drucker 1945): u is the shortening, w the deflection, over the length.
static void a_slender_beam_follows_the_elastica(void** unused) {
  (void)unused;
  static const double ALPHA[] = {1, 2}, U[] = {0.0564332363, 0.1606417208},
                      W[] = {0.3017207738, 0.4934574804};
  double thickness = 0.05, second_moment = thickness * thickness * thickness * thickness / 12;
  char text[1024];
  write_box("beam.obj", 1, thickness, thickness);
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"frames\": [1, 2], \"gravity\": 0,"
           " \"bodies\": [{\"surface\": \"beam.obj\", \"cell\": %.17g,"
           " \"material\": {\"young\": 1e6, \"poisson\": 0}}],"
           " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
           " \"forces\": [{\"where\": {\"box\": [[1, 0, 0], [1, 1, 1]]},"
           "   \"force\": [{\"frame\": 0, \"value\": [0, 0, 0]},"
           "               {\"frame\": 2, \"value\": [0, %.17g, 0]}]}],"
           " \"solver\": {\"newton\": {\"max\": 40, \"tolerance\": 1e-5}}}",
           thickness / 16, -2e6 * second_moment);
  loaded l = load_scene(text, 2);
  for (int k = 0; k < 2; ++k) {
    assert_true(step(&l, k + 1).converged);
    const float* p = surface(&l);
    double u = 1, w = thickness / 2;
    for (int c = 1; c < 8; c += 2) {
      u -= p[3 * c] / 4.0;
      w -= p[3 * c + 1] / 4.0;
    }
    double off = sqrt((u - U[k]) * (u - U[k]) + (w - W[k]) * (w - W[k]));
    double way = sqrt(U[k] * U[k] + W[k] * W[k]);
    print_message("alpha %g: u %.5f, w %.5f; the tip is off by %.2f %% of its way\n", ALPHA[k], u,
                  w, 100 * off / way);
    assert_true(off < 0.03 * way);
  }
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_uniform_grid_of_16_cells_through_is_right_within_1_percent,
                                      make_beam, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(other_laws_are_right_within_1_percent_too, make_beam,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(an_octree_of_16_cells_through_is_right_within_3_percent,
                                      make_beam, remove_scratch_folder),
      cmocka_unit_test_setup_teardown(a_slender_beam_follows_the_elastica, make_beam,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(eight_cells_through_are_right_within_3_percent, make_beam,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
