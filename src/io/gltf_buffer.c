// Where a glTF file keeps its bytes: the chunks of a GLB container, data in the text itself, files
// beside it.
#include <string.h>

#include "io/file.h"
#include "io/gltf.h"

#define HEADER_BYTES 12       // magic, version, length
#define CHUNK_HEADER_BYTES 8  // length, kind
#define KIND_JSON 0x4E4F534Au
#define KIND_BINARY 0x004E4942u
#define BUFFERS_MAX 1000  // they may all name the same large file

// The container

static uint32_t word_at(const char* bytes) {
  const unsigned char* b = (const unsigned char*)bytes;
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static sn_status split_chunks(sn_gltf_reader* r, const char* bytes, size_t size,
                              sn_gltf_bytes* text) {
  for (size_t at = HEADER_BYTES, number = 0; at < size; ++number) {
    if (size - at < CHUNK_HEADER_BYTES) {
      return sn_read_fail(&r->json, NULL, "found %zu bytes behind chunk %zu, expected whole chunks",
                          size - at, number);
    }
    uint32_t length = word_at(bytes + at), kind = word_at(bytes + at + 4);
    at += CHUNK_HEADER_BYTES;
    if (length > size - at) {
      return sn_read_fail(&r->json, NULL,
                          "found chunk %zu of %u bytes where %zu are left, expected the whole file",
                          number, length, size - at);
    }
    sn_gltf_bytes chunk = {(const unsigned char*)bytes + at, length, 0};
    if (number == 0 && kind == KIND_JSON) *text = chunk;
    if (number == 1 && kind == KIND_BINARY) r->chunk = chunk;
    at += length;
  }
  if (!text->at) {
    return sn_read_fail(&r->json, NULL, "found no JSON in the first chunk, expected a glTF 2 file");
  }
  // Padding, which some writers make of zeros.
  while (text->size > 0 && text->at[text->size - 1] == 0) text->size--;
  return SN_OK;
}

sn_status sn_gltf_split(sn_gltf_reader* r, const char* bytes, size_t size, sn_gltf_bytes* text) {
  *text = (sn_gltf_bytes){0};
  if (size < 4 || memcmp(bytes, "glTF", 4) != 0) {
    *text = (sn_gltf_bytes){(const unsigned char*)bytes, size, 0};
    return SN_OK;
  }
  if (size < HEADER_BYTES) {
    return sn_read_fail(&r->json, NULL, "found %zu bytes, expected a glTF 2 file", size);
  }
  uint32_t version = word_at(bytes + 4), length = word_at(bytes + 8);
  if (version != 2) {
    return sn_read_fail(&r->json, NULL, "found version %u of the container, expected 2", version);
  }
  if (length > size) {
    return sn_read_fail(&r->json, NULL, "found %zu of %u bytes, expected the whole file", size,
                        length);
  }
  if (length < size) {
    sn_log(SN_LOG_WARNING, "%s: %zu bytes behind the end of the file are ignored", r->json.file,
           size - length);
  }
  return split_chunks(r, bytes, length, text);
}

// Buffers in the text

static int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// @param text with at most two '=' behind it, already taken off
// @return false where a character is none of the 64
static bool decode_base64(const char* text, size_t length, unsigned char* bytes) {
  uint32_t bits = 0;
  for (size_t i = 0; i < length; ++i) {
    int digit = base64_digit(text[i]);
    if (digit < 0) return false;
    bits = bits << 6 | (uint32_t)digit;
    // Six bits more each time: a byte is complete after the second, third and fourth of four.
    if (i % 4 > 0) *bytes++ = (unsigned char)(bits >> (6 - 2 * (i % 4)));
  }
  return length % 4 != 1;
}

static sn_status load_embedded(sn_gltf_reader* r, const sn_place* at, const char* uri,
                               sn_gltf_bytes* buffer) {
  static const char mark[] = ";base64,";
  const char* text = strstr(uri, mark);
  if (!text) return sn_read_fail(&r->json, at, "found data without \";base64,\", expected base64");
  text += strlen(mark);
  size_t length = strlen(text);
  for (int i = 0; i < 2 && length > 0 && text[length - 1] == '='; ++i) --length;
  unsigned char* bytes;
  SN_TRY(SN_ARENA_NEW(r->scratch, length / 4 * 3 + 3, &bytes, r->json.err));
  if (!decode_base64(text, length, bytes)) {
    return sn_read_fail(&r->json, at, "found data that is damaged, expected base64");
  }
  *buffer = (sn_gltf_bytes){bytes, (uint64_t)length / 4 * 3 + (length % 4 * 3) / 4, 0};
  return SN_OK;
}

// Buffers in files

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// @return false where a '%' is not followed by two digits, or they stand for a zero
static bool decode_percents(const char* uri, char* name) {
  for (; *uri; ++uri, ++name) {
    *name = *uri;
    if (*uri != '%') continue;
    int high = hex_digit(uri[1]), low = high < 0 ? -1 : hex_digit(uri[2]);
    if (low < 0 || (high == 0 && low == 0)) return false;
    *name = (char)(16 * high + low);
    uri += 2;
  }
  *name = 0;
  return true;
}

// Relative, no scheme, and no step upwards.
static bool stays_below(const char* name) {
  if (name[0] == 0 || name[0] == '/' || strchr(name, ':') || strchr(name, '\\')) return false;
  for (const char* part = name; part; part = strchr(part, '/')) {
    if (*part == '/') ++part;
    if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == 0)) return false;
  }
  return true;
}

