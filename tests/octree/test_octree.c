#include "octree/octree.h"

#include "geometry/triangle_box.h"
#include "io/scratch.h"
#include "octree/grown.h"
#include "octree/octant_list.h"

// ---- Many bodies
// ---------------------------------------------------------------------------------

#define BODY_COUNT 14
#define FIRST_OPEN_BODY 10

static sn_mesh make_body(int body) {
  sn_vec3 middle = {0.1, -0.2, 0.3}, zero = {0, 0, 0};
  switch (body) {
    case 0:
      return shape_unit_cube();
    case 1:
      return shape_box(sn_v3(-0.713, 0.1, 0.37), sn_v3(0.291, 0.5, 0.95));
    case 2:
      return shape_sphere(middle, 1, 20);
    case 3:
      return shape_torus(1, 0.35, 20);
    case 4:
      return shape_box(zero, sn_v3(1, 1, 0.01));
    case 5:
      return shape_join(shape_sphere(zero, 0.4, 8), shape_sphere(sn_v3(2, 1, 1), 0.6, 8));
    case 6:
      return shape_join(shape_sphere(zero, 1, 12), shape_sphere(middle, 0.8, 12));
    case 7:
      return shape_blob(1, 0.12);
    case 8:
      return shape_blob(2, 0.12);
    case 9:
      return shape_blob(3, 0.12);
    case 10:
      return shape_soup(4, 40, 0.4);
    case 11:
      return shape_sheet(zero, sn_v3(1, 0, 0), sn_v3(0, 0.8, 0), 5);
    case 12:
      return shape_sheet(zero, sn_v3(1, 0.3, 0.1), sn_v3(-0.2, 0.8, 0.4), 3);
    default:
      return shape_one_triangle(zero, sn_v3(1, 0.2, 0.1), sn_v3(0.3, 0.9, -0.4));
  }
}

static void assert_heights_within(const sn_octree* tree, int coarsen) {
  if (coarsen >= 0) assert_true(tallest_cell(tree) <= coarsen);
}

// Points of the surface lie in finest cells (on a face of one, where the face is the grid's).
static void assert_surface_is_covered(const sn_octree* tree, const prepared* skin) {
  sn_random random = sn_random_seeded(1);
  uint32_t stride = 1 + skin->surface.triangle_count / 500;
  for (uint32_t t = 0; t < skin->surface.triangle_count; t += stride) {
    for (int n = 0; n < 5; ++n) {
      sn_vec3 corner[3];
      prepared_corners(skin, t, corner);
      sn_vec3 point = n < 3 ? corner[n] : point_on_triangle(&random, corner);
      double xi[3];
      uint32_t cell = sn_octree_nearest(tree, point, xi);
      sn_octant o = tree->cells[cell];
      assert_int_equal(o.height, 0);
      sn_vec3 place = sn_v3(o.x + xi[0], o.y + xi[1], o.z + xi[2]);
      place = sn_madd(tree->origin, tree->cell, place);
      assert_true(sn_distance(place, point) < 4e-6 * tree->cell);
    }
  }
}

// Where a bone passes through cells, they are finest.
static uint32_t assert_bone_is_refined(const sn_octree* tree, const prepared* bone) {
  sn_random random = sn_random_seeded(2);
  uint32_t within = 0;
  for (uint32_t t = 0; t < bone->surface.triangle_count; ++t) {
    sn_vec3 corner[3];
    prepared_corners(bone, t, corner);
    sn_vec3 p = sn_sub(point_on_triangle(&random, corner), tree->origin);
    p = sn_scale(1 / tree->cell, p);
    uint32_t e = sn_octree_find(tree, (int)floor(p.x), (int)floor(p.y), (int)floor(p.z));
    if (e == SN_NO_CELL) continue;
    assert_int_equal(tree->cells[e].height, 0);
    ++within;
  }
  return within;
}

static void every_body_gives_a_valid_tree_that_covers_it(void** unused) {
  (void)unused;
  prepared bone;
  prepare(&bone, shape_sphere(sn_v3(0.55, 0.3, 0.2), 0.31, 8));
  for (int body = 0; body < BODY_COUNT; ++body) {
    prepared skin;
    prepare(&skin, make_body(body));
    for (int n = 6; n <= 15; n += 9) {
      double cell = sn_box_size(skin.surface.box) / n;
      uint64_t plain_volume = 0;
      for (int with_bone = 0; with_bone < 2; ++with_bone) {
        uint64_t volume = 0;
        for (int coarsen = -1; coarsen <= 2; ++coarsen) {
          grown g;
          grow_on(NULL, &g, &skin, with_bone ? &bone : NULL, cell, coarsen);
          assert_true(g.tree.cell_count > 0);
          assert_valid_tree(&g.tree);
          assert_heights_within(&g.tree, coarsen);
          assert_surface_is_covered(&g.tree, &skin);
          if (with_bone && body == 0) assert_true(assert_bone_is_refined(&g.tree, &bone) > 50);
          if (with_bone) assert_bone_is_refined(&g.tree, &bone);
          // Coarser or not, the same places are covered.
          if (coarsen == -1) volume = tree_volume(&g.tree);
          assert_true(tree_volume(&g.tree) == volume);
          if (coarsen == 0) assert_int_equal(g.tree.cell_count, volume);
          ungrow(&g);
        }
        // A bone refines; it adds and takes away nothing.
        if (!with_bone) plain_volume = volume;
        if (body < FIRST_OPEN_BODY) assert_true(volume == plain_volume);
      }
    }
    unprepare(&skin);
  }
  unprepare(&bone);
}

