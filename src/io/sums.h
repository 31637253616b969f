// PATH.sums, the checksums of the frames of a cache PATH. A cache of PC2 has no room for them, and other
// programs read it; so they are in a file beside it, and readers compare. docs/formats.md has the layout.
//
// The file also knows how many frames the cache is to have: one number while nothing happens, two while
// the cache changes from one to the other.
#ifndef SN_IO_SUMS_H
#define SN_IO_SUMS_H

#include "io/file.h"

// An open file of checksums.
typedef struct sn_sums {
  sn_file file;
  uint32_t vertex_count;
  int first_frame;
  uint32_t count, before;  // frames of the cache: one or the other
  char* path;
} sn_sums;

// Write to `path` (of the cache) and ".sums" a new file without frames, and open it.
sn_status sn_sums_start(const char* cache, uint32_t vertex_count, int first_frame, sn_sums* sums,
                        sn_error* err);
// Open what is there. SN_ERR_INPUT if it is damaged; *sums is then closed. Where there is no such file,
// SN_OK and a closed *sums.
sn_status sn_sums_open(const char* cache, sn_file_access access, sn_sums* sums, sn_error* err);
static inline bool sn_sums_is_open(const sn_sums* sums) { return sums->file.descriptor >= 0; }
// Of a closed one too.
void sn_sums_close(sn_sums* sums);
// Remove the file of a cache that is about to be another. One that is not there is fine.
sn_status sn_sums_remove(const char* cache, sn_error* err);

// Does the cache's header go with the checksums? SN_ERR_INPUT if not.
sn_status sn_sums_check_header(const sn_sums* sums, const char* cache, uint32_t vertex_count,
                               double first_frame, double frame_step, sn_error* err);
// Is this what was written for the frame (counted from 0)? SN_ERR_INPUT if not.
// @param positions (3 x vertex_count)
sn_status sn_sums_check_frame(const sn_sums* sums, const char* cache, uint32_t frame,
                              const float* positions, sn_error* err);
// The same of bytes in the open cache, without holding all of them.
sn_status sn_sums_check_piece(const sn_sums* sums, const sn_file* cache, uint32_t frame,
                              uint64_t offset, uint64_t bytes, sn_error* err);

// Announce that the cache goes from `before` frames to `count`, or is settled there if they are equal.
sn_status sn_sums_set_count(sn_sums* sums, uint32_t count, uint32_t before, sn_error* err);
// The checksum of frame `frame`, the next that the cache will count, on the disk, and the announcement of it.
sn_status sn_sums_append(sn_sums* sums, uint32_t frame, const float* positions, sn_error* err);
// Cut to the checksums of `count` frames.
sn_status sn_sums_cut(const sn_sums* sums, uint32_t count, sn_error* err);

#endif
