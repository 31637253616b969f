#include "io/vertex_values.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/file.h"
#include "io/ply.h"
#include "io/text.h"

#define FIELDS_MAX 3  // one more than a line may have

typedef struct csv_reader {
  const char* path;
  sn_text text;
  uint32_t vertex_count;
  double* values;
  uint8_t* seen;  // vertices that have their value (vertex_count)
  uint64_t count;
  int width;  // fields of a line: 1, or 2 with an index; 0: there was none yet
  sn_error* err;
} csv_reader;

#define FAIL(reader, format, ...)                                          \
  sn_fail((reader)->err, SN_ERR_INPUT, "%s:%llu: " format, (reader)->path, \
          (unsigned long long)(reader)->text.line, __VA_ARGS__)

static sn_status read_number(const csv_reader* reader, sn_token field, double* number) {
  if (sn_token_to_number(field, number) && isfinite(*number)) return SN_OK;
  return FAIL(reader, "%s; expected a finite number", sn_token_quote(field).text);
}

static sn_status read_vertex(const csv_reader* reader, sn_token field, uint64_t* vertex) {
  int64_t index;
  if (!sn_token_to_integer(field, &index) || index < 0 || index >= reader->vertex_count) {
    return FAIL(reader, "vertex %s; expected a whole number from 0 to %u",
                sn_token_quote(field).text, reader->vertex_count - 1);
  }
  if (reader->seen[index])
    return FAIL(reader, "vertex %lld again; expected each once", (long long)index);
  *vertex = (uint64_t)index;
  return SN_OK;
}

static sn_status read_line(csv_reader* reader, const sn_token* fields, int count) {
  if (reader->width == 0) reader->width = count;
  if (count != reader->width || count > 2) {
    return FAIL(reader, "%s%d fields; expected %s", count == FIELDS_MAX ? "more than 2, or " : "",
                count, reader->width == 1 ? "a value a line" : "index and value");
  }
  double value;
  SN_TRY(read_number(reader, fields[count - 1], &value));
  uint64_t vertex = reader->count++;
  if (count == 2) SN_TRY(read_vertex(reader, fields[0], &vertex));
  if (vertex >= reader->vertex_count) return SN_OK;  // counted, and told at the end
  reader->values[vertex] = value;
  reader->seen[vertex] = 1;
  return SN_OK;
}

static sn_status read_lines(csv_reader* reader) {
  bool may_be_heading = true;
  do {
    sn_token fields[FIELDS_MAX];
    int count = sn_token_split(sn_text_rest_of_line(&reader->text), fields, FIELDS_MAX);
    double number;
    if (count == 0) continue;
    bool is_heading = may_be_heading && !sn_token_to_number(fields[0], &number);
    may_be_heading = false;
    if (!is_heading) SN_TRY(read_line(reader, fields, count));
  } while (sn_text_next_line(&reader->text));
  return SN_OK;
}

sn_status sn_csv_parse_values(const char* path, const char* bytes, size_t size,
                              uint32_t vertex_count, sn_arena* arena, sn_vertex_values* values,
                              sn_error* err) {
  if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {  // mark of UTF-8
    bytes += 3;
    size -= 3;
  }
  csv_reader reader = {.path = path,
                       .text = {bytes, bytes + size, 1, false},
                       .vertex_count = vertex_count,
                       .err = err};
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &reader.values, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &reader.seen, err));
  SN_TRY(read_lines(&reader));
  *values = (sn_vertex_values){reader.values, reader.count};
  return SN_OK;
}

static bool ends_with(const char* path, const char* ending) {
  size_t length = strlen(path), ending_length = strlen(ending);
  return length >= ending_length && strcasecmp(path + length - ending_length, ending) == 0;
}

sn_status sn_vertex_values_read(const char* path, const char* property, uint32_t vertex_count,
                                sn_arena* arena, sn_vertex_values* values, sn_error* err) {
  char* bytes;
  size_t size;
  SN_TRY(sn_file_read(path, arena, &bytes, &size, err));
  if (ends_with(path, ".csv")) {
    SN_TRY(sn_csv_parse_values(path, bytes, size, vertex_count, arena, values, err));
  } else {
    SN_TRY(sn_ply_parse_values(path, bytes, size, property, arena, values, err));
  }
  SN_CHECK(values->count == vertex_count, err, SN_ERR_INPUT,
           "%s: %llu values; expected %u, one for each vertex of the surface", path,
           (unsigned long long)values->count, vertex_count);
  return SN_OK;
}
