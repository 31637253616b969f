#include "octree/octree_moments.h"

#include "io/scratch.h"
#include "octree/bodies.h"
#include "octree/octree_fill.h"

typedef double moments10[SN_MOMENT_COUNT];

static const int pair[3][2] = {{0, 1}, {1, 2}, {0, 2}};  // of the mixed moments

static moments10* find_moments(sn_pool* pool, const sn_octree* tree, const sn_surface* surface) {
  sn_arena* scratch;
  sn_error err = {0};
  moments10* moments = malloc(tree->cell_count * sizeof *moments);
  assert_non_null(moments);
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  if (sn_octree_moments(tree, surface, pool, scratch, moments, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  // Scratch is left as it was: empty.
  assert_int_equal(sn_arena_bytes(scratch), 0);
  sn_arena_destroy(scratch);
  return moments;
}

// ---- What to compare with

// Of a whole surface about the point `about`, in metres: each triangle makes a tetrahedron with it.
static void surface_moments(const sn_surface* surface, sn_vec3 about, double sum[10]) {
  for (int k = 0; k < 10; ++k) sum[k] = 0;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    double p[3][3], s[3] = {0};
    for (int i = 0; i < 3; ++i) {
      sn_store3(p[i], sn_sub(sn_surface_corner(surface, t, i), about));
      for (int k = 0; k < 3; ++k) s[k] += p[i][k];
    }
    double volume = sn_dot(sn_load3(p[0]), sn_cross(sn_load3(p[1]), sn_load3(p[2]))) / 6;
    sum[0] += volume;
    for (int i = 0; i < 3; ++i) {
      int a = pair[i][0], b = pair[i][1];
      double square = s[i] * s[i], mixed = s[a] * s[b];
      for (int c = 0; c < 3; ++c) {
        square += p[c][i] * p[c][i];
        mixed += p[c][a] * p[c][b];
      }
      sum[1 + i] += volume * s[i] / 4;
      sum[4 + i] += volume * square / 20;
      sum[7 + i] += volume * mixed / 20;
    }
  }
}

// A cell's moments about the point `about`, in metres, are added to `sum`.
static void add_cell(const sn_octree* tree, uint32_t e, const double m[10], sn_vec3 about,
                     double sum[10]) {
  double h = 0.5 * sn_octree_edge(tree, e), volume = 8 * h * h * h, d[3];
  sn_store3(d, sn_sub(sn_octree_cell_centre(tree, e), about));
  sum[0] += volume * m[0];
  for (int i = 0; i < 3; ++i) {
    int a = pair[i][0], b = pair[i][1];
    sum[1 + i] += volume * (h * m[1 + i] + d[i] * m[0]);
    sum[4 + i] += volume * (h * h * m[4 + i] + 2 * d[i] * h * m[1 + i] + d[i] * d[i] * m[0]);
    sum[7 + i] += volume * (h * h * m[7 + i] + d[a] * h * m[1 + b] + d[b] * h * m[1 + a] +
                            d[a] * d[b] * m[0]);
  }
}

// The cells' moments add up to those of all of the surface.
static void assert_sum(const sn_octree* tree, const moments10* moments, const sn_surface* surface,
                       const char* what) {
  double whole[10], sum[10] = {0}, size = sn_box_size(surface->box);
  sn_vec3 about = sn_box_centre(surface->box);
  surface_moments(surface, about, whole);
  for (uint32_t e = 0; e < tree->cell_count; ++e) add_cell(tree, e, moments[e], about, sum);
  for (int k = 0; k < 10; ++k) {
    double unit = whole[0] * (k == 0 ? 1 : k < 4 ? size : size * size);
    if (!(fabs(sum[k] - whole[k]) <= 1e-9 * unit)) {
      fail_msg("%s, moment %d: %.12g of %.12g", what, k, sum[k], whole[k]);
    }
  }
}

static void assert_near(const double* m, const double* expected, double tolerance,
                        const char* what) {
  for (int k = 0; k < 10; ++k) {
    if (!(fabs(m[k] - expected[k]) <= tolerance)) {
      fail_msg("%s, moment %d: %.15g, not %.15g", what, k, m[k], expected[k]);
    }
  }
}

// The box lo..hi in a cell -1..1, by products of integrals over its sides.
static void box_moments(const double lo[3], const double hi[3], double m[10]) {
  double one[3], first[3], second[3];
  for (int i = 0; i < 3; ++i) {
    one[i] = (hi[i] - lo[i]) / 2;
    first[i] = (hi[i] * hi[i] - lo[i] * lo[i]) / 4;
    second[i] = (hi[i] * hi[i] * hi[i] - lo[i] * lo[i] * lo[i]) / 6;
  }
  m[0] = one[0] * one[1] * one[2];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3, a = pair[i][0], b = pair[i][1];
    m[1 + i] = first[i] * one[j] * one[k];
    m[4 + i] = second[i] * one[j] * one[k];
    m[7 + i] = first[a] * first[b] * one[3 - a - b];
  }
}

