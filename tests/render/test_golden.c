// Small pictures, compared with those in tests/render/golden: not bit by bit, since processors round
// differently, but closely. SN_WRITE_GOLDEN=1 in the environment writes them anew; look at them then.
#include <float.h>
#include <math.h>
#include <png.h>

#include "io/scratch.h"
#include "sinew/shape.h"

#define WIDTH 160
#define HEIGHT 120
#define BLOCK 8

// A little figure on a floor with a ball before it, in a mild pose.
typedef struct figure {
  sn_mesh body, ball, floor;
  float *body_places, *ball_places, *floor_places, *cut;
  sn_colour* colours;
  uint8_t* edges;
  sn_drawn_surface surfaces[3];
  sn_view view;
} figure;

static float* to_floats(const sn_mesh* mesh) {
  float* places = malloc(3 * sizeof *places * mesh->vertex_count);
  assert_non_null(places);
  for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; ++i) places[i] = (float)mesh->positions[i];
  return places;
}

static sn_drawn_surface to_surface(const sn_mesh* mesh, const float* places, sn_look look,
                                   sn_colour base) {
  return (sn_drawn_surface){.positions = places,
                            .vertex_count = mesh->vertex_count,
                            .triangles = mesh->triangles,
                            .triangle_count = mesh->triangle_count,
                            .look = look,
                            .base = base};
}

static figure make_figure(void) {
  static const sn_round_cone cones[] = {{{0, 0.3, 0}, {0, 0.6, 0}, 0.25, 0.2},
                                        {{0, 0.85, 0}, {0.05, 0.9, 0.1}, 0.15, 0.1},
                                        {{0.2, 0.6, 0}, {0.5, 0.75, 0.1}, 0.08, 0.06},
                                        {{-0.2, 0.6, 0}, {-0.45, 0.35, 0.15}, 0.08, 0.06}};
  const sn_rigid at_rest = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
  sn_collider_desc floor = {
      .kind = SN_COLLIDER_PLANE, .position = {0, 0.05, 0}, .normal = {0, 1, 0}};
  sn_collider_desc ball = {
      .kind = SN_COLLIDER_SPHERE, .position = {0.35, 0.2, 0.45}, .radius = 0.15};
  figure f = {.view = sn_view_make(SN_UP_Y, 25, 15)};
  sn_error err = {0};
  assert_int_equal(sn_mesh_from_round_cones(cones, 4, 0.08, 0.04, &f.body, &err), SN_OK);
  f.body_places = to_floats(&f.body);
  sn_view_include(&f.view, f.body_places, f.body.vertex_count);
  assert_int_equal(sn_mesh_from_collider(&floor, &at_rest, &f.view, &f.floor, &err), SN_OK);
  assert_int_equal(sn_mesh_from_collider(&ball, &at_rest, &f.view, &f.ball, &err), SN_OK);
  f.floor_places = to_floats(&f.floor);
  f.ball_places = to_floats(&f.ball);
  f.surfaces[0] = to_surface(&f.body, f.body_places, SN_LOOK_FLESH, sn_colour_skin());
  f.surfaces[1] = to_surface(&f.floor, f.floor_places, SN_LOOK_FLOOR, sn_colour_stone());
  f.surfaces[2] = to_surface(&f.ball, f.ball_places, SN_LOOK_SOLID, sn_colour_stone());
  return f;
}

// By height, with a line along every triangle and the front cut off.
static void show_inside(figure* f) {
  sn_colour_scale scale = {0, 1, false};
  f->colours = malloc(sizeof *f->colours * f->body.vertex_count);
  f->cut = malloc(sizeof *f->cut * f->body.vertex_count);
  f->edges = malloc(f->body.triangle_count);
  assert_true(f->colours && f->cut && f->edges);
  for (uint32_t v = 0; v < f->body.vertex_count; ++v) {
    f->colours[v] = sn_scale_colour(&scale, f->body_places[3 * v + 1]);
    f->cut[v] = f->body_places[3 * v + 2] - 0.12f;
  }
  memset(f->edges, SN_EDGE_FIRST | SN_EDGE_SECOND | SN_EDGE_THIRD, f->body.triangle_count);
  f->surfaces[0].look = SN_LOOK_DATA;
  f->surfaces[0].colours = f->colours;
  f->surfaces[0].cut = f->cut;
  f->surfaces[0].edges = f->edges;
}

