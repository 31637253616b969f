// What the viewer shows: one run or two. Every path of its HTTP interface is answered by one function,
// which the server and the exported page share. docs/viewer.md has the paths.
#ifndef SN_CLI_VIEW_VIEW_H
#define SN_CLI_VIEW_VIEW_H

#include "run.h"

#define VIEW_RUNS 2

typedef struct view {
  view_run runs[VIEW_RUNS];
  uint32_t run_count;
  bool exported;  // into a file: nothing will change any more
  bool in_use;    // by a client that was still there when the server ended: never closed
} view;

// What a path comes to. Large things are not read but named: `size` bytes of a file from `offset` on.
typedef struct view_answer {
  int status;            // of HTTP
  const char* type;      // of the content
  byte_buffer bytes;     // owned
  const void* fixed;     // part of the program, `size` bytes; NULL: none
  shared_bytes* shared;  // held; NULL: none
  int file;              // owned; -1: none
  uint64_t offset;
  uint64_t size;  // of the content, wherever it is
} view_answer;

// The folders of one or two runs. Close it, also when it failed.
sn_status view_open(view* v, const char* const* folders, int count, sn_error* err);
void view_close(view* v);

// Answer a path such as "/api/0/body/0/frame/12". Never fails: what is wrong is in the answer. May be
// called by several threads at once. @param query what stands behind the question mark, or NULL
void view_answer_path(view* v, const char* path, const char* query, view_answer* answer);
// The next piece of an answer's content. @return bytes that were put into `piece`; 0: it cannot be read
size_t view_answer_read(const view_answer* answer, uint64_t from, void* piece, size_t most);
void view_answer_free(view_answer* answer);

// For those that make answers.
typedef struct view_request {
  view* view;
  view_run* run;       // NULL where the path names none
  uint32_t number[3];  // of run, body, and frame or whatever the path ends in
  const char* query;
  view_answer* answer;
} view_request;

SN_PRINTF(3, 4) void answer_error(view_answer* a, int status, const char* format, ...);
// The body that the path names, or NULL after an answer that there is none.
view_body* answer_body(const view_request* r);

void answer_runs(view_request* r);
void answer_scene(view_request* r);
void answer_stats(view_request* r);
void answer_messages(view_request* r);
void answer_result(view_request* r);
void answer_surface(view_request* r);
void answer_frame(view_request* r);
void answer_skinned(view_request* r);
void answer_cells(view_request* r);
void answer_fields(view_request* r);
void answer_range(view_request* r);
void answer_vertex(view_request* r);
void answer_cell(view_request* r);
void answer_attachments(view_request* r);
void answer_defects(view_request* r);
void answer_muscles(view_request* r);
void answer_muscle(view_request* r);
void answer_bones_surface(view_request* r);
void answer_bones_frame(view_request* r);
void answer_colliders_surface(view_request* r);
void answer_colliders_frame(view_request* r);

#endif