static void spheres_are_valid_at_any_resolution(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_sphere(sn_v3(0, 0, 0), 1, 24));
  uint32_t last_count = 0;
  for (int n = 1; n < 45; n += 1 + n / 4) {
    grown g;
    grow(&g, &skin, 2.0 / n, -1);
    assert_valid_tree(&g.tree);
    double edge = 2.0 / n, volume = (double)tree_volume(&g.tree) * edge * edge * edge;
    // Between the ball and the ball with a cell's diagonal around it.
    double outer = 1 + edge * 1.7320508;
    assert_true(volume > skin.surface.volume);
    assert_true(volume < 4.0 / 3.0 * SHAPE_PI * outer * outer * outer);
    assert_true(g.tree.cell_count > last_count);
    last_count = g.tree.cell_count;
    if (n > 30) assert_true(tallest_cell(&g.tree) >= 2);
    ungrow(&g);
  }
  unprepare(&skin);
}

// ---- Exact cases
// ---------------------------------------------------------------------------------

static void an_aligned_cube_has_exactly_its_cells(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_unit_cube());
  for (int n = 1; n <= 13; ++n) {
    grown g;
    grow(&g, &skin, 1.0 / n, 0);
    assert_valid_tree(&g.tree);
    assert_int_equal(g.tree.cell_count, n * n * n);
    assert_int_equal(g.tree.node_count, (n + 1) * (n + 1) * (n + 1));
    for (uint32_t e = 0; e < g.tree.cell_count; ++e) assert_int_equal(g.tree.hanging[e], 0);
    ungrow(&g);
  }
  // Powers of two: edges, and so the volume, without any rounding, coarse cells or not.
  for (int n = 1; n <= 32; n *= 2) {
    for (int coarsen = -1; coarsen <= 2; ++coarsen) {
      grown g;
      grow(&g, &skin, 1.0 / n, coarsen);
      double volume = 0;
      for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
        double edge = sn_octree_edge(&g.tree, e);
        volume += edge * edge * edge;
      }
      assert_true(volume == 1);
      assert_true(g.tree.origin.x == 0 && g.tree.origin.y == 0 && g.tree.origin.z == 0);
      if (n == 32 && coarsen == -1) assert_int_equal(tallest_cell(&g.tree), 3);
      ungrow(&g);
    }
  }
  unprepare(&skin);
}

static void axis_cells_allow_for_rounding(void** unused) {
  (void)unused;
  sn_box box = {{0, 0, 0}, {1, 0.5, 0.25}};
  assert_true(sn_octree_axis_cells(box, 0.25) == 4);
  assert_true(sn_octree_axis_cells(box, 0.3) == 4);
  assert_true(sn_octree_axis_cells(box, 1) == 1);
  assert_true(sn_octree_axis_cells(box, 100) == 1);
  for (int n = 1; n < 3000; ++n) {
    sn_box flush = {{0, 0, 0}, {0, n * 0.1, 0}};
    assert_true(sn_octree_axis_cells(flush, 0.1) == n);
  }
}

// Every cell of the grid, asked one by one.
static void cells_are_those_that_are_cut_or_inside(void** unused) {
  (void)unused;
  for (int body = 1; body < 10; ++body) {
    prepared skin;
    prepare(&skin, make_body(body));
    grown g;
    grow(&g, &skin, sn_box_size(skin.surface.box) / 7.3, -1);
    int size = 1 << g.tree.root_height;
    for (int i = 0; i < size * size * size; ++i) {
      int x = i % size, y = i / size % size, z = i / size / size;
      sn_vec3 centre = sn_v3(x + 0.5, y + 0.5, z + 0.5);
      bool expected = winding_of_all(&skin, sn_madd(g.tree.origin, g.tree.cell, centre)) > 0.5;
      for (uint32_t t = 0; t < skin.surface.triangle_count && !expected; ++t) {
        sn_vec3 corner[3];
        prepared_corners(&skin, t, corner);
        for (int c = 0; c < 3; ++c) {
          corner[c] = sn_scale(1 / g.tree.cell, sn_sub(corner[c], g.tree.origin));
        }
        expected = sn_triangle_touches_cube(corner, centre, 0.5 - 1e-6);
      }
      assert_int_equal(sn_octree_find(&g.tree, x, y, z) != SN_NO_CELL, expected);
    }
    ungrow(&g);
    unprepare(&skin);
  }
}

