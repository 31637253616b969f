// The program `sinew` with faults on demand. Linked instead of the C library's own: the calls that change
// files (by the linker's --wrap) and the functions that give memory (by defining them here, which holds for
// every library of the program). The environment says what is to go wrong:
//
//   SN_FAULT         KIND:N, the N-th call counted from 1; KIND:N: followed by `ever` goes on from there
//     calls          kill-before kill-after enospc eio eintr short
//     memory         alloc
//   SN_FAULT_REPORT  a file that gets one line when the program ends: numbers of calls and of allocations,
//                    blocks that are still held, bytes that the library holds, the call that was hit
//   SN_FAULT_TRACE   a file that gets a line a call: its number, name and file
//
// Nothing of this is in the program that is installed.
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sinew/base.h"

typedef enum fault_kind {
  FAULT_NONE,
  FAULT_KILL_BEFORE,
  FAULT_KILL_AFTER,
  FAULT_ENOSPC,
  FAULT_EIO,
  FAULT_EINTR,
  FAULT_SHORT,
  FAULT_ALLOC,
  FAULT_KINDS
} fault_kind;

static const char* const NAMES[FAULT_KINDS] = {"",    "kill-before", "kill-after", "enospc",
                                               "eio", "eintr",       "short",      "alloc"};

static fault_kind kind;
static unsigned long wanted;
static int for_ever, trace = -1;
static const char* report;
static char hit[128] = "none";  // the call and, if it has one, the name of its file
static atomic_ulong calls, allocations;
static atomic_long held;
static atomic_int counting;

// Calls that change files

// By the system itself: what is counted must not count what counts.
static void put_line(int file, const char* line, size_t length) {
  if (syscall(SYS_write, file, line, length) < 0) return;  // nobody to tell
}

static int open_plainly(const char* path) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

