#include "geometry/parts.h"

#include "base/timer.h"
#include "shapes.h"

static void assert_near(double value, double expected, double margin) {
  if (!(fabs(value - expected) <= margin)) fail_msg("%.12g is not %.12g", value, expected);
}

typedef struct found {
  sn_mesh mesh;
  sn_arena *arena, *scratch;
  sn_parts parts;
} found;

// Takes the mesh over.
static void find(found* f, sn_mesh mesh) {
  sn_error err = {0};
  f->mesh = mesh;
  assert_int_equal(sn_arena_create(&f->arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&f->scratch, NULL), SN_OK);
  if (sn_parts_find(&f->mesh, f->arena, f->scratch, &f->parts, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(sn_arena_bytes(f->scratch), 0);
}

static void forget(found* f) {
  sn_arena_destroy(f->scratch);
  sn_arena_destroy(f->arena);
  sn_mesh_destroy(&f->mesh);
}

static void add_mesh(shape_arrays* a, sn_mesh mesh) {
  uint32_t first = a->vertex_count;
  for (size_t v = 0; v < mesh.vertex_count; ++v) shape_vertex(a, sn_load3(mesh.positions + 3 * v));
  for (size_t t = 0; t < mesh.triangle_count; ++t) {
    const uint32_t* c = mesh.triangles + 3 * t;
    shape_triangle(a, first + c[0], first + c[1], first + c[2]);
  }
  sn_mesh_destroy(&mesh);
}

static void two_cubes_are_two_parts(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(16, 24);
  add_mesh(&a, shape_box(sn_v3(0, 0, 0), sn_v3(1, 2, 3)));
  add_mesh(&a, shape_box(sn_v3(5, 5, 5), sn_v3(6, 6, 6)));
  found f;
  find(&f, shape_end(&a));
  assert_int_equal(f.parts.count, 2);
  assert_int_equal(f.parts.items[0].first_triangle, 0);
  assert_int_equal(f.parts.items[1].first_triangle, 12);
  for (int p = 0; p < 2; ++p) {
    assert_int_equal(f.parts.items[p].triangle_count, 12);
    assert_int_equal(f.parts.items[p].vertex_count, 8);
    assert_true(f.parts.items[p].rim_length == 0 && f.parts.items[p].rim_share == 0);
  }
  assert_near(f.parts.items[0].volume, 6, 1e-12);
  assert_near(f.parts.items[0].area, 22, 1e-12);
  assert_near(f.parts.items[1].volume, 1, 1e-12);
  assert_true(f.parts.items[0].box.hi.z == 3 && f.parts.items[1].box.lo.x == 5);
  for (uint32_t v = 0; v < 16; ++v) assert_int_equal(f.parts.of_vertex[v], v / 8);
  for (uint32_t t = 0; t < 24; ++t) assert_int_equal(f.parts.of_triangle[t], t / 12);
  forget(&f);
}

// Every triangle has vertices of its own, as after seams everywhere; 0 and -0 are one place.
static void seams_hold_together(void** unused) {
  (void)unused;
  sn_mesh box = shape_box(sn_v3(0, 0, 0), sn_v3(1, 1, 1));
  shape_arrays a = shape_begin(37, 12);
  shape_vertex(&a, sn_v3(0.5, 0.5, 0.5));  // in no triangle
  for (size_t c = 0; c < 36; ++c) {
    sn_vec3 p = sn_load3(box.positions + 3 * (size_t)box.triangles[c]);
    if (c % 2 == 1) p = sn_v3(p.x == 0 ? -0.0 : p.x, p.y, p.z);
    shape_vertex(&a, p);
  }
  for (uint32_t t = 0; t < 12; ++t) shape_triangle(&a, 3 * t + 1, 3 * t + 2, 3 * t + 3);
  sn_mesh_destroy(&box);
  found f;
  find(&f, shape_end(&a));
  assert_int_equal(f.parts.count, 1);
  assert_int_equal(f.parts.items[0].vertex_count, 36);
  assert_int_equal(f.parts.of_vertex[0], SN_NO_PART);
  assert_int_equal(f.parts.of_vertex[36], 0);
  assert_true(f.parts.items[0].rim_length == 0);
  assert_near(f.parts.items[0].volume, 1, 1e-12);
  forget(&f);
}

// The cube without the last two faces (z) is a tube; with all but one it is an open box.
static sn_mesh cube_of_faces(uint32_t face_count) {
  sn_mesh box = shape_unit_cube(), open;
  sn_error err = {0};
  assert_int_equal(
      sn_mesh_from_arrays(box.positions, 8, box.triangles, 2 * face_count, &open, &err), SN_OK);
  sn_mesh_destroy(&box);
  return open;
}

static void open_surfaces_are_closed_to_be_measured(void** unused) {
  (void)unused;
  static const double rim_lengths[7] = {0, 4, 8, 8, 8, 4, 0};
  for (uint32_t faces = 4; faces <= 6; ++faces) {
    found f;
    find(&f, cube_of_faces(faces));
    assert_int_equal(f.parts.count, 1);
    assert_near(f.parts.items[0].volume, 1, 1e-12);
    assert_near(f.parts.items[0].area, faces, 1e-12);
    assert_near(f.parts.items[0].rim_length, rim_lengths[faces], 1e-12);
    assert_near(f.parts.items[0].rim_share, (6.0 - faces) / faces, 1e-12);
    forget(&f);
  }
}

// A flat sheet, of one face and of two.
static void a_sheet_is_all_rim(void** unused) {
  (void)unused;
  for (int faces = 1; faces <= 2; ++faces) {
    shape_arrays a = shape_begin(4, 4);
    for (int c = 0; c < 4; ++c) shape_vertex(&a, sn_v3(c & 1 ? 2 : 0, 7, c & 2 ? 3 : 0));
    shape_quad(&a, 0, 1, 3, 2);
    if (faces == 2) {
      shape_triangle(&a, 3, 1, 0);
      shape_triangle(&a, 2, 3, 0);
    }
    found f;
    find(&f, shape_end(&a));
    assert_int_equal(f.parts.count, 1);
    assert_near(f.parts.items[0].volume, 0, 1e-12);
    assert_near(f.parts.items[0].area, 6, 1e-12);
    assert_near(f.parts.items[0].rim_length, 10, 1e-12);
    assert_near(f.parts.items[0].rim_share, 1, 1e-12);
    forget(&f);
  }
}

static void a_hole_in_a_sphere_is_small(void** unused) {
  (void)unused;
  sn_mesh sphere = shape_sphere(sn_v3(3, 4, 5), 2, 24), holed;
  found whole;
  find(&whole, sphere);
  assert_int_equal(
      sn_mesh_from_arrays(whole.mesh.positions, whole.mesh.vertex_count, whole.mesh.triangles + 30,
                          whole.mesh.triangle_count - 10, &holed, NULL),
      SN_OK);
  found f;
  find(&f, holed);
  const sn_part *before = &whole.parts.items[0], *after = &f.parts.items[0];
  assert_int_equal(f.parts.count, 1);
  assert_true(before->volume > 0.95 * 32 * SHAPE_PI / 3 && before->rim_share == 0);
  assert_near(after->volume, before->volume, 0.01 * before->volume);
  assert_true(after->rim_length > 0 && after->rim_share > 0 && after->rim_share < 0.05);
  forget(&f);
  forget(&whole);
}

// Triangles without area are in a part and hold it together, but have no edges that count.
static void degenerate_triangles_belong(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(16, 26);
  add_mesh(&a, shape_unit_cube());
  add_mesh(&a, shape_box(sn_v3(5, 5, 5), sn_v3(6, 6, 6)));
  shape_triangle(&a, 0, 0, 8);
  shape_triangle(&a, 3, 3, 3);
  found f;
  find(&f, shape_end(&a));
  assert_int_equal(f.parts.count, 1);
  assert_int_equal(f.parts.items[0].triangle_count, 26);
  assert_near(f.parts.items[0].volume, 2, 1e-12);
  assert_true(f.parts.items[0].rim_length == 0);
  forget(&f);
}

static void an_inside_out_part_has_a_negative_volume(void** unused) {
  (void)unused;
  sn_mesh box = shape_unit_cube();
  shape_flip(&box, 0, 12);
  found f;
  find(&f, box);
  assert_near(f.parts.items[0].volume, -1, 1e-12);
  forget(&f);
}

static void many_triangles_take_no_time(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(120000, 240000);
  for (int i = 0; i < 50; ++i) add_mesh(&a, shape_sphere(sn_v3(3 * i, 0, 0), 1, 32));
  assert_true(a.triangle_count >= 90000);
  found f;
  double begin = sn_seconds();
  find(&f, shape_end(&a));
  double seconds = sn_seconds() - begin;
  assert_int_equal(f.parts.count, 50);
  if (seconds > 2) fail_msg("%u triangles took %g s", f.mesh.triangle_count, seconds);
  forget(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_cubes_are_two_parts),
      cmocka_unit_test(seams_hold_together),
      cmocka_unit_test(open_surfaces_are_closed_to_be_measured),
      cmocka_unit_test(a_sheet_is_all_rim),
      cmocka_unit_test(a_hole_in_a_sphere_is_small),
      cmocka_unit_test(degenerate_triangles_belong),
      cmocka_unit_test(an_inside_out_part_has_a_negative_volume),
      cmocka_unit_test(many_triangles_take_no_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
