// The folder of a run. Order of writing within a frame: caches, statistics, checkpoint. A run that
// is killed in between leaves caches that are ahead of the checkpoint; resuming cuts them back. Before
// anything is cut, the checkpoint that is resumed from is the one that the next resume will find.
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "io/fields_file.h"
#include "io/file.h"
#include "io/json_load.h"
#include "io/lock.h"
#include "io/messages.h"
#include "io/pc2.h"
#include "scene/model.h"

#define MAX_PATH 4096

struct sn_run {
  sn_arena* arena;  // owns all that follows
  char* folder;
  sn_lock lock;  // on the folder
  sn_output_opts output;
  int cache_first_frame;  // first frame in the caches
  int next_frame, last_frame;
  int stored_frames, unconverged_frames;
  double seconds;
  sn_pc2** caches;            // a body each
  sn_fields_writer** fields;  // a body each; NULL: none are kept
  uint32_t body_count;
  bool begun;        // an earlier result.json is gone
  float* positions;  // room for the largest surface
  char* stats_text;  // room for a line
  size_t stats_size;
};

static sn_status join_path(const char* folder, const char* name, const char* ending,
                           char path[MAX_PATH], sn_error* err) {
  int length = snprintf(path, MAX_PATH, "%s/%s%s", folder, name, ending);
  SN_CHECK(length < MAX_PATH, err, SN_ERR_IO, "%s: the path is too long", folder);
  return SN_OK;
}

static sn_status remove_file(const sn_run* run, const char* name, sn_error* err) {
  char path[MAX_PATH];
  SN_TRY(join_path(run->folder, name, "", path, err));
  return sn_file_remove(path, err);
}

// Is this the name of a file that a run writes?
static bool is_own_file(const sn_scene* scene, const char* name, size_t length) {
  static const char* const NAMES[] = {"checkpoint", "messages.jsonl", "result.json", "scene.json",
                                      "stats.jsonl"};
  static const char* const ENDINGS[] = {".cells", ".fields", ".obj", ".pc2", ".pc2.sums", ".ties"};
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; ++i) {
    if (strlen(NAMES[i]) == length && memcmp(name, NAMES[i], length) == 0) return true;
  }
  for (uint32_t b = 0; b < scene->body_count; ++b) {
    size_t stem = strlen(scene->bodies[b].name);
    if (stem >= length || memcmp(name, scene->bodies[b].name, stem) != 0) continue;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; ++i) {
      if (strlen(ENDINGS[i]) == length - stem &&
          memcmp(name + stem, ENDINGS[i], length - stem) == 0) {
        return true;
      }
    }
  }
  return strncmp(name, "checkpoint-", 11) == 0 && strspn(name + 11, "0123456789") == length - 11;
}

// Files that a killed run had not finished. Nobody else writes to the folder now.
static sn_status remove_leftovers(const sn_run* run, const sn_scene* scene, sn_error* err) {
  DIR* folder = opendir(run->folder);
  if (!folder && errno == ENOMEM) return sn_fail_memory(err, sizeof(struct dirent));
  SN_CHECK(folder, err, SN_ERR_IO, "%s: cannot be read: %s", run->folder, strerror(errno));
  sn_status status = SN_OK;
  for (struct dirent* entry; status == SN_OK && (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".tmp") != 0) continue;
    if (is_own_file(scene, entry->d_name, length - 4))
      status = remove_file(run, entry->d_name, err);
  }
  closedir(folder);
  return status;
}

// Rest surface in the unit of the file it came from.
static sn_status write_rest_surface(const sn_run* run, const sn_scene* scene, uint32_t body,
                                    sn_error* err) {
  char path[MAX_PATH];
  sn_mesh mesh = scene->bodies[body].mesh;
  double* positions;
  sn_arena_mark mark = sn_arena_get_mark(run->arena);
  SN_TRY(join_path(run->folder, scene->bodies[body].name, ".obj", path, err));
  SN_TRY(SN_ARENA_NEW(run->arena, 3 * (size_t)mesh.vertex_count, &positions, err));
  for (size_t i = 0; i < 3 * (size_t)mesh.vertex_count; ++i) {
    positions[i] = mesh.positions[i] / scene->unit;
  }
  mesh.positions = positions;
  sn_status status = sn_mesh_save_obj(path, &mesh, err);
  sn_arena_release(run->arena, mark);
  return status;
}

