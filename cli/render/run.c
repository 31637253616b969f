#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

// Eyes, noses and the like: a group named `dark` is drawn so.
static sn_status mark_dark_group(run_body* body, sn_error* err) {
  for (uint32_t g = 0; g < body->mesh->group_count; ++g) {
    if (strcmp(body->mesh->groups[g].name, "dark") != 0) continue;
    body->marks = malloc(sizeof(float) * body->mesh->vertex_count);
    if (!body->marks) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
    return sn_mesh_mark_group(body->mesh, &body->mesh->groups[g], body->marks, err);
  }
  return SN_OK;
}

// What is inside the flesh, if the run kept it.
static sn_status open_cells(const run_data* run, run_body* body, sn_error* err) {
  char path[PICTURE_PATH];
  snprintf(path, sizeof path, "%s/%s.cells", run->folder, body->name);
  FILE* file = fopen(path, "rb");
  if (!file) {
    return picture_fail(err, SN_ERR_INPUT,
                        "%s: cannot be read: the run kept nothing of the inside; run it again with "
                        "--set 'output.fields=[\"strain\"]' or the fields that you want to see",
                        path);
  }
  fclose(file);
  sn_status status = sn_cells_load(path, &body->cells, err);
  if (status != SN_OK) return status;
  if (body->cells.vertex_count != body->mesh->vertex_count) {
    return picture_fail(err, SN_ERR_INPUT, "%s: the cells carry %u vertices, the surface has %u",
                        path, body->cells.vertex_count, body->mesh->vertex_count);
  }
  snprintf(path, sizeof path, "%s/%s.fields", run->folder, body->name);
  return sn_fields_open(path, &body->cells, &body->fields, err);
}

static sn_status open_body(run_data* run, uint32_t b, bool with_cells, sn_error* err) {
  run_body* body = &run->bodies[b];
  body->name = run->scene->bodies[b].name;
  body->mesh = &run->scene->bodies[b].mesh;
  snprintf(body->pc2, sizeof body->pc2, "%s/%s.pc2", run->folder, body->name);
  sn_status status = sn_pc2_read_info(body->pc2, &body->info, err);
  if (status != SN_OK) return status;
  if (body->info.vertex_count != body->mesh->vertex_count) {
    return picture_fail(err, SN_ERR_INPUT,
                        "%s: has %u vertices, the surface %u; run the scene again", body->pc2,
                        body->info.vertex_count, body->mesh->vertex_count);
  }
  if (b == 0 || body->info.frame_count < run->frame_count) {
    run->frame_count = body->info.frame_count;
  }
  status = mark_dark_group(body, err);
  return status == SN_OK && with_cells ? open_cells(run, body, err) : status;
}

// Fields begin where the cache does, and may lack its last frames.
static void count_fields(run_data* run) {
  for (uint32_t b = 0; b < run->scene->body_count; ++b) {
    if (!run->bodies[b].fields) continue;
    uint32_t count = sn_fields_get_info(run->bodies[b].fields).frame_count;
    if (count < run->frame_count) run->frame_count = count;
  }
}

sn_status run_load(const char* folder, bool with_cells, run_data* run, sn_error* err) {
  char path[PICTURE_PATH];
  *run = (run_data){.folder = folder};
  snprintf(path, sizeof path, "%s/scene.json", folder);
  sn_status status = sn_scene_load(path, NULL, 0, &run->scene, err);
  if (status != SN_OK) return status;
  run->bodies = calloc(run->scene->body_count + 1, sizeof *run->bodies);
  if (!run->bodies) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  for (uint32_t b = 0; b < run->scene->body_count && status == SN_OK; ++b) {
    status = open_body(run, b, with_cells, err);
  }
  if (status != SN_OK) return status;
  count_fields(run);
  if (run->frame_count > 0) return SN_OK;
  return picture_fail(err, SN_ERR_INPUT, "%s: has no frame yet; run the scene first", folder);
}

void run_destroy(run_data* run) {
  for (uint32_t b = 0; run->bodies && b < run->scene->body_count; ++b) {
    free(run->bodies[b].marks);
    sn_fields_close(run->bodies[b].fields);
    sn_cells_destroy(&run->bodies[b].cells);
  }
  free(run->bodies);
  sn_scene_destroy(run->scene);
  *run = (run_data){0};
}

// Caches are in the unit of the scene's files, pictures in metres.
sn_status run_read_cache(const run_data* run, const char* pc2, uint32_t index,
                         uint32_t vertex_count, float* positions, sn_error* err) {
  sn_status status = sn_pc2_read_frame(pc2, index, positions, err);
  for (size_t i = 0; status == SN_OK && i < 3 * (size_t)vertex_count; ++i) {
    positions[i] = (float)(positions[i] * run->scene->unit);
  }
  return status;
}

sn_status run_read_fields(run_data* run, uint32_t index, sn_error* err) {
  for (uint32_t b = 0; b < run->scene->body_count; ++b) {
    run_body* body = &run->bodies[b];
    if (!body->fields) continue;
    int first = sn_fields_get_info(body->fields).first_frame, frame = run_frame_at(run, index);
    if (frame < first) {
      return picture_fail(err, SN_ERR_INPUT, "%s/%s.fields: begins with frame %d, not with %d",
                          run->folder, body->name, first, frame);
    }
    sn_status status = sn_fields_read(body->fields, (uint32_t)(frame - first), &body->frame, err);
    if (status != SN_OK) return status;
  }
  return SN_OK;
}

int run_frame_at(const run_data* run, uint32_t index) {
  return (int)run->bodies[0].info.first_frame + (int)index;
}