// Most leaves get their verdict from another one of the same piece: as if each had asked.
static void verdicts_for_whole_pieces_are_those_of_each_leaf(void** unused) {
  (void)unused;
  for (int body = 0; body <= BODY_COUNT; ++body) {
    prepared skin, bone;
    prepare(&skin,
            body < BODY_COUNT ? make_body(body) : shape_hemisphere(sn_v3(0.1, 0.2, 0.3), 1, 20));
    prepare(&bone, shape_sphere(sn_v3(0.35, 0.3, 0.2), 0.31, 8));
    for (int n = 13; n < 60; n *= 4) {
      sn_octree_seed seeds[2];
      double cell = sn_box_size(skin.surface.box) / n;
      sn_octree_input input = tree_input(&skin, &bone, cell, -1, seeds);
      grown g;
      grow_on(NULL, &g, &skin, &bone, cell, -1);
      input.inside_box = NULL;
      sn_arena *arena, *scratch;
      sn_octree each;
      assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
      assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
      assert_int_equal(sn_octree_build(&input, NULL, arena, arena, scratch, &each, NULL), SN_OK);
      assert_int_equal(g.tree.cell_count, each.cell_count);
      assert_memory_equal(g.tree.cells, each.cells, each.cell_count * sizeof *each.cells);
      sn_arena_destroy(arena);
      sn_arena_destroy(scratch);
      ungrow(&g);
    }
    unprepare(&bone);
    unprepare(&skin);
  }
}

// Needles along axes and diagonals, of all widths down to nothing: room is taken for what they touch.
static void slivers_are_rasterised(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int n = 0; n < 400; ++n) {
    double width = 1 / (double)(1ull << n % 60);
    sn_vec3 end = n % 3 == 0   ? sn_v3(1, 1, 1)
                  : n % 3 == 1 ? sn_v3(0, 0, 1)
                               : shape_random_point(&random);
    sn_vec3 third = sn_madd(sn_scale(0.4, end), width, shape_random_point(&random));
    prepared skin;
    prepare(&skin, shape_one_triangle(sn_v3(0, 0, 0), end, third));
    grown g;
    if (skin.surface.triangle_count > 0) {
      grow(&g, &skin, sn_box_size(skin.surface.box) / (20 + n % 45), 0);
      assert_surface_is_covered(&g.tree, &skin);
      ungrow(&g);
    }
    unprepare(&skin);
  }
}

// An octahedron, mirrored on all axes: so must be its cells.
static void symmetric_bodies_have_symmetric_cells(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(6, 8);
  for (int v = 0; v < 6; ++v) {
    double sign = v % 2 ? -1 : 1;
    shape_vertex(&a, sn_scale(sign, sn_v3(v / 2 == 0, v / 2 == 1, v / 2 == 2)));
  }
  for (uint32_t f = 0; f < 8; ++f) {
    uint32_t x = f & 1, y = 2 + (f >> 1 & 1), z = 4 + (f >> 2 & 1);
    bool even = __builtin_popcount(f) % 2 == 0;
    shape_triangle(&a, x, even ? y : z, even ? z : y);
  }
  prepared skin;
  prepare(&skin, shape_end(&a));
  assert_int_equal(skin.surface.report.flipped_triangles, 0);
  for (int n = 5; n < 25; ++n) {
    grown g;
    grow(&g, &skin, 2 / (n - 0.3), 0);
    for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
      sn_octant o = g.tree.cells[e];
      int last = n - 1;
      assert_true(sn_octree_find(&g.tree, last - o.x, o.y, o.z) != SN_NO_CELL);
      assert_true(sn_octree_find(&g.tree, o.x, last - o.y, o.z) != SN_NO_CELL);
      assert_true(sn_octree_find(&g.tree, o.x, o.y, last - o.z) != SN_NO_CELL);
      assert_true(sn_octree_find(&g.tree, o.y, o.z, o.x) != SN_NO_CELL);
    }
    ungrow(&g);
  }
  unprepare(&skin);
}

static void a_surface_of_nothing_gives_an_empty_tree(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_one_triangle(sn_v3(0, 0, 0), sn_v3(1, 0, 0), sn_v3(2, 0, 0)));
  skin.surface.box = (sn_box){{0, 0, 0}, {2, 0, 0}};
  grown g;
  grow(&g, &skin, 0.1, -1);
  assert_int_equal(g.tree.cell_count, 0);
  assert_int_equal(g.tree.node_count, 0);
  assert_valid_tree(&g.tree);
  assert_int_equal(sn_octree_find(&g.tree, 0, 0, 0), SN_NO_CELL);
  assert_int_equal(sn_octree_find_node(&g.tree, 0, 0, 0), UINT32_MAX);
  ungrow(&g);
  unprepare(&skin);
}

// ---- Independence of threads, place and scale
// ----------------------------------------------------

static void assert_same_octants(const sn_octree* a, const sn_octree* b) {
  assert_int_equal(a->cell_count, b->cell_count);
  assert_int_equal(a->node_count, b->node_count);
  assert_int_equal(a->root_height, b->root_height);
  assert_memory_equal(a->cells, b->cells, a->cell_count * sizeof *a->cells);
  assert_memory_equal(a->nodes, b->nodes, a->node_count * sizeof *a->nodes);
  assert_memory_equal(a->hanging, b->hanging, a->cell_count);
  assert_memory_equal(a->conforming, b->conforming,
                      8 * (size_t)a->cell_count * sizeof *a->conforming);
}

