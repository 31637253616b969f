#include "io/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sinew/io.h"

#define MOST_TRIES 100
#define OWNER_SIZE 128

// Locks of this kind belong to the open file: nobody else in the program can lose them by chance, and they
// are known on the other side of a network too.
static struct flock whole_file(void) {
  return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

// "process 123 on HOST", as the one who holds the lock has written it.
static void read_owner(const sn_lock* lock, char owner[OWNER_SIZE]) {
  char text[OWNER_SIZE];
  ssize_t length = pread(lock->file.descriptor, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = 0;
  text[strcspn(text, "\n")] = 0;
  snprintf(owner, OWNER_SIZE, "%s", text[0] ? text : "unknown");
}

static sn_status write_owner(const sn_lock* lock, sn_error* err) {
  char owner[OWNER_SIZE], host[64] = "";
  gethostname(host, sizeof host - 1);
  int length = snprintf(owner, sizeof owner, "process %ld on %s\n", (long)getpid(), host);
  SN_TRY(sn_file_cut(&lock->file, 0, err));
  return sn_file_write_at(&lock->file, 0, owner, (size_t)length, err);
}

// The run before may have removed the file between our opening and locking it: then it locks nothing.
static bool is_still_named(const sn_lock* lock) {
  struct stat opened, named;
  return fstat(lock->file.descriptor, &opened) == 0 && stat(lock->path, &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static sn_status fail_taken(const sn_lock* lock, sn_error* err) {
  char owner[OWNER_SIZE];
  read_owner(lock, owner);
  return sn_fail(err, SN_ERR_IO,
                 "%s: another program (%s) is writing to this folder; expected to be alone: wait "
                 "for it, end it, or choose another folder",
                 lock->path, owner);
}

// *done is false where it has to be tried again.
static sn_status try_once(sn_lock* lock, bool* done, sn_error* err) {
  struct flock range = whole_file();
  SN_TRY(sn_file_create(lock->path, &lock->file, err));
  *done = true;
  if (fcntl(lock->file.descriptor, F_OFD_SETLK, &range) != 0) {
    if (errno == EAGAIN || errno == EACCES) return fail_taken(lock, err);
    sn_log(SN_LOG_WARNING, "%s: cannot be locked: %s; so nobody else may write to this folder",
           lock->path, strerror(errno));
  }
  *done = is_still_named(lock);
  return *done ? write_owner(lock, err) : SN_OK;
}

static sn_status make_path(const char* folder, char** path, sn_error* err) {
  size_t length = strlen(folder) + sizeof "/lock";
  *path = sn_allocate(length);
  if (!*path) return sn_fail_memory(err, length);
  snprintf(*path, length, "%s/lock", folder);
  return SN_OK;
}

static void forget(sn_lock* lock) {
  sn_file_close(&lock->file);
  sn_release(lock->path);
  lock->path = NULL;
}

sn_status sn_lock_take(const char* folder, sn_lock* lock, sn_error* err) {
  *lock = (sn_lock){.file = {.descriptor = -1}};
  SN_TRY(make_path(folder, &lock->path, err));
  sn_status status = SN_OK;
  bool done = false;
  for (int tries = 0; tries < MOST_TRIES && status == SN_OK && !done; ++tries) {
    sn_file_close(&lock->file);
    status = try_once(lock, &done, err);
  }
  if (status == SN_OK && !done) status = fail_taken(lock, err);
  if (status != SN_OK) forget(lock);
  return status;
}

// Removed while it is still held, so that whoever opens the name next makes a file of its own. One that
// stays does no harm.
void sn_lock_drop(sn_lock* lock) {
  if (lock->file.descriptor >= 0) sn_file_remove(lock->path, NULL);
  forget(lock);
}

bool sn_run_is_going_on(const char* folder) {
  char* path;
  if (make_path(folder, &path, NULL) != SN_OK) return false;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  sn_release(path);
  if (file < 0) return false;
  // Asked for, not taken: to look must not keep a run from beginning.
  struct flock range = whole_file();
  bool held = fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
  close(file);
  return held;
}
