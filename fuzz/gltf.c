// glTF, as text and in its container, all the way to the flesh of a character.
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bool is_container = size >= 4 && memcmp(data, "glTF", 4) == 0;
  fuzz_character(is_container ? "character.glb" : "character.gltf", data, size);
  return 0;
}