static void any_number_of_threads_gives_the_same_bytes(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  prepared skin, bone;
  prepare(&skin, shape_blob(4, 0.1));
  prepare(&bone, shape_sphere(sn_v3(0, 0, 0), 0.5, 10));
  for (int coarsen = -1; coarsen <= 1; coarsen += 2) {
    grown alone;
    grow_on(NULL, &alone, &skin, &bone, 0.035, coarsen);
    assert_true(alone.tree.cell_count > 5000);
    for (int t = 0; t < 4; ++t) {
      sn_pool* pool;
      assert_int_equal(sn_pool_create(threads[t], &pool, NULL), SN_OK);
      grown g;
      grow_on(pool, &g, &skin, &bone, 0.035, coarsen);
      assert_same_octants(&g.tree, &alone.tree);
      assert_memory_equal(&g.tree.origin, &alone.tree.origin, sizeof g.tree.origin);
      ungrow(&g);
      sn_pool_destroy(pool);
    }
    ungrow(&alone);
  }
  unprepare(&bone);
  unprepare(&skin);
}

static void scaled_and_shifted_bodies_have_the_same_octants(void** unused) {
  (void)unused;
  for (int body = 2; body < BODY_COUNT; ++body) {
    for (int coarsen = -1; coarsen <= 0; ++coarsen) {
      prepared here, there;
      sn_mesh mesh = make_body(body), moved = make_body(body);
      shape_snap(&mesh);
      shape_snap(&moved);
      // With numbers of few bits all of this is exact.
      shape_move(&moved, 4096, sn_v3(4096 * 3.5, -4096 * 7.0, 4096 * 0.625));
      prepare(&here, mesh);
      prepare(&there, moved);
      grown small, large;
      grow(&small, &here, 0x1p-3, coarsen);
      grow(&large, &there, 0x1p9, coarsen);
      assert_same_octants(&small.tree, &large.tree);
      assert_true(large.tree.cell == 4096 * small.tree.cell);
      ungrow(&small);
      ungrow(&large);
      unprepare(&here);
      unprepare(&there);
    }
  }
}

// ---- Numbering
// -----------------------------------------------------------------------------------

static void corner_of(sn_octant o, int corner, int place[3]) {
  int size = (int)sn_octant_size(o);
  place[0] = o.x + (corner & 1 ? size : 0);
  place[1] = o.y + (corner & 2 ? size : 0);
  place[2] = o.z + (corner & 4 ? size : 0);
}

static bool touches_place(sn_octant o, const int place[3]) {
  int size = (int)sn_octant_size(o), anchor[3] = {o.x, o.y, o.z};
  for (int i = 0; i < 3; ++i) {
    if (place[i] < anchor[i] || place[i] > anchor[i] + size) return false;
  }
  return true;
}

static bool has_corner_at(sn_octant o, const int place[3]) {
  int size = (int)sn_octant_size(o), anchor[3] = {o.x, o.y, o.z};
  for (int i = 0; i < 3; ++i) {
    if (place[i] != anchor[i] && place[i] != anchor[i] + size) return false;
  }
  return true;
}

// A corner hangs if some cell has it on its edge or face; else it is a node, and at its place.
static void assert_numbering(const sn_octree* tree) {
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    for (int c = 0; c < 8; ++c) {
      int place[3];
      corner_of(tree->cells[e], c, place);
      bool hangs = false;
      for (uint32_t other = 0; other < tree->cell_count && !hangs; ++other) {
        sn_octant o = tree->cells[other];
        hangs = touches_place(o, place) && !has_corner_at(o, place);
      }
      assert_int_equal(tree->hanging[e] >> c & 1, hangs);
      if (hangs) corner_of(sn_octant_parent(tree->cells[e]), c, place);
      sn_octant node = tree->nodes[tree->conforming[8 * (size_t)e + c]];
      assert_true(node.x == place[0] && node.y == place[1] && node.z == place[2]);
    }
  }
}

static void assert_balanced(const sn_octree* tree) {
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    for (uint32_t other = 0; other < e; ++other) {
      sn_octant a = tree->cells[e], b = tree->cells[other];
      if (a.height < b.height) {
        sn_octant swap = a;
        a = b;
        b = swap;
      }
      // The smaller one touches the larger one if one of its corners does.
      bool touch = false;
      for (int c = 0; c < 8; ++c) {
        int place[3];
        corner_of(b, c, place);
        touch = touch || touches_place(a, place);
      }
      if (touch) assert_true(a.height - b.height <= 1);
    }
  }
}

