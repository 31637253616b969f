// FBX files as trees of elements, from their binary form and from text.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "io/fbx.h"
#include "io/text.h"

#define MAGIC "Kaydara FBX Binary  "
#define HEAD_SIZE 27
#define DEPTH_MAX 32

// zlib's deflate gains no more than this.
#define INFLATE_MAX 1040

sn_status sn_fbx_charge(sn_fbx* f, uint64_t count) {
  SN_CHECK(count <= f->budget, f->im->err, SN_ERR_INPUT,
           "%s: found more numbers than a file of this size can mean, expected at most %d a byte",
           f->im->path, SN_FBX_NUMBERS_A_BYTE);
  f->budget -= count;
  return SN_OK;
}

// Binary files

typedef struct binary {
  sn_fbx* f;
  const unsigned char* bytes;
  uint64_t at, size;
  bool is_long;  // heads of elements have 64-bit numbers
} binary;

static sn_status fail_binary(const binary* b, const char* found, const char* expected) {
  return sn_fail(b->f->im->err, SN_ERR_INPUT, "%s: byte %llu: found %s, expected %s",
                 b->f->im->path, (unsigned long long)b->at, found, expected);
}

static sn_status read_word(binary* b, int width, uint64_t end, uint64_t* word) {
  *word = 0;
  if (end - b->at < (uint64_t)width) return fail_binary(b, "the end", "more of an element");
  for (int i = width - 1; i >= 0; --i) *word = *word << 8 | b->bytes[b->at + (uint64_t)i];
  b->at += (uint64_t)width;
  return SN_OK;
}

static sn_status read_array(binary* b, uint64_t end, sn_fbx_value* value) {
  uint64_t count = 0, encoding = 0, size = 0;
  SN_TRY(read_word(b, 4, end, &count));
  SN_TRY(read_word(b, 4, end, &encoding));
  SN_TRY(read_word(b, 4, end, &size));
  uint64_t width = value->type == 'd' || value->type == 'l' ? 8 : value->type == 'b' ? 1 : 4;
  bool fits = encoding == 0   ? size == count * width
              : encoding == 1 ? count * width <= INFLATE_MAX * size + INFLATE_MAX
                              : false;
  if (size > end - b->at || !fits) {
    return fail_binary(b, "an array of another length", "as many bytes as it has numbers");
  }
  value->kind = SN_FBX_ARRAY;
  value->packed = (uint8_t)encoding;
  value->integer = (int64_t)count;
  value->text = (const char*)b->bytes + b->at;
  value->size = size;
  b->at += size;
  return SN_OK;
}

static sn_status read_value(binary* b, uint64_t end, sn_fbx_value* value) {
  uint64_t type = 0, word = 0;
  SN_TRY(read_word(b, 1, end, &type));
  *value = (sn_fbx_value){.kind = SN_FBX_INTEGER, .type = (char)type};
  switch ((char)type) {
    case 'C':
    case 'B':
      SN_TRY(read_word(b, 1, end, &word));
      value->integer = (int64_t)word;
      break;
    case 'Y':
      SN_TRY(read_word(b, 2, end, &word));
      value->integer = (int16_t)word;
      break;
    case 'I':
      SN_TRY(read_word(b, 4, end, &word));
      value->integer = (int32_t)word;
      break;
    case 'L':
      SN_TRY(read_word(b, 8, end, &word));
      value->integer = (int64_t)word;
      break;
    case 'F': {
      float single;
      SN_TRY(read_word(b, 4, end, &word));
      uint32_t bits = (uint32_t)word;
      memcpy(&single, &bits, sizeof single);
      value->kind = SN_FBX_NUMBER;
      value->number = (double)single;
      return SN_OK;
    }
    case 'D':
      SN_TRY(read_word(b, 8, end, &word));
      value->kind = SN_FBX_NUMBER;
      memcpy(&value->number, &word, sizeof word);
      return SN_OK;
    case 'S':
    case 'R':
      SN_TRY(read_word(b, 4, end, &word));
      if (word > end - b->at) return fail_binary(b, "the end", "more of a text");
      value->kind = SN_FBX_TEXT;
      value->text = (const char*)b->bytes + b->at;
      value->size = word;
      b->at += word;
      return SN_OK;
    case 'f':
    case 'd':
    case 'l':
    case 'i':
    case 'b':
      return read_array(b, end, value);
    default:
      return fail_binary(b, "a value of an unknown type", "one of C Y I L F D S R f d l i b");
  }
  value->number = (double)value->integer;
  return SN_OK;
}

static sn_status read_elements(binary* b, uint64_t end, int depth, sn_fbx_element* parent);

