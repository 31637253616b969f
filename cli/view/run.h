// One run as it is in its folder. What does not change is held in memory (scene, surfaces, shapes);
// frames and fields stay in their files. The run may still be going on: what is stored is looked up
// anew for every answer.
#ifndef SN_CLI_VIEW_RUN_H
#define SN_CLI_VIEW_RUN_H

#include <pthread.h>

#include "folder.h"
#include "records.h"
#include "shapes.h"

// Frames from `first` on; none if `count` is 0.
typedef struct frame_span {
  int first;
  uint32_t count;
  int origin;  // the first in the file, which may be one that is not shown
} frame_span;

typedef struct view_body {
  char* name;
  shared_bytes* surface;  // numbers of vertices and triangles, `rest`, `triangles`: as it is sent
  const float* rest;      // in the unit of the scene (3 x vertex_count)
  const uint32_t* triangles;  // (3 x triangle_count)
  uint32_t vertex_count, triangle_count;
  sn_pose* pose;              // as animated; NULL: there is none
  pthread_mutex_t pose_lock;  // it is read by one at a time
  shape* muscles;             // meshes of the muscles of this body, in the order of the scene
  uint32_t* muscle_numbers;
  uint32_t muscle_count;
  record_index records;  // of BODY.fields
} view_body;

// Which file was read, to see when there is another.
typedef struct file_stamp {
  uint64_t device, inode;
  int64_t size, seconds, nanoseconds;
} file_stamp;

typedef struct view_run {
  pthread_rwlock_t lock;  // taken for reading by every answer, for writing to load anew
  view_folder folder;
  char* name;                 // last part of the path
  bool check;                 // not a run: what would be built
  const char* source;         // with `check` the scene that it is about; borrowed
  int clip_first, clip_last;  // frames outside count as not stored; 0 0: none do
  file_stamp stamp;           // of scene.json
  char* scene_text;
  size_t scene_size;
  double unit, fps;
  char up;
  int first_frame, last_frame;  // that are wanted
  view_body* bodies;
  uint32_t body_count;
  sn_scene* scene;     // NULL: it cannot be read any more
  char trouble[1200];  // why not; else empty
  shape *bones, *colliders;
} view_run;

// SN_ERR_INPUT if the folder is not that of a run.
sn_status run_open(const char* path, view_run* run, sn_error* err);
void run_close(view_run* run);
// Load the run again if another one has begun in its folder.
void run_renew(view_run* run);

// Where the vertices of a body with a pose are at a frame, in metres. @param places (3 x vertex_count)
sn_status run_read_pose(view_body* body, double frame, float* places, sn_error* err);
// Frames of a body that are in its cache now. @param file the cache, may be NULL: to be closed; -1 if
// there is none
frame_span run_stored(const view_run* run, uint32_t body, int* file);
// Frames that all bodies have.
frame_span run_stored_by_all(const view_run* run);
// Is it one of the scene, or stored?
bool run_has_frame(const view_run* run, uint32_t frame);
static inline bool span_has(frame_span span, uint32_t frame) {
  return frame >= (uint32_t)span.first && frame - (uint32_t)span.first < span.count;
}
// Where a frame of a cache begins.
uint64_t cache_offset(frame_span span, uint32_t vertex_count, uint32_t frame);

#endif