// Keep the lines of frames up to `last`; an unfinished line at the end goes.
static sn_status cut_stats(sn_run* run, int last, sn_error* err) {
  char path[MAX_PATH];
  char* bytes;
  size_t size, kept = 0;
  SN_TRY(join_path(run->folder, "stats.jsonl", "", path, err));
  if (!sn_file_exists(path)) return sn_file_write_atomic(path, "", 0, err);
  sn_arena_mark mark = sn_arena_get_mark(run->arena);
  SN_TRY(sn_file_read(path, run->arena, &bytes, &size, err));
  for (size_t begin = 0; begin < size;) {
    const char* end = memchr(bytes + begin, '\n', size - begin);
    if (!end) break;
    size_t length = (size_t)(end - (bytes + begin)) + 1;
    json_error_t problem;
    bool starved;
    json_t* line = sn_json_load(bytes + begin, length, 0, &problem, &starved);
    if (starved) {
      sn_arena_release(run->arena, mark);
      return sn_fail_memory(err, length);
    }
    json_t* frame = json_object_get(line, "frame");
    if (json_is_integer(frame) && json_integer_value(frame) <= last) {
      run->unconverged_frames += json_is_false(json_object_get(line, "converged"));
      run->seconds += json_number_value(json_object_get(line, "seconds"));
      run->stored_frames++;
      memmove(bytes + kept, bytes + begin, length);
      kept += length;
    }
    json_decref(line);
    begin += length;
  }
  sn_status status = sn_file_write_atomic(path, bytes, kept, err);
  sn_arena_release(run->arena, mark);
  return status;
}

// Files of an earlier run that kept fields would no longer go with this one.
static sn_status remove_fields(const sn_run* run, const char* body, bool resumed, sn_error* err) {
  static const char* const ENDINGS[3] = {".cells", ".ties", ".fields"};
  for (int i = 0; i < 3; ++i) {
    char path[MAX_PATH];
    SN_TRY(join_path(run->folder, body, ENDINGS[i], path, err));
    if (!sn_file_exists(path)) continue;
    if (resumed) sn_log(SN_LOG_WARNING, "%s: removed, as output.fields is empty now", path);
    SN_TRY(sn_file_remove(path, err));
  }
  return SN_OK;
}

// What the records of fields refer to.
static sn_status save_cells(const sn_run* run, const sn_model* model, uint32_t body,
                            const char* name, sn_cells* cells, sn_error* err) {
  char path[MAX_PATH];
  SN_TRY(join_path(run->folder, name, ".cells", path, err));
  SN_TRY(sn_cells_save(path, cells, err));
  SN_TRY(join_path(run->folder, name, ".ties", path, err));
  return sn_ties_save(path, model, body, cells, err);
}

// Is there nothing left to be computed? Then nothing is to be lost either.
static bool is_complete(const sn_run* run, int last) { return last > 0 && last >= run->last_frame; }

// Go on after `last`, or start anew where that cannot be or is not wanted (0).
static sn_status open_body_fields(sn_run* run, const char* name, sn_cells* cells, int last,
                                  sn_fields_writer** writer, sn_error* err) {
  char path[MAX_PATH];
  sn_error why = {0};
  SN_TRY(join_path(run->folder, name, ".fields", path, err));
  if (last > 0) {
    sn_status status = sn_fields_continue(path, cells, run->output.fields, last, writer, &why);
    if (status == SN_OK) return SN_OK;
    SN_CHECK(status == SN_ERR_INPUT, err, status, "%s", why.text);
    if (is_complete(run, last)) {
      sn_log(SN_LOG_WARNING, "%s; it is left as it is, for no frame is left to be computed",
             why.text);
      return SN_OK;
    }
    sn_log(SN_LOG_WARNING, "%s; so it begins anew at frame %d", why.text, last + 1);
  }
  return sn_fields_start(path, cells, run->output.fields, writer, err);
}

