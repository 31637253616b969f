// PLY reader. The header describes elements (vertex, face, whatever else) and their properties; the
// data follow in that order. For a mesh we take x, y, z of `vertex`, its texture coordinates, and the list `vertex_indices` (or
// `vertex_index`) of `face`, for vertex values one property of `vertex`, and step over the rest.
//
// Ascii and binary differ only in how the next value is fetched or skipped. Ascii values may be
// broken into lines at will. Every count is held against the bytes left before it is believed.
#include "io/ply.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "geometry/mesh_arrays.h"
#include "io/scene_json.h"
#include "io/text.h"

#define ELEMENTS_MAX 64
#define PROPERTIES_MAX 1024  // of all elements together

typedef enum ply_format { PLY_UNKNOWN, PLY_ASCII, PLY_LITTLE_ENDIAN, PLY_BIG_ENDIAN } ply_format;

typedef enum ply_type {
  PLY_INT8,
  PLY_UINT8,
  PLY_INT16,
  PLY_UINT16,
  PLY_INT32,
  PLY_UINT32,
  PLY_FLOAT32,
  PLY_FLOAT64,
  PLY_TYPE_COUNT
} ply_type;

static const struct {
  const char* name;
  const char* other_name;
  uint8_t bytes;
} types[PLY_TYPE_COUNT] = {
    [PLY_INT8] = {"char", "int8", 1},        [PLY_UINT8] = {"uchar", "uint8", 1},
    [PLY_INT16] = {"short", "int16", 2},     [PLY_UINT16] = {"ushort", "uint16", 2},
    [PLY_INT32] = {"int", "int32", 4},       [PLY_UINT32] = {"uint", "uint32", 4},
    [PLY_FLOAT32] = {"float", "float32", 4}, [PLY_FLOAT64] = {"double", "float64", 8},
};

// What we want a property for.
typedef enum ply_role {
  ROLE_X,
  ROLE_Y,
  ROLE_Z,
  ROLE_U,
  ROLE_V,
  ROLE_CORNERS,
  ROLE_VALUE,
  ROLE_NONE
} ply_role;
#define ROLES_UV (1u << ROLE_U | 1u << ROLE_V)

typedef struct ply_property {
  sn_token name;
  bool is_list;
  ply_type count_type;  // of a list
  ply_type type;
  ply_role role;
} ply_property;

typedef struct ply_element {
  sn_token name;
  uint64_t count;
  uint32_t first_property, property_count;
} ply_element;

typedef struct ply_reader {
  const char* path;
  sn_error* err;
  sn_text text;  // binary data are read at text.at as well
  ply_format format;
  ply_element elements[ELEMENTS_MAX];
  uint32_t element_count;
  ply_property properties[PROPERTIES_MAX];
  uint32_t property_count;
  const ply_element* vertices;
  const ply_element* faces;
  uint32_t roles;      // bit for each role that a property has taken
  const char* wanted;  // the one property of `vertex` that is taken; NULL: those of a mesh
  double* values;      // of it (count of vertices)
  uint64_t bad_uvs;    // vertices whose texture coordinates are no numbers
  sn_mesh_builder builder;
  const ply_element* element;  // being read, NULL in the header
  uint64_t index;              // of the item in it
} ply_reader;

// Names the line, or in binary data the item.
static sn_status fail_here(ply_reader* reader, const char* format, ...) SN_PRINTF(2, 3);
static sn_status fail_here(ply_reader* reader, const char* format, ...) {
  char what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (reader->element && reader->format != PLY_ASCII) {
    return sn_fail(reader->err, SN_ERR_INPUT, "%s: element %s %llu: %s", reader->path,
                   sn_token_quote(reader->element->name).text, (unsigned long long)reader->index,
                   what);
  }
  return sn_fail(reader->err, SN_ERR_INPUT, "%s:%llu: %s", reader->path,
                 (unsigned long long)reader->text.line, what);
}

static size_t bytes_left(const ply_reader* reader) {
  return (size_t)(reader->text.end - reader->text.at);
}

// Header

static sn_status read_word(ply_reader* reader, const char* expected, sn_token* word) {
  if (sn_text_next_token(&reader->text, word)) return SN_OK;
  return fail_here(reader, "the line ends too early; expected %s", expected);
}

