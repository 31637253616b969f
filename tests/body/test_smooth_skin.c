// The smooth field between nodes: which polynomials it reproduces, and that value and slopes are continuous
// over every face and edge of octrees with all kinds of hanging corners.
#include "body/smooth_skin.h"

#include "elasticity/blob.h"

// ---- Trees and fields ----

enum { CUBE, SPHERE, TORUS, BLOB, BAR, UNIFORM, TREES };

// Cells from one that is looked at to the next; more where sanitizers slow everything down.
#ifdef SN_SANITIZED
#define STRIDE 7
#else
#define STRIDE 1
#endif

static blob trees[TREES];
static sn_smooth_skin skins[TREES];
static double* slopes[TREES];
static double* u[TREES];

static sn_mesh tree_mesh(int t) {
  switch (t) {
    case SPHERE:
      return shape_sphere(sn_v3(0.1, 0.2, 0.3), 1, 20);
    case TORUS:
      return shape_torus(1, 0.35, 20);
    case BLOB:
      return shape_blob(1, 0.12);
    case BAR:
      return shape_box(sn_v3(0, 0, 0), sn_v3(4, 1.05, 1.05));
    default:
      return shape_unit_cube();
  }
}

static void build_tree(int t, double cell) {
  sn_error err = {0};
  blob* b = &trees[t];
  blob_fill_mesh(b, tree_mesh(t), cell, t == UNIFORM ? 0 : -1);
  size_t numbers = SN_SLOPE_NUMBERS * (size_t)b->body.tree.node_count;
  must(sn_smooth_skin_build(&b->body.tree, NULL, b->arena, b->scratch, &skins[t], &err), &err);
  must(SN_ARENA_NEW(b->arena, numbers, &slopes[t], &err), &err);
  u[t] = blob_vector(b);
}

static int build_trees(void** unused) {
  (void)unused;
  static const double CELLS[TREES] = {1.0 / 26, 1.0 / 13, 0.05, 0.08, 0.25, 1.0 / 7};
  for (int t = 0; t < TREES; ++t) build_tree(t, CELLS[t]);
  return 0;
}

static int destroy_trees(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) blob_destroy(&trees[t]);
  return 0;
}

// Fields of places in finest cells.
typedef sn_vec3 (*field_fn)(sn_vec3 p);

static sn_vec3 constant(sn_vec3 p) {
  (void)p;
  return sn_v3(0.3, -1.7, 2.1);
}
static sn_vec3 linear(sn_vec3 p) {
  return sn_v3(0.3 + 0.2 * p.x - 0.1 * p.y + 0.7 * p.z, p.y - 2, 0.5 * p.x - 0.25 * p.z);
}
static sn_vec3 quadratic(sn_vec3 p) {
  return sn_v3(0.03 * p.x * p.x - 0.02 * p.y * p.z + 0.1 * p.z, 0.05 * p.x * p.y + 0.04 * p.z * p.z,
               0.02 * p.y * p.y - 0.03 * p.x * p.z + p.x);
}
// Up to the square of each coordinate.
static sn_vec3 triquadratic(sn_vec3 p) {
  double a = 1 + 0.2 * p.x - 0.03 * p.x * p.x, b = 0.4 - 0.1 * p.y + 0.02 * p.y * p.y;
  double c = 2 + 0.3 * p.z - 0.01 * p.z * p.z;
  return sn_v3(a * b * c, a * c - b, b * c);
}

static void set_field(int t, field_fn field) {
  const sn_octree* tree = &trees[t].body.tree;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_octant o = tree->nodes[n];
    sn_store3(u[t] + 3 * (size_t)n, field(sn_v3(o.x, o.y, o.z)));
  }
  sn_smooth_skin_update(&skins[t], NULL, u[t], slopes[t]);
}

static void set_noise(int t) {
  sn_random random = sn_random_seeded(7);
  for (size_t i = 0; i < trees[t].unknown_count; ++i) u[t][i] = sn_random_symmetric(&random);
  sn_smooth_skin_update(&skins[t], NULL, u[t], slopes[t]);
}

