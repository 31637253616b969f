#include "geometry/surface.h"

#include "geometry/prepared.h"
#include "io/scratch.h"

static void assert_report(const prepared* p, uint32_t degenerate, uint32_t duplicate,
                          uint32_t flipped, uint32_t unreferenced) {
  const sn_mesh_report* r = &p->surface.report;
  if (r->degenerate_triangles == degenerate && r->duplicate_triangles == duplicate &&
      r->flipped_triangles == flipped && r->unreferenced_vertices == unreferenced) {
    return;
  }
  fail_msg("report says %u degenerate, %u duplicate, %u flipped, %u unreferenced",
           r->degenerate_triangles, r->duplicate_triangles, r->flipped_triangles,
           r->unreferenced_vertices);
}

static bool same_cycle(const uint32_t a[3], const uint32_t b[3]) {
  for (int i = 0; i < 3; ++i) {
    if (a[0] == b[i] && a[1] == b[(i + 1) % 3] && a[2] == b[(i + 2) % 3]) return true;
  }
  return false;
}

// Every triangle is its source, as it stands or turned round.
static void assert_sources(const prepared* p) {
  uint32_t turned = 0;
  for (uint32_t t = 0; t < p->surface.triangle_count; ++t) {
    assert_true(p->surface.sources[t] < p->mesh.triangle_count);
    if (t > 0) assert_true(p->surface.sources[t - 1] < p->surface.sources[t]);
    const uint32_t* now = p->surface.triangles + 3 * (size_t)t;
    const uint32_t* then = p->mesh.triangles + 3 * (size_t)p->surface.sources[t];
    uint32_t back[3] = {then[0], then[2], then[1]};
    if (!same_cycle(now, then)) {
      assert_true(same_cycle(now, back));
      ++turned;
    }
  }
  assert_int_equal(turned, p->surface.report.flipped_triangles);
}

static double ball_volume(double radius) { return 4.0 / 3.0 * SHAPE_PI * radius * radius * radius; }

// A sphere of 12 bands has this share of a ball's volume.
static void assert_sphere_volume(const prepared* p, double radius) {
  assert_true(p->surface.volume < ball_volume(radius));
  assert_true(p->surface.volume > 0.94 * ball_volume(radius));
}

static sn_mesh unit_sphere(void) { return shape_sphere(sn_v3(0, 0, 0), 1, 12); }

static void a_sound_surface_is_left_as_it_is(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_box(sn_v3(1, 2, 3), sn_v3(3, 5, 7)));
  assert_report(&p, 0, 0, 0, 0);
  assert_ptr_equal(p.surface.positions, p.mesh.positions);
  assert_int_equal(p.surface.vertex_count, 8);
  assert_int_equal(p.surface.triangle_count, 12);
  assert_memory_equal(p.surface.triangles, p.mesh.triangles, 36 * sizeof(uint32_t));
  for (uint32_t t = 0; t < 12; ++t) assert_int_equal(p.surface.sources[t], t);
  assert_true(fabs(p.surface.area - 52) < 1e-12);
  assert_true(fabs(p.surface.volume - 24) < 1e-12);
  assert_true(p.surface.box.lo.x == 1 && p.surface.box.lo.y == 2 && p.surface.box.lo.z == 3);
  assert_true(p.surface.box.hi.x == 3 && p.surface.box.hi.y == 5 && p.surface.box.hi.z == 7);
  sn_vec3 corner = sn_surface_corner(&p.surface, 5, 2);
  sn_vec3 expected = sn_load3(p.mesh.positions + 3 * (size_t)p.mesh.triangles[17]);
  assert_true(sn_distance(corner, expected) == 0);
  unprepare(&p);
}

