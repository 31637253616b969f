// Point caches, MDD. Big-endian on every host:
//
//    0  int32  frames
//    4  int32  vertices
//    8  float  time of every frame, s
//       float  x, y, z of every vertex, frame after frame
#include "io/mdd.h"

#include <math.h>

#include "io/floats.h"

#define HEADER_BYTES 8

static sn_status read_time(const sn_file* file, uint32_t frame, float* time, sn_error* err) {
  unsigned char bytes[4];
  SN_TRY(sn_file_read_at(file, HEADER_BYTES + 4 * (uint64_t)frame, bytes, sizeof bytes, err));
  *time = sn_get_float(bytes, SN_BIG_ENDIAN);
  SN_CHECK(isfinite(*time), err, SN_ERR_INPUT,
           "%s: the time of frame %u is not finite; expected seconds", file->path, frame);
  return SN_OK;
}

// Every number is checked: only what fits into the file is believed.
static sn_status read_header(const sn_file* file, sn_mdd_info* info, sn_error* err) {
  unsigned char bytes[HEADER_BYTES];
  *info = (sn_mdd_info){0};
  SN_CHECK(file->size >= HEADER_BYTES, err, SN_ERR_INPUT,
           "%s: %llu bytes; expected a point cache (MDD), which has %d or more", file->path,
           (unsigned long long)file->size, HEADER_BYTES);
  SN_TRY(sn_file_read_at(file, 0, bytes, sizeof bytes, err));
  uint32_t frames = sn_get_word(bytes, SN_BIG_ENDIAN);
  uint32_t vertices = sn_get_word(bytes + 4, SN_BIG_ENDIAN);
  SN_CHECK(
      frames > 0 && frames <= INT32_MAX && vertices > 0 && vertices <= INT32_MAX, err, SN_ERR_INPUT,
      "%s: the header gives %d frames of %d vertices; expected 1 or more of each: is it a point "
      "cache (MDD)?",
      file->path, (int)frames, (int)vertices);
  uint64_t whole_frames = (file->size - HEADER_BYTES) / (4 + 12 * (uint64_t)vertices);
  SN_CHECK(frames <= whole_frames, err, SN_ERR_INPUT,
           "%s: the header gives %u frames of %u vertices, but the file ends after %llu; expected "
           "the whole file",
           file->path, frames, vertices, (unsigned long long)whole_frames);
  info->vertex_count = vertices;
  info->frame_count = frames;
  SN_TRY(read_time(file, 0, &info->first_time, err));
  return read_time(file, frames - 1, &info->last_time, err);
}

sn_status sn_mdd_read_info(const char* path, sn_mdd_info* info, sn_error* err) {
  sn_file file;
  *info = (sn_mdd_info){0};
  SN_TRY(sn_file_open(path, SN_FILE_READ, &file, err));
  sn_status status = read_header(&file, info, err);
  sn_file_close(&file);
  return status;
}

static sn_status read_frame(const sn_file* file, uint32_t frame, float* positions, sn_error* err) {
  sn_mdd_info info;
  SN_TRY(read_header(file, &info, err));
  SN_CHECK(frame < info.frame_count, err, SN_ERR_INPUT,
           "%s: frame %u asked for, counted from 0; expected less than %u, the frames it holds",
           file->path, frame, info.frame_count);
  uint64_t first = HEADER_BYTES + 4 * (uint64_t)info.frame_count;
  return sn_read_places(file, first + 12 * (uint64_t)info.vertex_count * frame, SN_BIG_ENDIAN,
                        info.vertex_count, positions, err);
}

sn_status sn_mdd_read_frame(const char* path, uint32_t frame, float* positions, sn_error* err) {
  sn_file file;
  SN_TRY(sn_file_open(path, SN_FILE_READ, &file, err));
  sn_status status = read_frame(&file, frame, positions, err);
  sn_file_close(&file);
  return status;
}
