#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static sn_status fail_input(sn_error* err, const char* path, const char* reason) {
  return sn_fail(err, SN_ERR_INPUT,
                 "%s: cannot be read: %s; expected the path of a file that exists and may be read",
                 path, reason);
}

static sn_status fail_io(sn_error* err, const char* path, const char* action) {
  return sn_fail(err, SN_ERR_IO, "%s: cannot be %s: %s", path, action, strerror(errno));
}

// Open files

static sn_status fail_open(sn_error* err, const char* path, sn_file_access access) {
  if (access == SN_FILE_READ || errno == ENOENT) return fail_input(err, path, strerror(errno));
  return fail_io(err, path, "opened for writing");
}

sn_status sn_file_open(const char* path, sn_file_access access, sn_file* file, sn_error* err) {
  *file = (sn_file){-1, path, 0};
  // Not blocking: the other end of a pipe may never come. Without effect on regular files.
  int mode = (access == SN_FILE_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK;
  int descriptor = open(path, mode);
  if (descriptor < 0) return fail_open(err, path, access);
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return fail_input(err, path, "it is not a regular file");
  }
  *file = (sn_file){descriptor, path, (uint64_t)info.st_size};
  return SN_OK;
}

void sn_file_close(sn_file* file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

sn_status sn_file_read_at(const sn_file* file, uint64_t offset, void* bytes, size_t size,
                          sn_error* err) {
  size_t done = 0;
  while (done < size) {
    ssize_t got = pread(file->descriptor, (char*)bytes + done, size - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_io(err, file->path, "read");
    SN_CHECK(got > 0, err, SN_ERR_IO, "%s: became shorter while it was read; expected %zu bytes",
             file->path, size);
    done += (size_t)got;
  }
  return SN_OK;
}

sn_status sn_file_write_at(const sn_file* file, uint64_t offset, const void* bytes, size_t size,
                           sn_error* err) {
  size_t done = 0;
  while (done < size) {
    ssize_t put =
        pwrite(file->descriptor, (const char*)bytes + done, size - done, (off_t)(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_io(err, file->path, "written");
    done += (size_t)put;
  }
  return SN_OK;
}

sn_status sn_file_cut(const sn_file* file, uint64_t size, sn_error* err) {
  while (ftruncate(file->descriptor, (off_t)size) != 0) {
    if (errno != EINTR) return fail_io(err, file->path, "cut");
  }
  return SN_OK;
}

sn_status sn_file_sync(const sn_file* file, sn_error* err) {
  while (fsync(file->descriptor) != 0) {
    if (errno == EINVAL || errno == ENOTSUP) break;  // a file system that cannot be asked
    if (errno != EINTR) return fail_io(err, file->path, "written to disk");
  }
  return SN_OK;
}

// Whole files

sn_status sn_file_read(const char* path, sn_arena* arena, char** bytes, size_t* size,
                       sn_error* err) {
  *bytes = NULL;
  *size = 0;
  sn_file file;
  SN_TRY(sn_file_open(path, SN_FILE_READ, &file, err));
  sn_status status = SN_OK;
  char* block = NULL;
  if (file.size >= SIZE_MAX) status = sn_fail_memory(err, SIZE_MAX);
  if (status == SN_OK) status = SN_ARENA_NEW(arena, (size_t)file.size + 1, &block, err);
  if (status == SN_OK) status = sn_file_read_at(&file, 0, block, (size_t)file.size, err);
  sn_file_close(&file);
  if (status != SN_OK) return status;
  *bytes = block;
  *size = (size_t)file.size;
  return SN_OK;
}

static char* join_text(const char* first, const char* second) {
  size_t length = strlen(first) + strlen(second) + 1;
  char* joined = sn_allocate(length);
  if (joined) snprintf(joined, length, "%s%s", first, second);
  return joined;
}

// The name of the temporary file is fixed, so that one left by a killed program is used up by the
// next write. The lock keeps two writers apart; it may come after the other one has renamed the
// file away, hence the look at what the name stands for now.
static sn_status open_temporary(sn_file* file, sn_error* err) {
  file->descriptor = open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file->descriptor < 0) return fail_io(err, file->path, "created");
  struct stat opened, named;
  bool taken = flock(file->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (fstat(file->descriptor, &opened) != 0 || lstat(file->path, &named) != 0 ||
      opened.st_dev != named.st_dev || opened.st_ino != named.st_ino) {
    taken = true;
  }
  if (!taken) return SN_OK;
  sn_file_close(file);
  return sn_fail(err, SN_ERR_IO, "%s: another program is writing this file; expected to be alone",
                 file->path);
}

// A rename is on the disk once its folder is. Not every file system can be asked, so no error.
static void sync_folder_of(char* path) {
  char* slash = strrchr(path, '/');
  if (slash) slash[slash == path] = 0;
  int folder = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

sn_status sn_file_begin(char* temporary, sn_file* file, sn_error* err) {
  *file = (sn_file){-1, temporary, 0};
  SN_TRY(open_temporary(file, err));
  sn_status status = sn_file_cut(file, 0, err);
  if (status != SN_OK) sn_file_abandon(file);
  return status;
}

sn_status sn_file_publish(sn_file* file, char* temporary, const char* path, sn_error* err) {
  sn_status status = sn_file_sync(file, err);
  // Renamed while still open and locked: nobody else can take the name in between.
  if (status == SN_OK && rename(temporary, path) != 0) status = fail_io(err, path, "replaced");
  if (status != SN_OK) unlink(temporary);
  sn_file_close(file);
  if (status == SN_OK) sync_folder_of(temporary);
  return status;
}

void sn_file_abandon(sn_file* file) {
  if (file->descriptor < 0) return;
  unlink(file->path);
  sn_file_close(file);
}

static sn_status write_and_rename(const char* path, char* temporary, const void* bytes, size_t size,
                                  sn_error* err) {
  sn_file file;
  SN_TRY(sn_file_begin(temporary, &file, err));
  sn_status status = sn_file_write_at(&file, 0, bytes, size, err);
  if (status == SN_OK) return sn_file_publish(&file, temporary, path, err);
  sn_file_abandon(&file);
  return status;
}

sn_status sn_file_write_atomic(const char* path, const void* bytes, size_t size, sn_error* err) {
  char* temporary = join_text(path, ".tmp");
  if (!temporary) return sn_fail_memory(err, strlen(path) + sizeof ".tmp");
  sn_status status = write_and_rename(path, temporary, bytes, size, err);
  sn_release(temporary);
  return status;
}

// Folders

static sn_status create_one_folder(const char* path, sn_error* err) {
  if (mkdir(path, 0777) == 0) return SN_OK;
  int reason = errno;
  struct stat info;
  if (stat(path, &info) == 0) {
    SN_CHECK(S_ISDIR(info.st_mode), err, SN_ERR_IO,
             "%s: is a file; expected a folder or a free name", path);
    return SN_OK;
  }
  errno = reason;
  return fail_io(err, path, "created");
}

sn_status sn_folder_create(const char* path, sn_error* err) {
  SN_CHECK(path[0] != 0, err, SN_ERR_IO, "the name of the folder is empty; expected a path");
  char* part = join_text(path, "");
  if (!part) return sn_fail_memory(err, strlen(path) + 1);
  sn_status status = SN_OK;
  for (char* at = part + 1; *at && status == SN_OK; ++at) {
    if (*at != '/') continue;
    *at = 0;
    status = create_one_folder(part, err);
    *at = '/';
  }
  if (status == SN_OK) status = create_one_folder(part, err);
  sn_release(part);
  return status;
}
