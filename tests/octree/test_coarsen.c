#include "octree/coarsen.h"

#include <math.h>

#include "geometry/bvh.h"
#include "geometry/surface.h"
#include "shapes.h"

#define MAX_LEVELS 16

typedef struct trees {
  sn_arena *arena, *scratch;
  sn_octree levels[MAX_LEVELS];
  sn_transfer transfers[MAX_LEVELS];
  int count;
} trees;

static bool is_inside(const void* bvh, sn_vec3 p) { return sn_bvh_winding(bvh, p) > 0.5; }

// A tree around the mesh and all coarser ones, down to a few cells.
static trees build_trees(sn_mesh* mesh, int axis_cells, int coarsen, sn_pool* pool) {
  trees t = {0};
  sn_error err = {0};
  sn_surface surface;
  sn_bvh bvh;
  assert_int_equal(sn_arena_create(&t.arena, &err), SN_OK);
  assert_int_equal(sn_arena_create(&t.scratch, &err), SN_OK);
  assert_int_equal(sn_surface_prepare(mesh, t.arena, t.scratch, &surface, &err), SN_OK);
  assert_int_equal(sn_bvh_build(&surface, NULL, t.arena, t.scratch, &bvh, &err), SN_OK);
  sn_octree_seed seed = {&surface, true};
  double side =
      fmax(surface.box.hi.x - surface.box.lo.x,
           fmax(surface.box.hi.y - surface.box.lo.y, surface.box.hi.z - surface.box.lo.z));
  sn_octree_input input = {surface.box, side / axis_cells, coarsen, &seed,
                           1,           is_inside,         &bvh,    NULL};
  assert_int_equal(sn_octree_build(&input, pool, t.arena, t.arena, t.scratch, &t.levels[0], &err),
                   SN_OK);
  t.count = 1;
  while (t.count < MAX_LEVELS && t.levels[t.count - 1].cell_count > 1) {
    sn_octree *fine = &t.levels[t.count - 1], *coarse = fine + 1;
    assert_int_equal(sn_octree_coarsen(fine, pool, t.arena, t.arena, t.scratch, coarse, &err),
                     SN_OK);
    if (coarse->cell_count == fine->cell_count) break;
    assert_int_equal(
        sn_transfer_build(fine, coarse, pool, t.arena, t.scratch, &t.transfers[t.count - 1], &err),
        SN_OK);
    t.count++;
  }
  sn_mesh_destroy(mesh);
  return t;
}

static void destroy_trees(trees* t) {
  sn_arena_destroy(t->arena);
  sn_arena_destroy(t->scratch);
}

// Each test runs over these bodies.
static void for_all_bodies(void (*check)(const trees* t)) {
  for (int body = 0; body < 4; ++body) {
    for (int coarsen = -1; coarsen <= 1; ++coarsen) {
      sn_mesh mesh = body == 0   ? shape_unit_cube()
                     : body == 1 ? shape_sphere(sn_v3(0, 0, 0), 1, 12)
                     : body == 2 ? shape_torus(1, 0.3, 24)
                                 : shape_box(sn_v3(0, 0, 0), sn_v3(4, 0.3, 0.1));
      trees t = build_trees(&mesh, 24, coarsen, NULL);
      check(&t);
      destroy_trees(&t);
    }
  }
}

static void check_valid(const trees* t) {
  for (int l = 0; l < t->count; ++l) {
    const char* why = "";
    if (!sn_octree_is_valid(&t->levels[l], &why)) fail_msg("level %d: not so: %s", l, why);
    if (l > 0) assert_true(t->levels[l].cell_count < t->levels[l - 1].cell_count);
  }
  assert_true(t->levels[t->count - 1].cell_count <= 8);
}

static void every_coarser_tree_is_valid_and_smaller(void** unused) {
  (void)unused;
  for_all_bodies(check_valid);
}

static void check_cover(const trees* t) {
  for (int l = 0; l + 1 < t->count; ++l) {
    const sn_octree *fine = &t->levels[l], *coarse = &t->levels[l + 1];
    for (uint32_t e = 0; e < fine->cell_count; ++e) {
      sn_octant o = fine->cells[e];
      uint32_t c = sn_transfer_coarse_cell(&t->transfers[l], coarse, e);
      assert_true(sn_octant_holds(coarse->cells[c], o.x, o.y, o.z));
      assert_true(coarse->cells[c].height <= o.height + 1);
    }
  }
}