static void destroy_figure(figure* f) {
  sn_mesh_destroy(&f->body);
  sn_mesh_destroy(&f->ball);
  sn_mesh_destroy(&f->floor);
  free(f->body_places);
  free(f->ball_places);
  free(f->floor_places);
  free(f->colours);
  free(f->cut);
  free(f->edges);
}

static sn_image draw(const figure* f, uint32_t surface_count) {
  const int whole[4] = {0, 0, WIDTH, HEIGHT};
  sn_image image;
  sn_error err = {0};
  assert_int_equal(sn_image_create(WIDTH, HEIGHT, &image, &err), SN_OK);
  if (sn_image_draw_surfaces(&image, whole, &f->view, f->surfaces, surface_count, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  return image;
}

// ---- Comparison

static void read_golden(const char* path, uint8_t* pixels) {
  png_image file = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&file, path)) fail_msg("%s: %s", path, file.message);
  file.format = PNG_FORMAT_RGB;
  assert_true(file.width == WIDTH && file.height == HEIGHT);
  assert_true(png_image_finish_read(&file, NULL, pixels, 0, NULL));
}

// The largest difference of the means over squares of BLOCK pixels.
static double worst_block(const uint8_t* a, const uint8_t* b) {
  double worst = 0;
  for (int i = 0; i < 3 * (WIDTH / BLOCK) * (HEIGHT / BLOCK); ++i) {
    int left = i / 3 % (WIDTH / BLOCK) * BLOCK, top = i / 3 / (WIDTH / BLOCK) * BLOCK;
    double sum = 0;
    for (int k = 0; k < BLOCK * BLOCK; ++k) {
      size_t at = 3 * ((size_t)(top + k / BLOCK) * WIDTH + (size_t)(left + k % BLOCK)) + i % 3;
      sum += a[at] - b[at];
    }
    worst = fmax(worst, fabs(sum) / (BLOCK * BLOCK));
  }
  return worst;
}

static double mean_difference(const uint8_t* a, const uint8_t* b) {
  double sum = 0;
  for (int i = 0; i < 3 * WIDTH * HEIGHT; ++i) sum += abs(a[i] - b[i]);
  return sum / (3 * WIDTH * HEIGHT);
}

static void compare(const sn_image* image, const char* name) {
  static uint8_t golden[3 * WIDTH * HEIGHT];
  char path[512];
  snprintf(path, sizeof path, "%s/%s.png", SN_TEST_GOLDEN, name);
  if (getenv("SN_WRITE_GOLDEN")) {
    assert_int_equal(sn_image_save_png(image, path, NULL), SN_OK);
    return;
  }
  read_golden(path, golden);
  double mean = mean_difference(image->pixels, golden), worst = worst_block(image->pixels, golden);
  if (mean > 0.7 || worst > 4) {
    fail_msg("%s: differs by %.2f in the mean and %.2f in one place", name, mean, worst);
  }
}

static void flesh_with_floor_and_ball(void** unused) {
  (void)unused;
  figure f = make_figure();
  sn_image image = draw(&f, 3);
  compare(&image, "flesh");
  sn_image_destroy(&image);
  destroy_figure(&f);
}

static void flesh_at_good_quality(void** unused) {
  (void)unused;
  figure f = make_figure();
  f.view.quality = SN_QUALITY_GOOD;
  sn_image image = draw(&f, 3);
  compare(&image, "good");
  sn_image_destroy(&image);
  destroy_figure(&f);
}

