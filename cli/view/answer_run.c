// What is said of a run as a whole, in JSON.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view.h"

#define RESULT_MOST ((size_t)1 << 20)
#define LINE_MOST ((size_t)1 << 20)

static void print_span(byte_buffer* out, const char* key, frame_span span) {
  if (span.count > 0) {
    bytes_print(out, "\"%s\": [%d, %lld]", key, span.first,
                (long long)span.first + (long long)span.count - 1);
  } else {
    bytes_print(out, "\"%s\": null", key);
  }
}

// `count` names, each with a zero behind it, from `*at` on.
static void print_names(byte_buffer* out, const char* key, uint32_t count, const char** at,
                        const char* end) {
  bytes_print(out, ", \"%s\": [", key);
  for (uint32_t i = 0; i < count; ++i) {
    const char* stop = memchr(*at, 0, (size_t)(end - *at));
    if (!stop) break;
    if (i) bytes_print(out, ", ");
    bytes_quote(out, *at);
    *at = stop + 1;
  }
  bytes_print(out, "]");
}

// Materials from BODY.cells; muscles as the scene has them, if it can be read.
static void print_cell_names(byte_buffer* out, const view_run* run, const view_body* body, int file,
                             const cells_header* header) {
  char* names = header->name_bytes <= RESULT_MOST ? malloc((size_t)header->name_bytes + 1) : NULL;
  bool read = names && (!header->name_bytes ||
                        (file >= 0 && read_at(file, header->names_at, names, header->name_bytes)));
  const char *at = names, *end = names ? names + header->name_bytes : NULL;
  print_names(out, "materials", read ? header->materials : 0, &at, end);
  if (run->scene) {
    bytes_print(out, ", \"muscles\": [");
    for (uint32_t m = 0; m < body->muscle_count; ++m) {
      if (m) bytes_print(out, ", ");
      bytes_quote(out, run->scene->muscles[body->muscle_numbers[m]].name);
    }
    bytes_print(out, "]");
  } else {
    print_names(out, "muscles", read ? header->muscles : 0, &at, end);
  }
  free(names);
}

static void print_cells(byte_buffer* out, const view_run* run, const view_body* body) {
  struct stat info;
  cells_header header = {0};
  int file = folder_file(&run->folder, body->name, ".cells", &info);
  bool good = file >= 0 && cells_read_header(file, (uint64_t)info.st_size, &header);
  if (!good) header = (cells_header){0};
  bytes_print(out, ", \"cells\": %u, \"levels\": %u, \"nodes\": %u, \"hanging\": %u", header.cells,
              good ? cells_read_levels(file, &header) : 0, header.nodes, header.hanging);
  print_cell_names(out, run, body, file, &header);
  if (file >= 0) close(file);
}

static void print_fields(byte_buffer* out, const view_run* run, view_body* body) {
  struct stat info;
  uint32_t fields = 0;
  int file = run->check ? -1 : folder_file(&run->folder, body->name, ".fields", &info);
  if (file >= 0) {
    fields = records_update(&body->records, file, &info).fields;
    close(file);
  }
  const char* between = "";
  bytes_print(out, ", \"fields\": [");
  for (int f = 0; f < SN_FIELD_COUNT; ++f) {
    if (!(fields >> f & 1)) continue;
    bytes_print(out, "%s\"%s\"", between, sn_field_name((sn_flesh_field)f));
    between = ", ";
  }
  bytes_print(out, "]");
}

static void print_body(byte_buffer* out, const view_run* run, uint32_t b) {
  view_body* body = &run->bodies[b];
  bytes_print(out, "{\"name\": ");
  bytes_quote(out, body->name);
  bytes_print(out, ", \"vertices\": %u, \"triangles\": %u, ", body->vertex_count,
              body->triangle_count);
  print_span(out, "stored", run_stored(run, b, NULL));
  bytes_print(out, ", \"skinned\": %s", body->pose ? "true" : "false");
  print_cells(out, run, body);
  print_fields(out, run, body);
  bytes_print(out, "}");
}

static void print_shape(byte_buffer* out, const char* name, const char* kind, const shape* s) {
  bytes_print(out, "{\"name\": ");
  bytes_quote(out, name);
  if (kind) bytes_print(out, ", \"shape\": \"%s\"", kind);
  bytes_print(out, ", \"vertices\": %u, \"triangles\": %u}", s->vertex_count, s->triangle_count);
}