// One element; *is_last where the list ends instead.
static sn_status read_element(binary* b, uint64_t limit, int depth, sn_fbx_element** element,
                              bool* is_last) {
  int width = b->is_long ? 8 : 4;
  uint64_t end = 0, count = 0, size = 0, name_size = 0;
  SN_TRY(read_word(b, width, limit, &end));
  SN_TRY(read_word(b, width, limit, &count));
  SN_TRY(read_word(b, width, limit, &size));
  SN_TRY(read_word(b, 1, limit, &name_size));
  *is_last = end == 0;
  if (*is_last) return SN_OK;
  if (end < b->at || end > limit || name_size > end - b->at || size > end - b->at - name_size ||
      count > size) {
    return fail_binary(b, "an element of another length", "one that ends within the one around it");
  }
  SN_TRY(SN_ARENA_NEW(b->f->im->scratch, 1, element, b->f->im->err));
  sn_fbx_element* e = *element;
  *e = (sn_fbx_element){.name = (const char*)b->bytes + b->at, .name_size = name_size};
  b->at += name_size;
  uint64_t values_end = b->at + size;
  SN_TRY(SN_ARENA_NEW(b->f->im->scratch, count, &e->values, b->f->im->err));
  for (; e->value_count < count; ++e->value_count) {
    SN_TRY(read_value(b, values_end, &e->values[e->value_count]));
  }
  b->at = values_end;
  SN_TRY(read_elements(b, end, depth + 1, e));
  b->at = end;
  return SN_OK;
}

static sn_status read_elements(binary* b, uint64_t end, int depth, sn_fbx_element* parent) {
  sn_fbx_element** last = &parent->first;
  if (depth > DEPTH_MAX) return fail_binary(b, "too many elements within one another", "32");
  bool is_last = false;
  while (b->at < end) {
    SN_TRY(read_element(b, end, depth, last, &is_last));
    if (is_last) return SN_OK;
    last = &(*last)->next;
  }
  // Only the whole file must have a mark at its end; what stands behind is a footer.
  return depth == 0 ? fail_binary(b, "the end", "the mark behind the last element") : SN_OK;
}

static sn_status parse_binary(sn_fbx* f, const char* bytes, size_t size) {
  binary b = {.f = f, .bytes = (const unsigned char*)bytes, .at = 23, .size = size};
  uint64_t version;
  SN_TRY(read_word(&b, 4, size, &version));
  SN_CHECK(
      version >= 7000 && version < 8000, f->im->err, SN_ERR_INPUT,
      "%s: found FBX version %llu, expected 7000 to 7999: export it again as FBX 2011 or later",
      f->im->path, (unsigned long long)version);
  b.is_long = version >= 7500;
  return read_elements(&b, size, 0, f->root);
}

// Text files

typedef struct reader {
  sn_fbx* f;
  const char *at, *end;
  uint64_t line;
} reader;

static sn_status fail_text(const reader* r, const char* expected) {
  sn_token rest = {r->at, 0};
  while (r->at + rest.length < r->end && rest.length < 16 && r->at[rest.length] > ' ')
    ++rest.length;
  sn_quote quoted = sn_token_quote(rest);
  return sn_fail(r->f->im->err, SN_ERR_INPUT, "%s: line %llu: found %s, expected %s",
                 r->f->im->path, (unsigned long long)r->line,
                 rest.length > 0 ? quoted.text : "the end", expected);
}

// Blanks, comments and, if wanted, line ends.
static void skip_blanks(reader* r, bool with_lines) {
  for (; r->at < r->end; ++r->at) {
    if (*r->at == ';') {
      while (r->at < r->end && *r->at != '\n') ++r->at;
      if (r->at == r->end) return;
    }
    if (*r->at == '\n') {
      if (!with_lines) return;
      ++r->line;
    } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
      return;
    }
  }
}

static bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '|' || c == '.' || c == '-' || c == '+';
}

static sn_token read_token(reader* r) {
  sn_token token = {r->at, 0};
  while (r->at < r->end && is_word_char(*r->at)) ++r->at;
  token.length = (size_t)(r->at - token.start);
  return token;
}

// Values behind one another in a block that grows; the arena frees the ones it outgrew.
typedef struct value_list {
  sn_fbx_value* values;
  uint32_t count, room;
} value_list;

static sn_status add_value(reader* r, value_list* list, sn_fbx_value value) {
  if (list->count == list->room) {
    uint32_t room = list->room > 0 ? 2 * list->room : 4;
    sn_fbx_value* values;
    SN_TRY(SN_ARENA_NEW(r->f->im->scratch, room, &values, r->f->im->err));
    for (uint32_t i = 0; i < list->count; ++i) values[i] = list->values[i];
    list->values = values;
    list->room = room;
  }
  list->values[list->count++] = value;
  return SN_OK;
}