static void triangles_without_area_are_left_out(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(9, 8);
  static const double places[9][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},      {0.5, 0, 0},
                                      {2, 2, 2}, {4, 4, 4}, {0, 0, 0}, {-0.0, 0, -0.0}};
  for (int v = 0; v < 9; ++v) shape_vertex(&a, sn_load3(places[v]));
  shape_triangle(&a, 0, 2, 1);
  shape_triangle(&a, 0, 4, 1);  // on a line
  shape_triangle(&a, 0, 1, 3);
  shape_triangle(&a, 3, 3, 1);  // a corner twice
  shape_triangle(&a, 1, 2, 3);
  shape_triangle(&a, 0, 7, 8);  // three corners in one place
  shape_triangle(&a, 5, 6, 0);  // on a line through space
  shape_triangle(&a, 2, 0, 3);
  prepared p;
  prepare(&p, shape_end(&a));
  assert_report(&p, 4, 0, 0, 5);
  static const uint32_t kept[] = {0, 2, 4, 7};
  assert_int_equal(p.surface.triangle_count, 4);
  assert_memory_equal(p.surface.sources, kept, sizeof kept);
  assert_sources(&p);
  assert_true(fabs(p.surface.volume - 1.0 / 6) < 1e-15);
  assert_true(p.surface.box.hi.x == 1 && p.surface.box.hi.y == 1 && p.surface.box.hi.z == 1);
  unprepare(&p);
}

static void a_surface_of_nothing_is_empty(void** unused) {
  (void)unused;
  prepared p;
  prepare(&p, shape_one_triangle(sn_v3(0, 0, 0), sn_v3(1, 1, 1), sn_v3(3, 3, 3)));
  assert_report(&p, 1, 0, 0, 3);
  assert_int_equal(p.surface.triangle_count, 0);
  assert_true(p.surface.area == 0 && p.surface.volume == 0);
  unprepare(&p);
}

static void repeated_triangles_are_left_out(void** unused) {
  (void)unused;
  // A tetrahedron, then its triangles again: turned on, turned round, and by other vertices.
  static const uint32_t again[4][3] = {{2, 1, 0}, {0, 3, 1}, {1, 2, 7}, {6, 4, 7}};
  shape_arrays a = shape_begin(8, 8);
  for (int copy = 0; copy < 2; ++copy) {
    shape_vertex(&a, sn_v3(0, 0, 0));
    shape_vertex(&a, sn_v3(1, 0, 0));
    shape_vertex(&a, sn_v3(0, 1, 0));
    shape_vertex(&a, sn_v3(0, 0, 1));
  }
  static const uint32_t tetrahedron[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  for (int t = 0; t < 4; ++t) {
    shape_triangle(&a, tetrahedron[t][0], tetrahedron[t][1], tetrahedron[t][2]);
  }
  for (int t = 0; t < 4; ++t) shape_triangle(&a, again[t][0], again[t][1], again[t][2]);
  prepared p;
  prepare(&p, shape_end(&a));
  assert_report(&p, 0, 4, 0, 4);
  assert_int_equal(p.surface.triangle_count, 4);
  assert_memory_equal(p.surface.triangles, tetrahedron, sizeof tetrahedron);
  for (uint32_t t = 0; t < 4; ++t) assert_int_equal(p.surface.sources[t], t);
  unprepare(&p);
}

static void flipped_triangles_are_turned(void** unused) {
  (void)unused;
  sn_mesh clean = unit_sphere();
  for (uint32_t step = 3; step < 40; step += 4) {
    sn_mesh mesh = unit_sphere();
    uint32_t flipped = 0;
    for (uint32_t t = 0; t < mesh.triangle_count; t += step, ++flipped) {
      shape_flip(&mesh, t, t + 1);
    }
    prepared p;
    prepare(&p, mesh);
    assert_report(&p, 0, 0, flipped, 0);
    assert_sources(&p);
    for (uint32_t t = 0; t < clean.triangle_count; ++t) {
      assert_true(same_cycle(p.surface.triangles + 3 * (size_t)t, clean.triangles + 3 * (size_t)t));
    }
    unprepare(&p);
  }
  sn_mesh_destroy(&clean);
}

// No majority either way, whichever half and whichever triangle comes first.
static void half_flipped_spheres_are_turned_outward(void** unused) {
  (void)unused;
  for (int which = 0; which < 4; ++which) {
    sn_mesh mesh = unit_sphere();
    uint32_t count = mesh.triangle_count;
    if (which == 0) shape_flip(&mesh, 0, count / 2);
    if (which == 1) shape_flip(&mesh, count / 2, count);
    for (uint32_t t = (uint32_t)which % 2; which >= 2 && t < count; t += 2) {
      shape_flip(&mesh, t, t + 1);
    }
    prepared p;
    prepare(&p, mesh);
    assert_report(&p, 0, 0, count / 2, 0);
    assert_sphere_volume(&p, 1);
    assert_true(fabs(winding_of_all(&p, sn_v3(0.1, 0.2, 0.3)) - 1) < 1e-12);
    unprepare(&p);
  }
}

// A flat sheet has no inside that could tell; the majority does, even against the first triangle.
static void the_minority_of_an_open_surface_is_turned(void** unused) {
  (void)unused;
  sn_mesh mesh = shape_sheet(sn_v3(0, 0, 0), sn_v3(1, 0, 0), sn_v3(0, 1, 0), 6);
  shape_flip(&mesh, 0, 20);
  prepared p;
  prepare(&p, mesh);
  assert_report(&p, 0, 0, 20, 0);
  assert_sources(&p);
  for (uint32_t t = 0; t < p.surface.triangle_count; ++t) {
    sn_vec3 c[3];
    prepared_corners(&p, t, c);
    assert_true(sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0])).z > 0);
  }
  unprepare(&p);
}

