// What contact costs: the demo character walks on the ground, with inertia, its skin touching itself.
#include <math.h>
#include <stdio.h>

#include "bench.h"

static double lowest_vertex(const sn_mesh* mesh) {
  double low = INFINITY;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) low = fmin(low, mesh->positions[3 * v + 1]);
  return low;
}

typedef struct walk_sums {
  double seconds, contact_seconds, touching;
  int frames;
} walk_sums;

// The first frame comes to rest; those after it walk.
static sn_status walk(const bench_run* run, const sn_model* model, sn_state* state, int first,
                      int last, walk_sums* sums, sn_error* err) {
  for (int frame = first; frame <= last; ++frame) {
    sn_frame_stats stats;
    sn_status status = sn_step(model, state, frame, &stats, err);
    if (status == SN_OK) status = bench_check_stop(err);
    if (status != SN_OK) return status;
    bench_note(run, "frame %d: %.2f s, of it contact %.2f s; %d points touch", frame, stats.seconds,
               stats.contact_seconds, (int)stats.contacts);
    if (frame == first) continue;
    sums->seconds += stats.seconds;
    sums->contact_seconds += stats.contact_seconds;
    sums->touching += (double)stats.contacts;
    sums->frames++;
  }
  return SN_OK;
}

static sn_status simulate(bench_run* run, const sn_scene* scene, const char* name, sn_error* err) {
  sn_pool* pool = NULL;
  sn_model* model = NULL;
  sn_state* state = NULL;
  walk_sums sums = {0};
  int first = scene->first_frame, last = first + (run->o->quick ? 2 : 5);
  sn_status status = sn_pool_create(run->o->threads, &pool, err);
  if (status == SN_OK) status = sn_model_build(scene, pool, &model, err);
  if (status == SN_OK) status = sn_state_create(model, pool, &state, err);
  if (status == SN_OK) status = walk(run, model, state, first, last, &sums, err);
  if (status == SN_OK) {
    bench_figure(run, name, "elements", (double)sn_model_body(model, 0).cell_count, "1");
    bench_figure(run, name, "seconds_per_frame", sums.seconds / sums.frames, "s");
    bench_figure(run, name, "contacts", sums.touching / sums.frames, "1");
    bench_figure(run, name, "contact_share", sums.contact_seconds / sums.seconds, "1");
  }
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  return status;
}

static sn_status measure(bench_run* run, const char* path, sn_error* err) {
  double size = run->o->quick ? 4e3 : 1e5;
  char name[BENCH_NAME];
  sn_scene* scene = NULL;
  sn_status status = sn_scene_load(path, NULL, 0, &scene, err);
  if (status != SN_OK) return status;
  sn_collider_desc ground = {.name = "ground",
                             .kind = SN_COLLIDER_PLANE,
                             .position = {0, lowest_vertex(&scene->bodies[0].mesh), 0},
                             .normal = {0, 1, 0},
                             .friction = 0.6,
                             .stiffness = scene->contact.stiffness};
  scene->mode = SN_MODE_DYNAMIC;
  scene->colliders = &ground;
  scene->collider_count = 1;
  scene->bodies[0].cell *= sqrt(BENCH_DEMO_CELLS / size);
  snprintf(name, sizeof name, "walk%.0fk", 1e-3 * size);
  if (size > run->o->max_elements) {
    bench_note(run, "%s: left out by --max-elements %d", name, run->o->max_elements);
  } else {
    status = bench_fit_cell(run, scene, size, err);
    if (status == SN_OK) status = simulate(run, scene, name, err);
  }
  scene->collider_count = 0;  // it is not the scene's own
  sn_scene_destroy(scene);
  return status;
}

sn_status bench_contact(bench_run* run, sn_error* err) {
  return bench_on_character(run, measure, err);
}
