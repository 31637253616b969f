#include "octree/octree_fill.h"

#include "octree/bodies.h"

// A skin, its tree and the shares of its cells.
typedef struct filled {
  prepared skin;
  grown g;
  double* exact;
  float* fill;
} filled;

static void fill_on(sn_pool* pool, filled* f, sn_mesh mesh, double cell, int coarsen) {
  sn_arena* scratch;
  sn_error err = {0};
  prepare(&f->skin, mesh);
  grow_on(pool, &f->g, &f->skin, NULL, cell, coarsen);
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  assert_int_equal(SN_ARENA_NEW(f->g.arena, f->g.tree.cell_count, &f->exact, NULL), SN_OK);
  assert_int_equal(SN_ARENA_NEW(f->g.arena, f->g.tree.cell_count, &f->fill, NULL), SN_OK);
  const sn_bvh* skin = &f->skin.bvh;
  if (sn_octree_fill_unbounded(&f->g.tree, skin, pool, scratch, f->exact, &err) != SN_OK ||
      sn_octree_fill(&f->g.tree, skin, pool, scratch, f->fill, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  // Scratch is left as it was: empty.
  assert_int_equal(sn_arena_bytes(scratch), 0);
  sn_arena_destroy(scratch);
}

static void unfill(filled* f) {
  ungrow(&f->g);
  unprepare(&f->skin);
}

// ---- Volumes

static void shares_add_up_to_the_volume_of_the_surface(void** unused) {
  (void)unused;
  for (int body = 0; body < CLOSED_BODIES; ++body) {
    for (int n = 5; n <= 47; n += 14) {
      for (int coarsen = -1; coarsen <= 0; ++coarsen) {
        filled f;
        prepare(&f.skin, make_closed(body));
        double cell = sn_box_size(f.skin.surface.box) / (n + 0.3), sum = 0;
        unprepare(&f.skin);
        fill_on(NULL, &f, make_closed(body), cell, coarsen);
        for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
          double edge = sn_octree_edge(&f.g.tree, e);
          sum += edge * edge * edge * f.exact[e];
          assert_true(f.exact[e] > -1e-12 && f.exact[e] < 1 + 1e-12);
          double bounded = f.exact[e] < SN_LEAST_FILL ? SN_LEAST_FILL : f.exact[e];
          assert_true(fabs(f.fill[e] - bounded) < 1e-7);
        }
        double volume = f.skin.surface.volume;
        if (!(fabs(sum - volume) <= 1e-9 * volume)) {
          fail_msg("body %d, n %d: %.12g of %.12g", body, n, sum, volume);
        }
        unfill(&f);
      }
    }
  }
}

static void cells_of_a_cube_on_the_grid_are_full(void** unused) {
  (void)unused;
  static const int counts[] = {1, 2, 7, 8, 10, 12};
  for (int k = 0; k < 6; ++k) {
    for (int coarsen = -1; coarsen <= 0; ++coarsen) {
      filled f;
      sn_mesh cube = shape_unit_cube();
      shape_move(&cube, 1, sn_v3(0.1 * k, 1.0 / 3, -0.7));
      fill_on(NULL, &f, cube, 1.0 / counts[k], coarsen);
      for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) assert_true(f.fill[e] == 1);
      unfill(&f);
    }
  }
}

// Faces that leave the planes of the grid by less than what counts as touching: parts of the skin are in
// cells that the tree does not have.
static void a_skin_that_nearly_follows_the_grid_fills_it(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int k = 0; k < 20; ++k) {
    filled f;
    sn_mesh cube = shape_unit_cube();
    for (int i = 0; i < 24; ++i) cube.positions[i] += 4e-8 * sn_random_symmetric(&random);
    fill_on(NULL, &f, cube, 0.1, -1);
    assert_int_equal(tree_volume(&f.g.tree), 1000);
    for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) assert_true(fabs(f.exact[e] - 1) < 3e-6);
    unfill(&f);
  }
}

// ---- Single cells

// The share of the unit cube with n . x < d, for n without zeros: inclusion and exclusion of the
// tetrahedra that the plane cuts off beyond the corners.
static double share_below_plane(const double n[3], double d) {
  double size[3], sum = 0;
  for (int i = 0; i < 3; ++i) {
    size[i] = fabs(n[i]);
    if (n[i] < 0) d += size[i];
  }
  for (int c = 0; c < 8; ++c) {
    double beyond = d, sign = 1;
    for (int i = 0; i < 3; ++i) {
      if (!(c >> i & 1)) continue;
      beyond -= size[i];
      sign = -sign;
    }
    if (beyond > 0) sum += sign * beyond * beyond * beyond;
  }
  return sum / (6 * size[0] * size[1] * size[2]);
}

