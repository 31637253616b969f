// Answers are deflated (RFC 1951, without a header) and stand as base64 in elements of their own:
//
//   <script type="application/octet-stream" data-path="/api/0/body/0/frame/1">...</script>
//
// The page looks there before it asks a server. They pass through here in pieces, so that the file may be
// larger than the memory.
#include "export.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "page.h"

#define PIECE ((size_t)1 << 16)
#define PATH_SIZE 4096

typedef struct writer {
  FILE* file;
  view* view;
  unsigned char rest[3];  // of the bytes that are still to be encoded
  size_t rest_size;
  bool failed;
  char why[256];  // if it is not the file's fault
} writer;

static void put(writer* w, const void* bytes, size_t size) {
  if (!w->failed && fwrite(bytes, 1, size, w->file) != size) w->failed = true;
}

static void put_text(writer* w, const char* text) { put(w, text, strlen(text)); }

// Base64

static void put_group(writer* w, const unsigned char in[3], size_t size) {
  static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
  char out[4];
  for (int i = 0; i < 4; ++i) out[i] = DIGITS[bits >> (18 - 6 * i) & 63];
  if (size < 3) out[3] = '=';
  if (size < 2) out[2] = '=';
  put(w, out, sizeof out);
}

static void encode(writer* w, const unsigned char* bytes, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    w->rest[w->rest_size++] = bytes[i];
    if (w->rest_size == 3) {
      put_group(w, w->rest, 3);
      w->rest_size = 0;
    }
  }
}

static void end_encoding(writer* w) {
  for (size_t i = w->rest_size; i < 3; ++i) w->rest[i] = 0;
  if (w->rest_size > 0) put_group(w, w->rest, w->rest_size);
  w->rest_size = 0;
}

// Answers

static void deflate_piece(writer* w, z_stream* z, int flush) {
  unsigned char out[4096];
  do {
    z->next_out = out;
    z->avail_out = sizeof out;
    deflate(z, flush);
    encode(w, out, sizeof out - z->avail_out);
  } while (z->avail_out == 0);
}

static void deflate_answer(writer* w, const view_answer* a) {
  static unsigned char piece[PIECE];
  z_stream z = {0};
  if (deflateInit2(&z, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
    w->failed = true;
    snprintf(w->why, sizeof w->why, "out of memory");
    return;
  }
  for (uint64_t from = 0; from < a->size && !w->failed;) {
    size_t size = view_answer_read(a, from, piece, sizeof piece);
    if (size == 0) {
      w->failed = true;
      snprintf(w->why, sizeof w->why, "a file of the run has become shorter meanwhile; try again");
    }
    z.next_in = piece;
    z.avail_in = (uInt)size;
    deflate_piece(w, &z, Z_NO_FLUSH);
    from += size;
  }
  z.avail_in = 0;
  deflate_piece(w, &z, Z_FINISH);
  deflateEnd(&z);
  end_encoding(w);
}

// What there is no answer to, such as fields of a run without, is left out.
SN_PRINTF(2, 3) static void put_answer(writer* w, const char* format, ...) {
  char path[128];
  va_list args;
  va_start(args, format);
  vsnprintf(path, sizeof path, format, args);
  va_end(args);
  view_answer a;
  view_answer_path(w->view, path, NULL, &a);
  if (a.status == 503) {
    w->failed = true;
    snprintf(w->why, sizeof w->why, "out of memory");
  } else if (a.status == 200) {
    put_text(w, "<script type=\"application/octet-stream\" data-path=\"");
    put_text(w, path);
    put_text(w, "\">");
    deflate_answer(w, &a);
    put_text(w, "</script>\n");
  }
  view_answer_free(&a);
}

static void put_body(writer* w, uint32_t run, uint32_t body) {
  static const char* const ONCE[] = {"surface", "cells", "range", "defects", "muscles"};
  static const char* const EACH_FRAME[] = {"frame", "skinned", "fields"};
  const view_run* of = &w->view->runs[run];
  frame_span span = run_stored(of, body, NULL);
  for (int k = 0; k < 5; ++k) put_answer(w, "/api/%u/body/%u/%s", run, body, ONCE[k]);
  put_answer(w, "/api/%u/attachments/%u", run, body);
  for (uint32_t m = 0; m < of->bodies[body].muscle_count; ++m) {
    put_answer(w, "/api/%u/body/%u/muscle/%u", run, body, m);
  }
  for (uint32_t i = 0; i < span.count && !w->failed; ++i) {
    for (int k = 0; k < 3; ++k) {
      put_answer(w, "/api/%u/body/%u/%s/%u", run, body, EACH_FRAME[k], (uint32_t)span.first + i);
    }
  }
}

static void put_run(writer* w, uint32_t run) {
  static const char* const ONCE[] = {"scene",  "stats",         "messages",
                                     "result", "bones/surface", "colliders/surface"};
  for (int k = 0; k < 6; ++k) put_answer(w, "/api/%u/%s", run, ONCE[k]);
  for (uint32_t b = 0; b < w->view->runs[run].body_count; ++b) put_body(w, run, b);
  frame_span span = run_stored_by_all(&w->view->runs[run]);
  for (uint32_t i = 0; i < span.count && !w->failed; ++i) {
    put_answer(w, "/api/%u/bones/frame/%u", run, (uint32_t)span.first + i);
    put_answer(w, "/api/%u/colliders/frame/%u", run, (uint32_t)span.first + i);
  }
}

static void put_data(writer* w) {
  put_answer(w, "/api/runs");
  for (uint32_t i = 0; i < w->view->run_count; ++i) put_run(w, i);
}

// The page

// The file needs nothing from anywhere, and this keeps it so.
static const char POLICY[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">";

// The tag that names a file, from its `<` to behind its `>`. NULL: there is none.
static const char* find_tag(const char* from, const char* end, const char* name,
                            const char** tag_end) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\"", name);
  const char* at = memmem(from, (size_t)(end - from), quoted, strlen(quoted));
  const char* close = at ? memchr(at, '>', (size_t)(end - at)) : NULL;
  if (!close) return NULL;
  while (at > from && *at != '<') --at;
  *tag_end = close + 1;
  return *at == '<' ? at : NULL;
}