// ---- Single cells

// A tree of cubes -1..1 and its neighbours: a cube of `count` cells of edge 2 along each side, of which the
// first has the corner (-1, -1, -1).
typedef struct cubes {
  prepared skin;
  grown g;
} cubes;

static void make_cubes(cubes* c, int count, int coarsen) {
  double end = 2.0 * count - 1;
  prepare(&c->skin, shape_box(sn_v3(-1, -1, -1), sn_v3(end, end, end)));
  grow(&c->g, &c->skin, 2, coarsen);
}

static void unmake_cubes(cubes* c) {
  ungrow(&c->g);
  unprepare(&c->skin);
}

// Moments of a mesh in the single cell -1..1. Destroys the mesh.
static void moments_in_one_cell(sn_mesh mesh, double m[10]) {
  cubes c;
  prepared other;
  make_cubes(&c, 1, 0);
  prepare(&other, mesh);
  assert_int_equal(c.g.tree.cell_count, 1);
  moments10* found = find_moments(NULL, &c.g.tree, &other.surface);
  memcpy(m, found[0], sizeof *found);
  free(found);
  unprepare(&other);
  unmake_cubes(&c);
}

static sn_mesh tetrahedron(const double p[4][3]) {
  static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  shape_arrays a = shape_begin(4, 4);
  for (int i = 0; i < 4; ++i) shape_vertex(&a, sn_load3(p[i]));
  for (int f = 0; f < 4; ++f) shape_triangle(&a, faces[f][0], faces[f][1], faces[f][2]);
  return shape_end(&a);
}

static void boxes_have_the_moments_of_the_closed_form(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(11);
  for (int k = 0; k < 300; ++k) {
    double lo[3], hi[3], m[10], expected[10];
    for (int i = 0; i < 3; ++i) {
      double a = 1.4 * sn_random_symmetric(&random), b = 1.4 * sn_random_symmetric(&random);
      // the whole cell, halves, and slabs too
      lo[i] = k % 3 == 0 ? -1 : a < b ? a : b;
      hi[i] = k % 3 == 0 ? 1 : a < b ? b : a;
      if (k % 3 == 0 && i == k / 3 % 3) hi[i] = k < 9 ? 1 : k < 18 ? 0 : -1 + fabs(a) / k;
    }
    moments_in_one_cell(shape_box(sn_load3(lo), sn_load3(hi)), m);
    for (int i = 0; i < 3; ++i) {
      lo[i] = fmin(fmax(lo[i], -1), 1);
      hi[i] = fmin(fmax(hi[i], -1), 1);
    }
    box_moments(lo, hi, expected);
    assert_near(m, expected, 1e-14, "box");
  }
}

