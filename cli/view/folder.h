// The folder of a run. Files are opened by their name in it and never through a link, so whatever the
// folder holds, nothing outside of it is read.
#ifndef SN_CLI_VIEW_FOLDER_H
#define SN_CLI_VIEW_FOLDER_H

#include <sinew/sn.h>
#include <sys/stat.h>

typedef struct view_folder {
  int descriptor;  // -1: not open
  char path[4096];
} view_folder;

// SN_ERR_INPUT if there is none, SN_ERR_IO if it cannot be read.
sn_status folder_open(const char* path, view_folder* f, sn_error* err);
void folder_close(view_folder* f);

// A regular file of the folder, or -1. The caller closes it. @param info may be NULL
int folder_file(const view_folder* f, const char* name, const char* ending, struct stat* info);
// The whole of a small file with a zero behind it, to be freed; NULL if it is not there, cannot be read
// or is larger than `most`. @param size may be NULL
char* folder_text(const view_folder* f, const char* name, size_t most, size_t* size);
// All `size` bytes from `offset` on, or false.
bool read_at(int file, uint64_t offset, void* bytes, size_t size);

#endif