static sn_smooth_cell cell_of(int t, uint32_t cell) {
  sn_smooth_cell poly;
  sn_smooth_skin_cell(&skins[t], u[t], slopes[t], cell, &poly);
  return poly;
}

// The largest difference between field and polynomials, at random points of a cell.
static double cell_error(int t, uint32_t cell, field_fn field, sn_random* random) {
  sn_smooth_cell poly = cell_of(t, cell);
  sn_octant o = trees[t].body.tree.cells[cell];
  double most = 0;
  for (int k = 0; k < 5; ++k) {
    double xi[3];
    for (int i = 0; i < 3; ++i) xi[i] = 0.5 + 0.5 * sn_random_symmetric(random);
    sn_vec3 p = sn_madd(sn_v3(o.x, o.y, o.z), poly.size, sn_load3(xi)), exact = field(p);
    sn_vec3 off = sn_sub(sn_smooth_cell_value(&poly, xi), exact);
    double size = sn_length(exact) + 1;
    if (sn_length(off) / size > most) most = sn_length(off) / size;
  }
  return most;
}

static double tree_error(int t, field_fn field) {
  sn_random random = sn_random_seeded(1);
  double most = 0;
  set_field(t, field);
  for (uint32_t e = 0; e < trees[t].body.tree.cell_count; ++e) {
    double error = cell_error(t, e, field, &random);
    if (error > most) most = error;
  }
  return most;
}

// ---- What is reproduced ----

static void the_trees_have_all_kinds_of_hanging_corners(void** unused) {
  (void)unused;
  int edges[8][8] = {{0}}, faces[8][8] = {{0}};
  for (int t = 0; t < TREES; ++t) {
    const sn_octree* tree = &trees[t].body.tree;
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      int k = sn_octant_child_number(tree->cells[e]);
      for (int c = 0; c < 8; ++c) {
        int away = c ^ k;
        if (!(tree->hanging[e] >> c & 1)) continue;
        *((away & (away - 1)) ? &faces[k][away] : &edges[k][away]) += 1;
      }
    }
  }
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 3; ++i) {
      assert_true(edges[k][1 << i] > 0);
      assert_true(faces[k][7 ^ 1 << i] > 0);
    }
  }
}

static void nothing_moved_shows_nothing_moved(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) {
    const sn_octree* tree = &trees[t].body.tree;
    memset(u[t], 0, trees[t].unknown_count * sizeof *u[t]);
    sn_smooth_skin_update(&skins[t], NULL, u[t], slopes[t]);
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      sn_smooth_cell poly = cell_of(t, e);
      sn_vec3 move = sn_smooth_cell_value(&poly, (double[3]){0.3, 0.7, 0.1});
      assert_true(move.x == 0 && move.y == 0 && move.z == 0);
    }
  }
}

static void constants_and_linear_fields_are_exact(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) {
    double flat = tree_error(t, constant), slanted = tree_error(t, linear);
    print_message("tree %d: %.1e, %.1e\n", t, flat, slanted);
    assert_true(flat < 1e-12 && slanted < 1e-12);
  }
}

static void quadratic_fields_are_exact_on_uniform_grids(void** unused) {
  (void)unused;
  assert_true(tree_error(UNIFORM, quadratic) < 1e-12);
  assert_true(tree_error(UNIFORM, triquadratic) < 1e-12);
}

// Are the cells within `reach` cells all there and of the same size?
static bool is_in_uniform_region(const sn_octree* tree, uint32_t cell, int reach) {
  sn_octant o = tree->cells[cell];
  int size = (int)sn_octant_size(o), across = 2 * reach + 1;
  for (int k = 0; k < across * across * across; ++k) {
    int x = k % across - reach, y = k / across % across - reach, z = k / across / across - reach;
    uint32_t other = sn_octree_find(tree, o.x + x * size, o.y + y * size, o.z + z * size);
    if (other == SN_NO_CELL || tree->cells[other].height != o.height) return false;
  }
  return true;
}