static void tetrahedra_have_the_moments_of_the_closed_form(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(12);
  for (int k = 0; k < 300; ++k) {
    double p[4][3], m[10], expected[10];
    for (int i = 0; i < 12; ++i) p[i / 3][i % 3] = sn_random_symmetric(&random);
    if (k % 2 == 0) {
      // cut off a corner
      for (int i = 0; i < 12; ++i) p[i / 3][i % 3] = -1;
      for (int i = 0; i < 3; ++i) p[i + 1][i] += 2 * sn_random_unit(&random);
    }
    prepared tet;
    prepare(&tet, tetrahedron(p));
    surface_moments(&tet.surface, sn_v3(0, 0, 0), expected);
    unprepare(&tet);
    for (int i = 0; i < 10; ++i) expected[i] /= 8;
    moments_in_one_cell(tetrahedron(p), m);
    assert_near(m, expected, 1e-14, "tetrahedron");
  }
}

// ---- The surface that the tree is made of

static void moments_add_up_to_those_of_the_skin(void** unused) {
  (void)unused;
  for (int body = 0; body < CLOSED_BODIES; ++body) {
    for (int n = 5; n <= 47; n += 14) {
      for (int coarsen = -1; coarsen <= 0; ++coarsen) {
        prepared skin;
        grown g;
        char what[64];
        snprintf(what, sizeof what, "body %d, n %d", body, n);
        prepare(&skin, make_closed(body));
        grow(&g, &skin, sn_box_size(skin.surface.box) / (n + 0.3), coarsen);
        moments10* moments = find_moments(NULL, &g.tree, &skin.surface);
        assert_sum(&g.tree, moments, &skin.surface, what);
        for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
          if (!(g.tree.cells[e].flags & SN_OCTANT_TOUCHED) && g.tree.cells[e].height > 0) {
            assert_memory_equal(moments[e], sn_full_moments, sizeof *moments);
          }
        }
        free(moments);
        ungrow(&g);
        unprepare(&skin);
      }
    }
  }
}

static void the_first_moment_is_the_filled_share(void** unused) {
  (void)unused;
  prepared skin;
  grown g;
  sn_arena* scratch;
  double* fill;
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  prepare(&skin, make_closed(8));
  grow(&g, &skin, 0.043, -1);
  assert_int_equal(SN_ARENA_NEW(g.arena, g.tree.cell_count, &fill, NULL), SN_OK);
  assert_int_equal(sn_octree_fill_unbounded(&g.tree, &skin.bvh, NULL, scratch, fill, NULL), SN_OK);
  moments10* moments = find_moments(NULL, &g.tree, &skin.surface);
  for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
    assert_true(fabs(moments[e][0] - fill[e]) < 1e-12);
  }
  free(moments);
  sn_arena_destroy(scratch);
  ungrow(&g);
  unprepare(&skin);
}

// Faces that leave the planes of the grid by less than what counts as touching.
static void a_skin_that_nearly_follows_the_grid_fills_it(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  for (int k = 0; k < 20; ++k) {
    prepared skin;
    grown g;
    sn_mesh cube = shape_unit_cube();
    for (int i = 0; i < 24; ++i) cube.positions[i] += 4e-8 * sn_random_symmetric(&random);
    prepare(&skin, cube);
    grow(&g, &skin, 0.1, -1);
    moments10* moments = find_moments(NULL, &g.tree, &skin.surface);
    for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
      assert_near(moments[e], sn_full_moments, 5e-6, "nearly full");
    }
    free(moments);
    ungrow(&g);
    unprepare(&skin);
  }
}

// ---- Other surfaces

// Within the body, through cells of all sizes.
static void moments_of_a_surface_inside_add_up_to_its_own(void** unused) {
  (void)unused;
  for (int body = 0; body < CLOSED_BODIES; ++body) {
    for (int n = 9; n <= 90; n += 27) {
      prepared skin, other;
      grown g;
      char what[64];
      snprintf(what, sizeof what, "inner body %d, n %d", body, n);
      sn_mesh mesh = make_closed(body);
      shape_move(&mesh, 0.55, sn_v3(0.02, -0.03, 0.01));
      prepare(&other, mesh);
      prepare(&skin, shape_sphere(sn_v3(0, 0, 0), 1.5, 20));
      grow(&g, &skin, 3.0 / (n + 0.3), -1);
      if (n > 60) assert_true(tallest_cell(&g.tree) > 2);
      moments10* moments = find_moments(NULL, &g.tree, &other.surface);
      assert_sum(&g.tree, moments, &other.surface, what);
      free(moments);
      ungrow(&g);
      unprepare(&skin);
      unprepare(&other);
    }
  }
}

