#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sn_status folder_open(const char* path, view_folder* f, sn_error* err) {
  f->descriptor = -1;
  int length = snprintf(f->path, sizeof f->path, "%s", path);
  int reason = ENAMETOOLONG;
  if (length >= 0 && (size_t)length < sizeof f->path) {
    f->descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    reason = errno;
  }
  if (f->descriptor >= 0) return SN_OK;
  bool missing = reason == ENOENT || reason == ENOTDIR || reason == ENAMETOOLONG;
  err->status = missing ? SN_ERR_INPUT : SN_ERR_IO;
  snprintf(err->text, sizeof err->text,
           "%.500s: %s; expected a folder that sinew run has written, and may read", path,
           strerror(reason));
  return err->status;
}

void folder_close(view_folder* f) {
  if (f->descriptor >= 0) close(f->descriptor);
  f->descriptor = -1;
}

int folder_file(const view_folder* f, const char* name, const char* ending, struct stat* info) {
  char whole[512];
  struct stat found;
  int length = snprintf(whole, sizeof whole, "%s%s", name, ending);
  if (length <= 0 || (size_t)length >= sizeof whole || strchr(whole, '/')) return -1;
  // Without waiting: a pipe in the folder would keep us for ever.
  int file = openat(f->descriptor, whole, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return -1;
  if (fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
    close(file);
    return -1;
  }
  if (info) *info = found;
  return file;
}

bool read_at(int file, uint64_t offset, void* bytes, size_t size) {
  unsigned char* at = bytes;
  while (size > 0) {
    ssize_t got = pread(file, at, size, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += (uint64_t)got;
    size -= (size_t)got;
  }
  return true;
}

char* folder_text(const view_folder* f, const char* name, size_t most, size_t* size) {
  struct stat info;
  int file = folder_file(f, name, "", &info);
  if (file < 0) return NULL;
  char* text = NULL;
  if ((uint64_t)info.st_size <= most) {
    size_t bytes = (size_t)info.st_size;
    text = malloc(bytes + 1);
    if (text && !read_at(file, 0, text, bytes)) {
      free(text);
      text = NULL;
    }
    if (text) text[bytes] = 0;
    if (text && size) *size = bytes;
  }
  close(file);
  return text;
}