static void coarse_cells_hold_the_fine_ones_and_are_at_most_twice_as_large(void** unused) {
  (void)unused;
  for_all_bodies(check_cover);
}

static void check_linear(const trees* t) {
  for (int l = 0; l + 1 < t->count; ++l) {
    const sn_octree *fine = &t->levels[l], *coarse = &t->levels[l + 1];
    float* from = calloc(3 * (size_t)coarse->node_count, sizeof *from);
    float* to = calloc(3 * (size_t)fine->node_count, sizeof *to);
    for (uint32_t n = 0; n < coarse->node_count; ++n) {
      sn_octant p = coarse->nodes[n];
      from[3 * n] = 1;
      from[3 * n + 1] = (float)(2 * p.x + p.y);
      from[3 * n + 2] = (float)(p.z - 3 * p.y);
    }
    sn_transfer_prolong(&t->transfers[l], NULL, 1, from, to);
    for (uint32_t n = 0; n < fine->node_count; ++n) {
      sn_octant p = fine->nodes[n];
      assert_true(fabs(to[3 * n] - 1) < 1e-6);
      assert_true(fabs(to[3 * n + 1] - (double)(2 * p.x + p.y)) < 1e-4);
      assert_true(fabs(to[3 * n + 2] - (double)(p.z - 3 * p.y)) < 1e-4);
    }
    free(from);
    free(to);
  }
}

static void prolongation_reproduces_linear_fields(void** unused) {
  (void)unused;
  for_all_bodies(check_linear);
}

// Entry by entry: both lists hold the same triples (fine, coarse, weight).
static void check_transpose(const trees* t) {
  for (int l = 0; l + 1 < t->count; ++l) {
    const sn_transfer* transfer = &t->transfers[l];
    uint32_t entries = transfer->fine_starts[transfer->fine_count];
    assert_int_equal(entries, transfer->coarse_starts[transfer->coarse_count]);
    uint32_t found = 0;
    for (uint32_t c = 0; c < transfer->coarse_count; ++c) {
      for (uint32_t e = transfer->coarse_starts[c]; e < transfer->coarse_starts[c + 1]; ++e) {
        uint32_t n = sn_entry_node(transfer->fine_nodes[e]);
        if (e > transfer->coarse_starts[c]) {
          assert_true(sn_entry_node(transfer->fine_nodes[e - 1]) < n);
        }
        for (uint32_t k = transfer->fine_starts[n]; k < transfer->fine_starts[n + 1]; ++k) {
          if (sn_entry_node(transfer->coarse_nodes[k]) != c) continue;
          assert_int_equal(sn_entry_weight(transfer->coarse_nodes[k]),
                           sn_entry_weight(transfer->fine_nodes[e]));
          ++found;
        }
      }
    }
    assert_int_equal(found, entries);
  }
}

static void restriction_is_the_exact_transpose_of_prolongation(void** unused) {
  (void)unused;
  for_all_bodies(check_transpose);
}

static void check_rows(const trees* t) {
  for (int l = 0; l + 1 < t->count; ++l) {
    const sn_transfer* transfer = &t->transfers[l];
    for (uint32_t n = 0; n < transfer->fine_count; ++n) {
      int sum = 0;
      for (uint32_t e = transfer->fine_starts[n]; e < transfer->fine_starts[n + 1]; ++e) {
        sum += sn_entry_weight(transfer->coarse_nodes[e]);
      }
      assert_int_equal(sum, SN_TRANSFER_ONE);
    }
  }
}

static void rows_add_up_to_one(void** unused) {
  (void)unused;
  for_all_bodies(check_rows);
}

