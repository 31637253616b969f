// Point caches, PC2 and MDD, as the motion of a body's own surface, of a bone and of a collider; and a PC2 that a run
// goes on with.
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

// A run that is resumed keeps the first frame and appends one.
static void go_on(const char* path, uint32_t vertex_count) {
  sn_pc2* pc2 = NULL;
  sn_error err = {0};
  float* places = calloc(3 * (size_t)vertex_count + 1, sizeof *places);
  FUZZ_CHECK(places);
  if (fuzz_accepted(sn_pc2_open(path, vertex_count, 1, 1, &pc2, &err), &err)) {
    sn_pc2_info info;
    FUZZ_CHECK(sn_pc2_append(pc2, places, &err) == SN_OK);
    FUZZ_CHECK(sn_pc2_read_info(path, &info, &err) == SN_OK);
    FUZZ_CHECK(info.frame_count == 2 && info.vertex_count == vertex_count);
  }
  sn_pc2_close(pc2);
  free(places);
}

static void read_frames(const char* path, size_t size) {
  sn_pc2_info info;
  sn_error err = {0};
  if (!fuzz_accepted(sn_pc2_read_info(path, &info, &err), &err)) return;
  uint64_t bytes = 12 * (uint64_t)info.vertex_count;
  FUZZ_CHECK(bytes * info.frame_count <= size);
  // Without a frame nothing bounds the vertices, and nothing is read.
  if (info.frame_count == 0) return;
  float* places = malloc((size_t)bytes + 1);
  FUZZ_CHECK(places);
  for (uint32_t frame = 0; frame < info.frame_count && frame < 4; ++frame) {
    fuzz_accepted(sn_pc2_read_frame(path, frame, places, &err), &err);
  }
  free(places);
  go_on(path, info.vertex_count);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bool is_pc2 = size >= 11 && memcmp(data, "POINTCACHE2", 11) == 0;
  size_t held = fuzz_memory_held();
  fuzz_write_boxes();
  const char* path = fuzz_write(is_pc2 ? "move.pc2" : "move.mdd", data, size);
  if (is_pc2) {
    fuzz_simulate_text(
        "{\"bodies\": [{\"surface\": \"box.obj\", \"cell\": 0.25, \"pose\": {\"from\": "
        "\"move.pc2\"}}], \"attachments\": [{\"to\": \"pose\", \"where\": {\"near\": 0.3}}], "
        "\"bones\": [{\"mesh\": \"small.obj\", \"motion\": {\"from\": \"move.pc2\"}}]}",
        size + 4096);
    read_frames(path, size);
  } else {
    fuzz_simulate_text(
        "{\"bodies\": [{\"surface\": \"box.obj\", \"cell\": 0.25, \"initial\": {\"translate\": "
        "[0, 1, 0]}}], \"colliders\": [{\"mesh\": \"small.obj\", \"motion\": {\"from\": "
        "\"move.mdd\"}}]}",
        size + 4096);
  }
  FUZZ_CHECK(fuzz_memory_held() == held);
  return 0;
}
