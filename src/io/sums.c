#include "io/sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define MAGIC "SINEWSM"
#define VERSION 1u
#define COUNT_OFFSET 32
#define SUMS_OFFSET 48
#define PIECE_BYTES 65536

typedef struct header {
  char magic[8];
  uint32_t version, vertices;
  int32_t first_frame;
  uint32_t unused;
  uint64_t checksum;  // of all before
} header;

// In one piece, which is written by one call and lies within one sector.
typedef struct counts {
  uint32_t count, before;
  uint64_t checksum;  // of both
} counts;

_Static_assert(sizeof(header) == COUNT_OFFSET && sizeof(counts) == SUMS_OFFSET - COUNT_OFFSET,
               "both are written as they are");

static counts make_counts(uint32_t count, uint32_t before) {
  counts c = {count, before, 0};
  c.checksum = XXH64(&c, offsetof(counts, checksum), 0);
  return c;
}

static uint64_t sum_offset(uint32_t frame) { return SUMS_OFFSET + frame * sizeof(uint64_t); }

// The number of the frame goes in, so that frames that changed places show too.
static uint64_t sum_of(const sn_sums* sums, uint32_t frame, const float* positions) {
  return XXH64(positions, 3 * (size_t)sums->vertex_count * sizeof *positions, frame);
}

static sn_status make_path(const char* cache, char** path, sn_error* err) {
  size_t length = strlen(cache) + sizeof ".sums";
  *path = sn_allocate(length);
  if (!*path) return sn_fail_memory(err, length);
  snprintf(*path, length, "%s.sums", cache);
  return SN_OK;
}

static sn_status fail_damaged(const sn_sums* sums, const char* what, sn_error* err) {
  return sn_fail(err, SN_ERR_INPUT,
                 "%s: damaged: %s; expected the file as the run wrote it: run again", sums->path,
                 what);
}

static sn_status write_new(sn_sums* sums, sn_error* err) {
  struct {
    header head;
    counts counts;
  } all = {{MAGIC, VERSION, sums->vertex_count, sums->first_frame, 0, 0}, make_counts(0, 0)};
  all.head.checksum = XXH64(&all.head, offsetof(header, checksum), 0);
  SN_TRY(sn_file_write_atomic(sums->path, &all, sizeof all, err));
  return sn_file_open(sums->path, SN_FILE_UPDATE, &sums->file, err);
}

sn_status sn_sums_start(const char* cache, uint32_t vertex_count, int first_frame, sn_sums* sums,
                        sn_error* err) {
  *sums = (sn_sums){
      .file = {.descriptor = -1}, .vertex_count = vertex_count, .first_frame = first_frame};
  SN_TRY(make_path(cache, &sums->path, err));
  sn_status status = write_new(sums, err);
  if (status != SN_OK) sn_sums_close(sums);
  return status;
}

static sn_status read_counts(sn_sums* sums, sn_error* err) {
  counts c;
  SN_TRY(sn_file_read_at(&sums->file, COUNT_OFFSET, &c, sizeof c, err));
  if (c.checksum != make_counts(c.count, c.before).checksum) {
    return fail_damaged(sums, "the number of frames is garbled", err);
  }
  sums->count = c.count;
  sums->before = c.before;
  return SN_OK;
}

static sn_status read_header(sn_sums* sums, sn_error* err) {
  header head;
  if (sums->file.size < SUMS_OFFSET) return fail_damaged(sums, "it has no whole header", err);
  SN_TRY(sn_file_read_at(&sums->file, 0, &head, sizeof head, err));
  if (memcmp(head.magic, MAGIC, sizeof head.magic) != 0 ||
      head.checksum != XXH64(&head, offsetof(header, checksum), 0)) {
    return fail_damaged(sums, "its header is not that of checksums", err);
  }
  SN_CHECK(head.version == VERSION, err, SN_ERR_INPUT,
           "%s: checksums of version %u; expected version %u: run again", sums->path, head.version,
           VERSION);
  sums->vertex_count = head.vertices;
  sums->first_frame = head.first_frame;
  return read_counts(sums, err);
}

