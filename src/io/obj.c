// OBJ reader. Colours or weights behind the coordinates are never looked at, normal indices only so far
// as to know that they are integers. A group is what `g`, `o` or `usemtl` names: a face belongs to its
// object, to all groups of the last `g`, and to its material. Texture coordinates are an ornament: what
// is wrong with them is counted and told, but no reason to refuse a surface.
#include "io/obj.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "geometry/mesh_arrays.h"
#include "io/text.h"

#define NO_OBJECT UINT32_MAX
#define GROUPS_MAX \
  (SN_MESH_GROUPS_AT_ONCE - 2)  // of a `g`, which leaves room for object and material

typedef struct obj_reader {
  const char* path;
  sn_error* err;
  sn_text text;
  uint64_t line;  // where the statement began
  sn_mesh_builder builder;
  uint32_t object, material;    // groups of the current `o` and `usemtl`, or NO_OBJECT
  uint32_t groups[GROUPS_MAX];  // of the current `g`
  uint32_t group_count;
  int64_t last_vertex;        // the highest vertex that a face refers to, from 1
  uint64_t last_vertex_line;  // and where it does
  uint64_t bad_uvs;           // texture coordinates that are no numbers
  int64_t last_uv;            // the highest that a face refers to, from 1
} obj_reader;

static sn_status fail_here(obj_reader* reader, const char* format, ...) SN_PRINTF(2, 3);
static sn_status fail_here(obj_reader* reader, const char* format, ...) {
  char what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return sn_fail(reader->err, SN_ERR_INPUT, "%s:%llu: %s", reader->path,
                 (unsigned long long)reader->line, what);
}

// A trailing comment ends the line as well.
static bool next_value(obj_reader* reader, sn_token* token) {
  return sn_text_next_token(&reader->text, token) && token->start[0] != '#';
}

static sn_status read_vertex(obj_reader* reader) {
  double position[3];
  for (int axis = 0; axis < 3; ++axis) {
    sn_token token;
    if (!next_value(reader, &token)) {
      return fail_here(reader, "vertex with %d coordinates; expected three", axis);
    }
    if (!sn_token_to_number(token, position + axis) ||
        !sn_mesh_coordinate_is_valid(position[axis])) {
      return fail_here(reader, "%c coordinate %s; expected a finite number of magnitude up to %g",
                       "xyz"[axis], sn_token_quote(token).text, SN_MESH_COORDINATE_MAX);
    }
  }
  sn_vec3 vertex = {position[0], position[1], position[2]};
  return sn_mesh_builder_add_vertex(&reader->builder, vertex, reader->err);
}

static sn_status read_uv(obj_reader* reader) {
  float pair[2] = {0};
  bool good = true;
  for (int axis = 0; axis < 2; ++axis) {
    sn_token token;
    double value = 0.0;
    if (!next_value(reader, &token)) {
      good = good && axis > 0;  // v may be left out
      break;
    }
    good = good && sn_token_to_number(token, &value) && fabs(value) <= FLT_MAX;
    if (good) pair[axis] = (float)value;
  }
  reader->bad_uvs += !good;
  return sn_mesh_builder_add_uv(&reader->builder, good ? pair[0] : 0.0f, good ? pair[1] : 0.0f,
                                reader->err);
}

// "7", "7/1", "7//2", "7/1/2", also with nothing behind a slash. @param uv 0 without one
static bool corner_to_index(sn_token corner, int64_t* index, int64_t* uv) {
  const char* end = corner.start + corner.length;
  const char* at = corner.start;
  for (int part = 0; part < 3; ++part) {
    const char* slash = memchr(at, '/', (size_t)(end - at));
    sn_token digits = {at, (size_t)((slash ? slash : end) - at)};
    int64_t number = 0;
    bool is_integer = sn_token_to_integer(digits, &number);
    if (!is_integer && (part == 0 || digits.length > 0)) return false;
    if (part == 0) *index = number;
    if (part == 1) *uv = is_integer ? number : 0;
    if (!slash) return true;
    at = slash + 1;
  }
  return false;
}

