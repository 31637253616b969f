// Point caches of LightWave and others, MDD: frames of vertex positions with a time each.
#ifndef SN_IO_MDD_H
#define SN_IO_MDD_H

#include "base/status.h"

typedef struct sn_mdd_info {
  uint32_t vertex_count, frame_count;
  float first_time, last_time;  // s
} sn_mdd_info;

// Checked against the size of the file.
sn_status sn_mdd_read_info(const char* path, sn_mdd_info* info, sn_error* err);
// Positions of one frame, counted from 0. @param positions (3 x vertex_count)
sn_status sn_mdd_read_frame(const char* path, uint32_t frame, float* positions, sn_error* err);

#endif
