// The three kinds of failure, never mixed: the outside world gets a status and a message, our own
// mistakes an assertion, numerics a result.
#ifndef SN_BASE_STATUS_H
#define SN_BASE_STATUS_H

#include "sinew/base.h"

// Fill `err` (may be NULL) and return `status`. A message longer than the buffer is cut.
sn_status sn_fail(sn_error* err, sn_status status, const char* format, ...) SN_PRINTF(3, 4);
// The message every failed allocation gives.
sn_status sn_fail_memory(sn_error* err, size_t bytes);

void sn_log(sn_log_level level, const char* format, ...) SN_PRINTF(2, 3);

_Noreturn void sn_assert_failed(const char* expression, const char* file, int line);

// Pass a failure up.
#define SN_TRY(call)                                  \
  do {                                                \
    sn_status sn_try_status = (call);                 \
    if (sn_try_status != SN_OK) return sn_try_status; \
  } while (0)

// Blame the outside world.
#define SN_CHECK(condition, err, status, ...)                   \
  do {                                                          \
    if (!(condition)) return sn_fail(err, status, __VA_ARGS__); \
  } while (0)

// Blame ourselves. On in every build: a broken invariant must never reach a file.
#define SN_ASSERT(condition) \
  ((condition) ? (void)0 : sn_assert_failed(#condition, __FILE__, __LINE__))

#endif
