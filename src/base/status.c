#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
  sn_log_fn function;
  void* user;
} log_hook;

const char* sn_version(void) { return SN_VERSION_STRING; }

sn_status sn_fail(sn_error* err, sn_status status, const char* format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    err->status = status;
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
  }
  return status;
}

sn_status sn_fail_memory(sn_error* err, size_t bytes) {
  return sn_fail(err, SN_ERR_MEMORY,
                 "out of memory: %zu more bytes are not to be had (%zu in use); "
                 "take a larger cell or a smaller body",
                 bytes, sn_memory_used());
}

void sn_set_log(sn_log_fn function, void* user) {
  log_hook.function = function;
  log_hook.user = user;
}

void sn_log(sn_log_level level, const char* format, ...) {
  if (!log_hook.function) return;
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  log_hook.function(log_hook.user, level, text);
}

void sn_assert_failed(const char* expression, const char* file, int line) {
  fprintf(stderr, "sinew: broken invariant: %s (%s:%d)\n", expression, file, line);
  abort();
}
