/// What a run leaves on disk. Every file is valid after every frame, also when the program is
/// killed.
#ifndef SINEW_IO_H
#define SINEW_IO_H

#include "sinew/fields.h"
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
  float frame_step;  ///< frames from one to the next
} sn_pc2_info;

/// Start a new cache, or with `keep_frames` > 0 continue one after that many frames.
SN_API sn_status sn_pc2_open(const char* path, uint32_t vertex_count, int first_frame,
                             uint32_t keep_frames, sn_pc2** pc2, sn_error* err);
/// Append a frame, then publish it in the header. @param positions (3 x vertex_count)
SN_API sn_status sn_pc2_append(sn_pc2* pc2, const float* positions, sn_error* err);
/// NULL is fine.
SN_API void sn_pc2_close(sn_pc2* pc2);

/// Header of a cache, checked against the size of the file and the checksums of a run (PATH.sums), if
/// they are there.
SN_API sn_status sn_pc2_read_info(const char* path, sn_pc2_info* info, sn_error* err);
/// Positions of one frame, counted from 0. SN_ERR_INPUT if it has another checksum than a run gave it.
/// @param positions (3 x vertex_count)
SN_API sn_status sn_pc2_read_frame(const char* path, uint32_t frame, float* positions,
                                   sn_error* err);

/// Whether a frame, counted from 0, goes with the checksum that a run gave it: SN_ERR_INPUT if not. Fine
/// where there are no checksums.
SN_API sn_status sn_pc2_check_frame(const char* path, uint32_t frame, sn_error* err);

/// Write the cells of a body as BODY.cells: versioned, checksummed, replaced as a whole. Sets their
/// checksum.
SN_API sn_status sn_cells_save(const char* path, sn_cells* cells, sn_error* err);
/// Read BODY.cells. Every number is checked: SN_ERR_INPUT if the file is damaged.
SN_API sn_status sn_cells_load(const char* path, sn_cells* cells, sn_error* err);

/// Write how a body hangs in its scene as BODY.ties: versioned, checksummed, replaced as a whole.
/// @param cells of the body, saved before
SN_API sn_status sn_ties_save(const char* path, const sn_model* model, uint32_t body,
                              const sn_cells* cells, sn_error* err);

/// BODY.fields, opened for reading. A run may still be appending to it.
typedef struct sn_fields sn_fields;

/// What a file of fields holds.
typedef struct sn_fields_info {
  uint32_t frame_count;
  int first_frame;  ///< number of the first one; the others follow without gaps
  uint32_t fields;  ///< a bit 1 << sn_flesh_field for each
} sn_fields_info;

/// One frame of it.
typedef struct sn_fields_frame {
  int frame;                            ///< its number
  const float* displacements;           ///< of the nodes (3 x node_count)
  const float* values[SN_FIELD_COUNT];  ///< by sn_flesh_field; NULL: not kept (cell_count)
  const sn_contact_point* contacts;     ///< (contact_count)
  uint32_t contact_count;
} sn_fields_frame;

/// @param cells that the fields must belong to; they may be destroyed before the file is closed
SN_API sn_status sn_fields_open(const char* path, const sn_cells* cells, sn_fields** fields,
                                sn_error* err);
/// What was there when it was opened.
SN_API sn_fields_info sn_fields_get_info(const sn_fields* fields);
/// A frame, counted from 0. What `frame` points to is valid until the next call. SN_ERR_INPUT if its
/// checksum is wrong.
SN_API sn_status sn_fields_read(sn_fields* fields, uint32_t index, sn_fields_frame* frame,
                                sn_error* err);
/// NULL is fine.
SN_API void sn_fields_close(sn_fields* fields);

/// The animated pose of a body, read a frame at a time: what sn_body_desc.pose has, without holding all of
/// it.
typedef struct sn_pose sn_pose;

