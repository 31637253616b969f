// What is said of a body: its surface, frames, cells and fields.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view.h"

// Frames that a range looks at, at most; the first and the last are among them.
#define RANGE_FRAMES 32
#define PIECE 4096

static void answer_not_stored(const view_request* r, frame_span span) {
  if (span.count > 0) {
    answer_error(r->answer, 404, "frame %u is not stored; frames %d to %lld are", r->number[2],
                 span.first, (long long)span.first + (long long)span.count - 1);
  } else {
    answer_error(r->answer, 404, "frame %u is not stored; no frame is", r->number[2]);
  }
}

static void answer_file(view_answer* a, int file, uint64_t offset, uint64_t size) {
  a->file = file;
  a->offset = offset;
  a->size = size;
}

void answer_surface(view_request* r) {
  const view_body* body = answer_body(r);
  if (body) r->answer->shared = shared_hold(body->surface);
}

// What was damaged on the disk is not shown as if it were flesh.
static bool is_intact(const view_run* run, const view_body* body, uint32_t index, sn_error* err) {
  char path[sizeof run->folder.path + 256];
  snprintf(path, sizeof path, "%s/%s.pc2", run->folder.path, body->name);
  return sn_pc2_check_frame(path, index, err) == SN_OK;
}

void answer_frame(view_request* r) {
  const view_body* body = answer_body(r);
  int file;
  sn_error err = {0};
  if (!body) return;
  frame_span span = run_stored(r->run, r->number[1], &file);
  if (span_has(span, r->number[2]) &&
      !is_intact(r->run, body, r->number[2] - (uint32_t)span.origin, &err)) {
    close(file);
    answer_error(r->answer, 404, "%s", err.text);
  } else if (span_has(span, r->number[2])) {
    answer_file(r->answer, file, cache_offset(span, body->vertex_count, r->number[2]),
                12 * (uint64_t)body->vertex_count);
  } else {
    if (file >= 0) close(file);
    answer_not_stored(r, span);
  }
}

void answer_skinned(view_request* r) {
  view_body* body = answer_body(r);
  sn_error err = {0};
  if (!body) return;
  if (!body->pose) {
    answer_error(r->answer, 404, "body \"%s\" has no animated pose", body->name);
  } else if (!run_has_frame(r->run, r->number[2])) {
    answer_error(r->answer, 404, "frame %u is not one of the scene's %d to %d", r->number[2],
                 r->run->first_frame, r->run->last_frame);
  } else {
    size_t count = 3 * (size_t)body->vertex_count;
    float* to = bytes_take(&r->answer->bytes, count * sizeof *to);
    if (!to) return;
    if (run_read_pose(body, r->number[2], to, &err) != SN_OK) {
      answer_error(r->answer, 404, "%s", err.text);
      return;
    }
    for (size_t i = 0; i < count; ++i) to[i] = (float)((double)to[i] / r->run->unit);
  }
}

void answer_cells(view_request* r) {
  const view_body* body = answer_body(r);
  struct stat info;
  cells_header header;
  if (!body) return;
  int file = folder_file(&r->run->folder, body->name, ".cells", &info);
  if (file >= 0 && cells_read_header(file, (uint64_t)info.st_size, &header)) {
    answer_file(r->answer, file, 0, (uint64_t)info.st_size);
    return;
  }
  if (file >= 0) close(file);
  answer_error(r->answer, 404,
               "body \"%s\" has no cells here; a run keeps them if the scene has output.fields",
               body->name);
}

// Records

// A BODY.fields that is open, and what is in it.
typedef struct open_fields {
  int file;  // -1: there is none
  struct stat info;
  frame_span span;
  uint32_t fields, cells;
} open_fields;

static open_fields open_records(const view_run* run, view_body* body) {
  open_fields f = {.file = -1};
  f.file = folder_file(&run->folder, body->name, ".fields", &f.info);
  if (f.file < 0) return f;
  record_summary found = records_update(&body->records, f.file, &f.info);
  f.span = (frame_span){found.first_frame, found.count, found.first_frame};
  f.fields = found.fields;
  f.cells = found.cells;
  if (run->clip_first && f.span.count > 0) {
    int64_t last = (int64_t)f.span.first + f.span.count - 1;
    if (last > run->clip_last) last = run->clip_last;
    if (f.span.first < run->clip_first) f.span.first = run->clip_first;
    f.span.count = last < f.span.first ? 0 : (uint32_t)(last - f.span.first + 1);
  }
  return f;
}

