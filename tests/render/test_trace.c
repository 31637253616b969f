#include <math.h>

#include "base/parallel.h"
#include "io/scratch.h"
#include "math/random.h"
#include "math/vec.h"
#include "render/trace.h"

#define TRIANGLES 300
#define RAYS 2000

static float places[9 * TRIANGLES + 1];
static float cuts[3 * TRIANGLES];
static uint32_t triangles[3 * TRIANGLES];

static float random_float(sn_random* r, double low, double high) {
  return (float)(low + (high - low) * (double)(sn_random_bits(r) >> 11) / 9007199254740992.0);
}

// Small triangles all over a cube.
static sn_traced make_soup(void) {
  sn_random r = sn_random_seeded(5);
  for (int t = 0; t < TRIANGLES; ++t) {
    float centre[3];
    for (int k = 0; k < 3; ++k) centre[k] = random_float(&r, -1, 1);
    for (int i = 0; i < 9; ++i) places[9 * t + i] = centre[i % 3] + random_float(&r, -0.3, 0.3);
    for (int c = 0; c < 3; ++c) triangles[3 * t + c] = (uint32_t)(3 * t + c);
  }
  for (int v = 0; v < 3 * TRIANGLES; ++v) cuts[v] = places[3 * v];
  return (sn_traced){places, 3 * TRIANGLES, triangles, TRIANGLES, NULL};
}

static sn_ray random_ray(uint64_t seed) {
  sn_random r = sn_random_seeded(seed);
  sn_vec3 a = sn_v3(random_float(&r, -2, 2), random_float(&r, -2, 2), 3);
  sn_vec3 b = sn_v3(random_float(&r, -1, 1), random_float(&r, -1, 1), random_float(&r, -1, 1));
  sn_vec3 d = sn_scale(1 / sn_distance(a, b), sn_sub(b, a));
  return (sn_ray){{(float)a.x, (float)a.y, (float)a.z}, {(float)d.x, (float)d.y, (float)d.z}, 0, 9};
}

// The nearest hit by trying all triangles. @param margin of the ray's place in it: small is doubtful
static sn_hit nearest_by_hand(const sn_traced* t, const sn_ray* ray, double* margin) {
  sn_hit best = {.triangle = SN_NO_HIT, .distance = INFINITY};
  sn_vec3 o = sn_v3(ray->origin[0], ray->origin[1], ray->origin[2]);
  sn_vec3 d = sn_v3(ray->direction[0], ray->direction[1], ray->direction[2]);
  *margin = 1;
  for (uint32_t i = 0; i < t->triangle_count; ++i) {
    sn_vec3 p[3];
    for (int c = 0; c < 3; ++c) {
      const float* q = t->places + 3 * (size_t)t->triangles[3 * i + c];
      p[c] = sn_v3(q[0], q[1], q[2]);
    }
    sn_vec3 e = sn_sub(p[1], p[0]), f = sn_sub(p[2], p[0]), h = sn_cross(d, f);
    double det = sn_dot(e, h);
    sn_vec3 s = sn_sub(o, p[0]), q = sn_cross(s, e);
    double u = sn_dot(s, h) / det, v = sn_dot(d, q) / det, at = sn_dot(f, q) / det;
    double inside = fmin(u, fmin(v, 1 - u - v));
    *margin = fmin(*margin, fabs(inside));
    if (!(inside > 0) || !(at > 0)) continue;
    if (t->cuts &&
        (1 - u - v) * t->cuts[3 * i] + u * t->cuts[3 * i + 1] + v * t->cuts[3 * i + 2] > 0)
      continue;
    if (at < best.distance) best = (sn_hit){i, (float)u, (float)v, (float)at};
  }
  return best;
}