static sn_status read_format(ply_reader* reader) {
  static const char* const names[] = {
      [PLY_ASCII] = "ascii",
      [PLY_LITTLE_ENDIAN] = "binary_little_endian",
      [PLY_BIG_ENDIAN] = "binary_big_endian",
  };
  sn_token name, version;
  SN_TRY(read_word(reader, "a format name", &name));
  SN_TRY(read_word(reader, "a format version", &version));
  for (ply_format format = PLY_ASCII; format <= PLY_BIG_ENDIAN; ++format) {
    if (sn_token_is(name, names[format])) reader->format = format;
  }
  if (reader->format == PLY_UNKNOWN || !sn_token_is(version, "1.0")) {
    return fail_here(reader,
                     "format %s %s; expected ascii, binary_little_endian or binary_big_endian, 1.0",
                     sn_token_quote(name).text, sn_token_quote(version).text);
  }
  return SN_OK;
}

static sn_status read_element_line(ply_reader* reader) {
  sn_token name, digits;
  int64_t count;
  SN_TRY(read_word(reader, "an element name", &name));
  SN_TRY(read_word(reader, "a count", &digits));
  if (!sn_token_to_integer(digits, &count) || count < 0) {
    return fail_here(reader, "element count %s; expected a number from 0 up",
                     sn_token_quote(digits).text);
  }
  if (reader->element_count == ELEMENTS_MAX) {
    return fail_here(reader, "more than %d elements; expected fewer", ELEMENTS_MAX);
  }
  ply_element* element = reader->elements + reader->element_count++;
  *element = (ply_element){name, (uint64_t)count, reader->property_count, 0};
  const ply_element** wanted = sn_token_is(name, "vertex") ? &reader->vertices
                               : sn_token_is(name, "face") ? &reader->faces
                                                           : NULL;
  if (wanted && *wanted) {
    return fail_here(reader, "a second element %s; expected one", sn_token_quote(name).text);
  }
  if (wanted) *wanted = element;
  return SN_OK;
}

static sn_status read_type(ply_reader* reader, ply_type* type) {
  sn_token word;
  SN_TRY(read_word(reader, "a property type", &word));
  for (*type = PLY_INT8; *type < PLY_TYPE_COUNT; ++*type) {
    if (sn_token_is(word, types[*type].name) || sn_token_is(word, types[*type].other_name)) {
      return SN_OK;
    }
  }
  return fail_here(reader,
                   "property type %s; expected list, char, uchar, short, ushort, int, uint, float, "
                   "double, or the like of int8 and float32",
                   sn_token_quote(word).text);
}

// Texture coordinates have many names; of a file with several the first count.
static ply_role uv_role(const ply_reader* reader, sn_token name) {
  static const char* const names[2][3] = {{"s", "u", "texture_u"}, {"t", "v", "texture_v"}};
  for (int axis = 0; axis < 2; ++axis) {
    ply_role role = axis == 0 ? ROLE_U : ROLE_V;
    for (int k = 0; k < 3 && !(reader->roles & 1u << role); ++k) {
      if (sn_token_is(name, names[axis][k])) return role;
    }
  }
  return ROLE_NONE;
}

static ply_role role_of(const ply_reader* reader, const ply_element* element,
                        const ply_property* property, sn_token name) {
  if (reader->wanted) {
    bool is_wanted = element == reader->vertices && !property->is_list;
    return is_wanted && sn_token_is(name, reader->wanted) ? ROLE_VALUE : ROLE_NONE;
  }
  if (element == reader->vertices && !property->is_list) {
    if (sn_token_is(name, "x")) return ROLE_X;
    if (sn_token_is(name, "y")) return ROLE_Y;
    if (sn_token_is(name, "z")) return ROLE_Z;
    return uv_role(reader, name);
  }
  if (element == reader->faces && property->is_list &&
      (sn_token_is(name, "vertex_indices") || sn_token_is(name, "vertex_index"))) {
    return ROLE_CORNERS;
  }
  return ROLE_NONE;
}

static sn_status assign_role(ply_reader* reader, const ply_element* element, sn_token name,
                             ply_property* property) {
  property->role = role_of(reader, element, property, name);
  if (property->role == ROLE_NONE) return SN_OK;
  uint32_t bit = (uint32_t)1 << property->role;
  if (reader->roles & bit) {
    return fail_here(reader, "a second property %s; expected one", sn_token_quote(name).text);
  }
  reader->roles |= bit;
  return SN_OK;
}

