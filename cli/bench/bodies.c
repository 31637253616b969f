#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

sn_status bench_make_animal(double cell, sn_mesh* mesh, sn_error* err) {
  static const sn_round_cone CONES[] = {
      {{0, 0.45, 0}, {0, 0.62, 0.02}, 0.19, 0.16},         // trunk
      {{0, 0.80, 0.04}, {0, 0.86, 0.14}, 0.11, 0.07},      // head, snout
      {{0.16, 0.66, 0}, {0.40, 0.72, 0.10}, 0.07, 0.045},  // arms
      {{-0.16, 0.66, 0}, {-0.40, 0.62, 0.10}, 0.07, 0.045},
      {{0.40, 0.72, 0.10}, {0.46, 0.84, 0.16}, 0.045, 0.035},
      {{-0.40, 0.62, 0.10}, {-0.46, 0.74, 0.18}, 0.045, 0.035},
      {{0.12, 0.34, 0}, {0.18, 0.10, 0.04}, 0.10, 0.06},  // legs
      {{-0.12, 0.34, 0}, {-0.18, 0.10, 0.04}, 0.10, 0.06},
      {{0.18, 0.06, 0.02}, {0.20, 0.05, 0.14}, 0.06, 0.045},
      {{-0.18, 0.06, 0.02}, {-0.20, 0.05, 0.14}, 0.06, 0.045},
      {{0, 0.36, -0.14}, {0, 0.16, -0.42}, 0.08, 0.02},        // tail
      {{0.07, 0.92, 0.02}, {0.13, 1.04, -0.02}, 0.035, 0.02},  // ears
      {{-0.07, 0.92, 0.02}, {-0.13, 1.04, -0.02}, 0.035, 0.02},
  };
  return sn_mesh_from_round_cones(CONES, sizeof CONES / sizeof *CONES, 0.05, cell, mesh, err);
}

sn_status bench_load_surface(const bench_run* run, sn_mesh* mesh, sn_error* err) {
  return run->o->surface ? sn_mesh_load(run->o->surface, mesh, err)
                         : bench_make_animal(0.012, mesh, err);
}

double bench_side(const sn_mesh* mesh, int axis) {
  double low = INFINITY, high = -INFINITY;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    low = fmin(low, mesh->positions[3 * (size_t)v + axis]);
    high = fmax(high, mesh->positions[3 * (size_t)v + axis]);
  }
  return high - low;
}

double bench_longest_side(const sn_mesh* mesh) {
  return fmax(bench_side(mesh, 0), fmax(bench_side(mesh, 1), bench_side(mesh, 2)));
}

double bench_area(const sn_mesh* mesh) {
  double sum = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* c = mesh->triangles + 3 * (size_t)t;
    const double *p = mesh->positions + 3 * (size_t)c[0], *q = mesh->positions + 3 * (size_t)c[1],
                 *r = mesh->positions + 3 * (size_t)c[2];
    double a[3], b[3];
    for (int i = 0; i < 3; ++i) {
      a[i] = q[i] - p[i];
      b[i] = r[i] - p[i];
    }
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
           z = a[0] * b[1] - a[1] * b[0];
    sum += 0.5 * sqrt(x * x + y * y + z * z);
  }
  return sum;
}

void bench_describe(bench_body* body, sn_mesh* mesh, double cell, int coarsen) {
  *body = (bench_body){0};
  body->desc = (sn_body_desc){.name = (char*)"bench",
                              .surface = (char*)"bench",
                              .mesh = *mesh,
                              .cell = cell,
                              .coarsen = coarsen,
                              .material = BENCH_COROTATED_FLESH,
                              .density = 1060,
                              .initial = {.rotate = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
  body->scene = (sn_scene){.unit = 1,
                           .up = SN_UP_Y,
                           .fps = 24,
                           .first_frame = 1,
                           .last_frame = 1,
                           .substeps = 1,
                           .mode = SN_MODE_QUASISTATIC,
                           .bodies = &body->desc,
                           .body_count = 1,
                           .fixed = body->fixed,
                           .solver = {.linear = SN_LINEAR_MULTIGRID,
                                      .newton_max = 10,
                                      .krylov_max = 3,
                                      .multigrid = {.degree = 3}}};
  *mesh = (sn_mesh){0};
}

sn_status bench_describe_cube(int n, bench_body* body, sn_error* err) {
  static const uint32_t TRIANGLES[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                         2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
  double positions[24];
  sn_mesh mesh = {0};
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) positions[3 * c + i] = c >> i & 1 ? n : 0;
  }
  *body = (bench_body){0};
  sn_status status = sn_mesh_from_arrays(positions, 8, TRIANGLES, 12, &mesh, err);
  if (status != SN_OK) return status;
  bench_describe(body, &mesh, 1, -1);
  for (int c = 0; c < 8; ++c) {
    sn_vec3 lo = {c & 1 ? n - 1 : 0, c & 2 ? n - 1 : 0, c & 4 ? n - 1 : 0};
    sn_vec3 hi = {lo.x + 1, lo.y + 1, lo.z + 1};
    body->fixed[c] =
        (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}};
  }
  body->scene.fixed_count = 8;
  body->desc.material =
      (sn_material){.mu = 1 / 2.6, .lambda = 0.3 / (1.3 * 0.4)};  // E = 1, nu = 0.3
  body->desc.density = 1;
  return SN_OK;
}

