// Point caches, PC2. Little-endian on every host:
//
//    0  char[12]  "POINTCACHE2" and a zero
//   12  int32     version, 1
//   16  int32     vertices
//   20  float     first frame
//   24  float     frames between samples, 1
//   28  int32     frames
//   32  float     x, y, z of every vertex, frame after frame
//
// A frame is written behind the published ones and counted afterwards, so whatever happens the
// header never promises more than there is. Readers thus accept bytes behind the last frame. Where there
// is a file of checksums beside the cache, it is written between the frame and the count, and readers
// compare.
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/pc2.h"

#include "base/memory.h"
#include "io/floats.h"
#include "io/sums.h"

#define HEADER_BYTES 32
#define FRAME_COUNT_OFFSET 28
#define VALUES_AT_ONCE 4096

static const char magic[12] = "POINTCACHE2";

struct sn_pc2 {
  sn_file file;
  sn_sums sums;  // closed: none are kept
  uint32_t vertex_count, frame_count;
  uint32_t found_frames, keep_frames;  // of a cache that is continued, until it is cut
  char path[];
};

typedef struct pc2_header {
  uint32_t vertex_count, frame_count;
  float first_frame, sample_rate;
} pc2_header;

static void put_word(unsigned char* bytes, uint32_t word) {
  for (int i = 0; i < 4; ++i) bytes[i] = (unsigned char)(word >> (8 * i));
}

static void put_float(unsigned char* bytes, float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  put_word(bytes, word);
}

static uint64_t frame_bytes(uint32_t vertex_count) { return 12 * (uint64_t)vertex_count; }

static uint64_t frame_offset(uint32_t vertex_count, uint32_t frame) {
  return HEADER_BYTES + frame * frame_bytes(vertex_count);
}

static void encode_header(const pc2_header* header, unsigned char bytes[HEADER_BYTES]) {
  memcpy(bytes, magic, sizeof magic);
  put_word(bytes + 12, 1);
  put_word(bytes + 16, header->vertex_count);
  put_float(bytes + 20, header->first_frame);
  put_float(bytes + 24, header->sample_rate);
  put_word(bytes + FRAME_COUNT_OFFSET, header->frame_count);
}

// Every number is checked: only what fits into the file is believed.
static sn_status read_header(const sn_file* file, pc2_header* header, sn_error* err) {
  unsigned char bytes[HEADER_BYTES];
  SN_CHECK(file->size >= HEADER_BYTES, err, SN_ERR_INPUT,
           "%s: %llu bytes; expected a point cache (PC2), which has %d or more", file->path,
           (unsigned long long)file->size, HEADER_BYTES);
  SN_TRY(sn_file_read_at(file, 0, bytes, sizeof bytes, err));
  SN_CHECK(memcmp(bytes, magic, sizeof magic) == 0, err, SN_ERR_INPUT,
           "%s: starts with other bytes than POINTCACHE2; expected a point cache (PC2)",
           file->path);
  SN_CHECK(sn_get_word(bytes + 12, SN_LITTLE_ENDIAN) == 1, err, SN_ERR_INPUT,
           "%s: point cache of version %u; expected version 1", file->path,
           sn_get_word(bytes + 12, SN_LITTLE_ENDIAN));
  *header = (pc2_header){sn_get_word(bytes + 16, SN_LITTLE_ENDIAN),
                         sn_get_word(bytes + FRAME_COUNT_OFFSET, SN_LITTLE_ENDIAN),
                         sn_get_float(bytes + 20, SN_LITTLE_ENDIAN),
                         sn_get_float(bytes + 24, SN_LITTLE_ENDIAN)};
  SN_CHECK(header->vertex_count > 0 && header->vertex_count <= INT32_MAX, err, SN_ERR_INPUT,
           "%s: the header gives %d vertices; expected 1 or more", file->path,
           (int)header->vertex_count);
  SN_CHECK(isfinite(header->first_frame) && isfinite(header->sample_rate), err, SN_ERR_INPUT,
           "%s: the header gives first frame %g and frame step %g; expected finite numbers",
           file->path, (double)header->first_frame, (double)header->sample_rate);
  uint64_t whole_frames = (file->size - HEADER_BYTES) / frame_bytes(header->vertex_count);
  SN_CHECK(header->frame_count <= whole_frames && header->frame_count <= INT32_MAX, err,
           SN_ERR_INPUT,
           "%s: the header gives %u frames of %u vertices, but the file ends after %llu; expected "
           "the whole file",
           file->path, header->frame_count, header->vertex_count, (unsigned long long)whole_frames);
  return SN_OK;
}

