// Exports: what a run left, written for other programs. export_run.c finds bodies and frames in the
// folder of the run, export.c decides on axes and names; a file a format writes them. A new format is a
// function and a row in the table of export.c.
#ifndef SN_IO_EXPORT_H
#define SN_IO_EXPORT_H

#include "base/memory.h"
#include "io/writer.h"
#include "sinew/io.h"

#define SN_EXPORT_PATH 4096

// A body of the run.
typedef struct sn_export_body {
  char* name;
  char* cache;      // path of its BODY.pc2
  char* rest;       // path of its BODY.obj
  char* surface;    // the file that the scene names, perhaps with a part of it behind '#'
  int first_frame;  // of the cache
  uint32_t frame_count;
  // Polygons, groups, texture coordinates, where the format wants them; for others only the count of
  // vertices. Its positions are not those of any frame.
  sn_mesh mesh;
} sn_export_body;

typedef struct sn_export_row sn_export_row;

// An export, ready to be written.
typedef struct sn_export_job {
  const sn_export_opts* opts;
  const sn_export_row* format;
  sn_export_body* bodies;  // those that are written
  uint32_t body_count;
  int first_frame;       // that is written
  uint32_t frame_count;  // at least 1
  double fps;
  double unit;       // metres in a unit of what is written
  sn_up up;          // of what is written
  sn_mat3 turn;      // from the caches to what is written: axes and scale
  bool turns;        // it is not the identity
  sn_arena* arena;   // lives as long as the job; scratch of the writers too
  float* positions;  // room for a frame of the largest body
} sn_export_job;

// How many files a format makes.
typedef enum sn_export_files {
  SN_EXPORT_A_BODY,   // BODY.mdd
  SN_EXPORT_A_FRAME,  // obj/BODY_0001.obj
  SN_EXPORT_ONE       // all bodies in one
} sn_export_files;

// A format. `write` makes all of its files.
struct sn_export_row {
  const char* name;  // also the ending of its files
  const char* about;
  sn_status (*write)(const sn_export_job* job, sn_error* err);
  sn_export_files files;
  bool needs_mesh;      // not only positions
  bool is_metric;       // lengths are in metres
  sn_export_axes axes;  // that it prescribes
  bool refuses_x_up;    // y or z must be up; bodies are turned to y
};

// Path of a file to be written; its folder is made. Refused where it is a file of the run or its input.
// @param body NULL for formats with one file @param frame its number, for formats with a file a frame
sn_status sn_export_path(const sn_export_job* job, const sn_export_body* body, int frame,
                         char path[SN_EXPORT_PATH], sn_error* err);
// Positions of a frame, counted from 0, in the axes and unit of the export; tells the progress.
// @param positions (3 x vertex_count)
sn_status sn_export_read(const sn_export_job* job, const sn_export_body* body, uint32_t frame,
                         float* positions, sn_error* err);
// Tell that a file is complete.
void sn_export_tell(const sn_export_job* job, const char* path);

// A file for each body, which `write` fills.
typedef sn_status (*sn_export_body_fn)(const sn_export_job* job, const sn_export_body* body,
                                       sn_writer* writer, sn_error* err);
sn_status sn_export_each_body(const sn_export_job* job, sn_export_body_fn write, sn_error* err);

// What the scene of the run says of time and space.
typedef struct sn_export_scene {
  double unit, fps;
  sn_up up;
  int last_frame;
} sn_export_scene;

// Read the run's scene.json and the headers of its caches into bodies, frames and meshes of the job.
sn_status sn_export_open_run(sn_export_job* job, sn_export_scene* scene, sn_error* err);

sn_status sn_export_pc2(const sn_export_job* job, sn_error* err);
sn_status sn_export_mdd(const sn_export_job* job, sn_error* err);
sn_status sn_export_obj(const sn_export_job* job, sn_error* err);
sn_status sn_export_ply(const sn_export_job* job, sn_error* err);
sn_status sn_export_glb(const sn_export_job* job, sn_error* err);
sn_status sn_export_usda(const sn_export_job* job, sn_error* err);
sn_status sn_export_vtu(const sn_export_job* job, sn_error* err);

#endif