static void a_ghost_with_bones(void** unused) {
  (void)unused;
  figure f = make_figure();
  f.surfaces[0].look = SN_LOOK_GHOST;
  f.surfaces[2].look = SN_LOOK_BONE;
  for (uint32_t v = 0; v < f.ball.vertex_count; ++v) {
    f.ball_places[3 * v] -= 0.35f;
    f.ball_places[3 * v + 1] += 0.2f;
    f.ball_places[3 * v + 2] -= 0.45f;
  }
  sn_image image = draw(&f, 3);
  compare(&image, "ghost");
  sn_image_destroy(&image);
  destroy_figure(&f);
}

static void values_with_lines_cut_open(void** unused) {
  (void)unused;
  figure f = make_figure();
  show_inside(&f);
  sn_image image = draw(&f, 2);
  sn_image_draw_legend(&image, (int[4]){120, 10, 40, 100}, 1, &(sn_colour_scale){0, 1, false}, "H");
  compare(&image, "values");
  sn_image_destroy(&image);
  destroy_figure(&f);
}

// ---- What must hold exactly

static void any_number_of_threads_draws_the_same_bytes(void** unused) {
  (void)unused;
  figure f = make_figure();
  uint64_t rays = 0, rays_before = 0;
  f.view.ray_count = &rays;
  sn_image alone = draw(&f, 3);
  rays_before = rays;
  assert_true(rays > 4 * WIDTH * HEIGHT);
  for (int threads = 1; threads <= 4; ++threads) {
    assert_int_equal(sn_pool_create(threads, &f.view.pool, NULL), SN_OK);
    rays = 0;
    sn_image image = draw(&f, 3);
    assert_memory_equal(image.pixels, alone.pixels, 3 * WIDTH * HEIGHT);
    assert_int_equal(rays, rays_before);
    sn_image_destroy(&image);
    sn_pool_destroy(f.view.pool);
  }
  sn_image_destroy(&alone);
  destroy_figure(&f);
}

static double mean_light(const sn_image* image, int left, int top, int width, int height) {
  double sum = 0;
  for (int y = top; y < top + height; ++y) {
    for (int x = left; x < left + width; ++x) {
      for (int k = 0; k < 3; ++k) sum += image->pixels[3 * (y * image->width + x) + k];
    }
  }
  return sum / (3 * width * height);
}

// The sun stands at the left, so the shadow falls to the right; far away the floor is the background.
static void a_body_casts_a_shadow_on_the_floor(void** unused) {
  (void)unused;
  figure f = make_figure();
  sn_image with = draw(&f, 2), without = draw(&f, 1);
  double shade = mean_light(&without, 104, 88, 10, 8) - mean_light(&with, 104, 88, 10, 8);
  double open = mean_light(&without, 4, 100, 10, 8) - mean_light(&with, 4, 100, 10, 8);
  assert_true(shade > 20);
  assert_true(fabs(open) < 4);
  sn_image_destroy(&with);
  sn_image_destroy(&without);
  destroy_figure(&f);
}

// Ray tracing lets the smallest numbers count as zero; nothing else may notice.
static void numbers_are_as_precise_as_before(void** unused) {
  (void)unused;
  volatile float small = FLT_MIN;
  figure f = make_figure();
  sn_image image = draw(&f, 3);
  small /= 4;
  assert_true(small > 0);
  sn_image_destroy(&image);
  destroy_figure(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flesh_with_floor_and_ball),
      cmocka_unit_test(flesh_at_good_quality),
      cmocka_unit_test(a_ghost_with_bones),
      cmocka_unit_test(values_with_lines_cut_open),
      cmocka_unit_test(any_number_of_threads_draws_the_same_bytes),
      cmocka_unit_test(a_body_casts_a_shadow_on_the_floor),
      cmocka_unit_test(numbers_are_as_precise_as_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
