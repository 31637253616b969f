// Checkpoints, from the file to the next step. The first byte of the input says how the rest is meant:
//
//     bit 0   the rest is a list of edits of a good checkpoint, three bytes each: offset (16 bits), a byte to xor;
//             else the rest is the file itself
//     bit 1   the checksum at its end is put right, so that what is behind it is reached
//     bit 2   the file itself gets the head of a good one
//     bit 3   as bit 0, but what is between head and checksum is replaced by the rest, over and over
//     bit 4   edits and replacements are made to the state as it is before it is packed; then it is packed, and the
//             checksum put right
//     bit 5   with bit 4: the edits are numbers, ten bytes each: which one of the state (16 bits), a double to put there
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "fuzz.h"

#define MOST_BYTES ((size_t)1 << 20)
#define HEAD_BYTES 32
#define CHECKSUM_BYTES 8
#define FRAME 2

enum {
  EDIT = 1,
  GOOD_CHECKSUM = 2,
  GOOD_HEAD = 4,
  REPLACE = 8,
  UNPACKED = 16,
  PUT_NUMBERS = 32,
};

typedef struct small_run {
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  uint8_t* good;  // a checkpoint of frame 2
  size_t good_size;
  uint8_t* plain;  // the same without checksum, its state not packed
  size_t plain_size;
  size_t state_begin;  // in both
} small_run;

static const char SCENE[] =
    "{\"bodies\": [{\"surface\": \"box.obj\", \"cell\": 0.5, \"coarsen\": 0}],"
    "\"bones\": [{\"name\": \"core\", \"capsule\": {\"from\": [0.3, 0.5, 0.5], \"to\": [0.7, 0.5, "
    "0.5], \"radius\": "
    "0.2},"
    "\"motion\": [{\"frame\": 1}, {\"frame\": 4, \"translate\": [0, 0.1, 0]}]}],"
    "\"attachments\": [{\"bone\": \"core\"}], \"colliders\": [{\"shape\": \"plane\"}],"
    "\"solver\": {\"newton\": {\"max\": 1, \"retries\": 0}}}";

static void must(sn_status status, const sn_error* err) {
  if (status != SN_OK) fuzz_fail("%s", err->text);
}

static void keep_plain(small_run* run) {
  uint32_t traits;
  memcpy(&traits, run->good + 20, sizeof traits);
  run->state_begin = HEAD_BYTES + traits;
  run->plain = malloc(MOST_BYTES);
  FUZZ_CHECK(run->plain && run->state_begin + CHECKSUM_BYTES < run->good_size);
  memcpy(run->plain, run->good, run->state_begin);
  size_t size = ZSTD_decompress(run->plain + run->state_begin, MOST_BYTES - run->state_begin,
                                run->good + run->state_begin,
                                run->good_size - run->state_begin - CHECKSUM_BYTES);
  FUZZ_CHECK(!ZSTD_isError(size) && size > 0);
  run->plain_size = run->state_begin + size;
}

static void keep_good(small_run* run) {
  sn_state* state = NULL;
  sn_error err = {0};
  sn_frame_stats stats;
  const char* path = fuzz_path("good");
  must(sn_state_create(run->model, run->pool, &state, &err), &err);
  for (int frame = 1; frame <= FRAME; ++frame) {
    must(sn_step(run->model, state, frame, &stats, &err), &err);
  }
  must(sn_state_save(run->model, state, path, &err), &err);
  sn_state_destroy(state);
  FILE* file = fopen(path, "rb");
  run->good = malloc(MOST_BYTES);
  FUZZ_CHECK(file && run->good);
  run->good_size = fread(run->good, 1, MOST_BYTES, file);
  FUZZ_CHECK(run->good_size > HEAD_BYTES + CHECKSUM_BYTES && run->good_size < MOST_BYTES);
  fclose(file);
  keep_plain(run);
}

static const small_run* get_run(void) {
  static small_run run;
  if (run.good) return &run;
  sn_error err = {0};
  fuzz_write_boxes();
  sn_scene_source source = {.json = SCENE, .length = strlen(SCENE), .folder = fuzz_folder()};
  must(sn_scene_parse(&source, NULL, 0, &run.scene, &err), &err);
  must(sn_pool_create(1, &run.pool, &err), &err);
  must(sn_model_build(run.scene, run.pool, &run.model, &err), &err);
  keep_good(&run);
  return &run;
}