// The inside of an open surface ends in the middle of large cells, which closed ones never do.
static void open_surfaces_can_be_coarsened_to_the_end(void** unused) {
  (void)unused;
  sn_vec3 zero = {0, 0, 0};
  static const int axis_cells[] = {7, 40, 61};
  for (int body = 0; body < 6; ++body) {
    for (int k = 0; k < 3; ++k) {
      sn_mesh mesh = body == 0   ? shape_hemisphere(zero, 1, 16)
                     : body == 1 ? shape_sphere_cap(zero, 1, 16, 13)
                     : body == 2 ? shape_sheet(zero, sn_v3(1, 0, 0), sn_v3(0, 0.8, 0), 5)
                     : body == 3 ? shape_sheet(zero, sn_v3(1, 0.3, 0.1), sn_v3(-0.2, 0.8, 0.4), 3)
                                 : shape_soup((uint64_t)(3 * body - 9), 60, 0.4);
      trees t = build_trees(&mesh, axis_cells[k], -1, NULL);
      assert_true(t.count > 1 && t.count < MAX_LEVELS);
      for (int l = 0; l < t.count; ++l) {
        const char* why = "";
        if (!sn_octree_is_valid(&t.levels[l], &why)) {
          fail_msg("body %d, %d cells, level %d: not so: %s", body, axis_cells[k], l, why);
        }
        if (l > 0) assert_true(t.levels[l].cell_count < t.levels[l - 1].cell_count);
      }
      check_cover(&t);
      check_rows(&t);
      check_linear(&t);
      destroy_trees(&t);
    }
  }
}

static void threads_do_not_change_the_trees(void** unused) {
  (void)unused;
  sn_error err = {0};
  sn_mesh mesh = shape_sphere(sn_v3(0, 0, 0), 1, 12);
  trees one = build_trees(&mesh, 40, -1, NULL);
  for (int threads = 2; threads <= 3; ++threads) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(threads, &pool, &err), SN_OK);
    mesh = shape_sphere(sn_v3(0, 0, 0), 1, 12);
    trees many = build_trees(&mesh, 40, -1, pool);
    assert_int_equal(one.count, many.count);
    for (int l = 0; l < one.count; ++l) {
      const sn_octree *a = &one.levels[l], *b = &many.levels[l];
      assert_int_equal(a->cell_count, b->cell_count);
      assert_memory_equal(a->cells, b->cells, a->cell_count * sizeof *a->cells);
      assert_memory_equal(a->conforming, b->conforming, 8 * a->cell_count * sizeof *a->conforming);
      if (l + 1 == one.count) continue;
      const sn_transfer *s = &one.transfers[l], *t = &many.transfers[l];
      uint32_t entries = s->fine_starts[s->fine_count];
      assert_memory_equal(s->coarse_nodes, t->coarse_nodes, entries * sizeof *s->coarse_nodes);
    }
    destroy_trees(&many);
    sn_pool_destroy(pool);
  }
  destroy_trees(&one);
}

// Cells at the end of the longest axis: coarser ones reach beyond it, and still have coordinates.
static void the_longest_axis_can_be_coarsened_to_the_end(void** unused) {
  (void)unused;
  double side = SN_MAX_AXIS_CELLS;
  sn_mesh low = shape_box(sn_v3(0, 0, 0), sn_v3(3, 3, 3));
  sn_mesh high = shape_box(sn_v3(side - 3, side - 3, side - 3), sn_v3(side, side, side));
  sn_mesh mesh = shape_join(low, high);
  trees t = build_trees(&mesh, SN_MAX_AXIS_CELLS, -1, NULL);
  check_valid(&t);
  check_cover(&t);
  const sn_octree* last = &t.levels[t.count - 1];
  assert_int_equal(last->nodes[last->node_count - 1].x, SN_MAX_AXIS_CELLS + 1);
  destroy_trees(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_coarser_tree_is_valid_and_smaller),
      cmocka_unit_test(coarse_cells_hold_the_fine_ones_and_are_at_most_twice_as_large),
      cmocka_unit_test(prolongation_reproduces_linear_fields),
      cmocka_unit_test(restriction_is_the_exact_transpose_of_prolongation),
      cmocka_unit_test(rows_add_up_to_one),
      cmocka_unit_test(open_surfaces_can_be_coarsened_to_the_end),
      cmocka_unit_test(the_longest_axis_can_be_coarsened_to_the_end),
      cmocka_unit_test(threads_do_not_change_the_trees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
