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

// A signal that comes in between is no reason to give up; not every call says so, but some file systems
// of the network do.
#define AGAIN(result, call) \
  do {                      \
    result = (call);        \
  } while (result < 0 && errno == EINTR)

// Open files

static sn_status fail_open(sn_error* err, const char* path, sn_file_access access) {
  if (access == SN_FILE_READ || errno == ENOENT) return fail_input(err, path, strerror(errno));
  return fail_io(err, path, "opened for writing");
}

sn_status sn_file_open(const char* path, sn_file_access access, sn_file* file, sn_error* err) {
  *file = (sn_file){-1, path, 0};
  // Not blocking: the other end of a pipe may never come. Without effect on regular files.
  int mode = (access == SN_FILE_READ ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NONBLOCK;
  int descriptor;
  AGAIN(descriptor, open(path, mode));
  if (descriptor < 0) return fail_open(err, path, access);
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(descriptor);
    return fail_input(err, path, "it is not a regular file");
  }
  *file = (sn_file){descriptor, path, (uint64_t)info.st_size};
  return SN_OK;
}

sn_status sn_file_create(const char* path, sn_file* file, sn_error* err) {
  *file = (sn_file){-1, path, 0};
  int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  AGAIN(file->descriptor, open(path, flags, 0666));
  return file->descriptor >= 0 ? SN_OK : fail_io(err, path, "created");
}

void sn_file_close(sn_file* file) {
  if (file->descriptor >= 0) close(file->descriptor);
  file->descriptor = -1;
}

sn_status sn_file_read_at(const sn_file* file, uint64_t offset, void* bytes, size_t size,
                          sn_error* err) {
  size_t done = 0;
  while (done < size) {
    ssize_t got;
    AGAIN(got, pread(file->descriptor, (char*)bytes + done, size - done, (off_t)(offset + done)));
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
    ssize_t put;
    AGAIN(put,
          pwrite(file->descriptor, (const char*)bytes + done, size - done, (off_t)(offset + done)));
    if (put < 0) return fail_io(err, file->path, "written");
    done += (size_t)put;
  }
  return SN_OK;
}

sn_status sn_file_cut(const sn_file* file, uint64_t size, sn_error* err) {
  int result;
  AGAIN(result, ftruncate(file->descriptor, (off_t)size));
  return result == 0 ? SN_OK : fail_io(err, file->path, "cut");
}

sn_status sn_file_sync(const sn_file* file, sn_error* err) {
  int result;
  AGAIN(result, fsync(file->descriptor));
  // The latter two: a file system that cannot be asked.
  bool fine = result == 0 || errno == EINVAL || errno == ENOTSUP;
  return fine ? SN_OK : fail_io(err, file->path, "written to disk");
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
  AGAIN(file->descriptor, open(file->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
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

// A rename is on the disk once its folder is. A folder that may be written but not read cannot be asked, nor
// can those of some file systems; only what says that the disk has failed is an error.
static sn_status sync_folder_of(char* path, sn_error* err) {
  char* slash = strrchr(path, '/');
  if (slash) slash[slash == path] = 0;
  sn_file folder = {-1, slash ? path : ".", 0};
  AGAIN(folder.descriptor, open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.descriptor < 0) return SN_OK;
  int result;
  AGAIN(result, fsync(folder.descriptor));
  bool failed = result != 0 && (errno == EIO || errno == ENOSPC || errno == EDQUOT);
  sn_status status = failed ? fail_io(err, folder.path, "written to disk") : SN_OK;
  sn_file_close(&folder);
  return status;
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
  int result = 0;
  if (status == SN_OK) AGAIN(result, rename(temporary, path));
  if (result != 0) status = fail_io(err, path, "replaced");
  if (status != SN_OK) unlink(temporary);
  sn_file_close(file);
  return status == SN_OK ? sync_folder_of(temporary, err) : status;
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

bool sn_file_exists(const char* path) {
  struct stat info;
  return stat(path, &info) == 0;
}

sn_status sn_file_remove(const char* path, sn_error* err) {
  int result;
  AGAIN(result, unlink(path));
  return result == 0 || errno == ENOENT ? SN_OK : fail_io(err, path, "removed");
}

// Folders

static sn_status create_one_folder(const char* path, sn_error* err) {
  int result;
  AGAIN(result, mkdir(path, 0777));
  if (result == 0) return SN_OK;
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