void answer_fields(view_request* r) {
  view_body* body = answer_body(r);
  record_place place;
  if (!body) return;
  open_fields f = open_records(r->run, body);
  if (f.file >= 0 && span_has(f.span, r->number[2]) &&
      records_find(&body->records, f.file, &f.info, r->number[2], &place)) {
    answer_file(r->answer, f.file, place.offset, place.size);
    return;
  }
  if (f.file >= 0) close(f.file);
  answer_not_stored(r, f.span);
}

void answer_cell(view_request* r) {
  view_body* body = answer_body(r);
  byte_buffer* out = &r->answer->bytes;
  record_place place;
  if (!body) return;
  open_fields f = open_records(r->run, body);
  if (r->number[2] >= f.cells) {
    answer_error(r->answer, 404, "body \"%s\" has no cell %u with fields; it has %u, from 0",
                 body->name, r->number[2], f.cells);
  } else {
    const char* between = "";
    bytes_print(out, "{");
    for (int field = 0; field < SN_FIELD_CONTACTS; ++field) {
      if (!(f.fields >> field & 1)) continue;
      bytes_print(out, "%s\"%s\": [", between, sn_field_name((sn_flesh_field)field));
      for (uint32_t i = 0; i < f.span.count; ++i) {
        float value = NAN;
        int64_t frame = (int64_t)f.span.first + i;
        if (records_find(&body->records, f.file, &f.info, frame, &place)) {
          uint64_t at = record_field_at(&place, field) + 4 * (uint64_t)r->number[2];
          if (!read_at(f.file, at, &value, sizeof value)) value = NAN;
        }
        if (i) bytes_print(out, ",");
        bytes_number(out, (double)value);
      }
      bytes_print(out, "]");
      between = ", ";
    }
    bytes_print(out, "}\n");
  }
  if (f.file >= 0) close(f.file);
}

void answer_vertex(view_request* r) {
  const view_body* body = answer_body(r);
  int file;
  if (!body) return;
  if (r->number[2] >= body->vertex_count) {
    answer_error(r->answer, 404, "there is no vertex %u; body \"%s\" has %u, counted from 0",
                 r->number[2], body->name, body->vertex_count);
    return;
  }
  frame_span span = run_stored(r->run, r->number[1], &file);
  for (uint32_t i = 0; i < span.count; ++i) {
    float place[3];
    uint64_t at = cache_offset(span, body->vertex_count, (uint32_t)span.first + i) +
                  12 * (uint64_t)r->number[2];
    if (!read_at(file, at, place, sizeof place)) break;
    bytes_add(&r->answer->bytes, place, sizeof place);
  }
  if (file >= 0) close(file);
}

// Ranges

typedef struct range {
  double least, most;
} range;

static const range EMPTY = {INFINITY, -INFINITY};

static void widen(range* to, double value) {
  if (!isfinite(value)) return;
  if (value < to->least) to->least = value;
  if (value > to->most) to->most = value;
}

// `count` numbers of a file, piece by piece.
static void widen_by_numbers(range* to, int file, uint64_t at, uint64_t count) {
  float piece[PIECE];
  while (count > 0) {
    size_t take = count < PIECE ? (size_t)count : PIECE;
    if (!read_at(file, at, piece, take * sizeof *piece)) return;
    for (size_t i = 0; i < take; ++i) widen(to, (double)piece[i]);
    at += take * sizeof *piece;
    count -= take;
  }
}

