// OBJ files, all the way to a body that falls.
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz_surface("surface.obj", data, size);
  return 0;
}