/// *pose is NULL where the body has none. @param scene its text with every default filled in, as
/// sn_scene_json and the scene.json of a run have it; the rest of it is not read
/// @param vertex_count of the body's surface; a pose with another number is refused
SN_API sn_status sn_pose_open(const sn_scene_source* scene, uint32_t body, uint32_t vertex_count,
                              sn_pose** pose, sn_error* err);
/// Where the vertices are at a frame, which may be fractional, in metres. One call at a time.
/// @param places (3 x vertex_count)
SN_API sn_status sn_pose_read(sn_pose* pose, double frame, float* places, sn_error* err);
/// NULL is fine.
SN_API void sn_pose_close(sn_pose* pose);

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
/// resume, load the checkpoint into `state`, check the caches against their checksums and cut them and the
/// statistics back to it. Where that fails after an earlier result.json has been removed, a new one says
/// why. SN_ERR_IO if another run is writing to the folder.
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
/// Keep a message of the log in messages.jsonl, where viewers find it. One that is there already is not
/// added again, so a resumed run may say all it has to say. A new run begins without any.
SN_API sn_status sn_run_message(sn_run* run, sn_log_level level, const char* text, sn_error* err);
/// Write result.json, the last file of a run. @param status how it ended: SN_OK is "done",
/// SN_ERR_INTERRUPTED "interrupted", all others "failed" @param reason in words; may be NULL
SN_API sn_status sn_run_finish(sn_run* run, sn_status status, const char* reason, sn_error* err);
/// NULL is fine. Without sn_run_finish the folder has no result.json.
SN_API void sn_run_close(sn_run* run);
/// What sn_run_verify found.
typedef struct sn_run_findings {
  uint32_t file_count, frame_count;  ///< looked at
  uint32_t damaged_count;            ///< files that are not as they were written
} sn_run_findings;

/// Compare all files of a run with their checksums, and read those that have none. @param tell told of each
/// file that is damaged, in words; may be NULL @return SN_ERR_INPUT if the folder is not that of a run;
/// damaged files are in `findings`
SN_API sn_status sn_run_verify(const char* folder, void (*tell)(void* user, const char* text),
                               void* user, sn_run_findings* findings, sn_error* err);
/// Is a program writing to this folder now? If not, and there is no result.json, the run was killed.
SN_API bool sn_run_is_going_on(const char* folder);

/// Which way is up in what is exported.
typedef enum sn_export_axes {
  SN_AXES_FORMAT,  ///< as the format wants it; without a wish, as the run has it
  SN_AXES_Y_UP,
  SN_AXES_Z_UP
} sn_export_axes;

/// What sn_export is to write. Zeroed but for `folder` and `format` it exports everything.
typedef struct sn_export_opts {
  const char* folder;           ///< of a run, also of one that is not finished
  const char* format;           ///< a name that sn_export_format knows: "glb"
  const char* out;              ///< a file with the format's ending, or a folder; NULL: in `folder`
  const char* body;             ///< only this one; NULL: all
  int first_frame, last_frame;  ///< inclusive; 0, 0: all that are there
  double fps;                   ///< frames a second; 0: the scene's
  sn_export_axes axes;
  double scale;  ///< of all lengths, on top of the format's own unit; 0 is 1
  /// Told before each frame that is written, may be NULL. @param body its name
  void (*progress)(void* user, const char* body, int frame, int last_frame);
  /// Told of each file once it is complete, may be NULL.
  void (*written)(void* user, const char* path);
  void* user;  ///< handed to both functions
} sn_export_opts;

/// Write what a run left into files for other programs: one or more for each body, complete or not at
/// all. Names of groups and materials and texture coordinates come from the body's surface file, if it
/// is still there as it was, else from the run's own BODY.obj.
SN_API sn_status sn_export(const sn_export_opts* opts, sn_error* err);
/// The name of a format of sn_export by its number, an sn_output_format. @param about one line, may be
/// NULL
/// @return NULL behind the last
SN_API const char* sn_export_format(int index, const char** about);

/// One line of stats.jsonl, without newline. @return length, as snprintf
SN_API int sn_stats_to_json(const sn_frame_stats* stats, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
