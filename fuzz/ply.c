// PLY files, all the way to a body that falls; and their values as a map.
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_surface("surface.ply", data, size);
  fuzz_write_boxes();
  fuzz_simulate_text(
      "{\"bodies\": [{\"surface\": \"box.obj\", \"cell\": 0.25, "
      "\"maps\": {\"stiffness\": \"surface.ply\"}}]}",
      size);
  return 0;
}
