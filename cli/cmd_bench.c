// sinew bench [NAME ...]: figures that are measured, not asserted. The benchmarks are in bench/.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "commands.h"
#include "options.h"
#include "simulate.h"

#define MAX_BENCHES 32

static bool is_bench(const char* name) {
  for (const bench* b = BENCHES; b->name; ++b) {
    if (strcmp(b->name, name) == 0) return true;
  }
  return false;
}

static bool is_named(const bench* b, const text_list* names) {
  for (int i = 0; i < names->count; ++i) {
    if (strcmp(names->items[i], b->name) == 0) return true;
  }
  return false;
}

static int unknown_bench(const char* name) {
  const char* names[MAX_BENCHES] = {NULL};
  for (int i = 0; BENCHES[i].name; ++i) names[i] = BENCHES[i].name;
  const char* near = nearest_name(name, names);
  fprintf(stderr, "sinew: bench: no benchmark \"%s\"", name);
  if (near) fprintf(stderr, "; did you mean %s?", near);
  fprintf(stderr, "\nthere are:");
  for (int i = 0; names[i]; ++i) fprintf(stderr, " %s", names[i]);
  fprintf(stderr, "\n");
  return SN_ERR_USAGE;
}

static void print_help(const text_list* names, const option* table) {
  char about[4096] =
      "Measure and print figures. Without a name, all of these; "
      "sinew bench NAME --help says more:\n";
  size_t length = names->count ? 0 : strlen(about);
  for (const bench* b = BENCHES; b->name && length < sizeof about; ++b) {
    char* to = about + length;
    const char* between = length ? "\n\n" : "";
    size_t room = sizeof about - length;
    if (names->count == 0) {
      length += (size_t)snprintf(to, room, "\n  %-15s %s", b->name, b->about);
    } else if (is_named(b, names)) {
      length += (size_t)snprintf(to, room, "%s%s: %s\n%s", between, b->name, b->about, b->more);
    }
  }
  options_print_help("sinew bench [NAME ...] [options]", about, table);
}

// Every folder of the path, as `mkdir -p` does.
static sn_status make_folder(const char* path, sn_error* err) {
  char part[BENCH_PATH];
  snprintf(part, sizeof part, "%s", path);
  for (char* c = part + 1; *c; ++c) {
    if (*c != '/') continue;
    *c = 0;
    mkdir(part, 0777);
    *c = '/';
  }
  struct stat info;
  mkdir(part, 0777);
  if (stat(part, &info) == 0 && S_ISDIR(info.st_mode)) return SN_OK;
  return bench_fail(err, SN_ERR_IO, "%.900s: this folder cannot be made", path);
}

static sn_status run_benches(bench_run* run, const text_list* names, sn_error* err) {
  sn_status status = run->o->out ? make_folder(run->o->out, err) : SN_OK;
  for (const bench* b = BENCHES; b->name && status == SN_OK; ++b) {
    if (names->count && !is_named(b, names)) continue;
    run->bench = b->name;
    status = b->run(run, err);
  }
  // what was measured before a failure or Ctrl-C is kept
  sn_error later = {0};
  sn_status saved = bench_save_figures(run, &later);
  if (status == SN_OK && saved != SN_OK) *err = later;
  return status == SN_OK ? saved : status;
}

int command_bench(int argc, char** argv) {
  bench_options o = {.max_elements = BENCH_MOST_ELEMENTS};
  const option table[] = {
      {"-o", OPTION_TEXT, "DIR", "also write figures.jsonl, table.md and plots there", &o.out},
      {"--quick", OPTION_FLAG, NULL, "tiny sizes: does it run? the figures mean little", &o.quick},
      {"--max-elements", OPTION_INT, "N", "leave out larger cases (default 4000000)",
       &o.max_elements},
      {"--surface", OPTION_TEXT, "FILE", "setup, growth: this mesh, not the built-in animal",
       &o.surface},
      {"--scene", OPTION_TEXT, "FILE", "character, contact: this scene, not the demo's", &o.scene},
      {"--case", OPTION_TEXT, "NAME",
       "macroblock: bar, sheet, shell, spikes, table1 or peers alone", &o.only},
      {"--threads", OPTION_INT, "N", "threads; 0 = one a processor", &o.threads},
      {"--json", OPTION_FLAG, NULL, "one JSON object a line", &o.json},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list names = {0};
  if (options_parse(table, argc, argv, &names, &err) != SN_OK) return report_error(&err);
  for (int i = 0; i < names.count; ++i) {
    if (!is_bench(names.items[i])) return unknown_bench(names.items[i]);
  }
  if (o.help) {
    print_help(&names, table);
    return SN_OK;
  }
  bench_run run = {.o = &o};
  bench_listen_for_stop();
  simulate_keep_memory();
  sn_status status = run_benches(&run, &names, &err);
  bench_destroy_figures(&run);
  return status == SN_OK ? SN_OK : report_error(&err);
}
