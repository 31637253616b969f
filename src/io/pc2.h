// Caches as a run writes them: with checksums of the frames in a file beside each (io/sums.h), and continued
// in two steps, so that nothing is cut before all of them are found good.
#ifndef SN_IO_PC2_H
#define SN_IO_PC2_H

#include "sinew/io.h"

sn_status sn_pc2_start(const char* path, uint32_t vertex_count, int first_frame, bool with_sums,
                       sn_pc2** pc2, sn_error* err);
// Open what is there and see whether the first `keep_frames` (> 0) can be kept; with checksums, whether they
// are what was written. SN_ERR_INPUT if not.
sn_status sn_pc2_continue(const char* path, uint32_t vertex_count, int first_frame,
                          uint32_t keep_frames, bool with_sums, sn_pc2** pc2, sn_error* err);
// Cut off all other frames. Comes before anything is appended.
sn_status sn_pc2_cut(sn_pc2* pc2, sn_error* err);

// From the header alone, whatever its checksums say.
sn_status sn_pc2_read_first_frame(const char* path, int* first_frame, sn_error* err);

#endif