static sn_status read_text_value(reader* r, value_list* list) {
  sn_fbx_value value = {.kind = SN_FBX_TEXT};
  if (*r->at == '"') {
    value.text = ++r->at;
    while (r->at < r->end && *r->at != '"') r->line += *r->at++ == '\n';
    if (r->at == r->end) return fail_text(r, "a quote behind a text");
    value.size = (size_t)(r->at++ - value.text);
    return add_value(r, list, value);
  }
  sn_token token = read_token(r);
  if (token.length == 0) return fail_text(r, "a value");
  if (sn_token_to_integer(token, &value.integer)) {
    value.kind = SN_FBX_INTEGER;
    value.number = (double)value.integer;
  } else if (sn_token_to_number(token, &value.number)) {
    value.kind = SN_FBX_NUMBER;
  } else {
    value.text = token.start;
    value.size = token.length;
  }
  return add_value(r, list, value);
}

// "*N { a: 1,2,3 }": the numbers stay text until they are asked for.
static sn_status read_text_array(reader* r, value_list* list) {
  sn_fbx_value value = {.kind = SN_FBX_ARRAY};
  ++r->at;
  sn_token length = read_token(r);
  if (!sn_token_to_integer(length, &value.integer) || value.integer < 0) {
    r->at = length.start;
    return fail_text(r, "the length of an array");
  }
  skip_blanks(r, true);
  if (r->at == r->end || *r->at != '{') return fail_text(r, "{ behind the length of an array");
  ++r->at;
  skip_blanks(r, true);
  if (r->at + 1 < r->end && r->at[0] == 'a' && r->at[1] == ':') r->at += 2;
  value.text = r->at;
  while (r->at < r->end && *r->at != '}') r->line += *r->at++ == '\n';
  if (r->at == r->end) return fail_text(r, "} behind the numbers of an array");
  value.size = (size_t)(r->at++ - value.text);
  // A number takes two bytes, with the comma behind it.
  if ((uint64_t)value.integer > value.size / 2 + 1) return fail_text(r, "as many numbers as said");
  return add_value(r, list, value);
}

// Behind "Name:", up to the end of the line or an opening brace; a comma goes on in the next line.
static sn_status read_text_values(reader* r, sn_fbx_element* e) {
  value_list list = {0};
  bool wants_more = false;
  for (;;) {
    skip_blanks(r, wants_more);
    if (r->at == r->end || *r->at == '\n' || *r->at == '{' || *r->at == '}') break;
    SN_TRY(*r->at == '*' ? read_text_array(r, &list) : read_text_value(r, &list));
    skip_blanks(r, false);
    wants_more = r->at < r->end && *r->at == ',';
    if (wants_more) ++r->at;
  }
  e->values = list.values;
  e->value_count = list.count;
  return SN_OK;
}

static sn_status read_text_elements(reader* r, int depth, sn_fbx_element* parent) {
  if (depth > DEPTH_MAX) return fail_text(r, "at most 32 elements within one another");
  for (sn_fbx_element** last = &parent->first;; last = &(*last)->next) {
    skip_blanks(r, true);
    if (r->at == r->end) return depth == 0 ? SN_OK : fail_text(r, "}");
    if (*r->at == '}' && depth > 0) {
      ++r->at;
      return SN_OK;
    }
    sn_token name = read_token(r);
    if (name.length == 0 || r->at == r->end || *r->at != ':') {
      return fail_text(r, "the name of an element and a colon");
    }
    ++r->at;
    SN_TRY(SN_ARENA_NEW(r->f->im->scratch, 1, last, r->f->im->err));
    **last = (sn_fbx_element){.name = name.start, .name_size = name.length};
    SN_TRY(read_text_values(r, *last));
    if (r->at < r->end && *r->at == '{') {
      ++r->at;
      SN_TRY(read_text_elements(r, depth + 1, *last));
    }
  }
}

sn_status sn_fbx_parse(sn_fbx* f, const char* bytes, size_t size) {
  f->budget = SN_FBX_NUMBERS_FREE + SN_FBX_NUMBERS_A_BYTE * (uint64_t)size;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, 1, &f->root, f->im->err));
  if (size >= HEAD_SIZE && memcmp(bytes, MAGIC, sizeof MAGIC) == 0) {
    return parse_binary(f, bytes, size);
  }
  reader r = {.f = f, .at = bytes, .end = bytes + size, .line = 1};
  SN_TRY(read_text_elements(&r, 0, f->root));
  const sn_fbx_element* head = sn_fbx_find(f->root, "FBXHeaderExtension");
  const sn_fbx_element* version = head ? sn_fbx_find(head, "FBXVersion") : NULL;
  double number = version && version->value_count > 0 ? version->values[0].number : 0.0;
  SN_CHECK(number >= 7000.0 && number < 8000.0, f->im->err, SN_ERR_INPUT,
           "%s: FBXHeaderExtension.FBXVersion: found %g, expected 7000 to 7999", f->im->path,
           number);
  return SN_OK;
}

