// Checkpoints, from the file to the next step. The first byte of the input says how the rest is meant:
//
//     bit 0   the rest is a list of edits of a good checkpoint, three bytes each: offset (16 bits), a byte to xor;
//             else the rest is the file itself
//     bit 1   the checksum at its end is put right, so that what is behind it is reached
//     bit 2   the file itself gets the head of a good one
//     bit 3   as bit 0, but what is between head and checksum is replaced by the rest, over and over
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fuzz.h"

#define MOST_BYTES ((size_t)1 << 20)
#define HEAD_BYTES 32
#define FRAME 2

typedef struct small_run {
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  uint8_t* good;  // a checkpoint of frame 2
  size_t good_size;
} small_run;

static const char SCENE[] =
    "{\"bodies\": [{\"surface\": \"box.obj\", \"cell\": 0.5, \"coarsen\": 0}],"
    "\"bones\": [{\"name\": \"core\", \"capsule\": {\"from\": [0.3, 0.5, 0.5], \"to\": [0.7, 0.5, "
    "0.5], \"radius\": "
    "0.2},"
    "\"motion\": [{\"frame\": 1}, {\"frame\": 4, \"translate\": [0, 0.1, 0]}]}],"
    "\"attachments\": [{\"bone\": \"core\"}], \"colliders\": [{\"shape\": \"plane\"}],"
    "\"solver\": {\"newton\": {\"max\": 1}}}";

static void must(sn_status status, const sn_error* err) {
  if (status != SN_OK) fuzz_fail("%s", err->text);
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
  FUZZ_CHECK(run->good_size > HEAD_BYTES + 8 && run->good_size < MOST_BYTES);
  fclose(file);
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

static size_t make_file(const small_run* run, const uint8_t* data, size_t size, uint8_t* file) {
  uint8_t mode = size > 0 ? *data++ : 0;
  if (size > 0) --size;
  size_t length = run->good_size;
  if (mode & 8 && size > 0) {
    memcpy(file, run->good, length);
    for (size_t i = HEAD_BYTES; i < length - 8; ++i) file[i] = data[(i - HEAD_BYTES) % size];
  } else if (mode & 1) {
    memcpy(file, run->good, length);
    for (; size >= 3; size -= 3, data += 3) file[(data[0] | data[1] << 8) % length] ^= data[2];
  } else {
    length = size < MOST_BYTES ? size : MOST_BYTES;
    memcpy(file, data, length);
    if (mode & 4 && length >= HEAD_BYTES) memcpy(file, run->good, HEAD_BYTES);
  }
  if (mode & 2 && length >= 8) {
    uint64_t checksum = XXH64(file, length - 8, 0);
    memcpy(file + length - 8, &checksum, sizeof checksum);
  }
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
