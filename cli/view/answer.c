// From a path to the function that answers it.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "page.h"
#include "view.h"

// '#' stands for a number: the run, the body, and a frame, vertex, cell or muscle.
typedef struct route {
  const char* pattern;
  void (*answer)(view_request* r);
  const char* type;
} route;

#define JSON "application/json"
#define BINARY "application/octet-stream"

static const route ROUTES[] = {
    {"/api/runs", answer_runs, JSON},
    {"/api/#/scene", answer_scene, JSON},
    {"/api/#/stats", answer_stats, JSON},
    {"/api/#/messages", answer_messages, JSON},
    {"/api/#/result", answer_result, JSON},
    {"/api/#/body/#/surface", answer_surface, BINARY},
    {"/api/#/body/#/frame/#", answer_frame, BINARY},
    {"/api/#/body/#/skinned/#", answer_skinned, BINARY},
    {"/api/#/body/#/cells", answer_cells, BINARY},
    {"/api/#/body/#/fields/#", answer_fields, BINARY},
    {"/api/#/body/#/range", answer_range, JSON},
    {"/api/#/body/#/vertex/#", answer_vertex, BINARY},
    {"/api/#/body/#/cell/#", answer_cell, JSON},
    {"/api/#/body/#/defects", answer_defects, JSON},
    {"/api/#/body/#/muscles", answer_muscles, JSON},
    {"/api/#/body/#/muscle/#", answer_muscle, BINARY},
    {"/api/#/attachments/#", answer_attachments, BINARY},
    {"/api/#/bones/surface", answer_bones_surface, BINARY},
    {"/api/#/bones/frame/#", answer_bones_frame, BINARY},
    {"/api/#/colliders/surface", answer_colliders_surface, BINARY},
    {"/api/#/colliders/frame/#", answer_colliders_frame, BINARY},
};
#define ROUTE_COUNT (sizeof ROUTES / sizeof *ROUTES)

sn_status view_open(view* v, const char* const* folders, int count, sn_error* err) {
  *v = (view){0};
  for (int i = 0; i < count && i < VIEW_RUNS; ++i) {
    v->run_count++;
    sn_status status = run_open(folders[i], &v->runs[i], err);
    if (status != SN_OK) return status;
  }
  return SN_OK;
}

void view_close(view* v) {
  if (v->in_use) return;
  for (uint32_t i = 0; i < v->run_count; ++i) run_close(&v->runs[i]);
  *v = (view){0};
}

void answer_error(view_answer* a, int status, const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  view_answer_free(a);
  a->status = status;
  a->type = JSON;
  bytes_print(&a->bytes, "{\"error\": ");
  bytes_quote(&a->bytes, text);
  bytes_print(&a->bytes, "}\n");
}

void view_answer_free(view_answer* a) {
  bytes_free(&a->bytes);
  shared_drop(a->shared);
  if (a->file >= 0) close(a->file);
  *a = (view_answer){.file = -1};
}

size_t view_answer_read(const view_answer* a, uint64_t from, void* piece, size_t most) {
  if (from >= a->size) return 0;
  size_t size = a->size - from < most ? (size_t)(a->size - from) : most;
  if (a->file >= 0) return read_at(a->file, a->offset + from, piece, size) ? size : 0;
  const unsigned char* bytes = a->fixed ? a->fixed : a->shared ? a->shared->bytes : a->bytes.at;
  memcpy(piece, bytes + from, size);
  return size;
}

view_body* answer_body(const view_request* r) {
  if (r->number[1] < r->run->body_count) return &r->run->bodies[r->number[1]];
  answer_error(r->answer, 404, "there is no body %u; run %u has %u, counted from 0", r->number[1],
               r->number[0], r->run->body_count);
  return NULL;
}

// A number in its shortest form, so that each thing has one path only.
static const char* read_number(const char* at, uint32_t* number) {
  uint64_t value = 0;
  const char* begin = at;
  while (*at >= '0' && *at <= '9' && at - begin < 11) value = 10 * value + (uint64_t)(*at++ - '0');
  bool good = at > begin && value <= UINT32_MAX && (*begin != '0' || at == begin + 1);
  *number = (uint32_t)value;
  return good ? at : NULL;
}

static bool matches(const char* pattern, const char* path, uint32_t number[3]) {
  int count = 0;
  for (; *pattern; ++pattern) {
    if (*pattern != '#') {
      if (*path++ != *pattern) return false;
    } else {
      path = read_number(path, &number[count++]);
      if (!path) return false;
    }
  }
  return *path == 0;
}

// Another run may have begun in the folder; the page asks for the list of runs to hear of such things.
static void renew(view* v) {
  for (uint32_t i = 0; i < v->run_count && !v->exported; ++i) run_renew(&v->runs[i]);
}

static void follow(const route* found, view_request* r) {
  r->answer->status = 200;
  r->answer->type = found->type;
  if (found->answer == answer_runs) {
    renew(r->view);
    found->answer(r);
  } else if (r->number[0] >= r->view->run_count) {
    answer_error(r->answer, 404, "there is no run %u; the viewer has %u, counted from 0",
                 r->number[0], r->view->run_count);
  } else {
    r->run = &r->view->runs[r->number[0]];
    pthread_rwlock_rdlock(&r->run->lock);
    found->answer(r);
    pthread_rwlock_unlock(&r->run->lock);
  }
}

// Part of the page, if the path names one.
static bool answer_page(const char* path, view_answer* a) {
  const page_file* file = page_find(strcmp(path, "/") == 0 ? "/index.html" : path);
  if (!file && strcmp(path, "/") != 0) return false;
  if (!file) {
    answer_error(a, 404, "%s", PAGE_MISSING);
    return true;
  }
  a->status = 200;
  a->type = file->type;
  a->fixed = file->bytes;
  a->size = file->size;
  return true;
}

static void settle_size(view_answer* a) {
  if (a->bytes.failed) answer_error(a, 503, "out of memory; try again, or with smaller results");
  if (a->shared) a->size = a->shared->size;
  if (a->file < 0 && !a->fixed && !a->shared) a->size = a->bytes.size;
}

void view_answer_path(view* v, const char* path, const char* query, view_answer* answer) {
  view_request r = {.view = v, .query = query, .answer = answer};
  *answer = (view_answer){.file = -1};
  const route* found = NULL;
  for (size_t i = 0; i < ROUTE_COUNT && !found; ++i) {
    if (matches(ROUTES[i].pattern, path, r.number)) found = &ROUTES[i];
  }
  if (found) {
    follow(found, &r);
  } else if (!answer_page(path, answer)) {
    answer_error(answer, 404, "there is nothing at this path; docs/viewer.md lists all");
  }
  settle_size(answer);
}