static sn_status read_property_line(ply_reader* reader) {
  if (reader->element_count == 0) {
    return fail_here(reader, "a property without an element; expected an element line first");
  }
  if (reader->property_count == PROPERTIES_MAX) {
    return fail_here(reader, "more than %d properties; expected fewer", PROPERTIES_MAX);
  }
  ply_element* element = reader->elements + reader->element_count - 1;
  ply_property property = {0};
  sn_text before = reader->text;
  sn_token word;
  SN_TRY(read_word(reader, "a property type", &word));
  property.is_list = sn_token_is(word, "list");
  if (property.is_list) {
    SN_TRY(read_type(reader, &property.count_type));
  } else {
    reader->text = before;
  }
  SN_TRY(read_type(reader, &property.type));
  SN_TRY(read_word(reader, "a property name", &word));
  property.name = word;
  SN_TRY(assign_role(reader, element, word, &property));
  reader->properties[reader->property_count++] = property;
  ++element->property_count;
  return SN_OK;
}

static sn_status read_header_line(ply_reader* reader, sn_token keyword, bool* done) {
  *done = sn_token_is(keyword, "end_header");
  if (*done) return SN_OK;
  if (sn_token_is(keyword, "comment") || sn_token_is(keyword, "obj_info")) return SN_OK;
  if (sn_token_is(keyword, "format")) return read_format(reader);
  if (sn_token_is(keyword, "element")) return read_element_line(reader);
  if (sn_token_is(keyword, "property")) return read_property_line(reader);
  return fail_here(reader, "%s; expected format, element, property, comment or end_header",
                   sn_token_quote(keyword).text);
}

// A name that is none of a vertex's numbers, with the nearest one.
static sn_status fail_property(ply_reader* reader) {
  struct {
    const char* text;
    char bytes[64];
  } names[32] = {{0}};
  size_t count = 0;
  const ply_element* vertices = reader->vertices;
  for (uint32_t i = 0; vertices && i < vertices->property_count && count < 32; ++i) {
    const ply_property* property = reader->properties + vertices->first_property + i;
    if (property->is_list) continue;
    snprintf(names[count].bytes, sizeof names[count].bytes, "%.*s", (int)property->name.length,
             property->name.start);
    names[count].text = names[count].bytes;
    ++count;
  }
  const char* nearest = sn_name_nearest(SN_NAMES(names, count), reader->wanted);
  return sn_fail(reader->err, SN_ERR_INPUT,
                 "%s: its vertices have no number \"%.60s\"; expected one%s%.60s%s", reader->path,
                 reader->wanted, nearest ? ", did you mean \"" : "", nearest ? nearest : "",
                 nearest ? "\"?" : "");
}

// Of a file that one property is taken from.
static sn_status check_property(ply_reader* reader) {
  if (!(reader->roles & 1u << ROLE_VALUE)) return fail_property(reader);
  const ply_property* property = reader->properties + reader->vertices->first_property;
  while (property->role != ROLE_VALUE) ++property;
  if (property->type == PLY_FLOAT32 || property->type == PLY_FLOAT64) return SN_OK;
  return sn_fail(reader->err, SN_ERR_INPUT, "%s: property \"%.60s\" is of type %s; expected float",
                 reader->path, reader->wanted, types[property->type].name);
}

static sn_status check_header(ply_reader* reader) {
  if (reader->format == PLY_UNKNOWN) {
    return fail_here(reader, "the header has no format line; expected one");
  }
  if (reader->wanted) return check_property(reader);
  const uint32_t position = 1u << ROLE_X | 1u << ROLE_Y | 1u << ROLE_Z;
  if ((reader->roles & position) != position) {
    return fail_here(reader,
                     "the header has no element 'vertex' with numbers x, y and z; expected "
                     "one");
  }
  if (!reader->faces || reader->faces->count == 0) {
    return sn_fail(reader->err, SN_ERR_INPUT,
                   "%s: no triangles; expected a surface mesh with faces", reader->path);
  }
  if (reader->vertices->count == 0 || reader->vertices->count > UINT32_MAX) {
    return fail_here(reader, "%llu vertices; expected 1 to %u",
                     (unsigned long long)reader->vertices->count, UINT32_MAX);
  }
  if (!(reader->roles & 1u << ROLE_CORNERS)) {
    return fail_here(reader, "element 'face' has no list vertex_indices; expected one");
  }
  return SN_OK;
}

