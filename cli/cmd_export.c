// sinew export DIR --to FORMAT
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"

typedef struct export_options {
  const char *format, *out, *body, *axes, *fps, *scale;
  int frames[2];
  bool quiet, help;
} export_options;

typedef struct report {
  bool terminal, quiet;
  int files;
} report;

static void clear_line(const report* r) {
  if (r->terminal && !r->quiet) fprintf(stderr, "\r\033[K");
}

static void show_progress(void* user, const char* body, int frame, int last_frame) {
  const report* r = user;
  if (!r->terminal || r->quiet) return;
  fprintf(stderr, "\r\033[K%s: frame %d/%d", body, frame, last_frame);
  fflush(stderr);
}

static void show_file(void* user, const char* path) {
  report* r = user;
  clear_line(r);
  r->files++;
  printf("%s\n", path);
}

static sn_status wrong_value(const char* name, const char* found, const char* expected,
                             sn_error* err) {
  err->status = SN_ERR_USAGE;
  snprintf(err->text, sizeof err->text, "%s: found \"%s\", expected %s", name, found, expected);
  return SN_ERR_USAGE;
}

static sn_status parse_number(const char* name, const char* text, double* number, sn_error* err) {
  if (!text) return SN_OK;
  char* end;
  *number = strtod(text, &end);
  if (end != text && *end == 0 && isfinite(*number) && *number > 0.0) return SN_OK;
  return wrong_value(name, text, "a number above 0", err);
}

static sn_status parse_axes(const char* text, sn_export_axes* axes, sn_error* err) {
  if (!text) return SN_OK;
  *axes = strcmp(text, "y-up") == 0 ? SN_AXES_Y_UP : SN_AXES_Z_UP;
  if (*axes == SN_AXES_Y_UP || strcmp(text, "z-up") == 0) return SN_OK;
  return wrong_value("--axes", text, "y-up or z-up", err);
}

static sn_status parse_frames(const export_options* o, sn_export_opts* opts, sn_error* err) {
  opts->first_frame = o->frames[0];
  opts->last_frame = o->frames[1];
  if (!o->frames[0] && !o->frames[1]) return SN_OK;
  if (o->frames[0] >= 1 && o->frames[1] >= o->frames[0]) return SN_OK;
  err->status = SN_ERR_USAGE;
  snprintf(err->text, sizeof err->text, "--frames: found %d:%d, expected A:B with 1 <= A <= B",
           o->frames[0], o->frames[1]);
  return SN_ERR_USAGE;
}

static void print_help(const option* table) {
  options_print_help("sinew export DIR --to FORMAT [options]",
                     "Write what a run left in DIR into files for other programs.", table);
  printf("\nformats:\n");
  const char *name, *about;
  for (int i = 0; (name = sn_export_format(i, &about)); ++i) printf("  %-6s %s\n", name, about);
}

static int run_export(const export_options* o, const char* folder) {
  sn_error err = {0};
  report r = {.terminal = isatty(STDERR_FILENO), .quiet = o->quiet};
  sn_export_opts opts = {.folder = folder,
                         .format = o->format,
                         .out = o->out,
                         .body = o->body,
                         .progress = show_progress,
                         .written = show_file,
                         .user = &r};
  sn_status status = parse_frames(o, &opts, &err);
  if (status == SN_OK) status = parse_number("--fps", o->fps, &opts.fps, &err);
  if (status == SN_OK) status = parse_number("--scale", o->scale, &opts.scale, &err);
  if (status == SN_OK) status = parse_axes(o->axes, &opts.axes, &err);
  if (status == SN_OK) status = sn_export(&opts, &err);
  if (status == SN_OK) return SN_OK;
  clear_line(&r);
  return report_error(&err);
}

int command_export(int argc, char** argv) {
  export_options o = {0};
  const option table[] = {
      {"--to", OPTION_TEXT, "FORMAT", "what to write; see below", &o.format},
      {"-o", OPTION_TEXT, "FILE|FOLDER",
       "where to (default: DIR, or DIR/FORMAT for a file a frame)", &o.out},
      {"--frames", OPTION_RANGE, "A:B", "frames to write (default: all that are there)", &o.frames},
      {"--body", OPTION_TEXT, "NAME", "only this body (default: all)", &o.body},
      {"--fps", OPTION_TEXT, "N", "frames a second (default: the scene's)", &o.fps},
      {"--axes", OPTION_TEXT, "y-up|z-up", "turn so that this axis is up (default: the format's)",
       &o.axes},
      {"--scale", OPTION_TEXT, "X", "multiply all lengths (default: 1)", &o.scale},
      {"--quiet", OPTION_FLAG, NULL, "no progress and no warnings", &o.quiet},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    print_help(table);
    return SN_OK;
  }
  if (words.count != 1 || !o.format) {
    fprintf(stderr,
            "sinew: export: expected the folder of a run and --to FORMAT; "
            "sinew export --help says more\n");
    return SN_ERR_USAGE;
  }
  listen_to_log(o.quiet);
  return run_export(&o, words.items[0]);
}
