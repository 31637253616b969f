#include "io/messages.h"

#include <string.h>
#include <sys/stat.h>

#include "io/file.h"

// A run that complains about every frame is not to fill the disk.
#define MOST_BYTES ((size_t)1 << 20)
#define LINE_SIZE 8192  // a control character of a message takes six
#define TOO_MANY "more was said than is kept here"

json_t* sn_text_to_json(const char* text) {
  json_t* value = json_string(text ? text : "");
  char plain[sizeof((sn_error){0}.text)];
  size_t length = 0;
  if (value || !text) return value;
  for (; length < sizeof plain - 1 && text[length]; ++length) {
    unsigned char c = (unsigned char)text[length];
    plain[length] = c < 0x80 ? (char)c : '?';
  }
  return json_stringn(plain, length);
}

// @return length with the newline; 0: out of memory
static size_t write_line(sn_log_level level, const char* text, char line[LINE_SIZE]) {
  json_t* object = json_pack("{s:s, s:o}", "level", level == SN_LOG_WARNING ? "warning" : "info",
                             "text", sn_text_to_json(text));
  size_t length = json_dumpb(object, line, LINE_SIZE - 1, JSON_PRESERVE_ORDER);
  json_decref(object);
  if (length == 0 || length >= LINE_SIZE) return 0;
  line[length] = '\n';
  return length + 1;
}

static bool has_line(const char* bytes, size_t size, const char* line, size_t length) {
  for (size_t at = 0; at + length <= size;) {
    if (memcmp(bytes + at, line, length) == 0) return true;
    const char* end = memchr(bytes + at, '\n', size - at);
    if (!end) break;
    at = (size_t)(end - bytes) + 1;
  }
  return false;
}

static sn_status append(const char* path, const char* line, size_t length, sn_arena* arena,
                        sn_error* err) {
  char *bytes, last[LINE_SIZE];
  size_t size;
  sn_file file;
  SN_TRY(sn_file_read(path, arena, &bytes, &size, err));
  if (has_line(bytes, size, line, length)) return SN_OK;
  if (size > MOST_BYTES) {
    length = write_line(SN_LOG_WARNING, TOO_MANY, last);
    if (length == 0) return sn_fail_memory(err, LINE_SIZE);
    if (has_line(bytes, size, last, length)) return SN_OK;
    line = last;
  }
  // A line that a killed program left half written is written over.
  size_t end = size;
  while (end > 0 && bytes[end - 1] != '\n') --end;
  SN_TRY(sn_file_open(path, SN_FILE_UPDATE, &file, err));
  sn_status status = end < size ? sn_file_cut(&file, end, err) : SN_OK;
  if (status == SN_OK) status = sn_file_write_at(&file, end, line, length, err);
  sn_file_close(&file);
  return status;
}

sn_status sn_messages_append(const char* path, sn_log_level level, const char* text,
                             sn_arena* arena, sn_error* err) {
  char line[LINE_SIZE];
  struct stat info;
  size_t length = write_line(level, text, line);
  if (length == 0) return sn_fail_memory(err, sizeof line);
  if (stat(path, &info) != 0) return sn_file_write_atomic(path, line, length, err);
  sn_arena_mark mark = sn_arena_get_mark(arena);
  sn_status status = append(path, line, length, arena, err);
  sn_arena_release(arena, mark);
  return status;
}