static void quadratic_fields_are_exact_within_uniform_regions(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) {
    const sn_octree* tree = &trees[t].body.tree;
    sn_random random = sn_random_seeded(2);
    uint32_t uniform = 0, exact = 0;
    double most = 0;
    set_field(t, quadratic);
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      double error = cell_error(t, e, quadratic, &random);
      exact += error < 1e-11;
      if (error > most) most = error;
      if (!is_in_uniform_region(tree, e, 1)) continue;
      uniform++;
      assert_true(error < 1e-11);
    }
    print_message("tree %d: %u of %u cells exact, %u in uniform regions, error %.1e at most\n", t,
                  exact, tree->cell_count, uniform, most);
    assert_true(exact > tree->cell_count / 2);
  }
}

// A wave a few cells long, in a cube of which a side has so many.
static double wave_cells;
static sn_vec3 wave(sn_vec3 p) {
  sn_vec3 q = sn_scale(3 / wave_cells, p);
  return sn_v3(sin(q.x + 2 * q.y), sin(q.y - q.z) * cos(q.x), sin(q.z) * cos(q.y));
}

static void the_error_falls_with_the_cube_of_the_edge(void** unused) {
  (void)unused;
  double errors[2];
  for (int k = 0; k < 2; ++k) {
    blob_destroy(&trees[UNIFORM]);
    wave_cells = 12 << k;
    build_tree(UNIFORM, 1 / wave_cells);
    errors[k] = tree_error(UNIFORM, wave);
  }
  print_message("errors of a wave: %.2e, with half the edge %.2e: 1/%.1f\n", errors[0], errors[1],
                errors[0] / errors[1]);
  assert_true(errors[0] > 6 * errors[1]);
}

// ---- Continuity ----

// Value and gradient of a cell's polynomial at xi, by Hermite's basis and its derivatives.
static void evaluate(const sn_smooth_cell* poly, const double xi[3], double result[4][3]) {
  double h = poly->size;
  memset(result, 0, 4 * sizeof result[0]);
  for (int c = 0; c < 8; ++c) {
    for (int mask = 0; mask < 8; ++mask) {
      double f[3], slope[3];
      for (int i = 0; i < 3; ++i) {
        double t = xi[i], sign = c >> i & 1 ? -1 : 1,
               s = c >> i & 1 ? 1 - t : t;  // from the corner
        bool is_slope = mask >> i & 1;
        f[i] = is_slope ? sign * h * s * (1 - s) * (1 - s) : 1 - 3 * s * s + 2 * s * s * s;
        slope[i] = is_slope ? 1 - 4 * s + 3 * s * s : sign * 6 * s * (s - 1) / h;
      }
      double weights[4] = {f[0] * f[1] * f[2], slope[0] * f[1] * f[2], f[0] * slope[1] * f[2],
                           f[0] * f[1] * slope[2]};
      for (int w = 0; w < 4; ++w) {
        for (int i = 0; i < 3; ++i) result[w][i] += weights[w] * poly->at[c][mask][i];
      }
    }
  }
}

static void evaluate_at(int t, uint32_t cell, sn_vec3 place, double result[4][3]) {
  sn_smooth_cell poly = cell_of(t, cell);
  sn_octant o = trees[t].body.tree.cells[cell];
  double xi[3];
  sn_store3(xi, sn_scale(1 / poly.size, sn_sub(place, sn_v3(o.x, o.y, o.z))));
  evaluate(&poly, xi, result);
  sn_vec3 value = sn_smooth_cell_value(&poly, xi);
  assert_true(sn_distance(value, sn_load3(result[0])) < 1e-12);
}

// Compare a cell with another at a place that both have. The data are of the order of 1 and the finest cell
// has the length 1, so that these are relative differences.
static double jump_at(int t, uint32_t cell, uint32_t other, sn_vec3 place) {
  double here[4][3], there[4][3], most = 0;
  evaluate_at(t, cell, place, here);
  evaluate_at(t, other, place, there);
  for (int w = 0; w < 4; ++w) {
    for (int i = 0; i < 3; ++i) most = fmax(most, fabs(here[w][i] - there[w][i]));
  }
  return most;
}

