#include <math.h>

#include "io/scratch.h"
#include "math/vec.h"
#include "render/camera.h"

#define SIDE 120

static const int whole[4] = {0, 0, SIDE, SIDE};
static const uint32_t one_triangle[3] = {0, 1, 2};
static const uint32_t one_quad[6] = {0, 1, 2, 0, 2, 3};
static const sn_colour red = {220, 20, 20}, blue = {20, 20, 220};

static sn_image make_image(void) {
  sn_image image;
  assert_int_equal(sn_image_create(SIDE, SIDE, &image, NULL), SN_OK);
  return image;
}

static sn_drawn_surface make_surface(const float* positions, uint32_t vertex_count,
                                     const uint32_t* triangles, uint32_t triangle_count,
                                     sn_colour base) {
  return (sn_drawn_surface){.positions = positions,
                            .vertex_count = vertex_count,
                            .triangles = triangles,
                            .triangle_count = triangle_count,
                            .base = base};
}

static sn_image draw(const sn_view* view, const sn_drawn_surface* surfaces, uint32_t count) {
  sn_image image = make_image();
  sn_error err = {0};
  sn_status status = sn_image_draw_surfaces(&image, whole, view, surfaces, count, &err);
  if (status != SN_OK) fail_msg("%s", err.text);
  return image;
}

