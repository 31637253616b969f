// VTU, a file a frame, and for each body a PVD that names them with their times: the cells and what is in
// them, from BODY.cells and BODY.fields.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "io/export.h"
#include "io/vtu.h"

#define MOST_ARRAYS (6 + SN_FIELD_COUNT)

// What does not change from frame to frame.
typedef struct vtu_body {
  const sn_export_job* job;
  const sn_export_body* body;
  sn_cells cells;
  sn_fields* fields;
  int first_frame;  // that is written
  uint32_t frame_count;
  sn_vtu_grid grid;
  double* places;         // room for the points (3 x point_count)
  double* rests;          // the same at rest
  float* displacements;   // room (3 x point_count)
  uint8_t* levels;        // (cell_count)
  float* contact_forces;  // room (cell_count)
} vtu_body;

// The run's files

static sn_status build_path(const vtu_body* v, const char* ending, char path[SN_EXPORT_PATH],
                            sn_error* err) {
  const char* folder = v->job->opts->folder;
  int length = snprintf(path, SN_EXPORT_PATH, "%s/%s%s", folder, v->body->name, ending);
  SN_CHECK(length < SN_EXPORT_PATH, err, SN_ERR_INPUT, "%.200s...: the path is too long", folder);
  struct stat info;
  SN_CHECK(stat(path, &info) == 0, err, SN_ERR_INPUT,
           "%s: is not there, so the run kept nothing of the inside; run again with --set "
           "'output.fields=[\"strain\", \"stress\"]'",
           path);
  return SN_OK;
}

// Frames that the caches have and the fields have not are left out, unless they were asked for.
static sn_status choose_frames(vtu_body* v, sn_error* err) {
  const sn_export_job* job = v->job;
  sn_fields_info info = sn_fields_get_info(v->fields);
  int64_t first = job->first_frame, last = first + job->frame_count - 1;
  int64_t has_first = info.first_frame, has_last = has_first + info.frame_count - 1;
  bool all = job->opts->first_frame == 0 && job->opts->last_frame == 0;
  int64_t from = first > has_first ? first : has_first, to = last < has_last ? last : has_last;
  SN_CHECK(info.frame_count > 0, err, SN_ERR_INPUT,
           "%s/%s.fields: holds no frame yet; expected one or more", job->opts->folder,
           v->body->name);
  SN_CHECK(from <= to && (all || (from == first && to == last)), err, SN_ERR_INPUT,
           "%s/%s.fields: holds frames %lld to %lld; expected %lld to %lld", job->opts->folder,
           v->body->name, (long long)has_first, (long long)has_last, (long long)first,
           (long long)last);
  if (from != first || to != last) {
    sn_log(SN_LOG_WARNING, "%s/%s.fields: holds frames %lld to %lld only; others are left out",
           job->opts->folder, v->body->name, (long long)has_first, (long long)has_last);
  }
  v->first_frame = (int)from;
  v->frame_count = (uint32_t)(to - from + 1);
  return SN_OK;
}

static sn_status open_body(vtu_body* v, sn_error* err) {
  char path[SN_EXPORT_PATH];
  SN_TRY(build_path(v, ".cells", path, err));
  SN_TRY(sn_cells_load(path, &v->cells, err));
  SN_TRY(build_path(v, ".fields", path, err));
  SN_TRY(sn_fields_open(path, &v->cells, &v->fields, err));
  return choose_frames(v, err);
}

// The grid

static sn_status prepare(vtu_body* v, sn_error* err) {
  const sn_cells* cells = &v->cells;
  sn_arena* arena = v->job->arena;
  uint64_t points = (uint64_t)cells->node_count + cells->hanging_count;
  SN_TRY(sn_vtu_grid_create(points, cells->cell_count, arena, &v->grid, err));
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)points, &v->places, err));
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)points, &v->rests, err));
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)points, &v->displacements, err));
  SN_TRY(SN_ARENA_RAW(arena, cells->cell_count, &v->levels, err));
  SN_TRY(SN_ARENA_RAW(arena, cells->cell_count, &v->contact_forces, err));
  sn_cells_points(cells, NULL, v->rests);
  for (uint32_t e = 0; e < cells->cell_count; ++e) {
    v->levels[e] = cells->cubes[e].level;
    sn_vtu_set_corners(&v->grid, e, cells->corners + 8 * (size_t)e);
  }
  return SN_OK;
}

static void turn(const sn_export_job* job, const double from[3], float to[3]) {
  for (int i = 0; i < 3; ++i) {
    const double* row = job->turn.m[i];
    to[i] = (float)(row[0] * from[0] + row[1] * from[1] + row[2] * from[2]);
  }
}

static sn_status place_points(vtu_body* v, const sn_fields_frame* frame, sn_error* err) {
  sn_cells_points(&v->cells, frame->displacements, v->places);
  for (size_t p = 0; p < v->grid.point_count; ++p) {
    double move[3];
    float* at = v->grid.points + 3 * p;
    for (size_t i = 0; i < 3; ++i) move[i] = v->places[3 * p + i] - v->rests[3 * p + i];
    turn(v->job, v->places + 3 * p, at);
    turn(v->job, move, v->displacements + 3 * p);
    SN_CHECK(isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]), err, SN_ERR_USAGE,
             "frame %d: with this scale a coordinate is beyond what a file can hold; expected a "
             "smaller scale",
             frame->frame);
  }
  return SN_OK;
}

