// A picture of 100,000 triangles on a floor, as `sinew render` draws it.
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define PICTURES 3  // the fastest counts

// The animal of about so many triangles, in single precision as caches have it.
typedef struct drawn_animal {
  sn_mesh mesh, floor_mesh;
  float *positions, *floor_positions;
  sn_drawn_surface surfaces[2];
  sn_view view;
} drawn_animal;

static float* to_floats(const sn_mesh* mesh) {
  float* positions = malloc(sizeof *positions * (3 * (size_t)mesh->vertex_count + 1));
  for (size_t i = 0; positions && i < 3 * (size_t)mesh->vertex_count; ++i) {
    positions[i] = (float)mesh->positions[i];
  }
  return positions;
}

static sn_drawn_surface to_surface(const sn_mesh* mesh, const float* positions, sn_look look) {
  return (sn_drawn_surface){.positions = positions,
                            .vertex_count = mesh->vertex_count,
                            .triangles = mesh->triangles,
                            .triangle_count = mesh->triangle_count,
                            .look = look,
                            .base = sn_colour_skin()};
}

static sn_status make(double cell, drawn_animal* animal, sn_error* err) {
  const sn_collider_desc floor = {.kind = SN_COLLIDER_PLANE, .normal = {0, 1, 0}};
  const sn_rigid at_rest = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
  sn_status status = bench_make_animal(cell, &animal->mesh, err);
  if (status != SN_OK) return status;
  animal->positions = to_floats(&animal->mesh);
  if (!animal->positions) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  animal->view = sn_view_make(SN_UP_Y, 30, 15);
  sn_view_include(&animal->view, animal->positions, animal->mesh.vertex_count);
  status = sn_mesh_from_collider(&floor, &at_rest, &animal->view, &animal->floor_mesh, err);
  if (status != SN_OK) return status;
  animal->floor_positions = to_floats(&animal->floor_mesh);
  if (!animal->floor_positions) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  animal->surfaces[0] = to_surface(&animal->mesh, animal->positions, SN_LOOK_FLESH);
  animal->surfaces[1] = to_surface(&animal->floor_mesh, animal->floor_positions, SN_LOOK_FLOOR);
  return SN_OK;
}

static sn_status measure(bench_run* run, drawn_animal* animal, sn_quality quality, sn_error* err) {
  static const char* const names[] = {"preview", "good", "best"};
  const int whole[4] = {0, 0, run->o->quick ? 160 : 1280, run->o->quick ? 90 : 720};
  double best = 0;
  uint64_t rays = 0;
  sn_image image;
  animal->view.quality = quality;
  animal->view.ray_count = &rays;
  sn_status status = sn_image_create(whole[2], whole[3], &image, err);
  for (int k = 0; k < PICTURES && status == SN_OK; ++k) {
    double begin = bench_now();
    rays = 0;
    status = sn_image_draw_surfaces(&image, whole, &animal->view, animal->surfaces, 2, err);
    double seconds = bench_now() - begin;
    if (k == 0 || seconds < best) best = seconds;
    if (status == SN_OK) status = bench_check_stop(err);
  }
  sn_image_destroy(&image);
  if (status != SN_OK) return status;
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "%s-%dx%d", names[quality], whole[2], whole[3]);
  bench_figure(run, name, "triangles", animal->mesh.triangle_count, "1");
  bench_figure(run, name, "threads", sn_pool_thread_count(animal->view.pool), "1");
  bench_figure(run, name, "rays", (double)rays, "1");
  bench_figure(run, name, "rays_per_s", (double)rays / best, "1/s");
  bench_figure(run, name, "seconds_per_frame", best, "s");
  return SN_OK;
}

sn_status bench_render(bench_run* run, sn_error* err) {
  drawn_animal animal = {0};
  sn_pool* pool = NULL;
  sn_status status = sn_pool_create(run->o->threads, &pool, err);
  if (status == SN_OK) status = make(run->o->quick ? 0.02 : 0.0065, &animal, err);
  animal.view.pool = pool;
  if (status == SN_OK) status = measure(run, &animal, SN_QUALITY_PREVIEW, err);
  if (status == SN_OK && !run->o->quick) status = measure(run, &animal, SN_QUALITY_GOOD, err);
  sn_mesh_destroy(&animal.mesh);
  sn_mesh_destroy(&animal.floor_mesh);
  free(animal.positions);
  free(animal.floor_positions);
  sn_pool_destroy(pool);
  return status;
}