static sn_status load_file(sn_gltf_reader* r, const sn_place* at, const char* path, uint64_t wanted,
                           sn_gltf_bytes* buffer) {
  sn_error cause = {0};
  sn_file file;
  sn_status status = sn_file_open(path, SN_FILE_READ, &file, &cause);
  unsigned char* bytes = NULL;
  if (status == SN_OK) {
    uint64_t size = file.size < wanted ? file.size : wanted;
    status = SN_ARENA_NEW(r->scratch, size, &bytes, &cause);
    if (status == SN_OK) status = sn_file_read_at(&file, 0, bytes, size, &cause);
    *buffer = (sn_gltf_bytes){bytes, size, 0};
    sn_file_close(&file);
  }
  return status == SN_OK ? SN_OK : sn_read_pass_on(&r->json, at, &cause);
}

static sn_status load_beside(sn_gltf_reader* r, const sn_place* at, const char* uri,
                             uint64_t wanted, sn_gltf_bytes* buffer) {
  const char* file = r->json.file;
  const char* slash = strrchr(file, '/');
  size_t folder = slash ? (size_t)(slash - file) + 1 : 0;
  char* path;
  SN_TRY(SN_ARENA_NEW(r->scratch, folder + strlen(uri) + 1, &path, r->json.err));
  memcpy(path, file, folder);
  if (!decode_percents(uri, path + folder) || !stays_below(path + folder)) {
    return sn_read_fail(&r->json, at,
                        "found \"%.60s\", expected a relative path below the folder of the file",
                        uri);
  }
  return load_file(r, at, path, wanted, buffer);
}

static sn_status load_buffer(sn_gltf_reader* r, const sn_place* at, uint32_t index) {
  const json_t* entry = sn_gltf_entry(r, "buffers", index);
  sn_gltf_bytes* buffer = &r->buffers[index];
  const sn_range range = {.lo = 1, .hi = SN_GLTF_WHOLE_MAX};
  int64_t length = 0;
  SN_TRY(sn_gltf_integer(r, at, entry, "byteLength", -1, range, &length));
  const json_t* value = json_object_get(entry, "uri");
  sn_place uri_at = sn_place_key(at, "uri");
  if (!value) {
    if (index == 0) *buffer = r->chunk;
    if (!buffer->at) return SN_OK;  // a placeholder, as long as nothing uses it
  } else {
    const char* uri = NULL;
    SN_TRY(sn_value_string(&r->json, &uri_at, value, "data or the name of a file", &uri));
    if (strncmp(uri, "data:", 5) == 0) {
      SN_TRY(load_embedded(r, &uri_at, uri, buffer));
    } else {
      SN_TRY(load_beside(r, &uri_at, uri, (uint64_t)length, buffer));
      r->budget += SN_GLTF_NUMBERS_A_BYTE * buffer->size;
    }
  }
  if ((uint64_t)length > buffer->size) {
    sn_place length_at = sn_place_key(at, "byteLength");
    return sn_read_fail(&r->json, &length_at, "found %lld, expected at most the %llu bytes present",
                        (long long)length, (unsigned long long)buffer->size);
  }
  buffer->size = (uint64_t)length;
  return SN_OK;
}

sn_status sn_gltf_load_buffers(sn_gltf_reader* r) {
  uint32_t count = sn_gltf_entry_count(r, "buffers");
  sn_place list_at = sn_place_key(NULL, "buffers");
  if (count > BUFFERS_MAX) {
    return sn_read_fail(&r->json, &list_at, "found %u buffers, expected at most %d", count,
                        BUFFERS_MAX);
  }
  SN_TRY(SN_ARENA_NEW(r->scratch, count, &r->buffers, r->json.err));
  for (uint32_t i = 0; i < count; ++i) {
    sn_place at = sn_place_index(&list_at, i);
    SN_TRY(load_buffer(r, &at, i));
  }
  return SN_OK;
}

// Views

sn_status sn_gltf_find_view(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                            sn_gltf_bytes* view) {
  uint32_t index = 0, buffer_index = 0;
  SN_TRY(sn_gltf_reference(r, at, value, "bufferViews", &index));
  const json_t* entry = sn_gltf_entry(r, "bufferViews", index);
  sn_place list_at = sn_place_key(NULL, "bufferViews"), view_at = sn_place_index(&list_at, index);
  sn_place buffer_at = sn_place_key(&view_at, "buffer");
  const json_t* buffer_value = json_object_get(entry, "buffer");
  SN_TRY(sn_gltf_reference(r, &buffer_at, buffer_value, "buffers", &buffer_index));
  const sn_gltf_bytes* buffer = &r->buffers[buffer_index];
  if (!buffer->at) {
    return sn_read_fail(&r->json, &buffer_at, "found %u, which has no bytes, expected one that has",
                        buffer_index);
  }
  const sn_range whole = {.lo = 0, .hi = SN_GLTF_WHOLE_MAX}, some = {.lo = 1, .hi = whole.hi};
  const sn_range strides = {.lo = 4, .hi = 252};
  int64_t offset = 0, length = 0, stride = 0;
  SN_TRY(sn_gltf_integer(r, &view_at, entry, "byteOffset", 0, whole, &offset));
  SN_TRY(sn_gltf_integer(r, &view_at, entry, "byteLength", -1, some, &length));
  SN_TRY(sn_gltf_integer(r, &view_at, entry, "byteStride", 0, strides, &stride));
  if ((uint64_t)(offset + length) > buffer->size) {
    return sn_read_fail(&r->json, &view_at,
                        "found %lld bytes from %lld, expected them within the %llu of the buffer",
                        (long long)length, (long long)offset, (unsigned long long)buffer->size);
  }
  *view = (sn_gltf_bytes){buffer->at + offset, (uint64_t)length, (uint64_t)stride};
  return SN_OK;
}
