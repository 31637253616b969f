// Meshes from and to files: which format it is, and the reader or writer for it.
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include "base/memory.h"
#include "io/file.h"
#include "io/obj.h"
#include "io/ply.h"
#include "sinew/mesh.h"

static bool ends_with(const char* path, const char* ending) {
  size_t length = strlen(path), ending_length = strlen(ending);
  return length >= ending_length && strcasecmp(path + length - ending_length, ending) == 0;
}

static bool starts_as_ply(const char* bytes, size_t size) {
  return size > 3 && memcmp(bytes, "ply", 3) == 0 && strchr(" \t\r\n", bytes[3]);
}

// By its mark, or because every other byte of plain letters would be zero.
static bool looks_like_utf16(const char* bytes, size_t size) {
  if (size < 4) return false;
  const unsigned char* b = (const unsigned char*)bytes;
  bool marked = (b[0] == 0xfe && b[1] == 0xff) || (b[0] == 0xff && b[1] == 0xfe);
  bool little_endian = b[0] && !b[1] && b[2] && !b[3];
  bool big_endian = !b[0] && b[1] && !b[2] && b[3];
  return marked || little_endian || big_endian;
}

static sn_status parse_mesh(const char* path, const char* bytes, size_t size, sn_mesh* mesh,
                            sn_error* err) {
  if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {  // mark of UTF-8
    bytes += 3;
    size -= 3;
  }
  SN_CHECK(size > 0, err, SN_ERR_INPUT, "%s: the file is empty; expected a surface mesh", path);
  if (starts_as_ply(bytes, size)) return sn_ply_parse(path, bytes, size, mesh, err);
  bool is_ply = ends_with(path, ".ply");
  SN_CHECK(is_ply || ends_with(path, ".obj"), err, SN_ERR_INPUT,
           "%s: unknown kind of mesh; expected an OBJ file (.obj) or a PLY file (.ply)", path);
  SN_CHECK(!looks_like_utf16(bytes, size), err, SN_ERR_INPUT,
           "%s: the text is UTF-16; expected UTF-8 or ASCII: save or convert it as such", path);
  if (is_ply) return sn_ply_parse(path, bytes, size, mesh, err);
  return sn_obj_parse(path, bytes, size, mesh, err);
}

sn_status sn_mesh_load(const char* path, sn_mesh* mesh, sn_error* err) {
  *mesh = (sn_mesh){0};
  sn_arena* scratch;
  SN_TRY(sn_arena_create(&scratch, err));
  char* bytes;
  size_t size;
  sn_status status = sn_file_read(path, scratch, &bytes, &size, err);
  if (status == SN_OK) status = parse_mesh(path, bytes, size, mesh, err);
  sn_arena_destroy(scratch);
  return status;
}

// The longest lines: "v" with three of " -1.23456789e-100", and " 4294967295" for each corner.
#define VERTEX_TEXT_BYTES 64
#define CORNER_TEXT_BYTES 12
#define FACE_TEXT_BYTES 4

static size_t write_text(const sn_mesh* mesh, char* text) {
  char* at = text;
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    const double* p = mesh->positions + 3 * v;
    at += snprintf(at, VERTEX_TEXT_BYTES, "v %.9g %.9g %.9g\n", p[0], p[1], p[2]);
  }
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    *at++ = 'f';
    for (uint32_t c = mesh->face_starts[f]; c < mesh->face_starts[f + 1]; ++c) {
      at += snprintf(at, CORNER_TEXT_BYTES, " %llu", mesh->face_vertices[c] + 1ull);
    }
    *at++ = '\n';
  }
  return (size_t)(at - text);
}

// The host may have set a locale that writes a comma for the decimal point.
static size_t write_plain_text(const sn_mesh* mesh, char* text) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = plain ? uselocale(plain) : (locale_t)0;
  size_t size = write_text(mesh, text);
  if (plain) {
    uselocale(before);
    freelocale(plain);
  }
  return size;
}

sn_status sn_mesh_save_obj(const char* path, const sn_mesh* mesh, sn_error* err) {
  size_t corner_count = mesh->face_count > 0 ? mesh->face_starts[mesh->face_count] : 0;
  size_t room = (size_t)mesh->vertex_count * VERTEX_TEXT_BYTES + corner_count * CORNER_TEXT_BYTES +
                (size_t)mesh->face_count * FACE_TEXT_BYTES + 1;
  char* text = sn_allocate(room);
  if (!text) return sn_fail_memory(err, room);
  size_t size = write_plain_text(mesh, text);
  SN_ASSERT(size < room);
  sn_status status = sn_file_write_atomic(path, text, size, err);
  sn_release(text);
  return status;
}