static const uint8_t* pixel_at(const sn_image* image, int x, int y) {
  return image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static bool same_pixel(const sn_image* a, const sn_image* b, int x, int y) {
  return memcmp(pixel_at(a, x, y), pixel_at(b, x, y), 3) == 0;
}

static bool is_reddish(const uint8_t* p) { return p[0] > p[2] + 40; }
static bool is_bluish(const uint8_t* p) { return p[2] > p[0] + 40; }

// Signed distance in pixels from the nearest edge of a triangle, positive inside.
static double depth_inside(const sn_vec3 corners[3], double x, double y) {
  double least = INFINITY;
  for (int k = 0; k < 3; ++k) {
    sn_vec3 a = corners[k], b = corners[(k + 1) % 3], c = corners[(k + 2) % 3];
    double nx = a.y - b.y, ny = b.x - a.x, size = sqrt(nx * nx + ny * ny);
    double side = (nx * (c.x - a.x) + ny * (c.y - a.y)) > 0 ? 1 : -1;
    least = fmin(least, side * (nx * (x - a.x) + ny * (y - a.y)) / size);
  }
  return least;
}

static void a_triangle_covers_its_pixels_and_no_others(void** unused) {
  (void)unused;
  const float positions[9] = {-1, -0.5f, 0.4f, 1.2f, -0.3f, -0.7f, 0.3f, 1, 0.1f};
  sn_view view = sn_view_make(SN_UP_Y, 25, 10);
  sn_view_include(&view, positions, 3);
  sn_camera camera = sn_camera_fit(&view, SIDE, SIDE);
  sn_vec3 corners[3];
  for (int c = 0; c < 3; ++c) {
    sn_vec3 place = sn_v3(positions[3 * c], positions[3 * c + 1], positions[3 * c + 2]);
    assert_true(sn_camera_project(&camera, place, &corners[c]));
    assert_true(0 < corners[c].x && corners[c].x < SIDE && 0 < corners[c].y && corners[c].y < SIDE);
  }
  sn_drawn_surface surface = make_surface(positions, 3, one_triangle, 1, red);
  sn_image image = draw(&view, &surface, 1), empty = draw(&view, NULL, 0);
  int covered = 0;
  for (int y = 0; y < SIDE; ++y) {
    for (int x = 0; x < SIDE; ++x) {
      double depth = depth_inside(corners, x + 0.5, y + 0.5);
      if (depth > 1) assert_true(is_reddish(pixel_at(&image, x, y)));
      if (depth < -1) assert_true(same_pixel(&image, &empty, x, y));
      covered += depth > 1;
    }
  }
  assert_true(covered > SIDE * SIDE / 8);
  sn_image_destroy(&image);
  sn_image_destroy(&empty);
}

// x to the right and y up for the default direction of a picture with y up.
static void the_view_looks_from_the_axis_after_up(void** unused) {
  (void)unused;
  for (int up = 0; up < 3; ++up) {
    sn_view view = sn_view_make((sn_up)up, 0, 0);
    float corners[6] = {-1, -1, -1, 1, 1, 1};
    sn_view_include(&view, corners, 2);
    sn_camera camera = sn_camera_fit(&view, SIDE, SIDE);
    sn_vec3 middle, right, above;
    double place[3] = {0, 0, 0};
    assert_true(sn_camera_project(&camera, sn_load3(place), &middle));
    place[(up + 2) % 3] = 0.5;
    assert_true(sn_camera_project(&camera, sn_load3(place), &right));
    place[(up + 2) % 3] = 0;
    place[up] = 0.5;
    assert_true(sn_camera_project(&camera, sn_load3(place), &above));
    assert_true(right.x > middle.x + 5 && fabs(right.y - middle.y) < 1e-9);
    assert_true(above.y < middle.y - 5 && fabs(above.x - middle.x) < 1e-9);
    assert_true(sn_axis(camera.eye, (up + 1) % 3) > 1);
  }
}

static void the_nearer_surface_hides_the_farther(void** unused) {
  (void)unused;
  const float far_quad[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  const float near_quad[12] = {-0.5f, -0.5f, 0.5f, 0.5f,  -0.5f, 0.5f,
                               0.5f,  0.5f,  0.5f, -0.5f, 0.5f,  0.5f};
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_view_include(&view, far_quad, 4);
  sn_view_include(&view, near_quad, 4);
  sn_drawn_surface behind = make_surface(far_quad, 4, one_quad, 2, blue);
  sn_drawn_surface ahead = make_surface(near_quad, 4, one_quad, 2, red);
  sn_image a = draw(&view, (sn_drawn_surface[]){behind, ahead}, 2);
  sn_image b = draw(&view, (sn_drawn_surface[]){ahead, behind}, 2);
  assert_memory_equal(a.pixels, b.pixels, 3 * SIDE * SIDE);
  assert_true(is_reddish(pixel_at(&a, SIDE / 2, SIDE / 2)));
  assert_true(is_bluish(pixel_at(&a, SIDE / 2, SIDE / 8)));
  assert_true(is_bluish(pixel_at(&a, SIDE / 8, SIDE / 2)));
  sn_image_destroy(&a);
  sn_image_destroy(&b);
}

// From behind, the same triangles show their inner side, lit like an outer one.
static void both_sides_are_drawn(void** unused) {
  (void)unused;
  const float quad[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  sn_drawn_surface surface = make_surface(quad, 4, one_quad, 2, red);
  sn_view view = sn_view_make(SN_UP_Y, 180, 0);
  sn_view_include(&view, quad, 4);
  sn_image image = draw(&view, &surface, 1);
  assert_true(is_reddish(pixel_at(&image, SIDE / 2, SIDE / 2)));
  sn_image_destroy(&image);
}

// A grey quad before a red one, seen from the front or, turned, from its back.
static sn_image draw_before_flesh(sn_look look, bool from_front) {
  static const uint32_t backward[6] = {0, 2, 1, 0, 3, 2};
  const float flesh[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  const float plate[12] = {-1, -0.5f, 0.2f, 0, -0.5f, 0.2f, 0, 0.5f, 0.2f, -1, 0.5f, 0.2f};
  sn_drawn_surface surfaces[2] = {
      make_surface(flesh, 4, one_quad, 2, red),
      make_surface(plate, 4, from_front ? one_quad : backward, 2, sn_colour_stone())};
  surfaces[1].look = look;
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_view_include(&view, flesh, 4);
  return draw(&view, surfaces, 2);
}

static void flesh_shines_through_solids(void** unused) {
  (void)unused;
  for (int front = 0; front < 2; ++front) {
    sn_image image = draw_before_flesh(SN_LOOK_SOLID, front);
    const uint8_t *veiled = pixel_at(&image, SIDE / 4, SIDE / 2),
                  *bare = pixel_at(&image, 3 * SIDE / 4, SIDE / 2);
    assert_true(is_reddish(veiled) && is_reddish(bare));
    assert_true(veiled[2] > bare[2] + 40);
    sn_image_destroy(&image);
  }
}

static void floors_hide_from_their_outer_side_only(void** unused) {
  (void)unused;
  sn_image front = draw_before_flesh(SN_LOOK_FLOOR, true);
  sn_image back = draw_before_flesh(SN_LOOK_FLOOR, false);
  assert_false(is_reddish(pixel_at(&front, SIDE / 4, SIDE / 2)));
  assert_true(is_reddish(pixel_at(&front, 3 * SIDE / 4, SIDE / 2)));
  assert_true(is_reddish(pixel_at(&back, SIDE / 4, SIDE / 2)));
  sn_image_destroy(&front);
  sn_image_destroy(&back);
}

static void solids_fade_away_from_what_is_shown(void** unused) {
  (void)unused;
  const float seen[6] = {-1, -1, -1, 1, 1, 1};
  const float near_quad[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  const float far_quad[12] = {-2, -2, -8, 2, -2, -8, 2, 2, -8, -2, 2, -8};
  sn_drawn_surface solid = make_surface(near_quad, 4, one_quad, 2, sn_colour_stone());
  solid.look = SN_LOOK_SOLID;
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_view_include(&view, seen, 2);
  sn_image empty = draw(&view, NULL, 0), drawn = draw(&view, &solid, 1);
  assert_false(same_pixel(&empty, &drawn, SIDE / 2, SIDE / 2));
  sn_image_destroy(&drawn);
  solid.positions = far_quad;
  drawn = draw(&view, &solid, 1);
  assert_memory_equal(drawn.pixels, empty.pixels, 3 * SIDE * SIDE);
  sn_image_destroy(&drawn);
  sn_image_destroy(&empty);
}

static void the_first_six_bodies_differ(void** unused) {
  (void)unused;
  sn_colour skin = sn_colour_skin(), first = sn_colour_body(0);
  assert_memory_equal(&first, &skin, sizeof skin);
  for (uint32_t a = 0; a < 6; ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      sn_colour one = sn_colour_body(a), other = sn_colour_body(b);
      int apart = abs(one.r - other.r) + abs(one.g - other.g) + abs(one.b - other.b);
      assert_true(apart > 40);
    }
  }
}

static void bad_positions_are_left_out(void** unused) {
  (void)unused;
  const uint32_t triangles[12] = {0, 1, 2, 0, 2, 3, 0, 1, 4, 5, 2, 6};
  float quad[21] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, -1e20f};
  sn_view view = sn_view_make(SN_UP_Y, 10, 5);
  sn_view_include(&view, quad, 4);
  sn_drawn_surface good = make_surface(quad, 4, one_quad, 2, red);
  sn_drawn_surface some_bad = make_surface(quad, 7, triangles, 4, red);
  sn_image expected = draw(&view, &good, 1);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    for (int k = 12; k < 21; ++k) quad[k] = bad[i];
    sn_image image = draw(&view, &some_bad, 1);
    assert_memory_equal(image.pixels, expected.pixels, 3 * SIDE * SIDE);
    sn_image_destroy(&image);
  }
  sn_image_destroy(&expected);
}

static void nothing_but_bad_positions_leaves_the_background(void** unused) {
  (void)unused;
  const float bad[9] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  sn_drawn_surface surface = make_surface(bad, 3, one_triangle, 1, red);
  sn_view view = sn_view_make(SN_UP_Z, 0, 0);
  sn_view_include(&view, bad, 3);
  sn_image image = draw(&view, &surface, 1), empty = draw(&view, NULL, 0);
  assert_memory_equal(image.pixels, empty.pixels, 3 * SIDE * SIDE);
  sn_image_destroy(&image);
  sn_image_destroy(&empty);
}

static void marks_above_one_half_change_the_colour(void** unused) {
  (void)unused;
  const float quad[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  const float marks[4] = {1, 0, 0, 1};
  sn_drawn_surface surface = make_surface(quad, 4, one_quad, 2, blue);
  surface.marks = marks;
  surface.mark = red;
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_view_include(&view, quad, 4);
  sn_image image = draw(&view, &surface, 1);
  for (int y = SIDE / 4; y < 3 * SIDE / 4; ++y) {
    assert_true(is_reddish(pixel_at(&image, SIDE / 2 - 2, y)));
    assert_true(is_bluish(pixel_at(&image, SIDE / 2 + 2, y)));
  }
  sn_image_destroy(&image);
}

static void only_the_rectangle_is_drawn_in(void** unused) {
  (void)unused;
  const float quad[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  const int rectangle[4] = {30, 20, 50, 70};
  sn_drawn_surface surface = make_surface(quad, 4, one_quad, 2, red);
  // Only a part of the quad is asked for, so that it reaches beyond all sides.
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_view_include(&view, (float[6]){-0.1f, -0.1f, 0, 0.1f, 0.1f, 0}, 2);
  sn_image image = make_image();
  assert_int_equal(sn_image_draw_surfaces(&image, rectangle, &view, &surface, 1, NULL), SN_OK);
  for (int y = 0; y < SIDE; ++y) {
    for (int x = 0; x < SIDE; ++x) {
      bool inside = 30 <= x && x < 80 && 20 <= y && y < 90;
      const uint8_t* p = pixel_at(&image, x, y);
      assert_true(inside ? is_reddish(p) : p[0] == 255 && p[1] == 255 && p[2] == 255);
    }
  }
  sn_image_destroy(&image);
}

static void wrong_calls_are_refused(void** unused) {
  (void)unused;
  static const int rectangles[][4] = {
      {-1, 0, 10, 10}, {0, 0, 0, 10}, {0, 0, SIDE + 1, 10}, {SIDE, 0, 1, 1}, {0, 1, 1, 2147483647}};
  const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  const uint32_t beyond[3] = {0, 1, 3};
  sn_drawn_surface surface = make_surface(triangle, 3, beyond, 1, red);
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_image image = make_image();
  sn_error err;
  for (size_t i = 0; i < sizeof rectangles / sizeof rectangles[0]; ++i) {
    assert_int_equal(sn_image_draw_surfaces(&image, rectangles[i], &view, NULL, 0, &err),
                     SN_ERR_USAGE);
  }
  assert_int_equal(sn_image_draw_surfaces(&image, whole, &view, &surface, 1, &err), SN_ERR_INPUT);
  assert_message_has(&err, "vertex 3 of 3");
  view.free_right = 1;
  assert_int_equal(sn_image_draw_surfaces(&image, whole, &view, NULL, 0, &err), SN_ERR_INPUT);
  view.free_right = 0;
  view.quality = (sn_quality)7;
  assert_int_equal(sn_image_draw_surfaces(&image, whole, &view, NULL, 0, &err), SN_ERR_USAGE);
  view.quality = SN_QUALITY_PREVIEW;
  view.azimuth_deg = NAN;
  assert_int_equal(sn_image_draw_surfaces(&image, whole, &view, NULL, 0, &err), SN_ERR_INPUT);
  sn_image_destroy(&image);
  assert_int_equal(sn_image_create(0, 5, &image, &err), SN_ERR_USAGE);
  assert_int_equal(sn_image_create(5, 100000, &image, &err), SN_ERR_USAGE);
  assert_null(image.pixels);
}

static sn_status draw_once(sn_error* err) {
  const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  sn_drawn_surface surface = make_surface(triangle, 3, one_triangle, 1, red);
  sn_view view = sn_view_make(SN_UP_Y, 0, 0);
  sn_view_include(&view, triangle, 3);
  sn_image image;
  sn_status status = sn_image_create(SIDE, SIDE, &image, err);
  if (status == SN_OK) status = sn_image_draw_surfaces(&image, whole, &view, &surface, 1, err);
  sn_image_destroy(&image);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(draw_once);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_triangle_covers_its_pixels_and_no_others),
      cmocka_unit_test(the_view_looks_from_the_axis_after_up),
      cmocka_unit_test(the_nearer_surface_hides_the_farther),
      cmocka_unit_test(both_sides_are_drawn),
      cmocka_unit_test(flesh_shines_through_solids),
      cmocka_unit_test(floors_hide_from_their_outer_side_only),
      cmocka_unit_test(solids_fade_away_from_what_is_shown),
      cmocka_unit_test(the_first_six_bodies_differ),
      cmocka_unit_test(bad_positions_are_left_out),
      cmocka_unit_test(nothing_but_bad_positions_leaves_the_background),
      cmocka_unit_test(marks_above_one_half_change_the_colour),
      cmocka_unit_test(only_the_rectangle_is_drawn_in),
      cmocka_unit_test(wrong_calls_are_refused),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
