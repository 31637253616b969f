// Programs beside `sinew` that a benchmark runs: they are found by its own place.
#ifndef SN_CLI_BENCH_CHILD_H
#define SN_CLI_BENCH_CHILD_H

#include <sinew/base.h>

#include "bench.h"

typedef struct child_limits {
  double seconds, bytes;  // 0: none
} child_limits;

typedef struct child_result {
  int code;           // exit code; -1 if a signal ended it
  int signal_number;  // 0: none
  char text[4096];    // what it printed on stdout, cut
} child_result;

// Path of the program at `name`, relative to the folder of this one. False where there is none.
bool child_find(const char* name, char path[BENCH_PATH]);
// Run and wait. `words` ends with NULL; the first is the program. Threads inside the child are
// limited to one. SN_ERR_IO only where it cannot be started.
sn_status child_run(const char* const* words, child_limits limits, child_result* result,
                    sn_error* err);

// A fresh folder for files between programs, below TMPDIR or /tmp; and its end, with these files.
sn_status child_make_folder(char path[BENCH_PATH], sn_error* err);
void child_remove_folder(const char* path, const char* const* files);

#endif