// Writing

static sn_status start_cache(sn_pc2* pc2, int first_frame, bool with_sums, sn_error* err) {
  pc2_header header = {pc2->vertex_count, 0, (float)first_frame, 1.0f};
  unsigned char bytes[HEADER_BYTES];
  encode_header(&header, bytes);
  // In this order there are never checksums of another cache beside one.
  SN_TRY(sn_sums_remove(pc2->path, err));
  SN_TRY(sn_file_write_atomic(pc2->path, bytes, sizeof bytes, err));
  if (with_sums) SN_TRY(sn_sums_start(pc2->path, pc2->vertex_count, first_frame, &pc2->sums, err));
  return sn_file_open(pc2->path, SN_FILE_UPDATE, &pc2->file, err);
}

static sn_status publish_frame_count(sn_pc2* pc2, uint32_t frame_count, sn_error* err) {
  unsigned char word[4];
  put_word(word, frame_count);
  SN_TRY(sn_file_write_at(&pc2->file, FRAME_COUNT_OFFSET, word, sizeof word, err));
  pc2->frame_count = frame_count;
  return SN_OK;
}

static sn_status check_frames(const sn_pc2* pc2, uint32_t keep_frames, sn_error* err) {
  size_t bytes = frame_bytes(pc2->vertex_count);
  float* positions = sn_allocate(bytes);
  if (!positions) return sn_fail_memory(err, bytes);
  sn_status status = SN_OK;
  for (uint32_t frame = 0; frame < keep_frames && status == SN_OK; ++frame) {
    status = sn_read_places(&pc2->file, frame_offset(pc2->vertex_count, frame), SN_LITTLE_ENDIAN,
                            pc2->vertex_count, positions, err);
    if (status == SN_OK) {
      status = sn_sums_check_frame(&pc2->sums, pc2->path, frame, positions, err);
    }
  }
  sn_release(positions);
  return status;
}

// The checksums say what is there; the count in the header may have been lost with the power.
static sn_status open_sums(sn_pc2* pc2, pc2_header* header, uint32_t keep_frames, sn_error* err) {
  SN_TRY(sn_sums_open(pc2->path, SN_FILE_UPDATE, &pc2->sums, err));
  SN_CHECK(sn_sums_is_open(&pc2->sums), err, SN_ERR_INPUT,
           "%s.sums: is not there; expected the checksums of the cache to continue: start anew",
           pc2->path);
  SN_TRY(sn_sums_check_header(&pc2->sums, pc2->path, header->vertex_count,
                              (double)header->first_frame, (double)header->sample_rate, err));
  SN_TRY(check_frames(pc2, keep_frames, err));
  if (header->frame_count < keep_frames) header->frame_count = keep_frames;
  return SN_OK;
}

// First the promise, then the data, so that the header stays true in between.
sn_status sn_pc2_cut(sn_pc2* pc2, sn_error* err) {
  bool with_sums = sn_sums_is_open(&pc2->sums);
  uint32_t keep_frames = pc2->keep_frames;
  if (with_sums) SN_TRY(sn_sums_set_count(&pc2->sums, keep_frames, pc2->found_frames, err));
  SN_TRY(publish_frame_count(pc2, keep_frames, err));
  SN_TRY(sn_file_cut(&pc2->file, frame_offset(pc2->vertex_count, keep_frames), err));
  if (!with_sums) return SN_OK;
  SN_TRY(sn_sums_set_count(&pc2->sums, keep_frames, keep_frames, err));
  return sn_sums_cut(&pc2->sums, keep_frames, err);
}