// @param last frame after which they go on; 0: they start anew
static sn_status open_fields(sn_run* run, const sn_model* model, const sn_scene* scene, int last,
                             sn_error* err) {
  for (uint32_t b = 0; b < scene->body_count && !run->output.fields; ++b) {
    if (is_complete(run, last)) break;
    SN_TRY(remove_fields(run, scene->bodies[b].name, last > 0, err));
  }
  if (!run->output.fields) return SN_OK;
  SN_TRY(SN_ARENA_NEW(run->arena, scene->body_count, &run->fields, err));
  for (uint32_t b = 0; b < scene->body_count; ++b) {
    sn_cells cells;
    SN_TRY(sn_model_cells(model, b, &cells, err));
    const char* name = scene->bodies[b].name;
    sn_status status = save_cells(run, model, b, name, &cells, err);
    if (status == SN_OK) {
      status = open_body_fields(run, name, &cells, last, &run->fields[b], err);
    }
    sn_cells_destroy(&cells);
    SN_TRY(status);
  }
  return SN_OK;
}

// @param keep_frames of what is there; 0: they start anew
static sn_status open_caches(sn_run* run, const sn_scene* scene, uint32_t keep_frames,
                             sn_error* err) {
  int first = run->cache_first_frame;
  SN_TRY(SN_ARENA_NEW(run->arena, scene->body_count, &run->caches, err));
  run->body_count = scene->body_count;
  for (uint32_t b = 0; b < scene->body_count; ++b) {
    char path[MAX_PATH];
    uint32_t vertices = scene->bodies[b].mesh.vertex_count;
    SN_TRY(join_path(run->folder, scene->bodies[b].name, ".pc2", path, err));
    SN_TRY(keep_frames > 0
               ? sn_pc2_continue(path, vertices, first, keep_frames, true, &run->caches[b], err)
               : sn_pc2_start(path, vertices, first, true, &run->caches[b], err));
  }
  return SN_OK;
}

// The checkpoint to start from, or an empty path to start anew.
static sn_status find_checkpoint(const sn_run* run, const sn_run_opts* opts, char path[MAX_PATH],
                                 sn_error* err) {
  path[0] = 0;
  if (opts->resume == SN_RESUME_NO) return SN_OK;
  if (opts->resume == SN_RESUME_LAST) {
    SN_TRY(join_path(run->folder, "checkpoint", "", path, err));
    if (!sn_file_exists(path)) path[0] = 0;
    return SN_OK;
  }
  if (opts->resume_frame == opts->first_frame) return SN_OK;
  char ending[32];
  snprintf(ending, sizeof ending, "-%04d", opts->resume_frame - 1);
  SN_TRY(join_path(run->folder, "checkpoint", ending, path, err));
  SN_CHECK(sn_file_exists(path), err, SN_ERR_INPUT,
           "%s: not there; frame %d can be computed again only from a kept checkpoint of the frame "
           "before (\"output\": {\"keep_checkpoints\": true}), else use --resume",
           path, opts->resume_frame);
  return SN_OK;
}

// First frame of the caches that an earlier run left.
static sn_status find_cache_start(sn_run* run, const sn_scene* scene, sn_error* err) {
  char path[MAX_PATH];
  SN_TRY(join_path(run->folder, scene->bodies[0].name, ".pc2", path, err));
  return sn_pc2_read_first_frame(path, &run->cache_first_frame, err);
}

static sn_status start_anew(sn_run* run, const sn_model* model, const sn_scene* scene,
                            sn_error* err) {
  char path[MAX_PATH];
  SN_TRY(remove_file(run, "result.json", err));
  run->begun = true;
  SN_TRY(remove_file(run, "checkpoint", err));
  SN_TRY(remove_file(run, "messages.jsonl", err));
  SN_TRY(join_path(run->folder, "stats.jsonl", "", path, err));
  SN_TRY(sn_file_write_atomic(path, "", 0, err));
  for (uint32_t b = 0; b < scene->body_count; ++b) SN_TRY(write_rest_surface(run, scene, b, err));
  SN_TRY(open_caches(run, scene, 0, err));
  return open_fields(run, model, scene, 0, err);
}

