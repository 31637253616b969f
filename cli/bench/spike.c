// A ball with many thin spikes: mostly surface, and as many elements as Milne et al. 2016 had.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define BALL 0.3    // radius, m
#define LENGTH 0.3  // of a spike beyond the ball, m
#define TURN 0.5    // angle that the core turns by, radians
#define PI 3.14159265358979

typedef struct ball_shape {
  int spikes;
  double width;  // of a spike's foot, seen from the centre: half its angle, radians
  int rings;     // of the mesh, and half the vertices around
} ball_shape;

// Evenly over the sphere: heights in equal steps, each turned by the golden angle.
static void spike_direction(const ball_shape* shape, int k, double d[3]) {
  double y = 1 - (2.0 * k + 1) / shape->spikes, ring = sqrt(1 - y * y);
  double turn = k * PI * (3 - sqrt(5));
  d[0] = ring * cos(turn);
  d[1] = y;
  d[2] = ring * sin(turn);
}

// Distance of the surface from the centre: spikes are cones on the ball.
static double radius_at(const ball_shape* shape, const double* directions, const double d[3]) {
  double nearest = -1;
  for (int k = 0; k < shape->spikes; ++k) {
    const double* s = directions + 3 * (size_t)k;
    nearest = fmax(nearest, s[0] * d[0] + s[1] * d[1] + s[2] * d[2]);
  }
  double t = acos(fmin(nearest, 1)) / shape->width;
  return t < 1 ? BALL + LENGTH * (1 - t) : BALL;
}

// Vertices: the two poles, then ring by ring. The body is seen whole from its centre, so any mesh
// of the sphere will do.
static void place_vertices(const ball_shape* shape, const double* directions, double* positions) {
  int around = 2 * shape->rings;
  for (int v = 0; v < 2 + shape->rings * around; ++v) {
    int ring = (v - 2) / around, segment = (v - 2) % around;
    double polar = v < 2 ? v * PI : PI * (ring + 1) / (shape->rings + 1);
    double turn = v < 2 ? 0 : 2 * PI * segment / around;
    double d[3] = {sin(polar) * cos(turn), cos(polar), sin(polar) * sin(turn)};
    double radius = radius_at(shape, directions, d);
    for (int i = 0; i < 3; ++i) positions[3 * (size_t)v + i] = radius * d[i];
  }
}

// Two triangles between each pair of neighbours on two rings, one at each pole.
static uint32_t join_vertices(const ball_shape* shape, uint32_t* triangles) {
  uint32_t around = 2 * (uint32_t)shape->rings, count = 0;
  for (uint32_t s = 0; s < around; ++s) {
    uint32_t next = (s + 1) % around, last = 2 + ((uint32_t)shape->rings - 1) * around;
    const uint32_t poles[6] = {0, 2 + next, 2 + s, 1, last + s, last + next};
    memcpy(triangles + 3 * (size_t)count, poles, sizeof poles);
    count += 2;
    for (uint32_t r = 2; r < last; r += around) {
      uint32_t a = r + s, b = r + next, c = a + around, d = b + around;
      const uint32_t pair[6] = {a, b, d, a, d, c};
      memcpy(triangles + 3 * (size_t)count, pair, sizeof pair);
      count += 2;
    }
  }
  return count;
}

static sn_status make_ball(bool quick, sn_mesh* mesh, sn_error* err) {
  ball_shape shape = quick ? (ball_shape){30, 0.2, 48} : (ball_shape){300, 0.05, 256};
  size_t vertices = 2 + 2 * (size_t)shape.rings * (size_t)shape.rings;
  double* positions = malloc(3 * vertices * sizeof *positions);
  double* directions = malloc(3 * (size_t)shape.spikes * sizeof *directions);
  uint32_t* triangles = malloc(6 * vertices * sizeof *triangles);
  sn_status status = SN_OK;
  if (positions && directions && triangles) {
    for (int k = 0; k < shape.spikes; ++k) spike_direction(&shape, k, directions + 3 * (size_t)k);
    place_vertices(&shape, directions, positions);
    uint32_t count = join_vertices(&shape, triangles);
    status = sn_mesh_from_arrays(positions, (uint32_t)vertices, triangles, count, mesh, err);
  } else {
    status = bench_fail(err, SN_ERR_MEMORY, "out of memory");
  }
  free(positions);
  free(directions);
  free(triangles);
  return status;
}