static void balance_and_numbering_agree_with_all_pairs_of_cells(void** unused) {
  (void)unused;
  int hanging_faces = 0;
  for (int body = 0; body < BODY_COUNT; ++body) {
    prepared skin;
    prepare(&skin, make_body(body));
    grown g;
    grow(&g, &skin, sn_box_size(skin.surface.box) / 15.5, -1);
    assert_balanced(&g.tree);
    assert_numbering(&g.tree);
    for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
      hanging_faces += __builtin_popcount(g.tree.hanging[e]) > 2;
    }
    ungrow(&g);
    unprepare(&skin);
  }
  assert_true(hanging_faces > 100);
}

static void places_are_multiples_of_the_cell_from_the_origin(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_sphere(sn_v3(100, 200, 300), 1, 20));
  grown g;
  grow(&g, &skin, 0.07, -1);
  for (uint32_t n = 0; n < g.tree.node_count; ++n) {
    sn_octant o = g.tree.nodes[n];
    assert_int_equal(sn_octree_find_node(&g.tree, o.x, o.y, o.z), n);
    sn_vec3 local = sn_octree_node_local(&g.tree, n), place = sn_octree_node_place(&g.tree, n);
    assert_true(local.x == 0.07 * o.x && local.y == 0.07 * o.y && local.z == 0.07 * o.z);
    assert_true(sn_distance(place, sn_add(g.tree.origin, local)) == 0);
  }
  for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
    // The centre lies between two opposite corners: the places of nodes, where neither hangs.
    if (g.tree.hanging[e] & 0x81) continue;
    sn_vec3 low = sn_octree_node_place(&g.tree, g.tree.conforming[8 * (size_t)e]);
    sn_vec3 high = sn_octree_node_place(&g.tree, g.tree.conforming[8 * (size_t)e + 7]);
    sn_vec3 centre = sn_octree_cell_centre(&g.tree, e);
    assert_true(sn_distance(centre, sn_scale(0.5, sn_add(low, high))) < 1e-12);
    assert_true(fabs(high.x - low.x - sn_octree_edge(&g.tree, e)) < 1e-12);
  }
  ungrow(&g);
  unprepare(&skin);
}

// ---- Search
// --------------------------------------------------------------------------------------

static void find_agrees_with_a_search_through_all_cells(void** unused) {
  (void)unused;
  for (int body = 3; body < BODY_COUNT; body += 3) {
    prepared skin;
    prepare(&skin, make_body(body));
    grown g;
    grow(&g, &skin, sn_box_size(skin.surface.box) / 13.7, -1);
    const sn_octree* tree = &g.tree;
    sn_finder finder;
    assert_int_equal(sn_finder_make(tree, NULL, g.arena, &finder, NULL), SN_OK);
    for (int i = 0; i < 18 * 18 * 18; ++i) {
      int x = i % 18 - 1, y = i / 18 % 18 - 1, z = i / 324 - 1;
      uint32_t expected = SN_NO_CELL, node = UINT32_MAX;
      for (uint32_t e = 0; e < tree->cell_count; ++e) {
        sn_octant o = tree->cells[e];
        int size = (int)sn_octant_size(o);
        if (o.x <= x && x < o.x + size && o.y <= y && y < o.y + size && o.z <= z &&
            z < o.z + size) {
          expected = e;
        }
      }
      assert_int_equal(sn_octree_find(tree, x, y, z), expected);
      assert_int_equal(sn_finder_find(&finder, x, y, z), expected);
      if (x < 0 || y < 0 || z < 0) continue;
      for (uint32_t n = 0; n < tree->node_count; ++n) {
        sn_octant o = tree->nodes[n];
        if (o.x == x && o.y == y && o.z == z) node = n;
      }
      assert_int_equal(sn_octree_find_node(tree, (uint32_t)x, (uint32_t)y, (uint32_t)z), node);
    }
    static const int far[] = {-65536, -1, 65535, 65536, INT32_MAX, INT32_MIN};
    for (int i = 0; i < 6; ++i) {
      assert_int_equal(sn_octree_find(tree, far[i], 5, 5), SN_NO_CELL);
      assert_int_equal(sn_octree_find(tree, 5, far[i], 5), SN_NO_CELL);
      assert_int_equal(sn_octree_find(tree, 5, 5, far[i]), SN_NO_CELL);
    }
    ungrow(&g);
    unprepare(&skin);
  }
}

// Squared, in finest cells.
static double distance_to_cell(sn_octant o, sn_vec3 p) {
  double size = sn_octant_size(o), low[3] = {o.x, o.y, o.z}, at[3] = {p.x, p.y, p.z}, sum = 0;
  for (int i = 0; i < 3; ++i) {
    double out = fmax(0, fmax(low[i] - at[i], at[i] - (low[i] + size)));
    sum += out * out;
  }
  return sum;
}