// Cells that only one of a tilted box's six faces can reach.
static void cells_cut_by_a_plane_have_the_share_of_the_closed_form(void** unused) {
  (void)unused;
  filled f;
  double half = 0.5, cell = 1 / 19.7;
  fill_on(NULL, &f, tilted(shape_box(sn_v3(-half, -half, -half), sn_v3(half, half, half))), cell,
          -1);
  const sn_octree* tree = &f.g.tree;
  sn_mat3 turn = tilt();
  int compared = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (tree->cells[e].height > 0) continue;
    sn_vec3 centre = sn_octree_cell_centre(tree, e);
    int near = 0;
    double n[3] = {0}, d = 0;
    for (int face = 0; face < 6; ++face) {
      double sign = face & 1 ? 1 : -1, out[3], low = 0, reach = 0;
      for (int i = 0; i < 3; ++i) out[i] = sign * turn.m[i][face / 2];
      double above = sn_dot(sn_load3(out), centre) - half;
      for (int i = 0; i < 3; ++i) {
        reach += 0.5 * cell * fabs(out[i]);
        low += 0.5 * out[i];
      }
      if (above < -reach) continue;
      ++near;
      for (int i = 0; i < 3; ++i) n[i] = out[i];
      d = low - above / cell;
    }
    if (near != 1) continue;
    ++compared;
    assert_true(fabs(f.exact[e] - share_below_plane(n, d)) < 1e-11);
  }
  assert_true(compared > 1000);
  unfill(&f);
}

// A closed body against points on a fine grid in each cell.
static void shares_are_those_of_many_points(void** unused) {
  (void)unused;
  filled f;
  fill_on(NULL, &f, shape_torus(1, 0.35, 12), 0.3, -1);
  const sn_octree* tree = &f.g.tree;
  const int side = 8;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    int inside = 0;
    double edge = sn_octree_edge(tree, e);
    sn_vec3 centre = sn_octree_cell_centre(tree, e);
    for (int k = 0; k < side * side * side; ++k) {
      sn_vec3 at = sn_v3(k % side, k / side % side, k / side / side);
      at = sn_sub(at, sn_v3(0.5 * side - 0.5, 0.5 * side - 0.5, 0.5 * side - 0.5));
      inside += winds_around(&f.skin.bvh, sn_madd(centre, edge / side, at));
    }
    assert_true(fabs(f.exact[e] - (double)inside / (side * side * side)) < 0.03);
  }
  assert_true(tree->cell_count > 200);
  unfill(&f);
}

// ---- Surfaces without a volume

// Nothing but bounds, whatever the triangles.
static void open_surfaces_stay_within_bounds(void** unused) {
  (void)unused;
  for (int body = 0; body < 6; ++body) {
    sn_vec3 zero = {0, 0, 0};
    sn_mesh mesh = body == 0   ? shape_hemisphere(zero, 1, 12)
                   : body == 1 ? tilted(shape_hemisphere(zero, 1, 12))
                   : body == 2 ? shape_soup(4, 400, 0.4)
                   : body == 3 ? shape_soup(5, 50, 1)
                   : body == 4 ? shape_sheet(zero, sn_v3(1, 0, 0), sn_v3(0, 0.8, 0), 5)
                               : shape_one_triangle(zero, sn_v3(1, 0.2, 0), sn_v3(0.3, 0.9, -0.4));
    filled f;
    fill_on(NULL, &f, mesh, 0.07, -1);
    for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
      assert_true(f.fill[e] >= (float)SN_LEAST_FILL && f.fill[e] <= 1);
    }
    unfill(&f);
  }
}

// A bowl has no skin above, a dome none below: in both the cells along the skin have the shares that
// they have in the whole sphere.
static void a_cut_off_sphere_has_the_shares_of_a_whole_one(void** unused) {
  (void)unused;
  for (int bowl = 0; bowl < 2; ++bowl) {
    filled whole, half;
    sn_vec3 zero = {0, 0, 0};
    sn_mesh open = shape_hemisphere(zero, 1, 16);
    if (bowl) {
      shape_move(&open, -1, zero);
      shape_flip(&open, 0, open.triangle_count);
    }
    fill_on(NULL, &half, open, 0.1, 0);
    fill_on(NULL, &whole, shape_sphere(zero, 1, 16), 0.1, 0);
    const sn_octree* tree = &half.g.tree;
    int compared = 0;
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      double xi[3];
      sn_vec3 centre = sn_octree_cell_centre(tree, e);
      if (fabs(centre.z) < 0.1) continue;
      uint32_t same = sn_octree_nearest(&whole.g.tree, centre, xi);
      assert_true(fabs(half.fill[e] - whole.fill[same]) < 1e-6);
      compared += half.fill[e] < 1;
    }
    assert_true(compared > 500);
    unfill(&half);
    unfill(&whole);
  }
}