// The data begin behind the line end of end_header. Where lines end with a single \r, a \n that
// comes next belongs to the data.
static sn_status end_header(ply_reader* reader, bool single_return) {
  sn_text_rest_of_line(&reader->text);
  SN_TRY(check_header(reader));
  size_t line_end = sn_text_line_end(&reader->text);
  reader->text.at += single_return && line_end > 0 ? 1 : line_end;
  ++reader->text.line;
  return SN_OK;
}

static sn_status read_header(ply_reader* reader) {
  sn_token keyword;
  if (!sn_text_next_token(&reader->text, &keyword) || !sn_token_is(keyword, "ply")) {
    return fail_here(reader, "not a PLY file; expected 'ply' on its first line");
  }
  sn_text_rest_of_line(&reader->text);
  bool single_return = sn_text_line_end(&reader->text) == 1 && *reader->text.at == '\r';
  while (sn_text_next_line(&reader->text)) {
    if (!sn_text_next_token(&reader->text, &keyword)) continue;
    bool done;
    SN_TRY(read_header_line(reader, keyword, &done));
    if (done) return end_header(reader, single_return);
  }
  return fail_here(reader, "the file ends within its header; expected end_header");
}

// Values

static double decode(const char* bytes, ply_type type, bool big_endian) {
  uint64_t bits = 0;
  int size = types[type].bytes;
  for (int i = 0; i < size; ++i) {
    bits = bits << 8 | (unsigned char)bytes[big_endian ? i : size - 1 - i];
  }
  float single;
  double value;
  switch (type) {
    case PLY_INT8:
      return (int8_t)bits;
    case PLY_INT16:
      return (int16_t)bits;
    case PLY_INT32:
      return (int32_t)bits;
    case PLY_FLOAT32: {
      uint32_t half = (uint32_t)bits;
      memcpy(&single, &half, sizeof single);
      return single;
    }
    case PLY_FLOAT64:
      memcpy(&value, &bits, sizeof value);
      return value;
    default:
      return (double)bits;
  }
}

static sn_status fail_at_end(ply_reader* reader) {
  return fail_here(reader, "the file ends within element %s %llu of %llu; expected more data",
                   sn_token_quote(reader->element->name).text, (unsigned long long)reader->index,
                   (unsigned long long)reader->element->count);
}

static sn_status next_token(ply_reader* reader, sn_token* token) {
  while (!sn_text_next_token(&reader->text, token)) {
    if (!sn_text_next_line(&reader->text)) return fail_at_end(reader);
  }
  return SN_OK;
}

static sn_status next_bytes(ply_reader* reader, uint64_t size, const char** bytes) {
  *bytes = NULL;
  if (size > bytes_left(reader)) return fail_at_end(reader);
  *bytes = reader->text.at;
  reader->text.at += size;
  return SN_OK;
}

static sn_status next_value(ply_reader* reader, ply_type type, double* value) {
  *value = 0;
  if (reader->format == PLY_ASCII) {
    sn_token token;
    SN_TRY(next_token(reader, &token));
    if (sn_token_to_number(token, value)) return SN_OK;
    return fail_here(reader, "%s; expected a finite number", sn_token_quote(token).text);
  }
  const char* bytes;
  SN_TRY(next_bytes(reader, types[type].bytes, &bytes));
  *value = decode(bytes, type, reader->format == PLY_BIG_ENDIAN);
  return SN_OK;
}

static sn_status skip_values(ply_reader* reader, ply_type type, uint64_t count) {
  const char* bytes;
  if (reader->format != PLY_ASCII) return next_bytes(reader, count * types[type].bytes, &bytes);
  for (uint64_t i = 0; i < count; ++i) {
    sn_token token;
    SN_TRY(next_token(reader, &token));
  }
  return SN_OK;
}

// The fewest bytes that a value takes.
static size_t value_bytes(const ply_reader* reader, ply_type type) {
  return reader->format == PLY_ASCII ? 1 : types[type].bytes;
}