// The core is held, and turned, by a bone; the rest follows, under gravity.
static void hold_core(bench_body* body) {
  static sn_keyframe turned = {.frame = 1, .rotate = {0, 0, 0, 1}};
  turned.rotate = (sn_quat){0, sin(0.5 * TURN), 0, cos(0.5 * TURN)};
  body->bone = (sn_bone_desc){.name = (char*)"core",
                              .kind = SN_BONE_CAPSULE,
                              .capsule = {{-0.01, 0, 0}, {0.01, 0, 0}, 0.6 * BALL},
                              .motion = {.keys = &turned, .key_count = 1}};
  body->scene.bones = &body->bone;
  body->scene.bone_count = 1;
  body->fixed[0] =
      (sn_fixed_desc){.bone = 0, .where = {.kind = SN_WHERE_INSIDE}, .motion = body->bone.motion};
  body->scene.fixed_count = 1;
  body->scene.gravity = (sn_vec3){0, -9.81, 0};
}

static sn_status build(bench_run* run, double cell, bench_body* body, sn_error* err) {
  sn_mesh mesh = {0};
  sn_status status = make_ball(run->o->quick, &mesh, err);
  if (status != SN_OK) return status;
  bench_describe(body, &mesh, cell, -1);
  hold_core(body);
  status = bench_build(body, run->o->threads, err);
  return status == SN_OK ? bench_check_stop(err) : status;
}

// Smaller trees tell how many elements an area takes; more of them where the spikes are resolved.
static sn_status find_cell(bench_run* run, double elements, double* cell, sn_error* err) {
  static const double QUICK[] = {1, 0}, FULL[] = {0.05, 0.2, 0.6, 0};
  sn_mesh mesh = {0};
  sn_status status = make_ball(run->o->quick, &mesh, err);
  if (status != SN_OK) return status;
  *cell = sqrt(3 * bench_area(&mesh) / elements);
  sn_mesh_destroy(&mesh);
  for (const double* share = run->o->quick ? QUICK : FULL; *share > 0 && status == SN_OK; ++share) {
    bench_body body = {0};
    double trial = *cell / sqrt(*share);
    status = build(run, trial, &body, err);
    *cell = trial * sqrt(body.elements / elements);
    bench_body_destroy(&body);
  }
  return status;
}

// A frame from rest, with a fixed amount of work: the tolerances are 0.
static sn_status measure(bench_run* run, bench_body* body, const int budget[2], sn_error* err) {
  double seconds;
  char name[BENCH_NAME];
  const int frames[2] = {1, 1};
  snprintf(name, sizeof name, "spike%dx%d", budget[0], budget[1]);
  bench_note(run, "%d Newton steps of %d iterations", budget[0], budget[1]);
  sn_state_destroy(body->state);
  body->scene.solver.newton_max = budget[0];
  body->scene.solver.krylov_max = budget[1];
  sn_status status = sn_state_create(body->model, body->pool, &body->state, err);
  if (status != SN_OK) return status;
  status = bench_time_frames(run, body->model, body->state, frames, &seconds, err);
  if (status != SN_OK) return status;
  bench_figure(run, name, "elements", body->elements, "1");
  bench_figure(run, name, "threads", body->threads, "1");
  bench_figure(run, name, "bytes_per_element", bench_body_peak(body) / body->elements, "B");
  bench_figure(run, name, "seconds_per_frame", seconds, "s");
  return SN_OK;
}

sn_status bench_spike(bench_run* run, sn_error* err) {
  static const int BUDGETS[2][2] = {{20, 20}, {10, 3}};
  double elements = run->o->quick ? 5e3 : 3.1e6, cell;
  double bytes = 2500 * elements;  // an upper bound by the growth benchmark
  if (elements > run->o->max_elements) {
    bench_note(run, "left out by --max-elements %d; it takes 3.1 million", run->o->max_elements);
    return SN_OK;
  }
  if (bytes > 0.8 * bench_available_bytes()) {
    bench_note(run, "left out, about %.1f GB needed of %.1f GB available", 1e-9 * bytes,
               1e-9 * bench_available_bytes());
    return SN_OK;
  }
  bench_body body = {0};
  sn_status status = find_cell(run, elements, &cell, err);
  if (status == SN_OK) bench_note(run, "building");
  if (status == SN_OK) status = build(run, cell, &body, err);
  for (int k = 0; k < 2 && status == SN_OK; ++k) status = measure(run, &body, BUDGETS[k], err);
  bench_body_destroy(&body);
  return status;
}
