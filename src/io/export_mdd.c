// MDD, LightWave's point cache. Big-endian on every host:
//
//   0          int32  frames, f
//   4          int32  vertices
//   8          float  f times in seconds, the first 0
//   8 + 4 f    float  x, y, z of every vertex, frame after frame
#include "io/export.h"

static sn_status write_body(const sn_export_job* job, const sn_export_body* body, sn_writer* w,
                            sn_error* err) {
  sn_write_big(w, job->frame_count);
  sn_write_big(w, body->mesh.vertex_count);
  for (uint32_t k = 0; k < job->frame_count; ++k) {
    float time = (float)(k / job->fps);
    sn_write_big_floats(w, &time, 1);
  }
  for (uint32_t k = 0; k < job->frame_count && w->status == SN_OK; ++k) {
    SN_TRY(sn_export_read(job, body, k, job->positions, err));
    sn_write_big_floats(w, job->positions, 3 * (size_t)body->mesh.vertex_count);
  }
  return SN_OK;
}

sn_status sn_export_mdd(const sn_export_job* job, sn_error* err) {
  return sn_export_each_body(job, write_body, err);
}