static sn_status continue_cache(sn_pc2* pc2, int first_frame, uint32_t keep_frames, bool with_sums,
                                sn_error* err) {
  SN_TRY(sn_file_open(pc2->path, SN_FILE_UPDATE, &pc2->file, err));
  pc2_header header;
  SN_TRY(read_header(&pc2->file, &header, err));
  SN_CHECK(header.vertex_count == pc2->vertex_count, err, SN_ERR_INPUT,
           "%s: holds %u vertices; expected %u, so it belongs to another surface: start anew",
           pc2->path, header.vertex_count, pc2->vertex_count);
  SN_CHECK(header.first_frame == (float)first_frame && header.sample_rate == 1.0f, err,
           SN_ERR_INPUT, "%s: starts at frame %g with step %g; expected %d with step 1: start anew",
           pc2->path, (double)header.first_frame, (double)header.sample_rate, first_frame);
  uint64_t whole_frames = (pc2->file.size - HEADER_BYTES) / frame_bytes(pc2->vertex_count);
  if (with_sums && whole_frames >= keep_frames) SN_TRY(open_sums(pc2, &header, keep_frames, err));
  SN_CHECK(header.frame_count >= keep_frames, err, SN_ERR_INPUT,
           "%s: holds %u frames; expected %u or more to continue: start anew", pc2->path,
           header.frame_count, keep_frames);
  pc2->found_frames = header.frame_count;
  pc2->keep_frames = keep_frames;
  return SN_OK;
}

static sn_status open_cache(const char* path, uint32_t vertex_count, sn_pc2** pc2, sn_error* err) {
  *pc2 = NULL;
  SN_CHECK(vertex_count > 0 && vertex_count <= INT32_MAX, err, SN_ERR_INPUT,
           "%s: a cache of %u vertices; expected 1 to %d", path, vertex_count, INT32_MAX);
  size_t path_bytes = strlen(path) + 1;
  sn_pc2* opened = sn_allocate(sizeof *opened + path_bytes);
  if (!opened) return sn_fail_memory(err, sizeof *opened + path_bytes);
  *opened = (sn_pc2){.file = {.descriptor = -1},
                     .sums = {.file = {.descriptor = -1}},
                     .vertex_count = vertex_count};
  memcpy(opened->path, path, path_bytes);
  *pc2 = opened;
  return SN_OK;
}

static sn_status close_failed(sn_pc2** pc2, sn_status status) {
  if (status == SN_OK) return SN_OK;
  sn_pc2_close(*pc2);
  *pc2 = NULL;
  return status;
}

sn_status sn_pc2_start(const char* path, uint32_t vertex_count, int first_frame, bool with_sums,
                       sn_pc2** pc2, sn_error* err) {
  SN_TRY(open_cache(path, vertex_count, pc2, err));
  return close_failed(pc2, start_cache(*pc2, first_frame, with_sums, err));
}

sn_status sn_pc2_continue(const char* path, uint32_t vertex_count, int first_frame,
                          uint32_t keep_frames, bool with_sums, sn_pc2** pc2, sn_error* err) {
  SN_TRY(open_cache(path, vertex_count, pc2, err));
  return close_failed(pc2, continue_cache(*pc2, first_frame, keep_frames, with_sums, err));
}

sn_status sn_pc2_open(const char* path, uint32_t vertex_count, int first_frame,
                      uint32_t keep_frames, sn_pc2** pc2, sn_error* err) {
  if (keep_frames == 0) return sn_pc2_start(path, vertex_count, first_frame, false, pc2, err);
  SN_TRY(sn_pc2_continue(path, vertex_count, first_frame, keep_frames, false, pc2, err));
  return close_failed(pc2, sn_pc2_cut(*pc2, err));
}