static void nearest_agrees_with_a_search_through_all_cells(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(6);
  for (int body = 2; body < BODY_COUNT; ++body) {
    sn_mesh mesh = make_body(body);
    shape_snap(&mesh);
    prepared skin;
    prepare(&skin, mesh);
    // Numbers of few bits throughout: distances are exact, so that ties are ties.
    grown g;
    grow(&g, &skin, 0x1p-3, -1);
    sn_vec3 middle = sn_scale(8, sn_sub(sn_box_centre(skin.surface.box), g.tree.origin));
    for (int n = 0; n < 1000; ++n) {
      sn_vec3 p = sn_madd(middle, n % 3 ? 10 : 100, shape_random_point(&random));
      double step = n % 2 ? 1 : 0x1p-5;
      p = sn_v3(step * floor(p.x / step), step * floor(p.y / step), step * floor(p.z / step));
      uint32_t expected = 0;
      for (uint32_t e = 1; e < g.tree.cell_count; ++e) {
        if (distance_to_cell(g.tree.cells[e], p) < distance_to_cell(g.tree.cells[expected], p)) {
          expected = e;
        }
      }
      double xi[3];
      uint32_t found = sn_octree_nearest(&g.tree, sn_madd(g.tree.origin, 0x1p-3, p), xi);
      assert_int_equal(found, expected);
      sn_octant o = g.tree.cells[found];
      double size = sn_octant_size(o);
      assert_true(xi[0] == fmin(fmax((p.x - o.x) / size, 0), 1));
      assert_true(xi[1] == fmin(fmax((p.y - o.y) / size, 0), 1));
      assert_true(xi[2] == fmin(fmax((p.z - o.z) / size, 0), 1));
    }
    ungrow(&g);
    unprepare(&skin);
  }
}

// Cubes of unit cells at the origin: every corner within is shared by eight cells.
static void ties_go_to_the_lower_index(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_box(sn_v3(0, 0, 0), sn_v3(6, 6, 6)));
  grown g;
  grow(&g, &skin, 1, 0);
  for (int i = 0; i < 7 * 7 * 7; ++i) {
    sn_vec3 p = sn_v3(i % 7, i / 7 % 7, i / 49);
    uint32_t expected = SN_NO_CELL;
    for (uint32_t e = 0; e < g.tree.cell_count && expected == SN_NO_CELL; ++e) {
      if (distance_to_cell(g.tree.cells[e], p) == 0) expected = e;
    }
    double xi[3];
    assert_int_equal(sn_octree_nearest(&g.tree, p, xi), expected);
    for (int k = 0; k < 3; ++k) assert_true(xi[k] == 0 || xi[k] == 1);
  }
  ungrow(&g);
  unprepare(&skin);
}

// ---- Limits
// --------------------------------------------------------------------------------------

// Two small cubes, as far apart along each axis as can be.
static void prepare_far_cubes(prepared* skin, double side) {
  sn_mesh low = shape_box(sn_v3(0, 0, 0), sn_v3(3, 3, 3));
  sn_mesh high = shape_box(sn_v3(side - 3, side - 3, side - 3), sn_v3(side, side, side));
  prepare(skin, shape_join(low, high));
}

static void the_longest_axis_has_32767_cells(void** unused) {
  (void)unused;
  prepared skin;
  prepare_far_cubes(&skin, 32767);
  for (int coarsen = -1; coarsen <= 1; ++coarsen) {
    grown g;
    grow(&g, &skin, 1, coarsen);
    assert_valid_tree(&g.tree);
    assert_int_equal(g.tree.cell_count, 54);
    assert_int_equal(g.tree.node_count, 128);
    assert_int_equal(g.tree.root_height, 15);
    assert_true(sn_octree_find(&g.tree, 32766, 32766, 32766) != SN_NO_CELL);
    assert_int_equal(sn_octree_find(&g.tree, 32767, 32766, 32766), SN_NO_CELL);
    assert_int_equal(g.tree.nodes[127].x, 32767);
    ungrow(&g);
  }
  unprepare(&skin);
}

static void longer_axes_are_refused(void** unused) {
  (void)unused;
  static const double sides[] = {32768, 32767.01, 1e6, 1e15};
  for (int s = 0; s < 4; ++s) {
    prepared skin;
    prepare_far_cubes(&skin, sides[s]);
    sn_octree_seed seeds[2];
    sn_octree_input input = tree_input(&skin, NULL, 1, -1, seeds);
    sn_octree tree;
    sn_error err = {0};
    assert_int_equal(
        sn_octree_build(&input, NULL, skin.arena, skin.arena, skin.scratch, &tree, &err),
        SN_ERR_INPUT);
    assert_int_equal(err.status, SN_ERR_INPUT);
    assert_message_has(&err, "32767");
    assert_message_has(&err, "larger");
    assert_int_equal(sn_arena_bytes(skin.scratch), 0);
    unprepare(&skin);
  }
}

// ---- Damage
// --------------------------------------------------------------------------------------

static void assert_broken(const sn_octree* tree, const char* part) {
  const char* why = "";
  assert_false(sn_octree_is_valid(tree, &why));
  assert_false(sn_octree_is_valid(tree, NULL));
  if (part && !strstr(why, part)) fail_msg("'%s' is not in '%s'", part, why);
}