typedef struct meeting {
  uint64_t same,
      larger;  // faces or edges shared with a cell of the same size, or with a larger one
  double jump;
} meeting;

// All cells at a point of a cell's boundary, from which it continues into each direction.
static void meet(int t, uint32_t cell, const double xi[3], meeting* m) {
  const sn_octree* tree = &trees[t].body.tree;
  sn_octant o = tree->cells[cell];
  double size = sn_octant_size(o);
  sn_vec3 place = sn_madd(sn_v3(o.x, o.y, o.z), size, sn_load3(xi));
  for (int side = 1; side < 8; ++side) {
    int step[3];
    bool fits = true;
    for (int i = 0; i < 3; ++i) {
      bool on_edge = xi[i] == 0 || xi[i] == 1;
      fits = fits && (!(side >> i & 1) || on_edge);
      step[i] = side >> i & 1 ? (xi[i] == 0 ? -1 : 1) : 0;
    }
    if (!fits) continue;
    // A place just beyond the cell, half a finest cell away from every plane.
    sn_vec3 inside = sn_madd(sn_v3(o.x, o.y, o.z), size - 1, sn_load3(xi));
    uint32_t other =
        sn_octree_find(tree, (int)floor(inside.x + 0.5) + step[0],
                       (int)floor(inside.y + 0.5) + step[1], (int)floor(inside.z + 0.5) + step[2]);
    if (other == SN_NO_CELL || tree->cells[other].height < o.height) continue;
    m->same += tree->cells[other].height == o.height;
    m->larger += tree->cells[other].height > o.height;
    m->jump = fmax(m->jump, jump_at(t, cell, other, place));
  }
}

static void value_and_slopes_agree_on_every_face_edge_and_corner(void** unused) {
  (void)unused;
  static const double INNER[] = {0.5, 0.21, 0.83};
  for (int t = 0; t < TREES; ++t) {
    const sn_octree* tree = &trees[t].body.tree;
    meeting kinds[3] = {{0}};  // points in faces, on edges, corners
    set_noise(t);
    for (uint32_t e = 0; e < tree->cell_count; e += STRIDE) {
      for (int k = 0; k < 26; ++k) {
        // The 26 faces, edges and corners as places 0, inside and 1 along each axis.
        int code = k < 13 ? k : k + 1, pattern[3] = {code % 3, code / 3 % 3, code / 9}, inner = 0;
        double xi[3];
        for (int i = 0; i < 3; ++i) {
          inner += pattern[i] == 1;
          xi[i] = pattern[i] == 1 ? INNER[(e + (uint32_t)i) % 3] : pattern[i] / 2;
        }
        meet(t, e, xi, &kinds[2 - inner]);
      }
    }
    print_message(
        "tree %d: jumps %.1e over faces, %.1e over edges, %.1e at corners; %llu faces with "
        "larger cells\n",
        t, kinds[0].jump, kinds[1].jump, kinds[2].jump, (unsigned long long)kinds[0].larger);
    for (int k = 0; k < 3; ++k) {
      assert_true(kinds[k].same > 0 && kinds[k].jump < 1e-10);
      assert_true(kinds[k].larger > 0 || t == UNIFORM);
    }
  }
}