static void widen_by_displacements(range* to, const view_body* body, int file, uint64_t at) {
  float piece[3 * PIECE];
  for (uint32_t begin = 0; begin < body->vertex_count; begin += PIECE) {
    uint32_t left = body->vertex_count - begin, take = left < PIECE ? left : PIECE;
    if (!read_at(file, at + 12 * (uint64_t)begin, piece, 12 * (size_t)take)) return;
    for (uint32_t v = 0; v < take; ++v) {
      const float *p = piece + 3 * (size_t)v, *q = body->rest + 3 * ((size_t)begin + v);
      double x = (double)p[0] - (double)q[0], y = (double)p[1] - (double)q[1];
      double z = (double)p[2] - (double)q[2];
      widen(to, sqrt(x * x + y * y + z * z));
    }
  }
}

static void widen_by_contacts(range* depth, range* force, int file, const record_place* place) {
  uint64_t at = record_contacts_at(place);
  for (uint32_t i = 0; i < place->contacts; ++i) {
    sn_contact_point contact;
    _Static_assert(sizeof contact == CONTACT_BYTES, "contacts are stored as they are");
    if (!read_at(file, at + CONTACT_BYTES * (uint64_t)i, &contact, sizeof contact)) return;
    widen(depth, (double)contact.depth);
    widen(force, (double)contact.force);
  }
}

// The frames that a range looks at: all, or evenly chosen ones.
static int sample_frame(frame_span span, uint32_t sample, uint32_t samples) {
  if (samples < 2) return span.first;
  return span.first + (int)((uint64_t)sample * (span.count - 1) / (samples - 1));
}

static void print_range(byte_buffer* out, const char* name, range found, const char** between) {
  if (found.least > found.most) return;
  bytes_print(out, "%s\"%s\": [", *between, name);
  bytes_number(out, found.least);
  bytes_print(out, ", ");
  bytes_number(out, found.most);
  bytes_print(out, "]");
  *between = ", ";
}

static void range_of_displacements(view_request* r, const view_body* body, const char** between) {
  int file;
  range found = EMPTY;
  frame_span span = run_stored(r->run, r->number[1], &file);
  uint32_t samples = span.count < RANGE_FRAMES ? span.count : RANGE_FRAMES;
  for (uint32_t i = 0; i < samples; ++i) {
    uint32_t frame = (uint32_t)sample_frame(span, i, samples);
    widen_by_displacements(&found, body, file, cache_offset(span, body->vertex_count, frame));
  }
  if (file >= 0) close(file);
  print_range(&r->answer->bytes, "displacement", found, between);
}

static void range_of_fields(view_request* r, view_body* body, const char** between) {
  open_fields f = open_records(r->run, body);
  range found[SN_FIELD_COUNT + 1];
  record_place place;
  for (int k = 0; k <= SN_FIELD_COUNT; ++k) found[k] = EMPTY;
  range *depth = &found[SN_FIELD_CONTACTS], *force = &found[SN_FIELD_COUNT];
  uint32_t samples = f.span.count < RANGE_FRAMES ? f.span.count : RANGE_FRAMES;
  for (uint32_t i = 0; f.file >= 0 && i < samples; ++i) {
    int frame = sample_frame(f.span, i, samples);
    if (!records_find(&body->records, f.file, &f.info, frame, &place)) break;
    for (int k = 0; k < SN_FIELD_CONTACTS; ++k) {
      uint64_t at = record_field_at(&place, k);
      if (at) widen_by_numbers(&found[k], f.file, at, place.cells);
    }
    if (place.fields >> SN_FIELD_CONTACTS & 1) {
      widen(depth, 0);
      widen(force, 0);
      widen_by_contacts(depth, force, f.file, &place);
    }
  }
  if (f.file >= 0) close(f.file);
  for (int k = 0; k < SN_FIELD_CONTACTS; ++k) {
    print_range(&r->answer->bytes, sn_field_name((sn_flesh_field)k), found[k], between);
  }
  print_range(&r->answer->bytes, "penetration", *depth, between);
  print_range(&r->answer->bytes, "force", *force, between);
}

void answer_range(view_request* r) {
  view_body* body = answer_body(r);
  const char* between = "";
  if (!body) return;
  bytes_print(&r->answer->bytes, "{");
  range_of_displacements(r, body, &between);
  range_of_fields(r, body, &between);
  bytes_print(&r->answer->bytes, "}\n");
}