static sn_status write_values(sn_pc2* pc2, uint64_t offset, const float* values, size_t count,
                              sn_error* err) {
  unsigned char bytes[4 * VALUES_AT_ONCE];
  for (size_t first = 0; first < count; first += VALUES_AT_ONCE) {
    size_t some = count - first < VALUES_AT_ONCE ? count - first : VALUES_AT_ONCE;
    for (size_t i = 0; i < some; ++i) {
      SN_ASSERT(isfinite(values[first + i]));
      put_float(bytes + 4 * i, values[first + i]);
    }
    SN_TRY(sn_file_write_at(&pc2->file, offset + 4 * first, bytes, 4 * some, err));
  }
  return SN_OK;
}

sn_status sn_pc2_append(sn_pc2* pc2, const float* positions, sn_error* err) {
  SN_CHECK(pc2->frame_count < INT32_MAX, err, SN_ERR_IO, "%s: a cache holds at most %d frames",
           pc2->path, INT32_MAX);
  uint64_t offset = frame_offset(pc2->vertex_count, pc2->frame_count);
  SN_TRY(write_values(pc2, offset, positions, 3 * (size_t)pc2->vertex_count, err));
  // Also after a power cut the count must not be on the disk before the data.
  SN_TRY(sn_file_sync(&pc2->file, err));
  uint32_t count = pc2->frame_count + 1;
  bool with_sums = sn_sums_is_open(&pc2->sums);
  if (with_sums) SN_TRY(sn_sums_append(&pc2->sums, pc2->frame_count, positions, err));
  SN_TRY(publish_frame_count(pc2, count, err));
  return with_sums ? sn_sums_set_count(&pc2->sums, count, count, err) : SN_OK;
}

void sn_pc2_close(sn_pc2* pc2) {
  if (!pc2) return;
  sn_sums_close(&pc2->sums);
  sn_file_close(&pc2->file);
  sn_release(pc2);
}

// Reading

// A run may be writing to both files: then the header is read again until the checksums are the same before
// and after.
#define MOST_TRIES 1000

// A cache that is open to be read, with its checksums if there are any.
typedef struct reader {
  sn_file file;
  sn_sums sums;
  pc2_header header;
} reader;

static bool are_counts_equal(const sn_sums* a, const sn_sums* b) {
  return sn_sums_is_open(a) == sn_sums_is_open(b) && a->count == b->count && a->before == b->before;
}

// Header and checksums of one moment.
static sn_status read_both(const char* path, reader* r, bool* same, sn_error* err) {
  sn_sums before;
  SN_TRY(sn_sums_open(path, SN_FILE_READ, &before, err));
  sn_status status = sn_file_open(path, SN_FILE_READ, &r->file, err);
  if (status == SN_OK) status = read_header(&r->file, &r->header, err);
  if (status == SN_OK) status = sn_sums_open(path, SN_FILE_READ, &r->sums, err);
  *same = status == SN_OK && are_counts_equal(&before, &r->sums);
  sn_sums_close(&before);
  return status;
}

static void close_reader(reader* r) {
  sn_sums_close(&r->sums);
  sn_file_close(&r->file);
}

static sn_status check_reader(const reader* r, sn_error* err) {
  const sn_sums* sums = &r->sums;
  const pc2_header* header = &r->header;
  if (!sn_sums_is_open(sums)) return SN_OK;
  SN_TRY(sn_sums_check_header(sums, r->file.path, header->vertex_count, (double)header->first_frame,
                              (double)header->sample_rate, err));
  SN_CHECK(
      header->frame_count == sums->count || header->frame_count == sums->before, err, SN_ERR_INPUT,
      "%s: damaged: its header gives %u frames, but %s knows %u; expected the cache as the run "
      "wrote it: --resume puts it right, or run again",
      r->file.path, header->frame_count, sums->path, sums->count);
  return SN_OK;
}

