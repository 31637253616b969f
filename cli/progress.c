#include "progress.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 24

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Of a line for programs: a control character in it, from the name of a file, would begin another.
// That nobody reads it any more is no failure of the run.
static void print_openjd(const char* kind, const char* text) {
  printf("openjd_%s: ", kind);
  for (; *text; ++text) putchar(*text > 0 && *text < 0x20 ? ' ' : *text);
  putchar('\n');
  fflush(stdout);
  clearerr(stdout);
}

static void print_share(double share) {
  char text[32];
  snprintf(text, sizeof text, "%.1f", 100 * share);
  print_openjd("progress", text);
}

sn_status progress_start(const char* name, bool quiet, progress* p, sn_error* err) {
  static const char* const NAMES[] = {"bar", "json", "openjd"};
  *p = (progress){.kind = PROGRESS_NONE, .terminal = isatty(STDERR_FILENO), .started = now()};
  for (int k = 0; k < 3; ++k) {
    if (strcmp(name, NAMES[k]) != 0) continue;
    p->kind = quiet ? PROGRESS_NONE : (progress_kind)k;
    if (p->kind == PROGRESS_OPENJD) print_openjd("status", "reading and building the scene");
    return SN_OK;
  }
  err->status = SN_ERR_USAGE;
  snprintf(err->text, sizeof err->text, "--progress: found \"%s\", expected bar, json or openjd",
           name);
  return SN_ERR_USAGE;
}

void progress_frames(progress* p, int first, int last) {
  p->first = first;
  p->last = last;
  p->started = now();
}

static void format_time(double seconds, char text[32]) {
  int s = (int)(seconds + 0.5);
  if (s < 3600) {
    snprintf(text, 32, "%d:%02d", s / 60, s % 60);
  } else {
    snprintf(text, 32, "%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
  }
}

static void fill_bar(char bar[BAR_WIDTH + 1], double share) {
  int filled = (int)(share * BAR_WIDTH);
  for (int i = 0; i < BAR_WIDTH; ++i) bar[i] = i < filled ? '#' : '.';
  bar[BAR_WIDTH] = 0;
}

static void print_line(const progress* p, const sn_frame_stats* stats, double share, double left) {
  int krylov = 0;
  for (int k = 0; k < stats->newton; ++k) krylov += stats->krylov[k];
  char bar[BAR_WIDTH + 1], left_text[32];
  fill_bar(bar, share);
  format_time(left, left_text);
  const char* note = stats->converged ? "" : "  not converged";
  if (p->terminal) {
    fprintf(stderr, "\r\033[K[%s] frame %d/%d  %3.0f %%  %.2f s/frame  %s left  newton %d, cg %d%s",
            bar, stats->frame, p->last, 100 * share, stats->seconds, left_text, stats->newton,
            krylov, note);
  } else {
    fprintf(stderr, "frame %d/%d  %.0f %%  %.2f s  %s left  newton %d  cg %d  residual %.1e%s\n",
            stats->frame, p->last, 100 * share, stats->seconds, left_text, stats->newton, krylov,
            stats->residual, note);
  }
  fflush(stderr);
}

void progress_frame(progress* p, const sn_frame_stats* stats) {
  p->done++;
  double share = (double)(stats->frame - p->first + 1) / (p->last - p->first + 1);
  double left = (now() - p->started) / p->done * (p->last - stats->frame);
  if (p->kind == PROGRESS_BAR) {
    print_line(p, stats, share, left);
  } else if (p->kind == PROGRESS_JSON) {
    char text[16384];
    sn_stats_to_json(stats, text, sizeof text);
    printf("%s\n", text);
    fflush(stdout);
    clearerr(stdout);
  } else if (p->kind == PROGRESS_OPENJD) {
    char text[128];
    snprintf(text, sizeof text, "frame %d of %d, %.2f s%s", stats->frame, p->last, stats->seconds,
             stats->converged ? "" : ", not converged");
    print_share(share);
    print_openjd("status", text);
  }
}

void progress_step(progress* p, int frame, int done, int total) {
  double share = (double)done / total, passed = now() - p->started,
         left = passed / done * (total - done);
  char bar[BAR_WIDTH + 1], left_text[32];
  p->done = done;
  fill_bar(bar, share);
  format_time(left, left_text);
  if (p->kind == PROGRESS_BAR && p->terminal) {
    fprintf(stderr, "\r\033[K[%s] frame %d  %3.0f %%  %.2f s/frame  %s left", bar, frame,
            100 * share, passed / done, left_text);
  } else if (p->kind == PROGRESS_BAR) {
    fprintf(stderr, "frame %d  %.0f %%  %.2f s/frame  %s left\n", frame, 100 * share, passed / done,
            left_text);
  } else if (p->kind == PROGRESS_JSON) {
    printf("{\"frame\": %d, \"done\": %d, \"total\": %d, \"seconds\": %.3f}\n", frame, done, total,
           passed);
    fflush(stdout);
    clearerr(stdout);
  } else if (p->kind == PROGRESS_OPENJD) {
    char text[64];
    snprintf(text, sizeof text, "frame %d, %d of %d", frame, done, total);
    print_share(share);
    print_openjd("status", text);
  }
}

void progress_break(progress* p) {
  if (p->kind == PROGRESS_BAR && p->terminal && p->done > 0) fputc('\n', stderr);
  p->done = 0;
}

void progress_end(progress* p, const sn_error* err) {
  progress_break(p);
  if (p->kind != PROGRESS_OPENJD) return;
  if (err->status == SN_OK) {
    print_share(1);
    print_openjd("status", "done");
  } else {
    print_openjd(err->status == SN_ERR_INTERRUPTED ? "status" : "fail", err->text);
  }
}
