// What a body is thought to take before it is built.
#include "body/body.h"
#include "octree/bodies.h"

static double estimate(const sn_mesh* mesh, double cell, int coarsen) {
  sn_body_desc desc = {.mesh = *mesh, .cell = cell, .coarsen = coarsen};
  sn_box box;
  double cells, bytes;
  sn_body_estimate(&desc, &box, &cells, &bytes);
  assert_true(cells > 0 && bytes >= 100 * cells);
  return cells;
}

static double grow_cells(sn_mesh mesh, double cell, int coarsen) {
  prepared skin;
  grown g;
  prepare(&skin, mesh);
  grow(&g, &skin, cell, coarsen);
  double cells = g.tree.cell_count;
  ungrow(&g);
  unprepare(&skin);
  return cells;
}

// A cell that hardly holds anything of a thin sheet counts as one.
static bool is_sheet(int body) { return body == 4 || body == 5; }

static void uniform_grids_have_no_more_cells_than_estimated(void** unused) {
  (void)unused;
  for (int body = 0; body < CLOSED_BODIES; ++body) {
    sn_mesh mesh = make_closed(body);
    for (int coarsen = 0; coarsen < 2; ++coarsen) {
      double cell = is_sheet(body) ? 0.01 : 0.03, guess = estimate(&mesh, cell, coarsen);
      double cells = grow_cells(make_closed(body), cell, coarsen);
      print_message("body %d, coarsen %d: %.0f cells, estimated %.0f\n", body, coarsen, cells,
                    guess);
      assert_true(cells <= 1.1 * guess);
    }
    sn_mesh_destroy(&mesh);
  }
}

static sn_mesh two_balls(void) {
  return shape_join(shape_sphere(sn_v3(0, 0, 0), 0.2, 16), shape_sphere(sn_v3(1, 1, 1), 0.2, 16));
}

// Much less than the box around it, which two balls fill a fortieth of.
static void the_estimate_follows_the_shape(void** unused) {
  (void)unused;
  sn_mesh balls = two_balls();
  double cell = 0.01, side = 1.4 / cell, guess = estimate(&balls, cell, 0);
  assert_true(grow_cells(two_balls(), cell, 0) <= guess && guess < 0.1 * side * side * side);
  sn_mesh_destroy(&balls);
}

// Triangles that face the wrong way, or are missing, make the volume that they span small, not the estimate.
static void broken_surfaces_are_not_thought_small(void** unused) {
  (void)unused;
  sn_mesh ball = shape_sphere(sn_v3(0, 0, 0), 1, 30);
  double whole = estimate(&ball, 0.02, 0);
  shape_flip(&ball, 0, ball.triangle_count / 2);
  assert_true(estimate(&ball, 0.02, 0) == whole);
  ball.triangle_count -= ball.triangle_count / 10;
  assert_true(estimate(&ball, 0.02, 0) > 0.8 * whole);
  sn_mesh_destroy(&ball);
}

// Its columns along two axes have no width.
static void flat_surfaces_are_estimated_by_their_area(void** unused) {
  (void)unused;
  sn_mesh sheet = shape_box(sn_v3(0, 0, 0), sn_v3(1, 1, 0));
  double guess = estimate(&sheet, 0.01, 0);
  assert_true(isfinite(guess) && guess > 1e4 && guess < 1e5);
  sn_mesh_destroy(&sheet);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(uniform_grids_have_no_more_cells_than_estimated),
      cmocka_unit_test(the_estimate_follows_the_shape),
      cmocka_unit_test(broken_surfaces_are_not_thought_small),
      cmocka_unit_test(flat_surfaces_are_estimated_by_their_area)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