static void inside_out_surfaces_are_turned(void** unused) {
  (void)unused;
  prepared p;
  sn_mesh mesh = shape_torus(1, 0.3, 12);
  uint32_t count = mesh.triangle_count;
  shape_flip(&mesh, 0, count);
  prepare(&p, mesh);
  assert_report(&p, 0, 0, count, 0);
  assert_sources(&p);
  assert_true(p.surface.volume > 0);
  unprepare(&p);
}

static void the_wall_of_a_cavity_stays_turned_inward(void** unused) {
  (void)unused;
  for (int order = 0; order < 2; ++order) {
    sn_mesh outer = unit_sphere(), inner = shape_sphere(sn_v3(0.2, 0, 0), 0.5, 12);
    shape_flip(&inner, 0, inner.triangle_count);
    prepared p;
    prepare(&p, order == 0 ? shape_join(outer, inner) : shape_join(inner, outer));
    assert_report(&p, 0, 0, 0, 0);
    assert_true(fabs(winding_of_all(&p, sn_v3(0.2, 0.1, 0))) < 1e-12);
    assert_true(fabs(winding_of_all(&p, sn_v3(-0.6, 0.1, 0)) - 1) < 1e-12);
    double shell = ball_volume(1) - ball_volume(0.5);
    assert_true(p.surface.volume < shell && p.surface.volume > 0.93 * shell);
    unprepare(&p);
  }
}

// The wall is wrong in places, the outer skin altogether.
static void a_cavity_survives_repairs_around_it(void** unused) {
  (void)unused;
  sn_mesh outer = unit_sphere(), inner = shape_sphere(sn_v3(0.2, 0, 0), 0.5, 12);
  uint32_t outer_count = outer.triangle_count;
  shape_flip(&outer, 0, outer_count);
  shape_flip(&inner, 0, inner.triangle_count - 20);
  prepared p;
  prepare(&p, shape_join(outer, inner));
  assert_report(&p, 0, 0, outer_count + 20, 0);
  assert_true(fabs(winding_of_all(&p, sn_v3(0.2, 0.1, 0))) < 1e-12);
  assert_true(fabs(winding_of_all(&p, sn_v3(-0.6, 0.1, 0)) - 1) < 1e-12);
  unprepare(&p);
}

