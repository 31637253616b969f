// Requests to the viewer: the input is a path with its query, as a browser sends it. A small run with all there is to
// show lies in a folder.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/view/view.h"
#include "fuzz.h"

// Answers of a run this small are smaller than this.
#define MOST_ANSWER ((uint64_t)4 << 20)

static const char SCENE[] =
    "{\"frames\": [1, 2], \"bodies\": [{\"name\": \"body\", \"surface\": \"box.obj\", \"cell\": "
    "0.25},"
    "{\"name\": \"other\", \"surface\": \"small.obj\", \"cell\": 0.25,"
    " \"initial\": {\"translate\": [0, 2, 0]}}],"
    "\"bones\": [{\"name\": \"core\", \"capsule\": {\"from\": [0.3, 0.5, 0.5], \"to\": [0.7, 0.5, "
    "0.5],"
    " \"radius\": 0.2}}, {\"name\": \"mesh\", \"mesh\": \"small.obj\"}],"
    "\"attachments\": [{\"body\": \"body\", \"bone\": \"core\"}],"
    "\"fixed\": [{\"body\": \"body\", \"where\": {\"box\": [[-1, -1, -1], [2, 0.1, 2]]}}],"
    "\"muscles\": [{\"name\": \"pull\", \"body\": \"body\", \"mesh\": \"small.obj\", "
    "\"activation\": 0.5}],"
    "\"colliders\": [{\"shape\": \"plane\", \"position\": [0, -1, 0]},"
    " {\"shape\": \"sphere\", \"position\": [0, -2, 0], \"radius\": 1}],"
    "\"solver\": {\"newton\": {\"max\": 2}},"
    "\"output\": {\"fields\": [\"strain\", \"stress\", \"J\", \"pressure\", \"activation\", "
    "\"contacts\"]}}";

static void must(sn_status status, const sn_error* err) {
  if (status != SN_OK) fuzz_fail("%s", err->text);
}

static void simulate(const char* folder) {
  sn_scene* scene = NULL;
  sn_pool* pool = NULL;
  sn_model* model = NULL;
  sn_state* state = NULL;
  sn_run* run = NULL;
  sn_error err = {0};
  fuzz_write_boxes();
  sn_scene_source source = {.json = SCENE, .length = strlen(SCENE), .folder = fuzz_folder()};
  must(sn_scene_parse(&source, NULL, 0, &scene, &err), &err);
  must(sn_pool_create(1, &pool, &err), &err);
  must(sn_model_build(scene, pool, &model, &err), &err);
  must(sn_state_create(model, pool, &state, &err), &err);
  sn_run_opts opts = {.folder = folder, .first_frame = 1, .last_frame = 2};
  must(sn_run_open(&opts, model, scene, state, &run, &err), &err);
  must(sn_run_message(run, SN_LOG_WARNING, "a message", &err), &err);
  for (int frame = 1; frame <= 2; ++frame) {
    sn_frame_stats stats;
    must(sn_step(model, state, frame, &stats, &err), &err);
    must(sn_run_append(run, model, state, &stats, &err), &err);
  }
  must(sn_run_finish(run, SN_OK, NULL, &err), &err);
  sn_run_close(run);
  sn_state_destroy(state);
  sn_model_destroy(model);
  sn_pool_destroy(pool);
  sn_scene_destroy(scene);
}

static view* get_view(void) {
  static view v;
  if (v.run_count > 0) return &v;
  char folder[256];
  sn_error err = {0};
  snprintf(folder, sizeof folder, "%s", fuzz_path("run"));
  simulate(folder);
  const char* const folders[2] = {folder, folder};
  must(view_open(&v, folders, 2, &err), &err);
  return &v;
}

// All of it can be read, and none of it is more than there is.
static void take(const view_answer* answer) {
  static unsigned char piece[1 << 16];
  FUZZ_CHECK(answer->status >= 200 && answer->status < 600 && answer->type);
  FUZZ_CHECK(answer->size <= MOST_ANSWER);
  for (uint64_t at = 0; at < answer->size;) {
    size_t size = view_answer_read(answer, at, piece, sizeof piece);
    FUZZ_CHECK(size > 0);
    at += size;
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  view* v = get_view();
  // As the server hands it over: without zeros, path and query apart, each with a zero behind it.
  char* request = malloc(size + 1);
  FUZZ_CHECK(request);
  memcpy(request, data, size);
  request[size] = 0;
  char* query = strchr(request, '?');
  if (query) *query++ = 0;
  view_answer answer;
  view_answer_path(v, request, query, &answer);
  take(&answer);
  view_answer_free(&answer);
  free(request);
  return 0;
}