// Partly outside the body: a box out of a cube that the cells fill.
static void what_is_outside_all_cells_counts_for_nothing(void** unused) {
  (void)unused;
  for (int coarsen = -1; coarsen <= 0; ++coarsen) {
    cubes c;
    prepared other;
    make_cubes(&c, 16, coarsen);
    double far = coarsen ? 300 : 1e9, lo[3] = {-far, 3.3, -7}, hi[3] = {12.7, far, 0.1 + far};
    prepare(&other, shape_box(sn_load3(lo), sn_load3(hi)));
    moments10* moments = find_moments(NULL, &c.g.tree, &other.surface);
    double tolerance = coarsen ? 1e-12 : 1e-6;
    for (uint32_t e = 0; e < c.g.tree.cell_count; ++e) {
      double a[3], b[3], expected[10], centre[3], half = 0.5 * sn_octree_edge(&c.g.tree, e);
      sn_store3(centre, sn_octree_cell_centre(&c.g.tree, e));
      for (int i = 0; i < 3; ++i) {
        a[i] = fmin(fmax((lo[i] - centre[i]) / half, -1), 1);
        b[i] = fmin(fmax((hi[i] - centre[i]) / half, -1), 1);
      }
      box_moments(a, b, expected);
      assert_near(moments[e], expected, tolerance, "box that reaches out");
    }
    free(moments);
    unprepare(&other);
    unmake_cubes(&c);
  }
}

// A tree with coarse cells against one of finest cells only.
static void coarse_cells_have_what_their_finest_ones_have(void** unused) {
  (void)unused;
  for (int body = 0; body < CLOSED_BODIES; ++body) {
    cubes coarse, fine;
    prepared other;
    make_cubes(&coarse, 16, -1);
    make_cubes(&fine, 16, 0);
    sn_mesh mesh = make_closed(body);
    shape_move(&mesh, 11, sn_v3(19, 14, 12));  // reaches out on some sides
    prepare(&other, mesh);
    moments10* m = find_moments(NULL, &coarse.g.tree, &other.surface);
    moments10* parts = find_moments(NULL, &fine.g.tree, &other.surface);
    moments10* sums = calloc(coarse.g.tree.cell_count, sizeof *sums);
    assert_non_null(sums);
    assert_true(tallest_cell(&coarse.g.tree) >= 2);
    for (uint32_t e = 0; e < fine.g.tree.cell_count; ++e) {
      double xi[3];
      uint32_t in = sn_octree_nearest(&coarse.g.tree, sn_octree_cell_centre(&fine.g.tree, e), xi);
      add_cell(&fine.g.tree, e, parts[e], sn_octree_cell_centre(&coarse.g.tree, in), sums[in]);
    }
    for (uint32_t e = 0; e < coarse.g.tree.cell_count; ++e) {
      double h = 0.5 * sn_octree_edge(&coarse.g.tree, e);
      for (int k = 0; k < 10; ++k) sums[e][k] /= 8 * h * h * h * (k == 0 ? 1 : k < 4 ? h : h * h);
      assert_near(m[e], sums[e], 1e-12, "coarse cell");
    }
    free(m);
    free(parts);
    free(sums);
    unprepare(&other);
    unmake_cubes(&coarse);
    unmake_cubes(&fine);
  }
}

// ---- Surfaces from files

// Open, or passing through themselves: there is nothing that their moments have to add up to.
static bool is_clean(const char* name) {
  static const char* const others[] = {"asian_dragon", "human_man", "spot_control", "suzanne",
                                       "turtle"};
  for (size_t k = 0; k < sizeof others / sizeof *others; ++k) {
    if (strncmp(name, others[k], strlen(others[k])) == 0) return false;
  }
  return true;
}