// The texture coordinates of the last corner, which may stand further down.
static sn_status set_uv(obj_reader* reader, int64_t uv) {
  if (uv < 0) uv += (int64_t)sn_mesh_builder_uv_count(&reader->builder) + 1;
  if (uv <= 0 || uv >= UINT32_MAX) {
    ++reader->bad_uvs;
    return SN_OK;
  }
  if (uv > reader->last_uv) reader->last_uv = uv;
  return sn_mesh_builder_set_uv(&reader->builder, (uint32_t)(uv - 1), reader->err);
}

static sn_status read_corner(obj_reader* reader, sn_token token) {
  int64_t index = 0, uv = 0;
  if (!corner_to_index(token, &index, &uv)) {
    return fail_here(reader, "face corner %s; expected v, v/vt, v//vn or v/vt/vn",
                     sn_token_quote(token).text);
  }
  int64_t vertex_count = sn_mesh_builder_vertex_count(&reader->builder);
  if (index == 0) return fail_here(reader, "vertex index 0; expected 1 and up, or -1 and down");
  if (index < -vertex_count || index > UINT32_MAX) {
    return fail_here(reader,
                     "vertex index %lld with %lld vertices before it; expected a vertex "
                     "of the file",
                     (long long)index, (long long)vertex_count);
  }
  if (index < 0) index += vertex_count + 1;
  if (index > reader->last_vertex) {
    reader->last_vertex = index;
    reader->last_vertex_line = reader->line;
  }
  SN_TRY(sn_mesh_builder_add_corner(&reader->builder, (uint32_t)(index - 1), reader->err));
  return uv == 0 ? SN_OK : set_uv(reader, uv);
}

static sn_status read_face(obj_reader* reader) {
  uint64_t corner_count = 0;
  for (sn_token token; next_value(reader, &token); ++corner_count) {
    SN_TRY(read_corner(reader, token));
  }
  if (corner_count < 3) {
    return fail_here(reader, "face with %llu corners; expected three or more",
                     (unsigned long long)corner_count);
  }
  return sn_mesh_builder_end_face(&reader->builder, reader->err);
}

static sn_status use_groups(obj_reader* reader) {
  uint32_t groups[SN_MESH_GROUPS_AT_ONCE];
  memcpy(groups, reader->groups, sizeof reader->groups);
  uint32_t count = reader->group_count;
  if (reader->object != NO_OBJECT) groups[count++] = reader->object;
  if (reader->material != NO_OBJECT) groups[count++] = reader->material;
  return sn_mesh_builder_use_groups(&reader->builder, groups, count, reader->err);
}

static sn_status read_groups(obj_reader* reader) {
  reader->group_count = 0;
  for (sn_token name; next_value(reader, &name);) {
    if (reader->group_count == GROUPS_MAX) {
      return fail_here(reader, "a face in more than %d groups; expected fewer", GROUPS_MAX);
    }
    SN_TRY(sn_mesh_builder_find_group(&reader->builder, name.start, name.length,
                                      reader->groups + reader->group_count, reader->err));
    ++reader->group_count;
  }
  return use_groups(reader);
}

// Unlike a group's, the name of an object may contain blanks.
static sn_status read_object(obj_reader* reader) {
  sn_token name = sn_text_rest_of_line(&reader->text);
  reader->object = NO_OBJECT;
  if (name.length > 0) {
    SN_TRY(sn_mesh_builder_find_group(&reader->builder, name.start, name.length, &reader->object,
                                      reader->err));
  }
  return use_groups(reader);
}

