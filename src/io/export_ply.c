// PLY, a binary little-endian file a frame. Vertices stay as they are: texture coordinates are numbers s, t
// of a vertex where no vertex has two, else a list `texcoord` of each face.
#include "io/export.h"
#include "io/mesh_parts.h"
#include "io/writer.h"

#define CORNERS_MAX 255  // of a face whose count is a byte

typedef enum uv_place { UV_NONE, UV_VERTEX, UV_FACE } uv_place;

static uv_place place_uvs(const sn_mesh* mesh, const sn_mesh_parts* parts) {
  if (!parts->point_uvs) return UV_NONE;
  return parts->point_count == mesh->vertex_count ? UV_VERTEX : UV_FACE;
}

static bool faces_are_small(const sn_mesh* mesh) {
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    uint32_t corners = mesh->face_starts[f + 1] - mesh->face_starts[f];
    if (corners > CORNERS_MAX || (mesh->uvs && 2 * corners > CORNERS_MAX)) return false;
  }
  return true;
}

static void write_header(sn_writer* w, const sn_mesh* mesh, uv_place place, bool small) {
  sn_write_text(w, "ply\nformat binary_little_endian 1.0\ncomment Sinew\nelement vertex ");
  sn_write_whole(w, mesh->vertex_count);
  sn_write_text(w, "\nproperty float x\nproperty float y\nproperty float z\n");
  if (place == UV_VERTEX) sn_write_text(w, "property float s\nproperty float t\n");
  sn_write_text(w, "element face ");
  sn_write_whole(w, mesh->face_count);
  const char* type = small ? "uchar" : "uint";
  sn_write_text(w, "\nproperty list ");
  sn_write_text(w, type);
  sn_write_text(w, " int vertex_indices\n");
  if (place == UV_FACE) {
    sn_write_text(w, "property list ");
    sn_write_text(w, type);
    sn_write_text(w, " float texcoord\n");
  }
  sn_write_text(w, "end_header\n");
}

static void write_count(sn_writer* w, uint32_t count, bool small) {
  unsigned char byte = (unsigned char)count;
  if (small) {
    sn_write_bytes(w, &byte, 1);
  } else {
    sn_write_little(w, count);
  }
}

static void write_faces(sn_writer* w, const sn_mesh* mesh, uv_place place, bool small) {
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    uint32_t first = mesh->face_starts[f], count = mesh->face_starts[f + 1] - first;
    write_count(w, count, small);
    for (uint32_t c = first; c < first + count; ++c) sn_write_little(w, mesh->face_vertices[c]);
    if (place != UV_FACE) continue;
    write_count(w, 2 * count, small);
    sn_write_little_floats(w, mesh->uvs + 2 * (size_t)first, 2 * (size_t)count);
  }
}

static sn_status write_frame(const sn_export_job* job, const sn_export_body* body,
                             const sn_mesh_parts* parts, uint32_t frame, sn_error* err) {
  const sn_mesh* mesh = &body->mesh;
  uv_place place = place_uvs(mesh, parts);
  bool small = faces_are_small(mesh);
  char path[SN_EXPORT_PATH];
  sn_writer w;
  SN_TRY(sn_export_path(job, body, job->first_frame + (int)frame, path, err));
  SN_TRY(sn_export_read(job, body, frame, job->positions, err));
  sn_writer_open(&w, path, err);
  write_header(&w, mesh, place, small);
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    sn_write_little_floats(&w, job->positions + 3 * v, 3);
    if (place == UV_VERTEX) sn_write_little_floats(&w, parts->point_uvs + 2 * v, 2);
  }
  write_faces(&w, mesh, place, small);
  SN_TRY(sn_writer_close(&w, SN_OK));
  sn_export_tell(job, path);
  return SN_OK;
}

sn_status sn_export_ply(const sn_export_job* job, sn_error* err) {
  for (uint32_t b = 0; b < job->body_count; ++b) {
    sn_mesh_parts parts;
    const sn_mesh* mesh = &job->bodies[b].mesh;
    SN_CHECK(mesh->vertex_count <= INT32_MAX, err, SN_ERR_INPUT,
             "body \"%s\": %u vertices; expected %d or less, as PLY counts them",
             job->bodies[b].name, mesh->vertex_count, INT32_MAX);
    sn_arena_mark mark = sn_arena_get_mark(job->arena);
    SN_TRY(sn_mesh_parts_find(mesh, job->arena, &parts, err));
    for (uint32_t k = 0; k < job->frame_count; ++k) {
      SN_TRY(write_frame(job, &job->bodies[b], &parts, k, err));
    }
    sn_arena_release(job->arena, mark);
  }
  return SN_OK;
}
