// OBJ, a file a frame: polygons, groups, names of materials and texture coordinates as in the input.
#include "io/export.h"
#include "io/obj_write.h"

static sn_status write_frame(const sn_export_job* job, const sn_export_body* body,
                             const sn_mesh_parts* parts, uint32_t frame, sn_error* err) {
  char path[SN_EXPORT_PATH];
  sn_writer w;
  SN_TRY(sn_export_path(job, body, job->first_frame + (int)frame, path, err));
  SN_TRY(sn_export_read(job, body, frame, job->positions, err));
  sn_writer_open(&w, path, err);
  for (size_t v = 0; v < body->mesh.vertex_count; ++v) {
    const float* p = job->positions + 3 * v;
    sn_obj_write_vertex(&w, (double)p[0], (double)p[1], (double)p[2]);
  }
  sn_obj_write_faces(&w, &body->mesh, parts);
  SN_TRY(sn_writer_close(&w, SN_OK));
  sn_export_tell(job, path);
  return SN_OK;
}

sn_status sn_export_obj(const sn_export_job* job, sn_error* err) {
  for (uint32_t b = 0; b < job->body_count; ++b) {
    sn_mesh_parts parts;
    sn_arena_mark mark = sn_arena_get_mark(job->arena);
    SN_TRY(sn_mesh_parts_find(&job->bodies[b].mesh, job->arena, &parts, err));
    for (uint32_t k = 0; k < job->frame_count; ++k) {
      SN_TRY(write_frame(job, &job->bodies[b], &parts, k, err));
    }
    sn_arena_release(job->arena, mark);
  }
  return SN_OK;
}