static sn_status read_material(obj_reader* reader) {
  sn_token name = sn_text_rest_of_line(&reader->text);
  reader->material = NO_OBJECT;
  if (name.length > 0) {
    SN_TRY(sn_mesh_builder_find_group(&reader->builder, name.start, name.length, &reader->material,
                                      reader->err));
    SN_TRY(sn_mesh_builder_set_material(&reader->builder, reader->material, name.start, name.length,
                                        NULL, reader->err));
  }
  return use_groups(reader);
}

static sn_status read_statement(obj_reader* reader, sn_token keyword) {
  if (sn_token_is(keyword, "v")) return read_vertex(reader);
  if (sn_token_is(keyword, "f")) return read_face(reader);
  if (sn_token_is(keyword, "g")) return read_groups(reader);
  if (sn_token_is(keyword, "o")) return read_object(reader);
  if (sn_token_is(keyword, "vt")) return read_uv(reader);
  if (sn_token_is(keyword, "usemtl")) return read_material(reader);
  return SN_OK;
}

static sn_status read_statements(obj_reader* reader) {
  bool more = true;
  while (more) {
    reader->line = reader->text.line;
    sn_token keyword;
    bool is_comment = false;
    if (sn_text_next_token(&reader->text, &keyword)) {
      is_comment = keyword.start[0] == '#';
      if (!is_comment) SN_TRY(read_statement(reader, keyword));
    }
    more = is_comment ? sn_text_skip_comment(&reader->text) : sn_text_next_line(&reader->text);
  }
  return SN_OK;
}

// Checked at the end, because faces may stand before their vertices.
static sn_status check_last_vertex(obj_reader* reader) {
  uint32_t vertex_count = sn_mesh_builder_vertex_count(&reader->builder);
  if (reader->last_vertex <= vertex_count) return SN_OK;
  reader->line = reader->last_vertex_line;
  return fail_here(reader, "vertex index %lld; expected at most %u, the vertices of the file",
                   (long long)reader->last_vertex, vertex_count);
}

static void report_uvs(const obj_reader* reader) {
  uint32_t count = sn_mesh_builder_uv_count(&reader->builder);
  if (reader->bad_uvs > 0) {
    sn_log(SN_LOG_WARNING, "%s: %llu texture coordinates are wrong; 0, 0 is taken instead",
           reader->path, (unsigned long long)reader->bad_uvs);
  }
  if (reader->last_uv > count) {
    sn_log(SN_LOG_WARNING,
           "%s: faces name texture coordinates up to number %lld, the file has %u; 0, 0 is taken "
           "for those that are missing",
           reader->path, (long long)reader->last_uv, count);
  }
}

static sn_status parse(obj_reader* reader, sn_mesh* mesh) {
  SN_TRY(read_statements(reader));
  SN_TRY(check_last_vertex(reader));
  report_uvs(reader);
  SN_CHECK(reader->builder.triangle_count > 0, reader->err, SN_ERR_INPUT,
           "%s: no triangles; expected a surface mesh with faces", reader->path);
  return sn_mesh_builder_finish(&reader->builder, mesh, reader->err);
}

static sn_status refuse_zero_byte(obj_reader* reader, const char* place) {
  reader->text.end = place;
  while (sn_text_skip_comment(&reader->text)) {
  }
  reader->line = reader->text.line;
  return fail_here(reader, "zero byte; expected text (is this a binary file?)");
}

sn_status sn_obj_parse(const char* path, const char* bytes, size_t size, sn_mesh* mesh,
                       sn_error* err) {
  SN_ASSERT(bytes[size] == 0);
  *mesh = (sn_mesh){0};
  obj_reader reader = {.path = path,
                       .err = err,
                       .text = {bytes, bytes + size, 1, true},
                       .object = NO_OBJECT,
                       .material = NO_OBJECT};
  const char* zero = memchr(bytes, 0, size);
  if (zero) return refuse_zero_byte(&reader, zero);
  sn_status status = parse(&reader, mesh);
  sn_mesh_builder_destroy(&reader.builder);
  return status;
}
