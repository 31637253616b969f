// PC2 again, for frames, axes or a scale other than those of the run's own cache. The layout is in pc2.c;
// here the number of frames is known beforehand, so the file is written in one go.
#include "io/export.h"

static sn_status write_body(const sn_export_job* job, const sn_export_body* body, sn_writer* w,
                            sn_error* err) {
  const float clock[2] = {(float)job->first_frame, 1.0f};
  sn_write_bytes(w, "POINTCACHE2", sizeof "POINTCACHE2");
  sn_write_little(w, 1);
  sn_write_little(w, body->mesh.vertex_count);
  sn_write_little_floats(w, clock, 2);
  sn_write_little(w, job->frame_count);
  for (uint32_t k = 0; k < job->frame_count && w->status == SN_OK; ++k) {
    SN_TRY(sn_export_read(job, body, k, job->positions, err));
    sn_write_little_floats(w, job->positions, 3 * (size_t)body->mesh.vertex_count);
  }
  return SN_OK;
}

sn_status sn_export_pc2(const sn_export_job* job, sn_error* err) {
  return sn_export_each_body(job, write_body, err);
}
