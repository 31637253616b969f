// A scene file simulated into a folder: what `run` does, and `flesh` once it has written its scene.
#ifndef SN_CLI_SIMULATE_H
#define SN_CLI_SIMULATE_H

#include "options.h"

#define SIMULATE_PATH_SIZE 4096

typedef struct simulate_options {
  const char* folder;
  int frames[2];  // 0 0: the scene's
  int threads;    // -1: the scene's
  bool resume, strict, quiet, json, help;
  int resume_from;  // 0: none
  const char* progress;
  text_list changes;
} simulate_options;

#define SIMULATE_DEFAULTS \
  { .threads = -1, .progress = "bar" }

// Rows of an option table for what both commands have besides -o and --frames.
#define SIMULATE_ROWS(o)                                                                      \
  {"--threads", OPTION_INT, "N", "threads; 0 = one a processor; never changes the result",    \
   &(o).threads},                                                                             \
      {"--resume", OPTION_FLAG, NULL, "go on after the last checkpoint in DIR", &(o).resume}, \
      {"--resume-from", OPTION_INT, "FRAME",                                                  \
       "compute FRAME again and go on, from a kept checkpoint", &(o).resume_from},            \
      {"--strict", OPTION_FLAG, NULL, "stop (exit code 3) when a frame misses its tolerance", \
       &(o).strict},                                                                          \
      {"--set", OPTION_LIST, "PATH=VALUE",                                                    \
       "change a value of the scene, e.g. bodies.0.material.young=2e4", &(o).changes},        \
      {"--progress", OPTION_TEXT, "KIND", "bar (default), json or openjd", &(o).progress},    \
      {"--quiet", OPTION_FLAG, NULL, "no progress and no warnings", &(o).quiet},              \
      {"--json", OPTION_FLAG, NULL, "print result.json when done", &(o).json},                \
      {"--help", OPTION_FLAG, NULL, "this text", &(o).help},                                  \
      {NULL, OPTION_FLAG, NULL, NULL, NULL},

// From here on memory that is freed stays with the process: what is set up after it takes it again, and need not wait
// for the system to clear pages.
void simulate_keep_memory(void);
// From here on Ctrl-C and SIGTERM end the run after the frame at hand, and messages of the library are
// printed, unless quiet, and kept for the folder of the run.
void simulate_listen(bool quiet);
// All frames of the scene at `path`, with progress, results and messages. @return the exit code
int simulate_scene(const simulate_options* o, const char* path);

// Say why it never came to that, also to a farm. @return the exit code
int simulate_refused(const simulate_options* o, const sn_error* err);

// `path` without its ending and with another one. @param text of SIMULATE_PATH_SIZE
void replace_ending(const char* path, const char* ending, char* text);
sn_status wrong_usage(sn_error* err, const char* text);

#endif