static sn_status open_reader(const char* path, reader* r, sn_error* err) {
  bool same = false;
  for (int tries = 0; tries < MOST_TRIES && !same; ++tries) {
    *r = (reader){.file = {.descriptor = -1}, .sums = {.file = {.descriptor = -1}}};
    sn_status status = read_both(path, r, &same, err);
    if (same) status = check_reader(r, err);
    if (same && status == SN_OK) return SN_OK;
    close_reader(r);
    if (status != SN_OK) return status;
  }
  return sn_fail(err, SN_ERR_IO, "%s: changes all the time; expected it to rest for a moment",
                 path);
}

sn_status sn_pc2_read_first_frame(const char* path, int* first_frame, sn_error* err) {
  sn_file file;
  pc2_header header;
  SN_TRY(sn_file_open(path, SN_FILE_READ, &file, err));
  sn_status status = read_header(&file, &header, err);
  sn_file_close(&file);
  if (status != SN_OK) return status;
  SN_CHECK(fabsf(header.first_frame) < (float)INT32_MAX, err, SN_ERR_INPUT,
           "%s: the header gives first frame %g; expected a frame", path,
           (double)header.first_frame);
  *first_frame = (int)header.first_frame;
  return SN_OK;
}

sn_status sn_pc2_read_info(const char* path, sn_pc2_info* info, sn_error* err) {
  *info = (sn_pc2_info){0};
  reader r;
  SN_TRY(open_reader(path, &r, err));
  *info = (sn_pc2_info){r.header.vertex_count, r.header.frame_count, r.header.first_frame,
                        r.header.sample_rate};
  close_reader(&r);
  return SN_OK;
}

static sn_status read_frame(const reader* r, uint32_t frame, float* positions, sn_error* err) {
  const pc2_header* header = &r->header;
  SN_CHECK(frame < header->frame_count, err, SN_ERR_INPUT,
           "%s: frame %u asked for, counted from 0; expected less than %u, the frames it holds",
           r->file.path, frame, header->frame_count);
  SN_TRY(sn_read_places(&r->file, frame_offset(header->vertex_count, frame), SN_LITTLE_ENDIAN,
                        header->vertex_count, positions, err));
  if (!sn_sums_is_open(&r->sums)) return SN_OK;
  return sn_sums_check_frame(&r->sums, r->file.path, frame, positions, err);
}

// The count of frames does not matter here: a viewer shows what is there.
static sn_status check_frame(const char* path, const sn_sums* sums, uint32_t frame, sn_error* err) {
  sn_file file;
  SN_TRY(sn_file_open(path, SN_FILE_READ, &file, err));
  uint64_t bytes = frame_bytes(sums->vertex_count),
           offset = frame_offset(sums->vertex_count, frame);
  sn_status status = SN_OK;
  if (file.size < offset || file.size - offset < bytes) {
    status = sn_fail(err, SN_ERR_INPUT, "%s: ends before frame %u, counted from 0; expected more",
                     path, frame);
  }
  if (status == SN_OK) status = sn_sums_check_piece(sums, &file, frame, offset, bytes, err);
  sn_file_close(&file);
  return status;
}

sn_status sn_pc2_check_frame(const char* path, uint32_t frame, sn_error* err) {
  sn_sums sums;
  SN_TRY(sn_sums_open(path, SN_FILE_READ, &sums, err));
  sn_status status = sn_sums_is_open(&sums) ? check_frame(path, &sums, frame, err) : SN_OK;
  sn_sums_close(&sums);
  return status;
}

sn_status sn_pc2_read_frame(const char* path, uint32_t frame, float* positions, sn_error* err) {
  reader r;
  SN_TRY(open_reader(path, &r, err));
  sn_status status = read_frame(&r, frame, positions, err);
  close_reader(&r);
  return status;
}
