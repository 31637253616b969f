// Characters of other formats, all the way to their flesh. Which it is shows at the first bytes: FBX in binary or
// as text, Collada, or a Biovision hierarchy.
#include <string.h>

#include "fuzz.h"

static bool begins(const uint8_t* data, size_t size, const char* with) {
  return size >= strlen(with) && memcmp(data, with, strlen(with)) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const char* name = begins(data, size, "<")           ? "character.dae"
                     : begins(data, size, "HIERARCHY") ? "character.bvh"
                                                       : "character.fbx";
  fuzz_character(name, data, size);
  return 0;
}