static void print_shapes(byte_buffer* out, const view_run* run) {
  const sn_scene* scene = run->scene;
  bytes_print(out, ", \"bones\": [");
  for (uint32_t i = 0; scene && i < scene->bone_count; ++i) {
    if (i) bytes_print(out, ", ");
    print_shape(out, scene->bones[i].name, NULL, &run->bones[i]);
  }
  bytes_print(out, "], \"colliders\": [");
  for (uint32_t i = 0; scene && i < scene->collider_count; ++i) {
    if (i) bytes_print(out, ", ");
    print_shape(out, scene->colliders[i].name ? scene->colliders[i].name : "",
                shape_name(scene->colliders[i].kind), &run->colliders[i]);
  }
  bytes_print(out, "]");
}

// Without a result a run goes on, or somebody has ended it by force.
static const char* state_without_result(const view_run* run) {
  return sn_run_is_going_on(run->folder.path) ? "running" : "killed";
}

// How the run ended, or that it did not yet.
static void print_state(byte_buffer* out, const view_run* run) {
  char* text = folder_text(&run->folder, "result.json", RESULT_MOST, NULL);
  json_t* result = text ? json_loads(text, 0, NULL) : NULL;
  const char* outcome = json_string_value(json_object_get(result, "outcome"));
  const char* reason = json_string_value(json_object_get(result, "reason"));
  bytes_print(out, ", \"state\": ");
  bytes_quote(out, run->check ? "checked" : outcome ? outcome : state_without_result(run));
  bytes_print(out, ", \"reason\": ");
  bytes_quote(out, reason ? reason : "");
  json_decref(result);
  free(text);
}

static void print_run(byte_buffer* out, view_run* run, bool exported) {
  bytes_print(out, "{\"name\": ");
  bytes_quote(out, run->check ? run->source : run->name);
  bytes_print(out, ", \"folder\": ");
  bytes_quote(out, run->check ? run->source : run->folder.path);
  bytes_print(out, ", \"unit\": ");
  bytes_number(out, run->unit);
  bytes_print(out, ", \"up\": \"%c\", \"fps\": ", run->up);
  bytes_number(out, run->fps);
  bytes_print(out, ", \"frames\": [%d, %d], ", run->first_frame, run->last_frame);
  print_span(out, "stored", run_stored_by_all(run));
  print_state(out, run);
  bytes_print(out, ", \"exported\": %s, \"bodies\": [", exported ? "true" : "false");
  for (uint32_t b = 0; b < run->body_count; ++b) {
    if (b) bytes_print(out, ", ");
    print_body(out, run, b);
  }
  bytes_print(out, "]");
  print_shapes(out, run);
  bytes_print(out, "}");
}

void answer_runs(view_request* r) {
  byte_buffer* out = &r->answer->bytes;
  view* v = r->view;
  bytes_print(out, "{\"sinew\": \"%s\", \"mode\": \"%s\", \"runs\": [", sn_version(),
              v->runs[0].check ? "check" : "run");
  for (uint32_t i = 0; i < v->run_count; ++i) {
    if (i) bytes_print(out, ", ");
    pthread_rwlock_rdlock(&v->runs[i].lock);
    print_run(out, &v->runs[i], v->exported);
    pthread_rwlock_unlock(&v->runs[i].lock);
  }
  bytes_print(out, "]}\n");
}

void answer_scene(view_request* r) {
  if (r->run->scene_text) {
    bytes_add(&r->answer->bytes, r->run->scene_text, r->run->scene_size);
  } else {
    answer_error(r->answer, 404, "%s", r->run->trouble);
  }
}

void answer_result(view_request* r) {
  size_t size = 0;
  char* text = folder_text(&r->run->folder, "result.json", RESULT_MOST, &size);
  json_t* result = text ? json_loadb(text, size, 0, NULL) : NULL;
  if (result) {
    bytes_add(&r->answer->bytes, text, size);
  } else {
    bytes_print(&r->answer->bytes, "null\n");
  }
  json_decref(result);
  free(text);
}

// Lines of a file of JSON objects, one a line. What is not one, such as a line that is just being
// written, is left out.
typedef bool (*keep_line_fn)(const view_run* run, const json_t* object, uint32_t from);