static void put_file(writer* w, const char* name) {
  const page_file* file = page_find(name);
  if (file) put(w, file->bytes, file->size);
}

static void put_icon(writer* w) {
  const page_file* icon = page_find("/favicon.svg");
  if (!icon) return;
  put_text(w, "<link rel=\"icon\" href=\"data:image/svg+xml;base64,");
  encode(w, icon->bytes, icon->size);
  end_encoding(w);
  put_text(w, "\">");
}

typedef struct replacement {
  const char* name;  // of a file that a tag names; NULL: the tag is `text`
  const char* text;
  void (*put)(writer* w);
} replacement;

static void put_head(writer* w) {
  put_text(w, "<head>");
  put_text(w, POLICY);
}

static void put_style(writer* w) {
  put_text(w, "<style>");
  put_file(w, "/viewer.css");
  put_text(w, "</style>");
}

static void put_nothing(writer* w) { (void)w; }

static void put_end(writer* w) {
  put_data(w);
  put_text(w, "<script type=\"module\">");
  put_file(w, "/viewer.js");
  put_text(w, "</script>\n</body>");
}

static const replacement REPLACEMENTS[] = {
    {NULL, "<head>", put_head},       {"/favicon.svg", NULL, put_icon},
    {"/viewer.css", NULL, put_style}, {"/viewer.js", "</script>", put_nothing},
    {NULL, "</body>", put_end},
};
#define REPLACEMENT_COUNT (sizeof REPLACEMENTS / sizeof *REPLACEMENTS)

// The next place of the page that is to be replaced.
static const replacement* find_next(const char* from, const char* end, const char** place,
                                    const char** place_end) {
  const replacement* next = NULL;
  for (size_t i = 0; i < REPLACEMENT_COUNT; ++i) {
    const replacement* one = &REPLACEMENTS[i];
    const char *at, *at_end = NULL;
    if (one->name) {
      at = find_tag(from, end, one->name, &at_end);
      size_t closing = one->text ? strlen(one->text) : 0;
      if (at && closing && (size_t)(end - at_end) >= closing) at_end += closing;
    } else {
      at = memmem(from, (size_t)(end - from), one->text, strlen(one->text));
      at_end = at ? at + strlen(one->text) : NULL;
    }
    if (!at || (next && at >= *place)) continue;
    next = one;
    *place = at;
    *place_end = at_end;
  }
  return next;
}

static void put_page(writer* w) {
  const page_file* page = page_find("/index.html");
  const char *at = (const char*)page->bytes, *end = at + page->size;
  const char *place = NULL, *place_end = NULL;
  const replacement* next;
  while (!w->failed && (next = find_next(at, end, &place, &place_end)) != NULL) {
    put(w, at, (size_t)(place - at));
    next->put(w);
    at = place_end;
  }
  put(w, at, (size_t)(end - at));
}

// The file

static sn_status fail(sn_error* err, const char* path, const char* why) {
  err->status = SN_ERR_IO;
  snprintf(err->text, sizeof err->text, "%.600s: cannot be written: %s", path, why);
  return SN_ERR_IO;
}

static sn_status write_file(view* v, const char* path, sn_error* err) {
  char temporary[PATH_SIZE];
  int length = snprintf(temporary, sizeof temporary, "%s.tmp", path);
  if (length < 0 || (size_t)length >= sizeof temporary) return fail(err, path, "too long a path");
  writer w = {.file = fopen(temporary, "wb"), .view = v};
  if (!w.file) return fail(err, path, strerror(errno));
  put_page(&w);
  errno = 0;
  if (fflush(w.file) != 0 || fsync(fileno(w.file)) != 0) w.failed = true;
  int reason = errno;
  if (fclose(w.file) != 0) w.failed = true;
  if (!w.failed && rename(temporary, path) == 0) return SN_OK;
  if (!w.failed) reason = errno;
  unlink(temporary);
  return fail(err, path, w.why[0] ? w.why : reason ? strerror(reason) : "the disk is full?");
}

static sn_status choose_frames(view* v, const int frames[2], sn_error* err) {
  bool found = false;
  frame_span first = run_stored_by_all(&v->runs[0]);
  if (!frames[0] && !frames[1]) return SN_OK;
  for (uint32_t i = 0; i < v->run_count; ++i) {
    v->runs[i].clip_first = frames[0];
    v->runs[i].clip_last = frames[1];
    found |= run_stored_by_all(&v->runs[i]).count > 0;
  }
  if (frames[0] >= 1 && frames[1] >= frames[0] && found) return SN_OK;
  err->status = SN_ERR_USAGE;
  snprintf(err->text, sizeof err->text,
           "--frames: frames %d to %d are asked for; expected some of the %u from %d on, which are "
           "stored",
           frames[0], frames[1], first.count, first.first);
  return SN_ERR_USAGE;
}

sn_status export_page(view* v, const char* path, const int frames[2], sn_error* err) {
  v->exported = true;
  sn_status status = choose_frames(v, frames, err);
  return status == SN_OK ? write_file(v, path, err) : status;
}
