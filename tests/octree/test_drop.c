// Leaving out cells: the tree stays valid, what was connected stays so, and full cells stay.
#include "octree/octree_drop.h"

#include "octree/grown.h"
#include "octree/octree_fill.h"

#define BODIES 5

static sn_mesh make_body(int body) {
  sn_vec3 zero = {0, 0, 0};
  switch (body) {
    case 0:
      return shape_sphere(sn_v3(0.1, -0.2, 0.3), 1, 20);
    case 1:
      return shape_torus(1, 0.35, 20);
    case 2:
      return shape_blob(1, 0.12);
    case 3:  // all of its cells are nearly empty
      return shape_box(zero, sn_v3(1, 1, 0.001));
    default:  // two parts, the smaller one far smaller than a cell
      return shape_join(shape_sphere(zero, 0.4, 8), shape_sphere(sn_v3(2, 1, 1), 0.01, 4));
  }
}

typedef struct thinned {
  prepared skin;
  grown whole, thin;
  sn_arena* arena;
  double* fill;
  uint8_t* drop;
  uint32_t dropped;
} thinned;

static thinned thin_out(int body, double least) {
  thinned t = {0};
  sn_error err = {0};
  prepare(&t.skin, make_body(body));
  grow(&t.whole, &t.skin, 0.07, -1);
  grow(&t.thin, &t.skin, 0.07, -1);
  uint32_t count = t.whole.tree.cell_count;
  assert_int_equal(sn_arena_create(&t.arena, &err), SN_OK);
  assert_int_equal(SN_ARENA_NEW(t.arena, count, &t.fill, &err), SN_OK);
  assert_int_equal(SN_ARENA_NEW(t.arena, count, &t.drop, &err), SN_OK);
  assert_int_equal(
      sn_octree_fill_unbounded(&t.whole.tree, &t.skin.bvh, NULL, t.arena, t.fill, &err), SN_OK);
  t.dropped = sn_octree_mark_thin(&t.whole.tree, t.fill, least, t.drop);
  return t;
}

static void leave_out(thinned* t) {
  sn_error err = {0};
  assert_int_equal(sn_octree_leave_out(t->drop, NULL, t->thin.arena, t->thin.arena, t->arena,
                                       &t->thin.tree, &err),
                   SN_OK);
}

static void destroy(thinned* t) {
  ungrow(&t->whole);
  ungrow(&t->thin);
  sn_arena_destroy(t->arena);
  unprepare(&t->skin);
}

// Parts: cells that share a node.
static uint32_t find_root(uint32_t* parent, uint32_t n) {
  while (parent[n] != n) n = parent[n] = parent[parent[n]];
  return n;
}

static uint32_t count_parts(const sn_octree* tree) {
  uint32_t* parent = malloc(tree->node_count * sizeof *parent);
  uint32_t parts = tree->node_count;
  for (uint32_t n = 0; n < tree->node_count; ++n) parent[n] = n;
  for (size_t i = 0; i < 8 * (size_t)tree->cell_count; ++i) {
    uint32_t a = find_root(parent, tree->conforming[i]);
    uint32_t b = find_root(parent, tree->conforming[i & ~(size_t)7]);
    parts -= a != b;
    parent[a] = b;
  }
  free(parent);
  return parts;
}

static void thin_cells_go_and_parts_stay(void** unused) {
  (void)unused;
  static const double LEAST[] = {0.02, 0.1, 0.5};
  for (int body = 0; body < BODIES; ++body) {
    for (int k = 0; k < 3; ++k) {
      thinned t = thin_out(body, LEAST[k]);
      const sn_octree* tree = &t.whole.tree;
      uint32_t below = 0;
      for (uint32_t e = 0; e < tree->cell_count; ++e) {
        below += t.fill[e] < LEAST[k];
        if (t.drop[e]) assert_true(tree->cells[e].height == 0 && t.fill[e] < LEAST[k]);
      }
      leave_out(&t);
      assert_valid_tree(&t.thin.tree);
      assert_int_equal(t.thin.tree.cell_count, tree->cell_count - t.dropped);
      assert_int_equal(count_parts(&t.thin.tree), count_parts(tree));
      print_message("body %d below %.2f: %u of %u cells, %u of them left out\n", body, LEAST[k],
                    below, tree->cell_count, t.dropped);
      if (body < 3) assert_true(t.dropped > 0.9 * below);
      if (body == 3) assert_int_equal(t.dropped, 0);
      destroy(&t);
    }
  }
}

static void whatever_is_left_out_is_next_to_what_stays(void** unused) {
  (void)unused;
  for (int body = 0; body < BODIES; ++body) {
    thinned t = thin_out(body, 0.5);
    leave_out(&t);
    for (uint32_t e = 0; e < t.whole.tree.cell_count; ++e) {
      sn_octant o = t.whole.tree.cells[e];
      if (!t.drop[e]) continue;
      for (int c = 0; c < 8; ++c) {
        sn_vec3 corner = sn_v3(o.x + (c & 1), o.y + (c >> 1 & 1), o.z + (c >> 2 & 1));
        sn_vec3 p = sn_madd(t.thin.tree.origin, t.thin.tree.cell, corner);
        double near[3], far[3];
        uint32_t cell = sn_octree_nearest(&t.thin.tree, p, near);
        sn_octree_place_in(&t.thin.tree, cell, p, 1, near);
        sn_octree_place_in(&t.thin.tree, cell, p, 100, far);
        for (int i = 0; i < 3; ++i) assert_true(fabs(near[i] - far[i]) < 1e-12);
      }
    }
    destroy(&t);
  }
}

static void any_cells_may_go(void** unused) {
  (void)unused;
  for (int body = 0; body < 3; ++body) {
    thinned t = thin_out(body, 0);
    sn_random random = sn_random_seeded((uint64_t)body + 1);
    assert_int_equal(t.dropped, 0);
    for (uint32_t e = 0; e < t.whole.tree.cell_count; ++e) {
      t.drop[e] = sn_random_symmetric(&random) > 0.3;
    }
    leave_out(&t);
    assert_valid_tree(&t.thin.tree);
    destroy(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thin_cells_go_and_parts_stay),
      cmocka_unit_test(whatever_is_left_out_is_next_to_what_stays),
      cmocka_unit_test(any_cells_may_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