// A kept checkpoint becomes the one that --resume finds: that of a later frame would no longer go with
// caches that are cut back.
static sn_status settle_checkpoint(const sn_run* run, const char* from, const sn_model* model,
                                   const sn_state* state, sn_error* err) {
  char path[MAX_PATH];
  SN_TRY(join_path(run->folder, "checkpoint", "", path, err));
  return strcmp(path, from) == 0 ? SN_OK : sn_state_save(model, state, path, err);
}

static sn_status start_from(sn_run* run, const char* checkpoint, const sn_model* model,
                            const sn_scene* scene, sn_state* state, sn_error* err) {
  SN_TRY(sn_state_load(model, state, checkpoint, err));
  SN_TRY(find_cache_start(run, scene, err));
  int frame = sn_state_frame(state);
  SN_CHECK(
      run->cache_first_frame == run->next_frame && frame >= run->next_frame, err, SN_ERR_INPUT,
      "%s: frame %d of caches that begin at %d, but the run begins at %d; run without --resume, "
      "or with the frames as they were",
      checkpoint, frame, run->cache_first_frame, run->next_frame);
  SN_TRY(open_caches(run, scene, (uint32_t)(frame - run->cache_first_frame + 1), err));
  SN_TRY(remove_file(run, "result.json", err));
  run->begun = true;
  run->next_frame = frame + 1;
  SN_TRY(settle_checkpoint(run, checkpoint, model, state, err));
  for (uint32_t b = 0; b < run->body_count; ++b) SN_TRY(sn_pc2_cut(run->caches[b], err));
  SN_TRY(open_fields(run, model, scene, frame, err));
  return cut_stats(run, frame, err);
}

static sn_status open_run(sn_run* run, const sn_run_opts* opts, const sn_model* model,
                          const sn_scene* scene, sn_state* state, sn_error* err) {
  char path[MAX_PATH];
  uint32_t most = 0;
  run->folder = sn_arena_copy_string(run->arena, opts->folder);
  if (!run->folder) return sn_fail_memory(err, strlen(opts->folder));
  run->output = scene->output;
  run->cache_first_frame = run->next_frame = opts->first_frame;
  run->last_frame = opts->last_frame;
  for (uint32_t b = 0; b < scene->body_count; ++b) {
    if (scene->bodies[b].mesh.vertex_count > most) most = scene->bodies[b].mesh.vertex_count;
  }
  SN_TRY(SN_ARENA_NEW(run->arena, 3 * (size_t)most, &run->positions, err));
  run->stats_size = 1024 + 16 * (size_t)sn_scene_most_newton(scene);
  SN_TRY(SN_ARENA_NEW(run->arena, run->stats_size, &run->stats_text, err));

  SN_TRY(sn_folder_create(run->folder, err));
  SN_TRY(sn_lock_take(run->folder, &run->lock, err));
  SN_TRY(remove_leftovers(run, scene, err));
  SN_TRY(find_checkpoint(run, opts, path, err));
  SN_TRY(path[0] ? start_from(run, path, model, scene, state, err)
                 : start_anew(run, model, scene, err));
  SN_TRY(join_path(run->folder, "scene.json", "", path, err));
  return sn_scene_save(path, scene, err);
}

sn_status sn_run_open(const sn_run_opts* opts, const sn_model* model, const sn_scene* scene,
                      sn_state* state, sn_run** run, sn_error* err) {
  sn_arena* arena;
  sn_run* opened;
  *run = NULL;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = SN_ARENA_NEW(arena, 1, &opened, err);
  if (status != SN_OK) {
    sn_arena_destroy(arena);
    return status;
  }
  opened->arena = arena;
  opened->lock.file.descriptor = -1;
  status = open_run(opened, opts, model, scene, state, err);
  if (status != SN_OK) {
    if (opened->begun) sn_run_finish(opened, status, err ? err->text : NULL, NULL);
    sn_run_close(opened);
    return status;
  }
  *run = opened;
  return SN_OK;
}

int sn_run_next_frame(const sn_run* run) { return run->next_frame; }