// Elements

const sn_fbx_element* sn_fbx_find(const sn_fbx_element* within, const char* name) {
  size_t size = strlen(name);
  for (const sn_fbx_element* e = within->first; e; e = e->next) {
    if (e->name_size == size && memcmp(e->name, name, size) == 0) return e;
  }
  return NULL;
}

static sn_status fail_array(sn_fbx* f, const sn_fbx_element* e, const char* expected) {
  return sn_fail(f->im->err, SN_ERR_INPUT,
                 "%s: %.*s: found an array that cannot be read, expected %s", f->im->path,
                 (int)(e->name_size < 60 ? e->name_size : 60), e->name, expected);
}

static double number_at(const unsigned char* at, char type) {
  uint64_t word = 0;
  int width = type == 'd' || type == 'l' ? 8 : type == 'b' ? 1 : 4;
  for (int i = width - 1; i >= 0; --i) word = word << 8 | at[i];
  double number;
  float single;
  uint32_t bits = (uint32_t)word;
  switch (type) {
    case 'd':
      memcpy(&number, &word, sizeof number);
      return number;
    case 'f':
      memcpy(&single, &bits, sizeof single);
      return (double)single;
    case 'l':
      return (double)(int64_t)word;
    case 'i':
      return (double)(int32_t)bits;
    default:
      return (double)word;
  }
}

static sn_status inflate_array(sn_fbx* f, const sn_fbx_element* e, size_t size,
                               const unsigned char** bytes) {
  const sn_fbx_value* v = &e->values[0];
  unsigned char* room;
  uLongf found = (uLongf)size;
  SN_TRY(SN_ARENA_RAW(f->im->scratch, size + 1, &room, f->im->err));
  int result = uncompress(room, &found, (const unsigned char*)v->text, (uLong)v->size);
  if (result == Z_MEM_ERROR) return sn_fail_memory(f->im->err, size);
  if ((result != Z_OK && size > 0) || found != size) {
    return fail_array(f, e, "zlib data of its length");
  }
  *bytes = room;
  return SN_OK;
}

static sn_status unpack_binary(sn_fbx* f, const sn_fbx_element* e, double* numbers) {
  const sn_fbx_value* v = &e->values[0];
  size_t width = v->type == 'd' || v->type == 'l' ? 8 : v->type == 'b' ? 1 : 4;
  size_t count = (size_t)v->integer;
  const unsigned char* bytes = (const unsigned char*)v->text;
  sn_arena_mark mark = sn_arena_get_mark(f->im->scratch);
  if (v->packed) SN_TRY(inflate_array(f, e, count * width, &bytes));
  for (size_t i = 0; i < count; ++i) numbers[i] = number_at(bytes + width * i, v->type);
  sn_arena_release(f->im->scratch, mark);
  return SN_OK;
}

static sn_status unpack_text(sn_fbx* f, const sn_fbx_element* e, double* numbers) {
  const sn_fbx_value* v = &e->values[0];
  reader r = {.f = f, .at = v->text, .end = v->text + v->size};
  for (int64_t i = 0; i < v->integer; ++i) {
    skip_blanks(&r, true);
    if (!sn_token_to_number(read_token(&r), &numbers[i])) return fail_array(f, e, "numbers");
    skip_blanks(&r, true);
    if (r.at < r.end && *r.at == ',') ++r.at;
  }
  return SN_OK;
}

sn_status sn_fbx_numbers(sn_fbx* f, const sn_fbx_element* element, double** numbers,
                         size_t* count) {
  *numbers = NULL;
  *count = 0;
  if (!element || element->value_count == 0) return SN_OK;
  const sn_fbx_value* first = &element->values[0];
  bool is_array = first->kind == SN_FBX_ARRAY;
  *count = is_array ? (size_t)first->integer : element->value_count;
  SN_TRY(sn_fbx_charge(f, *count));
  SN_TRY(SN_ARENA_NEW(f->im->scratch, *count, numbers, f->im->err));
  if (is_array) {
    return first->type ? unpack_binary(f, element, *numbers) : unpack_text(f, element, *numbers);
  }
  for (size_t i = 0; i < *count; ++i) (*numbers)[i] = element->values[i].number;
  return SN_OK;
}

sn_status sn_fbx_text(sn_fbx* f, const sn_fbx_element* element, uint32_t index, const char** text) {
  *text = "";
  if (!element || index >= element->value_count) return SN_OK;
  const sn_fbx_value* v = &element->values[index];
  if (v->kind != SN_FBX_TEXT) return SN_OK;
  char* copy;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, v->size + 1, &copy, f->im->err));
  memcpy(copy, v->text, v->size);
  *text = copy;
  return SN_OK;
}