sn_status sn_sums_open(const char* cache, sn_file_access access, sn_sums* sums, sn_error* err) {
  *sums = (sn_sums){.file = {.descriptor = -1}};
  SN_TRY(make_path(cache, &sums->path, err));
  bool missing = !sn_file_exists(sums->path);
  sn_status status = missing ? SN_OK : sn_file_open(sums->path, access, &sums->file, err);
  if (status == SN_OK && !missing) status = read_header(sums, err);
  if (status != SN_OK || missing) sn_sums_close(sums);
  return status;
}

void sn_sums_close(sn_sums* sums) {
  sn_file_close(&sums->file);
  sn_release(sums->path);
  sums->path = NULL;
}

sn_status sn_sums_remove(const char* cache, sn_error* err) {
  char* path;
  SN_TRY(make_path(cache, &path, err));
  sn_status status = sn_file_remove(path, err);
  sn_release(path);
  return status;
}

sn_status sn_sums_check_header(const sn_sums* sums, const char* cache, uint32_t vertex_count,
                               double first_frame, double frame_step, sn_error* err) {
  SN_CHECK(
      vertex_count == sums->vertex_count && first_frame == sums->first_frame && frame_step == 1,
      err, SN_ERR_INPUT,
      "%s: damaged, or not the cache that %s belongs to: its header gives %u vertices from "
      "frame %g on with step %g; expected %u, %d and 1: run again",
      cache, sums->path, vertex_count, first_frame, frame_step, sums->vertex_count,
      sums->first_frame);
  return SN_OK;
}

static sn_status compare(const sn_sums* sums, const char* cache, uint32_t frame, uint64_t found,
                         sn_error* err) {
  uint64_t sum;
  if (sums->file.size < sum_offset(frame + 1)) {
    return fail_damaged(sums, "it ends before the last frame", err);
  }
  SN_TRY(sn_file_read_at(&sums->file, sum_offset(frame), &sum, sizeof sum, err));
  SN_CHECK(sum == found, err, SN_ERR_INPUT,
           "%s: damaged: frame %" PRId64
           " has another checksum than %s says; expected the cache as the run wrote it: run again",
           cache, (int64_t)sums->first_frame + frame, sums->path);
  return SN_OK;
}

sn_status sn_sums_check_frame(const sn_sums* sums, const char* cache, uint32_t frame,
                              const float* positions, sn_error* err) {
  return compare(sums, cache, frame, sum_of(sums, frame, positions), err);
}

static sn_status add_pieces(XXH64_state_t* state, const sn_file* cache, uint64_t offset,
                            uint64_t bytes, sn_error* err) {
  unsigned char piece[PIECE_BYTES];
  for (uint64_t done = 0; done < bytes;) {
    size_t some = bytes - done < sizeof piece ? (size_t)(bytes - done) : sizeof piece;
    SN_TRY(sn_file_read_at(cache, offset + done, piece, some, err));
    XXH64_update(state, piece, some);
    done += some;
  }
  return SN_OK;
}

sn_status sn_sums_check_piece(const sn_sums* sums, const sn_file* cache, uint32_t frame,
                              uint64_t offset, uint64_t bytes, sn_error* err) {
  XXH64_state_t* state = XXH64_createState();
  if (!state) return sn_fail_memory(err, PIECE_BYTES);
  XXH64_reset(state, frame);
  sn_status status = add_pieces(state, cache, offset, bytes, err);
  uint64_t found = XXH64_digest(state);
  XXH64_freeState(state);
  return status == SN_OK ? compare(sums, cache->path, frame, found, err) : status;
}

sn_status sn_sums_set_count(sn_sums* sums, uint32_t count, uint32_t before, sn_error* err) {
  counts c = make_counts(count, before);
  SN_TRY(sn_file_write_at(&sums->file, COUNT_OFFSET, &c, sizeof c, err));
  sums->count = count;
  sums->before = before;
  return SN_OK;
}

sn_status sn_sums_append(sn_sums* sums, uint32_t frame, const float* positions, sn_error* err) {
  uint64_t sum = sum_of(sums, frame, positions);
  SN_TRY(sn_file_write_at(&sums->file, sum_offset(frame), &sum, sizeof sum, err));
  SN_TRY(sn_sums_set_count(sums, frame + 1, frame, err));
  // The cache must not count a frame on the disk before its checksum is there.
  return sn_file_sync(&sums->file, err);
}

sn_status sn_sums_cut(const sn_sums* sums, uint32_t count, sn_error* err) {
  return sn_file_cut(&sums->file, sum_offset(count), err);
}
