/// What a run leaves on disk. Every file is valid after every frame, also when the program is
/// killed.
#ifndef SINEW_IO_H
#define SINEW_IO_H

#include "sinew/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A point cache (PC2): header, then float positions frame by frame.
typedef struct sn_pc2 sn_pc2;

/// Header of a cache.
typedef struct sn_pc2_info {
  uint32_t vertex_count, frame_count;
  float first_frame;
} sn_pc2_info;

/// Start a new cache, or with `keep_frames` > 0 continue one after that many frames.
SN_API sn_status sn_pc2_open(const char* path, uint32_t vertex_count, int first_frame,
                             uint32_t keep_frames, sn_pc2** pc2, sn_error* err);
/// Append a frame, then publish it in the header. @param positions (3 x vertex_count)
SN_API sn_status sn_pc2_append(sn_pc2* pc2, const float* positions, sn_error* err);
/// NULL is fine.
SN_API void sn_pc2_close(sn_pc2* pc2);

/// Header of a cache, checked against the size of the file.
SN_API sn_status sn_pc2_read_info(const char* path, sn_pc2_info* info, sn_error* err);
/// Positions of one frame, counted from 0. @param positions (3 x vertex_count)
SN_API sn_status sn_pc2_read_frame(const char* path, uint32_t frame, float* positions,
                                   sn_error* err);

/// The folder of a run: caches, rest surfaces, statistics, checkpoint, result.
typedef struct sn_run sn_run;

/// Where a run starts.
typedef enum sn_resume {
  SN_RESUME_NO,    ///< start anew, replacing what an earlier run left
  SN_RESUME_LAST,  ///< go on after the last checkpoint; start anew where there is none
  SN_RESUME_AT     ///< compute `resume_frame` again and go on, from a kept checkpoint
} sn_resume;

/// What sn_run_open needs to know.
typedef struct sn_run_opts {
  const char* folder;
  int first_frame, last_frame;  ///< inclusive
  sn_resume resume;
  int resume_frame;  ///< SN_RESUME_AT
} sn_run_opts;

/// Create the folder if needed, write rest surfaces and the resolved scene, open the caches. On
/// resume, load the checkpoint into `state` and cut caches and statistics back to it.
SN_API sn_status sn_run_open(const sn_run_opts* opts, const sn_model* model, const sn_scene* scene,
                             sn_state* state, sn_run** run, sn_error* err);
/// First frame still to be solved.
SN_API int sn_run_next_frame(const sn_run* run);
/// Store the frame that `state` holds: surfaces, statistics, and the checkpoint when it is due.
SN_API sn_status sn_run_append(sn_run* run, const sn_model* model, const sn_state* state,
                               const sn_frame_stats* stats, sn_error* err);
/// Write a checkpoint now, due or not.
SN_API sn_status sn_run_checkpoint(sn_run* run, const sn_model* model, const sn_state* state,
                                   sn_error* err);
/// Write result.json, the last file of a run. @param outcome "done", "interrupted" or "failed"
SN_API sn_status sn_run_finish(sn_run* run, const char* outcome, const char* reason, sn_error* err);
/// NULL is fine. Without sn_run_finish the folder has no result.json.
SN_API void sn_run_close(sn_run* run);

/// One line of stats.jsonl, without newline. @return length, as snprintf
SN_API int sn_stats_to_json(const sn_frame_stats* stats, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