static void validity_notices_each_kind_of_damage(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_sphere(sn_v3(0, 0, 0), 1, 16));
  grown g;
  grow(&g, &skin, 2.0 / 13, -1);
  sn_octree* tree = &g.tree;
  assert_true(tallest_cell(tree) >= 1);
  for (uint32_t e = 0; e < tree->cell_count; e += 37) {
    sn_octant whole = tree->cells[e];
    tree->cells[e].height++;
    assert_broken(tree, NULL);
    if (whole.height > 0) {
      tree->cells[e].height = (uint8_t)(whole.height - 1);
      assert_broken(tree, NULL);
    }
    tree->cells[e] = whole;
    tree->cells[e].x++;
    assert_broken(tree, NULL);
    tree->cells[e] = whole;

    uint32_t other = (e + 1 + e % 100) % tree->cell_count;
    tree->cells[e] = tree->cells[other];
    tree->cells[other] = whole;
    assert_broken(tree, "sorted and apart");
    tree->cells[other] = tree->cells[e];
    tree->cells[e] = whole;

    int corner = (int)(e % 8);
    tree->hanging[e] ^= (uint8_t)(1 << corner);
    assert_broken(tree, "corners");
    tree->hanging[e] ^= (uint8_t)(1 << corner);

    uint32_t* node = &tree->conforming[8 * (size_t)e + (size_t)corner];
    uint32_t right = *node;
    *node = (right + 1) % tree->node_count;
    assert_broken(tree, "corners");
    *node = tree->node_count;
    assert_broken(tree, "corners");
    *node = right;
  }
  for (uint32_t n = 0; n + 1 < tree->node_count; n += 131) {
    sn_octant first = tree->nodes[n];
    tree->nodes[n] = tree->nodes[n + 1];
    assert_broken(tree, "nodes are sorted");
    tree->nodes[n + 1] = first;
    assert_broken(tree, "nodes are sorted");
    tree->nodes[n + 1] = tree->nodes[n];
    tree->nodes[n] = first;
  }
  assert_valid_tree(tree);
  ungrow(&g);
  unprepare(&skin);
}

// The parent's corner in place of a corner that does not hang: consistent, but wrong.
static void validity_notices_corners_that_only_pretend_to_hang(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_sphere(sn_v3(0, 0, 0), 1, 16));
  grown g;
  grow(&g, &skin, 2.0 / 13, -1);
  sn_octree* tree = &g.tree;
  int tried = 0;
  for (uint32_t e = 0; e < tree->cell_count; e += 7) {
    int corner = sn_octant_child_number(tree->cells[e]) ^ (int)(1 + e % 6), place[3];
    if (tree->hanging[e] >> corner & 1) continue;
    corner_of(sn_octant_parent(tree->cells[e]), corner, place);
    uint32_t node =
        sn_octree_find_node(tree, (uint32_t)place[0], (uint32_t)place[1], (uint32_t)place[2]);
    if (node == UINT32_MAX) continue;
    uint32_t* conforming = &tree->conforming[8 * (size_t)e + (size_t)corner];
    uint32_t right = *conforming;
    *conforming = node;
    tree->hanging[e] ^= (uint8_t)(1 << corner);
    assert_broken(tree, "corners");
    tree->hanging[e] ^= (uint8_t)(1 << corner);
    *conforming = right;
    ++tried;
  }
  assert_true(tried > 20);
  assert_valid_tree(tree);
  ungrow(&g);
  unprepare(&skin);
}

static void validity_notices_nodes_that_hang_or_belong_to_no_cell(void** unused) {
  (void)unused;
  prepared skin;
  prepare(&skin, shape_sphere(sn_v3(0, 0, 0), 1, 16));
  grown g;
  grow(&g, &skin, 2.0 / 17, -1);
  sn_octree more = g.tree;
  more.nodes = malloc((g.tree.node_count + 1) * sizeof *more.nodes);
  memcpy(more.nodes, g.tree.nodes, g.tree.node_count * sizeof *more.nodes);
  // Beyond all cells, so that the order holds.
  uint16_t far = (uint16_t)((1 << g.tree.root_height) - 1);
  more.nodes[more.node_count++] = (sn_octant){far, far, far, 0, 0};
  assert_broken(&more, "belongs to a cell");

  // The last node replaced by a place within a coarse cell.
  uint32_t coarse = 0;
  while (g.tree.cells[coarse].height == 0) ++coarse;
  sn_octant inner = g.tree.cells[coarse];
  sn_octree one = g.tree;
  one.nodes = &(sn_octant){(uint16_t)(inner.x + 1), inner.y, inner.z, 0, 0};
  one.node_count = 1;
  assert_broken(&one, "no node hangs");
  free(more.nodes);
  ungrow(&g);
  unprepare(&skin);
}

// Halves of one cube: one large cell beside finest ones is unbalanced, though sorted and apart.
static void validity_notices_a_jump_of_two_levels(void** unused) {
  (void)unused;
  sn_octant cells[] = {{0, 0, 0, 2, 0}, {4, 0, 0, 0, 0}};
  sn_octant nodes[1] = {{0, 0, 0, 0, 0}};
  uint8_t hanging[2] = {0};
  uint32_t conforming[16] = {0};
  sn_octree tree = {.cell = 1,
                    .root_height = 3,
                    .cells = cells,
                    .cell_count = 2,
                    .nodes = nodes,
                    .node_count = 1,
                    .hanging = hanging,
                    .conforming = conforming};
  assert_broken(&tree, "one level");
  // Across an edge and across a corner as well.
  cells[1] = (sn_octant){4, 4, 1, 0, 0};
  assert_broken(&tree, "one level");
  cells[1] = (sn_octant){4, 4, 4, 0, 0};
  assert_broken(&tree, "one level");
}

