#include "octree/octree_raster.h"

#include "geometry/prepared.h"
#include "geometry/triangle_box.h"
#include "math/vec.h"
#include "trials.h"

#define ROOT_HEIGHT 6
#define SIDE (1 << ROOT_HEIGHT)

// Flags of each finest cell by the test of thirteen axes; 0: not touched.
static void flags_of_all(const prepared* p, uint8_t flags[SIDE * SIDE * SIDE]) {
  for (int i = 0; i < SIDE * SIDE * SIDE; ++i) {
    sn_vec3 centre = {i % SIDE + 0.5, i / SIDE % SIDE + 0.5, i / (SIDE * SIDE) + 0.5};
    flags[i] = 0;
    for (uint32_t t = 0; t < p->surface.triangle_count; ++t) {
      sn_vec3 corner[3];
      prepared_corners(p, t, corner);
      sn_triangle_axes axes = sn_triangle_find_axes(corner);
      int touched = sn_triangle_touches_cubes(&axes, centre, 0.5 + SN_TOUCH, 0.5 - SN_TOUCH);
      if (touched > 0) flags[i] |= SN_OCTANT_TOUCHED;
      if (touched > 1) flags[i] |= SN_OCTANT_CUT;
    }
  }
}

// @param places of three corners, within the root
static void check_triangle(const double places[9]) {
  static const uint32_t CORNERS[3] = {0, 1, 2};
  static uint8_t expected[SIDE * SIDE * SIDE];
  sn_mesh mesh;
  assert_int_equal(sn_mesh_from_arrays(places, 3, CORNERS, 1, &mesh, NULL), SN_OK);
  prepared p;
  prepare(&p, mesh);
  flags_of_all(&p, expected);
  sn_octree tree = {.cell = 1, .root_height = ROOT_HEIGHT};
  sn_octree_seed seed = {&p.surface, true};
  sn_octree_input input = {.seeds = &seed, .seed_count = 1};
  sn_octants fine;
  assert_int_equal(sn_octree_rasterise(&input, &tree, NULL, p.scratch, &fine, NULL), SN_OK);
  for (size_t i = 0; i < fine.count; ++i) {
    sn_octant o = fine.items[i];
    uint8_t* flags = &expected[(o.z * SIDE + o.y) * SIDE + o.x];
    assert_int_equal(o.flags, *flags);
    assert_int_not_equal(o.flags, 0);
    *flags = 0;
  }
  for (int i = 0; i < SIDE * SIDE * SIDE; ++i) assert_int_equal(expected[i], 0);
  unprepare(&p);
}

static void a_triangle_touches_what_thirteen_axes_do_not_part_from_it(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(7);
  static const double SIZES[] = {0.3, 2, 7, 15, 60};
  for (int n = 0; n < trials(60); ++n) {
    double size = SIZES[n % 5], places[9], low[3];
    for (int i = 0; i < 3; ++i) low[i] = sn_random_unit(&random) * (SIDE - size);
    for (int i = 0; i < 9; ++i) places[i] = low[i % 3] + size * sn_random_unit(&random);
    check_triangle(places);
  }
}

// In planes and along lines of the grid, and next to segments: there most axes have no slope.
static void triangles_in_line_with_the_grid_are_no_exception(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(8);
  for (int n = 0; n < trials(60); ++n) {
    double places[9];
    int size = n % 2 ? 5 : 40;
    for (int i = 0; i < 9; ++i) places[i] = floor(size * sn_random_unit(&random)) + 3;
    for (int c = 0; c < 3; ++c) places[3 * c + n % 3] = 4 + 0.5 * (n % 4);
    if (n % 5 == 0) {
      for (int i = 0; i < 3; ++i)
        places[6 + i] = 0.5 * (places[i] + places[3 + i]) + (i == 1) * 1e-4;
    }
    check_triangle(places);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_triangle_touches_what_thirteen_axes_do_not_part_from_it),
      cmocka_unit_test(triangles_in_line_with_the_grid_are_no_exception),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