static sn_status next_list_length(ply_reader* reader, const ply_property* property,
                                  uint64_t* length) {
  *length = 0;
  double value;
  SN_TRY(next_value(reader, property->count_type, &value));
  size_t longest = bytes_left(reader) / value_bytes(reader, property->type);
  if (!(value >= 0 && value <= (double)longest) || value != floor(value)) {
    return fail_here(reader,
                     "a list of %.17g values; expected a whole number, and %zu bytes are "
                     "left in the file",
                     value, bytes_left(reader));
  }
  *length = (uint64_t)value;
  return SN_OK;
}

// Elements

static sn_status read_coordinate(ply_reader* reader, const ply_property* property,
                                 double* position) {
  double value;
  SN_TRY(next_value(reader, property->type, &value));
  if (!sn_mesh_coordinate_is_valid(value)) {
    return fail_here(reader, "%c coordinate %g; expected a finite number of magnitude up to %g",
                     "xyz"[property->role], value, SN_MESH_COORDINATE_MAX);
  }
  position[property->role] = value;
  return SN_OK;
}

// An ornament: what is no number is told, but no reason to refuse a surface.
static sn_status read_uv(ply_reader* reader, const ply_property* property, float pair[2],
                         bool* good) {
  double value = 0.0;
  if (reader->format == PLY_ASCII) {
    sn_token token;
    SN_TRY(next_token(reader, &token));
    *good = *good && sn_token_to_number(token, &value);
  } else {
    SN_TRY(next_value(reader, property->type, &value));
  }
  *good = *good && fabs(value) <= FLT_MAX;  // false for NaN
  if (*good) pair[property->role - ROLE_U] = (float)value;
  return SN_OK;
}

static sn_status read_corners(ply_reader* reader, const ply_property* property) {
  uint64_t corner_count;
  SN_TRY(next_list_length(reader, property, &corner_count));
  if (corner_count < 3) {
    return fail_here(reader, "face with %llu corners; expected three or more",
                     (unsigned long long)corner_count);
  }
  for (uint64_t c = 0; c < corner_count; ++c) {
    double index;
    SN_TRY(next_value(reader, property->type, &index));
    if (!(index >= 0 && index < (double)reader->vertices->count) || index != floor(index)) {
      return fail_here(reader, "vertex index %.17g; expected 0 to %llu", index,
                       (unsigned long long)reader->vertices->count - 1);
    }
    SN_TRY(sn_mesh_builder_add_corner(&reader->builder, (uint32_t)index, reader->err));
    if ((reader->roles & ROLES_UV) == ROLES_UV) {
      SN_TRY(sn_mesh_builder_set_uv(&reader->builder, (uint32_t)index, reader->err));
    }
  }
  return sn_mesh_builder_end_face(&reader->builder, reader->err);
}

static sn_status skip_property(ply_reader* reader, const ply_property* property) {
  uint64_t count = 1;
  if (property->is_list) SN_TRY(next_list_length(reader, property, &count));
  return skip_values(reader, property->type, count);
}

static sn_status add_vertex(ply_reader* reader, const double position[3], const float pair[2],
                            bool good) {
  sn_vec3 vertex = {position[0], position[1], position[2]};
  SN_TRY(sn_mesh_builder_add_vertex(&reader->builder, vertex, reader->err));
  if ((reader->roles & ROLES_UV) != ROLES_UV) return SN_OK;
  reader->bad_uvs += !good;
  return sn_mesh_builder_add_uv(&reader->builder, good ? pair[0] : 0.0f, good ? pair[1] : 0.0f,
                                reader->err);
}

static sn_status read_item(ply_reader* reader, const ply_element* element) {
  double position[3] = {0};
  float pair[2] = {0};
  bool good = true;
  for (uint32_t p = 0; p < element->property_count; ++p) {
    const ply_property* property = reader->properties + element->first_property + p;
    if (property->role == ROLE_NONE) {
      SN_TRY(skip_property(reader, property));
    } else if (property->role == ROLE_CORNERS) {
      SN_TRY(read_corners(reader, property));
    } else if (property->role == ROLE_VALUE) {
      SN_TRY(next_value(reader, property->type, &reader->values[reader->index]));
    } else if (property->role == ROLE_U || property->role == ROLE_V) {
      SN_TRY(read_uv(reader, property, pair, &good));
    } else {
      SN_TRY(read_coordinate(reader, property, position));
    }
  }
  if (element != reader->vertices || reader->wanted) return SN_OK;
  return add_vertex(reader, position, pair, good);
}