static void any_number_of_threads_gives_the_same_bits(void** unused) {
  (void)unused;
  for (int t = 0; t < TREES; ++t) {
    blob* b = &trees[t];
    size_t numbers = SN_SLOPE_NUMBERS * (size_t)b->body.tree.node_count;
    sn_arena_mark mark = sn_arena_get_mark(b->arena);
    double* other;
    sn_error err = {0};
    set_noise(t);
    must(SN_ARENA_NEW(b->arena, numbers, &other, &err), &err);
    for (int threads = 1; threads <= 3; ++threads) {
      sn_pool* pool;
      sn_smooth_skin skin;
      must(sn_pool_create(threads, &pool, &err), &err);
      must(sn_smooth_skin_build(&b->body.tree, pool, b->arena, b->scratch, &skin, &err), &err);
      assert_memory_equal(skin.ends, skins[t].ends,
                          6 * (size_t)b->body.tree.node_count * sizeof *skin.ends);
      sn_smooth_skin_update(&skin, pool, u[t], other);
      assert_memory_equal(other, slopes[t], numbers * sizeof *other);
      sn_pool_destroy(pool);
    }
    sn_arena_release(b->arena, mark);
  }
}

// ---- What it is for ----

// A bar bent to an arc: places in finest cells, displacements too.
static sn_vec3 bend(sn_vec3 p) {
  double curvature = 0.08, angle = curvature * p.x, r = 1 / curvature - p.z;
  return sn_v3(r * sin(angle) - p.x, 0.3 * sin(0.2 * p.x), 1 / curvature - r * cos(angle) - p.z);
}

static sn_vec3 place_of(int t, sn_vec3 p, bool smooth) {
  const sn_octree* tree = &trees[t].body.tree;
  double xi[3], weights[8];
  sn_vec3 move = {0, 0, 0};
  uint32_t cell = sn_octree_nearest(tree, sn_madd(tree->origin, tree->cell, p), xi);
  sn_octree_point_weights(tree, cell, xi, weights);
  for (int k = 0; k < 8; ++k) {
    move = sn_madd(move, weights[k],
                   sn_load3(u[t] + 3 * (size_t)sn_octree_corner(tree, cell, (int)k)));
  }
  sn_smooth_cell poly = cell_of(t, cell);
  return sn_add(p, smooth ? sn_smooth_cell_value(&poly, xi) : move);
}

static sn_vec3 normal_at(int t, sn_vec3 p, bool smooth) {
  double step = 1e-4;
  sn_vec3 here = place_of(t, p, smooth);
  sn_vec3 along = sn_sub(place_of(t, sn_add(p, sn_v3(step, 0, 0)), smooth), here);
  sn_vec3 across = sn_sub(place_of(t, sn_add(p, sn_v3(0, step, 0)), smooth), here);
  sn_vec3 n = sn_cross(along, across);
  return sn_scale(1 / sn_length(n), n);
}

// The largest angle between the normals of two places of the bent skin, a fortieth of a cell apart.
static double largest_turn(int t, bool smooth) {
  double most = 0;
  for (int row = 0; row < 5; ++row) {
    sn_vec3 before = {0, 0, 0};
    for (int k = 0; k < 15 * 40; ++k) {
      sn_vec3 n = normal_at(t, sn_v3(0.4 + 0.025 * k, 0.9 + 0.6 * row, 0.6), smooth);
      if (k > 0) most = fmax(most, sn_length(sn_cross(before, n)));
      before = n;
    }
  }
  return most;
}

static void a_bent_bar_has_no_creases(void** unused) {
  (void)unused;
  set_field(BAR, bend);
  double creased = largest_turn(BAR, false), smooth = largest_turn(BAR, true);
  print_message("normals turn by %.2e at most, trilinear, and by %.2e, tricubic: 1/%.0f\n", creased,
                smooth, creased / smooth);
  assert_true(smooth < creased / 15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_trees_have_all_kinds_of_hanging_corners),
      cmocka_unit_test(nothing_moved_shows_nothing_moved),
      cmocka_unit_test(constants_and_linear_fields_are_exact),
      cmocka_unit_test(quadratic_fields_are_exact_on_uniform_grids),
      cmocka_unit_test(quadratic_fields_are_exact_within_uniform_regions),
      cmocka_unit_test(the_error_falls_with_the_cube_of_the_edge),
      cmocka_unit_test(value_and_slopes_agree_on_every_face_edge_and_corner),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
      cmocka_unit_test(a_bent_bar_has_no_creases),
  };
  return cmocka_run_group_tests(tests, build_trees, destroy_trees);
}
