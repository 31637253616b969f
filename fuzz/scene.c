// Scenes as JSON, in a folder with a few files to name: box.obj, small.obj, move.pc2 (eight vertices), map.csv.
#include <string.h>

#include "fuzz.h"

#define FOLDER_BYTES 4096

static void write_cache(void) {
  struct {
    char magic[12];
    int32_t one, vertices;
    float first, step;
    int32_t frames;
    float places[2][8][3];
  } cache = {"POINTCACHE2", 1, 8, 1, 1, 2, {{{0}}}};
  for (int frame = 0; frame < 2; ++frame) {
    for (int c = 0; c < 8; ++c) {
      float* p = cache.places[frame][c];
      p[0] = c & 1 ? 1.0f : 0.0f;
      p[1] = (c & 2 ? 1.0f : 0.0f) + 0.1f * (float)frame;
      p[2] = c & 4 ? 1.0f : 0.0f;
    }
  }
  fuzz_write("move.pc2", &cache, sizeof cache);
}

static void make_files(void) {
  static bool made;
  if (made) return;
  fuzz_write_boxes();
  write_cache();
  fuzz_write_text("map.csv", "1\n2\n1\n1\n0.5\n1\n1\n1\n");
  made = true;
}

// The text with every default filled in means the same scene.
static void read_again(const sn_scene* scene, const sn_scene_source* source) {
  sn_scene* again = NULL;
  sn_error err = {0};
  sn_scene_source resolved = *source;
  resolved.json = sn_scene_json(scene);
  resolved.length = strlen(resolved.json);
  if (sn_scene_parse(&resolved, NULL, 0, &again, &err) != SN_OK) fuzz_fail("%s", err.text);
  FUZZ_CHECK(strcmp(sn_scene_json(scene), sn_scene_json(again)) == 0);
  sn_scene_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  make_files();
  size_t held = fuzz_memory_held();
  sn_scene* scene = NULL;
  sn_error err = {0};
  sn_scene_source source = {.json = (const char*)data, .length = size, .folder = fuzz_folder()};
  fuzz_memory_begin(size + FOLDER_BYTES);
  bool good = fuzz_accepted(sn_scene_parse(&source, NULL, 0, &scene, &err), &err);
  fuzz_memory_end();
  if (good) {
    read_again(scene, &source);
    fuzz_simulate(scene);
  }
  sn_scene_destroy(scene);
  FUZZ_CHECK(fuzz_memory_held() == held);
  return 0;
}