static void put_checksum(uint8_t* file, size_t length) {
  uint64_t checksum = XXH64(file, length - CHECKSUM_BYTES, 0);
  memcpy(file + length - CHECKSUM_BYTES, &checksum, sizeof checksum);
}

// Bytes of the input as edits of `bytes`, or in place of what is from `begin` on.
static void edit(uint8_t mode, const uint8_t* data, size_t size, uint8_t* bytes, size_t begin,
                 size_t end, size_t length) {
  if (mode & REPLACE && size > 0) {
    for (size_t i = begin; i < end; ++i) bytes[i] = data[(i - begin) % size];
  } else if (mode & PUT_NUMBERS) {
    size_t count = (end - begin) / sizeof(double);
    for (; size >= 10; size -= 10, data += 10) {
      size_t number = (size_t)(data[0] | data[1] << 8) % count;
      memcpy(bytes + begin + sizeof(double) * number, data + 2, sizeof(double));
    }
  } else {
    for (; size >= 3; size -= 3, data += 3) bytes[(data[0] | data[1] << 8) % length] ^= data[2];
  }
}

// Packed anew after the edits, as a program would that has these numbers.
static size_t make_packed(const small_run* run, uint8_t mode, const uint8_t* data, size_t size,
                          uint8_t* file) {
  uint8_t* plain = malloc(run->plain_size);
  FUZZ_CHECK(plain);
  memcpy(plain, run->plain, run->plain_size);
  edit(mode, data, size, plain, run->state_begin, run->plain_size, run->plain_size);
  memcpy(file, plain, run->state_begin);
  size_t packed =
      ZSTD_compress(file + run->state_begin, MOST_BYTES - run->state_begin - CHECKSUM_BYTES,
                    plain + run->state_begin, run->plain_size - run->state_begin, 1);
  FUZZ_CHECK(!ZSTD_isError(packed));
  free(plain);
  size_t length = run->state_begin + packed + CHECKSUM_BYTES;
  put_checksum(file, length);
  return length;
}

static size_t make_file(const small_run* run, const uint8_t* data, size_t size, uint8_t* file) {
  uint8_t mode = size > 0 ? *data++ : 0;
  if (size > 0) --size;
  if (mode & UNPACKED) return make_packed(run, mode, data, size, file);
  size_t length = run->good_size;
  if (mode & (EDIT | REPLACE)) {
    memcpy(file, run->good, length);
    edit(mode & REPLACE, data, size, file, HEAD_BYTES, length - CHECKSUM_BYTES, length);
  } else {
    length = size < MOST_BYTES ? size : MOST_BYTES;
    memcpy(file, data, length);
    if (mode & GOOD_HEAD && length >= HEAD_BYTES) memcpy(file, run->good, HEAD_BYTES);
  }
  if (mode & GOOD_CHECKSUM && length >= CHECKSUM_BYTES) put_checksum(file, length);
  return length;
}

static void check_state(const small_run* run, const sn_state* state) {
  float places[24];
  FUZZ_CHECK(sn_model_surface_count(run->model, 0) == 8);
  sn_surface_extract(run->model, state, 0, places);
  fuzz_check_finite(places, 24);
}

static void load(const small_run* run, const char* path, size_t size) {
  sn_state* state = NULL;
  sn_error err = {0};
  must(sn_state_create(run->model, run->pool, &state, &err), &err);
  int frame = sn_state_frame(state);
  fuzz_memory_begin(size);
  bool good = fuzz_accepted(sn_state_load(run->model, state, path, &err), &err);
  fuzz_memory_end();
  check_state(run, state);
  if (good) {
    sn_frame_stats stats;
    if (fuzz_accepted(sn_step(run->model, state, FRAME + 1, &stats, &err), &err)) {
      check_state(run, state);
    }
  } else {
    FUZZ_CHECK(sn_state_frame(state) == frame);
  }
  sn_state_destroy(state);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const small_run* run = get_run();
  size_t held = fuzz_memory_held();
  uint8_t* file = malloc(MOST_BYTES);
  FUZZ_CHECK(file);
  size_t length = make_file(run, data, size, file);
  const char* path = fuzz_write("checkpoint", file, length);
  free(file);
  load(run, path, length);
  FUZZ_CHECK(fuzz_memory_held() == held);
  return 0;
}
