#include "geometry/weld.h"

#include "shapes.h"

#define VERTICES 300
#define TRIANGLES 2000

// Triangles at random between vertices that share 27 places, 0 and -0 one of them on each axis.
static sn_mesh tangle(void) {
  static const double STEPS[4] = {0, -0.0, 1, -3};
  sn_random random = sn_random_seeded(17);
  shape_arrays a = shape_begin(VERTICES, TRIANGLES);
  for (int v = 0; v < VERTICES; ++v) {
    double p[3];
    for (int i = 0; i < 3; ++i) p[i] = STEPS[(int)(4 * sn_random_unit(&random))];
    shape_vertex(&a, sn_load3(p));
  }
  for (int t = 0; t < TRIANGLES; ++t) {
    uint32_t c[3];
    for (int i = 0; i < 3; ++i) c[i] = (uint32_t)(VERTICES * sn_random_unit(&random));
    shape_triangle(&a, c[0], c[1], c[2]);
  }
  return shape_end(&a);
}

typedef struct welded {
  sn_mesh mesh;
  sn_arena* arena;
  uint32_t weld[VERTICES];
  uint8_t has_corners[TRIANGLES];  // at three places
} welded;

static void weld(welded* w) {
  w->mesh = tangle();
  assert_int_equal(sn_arena_create(&w->arena, NULL), SN_OK);
  assert_int_equal(sn_weld_vertices(&w->mesh, w->arena, w->weld, NULL), SN_OK);
  assert_int_equal(sn_arena_bytes(w->arena), 0);
  for (uint32_t t = 0; t < TRIANGLES; ++t) {
    const uint32_t* c = w->mesh.triangles + 3 * t;
    uint32_t p = w->weld[c[0]], q = w->weld[c[1]], r = w->weld[c[2]];
    w->has_corners[t] = p != q && q != r && r != p;
  }
}

static void unweld(welded* w) {
  sn_arena_destroy(w->arena);
  sn_mesh_destroy(&w->mesh);
}

static void vertices_at_one_place_count_as_the_first(void** unused) {
  (void)unused;
  welded w;
  weld(&w);
  for (uint32_t v = 0; v < VERTICES; ++v) {
    const double *p = w.mesh.positions + 3 * (size_t)v, *q = w.mesh.positions;
    uint32_t first = 0;
    for (; p[0] != q[0] || p[1] != q[1] || p[2] != q[2]; q += 3) ++first;
    assert_int_equal(w.weld[v], first);
  }
  unweld(&w);
}

static bool has_corner(const welded* w, uint32_t triangle, uint32_t vertex) {
  const uint32_t* c = w->mesh.triangles + 3 * (size_t)triangle;
  return w->weld[c[0]] == vertex || w->weld[c[1]] == vertex || w->weld[c[2]] == vertex;
}

static void of_equal_triangles_the_first_is_wanted(void** unused) {
  (void)unused;
  welded w;
  weld(&w);
  uint8_t wanted[TRIANGLES];
  uint32_t left_out = 0;
  memcpy(wanted, w.has_corners, sizeof wanted);
  assert_int_equal(sn_weld_triangles(&w.mesh, w.weld, w.arena, wanted, NULL), SN_OK);
  assert_int_equal(sn_arena_bytes(w.arena), 0);
  for (uint32_t t = 0; t < TRIANGLES; ++t) {
    bool first = w.has_corners[t];
    for (uint32_t s = 0; s < t && first; ++s) {
      const uint32_t* c = w.mesh.triangles + 3 * (size_t)s;
      bool same = w.has_corners[s];
      for (int i = 0; i < 3; ++i) same = same && has_corner(&w, t, w.weld[c[i]]);
      first = !same;
    }
    assert_int_equal(wanted[t], first);
    left_out += w.has_corners[t] && !first;
  }
  assert_true(left_out > 0);
  unweld(&w);
}

static bool is_before(const sn_edge* a, const sn_edge* b) {
  if (a->low != b->low) return a->low < b->low;
  return a->high != b->high ? a->high < b->high : a->triangle < b->triangle;
}

static void edges_are_sorted_by_vertices_and_triangle(void** unused) {
  (void)unused;
  welded w;
  weld(&w);
  sn_edge_list edges;
  size_t expected = 0;
  for (uint32_t t = 0; t < TRIANGLES; ++t) expected += 3 * (size_t)w.has_corners[t];
  assert_int_equal(sn_weld_edges(&w.mesh, w.weld, w.has_corners, w.arena, &edges, NULL), SN_OK);
  assert_int_equal(edges.count, expected);
  for (size_t e = 0; e < edges.count; ++e) {
    sn_edge edge = edges.items[e];
    const uint32_t* c = w.mesh.triangles + 3 * (size_t)edge.triangle;
    uint32_t from = w.weld[c[edge.side]], to = w.weld[c[(edge.side + 1) % 3]];
    assert_int_equal(edge.forward ? from : to, edge.low);
    assert_int_equal(edge.forward ? to : from, edge.high);
    assert_true(edge.low < edge.high);
    if (e > 0) assert_true(is_before(&edges.items[e - 1], &edge));
  }
  for (size_t begin = 0, end; begin < edges.count; begin = end) {
    end = sn_edge_list_end(&edges, begin);
    assert_true(end == edges.count || edges.items[end].low != edges.items[begin].low ||
                edges.items[end].high != edges.items[begin].high);
    assert_int_equal(edges.items[end - 1].low, edges.items[begin].low);
    assert_int_equal(edges.items[end - 1].high, edges.items[begin].high);
  }
  unweld(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vertices_at_one_place_count_as_the_first),
      cmocka_unit_test(of_equal_triangles_the_first_is_wanted),
      cmocka_unit_test(edges_are_sorted_by_vertices_and_triangle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