sn_status bench_build(bench_body* body, int threads, sn_error* err) {
  // the struct may have been copied since it was described
  body->scene.bodies = &body->desc;
  body->scene.fixed = body->fixed;
  if (body->scene.bone_count) body->scene.bones = &body->bone;
  if (body->scene.attachment_count) body->scene.attachments = &body->tie;
  body->bytes_before = sn_memory_used();
  sn_memory_restart_peak();
  sn_status status = sn_pool_create(threads, &body->pool, err);
  if (status != SN_OK) return status;
  body->threads = sn_pool_thread_count(body->pool);
  double start = bench_now();
  status = sn_model_build(&body->scene, body->pool, &body->model, err);
  body->build_seconds = bench_now() - start;
  if (status == SN_OK) status = sn_state_create(body->model, body->pool, &body->state, err);
  body->create_seconds = bench_now() - start - body->build_seconds;
  if (status != SN_OK) return status;
  body->elements = (double)sn_model_body(body->model, 0).cell_count;
  body->held_bytes = (double)(sn_memory_used() - body->bytes_before);
  return SN_OK;
}

double bench_body_peak(const bench_body* body) {
  return (double)(sn_memory_peak() - body->bytes_before);
}

#define SOLVES 5

sn_status bench_solve_fastest(const bench_body* body, const sn_study_opts* opts,
                              sn_study_result* result, sn_error* err) {
  for (int k = 0; k < SOLVES; ++k) {
    sn_study_result one;
    sn_status status = sn_state_study(body->model, body->state, opts, &one, err);
    if (status != SN_OK) return status;
    if (k == 0 || one.seconds < result->seconds) *result = one;
  }
  return SN_OK;
}

void bench_body_destroy(bench_body* body) {
  sn_state_destroy(body->state);
  sn_model_destroy(body->model);
  sn_pool_destroy(body->pool);
  sn_mesh_destroy(&body->desc.mesh);
  *body = (bench_body){0};
}

sn_status bench_open_cube(const bench_run* run, int n, int threads, bench_body* body,
                          sn_error* err) {
  bench_note(run, "building the cube of %d cells a side", n);
  sn_status status = bench_describe_cube(n, body, err);
  if (status == SN_OK) status = bench_build(body, threads, err);
  return status == SN_OK ? bench_check_stop(err) : status;
}

sn_status bench_time_frames(const bench_run* run, const sn_model* model, sn_state* state,
                            const int frames[2], double* seconds, sn_error* err) {
  double sum = 0;
  for (int frame = frames[0]; frame <= frames[1]; ++frame) {
    sn_frame_stats stats;
    sn_status status = sn_step(model, state, frame, &stats, err);
    if (status == SN_OK) status = bench_check_stop(err);
    if (status != SN_OK) return status;
    int krylov = 0;
    for (int k = 0; k < stats.newton; ++k) krylov += stats.krylov[k];
    bench_note(run, "frame %d: %.2f s, %d Newton steps, %d iterations, residual %.1e", frame,
               stats.seconds, stats.newton, krylov, stats.residual);
    sum += stats.seconds;
  }
  *seconds = sum / (frames[1] - frames[0] + 1);
  return SN_OK;
}

const int* bench_cube_sizes(const bench_run* run) {
  static const int QUICK[] = {16, 0}, FULL[] = {40, 256, 0};
  return run->o->quick ? QUICK : FULL;
}