static void of_two_parts_only_the_flipped_one_is_turned(void** unused) {
  (void)unused;
  for (int which = 0; which < 2; ++which) {
    sn_mesh left = unit_sphere(), right = shape_sphere(sn_v3(3, 0, 0), 0.7, 10);
    sn_mesh* wrong = which == 0 ? &left : &right;
    uint32_t count = wrong->triangle_count, begin = which == 0 ? 0 : left.triangle_count;
    shape_flip(wrong, 0, count);
    prepared p;
    prepare(&p, shape_join(left, right));
    assert_report(&p, 0, 0, count, 0);
    for (uint32_t t = 0; t < p.surface.triangle_count; ++t) {
      bool kept = same_cycle(p.surface.triangles + 3 * (size_t)t, p.mesh.triangles + 3 * (size_t)t);
      assert_int_equal(kept, t < begin || t >= begin + count);
    }
    assert_true(fabs(winding_of_all(&p, sn_v3(0, 0, 0.1)) - 1) < 1e-12);
    assert_true(fabs(winding_of_all(&p, sn_v3(3, 0, 0.1)) - 1) < 1e-12);
    unprepare(&p);
  }
}

static void unreferenced_vertices_are_counted_and_not_in_the_box(void** unused) {
  (void)unused;
  sn_mesh cube = shape_unit_cube();
  shape_arrays a = shape_begin(11, 12);
  shape_vertex(&a, sn_v3(1000, 0, 0));
  for (uint32_t v = 0; v < 8; ++v) shape_vertex(&a, sn_load3(cube.positions + 3 * (size_t)v));
  shape_vertex(&a, sn_v3(0, -1000, 0));
  shape_vertex(&a, sn_v3(0.5, 0.5, 0.5));
  for (uint32_t t = 0; t < 12; ++t) {
    const uint32_t* c = cube.triangles + 3 * (size_t)t;
    shape_triangle(&a, c[0] + 1, c[1] + 1, c[2] + 1);
  }
  sn_mesh_destroy(&cube);
  prepared p;
  prepare(&p, shape_end(&a));
  assert_report(&p, 0, 0, 0, 3);
  assert_int_equal(p.surface.vertex_count, 11);
  assert_true(sn_box_size(p.surface.box) == 1);
  assert_true(p.surface.box.lo.x == 0 && p.surface.box.lo.y == 0 && p.surface.box.hi.x == 1);
  unprepare(&p);
}

// Without common vertices neighbours are known by their places alone; also across -0 and 0.
static void soups_are_welded(void** unused) {
  (void)unused;
  sn_mesh sphere = unit_sphere();
  sn_mesh soup = shape_unwelded(&sphere);
  sn_mesh_destroy(&sphere);
  uint32_t flipped = 0;
  for (uint32_t t = 0; t < soup.triangle_count; t += 5, ++flipped) shape_flip(&soup, t, t + 1);
  for (size_t i = 0; i < 3 * (size_t)soup.vertex_count; i += 2) {
    if (soup.positions[i] == 0) soup.positions[i] = -0.0;
  }
  prepared p;
  prepare(&p, soup);
  assert_report(&p, 0, 0, flipped, 0);
  assert_sphere_volume(&p, 1);
  // For topology only: triangles keep vertices of their own.
  for (uint32_t c = 0; c < 3 * p.surface.triangle_count; ++c) {
    assert_int_equal(p.surface.triangles[c] / 3, c / 3);
  }
  unprepare(&p);
}

// Two cubes that share an edge: four triangles meet there, so it joins nothing.
static void edges_of_many_triangles_do_not_mislead(void** unused) {
  (void)unused;
  for (int which = 0; which < 3; ++which) {
    sn_mesh a = shape_unit_cube(), b = shape_box(sn_v3(1, 1, 0), sn_v3(2, 2, 1));
    if (which == 1) shape_flip(&b, 0, 12);
    if (which == 2) shape_flip(&a, 3, 4);
    prepared p;
    prepare(&p, shape_join(a, b));
    assert_report(&p, 0, 0, which == 0 ? 0 : which == 1 ? 12 : 1, 0);
    assert_true(fabs(p.surface.volume - 2) < 1e-12);
    unprepare(&p);
  }
}

// Three fins on one edge, all running along it the same way: none has a say in the others.
static void fins_on_one_edge_are_left_alone(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(5, 3);
  shape_vertex(&a, sn_v3(0, 0, 0));
  shape_vertex(&a, sn_v3(0, 0, 1));
  for (uint32_t fin = 0; fin < 3; ++fin) {
    double angle = 2 * SHAPE_PI * fin / 3;
    shape_triangle(&a, 0, 1, shape_vertex(&a, sn_v3(sn_cos(angle), sn_sin(angle), 0.5)));
  }
  prepared p;
  prepare(&p, shape_end(&a));
  assert_report(&p, 0, 0, 0, 0);
  assert_int_equal(p.surface.triangle_count, 3);
  unprepare(&p);
}