// Rules for all cells; returns how many have more than four points.
static int check_rules(const sn_octree* tree, const moments10* moments, bool clean,
                       const char* what) {
  int more = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_rule rule;
    double own[10];
    bool exact = sn_rule_from_moments(moments[e], &rule);
    if (clean && !exact) fail_msg("%s: cell %u has no rule", what, e);
    sn_rule_moments(&rule, own);
    if (exact) assert_near(own, moments[e], 1e-12, what);
    for (int i = 0; i < rule.count; ++i) {
      assert_true(rule.weights[i] > 0);
      for (int k = 0; k < 3; ++k) assert_true(fabs(rule.points[i][k]) <= 1);
    }
    more += rule.count > 4;
  }
  return more;
}

// In its own tree, and in that of a ball around it, which it passes through at all heights.
static void check_file(const char* path, const char* name) {
  prepared own, ball;
  grown in_own, in_ball;
  sn_mesh mesh;
  sn_error err = {0};
  if (sn_mesh_load(path, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  prepare(&own, mesh);
  sn_box box = own.surface.box;
  prepare(&ball, shape_sphere(sn_box_centre(box), sn_distance(box.lo, box.hi), 12));
  double size = sn_box_size(box);
  grow(&in_own, &own, size / 24.3, -1);
  grow(&in_ball, &ball, size / 31.3, -1);
  moments10* first = find_moments(NULL, &in_own.tree, &own.surface);
  moments10* second = find_moments(NULL, &in_ball.tree, &own.surface);
  if (is_clean(name)) {
    assert_sum(&in_own.tree, first, &own.surface, name);
    assert_sum(&in_ball.tree, second, &own.surface, name);
  }
  int more = check_rules(&in_own.tree, first, is_clean(name), name) +
             check_rules(&in_ball.tree, second, is_clean(name), name);
  if (more > 0) print_message("%s: %d cells have more than four points\n", name, more);
  free(first);
  free(second);
  ungrow(&in_own);
  ungrow(&in_ball);
  unprepare(&own);
  unprepare(&ball);
}

static void check_folder(const char* path) {
  DIR* folder = opendir(path);
  if (!folder) {
    print_message("no folder %s: skipped\n", path);
    skip();
  }
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder));) {
    const char* dot = strrchr(entry->d_name, '.');
    char file[1024];
    if (!dot || strcmp(dot, ".obj") != 0) continue;
    snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
    check_file(file, entry->d_name);
    ++count;
  }
  closedir(folder);
  assert_true(count > 0);
}

static void moments_of_the_scenes_shapes_add_up(void** unused) {
  (void)unused;
  check_folder(SN_TEST_SCENES "/meshes");
}

static void moments_of_the_assets_add_up(void** unused) {
  (void)unused;
  check_folder(SN_TEST_ASSETS "/surfaces");
}

// ---- Surfaces without a volume

static void open_surfaces_have_moments_of_some_part_of_a_cell(void** unused) {
  (void)unused;
  for (int body = 0; body < 5; ++body) {
    sn_vec3 zero = {0, 0, 0};
    sn_mesh mesh = body == 0   ? shape_hemisphere(zero, 1, 12)
                   : body == 1 ? tilted(shape_hemisphere(zero, 1, 12))
                   : body == 2 ? shape_soup(4, 60, 0.4)
                   : body == 3 ? shape_sheet(zero, sn_v3(1, 0, 0), sn_v3(0, 0.8, 0), 5)
                               : shape_one_triangle(zero, sn_v3(1, 0.2, 0), sn_v3(0.3, 0.9, -0.4));
    prepared skin;
    grown g;
    prepare(&skin, mesh);
    grow(&g, &skin, 0.07, -1);
    moments10* moments = find_moments(NULL, &g.tree, &skin.surface);
    for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
      double* m = moments[e];
      assert_true(m[0] > -1e-8 && m[0] < 1 + 1e-8);
      for (int i = 0; i < 3; ++i) {
        assert_true(fabs(m[1 + i]) < m[0] + 1e-8);
        assert_true(m[4 + i] > -1e-8 && m[4 + i] < m[0] + 1e-8);
      }
    }
    free(moments);
    ungrow(&g);
    unprepare(&skin);
  }
}