static void add_contacts(vtu_body* v, const sn_fields_frame* frame) {
  memset(v->contact_forces, 0, v->cells.cell_count * sizeof *v->contact_forces);
  for (uint32_t i = 0; i < frame->contact_count; ++i) {
    v->contact_forces[frame->contacts[i].cell] += frame->contacts[i].force;
  }
}

static int list_cell_arrays(vtu_body* v, const sn_fields_frame* frame,
                            sn_vtu_array arrays[MOST_ARRAYS]) {
  const sn_cells* c = &v->cells;
  int count = 0;
  for (int f = 0; f < SN_FIELD_CONTACTS; ++f) {
    const char* name = sn_field_name((sn_flesh_field)f);
    if (!frame->values[f]) continue;
    arrays[count++] = (sn_vtu_array){name, SN_VTU_FLOAT32, 1, frame->values[f]};
  }
  if (sn_fields_get_info(v->fields).fields >> SN_FIELD_CONTACTS & 1) {
    add_contacts(v, frame);
    arrays[count++] = (sn_vtu_array){"contact_force", SN_VTU_FLOAT32, 1, v->contact_forces};
  }
  arrays[count++] = (sn_vtu_array){"level", SN_VTU_UINT8, 1, v->levels};
  arrays[count++] = (sn_vtu_array){"material", SN_VTU_UINT8, 1, c->materials};
  // No muscle is -1, which has the bits of SN_NO_MUSCLE.
  arrays[count++] = (sn_vtu_array){"muscle", SN_VTU_INT32, 1, c->muscles};
  arrays[count++] = (sn_vtu_array){"mu", SN_VTU_FLOAT32, 1, c->mu};
  arrays[count++] = (sn_vtu_array){"lambda", SN_VTU_FLOAT32, 1, c->lambda};
  arrays[count++] = (sn_vtu_array){"fill", SN_VTU_FLOAT32, 1, c->fill};
  return count;
}

// Frames

static double time_of(const vtu_body* v, int frame) {
  return (frame - v->cells.first_frame) / v->job->fps;
}

static sn_status write_frame(vtu_body* v, int frame, char path[SN_EXPORT_PATH], sn_error* err) {
  const sn_export_job* job = v->job;
  sn_fields_frame read;
  sn_vtu_array arrays[MOST_ARRAYS];
  int first = sn_fields_get_info(v->fields).first_frame;
  SN_TRY(sn_export_path(job, v->body, frame, path, err));
  if (job->opts->progress) {
    int last = v->first_frame + (int)v->frame_count - 1;
    job->opts->progress(job->opts->user, v->body->name, frame, last);
  }
  SN_TRY(sn_fields_read(v->fields, (uint32_t)(frame - first), &read, err));
  SN_TRY(place_points(v, &read, err));
  const sn_vtu_array moves = {"displacement", SN_VTU_FLOAT32, 3, v->displacements};
  int count = list_cell_arrays(v, &read, arrays);
  SN_TRY(sn_vtu_write(path, &v->grid, time_of(v, frame), &moves, 1, arrays, count, err));
  sn_export_tell(job, path);
  return SN_OK;
}

// PATH_0001.vtu belongs to PATH.pvd, in the same folder.
static void make_collection_path(const char* frame_path, char path[SN_EXPORT_PATH]) {
  const char* end = strrchr(frame_path, '_');
  snprintf(path, SN_EXPORT_PATH, "%.*s.pvd", (int)(end - frame_path), frame_path);
}

static sn_status write_collection(const vtu_body* v, const char* path, sn_error* err) {
  sn_writer w;
  sn_status status = SN_OK;
  sn_writer_open(&w, path, err);
  sn_pvd_begin(&w);
  for (uint32_t k = 0; k < v->frame_count && status == SN_OK; ++k) {
    char file[SN_EXPORT_PATH];
    int frame = v->first_frame + (int)k;
    status = sn_export_path(v->job, v->body, frame, file, err);
    const char* slash = strrchr(file, '/');
    if (status == SN_OK) sn_pvd_add(&w, time_of(v, frame), slash ? slash + 1 : file);
  }
  sn_pvd_end(&w);
  SN_TRY(sn_writer_close(&w, status));
  sn_export_tell(v->job, path);
  return SN_OK;
}

static sn_status write_body(vtu_body* v, sn_error* err) {
  char path[SN_EXPORT_PATH], collection[SN_EXPORT_PATH];
  SN_TRY(open_body(v, err));
  SN_TRY(prepare(v, err));
  for (uint32_t k = 0; k < v->frame_count; ++k) {
    SN_TRY(write_frame(v, v->first_frame + (int)k, path, err));
  }
  make_collection_path(path, collection);
  return write_collection(v, collection, err);
}

sn_status sn_export_vtu(const sn_export_job* job, sn_error* err) {
  for (uint32_t b = 0; b < job->body_count; ++b) {
    vtu_body v = {.job = job, .body = &job->bodies[b]};
    sn_arena_mark mark = sn_arena_get_mark(job->arena);
    sn_status status = write_body(&v, err);
    sn_fields_close(v.fields);
    sn_cells_destroy(&v.cells);
    sn_arena_release(job->arena, mark);
    SN_TRY(status);
  }
  return SN_OK;
}