static void compare_with_hand(const sn_traced* traced) {
  sn_tracer* tracer;
  int hits = 0;
  assert_int_equal(sn_tracer_create(traced, &tracer, NULL), SN_OK);
  for (uint64_t i = 0; i < RAYS; ++i) {
    sn_ray ray = random_ray(i);
    double margin;
    sn_hit expected = nearest_by_hand(traced, &ray, &margin), found = sn_tracer_hit(tracer, &ray);
    if (margin < 1e-4) continue;
    assert_int_equal(found.triangle, expected.triangle);
    assert_int_equal(sn_tracer_blocks(tracer, &ray), expected.triangle != SN_NO_HIT);
    if (expected.triangle == SN_NO_HIT) continue;
    assert_true(fabs(found.distance - expected.distance) < 1e-4);
    assert_true(fabs(found.u - expected.u) < 1e-3 && fabs(found.v - expected.v) < 1e-3);
    ++hits;
  }
  assert_in_range(hits, RAYS / 4, RAYS);
  sn_tracer_destroy(tracer);
}

static void the_nearest_triangle_is_hit(void** unused) {
  (void)unused;
  sn_traced traced = make_soup();
  compare_with_hand(&traced);
}

static void rays_pass_through_what_is_cut_away(void** unused) {
  (void)unused;
  sn_traced traced = make_soup();
  traced.cuts = cuts;
  compare_with_hand(&traced);
}

typedef struct shooting {
  const sn_tracer* tracer;
  sn_hit hits[RAYS];
} shooting;

static void shoot(void* ctx, size_t begin, size_t end) {
  shooting* s = ctx;
  for (size_t i = begin; i < end; ++i) {
    sn_ray ray = random_ray(i);
    s->hits[i] = sn_tracer_hit(s->tracer, &ray);
  }
}

// Also for a second tracer, built anew.
static void hits_are_the_same_on_any_thread_and_every_time(void** unused) {
  (void)unused;
  static shooting results[4];
  sn_traced traced = make_soup();
  for (int threads = 1; threads <= 4; ++threads) {
    sn_pool* pool;
    sn_tracer* tracer;
    assert_int_equal(sn_pool_create(threads, &pool, NULL), SN_OK);
    assert_int_equal(sn_tracer_create(&traced, &tracer, NULL), SN_OK);
    results[threads - 1].tracer = tracer;
    sn_parallel_for(pool, RAYS, 1, shoot, &results[threads - 1]);
    assert_memory_equal(results[threads - 1].hits, results[0].hits, sizeof results[0].hits);
    sn_tracer_destroy(tracer);
    sn_pool_destroy(pool);
  }
}

static int count_threads(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  if (!folder) return 0;
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

static void embree_starts_no_threads(void** unused) {
  (void)unused;
  sn_traced traced = make_soup();
  sn_tracer* tracer;
  int before = count_threads();
  assert_int_equal(sn_tracer_create(&traced, &tracer, NULL), SN_OK);
  assert_int_equal(count_threads(), before);
  sn_tracer_destroy(tracer);
}

static void nothing_is_never_hit(void** unused) {
  (void)unused;
  sn_tracer* tracer;
  sn_ray ray = random_ray(1);
  assert_int_equal(sn_tracer_create(&(sn_traced){0}, &tracer, NULL), SN_OK);
  assert_int_equal(sn_tracer_hit(tracer, &ray).triangle, SN_NO_HIT);
  assert_false(sn_tracer_blocks(tracer, &ray));
  sn_tracer_destroy(tracer);
  sn_tracer_destroy(NULL);
}

// The library's allocator counts for Embree too, and it says which of both ran out.
static sn_status build_once(sn_error* err) {
  sn_traced traced = make_soup();
  sn_tracer* tracer;
  sn_status status = sn_tracer_create(&traced, &tracer, err);
  sn_tracer_destroy(tracer);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(build_once);
}

static void embree_without_memory_is_an_error(void** unused) {
  (void)unused;
  sn_error err = {0};
  sn_set_allocator(&(sn_allocator){allocate_or_fail, release_block, NULL});
  allocations_left = 1;  // for the tracer itself
  assert_int_equal(build_once(&err), SN_ERR_MEMORY);
  sn_set_allocator(NULL);
  assert_message_has(&err, "Embree");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nearest_triangle_is_hit),
      cmocka_unit_test(rays_pass_through_what_is_cut_away),
      cmocka_unit_test(hits_are_the_same_on_any_thread_and_every_time),
      cmocka_unit_test(embree_starts_no_threads),
      cmocka_unit_test(nothing_is_never_hit),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(embree_without_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