// A strip with half a twist has no sides; it must only be survived.
static void one_sided_surfaces_are_survived(void** unused) {
  (void)unused;
  shape_arrays a = shape_begin(40, 40);
  for (int i = 0; i < 20; ++i) {
    double angle = 2 * SHAPE_PI * i / 20;
    sn_vec3 out = sn_v3(sn_cos(angle), sn_sin(angle), 0);
    sn_vec3 across =
        sn_add(sn_scale(sn_cos(angle / 2), sn_v3(0, 0, 1)), sn_scale(sn_sin(angle / 2), out));
    shape_vertex(&a, sn_madd(out, 0.3, across));
    shape_vertex(&a, sn_madd(out, -0.3, across));
  }
  for (uint32_t i = 0; i < 19; ++i) shape_quad(&a, 2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1);
  shape_quad(&a, 38, 1, 0, 39);
  prepared p;
  prepare(&p, shape_end(&a));
  assert_int_equal(p.surface.triangle_count, 40);
  assert_sources(&p);
  assert_true(p.surface.area > 3);
  unprepare(&p);
}

static void scale_and_place_change_nothing(void** unused) {
  (void)unused;
  static const double scales[] = {1e-9, 1e-3, 1, 1e30};
  for (int s = 0; s < 4; ++s) {
    sn_mesh mesh = unit_sphere();
    shape_flip(&mesh, 7, 30);
    shape_move(&mesh, scales[s], sn_v3(0, 0, 0));
    prepared p;
    prepare(&p, mesh);
    assert_report(&p, 0, 0, 23, 0);
    assert_sphere_volume(&p, scales[s]);
    unprepare(&p);
  }
  sn_mesh mesh = unit_sphere();
  shape_flip(&mesh, 0, mesh.triangle_count);
  shape_move(&mesh, 1, sn_v3(1e6, 2e6, -3e6));
  prepared p;
  prepare(&p, mesh);
  assert_int_equal(p.surface.report.flipped_triangles, p.surface.triangle_count);
  assert_sphere_volume(&p, 1);
  unprepare(&p);
}

// Made-up defects on disk. What is expected of each stands in the table of that folder.
#define GENERATED SN_TEST_ASSETS "/defective/generated/"

