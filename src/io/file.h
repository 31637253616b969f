// The little that everything on disk is read and written with: whole files in, whole files out in
// one step, and pieces at an offset.
//
// A file that is missing or cannot be opened for reading is wrong input (SN_ERR_INPUT); what fails
// later, or while writing, is SN_ERR_IO. Messages name the path and the system's reason.
#ifndef SN_IO_FILE_H
#define SN_IO_FILE_H

#include "base/memory.h"

// An open regular file. The path is borrowed, for messages.
typedef struct sn_file {
  int descriptor;  // -1: closed
  const char* path;
  uint64_t size;  // bytes, when it was opened
} sn_file;

typedef enum sn_file_access { SN_FILE_READ, SN_FILE_UPDATE } sn_file_access;

// The whole file; a zero follows its last byte and does not count.
sn_status sn_file_read(const char* path, sn_arena* arena, char** bytes, size_t* size,
                       sn_error* err);

// Replace or create a file so that a reader, or a crash at any moment, finds the old content or the
// new, never a part. The folder must exist.
sn_status sn_file_write_atomic(const char* path, const void* bytes, size_t size, sn_error* err);

// The same for content that comes in pieces: write into `file`, then publish or abandon it, which also
// closes it. `temporary` (`path` with ".tmp" behind it) is borrowed.
sn_status sn_file_begin(char* temporary, sn_file* file, sn_error* err);
sn_status sn_file_publish(sn_file* file, char* temporary, const char* path, sn_error* err);
void sn_file_abandon(sn_file* file);

bool sn_file_exists(const char* path);
// Remove a file. One that is not there is fine.
sn_status sn_file_remove(const char* path, sn_error* err);

// Create a folder and those above it. One that exists is fine.
sn_status sn_folder_create(const char* path, sn_error* err);

// Open a file to write to, made if it is not there; what is in it stays.
sn_status sn_file_create(const char* path, sn_file* file, sn_error* err);
// Open an existing regular file.
sn_status sn_file_open(const char* path, sn_file_access access, sn_file* file, sn_error* err);
sn_status sn_file_read_at(const sn_file* file, uint64_t offset, void* bytes, size_t size,
                          sn_error* err);
sn_status sn_file_write_at(const sn_file* file, uint64_t offset, const void* bytes, size_t size,
                           sn_error* err);
// Cut to `size` bytes.
sn_status sn_file_cut(const sn_file* file, uint64_t size, sn_error* err);
// Wait until the content is on the disk.
sn_status sn_file_sync(const sn_file* file, sn_error* err);
void sn_file_close(sn_file* file);

#endif