static sn_status append_stats(const sn_run* run, const sn_frame_stats* stats, sn_error* err) {
  char path[MAX_PATH];
  sn_file file;
  int length = sn_stats_to_json(stats, run->stats_text, run->stats_size - 1);
  SN_ASSERT(length > 0 && (size_t)length < run->stats_size - 1);
  run->stats_text[length] = '\n';
  SN_TRY(join_path(run->folder, "stats.jsonl", "", path, err));
  sn_status status = sn_file_open(path, SN_FILE_UPDATE, &file, err);
  SN_CHECK(status != SN_ERR_INPUT, err, SN_ERR_IO, "%s: is gone; it was there when the run began",
           path);
  SN_TRY(status);
  status = sn_file_write_at(&file, file.size, run->stats_text, (size_t)length + 1, err);
  if (status == SN_OK) status = sn_file_sync(&file, err);
  sn_file_close(&file);
  return status;
}

sn_status sn_run_append(sn_run* run, const sn_model* model, const sn_state* state,
                        const sn_frame_stats* stats, sn_error* err) {
  for (uint32_t b = 0; b < run->body_count; ++b) {
    sn_surface_extract(model, state, b, run->positions);
    SN_TRY(sn_pc2_append(run->caches[b], run->positions, err));
  }
  for (uint32_t b = 0; b < run->body_count && run->fields; ++b) {
    if (!run->fields[b]) continue;  // left as it was, for the run was complete
    SN_TRY(sn_fields_append(run->fields[b], model, state, b, err));
  }
  SN_TRY(append_stats(run, stats, err));
  run->stored_frames++;
  run->unconverged_frames += !stats->converged;
  run->seconds += stats->seconds;
  run->next_frame = stats->frame + 1;
  int count = stats->frame - run->cache_first_frame + 1;
  bool due = count % run->output.checkpoint_every == 0 || stats->frame >= run->last_frame;
  return due ? sn_run_checkpoint(run, model, state, err) : SN_OK;
}

sn_status sn_run_checkpoint(sn_run* run, const sn_model* model, const sn_state* state,
                            sn_error* err) {
  char path[MAX_PATH], ending[32];
  // Also after a power cut no checkpoint may be ahead of what it goes with.
  for (uint32_t b = 0; b < run->body_count && run->fields; ++b) {
    SN_TRY(sn_fields_sync(run->fields[b], err));
  }
  SN_TRY(join_path(run->folder, "checkpoint", "", path, err));
  SN_TRY(sn_state_save(model, state, path, err));
  if (!run->output.keep_checkpoints) return SN_OK;
  snprintf(ending, sizeof ending, "-%04d", sn_state_frame(state));
  SN_TRY(join_path(run->folder, "checkpoint", ending, path, err));
  return sn_state_save(model, state, path, err);
}

sn_status sn_run_message(sn_run* run, sn_log_level level, const char* text, sn_error* err) {
  char path[MAX_PATH];
  SN_TRY(join_path(run->folder, "messages.jsonl", "", path, err));
  return sn_messages_append(path, level, text, run->arena, err);
}

sn_status sn_run_finish(sn_run* run, sn_status status, const char* reason, sn_error* err) {
  char path[MAX_PATH];
  const char* outcome = status == SN_OK                ? "done"
                        : status == SN_ERR_INTERRUPTED ? "interrupted"
                                                       : "failed";
  SN_TRY(join_path(run->folder, "result.json", "", path, err));
  json_t* result = json_pack(
      "{s:s, s:o, s:i, s:[i,i], s:i, s:i, s:i, s:f}", "outcome", outcome, "reason",
      sn_text_to_json(reason), "exit_code", (int)status, "frames", run->cache_first_frame,
      run->last_frame, "last_frame", run->next_frame - 1, "stored_frames", run->stored_frames,
      "unconverged_frames", run->unconverged_frames, "seconds", run->seconds);
  char text[8192];  // a control character of the reason takes six
  size_t length = json_dumpb(result, text, sizeof text, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
  json_decref(result);
  if (length == 0) return sn_fail_memory(err, sizeof text);
  SN_ASSERT(length <= sizeof text);
  return sn_file_write_atomic(path, text, length, err);
}

void sn_run_close(sn_run* run) {
  if (!run) return;
  for (uint32_t b = 0; b < run->body_count; ++b) sn_pc2_close(run->caches[b]);
  for (uint32_t b = 0; b < run->body_count && run->fields; ++b) sn_fields_finish(run->fields[b]);
  sn_lock_drop(&run->lock);
  sn_arena_destroy(run->arena);
}
