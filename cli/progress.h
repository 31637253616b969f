// How a long run tells where it is: a line that renews itself on a terminal, a log line a frame
// elsewhere, or lines for programs to read.
#ifndef SN_CLI_PROGRESS_H
#define SN_CLI_PROGRESS_H

#include <sinew/sn.h>
#include <stdio.h>

typedef enum progress_kind {
  PROGRESS_BAR,     // stderr; a log line a frame if that is no terminal
  PROGRESS_JSON,    // stdout, the statistics of each frame
  PROGRESS_OPENJD,  // stdout, for Open Job Description
  PROGRESS_NONE
} progress_kind;

typedef struct progress {
  progress_kind kind;
  int first, last;
  bool terminal;
  double started;  // s
  int done;        // frames in this run
} progress;

// @param name "bar", "json" or "openjd"
sn_status progress_start(const char* name, bool quiet, progress* p, sn_error* err);
// The frames of the run, once they are known.
void progress_frames(progress* p, int first, int last);
void progress_frame(progress* p, const sn_frame_stats* stats);
// Of work that is no simulation: step `done` of `total`, which was about this frame, is finished.
void progress_step(progress* p, int frame, int done, int total);
// Close the line, if one is open.
void progress_break(progress* p);
// The same, and tell a farm how it ended.
void progress_end(progress* p, const sn_error* err);

#endif