// Where one body is inside another, the skin of the inner one takes nothing away.
static void cells_within_an_overlap_are_full(void** unused) {
  (void)unused;
  filled f;
  sn_vec3 zero = {0, 0, 0};
  fill_on(NULL, &f, shape_join(shape_sphere(zero, 1, 16), shape_sphere(zero, 0.5, 12)), 0.1, -1);
  for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
    if (sn_length(sn_octree_cell_centre(&f.g.tree, e)) < 0.7) assert_true(f.fill[e] == 1);
  }
  unfill(&f);
}

// Two balls of radius r whose centres are d apart share a lens of pi (2 r - d)^2 (d^2 + 4 d r) / (12 d).
// What they fill together, the surfaces being polyhedra, is twice one of them less the lens, in ratio.
static void what_overlaps_counts_once(void** unused) {
  (void)unused;
  static const double apart[] = {1.5, 0.6, 0.1, 0.02};
  sn_vec3 zero = {0, 0, 0};
  for (int k = 0; k < 4; ++k) {
    filled f;
    double d = apart[k], sum = 0, both = (2 - d) * (2 - d) * (d * d + 4 * d) / (16 * d);
    sn_mesh second = shape_sphere(sn_v3(0.6 * d, 0, 0.8 * d), 1, 16);
    fill_on(NULL, &f, shape_join(shape_sphere(zero, 1, 16), second), 0.15, -1);
    for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
      double edge = sn_octree_edge(&f.g.tree, e);
      sum += edge * edge * edge * (double)f.fill[e];
    }
    double expected = f.skin.surface.volume * (1 - both / 2);
    if (!(fabs(sum - expected) < 0.005 * expected))
      fail_msg("%g apart: %g of %g", d, sum, expected);
    unfill(&f);
  }
}

// A bar through the side of a box: triangles of hundreds of cells, some within the other body, some outside, and
// some that pass through its faces and count for a part.
static void large_triangles_count_where_they_are_outside(void** unused) {
  (void)unused;
  filled f;
  double sum = 0, expected = 1 + 0.5 * 0.5 * 0.5;
  sn_mesh bar = shape_box(sn_v3(0.5, 0.25, 0.25), sn_v3(1.5, 0.75, 0.75));
  fill_on(NULL, &f, shape_join(shape_unit_cube(), bar), 0.0313, -1);
  for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
    double edge = sn_octree_edge(&f.g.tree, e);
    sum += edge * edge * edge * (double)f.fill[e];
  }
  if (!(fabs(sum - expected) < 0.005 * expected)) fail_msg("%g of %g", sum, expected);
  print_message("off by %.2g %%\n", 100 * (sum / expected - 1));
  unfill(&f);
}

// ---- Threads and memory

static void same_bits_on_any_number_of_threads(void** unused) {
  (void)unused;
  sn_pool* pool;
  assert_int_equal(sn_pool_create(3, &pool, NULL), SN_OK);
  for (int body = 0; body < 3; ++body) {
    filled one, three;
    for (int k = 0; k < 2; ++k) {
      sn_mesh mesh = body == 0   ? shape_blob(2, 0.04)
                     : body == 1 ? shape_soup(6, 300, 0.5)
                                 : shape_join(shape_blob(2, 0.2), shape_blob(3, 0.2));
      fill_on(k == 0 ? NULL : pool, k == 0 ? &one : &three, mesh, body == 0 ? 0.031 : 0.07, -1);
    }
    size_t count = one.g.tree.cell_count;
    assert_int_equal(three.g.tree.cell_count, count);
    assert_memory_equal(one.exact, three.exact, count * sizeof *one.exact);
    assert_memory_equal(one.fill, three.fill, count * sizeof *one.fill);
    unfill(&one);
    unfill(&three);
  }
  sn_pool_destroy(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shares_add_up_to_the_volume_of_the_surface),
      cmocka_unit_test(cells_of_a_cube_on_the_grid_are_full),
      cmocka_unit_test(a_skin_that_nearly_follows_the_grid_fills_it),
      cmocka_unit_test(cells_cut_by_a_plane_have_the_share_of_the_closed_form),
      cmocka_unit_test(shares_are_those_of_many_points),
      cmocka_unit_test(open_surfaces_stay_within_bounds),
      cmocka_unit_test(a_cut_off_sphere_has_the_shares_of_a_whole_one),
      cmocka_unit_test(cells_within_an_overlap_are_full),
      cmocka_unit_test(what_overlaps_counts_once),
      cmocka_unit_test(large_triangles_count_where_they_are_outside),
      cmocka_unit_test(same_bits_on_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
