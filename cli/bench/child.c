#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

bool child_find(const char* name, char path[BENCH_PATH]) {
  char own[BENCH_PATH];
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  if (length <= 0) return false;
  own[length] = 0;
  char* slash = strrchr(own, '/');
  if (!slash) return false;
  *slash = 0;
  int size = snprintf(path, BENCH_PATH, "%s/%s", own, name);
  return size > 0 && size < BENCH_PATH && access(path, X_OK) == 0;
}

// In the child, between fork and exec.
static void become(const char* const* words, child_limits limits, int out) {
  if (limits.bytes > 0) {
    struct rlimit room = {(rlim_t)limits.bytes, (rlim_t)limits.bytes};
    setrlimit(RLIMIT_AS, &room);
  }
  if (limits.seconds > 0) alarm((unsigned)limits.seconds + 1);
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // not to outlive us
  dup2(out, STDOUT_FILENO);
  close(out);
  execv(words[0], (char* const*)words);
  _exit(127);
}

// All that the child prints, until it ends; it is ended when a stop is asked for.
static void listen_to(pid_t child, int in, char* text, size_t size) {
  size_t length = 0;
  char more[512];
  for (;;) {
    sn_error stop = {0};
    struct pollfd ready = {in, POLLIN, 0};
    if (bench_check_stop(&stop) != SN_OK) kill(child, SIGKILL);
    if (poll(&ready, 1, 200) <= 0) continue;  // nothing yet, or a signal
    ssize_t got = read(in, more, sizeof more);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
    for (ssize_t i = 0; i < got && length + 1 < size; ++i) text[length++] = more[i];
  }
  text[length] = 0;
}

sn_status child_run(const char* const* words, child_limits limits, child_result* result,
                    sn_error* err) {
  int ends[2], state;
  *result = (child_result){.code = -1};
  if (pipe(ends) != 0) return bench_fail(err, SN_ERR_IO, "pipe: %s", strerror(errno));
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) become(words, limits, ends[1]);
  close(ends[1]);
  if (child > 0) {
    listen_to(child, ends[0], result->text, sizeof result->text);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(state)) result->code = WEXITSTATUS(state);
    if (WIFSIGNALED(state)) result->signal_number = WTERMSIG(state);
  }
  close(ends[0]);
  if (child < 0 || result->code == 127) {
    return bench_fail(err, SN_ERR_IO, "%.900s: cannot be started", words[0]);
  }
  return SN_OK;
}

sn_status child_make_folder(char path[BENCH_PATH], sn_error* err) {
  const char* base = getenv("TMPDIR");
  snprintf(path, BENCH_PATH, "%s/sinew-bench-XXXXXX", base && *base ? base : "/tmp");
  if (mkdtemp(path)) return SN_OK;
  return bench_fail(err, SN_ERR_IO, "%.900s: cannot be made: %s", path, strerror(errno));
}

void child_remove_folder(const char* path, const char* const* files) {
  for (; *files; ++files) {
    char name[BENCH_PATH];
    int size = snprintf(name, sizeof name, "%s/%s", path, *files);
    if (size > 0 && size < BENCH_PATH) unlink(name);
  }
  rmdir(path);
}
