#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

sn_status bench_fail(sn_error* err, sn_status status, const char* format, ...) {
  va_list args;
  va_start(args, format);
  err->status = status;
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return status;
}

void bench_note(const bench_run* run, const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "%s: %s\n", run->bench, text);
}

static void print_json(const figure* f, FILE* file) {
  // JSON has no infinity: what is no number is null
  char value[32] = "null";
  if (isfinite(f->value)) snprintf(value, sizeof value, "%.6g", f->value);
  fprintf(file,
          "{\"bench\": \"%s\", \"case\": \"%s\", \"figure\": \"%s\", \"value\": %s, "
          "\"unit\": \"%s\"}\n",
          f->bench, f->name, f->figure, value, f->unit);
}

static bool make_room(bench_run* run) {
  if (run->figure_count < run->figure_room) return true;
  size_t room = run->figure_room ? 2 * run->figure_room : 256;
  figure* larger = realloc(run->figures, room * sizeof *larger);
  if (!larger) return false;
  run->figures = larger;
  run->figure_room = room;
  return true;
}

void bench_figure(bench_run* run, const char* name, const char* figure_name, double value,
                  const char* unit) {
  figure f = {.bench = run->bench, .value = value, .unit = unit};
  snprintf(f.name, sizeof f.name, "%s", name);
  snprintf(f.figure, sizeof f.figure, "%s", figure_name);
  if (run->o->json) {
    print_json(&f, stdout);
  } else {
    printf("%-12s %-20s %-32s %12.6g %s\n", f.bench, f.name, f.figure, value, unit);
  }
  fflush(stdout);
  if (make_room(run)) run->figures[run->figure_count++] = f;
}

static void write_table(const bench_run* run, FILE* file) {
  fprintf(file, "| bench | case | figure | value | unit |\n| --- | --- | --- | ---: | --- |\n");
  for (size_t i = 0; i < run->figure_count; ++i) {
    const figure* f = &run->figures[i];
    fprintf(file, "| %s | %s | %s | %.6g | %s |\n", f->bench, f->name, f->figure, f->value,
            f->unit);
  }
}

static void write_lines(const bench_run* run, FILE* file) {
  for (size_t i = 0; i < run->figure_count; ++i) print_json(&run->figures[i], file);
}

static sn_status save(const bench_run* run, const char* name,
                      void (*write_all)(const bench_run* run, FILE* file), sn_error* err) {
  char path[BENCH_PATH];
  snprintf(path, sizeof path, "%s/%s", run->o->out, name);
  FILE* file = fopen(path, "w");
  if (file) {
    write_all(run, file);
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed) return SN_OK;
  }
  return bench_fail(err, SN_ERR_IO, "%.900s: cannot be written: %s", path, strerror(errno));
}

sn_status bench_save_figures(const bench_run* run, sn_error* err) {
  if (!run->o->out) return SN_OK;
  sn_status status = save(run, "figures.jsonl", write_lines, err);
  return status == SN_OK ? save(run, "table.md", write_table, err) : status;
}

void bench_destroy_figures(bench_run* run) {
  free(run->figures);
  run->figures = NULL;
  run->figure_count = run->figure_room = 0;
}
