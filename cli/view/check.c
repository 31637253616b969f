#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../messages.h"

#define PATH_SIZE 4096

static sn_status make_folder(char path[PATH_SIZE], sn_error* err) {
  const char* place = getenv("TMPDIR");
  int length = snprintf(path, PATH_SIZE, "%s/sinew-check-XXXXXX", place && *place ? place : "/tmp");
  if (length > 0 && length < PATH_SIZE && mkdtemp(path)) return SN_OK;
  err->status = SN_ERR_IO;
  snprintf(err->text, sizeof err->text, "%.500s: a folder for a while cannot be made: %s", path,
           strerror(errno));
  path[0] = 0;
  return SN_ERR_IO;
}

// Files only: nothing else has been put there.
static void remove_folder(const char* path) {
  DIR* folder = opendir(path);
  struct dirent* entry;
  while (folder && (entry = readdir(folder)) != NULL) {
    if (entry->d_name[0] != '.') unlinkat(dirfd(folder), entry->d_name, 0);
  }
  if (folder) closedir(folder);
  rmdir(path);
}

// A run that has not begun. Cells are kept for fields only, so there must be some.
static sn_status write_folder(const char* path, sn_scene* scene, const sn_model* model,
                              sn_state* state, sn_error* err) {
  sn_run* run;
  uint32_t asked_for = scene->output.fields;
  sn_run_opts opts = {
      .folder = path, .first_frame = scene->first_frame, .last_frame = scene->last_frame};
  scene->output.fields |= 1u << SN_FIELD_J;
  sn_status status = sn_run_open(&opts, model, scene, state, &run, err);
  scene->output.fields = asked_for;
  if (status != SN_OK) return status;
  messages_keep_in(run);
  messages_keep_in(NULL);
  sn_run_close(run);
  return SN_OK;
}

static sn_status serve(const char* path, const char* folder, const server_options* o,
                       sn_error* err) {
  static view v;  // clients that are still there when we leave use it to the end
  const char* folders[1] = {folder};
  sn_status status = view_open(&v, folders, 1, err);
  v.runs[0].check = true;
  v.runs[0].source = path;
  if (status == SN_OK) status = server_run(&v, o, err);
  view_close(&v);
  return status;
}

sn_status check_show(const char* path, sn_scene* scene, const sn_model* model, sn_state* state,
                     const server_options* o, sn_error* err) {
  char folder[PATH_SIZE];
  sn_status status = make_folder(folder, err);
  if (status == SN_OK) status = write_folder(folder, scene, model, state, err);
  if (status == SN_OK) status = serve(path, folder, o, err);
  if (folder[0]) remove_folder(folder);
  return status;
}
