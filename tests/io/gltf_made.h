// What the tests of glTF share: files made of text and bytes, and the document of a file that our
// writer made, changed here and there.
#ifndef SN_TESTS_IO_GLTF_MADE_H
#define SN_TESTS_IO_GLTF_MADE_H

#include <jansson.h>
#include <math.h>

#include "geometry/mesh_arrays.h"
#include "io/gltf.h"
#include "io/gltf_tube.h"
#include "io/scene_change.h"
#include "io/scratch.h"

// A file in memory. The caller frees the bytes.
typedef struct glb {
  char* bytes;
  size_t size;
} glb;

static inline void put_word(char* to, uint32_t word) {
  for (int i = 0; i < 4; ++i) to[i] = (char)(word >> 8 * i);
}

// A container of a JSON text and, if there are any, bytes.
static inline glb make_glb(const char* text, const void* bytes, size_t byte_count) {
  size_t text_size = (strlen(text) + 3) / 4 * 4, padded = (byte_count + 3) / 4 * 4;
  glb file = {NULL, 20 + text_size + (byte_count > 0 ? 8 + padded : 0)};
  file.bytes = calloc(file.size + 1, 1);
  assert_non_null(file.bytes);
  memcpy(file.bytes, "glTF", 4);
  put_word(file.bytes + 4, 2);
  put_word(file.bytes + 8, (uint32_t)file.size);
  put_word(file.bytes + 12, (uint32_t)text_size);
  memcpy(file.bytes + 16, "JSON", 4);
  memset(file.bytes + 20, ' ', text_size);
  memcpy(file.bytes + 20, text, strlen(text));
  if (byte_count > 0) {
    put_word(file.bytes + 20 + text_size, (uint32_t)padded);
    memcpy(file.bytes + 24 + text_size, "BIN", 4);
    memcpy(file.bytes + 28 + text_size, bytes, byte_count);
  }
  return file;
}

// The file that our writer makes of the tube.
static inline glb make_tube_file(void) {
  tube* t = malloc(sizeof *t);
  assert_non_null(t);
  sn_error err = {0};
  if (sn_gltf_save(scratch_path("tube.glb"), make_tube(t), &err) != SN_OK) fail_msg("%s", err.text);
  free(t);
  glb file;
  file.bytes = read_everything(scratch_path("tube.glb"), &file.size);
  return file;
}

static inline uint32_t text_size_of(const glb* file) {
  uint32_t size = 0;
  for (int i = 3; i >= 0; --i) size = size << 8 | (unsigned char)file->bytes[12 + i];
  return size;
}

static inline json_t* document_of(const glb* file) {
  json_t* document = json_loadb(file->bytes + 20, text_size_of(file), 0, NULL);
  assert_non_null(document);
  return document;
}

// The same bytes under another document.
static inline glb with_document(const glb* file, const json_t* document) {
  char* text = json_dumps(document, JSON_COMPACT);
  assert_non_null(text);
  size_t start = 20 + text_size_of(file) + 8;
  glb changed = make_glb(text, file->bytes + start, file->size - start);
  free(text);
  return changed;
}

// With a change such as "nodes.0.mesh=7".
static inline glb with_change(const glb* file, const char* change) {
  json_t* document = document_of(file);
  sn_error err = {0};
  if (sn_scene_apply_change(document, change, &err) != SN_OK) fail_msg("%s", err.text);
  glb changed = with_document(file, document);
  json_decref(document);
  return changed;
}

static inline sn_gltf parse_well(const char* path, const char* bytes, size_t size) {
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_gltf_parse(path, bytes, size, &gltf, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_gltf_check(&gltf, &err) != SN_OK) fail_msg("%s", err.text);
  return gltf;
}

// Parse a document with bytes behind it.
static inline sn_gltf parse_made(const char* text, const void* bytes, size_t byte_count) {
  glb file = make_glb(text, bytes, byte_count);
  sn_gltf gltf = parse_well("made.glb", file.bytes, file.size);
  free(file.bytes);
  return gltf;
}

static inline void assert_file_refused(const glb* file, const char* part) {
  size_t used = sn_memory_used();
  sn_gltf gltf;
  sn_error err = {0};
  sn_status status = sn_gltf_parse(scratch_path("made.glb"), file->bytes, file->size, &gltf, &err);
  if (status != SN_ERR_INPUT) fail_msg("status %d (%s), expected '%s'", status, err.text, part);
  assert_int_equal(err.status, SN_ERR_INPUT);
  assert_message_has(&err, part);
  assert_message_has(&err, "made.glb: ");
  assert_null(strchr(err.text, '\n'));
  assert_null(gltf.storage);
  assert_int_equal(sn_memory_used(), used);
}

#endif