static void load_generated(prepared* p, const char* name) {
  char path[512];
  snprintf(path, sizeof path, GENERATED "%s", name);
  sn_mesh mesh;
  sn_error err = {0};
  if (sn_mesh_load(path, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  prepare(p, mesh);
}

static void skip_without_generated(void) {
  if (access(GENERATED, R_OK) == 0) return;
  print_message("skipped: no folder " GENERATED "\n");
  skip();
}

static void defective_files_become_sound_spheres(void** unused) {
  (void)unused;
  skip_without_generated();
  static const struct {
    const char* name;
    uint32_t degenerate, duplicate, unreferenced;
    double radius;
  } files[] = {
      {"duplicate_faces.obj", 0, 40, 0, 1},    {"duplicate_vertices_soup.obj", 0, 0, 0, 1},
      {"mixed_winding.obj", 0, 0, 0, 1},       {"inside_out.obj", 0, 0, 0, 1},
      {"zero_area_faces.obj", 3, 0, 0, 1},     {"unreferenced_vertices.obj", 0, 0, 2, 1},
      {"far_offset.obj", 0, 0, 0, 1},          {"tiny_scale.obj", 0, 0, 0, 1e-9},
      {"huge_coordinates.obj", 0, 0, 0, 1e30},
  };
  for (size_t f = 0; f < sizeof files / sizeof *files; ++f) {
    prepared p;
    load_generated(&p, files[f].name);
    assert_report(&p, files[f].degenerate, files[f].duplicate, p.surface.report.flipped_triangles,
                  files[f].unreferenced);
    assert_sources(&p);
    double share = p.surface.volume / ball_volume(files[f].radius);
    assert_true(share > 0.9 && share < 1);
    sn_vec3 centre = sn_box_centre(p.surface.box);
    assert_true(fabs(winding_of_all(&p, centre) - 1) < 1e-6);
    assert_true(sn_box_size(p.surface.box) < 2.1 * files[f].radius);
    unprepare(&p);
  }
}

static void defective_files_are_turned_as_they_need(void** unused) {
  (void)unused;
  skip_without_generated();
  prepared p;
  load_generated(&p, "inside_out.obj");
  assert_int_equal(p.surface.report.flipped_triangles, p.surface.triangle_count);
  unprepare(&p);
  load_generated(&p, "mixed_winding.obj");
  assert_int_equal(p.surface.report.flipped_triangles, (p.surface.triangle_count + 6) / 7);
  unprepare(&p);
  load_generated(&p, "hollow_sphere.obj");
  assert_report(&p, 0, 0, 0, 0);
  assert_true(fabs(winding_of_all(&p, sn_box_centre(p.surface.box))) < 1e-9);
  unprepare(&p);
  load_generated(&p, "two_spheres_overlapping.obj");
  assert_report(&p, 0, 0, 0, 0);
  unprepare(&p);
  load_generated(&p, "open_hemisphere.obj");
  assert_report(&p, 0, 0, 0, p.surface.report.unreferenced_vertices);
  assert_true(p.surface.volume > 0);
  unprepare(&p);
  load_generated(&p, "quads.obj");
  assert_report(&p, 0, 0, 0, 0);
  assert_int_equal(p.surface.triangle_count, 12);
  unprepare(&p);
  load_generated(&p, "ngon_prism.obj");
  assert_report(&p, 0, 0, 0, 0);
  unprepare(&p);
}

static sn_status prepare_once(sn_error* err) {
  static const double positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const uint32_t triangles[] = {0, 1, 2, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  sn_mesh mesh = {0};
  sn_arena *arena = NULL, *scratch = NULL;
  sn_surface surface;
  sn_status status = sn_mesh_from_arrays(positions, 4, triangles, 4, &mesh, err);
  if (status == SN_OK) status = sn_arena_create(&arena, err);
  if (status == SN_OK) status = sn_arena_create(&scratch, err);
  if (status == SN_OK) {
    status = sn_surface_prepare(&mesh, arena, scratch, &surface, err);
    assert_int_equal(sn_arena_bytes(scratch), 0);
  }
  sn_arena_destroy(scratch);
  sn_arena_destroy(arena);
  sn_mesh_destroy(&mesh);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(prepare_once);
}

static double rim_of(sn_mesh mesh) {
  prepared p;
  prepare(&p, mesh);
  double sum = 0;
  for (uint32_t t = 0; t < p.surface.triangle_count; ++t) {
    for (int i = 0; i < 3; ++i) {
      bool ends = p.surface.rim[t] >> i & 1;
      sn_vec3 a = sn_surface_corner(&p.surface, t, i);
      sn_vec3 b = sn_surface_corner(&p.surface, t, (i + 1) % 3);
      if (ends) sum += sn_distance(a, b);
    }
  }
  unprepare(&p);
  return sum;
}

static void only_open_surfaces_have_a_rim(void** unused) {
  (void)unused;
  sn_vec3 zero = {0, 0, 0};
  assert_true(rim_of(shape_unit_cube()) == 0);
  assert_true(rim_of(shape_sphere(zero, 1, 12)) == 0);
  sn_mesh turned = shape_sphere(zero, 1, 12);
  shape_flip(&turned, 10, 30);  // repaired before the rim is measured
  assert_true(rim_of(turned) == 0);
  sn_mesh sphere = shape_sphere(zero, 1, 12), apart = shape_unwelded(&sphere);
  assert_true(rim_of(apart) == 0);
  sn_mesh_destroy(&sphere);
  assert_true(fabs(rim_of(shape_sheet(zero, sn_v3(1, 0, 0), sn_v3(0, 0.5, 0), 4)) - 3) < 1e-12);
  assert_true(fabs(rim_of(shape_hemisphere(zero, 1, 64)) - 2 * SHAPE_PI) < 0.02);
}

// Six sheets with gaps between them: no side of any tells which way is out.
static void flat_patches_keep_the_side_they_were_given(void** unused) {
  (void)unused;
  sn_random random = sn_random_seeded(5);
  sn_mesh box = {0};
  for (int side = 0; side < 6; ++side) {
    int axis = side / 2, sign = side % 2 ? -1 : 1;
    sn_vec3 out = sn_v3(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0);
    sn_vec3 a = sn_v3(out.y, out.z, out.x), b = sn_cross(out, a);
    sn_vec3 corner = sn_sub(sn_sub(out, a), b);
    sn_mesh sheet = shape_sheet(corner, sn_scale(2, a), sn_scale(2, b), 6);
    for (uint32_t v = 0; v < sheet.vertex_count; ++v) {
      double* p = sheet.positions + 3 * (size_t)v;
      sn_store3(p, sn_madd(sn_load3(p), 0.005, shape_random_point(&random)));
    }
    box = side == 0 ? sheet : shape_join(box, sheet);
  }
  prepared p;
  prepare(&p, box);
  assert_int_equal(p.surface.report.flipped_triangles, 0);
  assert_true(fabs(p.surface.volume - 8) < 0.1);
  unprepare(&p);
}

// More shells than are judged one by one: most apart, a few within a large one, every third inside out.
static void of_many_shells_those_that_are_inside_out_are_turned(void** unused) {
  (void)unused;
  sn_vec3 zero = {0, 0, 0};
  sn_mesh all = shape_sphere(zero, 3, 24);
  int apart = 0, cavities = 0;
  for (int i = 0; i < 300; ++i) {
    sn_vec3 centre =
        i < 6 ? sn_v3(i % 2 ? 1 : -1, i / 2 % 3 - 1, 0) : sn_v3(10 + i % 20, i / 20, 0);
    sn_mesh shell = shape_sphere(centre, 0.25, 4);
    if (i % 3 == 0) shape_flip(&shell, 0, shell.triangle_count);
    cavities += i < 6 && i % 3 == 0;
    apart += i >= 6 && i % 3 == 0;
    all = shape_join(all, shell);
  }
  prepared p;
  prepare(&p, all);
  sn_mesh one = shape_sphere(zero, 0.25, 4);
  assert_int_equal(p.surface.report.flipped_triangles, (uint32_t)apart * one.triangle_count);
  assert_int_equal(cavities, 2);
  sn_mesh_destroy(&one);
  unprepare(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sound_surface_is_left_as_it_is),
      cmocka_unit_test(triangles_without_area_are_left_out),
      cmocka_unit_test(a_surface_of_nothing_is_empty),
      cmocka_unit_test(repeated_triangles_are_left_out),
      cmocka_unit_test(flipped_triangles_are_turned),
      cmocka_unit_test(half_flipped_spheres_are_turned_outward),
      cmocka_unit_test(the_minority_of_an_open_surface_is_turned),
      cmocka_unit_test(inside_out_surfaces_are_turned),
      cmocka_unit_test(the_wall_of_a_cavity_stays_turned_inward),
      cmocka_unit_test(a_cavity_survives_repairs_around_it),
      cmocka_unit_test(of_two_parts_only_the_flipped_one_is_turned),
      cmocka_unit_test(unreferenced_vertices_are_counted_and_not_in_the_box),
      cmocka_unit_test(soups_are_welded),
      cmocka_unit_test(edges_of_many_triangles_do_not_mislead),
      cmocka_unit_test(fins_on_one_edge_are_left_alone),
      cmocka_unit_test(one_sided_surfaces_are_survived),
      cmocka_unit_test(scale_and_place_change_nothing),
      cmocka_unit_test(defective_files_become_sound_spheres),
      cmocka_unit_test(defective_files_are_turned_as_they_need),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(only_open_surfaces_have_a_rim),
      cmocka_unit_test(flat_patches_keep_the_side_they_were_given),
      cmocka_unit_test(of_many_shells_those_that_are_inside_out_are_turned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