static void note(unsigned long number, const char* name, const char* what, int file) {
  char line[512];
  if (trace < 0) return;
  int length = what ? snprintf(line, sizeof line, "%lu %s %s\n", number, name, what)
                    : snprintf(line, sizeof line, "%lu %s %d\n", number, name, file);
  put_line(trace, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

// Whether this call is the one, or one of those behind it.
static int is_due(const char* name, const char* what, int file) {
  if (!counting) return 0;
  unsigned long number = atomic_fetch_add(&calls, 1) + 1;
  note(number, name, what, file);
  if (kind == FAULT_NONE || kind == FAULT_ALLOC) return 0;
  int due = number == wanted || (for_ever && number > wanted);
  const char* slash = what ? strrchr(what, '/') : NULL;
  if (due && number == wanted) {
    snprintf(hit, sizeof hit, "%s:%s", name, slash ? slash + 1 : what ? what : "");
  }
  if (due && kind == FAULT_KILL_BEFORE) kill(getpid(), SIGKILL);
  return due;
}

// The error to give instead of the call; 0: it is made.
static int error_of(int due) {
  if (!due) return 0;
  return kind == FAULT_ENOSPC ? ENOSPC : kind == FAULT_EIO ? EIO : kind == FAULT_EINTR ? EINTR : 0;
}

static void after(int due) {
  if (due && kind == FAULT_KILL_AFTER) kill(getpid(), SIGKILL);
}

#define REAL(name) __real_##name
#define WRAP(name) __wrap_##name

// Declared for the linker, which gives them their names.
int REAL(open)(const char* path, int flags, ...);
int REAL(close)(int file);
int REAL(fsync)(int file);
int REAL(ftruncate)(int file, off_t size);
int REAL(rename)(const char* from, const char* to);
int REAL(unlink)(const char* path);
int REAL(mkdir)(const char* path, mode_t mode);
ssize_t REAL(pwrite)(int file, const void* bytes, size_t size, off_t offset);
int WRAP(open)(const char* path, int flags, ...);
int WRAP(close)(int file);
int WRAP(fsync)(int file);
int WRAP(ftruncate)(int file, off_t size);
int WRAP(rename)(const char* from, const char* to);
int WRAP(unlink)(const char* path);
int WRAP(mkdir)(const char* path, mode_t mode);
ssize_t WRAP(pwrite)(int file, const void* bytes, size_t size, off_t offset);

// Opening to read changes nothing and is not counted.
int WRAP(open)(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? (mode_t)va_arg(rest, int) : 0;
  va_end(rest);
  int writes = (flags & O_ACCMODE) != O_RDONLY && strcmp(path, "/dev/null") != 0;
  int due = writes ? is_due("open", path, 0) : 0;
  errno = error_of(due);
  if (errno) return -1;
  int file = REAL(open)(path, flags, mode);
  after(due);
  return file;
}

// As Linux does it: the file is closed, whatever is said about it.
int WRAP(close)(int file) {
  int due = is_due("close", NULL, file), reason = error_of(due);
  int result = REAL(close)(file);
  after(due);
  if (!reason) return result;
  errno = reason;
  return -1;
}

#define CALL(name, what, file, ...)          \
  int due = is_due(#name, what, file);       \
  int reason = error_of(due);                \
  if (reason) errno = reason;                \
  if (reason) return -1;                     \
  int result = (int)REAL(name)(__VA_ARGS__); \
  after(due);                                \
  return result

int WRAP(fsync)(int file) { CALL(fsync, NULL, file, file); }
int WRAP(ftruncate)(int file, off_t size) { CALL(ftruncate, NULL, file, file, size); }
int WRAP(rename)(const char* from, const char* to) { CALL(rename, to, 0, from, to); }
int WRAP(unlink)(const char* path) { CALL(unlink, path, 0, path); }
int WRAP(mkdir)(const char* path, mode_t mode) { CALL(mkdir, path, 0, path, mode); }

ssize_t WRAP(pwrite)(int file, const void* bytes, size_t size, off_t offset) {
  int due = is_due("pwrite", NULL, file);
  int reason = error_of(due);
  if (reason) errno = reason;
  if (reason) return -1;
  size_t some = due && kind == FAULT_SHORT && size > 1 ? size / 2 : size;
  ssize_t put = REAL(pwrite)(file, bytes, some, offset);
  after(due);
  return put;
}

// Memory. The sanitizers have functions of their own; with them only files go wrong.

#ifndef SN_SANITIZED
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* block);

static int is_refused(void) {
  if (!counting) return 0;
  unsigned long number = atomic_fetch_add(&allocations, 1) + 1;
  if (kind != FAULT_ALLOC || number < wanted || (number > wanted && !for_ever)) return 0;
  if (number == wanted) memcpy(hit, "alloc", sizeof "alloc");
  errno = ENOMEM;
  return 1;
}

static void* counted(void* block) {
  if (block && counting) atomic_fetch_add(&held, 1);
  return block;
}

SN_API void* malloc(size_t size) { return is_refused() ? NULL : counted(__libc_malloc(size)); }
SN_API void* calloc(size_t count, size_t size) {
  return is_refused() ? NULL : counted(__libc_calloc(count, size));
}
SN_API void* realloc(void* block, size_t size) {
  if (is_refused()) return NULL;
  void* moved = __libc_realloc(block, size);
  if (!block) return counted(moved);
  return moved;
}
SN_API void* memalign(size_t alignment, size_t size) {
  return is_refused() ? NULL : counted(__libc_memalign(alignment, size));
}
SN_API void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
SN_API int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
SN_API void free(void* block) {
  if (block && counting) atomic_fetch_sub(&held, 1);
  __libc_free(block);
}
#endif

// The order

static void read_order(const char* order) {
  const char* colon = order ? strchr(order, ':') : NULL;
  if (!colon) return;
  for (int k = 1; k < FAULT_KINDS; ++k) {
    size_t length = strlen(NAMES[k]);
    if ((size_t)(colon - order) == length && strncmp(order, NAMES[k], length) == 0) {
      kind = (fault_kind)k;
    }
  }
  char* end;
  wanted = strtoul(colon + 1, &end, 10);
  for_ever = strcmp(end, ":ever") == 0;
}

__attribute__((constructor)) static void begin(void) {
  read_order(getenv("SN_FAULT"));
  report = getenv("SN_FAULT_REPORT");
  const char* path = getenv("SN_FAULT_TRACE");
  if (path) trace = open_plainly(path);
  counting = 1;
}

__attribute__((destructor)) static void end(void) {
  char line[256];
  counting = 0;
  int file = report ? open_plainly(report) : -1;
  if (file < 0) return;
  int length = snprintf(line, sizeof line, "%lu %lu %ld %zu %s\n", (unsigned long)calls,
                        (unsigned long)allocations, (long)held, sn_memory_used(), hit);
  put_line(file, line, (size_t)length);
}