// The fewest bytes that an item takes: its lists may be empty.
static size_t item_bytes(const ply_reader* reader, const ply_element* element) {
  size_t total = 0;
  for (uint32_t p = 0; p < element->property_count; ++p) {
    const ply_property* property = reader->properties + element->first_property + p;
    total += value_bytes(reader, property->is_list ? property->count_type : property->type);
  }
  return total;
}

static sn_status read_element(ply_reader* reader, const ply_element* element) {
  if (element->property_count == 0) return SN_OK;  // takes no bytes, however many there are
  reader->element = element;
  reader->index = 0;
  if (element->count > bytes_left(reader) / item_bytes(reader, element)) {
    return fail_here(reader,
                     "%llu items of element %s announced, but only %zu bytes follow; "
                     "expected the whole file",
                     (unsigned long long)element->count, sn_token_quote(element->name).text,
                     bytes_left(reader));
  }
  for (; reader->index < element->count; ++reader->index) SN_TRY(read_item(reader, element));
  return SN_OK;
}

static void report_remainder(ply_reader* reader) {
  size_t count = bytes_left(reader);
  while (count > 0 && strchr(" \t\r\n", reader->text.end[-(ptrdiff_t)count])) --count;
  if (count == 0) return;
  sn_log(SN_LOG_WARNING, "%s: %zu bytes behind the last element are ignored", reader->path, count);
}

static sn_status parse(ply_reader* reader, sn_mesh* mesh) {
  SN_TRY(read_header(reader));
  for (uint32_t e = 0; e < reader->element_count; ++e) {
    SN_TRY(read_element(reader, reader->elements + e));
  }
  report_remainder(reader);
  if (reader->bad_uvs > 0) {
    sn_log(SN_LOG_WARNING, "%s: texture coordinates of %llu vertices are no numbers; 0, 0 is taken",
           reader->path, (unsigned long long)reader->bad_uvs);
  }
  return sn_mesh_builder_finish(&reader->builder, mesh, reader->err);
}

sn_status sn_ply_parse(const char* path, const char* bytes, size_t size, sn_mesh* mesh,
                       sn_error* err) {
  SN_ASSERT(bytes[size] == 0);
  *mesh = (sn_mesh){0};
  ply_reader* reader = sn_allocate(sizeof *reader);
  if (!reader) return sn_fail_memory(err, sizeof *reader);
  *reader = (ply_reader){.path = path, .err = err, .text = {bytes, bytes + size, 1, false}};
  sn_status status = parse(reader, mesh);
  sn_mesh_builder_destroy(&reader->builder);
  sn_release(reader);
  return status;
}

static sn_status parse_values(ply_reader* reader, sn_arena* arena) {
  SN_TRY(read_header(reader));
  // A vertex takes a byte at least, so this is in proportion to the file.
  if (reader->vertices->count > bytes_left(reader)) {
    return fail_here(reader,
                     "%llu vertices announced, but only %zu bytes follow; expected the whole file",
                     (unsigned long long)reader->vertices->count, bytes_left(reader));
  }
  SN_TRY(SN_ARENA_NEW(arena, reader->vertices->count, &reader->values, reader->err));
  for (uint32_t e = 0; reader->elements + e <= reader->vertices; ++e) {
    SN_TRY(read_element(reader, reader->elements + e));
  }
  return SN_OK;
}

sn_status sn_ply_parse_values(const char* path, const char* bytes, size_t size,
                              const char* property, sn_arena* arena, sn_vertex_values* values,
                              sn_error* err) {
  SN_ASSERT(bytes[size] == 0);
  ply_reader* reader = sn_allocate(sizeof *reader);
  if (!reader) return sn_fail_memory(err, sizeof *reader);
  *reader = (ply_reader){
      .path = path, .err = err, .text = {bytes, bytes + size, 1, false}, .wanted = property};
  sn_status status = parse_values(reader, arena);
  if (status == SN_OK) *values = (sn_vertex_values){reader->values, reader->vertices->count};
  sn_release(reader);
  return status;
}
