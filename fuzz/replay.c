// replay [--show] FILE_OR_FOLDER...: the target on stored inputs, one after the other; with --show also what is
// refused, and why. What fails ends the process
// with the file's name as the last line before.
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static int file_count;

static int run_file(const char* path, const struct stat* info, int kind, struct FTW* at) {
  (void)at;
  if (kind != FTW_F) return 0;
  // A block of the very size, so that the sanitizer sees a step too far.
  size_t size = (size_t)info->st_size;
  uint8_t* bytes = malloc(size > 0 ? size : 1);
  FILE* file = fopen(path, "rb");
  if (!bytes || !file || fread(bytes, 1, size, file) != size) {
    fprintf(stderr, "%s cannot be read\n", path);
    exit(1);
  }
  fclose(file);
  printf("%s\n", path);
  fflush(stdout);
  LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  ++file_count;
  return 0;
}

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(words[i], "--show") == 0) {
      fuzz_show = true;
    } else {
      nftw(words[i], run_file, 8, FTW_PHYS);
    }
  }
  printf("%d inputs\n", file_count);
  return file_count > 0 ? 0 : 1;
}
