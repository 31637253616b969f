// Meshes from and to files: which format it is, and the reader or writer for it.
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "io/file.h"
#include "io/obj.h"
#include "io/obj_write.h"
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

sn_status sn_mesh_save_obj(const char* path, const sn_mesh* mesh, sn_error* err) {
  sn_arena* scratch;
  sn_mesh_parts parts;
  SN_TRY(sn_arena_create(&scratch, err));
  sn_status status = sn_mesh_parts_find(mesh, scratch, &parts, err);
  if (status == SN_OK) {
    sn_writer w;
    sn_writer_open(&w, path, err);
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      const double* p = mesh->positions + 3 * v;
      sn_obj_write_vertex(&w, p[0], p[1], p[2]);
    }
    sn_obj_write_faces(&w, mesh, &parts);
    status = sn_writer_close(&w, SN_OK);
  }
  sn_arena_destroy(scratch);
  return status;
}