// A hole at the top of a sphere: cells along the skin away from it keep what they have without it.
static void a_hole_changes_nothing_elsewhere(void** unused) {
  (void)unused;
  sn_vec3 zero = {0, 0, 0};
  prepared whole, holed;
  grown g;
  prepare(&whole, shape_sphere(zero, 1, 20));
  sn_mesh open = shape_sphere(zero, 1, 20);
  shape_flip(&open, 0, 0);
  open.triangle_count = open.triangle_count - 20;  // around the south pole
  prepare(&holed, open);
  grow(&g, &whole, 0.083, -1);
  moments10* m = find_moments(NULL, &g.tree, &holed.surface);
  moments10* expected = find_moments(NULL, &g.tree, &whole.surface);
  int compared = 0;
  for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
    if (sn_octree_cell_centre(&g.tree, e).z < -0.8) continue;
    assert_near(m[e], expected[e], 1e-12, "far from the hole");
    ++compared;
  }
  assert_true(compared > 1000);
  free(m);
  free(expected);
  ungrow(&g);
  unprepare(&whole);
  holed.mesh.triangle_count += 20;
  unprepare(&holed);
}

static void cells_within_an_overlap_are_full(void** unused) {
  (void)unused;
  prepared skin;
  grown g;
  sn_vec3 zero = {0, 0, 0};
  prepare(&skin, shape_join(shape_sphere(zero, 1, 16), shape_sphere(zero, 0.5, 12)));
  grow(&g, &skin, 0.1, -1);
  moments10* moments = find_moments(NULL, &g.tree, &skin.surface);
  for (uint32_t e = 0; e < g.tree.cell_count; ++e) {
    if (sn_length(sn_octree_cell_centre(&g.tree, e)) > 0.7) continue;
    assert_near(moments[e], sn_full_moments, 1e-12, "overlap");
  }
  free(moments);
  ungrow(&g);
  unprepare(&skin);
}

// ---- Threads

static void same_bits_on_any_number_of_threads(void** unused) {
  (void)unused;
  for (int body = 0; body < 2; ++body) {
    prepared skin, other;
    grown g;
    prepare(&skin, shape_blob(2, 0.04));
    prepare(&other, body == 0 ? shape_sphere(sn_v3(0.1, 0, 0), 0.7, 30) : shape_soup(6, 12, 0.5));
    grow(&g, &skin, 0.031, -1);
    for (int k = 0; k < 2; ++k) {
      const sn_surface* surface = k == 0 ? &skin.surface : &other.surface;
      moments10* one = find_moments(NULL, &g.tree, surface);
      for (int threads = 2; threads <= 3; ++threads) {
        sn_pool* pool;
        assert_int_equal(sn_pool_create(threads, &pool, NULL), SN_OK);
        moments10* many = find_moments(pool, &g.tree, surface);
        assert_memory_equal(one, many, g.tree.cell_count * sizeof *one);
        free(many);
        sn_pool_destroy(pool);
      }
      free(one);
    }
    ungrow(&g);
    unprepare(&skin);
    unprepare(&other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_have_the_moments_of_the_closed_form),
      cmocka_unit_test(tetrahedra_have_the_moments_of_the_closed_form),
      cmocka_unit_test(moments_add_up_to_those_of_the_skin),
      cmocka_unit_test(the_first_moment_is_the_filled_share),
      cmocka_unit_test(a_skin_that_nearly_follows_the_grid_fills_it),
      cmocka_unit_test(moments_of_a_surface_inside_add_up_to_its_own),
      cmocka_unit_test(what_is_outside_all_cells_counts_for_nothing),
      cmocka_unit_test(coarse_cells_have_what_their_finest_ones_have),
      cmocka_unit_test(moments_of_the_scenes_shapes_add_up),
      cmocka_unit_test(moments_of_the_assets_add_up),
      cmocka_unit_test(open_surfaces_have_moments_of_some_part_of_a_cell),
      cmocka_unit_test(a_hole_changes_nothing_elsewhere),
      cmocka_unit_test(cells_within_an_overlap_are_full),
      cmocka_unit_test(same_bits_on_any_number_of_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