// ---- Failures and files
// --------------------------------------------------------------------------

static sn_status build_small_tree(sn_error* err) {
  sn_round_cone ball = {{0, 0, 0}, {0.5, 0, 0}, 1, 0.6};
  prepared skin = {0};
  sn_arena* arena = NULL;
  sn_octree tree;
  sn_status status = sn_mesh_from_round_cones(&ball, 1, 0, 0.2, &skin.mesh, err);
  if (status == SN_OK) status = sn_arena_create(&skin.arena, err);
  if (status == SN_OK) status = sn_arena_create(&skin.scratch, err);
  if (status == SN_OK) status = sn_arena_create(&arena, err);
  if (status == SN_OK) {
    status = sn_surface_prepare(&skin.mesh, skin.arena, skin.scratch, &skin.surface, err);
  }
  if (status == SN_OK) {
    status = sn_bvh_build(&skin.surface, NULL, skin.arena, skin.scratch, &skin.bvh, err);
  }
  if (status == SN_OK) {
    sn_octree_seed seeds[2];
    sn_octree_input input = tree_input(&skin, NULL, 0.06, -1, seeds);
    status = sn_octree_build(&input, NULL, arena, arena, skin.scratch, &tree, err);
    assert_int_equal(sn_arena_bytes(skin.scratch), 0);
  }
  sn_arena_destroy(arena);
  unprepare(&skin);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  uint64_t before = sn_allocation_count();
  assert_int_equal(build_small_tree(NULL), SN_OK);
  // Enough of them that most arrays of the build have one of their own.
  assert_true(sn_allocation_count() - before > 30);
  assert_survives_failing_allocations(build_small_tree);
}

static int check_asset_trees(const char* folder_name) {
  char folder_path[512], path[1024];
  snprintf(folder_path, sizeof folder_path, "%s/%s", SN_TEST_ASSETS, folder_name);
  DIR* folder = opendir(folder_path);
  assert_non_null(folder);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder));) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || (strcmp(dot, ".obj") != 0 && strcmp(dot, ".ply") != 0)) continue;
    snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
    sn_mesh mesh;
    sn_error err = {0};
    if (sn_mesh_load(path, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
    prepared skin;
    prepare(&skin, mesh);
    grown g;
    grow(&g, &skin, sn_box_size(skin.surface.box) / 19.4, -1);
    const char* why;
    if (!sn_octree_is_valid(&g.tree, &why)) fail_msg("%s: broken: %s", entry->d_name, why);
    assert_true(g.tree.cell_count > 0);
    assert_surface_is_covered(&g.tree, &skin);
    ungrow(&g);
    unprepare(&skin);
    ++count;
  }
  closedir(folder);
  return count;
}

static void every_asset_gives_a_valid_tree(void** unused) {
  (void)unused;
  skip_without_assets();
  assert_true(check_asset_trees("surfaces") > 10);
  assert_true(check_asset_trees("anatomy/arm") > 5);
  assert_true(check_asset_trees("colliders") > 5);
  assert_true(check_asset_trees("cloth") > 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_body_gives_a_valid_tree_that_covers_it),
      cmocka_unit_test(spheres_are_valid_at_any_resolution),
      cmocka_unit_test(an_aligned_cube_has_exactly_its_cells),
      cmocka_unit_test(axis_cells_allow_for_rounding),
      cmocka_unit_test(cells_are_those_that_are_cut_or_inside),
      cmocka_unit_test(verdicts_for_whole_pieces_are_those_of_each_leaf),
      cmocka_unit_test(slivers_are_rasterised),
      cmocka_unit_test(symmetric_bodies_have_symmetric_cells),
      cmocka_unit_test(a_surface_of_nothing_gives_an_empty_tree),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
      cmocka_unit_test(scaled_and_shifted_bodies_have_the_same_octants),
      cmocka_unit_test(balance_and_numbering_agree_with_all_pairs_of_cells),
      cmocka_unit_test(places_are_multiples_of_the_cell_from_the_origin),
      cmocka_unit_test(find_agrees_with_a_search_through_all_cells),
      cmocka_unit_test(nearest_agrees_with_a_search_through_all_cells),
      cmocka_unit_test(ties_go_to_the_lower_index),
      cmocka_unit_test(the_longest_axis_has_32767_cells),
      cmocka_unit_test(longer_axes_are_refused),
      cmocka_unit_test(validity_notices_each_kind_of_damage),
      cmocka_unit_test(validity_notices_corners_that_only_pretend_to_hang),
      cmocka_unit_test(validity_notices_nodes_that_hang_or_belong_to_no_cell),
      cmocka_unit_test(validity_notices_a_jump_of_two_levels),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(every_asset_gives_a_valid_tree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