// Is it a line of statistics of an earlier frame? They begin with it, so that most need not be parsed.
static bool is_before(const char* line, uint32_t from) {
  static const char BEGIN[] = "{\"frame\": ";
  if (from == 0 || strncmp(line, BEGIN, sizeof BEGIN - 1) != 0) return false;
  char* end;
  long frame = strtol(line + sizeof BEGIN - 1, &end, 10);
  return *end == ',' && frame < (long)from;
}

static void print_lines(view_request* r, const char* name, keep_line_fn keep, uint32_t from,
                        const char** between) {
  byte_buffer* out = &r->answer->bytes;
  int file = folder_file(&r->run->folder, name, "", NULL);
  FILE* lines = file >= 0 ? fdopen(file, "r") : NULL;
  char* line = NULL;
  size_t room = 0;
  ssize_t length;
  if (!lines && file >= 0) close(file);
  while (lines && (length = getline(&line, &room, lines)) > 0) {
    if (line[length - 1] != '\n' || (size_t)length > LINE_MOST) continue;
    if (is_before(line, from)) continue;
    json_t* object = json_loadb(line, (size_t)length, 0, NULL);
    if (json_is_object(object) && keep(r->run, object, from)) {
      bytes_print(out, "%s", *between);
      bytes_add(out, line, (size_t)length - 1);
      *between = ",\n";
    }
    json_decref(object);
  }
  free(line);
  if (lines) fclose(lines);
}

static bool is_frame_from(const view_run* run, const json_t* object, uint32_t from) {
  const json_t* frame = json_object_get(object, "frame");
  json_int_t number = json_integer_value(frame);
  if (!json_is_integer(frame) || number < (json_int_t)from) return false;
  return !run->clip_first || (number >= run->clip_first && number <= run->clip_last);
}

// "from=12", or nothing.
static bool read_from(const char* query, uint32_t* from) {
  *from = 0;
  if (!query || !*query) return true;
  if (strncmp(query, "from=", 5) != 0 || strlen(query) > 14 || !query[5]) return false;
  char* end;
  for (const char* c = query + 5; *c; ++c) {
    if (*c < '0' || *c > '9') return false;
  }
  unsigned long number = strtoul(query + 5, &end, 10);
  *from = number <= INT32_MAX ? (uint32_t)number : INT32_MAX;
  return *end == 0;
}

void answer_stats(view_request* r) {
  uint32_t from;
  const char* between = "";
  if (!read_from(r->query, &from)) {
    answer_error(r->answer, 400, "the query is not understood; expected ?from=FRAME, or none");
    return;
  }
  bytes_print(&r->answer->bytes, "[");
  print_lines(r, "stats.jsonl", is_frame_from, from, &between);
  bytes_print(&r->answer->bytes, "]\n");
}

static bool is_message(const view_run* run, const json_t* object, uint32_t from) {
  (void)run;
  (void)from;
  return json_is_string(json_object_get(object, "level")) &&
         json_is_string(json_object_get(object, "text"));
}

static void print_message(byte_buffer* out, const char* level, const char* text,
                          const char** between) {
  bytes_print(out, "%s{\"level\": \"%s\", \"text\": ", *between, level);
  bytes_quote(out, text);
  bytes_print(out, "}");
  *between = ",\n";
}

static void print_reason(view_request* r, const char** between) {
  char* text = folder_text(&r->run->folder, "result.json", RESULT_MOST, NULL);
  json_t* result = text ? json_loads(text, 0, NULL) : NULL;
  const char* outcome = json_string_value(json_object_get(result, "outcome"));
  const char* reason = json_string_value(json_object_get(result, "reason"));
  bool failed = outcome && strcmp(outcome, "failed") == 0;
  if (reason && *reason) {
    print_message(&r->answer->bytes, failed ? "error" : "info", reason, between);
  }
  json_decref(result);
  free(text);
}

void answer_messages(view_request* r) {
  byte_buffer* out = &r->answer->bytes;
  const char* between = "";
  bytes_print(out, "[");
  if (r->run->trouble[0]) print_message(out, "warning", r->run->trouble, &between);
  print_lines(r, "messages.jsonl", is_message, 0, &between);
  print_reason(r, &between);
  bytes_print(out, "]\n");
}
